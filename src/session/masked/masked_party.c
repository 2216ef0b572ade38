/*
 * A party in a masked sum. Its state is on the disk before an answer leaves, so that whatever happens it says
 * the same thing again or nothing. The vector under its masks passes the gate, charged, as any contribution
 * would; the other steps carry keys, sealed shares of random secrets and signatures, and pass by
 * tacit_gate_pass.
 *
 * Order at the mask step: the state after it is written beside the one before; then the gate charges and
 * stores the masked vector; then the new state takes the place of the old. Killed before the gate, the party
 * masks again (nothing had left, and noise of its own may differ); killed after it, it finds the stored
 * vector and the state that belongs to it.
 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/secret.h"
#include "session/masked/masked_parts.h"

#define ROSTER_NAME "roster"
#define MASKED_NAME "sum.masked"

enum { STEP_SPARE = 1024, STEP_PER_NEIGHBOUR = 256 };

static const secure_ops masked_ops;

/* ---- the roster ---- */

static int compare_keys(const void *first, const void *second) {
    return memcmp(first, second, TACIT_SIGNING_KEY_BYTES);
}

/* A key in two places would be one party that counts as two. */
static tacit_status check_distinct(const uint8_t (*keys)[TACIT_SIGNING_KEY_BYTES], size_t parties,
                                   tacit_error *error) {
    uint8_t(*sorted)[TACIT_SIGNING_KEY_BYTES] = malloc(parties * sizeof *sorted);
    tacit_status status = TACIT_OK;
    if (sorted == NULL) return tacit_fail_memory(error);
    memcpy(sorted, keys, parties * sizeof *sorted);
    qsort(sorted, parties, sizeof *sorted, compare_keys);
    for (size_t i = 1; i < parties && status == TACIT_OK; i++)
        if (compare_keys(sorted[i - 1], sorted[i]) == 0)
            status =
                tacit_fail(error, TACIT_REFUSED, "two parties of the coordinator's roster have the same key");
    free(sorted);
    return status;
}

/* Take a roster in: of the declared size, no key twice, and our own in it. */
static tacit_status adopt_roster(tacit_masks *masks, const tacit_buffer *bytes, tacit_error *error) {
    const size_t parties = masks->plan->parties;
    const uint8_t *own = masks->secret_key + crypto_sign_SECRETKEYBYTES - TACIT_SIGNING_KEY_BYTES;
    size_t found = 0;
    if (bytes->length != parties * TACIT_SIGNING_KEY_BYTES)
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator's roster has %zu bytes, and the study is of %zu parties",
                          bytes->length, parties);
    uint8_t(*keys)[TACIT_SIGNING_KEY_BYTES] = malloc(bytes->length);
    if (keys == NULL) return tacit_fail_memory(error);
    memcpy(keys, bytes->bytes, bytes->length);
    for (size_t i = 0; i < parties; i++) {
        if (memcmp(keys[i], own, sizeof keys[i]) != 0) continue;
        masks->place = (uint32_t)i;
        found++;
    }
    if (found != 1) {
        free(keys);
        return tacit_fail(error, TACIT_REFUSED,
                          "this party's key is %zu times in the coordinator's roster: it must be there once",
                          found);
    }
    tacit_status status = check_distinct((const uint8_t(*)[TACIT_SIGNING_KEY_BYTES])keys, parties, error);
    if (status != TACIT_OK) {
        free(keys);
        return status;
    }
    masks->keys = keys;
    masks->roster =
        (tacit_signing_roster){ (uint32_t)parties, (const uint8_t(*)[TACIT_SIGNING_KEY_BYTES])keys };
    tacit_securesum_roster_digest(masks->digest, &masks->roster);
    return TACIT_OK;
}

static tacit_status stored_roster(tacit_masks *masks, tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    bool found = false;
    tacit_status status = masks->store.read(masks->store.context, ROSTER_NAME, &found, &bytes, error);
    if (status == TACIT_OK && found) status = adopt_roster(masks, &bytes, error);
    tacit_buffer_clear(&bytes);
    if (status != TACIT_REFUSED) return status;
    tacit_fail_in(error, status, "the stored roster is damaged: join again with a new invitation");
    return TACIT_CORRUPT;
}

