/* The coordinator's half of method mixed: what is asked for, and the optimum (mixed.c has the algorithm). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/exact/mixed.h"
#include "num/estimator.h"
#include "num/glm/lbfgs.h"

enum { MOST_STEPS = 60, MOST_HALVINGS = 20, FIRST_ROOM = 4, MORE_ROOM = 9 };

static const double LOG_TAU = 1.83787706640934548356; /* log(2 pi) */

static double dot(const double *a, const double *b, size_t count) {
    double sum = 0;
    for (size_t j = 0; j < count; j++) sum += a[j] * b[j];
    return sum;
}

static tacit_status no_estimate(tacit_error *error) {
    return tacit_fail(
        error, TACIT_NOT_CONVERGED,
        "there is no finite estimate, or columns follow from others: leave columns out, or the random slope");
}

/* ---- questions ---- */

/* Ask for a sum, and see that those answer who answered first. */
static tacit_status ask_all(mixed_fit *self, const char *question, const tacit_message *message, int room,
                            size_t length, tacit_sum *sum, tacit_error *error) {
    tacit_sum_spec spec = mixed_sum(self->session->plan, self->n, room, length);
    TACIT_TRY(tacit_ask_sum(self->session, question, message, &spec, sum, error));
    if (sum->parties == self->parties && ldexp(sum->values[0], spec.grid_bits) == self->n) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "other parties answered '%s' than the rounds before: an estimate needs the same ones "
                      "in every round; run the study again",
                      question);
}

static tacit_status start(mixed_fit *self, tacit_error *error) {
    tacit_sum_spec spec = mixed_start_sum(self->session->plan);
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum rows = TACIT_SUM_INIT, squares = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_ask_sum(self->session, "rows", NULL, &spec, &rows, error));
    self->parties = rows.parties;
    self->n = rows.values[0];
    self->clusters = rows.values[1];
    self->responses = rows.values[2];
    self->factorials = rows.values[3];
    TACIT_CHECK(missing_sum_keep(&self->missing, self->session->plan, &rows, MIXED_START, error));
    if (!(self->n > 0)) TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "no party has any rows"));
    if (self->clusters < 2 || self->clusters >= self->n)
        TACIT_CHECK(tacit_fail(error, TACIT_INPUT,
                               "%.0f rows of %.0f clusters say nothing of how clusters differ: they need "
                               "several rows each, and there must be several",
                               self->n, self->clusters));
    if (!self->design.family->quadratic) goto cleanup;
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &self->n, 1, error));
    TACIT_CHECK(ask_all(self, "squares", &message, 0, mixed_squares_length(&self->design), &squares, error));
    memcpy(self->squares, squares.values + MIXED_HEAD,
           mixed_squares_length(&self->design) * sizeof *self->squares);
cleanup:
    tacit_message_clear(&message);
    tacit_sum_clear(&rows);
    tacit_sum_clear(&squares);
    return status;
}

static tacit_status ask_once(mixed_fit *self, const double *theta, const double *beta, tacit_sum *sum,
                             tacit_error *error) {
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &self->n, 1, error));
    TACIT_CHECK(tacit_message_add_integers(&message, "room", &(int64_t){ self->room }, 1, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "theta", theta, self->design.theta, error));
    if (beta != NULL)
        TACIT_CHECK(tacit_message_add_numbers(&message, "weights", beta, self->design.columns.width, error));
    TACIT_CHECK(ask_all(self, "sums", &message, self->room, mixed_sums_length(&self->design), sum, error));
cleanup:
    tacit_message_clear(&message);
    return status;
}

/* Whether some party's contribution may have been moved to the bound: then the sum shows half of it at
 * least. */
static bool needs_room(const mixed_fit *self, const tacit_sum *sum) {
    double most = 0;
    for (size_t j = MIXED_HEAD; j < sum->length; j++) most = fmax(most, fabs(sum->values[j]));
    return most >= ldexp(self->n, self->room) / 2;
}

static tacit_status ask_sums(mixed_fit *self, const double *theta, const double *beta, tacit_sum *sum,
                             tacit_error *error) {
    TACIT_TRY(ask_once(self, theta, beta, sum, error));
    while (needs_room(self, sum) && self->room + MORE_ROOM <= MIXED_MOST_ROOM) {
        self->room += MORE_ROOM;
        tacit_sum_clear(sum);
        TACIT_TRY(ask_once(self, theta, beta, sum, error));
    }
    return TACIT_OK;
}

/* ---- a point ---- */

