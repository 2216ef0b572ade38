/* The right sum whoever vanishes, state that survives a crash, and one answer a question. */
#include "world.h"

static void nobody_vanishes(void **state) {
    (void)state;
    const tacit_graph_shape shapes[] = { small_complete(2), small_complete(3), small_complete(17),
                                         small_ring(40) };
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        world here;
        world_begin(&here, shapes[k], 33, k);
        CHECK_OK(world_run(&here, TACIT_SUM_OPENED), here.error);
        world_check_sum(&here);
        for (uint32_t i = 0; i < here.parties; i++)
            assert_true(tacit_securesum_server_survived(here.server, i));
        world_end(&here);
    }
}

/* A random part vanishes at random steps. The sum is right, or too few were left and nothing is opened. */
static void random_parties_vanish(uint64_t seed, tacit_graph_shape shape, double rate, int *opened) {
    world here;
    world_begin(&here, shape, 5, seed);
    for (uint32_t i = 0; i < here.parties; i++)
        if (tacit_stream_unit(&here.stream) < rate)
            here.vanishes[i] = (int)tacit_stream_below(&here.stream, TACIT_SUM_OPENED);
    tacit_status status = world_run(&here, TACIT_SUM_OPENED);
    if (status == TACIT_OK) {
        world_check_sum(&here);
        for (uint32_t i = 0; i < here.parties; i++)
            if (here.vanishes[i] <= TACIT_SUM_MASK)
                assert_false(tacit_securesum_server_survived(here.server, i));
        ++*opened;
    } else {
        if (status != TACIT_REFUSED) fail_msg("seed %llu: %s", (unsigned long long)seed, here.error.text);
        assert_null(tacit_securesum_server_sum(here.server));
    }
    world_end(&here);
}

static void the_sum_is_right_or_closed_for_random_dropouts(void **state) {
    (void)state;
    const uint64_t seed = 77001;
    int opened[3] = { 0 };
    print_message("# seeds from %llu\n", (unsigned long long)seed);
    for (uint64_t i = 0; i < 6; i++) {
        random_parties_vanish(seed + i, small_complete(9), 0.2, &opened[0]);
        random_parties_vanish(seed + i, small_ring(30), 0.1, &opened[1]);
        random_parties_vanish(seed + i, small_ring(30), 0.6, &opened[2]);
    }
    assert_true(opened[0] > 2 && opened[1] > 2);
    assert_true(opened[2] < 3);
}

static void below_the_minimum_nothing_opens(void **state) {
    (void)state;
    for (int step = 0; step <= TACIT_SUM_MASK; step++) {
        world here;
        tacit_graph_shape shape = small_complete(8);
        shape.minimum = 7;
        world_begin(&here, shape, 3, 1);
        here.vanishes[2] = here.vanishes[5] = step;
        assert_int_equal(world_run(&here, TACIT_SUM_OPENED), TACIT_REFUSED);
        assert_non_null(strstr(here.error.text, "nothing is opened"));
        assert_int_equal(tacit_securesum_server_step(here.server), step);
        assert_null(tacit_securesum_server_sum(here.server));
        assert_false(tacit_securesum_server_expects(here.server, 0));
        assert_int_equal(tacit_securesum_server_close(here.server, NULL), TACIT_USAGE);
        world_end(&here);
    }
}

/* Too few answers to the last step: the total keeps its masks. */
static void too_few_shares_leave_the_sum_closed(void **state) {
    (void)state;
    world here;
    world_begin(&here, small_complete(8), 3, 1);
    for (uint32_t i = 0; i < 4; i++) here.vanishes[i] = TACIT_SUM_UNMASK;
    assert_int_equal(world_run(&here, TACIT_SUM_OPENED), TACIT_REFUSED);
    assert_non_null(strstr(here.error.text, "4 shares"));
    assert_null(tacit_securesum_server_sum(here.server));
    world_end(&here);
}

static void replace_by_restored(world *here, uint32_t i) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_securesum_signer signer = tacit_securesum_ed25519_signer(here->secret[i]);
    tacit_securesum_step step = tacit_securesum_party_step(here->party[i]);
    CHECK_OK(tacit_securesum_party_save(here->party[i], &bytes, &here->error), here->error);
    tacit_securesum_party_free(here->party[i]);
    here->party[i] = NULL;
    CHECK_OK(tacit_securesum_party_restore(&here->party[i], here->sum, bytes.bytes, bytes.length, &signer,
                                           &here->error),
             here->error);
    assert_int_equal(tacit_securesum_party_step(here->party[i]), step);
    tacit_buffer_clear(&bytes);
}

