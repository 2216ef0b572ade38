/* Tables of mixed columns that a program fills one by one. */
#include <string.h>

#include "api/frame/frame.h"
#include "base/growing.h"
#include "base/memory.h"

/* ---- what a table owns ---- */

struct frame_own {
    struct frame_own *next;
    void *memory;
};

void *frame_table_own(frame_table *table, size_t count, size_t size) {
    struct frame_own *own = TACIT_NEW(struct frame_own, 1);
    void *memory = own != NULL ? tacit_allocate(count, size) : NULL;
    if (memory == NULL) {
        free(own);
        return NULL;
    }
    *own = (struct frame_own){ table->own, memory };
    table->own = own;
    return memory;
}

frame_table *frame_table_free(frame_table *table) {
    if (table == NULL) return NULL;
    for (size_t b = 0; b < table->count; b++) {
        free(table->batches[b].columns);
        if (table->arrow != NULL && table->arrow[b].release != NULL)
            table->arrow[b].release(&table->arrow[b]);
    }
    for (struct frame_own *own = table->own, *next; own != NULL; own = next) {
        next = own->next;
        free(own->memory);
        free(own);
    }
    tacit_levels_clear(&table->names);
    free(table->arrow);
    free(table->batches);
    free(table);
    return NULL;
}

tacit_status frame_table_create(tacit_frame **out, tacit_error *error) {
    tacit_frame *frame = TACIT_NEW(tacit_frame, 1);
    if (frame == NULL) return tacit_fail_memory(error);
    frame->kind = FRAME_TABLE;
    frame->path = tacit_copy_text("the frame");
    frame->table = TACIT_NEW(frame_table, 1);
    if (frame->path == NULL || frame->table == NULL) {
        tacit_frame_free(frame);
        return tacit_fail_memory(error);
    }
    *out = frame;
    return TACIT_OK;
}

/* ---- filling it ---- */

tacit_status tacit_frame_table(tacit_frame **out, size_t rows, tacit_error *error) {
    tacit_frame *frame = NULL;
    TACIT_TRY(tacit_require(out, "where to put the result", error));
    if (rows == 0) return tacit_fail(error, TACIT_USAGE, "the table has no rows: give at least one");
    if (rows > UINT32_MAX) return tacit_fail(error, TACIT_LIMIT, "a frame has at most 2^32 - 1 rows");
    TACIT_TRY(frame_table_create(&frame, error));
    frame->table->batches = TACIT_NEW(tacit_batch, 1);
    if (frame->table->batches == NULL) {
        tacit_frame_free(frame);
        return tacit_fail_memory(error);
    }
    frame->table->count = 1;
    frame->rows = frame->table->batches[0].rows = rows;
    *out = frame;
    return TACIT_OK;
}

/* A table that takes columns, and a name that it does not have yet. */
static tacit_status check_addition(const tacit_frame *frame, const char *name, const void *values,
                                   tacit_error *error) {
    TACIT_TRY(tacit_require(frame, "the frame", error));
    TACIT_TRY(tacit_require(name, "the name of the column", error));
    if (frame->kind != FRAME_TABLE || frame->table->arrow != NULL)
        return tacit_fail(error, TACIT_USAGE, "columns are added to a frame of tacit_frame_table only");
    if (frame->schema != NULL)
        return tacit_fail(error, TACIT_USAGE, "the table is described already: add column %.60s before that",
                          name);
    if (name[0] == 0) return tacit_fail(error, TACIT_USAGE, "a column needs a name");
    if (values == NULL) return tacit_fail(error, TACIT_USAGE, "column %.60s needs its values", name);
    if (tacit_levels_find(&frame->table->names, name, strlen(name)) >= 0)
        return tacit_fail(error, TACIT_USAGE, "two columns are called '%.60s': rename one", name);
    return TACIT_OK;
}

static tacit_status add_array(tacit_frame *frame, const char *name, const tacit_array *array,
                              tacit_error *error) {
    frame_table *table = frame->table;
    tacit_batch *batch = &table->batches[0];
    TACIT_TRY(tacit_array_check(array, name, 0, error));
    tacit_array *columns =
        tacit_grow_by_one(batch->columns, table->names.count, &table->column_capacity, 16, sizeof *columns);
    if (columns == NULL) return tacit_fail_memory(error);
    batch->columns = columns;
    columns[table->names.count] = *array;
    TACIT_TRY(tacit_levels_add(&table->names, name, strlen(name), NULL, error));
    frame->columns = table->names.count;
    return TACIT_OK;
}

static const tacit_array_kind kinds[] = {
    [TACIT_VALUE_DOUBLE] = TACIT_ARRAY_DOUBLE, [TACIT_VALUE_FLOAT] = TACIT_ARRAY_FLOAT,
    [TACIT_VALUE_INT8] = TACIT_ARRAY_INT8,     [TACIT_VALUE_INT16] = TACIT_ARRAY_INT16,
    [TACIT_VALUE_INT32] = TACIT_ARRAY_INT32,   [TACIT_VALUE_INT64] = TACIT_ARRAY_INT64,
    [TACIT_VALUE_UINT8] = TACIT_ARRAY_UINT8,   [TACIT_VALUE_UINT16] = TACIT_ARRAY_UINT16,
    [TACIT_VALUE_UINT32] = TACIT_ARRAY_UINT32, [TACIT_VALUE_UINT64] = TACIT_ARRAY_UINT64,
    [TACIT_VALUE_BOOL] = TACIT_ARRAY_TRUTHS,
};

