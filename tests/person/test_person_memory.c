/* Every allocation fails once, and nothing is lost or left behind. */
#include "check.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "failing.h"
#include "folder.h"
#include "person/instrument/diary.h"
#include "person/sensor/sensor.h"

static const tacit_vault_cost cheap = { 1, 8192 };
static const char passphrase[] = "a long passphrase";
static tacit_buffer example;

typedef tacit_status attempt(const folder *at, tacit_error *error);

/* Fail the first allocation, the second, ... until all succeed. */
static void survive(attempt *try, const folder *at) {
    for (long n = 1;; n++) {
        tacit_error error = TACIT_ERROR_INIT;
        fail_allocation(n);
        tacit_status status = try(at, &error);
        if (!allocation_failed()) {
            CHECK_OK(status, error);
            assert_true(n > 5);
            return;
        }
        if (status != TACIT_NO_MEMORY) fail_msg("allocation %ld: %d, %s", n, (int)status, error.text);
    }
}

static tacit_status read_and_answer(const folder *at, tacit_error *error) {
    const char *answers[TACIT_INSTRUMENT_ITEMS] = { "2", "1", NULL,   "1", "0",          "3", "1",
                                                    "0", "2", "much", "3", "2026-01-02", "x" };
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_instrument *made = NULL;
    tacit_filled got = { .count = 0 };
    tacit_status status;
    (void)at;
    TACIT_CHECK(tacit_instrument_parse(&made, tacit_buffer_text(&example), example.length, "example", error));
    TACIT_CHECK(tacit_instrument_answer(&got, made, answers, error));
    TACIT_CHECK(tacit_instrument_schema(&out, made, "burden", error));
    out.length = 0;
    TACIT_CHECK(tacit_instrument_sign(&out, tacit_buffer_text(&example), example.length,
                                      (const uint8_t *)"0123456789abcdef0123456789abcdef", error));
cleanup:
    tacit_filled_clear(&got);
    tacit_buffer_clear(&out);
    tacit_instrument_free(made);
    return status;
}

static tacit_status ignore_row(void *context, const tacit_collection_row *row, tacit_error *error) {
    (void)row, (void)error;
    ++*(size_t *)context;
    return TACIT_OK;
}

/* Take up, answer and look; the row is taken away again, so that each attempt finds the same. */
static tacit_status keep_a_diary(const folder *at, tacit_error *error) {
    const tacit_diary_answer answers[] = { { "flat", "2" }, { "note", "fine" } };
    tacit_instrument *made = NULL;
    tacit_collection held = { .id = 0 };
    tacit_vault *vault = NULL;
    tacit_diary_state state;
    size_t rows = 0;
    tacit_status status;
    TACIT_CHECK(tacit_vault_open(&vault, at->file, passphrase, error));
    TACIT_CHECK(tacit_instrument_parse(&made, tacit_buffer_text(&example), example.length, "example", error));
    TACIT_CHECK(tacit_diary_take(vault, made, tacit_buffer_text(&example), example.length, 1, error));
    TACIT_CHECK(tacit_diary_fill(NULL, vault, "wellbeing", answers, 2, 20000, 1, error));
    TACIT_CHECK(tacit_diary_look(&state, vault, made, 20000, error));
    TACIT_CHECK(tacit_collection_find(&held, vault, "wellbeing", error));
    TACIT_CHECK(tacit_rows_each(vault, &held, ignore_row, &rows, error));
    TACIT_CHECK(tacit_rows_remove(vault, &held, 20000, 20000, error));
cleanup:
    tacit_collection_clear(&held);
    tacit_instrument_free(made);
    tacit_vault_close(vault);
    return status;
}

static tacit_status import_steps(const folder *at, tacit_error *error) {
    static const char mapping[] = "import: steps\nformat: csv\ntime: {column: start}\nper: day\nvalues:\n"
                                  "  - {column: steps, name: steps, take: sum}\n";
    tacit_sensor sensor = { .count = 0 };
    tacit_vault *vault = NULL;
    tacit_imported got;
    tacit_status status;
    TACIT_CHECK(tacit_vault_open(&vault, at->file, passphrase, error));
    TACIT_CHECK(tacit_sensor_parse(&sensor, mapping, strlen(mapping), "m", error));
    TACIT_CHECK(tacit_sensor_import(&got, vault, &sensor, EXAMPLES "/steps.csv", NULL, 1, error));
cleanup:
    tacit_sensor_clear(&sensor);
    tacit_vault_close(vault);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    folder at = folder_make();
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_file_read(EXAMPLES "/wellbeing.instrument.yaml", &example, &error), error);
    CHECK_OK(tacit_vault_create(at.file, passphrase, &cheap, &error), error);
    survive(read_and_answer, &at);
    survive(keep_a_diary, &at);
    survive(import_steps, &at);
    tacit_buffer_clear(&example);
    folder_remove(&at);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_may_fail) };
    return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
