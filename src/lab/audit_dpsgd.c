/*
 * The audit of dpsgd. Whoever takes part sees every step, so it is the noisy sums that are audited. A linear model with a bound
 * on the norm so small that every gradient is clipped: the gradient of a row of class 1 is along -(x, 1), of class 0 along (x, 1),
 * whatever the weights, so that turning a label about moves every sum by 2, the whole of its sensitivity. All rows take part in
 * every step: with sampling below 1 the audit would look along the steps of one rehearsal in which the row happened to take part, which
 * shows little.
 */
#include <stdio.h>
#include <string.h>

#include "lab/audit_parts.h"

static bool is_set(const tacit_audit_setup *setup, const char *name) {
    for (size_t i = 0; i < setup->setting_count; i++)
        if (strcmp(setup->settings[i].name, name) == 0) return true;
    return false;
}

static tacit_status dpsgd_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT], const tacit_audit_setup *setup,
                               tacit_error *error) {
    static const tacit_choice usual[] = { { "hidden", "none" }, { "sampling", "1" }, { "epochs", "1" },
                                          { "clip", "0.001" },  { "scale", "1" },    { "momentum", "0" } };
    TACIT_TRY(tacit_audit_plan(&out->plan, &tacit_method_dpsgd, setup, error));
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (!is_set(setup, usual[i].name))
            TACIT_TRY(tacit_plan_set(&out->plan, usual[i].name, usual[i].value, error));
    TACIT_TRY(audit_start_pair(out, 1, 1, 2, error));
    for (int side = 0; side < 2; side++) {
        out->data[side]->dense.values[0] = out->data[side]->dense.values[1] = 1;
        out->data[side]->label[0] = side;
    }
    /* Only a coordinator publishes; where parties add the noise, the weights tell what was in the sums. */
    out->statistic =
        tacit_plan_is(&out->plan, "noise", "coordinator") ? TACIT_STATISTIC_PUBLISHED : TACIT_STATISTIC_MODEL;
    snprintf(text, TACIT_AUDIT_TEXT,
             "one of the 2 rows of the only party has the other label; all gradients clipped");
    return TACIT_OK;
}

const tacit_auditable tacit_audit_dpsgd = {
    .name = "dpsgd",
    .title = "networks by stochastic gradient descent with noise, all steps seen",
    .pair = dpsgd_pair,
};
