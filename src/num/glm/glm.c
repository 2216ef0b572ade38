/* The solver's front door: what a caller can get wrong, and which path a problem takes. */
#include "num/glm/glm.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "num/glm/glm_parts.h"

tacit_glm_settings tacit_glm_defaults(void) {
    return (tacit_glm_settings){ .gradient_tolerance = 1e-8, .max_iterations = 1000 };
}

size_t tacit_glm_size(const tacit_glm_problem *problem) {
    return problem->loss->classes != NULL ? problem->classes * problem->x.cols : problem->x.cols;
}

static tacit_status check_shape(const tacit_glm_problem *problem, tacit_error *error) {
    const tacit_rows *x = &problem->x;
    const tacit_loss *loss = problem->loss;
    if (loss == NULL || loss->rounding == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "the solver certifies a loss whose first and second derivatives are bounded, and "
                          "this one has no such bounds");
    if (loss->classes != NULL && problem->classes < 2)
        return tacit_fail(error, TACIT_USAGE, "softmax needs at least 2 classes, not %zu", problem->classes);
    if (loss->classes == NULL && problem->classes != (loss->of_classes ? 2 : 0))
        return tacit_fail(error, TACIT_USAGE, "%zu classes need the softmax loss: this loss takes %d",
                          problem->classes, loss->of_classes ? 2 : 0);
    if (x->count == 0 && problem->reducer == NULL)
        return tacit_fail(error, TACIT_INPUT, "there are no rows to fit: give at least one");
    if (x->cols == 0)
        return tacit_fail(error, TACIT_INPUT, "the rows have no columns: give at least one feature");
    if (x->count > 0 && (x->dense == NULL) == (x->sparse == NULL))
        return tacit_fail(error, TACIT_USAGE, "rows must be either dense or sparse");
    if (x->dense != NULL && x->stride < x->cols)
        return tacit_fail(error, TACIT_USAGE, "row stride %zu is less than the %zu columns", x->stride,
                          x->cols);
    if (x->count > 0 && (loss->of_classes ? problem->label == NULL : problem->response == NULL))
        return tacit_fail(error, TACIT_USAGE, "rows have no labels");
    if (problem->total_rows != 0 && problem->total_rows < x->count)
        return tacit_fail(error, TACIT_USAGE, "total_rows %zu is less than the %zu rows given",
                          problem->total_rows, x->count);
    if (problem->reducer != NULL && problem->total_rows == 0)
        return tacit_fail(error, TACIT_USAGE, "with a reducer, give total_rows over all holders");
    if (problem->classes > INT_MAX / x->cols || x->stride > INT_MAX)
        return tacit_fail(error, TACIT_LIMIT,
                          "%zu classes times %zu columns are more weights than can be fitted",
                          problem->classes, x->cols);
    return TACIT_OK;
}

/* All of `values` finite and at least `least`. */
static tacit_status check_vector(const double *values, size_t count, double least, const char *name,
                                 tacit_error *error) {
    for (size_t j = 0; values != NULL && j < count; j++)
        if (!isfinite(values[j]) || values[j] < least)
            return tacit_fail(error, TACIT_INPUT, "%s %zu is %g: it must be finite%s", name, j, values[j],
                              isfinite(least) ? " and in range" : "");
    return TACIT_OK;
}

static tacit_status check_numbers(const tacit_glm_problem *problem, tacit_error *error) {
    size_t size = tacit_glm_size(problem);
    bool shared = problem->lambda_each == NULL;
    if (shared && !(problem->lambda > 0 && isfinite(problem->lambda)))
        return tacit_fail(error, TACIT_USAGE, "lambda is %g: it must be positive and finite",
                          problem->lambda);
    for (size_t j = 0; !shared && j < size; j++)
        if (!(problem->lambda_each[j] > 0 && isfinite(problem->lambda_each[j])))
            return tacit_fail(error, TACIT_USAGE, "lambda_each %zu is %g: it must be positive and finite", j,
                              problem->lambda_each[j]);
    const tacit_loss *loss = problem->loss;
    if (loss->shape_name != NULL && !(problem->shape >= 0 && problem->shape <= loss->shape_most))
        return tacit_fail(error, TACIT_USAGE, "%s is %g: it must be in (0, %g], or 0 for %g",
                          loss->shape_name, problem->shape, loss->shape_most, loss->shape_default);
    TACIT_TRY(check_vector(problem->linear, size, -INFINITY, "linear term", error));
    return check_vector(problem->prior, size, -INFINITY, "prior", error);
}

