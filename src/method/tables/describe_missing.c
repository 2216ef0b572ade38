/*
 * missing=counted: how many values each column lacks, and how many rows were left out for it (missing:
 * complete-case), which the other tables do not see. In describe they are part of the one vector
 * (describe_plan.c has its sensitivity); in describe-exact one more sum, in which a party with some, but
 * fewer than its owner's minimum, says none and is counted.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/number.h"
#include "method/exact/estimate.h"
#include "method/missing_sum.h"
#include "method/tables/describe.h"

size_t describe_missing_counts(const tacit_plan *plan) {
    if (describe_settings_of(plan)->missing != DESCRIBE_MISSING_COUNTED || plan->schema == NULL) return 0;
    return plan->schema->cols + 2;
}

tacit_status describe_check_missing(const tacit_plan *plan, tacit_error *error) {
    const describe_settings *settings = describe_settings_of(plan);
    if (settings->missing != DESCRIBE_MISSING_COUNTED) return TACIT_OK;
    if (describe_apart(plan))
        return tacit_fail(error, TACIT_USAGE, "missing=counted is of all parties together: leave sites out");
    if (settings->exact != 0 && plan->schema != NULL && !tacit_schema_counts_missing(plan->schema))
        return tacit_fail(error, TACIT_USAGE,
                          "missing=counted needs a schema that says what becomes of missing values: write "
                          "missing: complete-case, or another of its words");
    return TACIT_OK;
}

tacit_status describe_count_missing(const tacit_party *party, double *out, tacit_error *error) {
    const size_t columns = party->plan->schema->cols + 1;
    uint64_t *counts = TACIT_NEW(uint64_t, columns);
    if (counts == NULL) return tacit_fail_memory(error);
    out[columns] += (double)tacit_view_missing(&party->rows, columns, counts);
    for (size_t j = 0; j < columns; j++) out[j] += (double)counts[j];
    free(counts);
    return TACIT_OK;
}

tacit_status describe_report_missing(tacit_report *report, const tacit_plan *plan, const double *counts,
                                     double weight, double noise, tacit_error *error) {
    static const char *const names[] = { "count", NULL };
    const tacit_schema *schema = plan->schema;
    const double threshold = (double)describe_settings_of(plan)->threshold;
    tacit_report_table *table;
    TACIT_TRY(tacit_report_add_table(report, &table, "missing", "Missing values by what becomes of them",
                                     names, error));
    for (size_t j = 0; j < schema->cols + 2; j++) {
        char label[200] = "rows left out";
        if (j < schema->cols && schema->columns[j].kind == TACIT_SCHEMA_SKIP) continue;
        if (j <= schema->cols)
            tacit_format(label, sizeof label, "%.150s: %s",
                         j < schema->cols ? schema->columns[j].name : schema->label,
                         tacit_missing_name(missing_rule_at(schema, j)));
        const double count = counts[j] / weight;
        const bool few = count < threshold && threshold > 0;
        const double value = few ? NAN : count, error_of = few ? NAN : noise;
        TACIT_TRY(tacit_report_add_row(table, label, &value, &error_of, error));
    }
    return TACIT_OK;
}

tacit_status describe_ask_missing(tacit_session *session, size_t parties, tacit_report *report,
                                  tacit_error *error) {
    const tacit_plan *plan = session->plan;
    const tacit_sum_spec spec = tacit_estimate_missing_sum(plan);
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_ask_sum(session, "missing", NULL, &spec, &sum, error));
    if (sum.parties != parties)
        TACIT_CHECK(
            tacit_fail(error, TACIT_REFUSED,
                       "other parties count their missing values than took part; run the study again"));
    TACIT_CHECK(missing_sum_add_table(report, plan->schema, sum.values,
                                      (double)describe_settings_of(plan)->threshold, error));
cleanup:
    tacit_sum_clear(&sum);
    return status;
}
