/* Exports of devices: whose day it is, what a day or a week adds up to, and what a second export replaces. */
#include "check.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "data/schema/date.h"
#include "folder.h"
#include "person/sensor/sensor.h"

static const char passphrase[] = "a long passphrase";

static tacit_vault *make(const folder *at) {
    const tacit_vault_cost cheap = { 1, 8192 };
    tacit_vault *vault = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_vault_create(at->file, passphrase, &cheap, &error), error);
    CHECK_OK(tacit_vault_open(&vault, at->file, passphrase, &error), error);
    return vault;
}

static tacit_status import(const folder *at, tacit_vault *vault, const char *mapping, const char *name,
                           const char *text, tacit_imported *out, tacit_error *error) {
    char path[160];
    tacit_sensor sensor;
    snprintf(path, sizeof path, "%s/%s", at->path, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    tacit_status status = tacit_sensor_parse(&sensor, mapping, strlen(mapping), "m", error);
    if (status == TACIT_OK) status = tacit_sensor_import(out, vault, &sensor, path, NULL, 1, error);
    tacit_sensor_clear(&sensor);
    return status;
}

typedef struct shown {
    size_t width;
    tacit_buffer text;
} shown;

static tacit_status show_row(void *context, const tacit_collection_row *row, tacit_error *error) {
    shown *self = context;
    char day[TACIT_DAY_TEXT];
    TACIT_TRY(tacit_buffer_print(&self->text, error, "%s", tacit_day_text(row->day, day)));
    for (size_t j = 0; j < self->width; j++)
        TACIT_TRY(tacit_buffer_print(&self->text, error, " %s", row->cells[j] != NULL ? row->cells[j] : "-"));
    return tacit_buffer_print(&self->text, error, "\n");
}

static void expect(tacit_vault *vault, const char *name, const char *expected) {
    tacit_collection held = { .id = 0 };
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_collection_find(&held, vault, name, &error), error);
    shown all = { .width = held.count };
    CHECK_OK(tacit_rows_each(vault, &held, show_row, &all, &error), error);
    assert_string_equal(tacit_buffer_text(&all.text), expected);
    tacit_buffer_clear(&all.text);
    tacit_collection_clear(&held);
}

#define STEPS                                                                                                \
    "import: steps\nformat: csv\ntime: {column: start}\nper: day\nvalues:\n"                                 \
    "  - {column: n, name: steps, take: sum, low: 0, high: 1000}\n"                                          \
    "  - {column: n, name: most, take: max}\n  - {column: n, name: times, take: count}\n"

static void days_are_those_written_in_the_export(void **state) {
    (void)state;
    folder at = folder_make();
    tacit_vault *vault = make(&at);
    tacit_imported got;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(import(&at, vault, STEPS, "a.csv",
                    "start,n\n2026-03-01T23:30:00-05:00,10\n2026-03-02 00:10:00,20\n2026-03-02T08:00,5000\n"
                    "2026-03-02T09:00,\n2026-03-01,7\n",
                    &got, &error),
             error);
    assert_int_equal(got.records, 5);
    assert_int_equal(got.rows, 2);
    assert_int_equal(got.beyond, 1); /* 5000 steps at once: of the sum only, which has a bound */
    expect(vault, "steps", "2026-03-01 17 10 2\n2026-03-02 20 5000 2\n");
    tacit_vault_close(vault);
    folder_remove(&at);
}

