/* The owner's side of a home: its rules, and the process that serves all its studies. Each also with every
 * allocation of ours failing once. */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "../store/folder.h"
#include "check.h"
#include "failing.h"
#include "site/daemon.h"
#include "study/rules.h"

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
        /* What fails in a study's thread is that study's problem. */
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
        cmocka_unit_test(without_studies_it_says_so_and_waits_or_ends),
        cmocka_unit_test(a_study_that_cannot_be_read_is_told_once_and_ends_nothing),
        cmocka_unit_test(the_process_survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
