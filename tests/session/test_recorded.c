/* Messages as an earlier version sent them (the folder recorded): this one reads each, and writes the same
 * bytes. */
#include "check.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "session/wire/wire.h"
#include "tacit.pb-c.h"

static const char *folder;

static void load(const char *name, tacit_buffer *out) {
    char path[PATH_MAX];
    tacit_error error = TACIT_ERROR_INIT;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK_OK(tacit_file_read(path, out, &error), error);
}

static void assert_same(const char *name, const uint8_t *bytes, size_t length, const tacit_buffer *again) {
    if (length != again->length || memcmp(bytes, again->bytes, length) != 0)
        fail_msg("%s is written otherwise than it came", name);
}

/* Call `visit` for every recorded message whose name begins so; there are at least `least`. */
static void each(const char *prefix, size_t least,
                 void (*visit)(const char *name, const tacit_buffer *bytes)) {
    DIR *found = opendir(folder);
    size_t count = 0;
    assert_non_null(found);
    for (const struct dirent *entry; (entry = readdir(found)) != NULL;) {
        tacit_buffer bytes = TACIT_BUFFER_INIT;
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0) continue;
        load(entry->d_name, &bytes);
        visit(entry->d_name, &bytes);
        tacit_buffer_clear(&bytes);
        count++;
    }
    closedir(found);
    assert_true(count >= least);
}

static tacit_round_kind kind_of(const char *name) {
    return strstr(name, "_step") != NULL        ? TACIT_ROUND_SECURE
           : strstr(name, "_mail_mail") != NULL ? TACIT_ROUND_MAIL
                                                : TACIT_ROUND_PLAIN;
}

/* The question's bytes are in the reply as they were written: the hash that parties keep is the same. */
static void check_question(const char *name, const tacit_buffer *bytes) {
    Tacit__Wire__PollReply *reply = NULL;
    tacit_received received;
    tacit_buffer again = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    unsigned version = 0;
    CHECK_OK(tacit_wire_hear((void **)&reply, &tacit__wire__poll_reply__descriptor, bytes, &version, &error),
             error);
    assert_int_equal(version, 2);
    if (strstr(name, "finished") == NULL) {
        assert_int_equal(reply->event_case, TACIT__WIRE__POLL_REPLY__EVENT_QUESTION);
        CHECK_OK(tacit_question_decode(&received, reply->question.data, reply->question.len, &error), error);
        assert_int_equal(received.question.kind, kind_of(name));
        assert_int_equal(received.question.wants_sum, strstr(name, "_sum") != NULL);
        CHECK_OK(tacit_question_encode(&received.question, &again, &error), error);
        assert_same(name, reply->question.data, reply->question.len, &again);
        tacit_received_clear(&received);
    } else {
        assert_int_equal(reply->event_case, TACIT__WIRE__POLL_REPLY__EVENT_FINISHED);
    }
    tacit_buffer_clear(&again);
    tacit_wire_free(reply);
}

static void questions_are_read_and_written_as_they_came(void **state) {
    (void)state;
    each("poll_reply", 17, check_question);
}

static void check_answer(const char *name, const tacit_buffer *bytes) {
    tacit_answer answer = TACIT_ANSWER_INIT;
    tacit_buffer again = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_answer_decode(&answer, bytes->bytes, bytes->length, &error), error);
    CHECK_OK(tacit_answer_encode(&answer, &again, &error), error);
    assert_same(name, bytes->bytes, bytes->length, &again);
    assert_int_equal(answer.contribution != NULL, strstr(name, "plain_sum") != NULL);
    assert_int_equal(answer.words.count > 0, strstr(name, "_mail1") != NULL);
    tacit_answer_clear(&answer);
    tacit_buffer_clear(&again);
}

static void answers_are_read_and_written_as_they_came(void **state) {
    (void)state;
    each("answer", 17, check_answer);
}

/* Whoever says nothing of a range speaks the one version that it writes. */
static void check_version(const char *name, const tacit_buffer *bytes) {
    static const struct {
        const char *name;
        const ProtobufCMessageDescriptor *type;
    } types[] = { { "look_request", &tacit__wire__look_request__descriptor },
                  { "look_reply", &tacit__wire__look_reply__descriptor },
                  { "join_request", &tacit__wire__join_request__descriptor },
                  { "join_reply", &tacit__wire__join_reply__descriptor },
                  { "poll_request", &tacit__wire__poll_request__descriptor } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        void *message = NULL;
        unsigned version = 0;
        tacit_error error = TACIT_ERROR_INIT;
        if (strncmp(name, types[i].name, strlen(types[i].name)) != 0) continue;
        CHECK_OK(tacit_wire_hear(&message, types[i].type, bytes, &version, &error), error);
        assert_int_equal(version, 2);
        tacit_wire_free(message);
    }
}

static void a_program_that_knows_one_version_is_understood(void **state) {
    (void)state;
    each("look_re", 2, check_version);
    each("join_re", 2, check_version);
    each("poll_request", 1, check_version);
}

static void check_checkpoint(const char *name, const tacit_buffer *bytes) {
    tacit_message said = TACIT_MESSAGE_INIT, again = TACIT_MESSAGE_INIT;
    tacit_buffer now = TACIT_BUFFER_INIT;
    const double *weights = NULL, *same = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    uint64_t releases = 7;
    (void)name;
    CHECK_OK(tacit_checkpoint_decode(&said, &releases, bytes, &error), error);
    assert_int_equal(releases, 0);
    CHECK_OK(tacit_message_numbers(&said, "weights", 3, &weights, &error), error);
    CHECK_OK(tacit_checkpoint_encode(&said, 5, &now, &error), error);
    CHECK_OK(tacit_checkpoint_decode(&again, &releases, &now, &error), error);
    assert_int_equal(releases, 5);
    CHECK_OK(tacit_message_numbers(&again, "weights", 3, &same, &error), error);
    assert_memory_equal(same, weights, 3 * sizeof *weights);
    tacit_answer disguised = TACIT_ANSWER_INIT;
    assert_int_equal(tacit_answer_decode(&disguised, now.bytes, now.length, NULL), TACIT_PROTOCOL);
    tacit_message_clear(&said);
    tacit_message_clear(&again);
    tacit_buffer_clear(&now);
}

static void a_checkpoint_in_an_answer_is_read_and_no_longer_written(void **state) {
    (void)state;
    each("checkpoint", 1, check_checkpoint);
}

int main(int count, char **words) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_are_read_and_written_as_they_came),
        cmocka_unit_test(answers_are_read_and_written_as_they_came),
        cmocka_unit_test(a_program_that_knows_one_version_is_understood),
        cmocka_unit_test(a_checkpoint_in_an_answer_is_read_and_no_longer_written),
    };
    if (count != 2) return 2;
    folder = words[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
