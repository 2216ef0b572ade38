#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "data/source/csv.h"
#include "data/table.h"
#include "rand/stream.h"

/* A reader over text in memory. */
typedef struct source {
    tacit_input *input;
    tacit_csv *csv;
} source;

static tacit_status open_bytes(source *out, const void *bytes, size_t length,
                               const tacit_csv_options *options, tacit_error *error) {
    *out = (source){ NULL, NULL };
    TACIT_TRY(tacit_input_open_memory(&out->input, bytes, length, "t.csv", error));
    return tacit_csv_open(&out->csv, out->input, options, error);
}

static void close_source(source *in) {
    in->csv = tacit_csv_free(in->csv);
    in->input = tacit_input_free(in->input);
}

/* All cells of a text, joined: fields by '|', records by '\n'. */
static tacit_status flatten(tacit_buffer *out, const char *text, size_t length,
                            const tacit_csv_options *options, tacit_error *error) {
    source in;
    tacit_status status = open_bytes(&in, text, length, options, error);
    for (size_t i = 0; status == TACIT_OK && i < tacit_csv_column_count(in.csv); i++)
        tacit_buffer_print(out, NULL, "%s%s", i > 0 ? "|" : "", tacit_csv_column_name(in.csv, i));
    while (status == TACIT_OK) {
        tacit_record record;
        status = tacit_csv_next(in.csv, &record, error);
        if (status != TACIT_OK || record.count == 0) break;
        for (size_t i = 0; i < record.count; i++) {
            assert_int_equal(strlen(record.cells[i].text), record.cells[i].length);
            tacit_buffer_print(out, NULL, "%s%s", i > 0 ? "|" : "\n", record.cells[i].text);
        }
    }
    close_source(&in);
    return status;
}

static void expect(const char *text, const tacit_csv_options *options, const char *flat) {
    tacit_buffer got = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(flatten(&got, text, strlen(text), options, &error), error);
    assert_string_equal(tacit_buffer_text(&got), flat);
    tacit_buffer_clear(&got);
}

static void expect_failure(const char *text, size_t length, const tacit_csv_options *options,
                           tacit_status status, const char *sentence) {
    tacit_buffer got = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(flatten(&got, text, length, options, &error), status);
    if (strstr(error.text, sentence) == NULL) fail_msg("'%s' does not contain '%s'", error.text, sentence);
    tacit_buffer_clear(&got);
}

static void fields_follow_rfc_4180(void **state) {
    (void)state;
    expect("a,b\n1,2\n3,4\n", NULL, "a|b\n1|2\n3|4");
    expect("a,b\r\n1,2\r\n3,4", NULL, "a|b\n1|2\n3|4");
    expect("a,b\r1,2\r", NULL, "a|b\n1|2");
    expect("a,\"b,c\"\n\"x\ny\",\"q\"\"q\"\n", NULL, "a|b,c\nx\ny|q\"q");
    expect("\xef\xbb\xbf"
           "a,b\n1,2\n",
           NULL, "a|b\n1|2");
    expect("a,b\n,\n\"\",\n", NULL, "a|b\n|\n|");
    expect("a\n\"\"\n1\n", NULL, "a\n\n1");
}

static void friendly_beyond_the_rfc(void **state) {
    (void)state;
    expect("\n\na , b\n\n 1 ,\t2 \n  \n\" x \" , y\n", NULL, "a|b\n1|2\n x |y");
    expect("a,b\n5\" pipe,2\n", NULL, "a|b\n5\" pipe|2");
    expect("a,,c\n1,2,3\n", NULL, "a|column2|c\n1|2|3");
}

static void the_separator_is_found_or_given(void **state) {
    (void)state;
    expect("a;b\n1,5;2\n", NULL, "a|b\n1,5|2");
    expect("a\tb\n1\t2\n", NULL, "a|b\n1|2");
    expect("\"x;y;z\",b\n1,2\n", NULL, "x;y;z|b\n1|2");
    expect("a\tb\n\t2\n", NULL, "a|b\n|2");
    tacit_csv_options options = tacit_csv_defaults();
    options.separator = '|';
    expect("a|b\n1|2\n", &options, "a|b\n1|2");
    options.separator = '"';
    expect_failure("a\n1\n", 4, &options, TACIT_USAGE, "cannot separate fields");
}

