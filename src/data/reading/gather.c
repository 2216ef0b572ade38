#include "data/reading/gather.h"

#include <string.h>

#include "base/growing.h"
#include "base/memory.h"

/* Room for `each` numbers of `size` bytes in every row and one row more: in memory, or, once rows lie in a
 * file, in one of their own, where those from before move. */
static tacit_status grow_column(tacit_gather *gather, tacit_spilled which, void *numbers, size_t each,
                                size_t rows, size_t size, tacit_error *error) {
    void **at = numbers;
    tacit_spill *spill = &gather->spilled[which];
    if (each == 0) return TACIT_OK;
    if (rows + 1 > SIZE_MAX / 2 / size / each) return tacit_fail_memory(error);
    if (!gather->is_spilled) {
        void *grown = tacit_grow(*at, (rows + 1) * each, size);
        if (grown == NULL) return tacit_fail_memory(error);
        *at = grown;
        return TACIT_OK;
    }
    const bool moves = spill->address == NULL && *at != NULL;
    TACIT_TRY(tacit_spill_grow(spill, (rows + 1) * each * size, error));
    if (moves) {
        memcpy(spill->address, *at, (gather->row_capacity + 1) * each * size);
        free(*at);
    }
    *at = spill->address;
    return TACIT_OK;
}

static tacit_status grow_rows(tacit_gather *gather, size_t rows, tacit_error *error) {
    if (rows <= gather->row_capacity) return TACIT_OK;
    if (rows > UINT32_MAX) return tacit_fail(error, TACIT_LIMIT, "more than 2^32 - 1 rows");
    size_t capacity = gather->row_capacity + gather->row_capacity / 2;
    if (capacity < rows) capacity = rows;
    TACIT_TRY(grow_column(gather, TACIT_SPILLED_LABELS, &gather->label, gather->has_label, capacity,
                          sizeof *gather->label, error));
    TACIT_TRY(grow_column(gather, TACIT_SPILLED_RESPONSES, &gather->response,
                          gather->has_response ? gather->response_columns : 0, capacity,
                          sizeof *gather->response, error));
    TACIT_TRY(grow_column(gather, TACIT_SPILLED_GROUPS, &gather->group, gather->has_group, capacity,
                          sizeof *gather->group, error));
    TACIT_TRY(grow_column(gather, TACIT_SPILLED_STARTS, &gather->start, gather->is_sparse, capacity,
                          sizeof *gather->start, error));
    TACIT_TRY(grow_column(gather, TACIT_SPILLED_IDENTITIES, &gather->identity, gather->has_identity, capacity,
                          sizeof *gather->identity, error));
    gather->row_capacity = capacity;
    return TACIT_OK;
}

/* ---- rows that are too many for memory ---- */

static bool is_too_much(const tacit_gather *gather, size_t count, size_t size) {
    return gather->may_spill && count > gather->most / size;
}

/* Have room for `rows` dense rows there; blocks that are in memory move. */
static tacit_status spill_rows(tacit_gather *gather, size_t rows, tacit_error *error) {
    const size_t width = gather->features * sizeof(double);
    if (rows > SIZE_MAX / 2 / width) return tacit_fail_memory(error);
    TACIT_TRY(tacit_spill_grow(&gather->spilled[TACIT_SPILLED_VALUES], rows * width, error));
    gather->is_spilled = true;
    gather->whole = (tacit_matrix){ gather->spilled[TACIT_SPILLED_VALUES].bytes / width, gather->features,
                                    gather->spilled[TACIT_SPILLED_VALUES].address };
    for (size_t block = 0; block < gather->block_count; block++) {
        size_t first = block * TACIT_GATHER_BLOCK, left = gather->rows - first;
        memcpy(gather->whole.values + first * gather->features, gather->block[block],
               (left < TACIT_GATHER_BLOCK ? left : TACIT_GATHER_BLOCK) * width);
        free(gather->block[block]);
    }
    gather->block_count = 0;
    return TACIT_OK;
}

