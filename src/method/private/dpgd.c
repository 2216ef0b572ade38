/*
 * dpgd: noisy gradient descent on all rows of all parties (ours, after Bassily, Smith and Thakurta 2014 and
 * the remedy that Rajkumar and Agarwal 2012, section 3.2, ask for).
 *
 *   F(w) = (1/N) sum_i loss(w; x_i, y_i) + (lambda/2)|w|^2,   |x_i| <= 1;   w_0 = 0;   for t = 1..T
 *   party k:      g_k = sum over its rows of the loss's gradient at w, and n_k
 *   coordinator:  w <- P(w - s ((sum_k g_k + b_t)/N + lambda w)),   b_t ~ N(0, v^2 I),   s = 1/(c + lambda)
 *
 * c bounds the loss's curvature, P projects onto the ball that holds every minimiser (gradient_radius). With
 * unit=party g_k is the party's mean gradient and N the number of parties: F is then the mean over the
 * parties of their mean losses.
 *
 * Proof note. Adjacency: replace one row of one party (unit=record), or all of them (unit=party).
 *   record: g_k moves by at most 2L (gradient.h); n_k stays, so that N costs nothing.
 *   party: |g_k| <= L, so it moves by at most 2L; the number of parties is public.
 *   The computed and rounded contribution: S = 2L + 2 (GRADIENT_ROUNDING + the grid's rounding).
 *   b_t with v = S sigma sqrt(T), sigma = AG(epsilon, delta; 1), makes one round a Gaussian mechanism of
 *   relative noise sigma sqrt(T), at whatever w the coordinator asks. T of those, each asked in view of the
 *   answers before, are together exactly as private as one of relative noise sigma (their losses add up to
 *   that of one Gaussian, also when adaptive: Dong, Roth and Su 2022, corollary 3.3): (epsilon, delta). All
 *   iterates are post-processing, so that every party may see every w. noise=shares: party k adds discrete
 *   Gaussian noise of scale u to its contribution on the grid of the sum, and only the sum is seen
 *   (privacy/mechanism/shares.h). Of the shares in it at least m = survivors - colluders are unknown to
 *   whoever looks. In steps of the grid the sensitivity is S 2^grid, rounded up. On a grid fine enough
 *   (tacit_share_gaussian) one sum is as private as continuous noise of sqrt(m) u/(1 + 1e-4), except for a
 *   probability of 1e-87 of giving all away. u is chosen such that this is S sigma sqrt(T), sigma =
 *   AG(epsilon, (1 - 1e-9) delta; 1): then T rounds are (epsilon, (1 - 1e-9) delta + T 1e-87)-private as
 *   above, and with delta >= 1e-60 that is within (epsilon, delta). In the ledger each round is that Gaussian
 *   event, so that the accountant which chose the noise is the one that counts it: a study of epsilon costs
 *   epsilon, and never more. On a coarser grid one sum is rho-zCDP with rho = (S 2^grid/(sqrt(m) u) + sqrt(D)
 *   tau)^2/2, u is chosen such that T rho buys (epsilon, delta) (Canonne, Kamath and Steinke 2020), and each
 *   round is an event of that rho. With all n parties in it the sum carries noise of variance n u^2: a factor
 *   n/m more than needed. In the ledger each round is otherwise a Gaussian event, and T of them compose to
 *   (epsilon, delta). A round's own price is (epsilon_1, delta/T), epsilon_1 what its noise buys at that
 *   delta: many times epsilon/T, and not what adds up.
 *
 * Rounds. More of them get nearer to the minimum and need more noise in each. The rule (rounds=0) minimises
 * over T
 *
 *   q^(2T) R^2 + D (s v/N)^2 (1 - q^(2T))/(1 - q^2),   q = 1 - s h,
 *
 * the mean square error after T steps on a quadratic of curvature h in all D directions, from the largest
 * distance R. Rows that fill the ball evenly give h = lambda + (K-1)/(K^2 d); numbers lambda + 1/d, counts up
 * to H lambda + 1/(sqrt(H) d). N is what the study expects, or
 * the declared parties times their least rows. All public. At this T what is left of the start is of the
 * order of the noise, and a mean over iterates would only bring the start back: the last one is taken.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/private/gradient.h"
#include "privacy/account/gaussian.h"
#include "privacy/mechanism/integer.h"
#include "privacy/mechanism/shares.h"

enum { MOST_ROUNDS = 100000, MOST_CHOSEN_ROUNDS = 1000 };

static const dpgd_settings defaults = { .noise = DPGD_BY_COORDINATOR, .unit = TACIT_UNIT_RECORD };

static const tacit_parameter parameters[] = {
    TACIT_OPEN_COUNT(dpgd_settings, rounds, "rounds", MOST_ROUNDS,
                     "steps of the descent, each a question to every party", "chosen from public numbers"),
    TACIT_CHOICE(
        dpgd_settings, noise, "noise", "coordinator|party|shares",
        "who adds it: a coordinator entrusted with the gradients, each party itself (more noise, no trust), "
        "or each party a share, which secure summation adds up to little more than the coordinator's"),
    TACIT_CHOICE(dpgd_settings, unit, "unit", "record|party",
                 "whose replacement is hidden: one row, or all rows of a party"),
    TACIT_SETTINGS_END,
};

static const dpgd_settings *settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(dpgd_settings, plan);
}

static bool by_party(const tacit_plan *plan) { return settings_of(plan)->noise == DPGD_BY_PARTY; }

static bool by_coordinator(const tacit_plan *plan) { return settings_of(plan)->noise == DPGD_BY_COORDINATOR; }

static bool by_shares(const tacit_plan *plan) { return settings_of(plan)->noise == DPGD_BY_SHARES; }

static bool hides_party(const tacit_plan *plan) { return settings_of(plan)->unit == TACIT_UNIT_PARTY; }

/* Everything that follows from the plan. */
typedef struct descent {
    tacit_sum_spec spec; /* the gradient and, to hide a record, the number of rows */
    size_t size, rounds;
    double step;
    tacit_mechanism each;      /* of one round */
    double scale;              /* v; with shares, of the noise in a sum of all parties */
    tacit_event event;         /* of one round; count 0 without noise */
    tacit_shared_noise shared; /* noise=shares, in steps of the grid */
} descent;