tacit_status tacit_masks_take_roster(tacit_masks *masks, const tacit_buffer *bytes, tacit_error *error) {
    if (masks->keys == NULL) {
        TACIT_TRY(adopt_roster(masks, bytes, error));
        return masks->store.write(masks->store.context, ROSTER_NAME, bytes->bytes, bytes->length, error);
    }
    if (bytes->length != masks->plan->parties * sizeof *masks->keys ||
        memcmp(masks->keys, bytes->bytes, bytes->length) != 0)
        return tacit_fail(
            error, TACIT_REFUSED,
            "the coordinator has changed the roster of the study's parties since it first showed it");
    return TACIT_OK;
}

tacit_status tacit_masks_create(tacit_masks **out, const tacit_plan *plan,
                                const uint8_t secret_key[crypto_sign_SECRETKEYBYTES],
                                const tacit_masks_store *store, tacit_error *error) {
    tacit_masks *masks = TACIT_NEW(tacit_masks, 1);
    tacit_status status;
    if (masks == NULL) return tacit_fail_memory(error);
    masks->ops = plan->sums == TACIT_SUMS_PAILLIER ? &masked_paillier_ops
                 : plan->exchanges > 0             ? &masked_pairs_ops
                                                   : &masked_ops;
    masks->plan = plan;
    masks->store = *store;
    tacit_secret_lock(masks->secret_key, sizeof masks->secret_key);
    memcpy(masks->secret_key, secret_key, sizeof masks->secret_key);
    if (masks->ops == &masked_ops) {
        TACIT_CHECK(tacit_masked_shape(&masks->shape, plan, error));
        masks->draws = tacit_masked_draws(&masks->shape);
    }
    TACIT_CHECK(stored_roster(masks, error));
    *out = masks;
    masks = NULL;
cleanup:
    tacit_masks_free(masks);
    return status;
}

tacit_masks *tacit_masks_free(tacit_masks *masks) {
    if (masks == NULL) return NULL;
    sodium_memzero(masks->secret_key, sizeof masks->secret_key);
    tacit_paillier_secret_free(masks->paillier);
    free(masks->keys);
    free(masks);
    return NULL;
}

const uint8_t *tacit_masks_roster(const tacit_masks *masks) {
    return masks->keys != NULL ? masks->digest : NULL;
}

bool tacit_masks_membership(const tacit_masks *masks, tacit_membership *out) {
    if (masks->keys == NULL) return false;
    *out = (tacit_membership){ &masks->roster, masks->digest, masks->secret_key, masks->place };
    return true;
}

const tacit_masks_store *tacit_masks_store_of(const tacit_masks *masks) { return &masks->store; }

/* ---- one step ---- */

static void clear_secrets(tacit_buffer *buffer) {
    if (buffer->bytes != NULL) sodium_memzero(buffer->bytes, buffer->capacity);
    tacit_buffer_clear(buffer);
}

static tacit_status save_state(const stepping *self, const char *name, tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    uint8_t *room;
    tacit_status status;
    /* In one piece: a buffer that grew by moving would leave secrets behind. */
    TACIT_CHECK(tacit_buffer_reserve(
        &bytes, MASKED_STATE_HEADER + STEP_SPARE + (size_t)self->masks->shape.degree * STEP_PER_NEIGHBOUR,
        &room, error));
    TACIT_CHECK(tacit_buffer_append_u64(&bytes, self->question->round, error));
    TACIT_CHECK(tacit_buffer_append(&bytes, self->step->sum_id, sizeof self->step->sum_id, error));
    TACIT_CHECK(tacit_securesum_party_save(self->half, &bytes, error));
    TACIT_CHECK(self->masks->store.write(self->masks->store.context, name, bytes.bytes, bytes.length, error));
cleanup:
    clear_secrets(&bytes);
    return status;
}

tacit_status masked_check_state(const stepping *self, tacit_cursor *cursor, bool *current,
                                tacit_error *error) {
    uint8_t id[TACIT_MASKED_ID_BYTES];
    uint64_t round = 0;
    if (!tacit_cursor_read_u64(cursor, &round) || !tacit_cursor_read(cursor, id, sizeof id))
        return tacit_fail(error, TACIT_CORRUPT, "the stored state of a secure sum is damaged");
    if (round > self->question->round)
        return tacit_fail(error, TACIT_REFUSED,
                          "round %llu is over for this party, which has taken part in the sum of round %llu",
                          (unsigned long long)self->question->round + 1, (unsigned long long)round + 1);
    *current = round == self->question->round;
    if (*current && memcmp(id, self->step->sum_id, sizeof id) != 0)
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator starts a second sum in round %llu: one round has one sum",
                          (unsigned long long)round + 1);
    return *current ? TACIT_OK : masked_check_next(self, &round, error);
}

