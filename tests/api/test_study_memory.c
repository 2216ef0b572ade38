/* Memory that runs out in any call about studies is an error and no leak, and leaves the coordinator's folder sound. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "failing.h"
#include "library.h"

enum { SITE_ROWS = 40 };

static char place[64], folder[128], schema[128];

/* ---- jansson, which takes an allocator ---- */

static void *take(size_t size) { return allocation_due() ? NULL : __real_malloc(size); }
static void give_back(void *memory) { free(memory); }

static int make(void **state) {
    (void)state;
    snprintf(place, sizeof place, "/tmp/tacit-study-memory-XXXXXX");
    assert_non_null(mkdtemp(place));
    snprintf(folder, sizeof folder, "%s/consortium", place);
    snprintf(schema, sizeof schema, "%s/schema.yaml", place);
    FILE *file = fopen(schema, "w");
    assert_non_null(file);
    fputs("label: {name: relapse, classes: [\"no\", \"yes\"]}\ncolumns:\n"
          "  - {name: stage, kind: category, levels: [I, II]}\n"
          "  - {name: age, kind: number, low: 20, high: 100}\n",
          file);
    assert_int_equal(fclose(file), 0);
    tacit_error error = TACIT_ERROR_INIT;
    tacit_coordinator *coordinator = NULL;
    CHECK_OK(tacit_coordinator_start(&coordinator, folder, NULL, NULL, &error), error);
    tacit_coordinator_free(coordinator);
    json_set_alloc_funcs(take, give_back);
    return 0;
}

static int remove_place(void **state) {
    (void)state;
    char command[128];
    json_set_alloc_funcs(malloc, free);
    snprintf(command, sizeof command, "rm -rf '%s'", place);
    return system(command);
}

/* Try with an allocation failing once: each of the first hundred, then about every tenth and fewer. */
static void try_all(tacit_status (*call)(long at, tacit_error *error), long least) {
    bool failed = true;
    long at = 1;
    for (; failed; at += at < 100 ? 1 : at / 10) {
        tacit_error error = TACIT_ERROR_INIT;
        fail_allocation(at);
        tacit_status status = call(at, &error);
        failed = allocation_failed();
        if (!failed) CHECK_OK(status, error);
        if (status != TACIT_OK) assert_true(error.text[0] != 0 && error.status == status);
    }
    assert_true(at > least); /* there was something to fail */
}

/* ---- reading ---- */

static tacit_status read_all(long at, tacit_error *error) {
    static const char *const what[] = { "list", "status", "definition", "parties", "rounds" };
    tacit_coordinator *coordinator = NULL;
    void *bytes = NULL;
    (void)at;
    tacit_status status = tacit_coordinator_connect(&coordinator, folder, NULL, error);
    for (size_t k = 0; k < sizeof what / sizeof *what && status == TACIT_OK; k++) {
        status = tacit_study_fetch(&bytes, NULL, coordinator, k == 0 ? NULL : "first", what[k], error);
        bytes = tacit_bytes_free(bytes);
    }
    tacit_coordinator_free(coordinator);
    return status;
}

static bool enough(void *context, const char *json) {
    (void)context, (void)json;
    return false;
}

static tacit_status watch_once(long at, tacit_error *error) {
    const tacit_study_watcher watcher = { .changed = enough };
    tacit_coordinator *coordinator = NULL;
    (void)at;
    tacit_status status = tacit_coordinator_connect(&coordinator, folder, NULL, error);
    if (status == TACIT_OK) status = tacit_study_watch(coordinator, "first", &watcher, error);
    tacit_coordinator_free(coordinator);
    return status;
}

/* ---- writing ---- */

static tacit_status with_schema(tacit_options **out, tacit_error *error) {
    tacit_status status = tacit_options_create(out, error);
    return status == TACIT_OK ? tacit_options_set(*out, "schema", schema, error) : status;
}

/* A study of its own each time: what was added before the memory ran out is there. */
static tacit_status create(long at, tacit_error *error) {
    char name[40];
    tacit_options *options = NULL;
    tacit_coordinator *coordinator = NULL;
    snprintf(name, sizeof name, at == 0 ? "first" : "study-%ld", at);
    tacit_status status = tacit_coordinator_connect(&coordinator, folder, NULL, error);
    if (status == TACIT_OK) status = with_schema(&options, error);
    if (status == TACIT_OK)
        status = tacit_study_create(coordinator, name, "relapse ~ stage * age", 3, options, error);
    tacit_options_free(options);
    tacit_coordinator_free(coordinator);
    return status;
}

