/*
 * dpnewton: logistic regression by Newton steps under noise, the curvature released once (ours, after the fixed Hessian bound of Boehning and
 * Lindsay 1988 that PrivLogit uses).
 *
 *   rows x = (u, 1)/R, u as the schema encodes them;   v = min(1, 1/|x|);   mu = 1/AG(epsilon, delta; 1);   n rows, d columns with the intercept
 *
 *   once:        A = sum v^2 x x^T + E                                              share .06 of mu^2, upper triangle, off the diagonal times sqrt(2)
 *   t = 1..T:    g = sum clip(sigma(w.x) - y, +-1/2) v x + b_t                      share proportional to (1 + 3/T)^t of the rest
 *                w <- w - (alpha H + l I)^-1 (g + l w),   l = n lambda / sqrt(V)
 *   model:       the share-weighted mean of the last 40% of the iterates, as log-odds (num/clipped_link.h)
 *
 * with V = mean v^2, read off A's intercept; eigenvalues e of A replaced by max(e, 0) + op/2, op = s sqrt(2 d) the size of E, s the noise of one
 * number; H = A/sqrt(V) near sum v x x^T and, with op/10 in place of op/2, Q = A/(n V) near the rows' second moments. alpha = 1/4 at first and then
 * min(1/4, 1.5 E[sigma'(z) 1{unclipped}]), z ~ N(m, q - m^2), q = w.Qw, m = the mean score by Q: 1.5 because alpha H does not majorise the
 * Hessian, and without it a strong rare column oscillates. A step changes scores by at most 2 in root mean square, and no root mean square score
 * exceeds 10.
 *
 * Proof note. Adjacency: replace one row of one party (unit=record). The numbers of rows and of parties stay as they are.
 *   moments: |v x| <= 1, and packed as above two rows' v^2 x x^T are at most sqrt(2) apart (num/noisy_moments.h).
 *   step: |clip(.) v x| <= 1/2 for every row, whatever w is asked about and whatever the rounding of the score, so that the sum moves by at most 1.
 *   Computed and rounded: S = that + 2 (GRADIENT_ROUNDING + the grid's rounding).
 *   Question i adds N(0, (S_i sigma/sqrt(a_i))^2), a_i its share of the budget, sum a_i = 1, sigma = AG(epsilon, delta; 1): it is
 *   mu sqrt(a_i)-Gaussian-DP, and together, each asked in view of the answers before, they are mu-Gaussian-DP (Dong, Roth and Su 2022, corollary
 *   3.3), which is (epsilon, delta). Which share a question has follows from its place in the study: the party counts rounds itself.
 *   All else, eigenvalues, steps, log-odds, is post-processing, and every party may see every w.
 *   noise=shares: the noise of a sum is discrete Gaussian shares on its grid, and the m that nobody who looks knows are as private as a Gaussian of
 *   sigma/sqrt(a_i) (tacit_share_gaussian), except for 1e-87 of delta. With all n parties in it the sum has sqrt(n/m) times the noise needed.
 *   A released once may be used again, for other models of the same columns, at no price: it is in the record of the study.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/dpnewton.h"
#include "num/clipped_link.h"
#include "num/noisy_moments.h"

static const dpnewton_settings defaults = { .noise = DPNEWTON_BY_SHARES };

static const tacit_parameter parameters[] = {
    TACIT_OPEN_COUNT(dpnewton_settings, rounds, "rounds", DPNEWTON_MOST_ROUNDS,
                     "Newton steps, each a question to every party, after the one for the moments",
                     "chosen from public numbers"),
    TACIT_OPEN_COUNT(
        dpnewton_settings, rows, "rows", 1e12,
        "how many rows all parties have together, as everybody expects: steps and ridge are chosen for it",
        "the parties times the least rows of each"),
    TACIT_CHOICE(
        dpnewton_settings, noise, "noise", "coordinator|party|shares",
        "who adds it: a coordinator entrusted with the sums, each party itself (more noise, no trust), or "
        "each party a share, which secure summation adds up to little more than the coordinator's"),
    TACIT_SETTINGS_END,
};

static bool by_party(const tacit_plan *plan) {
    return dpnewton_settings_of(plan)->noise == DPNEWTON_BY_PARTY;
}

static bool by_coordinator(const tacit_plan *plan) {
    return dpnewton_settings_of(plan)->noise == DPNEWTON_BY_COORDINATOR;
}

static bool by_shares(const tacit_plan *plan) {
    return dpnewton_settings_of(plan)->noise == DPNEWTON_BY_SHARES;
}

static tacit_status check(const tacit_plan *plan, tacit_error *error) {
    dpnewton_design design;
    if (plan->classes != 2)
        return tacit_fail(error, TACIT_USAGE,
                          "method dpnewton is for two classes; for more use dpgd or dpsgd");
    return dpnewton_describe(plan, &design, error);
}

static tacit_status price(const tacit_plan *plan, tacit_prices *out, tacit_error *error) {
    dpnewton_design design;
    TACIT_TRY(dpnewton_describe(plan, &design, error));
    out->charged = out->claimed =
        (tacit_price){ TACIT_UNIT_RECORD, plan->epsilon, isfinite(plan->epsilon) ? plan->delta : 0 };
    out->event = design.all;
    return TACIT_OK;
}

static tacit_release_kind release_kind(const tacit_plan *plan) {
    if (by_shares(plan)) return TACIT_RELEASE_SEALED;
    return by_party(plan) ? TACIT_RELEASE_CHARGED : TACIT_RELEASE_ENTRUSTED;
}

/* The norm of the noise in the model, for rows that fill the ball evenly. */
static tacit_status noise_law(const tacit_plan *plan, tacit_noise_law *out, tacit_error *error) {
    dpnewton_design design;
    TACIT_TRY(dpnewton_describe(plan, &design, error));
    const dpnewton_release *last = &design.release[design.rounds];
    double rows = dpnewton_rows(plan), d = (double)design.width, tail = 0;
    for (size_t t = 1; t <= design.rounds; t++) tail += dpnewton_tail(&design, t);
    *out = (tacit_noise_law){
        .law = by_shares(plan) ? "discrete Gaussian in shares, together near N(0, s^2), in every step; s of "
                                 "the last, smallest"
                               : "Gaussian N(0, s^2), in every step; s of the last, smallest",
        .added_to = by_party(plan) ? "each party's gradient" : "the sum of the parties' gradients",
        .dimension = design.width,
        .sensitivity = last->mechanism.sensitivity,
        .scale = by_shares(plan) ? last->deviation : last->scale,
        .mean_norm =
            sqrt(d) * last->deviation * sqrt(last->share / tail) / (rows / (4 * d) + rows * plan->lambda),
    };
    return TACIT_OK;
}

