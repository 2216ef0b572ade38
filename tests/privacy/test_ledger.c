#include "party.h"

#include <sqlite3.h>

/* Change the file behind the ledger's back. */
static void tamper(const party *self, const char *sql) {
    sqlite3 *connection = NULL;
    char *message = NULL;
    assert_int_equal(sqlite3_open(self->place.file, &connection), SQLITE_OK);
    if (sqlite3_exec(connection, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s: %s", sql, message);
    assert_true(sqlite3_total_changes(connection) > 0);
    sqlite3_close(connection);
}

/* A party with entries: 1 limit, 2 consent, 3 to 6 charges, 7 refusal. */
static void party_with_history(party *self) {
    party_ready(self);
    for (int i = 0; i < 4; i++) {
        tacit_release release = sample_release(i);
        CHECK_OK(party_release(self, &release), self->error);
    }
    tacit_release release = sample_release(9);
    release.rows = 1;
    party_refuses(self, &release, TACIT_REFUSED, "1 rows");
    self->error = (tacit_error)TACIT_ERROR_INIT;
}

static void totals_survive_a_restart(void **state) {
    (void)state;
    party self;
    party_with_history(&self);
    for (int i = 10; i < 20; i++) {
        tacit_ledger_free(self.ledger);
        party_open(&self, TACIT_LEDGER_EXISTING);
        CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_RECORD), 1 + 0.25 * (i - 10), 0);
        tacit_release release = sample_release(i);
        CHECK_OK(party_release(&self, &release), self.error);
    }
    party_verifies(&self, 17);
    party_end(&self);
}

static void sources_in_one_file_are_charged_apart(void **state) {
    (void)state;
    party self;
    party_with_history(&self);
    tacit_ledger *other = NULL;
    tacit_account account;
    CHECK_OK(tacit_ledger_open(&other, self.place.file, "ward-8", TACIT_LEDGER_EXISTING, &self.error),
             self.error);
    CHECK_OK(tacit_ledger_account(&account, other, NULL, TACIT_UNIT_RECORD, &self.error), self.error);
    assert_false(account.limited);
    CHECK_NEAR(account.spent_epsilon, 0, 0);
    const tacit_price limit = { TACIT_UNIT_RECORD, 0.25, 0 };
    tacit_release release = sample_release(1); /* the same answer id, but another source: its own answer */
    tacit_gate gate;
    CHECK_OK(tacit_gate_init(&gate, other, &self.policy, TACIT_GATE_REAL, &self.error), self.error);
    CHECK_OK(tacit_ledger_set_limit(other, NULL, &limit, &self.error), self.error);
    assert_int_equal(tacit_gate_release(&gate, &release, &self.out, NULL), TACIT_REFUSED); /* no consent */
    CHECK_OK(tacit_ledger_consent(other, STUDY, release.study_hash, &self.error), self.error);
    CHECK_OK(tacit_gate_release(&gate, &release, &self.out, &self.error), self.error);
    CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_RECORD), 1, 0);
    assert_int_equal(party_log(&self).kinds[TACIT_ENTRY_CHARGE], 4);
    party_verifies(&self, 11);
    tacit_ledger_free(other);
    party_end(&self);
}

static tacit_status collect(void *context, const char *name, tacit_error *error) {
    (void)error;
    strcat(strcat(context, name), " ");
    return TACIT_OK;
}

static tacit_status stop_at_second(void *context, const tacit_entry *entry, tacit_error *error) {
    int *seen = context;
    (void)entry;
    return ++*seen == 2 ? tacit_fail(error, TACIT_CANCELLED, "enough") : TACIT_OK;
}

static tacit_status look_at_charge(void *context, const tacit_entry *entry, tacit_error *error) {
    tacit_release expected = sample_release(1);
    (void)error;
    assert_int_equal(entry->number, 4);
    assert_int_equal(entry->kind, TACIT_ENTRY_CHARGE);
    assert_true(entry->time > 1600000000000);
    assert_string_equal(entry->source, SOURCE);
    assert_string_equal(entry->about.study, STUDY);
    assert_string_equal(entry->about.method, "avg");
    assert_string_equal(entry->about.question, "weights");
    assert_string_equal(entry->about.coordinator, "uni-hospital");
    assert_string_equal(entry->about.assumption, "");
    assert_string_equal(entry->reason, "");
    assert_int_equal(entry->about.round, 1);
    assert_int_equal(entry->about.rows, 100);
    assert_int_equal(entry->about.parameters, 31);
    assert_int_equal(entry->about.parties_declared, 5);
    assert_int_equal(entry->about.parties_minimum, 3);
    assert_int_equal(entry->about.payload_length, expected.payload_length);
    assert_memory_equal(entry->about.answer_id, expected.answer_id, sizeof expected.answer_id);
    assert_memory_equal(entry->about.question_hash, expected.question_hash, TACIT_HASH_BYTES);
    assert_memory_equal(entry->about.study_hash, expected.study_hash, TACIT_HASH_BYTES);
    CHECK_NEAR(entry->about.price.epsilon, 0.25, 0);
    *(int *)context = 1;
    return tacit_fail(error, TACIT_CANCELLED, "seen");
}

