/* Every allocation of ours fails once while a study is read: the call fails cleanly and nothing leaks. */
#include <stdlib.h>

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

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(reading_a_study_survives_each_failure) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
