#include "person/vault.h"

#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/secret.h"
#include "store/statement.h"

enum {
    KEY_BYTES = crypto_aead_xchacha20poly1305_ietf_KEYBYTES,
    NONCE_BYTES = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG_BYTES = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    SALT_BYTES = crypto_pwhash_SALTBYTES,
    WRAPPED_BYTES = NONCE_BYTES + KEY_BYTES + TAG_BYTES,
    OPERATIONS_MOST = 64,
    MEMORY_MOST = 1 << 30, /* a file that asks for more was tampered with */
};

/* `next` only grows: a number is never given twice, so that no record of the past fits a place of today. */
static const char *const scripts[] = {
    "CREATE TABLE key (one INTEGER PRIMARY KEY CHECK (one = 1), salt BLOB NOT NULL, operations INTEGER NOT "
    "NULL,"
    " memory INTEGER NOT NULL, wrapped BLOB NOT NULL, next INTEGER NOT NULL) STRICT;"
    "CREATE TABLE record (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, parent INTEGER NOT NULL,"
    " sealed BLOB NOT NULL) STRICT;"
    "CREATE INDEX place ON record (kind, parent, id);"
    "CREATE INDEX part ON record (parent);",
};

static const tacit_store_schema schema = { .what = "personal store",
                                           .application_id = 0x54635073, /* "TcPs" */
                                           .scripts = scripts,
                                           .script_count = sizeof scripts / sizeof *scripts };

struct tacit_vault {
    tacit_store *store;
    bool changing; /* a transaction of the caller's is open */
    uint8_t key[KEY_BYTES];
};

/* ---- the key, under the passphrase ---- */

/* What is bound to the wrapped key, so that none of it can be changed. */
typedef struct wrapping {
    uint8_t salt[SALT_BYTES];
    int64_t operations, memory;
    uint8_t wrapped[WRAPPED_BYTES];
} wrapping;

static tacit_status check_passphrase(const char *passphrase, tacit_error *error) {
    size_t length = strlen(passphrase);
    if (length >= TACIT_PASSPHRASE_LEAST && length <= TACIT_PASSPHRASE_MOST) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "a passphrase has %d to %d bytes; several words that nobody would guess do best",
                      TACIT_PASSPHRASE_LEAST, TACIT_PASSPHRASE_MOST);
}

static tacit_status stretch(uint8_t out[KEY_BYTES], const wrapping *kept, const char *passphrase,
                            tacit_error *error) {
    if (kept->operations < 1 || kept->operations > OPERATIONS_MOST ||
        kept->memory < (int64_t)crypto_pwhash_MEMLIMIT_MIN || kept->memory > MEMORY_MOST)
        return tacit_fail(error, TACIT_CORRUPT,
                          "the personal store was tampered with: its passphrase cannot have cost that much");
    if (crypto_pwhash(out, KEY_BYTES, passphrase, strlen(passphrase), kept->salt,
                      (unsigned long long)kept->operations, (size_t)kept->memory,
                      crypto_pwhash_ALG_ARGON2ID13) != 0)
        return tacit_fail_memory(error);
    return TACIT_OK;
}

static void bound_to_key(uint8_t out[64], const wrapping *kept) {
    memset(out, 0, 64);
    memcpy(out, "tacit personal store 1", 22);
    memcpy(out + 24, kept->salt, SALT_BYTES);
    for (int i = 0; i < 8; i++) {
        out[40 + i] = (uint8_t)((uint64_t)kept->operations >> (8 * i));
        out[48 + i] = (uint8_t)((uint64_t)kept->memory >> (8 * i));
    }
}

static tacit_status wrap(wrapping *out, const uint8_t key[KEY_BYTES], const char *passphrase,
                         tacit_error *error) {
    uint8_t outer[KEY_BYTES], bound[64];
    TACIT_TRY(check_passphrase(passphrase, error));
    randombytes_buf(out->salt, sizeof out->salt);
    randombytes_buf(out->wrapped, NONCE_BYTES);
    TACIT_TRY(stretch(outer, out, passphrase, error));
    bound_to_key(bound, out);
    crypto_aead_xchacha20poly1305_ietf_encrypt(out->wrapped + NONCE_BYTES, NULL, key, KEY_BYTES, bound,
                                               sizeof bound, NULL, out->wrapped, outer);
    sodium_memzero(outer, sizeof outer);
    return TACIT_OK;
}

