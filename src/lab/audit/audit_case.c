/* A pair ready to be run: methods through sessions over simulated parties, mechanisms through their own
 * functions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/audit/audit_parts.h"

/* Parties remember their local models, so that each run after the first only draws noise. */
typedef struct method_case {
    tacit_pair pair;
    tacit_plan plan[2];  /* of each side */
    tacit_plan exact[2]; /* the same without noise */
    tacit_local *local[2];
    bool exactly; /* where there is noise */
} method_case;

bool audit_is_set(const tacit_audit_setup *setup, const char *name) {
    for (size_t i = 0; i < setup->setting_count; i++)
        if (strcmp(setup->settings[i].name, name) == 0) return true;
    return false;
}

tacit_status audit_set_default(tacit_plan *plan, const tacit_audit_setup *setup, const char *name,
                               const char *value, tacit_error *error) {
    return audit_is_set(setup, name) ? TACIT_OK : tacit_plan_set(plan, name, value, error);
}

tacit_status tacit_audit_plan(tacit_plan *out, const tacit_method *method, const tacit_audit_setup *setup,
                              tacit_error *error) {
    *out = (tacit_plan){
        .method = method,
        .study = "audit",
        .epsilon = setup->epsilon,
        .delta = setup->delta,
        .lambda = setup->lambda,
        .classes = 2,
        .minimum_parties = 1,
    };
    for (size_t i = 0; i < setup->setting_count; i++)
        TACIT_TRY(tacit_plan_set(out, setup->settings[i].name, setup->settings[i].value, error));
    return TACIT_OK;
}

static tacit_status run_method(method_case *self, int side, const tacit_stream *stream, double **out,
                               size_t *length, tacit_error *error) {
    tacit_stream fixed = tacit_stream_from_seed(0);
    TACIT_TRY(tacit_local_draw_exactly(self->local[side], stream != NULL && self->exactly, error));
    return tacit_pair_run(out, length, self->local[side],
                          stream != NULL ? &self->plan[side] : &self->exact[side], self->pair.statistic,
                          stream != NULL ? stream : &fixed, error);
}

static void close_method(method_case *self) {
    if (self == NULL) return;
    for (int side = 0; side < 2; side++) tacit_local_free(self->local[side]);
    tacit_pair_clear(&self->pair);
    free(self);
}

/* How far the pair moves the output, of the sensitivity that the method declares; train the local models by
 * the way. */
static tacit_status measure_reach(method_case *self, const tacit_auditable *subject, tacit_audit_case *out,
                                  tacit_error *error) {
    const tacit_method *method = self->pair.plan.method;
    double *values[2] = { NULL, NULL }, square = 0;
    size_t length[2] = { 0, 0 };
    tacit_noise_law law;
    tacit_status status;
    for (int side = 0; side < 2; side++)
        TACIT_CHECK(run_method(self, side, NULL, &values[side], &length[side], error));
    if (length[0] == 0 || length[0] != length[1])
        TACIT_CHECK(tacit_fail(error, TACIT_INTERNAL,
                               "method %s publishes %zu numbers on one data set, %zu on the other",
                               method->name, length[0], length[1]));
    for (size_t j = 0; j < length[0]; j++) square += pow(values[0][j] - values[1][j], 2);
    out->length = length[0];
    out->reach = NAN;
    if (method->noise != NULL) {
        TACIT_CHECK(tacit_plan_noise(&self->plan[0], &law, error));
        out->noise = law.scale;
        out->dimension = law.dimension;
        bool many = subject->rehearse != NULL && self->pair.statistic == TACIT_STATISTIC_PUBLISHED;
        if (many) square *= (double)law.dimension / (double)out->length;
        if (!law.in_objective) out->reach = sqrt(square) / law.sensitivity;
    }
cleanup:
    free(values[0]);
    free(values[1]);
    return status;
}

static tacit_status open_method(tacit_audit_case *out, const tacit_auditable *subject,
                                const tacit_audit_setup *setup, tacit_error *error) {
    method_case *self = TACIT_NEW(method_case, 1);
    tacit_prices prices = { .event = { .count = 0 } };
    tacit_status status;
    if (self == NULL) return tacit_fail_memory(error);
    TACIT_CHECK(subject->pair(&self->pair, out->pair, setup, error));
    self->exactly = setup->exactly;
    if (setup->rows != NULL) TACIT_CHECK(tacit_audit_rows_use(setup->rows, &self->pair, error));
    TACIT_CHECK(tacit_pair_ready(&self->pair, error));
    TACIT_CHECK(tacit_plan_price(&self->pair.plan, &prices, error));
    out->charged = prices.charged;
    for (int side = 0; side < 2; side++) {
        self->plan[side] = self->exact[side] = tacit_pair_plan(&self->pair, side);
        self->exact[side].epsilon = INFINITY;
        if (subject->rehearse != NULL) TACIT_CHECK(subject->rehearse(&self->exact[side], error));
        TACIT_CHECK(
            tacit_local_create(&self->local[side], self->pair.data[side], self->pair.split, NULL, error));
    }
    TACIT_CHECK(measure_reach(self, subject, out, error));
    out->neighbours = &self->pair;
    out->state = self;
    self = NULL;
cleanup:
    close_method(self);
    return status;
}

tacit_status tacit_audit_open(tacit_audit_case *out, const tacit_auditable *subject,
                              const tacit_audit_setup *setup, tacit_error *error) {
    tacit_price promised = { TACIT_UNIT_RECORD, setup->epsilon, setup->delta };
    TACIT_TRY(tacit_price_check(&promised, error));
    if (isinf(setup->epsilon))
        return tacit_fail(error, TACIT_USAGE, "an infinite epsilon promises nothing that could be audited");
    if (!(setup->lambda >= 0) || isinf(setup->lambda))
        return tacit_fail(error, TACIT_USAGE, "lambda is a positive number, not %g", setup->lambda);
    *out = (tacit_audit_case){ .charged = promised, .reach = NAN };
    if (setup->exactly) TACIT_TRY(tacit_entropy_create(&out->entropy, error));
    tacit_status status =
        subject->pair != NULL ? open_method(out, subject, setup, error) : subject->open(out, setup, error);
    if (status != TACIT_OK) tacit_audit_close(out, subject);
    return status;
}

tacit_noise_source tacit_audit_source(const tacit_audit_case *one, tacit_stream *stream) {
    return (tacit_noise_source){ one->entropy, one->entropy == NULL ? stream : NULL };
}

bool tacit_audit_is_output(tacit_status status) {
    return status != TACIT_CANCELLED && status != TACIT_NO_MEMORY && status != TACIT_IO &&
           status != TACIT_INTERNAL;
}

tacit_status tacit_audit_draw(tacit_audit_case *one, const tacit_auditable *subject, int side,
                              const tacit_stream *stream, double *out, tacit_error *error) {
    if (subject->pair == NULL) return subject->draw(one, side, stream, out, error);
    double *values = NULL;
    size_t length = 0;
    TACIT_TRY(run_method(one->state, side, stream, &values, &length, error));
    if (length == one->length) memcpy(out, values, length * sizeof *out);
    free(values);
    return length == one->length ? TACIT_OK
                                 : tacit_fail(error, TACIT_INTERNAL, "%s publishes %zu numbers, then %zu",
                                              subject->name, one->length, length);
}

void tacit_audit_close(tacit_audit_case *one, const tacit_auditable *subject) {
    if (subject->pair != NULL)
        close_method(one->state);
    else
        subject->close(one);
    one->entropy = tacit_entropy_free(one->entropy);
    one->state = NULL;
}
