/* The seal over the state: a hash of every row of it, in order of key. */
#include <sodium.h>
#include <string.h>

#include "privacy/ledger/ledger_log_parts.h"

/* Tables with the kinds of their columns: text, integer, real (as its eight bytes), blob. */
static const struct {
    const char *rows, *columns;
} tables[] = {
    { "SELECT source, study, unit, epsilon, delta FROM main.spending ORDER BY 1, 2, 3", "ttirr" },
    { "SELECT source, study, unit, epsilon, delta FROM main.limits ORDER BY 1, 2, 3", "ttirr" },
    { "SELECT source, study, given, study_hash FROM main.consent ORDER BY 1, 2", "ttib" },
    { "SELECT source, study, unit, kind, parameter, delta, sampling, replaced, runs FROM main.event "
      "ORDER BY 1, 2, 3, 4, 5, 6, 7, 8",
      "ttiirrrii" },
    { "SELECT source, study, unit, epsilon, delta, accountant FROM main.balance ORDER BY 1, 2, 3", "ttirri" },
    { "SELECT source, study, unit, way, middle FROM main.counting ORDER BY 1, 2, 3", "ttiir" },
    { "SELECT source, study, study_hash, unit, open, kind, parameter, delta, sampling, replaced, runs, used, "
      "epsilon, price_delta, used_epsilon, used_delta FROM main.block ORDER BY 1, 2, 3",
      "ttbiiirrriiirrrr" },
    { "SELECT source, unit, kind, parameter, delta, sampling, replaced, runs FROM main.loose "
      "ORDER BY 1, 2, 3, 4, 5, 6, 7",
      "tiirrrii" },
    { "SELECT source, unit, epsilon, delta FROM main.loose_sum ORDER BY 1, 2", "tirr" },
    { "SELECT source, people FROM main.people ORDER BY 1", "tt" },
};

/* Each value with its length before it, so that no two rows look alike. */
static tacit_status hash_column(crypto_generichash_state *hash, tacit_statement *row, int column, char kind,
                                tacit_error *error) {
    const uint8_t *bytes = NULL;
    const char *text = NULL;
    size_t length = sizeof(int64_t);
    int64_t integer = 0;
    double real = 0;
    switch (kind) {
    case 't':
        TACIT_TRY(tacit_column_text(&text, row, column, TACIT_NAME_MOST, error));
        bytes = (const uint8_t *)text;
        length = strlen(text);
        break;
    case 'b': TACIT_TRY(tacit_column_blob(&bytes, &length, row, column, TACIT_HASH_BYTES, error)); break;
    case 'i':
        integer = tacit_column_integer(row, column);
        bytes = (const uint8_t *)&integer;
        break;
    default:
        real = tacit_column_double(row, column);
        bytes = (const uint8_t *)&real;
        length = sizeof real;
        break;
    }
    uint64_t size = length;
    crypto_generichash_update(hash, (const uint8_t *)&size, sizeof size);
    crypto_generichash_update(hash, bytes, length);
    return TACIT_OK;
}

static tacit_status hash_table(crypto_generichash_state *hash, tacit_store *store, size_t table,
                               tacit_error *error) {
    tacit_statement *query = NULL;
    const char *columns = tables[table].columns;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(&query, store, tables[table].rows, error));
    for (;;) {
        bool row = false;
        TACIT_CHECK(tacit_statement_step(&row, query, error));
        uint8_t mark = row ? (uint8_t)table : 0xff; /* a row of this table, or its end */
        crypto_generichash_update(hash, &mark, 1);
        if (!row) break;
        for (int i = 0; columns[i] != 0; i++) TACIT_CHECK(hash_column(hash, query, i, columns[i], error));
    }
cleanup:
    tacit_statement_free(query);
    return status;
}

enum { TABLES = sizeof tables / sizeof *tables, TABLES_BEFORE_4 = 5 };

static tacit_status hash_state(uint8_t out[TACIT_HASH_BYTES], tacit_store *store, size_t count,
                               tacit_error *error) {
    crypto_generichash_state hash;
    crypto_generichash_init(&hash, NULL, 0, TACIT_HASH_BYTES);
    for (size_t i = 0; i < count; i++) TACIT_TRY(hash_table(&hash, store, i, error));
    crypto_generichash_final(&hash, out, TACIT_HASH_BYTES);
    return TACIT_OK;
}

tacit_status tacit_log_seal(tacit_store *store, tacit_error *error) {
    uint8_t hash[TACIT_HASH_BYTES];
    tacit_statement *update = NULL;
    TACIT_TRY(hash_state(hash, store, TABLES, error));
    TACIT_TRY(tacit_statement_prepare(&update, store, "INSERT OR REPLACE INTO seal VALUES (1, ?1)", error));
    tacit_bind_blob(update, 1, hash, sizeof hash);
    tacit_status status = tacit_statement_run(update, error);
    tacit_statement_free(update);
    return status;
}

static tacit_status check_seal(tacit_store *store, size_t count, tacit_error *error) {
    uint8_t sealed[TACIT_HASH_BYTES] = { 0 }, hash[TACIT_HASH_BYTES];
    tacit_statement *query = NULL;
    bool row = false;
    tacit_status status;
    TACIT_CHECK(tacit_statement_prepare(&query, store, "SELECT hash FROM main.seal WHERE one = 1", error));
    TACIT_CHECK(tacit_statement_step(&row, query, error));
    if (row) TACIT_CHECK(tacit_column_bytes(sealed, sizeof sealed, query, 0, error));
    TACIT_CHECK(hash_state(hash, store, count, error));
    if (!row || memcmp(sealed, hash, sizeof hash) != 0)
        status = tacit_fail(error, TACIT_CORRUPT,
                            "%s: totals, limits or consents were damaged or changed from outside: verify the "
                            "ledger and restore it from a backup",
                            tacit_store_path(store));
cleanup:
    tacit_statement_free(query);
    return status;
}

tacit_status tacit_log_check_seal(tacit_store *store, tacit_error *error) {
    return check_seal(store, TABLES, error);
}

tacit_status tacit_log_check_old_seal(tacit_store *store, tacit_error *error) {
    return check_seal(store, TABLES_BEFORE_4, error);
}
