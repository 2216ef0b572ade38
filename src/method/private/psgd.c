/*
 * psgd: private stochastic gradient descent as printed (Rajkumar and Agarwal 2012, Algorithm 1, Procedures 2
 * and 3).
 *
 *   party k:   g_k(w) + rho_t + eta_k,   rho_t ~ G(d, 2L/epsilon) again in each round,
 *                  eta_k ~ N(0, s^2/K) once
 *   coordinator:  w <- w - z_t (sum_k .../N + (lambda + Delta) w),
 *                     z_t = 1/((lambda + Delta) (t + t0)),  t = 1..T
 *
 * g_k is the sum of the gradients of the party's rows (gradient.h), t0 = 1 + c/(lambda + Delta), c = 1/4, so
 * that the first step is within what curvature allows, sum z_t is infinite and sum z_t^2 is not. epsilon~,
 * Delta and s are those of Gaussian objective perturbation (gop), of which this is to be the multiparty
 * version:
 *
 *   paper: epsilon~ = epsilon - 2 log(1 + c/(N lambda)); if not positive, Delta = c/(N (e^(epsilon/4) - 1)) -
 *   lambda and
 *          epsilon~ = epsilon/2; s = (sqrt(q) + sqrt(q + 2 epsilon~))/epsilon~, q the 1 - delta quantile of a
 *          chi-square of d degrees (the printed condition has lost a square);
 *   tight: one logarithm instead of two, Delta from e^(epsilon/2) once epsilon~ is below epsilon/2; s =
 *   AG(epsilon~, delta; 2).
 *
 * Proof note: what is claimed and what is charged. Adjacency: one row of one party is replaced.
 *   Theorem 4.2 claims (epsilon, delta) because the iterates converge to gop's minimiser. That is the privacy
 *   of a limit, seen alone. Every party, and the coordinator, sees every w_t on the way, hence every noisy
 *   sum. eta_k cancels in the difference of two answers (section 3.3 says so itself), so against somebody who
 *   sees them all only rho_t protects, and it wears off: section 3.2 shows by averaging how. `tacit reproduce
 *   rajkumar-attack` does both attacks. Charged: given eta_k and all earlier answers, one answer is g_k plus
 *   known numbers plus G(d, S/epsilon), S = 2L and roundings, so it is epsilon-private, whatever w was asked
 *   (mechanism.h); T of them are the T-fold adaptive composition of pure epsilon events, the optimal one of
 *   Kairouz, Oh and Viswanath 2015 at the study's delta, or T epsilon where that is less. eta_k adds nothing
 *   to it that could be proved, and takes nothing away: it is independent of the rows.
 *   schedule=halving (section 3.2) gives round t epsilon/2^t: rho_t ~ G(d, 2L 2^t/epsilon), and all rounds
 *   together cost epsilon (1 - 2^-T), by basic composition. The party counts rounds itself. The paper advises
 *   against it: the noise doubles from step to step.
 *   fixed_noise=own (footnote 4) makes eta_k alone as large as a party with n_k rows needs, epsilon~, Delta
 *   and s from n_k in place of N, undivided by sqrt(K): the claim is then about whoever runs the descent on
 *   one party's answers. It changes no charge. Delta is that of n_k at each party; the coordinator's step
 *   keeps that of N.
 *   noise=fresh leaves eta_k out and costs the same; noise=fixed leaves rho_t out: two answers then differ by
 *   what rows say and nothing else, which no epsilon bounds, and so it runs in simulations only.
 *   N is asked first: a replaced row leaves every n_k as it is, so that telling it costs nothing per record.
 *
 * Deviations from the boxes: steps 1/((lambda + Delta)(t + t0)) where Algorithm 1 leaves z_t open; the tight
 * constants above unless calibration=paper; the charge is that of all rounds, not the claimed (epsilon,
 * delta). The sum over parties is masked only where the study's sums are secure.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/private/gradient.h"
#include "num/special.h"
#include "privacy/account/gaussian.h"
#include "privacy/mechanism/erm.h"
#include "session/prepared.h"

enum { MOST_ROUNDS = 100000, MOST_HALVINGS = 30 };

static const psgd_settings defaults = { .rounds = 100,
                                        .noise = PSGD_BOTH,
                                        .calibration = TACIT_CALIBRATION_TIGHT };

static const tacit_parameter parameters[] = {
    TACIT_COUNT(psgd_settings, rounds, "rounds", 1, MOST_ROUNDS,
                "steps of the descent; the charge grows with them"),
    TACIT_CHOICE(psgd_settings, noise, "noise", "both|fresh|fixed",
                 "of a party's answers: drawn again in each round, once for all rounds, or both as printed; "
                 "fixed alone protects nobody and is for simulations"),
    TACIT_CHOICE(psgd_settings, calibration, "calibration", "tight|paper",
                 "of the fixed noise: our constants, or the printed ones with the lost square put back"),
    TACIT_LATER_CHOICE(psgd_settings, fixed_noise, "fixed_noise", "shared|own", "shared",
                       "the fixed noise is made for the rows of all parties together, each adding a part, or "
                       "by each party for its own rows alone (footnote 4)"),
    TACIT_LATER_CHOICE(psgd_settings, schedule, "schedule", "even|halving", "even",
                       "of the fresh noise: epsilon in every round, or epsilon/2^t in round t, at most 30 "
                       "rounds, and epsilon in all"),
    TACIT_SETTINGS_END,
};

static const psgd_settings *settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(psgd_settings, plan);
}

static bool has_fresh(const tacit_plan *plan) { return settings_of(plan)->noise != PSGD_FIXED; }
static bool has_fixed(const tacit_plan *plan) { return settings_of(plan)->noise != PSGD_FRESH; }
static size_t rounds_of(const tacit_plan *plan) { return settings_of(plan)->rounds; }

/* What the answer of round t costs, t from 1. */
static double round_epsilon(const tacit_plan *plan, size_t t) {
    if (!has_fresh(plan)) return INFINITY;
    return settings_of(plan)->schedule == PSGD_HALVING ? ldexp(plan->epsilon, -(int)t) : plan->epsilon;
}

