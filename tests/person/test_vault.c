/* A person's store: only the passphrase opens it, what is changed in it is noticed, and a process that is killed
 * leaves it whole. */
#include "check.h"

#include <signal.h>
#include <sodium.h>
#include <sqlite3.h>

#include "folder.h"
#include "person/personal.h"

static const tacit_vault_cost cheap = { 1, 8192 };
static const char first[] = "first passphrase", second[] = "second passphrase";
static const tacit_vault_place place = { 7, 3 };

static tacit_vault *make(const folder *at) {
    tacit_vault *vault = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_vault_create(at->file, first, &cheap, &error), error);
    CHECK_OK(tacit_vault_open(&vault, at->file, first, &error), error);
    return vault;
}

static int64_t add(tacit_vault *vault, const char *text) {
    tacit_buffer record = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    int64_t id = 0;
    tacit_buffer_print(&record, NULL, "%s", text);
    CHECK_OK(tacit_vault_add(vault, &place, &record, &id, &error), error);
    tacit_buffer_clear(&record);
    return id;
}

static tacit_status gather(void *context, int64_t id, const uint8_t *bytes, size_t length,
                           tacit_error *error) {
    (void)id;
    TACIT_TRY(tacit_buffer_append(context, bytes, length, error));
    return tacit_buffer_append(context, ";", 1, error);
}

static void expect(tacit_vault *vault, const char *expected) {
    tacit_buffer all = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_vault_each(vault, &place, gather, &all, &error), error);
    assert_string_equal(tacit_buffer_text(&all), expected);
    tacit_buffer_clear(&all);
}

static void tamper(const folder *at, const char *sql) {
    sqlite3 *file = NULL;
    assert_int_equal(sqlite3_open(at->file, &file), SQLITE_OK);
    assert_int_equal(sqlite3_exec(file, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(file), SQLITE_OK);
}

static void what_was_kept_comes_back_in_its_order(void **state) {
    (void)state;
    folder at = folder_make();
    tacit_vault *vault = make(&at);
    int64_t one = add(vault, "one"), two = add(vault, "two");
    assert_true(two > one);
    tacit_vault_close(vault);
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_vault_open(&vault, at.file, first, &error), error);
    expect(vault, "one;two;");
    CHECK_OK(tacit_vault_remove(vault, two, &error), error);
    assert_true(add(vault, "three") > two); /* a number is never given twice */
    expect(vault, "one;three;");
    tacit_vault_close(vault);
    folder_remove(&at);
}

static void another_passphrase_is_refused_plainly_and_changes_nothing(void **state) {
    (void)state;
    folder at = folder_make();
    tacit_vault *vault = make(&at), *other = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    add(vault, "one");
    assert_int_equal(tacit_vault_open(&other, at.file, second, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "wrong passphrase"));
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_vault_create(at.file, second, &cheap, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "stays as it is"));
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_vault_change(vault, "short", &error), TACIT_USAGE);
    expect(vault, "one;");
    tacit_vault_close(vault);
    error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(tacit_vault_open(&vault, at.file, first, &error), error);
    tacit_vault_close(vault);
    folder_remove(&at);
}

static void a_changed_passphrase_opens_the_same_records_and_the_old_one_nothing(void **state) {
    (void)state;
    folder at = folder_make();
    tacit_vault *vault = make(&at), *other = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    add(vault, "one");
    CHECK_OK(tacit_vault_change(vault, second, &error), error);
    add(vault, "two");
    tacit_vault_close(vault);
    assert_int_equal(tacit_vault_open(&other, at.file, first, NULL), TACIT_REFUSED);
    CHECK_OK(tacit_vault_open(&vault, at.file, second, &error), error);
    expect(vault, "one;two;");
    tacit_vault_close(vault);
    folder_remove(&at);
}

/* A record must stand where it was put, whole; and the price of guessing cannot be lowered. */
static void every_change_of_the_file_is_noticed(void **state) {
    (void)state;
    static const char *const changes[] = {
        "UPDATE record SET sealed = (SELECT sealed FROM record WHERE id = 1) WHERE id = 2",
        "UPDATE record SET sealed = substr(sealed, 1, 30) WHERE id = 1",
        ("UPDATE record SET sealed = CAST(substr(sealed, 1, 39) || x'00' || substr(sealed, 41) AS BLOB) "
         "WHERE "
         "id = 1"),
        "UPDATE record SET id = 9 WHERE id = 2",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        folder at = folder_make();
        tacit_vault *vault = make(&at);
        tacit_buffer all = TACIT_BUFFER_INIT;
        tacit_error error = TACIT_ERROR_INIT;
        add(vault, "a record of some length");
        add(vault, "another one of the same");
        tamper(&at, changes[i]);
        assert_int_equal(tacit_vault_each(vault, &place, gather, &all, &error), TACIT_CORRUPT);
        assert_non_null(strstr(error.text, "tampered"));
        tacit_buffer_clear(&all);
        tacit_vault_close(vault);
        tamper(&at, "UPDATE key SET operations = 2");
        assert_int_equal(tacit_vault_open(&vault, at.file, first, NULL), TACIT_REFUSED);
        tamper(&at, "UPDATE key SET memory = 1 << 40");
        assert_int_equal(tacit_vault_open(&vault, at.file, first, NULL), TACIT_CORRUPT);
        folder_remove(&at);
    }
}

