/* Shared by the files of the record of past sums. */
#pragma once

#include <sodium.h>

#include "site/history/sum_history.h"
#include "store/statement.h"

struct tacit_sum_history {
    tacit_store *store;
    uint8_t key[crypto_shorthash_KEYBYTES]; /* of rows' hashes */
};

/* Of more rows only a digest is kept: that they differ is then known, and not by how many. */
enum { SUM_HISTORY_ROWS_MOST = 1 << 22, SUM_HISTORY_DIGEST = 32 };

/* The rows as they are in their source, whatever a study makes of them. */
typedef struct sum_history_identity {
    bool known; /* rows that are not from a table, or too many, have none */
    uint8_t digest[SUM_HISTORY_DIGEST];
    size_t count;
    uint64_t *hashes; /* ascending */
} sum_history_identity;

static inline tacit_view sum_history_view(const tacit_sum_history_rows *about) {
    return about->index == NULL ? tacit_dataset_view(about->rows)
                                : tacit_dataset_subset(about->rows, about->index, about->count);
}

tacit_status sum_history_identify(const tacit_sum_history *history, const tacit_view *rows,
                                  sum_history_identity *out, tacit_error *error);

/* TACIT_REFUSED when sums over these rows and over those of earlier studies, combined in any way, would be
 * about fewer rows than the minimum. `encoded`: the digest of the rows as they are encoded. */
tacit_status sum_history_compare_identities(tacit_sum_history *history, const tacit_sum_history_rows *about,
                                            const uint8_t *encoded, const sum_history_identity *now,
                                            tacit_error *error);
tacit_status sum_history_record_identity(tacit_sum_history *history, const sum_history_identity *now,
                                         tacit_error *error);

/* Commit, or take back after a failure. */
tacit_status sum_history_finish(tacit_sum_history *history, tacit_status status, tacit_error *error);