/* -2 log-likelihood with its gradient: of linear models by theta, beta and the residual variance being at
 * their best; else by (beta, theta), with half of its Hessian. */
typedef struct point {
    size_t count; /* of parameters */
    double *at;
    double value, *gradient, *hessian; /* lower triangle; of others than linear */
    double residual, log_determinant;  /* linear */
} point;

typedef struct work {
    mixed_fit *fit;
    point here, there;
    double *direction, *factor, *scale, *solved, *beta;
    bool *deficient;
    double ridge; /* that Newton's direction needed: the curvature is not positive where it is above 0 */
    int saddles;  /* that were left */
    tacit_lbfgs memory;
} work;

static void clear_point(point *one) {
    free(one->at);
    free(one->hessian);
}

static void end_work(work *self) {
    clear_point(&self->here);
    clear_point(&self->there);
    free(self->direction);
    free(self->factor);
    free(self->deficient);
    tacit_lbfgs_clear(&self->memory);
}

static tacit_status make_point(point *out, size_t count, tacit_error *error) {
    out->count = count;
    out->at = TACIT_NEW(double, 2 * count);
    out->hessian = TACIT_NEW(double, count *count);
    if (out->at == NULL || out->hessian == NULL) return tacit_fail_memory(error);
    out->gradient = out->at + count;
    return TACIT_OK;
}

static tacit_status begin_work(work *self, mixed_fit *fit, tacit_error *error) {
    size_t width = fit->design.columns.width,
           count = (fit->design.family->quadratic ? 0 : width) + fit->design.theta,
           most = width + fit->design.theta;
    *self = (work){ .fit = fit };
    TACIT_TRY(tacit_lbfgs_create(&self->memory, count, error));
    TACIT_TRY(make_point(&self->here, count, error));
    TACIT_TRY(make_point(&self->there, count, error));
    self->direction = TACIT_NEW(double, 4 * most);
    self->factor = TACIT_NEW(double, most *most);
    self->deficient = TACIT_NEW(bool, most);
    if (self->direction == NULL || self->factor == NULL || self->deficient == NULL)
        return tacit_fail_memory(error);
    self->scale = self->direction + most;
    self->solved = self->scale + most;
    self->beta = self->solved + most;
    return TACIT_OK;
}

static void swap_points(work *self) {
    point other = self->here;
    self->here = self->there;
    self->there = other;
}

/* ---- linear: the profiled deviance of theta (Bates et al. 2015, equations 34 and 41) ---- */

static double entry(const double *lower, size_t i, size_t j) {
    return i >= j ? lower[i * (i + 1) / 2 + j] : lower[j * (j + 1) / 2 + i];
}

/* c - 2 b.beta + beta.A beta of a packed matrix over F = (X, y). */
static double residual_form(const double *lower, const double *beta, size_t width) {
    double sum = entry(lower, width, width);
    for (size_t i = 0; i < width; i++) {
        sum -= 2 * beta[i] * entry(lower, width, i);
        for (size_t j = 0; j < width; j++) sum += beta[i] * beta[j] * entry(lower, i, j);
    }
    return sum;
}

/* tr(A^-1 D), A factored. */
static double trace_with(work *self, const double *lower, size_t width) {
    double sum = 0;
    for (size_t j = 0; j < width; j++) {
        for (size_t i = 0; i < width; i++) self->solved[i] = entry(lower, i, j);
        tacit_cholesky_solve(self->factor, width, self->scale, self->solved);
        sum += self->solved[j];
    }
    return sum;
}

/* A = X^T V^-1 X factored, its logarithm of a determinant, and beta. */
static tacit_status solve_beta(work *self, const double *taken, double *log_determinant, tacit_error *error) {
    const mixed_fit *fit = self->fit;
    const size_t width = fit->design.columns.width;
    for (size_t i = 0; i < width; i++) {
        for (size_t j = 0; j <= i; j++)
            self->factor[i * width + j] = entry(fit->squares, i, j) - entry(taken, i, j);
        self->beta[i] = entry(fit->squares, width, i) - entry(taken, width, i);
    }
    *log_determinant = 0;
    for (size_t i = 0; i < width; i++) *log_determinant += log(self->factor[i * width + i]);
    if (tacit_cholesky_factor(self->factor, width, 1e-13, self->scale, self->deficient) > 0)
        return tacit_fail(error, TACIT_INPUT,
                          "columns that never vary or follow from the columns before them have no "
                          "coefficient: skip them in the schema");
    for (size_t i = 0; i < width; i++) *log_determinant += 2 * log(self->factor[i * width + i]);
    tacit_cholesky_solve(self->factor, width, self->scale, self->beta);
    return TACIT_OK;
}

