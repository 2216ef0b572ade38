/* Report progress and ask about cancelling through a tacit_progress (include/tacit/progress.h) that may be
 * NULL. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tacit/progress.h"

static inline void tacit_progress_report(const tacit_progress *progress, const char *stage, uint64_t done,
                                         uint64_t total) {
    if (progress != NULL && progress->report != NULL) progress->report(progress->context, stage, done, total);
}

static inline bool tacit_progress_cancelled(const tacit_progress *progress) {
    return progress != NULL && progress->cancelled != NULL && progress->cancelled(progress->context);
}
