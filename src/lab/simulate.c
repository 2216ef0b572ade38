#include "lab/simulate.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/number.h"
#include "lab/remark.h"
#include "method/methods.h"
#include "session/run.h"

double tacit_variant_epsilon(const tacit_method *method, const tacit_variant *variant) {
    if (method->noise_free) return INFINITY;
    return variant != NULL ? variant->epsilon : 0;
}

/* The only epsilon of the m-th method, or 0. */
static double only_epsilon(const tacit_simulation *simulation, size_t m) {
    return tacit_variant_epsilon(simulation->methods[m],
                                 simulation->variants != NULL ? &simulation->variants[m] : NULL);
}

static size_t runs_of(const tacit_simulation *simulation, size_t m) {
    return only_epsilon(simulation, m) > 0 ? 1 : simulation->epsilon_count;
}

size_t tacit_simulation_runs(const tacit_simulation *simulation) {
    size_t runs = 0;
    for (size_t m = 0; m < simulation->method_count; m++) runs += runs_of(simulation, m);
    return runs;
}

static double seconds_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- spread over trials ---- */

static tacit_spread spread(const double *values, size_t count) {
    double sum = 0, square = 0;
    for (size_t i = 0; i < count; i++) sum += values[i] - values[0]; /* exactly 0 for equal values */
    double mean = values[0] + sum / (double)count;
    for (size_t i = 0; i < count; i++) square += (values[i] - mean) * (values[i] - mean);
    return (tacit_spread){ mean, count > 1 ? sqrt(square / (double)(count - 1)) : isnan(mean) ? NAN : 0 };
}

/* ---- progress: all trials of all runs are one whole, so that the time left is that of the sweep ---- */

/* What a trial costs, roughly and in visits of a row. A yardstick without a party's half pools the rows; one
 * with it ends with a model for each party, all of which are evaluated. */
typedef struct trial_cost {
    double run, evaluate;
} trial_cost;

static trial_cost cost_of(const tacit_simulation *simulation, const tacit_method *method) {
    double parties = (double)simulation->split->parts;
    double rows = (double)simulation->split->start[simulation->split->parts];
    double tests = (double)simulation->test.rows.count;
    if (!method->noise_free) return (trial_cost){ 200 * parties, tests };
    if (tacit_trace_applies(method)) return (trial_cost){ 1000 * rows, tests }; /* all of them each round */
    return (trial_cost){ 30 * rows, method->handlers != NULL ? parties * tests : tests };
}

static size_t trials_of(const tacit_simulation *simulation, const tacit_method *method) {
    return method->noise_free ? 1 : simulation->trials;
}

static double cost_of_run(const tacit_simulation *simulation, const tacit_method *method) {
    trial_cost cost = cost_of(simulation, method);
    return (cost.run + cost.evaluate) * (double)trials_of(simulation, method);
}

enum { WHOLE = 1000000 };

typedef struct counting {
    tacit_progress inner; /* for one trial; its context is this stage */
    const tacit_progress *outer;
    char name[TACIT_ID_SIZE + 32];
    size_t trial;
    double first, all; /* the cost of earlier runs, and of the whole sweep */
    trial_cost cost;
    double from, to; /* the part of a trial that is under way */
    bool best;       /* the best of several models counts */
    double reached;  /* in this trial: a second question starts over, progress does not */
} counting;

static void report_trial(void *context, const char *name, uint64_t done, uint64_t total) {
    counting *run = context;
    (void)name;
    double share = total > 0 ? run->from + (run->to - run->from) * (double)done / (double)total : run->from;
    if (share > run->reached) run->reached = share;
    double spent = run->first + ((double)run->trial + run->reached) * (run->cost.run + run->cost.evaluate);
    tacit_progress_report(run->outer, run->name, (uint64_t)(WHOLE * fmin(spent / run->all, 1) + 1e-6), WHOLE);
}

static bool is_cancelled(void *context) {
    return tacit_progress_cancelled(((const counting *)context)->outer);
}

