#include "model/report/estimates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/encode.h"
#include "num/special.h"

tacit_estimates *tacit_estimates_free(tacit_estimates *estimates) {
    if (estimates == NULL) return NULL;
    for (size_t k = 0; estimates->coefficient != NULL && k < estimates->count; k++)
        free(estimates->coefficient[k].name);
    for (size_t k = 0; estimates->term != NULL && k < estimates->terms; k++) {
        free(estimates->term[k].name);
        free(estimates->term[k].sample);
    }
    free(estimates->coefficient);
    free(estimates->term);
    for (size_t k = 0; estimates->ratio != NULL && k < estimates->ratios; k++) free(estimates->ratio[k].name);
    free(estimates->ratio);
    for (size_t k = 0; estimates->trend != NULL && k < estimates->trends; k++) free(estimates->trend[k].name);
    free(estimates->trend);
    for (size_t k = 0; estimates->missing != NULL && k < estimates->missing_columns; k++)
        free(estimates->missing[k].column);
    free(estimates->missing);
    free(estimates->covariance);
    tacit_baseline_free(estimates->baseline);
    free(estimates->response);
    free(estimates->formula);
    free(estimates);
    return NULL;
}

static const char INTERCEPT[] = "(Intercept)";

size_t tacit_estimates_intercepts(const tacit_estimates *estimates) {
    size_t count = 0;
    for (size_t k = 0; k < estimates->count; k++) count += estimates->coefficient[k].intercept;
    return count;
}

double tacit_estimates_degrees(const tacit_estimates *estimates) {
    return estimates->rows - (double)estimates->count - estimates->party_intercepts;
}

double tacit_estimates_null_degrees(const tacit_estimates *estimates) {
    if (estimates->party_intercepts > 0) return estimates->rows - 1;
    return estimates->rows - (double)tacit_estimates_intercepts(estimates);
}

/* ---- the design ---- */

static void scale_response(tacit_design *design, const tacit_family *family) {
    const tacit_schema *schema = design->schema;
    design->half = 1;
    if (schema == NULL || !family->quadratic) return;
    if (schema->intercept) {
        design->half = (schema->high - schema->low) / 2;
        design->middle = schema->low + design->half;
    } else {
        design->half = fmax(fabs(schema->low), fabs(schema->high));
    }
}

tacit_status tacit_design_check_rows(const tacit_schema *schema, const tacit_view *rows, tacit_error *error) {
    if (rows->shortened == 0 || schema == NULL) return TACIT_OK;
    return tacit_fail(
        error, TACIT_INPUT,
        "%zu rows are longer than the %g that rows: {clip: C} of the schema allows, and were shortened: "
        "coefficients of such rows are not those of the columns; write rows: bound, or a larger C",
        rows->shortened, schema->clip);
}

/* As many scores a row as there are classes but one. */
static tacit_status shape_classes(tacit_design *out, const tacit_family *family, tacit_error *error) {
    size_t classes = out->schema != NULL ? out->schema->classes.count : 0;
    if (classes < 2 || classes - 1 > TACIT_SEVERAL_SCORES || out->intercept == SIZE_MAX)
        return tacit_fail(error, TACIT_USAGE,
                          "family %s needs a schema with an intercept and with two to %d classes",
                          family->name, TACIT_SEVERAL_SCORES + 1);
    out->shape = (tacit_several_shape){ classes - 1, out->width, family->loss.ordered };
    out->width = tacit_several_width(&out->shape);
    return TACIT_OK;
}

bool tacit_design_is_intercept(const tacit_design *design, size_t at) {
    const tacit_several_shape *shape = &design->shape;
    if (shape->scores == 0) return at == design->intercept;
    return shape->parallel ? at + 1 >= shape->base : at % shape->base == design->intercept;
}

size_t tacit_design_kept(const tacit_design *design, size_t at) {
    const tacit_several_shape *shape = &design->shape;
    if (shape->scores == 0) return at;
    return shape->parallel ? (at + 1 < shape->base ? at : shape->base - 1) : at % shape->base;
}

