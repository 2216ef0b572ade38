/*
 * The board's side of secure sums, masked or encrypted: it carries the messages of the protocol, decides when
 * a step closes, and keeps what a closed step brought until the sum is in the journal. It holds no
 * contribution but hidden.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/board/board_parts.h"

/* How much of a step's record is in memory at most, while there is a disk that it can go to. */
enum { RECORD_PART = 1 << 20 };

tacit_status tacit_board_enlist(tacit_board *board, const char *party,
                                const uint8_t key[TACIT_SIGNING_KEY_BYTES], tacit_error *error) {
    masked_places *places = &board->places;
    tacit_status status = TACIT_OK;
    if (strlen(party) >= TACIT_ID_SIZE)
        return tacit_fail(error, TACIT_USAGE, "the party's name is longer than %d characters",
                          TACIT_ID_SIZE - 1);
    pthread_mutex_lock(&board->mutex);
    if (tacit_levels_find(&places->index, party, strlen(party)) >= 0) goto cleanup;
    void *names = tacit_grow(places->names, places->count + 1, sizeof *places->names);
    if (names != NULL) places->names = names;
    void *keys = tacit_grow(places->keys, places->count + 1, sizeof *places->keys);
    if (keys != NULL) places->keys = keys;
    if (names == NULL || keys == NULL) {
        status = tacit_fail_memory(error);
        goto cleanup;
    }
    status = tacit_levels_add(&places->index, party, strlen(party), NULL, error);
    if (status != TACIT_OK) goto cleanup;
    memcpy(places->names[places->count], party, strlen(party) + 1);
    memcpy(places->keys[places->count], key, TACIT_SIGNING_KEY_BYTES);
    places->count++;
cleanup:
    pthread_mutex_unlock(&board->mutex);
    return status;
}

bool board_find_place(const tacit_board *board, const char *party, uint32_t *out) {
    const int32_t place = tacit_levels_find(&board->places.index, party, strlen(party));
    if (place < 0) return false;
    *out = (uint32_t)place;
    return true;
}

/* ---- the parties' side ---- */

static const char *step_name(const tacit_board *board) {
    const masked_round *round = board->masked;
    return tacit_sum_step_name(board->settings.masked, round->protocol->step(round->server));
}

static void look(const tacit_board *board, tacit_board_state *out) { out->step = step_name(board); }

static size_t answer_most(const tacit_board *board) {
    return board->masked->protocol->answer_most(board->masked->server);
}

static bool awaited(const masked_round *round, uint32_t place) {
    return round->protocol->expects(round->server, place) && !round->protocol->has(round->server, place) &&
           !round->refused[place];
}

static bool awaits(const tacit_board *board, const seat *who) {
    uint32_t place;
    return board_find_place(board, who->party, &place) && awaited(board->masked, place);
}

/* The question of the open step for one place, except for its answer id. */
static tacit_status write_rest(const tacit_board *board, uint32_t place, tacit_shared_bytes **out,
                               tacit_error *error) {
    const masked_round *round = board->masked;
    tacit_question question = board->question;
    tacit_masked_step step = TACIT_MASKED_STEP_INIT;
    tacit_status status;
    step.step = round->protocol->step(round->server);
    memcpy(step.sum_id, round->id, sizeof step.sum_id);
    TACIT_CHECK(round->protocol->question(round->server, place, &step.body, error));
    if (round->protocol->with_roster(step.step))
        TACIT_CHECK(tacit_buffer_append(&step.roster, round->roster.keys,
                                        (size_t)round->roster.parties * TACIT_SIGNING_KEY_BYTES, error));
    if (step.step != round->protocol->contributing) question.message = NULL; /* what is asked is told once */
    question.kind = TACIT_ROUND_SECURE;
    question.masked = &step;
    TACIT_CHECK(board_write_rest(out, &question, error));
cleanup:
    tacit_masked_step_clear(&step);
    return status;
}

/* Rosters, lists and proofs grow with the number of parties and are the same for all of them: they are in
 * memory once, and not once for each. */
