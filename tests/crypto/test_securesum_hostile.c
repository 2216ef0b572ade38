/* Lies, slips and damage on either side: found, named, and without effect on the others. */
#include "world.h"

#include "crypto/sum/securesum_party.h"

enum { PARTIES = 5, LENGTH = 3 };

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

static tacit_status give(world *here, uint32_t i, const uint8_t *bytes, size_t length) {
    here->error = (tacit_error)TACIT_ERROR_INIT;
    tacit_status status = tacit_securesum_server_receive(here->server, i, bytes, length, &here->error);
    if (status != TACIT_OK && strstr(here->error.text, "party ") == NULL)
        fail_msg("nobody named: %s", here->error.text);
    return status;
}

static tacit_buffer question_for(const world *here, uint32_t i) {
    tacit_buffer question = TACIT_BUFFER_INIT;
    assert_int_equal(tacit_securesum_server_question(here->server, i, &question, NULL), TACIT_OK);
    return question;
}

static tacit_status answer(world *here, uint32_t i, const tacit_buffer *question, tacit_buffer *out) {
    here->error = (tacit_error)TACIT_ERROR_INIT;
    return world_answer(here, i, tacit_securesum_server_step(here->server), question, out, &here->error);
}

/* The bytes of an answer that only the one they are for, or nobody, can check: sealed shares and the
 * commitments to them, and the masked vector itself. */
static bool opaque(tacit_securesum_step step, size_t at) {
    const size_t entry = 4 + TACIT_SUM_DEALT_BYTES, list = TACIT_SUM_HEADER_BYTES + TACIT_DIGEST_BYTES + 4;
    if (step == TACIT_SUM_SHARE && at >= TACIT_SUM_HEADER_BYTES &&
        at < TACIT_SUM_HEADER_BYTES + TACIT_DIGEST_BYTES)
        return true;
    if (step == TACIT_SUM_SHARE && at >= list) return (at - list) % entry >= 4;
    return step == TACIT_SUM_MASK && at >= TACIT_SUM_HEADER_BYTES + 4 + 8;
}

static void the_coordinator_finds_every_damaged_answer(void **state) {
    (void)state;
    world here;
    world_begin(&here, small_complete(PARTIES), LENGTH, 1);
    for (int step = 0; step < TACIT_SUM_OPENED; step++) {
        world_ask(&here, 0);
        tacit_buffer *bytes = &here.answers[0];
        for (size_t length = 0; length < bytes->length; length++)
            assert_int_not_equal(give(&here, 0, bytes->bytes, length), TACIT_OK);
        tacit_buffer longer = TACIT_BUFFER_INIT;
        tacit_buffer_append(&longer, bytes->bytes, bytes->length, NULL);
        tacit_buffer_append(&longer, "x", 1, NULL);
        assert_int_not_equal(give(&here, 0, longer.bytes, longer.length), TACIT_OK);
        tacit_buffer_clear(&longer);
        for (size_t i = 0; i < bytes->length; i++) {
            if (opaque((tacit_securesum_step)step, i)) continue;
            bytes->bytes[i] ^= 0x11;
            if (give(&here, 0, bytes->bytes, bytes->length) == TACIT_OK)
                fail_msg("step %d, byte %zu passed", step, i);
            bytes->bytes[i] ^= 0x11;
        }
        assert_false(tacit_securesum_server_has(here.server, 0));
        world_collect(&here);
        CHECK_OK(tacit_securesum_server_close(here.server, &here.error), here.error);
    }
    world_check_sum(&here);
    world_end(&here);
}

/* Each on a copy of the party. A changed set of survivors may be a sound one, and changed shares are
 * complained of; all else is refused. */
