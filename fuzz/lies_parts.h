/* What the files of lies.h share. */
#pragma once

#include "lies.h"

enum { LIES_FILES = 16, LIES_ROUNDS = 12 };

typedef struct lies_party {
    uint8_t secret_key[crypto_sign_SECRETKEYBYTES];
    /* Of an honest one. */
    tacit_ledger *ledger;
    tacit_policy policy;
    tacit_gate gate;
    tacit_party party;
    tacit_masks *masks;
    tacit_stream stream;
    char names[LIES_FILES][32];
    tacit_buffer kept[LIES_FILES];
} lies_party;

/* What the coordinator has of one party in one sum. Sets of parties are bits. */
typedef struct lies_seen {
    bool advertised, sent, consented;
    tacit_sum_keys keys;
    uint32_t dealt_to, masked_with;
    uint8_t dealt[LIES_PARTIES_MOST][TACIT_SUM_DEALT_BYTES];
    uint8_t sets[2], signature[TACIT_SIGNATURE_BYTES];
    uint32_t known[TACIT_SUM_SECRETS]; /* holders of whose share of each of its secrets the coordinator has */
} lies_seen;

typedef struct lies_sum {
    uint64_t round;
    unsigned question;
    uint8_t id[TACIT_MASKED_ID_BYTES];
    tacit_securesum *sum;
    lies_seen of[LIES_PARTIES_MOST];
} lies_sum;

struct lies {
    lies_settings settings;
    tacit_plan plan;
    tacit_graph_shape shape;
    tacit_sum_spec spec;
    uint8_t keys[LIES_PARTIES_MOST][TACIT_SIGNING_KEY_BYTES];
    tacit_signing_roster signers;
    uint8_t digest[TACIT_DIGEST_BYTES];
    lies_party party[LIES_PARTIES_MOST];
    lies_sum sum[LIES_SUMS_MOST];
    size_t sums, now, answered;
    /* Of the question that is being asked. */
    uint32_t told;
    uint8_t sets[2];
    char how[200];
};

static inline bool lies_has(uint32_t set, uint32_t k) { return (set >> k & 1) != 0; }
static inline bool lies_is_puppet(const lies *self, uint32_t k) {
    return lies_has(self->settings.puppets, k);
}
