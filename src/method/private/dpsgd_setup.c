/*
 * What follows from dpsgd's plan, above all its noise.
 *
 * Proof note. Adjacency: replace one row of one party.
 *
 * One step, a row that comes or goes. A party's rows take part independently, each with probability q (the
 * draws are exact: a 64-bit word below floor(q 2^64), so with no more than q, and less sampling only hides
 * more). Its contribution is a sum over the rows that do, in units of the clipping norm, of vectors that
 * follow from one row each and are no longer than 1, added without rounding (model/clipped_batch.h); then
 * rounded to a double and to the grid of the sum, at most r = sqrt(d) (half a step of the grid + 2^-33) in
 * norm on either side. So a row that comes or goes in the sample moves what is noised by at most row_shift =
 * 1 + 2r. How many rows a party has, which it is asked once, is the same on both sides when a row is
 * replaced.
 *
 * All steps. With Gaussian noise of standard deviation sigma row_shift a step is a Gaussian event of
 * parameter sigma on a Poisson sample, whose cost under replacement privacy/account/account_event.c proves; T
 * of them, each asked in view of the answers before, compose. sigma is the least for which T cost (epsilon,
 * delta), by whatever accountant proves the least (tacit_noise_for). Parameters of every step, and what is
 * compressed of a noisy sum, are post-processing.
 *
 * Who adds it. noise=coordinator: on the sum. noise=party: each party on its own contribution; the sum over
 * parties has more.
 *
 * noise=shares: each party adds discrete Gaussian noise of scale s = (1 + k) sigma row_shift/sqrt(m) on the
 * grid, k = SHARED_MORE, m of the parties that are in the sum being neither missing nor colluding (masked.h).
 * Claim: for every a >= 0 the hockey-stick divergence H_a of a step, one row replaced, is at most that of the
 * event, a Gaussian of parameter sigma on a sample, plus 1e-110. So whatever is composed with such steps, an
 * account with the events in it is right except for SHARED_DELTA = 1e-80 of delta for the whole study, which
 * the study's own delta has room for.
 *
 * 1. Let P be the law of m shares in d numbers, and Q that of continuous Gaussian noise of scale S = sqrt(m)
 *    s (in steps of the grid), rounded. Values are on the grid, so adding Q's noise is adding continuous
 *    noise and then rounding: post-processing of what is priced in account_event.c. Per number, P is within a
 *    factor exp(+-tau) of the discrete Gaussian of scale S, tau = 10 sum over i < m of exp(-2 pi^2 s^2
 *    i/(i+1)) (Kairouz, Liu and Steinke 2021, Theorem 9). That is within exp(u) of the probability of the
 *    cell of j, |u| <= 1/(8 S^2) + j^2/(24 S^4), by the cell's mean of exp(-x^2/(2 S^2)) over its value at
 *    the center (the sum of exp(-j^2/(2 S^2)) over all j is sqrt(2 pi) S except for a factor of 1 + 3 exp(-2
 *    pi^2 S^2)). Of all d numbers together the sum of j^2 is below 1.03 S^2 (sqrt(d) + 40)^2, except for
 *    e^-800 < 1e-340 (Hsu, Kakade and Zhang 2012, Theorem 2.1; both laws are sub-Gaussian). With eta = d tau
 *    + (sqrt(d) + 40)^2/(5 S^2) hence, for every set E of sums and both data sets, whatever the samples: P(E)
 *    <= e^eta Q(E) + 1e-330 and the same with P and Q exchanged, so that H_a under P is at most e^eta H_b +
 *    (1 + a) 1e-330 under Q, b = a e^(-2 eta). For a > e^500, H_a is at most its value at e^500. So the last
 *    term is below 1e-111. More noise than (1 + k) sigma lowers H; let S be that much.
 * 2. Write H_a(v) for the pair of account_event.c at noise of parameter 1/sqrt(v), where P0 and Q0 are its
 *    two sides and L the loss. For 1 <= a, e^eta H_b <= H_a + 4 eta P0(L > log b): H is convex in a with
 *    slope -Q0(L > log a), and b Q0(L > log b) <= P0(L > log b).
 * 3. By the derivatives in account_event.c dH_a/dv = (q/(2 mu)) (X + a Y) phi(z) >= (q/(2 mu)) phi(z - mu),
 *    with mu = sqrt(v), phi the normal density, and z where the loss is log a (X phi(z) = phi(z - mu)). From
 *    S down to sigma v grows by at least 2k(1 - 2k)/sigma^2. So H_a at sigma is above H_a at S by k (1 - 2k)
 *    q mu times the least phi(z - mu) on the way, mu = 1/sigma.
 * 4. P0(L > log b) at S is at most Phi(-y), y = z_b - mu at S. On the way from there z - mu moves by no more
 *    than k (2 mu + z) + 2 eta/(mu q exp(-mu^2/2)), less than .0071 for mu <= 10 and z <= 50 under the
 *    condition below, which leaves phi at least .7 of what it was; beyond z = 50 there is less than 1e-340
 *    left. phi(y)/Phi(-y) is at least .79 for y >= 0; below, y >= -mu - 1e-4 since log b is at least -2 eta,
 *    and phi(y) >= .99 phi(mu). So 4 eta P0(L > log b) is no more than what step 3 gains if 6 eta <= k q mu
 *    phi(mu), and a plan in which it is more is refused (set_shares).
 * 5. a < 1: H_a of a pair is 1 - a + a H_(1/a) of the pair reversed; replacement is symmetric, and so is the
 *    event's pair.
 * 6. A step with H_a <= H_a(event) + 1e-110 is dominated by the event beside one that gives all away with
 *    probability 1e-87, since 1 - H_1 of the event is at least 2 Phi(-10) > 1e-23. At most 10^6 steps make
 *    1e-81 of that.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema/text.h"
#include "method/bounded_label.h"
#include "method/private/dpsgd.h"
#include "method/private/ternary_upload.h"
#include "privacy/account/gaussian.h"
#include "privacy/mechanism/shares.h"
#include "session/masked/masked.h"

enum { MOST_STEPS = 1000000, BOUND_BITS = 21 }; /* half of the bound is room for noise */

