/*
 * The coordinator's half of the last look at an optimum (estimate.h), and what both halves know of it.
 *
 * "reach" is asked for in parts of what each number can be at most, so that one grid serves all: it is fine
 * to 2^-56 of that for 20 parties. With B the family's bound of summed gradients, squared gradients of rows
 * or persons add up to at most B^2, and 1/(1 - h)^2 <= 10^4. "middle" then has the bound that reach told, and
 * loses nothing to that wide one.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/number.h"
#include "method/exact/estimate.h"
#include "session/session.h"

bool tacit_estimate_looks_again(const tacit_plan *plan) {
    const tacit_estimate_settings *settings = tacit_estimate_settings_of(plan);
    return settings->errors != TACIT_ERRORS_MODEL || settings->influence != TACIT_INFLUENCE_NO;
}

static int grid_bits(const tacit_plan *plan, double bound) {
    int bound_bits, party_bits;
    frexp(bound, &bound_bits);
    frexp((double)plan->parties, &party_bits);
    return 62 - bound_bits - party_bits;
}

void tacit_estimate_most(const tacit_plan *plan, double n, const double *terms, size_t width,
                         double most[TACIT_REACHES]) {
    static const double MOST_SQUARE = 1e9; /* of a residual, on average */
    const double bound = tacit_estimate_sum(plan, n, terms, 1).bound;
    most[TACIT_REACH_SQUARES] = bound * bound * 1e4;
    most[TACIT_REACH_CLUSTERS] = n;
    most[TACIT_REACH_PEARSON] = n * MOST_SQUARE;
    most[TACIT_REACH_LEVERAGE] = most[TACIT_REACH_LEVERAGE2] = (double)width + 1;
    most[TACIT_REACH_EXPLAINED] = n;
    most[TACIT_REACH_COOK] = n;
    most[TACIT_REACH_COOK_HELD] = most[TACIT_REACH_HELD] = most[TACIT_REACH_HIGH] = (double)plan->parties;
}

tacit_sum_spec tacit_estimate_reach_sum(const tacit_plan *plan) {
    return (tacit_sum_spec){ TACIT_ESTIMATE_HEAD + TACIT_REACHES, 1, grid_bits(plan, 1) };
}

tacit_sum_spec tacit_estimate_middle_sum(const tacit_plan *plan, double squares, size_t width) {
    return (tacit_sum_spec){ TACIT_ESTIMATE_HEAD + width * (width + 1) / 2, squares,
                             grid_bits(plan, squares) };
}

/* ---- the coordinator's half ---- */

typedef struct after {
    const tacit_estimate_optimum *at;
    double *inverse; /* packed lower triangle */
    double reach[TACIT_REACHES];
    double dispersion; /* of the response as it is fitted */
    double squares;    /* no entry of the middle is above it */
} after;

static tacit_status invert(after *self, tacit_error *error) {
    const tacit_estimate_optimum *at = self->at;
    size_t d = at->design->width;
    double *factor = TACIT_NEW(double, d *(d + 2)), *scale, *column;
    bool *deficient = TACIT_NEW(bool, d);
    tacit_status status = TACIT_OK;
    self->inverse = TACIT_NEW(double, d *(d + 1) / 2);
    if (factor == NULL || deficient == NULL || self->inverse == NULL) TACIT_CHECK(tacit_fail_memory(error));
    scale = factor + d * d;
    column = scale + d;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++)
            factor[i * d + j] =
                at->sums->hessian[i * d + j] + (i == j ? at->sums->rows * at->session->plan->lambda : 0);
    if (tacit_cholesky_factor(factor, d, 0, scale, deficient) > 0)
        TACIT_CHECK(tacit_fail(error, TACIT_NOT_CONVERGED, "the curvature at the estimate is not positive"));
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++) column[j] = i == j;
        tacit_cholesky_solve(factor, d, scale, column);
        for (size_t j = 0; j <= i; j++) self->inverse[i * (i + 1) / 2 + j] = column[j];
    }
cleanup:
    free(factor);
    free(deficient);
    return status;
}

