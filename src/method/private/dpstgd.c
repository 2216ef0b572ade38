/*
 * dpstgd: stochastic ternary gradient descent of a network, participants in turn (Wang 2018, chapter 3,
 * Algorithms 1 to 3).
 *
 *   server:    random W; for t = 1..T, for k = 1..K: ask participant k about W;  W <- W - r_t G~    (eq. 3.1)
 *   participant:  a Poisson sample of its rows, each with probability q
 *                 x_j = sum over the sample of g_ij/B cut to [-1, 1], g_i the gradient of row i's loss
 *                     (eq. 3.2-3.4)
 *                 I   = the n largest of |x_j| + Lap(1/e)
 *                     (Algorithm 3)
 *                 G~_j = B sign(x_j + fresh Lap(1/e)) for j in I, else 0                            (eq. 3.6)
 *
 * e is the paper's epsilon. Eq. 3.6 as printed lacks the sign, without which G~ is not ternary. The paper
 * starts from zero weights "by default", where all units of a layer stay equal for ever, and randomly in its
 * text: randomly it is. A participant that refuses or is away is passed over in that turn.
 *
 * Proof note. Adjacency: replace one row of one participant (unit record). What a step costs, and why the
 * paper's price is none,
 *   is in privacy/mechanism/ternary_step.h; that a row moves each computed x_j by at most 1, exactly, in
 *   model/clipped_batch.h. A participant answers at most T times, at weights that follow from answers: T
 *   equal steps compose adaptively. W is post-processing of all answers. calibration=tight: e is the largest
 *   for which T steps cost (epsilon, delta), so that this is the charge. calibration=paper: epsilon is e;
 *   charged is what T steps cost, claimed what the paper says of them, T times Theorem 3.3.2 (it
 *     prints no composition over steps), by basic composition or, at delta/T each where that is less, by
 *     advanced.
 *   The sample's probability is rounded down to a multiple of 2^-52, and the price is that of q. Each answer
 *   is a pure event of the step's price about a replaced row; its price in the ledger has delta/T besides, so
 *   that the ledger may compose at delta.
 *
 * Deviations from the boxes: the sign in equation 3.6, random first weights, a sample by coin tosses
 * (Poisson) for "a random subset", the price, and rows that are clipped one by one so that a row moves a
 * number by at most 1.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/private/dpsgd.h"
#include "method/private/ternary_upload.h"
#include "model/clipped_batch.h"
#include "model/optimiser.h"
#include "privacy/mechanism/erm.h"
#include "privacy/mechanism/ternary_step.h"
#include "session/party.h"
#include "session/session.h"

enum { MOST_ROUNDS = 1000000 };

_Static_assert(offsetof(dpstgd_settings, network) == 0,
               "the shared part of the table begins with the struct");

static const dpstgd_settings defaults = {
    .network = { .hidden = "50,20", .activation = TACIT_ACTIVATION_TANH, .shape = "none" },
    .rounds = 100,
    .sampling = 0.01,
    .keep = 0.1,
    .clip = 0.01,
    .rate = 1,
    .schedule = TACIT_SCHEDULE_CONSTANT,
    .calibration = TACIT_CALIBRATION_TIGHT,
};

static const tacit_parameter parameters[] = {
    TACIT_TEXT(network_settings, hidden, "hidden",
               "units of each hidden layer, with commas between, or none: a linear model"),
    TACIT_CHOICE(network_settings, activation, "activation", "tanh|sigmoid|relu", "of the hidden units"),
    TACIT_COUNT(dpstgd_settings, rounds, "rounds", 1, MOST_ROUNDS, "T: turns of every participant"),
    TACIT_NUMBER(dpstgd_settings, sampling, "sampling", 1e-6, 1,
                 "q: the chance of each row to be in a step's sample"),
    TACIT_NUMBER(dpstgd_settings, keep, "keep", 1e-9, 1,
                 "the share of all weights whose signs a step uploads; at least one"),
    TACIT_NUMBER(dpstgd_settings, clip, "clip", 1e-9, 1e9,
                 "B: each number of a row's gradient is cut to [-B, B]"),
    TACIT_NUMBER(dpstgd_settings, rate, "rate", 1e-9, 1e9, "r: a step moves the chosen weights by r B"),
    TACIT_CHOICE(dpstgd_settings, schedule, "schedule", "constant|linear|cosine|root",
                 "how r falls over the T turns"),
    TACIT_OPEN_NUMBER(network_settings, scale, "scale", 1e6, "what rows are multiplied by before they enter",
                      "the root of their length"),
    TACIT_CHOICE(dpstgd_settings, calibration, "calibration", "tight|paper",
                 "paper: epsilon is that of a single weight in a single step, as printed; what is charged is "
                 "far more"),
    TACIT_LATER_TEXT(
        network_settings, shape, "shape", "none",
        "what a row is to layers conv, pool and gru (see dpsgd): HEIGHTxWIDTH[xCHANNELS]; none: a list"),
    TACIT_SETTINGS_END,
};

static const dpstgd_settings *settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(dpstgd_settings, plan);
}

size_t dpstgd_kept(const tacit_plan *plan, size_t size) {
    return (size_t)fmax(1, floor(settings_of(plan)->keep * (double)size * (1 + 1e-12)));
}

/* Everything that follows from the plan. */
typedef struct descent {
    tacit_network network;
    tacit_ternary step;
    tacit_optimiser optimiser; /* whose rate it is */
    double clip, scale;
    uint64_t rounds;
    tacit_price each; /* of one answer */
    tacit_event event;
} descent;