static tacit_status question_for(tacit_board *board, const seat *who, tacit_buffer *out,
                                 tacit_shared_bytes **rest, tacit_error *error) {
    masked_round *round = board->masked;
    tacit_question question = board->question;
    uint32_t place = 0;
    board_find_place(board, who->party, &place);
    board_answer_id(board, who->party, question.round, question.answer_id);
    TACIT_TRY(tacit_question_encode_head(&question, out, error));
    const unsigned group = round->protocol->group(round->server, place);
    if (group == BOARD_ALONE) return write_rest(board, place, rest, error);
    if (round->asked[group] == NULL) TACIT_TRY(write_rest(board, place, &round->asked[group], error));
    *rest = tacit_shared_bytes_hold(round->asked[group]);
    return TACIT_OK;
}

static void forget_question(masked_round *round) {
    for (unsigned group = 0; group < BOARD_GROUPS; group++)
        round->asked[group] = tacit_shared_bytes_free(round->asked[group]);
}

void board_masked_clear(masked_round *round) {
    if (round->server != NULL) round->protocol->free(round->server);
    free(round->refused);
    tacit_buffer_clear(&round->record);
    forget_question(round);
}

/* An answer into the record and the protocol, or into neither. */
static tacit_status receive(masked_round *round, uint32_t place, const uint8_t *bytes, size_t length,
                            tacit_error *error) {
    const size_t before = round->record.length;
    tacit_status status;
    TACIT_CHECK(tacit_buffer_append_u32(&round->record, place, error));
    TACIT_CHECK(tacit_buffer_append_u64(&round->record, length, error));
    TACIT_CHECK(tacit_buffer_append(&round->record, bytes, length, error));
    TACIT_CHECK(round->protocol->receive(round->server, place, bytes, length, error));
cleanup:
    if (status != TACIT_OK) round->record.length = before;
    return status;
}

static tacit_status take(tacit_board *board, seat *who, tacit_answer *answer, tacit_error *error) {
    masked_round *round = board->masked;
    const tacit_field *field = answer->message.count == 1 ? &answer->message.fields[0] : NULL;
    uint32_t place;
    if (!board_find_place(board, who->party, &place))
        return tacit_fail(error, TACIT_NOT_FOUND, "party %s has no place in this sum", who->party);
    if (answer->refusal[0] != 0) {
        if (!round->refused[place]) board_note_refusal(board, answer->refusal);
        round->refused[place] = true;
        return TACIT_OK;
    }
    if (field == NULL || field->kind != TACIT_FIELD_BYTES || strcmp(field->name, TACIT_MASKED_FIELD) != 0)
        return tacit_fail(error, TACIT_PROTOCOL,
                          "something else was sent where a step of a secure sum is asked for");
    if (round->protocol->has(round->server, place))
        return round->protocol->receive(round->server, place, field->value.bytes, field->count, error);
    tacit_status status = receive(round, place, field->value.bytes, field->count, error);
    if (status == TACIT_REFUSED) return TACIT_NOT_FOUND; /* late: the step had closed */
    if (status == TACIT_OK) {
        board->answered++;
        round->until_counted -= round->until_counted > 0;
        round->protocol->answered(board, place);
    }
    return status;
}

/* ---- the study thread's side ---- */

/* Who of an open step has answered, and who has not. */
typedef struct step_count {
    size_t left, silent;  /* in the step or still to come; and of these still to come */
    size_t missing;       /* of those who must be in the sum */
    const char *refusing; /* of the missing: one that refused, and one that lost its seat; NULL: nobody */
    const char *leaving;
} step_count;

static step_count count_step(tacit_board *board) {
    const masked_round *round = board->masked;
    step_count count = { .left = 0 };
    for (uint32_t i = 0; i < round->roster.parties; i++) {
        const char *name = board->places.names[i];
        bool has = round->protocol->has(round->server, i);
        bool seated = board_find_seat(board, name) != NULL; /* who has lost its seat is not coming back */
        bool waiting = awaited(round, i) && seated;
        count.left += has || waiting;
        count.silent += waiting;
        if (has || !board_sets_needs(board, i)) continue;
        count.missing++;
        if (round->refused[i]) count.refusing = name;
        if (!seated) count.leaving = name;
    }
    return count;
}

