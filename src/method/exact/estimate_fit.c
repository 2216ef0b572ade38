#include "method/exact/estimate_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static tacit_status make_point(estimate_point *out, size_t width, tacit_error *error) {
    out->w = TACIT_NEW(double, width);
    out->gradient = TACIT_NEW(double, width);
    out->matrix = TACIT_NEW(double, width *width);
    return out->w != NULL && out->gradient != NULL && out->matrix != NULL ? TACIT_OK
                                                                          : tacit_fail_memory(error);
}

static void clear_point(estimate_point *at) {
    free(at->w);
    free(at->gradient);
    free(at->matrix);
}

void estimate_fit_end(estimate_fit *self) {
    clear_point(&self->here);
    clear_point(&self->there);
    free(self->gram);
    free(self->factor);
    free(self->scale);
    free(self->direction);
    free(self->deficient);
    free(self->start);
    tacit_lbfgs_clear(&self->memory);
    tacit_firth_clear(&self->firth);
    tacit_design_clear(&self->design);
}

tacit_status estimate_fit_begin(estimate_fit *self, tacit_session *session, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    *self = (estimate_fit){ .session = session, .family = tacit_estimate_family(plan) };
    TACIT_TRY(tacit_design_create(&self->design, self->family, plan->schema, plan->features, error));
    size_t width = self->design.width;
    TACIT_TRY(make_point(&self->here, width, error));
    TACIT_TRY(make_point(&self->there, width, error));
    TACIT_TRY(tacit_lbfgs_create(&self->memory, width, error));
    if (tacit_firth_wanted(plan)) TACIT_TRY(tacit_firth_create(&self->firth, width, error));
    self->gram = TACIT_NEW(double, width *width);
    self->factor = TACIT_NEW(double, width *width);
    self->scale = TACIT_NEW(double, width);
    self->direction = TACIT_NEW(double, width);
    self->deficient = TACIT_NEW(bool, width);
    self->start = TACIT_NEW(double, width);
    if (self->gram == NULL || self->factor == NULL || self->scale == NULL || self->direction == NULL ||
        self->deficient == NULL || self->start == NULL)
        return tacit_fail_memory(error);
    return TACIT_OK;
}

tacit_status estimate_fit_keep(const estimate_fit *self, tacit_error *error) {
    size_t width = self->design.width;
    double about[] = { self->n,
                       self->token,
                       (double)self->parties,
                       (double)self->iterations,
                       (double)self->memory.pairs,
                       self->here.objective,
                       self->here.loss,
                       self->terms[0],
                       self->terms[1],
                       self->terms[2],
                       self->null_loss };
    size_t known = sizeof about / sizeof *about - !tacit_design_has_beside(&self->design);
    tacit_message state = TACIT_MESSAGE_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_message_add_numbers(&state, "about", about, known, error));
    TACIT_CHECK(tacit_message_add_numbers(&state, "weights", self->here.w, width, error));
    TACIT_CHECK(tacit_message_add_numbers(&state, "gradient", self->here.gradient, width, error));
    TACIT_CHECK(tacit_message_add_numbers(&state, "gram", self->gram, width * width, error));
    TACIT_CHECK(
        tacit_message_add_numbers(&state, "steps", self->memory.step, TACIT_LBFGS_PAIRS * width, error));
    TACIT_CHECK(
        tacit_message_add_numbers(&state, "changes", self->memory.change, TACIT_LBFGS_PAIRS * width, error));
    if (tacit_estimate_wants_ratios(self->session->plan))
        TACIT_CHECK(tacit_message_add_numbers(&state, "start", self->start, width, error));
    TACIT_CHECK(tacit_checkpoint(self->session, &state, error));
cleanup:
    tacit_message_clear(&state);
    return status;
}

static tacit_status copy_field(const tacit_message *state, const char *name, double *out, size_t count,
                               tacit_error *error) {
    const double *values;
    TACIT_TRY(tacit_message_numbers(state, name, count, &values, error));
    memcpy(out, values, count * sizeof *out);
    return TACIT_OK;
}

tacit_status estimate_fit_take_up(estimate_fit *self, bool *found, tacit_error *error) {
    size_t width = self->design.width;
    double about[11];
    size_t known = sizeof about / sizeof *about - !tacit_design_has_beside(&self->design);
    tacit_message state = TACIT_MESSAGE_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_resume(self->session, found, &state, error));
    if (!*found) goto cleanup;
    TACIT_CHECK(copy_field(&state, "about", about, known, error));
    TACIT_CHECK(copy_field(&state, "weights", self->here.w, width, error));
    TACIT_CHECK(copy_field(&state, "gradient", self->here.gradient, width, error));
    TACIT_CHECK(copy_field(&state, "gram", self->gram, width * width, error));
    TACIT_CHECK(copy_field(&state, "steps", self->memory.step, TACIT_LBFGS_PAIRS * width, error));
    TACIT_CHECK(copy_field(&state, "changes", self->memory.change, TACIT_LBFGS_PAIRS * width, error));
    if (tacit_estimate_wants_ratios(self->session->plan))
        TACIT_CHECK(copy_field(&state, "start", self->start, width, error));
    self->n = about[0];
    self->token = about[1];
    self->parties = (size_t)about[2];
    self->iterations = (size_t)about[3];
    self->memory.pairs = (size_t)fmin(TACIT_LBFGS_PAIRS, fmax(0, about[4]));
    self->here.objective = about[5];
    self->here.loss = about[6];
    memcpy(self->terms, about + 7, sizeof self->terms);
    if (tacit_design_has_beside(&self->design)) self->null_loss = about[10];
cleanup:
    tacit_message_clear(&state);
    return status;
}