#define SHARED_MORE 1e-4   /* of sigma, for shares not being quite Gaussian */
#define SHARED_DELTA 1e-80 /* of all steps, likewise */
#define PRICE_DELTA 1e-12  /* at which the noise of a step is described; any would do */

_Static_assert(offsetof(dpsgd_settings, network) == 0, "the shared part of the table begins with the struct");

const dpsgd_settings dpsgd_defaults = {
    .network = { .hidden = "32", .activation = TACIT_ACTIVATION_TANH, .shape = "none" },
    .epochs = 10,
    .sampling = 0.05,
    .noise = DPSGD_BY_COORDINATOR,
    .optimiser = TACIT_RULE_SGD,
    .momentum = 0.9,
    .schedule = DPSGD_CHOSEN_SCHEDULE,
    .weights = "none",
    .keep = 1,
    .upload = DPSGD_FULL,
};

const tacit_parameter dpsgd_parameters[] = {
    TACIT_TEXT(network_settings, hidden, "hidden",
               "the hidden layers, with commas between: numbers of units (50,20), or with a shape "
               "conv:FILTERSxSIDE[/STRIDE], pool:SIDE[/STRIDE], gru:UNITS; none: a linear model"),
    TACIT_CHOICE(network_settings, activation, "activation", "tanh|sigmoid|relu", "of the hidden units"),
    TACIT_NUMBER(dpsgd_settings, epochs, "epochs", 1e-3, 1e5, "how often each row takes part, on average"),
    TACIT_NUMBER(dpsgd_settings, sampling, "sampling", 1e-6, 1,
                 "the probability with which a row takes part in a step; 1: all rows do"),
    TACIT_OPEN_NUMBER(dpsgd_settings, clip, "clip", 1e6, "the norm that a row's gradient is clipped to",
                      "1, for numbers and counts .25, without hidden layers chosen from public numbers"),
    TACIT_CHOICE(dpsgd_settings, noise, "noise", "coordinator|shares|party",
                 "who adds it: a coordinator entrusted with the sums; all parties together, in shares under "
                 "masks; or each party all of it (more noise, no trust)"),
    TACIT_CHOICE(dpsgd_settings, optimiser, "optimiser", "sgd|adam", "how the server steps"),
    TACIT_OPEN_NUMBER(dpsgd_settings, rate, "rate", 1e6, "of the steps",
                      ".5, for numbers and counts .1, without hidden layers chosen from public numbers"),
    TACIT_CHOICE(
        dpsgd_settings, schedule, "schedule", "constant|linear|cosine|root|chosen",
        "how the rate falls: not, to zero at the end on a line or half a cosine, or with the square root; "
        "chosen: constant, without hidden layers or for numbers and counts linear"),
    TACIT_NUMBER(dpsgd_settings, momentum, "momentum", 0, 0.9999, "of sgd, or the first decay of adam"),
    TACIT_OPEN_NUMBER(network_settings, scale, "scale", 1e6, "what rows are multiplied by before they enter",
                      "the root of their length"),
    TACIT_TEXT(dpsgd_settings, weights, "weights",
               "of the classes' losses, one number a class with commas between; none: all 1"),
    TACIT_NUMBER(dpsgd_settings, keep, "keep", 1e-6, 1,
                 "the share of numbers, the largest, that is kept of a noisy sum"),
    TACIT_CHOICE(dpsgd_settings, upload, "upload", "full|ternary",
                 "what is made of those: nothing, or their signs"),
    TACIT_OPEN_NUMBER(dpsgd_settings, patience, "patience", 1e6,
                      "steps without progress, about, after which training stops early", "never"),
    TACIT_LATER_TEXT(
        network_settings, shape, "shape", "none",
        "what a row is to conv, pool and gru: HEIGHTxWIDTH[xCHANNELS], or STEPSxNUMBERS; none: a list"),
    TACIT_SETTINGS_END,
};

