#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/measure/concordance.h"
#include "data/measure/metrics.h"

tacit_status tacit_model_create(tacit_model **out, const tacit_family *family, size_t features,
                                size_t classes, tacit_error *error) {
    if (features == 0 || !tacit_family_takes(family, classes))
        return tacit_fail(error, TACIT_USAGE, "no linear model has %zu features and %zu classes", features,
                          classes);
    tacit_model *model = TACIT_NEW(tacit_model, 1);
    if (model == NULL) return tacit_fail_memory(error);
    model->family = family;
    model->shape = family->loss.shape_default;
    model->features = features;
    model->classes = classes;
    model->weights = TACIT_NEW(double, tacit_model_size(model));
    if (model->weights == NULL) {
        tacit_model_free(model);
        return tacit_fail_memory(error);
    }
    *out = model;
    return TACIT_OK;
}

tacit_status tacit_model_create_stack(tacit_model **out, tacit_stack *stack, size_t features,
                                      tacit_error *error) {
    tacit_model *model = NULL;
    tacit_status status = tacit_stack_check(stack, features, error);
    if (status == TACIT_OK) status = tacit_model_create(&model, &tacit_family_logistic, features, 2, error);
    if (status != TACIT_OK) {
        tacit_stack_free(stack);
        return status;
    }
    model->stack = stack;
    free(model->weights);
    model->weights = TACIT_NEW(double, tacit_model_size(model));
    if (model->weights == NULL) {
        tacit_model_free(model);
        return tacit_fail_memory(error);
    }
    *out = model;
    return TACIT_OK;
}

tacit_status tacit_model_create_network(tacit_model **out, const tacit_network *network, tacit_error *error) {
    size_t outputs = network->width[network->layers];
    tacit_model *model = TACIT_NEW(tacit_model, 1);
    if (model == NULL) return tacit_fail_memory(error);
    const bool numeric = network->response != TACIT_RESPONSE_CLASS;
    model->classes = numeric ? 0 : outputs == 1 ? 2 : outputs;
    model->family = numeric ? tacit_family_of(network->response, 0) : tacit_family_for(model->classes);
    model->features = network->width[0];
    model->network = *network;
    model->weights = TACIT_NEW(double, tacit_model_size(model));
    if (model->weights == NULL) {
        tacit_model_free(model);
        return tacit_fail_memory(error);
    }
    *out = model;
    return TACIT_OK;
}

tacit_status tacit_model_create_tree(tacit_model **out, tacit_tree *tree, size_t features, size_t classes,
                                     tacit_error *error) {
    tacit_model *model = NULL;
    tacit_status status = tacit_tree_check(tree, features, error);
    if (status == TACIT_OK)
        status = tacit_model_create(&model, tacit_family_for(classes), features, classes, error);
    if (status != TACIT_OK) {
        tacit_tree_free(tree);
        return status;
    }
    model->tree = tree;
    free(model->weights);
    model->weights = TACIT_NEW(double, tacit_model_size(model));
    if (model->weights == NULL) {
        tacit_model_free(model);
        return tacit_fail_memory(error);
    }
    *out = model;
    return TACIT_OK;
}

tacit_status tacit_model_create_report(tacit_model **out, tacit_report *report, size_t features,
                                       size_t classes, tacit_error *error) {
    tacit_model *model = TACIT_NEW(tacit_model, 1);
    if (model == NULL || features == 0) {
        tacit_report_free(report);
        free(model);
        return features == 0 ? tacit_fail(error, TACIT_USAGE, "no report is about rows without features")
                             : tacit_fail_memory(error);
    }
    model->family = classes == 0 ? &tacit_family_linear : tacit_family_for(classes);
    model->features = features;
    model->classes = classes;
    model->report = report;
    *out = model;
    return TACIT_OK;
}

tacit_status tacit_model_check_predicts(const tacit_model *model, tacit_error *error) {
    if (model->report == NULL) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "this is a report (%s), not a model: it holds tables and predicts nothing; 'tacit "
                      "summary' prints it",
                      model->report->kind);
}

tacit_model *tacit_model_free(tacit_model *model) {
    if (model == NULL) return NULL;
    tacit_report_free(model->report);
    tacit_report_free(model->validation);
    tacit_report_free(model->missing_counts);
    free(model->weights);
    tacit_stack_free(model->stack);
    tacit_tree_free(model->tree);
    tacit_levels_clear(&model->class_names);
    tacit_schema_free(model->schema);
    tacit_estimates_free(model->estimates);
    tacit_released_moments_free(model->moments);
    free(model);
    return NULL;
}

