#include "session/local/local_parts.h"
#include "session/run.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Parties a worker takes at a time: enough to share their preparation, few enough to stop soon; and few when
 * there are few, so that every worker has some. */
enum { PIECE = 32 };

static const local_reach here_reach;

static tacit_status sum_over_ranks(void *context, double *values, size_t count, tacit_error *error) {
    return tacit_ranks_sum(context, values, count, error);
}

tacit_status tacit_local_create(tacit_local **out, const tacit_dataset *dataset, const tacit_split *split,
                                tacit_pool *pool, tacit_error *error) {
    const tacit_party_range all = { NULL, 0, split->parts };
    return tacit_local_create_part(out, dataset, split, &all, pool, error);
}

tacit_status tacit_local_create_part(tacit_local **out, const tacit_dataset *dataset,
                                     const tacit_split *split, const tacit_party_range *range,
                                     tacit_pool *pool, tacit_error *error) {
    tacit_local *local = TACIT_NEW(tacit_local, 1);
    if (local == NULL) return tacit_fail_memory(error);
    pthread_mutex_init(&local->mutex, NULL);
    pthread_mutex_init(&local->common.mutex, NULL);
    size_t end = range->end < split->parts ? range->end : split->parts;
    local->dataset = dataset;
    local->split = split;
    local->pool = pool;
    local->parties = split->parts;
    local->ranks = range->ranks;
    local->reach = range->ranks != NULL ? &tacit_local_ranks_reach : &here_reach;
    local->first = range->first < end ? range->first : end;
    local->own = end - local->first;
    local->all = tacit_dataset_subset(dataset, split->index + (split->start[local->first] - split->skipped),
                                      split->start[end] - split->start[local->first]);
    local->reducer = (tacit_reducer){ sum_over_ranks, range->ranks };
    local->policy = tacit_policy_none();
    local->memos = TACIT_NEW(tacit_memo, local->own);
    local->ledgers = TACIT_NEW(tacit_ledger *, local->own);
    local->words = TACIT_NEW(tacit_answer, local->parties);
    local->next_words = TACIT_NEW(tacit_answer, local->parties);
    local->word_bytes = TACIT_NEW(size_t, local->parties);
    if (local->memos == NULL || local->ledgers == NULL || local->words == NULL || local->next_words == NULL ||
        local->word_bytes == NULL || tacit_result_cache_create(&local->cache, NULL) != TACIT_OK) {
        tacit_local_free(local);
        return tacit_fail_memory(error);
    }
    *out = local;
    return TACIT_OK;
}

static void drop_ledgers(tacit_local *local) {
    for (size_t k = 0; local->ledgers != NULL && k < local->own; k++)
        local->ledgers[k] = tacit_ledger_free(local->ledgers[k]);
}

static void drop_words(tacit_local *local) {
    for (size_t k = 0; local->words != NULL && local->next_words != NULL && k < local->parties; k++) {
        tacit_answer_clear(&local->words[k]);
        tacit_answer_clear(&local->next_words[k]);
    }
}

tacit_local *tacit_local_free(tacit_local *local) {
    if (local == NULL) return NULL;
    drop_ledgers(local);
    drop_words(local);
    free(local->words);
    free(local->next_words);
    free(local->word_bytes);
    for (size_t k = 0; local->memos != NULL && k < local->own; k++) tacit_memo_clear(&local->memos[k]);
    tacit_result_cache_free(local->cache);
    tacit_local_forget_exact(local);
    tacit_entropy_free(local->entropy);
    free(local->keeps);
    free(local->kept);
    free(local->memos);
    free(local->ledgers);
    tacit_prepared_free(local->common.prepared);
    free(local->common.derived);
    pthread_mutex_destroy(&local->common.mutex);
    pthread_mutex_destroy(&local->mutex);
    free(local);
    return NULL;
}

size_t tacit_local_parties(const tacit_local *local) { return local->parties; }

tacit_status tacit_local_fewest_persons(const tacit_local *local, const tacit_dataset *data, size_t *out,
                                        tacit_error *error) {
    *out = SIZE_MAX;
    for (size_t k = 0; k < local->parties; k++) {
        size_t begin = local->split->start[k], persons = 0;
        tacit_view rows =
            tacit_dataset_subset(data, local->split->index + begin, tacit_split_count(local->split, k));
        TACIT_TRY(tacit_view_groups(&rows, &persons, error));
        if (persons < *out) *out = persons;
    }
    return TACIT_OK;
}

size_t tacit_local_smallest_party(const tacit_local *local) {
    size_t smallest = SIZE_MAX;
    for (size_t k = 0; k < local->parties; k++) {
        size_t rows = tacit_split_count(local->split, k);
        if (rows < smallest) smallest = rows;
    }
    return smallest;
}