tacit_status network_of_plan(tacit_network *out, const tacit_plan *plan, tacit_error *error) {
    const network_settings *settings = TACIT_SETTINGS(network_settings, plan);
    const char *hidden = strcmp(settings->hidden, "none") == 0 ? "" : settings->hidden;
    const char *shape = strcmp(settings->shape, "none") == 0 ? "" : settings->shape;
    TACIT_TRY(
        tacit_network_parse(out, hidden, shape, settings->activation, plan->features, plan->classes, error));
    if (plan->classes > 0 || plan->schema == NULL) return TACIT_OK;
    out->response = plan->schema->response;
    out->largest = bounded_shape(plan);
    return TACIT_OK;
}

double network_scale(const tacit_plan *plan) {
    const double scale = TACIT_SETTINGS(network_settings, plan)->scale;
    return scale > 0 ? scale : sqrt((double)plan->features);
}

/* What one release of the whole price would have for noise at a sensitivity of 1, all parties together. */
static tacit_status whole_noise(const tacit_plan *plan, double *out, tacit_error *error) {
    const double parties = (double)plan->parties;
    *out = 0;
    if (isinf(plan->epsilon)) return TACIT_OK;
    TACIT_TRY(tacit_gaussian_sigma(out, plan->epsilon, plan->delta, 1, error));
    if (dpsgd_settings_of(plan)->noise == DPSGD_BY_PARTY) *out *= sqrt(parties);
    if (dpsgd_settings_of(plan)->noise == DPSGD_BY_SHARES)
        *out *= sqrt(parties / (double)tacit_plan_noise_shares(plan));
    return TACIT_OK;
}

/* The same for a number or a count, in units of the largest, whose loss curves by about 1 at a score: from
 * the grid of docs/methods/dpsgd.md. A residual is usually a small part of the range of a number, so that
 * less than the loss allows is clipped at; those of counts spread with their means, and clipping them moves
 * the means. */