/* `first`: what the runs before this one cost. */
static void begin_stage(counting *run, const tacit_simulation *simulation, const tacit_plan *plan,
                        double first) {
    *run = (counting){ .inner = { report_trial, is_cancelled, run },
                       .outer = simulation->progress,
                       .first = first,
                       .cost = cost_of(simulation, plan->method) };
    for (size_t m = 0; m < simulation->method_count; m++)
        run->all += cost_of_run(simulation, simulation->methods[m]) * (double)runs_of(simulation, m);
    if (plan->method->noise_free)
        snprintf(run->name, sizeof run->name, "%s", plan->method->name);
    else
        tacit_format(run->name, sizeof run->name, "%s at epsilon %g", plan->method->name, plan->epsilon);
}

static void begin_trial(counting *run, size_t trial) {
    run->trial = trial;
    run->reached = run->from = 0;
    run->to = run->cost.run / (run->cost.run + run->cost.evaluate);
}

static void begin_evaluating(counting *run) {
    run->from = run->to;
    run->to = 1;
}

/* ---- evaluating ---- */

enum { MODELS_AT_A_TIME = 16 }; /* large enough to be cheap, small enough to stop soon */

typedef struct evaluation {
    const tacit_simulation *simulation;
    const tacit_outcome *outcome;
    counting *stage;
    tacit_metrics *metrics;
    pthread_mutex_t mutex; /* guards done, and keeps reports in order */
    size_t done;
} evaluation;

static tacit_status evaluate_some(void *context, size_t begin, size_t end, unsigned worker,
                                  tacit_error *error) {
    evaluation *work = context;
    const tacit_progress *progress = work->simulation->progress;
    (void)worker;
    if (tacit_progress_cancelled(progress)) return tacit_fail(error, TACIT_CANCELLED, "interrupted");
    for (size_t i = begin; i < end; i++)
        TACIT_TRY(tacit_model_evaluate(work->outcome->models[i], &work->simulation->test, NULL,
                                       &work->metrics[i], error));
    pthread_mutex_lock(&work->mutex);
    work->done += end - begin;
    report_trial(work->stage, "evaluating", work->done, work->outcome->count);
    pthread_mutex_unlock(&work->mutex);
    return TACIT_OK;
}

/* Metrics of an outcome: those of its model, or the means over its models. */
static tacit_status evaluate(const tacit_simulation *simulation, const tacit_outcome *outcome,
                             counting *stage, tacit_metrics *out, tacit_error *error) {
    begin_evaluating(stage);
    if (outcome->count == 1 && outcome->models[0]->report != NULL) { /* nothing is predicted */
        *out = TACIT_METRICS_NONE;
        return TACIT_OK;
    }
    if (outcome->count == 1)
        return tacit_model_evaluate(outcome->models[0], &simulation->test, simulation->pool, out, error);
    evaluation work = { .simulation = simulation,
                        .outcome = outcome,
                        .stage = stage,
                        .metrics = TACIT_NEW(tacit_metrics, outcome->count),
                        .mutex = PTHREAD_MUTEX_INITIALIZER };
    if (work.metrics == NULL) return tacit_fail_memory(error);
    tacit_status status =
        tacit_pool_for(simulation->pool, outcome->count, MODELS_AT_A_TIME, evaluate_some, &work, error);
    tacit_metrics sum = { .accuracy = 0, .one_class = true };
    size_t best = 0;
    for (size_t i = 0; i < outcome->count; i++) {
        if (work.metrics[i].accuracy > work.metrics[best].accuracy) best = i;
        sum.accuracy += work.metrics[i].accuracy;
        sum.auc += work.metrics[i].auc;
        sum.log_loss += work.metrics[i].log_loss;
        sum.rmse += work.metrics[i].rmse;
        sum.deviance += work.metrics[i].deviance;
        sum.one_class = sum.one_class && work.metrics[i].one_class;
    }
    double count = (double)outcome->count;
    if (status == TACIT_OK)
        *out = (tacit_metrics){ sum.accuracy / count,
                                sum.auc / count,
                                sum.log_loss / count,
                                sum.rmse / count,
                                sum.deviance / count,
                                NAN,
                                NAN,
                                sum.one_class }; /* the mean of several models has no interval */
    if (status == TACIT_OK && stage->best) *out = work.metrics[best];
    pthread_mutex_destroy(&work.mutex);
    free(work.metrics);
    return status;
}

