/* The chain of statements by which an authority hands over to the next one: who is trusted when, what is
 * followed without asking, and that forged, replayed and forked statements are refused. */
#include <stdio.h>
#include <string.h>

#include "../store/folder.h"
#include "check.h"
#include "net/rotation.h"

enum { FIRST, SECOND, THIRD, FOREIGN, AUTHORITIES, DAY = 86400 };

static const int64_t start = 1790000000;

typedef struct world {
    folder place;
    tacit_authority *of[AUTHORITIES];
    tacit_buffer anchor; /* the first one's certificate */
    tacit_handovers known, chain;
    tacit_error error;
} world;

static world begin(void) {
    world w = { .place = folder_make(), .error = TACIT_ERROR_INIT };
    char path[128];
    for (int i = 0; i < AUTHORITIES; i++) {
        snprintf(path, sizeof path, "%s/%d", w.place.path, i);
        CHECK_OK(tacit_authority_create(&w.of[i], path, "same name", &w.error), w.error);
    }
    const char *pem = tacit_authority_pem(w.of[FIRST]);
    CHECK_OK(tacit_buffer_append(&w.anchor, pem, strlen(pem), &w.error), w.error);
    return w;
}

static void end(world *w) {
    for (int i = 0; i < AUTHORITIES; i++) tacit_authority_free(w->of[i]);
    tacit_buffer_clear(&w->anchor);
    tacit_handovers_clear(&w->known);
    tacit_handovers_clear(&w->chain);
    folder_remove(&w->place);
}

static const char *print_of(const world *w, int which) {
    return tacit_authority_info(w->of[which])->fingerprint;
}

static void hand_over(world *w, tacit_handovers *chain, int old, int new, int64_t from, int64_t until) {
    CHECK_OK(tacit_handovers_add(chain, w->of[old], w->of[new], from, until, false, &w->error), w->error);
}

/* First to second at the start, for 30 days; second to third after 10 days, for 30. */
static void two_hand_overs(world *w) {
    hand_over(w, &w->chain, FIRST, SECOND, start, start + 30 * DAY);
    hand_over(w, &w->chain, SECOND, THIRD, start + 10 * DAY, start + 40 * DAY);
}

static tacit_status follow(world *w, const tacit_handovers *heard, int64_t now, const char *confirmed,
                           tacit_following *result) {
    w->error = (tacit_error)TACIT_ERROR_INIT;
    return tacit_handovers_follow(&w->known, &w->anchor, heard, now, confirmed, result, &w->error);
}

static size_t trusted(const world *w, const tacit_handovers *chain, int64_t now, int64_t *changes) {
    tacit_buffer pem = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    size_t count = 0;
    CHECK_OK(tacit_handovers_trusted(chain, &w->anchor, now, &pem, changes, &error), error);
    for (const char *at = tacit_buffer_text(&pem); (at = strstr(at, "BEGIN CERTIFICATE")) != NULL; at++)
        count++;
    tacit_buffer_clear(&pem);
    return count;
}

static void each_authority_is_trusted_until_its_day(void **state) {
    (void)state;
    world w = begin();
    int64_t changes = -1;
    assert_int_equal(trusted(&w, &w.chain, start, &changes), 1);
    assert_int_equal(changes, 0);
    two_hand_overs(&w);
    assert_int_equal(trusted(&w, &w.chain, start + 30 * DAY, &changes), 3);
    assert_int_equal(changes, start + 30 * DAY + 1);
    assert_int_equal(tacit_handovers_oldest(&w.chain, start + 30 * DAY), 0);
    assert_int_equal(trusted(&w, &w.chain, start + 30 * DAY + 1, &changes), 2);
    assert_int_equal(changes, start + 40 * DAY + 1);
    assert_int_equal(trusted(&w, &w.chain, start + 40 * DAY + 1, &changes), 1);
    assert_int_equal(changes, 0);
    CHECK_OK(tacit_handovers_add(&w.chain, w.of[THIRD], w.of[FOREIGN], start + 11 * DAY, start + 11 * DAY,
                                 true, &w.error),
             w.error);
    assert_int_equal(trusted(&w, &w.chain, start + 11 * DAY, &changes), 1); /* all earlier ones, at once */
    end(&w);
}

