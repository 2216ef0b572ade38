#include "lab/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/run.h"

void tacit_pair_clear(tacit_pair *pair) {
    for (int side = 0; side < 2; side++) {
        pair->data[side] = tacit_dataset_free(pair->data[side]);
        pair->auxiliary[side] = tacit_dataset_free(pair->auxiliary[side]);
        tacit_points_clear(&pair->points[side]);
    }
    pair->split = tacit_split_free(pair->split);
}

tacit_plan tacit_pair_plan(const tacit_pair *pair, int side) {
    tacit_plan plan = pair->plan;
    if (pair->auxiliary[0] != NULL) plan.points = &pair->points[pair->auxiliary[1] != NULL ? side : 0];
    return plan;
}

tacit_status tacit_pair_ready(tacit_pair *pair, tacit_error *error) {
    for (int side = 0; side < 2 && pair->auxiliary[side] != NULL; side++) {
        tacit_rows rows = tacit_dataset_rows(pair->auxiliary[side]);
        TACIT_TRY(tacit_points_of(&pair->points[side], &rows, NULL, error));
    }
    tacit_plan plan = tacit_pair_plan(pair, 0);
    return tacit_plan_check(&plan, error);
}

tacit_status tacit_pair_copy(tacit_dataset **out, const tacit_dataset *dataset, tacit_error *error) {
    tacit_dataset *copy = NULL;
    if (dataset->is_sparse) return tacit_fail(error, TACIT_USAGE, "a pair is made of dense rows");
    TACIT_TRY(tacit_dataset_create(&copy, dataset->rows, dataset->features,
                                   (const char *const *)dataset->classes.text, dataset->classes.count,
                                   error));
    memcpy(copy->dense.values, dataset->dense.values, dataset->rows * dataset->features * sizeof(double));
    *out = copy; /* the pair's, whatever happens */
    if (dataset->label != NULL) memcpy(copy->label, dataset->label, dataset->rows * sizeof *copy->label);
    if (dataset->response == NULL) return TACIT_OK;
    size_t columns = dataset->response_columns > 1 ? dataset->response_columns : 1;
    copy->response_columns = dataset->response_columns;
    copy->response = TACIT_NEW(double, dataset->rows *columns);
    if (copy->response == NULL) return tacit_fail_memory(error);
    memcpy(copy->response, dataset->response, dataset->rows * columns * sizeof *copy->response);
    return TACIT_OK;
}

/* All weights of all models, one after the other. */
static tacit_status flatten(double **out, size_t *length, const tacit_outcome *outcome,
                            tacit_statistic statistic, tacit_error *error) {
    double factor = statistic == TACIT_STATISTIC_SUM ? (double)outcome->parties : 1;
    size_t count = 0;
    for (size_t m = 0; m < outcome->count; m++) count += tacit_model_size(outcome->models[m]);
    double *values = TACIT_NEW(double, count);
    if (values == NULL) return tacit_fail_memory(error);
    *out = values;
    *length = count;
    for (size_t m = 0; m < outcome->count; m++)
        for (size_t j = 0; j < tacit_model_size(outcome->models[m]); j++)
            *values++ = factor * outcome->models[m]->weights[j];
    return TACIT_OK;
}

/* What a session publishes, one release after the other. */
typedef struct published {
    double *values;
    size_t count;
    bool lost; /* out of memory */
} published;

static void keep_published(void *context, const double *values, size_t count) {
    published *all = context;
    double *grown = tacit_grow(all->values, all->count + count, sizeof *grown);
    if (grown == NULL) {
        all->lost = true;
        return;
    }
    memcpy(grown + all->count, values, count * sizeof *grown);
    all->values = grown;
    all->count += count;
}

