/* What the two servers open: the next beta, whether to stop, and at the end what inference needs
 * (logit.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/secure/logit.h"
#include "net/clock.h"

static const double LIKELIHOOD_CHANGE = 1e-6, DISTANCE = 1e-4;
enum { MOST_ITERATIONS = 2000 };

static bool is_a(const tacit_logit *self) { return self->center->role == TACIT_GARBLER; }

static double now(void) { return 1e-3 * (double)tacit_clock_monotonic_ms(); }

/* ---- stopping ---- */

/* F: without the family's constant it could be below 0. */
static tacit_share objective_of(const tacit_logit *self) {
    const size_t constant = self->family->constant;
    return *self->objective + (constant > 0 ? self->head[constant] : 0);
}

/* |F_k - F_(k-1)| < 1e-6 |F_(k-1)|: both signs, one bit. F >= 0. A number may be fitted without residuals, F
 * = 0 except for rounding, which is half a unit for each node and for the ridge, before and after: to be
 * equal up to rounding is enough there. */
static tacit_status compare_objectives(tacit_logit *self, bool *stop, tacit_error *error) {
    tacit_share change[2], limit[2];
    change[0] = objective_of(self) - self->last_objective;
    change[1] = -change[0];
    tacit_shares_scale(limit, &self->last_objective,
                       llrint(ldexp(LIKELIHOOD_CHANGE, (int)self->fraction + 20)), 1);
    tacit_shares_drop(limit, self->fraction + 20, 1, self->center->role);
    if (self->family->quadratic && is_a(self)) limit[0] += tacit_share_of((int64_t)self->parties + 2);
    limit[1] = limit[0];
    return tacit_secure_all_less(self->secure, stop, change, limit, 2, error);
}

/*
 * stop=converged. beta is public, so its own steps say how far there is to go, more or less. Steps s_k that
 * shrink by r = |s_k|/|s_(k-1)| < 1 from here on add up to |s_k| r/(1 - r); r is taken a little larger, for
 * it grows towards the rate of convergence. That is a guess: a direction in which PrivLogit creeps (rows of
 * one kind with a probability near 0 or 1) may hide behind larger steps in others. So it only says when to
 * look: confirm_optimum.
 */
static bool near_optimum(tacit_logit *self) {
    double step = 0;
    for (size_t j = 0; j < self->width; j++)
        step = fmax(step, fabs(ldexp((double)(self->beta[j] - self->before[j]), -(int)self->fraction)));
    if (self->iteration >= 1 && step == 0) return true;
    double rate = self->iteration >= 2 && self->last_step > 0 ? step / self->last_step : 1;
    rate += 0.2 * (1 - rate);
    self->last_step = step;
    return self->iteration >= 2 && rate < 1 && step * rate / (1 - rate) < ldexp(DISTANCE / 2, -self->looked);
}

/*
 * Newton's step from here, H(beta)^-1 g, between the servers: is each coordinate below 2^-12/5 < 1e-4/2? One
 * bit. By Kantorovich's theorem the maximum lies within twice the step when |H^-1| |step| times the Lipschitz
 * constant of H, S^3/(6 sqrt 3) at most, is below 1/2. Newton's own last step was such a step, and the next
 * is smaller, so that only PrivLogit looks. Each look that fails halves what the guess must come to before
 * the next. (Of a number the Hessian is constant, and this is where the minimum is.)
 */
static tacit_status confirm_optimum(tacit_logit *self, tacit_share *kept, tacit_share *step, bool *stop,
                                    tacit_error *error) {
    tacit_factored *factor = NULL;
    int64_t bit = 0;
    bool known = false;
    tacit_status status;
    memcpy(kept, self->matrix, self->triangle * sizeof *kept);
    TACIT_CHECK(tacit_logit_gather(self, TACIT_WEIGH_CURVATURE, error));
    TACIT_CHECK(tacit_center_known(self->center, &known, &bit, 1, error));
    if (!known) {
        TACIT_CHECK(tacit_logit_factor(self, &factor, error));
        TACIT_CHECK(tacit_logit_solve(self, factor, true, step, error));
        tacit_shares_scale(step, step, 5, self->width);
        const tacit_secure_range range = { step, self->width, self->fraction - 12, 64 };
        TACIT_CHECK(tacit_secure_all_within(self->secure, stop, &range, 1, error));
        bit = *stop;
        TACIT_CHECK(tacit_center_keep(self->center, &bit, 1, error));
    }
    *stop = bit != 0;
    self->looked++;
    memcpy(self->matrix, kept, self->triangle * sizeof *kept);
cleanup:
    tacit_factored_free(factor);
    return status;
}

static tacit_status converged(tacit_logit *self, bool *stop, tacit_error *error) {
    *stop = near_optimum(self);
    if (!*stop || tacit_logit_settings_of(self->plan)->newton) return TACIT_OK;
    tacit_share *room = TACIT_NEW(tacit_share, self->triangle + self->width);
    if (room == NULL) return tacit_fail_memory(error);
    tacit_status status = confirm_optimum(self, room, room + self->triangle, stop, error);
    free(room);
    return status;
}

