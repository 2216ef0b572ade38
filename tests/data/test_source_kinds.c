/* What is special to one kind of source: types of databases, folders, pipes, links, passwords. */
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"
#include "source_forms.h"

/* ---- one row a person ---- */

static void expect_linked(const char *name, const char *expected) {
    const tacit_source_options options = { .link = "who" };
    tacit_source *source = NULL;
    reading got = { .count = 0 };
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_source_open(&source, name, &options, &error), error);
    assert_int_equal(tacit_source_find_column(source, "who"), -1);
    for (int again = 0; again < 2; again++) {
        reading_clear(&got);
        CHECK_OK(read_rest(source, 100, &got, &error), error);
        assert_string_equal(tacit_buffer_text(&got.rows), expected);
        CHECK_OK(tacit_source_rewind(source, &error), error);
    }
    reading_clear(&got);
    tacit_source_free(source);
}

static void of_linked_rows_the_last_counts_at_the_place_of_the_first(void **state) {
    (void)state;
    char name[512];
    const tacit_source_options wrong = { .link = "whom" }, right = { .link = "who" };
    tacit_source *source = NULL;
    tacit_row_block block;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer text = TACIT_BUFFER_INIT;
    make(&forms[FORM_CSV], name, 1, false);
    tacit_buffer_print(&text, NULL, "age,who,sick\n1,ann,no\n2,bob,yes\n3,ann,yes\n");
    put(csv_path, &text);
    expect_linked(name, "3|yes\n2|yes\n");
    assert_int_equal(tacit_source_open(&source, name, &wrong, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "no column 'whom'"));
    append_to(csv_path);
    tacit_buffer_print(&text, NULL, "3,,yes\n");
    put(csv_path, &text);
    error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(tacit_source_open(&source, name, &right, &error), error);
    assert_int_equal(tacit_source_next(source, 10, &block, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "t.csv:5:2 (who)"));
    assert_non_null(strstr(error.text, "nothing in column 'who'"));
    tacit_source_free(source);
    tacit_buffer_clear(&text);
    make(&forms[FORM_SQLITE], name, 0, false);
    sqlite_do("INSERT INTO t VALUES ('ann', 1, 'x', 'no'), (7, 2, 'x', 'no'), ('ann', 0.5, 'x', 'yes'), "
              "(7.0, 3, 'x', 'yes')");
    expect_linked(name, "0.5|x|yes\n2|x|no\n3|x|yes\n"); /* a text column keeps 7.0 apart from 7 */
    error = (tacit_error)TACIT_ERROR_INIT;
    make(&forms[FORM_LIBSVM], name, 2, false);
    assert_int_equal(tacit_source_open(&source, name, &right, &error), TACIT_USAGE);
}

/* ---- databases ---- */

static void read_query(const char *kind, const char *place, const char *query, const char *expected) {
    char name[512];
    tacit_source *source = NULL;
    reading got = { .count = 0 };
    tacit_error error = TACIT_ERROR_INIT;
    snprintf(name, sizeof name, "%s:%s?%s", kind, place, query);
    CHECK_OK(tacit_source_open(&source, name, NULL, &error), error);
    CHECK_OK(read_rest(source, 100, &got, &error), error);
    assert_string_equal(tacit_buffer_text(&got.rows), expected);
    reading_clear(&got);
    tacit_source_free(source);
}

static void fails(const char *name, tacit_status expected, const char *says) {
    tacit_source *source = NULL;
    tacit_row_block block;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_source_open(&source, name, NULL, &error);
    if (status == TACIT_OK) status = tacit_source_next(source, 1, &block, &error);
    tacit_source_free(source);
    if (status != expected || strstr(error.text, says) == NULL)
        fail_msg("%s: expected %d '%s', got %d: %s", name, (int)expected, says, (int)status, error.text);
}

static void sqlite_values_keep_their_type_and_every_digit(void **state) {
    (void)state;
    char name[512];
    make(&forms[FORM_SQLITE], name, 0, false);
    read_query("sqlite", sqlite_path, "SELECT 0.1 + 0.2, 9007199254740993, -3, NULL, 'x', '', 9e999",
               "0.30000000000000004|9007199254740993|-3||x||Inf\n");
}