/* What N is at least. */
static double least_count(const tacit_plan *plan, size_t parties) {
    double rows = hides_party(plan) || plan->minimum_rows == 0 ? 1 : (double)plan->minimum_rows;
    return rows * (double)parties;
}

/* What N is taken to be where rounds are chosen. */
static double expected_count(const tacit_plan *plan) {
    return hides_party(plan) ? (double)plan->parties : tacit_plan_expected_rows(plan);
}

/* The mean square error of the rule after `rounds` steps; `noise` is s v/N of a single round. */
static double expected_error(const tacit_plan *plan, double rounds, double step, double noise) {
    double radius = gradient_radius(plan);
    double curvature = plan->lambda + gradient_usual_curvature(plan) / (double)plan->features;
    double shrink = pow(1 - step * curvature, 2), left = pow(shrink, rounds);
    return left * radius * radius +
           (double)gradient_size(plan) * rounds * noise * noise * (1 - left) / (1 - shrink);
}

static size_t choose_rounds(const tacit_plan *plan, double step, double noise) {
    double best = INFINITY;
    size_t chosen = 1;
    for (size_t rounds = 1; rounds <= MOST_CHOSEN_ROUNDS; rounds += 1 + rounds / 16) {
        double here = expected_error(plan, (double)rounds, step, noise);
        if (here >= best) continue;
        best = here;
        chosen = rounds;
    }
    return chosen;
}

/* The price of one of T rounds whose noise is `sigma` times the sensitivity: what that buys at delta/T, a
 * hair less for the roundings, so that the noise calibrated to it is not below `sigma`. */
