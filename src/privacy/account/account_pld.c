/* The PLD accountant: both directions, composed; epsilon at delta and delta at epsilon. */
#include <math.h>

#include "base/memory.h"
#include "privacy/account/account_pld_parts.h"

/*
 * Proof note. With a dominating pair for each event and direction (account_event.c), discretised
 * pessimistically (account_losses.c) and composed with errors bounded (account_compose.c), delta under
 * add/remove is the larger of the two directions' (Zhu, Dong and Wang 2022). Under replacement it is the
 * smaller of
 *   - the composition of the pairs EITHER;
 *   - group privacy on the add/remove curves: replace = remove, then add.
 * Pure, Laplace and approximate events are also (e_i, d_i)-DP each, hence (sum e_i, 1 - prod (1 - d_i))-DP
 * together (Kairouz, Oh and Viswanath 2015); epsilon is at most that sum when delta allows for the rest.
 */

/* sum e_i and log prod (1 - d_i); infinity when there are Gaussians. */
static double summed_epsilon(const tacit_steps *steps, double *log_keep) {
    double sum = 0;
    *log_keep = 0;
    for (size_t i = 0; i < steps->count; i++) {
        double e, d, runs = (double)steps->items[i].count;
        if (!tacit_step_pure(&steps->items[i], &e, &d)) {
            sum = INFINITY;
            continue;
        }
        *log_keep += runs * log1p(-fmin(d, 1));
        sum += runs * e * (1 + 1e-14);
    }
    *log_keep *= 1 + 1e-12;
    return sum;
}

static size_t directions_of(tacit_direction out[2], const tacit_steps *steps) {
    bool sampled = false;
    for (size_t i = 0; i < steps->count; i++) {
        if (steps->items[i].either) {
            out[0] = TACIT_EITHER;
            return 1;
        }
        sampled = sampled || steps->items[i].sampling < 1;
    }
    out[0] = TACIT_REMOVED;
    out[1] = TACIT_ADDED;
    return sampled ? 2 : 1; /* without sampling the pairs are symmetric */
}

static double composed_curve(const void *context, double epsilon) {
    return tacit_composed_delta(context, epsilon);
}

/* Epsilon under one plan; infinity when none is found. */
static tacit_status planned_epsilon(double *out, const tacit_steps *steps, tacit_direction direction,
                                    const tacit_pld_plan *plan, double delta, tacit_error *error) {
    tacit_composed *composed = NULL;
    TACIT_TRY(tacit_compose(&composed, steps, direction, plan, error));
    double high = fmax(plan->epsilon, 1e-6) * (1 + 1e-6), result = INFINITY;
    for (int i = 0; i < 40 && tacit_composed_delta(composed, high) > delta; i++)
        high += ldexp(1 / plan->tilt, i - 3) + 1e-3 * high;
    if (tacit_composed_delta(composed, high) <= delta)
        result = tacit_solve_epsilon(composed_curve, composed, delta, high);
    tacit_composed_free(composed);
    *out = result;
    return TACIT_OK;
}

/* In ADDED a sampled run's loss is at most -log(1 - q), whatever the mechanism; rounded up. Infinity without
 * sampling. */
static double added_most(const tacit_steps *steps) {
    double sum = 0;
    for (size_t i = 0; i < steps->count; i++)
        sum -= (double)steps->items[i].count * log1p(-steps->items[i].sampling);
    return sum * (1 + 1e-12);
}

/* Epsilon of one direction. Where Chernoff's epsilon, which the first plan is made for, is far off, or its
 * tilt was stopped, a second plan is made; both results hold. */
static tacit_status direction_epsilon(double *out, const tacit_steps *steps, tacit_direction direction,
                                      double delta, tacit_error *error) {
    tacit_pld_plan plan;
    double epsilon = INFINITY, again = INFINITY;
    TACIT_TRY(tacit_pld_plan_make(&plan, steps, direction, delta, 0, false, error));
    TACIT_TRY(planned_epsilon(&epsilon, steps, direction, &plan, delta, error));
    bool off = epsilon > 0 && epsilon < 0.5 * plan.epsilon;
    if (off || plan.stopped) {
        TACIT_TRY(
            tacit_pld_plan_make(&plan, steps, direction, off ? 0 : delta, off ? epsilon : 0, !off, error));
        TACIT_TRY(planned_epsilon(&again, steps, direction, &plan, delta, error));
    }
    epsilon = fmin(epsilon, again);
    *out = direction == TACIT_ADDED ? fmin(epsilon, added_most(steps)) : epsilon;
    return TACIT_OK;
}