static void odbc_values_keep_their_type_and_every_digit(void **state) {
    (void)state;
    char name[512], place[256];
    const char *driver = odbc_driver("libsqlite3odbc.so");
    if (driver == NULL) return;
    make(&forms[FORM_SQLITE], name, 0, false);
    snprintf(place, sizeof place, "Driver=%s;Database=%s", driver, sqlite_path);
    sqlite_do("CREATE TABLE IF NOT EXISTS v (\"größe\" DOUBLE, big BIGINT, few INTEGER, none TEXT, name "
              "TEXT, bytes BLOB); INSERT INTO v "
              "VALUES (0.3125, 9007199254740993, -3, NULL, 'Zoë \xF0\x9F\x98\x80', x'00ff')");
    read_query("odbc", place, "SELECT * FROM v", "0.3125|9007199254740993|-3||Zoë \xF0\x9F\x98\x80|bytes\n");
    snprintf(name, sizeof name, "odbc:%s?DELETE FROM v", place);
    fails(name, TACIT_USAGE, "must be one SELECT");
    snprintf(name, sizeof name, "odbc:%s?SELECT 1; DELETE FROM v", place);
    fails(name, TACIT_USAGE, "without a semicolon");
    snprintf(name, sizeof name, "odbc:%s?SELECT nothing FROM v", place);
    fails(name, TACIT_INPUT, "nothing");
    fails("odbc:DSN=nowhere-at-all?SELECT 1", TACIT_IO, "ODBC: ");
    fails("odbc:DSN=clinic", TACIT_USAGE, "question mark");
}

static void a_query_gives_rows_and_changes_nothing(void **state) {
    (void)state;
    char name[512];
    make(&forms[FORM_SQLITE], name, 3, false);
#define QUERY(text) (snprintf(name, sizeof name, "sqlite:%s?%s", sqlite_path, text), name)
    read_query("sqlite", sqlite_path, "SELECT who FROM t ORDER BY who DESC;", "p2\np1\np0\n");
    fails(QUERY("DELETE FROM t"), TACIT_USAGE, "must be one SELECT");
    fails(QUERY("DELETE FROM t RETURNING age, sick"), TACIT_INPUT, "readonly");
    fails(QUERY("SELECT age FROM t; DELETE FROM t"), TACIT_USAGE, "must be one SELECT");
    fails(QUERY("SELECT age FROM nothing"), TACIT_INPUT, "nothing");
    fails(QUERY("SELECT age, age FROM t"), TACIT_INPUT, "both called 'age'");
    fails(QUERY(""), TACIT_USAGE, "must be one SELECT");
    read_query("sqlite", sqlite_path, "SELECT count(*) FROM t", "3\n");
    fails("sqlite:clinic.db?SELECT 1", TACIT_USAGE, "full path");
    fails("sqlite:/clinic.db", TACIT_USAGE, "question mark");
    fails("sqlite:/nowhere/clinic.db?SELECT 1", TACIT_INPUT, "/nowhere/clinic.db");
    fails("postgres:host=/nowhere/at/all?SELECT 1", TACIT_IO, "PostgreSQL");
    fails("postgres:service=clinic", TACIT_USAGE, "question mark");
}

/* A table of what a query gives, with the kinds that its columns got. */
static void expect_kinds(const char *name, const char *expected) {
    tacit_source *source = NULL;
    tacit_table *table = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    char kinds[32] = "";
    CHECK_OK(tacit_source_open(&source, name, NULL, &error), error);
    CHECK_OK(tacit_table_load(&table, source, NULL, &error), error);
    for (size_t i = 0; i < table->cols; i++)
        strcat(kinds, table->columns[i].kind == TACIT_COLUMN_NUMBER ? "n" : "c");
    assert_string_equal(kinds, expected);
    tacit_table_free(table);
    tacit_source_free(source);
}

static void types_that_cannot_be_numbers_are_categories(void **state) {
    (void)state;
    char name[512];
    make(&forms[FORM_SQLITE], name, 4, false);
    sqlite_do(
        "DROP TABLE IF EXISTS k; CREATE TABLE k (zip TEXT, age INTEGER, day DATE, any); INSERT INTO k VALUES"
        " ('01234', 1, '2026-01-01', 1.5), ('99999', NULL, NULL, NULL)");
    snprintf(name, sizeof name, "sqlite:%s?SELECT zip, age, day, any, age + 1 AS next FROM k", sqlite_path);
    expect_kinds(name, "cnnnn"); /* dates are numbers */
    snprintf(name, sizeof name, "sqlite:%s?SELECT CAST(zip AS INTEGER) AS zip FROM k", sqlite_path);
    expect_kinds(name, "n");
    if (server_name() == NULL) return;
    snprintf(name, sizeof name,
             "postgres:%s?SELECT '01234'::text AS z, 1 AS a, 1.5::numeric AS b, 0.1::float4 AS c, true AS d, "
             "now()::date AS e, "
             "NULL::int8 AS f",
             server_name());
    expect_kinds(name, "cnnncnn");
    read_query("postgres", server_name(),
               "SELECT 0.1::float8 + 0.2 AS a, 9007199254740993 AS b, "
               "123456789012345678901234567890.5::numeric, NULL, "
               "'NaN'::float8",
               "0.30000000000000004|9007199254740993|123456789012345678901234567890.5||NaN\n");
}

