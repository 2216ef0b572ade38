/*
 * A party among its neighbours. Each round has one order: the words it hears are opened, the handler makes
 * its next state and word, the word is sealed for those who are to hear it, and the gate charges, stores the
 * sealed words and keeps the state in one transaction; then they leave. Killed before that transaction the
 * party is where it was, and nothing had left; killed after it, the same question gets the stored bytes.
 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/party_parts.h"

#define CARDS_NAME "mail.cards"

struct tacit_mail {
    const tacit_plan *plan;
    tacit_masks *masks;
    uint8_t study_hash[TACIT_HASH_BYTES];
    char name[TACIT_ID_SIZE], address[TACIT_ADDRESS_SIZE];
    tacit_mail_inbox inbox;
    tacit_key_pair pair;
    tacit_round_schedule *schedule; /* at some round; made again to go back */
    tacit_card *cards;              /* by place; of neighbours, once they were shown */
    bool *is_shown;
    bool restored; /* what follows, and the party's memo, are as the ledger keeps them */
    bool has_spoken;
    uint64_t last_round;
};

/* ---- keys and cards ---- */

static tacit_status load_key(tacit_mail *mail, tacit_error *error) {
    const tacit_masks_store *store = tacit_masks_store_of(mail->masks);
    uint8_t secret[TACIT_KEY_BYTES];
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(sizeof secret);
    bool found = false;
    tacit_status status;
    TACIT_CHECK(store->read(store->context, TACIT_MAIL_KEY_NAME, &found, &bytes, error));
    if (found && bytes.length != sizeof secret)
        TACIT_CHECK(tacit_fail(error, TACIT_CORRUPT, "%s is damaged: join again with a new invitation",
                               TACIT_MAIL_KEY_NAME));
    if (found) {
        memcpy(secret, bytes.bytes, sizeof secret);
    } else {
        randombytes_buf(secret, sizeof secret);
        TACIT_CHECK(store->write(store->context, TACIT_MAIL_KEY_NAME, secret, sizeof secret, error));
    }
    tacit_key_pair_from(&mail->pair, secret);
cleanup:
    sodium_memzero(secret, sizeof secret);
    if (bytes.bytes != NULL) sodium_memzero(bytes.bytes, bytes.capacity);
    tacit_buffer_clear(&bytes);
    return status;
}

static void set_terms(tacit_mail_terms *out, const tacit_mail *mail, const tacit_membership *self) {
    memcpy(out->study, mail->study_hash, sizeof out->study);
    memcpy(out->roster, self->digest, sizeof out->roster);
}

static bool is_neighbour(const tacit_topology *graph, uint32_t node, uint32_t other) {
    for (size_t slot = graph->start[node]; slot < graph->start[node + 1]; slot++)
        if (graph->neighbour[slot] == other) return true;
    return false;
}

/* Take in cards of neighbours, each signed by its party. The first one of a party stays. */
static tacit_status take_cards(tacit_mail *mail, const tacit_membership *self, const tacit_letters *cards,
                               bool *added, tacit_error *error) {
    tacit_mail_terms terms;
    set_terms(&terms, mail, self);
    for (size_t i = 0; i < cards->count; i++) {
        const tacit_letter *letter = &cards->letter[i];
        tacit_card card;
        if (letter->party >= self->roster->parties ||
            !is_neighbour(mail->schedule->graph, self->place, letter->party))
            return tacit_fail(error, TACIT_REFUSED,
                              "the coordinator shows a key of party %lu, and the study's definition makes it "
                              "no neighbour of this one",
                              (unsigned long)letter->party + 1);
        TACIT_TRY(tacit_card_read(&card, letter->body.bytes, letter->body.length, &terms, letter->party,
                                  self->roster->keys[letter->party], error));
        if (mail->is_shown[letter->party] &&
            memcmp(mail->cards[letter->party].key, card.key, sizeof card.key) != 0)
            return tacit_fail(error, TACIT_REFUSED, "party %lu has shown another key before",
                              (unsigned long)letter->party + 1);
        *added = *added || !mail->is_shown[letter->party];
        mail->cards[letter->party] = card;
        mail->is_shown[letter->party] = true;
    }
    return TACIT_OK;
}

