/*
 * dpsgd: a network of layers trained by stochastic gradient descent, with Gaussian noise on sums of
 * clipped gradients (Abadi et al. 2016), over the rows of many parties. The method of Wang 2018, chapter 3,
 * is dpstgd; this is what a user should run.
 *
 *   parameters w_0 random and public;   n_k, the number of rows of each party, added up once;   for t = 1..T
 *   party k:      B = its rows, each with probability q;   h_k = sum over B of g(x)/C min(1, C/|g(x)|)
 *   together:     h = sum_k h_k + Gaussian noise           (who adds it: setting noise)
 *   coordinator:  w <- a step of SGD or Adam along (C/(q sum_k n_k)) h + lambda w
 *
 * g is the gradient of a row's loss by all parameters: logistic, softmax, or of a number or a count the
 * clipped loss of method/bounded_label.h, and T = epochs/q. The noise is that of dpsgd_setup.c, with the
 * proof note. What a noisy sum is made into, its largest numbers (keep) or their signs (upload=ternary), is
 * post-processing; with noise=party the parties do it before they send.
 *
 * Stopping early (patience = p). Two noisy sums one after the other have independent noise, so their inner
 * product is a fair estimate of that of two gradients; once its moving average over about p steps is not
 * above 0 nothing is left to follow. It looks at published numbers only. The ledger holds a charge for each
 * step that was made and none for the others.
 */
#include "method/private/dpsgd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/private/gradient.h"
#include "method/private/ternary_upload.h"
#include "privacy/mechanism/shares.h"

/* ---- the plan ---- */

static tacit_status check(const tacit_plan *plan, tacit_error *error) {
    dpsgd_setup setup;
    return dpsgd_setup_read(plan, &setup, error);
}

/* Finding the noise takes a second. */
static tacit_status prepare(const tacit_plan *plan, void *out, tacit_error *error) {
    return dpsgd_setup_make(plan, 0, out, error);
}

static tacit_status price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                          tacit_error *error) {
    dpsgd_setup setup;
    TACIT_TRY(tacit_prepared_take(prepared, plan, &setup, error));
    out->charged = out->claimed =
        (tacit_price){ TACIT_UNIT_RECORD, plan->epsilon, isfinite(plan->epsilon) ? plan->delta : 0 };
    out->event = setup.event;
    if (out->event.count > 0) out->event.count = setup.optimiser.steps;
    return TACIT_OK;
}

static tacit_release_kind release_kind(const tacit_plan *plan) {
    const dpsgd_noise noise = dpsgd_settings_of(plan)->noise;
    if (noise == DPSGD_BY_PARTY) return TACIT_RELEASE_CHARGED;
    return noise == DPSGD_BY_SHARES ? TACIT_RELEASE_SEALED : TACIT_RELEASE_ENTRUSTED;
}

static bool by_shares(const tacit_plan *plan) { return dpsgd_settings_of(plan)->noise == DPSGD_BY_SHARES; }

static double least_rows(const tacit_plan *plan, size_t parties) {
    return (double)parties * (plan->minimum_rows > 0 ? (double)plan->minimum_rows : 1);
}

static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error) {
    dpsgd_setup setup;
    TACIT_TRY(tacit_prepared_take(prepared, plan, &setup, error));
    bool own = setup.noise == DPSGD_BY_PARTY, shared = setup.noise == DPSGD_BY_SHARES;
    double batch = setup.sampling * least_rows(plan, plan->parties);
    /* Of the shares in a sum only setup.shares count, so all of them together are more than the price
     * wants. */
    double scale = setup.noise_scale * (shared ? sqrt((double)plan->parties / (double)setup.shares) : 1);
    *out = (tacit_noise_law){
        .law = shared ? "discrete Gaussian in shares, together near N(0, s^2), in every step"
                      : "Gaussian N(0, s^2), in every step",
        .added_to = own ? "each party's sum of clipped gradients, in units of the clipping norm"
                        : "the sum of clipped gradients, in units of the clipping norm",
        .dimension = setup.size,
        .sensitivity = 2 * setup.row_shift,
        .scale = scale,
        .mean_norm =
            setup.clip * scale * sqrt((double)setup.size) * (own ? sqrt((double)plan->parties) : 1) / batch,
        .norm_in = "the mean gradient of one step",
    };
    return TACIT_OK;
}