/* ---- the fixed noise, from N ---- */

typedef struct fixed_noise {
    double scale;  /* s, of the sum over all parties */
    double lambda; /* lambda + Delta */
} fixed_noise;

static tacit_status fixed_noise_for(const tacit_plan *plan, double rows, fixed_noise *out,
                                    tacit_error *error) {
    bool paper = settings_of(plan)->calibration == TACIT_CALIBRATION_PAPER;
    double epsilon = plan->epsilon, factors = paper ? 2 : 1, curvature = gradient_curvature(plan) / rows;
    *out = (fixed_noise){ 0, plan->lambda };
    if (isinf(epsilon)) return TACIT_OK;
    double left = epsilon - factors * log1p(curvature / plan->lambda);
    if (paper ? left <= 0 : left < epsilon / 2) {
        out->lambda = fmax(plan->lambda, curvature / expm1(epsilon / (2 * factors)));
        left = epsilon / 2;
    }
    if (!paper) return tacit_gaussian_sigma(&out->scale, left, plan->delta, 2, error);
    double q = tacit_chi_square_quantile((double)plan->features, plan->delta);
    out->scale = (sqrt(q) + sqrt(q + 2 * left)) / left;
    return TACIT_OK;
}

/* ---- the answers ---- */

/* The sum that is asked for, and the fresh noise of the last answer. */
typedef struct answering {
    tacit_sum_spec spec;
    tacit_mechanism fresh;
} answering;

/* Bounds must hold for both noises; the fixed one is largest for the fewest rows that there can be. */
static tacit_status prepare(const tacit_plan *plan, void *prepared, tacit_error *error) {
    answering *out = prepared;
    size_t size = plan->features;
    double bound = GRADIENT_MOST_ROWS * (1 + GRADIENT_ROUNDING), reach = 0;
    double epsilon = round_epsilon(plan, rounds_of(plan));
    fixed_noise most;
    TACIT_TRY(fixed_noise_for(plan, 1, &most, error));
    out->fresh =
        (tacit_mechanism){ TACIT_LAW_GAMMA_NORM, 2 * gradient_norm(plan), { TACIT_UNIT_RECORD, epsilon, 0 } };
    if (isfinite(epsilon)) TACIT_TRY(tacit_mechanism_reach(&reach, &out->fresh, size, error));
    bound += 2 * reach + most.scale * sqrt((double)size + 2 * sqrt(40 * (double)size) + 80);
    TACIT_TRY(tacit_sum_spec_for(&out->spec, size, bound, plan->parties, error));
    /* Adding eta rounds, by half a unit in the last place of at most `bound` each. */
    double rounding = GRADIENT_ROUNDING + sqrt((double)size) * bound * 0x1p-53;
    out->fresh.sensitivity = 2 * (gradient_norm(plan) + rounding) * (1 + 1e-12);
    return TACIT_OK;
}

tacit_status psgd_sum(const tacit_plan *plan, tacit_sum_spec *out, tacit_error *error) {
    answering how;
    TACIT_TRY(tacit_plan_prepared(plan, &how, error));
    *out = how.spec;
    return TACIT_OK;
}

