/* Every allocation of ours fails once while a study is read: the call fails cleanly and nothing leaks. */
#include <stdlib.h>

#include "../store/folder.h"
#include "definition.h"
#include "failing.h"

static void reading_a_study_survives_each_failure(void **state) {
    (void)state;
    char text[DEFINITION_SIZE];
    long at = 1;
    definition_with(text, NULL, NULL);
    for (bool failed = true; failed; at++) {
        tacit_study *study = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        fail_allocation(at);
        tacit_status status = definition_parse(&study, text, &error);
        failed = allocation_failed();
        if (status != (failed ? TACIT_NO_MEMORY : TACIT_OK)) fail_msg("allocation %ld: %s", at, error.text);
        assert_true(failed == (study == NULL));
        tacit_study_free(study);
    }
    assert_true(at > 10);
}

static void put(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void a_study_with_points_survives_each_failure(void **state) {
    (void)state;
    folder place = folder_make();
    char text[DEFINITION_SIZE], study_path[128], points_path[128];
    long at = 1;
    snprintf(study_path, sizeof study_path, "%s/s.yaml", place.path);
    snprintf(points_path, sizeof points_path, "%s/p.csv", place.path);
    definition_with(text, "method", "vote\nauxiliary: p.csv");
    char *set = strstr(text, "{noise: party}");
    assert_non_null(set);
    memcpy(set, "{}            ", strlen("{noise: party}"));
    put(study_path, text);
    put(points_path, "a\n0.25\n0.75\n");
    for (bool failed = true; failed; at++) {
        tacit_study *study = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        fail_allocation(at);
        tacit_status status = tacit_study_load(&study, study_path, &error);
        failed = allocation_failed();
        if (status != (failed ? TACIT_NO_MEMORY : TACIT_OK)) fail_msg("allocation %ld: %s", at, error.text);
        tacit_study_free(study);
    }
    assert_true(at > 20);
    folder_remove(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_a_study_survives_each_failure),
        cmocka_unit_test(a_study_with_points_survives_each_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