/* ---- the party's half ---- */

/* A Poisson sample of the party's rows; one word a row, whatever it is. */
static tacit_status draw_rows(tacit_party *party, double sampling, uint32_t *index, size_t *count,
                              tacit_error *error) {
    enum { WORDS = 256 };
    uint64_t words[WORDS], below = sampling < 1 ? (uint64_t)floor(ldexp(sampling, 64)) : UINT64_MAX;
    size_t rows = party->rows.rows.count, taken = 0;
    for (size_t i = 0; i < rows; i++) {
        size_t left = rows - i < WORDS ? rows - i : WORDS;
        if (i % WORDS == 0) {
            if (party->noise.entropy != NULL)
                TACIT_TRY(tacit_entropy_bytes(words, left * sizeof *words, party->noise.entropy, error));
            else
                tacit_stream_bytes(party->noise.stream, words, left * sizeof *words);
        }
        if (sampling == 1 || words[i % WORDS] < below)
            index[taken++] = (uint32_t)tacit_rows_stored(&party->rows.rows, i);
    }
    *count = taken;
    return TACIT_OK;
}

static tacit_status check_sample(const dpsgd_setup *setup, size_t sampled, tacit_error *error) {
    if (sampled > TACIT_BATCH_MOST)
        return tacit_fail(
            error, TACIT_REFUSED,
            "%zu rows of this party take part in a step at sampling %g, and at most %zu may: sample less",
            sampled, setup->sampling, TACIT_BATCH_MOST);
    return TACIT_OK;
}

/* Clipped gradients of the sampled rows at `weights`, added up by the batch. */
static tacit_status add_gradients(tacit_party *party, const dpsgd_setup *setup, const double *weights,
                                  const uint32_t *index, size_t count, double *out, tacit_error *error) {
    tacit_view sample = party->rows;
    tacit_batch *batch = NULL;
    double *class_weight = NULL;
    tacit_status status;
    sample.rows.index = index;
    sample.rows.count = count;
    TACIT_CHECK(dpsgd_class_weights(party->plan, &class_weight, error));
    TACIT_CHECK(tacit_batch_create(&batch, &setup->network, class_weight, party->pool, error));
    tacit_batch_scale_rows(batch, setup->scale);
    tacit_batch_load(batch, weights);
    TACIT_CHECK(tacit_batch_sum(batch, &sample, setup->clip, out, error));
cleanup:
    tacit_batch_free(batch);
    free(class_weight);
    return status;
}

/* The party's contribution, on the grid: sums over its holders are exact then. */
static tacit_status contribute(tacit_party *party, const dpsgd_setup *setup, const double *weights,
                               double *out, tacit_error *error) {
    size_t count = 0;
    uint32_t *index = TACIT_NEW(uint32_t, party->rows.rows.count + 1);
    tacit_status status = index != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    TACIT_CHECK(draw_rows(party, setup->sampling, index, &count, error));
    TACIT_CHECK(check_sample(setup, count, error));
    TACIT_CHECK(add_gradients(party, setup, weights, index, count, out, error));
    for (size_t j = 0; j < setup->size; j++)
        out[j] = ldexp(rint(ldexp(out[j], setup->spec.grid_bits)), -setup->spec.grid_bits);
    if (party->reducer != NULL)
        TACIT_CHECK(party->reducer->sum(party->reducer->context, out, setup->size, error));
cleanup:
    free(index);
    return status;
}

