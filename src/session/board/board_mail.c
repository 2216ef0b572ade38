/*
 * The board's side of rounds between neighbours: it carries cards and sealed words, decides when a round
 * closes, and keeps each party's last word until those who are to hear it have. It has no key to any of them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/board/board_parts.h"

struct mail_round {
    unsigned step;
    bool is_late; /* patience has run out */
    const tacit_mixing *mixing;
    const tacit_topology *graph; /* when cards are handed out; NULL: they have been */
    bool *has_answered;          /* by place */
    mail_word *next;             /* words of this round */
    tacit_buffer *cards;         /* shown in this step */
};

/* ---- the mailbox ---- */

static void clear_words(mail_word *words, uint32_t places) {
    for (uint32_t i = 0; words != NULL && i < places; i++) tacit_letters_clear(&words[i].sealed);
    free(words);
}

static void clear_cards(tacit_buffer *cards, uint32_t places) {
    for (uint32_t i = 0; cards != NULL && i < places; i++) tacit_buffer_clear(&cards[i]);
    free(cards);
}

void board_mail_clear(tacit_board *board) {
    mailbox *box = &board->mailbox;
    clear_words(box->words, box->places);
    clear_cards(box->cards, box->places);
    *box = (mailbox){ .places = 0 };
}

static tacit_status pack_cards(tacit_buffer *out, const mailbox *box, tacit_error *error) {
    for (uint32_t i = 0; i < box->places; i++) {
        TACIT_TRY(tacit_buffer_append_u64(out, box->cards[i].length, error));
        TACIT_TRY(tacit_buffer_append(out, box->cards[i].bytes, box->cards[i].length, error));
    }
    return TACIT_OK;
}

/* Cards and last words of all. */
static tacit_status pack(tacit_buffer *out, const mailbox *box, tacit_error *error) {
    TACIT_TRY(pack_cards(out, box, error));
    for (uint32_t i = 0; i < box->places; i++) {
        const mail_word *word = &box->words[i];
        TACIT_TRY(tacit_buffer_append_u32(out, word->is_said, error));
        TACIT_TRY(tacit_buffer_append_u64(out, word->round, error));
        TACIT_TRY(tacit_buffer_append_u64(out, word->sealed.count, error));
        for (size_t k = 0; k < word->sealed.count; k++) {
            const tacit_letter *letter = &word->sealed.letter[k];
            TACIT_TRY(tacit_buffer_append_u32(out, letter->party, error));
            TACIT_TRY(tacit_buffer_append_u64(out, letter->body.length, error));
            TACIT_TRY(tacit_buffer_append(out, letter->body.bytes, letter->body.length, error));
        }
    }
    return TACIT_OK;
}

static tacit_status damaged(tacit_error *error) {
    return tacit_fail(error, TACIT_CORRUPT, "the record of a round between neighbours is damaged");
}

static tacit_status unpack_cards(mailbox *box, tacit_cursor *cursor, tacit_error *error) {
    for (uint32_t i = 0; i < box->places; i++) {
        uint64_t length;
        const uint8_t *bytes;
        if (!tacit_cursor_read_u64(cursor, &length) || !tacit_cursor_skip(cursor, &bytes, (size_t)length))
            return damaged(error);
        tacit_buffer_clear(&box->cards[i]);
        TACIT_TRY(tacit_buffer_append(&box->cards[i], bytes, (size_t)length, error));
    }
    return TACIT_OK;
}

static tacit_status unpack_word(mail_word *out, tacit_cursor *cursor, tacit_error *error) {
    uint32_t is_said, party;
    uint64_t count, length;
    const uint8_t *bytes;
    tacit_letters_clear(&out->sealed);
    if (!tacit_cursor_read_u32(cursor, &is_said) || !tacit_cursor_read_u64(cursor, &out->round) ||
        !tacit_cursor_read_u64(cursor, &count))
        return damaged(error);
    out->is_said = is_said != 0;
    for (uint64_t k = 0; k < count; k++) {
        if (!tacit_cursor_read_u32(cursor, &party) || !tacit_cursor_read_u64(cursor, &length) ||
            !tacit_cursor_skip(cursor, &bytes, (size_t)length))
            return damaged(error);
        TACIT_TRY(tacit_letters_add(&out->sealed, party, out->round, bytes, (size_t)length, error));
    }
    return TACIT_OK;
}

static tacit_status unpack(mailbox *box, const tacit_buffer *record, bool with_words, tacit_error *error) {
    tacit_cursor cursor = tacit_cursor_over(record->bytes, record->length);
    TACIT_TRY(unpack_cards(box, &cursor, error));
    for (uint32_t i = 0; with_words && i < box->places; i++)
        TACIT_TRY(unpack_word(&box->words[i], &cursor, error));
    return cursor.left == 0 ? TACIT_OK : damaged(error);
}

