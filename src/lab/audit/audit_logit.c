/*
 * Audits of dp=E in newton, privlogit-hessian and privlogit-local. What is audited is the view of a curious
 * server, which knows its own noise and takes it off: every sum under the draw of the other server alone.
 * The sums are what the node of a study encrypts, the draws those of a server of a study
 * (method/secure/logit_noise.c); only encryption and circuits in between are left out, which show nothing of
 * them. The promise holds wherever beta goes, so all K questions are put at beta = 0. One row is replaced by
 * another of the ball; among a scan of angles those two that move gradients and matrices most. Releases are
 * divided by the scales of their noise, so that the likelihood ratio is a projection. privlogit-local opens
 * steps, X~ times a noisy gradient: the gradient, from which they are computed, is the more telling of the
 * two.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "lab/audit/audit_methods.h"
#include "lab/audit/audit_parts.h"
#include "lab/logit_decrypt.h"
#include "method/secure/logit.h"
#include "privacy/mechanism/integer.h"

enum { WIDTH = 2, TRIANGLE = 3, ROWS = 50, ANGLES = 60 };

typedef struct logit_case {
    tacit_plan plan;
    size_t gradients, matrices;
    tacit_logit_release release[2]; /* of a gradient, of a matrix */
    double scale[2];
    double exact[2][WIDTH + TRIANGLE]; /* of each side, over the scales */
} logit_case;

static tacit_status make_plan(tacit_plan *plan, const tacit_method *method, const tacit_audit_setup *setup,
                              tacit_error *error) {
    char text[40];
    TACIT_TRY(tacit_audit_plan(plan, method, setup, error));
    tacit_format(text, sizeof text, "%.17g", setup->epsilon);
    TACIT_TRY(tacit_plan_set(plan, "dp", text, error));
    tacit_format(text, sizeof text, "%.17g", setup->delta);
    if (setup->delta > 0) TACIT_TRY(tacit_plan_set(plan, "dp-delta", text, error));
    plan->epsilon = INFINITY; /* the price is that of dp */
    plan->delta = 0;
    plan->features = WIDTH;
    plan->parties = 1;
    plan->minimum_rows = ROWS;
    return TACIT_OK;
}

/* Squares of how far rows at two angles move the releases, in declared sensitivities, at beta = 0 and with
 * one label: gradients z/2, triangles of z z^T/4, over 1 and sqrt(2)/4. */
static double moved(double angle, double other, bool matrix) {
    double x[2][2] = { { cos(angle), sin(angle) }, { cos(other), sin(other) } }, square = 0;
    for (int i = 0; i < 2; i++) {
        if (!matrix) square += pow(x[0][i] - x[1][i], 2) / 4;
        for (int j = 0; j <= i && matrix; j++) square += pow(x[0][i] * x[0][j] - x[1][i] * x[1][j], 2) / 2;
    }
    return square;
}

static void choose_rows(const logit_case *self, double rows[2][WIDTH]) {
    static const double INSIDE = 1 - 1e-12; /* of the unit ball, rounding included */
    double most = -1;
    for (int a = 0; a < ANGLES; a++)
        for (int b = 0; b < a; b++) {
            double first = 2 * M_PI * a / ANGLES, second = 2 * M_PI * b / ANGLES;
            double reach = (double)self->gradients * moved(first, second, false) +
                           (double)self->matrices * moved(first, second, true);
            if (reach <= most + 1e-9) continue;
            most = reach;
            rows[0][0] = INSIDE * cos(first);
            rows[0][1] = INSIDE * sin(first);
            rows[1][0] = INSIDE * cos(second);
            rows[1][1] = INSIDE * sin(second);
        }
}

/* What the node of a study encrypts, of both sides. */
static tacit_status look_at_sums(logit_case *self, tacit_error *error) {
    static const double start[WIDTH] = { 0 };
    tacit_pair pair = TACIT_PAIR_INIT;
    tacit_local *local = NULL;
    tacit_paillier_secret *secret = NULL;
    double rows[2][WIDTH];
    int64_t sums[TACIT_LOGIT_HEAD + WIDTH + TRIANGLE];
    tacit_row_weight weight =
        self->plan.method == &tacit_method_newton ? TACIT_WEIGH_CURVATURE : TACIT_WEIGH_ONE;
    tacit_status status;
    TACIT_CHECK(audit_start_pair(&pair, WIDTH, 1, ROWS, error));
    TACIT_CHECK(tacit_center_simulated_key(&secret, error));
    choose_rows(self, rows);
    for (int side = 0; side < 2; side++) {
        memcpy(pair.data[side]->dense.values, rows[side], sizeof rows[side]);
        TACIT_CHECK(tacit_local_create(&local, pair.data[side], pair.split, NULL, error));
        TACIT_CHECK(
            tacit_logit_decrypt_sum(sums, local, &self->plan, secret, ROWS, start, WIDTH, weight, error));
        if (self->plan.method == &tacit_method_privlogit_local)
            TACIT_CHECK(tacit_logit_decrypt_gradient(sums + TACIT_LOGIT_HEAD, local, &self->plan, secret,
                                                     ROWS, start, WIDTH, error));
        local = tacit_local_free(local);
        for (size_t j = 0; j < WIDTH + TRIANGLE; j++)
            self->exact[side][j] = (double)sums[TACIT_LOGIT_HEAD + j] / self->scale[j >= WIDTH];
    }
cleanup:
    tacit_paillier_secret_free(secret);
    tacit_local_free(local);
    tacit_pair_clear(&pair);
    return status;
}

