/*
 * A party in a masked sum of one exchange or two (crypto/sum/pairs.h), for studies that go by files. All
 * masks follow from keys and terms, so that what is kept of a sum is little: its round and id, under which
 * answer id it was asked, and over whom it was opened. It is on the disk before anything leaves: killed at
 * any moment, the party says the same again, or nothing. One round has one sum under one answer id, which is
 * one vector, stored by the gate as it left.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/masked/masked_parts.h"

enum { STEP_SPARE = 1024, BYTES_PER_PARTY = 64 };

typedef struct pairs_state {
    bool begun; /* this very sum */
    uint8_t answer_id[TACIT_ANSWER_ID_BYTES];
    tacit_buffer set; /* over whom it was opened; empty: it was not yet */
} pairs_state;

static tacit_status load_state(const stepping *self, pairs_state *out, tacit_error *error) {
    const tacit_masks_store *store = &self->masks->store;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    bool found = false;
    tacit_status status;
    *out = (pairs_state){ .set = TACIT_BUFFER_INIT };
    TACIT_CHECK(store->read(store->context, MASKED_STATE_NAME, &found, &bytes, error));
    if (!found) {
        TACIT_CHECK(masked_check_next(self, NULL, error));
        goto cleanup;
    }
    tacit_cursor cursor = tacit_cursor_over(bytes.bytes, bytes.length);
    TACIT_CHECK(masked_check_state(self, &cursor, &out->begun, error));
    if (!out->begun) goto cleanup;
    if (!tacit_cursor_read(&cursor, out->answer_id, sizeof out->answer_id) ||
        (cursor.left != 0 && cursor.left != (self->masks->plan->parties + 7) / 8))
        TACIT_CHECK(tacit_fail(error, TACIT_CORRUPT, "the stored state of a masked sum is damaged"));
    TACIT_CHECK(tacit_buffer_append(&out->set, cursor.bytes, cursor.left, error));
    if (memcmp(out->answer_id, self->question->answer_id, sizeof out->answer_id) != 0)
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED,
                               "the coordinator asks for the sum of round %llu a second time, under another "
                               "answer id: one round has one answer",
                               (unsigned long long)self->question->round + 1));
cleanup:
    tacit_buffer_clear(&bytes);
    return status;
}

static tacit_status save_state(const stepping *self, const uint8_t *set, size_t set_bytes,
                               tacit_error *error) {
    const tacit_masks_store *store = &self->masks->store;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_buffer_append_u64(&bytes, self->question->round, error));
    TACIT_CHECK(tacit_buffer_append(&bytes, self->step->sum_id, sizeof self->step->sum_id, error));
    TACIT_CHECK(
        tacit_buffer_append(&bytes, self->question->answer_id, sizeof self->question->answer_id, error));
    TACIT_CHECK(tacit_buffer_append(&bytes, set, set_bytes, error));
    TACIT_CHECK(store->write(store->context, MASKED_STATE_NAME, bytes.bytes, bytes.length, error));
cleanup:
    tacit_buffer_clear(&bytes);
    return status;
}

static tacit_status terms_of(const stepping *self, tacit_pairs_terms *out, tacit_error *error) {
    return tacit_pairs_terms_of(out, self->masks->plan, self->question, self->step->sum_id,
                                self->party->study_hash, &self->masks->roster, error);
}

static tacit_status mask_contribution(stepping *self, const tacit_pairs_terms *terms, tacit_reply *reply,
                                      tacit_buffer *payload, tacit_error *error) {
    tacit_buffer body = TACIT_BUFFER_INIT;
    int64_t *values = TACIT_NEW(int64_t, terms->length);
    tacit_status status;
    if (values == NULL) return tacit_fail_memory(error);
    TACIT_CHECK(tacit_party_compute(self->party, self->question, reply, error));
    TACIT_CHECK(tacit_party_grid_steps(self->question, reply, values, error));
    TACIT_CHECK(tacit_pairs_mask(terms, self->masks->place, self->masks->secret_key, values,
                                 self->party->pool, &body, error));
    TACIT_CHECK(masked_note_noise(self, reply, error));
    TACIT_CHECK(masked_encode_body(self, &body, payload, error));
cleanup:
    sodium_memzero(values, terms->length * sizeof *values);
    free(values);
    tacit_buffer_clear(&body);
    return status;
}

