/*
 * Tokens for programs that use a coordinator's HTTP interface (docs/dashboard.md): each may read, or manage
 * too, in one study or in all of them, until it expires or is revoked. The registry keeps the hash of a token
 * and never the token: it has 256 random bits, so that a plain hash cannot be searched.
 *
 *   tacit.ID.SECRET      ID: 16 hexadecimal digits, shown in lists; SECRET: 64
 */
#pragma once

#include "study/registry.h"

enum {
    TACIT_PASS_ID_SIZE = 17,
    TACIT_PASS_SIZE = 6 + 16 + 1 + 64 + 1, /* a whole token */
};

typedef enum tacit_scope { TACIT_SCOPE_READ, TACIT_SCOPE_MANAGE } tacit_scope;

/* "read" and "manage". */
const char *tacit_scope_name(tacit_scope scope);

typedef struct tacit_pass {
    char id[TACIT_PASS_ID_SIZE];
    tacit_scope scope;
    char study[TACIT_ID_SIZE];          /* "": every study, and making new ones */
    char called[TACIT_PARTY_NAME_SIZE]; /* who has it; "": nothing was said */
    int64_t created, expires;           /* seconds since 1970 */
    bool revoked;
} tacit_pass;

/* Make a token as `pass` says (scope, study, called, expires), whose id and time are filled in.
 * TACIT_NOT_FOUND for a study that does not exist. */
tacit_status tacit_registry_issue_pass(tacit_registry *registry, tacit_pass *pass,
                                       char token[TACIT_PASS_SIZE], tacit_error *error);

/* Is this a token that is good now? TACIT_REFUSED with the sentence for whoever sent it. The time that this
 * takes says nothing about a wrong secret. */
tacit_status tacit_registry_check_pass(tacit_registry *registry, const char *token, int64_t now,
                                       tacit_pass *out, tacit_error *error);

/* By its id. TACIT_NOT_FOUND; TACIT_USAGE for one that is revoked already. */
tacit_status tacit_registry_revoke_pass(tacit_registry *registry, const char *id, tacit_error *error);

typedef tacit_status tacit_pass_visit(void *context, const tacit_pass *pass, tacit_error *error);

/* All of them, the oldest first. The visitor must not use the registry. */
tacit_status tacit_registry_passes(tacit_registry *registry, tacit_pass_visit *visit, void *context,
                                   tacit_error *error);
