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
 * Counts of missing values (missing_counts = a) are one more question, the last, for rows that are protected
 *   one by one. Of kT + c runs of one Gaussian event each round takes k and the counts c, so that c/k is to
 *   T nearly as a is to 1 - a: a round has relative noise sigma sqrt(T + c/k), the counts
 *   sigma sqrt((kT + c)/c) on their sensitivity sqrt(D) (missing_counts.c), and all together sigma, as above.
 *   k, c, a and D are public. No step sees the counts. On a grid too coarse for shares that count as Gaussian
 *   they are refused. With schedule=adaptive k is a round's own: see dpgd_adaptive.c. Code of all this is in
 *   dpgd_noise.c.
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
#include "method/private/dpgd.h"
#include "session/prepared.h"

enum { MOST_ROUNDS = 100000 };

static const dpgd_settings defaults = { .minimised = BOUNDED_CHOICE_DEFAULT,
                                        .noise = DPGD_BY_COORDINATOR,
                                        .unit = TACIT_UNIT_RECORD,
                                        .missing_counts = 0.02 };

static const tacit_parameter parameters[] = {
    TACIT_OPEN_COUNT(dpgd_settings, rounds, "rounds", MOST_ROUNDS,
                     "steps of the descent, each a question to every party", "chosen from public numbers"),
    TACIT_CHOICE(
        dpgd_settings, noise, "noise", "coordinator|party|shares",
        "who adds it: a coordinator entrusted with the gradients, each party itself (more noise, no trust), "
        "or each party a share, which secure summation adds up to little more than the coordinator's"),
    TACIT_CHOICE(dpgd_settings, unit, "unit", "record|party",
                 "whose replacement is hidden: one row, or all rows of a party"),
    MISSING_COUNTS_SETTING(dpgd_settings, missing_counts),
    TACIT_LATER_CHOICE(
        dpgd_settings, schedule, "schedule", "even|adaptive", "even",
        "how the budget is spread over the steps: evenly, or more for a step after one whose gradient "
        "drowned "
        "in its noise; steps then end when the budget is used up, and may be up to about twice as many"),
    BOUNDED_CHOICE_PARAMETERS(
        dpgd_settings, minimised,
        "what is minimised: by the label (logistic, softmax, clipped residuals of numbers "
        "and counts), or Huber's hinge for two classes"),
    TACIT_SETTINGS_END,
};

static tacit_status settle(tacit_plan *plan, tacit_error *error) {
    dpgd_descent how;
    TACIT_TRY(tacit_plan_prepared(plan, &how, error));
    return tacit_plan_settle_number(plan, "rounds", (double)how.rounds, error);
}

tacit_status dpgd_sum(const tacit_plan *plan, tacit_sum_spec *out, tacit_error *error) {
    dpgd_descent how;
    TACIT_TRY(tacit_plan_prepared(plan, &how, error));
    *out = how.spec;
    return TACIT_OK;
}

static tacit_release_kind release_kind(const tacit_plan *plan) {
    if (dpgd_by_shares(plan)) return TACIT_RELEASE_SEALED;
    return dpgd_by_party(plan) ? TACIT_RELEASE_CHARGED : TACIT_RELEASE_ENTRUSTED;
}