static void a_party_finds_every_damaged_question(void **state) {
    (void)state;
    world here;
    world_begin(&here, small_complete(PARTIES), LENGTH, 2);
    for (int step = 0; step < TACIT_SUM_OPENED; step++) {
        tacit_buffer question = question_for(&here, 1);
        tacit_securesum_party *party = here.party[1];
        for (size_t i = 0; i < 2 * question.length; i++) {
            tacit_buffer out = TACIT_BUFFER_INIT, cut = question;
            here.party[1] = party;
            here.party[1] = copy_of(&here, 1);
            if (i < question.length)
                question.bytes[i] ^= 0x04;
            else
                cut.length = i - question.length;
            tacit_status status = answer(&here, 1, &cut, &out);
            const size_t entry = 4 + TACIT_SUM_DEALT_BYTES, list = TACIT_SUM_HEADER_BYTES + 4;
            bool complains =
                step == TACIT_SUM_MASK && i >= list && i < question.length && (i - list) % entry >= 4;
            bool sound = step == TACIT_SUM_CONSENT && i == TACIT_SUM_HEADER_BYTES + 1;
            if (complains) assert_true(status == TACIT_OK && out.bytes[TACIT_SUM_HEADER_BYTES] == 1);
            if (!complains && !sound && status == TACIT_OK) fail_msg("step %d, byte %zu passed", step, i);
            if (status != TACIT_OK) assert_int_equal(out.length, 0);
            if (i < question.length) question.bytes[i] ^= 0x04;
            tacit_securesum_party_free(here.party[1]);
            tacit_buffer_clear(&out);
        }
        here.party[1] = party;
        tacit_buffer_clear(&question);
        world_collect(&here);
        CHECK_OK(tacit_securesum_server_close(here.server, &here.error), here.error);
    }
    world_check_sum(&here);
    world_end(&here);
}

static void a_key_put_in_by_the_coordinator_is_refused(void **state) {
    (void)state;
    world here;
    world_begin(&here, small_complete(PARTIES), LENGTH, 3);
    CHECK_OK(world_run(&here, TACIT_SUM_SHARE), here.error);
    tacit_buffer question = question_for(&here, 0), out = TACIT_BUFFER_INIT;
    uint8_t *masking =
        question.bytes + TACIT_SUM_HEADER_BYTES + 4 + (4 + TACIT_SUM_KEYS_BYTES) + 4 + TACIT_KEY_BYTES;
    memcpy(masking, here.party[4]->masking.shown, TACIT_KEY_BYTES); /* in the place of party 2's */
    assert_int_equal(answer(&here, 0, &question, &out), TACIT_PROTOCOL);
    assert_non_null(strstr(here.error.text, "for party 2 are not signed"));
    tacit_buffer_clear(&question);
    world_end(&here);
}

/* The same parties in another sum: nothing of the first is of use there. */
static void nothing_of_another_sum_is_taken(void **state) {
    (void)state;
    world first, second;
    world_begin(&first, small_complete(PARTIES), LENGTH, 4);
    world_begin(&second, small_complete(PARTIES), LENGTH, 4);
    tacit_securesum_server_free(second.server);
    tacit_securesum *old = second.sum;
    second.terms.id[0] ^= 1;
    tacit_securesum_roster roster = tacit_securesum_ed25519_roster(&second.roster);
    assert_int_equal(tacit_securesum_create(&second.sum, &second.terms, &roster, NULL), TACIT_OK);
    assert_int_equal(tacit_securesum_server_create(&second.server, second.sum, NULL, NULL), TACIT_OK);
    for (int step = 0; step < TACIT_SUM_OPENED; step++) {
        world_collect(&first);
        assert_int_not_equal(give(&second, 1, first.answers[1].bytes, first.answers[1].length), TACIT_OK);
        assert_int_equal(tacit_securesum_server_close(first.server, NULL), TACIT_OK);
    }
    world_end(&second);
    tacit_securesum_free(old);
    world_end(&first);
}

static void an_answer_counts_for_its_sender_and_its_step(void **state) {
    (void)state;
    world here;
    world_begin(&here, small_complete(PARTIES), LENGTH, 5);
    world_collect(&here);
    assert_int_equal(give(&here, 0, here.answers[1].bytes, here.answers[1].length),
                     TACIT_PROTOCOL); /* another's */
    assert_int_equal(give(&here, 1, here.answers[1].bytes, here.answers[1].length),
                     TACIT_OK); /* the same again */
    assert_int_equal(give(&here, PARTIES, here.answers[1].bytes, here.answers[1].length), TACIT_REFUSED);
    CHECK_OK(tacit_securesum_server_close(here.server, &here.error), here.error);
    assert_int_equal(give(&here, 1, here.answers[1].bytes, here.answers[1].length), TACIT_REFUSED);
    assert_non_null(strstr(here.error.text, "came after"));
    CHECK_OK(world_run(&here, TACIT_SUM_OPENED), here.error);
    world_check_sum(&here);
    assert_int_equal(give(&here, 1, here.answers[1].bytes, here.answers[1].length), TACIT_REFUSED);
    world_end(&here);
}