static tacit_status look_linear(work *self, point *one, tacit_error *error) {
    mixed_fit *fit = self->fit;
    const size_t width = fit->design.columns.width, block = 1 + mixed_squares_length(&fit->design);
    const bool reml = mixed_settings_of(fit->session->plan)->likelihood == MIXED_REML;
    const double degrees = fit->n - (reml ? (double)width : 0);
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(ask_sums(fit, one->at, NULL, &sum, error));
    const double *taken = sum.values + MIXED_HEAD;
    TACIT_CHECK(solve_beta(self, taken + 1, &one->log_determinant, error));
    double left =
        residual_form(fit->squares, self->beta, width) - residual_form(taken + 1, self->beta, width);
    if (!(left > 0))
        TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "the columns explain the response without any residual"));
    one->residual = left / degrees;
    one->value = degrees * (1 + LOG_TAU + log(one->residual)) + taken[0] + (reml ? one->log_determinant : 0);
    for (size_t k = 0; k < fit->design.theta; k++) {
        const double *moved = taken + (1 + k) * block;
        one->gradient[k] = moved[0] - residual_form(moved + 1, self->beta, width) / one->residual;
        if (reml) one->gradient[k] -= trace_with(self, moved + 1, width);
    }
cleanup:
    tacit_sum_clear(&sum);
    return status;
}

static tacit_status finish_linear(work *self, tacit_error *error) {
    mixed_fit *fit = self->fit;
    const size_t width = fit->design.columns.width;
    TACIT_TRY(look_linear(self, &self->here, error));
    memcpy(fit->beta, self->beta, width * sizeof *fit->beta);
    fit->residual = self->here.residual;
    fit->log_determinant = self->here.log_determinant;
    for (size_t j = 0; j < width; j++) {
        memset(self->solved, 0, width * sizeof *self->solved);
        self->solved[j] = fit->residual;
        tacit_cholesky_solve(self->factor, width, self->scale, self->solved);
        memcpy(fit->covariance + j * width, self->solved, width * sizeof *self->solved);
    }
    return TACIT_OK;
}

/* ---- others ---- */

static tacit_status look_others(work *self, point *one, tacit_error *error) {
    mixed_fit *fit = self->fit;
    const size_t width = fit->design.columns.width;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(ask_sums(fit, one->at + width, one->at, &sum, error));
    const double *value = sum.values + MIXED_HEAD;
    one->value = -2 * *value++;
    for (size_t a = 0; a < one->count; a++) one->gradient[a] = -2 * *value++;
    for (size_t a = 0; a < one->count; a++)
        for (size_t b = 0; b <= a; b++) one->hessian[a * one->count + b] = -2 * *value++;
cleanup:
    tacit_sum_clear(&sum);
    return status;
}

/* Newton's direction; where the curvature is not positive, that of the matrix with a ridge that makes it
 * so. */
static bool newton_direction(work *self, double *ridge) {
    const point *at = &self->here;
    double most = 0;
    for (size_t a = 0; a < at->count; a++) most = fmax(most, fabs(at->hessian[a * at->count + a]));
    for (*ridge = 0; *ridge <= 1e6 * most; *ridge = *ridge > 0 ? 10 * *ridge : 1e-3 * most) {
        bool positive = true;
        for (size_t a = 0; a < at->count; a++) {
            for (size_t b = 0; b <= a; b++) self->factor[a * at->count + b] = at->hessian[a * at->count + b];
            self->factor[a * at->count + a] += *ridge;
            positive = positive && self->factor[a * at->count + a] > 0;
            self->direction[a] = -at->gradient[a];
        }
        if (!positive ||
            tacit_cholesky_factor(self->factor, at->count, 1e-12, self->scale, self->deficient) > 0)
            continue;
        tacit_cholesky_solve(self->factor, at->count, self->scale, self->direction);
        return true;
    }
    return false;
}

/* A step moves a score by at most 2 and theta by at most 1, so that exp() stays within reach. */
static void shorten(const work *self, double *direction) {
    size_t width = self->fit->design.columns.width;
    double most = sqrt(dot(direction, direction, width)) / 2;
    for (size_t k = width; k < self->here.count; k++) most = fmax(most, fabs(direction[k]));
    for (size_t a = 0; a < self->here.count && most > 1; a++) direction[a] /= most;
}

