/* Names for people in a coordinator's registry: given with an invitation, unique in a study, found again, and
 * no part of what parties are told apart by. */
#include "world.h"

static const int64_t FAR = (int64_t)1 << 40; /* invitations here end by the clock of the machine */

static tacit_status invite_as(world *w, const char *study, int number, const char *called, int64_t expires,
                              ticket *out) {
    *out = (ticket){ { (uint8_t)number } };
    return tacit_registry_invite(w->registry, study, out->hash, expires, called, &w->error);
}

typedef struct seen {
    size_t count;
    tacit_person list[8];
} seen;

static tacit_status see(void *context, const tacit_person *person, tacit_error *error) {
    seen *self = context;
    (void)error;
    self->list[self->count++] = *person;
    return TACIT_OK;
}

static seen people(world *w, const char *study) {
    seen all = { .count = 0 };
    CHECK_OK(tacit_registry_people(w->registry, study, 8, see, &all, &w->error), w->error);
    return all;
}

static void a_party_is_listed_and_found_by_the_name_of_its_invitation(void **state) {
    (void)state;
    world w = begin();
    ticket anna, other, third;
    char party[TACIT_ID_SIZE], second[TACIT_ID_SIZE], called[TACIT_PARTY_NAME_SIZE];
    tacit_person found;
    CHECK_OK(invite_as(&w, "s", 1, "St. Anna, Vienna", FAR, &anna), w.error);
    CHECK_OK(invite_as(&w, "s", 2, "", FAR, &other), w.error);
    CHECK_OK(invite_as(&w, "s", 3, "Charit\xc3\xa9", FAR, &third), w.error);
    CHECK_OK(tacit_registry_find(w.registry, "St. Anna, Vienna", NULL, &found, &w.error), w.error);
    assert_true(found.name[0] == 0 && found.standing == TACIT_PARTY_INVITED);
    join(&w, &other, 8, second);
    join(&w, &anna, 7, party);
    CHECK_OK(tacit_registry_called(w.registry, party, called, &w.error), w.error);
    assert_string_equal(called, "St. Anna, Vienna");
    CHECK_OK(tacit_registry_called(w.registry, second, called, &w.error), w.error);
    assert_string_equal(called, "");
    seen all = people(&w, "s");
    assert_int_equal(all.count, 3);
    assert_string_equal(all.list[0].name, second);
    assert_string_equal(all.list[1].called, "St. Anna, Vienna");
    assert_true(all.list[1].standing == TACIT_PARTY_JOINED && all.list[1].time == NOW);
    assert_string_equal(all.list[2].called, "Charit\xc3\xa9");
    assert_true(all.list[2].standing == TACIT_PARTY_INVITED && all.list[2].time == FAR);
    CHECK_OK(tacit_registry_find(w.registry, "st. anna, vienna", "s", &found, &w.error), w.error);
    assert_string_equal(found.name, party);
    CHECK_OK(tacit_registry_find(w.registry, second, NULL, &found, &w.error), w.error);
    assert_string_equal(found.name, second);
    fails(&w, tacit_registry_find(w.registry, "", NULL, &found, &w.error), TACIT_NOT_FOUND, "no party");
    fails(&w, tacit_registry_find(w.registry, "St. Anna", NULL, &found, &w.error), TACIT_NOT_FOUND,
          "tacit study status");
    CHECK_OK(tacit_registry_leave(w.registry, party, &w.error), w.error);
    assert_int_equal(people(&w, "s").list[1].standing, TACIT_PARTY_AWAY);
    end(&w);
}

