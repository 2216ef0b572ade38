#include "data/points_bytes.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/points.h"

static const char MAGIC[] = "tacitpts";
enum { MAGIC_BYTES = 8, VERSION = 1, DENSE = 0, SPARSE = 1, HEADER_BYTES = 40 };

typedef struct header {
    uint32_t form;
    uint64_t rows, cols, numbers;
} header;

/* Bytes after the header; UINT64_MAX when there are more than the limit allows, without overflow on the
 * way. */
static uint64_t body_bytes(const header *head, uint32_t form) {
    uint64_t most = TACIT_POINTS_BYTES_LIMIT;
    if (head->rows > most || head->cols > most || head->numbers > most) return UINT64_MAX;
    uint64_t bytes = form == DENSE ? head->rows * head->cols * 8 : 4 * head->rows + 12 * head->numbers;
    return bytes <= most ? bytes : UINT64_MAX;
}

/* Which form these points have: there is only one. */
static uint32_t form_of(const header *head) {
    return body_bytes(head, SPARSE) < body_bytes(head, DENSE) ? SPARSE : DENSE;
}

/* Sparse is chosen only where it is shorter. */
size_t tacit_points_bytes_most(size_t rows, size_t cols) {
    header head = { .rows = rows, .cols = cols };
    uint64_t dense = body_bytes(&head, DENSE);
    return HEADER_BYTES + (size_t)(dense < TACIT_POINTS_BYTES_LIMIT ? dense : TACIT_POINTS_BYTES_LIMIT);
}

/* ---- writing ---- */

/* The stored entries of a view row: a whole dense row, or those of a sparse one. `column` is NULL for the
 * former. */
static size_t entries_of(const tacit_rows *rows, size_t i, const double **value, const uint32_t **column) {
    size_t stored = tacit_rows_stored(rows, i);
    if (rows->sparse == NULL) {
        *value = rows->dense + stored * rows->stride;
        *column = NULL;
        return rows->cols;
    }
    size_t begin = rows->sparse->start[stored];
    *value = rows->sparse->value + begin;
    *column = rows->sparse->column + begin;
    return rows->sparse->start[stored + 1] - begin;
}

static uint32_t numbers_of(const tacit_rows *rows, size_t i) {
    const double *value;
    const uint32_t *column;
    uint32_t numbers = 0;
    size_t entries = entries_of(rows, i, &value, &column);
    for (size_t k = 0; k < entries; k++) numbers += value[k] != 0;
    return numbers;
}

static tacit_status write_header(const header *head, tacit_buffer *out, tacit_error *error) {
    TACIT_TRY(tacit_buffer_append(out, MAGIC, MAGIC_BYTES, error));
    TACIT_TRY(tacit_buffer_append_u32(out, VERSION, error));
    TACIT_TRY(tacit_buffer_append_u32(out, head->form, error));
    TACIT_TRY(tacit_buffer_append_u64(out, head->rows, error));
    TACIT_TRY(tacit_buffer_append_u64(out, head->cols, error));
    return tacit_buffer_append_u64(out, head->numbers, error);
}

static tacit_status write_dense(const tacit_rows *rows, tacit_buffer *out, tacit_error *error) {
    double *row = TACIT_NEW(double, rows->cols);
    tacit_status status = row != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t i = 0; i < rows->count && status == TACIT_OK; i++) {
        tacit_rows_copy(rows, i, row);
        for (size_t j = 0; j < rows->cols && status == TACIT_OK; j++)
            status = tacit_buffer_append_double(out, row[j] + 0.0, error); /* -0 + 0 is 0 */
    }
    free(row);
    return status;
}

static tacit_status write_sparse(const tacit_rows *rows, tacit_buffer *out, tacit_error *error) {
    const double *value;
    const uint32_t *column;
    for (size_t i = 0; i < rows->count; i++)
        TACIT_TRY(tacit_buffer_append_u32(out, numbers_of(rows, i), error));
    for (size_t i = 0; i < rows->count; i++) {
        size_t entries = entries_of(rows, i, &value, &column);
        for (size_t k = 0; k < entries; k++)
            if (value[k] != 0)
                TACIT_TRY(tacit_buffer_append_u32(out, column != NULL ? column[k] : (uint32_t)k, error));
    }
    for (size_t i = 0; i < rows->count; i++) {
        size_t entries = entries_of(rows, i, &value, &column);
        for (size_t k = 0; k < entries; k++)
            if (value[k] != 0) TACIT_TRY(tacit_buffer_append_double(out, value[k], error));
    }
    return TACIT_OK;
}

tacit_status tacit_points_encode(const tacit_rows *rows, tacit_buffer *out, tacit_error *error) {
    header head = { .rows = rows->count, .cols = rows->cols };
    TACIT_TRY(tacit_points_check(rows, error));
    for (size_t i = 0; i < rows->count; i++) head.numbers += numbers_of(rows, i);
    head.form = form_of(&head);
    uint64_t bytes = body_bytes(&head, head.form);
    if (bytes == UINT64_MAX)
        return tacit_fail(error, TACIT_LIMIT,
                          "%zu auxiliary points of %zu numbers take more than %d MiB: use fewer", rows->count,
                          rows->cols, TACIT_POINTS_BYTES_LIMIT >> 20);
    uint8_t *room;
    TACIT_TRY(tacit_buffer_reserve(out, HEADER_BYTES + (size_t)bytes, &room, error));
    TACIT_TRY(write_header(&head, out, error));
    return head.form == DENSE ? write_dense(rows, out, error) : write_sparse(rows, out, error);
}