static tacit_status ask(after *self, const char *question, const tacit_sum_spec *spec, tacit_sum *sum,
                        tacit_error *error) {
    const tacit_estimate_optimum *at = self->at;
    size_t d = at->design->width;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &at->sums->rows, 1, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", at->sums->w, d, error));
    TACIT_CHECK(
        tacit_message_add_numbers(&message, "response", at->sums->response, TACIT_ESTIMATE_TERMS, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "inverse", self->inverse, d * (d + 1) / 2, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "dispersion", &self->dispersion, 1, error));
    if (tacit_estimate_sets(at->session->plan) > 0)
        TACIT_CHECK(tacit_message_add_integers(&message, "set", &(int64_t){ (int64_t)at->set }, 1, error));
    if (self->squares > 0)
        TACIT_CHECK(tacit_message_add_numbers(&message, "squares", &self->squares, 1, error));
    TACIT_CHECK(tacit_ask_sum(at->session, question, &message, spec, sum, error));
    if (sum->parties != at->parties || ldexp(sum->values[0], spec->grid_bits) != at->sums->rows ||
        ldexp(sum->values[1], spec->grid_bits) != at->token)
        status =
            tacit_fail(error, TACIT_REFUSED,
                       "other parties answered '%s' than the rounds before: an estimate needs the same ones "
                       "in every round; run the study again",
                       question);
cleanup:
    tacit_message_clear(&message);
    return status;
}

static tacit_status ask_reach(after *self, tacit_error *error) {
    const tacit_estimate_optimum *at = self->at;
    tacit_sum_spec spec = tacit_estimate_reach_sum(at->session->plan);
    tacit_sum sum = TACIT_SUM_INIT;
    double most[TACIT_REACHES];
    tacit_status status = ask(self, "reach", &spec, &sum, error);
    tacit_estimate_most(at->session->plan, at->sums->rows, at->sums->response, at->design->width, most);
    for (size_t k = 0; status == TACIT_OK && k < TACIT_REACHES; k++)
        self->reach[k] = sum.values[TACIT_ESTIMATE_HEAD + k] * most[k];
    self->squares = self->reach[TACIT_REACH_SQUARES] * 1.001 + ldexp(most[TACIT_REACH_SQUARES], -40);
    tacit_sum_clear(&sum);
    return status;
}

/* What the sum of few rows or persons is multiplied with: as R's vcovHC and vcovCL do. */
static tacit_status correction(const after *self, double *out, tacit_error *error) {
    const tacit_estimate_optimum *at = self->at;
    const tacit_estimate_settings *settings = tacit_estimate_settings_of(at->session->plan);
    double n = at->sums->rows, left = n - (double)at->design->width;
    double clusters = nearbyint(self->reach[TACIT_REACH_CLUSTERS]);
    *out = 1;
    if (settings->errors == TACIT_ERRORS_HC1) *out = n / left;
    if (tacit_estimate_clustered(settings) && clusters < 2)
        return tacit_fail(error, TACIT_INPUT,
                          "all rows are one person's: clustered errors need at least two");
    if (settings->errors == TACIT_ERRORS_CLUSTER) {
        *out = clusters / (clusters - 1);
        if (tacit_estimate_family(at->session->plan)->dispersed) *out *= (n - 1) / left;
    }
    if (!(*out > 0))
        return tacit_fail(error, TACIT_INPUT,
                          "%g rows and %zu coefficients leave nothing to estimate an error from", n,
                          at->design->width);
    return TACIT_OK;
}

static tacit_status check_leverages(const after *self, tacit_error *error) {
    double parties = nearbyint(self->reach[TACIT_REACH_HIGH]);
    if (!(parties > 0)) return TACIT_OK;
    return tacit_fail(
        error, TACIT_INPUT,
        "HC2 and HC3 divide by 1 - leverage, and rows of %.0f %s have a leverage above 0.99: choose HC0 or "
        "HC1, or leave out columns that only few rows have",
        parties, parties > 1 ? "parties" : "party");
}

