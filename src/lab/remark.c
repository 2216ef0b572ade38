#include "lab/remark.h"

#include <math.h>
#include <stdio.h>

#include "base/number.h"

/* Given, and far above what the method would take: how many times; else 0. */
static double lambda_excess(const tacit_plan *plan) {
    tacit_plan own = *plan;
    if (plan->lambda_from != TACIT_LAMBDA_GIVEN || plan->method->tunes_lambda) return 0;
    own.lambda = 0;
    if (plan->method->choose_lambda == NULL || tacit_plan_choose_lambda(&own, NULL) != TACIT_OK) return 0;
    return own.lambda > 0 && plan->lambda > 3 * own.lambda ? plan->lambda / own.lambda : 0;
}

static void explain_one_class(const tacit_plan *plan, const tacit_run *run, char *out, size_t size) {
    const double times = lambda_excess(plan);
    const bool ranks = run->auc.mean >= 0.6;
    if (plan->method->tunes_lambda && plan->lambda > 0)
        tacit_format(out, size, "lambda %g was given: leave it out, and it is tuned by cross-validation",
                     plan->lambda);
    else if (times > 0)
        tacit_format(out, size, "lambda %g is %.3g times what the method chooses here: leave it out",
                     plan->lambda, times);
    else if (ranks)
        tacit_format(out, size,
                     "its scores rank rows (AUC %.3f), but none reaches one half. With a rare class that may "
                     "be right: read AUC and log-loss, not accuracy",
                     run->auc.mean);
    else if (isfinite(run->epsilon))
        tacit_format(out, size,
                     "the noise leaves no signal at this price: more rows, more parties or a larger epsilon");
    else
        tacit_format(out, size, "the columns say little about the label");
}

void tacit_run_remark(const tacit_plan *plan, tacit_run *run) {
    char why[TACIT_HOPELESS_SIZE];
    run->remark[0] = 0;
    if (tacit_plan_hopeless(plan, why)) {
        snprintf(run->remark, sizeof run->remark, "%s", why);
        return;
    }
    if (!run->one_class) return;
    explain_one_class(plan, run, why, sizeof why);
    snprintf(run->remark, sizeof run->remark, "every test row gets the same class: %s", why);
}
