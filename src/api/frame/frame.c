#include "api/frame/frame.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* ---- making ---- */

/* No smaller than what a schema and a view can address. */
static tacit_status check_size(size_t rows, size_t columns, tacit_error *error) {
    if (rows == 0 || columns == 0) return tacit_fail(error, TACIT_USAGE, "a frame needs rows and columns");
    if (rows > UINT32_MAX) return tacit_fail(error, TACIT_LIMIT, "a frame has at most 2^32 - 1 rows");
    if (columns >= TACIT_FEATURE_LIMIT)
        return tacit_fail(error, TACIT_LIMIT, "a frame has at most %d columns", TACIT_FEATURE_LIMIT - 1);
    return TACIT_OK;
}

tacit_status tacit_frame_dense(tacit_frame **out, const void *values, tacit_number_type type, size_t rows,
                               size_t columns, ptrdiff_t row_bytes, ptrdiff_t column_bytes,
                               tacit_error *error) {
    TACIT_TRY(tacit_require(out, "where to put the result", error));
    if (values == NULL) return tacit_fail(error, TACIT_USAGE, "a frame needs its values");
    if (type != TACIT_NUMBER_DOUBLE && type != TACIT_NUMBER_FLOAT)
        return tacit_fail(error, TACIT_USAGE, "a frame's numbers are of type double or float");
    TACIT_TRY(check_size(rows, columns, error));
    tacit_frame *frame = TACIT_NEW(tacit_frame, 1);
    if (frame == NULL) return tacit_fail_memory(error);
    frame->kind = FRAME_DENSE;
    frame->rows = rows;
    frame->columns = columns;
    frame->values = values;
    frame->type = type;
    frame->row_bytes = row_bytes;
    frame->column_bytes = column_bytes;
    *out = frame;
    return TACIT_OK;
}

/* Offsets ascend from 0 or above: before that is known, no entry may be read. */
static tacit_status check_starts(const void *start, tacit_index_type type, size_t rows, tacit_error *error) {
    if (frame_index(start, type, 0) < 0) return tacit_fail(error, TACIT_INPUT, "the first start is below 0");
    for (size_t i = 0; i < rows; i++)
        if (frame_index(start, type, i + 1) < frame_index(start, type, i))
            return tacit_fail(error, TACIT_INPUT, "row %zu ends before it starts: starts must ascend", i + 1);
    return TACIT_OK;
}

/* Columns are there, and none twice in a row: `seen` remembers the last row that had a column. */
static tacit_status check_columns(const tacit_frame *frame, uint32_t *seen, tacit_error *error) {
    int64_t k = frame_index(frame->start, frame->index, 0);
    for (size_t i = 0; i < frame->rows; i++) {
        int64_t end = frame_index(frame->start, frame->index, i + 1);
        for (; k < end; k++) {
            int64_t j = frame_index(frame->column, frame->index, (size_t)k);
            if (j < 0 || (uint64_t)j >= frame->columns)
                return tacit_fail(error, TACIT_INPUT, "row %zu names column %lld, and there are %zu from 0",
                                  i + 1, (long long)j, frame->columns);
            if (seen[j] == i + 1)
                return tacit_fail(error, TACIT_INPUT, "row %zu has column %lld twice", i + 1, (long long)j);
            seen[j] = (uint32_t)(i + 1);
        }
    }
    return TACIT_OK;
}

tacit_status tacit_frame_sparse(tacit_frame **out, const double *value, const void *column, const void *start,
                                tacit_index_type type, size_t rows, size_t columns, tacit_error *error) {
    TACIT_TRY(tacit_require(out, "where to put the result", error));
    if (start == NULL) return tacit_fail(error, TACIT_USAGE, "a sparse frame needs the starts of its rows");
    if (type != TACIT_INDEX_INT32 && type != TACIT_INDEX_INT64)
        return tacit_fail(error, TACIT_USAGE, "indexes are int32 or int64");
    TACIT_TRY(check_size(rows, columns, error));
    TACIT_TRY(check_starts(start, type, rows, error));
    bool entries = frame_index(start, type, rows) > frame_index(start, type, 0);
    if (entries && (value == NULL || column == NULL))
        return tacit_fail(error, TACIT_USAGE, "a sparse frame needs values and their columns");
    tacit_frame *frame = TACIT_NEW(tacit_frame, 1);
    uint32_t *seen = TACIT_NEW(uint32_t, columns);
    tacit_status status = frame != NULL && seen != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK) {
        frame->kind = FRAME_SPARSE;
        frame->rows = rows;
        frame->columns = columns;
        frame->value = value;
        frame->column = column;
        frame->start = start;
        frame->index = type;
        status = check_columns(frame, seen, error);
    }
    free(seen);
    if (status != TACIT_OK)
        tacit_frame_free(frame);
    else
        *out = frame;
    return status;
}

static void free_names(tacit_frame *frame) {
    for (size_t j = 0; frame->names != NULL && j < frame->columns; j++) free(frame->names[j]);
    free(frame->names);
    frame->names = NULL;
}

