#include "api/study/outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/growing.h"
#include "base/memory.h"

static const double largest_count = 1e9; /* as schema_read_label.c */

/* ---- what a column can be ---- */

static const tacit_schema_column *find(const tacit_schema *schema, const char *name) {
    for (size_t i = 0; i < schema->cols; i++)
        if (strcmp(schema->columns[i].name, name) == 0) return &schema->columns[i];
    return NULL;
}

static bool is_whole(double low, double high) {
    return low >= 0 && low == floor(low) && high == floor(high) && high <= largest_count;
}

/* Numbers as they stand in the rows: of a date only its column makes one. */
static bool is_number(const tacit_schema_column *column) {
    return column->kind == TACIT_SCHEMA_NUMBER && column->date.use == TACIT_DATE_NONE;
}

static bool fits(const tacit_schema_column *column, tacit_response response) {
    switch (response) {
    case TACIT_RESPONSE_CLASS: return column->kind == TACIT_SCHEMA_CATEGORY && column->levels.count >= 2;
    case TACIT_RESPONSE_NUMBER: return is_number(column);
    case TACIT_RESPONSE_COUNT: return is_number(column) && is_whole(column->low, column->high);
    case TACIT_RESPONSE_TIME: return is_number(column) && column->low >= 0;
    default: return false;
    }
}

static bool is_event(const tacit_schema_column *column) {
    const tacit_levels *levels = &column->levels;
    if (is_number(column)) return column->low == 0 && column->high == 1;
    return column->kind == TACIT_SCHEMA_CATEGORY && levels->count == 2 &&
           tacit_levels_find(levels, "0", 1) >= 0 && tacit_levels_find(levels, "1", 1) >= 0;
}

/* ---- from the label to columns ---- */

/* A missing label is an error where nothing is said; of a column that is said. */
static tacit_missing as_column(const tacit_schema *schema) {
    if (schema->label_missing == TACIT_MISSING_UNLABELLED) return TACIT_MISSING_DEFAULT;
    if (schema->label_missing != TACIT_MISSING_DEFAULT) return schema->label_missing;
    return schema->complete_case ? TACIT_MISSING_COMPLETE_CASE : TACIT_MISSING_ERROR;
}

static tacit_status add_column(tacit_schema *schema, const tacit_schema_column *like, tacit_error *error) {
    char *name = tacit_copy_text(like->name);
    tacit_schema_column *columns =
        name != NULL
            ? tacit_grow_by_one(schema->columns, schema->cols, &schema->column_capacity, 8, sizeof *columns)
            : NULL;
    if (columns == NULL) {
        free(name);
        return tacit_fail_memory(error);
    }
    schema->columns = columns;
    columns[schema->cols] = *like;
    columns[schema->cols].name = name;
    columns[schema->cols++].missing = as_column(schema);
    return TACIT_OK;
}

static tacit_status add_number(tacit_schema *schema, char *name, double low, double high,
                               tacit_error *error) {
    return add_column(schema,
                      &(tacit_schema_column){
                          .name = name, .kind = TACIT_SCHEMA_NUMBER, .low = low, .high = high, .others = -1 },
                      error);
}

/* 0, 1 and what further causes have. */
static tacit_status add_event(tacit_schema *schema, tacit_error *error) {
    const size_t causes = schema->causes.count > 0 ? schema->causes.count : 1;
    tacit_schema_column made = { .name = schema->event, .kind = TACIT_SCHEMA_CATEGORY, .others = -1 };
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k <= causes && status == TACIT_OK; k++) {
        char text[24];
        int32_t code;
        snprintf(text, sizeof text, "%zu", k);
        status = tacit_levels_add(&made.levels, text, strlen(text), &code, error);
    }
    if (status == TACIT_OK) status = add_column(schema, &made, error);
    if (status != TACIT_OK) tacit_levels_clear(&made.levels);
    return status;
}

/* The label's columns, after the others. */
static tacit_status keep_label(tacit_schema *schema, tacit_error *error) {
    if (schema->response != TACIT_RESPONSE_CLASS) {
        TACIT_TRY(add_number(schema, schema->label, schema->low, schema->high, error));
        if (schema->entry != NULL) TACIT_TRY(add_number(schema, schema->entry, 0, schema->high, error));
        return schema->event != NULL ? add_event(schema, error) : TACIT_OK;
    }
    TACIT_TRY(add_column(
        schema,
        &(tacit_schema_column){
            .name = schema->label, .kind = TACIT_SCHEMA_CATEGORY, .levels = schema->classes, .others = -1 },
        error));
    schema->columns[schema->cols - 1].others = schema->others;
    schema->classes = (tacit_levels)TACIT_LEVELS_INIT; /* the column's now */
    return TACIT_OK;
}

/* ---- from a column to the label ---- */

static void drop_column(tacit_schema *schema, const char *name) {
    size_t at = 0;
    while (strcmp(schema->columns[at].name, name) != 0) at++;
    tacit_schema_column *gone = &schema->columns[at];
    free(gone->name);
    free(gone->note);
    tacit_levels_clear(&gone->levels);
    tacit_vocabulary_clear(&gone->text);
    schema->cols--;
    memmove(gone, gone + 1, (schema->cols - at) * sizeof *gone);
}