/* ---- plans ---- */

static tacit_status check_settings(const tacit_simulation *simulation, tacit_error *error) {
    for (size_t s = 0; s < simulation->setting_count; s++) {
        bool known = false;
        for (size_t m = 0; m < simulation->method_count; m++)
            known = known || tacit_method_takes(simulation->methods[m], simulation->settings[s].name);
        if (!known)
            return tacit_fail(error, TACIT_USAGE, "none of the methods has a setting '%s'",
                              simulation->settings[s].name);
    }
    return TACIT_OK;
}

static tacit_status set_all(const tacit_simulation *simulation, const tacit_variant *variant, tacit_plan *out,
                            tacit_error *error) {
    for (size_t s = 0; variant != NULL && s < TACIT_VARIANT_SETTINGS && variant->settings[s].name != NULL;
         s++)
        TACIT_TRY(tacit_plan_set(out, variant->settings[s].name, variant->settings[s].value, error));
    for (size_t s = 0; s < simulation->setting_count; s++)
        if (tacit_method_takes(out->method, simulation->settings[s].name))
            TACIT_TRY(
                tacit_plan_set(out, simulation->settings[s].name, simulation->settings[s].value, error));
    return TACIT_OK;
}

static tacit_status make_plan(const tacit_simulation *simulation, const tacit_local *local,
                              const tacit_points *points, size_t m, double epsilon, tacit_plan *out,
                              tacit_error *error) {
    const tacit_method *method = simulation->methods[m];
    const tacit_variant *variant = simulation->variants != NULL ? &simulation->variants[m] : NULL;
    if (method->needs_points && points->rows.count == 0)
        return tacit_fail(
            error, TACIT_USAGE,
            "method %s needs public auxiliary points: give a file of them with the option 'aux', or the "
            "option 'aux-fraction' to set some of the training rows aside as public",
            method->name);
    *out = (tacit_plan){
        .method = method,
        .study = "simulation",
        .epsilon = method->noise_free ? INFINITY : epsilon,
        .delta = variant != NULL ? variant->delta : simulation->delta,
        .lambda = variant != NULL ? variant->lambda : simulation->lambda,
        .features = simulation->dataset->features,
        .classes = simulation->dataset->classes.count,
        .parties = tacit_local_parties(local),
        .minimum_parties = simulation->minimum_parties > 0 ? simulation->minimum_parties : 1,
        .dropouts = simulation->dropouts,
        .colluders = simulation->colluders,
        .minimum_rows =
            simulation->minimum_rows > 0 ? simulation->minimum_rows : tacit_local_smallest_party(local),
        .expected_rows = simulation->expected_rows > 0 ? simulation->expected_rows : tacit_local_rows(local),
        .most_rounds = method->stops_early ? simulation->most_rounds : 0,
        .enough = method->stops_early ? simulation->enough : 0,
        .points = (method->needs_points || method->takes_points) && points->rows.count > 0 ? points : NULL,
        .schema = simulation->schema,
    };
    TACIT_TRY(set_all(simulation, variant, out, error));
    if (tacit_plan_needs_model(out)) out->model = simulation->model;
    if (tacit_plan_needs_model(out) && out->model == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "method %s needs a model: give its file with the option 'model'", method->name);
    if (simulation->minimum_rows == 0 && tacit_plan_counts_persons(out) && simulation->dataset->persons)
        TACIT_TRY(tacit_local_fewest_persons(local, simulation->dataset, &out->minimum_rows, error));
    TACIT_TRY(tacit_methods_check(out, error));
    if (!simulation->without_lambda || method->choose_lambda == NULL)
        TACIT_TRY(tacit_plan_choose_lambda(out, error));
    return tacit_plan_check(out, error);
}

/* ---- running ---- */

/* Where too few parties answered, why the first of the others did not. */
static tacit_status say_refusal(const tacit_local *local, tacit_status status, tacit_error *error) {
    const char *refusal;
    if (status != TACIT_REFUSED || error == NULL || tacit_local_refusals(local, &refusal) == 0 ||
        strstr(error->text, refusal) != NULL)
        return status;
    const tacit_error said = *error;
    *error = (tacit_error)TACIT_ERROR_INIT;
    return tacit_fail(error, status, "%.80s; the first that refused says: %.380s", said.text, refusal);
}