/* As they came: number, then party, length and bytes of each. */
static tacit_status store_cards(const tacit_mail *mail, const tacit_letters *cards, tacit_error *error) {
    const tacit_masks_store *store = tacit_masks_store_of(mail->masks);
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < cards->count; i++) {
        const tacit_buffer *body = &cards->letter[i].body;
        TACIT_CHECK(tacit_buffer_append_u32(&bytes, cards->letter[i].party, error));
        TACIT_CHECK(tacit_buffer_append_u32(&bytes, (uint32_t)body->length, error));
        TACIT_CHECK(tacit_buffer_append(&bytes, body->bytes, body->length, error));
    }
    TACIT_CHECK(store->write(store->context, CARDS_NAME, bytes.bytes, bytes.length, error));
cleanup:
    tacit_buffer_clear(&bytes);
    return status;
}

static tacit_status stored_cards(tacit_mail *mail, const tacit_membership *self, tacit_error *error) {
    const tacit_masks_store *store = tacit_masks_store_of(mail->masks);
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_letters cards = TACIT_LETTERS_INIT;
    bool found = false, added = false;
    tacit_status status;
    TACIT_CHECK(store->read(store->context, CARDS_NAME, &found, &bytes, error));
    for (tacit_cursor cursor = tacit_cursor_over(bytes.bytes, bytes.length); cursor.left > 0;) {
        uint32_t party, length;
        const uint8_t *body;
        if (!tacit_cursor_read_u32(&cursor, &party) || !tacit_cursor_read_u32(&cursor, &length) ||
            !tacit_cursor_skip(&cursor, &body, length))
            TACIT_CHECK(tacit_fail(error, TACIT_CORRUPT, "%s is damaged: join again with a new invitation",
                                   CARDS_NAME));
        TACIT_CHECK(tacit_letters_add(&cards, party, 0, body, length, error));
    }
    TACIT_CHECK(take_cards(mail, self, &cards, &added, error));
cleanup:
    tacit_letters_clear(&cards);
    tacit_buffer_clear(&bytes);
    return status;
}