/* In one exchange there is one set, that of all parties, and it is agreed to before the vector leaves. */
static tacit_status agree_to_all(const stepping *self, tacit_error *error) {
    const size_t parties = self->masks->plan->parties;
    uint8_t *all = TACIT_NEW(uint8_t, (parties + 7) / 8);
    if (all == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < parties; i++) all[i / 8] |= (uint8_t)(1 << i % 8);
    tacit_status status = masked_hold_set(self, all, error);
    free(all);
    return status;
}

static tacit_status contribute(stepping *self, const tacit_pairs_terms *terms, tacit_buffer *out,
                               tacit_error *error) {
    tacit_reply reply = { .message = TACIT_MESSAGE_INIT };
    tacit_buffer payload = TACIT_BUFFER_LIMITED(TACIT_PAYLOAD_MOST);
    bool stored = false;
    tacit_status status;
    TACIT_CHECK(masked_same_question(self, error));
    TACIT_CHECK(tacit_gate_has_answer(&stored, self->party->gate, self->question->answer_id,
                                      self->question_hash, error));
    if (stored) {
        TACIT_CHECK(tacit_party_stored_reply(self->party, self->question, &reply, error));
    } else {
        TACIT_CHECK(save_state(self, NULL, 0, error));
        TACIT_CHECK(mask_contribution(self, terms, &reply, &payload, error));
        if (terms->exchanges == 1) TACIT_CHECK(agree_to_all(self, error));
    }
    TACIT_CHECK(masked_release(self, &reply, &payload, out, error));
cleanup:
    tacit_buffer_clear(&payload);
    tacit_reply_clear(&reply);
    return status;
}

/* One set, ever: two would show what whoever is in one of them only gave. */
static tacit_status keep_set(const stepping *self, const pairs_state *state, const uint8_t *set,
                             tacit_error *error) {
    const size_t bytes = (self->masks->plan->parties + 7) / 8;
    if (state->set.length > 0)
        return memcmp(state->set.bytes, set, bytes) == 0
                   ? TACIT_OK
                   : tacit_fail(error, TACIT_REFUSED,
                                "the coordinator asks to open one sum over two sets of parties: the "
                                "difference would show what those in one of them gave");
    TACIT_TRY(masked_hold_set(self, set, error));
    return save_state(self, set, bytes, error);
}

static tacit_status unmask(stepping *self, const tacit_pairs_terms *terms, const pairs_state *state,
                           tacit_buffer *out, tacit_error *error) {
    const tacit_buffer *asked = &self->step->body;
    const uint8_t *set = NULL;
    tacit_buffer body = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_pairs_survivors(&set, terms, self->masks->place, asked->bytes, asked->length, error));
    TACIT_CHECK(tacit_pairs_unmask(terms, self->masks->place, self->masks->secret_key, asked->bytes,
                                   asked->length, &body, error));
    TACIT_CHECK(keep_set(self, state, set, error));
    TACIT_CHECK(
        masked_pass(self, &body, STEP_SPARE + self->masks->plan->parties * BYTES_PER_PARTY, out, error));
cleanup:
    if (body.bytes != NULL) sodium_memzero(body.bytes, body.capacity);
    tacit_buffer_clear(&body);
    return status;
}

static tacit_status run_pairs(stepping *self, tacit_buffer *out, tacit_error *error) {
    tacit_pairs_terms terms;
    pairs_state state;
    tacit_status status;
    TACIT_CHECK(load_state(self, &state, error));
    TACIT_CHECK(terms_of(self, &terms, error));
    if (self->step->step == TACIT_PAIRS_MASK)
        TACIT_CHECK(contribute(self, &terms, out, error));
    else if (self->step->step != TACIT_PAIRS_UNMASK || terms.exchanges != 2)
        TACIT_CHECK(tacit_fail(error, TACIT_PROTOCOL, "the question is no step of this masked sum"));
    else if (!state.begun)
        TACIT_CHECK(
            tacit_fail(error, TACIT_REFUSED, "the coordinator asks to open a sum that this party is not in"));
    else
        TACIT_CHECK(unmask(self, &terms, &state, out, error));
cleanup:
    tacit_buffer_clear(&state.set);
    return status;
}

const secure_ops masked_pairs_ops = { "masked", "", run_pairs };
