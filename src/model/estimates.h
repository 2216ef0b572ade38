/*
 * What a statistician wants of an M-estimator beside its weights: coefficients on the scale of the raw
 * columns, with standard errors, tests and confidence intervals, computed from sums over all rows alone. Part
 * of a model and of its file; laid out as R's summary(glm) by the program.
 *
 * Contrasts. The encoding has a feature for every level of a category, whose sum is the intercept: one level
 * of each is left out by a public rule, the first of the schema ("treatment contrasts", as in R). A
 * coefficient of a level is its difference to the first. Without an intercept (sparse rows only) nothing is
 * left out. Terms of a formula have their contrasts already, so nothing is left out but an offset, whose
 * weight is known.
 *
 * Covariance. With A = H + n lambda I at the optimum, cov = phi A^-1 B A^-1; B = H and phi the dispersion for
 * a likelihood (A = H for lambda = 0: the inverse Hessian), B the sum of squared slopes times x x^T and phi =
 * 1 for the sandwich. phi = RSS/(n - p) for linear, 1 else. Tests are Wald's: z, or t with n - p degrees of
 * freedom for linear.
 *
 * Where privacy noise is in what was released, the covariance comes from who knows that noise, and includes
 * it; then each coefficient has the noise's share of its variance, or there is no estimate at that price, but
 * how many rows or which epsilon one would need.
 */
#pragma once

#include <jansson.h>

#include "data/dataset.h"
#include "data/schema.h"
#include "model/family/family.h"
#include "num/estimator.h"

typedef struct tacit_coefficient {
    char *name;
    double estimate, error, statistic, p, low, high; /* NaN where nothing can be said at this price */
    double noise;                                    /* the share of privacy noise in its variance */
} tacit_coefficient;

typedef struct tacit_estimates {
    char family[16], optimiser[16];
    char *response; /* the label's name */
    char *terms;    /* the formula; NULL: each column by itself */
    size_t count;
    tacit_coefficient *coefficient;
    bool student;                        /* t rather than z */
    bool sandwich;                       /* robust standard errors */
    double level;                        /* of the confidence intervals */
    double dispersion;                   /* 1 unless linear */
    double deviance, null_deviance, aic; /* NaN where there is no likelihood */
    double rows;
    size_t iterations, rounds;
    double *covariance;               /* count x count, in the order of the coefficients; NULL: not kept */
    bool noisy;                       /* privacy noise is in the estimates, and in their errors */
    double needs_rows, needs_epsilon; /* one or the other, about, for estimates; 0: there are estimates */
    size_t weakest;                   /* the coefficient that needs them most */
} tacit_estimates;

tacit_estimates *tacit_estimates_free(tacit_estimates *estimates);

double tacit_estimates_degrees(const tacit_estimates *estimates);      /* n - p */
double tacit_estimates_null_degrees(const tacit_estimates *estimates); /* n - 1, or n without intercept */

/* Which features a fit has a weight for, and how the response is scaled. Public: it follows from the
 * schema. */
typedef struct tacit_design {
    const tacit_schema *schema; /* borrowed; NULL: features as they are, no intercept known */
    size_t features, width;
    size_t *kept;     /* width features, ascending */
    size_t intercept; /* its position among the kept; SIZE_MAX: none */
    double intercept_value;
    size_t offset;                      /* the feature that is an offset; SIZE_MAX: none */
    double offset_weight;               /* which makes it one, in units of the scaled response */
    double offset_middle, offset_reach; /* it lies within offset_reach of offset_middle, in these units */
    size_t weights; /* the feature that is the weight of a row, times weights_scale; SIZE_MAX: none */
    double weights_scale, weights_reach; /* a public bound of weights, and of |log| of them */
    double middle, half; /* a quadratic loss fits (y - middle)/half in [-1, 1], the others y itself */
} tacit_design;

/* Whether there is an offset or a weight of rows: the model without terms then has no closed form. */
static inline bool tacit_design_has_beside(const tacit_design *design) {
    return design->offset != SIZE_MAX || design->weights != SIZE_MAX;
}

/* TACIT_USAGE when the schema has no linear scale, or columns without an intercept. */
tacit_status tacit_design_create(tacit_design *out, const tacit_family *family, const tacit_schema *schema,
                                 size_t features, tacit_error *error);
void tacit_design_clear(tacit_design *design);

/* How the response is scaled and what an offset is, without the rest: nothing to clear. */
void tacit_design_scale(tacit_design *out, const tacit_family *family, const tacit_schema *schema);

/* TACIT_INPUT where a clip has shortened rows: features are then no linear function of the columns, and
 * coefficients not theirs. */
tacit_status tacit_design_check_rows(const tacit_schema *schema, const tacit_view *rows, tacit_error *error);

/* The name of a kept feature. */
tacit_status tacit_design_name(const tacit_design *design, size_t at, tacit_buffer *out, tacit_error *error);

/* The row of the map from weights to coefficient `at` on the raw scale, a number for each kept feature. */
tacit_status tacit_design_raw_row(const tacit_design *design, size_t at, double *row, tacit_error *error);

/* Sums over all rows at the optimum. */
typedef struct tacit_optimum {
    const tacit_family *family;
    double rows, lambda, level;
    const double *w;       /* width */
    double objective;      /* sum of losses */
    const double *hessian; /* width x width, lower triangle; NULL with `variance` */
    const double
        *variance; /* of each coefficient on the raw scale, where that is all that is known; else NULL */
    const double *
        covariance; /* of w with privacy noise, width x width, in place of a Hessian; NULL: there is no such noise */
    const double *sampling;              /* what it would be without noise */
    double dispersion;                   /* of the scaled response, with `covariance` */
    double needs_rows, needs_epsilon;    /* above 0: w is no estimate */
    size_t weakest;                      /* of the kept features, with those */
    const double *middle;                /* the same; NULL for a likelihood */
    double response[TACIT_FAMILY_TERMS]; /* tacit_family_terms, summed */
    double
        null_objective; /* sum of losses without terms, where there is an offset; NaN: follows from `response` */
    size_t iterations;
} tacit_optimum;

tacit_status tacit_estimates_infer(tacit_estimates **out, const tacit_design *design,
                                   const tacit_optimum *optimum, tacit_error *error);

/* As a part of a model's JSON document, and back; a load checks every number. */
json_t *tacit_estimates_to_json(const tacit_estimates *estimates);
tacit_status tacit_estimates_from_json(tacit_estimates **out, const json_t *object, tacit_error *error);
