#include "lab/audit/audit.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/audit/binomial.h"

enum {
    PIECE = 256, /* runs a worker takes at a time: large enough to be cheap, small enough to stop soon */
    MOST_CHOOSING =
        500000 /* more runs than this choose no better event; the rest is worth more for counting */
};

/* ---- scores ---- */

/* Most audits draw the fast noise of simulations. Its lowest bits depend on the value it was added to
 * (Mironov 2012), and given the chance an audit finds them: that is why no real release uses it. What is
 * audited here is the law and the scale of the noise, so scores, which are of order one, are rounded to far
 * above those bits. Rounding is post-processing: it can only hide a loss, never make one up. */
static double coarse(double score) { return ldexp(rint(ldexp(score, 20)), -20); }

static double square_between(const double *a, const double *b, size_t count) {
    double square = 0;
    for (size_t j = 0; j < count; j++) square += (a[j] - b[j]) * (a[j] - b[j]);
    return square;
}

double tacit_score_projection(const tacit_audit_case *subject, const double *release,
                              const double *const at[2]) {
    double sum = 0, square = square_between(at[0], at[1], subject->length);
    for (size_t j = 0; j < subject->length; j++) sum += (release[j] - at[1][j]) * (at[0][j] - at[1][j]);
    return square > 0 ? sum / square : 0;
}

double tacit_score_distance(const tacit_audit_case *subject, const double *release,
                            const double *const at[2]) {
    double between = sqrt(square_between(at[0], at[1], subject->length));
    double far = sqrt(square_between(release, at[1], subject->length));
    return between > 0 ? (far - sqrt(square_between(release, at[0], subject->length))) / between : 0;
}

/* ---- events ---- */

/* "score >= threshold" favours D; exchanged, "score < threshold" favours the neighbour. */
typedef struct event {
    double threshold;
    bool exchanged;
} event;

/* Bounds of a proportion by Wilson's formula with Chernoff's z = sqrt(2 log(1/alpha)) >= the normal quantile:
 * only for choosing an event, where a poor choice costs strength and not correctness. */
static double about(double hits, double runs, double z) {
    double p = hits / runs, s = z * z / runs;
    return fmax(0, (p + s / 2 + (z > 0 ? 1 : -1) * sqrt(s * (p * (1 - p) + s / 4))) / (1 + s));
}

static double promise(double hits, double other_hits, double runs, double z, double delta) {
    double p = about(hits, runs, -z) - delta, q = about(other_hits, runs, z);
    return p > 0 && q > 0 ? log(p / q) : -INFINITY;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How many of the sorted values are at least t. */
static size_t at_least(const double *sorted, size_t count, double t) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] < t)
            low = middle + 1;
        else
            high = middle;
    }
    return count - low;
}

/* The two events that promise most on the scores of the first runs (sorted here). Candidates are quantiles of
 * both sides at levels 1/(1 + e^-z), z in [-14, 14]: dense in both tails. */
static void choose_events(event out[2], double *scores[2], size_t count, double z, double delta) {
    double best[2] = { -INFINITY, -INFINITY }, runs = (double)count;
    for (int side = 0; side < 2; side++) qsort(scores[side], count, sizeof(double), by_size);
    out[0] = (event){ scores[0][count / 2], false };
    out[1] = (event){ scores[0][count / 2], true };
    /* and, before them, the ends of the line, where runs without an answer are */
    for (int step = -14 * 32 - 1; step <= 14 * 32; step++) {
        size_t rank = (size_t)((runs - 1) / (1 + exp(-step / 32.0)));
        for (int side = 0; side < 2; side++) {
            double t = step < -14 * 32 ? (side == 0 ? DBL_MAX : -DBL_MAX) : scores[side][rank];
            double over = (double)at_least(scores[0], count, t),
                   other = (double)at_least(scores[1], count, t);
            double promised[2] = { promise(over, other, runs, z, delta),
                                   promise(runs - other, runs - over, runs, z, delta) };
            for (int e = 0; e < 2; e++)
                if (promised[e] > best[e]) {
                    best[e] = promised[e];
                    out[e].threshold = t;
                }
        }
    }
}

/* ---- runs ---- */

typedef struct running {
    const tacit_audit *audit;
    tacit_audit_case *cases; /* one a worker */
    double *releases;        /* room for one a worker */
    const double *at[2];
    tacit_stream root;
    size_t first;      /* number of the first run of this phase */
    double *scores[2]; /* choosing */
    event events[2];   /* counting */
    double without; /* the score of a run without an answer: an end of the line, chosen on the first runs */
    uint64_t hits[2][2], aborted[2];
    pthread_mutex_t mutex; /* guards hits, aborted and done */
    size_t done;
} running;

