/*
 * A method that asks exact sums, run through the parties' real gates: what the coordinator's half asks is handed to them after a liar has changed it.
 */
#pragma once

#include "secure_bench.h"

#include "data/dataset.h"
#include "session/run.h"

typedef struct table {
    tacit_schema *schema;
    tacit_dataset *data;
    uint32_t *index;
} table;

/* Uniform on [-1, 1), the same numbers in every run. */
static inline double next_uniform(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return 2 * (double)(*state >> 11) * 0x1p-53 - 1;
}

/* The rows of a file that was written, which is then removed. */
static inline void read_table(table *out, FILE *file, const char *path, const char *schema) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    fclose(file);
    *out = (table){ .schema = NULL };
    CHECK_OK(tacit_schema_parse(&out->schema, schema, strlen(schema), "test", &error), error);
    CHECK_OK(tacit_dataset_load(&out->data, NULL, path, out->schema, &options, &error), error);
    remove(path);
    out->index = calloc(out->data->rows, sizeof *out->index);
    assert_non_null(out->index);
    for (size_t i = 0; i < out->data->rows; i++) out->index[i] = (uint32_t)i;
}

typedef void lie(tacit_question *question);

typedef struct world {
    table rows;
    bench *bench;
    tacit_memo *memos;
    lie *lie; /* NULL: an honest coordinator */
} world;

static inline tacit_status ask_sum(void *context, const tacit_question *question, uint64_t *total,
                                   size_t *parties, tacit_error *error) {
    world *self = context;
    tacit_question asked = *question;
    memcpy(asked.answer_id, &question->round, sizeof question->round);
    if (self->lie != NULL) self->lie(&asked);
    for (size_t k = 0; k < self->bench->parties; k++)
        TACIT_TRY(tacit_party_contribute(&self->bench->sites[k].party, &asked, total, error));
    *parties = self->bench->parties;
    return TACIT_OK;
}

/* A study of the rows in `self`, dealt out in order to `parties` owners who allow exact sums. */
static inline tacit_plan *open_world(world *self, const tacit_method *which, size_t parties, size_t minimum) {
    size_t each = self->rows.data->rows / parties;
    self->bench = bench_of(TACIT_SUMS_MASKED, parties, minimum);
    tacit_plan *plan = &self->bench->plan;
    plan->method = which;
    plan->epsilon = INFINITY;
    plan->features = self->rows.data->features;
    plan->classes = 0;
    plan->schema = self->rows.schema;
    self->memos = calloc(parties, sizeof *self->memos);
    assert_non_null(self->memos);
    for (size_t k = 0; k < parties; k++) {
        site *at = &self->bench->sites[k];
        at->party.rows = tacit_dataset_subset(self->rows.data, self->rows.index + k * each, each);
        at->party.total_rows = each;
        at->party.memo = &self->memos[k];
        at->policy.allow_exact = true;
    }
    self->bench->session =
        (tacit_session){ .plan = plan, .transport = { .ask_sum = ask_sum, .context = self } };
    return plan;
}

static inline void close_world(world *self) {
    for (size_t k = 0; k < self->bench->parties; k++) tacit_memo_clear(&self->memos[k]);
    free(self->memos);
    bench_close(self->bench);
    tacit_dataset_free(self->rows.data);
    tacit_schema_free(self->rows.schema);
    free(self->rows.index);
}

/* A field of a question's message; NULL: it has none so called. */
static inline tacit_field *field(const tacit_question *question, const char *name) {
    tacit_message *message = (tacit_message *)(uintptr_t)question->message;
    for (size_t i = 0; message != NULL && i < message->count; i++)
        if (strcmp(message->fields[i].name, name) == 0) return &message->fields[i];
    return NULL;
}
