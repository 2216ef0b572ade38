/*
 * What becomes of DuckDB's types. Vectors of numbers, truths, dates, instants, decimals, texts and ENUMs are
 * columns as they lie; the few other types that a cell can hold (UUID, BIT, TIME, INTERVAL, instants with a
 * time zone) DuckDB turns into text, in a SELECT around the query.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "data/source/duckdb_source.h"

/* One SELECT, and no other statement. */
static tacit_status prepare(duckdb_source *self, const char *text, tacit_error *error) {
    duckdb_pointer statements = NULL;
    uint64_t count = self->library.extract_statements(self->connection, text, &statements);
    tacit_status status = TACIT_OK;
    if (self->statement != NULL) self->library.destroy_prepare(&self->statement);
    if (count == 0 && self->library.extract_statements_error(statements) != NULL)
        status = duckdb_failed(self, self->library.extract_statements_error(statements), error);
    else if (count != 1)
        status = tacit_fail(error, TACIT_USAGE, "%s: the query must be one SELECT", self->base.name);
    else if (self->library.prepare_extracted_statement(self->connection, statements, 0, &self->statement) !=
             0)
        status = duckdb_failed(self, self->library.prepare_error(self->statement), error);
    else if (self->library.prepared_statement_type(self->statement) != DUCKDB_STATEMENT_SELECT)
        status = tacit_fail(error, TACIT_USAGE, "%s: the query must be one SELECT", self->base.name);
    self->library.destroy_extracted(&statements);
    return status;
}

static const char *const truths[] = { "false", "true" };
static const tacit_array truth_levels = {
    .kind = TACIT_ARRAY_POINTERS, .values = truths, .step = sizeof *truths, .count = 2
};

/* The kind of a vector that is a column as it lies, or NOTHING. */
static tacit_array_kind as_it_lies(duckdb_kind kind) {
    switch (kind) {
    case DUCKDB_BOOLEAN: return TACIT_ARRAY_UINT8; /* places in truth_levels */
    case DUCKDB_INT8: return TACIT_ARRAY_INT8;
    case DUCKDB_INT16: return TACIT_ARRAY_INT16;
    case DUCKDB_INT32: return TACIT_ARRAY_INT32;
    case DUCKDB_INT64: return TACIT_ARRAY_INT64;
    case DUCKDB_UINT8: return TACIT_ARRAY_UINT8;
    case DUCKDB_UINT16: return TACIT_ARRAY_UINT16;
    case DUCKDB_UINT32: return TACIT_ARRAY_UINT32;
    case DUCKDB_UINT64: return TACIT_ARRAY_UINT64;
    case DUCKDB_HUGEINT: return TACIT_ARRAY_INT128;
    case DUCKDB_UHUGEINT: return TACIT_ARRAY_UINT128;
    case DUCKDB_FLOAT: return TACIT_ARRAY_FLOAT;
    case DUCKDB_DOUBLE: return TACIT_ARRAY_DOUBLE;
    case DUCKDB_VARCHAR: return TACIT_ARRAY_STRINGS;
    case DUCKDB_BLOB:
        return TACIT_ARRAY_BYTES; /* early writers of Parquet did not say which bytes are texts */
    case DUCKDB_DATE: return TACIT_ARRAY_DAYS;
    case DUCKDB_TIMESTAMP: return TACIT_ARRAY_MICROSECONDS;
    case DUCKDB_TIMESTAMP_S: return TACIT_ARRAY_SECONDS;
    case DUCKDB_TIMESTAMP_MS: return TACIT_ARRAY_MILLISECONDS;
    case DUCKDB_TIMESTAMP_NS: return TACIT_ARRAY_NANOSECONDS;
    default: return TACIT_ARRAY_NOTHING;
    }
}

/* Dates and instants are found by their look. */
static tacit_column_hint hint_of(duckdb_kind kind) {
    if (kind >= DUCKDB_INT8 && kind <= DUCKDB_DOUBLE) return TACIT_HINT_NUMBER;
    switch (kind) {
    case DUCKDB_DECIMAL:
    case DUCKDB_HUGEINT:
    case DUCKDB_UHUGEINT: return TACIT_HINT_NUMBER;
    case DUCKDB_DATE:
    case DUCKDB_TIMESTAMP:
    case DUCKDB_TIMESTAMP_S:
    case DUCKDB_TIMESTAMP_MS:
    case DUCKDB_TIMESTAMP_NS:
    case DUCKDB_TIMESTAMP_ZONE: return TACIT_HINT_NONE;
    default: return TACIT_HINT_CATEGORY;
    }
}

/* Decimals are whole numbers of as many bytes as their digits need, and a number of digits behind the
 * point. */
static void choose_decimal(const duckdb_library *library, duckdb_pointer type, tacit_array *out) {
    out->kind = as_it_lies((duckdb_kind)library->decimal_internal_type(type));
    out->is_decimal = true;
    out->digits = library->decimal_width(type);
    out->decimals = library->decimal_scale(type);
}

/* The levels of an ENUM, which its vectors are places in. */
static tacit_status choose_enum(const duckdb_library *library, duckdb_pointer type, tacit_array *out,
                                tacit_array *levels, tacit_error *error) {
    const uint32_t count = library->enum_dictionary_size(type);
    char **text = TACIT_NEW(char *, (size_t)count + 1);
    if (text == NULL) return tacit_fail_memory(error);
    *levels =
        (tacit_array){ .kind = TACIT_ARRAY_POINTERS, .values = text, .step = sizeof *text, .count = count };
    for (uint32_t i = 0; i < count; i++) {
        char *level = library->enum_dictionary_value(type, i);
        text[i] = level != NULL ? tacit_copy_text(level) : NULL;
        library->free(level);
        if (text[i] == NULL) return tacit_fail_memory(error);
    }
    out->kind = as_it_lies((duckdb_kind)library->enum_internal_type(type));
    out->dictionary = levels;
    return TACIT_OK;
}

