/* What follows from a table of estimates, as documents. */
#include <math.h>

#include "api/document/results.h"

static json_t *ratio_document(const tacit_coefficient *one) {
    return json_pack("{s:s,s:o,s:o,s:o}", "name", one->name, "ratio", tacit_json_number(exp(one->estimate)),
                     "low", tacit_json_number(exp(one->low)), "high", tacit_json_number(exp(one->high)));
}

json_t *tacit_ratios_document(const tacit_estimates *estimates) {
    const char *what = tacit_estimates_ratio(estimates);
    if (what == NULL || estimates->needs_rows > 0) return json_null();
    json_t *list = json_array();
    for (size_t k = 0; k < estimates->count; k++)
        if (!estimates->coefficient[k].intercept)
            list = tacit_json_append(list, ratio_document(&estimates->coefficient[k]));
    return json_pack("{s:s,s:o}", "kind", what, "coefficients", list);
}

json_t *tacit_measures_document(const tacit_estimates *estimates) {
    tacit_fit_measures at = tacit_estimates_measure(estimates);
    return json_pack(
        "{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "parameters", tacit_json_number(at.parameters),
        "log_likelihood", tacit_json_number(at.log_likelihood), "bic", tacit_json_number(at.bic), "r_squared",
        tacit_json_number(at.r_squared), "adjusted_r_squared", tacit_json_number(at.adjusted), "mcfadden",
        tacit_json_number(at.mcfadden), "cox_snell", tacit_json_number(at.cox_snell), "nagelkerke",
        tacit_json_number(at.nagelkerke), "statistic", tacit_json_number(at.statistic), "degrees_above",
        tacit_json_number(at.above), "degrees_below", tacit_json_number(at.below > 0 ? at.below : NAN), "p",
        tacit_json_number(at.p));
}

static json_t *side_document(const tacit_estimates *table) {
    return json_pack("{s:I,s:o,s:o,s:o}", "coefficients", (json_int_t)table->count, "degrees",
                     tacit_json_number(tacit_estimates_degrees(table)), "deviance",
                     tacit_json_number(table->deviance), "aic", tacit_json_number(table->aic));
}

json_t *tacit_comparison_document(const tacit_comparison *made, const tacit_estimates *first,
                                  const tacit_estimates *second) {
    return json_pack(
        "{s:[o,o],s:s,s:o,s:o,s:o,s:o,s:o}", "models", side_document(made->swapped ? second : first),
        side_document(made->swapped ? first : second), "test", made->below > 0 ? "F" : "Chisq", "degrees",
        tacit_json_number(made->degrees), "degrees_below",
        tacit_json_number(made->below > 0 ? made->below : NAN), "deviance", tacit_json_number(made->deviance),
        "statistic", tacit_json_number(made->statistic), "p", tacit_json_number(made->p));
}