size_t tacit_local_rows(const tacit_local *local) {
    return local->split->start[local->parties] - local->split->start[0];
}

static size_t piece_of(const tacit_local *local) {
    size_t share = local->own / tacit_pool_threads(local->pool);
    return share > PIECE ? PIECE : share > 0 ? share : 1;
}

/* Party k as its handler sees it, for one question. */
static void seat_party(tacit_local *local, size_t k, uint64_t round, tacit_party *party, tacit_gate *gate,
                       tacit_stream *stream) {
    *stream = tacit_stream_fork(&local->seed, "party noise", k, round);
    *gate = (tacit_gate){ local->ledgers[k - local->first], &local->policy,
                          local->exactly ? TACIT_GATE_REAL : TACIT_GATE_SIMULATED };
    tacit_noise_source noise = { local->exactly ? local->entropy : NULL, local->exactly ? NULL : stream };
    *party = tacit_run_party(
        local->plan, "simulation", "simulation", tacit_split_view(local->split, local->dataset, k),
        tacit_split_count(local->split, k), noise, &local->memos[k - local->first], gate);
    party->rows.all_left_out = k == 0; /* before rows were dealt out: they count once */
    party->number = k;
    party->run = &local->seed;
    party->keep = local->exactly ? &local->keeps[k - local->first] : NULL;
    party->common = &local->common;
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
    const tacit_handler_entry *handler; /* of a repeatable question */
    uint64_t *totals;                   /* one vector a worker, for sums */
    size_t *contributors;               /* one count a worker */
    tacit_answer *answers;              /* one a party that is here, otherwise */
    bool *answered;
    size_t done; /* guarded by the local session's mutex */
} asking;

/* Reports leave in the order of counting, so that progress only grows. */
static tacit_status keep_going(asking *work, size_t parties, tacit_error *error) {
    tacit_local *local = work->local;
    if (tacit_progress_cancelled(local->progress)) return tacit_fail(error, TACIT_CANCELLED, "interrupted");
    pthread_mutex_lock(&local->mutex);
    work->done += parties;
    tacit_progress_report(local->progress, "parties", work->done, local->own);
    pthread_mutex_unlock(&local->mutex);
    return TACIT_OK;
}

/* Party k with a gate and noise of its own, ready for its question. */
typedef struct seat {
    tacit_party party;
    tacit_gate gate;
    tacit_stream stream;
} seat;

/* Party k passes its gate; what it contributes goes to `total`, or nowhere when that is NULL. */
static tacit_status contribute_one(asking *work, size_t k, seat *one, uint64_t *total, bool *passed,
                                   tacit_error *error) {
    tacit_question question = *work->question;
    seat_party(work->local, k, question.round, &one->party, &one->gate, &one->stream);
    answer_id(question.answer_id, k, question.round);
    tacit_status status = total != NULL ? tacit_party_contribute(&one->party, &question, total, error)
                                        : tacit_party_contribute_blank(&one->party, &question, error);
    *passed = status == TACIT_OK;
    return status == TACIT_OK ? TACIT_OK : absent_or_failed(work->local, k, status, error);
}

/* Who passes the gate adds up: together where the method can, else one by one; or not at all, when the sum is
 * known. */
static tacit_status contribute(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    asking *work = context;
    uint64_t *total = work->totals != NULL ? work->totals + worker * work->question->sum.length : NULL;
    bool together = work->handler != NULL && work->handler->add_up != NULL;
    seat seats[PIECE];
    tacit_party parties[PIECE];
    size_t passed = 0;
    for (size_t i = begin; i < end; i++) {
        bool one;
        TACIT_TRY(contribute_one(work, work->local->first + i, &seats[i - begin], together ? NULL : total,
                                 &one, error));
        if (one) parties[passed++] = seats[i - begin].party;
    }
    if (together && total != NULL && passed > 0)
        TACIT_TRY(work->handler->add_up(parties, passed, work->question, total, error));
    work->contributors[worker] += passed;
    return keep_going(work, end - begin, error);
}

/* The sum of a repeatable question is kept under all that it follows from: the question without study, method
 * and round, and which points it is about. */
static tacit_status sum_key(const tacit_local *local, const tacit_question *question, tacit_cache_key *out,
                            tacit_error *error) {
    tacit_question bare = *question;
    bare.study[0] = bare.method[0] = 0;
    bare.method_version = 0;
    bare.round = 0;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_status status = tacit_question_encode(&bare, &bytes, error);
    *out = tacit_cache_key_begin("sum");
    if (status == TACIT_OK) tacit_cache_key_add(out, bytes.bytes, bytes.length);
    tacit_cache_key_add(out, &local->plan->points, sizeof local->plan->points);
    tacit_buffer_clear(&bytes);
    return status;
}

