#include "check.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "folder.h"
#include "store/statement.h"

static const char *const scripts[] = {
    "CREATE TABLE note (number INTEGER PRIMARY KEY, text TEXT NOT NULL, bytes BLOB) STRICT;",
    "ALTER TABLE note ADD COLUMN weight REAL NOT NULL DEFAULT 1.5;",
};
static const tacit_store_schema old_schema = { "notebook", 0x12345678, scripts, 1, NULL };
static const tacit_store_schema new_schema = { "notebook", 0x12345678, scripts, 2, NULL };
static const tacit_store_schema other_schema = { "address book", 0x11111111, scripts, 1, NULL };

static tacit_store *open_or_fail(const folder *place, const tacit_store_schema *schema) {
    tacit_store *store = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_store_open(&store, place->file, schema, TACIT_STORE_CREATE, &error), error);
    return store;
}

/* Opening must fail with this status, and the sentence must name the file and hold `remedy`. */
static void refused(const folder *place, const tacit_store_schema *schema, tacit_store_mode mode,
                    tacit_status expected, const char *remedy) {
    tacit_store *store = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(tacit_store_open(&store, place->file, schema, mode, &error), expected);
    assert_null(store);
    assert_non_null(strstr(error.text, place->file));
    if (strstr(error.text, remedy) == NULL) fail_msg("'%s' does not say '%s'", error.text, remedy);
}

static int64_t count_notes(tacit_store *store) {
    tacit_statement *query = NULL;
    bool row = false;
    assert_int_equal(tacit_statement_prepare(&query, store, "SELECT count(*) FROM note", NULL), TACIT_OK);
    assert_int_equal(tacit_statement_step(&row, query, NULL), TACIT_OK);
    int64_t count = tacit_column_integer(query, 0);
    tacit_statement_free(query);
    return count;
}