/* What a trial's model says about itself, into the means over trials. */
static void add_what_is_known(tacit_run *run, const tacit_model *model) {
    const tacit_estimates *table = model->estimates;
    run->noise_share += model->noise_share / (double)run->trials;
    if (table == NULL || !(table->needs_rows > 0)) return;
    run->not_estimable += 1 / (double)run->trials;
    const double such = round(run->not_estimable * (double)run->trials);
    run->needs_rows += (table->needs_rows - run->needs_rows) / such;
    run->needs_epsilon += (table->needs_epsilon - run->needs_epsilon) / such;
}

/* One trial: the method's coordinator half over simulated parties, then its figures. */
static tacit_status run_trial(const tacit_simulation *simulation, tacit_local *local, const tacit_plan *plan,
                              counting *stage, tacit_run *run, tacit_metrics *metrics, tacit_model **model,
                              tacit_error *error) {
    tacit_stream root = tacit_stream_from_seed(simulation->seed);
    tacit_stream seed = tacit_stream_fork(&root, plan->method->name, stage->trial, 0);
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_tracer *tracer = NULL;
    tacit_session session;
    tacit_account account;
    tacit_status status;
    const char *refusal;
    TACIT_CHECK(tacit_local_begin(local, plan, &seed, &stage->inner, &session, error));
    if (simulation->trace != NULL && tacit_trace_applies(plan->method) &&
        tacit_local_parties(local) == simulation->split->parts) {
        TACIT_CHECK(tacit_tracer_create(&tracer, simulation->trace, local, plan, simulation->dataset,
                                        simulation->split, simulation->pool, error));
        session.round_watch = tacit_tracer_watch(tracer);
    }
    if (simulation->target.rows.count > 0) session.own = &simulation->target;
    double start = seconds_now();
    status = tacit_local_serves(local) ? tacit_local_serve(local, error)
                                       : tacit_run_coordinate(&session, &outcome, error);
    TACIT_CHECK(say_refusal(local, status, error));
    run->seconds += seconds_now() - start;
    TACIT_CHECK(tacit_local_settle(local, error));
    run->rounds = session.round;
    run->bytes_per_party = session.bytes_per_party;
    run->parties = outcome.parties;
    if (outcome.lambda != 0) /* NaN once trials chose differently */
        run->lambda = stage->trial == 0 || run->lambda == outcome.lambda ? outcome.lambda : NAN;
    if (outcome.lambda != 0 && !plan->method->tunes_lambda && !tacit_plan_lambda_after(plan))
        run->lambda_from = TACIT_LAMBDA_PAID;
    run->refusals = tacit_local_refusals(local, &refusal);
    snprintf(run->refusal, sizeof run->refusal, "%s", refusal);
    TACIT_CHECK(tacit_local_charged_at(local, run->charged.unit, run->delta, &account, error));
    if (!plan->method->noise_free)
        run->charged = (tacit_price){ run->charged.unit, account.spent_epsilon, account.spent_delta };
    if (tacit_ranks_own(simulation->range.ranks) > 0) goto cleanup;
    TACIT_CHECK(evaluate(simulation, &outcome, stage, metrics, error));
    if (outcome.count == 1) add_what_is_known(run, outcome.models[0]);
    report_trial(stage, "trials", 1, 1);
    if (model != NULL && stage->trial == 0 && outcome.count == 1) {
        outcome.models[0]->guarantee =
            tacit_run_guarantee(plan, &run->charged, &run->claimed, &outcome, true);
        tacit_model_free(*model);
        *model = outcome.models[0];
        outcome.count = 0;
    }
cleanup:
    tacit_tracer_free(tracer);
    tacit_outcome_clear(&outcome);
    return status;
}

