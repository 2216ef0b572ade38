/*
 * The audit of dpsgd. Whoever takes part sees every step, so it is the noisy sums that are audited. A linear
 * model with a bound on the norm so small that every gradient is clipped: the gradient of a row of class 1 is
 * along -(x, 1), of class 0 along (x, 1), whatever the weights, so that turning a label about moves every sum
 * that the row is in by 2, the whole of its sensitivity. The other row's gradients are orthogonal to it.
 *
 * The score is the logarithm of the likelihood ratio, summed over the steps: with probability q the row is in
 * the sample, and moves the sum by h to one side on one data set, to the other on its neighbour. Both places
 * come from a rehearsal in which all rows take part.
 *
 * dpsgd-batches is a control. The noise is found, and charged, for Poisson samples, but every row is in one
 * batch of each epoch, as in a program that deals its rows out to batches, so that whoever knows the batches
 * looks at those sums alone.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "lab/audit/audit_parts.h"
#include "method/private/dpsgd.h"
#include "rand/fast.h"

static bool is_set(const tacit_audit_setup *setup, const char *name) {
    for (size_t i = 0; i < setup->setting_count; i++)
        if (strcmp(setup->settings[i].name, name) == 0) return true;
    return false;
}

static tacit_status make_plan(tacit_plan *out, const tacit_audit_setup *setup, const char *sampling,
                              tacit_error *error) {
    const tacit_setting_value usual[] = {
        { "hidden", "none" }, { "sampling", sampling }, { "epochs", "1" },
        { "clip", "0.001" },  { "scale", "1" },         { "momentum", "0" }
    };
    TACIT_TRY(tacit_audit_plan(out, &tacit_method_dpsgd, setup, error));
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (!is_set(setup, usual[i].name))
            TACIT_TRY(tacit_plan_set(out, usual[i].name, usual[i].value, error));
    return TACIT_OK;
}

static tacit_status dpsgd_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT], const tacit_audit_setup *setup,
                               tacit_error *error) {
    TACIT_TRY(make_plan(&out->plan, setup, "1", error));
    TACIT_TRY(audit_start_pair(out, 1, 1, 2, error));
    for (int side = 0; side < 2; side++) {
        out->data[side]->dense.values[0] = 1;
        out->data[side]->dense.values[1] = -1;
        out->data[side]->label[0] = side;
    }
    /* Only a coordinator publishes; where parties add the noise, the weights tell what was in the sums. */
    out->statistic = dpsgd_settings_of(&out->plan)->noise == DPSGD_BY_COORDINATOR ? TACIT_STATISTIC_PUBLISHED
                                                                                  : TACIT_STATISTIC_MODEL;
    snprintf(text, TACIT_AUDIT_TEXT,
             "one of the 2 rows of the only party has the other label; all gradients clipped");
    return TACIT_OK;
}

/* As many steps, and all rows in each. */
static tacit_status rehearse(tacit_plan *exact, tacit_error *error) {
    char epochs[40];
    double steps = ceil(dpsgd_settings_of(exact)->epochs / dpsgd_settings_of(exact)->sampling - 1e-9);
    tacit_format(epochs, sizeof epochs, "%.17g", fmax(1, steps));
    TACIT_TRY(tacit_plan_set(exact, "sampling", "1", error));
    return tacit_plan_set(exact, "epochs", epochs, error);
}

/* log of (1-q) N(0) + q N(h) over (1-q) N(0) + q N(-h), at `place`. */
static double step_score(double q, double place, double h, double noise) {
    double t = place * h / (noise * noise), half = h * h / (2 * noise * noise);
    if (q == 1) return 2 * t;
    return log1p(q * expm1(fmin(t - half, 600))) - log1p(q * expm1(fmin(-t - half, 600)));
}

static double likelihood(const tacit_audit_case *subject, const double *release, const double *const at[2]) {
    if (subject->neighbours->statistic != TACIT_STATISTIC_PUBLISHED)
        return tacit_score_projection(subject, release, at);
    double sum = 0, q = dpsgd_settings_of(&subject->neighbours->plan)->sampling;
    for (size_t first = 0; first < subject->length; first += subject->dimension) {
        double along = 0, square = 0;
        for (size_t j = first; j < first + subject->dimension; j++) {
            double half = (at[0][j] - at[1][j]) / 2;
            along += half * (release[j] - (at[0][j] + at[1][j]) / 2);
            square += half * half;
        }
        sum += step_score(q, along / sqrt(square), sqrt(square), subject->noise);
    }
    return sum;
}

const tacit_auditable tacit_audit_dpsgd = {
    .name = "dpsgd",
    .title = "networks by stochastic gradient descent with noise, all steps seen",
    .score = likelihood,
    .pair = dpsgd_pair,
    .rehearse = rehearse,
};

/* ---- the control ---- */

typedef struct batches_case {
    double noise; /* of a sum, in clipping norms */
    double epochs;
} batches_case;

static tacit_status open_batches(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    tacit_plan plan;
    tacit_noise_law law;
    TACIT_TRY(make_plan(&plan, setup, "0.1", error));
    plan.features = plan.parties = plan.minimum_rows = 1;
    TACIT_TRY(tacit_plan_check(&plan, error));
    TACIT_TRY(tacit_plan_noise(&plan, &law, error));
    batches_case *self = TACIT_NEW(batches_case, 1);
    if (self == NULL) return tacit_fail_memory(error);
    *self = (batches_case){ law.scale, fmax(1, floor(dpsgd_settings_of(&plan)->epochs)) };
    out->state = self;
    out->length = 1;
    out->reach = 2 / law.sensitivity;
    tacit_format(out->pair, sizeof out->pair,
                 "a row with the other label, in one of %.0f batches of each of %g epochs",
                 fmax(1, 1 / dpsgd_settings_of(&plan)->sampling), self->epochs);
    return TACIT_OK;
}

/* The mean of the sums that the row is in, all else taken off. */
static tacit_status draw_batches(tacit_audit_case *subject, int side, const tacit_stream *stream, double *out,
                                 tacit_error *error) {
    (void)error;
    const batches_case *self = subject->state;
    out[0] = side == 0 ? 1 : -1;
    if (stream == NULL) return TACIT_OK;
    tacit_stream own = *stream;
    out[0] += self->noise / sqrt(self->epochs) * tacit_fast_normal(&own);
    return TACIT_OK;
}

static void close_batches(tacit_audit_case *subject) { free(subject->state); }

const tacit_auditable tacit_audit_dpsgd_batches = {
    .name = "dpsgd-batches",
    .title = "batches dealt out, charged as Poisson samples: a control that an audit must find broken",
    .open = open_batches,
    .draw = draw_batches,
    .close = close_batches,
};