static void the_owner_can_read_everything(void **state) {
    (void)state;
    party self;
    int seen = 0;
    char names[256] = "";
    party_with_history(&self);
    const tacit_price limit = { TACIT_UNIT_PARTY, 1, 0 };
    CHECK_OK(tacit_ledger_set_limit(self.ledger, "lungs", &limit, &self.error), self.error);
    tacit_ledger_free(self.ledger);
    party_open(&self, TACIT_LEDGER_READING);
    assert_int_equal(tacit_ledger_list(self.ledger, 3, look_at_charge, &seen, NULL), TACIT_CANCELLED);
    assert_int_equal(seen, 1);
    seen = 0;
    assert_int_equal(tacit_ledger_list(self.ledger, 0, stop_at_second, &seen, NULL), TACIT_CANCELLED);
    assert_int_equal(seen, 2);
    assert_int_equal(tacit_ledger_list(self.ledger, UINT64_MAX, stop_at_second, &seen, NULL), TACIT_OK);
    CHECK_OK(tacit_ledger_studies(self.ledger, collect, names, &self.error), self.error);
    assert_string_equal(names, "heart lungs ");
    names[0] = 0;
    CHECK_OK(tacit_ledger_sources(self.ledger, collect, names, &self.error), self.error);
    assert_string_equal(names, SOURCE " ");
    party_verifies(&self, 8); /* reading is enough to verify */
    party_end(&self);
}

static void a_ledger_that_cannot_be_written_lets_nothing_out(void **state) {
    (void)state;
    party self;
    party_with_history(&self);
    tacit_ledger_free(self.ledger);
    party_open(&self, TACIT_LEDGER_READING);
    size_t length = self.out.length;
    tacit_release release = sample_release(20);
    assert_int_equal(party_release(&self, &release), TACIT_IO);
    assert_non_null(strstr(self.error.text, self.place.file));
    assert_non_null(strstr(self.error.text, "writable for this user"));
    release.rows = 1; /* the reason is heard although the refusal cannot be logged */
    assert_int_equal(party_release(&self, &release), TACIT_REFUSED);
    assert_non_null(strstr(self.error.text, "1 rows"));
    assert_non_null(strstr(self.error.text, "not logged"));
    assert_int_equal(self.out.length, length);
    party_end(&self);
}

static void senseless_limits_and_names_are_refused(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    static const tacit_price limits[] = { { TACIT_UNIT_RECORD, NAN, 0 },      { TACIT_UNIT_RECORD, -1, 0 },
                                          { TACIT_UNIT_RECORD, INFINITY, 0 }, { TACIT_UNIT_RECORD, 1, 1 },
                                          { TACIT_UNIT_RECORD, 1, NAN },      { TACIT_UNIT_RECORD, 1, -1 } };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        assert_int_equal(tacit_ledger_set_limit(self.ledger, NULL, &limits[i], NULL), TACIT_INPUT);
    const tacit_price odd_unit = { (tacit_unit)5, 1, 0 }, right = { TACIT_UNIT_RECORD, 1, 0 };
    tacit_account account;
    assert_int_equal(tacit_ledger_set_limit(self.ledger, NULL, &odd_unit, NULL), TACIT_USAGE);
    assert_int_equal(tacit_ledger_set_limit(self.ledger, "", &right, NULL), TACIT_INPUT);
    assert_int_equal(tacit_ledger_account(&account, self.ledger, NULL, (tacit_unit)5, NULL), TACIT_USAGE);
    assert_int_equal(tacit_ledger_withdraw(self.ledger, "\n", NULL), TACIT_INPUT);
    tacit_ledger *ledger = NULL;
    assert_int_equal(tacit_ledger_open(&ledger, self.place.file, "", TACIT_LEDGER_CREATE, NULL), TACIT_INPUT);
    assert_int_equal(tacit_ledger_open(&ledger, "/tmp/tacit-none.db", "s", TACIT_LEDGER_EXISTING, NULL),
                     TACIT_NOT_FOUND);
    assert_null(tacit_ledger_free(NULL));
    party_verifies(&self, 2);
    party_end(&self);
}

