/* The smallest numbers under which a party still takes part in a secure sum. */
#include "world.h"

#include "crypto/sum/graph.h"
#include "crypto/sum/securesum_party.h"

enum { PARTIES = 7, THRESHOLD = PARTIES / 2 + 1, LENGTH = 2, ASKED = 1 };

static tacit_securesum_party *copy_of(const world *here, uint32_t i) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_securesum_signer signer = tacit_securesum_ed25519_signer(here->secret[i]);
    tacit_securesum_party *party = NULL;
    assert_int_equal(tacit_securesum_party_save(here->party[i], &bytes, NULL), TACIT_OK);
    assert_int_equal(
        tacit_securesum_party_restore(&party, here->sum, bytes.bytes, bytes.length, &signer, NULL), TACIT_OK);
    tacit_buffer_clear(&bytes);
    return party;
}

/* What a copy of party ASKED says to the present question with the first `count` of its list, whose entries
 * have `entry` bytes. */
static tacit_status answer_to_first(world *here, uint32_t count, size_t entry) {
    tacit_buffer whole = TACIT_BUFFER_INIT, cut = TACIT_BUFFER_INIT, out = TACIT_BUFFER_INIT;
    tacit_securesum_party *party = here->party[ASKED];
    tacit_securesum_step step = tacit_securesum_server_step(here->server);
    here->error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(tacit_securesum_server_question(here->server, ASKED, &whole, &here->error), here->error);
    assert_int_equal(whole.length, TACIT_SUM_HEADER_BYTES + 4 + (PARTIES - 1) * entry);
    assert_int_equal(tacit_buffer_append(&cut, whole.bytes, TACIT_SUM_HEADER_BYTES, NULL), TACIT_OK);
    assert_int_equal(tacit_buffer_append_u32(&cut, count, NULL), TACIT_OK);
    assert_int_equal(tacit_buffer_append(&cut, whole.bytes + TACIT_SUM_HEADER_BYTES + 4, count * entry, NULL),
                     TACIT_OK);
    here->party[ASKED] = copy_of(here, ASKED);
    tacit_status status = world_answer(here, ASKED, step, &cut, &out, &here->error);
    tacit_securesum_party_free(here->party[ASKED]);
    here->party[ASKED] = party;
    tacit_buffer_clear(&whole);
    tacit_buffer_clear(&cut);
    tacit_buffer_clear(&out);
    return status;
}

static void a_party_deals_and_masks_with_enough_others_to_open_a_secret(void **state) {
    (void)state;
    static const struct {
        tacit_securesum_step step;
        size_t entry;
    } lists[] = { { TACIT_SUM_SHARE, 4 + TACIT_SUM_KEYS_BYTES },
                  { TACIT_SUM_MASK, 4 + TACIT_SUM_DEALT_BYTES } };
    world here;
    world_begin(&here, small_complete(PARTIES), LENGTH, 5);
    for (size_t i = 0; i < 2; i++) {
        CHECK_OK(world_run(&here, lists[i].step), here.error);
        /* With itself, THRESHOLD - 1 others are just enough. */
        CHECK_OK(answer_to_first(&here, THRESHOLD - 1, lists[i].entry), here.error);
        assert_int_equal(answer_to_first(&here, THRESHOLD - 2, lists[i].entry), TACIT_REFUSED);
        assert_non_null(strstr(here.error.text, "and needs 3"));
    }
    world_end(&here);
}

/* Whatever minimum a study declares, two parties that collude with nobody are in every sum. In a ring the
 * threshold is of a neighbourhood, and does not see to that. */
static void two_honest_parties_are_in_every_sum(void **state) {
    (void)state;
    static const uint32_t sizes[] = { 7, 50, 200, 1000 };
    for (size_t i = 0; i < 4; i++) {
        tacit_graph_assumption assumption = tacit_graph_assumption_default(sizes[i]);
        tacit_graph_shape shape;
        tacit_error error = TACIT_ERROR_INIT;
        assumption.minimum = 1;
        CHECK_OK(tacit_graph_plan(&shape, &assumption, &error), error);
        assert_true(shape.minimum >= sizes[i] / 10 + 2);
        if (sizes[i] == 1000) assert_int_equal(shape.minimum, 102);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_party_deals_and_masks_with_enough_others_to_open_a_secret),
        cmocka_unit_test(two_honest_parties_are_in_every_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
