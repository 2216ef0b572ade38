/* What is special to rows that DuckDB reads: types, patterns, folders, databases, and what a query may not do. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/source/part.h"
#include "source_forms.h"

static void expect_query(const char *name, const char *expected) {
    tacit_source *source = NULL;
    reading got = { .count = 0 };
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_source_open(&source, name, NULL, &error), error);
    assert_string_equal(source->kind->name, "duckdb");
    for (int pass = 0; pass < 2; pass++) {
        reading_clear(&got);
        CHECK_OK(read_rest(source, 100, &got, &error), error);
        if (strcmp(tacit_buffer_text(&got.rows), expected) != 0)
            fail_msg("%s: expected %s got %s", name, expected, tacit_buffer_text(&got.rows));
        CHECK_OK(tacit_source_rewind(source, &error), error);
    }
    reading_clear(&got);
    tacit_source_free(source);
}

static void fails(const char *name, tacit_status expected, const char *says) {
    tacit_source *source = NULL;
    reading got = { .count = 0 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_source_open(&source, name, NULL, &error);
    if (status == TACIT_OK) status = read_rest(source, 100, &got, &error);
    reading_clear(&got);
    tacit_source_free(source);
    if (status != expected || strstr(error.text, says) == NULL)
        fail_msg("%s: expected %d '%s', got %d: %s", name, (int)expected, says, (int)status, error.text);
}

static void values_of_every_type_keep_their_digits(void **state) {
    (void)state;
    expect_query(
        "duckdb:SELECT (-1)::TINYINT, 2::SMALLINT, 3::INTEGER, 4::UTINYINT, 5::USMALLINT, 6::UINTEGER",
        "-1|2|3|4|5|6\n");
    expect_query("duckdb:SELECT 9007199254740993::BIGINT, (-9223372036854775808)::BIGINT, "
                 "18446744073709551615::UBIGINT",
                 "9007199254740993|-9223372036854775808|18446744073709551615\n");
    expect_query("duckdb:SELECT 0.1::DOUBLE + 0.2::DOUBLE, 0.5::FLOAT, 'nan'::DOUBLE, '-inf'::FLOAT",
                 "0.30000000000000004|0.5||-inf\n");
    expect_query("duckdb:SELECT 0.07::DECIMAL(15,2), 12345678901234567.89::DECIMAL(19,2), 1e30::HUGEINT",
                 "0.070000000000000007|12345678901234567.89|1000000000000000019884624838656\n");
    expect_query("duckdb:SELECT 1234567890123.456789::DECIMAL(19,6), 0.07::DECIMAL(18,2), "
                 "(-0.000000000000000000000000000000000001)::DECIMAL(38,36), 12.5::DECIMAL(4,1)",
                 "1234567890123.4568|0.070000000000000007|-9.9999999999999994e-37|12.5\n");
    expect_query("duckdb:SELECT 7::HUGEINT, (-170141183460469231731687303715884105728)::HUGEINT, "
                 "340282366920938463463374607431768211455::UHUGEINT",
                 "7|-170141183460469231731687303715884105728|340282366920938463463374607431768211455\n");
    expect_query("duckdb:SELECT TIMESTAMP '1969-12-31 23:59:59.25', '2024-02-29 12:30:00'::TIMESTAMP_S, "
                 "'2024-02-29 00:00:00.001'::TIMESTAMP_MS, '2024-02-29 00:00:00.000000001'::TIMESTAMP_NS, "
                 "'infinity'::TIMESTAMP",
                 "1969-12-31 23:59:59.25|2024-02-29 12:30:00|2024-02-29 00:00:00.001|"
                 "2024-02-29 00:00:00.000000001|a date outside the years 1 to 9999\n");
    expect_query("duckdb:SELECT v::ENUM('first', 'second', '') FROM (VALUES ('second'), (NULL), (''), "
                 "('first')) t(v)",
                 "second\n\n\nfirst\n");
    expect_query("duckdb:SELECT true, false, NULL::BOOLEAN, 'a'::ENUM('a', 'b'), ''", "true|false||a|\n");
    expect_query(
        "duckdb:SELECT DATE '2024-02-29', TIMESTAMP '2024-02-29 12:30:00', TIME '01:02:03', NULL::DATE",
        "2024-02-29|2024-02-29 12:30:00|01:02:03|\n");
    expect_query("duckdb:SELECT 'twelve bytes', 'thirteen byte', [1, 2] AS list, 'text'::BLOB",
                 "twelve bytes|thirteen byte|a list or a structure|text\n");
    expect_query("duckdb:SELECT '\\xFF\\x00'::BLOB AS b", "bytes that are no text\n");
}

static void a_query_reads_and_no_more(void **state) {
    (void)state;
    char path[192], name[512];
    make(&forms[FORM_DUCKDB], name, 3, false);
    snprintf(path, sizeof path, "%s.out", parquet_path);
    snprintf(name, sizeof name, "duckdb:COPY (SELECT 1) TO '%s'", path);
    fails(name, TACIT_USAGE, "must be one SELECT");
    assert_int_equal(access(path, F_OK), -1);
    fails("duckdb:SELECT 1; SELECT 2", TACIT_USAGE, "must be one SELECT");
    fails("duckdb:SET threads = 4", TACIT_USAGE, "must be one SELECT");
    fails("duckdb:INSTALL httpfs", TACIT_USAGE, "must be one SELECT");
    fails("duckdb:", TACIT_USAGE, "must be one SELECT");
    fails("duckdb:SELECT FROM WHERE", TACIT_INPUT, "DuckDB: ");
    fails("duckdb:SELECT 1 AS a, 2 AS a", TACIT_INPUT, "both called 'a'");
    fails("duckdb:SELECT * FROM 'https://127.0.0.1:9/rows.parquet'", TACIT_INPUT,
          "httpfs"); /* and it is not fetched */
    fails("duckdb:SELECT i, (1 / (3 - i))::VARCHAR::DATE FROM range(9) t(i)", TACIT_INPUT, "DuckDB: ");
    fails("duckdb:/nowhere/clinic.duckdb?SELECT 1", TACIT_INPUT, "/nowhere/clinic.duckdb");
    fails("duckdb:/nowhere/clinic.duckdb", TACIT_USAGE, "question mark");
    snprintf(name, sizeof name, "duckdb:SELECT who FROM '%s' ORDER BY who DESC; -- the last first",
             parquet_path);
    expect_query(name, "p2\np1\np0\n");
}

