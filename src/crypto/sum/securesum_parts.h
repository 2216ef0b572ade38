/* What the files of secure summation share, and their tests look into. */
#pragma once

#include "crypto/sum/agreement.h"
#include "crypto/sum/securesum.h"
#include "crypto/sum/shamir.h"

struct tacit_securesum {
    tacit_securesum_terms terms;
    tacit_securesum_roster roster;
    tacit_graph *graph;
    uint8_t context[TACIT_DIGEST_BYTES]; /* of the terms */
    size_t set_bytes;                    /* of a set of parties, a bit each */
};

/*
 * Messages. Each begins with a header: version, kind, the context, and the party that it comes from or goes
 * to. Lists are in the order of the receiver's or sender's slots (graph.h), so that none can name a party
 * twice.
 */
typedef enum tacit_sum_kind {
    TACIT_SUM_KEYS = 1, /* party: its public keys */
    TACIT_SUM_KEY_LIST, /* coordinator: u32 count, then per neighbour u32 number, keys */
    /* party: commitment of its own share of its self-mask; u32 count, then u32 number, dealt */
    TACIT_SUM_DEALT,
    TACIT_SUM_DEALT_LIST, /* coordinator: u32 count, then per neighbour u32 number, dealt */
    /* party: u32 count, then the numbers of neighbours whose shares did not open; u64 length, words */
    TACIT_SUM_VECTOR,
    TACIT_SUM_SURVIVORS, /* coordinator: who dealt shares, and who of them sent a vector */
    TACIT_SUM_CONSENTED, /* party: signature */
    TACIT_SUM_CONSENTS,  /* coordinator: u32 count, then u32 number, signature */
    TACIT_SUM_OPENINGS,  /* party: u32 count, then u32 number, u8 which secret, share */
} tacit_sum_kind;

enum {
    TACIT_SUM_VERSION = 2, /* 1: other thresholds and graphs followed from the same definition */
    TACIT_SUM_HEADER_BYTES = 2 + TACIT_DIGEST_BYTES + 4,
    TACIT_SUM_KEYS_BYTES = 3 * TACIT_KEY_BYTES + TACIT_SIGNATURE_BYTES,
    TACIT_SUM_SEALED_BYTES = 2 * TACIT_SECRET_BYTES + TACIT_SEAL_BYTES,
    TACIT_SUM_DEALT_BYTES = TACIT_SUM_SEALED_BYTES + 2 * TACIT_DIGEST_BYTES,
    TACIT_SUM_OPENING_BYTES = 4 + 1 + TACIT_SECRET_BYTES,
};

/* A party has two secrets: the seed of its self-mask, and the secret half of its masking key. */
typedef enum tacit_sum_secret { TACIT_SUM_SELF, TACIT_SUM_MASKING, TACIT_SUM_SECRETS } tacit_sum_secret;

/* Public keys as advertised. */
typedef struct tacit_sum_keys {
    uint8_t sealing[TACIT_KEY_BYTES], masking[TACIT_KEY_BYTES];
    uint8_t self_mask[TACIT_DIGEST_BYTES]; /* commitment to the seed of the self-mask */
    uint8_t signature[TACIT_SIGNATURE_BYTES];
} tacit_sum_keys;

tacit_status tacit_sum_write_header(tacit_buffer *out, const tacit_securesum *sum, tacit_sum_kind kind,
                                    uint32_t party, tacit_error *error);

/* Check a header; the cursor then stands behind it. */
tacit_status tacit_sum_read_header(tacit_cursor *cursor, const tacit_securesum *sum, tacit_sum_kind kind,
                                   uint32_t party, tacit_error *error);

/* The kind that a message says it is; 0 when it is too short. */
int tacit_sum_kind_of(const uint8_t *bytes, size_t length);

tacit_status tacit_sum_write_keys(tacit_buffer *out, const tacit_sum_keys *keys, tacit_error *error);
bool tacit_sum_read_keys(tacit_cursor *cursor, tacit_sum_keys *keys);

/* Read a u32 count and check that this many items of `size` bytes, and then `after` bytes, are left. */
tacit_status tacit_sum_read_count(tacit_cursor *cursor, uint32_t most, size_t size, size_t after,
                                  uint32_t *count, tacit_error *error);

/* The head of a list about neighbours: TACIT_REFUSED where, the party with them, they are fewer than open a
 * secret. `what` says what the party has too few of. */
tacit_status tacit_sum_read_list(tacit_cursor *cursor, const tacit_securesum_party *party,
                                 tacit_sum_kind kind, size_t size, const char *what, uint32_t *count,
                                 tacit_error *error);

/* Read the number of a neighbour of `party` in slot *next, which moves behind it, or later; below `slots`. */
tacit_status tacit_sum_read_neighbour(tacit_cursor *cursor, const tacit_securesum *sum, uint32_t party,
                                      uint32_t slots, uint32_t *next, uint32_t *slot, tacit_error *error);

tacit_status tacit_sum_malformed(tacit_error *error, const char *what);

/* What is signed, each with a label of its own. `sets` are two: who dealt shares, then who of them
 * survived. */
void tacit_sum_keys_digest(uint8_t out[TACIT_DIGEST_BYTES], const tacit_securesum *sum, uint32_t party,
                           const tacit_sum_keys *keys);
void tacit_sum_survivors_digest(uint8_t out[TACIT_DIGEST_BYTES], const tacit_securesum *sum,
                                const uint8_t *sets);
bool tacit_sum_verify(const tacit_securesum *sum, uint32_t party, const uint8_t digest[TACIT_DIGEST_BYTES],
                      const uint8_t signature[TACIT_SIGNATURE_BYTES]);

/* Commitments to 32 uniform bytes: their hash, which hides them and binds to them. */
void tacit_sum_commit_self(uint8_t out[TACIT_DIGEST_BYTES], const tacit_securesum *sum, uint32_t party,
                           const uint8_t seed[TACIT_SECRET_BYTES]);
void tacit_sum_commit_share(uint8_t out[TACIT_DIGEST_BYTES], const tacit_securesum *sum, uint32_t dealer,
                            uint32_t holder, tacit_sum_secret which, const uint8_t share[TACIT_SECRET_BYTES]);

/* The mask between two parties: whose number is smaller adds it. */
tacit_status tacit_sum_pair_seed(uint8_t seed[TACIT_KEY_BYTES], const tacit_securesum *sum,
                                 const tacit_key_pair *own, const uint8_t peer[TACIT_KEY_BYTES],
                                 tacit_error *error);

static inline bool tacit_set_has(const uint8_t *set, uint32_t party) {
    return (set[party / 8] >> party % 8 & 1) != 0;
}
static inline void tacit_set_add(uint8_t *set, uint32_t party) {
    set[party / 8] |= (uint8_t)(1 << party % 8);
}

/* The place of a holder's share on the polynomial. */
static inline uint16_t tacit_sum_place(uint32_t party) { return (uint16_t)(party + 1); }