/* ---- the party's half ---- */

static tacit_status derive(const tacit_plan *plan, double unused, void *out, tacit_error *error) {
    (void)unused;
    return dpnewton_describe(plan, out, error);
}

static tacit_status add_share(tacit_party *party, const dpnewton_release *release, const tacit_sum_spec *spec,
                              const double *values, tacit_reply *reply, tacit_error *error) {
    int64_t *steps = TACIT_NEW(int64_t, spec->length);
    if (steps == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_sum_quantise(spec, values, steps, error);
    if (status == TACIT_OK)
        status =
            tacit_share_add(&reply->noised, &party->noise, &release->shared, steps, spec->grid_bits, error);
    free(steps);
    return status;
}

/* Take *values, with the noise of this release, into the reply. */
static tacit_status give(tacit_party *party, const dpnewton_release *release, const tacit_sum_spec *spec,
                         double **values, tacit_reply *reply, tacit_error *error) {
    const tacit_plan *plan = party->plan;
    bool silent = isinf(plan->epsilon);
    reply->kind = release_kind(plan);
    reply->price = release->mechanism.price;
    reply->event = release->event;
    if (by_shares(plan)) {
        reply->assumption = "secure summation: only the sum is seen, with enough shares of the noise in it";
        return add_share(party, release, spec, *values, reply, error);
    }
    if (by_party(plan))
        return silent ? tacit_mechanism_release(&reply->noised, &party->noise, &release->mechanism, *values,
                                                spec->length, spec->grid_bits, spec->bound, error)
                      : tacit_mechanism_release_at(&reply->noised, &party->noise, &release->mechanism,
                                                   release->scale, *values, spec->length, spec->grid_bits,
                                                   spec->bound, error);
    reply->noise = silent ? TACIT_NOISE_NONE : tacit_noise_source_grade(&party->noise);
    reply->contribution = *values;
    *values = NULL;
    return TACIT_OK;
}

/* Whether this is the question that the study has in this place. */
static tacit_status check_place(const tacit_question *question, const dpnewton_design *design, bool moments,
                                tacit_error *error) {
    TACIT_TRY(gradient_check_sum(question, moments ? &design->moments : &design->gradient, error));
    if (moments ? question->round == 0 : question->round >= 1 && question->round <= design->rounds)
        return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED, "round %llu of this study is not one for %s",
                      (unsigned long long)question->round, question->name);
}