size_t tacit_model_scores_per_row(const tacit_model *model) {
    return tacit_family_scores(model->family, model->classes);
}

size_t tacit_model_size(const tacit_model *model) {
    if (model->report != NULL) return 0;
    if (model->stack != NULL) return tacit_stack_size(model->stack);
    if (model->tree != NULL) return tacit_model_scores_per_row(model) * model->tree->nodes;
    if (model->network.layers > 0) return tacit_network_size(&model->network);
    return tacit_model_scores_per_row(model) * model->features;
}

bool tacit_model_is_linear(const tacit_model *model) {
    return model->report == NULL && model->stack == NULL && model->tree == NULL && model->network.layers == 0;
}

bool tacit_model_has_probabilities(const tacit_model *model) {
    bool votes = model->stack != NULL && model->stack->combiner != TACIT_COMBINE_HIGH;
    return model->family->likelihood && !tacit_model_is_numeric(model) && !votes;
}

tacit_status tacit_model_fit_linear(tacit_model **out, const tacit_view *rows, const tacit_linear_fit *fit,
                                    tacit_error *error) {
    tacit_model *model = NULL;
    const tacit_family *family = fit->family != NULL ? fit->family : tacit_family_for(rows->classes);
    if (!family->loss.of_classes && tacit_view_columns(rows) != family->loss.columns)
        return tacit_fail(error, TACIT_USAGE, "family %s takes a label of another number of columns than %zu",
                          family->name, tacit_view_columns(rows));
    TACIT_TRY(tacit_model_create(&model, family, rows->rows.cols, rows->classes, error));
    model->shape = tacit_loss_shape(&family->loss, fit->shape);
    tacit_glm_problem problem = {
        .loss = &family->loss,
        .x = rows->rows,
        .label = rows->label,
        .response = rows->response,
        .classes = rows->classes,
        .total_rows = fit->total_rows,
        .shape = fit->shape,
        .lambda = fit->lambda,
        .linear = fit->linear,
        .prior = fit->prior,
        .reducer = fit->reducer,
    };
    tacit_glm_settings settings = tacit_glm_defaults();
    if (fit->gradient_tolerance > 0) settings.gradient_tolerance = fit->gradient_tolerance;
    settings.best_effort = fit->best_effort;
    settings.pool = fit->pool;
    settings.progress = fit->progress;
    tacit_glm_fit result;
    tacit_status status = tacit_glm_solve(&problem, &settings, model->weights, &result, error);
    if (status != TACIT_OK) {
        tacit_model_free(model);
        return status;
    }
    *out = model;
    return TACIT_OK;
}

tacit_status tacit_model_describe(tacit_model *model, const tacit_levels *class_names,
                                  const tacit_schema *schema, tacit_error *error) {
    if (class_names != NULL) {
        tacit_levels_clear(&model->class_names);
        TACIT_TRY(tacit_levels_copy(&model->class_names, class_names, error));
    }
    if (schema == NULL) return TACIT_OK;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_schema *copy = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_schema_canonical(schema, &text, error));
    TACIT_CHECK(tacit_schema_parse(&copy, tacit_buffer_text(&text), text.length, "schema", error));
    tacit_schema_free(model->schema);
    model->schema = copy;
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

typedef struct scoring {
    const tacit_model *model;
    const tacit_rows *rows;
    double *out;
} scoring;

static tacit_status score_rows(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    (void)worker;
    (void)error;
    const scoring *work = context;
    size_t each = tacit_model_scores_per_row(work->model), features = work->model->features;
    for (size_t i = begin; i < end; i++)
        for (size_t k = 0; k < each; k++)
            work->out[i * each + k] = tacit_rows_dot(work->rows, i, work->model->weights + k * features);
    for (size_t i = begin; work->model->family->predict != NULL && i < end; i++)
        work->model->family->predict(each, work->out + i * each);
    return TACIT_OK;
}

static tacit_status score_stack(void *context, size_t begin, size_t end, unsigned worker,
                                tacit_error *error) {
    (void)worker;
    const scoring *work = context;
    double *scratch = TACIT_NEW(double, work->rows->cols);
    if (scratch == NULL) return tacit_fail_memory(error);
    for (size_t i = begin; i < end; i++)
        work->out[i] = tacit_stack_score(work->model->stack, work->model->weights, work->rows, i, scratch);
    free(scratch);
    return TACIT_OK;
}

