/* A coordinator that lies over several rounds of masked sums (fuzz/lies.h) learns no party's contribution. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "lies.h"
#include "rand/stream.h"

enum { SCRIPTS = 200, SCRIPT_BYTES = 60 };

static const uint32_t ALL = (1u << 5) - 1;

/* The last of five parties is the coordinator's. */
static const lies_settings FIVE = {
    .parties = 5, .minimum = 3, .dropouts = 0.1, .colluders = 0.1, .puppets = 1u << 4
};

static void all_mask(lies *self, uint64_t round, uint32_t there) {
    lies_begin(self, round, 0);
    lies_advertise(self, there);
    lies_share(self, there, there | 1u << 4);
    lies_mask(self, there, there | 1u << 4);
}

/* Half of the others are told that party 0 survived, and half that it vanished. */
static void test_two_stories_do_not_open_both_secrets_of_a_party(void **state) {
    (void)state;
    lies *self = lies_open(&FIVE);
    assert_non_null(self);
    all_mask(self, 0, ALL);
    assert_int_equal(lies_answered(self), 4 * 3);
    lies_consent(self, 1u << 0 | 1u << 1, ALL, ALL);
    lies_consent(self, 1u << 2 | 1u << 3, ALL, ALL & ~1u);
    lies_unmask(self, ALL);
    const char *how = lies_won(self);
    if (how != NULL) fail_msg("the coordinator has %s", how);
    lies_close(self);
}

/* All of them in the first sum, all but one in the second. */
static void test_two_rounds_do_not_differ_by_one_party(void **state) {
    (void)state;
    lies *self = lies_open(&FIVE);
    assert_non_null(self);
    all_mask(self, 0, ALL);
    lies_consent(self, ALL, ALL, ALL);
    lies_unmask(self, ALL);
    assert_int_equal(lies_answered(self), 4 * 5);
    assert_null(lies_won(self));
    all_mask(self, 1, ALL);
    lies_consent(self, ALL, ALL, ALL & ~1u);
    lies_unmask(self, ALL);
    const char *how = lies_won(self);
    if (how != NULL) fail_msg("the coordinator has %s", how);
    lies_close(self);
}

/* ---- rosters, and the drawing of the graph ---- */

/* Whatever is shown first, nothing else is taken later, in this round or the next, before a restart or after
 * it. */
static void test_no_party_takes_a_second_roster(void **state) {
    (void)state;
    for (unsigned first = LIES_ROSTER_TRUE; first <= LIES_ROSTER_REPLACED; first++)
        for (unsigned second = LIES_ROSTER_TRUE; second < LIES_ROSTERS; second++) {
            lies *self = lies_open(&FIVE);
            assert_non_null(self);
            lies_show_roster(self, first, 1);
            lies_begin(self, 0, 0);
            lies_advertise(self, 1u); /* the places that differ are others' */
            assert_int_equal(lies_answered(self), 1);
            lies_show_roster(self, second, 1);
            for (uint64_t round = 0; round < 2; round++) {
                const size_t before = lies_answered(self);
                lies_begin(self, round, 0);
                lies_advertise(self, 1u);
                assert_true((lies_answered(self) > before) == (second == first));
                lies_restart(self, ALL);
            }
            assert_null(lies_won(self));
            lies_close(self);
        }
}

static void test_no_party_takes_what_is_no_roster(void **state) {
    (void)state;
    for (unsigned kind = LIES_ROSTER_TWICE; kind < LIES_ROSTERS; kind++)
        for (uint32_t at = 0; at < 5; at++) {
            lies *self = lies_open(&FIVE);
            assert_non_null(self);
            lies_show_roster(self, kind, at);
            lies_begin(self, 0, 0);
            lies_advertise(self, ALL);
            assert_int_equal(lies_answered(self), 0);
            lies_close(self);
        }
}

/* Puppets commit twice, and show one list to some and the other to the rest: nobody masks. */
static void test_two_lists_are_no_drawing(void **state) {
    (void)state;
    lies_settings settings = FIVE;
    settings.draws = true;
    for (uint32_t told = 1; told < 15; told++) {
        lies *self = lies_open(&settings);
        assert_non_null(self);
        lies_begin(self, 0, 0);
        lies_draw(self, ALL);
        lies_reveal(self, told, ALL, 0);
        lies_reveal(self, ALL & ~told, ALL, 1);
        assert_int_equal(lies_answered(self), 4 + 4);
        for (uint32_t nonce = 0; nonce < 2; nonce++) {
            lies_reveal(self, ALL, ALL, nonce); /* the same again, and no other */
            lies_advertise(self, ALL);
        }
        assert_int_equal(lies_answered(self), 4 + 4 + 4);
        const char *how = lies_won(self);
        if (how != NULL) fail_msg("the coordinator has %s", how);
        lies_close(self);
    }
}

