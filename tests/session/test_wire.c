/* Messages, and questions and answers as bytes: what goes in comes out, and nothing hostile gets through. */
#include "check.h"

#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/wire/wire.h"
#include "tacit.pb-c.h"

static const double numbers[] = { 0.1, -0.0, DBL_MAX, DBL_TRUE_MIN };
static const int64_t integers[] = { INT64_MIN, -1, 0, INT64_MAX };
static const uint8_t bytes[] = { 0, 255, 7 };

static void fill(tacit_message *message) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_message_add_numbers(message, "numbers", numbers, 4, &error), error);
    CHECK_OK(tacit_message_add_integers(message, "integers", integers, 4, &error), error);
    CHECK_OK(tacit_message_add_text(message, "text",
                                    "Gr\xc3\xb6\xc3\x9f"
                                    "e",
                                    &error),
             error);
    CHECK_OK(tacit_message_add_bytes(message, "bytes", bytes, 3, &error), error);
    CHECK_OK(tacit_message_add_numbers(message, "none", NULL, 0, &error), error);
}

static void check_filled(const tacit_message *message) {
    tacit_error error = TACIT_ERROR_INIT;
    const double *n = NULL;
    const int64_t *i = NULL;
    const char *text = NULL;
    assert_int_equal(message->count, 5);
    CHECK_OK(tacit_message_numbers(message, "numbers", 4, &n, &error), error);
    assert_memory_equal(n, numbers, sizeof numbers);
    CHECK_OK(tacit_message_integers(message, "integers", 4, &i, &error), error);
    assert_memory_equal(i, integers, sizeof integers);
    CHECK_OK(tacit_message_text(message, "text", &text, &error), error);
    assert_string_equal(text, "Gr\xc3\xb6\xc3\x9f"
                              "e");
    assert_int_equal(message->fields[3].count, 3);
    assert_memory_equal(message->fields[3].value.bytes, bytes, 3);
    CHECK_OK(tacit_message_numbers(message, "none", 0, &n, &error), error);
    assert_non_null(n);
}

static void a_message_gives_back_what_was_put_in(void **state) {
    (void)state;
    tacit_message message = TACIT_MESSAGE_INIT;
    fill(&message);
    check_filled(&message);
    tacit_message_clear(&message);
    assert_int_equal(message.count, 0);
    tacit_message_clear(&message);
    tacit_message_clear(NULL);
}

static void what_is_not_there_as_expected_breaks_the_protocol(void **state) {
    (void)state;
    tacit_message message = TACIT_MESSAGE_INIT;
    const double not_finite[] = { 1, INFINITY, NAN };
    const double *n = numbers;
    const int64_t *i = integers;
    const char *text = "kept";
    fill(&message);
    assert_int_equal(tacit_message_add_text(&message, "text", "again", NULL), TACIT_PROTOCOL);
    assert_int_equal(tacit_message_numbers(&message, "number", 4, &n, NULL), TACIT_PROTOCOL);
    assert_int_equal(tacit_message_numbers(&message, "integers", 4, &n, NULL), TACIT_PROTOCOL);
    assert_int_equal(tacit_message_numbers(&message, "numbers", 3, &n, NULL), TACIT_PROTOCOL);
    assert_int_equal(tacit_message_integers(&message, "integers", 5, &i, NULL), TACIT_PROTOCOL);
    assert_int_equal(tacit_message_text(&message, "bytes", &text, NULL), TACIT_PROTOCOL);
    assert_int_equal(tacit_message_add_numbers(&message, "bad", not_finite, 3, NULL), TACIT_OK);
    assert_int_equal(tacit_message_numbers(&message, "bad", 3, &n, NULL), TACIT_PROTOCOL);
    assert_ptr_equal(n, numbers);
    assert_string_equal(text, "kept");
    tacit_message_clear(&message);
}

static tacit_question sample_question(const tacit_message *message) {
    tacit_question question = { .study = "heart",
                                .method = "avg",
                                .method_version = 3,
                                .round = UINT64_MAX,
                                .name = "weights",
                                .message = message,
                                .wants_sum = true,
                                .sum = { 31, 4.5, 47 } };
    for (size_t i = 0; i < sizeof question.answer_id; i++) question.answer_id[i] = (uint8_t)(16 * i + 3);
    return question;
}

static tacit_buffer encoded_question(const tacit_question *question) {
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_question_encode(question, &out, &error), error);
    return out;
}

