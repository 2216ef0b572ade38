#include <math.h>
#include <string.h>

#include "data/encode_parts.h"

/* Rows that are encoded together: so few that their features stay in the nearest cache from column to column. */
enum { TILE = 64 };

bool tacit_encoder_has_blocks(const tacit_encoder *encoder) {
    if (encoder->schema->formula != NULL) return false;
    for (size_t k = 0; k < encoder->slots; k++)
        if (encoder->slot[k].declared->kind == TACIT_SCHEMA_TEXT) return false;
    return true;
}

void tacit_encoder_complete(const tacit_encoder *encoder, size_t rows, bool *out) {
    memset(out, true, rows * sizeof *out);
    for (size_t k = 0; k < encoder->slots; k++) {
        const tacit_column *column = encoder->slot[k].column;
        if (column->kind == TACIT_COLUMN_NUMBER)
            for (size_t i = 0; i < rows; i++) out[i] &= !isnan(column->number[i]);
        else
            for (size_t i = 0; i < rows; i++) out[i] &= column->code[i] != TACIT_CODE_MISSING;
    }
}

/* Two numbers at a time, which all processors have registers for. */
typedef double pair __attribute__((vector_size(16)));
typedef int64_t flags __attribute__((vector_size(16)));
enum { LANES = 2, STEP = 8 /* numbers */ };

/* STEP numbers, scaled as tacit_scale_number does it; adding 0 makes a 0 of -0. False where one is at a bound or beyond, and
 * needs more than that. */
static bool scale_plainly(const tacit_scale *scale, const double *x, double *out) {
    const pair zero = { 0, 0 };
    const pair middle = zero + scale->middle, half = zero + scale->half_width;
    const pair low = zero + scale->low, high = zero + scale->high;
    const pair least = zero + scale->least, most = zero + scale->most;
    flags beyond = { 0, 0 }; /* negative where a difference is */
    for (size_t k = 0; k < STEP; k += LANES) {
        pair number, value;
        memcpy(&number, x + k, sizeof number);
        value = (number - middle) / half + zero;
        beyond |=
            (flags)(number - low) | (flags)(high - number) | (flags)(value - least) | (flags)(most - value);
        memcpy(out + k, &value, sizeof value);
    }
    return (beyond[0] | beyond[1]) >= 0;
}

/* Of rows from `first` on: scaled, times `factor`, to a column of `out`. Squares, if wanted, grow by those of the scaled
 * numbers. */
static void encode_numbers(const encode_slot *from, size_t first, size_t count, double factor,
                           size_t features, double *out, double *square, tacit_encode_counts *counts) {
    const double *number = from->column->number + first;
    for (size_t i = 0; i < count; i += STEP) {
        const size_t some = count - i < STEP ? count - i : STEP;
        double value[STEP];
        if (some < STEP || !scale_plainly(&from->scale, number + i, value))
            for (size_t k = 0; k < some; k++)
                value[k] = tacit_scale_number(&from->scale, number[i + k], counts) + 0.0;
        for (size_t k = 0; k < some; k++) out[(i + k) * features] = value[k] * factor;
        for (size_t k = 0; square != NULL && k < some; k++) square[i + k] += value[k] * value[k];
    }
}

static void encode_levels(const encode_slot *from, size_t first, size_t count, double factor, size_t features,
                          double *out, double *square, tacit_encode_counts *counts) {
    const tacit_schema_column *declared = from->declared;
    const size_t last = tacit_schema_column_levels(declared) - 1;
    for (size_t i = 0; i < count; i++) {
        const int32_t level = encode_find_level(from, first + i, counts);
        if (level < 0) continue;
        if (declared->effect && (size_t)level == last) {
            for (int32_t k = 0; k < level; k++) out[i * features + (size_t)k] = -factor;
            square[i] += level;
        } else {
            out[i * features + (size_t)level] = factor;
            square[i] += 1;
        }
    }
}

static void encode_tile(tacit_encoder *encoder, size_t first, size_t count, double *out) {
    const tacit_schema *schema = encoder->schema;
    const size_t features = encoder->features;
    const double inside = encode_inside_ball(schema, features);
    const bool alike = schema->rows == TACIT_ROWS_BOUND; /* the factor is that of every row */
    double square[TILE] = { 0 };
    const double factor = alike ? encode_row_factor(schema, 0, encoder->reach, &encoder->counts) * inside : 1;
    memset(out, 0, count * features * sizeof *out);
    for (size_t k = 0; k < encoder->slots; k++) {
        const encode_slot *from = &encoder->slot[k];
        if (from->declared->kind == TACIT_SCHEMA_NUMBER)
            encode_numbers(from, first, count, factor, features, out + from->feature, alike ? NULL : square,
                           &encoder->counts);
        else
            encode_levels(from, first, count, factor, features, out + from->feature, square,
                          &encoder->counts);
    }
    for (size_t i = 0; i < count; i++) {
        double *row = out + i * features;
        const double shrink =
            alike ? 1 : encode_row_factor(schema, sqrt(square[i]), encoder->reach, &encoder->counts) * inside;
        for (size_t j = 0; !alike && j < features; j++) row[j] *= shrink;
        if (schema->intercept) row[features - 1] = inside;
    }
    encoder->counts.rows += count;
}

void tacit_encode_block(tacit_encoder *encoder, size_t first, size_t count, double *out) {
    for (size_t i = 0; i < count; i += TILE)
        encode_tile(encoder, first + i, count - i < TILE ? count - i : TILE, out + i * encoder->features);
}
