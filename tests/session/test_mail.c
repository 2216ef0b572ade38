/*
 * Words between neighbours, a board and parties with real gates: everybody ends where plain arithmetic says,
 * whichever side is started again; and whatever a coordinator does to cards, words and rounds is refused and
 * logged, and leaves the party where it was. Questions are handed to parties in this thread, the study asks
 * in another; nothing here waits for time to pass.
 */
#include "failing.h"
#include "talk.h"

/* With no patience at all the board says whom it waits for, and still waits. */
static void who_is_late_is_told(void **state) {
    (void)state;
    bench *self = bench_of(0);
    tacit_board_state seen;
    wait_for_question(self, 1);
    for (size_t k = 0; k + 1 < PARTIES; k++) take_turn(self, k);
    wait_for_question(self, 2); /* the same one, told again */
    tacit_board_look(self->board, &seen);
    assert_int_equal(seen.late, 1);
    assert_string_equal(seen.late_one, self->sites[PARTIES - 1].name);
    take_turn(self, PARTIES - 1);
    tacit_board_cancel(self->board);
    assert_int_equal(end(self), TACIT_CANCELLED);
    bench_close(self);
}

static void everybody_ends_where_arithmetic_says(void **state) {
    (void)state;
    bench *self = bench_open();
    for (size_t count = 1; count <= ROUNDS + 2; count++) all_take_turns(self, 0, count);
    assert_int_equal(end(self), TACIT_OK);
    check_numbers(self);
    for (size_t k = 0; k < PARTIES; k++) check_log(&self->sites[k], ROUNDS + 1, 0);
    bench_close(self);
}

/* The board's records hold no number that anybody said; the control finds it where it is kept in clear. */
static void the_board_never_holds_a_word(void **state) {
    (void)state;
    bench *self = bench_open();
    tacit_buffer kept = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    bool found = false;
    for (size_t count = 1; count <= 3; count++) all_take_turns(self, 0, count);
    wait_for_question(self, 4);
    const double said = self->sites[0].memo.state[0];
    for (size_t i = 0; i < RECORDS; i++)
        if (self->recorded[i])
            assert_null(memmem(self->records[i].bytes, self->records[i].length, &said, sizeof said));
    CHECK_OK(tacit_gate_state(&found, &self->sites[0].gate, "heart@ca", &kept, &error), error);
    assert_true(found);
    assert_non_null(memmem(kept.bytes, kept.length, &said, sizeof said));
    tacit_buffer_clear(&kept);
    tacit_board_cancel(self->board);
    assert_int_equal(end(self), TACIT_CANCELLED);
    bench_close(self);
}

/* Asked again after each answer, and after a restart, a party sends the same bytes and is charged once. */
static void a_party_goes_on_where_it_was(void **state) {
    (void)state;
    bench *self = bench_open();
    site *party = &self->sites[0];
    for (size_t count = 1; count <= ROUNDS + 2; count++) {
        received asked;
        tacit_buffer first = TACIT_BUFFER_INIT, again = TACIT_BUFFER_INIT;
        tacit_error error = TACIT_ERROR_INIT;
        wait_for_question(self, count);
        read_question(self, party, &asked);
        if (answer(party, &asked, &first) != TACIT_OK) fail_msg("%s", party->error.text);
        start_party(self, party);
        if (answer(party, &asked, &again) != TACIT_OK) fail_msg("%s", party->error.text);
        assert_int_equal(first.length, again.length);
        assert_memory_equal(first.bytes, again.bytes, first.length);
        start_party(self, party);
        CHECK_OK(tacit_board_answer(self->board, party->name, again.bytes, again.length, &error), error);
        all_take_turns(self, 1, count);
        tacit_buffer_clear(&first);
        tacit_buffer_clear(&again);
        clear_received(&asked);
    }
    assert_int_equal(end(self), TACIT_OK);
    check_log(party, ROUNDS + 1, 0);
    bench_close(self);
}

static void a_board_goes_on_where_it_was(void **state) {
    (void)state;
    bench *self = bench_open();
    for (size_t count = 1; count <= 2; count++) all_take_turns(self, 0, count);
    for (size_t round = 1; round <= ROUNDS; round++) {
        wait_for_question(self, round == 1 ? 3 : 2);
        take_turn(self, 2); /* answered before the end, and to be asked again */
        tacit_board_cancel(self->board);
        assert_int_equal(end(self), TACIT_CANCELLED);
        tacit_board_free(self->board);
        open_board(self);
        begin(self);
        all_take_turns(self, 0, 1);
    }
    assert_int_equal(end(self), TACIT_OK);
    check_numbers(self);
    for (size_t k = 0; k < PARTIES; k++) check_log(&self->sites[k], ROUNDS + 1, 0);
    bench_close(self);
}