static void without_a_header_columns_are_numbered(void **state) {
    (void)state;
    tacit_csv_options options = tacit_csv_defaults();
    options.no_header = true;
    expect("1,2\n3,4\n", &options, "column1|column2\n1|2\n3|4");
    expect_failure("1,2\n3\n", 6, &options, TACIT_INPUT,
                   "t.csv:2:2 (column2): the row has 1 field but the first row has 2");
}

static void errors_name_file_line_and_column(void **state) {
    (void)state;
    tacit_csv_options options = tacit_csv_defaults();
    expect_failure("", 0, NULL, TACIT_INPUT, "t.csv is empty; expected a header line");
    expect_failure("\n \n", 3, NULL, TACIT_INPUT, "t.csv is empty");
    expect_failure("a,b,c\n1,2,3\n1,2\n", 17, NULL, TACIT_INPUT,
                   "t.csv:3:3 (c): the row has 2 fields but the header has 3");
    expect_failure("a,b\n1,2,3\n", 10, NULL, TACIT_INPUT,
                   "t.csv:2:3: the row has 3 fields but the header has 2");
    expect_failure("a,b\n1,\"x\n\n\n", 11, NULL, TACIT_INPUT,
                   "t.csv:2:2 (b): the quote opened here is never closed");
    expect_failure("a,b\n1,\"x\n\n\"z\n", 13, NULL, TACIT_INPUT,
                   "t.csv:4:2 (b): text after the closing quote");
    expect_failure("a,b\n\"1\n2\",3\n4\n", 14, NULL, TACIT_INPUT, "t.csv:4:2 (b): the row has 1 field");
    expect_failure("a,b\n1,\0\n", 8, NULL, TACIT_INPUT, "t.csv:2:2 (b): a NUL byte");
    expect_failure("a,b\n1,\"\0\"\n", 10, NULL, TACIT_INPUT, "t.csv:2:2 (b): a NUL byte");
    expect_failure("a,b,a\n", 6, NULL, TACIT_INPUT,
                   "t.csv:1:3: column name 'a' was already used by column 1");
    expect_failure("a,\xff\n1,2\n", 8, NULL, TACIT_INPUT, "t.csv:1:2: the column's name is not UTF-8");
    options.field_limit = 4;
    expect("a,b\n1234,2\n", &options, "a|b\n1234|2");
    expect_failure("a,b\n12345,2\n", 12, &options, TACIT_LIMIT,
                   "t.csv:2:1 (a): a field is longer than 4 bytes");
    expect_failure("a,b\n\"12345\",2\n", 14, &options, TACIT_LIMIT, "is a closing quote missing?");
}

static void ten_million_columns_are_refused_early(void **state) {
    (void)state;
    size_t length = 20000000;
    char *text = malloc(length);
    assert_non_null(text);
    for (size_t i = 0; i < length; i += 2) memcpy(text + i, "a,", 2);
    expect_failure(text, length, NULL, TACIT_LIMIT, "t.csv:1:100001: more than 100000 columns");
    free(text);
}

/* Random tables, written with random quoting, line ends and separators, read back as they were. */
static void random_tables_survive_the_trip(void **state) {
    (void)state;
    const uint64_t seed = 20240607;
    print_message("# seed %llu\n", (unsigned long long)seed);
    static const char letters[] = "ab1 ,;\t\"\n\r.\xc3\xa9";
    tacit_stream stream = tacit_stream_from_seed(seed);
    for (int trial = 0; trial < 300; trial++) {
        tacit_buffer text = TACIT_BUFFER_INIT, flat = TACIT_BUFFER_INIT, got = TACIT_BUFFER_INIT;
        tacit_csv_options options = tacit_csv_defaults();
        options.separator = ",;\t"[tacit_stream_below(&stream, 3)];
        const char *line_end = tacit_stream_below(&stream, 2) ? "\n" : "\r\n";
        size_t columns = 1 + tacit_stream_below(&stream, 6), rows = tacit_stream_below(&stream, 30);
        for (size_t i = 0; i <= rows; i++) {
            for (size_t j = 0; j < columns; j++) {
                char cell[40];
                size_t length = tacit_stream_below(&stream, 12);
                for (size_t k = 0; k < length; k++)
                    cell[k] = letters[tacit_stream_below(&stream, sizeof letters - 1)];
                if (i == 0) length = (size_t)snprintf(cell, sizeof cell, "name%zu", j);
                cell[length] = 0;
                if (j > 0) tacit_buffer_append(&text, &options.separator, 1, NULL);
                if (tacit_stream_below(&stream, 3) == 0 && strpbrk(cell, "\"") == NULL)
                    tacit_buffer_print(&text, NULL, " \"%s\"  ", cell);
                else
                    assert_int_equal(tacit_csv_write_field(&text, cell, length, options.separator, NULL),
                                     TACIT_OK);
                tacit_buffer_print(&flat, NULL, "%s%s", j > 0 ? "|" : i > 0 ? "\n" : "", cell);
            }
            tacit_buffer_print(&text, NULL, "%s", line_end);
        }
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(flatten(&got, tacit_buffer_text(&text), text.length, &options, &error), error);
        assert_string_equal(tacit_buffer_text(&got), tacit_buffer_text(&flat));
        tacit_buffer_clear(&text);
        tacit_buffer_clear(&flat);
        tacit_buffer_clear(&got);
    }
}

