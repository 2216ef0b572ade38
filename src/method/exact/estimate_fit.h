/* A fit of method estimate under way, at the coordinator: where it is, and what of it outlives a crash. */
#pragma once

#include "method/exact/estimate.h"
#include "num/glm/lbfgs.h"
#include "session/session.h"

/* The objective and its derivatives at a point, the regulariser included. */
typedef struct estimate_point {
    double *w, *gradient;
    double *matrix;   /* width x width, lower triangle, as asked for; without the regulariser */
    double objective; /* F */
    double loss;      /* F without the regulariser */
} estimate_point;

typedef struct estimate_fit {
    tacit_session *session;
    const tacit_family *family;
    tacit_design design;
    double n, token;
    size_t parties;
    size_t set; /* of completed ones, where missing values are imputed */
    double terms[TACIT_ESTIMATE_TERMS];
    estimate_point here, there; /* the accepted point, and the one that is tried */
    double *gram;               /* X^T X */
    double null_loss;           /* with an offset: the loss of the model without terms */
    double *factor, *scale, *direction;
    bool *deficient;
    tacit_lbfgs memory;
    tacit_firth firth;
    size_t iterations;
    double *start;                        /* where it started: the model without columns */
    bool *held;                           /* weights that stay 0; NULL: none */
    bool apart;                           /* each party has an intercept of its own */
    double common_loss, common_intercept; /* before that */
    bool from_model;                      /* the fit started at a public model, and X^T X is not known */
} estimate_fit;

/* Empty, at weights of 0; to be ended also where this fails. */
tacit_status estimate_fit_begin(estimate_fit *self, tacit_session *session, tacit_error *error);
void estimate_fit_end(estimate_fit *self);

/* Ask for F, its gradient and a matrix at point->w. */
tacit_status estimate_ask_point(estimate_fit *self, estimate_point *at, tacit_row_weight weight,
                                tacit_error *error);

/* What a descent of its own uses of the careful one. */
typedef struct estimate_steps {
    bool (*separates)(const estimate_fit *self);
    tacit_status (*direct)(estimate_fit *self, bool *damped, tacit_error *error);
    tacit_status (*search)(estimate_fit *self, tacit_row_weight weight, bool *moved, tacit_error *error);
    tacit_status (*no_estimate)(const estimate_fit *self, const double *direction, tacit_error *error);
    tacit_status (*check)(estimate_fit *self, tacit_error *error); /* whether the columns can explain */
} estimate_steps;

/* In few rounds (estimate_few.c): what there is to explain, once the rows are counted, and X^T X; then to the
 * end. At a public model rows are counted with the responses. */
tacit_status tacit_estimate_start_few(estimate_fit *self, const estimate_steps *steps, tacit_error *error);
tacit_status tacit_estimate_start_at_model(estimate_fit *self, const estimate_steps *steps,
                                           tacit_error *error);
tacit_status tacit_estimate_descend_few(estimate_fit *self, const estimate_steps *steps, tacit_error *error);

/* Newton from where the fit is to its end. */
typedef tacit_status estimate_descent(estimate_fit *self, tacit_error *error);

/* Test terms by likelihood ratios, where the plan says so; `at` is the optimum, at which the fit is before
 * and after. */
tacit_status tacit_estimate_ratios(estimate_fit *fit, estimate_descent *descend, const tacit_optimum *at,
                                   tacit_estimates *out, tacit_error *error);

/* Cross-validate the model where the plan says so; the fit is at its optimum. */
tacit_status tacit_estimate_validate(estimate_fit *fit, tacit_model *model, tacit_error *error);

/* As a checkpoint, and back; *found is false where there is none. */
tacit_status estimate_fit_keep(const estimate_fit *self, tacit_error *error);
tacit_status estimate_fit_take_up(estimate_fit *self, bool *found, tacit_error *error);