static tacit_status add_own_noise(const tacit_party *party, const dpsgd_setup *setup, const double *values,
                                  tacit_noised **out, tacit_error *error) {
    const tacit_sum_spec *spec = &setup->spec;
    return setup->event.count == 0
               ? tacit_mechanism_release(out, &party->noise, &setup->gaussian, values, spec->length,
                                         spec->grid_bits, spec->bound, error)
               : tacit_mechanism_release_at(out, &party->noise, &setup->gaussian, setup->noise_scale, values,
                                            spec->length, spec->grid_bits, spec->bound, error);
}

static tacit_status add_share(const tacit_party *party, const dpsgd_setup *setup, const double *values,
                              tacit_reply *reply, tacit_error *error) {
    const tacit_shared_noise noise = { .law = TACIT_LAW_DISCRETE_GAUSSIAN,
                                       .sensitivity = ldexp(setup->row_shift, setup->spec.grid_bits),
                                       .price = setup->price,
                                       .shares = setup->shares,
                                       .length = setup->spec.length,
                                       .runs = setup->optimiser.steps,
                                       .scale = setup->share_scale };
    int64_t *steps = TACIT_NEW(int64_t, setup->spec.length);
    if (steps == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_sum_quantise(&setup->spec, values, steps, error);
    if (status == TACIT_OK)
        status = tacit_share_add(&reply->noised, &party->noise, &noise, steps, setup->spec.grid_bits, error);
    reply->assumption = "secure summation: only the sum is seen, with enough shares of the noise in it";
    free(steps);
    return status;
}

static tacit_status derive(const tacit_plan *plan, double sigma, void *out, tacit_error *error) {
    return dpsgd_setup_make(plan, sigma, out, error);
}

/* What every question starts with: the setup under the noise that the coordinator found, and the
 * contribution. */
static tacit_status open_question(tacit_party *party, const tacit_question *question, dpsgd_setup *setup,
                                  double **values, tacit_error *error) {
    const double *weights, *sigma;
    size_t size;
    TACIT_TRY(tacit_message_numbers(question->message, "noise", 1, &sigma, error));
    TACIT_TRY(tacit_party_derive(party, derive, isfinite(party->plan->epsilon) ? *sigma : 0, setup,
                                 sizeof *setup, error));
    size = setup->size;
    TACIT_TRY(tacit_message_numbers(question->message, "weights", size, &weights, error));
    *values = TACIT_NEW(double, setup->spec.length);
    if (*values == NULL) return tacit_fail_memory(error);
    return contribute(party, setup, weights, *values, error);
}

static tacit_status answer_step(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                tacit_error *error) {
    dpsgd_setup setup;
    double *values = NULL;
    tacit_status status;
    TACIT_CHECK(open_question(party, question, &setup, &values, error));
    TACIT_CHECK(gradient_check_sum(question, &setup.spec, error));
    reply->kind = release_kind(party->plan);
    reply->price = setup.price;
    reply->event = setup.event;
    if (setup.noise == DPSGD_BY_PARTY) {
        TACIT_CHECK(add_own_noise(party, &setup, values, &reply->noised, error));
    } else if (setup.noise == DPSGD_BY_SHARES) {
        TACIT_CHECK(add_share(party, &setup, values, reply, error));
    } else {
        reply->noise = setup.event.count == 0 ? TACIT_NOISE_NONE : tacit_noise_source_grade(&party->noise);
        reply->contribution = values;
        values = NULL;
    }
cleanup:
    free(values);
    return status;
}

/* The largest of the noisy numbers: which, their signs, and their sizes or the mean of these. */
static tacit_status pack_small(const dpsgd_setup *setup, const double *values, tacit_message *message,
                               tacit_error *error) {
    size_t kept = ternary_kept(setup->size, setup->keep), bytes = ternary_bytes(setup->size, kept), next = 0;
    double mean = 0, *sizes = TACIT_NEW(double, kept);
    int8_t *signs = TACIT_NEW(int8_t, setup->size);
    uint8_t *packed = TACIT_NEW(uint8_t, bytes);
    tacit_status status = TACIT_OK;
    if (sizes == NULL || signs == NULL || packed == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(ternary_choose(values, setup->size, kept, signs, &mean, error));
    ternary_pack(signs, setup->size, kept, packed);
    TACIT_CHECK(tacit_message_add_bytes(message, "signs", packed, bytes, error));
    for (size_t j = 0; j < setup->size; j++)
        if (signs[j] != 0) sizes[next++] = fabs(values[j]);
    TACIT_CHECK(setup->signs ? tacit_message_add_numbers(message, "sizes", &mean, 1, error)
                             : tacit_message_add_numbers(message, "sizes", sizes, kept, error));
cleanup:
    free(sizes);
    free(signs);
    free(packed);
    return status;
}

/* With noise=party and something to compress: an answer of its own. */
static tacit_status answer_small(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                 tacit_error *error) {
    dpsgd_setup setup;
    double *values = NULL;
    tacit_noised *noised = NULL;
    tacit_status status;
    TACIT_CHECK(open_question(party, question, &setup, &values, error));
    if (!dpsgd_answers_small(party->plan))
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED, "the study's plan has no compressed answers"));
    TACIT_CHECK(add_own_noise(party, &setup, values, &noised, error));
    for (size_t j = 0; j < setup.spec.length; j++)
        values[j] = tacit_sum_value(&setup.spec, tacit_noised_steps(noised)[j]);
    reply->kind = TACIT_RELEASE_CHARGED;
    reply->price = setup.price;
    reply->event = setup.event;
    reply->noise = tacit_noised_grade(noised);
    reply->packed = setup.signs ? ternary_kept(setup.size, setup.keep) : 0; /* else their sizes are counted */
    TACIT_CHECK(pack_small(&setup, values, &reply->message, error));
cleanup:
    tacit_noised_free(noised);
    free(values);
    return status;
}