static tacit_status open_mailbox(tacit_board *board, const tacit_mixing *mixing, bool *is_new,
                                 tacit_error *error) {
    mailbox *box = &board->mailbox;
    *is_new = box->places == 0;
    if (board->places.count != mixing->nodes)
        return tacit_fail(error, TACIT_INTERNAL, "%lu places of %zu are taken in the graph",
                          (unsigned long)board->places.count, mixing->nodes);
    if (!*is_new) return TACIT_OK;
    mailbox made = { board->places.count, TACIT_NEW(tacit_buffer, mixing->nodes),
                     TACIT_NEW(mail_word, mixing->nodes) };
    if (made.cards == NULL || made.words == NULL) {
        free(made.cards);
        free(made.words);
        return tacit_fail_memory(error);
    }
    *box = made;
    return TACIT_OK;
}

/* A record of this round, or of another, into the mailbox. */
static tacit_status read_record(tacit_board *board, uint64_t round, unsigned step, bool *found,
                                tacit_error *error) {
    tacit_buffer record = TACIT_BUFFER_INIT;
    const tacit_board_steps *steps = &board->steps;
    *found = false;
    if (steps->read == NULL) return TACIT_OK;
    tacit_status status = steps->read(steps->context, round, step, found, &record, error);
    if (status == TACIT_OK && *found)
        status = unpack(&board->mailbox, &record, step == TACIT_BOARD_WORDS, error);
    tacit_buffer_clear(&record);
    return status;
}

static tacit_status remember(tacit_board *board, uint64_t round, unsigned step, tacit_error *error) {
    tacit_buffer record = TACIT_BUFFER_INIT;
    const tacit_board_steps *steps = &board->steps;
    if (steps->write == NULL) return TACIT_OK;
    tacit_status status = step == TACIT_BOARD_WORDS ? pack(&record, &board->mailbox, error)
                                                    : pack_cards(&record, &board->mailbox, error);
    if (status == TACIT_OK)
        status = steps->write(steps->context, round, step, record.bytes, record.length, error);
    tacit_buffer_clear(&record);
    return status;
}

/* ---- the parties' side ---- */

/* Cards are shown by all, words are said by those present. */
static bool is_asked(const mail_round *round, uint32_t place) {
    return round->step == TACIT_MAIL_CARDS || round->mixing->present[place];
}

static bool awaits(const tacit_board *board, const seat *who) {
    uint32_t place;
    return board_find_place(board, who->party, &place) && is_asked(board->mail, place) &&
           !board->mail->has_answered[place];
}

static tacit_status hand_out_cards(const tacit_board *board, uint32_t place, tacit_letters *out,
                                   tacit_error *error) {
    const tacit_topology *graph = board->mail->graph;
    for (size_t slot = graph->start[place]; slot < graph->start[place + 1]; slot++) {
        const tacit_buffer *card = &board->mailbox.cards[graph->neighbour[slot]];
        TACIT_TRY(tacit_letters_add(out, graph->neighbour[slot], 0, card->bytes, card->length, error));
    }
    return TACIT_OK;
}

/* The last words of those whom this party hears. One that was not sealed for it is missing, and the party
 * will say so. */
static tacit_status hand_out_words(const tacit_board *board, uint32_t place, tacit_letters *out,
                                   tacit_error *error) {
    const tacit_mixing *mixing = board->mail->mixing;
    for (size_t slot = mixing->start[place]; slot < mixing->start[place + 1]; slot++) {
        const uint32_t from = mixing->neighbour[slot];
        const mail_word *word = &board->mailbox.words[from];
        const tacit_letter *letter = word->is_said ? tacit_letters_find(&word->sealed, place) : NULL;
        if (letter != NULL)
            TACIT_TRY(
                tacit_letters_add(out, from, word->round, letter->body.bytes, letter->body.length, error));
    }
    return TACIT_OK;
}

static tacit_status question_for(tacit_board *board, const seat *who, tacit_buffer *out,
                                 tacit_shared_bytes **rest, tacit_error *error) {
    const mail_round *round = board->mail;
    tacit_question question = board->question;
    tacit_mail_step step = TACIT_MAIL_STEP_INIT;
    uint32_t place = 0;
    tacit_status status = TACIT_OK;
    (void)rest; /* each is told something else */
    board_find_place(board, who->party, &place);
    board_answer_id(board, who->party, question.round, question.answer_id);
    step.step = round->step;
    if (round->step == TACIT_MAIL_CARDS) {
        question.message = NULL;
        TACIT_CHECK(tacit_buffer_append(&step.roster, board->places.keys,
                                        (size_t)board->places.count * TACIT_SIGNING_KEY_BYTES, error));
    } else {
        if (round->graph != NULL) TACIT_CHECK(hand_out_cards(board, place, &step.cards, error));
        TACIT_CHECK(hand_out_words(board, place, &step.words, error));
    }
    question.kind = TACIT_ROUND_MAIL;
    question.mail = &step;
    TACIT_CHECK(tacit_question_encode(&question, out, error));
cleanup:
    tacit_mail_step_clear(&step);
    return status;
}

