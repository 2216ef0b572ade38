#include "method/transfer/transfer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema/text.h"

_Static_assert(offsetof(dphtl_settings, transfer) == 0, "both methods read the shared part");

const dphtl_settings dphtl_defaults = {
    .transfer = TRANSFER_DEFAULTS, .labelled = 0.4, .target_labels = 0.05, .floor = 0.01
};

const tacit_parameter dphtl_parameters[] = {
    TRANSFER_PARAMETERS,
    TACIT_NUMBER(
        dphtl_settings, labelled, "labelled", 0.01, 1,
        "most of a source's rows that train its hypothesis, its first with a label; the others make "
        "importance weights. 1: all with a label, and all rows make importance weights, at twice the price"),
    TACIT_CHOICE(dphtl_settings, hypothesis, "hypothesis", "output|plr",
                 "how sources make theirs private: noise on the weights, or on the objective"),
    TACIT_CHOICE(
        dphtl_settings, model, "model", "dphtl|average|source|sources|soft|weak|target|pphtl",
        "what the target makes: dphtl, or to compare average (equal weights), source (the hypothesis that "
        "fits its labels best), sources (each of them; in simulations only), soft (their votes as labels), "
        "weak and target (its own few labels, or all), pphtl (mean hypothesis as center of the regulariser)"),
    TACIT_CHOICE(dphtl_settings, prior, "prior", "aware|paper",
                 "of dphtl and average: knowing the noise, or as printed"),
    TACIT_NUMBER(dphtl_settings, target_labels, "target_labels", 1e-6, 1,
                 "part of the target's rows, its first, whose labels are used; all, where some have none"),
    TACIT_NUMBER(dphtl_settings, floor, "floor", 1e-12, 1e6,
                 "the least variance of a coefficient in the prior"),
    TACIT_SETTINGS_END,
};

bool transfer_gaussian(const tacit_plan *plan) {
    return tacit_plan_gaussian(plan, transfer_settings_of(plan)->law);
}

tacit_calibration transfer_calibration(const tacit_plan *plan) {
    return transfer_settings_of(plan)->calibration;
}

tacit_status transfer_dimensions(const tacit_plan *plan, size_t *out, tacit_error *error) {
    const char *text = transfer_settings_of(plan)->project;
    double number = 0;
    *out = 0;
    if (strcmp(text, "none") == 0) return TACIT_OK;
    bool valid =
        strncmp(text, "public:", 7) == 0 && tacit_text_to_number(text + 7, strlen(text + 7), &number);
    if (!valid || number < 1 || number > 10000 || number != floor(number))
        return tacit_fail(error, TACIT_USAGE,
                          "project=%s: write none, or public:P with a whole number P from 1", text);
    *out = (size_t)number;
    return TACIT_OK;
}

size_t transfer_size(const tacit_plan *plan) {
    size_t dimensions = 0;
    if (transfer_dimensions(plan, &dimensions, NULL) != TACIT_OK || dimensions == 0) return plan->features;
    return dimensions;
}

tacit_status transfer_check(const tacit_plan *plan, tacit_error *error) {
    size_t dimensions = 0;
    TACIT_TRY(transfer_dimensions(plan, &dimensions, error));
    if (plan->classes != 2)
        return tacit_fail(error, TACIT_USAGE, "method %s is for two classes and the label has %zu",
                          plan->method->name, plan->classes);
    if (plan->minimum_rows < 2)
        return tacit_fail(error, TACIT_USAGE, "method %s needs the minimum rows of a party, at least 2",
                          plan->method->name);
    if (transfer_gaussian(plan) && plan->delta == 0 && isfinite(plan->epsilon))
        return tacit_fail(error, TACIT_USAGE,
                          "method %s with law=gaussian needs a delta above 0, such as 1e-5",
                          plan->method->name);
    if (dimensions > plan->features)
        return tacit_fail(error, TACIT_USAGE, "project=public:%zu: the rows have %zu features only",
                          dimensions, plan->features);
    return TACIT_OK;
}

tacit_status transfer_space(tacit_projection *out, const tacit_plan *plan, tacit_error *error) {
    size_t dimensions = 0;
    *out = (tacit_projection){ plan->features, 0, NULL };
    TACIT_TRY(transfer_dimensions(plan, &dimensions, error));
    return dimensions > 0 ? tacit_projection_of(out, &plan->points->rows, dimensions, error) : TACIT_OK;
}

void transfer_rows_clear(transfer_rows *rows) {
    tacit_matrix_clear(&rows->dense);
    tacit_csr_clear(&rows->sparse);
}

static size_t entries_of(const tacit_rows *rows) {
    size_t entries = 0;
    for (size_t i = 0; i < rows->count; i++) {
        size_t stored = tacit_rows_stored(rows, i);
        entries += rows->sparse->start[stored + 1] - rows->sparse->start[stored];
    }
    return entries;
}

