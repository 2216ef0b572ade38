#include "site/history/sum_history.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "privacy/differences.h"
#include "site/history/sum_history_parts.h"

static const char *const scripts[] = {
    "CREATE TABLE secret (key BLOB NOT NULL);"
    "CREATE TABLE rowset (digest BLOB PRIMARY KEY, encoding BLOB NOT NULL, total INTEGER NOT NULL,"
    " hashes BLOB);"
    "CREATE TABLE used (source TEXT NOT NULL, study TEXT NOT NULL, digest BLOB NOT NULL REFERENCES rowset,"
    " exact INTEGER NOT NULL, time INTEGER NOT NULL, PRIMARY KEY (source, study));"
    "CREATE TABLE summed (source TEXT NOT NULL, study TEXT NOT NULL, coordinator TEXT NOT NULL,"
    " keys BLOB NOT NULL, time INTEGER NOT NULL, PRIMARY KEY (source, study));",
    /* The rows themselves, however a study encodes them, and whether it chose some of the source's. */
    "CREATE TABLE identified (digest BLOB PRIMARY KEY, hashes BLOB NOT NULL);"
    "ALTER TABLE used ADD COLUMN identity BLOB REFERENCES identified;"
    "ALTER TABLE used ADD COLUMN chosen INTEGER NOT NULL DEFAULT 0;",
};

static const tacit_store_schema schema = {
    .what = "record of past sums", .application_id = 0x54505354, .scripts = scripts, .script_count = 2
};

/* The key is drawn once, by whoever is first. */
static tacit_status read_secret(tacit_sum_history *history, tacit_error *error) {
    tacit_statement *get = NULL;
    bool found = false;
    tacit_status status;
    TACIT_CHECK(tacit_store_begin(history->store, error));
    TACIT_CHECK(tacit_statement_prepare(&get, history->store, "SELECT key FROM secret", error));
    TACIT_CHECK(tacit_statement_step(&found, get, error));
    if (found) {
        TACIT_CHECK(tacit_column_bytes(history->key, sizeof history->key, get, 0, error));
    } else {
        randombytes_buf(history->key, sizeof history->key);
        TACIT_CHECK(tacit_store_put(history->store, "INSERT INTO secret VALUES (?1)",
                                    TACIT_VALUES(tacit_sql_blob(history->key, sizeof history->key)), error));
    }
cleanup:
    tacit_statement_free(get);
    return sum_history_finish(history, status, error);
}

tacit_status tacit_sum_history_open(tacit_sum_history **out, const char *path, tacit_error *error) {
    tacit_sum_history *history = TACIT_NEW(tacit_sum_history, 1);
    if (history == NULL) return tacit_fail_memory(error);
    tacit_status status;
    TACIT_CHECK(tacit_store_open(&history->store, path, &schema, TACIT_STORE_CREATE, error));
    TACIT_CHECK(read_secret(history, error));
    *out = history;
    history = NULL;
cleanup:
    tacit_sum_history_free(history);
    return status;
}

tacit_sum_history *tacit_sum_history_free(tacit_sum_history *history) {
    if (history == NULL) return NULL;
    tacit_store_close(history->store);
    sodium_memzero(history->key, sizeof history->key);
    free(history);
    return NULL;
}

tacit_status sum_history_finish(tacit_sum_history *history, tacit_status status, tacit_error *error) {
    if (status == TACIT_OK) return tacit_store_commit(history->store, error);
    tacit_store_rollback(history->store);
    return status;
}

tacit_status tacit_sum_history_count(tacit_sum_history *history, const char *source, const char *study,
                                     size_t *others, size_t *parties, tacit_error *error) {
    tacit_statement *count = NULL;
    bool row = false;
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(
        &count, history->store,
        "SELECT (SELECT count(*) FROM used WHERE source = ?1 AND exact AND study <> ?2"
        "  AND substr(study, 1, length(?2) + 1) <> ?2 || '+'),"
        " coalesce((SELECT length(keys)/32 FROM summed WHERE source = ?1 AND (study = ?2"
        "  OR substr(study, 1, length(?2) + 1) = ?2 || '+') ORDER BY time DESC, rowid DESC LIMIT 1), 0)",
        TACIT_VALUES(tacit_sql_text(source), tacit_sql_text(study)), error));
    TACIT_CHECK(tacit_statement_step(&row, count, error));
    *others = row ? (size_t)tacit_column_integer(count, 0) : 0;
    *parties = row ? (size_t)tacit_column_integer(count, 1) : 0;
cleanup:
    tacit_statement_free(count);
    return status;
}

/* ---- parties ---- */

enum { KEY_BYTES = 32, KEYS_MOST = 1 << 24 };

static int compare_keys(const void *a, const void *b) { return memcmp(a, b, KEY_BYTES); }

/* Sets of keys as they come from the file, and all keys that are in any of them. */
typedef struct key_sets {
    size_t count;
    tacit_buffer *keys; /* of each set, ascending */
    tacit_buffer all;
} key_sets;

static void clear_sets(key_sets *self) {
    for (size_t i = 0; i < self->count; i++) tacit_buffer_clear(&self->keys[i]);
    free(self->keys);
    tacit_buffer_clear(&self->all);
}

