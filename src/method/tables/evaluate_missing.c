/*
 * How many values are missing in each column, and how many rows were left out for it, beside what evaluate
 * counts with noise: part of the one vector, for a share of the budget (missing_counts). In evaluate-exact
 * exact counts are behind the others (missing_sum.h).
 *
 * Proof note. The vector is (W c, v m) in steps of the sum's grid, c what is tallied and m the D counts of
 *   missing_counts.c. A replaced row moves W c by at most S, the sensitivity of evaluate.c in steps, and that
 *   holds too where it was left out before or is now, since then it adds nothing on that side; and m by
 *   at most sqrt(D) in L2 and D in L1 norm. Together sqrt(S^2 + v^2 D), and S + v D. The noise is calibrated
 *   to that, the same in every step. v is the whole number that gives m about its share a: of the square,
 *   v^2 D/(S^2 + v^2 D), or of epsilon, v D/(S + v D). W = 2^10 steps a row of classes, so that v need not be
 *   0; a number has its 2^16. All of it is public.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/number.h"
#include "method/tables/evaluate.h"

enum { FINER = 10 }; /* bits of the grid */

tacit_counted evaluate_counts_missing(const tacit_plan *plan) {
    if (evaluate_apart(plan) || !evaluate_is_noisy(plan)) return TACIT_COUNTED_NOT;
    if (!(evaluate_settings_of(plan)->missing_counts > 0)) return TACIT_COUNTED_NOT;
    if (plan->schema == NULL) return TACIT_COUNTED_PERHAPS;
    return missing_counts_of(plan, 0).length > 0 ? TACIT_COUNTED : TACIT_COUNTED_NOT;
}

/* Sites apart have no table of all together. */
tacit_counted evaluate_exact_counts_missing(const tacit_plan *plan) {
    if (evaluate_apart(plan)) return TACIT_COUNTED_NOT;
    return missing_sum_counted(plan, evaluate_settings_of(plan)->missing);
}

void evaluate_set_missing(evaluate_setup *out, const tacit_plan *plan) {
    const double share = evaluate_settings_of(plan)->missing_counts;
    out->counts = (missing_counts){ .length = 0 };
    out->steps = out->share = 0;
    out->exact = evaluate_is_noisy(plan) ? 0 : missing_sum_behind(plan);
    out->spec.length += out->exact;
    if (evaluate_counts_missing(plan) != TACIT_COUNTED) return;
    out->counts = missing_counts_of(plan, 0);
    if (plan->classes > 0) {
        out->spec.grid_bits += FINER;
        out->sensitivity = ldexp(out->sensitivity, FINER);
    }
    const double numbers = (double)out->counts.length, part = share / (1 - share) / numbers;
    const double steps = round(out->sensitivity * (out->gaussian ? sqrt(part) : part));
    out->steps = fmin(fmax(steps, 1), ldexp(1, out->spec.grid_bits)); /* no number is beyond the rows */
    const double before = out->sensitivity, added = out->steps * (out->gaussian ? sqrt(numbers) : numbers);
    /* the L1 norm of whole numbers is whole */
    out->sensitivity = out->gaussian ? hypot(before, added) * (1 + 1e-14) : before + added;
    out->share = out->gaussian ? pow(added / out->sensitivity, 2) : added / out->sensitivity;
    out->spec.length += out->counts.length;
}

tacit_status evaluate_count_missing(tacit_party *party, const evaluate_setup *how, double *out,
                                    tacit_error *error) {
    const double unit = ldexp(how->steps, -how->spec.grid_bits);
    if (how->exact > 0) return missing_sum_add_up(party, how->spec.bound, out, error);
    if (how->counts.length == 0) return TACIT_OK;
    TACIT_TRY(missing_counts_add_up(party, &how->counts, how->spec.bound, out, error));
    for (size_t j = 0; j < how->counts.length; j++) out[j] *= unit;
    return TACIT_OK;
}

tacit_status evaluate_report_missing(tacit_report *report, const tacit_plan *plan, const evaluate_setup *how,
                                     const double *sum, double noise, tacit_error *error) {
    const double unit = ldexp(how->steps, -how->spec.grid_bits);
    char text[120];
    if (how->exact > 0)
        return missing_sum_add_table(report, plan->schema, sum, (double)evaluate_settings_of(plan)->least,
                                     error);
    if (how->counts.length == 0) return TACIT_OK;
    double *values = TACIT_NEW(double, how->counts.length);
    if (values == NULL) return tacit_fail_memory(error);
    report->rows = round(report->rows); /* on the finer grid */
    for (size_t j = 0; j < how->counts.length; j++) values[j] = sum[j] / unit;
    tacit_format(text, sizeof text,
                 "for %.3g of the study's budget; counts below %d, with the noise in them, are not shown",
                 how->share, MISSING_COUNTS_THRESHOLD);
    tacit_status status = tacit_report_add_fact(report, "missing values", NAN, text, error);
    if (status == TACIT_OK)
        status = missing_counts_add_table(report, plan, &how->counts, values, noise / unit, error);
    free(values);
    return status;
}
