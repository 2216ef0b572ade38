#include "lab/reproduce/logit_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/split.h"
#include "session/local/local.h"
#include "session/run.h"

static double seconds_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Without memory for it the path is cut short. */
static void hear(void *context, const double *values, size_t count) {
    tacit_logit_fit *self = context;
    double *path = tacit_grow(self->path, (self->iterations + 1) * count, sizeof *path);
    if (path == NULL) return;
    memcpy(path + self->iterations * count, values, count * sizeof *path);
    self->path = path;
    self->width = count;
    self->iterations++;
}

static tacit_status make_plan(tacit_plan *plan, const tacit_dataset *data,
                              const tacit_logit_run_options *options, tacit_error *error) {
    char scale[32];
    *plan = (tacit_plan){ .study = "reproduction",
                          .epsilon = INFINITY,
                          .lambda = options->lambda,
                          .features = data->features,
                          .classes = 2,
                          .parties = options->nodes,
                          .minimum_parties = options->nodes,
                          .minimum_rows = 1 };
    TACIT_TRY(tacit_method_require(&plan->method, options->method, error));
    tacit_format(scale, sizeof scale, "%.17g", options->scale);
    TACIT_TRY(tacit_plan_set(plan, "scale", scale, error));
    TACIT_TRY(tacit_plan_set(plan, "penalty", "sum", error)); /* lambda as in the thesis */
    TACIT_TRY(tacit_plan_set(plan, "engine", options->engine, error));
    TACIT_TRY(tacit_plan_set(plan, "stop", options->stop, error));
    TACIT_TRY(tacit_plan_set(plan, "inference", "no", error));
    return tacit_plan_check(plan, error);
}

tacit_status tacit_logit_fit_run(tacit_logit_fit *out, const tacit_dataset *data,
                                 const tacit_logit_run_options *options, uint64_t seed, tacit_pool *pool,
                                 tacit_error *error) {
    tacit_stream root = tacit_stream_from_seed(seed);
    tacit_view all = tacit_dataset_view(data);
    tacit_split_plan *how = NULL;
    tacit_split *split = NULL;
    tacit_local *local = NULL;
    tacit_plan plan;
    tacit_session session;
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_watch watch = { hear, out };
    tacit_status status;
    *out = (tacit_logit_fit){ .path = NULL };
    TACIT_CHECK(make_plan(&plan, data, options, error));
    TACIT_CHECK(tacit_split_plan_parse(&how, "even", error));
    TACIT_CHECK(tacit_split_make(&split, how, &all, 0, options->nodes, &root, error));
    tacit_split_sort(split); /* a node's rows lie together, and seconds are what is shown */
    TACIT_CHECK(tacit_local_create(&local, data, split, pool, error));
    TACIT_CHECK(tacit_local_begin(local, &plan, &root, NULL, &session, error));
    session.watch = &watch;
    session.center_report = &out->report;
    double begun = seconds_now();
    TACIT_CHECK(tacit_run_coordinate(&session, &outcome, error));
    out->seconds = seconds_now() - begun;
cleanup:
    tacit_outcome_clear(&outcome);
    tacit_local_free(local);
    tacit_split_free(split);
    tacit_split_plan_free(how);
    if (status != TACIT_OK) tacit_logit_fit_clear(out);
    return status;
}

void tacit_logit_fit_clear(tacit_logit_fit *fit) {
    free(fit->path);
    *fit = (tacit_logit_fit){ .path = NULL };
}

double tacit_logit_fit_difference(const tacit_logit_fit *fit, const tacit_logit_reference *plain) {
    double most = 0;
    for (size_t k = 0; k < fit->iterations && k < plain->iterations; k++)
        for (size_t j = 0; j < fit->width; j++)
            most = fmax(most, fabs(fit->path[k * fit->width + j] - plain->path[(k + 1) * fit->width + j]));
    return most;
}