/* The half as it was saved under `name`; none when the newest saved one is of an earlier round. */
static tacit_status load_state(stepping *self, const char *name, tacit_securesum_party **out,
                               tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    bool found = false, current = false;
    tacit_status status;
    TACIT_CHECK(self->masks->store.read(self->masks->store.context, name, &found, &bytes, error));
    if (!found) {
        TACIT_CHECK(masked_check_next(self, NULL, error));
        goto cleanup;
    }
    tacit_cursor cursor = tacit_cursor_over(bytes.bytes, bytes.length);
    TACIT_CHECK(masked_check_state(self, &cursor, &current, error));
    if (current)
        TACIT_CHECK(
            tacit_securesum_party_restore(out, self->sum, cursor.bytes, cursor.left, &self->signer, error));
cleanup:
    clear_secrets(&bytes);
    return status;
}

static tacit_status open_half(stepping *self, tacit_error *error) {
    uint8_t seed[TACIT_SUM_SEED_BYTES];
    TACIT_TRY(load_state(self, MASKED_STATE_NAME, &self->half, error));
    if (self->half != NULL) return TACIT_OK;
    if (self->step->step != TACIT_SUM_ADVERTISE)
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for step %s of a sum that this party is not in",
                          tacit_securesum_step_name((tacit_securesum_step)self->step->step));
    randombytes_buf(seed, sizeof seed);
    tacit_status status =
        tacit_securesum_party_create(&self->half, self->sum, self->masks->place, seed, &self->signer, error);
    sodium_memzero(seed, sizeof seed);
    return status;
}

tacit_status masked_encode_body(const stepping *self, const tacit_buffer *body, tacit_buffer *out,
                                tacit_error *error) {
    return tacit_party_encode_bytes(self->question, TACIT_MASKED_FIELD, body, out, error);
}

/* A step without anything of the rows in it. */
static tacit_release describe_step(const stepping *self) {
    return tacit_party_describe_message(self->party, self->question, self->question_hash, self->assumption);
}

tacit_status masked_pass(stepping *self, const tacit_buffer *body, size_t most, tacit_buffer *out,
                         tacit_error *error) {
    tacit_buffer payload = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(masked_encode_body(self, body, &payload, error));
    tacit_release release = describe_step(self);
    release.payload = payload.bytes;
    release.payload_length = payload.length;
    self->at_gate = true;
    TACIT_CHECK(tacit_gate_pass(self->party->gate, &release, most, out, error));
cleanup:
    tacit_buffer_clear(&payload);
    return status;
}

/* The survivors are what the question ends with, once it is known to be well formed. */
static tacit_status consent_to_set(stepping *self, tacit_buffer *body, tacit_error *error) {
    const tacit_buffer *question = &self->step->body;
    TACIT_TRY(tacit_securesum_party_consent(self->half, question->bytes, question->length, body, error));
    return masked_hold_set(self, question->bytes + question->length - (self->masks->plan->parties + 7) / 8,
                           error);
}

static tacit_status take_step(stepping *self, tacit_buffer *out, tacit_error *error) {
    const tacit_buffer *question = &self->step->body;
    tacit_buffer body = TACIT_BUFFER_INIT;
    tacit_securesum_party *half = self->half;
    tacit_status status;
    switch ((tacit_securesum_step)self->step->step) {
    case TACIT_SUM_ADVERTISE: status = tacit_securesum_party_advertise(half, &body, error); break;
    case TACIT_SUM_SHARE:
        status = tacit_securesum_party_share(half, question->bytes, question->length, &body, error);
        break;
    case TACIT_SUM_CONSENT: status = consent_to_set(self, &body, error); break;
    default:
        status = tacit_securesum_party_unmask(half, question->bytes, question->length, &body, error);
        break;
    }
    if (status != TACIT_OK) goto cleanup;
    TACIT_CHECK(save_state(self, MASKED_STATE_NAME, error));
    TACIT_CHECK(masked_pass(self, &body, STEP_SPARE + (size_t)self->masks->shape.degree * STEP_PER_NEIGHBOUR,
                            out, error));
cleanup:
    tacit_buffer_clear(&body);
    return status;
}