static tacit_status derive_fixed(const tacit_plan *plan, double rows, void *out, tacit_error *error) {
    return fixed_noise_for(plan, rows, out, error);
}

/* Of eta_k: a part of what all rows need, or all that the party's own need. */
static tacit_status own_scale(tacit_party *party, double rows, double *out, tacit_error *error) {
    const bool shared = settings_of(party->plan)->fixed_noise == PSGD_FIXED_SHARED;
    fixed_noise fixed;
    TACIT_TRY(shared ? tacit_party_derive(party, derive_fixed, rows, &fixed, sizeof fixed, error)
                     : fixed_noise_for(party->plan, fmax(1, (double)party->total_rows), &fixed, error));
    *out = shared ? fixed.scale / sqrt((double)party->plan->parties) : fixed.scale;
    return TACIT_OK;
}

/* Add the party's own eta, the same in every round. */
static tacit_status add_fixed(tacit_party *party, const tacit_sum_spec *spec, double rows, double *values,
                              tacit_error *error) {
    double scale, *eta;
    TACIT_TRY(own_scale(party, rows, &scale, error));
    eta = TACIT_NEW(double, spec->length);
    if (eta == NULL) return tacit_fail_memory(error);
    tacit_status status =
        tacit_party_persistent_noise(party, scale, spec->length, spec->grid_bits, eta, error);
    for (size_t j = 0; status == TACIT_OK && j < spec->length; j++) values[j] += eta[j];
    free(eta);
    return status;
}

/* The weights to answer at, and N, which is at least what this party has. */
static tacit_status read_question(const tacit_party *party, const tacit_question *question,
                                  const double **weights, double *rows, tacit_error *error) {
    const double *total;
    TACIT_TRY(tacit_message_numbers(question->message, "weights", party->plan->features, weights, error));
    TACIT_TRY(tacit_message_numbers(question->message, "rows", 1, &total, error));
    *rows = *total;
    if (*rows >= fmax(1, (double)party->total_rows)) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "the coordinator says that all parties together have %g rows, fewer than this one",
                      *rows);
}

/* Where rounds differ in price, each is in its place: the party counts them itself, and round 0 asks for
 * rows. */
static tacit_status check_place(const tacit_plan *plan, const tacit_question *question, tacit_error *error) {
    bool placed = question->round >= 1 && question->round <= rounds_of(plan);
    if (settings_of(plan)->schedule == PSGD_EVEN || placed) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED, "round %llu of this study is not one for gradients",
                      (unsigned long long)question->round);
}