static tacit_status set_label(tacit_schema *schema, tacit_schema_column *column, tacit_response response,
                              const char *event, tacit_error *error) {
    char *label = tacit_copy_text(column->name), *second = event != NULL ? tacit_copy_text(event) : NULL;
    if (label == NULL || (event != NULL && second == NULL)) {
        free(label);
        free(second);
        return tacit_fail_memory(error);
    }
    free(schema->label);
    free(schema->event);
    free(schema->entry);
    schema->label = label;
    schema->event = second;
    schema->entry = NULL;
    tacit_levels_clear(&schema->causes);
    tacit_levels_clear(&schema->classes);
    schema->response = response;
    schema->low = column->low;
    schema->high = column->high;
    schema->others = column->others;
    schema->classes = column->levels;
    column->levels = (tacit_levels)TACIT_LEVELS_INIT;
    schema->label_missing =
        column->missing == TACIT_MISSING_ERROR || column->missing == TACIT_MISSING_COMPLETE_CASE
            ? column->missing
            : TACIT_MISSING_DEFAULT;
    drop_column(schema, schema->label);
    if (second != NULL) drop_column(schema, second);
    return TACIT_OK;
}

/* ---- together ---- */

static tacit_status take_kind(tacit_response *out, const char *kind, tacit_error *error) {
    for (int k = 0; k < TACIT_RESPONSES; k++)
        if (strcmp(kind, tacit_response_name((tacit_response)k)) == 0) {
            *out = (tacit_response)k;
            return TACIT_OK;
        }
    return tacit_fail(error, TACIT_USAGE, "an outcome is a class, a number, a count or a time, not '%.40s'",
                      kind);
}

static tacit_status check_event(const tacit_schema *schema, const tacit_outcome_wish *wanted,
                                tacit_response response, tacit_error *error) {
    if (response != TACIT_RESPONSE_TIME)
        return wanted->event == NULL
                   ? TACIT_OK
                   : tacit_fail(error, TACIT_USAGE, "only a time has an event: leave '%.60s' out",
                                wanted->event);
    if (wanted->event == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "a time needs the column that is 1 where the event was seen, and 0 where not");
    const tacit_schema_column *event = find(schema, wanted->event);
    if (event == NULL)
        return tacit_fail(error, TACIT_USAGE, "the schema has no column '%.60s'", wanted->event);
    if (strcmp(wanted->event, wanted->column) != 0 && is_event(event)) return TACIT_OK;
    return tacit_fail(
        error, TACIT_USAGE,
        "'%.60s' cannot say whether the event was seen: choose a column of its own whose values are 0 "
        "and 1",
        wanted->event);
}

static tacit_status exchange(tacit_schema *schema, const tacit_outcome_wish *wanted, tacit_error *error) {
    tacit_response response = TACIT_RESPONSE_CLASS;
    TACIT_TRY(take_kind(&response, wanted->kind, error));
    if (schema->formula != NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "the schema has terms, which name its label: take them out of it, and choose the "
                          "outcome and its terms in the study");
    TACIT_TRY(keep_label(schema, error));
    const tacit_schema_column *column = find(schema, wanted->column);
    if (column == NULL)
        return tacit_fail(error, TACIT_USAGE, "the schema has no column '%.60s'", wanted->column);
    if (!fits(column, response))
        return tacit_fail(error, TACIT_USAGE,
                          "'%.60s' is no outcome of kind %s: a class is a category of two levels or more, "
                          "and others are numbers that are no dates, a count of whole bounds from 0, a time "
                          "of bounds that are not negative",
                          wanted->column, wanted->kind);
    TACIT_TRY(check_event(schema, wanted, response, error));
    return set_label(schema, &schema->columns[column - schema->columns], response, wanted->event, error);
}

tacit_status tacit_schema_exchange_outcome(tacit_schema **schema, const tacit_outcome_wish *wanted,
                                           tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_schema *copy = NULL, *made = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_schema_print(*schema, NULL, &text, error));
    TACIT_CHECK(tacit_schema_parse(&copy, tacit_buffer_text(&text), text.length, "the schema", error));
    TACIT_CHECK(exchange(copy, wanted, error));
    text.length = 0; /* what is printed is read again: nothing becomes a schema that could not be written */
    TACIT_CHECK(tacit_schema_print(copy, NULL, &text, error));
    TACIT_CHECK(tacit_schema_parse(&made, tacit_buffer_text(&text), text.length,
                                   "the schema with the other outcome", error));
    tacit_schema_free(*schema);
    *schema = made;
cleanup:
    tacit_schema_free(copy);
    tacit_buffer_clear(&text);
    return status;
}

/* ---- for a form ---- */

/* A column as it is, or as the label would be one. */
static bool look_up(const tacit_schema *schema, const char *name, tacit_schema_column *out) {
    const tacit_schema_column *column = find(schema, name);
    if (column != NULL) {
        *out = *column;
        return true;
    }
    *out = (tacit_schema_column){ .low = schema->low, .high = schema->high };
    if (strcmp(name, schema->label) == 0) {
        out->kind = schema->response == TACIT_RESPONSE_CLASS ? TACIT_SCHEMA_CATEGORY : TACIT_SCHEMA_NUMBER;
        out->levels = schema->classes;
        return true;
    }
    if (schema->event != NULL && strcmp(name, schema->event) == 0 && schema->causes.count == 0) {
        *out = (tacit_schema_column){ .kind = TACIT_SCHEMA_NUMBER, .low = 0, .high = 1 };
        return true;
    }
    return false;
}

json_t *tacit_outcome_kinds(const tacit_schema *schema, const char *column) {
    json_t *list = json_array();
    tacit_schema_column found;
    const bool known = look_up(schema, column, &found);
    for (int k = 0; known && list != NULL && k < TACIT_RESPONSES; k++)
        if (fits(&found, (tacit_response)k) &&
            json_array_append_new(list, json_string(tacit_response_name((tacit_response)k))) != 0) {
            json_decref(list);
            list = NULL;
        }
    return list;
}

bool tacit_outcome_is_event(const tacit_schema *schema, const char *column) {
    tacit_schema_column found;
    return look_up(schema, column, &found) && is_event(&found);
}