/* Killed after every answer, before and after asking again: the same bytes, and in the end the right sum. */
static void a_restored_party_repeats_its_answers_and_goes_on(void **state) {
    (void)state;
    const tacit_graph_shape shapes[] = { small_complete(6), small_ring(20) };
    for (size_t k = 0; k < 2; k++) {
        world here;
        world_begin(&here, shapes[k], 9, 4);
        here.vanishes[1] = TACIT_SUM_MASK;
        for (int step = 0; step < TACIT_SUM_OPENED; step++) {
            world_collect(&here);
            for (uint32_t i = 0; i < here.parties; i++) {
                tacit_buffer question = TACIT_BUFFER_INIT, again = TACIT_BUFFER_INIT;
                if (!world_due(&here, i)) continue;
                replace_by_restored(&here, i);
                CHECK_OK(tacit_securesum_server_question(here.server, i, &question, &here.error), here.error);
                CHECK_OK(world_answer(&here, i, (tacit_securesum_step)step, &question, &again, &here.error),
                         here.error);
                assert_int_equal(again.length, here.answers[i].length);
                assert_memory_equal(again.bytes, here.answers[i].bytes, again.length);
                CHECK_OK(
                    tacit_securesum_server_receive(here.server, i, again.bytes, again.length, &here.error),
                    here.error);
                tacit_buffer_clear(&question);
                tacit_buffer_clear(&again);
            }
            CHECK_OK(tacit_securesum_server_close(here.server, &here.error), here.error);
        }
        world_check_sum(&here);
        world_end(&here);
    }
}

static void damaged_state_is_refused(void **state) {
    (void)state;
    world here, other;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    world_begin(&here, small_complete(3), 2, 5);
    world_begin(&other, small_complete(3), 2, 6);
    CHECK_OK(world_run(&here, TACIT_SUM_CONSENT), here.error);
    CHECK_OK(tacit_securesum_party_save(here.party[0], &bytes, &here.error), here.error);
    tacit_securesum_signer signer = tacit_securesum_ed25519_signer(here.secret[0]);
    tacit_securesum_party *party = NULL;
    for (size_t i = 0; i < bytes.length; i++) {
        bytes.bytes[i] ^= 0x40;
        assert_int_equal(
            tacit_securesum_party_restore(&party, here.sum, bytes.bytes, bytes.length, &signer, NULL),
            TACIT_CORRUPT);
        bytes.bytes[i] ^= 0x40;
        assert_int_equal(tacit_securesum_party_restore(&party, here.sum, bytes.bytes, i, &signer, NULL),
                         TACIT_CORRUPT);
    }
    assert_int_equal(
        tacit_securesum_party_restore(&party, other.sum, bytes.bytes, bytes.length, &signer, NULL),
        TACIT_CORRUPT);
    assert_null(party);
    tacit_buffer_clear(&bytes);
    world_end(&here);
    world_end(&other);
}

/* Of a vector of zeros, what the coordinator gets looks like fair coins. */
static void a_masked_vector_tells_nothing_by_eye(void **state) {
    (void)state;
    world here;
    world_begin(&here, small_complete(4), 64, 8);
    memset(here.values, 0, 4 * here.length * sizeof *here.values);
    CHECK_OK(world_run(&here, TACIT_SUM_MASK), here.error);
    world_collect(&here);
    uint32_t ones = 0;
    const uint8_t *vector = here.answers[0].bytes + here.answers[0].length - 64 * sizeof(uint64_t);
    for (size_t i = 0; i < 64 * sizeof(uint64_t); i++) ones += (uint32_t)__builtin_popcount(vector[i]);
    assert_in_range(ones, 2048 - 200,
                    2048 + 200); /* 4096 bits, standard deviation 32: beyond 6 of them below 1e-9 */
    world_end(&here);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_vanishes),
        cmocka_unit_test(the_sum_is_right_or_closed_for_random_dropouts),
        cmocka_unit_test(below_the_minimum_nothing_opens),
        cmocka_unit_test(too_few_shares_leave_the_sum_closed),
        cmocka_unit_test(a_restored_party_repeats_its_answers_and_goes_on),
        cmocka_unit_test(damaged_state_is_refused),
        cmocka_unit_test(a_masked_vector_tells_nothing_by_eye),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