static tacit_status check_response(const tacit_glm_problem *problem, size_t stored, tacit_error *error) {
    size_t columns = problem->loss->columns;
    for (size_t k = 0; !problem->loss->of_classes && k < columns; k++)
        if (!isfinite(problem->response[stored * columns + k]))
            return tacit_fail(error, TACIT_INPUT, "the response of row %zu is not finite", stored);
    if (!problem->loss->of_classes) return TACIT_OK;
    int32_t label = problem->label[stored];
    if (label >= 0 && (size_t)label < problem->classes) return TACIT_OK;
    return tacit_fail(error, TACIT_INPUT, "the label of row %zu is %d, outside 0..%zu", stored, (int)label,
                      problem->classes - 1);
}

static tacit_status check_rows(const tacit_glm_problem *problem, tacit_error *error) {
    for (size_t i = 0; i < problem->x.count; i++) {
        size_t stored = tacit_rows_stored(&problem->x, i);
        TACIT_TRY(check_response(problem, stored, error));
        double weight = problem->weight != NULL ? problem->weight[stored] : 1;
        if (!(weight >= 0 && isfinite(weight)))
            return tacit_fail(error, TACIT_INPUT,
                              "the weight of row %zu is %g: it must be finite and not negative", stored,
                              weight);
    }
    return TACIT_OK;
}

tacit_status glm_validate(const tacit_glm_problem *problem, tacit_error *error) {
    TACIT_TRY(check_shape(problem, error));
    TACIT_TRY(check_numbers(problem, error));
    return check_rows(problem, error);
}

/* With a reducer every holder must learn that one of them cannot go on, or the others would wait for it. */
static tacit_status validate_together(const tacit_glm_problem *problem, tacit_error *error) {
    tacit_status status = glm_validate(problem, error);
    if (problem->reducer == NULL) return status;
    double failures = status != TACIT_OK;
    TACIT_TRY(problem->reducer->sum(problem->reducer->context, &failures, 1, error));
    if (status == TACIT_OK && failures > 0)
        return tacit_fail(error, TACIT_INPUT, "another holder of rows cannot take part: see its message");
    return status;
}

tacit_status tacit_glm_solve(const tacit_glm_problem *problem, const tacit_glm_settings *settings,
                             double *weights, tacit_glm_fit *fit, tacit_error *error) {
    TACIT_TRY(validate_together(problem, error));
    if (!(settings->gradient_tolerance > 0))
        return tacit_fail(error, TACIT_USAGE, "gradient_tolerance is %g: it must be positive",
                          settings->gradient_tolerance);
    TACIT_TRY(check_vector(weights, tacit_glm_size(problem), -INFINITY, "starting weight", error));
    tacit_glm_fit found = { 0 };
    if (glm_small_fits(problem)) {
        tacit_error unread = TACIT_ERROR_INIT;
        tacit_status status = glm_solve_small(problem, settings, weights, &found, &unread);
        if (status != TACIT_OK && status != TACIT_NOT_CONVERGED)
            return tacit_fail(error, status, "%s", unread.text);
        if (status == TACIT_OK) {
            if (fit != NULL) *fit = found;
            return TACIT_OK;
        }
    }
    TACIT_TRY(glm_solve_general(problem, settings, weights, &found, error));
    if (fit != NULL) *fit = found;
    return TACIT_OK;
}

tacit_status tacit_glm_certify(const tacit_glm_problem *problem, tacit_pool *pool, const double *weights,
                               double *gradient, tacit_glm_fit *fit, tacit_error *error) {
    TACIT_TRY(validate_together(problem, error));
    TACIT_TRY(check_vector(weights, tacit_glm_size(problem), -INFINITY, "weight", error));
    glm_work work = { 0 };
    glm_point point = { 0 };
    tacit_status status;
    TACIT_CHECK(glm_work_prepare(&work, problem, pool, &problem->x, 1, error));
    TACIT_CHECK(glm_point_create(&point, &work, error));
    memcpy(point.weights, weights, work.size * sizeof *weights);
    TACIT_CHECK(glm_evaluate(&work, &point, error));
    if (!isfinite(point.objective) || !isfinite(point.bound)) {
        status = tacit_fail(error, TACIT_INPUT, "a feature is not finite, or too large to square");
        goto cleanup;
    }
    if (gradient != NULL) memcpy(gradient, point.gradient, work.size * sizeof *gradient);
    if (fit != NULL) *fit = (tacit_glm_fit){ point.objective, point.bound, 0 };
cleanup:
    glm_point_clear(&point);
    glm_work_clear(&work);
    return status;
}