/* What a column is asked for as: what comes of it, and the SQL around its name. */
static tacit_status choose(duckdb_source *self, uint64_t j, duckdb_kind kind, const char **as,
                           tacit_error *error) {
    tacit_array *out = &self->columns[j];
    duckdb_pointer type = NULL;
    tacit_status status = TACIT_OK;
    *out = (tacit_array){ .kind = as_it_lies(kind) };
    *as = "";
    switch (kind) {
    case DUCKDB_BOOLEAN: out->dictionary = &truth_levels; return TACIT_OK;
    case DUCKDB_DECIMAL:
    case DUCKDB_ENUM:
        type = self->library.prepared_statement_column_logical_type(self->statement, j);
        if (kind == DUCKDB_ENUM)
            status = choose_enum(&self->library, type, out, &self->levels[j], error);
        else
            choose_decimal(&self->library, type, out);
        self->library.destroy_logical_type(&type);
        return status;
    case DUCKDB_UUID:
    case DUCKDB_BIT:
    case DUCKDB_TIME:
    case DUCKDB_TIME_ZONE:
    case DUCKDB_TIMESTAMP_ZONE:
    case DUCKDB_INTERVAL:
        out->kind = TACIT_ARRAY_STRINGS;
        *as = "::VARCHAR";
        return TACIT_OK;
    default: break;
    }
    out->has_times = out->kind >= TACIT_ARRAY_MILLISECONDS && out->kind <= TACIT_ARRAY_NANOSECONDS;
    if (out->kind != TACIT_ARRAY_NOTHING) return TACIT_OK;
    *out = (tacit_array){ .kind = TACIT_ARRAY_ODD, .text = "a list or a structure" };
    *as = " IS NOT NULL OR NULL"; /* true, or nothing */
    return TACIT_OK;
}

void duckdb_forget_columns(duckdb_source *self) {
    for (size_t j = 0; self->levels != NULL && j < self->column_count; j++) {
        char **text = (char **)(uintptr_t)self->levels[j].values;
        for (size_t i = 0; text != NULL && i < self->levels[j].count; i++) free(text[i]);
        free(text);
    }
    free(self->columns);
    free(self->levels);
    self->columns = self->levels = NULL;
    self->column_count = 0;
}

/* Names and kinds of the columns; the SELECT that gives them as cells can hold them, or an empty text where
 * the query does already. */
static tacit_status take_columns(duckdb_source *self, tacit_buffer *around, tacit_error *error) {
    uint64_t count = self->library.prepared_statement_column_count(self->statement);
    bool changed = false;
    self->columns = TACIT_NEW(tacit_array, count);
    self->levels = TACIT_NEW(tacit_array, count);
    if (self->columns == NULL || self->levels == NULL) return tacit_fail_memory(error);
    self->column_count = count;
    TACIT_TRY(tacit_buffer_print(around, error, "SELECT "));
    for (uint64_t j = 0; j < count; j++) {
        const duckdb_kind kind =
            (duckdb_kind)self->library.prepared_statement_column_type(self->statement, j);
        const char *name = self->library.prepared_statement_column_name(self->statement, j), *as = NULL;
        tacit_status status = name == NULL ? tacit_fail_memory(error)
                                           : source_add_column(&self->base, name, hint_of(kind), error);
        self->library.free((void *)(uintptr_t)name);
        TACIT_TRY(status);
        TACIT_TRY(choose(self, j, kind, &as, error));
        TACIT_TRY(tacit_buffer_print(around, error, "%sc%" PRIu64 "%s", j > 0 ? ", " : "", j, as));
        changed = changed || as[0] != 0;
    }
    TACIT_TRY(tacit_buffer_print(around, error, " FROM tacit_rows"));
    if (!changed) tacit_buffer_clear(around);
    return TACIT_OK;
}

/* The view has names of its own for the columns, so that those of the query need no quotes. */
static tacit_status make_view(duckdb_source *self, const char *query, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = tacit_buffer_print(&text, error, "CREATE TEMP VIEW tacit_rows(");
    for (size_t j = 0; status == TACIT_OK && j < self->base.columns.count; j++)
        status = tacit_buffer_print(&text, error, "%sc%zu", j > 0 ? ", " : "", j);
    if (status == TACIT_OK) status = tacit_buffer_print(&text, error, ") AS %s", query);
    if (status == TACIT_OK) status = duckdb_run(self, tacit_buffer_text(&text), error);
    tacit_buffer_clear(&text);
    return status;
}

tacit_status duckdb_open_query(duckdb_source *self, const char *query, tacit_error *error) {
    tacit_buffer around = TACIT_BUFFER_INIT;
    TACIT_TRY(prepare(self, query, error));
    tacit_status status = take_columns(self, &around, error);
    if (status == TACIT_OK && around.length > 0) status = make_view(self, query, error);
    if (status == TACIT_OK && around.length > 0) status = prepare(self, tacit_buffer_text(&around), error);
    tacit_buffer_clear(&around);
    return status;
}
