/* Settings of one way to sum or the other. */
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
