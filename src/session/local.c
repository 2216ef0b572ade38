#include "session/local.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
    PIECE = 16
}; /* parties a worker takes at a time: large enough to be cheap, small enough to stop soon */

struct tacit_local {
    const tacit_dataset *dataset;
    const tacit_split *split;
    tacit_pool *pool;
    size_t parties;
    tacit_view all;
    tacit_memo *memos;
    tacit_ledger **ledgers;
    tacit_policy policy;
    const tacit_plan *plan;
    tacit_stream seed;
    const tacit_progress *progress;
    pthread_mutex_t mutex; /* guards what follows */
    size_t refusals;
    size_t first_refused;
    char refusal[TACIT_ERROR_TEXT_SIZE];
};

tacit_status tacit_local_create(tacit_local **out, const tacit_dataset *dataset, const tacit_split *split,
                                tacit_pool *pool, tacit_error *error) {
    tacit_local *local = TACIT_NEW(tacit_local, 1);
    if (local == NULL) return tacit_fail_memory(error);
    pthread_mutex_init(&local->mutex, NULL);
    local->dataset = dataset;
    local->split = split;
    local->pool = pool;
    local->parties = split->parts;
    local->all = tacit_dataset_subset(dataset, split->index, split->start[split->parts]);
    local->policy = tacit_policy_none();
    local->memos = TACIT_NEW(tacit_memo, local->parties);
    local->ledgers = TACIT_NEW(tacit_ledger *, local->parties);
    if (local->memos == NULL || local->ledgers == NULL) {
        tacit_local_free(local);
        return tacit_fail_memory(error);
    }
    *out = local;
    return TACIT_OK;
}

static void drop_ledgers(tacit_local *local) {
    for (size_t k = 0; local->ledgers != NULL && k < local->parties; k++)
        local->ledgers[k] = tacit_ledger_free(local->ledgers[k]);
}

tacit_local *tacit_local_free(tacit_local *local) {
    if (local == NULL) return NULL;
    drop_ledgers(local);
    for (size_t k = 0; local->memos != NULL && k < local->parties; k++)
        tacit_model_free(local->memos[k].model);
    free(local->memos);
    free(local->ledgers);
    pthread_mutex_destroy(&local->mutex);
    free(local);
    return NULL;
}

size_t tacit_local_parties(const tacit_local *local) { return local->parties; }

size_t tacit_local_smallest_party(const tacit_local *local) {
    size_t smallest = SIZE_MAX;
    for (size_t k = 0; k < local->parties; k++) {
        size_t rows = tacit_split_count(local->split, k);
        if (rows < smallest) smallest = rows;
    }
    return smallest;
}

/* Party k as its handler sees it, for one question. */
static void seat_party(tacit_local *local, size_t k, uint64_t round, tacit_party *party, tacit_gate *gate) {
    *gate = (tacit_gate){ local->ledgers[k], &local->policy, TACIT_GATE_SIMULATED };
    *party = (tacit_party){
        .plan = local->plan,
        .coordinator = "simulation",
        .study = "simulation",
        .rows = tacit_split_view(local->split, local->dataset, k),
        .total_rows = tacit_split_count(local->split, k),
        .noise = tacit_stream_fork(&local->seed, "party noise", k, round),
        .noise_grade = TACIT_NOISE_SIMULATED,
        .memo = &local->memos[k],
        .gate = gate,
    };
}

/* An id that no other party and round of this run has. */
static void answer_id(uint8_t out[TACIT_ANSWER_ID_BYTES], size_t k, uint64_t round) {
    for (size_t i = 0; i < 8; i++) {
        out[i] = (uint8_t)((uint64_t)k >> (8 * i));
        out[8 + i] = (uint8_t)(round >> (8 * i));
    }
}

/* A refusing party is absent, as it would be in a deployed study; any other failure ends the run. */
static tacit_status absent_or_failed(tacit_local *local, size_t k, tacit_status status, tacit_error *error) {
    if (status != TACIT_REFUSED) return tacit_fail_in(error, status, "party %zu", k + 1);
    pthread_mutex_lock(&local->mutex);
    if (local->refusals == 0 || k < local->first_refused) {
        local->first_refused = k;
        snprintf(local->refusal, sizeof local->refusal, "%s", error != NULL ? error->text : "");
    }
    local->refusals++;
    pthread_mutex_unlock(&local->mutex);
    if (error != NULL) *error = (tacit_error)TACIT_ERROR_INIT;
    return TACIT_OK;
}

typedef struct asking {
    tacit_local *local;
    const tacit_question *question;
    uint64_t *totals;      /* one vector a worker, for sums */
    size_t *contributors;  /* one count a worker */
    tacit_answer *answers; /* one a party, otherwise */
    bool *answered;
    size_t done; /* guarded by the local session's mutex */
} asking;

/* Reports leave in the order of counting, so that progress only grows. */
static tacit_status keep_going(asking *work, size_t parties, tacit_error *error) {
    tacit_local *local = work->local;
    if (tacit_progress_cancelled(local->progress)) return tacit_fail(error, TACIT_CANCELLED, "interrupted");
    pthread_mutex_lock(&local->mutex);
    work->done += parties;
    tacit_progress_report(local->progress, "parties", work->done, local->parties);
    pthread_mutex_unlock(&local->mutex);
    return TACIT_OK;
}

