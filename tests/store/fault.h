/*
 * A SQLite file layer that does what the real one does until told to go wrong at its Nth step (a write, a
 * sync, a truncation or a deletion). Installed as the default, so that the code under test knows nothing of
 * it.
 */
#pragma once

#include <stdbool.h>

typedef enum fault_kind {
    FAULT_NONE,
    FAULT_KILL,  /* SIGKILL to this process before the step */
    FAULT_TEAR,  /* SIGKILL after half of a write */
    FAULT_FULL,  /* SQLITE_FULL from a write, SQLITE_IOERR from another step */
    FAULT_BROKEN /* SQLITE_IOERR */
} fault_kind;

/* Once per process, before the first database is opened. */
void fault_install(void);

/* Go wrong at the Nth step from now (from 1), once; `again` at every step from then on. */
void fault_at(fault_kind kind, long step, bool again);

/* Steps taken since the last fault_at. */
long fault_steps(void);

/* Whether anything was written to a write-ahead log and not synced since. */
bool fault_log_is_unsynced(void);
