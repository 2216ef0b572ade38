#include "api/described.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

enum { LABEL = 640 };

tacit_status tacit_described_load(tacit_model **out, const char *path, tacit_error *error) {
    tacit_model *model = NULL;
    TACIT_TRY(tacit_model_load(&model, path, error));
    if (model->report == NULL || strcmp(model->report->kind, "describe") != 0) {
        tacit_model_free(model);
        return tacit_fail(error, TACIT_USAGE,
                          "%s is no report of 'tacit describe' or of a study that describes rows", path);
    }
    *out = model;
    return TACIT_OK;
}

size_t tacit_described_rows(const tacit_model *model) {
    return model->report->rows >= 1 ? (size_t)model->report->rows : 0;
}

double tacit_described_positives(const tacit_model *model, const tacit_schema *schema) {
    const tacit_report_table *levels = tacit_report_find(model->report, "levels");
    char label[LABEL];
    if (levels == NULL || schema == NULL || schema->classes.count != 2) return 0;
    tacit_format(label, sizeof label, "%s=%s", schema->label, schema->classes.text[1]);
    double share = tacit_report_value(levels, label, "share");
    return share > 0 && share < 1 ? share : 0;
}

/* ---- remarks ---- */

/* Levels without a figure, or without rows: each takes a coefficient that hardly any row speaks for. */
static tacit_status remark_levels(const tacit_schema_column *column, const tacit_report_table *levels,
                                  tacit_buffer *out, tacit_error *error) {
    size_t rare = 0;
    for (size_t k = 0; k < column->levels.count; k++) {
        char label[LABEL];
        tacit_format(label, sizeof label, "%s=%s", column->name, column->levels.text[k]);
        if (tacit_report_row(levels, label) == SIZE_MAX || (int32_t)k == column->others) continue;
        double count = tacit_report_value(levels, label, "count");
        if (count >= 1) continue;
        TACIT_TRY(tacit_buffer_print(out, error, "%s%s", rare == 0 ? "" : ", ", label));
        rare++;
    }
    if (rare == 0) return TACIT_OK;
    return tacit_buffer_print(
        out, error,
        ": no figure in the report, since there are too few rows, or would be too few beside it; join rare "
        "levels (others: in the schema), as `tacit describe --report FILE --propose-schema` does\n");
}

static tacit_status remark_bounds(const tacit_schema_column *column, double low, double high,
                                  tacit_buffer *out, tacit_error *error) {
    static const double WIDE = 5;
    if (!(high > low) || column->high - column->low < WIDE * (high - low)) return TACIT_OK;
    return tacit_buffer_print(out, error,
                              "%s: nine values in ten lie between %.4g and %.4g, and its bounds are %.4g and "
                              "%.4g; narrower ones make noise count less\n",
                              column->name, low, high, column->low, column->high);
}

/* The formula's own text has the spline of this column. */
static bool has_spline(const tacit_schema *schema, const char *name) {
    static const char *const kinds[] = { "spline(", "ns(", "bs(" };
    const char *text = schema->formula != NULL ? tacit_formula_text(schema->formula) : NULL;
    for (size_t k = 0; text != NULL && k < sizeof kinds / sizeof *kinds; k++)
        for (const char *at = strstr(text, kinds[k]); at != NULL; at = strstr(at + 1, kinds[k])) {
            const char *inside = at + strlen(kinds[k]);
            size_t length = strlen(name);
            if (strncmp(inside, name, length) == 0 && strcspn(inside + length, ",) ") == 0) return true;
        }
    return false;
}

static tacit_status remark_knots(const tacit_schema *schema, const tacit_schema_column *column,
                                 const tacit_report_table *quantiles, tacit_buffer *out, tacit_error *error) {
    double quarter = tacit_report_value(quantiles, column->name, "25%"),
           half = tacit_report_value(quantiles, column->name, "50%"),
           most = tacit_report_value(quantiles, column->name, "75%");
    if (!has_spline(schema, column->name) || !(quarter < half && half < most)) return TACIT_OK;
    return tacit_buffer_print(out, error, "%s: knots where its rows are: knots = c(%.4g, %.4g, %.4g)\n",
                              column->name, quarter, half, most);
}

static tacit_status name_release(const tacit_model *model, tacit_buffer *out, tacit_error *error) {
    const tacit_guarantee *guarantee = &model->guarantee;
    char price[TACIT_PRICE_TEXT_SIZE];
    TACIT_TRY(tacit_buffer_print(out, error, "from the report of method %s%s%s, %.15g rows, ",
                                 guarantee->method, guarantee->study[0] != 0 ? " in study " : "",
                                 guarantee->study, model->report->rows));
    if (guarantee->is_private)
        return tacit_buffer_print(out, error, "%s: what follows from it costs nothing more\n",
                                  tacit_price_text(price, &guarantee->charged));
    return tacit_buffer_print(out, error, "which is not private: what follows from it is not either\n");
}

tacit_status tacit_described_remarks(const tacit_model *model, const tacit_schema *schema, tacit_buffer *out,
                                     tacit_error *error) {
    const tacit_report_table *levels = tacit_report_find(model->report, "levels"),
                             *quantiles = tacit_report_find(model->report, "quantiles");
    TACIT_TRY(name_release(model, out, error));
    for (size_t j = 0; schema != NULL && j < schema->cols; j++) {
        const tacit_schema_column *column = &schema->columns[j];
        if (column->kind == TACIT_SCHEMA_CATEGORY && levels != NULL)
            TACIT_TRY(remark_levels(column, levels, out, error));
        if (column->kind != TACIT_SCHEMA_NUMBER || quantiles == NULL) continue;
        TACIT_TRY(remark_bounds(column, tacit_report_value(quantiles, column->name, "5%"),
                                tacit_report_value(quantiles, column->name, "95%"), out, error));
        TACIT_TRY(remark_knots(schema, column, quantiles, out, error));
    }
    return TACIT_OK;
}
