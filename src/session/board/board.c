#include "session/board/board_parts.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/secret.h"

static const round_ops *const sum_rounds[] = { [TACIT_SUMS_CLEAR] = &board_plain_round,
                                               [TACIT_SUMS_MASKED] = &board_masked_round,
                                               [TACIT_SUMS_PAILLIER] = &board_paillier_round };

tacit_status tacit_board_create(tacit_board **out, const tacit_board_settings *settings, tacit_error *error) {
    if (strlen(settings->study) >= TACIT_ID_SIZE)
        return tacit_fail(error, TACIT_USAGE, "the study's name is longer than %d characters",
                          TACIT_ID_SIZE - 1);
    tacit_board *board = TACIT_NEW(tacit_board, 1);
    if (board == NULL) return tacit_fail_memory(error);
    tacit_secret_lock(&board->settings.secret, sizeof board->settings.secret);
    board->settings = *settings;
    memcpy(board->study, settings->study, strlen(settings->study) + 1);
    board->settings.study = board->study;
    if (settings->steps != NULL) board->steps = *settings->steps;
    board->sums = settings->masked == NULL ? &board_plain_round
                  : settings->masked->sums == TACIT_SUMS_MASKED && settings->masked->exchanges > 0
                      ? &board_pairs_round
                      : sum_rounds[settings->masked->sums];
    board->round = &board_plain_round;
    pthread_mutex_init(&board->mutex, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&board->moved, &monotonic);
    pthread_condattr_destroy(&monotonic);
    *out = board;
    return TACIT_OK;
}

tacit_board *tacit_board_free(tacit_board *board) {
    if (board == NULL) return NULL;
    for (size_t i = 0; i < board->seat_count; i++) tacit_answer_clear(&board->seats[i].answer);
    free(board->seats);
    free(board->places_of);
    tacit_levels_clear(&board->names);
    tacit_shared_bytes_free(board->encoded);
    board_mail_clear(board);
    free(board->held);
    free(board->graph.has_proof);
    tacit_buffer_clear(&board->graph.proof);
    tacit_levels_clear(&board->places.index);
    free(board->places.names);
    free(board->places.keys);
    pthread_cond_destroy(&board->moved);
    pthread_mutex_destroy(&board->mutex);
    tacit_stream_wipe(&board->settings.secret);
    free(board);
    return NULL;
}

static seat *find_any(tacit_board *board, const char *party) {
    int32_t name = tacit_levels_find(&board->names, party, strlen(party));
    return name >= 0 && (size_t)name < board->seat_count ? &board->seats[board->places_of[name]] : NULL;
}

seat *board_find_seat(tacit_board *board, const char *party) {
    seat *who = find_any(board, party);
    return who != NULL && !who->gone ? who : NULL;
}

static tacit_status add_seat(tacit_board *board, const char *party, tacit_error *error) {
    seat *known = find_any(board, party);
    if (known != NULL) {
        board->stirred = board->stirred || known->leaving || known->gone;
        board->present += known->gone;
        known->leaving = known->gone = false;
        return TACIT_OK;
    }
    if (strlen(party) >= TACIT_ID_SIZE)
        return tacit_fail(error, TACIT_USAGE, "the party's name is longer than %d characters",
                          TACIT_ID_SIZE - 1);
    seat *seats = tacit_grow(board->seats, board->seat_count + 1, sizeof *seats);
    if (seats == NULL) return tacit_fail_memory(error);
    board->seats = seats;
    size_t *places_of = tacit_grow(board->places_of, board->seat_count + 1, sizeof *places_of);
    if (places_of == NULL) return tacit_fail_memory(error);
    board->places_of = places_of;
    TACIT_TRY(tacit_levels_add(&board->names, party, strlen(party), NULL, error));
    seat *added = &seats[board->seat_count];
    *added = (seat){ .name = board->seat_count, .answer = TACIT_ANSWER_INIT };
    places_of[added->name] = board->seat_count++;
    board->present++;
    board->stirred = true;
    memcpy(added->party, party, strlen(party) + 1);
    return TACIT_OK;
}

tacit_status tacit_board_admit(tacit_board *board, const char *party, tacit_error *error) {
    pthread_mutex_lock(&board->mutex);
    tacit_status status = add_seat(board, party, error);
    if (board->stirred) pthread_cond_broadcast(&board->moved); /* a party is admitted at each of its polls */
    pthread_mutex_unlock(&board->mutex);
    return status;
}