static void a_planned_chain_is_followed_one_after_another(void **state) {
    (void)state;
    world w = begin();
    tacit_following result;
    two_hand_overs(&w);
    CHECK_OK(follow(&w, &w.chain, start + 20 * DAY, NULL, &result), w.error);
    assert_int_equal(result, TACIT_FOLLOWING_DONE);
    assert_int_equal(w.known.count, 2);
    assert_string_equal(w.known.entries[1].new.fingerprint, print_of(&w, THIRD));
    CHECK_OK(follow(&w, &w.chain, start + 20 * DAY, NULL, &result), w.error);
    assert_int_equal(result, TACIT_FOLLOWING_NOTHING);
    end(&w);
}

static void whoever_comes_too_late_needs_the_owners_word(void **state) {
    (void)state;
    world w = begin();
    tacit_following result;
    two_hand_overs(&w);
    int64_t late = start + 30 * DAY + TACIT_HANDOVER_SKEW + 1;
    CHECK_OK(follow(&w, &w.chain, late, NULL, &result), w.error);
    assert_int_equal(result, TACIT_FOLLOWING_LATE);
    assert_int_equal(w.known.count, 0);
    assert_int_equal(follow(&w, &w.chain, late, print_of(&w, FOREIGN), &result), TACIT_REFUSED);
    assert_non_null(strstr(w.error.text, print_of(&w, THIRD)));
    assert_int_equal(follow(&w, &w.chain, late, print_of(&w, SECOND), &result), TACIT_REFUSED);
    CHECK_OK(follow(&w, &w.chain, late, print_of(&w, THIRD), &result), w.error);
    assert_int_equal(result, TACIT_FOLLOWING_DONE);
    assert_int_equal(w.known.count, 2);
    end(&w);
}

static void a_stolen_key_is_never_followed_without_the_owners_word(void **state) {
    (void)state;
    world w = begin();
    tacit_following result;
    CHECK_OK(tacit_handovers_add(&w.chain, w.of[FIRST], w.of[SECOND], start, start, true, &w.error), w.error);
    hand_over(&w, &w.chain, SECOND, THIRD, start, start + 30 * DAY);
    CHECK_OK(follow(&w, &w.chain, start, NULL, &result), w.error);
    assert_int_equal(result, TACIT_FOLLOWING_STOLEN);
    assert_int_equal(w.known.count, 0);
    CHECK_OK(follow(&w, &w.chain, start, print_of(&w, THIRD), &result), w.error);
    assert_int_equal(w.known.count, 2);
    end(&w);
}

static void earlier_states_and_forks_are_refused(void **state) {
    (void)state;
    world w = begin();
    tacit_handovers first = { .count = 0 }, fork = { .count = 0 }, none = { .count = 0 };
    tacit_following result;
    two_hand_overs(&w);
    hand_over(&w, &first, FIRST, SECOND, start, start + 30 * DAY);
    hand_over(&w, &fork, FIRST, FOREIGN, start, start + 30 * DAY);
    hand_over(&w, &fork, FOREIGN, THIRD, start, start + 300 * DAY);
    CHECK_OK(follow(&w, &w.chain, start, NULL, &result), w.error);
    assert_int_equal(follow(&w, &first, start, NULL, &result), TACIT_REFUSED);
    assert_non_null(strstr(w.error.text, "earlier state"));
    assert_int_equal(follow(&w, &none, start, NULL, &result), TACIT_REFUSED);
    assert_non_null(strstr(w.error.text, "earlier state"));
    assert_int_equal(follow(&w, &fork, start, NULL, &result), TACIT_REFUSED);
    assert_non_null(strstr(w.error.text, "two hand-over statements"));
    assert_int_equal(w.known.count, 2);
    assert_string_equal(w.known.entries[0].new.fingerprint, print_of(&w, SECOND));
    assert_int_equal(follow(&w, &first, start, print_of(&w, SECOND), &result), TACIT_REFUSED);
    assert_non_null(strstr(w.error.text, "left behind"));
    tacit_handovers_clear(&first);
    tacit_handovers_clear(&fork);
    end(&w);
}

