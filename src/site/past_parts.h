/* Shared by the files of the record of past sums. */
#pragma once

#include <sodium.h>

#include "site/past.h"
#include "store/statement.h"

struct tacit_past {
    tacit_store *store;
    uint8_t key[crypto_shorthash_KEYBYTES]; /* of rows' hashes */
};

/* Commit, or take back after a failure. */
tacit_status past_finish(tacit_past *past, tacit_status status, tacit_error *error);
