#include "method/bounded_label.h"

#include <math.h>

static bool is_numeric(const tacit_plan *plan) {
    return plan->schema != NULL && plan->schema->response != TACIT_RESPONSE_CLASS;
}

const tacit_family *bounded_family(const tacit_plan *plan) {
    return is_numeric(plan) ? tacit_family_of(plan->schema->response, 0)->clipped
                            : tacit_family_for(plan->classes);
}

double bounded_shape(const tacit_plan *plan) {
    return is_numeric(plan) ? fmax(fabs(plan->schema->low), fabs(plan->schema->high)) : 0;
}

double bounded_lambda(const tacit_plan *plan, double of_classes) {
    return is_numeric(plan) && isfinite(plan->epsilon) ? pow(of_classes, 2.0 / 3) : of_classes;
}

tacit_status bounded_check_label(const tacit_plan *plan, tacit_error *error) {
    if (bounded_family(plan) != NULL) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "method %s takes a label of kind class, number or count, and '%s' is a %s",
                      plan->method->name, plan->schema->label, tacit_response_name(plan->schema->response));
}

tacit_status bounded_add_mean(tacit_outcome *out, const tacit_plan *plan, const double *sum, size_t parties,
                              tacit_error *error) {
    const tacit_family *family =
        is_numeric(plan) ? tacit_family_of(plan->schema->response, 0) : tacit_family_for(plan->classes);
    const double unit = family->quadratic ? bounded_shape(plan) : 1;
    tacit_model *model = NULL;
    TACIT_TRY(tacit_model_create(&model, family, plan->features, plan->classes, error));
    for (size_t j = 0; j < tacit_model_size(model); j++) model->weights[j] = sum[j] / (double)parties * unit;
    out->parties = parties;
    return tacit_outcome_add(out, model, error);
}
