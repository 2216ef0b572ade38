/* How a stack is laid out from a plan: groups of features and what each is worth, all of it public. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema/text.h"
#include "method/private/stacking.h"

_Static_assert(offsetof(stacking_settings, perturb) == 0, "tables of the loss begin with the struct");

const stacking_settings stacking_defaults = { .perturb = PERTURB_DEFAULTS,
                                              .low = 0.5,
                                              .blocks = 5,
                                              .groups = 5,
                                              .importance = "uniform",
                                              .group_lambda = "lambda",
                                              .sources = 1 };

void stacking_clear(stacking *how) {
    if (how == NULL) return;
    tacit_stack_free(how->stack);
    free(how->lambda);
    free(how->prior);
    free(how->is_tree);
    dptree_clear(&how->design);
    *how = (stacking)STACKING_INIT;
}

/* ---- lists of numbers in a setting ---- */

/* "v1,v2,...", the text of `setting`: exactly `count` numbers, at least `least` each. */
static tacit_status read_list(const tacit_plan *plan, const char *setting, const char *text, double *out,
                              size_t count, double least, tacit_error *error) {
    const char *at = text;
    for (size_t i = 0; i < count; i++) {
        size_t length = strcspn(at, ",");
        if (!tacit_text_to_number(at, length, &out[i]) || !isfinite(out[i]) || out[i] < least)
            return tacit_fail(
                error, TACIT_USAGE,
                "setting %s of method %s: number %zu of '%.60s' is missing or below %g; it needs %zu",
                setting, plan->method->name, i + 1, text, least, count);
        at += length;
        if (*at == ',' && i + 1 < count) at++;
    }
    if (*at == 0) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE, "setting %s of method %s has more than the %zu numbers it needs",
                      setting, plan->method->name, count);
}

/* ---- importance ---- */

/* The intercept is in every group: a group without one could not move its threshold. */
static size_t ordinary_features(const tacit_plan *plan) {
    bool constant = plan->schema != NULL && plan->schema->intercept && plan->features > 1;
    return plan->features - constant;
}

static tacit_status variances(const tacit_plan *plan, double *out, size_t features, tacit_error *error) {
    const tacit_points *points = plan->points;
    if (points == NULL || points->rows.count == 0)
        return tacit_fail(error, TACIT_USAGE,
                          "importance=points of method %s takes the features' variances from public points, "
                          "and there are none: give a file of them",
                          plan->method->name);
    const tacit_rows *rows = &points->rows;
    double *x = TACIT_NEW(double, 2 * rows->cols), *mean = x + rows->cols, n = (double)rows->count;
    if (x == NULL) return tacit_fail_memory(error);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < rows->count; i++) {
            tacit_rows_copy(rows, i, x);
            for (size_t j = 0; j < features; j++)
                if (pass == 0)
                    mean[j] += x[j] / n;
                else
                    out[j] += (x[j] - mean[j]) * (x[j] - mean[j]) / n;
        }
    free(x);
    return TACIT_OK;
}

/* v_i of equation (6), for the ordinary features; false in *weighted for random groups of equal weight. */
static tacit_status read_importance(const tacit_plan *plan, double *out, bool *weighted, tacit_error *error) {
    static const char power[] = "power:";
    const char *text = stacking_settings_of(plan)->importance;
    size_t features = ordinary_features(plan);
    double base;
    *weighted = strcmp(text, "uniform") != 0;
    for (size_t j = 0; j < features; j++) out[j] = *weighted ? 0 : 1;
    if (!*weighted) return TACIT_OK;
    if (strcmp(text, "points") == 0) return variances(plan, out, features, error);
    if (strncmp(text, power, sizeof power - 1) != 0)
        return read_list(plan, "importance", text, out, features, 0, error);
    text += sizeof power - 1;
    if (!tacit_text_to_number(text, strlen(text), &base) || !(base > 0 && base <= 1e6))
        return tacit_fail(error, TACIT_USAGE, "importance=power:A of method %s needs a number A above 0",
                          plan->method->name);
    /* Relative to the largest, so that no power overflows. */
    double largest = base > 1 ? (double)features : 1;
    for (size_t j = 0; j < features; j++) out[j] = pow(base, (double)(j + 1) - largest);
    return TACIT_OK;
}

