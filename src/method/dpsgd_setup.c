/*
 * What follows from dpsgd's plan, above all its noise.
 *
 * Proof note. Adjacency: replace one row of one party.
 *
 * One step, a row that comes or goes. A party's rows take part independently, each with probability q (the draws are exact: a
 * 64-bit word below floor(q 2^64), so with no more than q, and less sampling only hides more). Its contribution is a sum over the
 * rows that do, in units of the clipping norm, of vectors that follow from one row each and are no longer than 1, added without
 * rounding (model/batch.h); then rounded to a double and to the grid of the sum, at most r = sqrt(d) (half a step of the grid +
 * 2^-33) in norm on either side. So a row that comes or goes in the sample moves what is noised by at most row_shift = 1 + 2r. How
 * many rows a party has, which it is asked once, is the same on both sides when a row is replaced.
 *
 * All steps. With Gaussian noise of standard deviation sigma row_shift a step is a Gaussian event of parameter sigma on a Poisson
 * sample, whose cost under replacement privacy/account_event.c proves; T of them, each asked in view of the answers before, compose.
 * sigma is the least for which T cost (epsilon, delta), by whatever accountant proves the least (tacit_noise_for). Parameters of every
 * step, and what is compressed of a noisy sum, are post-processing.
 *
 * Who adds it. noise=coordinator: on the sum. noise=party: each party on its own contribution; the sum over parties has more.
 * noise=shares: each party adds discrete Gaussian noise of scale s = sigma row_shift/sqrt(m) on the grid, m of the parties
 * that are in the sum being neither missing nor colluding (masked.h: the minimum, less a tenth). Let P be the law of the sum of m
 * such shares in all d numbers of all T steps, and Q that of rounded continuous Gaussian noise of scale S = sqrt(m) s. Values are on
 * the grid, so adding Q's noise is adding continuous noise and then rounding: post-processing of what was proved above. P is near
 * Q point by point. Per number, P differs from the discrete Gaussian of scale S by a factor within exp(+-tau), tau = 10 sum over k <
 * m of exp(-2 pi^2 s^2 k/(k+1)) (Kairouz, Liu and Steinke 2021, Theorem 9); and the discrete Gaussian from the probability of a
 * cell, for |k| <= 20 S, by a factor within exp(+-18/S^2): the cell's mean of exp(-x^2/(2 S^2)) over its value at the centre k is
 * exp(u) with -1/(8 S^2) <= u <= k^2/(24 S^4), and the sum of exp(-k^2/(2 S^2)) over all k is sqrt(2 pi) S but for a factor
 * of 1 + 3 exp(-2 pi^2 S^2). Beyond 20 S both have less than 1e-80. So with eta = T d (tau + 18/S^2) all that is seen under P is (epsilon' + 2
 * eta, e^eta delta' + 1e-70)-DP if under Q it is (epsilon', delta')-DP. S is millions of steps of the grid; the noise is
 * calibrated to epsilon' = (1 - 1e-6) epsilon, delta' = (1 - 1e-6) delta, and a plan in which 2 eta is more than 1e-6 epsilon, or
 * eta more than 5e-7, is refused. In the ledger a step is an event of slightly less noise than there is, by one part in 1e5, which costs
 * more than 2 eta.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/text.h"
#include "method/dpsgd.h"
#include "privacy/gaussian.h"
#include "privacy/shares.h"
#include "session/masked.h"

enum { MOST_STEPS = 1000000, BOUND_BITS = 21 }; /* half of the bound is room for noise */

#define SHARED_SPARE 1e-6 /* of epsilon and delta, for shares not being quite Gaussian */
#define SHARED_MORE 1e-5  /* of sigma, likewise */
#define PRICE_DELTA 1e-12 /* at which the noise of a step is described; any would do */

static tacit_status read_network(const tacit_plan *plan, dpsgd_setup *out, tacit_error *error) {
    const char *hidden = tacit_plan_text(plan, "hidden");
    tacit_activation activation = TACIT_ACTIVATION_TANH;
    for (int a = 0; a < TACIT_ACTIVATIONS; a++)
        if (tacit_plan_is(plan, "activation", tacit_activation_name(a))) activation = a;
    if (strcmp(hidden, "none") == 0) hidden = "";
    TACIT_TRY(tacit_network_parse(&out->network, hidden, activation, plan->features, plan->classes, error));
    out->size = tacit_network_size(&out->network);
    return TACIT_OK;
}

