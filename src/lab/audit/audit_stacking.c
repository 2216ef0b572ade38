/*
 * The worst known pairs of stacks, all with Huber's loss in one dimension a member: one row at the end of
 * each member's axis has the other label, the others lie at the origin. While |w| < 1 - h both versions are
 * on the straight part of the loss, and the b_k of each member that sees the row moves by 2 q_k: all that the
 * theorem allows for (privacy/mechanism/erm.h). The row is one of D_l, which the number of rows decides; what
 * is made of D_h follows from what is released, and is not looked at.
 *
 * pst-h: the row is a target's, and its source knows nothing. The printed step of a source, plr at epsilon
 * for each of K groups on the same rows, is audited by itself and at its word.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "lab/audit/audit_methods.h"
#include "lab/audit/audit_parts.h"
#include "method/private/stacking.h"

enum { MEMBERS = 5, ROWS_LEAST = 40, ROWS_MOST = 400 };

/* n lambda so large that the Jacobian takes little of epsilon. */
static double strong_lambda(const tacit_plan *plan) { return 200 * fmax(1, 1 / plan->epsilon) / 2; }

static tacit_status lay_out(stacking *out, const tacit_plan *plan, tacit_error *error) {
    return plan->method == &tacit_method_pst_s ? stacking_of_blocks(out, plan, error)
                                               : stacking_of_groups(out, plan, error);
}

/* Where the first row of `rows` is in the stack's order; SIZE_MAX when out of memory. */
static size_t place_of_first(const stacking *how, size_t rows) {
    size_t *order = TACIT_NEW(size_t, rows), place = 0;
    if (order == NULL) return SIZE_MAX;
    stacking_order(how, order, rows);
    while (order[place] != 0) place++;
    free(order);
    return place;
}

/* The least number of rows from ROWS_LEAST on that has the first one in D_l. */
static tacit_status choose_rows(size_t *out, const tacit_plan *plan, tacit_error *error) {
    stacking how = STACKING_INIT;
    TACIT_TRY(lay_out(&how, plan, error));
    size_t rows = ROWS_LEAST;
    while (rows < ROWS_MOST && place_of_first(&how, rows) >= stacking_low_rows(&how, rows)) rows++;
    stacking_clear(&how);
    *out = rows;
    return TACIT_OK;
}

static tacit_status set_default(tacit_plan *plan, const tacit_audit_setup *setup, const char *name,
                                const char *value, tacit_error *error) {
    for (size_t i = 0; i < setup->setting_count; i++)
        if (strcmp(setup->settings[i].name, name) == 0) return TACIT_OK;
    return tacit_plan_set(plan, name, value, error);
}

static tacit_status stack_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT], const tacit_method *method,
                               const tacit_audit_setup *setup, tacit_error *error) {
    tacit_plan *plan = &out->plan;
    bool blocks = method == &tacit_method_pst_s, lent = method == &tacit_method_pst_h;
    size_t rows = 0;
    out->statistic = TACIT_STATISTIC_MODEL;
    TACIT_TRY(tacit_audit_plan(plan, method, setup, error));
    TACIT_TRY(set_default(plan, setup, "loss", "huber", error));
    if (!blocks) TACIT_TRY(set_default(plan, setup, "rows", "normalise", error));
    /* all b_k must be extreme at once */
    if (!blocks) TACIT_TRY(set_default(plan, setup, "groups", "2", error));
    if (lent) TACIT_TRY(tacit_plan_set(plan, "source-lambda", "1e6", error)); /* so that it knows nothing */
    size_t features = blocks ? 1 : stacking_settings_of(plan)->groups;
    if (plan->lambda == 0) plan->lambda = strong_lambda(plan);
    plan->features = features;
    TACIT_TRY(choose_rows(&rows, plan, error));
    TACIT_TRY(audit_start_pair(out, features, lent ? 2 : 1, rows, error));
    if (lent) { /* the row that differs is the target's */
        out->split->index[0] = 1;
        out->split->index[rows] = 0;
    }
    for (int side = 0; side < 2; side++) {
        for (size_t j = 0; j < features; j++)
            out->data[side]->dense.values[j] = (1 - 1e-12) / sqrt((double)features);
        out->data[side]->label[0] = 1 - side;
    }
    tacit_format(text, TACIT_AUDIT_TEXT,
                 "one of %zu rows%s, the others at the origin, has the other label; lambda %.4g", rows,
                 lent ? " of a target" : "", plan->lambda);
    return TACIT_OK;
}

