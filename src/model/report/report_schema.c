#include "model/report/report_schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

enum { LABEL = 640 };

static double round_to(double value, int digits) {
    char text[64];
    tacit_format(text, sizeof text, "%.*g", digits, value);
    return tacit_read_double(text, NULL);
}

/* One inner range, from the 5% to the 95% quantile, beyond each of them, rounded outwards and within the old
 * bounds. Values further out count at the bound. */
static void tighten(tacit_schema_column *column, const tacit_report_table *quantiles, bool *changed) {
    double low = tacit_report_value(quantiles, column->name, "5%"),
           high = tacit_report_value(quantiles, column->name, "95%"), range = high - low;
    if (isnan(range) || !(range > 0)) return;
    low = fmax(column->low, tacit_round_down(low - range));
    high = fmin(column->high, tacit_round_up(high + range));
    if (!(high > low) || high - low >= 0.8 * (column->high - column->low)) return; /* not worth a change */
    column->low = low;
    column->high = high;
    *changed = true;
}

static void standardise(tacit_schema_column *column, const tacit_report_table *numbers, bool *changed) {
    double mean = tacit_report_value(numbers, column->name, "mean"),
           sd = tacit_report_value(numbers, column->name, "sd");
    if (isnan(mean) || !(sd > 0)) return;
    column->mean = round_to(fmin(fmax(mean, column->low), column->high), 4);
    column->sd = round_to(sd, 3);
    *changed = true;
}

static bool is_rare(const tacit_schema_column *column, size_t level, const tacit_report_table *levels) {
    char label[LABEL];
    snprintf(label, sizeof label, "%s=%s", column->name, column->levels.text[level]);
    return tacit_report_row(levels, label) != SIZE_MAX && isnan(tacit_report_value(levels, label, "count"));
}

/* A name for the joined levels that no level has. */
static const char *joined_name(const tacit_levels *levels) {
    static const char *const names[] = { "others", "(others)", "other levels" };
    for (size_t k = 0; k < 2; k++)
        if (tacit_levels_find(levels, names[k], strlen(names[k])) < 0) return names[k];
    return names[2];
}

/* Levels whose counts were left out become one, and so does every text that is no level. */
static tacit_status join_rare(tacit_schema_column *column, const tacit_report_table *levels, bool *changed,
                              tacit_error *error) {
    size_t rare = 0, count = column->levels.count;
    for (size_t k = 0; k < count; k++) rare += is_rare(column, k, levels);
    if (rare == 0 || rare == count) return TACIT_OK;
    const char *name =
        column->others >= 0 ? column->levels.text[column->others] : joined_name(&column->levels);
    tacit_levels kept = TACIT_LEVELS_INIT;
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < count && status == TACIT_OK; k++)
        if (!is_rare(column, k, levels) && (int32_t)k != column->others)
            status =
                tacit_levels_add(&kept, column->levels.text[k], strlen(column->levels.text[k]), NULL, error);
    int32_t code = -1;
    if (status == TACIT_OK) status = tacit_levels_add(&kept, name, strlen(name), &code, error);
    if (status != TACIT_OK) {
        tacit_levels_clear(&kept);
        return status;
    }
    tacit_levels_clear(&column->levels);
    column->levels = kept;
    column->others = code;
    *changed = true;
    return TACIT_OK;
}

static tacit_status propose_column(tacit_schema_column *column, const tacit_report *report, bool public,
                                   tacit_error *error) {
    const tacit_report_table *numbers = tacit_report_find(report, "numbers"),
                             *quantiles = tacit_report_find(report, "quantiles"),
                             *levels = tacit_report_find(report, "levels");
    bool changed = false;
    if (column->kind == TACIT_SCHEMA_NUMBER && numbers != NULL && quantiles != NULL) {
        tighten(column, quantiles, &changed);
        standardise(column, numbers, &changed);
    }
    if (column->kind == TACIT_SCHEMA_CATEGORY && levels != NULL)
        TACIT_TRY(join_rare(column, levels, &changed, error));
    if (changed && !public) column->from_rows = true;
    return TACIT_OK;
}

static tacit_status name_release(const tacit_model *model, tacit_buffer *out, tacit_error *error) {
    const tacit_guarantee *guarantee = &model->guarantee;
    char price[TACIT_PRICE_TEXT_SIZE];
    TACIT_TRY(tacit_buffer_print(
        out, error,
        "Bounds, means, sds and joined levels are proposed from the report of method %s%s%s,\n"
        "%zu %s, %.15g rows: ",
        guarantee->method, guarantee->study[0] != 0 ? " in study " : "", guarantee->study, guarantee->parties,
        guarantee->parties == 1 ? "party" : "parties", model->report->rows));
    if (guarantee->is_private)
        return tacit_buffer_print(out, error,
                                  "%s.\nThey follow from what it released, and cost nothing more.",
                                  tacit_price_text(price, &guarantee->charged));
    return tacit_buffer_print(
        out, error,
        "not private%s%s.\nThey were read off rows, and are marked so: replace them by public "
        "ones before any release.",
        guarantee->reason[0] != 0 ? ", " : "", guarantee->reason);
}

tacit_status tacit_schema_propose(tacit_schema **out, const tacit_model *model, tacit_buffer *comment,
                                  tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_schema *schema = NULL;
    tacit_status status;
    if (model->report == NULL || strcmp(model->report->kind, "describe") != 0 || model->schema == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "a schema is proposed from a report of 'tacit describe' or of a study that "
                          "describes rows, and this is none");
    TACIT_CHECK(tacit_schema_canonical(model->schema, &text, error));
    TACIT_CHECK(tacit_schema_parse(&schema, tacit_buffer_text(&text), text.length, "schema", error));
    for (size_t i = 0; i < schema->cols; i++)
        TACIT_CHECK(propose_column(&schema->columns[i], model->report, model->guarantee.is_private, error));
    TACIT_CHECK(name_release(model, comment, error));
    *out = schema;
    schema = NULL;
cleanup:
    tacit_schema_free(schema);
    tacit_buffer_clear(&text);
    return status;
}
