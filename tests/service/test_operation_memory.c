/* Every allocation of ours fails once while an operator's tool works on a folder: backups and archives fail
 * cleanly and say that memory ran out, an examination tells what it could not see, and nothing leaks. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "../store/folder.h"
#include "coordinator/coordinator.h"
#include "definition.h"
#include "failing.h"
#include "privacy/ledger/ledger.h"
#include "site/doctor.h"
#include "study/archive/audit_export.h"
#include "study/backup.h"
#include "study/home.h"
#include "study/registry.h"

/* A coordinator's folder with one study, a party's home with one limit, and room for a file beside them. */
typedef struct places {
    folder coordinator, home;
    char file[128];
} places;

static places make_places(void) {
    places made = { folder_make(), folder_make(), "" };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_registry *registry = NULL;
    tacit_ledger *ledger = NULL;
    tacit_study *study = NULL;
    char text[DEFINITION_SIZE], path[128];
    snprintf(made.file, sizeof made.file, "%s/made", made.home.path);
    CHECK_OK(tacit_coordinator_prepare(made.coordinator.path, "test", &error), error);
    CHECK_OK(definition_parse(&study, definition_with(text, NULL, NULL), &error), error);
    CHECK_OK(tacit_registry_open(&registry, made.coordinator.path, false, &error), error);
    CHECK_OK(
        tacit_registry_add_study(registry, study->name, tacit_buffer_text(&study->canonical), NULL, &error),
        error);
    tacit_registry_close(registry);
    tacit_study_free(study);
    snprintf(path, sizeof path, "%s/" TACIT_LEDGER_NAME, made.home.path);
    CHECK_OK(tacit_ledger_open(&ledger, path, "rows", TACIT_LEDGER_CREATE, &error), error);
    const tacit_price limit = { TACIT_UNIT_RECORD, 1, 0 };
    CHECK_OK(tacit_ledger_set_limit(ledger, NULL, &limit, &error), error);
    tacit_ledger_free(ledger);
    return made;
}

static void remove_places(const places *used) {
    folder_remove(&used->coordinator);
    folder_remove(&used->home);
}

typedef tacit_status tool(const places *in, tacit_error *error);

/* It fails with every allocation that fails, and at last succeeds. */
static void survives(tool *work, const places *in) {
    long at = 1;
    for (bool failed = true; failed; at++) {
        tacit_error error = TACIT_ERROR_INIT;
        fail_allocation(at);
        tacit_status status = work(in, &error);
        failed = allocation_failed();
        if (status != (failed ? TACIT_NO_MEMORY : TACIT_OK)) fail_msg("allocation %ld: %s", at, error.text);
    }
    assert_true(at > 2);
}

static tacit_status write_backup(const places *in, tacit_error *error) {
    tacit_backup_about about;
    return tacit_backup_write(in->coordinator.path, NULL, in->file, &about, error);
}

static tacit_status check_backup(const places *in, tacit_error *error) {
    tacit_backup_about about;
    return tacit_backup_restore(in->file, NULL, NULL, &about, error);
}

static void backups_survive_each_failure(void **state) {
    (void)state;
    places in = make_places();
    survives(write_backup, &in);
    survives(check_backup, &in);
    remove_places(&in);
}

static tacit_status write_archive(const places *in, const tacit_buffer *text, tacit_error *error) {
    FILE *file = fopen(in->file, "w");
    if (file == NULL) return tacit_fail_errno(error, "opening", in->file);
    bool whole = fwrite(text->bytes, 1, text->length, file) == text->length;
    return fclose(file) == 0 && whole ? TACIT_OK : tacit_fail_errno(error, "writing", in->file);
}

static tacit_status archive_study(const places *in, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = tacit_audit_study(in->coordinator.path, "two-sites", &text, error);
    if (status == TACIT_OK) status = write_archive(in, &text, error);
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status archive_home(const places *in, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = tacit_audit_home(in->home.path, &text, error);
    if (status == TACIT_OK) status = write_archive(in, &text, error);
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status check_archive(const places *in, tacit_error *error) {
    tacit_audit_verdict verdict;
    return tacit_audit_verify(in->file, NULL, &verdict, error);
}

static void archives_survive_each_failure(void **state) {
    (void)state;
    places in = make_places();
    survives(archive_study, &in);
    survives(check_archive, &in);
    survives(archive_home, &in);
    survives(check_archive, &in);
    remove_places(&in);
}

static void look_at(void *context, const tacit_finding *finding) {
    size_t *seen = context;
    if (finding->text[0] == 0 || finding->check[0] == 0) abort();
    (*seen)++;
}

/* A check that has no memory is a finding, or ends the examination. */
static void examinations_survive_each_failure(void **state) {
    (void)state;
    places in = make_places();
    const char *const folders[] = { in.coordinator.path, in.home.path };
    for (size_t k = 0; k < 2; k++) {
        long at = 1;
        for (bool failed = true; failed; at++) {
            tacit_error error = TACIT_ERROR_INIT;
            const char *kind = NULL;
            size_t seen = 0;
            fail_allocation(at);
            tacit_status status = tacit_doctor(folders[k], &kind, look_at, &seen, &error);
            failed = allocation_failed();
            if (status != TACIT_OK && !(failed && status == TACIT_NO_MEMORY))
                fail_msg("allocation %ld: %s", at, error.text);
            if (status == TACIT_OK) assert_true(kind != NULL && seen > 0);
        }
        assert_true(at > 2);
    }
    remove_places(&in);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backups_survive_each_failure),
        cmocka_unit_test(archives_survive_each_failure),
        cmocka_unit_test(examinations_survive_each_failure),
    };
    return cmocka_run_group_tests_name("operation_memory", tests, NULL, NULL);
}
