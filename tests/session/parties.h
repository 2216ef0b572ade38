/* Simulated parties over rows that a test made, and one run of a method over them. */
#pragma once

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/generate.h"
#include "data/reading/input.h"
#include "method/methods.h"
#include "session/local/local.h"

typedef struct parties {
    tacit_dataset *data;
    tacit_split *split;
    tacit_local *local;
    tacit_plan plan;
} parties;

/* Rows in blocks: the first party has the first rows. Sizes differ by at most one. */
static inline tacit_split *split_in_blocks(size_t rows, size_t count) {
    tacit_split *split = TACIT_NEW(tacit_split, 1);
    assert_non_null(split);
    split->parts = count;
    split->start = TACIT_NEW(size_t, count + 1);
    split->index = TACIT_NEW(uint32_t, rows);
    assert_true(split->start != NULL && split->index != NULL);
    for (size_t k = 0; k <= count; k++) split->start[k] = rows * k / count;
    for (size_t i = 0; i < rows; i++) split->index[i] = (uint32_t)i;
    return split;
}

/* Takes `data`. The plan: lambda 0.1, no noise, what the smallest party has as minimum. */
static inline void parties_make(parties *out, tacit_dataset *data, size_t count, tacit_pool *pool) {
    tacit_error error = TACIT_ERROR_INIT;
    *out = (parties){ .data = data, .split = split_in_blocks(data->rows, count) };
    CHECK_OK(tacit_local_create(&out->local, data, out->split, pool, &error), error);
    out->plan = (tacit_plan){ .method = &tacit_method_avg,
                              .study = "test",
                              .epsilon = INFINITY,
                              .lambda = 0.1,
                              .features = data->features,
                              .classes = data->classes.count,
                              .parties = count,
                              .minimum_parties = 1,
                              .minimum_rows = tacit_local_smallest_party(out->local) };
}

/* The rows of a CSV text, which is cleared, for a method that reports on them: delta 1e-5, no lambda. `schema` is borrowed. */
static inline void parties_read(parties *out, tacit_buffer *text, const tacit_schema *schema, size_t count,
                                const tacit_method *which) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_input *input = NULL;
    tacit_dataset *data = NULL;
    CHECK_OK(tacit_input_open_memory(&input, text->bytes, text->length, "rows.csv", &error), error);
    CHECK_OK(tacit_dataset_read(&data, NULL, input, schema, NULL, &error), error);
    tacit_input_free(input);
    tacit_buffer_clear(text);
    parties_make(out, data, count, NULL);
    out->plan.method = which;
    out->plan.schema = schema;
    out->plan.delta = 1e-5;
    out->plan.lambda = 0;
}

static inline void parties_end(parties *self) {
    tacit_local_free(self->local);
    tacit_split_free(self->split);
    tacit_dataset_free(self->data);
}

/* Points of the unit ball with the classes of a random direction. */
static inline tacit_dataset *ball(size_t rows, size_t features, uint64_t seed) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_dataset *data = NULL;
    tacit_stream stream = tacit_stream_from_seed(seed);
    CHECK_OK(tacit_generate_ball(&data, rows, features, NULL, &stream, &error), error);
    return data;
}

static inline tacit_session parties_begin(parties *self, uint64_t seed) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_session session;
    tacit_stream root = tacit_stream_from_seed(seed);
    CHECK_OK(tacit_plan_check(&self->plan, &error), error);
    CHECK_OK(tacit_local_begin(self->local, &self->plan, &root, NULL, &session, &error), error);
    return session;
}

/* Run the plan; the outcome's only model, which the caller frees. */
static inline tacit_model *parties_run(parties *self, uint64_t seed, size_t *answered) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_session session = parties_begin(self, seed);
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    CHECK_OK(self->plan.method->coordinate(&session, &outcome, &error), error);
    assert_int_equal(outcome.count, 1);
    tacit_model *model = outcome.models[0];
    if (answered != NULL) *answered = outcome.parties;
    outcome.count = 0;
    tacit_outcome_clear(&outcome);
    return model;
}