/* Rows that are written need no memory of this process, in pieces that are worth a call. */
static void pass_by(tacit_gather *gather) {
    enum { PIECE = 1 << 26 /* bytes */ };
    const size_t bytes = (gather->rows - gather->passed) * gather->features * sizeof(double);
    if (!gather->is_spilled || gather->is_sparse || bytes < PIECE) return;
    tacit_spill_pass_by(gather->whole.values + gather->passed * gather->features, bytes);
    gather->passed = gather->rows;
}

static tacit_status spill_entries(tacit_gather *gather, size_t entries, tacit_error *error) {
    TACIT_TRY(
        tacit_spill_grow(&gather->spilled[TACIT_SPILLED_VALUES], entries * sizeof *gather->value, error));
    TACIT_TRY(
        tacit_spill_grow(&gather->spilled[TACIT_SPILLED_COLUMNS], entries * sizeof *gather->column, error));
    if (!gather->is_spilled && gather->entries > 0) {
        memcpy(gather->spilled[TACIT_SPILLED_VALUES].address, gather->value,
               gather->entries * sizeof *gather->value);
        memcpy(gather->spilled[TACIT_SPILLED_COLUMNS].address, gather->column,
               gather->entries * sizeof *gather->column);
    }
    if (!gather->is_spilled) {
        free(gather->value);
        free(gather->column);
    }
    gather->is_spilled = true;
    gather->value = gather->spilled[TACIT_SPILLED_VALUES].address;
    gather->column = gather->spilled[TACIT_SPILLED_COLUMNS].address;
    gather->entry_capacity = gather->spilled[TACIT_SPILLED_VALUES].bytes / sizeof *gather->value;
    if (gather->entry_capacity > gather->spilled[TACIT_SPILLED_COLUMNS].bytes / sizeof *gather->column)
        gather->entry_capacity = gather->spilled[TACIT_SPILLED_COLUMNS].bytes / sizeof *gather->column;
    return TACIT_OK;
}

static tacit_status grow_entries(tacit_gather *gather, size_t entries, tacit_error *error) {
    if (entries <= gather->entry_capacity) return TACIT_OK;
    if (gather->is_spilled || is_too_much(gather, entries, sizeof *gather->value + sizeof *gather->column))
        return spill_entries(gather, entries, error);
    size_t capacity = gather->entry_capacity + gather->entry_capacity / 2;
    if (capacity < entries) capacity = entries + 1024;
    uint32_t *column = tacit_grow(gather->column, capacity, sizeof *column);
    if (column == NULL) return tacit_fail_memory(error);
    gather->column = column;
    double *value = tacit_grow(gather->value, capacity, sizeof *value);
    if (value == NULL) return tacit_fail_memory(error);
    gather->value = value;
    gather->entry_capacity = capacity;
    return TACIT_OK;
}

/* Not tacit_matrix_create: filling with zeros would touch all the memory before it is needed. */
static tacit_status make_matrix(tacit_matrix *out, size_t rows, size_t features, tacit_error *error) {
    double *values =
        rows <= SIZE_MAX / features ? tacit_allocate_aligned(rows * features, sizeof *values) : NULL;
    if (values == NULL) return tacit_fail_memory(error);
    *out = (tacit_matrix){ rows, features, values };
    return TACIT_OK;
}

tacit_status tacit_gather_expect(tacit_gather *gather, size_t rows, tacit_error *error) {
    if (gather->is_sparse || gather->bare) return TACIT_OK;
    if (is_too_much(gather, rows, gather->features * sizeof(double))) return spill_rows(gather, rows, error);
    return make_matrix(&gather->whole, rows, gather->features, error);
}

