/* Programs that speak versions 2 and 3 (this one, by versions_next.c) meet programs of other ranges. */
#include "check.h"

#include <string.h>

#include "session/wire/wire.h"
#include "tacit.pb-c.h"

/* A poll by somebody who writes `protocol` and, unless highest is 0, says what it speaks: the version agreed
 * on; 0: none. */
static unsigned agreed(unsigned protocol, unsigned lowest, unsigned highest, tacit_error *error) {
    Tacit__Wire__PollRequest request = TACIT__WIRE__POLL_REQUEST__INIT;
    Tacit__Wire__Versions speaks = TACIT__WIRE__VERSIONS__INIT;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    void *heard = NULL;
    unsigned version = 0;
    request.protocol = protocol;
    speaks.lowest = lowest;
    speaks.highest = highest;
    if (highest != 0) request.speaks = &speaks;
    assert_int_equal(tacit_wire_pack(&bytes, &request, NULL), TACIT_OK);
    tacit_status status =
        tacit_wire_hear(&heard, &tacit__wire__poll_request__descriptor, &bytes, &version, error);
    assert_int_equal(status, version == 0 ? TACIT_PROTOCOL : TACIT_OK);
    assert_int_equal(heard != NULL, version != 0);
    tacit_wire_free(heard);
    tacit_buffer_clear(&bytes);
    return version;
}

static void the_highest_common_version_is_used(void **state) {
    (void)state;
    assert_int_equal(agreed(2, 0, 0, NULL), 2); /* of today, which says nothing of a range */
    assert_int_equal(agreed(2, 2, 2, NULL), 2);
    assert_int_equal(agreed(2, 2, 3, NULL), 3);
    assert_int_equal(agreed(2, 2, 9, NULL), 3);
    assert_int_equal(agreed(1, 1, 2, NULL), 2);
    assert_int_equal(agreed(3, 3, 4, NULL), 3);
}

static void without_a_common_version_both_ranges_and_the_remedy_are_named(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(agreed(4, 4, 6, &error), 0);
    assert_string_equal(error.text,
                        "the party speaks protocol versions 4 to 6, the coordinator versions 2 to 3: "
                        "update the coordinator's program");
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(agreed(1, 0, 0, &error), 0);
    assert_string_equal(error.text, "the party speaks protocol version 1, the coordinator versions 2 to 3: "
                                    "update the party's program");
    assert_int_equal(agreed(2, 9, 1, &error), 0); /* no range at all */
}

/* Who asks writes in the lowest version that it speaks, which any program of a range around it reads; a reply
 * is in the agreed one. */
static void both_sides_announce_what_they_speak(void **state) {
    (void)state;
    const unsigned versions[] = { 0, 3 }, written[] = { 2, 3 };
    for (size_t i = 0; i < 2; i++) {
        Tacit__Wire__PollRequest request = TACIT__WIRE__POLL_REQUEST__INIT, *read = NULL;
        tacit_buffer bytes = TACIT_BUFFER_INIT;
        assert_int_equal(tacit_wire_say(&bytes, &request, versions[i], NULL), TACIT_OK);
        assert_null(request.speaks);
        assert_int_equal(tacit_wire_parse((void **)&read, &tacit__wire__poll_request__descriptor, bytes.bytes,
                                          bytes.length, NULL),
                         TACIT_OK);
        assert_int_equal(read->protocol, written[i]);
        assert_int_equal(read->speaks->lowest, 2);
        assert_int_equal(read->speaks->highest, 3);
        tacit_wire_free(read);
        tacit_buffer_clear(&bytes);
    }
}

/* What is hashed does not change with what is agreed on: a round that was open goes on after an update. */
static void a_question_is_written_as_before(void **state) {
    (void)state;
    const tacit_question question = { .study = "s", .method = "m", .name = "q" };
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_received received;
    assert_int_equal(tacit_question_encode(&question, &bytes, NULL), TACIT_OK);
    assert_memory_equal(bytes.bytes, "\x08\x02", 2);
    bytes.bytes[1] = 3; /* a later writer's */
    assert_int_equal(tacit_question_decode(&received, bytes.bytes, bytes.length, NULL), TACIT_OK);
    tacit_received_clear(&received);
    bytes.bytes[1] = 4;
    assert_int_equal(tacit_question_decode(&received, bytes.bytes, bytes.length, NULL), TACIT_PROTOCOL);
    tacit_buffer_clear(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_highest_common_version_is_used),
        cmocka_unit_test(without_a_common_version_both_ranges_and_the_remedy_are_named),
        cmocka_unit_test(both_sides_announce_what_they_speak),
        cmocka_unit_test(a_question_is_written_as_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