static tacit_status find_epsilon(const tacit_plan *plan, descent *out, tacit_error *error) {
    out->step.epsilon = plan->epsilon;
    if (isinf(plan->epsilon) || settings_of(plan)->calibration == TACIT_CALIBRATION_PAPER) return TACIT_OK;
    return tacit_ternary_calibrate(&out->step.epsilon, &out->step, out->rounds, plan->epsilon, plan->delta,
                                   error);
}

/* All but the noise: quick. */
static tacit_status describe_step(const tacit_plan *plan, descent *out, tacit_error *error) {
    const dpstgd_settings *settings = settings_of(plan);
    memset(out, 0, sizeof *out);
    TACIT_TRY(network_of_plan(&out->network, plan, error));
    out->rounds = settings->rounds;
    out->clip = settings->clip;
    out->scale = network_scale(plan);
    out->optimiser = (tacit_optimiser){ .schedule = settings->schedule,
                                        .rate = settings->rate,
                                        .steps = settings->rounds };
    size_t size = tacit_network_size(&out->network);
    out->step = (tacit_ternary){
        .size = size,
        .kept = dpstgd_kept(plan, size),
        .sampling = settings->sampling,
    };
    return TACIT_OK;
}

static tacit_status prepare(const tacit_plan *plan, void *prepared, tacit_error *error) {
    descent *out = prepared;
    TACIT_TRY(describe_step(plan, out, error));
    TACIT_TRY(find_epsilon(plan, out, error));
    out->each = (tacit_price){ TACIT_UNIT_RECORD, tacit_ternary_cost(&out->step, TACIT_REPLACE),
                               isinf(plan->epsilon) ? 0 : plan->delta / (double)out->rounds };
    if (isfinite(out->each.epsilon)) out->event = tacit_ternary_event(&out->step, 1);
    return TACIT_OK;
}

/* What the paper says of T steps. */
static tacit_price claim_of(const tacit_plan *plan, const descent *how) {
    double rounds = (double)how->rounds, delta = plan->delta / rounds;
    tacit_ternary_claim one = tacit_ternary_printed(&how->step, delta > 0 ? delta : 0.5);
    bool advanced = delta > 0 && one.advanced < one.basic;
    return (tacit_price){ TACIT_UNIT_RECORD, rounds * (advanced ? one.advanced : one.basic),
                          advanced ? plan->delta : 0 };
}

static tacit_status price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                          tacit_error *error) {
    descent how;
    TACIT_TRY(tacit_prepared_take(prepared, plan, &how, error));
    if (isinf(plan->epsilon)) {
        out->charged = out->claimed = (tacit_price){ TACIT_UNIT_RECORD, INFINITY, 0 };
        return TACIT_OK;
    }
    out->claimed = claim_of(plan, &how);
    out->event = tacit_ternary_event(&how.step, how.rounds);
    if (settings_of(plan)->calibration == TACIT_CALIBRATION_PAPER)
        return tacit_ternary_compose(&out->charged, &how.step, how.rounds, plan->delta, error);
    out->charged = (tacit_price){ TACIT_UNIT_RECORD, plan->epsilon, plan->delta };
    return TACIT_OK;
}

static tacit_release_kind release_kind(const tacit_plan *plan) {
    (void)plan;
    return TACIT_RELEASE_CHARGED;
}