/* The score of one run: what is random follows from the seed, the run's number and the side alone, unless
 * noise is exact. NaN: the run ended without an answer. */
static tacit_status score_of(running *work, size_t run, int side, unsigned worker, double *out,
                             tacit_error *error) {
    const tacit_auditable *subject = work->audit->subject;
    tacit_audit_case *one = &work->cases[worker];
    double *release = work->releases + worker * one->length;
    tacit_stream stream = tacit_stream_fork(&work->root, "run", run, (uint64_t)side);
    tacit_status status = tacit_audit_draw(one, subject, side, &stream, release, error);
    if (status != TACIT_OK && tacit_audit_is_output(status)) {
        if (error != NULL) *error = (tacit_error)TACIT_ERROR_INIT;
        *out = NAN;
        return TACIT_OK;
    }
    if (status != TACIT_OK) return status;
    double score = (subject->score != NULL ? subject->score : tacit_score_projection)(one, release, work->at);
    *out = one->entropy != NULL ? score : coarse(score);
    if (isnan(score))
        return tacit_fail(error, TACIT_INTERNAL, "run %zu of %s has no score", run, subject->name);
    return TACIT_OK;
}

static void count_up(running *work, size_t runs, const uint64_t hits[2][2], const uint64_t aborted[2]) {
    pthread_mutex_lock(&work->mutex);
    for (int side = 0; side < 2; side++) work->aborted[side] += aborted[side];
    for (int e = 0; e < 2; e++)
        for (int side = 0; side < 2; side++) work->hits[e][side] += hits[e][side];
    work->done += runs;
    tacit_progress_report(work->audit->progress, "runs on each data set", work->done, work->audit->runs);
    pthread_mutex_unlock(&work->mutex);
}

static tacit_status run_some(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    running *work = context;
    uint64_t hits[2][2] = { { 0, 0 }, { 0, 0 } }, aborted[2] = { 0, 0 };
    if (tacit_progress_cancelled(work->audit->progress))
        return tacit_fail(error, TACIT_CANCELLED, "interrupted");
    for (size_t i = begin; i < end; i++)
        for (int side = 0; side < 2; side++) {
            double score;
            TACIT_TRY(score_of(work, work->first + i, side, worker, &score, error));
            if (isnan(score)) {
                aborted[side]++;
                score = work->without;
            }
            if (work->scores[side] != NULL)
                work->scores[side][i] = score;
            else
                for (int e = 0; e < 2; e++)
                    hits[e][side] += (score >= work->events[e].threshold) != work->events[e].exchanged;
        }
    count_up(work, end - begin, (const uint64_t(*)[2])hits, aborted);
    return TACIT_OK;
}

/* Give runs without an answer the end of the line at which they tell most, in the scores of the first runs
 * too. */
static void place_aborted(running *work, size_t choosing) {
    work->without = work->aborted[0] >= work->aborted[1] ? INFINITY : -INFINITY;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < choosing; i++)
            if (isnan(work->scores[side][i])) work->scores[side][i] = work->without;
    work->aborted[0] = work->aborted[1] = 0;
}

/* Choose on the first runs, count on the others. */
static tacit_status run_all(running *work, size_t choosing, double alpha, tacit_error *error) {
    const tacit_audit *audit = work->audit;
    tacit_status status;
    for (int side = 0; side < 2; side++) work->scores[side] = TACIT_NEW(double, choosing);
    if (work->scores[0] == NULL || work->scores[1] == NULL) {
        status = tacit_fail_memory(error);
        goto cleanup;
    }
    work->without = NAN;
    TACIT_CHECK(tacit_pool_for(audit->pool, choosing, PIECE, run_some, work, error));
    place_aborted(work, choosing);
    choose_events(work->events, work->scores, choosing, sqrt(2 * log(1 / alpha)),
                  work->cases[0].charged.delta);
cleanup:
    for (int side = 0; side < 2; side++) {
        free(work->scores[side]);
        work->scores[side] = NULL;
    }
    if (status != TACIT_OK) return status;
    work->first = choosing;
    return tacit_pool_for(audit->pool, audit->runs - choosing, PIECE, run_some, work, error);
}

/* ---- verdict ---- */

