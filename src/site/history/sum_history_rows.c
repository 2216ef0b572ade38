/* Which rows exact sums were about. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "privacy/differences.h"
#include "site/history/sum_history_parts.h"

enum { ROWS_MOST = SUM_HISTORY_ROWS_MOST, DIGEST_BYTES = SUM_HISTORY_DIGEST };

typedef struct row_set {
    uint8_t digest[DIGEST_BYTES], encoding[DIGEST_BYTES];
    size_t count; /* of the rows that are here */
    uint64_t *hashes;
    sum_history_identity identity;
} row_set;

/* ---- the rows as they are ---- */

static int compare_hashes(const void *a, const void *b) {
    uint64_t first, second;
    memcpy(&first, a, sizeof first);
    memcpy(&second, b, sizeof second);
    return (first > second) - (first < second);
}

static uint64_t hash_row(const tacit_sum_history *history, const tacit_view *view, size_t i, double *row) {
    const size_t stored = tacit_rows_stored(&view->rows, i), width = view->rows.cols;
    uint64_t hash;
    uint8_t bytes[crypto_shorthash_BYTES];
    tacit_rows_copy(&view->rows, i, row);
    row[width] = view->label != NULL ? view->label[stored] : 0;
    const size_t columns = tacit_view_columns(view);
    for (size_t k = 0; k < columns; k++)
        row[width + 1 + k] = view->response != NULL ? view->response[stored * columns + k] : 0;
    crypto_shorthash(bytes, (const uint8_t *)row, (width + 1 + columns) * sizeof *row, history->key);
    memcpy(&hash, bytes, sizeof hash);
    return hash;
}

static tacit_status hash_rows(const tacit_sum_history *history, const tacit_sum_history_rows *about,
                              row_set *out, tacit_error *error) {
    const tacit_view view = sum_history_view(about);
    double *row = TACIT_NEW(double, view.rows.cols + 1 + tacit_view_columns(&view));
    out->count = view.rows.count;
    out->hashes = TACIT_NEW(uint64_t, out->count);
    if (row == NULL || out->hashes == NULL) {
        free(row);
        return tacit_fail_memory(error);
    }
    for (size_t i = 0; i < out->count; i++) out->hashes[i] = hash_row(history, &view, i, row);
    if (out->count > 0) qsort(out->hashes, out->count, sizeof *out->hashes, compare_hashes);
    free(row);
    return TACIT_OK;
}

static tacit_status describe(const tacit_sum_history *history, const tacit_sum_history_rows *about,
                             row_set *out, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    crypto_generichash_state state;
    const uint64_t total = about->total;
    tacit_status status;
    *out = (row_set){ .count = 0 };
    TACIT_CHECK(tacit_schema_encoding_text(about->schema, &text, error));
    crypto_generichash(out->encoding, sizeof out->encoding, text.bytes, text.length, NULL, 0);
    TACIT_CHECK(hash_rows(history, about, out, error));
    const tacit_view view = sum_history_view(about);
    TACIT_CHECK(sum_history_identify(history, &view, &out->identity, error));
    crypto_generichash_init(&state, NULL, 0, sizeof out->digest);
    crypto_generichash_update(&state, out->encoding, sizeof out->encoding);
    crypto_generichash_update(&state, (const uint8_t *)&total, sizeof total);
    crypto_generichash_update(&state, (const uint8_t *)out->hashes, out->count * sizeof *out->hashes);
    crypto_generichash_final(&state, out->digest, sizeof out->digest);
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

/* ---- those of before ---- */

/* The rows that this very study has used, if any. */
static tacit_status read_used(tacit_sum_history *history, const tacit_sum_history_rows *about, bool *found,
                              uint8_t digest[DIGEST_BYTES], tacit_error *error) {
    tacit_statement *get = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(
        &get, history->store, "SELECT digest FROM used WHERE source = ?1 AND study = ?2",
        TACIT_VALUES(tacit_sql_text(about->source), tacit_sql_text(about->study)), error));
    TACIT_CHECK(tacit_statement_step(found, get, error));
    if (*found) TACIT_CHECK(tacit_column_bytes(digest, DIGEST_BYTES, get, 0, error));
cleanup:
    tacit_statement_free(get);
    return status;
}

/* By how many rows they differ, as far as can be told. Rows of another encoding have their number to compare,
 * and their identity, which is compared elsewhere: where one of the studies is about a part of the rows the
 * number says nothing. Of more rows than are kept it is known that they are not the same. */
static tacit_status difference(size_t *out, const tacit_sum_history_rows *about, const row_set *now,
                               const uint8_t *encoding, bool parts, int64_t total, const tacit_buffer *hashes,
                               tacit_error *error) {
    const size_t before = (size_t)total, here = about->total, count = hashes->length / sizeof(uint64_t);
    *out = before > here ? before - here : here - before;
    if (memcmp(encoding, now->encoding, DIGEST_BYTES) != 0) {
        if (parts) *out = 0;
        return TACIT_OK;
    }
    if (hashes->bytes == NULL || now->count > ROWS_MOST) {
        if (*out == 0) *out = 1;
        return TACIT_OK;
    }
    uint64_t *other = TACIT_NEW(uint64_t, count); /* aligned */
    if (other == NULL) return tacit_fail_memory(error);
    memcpy(other, hashes->bytes, count * sizeof *other);
    *out = tacit_rows_difference(other, count, now->hashes, now->count);
    free(other);
    return TACIT_OK;
}

