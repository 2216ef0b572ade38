/*
 * A table of every type, with extremes, gaps and awkward texts, in each kind of source that has types: its columns are those of the
 * same table as CSV, to the last bit, whether rows come as columns or one by one.
 */
#include <libpq-fe.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "source_forms.h"

enum { ROWS = 5, FIELDS = 7 };

/* Of each row: as CSV, and as the values of an INSERT. */
static const char *const names = "whole,fraction,truth,day,instant,amount,words";
static const char *const csv_rows[ROWS] = {
    "9007199254740993,1.7976931348623157e308,true,2024-02-29,2024-02-29 12:30:00,12345.67,\"it's "
    "\"\"quoted\"\"\"\n",
    "-9223372036854775808,5e-324,false,1900-01-01,1900-01-01 00:00:00,-0.01,\"a line\nand, a comma\"\n",
    "0,-0.1,true,9999-12-31,1999-12-31 23:59:59,0.10,Zo\xc3\xab \xe5\xb1\xb1 \xf0\x9f\x99\x82\n",
    ",,,,,,\n",
    "9223372036854775807,2.2250738585072014e-308,false,0001-01-01,2024-03-01 00:00:01,9999999.99,\" spaces "
    "\"\n",
};
static const char *const values =
    "(9007199254740993, 1.7976931348623157e308, true, '2024-02-29', '2024-02-29 12:30:00', 12345.67, 'it''s "
    "\"quoted\"'), "
    "(-9223372036854775808, 5e-324, false, '1900-01-01', '1900-01-01 00:00:00', -0.01, 'a line\nand, a "
    "comma'), "
    "(0, -0.1, true, '9999-12-31', '1999-12-31 23:59:59', 0.10, 'Zo\xc3\xab \xe5\xb1\xb1 \xf0\x9f\x99\x82'), "
    "(NULL, NULL, NULL, NULL, NULL, NULL, NULL), "
    "(9223372036854775807, 2.2250738585072014e-308, false, '0001-01-01', '2024-03-01 00:00:01', 9999999.99, "
    "' spaces ')";
static const char *const typed =
    "whole BIGINT, fraction DOUBLE PRECISION, truth BOOLEAN, day DATE, instant TIMESTAMP, "
    "amount DECIMAL(9,2), words TEXT";

/* Whole numbers twice: as numbers, and as categories that keep every digit. */
static tacit_table *read_table(const char *name, bool one_by_one) {
    static const struct {
        const char *field;
        tacit_column_kind kind;
        bool date;
    } wanted[] = { { "whole", TACIT_COLUMN_NUMBER, false },    { "whole", TACIT_COLUMN_CATEGORY, false },
                   { "fraction", TACIT_COLUMN_NUMBER, false }, { "truth", TACIT_COLUMN_CATEGORY, false },
                   { "day", TACIT_COLUMN_NUMBER, true },       { "instant", TACIT_COLUMN_NUMBER, true },
                   { "amount", TACIT_COLUMN_NUMBER, false },   { "words", TACIT_COLUMN_CATEGORY, false } };
    tacit_source *source = NULL;
    tacit_table *table = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    bool ended = false;
    CHECK_OK(tacit_source_open(&source, name, NULL, &error), error);
    CHECK_OK(tacit_table_create_empty(&table, name, &error), error);
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
        tacit_column *column;
        size_t field;
        CHECK_OK(tacit_source_require(source, wanted[k].field, "this test", &field, &error), error);
        CHECK_OK(tacit_table_declare(table, &column, wanted[k].field, wanted[k].kind, field, &error), error);
        if (wanted[k].date) column->date = tacit_detected_date;
    }
    table->identified = one_by_one;
    while (!ended) CHECK_OK(tacit_table_read(table, source, 0, &ended, &error), error);
    tacit_source_free(source);
    return table;
}

static const char *level_of(const tacit_column *column, size_t row) {
    return column->code[row] < 0 ? "(missing)" : column->levels.text[column->code[row]];
}

static void expect_same(const char *name) {
    char path[192];
    snprintf(path, sizeof path, "%s.round.csv", csv_path);
    tacit_table *expected = read_table(path, false);
    for (int way = 0; way < 2; way++) {
        tacit_table *got = read_table(name, way == 1);
        assert_int_equal(got->rows, ROWS);
        for (size_t j = 0; j < expected->cols; j++) {
            const tacit_column *a = &expected->columns[j], *b = &got->columns[j];
            assert_int_equal(a->missing, b->missing);
            for (size_t i = 0; i < ROWS; i++) {
                if (a->kind == TACIT_COLUMN_NUMBER && !(isnan(a->number[i]) && isnan(b->number[i])) &&
                    memcmp(&a->number[i], &b->number[i], sizeof(double)) != 0)
                    fail_msg("%s: %s, row %zu: %.17g and %.17g", name, a->name, i + 1, a->number[i],
                             b->number[i]);
                if (a->kind != TACIT_COLUMN_NUMBER && strcmp(level_of(a, i), level_of(b, i)) != 0)
                    fail_msg("%s: %s, row %zu: '%s' and '%s'", name, a->name, i + 1, level_of(a, i),
                             level_of(b, i));
            }
        }
        tacit_table_free(got);
    }
    tacit_table_free(expected);
}