static void a_pattern_or_a_folder_is_one_table(void **state) {
    (void)state;
    char folder[160], name[512], text[1024];
    make(&forms[FORM_DUCKDB], name, 1, false);
    snprintf(folder, sizeof folder, "%s-parts", parquet_path);
    assert_int_equal(mkdir(folder, 0700), 0);
    for (int k = 0; k < 3; k++) {
        snprintf(text, sizeof text, "COPY (SELECT %d AS k, 'it''s' AS t) TO '%s/part %d.parquet'", k, folder,
                 k);
        duckdb_do(NULL, text);
    }
    expect_query(folder, "0|it's\n1|it's\n2|it's\n");
    snprintf(name, sizeof name, "%s/*[12].parquet", folder);
    expect_query(name, "1|it's\n2|it's\n");
    snprintf(
        text, sizeof text,
        "COPY (SELECT k, k %% 2 AS odd FROM range(4) t(k)) TO '%s/by' (FORMAT parquet, PARTITION_BY (odd))",
        folder);
    duckdb_do(NULL, text);
    snprintf(name, sizeof name, "%s/by", folder);
    expect_query(name, "0|0\n2|0\n1|1\n3|1\n");
}

/* Rows of all parts together, and whether all of them are parts. */
static size_t read_parts(const char *name, size_t parts, bool seen[100], bool *are_parts) {
    static const tacit_source_options plain;
    size_t rows = 0;
    *are_parts = true;
    for (size_t own = 0; own < parts; own++) {
        tacit_source *source = NULL;
        reading got = { .count = 0 };
        tacit_error error = TACIT_ERROR_INIT;
        bool is_part = false;
        CHECK_OK(tacit_source_open_part(&source, &is_part, name, &plain, own, parts, &error), error);
        CHECK_OK(read_rest(source, 1000, &got, &error), error);
        for (const char *at = tacit_buffer_text(&got.rows); *at != 0; at = strchr(at, '\n') + 1, rows++)
            seen[strtoul(at, NULL, 10) % 100] = true;
        *are_parts = *are_parts && is_part;
        reading_clear(&got);
        tacit_source_free(source);
    }
    return rows;
}