/* Delta under one plan, and the part of it that is infinite loss. */
static tacit_status planned_delta(double *out, double *infinite, const tacit_steps *steps,
                                  tacit_direction direction, const tacit_pld_plan *plan, double epsilon,
                                  tacit_error *error) {
    tacit_composed *composed = NULL;
    TACIT_TRY(tacit_compose(&composed, steps, direction, plan, error));
    *out = tacit_composed_delta(composed, epsilon);
    *infinite = tacit_composed_infinite(composed);
    tacit_composed_free(composed);
    return TACIT_OK;
}

/* Delta of one direction, the smallest over a few plans, all of which hold: one more when the tilt was
 * stopped, and more while most of delta is what the plan, expecting a larger delta, has cut off. */
static tacit_status direction_delta(double *out, const tacit_steps *steps, tacit_direction direction,
                                    double epsilon, tacit_error *error) {
    tacit_pld_plan plan;
    double best = 1, infinite = 0, again = 1;
    if (direction == TACIT_ADDED && epsilon >= added_most(steps)) {
        *out = 0;
        return TACIT_OK;
    }
    TACIT_TRY(tacit_pld_plan_make(&plan, steps, direction, 0, epsilon, false, error));
    TACIT_TRY(planned_delta(&best, &infinite, steps, direction, &plan, epsilon, error));
    if (plan.stopped) {
        TACIT_TRY(tacit_pld_plan_make(&plan, steps, direction, 0, epsilon, true, error));
        TACIT_TRY(planned_delta(&again, &infinite, steps, direction, &plan, epsilon, error));
        best = fmin(best, again);
    }
    for (int i = 0; i < 8 && infinite > 1e-3 * best && best > 1e-270; i++) {
        double expected = fmax(best * 1e-10, 1e-280);
        TACIT_TRY(tacit_pld_plan_make(&plan, steps, direction, expected, 0, false, error));
        TACIT_TRY(planned_delta(&again, &infinite, steps, direction, &plan, epsilon, error));
        if (!(again < 0.5 * best)) break;
        best = again;
    }
    *out = fmin(best, again);
    return TACIT_OK;
}

static tacit_status pairs_epsilon(double *out, const tacit_accountant *accountant, tacit_adjacency adjacency,
                                  double delta, tacit_error *error) {
    tacit_steps steps;
    tacit_direction directions[2];
    tacit_status status = TACIT_OK;
    TACIT_TRY(tacit_steps_make(&steps, accountant, adjacency, error));
    double worst = 0, log_keep, cap = summed_epsilon(&steps, &log_keep);
    double spent = -expm1(log_keep); /* this much of the loss is infinite */
    size_t count = spent * (1 - 1e-9) > delta ? 0 : directions_of(directions, &steps);
    if (count == 0) worst = INFINITY;
    for (size_t i = 0; i < count; i++) {
        double one = INFINITY;
        TACIT_CHECK(direction_epsilon(&one, &steps, directions[i], delta, error));
        worst = fmax(worst, one);
    }
    if (spent * (1 + 1e-12) <= delta) worst = fmin(worst, cap);
    *out = worst;
cleanup:
    free(steps.items);
    return status;
}

static tacit_status pairs_delta(double *out, const tacit_accountant *accountant, tacit_adjacency adjacency,
                                double epsilon, tacit_error *error) {
    tacit_steps steps;
    tacit_direction directions[2];
    tacit_status status = TACIT_OK;
    TACIT_TRY(tacit_steps_make(&steps, accountant, adjacency, error));
    double worst = 0, log_keep, cap = summed_epsilon(&steps, &log_keep);
    size_t count = directions_of(directions, &steps);
    if (epsilon >= cap) {
        worst = -expm1(log_keep) * (1 + 1e-12);
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        double one;
        TACIT_CHECK(direction_delta(&one, &steps, directions[i], epsilon, error));
        worst = fmax(worst, one);
    }
    *out = fmin(1, worst);
cleanup:
    free(steps.items);
    return status;
}

/* Whether group privacy is worth trying: sampled events, none of which speaks of a replaced row. The pair of
 * sampled Gaussians is attained, so that it cannot be worth it for these. */
