/* Ledgers that earlier programs wrote: what they say stays true when this one opens them. The files are real
 * ones, of formats 2 and 3; that of the first is in test_composition.c. */
#include "party.h"

enum { FORMAT = 4, ENTRIES = 14 };

/* A number from the file as it is, whoever wrote it. */
static double ask(const char *path, const char *sql) {
    sqlite3 *connection = NULL;
    sqlite3_stmt *query = NULL;
    assert_int_equal(sqlite3_open(path, &connection), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(connection, sql, -1, &query, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    double value = sqlite3_column_double(query, 0);
    sqlite3_finalize(query);
    sqlite3_close(connection);
    return value;
}

static void change(const char *path, const char *sql) {
    sqlite3 *connection = NULL;
    assert_int_equal(sqlite3_open(path, &connection), SQLITE_OK);
    assert_int_equal(sqlite3_exec(connection, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(connection);
}

static const char *const files[] = { "TACIT_LEDGER_FORMAT_2", "TACIT_LEDGER_FORMAT_3" };

/* An account in the tables of the old program: what it says itself. */
static const struct {
    const char *study, *key;
    tacit_unit unit;
} accounts[] = { { NULL, "study = '' AND unit = 0", TACIT_UNIT_RECORD },
                 { NULL, "study = '' AND unit = 1", TACIT_UNIT_PARTY },
                 { STUDY, "study = 'heart' AND unit = 0", TACIT_UNIT_RECORD } };

static double told(const char *path, const char *column, const char *table, int account) {
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT %s FROM %s WHERE source = 'ward-7' AND %s", column, table,
             accounts[account].key);
    return ask(path, sql);
}

/* Whoever opens it first, also only to read. */
static void an_old_ledger_keeps_its_totals(void **state) {
    (void)state;
    static const tacit_ledger_mode modes[] = { TACIT_LEDGER_CREATE, TACIT_LEDGER_EXISTING,
                                               TACIT_LEDGER_READING };
    for (int f = 0; f < 2; f++)
        for (int m = 0; m < 3; m++) {
            party self = party_new();
            double before[3][4];
            make_ledger_of(files[f], self.place.file);
            const char *path = self.place.file;
            CHECK_NEAR(ask(path, "PRAGMA user_version"), 2 + f, 0);
            for (int a = 0; a < 3; a++) {
                before[a][0] = told(path, "epsilon", "spending", a);
                before[a][1] = told(path, "delta", "spending", a);
                before[a][2] = told(path, "epsilon", "balance", a);
                before[a][3] = told(path, "epsilon", "limits", a);
            }
            party_open(&self, modes[m]);
            party_verifies(&self, ENTRIES);
            for (int a = 0; a < 3; a++) {
                tacit_account account;
                CHECK_OK(tacit_ledger_account(&account, self.ledger, accounts[a].study, accounts[a].unit,
                                              &self.error),
                         self.error);
                CHECK_NEAR(account.sum_epsilon, before[a][0], 0);
                CHECK_NEAR(account.sum_delta, before[a][1], 0);
                CHECK_NEAR(account.spent_epsilon, before[a][2], 0);
                CHECK_NEAR(account.limit_epsilon, before[a][3], 0);
                assert_int_equal(account.counting.count, TACIT_COUNT_LEAST); /* as it was meant then */
            }
            tacit_ledger_free(self.ledger);
            self.ledger = NULL;
            CHECK_NEAR(ask(path, "PRAGMA user_version"), FORMAT, 0);
            party_end(&self);
        }
}

/* Stored answers, consents and the limit hold; what is then asked counts beside what was. */
static void an_old_ledger_goes_on(void **state) {
    (void)state;
    for (int f = 0; f < 2; f++) {
        party self = party_new();
        make_ledger_of(files[f], self.place.file);
        party_open(&self, TACIT_LEDGER_EXISTING);
        double spent = party_spent(&self, NULL, TACIT_UNIT_RECORD);
        tacit_release release = sample_release(2); /* answered then */
        CHECK_OK(party_release(&self, &release), self.error);
        CHECK_NEAR(party_spent(&self, NULL, TACIT_UNIT_RECORD), spent, 0);
        release = sample_release(30);
        release.study = "lungs";
        party_refuses(&self, &release, TACIT_REFUSED, "withdrawn");
        release = sample_release(31);
        release.price.epsilon = 3;
        party_refuses(&self, &release, TACIT_REFUSED, "limit");
        release = sample_release(32);
        CHECK_OK(party_release(&self, &release), self.error);
        assert_true(party_spent(&self, NULL, TACIT_UNIT_RECORD) > spent);
        party_verifies(&self, ENTRIES + 3);
        tacit_buffer kept = TACIT_BUFFER_INIT;
        bool found = false;
        CHECK_OK(tacit_gate_state(&found, &self.gate, STUDY, &kept, &self.error), self.error);
        assert_int_equal(found, f == 1);
        if (found) assert_string_equal(tacit_buffer_text(&kept), "where the party goes on from");
        tacit_buffer_clear(&kept);
        party_end(&self);
    }
}

/* What was changed beside the old program is noticed before anything is built on it. */
static void a_damaged_old_ledger_is_not_updated(void **state) {
    (void)state;
    static const char *const damages[] = { "UPDATE spending SET epsilon = 0",
                                           "UPDATE limits SET epsilon = 99", "UPDATE balance SET epsilon = 0",
                                           "DELETE FROM event WHERE kind = 0", "DELETE FROM seal" };
    for (int f = 0; f < 2; f++)
        for (size_t d = 0; d < sizeof damages / sizeof *damages; d++) {
            party self = party_new();
            make_ledger_of(files[f], self.place.file);
            change(self.place.file, damages[d]);
            assert_int_equal(
                tacit_ledger_open(&self.ledger, self.place.file, SOURCE, TACIT_LEDGER_EXISTING, &self.error),
                TACIT_CORRUPT);
            assert_non_null(strstr(self.error.text, "restore it from a backup"));
            CHECK_NEAR(ask(self.place.file, "PRAGMA user_version"), 2 + f, 0);
            party_end(&self);
        }
}

static void a_ledger_of_a_newer_format_is_refused_in_a_sentence(void **state) {
    (void)state;
    static const tacit_ledger_mode modes[] = { TACIT_LEDGER_CREATE, TACIT_LEDGER_EXISTING,
                                               TACIT_LEDGER_READING };
    party self;
    party_ready(&self);
    self.ledger = tacit_ledger_free(self.ledger);
    CHECK_NEAR(ask(self.place.file, "PRAGMA user_version"), FORMAT, 0);
    change(self.place.file, "PRAGMA user_version = 5");
    for (int m = 0; m < 3; m++) {
        self.error = (tacit_error)TACIT_ERROR_INIT;
        assert_int_equal(tacit_ledger_open(&self.ledger, self.place.file, SOURCE, modes[m], &self.error),
                         TACIT_INPUT);
        if (m == 0) print_message("# %s\n", self.error.text);
        assert_non_null(strstr(self.error.text, "newer"));
        assert_null(strchr(self.error.text, '\n'));
        assert_null(strstr(self.error.text, ". "));
        CHECK_NEAR(ask(self.place.file, "PRAGMA user_version"), FORMAT + 1, 0);
    }
    party_end(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_old_ledger_keeps_its_totals),
        cmocka_unit_test(an_old_ledger_goes_on),
        cmocka_unit_test(a_damaged_old_ledger_is_not_updated),
        cmocka_unit_test(a_ledger_of_a_newer_format_is_refused_in_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
