/*
 * dpgd's noise and budget: everything that follows from a plan. The proof is at the head of dpgd.c, and that
 * of a budget that adapts in dpgd_adaptive.c.
 */
#include <math.h>

#include "method/private/dpgd.h"
#include "privacy/account/gaussian.h"
#include "privacy/mechanism/integer.h"

enum { MOST_CHOSEN_ROUNDS = 1000 };

static const double RESERVE = 1e-9; /* of delta, with shares that count as Gaussian */
static const double HAIR = 1e-9;    /* more noise than needed where a budget adapts, for roundings */

tacit_counted dpgd_counts_missing(const tacit_plan *plan) {
    if (dpgd_hides_party(plan) || !(dpgd_settings_of(plan)->missing_counts > 0)) return TACIT_COUNTED_NOT;
    if (plan->schema == NULL) return TACIT_COUNTED_PERHAPS;
    return missing_counts_of(plan, 0).length > 0 ? TACIT_COUNTED : TACIT_COUNTED_NOT;
}

double dpgd_least_count(const tacit_plan *plan, size_t parties) {
    double rows = dpgd_hides_party(plan) || plan->minimum_rows == 0 ? 1 : (double)plan->minimum_rows;
    return rows * (double)parties;
}

/* What N is taken to be where rounds are chosen. */
static double expected_count(const tacit_plan *plan) {
    return dpgd_hides_party(plan) ? (double)plan->parties : tacit_plan_expected_rows(plan);
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
static tacit_status gaussian_shares(const tacit_plan *plan, const tacit_shared_noise *noise, double parts,
                                    double *scale, double *sigma, tacit_error *error) {
    const double more = 1e-4; /* of the noise, as in tacit_share_gaussian */
    double one = 0;
    *scale = 0;
    if (plan->delta < 1e-60) return TACIT_OK;
    TACIT_TRY(tacit_gaussian_sigma(&one, plan->epsilon, plan->delta * (1 - RESERVE), 1, error));
    const double least = one * sqrt(parts) * (1 + 1e-12);
    const double found = least * noise->sensitivity * (1 + more) / sqrt((double)noise->shares) * (1 + 1e-11);
    const bool drawn = found >= TACIT_SHARE_SCALE_LEAST && found <= TACIT_SHARE_SCALE_MOST;
    if (drawn && tacit_share_gaussian(sigma, noise, found) && *sigma >= fmax(least, 1e-3) && *sigma <= 1e6)
        *scale = found;
    return TACIT_OK;
}

/* Shares that buy the plan's price in all rounds, and what one of them costs, at its part of delta. */
static tacit_status set_shares(const tacit_plan *plan, dpgd_descent *out, tacit_error *error) {
    double scale = 0, rho = 0, sigma = 0, step = ldexp(1, -out->spec.grid_bits);
    out->shared = (tacit_shared_noise){ .law = TACIT_LAW_DISCRETE_GAUSSIAN,
                                        .sensitivity = out->each.sensitivity / step,
                                        .price = out->each.price,
                                        .shares = tacit_plan_noise_shares(plan),
                                        .length = out->spec.length,
                                        .runs = out->rounds };
    TACIT_TRY(gaussian_shares(plan, &out->shared, out->parts, &scale, &sigma, error));
    const bool gaussian = scale > 0;
    if (!gaussian && dpgd_adapts(plan))
        return tacit_fail(error, TACIT_USAGE,
                          "the budget cannot adapt with shares of so little noise: set schedule=even, or "
                          "choose a smaller epsilon");
    if (!gaussian && out->missing.counts.length > 0)
        return tacit_fail(error, TACIT_USAGE,
                          "missing values cannot be counted beside shares of so little noise: set "
                          "missing_counts=0, or choose a smaller epsilon");
    if (!gaussian) TACIT_TRY(fit_shares(plan, &out->shared, &scale, &rho, error));
    out->shared.scale = scale; /* found once, drawn from in every round */
    out->scale = scale * step * sqrt((double)plan->parties);
    out->event =
        tacit_event_replaced(gaussian ? tacit_event_gaussian(sigma, 1) : tacit_event_concentrated(rho, 1));
    if (!(out->parts > 1)) return TACIT_OK;
    tacit_price *each = &out->each.price;
    each->delta /= out->parts;
    TACIT_TRY(gaussian ? tacit_gaussian_epsilon(&each->epsilon, sigma, each->delta, error)
                       : cost_of(&each->epsilon, &out->event, each->delta, error));
    each->epsilon *= 1 + 1e-12;
    return TACIT_OK;
}

/* How the budget is dealt out to rounds and counts: in units, `units` of them or the first's for this round;
 * or evenly, in about a thousand runs or more where anything is counted. */
static void deal(const tacit_plan *plan, double units, dpgd_descent *out) {
    const double share = dpgd_settings_of(plan)->missing_counts, rounds = (double)out->rounds;
    const bool counted = dpgd_counts_missing(plan) == TACIT_COUNTED;
    double each = counted ? ceil(1000 / rounds) : 1, all = each * rounds, last = 0;
    out->missing = (dpnewton_counting){ .round = DPNEWTON_ANY_ROUND };
    if (dpgd_adapts(plan)) {
        each = units > 0 ? units : (double)dpgd_first_units(out->rounds);
        all = DPGD_UNITS;
    }
    if (counted) {
        last = fmax(1, round(share / (1 - share) * all));
        out->missing.counts = missing_counts_of(plan, 0);
        out->missing.release.runs = (uint64_t)last;
        out->missing.release.share = last / (all + last);
    }
    out->runs = (uint64_t)each;
    out->all_runs = (uint64_t)(all + last);
    out->parts = all / each + last / each;
}

/* The noise of the counts; and the event of a round, in runs. */
static tacit_status set_runs(const tacit_plan *plan, dpgd_descent *out, tacit_error *error) {
    const bool counted = out->missing.counts.length > 0;
    if (!counted && !dpgd_adapts(plan)) return TACIT_OK;
    out->event.parameter *= sqrt((double)out->runs) * (1 + 1e-13);
    out->event.count *= out->runs;
    if (dpgd_adapts(plan)) TACIT_TRY(tacit_event_check(&out->event, error));
    return counted ? dpnewton_set_counting(plan, &out->missing, error) : TACIT_OK;
}

/* Noise in a sum of all parties over the sensitivity, for all rounds together. */
static tacit_status relative_noise(const tacit_plan *plan, double *out, tacit_error *error) {
    double parties = (double)plan->parties;
    TACIT_TRY(tacit_gaussian_sigma(out, plan->epsilon, plan->delta, 1, error));
    if (dpgd_by_party(plan)) *out *= sqrt(parties);
    if (dpgd_by_shares(plan)) *out *= sqrt(parties / (double)tacit_plan_noise_shares(plan));
    return TACIT_OK;
}

static tacit_status set_noise(const tacit_plan *plan, double units, dpgd_descent *out, tacit_error *error) {
    double shift =
               2 * (gradient_norm(plan) + GRADIENT_ROUNDING + tacit_sum_rounding(&out->spec)) * (1 + 1e-12),
           sigma = 0, all = 0;
    const size_t set = dpgd_settings_of(plan)->rounds;
    bool noisy = isfinite(plan->epsilon);
    out->each = (tacit_mechanism){ TACIT_LAW_GAUSSIAN,
                                   shift,
                                   { dpgd_settings_of(plan)->unit, plan->epsilon, noisy ? plan->delta : 0 } };
    if (noisy) TACIT_TRY(relative_noise(plan, &all, error));
    double noise = out->step * shift * all / expected_count(plan);
    out->rounds = set > 0 ? set : choose_rounds(plan, out->step, noise);
    deal(plan, units, out);
    out->shared = (tacit_shared_noise){
        .law = TACIT_LAW_DISCRETE_GAUSSIAN, .price = out->each.price, .shares = 1, .length = out->spec.length
    };
    if (!noisy) return TACIT_OK;
    if (dpgd_by_shares(plan)) return set_shares(plan, out, error);
    TACIT_TRY(tacit_gaussian_sigma(&sigma, plan->epsilon, plan->delta, 1, error));
    if (dpgd_adapts(plan)) sigma *= 1 + HAIR;
    if (out->parts > 1 || dpgd_adapts(plan)) {
        out->each.price.delta = plan->delta / out->parts;
        TACIT_TRY(round_price(&out->each.price, sigma * sqrt(out->parts) * (1 + 1e-12), error));
    }
    TACIT_TRY(tacit_mechanism_scale(&out->scale, &out->each, error));
    return tacit_mechanism_event(&out->event, &out->each, error);
}

/* The weaker the signal against the noise, d/(N mu), the shorter weights must be; rounds that are few do the
 * rest. From the grid of docs/methods/dpgd.md. */
tacit_status dpgd_choose_lambda(const tacit_plan *plan, double *out, tacit_error *error) {
    static const double LEAST = 1e-6, MOST = 1e-2, SLOPE = 1e-3;
    double noise = 0;
    if (isfinite(plan->epsilon)) TACIT_TRY(relative_noise(plan, &noise, error));
    const double ratio = (double)gradient_size(plan) * noise / dpgd_least_count(plan, plan->parties);
    *out = fmin(MOST, fmax(LEAST, SLOPE * ratio * ratio));
    return TACIT_OK;
}

/* With noise inside, the sum's bound must hold it; the bound depends on the noise and the noise on the grid,
 * so the grid is fixed first without and then with it. */
static tacit_status describe(const tacit_plan *plan, dpgd_descent *out, tacit_error *error) {
    size_t size = gradient_size(plan), length = size + !dpgd_hides_party(plan);
    double bound =
        (dpgd_hides_party(plan) ? 1 : GRADIENT_MOST_ROWS) * (gradient_norm(plan) + GRADIENT_ROUNDING);
    *out = (dpgd_descent){ .size = size, .step = 1 / (gradient_curvature(plan) + plan->lambda) };
    TACIT_TRY(tacit_sum_spec_for(&out->spec, length, bound, plan->parties, error));
    TACIT_TRY(set_noise(plan, 0, out, error));
    if (!dpgd_by_party(plan) || isinf(plan->epsilon)) return TACIT_OK;
    double reach;
    TACIT_TRY(tacit_mechanism_reach(&reach, &out->each, length, error));
    TACIT_TRY(tacit_sum_spec_for(&out->spec, length, bound + 2 * reach, plan->parties, error));
    return set_noise(plan, 0, out, error);
}

tacit_status dpgd_prepare(const tacit_plan *plan, void *prepared, tacit_error *error) {
    TACIT_TRY(describe(plan, prepared, error));
    return set_runs(plan, prepared, error);
}

tacit_status dpgd_prepare_round(const tacit_plan *plan, double units, void *prepared, tacit_error *error) {
    dpgd_descent *out = prepared;
    TACIT_TRY(describe(plan, out, error));
    if (!(units >= (double)out->runs && units <= DPGD_UNITS))
        return tacit_fail(error, TACIT_REFUSED,
                          "a round of this study has from %llu to %d units of the budget, not %g",
                          (unsigned long long)out->runs, DPGD_UNITS, units);
    TACIT_TRY(set_noise(plan, units, out, error));
    return set_runs(plan, out, error);
}

/* Of each of all units: the event of no round has less noise. */
static tacit_status unit_noise(const tacit_plan *plan, const dpgd_descent *how, double *out,
                               tacit_error *error) {
    const double delta = dpgd_by_shares(plan) ? plan->delta * (1 - RESERVE) : plan->delta;
    TACIT_TRY(tacit_gaussian_sigma(out, plan->epsilon, delta, 1, error));
    *out *= sqrt((double)how->all_runs) * (dpgd_by_shares(plan) ? 1 : 1 + HAIR);
    return TACIT_OK;
}

tacit_status dpgd_price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                        tacit_error *error) {
    dpgd_descent how;
    TACIT_TRY(tacit_prepared_take(prepared, plan, &how, error));
    out->charged = out->claimed =
        (tacit_price){ how.each.price.unit, plan->epsilon, isfinite(plan->epsilon) ? plan->delta : 0 };
    out->event = how.event;
    if (out->event.count == 0) return TACIT_OK;
    out->event.count = how.all_runs;
    if (dpgd_adapts(plan)) TACIT_TRY(unit_noise(plan, &how, &out->event.parameter, error));
    if (how.missing.counts.length > 0)
        out->event.parameter = fmin(out->event.parameter, how.missing.release.event.parameter);
    return TACIT_OK;
}

