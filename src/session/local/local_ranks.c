/*
 * Parties in several ranks. Rank 0 runs the coordinator's half; a question goes to all ranks as it would
 * travel, each asks its own parties, and what they answer comes back in the order of the parties. Whether a
 * rank failed is settled before anything is combined, so that none waits for another.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/local/local_parts.h"

tacit_party_range tacit_party_range_of(const tacit_split *split, tacit_ranks *ranks) {
    size_t own = tacit_ranks_own(ranks), count = tacit_ranks_count(ranks);
    double each = (double)(split->start[split->parts] - split->start[0]) / (double)split->parts;
    double part = 2 * each * (double)split->parts / (double)count;
    size_t bound[2];
    for (size_t side = 0; side < 2; side++) {
        size_t k = 0;
        while (k < split->parts && (double)(split->start[k] - split->start[0]) + each * (double)k <
                                       part * (double)(own + side) - 0.5)
            k++;
        bound[side] = own + side == count ? split->parts : k;
    }
    return (tacit_party_range){ ranks, bound[0], bound[1] };
}

bool tacit_local_serves(const tacit_local *local) {
    return tacit_ranks_own(local->ranks) > 0 && local->plan->method->handlers != NULL;
}

/* ---- what rank 0 tells the others to do ---- */

typedef enum order_kind {
    ORDER_SUM,
    ORDER_SUM_KNOWN,
    ORDER_ASK,
    ORDER_ASK_ONE,
    ORDER_EXCHANGE,
    ORDER_END
} order_kind;

typedef struct order {
    uint64_t kind, place;
    tacit_received received;
    tacit_mixing mixing;
} order;

static void order_clear(order *self) {
    tacit_received_clear(&self->received);
    tacit_mixing_clear(&self->mixing);
}

static tacit_status write_mixing(tacit_buffer *out, const tacit_mixing *mixing, tacit_error *error) {
    size_t nodes = mixing->nodes, links = mixing->start[nodes];
    TACIT_TRY(tacit_buffer_append_u64(out, nodes, error));
    TACIT_TRY(tacit_buffer_append_u64(out, links, error));
    TACIT_TRY(tacit_buffer_append(out, mixing->present, nodes * sizeof *mixing->present, error));
    TACIT_TRY(tacit_buffer_append(out, mixing->start, (nodes + 1) * sizeof *mixing->start, error));
    TACIT_TRY(tacit_buffer_append(out, mixing->own, nodes * sizeof *mixing->own, error));
    TACIT_TRY(tacit_buffer_append(out, mixing->neighbour, links * sizeof *mixing->neighbour, error));
    return tacit_buffer_append(out, mixing->weight, links * sizeof *mixing->weight, error);
}

static tacit_status lost(tacit_error *error) {
    return tacit_fail(error, TACIT_INTERNAL,
                      "what rank 0 says cannot be read: are all ranks the same program?");
}

static tacit_status read_mixing(tacit_mixing *out, tacit_cursor *cursor, tacit_error *error) {
    uint64_t nodes = 0, links = 0;
    if (!tacit_cursor_read_u64(cursor, &nodes) || !tacit_cursor_read_u64(cursor, &links)) return lost(error);
    *out = (tacit_mixing){ (size_t)nodes,
                           TACIT_NEW(bool, nodes),
                           TACIT_NEW(size_t, nodes + 1),
                           TACIT_NEW(uint32_t, links),
                           TACIT_NEW(double, links),
                           TACIT_NEW(double, nodes) };
    if (out->present == NULL || out->start == NULL || out->neighbour == NULL || out->weight == NULL ||
        out->own == NULL)
        return tacit_fail_memory(error);
    bool whole = tacit_cursor_read(cursor, out->present, nodes * sizeof *out->present) &&
                 tacit_cursor_read(cursor, out->start, (nodes + 1) * sizeof *out->start) &&
                 tacit_cursor_read(cursor, out->own, nodes * sizeof *out->own) &&
                 tacit_cursor_read(cursor, out->neighbour, links * sizeof *out->neighbour) &&
                 tacit_cursor_read(cursor, out->weight, links * sizeof *out->weight);
    return whole ? TACIT_OK : lost(error);
}

