/* Which rows of a source exact sums were about, whatever they were encoded as: two studies may choose rows by
 * different conditions and look at different columns. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "privacy/differences.h"
#include "site/history/sum_history_parts.h"

static int compare_hashes(const void *a, const void *b) {
    uint64_t first, second;
    memcpy(&first, a, sizeof first);
    memcpy(&second, b, sizeof second);
    return (first > second) - (first < second);
}

tacit_status sum_history_identify(const tacit_sum_history *history, const tacit_view *rows,
                                  sum_history_identity *out, tacit_error *error) {
    *out = (sum_history_identity){ .count = 0 };
    if (rows->identity == NULL || rows->rows.count > SUM_HISTORY_ROWS_MOST) return TACIT_OK;
    out->hashes = TACIT_NEW(uint64_t, rows->rows.count + 1);
    if (out->hashes == NULL) return tacit_fail_memory(error);
    out->count = rows->rows.count;
    out->known = true;
    for (size_t i = 0; i < out->count; i++)
        crypto_shorthash((uint8_t *)&out->hashes[i],
                         (const uint8_t *)&rows->identity[tacit_rows_stored(&rows->rows, i)],
                         sizeof *rows->identity, history->key);
    if (out->count > 0) qsort(out->hashes, out->count, sizeof *out->hashes, compare_hashes);
    crypto_generichash(out->digest, sizeof out->digest, (const uint8_t *)out->hashes,
                       out->count * sizeof *out->hashes, NULL, 0);
    return TACIT_OK;
}

/* ---- those of before ---- */

/* The different sets of rows of a source's exact sums, this study's own apart. */
typedef struct past_rows {
    size_t count;
    tacit_row_list list[TACIT_SETS_MOST];
    uint64_t *owned[TACIT_SETS_MOST];
    bool more;  /* there are more of them */
    bool known; /* the present ones are among them, or are encoded alike: nothing new is learnt */
} past_rows;

static tacit_status add_past(past_rows *self, const uint8_t *bytes, size_t length, tacit_error *error) {
    if (self->count == TACIT_SETS_MOST) {
        self->more = true;
        return TACIT_OK;
    }
    const size_t count = length / sizeof(uint64_t);
    uint64_t *hashes = TACIT_NEW(uint64_t, count + 1); /* aligned */
    if (hashes == NULL) return tacit_fail_memory(error);
    memcpy(hashes, bytes, count * sizeof *hashes);
    self->owned[self->count] = hashes;
    self->list[self->count++] = (tacit_row_list){ hashes, count };
    return TACIT_OK;
}

static tacit_status read_past(tacit_sum_history *history, const tacit_sum_history_rows *about,
                              const uint8_t *encoded, const sum_history_identity *now, past_rows *out,
                              tacit_error *error) {
    tacit_statement *list = NULL;
    const uint8_t *bytes;
    uint8_t digest[SUM_HISTORY_DIGEST];
    size_t length;
    tacit_status status;
    TACIT_CHECK(tacit_statement_open(
        &list, history->store,
        "SELECT i.digest, i.hashes, EXISTS (SELECT 1 FROM used WHERE source = ?1 AND exact AND study <> ?2"
        " AND digest = ?3) FROM identified i WHERE i.digest IN (SELECT identity FROM used"
        " WHERE source = ?1 AND exact AND study <> ?2 AND identity IS NOT NULL)",
        TACIT_VALUES(tacit_sql_text(about->source), tacit_sql_text(about->study),
                     tacit_sql_blob(encoded, SUM_HISTORY_DIGEST)),
        error));
    while (tacit_statement_next(list, &status, error)) {
        TACIT_CHECK(tacit_column_bytes(digest, sizeof digest, list, 0, error));
        TACIT_CHECK(tacit_column_blob(&bytes, &length, list, 1, (size_t)SUM_HISTORY_ROWS_MOST * 8, error));
        out->known = out->known || tacit_column_integer(list, 2) != 0 ||
                     memcmp(digest, now->digest, sizeof digest) == 0;
        TACIT_CHECK(add_past(out, bytes, length, error));
    }
cleanup:
    tacit_statement_free(list);
    return status;
}

tacit_status sum_history_compare_identities(tacit_sum_history *history, const tacit_sum_history_rows *about,
                                            const uint8_t *encoded, const sum_history_identity *now,
                                            tacit_error *error) {
    past_rows past = { .count = 0 };
    bool isolates = false;
    if (!now->known || about->minimum <= 1) return TACIT_OK;
    tacit_status status = read_past(history, about, encoded, now, &past, error);
    /* So few rows by themselves are for the study's minimum of rows to refuse; what they add to another set
     * is compared here. */
    const bool few = now->count < about->minimum;
    for (size_t i = 0; few && i < past.count && !isolates && !past.known; i++) {
        const size_t differ =
            tacit_rows_difference(past.list[i].hashes, past.list[i].count, now->hashes, now->count);
        isolates = differ > 0 && differ < about->minimum;
    }
    if (status == TACIT_OK && !past.known && !past.more && !few)
        status =
            tacit_rows_isolate(&isolates, past.list, past.count, (tacit_row_list){ now->hashes, now->count },
                               (size_t)about->minimum - 1, error);
    for (size_t i = 0; i < past.count; i++) free(past.owned[i]);
    if (status == TACIT_OK && past.more && !past.known)
        status = tacit_fail(error, TACIT_REFUSED,
                            "exact sums of more than %d different sets of rows of %s are known, and what one "
                            "more would reveal with them is not worked out: if you intend that, allow it "
                            "with the option 'allow-difference'",
                            TACIT_SETS_MOST, about->source);
    if (status == TACIT_OK && isolates)
        status =
            tacit_fail(error, TACIT_REFUSED,
                       "exact sums over these rows of %s, added to those of earlier studies of it or "
                       "subtracted, would be about fewer rows than your minimum of %llu%s%s. If you intend "
                       "that, allow it with the option 'allow-difference'",
                       about->source, (unsigned long long)about->minimum,
                       about->schema->subset != NULL ? "; the study's subset is " : "",
                       about->schema->subset != NULL ? tacit_condition_text(about->schema->subset) : "");
    return status;
}

tacit_status sum_history_record_identity(tacit_sum_history *history, const sum_history_identity *now,
                                         tacit_error *error) {
    return tacit_store_put(history->store, "INSERT OR IGNORE INTO identified VALUES (?1, ?2)",
                           TACIT_VALUES(tacit_sql_blob(now->digest, sizeof now->digest),
                                        tacit_sql_blob(now->count > 0 ? (const void *)now->hashes : "",
                                                       now->count * sizeof *now->hashes)),
                           error);
}
