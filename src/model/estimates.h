/*
 * What a statistician wants of an M-estimator beside its weights: coefficients on the scale of the raw
 * columns, with standard errors, tests and confidence intervals, computed from sums over all rows alone. Part
 * of a model and of its file; laid out as R's summary(glm) by the program.
 *
 * Contrasts. The encoding has a feature for every level of a category, whose sum is the intercept: one level
 * of each is left out by a public rule, the first of the schema ("treatment contrasts", as in R). A
 * coefficient of a level is its difference to the first. Without an intercept (sparse rows only) nothing is
 * left out.
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
    double within, between; /* variances of an imputed fit: error^2 = within + (1 + 1/sets) between */
    double degrees;         /* Barnard and Rubin's, of its t */
    double lost;            /* the fraction of information that is missing */
} tacit_coefficient;

/* How many cells of a column were missing, and what became of them. */
typedef struct tacit_missing_count {
    char *column;
    char rule[16]; /* tacit_missing_name */
    double cells;  /* of the parties that say it */
    double
        withheld; /* parties that have some, but fewer than their owner's minimum, and do not say how many */
} tacit_missing_count;

typedef struct tacit_estimates {
    char family[16], optimiser[16];
    char *response; /* the label's name */
    size_t count;
    tacit_coefficient *coefficient;
    bool student;                        /* t rather than z */
    bool sandwich;                       /* robust standard errors */
    double level;                        /* of the confidence intervals */
    double dispersion;                   /* 1 unless linear */
    double deviance, null_deviance, aic; /* NaN where there is no likelihood */
    double rows;
    size_t iterations, rounds;
    double *covariance;                 /* count x count, in the order of the coefficients; NULL: not kept */
    bool noisy;                         /* privacy noise is in the estimates, and in their errors */
    double needs_rows, needs_epsilon;   /* one or the other, about, for estimates; 0: there are estimates */
    size_t weakest;                     /* the coefficient that needs them most */
    size_t sets;                        /* completed sets that were pooled; 0: nothing was imputed */
    size_t missing_columns;             /* 0: nothing is said of missing values */
    tacit_missing_count *missing;       /* the last is of the label */
    double left_out, left_out_withheld; /* rows, and parties that do not say how many */
} tacit_estimates;

/* Rubin's rules: `count` estimates of the same coefficients become one. Takes them over. */
tacit_status tacit_estimates_pool(tacit_estimates **out, tacit_estimates **sets, size_t count,
                                  tacit_error *error);

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
    double middle, half; /* a quadratic loss fits (y - middle)/half in [-1, 1], the others y itself */
} tacit_design;

/* TACIT_USAGE when the schema has no linear scale, or columns without an intercept. */
tacit_status tacit_design_create(tacit_design *out, const tacit_family *family, const tacit_schema *schema,
                                 size_t features, tacit_error *error);
void tacit_design_clear(tacit_design *design);

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
    size_t iterations;
} tacit_optimum;

tacit_status tacit_estimates_infer(tacit_estimates **out, const tacit_design *design,
                                   const tacit_optimum *optimum, tacit_error *error);

/* As a part of a model's JSON document, and back; a load checks every number. */
json_t *tacit_estimates_to_json(const tacit_estimates *estimates);
tacit_status tacit_estimates_from_json(tacit_estimates **out, const json_t *object, tacit_error *error);
