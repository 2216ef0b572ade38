#include "lab/plan_belief.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/measure/metrics.h"
#include "lab/plan_response.h"
#include "num/special.h"
#include "rand/fast.h"

enum { FACTORS = 40, FOLDS = 5, LEAST_ROWS = 20, GAP_TESTS = 2000, GAP_DRAWS = 3, LAW_ROWS = 5000 };

/* Numbers spread over so much of their bounds, as a standard deviation on [-1, 1]. */
static const double SPREAD = 0.35, TILT = 0, MOST_SIGNAL = 0.999;

static bool is_binary(const tacit_belief *belief) { return belief->schema->classes.count == 2; }

static bool is_of_classes(const tacit_belief *belief) {
    return belief->schema->response == TACIT_RESPONSE_CLASS;
}

/* Directions that the label depends on: one less than there are classes, and one of a number. */
static size_t directions_of(const tacit_belief *belief) {
    return is_of_classes(belief) ? belief->schema->classes.count - 1 : 1;
}

/* ---- columns ---- */

/* The latent law of the columns: z = L g, rows of L of norm 1, weights of factor k near 1/sqrt(k). */
typedef struct column_law {
    size_t columns, factors;
    double *loading;                /* columns x factors */
    double factor[FACTORS], *value; /* of one row: g and z */
    double *number;                 /* with terms: its raw values, by the schema's columns */
    int32_t *level;
} column_law;

static void law_clear(column_law *law) {
    free(law->loading);
    free(law->value);
    free(law->number);
    free(law->level);
}

static tacit_status law_make(column_law *law, size_t columns, size_t all, tacit_stream *stream,
                             tacit_error *error) {
    *law = (column_law){ .columns = columns, .factors = columns < FACTORS ? columns : FACTORS };
    law->loading = TACIT_NEW(double, columns * law->factors + 1);
    law->value = TACIT_NEW(double, columns + 1);
    law->number = TACIT_NEW(double, all + 1);
    law->level = TACIT_NEW(int32_t, all + 1);
    if (law->loading == NULL || law->value == NULL || law->number == NULL || law->level == NULL) {
        law_clear(law);
        return tacit_fail_memory(error);
    }
    for (size_t j = 0; j < columns; j++) {
        double *row = law->loading + j * law->factors, square = 0;
        for (size_t k = 0; k < law->factors; k++) {
            row[k] = tacit_fast_normal(stream) / sqrt((double)k + 1);
            square += row[k] * row[k];
        }
        for (size_t k = 0; k < law->factors; k++) row[k] /= sqrt(square);
    }
    return TACIT_OK;
}

static void law_draw(column_law *law, tacit_stream *stream) {
    tacit_fast_normals(stream, law->factor, law->factors);
    for (size_t j = 0; j < law->columns; j++) {
        law->value[j] = 0;
        for (size_t k = 0; k < law->factors; k++)
            law->value[j] += law->loading[j * law->factors + k] * law->factor[k];
    }
}

/* The level of a category whose level l has weight 1/(l + 1), by a standard normal. */
static size_t level_of(size_t levels, double z) {
    double sum = 0, below = 0, at = tacit_normal_tail(-z);
    for (size_t l = 0; l < levels; l++) sum += 1 / ((double)l + 1);
    for (size_t l = 0; l + 1 < levels; l++) {
        below += 1 / ((double)l + 1) / sum;
        if (at < below) return l;
    }
    return levels - 1;
}

/* The raw value of a number by a standard normal. */
static double raw_number(const tacit_schema_column *column, double z) {
    return column->sd > 0 ? column->mean + column->sd * z
                          : (column->low + column->high) / 2 + SPREAD * z * (column->high - column->low) / 2;
}

/* What a column becomes, before the row is scaled. */
static void encode_column(const tacit_schema_column *column, double z, tacit_stream *stream, double *out) {
    size_t features = tacit_schema_column_features(column);
    tacit_encode_counts ignored = { 0 };
    if (column->kind == TACIT_SCHEMA_NUMBER) {
        tacit_scale scale = tacit_scale_of(column);
        out[0] = tacit_scale_number(&scale, raw_number(column, z), &ignored);
    } else if (column->kind == TACIT_SCHEMA_CATEGORY) {
        size_t level = level_of(column->levels.count, z);
        if (level < features) out[level] = 1;
        for (size_t f = 0; level >= features && f < features; f++) out[f] = -1; /* effect coding's last */
    } else {
        enum { TERMS = 5 };
        for (int t = 0; t < TERMS; t++) out[tacit_stream_below(stream, features)] = 1 / sqrt((double)TERMS);
    }
}

