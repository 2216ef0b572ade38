/* The schema of a frame: what its owner said is public, so that a model carries it and a file can be read the
 * same way. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "api/frame/frame.h"
#include "base/memory.h"

/* With a norm C instead of bounds a column is x/C, and only the row is shortened, to 1. A schema has bounds
 * all the same, at most 10^6 C apart: these are nearly as wide as they may be. */
static const double OUT_OF_THE_WAY = 4e5;

/* ---- bounds and norms read off the rows: not private ---- */

enum { BLOCK_ROWS = 64 };

typedef struct extremes {
    const tacit_frame *frame;
    double *low, *high; /* of each column, of each worker */
    double *norm;       /* the largest of a row, of each worker */
    double *block;      /* of each worker */
} extremes;

static void see_row(const extremes *all, const double *row, unsigned worker) {
    const size_t columns = all->frame->columns;
    double *low = all->low + worker * columns, *high = all->high + worker * columns, square = 0;
    for (size_t j = 0; j < columns; j++) {
        if (isnan(row[j])) continue;
        low[j] = fmin(low[j], row[j]);
        high[j] = fmax(high[j], row[j]);
        square += row[j] * row[j];
    }
    all->norm[worker] = fmax(all->norm[worker], sqrt(square));
}

static tacit_status see_rows(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    const extremes *all = context;
    const size_t columns = all->frame->columns;
    double *block = all->block + worker * BLOCK_ROWS * columns;
    for (size_t i = begin; i < end; i += BLOCK_ROWS) {
        size_t count = end - i < BLOCK_ROWS ? end - i : BLOCK_ROWS;
        TACIT_TRY(frame_gather(all->frame, i, count, block, error));
        for (size_t r = 0; r < count; r++) see_row(all, block + r * columns, worker);
    }
    return TACIT_OK;
}

/* Constant columns are encoded as 0, the middle. */
static void widen(double *low, double *high) {
    if (!(*low <= *high)) { /* nothing but missing values */
        *low = -1;
        *high = 1;
    } else if (*low == *high) {
        double by = fmax(1, fabs(*low));
        *low -= by;
        *high += by;
    }
}

static tacit_status read_extremes(double *low, double *high, const tacit_frame *frame, tacit_pool *pool,
                                  tacit_error *error) {
    const size_t columns = frame->columns, workers = tacit_pool_threads(pool);
    extremes all = { .frame = frame,
                     .low = TACIT_NEW(double, workers *columns),
                     .high = TACIT_NEW(double, workers *columns),
                     .norm = TACIT_NEW(double, workers),
                     .block = TACIT_NEW(double, workers *columns *BLOCK_ROWS) };
    tacit_status status = TACIT_OK;
    if (all.low == NULL || all.high == NULL || all.norm == NULL || all.block == NULL)
        TACIT_CHECK(tacit_fail_memory(error));
    for (size_t k = 0; k < workers * columns; k++) {
        all.low[k] = INFINITY;
        all.high[k] = -INFINITY;
    }
    TACIT_CHECK(tacit_pool_for(pool, frame->rows, 0, see_rows, &all, error));
    for (size_t j = 0; j < columns; j++) {
        low[j] = all.low[j];
        high[j] = all.high[j];
        for (size_t w = 1; w < workers; w++) {
            low[j] = fmin(low[j], all.low[w * columns + j]);
            high[j] = fmax(high[j], all.high[w * columns + j]);
        }
        widen(&low[j], &high[j]);
    }
cleanup:
    free(all.low);
    free(all.high);
    free(all.norm);
    free(all.block);
    return status;
}

/* Of stored entries alone, as for a LIBSVM file. */
static double largest_norm(const tacit_frame *frame) {
    double largest = 0;
    for (size_t i = 0; i < frame->rows; i++) {
        double square = 0;
        int64_t end = frame_index(frame->start, frame->index, i + 1);
        for (int64_t k = frame_index(frame->start, frame->index, i); k < end; k++)
            if (isfinite(frame->value[k])) square += frame->value[k] * frame->value[k];
        largest = fmax(largest, sqrt(square));
    }
    return largest > 0 ? largest : 1;
}

/* ---- the schema ---- */

/* Without bounds (NULL), all in units of `norm`. */
static tacit_status add_columns(tacit_schema *schema, const tacit_frame *frame, const double *low,
                                const double *high, double norm, tacit_error *error) {
    for (size_t j = 0; j < frame->columns; j++) {
        char scratch[32];
        tacit_schema_column *column = NULL;
        TACIT_TRY(tacit_schema_add_column(schema, &column, frame_column_name(frame, j, scratch),
                                          TACIT_SCHEMA_NUMBER, error));
        column->low = low != NULL ? low[j] : -OUT_OF_THE_WAY * norm;
        column->high = high != NULL ? high[j] : OUT_OF_THE_WAY * norm;
        if (low == NULL) column->sd = norm;
        column->from_rows = frame->columns_from_data || frame->scaling == SCALE_FROM_DATA;
    }
    return TACIT_OK;
}