void tacit_board_place(tacit_board *board, const char *party, size_t place) {
    pthread_mutex_lock(&board->mutex);
    seat *who = find_any(board, party);
    if (!board->open && place < board->seat_count && who != NULL) {
        seat moved = *who, *there = &board->seats[place];
        *who = *there;
        *there = moved;
        board->places_of[who->name] = (size_t)(who - board->seats);
        board->places_of[there->name] = place;
    }
    pthread_mutex_unlock(&board->mutex);
}

static bool counts_seats(const tacit_board *board) { return board->open && board->round->by_seats; }

/* The seat stays, for those who take turns count places. */
static void empty_seat(tacit_board *board, seat *who) {
    tacit_answer_clear(&who->answer);
    if (who->state == SEAT_REFUSED && counts_seats(board)) board->refused--;
    who->state = SEAT_SILENT;
    who->leaving = false;
    board->present -= !who->gone;
    who->gone = true;
}

void tacit_board_dismiss(tacit_board *board, const char *party) {
    pthread_mutex_lock(&board->mutex);
    seat *who = board_find_seat(board, party);
    if (who != NULL && !who->leaving) {
        board->dismissed++;
        if (counts_seats(board) && who->state == SEAT_ANSWERED)
            who->leaving = true;
        else
            empty_seat(board, who);
        board->stirred = true;
    }
    pthread_cond_broadcast(&board->moved);
    pthread_mutex_unlock(&board->mutex);
}

size_t tacit_board_admitted(tacit_board *board) {
    pthread_mutex_lock(&board->mutex);
    size_t count = board->present;
    pthread_mutex_unlock(&board->mutex);
    return count;
}

void tacit_board_cancel(tacit_board *board) {
    pthread_mutex_lock(&board->mutex);
    board->cancelled = true;
    pthread_cond_broadcast(&board->moved);
    pthread_mutex_unlock(&board->mutex);
}

/* Unforgeable without the study's secret, different for each party and round, the same after a restart. */
void board_answer_id(const tacit_board *board, const char *party, uint64_t round,
                     uint8_t out[TACIT_ANSWER_ID_BYTES]) {
    tacit_stream ids = tacit_stream_fork(&board->settings.secret, "answer ids", round, 0);
    crypto_generichash(out, TACIT_ANSWER_ID_BYTES, (const uint8_t *)party, strlen(party), ids.key,
                       sizeof ids.key);
    tacit_stream_wipe(&ids);
}

/* ---- the parties' side ---- */

bool tacit_board_awaits(tacit_board *board, const char *party) {
    pthread_mutex_lock(&board->mutex);
    const seat *who = board_find_seat(board, party);
    bool waiting = who != NULL && board->open && board->round->awaits(board, who);
    pthread_mutex_unlock(&board->mutex);
    return waiting;
}

tacit_status tacit_board_read_parts(tacit_board *board, const char *party, bool *pending, tacit_buffer *out,
                                    tacit_shared_bytes **rest, tacit_error *error) {
    *rest = NULL;
    pthread_mutex_lock(&board->mutex);
    const seat *who = board_find_seat(board, party);
    bool waiting = who != NULL && board->open && board->round->awaits(board, who);
    tacit_status status = TACIT_OK;
    if (who == NULL)
        status = tacit_fail(error, TACIT_NOT_FOUND, "party %s takes no part in this study", party);
    else if (waiting)
        status = board->round->question(board, who, out, rest, error);
    pthread_mutex_unlock(&board->mutex);
    if (status == TACIT_OK) *pending = waiting;
    return status;
}

tacit_status tacit_board_read(tacit_board *board, const char *party, bool *pending, tacit_buffer *out,
                              tacit_error *error) {
    tacit_shared_bytes *rest = NULL;
    tacit_status status = tacit_board_read_parts(board, party, pending, out, &rest, error);
    if (status == TACIT_OK)
        status =
            tacit_buffer_append(out, tacit_shared_bytes_at(rest), tacit_shared_bytes_length(rest), error);
    tacit_shared_bytes_free(rest);
    return status;
}

void board_note_refusal(tacit_board *board, const char *reason) {
    board->stirred = true;
    if (board->refused++ == 0) snprintf(board->first_refusal, sizeof board->first_refusal, "%s", reason);
}

/* Take a decoded answer in; called with the lock held. */
static tacit_status take(tacit_board *board, seat *who, tacit_answer *answer, tacit_error *error) {
    uint8_t expected[TACIT_ANSWER_ID_BYTES];
    if (!board->open || strcmp(answer->study, board->study) != 0 || answer->round != board->question.round)
        return tacit_fail(error, TACIT_NOT_FOUND, "round %llu is not open",
                          (unsigned long long)answer->round);
    board_answer_id(board, who->party, board->question.round, expected);
    if (sodium_memcmp(expected, answer->answer_id, sizeof expected) != 0)
        return tacit_fail(error, TACIT_NOT_FOUND, "the answer id is not the one this party was given");
    return board->round->take(board, who, answer, error);
}