/* Raw values, and the terms of them. `out` before the row is scaled; returns how many features. */
static size_t draw_terms(const tacit_schema *schema, column_law *law, double *out) {
    size_t j = 0;
    for (size_t i = 0; i < schema->cols; i++) {
        const tacit_schema_column *column = &schema->columns[i];
        if (column->kind == TACIT_SCHEMA_SKIP) continue;
        double z = law->value[j++];
        law->number[i] = column->kind == TACIT_SCHEMA_NUMBER ? raw_number(column, z) : 0;
        law->level[i] =
            column->kind == TACIT_SCHEMA_CATEGORY ? (int32_t)level_of(column->levels.count, z) : -1;
    }
    tacit_formula_dense_row(schema->formula, law->number, NULL, law->level, out);
    return tacit_formula_features(schema->formula);
}

static void encode_row(const tacit_schema *schema, column_law *law, tacit_stream *stream, double *out) {
    size_t at = 0, j = 0, features = tacit_schema_features(schema);
    tacit_encode_counts ignored = { 0 };
    double square = 0, inside = tacit_schema_intercept_value(schema);
    if (schema->formula != NULL) at = draw_terms(schema, law, out);
    for (size_t i = 0; schema->formula == NULL && i < schema->cols; i++) {
        const tacit_schema_column *column = &schema->columns[i];
        if (column->kind == TACIT_SCHEMA_SKIP) continue;
        encode_column(column, law->value[j++], stream, out + at);
        at += tacit_schema_column_features(column);
    }
    for (size_t f = 0; f < at; f++) square += out[f] * out[f];
    double factor =
        inside * tacit_schema_column_factor(schema, tacit_schema_reach(schema), sqrt(square), &ignored);
    for (size_t f = 0; f < at; f++) out[f] *= factor;
    if (schema->intercept) out[features - 1] = inside;
}

static tacit_status draw_rows(tacit_dataset *data, const tacit_schema *schema, tacit_stream *stream,
                              tacit_error *error) {
    column_law law;
    size_t columns = 0;
    for (size_t i = 0; i < schema->cols; i++) columns += schema->columns[i].kind != TACIT_SCHEMA_SKIP;
    TACIT_TRY(law_make(&law, columns, schema->cols, stream, error));
    for (size_t i = 0; i < data->rows; i++) {
        law_draw(&law, stream);
        encode_row(schema, &law, stream, data->dense.values + i * data->features);
    }
    law_clear(&law);
    return TACIT_OK;
}

/* ---- labels ---- */

static double logistic(double t) { return 1 / (1 + exp(-t)); }

typedef struct ranked {
    double score;
} ranked;

static int ascending(const void *a, const void *b) {
    double x = ((const ranked *)a)->score, y = ((const ranked *)b)->score;
    return (x > y) - (x < y);
}

/* The intercept b for which labels of log-odds s u + b have the share `positives`. */
static double intercept_of(const ranked *u, size_t count, double s, double positives) {
    double low = -60, high = 60;
    for (int step = 0; step < 50; step++) {
        double middle = (low + high) / 2, mean = 0;
        for (size_t i = 0; i < count; i++) mean += logistic(s * u[i].score + middle);
        if (mean / (double)count < positives)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* The AUC of scores u, ascending, whose labels have log-odds s u + b. */
static double law_auc(const ranked *u, size_t count, double s, double b) {
    double below = 0, pairs = 0, positive = 0;
    for (size_t i = 0; i < count; i++) {
        double p = logistic(s * u[i].score + b);
        pairs += p * (below + (1 - p) / 2);
        below += 1 - p;
        positive += p;
    }
    return pairs / (positive * below);
}

/* Log-odds s u + b with a given AUC and share of positives, u of mean 0 and deviation 1. */
typedef struct label_law {
    double slope, intercept;
} label_law;

static label_law law_of(const ranked *u, size_t count, double signal, double positives) {
    double low = 0, high = 60;
    for (int step = 0; step < 30; step++) {
        double middle = (low + high) / 2;
        if (law_auc(u, count, middle, intercept_of(u, count, middle, positives)) < signal)
            low = middle;
        else
            high = middle;
    }
    double slope = (low + high) / 2;
    return (label_law){ slope, intercept_of(u, count, slope, positives) };
}

/* Scores to mean 0 and deviation 1, in place. */
static void standardise(double *score, size_t count) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < count; i++) mean += score[i] / (double)count;
    for (size_t i = 0; i < count; i++) square += (score[i] - mean) * (score[i] - mean) / (double)count;
    for (size_t i = 0; i < count; i++) score[i] = square > 0 ? (score[i] - mean) / sqrt(square) : 0;
}

