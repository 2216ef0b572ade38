/*
 * Cross-validation at the coordinator (estimate.h): k Newton descents in step with each other, so that k
 * models take the rounds of one. A model that has converged stays where it is; one whose step does not
 * descend halves it while the others go on.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "method/exact/estimate_fit.h"

enum { MOST_ROUNDS = 120, MOST_HALVINGS = 40 };

/* One model: where it is, and where it looks. */
typedef struct fold_fit {
    double *w, *trial;  /* the accepted weights, and those that are asked about */
    double *direction;  /* from w */
    double rows;        /* outside the fold */
    double objective;   /* at w */
    double slope, step; /* along the direction; the step that is tried */
    double before;      /* what the step before promised */
    int halvings;
    bool begun, done;
} fold_fit;

typedef struct folds_fit {
    estimate_fit *fit;
    size_t count, width, each;
    fold_fit *fold;
    double *numbers; /* all of their vectors */
    double *asked;   /* weights of all folds side by side */
    double *factor, *scale;
    bool *deficient;
    tacit_sum sum;
    char why[400]; /* no model without a fold: the reason */
} folds_fit;

static void end_folds(folds_fit *self) {
    free(self->fold);
    free(self->numbers);
    free(self->asked);
    free(self->factor);
    free(self->scale);
    free(self->deficient);
    tacit_sum_clear(&self->sum);
}

static tacit_status begin_folds(folds_fit *self, estimate_fit *fit, tacit_error *error) {
    const size_t count = tacit_estimate_folds(fit->session->plan).count, width = fit->design.width;
    *self = (folds_fit){ .fit = fit,
                         .count = count,
                         .width = width,
                         .each = tacit_estimate_fold_length(width),
                         .sum = TACIT_SUM_INIT };
    self->fold = TACIT_NEW(fold_fit, count);
    self->numbers = TACIT_NEW(double, 3 * count * width);
    self->asked = TACIT_NEW(double, count *width);
    self->factor = TACIT_NEW(double, width *width);
    self->scale = TACIT_NEW(double, width);
    self->deficient = TACIT_NEW(bool, width);
    if (self->fold == NULL || self->numbers == NULL || self->asked == NULL || self->factor == NULL ||
        self->scale == NULL || self->deficient == NULL)
        return tacit_fail_memory(error);
    for (size_t k = 0; k < count; k++) {
        fold_fit *one = &self->fold[k];
        one->w = self->numbers + 3 * k * width;
        one->trial = one->w + width;
        one->direction = one->trial + width;
        one->before = INFINITY;
        memcpy(one->w, fit->here.w, width * sizeof *one->w);
        memcpy(one->trial, fit->here.w, width * sizeof *one->w);
    }
    return TACIT_OK;
}

/* The sums of all folds at their trial weights. */
static tacit_status ask(folds_fit *self, tacit_error *error) {
    estimate_fit *fit = self->fit;
    const size_t width = self->width;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum_spec spec =
        tacit_estimate_sum(fit->session->plan, fit->n, fit->terms, self->count * self->each);
    tacit_status status;
    for (size_t k = 0; k < self->count; k++)
        memcpy(self->asked + k * width, self->fold[k].trial, width * sizeof *self->asked);
    tacit_sum_clear(&self->sum);
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &fit->n, 1, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", self->asked, self->count * width, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "response", fit->terms, TACIT_ESTIMATE_TERMS, error));
    TACIT_CHECK(tacit_ask_sum(fit->session, "folds", &message, &spec, &self->sum, error));
    if (self->sum.parties != fit->parties || ldexp(self->sum.values[0], spec.grid_bits) != fit->n ||
        ldexp(self->sum.values[1], spec.grid_bits) != fit->token)
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED,
                               "other parties answered 'folds' than the rounds before: an estimate needs the "
                               "same ones in every round; run the study again"));
    for (size_t k = 0; k < self->count; k++)
        self->fold[k].rows = ldexp(self->sum.values[TACIT_ESTIMATE_HEAD + k * self->each], spec.grid_bits);
cleanup:
    tacit_message_clear(&message);
    return status;
}

static double dot(const double *a, const double *b, size_t count) {
    double sum = 0;
    for (size_t j = 0; j < count; j++) sum += a[j] * b[j];
    return sum;
}

static double largest(const double *values, size_t count) {
    double most = 0;
    for (size_t j = 0; j < count; j++) most = fmax(most, fabs(values[j]));
    return most;
}

static void say_why(folds_fit *self, size_t fold, const char *why) {
    if (self->why[0] != 0) return;
    tacit_format(self->why, sizeof self->why,
                 "none: without fold %zu of %zu %s. Ask for fewer folds, another fold_seed, a lambda above "
                 "0, or join rare levels (others: in the schema)",
                 fold + 1, self->count, why);
}

