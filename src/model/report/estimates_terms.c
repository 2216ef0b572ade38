/*
 * Tests of whole columns from the covariance V of all coefficients, which is the coordinator's and is not
 * kept: Wald's statistic b.V^-1 b of a column's coefficients, as R's anova and car's Anova(test = "Wald")
 * have it, and the generalised variance inflation factor of Fox and Monette (1992), det R_jj det R_-j / det R
 * with R the correlations of all coefficients but intercepts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/encode.h"
#include "model/report/estimates.h"
#include "num/special.h"

typedef struct covariance {
    size_t count;
    double *model; /* phi A^-1, by places of the table */
    double *used;  /* that of the standard errors */
    size_t *column;
    double *room; /* count^2, and 3 count more */
    bool *deficient;
} covariance;

static void clear(covariance *self) {
    free(self->model);
    free(self->used);
    free(self->column);
    free(self->room);
    free(self->deficient);
}

static double product(const double *a, const double *b, size_t count) {
    double sum = 0;
    for (size_t j = 0; j < count; j++) sum += a[j] * b[j];
    return sum;
}

/* out = B z for a symmetric B with a lower triangle. */
static void multiply(const double *lower, const double *z, double *out, size_t d) {
    memset(out, 0, d * sizeof *out);
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < i; j++) {
            out[i] += lower[i * d + j] * z[j];
            out[j] += lower[i * d + j] * z[i];
        }
        out[i] += lower[i * d + i] * z[i];
    }
}

/* With rows r_k of the map to the raw scale and z_k = A^-1 r_k: r_k.z_l, and z_k.B z_l where there is a B. */
static tacit_status fill(covariance *self, const tacit_design *design, const tacit_optimum *at,
                         tacit_error *error) {
    size_t d = self->count;
    const double *middle = at->middle != NULL ? at->middle : at->lambda > 0 ? at->hessian : NULL;
    double *factor = self->room, *scale = factor + d * d, *row = scale + d, *turned = row + d;
    double *solved = TACIT_NEW(double, d *d);
    tacit_status status = solved != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    memcpy(factor, at->hessian, d * d * sizeof *factor);
    for (size_t j = 0; j < d; j++) factor[j * d + j] += at->rows * at->lambda;
    if (tacit_cholesky_factor(factor, d, 0, scale, self->deficient) > 0)
        TACIT_CHECK(tacit_fail(error, TACIT_NOT_CONVERGED, "the curvature at the estimate is not positive"));
    for (size_t k = 0; k < d; k++) {
        TACIT_CHECK(tacit_design_raw_row(design, tacit_design_at(design, k), solved + k * d, error));
        tacit_cholesky_solve(factor, d, scale, solved + k * d);
    }
    for (size_t k = 0; k < d; k++) {
        TACIT_CHECK(tacit_design_raw_row(design, tacit_design_at(design, k), row, error));
        if (middle != NULL) multiply(middle, solved + k * d, turned, d);
        for (size_t l = 0; l < d; l++) {
            self->model[k * d + l] = product(row, solved + l * d, d);
            self->used[k * d + l] =
                middle != NULL ? product(turned, solved + l * d, d) : self->model[k * d + l];
        }
    }
cleanup:
    free(solved);
    return status;
}

/* ---- which term a coefficient is of ---- */

static const tacit_formula *formula_of(const tacit_design *design) {
    return design->schema != NULL ? design->schema->formula : NULL;
}

tacit_status tacit_design_terms(const tacit_design *design, size_t *out, tacit_error *error) {
    const tacit_formula *formula = formula_of(design);
    tacit_feature *feature = TACIT_NEW(tacit_feature, design->features);
    tacit_status status = feature != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK && formula == NULL) status = tacit_schema_linear(design->schema, feature, error);
    for (size_t k = 0; status == TACIT_OK && k < design->width; k++) {
        const size_t at = tacit_design_at(design, k);
        if (formula == NULL)
            out[k] = tacit_design_column(design, feature, at);
        else
            out[k] = tacit_design_is_intercept(design, at)
                         ? SIZE_MAX
                         : tacit_formula_term(formula, design->kept[tacit_design_kept(design, at)]);
    }
    free(feature);
    return status;
}

tacit_status tacit_design_term_name(const tacit_design *design, size_t term, tacit_buffer *out,
                                    tacit_error *error) {
    if (formula_of(design) != NULL) return tacit_formula_term_name(formula_of(design), term, out, error);
    return tacit_buffer_print(out, error, "%s", design->schema->columns[term].name);
}

static tacit_status make(covariance *self, const tacit_design *design, const tacit_optimum *at,
                         tacit_error *error) {
    size_t d = self->count = design->width;
    self->model = TACIT_NEW(double, d *d);
    self->used = TACIT_NEW(double, d *d);
    self->column = TACIT_NEW(size_t, d);
    self->room = TACIT_NEW(double, d *(d + 3));
    self->deficient = TACIT_NEW(bool, d);
    if (self->model == NULL || self->used == NULL || self->column == NULL || self->room == NULL ||
        self->deficient == NULL)
        return tacit_fail_memory(error);
    TACIT_TRY(tacit_design_terms(design, self->column, error));
    return fill(self, design, at, error);
}