static tacit_status find_law(label_law *out, const double *score, size_t count, double signal,
                             double positives, tacit_error *error) {
    size_t used = count < LAW_ROWS ? count : LAW_ROWS;
    ranked *u = TACIT_NEW(ranked, used);
    if (u == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < used; i++) u[i].score = score[i];
    qsort(u, used, sizeof *u, ascending);
    *out = law_of(u, used, signal, positives);
    free(u);
    return TACIT_OK;
}

/* Random weights. Features that vary more tell more, as they do in most tables: between equal weights on the
 * columns' own scale and equal weights by their deviations. */
static tacit_status random_weights(double *weights, const tacit_dataset *data, tacit_stream *stream,
                                   tacit_error *error) {
    size_t d = data->features, n = data->rows;
    double *mean = TACIT_NEW(double, d), *square = TACIT_NEW(double, d);
    tacit_status status = TACIT_OK;
    if (mean == NULL || square == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++) {
            double x = data->dense.values[i * d + j];
            mean[j] += x / (double)n;
            square[j] += x * x / (double)n;
        }
    for (size_t j = 0; j < d; j++) {
        double variance = square[j] - mean[j] * mean[j];
        weights[j] = tacit_fast_normal(stream) * (variance > 1e-12 ? pow(variance, -TILT / 2) : 0);
    }
cleanup:
    free(mean);
    free(square);
    return status;
}

/* A class with the weights exp(log-odds). */
static int32_t draw_class(const double *odds, size_t classes, tacit_stream *stream) {
    double sum = 0, at;
    for (size_t k = 0; k < classes; k++) sum += exp(odds[k]);
    at = tacit_stream_unit(stream) * sum;
    for (size_t k = 0; k + 1 < classes; k++) {
        at -= exp(odds[k]);
        if (at < 0) return (int32_t)k;
    }
    return (int32_t)classes - 1;
}

/* How the law itself scores on the rows from `first` on. */
static tacit_status score_law(double *limit, const tacit_dataset *data, size_t first, const double *score,
                              label_law law, tacit_error *error) {
    size_t count = data->rows - first, right = 0;
    double *margin = TACIT_NEW(double, count);
    if (margin == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        margin[i] = law.slope * score[first + i] + law.intercept;
        right += (margin[i] > 0) == (data->label[first + i] == 1);
    }
    limit[0] = (double)right / (double)count;
    tacit_status status = tacit_auc(&limit[1], NULL, data->label + first, margin, count, error);
    if (status == TACIT_OK) status = tacit_log_loss(&limit[2], data->label + first, margin, count, error);
    free(margin);
    return status;
}

/* Scores of all rows by weights of mean 0 and deviation 1. */
static void score_rows(double *score, const tacit_dataset *data, const double *weights) {
    size_t d = data->features;
    for (size_t i = 0; i < data->rows; i++) {
        score[i] = 0;
        for (size_t j = 0; j < d; j++) score[i] += data->dense.values[i * d + j] * weights[j];
    }
    standardise(score, data->rows);
}

/* Labels for all rows; of several classes each but the first has a direction of its own, or that of the
 * fitted model. */
static tacit_status draw_labels(tacit_world *world, const tacit_belief *belief, tacit_stream *stream,
                                tacit_error *error) {
    tacit_dataset *data = world->data;
    size_t n = data->rows, d = data->features, classes = belief->schema->classes.count,
           scores = directions_of(belief);
    double *weights = TACIT_NEW(double, d), *score = TACIT_NEW(double, n *scores),
           *odds = TACIT_NEW(double, classes + 1);
    label_law law = { 0, 0 };
    tacit_status status = TACIT_OK;
    if (weights == NULL || score == NULL || odds == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t k = 0; k < scores; k++) {
        if (belief->weights != NULL)
            memcpy(weights, belief->weights + k * d, d * sizeof *weights);
        else
            TACIT_CHECK(random_weights(weights, data, stream, error));
        score_rows(score + k * n, data, weights);
        if (k == 0 && is_of_classes(belief))
            TACIT_CHECK(
                find_law(&law, score, n, belief->signal, is_binary(belief) ? belief->positives : 0.5, error));
    }
    if (!is_of_classes(belief)) TACIT_CHECK(plan_respond(world, belief, score, stream, error));
    for (size_t i = 0; is_of_classes(belief) && i < n; i++) {
        odds[0] = 0;
        for (size_t k = 0; k < scores; k++) odds[k + 1] = law.slope * score[k * n + i] + law.intercept;
        data->label[i] = draw_class(odds, classes, stream);
    }
    if (is_binary(belief)) TACIT_CHECK(score_law(world->limit, data, world->train, score, law, error));
cleanup:
    free(weights);
    free(score);
    free(odds);
    return status;
}