static void write_csv(void) {
    char path[192], name[512];
    tacit_buffer text = TACIT_BUFFER_INIT;
    make(&forms[FORM_CSV], name, 1, false); /* for the paths */
    assert_int_equal(tacit_buffer_print(&text, NULL, "%s\n", names), TACIT_OK);
    for (size_t i = 0; i < ROWS; i++)
        assert_int_equal(tacit_buffer_append(&text, csv_rows[i], strlen(csv_rows[i]), NULL), TACIT_OK);
    snprintf(path, sizeof path, "%s.round.csv", csv_path);
    put(path, &text);
    tacit_buffer_clear(&text);
}

/* What a row is, besides: CSV says the numbers that were meant. */
static void csv_holds_every_extreme(void **state) {
    (void)state;
    char path[192];
    write_csv();
    snprintf(path, sizeof path, "%s.round.csv", csv_path);
    tacit_table *table = read_table(path, false);
    assert_true(table->columns[0].number[0] == 9007199254740992.0);
    assert_string_equal(level_of(&table->columns[1], 0), "9007199254740993");
    assert_true(table->columns[2].number[1] == 4.9406564584124654e-324);
    assert_true(isnan(table->columns[4].number[3]));
    assert_string_equal(level_of(&table->columns[7], 1), "a line\nand, a comma");
    assert_string_equal(level_of(&table->columns[7], 3), "(missing)");
    tacit_table_free(table);
}

/* SQLite has neither truth values nor dates: they are texts there, and decimals are numbers. */
static void sqlite_gives_what_csv_gives(void **state) {
    (void)state;
    char name[512], text[2048];
    write_csv();
    make(&forms[FORM_SQLITE], name, 1, false);
    snprintf(text, sizeof text,
             "CREATE TABLE r (whole INTEGER, fraction REAL, truth TEXT, day TEXT, instant TEXT, amount REAL, "
             "words TEXT);"
             "INSERT INTO r VALUES %s; UPDATE r SET truth = CASE truth WHEN '1' THEN 'true' WHEN '0' THEN "
             "'false' END",
             values);
    sqlite_do(text);
    snprintf(name, sizeof name, "sqlite:%s?SELECT * FROM r", sqlite_path);
    expect_same(name);
    /* The driver reads and gives 15 digits of a number: keep others as texts. */
    sqlite_do("ALTER TABLE r ADD COLUMN digits TEXT; UPDATE r SET digits = CASE rowid WHEN 1 THEN "
              "'1.7976931348623157e308' WHEN 2 THEN '5e-324' WHEN 3 THEN '-0.1' WHEN 5 THEN "
              "'2.2250738585072014e-308' END");
    const char *driver = odbc_driver("libsqlite3odbc.so");
    if (driver == NULL) return;
    snprintf(name, sizeof name,
             "odbc:Driver=%s;Database=%s?SELECT whole, digits AS fraction, truth, day, instant, amount, "
             "words FROM r",
             driver, sqlite_path);
    expect_same(name);
}

/* Truth values are t and f there, as in the CSV files that PostgreSQL writes, unless they are asked for as text. */
static void postgres_gives_what_csv_gives(void **state) {
    (void)state;
    char name[512], text[2048];
    if (server_name() == NULL) {
        print_message("# no PostgreSQL server: left out\n");
        return;
    }
    write_csv();
    PGconn *server = PQconnectdb(server_name());
    snprintf(text, sizeof text,
             "SET client_min_messages = warning; DROP TABLE IF EXISTS r; CREATE TABLE r (%s); INSERT INTO r "
             "VALUES %s",
             typed, values);
    PGresult *result = PQexec(server, text);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) fail_msg("%s", PQerrorMessage(server));
    PQclear(result);
    PQfinish(server);
    snprintf(name, sizeof name,
             "postgres:%s?SELECT whole, fraction, truth::text AS truth, day, instant, amount, words FROM r",
             server_name());
    expect_same(name);
    const char *driver = odbc_driver("psqlodbcw.so"), *host = strchr(server_name(), '=') + 1;
    if (driver == NULL) return;
    snprintf(name, sizeof name,
             "odbc:Driver=%s;Server=%.*s;UID=tacit;Database=postgres;BoolsAsChar=0?SELECT whole, fraction, "
             "CASE WHEN truth THEN 'true' WHEN NOT truth THEN 'false' END AS truth, day, instant, amount, "
             "words FROM r",
             driver, (int)strcspn(host, " "), host);
    expect_same(name);
}

static void duckdb_gives_what_csv_gives(void **state) {
    (void)state;
    char name[512], text[2560], path[192];
    if (!has_duckdb()) {
        print_message("# no libduckdb.so: left out\n");
        return;
    }
    write_csv();
    snprintf(path, sizeof path, "%s.round.duckdb", csv_path);
    snprintf(text, sizeof text, "CREATE TABLE r (%s); INSERT INTO r VALUES %s", typed, values);
    duckdb_do(path, text);
    expect_same(path);
    snprintf(name, sizeof name, "duckdb:%s?SELECT words, amount, instant, day, truth, fraction, whole FROM r",
             path);
    expect_same(name);
    static const char *const forms_of_files[] = { "parquet", "ndjson" };
    for (size_t k = 0; k < 2; k++) {
        snprintf(name, sizeof name, "%s.round.%s", csv_path, forms_of_files[k]);
        snprintf(text, sizeof text, "COPY r TO '%s' (FORMAT %s)", name, k == 0 ? "parquet" : "json");
        duckdb_do(path, text);
        expect_same(name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_holds_every_extreme),
        cmocka_unit_test(sqlite_gives_what_csv_gives),
        cmocka_unit_test(postgres_gives_what_csv_gives),
        cmocka_unit_test(duckdb_gives_what_csv_gives),
    };
    return cmocka_run_group_tests(tests, forms_begin, forms_end);
}
