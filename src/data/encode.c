#include "data/encode.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/encode_parts.h"
#include "data/schema/names.h"

static tacit_status map_levels(encode_slot *to, tacit_error *error) {
    const tacit_levels *levels = &to->column->levels;
    to->level = TACIT_NEW(int32_t, levels->count);
    if (to->level == NULL) return tacit_fail_memory(error);
    to->levels = levels->count;
    for (size_t i = 0; i < levels->count; i++)
        to->level[i] = tacit_levels_find(&to->declared->levels, levels->text[i], strlen(levels->text[i]));
    return TACIT_OK;
}

tacit_scale tacit_scale_of(const tacit_schema_column *column) {
    bool standardised = column->sd > 0;
    double half = standardised ? column->sd : (column->high - column->low) / 2;
    double middle = standardised ? column->mean : column->low + (column->high - column->low) / 2;
    tacit_scale scale = { .low = column->low,
                          .high = column->high,
                          .middle = middle,
                          .half_width = half,
                          .least = standardised ? (column->low - middle) / half : -1,
                          .most = standardised ? (column->high - middle) / half : 1 };
    if (column->missing == TACIT_MISSING_VALUE)
        scale.fill = fmin(fmax((column->fill - middle) / half, scale.least), scale.most);
    return scale;
}

bool tacit_schema_is_weights(const tacit_schema *schema, size_t column) {
    size_t found = SIZE_MAX;
    double most;
    return schema->formula != NULL && tacit_formula_weights(schema->formula, &most, &found) != SIZE_MAX &&
           found == column;
}

static tacit_status make_slots(tacit_encoder *encoder, const tacit_table *table, tacit_error *error) {
    uint32_t feature = 0;
    tacit_levels names = TACIT_LEVELS_INIT; /* of the table, for lookup; the first of equal names wins */
    tacit_status status = TACIT_OK;
    size_t position[1];
    for (size_t i = 0; i < table->cols; i++)
        TACIT_CHECK(
            tacit_levels_add(&names, table->columns[i].name, strlen(table->columns[i].name), NULL, error));
    for (size_t i = 0; i < encoder->schema->cols; i++) {
        const tacit_schema_column *declared = &encoder->schema->columns[i];
        if (!tacit_schema_uses(encoder->schema, i)) continue;
        if (tacit_schema_is_weights(encoder->schema, i) &&
            tacit_levels_find(&names, declared->name, strlen(declared->name)) < 0)
            continue;
        TACIT_CHECK(
            tacit_names_find(&names, declared->name, "column", "schema", table->name, position, error));
        encode_slot *to = &encoder->slot[encoder->slots++];
        *to = (encode_slot){ .column = &table->columns[*position],
                             .declared = declared,
                             .position = (uint32_t)i,
                             .feature = feature };
        bool number = declared->kind == TACIT_SCHEMA_NUMBER, text = declared->kind == TACIT_SCHEMA_TEXT;
        tacit_column_kind wanted = number ? TACIT_COLUMN_NUMBER
                                   : text ? TACIT_COLUMN_TEXT
                                          : TACIT_COLUMN_CATEGORY;
        if (to->column->kind != wanted)
            TACIT_CHECK(tacit_fail(error, TACIT_INPUT,
                                   "%s: column '%s' is a %s in the schema but not in the file", table->name,
                                   declared->name,
                                   number ? "number"
                                   : text ? "text"
                                          : "category"));
        if (number) {
            to->scale = tacit_scale_of(declared);
        } else if (!text) { /* the reader has found the terms of a text */
            TACIT_CHECK(map_levels(to, error));
        }
        feature += (uint32_t)tacit_schema_column_features(declared);
    }
cleanup:
    tacit_levels_clear(&names);
    return status;
}