/* ---- the coordinator's half ---- */

typedef struct state {
    double *parameters, *memory, *previous, *gradient; /* the last is of the step under way */
    double agreement;                                  /* moving average of inner products */
    double rows;                                       /* of a party, on average; 0: not yet asked */
    uint64_t steps;
    size_t parties;
} state;

static void state_clear(state *self) {
    free(self->parameters);
    free(self->memory);
    free(self->previous);
    free(self->gradient);
}

/* Rows lie in the unit ball, so that with these gains what a unit takes in starts out with a variance of at
 * most 1 (ReLU: 2). */
static void start(tacit_session *session, const dpsgd_setup *setup, double *out) {
    const tacit_network *network = &setup->network;
    tacit_stream stream = tacit_session_stream(session, "start of training");
    double gain[TACIT_NETWORK_LAYERS], half = network->activation == TACIT_ACTIVATION_RELU ? 0.5 : 1;
    tacit_network_gains(network, setup->scale, gain);
    for (size_t l = 0; l < network->layers; l++) gain[l] *= half;
    tacit_network_start(network, gain, &stream, out);
}

static tacit_status state_resume(tacit_session *session, const dpsgd_setup *setup, state *self,
                                 tacit_error *error) {
    size_t size = setup->size, memory = tacit_optimiser_memory(&setup->optimiser, size);
    tacit_message message = TACIT_MESSAGE_INIT;
    const double *numbers[3], *few;
    const int64_t *counts;
    bool found = false;
    tacit_status status;
    self->parameters = TACIT_NEW(double, size);
    self->memory = TACIT_NEW(double, memory);
    self->previous = TACIT_NEW(double, size);
    self->gradient = TACIT_NEW(double, size);
    if (self->parameters == NULL || self->memory == NULL || self->previous == NULL || self->gradient == NULL)
        return tacit_fail_memory(error);
    start(session, setup, self->parameters);
    TACIT_CHECK(tacit_resume(session, &found, &message, error));
    if (!found) goto cleanup;
    TACIT_CHECK(tacit_message_numbers(&message, "parameters", size, &numbers[0], error));
    TACIT_CHECK(tacit_message_numbers(&message, "memory", memory, &numbers[1], error));
    TACIT_CHECK(tacit_message_numbers(&message, "previous", size, &numbers[2], error));
    TACIT_CHECK(tacit_message_numbers(&message, "agreement and rows", 2, &few, error));
    TACIT_CHECK(tacit_message_integers(&message, "steps and parties", 2, &counts, error));
    memcpy(self->parameters, numbers[0], size * sizeof(double));
    memcpy(self->memory, numbers[1], memory * sizeof(double));
    memcpy(self->previous, numbers[2], size * sizeof(double));
    self->agreement = few[0];
    self->rows = few[1];
    self->steps = (uint64_t)counts[0];
    self->parties = (size_t)counts[1];
cleanup:
    tacit_message_clear(&message);
    return status;
}

