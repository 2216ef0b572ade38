/*
 * The list of a study's certificates that count no more, for those who do not ask the coordinator at every
 * request: parties that listen for neighbours, and center server B. It is text, signed by the coordinator's
 * authority:
 *
 *   tacit revocations 1
 *   study NAME
 *   serial 3                     # grows with each revocation: an older list never takes a newer one's place
 *   FINGERPRINT party-12ab...    # one line for each certificate
 *   signature HEX                # of all lines above
 */
#pragma once

#include "base/buffer.h"
#include "net/certificate.h"
#include "net/identity.h"

enum { TACIT_REVOCATIONS_BYTES_MAX = 1 << 20 };

typedef struct tacit_revocation {
    char fingerprint[TACIT_FINGERPRINT_SIZE];
    char party[TACIT_NAME_SIZE];
} tacit_revocation;

typedef struct tacit_revocations {
    uint64_t serial; /* 0: no list */
    tacit_revocation *entries;
    size_t count;
} tacit_revocations;

/* Append the signature line to the text of a list, which the registry makes. An empty one stays empty. */
tacit_status tacit_revocations_sign(tacit_buffer *text, const tacit_authority *authority, tacit_error *error);

/* Read a list and take it in place of `out` when it is newer; *newer says whether it was. `authority`: the
 * coordinator's certificate; `study` NULL: of any. TACIT_REFUSED when it is not signed by that authority or
 * is another study's, TACIT_PROTOCOL when it is no list. */
tacit_status tacit_revocations_take(tacit_revocations *out, bool *newer, const tacit_buffer *authority,
                                    const char *study, const void *bytes, size_t length, tacit_error *error);
void tacit_revocations_clear(tacit_revocations *list);

/* Is this certificate, or (by its name) this party, in the list? */
bool tacit_revocations_certificate(const tacit_revocations *list, const char *fingerprint);
bool tacit_revocations_party(const tacit_revocations *list, const char *party);