static tacit_status round_price(tacit_price *price, double sigma, tacit_error *error) {
    double least = sigma, found;
    for (double spare = 1e-10; spare < 1e-3; spare *= 10) {
        TACIT_TRY(tacit_gaussian_epsilon(&price->epsilon, sigma * (1 + spare), price->delta, error));
        TACIT_TRY(tacit_gaussian_sigma(&found, price->epsilon, price->delta, 1, error));
        if (found >= least) return TACIT_OK;
    }
    return tacit_fail(error, TACIT_INTERNAL, "no price found for a round with noise %g", sigma);
}

/* What `event` costs at delta, by the accountant that the ledger will ask. */
static tacit_status cost_of(double *out, const tacit_event *event, double delta, tacit_error *error) {
    tacit_accountant *accountant = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_accountant_create(&accountant, TACIT_REPLACE, error));
    TACIT_CHECK(tacit_accountant_add(accountant, event, error));
    TACIT_CHECK(tacit_accountant_epsilon_by(out, accountant, TACIT_COMPOSITION_ZCDP, delta, error));
cleanup:
    tacit_accountant_free(accountant);
    return status;
}

/* Shares for a hair less than the plan's price, so that the ledger's accountant, whose search over orders is
 * coarser, finds all rounds together within it. *rho: of one round. */
static tacit_status fit_shares(const tacit_plan *plan, tacit_shared_noise *noise, double *scale, double *rho,
                               tacit_error *error) {
    for (double spare = 1e-8; spare < 0.1; spare *= 4) {
        double epsilon = 0;
        noise->price.epsilon = plan->epsilon * (1 - spare);
        TACIT_TRY(tacit_share_scale(scale, noise, error));
        TACIT_TRY(tacit_share_rho(rho, noise, *scale, error));
        tacit_event all = tacit_event_replaced(tacit_event_concentrated(*rho, noise->runs));
        TACIT_TRY(cost_of(&epsilon, &all, plan->delta, error));
        if (epsilon <= plan->epsilon) return TACIT_OK;
    }
    return tacit_fail(error, TACIT_USAGE,
                      "no shares of noise found for epsilon %g at delta %g: choose another delta",
                      plan->epsilon, plan->delta);
}

/* Shares whose sums are counted as Gaussian noise, of exactly what the plan's price asks for in all rounds:
 * the scale of one, and the noise that is counted. Scale 0 where they cannot be counted so. */
static tacit_status gaussian_shares(const tacit_plan *plan, const tacit_shared_noise *noise, double *scale,
                                    double *sigma, tacit_error *error) {
    const double reserve = 1e-9, more = 1e-4; /* of delta; of the noise, as in tacit_share_gaussian */
    double one = 0;
    *scale = 0;
    if (plan->delta < 1e-60) return TACIT_OK;
    TACIT_TRY(tacit_gaussian_sigma(&one, plan->epsilon, plan->delta * (1 - reserve), 1, error));
    const double least = one * sqrt((double)noise->runs) * (1 + 1e-12);
    const double found = least * noise->sensitivity * (1 + more) / sqrt((double)noise->shares) * (1 + 1e-11);
    const bool drawn = found >= TACIT_SHARE_SCALE_LEAST && found <= TACIT_SHARE_SCALE_MOST;
    if (drawn && tacit_share_gaussian(sigma, noise, found) && *sigma >= fmax(least, 1e-3) && *sigma <= 1e6)
        *scale = found;
    return TACIT_OK;
}

