/* A row of numbers into the unit ball. The arithmetic is that of data/encode.h, operation for operation,
 * written so that the compiler works on several columns at once; this file is compiled with -O3 for that. */
#include <math.h>
#include <string.h>

#include "api/frame/frame.h"
#include "base/memory.h"

size_t frame_schema_columns(const tacit_schema *schema) {
    if (schema->sparse > 0) return schema->sparse;
    size_t columns = 0;
    for (size_t i = 0; i < schema->cols; i++) columns += schema->columns[i].kind != TACIT_SCHEMA_SKIP;
    return columns;
}

/* Columns are told apart by their order; where the frame has names they must be those. */
static tacit_status check_names(const tacit_frame *frame, const tacit_schema *schema, tacit_error *error) {
    size_t used = 0;
    for (size_t i = 0; frame->names != NULL && i < schema->cols; i++) {
        if (schema->columns[i].kind == TACIT_SCHEMA_SKIP) continue;
        if (strcmp(schema->columns[i].name, frame->names[used]) != 0)
            return tacit_fail(error, TACIT_USAGE, "column %zu of the frame is %.60s, where %.60s belongs",
                              used + 1, frame->names[used], schema->columns[i].name);
        used++;
    }
    return TACIT_OK;
}

/* One array for each part of a scale, so that the columns of a row are worked on side by side. */
enum { MAP_LOW, MAP_HIGH, MAP_MIDDLE, MAP_HALF, MAP_LEAST, MAP_MOST, MAP_FILL, MAP_PARTS };

static void set_scales(frame_map *map) {
    size_t j = 0, columns = map->columns;
    for (size_t i = 0; i < map->schema->cols; i++) {
        if (map->schema->columns[i].kind != TACIT_SCHEMA_NUMBER) continue;
        tacit_scale scale = tacit_scale_of(&map->schema->columns[i]);
        map->numbers[MAP_LOW * columns + j] = scale.low;
        map->numbers[MAP_HIGH * columns + j] = scale.high;
        map->numbers[MAP_MIDDLE * columns + j] = scale.middle;
        map->numbers[MAP_HALF * columns + j] = scale.half_width;
        map->numbers[MAP_LEAST * columns + j] = scale.least;
        map->numbers[MAP_MOST * columns + j] = scale.most;
        map->numbers[MAP_FILL * columns + j++] = scale.fill;
    }
}

tacit_status frame_map_create(frame_map *out, const tacit_schema *schema, const tacit_frame *frame,
                              tacit_error *error) {
    frame_map map = { .schema = schema,
                      .columns = frame_schema_columns(schema),
                      .features = tacit_schema_features(schema),
                      .reach = tacit_schema_reach(schema),
                      .inside = tacit_schema_intercept_value(schema) };
    tacit_encode_counts none = { 0 };
    if (schema->sparse == 0 && schema->rows == TACIT_ROWS_BOUND)
        map.factor = tacit_schema_column_factor(schema, map.reach, 0, &none) * map.inside;
    if (map.columns != frame->columns)
        return tacit_fail(error, TACIT_USAGE, "the frame has %zu columns where %zu belong", frame->columns,
                          map.columns);
    for (size_t i = 0; i < schema->cols; i++) {
        tacit_schema_kind kind = schema->columns[i].kind;
        if (kind != TACIT_SCHEMA_NUMBER && kind != TACIT_SCHEMA_SKIP)
            return tacit_fail(error, TACIT_USAGE,
                              "column %.60s is a %s, and this frame has numbers: give the rows as a table of "
                              "columns, or load them from a file",
                              schema->columns[i].name, kind == TACIT_SCHEMA_TEXT ? "text" : "category");
        if (schema->columns[i].missing == TACIT_MISSING_INDICATOR)
            return tacit_fail(
                error, TACIT_USAGE,
                "column %.60s has a second feature for missing values (missing: indicator), "
                "which this frame does not make: give the rows as a table of columns, or load them from a "
                "file",
                schema->columns[i].name);
    }
    TACIT_TRY(check_names(frame, schema, error));
    if (schema->sparse == 0) {
        map.numbers = TACIT_NEW(double, MAP_PARTS *map.columns);
        if (map.numbers == NULL) return tacit_fail_memory(error);
        set_scales(&map);
    }
    if (schema->formula != NULL) {
        map.place = TACIT_NEW(size_t, schema->cols);
        if (map.place == NULL) {
            frame_map_clear(&map);
            return tacit_fail_memory(error);
        }
        for (size_t i = 0, at = 0; i < schema->cols; i++)
            map.place[i] = schema->columns[i].kind != TACIT_SCHEMA_SKIP ? at++ : 0;
    }
    *out = map;
    return TACIT_OK;
}