static void a_party_masks_one_vector_only(void **state) {
    (void)state;
    world here;
    world_begin(&here, small_complete(PARTIES), LENGTH, 6);
    CHECK_OK(world_run(&here, TACIT_SUM_MASK), here.error);
    tacit_buffer question = question_for(&here, 0), out = TACIT_BUFFER_INIT;
    tacit_securesum_party *twin = copy_of(&here, 0), *party = here.party[0];
    world_collect(&here);
    here.values[0]++;
    assert_int_equal(answer(&here, 0, &question, &out), TACIT_REFUSED);
    assert_int_equal(out.length, 0);
    here.party[0] = twin; /* a party that forgot what it had sent */
    CHECK_OK(answer(&here, 0, &question, &out), here.error);
    assert_int_equal(give(&here, 0, out.bytes, out.length), TACIT_PROTOCOL);
    assert_non_null(strstr(here.error.text, "two different answers"));
    here.values[0]--;
    here.party[0] = party;
    tacit_securesum_party_free(twin);
    CHECK_OK(tacit_securesum_server_close(here.server, &here.error), here.error);
    CHECK_OK(world_run(&here, TACIT_SUM_OPENED), here.error);
    world_check_sum(&here);
    tacit_buffer_clear(&question);
    tacit_buffer_clear(&out);
    world_end(&here);
}

static void drop_from(tacit_buffer *set_question, uint32_t party) {
    set_question->bytes[TACIT_SUM_HEADER_BYTES + 1 + party / 8] &= (uint8_t) ~(1 << party % 8);
}

/* Opening over U and over U without 3 would reveal the vector of 3. */
static void a_party_never_consents_to_two_sets(void **state) {
    (void)state;
    world here;
    world_begin(&here, small_complete(PARTIES), LENGTH, 7);
    CHECK_OK(world_run(&here, TACIT_SUM_CONSENT), here.error);
    tacit_buffer all = question_for(&here, 0), fewer = question_for(&here, 0), out = TACIT_BUFFER_INIT;
    drop_from(&fewer, 3);
    CHECK_OK(answer(&here, 0, &all, &out), here.error);
    assert_int_equal(answer(&here, 0, &fewer, &out), TACIT_REFUSED);
    tacit_securesum_party *party = here.party[0];
    here.party[0] = copy_of(&here, 0); /* and not after a crash */
    assert_int_equal(answer(&here, 0, &fewer, &out), TACIT_REFUSED);
    tacit_securesum_party_free(here.party[0]);
    here.party[0] = party;
    CHECK_OK(world_run(&here, TACIT_SUM_OPENED), here.error);
    assert_int_equal(tacit_securesum_party_consent(party, fewer.bytes, fewer.length, &out, NULL),
                     TACIT_REFUSED);
    world_check_sum(&here);
    tacit_buffer_clear(&all);
    tacit_buffer_clear(&fewer);
    tacit_buffer_clear(&out);
    world_end(&here);
}

/* Two halves told of two sets: neither sees enough consents, and nobody unmasks. */
static void two_sets_open_nothing(void **state) {
    (void)state;
    world here;
    world_begin(&here, small_complete(6), LENGTH, 8);
    CHECK_OK(world_run(&here, TACIT_SUM_CONSENT), here.error);
    for (uint32_t i = 0; i < 6; i++) {
        tacit_buffer question = question_for(&here, i);
        if (i < 3) drop_from(&question, 5);
        tacit_buffer_clear(&here.answers[i]);
        CHECK_OK(answer(&here, i, &question, &here.answers[i]), here.error);
        tacit_buffer_clear(&question);
        if (i < 3)
            assert_int_equal(give(&here, i, here.answers[i].bytes, here.answers[i].length), TACIT_PROTOCOL);
    }
    for (uint32_t i = 0; i < 6; i++) { /* what a lying coordinator would show: every consent it has */
        tacit_buffer consents = TACIT_BUFFER_INIT, out = TACIT_BUFFER_INIT;
        for (int same = 0; same < 2; same++) {
            consents.length = 0;
            assert_int_equal(tacit_sum_write_header(&consents, here.sum, TACIT_SUM_CONSENTS, i, NULL),
                             TACIT_OK);
            assert_int_equal(tacit_buffer_append_u32(&consents, same ? 2 : 5, NULL), TACIT_OK);
            for (uint32_t j = 0; j < 6; j++) {
                if (j == i || (same && (j < 3) != (i < 3))) continue;
                tacit_buffer_append_u32(&consents, j, NULL);
                tacit_buffer_append(&consents, here.answers[j].bytes + TACIT_SUM_HEADER_BYTES,
                                    TACIT_SIGNATURE_BYTES, NULL);
            }
            assert_int_equal(
                tacit_securesum_party_unmask(here.party[i], consents.bytes, consents.length, &out, NULL),
                TACIT_REFUSED);
            assert_int_equal(out.length, 0);
        }
        tacit_buffer_clear(&consents);
        tacit_buffer_clear(&out);
    }
    world_end(&here);
}