static tacit_status refuse_rows(const tacit_sum_history_rows *about, const char *study, size_t differ,
                                tacit_error *error) {
    return tacit_fail(error, TACIT_REFUSED,
                      "the rows of %s differ by %zu from those that study %s has exact sums of, fewer than "
                      "your minimum of %llu rows: the difference of two sums would reveal these rows. If you "
                      "intend that, allow it with the option 'allow-difference'",
                      about->source, differ, study, (unsigned long long)about->minimum);
}

static tacit_status compare_rows(tacit_sum_history *history, const tacit_sum_history_rows *about,
                                 const row_set *now, tacit_error *error) {
    tacit_statement *list = NULL;
    const uint8_t *bytes;
    uint8_t encoding[DIGEST_BYTES];
    const char *study;
    size_t length, differ;
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(&list, history->store,
                                     "SELECT u.study, r.encoding, r.total, r.hashes, r.hashes IS NULL,"
                                     " u.identity IS NOT NULL, u.chosen FROM used u"
                                     " JOIN rowset r ON r.digest = u.digest WHERE u.source = ?1 AND u.exact"
                                     " AND u.study <> ?2 AND u.digest <> ?3",
                                     TACIT_VALUES(tacit_sql_text(about->source), tacit_sql_text(about->study),
                                                  tacit_sql_blob(now->digest, sizeof now->digest)),
                                     error));
    while (tacit_statement_next(list, &status, error)) {
        TACIT_CHECK(tacit_column_text(&study, list, 0, 1024, error));
        TACIT_CHECK(tacit_column_bytes(encoding, sizeof encoding, list, 1, error));
        tacit_buffer hashes = TACIT_BUFFER_INIT;
        if (tacit_column_integer(list, 4) == 0) {
            TACIT_CHECK(tacit_column_blob(&bytes, &length, list, 3, (size_t)ROWS_MOST * 8, error));
            TACIT_CHECK(tacit_buffer_append(&hashes, bytes, length, error));
        }
        const bool parts = now->identity.known && tacit_column_integer(list, 5) != 0 &&
                           (about->schema->subset != NULL || tacit_column_integer(list, 6) != 0);
        status =
            difference(&differ, about, now, encoding, parts, tacit_column_integer(list, 2), &hashes, error);
        tacit_buffer_clear(&hashes);
        if (status != TACIT_OK) goto cleanup;
        if (differ > 0 && differ < about->minimum) TACIT_CHECK(refuse_rows(about, study, differ, error));
    }
cleanup:
    tacit_statement_free(list);
    return status;
}

/* ---- this time ---- */

static tacit_status record_rows(tacit_sum_history *history, const tacit_sum_history_rows *about,
                                const row_set *now, tacit_error *error) {
    tacit_statement *put = NULL, *use = NULL;
    tacit_status status;
    TACIT_CHECK(
        tacit_statement_open(&put, history->store,
                             "INSERT INTO rowset VALUES (?1, ?2, ?3, ?4)"
                             " ON CONFLICT (digest) DO UPDATE SET hashes = coalesce(hashes, excluded.hashes)",
                             TACIT_VALUES(tacit_sql_blob(now->digest, sizeof now->digest),
                                          tacit_sql_blob(now->encoding, sizeof now->encoding),
                                          tacit_sql_integer((int64_t)about->total)),
                             error));
    const bool kept = about->exact && now->count <= ROWS_MOST;
    tacit_bind_blob(put, 4, kept ? (const void *)now->hashes : NULL, now->count * sizeof *now->hashes);
    TACIT_CHECK(tacit_statement_run(put, error));
    if (about->exact && now->identity.known)
        TACIT_CHECK(sum_history_record_identity(history, &now->identity, error));
    TACIT_CHECK(tacit_statement_open(
        &use, history->store,
        "INSERT OR REPLACE INTO used (source, study, digest, exact, time, identity, chosen)"
        " VALUES (?1, ?2, ?3, ?4, unixepoch(), ?5, ?6)",
        TACIT_VALUES(tacit_sql_text(about->source), tacit_sql_text(about->study),
                     tacit_sql_blob(now->digest, sizeof now->digest), tacit_sql_integer(about->exact)),
        error));
    const bool identified = about->exact && now->identity.known;
    tacit_bind_blob(use, 5, identified ? now->identity.digest : NULL, sizeof now->identity.digest);
    tacit_bind_integer(use, 6, about->schema->subset != NULL);
    TACIT_CHECK(tacit_statement_run(use, error));
cleanup:
    tacit_statement_free(put);
    tacit_statement_free(use);
    return status;
}

tacit_status tacit_sum_history_hold_rows(tacit_sum_history *history, const tacit_sum_history_rows *about,
                                         tacit_error *error) {
    uint8_t before[DIGEST_BYTES];
    row_set now;
    bool found = false;
    tacit_status status = describe(history, about, &now, error);
    if (status == TACIT_OK) status = tacit_store_begin(history->store, error);
    if (status != TACIT_OK) goto cleanup;
    status = read_used(history, about, &found, before, error);
    const bool same = found && status == TACIT_OK && memcmp(before, now.digest, sizeof before) == 0;
    if (status == TACIT_OK && found && !same && about->begun)
        status = tacit_fail(error, TACIT_REFUSED,
                            "the rows of %s have changed since study %s began with them, and all its rounds "
                            "are about the same rows: bring them back, or leave the study",
                            about->source, about->study);
    if (status == TACIT_OK && !same && about->exact && !about->allowed)
        status = compare_rows(history, about, &now, error);
    if (status == TACIT_OK && !same && about->exact && !about->allowed)
        status = sum_history_compare_identities(history, about, now.digest, &now.identity, error);
    if (status == TACIT_OK && !same && !about->foreseen) status = record_rows(history, about, &now, error);
    status = sum_history_finish(history, status, error);
cleanup:
    free(now.hashes);
    free(now.identity.hashes);
    return status;
}
