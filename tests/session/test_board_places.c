/* Questions for one party at a time: places on the board, and who is passed over or waited for. */
#include "desk.h"

static void ask_place(desk *self, size_t place, bool needed) {
    self->wants_one = true;
    self->place = place;
    self->needs_one = needed;
    tacit_answers_clear(&self->answers);
    ask(self);
}

static void a_question_for_one_party_is_that_partys_alone(void **state) {
    (void)state;
    desk self;
    tacit_question question;
    desk_open(&self, 2, PATIENT);
    admit(&self, "a");
    admit(&self, "b");
    ask_place(&self, 1, false);
    assert_false(read_question(&self, "a", &question));
    assert_true(read_question(&self, "b", &question));
    tacit_answer answer = answer_to(&question);
    assert_int_equal(hand_in(&self, "a", &answer), TACIT_NOT_FOUND);
    assert_int_equal(hand_in(&self, "b", &answer), TACIT_OK);
    assert_int_equal(finish(&self), TACIT_OK);
    assert_int_equal(self.answers.count, 1);
    desk_close(&self);
}

static void a_party_that_is_silent_or_refuses_is_passed_over(void **state) {
    (void)state;
    desk self;
    desk_open(&self, 1, IMPATIENT);
    admit(&self, "a");
    ask_place(&self, 0, false);
    assert_int_equal(finish(&self), TACIT_OK); /* patience was over */
    assert_int_equal(self.answers.count, 0);
    ask_place(&self, 7, false); /* nobody has that place */
    assert_int_equal(finish(&self), TACIT_OK);
    assert_int_equal(self.answers.count, 0);
    desk_close(&self);
    desk_open(&self, 1, PATIENT);
    admit(&self, "a");
    ask_place(&self, 0, false);
    assert_int_equal(refuse(&self, "a", "the budget is spent"), TACIT_OK);
    assert_int_equal(finish(&self), TACIT_OK);
    assert_int_equal(self.answers.count, 0);
    desk_close(&self);
}

static void a_party_that_is_needed_is_waited_for(void **state) {
    (void)state;
    desk self;
    tacit_question question;
    desk_open(&self, 1, IMPATIENT);
    admit(&self, "a");
    ask_place(&self, 0, true);
    assert_true(read_question(&self, "a", &question));
    tacit_answer answer = answer_to(&question);
    assert_int_equal(hand_in(&self, "a", &answer), TACIT_OK);
    assert_int_equal(finish(&self), TACIT_OK);
    assert_int_equal(self.answers.count, 1);
    ask_place(&self, 0, true);
    assert_int_equal(refuse(&self, "a", "the budget is spent"), TACIT_OK);
    assert_int_equal(finish(&self), TACIT_REFUSED);
    assert_non_null(strstr(self.error.text, "the budget is spent"));
    desk_close(&self);
}

static void who_leaves_keeps_its_place_and_is_passed_over(void **state) {
    (void)state;
    desk self;
    tacit_question question;
    desk_open(&self, 1, PATIENT);
    admit(&self, "a");
    admit(&self, "b");
    ask_place(&self, 1, false);
    tacit_board_dismiss(self.board, "a"); /* the turn stays b's */
    assert_true(read_question(&self, "b", &question));
    tacit_answer answer = answer_to(&question);
    assert_int_equal(hand_in(&self, "b", &answer), TACIT_OK);
    assert_int_equal(finish(&self), TACIT_OK);
    assert_int_equal(self.answers.count, 1);
    assert_int_equal(tacit_board_admitted(self.board), 1);
    ask_place(&self, 0, false);
    assert_int_equal(finish(&self), TACIT_OK);
    assert_int_equal(self.answers.count, 0);
    ask_place(&self, 0, true);
    assert_int_equal(finish(&self), TACIT_REFUSED);
    assert_non_null(strstr(self.error.text, "party a has left"));
    admit(&self, "a"); /* comes back, to its own place */
    ask_place(&self, 0, true);
    assert_true(read_question(&self, "a", &question));
    answer = answer_to(&question);
    assert_int_equal(hand_in(&self, "a", &answer), TACIT_OK);
    assert_int_equal(finish(&self), TACIT_OK);
    desk_close(&self);
}

static void places_can_be_changed_before_the_first_question(void **state) {
    (void)state;
    desk self;
    tacit_question question;
    desk_open(&self, 1, PATIENT);
    const char *came[] = { "c", "a", "b" }, *sit[] = { "a", "b", "c" };
    for (size_t i = 0; i < 3; i++) admit(&self, came[i]);
    for (size_t i = 0; i < 3; i++) tacit_board_place(self.board, sit[i], i);
    tacit_board_place(self.board, "nobody", 0);
    tacit_board_place(self.board, "a", 3);
    for (size_t i = 0; i < 3; i++) {
        ask_place(&self, i, true);
        for (size_t other = 0; other < 3; other++)
            if (other != i) assert_false(read_question(&self, sit[other], &question));
        assert_true(read_question(&self, sit[i], &question));
        tacit_answer answer = answer_to(&question);
        assert_int_equal(hand_in(&self, sit[i], &answer), TACIT_OK);
        assert_int_equal(finish(&self), TACIT_OK);
        assert_int_equal(self.answers.count, 1);
    }
    desk_close(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_for_one_party_is_that_partys_alone),
        cmocka_unit_test(a_party_that_is_silent_or_refuses_is_passed_over),
        cmocka_unit_test(a_party_that_is_needed_is_waited_for),
        cmocka_unit_test(who_leaves_keeps_its_place_and_is_passed_over),
        cmocka_unit_test(places_can_be_changed_before_the_first_question),
    };
    return cmocka_run_group_tests_name("board_places", tests, NULL, NULL);
}
