/* dpnewton with purpose=inference (dpnewton_inference.c), and its sums over a party's rows
 * (dpnewton_inference_rows.c). */
#pragma once

#include "method/private/dpnewton.h"

enum { DPNEWTON_INFERENCE_STEPS = 5 };

typedef enum dpnewton_inference_sum {
    DPNEWTON_INFERENCE_MOMENTS,
    DPNEWTON_INFERENCE_GRADIENT,
    DPNEWTON_INFERENCE_CURVATURE
} dpnewton_inference_sum;

typedef struct dpnewton_inference {
    bool linear;
    size_t width;              /* d: the features that have a coefficient */
    size_t steps;              /* gradients before the last question; linear has none, and no last question */
    double feature, intercept; /* what an encoded row's features and its intercept are multiplied by */
    double encoded;            /* the intercept of an encoded row; 0: not known */
    double most;               /* c: no residual pulls more */
    double middle, half;       /* a number is fitted as (y - middle)/half in [-1, 1] */
    double strength;           /* mu of all noise that there is */
    tacit_sum_spec moments, gradient, curvature;
    dpnewton_counting missing;                              /* the very last question */
    dpnewton_release release[DPNEWTON_INFERENCE_STEPS + 2]; /* moments, steps, curvature */
} dpnewton_inference;

/* What a response is multiplied by beside x in the moments of a linear model; what H and B are beside g in
 * the last question. */
extern const double dpnewton_inference_tau, dpnewton_inference_kappa[2];

bool dpnewton_infers(const tacit_plan *plan);

/* What both halves need of a plan, by its purpose. */
typedef union dpnewton_prepared {
    dpnewton_design prediction;
    dpnewton_inference inference;
} dpnewton_prepared;

/* A function of the plan alone. TACIT_USAGE for one that has no coefficients per unit of a column. */
tacit_status dpnewton_inference_describe(const tacit_plan *plan, dpnewton_inference *out, tacit_error *error);

tacit_status dpnewton_inference_check(const tacit_plan *plan, tacit_error *error);
tacit_noise_law dpnewton_inference_noise(const tacit_plan *plan, const dpnewton_inference *design);
tacit_status dpnewton_inference_coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error);

/* One of the three sums over the party's rows, as it is asked for; `weights` for the last two. In all
 * holders. */
tacit_status dpnewton_inference_add_up(tacit_party *party, const dpnewton_inference *design,
                                       dpnewton_inference_sum which, const double *weights, double *out,
                                       tacit_error *error);

/* The party's half. */
tacit_status dpnewton_inference_moments(tacit_party *party, const tacit_question *question,
                                        tacit_reply *reply, tacit_error *error);
tacit_status dpnewton_inference_gradient(tacit_party *party, const tacit_question *question,
                                         tacit_reply *reply, tacit_error *error);
tacit_status dpnewton_inference_curvature(tacit_party *party, const tacit_question *question,
                                          tacit_reply *reply, tacit_error *error);

#define DPNEWTON_INFERENCE_HANDLERS                                                                          \
    { .question = "inference-moments", .answer = dpnewton_inference_moments },                               \
        { .question = "inference-gradient", .answer = dpnewton_inference_gradient }, {                       \
        .question = "inference-curvature", .answer = dpnewton_inference_curvature                            \
    }