/* Count, and decide whether the open step can be closed. Until as many have answered as that may take, or
 * something else happens, there is no need to count again: with each of thousands of answers it would take
 * longer than all of them. */
static tacit_status look_at_step(tacit_board *board, bool patient, bool *closes, tacit_error *error) {
    masked_round *round = board->masked;
    const size_t needed = round->protocol->needed(round->server);
    const step_count count = count_step(board);
    const size_t have = count.left - count.silent;
    board->stirred = false;
    if (count.refusing != NULL || (count.leaving != NULL && !patient))
        return board_sets_lost(board, count.refusing, count.leaving, error);
    if (count.left < needed && count.leaving == NULL)
        return tacit_fail(error, TACIT_REFUSED,
                          "%zu parties are left in step %s of a secure sum that needs %zu, %zu refused%s%s",
                          count.left, step_name(board), needed, board->refused,
                          board->refused > 0 ? ": " : "", board->refused > 0 ? board->first_refusal : "");
    *closes = have >= needed && count.missing == 0 && (count.silent == 0 || !patient);
    const size_t wanted = needed > have ? needed - have : 1;
    round->until_counted = patient ? count.silent : wanted > count.missing ? wanted : count.missing;
    return TACIT_OK;
}

/* Put what has been recorded of the open step on the disk. With the lock held, which is let go meanwhile. */
static tacit_status keep_part(tacit_board *board, tacit_error *error) {
    masked_round *round = board->masked;
    const tacit_board_steps *steps = &board->steps;
    tacit_buffer part = round->record;
    round->record = (tacit_buffer)TACIT_BUFFER_INIT;
    const unsigned step = round->protocol->step(round->server);
    const bool first = !round->appended;
    round->appended = true;
    pthread_mutex_unlock(&board->mutex);
    tacit_status status =
        steps->append(steps->context, board->question.round, step, first, part.bytes, part.length, error);
    tacit_buffer_clear(&part);
    pthread_mutex_lock(&board->mutex);
    return status;
}

/* Wait, with the lock held, until the open step can be closed. */
static tacit_status wait_for_step(tacit_board *board, tacit_error *error) {
    const masked_round *round = board->masked;
    const bool keeps_parts =
        board->steps.append != NULL && round->protocol->step(round->server) < TACIT_BOARD_SET;
    const size_t part = board->settings.record_part > 0 ? board->settings.record_part : RECORD_PART;
    struct timespec deadline = board_deadline(board->settings.patience_ms);
    bool closes = false;
    for (bool patient = true;;) {
        if (board->cancelled) return tacit_fail(error, TACIT_CANCELLED, "the study was stopped");
        if (board->stirred || round->until_counted == 0)
            TACIT_TRY(look_at_step(board, patient, &closes, error));
        if (closes) return TACIT_OK;
        if (keeps_parts && round->record.length >= part) {
            TACIT_TRY(keep_part(board, error));
            continue; /* the lock was let go */
        }
        if (!patient) {
            pthread_cond_wait(&board->moved, &board->mutex);
        } else if (pthread_cond_timedwait(&board->moved, &board->mutex, &deadline) == ETIMEDOUT) {
            patient = false;
            board->stirred = true;
        }
    }
}

/* Answers of a step that closed before this process began. */
static tacit_status replay(masked_round *round, const tacit_buffer *record, tacit_error *error) {
    tacit_cursor cursor = tacit_cursor_over(record->bytes, record->length);
    while (cursor.left > 0) {
        uint32_t place;
        uint64_t length;
        const uint8_t *bytes;
        if (!tacit_cursor_read_u32(&cursor, &place) || !tacit_cursor_read_u64(&cursor, &length) ||
            !tacit_cursor_skip(&cursor, &bytes, (size_t)length))
            return tacit_fail(error, TACIT_CORRUPT, "the record of a secure sum's step is damaged");
        TACIT_TRY(round->protocol->receive(round->server, place, bytes, (size_t)length, error));
    }
    return TACIT_OK;
}