static tacit_status finish_others(work *self, tacit_error *error) {
    mixed_fit *fit = self->fit;
    const size_t width = fit->design.columns.width, count = self->here.count;
    double ridge;
    if (!newton_direction(self, &ridge) || ridge > 0) return no_estimate(error);
    memcpy(fit->beta, self->here.at, width * sizeof *fit->beta);
    for (size_t j = 0; j < width; j++) {
        memset(self->solved, 0, count * sizeof *self->solved);
        self->solved[j] = 2; /* the information is half of the deviance's Hessian */
        tacit_cholesky_solve(self->factor, count, self->scale, self->solved);
        memcpy(fit->covariance + j * width, self->solved, width * sizeof *self->solved);
    }
    return TACIT_OK;
}

static tacit_status look(work *self, point *one, tacit_error *error) {
    return self->fit->design.family->quadratic ? look_linear(self, one, error)
                                               : look_others(self, one, error);
}

/* ---- one variance of a linear model ---- */

typedef struct slope {
    double u, f; /* log theta, and dD/du there */
} slope;

static tacit_status look_alone(work *self, double u, slope *out, tacit_error *error) {
    self->there.at[0] = exp(u);
    TACIT_TRY(look(self, &self->there, error));
    swap_points(self);
    *out = (slope){ u, self->here.at[0] * self->here.gradient[0] };
    return TACIT_OK;
}

/* From theta = 1 downhill until the slope has changed its sign; `zero`: it has not until the variance is next
 * to nothing. In theta itself the deviance is concave far out, where no step along a secant leads back. */
static tacit_status bracket(work *self, slope *a, slope *b, bool *zero, tacit_error *error) {
    static const double LEAST = -10, MOST = 12, FIRST = 1.5;
    *zero = false;
    TACIT_TRY(look_alone(self, 0, b, error));
    double step = b->f > 0 ? -FIRST : FIRST;
    do {
        *a = *b;
        if (a->u >= MOST) return no_estimate(error);
        *zero = a->u <= LEAST;
        if (*zero) return TACIT_OK;
        TACIT_TRY(look_alone(self, fmin(fmax(a->u + step, LEAST), MOST), b, error));
        step *= 2;
    } while (a->f * b->f > 0);
    return TACIT_OK;
}

/* False position, with the end that stays halved (Illinois), until f^2/f', twice the distance to the optimum
 * in deviance, is 1e-13, or rounding lets it fall no further. */
static tacit_status descend_alone(work *self, tacit_error *error) {
    static const double NEAR = 1e-13, STALLED = 1e-9;
    mixed_fit *fit = self->fit;
    slope a, b, c;
    bool zero;
    double before = INFINITY;
    TACIT_TRY(bracket(self, &a, &b, &zero, error));
    if (zero) self->here.at[0] = 0;
    for (fit->iterations = 0; !zero && fit->iterations < MOST_STEPS; fit->iterations++) {
        const double curvature = (b.f - a.f) / (b.u - a.u), left = b.f * b.f / curvature;
        if (left <= NEAR || (left <= STALLED && left > before / 2)) return TACIT_OK;
        TACIT_TRY(tacit_plan_allows(fit->session->plan, fit->iterations, error));
        before = left;
        TACIT_TRY(look_alone(self, b.u - b.f / curvature, &c, error));
        if (c.f * b.f < 0)
            a = b;
        else
            a.f /= 2;
        b = c;
    }
    return zero ? TACIT_OK : no_estimate(error);
}

/* ---- descent ---- */

static tacit_status find_direction(work *self, tacit_error *error) {
    const bool linear = self->fit->design.family->quadratic;
    if (!linear && !newton_direction(self, &self->ridge)) return no_estimate(error);
    if (!linear) shorten(self, self->direction);
    if (!linear) return TACIT_OK;
    tacit_lbfgs_direction(&self->memory, self->here.gradient, self->direction);
    for (size_t k = 0; k < self->here.count && self->memory.pairs == 0; k++)
        self->direction[k] /= self->fit->clusters;
    return TACIT_OK;
}

