/* From numbers in memory to rows inside the unit ball: the same that reading them from a file by the same
 * schema would give. */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "api/frame/frame.h"
#include "base/memory.h"
#include "num/kernel/kernel.h"

enum { BLOCK_ROWS = 64 };

#define INFINITE "row %zu, column %.60s: infinite; NaN stands for a missing value"

/* ---- reading ---- */

static inline double element(const tacit_frame *frame, size_t i, size_t j) {
    const char *at = frame->values + (ptrdiff_t)i * frame->row_bytes + (ptrdiff_t)j * frame->column_bytes;
    if (frame->type == TACIT_NUMBER_DOUBLE) {
        double value;
        memcpy(&value, at, sizeof value); /* a slice need not be aligned */
        return value;
    }
    float value;
    memcpy(&value, at, sizeof value);
    return (double)value;
}

/* In the order in which they lie: rows first, or a column of the block after the other. */
static void gather_dense(const tacit_frame *frame, size_t first, size_t count, double *out) {
    const size_t columns = frame->columns;
    const ptrdiff_t along = frame->column_bytes < 0 ? -frame->column_bytes : frame->column_bytes;
    const ptrdiff_t down = frame->row_bytes < 0 ? -frame->row_bytes : frame->row_bytes;
    if (frame->type == TACIT_NUMBER_DOUBLE && frame->column_bytes == sizeof *out) {
        for (size_t i = 0; i < count; i++)
            memcpy(out + i * columns, frame->values + (ptrdiff_t)(first + i) * frame->row_bytes,
                   columns * sizeof *out);
    } else if (along <= down) {
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < columns; j++) out[i * columns + j] = element(frame, first + i, j);
    } else {
        for (size_t j = 0; j < columns; j++)
            for (size_t i = 0; i < count; i++) out[i * columns + j] = element(frame, first + i, j);
    }
}

static void gather_sparse(const tacit_frame *frame, size_t first, size_t count, double *out) {
    const size_t columns = frame->columns;
    memset(out, 0, count * columns * sizeof *out);
    for (size_t i = 0; i < count; i++) {
        int64_t end = frame_index(frame->start, frame->index, first + i + 1);
        for (int64_t k = frame_index(frame->start, frame->index, first + i); k < end; k++)
            out[i * columns + (size_t)frame_index(frame->column, frame->index, (size_t)k)] = frame->value[k];
    }
}

/* Rows of doubles that lie next to each other need not be copied first: where row i is, and how many doubles
 * there are to the next; else NULL. */
static const double *frame_rows_at(const tacit_frame *frame, size_t i, ptrdiff_t *step) {
    bool fit = frame->kind == FRAME_DENSE && frame->type == TACIT_NUMBER_DOUBLE &&
               frame->column_bytes == sizeof(double) && (uintptr_t)frame->values % sizeof(double) == 0 &&
               frame->row_bytes % (ptrdiff_t)sizeof(double) == 0;
    if (!fit) return NULL;
    *step = frame->row_bytes / (ptrdiff_t)sizeof(double);
    return (const double *)(const void *)frame->values + (ptrdiff_t)i * *step;
}

static tacit_status fail_infinite(const tacit_frame *frame, size_t row, const double *raw,
                                  tacit_error *error) {
    char name[32];
    size_t column = 0;
    while (column + 1 < frame->columns && !isinf(raw[column])) column++;
    return tacit_fail(error, TACIT_INPUT, INFINITE, row + 1, frame_column_name(frame, column, name));
}

static void gather(const tacit_frame *frame, size_t first, size_t count, double *out) {
    if (frame->kind == FRAME_SPARSE)
        gather_sparse(frame, first, count, out);
    else
        gather_dense(frame, first, count, out);
}

tacit_status frame_gather(const tacit_frame *frame, size_t first, size_t count, double *out,
                          tacit_error *error) {
    gather(frame, first, count, out);
    for (size_t i = 0; i < count; i++) {
        const double *row = out + i * frame->columns;
        for (size_t j = 0; j < frame->columns; j++)
            if (isinf(row[j])) return fail_infinite(frame, first + i, row, error);
    }
    return TACIT_OK;
}