/* The entry of a repeatable question, else NULL. */
static const tacit_handler_entry *repeatable_handler(const tacit_local *local,
                                                     const tacit_question *question) {
    const tacit_handler_entry *entry = local->plan->method->handlers;
    if (tacit_plan_shares_noise(local->plan)) return NULL; /* chance is in every contribution */
    for (; entry != NULL && entry->question != NULL; entry++)
        if (strcmp(entry->question, question->name) == 0) return entry->repeatable ? entry : NULL;
    return NULL;
}

tacit_status tacit_local_sum_here(tacit_local *local, const tacit_question *question, bool known,
                                  uint64_t *total, size_t *parties, tacit_error *error) {
    size_t workers = tacit_pool_threads(local->pool), length = question->sum.length;
    asking work = { .local = local,
                    .question = question,
                    .handler = repeatable_handler(local, question),
                    .totals = known ? NULL : TACIT_NEW(uint64_t, workers * length),
                    .contributors = TACIT_NEW(size_t, workers) };
    tacit_status status =
        (known || work.totals != NULL) && work.contributors != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK)
        status = tacit_pool_for(local->pool, local->own, piece_of(local), contribute, &work, error);
    *parties = 0;
    for (size_t worker = 0; status == TACIT_OK && worker < workers; worker++) {
        *parties += work.contributors[worker];
        for (size_t j = 0; !known && j < length; j++) total[j] += work.totals[worker * length + j];
    }
    free(work.totals);
    free(work.contributors);
    return status;
}

static tacit_status ask_sum(void *context, const tacit_question *question, uint64_t *total, size_t *parties,
                            tacit_error *error) {
    tacit_local *local = context;
    size_t length = question->sum.length;
    tacit_cache_key key;
    bool repeatable = repeatable_handler(local, question) != NULL, known = false;
    if (repeatable) TACIT_TRY(sum_key(local, question, &key, error));
    known = repeatable && tacit_local_smallest_party(local) >= local->plan->minimum_rows &&
            tacit_result_cache_find(local->cache, &key, total, length * sizeof *total);
    TACIT_TRY(local->reach->sum(local, question, known, total, parties, error));
    if (known && *parties != local->parties)
        return tacit_fail(error, TACIT_INTERNAL,
                          "a party that contributed to '%s' before refuses to do so again", question->name);
    /* Only the sum of all is kept: who refuses may differ between plans. */
    if (repeatable && !known && *parties == local->parties)
        tacit_result_cache_keep(local->cache, &key, total, length * sizeof *total);
    return TACIT_OK;
}

tacit_status tacit_local_ask_party(tacit_local *local, size_t k, const tacit_question *asked,
                                   tacit_answer *out, bool *answered, tacit_error *error) {
    static const uint8_t no_hash[TACIT_HASH_BYTES];
    seat one;
    tacit_question question = *asked;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    seat_party(local, k, question.round, &one.party, &one.gate, &one.stream);
    answer_id(question.answer_id, k, question.round);
    tacit_status status = tacit_party_answer(&one.party, &question, no_hash, &bytes, error);
    if (status == TACIT_OK) status = tacit_answer_decode(out, bytes.bytes, bytes.length, error);
    tacit_buffer_clear(&bytes);
    *answered = status == TACIT_OK;
    return *answered ? TACIT_OK : absent_or_failed(local, k, status, error);
}

static tacit_status answer(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    asking *work = context;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        TACIT_TRY(tacit_local_ask_party(work->local, work->local->first + i, work->question,
                                        &work->answers[i], &work->answered[i], error));
    return keep_going(work, end - begin, error);
}

static tacit_status ask_one(void *context, const tacit_question *question, size_t place, bool needed,
                            tacit_answers *out, tacit_error *error) {
    tacit_local *local = context;
    bool answered = false;
    if (tacit_progress_cancelled(local->progress)) return tacit_fail(error, TACIT_CANCELLED, "interrupted");
    tacit_answer *answers = TACIT_NEW(tacit_answer, 1);
    if (answers == NULL) return tacit_fail_memory(error);
    tacit_status status = TACIT_OK;
    if (place < local->parties)
        status = local->reach->ask_party(local, place, question, answers, &answered, error);
    if (status == TACIT_OK && needed && !answered)
        status = tacit_fail(error, TACIT_REFUSED, "party %zu does not answer, and too few are left: %s",
                            place + 1, local->refusal);
    if (status == TACIT_OK)
        *out = (tacit_answers){ answered, answers };
    else
        free(answers);
    return status;
}