static void what_is_neither_number_nor_text_is_refused_only_where_it_is_used(void **state) {
    (void)state;
    char name[512];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = schema_of(&forms[FORM_CSV]);
    tacit_dataset *rows = NULL;
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    make(&forms[FORM_SQLITE], name, 4, false);
    snprintf(name, sizeof name,
             "sqlite:%s?SELECT age, note, sick, x'00ff' AS photo, 'a' || char(0) AS odd FROM t", sqlite_path);
    CHECK_OK(tacit_dataset_load(&rows, NULL, name, schema, &options, &error), error);
    tacit_dataset_free(rows);
    options.label = "sick";
    assert_int_equal(tacit_dataset_load(&rows, NULL, name, NULL, &options, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "row 1, column 4 (photo): a BLOB is neither a number nor a text"));
    tacit_schema_free(schema);
}

/* Before anything is connected to, and without being repeated. */
static void passwords_are_refused_in_every_spelling(void **state) {
    (void)state;
    static const char *const names[] = { "postgres:host=db password=secret?SELECT 1",
                                         "postgres:postgresql://u:secret@db/x?SELECT 1",
                                         "postgresql://u:secret@db/x?SELECT 1",
                                         "odbc:DSN=clinic;UID=u;PWD=secret?SELECT 1",
                                         "odbc:Driver=x;Pwd = {secret;?};UID=u?SELECT 1" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tacit_source *source = NULL;
        tacit_dataset *rows = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_equal(tacit_source_open(&source, names[i], NULL, &error), TACIT_USAGE);
        assert_non_null(strstr(error.text, "holds a password"));
        assert_null(strstr(error.text, "secret"));
        assert_int_equal(tacit_dataset_load(&rows, NULL, names[i], NULL, NULL, NULL), TACIT_USAGE);
    }
}

/* ---- folders and files ---- */

/* Put a compressed copy beside a file of a folder; `gzip` 0: as .xz. */
static void put_packed(const char *folder, const char *file, const char *ending, int gzip) {
    char from[1024], to[1040];
    tacit_buffer plain = TACIT_BUFFER_INIT, packed = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    size_t used = 0;
    snprintf(from, sizeof from, "%s/%s", folder, file);
    snprintf(to, sizeof to, "%s%s", from, ending);
    CHECK_OK(tacit_file_read(from, &plain, &error), error);
    uint8_t *out = malloc(2 * plain.length + 1024);
    assert_non_null(out);
    if (gzip > 0) {
        z_stream stream = { .next_in = plain.bytes, .avail_in = (unsigned)plain.length, .next_out = out };
        stream.avail_out = (unsigned)(2 * plain.length + 1024);
        assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, gzip, 8, Z_DEFAULT_STRATEGY), Z_OK);
        assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
        used = stream.total_out;
        deflateEnd(&stream);
    } else {
        assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, plain.bytes, plain.length, out,
                                                 &used, 2 * plain.length + 1024),
                         LZMA_OK);
    }
    CHECK_OK(tacit_buffer_append(&packed, out, used, &error), error);
    put(to, &packed);
    free(out);
    tacit_buffer_clear(&packed);
    tacit_buffer_clear(&plain);
}

