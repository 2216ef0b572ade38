/* What the rows of a frame in memory are labelled with, as a schema has it. */
#include <math.h>
#include <string.h>

#include "api/frame/frame.h"
#include "base/memory.h"

static tacit_status check_classes(const tacit_frame *frame, const tacit_schema *schema, tacit_error *error) {
    if (frame->label == NULL)
        return tacit_fail(error, TACIT_USAGE, "the frame's rows have no classes: set them");
    bool same = frame->classes.count == schema->classes.count;
    for (size_t k = 0; same && k < frame->classes.count; k++)
        same = strcmp(frame->classes.text[k], schema->classes.text[k]) == 0;
    if (same && frame->unlabelled && !tacit_schema_keeps_unlabelled(schema))
        return tacit_fail(
            error, TACIT_INPUT,
            "some of the frame's rows have no label, and the label '%.60s' is to have one in every row: "
            "leave the others out",
            schema->label);
    if (same) return TACIT_OK;
    return tacit_fail(
        error, TACIT_USAGE,
        "the frame's %zu classes are not the %zu that belong here: both names and order must be the same",
        frame->classes.count, schema->classes.count);
}

/* A time, whether the event was seen then, and since when the row is observed. */
static tacit_status check_times(const tacit_frame *frame, const tacit_schema *schema, tacit_error *error) {
    if (schema->response != TACIT_RESPONSE_TIME && frame->event != NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "the frame's rows have times with events, where '%.60s' is a %s: set that",
                          schema->label, tacit_response_name(schema->response));
    if (schema->response == TACIT_RESPONSE_TIME && frame->event == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "'%.60s' and '%.60s' are a time with an event: set the frame's times",
                          schema->label, schema->event);
    if ((schema->entry != NULL) != (frame->entry != NULL))
        return tacit_fail(error, TACIT_USAGE, "the frame %s since when a row is observed: set its times %s",
                          frame->entry != NULL ? "says" : "does not say",
                          frame->entry != NULL ? "without that" : "with it");
    return TACIT_OK;
}

tacit_status frame_set_labels(tacit_dataset *data, const tacit_frame *frame, const tacit_schema *schema,
                              tacit_error *error) {
    if (schema->response == TACIT_RESPONSE_CLASS) {
        TACIT_TRY(check_classes(frame, schema, error));
        data->label = (int32_t *)(uintptr_t)frame->label;
        return TACIT_OK;
    }
    if (frame->response == NULL)
        return tacit_fail(error, TACIT_USAGE, "the frame's rows have no response: set it");
    TACIT_TRY(check_times(frame, schema, error));
    const size_t columns = tacit_schema_response_columns(schema);
    data->response = frame->rows <= SIZE_MAX / columns ? TACIT_NEW(double, frame->rows *columns) : NULL;
    if (data->response == NULL) return tacit_fail_memory(error);
    data->response_columns = columns;
    for (size_t i = 0; i < frame->rows; i++) {
        double *value = data->response + i * columns;
        value[0] = frame->response[i];
        if (columns > 1) value[1] = frame->event[i];
        if (columns > 2) value[2] = frame->entry[i];
        tacit_status status = tacit_schema_response(schema, value, &data->counts.outside_bounds, error);
        if (status != TACIT_OK) return tacit_fail_in(error, status, "row %zu", i + 1);
    }
    return TACIT_OK;
}

tacit_status tacit_frame_set_times(tacit_frame *frame, const double *time, const int32_t *event,
                                   const double *entry, double low, double high, tacit_error *error) {
    TACIT_TRY(frame_check_memory(frame, "the labels", error));
    TACIT_TRY(tacit_require(time, "the times", error));
    TACIT_TRY(tacit_require(event, "the events", error));
    if (!isfinite(low) || !isfinite(high) || !(low >= 0 && low < high))
        return tacit_fail(error, TACIT_USAGE, "times need finite bounds, low from 0 on and below high");
    for (size_t i = 0; i < frame->rows; i++) {
        if (!isfinite(time[i]) || time[i] < 0)
            return tacit_fail(error, TACIT_INPUT, "row %zu: the time is no finite number from 0 on", i + 1);
        if (event[i] != 0 && event[i] != 1)
            return tacit_fail(error, TACIT_INPUT,
                              "row %zu: the event is %d, and must be 1 where it was seen and 0 where not",
                              i + 1, event[i]);
        if (entry != NULL && !(entry[i] >= 0 && entry[i] < time[i]))
            return tacit_fail(error, TACIT_INPUT,
                              "row %zu: it is observed from %g to %g, which must be later", i + 1, entry[i],
                              time[i]);
    }
    tacit_levels_clear(&frame->classes);
    frame->label = NULL;
    frame->counts = false;
    frame->response = time;
    frame->event = event;
    frame->entry = entry;
    frame->response_low = low;
    frame->response_high = high;
    return TACIT_OK;
}
