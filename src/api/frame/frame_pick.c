/* The rows of a frame that a schema's subset is about. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/frame/frame.h"
#include "base/memory.h"

enum { BLOCK_ROWS = 256 };

typedef struct picking {
    const tacit_frame *frame;
    const tacit_schema *schema;
    double *block, *value; /* raw rows, and what the condition looks at */
    size_t *place;         /* of the condition's columns, in a row of the frame */
    size_t places;
} picking;

static tacit_status start(picking *self, const tacit_frame *frame, const tacit_schema *schema,
                          tacit_error *error) {
    const size_t *columns;
    *self = (picking){ .frame = frame, .schema = schema };
    self->places = tacit_condition_columns(schema->subset, &columns);
    self->block = TACIT_NEW(double, BLOCK_ROWS * frame->columns);
    self->value = TACIT_NEW(double, self->places);
    self->place = TACIT_NEW(size_t, self->places);
    if (self->block == NULL || self->value == NULL || self->place == NULL) return tacit_fail_memory(error);
    for (size_t k = 0; k < self->places; k++)
        for (size_t i = 0; i < columns[k]; i++)
            self->place[k] += schema->columns[i].kind != TACIT_SCHEMA_SKIP;
    return TACIT_OK;
}

static bool holds(const picking *self, const double *row) {
    for (size_t k = 0; k < self->places; k++) self->value[k] = row[self->place[k]];
    return tacit_condition_holds(self->schema->subset, self->value);
}

/* Room for all rows, of which the first are used. */
static tacit_status make_room(frame_picked *out, const tacit_frame *frame, tacit_error *error) {
    out->frame = *frame;
    out->frame.kind = FRAME_DENSE;
    out->frame.type = TACIT_NUMBER_DOUBLE;
    out->frame.rows = 0;
    out->frame.column_bytes = sizeof(double);
    out->frame.row_bytes = (ptrdiff_t)(frame->columns * sizeof(double));
    out->values = tacit_allocate_aligned(frame->rows * frame->columns, sizeof *out->values);
    out->label = frame->label != NULL ? TACIT_NEW(int32_t, frame->rows) : NULL;
    out->response = frame->response != NULL ? TACIT_NEW(double, frame->rows) : NULL;
    out->event = frame->event != NULL ? TACIT_NEW(int32_t, frame->rows) : NULL;
    out->entry = frame->entry != NULL ? TACIT_NEW(double, frame->rows) : NULL;
    out->party = frame->party != NULL ? TACIT_NEW(int32_t, frame->rows) : NULL;
    const bool made =
        out->values != NULL && (out->label != NULL || frame->label == NULL) &&
        (out->response != NULL || frame->response == NULL) && (out->event != NULL || frame->event == NULL) &&
        (out->entry != NULL || frame->entry == NULL) && (out->party != NULL || frame->party == NULL);
    if (!made) return tacit_fail_memory(error);
    out->frame.values = (const char *)out->values;
    out->frame.label = out->label;
    out->frame.response = out->response;
    out->frame.event = out->event;
    out->frame.entry = out->entry;
    out->frame.party = out->party;
    return TACIT_OK;
}

static void keep(frame_picked *out, const tacit_frame *frame, size_t row, const double *raw) {
    const size_t to = out->frame.rows++;
    memcpy(out->values + to * frame->columns, raw, frame->columns * sizeof *raw);
    if (out->label != NULL) out->label[to] = frame->label[row];
    if (out->response != NULL) out->response[to] = frame->response[row];
    if (out->event != NULL) out->event[to] = frame->event[row];
    if (out->entry != NULL) out->entry[to] = frame->entry[row];
    if (out->party != NULL) out->party[to] = frame->party[row];
}

void frame_picked_clear(frame_picked *picked) {
    free(picked->values);
    free(picked->label);
    free(picked->response);
    free(picked->event);
    free(picked->entry);
    free(picked->party);
    *picked = (frame_picked)FRAME_PICKED_INIT;
}

tacit_status frame_pick(frame_picked *out, const tacit_frame *frame, const tacit_schema *schema,
                        tacit_error *error) {
    picking self;
    tacit_status status;
    TACIT_CHECK(start(&self, frame, schema, error));
    TACIT_CHECK(make_room(out, frame, error));
    for (size_t i = 0; i < frame->rows; i += BLOCK_ROWS) {
        const size_t count = frame->rows - i < BLOCK_ROWS ? frame->rows - i : BLOCK_ROWS;
        TACIT_CHECK(frame_gather(frame, i, count, self.block, error));
        for (size_t r = 0; r < count; r++)
            if (holds(&self, self.block + r * frame->columns))
                keep(out, frame, i + r, self.block + r * frame->columns);
    }
    if (out->frame.rows == 0)
        TACIT_CHECK(tacit_fail(error, TACIT_INPUT, "no row of the frame is of the subset: %s",
                               tacit_condition_text(schema->subset)));
cleanup:
    free(self.block);
    free(self.value);
    free(self.place);
    if (status != TACIT_OK) frame_picked_clear(out);
    return status;
}

void frame_picked_give(frame_picked *picked, tacit_dataset *data) {
    if (data->lent & TACIT_LENT_VALUES) picked->values = NULL;
    if (data->label != NULL) picked->label = NULL;
    if (data->group != NULL) picked->party = NULL;
    data->lent = 0;
}
