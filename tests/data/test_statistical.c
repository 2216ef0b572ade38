/* Files of SAS, Stata and SPSS: labels, missing values, dates, and files that are damaged. */
#include <math.h>
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

/* ---- catalogues of SAS ---- */

static void write_catalogue(const char *name) {
    readstat_writer_t *writer = readstat_writer_init();
    readstat_label_set_t *sex =
        readstat_add_label_set(writer, READSTAT_TYPE_DOUBLE, "SEXES"); /* ReadStat writes one */
    readstat_label_double_value(sex, 1, "male");
    readstat_label_double_value(sex, 2, "female");
    name_file(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    readstat_set_data_writer(writer, write_bytes);
    assert_int_equal(readstat_begin_writing_sas7bcat(writer, file), READSTAT_OK);
    assert_int_equal(readstat_end_writing(writer), READSTAT_OK);
    readstat_writer_free(writer);
    assert_int_equal(fclose(file), 0);
}

/* Rows 1, 2 and nothing, with the format SEXES. */
static void write_sas(const char *name) {
    readstat_writer_t *writer = readstat_writer_init();
    name_file(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    readstat_set_data_writer(writer, write_bytes);
    readstat_variable_t *sex = readstat_add_variable(writer, "sex", READSTAT_TYPE_DOUBLE, 8),
                        *age = readstat_add_variable(writer, "age", READSTAT_TYPE_DOUBLE, 8);
    readstat_variable_set_format(sex, "SEXES");
    assert_int_equal(readstat_begin_writing_sas7bdat(writer, file, 3), READSTAT_OK);
    for (int i = 0; i < 3; i++) {
        readstat_begin_row(writer);
        if (i < 2)
            readstat_insert_double_value(writer, sex, i + 1);
        else
            readstat_insert_missing_value(writer, sex);
        readstat_insert_double_value(writer, age, 30 + i);
        assert_int_equal(readstat_end_row(writer), READSTAT_OK);
    }
    assert_int_equal(readstat_end_writing(writer), READSTAT_OK);
    readstat_writer_free(writer);
    assert_int_equal(fclose(file), 0);
}

static void expect_texts(const char *expected) {
    tacit_source *source = NULL;
    reading got = { .count = 0 };
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_source_open(&source, path, NULL, &error), error);
    for (int pass = 0; pass < 2; pass++) {
        reading_clear(&got);
        CHECK_OK(read_rest(source, 2, &got, &error), error);
        assert_string_equal(tacit_buffer_text(&got.rows), expected);
        CHECK_OK(tacit_source_rewind(source, &error), error);
    }
    reading_clear(&got);
    tacit_source_free(source);
}

static void labels_of_sas_come_from_the_catalogue_beside_the_file(void **state) {
    (void)state;
    static const char *const labelled = "male|30\nfemale|31\n|32\n";
    static const char *const catalogues[] = { "t.sas7bcat", "formats.sas7bcat" };
    tacit_source *source = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    write_sas("t.sas7bdat");
    expect_texts("1|30\n2|31\n|32\n"); /* without one, codes */
    for (size_t k = 0; k < 2; k++) {
        write_catalogue(catalogues[k]);
        name_file("t.sas7bdat");
        expect_texts(labelled);
        name_file(catalogues[k]);
        unlink(path);
    }
    write_catalogue("other.sas7bcat"); /* that of another file */
    unlink(path);
    name_file("t.sas7bcat");
    put_bytes((const uint8_t *)"no catalogue", 12);
    name_file("t.sas7bdat");
    assert_int_equal(tacit_source_open(&source, path, NULL, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "t.sas7bcat"));
    unlink(path);
    name_file("t.sas7bcat");
    unlink(path);
}

/* ---- every type there and back ---- */

typedef struct typed {
    readstat_type_t type;
    const char *name;
    size_t width;
} typed;

static const typed types[] = {
    { READSTAT_TYPE_INT8, "i8", 0 }, { READSTAT_TYPE_INT16, "i16", 0 }, { READSTAT_TYPE_INT32, "i32", 0 },
    { READSTAT_TYPE_FLOAT, "f", 0 }, { READSTAT_TYPE_DOUBLE, "d", 0 },  { READSTAT_TYPE_STRING, "s", 40 },
};
enum { TYPES = sizeof types / sizeof *types, TYPED_ROWS = 4 };

/* What each row has, as a CSV file of the same would: extremes that all programs can hold, a fraction, texts with what CSV must quote, and
 * a row of nothing. */
static const char *const typed_csv =
    "i8,i16,i32,f,d,s\n"
    "100,32740,2147483620,0.5,0.10000000000000001,\"it's \"\"quoted\"\", with a comma\"\n"
    "-127,-32767,-2147483647,-1.5,-2.5e-300,Zo\xC3\xAB\n"
    "0,0,0,0,0,word\n"
    ",,,,,\n";

static bool has_type(const program *one, readstat_type_t type) {
    const bool whole =
        type == READSTAT_TYPE_INT8 || type == READSTAT_TYPE_INT16 || type == READSTAT_TYPE_INT32;
    const bool numbers_are_doubles =
        one->begin == readstat_begin_writing_sas7bdat || one->begin == readstat_begin_writing_xport;
    return !numbers_are_doubles || !(whole || type == READSTAT_TYPE_FLOAT);
}

static void insert_typed(readstat_writer_t *writer, const readstat_variable_t *variable, int type, int row,
                         bool transport, bool unicode) {
    static const double doubles[] = { 0.1, -2.5e-300, 0 };
    static const float floats[] = { 0.5F, -1.5F, 0 };
    static const int32_t i8[] = { 100, -127, 0 }, i16[] = { 32740, -32767, 0 },
                         i32[] = { 2147483620, -2147483647, 0 };
    static const char *const words[] = { "it's \"quoted\", with a comma", "Zo\xC3\xAB", "word" };
    if (row == 3) {
        readstat_insert_missing_value(writer, variable);
        return;
    }
    switch (types[type].type) {
    case READSTAT_TYPE_INT8: readstat_insert_int8_value(writer, variable, (int8_t)i8[row]); return;
    case READSTAT_TYPE_INT16: readstat_insert_int16_value(writer, variable, (int16_t)i16[row]); return;
    case READSTAT_TYPE_INT32: readstat_insert_int32_value(writer, variable, i32[row]); return;
    case READSTAT_TYPE_FLOAT: readstat_insert_float_value(writer, variable, floats[row]); return;
    case READSTAT_TYPE_DOUBLE: /* IBM's numbers of transport files end at 1e-78 */
        readstat_insert_double_value(writer, variable, transport && row == 1 ? -2.5 : doubles[row]);
        return;
    default:
        readstat_insert_string_value(writer, variable, row == 1 && !unicode ? "Zo\xEB" : words[row]);
        return;
    }
}

static void write_typed(const program *one) {
    readstat_writer_t *writer = readstat_writer_init();
    readstat_variable_t *variable[TYPES] = { NULL };
    const bool transport = one->begin == readstat_begin_writing_xport;
    name_file(one->file);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    readstat_set_data_writer(writer, write_bytes);
    if (one->version > 0) readstat_writer_set_file_format_version(writer, (uint8_t)one->version);
    if (one->version == 3) readstat_writer_set_compression(writer, READSTAT_COMPRESS_BINARY);
    for (int j = 0; j < TYPES; j++)
        if (has_type(one, types[j].type))
            variable[j] = readstat_add_variable(writer, types[j].name, types[j].type, types[j].width);
    assert_int_equal(one->begin(writer, file, TYPED_ROWS), READSTAT_OK);
    for (int i = 0; i < TYPED_ROWS; i++) {
        readstat_begin_row(writer);
        for (int j = 0; j < TYPES; j++)
            if (variable[j] != NULL) insert_typed(writer, variable[j], j, i, transport, one->version != 115);
        assert_int_equal(readstat_end_row(writer), READSTAT_OK);
    }
    assert_int_equal(readstat_end_writing(writer), READSTAT_OK);
    readstat_writer_free(writer);
    assert_int_equal(fclose(file), 0);
}

/* The named columns of a file as numbers, or as categories, to compare. */
static tacit_table *read_typed(const char *file, const program *one) {
    tacit_source *source = NULL;
    tacit_table *table = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    bool ended = false;
    CHECK_OK(tacit_source_open(&source, file, NULL, &error), error);
    CHECK_OK(tacit_table_create_empty(&table, file, &error), error);
    for (int j = 0; j < TYPES; j++) {
        tacit_column *column;
        size_t field;
        if (!has_type(one, types[j].type)) continue;
        CHECK_OK(tacit_source_require(source, types[j].name, "this test", &field, &error), error);
        CHECK_OK(tacit_table_declare(table, &column, types[j].name,
                                     types[j].type == READSTAT_TYPE_STRING ? TACIT_COLUMN_CATEGORY
                                                                           : TACIT_COLUMN_NUMBER,
                                     field, &error),
                 error);
    }
    while (!ended) CHECK_OK(tacit_table_read(table, source, 0, &ended, &error), error);
    tacit_source_free(source);
    return table;
}

static void expect_typed(const program *one, const tacit_table *expected, const tacit_table *got) {
    assert_int_equal(got->rows, TYPED_ROWS);
    for (size_t j = 0; j < expected->cols; j++) {
        const tacit_column *a = &expected->columns[j], *b = &got->columns[j];
        assert_int_equal(a->missing, b->missing);
        for (size_t i = 0; i < TYPED_ROWS; i++) {
            if (a->kind == TACIT_COLUMN_NUMBER && isnan(a->number[i]) != isnan(b->number[i]))
                fail_msg("%s: %s, row %zu", one->name, a->name, i + 1);
            const bool transport = one->begin == readstat_begin_writing_xport && i == 1;
            if (a->kind == TACIT_COLUMN_NUMBER && !transport && a->number[i] == a->number[i] &&
                a->number[i] != b->number[i])
                fail_msg("%s: %s, row %zu: %.17g and %.17g", one->name, a->name, i + 1, a->number[i],
                         b->number[i]);
            if (a->kind == TACIT_COLUMN_CATEGORY && (a->code[i] < 0) != (b->code[i] < 0))
                fail_msg("%s: %s, row %zu is missing in one", one->name, a->name, i + 1);
            if (a->kind == TACIT_COLUMN_CATEGORY && a->code[i] >= 0)
                assert_string_equal(a->levels.text[a->code[i]], b->levels.text[b->code[i]]);
        }
    }
}

static void every_type_is_what_csv_gives(void **state) {
    (void)state;
    char csv[256];
    EACH_PROGRAM(one) {
        name_file("t.csv");
        snprintf(csv, sizeof csv, "%s", path);
        put_bytes((const uint8_t *)typed_csv, strlen(typed_csv));
        write_typed(one);
        tacit_table *expected = read_typed(csv, one), *got = read_typed(path, one);
        expect_typed(one, expected, got);
        tacit_table_free(expected);
        tacit_table_free(got);
        unlink(path);
        unlink(csv);
    }
}

/* SPSS and SAS files can hold an infinite number, as no other text than inf; it is an error where it is used, as in CSV. */
static void a_number_without_end_is_refused_where_it_is_used(void **state) {
    (void)state;
    static const char yaml[] = "label: {name: y, kind: number, low: 0, high: 1}\ncolumns:\n"
                               "- {name: x, kind: number, low: 0, high: 1}\n";
    begin_function *const begins[] = { readstat_begin_writing_sav, readstat_begin_writing_sas7bdat };
    static const char *const files[] = { "t.sav", "t.sas7bdat" };
    for (size_t k = 0; k < 2; k++) {
        tacit_load_options options = TACIT_LOAD_DEFAULTS;
        tacit_dataset *data = NULL;
        tacit_schema *schema = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        readstat_writer_t *writer = readstat_writer_init();
        name_file(files[k]);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        readstat_set_data_writer(writer, write_bytes);
        readstat_variable_t *x = readstat_add_variable(writer, "x", READSTAT_TYPE_DOUBLE, 8),
                            *y = readstat_add_variable(writer, "y", READSTAT_TYPE_DOUBLE, 8);
        assert_int_equal(begins[k](writer, file, 2), READSTAT_OK);
        for (int i = 0; i < 2; i++) {
            readstat_begin_row(writer);
            readstat_insert_double_value(writer, x, i == 1 ? -INFINITY : 0.5);
            readstat_insert_double_value(writer, y, 0.5);
            assert_int_equal(readstat_end_row(writer), READSTAT_OK);
        }
        assert_int_equal(readstat_end_writing(writer), READSTAT_OK);
        readstat_writer_free(writer);
        assert_int_equal(fclose(file), 0);
        CHECK_OK(tacit_schema_parse(&schema, yaml, sizeof yaml - 1, "s.yaml", &error), error);
        assert_int_equal(tacit_dataset_load(&data, NULL, path, schema, &options, &error), TACIT_INPUT);
        if (strstr(error.text, "-inf") == NULL) fail_msg("%s: %s", files[k], error.text);
        tacit_schema_free(schema);
        unlink(path);
    }
}

/* ---- files that other programs wrote ---- */

/* The irises of R's package haven, as Stata, SAS and SPSS have them. */
static void samples_of_haven_are_read(void **state) {
    (void)state;
    static const struct {
        const char *file, *first, *last;
    } samples[] = {
        { "iris.dta", "5.0999999046325684|3.5|1.3999999761581421|0.20000000298023224|setosa\n",
          "5.9000000953674316|3|5.0999999046325684|1.7999999523162842|virginica\n" },
        { "iris.sas7bdat", "5.0999999999999996|3.5|1.3999999999999999|0.20000000000000001|setosa\n",
          "5.9000000000000004|3|5.0999999999999996|1.8|virgin\n" },
        { "iris.sav", "5.0999999999999996|3.5|1.3999999999999999|0.20000000000000001|setosa\n",
          "5.9000000000000004|3|5.0999999999999996|1.8|virginica\n" },
    };
    const char *haven = getenv("TACIT_HAVEN");
    if (haven == NULL) haven = "/usr/lib/R/site-library/haven/examples";
    if (access(haven, R_OK) != 0) {
        print_message("# no r-cran-haven (script/setup --full): its sample files are left out\n");
        return;
    }
    for (size_t k = 0; k < sizeof samples / sizeof *samples; k++) {
        tacit_source *source = NULL;
        reading got = { .count = 0 };
        tacit_error error = TACIT_ERROR_INIT;
        snprintf(path, sizeof path, "%s/%s", haven, samples[k].file);
        CHECK_OK(tacit_source_open(&source, path, NULL, &error), error);
        CHECK_OK(read_rest(source, 100, &got, &error), error);
        const char *text = tacit_buffer_text(&got.rows), *end = samples[k].last;
        assert_int_equal(got.count, 150);
        if (strncmp(text, samples[k].first, strlen(samples[k].first)) != 0 || strlen(text) < strlen(end) ||
            strcmp(text + strlen(text) - strlen(end), end) != 0)
            fail_msg("%s: %.100s", samples[k].file, text);
        reading_clear(&got);
        tacit_source_free(source);
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
        cmocka_unit_test(labels_of_sas_come_from_the_catalogue_beside_the_file),
        cmocka_unit_test(every_type_is_what_csv_gives),
        cmocka_unit_test(a_number_without_end_is_refused_where_it_is_used),
        cmocka_unit_test(samples_of_haven_are_read),
        cmocka_unit_test(a_file_that_ends_early_is_refused),
        cmocka_unit_test(a_packed_file_is_to_be_unpacked),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