tacit_status tacit_encoder_create(tacit_encoder **out, const tacit_schema *schema, const tacit_table *table,
                                  tacit_error *error) {
    tacit_encoder *encoder = TACIT_NEW(tacit_encoder, 1);
    if (encoder == NULL) return tacit_fail_memory(error);
    tacit_status status = TACIT_OK;
    encoder->schema = schema;
    encoder->kernels = tacit_kernels_choose();
    encoder->features = tacit_schema_features(schema);
    encoder->entries = 1; /* the intercept */
    for (size_t i = 0; i < schema->cols; i++) {
        const tacit_schema_column *declared = &schema->columns[i];
        encoder->entries += declared->effect ? tacit_schema_column_features(declared) : 1;
        encoder->entries += declared->missing == TACIT_MISSING_INDICATOR;
        if (declared->kind == TACIT_SCHEMA_TEXT) encoder->entries += tacit_vocabulary_most(&declared->text);
    }
    if (schema->formula != NULL) {
        encoder->entries = 1 + tacit_formula_entries(schema->formula);
        encoder->number = TACIT_NEW(double, schema->cols + 1);
        encoder->level = TACIT_NEW(int32_t, schema->cols + 1);
        if (encoder->number == NULL || encoder->level == NULL) TACIT_CHECK(tacit_fail_memory(error));
    }
    encoder->reach = tacit_schema_reach(schema);
    encoder->slot = TACIT_NEW(encode_slot, schema->cols);
    encoder->column = TACIT_NEW(uint32_t, encoder->entries);
    encoder->value = TACIT_NEW(double, encoder->entries);
    encoder->gap = TACIT_NEW(uint32_t, schema->cols);
    if (encoder->slot == NULL || encoder->column == NULL || encoder->value == NULL || encoder->gap == NULL)
        TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(make_slots(encoder, table, error));
    *out = encoder;
    encoder = NULL;
cleanup:
    tacit_encoder_free(encoder);
    return status;
}

tacit_encoder *tacit_encoder_free(tacit_encoder *encoder) {
    if (encoder == NULL) return NULL;
    for (size_t i = 0; i < encoder->slots; i++) free(encoder->slot[i].level);
    free(encoder->slot);
    free(encoder->column);
    free(encoder->value);
    free(encoder->gap);
    free(encoder->number);
    free(encoder->level);
    free(encoder);
    return NULL;
}

size_t tacit_encoder_entries(const tacit_encoder *encoder) { return encoder->entries; }

size_t tacit_encoder_missing(const tacit_encoder *encoder, const uint32_t **columns) {
    *columns = encoder->gap;
    return encoder->gaps;
}

const tacit_encode_counts *tacit_encoder_counts(const tacit_encoder *encoder) { return &encoder->counts; }

int32_t encode_find_level(const encode_slot *from, size_t row, tacit_encode_counts *counts) {
    int32_t code = from->column->code[row];
    if (code == TACIT_CODE_MISSING) {
        counts->missing++;
        if (from->declared->missing == TACIT_MISSING_LEVEL) return (int32_t)from->declared->levels.count;
        return from->declared->missing == TACIT_MISSING_VALUE ? from->declared->fill_level : -1;
    }
    int32_t level = code;
    if (code >= 0 && (size_t)code < from->levels) {
        level = from->level[code];
    } else if (code >= 0) { /* a level that the table met since */
        const char *text = from->column->levels.text[code];
        level = tacit_levels_find(&from->declared->levels, text, strlen(text));
    }
    if (level < 0) level = from->declared->others;
    counts->unknown_levels += level < 0;
    return level;
}

bool tacit_encoder_absent(const tacit_encoder *encoder, size_t row, uint8_t *out) {
    bool any = false;
    memset(out, 0, tacit_absent_bytes(encoder->schema));
    for (size_t k = 0; k < encoder->slots; k++) {
        const tacit_column *column = encoder->slot[k].column;
        size_t i = (size_t)(encoder->slot[k].declared - encoder->schema->columns);
        bool missing = column->kind == TACIT_COLUMN_NUMBER     ? isnan(column->number[row])
                       : column->kind == TACIT_COLUMN_CATEGORY ? column->code[row] == TACIT_CODE_MISSING
                                                               : column->start[row + 1] == column->start[row];
        if (missing) out[i / 8] |= (uint8_t)(1u << i % 8);
        any = any || missing;
    }
    return any;
}

/* The terms of a text, already of norm 1. */
static size_t collect_terms(const encode_slot *from, size_t row, uint32_t *column, double *value,
                            tacit_encode_counts *counts) {
    const size_t *start = from->column->start;
    size_t count = start[row + 1] - start[row];
    counts->missing += count == 0;
    for (size_t k = 0; k < count; k++) {
        column[k] = from->feature + from->column->entries.feature[start[row] + k];
        value[k] = from->column->entries.value[start[row] + k];
    }
    return count;
}

