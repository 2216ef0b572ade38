/* The owner's side of a home: its rules, the sources of its rows, and the process that serves all its studies. Each also with every
 * allocation of ours failing once. */
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "../store/folder.h"
#include "check.h"
#include "failing.h"
#include "site/daemon.h"
#include "study/rules.h"
#include "site/source.h"

static void put(const folder *place, const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", place->path, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* ---- rules ---- */

static void rules_come_back_as_they_were_set(void **state) {
    (void)state;
    folder home = folder_make();
    tacit_rules rules, again;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_rules_load(&rules, home.path, &error), error); /* none were set: the usual ones */
    tacit_policy usual = tacit_policy_default();
    assert_true(rules.minimum_rows == usual.minimum_rows && rules.study_epsilon == 0 &&
                rules.method_count == 0);
    rules.study_epsilon = 1.5;
    rules.minimum_rows = 7;
    rules.minimum_parties = 4;
    rules.method_count = 2;
    strcpy(rules.methods[0], "avg");
    strcpy(rules.methods[1], "dpgd");
    CHECK_OK(tacit_rules_save(&rules, home.path, &error), error);
    CHECK_OK(tacit_rules_load(&again, home.path, &error), error);
    const char *names[TACIT_RULE_METHODS];
    tacit_policy policy = usual;
    tacit_rules_apply(&again, names, &policy);
    assert_true(policy.most_study_epsilon == 1.5 && policy.minimum_rows == 7 && policy.minimum_parties == 4);
    assert_int_equal(policy.method_count, 2);
    assert_string_equal(policy.methods[1], "dpgd");
    folder_remove(&home);
}

static void rules_that_cannot_be_are_refused_and_a_damaged_file_lets_nothing_out(void **state) {
    (void)state;
    static const char *const damaged[] = {
        "",
        "{",
        "[]",
        "{\"study_epsilon\": 0, \"minimum_rows\": 0, \"minimum_parties\": 1, \"methods\": []}",
        "{\"study_epsilon\": -1, \"minimum_rows\": 1, \"minimum_parties\": 1, \"methods\": []}",
        "{\"study_epsilon\": 0, \"minimum_rows\": 1, \"minimum_parties\": 1, \"methods\": [\"magic\"]}",
        "{\"study_epsilon\": 0, \"minimum_rows\": 1, \"minimum_parties\": 1, \"methods\": [1]}",
        "{\"study_epsilon\": 0, \"minimum_rows\": 1, \"minimum_parties\": 1, \"methods\": [], \"more\": 1}",
        "{\"study_epsilon\": 0, \"minimum_rows\": 1, \"minimum_parties\": 1}",
    };
    folder home = folder_make();
    tacit_rules rules;
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        put(&home, "rules.json", damaged[i]);
        if (tacit_rules_load(&rules, home.path, &error) != TACIT_REFUSED)
            fail_msg("%s was taken: %s", damaged[i], error.text);
    }
    tacit_rules sound = { .minimum_rows = 1, .minimum_parties = 1 }, wrong = sound;
    wrong.study_epsilon = NAN;
    assert_int_equal(tacit_rules_save(&wrong, home.path, &error), TACIT_USAGE);
    wrong = sound;
    wrong.minimum_parties = 0;
    assert_int_equal(tacit_rules_save(&wrong, home.path, &error), TACIT_USAGE);
    wrong = sound;
    wrong.method_count = 1;
    strcpy(wrong.methods[0], "magic");
    assert_int_not_equal(tacit_rules_save(&wrong, home.path, &error), TACIT_OK);
    CHECK_OK(tacit_rules_save(&sound, home.path, &error), error);
    CHECK_OK(tacit_rules_load(&rules, home.path, &error), error);
    folder_remove(&home);
}

static void rules_survive_each_failed_allocation(void **state) {
    (void)state;
    folder home = folder_make();
    tacit_rules rules = { .minimum_rows = 3, .minimum_parties = 2, .method_count = 1 }, read;
    strcpy(rules.methods[0], "avg");
    long at = 1;
    for (bool failed = true; failed; at++) {
        tacit_error error = TACIT_ERROR_INIT;
        fail_allocation(at);
        tacit_status status = tacit_rules_save(&rules, home.path, &error);
        if (status == TACIT_OK) status = tacit_rules_load(&read, home.path, &error);
        failed = allocation_failed();
        if (status != (failed ? TACIT_NO_MEMORY : TACIT_OK)) fail_msg("allocation %ld: %s", at, error.text);
    }
    assert_int_equal(read.minimum_rows, 3);
    folder_remove(&home);
}