/* A feature that is an offset has a weight that nobody estimates. */
static void find_offset(tacit_design *design) {
    double weight, low, high, most;
    design->weights = tacit_schema_weights(design->schema, &design->weights_scale, &low, &most);
    if (design->weights != SIZE_MAX) design->weights_reach = fmax(most, fabs(log(low)));
    design->offset = tacit_schema_offset(design->schema, &weight, &low, &high);
    if (design->offset == SIZE_MAX) return;
    design->offset_weight = weight / design->half;
    design->offset_middle = design->schema->intercept ? (low + high) / 2 / design->half : 0;
    design->offset_reach = fmax(fabs(low / design->half - design->offset_middle),
                                fabs(high / design->half - design->offset_middle));
}

void tacit_design_scale(tacit_design *out, const tacit_family *family, const tacit_schema *schema) {
    *out = (tacit_design){ .schema = schema, .intercept = SIZE_MAX };
    scale_response(out, family);
    find_offset(out);
}

/* Terms of a formula: each is a column. */
static tacit_status design_of_terms(tacit_design *out, const tacit_family *family, tacit_error *error) {
    if (out->offset != SIZE_MAX && family->offset_bound == NULL)
        return tacit_fail(
            error, TACIT_USAGE,
            "family %s takes no offset: leave offset() out of the terms, or choose logistic, linear "
            "or poisson",
            family->name);
    out->kept = TACIT_NEW(size_t, out->features + 1);
    if (out->kept == NULL) return tacit_fail_memory(error);
    size_t strata_count, strata = tacit_formula_strata(out->schema->formula, &strata_count);
    for (size_t j = 0; j < out->features; j++)
        if (j != out->offset && j != out->weights && !(j >= strata && j < strata + strata_count))
            out->kept[out->width++] = j;
    if (out->schema->intercept) {
        out->intercept = out->width - 1;
        out->intercept_value = tacit_schema_intercept_value(out->schema);
    }
    if (family->loss.several == NULL) return TACIT_OK;
    return shape_classes(out, family, error);
}

tacit_status tacit_design_create(tacit_design *out, const tacit_family *family, const tacit_schema *schema,
                                 size_t features, tacit_error *error) {
    tacit_design_scale(out, family, schema);
    out->features = features;
    if (schema != NULL && schema->formula != NULL) return design_of_terms(out, family, error);
    if (schema != NULL && !schema->intercept && schema->cols > 0)
        return tacit_fail(
            error, TACIT_USAGE,
            "coefficients per unit of a column need an intercept: write intercept: yes in the schema");
    tacit_feature *feature = TACIT_NEW(tacit_feature, features);
    tacit_status status = TACIT_OK;
    out->kept = TACIT_NEW(size_t, features);
    if (feature == NULL || out->kept == NULL) TACIT_CHECK(tacit_fail_memory(error));
    if (schema != NULL) TACIT_CHECK(tacit_schema_linear(schema, feature, error));
    for (size_t j = 0; j < features; j++)
        if (schema == NULL || schema->cols == 0 || feature[j].level != 0) out->kept[out->width++] = j;
    if (schema != NULL && schema->intercept) {
        out->intercept = out->width - 1;
        out->intercept_value = feature[features - 1].scale;
    }
    if (family->loss.several != NULL) TACIT_CHECK(shape_classes(out, family, error));
cleanup:
    free(feature);
    if (status != TACIT_OK) tacit_design_clear(out);
    return status;
}

void tacit_design_clear(tacit_design *design) {
    free(design->kept);
    design->kept = NULL;
}

/* What stands before the name of a feature, or in its place. *done: nothing follows. */
static tacit_status name_class(const tacit_design *design, size_t at, bool *done, tacit_buffer *out,
                               tacit_error *error) {
    const tacit_several_shape *shape = &design->shape;
    *done = false;
    if (shape->scores == 0) return TACIT_OK;
    const tacit_levels *classes = &design->schema->classes;
    if (!shape->parallel) return tacit_buffer_print(out, error, "%s:", classes->text[1 + at / shape->base]);
    *done = at + 1 >= shape->base;
    if (!*done) return TACIT_OK;
    size_t below = at + 1 - shape->base;
    return tacit_buffer_print(out, error, "%s|%s", classes->text[below], classes->text[below + 1]);
}

