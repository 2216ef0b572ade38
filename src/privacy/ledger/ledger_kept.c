/* The durable ledger: what a party goes on from in a study. It is the owner's own and follows from nothing in
 * the log, so that a hash of its own tells damage. */
#include <sodium.h>
#include <string.h>

#include "privacy/ledger/ledger_file_parts.h"

static void hash_state(uint8_t out[TACIT_HASH_BYTES], const char *source, const char *study,
                       const uint8_t *state, size_t length) {
    crypto_generichash_state hash;
    crypto_generichash_init(&hash, NULL, 0, TACIT_HASH_BYTES);
    crypto_generichash_update(&hash, (const uint8_t *)source, strlen(source) + 1);
    crypto_generichash_update(&hash, (const uint8_t *)study, strlen(study) + 1);
    crypto_generichash_update(&hash, state, length);
    crypto_generichash_final(&hash, out, TACIT_HASH_BYTES);
}

tacit_status tacit_ledger_file_keep(tacit_ledger_file *self, const tacit_release *release,
                                    tacit_error *error) {
    tacit_statement *put = NULL;
    uint8_t hash[TACIT_HASH_BYTES];
    if (release->state_length == 0) return TACIT_OK;
    hash_state(hash, self->source, release->study, release->state, release->state_length);
    TACIT_TRY(tacit_statement_prepare(
        &put, self->store, "INSERT OR REPLACE INTO kept (source, study, state, hash) VALUES (?1, ?2, ?3, ?4)",
        error));
    tacit_bind_text(put, 1, self->source);
    tacit_bind_text(put, 2, release->study);
    tacit_bind_blob(put, 3, release->state, release->state_length);
    tacit_bind_blob(put, 4, hash, sizeof hash);
    tacit_status status = tacit_statement_run(put, error);
    tacit_statement_free(put);
    return status;
}

/* The current row of "SELECT source, study, state, hash FROM kept". */
static tacit_status check_row(const uint8_t **state, size_t *length, tacit_store *store, tacit_statement *row,
                              tacit_error *error) {
    const char *source = NULL, *study = NULL;
    uint8_t hash[TACIT_HASH_BYTES], found[TACIT_HASH_BYTES];
    TACIT_TRY(tacit_column_text(&source, row, 0, TACIT_NAME_MOST, error));
    TACIT_TRY(tacit_column_text(&study, row, 1, TACIT_NAME_MOST, error));
    TACIT_TRY(tacit_column_blob(state, length, row, 2, TACIT_PAYLOAD_MOST, error));
    TACIT_TRY(tacit_column_bytes(found, sizeof found, row, 3, error));
    hash_state(hash, source, study, *state, *length);
    if (memcmp(hash, found, sizeof hash) == 0) return TACIT_OK;
    return tacit_fail(
        error, TACIT_CORRUPT,
        "%s: what the party goes on from in study %s was damaged: restore the ledger from a backup",
        tacit_store_path(store), study);
}

tacit_status tacit_ledger_file_state(bool *found, tacit_ledger *ledger, const char *study, tacit_buffer *out,
                                     tacit_error *error) {
    tacit_ledger_file *self = (tacit_ledger_file *)ledger;
    tacit_statement *get = NULL;
    const uint8_t *bytes;
    size_t length;
    bool row = false;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(
        &get, self->store, "SELECT source, study, state, hash FROM kept WHERE source = ?1 AND study = ?2",
        error));
    tacit_bind_text(get, 1, self->source);
    tacit_bind_text(get, 2, study);
    TACIT_CHECK(tacit_statement_step(&row, get, error));
    if (row) TACIT_CHECK(check_row(&bytes, &length, self->store, get, error));
    if (row) TACIT_CHECK(tacit_buffer_append(out, bytes, length, error));
    *found = row;
cleanup:
    tacit_statement_free(get);
    return status;
}

tacit_status tacit_ledger_file_check_kept(tacit_store *store, tacit_error *error) {
    tacit_statement *query = NULL;
    tacit_status status;
    TACIT_CHECK(
        tacit_statement_prepare(&query, store, "SELECT source, study, state, hash FROM main.kept", error));
    for (bool row = false;;) {
        const uint8_t *state = NULL;
        size_t length = 0;
        TACIT_CHECK(tacit_statement_step(&row, query, error));
        if (!row) break;
        TACIT_CHECK(check_row(&state, &length, store, query, error));
    }
cleanup:
    tacit_statement_free(query);
    return status;
}

tacit_status tacit_ledger_file_guard_kept(tacit_store *store, tacit_error *error) {
    tacit_statement *query = NULL, *put = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(&query, store, "SELECT source, study, state FROM kept", error));
    TACIT_CHECK(tacit_statement_prepare(&put, store,
                                        "UPDATE kept SET hash = ?3 WHERE source = ?1 AND study = ?2", error));
    for (bool row = false;;) {
        const char *source = NULL, *study = NULL;
        const uint8_t *state = NULL;
        size_t length = 0;
        uint8_t hash[TACIT_HASH_BYTES];
        TACIT_CHECK(tacit_statement_step(&row, query, error));
        if (!row) break;
        TACIT_CHECK(tacit_column_text(&source, query, 0, TACIT_NAME_MOST, error));
        TACIT_CHECK(tacit_column_text(&study, query, 1, TACIT_NAME_MOST, error));
        TACIT_CHECK(tacit_column_blob(&state, &length, query, 2, TACIT_PAYLOAD_MOST, error));
        hash_state(hash, source, study, state, length);
        tacit_statement_reset(put);
        tacit_bind_text(put, 1, source);
        tacit_bind_text(put, 2, study);
        tacit_bind_blob(put, 3, hash, sizeof hash);
        TACIT_CHECK(tacit_statement_run(put, error));
    }
cleanup:
    tacit_statement_free(query);
    tacit_statement_free(put);
    return status;
}
