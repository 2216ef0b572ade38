#include "data/schema/missing.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema/schema.h"

static const char *const names[] = { "default", "error",  "complete-case", "indicator", "level",
                                     "fill",    "impute", "fill",          "unlabelled" };

const char *tacit_missing_name(tacit_missing missing) {
    return (size_t)missing < sizeof names / sizeof *names ? names[missing] : "unknown";
}

bool tacit_missing_find(const char *name, tacit_missing *out) {
    for (int k = TACIT_MISSING_ERROR; k <= TACIT_MISSING_IMPUTE; k++) {
        if (strcmp(name, names[k]) != 0) continue;
        *out = (tacit_missing)k;
        return true;
    }
    return false;
}

tacit_missing tacit_schema_missing(const tacit_schema *schema, const tacit_schema_column *column) {
    if (column->missing != TACIT_MISSING_DEFAULT) return column->missing;
    if (schema->missing_is_error) return TACIT_MISSING_ERROR;
    if (schema->complete_case && column->kind != TACIT_SCHEMA_SKIP) return TACIT_MISSING_COMPLETE_CASE;
    bool imputable = column->kind == TACIT_SCHEMA_NUMBER || column->kind == TACIT_SCHEMA_CATEGORY;
    return schema->imputes && imputable ? TACIT_MISSING_IMPUTE : TACIT_MISSING_FILL;
}

bool tacit_schema_imputes(const tacit_schema *schema) {
    bool found = false;
    for (size_t i = 0; i < schema->cols && !found; i++)
        found = tacit_schema_missing(schema, &schema->columns[i]) == TACIT_MISSING_IMPUTE;
    return found;
}

bool tacit_schema_leaves_out_unlabelled(const tacit_schema *schema) {
    return schema->label_missing == TACIT_MISSING_COMPLETE_CASE ||
           (schema->label_missing == TACIT_MISSING_DEFAULT && schema->complete_case);
}

bool tacit_schema_keeps_unlabelled(const tacit_schema *schema) {
    return schema->label_missing == TACIT_MISSING_UNLABELLED;
}

bool tacit_schema_leaves_out(const tacit_schema *schema) {
    bool found = tacit_schema_leaves_out_unlabelled(schema);
    for (size_t i = 0; i < schema->cols && !found; i++)
        found = tacit_schema_missing(schema, &schema->columns[i]) == TACIT_MISSING_COMPLETE_CASE;
    return found;
}

bool tacit_schema_counts_missing(const tacit_schema *schema) {
    bool found = schema->complete_case || schema->imputes || schema->label_missing != TACIT_MISSING_DEFAULT;
    for (size_t i = 0; i < schema->cols && !found; i++)
        found = schema->columns[i].missing != TACIT_MISSING_DEFAULT;
    return found;
}

tacit_status tacit_schema_encoding_text(const tacit_schema *schema, tacit_buffer *out, tacit_error *error) {
    tacit_schema plain = *schema; /* borrows everything but the columns' own array */
    plain.complete_case = false;
    plain.subset = NULL;
    if (plain.label_missing == TACIT_MISSING_COMPLETE_CASE) plain.label_missing = TACIT_MISSING_DEFAULT;
    plain.columns = TACIT_NEW(tacit_schema_column, schema->cols);
    if (plain.columns == NULL) return tacit_fail_memory(error);
    if (schema->cols > 0) memcpy(plain.columns, schema->columns, schema->cols * sizeof *plain.columns);
    for (size_t i = 0; i < plain.cols; i++)
        if (plain.columns[i].missing == TACIT_MISSING_COMPLETE_CASE)
            plain.columns[i].missing = TACIT_MISSING_DEFAULT;
    tacit_status status = tacit_schema_canonical(&plain, out, error);
    free(plain.columns);
    return status;
}

tacit_status tacit_missing_cells_add(tacit_missing_cells *cells, size_t row, uint32_t column,
                                     tacit_error *error) {
    if (cells->count == cells->capacity) {
        size_t capacity = cells->capacity + cells->capacity / 2 + 64;
        uint32_t *rows = tacit_grow(cells->row, capacity, sizeof *rows);
        if (rows == NULL) return tacit_fail_memory(error);
        cells->row = rows;
        uint32_t *columns = tacit_grow(cells->column, capacity, sizeof *columns);
        if (columns == NULL) return tacit_fail_memory(error);
        cells->column = columns;
        cells->capacity = capacity;
    }
    cells->row[cells->count] = (uint32_t)row;
    cells->column[cells->count++] = column;
    return TACIT_OK;
}

void tacit_missing_cells_clear(tacit_missing_cells *cells) {
    free(cells->row);
    free(cells->column);
    free(cells->left_out_cells);
    *cells = (tacit_missing_cells){ .count = 0 };
}

size_t tacit_missing_cells_of(const tacit_missing_cells *cells, size_t row) {
    size_t low = 0, high = cells->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cells->row[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