tacit_status tacit_mail_create(tacit_mail **out, const tacit_mail_settings *settings, tacit_error *error) {
    tacit_mail *mail = TACIT_NEW(tacit_mail, 1);
    const tacit_plan *plan = settings->plan;
    tacit_membership self;
    tacit_status status;
    if (mail == NULL) return tacit_fail_memory(error);
    mail->plan = plan;
    mail->masks = settings->masks;
    memcpy(mail->study_hash, settings->study_hash, sizeof mail->study_hash);
    snprintf(mail->name, sizeof mail->name, "%s", settings->name);
    if (settings->address != NULL) TACIT_CHECK(tacit_address_check(settings->address, error));
    if (settings->address != NULL) snprintf(mail->address, sizeof mail->address, "%s", settings->address);
    if (settings->inbox != NULL) mail->inbox = *settings->inbox;
    mail->cards = TACIT_NEW(tacit_card, plan->parties);
    mail->is_shown = TACIT_NEW(bool, plan->parties);
    if (mail->cards == NULL || mail->is_shown == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(plan->method->schedule(&mail->schedule, plan, error));
    TACIT_CHECK(load_key(mail, error));
    if (tacit_masks_membership(mail->masks, &self)) TACIT_CHECK(stored_cards(mail, &self, error));
    *out = mail;
    mail = NULL;
cleanup:
    tacit_mail_free(mail);
    return status;
}

tacit_mail *tacit_mail_free(tacit_mail *mail) {
    if (mail == NULL) return NULL;
    sodium_memzero(&mail->pair, sizeof mail->pair);
    tacit_round_schedule_free(mail->schedule);
    free(mail->cards);
    free(mail->is_shown);
    free(mail);
    return NULL;
}

const tacit_card *tacit_mail_card(const tacit_mail *mail, uint32_t place) {
    return place < mail->plan->parties && mail->is_shown[place] ? &mail->cards[place] : NULL;
}

/* ---- state ---- */

/* The round of the last word, then the numbers that the method keeps. */
static tacit_status pack_state(tacit_buffer *out, const tacit_party *party, uint64_t round,
                               tacit_error *error) {
    const tacit_memo *memo = party->memo;
    TACIT_TRY(tacit_buffer_append_u64(out, round, error));
    for (size_t j = 0; j < memo->state_count; j++)
        TACIT_TRY(tacit_buffer_append_double(out, memo->state[j], error));
    return TACIT_OK;
}

static tacit_status unpack_state(tacit_party *party, const tacit_buffer *bytes, tacit_error *error) {
    tacit_cursor cursor = tacit_cursor_over(bytes->bytes, bytes->length);
    tacit_mail *mail = party->mail;
    double *numbers = NULL;
    if (!tacit_cursor_read_u64(&cursor, &mail->last_round) || cursor.left % sizeof *numbers != 0)
        return tacit_fail(error, TACIT_CORRUPT,
                          "the state of study %s in the ledger is damaged: restore the ledger from a backup",
                          party->study);
    size_t count = cursor.left / sizeof *numbers;
    if (count > 0) TACIT_TRY(tacit_party_state(party, count, &numbers, error));
    for (size_t j = 0; j < count; j++) tacit_cursor_read_double(&cursor, &numbers[j]);
    mail->has_spoken = true;
    return TACIT_OK;
}

tacit_status tacit_party_restore(tacit_party *party, tacit_error *error) {
    tacit_mail *mail = party->mail;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    bool found = false;
    if (mail == NULL || mail->restored) return TACIT_OK;
    tacit_party_forget(party);
    mail->has_spoken = false;
    tacit_status status = tacit_gate_state(&found, party->gate, party->study, &bytes, error);
    if (status == TACIT_OK && found) status = unpack_state(party, &bytes, error);
    mail->restored = status == TACIT_OK;
    tacit_buffer_clear(&bytes);
    return status;
}

/* ---- one round ---- */

/* All that one round works on. */
typedef struct talking {
    tacit_party *party;
    tacit_mail *mail;
    const tacit_question *question;
    const uint8_t *question_hash;
    tacit_membership self;
    tacit_mail_terms terms;
    tacit_answer *said; /* words of neighbours, opened */
    size_t count;
    const tacit_message **word;
    double *weight;
    double own;
    tacit_letters sealed; /* the party's own word, for each who is to hear it */
    char assumption[TACIT_ASSUMPTION_MOST];
} talking;

static void clear_talk(talking *self) {
    for (size_t i = 0; i < self->count && self->said != NULL; i++) tacit_answer_clear(&self->said[i]);
    free(self->said);
    free(self->word);
    free(self->weight);
    tacit_letters_clear(&self->sealed);
}

static tacit_status advance_schedule_to(tacit_mail *mail, uint64_t round, tacit_error *error) {
    if (mail->schedule->round > round) {
        mail->schedule = tacit_round_schedule_free(mail->schedule);
        TACIT_TRY(mail->plan->method->schedule(&mail->schedule, mail->plan, error));
    }
    while (mail->schedule->round < round) tacit_round_schedule_advance(mail->schedule);
    return TACIT_OK;
}

/* Is this the round that comes next for this party? */
static tacit_status check_round(talking *self, tacit_error *error) {
    tacit_mail *mail = self->mail;
    const uint64_t round = self->question->round, first = mail->plan->method->first_scheduled_round;
    const unsigned long long shown = (unsigned long long)round + 1;
    if (mail->has_spoken && round <= mail->last_round)
        return tacit_fail(error, TACIT_REFUSED,
                          "round %llu is over for this party, which has spoken in round %llu", shown,
                          (unsigned long long)mail->last_round + 1);
    if (round < first || round - first > mail->schedule->rounds)
        return tacit_fail(error, TACIT_REFUSED, "neighbours do not talk in round %llu of this study", shown);
    TACIT_TRY(advance_schedule_to(mail, round - first, error));
    if (!mail->schedule->mixing.present[self->self.place])
        return tacit_fail(error, TACIT_REFUSED, "this party is not there in round %llu of the study", shown);
    if (round > first &&
        (!mail->has_spoken || mail->last_round - first != mail->schedule->said[self->self.place]))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator has left out a round of this party before round %llu", shown);
    return TACIT_OK;
}

/* The sealed word itself or, if it came by a direct link, what waits in the inbox. */
static tacit_status find_word(const talking *self, const tacit_letter *letter, tacit_buffer *out,
                              tacit_error *error) {
    const tacit_mail_inbox *inbox = &self->mail->inbox;
    bool found = false;
    if (letter->body.length > 0)
        return tacit_buffer_append(out, letter->body.bytes, letter->body.length, error);
    if (inbox->read != NULL)
        TACIT_TRY(inbox->read(inbox->context, letter->party, letter->round, &found, out, error));
    if (found) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "the word of party %lu of round %llu went by a direct link, and is not here",
                      (unsigned long)letter->party + 1, (unsigned long long)letter->round + 1);
}

