/* Settings of one way to sum or the other, and how many rows are expected in the sums. */
#include <math.h>
#include <string.h>

#include "study/study_parts.h"

tacit_status study_read_key_bits(reading *r, const yaml_node_t *node) {
    tacit_plan *plan = &r->study->plan;
    double bits = 2048;
    if (plan->sums != TACIT_SUMS_PAILLIER) {
        if (node == NULL) return TACIT_OK;
        return tacit_yaml_fail(&r->yaml, node, r->error, "key_bits belongs to sum: paillier: leave it out");
    }
    if (node != NULL) TACIT_TRY(tacit_yaml_number(&r->yaml, node, "key_bits", &bits, r->error));
    if (bits != 2048 && bits != 3072)
        return tacit_yaml_fail(&r->yaml, node, r->error, "key_bits must be 2048 or 3072, not %g", bits);
    plan->key_bits = (unsigned)bits;
    return TACIT_OK;
}

tacit_status study_read_complete(reading *r, const yaml_node_t *node) {
    const char *text;
    size_t length;
    if (node == NULL) return TACIT_OK;
    if (r->study->plan.sums != TACIT_SUMS_MASKED)
        return tacit_yaml_fail(&r->yaml, node, r->error, "complete belongs to sum: masked: leave it out");
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, "complete", &text, &length, r->error));
    r->study->plan.complete = strcmp(text, "yes") == 0;
    if (r->study->plan.complete || strcmp(text, "no") == 0) return TACIT_OK;
    return tacit_yaml_fail(&r->yaml, node, r->error, "complete must be yes or no, not '%.40s'", text);
}

tacit_status study_read_expected_rows(reading *r, const yaml_node_t *node) {
    tacit_study *study = r->study;
    tacit_plan *plan = &study->plan;
    double value = 0, least = (double)study->first_parties * (double)plan->minimum_rows;
    if (node == NULL) return TACIT_OK;
    TACIT_TRY(tacit_yaml_number(&r->yaml, node, "expected_rows", &value, r->error));
    if (!(value >= 1 && value <= 1e12) || value != floor(value))
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "expected_rows must be a whole number from 1 to 1e12, not %g", value);
    if (value < least)
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "expected_rows counts the rows of all parties together, and %zu parties of at "
                               "least %zu rows have %.0f: %.0f is fewer",
                               study->first_parties, plan->minimum_rows, least, value);
    study->expected_rows = (size_t)value;
    plan->expected_rows = (size_t)(value * (double)plan->parties / (double)study->first_parties);
    return TACIT_OK;
}

tacit_status study_print_expected_rows(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    if (study->expected_rows == 0) return TACIT_OK;
    return tacit_buffer_print(out, error, "expected_rows: %zu\n", study->expected_rows);
}