/* Shares that buy the plan's price in all rounds, and what one of them costs, at its part of delta. */
static tacit_status set_shares(const tacit_plan *plan, descent *out, tacit_error *error) {
    double scale = 0, rho = 0, sigma = 0, step = ldexp(1, -out->spec.grid_bits);
    out->shared = (tacit_shared_noise){ .law = TACIT_LAW_DISCRETE_GAUSSIAN,
                                        .sensitivity = out->each.sensitivity / step,
                                        .price = out->each.price,
                                        .shares = tacit_plan_noise_shares(plan),
                                        .length = out->spec.length,
                                        .runs = out->rounds };
    TACIT_TRY(gaussian_shares(plan, &out->shared, &scale, &sigma, error));
    const bool gaussian = scale > 0;
    if (!gaussian) TACIT_TRY(fit_shares(plan, &out->shared, &scale, &rho, error));
    out->shared.scale = scale; /* found once, drawn from in every round */
    out->scale = scale * step * sqrt((double)plan->parties);
    out->event =
        tacit_event_replaced(gaussian ? tacit_event_gaussian(sigma, 1) : tacit_event_concentrated(rho, 1));
    if (out->rounds == 1) return TACIT_OK;
    tacit_price *each = &out->each.price;
    each->delta /= (double)out->rounds;
    TACIT_TRY(gaussian ? tacit_gaussian_epsilon(&each->epsilon, sigma, each->delta, error)
                       : cost_of(&each->epsilon, &out->event, each->delta, error));
    each->epsilon *= 1 + 1e-12;
    return TACIT_OK;
}

/* Noise in a sum of all parties over the sensitivity, for all rounds together. */
static tacit_status relative_noise(const tacit_plan *plan, double *out, tacit_error *error) {
    double parties = (double)plan->parties;
    TACIT_TRY(tacit_gaussian_sigma(out, plan->epsilon, plan->delta, 1, error));
    if (by_party(plan)) *out *= sqrt(parties);
    if (by_shares(plan)) *out *= sqrt(parties / (double)tacit_plan_noise_shares(plan));
    return TACIT_OK;
}

static tacit_status set_noise(const tacit_plan *plan, descent *out, tacit_error *error) {
    double shift =
               2 * (gradient_norm(plan) + GRADIENT_ROUNDING + tacit_sum_rounding(&out->spec)) * (1 + 1e-12),
           sigma = 0, all = 0;
    const size_t set = settings_of(plan)->rounds;
    bool noisy = isfinite(plan->epsilon);
    out->each = (tacit_mechanism){ TACIT_LAW_GAUSSIAN,
                                   shift,
                                   { settings_of(plan)->unit, plan->epsilon, noisy ? plan->delta : 0 } };
    if (noisy) TACIT_TRY(relative_noise(plan, &all, error));
    double noise = out->step * shift * all / expected_count(plan);
    out->rounds = set > 0 ? set : choose_rounds(plan, out->step, noise);
    out->shared = (tacit_shared_noise){
        .law = TACIT_LAW_DISCRETE_GAUSSIAN, .price = out->each.price, .shares = 1, .length = out->spec.length
    };
    if (!noisy) return TACIT_OK;
    if (by_shares(plan)) return set_shares(plan, out, error);
    TACIT_TRY(tacit_gaussian_sigma(&sigma, plan->epsilon, plan->delta, 1, error));
    if (out->rounds > 1) {
        double rounds = (double)out->rounds;
        out->each.price.delta = plan->delta / rounds;
        TACIT_TRY(round_price(&out->each.price, sigma * sqrt(rounds) * (1 + 1e-12), error));
    }
    TACIT_TRY(tacit_mechanism_scale(&out->scale, &out->each, error));
    return tacit_mechanism_event(&out->event, &out->each, error);
}

/* The weaker the signal against the noise, d/(N mu), the shorter weights must be; rounds that are few do the
 * rest. From the grid of docs/methods/dpgd.md. */
static tacit_status choose_lambda(const tacit_plan *plan, double *out, tacit_error *error) {
    static const double LEAST = 1e-6, MOST = 1e-2, SLOPE = 1e-3;
    double noise = 0;
    if (isfinite(plan->epsilon)) TACIT_TRY(relative_noise(plan, &noise, error));
    const double ratio = (double)gradient_size(plan) * noise / least_count(plan, plan->parties);
    *out = fmin(MOST, fmax(LEAST, SLOPE * ratio * ratio));
    return TACIT_OK;
}

/* With noise inside, the sum's bound must hold it; the bound depends on the noise and the noise on the grid,
 * so the grid is fixed first without and then with it. */