static void a_question_survives_the_wire(void **state) {
    (void)state;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_received received;
    tacit_error error = TACIT_ERROR_INIT;
    fill(&message);
    tacit_question question = sample_question(&message);
    tacit_buffer wire = encoded_question(&question);
    CHECK_OK(tacit_question_decode(&received, wire.bytes, wire.length, &error), error);
    const tacit_question again = received.question;
    assert_int_equal(again.kind, TACIT_ROUND_PLAIN);
    assert_string_equal(again.study, "heart");
    assert_string_equal(again.method, "avg");
    assert_string_equal(again.name, "weights");
    assert_int_equal(again.method_version, 3);
    assert_true(again.round == UINT64_MAX);
    assert_memory_equal(again.answer_id, question.answer_id, sizeof question.answer_id);
    assert_true(again.wants_sum && tacit_sum_spec_equal(&again.sum, &question.sum));
    assert_ptr_equal(again.message, &received.message);
    check_filled(&received.message);
    tacit_buffer_clear(&wire);
    tacit_message_clear(&message);
    tacit_received_clear(&received);
}

static tacit_answer sample_answer(tacit_message message, int64_t *contribution, size_t length) {
    tacit_answer answer = {
        .study = "heart", .round = 7, .message = message, .contribution = contribution, .length = length
    };
    memset(answer.answer_id, 0x5a, sizeof answer.answer_id);
    return answer;
}

static void an_answer_with_a_number_that_is_not_finite_is_refused(void **state) {
    (void)state;
    const double bad[] = { NAN, INFINITY, -INFINITY };
    for (size_t k = 0; k < 3; k++) {
        const double values[] = { 0.5, bad[k] };
        tacit_message message = TACIT_MESSAGE_INIT;
        tacit_error error = TACIT_ERROR_INIT;
        tacit_buffer wire = TACIT_BUFFER_INIT;
        fill(&message);
        CHECK_OK(tacit_message_add_numbers(&message, "sizes", values, 2, &error), error);
        tacit_answer answer = sample_answer(message, NULL, 0), again = TACIT_ANSWER_INIT;
        CHECK_OK(tacit_answer_encode(&answer, &wire, &error), error);
        assert_int_equal(tacit_answer_decode(&again, wire.bytes, wire.length, &error), TACIT_PROTOCOL);
        assert_non_null(strstr(error.text, "not finite"));
        tacit_buffer_clear(&wire);
        tacit_message_clear(&message);
    }
}

static tacit_buffer encoded_answer(const tacit_answer *answer) {
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_answer_encode(answer, &out, &error), error);
    return out;
}

static void an_answer_survives_the_wire(void **state) {
    (void)state;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    int64_t contribution[] = { INT64_MIN, 0, INT64_MAX };
    fill(&message);
    tacit_answer answer = sample_answer(message, contribution, 3), again = TACIT_ANSWER_INIT;
    tacit_buffer wire = encoded_answer(&answer);
    CHECK_OK(tacit_answer_decode(&again, wire.bytes, wire.length, &error), error);
    assert_string_equal(again.study, "heart");
    assert_int_equal(again.round, 7);
    assert_memory_equal(again.answer_id, answer.answer_id, sizeof answer.answer_id);
    assert_string_equal(again.refusal, "");
    assert_int_equal(again.length, 3);
    assert_memory_equal(again.contribution, contribution, sizeof contribution);
    check_filled(&again.message);
    tacit_buffer_clear(&wire);
    tacit_answer_clear(&again);
    tacit_message_clear(&message);
}

/* Decode both ways; whatever comes of it, nothing may crash or leak. Is it accepted as a question? */
static bool take_anything(const uint8_t *at, size_t length) {
    tacit_received received;
    const tacit_question *question = &received.question;
    tacit_answer answer = TACIT_ANSWER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_question_decode(&received, at, length, &error);
    if (status != TACIT_OK) {
        assert_int_equal(status, TACIT_PROTOCOL);
        assert_int_equal(received.message.count, 0);
        assert_true(error.text[0] != 0);
    } else {
        assert_true(strlen(question->study) < TACIT_ID_SIZE && question->study[0] != 0);
        assert_true(!question->wants_sum || question->sum.length > 0);
    }
    if (status == TACIT_OK) tacit_received_clear(&received);
    if (tacit_answer_decode(&answer, at, length, NULL) == TACIT_OK) tacit_answer_clear(&answer);
    return status == TACIT_OK;
}

