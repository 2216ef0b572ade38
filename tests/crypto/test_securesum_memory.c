/* Every allocation fails once: the call says so, changes nothing, and works when tried again. */
#include "world.h"

#include "failing.h"

/* Repeat `call` with the first, second, ... allocation failing, until it is made without a failure. */
#define UNTIL_IT_WORKS(call, after_failure)                                                                  \
    do {                                                                                                     \
        bool failing = true;                                                                                 \
        for (long at = 1; failing; at++) {                                                                   \
            fail_allocation(at);                                                                             \
            tacit_status status_ = (call);                                                                   \
            failing = allocation_failed();                                                                   \
            assert_int_equal(status_, failing ? TACIT_NO_MEMORY : TACIT_OK);                                 \
            if (failing) {                                                                                   \
                after_failure;                                                                               \
            }                                                                                                \
        }                                                                                                    \
    } while (0)

static void no_step_is_lost_for_want_of_memory(void **state) {
    (void)state;
    world here;
    world_begin(&here, small_ring(14), 5, 1);
    here.vanishes[3] = TACIT_SUM_MASK;
    while (tacit_securesum_server_step(here.server) < TACIT_SUM_OPENED) {
        tacit_securesum_step step = tacit_securesum_server_step(here.server);
        for (uint32_t i = 0; i < here.parties; i++) {
            tacit_buffer question = TACIT_BUFFER_INIT, *answer = &here.answers[i];
            if (!world_due(&here, i)) continue;
            UNTIL_IT_WORKS(tacit_securesum_server_question(here.server, i, &question, NULL),
                           assert_int_equal(question.length, 0));
            tacit_buffer_clear(answer);
            UNTIL_IT_WORKS(world_answer(&here, i, step, &question, answer, NULL),
                           assert_int_equal(answer->length, 0);
                           assert_int_equal(tacit_securesum_party_step(here.party[i]), step);
                           tacit_buffer_clear(answer));
            UNTIL_IT_WORKS(
                tacit_securesum_server_receive(here.server, i, answer->bytes, answer->length, NULL),
                assert_false(tacit_securesum_server_has(here.server, i)));
            tacit_buffer_clear(&question);
        }
        UNTIL_IT_WORKS(tacit_securesum_server_close(here.server, NULL),
                       assert_int_equal(tacit_securesum_server_step(here.server), step));
    }
    world_check_sum(&here);
    world_end(&here);
}

static void making_and_restoring_survive_each_failure(void **state) {
    (void)state;
    world here;
    world_begin(&here, small_ring(14), 5, 2);
    tacit_securesum_roster roster = tacit_securesum_ed25519_roster(&here.roster);
    tacit_securesum_signer signer = tacit_securesum_ed25519_signer(here.secret[0]);
    const uint8_t seed[TACIT_SUM_SEED_BYTES] = { 1 };
    tacit_securesum *sum = NULL;
    tacit_securesum_server *server = NULL;
    tacit_securesum_party *party = NULL, *again = NULL;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    UNTIL_IT_WORKS(tacit_securesum_create(&sum, &here.terms, &roster, NULL), assert_null(sum));
    UNTIL_IT_WORKS(tacit_securesum_server_create(&server, sum, NULL, NULL), assert_null(server));
    UNTIL_IT_WORKS(tacit_securesum_party_create(&party, sum, 0, seed, &signer, NULL), assert_null(party));
    UNTIL_IT_WORKS(tacit_securesum_party_save(party, &bytes, NULL), assert_int_equal(bytes.length, 0));
    UNTIL_IT_WORKS(tacit_securesum_party_restore(&again, sum, bytes.bytes, bytes.length, &signer, NULL),
                   assert_null(again));
    tacit_buffer_clear(&bytes);
    tacit_securesum_party_free(again);
    tacit_securesum_party_free(party);
    tacit_securesum_server_free(server);
    tacit_securesum_free(sum);
    world_end(&here);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_step_is_lost_for_want_of_memory),
        cmocka_unit_test(making_and_restoring_survive_each_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