static void every_row_is_in_one_part(void **state) {
    (void)state;
    char folder[160], name[512], text[1024];
    make(&forms[FORM_DUCKDB], name, 1, false);
    snprintf(folder, sizeof folder, "%s-dealt", parquet_path);
    assert_int_equal(mkdir(folder, 0700), 0);
    for (int k = 0; k < 3; k++) { /* 20, 30 and 50 rows; a date, so that the query is around another */
        static const int from[] = { 0, 20, 50, 100 };
        snprintf(
            text, sizeof text,
            "COPY (SELECT i, '2024-01-01'::TIMESTAMP AS t FROM range(%d, %d) r(i)) TO '%s/it''s %d.parquet'",
            from[k], from[k + 1], folder, k);
        duckdb_do(NULL, text);
    }
    for (size_t parts = 2; parts < 8; parts++)
        for (int single = 0; single < 2; single++) {
            bool seen[100] = { false }, are_parts = false;
            snprintf(name, sizeof name, "%s%s", folder, single ? "/it's 2.parquet" : "");
            assert_int_equal(read_parts(name, parts, seen, &are_parts), single ? 50 : 100);
            for (size_t i = single ? 50 : 0; i < 100; i++) assert_true(seen[i]);
            assert_true(are_parts);
        }
    bool seen[100], are_parts = true; /* too few rows for so many parts: each reads all, and keeps its own */
    assert_int_equal(read_parts(name, 60, seen, &are_parts), 60 * 50);
    assert_false(are_parts);
    assert_int_equal(read_parts("duckdb:SELECT 7 AS i", 2, seen, &are_parts), 2);
    assert_false(are_parts);
}

/* Of a pattern that goes into folders, as DuckDB understands it. */
static void every_row_of_a_deep_pattern_is_in_one_part(void **state) {
    (void)state;
    char folder[160], name[512], text[1024];
    tacit_source *source = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    make(&forms[FORM_DUCKDB], name, 1, false);
    for (int depth = 0; depth < 3; depth++) {
        static const char *const below[] = { "", "/a", "/a/b" };
        static const int from[] = { 0, 10, 40, 100 };
        snprintf(folder, sizeof folder, "%s-deep%s", parquet_path, below[depth]);
        assert_int_equal(mkdir(folder, 0700), 0);
        snprintf(text, sizeof text, "COPY (SELECT i FROM range(%d, %d) r(i)) TO '%s/rows.parquet'",
                 from[depth], from[depth + 1], folder);
        duckdb_do(NULL, text);
    }
    snprintf(name, sizeof name, "%s-deep/**/*.parquet", parquet_path);
    for (size_t parts = 1; parts < 6; parts++) {
        bool seen[100] = { false }, are_parts = false;
        assert_int_equal(read_parts(name, parts, seen, &are_parts), 100);
        for (size_t i = 0; i < 100; i++) assert_true(seen[i]);
        assert_int_equal(are_parts, parts > 1);
    }
    CHECK_OK(tacit_source_open(&source, name, NULL, &error), error);
    duckdb_do(NULL, text); /* the deepest one, again */
    assert_int_equal(tacit_source_rewind(source, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "has changed"));
    tacit_source_free(source);
}

static void json_and_databases_are_named_by_their_paths(void **state) {
    (void)state;
    char path[192], name[512];
    tacit_buffer text = TACIT_BUFFER_INIT;
    make(&forms[FORM_DUCKDB], name, 1, false);
    snprintf(path, sizeof path, "%s.ndjson", parquet_path);
    tacit_buffer_print(&text, NULL, "{\"age\": 1.5, \"sick\": \"no\"}\n{\"age\": null, \"sick\": \"yes\"}\n");
    put(path, &text);
    tacit_buffer_clear(&text);
    expect_query(path, "1.5|no\n|yes\n");
    snprintf(path, sizeof path, "%s.duckdb", parquet_path);
    duckdb_do(path, "CREATE TABLE \"my visits\" AS SELECT k FROM range(3) t(k)");
    expect_query(path, "0\n1\n2\n");
    snprintf(name, sizeof name, "duckdb:%s?SELECT sum(k) AS s FROM \"my visits\"", path);
    expect_query(name, "3\n");
    snprintf(name, sizeof name, "duckdb:%s?DELETE FROM \"my visits\" RETURNING k", path);
    fails(name, TACIT_USAGE, "must be one SELECT");
    duckdb_do(path, "CREATE TABLE other AS SELECT 1 AS k");
    fails(path, TACIT_USAGE, "has 2 tables");
}