static void nothing_that_was_kept_can_be_read_in_the_file(void **state) {
    (void)state;
    folder at = folder_make();
    tacit_vault *vault = make(&at);
    char wal[128];
    add(vault, "canary-of-a-person");
    for (int k = 0; k < 2; k++) {
        snprintf(wal, sizeof wal, "%s%s", at.file, k == 0 ? "" : "-wal");
        FILE *file = fopen(wal, "rb");
        if (file == NULL) continue;
        char bytes[65536];
        size_t length = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        assert_null(memmem(bytes, length, "canary", 6));
        assert_null(memmem(bytes, length, first, strlen(first)));
    }
    tacit_vault_close(vault);
    folder_remove(&at);
}

/* ---- killed ---- */

/* Add records one by one, telling each that is on the disk, and change the passphrase to and fro. */
static void work_until_killed(const folder *at, const char *passphrase, int tell) {
    tacit_vault *vault = NULL;
    if (tacit_vault_open(&vault, at->file, passphrase, NULL) != TACIT_OK) _exit(1);
    for (int i = 0;; i++) {
        tacit_buffer record = TACIT_BUFFER_INIT;
        int64_t id;
        tacit_buffer_print(&record, NULL, "x");
        if (tacit_vault_add(vault, &place, &record, &id, NULL) != TACIT_OK) _exit(2);
        tacit_buffer_clear(&record);
        if (write(tell, "x", 1) != 1) _exit(3);
        if (tacit_vault_change(vault, i % 2 == 0 ? second : first, NULL) != TACIT_OK) _exit(4);
    }
}

static const char *opens(const folder *at) {
    for (int k = 0; k < 2; k++) {
        tacit_vault *vault = NULL;
        if (tacit_vault_open(&vault, at->file, k == 0 ? first : second, NULL) != TACIT_OK) continue;
        tacit_vault_close(vault);
        return k == 0 ? first : second;
    }
    fail_msg("neither passphrase opens the store after a kill");
    return NULL;
}

static void a_killed_process_loses_no_record_and_no_passphrase(void **state) {
    (void)state;
    folder at = folder_make();
    tacit_error error = TACIT_ERROR_INIT;
    size_t told = 0;
    tacit_vault_close(make(&at));
    for (size_t round = 1; round <= 12; round++) {
        const char *passphrase = opens(&at);
        int ends[2];
        char said[64];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            work_until_killed(&at, passphrase, ends[1]);
        }
        close(ends[1]);
        for (size_t k = 0; k < round % 5 + 1; k++) assert_int_equal(read(ends[0], said, 1), 1), told++;
        assert_int_equal(kill(child, SIGKILL), 0);
        waitpid(child, NULL, 0);
        for (ssize_t more; (more = read(ends[0], said, sizeof said)) > 0;) told += (size_t)more;
        close(ends[0]);
        tacit_vault *vault = NULL;
        tacit_buffer all = TACIT_BUFFER_INIT;
        CHECK_OK(tacit_vault_open(&vault, at.file, opens(&at), &error), error);
        CHECK_OK(tacit_vault_each(vault, &place, gather, &all, &error), error);
        assert_true(all.length / 2 >= told && all.length / 2 <= told + round); /* one a round may be untold */
        tacit_buffer_clear(&all);
        tacit_vault_close(vault);
    }
    folder_remove(&at);
}

/* ---- what is kept ---- */

static tacit_status show_row(void *context, const tacit_collection_row *row, tacit_error *error) {
    TACIT_TRY(tacit_buffer_print(context, error, "%d", (int)row->day));
    for (size_t j = 0; j < 3; j++)
        TACIT_TRY(tacit_buffer_print(context, error, "|%s", row->cells[j] != NULL ? row->cells[j] : "-"));
    return tacit_buffer_print(context, error, ";");
}

