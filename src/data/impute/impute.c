#include "data/impute/impute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/impute/impute_parts.h"
#include "rand/fast.h"

/* ---- symmetric systems ---- */

/* Of a predictor's square what those before it leave unexplained: less, and it follows from them. */
static const double FOLLOWS = 1e-9;

size_t impute_factor(double *a, size_t width, bool *absent) {
    size_t absents = 0;
    for (size_t j = 0; j < width; j++) {
        double whole = a[j * width + j], pivot = whole;
        for (size_t k = 0; k < j; k++)
            if (!absent[k]) pivot -= a[j * width + k] * a[j * width + k];
        absent[j] = !(pivot > FOLLOWS * whole) || !(whole > 0);
        absents += absent[j];
        if (absent[j]) continue;
        a[j * width + j] = sqrt(pivot);
        for (size_t i = j + 1; i < width; i++) {
            double sum = a[i * width + j];
            for (size_t k = 0; k < j; k++)
                if (!absent[k]) sum -= a[i * width + k] * a[j * width + k];
            a[i * width + j] = sum / a[j * width + j];
        }
    }
    return absents;
}

void impute_forward(const double *a, size_t width, const bool *absent, double *b) {
    for (size_t i = 0; i < width; i++) {
        if (absent[i]) {
            b[i] = 0;
            continue;
        }
        for (size_t k = 0; k < i; k++)
            if (!absent[k]) b[i] -= a[i * width + k] * b[k];
        b[i] /= a[i * width + i];
    }
}

void impute_backward(const double *a, size_t width, const bool *absent, double *b) {
    for (size_t i = width; i-- > 0;) {
        if (absent[i]) {
            b[i] = 0;
            continue;
        }
        for (size_t k = i + 1; k < width; k++)
            if (!absent[k]) b[i] -= a[k * width + i] * b[k];
        b[i] /= a[i * width + i];
    }
}

/* ---- one variable ---- */

double impute_dot(const impute_work *work, const double *row, const double *b) {
    double sum = 0;
    for (size_t j = 0; j < work->predictors; j++) sum += row[work->predictor[j]] * b[j];
    return sum;
}

/* All columns but its own. */
static void choose_predictors(impute_work *work, const tacit_impute_variable *of) {
    work->predictors = 0;
    for (size_t j = 0; j < work->problem->width; j++)
        if (j < of->first || j >= of->first + of->count) work->predictor[work->predictors++] = j;
}

static void add_square(impute_work *work, const double *row, double y) {
    size_t p = work->predictors;
    for (size_t i = 0; i < p; i++) {
        double x = row[work->predictor[i]];
        work->b[i] += x * y;
        for (size_t j = 0; x != 0 && j <= i; j++) work->matrix[i * p + j] += x * row[work->predictor[j]];
    }
}

static void draw_number(impute_work *work, const tacit_impute_variable *of, tacit_stream *stream) {
    const tacit_impute_problem *problem = work->problem;
    size_t p = work->predictors, next = 0, seen = problem->rows - of->cells;
    memset(work->matrix, 0, p * p * sizeof *work->matrix);
    memset(work->b, 0, p * sizeof *work->b);
    for (size_t i = 0; i < problem->rows; i++) {
        const double *row = problem->values + i * problem->width;
        if (next < of->cells && of->row[next] == i)
            next++;
        else
            add_square(work, row, row[of->first]);
    }
    size_t used = p - impute_factor(work->matrix, p, work->absent);
    impute_forward(work->matrix, p, work->absent, work->b);
    impute_backward(work->matrix, p, work->absent, work->b);
    double residual = 0;
    next = 0;
    for (size_t i = 0; i < problem->rows; i++) {
        const double *row = problem->values + i * problem->width;
        if (next < of->cells && of->row[next] == i)
            next++;
        else
            residual += pow(row[of->first] - impute_dot(work, row, work->b), 2);
    }
    double degrees = seen > used ? (double)(seen - used) : 1;
    double sigma = sqrt(residual / (2 * tacit_fast_gamma(stream, degrees / 2)));
    tacit_fast_normals(stream, work->draw, p);
    impute_backward(work->matrix, p, work->absent, work->draw);
    for (size_t j = 0; j < p; j++) work->b[j] += sigma * work->draw[j];
    for (size_t c = 0; c < of->cells; c++) {
        double *row = problem->values + of->row[c] * problem->width;
        double value = impute_dot(work, row, work->b) + sigma * tacit_fast_normal(stream);
        row[of->first] = fmin(fmax(value, of->low), of->high);
    }
}