/* Where dense row `row` goes; blocks are added as needed. */
static tacit_status dense_place(tacit_gather *gather, size_t row, double **out, tacit_error *error) {
    if (row < gather->whole.rows) {
        *out = gather->whole.values + row * gather->features;
        return TACIT_OK;
    }
    size_t block = row / TACIT_GATHER_BLOCK;
    double **blocks = tacit_grow_by_one(gather->block, block, &gather->block_capacity, 16, sizeof *blocks);
    if (blocks == NULL) return tacit_fail_memory(error);
    gather->block = blocks;
    if (block == gather->block_count) {
        gather->block[block] = TACIT_NEW(double, TACIT_GATHER_BLOCK * gather->features);
        if (gather->block[block] == NULL) return tacit_fail_memory(error);
        gather->block_count++;
    }
    *out = gather->block[block] + row % TACIT_GATHER_BLOCK * gather->features;
    return TACIT_OK;
}

/* Remember which cells of a row are missing. Most files have none, and then nothing is kept. */
static tacit_status note_absent(tacit_gather *gather, const tacit_encoder *encoder, size_t row, size_t place,
                                tacit_error *error) {
    size_t bytes = gather->absent_bytes;
    if (place >= gather->absent_rows) {
        size_t rows = place + place / 2 + 64;
        uint8_t *grown = rows <= SIZE_MAX / bytes ? tacit_grow(gather->absent, rows, bytes) : NULL;
        if (grown == NULL) return tacit_fail_memory(error);
        memset(grown + gather->absent_rows * bytes, 0, (rows - gather->absent_rows) * bytes);
        gather->absent = grown;
        gather->absent_rows = rows;
    }
    tacit_encoder_absent(encoder, row, gather->absent + place * bytes);
    return TACIT_OK;
}

/* As many rows of it as there are. */
static tacit_status finish_absent(tacit_gather *gather, tacit_dataset *dataset, tacit_error *error) {
    size_t rows = gather->rows, bytes = gather->absent_bytes;
    if (gather->absent == NULL) return TACIT_OK;
    dataset->absent = TACIT_NEW(uint8_t, rows * bytes);
    if (dataset->absent == NULL) return tacit_fail_memory(error);
    memcpy(dataset->absent, gather->absent,
           (rows < gather->absent_rows ? rows : gather->absent_rows) * bytes);
    dataset->absent_bytes = bytes;
    return TACIT_OK;
}

static tacit_status note_missing(tacit_gather *gather, const tacit_encoder *encoder, tacit_error *error) {
    const uint32_t *columns;
    size_t count = tacit_encoder_missing(encoder, &columns);
    for (size_t k = 0; k < count; k++)
        TACIT_TRY(tacit_missing_cells_add(&gather->missing, gather->rows, columns[k], error));
    return TACIT_OK;
}

/* Of the row that was encoded last. */
static tacit_status keep_raw(tacit_gather *gather, const tacit_encoder *encoder, tacit_error *error) {
    const size_t columns = gather->raw_columns, row = gather->rows - 1;
    if (row == gather->raw_capacity) {
        const size_t rows = row + row / 2 + TACIT_GATHER_BLOCK;
        double *grown =
            rows <= SIZE_MAX / columns ? tacit_grow(gather->raw, rows * columns, sizeof *grown) : NULL;
        if (grown == NULL) return tacit_fail_memory(error);
        gather->raw = grown;
        gather->raw_capacity = rows;
    }
    tacit_encoder_raw(encoder, gather->raw + row * columns);
    return TACIT_OK;
}

/* Row `i` of the table, by itself. */
static tacit_status encode_row(tacit_gather *gather, tacit_encoder *encoder, size_t i, tacit_error *error) {
    const size_t row = gather->rows;
    const uint64_t missing = tacit_encoder_counts(encoder)->missing;
    if (gather->is_sparse) {
        TACIT_TRY(grow_entries(gather, gather->entries + tacit_encoder_entries(encoder), error));
        gather->start[row] = gather->entries;
        gather->entries += tacit_encode_sparse(encoder, i, gather->column + gather->entries,
                                               gather->value + gather->entries);
    } else {
        double *place = NULL;
        TACIT_TRY(dense_place(gather, row, &place, error));
        tacit_encode_dense(encoder, i, place);
    }
    if (gather->absent_bytes > 0 && tacit_encoder_counts(encoder)->missing > missing)
        TACIT_TRY(note_absent(gather, encoder, i, row, error));
    TACIT_TRY(note_missing(gather, encoder, error));
    gather->rows++;
    return gather->raw_columns > 0 ? keep_raw(gather, encoder, error) : TACIT_OK;
}