/* ---- worlds ---- */

void tacit_world_clear(tacit_world *world) {
    world->data = tacit_dataset_free(world->data);
    *world = (tacit_world)TACIT_WORLD_INIT;
}

bool tacit_belief_has(const tacit_belief *belief, size_t train, size_t tests) {
    return belief->rows != NULL && belief->rows->rows >= train && belief->rows->rows - train >= tests;
}

/* Copies of the belief's rows: each at most once, with its label, where there are enough; else any. */
static tacit_status take_rows(tacit_dataset *data, const tacit_belief *belief, bool as_they_are,
                              tacit_stream *stream, tacit_error *error) {
    tacit_rows rows = tacit_dataset_rows(belief->rows);
    size_t *order = TACIT_NEW(size_t, rows.count);
    if (order == NULL) return tacit_fail_memory(error);
    tacit_stream_permutation(stream, order, rows.count);
    for (size_t i = 0; i < data->rows; i++) {
        size_t at = as_they_are ? order[i] : tacit_stream_below(stream, rows.count);
        tacit_rows_copy(&rows, at, data->dense.values + i * data->features);
        if (data->response != NULL)
            data->response[i] = belief->rows->response[at];
        else
            data->label[i] = belief->rows->label[at];
    }
    free(order);
    return TACIT_OK;
}

tacit_status tacit_world_make(tacit_world *out, const tacit_belief *belief, size_t train, size_t tests,
                              uint64_t seed, size_t draw, tacit_error *error) {
    const tacit_schema *schema = belief->schema;
    tacit_stream root = tacit_stream_from_seed(seed), stream = tacit_stream_fork(&root, "belief", draw, 0);
    bool as_they_are = tacit_belief_has(belief, train, tests);
    tacit_world made = { .train = train, .tests = tests, .null_deviance = NAN };
    tacit_status status;
    TACIT_TRY(tacit_dataset_create(&made.data, train + tests, tacit_schema_features(schema),
                                   (const char *const *)schema->classes.text, schema->classes.count, error));
    for (int k = 0; k < TACIT_BELIEF_FIGURES; k++) made.limit[k] = NAN;
    made.data->has_intercept = schema->intercept;
    if (!is_of_classes(belief)) TACIT_CHECK(plan_take_numbers(made.data, error));
    TACIT_CHECK(belief->rows != NULL ? take_rows(made.data, belief, as_they_are, &stream, error)
                                     : draw_rows(made.data, schema, &stream, error));
    if (!is_of_classes(belief) && as_they_are) made.null_deviance = plan_null_of_tests(&made, belief);
    if (!as_they_are) TACIT_CHECK(draw_labels(&made, belief, &stream, error));
    *out = made;
    made.data = NULL;
cleanup:
    tacit_dataset_free(made.data);
    return status;
}

/* ---- what given rows tell ---- */

static tacit_status fit(tacit_model **out, const tacit_belief *belief, const tacit_view *rows, double ridge,
                        tacit_pool *pool, tacit_error *error) {
    tacit_linear_fit how = { .lambda = ridge / (double)rows->rows.count,
                             .gradient_tolerance = 1e-6,
                             .best_effort = true,
                             .pool = pool };
    return plan_fit(out, rows, belief->schema, &how, error);
}

/* What a signal is compared with: the AUC, or the share that is explained. */
static double signal_of(const tacit_metrics *metrics, double null_deviance) {
    double found[TACIT_BELIEF_FIGURES];
    tacit_belief_measure(found, metrics, null_deviance);
    if (!isnan(null_deviance)) return found[TACIT_BELIEF_SHARE];
    return isnan(metrics->auc) ? 0.5 : metrics->auc;
}