static tacit_status pst_s_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT], const tacit_audit_setup *setup,
                               tacit_error *error) {
    return stack_pair(out, text, &tacit_method_pst_s, setup, error);
}

static tacit_status pst_f_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT], const tacit_audit_setup *setup,
                               tacit_error *error) {
    return stack_pair(out, text, &tacit_method_pst_f, setup, error);
}

static tacit_status pst_h_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT], const tacit_audit_setup *setup,
                               tacit_error *error) {
    return stack_pair(out, text, &tacit_method_pst_h, setup, error);
}

/* ---- the score: the likelihood ratio of the b_k that would have given the released members ---- */

/* -loss' of Huber's hinge, or of the logistic loss, at the margin t. */
static double pull(const tacit_family *family, double shape, double t) {
    return -tacit_family_slope(family, shape, &(double){ 1 }, t);
}

/* |b'| - |b| of a member whose row is at x, for labels -1 and 1; `inertia` is n (lambda + Delta). */
static double gain(const tacit_family *family, double shape, double inertia, double x, double w) {
    double with = -inertia * w + pull(family, shape, w * x) * x,
           without = -inertia * w - pull(family, shape, -w * x) * x;
    return fabs(without) - fabs(with);
}

static double score_of_members(const tacit_pair *pair, const stacking *how,
                               const tacit_objective_noise *noise, const double *release) {
    size_t rows = pair->split->start[1], low = stacking_low_rows(how, rows),
           place = place_of_first(how, rows);
    const tacit_family *family = perturb_family(&pair->plan);
    double shape = perturb_shape(&pair->plan), sum = 0;
    for (size_t k = 0; k < how->stack->members; k++) {
        size_t begin = low * k / how->stack->members, end = low * (k + 1) / how->stack->members;
        if (how->by_rows && (place < begin || place >= end)) continue;
        double n = (double)(how->by_rows ? end - begin : low);
        double x = how->by_rows ? 1 : pair->data[0]->dense.values[how->stack->column[k]];
        if (!how->by_rows) x = how->stack->scale[k] * (how->stack->rows_normalised ? 1 : x);
        sum += gain(family, shape, n * noise[k].lambda, x, release[k]);
    }
    return sum / 2;
}

/* NaN, which ends the audit, when the plan makes no stack. */
static double score_stack(const tacit_audit_case *subject, const double *release, const double *const at[2]) {
    const tacit_pair *pair = subject->neighbours;
    tacit_objective_noise *noise = NULL;
    stacking how = STACKING_INIT;
    double score = NAN;
    (void)at;
    tacit_status status = lay_out(&how, &pair->plan, NULL);
    if (status == TACIT_OK) noise = TACIT_NEW(tacit_objective_noise, how.stack->members);
    if (noise != NULL && stacking_noise(noise, &pair->plan, &how,
                                        stacking_low_rows(&how, pair->split->start[1]), NULL) == TACIT_OK)
        score = score_of_members(pair, &how, noise, release);
    free(noise);
    stacking_clear(&how);
    return score;
}

const tacit_auditable tacit_audit_pst_s = {
    .name = "pst-s",
    .title = "stacking over blocks of rows",
    .score = score_stack,
    .pair = pst_s_pair,
};

const tacit_auditable tacit_audit_pst_f = {
    .name = "pst-f",
    .title = "stacking over groups of features",
    .score = score_stack,
    .pair = pst_f_pair,
};