tacit_status tacit_logit_stops(tacit_logit *self, bool *stop, tacit_error *error) {
    int64_t bit = 0;
    bool known = false;
    *stop = false;
    if (tacit_logit_private(self->plan) > 0) return TACIT_OK; /* tacit_logit_spent says when */
    if (tacit_logit_settings_of(self->plan)->stop == TACIT_LOGIT_CONVERGED) {
        TACIT_TRY(converged(self, stop, error));
    } else if (self->has_last) {
        TACIT_TRY(tacit_center_known(self->center, &known, &bit, 1, error));
        if (!known) {
            double begun = now();
            TACIT_TRY(compare_objectives(self, stop, error));
            bit = *stop;
            TACIT_TRY(tacit_center_keep(self->center, &bit, 1, error));
            self->center->report.center_seconds += now() - begun;
        }
        *stop = bit != 0;
    }
    self->last_objective = objective_of(self);
    self->has_last = true;
    if (!*stop && self->iteration >= MOST_ITERATIONS)
        return tacit_fail(error, TACIT_NOT_CONVERGED,
                          "no end after %d iterations: perhaps %s, or the start is too far off; raise lambda",
                          MOST_ITERATIONS, self->family->unbounded);
    return TACIT_OK;
}

/* ---- beta ---- */

void tacit_logit_report(tacit_logit *self) {
    const tacit_session *session = self->center->session;
    self->iteration++;
    self->center->report.iterations = self->iteration;
    if (session == NULL || session->watch == NULL) return;
    double *values = TACIT_NEW(double, self->width);
    if (values == NULL) return; /* only somebody who looks on misses it */
    for (size_t j = 0; j < self->width; j++) values[j] = ldexp((double)self->beta[j], -(int)self->fraction);
    session->watch->published(session->watch->context, values, self->width);
    free(values);
}

tacit_status tacit_logit_known(tacit_logit *self, bool *known, tacit_error *error) {
    memcpy(self->before, self->beta, self->width * sizeof *self->beta);
    TACIT_TRY(tacit_center_known(self->center, known, self->beta, self->width, error));
    if (*known) tacit_logit_report(self);
    return TACIT_OK;
}

tacit_status tacit_logit_open(tacit_logit *self, const tacit_share *step, tacit_error *error) {
    int64_t *opened = TACIT_NEW(int64_t, self->width);
    double begun = now();
    tacit_status status = opened != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    TACIT_CHECK(tacit_secure_open(self->secure, opened, step, self->width, error));
    for (size_t j = 0; j < self->width; j++)
        if (__builtin_sub_overflow(self->beta[j], opened[j], &self->beta[j]) ||
            llabs(self->beta[j]) > (int64_t)1 << 60)
            TACIT_CHECK(tacit_fail(error, TACIT_NOT_CONVERGED,
                                   "the coefficients run away in iteration %zu: %s", self->iteration + 1,
                                   self->unproved ? "Newton's method may diverge; raise lambda"
                                                  : "start nearer to the optimum (Newton's method may "
                                                    "diverge), or choose method privlogit-hessian"));
    TACIT_CHECK(tacit_center_keep(self->center, self->beta, self->width, error));
    self->center->report.center_seconds += now() - begun;
    tacit_logit_report(self);
cleanup:
    free(opened);
    return status;
}

/* ---- the end ---- */

/* Variances of the coefficients on the raw scale: t^T (H + lambda I)^-1 t for public vectors t, which is
 * linear in the inverse, so that each server computes it on its own shares. Nothing of the inverse is opened
 * but these. */
tacit_status tacit_logit_open_variances(tacit_logit *self, const tacit_share *inverse, int64_t *opened,
                                        double *largest, tacit_error *error) {
    enum { WEIGHT_BITS = 40 };
    size_t d = self->width;
    double *row = TACIT_NEW(double, d);
    tacit_share *variance = TACIT_NEW(tacit_share, d);
    tacit_status status = row != NULL && variance != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    for (size_t k = 0; k < d; k++) {
        TACIT_CHECK(tacit_design_raw_row(&self->design, k, row, error));
        largest[k] = 0;
        for (size_t j = 0; j < d; j++) largest[k] = fmax(largest[k], fabs(row[j]));
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j <= i; j++) {
                double weight = (i == j ? 1 : 2) * (row[i] / largest[k]) * (row[j] / largest[k]);
                variance[k] +=
                    inverse[tacit_triangle(i, j)] * tacit_share_of(llrint(ldexp(weight, WEIGHT_BITS)));
            }
    }
    tacit_shares_drop(variance, WEIGHT_BITS, d, self->center->role);
    TACIT_CHECK(tacit_secure_open(self->secure, opened, variance, d, error));
cleanup:
    free(row);
    free(variance);
    return status;
}

