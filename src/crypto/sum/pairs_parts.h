/* What the two halves of sums in one or two exchanges share. */
#pragma once

#include "crypto/sum/agreement.h"
#include "crypto/sum/mask.h"
#include "crypto/sum/pairs.h"
#include "crypto/sum/shamir.h"

typedef enum pairs_kind { PAIRS_VECTOR = 1, PAIRS_SURVIVORS, PAIRS_OPENINGS } pairs_kind;

enum {
    PAIRS_VERSION = 1,
    PAIRS_HEADER_BYTES = 2 + TACIT_DIGEST_BYTES + 4,
    PAIRS_SEALED_BYTES = TACIT_SECRET_BYTES + TACIT_SEAL_BYTES,
    PAIRS_DEALT_BYTES = PAIRS_SEALED_BYTES + TACIT_DIGEST_BYTES, /* a sealed share and a commitment to it */
};

void pairs_context(uint8_t out[TACIT_DIGEST_BYTES], const tacit_pairs_terms *terms);
tacit_status pairs_write_header(tacit_buffer *out, const uint8_t context[TACIT_DIGEST_BYTES], pairs_kind kind,
                                uint32_t place, tacit_error *error);
/* TACIT_PROTOCOL unless the message is of this kind, sum and place, and `length` bytes come after it. */
tacit_status pairs_read_header(tacit_cursor *cursor, const uint8_t context[TACIT_DIGEST_BYTES],
                               pairs_kind kind, uint32_t place, size_t length, tacit_error *error);

/* A commitment to the share of `dealer` that `holder` has. */
void pairs_commit(uint8_t out[TACIT_DIGEST_BYTES], const uint8_t context[TACIT_DIGEST_BYTES], uint32_t dealer,
                  uint32_t holder, const uint8_t share[TACIT_SECRET_BYTES]);

static inline bool pairs_in(const uint8_t *set, uint32_t place) {
    return (set[place / 8] >> place % 8 & 1) != 0;
}
static inline size_t pairs_set_bytes(const tacit_pairs_terms *terms) {
    return ((size_t)terms->roster.parties + 7) / 8;
}
