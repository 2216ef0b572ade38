/* The two files that everything rests on, damaged or tampered with: 'l' a party's ledger, 'r' a coordinator's
 * registry. Opening, checking and reading them ends with what they hold or with a sentence. */
#include <stdlib.h>

#include "outside.h"
#include "privacy/ledger/ledger.h"
#include "study/registry.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static tacit_status visit_entry(void *context, const tacit_entry *entry, tacit_error *error) {
    (void)context, (void)entry, (void)error;
    return TACIT_OK;
}

static void try_ledger(const char *path) {
    tacit_ledger *ledger = NULL;
    tacit_account account;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_consent consent;
    tacit_verdict verdict;
    tacit_status status = tacit_ledger_open(&ledger, path, "rows", TACIT_LEDGER_READING, &error);
    outside_explained(status, &error);
    if (status == TACIT_OK) {
        outside_explained(tacit_ledger_verify(&verdict, ledger, &error), &error);
        outside_explained(tacit_ledger_list(ledger, 0, visit_entry, NULL, &error), &error);
        outside_explained(tacit_ledger_account(&account, ledger, NULL, TACIT_UNIT_RECORD, &error), &error);
        outside_explained(tacit_ledger_consent_state(&consent, ledger, "study", &error), &error);
    }
    tacit_ledger_free(ledger);
}

static tacit_status visit_party(void *context, const char *party, bool away, tacit_error *error) {
    (void)context, (void)party, (void)away, (void)error;
    return TACIT_OK;
}

static void read_study(tacit_registry *registry, const char *name) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_study_record record;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_stream stream;
    tacit_journal journal = { .context = NULL };
    bool found;
    uint64_t round;
    outside_explained(tacit_registry_study(registry, name, &record, &text, &error), &error);
    outside_explained(tacit_registry_points(registry, name, &text, &error), &error);
    outside_explained(tacit_registry_parties(registry, name, visit_party, NULL, &error), &error);
    outside_explained(tacit_registry_secret(registry, name, &stream, &error), &error);
    outside_explained(tacit_registry_revocations(registry, name, &text, &error), &error);
    if (tacit_registry_journal(registry, name, &journal, &error) == TACIT_OK) {
        outside_explained(journal.read(journal.context, 0, &found, &text, &error), &error);
        outside_explained(journal.read_checkpoint(journal.context, &found, &round, &text, &error), &error);
        free(journal.context);
    }
    tacit_buffer_clear(&text);
}

static void try_registry(void) {
    tacit_registry *registry = NULL;
    tacit_study_record *records = NULL;
    size_t count = 0;
    char name[64];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_registry_open(&registry, outside_folder(), false, &error);
    outside_explained(status, &error);
    if (status != TACIT_OK) return;
    outside_explained(tacit_registry_check(registry, &error), &error);
    outside_explained(tacit_registry_get(registry, "name", name, sizeof name, &error), &error);
    outside_explained(tacit_registry_studies(registry, &records, &count, &error), &error);
    for (size_t i = 0; i < count && i < 3; i++) read_study(registry, records[i].name);
    free(records);
    tacit_registry_close(registry);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    if (length == 0) return 0;
    const char *const leftovers[] = { "coordinator.db-wal", "coordinator.db-shm", "ledger.db-wal",
                                      "ledger.db-shm" };
    for (size_t i = 0; i < 4; i++) outside_remove(outside_path(leftovers[i]));
    if (bytes[0] == 'l') {
        try_ledger(outside_file("ledger.db", bytes + 1, length - 1));
    } else {
        outside_file("coordinator.db", bytes + 1, length - 1);
        try_registry();
    }
    return 0;
}