static void a_file_that_changes_between_passes_is_refused(void **state) {
    (void)state;
    char name[512];
    tacit_source *source = NULL;
    reading got = { .count = 0 };
    tacit_error error = TACIT_ERROR_INIT;
    make(&forms[FORM_DUCKDB], name, 5, false);
    CHECK_OK(tacit_source_open(&source, name, NULL, &error), error);
    CHECK_OK(read_rest(source, 100, &got, &error), error);
    forms[FORM_DUCKDB].change(5);
    assert_int_equal(tacit_source_rewind(source, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "has changed"));
    reading_clear(&got);
    tacit_source_free(source);
}

static bool keeps_most(const void *context, uint64_t row) {
    (void)context;
    return row % 11 != 3;
}

/* An identity of each row has them come one by one. */
static tacit_dataset *load_rows(const char *name, const char *missing, bool one_by_one, bool some) {
    static const tacit_row_filter most = { keeps_most, NULL };
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = NULL;
    tacit_dataset *out = NULL;
    char text[2048];
    snprintf(text, sizeof text,
             "label: {name: y, classes: [\"no\", \"yes\"]}\nmissing: %s\ncolumns:\n"
             "  - {name: a, kind: number, low: 0, high: 50}\n  - {name: b, kind: number, low: -1, high: 1}\n"
             "  - {name: d, kind: number, low: 8000, high: 9000, date: days since 2000-01-01}\n"
             "  - {name: c, kind: category, levels: [short, a level of many letters, another one as long]}\n"
             "  - {name: k, kind: category, levels: [\"0\", \"1\", \"2\"]}\n"
             "  - {name: t, kind: category, levels: [\"false\", \"true\"]}\n"
             "  - {name: e, kind: category, levels: [low, high]}\n"
             "  - {name: s, kind: number, low: 8000, high: 9000, date: days since 2000-01-01}\n"
             "  - {name: m, kind: number, low: 0, high: 20000}\n"
             "  - {name: l, kind: number, low: 0, high: 1}\n"
             "  - {name: h, kind: number, low: 0, high: 1e30}\nintercept: yes\n",
             missing);
    CHECK_OK(tacit_schema_parse(&schema, text, strlen(text), "s.yaml", &error), error);
    options.identified = one_by_one;
    options.rows = some ? &most : NULL;
    options.storage = TACIT_STORAGE_DENSE;
    CHECK_OK(tacit_dataset_load(&out, NULL, name, schema, &options, &error), error);
    tacit_schema_free(schema);
    return out;
}

