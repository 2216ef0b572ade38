/* Which plans method estimate takes: whether family, label, schema and settings suit each other. */
#include "data/formula/formula.h"
#include "method/exact/estimate.h"
#include "method/methods.h"

enum { MOST_WIDTH = 2000 };

/* What is asked for beside the Hessian. */
static tacit_status check_settings(const tacit_plan *plan, const tacit_family *family, tacit_error *error) {
    const tacit_estimate_settings *settings = tacit_estimate_settings_of(plan);
    if (!tacit_estimate_clustered(settings) && plan->schema != NULL && plan->schema->formula != NULL &&
        tacit_formula_clusters(plan->schema->formula))
        return tacit_fail(
            error, TACIT_USAGE,
            "cluster() in terms needs the setting errors=cluster (or gee) of method estimate, or of cox, "
            "which owners read");
    if (!tacit_estimate_looks_again(plan)) return TACIT_OK;
    if (!family->likelihood)
        return tacit_fail(
            error, TACIT_USAGE,
            "the errors of family %s are robust already, and it has no residuals: leave 'errors' and "
            "'influence' out",
            family->name);
    if (settings->bias == TACIT_ESTIMATE_FIRTH)
        return tacit_fail(error, TACIT_USAGE,
                          "robust errors and summaries of influence are of estimates without a penalty: "
                          "leave 'errors' and 'influence' out, or 'bias'");
    if (family->loss.several != NULL &&
        (settings->influence != TACIT_INFLUENCE_NO || settings->errors == TACIT_ERRORS_HC2 ||
         settings->errors == TACIT_ERRORS_HC3))
        return tacit_fail(
            error, TACIT_USAGE,
            "rows of several scores have no leverage: of family %s there are errors model, HC0, HC1 and "
            "cluster, and no summary of influence",
            family->r_family != NULL ? family->r_family : family->name);
    if (tacit_estimate_clustered(settings) && (plan->schema == NULL || plan->schema->person == NULL))
        return tacit_fail(error, TACIT_USAGE,
                          "errors by cluster need a schema that says whose row it is: person: COLUMN");
    return TACIT_OK;
}

/* Imputed sets are fitted one by one and pooled: what is not pooled is not asked for. */
static tacit_status check_sets(const tacit_plan *plan, tacit_error *error) {
    const tacit_estimate_settings *settings = tacit_estimate_settings_of(plan);
    if (tacit_estimate_sets(plan) == 0) return TACIT_OK;
    if (settings->optimiser == TACIT_ESTIMATE_LBFGS)
        return tacit_fail(
            error, TACIT_USAGE,
            "imputed sets (missing: impute) are fitted by optimiser newton: leave 'optimiser' out");
    if (settings->influence != TACIT_INFLUENCE_NO)
        return tacit_fail(
            error, TACIT_USAGE,
            "imputed sets (missing: impute) are pooled by Rubin's rules, which are for estimates: "
            "leave 'influence' out, or write missing: complete-case");
    if (plan->schema->formula != NULL && plan->schema->rows != TACIT_ROWS_BOUND)
        return tacit_fail(
            error, TACIT_USAGE,
            "imputed values go through terms into rows that are not shortened: write rows: bound "
            "in the schema");
    for (size_t i = 0; plan->schema->formula != NULL && i < plan->schema->cols; i++)
        if (tacit_schema_is_weights(plan->schema, i) &&
            tacit_schema_missing(plan->schema, &plan->schema->columns[i]) == TACIT_MISSING_IMPUTE)
            return tacit_fail(error, TACIT_USAGE,
                              "'%s' weighs rows, and weights are not imputed: write missing: complete-case "
                              "for this column",
                              plan->schema->columns[i].name);
    return TACIT_OK;
}

tacit_status tacit_estimate_check(const tacit_plan *plan, tacit_error *error) {
    const tacit_family *family = tacit_estimate_family(plan);
    tacit_design design;
    if (family == NULL || family->response == TACIT_RESPONSE_TIME) /* no sums of it take such a label */
        return tacit_methods_check_label(plan, error);
    bool classes = family->response == TACIT_RESPONSE_CLASS;
    if (classes && plan->classes != 2 && family->loss.several == NULL)
        return tacit_fail(error, TACIT_USAGE, "family %s needs a label of two classes, and this one has %zu",
                          family->name, plan->classes);
    if (!classes && (plan->classes > 0 || plan->schema == NULL))
        return tacit_fail(
            error, TACIT_USAGE,
            "family %s needs a numeric label: declare kind, low and high of the label in the schema",
            family->name);
    TACIT_TRY(check_settings(plan, family, error));
    size_t columns = classes ? 1 : tacit_response_columns(plan->schema->response);
    if (family->loss.columns != columns)
        return tacit_fail(error, TACIT_USAGE, "family %s takes a label of %zu column%s, and kind %s has %zu",
                          family->name, family->loss.columns, family->loss.columns > 1 ? "s" : "",
                          tacit_response_name(plan->schema->response), columns);
    if (family->response == TACIT_RESPONSE_COUNT && plan->schema->response != TACIT_RESPONSE_COUNT)
        return tacit_fail(error, TACIT_USAGE, "family %s needs a label of kind count, and '%s' is a %s",
                          family->name, plan->schema->label, tacit_response_name(plan->schema->response));
    TACIT_TRY(tacit_firth_check(plan, family, error));
    TACIT_TRY(check_sets(plan, error));
    TACIT_TRY(tacit_estimate_check_ratios(plan, family, error));
    TACIT_TRY(tacit_design_create(&design, family, plan->schema, plan->features, error));
    size_t width = design.width;
    const bool weighted = design.weights != SIZE_MAX;
    tacit_status status = tacit_estimate_apart_check(plan, family, &design, error);
    if (status == TACIT_OK) status = tacit_estimate_check_folds(plan, family, &design, error);
    if (status == TACIT_OK) status = tacit_estimate_check_few(plan, family, &design, error);
    tacit_design_clear(&design);
    TACIT_TRY(status);
    if (weighted && tacit_estimate_settings_of(plan)->influence != TACIT_INFLUENCE_NO)
        return tacit_fail(error, TACIT_USAGE,
                          "summaries of influence are of rows that count once each: leave 'influence' or "
                          "weights out");
    if (width > MOST_WIDTH)
        return tacit_fail(
            error, TACIT_USAGE,
            "method estimate inverts a matrix of %zu columns: have at most %d, or choose another method",
            width, MOST_WIDTH);
    return TACIT_OK;
}