static tacit_status answer_gradient(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                    tacit_error *error) {
    const tacit_plan *plan = party->plan;
    answering how;
    const double *weights;
    double rows, *values = NULL;
    tacit_status status;
    if (!has_fresh(plan) && party->noise.entropy != NULL)
        return tacit_fail(error, TACIT_REFUSED,
                          "noise=fixed of method psgd protects nobody and runs in simulations only");
    TACIT_CHECK(read_question(party, question, &weights, &rows, error));
    TACIT_CHECK(tacit_party_prepared(party, &how, error));
    TACIT_CHECK(gradient_check_sum(question, &how.spec, error));
    TACIT_CHECK(check_place(plan, question, error));
    how.fresh.price.epsilon = round_epsilon(plan, (size_t)question->round);
    values = TACIT_NEW(double, how.spec.length);
    if (values == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(gradient_sum(party, weights, values, error));
    if (has_fixed(plan) && isfinite(plan->epsilon))
        TACIT_CHECK(add_fixed(party, &how.spec, rows, values, error));
    reply->kind = TACIT_RELEASE_CHARGED;
    reply->price = how.fresh.price;
    TACIT_CHECK(tacit_mechanism_release(&reply->noised, &party->noise, &how.fresh, values, how.spec.length,
                                        how.spec.grid_bits, how.spec.bound, error));
cleanup:
    free(values);
    return status;
}

/* ---- the price ---- */

static tacit_status check(const tacit_plan *plan, tacit_error *error) {
    if (plan->classes != 2)
        return tacit_fail(error, TACIT_USAGE, "method psgd is for two classes, not %zu: use dpgd",
                          plan->classes);
    if (settings_of(plan)->schedule == PSGD_HALVING && rounds_of(plan) > MOST_HALVINGS)
        return tacit_fail(
            error, TACIT_USAGE,
            "schedule=halving of method psgd doubles the noise in each round: at most %d rounds, "
            "not %zu; set rounds=%d or fewer",
            MOST_HALVINGS, rounds_of(plan), MOST_HALVINGS);
    return TACIT_OK;
}

/* T answers of epsilon each: the optimal composition at delta, or the sum where that is less. */
static tacit_status compose(const tacit_plan *plan, tacit_prices *out, tacit_error *error) {
    tacit_accountant *accountant = NULL;
    tacit_spending spent;
    tacit_status status;
    double sum = (double)rounds_of(plan) * plan->epsilon;
    if (settings_of(plan)->schedule == PSGD_HALVING) {
        sum = plan->epsilon * (1 - ldexp(1, -(int)rounds_of(plan)));
        out->charged = (tacit_price){ TACIT_UNIT_RECORD, sum, 0 };
        if (sum <= TACIT_EVENT_EPSILON_MOST) out->event = tacit_event_replaced(tacit_event_pure(sum, 1));
        return TACIT_OK;
    }
    out->charged = (tacit_price){ TACIT_UNIT_RECORD, sum, 0 };
    out->event = tacit_event_replaced(tacit_event_pure(plan->epsilon, rounds_of(plan)));
    if (plan->epsilon > TACIT_EVENT_EPSILON_MOST) { /* beyond the accountants: the sum holds */
        out->event.count = 0;
        return TACIT_OK;
    }
    TACIT_CHECK(tacit_accountant_create(&accountant, TACIT_REPLACE, error));
    TACIT_CHECK(tacit_accountant_add(accountant, &out->event, error));
    TACIT_CHECK(tacit_accountant_epsilon(&spent, accountant, plan->delta, error));
    if (spent.epsilon < sum) out->charged = (tacit_price){ TACIT_UNIT_RECORD, spent.epsilon, plan->delta };
cleanup:
    tacit_accountant_free(accountant);
    return status;
}

static tacit_status price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                          tacit_error *error) {
    (void)prepared;
    bool noisy = isfinite(plan->epsilon);
    out->claimed = (tacit_price){ TACIT_UNIT_RECORD, plan->epsilon, noisy ? plan->delta : 0 };
    out->charged = (tacit_price){ TACIT_UNIT_RECORD, INFINITY, 0 };
    out->event.count = 0;
    return noisy && has_fresh(plan) ? compose(plan, out, error) : TACIT_OK;
}

static tacit_release_kind release_kind(const tacit_plan *plan) {
    (void)plan;
    return TACIT_RELEASE_CHARGED;
}

/* z_t of the header, t from 0. */
static double step_size(const tacit_plan *plan, double lambda, double t) {
    return 1 / (lambda * (t + 2) + gradient_curvature(plan));
}

/* In the weights, on a quadratic whose curvature is that of rows which fill the ball evenly: eta moves the
 * minimum, and what rho leaves after T steps has a variance near z_T/(2h) of a step's. */
static tacit_status noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                              tacit_error *error) {
    double m = (double)plan->parties, d = (double)plan->features;
    double rows = m * fmax(1, (double)plan->minimum_rows);
    answering how;
    fixed_noise fixed;
    TACIT_TRY(tacit_prepared_take(prepared, plan, &how, error));
    TACIT_TRY(fixed_noise_for(plan, rows, &fixed, error));
    double epsilon = round_epsilon(plan, rounds_of(plan));
    double h = fixed.lambda + gradient_curvature(plan) / d, scale = how.fresh.sensitivity / epsilon;
    double last = step_size(plan, fixed.lambda, (double)rounds_of(plan) - 1);
    double moved = has_fixed(plan) ? fixed.scale / (rows * h) : 0;
    double left = has_fresh(plan) ? sqrt(m * (d + 1) * last / (2 * h)) * scale / rows : 0;
    *out = (tacit_noise_law){
        .law = "gamma-norm G(d, s) in every round, and a Gaussian drawn once",
        .added_to = "each party's sum of gradients",
        .dimension = plan->features,
        .sensitivity = how.fresh.sensitivity,
        .scale = scale,
        .mean_norm = sqrt(d * (moved * moved + left * left)),
        .of_fewest = true,
    };
    return TACIT_OK;
}

/* ---- the coordinator's half ---- */

/* `lambda`: with Delta. */
static tacit_status one_round(tacit_session *session, const tacit_sum_spec *spec, double lambda,
                              gradient_state *state, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    double rows = state->rows, *w = state->weights;
    double z = step_size(plan, lambda, (double)state->steps);
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", w, plan->features, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &rows, 1, error));
    TACIT_CHECK(tacit_ask_sum(session, "gradient", &message, spec, &sum, error));
    for (size_t j = 0; j < plan->features; j++) w[j] -= z * (sum.values[j] / rows + lambda * w[j]);
    state->parties = sum.parties;
    state->steps++;
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}