/* Of one gradient and one matrix, in declared sensitivities; then of all. */
static double reach_of(const logit_case *self) {
    double square[2] = { 0, 0 };
    for (size_t j = 0; j < WIDTH + TRIANGLE; j++)
        square[j >= WIDTH] += pow((self->exact[0][j] - self->exact[1][j]) * self->scale[j >= WIDTH] /
                                      self->release[j >= WIDTH].sensitivity,
                                  2);
    return sqrt(((double)self->gradients * square[0] + (double)self->matrices * square[1]) /
                (double)(self->gradients + self->matrices));
}

/* `undivided`: each release gets the noise that the whole price would ask of it alone. */
static tacit_status open_case(tacit_audit_case *out, const tacit_method *method, bool undivided,
                              const tacit_audit_setup *setup, tacit_error *error) {
    static const double start[WIDTH] = { 0 };
    logit_case *self = TACIT_NEW(logit_case, 1);
    tacit_prices prices = { .event = { .count = 0 } };
    tacit_status status = self != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    TACIT_CHECK(make_plan(&self->plan, method, setup, error));
    TACIT_CHECK(tacit_plan_check(&self->plan, error));
    TACIT_CHECK(tacit_plan_price(&self->plan, &prices, error));
    self->gradients = tacit_logit_settings_of(&self->plan)->dp_iterations;
    self->matrices = tacit_logit_releases(&self->plan) - self->gradients;
    for (int k = 0; k < 2; k++) {
        TACIT_CHECK(
            tacit_logit_release_of(&self->release[k], &self->plan, WIDTH, ROWS, start, k == 1, error));
        if (undivided) self->release[k].mechanism.sensitivity = self->release[k].sensitivity;
        TACIT_CHECK(tacit_integer_scale(&self->scale[k], &self->release[k].mechanism, error));
    }
    TACIT_CHECK(look_at_sums(self, error));
    out->charged = prices.charged;
    out->length = self->gradients * WIDTH + self->matrices * TRIANGLE;
    out->reach = reach_of(self);
    out->state = self;
    snprintf(out->pair, sizeof out->pair,
             "one of %d rows replaced, %zu gradients and %zu %s seen by a server that knows its own noise",
             ROWS, self->gradients, self->matrices, self->matrices == 1 ? "matrix" : "matrices");
    self = NULL;
cleanup:
    free(self);
    return status;
}

/* All gradients, or all matrices, under one draw of as many numbers. */
static tacit_status draw_some(const logit_case *self, int side, bool matrix, tacit_noise_source *source,
                              double *out, tacit_error *error) {
    size_t each = matrix ? TRIANGLE : WIDTH;
    tacit_logit_release all = self->release[matrix];
    all.count = each * (matrix ? self->matrices : self->gradients);
    int64_t *noise = TACIT_NEW(int64_t, all.count);
    if (noise == NULL) return tacit_fail_memory(error);
    tacit_status status = source != NULL ? tacit_logit_draw(noise, &all, source, error) : TACIT_OK;
    for (size_t j = 0; j < all.count; j++)
        out[j] = self->exact[side][(matrix ? WIDTH : 0) + j % each] + (double)noise[j] / self->scale[matrix];
    free(noise);
    return status;
}

static tacit_status draw_view(tacit_audit_case *subject, int side, const tacit_stream *stream, double *out,
                              tacit_error *error) {
    const logit_case *self = subject->state;
    tacit_stream own = stream != NULL ? *stream : tacit_stream_from_seed(0);
    tacit_noise_source source = tacit_audit_source(subject, &own), *noise = stream != NULL ? &source : NULL;
    TACIT_TRY(draw_some(self, side, false, noise, out, error));
    return draw_some(self, side, true, noise, out + self->gradients * WIDTH, error);
}

static void close_case(tacit_audit_case *subject) { free(subject->state); }

static tacit_status open_newton(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, &tacit_method_newton, false, setup, error);
}

static tacit_status open_hessian(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, &tacit_method_privlogit_hessian, false, setup, error);
}

static tacit_status open_local(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error) {
    return open_case(out, &tacit_method_privlogit_local, false, setup, error);
}

static tacit_status open_undivided(tacit_audit_case *out, const tacit_audit_setup *setup,
                                   tacit_error *error) {
    return open_case(out, &tacit_method_newton, true, setup, error);
}

const tacit_auditable tacit_audit_newton = {
    .name = "newton",
    .title = "Newton's method under encryption with dp, as a curious server sees it",
    .open = open_newton,
    .draw = draw_view,
    .close = close_case,
};

const tacit_auditable tacit_audit_privlogit_hessian = {
    .name = "privlogit-hessian",
    .title = "the same with a fixed bound of the Hessian",
    .open = open_hessian,
    .draw = draw_view,
    .close = close_case,
};

const tacit_auditable tacit_audit_privlogit_local = {
    .name = "privlogit-local",
    .title = "PrivLogit-Local under encryption with dp, as a curious server sees it",
    .open = open_local,
    .draw = draw_view,
    .close = close_case,
};

const tacit_auditable tacit_audit_newton_undivided = {
    .name = "newton-undivided",
    .title = "each sum with the noise of the whole price: a control that an audit must find broken",
    .open = open_undivided,
    .draw = draw_view,
    .close = close_case,
};