static void a_folder_is_one_table_of_its_csv_files(void **state) {
    (void)state;
    char name[512], path[2048];
    reading got = { .count = 0 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer text = TACIT_BUFFER_INIT;
    make(&forms[FORM_FOLDER], name, 9, false);
    put_packed(name, "2.csv", ".gz", 31); /* 15 bits, and 16 for the format of gzip */
    put_packed(name, "1.csv", ".xz", 0);
    snprintf(path, sizeof path, "%s/2.csv", name);
    assert_int_equal(unlink(path), 0);
    fails(name, TACIT_INPUT, "1.csv.xz is there twice");
    snprintf(path, sizeof path, "%s/1.csv", name);
    assert_int_equal(unlink(path), 0);
    tacit_source *source = open_rows(&forms[FORM_FOLDER], name);
    CHECK_OK(read_rest(source, 100, &got, &error), error);
    expect_rows(&forms[FORM_FOLDER], &got, 9, false, 1);
    reading_clear(&got);
    tacit_source_free(source);
    snprintf(path, sizeof path, "%s/3.csv", name);
    tacit_buffer_print(&text, NULL, "who,age,sick\na,1,no\n");
    put(path, &text);
    source = open_rows(&forms[FORM_FOLDER], name);
    assert_int_equal(read_rest(source, 100, &got, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "3.csv has other columns"));
    reading_clear(&got);
    tacit_source_free(source);
    tacit_buffer_clear(&text);
    forms[FORM_FOLDER].vanish();
}

static void a_pipe_is_read_once(void **state) {
    (void)state;
    char command[256];
    char name[512], path[64];
    tacit_error error = TACIT_ERROR_INIT;
    reading got = { .count = 0 };
    make(&forms[FORM_CSV], name, 5, false);
    snprintf(command, sizeof command, "cat %s", csv_path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    snprintf(path, sizeof path, "/dev/fd/%d", fileno(pipe));
    tacit_source *source = open_rows(&forms[FORM_CSV], path);
    CHECK_OK(read_rest(source, 100, &got, &error), error);
    expect_rows(&forms[FORM_CSV], &got, 5, false, 1);
    assert_int_equal(tacit_source_rewind(source, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "cannot be read twice"));
    reading_clear(&got);
    tacit_source_free(source);
    pclose(pipe);
}

/* The rows before a damaged one are handed out before the error, in whatever block it is. */
static void a_wrong_row_is_told_after_the_rows_before_it(void **state) {
    (void)state;
    char name[512];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = schema_of(&forms[FORM_CSV]);
    tacit_dataset *rows = NULL;
    tacit_buffer text = TACIT_BUFFER_INIT;
    make(&forms[FORM_CSV], name, 1, false);
    tacit_buffer_print(&text, NULL, "who,age,note,sick\na,1,x,no\nb,old,x,no\nc,1\n");
    put(csv_path, &text);
    assert_int_equal(tacit_dataset_load(&rows, NULL, name, schema, NULL, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "t.csv:3:2 (age): 'old'"));
    tacit_buffer_clear(&text);
    tacit_schema_free(schema);
}

static void expect_allowed(const char *name, const char *path, bool writes) {
    tacit_harden_settings settings = { .count = 0 };
    tacit_source_allow(&settings, name);
    bool found = false;
    for (size_t i = 0; i < settings.count; i++)
        found = found || (strcmp(settings.paths[i], path) == 0 && settings.writes[i] == writes);
    if (!found) fail_msg("%s: %s is not allowed", name, path);
    tacit_harden_clear(&settings);
}

static void a_hardened_process_may_reach_what_its_source_needs(void **state) {
    (void)state;
    char name[512], folder[512];
    make(&forms[FORM_FOLDER], name, 3, false);
    expect_allowed(name, name, false);
    forms[FORM_FOLDER].vanish();
    make(&forms[FORM_CSV], name, 1, false);
    strcpy(folder, name);
    *strrchr(folder, '/') = 0;
    expect_allowed(name, folder, false);
    make(&forms[FORM_SQLITE], name, 1, false);
    expect_allowed(name, folder, true); /* readers write a log's index beside it */
    setenv("PGPASSFILE", sqlite_path, 1);
    expect_allowed("postgres:service=x?SELECT 1", sqlite_path, false);
    unsetenv("PGPASSFILE");
    assert_true(tacit_source_is_query(name));
    assert_false(tacit_source_is_query(folder));
    tacit_harden_settings settings = { .count = 0 };
    tacit_source_allow(&settings, NULL);
    assert_int_equal(settings.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_linked_rows_the_last_counts_at_the_place_of_the_first),
        cmocka_unit_test(sqlite_values_keep_their_type_and_every_digit),
        cmocka_unit_test(odbc_values_keep_their_type_and_every_digit),
        cmocka_unit_test(a_query_gives_rows_and_changes_nothing),
        cmocka_unit_test(types_that_cannot_be_numbers_are_categories),
        cmocka_unit_test(what_is_neither_number_nor_text_is_refused_only_where_it_is_used),
        cmocka_unit_test(passwords_are_refused_in_every_spelling),
        cmocka_unit_test(a_folder_is_one_table_of_its_csv_files),
        cmocka_unit_test(a_pipe_is_read_once),
        cmocka_unit_test(a_hardened_process_may_reach_what_its_source_needs),
        cmocka_unit_test(a_wrong_row_is_told_after_the_rows_before_it),
    };
    return cmocka_run_group_tests(tests, forms_begin, forms_end);
}
