/*
 * What can be audited, each with its worst known neighbouring pair. A method is a function that fills a
 * tacit_pair; a mechanism without a method has functions of its own. To add one: write the function and add
 * the entry below.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/schema/text.h"
#include "lab/audit/audit_methods.h"
#include "lab/audit/audit_parts.h"
#include "method/avg.h"

/* ---- mechanisms: the values 0 and S along the first axis ---- */

enum { MOST_DIMENSIONS = 64, MECHANISM_GRID = 40 };

typedef struct mechanism_case {
    tacit_mechanism mechanism;
    double value[2][MOST_DIMENSIONS];
} mechanism_case;

static tacit_status read_dimension(size_t *out, const char *name, const tacit_audit_setup *setup,
                                   tacit_error *error) {
    for (size_t i = 0; i < setup->setting_count; i++) {
        const tacit_setting_value *one = &setup->settings[i];
        double number;
        if (strcmp(one->name, "dimension") != 0)
            return tacit_fail(error, TACIT_USAGE, "mechanism %s has no setting '%s'; it has: dimension", name,
                              one->name);
        if (!tacit_text_to_number(one->value, strlen(one->value), &number) || number != floor(number) ||
            number < 1 || number > MOST_DIMENSIONS)
            return tacit_fail(error, TACIT_USAGE,
                              "setting dimension is a whole number from 1 to %d, not '%s'", MOST_DIMENSIONS,
                              one->value);
        *out = (size_t)number;
    }
    return TACIT_OK;
}

static tacit_status open_mechanism(tacit_audit_case *out, const char *name, tacit_law law, size_t dimension,
                                   const tacit_audit_setup *setup, tacit_error *error) {
    double scale;
    if (setup->delta > 0 && law != TACIT_LAW_GAUSSIAN)
        return tacit_fail(error, TACIT_USAGE, "mechanism %s promises delta = 0", name);
    TACIT_TRY(read_dimension(&dimension, name, setup, error));
    mechanism_case *self = TACIT_NEW(mechanism_case, 1);
    if (self == NULL) return tacit_fail_memory(error);
    self->mechanism = (tacit_mechanism){ law, 1, out->charged };
    self->value[1][0] = self->mechanism.sensitivity;
    tacit_status status = tacit_mechanism_scale(&scale, &self->mechanism, error);
    if (status != TACIT_OK) {
        free(self);
        return status;
    }
    out->length = dimension;
    out->reach = 1;
    out->state = self;
    snprintf(out->pair, sizeof out->pair,
             "the value 0 and the value 1 of a statistic of sensitivity 1, in %zu %s", dimension,
             dimension == 1 ? "dimension" : "dimensions");
    return TACIT_OK;
}

static tacit_status open_laplace(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_mechanism(out, "laplace", TACIT_LAW_LAPLACE, 1, setup, error);
}

static tacit_status open_gamma_norm(tacit_audit_case *out, const tacit_audit_setup *setup,
                                    tacit_error *error) {
    return open_mechanism(out, "gamma-norm", TACIT_LAW_GAMMA_NORM, 2, setup, error);
}

static tacit_status open_gaussian(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_mechanism(out, "gaussian", TACIT_LAW_GAUSSIAN, 1, setup, error);
}

/* The promise stays, the noise is that of twice its epsilon. */
static tacit_status open_halved(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    TACIT_TRY(open_mechanism(out, "laplace-halved", TACIT_LAW_LAPLACE, 1, setup, error));
    ((mechanism_case *)out->state)->mechanism.price.epsilon *= 2;
    return TACIT_OK;
}

/* The grid has to leave room for the noise: 2^40 steps to the unit, unless the scale is beyond 2^10 units. */
static tacit_status draw_mechanism(tacit_audit_case *subject, int side, const tacit_stream *stream,
                                   double *out, tacit_error *error) {
    const mechanism_case *self = subject->state;
    tacit_mechanism mechanism = self->mechanism;
    if (stream == NULL) {
        memcpy(out, self->value[side], subject->length * sizeof *out);
        return TACIT_OK;
    }
    tacit_stream own = *stream;
    tacit_noise_source source = tacit_audit_source(subject, &own);
    tacit_noised *noised = NULL;
    int bits;
    frexp(1 + mechanism.sensitivity / mechanism.price.epsilon, &bits);
    int grid = bits <= 10 ? MECHANISM_GRID : MECHANISM_GRID + 10 - bits;
    TACIT_TRY(tacit_mechanism_release(&noised, &source, &mechanism, self->value[side], subject->length, grid,
                                      ldexp(1, 61 - grid), error));
    for (size_t j = 0; j < subject->length; j++) out[j] = ldexp((double)tacit_noised_steps(noised)[j], -grid);
    tacit_noised_free(noised);
    return TACIT_OK;
}

static void close_mechanism(tacit_audit_case *subject) { free(subject->state); }

static const tacit_auditable laplace = {
    .name = "laplace",
    .title = "the Laplace mechanism",
    .open = open_laplace,
    .draw = draw_mechanism,
    .close = close_mechanism,
};

