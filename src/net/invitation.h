/*
 * A single-use invitation to a study, as one line of text that survives mail and chat: "tacit1-" and
 * base64url of a record with the coordinator's address and certificate, the study, a secret token, its expiry
 * and, where the party was given one, the name that the coordinator's people call it by. Whoever holds it can
 * join in the invited party's place, so it is passed on like a password. The checksum detects a damaged
 * paste; it proves nothing about who made the line.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

enum {
    TACIT_TOKEN_BYTES = 32,
    TACIT_TOKEN_HASH_BYTES = 32,
    TACIT_INVITATION_URL_MAX = 512,
    TACIT_INVITATION_STUDY_MAX = 128,
    TACIT_INVITATION_AUTHORITY_MAX = 4096,
    TACIT_INVITATION_TEXT_MAX = 16384 /* whitespace included; longer texts are refused unread */
};

/* What people call a party ("St. Anna, Vienna"): free text that the coordinator's statistician gives with an
 * invitation, for people to read and to say. No key, mask or seat follows from it; parties are told apart by
 * the random name in their certificate. */
enum { TACIT_PARTY_NAME_MOST = 120 /* bytes */, TACIT_PARTY_NAME_SIZE = TACIT_PARTY_NAME_MOST + 1 };

/* TACIT_USAGE unless `name` is 1 to TACIT_PARTY_NAME_MOST bytes of UTF-8 that are shown as they are, on one
 * line, and cannot be mistaken for another name or for a party's random one: no control or invisible
 * characters, no spaces but single ones between words. */
tacit_status tacit_party_name_check(const char *name, tacit_error *error);

/* In place of an address, where people carry envelopes (net/envelope.h). */
#define TACIT_FILES_ADDRESS "files:"

typedef struct tacit_invitation {
    char url[TACIT_INVITATION_URL_MAX + 1];     /* https://..., or TACIT_FILES_ADDRESS */
    char study[TACIT_INVITATION_STUDY_MAX + 1]; /* the study's id */
    uint8_t token[TACIT_TOKEN_BYTES];
    int64_t expires; /* seconds since 1970; the caller compares it with its clock */
    uint8_t authority[TACIT_INVITATION_AUTHORITY_MAX]; /* the coordinator's CA certificate, DER */
    size_t authority_length;
    char called[TACIT_PARTY_NAME_SIZE]; /* what people call the invited party; "" when they gave no name */
} tacit_invitation;

/* Append the line of text (no newline) to `text`. TACIT_USAGE when a member is empty or holds control
 * characters, the URL is not https, or the name is none (tacit_party_name_check). */
tacit_status tacit_invitation_encode(tacit_buffer *text, const tacit_invitation *invitation,
                                     tacit_error *error);

/* Read a line of text; whitespace anywhere is skipped. TACIT_INPUT, with a sentence that tells apart: not an
 * invitation, damaged, made by a newer version. The certificate's bytes are not looked into here. */
tacit_status tacit_invitation_parse(tacit_invitation *out, const char *text, size_t length,
                                    tacit_error *error);

/* Overwrite the token and the rest. */
void tacit_invitation_wipe(tacit_invitation *invitation);

/* A fresh token from the operating system's randomness. */
void tacit_token_create(uint8_t token[TACIT_TOKEN_BYTES]);

/* What the coordinator stores in place of the token (BLAKE2b-256). */
void tacit_token_hash(uint8_t hash[TACIT_TOKEN_HASH_BYTES], const uint8_t token[TACIT_TOKEN_BYTES]);