tacit_status tacit_design_name(const tacit_design *design, size_t at, tacit_buffer *out, tacit_error *error) {
    char **names = NULL;
    bool done;
    TACIT_TRY(name_class(design, at, &done, out, error));
    if (done) return TACIT_OK;
    if (tacit_design_is_intercept(design, at)) return tacit_buffer_print(out, error, "%s", INTERCEPT);
    if (design->schema != NULL) TACIT_TRY(tacit_schema_feature_names(&names, design->schema, error));
    size_t feature = design->kept[tacit_design_kept(design, at)];
    tacit_status status = names != NULL ? tacit_buffer_print(out, error, "%s", names[feature])
                                        : tacit_buffer_print(out, error, "x%zu", feature + 1);
    tacit_feature_names_free(names, design->features);
    return status;
}

/* ---- deviances ---- */

/* Deviance, null deviance and Akaike's criterion as R's glm has them. */
static void measure_fit(tacit_estimates *out, const tacit_design *design, const tacit_optimum *at) {
    tacit_family_sums sums = { .rows = at->rows,
                               .coefficients = (double)design->width + out->party_intercepts,
                               .objective = at->objective,
                               .scale = design->half,
                               .intercept = design->intercept != SIZE_MAX };
    tacit_family_fit fit = { NAN, NAN, NAN, 1 };
    memcpy(sums.terms, at->response, sizeof sums.terms);
    if (at->family->measure != NULL && at->covariance == NULL) at->family->measure(&sums, &fit);
    bool weighted = design->weights != SIZE_MAX;
    if (at->family->measure != NULL && at->covariance == NULL && tacit_design_has_beside(design)) {
        tacit_family_fit null = fit;
        sums.objective = at->null_objective;
        at->family->measure(&sums, &null);
        fit.null_deviance = null.deviance;
        if (weighted && at->family->quadratic) fit.aic -= at->response[2]; /* the logarithms of weights */
    }
    if (at->covariance != NULL && out->student) fit.dispersion = at->dispersion * design->half * design->half;
    out->deviance = fit.deviance;
    out->null_deviance = fit.null_deviance;
    out->aic = fit.aic;
    out->dispersion = fit.dispersion;
}

double tacit_estimates_deviance_at(const tacit_design *design, const tacit_optimum *at, double objective) {
    tacit_family_sums sums = { .rows = at->rows,
                               .coefficients = (double)design->width,
                               .objective = objective,
                               .scale = design->half,
                               .intercept = design->intercept != SIZE_MAX };
    tacit_family_fit fit = { NAN, NAN, NAN, 1 };
    memcpy(sums.terms, at->response, sizeof sums.terms);
    if (at->family->measure != NULL) at->family->measure(&sums, &fit);
    return fit.deviance;
}

/* ---- coefficients ---- */

/* Of terms: what each feature has of the column of weight k. Ordinal scores have columns with the sign
 * reversed, and an intercept of their own each. */
static void raw_row_of_terms(const tacit_design *design, size_t k, double *row) {
    const tacit_several_shape *shape = &design->shape;
    const bool parallel = shape->scores > 0 && shape->parallel,
               constant = tacit_design_is_intercept(design, k);
    size_t base = shape->scores == 0 ? design->width : shape->base - parallel;
    size_t first = shape->scores == 0 || parallel ? 0 : k / base * base;
    size_t column = constant ? SIZE_MAX : design->kept[tacit_design_kept(design, k)];
    tacit_formula_part part[TACIT_FORMULA_PARTS];
    for (size_t j = 0; j < base; j++) {
        size_t parts = tacit_schema_term_parts(design->schema, design->kept[j], part);
        for (size_t i = 0; i < parts; i++)
            if (part[i].column == column)
                row[first + j] += parallel && constant ? -part[i].coefficient : part[i].coefficient;
    }
    if (parallel && constant) row[k] = design->intercept_value;
}

/* The row of the map from weights to coefficient k on the raw scale: raw = half * row.w (+ middle for the
 * intercept). An encoded number is scale * raw + shift, so its shifts go to the intercept. */
