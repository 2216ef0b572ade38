/*
 * Likelihood-ratio tests by term inside one study. drop1: the model without each term that no other term
 * contains; sequential: the models with the first term, the first two, and so on, in R's order. A smaller
 * model is the whole one with some weights held at 0: features span what R's columns of the terms that are
 * left span, because a term is centered only by terms it contains (formula/formula.h), which are there as
 * long as it is. So parties are asked for nothing new: the same sums, at more weights, in some five rounds a
 * term.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "method/exact/estimate_fit.h"
#include "num/special.h"

bool tacit_estimate_wants_ratios(const tacit_plan *plan) {
    return tacit_estimate_settings_of(plan)->anova != TACIT_ANOVA_NONE;
}

tacit_status tacit_estimate_check_ratios(const tacit_plan *plan, const tacit_family *family,
                                         tacit_error *error) {
    if (!tacit_estimate_wants_ratios(plan)) return TACIT_OK;
    if (!family->likelihood)
        return tacit_fail(error, TACIT_USAGE,
                          "the loss of family %s is no likelihood, and has no likelihood ratios: leave "
                          "'anova' out",
                          family->name);
    if (tacit_firth_wanted(plan) || plan->lambda > 0)
        return tacit_fail(
            error, TACIT_USAGE,
            "likelihood ratios need estimates without a penalty, whose likelihood is a maximum: "
            "leave 'anova' out, or bias and lambda");
    if (tacit_estimate_sets(plan) > 0)
        return tacit_fail(error, TACIT_USAGE,
                          "Rubin's rules pool estimates, not likelihood ratios: leave 'anova' out where "
                          "missing values are imputed; the summary has a pooled test of each column (D1)");
    return TACIT_OK;
}

typedef struct testing {
    estimate_fit *fit;
    estimate_descent *descend;
    tacit_estimates *out;
    const tacit_optimum *at;
    const tacit_formula *formula;
    size_t *term;    /* of each place of the table */
    size_t *ordered; /* the different ones, in the order of the table */
    size_t count;
} testing;

static tacit_status begin(testing *self, tacit_error *error) {
    const size_t width = self->fit->design.width;
    self->term = TACIT_NEW(size_t, width);
    self->ordered = TACIT_NEW(size_t, width);
    self->fit->held = TACIT_NEW(bool, width);
    if (self->term == NULL || self->ordered == NULL || self->fit->held == NULL)
        return tacit_fail_memory(error);
    TACIT_TRY(tacit_design_terms(&self->fit->design, self->term, error));
    for (size_t k = 0; k < width; k++) {
        bool seen = self->term[k] == SIZE_MAX;
        for (size_t i = 0; i < self->count && !seen; i++) seen = self->ordered[i] == self->term[k];
        if (!seen) self->ordered[self->count++] = self->term[k];
    }
    self->out->ratio = TACIT_NEW(tacit_term_ratio, self->count + 1);
    return self->out->ratio != NULL ? TACIT_OK : tacit_fail_memory(error);
}

/* The deviance with the weights of some terms held at 0, and how many they are. */
static tacit_status fit_without(testing *self, const bool *without, bool fresh, double *deviance,
                                size_t *held, tacit_error *error) {
    estimate_fit *fit = self->fit;
    const size_t width = fit->design.width;
    *held = 0;
    if (fresh) memcpy(fit->here.w, fit->start, width * sizeof *fit->start);
    for (size_t k = 0; k < width; k++) {
        const size_t at = tacit_design_at(&fit->design, k);
        bool out = false;
        for (size_t i = 0; i < self->count; i++)
            out = out || (without[i] && self->ordered[i] == self->term[k]);
        fit->held[at] = out;
        if (out) fit->here.w[at] = 0;
        *held += out;
    }
    fit->iterations = 0;
    TACIT_TRY(self->descend(fit, error));
    *deviance = tacit_estimates_deviance_at(&fit->design, self->at, fit->here.loss);
    return TACIT_OK;
}

