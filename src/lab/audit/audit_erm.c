/*
 * The worst known pairs of private empirical risk minimisation.
 *
 * loss=huber, one dimension: one row at 1 changes its label and all others lie at the origin, where they have
 * no gradient. As long as |w| < 1 - h both versions are on the straight part of the loss, with gradients -1
 * and 1: the minimiser of output moves by 2/(n lambda), and the b of a perturbed objective by 2, which is all
 * that the theorems allow for.
 *
 * loss=logistic: in one dimension the gradients at one w would differ by no more than 1. So a row is turned
 * against the rest in two: near-antiparallel versions that are both confidently wrong. A perturbed objective
 * wants n lambda large enough that the Jacobian, which these pairs do not use, takes little of epsilon, and
 * weights long enough that both versions stay wrong under noise: lambda = sigma(-4)/4 pulls the others'
 * weights to 4.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "lab/audit/audit_parts.h"
#include "method/private/perturb.h"

static bool is_huber(const tacit_plan *plan) { return perturb_family(plan) == &tacit_family_huber; }

/* A method promises the same whatever its loss, and Huber's has the worse pair: it is audited by default. */
static tacit_status make_plan(tacit_plan *out, const tacit_method *method, const tacit_audit_setup *setup,
                              tacit_error *error) {
    TACIT_TRY(tacit_audit_plan(out, method, setup, error));
    return audit_set_default(out, setup, "loss", "huber", error);
}

static tacit_status changed_label(tacit_pair *out, char text[TACIT_AUDIT_TEXT], size_t rows,
                                  tacit_error *error) {
    TACIT_TRY(audit_start_pair(out, 1, 1, rows, error));
    for (int side = 0; side < 2; side++) {
        out->data[side]->dense.values[0] = 1;
        out->data[side]->label[0] = 1 - side;
    }
    tacit_format(text, TACIT_AUDIT_TEXT,
                 "one of %zu rows, the others at the origin, has the other label; loss=huber, lambda %.4g",
                 rows, out->plan.lambda);
    return TACIT_OK;
}

static tacit_status output_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT], const tacit_audit_setup *setup,
                                tacit_error *error) {
    tacit_plan *plan = &out->plan;
    out->statistic = TACIT_STATISTIC_MODEL;
    TACIT_TRY(make_plan(plan, &tacit_method_output, setup, error));
    if (plan->lambda == 0) plan->lambda = is_huber(plan) ? 1 : 1e-4;
    size_t rows = audit_rows(10 / plan->lambda);
    return is_huber(plan) ? changed_label(out, text, rows, error)
                          : audit_turned_row(out, text, 1, rows, error);
}

static tacit_status objective_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT], const tacit_method *method,
                                   const tacit_audit_setup *setup, tacit_error *error) {
    enum { FEW = 10 };
    tacit_plan *plan = &out->plan;
    out->statistic = TACIT_STATISTIC_MODEL;
    TACIT_TRY(make_plan(plan, method, setup, error));
    double wanted = is_huber(plan) ? 200 * fmax(1, 1 / plan->epsilon) : 5 * fmax(0.3, 1 / plan->epsilon);
    if (plan->lambda == 0) plan->lambda = is_huber(plan) ? wanted / FEW : 1 / (4 * (1 + exp(4)));
    size_t rows = audit_rows(wanted / plan->lambda);
    return is_huber(plan) ? changed_label(out, text, rows, error)
                          : audit_turned_row(out, text, 1, rows, error);
}

static tacit_status plr_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT], const tacit_audit_setup *setup,
                             tacit_error *error) {
    return objective_pair(out, text, &tacit_method_plr, setup, error);
}

static tacit_status gop_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT], const tacit_audit_setup *setup,
                             tacit_error *error) {
    return objective_pair(out, text, &tacit_method_gop, setup, error);
}

/* ---- scores: the likelihood ratio of the b that would have given the released weights ---- */

/* -loss' at the margin t. */
static double pull(const tacit_plan *plan, double t) {
    return -tacit_family_slope(perturb_family(plan), perturb_shape(plan), &(double){ 1 }, t);
}

/* |b(w)|^2, b(w) = -n (lambda + Delta) w - sum_i loss' y_i x_i over the rows of one side. */
static double square_of_b(const tacit_pair *pair, int side, double lambda, const double *w) {
    enum { MOST_FEATURES = 2, STORED = 2 };
    const tacit_dataset *data = pair->data[side];
    size_t features = data->features, rows = pair->split->start[1], times[STORED] = { 0, 0 };
    double b[MOST_FEATURES], square = 0;
    for (size_t i = 0; i < rows; i++) times[pair->split->index[i]]++;
    for (size_t j = 0; j < features; j++) b[j] = -(double)rows * lambda * w[j];
    for (size_t i = 0; i < STORED; i++) {
        const double *x = data->dense.values + i * features;
        double y = data->label[i] == 1 ? 1 : -1, t = 0;
        for (size_t j = 0; j < features; j++) t += y * w[j] * x[j];
        for (size_t j = 0; j < features; j++) b[j] += (double)times[i] * pull(&pair->plan, t) * y * x[j];
    }
    for (size_t j = 0; j < features; j++) square += b[j] * b[j];
    return square;
}

/* lambda + Delta, which is the same for either law; NaN when the plan is impossible. */
static double perturbed_lambda(const tacit_pair *pair) {
    tacit_objective_noise noise = { .lambda = NAN };
    tacit_status status =
        perturb_objective_noise(&noise, &pair->plan, TACIT_LAW_GAMMA_NORM, pair->split->start[1], NULL);
    return status == TACIT_OK ? noise.lambda : NAN;
}

static double score_plr(const tacit_audit_case *subject, const double *release, const double *const at[2]) {
    const tacit_pair *pair = subject->neighbours;
    double lambda = perturbed_lambda(pair);
    (void)at;
    return (sqrt(square_of_b(pair, 1, lambda, release)) - sqrt(square_of_b(pair, 0, lambda, release))) / 2;
}

static double score_gop(const tacit_audit_case *subject, const double *release, const double *const at[2]) {
    const tacit_pair *pair = subject->neighbours;
    double lambda = perturbed_lambda(pair);
    (void)at;
    return (square_of_b(pair, 1, lambda, release) - square_of_b(pair, 0, lambda, release)) / 8;
}

const tacit_auditable tacit_audit_output = {
    .name = "output",
    .title = "output perturbation",
    .score = tacit_score_distance,
    .pair = output_pair,
};

const tacit_auditable tacit_audit_plr = {
    .name = "plr",
    .title = "objective perturbation",
    .score = score_plr,
    .pair = plr_pair,
};

const tacit_auditable tacit_audit_gop = {
    .name = "gop",
    .title = "Gaussian objective perturbation",
    .score = score_gop,
    .pair = gop_pair,
};