static void append_sparse(tacit_csr *to, size_t *at, const tacit_rows *rows) {
    for (size_t i = 0; i < rows->count; i++) {
        size_t stored = tacit_rows_stored(rows, i), from = rows->sparse->start[stored];
        size_t count = rows->sparse->start[stored + 1] - from, begin = to->start[*at];
        if (count > 0) {
            memcpy(to->column + begin, rows->sparse->column + from, count * sizeof *to->column);
            memcpy(to->value + begin, rows->sparse->value + from, count * sizeof *to->value);
        }
        to->start[++*at] = begin + count;
    }
}

static void append_dense(tacit_matrix *to, size_t *at, const tacit_projection *space,
                         const tacit_rows *rows) {
    for (size_t i = 0; i < rows->count; i++, ++*at) {
        double *place = to->values + *at * to->cols;
        if (space->dimensions > 0)
            tacit_projection_row(space, rows, i, place);
        else
            tacit_rows_copy(rows, i, place);
    }
}

tacit_status transfer_stack(transfer_rows *out, const tacit_projection *space, const tacit_rows *first,
                            const tacit_rows *second, tacit_error *error) {
    size_t count = first->count + (second != NULL ? second->count : 0), at = 0;
    bool dense = space->dimensions > 0 || first->dense != NULL || (second != NULL && second->dense != NULL);
    *out = (transfer_rows)TRANSFER_ROWS_INIT;
    if (dense) {
        size_t width = space->dimensions > 0 ? space->dimensions : space->features;
        TACIT_TRY(tacit_matrix_create(&out->dense, count, width, error));
        append_dense(&out->dense, &at, space, first);
        if (second != NULL) append_dense(&out->dense, &at, space, second);
        out->rows = tacit_rows_of_matrix(&out->dense);
        return TACIT_OK;
    }
    size_t entries = entries_of(first) + (second != NULL ? entries_of(second) : 0);
    TACIT_TRY(tacit_csr_create(&out->sparse, count, space->features, entries, error));
    append_sparse(&out->sparse, &at, first);
    if (second != NULL) append_sparse(&out->sparse, &at, second);
    out->rows = tacit_rows_of_csr(&out->sparse);
    return TACIT_OK;
}