static tacit_status score_leaves(void *context, size_t begin, size_t end, unsigned worker,
                                 tacit_error *error) {
    (void)worker;
    (void)error;
    const scoring *work = context;
    size_t each = tacit_model_scores_per_row(work->model);
    for (size_t i = begin; i < end; i++) {
        size_t leaf = tacit_tree_leaf_of(work->model->tree, work->rows, i);
        memcpy(work->out + i * each, work->model->weights + leaf * each, each * sizeof *work->out);
    }
    return TACIT_OK;
}

/* A network's scores, block by block; the space is made again for each piece of the loop, which is long. */
static tacit_status score_blocks(void *context, size_t begin, size_t end, unsigned worker,
                                 tacit_error *error) {
    (void)worker;
    const scoring *work = context;
    const tacit_network *network = &work->model->network;
    size_t each = tacit_model_scores_per_row(work->model);
    tacit_network_space *space = NULL;
    TACIT_TRY(tacit_network_space_create(&space, network, error));
    for (size_t i = begin; i < end;) {
        size_t count = end - i < TACIT_NETWORK_BLOCK ? end - i : TACIT_NETWORK_BLOCK;
        tacit_rows block = tacit_rows_slice(work->rows, i, count);
        memcpy(work->out + i * each, tacit_network_forward(network, work->model->weights, &block, space),
               count * each * sizeof *work->out);
        i += count;
    }
    tacit_network_space_free(space);
    return TACIT_OK;
}

tacit_status tacit_model_scores(const tacit_model *model, const tacit_rows *rows, tacit_pool *pool,
                                double *out, tacit_error *error) {
    TACIT_TRY(tacit_model_check_predicts(model, error));
    if (rows->cols != model->features)
        return tacit_fail(error, TACIT_INPUT, "the rows have %zu features and the model %zu", rows->cols,
                          model->features);
    scoring work = { model, rows, out };
    tacit_task *task = model->stack != NULL        ? score_stack
                       : model->tree != NULL       ? score_leaves
                       : model->network.layers > 0 ? score_blocks
                                                   : score_rows;
    return tacit_pool_for(pool, rows->count, 0, task, &work, error);
}

bool tacit_model_is_numeric(const tacit_model *model) { return model->classes == 0; }

double tacit_model_mean(const tacit_model *model, double score) { return model->family->mean(score); }

int32_t tacit_model_class(const tacit_model *model, const double *scores) {
    if (tacit_model_scores_per_row(model) == 1) return scores[0] > 0;
    size_t best = 0;
    for (size_t k = 1; k < model->classes; k++)
        if (scores[k] > scores[best]) best = k;
    return (int32_t)best;
}

/* Metrics from scores already computed; label and predicted are scratch of `count` each. */
static tacit_status measure(const tacit_model *model, const int32_t *label, int32_t *predicted,
                            const double *scores, size_t count, tacit_metrics *out, tacit_error *error) {
    size_t each = tacit_model_scores_per_row(model);
    tacit_metrics metrics = TACIT_METRICS_NONE;
    metrics.one_class = count > 1;
    for (size_t i = 0; i < count; i++) {
        predicted[i] = tacit_model_class(model, scores + i * each);
        if (predicted[i] != predicted[0]) metrics.one_class = false;
    }
    TACIT_TRY(tacit_accuracy(&metrics.accuracy, label, predicted, count, error));
    if (each == 1) {
        tacit_auc_estimate auc;
        TACIT_TRY(tacit_auc_interval(&auc, label, scores, count, 0.95, error));
        metrics.auc = auc.area;
        metrics.auc_low = auc.low;
        metrics.auc_high = auc.high;
        if (tacit_model_has_probabilities(model))
            TACIT_TRY(tacit_log_loss(&metrics.log_loss, label, scores, count, error));
    } else {
        TACIT_TRY(tacit_log_loss_multiclass(&metrics.log_loss, label, scores, count, model->classes, error));
    }
    *out = metrics;
    return TACIT_OK;
}

/* Of times until an event only the order can be told: no baseline belongs to the model. */
static tacit_status evaluate_times(const tacit_model *model, const tacit_view *rows, tacit_pool *pool,
                                   tacit_metrics *out, tacit_error *error) {
    const size_t count = rows->rows.count, columns = tacit_view_columns(rows);
    double *score = TACIT_NEW(double, (1 + columns) * count), *response = score + count;
    if (score == NULL) return tacit_fail_memory(error);
    tacit_metrics metrics = TACIT_METRICS_NONE;
    tacit_status status = tacit_model_scores(model, &rows->rows, pool, score, error);
    for (size_t i = 0; i < count && status == TACIT_OK; i++)
        memcpy(response + columns * i, tacit_view_responses(rows, i), columns * sizeof *response);
    if (status == TACIT_OK) status = tacit_concordance(&metrics.auc, response, columns, score, count, error);
    if (status == TACIT_OK) *out = metrics;
    free(score);
    return status;
}

