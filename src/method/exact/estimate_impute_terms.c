/* Imputation where features are terms: columns are completed as they are in the file, as R's mice does it,
 * and the terms are made of the completed ones (estimate_impute.h). */
#include "method/exact/estimate_impute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static size_t levels_of(const tacit_schema_column *column) { return tacit_schema_column_levels(column); }

tacit_status estimate_terms_lay_out(estimate_gaps *self, const tacit_schema *schema, tacit_error *error) {
    if (self->rows->raw == NULL && self->rows->rows.count > 0)
        return tacit_fail(error, TACIT_USAGE,
                          "values are imputed before they go through terms, and these rows came already "
                          "encoded: read them from a file, or leave the terms out");
    self->at = TACIT_NEW(size_t, schema->cols + 1);
    if (self->at == NULL) return tacit_fail_memory(error);
    self->schema = schema;
    self->width = 1; /* the constant */
    for (size_t i = 0; i < schema->cols; i++) {
        const tacit_schema_column *column = &schema->columns[i];
        const bool category = column->kind == TACIT_SCHEMA_CATEGORY;
        self->at[i] = SIZE_MAX;
        if (!tacit_formula_uses(schema->formula, i) || tacit_schema_is_weights(schema, i)) continue;
        if (category && levels_of(column) < 2) continue;
        self->at[i] = self->width;
        self->width += category ? levels_of(column) - 1 : 1;
    }
    return TACIT_OK;
}

void estimate_terms_place(estimate_gap *out, const estimate_gaps *self, const tacit_schema *schema,
                          size_t column) {
    const tacit_schema_column *declared = &schema->columns[column];
    const bool category = declared->kind == TACIT_SCHEMA_CATEGORY;
    out->feature = column;
    out->variable = (tacit_impute_variable){
        .name = declared->name, .category = category, .low = -1, .high = 1, .unit = 1
    };
    if (self->at[column] == SIZE_MAX) return;
    out->variable.first = self->at[column];
    out->variable.count = category ? levels_of(declared) - 1 : 1;
}

static double middle_of(const tacit_schema_column *column) { return (column->low + column->high) / 2; }
static double half_of(const tacit_schema_column *column) { return (column->high - column->low) / 2; }

void estimate_terms_predictors(double *out, const estimate_gaps *self, size_t row) {
    const tacit_view *rows = self->rows;
    const double *raw = rows->raw + tacit_rows_stored(&rows->rows, row) * rows->raw_columns;
    memset(out, 0, self->width * sizeof *out);
    out[0] = 1;
    for (size_t i = 0; i < self->schema->cols; i++) {
        const tacit_schema_column *column = &self->schema->columns[i];
        if (self->at[i] == SIZE_MAX || isnan(raw[i])) continue;
        if (column->kind == TACIT_SCHEMA_NUMBER)
            out[self->at[i]] = fmin(fmax((raw[i] - middle_of(column)) / half_of(column), -1), 1);
        else if (raw[i] >= 1)
            out[self->at[i] + (size_t)raw[i] - 1] = 1;
    }
}

tacit_status estimate_terms_put(tacit_estimate_completed *out, const estimate_gaps *self,
                                const tacit_schema *schema, const double *set, tacit_error *error) {
    const tacit_view *rows = self->rows;
    const size_t n = rows->rows.count, columns = rows->raw_columns;
    double *raw = TACIT_NEW(double, n *columns + 1), *number = TACIT_NEW(double, columns + 1);
    int32_t *level = TACIT_NEW(int32_t, columns + 1);
    bool *drawn = TACIT_NEW(bool, n + 1);
    tacit_status status =
        raw != NULL && number != NULL && level != NULL && drawn != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t i = 0; status == TACIT_OK && i < n; i++)
        memcpy(raw + i * columns, rows->raw + tacit_rows_stored(&rows->rows, i) * columns,
               columns * sizeof *raw);
    for (size_t g = 0; status == TACIT_OK && g < self->count; g++) {
        const estimate_gap *one = &self->gap[g];
        const tacit_schema_column *column = &schema->columns[one->feature];
        for (size_t c = 0; c < one->variable.cells; c++) {
            const double value = set[one->first + c];
            drawn[one->row[c]] = true;
            raw[one->row[c] * columns + one->feature] =
                one->variable.category ? value : middle_of(column) + value * half_of(column);
        }
    }
    for (size_t i = 0; status == TACIT_OK && i < n; i++)
        if (drawn[i])
            tacit_schema_encode_raw(schema, raw + i * columns, number, level,
                                    out->values.values + i * out->values.cols);
    free(raw);
    free(number);
    free(level);
    free(drawn);
    return status;
}