static tacit_status prepare(const tacit_plan *plan, void *prepared, tacit_error *error) {
    descent *out = prepared;
    size_t size = gradient_size(plan), length = size + !hides_party(plan);
    double bound = (hides_party(plan) ? 1 : GRADIENT_MOST_ROWS) * (gradient_norm(plan) + GRADIENT_ROUNDING);
    *out = (descent){ .size = size, .step = 1 / (gradient_curvature(plan) + plan->lambda) };
    TACIT_TRY(tacit_sum_spec_for(&out->spec, length, bound, plan->parties, error));
    TACIT_TRY(set_noise(plan, out, error));
    if (!by_party(plan) || isinf(plan->epsilon)) return TACIT_OK;
    double reach;
    TACIT_TRY(tacit_mechanism_reach(&reach, &out->each, length, error));
    TACIT_TRY(tacit_sum_spec_for(&out->spec, length, bound + 2 * reach, plan->parties, error));
    return set_noise(plan, out, error);
}

static tacit_status settle(tacit_plan *plan, tacit_error *error) {
    descent how;
    TACIT_TRY(prepare(plan, &how, error));
    return tacit_plan_settle_number(plan, "rounds", (double)how.rounds, error);
}

tacit_status dpgd_sum(const tacit_plan *plan, tacit_sum_spec *out, tacit_error *error) {
    descent how;
    TACIT_TRY(prepare(plan, &how, error));
    *out = how.spec;
    return TACIT_OK;
}

static tacit_status price(const tacit_plan *plan, tacit_prices *out, tacit_error *error) {
    descent how;
    TACIT_TRY(prepare(plan, &how, error));
    out->charged = out->claimed =
        (tacit_price){ how.each.price.unit, plan->epsilon, isfinite(plan->epsilon) ? plan->delta : 0 };
    out->event = how.event;
    if (out->event.count > 0) out->event.count = how.rounds;
    return TACIT_OK;
}

static tacit_release_kind release_kind(const tacit_plan *plan) {
    if (by_shares(plan)) return TACIT_RELEASE_SEALED;
    return by_party(plan) ? TACIT_RELEASE_CHARGED : TACIT_RELEASE_ENTRUSTED;
}

/* The norm of the noise in the model, by the rule's quadratic. */
static tacit_status noise_law(const tacit_plan *plan, tacit_noise_law *out, tacit_error *error) {
    descent how;
    TACIT_TRY(prepare(plan, &how, error));
    double rounds = (double)how.rounds, radius = gradient_radius(plan);
    double noise = how.step * how.scale / sqrt(rounds) / least_count(plan, plan->parties);
    if (by_party(plan)) noise *= sqrt((double)plan->parties);
    double start = expected_error(plan, rounds, how.step, 0);
    *out = (tacit_noise_law){
        .law = by_shares(plan) ? "discrete Gaussian in shares, together near N(0, s^2), in every round"
                               : "Gaussian N(0, s^2), in every round",
        .added_to = by_party(plan) ? "each party's gradient" : "the sum of the parties' gradients",
        .dimension = how.size,
        .sensitivity = how.each.sensitivity,
        .scale = how.scale,
        .mean_norm = fmin(radius, sqrt(expected_error(plan, rounds, how.step, noise) - start)),
        .of_fewest = true,
    };
    return TACIT_OK;
}