static tacit_status unwrap(uint8_t key[KEY_BYTES], const wrapping *kept, const char *path,
                           const char *passphrase, tacit_error *error) {
    uint8_t outer[KEY_BYTES], bound[64];
    if (strlen(passphrase) > TACIT_PASSPHRASE_MOST) return check_passphrase(passphrase, error);
    TACIT_TRY(stretch(outer, kept, passphrase, error));
    bound_to_key(bound, kept);
    int code = crypto_aead_xchacha20poly1305_ietf_decrypt(key, NULL, NULL, kept->wrapped + NONCE_BYTES,
                                                          WRAPPED_BYTES - NONCE_BYTES, bound, sizeof bound,
                                                          kept->wrapped, outer);
    sodium_memzero(outer, sizeof outer);
    if (code == 0) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "wrong passphrase: it does not open %s. Nothing was changed; try again. Nobody can "
                      "recover a forgotten one",
                      path);
}

static tacit_status read_wrapping(wrapping *out, tacit_store *store, tacit_error *error) {
    tacit_statement *query = NULL;
    bool row = false;
    tacit_status status;
    TACIT_CHECK(
        tacit_statement_prepare(&query, store, "SELECT salt, operations, memory, wrapped FROM key", error));
    TACIT_CHECK(tacit_statement_step(&row, query, error));
    if (!row) TACIT_CHECK(tacit_fail(error, TACIT_CORRUPT, "%s has no key", tacit_store_path(store)));
    TACIT_CHECK(tacit_column_bytes(out->salt, sizeof out->salt, query, 0, error));
    out->operations = tacit_column_integer(query, 1);
    out->memory = tacit_column_integer(query, 2);
    TACIT_CHECK(tacit_column_bytes(out->wrapped, sizeof out->wrapped, query, 3, error));
cleanup:
    tacit_statement_free(query);
    return status;
}

static tacit_status run_with_wrapping(tacit_store *store, const char *sql, const wrapping *kept,
                                      tacit_error *error) {
    tacit_statement *change = NULL;
    TACIT_TRY(tacit_statement_open(
        &change, store, sql,
        TACIT_VALUES(tacit_sql_blob(kept->salt, sizeof kept->salt), tacit_sql_integer(kept->operations),
                     tacit_sql_integer(kept->memory), tacit_sql_blob(kept->wrapped, sizeof kept->wrapped)),
        error));
    tacit_status status = tacit_statement_run(change, error);
    tacit_statement_free(change);
    return status;
}

/* The file gets its key in one transaction; one without a key, from a process that was killed between, is
 * made whole by the next attempt. */
tacit_status tacit_vault_create(const char *path, const char *passphrase, const tacit_vault_cost *cost,
                                tacit_error *error) {
    wrapping made = { .operations = cost != NULL ? (int64_t)cost->operations : 3,
                      .memory = cost != NULL ? (int64_t)cost->memory : 64 << 20 },
             found;
    uint8_t key[KEY_BYTES];
    tacit_store *store = NULL;
    tacit_status status;
    randombytes_buf(key, sizeof key);
    TACIT_CHECK(wrap(&made, key, passphrase, error));
    TACIT_CHECK(tacit_store_open(&store, path, &schema, TACIT_STORE_CREATE, error));
    TACIT_CHECK(tacit_store_begin(store, error));
    if (read_wrapping(&found, store, NULL) == TACIT_OK)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                               "%s is there already, and stays as it is: open it, or name another file",
                               path));
    TACIT_CHECK(run_with_wrapping(store, "INSERT INTO key VALUES (1, ?1, ?2, ?3, ?4, 1)", &made, error));
    TACIT_CHECK(tacit_store_commit(store, error));
cleanup:
    sodium_memzero(key, sizeof key);
    if (store != NULL) tacit_store_rollback(store);
    tacit_store_close(store);
    return status;
}

tacit_status tacit_vault_open(tacit_vault **out, const char *path, const char *passphrase,
                              tacit_error *error) {
    tacit_vault *vault = TACIT_NEW(tacit_vault, 1);
    wrapping kept;
    tacit_status status;
    if (vault == NULL) return tacit_fail_memory(error);
    tacit_secret_lock(vault->key, sizeof vault->key);
    if (access(path, F_OK) != 0)
        TACIT_CHECK(tacit_fail(error, TACIT_NOT_FOUND,
                               "there is no personal store at %s: make one with tacit store new", path));
    TACIT_CHECK(tacit_store_open(&vault->store, path, &schema, TACIT_STORE_EXISTING, error));
    TACIT_CHECK(read_wrapping(&kept, vault->store, error));
    TACIT_CHECK(unwrap(vault->key, &kept, path, passphrase, error));
    *out = vault;
    vault = NULL;
cleanup:
    tacit_vault_close(vault);
    return status;
}