static tacit_status state_checkpoint(tacit_session *session, const dpsgd_setup *setup, const state *self,
                                     tacit_error *error) {
    if (session->journal == NULL) return TACIT_OK;
    size_t size = setup->size, memory = tacit_optimiser_memory(&setup->optimiser, size);
    tacit_message message = TACIT_MESSAGE_INIT;
    int64_t counts[] = { (int64_t)self->steps, (int64_t)self->parties };
    double few[] = { self->agreement, self->rows };
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&message, "parameters", self->parameters, size, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "memory", self->memory, memory, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "previous", self->previous, size, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "agreement and rows", few, 2, error));
    TACIT_CHECK(tacit_message_add_integers(&message, "steps and parties", counts, 2, error));
    TACIT_CHECK(tacit_checkpoint(session, &message, error));
cleanup:
    tacit_message_clear(&message);
    return status;
}

/* The noisy sum of all parties, into self->gradient. */
static tacit_status ask_sum(tacit_session *session, const dpsgd_setup *setup, const tacit_message *message,
                            state *self, tacit_error *error) {
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_ask_sum(session, "step", message, &setup->spec, &sum, error));
    if (setup->noise == DPSGD_BY_COORDINATOR)
        TACIT_CHECK(tacit_session_publish(session, &setup->gaussian, sum.values, setup->size,
                                          setup->spec.bound * (double)session->plan->parties, sum.values,
                                          error));
    memcpy(self->gradient, sum.values, setup->size * sizeof(double));
    self->parties = sum.parties;
    if (setup->compressed)
        TACIT_CHECK(ternary_compress(self->gradient, setup->size, ternary_kept(setup->size, setup->keep),
                                     setup->signs, error));
cleanup:
    tacit_sum_clear(&sum);
    return status;
}

/* The mean number of rows of those that are there at the start; whoever vanishes later is taken to have as
 * many. */
static tacit_status ask_rows(tacit_session *session, state *self, tacit_error *error) {
    tacit_sum_spec spec;
    tacit_sum sum = TACIT_SUM_INIT;
    if (self->rows > 0) return TACIT_OK;
    TACIT_TRY(gradient_rows_spec(session->plan, &spec, error));
    TACIT_TRY(tacit_ask_sum(session, "rows", NULL, &spec, &sum, error));
    self->rows = fmax(1, sum.values[0] / (double)sum.parties);
    tacit_sum_clear(&sum);
    return TACIT_OK;
}

/* Add one compressed answer to self->gradient. */
static tacit_status add_small(const dpsgd_setup *setup, const tacit_message *answer, int8_t *signs,
                              state *self, tacit_error *error) {
    size_t next = 0;
    const double *sizes;
    TACIT_TRY(dpsgd_small_read(setup, answer, signs, &sizes, error));
    for (size_t j = 0; j < setup->size; j++)
        if (signs[j] != 0) self->gradient[j] += signs[j] * (setup->signs ? sizes[0] : sizes[next++]);
    return TACIT_OK;
}