static const tacit_auditable gamma_norm = {
    .name = "gamma-norm",
    .title = "the gamma-norm mechanism",
    .score = tacit_score_distance,
    .open = open_gamma_norm,
    .draw = draw_mechanism,
    .close = close_mechanism,
};

static const tacit_auditable gaussian = {
    .name = "gaussian",
    .title = "the Gaussian mechanism",
    .open = open_gaussian,
    .draw = draw_mechanism,
    .close = close_mechanism,
};

static const tacit_auditable laplace_halved = {
    .name = "laplace-halved",
    .title = "Laplace noise of half the scale: a control that an audit must find broken",
    .open = open_halved,
    .draw = draw_mechanism,
    .close = close_mechanism,
};

/* ---- pairs of few stored rows ---- */

/* An index may name a stored row many times, so a party of 100,000 equal rows is cheap. */
static tacit_status repeat_rows(tacit_split **out, size_t parties, size_t rows, tacit_error *error) {
    tacit_split *split = TACIT_NEW(tacit_split, 1);
    if (split == NULL) return tacit_fail_memory(error);
    split->parts = parties;
    split->start = TACIT_NEW(size_t, parties + 1);
    split->index = TACIT_NEW(uint32_t, parties * rows);
    if (split->start == NULL || split->index == NULL) {
        tacit_split_free(split);
        return tacit_fail_memory(error);
    }
    for (size_t k = 0; k <= parties; k++) split->start[k] = k * rows;
    for (size_t i = 0; i < parties * rows; i++) split->index[i] = i > 0;
    *out = split;
    return TACIT_OK;
}

tacit_status audit_start_pair(tacit_pair *out, size_t features, size_t parties, size_t rows,
                              tacit_error *error) {
    static const char *const classes[] = { "0", "1" };
    for (int side = 0; side < 2; side++) {
        TACIT_TRY(tacit_dataset_create(&out->data[side], 2, features, classes, 2, error));
        out->data[side]->label[0] = out->data[side]->label[1] = 1;
    }
    out->plan.features = features;
    out->plan.parties = parties;
    out->plan.minimum_rows = rows;
    return repeat_rows(&out->split, parties, rows, error);
}

/* ---- avg ---- */

static double sigma(double t) { return 1 / (1 + exp(-t)); }

/* The w >= 0 with w = scale sigma(offset - slope w), by bisection: the right side falls. */
static double balance(double scale, double offset, double slope) {
    double low = 0, high = scale;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (middle < scale * sigma(offset - slope * middle))
            low = middle;
        else
            high = middle;
    }
    return low;
}

static const char *whose(size_t parties) { return parties == 1 ? "the only party" : "one of two parties"; }

/* All rows of one party say one thing, then the opposite. One row stands for any number of equal ones: w
 * solves lambda w = sigma(-w). Of all lambda the one with w = 1 + W(1/e) attains the bound: there lambda w^2
 * = W(1/e). */
static tacit_status avg_party(tacit_pair *out, char text[TACIT_AUDIT_TEXT], size_t parties,
                              tacit_error *error) {
    static const double W = 0.27846454276107379510; /* W(1/e) */
    if (out->plan.lambda == 0) out->plan.lambda = W / ((1 + W) * (1 + W));
    TACIT_TRY(audit_start_pair(out, 1, parties, 1, error));
    for (int side = 0; side < 2; side++) {
        out->data[side]->dense.values[0] = out->data[side]->dense.values[1] = 1;
        out->data[side]->label[0] = side;
    }
    tacit_format(text, TACIT_AUDIT_TEXT, "all rows of %s have the other label; lambda %.4g", whose(parties),
                 out->plan.lambda);
    return TACIT_OK;
}

/* One of n rows. The others, all at (-1, 0), pull the weights to (-v, 0) with lambda v = sigma(-v), so that
 * both versions (s, c) and (s, -c) of the changed row are confidently wrong; along the second axis only the
 * regulariser resists, and w_2 = +-c/(n lambda) sigma(s v - c |w_2|), of at most 1/(n lambda). The angle is
 * the best of a scan. */
tacit_status audit_turned_row(tacit_pair *out, char text[TACIT_AUDIT_TEXT], size_t parties, size_t rows,
                              tacit_error *error) {
    enum { ANGLES = 500 };
    static const double INSIDE = 1 - 1e-12; /* of the unit ball, rounding included */
    double lambda = out->plan.lambda, pull = balance(1 / lambda, 0, 1), best = 0, sine = 0, cosine = 1;
    for (int i = 0; i < ANGLES; i++) {
        double s = sin(M_PI_2 * i / ANGLES), c = cos(M_PI_2 * i / ANGLES);
        double reached = balance(c / ((double)rows * lambda), s * pull, c);
        if (reached <= best) continue;
        best = reached;
        sine = s;
        cosine = c;
    }
    TACIT_TRY(audit_start_pair(out, 2, parties, rows, error));
    for (int side = 0; side < 2; side++) {
        double *values = out->data[side]->dense.values;
        values[0] = sine * INSIDE;
        values[1] = (side == 0 ? cosine : -cosine) * INSIDE;
        values[2] = -1;
    }
    tacit_format(text, TACIT_AUDIT_TEXT, "one of the %zu rows of %s turned against the rest; lambda %.4g",
                 rows, whose(parties), lambda);
    return TACIT_OK;
}