typedef struct ranked {
    double value;
    uint32_t column;
} ranked;

static int by_importance(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? 1 : -1;
    return (x->column > y->column) - (x->column < y->column);
}

static int by_column(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    return (x->column > y->column) - (x->column < y->column);
}

/* By falling importance, or at random for groups of equal weight. */
static tacit_status rank_features(const tacit_plan *plan, ranked *out, bool *weighted, tacit_error *error) {
    size_t features = ordinary_features(plan);
    double *value = TACIT_NEW(double, features);
    size_t *order = TACIT_NEW(size_t, features);
    tacit_stream root = tacit_stream_from_seed(0), stream;
    tacit_status status;
    if (value == NULL || order == NULL) {
        status = tacit_fail_memory(error);
        goto cleanup;
    }
    TACIT_CHECK(read_importance(plan, value, weighted, error));
    stream = tacit_stream_fork(&root, "feature groups", stacking_settings_of(plan)->draw, 0);
    tacit_stream_permutation(&stream, order, features);
    for (size_t j = 0; j < features; j++) {
        size_t column = *weighted ? j : order[j];
        out[j] = (ranked){ value[column], (uint32_t)column };
    }
    if (*weighted) qsort(out, features, sizeof *out, by_importance);
cleanup:
    free(value);
    free(order);
    return status;
}

/* ---- groups ---- */

static const double NEGLIGIBLE = 1e-12; /* a q_k no better than the rounding of variances */

/* Features [begin, end) of the ranking become one more member, with its q_k; none if that is 0. */
static void add_group(stacking *how, ranked *features, size_t begin, size_t end, double total,
                      const uint32_t *intercept) {
    tacit_stack *stack = how->stack;
    size_t k = stack->members, at = stack->start[k];
    double sum = 0;
    for (size_t j = begin; j < end; j++) sum += features[j].value;
    if (!(sum > NEGLIGIBLE * total)) return;
    qsort(features + begin, end - begin, sizeof *features, by_column);
    for (size_t j = begin; j < end; j++) stack->column[at++] = features[j].column;
    if (intercept != NULL) stack->column[at++] = *intercept;
    /* Rounded down, so that the scales add up to no more than 1. */
    stack->scale[k] = sum == total ? 1 : sum / total * (1 - 0x1p-40);
    stack->start[++stack->members] = at;
}

static tacit_status make_groups(stacking *how, const tacit_plan *plan, tacit_error *error) {
    size_t features = ordinary_features(plan), groups = stacking_settings_of(plan)->groups;
    uint32_t constant = (uint32_t)(plan->features - 1);
    double total = 0;
    bool weighted = false;
    tacit_status status;
    if (groups > features)
        return tacit_fail(error, TACIT_USAGE,
                          "method %s cannot make %zu groups of %zu features: set fewer with groups=",
                          plan->method->name, groups, features);
    ranked *ranking = TACIT_NEW(ranked, features);
    if (ranking == NULL) return tacit_fail_memory(error);
    TACIT_CHECK(rank_features(plan, ranking, &weighted, error));
    TACIT_CHECK(tacit_stack_create(&how->stack, groups, features + groups, error));
    how->stack->members = 0;
    /* Groups have equal weight, or that of their features. */
    for (size_t g = 0; g < groups; g++)
        for (size_t j = features * g / groups; j < features * (g + 1) / groups; j++) {
            if (!weighted)
                ranking[j].value = 1 / (double)(features * (g + 1) / groups - features * g / groups);
            total += ranking[j].value;
        }
    if (!(total > 0) || !isfinite(total))
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "no feature has an importance above 0"));
    if (groups == 1) { /* one group has all the weight there is, to the last bit */
        ranking[0].value = total = 1;
        for (size_t j = 1; j < features; j++) ranking[j].value = 0;
    }
    for (size_t g = 0; g < groups; g++)
        add_group(how, ranking, features * g / groups, features * (g + 1) / groups, total,
                  features < plan->features ? &constant : NULL);
cleanup:
    free(ranking);
    return status;
}

/* ---- the whole ---- */