static tacit_status read_table(tacit_table **out, const char *text, size_t length, tacit_error *error) {
    tacit_input *input = NULL;
    tacit_source *rows = NULL;
    tacit_table *table = NULL;
    bool ended;
    tacit_status status = tacit_input_open_memory(&input, text, length, "t.csv", error);
    if (status == TACIT_OK) status = tacit_source_open_input(&rows, input, NULL, error);
    if (status == TACIT_OK) status = tacit_table_create(&table, rows, error);
    if (status == TACIT_OK) status = tacit_table_read(table, rows, 0, &ended, error);
    tacit_source_free(rows);
    tacit_input_free(input);
    if (status != TACIT_OK) table = tacit_table_free(table);
    *out = table;
    return status;
}

static void kinds_are_found_and_missing_values_kept(void **state) {
    (void)state;
    const char text[] = "n,t,m,all\n1,x,1,NA\n?,NA,b,\nnull,y,,NaN\n-2e1,x,3,?\n";
    tacit_table *table = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(read_table(&table, text, sizeof text - 1, &error), error);
    assert_int_equal(table->rows, 4);
    const tacit_column *n = &table->columns[0], *t = &table->columns[1], *m = &table->columns[2];
    assert_int_equal(n->kind, TACIT_COLUMN_NUMBER);
    assert_int_equal(n->missing, 2);
    assert_true(n->number[0] == 1 && isnan(n->number[1]) && isnan(n->number[2]) && n->number[3] == -20);
    assert_int_equal(t->kind, TACIT_COLUMN_CATEGORY);
    assert_int_equal(t->levels.count, 2);
    assert_int_equal(t->code[0], t->code[3]);
    assert_int_equal(t->code[1], TACIT_CODE_MISSING);
    assert_int_equal(m->kind, TACIT_COLUMN_CATEGORY);
    assert_int_equal(m->levels.count, 3);
    assert_int_equal(table->columns[3].kind, TACIT_COLUMN_NUMBER);
    assert_int_equal(table->columns[3].missing, 4);
    tacit_table_free(table);
}

/* `count` rows of numbers in the second column, then one row of `last`. */
static void long_text(tacit_buffer *out, size_t count, const char *last) {
    tacit_buffer_print(out, NULL, "a,b\n");
    for (size_t i = 0; i < count; i++) tacit_buffer_print(out, NULL, "%zu,%zu.5\n", i, i);
    tacit_buffer_print(out, NULL, "0,%s\n", last);
}

static void a_text_among_the_first_rows_makes_a_category_and_later_an_error(void **state) {
    (void)state;
    tacit_table *table = NULL;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    long_text(&text, 500, "V57");
    CHECK_OK(read_table(&table, tacit_buffer_text(&text), text.length, &error), error);
    assert_int_equal(table->columns[1].kind, TACIT_COLUMN_CATEGORY);
    assert_int_equal(table->columns[1].levels.count, 501);
    table = tacit_table_free(table);
    tacit_buffer_clear(&text);
    long_text(&text, 10000, "V57");
    assert_int_equal(read_table(&table, tacit_buffer_text(&text), text.length, &error), TACIT_INPUT);
    assert_non_null(
        strstr(error.text, "t.csv:10002:2 (b): 'V57' is not a number; the rows before hold numbers"));
    tacit_buffer_clear(&text);
    long_text(&text, 999, "?");
    tacit_buffer_print(&text, NULL, "0,word\n1,word2\n2,word2\n");
    error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(read_table(&table, tacit_buffer_text(&text), text.length, &error), error);
    assert_true(table->columns[1].overflow);
    assert_null(table->columns[1].code);
    tacit_table_free(table);
    tacit_buffer_clear(&text);
}