static tacit_status answer_moments(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                   tacit_error *error) {
    dpnewton_design design;
    double *values = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_party_derive(party, derive, 0, &design, sizeof design, error));
    TACIT_CHECK(check_place(question, &design, true, error));
    values = TACIT_NEW(double, design.moments.length);
    if (values == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(dpnewton_sum_moments(party, &design, values, error));
    TACIT_CHECK(give(party, &design.release[0], &design.moments, &values, reply, error));
cleanup:
    free(values);
    return status;
}

static tacit_status answer_gradient(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                    tacit_error *error) {
    dpnewton_design design;
    const double *weights;
    double *values = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_party_derive(party, derive, 0, &design, sizeof design, error));
    TACIT_CHECK(check_place(question, &design, false, error));
    TACIT_CHECK(tacit_message_numbers(question->message, "weights", design.width, &weights, error));
    values = TACIT_NEW(double, design.gradient.length);
    if (values == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(dpnewton_sum_gradient(party, &design, weights, values, error));
    TACIT_CHECK(give(party, &design.release[question->round], &design.gradient, &values, reply, error));
cleanup:
    free(values);
    return status;
}

/* ---- the coordinator's half ---- */

typedef struct newton_state {
    double rows, shortening; /* n, and sqrt(V) */
    double *curvature;       /* H */
    double *scores;          /* Q */
    double *weights, *mean, *step, *room;
    double counted; /* the shares that are in `mean` */
    size_t parties;
} newton_state;

static void clear(newton_state *state) {
    free(state->curvature);
    free(state->scores);
    free(state->weights);
    free(state->mean);
    free(state->step);
    free(state->room);
}

static tacit_status prepare(newton_state *state, size_t d, tacit_error *error) {
    state->curvature = TACIT_NEW(double, d *d);
    state->scores = TACIT_NEW(double, d *d);
    state->room = TACIT_NEW(double, d *d);
    state->weights = TACIT_NEW(double, d);
    state->mean = TACIT_NEW(double, d);
    state->step = TACIT_NEW(double, d);
    bool all = state->curvature != NULL && state->scores != NULL && state->room != NULL &&
               state->weights != NULL && state->mean != NULL && state->step != NULL;
    return all ? TACIT_OK : tacit_fail_memory(error);
}

/* Ask, and add the noise if entrusted with it: `count` numbers are published. */
static tacit_status ask(tacit_session *session, const char *question, const tacit_message *message,
                        const tacit_sum_spec *spec, const dpnewton_release *release, size_t count,
                        tacit_sum *sum, tacit_error *error) {
    TACIT_TRY(tacit_ask_sum(session, question, message, spec, sum, error));
    if (by_coordinator(session->plan))
        return tacit_session_publish(session, &release->mechanism, sum->values, count,
                                     spec->bound * (double)session->plan->parties, sum->values, error);
    tacit_session_notify(session, sum->values, count);
    return TACIT_OK;
}

/* sqrt(V): the intercept's second moment is known except for the shortening of rows. Where its noise is large, the middle of what can be. */
static double shortening(const dpnewton_design *design, double moment, double rows) {
    const dpnewton_scaling *by = &design->scaling;
    double intercept = by->encoded * by->intercept, square = rows * intercept * intercept;
    double least = 1 / (by->longest * by->longest);
    if (!(least < 1)) return 1;
    double unsure = design->release[0].deviation / square / 0.2, trust = 1 / (1 + unsure * unsure);
    double found = trust * moment / square + (1 - trust) * sqrt(least);
    return sqrt(fmin(fmax(found, least), 1));
}

/* H and Q of the released moments. */
static tacit_status take_moments(const dpnewton_design *design, const tacit_sum *sum, newton_state *state,
                                 tacit_error *error) {
    size_t d = design->width, length = tacit_moments_length(d);
    double op = design->release[0].deviation * sqrt(2 * (double)d), lift[] = { op / 2, op / 10 };
    double *both[] = { state->curvature, state->scores };
    state->shortening = shortening(design, sum->values[length - 1], state->rows);
    tacit_moments_unpack(state->room, sum->values, d);
    TACIT_TRY(tacit_moments_lift(both, lift, 2, state->room, d, error));
    double by = state->shortening, square = by * by * state->rows;
    for (size_t i = 0; i < d * d; i++) {
        state->curvature[i] /= by;
        state->scores[i] /= square;
    }
    return TACIT_OK;
}