/* `lambdas`: of the members, l1,l2,...; "lambda": the plan's. */
static tacit_status complete(stacking *how, const tacit_plan *plan, const char *lambdas, tacit_error *error) {
    const stacking_settings *settings = stacking_settings_of(plan);
    tacit_stack *stack = how->stack;
    how->epsilon = plan->epsilon;
    how->share = settings->low;
    how->high_lambda = settings->high_lambda > 0 ? settings->high_lambda : plan->lambda;
    stack->is_centered = settings->meta == STACKING_CENTERED;
    stack->combiner = settings->combiner;
    how->lambda = TACIT_NEW(double, stack->members);
    if (how->lambda == NULL) return tacit_fail_memory(error);
    for (size_t k = 0; k < stack->members; k++) how->lambda[k] = plan->lambda;
    if (strcmp(lambdas, "lambda") != 0)
        TACIT_TRY(read_list(plan, "group-lambda", lambdas, how->lambda, stack->members, 1e-12, error));
    if (stack->members == 1 || stack->combiner != TACIT_COMBINE_HIGH) stacking_low_only(how);
    return TACIT_OK;
}

void stacking_low_only(stacking *how) {
    how->takes_all_rows = true;
    if (how->stack->combiner == TACIT_COMBINE_HIGH) how->stack->combiner = TACIT_COMBINE_WEIGHTED;
}

tacit_status stacking_of_groups(stacking *out, const tacit_plan *plan, tacit_error *error) {
    stacking how = STACKING_INIT;
    tacit_status status;
    TACIT_CHECK(make_groups(&how, plan, error));
    how.stack->rows_normalised =
        how.stack->members > 1 && stacking_settings_of(plan)->rows == STACKING_NORMALISE;
    TACIT_CHECK(complete(&how, plan, stacking_settings_of(plan)->group_lambda, error));
    *out = how;
    how = (stacking)STACKING_INIT;
cleanup:
    stacking_clear(&how);
    return status;
}

/* Member k of all features, behind those before it. */
static void take_all_features(tacit_stack *stack, size_t k, size_t features) {
    for (size_t j = 0; j < features; j++) stack->column[stack->start[k] + j] = (uint32_t)j;
    stack->start[k + 1] = stack->start[k] + features;
}

tacit_status stacking_of_one(stacking *out, const tacit_plan *plan, tacit_error *error) {
    stacking how = { .by_rows = true, .high_lambda = plan->lambda, .share = 1, .epsilon = plan->epsilon };
    tacit_status status;
    TACIT_CHECK(tacit_stack_create(&how.stack, 1, plan->features, error));
    take_all_features(how.stack, 0, plan->features);
    how.lambda = TACIT_NEW(double, 1);
    if (how.lambda == NULL) TACIT_CHECK(tacit_fail_memory(error));
    how.lambda[0] = plan->lambda;
    stacking_low_only(&how);
    *out = how;
    how = (stacking)STACKING_INIT;
cleanup:
    stacking_clear(&how);
    return status;
}

tacit_status stacking_of_blocks(stacking *out, const tacit_plan *plan, tacit_error *error) {
    stacking how = { .by_rows = true };
    size_t members = stacking_settings_of(plan)->blocks;
    tacit_status status;
    TACIT_CHECK(tacit_stack_create(&how.stack, members, members * plan->features, error));
    TACIT_CHECK(stacking_plant(&how, plan, error));
    for (size_t k = 0; k < members; k++)
        take_all_features(how.stack, k, stacking_is_tree(&how, k) ? 0 : plan->features);
    TACIT_CHECK(complete(&how, plan, "lambda", error));
    *out = how;
    how = (stacking)STACKING_INIT;
cleanup:
    stacking_clear(&how);
    return status;
}

/* ---- who gets which rows ---- */

size_t stacking_low_rows(const stacking *how, size_t rows) {
    size_t low = (size_t)floor((double)rows * how->share + 0.5);
    if (how->takes_all_rows) return rows;
    if (low >= rows) low = rows > 0 ? rows - 1 : 0;
    return low > 0 ? low : 1;
}

void stacking_order(const stacking *how, size_t *out, size_t rows) {
    tacit_stream root = tacit_stream_from_seed(0), stream = tacit_stream_fork(&root, "stack rows", rows, 0);
    if (how->stack->members > 1)
        tacit_stream_permutation(&stream, out, rows);
    else
        for (size_t i = 0; i < rows; i++) out[i] = i;
}