static tacit_status hear(talking *self, uint32_t from, uint64_t round, tacit_answer *out,
                         tacit_error *error) {
    const tacit_letter *letter = tacit_letters_find(&self->question->mail->words, from);
    const tacit_card *card = tacit_mail_card(self->mail, from);
    const tacit_word_route route = { &self->terms, round, from, self->self.place };
    tacit_buffer sealed = TACIT_BUFFER_INIT, text = TACIT_BUFFER_INIT;
    tacit_status status;
    const unsigned long who = (unsigned long)from + 1;
    if (letter == NULL || card == NULL)
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator brings no %s of party %lu, a neighbour in this round",
                          letter == NULL ? "word" : "key", who);
    if (letter->round != round)
        return tacit_fail(
            error, TACIT_REFUSED,
            "the coordinator brings what party %lu said in round %llu, and its word of round %llu is due",
            who, (unsigned long long)letter->round + 1, (unsigned long long)round + 1);
    TACIT_CHECK(find_word(self, letter, &sealed, error));
    TACIT_CHECK(tacit_word_open(&text, &sealed, &route, &self->mail->pair, card->key, error));
    TACIT_CHECK(tacit_fail_in(error, tacit_answer_decode(out, text.bytes, text.length, error),
                              "the word of party %lu", who));
cleanup:
    tacit_buffer_clear(&sealed);
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status hear_all(talking *self, tacit_error *error) {
    const tacit_round_schedule *schedule = self->mail->schedule;
    const tacit_mixing *mixing = &schedule->mixing;
    const uint64_t first = self->mail->plan->method->first_scheduled_round;
    const size_t start = mixing->start[self->self.place];
    const size_t count = schedule->round > 0 ? mixing->start[self->self.place + 1] - start : 0;
    self->said = TACIT_NEW(tacit_answer, count);
    self->word = TACIT_NEW(const tacit_message *, count);
    self->weight = TACIT_NEW(double, count);
    if (self->said == NULL || self->word == NULL || self->weight == NULL) return tacit_fail_memory(error);
    if (self->question->mail->words.count != count)
        return tacit_fail(
            error, TACIT_REFUSED,
            "the coordinator brings %zu words, and the study's definition has this party hear %zu",
            self->question->mail->words.count, count);
    self->own = mixing->own[self->self.place];
    for (; self->count < count; self->count++) {
        const size_t i = self->count;
        const uint32_t from = mixing->neighbour[start + i];
        TACIT_TRY(hear(self, from, first + schedule->said[from], &self->said[i], error));
        self->word[i] = &self->said[i].message;
        self->weight[i] = mixing->weight[start + i];
    }
    return TACIT_OK;
}

/* Go on to the round in which this party is heard next: those who meet it there hear what it says now. */
static void find_hearers(const talking *self) {
    tacit_round_schedule *schedule = self->mail->schedule;
    do tacit_round_schedule_advance(schedule);
    while (!tacit_round_schedule_over(schedule) && !schedule->mixing.present[self->self.place]);
}

static tacit_status seal_for(talking *self, uint32_t to, const tacit_buffer *text, tacit_error *error) {
    const tacit_card *card = tacit_mail_card(self->mail, to);
    const tacit_word_route route = { &self->terms, self->question->round, self->self.place, to };
    tacit_buffer sealed = TACIT_BUFFER_INIT;
    if (card == NULL)
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator has not shown the key of party %lu, a neighbour",
                          (unsigned long)to + 1);
    tacit_status status = tacit_word_seal(&sealed, text, &route, &self->mail->pair, card->key, error);
    if (status == TACIT_OK)
        status =
            tacit_letters_add(&self->sealed, to, self->question->round, sealed.bytes, sealed.length, error);
    tacit_buffer_clear(&sealed);
    return status;
}