static tacit_status ask_moments(tacit_session *session, const dpnewton_design *design, newton_state *state,
                                tacit_error *error) {
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    size_t length = tacit_moments_length(design->width);
    tacit_status status;
    TACIT_CHECK(
        ask(session, "moments", &message, &design->moments, &design->release[0], length, &sum, error));
    /* Their number is no secret where a row is replaced; it may carry noise. */
    state->rows =
        fmax(sum.values[length], (double)sum.parties * fmax(1, (double)session->plan->minimum_rows));
    TACIT_CHECK(take_moments(design, &sum, state, error));
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}

/* Mean and variance of the scores x.w over rows, by Q. Without an intercept the mean is taken to be 0. */
static void score_law(const dpnewton_design *design, const newton_state *state, const double *w, double *mean,
                      double *variance) {
    size_t d = design->width;
    double square = tacit_moments_product(state->scores, w, w, d), intercept = 0;
    const dpnewton_scaling *by = &design->scaling;
    *mean = 0;
    if (by->encoded > 0) {
        for (size_t j = 0; j < d; j++) intercept += state->scores[(d - 1) * d + j] * w[j];
        *mean = fmin(fmax(intercept / (by->encoded * by->intercept), -sqrt(square)), sqrt(square));
    }
    *variance = fmax(square - *mean * *mean, 1e-6);
}

/* The factor that holds the root mean square score of `w` within `most`. */
static double held_within(const newton_state *state, const double *w, size_t d, double most) {
    double square = tacit_moments_product(state->scores, w, w, d);
    return square > most * most ? most / sqrt(square) : 1;
}

static double alpha_at(const dpnewton_design *design, const newton_state *state, const double *w) {
    double mean, variance;
    score_law(design, state, w, &mean, &variance);
    return fmin(0.25, 1.5 * fmax(0.02, tacit_clipped_slope(mean, variance)));
}

/* l: the plan's lambda is for the mean over the rows that are declared. */
static double ridge(const tacit_plan *plan, const newton_state *state) {
    return plan->lambda * dpnewton_rows(plan) / state->shortening;
}

/* One Newton step, from the gradient in `state->step`. */
static tacit_status step(const tacit_plan *plan, const dpnewton_design *design, size_t t, newton_state *state,
                         tacit_error *error) {
    size_t d = design->width;
    double *w = state->weights, *by = state->step, l = ridge(plan, state);
    double alpha = t == 1 ? 0.25 : alpha_at(design, state, w), counts = dpnewton_tail(design, t);
    for (size_t j = 0; j < d; j++) by[j] += l * w[j];
    TACIT_TRY(tacit_moments_solve(by, state->curvature, alpha, l, state->room, d, error));
    double trusted = held_within(state, by, d, 2);
    for (size_t j = 0; j < d; j++) w[j] -= trusted * by[j];
    double within = held_within(state, w, d, 10);
    for (size_t j = 0; j < d; j++) state->mean[j] += counts * (w[j] *= within);
    state->counted += counts;
    return TACIT_OK;
}

static tacit_status one_round(tacit_session *session, const dpnewton_design *design, size_t t,
                              newton_state *state, tacit_error *error) {
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    size_t d = design->width;
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", state->weights, d, error));
    TACIT_CHECK(ask(session, "gradient", &message, &design->gradient, &design->release[t], d, &sum, error));
    memcpy(state->step, sum.values, d * sizeof *sum.values);
    state->parties = sum.parties;
    TACIT_CHECK(step(session->plan, design, t, state, error));
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}

