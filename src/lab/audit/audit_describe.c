/* The worst pair of method describe: the only row goes from one end of a number's range to the other, and to
 * the other class. Moments, every level of the tree and the counts of the label all move as far as they
 * can. */
#include "base/number.h"
#include "lab/audit/audit_methods.h"
#include "lab/audit/audit_parts.h"

static tacit_status describe_pair_of_ends(tacit_pair *out, char text[TACIT_AUDIT_TEXT],
                                          const tacit_audit_setup *setup, tacit_error *error) {
    TACIT_TRY(tacit_audit_plan(&out->plan, &tacit_method_describe, setup, error));
    TACIT_TRY(tacit_plan_set(&out->plan, "cells", "16", error)); /* with and without noise */
    out->statistic = TACIT_STATISTIC_PUBLISHED;
    TACIT_TRY(audit_start_pair(out, 1, 1, 1, error));
    for (int side = 0; side < 2; side++) {
        out->data[side]->dense.values[0] = side == 0 ? 1 : -1;
        out->data[side]->label[0] = side;
    }
    tacit_format(text, TACIT_AUDIT_TEXT,
                 "the only row is at one end of a number's range or at the other, with the other label");
    return TACIT_OK;
}

const tacit_auditable tacit_audit_describe = {
    .name = "describe",
    .title = "moments, trees of counts and levels with discrete Gaussian noise, as one vector",
    .pair = describe_pair_of_ends,
};