/* The part of a matrix whose coefficients are of the column (or of all other columns), as correlations, into
 * the room; its Cholesky factor there, and how many they are. 0 where it has none. */
static size_t factor_part(covariance *self, const double *matrix, size_t column, bool others, bool all) {
    size_t d = self->count, n = 0;
    double *part = self->room, *scale = part + d * d;
    for (size_t k = 0; k < d; k++) {
        bool own = self->column[k] == column;
        if (self->column[k] == SIZE_MAX || (!all && own == others)) continue;
        size_t m = 0;
        for (size_t l = 0; l <= k; l++) {
            bool also = self->column[l] == column;
            if (self->column[l] == SIZE_MAX || (!all && also == others)) continue;
            part[n * d + m++] = matrix[k * d + l];
        }
        n++;
    }
    for (size_t k = 0; k < n; k++) memmove(part + k * n, part + k * d, n * sizeof *part);
    return tacit_cholesky_factor(part, n, 0, scale, self->deficient) == 0 ? n : 0;
}

/* log det of the correlations of a part: the factor is that of the matrix with a unit diagonal. */
static double log_determinant(covariance *self, size_t column, bool others, bool all) {
    size_t n = factor_part(self, self->model, column, others, all);
    double sum = 0;
    for (size_t k = 0; k < n; k++) sum += 2 * log(self->room[k * n + k]);
    return sum;
}

static void test_term(tacit_term *term, covariance *self, size_t column, const tacit_estimates *all,
                      double phi) {
    size_t d = self->count, n = 0, at = 0;
    double *value = self->room + d * d + d, *solved = value + d;
    n = factor_part(self, self->used, column, false, false);
    for (size_t k = 0; k < d; k++)
        if (self->column[k] == column) value[at++] = all->coefficient[k].estimate;
    term->count = at;
    memcpy(solved, value, at * sizeof *solved);
    term->statistic = term->p = NAN;
    if (n == 0) return;
    tacit_cholesky_solve(self->room, n, self->room + d * d, solved);
    double wald = product(value, solved, n) / phi, degrees = (double)n;
    term->statistic = all->student ? wald / degrees : wald;
    term->p = all->student ? tacit_fisher_tail(wald / degrees, degrees, tacit_estimates_degrees(all))
                           : tacit_chi_square_tail(wald, degrees);
}

/* What Rubin's rules need of a term. */
static tacit_status keep_sample(tacit_term *term, const covariance *self, size_t column,
                                const tacit_estimates *all, double phi, tacit_error *error) {
    const size_t d = self->count, n = term->count;
    term->sample = TACIT_NEW(double, n + n * n);
    if (term->sample == NULL) return tacit_fail_memory(error);
    double *value = term->sample, *cell = value + n;
    for (size_t k = 0; k < d; k++) {
        if (self->column[k] != column) continue;
        *value++ = all->coefficient[k].estimate;
        for (size_t l = 0; l < d; l++)
            if (self->column[l] == column) *cell++ = phi * self->used[k > l ? k * d + l : l * d + k];
    }
    return TACIT_OK;
}

tacit_status tacit_estimates_test_terms(tacit_estimates *estimates, const tacit_design *design,
                                        const tacit_optimum *at, tacit_error *error) {
    covariance self = { .count = 0 };
    tacit_buffer name = TACIT_BUFFER_INIT;
    tacit_status status;
    if (design->width > TACIT_TERMS_WIDTH || design->schema == NULL || design->schema->cols == 0)
        return TACIT_OK;
    TACIT_CHECK(make(&self, design, at, error));
    estimates->term = TACIT_NEW(tacit_term, self.count);
    if (estimates->term == NULL) TACIT_CHECK(tacit_fail_memory(error));
    /* in units of the raw response; a middle has its dispersion inside */
    double phi = design->half * design->half;
    if (estimates->student && at->middle == NULL) phi = estimates->dispersion;
    double whole = log_determinant(&self, SIZE_MAX, false, true);
    for (size_t k = 0; k < self.count; k++) {
        bool seen = self.column[k] == SIZE_MAX;
        for (size_t l = 0; l < k && !seen; l++) seen = self.column[l] == self.column[k];
        if (seen) continue;
        tacit_term *term = &estimates->term[estimates->terms];
        tacit_buffer_clear(&name);
        TACIT_CHECK(tacit_design_term_name(design, self.column[k], &name, error));
        term->name = tacit_copy_text(tacit_buffer_text(&name));
        if (term->name == NULL) TACIT_CHECK(tacit_fail_memory(error));
        estimates->terms++;
        test_term(term, &self, self.column[k], estimates, phi);
        TACIT_CHECK(keep_sample(term, &self, self.column[k], estimates, phi, error));
        term->inflation = exp(log_determinant(&self, self.column[k], false, false) +
                              log_determinant(&self, self.column[k], true, false) - whole);
    }
    /* with nothing to be collinear with, or with several scores a row, none is defined */
    bool several = design->shape.scores > 0 && !design->shape.parallel;
    for (size_t k = 0; (several || estimates->terms < 2) && k < estimates->terms; k++)
        estimates->term[k].inflation = NAN;
cleanup:
    tacit_buffer_clear(&name);
    clear(&self);
    return status;
}