/* ---- all of them ---- */

/* The level of a row, 0 for the first. */
size_t impute_level(const tacit_impute_variable *of, const double *row) {
    for (size_t k = 0; k < of->count; k++)
        if (row[of->first + k] > of->unit / 2) return k + 1;
    return 0;
}

void impute_set_level(const tacit_impute_variable *of, double *row, size_t level) {
    for (size_t k = 0; k < of->count; k++) row[of->first + k] = k + 1 == level ? of->unit : 0;
}

/* A random row of those in which the variable is there: position `at` among them. */
static size_t seen_row(const tacit_impute_variable *of, size_t at) {
    for (size_t c = 0; c < of->cells && of->row[c] <= at; c++) at++;
    return at;
}

/* Something to begin with: what a random other row has. */
static tacit_status begin(const tacit_impute_problem *problem, const tacit_impute_variable *of,
                          tacit_stream *stream, tacit_error *error) {
    size_t seen = problem->rows - of->cells;
    if (seen == 0)
        return tacit_fail(error, TACIT_INPUT,
                          "column '%s' has no value in any row here: there is nothing to draw its missing "
                          "values from. Leave it out, or write another missing than impute",
                          of->name);
    for (size_t c = 0; c < of->cells; c++) {
        size_t from = seen_row(of, (size_t)tacit_stream_below(stream, seen));
        for (size_t k = 0; k < of->count; k++)
            problem->values[of->row[c] * problem->width + of->first + k] =
                problem->values[from * problem->width + of->first + k];
    }
    return TACIT_OK;
}

/* Room for the largest regression: of a category one set of parameters for each level but one. */
static tacit_status make_room(impute_work *work, tacit_error *error) {
    const tacit_impute_problem *problem = work->problem;
    size_t most = problem->width;
    for (size_t v = 0; v < problem->variables; v++) {
        const tacit_impute_variable *of = &problem->variable[v];
        size_t parameters = (of->category ? of->count : 1) * (problem->width - of->count);
        if (parameters > TACIT_IMPUTE_MOST_PARAMETERS)
            return tacit_fail(error, TACIT_USAGE,
                              "imputing column '%s' takes a regression of %zu parameters, and at most %d are "
                              "possible: have fewer columns or levels",
                              of->name, parameters, TACIT_IMPUTE_MOST_PARAMETERS);
        if (parameters > most) most = parameters;
    }
    work->room = TACIT_NEW(double, most *most + 3 * most + 3 * problem->width + 64);
    work->predictor = TACIT_NEW(size_t, problem->width);
    work->absent = TACIT_NEW(bool, most);
    work->level = TACIT_NEW(size_t, problem->rows);
    if (work->room == NULL || work->predictor == NULL || work->absent == NULL || work->level == NULL)
        return tacit_fail_memory(error);
    work->matrix = work->room;
    work->b = work->matrix + most * most;
    work->draw = work->b + most;
    work->gradient = work->draw + most;
    work->mean = work->gradient + most;
    work->spread = work->mean + problem->width;
    work->pseudo = work->spread + problem->width;
    return TACIT_OK;
}

tacit_status tacit_impute(const tacit_impute_problem *problem, tacit_stream *stream, tacit_error *error) {
    impute_work work = { .problem = problem };
    size_t sweeps = problem->sweeps > 0 ? problem->sweeps : TACIT_IMPUTE_SWEEPS;
    tacit_status status = TACIT_OK;
    for (size_t v = 0; v < problem->variables; v++)
        TACIT_CHECK(begin(problem, &problem->variable[v], stream, error));
    TACIT_CHECK(make_room(&work, error));
    for (size_t s = 0; s < sweeps; s++)
        for (size_t v = 0; v < problem->variables; v++) {
            const tacit_impute_variable *of = &problem->variable[v];
            choose_predictors(&work, of);
            if (of->category)
                TACIT_CHECK(impute_category(&work, of, stream, error));
            else
                draw_number(&work, of, stream);
        }
cleanup:
    free(work.room);
    free(work.predictor);
    free(work.absent);
    free(work.level);
    return status;
}
