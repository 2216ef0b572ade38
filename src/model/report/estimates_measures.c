/* What follows from a table of estimates alone: measures of fit, and tests between two nested tables. */
#include <math.h>
#include <string.h>

#include "model/report/estimates.h"
#include "num/special.h"

const char *tacit_estimates_ratio(const tacit_estimates *estimates) {
    const tacit_family *family = tacit_family_find(estimates->family);
    return family != NULL ? family->ratio : NULL;
}

/* The likelihood of the model without columns follows from the two deviances; of a normal response whose
 * dispersion is estimated in each, from its own alone. */
tacit_fit_measures tacit_estimates_measure(const tacit_estimates *at) {
    const double parameters = (double)at->count + at->party_intercepts + at->student;
    tacit_fit_measures out = { parameters, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
    double n = at->rows, slopes = (double)(at->count - tacit_estimates_intercepts(at));
    if (isnan(at->deviance) || isnan(at->aic)) return out;
    out.log_likelihood = out.parameters - at->aic / 2;
    out.bic = at->aic + (log(n) - 2) * out.parameters;
    if (tacit_estimates_intercepts(at) == 0 || slopes == 0) return out;
    double gained = at->null_deviance - at->deviance;
    out.above = slopes;
    if (at->student) {
        double degrees = tacit_estimates_degrees(at);
        out.r_squared = gained / at->null_deviance;
        out.adjusted = 1 - (1 - out.r_squared) * (n - 1) / degrees;
        out.statistic = gained / slopes / at->dispersion;
        out.below = degrees;
        out.p = tacit_fisher_tail(out.statistic, slopes, degrees);
        return out;
    }
    double without = out.log_likelihood - gained / 2;
    out.mcfadden = 1 - out.log_likelihood / without;
    out.cox_snell = -expm1(-gained / n);
    out.nagelkerke = out.cox_snell / -expm1(2 * without / n);
    out.statistic = gained;
    out.below = 0;
    out.p = tacit_chi_square_tail(gained, slopes);
    return out;
}

static bool has(const tacit_estimates *table, const char *name) {
    for (size_t k = 0; k < table->count; k++)
        if (strcmp(table->coefficient[k].name, name) == 0) return true;
    return false;
}

static tacit_status check_pair(const tacit_estimates *small, const tacit_estimates *large,
                               tacit_error *error) {
    if (strcmp(small->family, large->family) != 0 || strcmp(small->response, large->response) != 0)
        return tacit_fail(error, TACIT_USAGE,
                          "the models are of different responses or families: %s (%s) and %s (%s)",
                          small->response, small->family, large->response, large->family);
    if (small->noisy || large->noisy)
        return tacit_fail(error, TACIT_USAGE, "estimates with privacy noise have no likelihood to compare");
    if (isnan(small->deviance) || isnan(large->deviance))
        return tacit_fail(error, TACIT_USAGE, "the loss of family %s is no likelihood", small->family);
    if (small->party_intercepts != large->party_intercepts)
        return tacit_fail(error, TACIT_USAGE,
                          "parties have intercepts of their own in one of the models only");
    double scale = fabs(small->null_deviance) + fabs(large->null_deviance);
    if (small->rows != large->rows || fabs(small->null_deviance - large->null_deviance) > 1e-9 * scale)
        return tacit_fail(
            error, TACIT_USAGE,
            "the models are of different rows: %.0f and %.0f rows, null deviances %.7g and %.7g", small->rows,
            large->rows, small->null_deviance, large->null_deviance);
    if (small->count >= large->count)
        return tacit_fail(error, TACIT_USAGE,
                          "the models have equally many coefficients: neither is a part of "
                          "the other");
    for (size_t k = 0; k < small->count; k++)
        if (!has(large, small->coefficient[k].name))
            return tacit_fail(error, TACIT_USAGE,
                              "the models are not nested: '%s' is only in the one with fewer coefficients",
                              small->coefficient[k].name);
    return TACIT_OK;
}

tacit_status tacit_estimates_compare(tacit_comparison *out, const tacit_estimates *first,
                                     const tacit_estimates *second, tacit_error *error) {
    bool swapped = second->count < first->count;
    const tacit_estimates *small = swapped ? second : first, *large = swapped ? first : second;
    TACIT_TRY(check_pair(small, large, error));
    tacit_comparison made = { .swapped = swapped,
                              .degrees = (double)(large->count - small->count),
                              .deviance = small->deviance - large->deviance };
    if (large->student) {
        made.below = tacit_estimates_degrees(large);
        made.statistic = made.deviance / made.degrees / large->dispersion;
        made.p = tacit_fisher_tail(made.statistic, made.degrees, made.below);
    } else {
        made.statistic = made.deviance;
        made.p = tacit_chi_square_tail(made.statistic, made.degrees);
    }
    *out = made;
    return TACIT_OK;
}
