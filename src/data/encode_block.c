#include <math.h>
#include <string.h>

#include "data/encode_parts.h"

/* Rows that are encoded together: so few that their features stay in the nearest cache from column to
 * column. */
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

enum { STEP = 8 /* numbers that are scaled together */ };

/* Of rows from `first` on, TILE at most: scaled, times `factor`, to a column of `out`. Squares, if wanted,
 * grow by those of the scaled numbers. What is beyond a bound, or left over from the steps, is scaled by
 * itself. */
static void encode_numbers(const tacit_kernels *kernels, const encode_slot *from, size_t first, size_t count,
                           double factor, size_t features, double *out, double *square,
                           tacit_encode_counts *counts) {
    const tacit_scale *scale = &from->scale;
    const tacit_kernel_scale by = { scale->middle, scale->half_width, scale->low,
                                    scale->high,   scale->least,      scale->most };
    const double *number = from->column->number + first;
    const size_t together = count - count % STEP;
    double value[TILE];
    uint64_t beyond = kernels->scale_numbers(&by, together, number, value);
    for (; beyond != 0; beyond &= beyond - 1)
        for (size_t i = STEP * (size_t)__builtin_ctzll(beyond), k = 0; k < STEP; k++)
            value[i + k] = tacit_scale_number(scale, number[i + k], counts) + 0.0;
    for (size_t i = together; i < count; i++) value[i] = tacit_scale_number(scale, number[i], counts) + 0.0;
    for (size_t i = 0; i < count; i++) out[i * features] = value[i] * factor;
    for (size_t i = 0; square != NULL && i < count; i++) square[i] += value[i] * value[i];
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

/* Does every feature get a value of its own in each row? So where there are numbers alone, and none of them
 * says that it is missing. */
static bool encode_is_dense(const tacit_encoder *encoder) {
    for (size_t k = 0; k < encoder->slots; k++)
        if (encoder->slot[k].declared->kind != TACIT_SCHEMA_NUMBER) return false;
    return encoder->slots + encoder->schema->intercept == encoder->features;
}

static void encode_tile(tacit_encoder *encoder, size_t first, size_t count, double *out) {
    const tacit_schema *schema = encoder->schema;
    const size_t features = encoder->features;
    const double inside = encode_inside_ball(schema, features);
    const bool alike = schema->rows == TACIT_ROWS_BOUND; /* the factor is that of every row */
    double square[TILE] = { 0 };
    const double factor = alike ? encode_row_factor(schema, 0, encoder->reach, &encoder->counts) * inside : 1;
    if (!encode_is_dense(encoder)) memset(out, 0, count * features * sizeof *out);
    for (size_t k = 0; k < encoder->slots; k++) {
        const encode_slot *from = &encoder->slot[k];
        if (from->declared->kind == TACIT_SCHEMA_NUMBER)
            encode_numbers(encoder->kernels, from, first, count, factor, features, out + from->feature,
                           alike ? NULL : square, &encoder->counts);
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