static tacit_status add_set(key_sets *self, const uint8_t *bytes, size_t length, tacit_error *error) {
    tacit_buffer *keys = tacit_grow(self->keys, self->count + 1, sizeof *keys);
    if (keys == NULL) return tacit_fail_memory(error);
    self->keys = keys;
    keys[self->count] = (tacit_buffer)TACIT_BUFFER_INIT;
    TACIT_TRY(tacit_buffer_append(&keys[self->count], bytes, length, error));
    self->count++;
    return tacit_buffer_append(&self->all, bytes, length, error);
}

static tacit_status read_sets(tacit_sum_history *history, const tacit_sum_history_set *about, key_sets *out,
                              bool *recorded, const tacit_buffer *now, tacit_error *error) {
    tacit_statement *list = NULL;
    const uint8_t *bytes;
    const char *study;
    size_t length;
    tacit_status status;
    *recorded = false;
    TACIT_CHECK(tacit_statement_open(
        &list, history->store, "SELECT study, keys FROM summed WHERE source = ?1 AND coordinator = ?2",
        TACIT_VALUES(tacit_sql_text(about->source), tacit_sql_text(about->coordinator)), error));
    while (tacit_statement_next(list, &status, error)) {
        TACIT_CHECK(tacit_column_text(&study, list, 0, 1024, error));
        TACIT_CHECK(tacit_column_blob(&bytes, &length, list, 1, KEYS_MOST, error));
        if (length % KEY_BYTES != 0)
            TACIT_CHECK(tacit_fail(error, TACIT_CORRUPT, "%s holds a damaged set of parties",
                                   tacit_store_path(history->store)));
        bool same = length == now->length && memcmp(bytes, now->bytes, length) == 0;
        *recorded = *recorded || (same && strcmp(study, about->study) == 0);
        TACIT_CHECK(add_set(out, bytes, length, error));
    }
cleanup:
    tacit_statement_free(list);
    return status;
}

/* A byte for each of all keys, whether it is in the set: both are ascending. */
static void mark(uint8_t *out, const uint8_t *all, size_t width, const tacit_buffer *keys) {
    size_t k = 0;
    for (size_t j = 0; j < width; j++) {
        while (k < keys->length && memcmp(keys->bytes + k, all + j * KEY_BYTES, KEY_BYTES) < 0)
            k += KEY_BYTES;
        out[j] = k < keys->length && memcmp(keys->bytes + k, all + j * KEY_BYTES, KEY_BYTES) == 0;
    }
}

/* The sets as privacy/differences.h wants them, the last one being the new. */
static tacit_status compare_sets(key_sets *sets, size_t few, bool *isolates, tacit_error *error) {
    uint8_t *all = sets->all.bytes;
    size_t width = 0, given = sets->all.length / KEY_BYTES, count = sets->count;
    qsort(all, given, KEY_BYTES, compare_keys);
    for (size_t i = 0; i < given; i++) {
        if (width > 0 && memcmp(all + (width - 1) * KEY_BYTES, all + i * KEY_BYTES, KEY_BYTES) == 0) continue;
        memmove(all + width++ * KEY_BYTES, all + i * KEY_BYTES, KEY_BYTES);
    }
    uint8_t *marks = TACIT_NEW(uint8_t, count * width);
    const uint8_t **rows = TACIT_NEW(const uint8_t *, count);
    tacit_status status = marks != NULL && rows != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t i = 0; status == TACIT_OK && i < count; i++) {
        rows[i] = marks + i * width;
        mark(marks + i * width, all, width, &sets->keys[i]);
    }
    if (status == TACIT_OK)
        status = tacit_sets_isolate(isolates, rows, count - 1, rows[count - 1], width, few, error);
    free(rows);
    free(marks);
    return status;
}

static tacit_status record_set(tacit_sum_history *history, const tacit_sum_history_set *about,
                               const tacit_buffer *keys, tacit_error *error) {
    return tacit_store_put(
        history->store, "INSERT OR REPLACE INTO summed VALUES (?1, ?2, ?3, ?4, unixepoch())",
        TACIT_VALUES(tacit_sql_text(about->source), tacit_sql_text(about->study),
                     tacit_sql_text(about->coordinator), tacit_sql_blob(keys->bytes, keys->length)),
        error);
}

tacit_status tacit_sum_history_hold_set(tacit_sum_history *history, const tacit_sum_history_set *about,
                                        tacit_error *error) {
    key_sets sets = { .all = TACIT_BUFFER_INIT };
    tacit_buffer now = TACIT_BUFFER_INIT;
    bool isolates = false, recorded = false;
    tacit_status status;
    TACIT_CHECK(tacit_buffer_append(&now, about->keys, about->count * KEY_BYTES, error));
    if (now.length > 0) qsort(now.bytes, about->count, KEY_BYTES, compare_keys);
    TACIT_CHECK(tacit_store_begin(history->store, error));
    status = read_sets(history, about, &sets, &recorded, &now, error);
    if (status == TACIT_OK) status = add_set(&sets, now.bytes, now.length, error);
    if (status == TACIT_OK && !recorded && !about->allowed)
        status = compare_sets(&sets, about->few, &isolates, error);
    if (status == TACIT_OK && isolates)
        status = tacit_fail(error, TACIT_REFUSED,
                            "with earlier exact sums of %s, one over these %zu parties would show what %zu "
                            "or fewer of them gave: if you intend that, use the option 'allow-difference'",
                            about->source, about->count, about->few);
    if (status == TACIT_OK && !recorded) status = record_set(history, about, &now, error);
    status = sum_history_finish(history, status, error);
cleanup:
    clear_sets(&sets);
    tacit_buffer_clear(&now);
    return status;
}