static tacit_status ask_small(tacit_session *session, const dpsgd_setup *setup, const tacit_message *message,
                              state *self, tacit_error *error) {
    tacit_answers answers = TACIT_ANSWERS_INIT;
    int8_t *signs = TACIT_NEW(int8_t, setup->size);
    tacit_status status = signs != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    TACIT_CHECK(tacit_ask(session, "small step", message, &answers, error));
    memset(self->gradient, 0, setup->size * sizeof(double));
    for (size_t k = 0; k < answers.count; k++)
        TACIT_CHECK(add_small(setup, &answers.answer[k].message, signs, self, error));
    self->parties = answers.count;
cleanup:
    free(signs);
    tacit_answers_clear(&answers);
    return status;
}

static void move(const tacit_plan *plan, const dpsgd_setup *setup, state *self) {
    double batch = setup->sampling * self->rows * (double)self->parties, product = 0;
    for (size_t j = 0; j < setup->size; j++) {
        self->gradient[j] *= setup->clip / batch;
        product += self->gradient[j] * self->previous[j];
        self->previous[j] = self->gradient[j];
        self->gradient[j] += plan->lambda * self->parameters[j];
    }
    double memory = setup->patience > 0 ? 1 / fmax(1, setup->patience) : 1;
    self->agreement += memory * (product - self->agreement);
    tacit_optimiser_step(&setup->optimiser, self->steps, self->gradient, self->memory, self->parameters,
                         setup->size);
    self->steps++;
}

static tacit_status one_step(tacit_session *session, const dpsgd_setup *setup, state *self,
                             tacit_error *error) {
    tacit_message message = TACIT_MESSAGE_INIT;
    bool small = dpsgd_answers_small(session->plan);
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", self->parameters, setup->size, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "noise", &setup->sigma, 1, error));
    TACIT_CHECK(small ? ask_small(session, setup, &message, self, error)
                      : ask_sum(session, setup, &message, self, error));
    move(session->plan, setup, self);
cleanup:
    tacit_message_clear(&message);
    return status;
}

static bool has_stopped(const dpsgd_setup *setup, const state *self) {
    return setup->patience > 0 && (double)self->steps >= 2 * setup->patience && self->agreement <= 0;
}

/* The model takes rows as they are: their scale goes into the first layer. */
static tacit_status finish(const dpsgd_setup *setup, const state *self, tacit_outcome *out,
                           tacit_error *error) {
    tacit_model *model = NULL;
    TACIT_TRY(tacit_model_create_network(&model, &setup->network, error));
    memcpy(model->weights, self->parameters, setup->size * sizeof(double));
    tacit_network_scale_rows(&setup->network, setup->scale, model->weights);
    if (setup->network.response == TACIT_RESPONSE_NUMBER)
        tacit_network_scale_scores(&setup->network, setup->network.largest, model->weights);
    out->parties = self->parties;
    return tacit_outcome_add(out, model, error);
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    dpsgd_setup setup;
    state self = { .parameters = NULL };
    double *before = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_session_prepared(session, &setup, error));
    TACIT_CHECK(state_resume(session, &setup, &self, error));
    TACIT_CHECK(tacit_plan_before(&before, session->plan, self.parameters, setup.size, error));
    TACIT_CHECK(ask_rows(session, &self, error));
    while (self.steps < setup.optimiser.steps && !has_stopped(&setup, &self)) {
        tacit_progress_report(session->progress, "steps", self.steps, setup.optimiser.steps);
        TACIT_CHECK(one_step(session, &setup, &self, error));
        if (tacit_plan_stops(session->plan, self.steps, before, self.parameters, setup.size)) break;
        TACIT_CHECK(state_checkpoint(session, &setup, &self, error));
    }
    TACIT_CHECK(finish(&setup, &self, out, error));
cleanup:
    free(before);
    state_clear(&self);
    return status;
}