/* ---- the step that counts ---- */

/* The contribution under its masks, and the state after it beside the one before. */
static tacit_status mask_contribution(stepping *self, tacit_reply *reply, tacit_buffer *payload,
                                      tacit_error *error) {
    const size_t length = self->question->sum.length;
    tacit_buffer body = TACIT_BUFFER_INIT;
    int64_t *values = TACIT_NEW(int64_t, length);
    tacit_status status;
    if (values == NULL) return tacit_fail_memory(error);
    TACIT_CHECK(tacit_party_compute(self->party, self->question, reply, error));
    TACIT_CHECK(tacit_party_grid_steps(self->question, reply, values, error));
    TACIT_CHECK(tacit_securesum_party_mask(self->half, self->step->body.bytes, self->step->body.length,
                                           values, &body, error));
    TACIT_CHECK(masked_note_noise(self, reply, error));
    TACIT_CHECK(save_state(self, MASKED_NAME, error));
    TACIT_CHECK(masked_encode_body(self, &body, payload, error));
cleanup:
    sodium_memzero(values, length * sizeof *values);
    free(values);
    tacit_buffer_clear(&body);
    return status;
}

/* The vector was charged and stored by a process that may have ended before it said so in its state. */
static tacit_status catch_up(stepping *self, tacit_error *error) {
    tacit_securesum_party *masked = NULL;
    if (tacit_securesum_party_step(self->half) > TACIT_SUM_MASK) return TACIT_OK;
    TACIT_TRY(load_state(self, MASKED_NAME, &masked, error));
    if (masked == NULL)
        return tacit_fail(error, TACIT_CORRUPT,
                          "the state of a masked sum is older than the ledger: part of the home folder was "
                          "replaced by a copy");
    tacit_securesum_party_free(self->half);
    self->half = masked;
    return TACIT_OK;
}

tacit_status masked_same_question(const stepping *self, tacit_error *error) {
    uint8_t id[TACIT_MASKED_ID_BYTES];
    TACIT_TRY(tacit_masked_id(id, self->question, error));
    if (memcmp(id, self->step->sum_id, sizeof id) == 0) return TACIT_OK;
    return tacit_fail(
        error, TACIT_REFUSED,
        "the question is not the one that this sum was begun for: not all parties would answer the same");
}

tacit_status masked_release(stepping *self, const tacit_reply *reply, const tacit_buffer *payload,
                            tacit_buffer *out, tacit_error *error) {
    tacit_release release = tacit_party_describe(self->party, self->question, reply, self->question_hash);
    release.assumption = self->assumption;
    release.payload = payload->bytes;
    release.payload_length = payload->length;
    self->at_gate = true;
    return tacit_gate_release(self->party->gate, &release, out, error);
}

static tacit_status take_mask_step(stepping *self, tacit_buffer *out, tacit_error *error) {
    tacit_gate *gate = self->party->gate;
    tacit_reply reply = { .message = TACIT_MESSAGE_INIT };
    tacit_buffer payload = TACIT_BUFFER_LIMITED(TACIT_PAYLOAD_MOST);
    bool stored = false;
    tacit_status status;
    TACIT_CHECK(masked_same_question(self, error));
    TACIT_CHECK(tacit_gate_has_answer(&stored, gate, self->question->answer_id, self->question_hash, error));
    if (stored) {
        TACIT_CHECK(tacit_party_stored_reply(self->party, self->question, &reply, error));
        TACIT_CHECK(catch_up(self, error));
    } else {
        TACIT_CHECK(mask_contribution(self, &reply, &payload, error));
    }
    TACIT_CHECK(masked_release(self, &reply, &payload, out, error));
    TACIT_CHECK(save_state(self, MASKED_STATE_NAME, error));
cleanup:
    tacit_buffer_clear(&payload);
    tacit_reply_clear(&reply);
    return status;
}

/* ---- all steps ---- */