/* Round to the grid, then add a share of the noise, which is on the grid itself. */
static tacit_status add_share(tacit_party *party, const dpgd_descent *how, const double *values,
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

/* What the plan says of the round that is asked for, once the filter has let it pass. */
static tacit_status round_of(tacit_party *party, const tacit_question *question, dpgd_descent *out,
                             tacit_error *error) {
    const int64_t *units;
    if (!dpgd_adapts(party->plan)) {
        TACIT_TRY(tacit_party_prepared(party, out, error));
        return gradient_check_sum(question, &out->spec, error);
    }
    TACIT_TRY(tacit_message_integers(question->message, "units", 1, &units, error));
    TACIT_TRY(tacit_party_derive(party, dpgd_prepare_round, (double)*units, out, sizeof *out, error));
    TACIT_TRY(gradient_check_sum(question, &out->spec, error));
    return dpgd_filter(party, question, out->runs, out->all_runs, error);
}

/* The party's half: the gradient of its rows at the weights asked for, and how many they are. */
static tacit_status answer_gradient(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                    tacit_error *error) {
    const tacit_plan *plan = party->plan;
    dpgd_descent how;
    const double *weights;
    double *values = NULL;
    tacit_status status;
    TACIT_CHECK(round_of(party, question, &how, error));
    TACIT_CHECK(tacit_message_numbers(question->message, "weights", how.size, &weights, error));
    values = TACIT_NEW(double, how.spec.length);
    if (values == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(gradient_sum(party, weights, values, error));
    if (dpgd_hides_party(plan))
        for (size_t j = 0; party->total_rows > 0 && j < how.size; j++) values[j] /= (double)party->total_rows;
    else
        values[how.size] = (double)party->total_rows;
    reply->kind = release_kind(plan);
    reply->price = how.each.price;
    reply->event = how.event;
    if (dpgd_by_shares(plan)) {
        reply->assumption = "secure summation: only the sum is seen, with enough shares of the noise in it";
        TACIT_CHECK(add_share(party, &how, values, reply, error));
    } else if (dpgd_by_party(plan)) {
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

static tacit_status answer_missing(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                   tacit_error *error) {
    dpgd_descent how;
    TACIT_TRY(tacit_party_prepared(party, &how, error));
    if (dpgd_adapts(party->plan) && how.missing.counts.length > 0)
        TACIT_TRY(dpgd_filter(party, question, how.missing.release.runs, how.all_runs, error));
    return dpnewton_give_missing(party, question, &how.missing, reply, error);
}

/* One step with the sum of the answers, noise inside. Returns the square of what the gradient of F times N
 * was released as. */
static double step(const tacit_plan *plan, const dpgd_descent *how, const tacit_sum *sum,
                   gradient_state *state) {
    double radius = gradient_radius(plan), square = 0, released = 0, *w = state->weights;
    double count = dpgd_hides_party(plan) ? (double)sum->parties : sum->values[how->size];
    count = fmax(count, dpgd_least_count(plan, sum->parties)); /* it may carry noise */
    for (size_t j = 0; j < how->size; j++) {
        released += pow(sum->values[j] + count * plan->lambda * w[j], 2);
        w[j] -= how->step * (sum->values[j] / count + plan->lambda * w[j]);
        square += w[j] * w[j];
    }
    if (square > radius * radius)
        for (size_t j = 0; j < how->size; j++) w[j] *= radius / sqrt(square);
    state->parties = sum->parties;
    state->rows = count;
    state->steps++;
    return released;
}

/* Ask, add the noise if entrusted with it, and step. */
static tacit_status one_round(tacit_session *session, const dpgd_descent *how, gradient_state *state,
                              double *square, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    const int64_t units = (int64_t)how->runs;
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", state->weights, how->size, error));
    if (dpgd_adapts(plan)) TACIT_CHECK(tacit_message_add_integers(&message, "units", &units, 1, error));
    TACIT_CHECK(tacit_ask_sum(session, "gradient", &message, &how->spec, &sum, error));
    if (dpgd_settings_of(plan)->noise == DPGD_BY_COORDINATOR)
        TACIT_CHECK(tacit_session_publish(session, &how->each, sum.values, how->size,
                                          how->spec.bound * (double)plan->parties, sum.values, error));
    else
        tacit_session_notify(session, sum.values, how->size);
    *square = step(plan, how, &sum, state);
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}

/* Steps until the budget is used up, each with as much of it as those before suggest. There are no
 * checkpoints: after a restart the half is run again from the journal. */
static tacit_status descend_adaptively(tacit_session *session, const dpgd_descent *first,
                                       gradient_state *state, double *before, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    dpgd_descent how = *first;
    uint64_t spent = 0, units = first->runs;
    double wanted = (double)units;
    while (spent < DPGD_UNITS) {
        double square = 0;
        tacit_progress_report(session->progress, "parts of the budget", spent, DPGD_UNITS);
        if (units != how.runs) TACIT_TRY(dpgd_prepare_round(plan, (double)units, &how, error));
        TACIT_TRY(one_round(session, &how, state, &square, error));
        spent += units;
        if (tacit_plan_stops(plan, state->steps, before, state->weights, how.size)) break;
        const double noise = how.scale * (dpgd_by_party(plan) ? sqrt((double)plan->parties) : 1);
        if (spent < DPGD_UNITS)
            units = dpgd_next_units(&wanted, how.rounds, spent, square, (double)how.size * noise * noise);
    }
    return TACIT_OK;
}

static tacit_status descend_evenly(tacit_session *session, const dpgd_descent *how, gradient_state *state,
                                   double *before, tacit_error *error) {
    while (state->steps < how->rounds) {
        double square = 0;
        tacit_progress_report(session->progress, "steps", state->steps, how->rounds);
        TACIT_TRY(one_round(session, how, state, &square, error));
        if (tacit_plan_stops(session->plan, state->steps, before, state->weights, how->size)) break;
        TACIT_TRY(gradient_checkpoint(session, state, error));
    }
    return TACIT_OK;
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    gradient_state state = GRADIENT_STATE_INIT;
    dpgd_descent how;
    double *before = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_session_prepared(session, &how, error));
    TACIT_CHECK(gradient_resume(session, &state, error));
    TACIT_CHECK(tacit_plan_before(&before, session->plan, state.weights, how.size, error));
    TACIT_CHECK((dpgd_adapts(session->plan) ? descend_adaptively : descend_evenly)(session, &how, &state,
                                                                                   before, error));
    TACIT_CHECK(gradient_finish(session, &state, out, error));
    TACIT_CHECK(
        dpnewton_ask_missing(session, &how.missing, round(state.rows), out->models[out->count - 1], error));
cleanup:
    free(before);
    gradient_state_clear(&state);
    return status;
}

static const tacit_handler_entry handlers[] = { { .question = "gradient", .answer = answer_gradient },
                                                { .question = "missing", .answer = answer_missing },
                                                { .question = NULL } };

static uint64_t exchanges(const tacit_plan *plan) {
    dpgd_descent how;
    if (tacit_plan_prepared(plan, &how, NULL) != TACIT_OK) return 0;
    const uint64_t rounds =
        dpgd_adapts(plan) ? DPGD_UNITS / how.runs : how.rounds; /* units never become fewer */
    return rounds + (how.missing.counts.length > 0);
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
    .choose_lambda = dpgd_choose_lambda,
    .settle = settle,
    .lambda_rule = "(d/(N mu))^2/1000, between 1e-6 and .01: d weights, N rows at least, mu what the price "
                   "buys (1/mu is the noise of all rounds over the sensitivity)",
    .shares_noise = dpgd_by_shares,
    .counts_missing = dpgd_counts_missing,
    .leaves =
        "in every round, the [unit=record: sum][unit=party: mean] of the gradients of the party's rows "
        "at weights that all parties know[noise=party: , with the party's own noise "
        "added][noise=shares: , with the party's share of the noise added][unit=record: , and the "
        "number of its rows], as one contribution to a sum" MISSING_COUNTS_LEAVE
        "[counts=missing,noise=party: , with its own noise added][counts=missing,noise=shares: , with its "
        "share of the noise added]",
    .seen_by = "[noise=coordinator,sees=sum: the coordinator sees the exact sum over all parties in every "
               "round, and no single party's][noise=coordinator,sees=each: the coordinator sees each party's "
               "exact gradients in every round][noise=party,sees=sum: the coordinator sees the sum of all "
               "parties' noisy gradients in every round, and no single party's][noise=party,sees=each: the "
               "coordinator sees each party's noisy gradients in every round][noise=shares: the coordinator "
               "sees the sum over all parties in every round, with the noise in it, and no single party's]. "
               "Everybody sees the weights after every step" MISSING_COUNTS_SEEN,
    .guarantee = "(epsilon, delta)-differential privacy of all rounds together, for replacing [unit=record: "
                 "one row][unit=party: all rows] of a party, towards everybody who sees all "
                 "steps[noise=party|shares: , the coordinator included][noise=coordinator: . There is no "
                 "such guarantee towards the coordinator, which sees exact values]",
    .assumption =
        "every row lies in the unit ball (the schema's encoding ensures it)[unit=record: ; the number of a "
        "party's rows is no secret][noise=coordinator: ; the coordinator adds the noise, publishes only "
        "noisy results and keeps the exact values to itself][noise=shares: ; secure summation, and that no "
        "more parties vanish from a sum or collude than the study declares]",
    .theorem =
        "[noise=coordinator|party: Gaussian noise of standard deviation S sigma sqrt(T) on a sum of "
        "L2 sensitivity S = 2L, L = 1, sqrt(2) for softmax, or what residuals of numbers and counts "
        "are clipped to, in each of T rounds; sigma the exact "
        "calibration of a single round (Balle and Wang 2018), because T Gaussians compose to one, "
        "also when adaptive (Dong, Roth and Su 2022)][noise=shares: shares of discrete Gaussian noise "
        "on a sum of L2 sensitivity S = 2L, L = 1, sqrt(2) for softmax, or what residuals of numbers "
        "and counts are clipped to, in each of T rounds; their "
        "sum counts as Gaussian noise, less a part in 10^4 (Kairouz, Liu and Steinke 2021, Theorem "
        "9), and composes as that does; on a coarse grid by zCDP (Proposition 14)]" MISSING_COUNTS_BOUND
        "[counts=missing|perhaps: , which have a share of mu^2 = 1/sigma^2, and the rounds the "
        "rest][schedule=adaptive: . A round has u of 10,000 units of what the rounds have, and Gaussian "
        "noise "
        "for so much of mu^2 = 1/sigma^2; u is chosen from what was released before. The party counts what "
        "it "
        "has answered for and refuses what would be more than all: a filter of Gaussian differential privacy "
        "(Smith and Thakurta 2022), which holds whatever the coordinator asks]",
    .claim = "no paper's: Rajkumar and Agarwal print the price of one round (psgd)",
    .caveats = "as many questions as rounds" MISSING_COUNTS_MORE
               ": every party must stay connected. The price of one round in the ledger "
               "is more than its share; what counts is the composition of all rounds, at the limit's delta",
    .prepare = dpgd_prepare,
    .prepared_size = sizeof(dpgd_descent),
    .check = gradient_check_label,
    .price = dpgd_price,
    .noise = dpgd_noise_law,
    .release_kind = release_kind,
    .exchanges = exchanges,
    .fewest = 1,
    .coordinate = TACIT_CENTER_HALF(coordinate),
    .handlers = handlers,
};