/* N: asked once, and in every checkpoint afterwards. */
static tacit_status ask_rows(tacit_session *session, gradient_state *state, tacit_error *error) {
    tacit_sum_spec spec;
    tacit_sum sum = TACIT_SUM_INIT;
    TACIT_TRY(gradient_rows_spec(session->plan, &spec, error));
    TACIT_TRY(tacit_ask_sum(session, "rows", NULL, &spec, &sum, error));
    state->rows = fmax(1, sum.values[0]);
    tacit_sum_clear(&sum);
    return TACIT_OK;
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    gradient_state state = GRADIENT_STATE_INIT;
    answering how;
    fixed_noise fixed;
    double *before = NULL;
    tacit_status status;
    TACIT_CHECK(gradient_resume(session, &state, error));
    TACIT_CHECK(tacit_plan_before(&before, plan, state.weights, plan->features, error));
    if (state.rows == 0) TACIT_CHECK(ask_rows(session, &state, error));
    TACIT_CHECK(tacit_session_prepared(session, &how, error));
    TACIT_CHECK(fixed_noise_for(plan, state.rows, &fixed, error));
    while (state.steps < rounds_of(plan)) {
        TACIT_CHECK(one_round(session, &how.spec, fixed.lambda, &state, error));
        if (tacit_plan_stops(plan, state.steps, before, state.weights, plan->features)) break;
        TACIT_CHECK(gradient_checkpoint(session, &state, error));
    }
    TACIT_CHECK(gradient_finish(session, &state, out, error));
cleanup:
    free(before);
    gradient_state_clear(&state);
    return status;
}

static const tacit_handler_entry handlers[] = { { .question = "rows", .answer = gradient_answer_rows },
                                                { .question = "gradient", .answer = answer_gradient },
                                                { .question = NULL } };

const tacit_method tacit_method_psgd = {
    .name = "psgd",
    .title = "stochastic gradient descent with noise kept and noise drawn again, as printed",
    .reference = "Rajkumar & Agarwal 2012, Algorithm 1",
    .version = 1,
    .units = "record",
    .spreads = true,
    .needs_delta = true,
    .stops_early = true,
    TACIT_SETTINGS_OF(parameters, defaults),
    .leaves = "the number of the party's rows; then, in every round, the sum of the gradients of its rows at "
              "weights that all parties know, with [noise=both: noise drawn for the round and noise that the "
              "party drew once][noise=fresh: noise drawn for the round][noise=fixed: noise that the party "
              "drew once for all rounds, which cancels in the difference of two]",
    .seen_by = "[sees=sum: the coordinator sees the sum of all parties' noisy gradients in every round, and "
               "no single party's][sees=each: the coordinator sees each party's noisy gradients in every "
               "round]. Everybody sees the weights after every step",
    .guarantee =
        "[noise=both|fresh: differential privacy of all rounds together for replacing one row of a party, "
        "towards everybody, the coordinator included: ][noise=both|fresh,schedule=even: T answers of epsilon "
        "each, composed at delta. That composition is what is charged][noise=both|fresh,schedule=halving: "
        "the answer of round t costs epsilon/2^t, all of them less than epsilon][noise=fixed: none: two "
        "rounds together reveal the exact difference of their gradients]",
    .assumption = "every row lies in the unit ball (the schema's encoding ensures it); two classes; the "
                  "number of a party's rows is no secret",
    .theorem =
        "[noise=both|fresh,schedule=even: gamma-norm noise of scale 2L/epsilon, L = 1, on a sum of L2 "
        "sensitivity 2L makes one answer epsilon-private; T answers compose by the optimal theorem of "
        "Kairouz, Oh and Viswanath 2015 or, where that is less, to T epsilon][noise=both|fresh,"
        "schedule=halving: gamma-norm noise of scale 2L 2^t/epsilon, L = 1, on a sum of L2 sensitivity 2L "
        "makes the answer of round t epsilon/2^t-private; basic composition][noise=fixed: none]",
    .claim = "(epsilon, delta) for any number of rounds (Theorem 4.2). That is the privacy of the limit seen "
             "alone; every party sees every step, and the noise drawn once cancels in the difference of two",
    .caveats = "here to reproduce the paper and its attacks (tacit reproduce rajkumar-attack): at the same "
               "charge dpgd needs far less noise",
    .prepare = prepare,
    .prepared_size = sizeof(answering),
    .check = check,
    .price = price,
    .noise = noise_law,
    .release_kind = release_kind,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