static tacit_status give(tacit_local *local, order_kind kind, size_t place, const tacit_question *question,
                         const tacit_mixing *mixing, tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_buffer_append_u64(&bytes, (uint64_t)kind, error));
    TACIT_CHECK(tacit_buffer_append_u64(&bytes, place, error));
    if (mixing != NULL) TACIT_CHECK(write_mixing(&bytes, mixing, error));
    if (question != NULL) TACIT_CHECK(tacit_question_encode(question, &bytes, error));
    TACIT_CHECK(tacit_ranks_spread(local->ranks, &bytes, error));
cleanup:
    tacit_buffer_clear(&bytes);
    return status;
}

static tacit_status hear(tacit_local *local, order *out, tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_status status;
    *out = (order){ .received = TACIT_RECEIVED_INIT, .mixing = TACIT_MIXING_INIT };
    TACIT_CHECK(tacit_ranks_spread(local->ranks, &bytes, error));
    tacit_cursor cursor = tacit_cursor_over(bytes.bytes, bytes.length);
    if (!tacit_cursor_read_u64(&cursor, &out->kind) || !tacit_cursor_read_u64(&cursor, &out->place))
        TACIT_CHECK(lost(error));
    if (out->kind == ORDER_EXCHANGE) TACIT_CHECK(read_mixing(&out->mixing, &cursor, error));
    if (out->kind != ORDER_END)
        TACIT_CHECK(tacit_question_decode(&out->received, cursor.bytes, cursor.left, error));
cleanup:
    tacit_buffer_clear(&bytes);
    return status;
}

/* ---- one question, on every rank ---- */

/* The ranks' sums are added to rank 0's `total`; the last number of `all` counts parties. */
static tacit_status add_up(tacit_local *local, const tacit_question *question, bool known, uint64_t *total,
                           size_t *parties, tacit_error *error) {
    size_t length = known ? 0 : question->sum.length;
    uint64_t *all = TACIT_NEW(uint64_t, length + 1);
    tacit_status status = all != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status == TACIT_OK) status = tacit_local_sum_here(local, question, known, all, parties, error);
    TACIT_CHECK(tacit_ranks_agree(local->ranks, status, error));
    all[length] = *parties;
    TACIT_CHECK(tacit_ranks_sum_integers(local->ranks, all, length + 1, error));
    for (size_t j = 0; j < length; j++) total[j] += all[j];
    *parties = (size_t)all[length];
cleanup:
    free(all);
    return status;
}

static tacit_status append_answer(tacit_buffer *out, const tacit_answer *answer, tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_answer_encode(answer, &bytes, error));
    TACIT_CHECK(tacit_buffer_append_u64(out, bytes.length, error));
    TACIT_CHECK(tacit_buffer_append(out, bytes.bytes, bytes.length, error));
cleanup:
    tacit_buffer_clear(&bytes);
    return status;
}

static tacit_status read_answer(tacit_cursor *cursor, tacit_answer *out, tacit_error *error) {
    uint64_t length = 0;
    const uint8_t *bytes = NULL;
    if (!tacit_cursor_read_u64(cursor, &length) || !tacit_cursor_skip(cursor, &bytes, (size_t)length))
        return lost(error);
    return tacit_answer_decode(out, bytes, (size_t)length, error);
}

static tacit_status answer_here(tacit_local *local, const tacit_question *question, tacit_buffer *out,
                                tacit_error *error) {
    tacit_answers answers = TACIT_ANSWERS_INIT;
    tacit_status status = tacit_local_ask_here(local, question, &answers, error);
    if (status == TACIT_OK) status = tacit_buffer_append_u64(out, answers.count, error);
    for (size_t i = 0; status == TACIT_OK && i < answers.count; i++)
        status = append_answer(out, &answers.answer[i], error);
    tacit_answers_clear(&answers);
    return status;
}