/* A term that makes the deviance `less` smaller. */
static tacit_status add_ratio(testing *self, size_t term, double degrees, double deviance, double less,
                              tacit_error *error) {
    tacit_estimates *out = self->out;
    tacit_term_ratio *one = &out->ratio[out->ratios];
    tacit_buffer name = TACIT_BUFFER_INIT;
    tacit_status status = tacit_design_term_name(&self->fit->design, self->ordered[term], &name, error);
    if (status == TACIT_OK && (one->name = tacit_copy_text(tacit_buffer_text(&name))) == NULL)
        status = tacit_fail_memory(error);
    tacit_buffer_clear(&name);
    if (status != TACIT_OK) return status;
    out->ratios++;
    less = fmax(less, 0);
    one->degrees = degrees;
    one->deviance = deviance;
    one->statistic = out->student ? less / degrees / out->dispersion : less;
    one->p = out->student ? tacit_fisher_tail(one->statistic, degrees, tacit_estimates_degrees(out))
                          : tacit_chi_square_tail(less, degrees);
    return TACIT_OK;
}

static tacit_status drop_each(testing *self, bool *without, tacit_error *error) {
    for (size_t i = 0; i < self->count; i++) {
        double deviance = NAN;
        size_t held = 0;
        if (self->formula != NULL && !tacit_formula_droppable(self->formula, self->ordered[i])) continue;
        without[i] = true;
        TACIT_TRY(fit_without(self, without, true, &deviance, &held, error));
        without[i] = false;
        TACIT_TRY(add_ratio(self, i, (double)held, deviance, deviance - self->out->deviance, error));
    }
    return TACIT_OK;
}

/* From the first term on; the model before all of them is the null model. */
static tacit_status add_each(testing *self, bool *without, tacit_error *error) {
    double before = self->out->null_deviance, deviance = NAN;
    size_t held = 0, still = 0;
    for (size_t i = 0; i < self->count; i++) without[i] = true;
    for (size_t k = 0; k < self->fit->design.width; k++) held += self->term[k] != SIZE_MAX;
    for (size_t i = 0; i < self->count; i++) {
        without[i] = false;
        deviance = self->out->deviance;
        still = 0;
        if (i + 1 < self->count) TACIT_TRY(fit_without(self, without, i == 0, &deviance, &still, error));
        TACIT_TRY(add_ratio(self, i, (double)(held - still), deviance, before - deviance, error));
        before = deviance;
        held = still;
    }
    return TACIT_OK;
}

tacit_status tacit_estimate_ratios(estimate_fit *fit, estimate_descent *descend, const tacit_optimum *at,
                                   tacit_estimates *out, tacit_error *error) {
    const tacit_plan *plan = fit->session->plan;
    const size_t width = fit->design.width, iterations = fit->iterations;
    testing self = { .fit = fit, .descend = descend, .out = out, .at = at };
    if (!tacit_estimate_wants_ratios(plan) || plan->schema == NULL || plan->schema->cols == 0)
        return TACIT_OK;
    double *best = TACIT_NEW(double, width), loss = fit->here.loss;
    bool *without = TACIT_NEW(bool, width + 1);
    tacit_status status = TACIT_OK;
    if (best == NULL || without == NULL) TACIT_CHECK(tacit_fail_memory(error));
    memcpy(best, fit->here.w, width * sizeof *best);
    self.formula = plan->schema->formula;
    TACIT_CHECK(begin(&self, error));
    const bool sequential = tacit_estimate_settings_of(plan)->anova == TACIT_ANOVA_SEQUENTIAL;
    tacit_format(out->anova, sizeof out->anova, "%s", sequential ? "sequential" : "drop1");
    TACIT_CHECK((sequential ? add_each : drop_each)(&self, without, error));
    memcpy(fit->here.w, best, width * sizeof *best); /* the model's */
    fit->here.loss = loss;
    fit->iterations = iterations;
cleanup:
    free(fit->held);
    fit->held = NULL;
    free(self.term);
    free(self.ordered);
    free(best);
    free(without);
    return status;
}