static tacit_status refuse_missing(const tacit_frame *frame, size_t row, size_t column, tacit_error *error) {
    char name[32];
    return tacit_fail(error, TACIT_INPUT, "row %zu, column %.60s: NaN, and missing values are refused here",
                      row + 1, frame_column_name(frame, column, name));
}

/* A frame has as many rows as its caller has labels, so that one that is incomplete is not left out here. */
static tacit_status check_columns(const tacit_frame *frame, const tacit_schema *schema, tacit_error *error) {
    char name[32];
    bool refused = frame->complete;
    for (size_t i = 0; i < schema->cols && !refused; i++) {
        const tacit_missing what = tacit_schema_missing(schema, &schema->columns[i]);
        refused = what == TACIT_MISSING_ERROR || what == TACIT_MISSING_COMPLETE_CASE ||
                  what == TACIT_MISSING_IMPUTE;
    }
    for (size_t row = 0; refused && row < frame->rows; row++) {
        size_t next = 0;
        for (size_t i = 0; i < schema->cols; i++) {
            const tacit_missing what = tacit_schema_missing(schema, &schema->columns[i]);
            if (schema->columns[i].kind == TACIT_SCHEMA_SKIP) continue;
            if (!isnan(element(frame, row, next++))) continue;
            if (frame->complete || what == TACIT_MISSING_ERROR || what == TACIT_MISSING_IMPUTE)
                return refuse_missing(frame, row, next - 1, error);
            if (what == TACIT_MISSING_COMPLETE_CASE)
                return tacit_fail(error, TACIT_INPUT,
                                  "row %zu, column %.60s: NaN, and the schema leaves such rows out (missing: "
                                  "complete-case): remove them from the frame, or load it from a file",
                                  row + 1, frame_column_name(frame, next - 1, name));
        }
    }
    return TACIT_OK;
}

tacit_status frame_check_complete(const tacit_frame *frame, const tacit_schema *schema, size_t missing,
                                  tacit_error *error) {
    size_t row = 0;
    if (missing == 0) return TACIT_OK;
    if (schema->sparse == 0 && frame->kind != FRAME_SPARSE) return check_columns(frame, schema, error);
    if (!frame->complete && !schema->missing_is_error && !schema->complete_case && !schema->imputes)
        return TACIT_OK;
    if (frame->kind == FRAME_SPARSE) {
        int64_t k = frame_index(frame->start, frame->index, 0);
        while (!isnan(frame->value[k])) k++;
        while (frame_index(frame->start, frame->index, row + 1) <= k) row++;
        return refuse_missing(frame, row, (size_t)frame_index(frame->column, frame->index, (size_t)k), error);
    }
    size_t column = 0;
    while (!isnan(element(frame, row, column))) {
        column = (column + 1) % frame->columns;
        row += column == 0;
    }
    return refuse_missing(frame, row, column, error);
}

/* ---- dense rows ---- */

typedef struct encoding {
    const tacit_frame *frame;
    const frame_map *map;
    double *out;
    double *block;               /* of each worker: raw rows */
    tacit_encode_counts *counts; /* of each worker */
} encoding;

static tacit_status encode_rows(void *context, size_t begin, size_t end, unsigned worker,
                                tacit_error *error) {
    const encoding *all = context;
    const size_t columns = all->frame->columns;
    double *block = all->block + worker * BLOCK_ROWS * columns;
    for (size_t i = begin; i < end; i += BLOCK_ROWS) {
        size_t count = end - i < BLOCK_ROWS ? end - i : BLOCK_ROWS;
        ptrdiff_t step = 0;
        const double *raw = frame_rows_at(all->frame, i, &step);
        if (raw == NULL) {
            gather(all->frame, i, count, block);
            raw = block;
            step = (ptrdiff_t)columns;
        }
        for (size_t r = 0; r < count; r++)
            if (!frame_map_row(all->map, raw + (ptrdiff_t)r * step, all->out + (i + r) * all->map->features,
                               &all->counts[worker]))
                return fail_infinite(all->frame, i + r, raw + (ptrdiff_t)r * step, error);
    }
    return TACIT_OK;
}