/* What one event proves. */
static tacit_audit_result proved(const running *work, int e, size_t counted, double alpha) {
    const tacit_audit_case *one = &work->cases[0];
    bool exchanged = work->events[e].exchanged;
    tacit_audit_result out = { .charged = one->charged,
                               .reach = one->reach,
                               .aborted = { work->aborted[0], work->aborted[1] },
                               .exchanged = exchanged,
                               .counted = counted,
                               .hits = work->hits[e][exchanged],
                               .other_hits = work->hits[e][!exchanged] };
    memcpy(out.pair, one->pair, sizeof out.pair);
    out.at_least = tacit_binomial_lower(out.hits, counted, alpha);
    out.at_most = tacit_binomial_upper(out.other_hits, counted, alpha);
    double p = out.at_least - one->charged.delta;
    out.epsilon_lower = p > 0 ? fmax(0, log(p / out.at_most)) : 0;
    out.broken = out.epsilon_lower > one->charged.epsilon;
    return out;
}

static tacit_status check_audit(const tacit_audit *audit, tacit_error *error) {
    if (audit->runs < TACIT_AUDIT_LEAST_RUNS)
        return tacit_fail(error, TACIT_USAGE, "an audit needs at least %d runs, not %zu",
                          TACIT_AUDIT_LEAST_RUNS, audit->runs);
    if (!(audit->confidence > 0 && audit->confidence < 1))
        return tacit_fail(error, TACIT_USAGE, "a confidence lies between 0 and 1, not at %g",
                          audit->confidence);
    return TACIT_OK;
}

/* A case for each worker, and the noise-free outputs of the first. */
static tacit_status open_cases(running *work, double *exact, size_t *opened, unsigned workers,
                               tacit_error *error) {
    const tacit_audit *audit = work->audit;
    for (; *opened < workers; (*opened)++)
        TACIT_TRY(tacit_audit_open(&work->cases[*opened], audit->subject, &audit->setup, error));
    for (int side = 0; side < 2; side++) {
        double *at = exact + (size_t)side * work->cases[0].length;
        TACIT_TRY(tacit_audit_draw(&work->cases[0], audit->subject, side, NULL, at, error));
        work->at[side] = at;
    }
    return TACIT_OK;
}

static tacit_status run_pair(tacit_audit_result *out, const tacit_audit *audit, tacit_error *error) {
    unsigned workers = tacit_pool_threads(audit->pool);
    size_t opened = 0, choosing = audit->runs / 2 < MOST_CHOOSING ? audit->runs / 2 : MOST_CHOOSING;
    double alpha = (1 - audit->confidence) / 4, *exact = NULL;
    running work = { .audit = audit,
                     .cases = TACIT_NEW(tacit_audit_case, workers),
                     .root = tacit_stream_from_seed(audit->seed),
                     .mutex = PTHREAD_MUTEX_INITIALIZER };
    tacit_status status = work.cases != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    TACIT_CHECK(tacit_audit_open(&work.cases[0], audit->subject, &audit->setup, error));
    opened = 1;
    exact = TACIT_NEW(double, 2 * work.cases[0].length);
    work.releases = TACIT_NEW(double, workers *work.cases[0].length);
    if (exact == NULL || work.releases == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(open_cases(&work, exact, &opened, workers, error));
    TACIT_CHECK(run_all(&work, choosing, alpha, error));
    tacit_audit_result forwards = proved(&work, 0, audit->runs - choosing, alpha);
    tacit_audit_result backwards = proved(&work, 1, audit->runs - choosing, alpha);
    *out = backwards.epsilon_lower > forwards.epsilon_lower ? backwards : forwards;
cleanup:
    for (size_t i = 0; i < opened; i++) tacit_audit_close(&work.cases[i], audit->subject);
    pthread_mutex_destroy(&work.mutex);
    free(work.releases);
    free(exact);
    free(work.cases);
    return status;
}

tacit_status tacit_audit_run(tacit_audit_result *out, const tacit_audit *audit, tacit_error *error) {
    tacit_audit found = *audit;
    tacit_audit_rows *rows = NULL;
    TACIT_TRY(check_audit(audit, error));
    bool searches = audit->search > 0 && audit->subject->pair != NULL;
    if (searches) TACIT_TRY(tacit_audit_search(&rows, audit, error));
    if (rows != NULL) found.setup.rows = rows;
    tacit_status status = run_pair(out, &found, error);
    if (status == TACIT_OK && searches) {
        size_t used = strlen(out->pair);
        out->searched = audit->search;
        snprintf(out->pair + used, sizeof out->pair - used, "; %s of %zu tried",
                 rows != NULL ? "its rows moved, the worst" : "the worst", audit->search);
    }
    tacit_audit_rows_free(rows);
    return status;
}
