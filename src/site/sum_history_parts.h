/* Shared by the files of the record of past sums. */
#pragma once

#include <sodium.h>

#include "site/sum_history.h"
#include "store/statement.h"

struct tacit_sum_history {
    tacit_store *store;
    uint8_t key[crypto_shorthash_KEYBYTES]; /* of rows' hashes */
};

/* Commit, or take back after a failure. */
tacit_status sum_history_finish(tacit_sum_history *history, tacit_status status, tacit_error *error);
