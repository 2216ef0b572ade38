#include "session/masked/masked.h"

#include <stdio.h>
#include <string.h>

#include "session/wire/wire.h"

static tacit_status check_parties(const tacit_plan *plan, tacit_error *error) {
    const size_t dropouts = tacit_plan_dropouts(plan);
    if (plan->parties < TACIT_SUM_LEAST || plan->parties > TACIT_GRAPH_PARTIES_MOST)
        return tacit_fail(
            error, TACIT_USAGE,
            "a secure sum takes %d to %d parties, and the study expects %zu: in a sum of two either could "
            "take off its own part and see the other's (sum: clear sends contributions as they are)",
            TACIT_SUM_LEAST, TACIT_GRAPH_PARTIES_MOST, plan->parties);
    if (plan->parties - dropouts >= TACIT_SUM_LEAST) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "%zu parties are too few for a secure sum from which %zu may vanish: it opens over %d "
                      "or more; declare fewer dropouts, or wait for more parties",
                      plan->parties, dropouts, TACIT_SUM_LEAST);
}

static size_t least_survivors(const tacit_plan *plan) {
    const size_t declared = tacit_plan_survivors(plan);
    return declared > TACIT_SUM_LEAST ? declared : TACIT_SUM_LEAST;
}

tacit_status tacit_masked_shape(tacit_graph_shape *out, const tacit_plan *plan, tacit_error *error) {
    TACIT_TRY(check_parties(plan, error));
    const double parties = (double)plan->parties;
    tacit_graph_assumption assumption = tacit_graph_assumption_default((uint32_t)plan->parties);
    assumption.minimum = (uint32_t)least_survivors(plan);
    assumption.dropouts = (double)tacit_plan_dropouts(plan) / parties;
    assumption.colluders = (double)tacit_plan_colluders(plan) / parties;
    assumption.complete = plan->complete;
    return tacit_graph_plan(out, &assumption, error);
}

/* Why so many must be left: crypto/sum/pairs.h. */
static tacit_status pairs_minimum(size_t *out, const tacit_plan *plan, tacit_error *error) {
    enum { MOST_PARTIES = 1000 };
    const size_t dropouts = tacit_plan_dropouts(plan), colluders = tacit_plan_colluders(plan);
    TACIT_TRY(check_parties(plan, error));
    if (plan->parties > MOST_PARTIES)
        return tacit_fail(error, TACIT_USAGE, "a study that goes by files has at most %d parties",
                          MOST_PARTIES);
    if (plan->parties < 2 * dropouts + colluders + 2)
        return tacit_fail(
            error, TACIT_USAGE,
            "%zu parties are too few for a masked sum by files in which %zu may be absent and %zu "
            "collude; declare fewer of either, or wait for more parties",
            plan->parties, dropouts, colluders);
    *out = plan->parties - dropouts;
    if (least_survivors(plan) > *out) *out = least_survivors(plan);
    return TACIT_OK;
}

tacit_status tacit_secure_minimum(size_t *out, const tacit_plan *plan, tacit_error *error) {
    size_t least = tacit_plan_colluders(plan) + 2, declared = least_survivors(plan);
    if (plan->sums == TACIT_SUMS_CLEAR) {
        *out = tacit_plan_survivors(plan);
        return TACIT_OK;
    }
    if (plan->sums == TACIT_SUMS_MASKED && plan->exchanges > 0) return pairs_minimum(out, plan, error);
    if (plan->sums == TACIT_SUMS_MASKED) {
        tacit_graph_shape shape;
        TACIT_TRY(tacit_masked_shape(&shape, plan, error));
        *out = shape.minimum;
        return TACIT_OK;
    }
    TACIT_TRY(check_parties(plan, error));
    if (least > plan->parties - tacit_plan_dropouts(plan))
        return tacit_fail(error, TACIT_USAGE,
                          "%zu parties are too few for a secure sum in which %zu may vanish and %zu collude; "
                          "declare fewer of either, or wait for more parties",
                          plan->parties, tacit_plan_dropouts(plan), tacit_plan_colluders(plan));
    *out = declared > least ? declared : least;
    return TACIT_OK;
}

const char *tacit_sum_step_name(const tacit_plan *plan, unsigned step) {
    if (plan->sums == TACIT_SUMS_PAILLIER)
        return step < TACIT_PAILLIER_SUM_OPENED ? tacit_paillier_sum_step_name((tacit_paillier_sum_step)step)
                                                : "unknown";
    if (plan->exchanges > 0)
        return step == TACIT_PAIRS_MASK ? "mask" : step == TACIT_PAIRS_UNMASK ? "unmask" : "unknown";
    if (step == TACIT_MASKED_DRAW) return "draw";
    if (step == TACIT_MASKED_REVEAL) return "reveal";
    return step < TACIT_SUM_OPENED ? tacit_securesum_step_name((tacit_securesum_step)step) : "unknown";
}

tacit_status tacit_masked_id(uint8_t out[TACIT_MASKED_ID_BYTES], const tacit_question *question,
                             tacit_error *error) {
    tacit_question common = *question;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    common.kind = TACIT_ROUND_PLAIN;
    memset(common.answer_id, 0, sizeof common.answer_id);
    tacit_status status = tacit_question_encode(&common, &bytes, error);
    if (status == TACIT_OK)
        crypto_generichash(out, TACIT_MASKED_ID_BYTES, bytes.bytes, bytes.length, NULL, 0);
    tacit_buffer_clear(&bytes);
    return status;
}

