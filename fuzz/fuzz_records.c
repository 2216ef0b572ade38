/*
 * What a coordinator has written down for people and reads again: 'r' the rounds of a study, 'a' who answered
 * in them (through the archive that is made of it), 'm' a model for the dashboard. A damaged file gives less,
 * never a crash. And what participants hand in: 'd' the record of an arm that was drawn, 'p' a receipt; what is
 * printed of one that was read is read again as the same.
 */
#include <stdlib.h>
#include <string.h>

#include "coordinator/coordinator.h"
#include "coordinator/dashboard_parts.h"
#include "outside.h"
#include "study/archive/audit_export.h"
#include "study/people/arm_record.h"
#include "study/people/receipt.h"
#include "study/round_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static const char definition[] = "name: study\ntitle: Study\nmethod: avg\nset: {noise: party}\nepsilon: 2\n"
                                 "lambda: 0.05\nparties: {expected: 3, minimum: 2}\nminimum_rows: 5\n"
                                 "schema: |\n  label: {name: y, classes: [n, p]}\n  columns:\n"
                                 "    - {name: a, kind: number, low: 0, high: 1}\n";

static void begin(void) {
    tacit_registry *registry = NULL;
    tacit_study *study = NULL;
    outside_must(tacit_coordinator_prepare(outside_folder(), "fuzz", NULL));
    outside_must(tacit_study_parse(&study, definition, strlen(definition), "study", NULL));
    outside_must(tacit_registry_open(&registry, outside_folder(), false, NULL));
    outside_must(
        tacit_registry_add_study(registry, "study", tacit_buffer_text(&study->canonical), NULL, NULL));
    tacit_registry_close(registry);
    tacit_study_free(study);
}

static void try_rounds(const uint8_t *bytes, size_t length) {
    json_t *document = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    outside_file("study.rounds.jsonl", bytes, length);
    outside_explained(tacit_rounds_read(&document, outside_folder(), "study", &error), &error);
    json_decref(document);
}

/* Whatever is in the file, the archive made with it is sound. */
static void try_answers(const uint8_t *bytes, size_t length) {
    tacit_buffer archive = TACIT_BUFFER_INIT;
    tacit_audit_verdict verdict;
    tacit_error error = TACIT_ERROR_INIT;
    outside_file("study.rounds.jsonl", bytes, length);
    outside_file("study.answers.jsonl", bytes, length);
    tacit_status status = tacit_audit_study(outside_folder(), "study", &archive, &error);
    outside_explained(status, &error);
    if (status == TACIT_OK)
        outside_must(tacit_audit_verify(outside_file("archive.jsonl", archive.bytes, archive.length), NULL,
                                        &verdict, NULL));
    tacit_buffer_clear(&archive);
}

static void try_model(const uint8_t *bytes, size_t length) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    json_t *document = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    outside_must(tacit_buffer_append(&text, bytes, length, NULL));
    outside_explained(dashboard_result(&text, "model", &document, &error), &error);
    json_decref(document);
    tacit_buffer_clear(&text);
}

static void try_arm(const uint8_t *bytes, size_t length) {
    tacit_arm_record record = { .arms = 0 }, again = { .arms = 0 };
    tacit_buffer printed = TACIT_BUFFER_INIT, twice = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_arm_record_parse(&record, (const char *)bytes, length, "arm.json", &error);
    outside_explained(status, &error);
    if (status == TACIT_OK) {
        outside_must(tacit_arm_record_print(&record, &printed, NULL));
        outside_must(
            tacit_arm_record_parse(&again, tacit_buffer_text(&printed), printed.length, "arm.json", NULL));
        outside_must(tacit_arm_record_print(&again, &twice, NULL));
        if (printed.length != twice.length || memcmp(printed.bytes, twice.bytes, printed.length) != 0)
            abort();
        outside_explained(tacit_arm_record_verify(&record, &error), &error);
    }
    tacit_arm_record_clear(&record);
    tacit_arm_record_clear(&again);
    tacit_buffer_clear(&printed);
    tacit_buffer_clear(&twice);
}

static void try_receipt(const uint8_t *bytes, size_t length) {
    tacit_receipt receipt, again;
    char printed[TACIT_RECEIPT_TEXT];
    tacit_error error = TACIT_ERROR_INIT;
    char *text = malloc(length + 1);
    if (text == NULL) return;
    memcpy(text, bytes, length);
    text[length] = 0;
    tacit_status status = tacit_receipt_parse(&receipt, text, &error);
    outside_explained(status, &error);
    if (status == TACIT_OK) {
        outside_must(tacit_receipt_parse(&again, tacit_receipt_print(&receipt, printed), NULL));
        if (strcmp(receipt.study, again.study) != 0 ||
            memcmp(receipt.nonce, again.nonce, sizeof again.nonce) != 0 ||
            memcmp(receipt.value, again.value, sizeof again.value) != 0)
            abort();
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static bool begun;
    if (!begun) begin();
    begun = true;
    if (length == 0) return 0;
    switch (bytes[0]) {
    case 'a': try_answers(bytes + 1, length - 1); break;
    case 'd': try_arm(bytes + 1, length - 1); break;
    case 'p': try_receipt(bytes + 1, length - 1); break;
    case 'm': try_model(bytes + 1, length - 1); break;
    default: try_rounds(bytes + 1, length - 1); break;
    }
    return 0;
}