/* Dense rows: column by column those that lack nothing, as long as they lie together. */
static tacit_status encode_rows(tacit_gather *gather, tacit_encoder *encoder, size_t rows,
                                const bool *complete, tacit_error *error) {
    for (size_t i = 0, run; i < rows; i += run) {
        const size_t left = TACIT_GATHER_BLOCK - gather->rows % TACIT_GATHER_BLOCK;
        double *place = NULL;
        for (run = 0; i + run < rows && run < left && complete[i + run];) run++;
        if (run == 0) {
            TACIT_TRY(encode_row(gather, encoder, i, error));
            run = 1;
            continue;
        }
        TACIT_TRY(dense_place(gather, gather->rows, &place, error));
        tacit_encode_block(encoder, i, run, place);
        gather->rows += run;
    }
    return TACIT_OK;
}

static tacit_status encode_table(tacit_gather *gather, tacit_encoder *encoder, size_t rows,
                                 tacit_error *error) {
    if (gather->bare) {
        gather->rows += rows;
        return TACIT_OK;
    }
    const size_t all = gather->rows + rows;
    if (all > gather->whole.rows && !gather->is_sparse &&
        (gather->is_spilled || is_too_much(gather, all, gather->features * sizeof(double))))
        TACIT_TRY(spill_rows(gather, all, error));
    if (gather->is_sparse || !tacit_encoder_has_blocks(encoder)) {
        for (size_t i = 0; i < rows; i++) TACIT_TRY(encode_row(gather, encoder, i, error));
        return TACIT_OK;
    }
    bool *complete = TACIT_NEW(bool, rows);
    if (complete == NULL) return tacit_fail_memory(error);
    tacit_encoder_complete(encoder, rows, complete);
    tacit_status status = encode_rows(gather, encoder, rows, complete, error);
    free(complete);
    return status;
}

tacit_status tacit_gather_table(tacit_gather *gather, tacit_encoder *encoder, const tacit_table *table,
                                const int32_t *label, const double *const *response, const int32_t *group,
                                tacit_error *error) {
    const size_t before = gather->rows, columns = gather->response_columns;
    TACIT_TRY(grow_rows(gather, before + table->rows, error));
    TACIT_TRY(encode_table(gather, encoder, table->rows, error));
    pass_by(gather);
    for (size_t i = 0; i < table->rows; i++) {
        const size_t row = before + i;
        if (label != NULL) gather->label[row] = label[i];
        for (size_t k = 0; response != NULL && k < columns; k++)
            gather->response[row * columns + k] = response[k][i];
        if (group != NULL) gather->group[row] = group[i];
    }
    if (gather->has_identity && table->rows > 0)
        memcpy(gather->identity + before, table->identity, table->rows * sizeof *gather->identity);
    return TACIT_OK;
}

/* Blocks are freed as they are copied, so that memory peaks at one copy and a block. */
static tacit_status finish_dense(tacit_gather *gather, tacit_matrix *out, tacit_error *error) {
    if (gather->is_spilled) {
        *out = (tacit_matrix){ gather->rows, gather->features, gather->whole.values };
        gather->whole = (tacit_matrix)TACIT_MATRIX_INIT;
        return TACIT_OK;
    }
    if (gather->whole.values != NULL && gather->whole.rows == gather->rows) {
        *out = gather->whole;
        gather->whole = (tacit_matrix)TACIT_MATRIX_INIT;
        return TACIT_OK;
    }
    TACIT_TRY(make_matrix(out, gather->rows, gather->features, error));
    for (size_t block = 0; block < gather->block_count; block++) {
        size_t first = block * TACIT_GATHER_BLOCK, left = gather->rows - first;
        size_t rows = left < TACIT_GATHER_BLOCK ? left : TACIT_GATHER_BLOCK;
        memcpy(out->values + first * gather->features, gather->block[block],
               rows * gather->features * sizeof(double));
        free(gather->block[block]);
        gather->block[block] = NULL;
    }
    return TACIT_OK;
}