static tacit_status ask_middle(after *self, double **out, tacit_error *error) {
    const tacit_estimate_optimum *at = self->at;
    size_t d = at->design->width;
    tacit_sum_spec spec = tacit_estimate_middle_sum(at->session->plan, self->squares, d);
    tacit_sum sum = TACIT_SUM_INIT;
    double factor = 1;
    tacit_status status;
    TACIT_CHECK(check_leverages(self, error));
    TACIT_CHECK(correction(self, &factor, error));
    TACIT_CHECK(ask(self, "middle", &spec, &sum, error));
    double *middle = TACIT_NEW(double, d *d);
    if (middle == NULL) TACIT_CHECK(tacit_fail_memory(error));
    const double *value = sum.values + TACIT_ESTIMATE_HEAD;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) middle[i * d + j] = factor * *value++;
    *out = middle;
cleanup:
    tacit_sum_clear(&sum);
    return status;
}

static void fill_influence(const after *self, tacit_influence *out) {
    const tacit_estimate_optimum *at = self->at;
    const tacit_family *family = tacit_estimate_family(at->session->plan);
    const double *reach = self->reach;
    double half = at->design->half, n = at->sums->rows, positive = at->sums->response[0];
    bool held = reach[TACIT_REACH_HELD] > 0.5;
    *out = (tacit_influence){ .known = true,
                              .pearson = held ? NAN : reach[TACIT_REACH_PEARSON] * half * half,
                              .leverage = held ? NAN : reach[TACIT_REACH_LEVERAGE],
                              .leverage_squares = held ? NAN : reach[TACIT_REACH_LEVERAGE2],
                              .tjur = NAN,
                              .cook_rows = nearbyint(reach[TACIT_REACH_COOK]),
                              .cook_held = nearbyint(reach[TACIT_REACH_COOK_HELD]) };
    /* with an intercept the means add up to the number of rows of the second class */
    double explained = reach[TACIT_REACH_EXPLAINED];
    if (!held && family->loss.of_classes && at->design->intercept != SIZE_MAX &&
        at->session->plan->lambda == 0)
        out->tjur = explained / positive - (positive - explained) / (n - positive);
}

static tacit_status look_again(const tacit_estimate_optimum *at, double **middle, tacit_influence *influence,
                               double *clusters, tacit_error *error) {
    const tacit_estimate_settings *settings = tacit_estimate_settings_of(at->session->plan);
    double left = at->sums->rows - (double)at->design->width;
    after self = { .at = at, .dispersion = at->sums->family->dispersed ? 2 * at->sums->objective / left : 1 };
    tacit_status status;
    TACIT_CHECK(invert(&self, error));
    TACIT_CHECK(ask_reach(&self, error));
    if (settings->errors != TACIT_ERRORS_MODEL) TACIT_CHECK(ask_middle(&self, middle, error));
    if (settings->influence != TACIT_INFLUENCE_NO) fill_influence(&self, influence);
    *clusters = nearbyint(self.reach[TACIT_REACH_CLUSTERS]);
cleanup:
    free(self.inverse);
    return status;
}

tacit_status tacit_estimate_table(tacit_estimates **out, const tacit_estimate_optimum *at,
                                  tacit_error *error) {
    const tacit_plan *plan = at->session->plan;
    const tacit_estimate_settings *settings = tacit_estimate_settings_of(plan);
    tacit_influence influence = { .known = false };
    double *middle = NULL, clusters = 0;
    char word[TACIT_SETTING_SIZE];
    tacit_status status = TACIT_OK;
    if (tacit_estimate_looks_again(plan)) TACIT_CHECK(look_again(at, &middle, &influence, &clusters, error));
    if (middle != NULL) at->sums->middle = middle;
    TACIT_CHECK(tacit_estimates_infer(out, at->design, at->sums, error));
    (*out)->influence = influence;
    (*out)->clusters = clusters;
    if (middle != NULL) {
        tacit_setting_word(TACIT_ESTIMATE_ERRORS, settings->errors, word);
        tacit_format((*out)->errors, sizeof(*out)->errors, "%s", word);
    }
    tacit_setting_word(TACIT_ESTIMATE_OPTIMISERS, settings->optimiser, word);
    tacit_format((*out)->optimiser, sizeof(*out)->optimiser, "%s", word);
    (*out)->rounds = (size_t)at->session->round;
cleanup:
    free(middle);
    return status;
}