/* Round to the grid, then add a share of the noise, which is on the grid itself. */
static tacit_status add_share(tacit_party *party, const descent *how, const double *values,
                              tacit_reply *reply, tacit_error *error) {
    int64_t *steps = TACIT_NEW(int64_t, how->spec.length);
    if (steps == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_sum_quantise(&how->spec, values, steps, error);
    if (status == TACIT_OK)
        status =
            tacit_share_add(&reply->noised, &party->noise, &how->shared, steps, how->spec.grid_bits, error);
    free(steps);
    return status;
}

/* The party's half: the gradient of its rows at the weights asked for, and how many they are. */
static tacit_status answer_gradient(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                    tacit_error *error) {
    const tacit_plan *plan = party->plan;
    descent how;
    const double *weights;
    double *values = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_party_prepared(party, &how, error));
    TACIT_CHECK(gradient_check_sum(question, &how.spec, error));
    TACIT_CHECK(tacit_message_numbers(question->message, "weights", how.size, &weights, error));
    values = TACIT_NEW(double, how.spec.length);
    if (values == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(gradient_sum(party, weights, values, error));
    if (hides_party(plan))
        for (size_t j = 0; party->total_rows > 0 && j < how.size; j++) values[j] /= (double)party->total_rows;
    else
        values[how.size] = (double)party->total_rows;
    reply->kind = release_kind(plan);
    reply->price = how.each.price;
    reply->event = how.event;
    if (by_shares(plan)) {
        reply->assumption = "secure summation: only the sum is seen, with enough shares of the noise in it";
        TACIT_CHECK(add_share(party, &how, values, reply, error));
    } else if (by_party(plan)) {
        const tacit_sum_spec *spec = &how.spec;
        TACIT_CHECK(isinf(plan->epsilon)
                        ? tacit_mechanism_release(&reply->noised, &party->noise, &how.each, values,
                                                  spec->length, spec->grid_bits, spec->bound, error)
                        : tacit_mechanism_release_at(&reply->noised, &party->noise, &how.each, how.scale,
                                                     values, spec->length, spec->grid_bits, spec->bound,
                                                     error));
    } else {
        reply->noise = isinf(plan->epsilon) ? TACIT_NOISE_NONE : tacit_noise_source_grade(&party->noise);
        reply->contribution = values;
        values = NULL;
    }
cleanup:
    free(values);
    return status;
}

/* One step with the sum of the answers, noise inside. */
static void step(const tacit_plan *plan, const descent *how, const tacit_sum *sum, gradient_state *state) {
    double radius = gradient_radius(plan), square = 0, *w = state->weights;
    double count = hides_party(plan) ? (double)sum->parties : sum->values[how->size];
    count = fmax(count, least_count(plan, sum->parties)); /* it may carry noise */
    for (size_t j = 0; j < how->size; j++) {
        w[j] -= how->step * (sum->values[j] / count + plan->lambda * w[j]);
        square += w[j] * w[j];
    }
    if (square > radius * radius)
        for (size_t j = 0; j < how->size; j++) w[j] *= radius / sqrt(square);
    state->parties = sum->parties;
    state->steps++;
}

/* Ask, add the noise if entrusted with it, and step. */
static tacit_status one_round(tacit_session *session, const descent *how, gradient_state *state,
                              tacit_error *error) {
    const tacit_plan *plan = session->plan;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", state->weights, how->size, error));
    TACIT_CHECK(tacit_ask_sum(session, "gradient", &message, &how->spec, &sum, error));
    if (by_coordinator(plan))
        TACIT_CHECK(tacit_session_publish(session, &how->each, sum.values, how->size,
                                          how->spec.bound * (double)plan->parties, sum.values, error));
    else
        tacit_session_notify(session, sum.values, how->size);
    step(plan, how, &sum, state);
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    gradient_state state = GRADIENT_STATE_INIT;
    descent how;
    double *before = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_session_prepared(session, &how, error));
    TACIT_CHECK(gradient_resume(session, &state, error));
    TACIT_CHECK(tacit_plan_before(&before, session->plan, state.weights, how.size, error));
    while (state.steps < how.rounds) {
        tacit_progress_report(session->progress, "steps", state.steps, how.rounds);
        TACIT_CHECK(one_round(session, &how, &state, error));
        if (tacit_plan_stops(session->plan, state.steps, before, state.weights, how.size)) break;
        TACIT_CHECK(gradient_checkpoint(session, &state, error));
    }
    TACIT_CHECK(gradient_finish(session, &state, out, error));
cleanup:
    free(before);
    gradient_state_clear(&state);
    return status;
}

static const tacit_handler_entry handlers[] = { { .question = "gradient", .answer = answer_gradient },
                                                { .question = NULL } };