static void choose_numeric_steps(bool linear, double square, dpsgd_setup *out) {
    const double part = out->network.response == TACIT_RESPONSE_COUNT ? 0.5 : 0.125;
    out->clip = linear ? part * sqrt(square) : 0.25;
    out->optimiser.rate = linear ? 1 / square : 0.1;
}

/* What is left to be chosen. Without hidden layers a row's gradient is its residual times a vector of length
 * at most sqrt(1 + scale^2). Clipped at half of that, no residual below one half is, which keeps the chances
 * what they are (num/noisy/clipped_link.h); clipped at a fixed norm, they go to the commonest class. The loss
 * curves by at most a quarter of the square of that length, so that rates up to 8 over it are stable whatever
 * the columns; and they end at 0, or the noise of the last steps stays in the model. The more rows there are
 * for the price and the columns, by N mu/d, the further steps may go and the less need be clipped. */
static void choose_steps(const tacit_plan *plan, dpsgd_setup *out) {
    const dpsgd_settings *settings = dpsgd_settings_of(plan);
    const bool linear = out->network.layers == 1, numeric = out->network.response != TACIT_RESPONSE_CLASS;
    const double square = 1 + out->scale * out->scale;
    double noise, each = INFINITY;
    if (linear && whole_noise(plan, &noise, NULL) == TACIT_OK && noise > 0)
        each = tacit_plan_expected_rows(plan) / noise / (double)plan->features;
    const double clip = sqrt(square) / 2 * fmin(fmax(sqrt(each / 20), 1), 2),
                 rate = 4 / square * fmin(fmax(each / 50, 0.12), 2);
    out->clip = linear ? clip : 1;
    out->optimiser.rate = linear ? rate : 0.5;
    if (numeric) choose_numeric_steps(linear, square, out);
    if (settings->clip > 0) out->clip = settings->clip;
    if (settings->rate > 0) out->optimiser.rate = settings->rate;
    out->optimiser.schedule = linear || numeric ? TACIT_SCHEDULE_LINEAR : TACIT_SCHEDULE_CONSTANT;
    if (settings->schedule != DPSGD_CHOSEN_SCHEDULE)
        out->optimiser.schedule = (tacit_schedule)settings->schedule;
}

static tacit_status read_optimiser(const tacit_plan *plan, dpsgd_setup *out, tacit_error *error) {
    const dpsgd_settings *settings = dpsgd_settings_of(plan);
    double steps = ceil(settings->epochs / out->sampling - 1e-9);
    if (!(steps <= MOST_STEPS))
        return tacit_fail(
            error, TACIT_USAGE,
            "%g epochs at sampling %g are %g steps, and at most %d are made: sample more or train less",
            settings->epochs, out->sampling, steps, (int)MOST_STEPS);
    out->optimiser = (tacit_optimiser){
        .rule = settings->optimiser,
        .momentum = settings->momentum,
        .steps = steps < 1 ? 1 : (uint64_t)steps,
    };
    choose_steps(plan, out);
    return TACIT_OK;
}

tacit_status dpsgd_class_weights(const tacit_plan *plan, double **out, tacit_error *error) {
    const char *text = dpsgd_settings_of(plan)->weights;
    *out = NULL;
    if (strcmp(text, "none") == 0) return TACIT_OK;
    if (plan->classes == 0)
        return tacit_fail(error, TACIT_USAGE,
                          "setting weights of method dpsgd is one number a class, and the label has no "
                          "classes: leave it out");
    double *weight = TACIT_NEW(double, plan->classes);
    if (weight == NULL) return tacit_fail_memory(error);
    size_t count = 0;
    for (const char *at = text, *end; at != NULL && count <= plan->classes; count++, at = end) {
        end = strchr(at, ',');
        size_t length = end != NULL ? (size_t)(end - at) : strlen(at);
        double number = NAN;
        if (end != NULL) end++;
        if (count == plan->classes || !tacit_text_to_number(at, length, &number) ||
            !(number > 0 && number <= 1e6)) {
            count = 0;
            break;
        }
        weight[count] = number;
    }
    if (count == plan->classes) {
        *out = weight;
        return TACIT_OK;
    }
    free(weight);
    return tacit_fail(
        error, TACIT_USAGE,
        "setting weights of method dpsgd is none, or %zu numbers above 0 with commas between, not '%s'",
        plan->classes, text);
}

