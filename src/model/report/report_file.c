/*
 * "report": { "kind": "describe", "mode": "private", "rows": 4000, "facts": [ { "name", "number", "text" } ],
 *             "tables": [ { "name", "title", "columns": [...],
 *                           "rows": [ { "label", "values": [...], "noise_errors": [...] } ] } ] }
 *
 * null stands for NaN; a row without noise has no "noise_errors", a fact without text no "text".
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/report/report.h"

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *numbers(const double *values, size_t count) {
    json_t *list = json_array();
    for (size_t j = 0; j < count; j++) json_array_append_new(list, number(values[j]));
    if (json_array_size(list) == count) return list;
    json_decref(list);
    return NULL;
}

static json_t *row_to_json(const tacit_report_table *table, size_t row) {
    const double *value = table->value + row * table->cols, *error = table->error + row * table->cols;
    bool noisy = false;
    json_t *object =
        json_pack("{s:s,s:o}", "label", table->label[row], "values", numbers(value, table->cols));
    for (size_t j = 0; j < table->cols; j++) noisy = noisy || !isnan(error[j]);
    if (object == NULL || !noisy ||
        json_object_set_new(object, "noise_errors", numbers(error, table->cols)) == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *table_to_json(const tacit_report_table *table) {
    json_t *columns = json_array(), *rows = json_array();
    for (size_t j = 0; j < table->cols; j++) json_array_append_new(columns, json_string(table->column[j]));
    for (size_t i = 0; i < table->rows; i++) json_array_append_new(rows, row_to_json(table, i));
    if (json_array_size(columns) == table->cols && json_array_size(rows) == table->rows)
        return json_pack("{s:s,s:s,s:o,s:o}", "name", table->name, "title", table->title, "columns", columns,
                         "rows", rows);
    json_decref(columns);
    json_decref(rows);
    return NULL;
}

static json_t *fact_to_json(const tacit_report_fact *fact) {
    json_t *object = json_pack("{s:s,s:o}", "name", fact->name, "number", number(fact->number));
    if (object == NULL || fact->text == NULL ||
        json_object_set_new(object, "text", json_string(fact->text)) == 0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *tacit_report_to_json(const tacit_report *report) {
    json_t *facts = json_array(), *tables = json_array();
    for (size_t k = 0; k < report->facts; k++) json_array_append_new(facts, fact_to_json(&report->fact[k]));
    for (size_t k = 0; k < report->tables; k++)
        json_array_append_new(tables, table_to_json(&report->table[k]));
    if (json_array_size(facts) == report->facts && json_array_size(tables) == report->tables)
        return json_pack("{s:s,s:s,s:o,s:o,s:o}", "kind", report->kind, "mode",
                         report->noisy ? "private" : "exact", "rows", number(report->rows), "facts", facts,
                         "tables", tables);
    json_decref(facts);
    json_decref(tables);
    return NULL;
}

/* ---- reading ---- */

/* A text that people are shown; NULL where it is none, or would steer a terminal. */
static const char *read_text(const json_t *value) {
    const char *text = json_string_value(value);
    for (const char *at = text; at != NULL && *at != 0; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7F) return NULL;
    return text != NULL && strlen(text) == json_string_length(value) ? text : NULL;
}

static bool read_number(const json_t *value, double *out) {
    *out = json_is_null(value) ? NAN : json_number_value(value);
    return json_is_null(value) || (json_is_number(value) && isfinite(*out));
}

static bool read_numbers(const json_t *list, size_t count, double *out) {
    if (!json_is_array(list) || json_array_size(list) != count) return false;
    for (size_t j = 0; j < count; j++)
        if (!read_number(json_array_get(list, j), &out[j])) return false;
    return true;
}

static tacit_status damaged(tacit_error *error) {
    return tacit_fail(error, TACIT_INPUT, "the report is damaged");
}

