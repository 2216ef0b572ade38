/* The worst pair of method survival: the only row has the event in the first cell of time, or leaves without
 * one. The first column of either histogram is the longest, so that the vector moves as far as it can. */
#include "base/memory.h"
#include "base/number.h"
#include "lab/audit/audit_methods.h"
#include "lab/audit/audit_parts.h"

static tacit_status survival_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT],
                                  const tacit_audit_setup *setup, tacit_error *error) {
    static const tacit_schema schema = { .response = TACIT_RESPONSE_TIME, .high = 8, .intercept = true };
    TACIT_TRY(tacit_audit_plan(&out->plan, &tacit_method_survival, setup, error));
    TACIT_TRY(tacit_plan_set(&out->plan, "width", "1", error));
    out->statistic = TACIT_STATISTIC_PUBLISHED;
    TACIT_TRY(audit_start_pair(out, 1, 1, 1, error));
    out->plan.classes = 0;
    out->plan.schema = &schema;
    for (int side = 0; side < 2; side++) {
        tacit_dataset *data = out->data[side];
        data->response = TACIT_NEW(double, 2 * data->rows);
        if (data->response == NULL) return tacit_fail_memory(error);
        data->response_columns = 2;
        data->response[0] = 1; /* the end of the first cell */
        data->response[1] = side;
    }
    tacit_format(text, TACIT_AUDIT_TEXT,
                 "the only row leaves in the first cell of time, without the event or with it");
    return TACIT_OK;
}

const tacit_auditable tacit_audit_survival = {
    .name = "survival",
    .title = "histograms over time, multiplied by the root of prefix sums, with discrete Gaussian noise",
    .pair = survival_pair,
};