tacit_vault *tacit_vault_close(tacit_vault *vault) {
    if (vault == NULL) return NULL;
    tacit_store_close(vault->store);
    sodium_memzero(vault->key, sizeof vault->key);
    free(vault);
    return NULL;
}

const char *tacit_vault_path(const tacit_vault *vault) { return tacit_store_path(vault->store); }

tacit_status tacit_vault_change(tacit_vault *vault, const char *passphrase, tacit_error *error) {
    wrapping kept;
    TACIT_TRY(read_wrapping(&kept, vault->store, error));
    TACIT_TRY(wrap(&kept, vault->key, passphrase, error));
    return run_with_wrapping(
        vault->store, "UPDATE key SET salt = ?1, operations = ?2, memory = ?3, wrapped = ?4", &kept, error);
}

/* ---- changes ---- */

tacit_status tacit_vault_begin(tacit_vault *vault, tacit_error *error) {
    TACIT_TRY(tacit_store_begin(vault->store, error));
    vault->changing = true;
    return TACIT_OK;
}

tacit_status tacit_vault_commit(tacit_vault *vault, tacit_error *error) {
    vault->changing = false;
    return tacit_store_commit(vault->store, error);
}

void tacit_vault_rollback(tacit_vault *vault) {
    vault->changing = false;
    tacit_store_rollback(vault->store);
}

/* ---- records ---- */

typedef struct bound_record {
    uint8_t bytes[40];
} bound_record;

static bound_record bind_record(const tacit_vault_place *place, int64_t id) {
    bound_record out = { { 0 } };
    memcpy(out.bytes, "tacit record 1", 14);
    for (int i = 0; i < 8; i++) {
        out.bytes[16 + i] = (uint8_t)((uint64_t)place->kind >> (8 * i));
        out.bytes[24 + i] = (uint8_t)((uint64_t)place->parent >> (8 * i));
        out.bytes[32 + i] = (uint8_t)((uint64_t)id >> (8 * i));
    }
    return out;
}

static tacit_status seal(const tacit_vault *vault, const tacit_vault_place *place, int64_t id,
                         const tacit_buffer *record, tacit_buffer *out, tacit_error *error) {
    const bound_record bound = bind_record(place, id);
    uint8_t *at = NULL;
    if (record->length > TACIT_VAULT_RECORD_MOST)
        return tacit_fail(error, TACIT_LIMIT, "a record of %zu bytes is more than the %d that fit",
                          record->length, TACIT_VAULT_RECORD_MOST);
    TACIT_TRY(tacit_buffer_reserve(out, NONCE_BYTES + record->length + TAG_BYTES, &at, error));
    randombytes_buf(at, NONCE_BYTES);
    crypto_aead_xchacha20poly1305_ietf_encrypt(at + NONCE_BYTES, NULL, record->bytes, record->length,
                                               bound.bytes, sizeof bound.bytes, NULL, at, vault->key);
    out->length += NONCE_BYTES + record->length + TAG_BYTES;
    return TACIT_OK;
}

static tacit_status next_id(tacit_vault *vault, int64_t *out, tacit_error *error) {
    tacit_statement *query = NULL;
    bool row = false;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(&query, vault->store,
                                        "UPDATE key SET next = next + 1 RETURNING next - 1", error));
    TACIT_CHECK(tacit_statement_step(&row, query, error));
    if (!row) TACIT_CHECK(tacit_fail(error, TACIT_CORRUPT, "%s has no key", tacit_store_path(vault->store)));
    *out = tacit_column_integer(query, 0);
    TACIT_CHECK(tacit_statement_step(&row, query, error)); /* until it is done */
cleanup:
    tacit_statement_free(query);
    return status;
}

static tacit_status put_record(tacit_vault *vault, const char *sql, const tacit_vault_place *place,
                               int64_t id, const tacit_buffer *record, tacit_error *error) {
    tacit_buffer sealed = TACIT_BUFFER_INIT;
    tacit_statement *change = NULL;
    bool found = false;
    tacit_status status;
    TACIT_CHECK(seal(vault, place, id, record, &sealed, error));
    TACIT_CHECK(tacit_statement_open(&change, vault->store, sql,
                                     TACIT_VALUES(tacit_sql_integer(id), tacit_sql_integer(place->kind),
                                                  tacit_sql_integer(place->parent),
                                                  tacit_sql_blob(sealed.bytes, sealed.length)),
                                     error));
    TACIT_CHECK(tacit_statement_step(&found, change, error));
    if (!found) TACIT_CHECK(tacit_fail(error, TACIT_NOT_FOUND, "there is no such record any more"));
    TACIT_CHECK(tacit_statement_step(&found, change, error));
cleanup:
    tacit_statement_free(change);
    tacit_buffer_clear(&sealed);
    return status;
}