/* The grid does not depend on the noise: what passes the bound with it is moved to it. */
static tacit_status set_sum(const tacit_plan *plan, dpsgd_setup *out, tacit_error *error) {
    size_t length = out->size;
    TACIT_TRY(tacit_sum_spec_for(&out->spec, length, ldexp(1, BOUND_BITS), plan->parties, error));
    double rounding = tacit_sum_rounding(&out->spec) + sqrt((double)length) * 0x1p-33;
    out->row_shift = (1 + 2 * rounding) * (1 + 1e-12);
    return TACIT_OK;
}

tacit_status dpsgd_setup_read(const tacit_plan *plan, dpsgd_setup *out, tacit_error *error) {
    const dpsgd_settings *settings = dpsgd_settings_of(plan);
    double *weight = NULL;
    memset(out, 0, sizeof *out);
    out->scale = network_scale(plan);
    out->sampling = settings->sampling;
    out->keep = settings->keep;
    out->signs = settings->upload == DPSGD_TERNARY;
    out->compressed = out->signs || out->keep < 1;
    out->patience = settings->patience;
    out->noise = settings->noise;
    if (settings->clip > 0 && settings->clip < 1e-6)
        return tacit_fail(error, TACIT_USAGE,
                          "setting clip of method dpsgd is 0, to be chosen, or from 1e-6 to 1e6, not %g",
                          settings->clip);
    TACIT_TRY(bounded_check_label(plan, error));
    TACIT_TRY(network_of_plan(&out->network, plan, error));
    out->size = tacit_network_size(&out->network);
    TACIT_TRY(read_optimiser(plan, out, error));
    TACIT_TRY(dpsgd_class_weights(plan, &weight, error));
    free(weight);
    return set_sum(plan, out, error);
}

tacit_status dpsgd_settle(tacit_plan *plan, tacit_error *error) {
    dpsgd_setup setup;
    TACIT_TRY(dpsgd_setup_read(plan, &setup, error));
    const char *schedule = setup.optimiser.schedule == TACIT_SCHEDULE_LINEAR ? "linear" : "constant";
    TACIT_TRY(tacit_plan_settle_number(plan, "clip", setup.clip, error));
    TACIT_TRY(tacit_plan_settle_number(plan, "rate", setup.optimiser.rate, error));
    if (dpsgd_settings_of(plan)->schedule != DPSGD_CHOSEN_SCHEDULE) return TACIT_OK;
    return tacit_plan_set(plan, "schedule", schedule, error);
}

/* ---- noise ---- */

static tacit_event event_of(const dpsgd_setup *setup, double sigma, uint64_t count) {
    tacit_event event = tacit_event_gaussian(sigma, count);
    return setup->sampling < 1 ? tacit_event_sampled(event, setup->sampling) : event;
}

static tacit_status cost(double *epsilon, const dpsgd_setup *setup, double sigma, uint64_t count,
                         double delta, tacit_error *error) {
    tacit_event event = event_of(setup, sigma, count);
    tacit_accountant *accountant = NULL;
    tacit_spending spent = { .epsilon = INFINITY };
    tacit_status status;
    TACIT_CHECK(tacit_accountant_create(&accountant, TACIT_REPLACE, error));
    TACIT_CHECK(tacit_accountant_add(accountant, &event, error));
    TACIT_CHECK(tacit_accountant_epsilon(&spent, accountant, delta, error));
    *epsilon = spent.epsilon;
cleanup:
    tacit_accountant_free(accountant);
    return status;
}

