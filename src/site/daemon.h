/*
 * A party for all studies of a home at once: each joined study is served in a thread of its own, by the same
 * code as `tacit party STUDY`, and all charge the one ledger of the home. Studies that are joined meanwhile
 * are taken up. A study that was refused, because it was amended, its owner withdrew or a rule forbade an
 * answer, rests until the owner has said something new.
 */
#pragma once

#include "site/site.h"

typedef struct tacit_daemon_settings {
    const char *home;
    const char *mark; /* only studies whose folder has a file of this name; NULL: all */
    bool until_done;  /* end when every joined study has ended; TACIT_NOT_FOUND when none was joined */
    tacit_site_callbacks callbacks; /* called by one thread at a time */
} tacit_daemon_settings;

/* Serve until cancelled (TACIT_OK) or done. A model that comes out of a study is in its folder, as
 * model.json. */
tacit_status tacit_daemon_run(const tacit_daemon_settings *settings, tacit_error *error);