static void sets_that_do_not_concern_a_party_are_refused(void **state) {
    (void)state;
    world here;
    world_begin(&here, small_complete(PARTIES), LENGTH, 9);
    here.vanishes[4] = TACIT_SUM_SHARE;
    CHECK_OK(world_run(&here, TACIT_SUM_CONSENT), here.error);
    tacit_buffer question = question_for(&here, 0), out = TACIT_BUFFER_INIT;
    uint8_t *dealers = question.bytes + TACIT_SUM_HEADER_BYTES, *survivors = dealers + 1;
    const struct {
        uint8_t dealers, survivors;
        tacit_status expected;
        const char *says;
    } told[] = {
        { 0x0F, 0x0E, TACIT_REFUSED, "not part of" },
        { 0x0E, 0x0F, TACIT_REFUSED, "not part of" },
        { 0x1F, 0x0F, TACIT_REFUSED, "told differently" },
        { 0x07, 0x07, TACIT_REFUSED, "told differently" },
        { 0x0F, 0x1F, TACIT_REFUSED, "never dealt shares" },
        { 0x0F, 0x03, TACIT_REFUSED, "2 parties are left" },
        { 0x2F, 0x0F, TACIT_PROTOCOL, "survivor set" },
        { 0x0F, 0x2F, TACIT_PROTOCOL, "survivor set" },
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        *dealers = told[i].dealers;
        *survivors = told[i].survivors;
        assert_int_equal(answer(&here, 0, &question, &out), told[i].expected);
        assert_non_null(strstr(here.error.text, told[i].says));
    }
    tacit_buffer_clear(&question);
    CHECK_OK(world_run(&here, TACIT_SUM_OPENED), here.error);
    world_check_sum(&here);
    world_end(&here);
}

static void steps_out_of_order_are_refused(void **state) {
    (void)state;
    world here;
    world_begin(&here, small_complete(PARTIES), LENGTH, 10);
    tacit_buffer none = TACIT_BUFFER_INIT, out = TACIT_BUFFER_INIT;
    for (int step = TACIT_SUM_SHARE; step < TACIT_SUM_OPENED; step++)
        assert_int_equal(world_answer(&here, 0, (tacit_securesum_step)step, &none, &out, NULL),
                         TACIT_PROTOCOL);
    world_end(&here);
}

static void a_wrong_share_is_named_and_harms_only_its_sender(void **state) {
    (void)state;
    world here;
    world_begin(&here, small_complete(PARTIES), LENGTH, 11);
    here.vanishes[2] = TACIT_SUM_MASK;
    CHECK_OK(world_run(&here, TACIT_SUM_UNMASK), here.error);
    for (uint32_t dealer = 1; dealer <= 2; dealer++) { /* of a survivor, of one that vanished */
        here.vanishes[0] = STAYS;
        world_ask(&here, 0);
        here.answers[0].bytes[TACIT_SUM_HEADER_BYTES + 4 + dealer * TACIT_SUM_OPENING_BYTES - 1] ^= 1;
        assert_int_equal(give(&here, 0, here.answers[0].bytes, here.answers[0].length), TACIT_PROTOCOL);
        assert_non_null(strstr(here.error.text, dealer == 1
                                                    ? "party 0: its share of a secret of party 1 is wrong"
                                                    : "party 0: its share of a secret of party 2 is wrong"));
    }
    here.vanishes[0] = TACIT_SUM_UNMASK;
    CHECK_OK(world_run(&here, TACIT_SUM_OPENED), here.error);
    world_check_sum(&here);
    world_end(&here);
}

/* Shares of party 3 that `holders` neighbours cannot open. */
static tacit_status deal_badly(world *here, uint32_t holders) {
    CHECK_OK(world_run(here, TACIT_SUM_SHARE), here->error);
    for (uint32_t i = 0; i < PARTIES; i++) {
        world_ask(here, i);
        for (uint32_t j = 0; i == 3 && j < holders; j++)
            here->answers[i].bytes[TACIT_SUM_HEADER_BYTES + TACIT_DIGEST_BYTES + 4 +
                                   j * (4 + TACIT_SUM_DEALT_BYTES) + 4] ^= 1;
        CHECK_OK(give(here, i, here->answers[i].bytes, here->answers[i].length), here->error);
    }
    CHECK_OK(tacit_securesum_server_close(here->server, &here->error), here->error);
    return world_run(here, TACIT_SUM_OPENED);
}

