#include "method/tables/histogram_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/encode.h"

static tacit_status too_many(size_t columns, tacit_error *error) {
    return tacit_fail(error, TACIT_USAGE,
                      "method histogram counts cells and works for at most %d columns, and there are %zu: "
                      "skip some in the schema, or choose another method",
                      HISTOGRAM_MOST_AXES, columns);
}

static tacit_status axes_of_schema(histogram_grid *out, const tacit_schema *schema, tacit_error *error) {
    size_t features = tacit_schema_features(schema), columns = 0;
    if (schema->sparse > 0) return too_many(schema->sparse, error);
    for (size_t i = 0; i < schema->cols; i++) columns += schema->columns[i].kind != TACIT_SCHEMA_SKIP;
    if (columns > HISTOGRAM_MOST_AXES) return too_many(columns, error);
    tacit_feature *feature = TACIT_NEW(tacit_feature, features);
    if (feature == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_schema_linear(schema, feature, error);
    for (size_t j = 0; j < features && status == TACIT_OK; j++) {
        const tacit_feature *one = &feature[j];
        if (one->column == SIZE_MAX) {
            out->intercept = one->scale;
            continue;
        }
        const tacit_schema_column *column = &schema->columns[one->column];
        if (column->sd > 0)
            status = tacit_fail(error, TACIT_USAGE,
                                "method histogram cuts the range from low to high into cells of equal width: "
                                "column '%s' must have no mean and sd",
                                column->name);
        if (one->missing)
            status = tacit_fail(error, TACIT_USAGE,
                                "method histogram has no cell for missing numbers: give column '%s' another "
                                "missing than indicator",
                                column->name);
        if (one->level == SIZE_MAX)
            out->axis[out->axes++] = (histogram_axis){
                .first = j, .number = true, .reach = one->scale * (column->high - column->low) / 2
            };
        else if (one->level == 0)
            out->axis[out->axes++] =
                (histogram_axis){ j, tacit_schema_column_levels(column) + 1, false, one->scale };
    }
    free(feature);
    return status;
}

/* Rows without a schema: every feature is a number in [-1, 1]. */
static tacit_status axes_of_features(histogram_grid *out, size_t features, tacit_error *error) {
    if (features > HISTOGRAM_MOST_AXES) return too_many(features, error);
    for (size_t j = 0; j < features; j++)
        out->axis[out->axes++] = (histogram_axis){ .first = j, .number = true, .reach = 1 };
    return TACIT_OK;
}

/* m of the header, with `numbers` for d; `room`: how many cells there may be. */
static double cells_along(const tacit_plan *plan, size_t numbers, double room) {
    double n = fmax(2, tacit_plan_expected_rows(plan)), d = (double)numbers;
    double width = pow(fmax(1, 2 * sqrt(2) / plan->epsilon) * sqrt(log(n)) / n, 2 / (2 + d));
    return fmax(1, fmin(ceil(1 / width), floor(pow(room, 1 / fmax(1, d)) * (1 + 1e-12))));
}

/* How the label and numbers are cut up, where the other columns have `others` cells. */
static tacit_status cut(histogram_grid *out, const tacit_plan *plan, size_t numbers, double others,
                        tacit_error *error) {
    const histogram_settings *settings = TACIT_SETTINGS(histogram_settings, plan);
    const tacit_schema *schema = plan->schema;
    const double room = HISTOGRAM_MOST_COUNTS / others;
    double along, labels = (double)plan->classes;
    if (plan->classes > 0) {
        along = cells_along(plan, numbers, room / labels);
    } else {
        if (schema == NULL)
            return tacit_fail(error, TACIT_USAGE,
                              "method histogram cuts the label up between its bounds: give a schema that has "
                              "its low and high");
        const bool counts = schema->response == TACIT_RESPONSE_COUNT;
        out->low = schema->low;
        out->high = schema->high;
        out->values = counts ? schema->high - schema->low + 1 : 0;
        along = labels = cells_along(plan, numbers + 1, room);
        if (counts && out->values <= labels) {
            labels = out->values;
            along = cells_along(plan, numbers, room / labels);
        }
        if (settings->label_cells > 0) labels = (double)settings->label_cells;
        if (counts) labels = fmin(labels, out->values);
    }
    out->along = settings->cells > 0 ? settings->cells : (size_t)along;
    out->labels = (size_t)labels;
    return TACIT_OK;
}

tacit_status histogram_make_grid(histogram_grid *out, const tacit_plan *plan, tacit_error *error) {
    *out = (histogram_grid){ .axes = 0 };
    if (plan->schema != NULL)
        TACIT_TRY(axes_of_schema(out, plan->schema, error));
    else
        TACIT_TRY(axes_of_features(out, plan->features, error));
    size_t numbers = 0;
    double cells = 1;
    for (size_t a = 0; a < out->axes; a++) {
        numbers += out->axis[a].number;
        if (!out->axis[a].number) cells *= (double)out->axis[a].cells;
    }
    TACIT_TRY(cut(out, plan, numbers, cells, error));
    for (size_t a = 0; a < out->axes; a++) {
        if (!out->axis[a].number) continue;
        out->axis[a].cells = out->along;
        cells *= (double)out->along;
    }
    if (cells * (double)out->labels > HISTOGRAM_MOST_COUNTS)
        return tacit_fail(error, TACIT_USAGE,
                          "the grid has %.0f counts, more than the %d that method histogram takes: have "
                          "fewer cells%s, levels or columns",
                          cells * (double)out->labels, HISTOGRAM_MOST_COUNTS,
                          plan->classes > 0 ? "" : ", label_cells");
    out->cells = (size_t)cells;
    return TACIT_OK;
}

size_t histogram_cell_of(const histogram_grid *grid, const double *x) {
    size_t cell = 0;
    for (size_t a = 0; a < grid->axes; a++) {
        const histogram_axis *one = &grid->axis[a];
        size_t at = one->cells - 1; /* of a category: no level */
        if (one->number) {
            double place = (x[one->first] / one->reach + 1) / 2 * (double)one->cells;
            at = (size_t)fmin(fmax(place, 0), (double)at);
        } else {
            for (size_t k = 0; k + 1 < one->cells; k++)
                if (x[one->first + k] > 0) at = k;
        }
        cell = cell * one->cells + at;
    }
    return cell;
}

void histogram_center_of(const histogram_grid *grid, size_t cell, size_t features, double *x) {
    memset(x, 0, features * sizeof *x);
    for (size_t a = grid->axes; a-- > 0;) {
        const histogram_axis *one = &grid->axis[a];
        size_t at = cell % one->cells;
        cell /= one->cells;
        if (one->number)
            x[one->first] = one->reach * ((2 * (double)at + 1) / (double)one->cells - 1);
        else if (at + 1 < one->cells)
            x[one->first + at] = one->reach;
    }
    if (grid->intercept > 0) x[features - 1] = grid->intercept;
}

size_t histogram_label_cell(const histogram_grid *grid, double y) {
    const double cells = (double)grid->labels;
    const double place = grid->values > 0 ? floor((y - grid->low) * cells / grid->values)
                                          : (y - grid->low) / (grid->high - grid->low) * cells;
    return (size_t)fmin(fmax(place, 0), cells - 1);
}

double histogram_label_center(const histogram_grid *grid, size_t cell) {
    const double k = (double)cell, cells = (double)grid->labels, values = grid->values;
    if (values > 0) return grid->low + (ceil(k * values / cells) + ceil((k + 1) * values / cells) - 1) / 2;
    return grid->low + (2 * k + 1) / (2 * cells) * (grid->high - grid->low);
}