static tacit_status seal_for_all(talking *self, const tacit_reply *reply, tacit_error *error) {
    const tacit_mixing *mixing = &self->mail->schedule->mixing;
    tacit_answer word = TACIT_ANSWER_INIT;
    tacit_buffer text = TACIT_BUFFER_LIMITED(TACIT_PAYLOAD_MOST);
    tacit_status status;
    word.round = self->question->round;
    word.message = reply->message;
    memcpy(word.study, self->question->study, sizeof word.study);
    TACIT_CHECK(tacit_answer_encode(&word, &text, error));
    find_hearers(self);
    for (size_t slot = mixing->start[self->self.place]; slot < mixing->start[self->self.place + 1]; slot++)
        TACIT_CHECK(seal_for(self, mixing->neighbour[slot], &text, error));
cleanup:
    if (text.bytes != NULL) sodium_memzero(text.bytes, text.capacity);
    tacit_buffer_clear(&text);
    return status;
}

/* For the log: who can read what leaves. */
static void notify_neighbours(talking *self) {
    char *out = self->assumption, roster[TACIT_ROSTER_TEXT_SIZE];
    const size_t size = sizeof self->assumption, most = 12;
    size_t used = 0;
    if (self->sealed.count == 0) used += (size_t)snprintf(out, size, "nobody hears this word");
    for (size_t i = 0; i < self->sealed.count && i < most; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%lu", i > 0 ? ", " : "in clear to parties ",
                                 (unsigned long)self->sealed.letter[i].party + 1);
    if (self->sealed.count > most)
        used += (size_t)snprintf(out + used, size - used, " and %zu more", self->sealed.count - most);
    tacit_roster_text(roster, self->self.digest);
    snprintf(out + used, size - used,
             " of roster %s; sealed for each, so that the coordinator only carries it", roster);
}

static tacit_status encode_words(const talking *self, tacit_buffer *out, tacit_error *error) {
    tacit_answer answer = tacit_answer_to(self->question);
    answer.words = self->sealed;
    return tacit_answer_encode(&answer, out, error);
}

/* What neighbours say, the handler's next state and word, and the word under seals. */
static tacit_status make_word(talking *self, tacit_reply *reply, tacit_buffer *payload, tacit_buffer *state,
                              tacit_error *error) {
    tacit_mail *mail = self->mail;
    bool added = false;
    TACIT_TRY(tacit_party_restore(self->party, error));
    TACIT_TRY(check_round(self, error));
    TACIT_TRY(take_cards(mail, &self->self, &self->question->mail->cards, &added, error));
    if (added) TACIT_TRY(store_cards(mail, &self->question->mail->cards, error));
    TACIT_TRY(hear_all(self, error));
    const tacit_heard heard = { self->count, self->word, self->weight, self->own, self->self.place };
    self->party->heard = &heard;
    tacit_status status = tacit_party_compute(self->party, self->question, reply, error);
    mail->restored = false; /* until what the handler has made of it is in the ledger */
    self->party->heard = NULL;
    TACIT_TRY(status);
    TACIT_TRY(pack_state(state, self->party, self->question->round, error));
    TACIT_TRY(seal_for_all(self, reply, error));
    notify_neighbours(self);
    return encode_words(self, payload, error);
}

static tacit_status say(talking *self, bool *at_gate, tacit_buffer *out, tacit_error *error) {
    tacit_gate *gate = self->party->gate;
    tacit_reply reply = { .message = TACIT_MESSAGE_INIT };
    tacit_buffer payload = TACIT_BUFFER_LIMITED(TACIT_PAYLOAD_MOST), state = TACIT_BUFFER_INIT;
    bool stored = false;
    tacit_status status;
    TACIT_CHECK(tacit_gate_has_answer(&stored, gate, self->question->answer_id, self->question_hash, error));
    if (stored)
        TACIT_CHECK(tacit_party_stored_reply(self->party, self->question, &reply, error));
    else
        TACIT_CHECK(make_word(self, &reply, &payload, &state, error));
    tacit_release release = tacit_party_describe(self->party, self->question, &reply, self->question_hash);
    release.assumption = self->assumption;
    release.payload = payload.bytes;
    release.payload_length = payload.length;
    release.state = state.bytes;
    release.state_length = state.length;
    *at_gate = true;
    TACIT_CHECK(tacit_gate_release(gate, &release, out, error));
    if (stored) goto cleanup;
    self->mail->restored = self->mail->has_spoken = true;
    self->mail->last_round = self->question->round;
cleanup:
    tacit_buffer_clear(&payload);
    if (state.bytes != NULL) sodium_memzero(state.bytes, state.capacity);
    tacit_buffer_clear(&state);
    tacit_reply_clear(&reply);
    return status;
}