/* Each change by SQL, the entry that verification must name (0: beside the log), and a word of its sentence.
 */
static const struct {
    const char *sql;
    uint64_t broken;
    const char *sentence;
} changes[] = {
    { "UPDATE log SET body = CAST(substr(body, 1, 40) || x'ff' || substr(body, 42) AS BLOB) WHERE entry = 4",
      4, "changed" },
    { "UPDATE log SET body = x'00' WHERE entry = 5", 5, "cannot be read" },
    { "UPDATE log SET body = zeroblob(9000) WHERE entry = 1", 1, "cannot be read" },
    { "UPDATE log SET hash = zeroblob(32) WHERE entry = 2", 2, "changed" },
    { "UPDATE log SET hash = x'01' WHERE entry = 3", 3, "cannot be read" },
    { "PRAGMA foreign_keys = OFF; DELETE FROM log WHERE entry = 3", 3, "missing" },
    { "DELETE FROM log WHERE entry = 7", 7, "cut off" },
    { "DELETE FROM log WHERE entry = 7; UPDATE head SET entries = 6", 7, "cut off" },
    { "UPDATE head SET hash = zeroblob(32)", 8, "cut off" },
    { "DELETE FROM head", 8, "cut off" },
    { "UPDATE log SET entry = 100 WHERE entry = 7", 7, "missing" },
    { "UPDATE log SET body = (SELECT body FROM log WHERE entry = 3) WHERE entry = 4", 4, "changed" },
    { "UPDATE answer SET payload = x'00' WHERE entry = 5", 5, "not the one released" },
    { "UPDATE answer SET id = x'ffffffffffffffffffffffffffffffff' WHERE entry = 6", 6,
      "not the one released" },
    { "UPDATE answer SET question_hash = zeroblob(32) WHERE entry = 6", 6, "not the one released" },
    { "DELETE FROM answer WHERE entry = 3", 3, "answer is missing" },
    { "INSERT INTO answer VALUES (7, 'ward-7', x'ffffffffffffffffffffffffffffffff', zeroblob(32), x'00')", 0,
      "stored answers" },
    { "UPDATE spending SET epsilon = epsilon - 0.25", 0, "totals" },
    { "DELETE FROM spending WHERE study = ''", 0, "totals" },
    { "INSERT INTO spending VALUES ('ward-7', 'ghost', 0, 0.0, 0.0)", 0, "totals" },
    { "UPDATE limits SET epsilon = 1000", 0, "limits" },
    { "INSERT INTO limits VALUES ('ward-7', '', 1, 1000.0, 0.5)", 0, "limits" },
    { "UPDATE consent SET given = 0", 0, "consents" },
    { "DELETE FROM consent", 0, "consents" },
};

static void verification_names_the_first_broken_entry(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        party self;
        tacit_verdict verdict = { .broken = 99 };
        char named[32];
        party_with_history(&self);
        party_verifies(&self, 7);
        tamper(&self, changes[i].sql);
        if (tacit_ledger_verify(&verdict, self.ledger, &self.error) != TACIT_CORRUPT)
            fail_msg("not noticed: %s", changes[i].sql);
        if (verdict.broken != changes[i].broken || strstr(self.error.text, changes[i].sentence) == NULL)
            fail_msg("%s: broken %d, %s", changes[i].sql, (int)verdict.broken, self.error.text);
        assert_int_equal(verdict.entries, changes[i].broken > 0 ? changes[i].broken - 1 : 7);
        snprintf(named, sizeof named, "entry %d of", (int)changes[i].broken);
        if (changes[i].broken > 0) assert_non_null(strstr(self.error.text, named));
        assert_non_null(strstr(self.error.text, self.place.file));
        assert_non_null(strstr(self.error.text, "restore"));
        party_end(&self);
    }
}

static void a_log_without_its_end_takes_no_more_charges(void **state) {
    (void)state;
    party self;
    party_with_history(&self);
    tamper(&self, "DELETE FROM log WHERE entry = 7");
    size_t length = self.out.length;
    tacit_release release = sample_release(20);
    assert_int_equal(party_release(&self, &release), TACIT_CORRUPT);
    assert_non_null(strstr(self.error.text, "verify the ledger"));
    assert_int_equal(self.out.length, length);
    party_end(&self);
}