static tacit_status contribute(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    asking *work = context;
    for (size_t k = begin; k < end; k++) {
        tacit_party party;
        tacit_gate gate;
        tacit_question question = *work->question;
        seat_party(work->local, k, question.round, &party, &gate);
        answer_id(question.answer_id, k, question.round);
        tacit_status status =
            tacit_party_contribute(&party, &question, work->totals + worker * question.sum.length, error);
        if (status == TACIT_OK)
            work->contributors[worker]++;
        else
            TACIT_TRY(absent_or_failed(work->local, k, status, error));
    }
    return keep_going(work, end - begin, error);
}

static tacit_status ask_sum(void *context, const tacit_question *question, uint64_t *total, size_t *parties,
                            tacit_error *error) {
    tacit_local *local = context;
    size_t workers = tacit_pool_threads(local->pool), length = question->sum.length;
    asking work = { .local = local, .question = question };
    tacit_status status;
    work.totals = TACIT_NEW(uint64_t, workers * length);
    work.contributors = TACIT_NEW(size_t, workers);
    if (work.totals == NULL || work.contributors == NULL) {
        status = tacit_fail_memory(error);
        goto cleanup;
    }
    TACIT_CHECK(tacit_pool_for(local->pool, local->parties, PIECE, contribute, &work, error));
    *parties = 0;
    for (size_t worker = 0; worker < workers; worker++) {
        *parties += work.contributors[worker];
        for (size_t j = 0; j < length; j++) total[j] += work.totals[worker * length + j];
    }
cleanup:
    free(work.totals);
    free(work.contributors);
    return status;
}

static tacit_status answer(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    asking *work = context;
    (void)worker;
    static const uint8_t no_hash[TACIT_HASH_BYTES];
    for (size_t k = begin; k < end; k++) {
        tacit_party party;
        tacit_gate gate;
        tacit_question question = *work->question;
        tacit_buffer bytes = TACIT_BUFFER_INIT;
        seat_party(work->local, k, question.round, &party, &gate);
        answer_id(question.answer_id, k, question.round);
        tacit_status status = tacit_party_answer(&party, &question, no_hash, &bytes, error);
        if (status == TACIT_OK)
            status = tacit_answer_decode(&work->answers[k], bytes.bytes, bytes.length, error);
        tacit_buffer_clear(&bytes);
        if (status == TACIT_OK)
            work->answered[k] = true;
        else
            TACIT_TRY(absent_or_failed(work->local, k, status, error));
    }
    return keep_going(work, end - begin, error);
}

static tacit_status ask(void *context, const tacit_question *question, tacit_answers *out,
                        tacit_error *error) {
    tacit_local *local = context;
    asking work = { .local = local, .question = question };
    tacit_status status;
    work.answers = TACIT_NEW(tacit_answer, local->parties);
    work.answered = TACIT_NEW(bool, local->parties);
    if (work.answers == NULL || work.answered == NULL) {
        status = tacit_fail_memory(error);
        goto cleanup;
    }
    TACIT_CHECK(tacit_pool_for(local->pool, local->parties, PIECE, answer, &work, error));
    size_t count = 0;
    for (size_t k = 0; k < local->parties; k++)
        if (work.answered[k]) work.answers[count++] = work.answers[k];
    *out = (tacit_answers){ count, work.answers };
    work.answers = NULL;
cleanup:
    if (work.answers != NULL)
        for (size_t k = 0; k < local->parties; k++) tacit_answer_clear(&work.answers[k]);
    free(work.answers);
    free(work.answered);
    return status;
}

static const tacit_view *pooled(void *context) { return &((tacit_local *)context)->all; }

tacit_status tacit_local_begin(tacit_local *local, const tacit_plan *plan, const tacit_stream *seed,
                               const tacit_progress *progress, tacit_session *out, tacit_error *error) {
    drop_ledgers(local);
    for (size_t k = 0; k < local->parties; k++) TACIT_TRY(tacit_ledger_create(&local->ledgers[k], error));
    local->plan = plan;
    local->seed = tacit_stream_fork(seed, "parties", 0, 0);
    local->progress = progress;
    local->refusals = 0;
    local->refusal[0] = 0;
    *out = (tacit_session){
        .plan = plan,
        .transport = { ask, ask_sum, pooled, local },
        .secret = tacit_stream_fork(seed, "coordinator", 0, 0),
        .pool = local->pool,
        .progress = progress,
    };
    return TACIT_OK;
}

tacit_status tacit_local_charged(const tacit_local *local, tacit_unit unit, tacit_account *out,
                                 tacit_error *error) {
    tacit_account most = { 0 };
    for (size_t k = 0; k < local->parties; k++) {
        tacit_account one;
        TACIT_TRY(tacit_ledger_account(&one, local->ledgers[k], NULL, unit, error));
        if (one.spent_epsilon > most.spent_epsilon || k == 0) most = one;
    }
    *out = most;
    return TACIT_OK;
}

size_t tacit_local_refusals(const tacit_local *local, const char **first) {
    *first = local->refusal;
    return local->refusals;
}