/* Every allocation of ours fails once while a word is made: it is not said, nothing is charged, and the party
 * stays where it was. */
static void a_party_survives_each_failed_allocation(void **state) {
    (void)state;
    bench *self = bench_open();
    site *party = &self->sites[0];
    static const uint8_t hash[TACIT_HASH_BYTES] = { 1 };
    received asked;
    tacit_buffer reply = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    long at = 1;
    for (size_t count = 1; count <= 3; count++) all_take_turns(self, 0, count);
    wait_for_question(self, 4);
    read_question(self, party, &asked);
    for (bool failed = true; failed; at++) {
        error = (tacit_error)TACIT_ERROR_INIT;
        fail_allocation(at);
        tacit_status status = tacit_party_answer(&party->party, &asked.question, hash, &reply, &error);
        failed = allocation_failed();
        if (status != (failed ? TACIT_NO_MEMORY : TACIT_OK)) fail_msg("allocation %ld: %s", at, error.text);
        assert_true(failed == (reply.length == 0));
    }
    assert_true(at > 20);
    check_log(party, 3, 0);
    CHECK_OK(tacit_board_answer(self->board, party->name, reply.bytes, reply.length, &error), error);
    all_take_turns(self, 1, 4);
    all_take_turns(self, 0, 5);
    assert_int_equal(end(self), TACIT_OK);
    check_numbers(self);
    tacit_buffer_clear(&reply);
    clear_received(&asked);
    bench_close(self);
}

/* ---- what a coordinator may try ---- */

static void flip_a_bit(received *asked) { asked->mail.words.letter[0].body.bytes[3] ^= 1; }

static void cut_a_word(received *asked) { asked->mail.words.letter[0].body.length = 3; }

static void swap_words(received *asked) {
    tacit_letter *letter = asked->mail.words.letter;
    tacit_buffer first = letter[0].body;
    letter[0].body = letter[1].body;
    letter[1].body = first;
}

static void name_another_speaker(received *asked) { asked->mail.words.letter[0].party = 2; }

static void name_an_earlier_round(received *asked) { asked->mail.words.letter[0].round--; }

static void leave_a_word_out(received *asked) {
    tacit_letters *words = &asked->mail.words;
    tacit_buffer_clear(&words->letter[--words->count].body);
}

static void say_that_it_went_directly(received *asked) {
    tacit_buffer_clear(&asked->mail.words.letter[0].body);
}

static void ask_an_earlier_round(received *asked) {
    asked->question.round--;
    asked->question.answer_id[0] ^= 1;
}

static void ask_the_round_again(received *asked) {
    ask_an_earlier_round(asked);
    asked->question.round = 1;
}

static void ask_a_later_round(received *asked) { asked->question.round++; }

static void ask_beyond_the_end(received *asked) { asked->question.round = ROUNDS + 1; }

static void ask_in_clear(received *asked) { asked->question.kind = TACIT_ROUND_PLAIN; }

static void ask_for_rows_by_mail(received *asked) {
    snprintf(asked->question.name, sizeof asked->question.name, "rows");
}

/* A card of the coordinator's own making for the party at `place`. */
static void forge_card(received *asked, uint32_t place) {
    uint8_t public_key[TACIT_SIGNING_KEY_BYTES], secret_key[crypto_sign_SECRETKEYBYTES];
    tacit_mail_terms terms;
    tacit_card card;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    memset(&terms, 0, sizeof terms);
    memset(&card, 0, sizeof card);
    snprintf(card.name, sizeof card.name, "party-%lu", (unsigned long)place);
    crypto_sign_keypair(public_key, secret_key);
    CHECK_OK(tacit_card_write(&bytes, &card, &terms, place, secret_key, &error), error);
    CHECK_OK(tacit_letters_add(&asked->mail.cards, place, 0, bytes.bytes, bytes.length, &error), error);
    tacit_buffer_clear(&bytes);
}

static void forge_a_neighbour(received *asked) { forge_card(asked, 1); }
static void forge_a_stranger(received *asked) { forge_card(asked, 2); }
static void forge_nobody(received *asked) { forge_card(asked, 77); }
static void break_a_card(received *asked) {
    forge_card(asked, 1);
    asked->mail.cards.letter[0].body.length -= 2;
}