/* Mean loss and signal of models of the other folds on each fold. */
static tacit_status cross_validate(const tacit_belief *belief, const uint32_t *order, double ridge,
                                   tacit_pool *pool, double *loss, double *signal, tacit_error *error) {
    const tacit_dataset *rows = belief->rows;
    size_t n = rows->rows;
    uint32_t *train = TACIT_NEW(uint32_t, n);
    if (train == NULL) return tacit_fail_memory(error);
    tacit_status status = TACIT_OK;
    *loss = *signal = 0;
    for (size_t f = 0; status == TACIT_OK && f < FOLDS; f++) {
        size_t from = n * f / FOLDS, to = n * (f + 1) / FOLDS;
        tacit_model *model = NULL;
        tacit_metrics metrics = TACIT_METRICS_NONE;
        memcpy(train, order, from * sizeof *order);
        memcpy(train + from, order + to, (n - to) * sizeof *order);
        tacit_view others = tacit_dataset_subset(rows, train, n - (to - from)),
                   held = tacit_dataset_subset(rows, order + from, to - from);
        status = fit(&model, belief, &others, ridge, pool, error);
        if (status == TACIT_OK) status = tacit_model_evaluate(model, &held, pool, &metrics, error);
        *loss += (is_of_classes(belief) ? metrics.log_loss : metrics.deviance) / FOLDS;
        *signal += signal_of(&metrics, plan_null_deviance(&held, belief->schema)) / FOLDS;
        tacit_model_free(model);
    }
    free(train);
    return status;
}

/* By how much a model of this many rows scores below the law that made their labels. */
static tacit_status overfitting(double *out, const tacit_belief *belief, double ridge, tacit_pool *pool,
                                tacit_error *error) {
    size_t n = belief->rows->rows - belief->rows->rows / FOLDS;
    tacit_status status = TACIT_OK;
    *out = 0;
    for (size_t draw = 0; status == TACIT_OK && draw < GAP_DRAWS; draw++) {
        tacit_world world = TACIT_WORLD_INIT;
        tacit_model *model = NULL;
        tacit_metrics metrics = TACIT_METRICS_NONE;
        /* More rows than there are, so that labels are the law's. */
        status = tacit_world_make(&world, belief, n, GAP_TESTS + belief->rows->rows, 0, draw, error);
        if (status == TACIT_OK) {
            tacit_view all = tacit_dataset_view(world.data), train = tacit_view_slice(&all, 0, n),
                       tests = tacit_view_slice(&all, n, world.tests);
            status = fit(&model, belief, &train, ridge, pool, error);
            if (status == TACIT_OK) status = tacit_model_evaluate(model, &tests, pool, &metrics, error);
        }
        *out += (belief->signal - signal_of(&metrics, world.null_deviance)) / GAP_DRAWS;
        tacit_model_free(model);
        tacit_world_clear(&world);
    }
    return status;
}

static tacit_status random_order(uint32_t *order, size_t count, tacit_error *error) {
    tacit_stream root = tacit_stream_from_seed(0);
    size_t *drawn = TACIT_NEW(size_t, count);
    if (drawn == NULL) return tacit_fail_memory(error);
    tacit_stream_permutation(&root, drawn, count);
    for (size_t i = 0; i < count; i++) order[i] = (uint32_t)drawn[i];
    free(drawn);
    return TACIT_OK;
}

/* The ridge with the least loss on rows held out, and the signal with it. */
static tacit_status choose_ridge(double *ridge, double *signal, const tacit_belief *belief, tacit_pool *pool,
                                 tacit_error *error) {
    static const double candidates[] = { 0.003, 0.03, 0.3, 3, 30 };
    double best = INFINITY;
    uint32_t *order = TACIT_NEW(uint32_t, belief->rows->rows);
    if (order == NULL) return tacit_fail_memory(error);
    tacit_status status = random_order(order, belief->rows->rows, error);
    for (size_t c = 0; status == TACIT_OK && c < sizeof candidates / sizeof *candidates; c++) {
        double loss, found;
        status = cross_validate(belief, order, candidates[c], pool, &loss, &found, error);
        if (status != TACIT_OK || !(loss < best)) continue;
        best = loss;
        *ridge = candidates[c];
        *signal = found;
    }
    free(order);
    return status;
}

/* The weights of a model of all rows: of two classes or a number one vector, of more those of each class
 * against the first. */