static void a_name_is_given_once_in_a_study_until_it_is_free_again(void **state) {
    (void)state;
    world w = begin();
    ticket first, again;
    char party[TACIT_ID_SIZE];
    tacit_person found;
    CHECK_OK(invite_as(&w, "s", 1, "Anna", FAR, &first), w.error);
    fails(&w, invite_as(&w, "s", 2, "Anna", FAR, &again), TACIT_USAGE, "has an invitation");
    fails(&w, invite_as(&w, "s", 2, "ANNA", FAR, &again), TACIT_USAGE, "take it back");
    CHECK_OK(tacit_registry_take_back(w.registry, "s", "Anna", &w.error), w.error);
    fails(&w, tacit_registry_take_back(w.registry, "s", "Anna", &w.error), TACIT_USAGE, "no unused");
    char study[TACIT_ID_SIZE];
    fails(&w, tacit_registry_look(w.registry, first.hash, NOW, study, &w.error), TACIT_REFUSED, "not known");
    CHECK_OK(invite_as(&w, "s", 3, "Anna", 1, &again), w.error); /* nobody came in time */
    assert_int_equal(people(&w, "s").list[0].standing, TACIT_PARTY_EXPIRED);
    CHECK_OK(invite_as(&w, "s", 4, "Anna", FAR, &again), w.error);
    assert_int_equal(people(&w, "s").count, 1);
    join(&w, &again, 7, party);
    fails(&w, invite_as(&w, "s", 5, "Anna", FAR, &again), TACIT_USAGE, "tacit revoke");
    fails(&w, tacit_registry_take_back(w.registry, "s", "Anna", &w.error), TACIT_USAGE, "no unused");
    CHECK_OK(tacit_registry_revoke(w.registry, party, &w.error), w.error);
    CHECK_OK(invite_as(&w, "s", 5, "Anna", FAR, &again), w.error);
    assert_int_equal(people(&w, "s").count, 2);
    CHECK_OK(tacit_registry_find(w.registry, "Anna", NULL, &found, &w.error), w.error);
    assert_int_equal(found.standing, TACIT_PARTY_INVITED); /* not the one that was revoked */
    end(&w);
}

static void studies_have_names_of_their_own(void **state) {
    (void)state;
    world w = begin();
    ticket first, second;
    tacit_person found;
    CHECK_OK(tacit_registry_add_study(w.registry, "t", "definition", NULL, &w.error), w.error);
    CHECK_OK(invite_as(&w, "s", 1, "Anna", FAR, &first), w.error);
    CHECK_OK(invite_as(&w, "t", 2, "Anna", FAR, &second), w.error);
    fails(&w, tacit_registry_find(w.registry, "Anna", NULL, &found, &w.error), TACIT_USAGE,
          "name one with the option 'study'");
    CHECK_OK(tacit_registry_find(w.registry, "Anna", "t", &found, &w.error), w.error);
    assert_string_equal(found.study, "t");
    assert_int_equal(people(&w, "s").count, 1);
    end(&w);
}

static void a_hostile_name_is_refused_and_invites_nobody(void **state) {
    (void)state;
    world w = begin();
    ticket made;
    char study[TACIT_ID_SIZE], huge[TACIT_PARTY_NAME_MOST + 2];
    memset(huge, 'x', sizeof huge - 1);
    huge[sizeof huge - 1] = 0;
    const char *hostile[] = { "two\nlines", "esc\x1b[2J", "\xff", " x", "x  y", "party-5f0c1d2e3a4b", huge };
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        fails(&w, invite_as(&w, "s", 1, hostile[i], FAR, &made), TACIT_USAGE, "party's name");
        fails(&w, tacit_registry_look(w.registry, made.hash, NOW, study, &w.error), TACIT_REFUSED,
              "not known");
    }
    /* Text for a database, a page or a shell is text. */
    CHECK_OK(invite_as(&w, "s", 1, "'; DROP TABLE party; -- <b>%s</b> $(id)", FAR, &made), w.error);
    assert_string_equal(people(&w, "s").list[0].called, "'; DROP TABLE party; -- <b>%s</b> $(id)");
    end(&w);
}

