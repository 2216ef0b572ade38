#include "lab/remark.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

/* Given, and far above what the method would take: how many times; else 0. */
static tacit_status lambda_excess(const tacit_plan *plan, double *out, tacit_error *error) {
    tacit_plan own = *plan;
    *out = 0;
    if (plan->lambda_from != TACIT_LAMBDA_GIVEN || plan->method->tunes_lambda) return TACIT_OK;
    if (plan->method->choose_lambda == NULL) return TACIT_OK;
    own.lambda = 0;
    tacit_status status = tacit_plan_choose_lambda(&own, error);
    if (status == TACIT_NO_MEMORY) return status;
    if (status == TACIT_OK && own.lambda > 0 && plan->lambda > 3 * own.lambda)
        *out = plan->lambda / own.lambda;
    return TACIT_OK;
}

/* Scores that are worth something, whatever the classes made of them. */
static bool ranks_rows(const tacit_run *run) { return run->auc.mean >= 0.6; }

static tacit_status explain(const tacit_plan *plan, const tacit_run *run, char *out, size_t size,
                            tacit_error *error) {
    double times;
    TACIT_TRY(lambda_excess(plan, &times, error));
    if (plan->method->tunes_lambda && plan->lambda > 0)
        tacit_format(out, size, "lambda %g was given: leave it out, and it is tuned by cross-validation",
                     plan->lambda);
    else if (times > 0)
        tacit_format(out, size, "lambda %g is %.3g times what the method chooses here: leave it out",
                     plan->lambda, times);
    else if (run->one_class && ranks_rows(run))
        tacit_format(out, size,
                     "its scores rank rows (AUC %.3f), but none reaches one half. With a rare class that may "
                     "be right: read AUC and log-loss, not accuracy",
                     run->auc.mean);
    else if (isfinite(run->epsilon))
        tacit_format(out, size,
                     "the noise leaves no signal at this price: more rows, more parties or a larger epsilon");
    else
        tacit_format(out, size, "the columns say little about the label");
    return TACIT_OK;
}

/* What a model that looks at no column scores: accuracy and log-loss, or the root of the mean squared
 * error. */
typedef struct blind {
    double accuracy, log_loss, rmse;
} blind;

static blind blind_of_classes(const tacit_view *test, size_t classes) {
    blind out = { NAN, 0, NAN };
    size_t most = 0;
    for (size_t k = 0; k < classes; k++) {
        size_t count = 0;
        for (size_t i = 0; i < test->rows.count; i++) count += (size_t)tacit_view_label(test, i) == k;
        const double share = (double)count / (double)test->rows.count;
        if (count > 0) out.log_loss -= share * log(share);
        if (count > most) most = count;
    }
    out.accuracy = (double)most / (double)test->rows.count;
    return out;
}

static blind blind_of_numbers(const tacit_view *test) {
    const double rows = (double)test->rows.count;
    double mean = 0, square = 0;
    for (size_t i = 0; i < test->rows.count; i++) mean += tacit_view_response(test, i) / rows;
    for (size_t i = 0; i < test->rows.count; i++)
        square += pow(tacit_view_response(test, i) - mean, 2) / rows;
    return (blind){ NAN, NAN, sqrt(square) };
}

/* Where nothing was learnt the beginning of a sentence that ends with why; else "". */
static void compare(const tacit_run *run, const blind *to, char *out, size_t size) {
    const bool unsure = isnan(run->log_loss.mean) || run->log_loss.mean >= to->log_loss;
    out[0] = 0;
    if (run->rmse.mean >= to->rmse)
        tacit_format(out, size, "no better than the mean for every test row (error %.4g)", to->rmse);
    else if (run->accuracy.mean <= to->accuracy && unsure && !ranks_rows(run))
        tacit_format(out, size, "no better than the commonest class for every test row (accuracy %.4f)",
                     to->accuracy);
}