static tacit_status fitted_weights(double **out, const tacit_belief *belief, double ridge, tacit_pool *pool,
                                   tacit_error *error) {
    const tacit_dataset *rows = belief->rows;
    size_t d = rows->features, scores = directions_of(belief);
    tacit_view all = tacit_dataset_view(rows);
    tacit_model *model = NULL;
    double *weights = TACIT_NEW(double, d *scores);
    if (weights == NULL) return tacit_fail_memory(error);
    tacit_status status = fit(&model, belief, &all, ridge, pool, error);
    for (size_t k = 0; status == TACIT_OK && k < scores; k++)
        for (size_t j = 0; j < d; j++)
            weights[k * d + j] =
                scores == 1 ? model->weights[j] : model->weights[(k + 1) * d + j] - model->weights[j];
    tacit_model_free(model);
    if (status == TACIT_OK)
        *out = weights;
    else
        free(weights);
    return status;
}

static double share_of_positives(const tacit_dataset *rows) {
    size_t positives = 0;
    for (size_t i = 0; i < rows->rows; i++) positives += rows->label[i] == 1;
    return (double)positives / (double)rows->rows;
}

/* The rows' own law: log-odds fitted on them, and the AUC at which a model of this many rows would score what
 * one does. */
static tacit_status learn(tacit_belief *belief, tacit_pool *pool, tacit_error *error) {
    const tacit_dataset *rows = belief->rows;
    bool told = belief->signal > 0, classes = is_of_classes(belief);
    double ridge = 0, least = classes ? 0.501 : 0.001, held_out = least, gap = 0,
           share = classes ? share_of_positives(rows) : 0;
    if (!classes) TACIT_TRY(plan_look_at_responses(belief, error));
    if (is_binary(belief) && !(share > 0 && share < 1))
        return tacit_fail(error, TACIT_INPUT,
                          "all rows are of one class: nothing can be predicted from them");
    if (!(belief->positives > 0)) belief->positives = share;
    TACIT_TRY(choose_ridge(&ridge, &held_out, belief, pool, error));
    TACIT_TRY(fitted_weights(&belief->weights, belief, ridge, pool, error));
    if (told) return TACIT_OK;
    const bool many = classes && !is_binary(belief);
    belief->signal = many ? TACIT_BELIEF_SIGNAL : fmin(fmax(held_out, least), MOST_SIGNAL);
    for (int step = 0; !many && step < 2; step++) {
        TACIT_TRY(overfitting(&gap, belief, ridge, pool, error));
        belief->signal = fmin(fmax(held_out + fmax(gap, 0), least), MOST_SIGNAL);
    }
    return TACIT_OK;
}

tacit_status tacit_belief_settle(tacit_belief *belief, tacit_pool *pool, tacit_error *error) {
    const tacit_schema *schema = belief->schema;
    size_t features = tacit_schema_features(schema);
    if (schema->response == TACIT_RESPONSE_TIME)
        return tacit_fail(
            error, TACIT_USAGE,
            "a plan is made for classes, numbers and counts, and the label '%s' is of kind %s: what "
            "methods with noise are worth for it, a simulation on public rows like the study's "
            "shows (tacit simulate)",
            schema->label, tacit_response_name(schema->response));
    if (features > TACIT_BELIEF_FEATURES)
        return tacit_fail(error, TACIT_USAGE,
                          "a plan is made for at most %d features, and the schema has %zu: simulate on rows "
                          "like the study's instead (tacit simulate)",
                          TACIT_BELIEF_FEATURES, features);
    if (schema->sparse > 0 && belief->rows == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "the schema says nothing about the values of its features: give rows like the "
                          "study's with the option 'like'");
    if (belief->signal != 0 &&
        !(belief->signal > (is_of_classes(belief) ? 0.5 : 0) && belief->signal <= MOST_SIGNAL))
        return tacit_fail(error, TACIT_USAGE, "the option 'signal' is %s and at most %g, not %g",
                          is_of_classes(belief) ? "an AUC above 0.5" : "the share explained, above 0",
                          MOST_SIGNAL, belief->signal);
    if (belief->rows != NULL && belief->rows->rows < LEAST_ROWS)
        return tacit_fail(error, TACIT_INPUT,
                          "%zu rows are too few to say what others look like: at least %d",
                          belief->rows->rows, (int)LEAST_ROWS);
    if (belief->rows != NULL) return learn(belief, pool, error);
    if (belief->signal == 0)
        belief->signal = is_of_classes(belief) ? TACIT_BELIEF_SIGNAL : TACIT_BELIEF_EXPLAINED;
    if (!is_of_classes(belief)) plan_suppose_responses(belief);
    if (!(belief->positives > 0)) belief->positives = TACIT_BELIEF_POSITIVES;
    return TACIT_OK;
}

void tacit_belief_clear(tacit_belief *belief) {
    free(belief->weights);
    belief->weights = NULL;
}
