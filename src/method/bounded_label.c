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

static bool is_hinge(const tacit_plan *plan, bounded_choice choice) {
    return choice.loss == BOUNDED_HUBER && !is_numeric(plan);
}

const tacit_family *bounded_family_by(const tacit_plan *plan, bounded_choice choice) {
    return is_hinge(plan, choice) ? &tacit_family_huber : bounded_family(plan);
}

double bounded_shape_by(const tacit_plan *plan, bounded_choice choice) {
    return is_hinge(plan, choice) ? choice.width : bounded_shape(plan);
}

tacit_status bounded_check_choice(const tacit_plan *plan, bounded_choice choice, tacit_error *error) {
    TACIT_TRY(bounded_check_label(plan, error));
    if (!is_hinge(plan, choice) || plan->classes == 2) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "loss=huber of method %s is for two classes, and the label has %zu: choose loss=auto",
                      plan->method->name, plan->classes);
}

tacit_status bounded_model(tacit_model **out, const tacit_plan *plan, bounded_choice choice, double *unit,
                           tacit_error *error) {
    const bool hinge = is_hinge(plan, choice);
    const tacit_family *family = hinge              ? &tacit_family_huber
                                 : is_numeric(plan) ? tacit_family_of(plan->schema->response, 0)
                                                    : tacit_family_for(plan->classes);
    TACIT_TRY(tacit_model_create(out, family, plan->features, plan->classes, error));
    if (hinge) (*out)->shape = choice.width;
    *unit = family->quadratic ? bounded_shape(plan) : 1;
    return TACIT_OK;
}

tacit_status bounded_add_mean(tacit_outcome *out, const tacit_plan *plan, bounded_choice choice,
                              const double *sum, size_t parties, tacit_error *error) {
    double unit = 1;
    tacit_model *model = NULL;
    TACIT_TRY(bounded_model(&model, plan, choice, &unit, error));
    for (size_t j = 0; j < tacit_model_size(model); j++) model->weights[j] = sum[j] / (double)parties * unit;
    out->parties = parties;
    return tacit_outcome_add(out, model, error);
}