static void the_owners_word_settles_a_fork(void **state) {
    (void)state;
    world w = begin();
    tacit_handovers fork = { .count = 0 };
    tacit_following result;
    hand_over(&w, &w.chain, FIRST, SECOND, start, start + 30 * DAY);
    hand_over(&w, &fork, FIRST, FOREIGN, start, start + 30 * DAY);
    CHECK_OK(follow(&w, &fork, start, NULL, &result),
             w.error); /* a thief of the first one's key was faster */
    assert_int_equal(follow(&w, &w.chain, start, NULL, &result), TACIT_REFUSED);
    CHECK_OK(follow(&w, &w.chain, start, print_of(&w, SECOND), &result), w.error);
    assert_string_equal(w.known.entries[0].new.fingerprint, print_of(&w, SECOND));
    tacit_handovers_clear(&fork);
    end(&w);
}

static void a_chain_of_another_consortium_is_refused(void **state) {
    (void)state;
    world w = begin();
    tacit_handovers other = { .count = 0 };
    tacit_following result;
    hand_over(&w, &other, FOREIGN, SECOND, start, start + 30 * DAY);
    assert_int_equal(follow(&w, &other, start, NULL, &result), TACIT_REFUSED);
    assert_int_equal(follow(&w, &other, start, print_of(&w, SECOND), &result), TACIT_REFUSED);
    assert_int_equal(w.known.count, 0);
    tacit_handovers_clear(&other);
    end(&w);
}

static void whoever_joins_in_an_overlap_trusts_both(void **state) {
    (void)state;
    world w = begin();
    tacit_following result;
    two_hand_overs(&w);
    tacit_buffer_clear(&w.anchor);
    const char *pem = tacit_authority_pem(w.of[THIRD]);
    CHECK_OK(tacit_buffer_append(&w.anchor, pem, strlen(pem), &w.error), w.error);
    CHECK_OK(follow(&w, &w.chain, start + 35 * DAY, NULL, &result), w.error);
    assert_int_equal(result, TACIT_FOLLOWING_DONE);
    assert_int_equal(trusted(&w, &w.known, start + 35 * DAY, NULL), 2);
    end(&w);
}

/* ---- a folder ---- */

static tacit_authority_keys *keys_at(world *w, const char *home, int64_t now) {
    tacit_authority_keys *keys = NULL;
    CHECK_OK(tacit_authority_keys_load(&keys, home, now, &w->error), w->error);
    return keys;
}

static bool has(const char *home, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", home, name);
    return access(path, F_OK) == 0;
}

static tacit_status rotate(world *w, const char *home, int64_t now, int64_t days, bool stolen) {
    tacit_handovers chain = { .count = 0 };
    tacit_status status = tacit_authority_rotate(home, now, days * DAY, stolen, &chain, &w->error);
    tacit_handovers_clear(&chain);
    return status;
}

static void a_key_is_kept_until_its_time_is_over(void **state) {
    (void)state;
    world w = begin();
    char home[128];
    snprintf(home, sizeof home, "%s/%d", w.place.path, FIRST);
    CHECK_OK(rotate(&w, home, start, 30, false), w.error);
    const char *first = tacit_authority_info(w.of[FIRST])->key_id;
    tacit_authority_keys *keys = keys_at(&w, home, start + 30 * DAY);
    assert_string_equal(tacit_authority_info(keys->shown)->fingerprint, print_of(&w, FIRST));
    assert_string_not_equal(tacit_authority_info(keys->present)->fingerprint, print_of(&w, FIRST));
    assert_int_equal(keys->changes, start + 30 * DAY + 1);
    assert_false(tacit_authority_keys_retired(keys, first));
    assert_true(tacit_authority_keys_retired(keys, tacit_authority_info(w.of[FOREIGN])->key_id));
    assert_true(has(home, "ca.0.key"));
    tacit_authority_keys_free(keys);
    keys = keys_at(&w, home, start + 30 * DAY + 1);
    assert_ptr_equal(keys->shown, keys->present);
    assert_true(tacit_authority_keys_retired(keys, first));
    assert_false(tacit_authority_keys_retired(keys, tacit_authority_info(keys->present)->key_id));
    assert_false(has(home, "ca.0.key"));
    assert_int_equal(keys->changes, 0);
    tacit_authority_keys_free(keys);
    end(&w);
}

