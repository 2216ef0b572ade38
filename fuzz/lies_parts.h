/* What the files of lies.h share. */
#pragma once

#include "lies.h"

#include "session/masked/masked_parts.h"

enum { LIES_FILES = 16, LIES_ROUNDS = 12, LIES_PLACES_MOST = LIES_PARTIES_MOST + 1 };

/* A roster as the coordinator shows it: places of it, who is there, and of which places it has the
 * secrets. */
typedef struct lies_roster_shown {
    lies_roster_kind kind;
    uint32_t at, count;
    uint8_t keys[LIES_PLACES_MOST][TACIT_SIGNING_KEY_BYTES];
    uint32_t who[LIES_PLACES_MOST];
    uint32_t puppets; /* by place */
    tacit_signing_roster signers;
    uint8_t digest[TACIT_DIGEST_BYTES];
} lies_roster_shown;

/* What the coordinator has of the drawing of the graph, from the true roster. */
typedef struct lies_drawn {
    uint8_t commitment[LIES_PARTIES_MOST][TACIT_DRAWING_COMMITMENT_BYTES];
    uint32_t committed; /* honest ones */
    uint8_t opening[LIES_PARTIES_MOST][TACIT_DRAWING_OPENING_BYTES];
    uint8_t opened_for[LIES_PARTIES_MOST][TACIT_DIGEST_BYTES]; /* which list */
    uint32_t opened;
    uint32_t members, nonce; /* the list that is being shown */
} lies_drawn;

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
    bool pinned; /* it has taken a roster: */
    uint8_t roster[TACIT_DIGEST_BYTES];
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
    lies_roster_shown roster;
    uint32_t members, nonce; /* of the list in its proof */
    tacit_buffer proof;
    tacit_securesum *sum;
    lies_seen of[LIES_PARTIES_MOST];
} lies_sum;

struct lies {
    lies_settings settings;
    tacit_plan plan;
    tacit_graph_shape shape;
    tacit_sum_spec spec;
    uint8_t keys[LIES_PARTIES_MOST][TACIT_SIGNING_KEY_BYTES];
    lies_roster_shown roster; /* the true one, which owners have compared */
    lies_roster_kind kind;    /* what is shown from now on, and where it differs */
    uint32_t at;
    lies_drawn drawn;
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

/* The secret of a place that is the coordinator's (lies_rosters.c). */
void lies_secret_of(const lies *self, const lies_roster_shown *roster, uint32_t place,
                    uint8_t out[crypto_sign_SECRETKEYBYTES]);
void lies_make_roster(const lies *self, lies_roster_shown *out, lies_roster_kind kind, uint32_t at);

/* A party has taken the roster of a sum; and it has answered in the drawing, or not. */
void lies_took_roster(lies *self, const lies_sum *sum, uint32_t place);

/* The list, or the proof with what there is, as it is shown now; and its seed, false when it has none. */
void lies_write_list(const lies *self, uint32_t members, uint32_t nonce, tacit_buffer *out);
bool lies_write_proof(const lies *self, uint32_t members, uint32_t nonce, tacit_buffer *out,
                      uint8_t seed[TACIT_GRAPH_SEED_BYTES]);
bool lies_one_seed(lies *self); /* whether all honest parties go by it; else `how` says so */
tacit_drawing lies_drawing(const lies *self);

/* One question to whoever is at a place of the sum's roster (lies.c). */
bool lies_ask(lies *self, lies_sum *sum, uint32_t place, unsigned step, const tacit_buffer *body,
              tacit_answer *out);
void lies_must(tacit_status status);