tacit_frame *tacit_frame_free(tacit_frame *frame) {
    if (frame == NULL) return NULL;
    free_names(frame);
    free(frame->low);
    free(frame->high);
    free(frame->path);
    free(frame->group);
    frame_table_free(frame->table);
    tacit_levels_clear(&frame->classes);
    tacit_dataset_free(frame->data);
    tacit_schema_free(frame->schema);
    free(frame);
    return NULL;
}

size_t tacit_frame_rows(const tacit_frame *frame) { return frame != NULL ? frame->rows : 0; }
size_t tacit_frame_columns(const tacit_frame *frame) { return frame != NULL ? frame->columns : 0; }

const char *frame_column_name(const tacit_frame *frame, size_t column, char scratch[32]) {
    if (frame->names != NULL) return frame->names[column];
    snprintf(scratch, 32, "x%zu", column + 1);
    return scratch;
}

/* ---- what is public about it ---- */

/* A file's schema says all of it. */
tacit_status frame_check_memory(const tacit_frame *frame, const char *what, tacit_error *error) {
    TACIT_TRY(tacit_require(frame, "the frame", error));
    if (!frame_has_source(frame)) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE, "%s of a %s are what its schema says", what,
                      frame->kind == FRAME_FILE ? "file" : "table");
}

static tacit_status copy_classes(tacit_levels *out, const char *const *names, size_t classes,
                                 tacit_error *error) {
    for (size_t k = 0; k < classes; k++) {
        char scratch[32];
        int32_t code = 0;
        snprintf(scratch, sizeof scratch, "%zu", k);
        const char *name = names != NULL ? names[k] : scratch;
        if (name == NULL || name[0] == 0) return tacit_fail(error, TACIT_USAGE, "class %zu has no name", k);
        TACIT_TRY(tacit_levels_add(out, name, strlen(name), &code, error));
        if ((size_t)code != k) return tacit_fail(error, TACIT_USAGE, "two classes are called '%.60s'", name);
    }
    return TACIT_OK;
}

tacit_status tacit_frame_set_classes(tacit_frame *frame, const int32_t *label, size_t classes,
                                     const char *const *names, tacit_error *error) {
    tacit_levels copied = TACIT_LEVELS_INIT;
    TACIT_TRY(frame_check_memory(frame, "the labels", error));
    if (label == NULL || classes < 2 || classes > TACIT_LEVEL_LIMIT)
        return tacit_fail(error, TACIT_USAGE, "labels are of 2 to %d classes, not of %zu", TACIT_LEVEL_LIMIT,
                          classes);
    bool unlabelled = false;
    for (size_t i = 0; i < frame->rows; i++) {
        if (label[i] == TACIT_UNLABELLED)
            unlabelled = true;
        else if (label[i] < 0 || (size_t)label[i] >= classes)
            return tacit_fail(
                error, TACIT_INPUT,
                "row %zu has class %d, and classes are 0 to %zu, or -1 of a row without a label", i + 1,
                label[i], classes - 1);
    }
    tacit_status status = copy_classes(&copied, names, classes, error);
    if (status != TACIT_OK) {
        tacit_levels_clear(&copied);
        return status;
    }
    tacit_levels_clear(&frame->classes);
    frame->classes = copied;
    frame->label = label;
    frame->unlabelled = unlabelled;
    frame->response = frame->entry = NULL;
    frame->event = NULL;
    return TACIT_OK;
}

tacit_status tacit_frame_set_response(tacit_frame *frame, const double *response, double low, double high,
                                      bool counts, tacit_error *error) {
    TACIT_TRY(frame_check_memory(frame, "the labels", error));
    if (response == NULL || !isfinite(low) || !isfinite(high) || !(low < high))
        return tacit_fail(error, TACIT_USAGE, "a response needs finite bounds, low below high");
    if (counts && low < 0) return tacit_fail(error, TACIT_USAGE, "counts are bounded by 0 below");
    for (size_t i = 0; i < frame->rows; i++)
        if (!isfinite(response[i]))
            return tacit_fail(error, TACIT_INPUT, "row %zu: the response is no finite number", i + 1);
    tacit_levels_clear(&frame->classes);
    frame->label = NULL;
    frame->response = response;
    frame->event = NULL;
    frame->entry = NULL;
    frame->response_low = low;
    frame->response_high = high;
    frame->counts = counts;
    return TACIT_OK;
}