static tacit_status compare_with_blind(const tacit_plan *plan, const tacit_view *test, tacit_run *run,
                                       tacit_error *error) {
    char what[128], why[TACIT_HOPELESS_SIZE];
    const bool times = plan->schema != NULL && plan->schema->response > TACIT_RESPONSE_COUNT;
    if (test->rows.count == 0 || times) return TACIT_OK;
    const blind to = plan->classes > 0 ? blind_of_classes(test, plan->classes) : blind_of_numbers(test);
    compare(run, &to, what, sizeof what);
    if (what[0] != 0) {
        TACIT_TRY(explain(plan, run, why, sizeof why, error));
        snprintf(run->remark, sizeof run->remark, "%s: %s", what, why);
    } else if (run->log_loss.mean > to.log_loss) {
        tacit_format(
            run->remark, sizeof run->remark,
            "its probabilities are worse than each class's share for every test row (log-loss %.4f): "
            "%s",
            to.log_loss,
            isfinite(run->epsilon)
                ? "noise or clipping leaves scores that may rank rows and are no chances. Read AUC and "
                  "accuracy; more rows or a larger epsilon helps"
                : "the model has learnt what these rows do not have. Read AUC and accuracy; more rows, fewer "
                  "columns or terms, or a lambda above 0 helps");
    }
    return TACIT_OK;
}

tacit_status tacit_run_remark(const tacit_plan *plan, const tacit_view *test, tacit_run *run,
                              tacit_error *error) {
    char why[TACIT_HOPELESS_SIZE];
    run->remark[0] = 0;
    TACIT_TRY(tacit_plan_hopeless(plan, why, error));
    run->hopeless = why[0] != 0;
    if (run->hopeless) {
        snprintf(run->remark, sizeof run->remark, "%s", why);
        return TACIT_OK;
    }
    if (!run->one_class) return compare_with_blind(plan, test, run, error);
    TACIT_TRY(explain(plan, run, why, sizeof why, error));
    snprintf(run->remark, sizeof run->remark, "every test row gets the same class: %s", why);
    return TACIT_OK;
}

/* ---- beside parties alone ---- */

enum { ALONE_MOST = 20 };

static const tacit_method *alone_method(void) {
    for (size_t i = 0; tacit_methods[i] != NULL; i++)
        if (tacit_methods[i]->each_alone) return tacit_methods[i];
    return NULL;
}

/* The mean accuracy of models of some parties' own rows; NaN where that cannot be had. */
static tacit_status train_alone(const tacit_simulation *simulation, double *out, tacit_error *error) {
    const tacit_method *method = alone_method();
    const tacit_split *all = simulation->split;
    tacit_split some = { all->parts < ALONE_MOST ? all->parts : ALONE_MOST, all->start, all->index, 0 };
    tacit_simulation beside = *simulation;
    tacit_run run;
    beside.methods = &method;
    beside.method_count = beside.trials = 1;
    beside.variants = NULL;
    beside.setting_count = beside.epsilon_count = 0;
    beside.lambda = 0;
    beside.without_lambda = beside.goes_on = false;
    beside.split = &some;
    beside.trace = NULL;
    *out = NAN;
    tacit_status status = tacit_simulate(&beside, &run, NULL, error);
    if (status == TACIT_NO_MEMORY || status == TACIT_CANCELLED) return status;
    if (status == TACIT_OK) *out = run.accuracy.mean;
    return TACIT_OK;
}

static bool is_beaten(const tacit_run *run, double alone, size_t trials) {
    return run->failed.status == TACIT_OK && !run->hopeless && isfinite(run->epsilon) &&
           run->accuracy.mean + 2 * run->accuracy.sd / sqrt((double)trials) < alone;
}

/* After what is said already. */
static void say_beaten(tacit_run *run, double alone) {
    const size_t used = strlen(run->remark);
    tacit_format(run->remark + used, sizeof run->remark - used,
                 "%sparties alone do better (mean accuracy %.4f), so joining does not pay at this price%s",
                 used > 0 ? ". And " : "", alone,
                 used > 0 ? "" : ": more parties, more public points or a larger epsilon helps");
}

tacit_status tacit_runs_beside_alone(const tacit_simulation *simulation, tacit_run *runs, size_t count,
                                     tacit_error *error) {
    double alone = NAN;
    bool wanted = false;
    if (simulation->dataset->classes.count == 0) return TACIT_OK;
    for (size_t i = 0; i < count; i++) {
        if (runs[i].method->each_alone && runs[i].failed.status == TACIT_OK) alone = runs[i].accuracy.mean;
        wanted = wanted || (runs[i].method->needs_points && runs[i].failed.status == TACIT_OK);
    }
    /* On several ranks the rows of other parties are elsewhere. */
    if (isnan(alone) && wanted && simulation->range.ranks == NULL)
        TACIT_TRY(train_alone(simulation, &alone, error));
    for (size_t i = 0; i < count; i++)
        if (is_beaten(&runs[i], alone, simulation->trials)) say_beaten(&runs[i], alone);
    return TACIT_OK;
}