static void show_another_roster(received *asked) {
    tacit_error error = TACIT_ERROR_INIT;
    static const uint8_t roster[PARTIES * TACIT_SIGNING_KEY_BYTES] = { 1 };
    asked->mail.step = TACIT_MAIL_CARDS;
    CHECK_OK(tacit_buffer_append(&asked->mail.roster, roster, sizeof roster, &error), error);
}

static void ask_for_a_sum_of_words(received *asked) {
    static const tacit_masked_step step = TACIT_MASKED_STEP_INIT;
    snprintf(asked->question.name, sizeof asked->question.name, "begin");
    asked->question.kind = TACIT_ROUND_SECURE;
    asked->question.masked = &step;
    asked->question.wants_sum = true;
    asked->question.sum = (tacit_sum_spec){ 1, 1, 10 };
}

static void ask_an_unknown_step(received *asked) { asked->mail.step = 7; }

static const struct {
    void (*change)(received *asked);
    tacit_status status;
    const char *says;
} tries[] = {
    { flip_a_bit, TACIT_REFUSED, "does not open" },
    { cut_a_word, TACIT_REFUSED, "does not open" },
    { swap_words, TACIT_REFUSED, "does not open" },
    { name_another_speaker, TACIT_REFUSED, "brings no word of party 2" },
    { name_an_earlier_round, TACIT_REFUSED, "its word of round 2 is due" },
    { leave_a_word_out, TACIT_REFUSED, "brings 1 words" },
    { say_that_it_went_directly, TACIT_REFUSED, "is not here" },
    { ask_an_earlier_round, TACIT_REFUSED, "round 2 is over for this party" },
    { ask_the_round_again, TACIT_REFUSED, "round 2 is over for this party" },
    { ask_a_later_round, TACIT_REFUSED, "left out a round" },
    { ask_beyond_the_end, TACIT_REFUSED, "do not talk in round 5" },
    { ask_in_clear, TACIT_REFUSED, "in clear" },
    { ask_for_rows_by_mail, TACIT_PROTOCOL, "no question of a round between neighbours" },
    { forge_a_neighbour, TACIT_REFUSED, "not signed by it" },
    { forge_a_stranger, TACIT_REFUSED, "no neighbour" },
    { forge_nobody, TACIT_REFUSED, "no neighbour" },
    { break_a_card, TACIT_PROTOCOL, "damaged" },
    { show_another_roster, TACIT_REFUSED, "changed the roster" },
    { ask_for_a_sum_of_words, TACIT_PROTOCOL, "no step of a secure sum" },
    { ask_an_unknown_step, TACIT_PROTOCOL, "no question of a round between neighbours" },
};

static void what_a_coordinator_tries_is_refused_and_logged(void **state) {
    (void)state;
    enum { TRIES = sizeof tries / sizeof *tries };
    bench *self = bench_open();
    site *party = &self->sites[0];
    for (size_t count = 1; count <= 3; count++) all_take_turns(self, 0, count);
    wait_for_question(self, 4); /* step 2: the words of round 2 are due */
    for (size_t i = 0; i < TRIES; i++) {
        received asked;
        tacit_buffer reply = TACIT_BUFFER_INIT;
        read_question(self, party, &asked);
        tries[i].change(&asked);
        tacit_status status = answer(party, &asked, &reply);
        if (status != tries[i].status || strstr(party->error.text, tries[i].says) == NULL)
            fail_msg("try %zu, for '%s': %d, %s", i, tries[i].says, (int)status, party->error.text);
        assert_int_equal(reply.length, 0);
        clear_received(&asked);
    }
    for (size_t count = 4; count <= ROUNDS + 2; count++) all_take_turns(self, 0, count);
    assert_int_equal(end(self), TACIT_OK);
    check_numbers(self); /* none of it has moved the party */
    check_log(party, ROUNDS + 1, TRIES);
    bench_close(self);
}

/* An old word in a new envelope, and one that was for somebody else. */
static void an_old_word_is_not_heard_again(void **state) {
    (void)state;
    bench *self = bench_open();
    site *party = &self->sites[0];
    received old, asked, other;
    tacit_buffer reply = TACIT_BUFFER_INIT;
    for (size_t count = 1; count <= 2; count++) all_take_turns(self, 0, count);
    wait_for_question(self, 3);
    read_question(self, party, &old);
    all_take_turns(self, 0, 3);
    wait_for_question(self, 4);
    read_question(self, party, &asked);
    tacit_buffer kept = asked.mail.words.letter[0].body;
    asked.mail.words.letter[0].body = old.mail.words.letter[0].body;
    assert_int_equal(answer(party, &asked, &reply), TACIT_REFUSED);
    assert_non_null(strstr(party->error.text, "does not open"));
    read_question(self, &self->sites[2], &other); /* both hear party 2 */
    assert_int_equal(other.mail.words.letter[0].party, asked.mail.words.letter[0].party);
    asked.mail.words.letter[0].body = other.mail.words.letter[0].body;
    assert_int_equal(answer(party, &asked, &reply), TACIT_REFUSED);
    assert_non_null(strstr(party->error.text, "for somebody else"));
    asked.mail.words.letter[0].body = kept;
    clear_received(&old);
    clear_received(&asked);
    clear_received(&other);
    tacit_board_cancel(self->board);
    assert_int_equal(end(self), TACIT_CANCELLED);
    bench_close(self);
}

