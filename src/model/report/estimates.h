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
#include "data/encode.h"
#include "data/schema/schema.h"
#include "model/baseline.h"
#include "model/family/family.h"
#include "num/estimator.h"
#include "num/several.h"

typedef struct tacit_coefficient {
    char *name;
    double estimate, error, statistic, p, low, high; /* NaN where nothing can be said at this price */
    double noise;                                    /* the share of privacy noise in its variance */
    bool intercept;                                  /* of no column */
    double within, between; /* variances of an imputed fit: error^2 = within + (1 + 1/sets) between */
    double degrees;         /* Barnard and Rubin's, of its t */
    double lost;            /* the fraction of information that is missing */
} tacit_coefficient;

/* A column of the schema with all its coefficients, tested together. */
typedef struct tacit_term {
    char *name;
    size_t count;     /* of its coefficients */
    double statistic; /* Wald's chi-square, b.V^-1 b; where tests are Student's that divided by count: an F */
    double p;
    double inflation; /* generalised variance inflation factor (Fox and Monette 1992); NaN: there is none */
    double *sample;   /* its estimates and then their covariance, row by row, for pooling; NULL: not kept */
} tacit_term;

/* A term against the model without it. */
typedef struct tacit_term_ratio {
    char *name;
    double degrees;      /* how many coefficients it has */
    double deviance;     /* of the smaller model: without the term, or with no term after it */
    double statistic, p; /* the likelihood ratio; where tests are Student's an F */
} tacit_term_ratio;

/* Residuals and influence, as far as sums tell. NaN: held back, because few rows of a party make it up. */
typedef struct tacit_influence {
    bool known;
    double pearson; /* sum of squared Pearson residuals */
    double leverage,
        /* sums of h and h^2 over rows: the largest h is between their ratio and the root of the second */
        leverage_squares;
    /* mean probability of the second class among its rows, less that among the others; two classes */
    double tjur;
    double cook_rows; /* rows with a Cook's distance above 4/n, at least */
    double cook_held; /* parties that have some, but fewer than their owner shows */
} tacit_influence;

/* How many cells of a column were missing, and what became of them. */
typedef struct tacit_missing_count {
    char *column;
    char rule[16]; /* tacit_missing_name */
    double cells;  /* of the parties that say it */
    /* parties that have some, but fewer than their owner's minimum, and do not say how many */
    double withheld;
} tacit_missing_count;

typedef struct tacit_estimates {
    char family[16], optimiser[16];
    char *response; /* the label's name */
    char *formula;  /* NULL: each column by itself */
    size_t count;
    tacit_coefficient *coefficient;
    bool student;    /* t rather than z */
    bool sandwich;   /* robust standard errors */
    char errors[16]; /* which ones, where they were asked for: "HC3", "cluster"; else "" */
    double clusters; /* persons, with "cluster" */
    double concordance,
        concordance_bound; /* of a Cox regression, and how far off it may be; 0: not asked for */
    tacit_influence influence;
    double level;                        /* of the confidence intervals */
    double dispersion;                   /* 1 unless linear */
    double deviance, null_deviance, aic; /* NaN where there is no likelihood */
    double rows;
    bool firth; /* Firth's penalty is in the estimates */
    /* with it: the log-likelihood and half of the logarithm of the information's determinant, per unit of the
     * raw columns */
    double penalised;
    size_t terms; /* 0: unknown */
    tacit_term *term;
    char anova[16]; /* which tests of terms by likelihood ratios there are: "drop1", "sequential"; else "" */
    size_t ratios;
    tacit_term_ratio *ratio;
    size_t iterations, rounds;
    double *covariance;                 /* count x count, in the order of the coefficients; NULL: not kept */
    bool noisy;                         /* privacy noise is in the estimates, and in their errors */
    double needs_rows, needs_epsilon;   /* one or the other, about, for estimates; 0: there are estimates */
    size_t weakest;                     /* the coefficient that needs them most */
    size_t sets;                        /* completed sets that were pooled; 0: nothing was imputed */
    size_t missing_columns;             /* 0: nothing is said of missing values */
    tacit_missing_count *missing;       /* the last is of the label */
    double left_out, left_out_withheld; /* rows, and parties that do not say how many */
    tacit_baseline *baseline;           /* of a Cox regression; NULL: none */
    size_t trends;                      /* tests of proportional hazards, the last of all terms; 0: none */
    tacit_term *trend;
    char trend_of[12]; /* the function of time: "km", "identity", "log", "rank" */
    /* how many parties have one of their own, which is in no table; 0: it is common */
    double party_intercepts;
    double site_statistic,
        site_p; /* of whether parties' intercepts differ: chi-square, or F where tests are Student's */
} tacit_estimates;

/* Rubin's rules: `count` estimates of the same coefficients become one. Takes them over. */
tacit_status tacit_estimates_pool(tacit_estimates **out, tacit_estimates **sets, size_t count,
                                  tacit_error *error);

tacit_estimates *tacit_estimates_free(tacit_estimates *estimates);

size_t tacit_estimates_intercepts(const tacit_estimates *estimates);   /* how many coefficients are */
double tacit_estimates_degrees(const tacit_estimates *estimates);      /* n - p */
double tacit_estimates_null_degrees(const tacit_estimates *estimates); /* n - 1, or n without intercept */