static void of_a_stolen_key_nothing_is_kept(void **state) {
    (void)state;
    world w = begin();
    char home[128];
    snprintf(home, sizeof home, "%s/%d", w.place.path, FIRST);
    CHECK_OK(rotate(&w, home, start, 30, false), w.error);
    CHECK_OK(rotate(&w, home, start + DAY, 0, true), w.error);
    assert_false(has(home, "ca.0.key") || has(home, "ca.1.key"));
    tacit_authority_keys *keys = keys_at(&w, home, start + DAY);
    assert_ptr_equal(keys->shown, keys->present);
    assert_true(tacit_authority_keys_retired(keys, tacit_authority_info(w.of[FIRST])->key_id));
    tacit_authority_keys_free(keys);
    end(&w);
}

static void no_more_authorities_are_trusted_at_once_than_fit(void **state) {
    (void)state;
    world w = begin();
    char home[128];
    snprintf(home, sizeof home, "%s/%d", w.place.path, FIRST);
    for (int i = 1; i < TACIT_TRUSTED_MOST; i++) CHECK_OK(rotate(&w, home, start, 30, false), w.error);
    assert_int_equal(rotate(&w, home, start, 30, false), TACIT_USAGE);
    assert_int_equal(rotate(&w, home, start + 31 * DAY, 1, false), TACIT_OK);
    assert_int_equal(rotate(&w, home, start + 31 * DAY, 0, false),
                     TACIT_USAGE); /* ends before the last one's */
    end(&w);
}

/* Put `text` in place of the first line of a chain that begins with `key`. */
static tacit_status with_line(world *w, const char *key, const char *text) {
    tacit_buffer changed = TACIT_BUFFER_INIT;
    tacit_handovers read = { .count = 0 };
    const char *all = tacit_buffer_text(&w->chain.text), *at = strstr(all, key), *rest = strchr(at, '\n') + 1;
    w->error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(tacit_buffer_append(&changed, all, (size_t)(at - all), &w->error), w->error);
    CHECK_OK(tacit_buffer_print(&changed, &w->error, "%s%s", text, rest), w->error);
    tacit_status status = tacit_handovers_read(&read, changed.bytes, changed.length, &w->error);
    tacit_buffer_clear(&changed);
    tacit_handovers_clear(&read);
    return status;
}

static void whatever_was_changed_or_signed_by_another_is_refused(void **state) {
    (void)state;
    world w = begin();
    char line[64];
    two_hand_overs(&w);
    snprintf(line, sizeof line, "until %lld\n", (long long)start + 31 * DAY);
    assert_int_equal(with_line(&w, "until ", line), TACIT_REFUSED);
    assert_non_null(strstr(w.error.text, "not signed by the old authority"));
    assert_int_equal(with_line(&w, "reason ", "reason stolen\n"), TACIT_REFUSED);
    assert_int_equal(with_line(&w, "reason ", "reason none\n"), TACIT_PROTOCOL);
    assert_int_equal(with_line(&w, "sequence ", "sequence 2\n"), TACIT_PROTOCOL);
    assert_int_equal(with_line(&w, "sequence ", "sequence 01\n"), TACIT_PROTOCOL);
    assert_int_equal(with_line(&w, "new-signature ", ""), TACIT_PROTOCOL); /* of the old key alone */
    assert_int_equal(with_line(&w, "old-signature ", ""), TACIT_PROTOCOL);
    end(&w);
}

/* The bytes of a statement of one chain with the signatures of another. */
static void signatures_of_others_do_not_serve(void **state) {
    (void)state;
    world w = begin();
    tacit_handovers other = { .count = 0 }, read = { .count = 0 };
    tacit_buffer mixed = TACIT_BUFFER_INIT;
    hand_over(&w, &w.chain, FIRST, SECOND, start, start + 30 * DAY);
    hand_over(&w, &other, FOREIGN, SECOND, start, start + 30 * DAY);
    CHECK_OK(tacit_buffer_append(&mixed, w.chain.text.bytes, w.chain.entries[0].terms, &w.error), w.error);
    CHECK_OK(tacit_buffer_append(&mixed, other.text.bytes + other.entries[0].terms,
                                 other.text.length - other.entries[0].terms, &w.error),
             w.error);
    assert_int_equal(tacit_handovers_read(&read, mixed.bytes, mixed.length, &w.error), TACIT_REFUSED);
    tacit_buffer_clear(&mixed);
    tacit_handovers_clear(&other);
    end(&w);
}