/* The answers of a rank that are in `bytes`, behind those in `out`, which has room. */
static tacit_status read_answers(const tacit_buffer *bytes, tacit_answers *out, size_t room,
                                 tacit_error *error) {
    tacit_cursor cursor = tacit_cursor_over(bytes->bytes, bytes->length);
    uint64_t count = 0;
    if (!tacit_cursor_read_u64(&cursor, &count) || count > room - out->count) return lost(error);
    for (size_t i = 0; i < count; i++) {
        TACIT_TRY(read_answer(&cursor, &out->answer[out->count], error));
        out->count++;
    }
    return TACIT_OK;
}

/* Something of every rank, on rank 0; the caller clears the buffers, one a rank. */
static tacit_status bring_together(const tacit_local *local, tacit_status status, const tacit_buffer *own,
                                   tacit_buffer **out, tacit_error *error) {
    *out = TACIT_NEW(tacit_buffer, tacit_ranks_count(local->ranks));
    if (status == TACIT_OK && *out == NULL) status = tacit_fail_memory(error);
    TACIT_TRY(tacit_ranks_agree(local->ranks, status, error));
    return tacit_ranks_gather(local->ranks, own, *out, error);
}

static void drop_buffers(const tacit_local *local, tacit_buffer *buffers) {
    for (size_t r = 0; buffers != NULL && r < tacit_ranks_count(local->ranks); r++)
        tacit_buffer_clear(&buffers[r]);
    free(buffers);
}

/* Rank 0 gets all answers; on others `out` stays empty. */
static tacit_status collect(tacit_local *local, const tacit_question *question, tacit_answers *out,
                            tacit_error *error) {
    tacit_buffer own = TACIT_BUFFER_INIT, *all = NULL;
    tacit_answers answers = TACIT_ANSWERS_INIT;
    tacit_status status = answer_here(local, question, &own, error);
    TACIT_CHECK(bring_together(local, status, &own, &all, error));
    if (tacit_ranks_own(local->ranks) > 0) goto cleanup;
    answers.answer = TACIT_NEW(tacit_answer, local->parties);
    if (answers.answer == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t r = 0; r < tacit_ranks_count(local->ranks); r++) {
        TACIT_CHECK(read_answers(&all[r], &answers, local->parties, error));
        tacit_buffer_clear(&all[r]);
    }
    *out = answers;
    answers = (tacit_answers)TACIT_ANSWERS_INIT;
cleanup:
    tacit_answers_clear(&answers);
    drop_buffers(local, all);
    tacit_buffer_clear(&own);
    return status;
}

static bool is_here(const tacit_local *local, size_t k) {
    return k >= local->first && k - local->first < local->own;
}

/* The rank that has the party asks it; what it says, or why it refuses, goes to rank 0. */
static tacit_status collect_one(tacit_local *local, const tacit_question *question, size_t place,
                                bool *answered, tacit_answer *out, tacit_error *error) {
    tacit_buffer own = TACIT_BUFFER_INIT, *all = NULL;
    tacit_answer said = TACIT_ANSWER_INIT;
    tacit_status status = TACIT_OK;
    bool one = false;
    if (is_here(local, place)) {
        status = tacit_local_ask_party(local, place, question, &said, &one, error);
        if (status == TACIT_OK) status = tacit_buffer_append_u64(&own, one, error);
        if (status == TACIT_OK)
            status = one ? append_answer(&own, &said, error)
                         : tacit_buffer_append(&own, local->refusal, sizeof local->refusal, error);
    }
    TACIT_CHECK(bring_together(local, status, &own, &all, error));
    for (size_t r = 0; tacit_ranks_own(local->ranks) == 0 && r < tacit_ranks_count(local->ranks); r++) {
        tacit_cursor cursor = tacit_cursor_over(all[r].bytes, all[r].length);
        uint64_t has = 0;
        if (!tacit_cursor_read_u64(&cursor, &has)) continue;
        *answered = has != 0;
        if (has != 0)
            TACIT_CHECK(read_answer(&cursor, out, error));
        else if (!tacit_cursor_read(&cursor, local->refusal, sizeof local->refusal))
            TACIT_CHECK(lost(error));
    }
cleanup:
    tacit_answer_clear(&said);
    drop_buffers(local, all);
    tacit_buffer_clear(&own);
    return status;
}