static tacit_status add(tacit_vault *vault, const tacit_vault_place *place, const tacit_buffer *record,
                        int64_t *id, tacit_error *error) {
    TACIT_TRY(next_id(vault, id, error));
    return put_record(vault, "INSERT INTO record VALUES (?1, ?2, ?3, ?4) RETURNING id", place, *id, record,
                      error);
}

tacit_status tacit_vault_add(tacit_vault *vault, const tacit_vault_place *place, const tacit_buffer *record,
                             int64_t *id, tacit_error *error) {
    if (vault->changing) return add(vault, place, record, id, error);
    TACIT_TRY(tacit_vault_begin(vault, error));
    tacit_status status = add(vault, place, record, id, error);
    if (status == TACIT_OK) return tacit_vault_commit(vault, error);
    tacit_vault_rollback(vault);
    return status;
}

tacit_status tacit_vault_replace(tacit_vault *vault, const tacit_vault_place *place, int64_t id,
                                 const tacit_buffer *record, tacit_error *error) {
    return put_record(
        vault, "UPDATE record SET sealed = ?4 WHERE id = ?1 AND kind = ?2 AND parent = ?3 RETURNING id",
        place, id, record, error);
}

tacit_status tacit_vault_remove(tacit_vault *vault, int64_t id, tacit_error *error) {
    tacit_statement *change = NULL;
    TACIT_TRY(tacit_statement_open(
        &change, vault->store,
        "WITH RECURSIVE gone (id) AS (SELECT ?1 UNION SELECT record.id FROM record, gone WHERE "
        "record.parent = gone.id) DELETE FROM record WHERE id IN (SELECT id FROM gone)",
        TACIT_VALUES(tacit_sql_integer(id)), error));
    tacit_status status = tacit_statement_run(change, error);
    tacit_statement_free(change);
    return status;
}

static tacit_status open_record(const tacit_vault *vault, const tacit_vault_place *place,
                                tacit_statement *query, tacit_vault_visit *visit, void *context,
                                tacit_buffer *plain, tacit_error *error) {
    const int64_t id = tacit_column_integer(query, 0);
    const bound_record bound = bind_record(place, id);
    const uint8_t *sealed = NULL;
    uint8_t *at = NULL;
    size_t length = 0;
    TACIT_TRY(tacit_column_blob(&sealed, &length, query, 1, TACIT_VAULT_RECORD_MOST + NONCE_BYTES + TAG_BYTES,
                                error));
    plain->length = 0;
    TACIT_TRY(tacit_buffer_reserve(plain, length + 1, &at, error));
    if (length < NONCE_BYTES + TAG_BYTES ||
        crypto_aead_xchacha20poly1305_ietf_decrypt(at, NULL, NULL, sealed + NONCE_BYTES, length - NONCE_BYTES,
                                                   bound.bytes, sizeof bound.bytes, sealed, vault->key) != 0)
        return tacit_fail(error, TACIT_CORRUPT,
                          "record %lld of %s was damaged or tampered with: restore a backup of the file",
                          (long long)id, tacit_store_path(vault->store));
    return visit(context, id, at, length - NONCE_BYTES - TAG_BYTES, error);
}

tacit_status tacit_vault_each(tacit_vault *vault, const tacit_vault_place *place, tacit_vault_visit *visit,
                              void *context, tacit_error *error) {
    tacit_statement *query = NULL;
    tacit_buffer plain = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(
        &query, vault->store, "SELECT id, sealed FROM record WHERE kind = ?1 AND parent = ?2 ORDER BY id",
        TACIT_VALUES(tacit_sql_integer(place->kind), tacit_sql_integer(place->parent)), error));
    while (tacit_statement_next(query, &status, error)) {
        TACIT_CHECK(open_record(vault, place, query, visit, context, &plain, error));
    }
cleanup:
    if (plain.bytes != NULL) sodium_memzero(plain.bytes, plain.capacity);
    tacit_buffer_clear(&plain);
    tacit_statement_free(query);
    return status;
}