static const tacit_handler_entry *handler_of(const tacit_board *board) {
    const tacit_plan *plan = board->settings.plan;
    const tacit_handler_entry *entry = plan != NULL ? plan->method->handlers : NULL;
    while (entry != NULL && entry->question != NULL && strcmp(entry->question, board->question.name) != 0)
        entry++;
    return entry != NULL && entry->question != NULL ? entry : NULL;
}

size_t board_numbers(const tacit_board *board) {
    const tacit_plan *plan = board->settings.plan;
    const tacit_handler_entry *handler = handler_of(board);
    if (board->question.wants_sum) return board->question.sum.length;
    if (handler != NULL && handler->answer_numbers != NULL) return handler->answer_numbers(plan);
    return plan != NULL ? 4 * (plan->features + 2) * (plan->classes + 1)
                        : TACIT_PAYLOAD_MOST / sizeof(double);
}

size_t tacit_board_answer_most(tacit_board *board, const char *party) {
    enum { BESIDE = 1 << 18 }; /* names, ids, a refusal's sentence */
    size_t most = 0;
    pthread_mutex_lock(&board->mutex);
    if (board->open && board_find_seat(board, party) != NULL)
        most = BESIDE + board->round->answer_most(board);
    pthread_mutex_unlock(&board->mutex);
    return most < (size_t)TACIT_PAYLOAD_MOST + BESIDE ? most : (size_t)TACIT_PAYLOAD_MOST + BESIDE;
}

tacit_status tacit_board_answer(tacit_board *board, const char *party, const uint8_t *bytes, size_t length,
                                tacit_error *error) {
    tacit_answer answer = TACIT_ANSWER_INIT;
    TACIT_TRY(tacit_answer_decode(&answer, bytes, length, error)); /* before the lock: it may be long */
    pthread_mutex_lock(&board->mutex);
    seat *who = board_find_seat(board, party);
    tacit_status status =
        who != NULL ? take(board, who, &answer, error)
                    : tacit_fail(error, TACIT_NOT_FOUND, "party %s takes no part in this study", party);
    pthread_cond_broadcast(&board->moved);
    pthread_mutex_unlock(&board->mutex);
    tacit_answer_clear(&answer);
    return status;
}

void tacit_board_look(tacit_board *board, tacit_board_state *out) {
    pthread_mutex_lock(&board->mutex);
    *out = (tacit_board_state){ .open = board->open,
                                .round = board->question.round,
                                .admitted = board->present,
                                .answered = board->answered,
                                .refused = board->refused };
    memcpy(out->question, board->question.name, sizeof out->question);
    if (board->open) board->round->look(board, out);
    pthread_mutex_unlock(&board->mutex);
}

/* ---- the study thread's side ---- */

struct timespec board_deadline(unsigned milliseconds) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += milliseconds / 1000;
    time.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

tacit_status board_hold(tacit_board *board, const tacit_question *question, tacit_error *error) {
    board->question = *question;
    board->answered = 0;
    board->stirred = true;
    board->open = true;
    pthread_mutex_unlock(&board->mutex);
    if (board->settings.changed != NULL) board->settings.changed(board->settings.context);
    pthread_mutex_lock(&board->mutex);
    tacit_status status = board->round->wait(board, error);
    board->open = false;
    board->question.message = NULL;
    return status;
}

/* ---- rounds in clear ---- */

tacit_status board_write_rest(tacit_shared_bytes **out, const tacit_question *question, tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_status status = tacit_question_encode_rest(question, &bytes, error);
    if (status == TACIT_OK) status = tacit_shared_bytes_take(out, &bytes, error);
    tacit_buffer_clear(&bytes);
    return status;
}

/* The open question for one party. It may be long, and goes to thousands: what is the same for all is written
 * once. */
static tacit_status plain_question(tacit_board *board, const seat *who, tacit_buffer *out,
                                   tacit_shared_bytes **rest, tacit_error *error) {
    tacit_question question = board->question;
    board_answer_id(board, who->party, question.round, question.answer_id);
    if (board->encoded == NULL) TACIT_TRY(board_write_rest(&board->encoded, &question, error));
    TACIT_TRY(tacit_question_encode_head(&question, out, error));
    *rest = tacit_shared_bytes_hold(board->encoded);
    return TACIT_OK;
}