/* Append what a column says of the row at hand; returns the square of its norm. */
static double collect_one(tacit_encoder *encoder, const encode_slot *from, size_t row,
                          tacit_encode_counts *counts, size_t *count) {
    const tacit_schema_column *declared = from->declared;
    uint32_t feature = from->feature, several = 1;
    double value = 1;
    uint64_t missing_before = counts->missing;
    if (declared->kind == TACIT_SCHEMA_TEXT) {
        size_t first = *count;
        double square = 0;
        *count += collect_terms(from, row, encoder->column + first, encoder->value + first, counts);
        for (size_t k = first; k < *count; k++) square += encoder->value[k] * encoder->value[k];
        if (counts->missing > missing_before) encoder->gap[encoder->gaps++] = from->position;
        return square;
    }
    if (declared->kind == TACIT_SCHEMA_NUMBER) {
        value = tacit_scale_number(&from->scale, from->column->number[row], counts);
        bool missing = counts->missing > missing_before;
        if (missing) encoder->gap[encoder->gaps++] = from->position;
        if (missing && declared->missing == TACIT_MISSING_INDICATOR) {
            value = 1; /* the number itself is 0 then */
            feature++;
        }
        if (value == 0) return 0;
    } else {
        int32_t level = encode_find_level(from, row, counts);
        if (counts->missing > missing_before) encoder->gap[encoder->gaps++] = from->position;
        if (level < 0) return 0;
        if (declared->effect && (size_t)level + 1 == tacit_schema_column_levels(declared)) {
            several = (uint32_t)level;
            value = -1;
        } else {
            feature += (uint32_t)level;
        }
    }
    for (uint32_t k = 0; k < several; k++) {
        encoder->column[*count] = feature + k;
        encoder->value[(*count)++] = value;
    }
    return value * value * several;
}

static double term_factor(const tacit_schema *schema);

/* The raw values of the row's columns, for terms: what is missing stands for the middle, or for no level. */
static void collect_raw(tacit_encoder *encoder, size_t row, tacit_encode_counts *counts) {
    for (size_t i = 0; i < encoder->slots; i++) {
        const encode_slot *from = &encoder->slot[i];
        const tacit_schema_column *declared = from->declared;
        size_t at = (size_t)(declared - encoder->schema->columns);
        const uint64_t missing_before = counts->missing;
        if (declared->kind == TACIT_SCHEMA_NUMBER) {
            encoder->number[at] = from->column->number[row];
            tacit_scale_number(&from->scale, encoder->number[at], counts);
            if (isnan(encoder->number[at]) && declared->missing == TACIT_MISSING_VALUE)
                encoder->number[at] = declared->fill;
        } else {
            encoder->level[at] = encode_find_level(from, row, counts);
        }
        if (counts->missing > missing_before) encoder->gap[encoder->gaps++] = from->position;
    }
}

void tacit_encoder_raw(const tacit_encoder *encoder, double *out) {
    for (size_t i = 0; i < encoder->schema->cols; i++) out[i] = NAN;
    for (size_t i = 0; i < encoder->slots; i++) {
        const encode_slot *from = &encoder->slot[i];
        out[from->position] = from->declared->kind == TACIT_SCHEMA_NUMBER ? encoder->number[from->position]
                                                                          : encoder->level[from->position];
    }
    for (size_t k = 0; k < encoder->gaps; k++)
        if (tacit_schema_missing(encoder->schema, &encoder->schema->columns[encoder->gap[k]]) ==
            TACIT_MISSING_IMPUTE)
            out[encoder->gap[k]] = NAN;
}

void tacit_schema_encode_raw(const tacit_schema *schema, const double *raw, double *number, int32_t *level,
                             double *out) {
    const size_t features = tacit_formula_features(schema->formula);
    for (size_t i = 0; i < schema->cols; i++) {
        const bool known = !isnan(raw[i]);
        number[i] = raw[i];
        level[i] = known && schema->columns[i].kind == TACIT_SCHEMA_CATEGORY ? (int32_t)raw[i] : -1;
    }
    tacit_formula_dense_row(schema->formula, number, NULL, level, out);
    for (size_t j = 0; j < features; j++) out[j] *= term_factor(schema);
    if (schema->intercept) out[features] = tacit_schema_intercept_value(schema);
}

/* The entries of a row before scaling, and the square of its norm. */
static size_t collect(tacit_encoder *encoder, size_t row, tacit_encode_counts *counts, double *square) {
    size_t count = 0;
    double sum = 0;
    encoder->gaps = 0;
    if (encoder->schema->formula != NULL) {
        collect_raw(encoder, row, counts);
        count = tacit_formula_row(encoder->schema->formula, encoder->number, NULL, encoder->level,
                                  encoder->column, encoder->value);
        for (size_t k = 0; k < count; k++) sum += encoder->value[k] * encoder->value[k];
        *square = sum;
        return count;
    }
    for (size_t i = 0; i < encoder->slots; i++)
        sum += collect_one(encoder, &encoder->slot[i], row, counts, &count);
    *square = sum;
    return count;
}