static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error) {
    descent how;
    TACIT_TRY(tacit_prepared_take(prepared, plan, &how, error));
    double size = (double)how.step.size;
    *out = (tacit_noise_law){
        .law = "Laplace of scale s, twice in every step",
        .added_to = "the sum of a sample's gradients in units of the clip, each number of which a row moves "
                    "by at most 1",
        .dimension = how.step.size,
        .sensitivity = sqrt(size),
        .scale = 1 / how.step.epsilon,
        .mean_norm = sqrt(2 * size) / how.step.epsilon,
        .norm_in = "that sum",
    };
    return TACIT_OK;
}

/* ---- the participant's half ---- */

/* Whether a row is in the sample. */
static tacit_status is_sampled(bool *out, const tacit_noise_source *source, double q, tacit_error *error) {
    *out = true;
    if (q == 1) return TACIT_OK;
    if (source->entropy == NULL) {
        *out = tacit_stream_unit(source->stream) < q;
        return TACIT_OK;
    }
    return tacit_exact_bernoulli(out, source->entropy, (uint64_t)floor(ldexp(q, 52)), (uint64_t)1 << 52,
                                 error);
}

/* The x_j at the weights, over a fresh sample. */
static tacit_status sample_and_add(tacit_party *party, const descent *how, const double *weights, double *out,
                                   tacit_error *error) {
    const tacit_rows *rows = &party->rows.rows;
    tacit_view sample = party->rows;
    tacit_batch *batch = NULL;
    tacit_status status;
    size_t count = 0;
    uint32_t *index = TACIT_NEW(uint32_t, rows->count);
    if (index == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t i = 0; i < rows->count; i++) {
        bool taken;
        TACIT_CHECK(is_sampled(&taken, &party->noise, how->step.sampling, error));
        if (taken) index[count++] = (uint32_t)tacit_rows_stored(rows, i);
    }
    sample.rows.index = index;
    sample.rows.count = count;
    memset(out, 0, how->step.size * sizeof *out);
    if (count > 0) {
        TACIT_CHECK(tacit_batch_create(&batch, &how->network, NULL, party->pool, error));
        tacit_batch_scale_rows(batch, how->scale);
        tacit_batch_load(batch, weights);
        TACIT_CHECK(tacit_batch_sum_clamped(batch, &sample, how->clip, out, error));
    }
    if (party->reducer != NULL)
        TACIT_CHECK(party->reducer->sum(party->reducer->context, out, how->step.size, error));
cleanup:
    tacit_batch_free(batch);
    free(index);
    return status;
}

static tacit_status check_rows(const tacit_party *party, tacit_error *error) {
    if (party->total_rows <= TACIT_BATCH_MOST) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "this party has %zu rows and method dpstgd takes at most %zu: sample them",
                      party->total_rows, TACIT_BATCH_MOST);
}