/* The mean of the tail as log-odds, in the weights of encoded rows. */
static tacit_status finish(const tacit_plan *plan, const dpnewton_design *design, newton_state *state,
                           tacit_outcome *out, tacit_error *error) {
    const dpnewton_scaling *by = &design->scaling;
    size_t d = design->width;
    double *w = state->mean, mean, variance, offset = 0, slope = 1, l = ridge(plan, state), length = 0;
    tacit_model *model = NULL;
    for (size_t j = 0; j < d; j++) w[j] /= state->counted;
    for (size_t j = 0; j < d; j++) length += w[j] * w[j];
    score_law(design, state, w, &mean, &variance);
    double along = alpha_at(design, state, w) * state->rows * state->shortening *
                   tacit_moments_product(state->scores, w, w, d);
    tacit_clipped_log_odds(&offset, &slope, mean, variance, l * length / fmax(along, l * length));
    TACIT_TRY(tacit_model_create(&model, &tacit_family_logistic, d, 2, error));
    for (size_t j = 0; j < d; j++) model->weights[j] = slope * w[j] * by->feature;
    if (by->encoded > 0) model->weights[d - 1] = slope * w[d - 1] * by->intercept + offset / by->encoded;
    out->parties = state->parties;
    return tacit_outcome_add(out, model, error);
}

static tacit_status coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    newton_state state = { .counted = 0 };
    dpnewton_design design;
    tacit_status status;
    TACIT_CHECK(dpnewton_describe(session->plan, &design, error));
    TACIT_CHECK(prepare(&state, design.width, error));
    TACIT_CHECK(ask_moments(session, &design, &state, error));
    for (size_t t = 1; t <= design.rounds; t++) {
        tacit_progress_report(session->progress, "steps", t - 1, design.rounds);
        TACIT_CHECK(one_round(session, &design, t, &state, error));
    }
    TACIT_CHECK(finish(session->plan, &design, &state, out, error));
cleanup:
    clear(&state);
    return status;
}

static const tacit_handler_entry handlers[] = { { .question = "moments", .answer = answer_moments },
                                                { .question = "gradient", .answer = answer_gradient },
                                                { .question = NULL } };

const tacit_method tacit_method_dpnewton = {
    .name = "dpnewton",
    .title = "logistic regression on all parties' rows by Newton steps with noise",
    .reference = "after Boehning & Lindsay 1988; docs/methods/dpnewton.md",
    .version = 1,
    .units = "record",
    .spreads = true,
    .needs_delta = true,
    .most_columns = DPNEWTON_MOST_COLUMNS,
    .fits_alone_by_party = true,
    TACIT_SETTINGS_OF(parameters, defaults),
    .shares_noise = by_shares,
    .leaves = "once, the second moments of the party's rows and their number; then, in every round, the sum "
              "of its rows' clipped gradients at weights that all parties know[noise=party: , each with the "
              "party's own noise added][noise=shares: , each with the party's share of the noise added], as "
              "contributions to sums",
    .seen_by =
        "[noise=coordinator,sees=sum: the coordinator sees the exact sums over all parties, and no single "
        "party's][noise=coordinator,sees=each: the coordinator sees each party's exact moments and "
        "gradients][noise=party,sees=sum: the coordinator sees the sums of all parties' noisy moments and "
        "gradients, and no single party's][noise=party,sees=each: the coordinator sees each party's noisy "
        "moments and gradients][noise=shares: the coordinator sees the sums over all parties, with the noise "
        "in them, and no single party's]. Everybody sees the weights after every step",
    .guarantee = "(epsilon, delta)-differential privacy of all rounds together, for replacing one row of a "
                 "party, towards everybody who sees all steps[noise=party|shares: , the coordinator "
                 "included][noise=coordinator: . There is no such guarantee towards the coordinator, which "
                 "sees exact values]",
    .assumption = "the number of a party's rows is no secret (rows of any length are shortened to the unit "
                  "ball)[noise=coordinator: ; the coordinator adds the noise, publishes only noisy results "
                  "and keeps the exact values to itself][noise=shares: ; secure summation, and that no more "
                  "parties vanish from a sum or collude than the study declares]",
    .theorem = "Gaussian noise on moments of L2 sensitivity sqrt(2) and on T clipped gradients of "
               "sensitivity 1, each with its share of mu^2, mu the largest Gaussian-DP parameter that "
               "(epsilon, delta) allows (Balle and Wang 2018); shares add up to 1, also when adaptive (Dong, "
               "Roth and Su 2022)[noise=shares: ; the noise in shares of discrete Gaussians on a grid so "
               "fine that their sum counts as one Gaussian]",
    .claim = "no paper's",
    .caveats =
        "two classes; at most 1,024 features; as many questions as rounds and one more: every party must "
        "stay connected. Residuals are clipped at one half: weights predict well, and are no odds ratios",
    .check = check,
    .price = price,
    .choose_lambda = dpnewton_lambda,
    .noise = noise_law,
    .release_kind = release_kind,
    .coordinate = coordinate,
    .handlers = handlers,
};