double tacit_encoder_norm(tacit_encoder *encoder, size_t row) {
    tacit_encode_counts ignored = { 0 };
    double square;
    collect(encoder, row, &ignored, &square);
    return sqrt(square);
}

double encode_inside_ball(const tacit_schema *schema, size_t features) {
    return (1 - 2 * ((double)features + 8) * DBL_EPSILON) * (schema->intercept ? M_SQRT1_2 : 1);
}

double encode_row_factor(const tacit_schema *schema, double norm, double reach, tacit_encode_counts *counts) {
    switch (schema->rows) {
    case TACIT_ROWS_BOUND: return reach > 0 ? 1 / sqrt(reach) : 1;
    case TACIT_ROWS_UNIT: return norm > 0 ? 1 / norm : 1;
    case TACIT_ROWS_CLIP:
        if (norm <= schema->clip) return 1 / schema->clip;
        counts->shortened_rows++;
        return 1 / norm;
    }
    return 0;
}

double tacit_schema_reach(const tacit_schema *schema) {
    double reach = 0;
    if (schema->formula != NULL) return tacit_formula_reach(schema->formula);
    for (size_t i = 0; i < schema->cols; i++) reach += tacit_schema_column_reach(&schema->columns[i]);
    return reach;
}

double tacit_schema_column_factor(const tacit_schema *schema, double reach, double norm,
                                  tacit_encode_counts *counts) {
    return encode_row_factor(schema, norm, reach, counts);
}

double tacit_schema_row_factor(const tacit_schema *schema, double norm, tacit_encode_counts *counts) {
    return encode_row_factor(schema, norm, 0, counts) * encode_inside_ball(schema, schema->sparse);
}

double tacit_schema_intercept_value(const tacit_schema *schema) {
    return encode_inside_ball(schema, tacit_schema_features(schema));
}

/* What every entry of a row is multiplied by, of rows that are not shortened. */
static double term_factor(const tacit_schema *schema) {
    double reach = tacit_formula_reach(schema->formula), inside = tacit_schema_intercept_value(schema);
    return inside / (schema->rows == TACIT_ROWS_CLIP ? schema->clip : sqrt(reach > 0 ? reach : 1));
}

size_t tacit_schema_term_parts(const tacit_schema *schema, size_t feature, tacit_formula_part *out) {
    if (schema->intercept && feature == tacit_formula_features(schema->formula)) {
        *out = (tacit_formula_part){ SIZE_MAX, tacit_schema_intercept_value(schema) };
        return 1;
    }
    size_t count = tacit_formula_parts(schema->formula, feature, out);
    for (size_t k = 0; k < count; k++) out[k].coefficient *= term_factor(schema);
    return count;
}

size_t tacit_schema_offset(const tacit_schema *schema, double *weight, double *low, double *high) {
    double scale;
    size_t feature = SIZE_MAX;
    if (schema != NULL && schema->formula != NULL)
        feature = tacit_formula_offset(schema->formula, &scale, low, high);
    if (feature != SIZE_MAX) *weight = 1 / (scale * term_factor(schema));
    return feature;
}

size_t tacit_schema_weights(const tacit_schema *schema, double *scale, double *least, double *most) {
    size_t feature = SIZE_MAX, column;
    if (schema != NULL && schema->formula != NULL)
        feature = tacit_formula_weights(schema->formula, most, &column);
    if (feature == SIZE_MAX) return SIZE_MAX;
    *scale = *most / term_factor(schema);
    *least = schema->columns[column].low;
    return feature;
}

/* A stratum's feature is the row's factor itself. So a shortened row can be undone, and shortened as the
 * model would. */
void tacit_schema_model_row(const tacit_schema *model, const tacit_schema *schema, const double *row,
                            double *out) {
    size_t column, count, features = tacit_formula_features(model->formula);
    const size_t first = tacit_formula_subgroups(schema->formula, &column, &count);
    double ratio = term_factor(model) / term_factor(schema), square = 0, factor = 0;
    for (size_t k = 0; k < count; k++) factor = fmax(factor, row[first + k]);
    for (size_t j = 0; j < features; j++) square += row[j] * row[j];
    if (schema->rows == TACIT_ROWS_CLIP && factor > 0) {
        tacit_encode_counts ignored = { 0 };
        double inside = tacit_schema_intercept_value(model);
        ratio = encode_row_factor(model, sqrt(square) / factor, 0, &ignored) * inside / factor;
    }
    for (size_t j = 0; j < features; j++) out[j] = row[j] * ratio;
    if (model->intercept) out[features] = tacit_schema_intercept_value(model);
}

