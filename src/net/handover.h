/*
 * How a consortium replaces its authority: a chain of hand-over statements, from its first authority to the
 * present one. A statement is text:
 *
 *   tacit handover 1
 *   sequence 1                   # of the authority that takes over; the first one of a consortium has 0
 *   from 1790000000              # since when it issues certificates, seconds since 1970
 *   until 1792592000             # until when the one before it is trusted beside it
 *   reason planned               # or stolen: nobody may trust the one before it from now on
 *   old BASE64                   # both certificates, DER
 *   new BASE64
 *   old-signature HEX            # of all lines above, by the old authority
 *   new-signature HEX            # of all lines above, by the new one: it is held by whoever wrote this
 *
 * A chain that was read is whole: both signatures of every statement are right, each begins with the
 * authority that the one before it ends with, numbers grow by one, and no date goes back.
 *
 * Whoever holds a stolen key can sign a hand-over too. So only a planned one is followed without asking, and
 * only as long as the old authority is trusted; for all others the owner says the fingerprint of the new one,
 * heard from people.
 */
#pragma once

#include "net/identity.h"

enum {
    TACIT_HANDOVERS_MOST = 64,
    TACIT_HANDOVER_AUTHORITY_MOST = 2048, /* bytes of a certificate in it */
    TACIT_HANDOVERS_BYTES_MAX = 512 * 1024,
    TACIT_HANDOVER_SKEW = 3600 /* seconds by which clocks may differ */
};

typedef struct tacit_handover {
    uint64_t sequence;
    int64_t from, until;
    bool stolen;
    tacit_certificate_info old, new;
    uint8_t old_der[TACIT_HANDOVER_AUTHORITY_MOST], new_der[TACIT_HANDOVER_AUTHORITY_MOST];
    size_t old_length, new_length;
    size_t start, terms, end; /* in the text: its first byte, the end of what both sign, its end */
} tacit_handover;

typedef struct tacit_handovers {
    tacit_buffer text;
    tacit_handover *entries; /* sequence 1, 2, ... */
    size_t count;
} tacit_handovers;

/* Read a chain; of no bytes it is empty. TACIT_PROTOCOL when it is none, TACIT_REFUSED when a signature is
 * wrong, TACIT_LIMIT. */
tacit_status tacit_handovers_read(tacit_handovers *out, const void *bytes, size_t length, tacit_error *error);
void tacit_handovers_clear(tacit_handovers *chain);

/* Append a statement to a chain (which it must follow: TACIT_USAGE). */
tacit_status tacit_handovers_add(tacit_handovers *chain, const tacit_authority *old,
                                 const tacit_authority *new, int64_t from, int64_t until, bool stolen,
                                 tacit_error *error);

/* Append the PEM certificates of all authorities that are trusted at `now`, the present one first. *changes
 * receives when fewer will be; 0: never. `only` is the authority of a chain that is empty. */
tacit_status tacit_handovers_trusted(const tacit_handovers *chain, const tacit_buffer *only, int64_t now,
                                     tacit_buffer *out, int64_t *changes, tacit_error *error);

/* The same of all authorities that there ever were. */
tacit_status tacit_handovers_all(const tacit_handovers *chain, const tacit_buffer *only, tacit_buffer *out,
                                 tacit_error *error);

/* The index of the oldest authority that is trusted at `now`: 0 for that of the first statement's `old`,
 * `count` for the present one. */
size_t tacit_handovers_oldest(const tacit_handovers *chain, int64_t now);

/* Is this authority, by its fingerprint, one of the chain? */
bool tacit_handovers_know(const tacit_handovers *chain, const char *fingerprint);

/* Does it lead from the authority `from` to `to`, its last one, by planned statements only? For documents
 * that were signed by the last one, and are shown to somebody who knows an earlier one. */
bool tacit_handovers_lead(const tacit_handovers *chain, const char *from, const char *to);

typedef enum tacit_following {
    TACIT_FOLLOWING_NOTHING, /* there is nothing new */
    TACIT_FOLLOWING_DONE,    /* `known` has the statements that were new */
    TACIT_FOLLOWING_LATE,    /* the authority is not trusted any more that signed the next one */
    TACIT_FOLLOWING_STOLEN,  /* the next one says that its key was stolen */
} tacit_following;

/*
 * Compare a chain from the network with the one that is known, and follow it where that needs no word of the
 * owner. `anchor`: the certificate from which trust began, of an invitation or given by hand.
 * `confirmed`: the fingerprint that the owner has said; NULL: none. Then the chain must end with it.
 * In/Out: known. Out: *result.
 * Returns TACIT_REFUSED: a chain without our authority; a shorter one than we know (an earlier state is
 * played back); one with another statement in the place of one we know (a fork). The owner's word settles a
 * fork.
 */
tacit_status tacit_handovers_follow(tacit_handovers *known, const tacit_buffer *anchor,
                                    const tacit_handovers *heard, int64_t now, const char *confirmed,
                                    tacit_following *result, tacit_error *error);

/* A fingerprint as people write it, with or without colons and spaces, in the form of tacit_certificate_info:
 * TACIT_USAGE. */
tacit_status tacit_fingerprint_read(char out[TACIT_FINGERPRINT_SIZE], const char *text, tacit_error *error);