static tacit_status run_step(tacit_board *board, const tacit_question *question, tacit_error *error) {
    masked_round *round = board->masked;
    const tacit_board_steps *steps = &board->steps;
    const unsigned step = round->protocol->step(round->server);
    tacit_buffer kept = TACIT_BUFFER_INIT;
    bool found = false;
    tacit_status status = TACIT_OK;
    if (steps->read != NULL)
        TACIT_CHECK(steps->read(steps->context, question->round, step, &found, &kept, error));
    if (found) {
        TACIT_CHECK(replay(round, &kept, error));
    } else {
        pthread_mutex_lock(&board->mutex);
        round->record.length = 0;
        round->appended = false;
        status = board_hold(board, question, error);
        forget_question(round);
        pthread_mutex_unlock(&board->mutex);
        if (status == TACIT_OK && steps->write != NULL)
            status = steps->write(steps->context, question->round, step, round->record.bytes,
                                  round->record.length, error);
        tacit_buffer_clear(&round->record); /* of thousands of parties it is large, and written down */
        if (status != TACIT_OK) goto cleanup;
    }
    /* The question is down: nobody else looks at the sum now. */
    TACIT_CHECK(round->protocol->close(round->server, error));
cleanup:
    tacit_buffer_clear(&kept);
    return status;
}

tacit_status board_masked_places(const tacit_board *board, masked_round *round, tacit_error *error) {
    const tacit_plan *plan = board->settings.masked;
    if (board->places.count != plan->parties)
        return tacit_fail(error, TACIT_INTERNAL, "%lu places of %zu are taken for a secure sum",
                          (unsigned long)board->places.count, plan->parties);
    round->roster = (tacit_signing_roster){ board->places.count,
                                            (const uint8_t(*)[TACIT_SIGNING_KEY_BYTES])board->places.keys };
    round->refused = TACIT_NEW(bool, round->roster.parties);
    if (round->refused == NULL) return tacit_fail_memory(error);
    tacit_securesum_roster_digest(round->digest, &round->roster);
    return TACIT_OK;
}

tacit_status board_masked_run(tacit_board *board, const round_ops *kind, const tacit_question *question,
                              masked_round *round, tacit_error *error) {
    round->protocol = kind->protocol;
    TACIT_TRY(round->protocol->create(&round->server, board, question, round, error));
    pthread_mutex_lock(&board->mutex);
    board->round = kind;
    board->masked = round;
    board->refused = 0;
    pthread_mutex_unlock(&board->mutex);
    do {
        TACIT_TRY(run_step(board, question, error));
    } while (round->protocol->step(round->server) != round->protocol->opened);
    return TACIT_OK;
}

static tacit_status ask_sum(tacit_board *board, const tacit_question *question, uint64_t *total,
                            size_t *parties, tacit_error *error) {
    masked_round round = { .record = TACIT_BUFFER_INIT };
    size_t survivors = 0;
    tacit_status status;
    TACIT_CHECK(board->sums->protocol->prepare(board, question, error));
    TACIT_CHECK(board_masked_places(board, &round, error));
    TACIT_CHECK(tacit_masked_id(round.id, question, error));
    TACIT_CHECK(board_sets_begin(board, round.refused, error));
    TACIT_CHECK(board_masked_run(board, board->sums, question, &round, error));
    for (uint32_t i = 0; i < round.roster.parties; i++)
        survivors += round.protocol->survived(round.server, i);
    TACIT_CHECK(board_sets_keep(board, &round, error));
    memcpy(total, round.protocol->sum(round.server), question->sum.length * sizeof *total);
    *parties = survivors;
cleanup:
    board_masked_clear(&round);
    return status;
}

#define SECURE_ROUND                                                                                         \
    .wait = wait_for_step, .awaits = awaits, .question = question_for, .take = take,                         \
    .answer_most = answer_most, .look = look

const round_ops board_masked_round = { SECURE_ROUND, .ask_sum = ask_sum, .protocol = &board_mask_protocol };
const round_ops board_paillier_round = { SECURE_ROUND, .ask_sum = ask_sum,
                                         .protocol = &board_paillier_protocol };
const round_ops board_pairs_round = { SECURE_ROUND, .ask_sum = ask_sum, .protocol = &board_pairs_protocol };
const round_ops board_drawing_round = { SECURE_ROUND, .protocol = &board_drawing_protocol };