static void raw_row(const tacit_design *design, const tacit_feature *feature, size_t k, double *row) {
    const tacit_several_shape *shape = &design->shape;
    size_t base = shape->scores == 0 ? design->width : shape->base;
    size_t first = shape->scores == 0 || shape->parallel ? 0 : k / base * base;
    memset(row, 0, design->width * sizeof *row);
    if (design->schema != NULL && design->schema->formula != NULL) {
        raw_row_of_terms(design, k, row);
        return;
    }
    row[k] = design->schema != NULL ? feature[design->kept[tacit_design_kept(design, k)]].scale : 1;
    if (!tacit_design_is_intercept(design, k)) return;
    if (shape
            ->parallel) { /* columns count with the sign reversed in scores, and have no shift of their own */
        for (size_t j = 0; j + 1 < base; j++) row[j] -= feature[design->kept[j]].shift;
        return;
    }
    for (size_t j = 0; j < base; j++) row[first + j] += feature[design->kept[j]].shift;
}

tacit_status tacit_design_raw_row(const tacit_design *design, size_t at, double *row, tacit_error *error) {
    tacit_feature *feature = TACIT_NEW(tacit_feature, design->features);
    tacit_status status = feature != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK && design->schema != NULL && design->schema->formula == NULL)
        status = tacit_schema_linear(design->schema, feature, error);
    if (status == TACIT_OK) raw_row(design, feature, at, row);
    free(feature);
    return status;
}

static double quadratic(const double *lower, const double *z, size_t d) {
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        double partial = 0.5 * lower[i * d + i] * z[i];
        for (size_t j = 0; j < i; j++) partial += lower[i * d + j] * z[j];
        sum += 2 * z[i] * partial;
    }
    return sum;
}

static double dot(const double *a, const double *b, size_t count) {
    double sum = 0;
    for (size_t j = 0; j < count; j++) sum += a[j] * b[j];
    return sum;
}

static void test_coefficient(tacit_coefficient *one, const tacit_estimates *all) {
    double degrees = tacit_estimates_degrees(all), half_tail = (1 - all->level) / 2;
    one->statistic = one->estimate / one->error;
    one->p = 2 * (all->student ? tacit_student_tail(fabs(one->statistic), degrees)
                               : tacit_normal_tail(fabs(one->statistic)));
    double reach = one->error * (all->student ? tacit_student_quantile(half_tail, degrees)
                                              : tacit_normal_tail_quantile(log(half_tail)));
    one->low = one->estimate - reach;
    one->high = one->estimate + reach;
}

typedef struct workspace {
    double *factor, *scale, *row, *solved;
    bool *deficient;
    tacit_feature *feature;
} workspace;

static tacit_status prepare(workspace *work, const tacit_design *design, const tacit_optimum *at,
                            tacit_error *error) {
    size_t d = design->width;
    work->factor = TACIT_NEW(double, d *d);
    work->scale = TACIT_NEW(double, 3 * d);
    work->deficient = TACIT_NEW(bool, d);
    work->feature = TACIT_NEW(tacit_feature, design->features);
    if (work->factor == NULL || work->scale == NULL || work->deficient == NULL || work->feature == NULL)
        return tacit_fail_memory(error);
    work->row = work->scale + d;
    work->solved = work->row + d;
    if (design->schema != NULL && design->schema->formula == NULL)
        TACIT_TRY(tacit_schema_linear(design->schema, work->feature, error));
    if (at->variance != NULL || at->covariance != NULL) return TACIT_OK;
    memcpy(work->factor, at->hessian, d * d * sizeof *work->factor);
    for (size_t j = 0; j < d; j++) work->factor[j * d + j] += at->rows * at->lambda;
    if (tacit_cholesky_factor(work->factor, d, 0, work->scale, work->deficient) > 0)
        return tacit_fail(error, TACIT_NOT_CONVERGED, "the curvature at the estimate is not positive");
    return TACIT_OK;
}

/* The penalised log-likelihood: raw coefficients are w times their features' scales, so that the determinant
 * of their information is that of w's over the squares of the scales. */