static void test_one_list_is_a_drawing(void **state) {
    (void)state;
    lies_settings settings = FIVE;
    settings.draws = true;
    lies *self = lies_open(&settings);
    assert_non_null(self);
    lies_begin(self, 0, 0);
    lies_draw(self, ALL);
    lies_reveal(self, ALL, ALL, 0);
    all_mask(self, 0, ALL);
    lies_consent(self, ALL, ALL, ALL);
    lies_unmask(self, ALL);
    assert_int_equal(lies_answered(self), 4 * 7);
    assert_null(lies_won(self));
    lies_close(self);
}

/* Play scripts from a seed until the coordinator has won; the number of it, or SCRIPTS. */
static size_t play(uint64_t seed, void (*change)(lies_settings *settings), size_t *answered, char how[200]) {
    const tacit_stream root = tacit_stream_from_seed(seed);
    *answered = 0;
    for (size_t i = 0; i < SCRIPTS; i++) {
        uint8_t script[SCRIPT_BYTES];
        size_t used;
        const char *won = NULL;
        tacit_stream stream = tacit_stream_fork(&root, "lies", i, 0);
        tacit_stream_bytes(&stream, script, sizeof script);
        lies_settings settings = lies_read_settings(script, sizeof script, &used);
        if (change != NULL) change(&settings);
        lies *self = lies_open(&settings);
        if (self == NULL) continue;
        *answered += lies_play(self, script + used, sizeof script - used, &won);
        if (won != NULL) snprintf(how, 200, "%s", won);
        lies_close(self);
        if (won != NULL) return i;
    }
    return SCRIPTS;
}

static void test_no_script_wins(void **state) {
    (void)state;
    char how[200];
    size_t answered, lost = play(1, NULL, &answered, how);
    if (lost < SCRIPTS) fail_msg("in script %zu the coordinator has %s", lost, how);
    assert_true(answered > 10 * SCRIPTS); /* they are not refused from the start */
}

static void add_puppet(lies_settings *settings) {
    uint32_t k = 0;
    while ((settings->puppets >> k & 1) != 0) k++;
    settings->puppets |= 1u << k;
}

/* The scripts are good enough to find what is there to find. */
static void test_one_puppet_more_than_declared_wins(void **state) {
    (void)state;
    char how[200];
    size_t answered;
    assert_true(play(2, add_puppet, &answered, how) < SCRIPTS);
}

static void judge_strictly(lies_settings *settings) {
    settings->shares = settings->strict = true;
    settings->dropouts = 0.25;
    settings->minimum = 2;
}

/* Sums with shares of the noise may be over different sets; without the noise that would be too much. */
static void test_sums_over_different_sets_would_win_without_noise(void **state) {
    (void)state;
    char how[200];
    size_t answered;
    assert_true(play(3, judge_strictly, &answered, how) < SCRIPTS);
    assert_non_null(strstr(how, "the vector of party"));
}

static void forget(lies_settings *settings) { settings->draws = settings->forgetful = true; }

/* What parties keep of rosters and drawings is what holds the coordinator to them. */
static void test_parties_that_forget_would_lose(void **state) {
    (void)state;
    char how[200];
    size_t answered;
    assert_true(play(4, forget, &answered, how) < SCRIPTS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_stories_do_not_open_both_secrets_of_a_party),
        cmocka_unit_test(test_two_rounds_do_not_differ_by_one_party),
        cmocka_unit_test(test_no_party_takes_a_second_roster),
        cmocka_unit_test(test_no_party_takes_what_is_no_roster),
        cmocka_unit_test(test_two_lists_are_no_drawing),
        cmocka_unit_test(test_one_list_is_a_drawing),
        cmocka_unit_test(test_no_script_wins),
        cmocka_unit_test(test_one_puppet_more_than_declared_wins),
        cmocka_unit_test(test_sums_over_different_sets_would_win_without_noise),
        cmocka_unit_test(test_parties_that_forget_would_lose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
