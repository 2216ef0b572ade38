#include "cli/print/missing_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/row_reading.h"
#include "method/uncounted.h"

/* As mice::pool has it: within and between variance, degrees of freedom, fraction of missing information. */
static void print_pooled(tacit_console *console, const tacit_estimates *estimates) {
    size_t width = 11;
    for (size_t k = 0; k < estimates->count; k++) {
        size_t length = strlen(estimates->coefficient[k].name);
        if (length > width) width = length;
    }
    tacit_console_print(console,
                        "Imputed: %zu sets, completed inside each party and pooled by Rubin's rules\n"
                        "%-*s %12s %12s %10s %8s\n",
                        estimates->sets, (int)width, "", "within", "between", "df", "fmi");
    for (size_t k = 0; k < estimates->count; k++) {
        const tacit_coefficient *one = &estimates->coefficient[k];
        tacit_console_print(console, "%-*s %12.5g %12.5g %10.1f %8.3f\n", (int)width, one->name, one->within,
                            one->between, one->degrees, one->lost);
    }
    tacit_console_print(console, "\n");
}

static const char *result(const char *rule) {
    if (strcmp(rule, "complete-case") == 0) return "row left out";
    if (strcmp(rule, "indicator") == 0) return "filled, with an indicator";
    if (strcmp(rule, "level") == 0) return "a level of its own";
    return strcmp(rule, "impute") == 0 ? "imputed" : "filled";
}

static void print_counts(tacit_console *console, const tacit_estimates *estimates) {
    tacit_console_print(console, "Missing: ");
    if (estimates->left_out > 0 || estimates->left_out_withheld > 0)
        tacit_console_print(console, "%.0f incomplete %s left out", estimates->left_out,
                            tacit_plural((uint64_t)estimates->left_out, "row", "rows"));
    else
        tacit_console_print(console, "no row left out");
    if (estimates->left_out_withheld > 0)
        tacit_console_print(console, ", and few of each of %.0f %s, not said how many",
                            estimates->left_out_withheld,
                            tacit_plural((uint64_t)estimates->left_out_withheld, "party", "parties"));
    tacit_console_print(console, "\n");
    for (size_t k = 0; k < estimates->missing_columns; k++) {
        const tacit_missing_count *one = &estimates->missing[k];
        if (one->cells == 0 && one->withheld == 0) continue;
        tacit_console_print(console, "  %s: %.0f (%s)", one->column, one->cells, result(one->rule));
        if (one->withheld > 0)
            tacit_console_print(console, ", and few of each of %.0f %s, not said how many", one->withheld,
                                tacit_plural((uint64_t)one->withheld, "party", "parties"));
        tacit_console_print(console, "\n");
    }
}

tacit_status tacit_missing_counts_print(tacit_console *console, const tacit_model *model,
                                        tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    if (model->missing_counts == NULL) {
        tacit_missing_uncounted_print(console, model);
        return TACIT_OK;
    }
    tacit_status status = tacit_report_print_text(model->missing_counts, &text, error);
    if (status == TACIT_OK)
        tacit_console_print(console, "\nMissing values\n\n%s\n", tacit_buffer_text(&text));
    tacit_buffer_clear(&text);
    return status;
}

void tacit_missing_uncounted_print(tacit_console *console, const tacit_model *model) {
    char sentence[TACIT_UNCOUNTED_SIZE];
    if (tacit_missing_uncounted(model, sentence)) tacit_console_print(console, "%s\n", sentence);
}

tacit_status tacit_missing_print(tacit_console *console, const tacit_model *model, tacit_error *error) {
    const tacit_estimates *estimates = model->estimates;
    if (estimates->sets > 0) print_pooled(console, estimates);
    if (model->missing_counts != NULL) return tacit_missing_counts_print(console, model, error);
    if (estimates->missing_columns > 0)
        print_counts(console, estimates);
    else
        tacit_missing_uncounted_print(console, model);
    return TACIT_OK;
}

void tacit_missing_note(tacit_console *console, const tacit_schema *schema, const tacit_dataset *rows) {
    size_t columns = schema->cols + 1, said = 0;
    uint64_t *counts = TACIT_NEW(uint64_t, columns), left_out;
    if (counts == NULL) return; /* it is for information only */
    const tacit_view all = tacit_dataset_view(rows);
    left_out = tacit_view_missing(&all, columns, counts);
    if (left_out > 0)
        tacit_console_note(console, "%-10s %llu of your rows %s incomplete and left out",
                           said++ == 0 ? "missing" : "", (unsigned long long)left_out,
                           tacit_plural(left_out, "is", "are"));
    for (size_t j = 0; j < columns; j++) {
        if (counts[j] == 0) continue;
        tacit_missing rule = j < schema->cols ? tacit_schema_missing(schema, &schema->columns[j])
                                              : TACIT_MISSING_COMPLETE_CASE;
        tacit_console_note(console, "%-10s %s: %llu %s missing (%s)", said++ == 0 ? "missing" : "",
                           j < schema->cols ? schema->columns[j].name : schema->label,
                           (unsigned long long)counts[j], tacit_plural(counts[j], "value", "values"),
                           result(tacit_missing_name(rule)));
    }
    free(counts);
}