static void a_fixed_zone_moves_moments_to_its_own_days(void **state) {
    (void)state;
    static const struct {
        const char *form, *zone, *text, *day;
        int64_t time_ms;
    } cases[] = {
        { "text", "+01:00", "2026-03-01T23:30:00Z", "2026-03-02", 1772407800000 },
        { "text", "as written", "2026-03-01T23:30:00Z", "2026-03-01", 1772407800000 },
        { "text", "-05:00", "2026-03-02T01:00:00+01:00", "2026-03-01", 1772409600000 },
        { "text", "+01:00", "2026-03-02 00:30", "2026-03-02", 1772407800000 },
        { "seconds", "UTC", "1772407800", "2026-03-01", 1772407800000 },
        { "milliseconds", "+05:30", "1772407800250", "2026-03-02", 1772407800250 },
        { "seconds", "UTC", "-1", "1969-12-31", -1000 },
        { "text", "as written", "2026-03-01T12:00:00.125+0530", "2026-03-01", 1772346600125 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char mapping[400], day_text[TACIT_DAY_TEXT];
        tacit_sensor sensor;
        tacit_error error = TACIT_ERROR_INIT;
        int64_t time_ms;
        int32_t day;
        snprintf(
            mapping, sizeof mapping,
            "import: a\nformat: csv\ntime: {column: t, form: %s}\nzone: %s\nper: day\nvalues: [{column: v, "
            "name: v, take: sum}]\n",
            cases[i].form, cases[i].zone);
        CHECK_OK(tacit_sensor_parse(&sensor, mapping, strlen(mapping), "m", &error), error);
        assert_true(tacit_sensor_time(&sensor, cases[i].text, &time_ms, &day));
        assert_int_equal(time_ms, cases[i].time_ms);
        assert_string_equal(tacit_day_text(day, day_text), cases[i].day);
        static const char *const none[] = {
            "",     "2026-02-30", "2026-03-01T25:00", "2026-03-01T10:00+99:00", "yesterday", "2026-03-01x",
            "1e300"
        };
        for (size_t k = 0; k < sizeof none / sizeof *none; k++)
            assert_false(tacit_sensor_time(&sensor, none[k], &time_ms, &day));
        tacit_sensor_clear(&sensor);
    }
}

static void weeks_begin_on_monday_and_json_lines_are_records(void **state) {
    (void)state;
    folder at = folder_make();
    tacit_vault *vault = make(&at);
    tacit_imported got;
    tacit_buffer mapping = TACIT_BUFFER_LIMITED(TACIT_SENSOR_BYTES);
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_file_read(EXAMPLES "/heart.import.yaml", &mapping, &error), error);
    CHECK_OK(import(&at, vault, tacit_buffer_text(&mapping), "h.jsonl",
                    "{\"at\": 1772323200, \"type\": \"heart\", \"bpm\": 60}\n"       /* Sunday 2026-03-01 */
                    "{\"at\": 1772409600, \"type\": \"heart\", \"bpm\": 70.5}\n"     /* Monday */
                    "\n{\"at\": 1772928000, \"type\": \"heart\", \"bpm\": \"80\"}\n" /* Sunday 2026-03-08 */
                    "{\"at\": 1772928060, \"type\": \"heart\", \"bpm\": 0}\n"        /* the watch was off */
                    "{\"at\": 1772928000, \"type\": \"steps\", \"n\": 5}",
                    &got, &error),
             error);
    assert_int_equal(got.records, 4);
    assert_int_equal(got.beyond, 3); /* 0, of each value */
    expect(vault, "heart", "2026-02-23 60 60 1\n2026-03-02 75.25 70.5 2\n");
    tacit_buffer_clear(&mapping);
    tacit_vault_close(vault);
    folder_remove(&at);
}

static void a_second_export_replaces_its_days_and_a_bad_one_nothing(void **state) {
    (void)state;
    folder at = folder_make();
    tacit_vault *vault = make(&at);
    tacit_imported got;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(import(&at, vault, STEPS, "a.csv", "start,n\n2026-03-01,1\n2026-03-02,2\n2026-03-03,3\n", &got,
                    &error),
             error);
    CHECK_OK(import(&at, vault, STEPS, "b.csv", "start,n\n2026-03-03,4\n2026-03-04,5\n", &got, &error),
             error);
    const char *expected = "2026-03-01 1 1 1\n2026-03-02 2 2 1\n2026-03-03 4 4 1\n2026-03-04 5 5 1\n";
    expect(vault, "steps", expected);
    assert_int_equal(import(&at, vault, STEPS, "c.csv", "start,n\n2026-03-03,4\nsoon,5\n", &got, &error),
                     TACIT_INPUT);
    assert_non_null(strstr(error.text, "c.csv:3 (start): 'soon' is no time"));
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(import(&at, vault, STEPS, "d.csv", "start,m\n2026-03-03,4\n", &got, &error),
                     TACIT_USAGE);
    assert_non_null(strstr(error.text, "'n'"));
    expect(vault, "steps", expected);
    tacit_vault_close(vault);
    folder_remove(&at);
}

static void a_mapping_that_is_wrong_is_named_with_its_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "", "is empty" },
        { "import: a\nformat: xml\n", "has no 'time'" },
        { "import: a\nformat: xml\ntime: {column: t}\nper: day\nvalues: []\n",
          "m:2: 'format' is one of csv, json-lines" },
        { "import: a\nformat: csv\ntime: {column: t}\nper: day\nvalues: []\n", "m:5: 'values' has 1 to" },
        { "import: a\nformat: csv\ntime: {column: t}\nzone: Europe/Berlin\nper: day\nvalues: []\n",
          "names of zones and summer time are not known" },
        { "import: a\nformat: csv\ntime: {column: t}\nper: day\nvalues: [{column: v, name: v, take: "
          "median}]\n",
          "'take' is one of sum, mean" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_sensor sensor;
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_equal(tacit_sensor_parse(&sensor, cases[i].text, strlen(cases[i].text), "m", &error),
                         TACIT_INPUT);
        if (strstr(error.text, cases[i].says) == NULL)
            fail_msg("'%s' has no '%s'", error.text, cases[i].says);
        tacit_sensor_clear(&sensor);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_are_those_written_in_the_export),
        cmocka_unit_test(a_fixed_zone_moves_moments_to_its_own_days),
        cmocka_unit_test(weeks_begin_on_monday_and_json_lines_are_records),
        cmocka_unit_test(a_second_export_replaces_its_days_and_a_bad_one_nothing),
        cmocka_unit_test(a_mapping_that_is_wrong_is_named_with_its_line),
    };
    return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