static tacit_status set_encoding(tacit_schema *schema, const tacit_frame *frame, tacit_pool *pool,
                                 tacit_error *error) {
    bool from_data = frame->scaling == SCALE_FROM_DATA;
    double *low = NULL, *high = NULL;
    tacit_status status = TACIT_OK;
    schema->intercept = frame->intercept;
    if (frame->scaling == SCALE_BOUNDS) return add_columns(schema, frame, frame->low, frame->high, 0, error);
    if (frame->kind == FRAME_SPARSE || frame->scaling == SCALE_NORM) {
        bool named = frame->kind != FRAME_SPARSE || frame->names != NULL;
        double norm = from_data ? largest_norm(frame) : frame->norm;
        schema->rows = TACIT_ROWS_CLIP;
        schema->clip = named ? 1 : norm;
        schema->clip_from_rows = !named && from_data;
        schema->sparse_from_rows = !named && frame->columns_from_data;
        if (named) return add_columns(schema, frame, NULL, NULL, norm, error);
        schema->sparse = frame->columns;
        return TACIT_OK;
    }
    low = TACIT_NEW(double, frame->columns);
    high = TACIT_NEW(double, frame->columns);
    if (low == NULL || high == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(read_extremes(low, high, frame, pool, error));
    TACIT_CHECK(add_columns(schema, frame, low, high, 0, error));
cleanup:
    free(low);
    free(high);
    return status;
}

/* `start`, or something longer that no column is called. New; NULL: no memory. */
static char *unused_name(const tacit_schema *schema, const char *start) {
    char name[64];
    memcpy(name, start, strlen(start) + 1);
    for (size_t j = 0; j < schema->cols && strlen(name) + 1 < sizeof name; j++)
        if (strcmp(schema->columns[j].name, name) == 0) {
            strcat(name, "_");
            j = SIZE_MAX; /* from the start */
        }
    return tacit_copy_text(name);
}

static tacit_status set_label(tacit_schema *schema, const tacit_frame *frame, tacit_error *error) {
    const bool times = frame->event != NULL;
    schema->label = unused_name(schema, times ? "time" : "label");
    if (times) schema->event = unused_name(schema, "event");
    if (frame->entry != NULL) schema->entry = unused_name(schema, "entry");
    if (schema->label == NULL || (times && schema->event == NULL) ||
        (frame->entry != NULL && schema->entry == NULL))
        return tacit_fail_memory(error);
    schema->label_from_rows = frame->label_from_data;
    if (frame->response == NULL && frame->unlabelled) schema->label_missing = TACIT_MISSING_UNLABELLED;
    if (frame->response == NULL) return tacit_levels_copy(&schema->classes, &frame->classes, error);
    schema->response = times           ? TACIT_RESPONSE_TIME
                       : frame->counts ? TACIT_RESPONSE_COUNT
                                       : TACIT_RESPONSE_NUMBER;
    schema->low = frame->response_low;
    schema->high = frame->response_high;
    return TACIT_OK;
}

tacit_status frame_schema(tacit_schema **out, const tacit_frame *frame, tacit_pool *pool,
                          tacit_error *error) {
    tacit_schema *schema = NULL;
    tacit_status status;
    if (frame->scaling == SCALE_UNKNOWN)
        return tacit_fail(error, TACIT_USAGE,
                          "nobody said how large the frame's numbers can be: set bounds of the columns, or "
                          "the largest norm of a row");
    if (frame->label == NULL && frame->response == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "the frame's rows have no labels: set classes, a response or times");
    TACIT_TRY(tacit_schema_create(&schema, error));
    TACIT_CHECK(set_encoding(schema, frame, pool, error));
    TACIT_CHECK(set_label(schema, frame, error));
    *out = schema;
    schema = NULL;
cleanup:
    tacit_schema_free(schema);
    return status;
}

tacit_status frame_copy_schema(tacit_schema **out, const tacit_schema *schema, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = tacit_schema_print(schema, NULL, &text, error);
    if (status == TACIT_OK)
        status = tacit_schema_parse(out, tacit_buffer_text(&text), text.length, "the schema", error);
    tacit_buffer_clear(&text);
    return status;
}

tacit_status frame_schema_with(tacit_schema **out, const tacit_frame *frame, const char *terms,
                               const char *subset, tacit_pool *pool, tacit_error *error) {
    tacit_schema *schema = NULL;
    const bool from_file = frame_has_source(frame);
    if (from_file && frame->schema == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "nobody said what is publicly known about the table's columns: describe it with a "
                          "schema first");
    if (from_file && terms == NULL && subset == NULL) return TACIT_OK;
    TACIT_TRY(from_file ? frame_copy_schema(&schema, frame->schema, error)
                        : frame_schema(&schema, frame, pool, error));
    return tacit_schema_take_terms(out, schema, terms, subset, error);
}