/* From a point that is accepted: the next direction, and whether it is needed. */
static void turn(folds_fit *self, size_t k, double loss, const double *gradient, const double *matrix) {
    static const double NEAR = 1e-8, PROMISE = 1e-12, LONG = 1e-3, STALLED = 1e-10, FLAT = 1e-13;
    fold_fit *one = &self->fold[k];
    const size_t width = self->width;
    const bool linear = self->fit->family->quadratic;
    const double penalty = one->rows * self->fit->session->plan->lambda;
    for (size_t i = 0; i < width; i++) {
        for (size_t j = 0; j <= i; j++) self->factor[i * width + j] = *matrix++;
        self->factor[i * width + i] += penalty;
        one->direction[i] = -(gradient[i] + penalty * one->w[i]);
    }
    one->done = true; /* whatever comes of it, unless a step is worth it */
    if (tacit_cholesky_factor(self->factor, width, FLAT, self->scale, self->deficient) != 0) {
        say_why(self, k, "a column does not vary, a level has no rows, or the columns separate the classes");
        return;
    }
    one->slope = 0;
    for (size_t j = 0; j < width; j++) self->asked[j] = one->direction[j]; /* minus the gradient */
    tacit_cholesky_solve(self->factor, width, self->scale, one->direction);
    const double left = dot(self->asked, one->direction, width);
    const double unit = linear ? fmin(1, 2 * loss / one->rows) : 1;
    const bool far = largest(one->direction, width) > LONG * (1 + largest(one->w, width));
    const bool stalled = left <= STALLED * unit && left > one->before / 2;
    if ((left <= PROMISE * unit || stalled) && far && !linear) {
        say_why(self, k, "columns tell the classes apart, and there is no finite estimate");
        return;
    }
    if (stalled || left <= NEAR * NEAR * unit + 1e-28 * one->rows) return;
    one->done = false;
    one->slope = -left;
    one->before = left;
    one->step = 1;
    one->halvings = 0;
}

/* What the sums at the trial weights say: go there, or try half the way. */
static void judge(folds_fit *self, size_t k) {
    static const double ENOUGH = 1e-4, HIDDEN = 1e-12;
    fold_fit *one = &self->fold[k];
    const double *value = self->sum.values + TACIT_ESTIMATE_HEAD + k * self->each + 1;
    const double loss = *value++, penalty = one->rows * self->fit->session->plan->lambda;
    const double objective = loss + 0.5 * penalty * dot(one->trial, one->trial, self->width);
    const bool accepted = !one->begun || objective <= one->objective + ENOUGH * one->step * one->slope +
                                                          HIDDEN * (1 + fabs(one->objective));
    if (accepted) {
        memcpy(one->w, one->trial, self->width * sizeof *one->w);
        one->objective = objective;
        one->begun = true;
        turn(self, k, loss, value, value + self->width);
    } else if (++one->halvings >= MOST_HALVINGS) {
        one->done = true;
        say_why(self, k, "no step descends");
    } else {
        one->step /= 2;
    }
    for (size_t j = 0; j < self->width; j++)
        one->trial[j] = one->w[j] + (one->done ? 0 : one->step * one->direction[j]);
}

static tacit_status descend(folds_fit *self, tacit_error *error) {
    bool moving = true;
    for (int round = 0; moving && self->why[0] == 0; round++) {
        moving = false;
        TACIT_TRY(ask(self, error));
        for (size_t k = 0; k < self->count; k++) {
            if (!self->fold[k].done) judge(self, k);
            moving = moving || !self->fold[k].done;
        }
        if (moving && round + 1 == MOST_ROUNDS) say_why(self, 0, "the fits do not converge");
    }
    return TACIT_OK;
}

/* The scores of held-out rows, counted over all folds. */
static tacit_status count_held_out(folds_fit *self, const tacit_model *model, tacit_report **out,
                                   tacit_error *error) {
    estimate_fit *fit = self->fit;
    const tacit_plan *plan = fit->session->plan;
    tacit_score_wishes wishes = tacit_score_wishes_usual();
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_tally tally;
    tacit_sum_spec spec;
    tacit_status status;
    wishes.least = 5;
    wishes.confidence = tacit_estimate_settings_of(plan)->level;
    TACIT_CHECK(tacit_estimate_tally(&tally, &spec, plan, error));
    for (size_t k = 0; k < self->count; k++)
        memcpy(self->asked + k * self->width, self->fold[k].w, self->width * sizeof *self->asked);
    TACIT_CHECK(
        tacit_message_add_numbers(&message, "weights", self->asked, self->count * self->width, error));
    TACIT_CHECK(tacit_ask_sum(fit->session, "held-out", &message, &spec, &sum, error));
    if (sum.parties != fit->parties)
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED,
                               "other parties count held-out rows than took part; run the study again"));
    TACIT_CHECK(tacit_evaluation_report(out, &tally, model, sum.values, 0, &wishes, error));
cleanup:
    tacit_message_clear(&message);
    tacit_sum_clear(&sum);
    return status;
}

tacit_status tacit_estimate_validate(estimate_fit *fit, tacit_model *model, tacit_error *error) {
    const tacit_plan *plan = fit->session->plan;
    const tacit_fold_plan folds = tacit_estimate_folds(plan);
    tacit_report *report = NULL;
    folds_fit self;
    char text[200];
    tacit_status status;
    if (folds.count == 0) return TACIT_OK;
    TACIT_CHECK(begin_folds(&self, fit, error));
    if (plan->schema != NULL)
        TACIT_CHECK(tacit_model_describe(model, &plan->schema->classes, plan->schema, error));
    TACIT_CHECK(descend(&self, error));
    if (self.why[0] == 0)
        TACIT_CHECK(count_held_out(&self, model, &report, error));
    else
        TACIT_CHECK(tacit_report_create(&report, "evaluate", false, fit->n, error));
    tacit_format(
        text, sizeof text,
        "%zu folds of each party's rows, dealt by fold_seed %llu; each row is scored by the model that "
        "was fitted without its fold",
        folds.count, (unsigned long long)folds.seed);
    TACIT_CHECK(tacit_report_add_fact(report, "cross-validation", (double)folds.count,
                                      self.why[0] == 0 ? text : self.why, error));
    model->validation = report;
    report = NULL;
cleanup:
    tacit_report_free(report);
    end_folds(&self);
    return status;
}