static void overwrite(const folder *place, const void *bytes, size_t length) {
    FILE *file = fopen(place->file, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static void a_new_file_is_private_and_kept(void **state) {
    (void)state;
    folder place = folder_make();
    struct stat about;
    mode_t before = umask(0);
    tacit_store *store = open_or_fail(&place, &old_schema);
    umask(before);
    assert_int_equal(tacit_store_begin(store, NULL), TACIT_OK);
    assert_int_equal(tacit_store_run(store, "INSERT INTO note VALUES (1, 'a', NULL)", NULL), TACIT_OK);
    assert_int_equal(tacit_store_commit(store, NULL), TACIT_OK);
    static const char *const endings[] = { "", "-wal", "-shm" };
    for (size_t i = 0; i < 3; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s%s", place.file, endings[i]);
        assert_int_equal(stat(name, &about), 0);
        assert_int_equal(about.st_mode & 0777, 0600);
    }
    assert_null(tacit_store_close(store));
    store = open_or_fail(&place, &old_schema);
    assert_int_equal(count_notes(store), 1);
    assert_int_equal(tacit_store_check(store, NULL), TACIT_OK);
    tacit_store_close(store);
    folder_remove(&place);
}

static void settings_make_commits_durable(void **state) {
    (void)state;
    static const struct {
        const char *sql;
        int64_t value;
    } settings[] = { { "PRAGMA synchronous", 2 },
                     { "PRAGMA foreign_keys", 1 },
                     { "PRAGMA user_version", 1 } };
    folder place = folder_make();
    tacit_store *store = open_or_fail(&place, &old_schema);
    for (size_t i = 0; i < 3; i++) {
        tacit_statement *query = NULL;
        bool row = false;
        assert_int_equal(tacit_statement_prepare(&query, store, settings[i].sql, NULL), TACIT_OK);
        assert_int_equal(tacit_statement_step(&row, query, NULL), TACIT_OK);
        assert_int_equal(tacit_column_integer(query, 0), settings[i].value);
        tacit_statement_free(query);
    }
    tacit_store_close(store);
    folder_remove(&place);
}

static void a_wide_open_file_is_made_private(void **state) {
    (void)state;
    folder place = folder_make();
    struct stat about;
    tacit_store_close(open_or_fail(&place, &old_schema));
    assert_int_equal(chmod(place.file, 0644), 0);
    tacit_store_close(open_or_fail(&place, &old_schema));
    assert_int_equal(stat(place.file, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    folder_remove(&place);
}

static void an_older_file_is_brought_up_to_date(void **state) {
    (void)state;
    folder place = folder_make();
    tacit_store *store = open_or_fail(&place, &old_schema);
    assert_int_equal(tacit_store_run(store, "INSERT INTO note VALUES (1, 'a', NULL)", NULL), TACIT_OK);
    tacit_store_close(store);
    refused(&place, &new_schema, TACIT_STORE_READING, TACIT_INPUT, "open it once for writing");
    store = open_or_fail(&place, &new_schema);
    tacit_statement *query = NULL;
    bool row = false;
    assert_int_equal(tacit_statement_prepare(&query, store, "SELECT weight FROM note", NULL), TACIT_OK);
    assert_int_equal(tacit_statement_step(&row, query, NULL), TACIT_OK);
    CHECK_NEAR(tacit_column_double(query, 0), 1.5, 0);
    tacit_statement_free(query);
    tacit_store_close(store);
    refused(&place, &old_schema, TACIT_STORE_EXISTING, TACIT_INPUT, "update the program");
    folder_remove(&place);
}

static void a_script_that_fails_changes_nothing(void **state) {
    (void)state;
    const char *const broken[] = { scripts[0], "ALTER TABLE note ADD COLUMN extra TEXT; NONSENSE;" };
    const tacit_store_schema broken_schema = { "notebook", 0x12345678, broken, 2, NULL };
    folder place = folder_make();
    tacit_store_close(open_or_fail(&place, &old_schema));
    refused(&place, &broken_schema, TACIT_STORE_EXISTING, TACIT_INTERNAL, "updating the notebook");
    tacit_store *store = open_or_fail(&place, &new_schema); /* still at version 1 and able to move on */
    assert_int_equal(tacit_store_run(store, "SELECT extra FROM note", NULL), TACIT_INTERNAL);
    tacit_store_close(store);
    folder_remove(&place);
}

static void somebody_elses_file_is_refused_and_left_alone(void **state) {
    (void)state;
    folder place = folder_make();
    struct stat about;
    tacit_store_close(open_or_fail(&place, &other_schema));
    assert_int_equal(chmod(place.file, 0640), 0);
    refused(&place, &old_schema, TACIT_STORE_CREATE, TACIT_INPUT, "another program");
    assert_int_equal(stat(place.file, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    folder_remove(&place);
}

static void a_damaged_file_is_named_with_the_remedy(void **state) {
    (void)state;
    folder place = folder_make();
    char garbage[8192];
    memset(garbage, 'x', sizeof garbage);
    overwrite(&place, garbage, sizeof garbage);
    refused(&place, &old_schema, TACIT_STORE_CREATE, TACIT_CORRUPT, "restore it from a backup");
    overwrite(&place, "", 0);
    refused(&place, &old_schema, TACIT_STORE_CREATE, TACIT_CORRUPT, "is empty: restore");
    unlink(place.file);
    tacit_store_close(open_or_fail(&place, &old_schema));
    assert_int_equal(truncate(place.file, 4096), 0);
    refused(&place, &old_schema, TACIT_STORE_CREATE, TACIT_CORRUPT, "restore it from a backup");
    folder_remove(&place);
}

static void a_log_without_its_file_is_not_replayed(void **state) {
    (void)state;
    folder place = folder_make();
    folder log = place;
    strcat(log.file, "-wal");
    overwrite(&log, "left over", 9);
    refused(&place, &old_schema, TACIT_STORE_CREATE, TACIT_CORRUPT, "remove the log");
    folder_remove(&place);
}

static void a_missing_file_or_folder_is_said_to_be(void **state) {
    (void)state;
    folder place = folder_make();
    refused(&place, &old_schema, TACIT_STORE_EXISTING, TACIT_NOT_FOUND, "no notebook at");
    refused(&place, &old_schema, TACIT_STORE_READING, TACIT_NOT_FOUND, "no notebook at");
    folder gone = place;
    strcpy(gone.file, "/tmp/tacit-no-such-folder/test.db");
    refused(&gone, &old_schema, TACIT_STORE_CREATE, TACIT_IO, "its folder does not exist");
    assert_int_equal(mkdir(place.file, 0700), 0);
    refused(&place, &old_schema, TACIT_STORE_CREATE, TACIT_IO, "check that it is a file");
    tacit_store *store = NULL;
    assert_int_equal(tacit_store_open(&store, "", &old_schema, TACIT_STORE_CREATE, NULL), TACIT_USAGE);
    folder_remove(&place);
}

static void a_reader_cannot_write(void **state) {
    (void)state;
    folder place = folder_make();
    tacit_store_close(open_or_fail(&place, &old_schema));
    tacit_store *store = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_store_open(&store, place.file, &old_schema, TACIT_STORE_READING, &error), error);
    assert_int_equal(count_notes(store), 0);
    assert_int_equal(tacit_store_run(store, "INSERT INTO note VALUES (1, 'a', NULL)", &error), TACIT_IO);
    assert_non_null(strstr(error.text, "writable for this user"));
    tacit_store_close(store);
    folder_remove(&place);
}

/* Root may write anything, so the child becomes somebody else. */
static void a_write_protected_file_is_named_with_the_remedy(void **state) {
    (void)state;
    folder place = folder_make();
    tacit_store_close(open_or_fail(&place, &old_schema));
    assert_int_equal(chmod(place.file, 0444), 0);
    assert_int_equal(chmod(place.path, 0755), 0);
    pid_t child = fork();
    if (child == 0) {
        tacit_store *store = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        if (geteuid() == 0 && setuid(65534) != 0) _exit(1);
        tacit_status status = tacit_store_open(&store, place.file, &old_schema, TACIT_STORE_EXISTING, &error);
        if (status == TACIT_OK) status = tacit_store_begin(store, &error);
        bool clear = status == TACIT_IO && strstr(error.text, place.file) != NULL &&
                     (strstr(error.text, "writable") != NULL || strstr(error.text, "may write") != NULL);
        tacit_store_close(store);
        _exit(clear ? 0 : 1);
    }
    assert_true(child_succeeded(child));
    folder_remove(&place);
}

static void a_busy_file_is_waited_for_and_then_named(void **state) {
    (void)state;
    folder place = folder_make();
    tacit_store *first = open_or_fail(&place, &old_schema), *second = open_or_fail(&place, &old_schema);
    tacit_error error = TACIT_ERROR_INIT;
    tacit_store_set_patience(second, 30);
    CHECK_OK(tacit_store_begin(first, &error), error);
    assert_int_equal(tacit_store_begin(second, &error), TACIT_IO);
    assert_non_null(strstr(error.text, "in use by another process"));
    assert_non_null(strstr(error.text, place.file));
    error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(tacit_store_begin_reading(second, &error), error); /* readers do not wait for a writer */
    assert_int_equal(count_notes(second), 0);
    tacit_store_rollback(second);
    tacit_store_rollback(first);
    CHECK_OK(tacit_store_begin(second, &error), error);
    tacit_store_close(first);
    tacit_store_close(second);
    folder_remove(&place);
}

static void a_full_disk_takes_the_transaction_back(void **state) {
    (void)state;
    folder place = folder_make();
    tacit_store *store = open_or_fail(&place, &old_schema);
    tacit_error error = TACIT_ERROR_INIT;
    sqlite3_exec(tacit_store_connection(store), "PRAGMA max_page_count = 4", NULL, NULL, NULL);
    CHECK_OK(tacit_store_begin(store, &error), error);
    assert_int_equal(tacit_store_run(store, "INSERT INTO note VALUES (1, 'a', zeroblob(100000))", &error),
                     TACIT_IO);
    assert_non_null(strstr(error.text, "disk is full: free some space"));
    assert_non_null(strstr(error.text, place.file));
    tacit_store_rollback(store);
    assert_int_equal(count_notes(store), 0);
    tacit_store_close(store);
    folder_remove(&place);
}

static void values_come_back_as_they_went_in(void **state) {
    (void)state;
    folder place = folder_make();
    tacit_store *store = open_or_fail(&place, &new_schema);
    tacit_statement *statement = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    bool row = false;
    CHECK_OK(tacit_statement_prepare(&statement, store, "INSERT INTO note VALUES (?1, ?2, ?3, ?4)", &error),
             error);
    for (int i = 0; i < 3; i++) { /* a statement serves again after running */
        tacit_bind_integer(statement, 1, i + ((int64_t)1 << 40));
        tacit_bind_text(statement, 2, "caf\xc3\xa9");
        tacit_bind_blob(statement, 3, "\0\1\2", i == 2 ? 0 : 3);
        tacit_bind_double(statement, 4, INFINITY);
        CHECK_OK(tacit_statement_run(statement, &error), error);
    }
    statement = tacit_statement_free(statement);
    CHECK_OK(tacit_statement_prepare(&statement, store, "SELECT * FROM note ORDER BY number", &error), error);
    CHECK_OK(tacit_statement_step(&row, statement, &error), error);
    const char *text = NULL;
    const uint8_t *bytes = NULL;
    size_t length = 9;
    uint8_t copy[3];
    assert_true(row);
    assert_true(tacit_column_integer(statement, 0) == (int64_t)1 << 40);
    CHECK_OK(tacit_column_text(&text, statement, 1, 5, &error), error);
    assert_string_equal(text, "caf\xc3\xa9");
    CHECK_OK(tacit_column_bytes(copy, 3, statement, 2, &error), error);
    assert_memory_equal(copy, "\0\1\2", 3);
    assert_true(isinf(tacit_column_double(statement, 3)));
    assert_int_equal(tacit_column_text(&text, statement, 1, 4, NULL), TACIT_CORRUPT);
    assert_int_equal(tacit_column_text(&text, statement, 2, 99, NULL), TACIT_CORRUPT);
    assert_int_equal(tacit_column_blob(&bytes, &length, statement, 2, 2, NULL), TACIT_CORRUPT);
    assert_int_equal(tacit_column_blob(&bytes, &length, statement, 1, 99, NULL), TACIT_CORRUPT);
    assert_int_equal(tacit_column_bytes(copy, 2, statement, 2, NULL), TACIT_CORRUPT);
    assert_int_equal(tacit_column_bytes(copy, 4, statement, 2, &error), TACIT_CORRUPT);
    assert_non_null(strstr(error.text, place.file));
    CHECK_OK(tacit_statement_step(&row, statement, &error), error);
    CHECK_OK(tacit_statement_step(&row, statement, &error), error);
    CHECK_OK(tacit_column_blob(&bytes, &length, statement, 2, 0, &error), error);
    assert_int_equal(length, 0);
    CHECK_OK(tacit_statement_step(&row, statement, &error), error);
    assert_false(row);
    assert_null(tacit_statement_free(statement));
    assert_null(tacit_statement_free(NULL));
    assert_null(tacit_store_close(NULL));
    tacit_store_close(store);
    folder_remove(&place);
}

static void create_at_once(void) {
    enum { CHILDREN = 6 };
    folder place = folder_make();
    pid_t child[CHILDREN];
    int gate[2];
    assert_int_equal(pipe(gate), 0);
    for (int i = 0; i < CHILDREN; i++) {
        child[i] = fork();
        if (child[i] != 0) continue;
        tacit_store *store = NULL;
        char byte, sql[64];
        close(gate[1]);
        if (read(gate[0], &byte, 1) != 0) _exit(1); /* all start when the parent closes its end */
        snprintf(sql, sizeof sql, "INSERT INTO note VALUES (%d, 'a', NULL)", i);
        tacit_status status = tacit_store_open(&store, place.file, &old_schema, TACIT_STORE_CREATE, NULL);
        if (status == TACIT_OK) status = tacit_store_begin(store, NULL);
        if (status == TACIT_OK) status = tacit_store_run(store, sql, NULL);
        if (status == TACIT_OK) status = tacit_store_commit(store, NULL);
        tacit_store_close(store);
        _exit(status == TACIT_OK ? 0 : 1);
    }
    close(gate[0]);
    close(gate[1]);
    bool all = true;
    for (int i = 0; i < CHILDREN; i++) all = child_succeeded(child[i]) && all;
    assert_true(all);
    tacit_store *store = open_or_fail(&place, &old_schema);
    assert_int_equal(count_notes(store), CHILDREN);
    tacit_store_close(store);
    folder_remove(&place);
}

/* Statements are kept for their next use: whoever gets one finds it as if it were new. */
static void a_statement_used_again_knows_nothing_of_before(void **state) {
    (void)state;
    folder place = folder_make();
    tacit_store *store = open_or_fail(&place, &old_schema);
    const char *sql = "SELECT ?1, ?2";
    tacit_store_keep_statements(store, 1);
    tacit_statement *first = NULL, *second = NULL, *third = NULL;
    bool row = false;
    assert_int_equal(tacit_statement_prepare(&first, store, sql, NULL), TACIT_OK);
    tacit_bind_integer(first, 1, 7);
    tacit_bind_integer(first, 2, 8);
    assert_int_equal(tacit_statement_step(&row, first, NULL), TACIT_OK);
    assert_int_equal(tacit_statement_prepare(&second, store, sql, NULL), TACIT_OK); /* both in use at once */
    assert_ptr_not_equal(first, second);
    assert_int_equal(tacit_column_integer(first, 1), 8);
    tacit_statement_free(first); /* in the middle of its rows */
    tacit_statement_free(second);
    for (int repeat = 0; repeat < 3; repeat++) {
        assert_int_equal(tacit_statement_prepare(&third, store, sql, NULL), TACIT_OK);
        tacit_bind_integer(third, 1, repeat);
        assert_int_equal(tacit_statement_step(&row, third, NULL), TACIT_OK);
        assert_true(row);
        assert_int_equal(tacit_column_integer(third, 0), repeat);
        assert_int_equal(tacit_column_integer(third, 1), 0); /* NULL: what was bound before is gone */
        tacit_statement_free(third);
    }
    /* None of them holds a transaction open. */
    assert_int_equal(tacit_store_begin(store, NULL), TACIT_OK);
    assert_int_equal(tacit_store_run(store, "INSERT INTO note VALUES (1, 'a', NULL)", NULL), TACIT_OK);
    assert_int_equal(tacit_store_commit(store, NULL), TACIT_OK);
    tacit_store_close(store);
    folder_remove(&place);
}

static void processes_that_create_at_once_share_one_file(void **state) {
    (void)state;
    for (int repeat = 0; repeat < 12; repeat++) create_at_once(); /* the race is not lost every time */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_file_is_private_and_kept),
        cmocka_unit_test(settings_make_commits_durable),
        cmocka_unit_test(a_wide_open_file_is_made_private),
        cmocka_unit_test(an_older_file_is_brought_up_to_date),
        cmocka_unit_test(a_script_that_fails_changes_nothing),
        cmocka_unit_test(somebody_elses_file_is_refused_and_left_alone),
        cmocka_unit_test(a_damaged_file_is_named_with_the_remedy),
        cmocka_unit_test(a_log_without_its_file_is_not_replayed),
        cmocka_unit_test(a_missing_file_or_folder_is_said_to_be),
        cmocka_unit_test(a_reader_cannot_write),
        cmocka_unit_test(a_write_protected_file_is_named_with_the_remedy),
        cmocka_unit_test(a_busy_file_is_waited_for_and_then_named),
        cmocka_unit_test(a_full_disk_takes_the_transaction_back),
        cmocka_unit_test(values_come_back_as_they_went_in),
        cmocka_unit_test(a_statement_used_again_knows_nothing_of_before),
        cmocka_unit_test(processes_that_create_at_once_share_one_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
