/* Nodes with rows of a known logistic model, and runs of the methods with two center servers over them. */
#pragma once

#include "check.h"

#include "method/secure/logit.h"
#include "method/secure/logit_reference.h"
#include "parties.h"

enum { WIDTH = 4, ROWS = 400, NODES = 3, MOST_BETAS = 200 };

/* The seed of a property test is another one each time, and printed; TACIT_TEST_SEED repeats it. */
static inline tacit_stream printed_stream(void) {
    const char *given = getenv("TACIT_TEST_SEED");
    tacit_stream entropy = tacit_stream_from_entropy();
    uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : tacit_stream_u64(&entropy) >> 32;
    print_message("# seed %llu\n", (unsigned long long)seed);
    return tacit_stream_from_seed(seed);
}

typedef struct logit_world {
    parties parties;
    tacit_pool *pool;
    double path[MOST_BETAS][WIDTH]; /* beta_1, beta_2, ... as published */
    size_t count;
    tacit_watch watch;
} logit_world;

static inline void hear_beta(void *context, const double *values, size_t count) {
    logit_world *self = context;
    assert_int_equal(count, WIDTH);
    assert_true(self->count < MOST_BETAS);
    memcpy(self->path[self->count++], values, count * sizeof *values);
}

static inline void world_set(logit_world *self, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(&self->parties.plan, name, value, &error), error);
}

/* Another method, with its own defaults but without inference. The nodes keep the key that they have
 * checked. */
static inline void world_use(logit_world *self, const tacit_method *method) {
    self->parties.plan.settings = (tacit_settings){ .table = NULL };
    self->parties.plan.method = method;
    self->parties.plan.lambda = 1; /* the paper's */
    world_set(self, "penalty", "sum");
    world_set(self, "inference", "no");
}

static inline void world_make(logit_world *self, const tacit_method *method) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(5);
    tacit_dataset *data = NULL;
    *self = (logit_world){ .count = 0 };
    CHECK_OK(tacit_pool_create(&self->pool, 2, &error), error);
    CHECK_OK(tacit_generate_logistic(&data, ROWS, WIDTH, NULL, &stream, &error), error);
    parties_make(&self->parties, data, NODES, self->pool);
    world_use(self, method);
    self->watch = (tacit_watch){ hear_beta, self };
}

static inline void world_end(logit_world *self) {
    parties_end(&self->parties);
    tacit_pool_free(self->pool);
}

static inline tacit_session world_begin(logit_world *self) {
    tacit_session session = parties_begin(&self->parties, 3);
    session.watch = &self->watch;
    self->count = 0;
    return session;
}

static inline tacit_model *world_run(logit_world *self) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_session session = world_begin(self);
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    CHECK_OK(self->parties.plan.method->coordinate(&session, &outcome, &error), error);
    assert_int_equal(outcome.count, 1);
    tacit_model *model = outcome.models[0];
    outcome.count = 0;
    tacit_outcome_clear(&outcome);
    return model;
}

/* The same optimiser in the clear. */
static inline tacit_logit_reference world_reference(const logit_world *self, bool newton, double change,
                                                    double step) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_logit_reference reference;
    tacit_view rows = tacit_dataset_view(self->parties.data);
    tacit_logit_reference_settings settings = { .newton = newton,
                                                .scale = tacit_logit_scale(&self->parties.plan),
                                                .lambda = self->parties.plan.lambda,
                                                .start = tacit_logit_settings_of(&self->parties.plan)->start,
                                                .likelihood_change = change,
                                                .step = step,
                                                .most_iterations = 1000 };
    CHECK_OK(tacit_logit_reference_run(&reference, &rows, &settings, &error), error);
    assert_true(reference.stopped);
    return reference;
}
