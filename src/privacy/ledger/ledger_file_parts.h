/* The durable ledger. For the files of this folder only. */
#pragma once

#include "privacy/ledger/ledger_class_parts.h"
#include "privacy/ledger/ledger_log_parts.h"

typedef struct tacit_ledger_file {
    tacit_ledger base;
    tacit_store *store;
    char source[TACIT_NAME_MOST + 1];
    size_t unlogged; /* refusals since the last that was logged; within a transaction only */
} tacit_ledger_file;

/* The tables that follow from the log, as SQL, of format 1 and those added by format 2; verification makes
 * them again as temporary tables. `kind` is "" or "TEMP" and must be a string literal. */
#define TACIT_LEDGER_STATE_TABLES_1(kind)                                                                    \
    "CREATE " kind " TABLE spending (source TEXT NOT NULL, study TEXT NOT NULL, unit INTEGER NOT NULL,"      \
    " epsilon REAL NOT NULL, delta REAL NOT NULL, PRIMARY KEY (source, study, unit)) STRICT, WITHOUT ROWID;" \
    "CREATE " kind " TABLE limits (source TEXT NOT NULL, study TEXT NOT NULL, unit INTEGER NOT NULL,"        \
    " epsilon REAL NOT NULL, delta REAL NOT NULL, PRIMARY KEY (source, study, unit)) STRICT, WITHOUT ROWID;" \
    "CREATE " kind " TABLE consent (source TEXT NOT NULL, study TEXT NOT NULL, given INTEGER NOT NULL,"      \
    " study_hash BLOB NOT NULL, PRIMARY KEY (source, study)) STRICT, WITHOUT ROWID;"

/* `event`: the charges of a study in a unit, equal events counted together. `balance`: what is spent of a
 * limit, composed at `delta`; absent until the first charge or limit under format 2. */
#define TACIT_LEDGER_STATE_TABLES_2(kind)                                                                    \
    "CREATE " kind " TABLE event (source TEXT NOT NULL, study TEXT NOT NULL, unit INTEGER NOT NULL,"         \
    " kind INTEGER NOT NULL, parameter REAL NOT NULL, delta REAL NOT NULL, sampling REAL NOT NULL,"          \
    " replaced INTEGER NOT NULL, runs INTEGER NOT NULL,"                                                     \
    " PRIMARY KEY (source, study, unit, kind, parameter, delta, sampling, replaced)) STRICT, WITHOUT ROWID;" \
    "CREATE " kind " TABLE balance (source TEXT NOT NULL, study TEXT NOT NULL, unit INTEGER NOT NULL,"       \
    " epsilon REAL NOT NULL, delta REAL NOT NULL, accountant INTEGER NOT NULL,"                              \
    " PRIMARY KEY (source, study, unit)) STRICT, WITHOUT ROWID;"

/* `counting`: how a limit is counted; absent for a limit of an earlier format. `block`: what a study holds
 * (counting.h). `loose` and `loose_sum`: charges that no block covers, and the sum of their prices. `people`:
 * data sources that share the limit of one of them. */
#define TACIT_LEDGER_STATE_TABLES_4(kind)                                                                    \
    "CREATE " kind " TABLE counting (source TEXT NOT NULL, study TEXT NOT NULL, unit INTEGER NOT NULL,"      \
    " way INTEGER NOT NULL, middle REAL NOT NULL, PRIMARY KEY (source, study, unit)) STRICT, WITHOUT ROWID;" \
    "CREATE " kind " TABLE block (source TEXT NOT NULL, study TEXT NOT NULL, study_hash BLOB NOT NULL,"      \
    " unit INTEGER NOT NULL, open INTEGER NOT NULL, kind INTEGER NOT NULL, parameter REAL NOT NULL,"         \
    " delta REAL NOT NULL, sampling REAL NOT NULL, replaced INTEGER NOT NULL, runs INTEGER NOT NULL,"        \
    " used INTEGER NOT NULL, epsilon REAL NOT NULL, price_delta REAL NOT NULL,"                              \
    " used_epsilon REAL NOT NULL, used_delta REAL NOT NULL,"                                                 \
    " PRIMARY KEY (source, study, study_hash)) STRICT, WITHOUT ROWID;"                                       \
    "CREATE " kind " TABLE loose (source TEXT NOT NULL, unit INTEGER NOT NULL, kind INTEGER NOT NULL,"       \
    " parameter REAL NOT NULL, delta REAL NOT NULL, sampling REAL NOT NULL, replaced INTEGER NOT NULL,"      \
    " runs INTEGER NOT NULL,"                                                                                \
    " PRIMARY KEY (source, unit, kind, parameter, delta, sampling, replaced)) STRICT, WITHOUT ROWID;"        \
    "CREATE " kind " TABLE loose_sum (source TEXT NOT NULL, unit INTEGER NOT NULL, epsilon REAL NOT NULL,"   \
    " delta REAL NOT NULL, PRIMARY KEY (source, unit)) STRICT, WITHOUT ROWID;"                               \
    "CREATE " kind " TABLE people (source TEXT NOT NULL PRIMARY KEY, people TEXT NOT NULL)"                  \
    " STRICT, WITHOUT ROWID;"

/* The scripts that make a ledger, in order. */
extern const char *const tacit_ledger_scripts[];
extern const size_t tacit_ledger_script_count;

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

/* ledger_kept.c: the state of one study of the data source, in place of the last. */
tacit_status tacit_ledger_file_keep(tacit_ledger_file *self, const tacit_release *release,
                                    tacit_error *error);

/* What a party goes on from is guarded by a hash beside it: put one to each row; TACIT_CORRUPT unless all
 * have theirs. */
tacit_status tacit_ledger_file_guard_kept(tacit_store *store, tacit_error *error);
tacit_status tacit_ledger_file_check_kept(tacit_store *store, tacit_error *error);

tacit_status tacit_ledger_file_state(bool *found, tacit_ledger *ledger, const char *study, tacit_buffer *out,
                                     tacit_error *error);

/* Something asked for: one answer, or all those of a study, which are then held for it. */
typedef struct tacit_asked {
    const tacit_release *release;
    bool whole;
    bool in_total; /* the study's own limit is not asked: it is for its answers, as they come */
} tacit_asked;

/* ledger_charge.c: every limit that it counts towards, and that one of the totals bounds it. */
tacit_status tacit_ledger_file_check(tacit_balance after[2][TACIT_UNITS], tacit_ledger_file *self,
                                     const tacit_asked *asked, tacit_error *error);

/* ledger_holding.c: what is spent in total once `asked` (NULL: nothing) is charged or held, of the account as
 * read by tacit_log_account. */
tacit_status tacit_ledger_file_total(tacit_spending *out, tacit_ledger_file *self,
                                     const tacit_account *account, tacit_unit unit, const tacit_asked *asked,
                                     tacit_error *error);

/* The same in total (study "") or of one study. */
tacit_status tacit_ledger_file_compose(tacit_spending *out, tacit_ledger_file *self,
                                       const tacit_account *account, const char *study, tacit_unit unit,
                                       const tacit_asked *asked, tacit_error *error);

/* Log an act of the owner and let it take effect. */
tacit_status tacit_ledger_file_record(tacit_ledger_file *self, tacit_entry *entry, tacit_error *error);

/* The consent in force for a study, and what it is to. */
tacit_status tacit_ledger_file_consent(tacit_consent *out, uint8_t study_hash[TACIT_HASH_BYTES],
                                       tacit_ledger_file *self, const char *study, tacit_error *error);