static void columns_are_read_to_the_same_rows_as_cells(void **state) {
    (void)state;
    static const char *const name =
        "duckdb:SELECT CASE WHEN i % 13 = 5 THEN NULL ELSE i % 64 END::INTEGER "
        "AS a, CASE WHEN i % 17 = 2 AND i > 5000 THEN "
        "'nan'::DOUBLE ELSE sin(i) * 1.1 END AS b, DATE '2022-06-01' + (i % "
        "300)::INTEGER AS d, CASE i % 5 WHEN 0 THEN "
        "'short' WHEN 1 THEN 'a level of many letters' WHEN 2 THEN 'NA' WHEN 3 "
        "THEN 'no level at all' ELSE 'another one as "
        "long' END AS c, (i % 3)::TINYINT AS k, CASE WHEN i % 2 = 0 THEN 'yes' "
        "ELSE 'no' END AS y, CASE WHEN i % 19 = 4 THEN NULL ELSE i % 3 = 0 END AS t, "
        "CASE i % 7 WHEN 0 THEN NULL WHEN 1 THEN 'NA' WHEN 2 THEN 'high' ELSE 'low' "
        "END::ENUM('NA', 'high', 'low') AS e, TIMESTAMP '2022-06-01 11:59:59' + "
        "INTERVAL (i % 300 * 36) HOUR AS s, (i * 1.37)::DECIMAL(9,2) AS m, "
        "CASE WHEN i % 29 = 1 THEN NULL ELSE (i / 9001.0)::DECIMAL(30,25) END AS l, "
        "(i::HUGEINT * 123456789012345678901234567) AS h FROM range(9001) t(i)";
    static const char *const missing[] = { "fill", "complete-case" };
    for (size_t k = 0; k < 2; k++)
        for (int some = 0; some < 2; some++) {
            tacit_dataset *by_column = load_rows(name, missing[k], false, some);
            tacit_dataset *by_cell = load_rows(name, missing[k], true, some);
            assert_true(by_cell->rows > 1000);
            assert_int_equal(by_column->rows, by_cell->rows);
            assert_memory_equal(by_column->dense.values, by_cell->dense.values,
                                by_cell->rows * by_cell->features * sizeof(double));
            assert_memory_equal(by_column->label, by_cell->label, by_cell->rows * sizeof *by_cell->label);
            assert_memory_equal(&by_column->counts, &by_cell->counts, sizeof by_cell->counts);
            assert_int_equal(by_column->missing.count, by_cell->missing.count);
            tacit_dataset_free(by_column);
            tacit_dataset_free(by_cell);
        }
}

/* Of the good files DuckDB refuses one, in a sentence: it knows this encoding of floating-point numbers only. */
static bool is_unknown_encoding(const char *file) {
    return strcmp(file, "byte_stream_split_extended.gzip.parquet") == 0;
}

/* Of the bad files DuckDB refuses five. The others can be decoded: two are lists, which are refused where a column is used; one has a damaged
 * page that only its checksum tells, which DuckDB does not look at; one says where its dictionary begins wrongly and one gives its
 * indices no bits, and both have their values all the same. */
static bool can_be_decoded(const char *file) {
    static const char *const names[] = { "ARROW-GH-43605.parquet", "ARROW-GH-45185.parquet",
                                         "ARROW-RS-GH-6229-LEVELS.parquet",
                                         "datapage_v1-corrupt-checksum.parquet",
                                         "nation.dict-malformed.parquet" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(file, names[i]) == 0) return true;
    return false;
}

static tacit_status read_file(const char *path, size_t *rows, tacit_error *error) {
    tacit_source *source = NULL;
    reading got = { .count = 0 };
    tacit_status status = tacit_source_open(&source, path, NULL, error);
    if (status == TACIT_OK) status = read_rest(source, 1000, &got, error);
    *rows = got.count;
    reading_clear(&got);
    tacit_source_free(source);
    return status;
}

/* The good files are read, the bad ones end in a sentence, or in rows where they can be decoded, and none in a crash. How many there were. */
static size_t try_files(const char *folder, bool bad) {
    char pattern[512];
    glob_t found = { .gl_pathc = 0 };
    snprintf(pattern, sizeof pattern, "%s/%s/*.parquet", folder, bad ? "bad" : "good");
    if (glob(pattern, 0, NULL, &found) != 0) fail_msg("no file is called %s", pattern);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *file = strrchr(found.gl_pathv[i], '/') + 1;
        tacit_error error = TACIT_ERROR_INIT;
        size_t rows = 0;
        tacit_status status = read_file(found.gl_pathv[i], &rows, &error);
        const bool refusable = bad || is_unknown_encoding(file);
        if (status != TACIT_OK && (!refusable || status != TACIT_INPUT || strstr(error.text, file) == NULL))
            fail_msg("%s: %d %s", file, (int)status, error.text);
        if (status == TACIT_OK && rows == 0) fail_msg("%s: no rows", file);
        if (status == TACIT_OK && bad && !can_be_decoded(file)) fail_msg("%s was read", file);
    }
    const size_t count = found.gl_pathc;
    globfree(&found);
    return count;
}