tacit_status tacit_schema_linear(const tacit_schema *schema, tacit_feature *out, tacit_error *error) {
    size_t features = tacit_schema_features(schema), used = 0;
    double reach = 0;
    if (schema->formula != NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "the features are terms of a formula, no linear function of single columns: leave "
                          "the terms out, or choose another method");
    if (schema->rows == TACIT_ROWS_UNIT)
        return tacit_fail(error, TACIT_USAGE,
                          "rows: unit in the schema makes features that are no linear function of the "
                          "columns: write rows: bound or {clip: C}");
    for (size_t i = 0; i < schema->cols; i++) {
        if (schema->columns[i].kind == TACIT_SCHEMA_TEXT)
            return tacit_fail(error, TACIT_USAGE,
                              "column '%s' is a text, whose features are no linear function of it: declare "
                              "it skip, or choose another method",
                              schema->columns[i].name);
        if (schema->columns[i].effect)
            return tacit_fail(error, TACIT_USAGE,
                              "column '%s' is effect coded in the schema, and this method needs one feature "
                              "a level: write coding: indicator",
                              schema->columns[i].name);
        reach += tacit_schema_column_reach(&schema->columns[i]);
    }
    double inside = encode_inside_ball(schema, schema->sparse > 0 ? schema->sparse : features);
    double factor = inside / (schema->rows == TACIT_ROWS_CLIP ? schema->clip : sqrt(reach > 0 ? reach : 1));
    for (size_t j = 0; j < schema->sparse; j++)
        out[used++] = (tacit_feature){ SIZE_MAX, SIZE_MAX, factor, 0, false };
    for (size_t i = 0; i < schema->cols; i++) {
        const tacit_schema_column *column = &schema->columns[i];
        bool standardised = column->sd > 0;
        double half = standardised ? column->sd : (column->high - column->low) / 2;
        double middle = standardised ? column->mean : column->low + half;
        if (column->kind == TACIT_SCHEMA_NUMBER)
            out[used++] = (tacit_feature){ i, SIZE_MAX, factor / half, -factor * middle / half, false };
        if (column->kind == TACIT_SCHEMA_NUMBER && column->missing == TACIT_MISSING_INDICATOR)
            out[used++] = (tacit_feature){ i, SIZE_MAX, factor, 0, true };
        size_t levels = column->kind == TACIT_SCHEMA_CATEGORY ? tacit_schema_column_levels(column) : 0;
        for (size_t k = 0; k < levels; k++) out[used++] = (tacit_feature){ i, k, factor, 0, false };
    }
    if (schema->intercept)
        out[used++] = (tacit_feature){ SIZE_MAX, SIZE_MAX, tacit_schema_intercept_value(schema), 0, false };
    return TACIT_OK;
}

/* The entries of a row, scaled, with the intercept last. */
static size_t encode(tacit_encoder *encoder, size_t row) {
    double square, inside = encode_inside_ball(encoder->schema, encoder->features);
    size_t count = collect(encoder, row, &encoder->counts, &square);
    double factor =
        encode_row_factor(encoder->schema, sqrt(square), encoder->reach, &encoder->counts) * inside;
    for (size_t k = 0; k < count; k++) encoder->value[k] *= factor;
    if (encoder->schema->intercept) {
        encoder->column[count] = (uint32_t)(encoder->features - 1);
        encoder->value[count++] = inside;
    }
    encoder->counts.rows++;
    return count;
}

void tacit_encode_dense(tacit_encoder *encoder, size_t row, double *out) {
    size_t count = encode(encoder, row);
    memset(out, 0, encoder->features * sizeof *out);
    for (size_t k = 0; k < count; k++) out[encoder->column[k]] = encoder->value[k];
}

size_t tacit_encode_sparse(tacit_encoder *encoder, size_t row, uint32_t *column, double *value) {
    size_t count = encode(encoder, row);
    memcpy(column, encoder->column, count * sizeof *column);
    memcpy(value, encoder->value, count * sizeof *value);
    return count;
}