static void add_counts(tacit_encode_counts *to, const tacit_encode_counts *from) {
    to->rows += from->rows;
    to->outside_bounds += from->outside_bounds;
    to->missing += from->missing;
    to->shortened_rows += from->shortened_rows;
}

/* Not zero-filled first: every element is written. */
static tacit_status create_matrix(tacit_matrix *out, size_t rows, size_t cols, tacit_error *error) {
    if (cols > 0 && rows > SIZE_MAX / cols) return tacit_fail_memory(error);
    out->values = tacit_allocate_aligned(rows * cols, sizeof *out->values);
    if (out->values == NULL) return tacit_fail_memory(error);
    out->rows = rows;
    out->cols = cols;
    return TACIT_OK;
}

static tacit_status encode_dense(tacit_dataset *data, const tacit_frame *frame, const frame_map *map,
                                 tacit_pool *pool, tacit_error *error) {
    const size_t workers = tacit_pool_threads(pool);
    encoding all = { .frame = frame,
                     .map = map,
                     .block = TACIT_NEW(double, workers * frame->columns * BLOCK_ROWS),
                     .counts = TACIT_NEW(tacit_encode_counts, workers) };
    tacit_status status = TACIT_OK;
    if (all.block == NULL || all.counts == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(create_matrix(&data->dense, frame->rows, map->features, error));
    all.out = data->dense.values;
    TACIT_CHECK(tacit_pool_for(pool, frame->rows, 0, encode_rows, &all, error));
    for (size_t w = 0; w < workers; w++) add_counts(&data->counts, &all.counts[w]);
cleanup:
    free(all.block);
    free(all.counts);
    return status;
}

/* ---- rows used where they lie ---- */

typedef struct looking {
    const tacit_frame *frame;
    double most; /* a norm that stays within the ball in any order of summation (data/encode.h) */
    bool *fits;  /* of each worker */
    const tacit_kernels *kernels;
} looking;

static tacit_status look_at_rows(void *context, size_t begin, size_t end, unsigned worker,
                                 tacit_error *error) {
    const looking *all = context;
    const size_t columns = all->frame->columns;
    for (size_t i = begin; i < end && all->fits[worker]; i++) {
        const double *row =
            (const double *)(const void *)(all->frame->values + (ptrdiff_t)i * all->frame->row_bytes);
        double square = 0;
        all->kernels->dot_rows(&row, 1, columns, row, &square);
        for (size_t j = 0; isinf(square) && j < columns; j++)
            if (isinf(row[j])) return fail_infinite(all->frame, i, row, error);
        if (!(sqrt(square) <= all->most)) all->fits[worker] = false; /* also with a NaN in it */
    }
    return TACIT_OK;
}

static bool could_lie(const tacit_frame *frame, const tacit_schema *schema) {
    const tacit_schema_column *first = schema->columns;
    if (schema->formula != NULL) return false;
    bool as_it_is = schema->sparse > 0 || (first != NULL && first->sd == 1 && frame->scaling == SCALE_NORM);
    return as_it_is && !schema->intercept && schema->rows == TACIT_ROWS_CLIP && schema->clip == 1;
}

/* Can a dense frame be used as it is? */
static tacit_status can_lie(bool *out, const tacit_frame *frame, const frame_map *map, tacit_pool *pool,
                            tacit_error *error) {
    const size_t workers = tacit_pool_threads(pool);
    bool packed = frame->type == TACIT_NUMBER_DOUBLE && frame->column_bytes == sizeof(double) &&
                  frame->row_bytes == (ptrdiff_t)(frame->columns * sizeof(double)) &&
                  (uintptr_t)frame->values % sizeof(double) == 0;
    *out = false;
    if (frame->kind != FRAME_DENSE || !could_lie(frame, map->schema) || !packed) return TACIT_OK;
    looking all = { frame, map->inside, TACIT_NEW(bool, workers), tacit_kernels_choose() };
    if (all.fits == NULL) return tacit_fail_memory(error);
    memset(all.fits, true, workers * sizeof *all.fits);
    tacit_status status = tacit_pool_for(pool, frame->rows, 0, look_at_rows, &all, error);
    bool fits = true;
    for (size_t w = 0; w < workers; w++) fits = fits && all.fits[w];
    *out = fits;
    free(all.fits);
    return status;
}

static tacit_status make_dense(tacit_dataset *data, const tacit_frame *frame, const frame_map *map,
                               tacit_pool *pool, tacit_error *error) {
    bool lies = false;
    TACIT_TRY(can_lie(&lies, frame, map, pool, error));
    if (!lies) return encode_dense(data, frame, map, pool, error);
    data->lent |= TACIT_LENT_VALUES;
    data->dense = (tacit_matrix){ frame->rows, frame->columns, (double *)(uintptr_t)frame->values };
    data->counts.rows = frame->rows;
    return TACIT_OK;
}

/* ---- sparse rows ---- */

typedef struct entry {
    uint32_t column;
    double value;
} entry;

static int compare_entries(const void *a, const void *b) {
    uint32_t x = ((const entry *)a)->column, y = ((const entry *)b)->column;
    return (x > y) - (x < y);
}

/* What all rows have in common, found before anything is copied. */
typedef struct sparse_look {
    bool sorted; /* columns ascend within every row */
    bool inside; /* every row is, without NaN */
    size_t longest;
} sparse_look;

static tacit_status look_at_sparse(sparse_look *out, const tacit_frame *frame, double most,
                                   tacit_error *error) {
    char name[32];
    *out = (sparse_look){ true, true, 0 };
    int64_t from = frame_index(frame->start, frame->index, 0);
    for (size_t i = 0; i < frame->rows; i++) {
        int64_t to = frame_index(frame->start, frame->index, i + 1), before = -1;
        double square = 0;
        for (int64_t k = from; k < to; k++) {
            int64_t column = frame_index(frame->column, frame->index, (size_t)k);
            if (isinf(frame->value[k]))
                return tacit_fail(error, TACIT_INPUT, INFINITE, i + 1,
                                  frame_column_name(frame, (size_t)column, name));
            if (!(fabs(frame->value[k]) <= 1e100) && !isnan(frame->value[k]))
                return tacit_fail(error, TACIT_INPUT, "row %zu: the values are larger than 1e100", i + 1);
            square += frame->value[k] * frame->value[k];
            out->sorted = out->sorted && column > before;
            before = column;
        }
        out->inside = out->inside && sqrt(square) <= most;
        if ((size_t)(to - from) > out->longest) out->longest = (size_t)(to - from);
        from = to;
    }
    return TACIT_OK;
}

/* One row, in ascending order of columns and without missing values, scaled. */
static size_t encode_entries(const tacit_frame *frame, const tacit_schema *schema, size_t row, entry *scratch,
                             bool sorted, tacit_encode_counts *counts) {
    int64_t from = frame_index(frame->start, frame->index, row),
            to = frame_index(frame->start, frame->index, row + 1);
    size_t count = 0;
    double square = 0;
    for (int64_t k = from; k < to; k++) {
        double value = isnan(frame->value[k]) ? 0 : frame->value[k];
        counts->missing += isnan(frame->value[k]);
        scratch[count++] = (entry){ (uint32_t)frame_index(frame->column, frame->index, (size_t)k), value };
        square += value * value;
    }
    if (!sorted) qsort(scratch, count, sizeof *scratch, compare_entries);
    double factor = tacit_schema_row_factor(schema, sqrt(square), counts);
    for (size_t k = 0; k < count; k++) scratch[k].value *= factor;
    return count;
}

static tacit_status copy_sparse(tacit_dataset *data, const tacit_frame *frame, const tacit_schema *schema,
                                const sparse_look *look, tacit_error *error) {
    int64_t base = frame_index(frame->start, frame->index, 0);
    size_t entries = (size_t)(frame_index(frame->start, frame->index, frame->rows) - base) +
                     (schema->intercept ? frame->rows : 0);
    entry *scratch = TACIT_NEW(entry, look->longest + 1);
    if (scratch == NULL) return tacit_fail_memory(error);
    tacit_status status =
        tacit_csr_create(&data->sparse, frame->rows, tacit_schema_features(schema), entries, error);
    size_t at = 0;
    for (size_t i = 0; status == TACIT_OK && i < frame->rows; i++) {
        size_t count = encode_entries(frame, schema, i, scratch, look->sorted, &data->counts);
        data->sparse.start[i] = at;
        if (schema->intercept)
            scratch[count++] = (entry){ (uint32_t)schema->sparse, tacit_schema_intercept_value(schema) };
        for (size_t k = 0; k < count; k++) {
            data->sparse.column[at] = scratch[k].column;
            data->sparse.value[at++] = scratch[k].value;
        }
    }
    if (status == TACIT_OK) data->sparse.start[frame->rows] = at;
    free(scratch);
    return status;
}

/* Values where they lie; of the indexes those whose type is right. */
static tacit_status lend_sparse(tacit_dataset *data, const tacit_frame *frame, tacit_error *error) {
    tacit_csr *csr = &data->sparse;
    int64_t base = frame_index(frame->start, frame->index, 0);
    size_t entries = (size_t)(frame_index(frame->start, frame->index, frame->rows) - base);
    csr->rows = frame->rows;
    csr->cols = frame->columns;
    csr->value = (double *)(uintptr_t)(frame->value + base);
    data->lent |= TACIT_LENT_VALUES;
    if (frame->index == TACIT_INDEX_INT32) {
        csr->column = (uint32_t *)(uintptr_t)((const int32_t *)frame->column + base);
        data->lent |= TACIT_LENT_COLUMNS;
    } else {
        csr->column = TACIT_NEW(uint32_t, entries);
        if (csr->column == NULL) return tacit_fail_memory(error);
        for (size_t k = 0; k < entries; k++)
            csr->column[k] = (uint32_t)((const int64_t *)frame->column)[(size_t)base + k];
    }
    if (frame->index == TACIT_INDEX_INT64 && base == 0) {
        csr->start = (size_t *)(uintptr_t)frame->start;
        data->lent |= TACIT_LENT_STARTS;
        return TACIT_OK;
    }
    csr->start = TACIT_NEW(size_t, frame->rows + 1);
    if (csr->start == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i <= frame->rows; i++)
        csr->start[i] = (size_t)(frame_index(frame->start, frame->index, i) - base);
    return TACIT_OK;
}

static tacit_status make_sparse(tacit_dataset *data, const tacit_frame *frame, const tacit_schema *schema,
                                tacit_error *error) {
    sparse_look look;
    data->is_sparse = true;
    TACIT_TRY(look_at_sparse(&look, frame, tacit_schema_intercept_value(schema), error));
    data->counts.rows = frame->rows;
    if (could_lie(frame, schema) && look.sorted && look.inside) return lend_sparse(data, frame, error);
    return copy_sparse(data, frame, schema, &look, error);
}

/* ---- identities ---- */

/* A hash of a row's raw numbers and its label. */
static tacit_status identify(tacit_dataset *data, const tacit_frame *frame, tacit_error *error) {
    static const uint8_t key[crypto_shorthash_KEYBYTES]; /* as in data/table.c */
    const size_t columns = frame->columns;
    double *row = TACIT_NEW(double, columns + 4);
    tacit_status status = TACIT_OK;
    data->identity = TACIT_NEW(uint64_t, frame->rows);
    if (row == NULL || data->identity == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t i = 0; i < frame->rows; i++) {
        gather(frame, i, 1, row);
        row[columns] = frame->label != NULL ? frame->label[i] : 0;
        row[columns + 1] = frame->response != NULL ? frame->response[i] : 0;
        row[columns + 2] = frame->event != NULL ? frame->event[i] : 0;
        row[columns + 3] = frame->entry != NULL ? frame->entry[i] : 0;
        const size_t parts = columns + (frame->event != NULL ? 4 : 2);
        crypto_shorthash((uint8_t *)&data->identity[i], (const uint8_t *)row, parts * sizeof *row, key);
    }
cleanup:
    free(row);
    return status;
}

/* ---- all of it ---- */

static tacit_status read_file(tacit_dataset **out, const tacit_frame *frame, const tacit_schema *schema,
                              frame_need need, tacit_error *error) {
    if (schema == frame->schema) {
        tacit_dataset *lent = TACIT_NEW(tacit_dataset, 1);
        if (lent == NULL) return tacit_fail_memory(error);
        *lent = *frame->data;
        lent->lent = TACIT_LENT_ALL;
        *out = lent;
        return TACIT_OK;
    }
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    options.no_header = frame->no_header;
    options.group = need != NEED_ROWS ? frame->group : NULL;
    options.label_optional = options.label_ignored = need == NEED_ROWS;
    options.identified = need == NEED_IDENTITY;
    tacit_dataset *data = NULL;
    TACIT_TRY(frame_read(&data, NULL, frame, schema, &options, error));
    const bool part = schema->subset != NULL || data->rows + data->counts.left_out == frame->rows;
    if (data->rows == frame->rows ||   /* callers who predict have room for as many; */
        (need != NEED_ROWS && part)) { /* a part of them trains or judges */
        *out = data;
        return TACIT_OK;
    }
    size_t rows = data->rows;
    uint64_t left_out = data->counts.left_out;
    tacit_dataset_free(data);
    if (rows + left_out == frame->rows)
        return tacit_fail(
            error, TACIT_INPUT,
            "%llu rows of %s are incomplete, and the model's schema leaves such rows out: load the "
            "file with that schema, or remove them",
            (unsigned long long)left_out, frame->path);
    if (frame->schema != NULL && frame->schema->subset != NULL)
        return tacit_fail(
            error, TACIT_USAGE,
            "the frame has the rows of a subset of %s, and a prediction is made of every row of a "
            "file: load it without a subset",
            frame->path);
    return tacit_fail(error, TACIT_INPUT,
                      "%s has changed since it was loaded, from %zu rows to %zu: load it again", frame->path,
                      frame->rows, rows);
}

static tacit_status encode_memory(tacit_dataset **out, const tacit_frame *frame, const tacit_schema *schema,
                                  frame_need need, tacit_pool *pool, tacit_error *error) {
    frame_map map = FRAME_MAP_INIT;
    tacit_dataset *data = NULL;
    tacit_status status;
    TACIT_TRY(frame_map_create(&map, schema, frame, error));
    data = TACIT_NEW(tacit_dataset, 1);
    if (data == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(tacit_dataset_describe(data, schema, error));
    data->rows = frame->rows;
    data->lent = TACIT_LENT_LABELS;
    TACIT_CHECK(frame->kind == FRAME_SPARSE && schema->sparse > 0
                    ? make_sparse(data, frame, schema, error)
                    : make_dense(data, frame, &map, pool, error));
    TACIT_CHECK(frame_check_complete(frame, schema, data->counts.missing, error));
    if (need != NEED_ROWS) TACIT_CHECK(frame_set_labels(data, frame, schema, error));
    if (need == NEED_IDENTITY) TACIT_CHECK(identify(data, frame, error));
    data->group = (int32_t *)(uintptr_t)frame->party;
    *out = data;
    data = NULL;
cleanup:
    tacit_dataset_free(data);
    frame_map_clear(&map);
    return status;
}

tacit_status frame_encode(tacit_dataset **out, const tacit_frame *frame, const tacit_schema *schema,
                          frame_need need, tacit_pool *pool, tacit_error *error) {
    frame_picked picked = FRAME_PICKED_INIT;
    if (frame_has_source(frame)) return read_file(out, frame, schema, need, error);
    if (schema->subset == NULL || need == NEED_ROWS)
        return encode_memory(out, frame, schema, need, pool, error);
    frame_map map = FRAME_MAP_INIT; /* whether the columns are those of the schema */
    TACIT_TRY(frame_map_create(&map, schema, frame, error));
    frame_map_clear(&map);
    TACIT_TRY(frame_pick(&picked, frame, schema, error));
    tacit_status status = encode_memory(out, &picked.frame, schema, need, pool, error);
    if (status == TACIT_OK) {
        (*out)->counts.outside = frame->rows - picked.frame.rows;
        frame_picked_give(&picked, *out);
    }
    frame_picked_clear(&picked);
    return status;
}
