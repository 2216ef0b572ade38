/* Linear classifiers: logistic or softmax regression, and the support vector machine with the Huberised
 * hinge. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/classifier/classifier_kinds.h"

typedef struct linear {
    tacit_classifier base;
    tacit_model *model;
} linear;

/* A label does not change with the last digits of a weight: no theorem rests on these fits. */
static const double tolerance = 1e-6;

static tacit_status wrap_model(tacit_classifier **out, tacit_model *model, tacit_error *error) {
    linear *self = TACIT_NEW(linear, 1);
    if (self == NULL) {
        tacit_model_free(model);
        return tacit_fail_memory(error);
    }
    self->model = model;
    *out = &self->base;
    return TACIT_OK;
}

static tacit_status train_logistic(tacit_classifier **out, const char *argument, const tacit_view *rows,
                                   const tacit_training *training, tacit_error *error) {
    (void)argument;
    tacit_linear_fit fit = {
        .lambda = training->lambda,
        .gradient_tolerance = tolerance,
        .best_effort = true,
        .pool = training->pool,
        .progress = training->progress,
    };
    tacit_model *model = NULL;
    TACIT_TRY(tacit_model_fit_linear(&model, rows, &fit, error));
    return wrap_model(out, model, error);
}

/* ---- svm ---- */

static tacit_status fit_svm(const tacit_rows *rows, const int32_t *label, const tacit_training *training,
                            double *weights, tacit_error *error) {
    tacit_glm_problem problem = {
        .loss = &tacit_family_huber.loss,
        .x = *rows,
        .label = label,
        .classes = 2,
        .lambda = training->lambda,
    };
    tacit_glm_settings settings = tacit_glm_defaults();
    tacit_glm_fit result;
    settings.gradient_tolerance = tolerance;
    settings.best_effort = true;
    settings.pool = training->pool;
    settings.progress = training->progress;
    return tacit_glm_solve(&problem, &settings, weights, &result, error);
}

/* Class k against the rest. The solver finds labels by stored row, so the new ones are as many as the stored
 * rows that the view spans. */
static tacit_status fit_against_rest(const tacit_view *rows, const tacit_training *training,
                                     tacit_model *model, tacit_error *error) {
    size_t stored = 0, count = rows->rows.count;
    for (size_t i = 0; i < count; i++) {
        size_t at = tacit_rows_stored(&rows->rows, i);
        if (at >= stored) stored = at + 1;
    }
    int32_t *label = TACIT_NEW(int32_t, stored);
    tacit_status status = TACIT_OK;
    if (label == NULL) return tacit_fail_memory(error);
    for (size_t k = 0; k < model->classes && status == TACIT_OK; k++) {
        for (size_t i = 0; i < count; i++)
            label[tacit_rows_stored(&rows->rows, i)] = tacit_view_label(rows, i) == (int32_t)k;
        status = fit_svm(&rows->rows, label, training, model->weights + k * model->features, error);
    }
    free(label);
    return status;
}

static tacit_status train_svm(tacit_classifier **out, const char *argument, const tacit_view *rows,
                              const tacit_training *training, tacit_error *error) {
    (void)argument;
    tacit_model *model = NULL;
    bool two = rows->classes == 2;
    TACIT_TRY(tacit_model_create(&model, two ? &tacit_family_huber : &tacit_family_softmax, rows->rows.cols,
                                 rows->classes, error));
    tacit_status status = two ? fit_svm(&rows->rows, rows->label, training, model->weights, error)
                              : fit_against_rest(rows, training, model, error);
    if (status != TACIT_OK) {
        tacit_model_free(model);
        return status;
    }
    return wrap_model(out, model, error);
}

/* ---- all of them ---- */

static const tacit_model *linear_model(const tacit_classifier *base) { return ((const linear *)base)->model; }

/* Scores of a block at a time: a whole set of points may be large. */
static tacit_status predict_linear(const tacit_classifier *base, const tacit_rows *points, int32_t *labels,
                                   tacit_error *error) {
    enum { BLOCK = 1024 };
    const tacit_model *model = linear_model(base);
    size_t each = tacit_model_scores_per_row(model);
    double *scores = TACIT_NEW(double, BLOCK *each);
    tacit_status status = TACIT_OK;
    if (scores == NULL) return tacit_fail_memory(error);
    for (size_t begin = 0; begin < points->count && status == TACIT_OK; begin += BLOCK) {
        size_t count = points->count - begin < BLOCK ? points->count - begin : BLOCK;
        tacit_rows block = tacit_rows_slice(points, begin, count);
        status = tacit_model_scores(model, &block, NULL, scores, error);
        for (size_t i = 0; i < count && status == TACIT_OK; i++)
            labels[begin + i] = tacit_model_class(model, scores + i * each);
    }
    free(scores);
    return status;
}

static void clear_linear(tacit_classifier *base) { tacit_model_free(((linear *)base)->model); }

const classifier_kind classifier_logistic = {
    .name = "logistic",
    .shown = "logistic",
    .train = train_logistic,
    .predict = predict_linear,
    .linear = linear_model,
    .clear = clear_linear,
};

const classifier_kind classifier_softmax = {
    .name = "softmax",
    .shown = "softmax",
    .train = train_logistic,
    .predict = predict_linear,
    .linear = linear_model,
    .clear = clear_linear,
};

const classifier_kind classifier_svm = {
    .name = "svm",
    .shown = "svm",
    .train = train_svm,
    .predict = predict_linear,
    .linear = linear_model,
    .clear = clear_linear,
};
