/*
 * The authorities of one coordinator's folder: the present one, and earlier ones as long as they are trusted
 * (net/handover.h).
 *
 *   ca.key, ca.crt    the present authority: it issues the certificates of parties
 *   handover.txt      the chain of statements that leads to it; none before the first rotation
 *   trust.crt         the certificates that are trusted now, once there is a chain; made of it
 *   ca.0.key, ...     keys of earlier ones, by their number; removed when their time is over
 *   next/             the authority of a rotation that was begun
 *
 * While earlier ones are trusted, the oldest of them signs what parties check before they have followed: the
 * server's certificate, definitions, lists of revoked certificates.
 *
 * A rotation counts from the moment that handover.txt is renamed into place; a process that is killed before
 * it has changed nothing, and after it whoever opens the folder next moves the files.
 */
#pragma once

#include "net/handover.h"

#define TACIT_HANDOVER_FILE "handover.txt"
#define TACIT_TRUST_FILE "trust.crt"
#define TACIT_OLD_KEY_FILE "ca.%zu.key"

enum { TACIT_TRUSTED_MOST = 8 /* authorities at once */ };

typedef struct tacit_authority_keys {
    tacit_authority *present, *shown; /* the present one, and the oldest that is trusted; may be the same */
    tacit_handovers chain;
    tacit_buffer all;                  /* PEM, the present one first */
    size_t oldest;                     /* that is trusted; see tacit_handovers_oldest */
    int64_t changes;                   /* when fewer will be; 0: never */
    struct tacit_authority_keys *next; /* of the holder's */
} tacit_authority_keys;

/* As they are at `now`. Keys whose time is over are removed from the folder. */
tacit_status tacit_authority_keys_load(tacit_authority_keys **out, const char *folder, int64_t now,
                                       tacit_error *error);
tacit_authority_keys *tacit_authority_keys_free(tacit_authority_keys *keys);

/* Has the authority with this key been replaced, and is its time over? */
bool tacit_authority_keys_retired(const tacit_authority_keys *keys, const char *key_id);

/* Read the chain of a folder; empty when there was no rotation. */
tacit_status tacit_handovers_load(tacit_handovers *out, const char *folder, tacit_error *error);

/* Make a new authority, which the present one hands over to; with `stolen` nobody trusts the earlier ones
 * from now on, and their keys are removed. TACIT_USAGE when the overlap ends before that of an earlier
 * rotation, or too many are trusted already. */
tacit_status tacit_authority_rotate(const char *folder, int64_t now, int64_t overlap, bool stolen,
                                    tacit_handovers *chain, tacit_error *error);

/* Finish a rotation that a killed process had begun and that counts. */
tacit_status tacit_authority_settle(const char *folder, tacit_error *error);

/* Until when the earlier authority is trusted, for people: "2027-03-31 18:00 UTC". */
void tacit_handover_until(const tacit_handover *handover, char out[32]);