const tacit_auditable tacit_audit_pst_h = {
    .name = "pst-h",
    .title = "stacking across organisations: a target's answer",
    .score = score_stack,
    .pair = pst_h_pair,
};

/* ---- pst-h as printed: plr at epsilon for each group, on the same rows ---- */

static const double WIDTH = 0.5;

typedef struct printed_case {
    tacit_objective_noise noise;
    size_t rows;
} printed_case;

static tacit_status open_printed(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    if (setup->setting_count > 0) return tacit_fail(error, TACIT_USAGE, "pst-h-printed has no settings");
    printed_case *self = TACIT_NEW(printed_case, 1);
    if (self == NULL) return tacit_fail_memory(error);
    self->rows = 10;
    tacit_erm erm = { .rows = self->rows,
                      .dimension = 1,
                      .lambda = setup->lambda > 0 ? setup->lambda : 20 * fmax(1, 1 / setup->epsilon),
                      .curvature = 1 / (2 * WIDTH),
                      .radius = 1,
                      .epsilon = setup->epsilon,
                      .calibration = TACIT_CALIBRATION_PAPER };
    tacit_status status = tacit_objective_noise_for(&self->noise, &erm, TACIT_LAW_GAMMA_NORM, error);
    if (status != TACIT_OK) {
        free(self);
        return status;
    }
    snprintf(out->pair, sizeof out->pair,
             "one of %zu rows of a source, the others at the origin, has the other label; %d groups of one "
             "feature",
             self->rows, (int)MEMBERS);
    out->length = MEMBERS;
    out->state = self;
    return TACIT_OK;
}

/* The minimiser of Huber's loss of one row at 1, label +-1, with the tilt b: on which piece of the loss it
 * lies is tried. */
static double minimiser(double inertia, double b, double y) {
    double straight = (y - b) / inertia, corner, none = -b / inertia;
    if (y * straight <= 1 - WIDTH) return straight;
    if (y * none >= 1 + WIDTH) return none;
    /* -inertia w - b + y (1 + h - y w)/(2h) = 0 */
    corner = (y * (1 + WIDTH) / (2 * WIDTH) - b) / (inertia + 1 / (2 * WIDTH));
    return corner;
}

static tacit_status draw_printed(tacit_audit_case *subject, int side, const tacit_stream *stream, double *out,
                                 tacit_error *error) {
    const printed_case *self = subject->state;
    const tacit_objective_noise *noise = &self->noise;
    tacit_stream own = stream != NULL ? *stream : tacit_stream_from_seed(0);
    tacit_noise_source source = tacit_audit_source(subject, &own);
    for (size_t k = 0; k < MEMBERS; k++) {
        double b = 0;
        if (stream != NULL) {
            tacit_noised *drawn = NULL;
            TACIT_TRY(tacit_mechanism_release_at(&drawn, &source, &noise->law, noise->scale, &b, 1,
                                                 noise->grid_bits, noise->bound, error));
            b = ldexp((double)tacit_noised_steps(drawn)[0], -noise->grid_bits);
            tacit_noised_free(drawn);
        }
        out[k] = minimiser((double)self->rows * noise->lambda, b, side == 0 ? 1 : -1);
    }
    return TACIT_OK;
}

static double score_printed(const tacit_audit_case *subject, const double *release,
                            const double *const at[2]) {
    const printed_case *self = subject->state;
    double sum = 0;
    (void)at;
    for (size_t k = 0; k < MEMBERS; k++)
        sum += gain(&tacit_family_huber, WIDTH, (double)self->rows * self->noise.lambda, 1, release[k]);
    return sum / (2 * MEMBERS);
}

static void close_printed(tacit_audit_case *subject) { free(subject->state); }

const tacit_auditable tacit_audit_pst_h_printed = {
    .name = "pst-h-printed",
    .title = "a source of pst-h as printed, at its word: plr at epsilon for each group of the same rows",
    .score = score_printed,
    .open = open_printed,
    .draw = draw_printed,
    .close = close_printed,
};
