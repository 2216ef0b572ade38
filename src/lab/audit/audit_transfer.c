/*
 * Worst known pairs of dpiw and dphtl. As in audit_erm.c a row is turned against the rest: the others lie at
 * (-1, 0) and hold the weights along the first axis, where two near-antiparallel versions of the row, (s, c)
 * and (s, -c), are both confidently wrong, so that along the second axis only the regulariser resists and
 * both pull with nearly all their might. n lambda is large enough that the pull itself does not move the
 * weights far. dphtl is audited by its hypotheses (model=sources); its importance weights are those of dpiw.
 */
#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "lab/audit/audit_parts.h"
#include "method/methods.h"
#include "method/transfer/transfer.h"

/* The public points: one, opposite the rows. */
static tacit_status add_point(tacit_pair *out, tacit_error *error) {
    static const char *const classes[] = { "0", "1" };
    TACIT_TRY(tacit_dataset_create(&out->auxiliary[0], 1, 2, classes, 2, error));
    out->auxiliary[0]->dense.values[0] = 1;
    return TACIT_OK;
}

static tacit_status dpiw_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT], const tacit_audit_setup *setup,
                              tacit_error *error) {
    static const double SINE = 0.45;
    tacit_plan *plan = &out->plan;
    out->statistic = TACIT_STATISTIC_MODEL;
    TACIT_TRY(tacit_audit_plan(plan, &tacit_method_dpiw, setup, error));
    if (plan->lambda == 0) plan->lambda = 1; /* not used */
    TACIT_TRY(audit_set_default(plan, setup, "lambda_iw", "0.005", error));
    size_t rows = audit_rows(3 / transfer_settings_of(plan)->lambda_iw);
    TACIT_TRY(audit_start_pair(out, 2, 1, rows, error));
    for (int side = 0; side < 2; side++) {
        double *values = out->data[side]->dense.values;
        values[0] = SINE * (1 - 1e-12);
        values[1] = (side == 0 ? 1 : -1) * sqrt(1 - SINE * SINE) * (1 - 1e-12);
        values[2] = -1;
    }
    tacit_format(text, TACIT_AUDIT_TEXT, "one of %zu rows turned against the rest; lambda_iw %.4g", rows,
                 transfer_settings_of(plan)->lambda_iw);
    return add_point(out, error);
}

/* Half of the rows, the turned one among them, train the hypothesis. */
static tacit_status dphtl_pair(tacit_pair *out, char text[TACIT_AUDIT_TEXT], const tacit_audit_setup *setup,
                               tacit_error *error) {
    tacit_plan *plan = &out->plan;
    out->statistic = TACIT_STATISTIC_MODEL;
    TACIT_TRY(tacit_audit_plan(plan, &tacit_method_dphtl, setup, error));
    if (plan->lambda == 0) plan->lambda = 0.01;
    TACIT_TRY(audit_set_default(plan, setup, "labelled", "0.5", error));
    TACIT_TRY(tacit_plan_set(plan, "model", "sources", error));
    size_t rows = audit_rows(5 / plan->lambda / TACIT_SETTINGS(dphtl_settings, plan)->labelled);
    TACIT_TRY(audit_turned_row(out, text, 1, rows, error));
    return add_point(out, error);
}

const tacit_auditable tacit_audit_dpiw = {
    .name = "dpiw",
    .title = "private importance weights",
    .score = tacit_score_distance,
    .pair = dpiw_pair,
};

const tacit_auditable tacit_audit_dphtl = {
    .name = "dphtl",
    .title = "private hypotheses of sources",
    .score = tacit_score_distance,
    .pair = dphtl_pair,
};