/* Opened together: d variances, in units of the dispersion, the terms and the objective; the last over n. */
static tacit_status open_inference(tacit_logit *self, int64_t *opened, double *largest, tacit_error *error) {
    tacit_factored *factor = NULL;
    tacit_share *inverse = TACIT_NEW(tacit_share, self->triangle);
    bool known = false;
    tacit_status status = inverse != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    TACIT_CHECK(tacit_logit_gather(self, TACIT_WEIGH_CURVATURE, error));
    const size_t head = self->terms + 1;
    TACIT_CHECK(tacit_center_known(self->center, &known, opened, self->width + head, error));
    if (known) goto cleanup;
    TACIT_CHECK(tacit_logit_factor(self, &factor, error));
    TACIT_CHECK(tacit_logit_invert(self, factor, inverse, error));
    TACIT_CHECK(tacit_logit_open_variances(self, inverse, opened, largest, error));
    TACIT_CHECK(tacit_secure_open(self->secure, opened + self->width, self->head, head, error));
    TACIT_CHECK(tacit_center_keep(self->center, opened, self->width + head, error));
cleanup:
    tacit_factored_free(factor);
    free(inverse);
    return status;
}

static tacit_status infer(const tacit_logit *self, const int64_t *opened, const double *weights,
                          tacit_estimates **out, tacit_error *error) {
    size_t d = self->width;
    double *variance = TACIT_NEW(double, d), *row = TACIT_NEW(double, d);
    double unit = ldexp(1, -(int)self->fraction), square = 0, finest = ldexp(1, -tacit_logit_digits(self));
    tacit_status status = variance != NULL && row != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    for (size_t k = 0; k < d; k++) {
        double largest = 0, beta = (double)self->beta[k] * unit;
        TACIT_CHECK(tacit_design_raw_row(&self->design, k, row, error));
        for (size_t j = 0; j < d; j++) largest = fmax(largest, fabs(row[j]));
        variance[k] = (double)opened[k] * unit / self->n * pow(self->scale * largest, 2);
        square += beta * beta;
    }
    tacit_optimum optimum = {
        .family = self->family,
        .rows = self->n,
        .lambda = self->plan->lambda,
        .level = tacit_logit_settings_of(self->plan)->level,
        .w = weights,
        .variance = variance,
        .iterations = self->iteration,
    };
    const double objective = (double)opened[d + self->terms] * finest - 0.5 * self->ridge * square;
    /* no residuals except for rounding: as if there were one unit of squares */
    optimum.objective = self->n * (self->family->quadratic ? fmax(finest, objective) : objective);
    for (size_t k = 0; k < self->terms; k++) optimum.response[k] = self->n * (double)opened[d + k] * finest;
    if (!self->family->quadratic) optimum.response[0] = nearbyint(optimum.response[0]); /* rows, or counts */
    TACIT_CHECK(tacit_estimates_infer(out, &self->design, &optimum, error));
    snprintf((*out)->optimiser, sizeof(*out)->optimiser, "%s",
             tacit_logit_settings_of(self->plan)->newton ? "newton" : "privlogit");
    (*out)->rounds = (size_t)self->center->session->round;
cleanup:
    free(variance);
    free(row);
    return status;
}

tacit_status tacit_logit_publish(const tacit_logit *self, const tacit_family *family, size_t classes,
                                 const double *weights, tacit_estimates **estimates, tacit_outcome *out,
                                 tacit_error *error) {
    tacit_model *model = NULL;
    TACIT_TRY(tacit_model_create(&model, family, self->plan->features, classes, error));
    for (size_t j = 0; j < self->width; j++) model->weights[self->design.kept[j]] = weights[j];
    model->estimates = *estimates;
    *estimates = NULL;
    out->parties = self->parties;
    return tacit_outcome_add(out, model, error);
}

tacit_status tacit_logit_finish(tacit_logit *self, tacit_outcome *out, tacit_error *error) {
    const tacit_plan *plan = self->plan;
    size_t d = self->width;
    int64_t *opened = TACIT_NEW(int64_t, d + self->terms + 1);
    double *weights = TACIT_NEW(double, 2 * d);
    tacit_estimates *estimates = NULL;
    tacit_status status = opened != NULL && weights != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    bool inferring = tacit_logit_infers(plan);
    for (size_t j = 0; j < d; j++)
        weights[j] = self->scale * ldexp((double)self->beta[j], -(int)self->fraction);
    if (inferring) TACIT_CHECK(open_inference(self, opened, weights + d, error));
    if (!is_a(self)) goto cleanup;
    if (inferring) TACIT_CHECK(infer(self, opened, weights, &estimates, error));
    const tacit_design *design = &self->design;
    for (size_t j = 0; j < d; j++) /* of a number as it is, not in [-1, 1] */
        weights[j] = design->half * weights[j] +
                     (j == design->intercept ? design->middle / design->intercept_value : 0);
    TACIT_CHECK(tacit_logit_publish(self, self->family, plan->classes, weights, &estimates, out, error));
cleanup:
    tacit_estimates_free(estimates);
    free(opened);
    free(weights);
    return status;
}
