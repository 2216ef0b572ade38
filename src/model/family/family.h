/*
 * Loss families. What is special to one family stands in its file, NAME.c, and its line in the table
 * (families.h) makes it known everywhere: to the solver, the sums of method estimate, model files, exports,
 * metrics, help and error messages. Nothing else asks which family it has.
 *
 *   family    response      l(y, t)                                                 L         c
 *   logistic  0 or 1        log(1 + exp(t)) - y t                                   1         1/4
 *   softmax   0 .. K-1      log sum_k exp(t_k) - t_y                                sqrt(2)   1/2
 *   ordinal   0 .. K-1      -log(F(t_y) - F(t_(y-1))), F(t) = 1/(1 + exp(-t))       none      none
 *   huber     0 or 1        with z = (2y - 1) t: 0 for z > 1 + h, 1 - z for         1         1/(2h)
 *                           z < 1 - h, (1 + h - z)^2/(4h) in between
 *   linear    [-1, 1]       (t - y)^2/2                                             none      1
 *   poisson   0, 1, 2 ...   exp(t) - y t                                            none      none
 *   hazard    time, event   y_1 exp(t) - y_2 t, the baseline hazard being 1         none      none
 */
#pragma once

#include "data/schema/schema.h"
#include "model/family/families.h"
#include "num/loss.h"

enum {
    TACIT_FAMILY_TERMS = 3
}; /* what of all responses together deviances need; the first is the sum of y */

/* Sums over all rows at an optimum. */
typedef struct tacit_family_sums {
    double rows, coefficients, objective;
    double scale; /* responses were divided by it */
    double terms[TACIT_FAMILY_TERMS];
    bool intercept;
} tacit_family_sums;

/* How well a model fits, as R's glm has it. */
typedef struct tacit_family_fit {
    double deviance, null_deviance, aic, dispersion;
} tacit_family_fit;

typedef struct tacit_family tacit_family;
struct tacit_family {
    const char *name;     /* in files, settings and messages */
    const char *title;    /* for people who get a model: "logistic regression" */
    const char *r_family; /* as R spells it; NULL: R has none */
    const char *r_link;
    const char *ratio; /* what the exponential of a coefficient is: "odds ratio"; NULL: nothing */
    tacit_response response;
    tacit_loss loss;

    /* l is a negative log-likelihood, up to terms without t: the inverse Hessian is the covariance; else the
     * sandwich is */
    bool likelihood;
    /* l is quadratic in t: a response is scaled to [-1, 1] first, and sums tell the same at every w */
    bool quadratic;
    bool dispersed; /* the dispersion is estimated: tests are Student's */
    /* what a careful fit asks for by itself follows from the sums at w = 0 (estimate_few.c), where l is
     * quadratic, or the log 2 of two classes with a curvature of 1/4 */
    bool few;

    double (*link)(double mean);     /* the score of a mean of the response; NULL without means */
    double (*mean)(double score);    /* its inverse */
    double (*variance)(double mean); /* of a response, in units of the dispersion */
    /* its third cumulant over its variance; NULL: no bias of order 1/n to take away */
    double (*skewness)(double mean);
    /* of one response: twice what its best mean would gain */
    double (*deviance)(const double *y, double mean);
    double (*log_likelihood)(const double *y, double mean, double dispersion);

    /* Linear scores of K classes into the logarithms of their probabilities, in place. NULL: they are such up
     * to a constant, or there is one score. */
    void (*predict)(size_t classes, double *scores);

    /* m: the largest t |l'(t)| on the right side, of this many classes; bounds |w| <= sqrt(m/lambda). NULL
     * without L. */
    double (*pull)(double shape, size_t classes);

    /* B such that, for |x| <= 1 and responses up to `high`, every w whose total loss over n rows is at most
     * that of w = 0 has objective, gradient and Hessian sums of any subset of the rows within B; and such
     * that a subset whose loss is B proves a total above that of w = 0. `terms` tighten it once they are
     * known; NULL: they are not. */
    double (*bound)(double n, double high, const double *terms);
    /* The same where an offset within `reach` of 0 is part of every score: w = 0 then loses more. NULL: the
     * family takes no offset. */
    double (*offset_bound)(double n, double high, double reach, const double *terms);
    void (*terms)(const double *y, double out[TACIT_FAMILY_TERMS]);      /* NULL: y and y^2 */
    void (*measure)(const tacit_family_sums *at, tacit_family_fit *out); /* NULL without a likelihood */
    size_t measured; /* how many of the terms `measure` reads: the first ones */
    /* Which term the sum of losses lacks to be a negative log-likelihood, and so never below 0. 0: none. */
    size_t constant;

    /* Where fits by Newton's method without a search along the step begin: at the minimum of this quadratic
     * loss, which is that of the first iteration of R's glm. NULL: at 0. Not in the table. */
    const tacit_family *begins;

    /* The same with clipped residuals, so that L and c are finite: what is fitted where a theorem needs them.
     * Its shape is the largest response that the schema allows. NULL: it has L and c itself, or there is no
     * such loss. Not in the table: its models are those of the family. */
    const tacit_family *clipped;

    const char *all_alike; /* what is wrong where the link of the responses' mean is infinite */
    const char *unbounded; /* why there may be no finite estimate */

    const char *onnx; /* the operator from scores to means or probabilities; NULL: they are the same */
    const char *pmml; /* and the normalisation of a PMML RegressionModel */
};

#define TACIT_FAMILY_DECLARE(name) extern const tacit_family tacit_family_##name;
TACIT_FAMILIES(TACIT_FAMILY_DECLARE)

/* `measure` of families with several scores, whose third term is the loss of the model without columns. */
void tacit_family_measure_classes(const tacit_family_sums *at, tacit_family_fit *out);

/* By name, also by R's; NULL when there is none so called. */
const tacit_family *tacit_family_find(const char *name);

/* In the order of the table; NULL after the last. */
const tacit_family *tacit_family_at(size_t place);

/* The likelihood that fits a response, of this many classes or of 0: the first of the table. Of classes
 * always one. */
const tacit_family *tacit_family_of(tacit_response response, size_t classes);

/* That of classes: logistic for two, softmax for more. */
const tacit_family *tacit_family_for(size_t classes);

/* Whether a model of the family can have this many classes, and which it can have, in words: "two or
 * more". */
bool tacit_family_takes(const tacit_family *family, size_t classes);
const char *tacit_family_classes(const tacit_family *family);

/* Whether each class has a score. */
static inline bool tacit_family_has_scores(const tacit_family *family) {
    return family->loss.classes != NULL || family->loss.several != NULL;
}

/* How many scores a row has, and so weight vectors a linear model. */
static inline size_t tacit_family_scores(const tacit_family *family, size_t classes) {
    return tacit_family_has_scores(family) ? classes : 1;
}

/* What of one row's response deviances need. */
void tacit_family_terms(const tacit_family *family, const double *y, double out[TACIT_FAMILY_TERMS]);

/* l' of one row with one score. */
double tacit_family_slope(const tacit_family *family, double shape, const double *y, double t);

/* R's kinds of residuals of a row with a mean. */
typedef enum tacit_residual {
    TACIT_RESIDUAL_RESPONSE, /* y - mean */
    TACIT_RESIDUAL_PEARSON,  /* in standard deviations */
    TACIT_RESIDUAL_DEVIANCE, /* the root of the deviance, with its sign */
} tacit_residual;
double tacit_family_residual(const tacit_family *family, tacit_residual kind, const double *y, double mean);
