/*
 * An archive of what happened, for somebody who was not there: JSON lines
 *
 *   {"hash":"64 hex digits","record":{...}}
 *
 * where each hash is BLAKE2b-256 over the one before (zeros before the first) and the record's bytes, so that
 * no line can be changed, removed, added or moved without all later hashes changing; the last record, "end",
 * counts the lines.
 *
 * Of a study (a coordinator's folder): who coordinates, every version of the definition with its signature
 * and price, which party consented to which version, rounds and who answered in them, models, revoked
 * certificates. Parties go by the random names that the coordinator gave them. The end is signed by the
 * coordinator's authority, whose certificate is in the first record; where it took over from earlier ones,
 * the statements are beside it, so that whoever knows one of these can check the archive too.
 *
 * Of a party (a home): the entries of its ledger, in words and as the bytes that the ledger's own chain of
 * hashes is over, so that the archive's head is the ledger's. It is not signed: the owner vouches for it, by
 * the head that was noted before. It tells data sources, numbers of rows, prices and refusals, and no value
 * of any answer.
 */
#pragma once

#include "base/buffer.h"

/* Append the archive of a study, or of a party's home. */
tacit_status tacit_audit_study(const char *folder, const char *study, tacit_buffer *out, tacit_error *error);
tacit_status tacit_audit_home(const char *home, tacit_buffer *out, tacit_error *error);

typedef struct tacit_audit_verdict {
    char kind[16];      /* "study" or "ledger" */
    char name[64];      /* of the study */
    size_t lines;       /* all sound */
    char authority[65]; /* fingerprint of whoever signed; "" for a ledger */
    char head[65];      /* last hash; for a ledger that of the ledger */
} tacit_audit_verdict;

/* Check an archive without anything else; TACIT_CORRUPT names the first line that is wrong. `authority` (may
 * be NULL): a file with the certificate that must have signed it, or has handed over to the one that did as
 * planned; TACIT_REFUSED when another did. */
tacit_status tacit_audit_verify(const char *path, const char *authority, tacit_audit_verdict *out,
                                tacit_error *error);