static tacit_status answer_signs(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                 tacit_error *error) {
    descent how;
    const double *weights;
    double *sum = NULL;
    int8_t *signs = NULL;
    uint8_t *packed = NULL;
    tacit_status status;
    TACIT_CHECK(check_rows(party, error));
    TACIT_CHECK(tacit_party_prepared(party, &how, error));
    TACIT_CHECK(tacit_message_numbers(question->message, "weights", how.step.size, &weights, error));
    size_t bytes = ternary_bytes(how.step.size, how.step.kept);
    sum = TACIT_NEW(double, how.step.size);
    signs = TACIT_NEW(int8_t, how.step.size);
    packed = TACIT_NEW(uint8_t, bytes);
    if (sum == NULL || signs == NULL || packed == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(sample_and_add(party, &how, weights, sum, error));
    TACIT_CHECK(tacit_ternary_release(signs, &reply->noise, &party->noise, &how.step, sum, error));
    ternary_pack(signs, how.step.size, how.step.kept, packed);
    TACIT_CHECK(tacit_message_add_bytes(&reply->message, "signs", packed, bytes, error));
    reply->packed = how.step.kept;
    reply->kind = TACIT_RELEASE_CHARGED;
    reply->price = how.each;
    reply->event = how.event;
cleanup:
    free(sum);
    free(signs);
    free(packed);
    return status;
}

/* ---- the server's half ---- */

typedef struct course {
    double *weights;
    uint64_t rounds;  /* done */
    size_t answering; /* participants in the last of them */
} course;

static tacit_status begin(tacit_session *session, const descent *how, course *out, tacit_error *error) {
    size_t size = how->step.size;
    tacit_message message = TACIT_MESSAGE_INIT;
    double gain[TACIT_NETWORK_LAYERS];
    const double *weights;
    const int64_t *counts;
    bool found = false;
    tacit_status status;
    out->weights = TACIT_NEW(double, size);
    if (out->weights == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(tacit_resume(session, &found, &message, error));
    if (found) {
        TACIT_CHECK(tacit_message_numbers(&message, "weights", size, &weights, error));
        TACIT_CHECK(tacit_message_integers(&message, "rounds and parties", 2, &counts, error));
        memcpy(out->weights, weights, size * sizeof *weights);
        out->rounds = (uint64_t)counts[0];
        out->answering = (size_t)counts[1];
    } else {
        /* Rows lie in the unit ball: what a unit takes in starts out with a variance of at most 1. */
        tacit_network_gains(&how->network, how->scale, gain);
        tacit_stream stream = tacit_session_stream(session, "first weights");
        tacit_network_start(&how->network, gain, &stream, out->weights);
    }
cleanup:
    tacit_message_clear(&message);
    return status;
}

static tacit_status keep(tacit_session *session, const descent *how, const course *state,
                         tacit_error *error) {
    if (session->journal == NULL) return TACIT_OK;
    tacit_message message = TACIT_MESSAGE_INIT;
    int64_t counts[] = { (int64_t)state->rounds, (int64_t)state->answering };
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", state->weights, how->step.size, error));
    TACIT_CHECK(tacit_message_add_integers(&message, "rounds and parties", counts, 2, error));
    TACIT_CHECK(tacit_checkpoint(session, &message, error));
cleanup:
    tacit_message_clear(&message);
    return status;
}

static tacit_status usable(const tacit_plan *plan, const tacit_message *answer, tacit_error *error) {
    descent how;
    const uint8_t *packed;
    size_t length;
    TACIT_TRY(describe_step(plan, &how, error));
    TACIT_TRY(tacit_message_bytes(answer, "signs", &packed, &length, error));
    int8_t *signs = TACIT_NEW(int8_t, how.step.size);
    tacit_status status = signs != NULL
                              ? ternary_unpack(signs, how.step.size, how.step.kept, packed, length, error)
                              : tacit_fail_memory(error);
    free(signs);
    return status;
}

/* W <- W - r_t G~. */
static tacit_status move(const descent *how, course *state, const tacit_answer *answer, int8_t *signs,
                         tacit_error *error) {
    const uint8_t *packed;
    size_t length;
    double by = tacit_optimiser_rate(&how->optimiser, state->rounds) * how->clip;
    TACIT_TRY(tacit_message_bytes(&answer->message, "signs", &packed, &length, error));
    TACIT_TRY(ternary_unpack(signs, how->step.size, how->step.kept, packed, length, error));
    for (size_t j = 0; j < how->step.size; j++) state->weights[j] -= by * signs[j];
    return TACIT_OK;
}

/* One turn of every participant; no fewer than the study's minimum must answer. */
static tacit_status go_round(tacit_session *session, const descent *how, course *state, int8_t *signs,
                             tacit_error *error) {
    const tacit_plan *plan = session->plan;
    size_t minimum = plan->minimum_parties > 0 ? plan->minimum_parties : 1;
    state->answering = 0;
    for (size_t k = 0; k < plan->parties; k++) {
        tacit_message message = TACIT_MESSAGE_INIT;
        tacit_answers answers = TACIT_ANSWERS_INIT;
        tacit_status status;
        bool needed = state->answering + (plan->parties - k) <= minimum;
        TACIT_CHECK(tacit_message_add_numbers(&message, "weights", state->weights, how->step.size, error));
        TACIT_CHECK(tacit_ask_one(session, "signs", &message, k, needed, &answers, error));
        for (size_t i = 0; i < answers.count; i++)
            TACIT_CHECK(move(how, state, &answers.answer[i], signs, error));
        state->answering += answers.count;
    cleanup:
        tacit_answers_clear(&answers);
        tacit_message_clear(&message);
        TACIT_TRY(status);
    }
    state->rounds++;
    return TACIT_OK;
}

/* The model takes rows as they are: their scale goes into the first layer. */
static tacit_status finish(const descent *how, const course *state, tacit_outcome *out, tacit_error *error) {
    tacit_model *model = NULL;
    TACIT_TRY(tacit_model_create_network(&model, &how->network, error));
    memcpy(model->weights, state->weights, how->step.size * sizeof *model->weights);
    tacit_network_scale_rows(&how->network, how->scale, model->weights);
    out->parties = state->answering;
    return tacit_outcome_add(out, model, error);
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    course state = { .weights = NULL };
    int8_t *signs = NULL;
    double *before = NULL;
    descent how;
    tacit_status status;
    TACIT_CHECK(tacit_session_prepared(session, &how, error));
    TACIT_CHECK(begin(session, &how, &state, error));
    TACIT_CHECK(tacit_plan_before(&before, session->plan, state.weights, how.step.size, error));
    signs = TACIT_NEW(int8_t, how.step.size);
    if (signs == NULL) TACIT_CHECK(tacit_fail_memory(error));
    while (state.rounds < how.rounds) {
        tacit_progress_report(session->progress, "turns", state.rounds, how.rounds);
        TACIT_CHECK(go_round(session, &how, &state, signs, error));
        if (tacit_plan_stops(session->plan, state.rounds, before, state.weights, how.step.size)) break;
        TACIT_CHECK(keep(session, &how, &state, error));
    }
    TACIT_CHECK(finish(&how, &state, out, error));
cleanup:
    free(before);
    free(signs);
    free(state.weights);
    return status;
}

/* ---- Table 3.1 ---- */

static tacit_status compare(tacit_buffer *out, tacit_error *error) {
    TACIT_TRY(
        tacit_buffer_print(out, error,
                           "epsilon\tq\tn\tbasic, printed\tbasic, computed\tadvanced, printed\tadvanced, "
                           "computed\tsound, add or remove\tsound, replace\n"));
    for (size_t i = 0; i < TACIT_TERNARY_TABLE_ROWS; i++) {
        const tacit_ternary_row *row = &tacit_ternary_table[i];
        tacit_ternary_claim claim = tacit_ternary_printed(&row->step, TACIT_TERNARY_TABLE_DELTA);
        TACIT_TRY(tacit_buffer_print(out, error, "%g\t%g\t%zu\t%s\t%.2f\t%s\t%.2f\t%.1f\t%.1f\n",
                                     row->step.epsilon, row->step.sampling, row->step.kept, row->basic,
                                     claim.basic, row->advanced, claim.advanced,
                                     tacit_ternary_cost(&row->step, TACIT_ADD_OR_REMOVE),
                                     tacit_ternary_cost(&row->step, TACIT_REPLACE)));
    }
    return TACIT_OK;
}

static const tacit_handler_entry handlers[] = {
    { .question = "signs", .answer = answer_signs, .usable = usable }, { .question = NULL }
};

const tacit_method tacit_method_dpstgd = {
    .name = "dpstgd",
    .title = "a network trained on noisy signs of its largest gradients, parties in turn",
    .reference = "Wang 2018, chapter 3",
    .version = 1,
    .units = "record",
    .spreads = true,
    .stops_early = true,
    .in_turns = true,
    .lambda_may_vanish = true,
    TACIT_SETTINGS_OF(parameters, defaults),
    .network = network_of_plan,
    .leaves = "in every turn, which weights have the largest noisy gradients over a sample of the party's "
              "rows, and the noisy signs of these, packed into bits",
    .seen_by = "the coordinator sees what each party sends, with the party's own noise in it. Every party "
               "sees the weights when its turn comes",
    .guarantee = "(epsilon, delta)-differential privacy of all turns together, for replacing one row of a "
                 "party, towards everybody, the coordinator included",
    .assumption = "nothing beyond the party's own noise: what a row adds to a sum is cut to [-B, B] in every "
                  "number, whatever the row",
    .theorem = "an unordered choice of the n largest of d numbers costs 2 min(n, d - n) e and their signs n "
               "e; together E, amplified as a whole to ln((1 + q(exp(E) - 1))/(1 + q(exp(-E) - 1))) for a "
               "replaced row because all numbers share one sample, and composed over the turns; e is chosen "
               "so that this is (epsilon, delta)",
    .claim =
        "Theorem 3.3.2 says 2 n ln(1 + q(exp(e) - 1)) a turn: it amplifies every number as if it had a "
        "sample of its own, leaves out the noise of the signs, and is no bound (tacit audit dpstgd-claim)",
    .caveats = "at the paper's settings one turn costs hundreds. At an equal sound price dpsgd with the same "
               "upload learns far more (docs/methods/dpstgd.md): this method is here to be compared",
    .comparison_title = "Table 3.1 of the paper: what one turn of one party costs, 14,312 weights, delta "
                        "2^-30. Printed digits are cut or rounded; 14312.4 is a misprint of 14312.0",
    .comparison = compare,
    .prepare = prepare,
    .prepared_size = sizeof(descent),
    .price = price,
    .noise = noise_law,
    .single = tacit_plan_always_single,
    .release_kind = release_kind,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