void frame_map_clear(frame_map *map) {
    free(map->numbers);
    free(map->place);
    *map = (frame_map)FRAME_MAP_INIT;
}

/* Adding the lowest bit of the exponent carries into the sign where all bits of the exponent are set:
 * infinite, or NaN. Sums of integers, other than of doubles, may be taken in any order. */
static inline uint64_t not_finite(double x) {
    const uint64_t exponent = UINT64_C(0x7ff) << 52, lowest = UINT64_C(1) << 52;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (bits & exponent) + lowest;
}

/* tacit_scale_number of every column; selections, no branches. The sign of what it returns says whether any
 * is not finite. */
static uint64_t scale_row(const frame_map *map, const double *restrict raw, double factor,
                          double *restrict out) {
    const size_t columns = map->columns;
    const double *restrict low = map->numbers + MAP_LOW * columns,
                           *restrict high = map->numbers + MAP_HIGH * columns,
                           *restrict middle = map->numbers + MAP_MIDDLE * columns,
                           *restrict half = map->numbers + MAP_HALF * columns,
                           *restrict least = map->numbers + MAP_LEAST * columns,
                           *restrict most = map->numbers + MAP_MOST * columns,
                           *restrict fill = map->numbers + MAP_FILL * columns;
    uint64_t found = 0;
    for (size_t j = 0; j < columns; j++) {
        double x = raw[j], scaled = (x - middle[j]) / half[j];
        scaled = scaled < least[j] ? least[j] : scaled;
        scaled = scaled > most[j] ? most[j] : scaled;
        scaled = x < low[j] ? least[j] : scaled;
        scaled = x > high[j] ? most[j] : scaled;
        out[j] = (x != x ? fill[j] : scaled) * factor;
        found |= not_finite(x);
    }
    return found;
}

/* Of a sparse schema: as they are. */
static uint64_t copy_row(const frame_map *map, const double *restrict raw, double *restrict out) {
    uint64_t found = 0;
    for (size_t j = 0; j < map->columns; j++) {
        out[j] = raw[j] != raw[j] ? 0 : raw[j];
        found |= not_finite(raw[j]);
    }
    return found;
}

/* Bring a row inside the ball by its norm. */
static void shorten_row(const frame_map *map, double *out, tacit_encode_counts *counts) {
    double square = 0, norm, factor;
    for (size_t j = 0; j < map->columns; j++) square += out[j] * out[j];
    norm = sqrt(square);
    factor = map->numbers != NULL
                 ? tacit_schema_column_factor(map->schema, map->reach, norm, counts) * map->inside
                 : tacit_schema_row_factor(map->schema, norm, counts);
    for (size_t j = 0; j < map->columns; j++) out[j] *= factor;
}

/* Terms of the row's numbers. */
static bool map_terms(const frame_map *map, const double *raw, double *out, tacit_encode_counts *counts) {
    const size_t terms = tacit_formula_features(map->schema->formula);
    double square = 0;
    bool infinite = false;
    for (size_t j = 0; j < map->columns; j++) {
        counts->missing += isnan(raw[j]);
        infinite = infinite || isinf(raw[j]);
    }
    tacit_formula_dense_row(map->schema->formula, raw, map->place, NULL, out);
    for (size_t j = 0; j < terms; j++) square += out[j] * out[j];
    double factor = tacit_schema_column_factor(map->schema, map->reach, sqrt(square), counts) * map->inside;
    for (size_t j = 0; j < terms; j++) out[j] *= factor;
    if (map->schema->intercept) out[terms] = map->inside;
    counts->rows++;
    return !infinite;
}

bool frame_map_row(const frame_map *map, const double *raw, double *out, tacit_encode_counts *counts) {
    if (map->place != NULL) return map_terms(map, raw, out, counts);
    const bool bounded = map->numbers != NULL && map->schema->rows == TACIT_ROWS_BOUND;
    uint64_t found =
        map->numbers != NULL ? scale_row(map, raw, bounded ? map->factor : 1, out) : copy_row(map, raw, out);
    bool infinite = false;
    for (size_t j = 0; found >> 63 != 0 && j < map->columns; j++) {
        counts->missing += isnan(raw[j]);
        infinite = infinite || isinf(raw[j]);
    }
    if (!bounded) shorten_row(map, out, counts);
    if (map->schema->intercept) out[map->columns] = map->inside;
    counts->rows++;
    return !infinite;
}