static tacit_status take_card(mail_round *round, uint32_t place, const tacit_answer *answer,
                              tacit_error *error) {
    const tacit_field *field = answer->message.count == 1 ? &answer->message.fields[0] : NULL;
    if (field == NULL || field->kind != TACIT_FIELD_BYTES || strcmp(field->name, TACIT_CARD_FIELD) != 0 ||
        field->count > TACIT_CARD_MOST)
        return tacit_fail(error, TACIT_PROTOCOL, "something else was sent where a card is asked for");
    return tacit_buffer_append(&round->cards[place], field->value.bytes, field->count, error);
}

static tacit_status take_word(mail_round *round, uint32_t place, tacit_answer *answer, tacit_error *error) {
    const tacit_letters *sealed = &answer->words;
    if (answer->message.count > 0 || answer->contribution != NULL)
        return tacit_fail(error, TACIT_PROTOCOL, "a word to neighbours was sent in clear");
    for (size_t k = 0; k < sealed->count; k++) {
        const tacit_letter *letter = &sealed->letter[k];
        if (letter->party >= round->mixing->nodes || letter->party == place ||
            tacit_letters_find(sealed, letter->party) != letter)
            return tacit_fail(error, TACIT_PROTOCOL,
                              "a word is sealed for a party that does not exist, or twice");
    }
    round->next[place] = (mail_word){ true, answer->round, *sealed };
    answer->words = (tacit_letters)TACIT_LETTERS_INIT;
    return TACIT_OK;
}

static tacit_status take(tacit_board *board, seat *who, tacit_answer *answer, tacit_error *error) {
    mail_round *round = board->mail;
    uint32_t place;
    if (!board_find_place(board, who->party, &place) || !is_asked(round, place))
        return tacit_fail(error, TACIT_NOT_FOUND, "party %s has no part in this round", who->party);
    if (round->has_answered[place]) return TACIT_OK; /* handed in twice, taken once */
    if (answer->refusal[0] != 0) {
        board_note_refusal(board, answer->refusal);
        round->has_answered[place] = true;
        return TACIT_OK;
    }
    TACIT_TRY(round->step == TACIT_MAIL_CARDS ? take_card(round, place, answer, error)
                                              : take_word(round, place, answer, error));
    round->has_answered[place] = true;
    board->answered++;
    return TACIT_OK;
}

static size_t answer_most(const tacit_board *board) {
    return board->places.count * (BOARD_BESIDE_NUMBERS + board_numbers(board) * sizeof(double));
}

/* ---- the study thread's side ---- */

static void look(const tacit_board *board, tacit_board_state *out) {
    const mail_round *round = board->mail;
    for (uint32_t i = 0; round->is_late && i < board->places.count; i++) {
        if (!is_asked(round, i) || round->has_answered[i]) continue;
        if (out->late++ == 0) memcpy(out->late_one, board->places.names[i], sizeof out->late_one);
    }
}

/* Tell, once, that somebody is late; the lock is let go meanwhile. */
static void report_late(tacit_board *board, mail_round *round) {
    round->is_late = true;
    pthread_mutex_unlock(&board->mutex);
    if (board->settings.changed != NULL) board->settings.changed(board->settings.context);
    pthread_mutex_lock(&board->mutex);
}

static bool lacks_someone(tacit_board *board) {
    for (uint32_t i = 0; i < board->places.count; i++)
        if (board_find_seat(board, board->places.names[i]) == NULL) return true;
    return false;
}

/* Wait, with the lock held, for everybody who is asked: the others' weights count on each. */
static tacit_status wait_for_all(tacit_board *board, tacit_error *error) {
    mail_round *round = board->mail;
    const struct timespec deadline = board_deadline(board->settings.patience_ms);
    size_t asked = 0;
    for (uint32_t i = 0; i < board->places.count; i++) asked += is_asked(round, i);
    for (;;) {
        if (board->cancelled) return tacit_fail(error, TACIT_CANCELLED, "the study was stopped");
        if (board->refused > 0)
            return tacit_fail(error, TACIT_REFUSED,
                              "a party refused in round %llu, and its neighbours count on its word: %s",
                              (unsigned long long)board->question.round + 1, board->first_refusal);
        if (board->dismissed > 0 && lacks_someone(board))
            return tacit_fail(error, TACIT_REFUSED, "a party has left, and its neighbours count on its word");
        if (board->answered == asked) return TACIT_OK;
        if (round->is_late)
            pthread_cond_wait(&board->moved, &board->mutex);
        else if (pthread_cond_timedwait(&board->moved, &board->mutex, &deadline) == ETIMEDOUT)
            report_late(board, round);
    }
}