static void empty_and_broken_tables_are_refused(void **state) {
    (void)state;
    tacit_table *table = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(read_table(&table, "a,b\n", 4, &error), TACIT_INPUT);
    assert_string_equal(error.text, "t.csv has a header but no rows");
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(read_table(&table, "a,b\n1,\xe9t\xe9\n", 10, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "t.csv:2:2 (b): the text is not UTF-8"));
}

static void a_mistyped_column_gets_a_hint(void **state) {
    (void)state;
    tacit_table *table = NULL;
    const char text[] = "age,sex,diagnosis\n1,f,x\n";
    size_t at;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(read_table(&table, text, sizeof text - 1, &error), error);
    CHECK_OK(tacit_table_find(table, "sex", "the option 'label'", &at, &error), error);
    assert_int_equal(at, 1);
    assert_int_equal(tacit_table_find(table, "Diagnosys", "the option 'label'", &at, &error), TACIT_USAGE);
    assert_string_equal(error.text,
                        "t.csv has no column 'Diagnosys' (the option 'label'); did you mean 'diagnosis'?");
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_table_find(table, "quality", "the option 'label'", &at, &error), TACIT_USAGE);
    assert_string_equal(error.text,
                        "t.csv has no column 'quality' (the option 'label'); there are age, sex, diagnosis");
    tacit_table_free(table);
}

static void a_list_of_many_names_is_cut(void **state) {
    (void)state;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_table *table = NULL;
    size_t at;
    for (int i = 0; i < 5000; i++) tacit_buffer_print(&text, NULL, "measurement_%d,", i);
    tacit_buffer_print(&text, NULL, "y\n");
    for (int i = 0; i < 5000; i++) tacit_buffer_print(&text, NULL, "%d,", i);
    tacit_buffer_print(&text, NULL, "1\n");
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(read_table(&table, tacit_buffer_text(&text), text.length, &error), error);
    assert_int_equal(tacit_table_find(table, "target", "the option 'label'", &at, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "measurement_0, measurement_1"));
    assert_non_null(strstr(error.text, "... (5001 in all)"));
    tacit_table_free(table);
    tacit_buffer_clear(&text);
}

/* Passing over any of the records leaves the others, and their lines, as they are. */
static void records_can_be_passed_over(void **state) {
    static const char text[] =
        "a,b\n1,one\n\n2,\"two\nlines\"\r\n \t\n3,\"quoted \"\"\"\n4,it \"is\" plain\r\n5,last";
    static const char *const names[] = { "one", "two\nlines", "quoted \"", "it \"is\" plain", "last" };
    static const uint64_t lines[] = { 2, 4, 7, 8, 9 };
    (void)state;
    for (unsigned skipped = 0; skipped < 1 << 5; skipped++) {
        source in;
        tacit_error error = TACIT_ERROR_INIT;
        tacit_record record;
        bool ended = true;
        CHECK_OK(open_bytes(&in, text, sizeof text - 1, NULL, &error), error);
        for (size_t i = 0; i < 5; i++) {
            if (skipped >> i & 1) {
                CHECK_OK(tacit_csv_skip(in.csv, &ended, &error), error);
                assert_false(ended);
                continue;
            }
            CHECK_OK(tacit_csv_next(in.csv, &record, &error), error);
            assert_int_equal(record.count, 2);
            assert_string_equal(record.cells[1].text, names[i]);
            assert_int_equal(record.line, lines[i]);
        }
        CHECK_OK(tacit_csv_skip(in.csv, &ended, &error), error);
        assert_true(ended);
        close_source(&in);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_follow_rfc_4180),
        cmocka_unit_test(friendly_beyond_the_rfc),
        cmocka_unit_test(the_separator_is_found_or_given),
        cmocka_unit_test(without_a_header_columns_are_numbered),
        cmocka_unit_test(errors_name_file_line_and_column),
        cmocka_unit_test(ten_million_columns_are_refused_early),
        cmocka_unit_test(random_tables_survive_the_trip),
        cmocka_unit_test(records_can_be_passed_over),
        cmocka_unit_test(kinds_are_found_and_missing_values_kept),
        cmocka_unit_test(a_text_among_the_first_rows_makes_a_category_and_later_an_error),
        cmocka_unit_test(empty_and_broken_tables_are_refused),
        cmocka_unit_test(a_mistyped_column_gets_a_hint),
        cmocka_unit_test(a_list_of_many_names_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