static tacit_status run_all_trials(const tacit_simulation *simulation, tacit_local *local,
                                   const tacit_plan *plan, double first, bool best, tacit_run *run,
                                   tacit_model **model, tacit_error *error) {
    size_t trials = trials_of(simulation, plan->method);
    tacit_prices prices = { .event = { .count = 0 } };
    counting stage;
    tacit_status status;
    double *values = TACIT_NEW(double, 5 * trials);
    if (values == NULL) return tacit_fail_memory(error);
    TACIT_CHECK(tacit_plan_price(plan, &prices, error));
    *run = (tacit_run){ .method = plan->method,
                        .epsilon = plan->epsilon,
                        .delta = prices.charged.delta,
                        .lambda = plan->lambda,
                        .lambda_from = plan->lambda_from,
                        .trials = trials,
                        .noise = tacit_plan_noise_by(plan),
                        .colluders = tacit_plan_shares_noise(plan) ? tacit_plan_colluders(plan) : 0,
                        .charged = prices.charged,
                        .claimed = prices.claimed };
    begin_stage(&stage, simulation, plan, first);
    stage.best = best;
    run->one_class = true;
    for (size_t t = 0; t < trials; t++) {
        tacit_metrics metrics = { .accuracy = 0 };
        begin_trial(&stage, t);
        TACIT_CHECK(run_trial(simulation, local, plan, &stage, run, &metrics, model, error));
        run->one_class = run->one_class && metrics.one_class;
        values[t] = metrics.accuracy;
        values[trials + t] = metrics.auc;
        values[2 * trials + t] = metrics.log_loss;
        values[3 * trials + t] = metrics.rmse;
        values[4 * trials + t] = metrics.deviance;
    }
    run->accuracy = spread(values, trials);
    run->auc = spread(values + trials, trials);
    run->log_loss = spread(values + 2 * trials, trials);
    run->rmse = spread(values + 3 * trials, trials);
    run->deviance = spread(values + 4 * trials, trials);
    if (tacit_ranks_own(simulation->range.ranks) == 0) /* the others have no test rows */
        TACIT_CHECK(tacit_run_remark(plan, &simulation->test, run, error));
cleanup:
    free(values);
    return status;
}

/* The parties, and one that has all their rows, for variants that want it. */
typedef struct places {
    tacit_local *parties, *pooled, *alone;
    tacit_split whole, part;
    size_t ends[2], part_ends[2];
    size_t only; /* who is alone */
} places;

/* One party by itself, as if it were the only one. */
static void seat_alone(places *self, const tacit_split *split, size_t only) {
    if (self->only != only) self->alone = tacit_local_free(self->alone);
    self->only = only;
    self->part_ends[1] = tacit_split_count(split, only - 1);
    self->part = (tacit_split){ 1, self->part_ends, split->index + split->start[only - 1], 0 };
}

static tacit_status find_place(places *self, const tacit_simulation *simulation, size_t m, tacit_local **out,
                               tacit_error *error) {
    const tacit_split *split = simulation->split;
    bool pooled = simulation->variants != NULL && simulation->variants[m].pooled;
    size_t only = simulation->variants != NULL ? simulation->variants[m].only : 0;
    tacit_local **place = pooled ? &self->pooled : only > 0 ? &self->alone : &self->parties;
    if (only > split->parts)
        return tacit_fail(error, TACIT_USAGE, "there is no party %zu among %zu", only, split->parts);
    if (pooled) {
        self->ends[1] = split->start[split->parts];
        self->whole = (tacit_split){ 1, self->ends, split->index, 0 };
        split = &self->whole;
    } else if (only > 0) {
        seat_alone(self, split, only);
        split = &self->part;
    }
    if (*place != NULL) {
        *out = *place;
        return TACIT_OK;
    }
    if (simulation->range.ranks == NULL)
        TACIT_TRY(tacit_local_create(place, simulation->dataset, split, simulation->pool, error));
    else if (place == &self->parties)
        TACIT_TRY(tacit_local_create_part(place, simulation->dataset, split, &simulation->range,
                                          simulation->pool, error));
    else
        return tacit_fail(error, TACIT_USAGE, "rows of several parties are pooled in one process only");
    tacit_local_lead_with(*place, simulation->leader);
    *out = *place;
    return TACIT_OK;
}