/* Move along the direction, halving the step until the deviance falls. */
static tacit_status search(work *self, bool *moved, tacit_error *error) {
    static const double HIDDEN = 1e-12;
    const size_t count = self->here.count;
    double size = 1;
    *moved = false;
    for (int k = 0; k < MOST_HALVINGS && !*moved; k++, size /= 2) {
        for (size_t a = 0; a < count; a++) self->there.at[a] = self->here.at[a] + size * self->direction[a];
        TACIT_TRY(look(self, &self->there, error));
        *moved = self->there.value <= self->here.value + HIDDEN * (1 + fabs(self->here.value));
    }
    if (!*moved) return TACIT_OK;
    if (self->fit->design.family->quadratic) {
        double step[MIXED_THETA], change[MIXED_THETA];
        for (size_t a = 0; a < count; a++) {
            step[a] = self->there.at[a] - self->here.at[a];
            change[a] = self->there.gradient[a] - self->here.gradient[a];
        }
        tacit_lbfgs_keep(&self->memory, step, change);
    }
    swap_points(self);
    return TACIT_OK;
}

/* The deviance is even in each diagonal entry of L: its slope is 0 where the entry is, and a step may lead
 * next to that. Where it curves down there it is a saddle, which Newton's steps leave slowly: begin again
 * beside it. Whether that was done; it is, a few times at most. */
static bool leave_saddle(work *self) {
    enum { MOST_TIMES = 4 };
    static const double BESIDE = 0.1, AWAY = 0.5;
    const size_t count = self->here.count, width = self->fit->design.columns.width;
    bool moved = false;
    if (!(self->ridge > 0) || self->saddles >= MOST_TIMES) return false;
    for (size_t k = width; k < count; k += 2) /* theta 0 and 2 */
        if (self->here.hessian[k * count + k] < 0 && fabs(self->here.at[k]) < BESIDE) {
            self->here.at[k] = AWAY;
            moved = true;
        }
    self->saddles += moved;
    return moved;
}

/* Until -g.d, twice the distance to the optimum in deviance, is 1e-13, or rounding lets it fall no
 * further. */
static tacit_status descend(work *self, tacit_error *error) {
    static const double NEAR = 1e-13, STALLED = 1e-9;
    mixed_fit *fit = self->fit;
    double before = INFINITY;
    bool moved;
    TACIT_TRY(look(self, &self->here, error));
    for (fit->iterations = 0; fit->iterations < MOST_STEPS; fit->iterations++) {
        TACIT_TRY(find_direction(self, error));
        double left = -dot(self->here.gradient, self->direction, self->here.count);
        if (leave_saddle(self)) {
            TACIT_TRY(look(self, &self->here, error));
            before = INFINITY;
            continue;
        }
        if (left <= NEAR || (left <= STALLED && left > before / 2)) return TACIT_OK;
        if (tacit_plan_stops(fit->session->plan, fit->iterations, NULL, NULL, 0))
            return tacit_fail(error, TACIT_NOT_CONVERGED,
                              "%zu iterations, which are all that the study allows, are not enough to "
                              "converge: allow more rounds",
                              fit->iterations);
        TACIT_TRY(search(self, &moved, error));
        if (!moved) {
            if (left <= STALLED) return TACIT_OK;
            break;
        }
        before = left;
    }
    return no_estimate(error);
}

/* The model without columns, and clusters that differ as much as residuals do. */
static tacit_status place(work *self, tacit_error *error) {
    const mixed_fit *fit = self->fit;
    const tacit_design *columns = &fit->design.columns;
    double *theta = self->here.at;
    if (!fit->design.family->quadratic) {
        double first = fit->design.family->link(fit->responses / fit->n);
        if (!isfinite(first)) return tacit_fail(error, TACIT_INPUT, "%s", fit->design.family->all_alike);
        if (columns->intercept != SIZE_MAX)
            self->here.at[columns->intercept] = first / columns->intercept_value;
        theta += columns->width;
    }
    theta[0] = 1;
    if (fit->design.terms > 1) theta[2] = 1;
    return TACIT_OK;
}

tacit_status mixed_fit_run(mixed_fit *self, tacit_error *error) {
    work all = { .fit = self };
    tacit_status status;
    self->room = FIRST_ROOM;
    TACIT_CHECK(start(self, error));
    TACIT_CHECK(begin_work(&all, self, error));
    TACIT_CHECK(place(&all, error));
    const bool alone = self->design.family->quadratic && self->design.theta == 1;
    TACIT_CHECK(alone ? descend_alone(&all, error) : descend(&all, error));
    self->residual = 1;
    TACIT_CHECK(self->design.family->quadratic ? finish_linear(&all, error) : finish_others(&all, error));
    self->deviance = all.here.value + 2 * self->factorials;
    memcpy(self->theta, all.here.at + (self->design.family->quadratic ? 0 : self->design.columns.width),
           self->design.theta * sizeof *self->theta);
cleanup:
    end_work(&all);
    return status;
}