static void without_the_owners_word_nothing_leaves(void **state) {
    (void)state;
    bench *self = bench_open();
    site *party = &self->sites[0];
    received asked;
    tacit_buffer reply = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    party->policy.allow_neighbours = false;
    party->policy.allow_exact = party->policy.allow_entrusted = true; /* are other rules */
    all_take_turns(self, 0, 1);
    wait_for_question(self, 2);
    read_question(self, party, &asked);
    assert_int_equal(answer(party, &asked, &reply), TACIT_REFUSED);
    assert_non_null(strstr(party->error.text, "the option 'allow-neighbours'"));
    check_log(party, 0, 1);
    /* The study ends, for the others count on this party. */
    tacit_answer no = { .round = asked.question.round, .refusal = "no" };
    memcpy(no.study, asked.question.study, sizeof no.study);
    memcpy(no.answer_id, asked.question.answer_id, sizeof no.answer_id);
    CHECK_OK(tacit_answer_encode(&no, &reply, &error), error);
    CHECK_OK(tacit_board_answer(self->board, party->name, reply.bytes, reply.length, &error), error);
    assert_int_equal(end(self), TACIT_REFUSED);
    assert_non_null(strstr(self->error.text, "count on its word: no"));
    tacit_buffer_clear(&reply);
    clear_received(&asked);
    bench_close(self);
}

/* The board takes sealed words from those present, and nothing else. */
static void the_board_takes_nothing_in_clear(void **state) {
    (void)state;
    bench *self = bench_open();
    site *party = &self->sites[0];
    received asked;
    tacit_error error = TACIT_ERROR_INIT;
    const double one = 1;
    static const uint32_t for_whom[] = { 0, PARTIES, 1, 1 };
    all_take_turns(self, 0, 1);
    wait_for_question(self, 2);
    read_question(self, party, &asked);
    for (size_t i = 0; i < 3; i++) {
        tacit_answer wrong = TACIT_ANSWER_INIT;
        tacit_buffer bytes = TACIT_BUFFER_INIT;
        wrong.round = asked.question.round;
        memcpy(wrong.study, asked.question.study, sizeof wrong.study);
        memcpy(wrong.answer_id, asked.question.answer_id, sizeof wrong.answer_id);
        for (size_t k = i; k < i + 1 + (i == 2); k++)
            CHECK_OK(tacit_letters_add(&wrong.words, for_whom[k], 0, (const uint8_t *)"x", 1, &error), error);
        if (i == 0) CHECK_OK(tacit_message_add_numbers(&wrong.message, "number", &one, 1, &error), error);
        CHECK_OK(tacit_answer_encode(&wrong, &bytes, &error), error);
        assert_int_equal(tacit_board_answer(self->board, party->name, bytes.bytes, bytes.length, &error),
                         TACIT_PROTOCOL);
        tacit_answer_clear(&wrong);
        tacit_buffer_clear(&bytes);
    }
    clear_received(&asked);
    for (size_t count = 2; count <= ROUNDS + 2; count++) all_take_turns(self, 0, count);
    assert_int_equal(end(self), TACIT_OK);
    check_numbers(self);
    bench_close(self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_late_is_told),
        cmocka_unit_test(everybody_ends_where_arithmetic_says),
        cmocka_unit_test(the_board_never_holds_a_word),
        cmocka_unit_test(a_party_goes_on_where_it_was),
        cmocka_unit_test(a_board_goes_on_where_it_was),
        cmocka_unit_test(a_party_survives_each_failed_allocation),
        cmocka_unit_test(what_a_coordinator_tries_is_refused_and_logged),
        cmocka_unit_test(an_old_word_is_not_heard_again),
        cmocka_unit_test(without_the_owners_word_nothing_leaves),
        cmocka_unit_test(the_board_takes_nothing_in_clear),
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
