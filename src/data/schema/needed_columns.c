#include "data/schema/needed_columns.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "data/source/csv.h"

enum { LEVELS_NAMED = 8, LEVEL_SHOWN = 24 };

typedef struct visiting {
    tacit_needed_visit *visit;
    void *context;
} visiting;

static tacit_status tell(const visiting *self, const char *name, const char *role, const char *values,
                         const char *missing, tacit_error *error) {
    const tacit_needed_column needed = { name, role, values, missing };
    return self->visit(self->context, &needed, error);
}

static void write_range(char out[TACIT_NEEDED_VALUES_SIZE], const char *what, double low, double high) {
    tacit_format(out, TACIT_NEEDED_VALUES_SIZE, "%s from %g to %g; what lies beyond counts as the bound",
                 what, low, high);
}

/* "f or m"; of many the first, and how many there are. */
static void write_levels(char out[TACIT_NEEDED_VALUES_SIZE], const tacit_levels *levels, int32_t others) {
    const size_t shown = levels->count <= LEVELS_NAMED ? levels->count : LEVELS_NAMED;
    size_t at = 0;
    out[0] = 0;
    for (size_t i = 0; i < shown && at < TACIT_NEEDED_VALUES_SIZE; i++) {
        const char *between = i == 0 ? "" : i + 1 == levels->count ? " or " : ", ";
        at += (size_t)snprintf(out + at, TACIT_NEEDED_VALUES_SIZE - at, "%s%.*s", between, LEVEL_SHOWN,
                               levels->text[i]);
    }
    if (shown < levels->count && at < TACIT_NEEDED_VALUES_SIZE)
        at +=
            (size_t)snprintf(out + at, TACIT_NEEDED_VALUES_SIZE - at, " and %zu more", levels->count - shown);
    if (others >= 0 && at < TACIT_NEEDED_VALUES_SIZE)
        snprintf(out + at, TACIT_NEEDED_VALUES_SIZE - at, "; anything else counts as %.*s", LEVEL_SHOWN,
                 levels->text[others]);
}

static tacit_status tell_label(const tacit_schema *schema, const visiting *self, tacit_error *error) {
    static const char *const kinds[TACIT_RESPONSES] = { [TACIT_RESPONSE_NUMBER] = "a number",
                                                        [TACIT_RESPONSE_COUNT] = "a whole number",
                                                        [TACIT_RESPONSE_TIME] = "a time" };
    const char *missing = tacit_schema_keeps_unlabelled(schema)        ? "unlabelled"
                          : tacit_schema_leaves_out_unlabelled(schema) ? "complete-case"
                                                                       : "error";
    char values[TACIT_NEEDED_VALUES_SIZE];
    if (schema->response == TACIT_RESPONSE_CLASS)
        write_levels(values, &schema->classes, schema->others);
    else
        write_range(values, kinds[schema->response], schema->low, schema->high);
    TACIT_TRY(tell(self, schema->label, "label", values, missing, error));
    if (schema->event == NULL) return TACIT_OK;
    return tell(self, schema->event, "label", "1: the event was seen then; 0: it was not seen yet", missing,
                error);
}

static tacit_status tell_column(const tacit_schema *schema, const tacit_schema_column *column,
                                const visiting *self, tacit_error *error) {
    char values[TACIT_NEEDED_VALUES_SIZE] = "text", what[TACIT_DATE_TEXT + 32] = "a number",
         date[TACIT_DATE_TEXT];
    if (column->date.use != TACIT_DATE_NONE)
        snprintf(what, sizeof what, "a date, taken as %s,",
                 column->date_at != NULL ? "age at another date" : tacit_date_text(&column->date, date));
    if (column->kind == TACIT_SCHEMA_NUMBER)
        write_range(values, what, column->low, column->high);
    else if (column->kind == TACIT_SCHEMA_CATEGORY)
        write_levels(values, &column->levels, column->others);
    return tell(self, column->name, "column", values,
                tacit_missing_name(tacit_schema_missing(schema, column)), error);
}

/* Whether a column's age is at a date that nothing before it has named. */
static bool is_new_date(const tacit_schema *schema, size_t at) {
    const char *name = schema->columns[at].date_at;
    bool found = name == NULL || schema->columns[at].kind == TACIT_SCHEMA_SKIP ||
                 (schema->person != NULL && strcmp(name, schema->person) == 0) ||
                 strcmp(name, schema->label) == 0;
    for (size_t i = 0; i < schema->cols && !found; i++) {
        const tacit_schema_column *other = &schema->columns[i];
        found = (strcmp(other->name, name) == 0 && other->kind != TACIT_SCHEMA_SKIP) ||
                (i < at && other->date_at != NULL && strcmp(other->date_at, name) == 0);
    }
    return !found;
}

tacit_status tacit_schema_needed(const tacit_schema *schema, tacit_needed_visit *visit, void *context,
                                 tacit_error *error) {
    const visiting self = { visit, context };
    if (schema->sparse > 0)
        return tacit_fail(error, TACIT_USAGE,
                          "the study's rows are LIBSVM text of %zu features, which has no columns",
                          schema->sparse);
    TACIT_TRY(tell_label(schema, &self, error));
    if (schema->person != NULL)
        TACIT_TRY(tell(&self, schema->person, "person", "whose row it is; it never leaves", "error", error));
    for (size_t i = 0; i < schema->cols; i++)
        if (schema->columns[i].kind != TACIT_SCHEMA_SKIP)
            TACIT_TRY(tell_column(schema, &schema->columns[i], &self, error));
    for (size_t i = 0; i < schema->cols; i++)
        if (is_new_date(schema, i))
            TACIT_TRY(tell(&self, schema->columns[i].date_at, "column", "a date, at which an age is taken",
                           tacit_missing_name(tacit_schema_missing(schema, &schema->columns[i])), error));
    return TACIT_OK;
}

static tacit_status write_name(void *context, const tacit_needed_column *needed, tacit_error *error) {
    tacit_buffer *out = context;
    if (out->length > 0) TACIT_TRY(tacit_buffer_append(out, ",", 1, error));
    return tacit_csv_write_field(out, needed->name, strlen(needed->name), ',', error);
}

tacit_status tacit_schema_header(const tacit_schema *schema, tacit_buffer *out, tacit_error *error) {
    tacit_buffer line = TACIT_BUFFER_INIT;
    tacit_status status = tacit_schema_needed(schema, write_name, &line, error);
    if (status == TACIT_OK) status = tacit_buffer_append(&line, "\n", 1, error);
    if (status == TACIT_OK) status = tacit_buffer_append(out, line.bytes, line.length, error);
    tacit_buffer_clear(&line);
    return status;
}