/* The m-th method at one epsilon. */
static tacit_status run_one(const tacit_simulation *simulation, tacit_local *local,
                            const tacit_points *points, size_t m, double epsilon, double spent,
                            tacit_run *run, tacit_model **model, tacit_error *error) {
    const bool best = simulation->variants != NULL && simulation->variants[m].best;
    tacit_plan plan;
    TACIT_TRY(make_plan(simulation, local, points, m, epsilon, &plan, error));
    return run_all_trials(simulation, local, &plan, spent, best, run, model, error);
}

/* Does the method, or its rows, not allow it? All else ends the sweep. */
static bool is_refusal(const tacit_simulation *simulation, tacit_status status) {
    return simulation->goes_on && simulation->range.ranks == NULL &&
           (status == TACIT_USAGE || status == TACIT_INPUT || status == TACIT_REFUSED ||
            status == TACIT_NOT_CONVERGED);
}

static void keep_refusal(tacit_run *run, const tacit_method *method, double epsilon, tacit_error *why) {
    if (strstr(why->text, method->name) == NULL) tacit_fail_in(why, why->status, "method %s", method->name);
    const tacit_spread none = { NAN, NAN };
    *run = (tacit_run){ .method = method,
                        .epsilon = method->noise_free ? INFINITY : epsilon,
                        .delta = NAN,
                        .lambda = NAN,
                        .accuracy = none,
                        .auc = none,
                        .log_loss = none,
                        .rmse = none,
                        .deviance = none,
                        .charged = { .epsilon = 0 },
                        .failed = *why };
}

/* As the first one that failed says, when none has figures. */
static tacit_status check_some(const tacit_run *runs, size_t count, tacit_error *error) {
    for (size_t i = 0; i < count; i++)
        if (runs[i].failed.status == TACIT_OK) return TACIT_OK;
    return count > 0 ? tacit_fail(error, runs[0].failed.status, "%s", runs[0].failed.text) : TACIT_OK;
}

tacit_status tacit_simulate(const tacit_simulation *simulation, tacit_run *runs, tacit_model **model,
                            tacit_error *error) {
    places all = { .parties = NULL };
    tacit_model *last = NULL;
    tacit_points points = TACIT_POINTS_INIT;
    size_t done = 0;
    double spent = 0;
    tacit_status status;
    TACIT_CHECK(check_settings(simulation, error));
    if (simulation->auxiliary.rows.count > 0)
        TACIT_CHECK(tacit_points_of(&points, &simulation->auxiliary.rows, simulation->pool, error));
    for (size_t m = 0; m < simulation->method_count; m++) {
        const tacit_method *method = simulation->methods[m];
        double only = only_epsilon(simulation, m);
        tacit_local *local = NULL;
        TACIT_CHECK(find_place(&all, simulation, m, &local, error));
        for (size_t e = 0; e < runs_of(simulation, m); e++) {
            tacit_error why = TACIT_ERROR_INIT;
            tacit_run *run = &runs[done++];
            double epsilon = only > 0 ? only : simulation->epsilons[e];
            size_t traced = simulation->trace != NULL ? simulation->trace->count : 0;
            status = run_one(simulation, local, &points, m, epsilon, spent, run, model != NULL ? &last : NULL,
                             &why);
            if (is_refusal(simulation, status))
                keep_refusal(run, method, epsilon, &why);
            else if (status != TACIT_OK)
                TACIT_CHECK(tacit_fail(error, status, "%s", why.text));
            run->label = simulation->variants != NULL && simulation->variants[m].label != NULL
                             ? simulation->variants[m].label
                             : method->name;
            for (; simulation->trace != NULL && traced < simulation->trace->count; traced++)
                simulation->trace->points[traced].curve = run->label;
            spent += cost_of_run(simulation, method);
        }
    }
    TACIT_CHECK(check_some(runs, done, error));
    if (simulation->goes_on && tacit_ranks_own(simulation->range.ranks) == 0)
        TACIT_CHECK(tacit_runs_beside_alone(simulation, runs, done, error));
    if (model != NULL) {
        *model = last;
        last = NULL;
    }
cleanup:
    tacit_model_free(last);
    tacit_local_free(all.parties);
    tacit_local_free(all.pooled);
    tacit_local_free(all.alone);
    tacit_points_clear(&points);
    return status;
}
