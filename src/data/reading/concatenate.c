#include "data/reading/concatenate.h"

#include <string.h>

#include "base/memory.h"

/* What is there to be filled: as the first part has it. */
static tacit_status make_room(tacit_dataset *whole, tacit_dataset *const *parts, size_t count,
                              tacit_error *error) {
    size_t entries = 0;
    bool absent = false;
    for (size_t k = 0; k < count; k++) {
        const tacit_dataset *part = parts[k];
        whole->rows += part->rows;
        absent = absent || part->absent != NULL;
        if (part->absent != NULL) whole->absent_bytes = part->absent_bytes; /* others may lack nothing */
        if (part->is_sparse) entries += part->sparse.start[part->rows];
    }
    if (whole->rows > UINT32_MAX) return tacit_fail(error, TACIT_LIMIT, "more than 2^32 - 1 rows");
    const tacit_dataset *first = parts[0];
    whole->is_sparse = first->is_sparse;
    whole->response_columns = first->response_columns;
    whole->persons = first->persons;
    whole->bounds_from_data = first->bounds_from_data;
    const size_t numbers = whole->response_columns > 1 ? whole->response_columns : 1;
    if (first->label != NULL) whole->label = TACIT_NEW(int32_t, whole->rows);
    if (first->response != NULL) whole->response = TACIT_NEW(double, whole->rows *numbers);
    if (first->group != NULL) whole->group = TACIT_NEW(int32_t, whole->rows);
    if (first->identity != NULL) whole->identity = TACIT_NEW(uint64_t, whole->rows);
    whole->raw_columns = first->raw_columns;
    if (first->raw != NULL) whole->raw = TACIT_NEW(double, whole->rows * whole->raw_columns);
    if (absent) whole->absent = TACIT_NEW(uint8_t, whole->rows * whole->absent_bytes);
    if ((first->label != NULL && whole->label == NULL) ||
        (first->response != NULL && whole->response == NULL) ||
        (first->group != NULL && whole->group == NULL) ||
        (first->identity != NULL && whole->identity == NULL) || (first->raw != NULL && whole->raw == NULL) ||
        (absent && whole->absent == NULL))
        return tacit_fail_memory(error);
    return whole->is_sparse ? tacit_csr_create(&whole->sparse, whole->rows, whole->features, entries, error)
                            : tacit_matrix_create(&whole->dense, whole->rows, whole->features, error);
}

static void copy_features(tacit_dataset *whole, const tacit_dataset *part, size_t first) {
    if (!whole->is_sparse) {
        memcpy(whole->dense.values + first * whole->features, part->dense.values,
               part->rows * whole->features * sizeof(double));
        return;
    }
    const size_t before = whole->sparse.start[first], entries = part->sparse.start[part->rows];
    memcpy(whole->sparse.column + before, part->sparse.column, entries * sizeof(uint32_t));
    memcpy(whole->sparse.value + before, part->sparse.value, entries * sizeof(double));
    for (size_t i = 0; i < part->rows; i++)
        whole->sparse.start[first + i + 1] = before + part->sparse.start[i + 1];
}

static tacit_status copy_groups(tacit_dataset *whole, const tacit_dataset *part, size_t number, size_t first,
                                tacit_error *error) {
    const int32_t before = (int32_t)whole->groups.count;
    tacit_buffer name = TACIT_BUFFER_INIT;
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < part->groups.count; k++) {
        int32_t code;
        name.length = 0;
        TACIT_CHECK(tacit_buffer_print(&name, error, "%zu: %s", number + 1, part->groups.text[k]));
        TACIT_CHECK(tacit_levels_add(&whole->groups, tacit_buffer_text(&name), name.length, &code, error));
    }
    for (size_t i = 0; i < part->rows; i++) {
        const int32_t code = part->group[i];
        whole->group[first + i] = code < 0 ? code : before + code;
    }
cleanup:
    tacit_buffer_clear(&name);
    return status;
}

static tacit_status copy_missing(tacit_missing_cells *whole, const tacit_missing_cells *part, size_t first,
                                 tacit_error *error) {
    for (size_t k = 0; k < part->count; k++)
        TACIT_TRY(tacit_missing_cells_add(whole, first + part->row[k], part->column[k], error));
    if (part->columns == 0) return TACIT_OK;
    if (whole->left_out_cells == NULL) {
        whole->left_out_cells = TACIT_NEW(uint64_t, part->columns);
        if (whole->left_out_cells == NULL) return tacit_fail_memory(error);
        whole->columns = part->columns;
    }
    whole->left_out += part->left_out;
    for (size_t j = 0; j < whole->columns; j++) whole->left_out_cells[j] += part->left_out_cells[j];
    return TACIT_OK;
}

static void add_counts(tacit_encode_counts *whole, const tacit_encode_counts *part) {
    whole->rows += part->rows;
    whole->outside_bounds += part->outside_bounds;
    whole->missing += part->missing;
    whole->left_out += part->left_out;
    whole->outside += part->outside;
    whole->unknown_levels += part->unknown_levels;
    whole->shortened_rows += part->shortened_rows;
}

static tacit_status copy_part(tacit_dataset *whole, const tacit_dataset *part, size_t number, size_t first,
                              tacit_error *error) {
    const size_t numbers = whole->response_columns > 1 ? whole->response_columns : 1;
    copy_features(whole, part, first);
    if (whole->label != NULL) memcpy(whole->label + first, part->label, part->rows * sizeof *part->label);
    if (whole->response != NULL)
        memcpy(whole->response + first * numbers, part->response,
               part->rows * numbers * sizeof *part->response);
    if (part->absent != NULL)
        memcpy(whole->absent + first * whole->absent_bytes, part->absent, part->rows * whole->absent_bytes);
    if (whole->identity != NULL && part->identity != NULL)
        memcpy(whole->identity + first, part->identity, part->rows * sizeof *part->identity);
    if (whole->raw != NULL && part->raw != NULL)
        memcpy(whole->raw + first * whole->raw_columns, part->raw,
               part->rows * whole->raw_columns * sizeof *part->raw);
    if (whole->group != NULL) TACIT_TRY(copy_groups(whole, part, number, first, error));
    add_counts(&whole->counts, &part->counts);
    return copy_missing(&whole->missing, &part->missing, first, error);
}

tacit_status tacit_dataset_concatenate(tacit_dataset **out, int32_t **site, tacit_dataset *const *parts,
                                       size_t count, const tacit_schema *schema, tacit_error *error) {
    tacit_dataset *whole = TACIT_NEW(tacit_dataset, 1);
    int32_t *numbers = NULL;
    size_t first = 0;
    tacit_status status;
    if (whole == NULL) return tacit_fail_memory(error);
    TACIT_CHECK(tacit_dataset_describe(whole, schema, error));
    TACIT_CHECK(make_room(whole, parts, count, error));
    numbers = TACIT_NEW(int32_t, whole->rows);
    if (numbers == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t k = 0; k < count; k++) {
        TACIT_CHECK(copy_part(whole, parts[k], k, first, error));
        for (size_t i = 0; i < parts[k]->rows; i++) numbers[first + i] = (int32_t)k;
        first += parts[k]->rows;
    }
    *out = whole;
    whole = NULL;
    if (site != NULL) {
        *site = numbers;
        numbers = NULL;
    }
cleanup:
    free(numbers);
    tacit_dataset_free(whole);
    return status;
}