/* ---- words between neighbours, who may be in different ranks ---- */

static tacit_status pack_words(const tacit_local *local, const tacit_mixing *mixing, tacit_buffer *out,
                               tacit_error *error) {
    for (size_t k = local->first; k < local->first + local->own; k++) {
        if (!mixing->present[k]) continue;
        TACIT_TRY(tacit_buffer_append_u64(out, k, error));
        TACIT_TRY(tacit_buffer_append_u64(out, local->word_bytes[k], error));
        TACIT_TRY(append_answer(out, &local->next_words[k], error));
    }
    return TACIT_OK;
}

static tacit_status unpack_words(tacit_local *local, const tacit_buffer *bytes, tacit_error *error) {
    tacit_cursor cursor = tacit_cursor_over(bytes->bytes, bytes->length);
    while (cursor.left > 0) {
        uint64_t k = 0, length = 0;
        if (!tacit_cursor_read_u64(&cursor, &k) || !tacit_cursor_read_u64(&cursor, &length) ||
            k >= local->parties)
            return lost(error);
        tacit_answer_clear(&local->next_words[k]);
        TACIT_TRY(read_answer(&cursor, &local->next_words[k], error));
        local->word_bytes[k] = (size_t)length;
    }
    return TACIT_OK;
}

static tacit_status swap_words(tacit_local *local, const tacit_question *question, const tacit_mixing *mixing,
                               tacit_error *error) {
    tacit_buffer own = TACIT_BUFFER_INIT, words = TACIT_BUFFER_INIT, *all = NULL;
    tacit_status status = tacit_local_exchange_here(local, question, mixing, error);
    if (status == TACIT_OK) status = pack_words(local, mixing, &own, error);
    TACIT_CHECK(bring_together(local, status, &own, &all, error));
    for (size_t r = 0; tacit_ranks_own(local->ranks) == 0 && r < tacit_ranks_count(local->ranks); r++)
        TACIT_CHECK(tacit_buffer_append(&words, all[r].bytes, all[r].length, error));
    TACIT_CHECK(tacit_ranks_spread(local->ranks, &words, error));
    TACIT_CHECK(unpack_words(local, &words, error));
cleanup:
    drop_buffers(local, all);
    tacit_buffer_clear(&own);
    tacit_buffer_clear(&words);
    return status;
}

/* ---- rank 0 ---- */

static tacit_status ranks_sum(tacit_local *local, const tacit_question *question, bool known, uint64_t *total,
                              size_t *parties, tacit_error *error) {
    TACIT_TRY(give(local, known ? ORDER_SUM_KNOWN : ORDER_SUM, 0, question, NULL, error));
    return add_up(local, question, known, total, parties, error);
}

static tacit_status ranks_ask(tacit_local *local, const tacit_question *question, tacit_answers *out,
                              tacit_error *error) {
    TACIT_TRY(give(local, ORDER_ASK, 0, question, NULL, error));
    return collect(local, question, out, error);
}

static tacit_status ranks_ask_party(tacit_local *local, size_t place, const tacit_question *question,
                                    tacit_answer *out, bool *answered, tacit_error *error) {
    TACIT_TRY(give(local, ORDER_ASK_ONE, place, question, NULL, error));
    return collect_one(local, question, place, answered, out, error);
}

static tacit_status ranks_exchange(tacit_local *local, const tacit_question *question,
                                   const tacit_mixing *mixing, tacit_error *error) {
    TACIT_TRY(give(local, ORDER_EXCHANGE, 0, question, mixing, error));
    return swap_words(local, question, mixing, error);
}

/* ---- the others ---- */