size_t audit_rows(double wanted) { return (size_t)fmin(100000, fmax(2, ceil(wanted))); }

/* Where parties add their own noise a coordinator sees each party's answer, so the audit looks at one
 * alone. */
static tacit_status avg_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT], const tacit_audit_setup *setup,
                             tacit_error *error) {
    TACIT_TRY(tacit_audit_plan(&out->plan, &tacit_method_avg, setup, error));
    const avg_settings *settings = TACIT_SETTINGS(avg_settings, &out->plan);
    size_t parties = settings->noise == AVG_BY_PARTY ? 1 : 2;
    if (settings->unit == TACIT_UNIT_PARTY) return avg_party(out, text, parties, error);
    if (out->plan.lambda == 0) out->plan.lambda = 1e-4;
    return audit_turned_row(out, text, parties, audit_rows(10 / out->plan.lambda), error);
}

static const tacit_auditable avg = {
    .name = "avg",
    .title = "the mean of local weights",
    .score = tacit_score_distance,
    .pair = avg_pair,
};

/* ---- the table ---- */

const tacit_auditable *const tacit_auditables[] = {
    &laplace,
    &gamma_norm,
    &gaussian,
    &avg,
    &tacit_audit_output,
    &tacit_audit_plr,
    &tacit_audit_gop,
    &tacit_audit_pst_s,
    &tacit_audit_pst_s_trees,
    &tacit_audit_pst_f,
    &tacit_audit_pst_h,
    &tacit_audit_vote,
    &tacit_audit_soft,
    &tacit_audit_soft_stat,
    &tacit_audit_pate,
    &tacit_audit_describe,
    &tacit_audit_survival,
    &tacit_audit_dpcox,
    &tacit_audit_histogram,
    &tacit_audit_evaluate,
    &tacit_audit_dpiw,
    &tacit_audit_dphtl,
    &tacit_audit_dpgd,
    &tacit_audit_dpnewton,
    &tacit_audit_dpnewton_softmax,
    &tacit_audit_dpnewton_linear,
    &tacit_audit_dpnewton_poisson,
    &tacit_audit_dpnewton_folds,
    &tacit_audit_dpnewton_missing,
    &tacit_audit_dpnewton_person,
    &tacit_audit_dpnewton_inference,
    &tacit_audit_dpnewton_line,
    &tacit_audit_dptree,
    &tacit_audit_psgd,
    &tacit_audit_exponential,
    &tacit_audit_dpstgd,
    &tacit_audit_dpsgd,
    &tacit_audit_newton,
    &tacit_audit_privlogit_hessian,
    &tacit_audit_privlogit_local,
    &laplace_halved,
    &tacit_audit_dpnewton_thin,
    &tacit_audit_dpnewton_person_rows,
    &tacit_audit_dpnewton_inference_thin,
    &tacit_audit_dpnewton_line_thin,
    &tacit_audit_dpcox_thin,
    &tacit_audit_dptree_thin,
    &tacit_audit_psgd_claim,
    &tacit_audit_dpstgd_claim,
    &tacit_audit_dpsgd_batches,
    &tacit_audit_pst_h_printed,
    &tacit_audit_pst_s_trees_thin,
    &tacit_audit_newton_undivided,
    NULL,
};

/* One way of another to be run, or one that is broken on purpose: laplace-halved. */
static bool is_variant(const char *name) {
    for (size_t i = 0; tacit_auditables[i] != NULL; i++) {
        const size_t length = strlen(tacit_auditables[i]->name);
        if (strncmp(name, tacit_auditables[i]->name, length) == 0 && name[length] == '-') return true;
    }
    return false;
}

tacit_status tacit_auditable_require(const tacit_auditable **out, const char *name, tacit_error *error) {
    char known[800] = "";
    size_t used = 0;
    for (size_t i = 0; tacit_auditables[i] != NULL; i++) {
        if (strcmp(tacit_auditables[i]->name, name) == 0) {
            *out = tacit_auditables[i];
            return TACIT_OK;
        }
        if (used < sizeof known && !is_variant(tacit_auditables[i]->name))
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "",
                                     tacit_auditables[i]->name);
    }
    const tacit_method *method = tacit_method_find(name);
    if (method != NULL && method->noise_free)
        return tacit_fail(error, TACIT_USAGE,
                          "method %s adds no noise and promises no privacy that could be audited", name);
    return tacit_fail(error, TACIT_USAGE, "no audit is called '%.60s'; there are: %s", name, known);
}