static void shares_that_do_not_open_are_borne_or_their_dealer_named(void **state) {
    (void)state;
    world here;
    world_begin(&here, small_complete(PARTIES), LENGTH, 12);
    CHECK_OK(deal_badly(&here, 2), here.error); /* three good ones, its own included, are enough */
    world_check_sum(&here);
    world_end(&here);
    world_begin(&here, small_complete(PARTIES), LENGTH, 12);
    assert_int_equal(deal_badly(&here, 3), TACIT_PROTOCOL);
    assert_non_null(strstr(here.error.text, "shares of party 3"));
    assert_null(tacit_securesum_server_sum(here.server));
    world_end(&here);
}

static void a_dealer_whose_shares_make_another_secret_is_named(void **state) {
    (void)state;
    for (int which = 0; which < TACIT_SUM_SECRETS; which++) {
        world here;
        world_begin(&here, small_complete(PARTIES), LENGTH, 13);
        if (which == TACIT_SUM_MASKING) here.vanishes[3] = TACIT_SUM_MASK;
        CHECK_OK(world_run(&here, TACIT_SUM_SHARE), here.error);
        here.party[3]->secret[which][5] ^= 1;
        assert_int_equal(world_run(&here, TACIT_SUM_OPENED), TACIT_PROTOCOL);
        assert_non_null(strstr(here.error.text, "party 3 dealt shares"));
        world_end(&here);
    }
}

static void keys_without_a_secret_are_refused(void **state) {
    (void)state;
    world here;
    world_begin(&here, small_complete(PARTIES), LENGTH, 14);
    memset(here.party[2]->masking.shown, 0, TACIT_KEY_BYTES); /* signed by its owner all the same */
    world_ask(&here, 2);
    assert_int_equal(give(&here, 2, here.answers[2].bytes, here.answers[2].length), TACIT_PROTOCOL);
    assert_non_null(strstr(here.error.text, "small order"));
    here.vanishes[2] = TACIT_SUM_ADVERTISE;
    CHECK_OK(world_run(&here, TACIT_SUM_OPENED), here.error);
    world_check_sum(&here);
    world_end(&here);
}

static void terms_that_make_no_sense_are_refused(void **state) {
    (void)state;
    world here;
    world_begin(&here, small_complete(PARTIES), LENGTH, 15);
    tacit_securesum_roster roster = tacit_securesum_ed25519_roster(&here.roster);
    tacit_securesum *sum = NULL;
    tacit_securesum_party *party = NULL;
    tacit_securesum_terms terms = here.terms;
    terms.length = 0;
    assert_int_equal(tacit_securesum_create(&sum, &terms, &roster, NULL), TACIT_USAGE);
    terms = here.terms;
    terms.study[0] = 0;
    assert_int_equal(tacit_securesum_create(&sum, &terms, &roster, NULL), TACIT_USAGE);
    terms = here.terms;
    terms.shape.threshold = 2;
    assert_int_equal(tacit_securesum_create(&sum, &terms, &roster, NULL), TACIT_USAGE);
    tacit_securesum_signer signer = tacit_securesum_ed25519_signer(here.secret[0]);
    assert_int_equal(
        tacit_securesum_party_create(&party, here.sum, PARTIES, here.party[0]->seed, &signer, NULL),
        TACIT_USAGE);
    assert_true(sum == NULL && party == NULL);
    world_end(&here);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_coordinator_finds_every_damaged_answer),
        cmocka_unit_test(a_party_finds_every_damaged_question),
        cmocka_unit_test(a_key_put_in_by_the_coordinator_is_refused),
        cmocka_unit_test(nothing_of_another_sum_is_taken),
        cmocka_unit_test(an_answer_counts_for_its_sender_and_its_step),
        cmocka_unit_test(a_party_masks_one_vector_only),
        cmocka_unit_test(a_party_never_consents_to_two_sets),
        cmocka_unit_test(two_sets_open_nothing),
        cmocka_unit_test(sets_that_do_not_concern_a_party_are_refused),
        cmocka_unit_test(steps_out_of_order_are_refused),
        cmocka_unit_test(a_wrong_share_is_named_and_harms_only_its_sender),
        cmocka_unit_test(shares_that_do_not_open_are_borne_or_their_dealer_named),
        cmocka_unit_test(a_dealer_whose_shares_make_another_secret_is_named),
        cmocka_unit_test(keys_without_a_secret_are_refused),
        cmocka_unit_test(terms_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
