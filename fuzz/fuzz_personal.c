/* Records of a person's store that are properly encrypted and say anything: a source, an origin, a row or a rule,
 * by the first byte. What is accepted must be visited without a step beyond its bytes. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "person/personal_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static size_t seen;

static tacit_status see_collection(void *context, const tacit_collection *collection, tacit_error *error) {
    (void)context, (void)error;
    for (size_t j = 0; j < collection->count; j++) seen += strlen(collection->columns[j].name);
    return TACIT_OK;
}

static tacit_status see_origin(void *context, const tacit_origin *origin, tacit_error *error) {
    (void)context, (void)error;
    seen += strlen(origin->label) + origin->text.length;
    return TACIT_OK;
}

static tacit_status see_row(void *context, const tacit_collection_row *row, tacit_error *error) {
    (void)error;
    for (size_t j = 0; j < ((const tacit_collection *)context)->count; j++)
        if (row->cells[j] != NULL) seen += strlen(row->cells[j]);
    return TACIT_OK;
}

static tacit_status see_rule(void *context, const tacit_reuse_rule *rule, tacit_error *error) {
    (void)context, (void)error;
    seen += strlen(rule->who) + strlen(tacit_reuse_name(rule->reuse));
    return TACIT_OK;
}

static tacit_vault *open_store(void) {
    static const tacit_vault_cost cheap = { 1, 8192 };
    char path[] = "/tmp/tacit-fuzz-XXXXXX";
    tacit_vault *vault = NULL;
    if (sodium_init() < 0 || mkdtemp(path) == NULL) abort();
    char file[64];
    snprintf(file, sizeof file, "%s/s", path);
    if (tacit_vault_create(file, "passphrase", &cheap, NULL) != TACIT_OK ||
        tacit_vault_open(&vault, file, "passphrase", NULL) != TACIT_OK)
        abort();
    for (const char *const *end = (const char *const[]){ "", "-wal", "-shm", NULL }; *end != NULL; end++) {
        char beside[80];
        snprintf(beside, sizeof beside, "%s%s", file, *end);
        unlink(beside); /* it stays open, and goes with the process */
    }
    rmdir(path);
    return vault;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static tacit_vault *vault;
    tacit_collection_column columns[3] = { { .name = "a" }, { .name = "b" }, { .name = "c" } };
    const tacit_collection collection = {
        .id = 1, .kind = TACIT_COLLECTION_ANSWERS, .count = 3, .columns = columns
    };
    tacit_buffer record = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    int64_t id;
    if (length == 0) return 0;
    if (vault == NULL) vault = open_store();
    const uint32_t kind = bytes[0] % 4 + 1;
    const tacit_vault_place place = { kind, kind == RECORD_ORIGIN || kind == RECORD_ROW ? 1 : 0 };
    if (tacit_vault_begin(vault, NULL) != TACIT_OK ||
        tacit_buffer_append(&record, bytes + 1, length - 1, NULL) != TACIT_OK ||
        tacit_vault_add(vault, &place, &record, &id, NULL) != TACIT_OK)
        abort();
    tacit_status status =
        kind == RECORD_COLLECTION ? tacit_collections_each(vault, see_collection, NULL, &error)
        : kind == RECORD_ORIGIN   ? tacit_origins_each(vault, &collection, see_origin, NULL, &error)
        : kind == RECORD_ROW      ? tacit_rows_each(vault, &collection, see_row, (void *)&collection, &error)
                                  : tacit_reuse_each(vault, see_rule, NULL, &error);
    if (status != TACIT_OK && error.text[0] == 0) abort();
    tacit_vault_rollback(vault);
    tacit_buffer_clear(&record);
    return 0;
}