/* The norm of the noise in the model, by the rule's quadratic. */
tacit_status dpgd_noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                            tacit_error *error) {
    static const char *const laws[2][2] = {
        { "Gaussian N(0, s^2), in every round",
          "discrete Gaussian in shares, together near N(0, s^2), in every round" },
        { "Gaussian N(0, s^2) in the first round and no more in later ones,",
          "discrete Gaussian in shares, together near N(0, s^2) in the first round and no more in later "
          "ones," }
    };
    dpgd_descent how;
    TACIT_TRY(tacit_prepared_take(prepared, plan, &how, error));
    double rounds = (double)how.rounds, radius = gradient_radius(plan);
    double noise = how.step * how.scale / sqrt(dpgd_adapts(plan) ? how.parts : rounds) /
                   dpgd_least_count(plan, plan->parties);
    if (dpgd_by_party(plan)) noise *= sqrt((double)plan->parties);
    double start = expected_error(plan, rounds, how.step, 0);
    *out = (tacit_noise_law){
        .law = laws[dpgd_adapts(plan)][dpgd_by_shares(plan)],
        .added_to = dpgd_by_party(plan) ? "each party's gradient" : "the sum of the parties' gradients",
        .dimension = how.size,
        .sensitivity = how.each.sensitivity,
        .scale = how.scale,
        .mean_norm = fmin(radius, sqrt(expected_error(plan, rounds, how.step, noise) - start)),
        .of_fewest = true,
    };
    return TACIT_OK;
}