static bool can_group(const tacit_accountant *accountant) {
    if (accountant->adjacency != TACIT_REPLACE || tacit_accountant_replaces(accountant)) return false;
    for (size_t i = 0; i < accountant->count; i++)
        if (accountant->events[i].sampling < 1 && accountant->events[i].kind != TACIT_EVENT_GAUSSIAN)
            return true;
    return false;
}

/*
 * Proof note: group privacy with the two directions apart. Going from D to D' by way of a third data set,
 * first by one direction at (e1, d1), then by the other at (e2, d2), gives (e1 + e2, d1 + e^e1 d2): M(D) <=
 * e^e1 M(D'') + d1 and M(D'') <= e^e2 M(D') + d2. Either order will do. Any share d1 < delta is sound; the
 * one taken makes d1 and d2 about equal.
 */
static tacit_status group_in_order(double *out, const tacit_steps *steps, tacit_direction first,
                                   tacit_direction second, double delta, tacit_error *error) {
    double e1 = INFINITY, e2 = INFINITY;
    TACIT_TRY(direction_epsilon(&e1, steps, first, delta / 2, error));
    double share = delta / (1 + exp(e1));
    if (!(share > 1e-290)) return TACIT_OK;
    TACIT_TRY(direction_epsilon(&e1, steps, first, share, error));
    share = (delta - share) * exp(-e1) * (1 - 1e-12);
    if (!(share > 1e-290)) return TACIT_OK;
    TACIT_TRY(direction_epsilon(&e2, steps, second, share, error));
    *out = fmin(*out, tacit_add_up(e1, e2));
    return TACIT_OK;
}

/* *out becomes the smaller of itself and the group route's epsilon. */
static tacit_status group_epsilon(double *out, const tacit_accountant *accountant, double delta,
                                  tacit_error *error) {
    tacit_steps steps;
    tacit_status status = TACIT_OK;
    TACIT_TRY(tacit_steps_make(&steps, accountant, TACIT_ADD_OR_REMOVE, error));
    TACIT_CHECK(group_in_order(out, &steps, TACIT_REMOVED, TACIT_ADDED, delta, error));
    TACIT_CHECK(group_in_order(out, &steps, TACIT_ADDED, TACIT_REMOVED, delta, error));
cleanup:
    free(steps.items);
    return status;
}

/* Delta by the group route, with epsilon halved. */
static tacit_status group_delta(double *out, const tacit_accountant *accountant, double epsilon,
                                tacit_error *error) {
    tacit_steps steps;
    double removed = 1, added = 1;
    tacit_status status = TACIT_OK;
    TACIT_TRY(tacit_steps_make(&steps, accountant, TACIT_ADD_OR_REMOVE, error));
    TACIT_CHECK(direction_delta(&removed, &steps, TACIT_REMOVED, epsilon / 2, error));
    TACIT_CHECK(direction_delta(&added, &steps, TACIT_ADDED, epsilon / 2, error));
    *out = tacit_group_delta(fmax(removed, added), fmin(removed, added), epsilon);
cleanup:
    free(steps.items);
    return status;
}

tacit_status tacit_pld_epsilon(double *out, const tacit_accountant *accountant, double delta,
                               tacit_error *error) {
    double epsilon;
    TACIT_TRY(tacit_accountant_refuse_concentrated(accountant, error));
    if (delta == 0) {
        tacit_steps steps;
        TACIT_TRY(tacit_steps_make(&steps, accountant, accountant->adjacency, error));
        double log_keep, cap = summed_epsilon(&steps, &log_keep);
        free(steps.items);
        *out = log_keep == 0 ? cap : INFINITY;
        return TACIT_OK;
    }
    TACIT_TRY(pairs_epsilon(&epsilon, accountant, accountant->adjacency, delta, error));
    if (can_group(accountant)) TACIT_TRY(group_epsilon(&epsilon, accountant, delta, error));
    *out = epsilon;
    return TACIT_OK;
}

tacit_status tacit_pld_delta(double *out, const tacit_accountant *accountant, double epsilon,
                             tacit_error *error) {
    double delta, group = 1;
    TACIT_TRY(tacit_accountant_refuse_concentrated(accountant, error));
    TACIT_TRY(pairs_delta(&delta, accountant, accountant->adjacency, epsilon, error));
    if (can_group(accountant)) TACIT_TRY(group_delta(&group, accountant, epsilon, error));
    *out = fmin(delta, group);
    return TACIT_OK;
}
