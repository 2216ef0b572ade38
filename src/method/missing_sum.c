#include "method/missing_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

tacit_counted missing_sum_counted(const tacit_plan *plan, missing_sum_setting setting) {
    if (setting != MISSING_SUM_COUNTED) return TACIT_COUNTED_NOT;
    if (plan->schema == NULL) return TACIT_COUNTED_PERHAPS;
    return tacit_schema_counts_missing(plan->schema) ? TACIT_COUNTED : TACIT_COUNTED_NOT;
}

/* Of columns, the label, and rows left out: a number and whether it is withheld. */
size_t missing_sum_length(const tacit_schema *schema) { return 2 * (schema->cols + 2); }

size_t missing_sum_behind(const tacit_plan *plan) {
    return tacit_plan_counts_missing(plan) == TACIT_COUNTED ? missing_sum_length(plan->schema) : 0;
}

tacit_missing missing_rule_at(const tacit_schema *schema, size_t j) {
    if (j < schema->cols) return tacit_schema_missing(schema, &schema->columns[j]);
    return tacit_schema_leaves_out_unlabelled(schema) ? TACIT_MISSING_COMPLETE_CASE : TACIT_MISSING_ERROR;
}

static const char *rule_of(const tacit_schema *schema, size_t j) {
    return tacit_missing_name(missing_rule_at(schema, j));
}

static bool is_skipped(const tacit_schema *schema, size_t j) {
    return j < schema->cols && schema->columns[j].kind == TACIT_SCHEMA_SKIP;
}

/* ---- the party's half ---- */

tacit_status missing_sum_add_up(const tacit_party *party, double most, double *out, tacit_error *error) {
    const size_t columns = party->plan->schema->cols + 1;
    const bool real = party->gate != NULL && party->gate->mode == TACIT_GATE_REAL;
    uint64_t *counts = TACIT_NEW(uint64_t, columns);
    if (counts == NULL) return tacit_fail_memory(error);
    memset(out, 0, missing_sum_length(party->plan->schema) * sizeof *out);
    out[columns] = (double)tacit_view_missing(&party->rows, columns, counts);
    for (size_t j = 0; j < columns; j++) out[j] = (double)counts[j];
    free(counts);
    if (party->reducer != NULL)
        TACIT_TRY(party->reducer->sum(party->reducer->context, out, columns + 1, error));
    for (size_t j = 0; j <= columns; j++) {
        out[j] = fmin(out[j], most);
        if (!real || out[j] == 0 || out[j] >= (double)party->gate->policy->minimum_rows) continue;
        out[j] = 0;
        out[columns + 1 + j] = 1;
    }
    return TACIT_OK;
}

/* ---- the coordinator's half ---- */

tacit_status missing_sum_keep(double **out, const tacit_plan *plan, const tacit_sum *sum, size_t before,
                              tacit_error *error) {
    const size_t length = missing_sum_behind(plan);
    *out = NULL;
    if (length == 0) return TACIT_OK;
    *out = TACIT_NEW(double, length);
    if (*out == NULL) return tacit_fail_memory(error);
    memcpy(*out, sum->values + before, length * sizeof **out);
    return TACIT_OK;
}

tacit_status missing_sum_put(tacit_estimates *out, const tacit_schema *schema, const double *values,
                             tacit_error *error) {
    if (values == NULL) return TACIT_OK;
    const size_t columns = schema->cols + 1;
    out->missing = TACIT_NEW(tacit_missing_count, columns);
    if (out->missing == NULL) return tacit_fail_memory(error);
    for (size_t j = 0; j < columns; j++) {
        if (is_skipped(schema, j)) continue;
        tacit_missing_count *one = &out->missing[out->missing_columns];
        one->column = tacit_copy_text(j == schema->cols ? schema->label : schema->columns[j].name);
        if (one->column == NULL) return tacit_fail_memory(error);
        out->missing_columns++;
        tacit_format(one->rule, sizeof one->rule, "%s", rule_of(schema, j));
        one->cells = values[j];
        one->withheld = values[columns + 1 + j];
    }
    out->left_out = values[columns];
    out->left_out_withheld = values[2 * columns + 1];
    return TACIT_OK;
}

tacit_status missing_sum_add_table(tacit_report *report, const tacit_schema *schema, const double *values,
                                   double least, tacit_error *error) {
    static const char *const names[] = { "count", "withheld", NULL };
    tacit_report_table *table;
    if (values == NULL) return TACIT_OK;
    TACIT_TRY(tacit_report_add_table(report, &table, "missing",
                                     "Missing values by what becomes of them; withheld: parties that have "
                                     "few, and say none",
                                     names, error));
    for (size_t j = 0; j < schema->cols + 2; j++) {
        char label[200] = "rows left out";
        if (is_skipped(schema, j)) continue;
        if (j <= schema->cols)
            tacit_format(label, sizeof label, "%.150s: %s",
                         j < schema->cols ? schema->columns[j].name : schema->label, rule_of(schema, j));
        const bool few = values[j] > 0 && values[j] < least;
        TACIT_TRY(tacit_report_add_row(
            table, label, (double[]){ few ? NAN : values[j], values[schema->cols + 2 + j] }, NULL, error));
    }
    return TACIT_OK;
}
