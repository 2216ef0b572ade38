/* Which methods suit a study that is being planned, by the traits in their entries, and how each would be
 * set. */
#include <math.h>

#include "lab/planning.h"

/* Nobody needs to be trusted with sums, where the method can do without: shares of noise, or else each
 * party's own. */
static void choose_noise(tacit_plan *plan) {
    static const char *const wanted[] = { "shares", "party" };
    const tacit_plan usual = *plan;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (!tacit_method_offers(plan->method, "noise", wanted[i])) continue;
        tacit_plan tried = usual;
        if (tacit_plan_set(&tried, "noise", wanted[i], NULL) != TACIT_OK) continue;
        tried.lambda = tried.lambda > 0 ? tried.lambda : 1;
        if (tacit_plan_check(&tried, NULL) != TACIT_OK) continue;
        tried.lambda = usual.lambda;
        *plan = tried;
        return;
    }
}

/* What a method needs that a study of rows alone does not have. */
static tacit_status check_needs(const tacit_method *method, const tacit_plan *plan, bool own,
                                tacit_error *error) {
    const char *why = NULL;
    if (method->noise_free && !own)
        why = "it adds no noise: a yardstick, or for exact results";
    else if (method->reports != NULL)
        why = "it ends with tables, whose errors are in them, and with no model that predicts";
    else if (method->undeployable != NULL)
        why = method->undeployable;
    else if (method->needs_points && plan->points == NULL)
        why = "it needs public points for the parties to label: plan a study that names some (auxiliary)";
    else if (method->needs_target || method->roles != NULL)
        why = "it transfers from sources to a target, and all parties of this study do the same";
    else if (method->compute != NULL)
        why = "it needs two center servers";
    if (why != NULL) return tacit_fail(error, TACIT_USAGE, "%s", why);
    if (method->most_columns > 0 && plan->features > method->most_columns)
        return tacit_fail(error, TACIT_USAGE, "it takes at most %zu features, and there are %zu",
                          method->most_columns, plan->features);
    return TACIT_OK;
}

static bool is_studys(const tacit_outlook_request *request, const tacit_method *method) {
    return request->study != NULL && request->study->method == method;
}

tacit_status tacit_outlook_plan(tacit_plan *out, const tacit_outlook_request *request,
                                const tacit_method *method, tacit_error *error) {
    const tacit_schema *schema = request->belief.schema;
    size_t each = request->rows / request->parties;
    bool own = is_studys(request, method);
    *out = (tacit_plan){
        .method = method,
        .study = "plan",
        .epsilon = request->epsilon,
        .delta = request->delta,
        .features = tacit_schema_features(schema),
        .classes = schema->classes.count,
        .parties = request->parties,
        .minimum_parties = request->minimum_parties > 0 ? request->minimum_parties : 1,
        .dropouts = request->dropouts,
        .colluders = request->colluders,
        .minimum_rows = request->minimum_rows > 0 ? request->minimum_rows : each,
        .expected_rows = request->rows,
        .schema = schema,
    };
    if (own) {
        out->settings = request->study->settings;
        out->sums = request->study->sums;
        out->lambda = request->lambda_open ? 0 : request->study->lambda;
        out->points = request->study->points;
    }
    TACIT_TRY(check_needs(method, out, own, error));
    if (!own) choose_noise(out);
    TACIT_TRY(tacit_methods_check(out, error));
    const bool none = own && !request->lambda_open && method->lambda_may_vanish; /* said to be 0, if it is */
    if (!none) TACIT_TRY(tacit_plan_choose_lambda(out, error));
    TACIT_TRY(tacit_plan_check(out, error));
    const char *why = method->undeployable_as != NULL ? method->undeployable_as(out) : NULL;
    return why == NULL ? TACIT_OK : tacit_fail(error, TACIT_USAGE, "%s", why);
}