static tacit_status evaluate_response(const tacit_model *model, const tacit_view *rows, tacit_pool *pool,
                                      tacit_metrics *out, tacit_error *error) {
    size_t count = rows->rows.count;
    if (rows->response == NULL)
        return tacit_fail(error, TACIT_INPUT, "the model predicts a number and the rows have classes");
    bool timed = model->family->response == TACIT_RESPONSE_TIME && tacit_view_columns(rows) == 3;
    if (tacit_view_columns(rows) != model->family->loss.columns && !timed)
        return tacit_fail(error, TACIT_INPUT, "the model's label has %zu columns and the rows' %zu",
                          model->family->loss.columns, tacit_view_columns(rows));
    if (count == 0) return tacit_fail(error, TACIT_INPUT, "no rows to evaluate on");
    if (model->family->response == TACIT_RESPONSE_TIME) return evaluate_times(model, rows, pool, out, error);
    double *mean = TACIT_NEW(double, 2 * count), *response = mean + count;
    if (mean == NULL) return tacit_fail_memory(error);
    tacit_metrics metrics = TACIT_METRICS_NONE;
    tacit_status status = tacit_model_scores(model, &rows->rows, pool, mean, error);
    double sum = 0;
    for (size_t i = 0; i < count && status == TACIT_OK; i++) {
        mean[i] = tacit_model_mean(model, mean[i]);
        response[i] = tacit_view_response(rows, i);
        sum += model->family->deviance(tacit_view_responses(rows, i), mean[i]);
    }
    metrics.deviance = sum / (double)count;
    if (status == TACIT_OK && isnan(sum))
        status = tacit_fail(error, TACIT_INPUT, "a prediction is not a number");
    if (status == TACIT_OK) status = tacit_rmse(&metrics.rmse, response, mean, count, error);
    if (status == TACIT_OK) *out = metrics;
    free(mean);
    return status;
}

tacit_status tacit_model_evaluate(const tacit_model *model, const tacit_view *rows, tacit_pool *pool,
                                  tacit_metrics *out, tacit_error *error) {
    TACIT_TRY(tacit_model_check_predicts(model, error));
    if (tacit_model_is_numeric(model)) return evaluate_response(model, rows, pool, out, error);
    if (rows->label == NULL)
        return tacit_fail(error, TACIT_INPUT, "the model tells classes apart and the rows have none");
    size_t count = rows->rows.count, unlabelled = count - tacit_view_labelled(rows);
    if (unlabelled > 0)
        return tacit_fail(
            error, TACIT_INPUT,
            "%zu of %zu rows have no label, and a model is judged by rows that have one: leave the "
            "others out",
            unlabelled, count);
    double *scores = TACIT_NEW(double, count *tacit_model_scores_per_row(model));
    int32_t *label = TACIT_NEW(int32_t, count), *predicted = TACIT_NEW(int32_t, count);
    tacit_status status;
    if (scores == NULL || label == NULL || predicted == NULL) {
        status = tacit_fail_memory(error);
        goto cleanup;
    }
    for (size_t i = 0; i < count; i++) label[i] = tacit_view_label(rows, i);
    TACIT_CHECK(tacit_model_scores(model, &rows->rows, pool, scores, error));
    TACIT_CHECK(measure(model, label, predicted, scores, count, out, error));
cleanup:
    free(scores);
    free(label);
    free(predicted);
    return status;
}

void tacit_guarantee_withdraw(tacit_guarantee *guarantee, const char *reason) {
    guarantee->is_private = false;
    snprintf(guarantee->reason, sizeof guarantee->reason, "%s", reason);
}

void tacit_guarantee_settle(tacit_guarantee *guarantee, const tacit_schema *schema) {
    char parts[TACIT_FROM_ROWS_TEXT];
    if (schema == NULL || !tacit_schema_is_from_rows(schema)) return;
    guarantee->is_private = false;
    if (guarantee->settled) return;
    guarantee->settled = true;
    size_t used = strlen(guarantee->reason); /* another reason comes first */
    snprintf(guarantee->reason + used, sizeof guarantee->reason - used, "%sread off the rows: %s",
             used > 0 ? "; " : "", tacit_schema_from_rows_text(schema, parts));
}