static tacit_status ask_step(tacit_board *board, const tacit_question *question, mail_round *round,
                             unsigned step, tacit_error *error) {
    pthread_mutex_lock(&board->mutex);
    round->step = step;
    round->is_late = false;
    memset(round->has_answered, 0, board->places.count * sizeof *round->has_answered);
    board->round = &board_mail_round;
    board->mail = round;
    board->refused = 0;
    tacit_status status = board_hold(board, question, error);
    pthread_mutex_unlock(&board->mutex);
    return status;
}

const round_ops board_mail_round = { .wait = wait_for_all,
                                     .awaits = awaits,
                                     .question = question_for,
                                     .take = take,
                                     .answer_most = answer_most,
                                     .look = look };

/* The cards of all, once in a study. */
static tacit_status collect_cards(tacit_board *board, const tacit_question *question, mail_round *round,
                                  tacit_error *error) {
    bool found = false;
    TACIT_TRY(read_record(board, question->round, TACIT_BOARD_CARDS, &found, error));
    if (found) return TACIT_OK;
    TACIT_TRY(ask_step(board, question, round, TACIT_MAIL_CARDS, error));
    for (uint32_t i = 0; i < board->places.count; i++) {
        tacit_buffer_clear(&board->mailbox.cards[i]);
        board->mailbox.cards[i] = round->cards[i];
        round->cards[i] = (tacit_buffer)TACIT_BUFFER_INIT;
    }
    return remember(board, question->round, TACIT_BOARD_CARDS, error);
}

static void keep_words(tacit_board *board, mail_round *round) {
    for (uint32_t i = 0; i < board->places.count; i++) {
        if (!round->next[i].is_said) continue;
        tacit_letters_clear(&board->mailbox.words[i].sealed);
        board->mailbox.words[i] = round->next[i];
        round->next[i] = (mail_word){ .is_said = false };
    }
}

static size_t most_heard(const mailbox *box, const tacit_mixing *mixing) {
    size_t most = 0;
    for (uint32_t i = 0; i < box->places; i++) {
        size_t bytes = 0;
        for (size_t slot = mixing->start[i]; slot < mixing->start[i + 1]; slot++) {
            const tacit_letter *letter = tacit_letters_find(&box->words[mixing->neighbour[slot]].sealed, i);
            if (letter != NULL) bytes += letter->body.length;
        }
        if (bytes > most) most = bytes;
    }
    return most;
}

tacit_status board_mail_exchange(void *context, const tacit_question *question, const tacit_mixing *mixing,
                                 size_t *bytes, tacit_error *error) {
    tacit_board *board = context;
    const tacit_plan *plan = board->settings.masked;
    const size_t places = board->places.count;
    mail_round round = { .mixing = mixing,
                         .has_answered = TACIT_NEW(bool, places),
                         .next = TACIT_NEW(mail_word, places),
                         .cards = TACIT_NEW(tacit_buffer, places) };
    tacit_round_schedule *schedule = NULL;
    bool is_new = false, is_over = false, found = false;
    tacit_status status = TACIT_OK;
    if (round.has_answered == NULL || round.next == NULL || round.cards == NULL)
        TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(open_mailbox(board, mixing, &is_new, error));
    TACIT_CHECK(read_record(board, question->round, TACIT_BOARD_WORDS, &is_over, error));
    if (!is_over && is_new && question->round > plan->method->first_scheduled_round)
        TACIT_CHECK(read_record(board, question->round - 1, TACIT_BOARD_WORDS, &found, error));
    *bytes = most_heard(&board->mailbox, mixing);
    if (is_over) goto cleanup; /* it had closed when the process before this one ended */
    if (question->round == plan->method->first_scheduled_round) {
        TACIT_CHECK(plan->method->schedule(&schedule, plan, error));
        round.graph = schedule->graph;
        TACIT_CHECK(collect_cards(board, question, &round, error));
    }
    TACIT_CHECK(ask_step(board, question, &round, TACIT_MAIL_WORDS, error));
    keep_words(board, &round);
    TACIT_CHECK(remember(board, question->round, TACIT_BOARD_WORDS, error));
cleanup:
    tacit_round_schedule_free(schedule);
    clear_words(round.next, (uint32_t)places);
    clear_cards(round.cards, (uint32_t)places);
    free(round.has_answered);
    return status;
}