/* Any single byte of a log entry, not only those picked above. */
static void every_byte_of_an_entry_counts(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    sqlite3 *connection = NULL;
    assert_int_equal(sqlite3_open(self.place.file, &connection), SQLITE_OK);
    for (int at = 1; at <= 300; at += 7) {
        char sql[256];
        tacit_verdict verdict;
        snprintf(sql, sizeof sql,
                 "SAVEPOINT s; CREATE TEMP TABLE IF NOT EXISTS kept AS SELECT body FROM log WHERE entry = 2;"
                 "UPDATE log SET body = CAST(substr(body, 1, %d) || x'%s' || substr(body, %d + 2) AS BLOB) "
                 "WHERE entry = 2;"
                 "RELEASE s",
                 at - 1, "a7", at - 1);
        assert_int_equal(sqlite3_exec(connection, sql, NULL, NULL, NULL), SQLITE_OK);
        tacit_status status = tacit_ledger_verify(&verdict, self.ledger, NULL);
        if (status != TACIT_CORRUPT || verdict.broken != 2) fail_msg("byte %d does not count", at);
        assert_int_equal(sqlite3_exec(connection,
                                      "UPDATE log SET body = (SELECT body FROM kept) WHERE entry = 2", NULL,
                                      NULL, NULL),
                         SQLITE_OK);
        party_verifies(&self, 2);
    }
    sqlite3_close(connection);
    party_end(&self);
}

static void a_damaged_file_is_refused_at_the_door(void **state) {
    (void)state;
    static const long cuts[] = { 0, 100, 4096, 9000 };
    for (size_t i = 0; i < 4; i++) {
        party self;
        tacit_verdict verdict;
        party_with_history(&self);
        self.ledger = tacit_ledger_free(self.ledger);
        assert_int_equal(truncate(self.place.file, cuts[i]), 0);
        tacit_status status =
            tacit_ledger_open(&self.ledger, self.place.file, SOURCE, TACIT_LEDGER_CREATE, &self.error);
        if (status == TACIT_OK) status = tacit_ledger_verify(&verdict, self.ledger, &self.error);
        assert_int_equal(status, TACIT_CORRUPT);
        if (strstr(self.error.text, "restore") == NULL) fail_msg("%ld: %s", cuts[i], self.error.text);
        party_end(&self);
    }
    party self;
    party_with_history(&self);
    self.ledger = tacit_ledger_free(self.ledger);
    FILE *file = fopen(self.place.file, "r+b");
    assert_non_null(file);
    assert_int_equal(fwrite("garbage garbage ", 1, 16, file), 16);
    fclose(file);
    assert_int_equal(
        tacit_ledger_open(&self.ledger, self.place.file, SOURCE, TACIT_LEDGER_EXISTING, &self.error),
        TACIT_CORRUPT);
    assert_non_null(strstr(self.error.text, self.place.file));
    party_end(&self);
}

static void a_ledger_of_a_newer_program_is_refused(void **state) {
    (void)state;
    party self;
    party_ready(&self);
    sqlite3 *connection = NULL;
    assert_int_equal(sqlite3_open(self.place.file, &connection), SQLITE_OK);
    assert_int_equal(sqlite3_exec(connection, "PRAGMA user_version = 999", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(connection);
    self.ledger = tacit_ledger_free(self.ledger);
    assert_int_equal(
        tacit_ledger_open(&self.ledger, self.place.file, SOURCE, TACIT_LEDGER_EXISTING, &self.error),
        TACIT_INPUT);
    assert_non_null(strstr(self.error.text, "newer version of this program (format 999"));
    party_end(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_survive_a_restart),
        cmocka_unit_test(sources_in_one_file_are_charged_apart),
        cmocka_unit_test(the_owner_can_read_everything),
        cmocka_unit_test(a_ledger_that_cannot_be_written_lets_nothing_out),
        cmocka_unit_test(senseless_limits_and_names_are_refused),
        cmocka_unit_test(verification_names_the_first_broken_entry),
        cmocka_unit_test(a_log_without_its_end_takes_no_more_charges),
        cmocka_unit_test(every_byte_of_an_entry_counts),
        cmocka_unit_test(a_damaged_file_is_refused_at_the_door),
        cmocka_unit_test(a_ledger_of_a_newer_program_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