/* A folder of the version before names: its parties and open invitations go on without one. */
static void a_folder_from_before_names_goes_on(void **state) {
    (void)state;
    world w = begin();
    ticket open = invite(&w, 1), used = invite(&w, 2), named;
    char party[TACIT_ID_SIZE], late[TACIT_ID_SIZE], path[128], called[TACIT_PARTY_NAME_SIZE];
    sqlite3 *file = NULL;
    join(&w, &used, 7, party);
    tacit_registry_close(w.registry);
    snprintf(path, sizeof path, "%s/coordinator.db", w.place.path);
    assert_int_equal(sqlite3_open(path, &file), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(
            file,
            "DROP INDEX invitation_free; DROP INDEX invitation_used; DROP INDEX invitation_party; "
            "DROP INDEX party_study; DROP INDEX party_gone; DROP INDEX signer_key; "
            "DROP TABLE applicant; DROP TABLE archived; ALTER TABLE party DROP COLUMN ask_again;"
            "DROP TABLE arm; DROP TABLE arm_group; DROP TABLE answered; DROP TABLE receipt; DROP TABLE "
            "redeemed; DROP TABLE contact; "
            "DROP TABLE pass; ALTER TABLE party DROP COLUMN called; ALTER TABLE invitation DROP COLUMN "
            "called; PRAGMA user_version = 5",
            NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(file);
    CHECK_OK(tacit_registry_open(&w.registry, w.place.path, false, &w.error), w.error);
    CHECK_OK(tacit_registry_called(w.registry, party, called, &w.error), w.error);
    assert_string_equal(called, "");
    join(&w, &open, 8, late);
    CHECK_OK(invite_as(&w, "s", 3, "Anna", FAR, &named), w.error);
    seen all = people(&w, "s");
    assert_int_equal(all.count, 3);
    assert_string_equal(all.list[0].name, party);
    assert_string_equal(all.list[1].name, late);
    assert_string_equal(all.list[2].called, "Anna");
    end(&w);
}

/* A round of several steps counts once, and a missed one is missed. */
static void who_missed_a_round_has_not_completed(void **state) {
    (void)state;
    world w = begin();
    ticket here = invite(&w, 1), away = invite(&w, 2);
    char whole[TACIT_ID_SIZE], partly[TACIT_ID_SIZE], path[128], study[TACIT_ID_SIZE], sql[160];
    sqlite3 *file = NULL;
    bool done = true, counted = false;
    join(&w, &here, 7, whole);
    join(&w, &away, 8, partly);
    CHECK_OK(tacit_registry_party_study(w.registry, whole, study, &w.error), w.error);
    CHECK_OK(tacit_registry_has_completed(w.registry, study, whole, &done, &w.error), w.error);
    assert_false(done); /* nothing was asked yet */
    for (uint64_t round = 0; round < 3; round++)
        for (int step = 0; step < 2; step++) {
            CHECK_OK(tacit_registry_note_round(w.registry, study, whole, 1, round, &counted, &w.error),
                     w.error);
            assert_int_equal(counted, step == 0);
            if (step == 0) { /* the first answer is refused, and a better one comes */
                CHECK_OK(tacit_registry_drop_round(w.registry, whole, 1, round, &w.error), w.error);
                CHECK_OK(tacit_registry_note_round(w.registry, study, whole, 1, round, &counted, &w.error),
                         w.error);
                assert_true(counted);
            }
            CHECK_OK(tacit_registry_note_round(w.registry, study, partly, 1, round, &counted, &w.error),
                     w.error);
            if (round == 1 && counted) /* refused, each time */
                CHECK_OK(tacit_registry_drop_round(w.registry, partly, 1, round, &w.error), w.error);
        }
    snprintf(path, sizeof path, "%s/coordinator.db", w.place.path);
    assert_int_equal(sqlite3_open(path, &file), SQLITE_OK);
    snprintf(sql, sizeof sql, "INSERT INTO journal VALUES ('%s', 2, x'00')",
             study); /* three rounds are finished */
    assert_int_equal(sqlite3_exec(file, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(file);
    CHECK_OK(tacit_registry_has_completed(w.registry, study, whole, &done, &w.error), w.error);
    assert_true(done);
    CHECK_OK(tacit_registry_has_completed(w.registry, study, partly, &done, &w.error), w.error);
    assert_false(done);
    uint8_t receipt[TACIT_HASH_BYTES] = { 1 };
    CHECK_OK(tacit_registry_redeem_receipt(w.registry, study, receipt, 1000, &w.error), w.error);
    assert_int_equal(tacit_registry_redeem_receipt(w.registry, study, receipt, 2000, NULL), TACIT_REFUSED);
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_party_is_listed_and_found_by_the_name_of_its_invitation),
        cmocka_unit_test(a_name_is_given_once_in_a_study_until_it_is_free_again),
        cmocka_unit_test(studies_have_names_of_their_own),
        cmocka_unit_test(a_hostile_name_is_refused_and_invites_nobody),
        cmocka_unit_test(who_missed_a_round_has_not_completed),
        cmocka_unit_test(a_folder_from_before_names_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
