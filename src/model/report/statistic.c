/*
 * Fitting to a statistic. With all labels 1 the logistic objective is (1/N) sum l(t_i) + (lambda/2)|w|^2, and
 * shares add (1/N) sum (1 - a_i) t_i = (mean - statistic).w. With all labels 0 the softmax objective is
 * (1/N) sum (log Z_i - t_i0) + (lambda/2)|w|^2, and shares add mean.w_0 - sum_k statistic_k.w_k.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "model/model.h"

/* One label for as many stored rows as the view reaches. */
static int32_t *same_labels(const tacit_rows *points, int32_t label) {
    size_t stored = 0;
    for (size_t i = 0; i < points->count; i++) {
        size_t at = tacit_rows_stored(points, i);
        if (at >= stored) stored = at + 1;
    }
    int32_t *labels = TACIT_NEW(int32_t, stored);
    for (size_t i = 0; labels != NULL && i < stored; i++) labels[i] = label;
    return labels;
}

static void linear_term(const tacit_rows *points, size_t vectors, const double *statistic, double *out) {
    double each = 1 / (double)points->count;
    for (size_t i = 0; i < points->count; i++) tacit_rows_add(points, i, each, out);
    for (size_t j = 0; j < vectors * points->cols; j++) out[j] -= statistic[j];
}

tacit_status tacit_model_fit_statistic(tacit_model **out, const tacit_rows *points, size_t classes,
                                       const double *statistic, const tacit_linear_fit *fit,
                                       tacit_error *error) {
    tacit_model *model = NULL;
    int32_t *labels = NULL;
    double *linear = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_model_create(&model, tacit_family_for(classes), points->cols, classes, error));
    labels = same_labels(points, tacit_model_scores_per_row(model) > 1 ? 0 : 1);
    linear = TACIT_NEW(double, tacit_model_size(model));
    if (labels == NULL || linear == NULL) TACIT_CHECK(tacit_fail_memory(error));
    linear_term(points, tacit_model_scores_per_row(model), statistic, linear);
    tacit_glm_problem problem = {
        .loss = &model->family->loss,
        .x = *points,
        .label = labels,
        .classes = classes,
        .lambda = fit->lambda,
        .linear = linear,
    };
    tacit_glm_settings settings = tacit_glm_defaults();
    if (fit->gradient_tolerance > 0) settings.gradient_tolerance = fit->gradient_tolerance;
    settings.best_effort = fit->best_effort;
    settings.pool = fit->pool;
    settings.progress = fit->progress;
    tacit_glm_fit result;
    TACIT_CHECK(tacit_glm_solve(&problem, &settings, model->weights, &result, error));
    *out = model;
    model = NULL;
cleanup:
    free(labels);
    free(linear);
    tacit_model_free(model);
    return status;
}
