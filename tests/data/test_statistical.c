/* Files of SAS, Stata and SPSS: labels, missing values, dates, and files that are damaged. */
#include <readstat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source_forms.h"

typedef readstat_error_t begin_function(readstat_writer_t *writer, void *file, long rows);

typedef struct program {
    const char *name, *file, *date; /* of the date's format */
    begin_function *begin;
    unsigned version;      /* of the file; 0: as it comes */
    double epoch, day;     /* 1970-01-01 in its days; units in one */
    bool labels, declares; /* has labels of values; has declared missing values */
} program;

static const program programs[] = {
    { "Stata 13", "t.dta", "%td", readstat_begin_writing_dta, 118, 3653, 1, true, false },
    { "Stata 12", "t.dta", "%td", readstat_begin_writing_dta, 115, 3653, 1, true, false },
    { "Stata with times", "t.dta", "%tc", readstat_begin_writing_dta, 118, 3653, 86400000, true, false },
    { "SPSS", "t.sav", "EDATE10", readstat_begin_writing_sav, 2, 141428, 86400, true, true },
    { "SPSS, compressed", "t.zsav", "EDATE10", readstat_begin_writing_sav, 3, 141428, 86400, true, true },
    { "SAS", "t.sas7bdat", "DATE9", readstat_begin_writing_sas7bdat, 0, 3653, 1, false, false },
    { "SAS with times", "t.sas7bdat", "DATETIME20", readstat_begin_writing_sas7bdat, 0, 3653, 86400, false,
      false },
    { "SAS transport", "t.xpt", "DATE9", readstat_begin_writing_xport, 8, 3653, 1, false, false },
};

#define EACH_PROGRAM(one)                                                                                    \
    for (const program *one = programs; one < programs + sizeof programs / sizeof *programs; one++)

static char path[256];

static ssize_t write_bytes(const void *bytes, size_t length, void *file) {
    return (ssize_t)fwrite(bytes, 1, length, file);
}

enum { SEX, SMOKES, BORN, WEIGHT, NAME, VARIABLES };

static void add_variables(const program *one, readstat_writer_t *writer,
                          readstat_variable_t *variable[VARIABLES]) {
    static const char *const names[] = { "sex", "smokes", "born", "weight", "name" };
    for (int j = 0; j < VARIABLES; j++)
        variable[j] = readstat_add_variable(
            writer, names[j], j == NAME ? READSTAT_TYPE_STRING : READSTAT_TYPE_DOUBLE, j == NAME ? 20 : 8);
    readstat_variable_set_format(variable[BORN], one->date);
    if (one->declares) readstat_variable_add_missing_double_value(variable[SMOKES], 9);
    if (!one->labels) return;
    static const char *const sets[] = { "sexes", "answers", "", "weights" };
    static const struct {
        int of;
        int32_t value;
        const char *text;
    } labels[] = { { SEX, 1, "male" },   { SEX, 2, "female" },     { SMOKES, 0, "no" },
                   { SMOKES, 1, "yes" }, { SMOKES, 9, "refused" }, { WEIGHT, 999, "too heavy" } };
    readstat_label_set_t *set[NAME] = { NULL };
    const bool stata = one->begin == readstat_begin_writing_dta;
    for (size_t k = 0; k < sizeof labels / sizeof *labels; k++) {
        const int of = labels[k].of;
        if (stata && labels[k].value == 9) continue;
        if (set[of] == NULL)
            set[of] =
                readstat_add_label_set(writer, stata ? READSTAT_TYPE_INT32 : READSTAT_TYPE_DOUBLE, sets[of]);
        if (stata)
            readstat_label_int32_value(set[of], labels[k].value, labels[k].text);
        else
            readstat_label_double_value(set[of], labels[k].value, labels[k].text);
        readstat_variable_set_label_set(variable[of], set[of]);
    }
}

static void write_file(const program *one) {
    static const double sex[] = { 1, 2, -1 }, smokes[] = { 1, 9, 0 }, day[] = { 19782, -25568, 0 },
                        weight[] = { 70.5, 999, -1 };
    static const char *const names[] = { "Ann", "Bo \xC3\xA4", "" };
    readstat_writer_t *writer = readstat_writer_init();
    readstat_variable_t *variable[VARIABLES];
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    readstat_set_data_writer(writer, write_bytes);
    if (one->version > 0) readstat_writer_set_file_format_version(writer, (uint8_t)one->version);
    if (one->version == 3) readstat_writer_set_compression(writer, READSTAT_COMPRESS_BINARY);
    add_variables(one, writer, variable);
    assert_int_equal(one->begin(writer, file, 3), READSTAT_OK);
    for (int i = 0; i < 3; i++) {
        readstat_begin_row(writer);
        const double *const numbers[] = { sex, smokes, day, weight };
        for (int j = 0; j < NAME; j++) {
            const double value = j == BORN ? (day[i] + one->epoch) * one->day : numbers[j][i];
            const bool tagged = j == SMOKES && value == 9 && !one->declares;
            if ((i == 2 && j != SMOKES) || tagged)
                readstat_insert_missing_value(writer, variable[j]);
            else
                readstat_insert_double_value(writer, variable[j], value);
        }
        /* Before version 14 Stata knew nothing of Unicode. */
        readstat_insert_string_value(writer, variable[NAME],
                                     i == 1 && one->version == 115 ? "Bo \xE4" : names[i]);
        assert_int_equal(readstat_end_row(writer), READSTAT_OK);
    }
    assert_int_equal(readstat_end_writing(writer), READSTAT_OK);
    readstat_writer_free(writer);
    assert_int_equal(fclose(file), 0);
}