static void check_hostile(tacit_buffer *wire) {
    for (size_t length = 0; length < wire->length; length++) {
        /* A copy of just that length, so that a sanitizer sees any byte read beyond. */
        uint8_t *cut = malloc(length + 1);
        assert_non_null(cut);
        memcpy(cut, wire->bytes, length);
        take_anything(cut, length);
        free(cut);
    }
    for (size_t bit = 0; bit < 8 * wire->length; bit++) {
        wire->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        take_anything(wire->bytes, wire->length);
        wire->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void no_cut_or_flipped_bit_crashes_the_decoders(void **state) {
    (void)state;
    tacit_message message = TACIT_MESSAGE_INIT;
    int64_t contribution[] = { 1, 2, 3 };
    fill(&message);
    tacit_question question = sample_question(&message);
    tacit_answer answer = sample_answer(message, contribution, 3);
    tacit_buffer asked = encoded_question(&question), answered = encoded_answer(&answer);
    check_hostile(&asked);
    check_hostile(&answered);
    assert_true(take_anything(asked.bytes, asked.length));
    tacit_buffer_clear(&asked);
    tacit_buffer_clear(&answered);
    tacit_message_clear(&message);
}

static bool accepted(const tacit_question *question) {
    tacit_buffer wire = encoded_question(question);
    bool taken = take_anything(wire.bytes, wire.length);
    tacit_buffer_clear(&wire);
    return taken;
}

static void impossible_sums_are_refused(void **state) {
    (void)state;
    tacit_question question = sample_question(NULL);
    assert_true(accepted(&question));
    const tacit_sum_spec impossible[] = {
        { 0, 1, 40 },        { SIZE_MAX, 1, 40 }, { 3, 0, 40 },      { 3, -1, 40 },
        { 3, INFINITY, 40 }, { 3, NAN, 40 },      { 3, 1, 63 },      { 3, 1, INT_MAX },
        { 3, 1, 1001 },      { 3, 1, -1001 },     { 3, 0x1p40, 40 }, { 3, 1, INT_MIN },
    };
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
        question.sum = impossible[i];
        if (accepted(&question)) fail_msg("sum %zu is impossible and was taken", i);
    }
}

static void empty_and_overlong_names_are_refused(void **state) {
    (void)state;
    tacit_question question = sample_question(NULL);
    question.study[0] = 0;
    assert_false(accepted(&question));
    question = sample_question(NULL);
    question.name[0] = 0;
    assert_false(accepted(&question));
    char name[100];
    memset(name, 'x', sizeof name);
    name[64] = 0;
    tacit_message message = TACIT_MESSAGE_INIT;
    assert_int_equal(tacit_message_add_text(&message, name, "", NULL), TACIT_OK);
    question = sample_question(&message);
    assert_false(accepted(&question));
    message.fields[0].name[63] = 0;
    assert_true(accepted(&question));
    tacit_message_clear(&message);
}

static void too_many_fields_are_refused(void **state) {
    (void)state;
    tacit_message message = TACIT_MESSAGE_INIT;
    for (int i = 0; i < 257; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        assert_int_equal(tacit_message_add_text(&message, name, "", NULL), TACIT_OK);
    }
    tacit_question question = sample_question(&message);
    assert_false(accepted(&question));
    tacit_message_clear(&message);
}

static void a_field_that_appears_twice_is_refused(void **state) {
    (void)state;
    tacit_message message = TACIT_MESSAGE_INIT;
    assert_int_equal(tacit_message_add_text(&message, "a", "", NULL), TACIT_OK);
    assert_int_equal(tacit_message_add_text(&message, "b", "", NULL), TACIT_OK);
    message.fields[1].name[0] = 'a';
    tacit_question question = sample_question(&message);
    assert_false(accepted(&question));
    tacit_message_clear(&message);
}

static void another_protocol_version_is_named(void **state) {
    (void)state;
    Tacit__Wire__Question wire = TACIT__WIRE__QUESTION__INIT;
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_received received;
    tacit_error error = TACIT_ERROR_INIT;
    wire.protocol = tacit_versions_spoken().highest + 1;
    assert_int_equal(tacit_wire_pack(&out, &wire, NULL), TACIT_OK);
    assert_int_equal(tacit_question_decode(&received, out.bytes, out.length, &error), TACIT_PROTOCOL);
    assert_string_equal(error.text, "the coordinator speaks protocol version 3, the party version 2: update "
                                    "the party's program");
    tacit_buffer_clear(&out);
}

/* Two bytes a field, a hundred bytes of memory each: more than the budget for so short a body. */
static void a_small_body_cannot_take_much_memory(void **state) {
    (void)state;
    enum { FIELDS = 4 << 20 };
    uint8_t *body = malloc(2 * FIELDS);
    assert_non_null(body);
    for (size_t i = 0; i < FIELDS; i++) {
        body[2 * i] = 8 << 3 | 2; /* `fields`, a submessage of no bytes */
        body[2 * i + 1] = 0;
    }
    assert_false(take_anything(body, 2 * FIELDS));
    free(body);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_gives_back_what_was_put_in),
        cmocka_unit_test(what_is_not_there_as_expected_breaks_the_protocol),
        cmocka_unit_test(a_question_survives_the_wire),
        cmocka_unit_test(an_answer_with_a_number_that_is_not_finite_is_refused),
        cmocka_unit_test(an_answer_survives_the_wire),
        cmocka_unit_test(no_cut_or_flipped_bit_crashes_the_decoders),
        cmocka_unit_test(impossible_sums_are_refused),
        cmocka_unit_test(empty_and_overlong_names_are_refused),
        cmocka_unit_test(too_many_fields_are_refused),
        cmocka_unit_test(a_field_that_appears_twice_is_refused),
        cmocka_unit_test(another_protocol_version_is_named),
        cmocka_unit_test(a_small_body_cannot_take_much_memory),
    };
    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