static double penalise(const tacit_estimates *all, const tacit_design *design, const tacit_optimum *at,
                       const workspace *work) {
    double sum = (double)design->width - all->aic / 2 + at->penalty;
    if (design->schema != NULL && design->schema->formula != NULL) /* the map is triangular */
        for (size_t j = 0; j < design->width; j++) {
            memset(work->row, 0, design->width * sizeof *work->row);
            raw_row_of_terms(design, j, work->row);
            sum -= log(fabs(work->row[j]));
        }
    else
        for (size_t j = 0; design->schema != NULL && j < design->width; j++)
            sum -= log(fabs(work->feature[design->kept[j]].scale));
    return sum;
}

/* row.C row for all of a symmetric C. */
static double full_quadratic(const double *matrix, const double *row, const double *other, size_t d) {
    double sum = 0;
    for (size_t i = 0; i < d; i++) sum += row[i] * dot(matrix + i * d, other, d);
    return sum;
}

/* A coefficient whose covariance, noise included, is known. */
static void fill_noisy(tacit_estimates *all, tacit_coefficient *one, const tacit_design *design,
                       const tacit_optimum *at, const workspace *work) {
    size_t d = design->width;
    if (all->needs_rows > 0) {
        one->estimate = one->error = one->statistic = one->p = one->low = one->high = one->noise = NAN;
        return;
    }
    double variance = full_quadratic(at->covariance, work->row, work->row, d);
    one->error = design->half * sqrt(fmax(0, variance));
    one->noise = fmin(fmax(1 - full_quadratic(at->sampling, work->row, work->row, d) / variance, 0), 1);
    test_coefficient(one, all);
}

static tacit_status fill_coefficient(tacit_estimates *all, size_t place, size_t k, const tacit_design *design,
                                     const tacit_optimum *at, workspace *work, tacit_error *error) {
    size_t d = design->width;
    tacit_coefficient *one = &all->coefficient[place];
    tacit_buffer name = TACIT_BUFFER_INIT;
    tacit_status status = tacit_design_name(design, k, &name, error);
    if (status == TACIT_OK && (one->name = tacit_copy_text(tacit_buffer_text(&name))) == NULL)
        status = tacit_fail_memory(error);
    tacit_buffer_clear(&name);
    TACIT_TRY(status);
    one->intercept = tacit_design_is_intercept(design, k);
    raw_row(design, work->feature, k, work->row);
    one->estimate = design->half * dot(work->row, at->w, d) + (k == design->intercept ? design->middle : 0);
    if (at->covariance != NULL) {
        fill_noisy(all, one, design, at, work);
        if (k == at->weakest) all->weakest = place;
        return TACIT_OK;
    }
    memcpy(work->solved, work->row, d * sizeof *work->solved);
    if (at->variance == NULL) tacit_cholesky_solve(work->factor, d, work->scale, work->solved);
    double variance;
    if (at->variance != NULL)
        variance = at->variance[k];
    else if (at->middle != NULL)
        variance = quadratic(at->middle, work->solved, d);
    else if (at->lambda > 0)
        variance = quadratic(at->hessian, work->solved, d);
    else
        variance = dot(work->row, work->solved, d);
    /* the dispersion is in units of the response already, the variance in those of its scaled form */
    double phi = all->student && at->middle == NULL ? all->dispersion / (design->half * design->half) : 1;
    one->error = design->half * sqrt(fmax(0, phi * variance));
    test_coefficient(one, all);
    return TACIT_OK;
}

size_t tacit_design_at(const tacit_design *design, size_t place) {
    const tacit_several_shape *shape = &design->shape;
    if (design->intercept == SIZE_MAX || shape->parallel) return place;
    size_t base = shape->scores == 0 ? design->width : shape->base, first = place / base * base;
    place -= first;
    if (place == 0) return first + design->intercept;
    return first + (place - 1 < design->intercept ? place - 1 : place);
}

size_t tacit_design_column(const tacit_design *design, const tacit_feature *feature, size_t at) {
    if (design->schema == NULL || tacit_design_is_intercept(design, at)) return SIZE_MAX;
    return feature[design->kept[tacit_design_kept(design, at)]].column;
}