static tacit_status run_masked(stepping *self, tacit_buffer *out, tacit_error *error) {
    tacit_masks *masks = self->masks;
    uint8_t seed[TACIT_GRAPH_SEED_BYTES];
    if (masks->draws && (self->step->step == TACIT_MASKED_DRAW || self->step->step == TACIT_MASKED_REVEAL))
        return masked_draw(self, out, error);
    if (self->step->step >= TACIT_SUM_OPENED)
        return tacit_fail(error, TACIT_PROTOCOL, "the question is no step of a masked sum");
    if (masks->draws) TACIT_TRY(masked_seed(self, seed, error));
    tacit_securesum_roster roster = tacit_securesum_ed25519_roster(&masks->roster);
    tacit_securesum_terms terms = tacit_masked_terms(&masks->shape, self->question, self->step->sum_id,
                                                     masks->digest, masks->draws ? seed : NULL);
    TACIT_TRY(tacit_securesum_create(&self->sum, &terms, &roster, error));
    TACIT_TRY(open_half(self, error));
    return self->step->step == TACIT_SUM_MASK ? take_mask_step(self, out, error)
                                              : take_step(self, out, error);
}

static const secure_ops masked_ops = { "masked", "", run_masked };

static tacit_status run_step(stepping *self, tacit_buffer *out, tacit_error *error) {
    tacit_masks *masks = self->masks;
    const tacit_handler_entry *handler = NULL;
    TACIT_TRY(tacit_party_handler(self->party, self->question, &handler, error));
    if (!self->question->wants_sum || handler->to_neighbours)
        return tacit_fail(error, TACIT_PROTOCOL, "the question is no step of a secure sum");
    /* The roster comes with the first step that a party has: before it there is nobody to sum with. */
    if (self->step->step == 0 || self->step->roster.length > 0)
        TACIT_TRY(tacit_masks_take_roster(masks, &self->step->roster, error));
    if (masks->keys == NULL)
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator goes on with a secure sum that it never began");
    return masks->ops->take_step(self, out, error);
}

static tacit_status write_assumption(char out[TACIT_ASSUMPTION_MOST], const tacit_masks *masks,
                                     tacit_error *error) {
    const tacit_plan *plan = masks->plan;
    size_t minimum;
    TACIT_TRY(tacit_secure_minimum(&minimum, plan, error));
    int used = snprintf(out, TACIT_ASSUMPTION_MOST,
                        "%s sum: at most %zu of %zu parties%s collude with the coordinator, which sees the "
                        "sum of at least %zu",
                        masks->ops->name, tacit_plan_colluders(plan), plan->parties, masks->ops->nor_collude,
                        minimum);
    if (tacit_plan_shares_noise(plan))
        snprintf(out + used, TACIT_ASSUMPTION_MOST - (size_t)used, ", with at least %zu shares of the noise",
                 tacit_plan_noise_shares(plan));
    return TACIT_OK;
}

static tacit_status answer_step(tacit_party *party, const tacit_question *question,
                                const uint8_t question_hash[TACIT_HASH_BYTES], tacit_buffer *out,
                                tacit_error *error) {
    if (party->masks == NULL)
        return tacit_fail(error, TACIT_PROTOCOL,
                          "the study has no secure sums, and the coordinator asks for one");
    tacit_error said = TACIT_ERROR_INIT;
    stepping self = { .party = party,
                      .masks = party->masks,
                      .question = question,
                      .step = question->masked,
                      .question_hash = question_hash,
                      .signer = tacit_securesum_ed25519_signer(party->masks->secret_key) };
    TACIT_TRY(write_assumption(self.assumption, party->masks, error));
    tacit_status status = run_step(&self, out, &said);
    tacit_securesum_party_free(self.half);
    tacit_securesum_free(self.sum);
    if (status == TACIT_OK) return TACIT_OK;
    /* the gate logs what it refuses itself */
    if (self.at_gate) return tacit_fail(error, status, "%s", said.text);
    tacit_release release = describe_step(&self);
    return tacit_party_log_problem(party, &release, status, &said, error);
}

static const char *name_step(const tacit_plan *plan, const tacit_question *question) {
    return tacit_sum_step_name(plan, question->masked->step);
}

const party_round party_secure_round = { answer_step, name_step };