static uint64_t exchanges(const tacit_plan *plan) {
    descent how;
    return prepare(plan, &how, NULL) == TACIT_OK ? how.rounds : 0;
}

const tacit_method tacit_method_dpgd = {
    .name = "dpgd",
    .title = "gradient descent on all parties' rows, with noise in every step",
    .reference = "after Bassily, Smith & Thakurta 2014; docs/methods/dpgd.md",
    .version = 2,
    .units = "record|party",
    .spreads = true,
    .needs_delta = true,
    .takes_numbers = true,
    .stops_early = true,
    .fits_alone_by_party = true,
    TACIT_SETTINGS_OF(parameters, defaults),
    .choose_lambda = choose_lambda,
    .settle = settle,
    .lambda_rule = "(d/(N mu))^2/1000, between 1e-6 and .01: d weights, N rows at least, mu what the price "
                   "buys (1/mu is the noise of all rounds over the sensitivity)",
    .shares_noise = by_shares,
    .leaves = "in every round, the [unit=record: sum][unit=party: mean] of the gradients of the party's rows "
              "at weights that all parties know[noise=party: , with the party's own noise "
              "added][noise=shares: , with the party's share of the noise added][unit=record: , and the "
              "number of its rows], as one contribution to a sum",
    .seen_by = "[noise=coordinator,sees=sum: the coordinator sees the exact sum over all parties in every "
               "round, and no single party's][noise=coordinator,sees=each: the coordinator sees each party's "
               "exact gradients in every round][noise=party,sees=sum: the coordinator sees the sum of all "
               "parties' noisy gradients in every round, and no single party's][noise=party,sees=each: the "
               "coordinator sees each party's noisy gradients in every round][noise=shares: the coordinator "
               "sees the sum over all parties in every round, with the noise in it, and no single party's]. "
               "Everybody sees the weights after every step",
    .guarantee = "(epsilon, delta)-differential privacy of all rounds together, for replacing [unit=record: "
                 "one row][unit=party: all rows] of a party, towards everybody who sees all "
                 "steps[noise=party|shares: , the coordinator included][noise=coordinator: . There is no "
                 "such guarantee towards the coordinator, which sees exact values]",
    .assumption =
        "every row lies in the unit ball (the schema's encoding ensures it)[unit=record: ; the number of a "
        "party's rows is no secret][noise=coordinator: ; the coordinator adds the noise, publishes only "
        "noisy results and keeps the exact values to itself][noise=shares: ; secure summation, and that no "
        "more parties vanish from a sum or collude than the study declares]",
    .theorem = "[noise=coordinator|party: Gaussian noise of standard deviation S sigma sqrt(T) on a sum of "
               "L2 sensitivity S = 2L, L = 1, sqrt(2) for softmax, or what residuals of numbers and counts "
               "are clipped to, in each of T rounds; sigma the exact "
               "calibration of a single round (Balle and Wang 2018), because T Gaussians compose to one, "
               "also when adaptive (Dong, Roth and Su 2022)][noise=shares: shares of discrete Gaussian noise "
               "on a sum of L2 sensitivity S = 2L, L = 1, sqrt(2) for softmax, or what residuals of numbers "
               "and counts are clipped to, in each of T rounds; their "
               "sum counts as Gaussian noise, less a part in 10^4 (Kairouz, Liu and Steinke 2021, Theorem "
               "9), and composes as that does; on a coarse grid by zCDP (Proposition 14)]",
    .claim = "no paper's: Rajkumar and Agarwal print the price of one round (psgd)",
    .caveats =
        "as many questions as rounds: every party must stay connected. The price of one round in the ledger "
        "is more than its share; what counts is the composition of all rounds, at the limit's delta",
    .prepare = prepare,
    .prepared_size = sizeof(descent),
    .check = gradient_check_label,
    .price = price,
    .noise = noise_law,
    .release_kind = release_kind,
    .exchanges = exchanges,
    .fewest = 1,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