/* A complete graph has no order. What is here in place of a seed is hashed with the other terms. */
static void no_seed(uint8_t out[TACIT_GRAPH_SEED_BYTES], const uint8_t roster[TACIT_DIGEST_BYTES]) {
    tacit_digest digest;
    _Static_assert((int)TACIT_GRAPH_SEED_BYTES == (int)TACIT_DIGEST_BYTES, "a digest is a seed");
    tacit_digest_begin(&digest, "tacit masked sum graph 2", NULL);
    tacit_digest_bytes(&digest, roster, TACIT_DIGEST_BYTES);
    tacit_digest_end(&digest, out);
}

tacit_securesum_terms tacit_masked_terms(const tacit_graph_shape *shape, const tacit_question *question,
                                         const uint8_t id[TACIT_MASKED_ID_BYTES],
                                         const uint8_t roster[TACIT_DIGEST_BYTES], const uint8_t *seed) {
    tacit_securesum_terms terms = { .round = question->round,
                                    .length = question->sum.length,
                                    .shape = *shape };
    _Static_assert(sizeof terms.study >= sizeof question->study, "a study's name fits");
    _Static_assert((int)TACIT_SUM_ID_BYTES == (int)TACIT_MASKED_ID_BYTES, "ids have one size");
    memcpy(terms.study, question->study, sizeof question->study);
    memcpy(terms.id, id, sizeof terms.id);
    memcpy(terms.roster, roster, sizeof terms.roster);
    if (seed != NULL)
        memcpy(terms.graph_seed, seed, sizeof terms.graph_seed);
    else
        no_seed(terms.graph_seed, roster);
    return terms;
}

bool tacit_masked_draws(const tacit_graph_shape *shape) { return shape->degree + 1 < shape->parties; }

tacit_drawing tacit_masked_drawing(const tacit_plan *plan, const char *study,
                                   const uint8_t version[TACIT_HASH_BYTES],
                                   const uint8_t roster[TACIT_DIGEST_BYTES],
                                   const tacit_signing_roster *signers) {
    const uint32_t parties = (uint32_t)plan->parties;
    tacit_drawing drawing = { .parties = parties,
                              .least = tacit_drawing_least(parties, (uint32_t)tacit_plan_colluders(plan)),
                              .signers = tacit_securesum_ed25519_roster(signers) };
    _Static_assert((int)TACIT_DIGEST_BYTES == (int)TACIT_HASH_BYTES, "hashes have one size");
    snprintf(drawing.study, sizeof drawing.study, "%s", study);
    memcpy(drawing.version, version, sizeof drawing.version);
    memcpy(drawing.roster, roster, sizeof drawing.roster);
    return drawing;
}

tacit_status tacit_encrypted_terms(tacit_paillier_sum_terms *out, const tacit_plan *plan,
                                   const tacit_question *question, const uint8_t id[TACIT_MASKED_ID_BYTES],
                                   const uint8_t roster[TACIT_DIGEST_BYTES], tacit_error *error) {
    size_t minimum;
    TACIT_TRY(tacit_secure_minimum(&minimum, plan, error));
    tacit_paillier_sum_terms terms = { .round = question->round,
                                       .length = question->sum.length,
                                       .parties = (uint32_t)plan->parties,
                                       .minimum = (uint32_t)minimum,
                                       .holder = TACIT_KEY_HOLDER,
                                       .key_bits =
                                           plan->key_bits != 0 ? plan->key_bits : TACIT_PAILLIER_BITS };
    _Static_assert(sizeof terms.study >= sizeof question->study, "a study's name fits");
    memcpy(terms.study, question->study, sizeof question->study);
    memcpy(terms.id, id, sizeof terms.id);
    memcpy(terms.roster, roster, sizeof terms.roster);
    *out = terms;
    return TACIT_OK;
}

tacit_status tacit_pairs_terms_of(tacit_pairs_terms *out, const tacit_plan *plan,
                                  const tacit_question *question, const uint8_t id[TACIT_MASKED_ID_BYTES],
                                  const uint8_t version[TACIT_HASH_BYTES], const tacit_signing_roster *roster,
                                  tacit_error *error) {
    size_t minimum;
    TACIT_TRY(tacit_secure_minimum(&minimum, plan, error));
    *out = (tacit_pairs_terms){ .round = question->round,
                                .length = question->sum.length,
                                .roster = *roster,
                                .exchanges = plan->exchanges,
                                .minimum = (uint32_t)minimum };
    memcpy(out->study, question->study, sizeof question->study);
    memcpy(out->id, id, sizeof out->id);
    memcpy(out->version, version, sizeof out->version);
    return TACIT_OK;
}

void tacit_roster_text(char out[TACIT_ROSTER_TEXT_SIZE], const uint8_t digest[TACIT_DIGEST_BYTES]) {
    size_t used = 0;
    for (size_t i = 0; i < TACIT_ROSTER_TEXT_BYTES; i++)
        used += (size_t)snprintf(out + used, TACIT_ROSTER_TEXT_SIZE - used,
                                 i % 4 == 0 && i > 0 ? "-%02x" : "%02x", digest[i]);
}

void tacit_sum_key_digest(uint8_t out[TACIT_DIGEST_BYTES], const uint8_t definition[TACIT_HASH_BYTES],
                          const char *signing_request, const uint8_t key[TACIT_SIGNING_KEY_BYTES]) {
    tacit_digest digest;
    tacit_digest_begin(&digest, "tacit sum key 1", NULL);
    tacit_digest_bytes(&digest, definition, TACIT_HASH_BYTES);
    tacit_digest_text(&digest, signing_request);
    tacit_digest_bytes(&digest, key, TACIT_SIGNING_KEY_BYTES);
    tacit_digest_end(&digest, out);
}