tacit_status tacit_pair_run(double **out, size_t *length, tacit_local *local, const tacit_plan *plan,
                            tacit_statistic statistic, const tacit_stream *seed, tacit_error *error) {
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    published seen = { NULL, 0, false };
    tacit_watch watch = { keep_published, &seen };
    tacit_session session;
    tacit_status status;
    const char *refusal;
    TACIT_CHECK(tacit_local_begin(local, plan, seed, NULL, &session, error));
    session.watch = &watch;
    TACIT_CHECK(tacit_run_coordinate(&session, &outcome, error));
    if (tacit_local_refusals(local, &refusal) > 0)
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED, "a party of the pair refused: %s", refusal));
    if (seen.lost) TACIT_CHECK(tacit_fail_memory(error));
    if (statistic != TACIT_STATISTIC_PUBLISHED) {
        TACIT_CHECK(flatten(out, length, &outcome, statistic, error));
    } else {
        *out = seen.values;
        *length = seen.count;
        seen.values = NULL;
    }
cleanup:
    free(seen.values);
    tacit_outcome_clear(&outcome);
    return status;
}

static double distance(const double *a, const double *b, size_t count) {
    double square = 0;
    for (size_t j = 0; j < count; j++) square += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(square);
}

/* One pair: the coordinator's half on each of the two data sets, from the same seed, without noise. */
static tacit_status measure(tacit_replay *out, tacit_pair *pair, const tacit_stream *seed,
                            tacit_error *error) {
    tacit_plan plan = pair->plan;
    tacit_noise_law law;
    tacit_local *local = NULL;
    double *values[2] = { NULL, NULL };
    size_t length[2] = { 0, 0 };
    tacit_status status;
    if (plan.method->noise == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "method %s declares no noise, so there is no sensitivity to replay",
                          plan.method->name);
    TACIT_CHECK(tacit_pair_ready(pair, error));
    plan = tacit_pair_plan(pair, 0);
    TACIT_CHECK(tacit_plan_noise(&plan, &law, error));
    if (law.in_objective)
        TACIT_CHECK(
            tacit_fail(error, TACIT_USAGE,
                       "method %s perturbs its objective, so its sensitivity is not that of the model",
                       plan.method->name));
    for (int side = 0; side < 2; side++) {
        plan = tacit_pair_plan(pair, side);
        plan.epsilon = INFINITY;
        TACIT_CHECK(tacit_local_create(&local, pair->data[side], pair->split, NULL, error));
        TACIT_CHECK(tacit_pair_run(&values[side], &length[side], local, &plan, pair->statistic, seed, error));
        local = tacit_local_free(local);
    }
    if (length[0] != length[1])
        TACIT_CHECK(tacit_fail(error, TACIT_INTERNAL,
                               "method %s publishes %zu numbers on one data set and %zu on its neighbour",
                               plan.method->name, length[0], length[1]));
    out->shift = distance(values[0], values[1], length[0]);
    out->declared = law.sensitivity;
    out->ratio = out->shift / out->declared;
cleanup:
    tacit_local_free(local);
    free(values[0]);
    free(values[1]);
    return status;
}

typedef struct replaying {
    tacit_pair_maker *make;
    void *context;
    tacit_stream seed;
    tacit_replay *each;
} replaying;

static tacit_status replay_some(void *context, size_t begin, size_t end, unsigned worker,
                                tacit_error *error) {
    replaying *work = context;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        tacit_pair pair = TACIT_PAIR_INIT;
        tacit_stream seed = tacit_stream_fork(&work->seed, "replay", i, 0);
        tacit_status status = work->make(work->context, i, &pair, error);
        if (status == TACIT_OK) status = measure(&work->each[i], &pair, &seed, error);
        work->each[i].pair = i;
        tacit_pair_clear(&pair);
        TACIT_TRY(status);
    }
    return TACIT_OK;
}

tacit_status tacit_replay_run(tacit_replay *out, tacit_pair_maker *make, void *context, size_t count,
                              uint64_t seed, tacit_pool *pool, tacit_error *error) {
    if (count == 0) return tacit_fail(error, TACIT_USAGE, "a replay needs at least one pair");
    replaying work = { make, context, tacit_stream_from_seed(seed), TACIT_NEW(tacit_replay, count) };
    if (work.each == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_pool_for(pool, count, 1, replay_some, &work, error);
    if (status == TACIT_OK) {
        *out = work.each[0];
        for (size_t i = 1; i < count; i++)
            if (work.each[i].ratio > out->ratio) *out = work.each[i];
    }
    free(work.each);
    return status;
}