static bool plain_awaits(const tacit_board *board, const seat *who) {
    (void)board;
    return who->state == SEAT_SILENT;
}

static tacit_status check_contribution(const tacit_question *question, const tacit_answer *answer,
                                       tacit_error *error) {
    if (answer->contribution == NULL || answer->length != question->sum.length)
        return tacit_fail(error, TACIT_PROTOCOL, "%zu values were sent where a sum of %zu is asked for",
                          answer->length, question->sum.length);
    return tacit_sum_check(&question->sum, answer->contribution, error);
}

static tacit_status plain_take(tacit_board *board, seat *who, tacit_answer *answer, tacit_error *error) {
    const tacit_handler_entry *handler = handler_of(board);
    if (who->state != SEAT_SILENT) return TACIT_OK; /* handed in twice, taken once */
    if (answer->refusal[0] != 0) {
        who->state = SEAT_REFUSED;
        board_note_refusal(board, answer->refusal);
        return TACIT_OK;
    }
    if (board->question.wants_sum) {
        TACIT_TRY(check_contribution(&board->question, answer, error));
        for (size_t j = 0; j < answer->length; j++) board->total[j] += (uint64_t)answer->contribution[j];
    } else {
        /* Whether the method has a use for it. */
        if (handler != NULL && handler->usable != NULL)
            TACIT_TRY(handler->usable(board->settings.plan, &answer->message, error));
        who->answer = *answer;
        *answer = (tacit_answer)TACIT_ANSWER_INIT;
    }
    who->state = SEAT_ANSWERED;
    board->answered++;
    return TACIT_OK;
}

static size_t plain_answer_most(const tacit_board *board) {
    return BOARD_BESIDE_NUMBERS + board_numbers(board) * sizeof(double);
}

static void plain_look(const tacit_board *board, tacit_board_state *out) { (void)board, (void)out; }

/* Wait, with the lock held, until the open round can be closed. */
static tacit_status wait_for_round(tacit_board *board, tacit_error *error) {
    struct timespec deadline = board_deadline(board->settings.patience_ms);
    bool patient = true;
    size_t minimum = board->settings.minimum_parties > 0 ? board->settings.minimum_parties : 1;
    for (;;) {
        if (board->cancelled) return tacit_fail(error, TACIT_CANCELLED, "the study was stopped");
        const size_t present = board->present;
        bool all = board->answered + board->refused == present && present > 0;
        if (board->answered >= minimum && (all || !patient)) return TACIT_OK;
        /* A refusal stands for its round: once too few are left, waiting cannot help, and nobody else need be
         * charged. */
        if (board->refused > 0 && present - board->refused < minimum)
            return tacit_fail(error, TACIT_REFUSED, "%zu of at least %zu parties answered, %zu refused: %s",
                              board->answered, minimum, board->refused, board->first_refusal);
        if (board->dismissed > 0 && present < minimum)
            return tacit_fail(error, TACIT_REFUSED, "%zu parties are left of at least %zu", present, minimum);
        if (!patient)
            pthread_cond_wait(&board->moved, &board->mutex);
        else if (pthread_cond_timedwait(&board->moved, &board->mutex, &deadline) == ETIMEDOUT)
            patient = false;
    }
}

/* The same for a round of one: it closes without an answer when patience has run out, unless that is
 * needed. */
static tacit_status wait_for_one(tacit_board *board, tacit_error *error) {
    const bool needed = board->needed;
    struct timespec deadline = board_deadline(board->settings.patience_ms);
    bool patient = true;
    for (;;) {
        if (board->cancelled) return tacit_fail(error, TACIT_CANCELLED, "the study was stopped");
        bool known = board->only < board->seat_count, there = known && !board->seats[board->only].gone;
        if (there && board->seats[board->only].state == SEAT_ANSWERED) return TACIT_OK;
        bool refuses = there && board->seats[board->only].state == SEAT_REFUSED;
        if (refuses && needed)
            return tacit_fail(error, TACIT_REFUSED, "party %s refuses, and too few are left: %s",
                              board->seats[board->only].party, board->first_refusal);
        if (needed && known && !there)
            return tacit_fail(error, TACIT_REFUSED, "party %s has left, and too few are left",
                              board->seats[board->only].party);
        if (!needed && (refuses || !there || !patient)) return TACIT_OK;
        if (!patient)
            pthread_cond_wait(&board->moved, &board->mutex);
        else if (pthread_cond_timedwait(&board->moved, &board->mutex, &deadline) == ETIMEDOUT)
            patient = false;
    }
}