static const tacit_handler_entry handlers[] = { { .question = "rows", .answer = gradient_answer_rows },
                                                { .question = "step", .answer = answer_step },
                                                { .question = "small step",
                                                  .answer = answer_small,
                                                  .usable = dpsgd_small_usable,
                                                  .answer_numbers = dpsgd_small_numbers },
                                                { .question = NULL } };

const tacit_method tacit_method_dpsgd = {
    .name = "dpsgd",
    .title = "a network of layers by stochastic gradient descent, with noise on clipped gradients",
    .reference = "Abadi et al. 2016; docs/methods/dpsgd.md",
    .version = 3,
    .units = "record",
    .spreads = true,
    .needs_delta = true,
    .stops_early = true,
    .lambda_may_vanish = true,
    .takes_numbers = true,
    .choose_lambda = dpsgd_lambda,
    .settle = dpsgd_settle,
    .lambda_rule = "without hidden layers 2 sqrt(d)/(N mu), at most .3: d features, N rows at least, mu what "
                   "the price buys; with them none",
    .fits_alone_by_party = true,
    TACIT_SETTINGS_OF(dpsgd_parameters, dpsgd_defaults),
    .shares_noise = by_shares,
    .network = network_of_plan,
    .leaves = "in every step, the sum of the clipped gradients of a random sample of the party's rows, at "
              "weights that all parties know[noise=party: , with the party's own noise added][noise=shares: "
              ", with the party's share of the noise added][noise=party,keep!=1,upload=full: , of which only "
              "the largest numbers are sent][noise=party,keep!=1,upload=ternary: , of which only the signs "
              "of the largest numbers are sent][noise=party,keep=1,upload=ternary: , of which only the signs "
              "are sent]; and the number of its rows[sees=sum: , as one contribution to a sum]",
    .seen_by = "[noise=coordinator,sees=sum: the coordinator sees the exact sum over all parties in every "
               "step, and no single party's][noise=coordinator,sees=each: the coordinator sees each party's "
               "exact sums in every step][noise=party,sees=sum: the coordinator sees the sum of all parties' "
               "noisy gradients in every step, and no single party's][noise=party,sees=each: the coordinator "
               "sees what each party sends in every step, with the party's noise in it][noise=shares: the "
               "coordinator sees the sum over all parties in every step, with the noise in it, and no single "
               "party's]. Everybody sees the weights after every step",
    .guarantee = "(epsilon, delta)-differential privacy of all steps together, for replacing one row of a "
                 "party, towards everybody who sees all steps[noise=party|shares: , the coordinator "
                 "included][noise=coordinator: . There is no such guarantee towards the coordinator, which "
                 "sees exact values]",
    .assumption = "nobody learns which rows took part in a step; the number of a party's rows is no "
                  "secret[noise=coordinator: ; the coordinator adds the noise, publishes only noisy results "
                  "and keeps the exact sums to itself][noise=shares: ; secure summation, and that no more "
                  "parties vanish from a sum or collude than the study declares]",
    .theorem = "Gaussian noise on a Poisson sample, relative to the norm C that each row's gradient is "
               "clipped to; its privacy-loss distribution under replacement, where two rows that pull to "
               "opposite sides are the worst (proved in docs/accounting.md), composed over all steps by the "
               "accountant that proves the least (docs/accounting.md)",
    .claim = "Abadi et al. 2016 print larger epsilons, by moments, for a row that comes or goes",
    .caveats = "as many questions as steps. The noise grows with the number of parameters and falls with "
               "rows: a small network on few rows learns nothing. Rates, clipping and layers chosen by "
               "looking at results on private rows cost privacy that nobody counts",
    .prepare = prepare,
    .prepared_size = sizeof(dpsgd_setup),
    .prepares_long = true,
    .check = check,
    .price = price,
    .noise = noise_law,
    .single = dpsgd_answers_small,
    .release_kind = release_kind,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