static tacit_status kind_of(tacit_array_kind *out, const char *name, tacit_value_type type,
                            tacit_error *error) {
    if ((size_t)type >= sizeof kinds / sizeof *kinds)
        return tacit_fail(error, TACIT_USAGE, "column %.60s: there is no type %d of values", name, (int)type);
    *out = kinds[type];
    return TACIT_OK;
}

tacit_status tacit_frame_add_numbers(tacit_frame *frame, const char *name, const void *values,
                                     tacit_value_type type, ptrdiff_t step, const uint8_t *missing,
                                     tacit_error *error) {
    tacit_array array = { .values = values, .step = step, .absent = missing };
    TACIT_TRY(check_addition(frame, name, values, error));
    TACIT_TRY(kind_of(&array.kind, name, type, error));
    array.count = frame->rows;
    if (step == 0) array.step = (ptrdiff_t)tacit_array_width(array.kind);
    return add_array(frame, name, &array, error);
}

/* Copies of the levels, as a dictionary. */
static tacit_status copy_levels(const tacit_array **out, frame_table *table, const char *name,
                                const char *const *levels, size_t count, tacit_error *error) {
    const char **texts = frame_table_own(table, count > 0 ? count : 1, sizeof *texts);
    tacit_array *dictionary = frame_table_own(table, 1, sizeof *dictionary);
    if (texts == NULL || dictionary == NULL) return tacit_fail_memory(error);
    for (size_t k = 0; k < count; k++) {
        if (levels[k] == NULL)
            return tacit_fail(error, TACIT_USAGE, "column %.60s: level %zu has no text", name, k + 1);
        char *copy = frame_table_own(table, strlen(levels[k]) + 1, 1);
        if (copy == NULL) return tacit_fail_memory(error);
        memcpy(copy, levels[k], strlen(levels[k]) + 1);
        texts[k] = copy;
    }
    *dictionary =
        (tacit_array){ .kind = TACIT_ARRAY_POINTERS, .values = texts, .step = sizeof *texts, .count = count };
    *out = dictionary;
    return TACIT_OK;
}

tacit_status tacit_frame_add_categories(tacit_frame *frame, const char *name, const void *codes,
                                        tacit_value_type type, ptrdiff_t step, int64_t first,
                                        const char *const *levels, size_t level_count, tacit_error *error) {
    tacit_array array = { .values = codes, .step = step, .first = first };
    TACIT_TRY(check_addition(frame, name, codes, error));
    TACIT_TRY(kind_of(&array.kind, name, type, error));
    if (levels == NULL && level_count > 0)
        return tacit_fail(error, TACIT_USAGE, "column %.60s: a category needs its levels", name);
    if (!tacit_array_is_whole(array.kind))
        return tacit_fail(error, TACIT_USAGE, "column %.60s: levels are numbered by whole numbers", name);
    array.count = frame->rows;
    if (step == 0) array.step = (ptrdiff_t)tacit_array_width(array.kind);
    TACIT_TRY(copy_levels(&array.dictionary, frame->table, name, levels, level_count, error));
    return add_array(frame, name, &array, error);
}

tacit_status tacit_frame_add_texts(tacit_frame *frame, const char *name, const char *const *texts,
                                   tacit_error *error) {
    tacit_array array = { .kind = TACIT_ARRAY_POINTERS, .values = texts, .step = sizeof *texts };
    TACIT_TRY(check_addition(frame, name, texts, error));
    array.count = frame->rows;
    return add_array(frame, name, &array, error);
}

tacit_status tacit_frame_add_dates(tacit_frame *frame, const char *name, const int32_t *days,
                                   const uint8_t *missing, tacit_error *error) {
    tacit_array array = { .kind = TACIT_ARRAY_DAYS, .values = days, .step = sizeof *days, .absent = missing };
    TACIT_TRY(check_addition(frame, name, days, error));
    array.count = frame->rows;
    return add_array(frame, name, &array, error);
}

/* ---- numbers in memory as a table ---- */

bool frame_needs_table(const tacit_frame *frame, const tacit_schema *schema) {
    if (frame->kind != FRAME_DENSE || frame_schema_columns(schema) != frame->columns) return false;
    for (size_t i = 0; i < schema->cols; i++) {
        const tacit_schema_column *column = &schema->columns[i];
        if (column->kind == TACIT_SCHEMA_CATEGORY || column->kind == TACIT_SCHEMA_TEXT ||
            column->missing == TACIT_MISSING_INDICATOR)
            return true;
    }
    return false;
}

tacit_status frame_as_table(tacit_frame **out, const tacit_frame *frame, const tacit_schema *schema,
                            tacit_error *error) {
    tacit_frame *table = NULL;
    size_t used = 0;
    if (frame->complete) TACIT_TRY(frame_check_complete(frame, schema, 1, error));
    TACIT_TRY(tacit_frame_table(&table, frame->rows, error));
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < schema->cols && status == TACIT_OK; i++) {
        if (schema->columns[i].kind == TACIT_SCHEMA_SKIP) continue;
        const tacit_array array = { .kind = frame->type == TACIT_NUMBER_DOUBLE ? TACIT_ARRAY_DOUBLE
                                                                               : TACIT_ARRAY_FLOAT,
                                    .values = frame->values + (ptrdiff_t)used * frame->column_bytes,
                                    .step = frame->row_bytes,
                                    .count = frame->rows };
        const char *name = frame->names != NULL ? frame->names[used] : schema->columns[i].name;
        status = add_array(table, name, &array, error);
        used++;
    }
    if (status != TACIT_OK)
        tacit_frame_free(table);
    else
        *out = table;
    return status;
}