/* The first step: keep the roster, and show a card. */
static tacit_status show_card(talking *self, bool *at_gate, tacit_buffer *out, tacit_error *error) {
    tacit_mail *mail = self->mail;
    tacit_card card;
    tacit_buffer body = TACIT_BUFFER_INIT, payload = TACIT_BUFFER_INIT;
    tacit_status status;
    memset(&card, 0, sizeof card);
    memcpy(card.key, mail->pair.shown, sizeof card.key);
    memcpy(card.name, mail->name, sizeof card.name);
    memcpy(card.address, mail->address, sizeof card.address);
    TACIT_CHECK(tacit_card_write(&body, &card, &self->terms, self->self.place, self->self.secret_key, error));
    TACIT_CHECK(tacit_party_encode_bytes(self->question, TACIT_CARD_FIELD, &body, &payload, error));
    tacit_release release = tacit_party_describe_message(self->party, self->question, self->question_hash,
                                                         "a public key, signed");
    release.payload = payload.bytes;
    release.payload_length = payload.length;
    *at_gate = true;
    TACIT_CHECK(tacit_gate_pass(self->party->gate, &release, 2 * TACIT_CARD_MOST, out, error));
cleanup:
    tacit_buffer_clear(&body);
    tacit_buffer_clear(&payload);
    return status;
}

static tacit_status talk(talking *self, bool *at_gate, tacit_buffer *out, tacit_error *error) {
    const tacit_mail_step *step = self->question->mail;
    const tacit_handler_entry *handler = NULL;
    TACIT_TRY(tacit_party_handler(self->party, self->question, &handler, error));
    if (!handler->to_neighbours || self->question->wants_sum || step->step > TACIT_MAIL_WORDS)
        return tacit_fail(error, TACIT_PROTOCOL, "'%s' is no question of a round between neighbours",
                          self->question->name);
    if (step->step == TACIT_MAIL_CARDS)
        TACIT_TRY(tacit_masks_take_roster(self->mail->masks, &step->roster, error));
    if (!tacit_masks_membership(self->mail->masks, &self->self))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator asks for words before it has shown the roster");
    set_terms(&self->terms, self->mail, &self->self);
    return step->step == TACIT_MAIL_CARDS ? show_card(self, at_gate, out, error)
                                          : say(self, at_gate, out, error);
}

static tacit_status answer_mail(tacit_party *party, const tacit_question *question,
                                const uint8_t question_hash[TACIT_HASH_BYTES], tacit_buffer *out,
                                tacit_error *error) {
    if (party->mail == NULL)
        return tacit_fail(error, TACIT_PROTOCOL,
                          "the study has no neighbours, and the coordinator asks for a word to them");
    tacit_error said = TACIT_ERROR_INIT;
    bool at_gate = false;
    talking self = { .party = party,
                     .mail = party->mail,
                     .question = question,
                     .question_hash = question_hash,
                     .sealed = TACIT_LETTERS_INIT,
                     .assumption = "that of the stored answer" };
    tacit_status status = talk(&self, &at_gate, out, &said);
    clear_talk(&self);
    if (status == TACIT_OK) return TACIT_OK;
    if (at_gate) return tacit_fail(error, status, "%s", said.text); /* the gate logs what it refuses itself */
    tacit_release release = tacit_party_describe_message(party, question, question_hash, "nothing was sent");
    return tacit_party_log_problem(party, &release, status, &said, error);
}

static const char *name_step(const tacit_plan *plan, const tacit_question *question) {
    (void)plan;
    return question->mail->step == TACIT_MAIL_CARDS ? "cards" : NULL;
}

const party_round party_mail_round = { answer_mail, name_step };