static tacit_status obey(tacit_local *local, const order *heard, tacit_error *error) {
    tacit_answers unused = TACIT_ANSWERS_INIT;
    tacit_answer none = TACIT_ANSWER_INIT;
    uint64_t *total = NULL;
    size_t parties = 0;
    bool answered = false;
    tacit_status status;
    switch ((order_kind)heard->kind) {
    case ORDER_SUM:
    case ORDER_SUM_KNOWN:
        total = TACIT_NEW(uint64_t, heard->received.question.sum.length);
        if (total == NULL) return tacit_fail_memory(error);
        status =
            add_up(local, &heard->received.question, heard->kind == ORDER_SUM_KNOWN, total, &parties, error);
        free(total);
        return status;
    case ORDER_ASK: return collect(local, &heard->received.question, &unused, error);
    case ORDER_ASK_ONE:
        return collect_one(local, &heard->received.question, (size_t)heard->place, &answered, &none, error);
    case ORDER_EXCHANGE:
        TACIT_TRY(swap_words(local, &heard->received.question, &heard->mixing, error));
        tacit_local_say_words(local, &heard->mixing);
        return TACIT_OK;
    case ORDER_END: break;
    }
    return lost(error);
}

tacit_status tacit_local_serve(tacit_local *local, tacit_error *error) {
    for (bool ended = false; !ended;) {
        order heard;
        tacit_status status = hear(local, &heard, error);
        ended = heard.kind == ORDER_END;
        if (status == TACIT_OK && !ended) status = obey(local, &heard, error);
        order_clear(&heard);
        TACIT_TRY(status);
    }
    return TACIT_OK;
}

/* ---- when a run is over ---- */

typedef struct refused {
    uint64_t count, first;
    char text[TACIT_ERROR_TEXT_SIZE];
} refused;

tacit_status tacit_local_settle(tacit_local *local, tacit_error *error) {
    tacit_buffer own = TACIT_BUFFER_INIT, *all = NULL;
    refused here = { local->refusals, local->first_refused, "" };
    tacit_status status;
    if (local->ranks == NULL) return TACIT_OK;
    bool serving = local->plan->method->handlers != NULL;
    if (serving && tacit_ranks_own(local->ranks) == 0)
        TACIT_CHECK(give(local, ORDER_END, 0, NULL, NULL, error));
    memcpy(here.text, local->refusal, sizeof here.text);
    status = tacit_buffer_append(&own, &here, sizeof here, error);
    TACIT_CHECK(bring_together(local, status, &own, &all, error));
    for (size_t r = 1; tacit_ranks_own(local->ranks) == 0 && r < tacit_ranks_count(local->ranks); r++) {
        refused there;
        tacit_cursor cursor = tacit_cursor_over(all[r].bytes, all[r].length);
        if (!tacit_cursor_read(&cursor, &there, sizeof there)) TACIT_CHECK(lost(error));
        if (there.count > 0 && (local->refusals == 0 || there.first < local->first_refused)) {
            local->first_refused = (size_t)there.first;
            memcpy(local->refusal, there.text, sizeof local->refusal);
        }
        local->refusals += (size_t)there.count;
    }
cleanup:
    drop_buffers(local, all);
    tacit_buffer_clear(&own);
    return status;
}

/* The first of those that were charged most, as among the parties of one process. A rank without parties has
 * no say. */
static tacit_status ranks_charged(const tacit_local *local, tacit_status status, const tacit_account *here,
                                  tacit_account *out, tacit_error *error) {
    tacit_buffer own = TACIT_BUFFER_INIT, *all = NULL;
    if (status == TACIT_OK && local->own > 0) status = tacit_buffer_append(&own, here, sizeof *here, error);
    tacit_account most = { 0 };
    bool any = false;
    TACIT_CHECK(bring_together(local, status, &own, &all, error));
    for (size_t r = 0; tacit_ranks_own(local->ranks) == 0 && r < tacit_ranks_count(local->ranks); r++) {
        tacit_account there;
        tacit_cursor cursor = tacit_cursor_over(all[r].bytes, all[r].length);
        if (!tacit_cursor_read(&cursor, &there, sizeof there)) continue;
        if (!any || there.spent_epsilon > most.spent_epsilon) most = there;
        any = true;
    }
    *out = most;
cleanup:
    drop_buffers(local, all);
    tacit_buffer_clear(&own);
    return status;
}

const local_reach tacit_local_ranks_reach = { ranks_sum, ranks_ask, ranks_ask_party, ranks_exchange,
                                              ranks_charged };