/* The covariance of all coefficients on the raw scale. */
static tacit_status keep_covariance(tacit_estimates *all, const tacit_design *design, const tacit_optimum *at,
                                    workspace *work, tacit_error *error) {
    size_t d = design->width;
    all->noisy = true;
    if (all->needs_rows > 0) return TACIT_OK;
    all->covariance = TACIT_NEW(double, d *d);
    if (all->covariance == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < d; i++) {
        raw_row(design, work->feature, tacit_design_at(design, i), work->row);
        for (size_t j = 0; j <= i; j++) {
            raw_row(design, work->feature, tacit_design_at(design, j), work->solved);
            all->covariance[i * d + j] = all->covariance[j * d + i] =
                design->half * design->half * full_quadratic(at->covariance, work->row, work->solved, d);
        }
    }
    return TACIT_OK;
}

/* Whether parties differ: the model with a common intercept against that of their own. Then the table is
 * without an intercept. */
static void set_apart(tacit_estimates *all, const tacit_design *design, const tacit_optimum *at) {
    tacit_estimates common = { .student = all->student };
    tacit_optimum before = *at;
    double above = at->party_intercepts - 1, below = tacit_estimates_degrees(all);
    before.objective = at->common_objective;
    measure_fit(&common, design, &before);
    all->site_statistic = common.deviance - all->deviance;
    if (all->student) all->site_statistic /= above * all->dispersion;
    all->site_p = all->student ? tacit_fisher_tail(all->site_statistic, above, below)
                               : tacit_chi_square_tail(all->site_statistic, above);
    free(all->coefficient[0].name);
    all->count--;
    memmove(all->coefficient, all->coefficient + 1, all->count * sizeof *all->coefficient);
    all->party_intercepts = at->party_intercepts;
}

tacit_status tacit_estimates_infer(tacit_estimates **out, const tacit_design *design, const tacit_optimum *at,
                                   tacit_error *error) {
    size_t d = design->width;
    workspace work = { .factor = NULL };
    tacit_estimates *all = TACIT_NEW(tacit_estimates, 1);
    tacit_status status = all != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    all->count = d;
    all->coefficient = TACIT_NEW(tacit_coefficient, d);
    all->response = tacit_copy_text(design->schema != NULL ? design->schema->label : "y");
    if (all->coefficient == NULL || all->response == NULL) TACIT_CHECK(tacit_fail_memory(error));
    if (design->schema != NULL && design->schema->formula != NULL) {
        all->formula = tacit_copy_text(tacit_formula_text(design->schema->formula));
        if (all->formula == NULL) TACIT_CHECK(tacit_fail_memory(error));
    }
    memcpy(all->family, at->family->name, strlen(at->family->name) + 1);
    all->student = at->family->dispersed;
    all->sandwich = at->middle != NULL;
    all->level = at->level;
    all->rows = at->rows;
    all->iterations = at->iterations;
    /* beside the one in the table */
    if (at->party_intercepts > 0) all->party_intercepts = at->party_intercepts - 1;
    all->needs_rows = at->needs_rows;
    all->needs_epsilon = at->needs_epsilon;
    if (all->student && !(at->rows > (double)d))
        TACIT_CHECK(tacit_fail(error, TACIT_INPUT,
                               "%g rows and %zu coefficients leave nothing to estimate an error from",
                               at->rows, d));
    measure_fit(all, design, at);
    TACIT_CHECK(prepare(&work, design, at, error));
    for (size_t place = 0; place < d; place++)
        TACIT_CHECK(fill_coefficient(all, place, tacit_design_at(design, place), design, at, &work, error));
    all->firth = at->firth;
    if (at->firth) all->penalised = penalise(all, design, at, &work);
    if (at->covariance != NULL) TACIT_CHECK(keep_covariance(all, design, at, &work, error));
    if (at->hessian != NULL) TACIT_CHECK(tacit_estimates_test_terms(all, design, at, error));
    if (at->party_intercepts > 0) set_apart(all, design, at);
    *out = all;
    all = NULL;
cleanup:
    tacit_estimates_free(all);
    free(work.factor);
    free(work.scale);
    free(work.deficient);
    free(work.feature);
    return status;
}