tacit_status tacit_frame_set_parties(tacit_frame *frame, const int32_t *party, size_t parties,
                                     tacit_error *error) {
    TACIT_TRY(tacit_require(frame, "the frame", error));
    if (frame->kind == FRAME_FILE || (frame_has_source(frame) && frame->data == NULL))
        return tacit_fail(error, TACIT_USAGE, "%s",
                          frame->kind == FRAME_FILE ? "the parties of a file are what the option 'group' says"
                                                    : "describe the table before its parties are set");
    if (frame->data != NULL && frame->data->rows != frame->rows)
        return tacit_fail(error, TACIT_USAGE,
                          "%zu of the table's %zu rows are used, as its schema says: leave the others out "
                          "before parties are set",
                          frame->data->rows, frame->rows);
    if (party == NULL || parties == 0 || parties > INT32_MAX)
        return tacit_fail(error, TACIT_USAGE, "there is at least one party");
    for (size_t i = 0; i < frame->rows; i++)
        if (party[i] < 0 || (size_t)party[i] >= parties)
            return tacit_fail(error, TACIT_INPUT, "row %zu is of party %d, and parties are 0 to %zu", i + 1,
                              party[i], parties - 1);
    frame->party = party;
    frame->parties = parties;
    return TACIT_OK;
}

static void set_scaling(tacit_frame *frame, frame_scaling scaling, bool intercept, double *low,
                        double *high) {
    free(frame->low);
    free(frame->high);
    frame->scaling = scaling;
    frame->intercept = intercept;
    frame->low = low;
    frame->high = high;
}

tacit_status tacit_frame_set_bounds(tacit_frame *frame, const double *low, const double *high, bool intercept,
                                    tacit_error *error) {
    char name[32];
    TACIT_TRY(frame_check_memory(frame, "the bounds", error));
    if (low == NULL || high == NULL) return tacit_fail(error, TACIT_USAGE, "bounds are low and high");
    for (size_t j = 0; j < frame->columns; j++)
        if (!isfinite(low[j]) || !isfinite(high[j]) || !(low[j] < high[j]))
            return tacit_fail(error, TACIT_USAGE,
                              "column %.60s has bounds %g and %g: they must be finite, low below high",
                              frame_column_name(frame, j, name), low[j], high[j]);
    double *lows = TACIT_NEW(double, frame->columns), *highs = TACIT_NEW(double, frame->columns);
    if (lows == NULL || highs == NULL) {
        free(lows);
        free(highs);
        return tacit_fail_memory(error);
    }
    memcpy(lows, low, frame->columns * sizeof *lows);
    memcpy(highs, high, frame->columns * sizeof *highs);
    set_scaling(frame, SCALE_BOUNDS, intercept, lows, highs);
    return TACIT_OK;
}

tacit_status tacit_frame_set_norm(tacit_frame *frame, double norm, bool intercept, tacit_error *error) {
    TACIT_TRY(frame_check_memory(frame, "the bounds", error));
    if (!(norm >= 1e-100 && norm <= 1e100))
        return tacit_fail(error, TACIT_USAGE, "the largest norm of a row is above 0 and finite, not %g",
                          norm);
    set_scaling(frame, SCALE_NORM, intercept, NULL, NULL);
    frame->norm = norm;
    return TACIT_OK;
}

tacit_status tacit_frame_set_bounds_from_data(tacit_frame *frame, bool intercept, tacit_error *error) {
    TACIT_TRY(frame_check_memory(frame, "the bounds", error));
    set_scaling(frame, SCALE_FROM_DATA, intercept, NULL, NULL);
    return TACIT_OK;
}

tacit_status tacit_frame_mark_from_data(tacit_frame *frame, bool label, bool columns, tacit_error *error) {
    TACIT_TRY(frame_check_memory(frame, "what was read off the rows", error));
    frame->label_from_data = label;
    frame->columns_from_data = columns;
    return TACIT_OK;
}

tacit_status tacit_frame_refuse_missing(tacit_frame *frame, tacit_error *error) {
    TACIT_TRY(frame_check_memory(frame, "missing values", error));
    frame->complete = true;
    return TACIT_OK;
}

static tacit_status check_names(const char *const *names, size_t columns, tacit_error *error) {
    tacit_levels seen = TACIT_LEVELS_INIT;
    tacit_status status = TACIT_OK;
    for (size_t j = 0; j < columns; j++) {
        int32_t code = 0;
        if (names[j] == NULL || names[j][0] == 0)
            TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "column %zu has no name", j + 1));
        TACIT_CHECK(tacit_levels_add(&seen, names[j], strlen(names[j]), &code, error));
        if ((size_t)code != j)
            TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "two columns are called '%.60s'", names[j]));
    }
cleanup:
    tacit_levels_clear(&seen);
    return status;
}

tacit_status tacit_frame_set_names(tacit_frame *frame, const char *const *columns, tacit_error *error) {
    TACIT_TRY(frame_check_memory(frame, "the names", error));
    if (columns == NULL) {
        free_names(frame);
        return TACIT_OK;
    }
    TACIT_TRY(check_names(columns, frame->columns, error));
    char **names = TACIT_NEW(char *, frame->columns);
    bool whole = names != NULL;
    for (size_t j = 0; whole && j < frame->columns; j++)
        whole = (names[j] = tacit_copy_text(columns[j])) != NULL;
    if (!whole) {
        for (size_t j = 0; names != NULL && j < frame->columns; j++) free(names[j]);
        free(names);
        return tacit_fail_memory(error);
    }
    free_names(frame);
    frame->names = names;
    return TACIT_OK;
}