tacit_status tacit_gather_finish(tacit_gather *gather, tacit_dataset *dataset, tacit_error *error) {
    if (gather->bare) {
        dataset->dense = (tacit_matrix){ gather->rows, gather->features, NULL };
    } else if (gather->is_sparse) {
        gather->start[gather->rows] = gather->entries;
        dataset->sparse =
            (tacit_csr){ gather->rows, gather->features, gather->start, gather->column, gather->value };
        gather->start = NULL;
        gather->column = NULL;
        gather->value = NULL;
    } else {
        TACIT_TRY(finish_dense(gather, &dataset->dense, error));
    }
    for (size_t k = 0; k < TACIT_SPILLED_COUNT; k++) {
        dataset->spilled[k] = gather->spilled[k];
        gather->spilled[k] = (tacit_spill)TACIT_SPILL_INIT;
    }
    gather->is_spilled = false;
    TACIT_TRY(finish_absent(gather, dataset, error));
    dataset->is_sparse = gather->is_sparse && !gather->bare;
    dataset->rows = gather->rows;
    dataset->features = gather->features;
    if (gather->has_label) {
        dataset->label = gather->label;
        gather->label = NULL;
    }
    if (gather->has_response) {
        dataset->response = gather->response;
        dataset->response_columns = gather->response_columns;
        gather->response = NULL;
    }
    if (gather->has_group) {
        dataset->group = gather->group;
        gather->group = NULL;
    }
    dataset->identity = gather->identity;
    gather->identity = NULL;
    dataset->raw = gather->raw;
    dataset->raw_columns = gather->raw != NULL ? gather->raw_columns : 0;
    gather->raw = NULL;
    dataset->missing = gather->missing;
    gather->missing = (tacit_missing_cells){ .count = 0 };
    return TACIT_OK;
}

static void close_spilled(tacit_gather *gather) {
    const tacit_spill *spilled = gather->spilled;
    if (gather->is_spilled) {
        gather->whole = (tacit_matrix)TACIT_MATRIX_INIT;
        gather->value = NULL;
        gather->column = NULL;
    }
    if (spilled[TACIT_SPILLED_STARTS].address != NULL) gather->start = NULL;
    if (spilled[TACIT_SPILLED_LABELS].address != NULL) gather->label = NULL;
    if (spilled[TACIT_SPILLED_RESPONSES].address != NULL) gather->response = NULL;
    if (spilled[TACIT_SPILLED_GROUPS].address != NULL) gather->group = NULL;
    if (spilled[TACIT_SPILLED_IDENTITIES].address != NULL) gather->identity = NULL;
    for (size_t k = 0; k < TACIT_SPILLED_COUNT; k++) tacit_spill_close(&gather->spilled[k]);
}

void tacit_gather_clear(tacit_gather *gather) {
    if (gather == NULL) return;
    for (size_t i = 0; i < gather->block_count; i++) free(gather->block[i]);
    free(gather->block);
    close_spilled(gather);
    tacit_matrix_clear(&gather->whole);
    free(gather->label);
    free(gather->response);
    free(gather->group);
    free(gather->identity);
    free(gather->start);
    free(gather->column);
    free(gather->value);
    free(gather->absent);
    free(gather->raw);
    tacit_missing_cells_clear(&gather->missing);
    *gather = (tacit_gather){ 0 };
}
