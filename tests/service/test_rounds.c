/* What is written down of rounds: who answered is on the disk before a round's result is kept. */
#include "check.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../store/folder.h"
#include "definition.h"
#include "study/round_log.h"

static char synced[PATH_MAX]; /* the file that was brought to the disk last */

int __real_fdatasync(int file);
int __wrap_fdatasync(int file);

int __wrap_fdatasync(int file) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, synced, sizeof synced - 1);
    synced[length > 0 ? length : 0] = 0;
    return __real_fdatasync(file);
}

static tacit_status add_up(void *context, const tacit_question *question, uint64_t *total, size_t *parties,
                           tacit_error *error) {
    (void)context, (void)error;
    memset(total, 0, question->sum.length * sizeof *total);
    *parties = 3;
    return TACIT_OK;
}

/* Kept as the first thing after the round has ended. */
static tacit_status keep(void *context, uint64_t round, const uint8_t *bytes, size_t length,
                         tacit_error *error) {
    (void)round, (void)bytes, (void)length, (void)error;
    memcpy(context, synced, sizeof synced);
    return TACIT_OK;
}

static tacit_status nothing(void *context, uint64_t round, bool *found, tacit_buffer *out,
                            tacit_error *error) {
    (void)context, (void)round, (void)out, (void)error;
    *found = false;
    return TACIT_OK;
}

static void who_answered_is_on_the_disk_before_the_rounds_result(void **state) {
    (void)state;
    static char before[PATH_MAX];
    char text[DEFINITION_SIZE], path[PATH_MAX];
    folder place = folder_make();
    tacit_error error = TACIT_ERROR_INIT;
    tacit_study *study = NULL;
    tacit_recorder recorder;
    const tacit_sum_spec spec = { 2, 1, 20 };
    tacit_sum sum;
    CHECK_OK(definition_parse(&study, definition_with(text, NULL, NULL), &error), error);
    const tacit_journal journal = { .read = nothing, .write = keep, .context = before };
    tacit_session session = { .plan = &study->plan, .transport = { .ask_sum = add_up }, .journal = &journal };
    CHECK_OK(tacit_recorder_attach(&recorder, &session, place.path, &error), error);
    CHECK_OK(tacit_rounds_answers_path(path, sizeof path, place.path, study->plan.study, &error), error);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    CHECK_OK(tacit_ask_sum(&session, "question", NULL, &spec, &sum, &error), error);
    assert_string_equal(before, path);
    free(sum.values);
    tacit_recorder_clear(&recorder);
    tacit_rounds_forget(place.path, study->plan.study);
    assert_int_not_equal(access(path, F_OK), 0);
    tacit_study_free(study);
    folder_remove(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_answered_is_on_the_disk_before_the_rounds_result),
    };
    return cmocka_run_group_tests_name("rounds", tests, NULL, NULL);
}