/* ---- sources ---- */

static tacit_schema *schema(void) {
    static const char text[] = "label: {name: sick, classes: [\"no\", \"yes\"]}\ncolumns:\n"
                               "  - {name: age, kind: number, low: 0, high: 1}\n";
    tacit_schema *made = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_schema_parse(&made, text, strlen(text), "schema", &error), error);
    return made;
}

static tacit_status load(tacit_dataset **out, const char *data, const char *link, tacit_error *error) {
    tacit_schema *about = schema();
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    tacit_status status = tacit_source_load(out, data, link, about, &options, error);
    tacit_schema_free(about);
    return status;
}

/* Rows, and how many of them are sick. */
static void holds(const char *data, const char *link, size_t rows, size_t sick) {
    tacit_dataset *read = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(load(&read, data, link, &error), error);
    size_t found = 0;
    for (size_t i = 0; i < read->rows; i++) found += read->label[i] == 1;
    assert_int_equal(read->rows, rows);
    assert_int_equal(found, sick);
    tacit_dataset_free(read);
}

static void fails(const char *data, const char *link, const char *says) {
    tacit_dataset *read = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    if (load(&read, data, link, &error) == TACIT_OK || strstr(error.text, says) == NULL)
        fail_msg("%s: expected '%s', got: %s", data, says, error.text);
}

static void a_folder_is_read_file_by_file_and_linked_rows_count_once(void **state) {
    (void)state;
    folder place = folder_make();
    char one[128];
    snprintf(one, sizeof one, "%s/b.csv", place.path);
    put(&place, "a.csv", "who,age,sick\nann,0.5,no\nbob,0.25,yes\n");
    put(&place, "b.csv", "who,age,sick\nann,0.75,yes\n");
    put(&place, "c.csv.part", "still being written");
    assert_true(tacit_source_is_gathered(place.path, NULL));
    assert_false(tacit_source_is_gathered(one, NULL));
    assert_true(tacit_source_is_gathered(one, "who"));
    holds(place.path, NULL, 3, 2);
    holds(place.path, "who", 2, 2); /* ann's last row counts */
    holds(one, "who", 1, 1);
    fails(place.path, "name", "no column 'name'");
    put(&place, "c.csv", "who,age,sick\n,0.75,yes\n");
    fails(place.path, "who", "nothing in column 'who'");
    put(&place, "c.csv", "age,sick\n0.75,yes\n");
    fails(place.path, NULL, "same header");
    folder_remove(&place);
}