static tacit_status find_sigma(const tacit_plan *plan, double given, dpsgd_setup *out, tacit_error *error) {
    double spare = out->noise == DPSGD_BY_SHARES ? 1 - 1e-12 : 1, epsilon = plan->epsilon, spent;
    uint64_t steps = out->optimiser.steps;
    if (plan->delta * (1 - spare) < SHARED_DELTA && spare < 1)
        return tacit_fail(
            error, TACIT_USAGE,
            "shares of noise are not quite Gaussian, and delta %g has no room for that: give 1e-60 or more",
            plan->delta);
    if (given == 0) {
        tacit_event event = event_of(out, 1, steps);
        return tacit_noise_for(&out->sigma, &event, TACIT_REPLACE, epsilon, plan->delta * spare, error);
    }
    out->sigma = given;
    TACIT_TRY(cost(&spent, out, given, steps, plan->delta * spare, error));
    if (tacit_amount_within(spent, epsilon)) return TACIT_OK;
    return tacit_fail(
        error, TACIT_REFUSED,
        "the coordinator wants noise %g, with which %llu steps cost epsilon %g and not the study's %g", given,
        (unsigned long long)steps, spent, plan->epsilon);
}

/* A Gaussian mechanism whose scale is at least `sigma` times its sensitivity, as sessions and parties are
 * told of noise. */
static tacit_status describe_gaussian(dpsgd_setup *out, double sigma, tacit_error *error) {
    out->gaussian =
        (tacit_mechanism){ TACIT_LAW_GAUSSIAN, out->row_shift, { TACIT_UNIT_RECORD, 0, PRICE_DELTA } };
    for (double more = 1e-10; more < 1e-3; more *= 10) {
        TACIT_TRY(
            tacit_gaussian_epsilon(&out->gaussian.price.epsilon, sigma * (1 + more), PRICE_DELTA, error));
        TACIT_TRY(tacit_mechanism_scale(&out->noise_scale, &out->gaussian, error));
        if (out->noise_scale >= sigma * out->row_shift) return TACIT_OK;
    }
    return tacit_fail(error, TACIT_INTERNAL, "no price found for a step with noise %g", sigma);
}

/* Of the parties in an opened sum, those whose shares count: see the proof note. */
static tacit_status set_shares(const tacit_plan *plan, dpsgd_setup *out, tacit_error *error) {
    out->shares = tacit_plan_noise_shares(plan);
    if (out->shares == 0)
        return tacit_fail(
            error, TACIT_USAGE,
            "sums open over %zu of %zu parties, of which %zu may collude: declare fewer of either",
            tacit_plan_survivors(plan), plan->parties, tacit_plan_colluders(plan));
    out->share_scale = ldexp(out->noise_scale, out->spec.grid_bits) / sqrt((double)out->shares) * (1 + 1e-12);
    double s = out->share_scale, all = s * sqrt((double)out->shares), mu = 1 / out->sigma;
    double tau = 10 * (double)out->shares * exp(-9.8 * s * s); /* i/(i+1) >= 1/2 */
    double root = sqrt((double)out->spec.length), eta = root * root * tau + pow((root + 40) / all, 2) / 5;
    double density = exp(-mu * mu / 2) / sqrt(2 * M_PI);
    if (mu <= 10 && 6 * eta <= SHARED_MORE * (1 - 1e-9) * out->sampling * mu * density) return TACIT_OK;
    return tacit_fail(
        error, TACIT_USAGE,
        "%g numbers with noise of %g clipping norms in samples of %g of the rows cannot be shared on this "
        "sum's grid: take a smaller network, a smaller epsilon or larger samples",
        (double)out->spec.length, out->sigma, out->sampling);
}

