/* What the files of a party's side of secure sums share. */
#pragma once

#include "session/party_parts.h"

typedef struct stepping stepping;

/* A protocol of secure sums at a party: masks (masked_party.c; masked_pairs.c in one exchange or two) or
 * ciphertexts (masked_paillier.c). */
typedef struct secure_ops {
    const char *name, *nor_collude; /* for the log: who else must not */
    tacit_status (*take_step)(stepping *self, tacit_buffer *out, tacit_error *error);
} secure_ops;

extern const secure_ops masked_paillier_ops, masked_pairs_ops;

struct tacit_masks {
    const secure_ops *ops;
    const tacit_plan *plan;
    tacit_masks_store store;
    tacit_masks_past past;
    tacit_graph_shape shape; /* of masked sums */
    bool draws;              /* the parties draw the graph before the first sum */
    uint8_t secret_key[crypto_sign_SECRETKEYBYTES];
    uint8_t (*keys)[TACIT_SIGNING_KEY_BYTES]; /* plan->parties; NULL before the first sum */
    tacit_signing_roster roster;
    uint8_t digest[TACIT_DIGEST_BYTES];
    uint32_t place;                  /* this party's */
    tacit_paillier_secret *paillier; /* the key holder's, once it was needed; NULL: not yet, or not ours */
};

/* All that one step works on. */
struct stepping {
    tacit_party *party;
    tacit_masks *masks;
    const tacit_question *question;
    const tacit_masked_step *step;
    const uint8_t *question_hash;
    tacit_securesum *sum;
    tacit_securesum_party *half;
    tacit_securesum_signer signer;
    bool at_gate; /* the gate has been asked, which logs what it refuses */
    char assumption[TACIT_ASSUMPTION_MOST];
};

/* The state of the latest sum: its round and id come first. */
#define MASKED_STATE_NAME "sum.state"
enum { MASKED_STATE_HEADER = 8 + TACIT_MASKED_ID_BYTES };

/* A step of drawing the graph (masked_drawing.c). And before a sum: its seed, from the proof that comes with
 * the first step, or as it was kept. TACIT_REFUSED for another drawing than the first. */
tacit_status masked_draw(stepping *self, tacit_buffer *out, tacit_error *error);
tacit_status masked_seed(const stepping *self, uint8_t seed[TACIT_GRAPH_SEED_BYTES], tacit_error *error);

/* Read the header of a kept state: *current when it is of this very sum, not of an earlier round.
 * TACIT_REFUSED when this party has been in a later round, or in another sum of this one. */
tacit_status masked_check_state(const stepping *self, tacit_cursor *cursor, bool *current,
                                tacit_error *error);

/* TACIT_REFUSED unless a sum may be begun in the question's round, after that of round *last; NULL: after
 * none (masked_rounds.c). */
tacit_status masked_check_next(const stepping *self, const uint64_t *last, tacit_error *error);

/* TACIT_REFUSED unless the whole question is the one that the sum is named after. */
tacit_status masked_same_question(const stepping *self, tacit_error *error);

/* An answer whose only field is the bytes of a step. */
tacit_status masked_encode_body(const stepping *self, const tacit_buffer *body, tacit_buffer *out,
                                tacit_error *error);

/* Let a step leave that has nothing of the rows in it, of at most `most` bytes. */
tacit_status masked_pass(stepping *self, const tacit_buffer *body, size_t most, tacit_buffer *out,
                         tacit_error *error);

/* Let a contribution leave, hidden as `payload`; empty: as it is stored. */
tacit_status masked_release(stepping *self, const tacit_reply *reply, const tacit_buffer *payload,
                            tacit_buffer *out, tacit_error *error);

/* Before a contribution leaves: note whether there is noise in it (masked_sets.c). */
tacit_status masked_note_noise(const stepping *self, const tacit_reply *reply, tacit_error *error);

/* Before consent to a set of survivors leaves, a bit for each place: TACIT_REFUSED when the sum has no noise
 * of its own and an earlier one of this version had other survivors; the first such set is kept. */
tacit_status masked_hold_set(const stepping *self, const uint8_t *set, tacit_error *error);