static tacit_status read_rows(tacit_report_table *table, const json_t *rows, tacit_error *error) {
    double *values = TACIT_NEW(double, 2 * table->cols), *errors = values + table->cols;
    tacit_status status = values != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t i = 0; i < json_array_size(rows) && status == TACIT_OK; i++) {
        const json_t *row = json_array_get(rows, i), *noise = json_object_get(row, "noise_errors");
        const char *label = read_text(json_object_get(row, "label"));
        if (label == NULL || !read_numbers(json_object_get(row, "values"), table->cols, values) ||
            (noise != NULL && !read_numbers(noise, table->cols, errors))) {
            status = damaged(error);
            break;
        }
        for (size_t j = 0; noise != NULL && j < table->cols; j++)
            if (errors[j] < 0) status = damaged(error);
        if (status == TACIT_OK)
            status = tacit_report_add_row(table, label, values, noise != NULL ? errors : NULL, error);
    }
    free(values);
    return status;
}

static tacit_status read_table(tacit_report *report, const json_t *object, tacit_error *error) {
    const char *name = read_text(json_object_get(object, "name")),
               *title = read_text(json_object_get(object, "title"));
    const json_t *columns = json_object_get(object, "columns"), *rows = json_object_get(object, "rows");
    size_t cols = json_array_size(columns);
    tacit_report_table *table = NULL;
    if (name == NULL || title == NULL || !json_is_array(rows) || cols == 0 ||
        cols > TACIT_REPORT_MOST_COLUMNS || tacit_report_find(report, name) != NULL)
        return damaged(error);
    const char **names = TACIT_NEW(const char *, cols + 1);
    if (names == NULL) return tacit_fail_memory(error);
    bool whole = true;
    for (size_t j = 0; j < cols && whole; j++)
        whole = (names[j] = read_text(json_array_get(columns, j))) != NULL;
    tacit_status status =
        whole ? tacit_report_add_table(report, &table, name, title, names, error) : damaged(error);
    free(names);
    return status == TACIT_OK ? read_rows(table, rows, error) : status;
}

static tacit_status read_fact(tacit_report *report, const json_t *object, tacit_error *error) {
    const char *name = read_text(json_object_get(object, "name")),
               *text = read_text(json_object_get(object, "text"));
    double value;
    if (name == NULL || (text == NULL && json_object_get(object, "text") != NULL) ||
        !read_number(json_object_get(object, "number"), &value))
        return damaged(error);
    return tacit_report_add_fact(report, name, value, text, error);
}

tacit_status tacit_report_from_json(tacit_report **out, const json_t *object, tacit_error *error) {
    const char *kind = read_text(json_object_get(object, "kind")),
               *mode = read_text(json_object_get(object, "mode"));
    const json_t *facts = json_object_get(object, "facts"), *tables = json_object_get(object, "tables");
    tacit_report *report = NULL;
    double rows;
    tacit_status status;
    if (kind == NULL || kind[0] == 0 || strlen(kind) >= TACIT_REPORT_KIND || mode == NULL ||
        (strcmp(mode, "private") != 0 && strcmp(mode, "exact") != 0) ||
        !read_number(json_object_get(object, "rows"), &rows) || !json_is_array(facts) ||
        !json_is_array(tables) || json_array_size(tables) > TACIT_REPORT_MOST_TABLES ||
        json_array_size(facts) > TACIT_REPORT_MOST_TABLES)
        return damaged(error);
    TACIT_TRY(tacit_report_create(&report, kind, mode[0] == 'p', rows, error));
    for (size_t k = 0; k < json_array_size(facts); k++)
        TACIT_CHECK(read_fact(report, json_array_get(facts, k), error));
    status = TACIT_OK;
    for (size_t k = 0; k < json_array_size(tables); k++)
        TACIT_CHECK(read_table(report, json_array_get(tables, k), error));
    *out = report;
    report = NULL;
cleanup:
    tacit_report_free(report);
    return status;
}