static void rows_keep_their_columns_when_a_later_version_adds_some(void **state) {
    (void)state;
    folder at = folder_make();
    tacit_vault *vault = make(&at);
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer all = TACIT_BUFFER_INIT;
    tacit_collection_column columns[] = { { "tired", "", true },
                                          { "note", "", false },
                                          { "slept", "h", true } };
    tacit_collection wanted = {
        .kind = TACIT_COLLECTION_ANSWERS, .name = "mood", .count = 2, .columns = columns
    };
    tacit_collection held = { .id = 0 }, again = { .id = 0 };
    int64_t id;
    CHECK_OK(tacit_collection_prepare(&held, vault, &wanted, &error), error);
    const char *old[] = { "2", NULL };
    CHECK_OK(tacit_row_add(vault, &held, &(tacit_collection_row){ .day = 10, .cells = old }, &id, &error),
             error);
    wanted.columns = columns + 1;
    CHECK_OK(tacit_collection_prepare(&again, vault, &wanted, &error), error);
    assert_int_equal(again.id, held.id);
    assert_int_equal(again.count, 3);
    const char *new[] = { NULL, "fine", "7.5" };
    CHECK_OK(tacit_row_add(vault, &again, &(tacit_collection_row){ .day = 11, .cells = new }, &id, &error),
             error);
    CHECK_OK(tacit_rows_each(vault, &again, show_row, &all, &error), error);
    assert_string_equal(tacit_buffer_text(&all), "10|2|-|-;11|-|fine|7.5;");
    columns[1].is_number = true;
    tacit_collection clash = { .id = 0 };
    assert_int_equal(tacit_collection_prepare(&clash, vault, &wanted, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "another name"));
    CHECK_OK(tacit_rows_remove(vault, &again, 10, 10, &error), error);
    all.length = 0;
    CHECK_OK(tacit_rows_each(vault, &again, show_row, &all, &error), error);
    assert_string_equal(tacit_buffer_text(&all), "11|-|fine|7.5;");
    tacit_buffer_clear(&all);
    tacit_collection_clear(&held);
    tacit_collection_clear(&again);
    tacit_vault_close(vault);
    folder_remove(&at);
}

static tacit_reuse reuse_of(tacit_vault *vault, const char *collection, const char *study) {
    tacit_reuse reuse = TACIT_REUSE_ASK;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_reuse_of(&reuse, vault, collection, study, "the institute", &error), error);
    return reuse;
}

static void set(tacit_vault *vault, const char *who, const char *collection, tacit_reuse reuse) {
    tacit_reuse_rule rule = { .reuse = reuse };
    tacit_error error = TACIT_ERROR_INIT;
    snprintf(rule.who, sizeof rule.who, "%s", who);
    snprintf(rule.collection, sizeof rule.collection, "%s", collection);
    CHECK_OK(tacit_reuse_set(vault, &rule, &error), error);
}

static void the_most_particular_rule_counts_and_without_one_the_person_is_asked(void **state) {
    (void)state;
    folder at = folder_make();
    tacit_vault *vault = make(&at);
    assert_int_equal(reuse_of(vault, "mood", "sleep-study"), TACIT_REUSE_ASK);
    set(vault, "*", "*", TACIT_REUSE_REFUSE);
    assert_int_equal(reuse_of(vault, "mood", "sleep-study"), TACIT_REUSE_REFUSE);
    set(vault, "the institute", "*", TACIT_REUSE_ASK);
    set(vault, "*", "mood", TACIT_REUSE_REFUSE);
    assert_int_equal(reuse_of(vault, "mood", "sleep-study"), TACIT_REUSE_ASK);
    set(vault, "the institute", "mood", TACIT_REUSE_ALLOW);
    assert_int_equal(reuse_of(vault, "mood", "sleep-study"), TACIT_REUSE_ALLOW);
    assert_int_equal(reuse_of(vault, "steps", "sleep-study"), TACIT_REUSE_ASK);
    set(vault, "sleep-study", "*", TACIT_REUSE_REFUSE);
    assert_int_equal(reuse_of(vault, "mood", "sleep-study"), TACIT_REUSE_REFUSE);
    assert_int_equal(reuse_of(vault, "mood", "another"), TACIT_REUSE_ALLOW);
    set(vault, "sleep-study", "*", TACIT_REUSE_ALLOW); /* in place of the one before */
    assert_int_equal(reuse_of(vault, "mood", "sleep-study"), TACIT_REUSE_ALLOW);
    tacit_vault_close(vault);
    folder_remove(&at);
}

static void a_passphrase_file_that_others_can_read_is_refused(void **state) {
    (void)state;
    folder at = folder_make();
    char read[TACIT_PASSPHRASE_MOST + 1];
    tacit_error error = TACIT_ERROR_INIT;
    FILE *file = fopen(at.file, "w");
    assert_non_null(file);
    fputs("a passphrase\nand a remark\n", file);
    fclose(file);
    assert_int_equal(chmod(at.file, 0640), 0);
    assert_int_equal(tacit_passphrase_read(at.file, read, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "chmod 600"));
    assert_int_equal(chmod(at.file, 0600), 0);
    error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(tacit_passphrase_read(at.file, read, &error), error);
    assert_string_equal(read, "a passphrase");
    folder_remove(&at);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_kept_comes_back_in_its_order),
        cmocka_unit_test(another_passphrase_is_refused_plainly_and_changes_nothing),
        cmocka_unit_test(a_changed_passphrase_opens_the_same_records_and_the_old_one_nothing),
        cmocka_unit_test(every_change_of_the_file_is_noticed),
        cmocka_unit_test(nothing_that_was_kept_can_be_read_in_the_file),
        cmocka_unit_test(a_killed_process_loses_no_record_and_no_passphrase),
        cmocka_unit_test(rows_keep_their_columns_when_a_later_version_adds_some),
        cmocka_unit_test(the_most_particular_rule_counts_and_without_one_the_person_is_asked),
        cmocka_unit_test(a_passphrase_file_that_others_can_read_is_refused),
    };
    return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
