/* The durable ledger. For the files of this folder only. */
#pragma once

#include "privacy/ledger_class.h"
#include "privacy/ledger_log.h"

typedef struct tacit_ledger_file {
    tacit_ledger base;
    tacit_store *store;
    char source[TACIT_NAME_MOST + 1];
    size_t unlogged; /* refusals since the last that was logged; within a transaction only */
} tacit_ledger_file;

/* The tables that follow from the log, as SQL, of format 1 and those added by format 2; verification makes them
 * again as temporary tables. `kind` is "" or "TEMP" and must be a string literal. */
#define TACIT_LEDGER_STATE_TABLES_1(kind)                                                                    \
    "CREATE " kind " TABLE spending (source TEXT NOT NULL, study TEXT NOT NULL, unit INTEGER NOT NULL,"      \
    " epsilon REAL NOT NULL, delta REAL NOT NULL, PRIMARY KEY (source, study, unit)) STRICT, WITHOUT ROWID;" \
    "CREATE " kind " TABLE limits (source TEXT NOT NULL, study TEXT NOT NULL, unit INTEGER NOT NULL,"        \
    " epsilon REAL NOT NULL, delta REAL NOT NULL, PRIMARY KEY (source, study, unit)) STRICT, WITHOUT ROWID;" \
    "CREATE " kind " TABLE consent (source TEXT NOT NULL, study TEXT NOT NULL, given INTEGER NOT NULL,"      \
    " study_hash BLOB NOT NULL, PRIMARY KEY (source, study)) STRICT, WITHOUT ROWID;"

/* `event`: the charges of a study in a unit, equal events counted together. `balance`: what is spent of a limit, composed
 * at `delta`; absent until the first charge or limit under format 2. */
#define TACIT_LEDGER_STATE_TABLES_2(kind)                                                                    \
    "CREATE " kind " TABLE event (source TEXT NOT NULL, study TEXT NOT NULL, unit INTEGER NOT NULL,"         \
    " kind INTEGER NOT NULL, parameter REAL NOT NULL, delta REAL NOT NULL, sampling REAL NOT NULL,"          \
    " replaced INTEGER NOT NULL, runs INTEGER NOT NULL,"                                                     \
    " PRIMARY KEY (source, study, unit, kind, parameter, delta, sampling, replaced)) STRICT, WITHOUT ROWID;" \
    "CREATE " kind " TABLE balance (source TEXT NOT NULL, study TEXT NOT NULL, unit INTEGER NOT NULL,"       \
    " epsilon REAL NOT NULL, delta REAL NOT NULL, accountant INTEGER NOT NULL,"                              \
    " PRIMARY KEY (source, study, unit)) STRICT, WITHOUT ROWID;"

/* TACIT_USAGE for a ledger in memory. */
tacit_status tacit_ledger_file_of(tacit_ledger_file **out, tacit_ledger *ledger, const char *doing,
                                  tacit_error *error);

/* ledger_charge.c */
tacit_status tacit_ledger_file_charge(bool *stored, tacit_ledger *ledger, const tacit_release *release,
                                      tacit_buffer *out, tacit_error *error);
tacit_status tacit_ledger_file_refuse(tacit_ledger *ledger, const tacit_release *release, const char *reason,
                                      tacit_error *error);
tacit_status tacit_ledger_file_has_answer(bool *out, tacit_ledger *ledger, const uint8_t *answer_id,
                                          const uint8_t *question_hash, tacit_error *error);

tacit_status tacit_ledger_file_state(bool *found, tacit_ledger *ledger, const char *study, tacit_buffer *out,
                                     tacit_error *error);

/* What is spent once `release` (NULL: nothing) is charged to the account as read by tacit_log_account. */
tacit_status tacit_ledger_file_compose(tacit_spending *out, tacit_ledger_file *self,
                                       const tacit_account *account, const char *study, tacit_unit unit,
                                       const tacit_release *release, tacit_error *error);

/* The consent in force for a study, and what it is to. */
tacit_status tacit_ledger_file_consent(tacit_consent *out, uint8_t study_hash[TACIT_HASH_BYTES],
                                       tacit_ledger_file *self, const char *study, tacit_error *error);