tacit_status tacit_local_ask_here(tacit_local *local, const tacit_question *question, tacit_answers *out,
                                  tacit_error *error) {
    asking work = { .local = local, .question = question };
    tacit_status status;
    work.answers = TACIT_NEW(tacit_answer, local->own);
    work.answered = TACIT_NEW(bool, local->own);
    if (work.answers == NULL || work.answered == NULL) {
        status = tacit_fail_memory(error);
        goto cleanup;
    }
    TACIT_CHECK(tacit_pool_for(local->pool, local->own, piece_of(local), answer, &work, error));
    size_t count = 0;
    for (size_t i = 0; i < local->own; i++)
        if (work.answered[i]) work.answers[count++] = work.answers[i];
    *out = (tacit_answers){ count, work.answers };
    work.answers = NULL;
cleanup:
    if (work.answers != NULL)
        for (size_t i = 0; i < local->own; i++) tacit_answer_clear(&work.answers[i]);
    free(work.answers);
    free(work.answered);
    return status;
}

static tacit_status ask(void *context, const tacit_question *question, tacit_answers *out,
                        tacit_error *error) {
    tacit_local *local = context;
    return local->reach->ask(local, question, out, error);
}

/* ---- a round between neighbours ---- */

typedef struct exchanging {
    tacit_local *local;
    const tacit_question *question;
    const tacit_mixing *mixing;
} exchanging;

/* Party k hears its neighbours' last words; its next one waits until everybody has heard. */
static tacit_status hear_and_say(exchanging *work, size_t k, tacit_error *error) {
    static const uint8_t no_hash[TACIT_HASH_BYTES];
    tacit_local *local = work->local;
    const tacit_mixing *mixing = work->mixing;
    size_t first = mixing->start[k];
    tacit_heard heard = { .count = mixing->start[k + 1] - first,
                          .weight = mixing->weight + first,
                          .own = mixing->own[k],
                          .place = k };
    const tacit_message **word = TACIT_NEW(const tacit_message *, heard.count);
    tacit_question question = *work->question;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_status status;
    seat one;
    if (word == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < heard.count; i++) word[i] = tacit_local_word(local, mixing->neighbour[first + i]);
    heard.word = word;
    seat_party(local, k, question.round, &one.party, &one.gate, &one.stream);
    one.party.heard = &heard;
    answer_id(question.answer_id, k, question.round);
    TACIT_CHECK(tacit_party_answer(&one.party, &question, no_hash, &bytes, error));
    TACIT_CHECK(tacit_answer_decode(&local->next_words[k], bytes.bytes, bytes.length, error));
    local->word_bytes[k] = bytes.length;
cleanup:
    tacit_buffer_clear(&bytes);
    free(word);
    return status == TACIT_OK ? TACIT_OK : tacit_fail_in(error, status, "party %zu", k + 1);
}

static tacit_status exchange_some(void *context, size_t begin, size_t end, unsigned worker,
                                  tacit_error *error) {
    exchanging *work = context;
    (void)worker;
    if (tacit_progress_cancelled(work->local->progress))
        return tacit_fail(error, TACIT_CANCELLED, "interrupted");
    for (size_t k = work->local->first + begin; k < work->local->first + end; k++)
        if (work->mixing->present[k]) TACIT_TRY(hear_and_say(work, k, error));
    return TACIT_OK;
}

static size_t most_bytes_heard(const tacit_local *local, const tacit_mixing *mixing) {
    size_t most = 0;
    for (size_t k = 0; k < local->parties; k++) {
        size_t bytes = 0;
        for (size_t slot = mixing->start[k]; slot < mixing->start[k + 1]; slot++)
            bytes += local->word_bytes[mixing->neighbour[slot]];
        if (bytes > most) most = bytes;
    }
    return most;
}

/* A party that refuses cannot be left out: the others' weights count on its word. */
tacit_status tacit_local_exchange_here(tacit_local *local, const tacit_question *question,
                                       const tacit_mixing *mixing, tacit_error *error) {
    exchanging work = { local, question, mixing };
    return tacit_pool_for(local->pool, local->own, piece_of(local), exchange_some, &work, error);
}

void tacit_local_say_words(tacit_local *local, const tacit_mixing *mixing) {
    for (size_t k = 0; k < local->parties; k++) {
        if (!mixing->present[k]) continue;
        tacit_answer said = local->next_words[k];
        local->next_words[k] = (tacit_answer)TACIT_ANSWER_INIT;
        tacit_answer_clear(&local->words[k]);
        local->words[k] = said;
    }
}