static tacit_status read_optimiser(const tacit_plan *plan, dpsgd_setup *out, tacit_error *error) {
    static const char *const schedules[] = { "constant", "linear", "cosine", "root" };
    double steps = ceil(tacit_plan_number(plan, "epochs") / out->sampling - 1e-9);
    if (!(steps <= MOST_STEPS))
        return tacit_fail(error, TACIT_USAGE,
                          "%g epochs at sampling %g are %g steps, and at most %d are made: sample more or "
                          "train less",
                          tacit_plan_number(plan, "epochs"), out->sampling, steps, (int)MOST_STEPS);
    out->optimiser = (tacit_optimiser){
        .rule = tacit_plan_is(plan, "optimiser", "adam") ? TACIT_RULE_ADAM : TACIT_RULE_SGD,
        .rate = tacit_plan_number(plan, "rate"),
        .momentum = tacit_plan_number(plan, "momentum"),
        .steps = steps < 1 ? 1 : (uint64_t)steps,
    };
    for (int s = TACIT_SCHEDULE_CONSTANT; s <= TACIT_SCHEDULE_ROOT; s++)
        if (tacit_plan_is(plan, "schedule", schedules[s])) out->optimiser.schedule = s;
    return TACIT_OK;
}

tacit_status dpsgd_class_weights(const tacit_plan *plan, double **out, tacit_error *error) {
    const char *text = tacit_plan_text(plan, "weights");
    *out = NULL;
    if (strcmp(text, "none") == 0) return TACIT_OK;
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
        "setting weights of method dpsgd is none, or %zu numbers above 0 with commas between, not "
        "'%s'",
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
    double *weight = NULL, scale = tacit_plan_number(plan, "scale");
    memset(out, 0, sizeof *out);
    out->clip = tacit_plan_number(plan, "clip");
    out->scale = scale > 0 ? scale : sqrt((double)plan->features);
    out->sampling = tacit_plan_number(plan, "sampling");
    out->keep = tacit_plan_number(plan, "keep");
    out->signs = tacit_plan_is(plan, "upload", "ternary");
    out->compressed = out->signs || out->keep < 1;
    out->patience = tacit_plan_number(plan, "patience");
    out->noise = tacit_plan_is(plan, "noise", "party")    ? DPSGD_BY_PARTY
                 : tacit_plan_is(plan, "noise", "shares") ? DPSGD_BY_SHARES
                                                          : DPSGD_BY_COORDINATOR;
    TACIT_TRY(read_network(plan, out, error));
    TACIT_TRY(read_optimiser(plan, out, error));
    TACIT_TRY(dpsgd_class_weights(plan, &weight, error));
    free(weight);
    return set_sum(plan, out, error);
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
    double spare = out->noise == DPSGD_BY_SHARES ? 1 - SHARED_SPARE : 1, epsilon = plan->epsilon * spare,
           spent;
    uint64_t steps = out->optimiser.steps;
    if (given == 0) {
        tacit_event event = event_of(out, 1, steps);
        return tacit_noise_for(&out->sigma, &event, TACIT_REPLACE, epsilon, plan->delta * spare, error);
    }
    out->sigma = given;
    TACIT_TRY(cost(&spent, out, given, steps, plan->delta * spare, error));
    if (tacit_amount_within(spent, epsilon)) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "the coordinator wants noise %g, with which %llu steps cost epsilon %g and not the "
                      "study's %g",
                      given, (unsigned long long)steps, spent, plan->epsilon);
}

/* A Gaussian mechanism whose scale is at least `sigma` times its sensitivity, as sessions and parties are told of noise. */
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
    double s = out->share_scale, all = s * sqrt((double)out->shares);
    double numbers = (double)out->optimiser.steps * (double)out->spec.length;
    double tau = 10 * (double)out->shares * exp(-9.8 * s * s); /* k/(k+1) >= 1/2 */
    double eta = numbers * (tau + 18 / (all * all));
    if (2 * eta <= SHARED_SPARE * plan->epsilon && eta <= SHARED_SPARE / 2) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "%g numbers in %llu steps are too many for shares of noise on this sum's grid: take "
                      "fewer steps or a smaller network",
                      (double)out->spec.length, (unsigned long long)out->optimiser.steps);
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