/* ---- reading ---- */

static tacit_status damaged(tacit_error *error, const char *why) {
    return tacit_fail(error, TACIT_INPUT, "these are not the bytes of auxiliary points: %s", why);
}

/* On success exactly the body is left. */
static tacit_status read_header(header *out, tacit_cursor *bytes, tacit_error *error) {
    const uint8_t *magic;
    uint32_t version;
    if (!tacit_cursor_skip(bytes, &magic, MAGIC_BYTES) || memcmp(magic, MAGIC, MAGIC_BYTES) != 0 ||
        !tacit_cursor_read_u32(bytes, &version))
        return damaged(error, "they begin otherwise");
    if (version != VERSION)
        return tacit_fail(error, TACIT_INPUT,
                          "the auxiliary points are written in version %u, and this program reads version "
                          "%d: update the older of the two",
                          version, VERSION);
    if (!tacit_cursor_read_u32(bytes, &out->form) || !tacit_cursor_read_u64(bytes, &out->rows) ||
        !tacit_cursor_read_u64(bytes, &out->cols) || !tacit_cursor_read_u64(bytes, &out->numbers))
        return damaged(error, "the header is cut off");
    if (out->rows == 0 || out->cols == 0) return damaged(error, "there are none");
    if (out->form > SPARSE || out->form != form_of(out)) return damaged(error, "their form is not the usual");
    if (body_bytes(out, out->form) != bytes->left)
        return damaged(error, "there are more or fewer than the header says");
    return TACIT_OK;
}

static tacit_status read_dense(tacit_matrix *out, const header *head, tacit_cursor *bytes,
                               tacit_error *error) {
    uint64_t numbers = 0;
    TACIT_TRY(tacit_matrix_create(out, (size_t)head->rows, (size_t)head->cols, error));
    for (size_t k = 0; k < out->rows * out->cols; k++) {
        double value = NAN;
        if (!tacit_cursor_read_double(bytes, &value) || !isfinite(value) || (value == 0 && signbit(value)))
            return damaged(error, "a number is not finite, or a negative 0");
        out->values[k] = value;
        numbers += value != 0;
    }
    return numbers == head->numbers ? TACIT_OK : damaged(error, "the count of numbers is wrong");
}

/* The counts of all rows, as offsets. */
static tacit_status read_starts(tacit_csr *out, const header *head, tacit_cursor *bytes, tacit_error *error) {
    uint64_t sum = 0;
    for (size_t i = 0; i < out->rows; i++) {
        uint32_t count = 0;
        out->start[i] = (size_t)sum;
        if (!tacit_cursor_read_u32(bytes, &count) || count > out->cols)
            return damaged(error, "a row has more numbers than columns");
        sum += count;
    }
    out->start[out->rows] = (size_t)sum;
    return sum == head->numbers ? TACIT_OK : damaged(error, "the count of numbers is wrong");
}

static tacit_status read_sparse(tacit_csr *out, const header *head, tacit_cursor *bytes, tacit_error *error) {
    TACIT_TRY(tacit_csr_create(out, (size_t)head->rows, (size_t)head->cols, (size_t)head->numbers, error));
    TACIT_TRY(read_starts(out, head, bytes, error));
    for (size_t i = 0; i < out->rows; i++)
        for (size_t k = out->start[i]; k < out->start[i + 1]; k++) {
            if (!tacit_cursor_read_u32(bytes, &out->column[k]) || out->column[k] >= out->cols ||
                (k > out->start[i] && out->column[k] <= out->column[k - 1]))
                return damaged(error, "the columns of a row do not ascend, or there are fewer");
        }
    for (size_t k = 0; k < head->numbers; k++)
        if (!tacit_cursor_read_double(bytes, &out->value[k]) || !isfinite(out->value[k]) ||
            out->value[k] == 0)
            return damaged(error, "a number is 0 or not finite");
    return TACIT_OK;
}

tacit_status tacit_points_decode(tacit_dataset **out, const uint8_t *bytes, size_t length,
                                 tacit_error *error) {
    tacit_cursor cursor = tacit_cursor_over(bytes, length);
    header head = { .form = DENSE };
    TACIT_TRY(read_header(&head, &cursor, error));
    tacit_dataset *points = TACIT_NEW(tacit_dataset, 1);
    if (points == NULL) return tacit_fail_memory(error);
    points->rows = (size_t)head.rows;
    points->features = (size_t)head.cols;
    points->is_sparse = head.form == SPARSE;
    tacit_status status = points->is_sparse ? read_sparse(&points->sparse, &head, &cursor, error)
                                            : read_dense(&points->dense, &head, &cursor, error);
    if (status == TACIT_OK) {
        tacit_rows rows = tacit_dataset_rows(points);
        status = tacit_points_check(&rows, error);
    }
    if (status == TACIT_OK)
        *out = points;
    else
        tacit_dataset_free(points);
    return status;
}