static tacit_status exchange(void *context, const tacit_question *question, const tacit_mixing *mixing,
                             size_t *bytes, tacit_error *error) {
    tacit_local *local = context;
    if (mixing->nodes != local->parties)
        return tacit_fail(error, TACIT_USAGE, "the graph has %zu nodes and there are %zu parties",
                          mixing->nodes, local->parties);
    *bytes = most_bytes_heard(local, mixing);
    TACIT_TRY(local->reach->exchange(local, question, mixing, error));
    tacit_local_say_words(local, mixing);
    return TACIT_OK;
}

const tacit_message *tacit_local_word(const tacit_local *local, size_t party) {
    const tacit_message *word = &local->words[party].message;
    return word->count > 0 ? word : NULL;
}

void tacit_local_lead_with(tacit_local *local, tacit_pool *leader) { local->leader = leader; }

/* A method that asks nobody is computed by all ranks together, so that none of them waits. */
static tacit_pool *coordinator_pool(const tacit_local *local) {
    return local->leader != NULL && local->plan->method->handlers != NULL ? local->leader : local->pool;
}

static const tacit_view *pooled(void *context) { return &((tacit_local *)context)->all; }

tacit_status tacit_local_begin(tacit_local *local, const tacit_plan *plan, const tacit_stream *seed,
                               const tacit_progress *progress, tacit_session *out, tacit_error *error) {
    drop_ledgers(local);
    drop_words(local);
    tacit_local_forget_exact(local);
    tacit_common_begin(&local->common);
    for (size_t k = 0; k < local->own; k++) {
        local->memos[k].packed = tacit_packed_rows_free(local->memos[k].packed);
        TACIT_TRY(tacit_ledger_create(&local->ledgers[k], error));
    }
    local->plan = plan;
    local->seed = tacit_stream_fork(seed, "parties", 0, 0);
    local->progress = progress;
    local->refusals = 0;
    local->refusal[0] = 0;
    tacit_transport transport = { .ask = ask,
                                  .ask_one = ask_one,
                                  .ask_sum = ask_sum,
                                  .pooled = pooled,
                                  .pooled_rows = local->split->start[local->parties] - local->split->start[0],
                                  .reducer = local->ranks != NULL ? &local->reducer : NULL,
                                  .context = local,
                                  .exchange = exchange };
    *out = tacit_run_session(plan, &transport, seed, coordinator_pool(local), progress);
    out->entropy = local->exactly ? local->entropy : NULL;
    out->cache = local->cache;
    out->common = &local->common;
    return TACIT_OK;
}

tacit_status tacit_local_charged(const tacit_local *local, tacit_unit unit, tacit_account *out,
                                 tacit_error *error) {
    return tacit_local_charged_at(local, unit, 0, out, error);
}

/* Of the parties that are here; the first of those that were charged most. */
static tacit_status charged_here(const tacit_local *local, tacit_unit unit, double delta, tacit_account *out,
                                 tacit_error *error) {
    const tacit_price at = { unit, DBL_MAX, delta }; /* a limit that nothing reaches says where to compose */
    *out = (tacit_account){ 0 };
    for (size_t i = 0; i < local->own; i++) {
        tacit_account one;
        TACIT_TRY(tacit_ledger_account(&one, local->ledgers[i], NULL, unit, error));
        if (isfinite(one.sum_epsilon) && delta > one.sum_delta) {
            TACIT_TRY(tacit_ledger_set_limit(local->ledgers[i], NULL, &at, error));
            TACIT_TRY(tacit_ledger_account(&one, local->ledgers[i], NULL, unit, error));
        }
        if (one.spent_epsilon > out->spent_epsilon || i == 0) *out = one;
    }
    return TACIT_OK;
}

tacit_status tacit_local_charged_at(const tacit_local *local, tacit_unit unit, double delta,
                                    tacit_account *out, tacit_error *error) {
    tacit_account here;
    tacit_status status = charged_here(local, unit, delta, &here, error);
    return local->reach->charged(local, status, &here, out, error);
}

static tacit_status charged_alone(const tacit_local *local, tacit_status status, const tacit_account *here,
                                  tacit_account *out, tacit_error *error) {
    (void)local, (void)error;
    if (status == TACIT_OK) *out = *here;
    return status;
}

static const local_reach here_reach = { tacit_local_sum_here, tacit_local_ask_here, tacit_local_ask_party,
                                        tacit_local_exchange_here, charged_alone };

size_t tacit_local_refusals(const tacit_local *local, const char **first) {
    *first = local->refusal;
    return local->refusals;
}