/* Which features a fit has a weight for, and how the response is scaled. Public: it follows from the
 * schema. */
typedef struct tacit_design {
    const tacit_schema *schema; /* borrowed; NULL: features as they are, no intercept known */
    size_t features, width;
    /* features, ascending: as many as weights, or with several scores a row shape.base of them */
    size_t *kept;
    size_t intercept;          /* its position among the kept; SIZE_MAX: none */
    tacit_several_shape shape; /* of a family with several scores a row; else of 0 scores */
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

/* The name of a weight: its feature's, after the class where each class has its own, or the two classes that
 * an ordinal intercept is between. */
tacit_status tacit_design_name(const tacit_design *design, size_t at, tacit_buffer *out, tacit_error *error);

/* The row of the map from weights to coefficient `at` on the raw scale, a number for each kept feature. */
tacit_status tacit_design_raw_row(const tacit_design *design, size_t at, double *row, tacit_error *error);

/* Whether a weight is of no column, and of which of the kept features otherwise. */
bool tacit_design_is_intercept(const tacit_design *design, size_t at);
size_t tacit_design_kept(const tacit_design *design, size_t at);

/* Which weight the coefficient in a place of the table is made of: the intercept is first, of each class;
 * ordinal ones are last. */
size_t tacit_design_at(const tacit_design *design, size_t place);

/* The column of the schema that a weight belongs to; SIZE_MAX: none. */
size_t tacit_design_column(const tacit_design *design, const tacit_feature *feature, size_t at);

/* Sums over all rows at the optimum. */
typedef struct tacit_optimum {
    const tacit_family *family;
    double rows, lambda, level;
    const double *w;       /* width */
    double objective;      /* sum of losses */
    const double *hessian; /* width x width, lower triangle; NULL with `variance` */
    /* of each coefficient on the raw scale, where that is all that is known; else NULL */
    const double *variance;
    /* of w with privacy noise, width x width, in place of a Hessian; NULL: there is no such noise */
    const double *covariance;
    const double *sampling;              /* what it would be without noise */
    double dispersion;                   /* of the scaled response, with `covariance` */
    double needs_rows, needs_epsilon;    /* above 0: w is no estimate */
    size_t weakest;                      /* of the kept features, with those */
    const double *middle;                /* the same; NULL for a likelihood */
    double response[TACIT_FAMILY_TERMS]; /* tacit_family_terms, summed */
    bool firth;
    double penalty; /* with it: log|hessian|/2 */
    /* sum of losses without terms, where there is an offset; NaN: follows from `response` */
    double null_objective;
    size_t iterations;
    double party_intercepts; /* 0: the intercept is common; else it is dropped from the table */
    double common_objective; /* with those: the sum of losses at the optimum with a common one */
} tacit_optimum;

tacit_status tacit_estimates_infer(tacit_estimates **out, const tacit_design *design,
                                   const tacit_optimum *optimum, tacit_error *error);

/* Tests of whole columns, and their variance inflation, for at most TACIT_TERMS_WIDTH coefficients
 * (estimates_terms.c). */
enum { TACIT_TERMS_WIDTH = 500 };
tacit_status tacit_estimates_test_terms(tacit_estimates *estimates, const tacit_design *design,
                                        const tacit_optimum *optimum, tacit_error *error);

/* Which term, or column, a place of the table belongs to; SIZE_MAX: none. Its name, as R prints it. Out:
 * `width` of `design`. */
tacit_status tacit_design_terms(const tacit_design *design, size_t *out, tacit_error *error);
tacit_status tacit_design_term_name(const tacit_design *design, size_t term, tacit_buffer *out,
                                    tacit_error *error);

/* The deviance where the sum of losses is `objective`; the rest as at the optimum. NaN: there is no
 * likelihood. */
double tacit_estimates_deviance_at(const tacit_design *design, const tacit_optimum *at, double objective);

/* What follows from a table's deviances. NaN where it does not apply. */
typedef struct tacit_fit_measures {
    double parameters; /* the coefficients, and a dispersion that was estimated */
    double log_likelihood, bic;
    double r_squared, adjusted;             /* linear */
    double mcfadden, cox_snell, nagelkerke; /* other likelihoods */
    double statistic, above, below, p; /* against the model without columns: chi-square, or F (below > 0) */
} tacit_fit_measures;
tacit_fit_measures tacit_estimates_measure(const tacit_estimates *estimates);

/* What the exponentials of coefficients of columns are, "odds ratio"; NULL: nothing. */
const char *tacit_estimates_ratio(const tacit_estimates *estimates);

/* The smaller of two nested models against the larger: a likelihood-ratio test, or F's where the dispersion
 * is estimated. TACIT_USAGE where they are no such pair. */
typedef struct tacit_comparison {
    bool swapped;               /* the second is the smaller one */
    double degrees;             /* how many coefficients the larger has more */
    double deviance;            /* how much smaller its deviance is */
    double statistic, below, p; /* chi-square, or F where below > 0 */
} tacit_comparison;
tacit_status tacit_estimates_compare(tacit_comparison *out, const tacit_estimates *first,
                                     const tacit_estimates *second, tacit_error *error);

/* As a part of a model's JSON document, and back; a load checks every number. */
json_t *tacit_estimates_to_json(const tacit_estimates *estimates);
tacit_status tacit_estimates_from_json(tacit_estimates **out, const json_t *object, tacit_error *error);
