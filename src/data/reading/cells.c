#include "data/reading/cells.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"

static tacit_status make_room(tacit_cells *out, size_t columns, tacit_error *error) {
    out->column = TACIT_NEW(tacit_cell_column, columns);
    return out->column != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status without_schema(tacit_cells *out, size_t features, tacit_error *error) {
    TACIT_TRY(make_room(out, features, error));
    out->names = tacit_allocate(features, sizeof *out->names);
    if (out->names == NULL) return tacit_fail_memory(error);
    for (size_t j = 0; j < features; j++) {
        snprintf(out->names[j], sizeof out->names[j], "x%zu", j + 1);
        out->column[out->count++] = (tacit_cell_column){ .name = out->names[j],
                                                         .column = SIZE_MAX,
                                                         .first = j,
                                                         .width = 1,
                                                         .factor = 1,
                                                         .low = -1,
                                                         .high = 1 };
    }
    return TACIT_OK;
}

static tacit_status with_schema(tacit_cells *out, const tacit_schema *schema, tacit_error *error) {
    size_t first = 0;
    double reach = tacit_schema_reach(schema), inside = tacit_schema_intercept_value(schema);
    if (schema->sparse > 0)
        return tacit_fail(error, TACIT_USAGE,
                          "rows of a LIBSVM file have no columns with names and bounds to describe");
    if (schema->rows == TACIT_ROWS_UNIT)
        return tacit_fail(error, TACIT_USAGE,
                          "rows: unit in the schema makes features that columns cannot be read back from: "
                          "write rows: bound or {clip: C}");
    double factor = inside / (schema->rows == TACIT_ROWS_CLIP ? schema->clip : sqrt(reach > 0 ? reach : 1));
    TACIT_TRY(make_room(out, schema->cols, error));
    for (size_t i = 0; i < schema->cols; i++) {
        const tacit_schema_column *from = &schema->columns[i];
        size_t width = tacit_schema_column_features(from);
        bool number = from->kind == TACIT_SCHEMA_NUMBER;
        tacit_scale scale = number ? tacit_scale_of(from) : (tacit_scale){ .half_width = 1 };
        if (number || from->kind == TACIT_SCHEMA_CATEGORY)
            out->column[out->count++] = (tacit_cell_column){ .name = from->name,
                                                             .levels = number ? NULL : &from->levels,
                                                             .effect = from->effect,
                                                             .column = i,
                                                             .first = first,
                                                             .width = width,
                                                             .factor = factor / scale.half_width,
                                                             .middle = scale.middle,
                                                             .low = from->low,
                                                             .high = from->high };
        first += width;
    }
    return TACIT_OK;
}

tacit_status tacit_cells_create(tacit_cells *out, const tacit_schema *schema, size_t features,
                                tacit_error *error) {
    *out = (tacit_cells){ .features = features };
    tacit_status status =
        schema != NULL ? with_schema(out, schema, error) : without_schema(out, features, error);
    if (status != TACIT_OK) tacit_cells_clear(out);
    return status;
}

void tacit_cells_clear(tacit_cells *cells) {
    free(cells->column);
    free(cells->names);
    *cells = (tacit_cells){ .count = 0 };
}

tacit_status tacit_cells_check_rows(const tacit_schema *schema, const tacit_view *rows, tacit_error *error) {
    if (rows->shortened > 0)
        return tacit_fail(
            error, TACIT_INPUT,
            "rows: {clip: %g} in the schema has shortened %zu rows, whose columns cannot be read "
            "back: write a larger C, or rows: bound",
            schema != NULL ? schema->clip : 0, rows->shortened);
    if (rows->absent_cells > 0 && rows->absent == NULL)
        return tacit_fail(error, TACIT_INPUT,
                          "%llu cells are missing, and these rows do not say which: describe a file, or fill "
                          "the cells first",
                          (unsigned long long)rows->absent_cells);
    return TACIT_OK;
}

static double level_of(const tacit_cell_column *from, const double *feature) {
    for (size_t k = 0; k < from->width; k++) {
        if (feature[k] > 0) return (double)k;
        if (from->effect && feature[k] < 0) return (double)(from->levels->count - 1);
    }
    return NAN;
}

void tacit_cells_read(const tacit_cells *cells, const double *row, const uint8_t *absent, double *out) {
    for (size_t c = 0; c < cells->count; c++) {
        const tacit_cell_column *from = &cells->column[c];
        size_t bit = from->column;
        if (absent != NULL && bit != SIZE_MAX && (absent[bit / 8] >> bit % 8 & 1) != 0)
            out[c] = NAN;
        else if (from->levels != NULL)
            out[c] = level_of(from, row + from->first);
        else
            out[c] = fmin(fmax(row[from->first] / from->factor + from->middle, from->low), from->high);
    }
}