tacit_status dpsgd_setup_make(const tacit_plan *plan, double sigma, dpsgd_setup *out, tacit_error *error) {
    TACIT_TRY(dpsgd_setup_read(plan, out, error));
    out->price = (tacit_price){ TACIT_UNIT_RECORD, plan->epsilon, 0 };
    out->gaussian = (tacit_mechanism){ TACIT_LAW_GAUSSIAN, out->row_shift, out->price };
    if (isinf(plan->epsilon)) return TACIT_OK;
    TACIT_TRY(find_sigma(plan, sigma, out, error));
    bool shared = out->noise == DPSGD_BY_SHARES;
    TACIT_TRY(describe_gaussian(out, out->sigma * (shared ? 1 + SHARED_MORE : 1), error));
    if (shared) TACIT_TRY(set_shares(plan, out, error));
    out->event = event_of(out, out->sigma, 1);
    out->price.delta = plan->delta / (double)out->optimiser.steps;
    double once;
    TACIT_TRY(cost(&once, out, out->sigma, 1, out->price.delta, error));
    out->price.epsilon = fmax(once, 1e-9) * (1 + 1e-9);
    return TACIT_OK;
}

/* ---- lambda ---- */

/* 2 sqrt(d)/(N mu), mu = 1/AG(epsilon, delta; 1), N rows of which each party has its least; the grid that it
 * was chosen on is in docs/methods/dpsgd.md. Noise in all steps leaves weights about as far off as one
 * release of the whole price would, whatever is sampled; without a penalty nothing pulls them back where rows
 * are few. */
tacit_status dpsgd_lambda(const tacit_plan *plan, double *out, tacit_error *error) {
    static const double SLOPE = 2, MOST = 0.3;
    tacit_network network;
    double noise = 0;
    *out = 0;
    TACIT_TRY(network_of_plan(&network, plan, error));
    if (network.layers > 1 || isinf(plan->epsilon)) return TACIT_OK;
    TACIT_TRY(whole_noise(plan, &noise, error));
    *out = fmin(MOST, SLOPE * sqrt((double)plan->features) * noise / tacit_plan_expected_rows(plan));
    return TACIT_OK;
}

/* ---- compressed answers ---- */

bool dpsgd_answers_small(const tacit_plan *plan) {
    const dpsgd_settings *settings = dpsgd_settings_of(plan);
    return settings->noise == DPSGD_BY_PARTY && (settings->upload == DPSGD_TERNARY || settings->keep < 1);
}

tacit_status dpsgd_small_read(const dpsgd_setup *setup, const tacit_message *answer, int8_t *signs,
                              const double **sizes, tacit_error *error) {
    size_t kept = ternary_kept(setup->size, setup->keep), length;
    const uint8_t *packed;
    TACIT_TRY(tacit_message_bytes(answer, "signs", &packed, &length, error));
    TACIT_TRY(tacit_message_numbers(answer, "sizes", setup->signs ? 1 : kept, sizes, error));
    for (size_t j = 0; j < (setup->signs ? 1 : kept); j++)
        if (!((*sizes)[j] >= 0 && (*sizes)[j] <= setup->spec.bound))
            return tacit_fail(error, TACIT_PROTOCOL, "size %zu is %g, and sizes are 0 to %g", j + 1,
                              (*sizes)[j], setup->spec.bound);
    return ternary_unpack(signs, setup->size, kept, packed, length, error);
}

size_t dpsgd_small_numbers(const tacit_plan *plan) {
    dpsgd_setup setup;
    return dpsgd_setup_read(plan, &setup, NULL) == TACIT_OK ? 2 * setup.size : 0;
}

tacit_status dpsgd_small_usable(const tacit_plan *plan, const tacit_message *answer, tacit_error *error) {
    dpsgd_setup setup;
    const double *sizes;
    TACIT_TRY(dpsgd_setup_read(plan, &setup, error));
    int8_t *signs = TACIT_NEW(int8_t, setup.size);
    tacit_status status =
        signs != NULL ? dpsgd_small_read(&setup, answer, signs, &sizes, error) : tacit_fail_memory(error);
    free(signs);
    return status;
}