static tacit_status invite(long at, tacit_error *error) {
    char name[40], *json = NULL;
    tacit_options *options = NULL;
    tacit_coordinator *coordinator = NULL;
    snprintf(name, sizeof name, "site %ld", at);
    tacit_status status = tacit_coordinator_connect(&coordinator, folder, NULL, error);
    if (status == TACIT_OK) status = tacit_options_create(&options, error);
    if (status == TACIT_OK) status = tacit_options_set(options, "for", name, error);
    if (status == TACIT_OK) status = tacit_study_invite(&json, coordinator, "first", options, error);
    tacit_string_free(json);
    tacit_options_free(options);
    tacit_coordinator_free(coordinator);
    return status;
}

static tacit_status make_token(long at, tacit_error *error) {
    char *json = NULL;
    tacit_coordinator *coordinator = NULL;
    (void)at;
    tacit_status status = tacit_coordinator_connect(&coordinator, folder, NULL, error);
    if (status == TACIT_OK) status = tacit_coordinator_token(&json, coordinator, NULL, error);
    tacit_string_free(json);
    tacit_coordinator_free(coordinator);
    return status;
}

/* Paused and resumed; where the memory runs out in between it stays paused, and the next time is resumed first. */
static tacit_status pause_and_resume(long at, tacit_error *error) {
    tacit_coordinator *coordinator = NULL;
    (void)at;
    tacit_status status = tacit_coordinator_connect(&coordinator, folder, NULL, error);
    if (status == TACIT_OK) (void)!tacit_study_resume(coordinator, "first", NULL);
    if (status == TACIT_OK) status = tacit_study_pause(coordinator, "first", error);
    if (status == TACIT_OK) status = tacit_study_resume(coordinator, "first", error);
    tacit_coordinator_free(coordinator);
    return status;
}

/* ---- the tests ---- */

static void memory_may_run_out_while_studies_are_made_and_changed(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(create(0, &error), error);
    try_all(create, 50);
    try_all(invite, 20);
    try_all(pause_and_resume, 20);
    try_all(make_token, 20);
}

static void memory_may_run_out_while_studies_are_read_and_watched(void **state) {
    (void)state;
    try_all(read_all, 50);
    try_all(watch_once, 20);
}

/* A site that joins, with the coordinator in the same process; an allocation now and then fails, in either. */
static void memory_may_run_out_while_a_site_joins(void **state) {
    static double age[SITE_ROWS];
    static const char *stage[SITE_ROWS], *relapse[SITE_ROWS];
    (void)state;
    for (int i = 0; i < SITE_ROWS; i++) {
        age[i] = 30 + i;
        stage[i] = i % 2 == 0 ? "I" : "II";
        relapse[i] = i % 3 == 0 ? "yes" : "no";
    }
    tacit_error none = TACIT_ERROR_INIT;
    tacit_coordinator *one = NULL;
    tacit_options *options = NULL;
    CHECK_OK(tacit_coordinator_connect(&one, folder, NULL, &none), none);
    CHECK_OK(with_schema(&options, &none), none);
    CHECK_OK(tacit_study_create(one, "many", "relapse ~ stage * age", 1000, options, &none), none);
    tacit_options_free(options);
    tacit_coordinator_free(one);
    bool failed = true;
    for (long at = 1; failed; at += 1 + at / 2) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_coordinator *coordinator = NULL;
        tacit_frame *frame = NULL;
        char name[40];
        snprintf(name, sizeof name, "site-%ld", at);
        CHECK_OK(tacit_coordinator_start(&coordinator, folder, NULL, NULL, &error), error);
        CHECK_OK(tacit_frame_table(&frame, SITE_ROWS, &error), error);
        CHECK_OK(tacit_frame_add_numbers(frame, "age", age, TACIT_VALUE_DOUBLE, 0, NULL, &error), error);
        CHECK_OK(tacit_frame_add_texts(frame, "stage", stage, &error), error);
        CHECK_OK(tacit_frame_add_texts(frame, "relapse", relapse, &error), error);
        fail_allocation(at);
        tacit_status status = tacit_study_site(coordinator, "many", name, frame, NULL, &error);
        failed = allocation_failed();
        if (!failed) CHECK_OK(status, error);
        if (status != TACIT_OK) assert_true(error.text[0] != 0);
        tacit_coordinator_free(coordinator);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_may_run_out_while_studies_are_made_and_changed),
        cmocka_unit_test(memory_may_run_out_while_studies_are_read_and_watched),
        cmocka_unit_test(memory_may_run_out_while_a_site_joins),
    };
    return cmocka_run_group_tests(tests, make, remove_place);
}