static void a_file_of_another_writer_is_read_and_damaged_ones_are_refused(void **state) {
    (void)state;
    assert_int_equal(try_files(SAMPLES, false), 1);
    assert_int_equal(try_files(SAMPLES, true), 2);
    expect_query("duckdb:SELECT * FROM '" SAMPLES "/good/alltypes_plain.snappy.parquet'",
                 "6|true|0|0|0|0|0|0|04/01/09|0|2009-04-01 00:00:00\n"
                 "7|false|1|1|1|10|1.1000000238418579|10.1|04/01/09|1|2009-04-01 00:01:00\n");
}

static void sample_files_of_other_writers_are_read_or_refused(void **state) {
    (void)state;
    char folder[400];
    snprintf(folder, sizeof folder, "%s/parquet", getenv("TACIT_DATA"));
    assert_true(try_files(folder, false) > 1);
    assert_true(try_files(folder, true) > 1);
}

static void without_the_library_one_sentence_says_how_to_install_it(void **state) {
    (void)state;
    const char *before = getenv("TACIT_DUCKDB");
    char *kept = strdup(before != NULL ? before : "");
    setenv("TACIT_DUCKDB", "/nowhere/libduckdb.so", 1);
    fails("/data/rows.parquet", TACIT_USAGE, "script/setup with");
    fails("duckdb:SELECT 1", TACIT_USAGE, "script/setup with");
    setenv("TACIT_DUCKDB", kept, 1);
    free(kept);
}

static void a_hardened_process_reaches_files_and_library(void **state) {
    (void)state;
    tacit_harden_settings settings = { .count = 0 };
    char name[512];
    bool folder = false, library = false;
    make(&forms[FORM_DUCKDB], name, 1, false);
    tacit_source_allow(&settings, name);
    *strrchr(name, '/') = 0;
    for (size_t i = 0; i < settings.count; i++) {
        folder = folder || (strcmp(settings.paths[i], name) == 0 && !settings.writes[i]);
        library = library || strcmp(settings.paths[i], getenv("TACIT_DUCKDB")) == 0;
    }
    assert_true(folder && library && !settings.reads_all);
    tacit_source_allow(&settings, "duckdb:SELECT * FROM '/data/rows.parquet'");
    assert_true(settings.reads_all); /* where a query reads is known to DuckDB alone */
    tacit_harden_clear(&settings);
}

/* As a test by itself, because it is skipped where the files are not. */
static int try_samples(void) {
    enum { SKIPPED = 77 };
    const struct CMUnitTest samples[] = {
        cmocka_unit_test(sample_files_of_other_writers_are_read_or_refused),
    };
    const char *data = getenv("TACIT_DATA");
    if (data != NULL && data[0] != 0 && has_duckdb())
        return cmocka_run_group_tests(samples, forms_begin, forms_end);
    printf("# skipped: %s\n", has_duckdb() ? "TACIT_DATA names no folder with parquet/good and parquet/bad"
                                           : "DuckDB is not installed");
    return SKIPPED;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "samples") == 0) return try_samples();
    const struct CMUnitTest all[] = {
        cmocka_unit_test(without_the_library_one_sentence_says_how_to_install_it),
        cmocka_unit_test(values_of_every_type_keep_their_digits),
        cmocka_unit_test(a_query_reads_and_no_more),
        cmocka_unit_test(a_pattern_or_a_folder_is_one_table),
        cmocka_unit_test(every_row_is_in_one_part),
        cmocka_unit_test(every_row_of_a_deep_pattern_is_in_one_part),
        cmocka_unit_test(json_and_databases_are_named_by_their_paths),
        cmocka_unit_test(a_file_that_changes_between_passes_is_refused),
        cmocka_unit_test(columns_are_read_to_the_same_rows_as_cells),
        cmocka_unit_test(a_file_of_another_writer_is_read_and_damaged_ones_are_refused),
        cmocka_unit_test(a_hardened_process_reaches_files_and_library),
    };
    const struct CMUnitTest missing[] = {
        cmocka_unit_test(without_the_library_one_sentence_says_how_to_install_it),
    };
    return has_duckdb() ? cmocka_run_group_tests(all, forms_begin, forms_end)
                        : cmocka_run_group_tests(missing, forms_begin, forms_end);
}