static char folder[64];

static int begin(void **state) {
    (void)state;
    strcpy(folder, "/tmp/tacit-statistical-XXXXXX");
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int end(void **state) {
    (void)state;
    return rmdir(folder);
}

static void name_file(const char *name) { snprintf(path, sizeof path, "%s/%s", folder, name); }

static void labels_missing_values_and_dates_come_as_people_read_them(void **state) {
    (void)state;
    EACH_PROGRAM(one) {
        tacit_source *source = NULL;
        reading got = { .count = 0 };
        tacit_error error = TACIT_ERROR_INIT;
        name_file(one->file);
        write_file(one);
        CHECK_OK(tacit_source_open(&source, path, NULL, &error), error);
        assert_string_equal(source->kind->name, "statistical");
        CHECK_OK(read_rest(source, 2, &got, &error), error);
        const char *expected = one->labels
                                   ? "male|yes|2024-02-29|70.5|Ann\nfemale||1899-12-31|999|Bo "
                                     "\xC3\xA4\n|no|||\n"
                                   : "1|1|2024-02-29|70.5|Ann\n2||1899-12-31|999|Bo \xC3\xA4\n|0|||\n";
        if (strcmp(tacit_buffer_text(&got.rows), expected) != 0)
            fail_msg("%s: expected\n%s\ngot\n%s", one->name, expected, tacit_buffer_text(&got.rows));
        reading_clear(&got);
        tacit_source_free(source);
        unlink(path);
    }
}

static void a_column_of_labels_is_a_category_and_one_with_a_special_code_a_number(void **state) {
    (void)state;
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    tacit_dataset *data = NULL;
    tacit_schema *drafted = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    options.label = "smokes";
    name_file("t.sav");
    write_file(&programs[3]);
    static const char yaml[] =
        "label: {name: smokes, classes: [\"no\", \"yes\"], missing: complete-case}\ncolumns:\n"
        "- {name: sex, kind: category, levels: [female, male]}\n"
        "- {name: weight, kind: number, low: 0, high: 1000}\n"
        "- {name: born, kind: number, date: year, low: 1800, high: 2100}\n";
    CHECK_OK(tacit_schema_parse(&drafted, yaml, sizeof yaml - 1, "s.yaml", &error), error);
    CHECK_OK(tacit_dataset_load(&data, NULL, path, drafted, &options, &error), error);
    assert_int_equal(data->rows, 2);
    assert_int_equal(data->label[0], 1);
    assert_int_equal(data->counts.unknown_levels, 0);
    tacit_dataset_free(data);
    tacit_schema_free(drafted);
    unlink(path);
}

/* Whatever bytes there are: rows, or an error. ReadStat's own faults would show here too. */
static void try_file(void) {
    tacit_source *source = NULL;
    reading got = { .count = 0 };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_source_open(&source, path, NULL, &error);
    if (status == TACIT_OK) status = read_rest(source, 2, &got, &error);
    assert_true(status == TACIT_OK || error.text[0] != 0);
    reading_clear(&got);
    tacit_source_free(source);
}

static void put_bytes(const uint8_t *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void a_file_that_ends_early_is_refused(void **state) {
    (void)state;
    EACH_PROGRAM(one) {
        uint8_t bytes[1 << 18];
        name_file(one->file);
        write_file(one);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        const size_t length = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        assert_true(length > 0 && length < sizeof bytes);
        for (size_t part = 1; part < 40; part++) {
            put_bytes(bytes, length * part / 40);
            try_file();
        }
        unlink(path);
    }
}

static void a_packed_file_is_to_be_unpacked(void **state) {
    (void)state;
    char command[600];
    tacit_source *source = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    name_file("t.sav");
    write_file(&programs[3]);
    snprintf(command, sizeof command, "gzip -f '%s'", path);
    assert_int_equal(system(command), 0);
    strcat(path, ".gz");
    assert_int_equal(tacit_source_open(&source, path, NULL, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "unpack it first"));
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_missing_values_and_dates_come_as_people_read_them),
        cmocka_unit_test(a_column_of_labels_is_a_category_and_one_with_a_special_code_a_number),
        cmocka_unit_test(a_file_that_ends_early_is_refused),
        cmocka_unit_test(a_packed_file_is_to_be_unpacked),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