static void fill_database(const folder *place) {
    sqlite3 *file = NULL;
    assert_int_equal(sqlite3_open(place->file, &file), SQLITE_OK);
    assert_int_equal(sqlite3_exec(file,
                                  "CREATE TABLE visit (who, age REAL, sick TEXT); INSERT INTO visit VALUES "
                                  "('ann', 0.5, 'no'), ('bob', 0.25, 'yes'), ('ann', NULL, 'yes')",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(file);
}

static void a_query_gives_rows_and_changes_nothing(void **state) {
    (void)state;
    folder place = folder_make();
    char data[256];
    fill_database(&place);
#define QUERY(text) (snprintf(data, sizeof data, "sqlite:%s?%s", place.file, text), data)
    holds(QUERY("SELECT age, sick FROM visit"), NULL, 3, 2);
    holds(QUERY("SELECT * FROM visit ORDER BY rowid;"), "who", 2, 2);
    fails(QUERY("DELETE FROM visit"), NULL, "must be one SELECT");
    fails(QUERY("DELETE FROM visit RETURNING age, sick"), NULL, "readonly");
    fails(QUERY("SELECT age, sick FROM visit; DELETE FROM visit"), NULL, "must be one SELECT");
    fails(QUERY("SELECT age FROM nothing"), NULL, "nothing");
    fails(QUERY(""), NULL, "must be one SELECT");
    holds(QUERY("SELECT age, sick FROM visit"), NULL, 3, 2);
    fails("sqlite:clinic.db?SELECT 1", NULL, "full path");
    fails("sqlite:/clinic.db", NULL, "question mark");
    fails("postgres:host=/nowhere/at/all?SELECT 1", NULL, "PostgreSQL");
    folder_remove(&place);
}

static void every_source_survives_each_failed_allocation(void **state) {
    (void)state;
    folder place = folder_make();
    char query[256];
    fill_database(&place);
    put(&place, "a.csv", "who,age,sick\nann,0.5,no\nbob,0.25,yes\n");
    snprintf(query, sizeof query, "sqlite:%s?SELECT * FROM visit", place.file);
    const char *const sources[] = { place.path, query };
    tacit_schema *about = schema();
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    for (size_t k = 0; k < 2; k++) {
        long at = 1;
        for (bool failed = true; failed; at++) {
            tacit_dataset *read = NULL;
            tacit_error error = TACIT_ERROR_INIT;
            fail_allocation(at);
            tacit_status status = tacit_source_load(&read, sources[k], "who", about, &options, &error);
            failed = allocation_failed();
            if (status != (failed ? TACIT_NO_MEMORY : TACIT_OK))
                fail_msg("%s, allocation %ld: %s", sources[k], at, error.text);
            tacit_dataset_free(read);
        }
        assert_true(at > 10);
    }
    tacit_schema_free(about);
    folder_remove(&place);
}

/* ---- the process for all studies ---- */

typedef struct watching {
    atomic_int looks, lines;
    int most;       /* looks until it is told to stop */
    char last[512]; /* what it said last */
} watching;

static bool stopped(void *context) {
    watching *self = context;
    return atomic_fetch_add(&self->looks, 1) >= self->most;
}

static void heard(void *context, const char *line) {
    watching *self = context;
    snprintf(self->last, sizeof self->last, "%s", line);
    atomic_fetch_add(&self->lines, 1);
}

static tacit_status serve(const folder *home, watching *self, bool until_done, tacit_error *error) {
    tacit_daemon_settings settings = { .home = home->path,
                                       .until_done = until_done,
                                       .callbacks = {
                                           .cancelled = stopped, .news = heard, .context = self } };
    return tacit_daemon_run(&settings, error);
}

static void damaged_study(const folder *home) {
    char path[128];
    snprintf(path, sizeof path, "%s/studies", home->path);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/studies/trial@1", home->path);
    mkdir(path, 0700);
    put(home, "studies/trial@1/party.crt", "no certificate");
    put(home, "studies/trial@1/settings.json", "{");
}

static void without_studies_it_says_so_and_waits_or_ends(void **state) {
    (void)state;
    folder home = folder_make();
    watching self = { .most = 1 };
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(serve(&home, &self, false, &error), error);
    assert_int_equal(atomic_load(&self.lines), 1);
    assert_non_null(strstr(self.last, "waiting for one"));
    self = (watching){ .most = 1 };
    assert_int_equal(serve(&home, &self, true, &error), TACIT_NOT_FOUND);
    folder_remove(&home);
}

static void a_study_that_cannot_be_read_is_told_once_and_ends_nothing(void **state) {
    (void)state;
    folder home = folder_make();
    watching self = { .most = 20 };
    tacit_error error = TACIT_ERROR_INIT;
    damaged_study(&home);
    CHECK_OK(serve(&home, &self, false, &error), error);
    assert_int_equal(atomic_load(&self.lines), 1);
    assert_non_null(strstr(self.last, "trial@1: "));
    put(&home, "studies/trial@1/ended", "done"); /* and one that has ended is not taken up */
    self = (watching){ .most = 100 };
    CHECK_OK(serve(&home, &self, true, &error), error);
    assert_int_equal(atomic_load(&self.lines), 0);
    folder_remove(&home);
}

static void the_process_survives_failed_allocations(void **state) {
    (void)state;
    folder home = folder_make();
    damaged_study(&home);
    bool failed = true;
    for (long at = 1; at <= 10 && failed; at++) { /* each takes a look, and those take a while */
        watching self = { .most = 1 };
        tacit_error error = TACIT_ERROR_INIT;
        fail_allocation(at);
        tacit_status status = serve(&home, &self, false, &error);
        failed = allocation_failed();
        /* What fails in a study's thread is that study's trouble. */
        if (status != TACIT_OK && (status != TACIT_NO_MEMORY || !failed))
            fail_msg("allocation %ld: %s", at, error.text);
    }
    folder_remove(&home);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_come_back_as_they_were_set),
        cmocka_unit_test(rules_that_cannot_be_are_refused_and_a_damaged_file_lets_nothing_out),
        cmocka_unit_test(rules_survive_each_failed_allocation),
        cmocka_unit_test(a_folder_is_read_file_by_file_and_linked_rows_count_once),
        cmocka_unit_test(a_query_gives_rows_and_changes_nothing),
        cmocka_unit_test(every_source_survives_each_failed_allocation),
        cmocka_unit_test(without_studies_it_says_so_and_waits_or_ends),
        cmocka_unit_test(a_study_that_cannot_be_read_is_told_once_and_ends_nothing),
        cmocka_unit_test(the_process_survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