tacit_status transfer_density(double *beta, const tacit_projection *space, const tacit_rows *rows,
                              const tacit_rows *points, double lambda, double tolerance, tacit_pool *pool,
                              tacit_error *error) {
    transfer_rows both = TRANSFER_ROWS_INIT;
    size_t count = rows->count + points->count;
    int32_t *label = TACIT_NEW(int32_t, count);
    double *weight = TACIT_NEW(double, count);
    tacit_glm_settings settings = tacit_glm_defaults();
    tacit_glm_fit fit;
    tacit_status status = TACIT_OK;
    if (label == NULL || weight == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(transfer_stack(&both, space, rows, points, error));
    for (size_t i = 0; i < count; i++) {
        label[i] = i < rows->count;
        weight[i] = 1 / (double)(i < rows->count ? rows->count : points->count);
    }
    tacit_glm_problem problem = { .loss = &tacit_family_logistic.loss,
                                  .x = both.rows,
                                  .label = label,
                                  .weight = weight,
                                  .classes = 2,
                                  .lambda = lambda };
    settings.gradient_tolerance = tolerance;
    settings.best_effort = true;
    settings.pool = pool;
    memset(beta, 0, both.rows.cols * sizeof *beta);
    TACIT_CHECK(tacit_glm_solve(&problem, &settings, beta, &fit, error));
cleanup:
    transfer_rows_clear(&both);
    free(label);
    free(weight);
    return status;
}

void transfer_importance(const tacit_rows *points, const double *beta, double *out) {
    double largest = -INFINITY, sum = 0;
    for (size_t i = 0; i < points->count; i++) {
        out[i] = tacit_rows_dot(points, i, beta);
        if (out[i] > largest) largest = out[i];
    }
    for (size_t i = 0; i < points->count; i++) {
        out[i] = exp(fmax(out[i] - largest, -690)); /* above 0, so that logarithms and quotients exist */
        sum += out[i];
    }
    for (size_t i = 0; i < points->count; i++) out[i] *= (double)points->count / sum;
}

int32_t *transfer_labels(const tacit_view *view, size_t count) {
    int32_t *label = TACIT_NEW(int32_t, count);
    for (size_t i = 0; label != NULL && i < count; i++) label[i] = tacit_view_label(view, i);
    return label;
}

tacit_status transfer_divide(transfer_parts *out, const tacit_view *view, size_t most, tacit_error *error) {
    const size_t rows = view->rows.count;
    size_t first = 0, next = 0;
    uint32_t *index = TACIT_NEW(uint32_t, rows);
    bool *taken = TACIT_NEW(bool, rows);
    tacit_status status = TACIT_OK;
    if (index == NULL || taken == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t i = 0; i < rows && first < most; i++) {
        taken[i] = tacit_view_label(view, i) != TACIT_UNLABELLED;
        if (taken[i]) index[first++] = (uint32_t)tacit_rows_stored(&view->rows, i);
    }
    next = first;
    for (size_t i = 0; i < rows; i++)
        if (!taken[i]) index[next++] = (uint32_t)tacit_rows_stored(&view->rows, i);
    *out = (transfer_parts){ *view, first, index };
    out->all.rows.index = index;
    out->all.rows.first = 0;
    index = NULL;
cleanup:
    free(index);
    free(taken);
    return status;
}

void transfer_parts_clear(transfer_parts *parts) {
    free(parts->index);
    *parts = (transfer_parts){ .index = NULL };
}

double transfer_mean(double *mean, size_t size, size_t sources, const double *weights, double *const *theta,
                     double r) {
    double square = 0;
    for (size_t j = 0; j < size; j++) {
        mean[j] = 0;
        for (size_t k = 0; k < sources; k++) mean[j] += weights[k] * theta[k][j];
        square += mean[j] * mean[j];
    }
    if (r == 0) return 1;
    return square > 0 ? fmax(0, 1 - (double)size * r / square) : 0;
}

/* m at w; returns f(w) except for the constant sum t log t. */
static double mix(const double *weights, size_t sources, size_t points, const double *target,
                  const double *const *source, double *mixed) {
    double value = 0;
    for (size_t i = 0; i < points; i++) {
        double m = 0;
        for (size_t k = 0; k < sources; k++) m += weights[k] * source[k][i];
        mixed[i] = m;
        value -= target[i] * log(m);
    }
    return value / (double)points;
}

/* g at m; returns the gap. */
static double slopes(size_t sources, size_t points, const double *target, const double *const *source,
                     const double *mixed, double *out) {
    double most = 0;
    for (size_t k = 0; k < sources; k++) {
        double sum = 0;
        for (size_t i = 0; i < points; i++) sum += target[i] * source[k][i] / mixed[i];
        out[k] = sum / (double)points;
        most = fmax(most, out[k]);
    }
    return most - 1;
}

static void step(const double *weights, const double *slope, size_t sources, double power, double *out) {
    double sum = 0;
    for (size_t k = 0; k < sources; k++) sum += out[k] = weights[k] * pow(slope[k], power);
    for (size_t k = 0; k < sources; k++) out[k] /= sum;
}

tacit_status transfer_mixture(double *weights, size_t sources, size_t points, const double *target,
                              const double *const *source, double *gap, tacit_error *error) {
    enum { MOST_STEPS = 20000 };
    static const double TOLERANCE = 1e-6;
    double *mixed = TACIT_NEW(double, 2 * points), *slope = TACIT_NEW(double, sources),
           *next = TACIT_NEW(double, sources), power = 1;
    tacit_status status = TACIT_OK;
    if (mixed == NULL || slope == NULL || next == NULL) TACIT_CHECK(tacit_fail_memory(error));
    double *trial = mixed + points;
    for (size_t k = 0; k < sources; k++) weights[k] = 1 / (double)sources;
    double value = mix(weights, sources, points, target, source, mixed);
    *gap = slopes(sources, points, target, source, mixed, slope);
    for (int i = 0; i<MOST_STEPS && * gap> TOLERANCE; i++) {
        step(weights, slope, sources, power, next);
        double reached = mix(next, sources, points, target, source, trial);
        if (!(reached <= value) && power > 1) {
            power = 1;
            continue;
        }
        memcpy(weights, next, sources * sizeof *weights);
        memcpy(mixed, trial, points * sizeof *mixed);
        value = reached;
        power = fmin(power * 1.5, 1e4);
        *gap = slopes(sources, points, target, source, mixed, slope);
    }
    for (size_t k = 0; isnan(*gap) && k < sources; k++) weights[k] = 1 / (double)sources;
cleanup:
    free(mixed);
    free(slope);
    free(next);
    return status;
}

tacit_status transfer_map(double *theta, const tacit_rows *rows, const int32_t *label, const double *weight,
                          const double *mean, const double *precision, tacit_pool *pool, tacit_error *error) {
    tacit_glm_settings settings = tacit_glm_defaults();
    tacit_glm_fit fit;
    tacit_glm_problem problem = { .loss = &tacit_family_logistic.loss,
                                  .x = *rows,
                                  .label = label,
                                  .weight = weight,
                                  .classes = 2,
                                  .lambda = 1,
                                  .lambda_each = precision,
                                  .prior = mean };
    settings.pool = pool;
    settings.gradient_tolerance = 1e-7;
    settings.best_effort = true; /* for the target's own model: no theorem rests on it */
    if (mean != NULL)
        memcpy(theta, mean, rows->cols * sizeof *theta);
    else
        memset(theta, 0, rows->cols * sizeof *theta);
    return tacit_glm_solve(&problem, &settings, theta, &fit, error);
}

tacit_status transfer_add_model(const tacit_plan *plan, const tacit_projection *space, const double *theta,
                                tacit_outcome *out, tacit_error *error) {
    tacit_model *model = NULL;
    TACIT_TRY(tacit_model_create(&model, &tacit_family_logistic, plan->features, 2, error));
    if (space->dimensions > 0)
        tacit_projection_back(space, theta, model->weights);
    else
        memcpy(model->weights, theta, plan->features * sizeof *theta);
    return tacit_outcome_add(out, model, error);
}