static void a_statement_must_follow_the_one_before_it(void **state) {
    (void)state;
    world w = begin();
    two_hand_overs(&w);
    assert_int_equal(tacit_handovers_add(&w.chain, w.of[FIRST], w.of[FOREIGN], start + 20 * DAY,
                                         start + 50 * DAY, false, &w.error),
                     TACIT_USAGE);
    assert_int_equal(tacit_handovers_add(&w.chain, w.of[THIRD], w.of[FOREIGN], start + 20 * DAY,
                                         start + 39 * DAY, false, &w.error),
                     TACIT_USAGE);
    assert_int_equal(tacit_handovers_add(&w.chain, w.of[THIRD], w.of[FOREIGN], start + 9 * DAY,
                                         start + 50 * DAY, false, &w.error),
                     TACIT_USAGE);
    assert_int_equal(w.chain.count, 2);
    end(&w);
}

static void a_signature_counts_from_any_of_several_authorities(void **state) {
    (void)state;
    world w = begin();
    tacit_buffer all = TACIT_BUFFER_INIT, signature = TACIT_BUFFER_INIT;
    two_hand_overs(&w);
    CHECK_OK(tacit_handovers_all(&w.chain, &w.anchor, &all, &w.error), w.error);
    for (int i = FIRST; i < AUTHORITIES; i++) {
        signature.length = 0;
        CHECK_OK(tacit_authority_sign(&signature, w.of[i], "test", "text", 4, &w.error), w.error);
        assert_int_equal(tacit_authority_check(all.bytes, all.length, "test", "text", 4, signature.bytes,
                                               signature.length, &w.error),
                         i == FOREIGN ? TACIT_REFUSED : TACIT_OK);
    }
    tacit_buffer_clear(&all);
    tacit_buffer_clear(&signature);
    end(&w);
}

static void fingerprints_are_read_as_people_write_them(void **state) {
    (void)state;
    char out[TACIT_FINGERPRINT_SIZE];
    const char *plain = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    CHECK_OK(tacit_fingerprint_read(out, plain, NULL), (tacit_error)TACIT_ERROR_INIT);
    assert_string_equal(out, plain);
    assert_int_equal(tacit_fingerprint_read(out,
                                            "01:23:45:67:89:AB:CD:EF 0123456789abcdef0123456789abcdef "
                                            "0123456789ABCDEF",
                                            NULL),
                     TACIT_OK);
    assert_string_equal(out, plain);
    assert_int_equal(tacit_fingerprint_read(out, "0123456789abcdef", NULL), TACIT_USAGE);
    assert_int_equal(tacit_fingerprint_read(out, "", NULL), TACIT_USAGE);
    assert_int_equal(tacit_fingerprint_read(
                         out, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0", NULL),
                     TACIT_USAGE);
    assert_int_equal(
        tacit_fingerprint_read(out, "g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", NULL),
        TACIT_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_authority_is_trusted_until_its_day),
        cmocka_unit_test(a_planned_chain_is_followed_one_after_another),
        cmocka_unit_test(whoever_comes_too_late_needs_the_owners_word),
        cmocka_unit_test(a_stolen_key_is_never_followed_without_the_owners_word),
        cmocka_unit_test(earlier_states_and_forks_are_refused),
        cmocka_unit_test(the_owners_word_settles_a_fork),
        cmocka_unit_test(a_chain_of_another_consortium_is_refused),
        cmocka_unit_test(whoever_joins_in_an_overlap_trusts_both),
        cmocka_unit_test(a_key_is_kept_until_its_time_is_over),
        cmocka_unit_test(of_a_stolen_key_nothing_is_kept),
        cmocka_unit_test(no_more_authorities_are_trusted_at_once_than_fit),
        cmocka_unit_test(whatever_was_changed_or_signed_by_another_is_refused),
        cmocka_unit_test(signatures_of_others_do_not_serve),
        cmocka_unit_test(a_statement_must_follow_the_one_before_it),
        cmocka_unit_test(a_signature_counts_from_any_of_several_authorities),
        cmocka_unit_test(fingerprints_are_read_as_people_write_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