/* Run a round by seats to its end; the lock is held on return, whatever the status. */
static tacit_status run_round(tacit_board *board, const round_ops *kind, const tacit_question *question,
                              uint64_t *total, tacit_error *error) {
    board->round = kind;
    board->total = total;
    board->refused = 0;
    for (size_t i = 0; i < board->seat_count; i++) {
        if (board->seats[i].leaving) empty_seat(board, &board->seats[i]);
        board->seats[i].state = SEAT_SILENT;
        tacit_answer_clear(&board->seats[i].answer);
    }
    board->encoded = tacit_shared_bytes_free(board->encoded);
    tacit_status status = board_hold(board, question, error);
    board->encoded = tacit_shared_bytes_free(board->encoded);
    board->total = NULL;
    return status;
}

static tacit_status plain_sum(tacit_board *board, const tacit_question *question, uint64_t *total,
                              size_t *parties, tacit_error *error) {
    pthread_mutex_lock(&board->mutex);
    tacit_status status = run_round(board, &board_plain_round, question, total, error);
    if (status == TACIT_OK) *parties = board->answered;
    pthread_mutex_unlock(&board->mutex);
    return status;
}

const round_ops board_plain_round = { .by_seats = true,
                                      .wait = wait_for_round,
                                      .awaits = plain_awaits,
                                      .question = plain_question,
                                      .take = plain_take,
                                      .answer_most = plain_answer_most,
                                      .look = plain_look,
                                      .ask_sum = plain_sum };

/* ---- a round of one ---- */

static bool is_asked(const tacit_board *board, const seat *who) {
    return (size_t)(who - board->seats) == board->only;
}

static bool single_awaits(const tacit_board *board, const seat *who) {
    return is_asked(board, who) && who->state == SEAT_SILENT;
}

static tacit_status single_take(tacit_board *board, seat *who, tacit_answer *answer, tacit_error *error) {
    if (!is_asked(board, who))
        return tacit_fail(error, TACIT_NOT_FOUND, "round %llu is another party's",
                          (unsigned long long)answer->round);
    return plain_take(board, who, answer, error);
}

const round_ops board_single_round = { .by_seats = true,
                                       .wait = wait_for_one,
                                       .awaits = single_awaits,
                                       .question = plain_question,
                                       .take = single_take,
                                       .answer_most = plain_answer_most,
                                       .look = plain_look };

/* ---- the transport ---- */

static tacit_status ask_sum(void *context, const tacit_question *question, uint64_t *total, size_t *parties,
                            tacit_error *error) {
    tacit_board *board = context;
    return board->sums->ask_sum(board, question, total, parties, error);
}

/* One answer or all of them, taken from the seats; the lock is held before. */
static tacit_status ask_some(tacit_board *board, const round_ops *kind, const tacit_question *question,
                             tacit_answers *out, tacit_error *error) {
    tacit_status status = run_round(board, kind, question, NULL, error);
    if (status == TACIT_OK) {
        tacit_answers answers = { 0, TACIT_NEW(tacit_answer, board->answered) };
        if (answers.answer == NULL) status = tacit_fail_memory(error);
        for (size_t i = 0; i < board->seat_count && answers.answer != NULL; i++) {
            if (board->seats[i].state != SEAT_ANSWERED) continue;
            answers.answer[answers.count++] = board->seats[i].answer;
            board->seats[i].answer = (tacit_answer)TACIT_ANSWER_INIT;
        }
        if (status == TACIT_OK) *out = answers;
    }
    pthread_mutex_unlock(&board->mutex);
    return status;
}

static tacit_status ask(void *context, const tacit_question *question, tacit_answers *out,
                        tacit_error *error) {
    tacit_board *board = context;
    pthread_mutex_lock(&board->mutex);
    return ask_some(board, &board_plain_round, question, out, error);
}

static tacit_status ask_one(void *context, const tacit_question *question, size_t place, bool needed,
                            tacit_answers *out, tacit_error *error) {
    tacit_board *board = context;
    pthread_mutex_lock(&board->mutex);
    board->only = place;
    board->needed = needed;
    return ask_some(board, &board_single_round, question, out, error);
}

tacit_transport tacit_board_transport(tacit_board *board) {
    const tacit_plan *plan = board->settings.masked; /* words between neighbours go by the same roster */
    bool has_neighbours = plan != NULL && plan->method->schedule != NULL;
    return (tacit_transport){ .ask = ask,
                              .ask_one = ask_one,
                              .ask_sum = ask_sum,
                              .context = board,
                              .exchange = has_neighbours ? board_mail_exchange : NULL };
}
