/* Every allocation fails once while a study is read: the call fails cleanly and nothing leaks. */
#include <stdlib.h>

#include "definition.h"

static struct {
    bool armed;
    long at, seen;
} failing;

static bool due(void) { return failing.armed && ++failing.seen == failing.at; }

/* The linker gives every call of malloc in the code under test to __wrap_malloc, and so on; libyaml's and
 * libsodium's own are theirs. */
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);

void *__wrap_malloc(size_t size) { return due() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return due() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *block, size_t size) { return due() ? NULL : __real_realloc(block, size); }

static void reading_a_study_survives_each_failure(void **state) {
    (void)state;
    char text[DEFINITION_SIZE];
    long at = 1;
    definition_with(text, NULL, NULL);
    for (bool failed = true; failed; at++) {
        tacit_study *study = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        failing.armed = true;
        failing.at = at;
        failing.seen = 0;
        tacit_status status = definition_parse(&study, text, &error);
        failing.armed = false;
        failed = failing.seen >= failing.at;
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
