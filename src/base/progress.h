/* How a long call tells its caller how far it is, and learns that it should stop. All members optional. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tacit_progress {
    /* `done` of `total` steps of `stage`; total = 0 when unknown. May be called from any thread. */
    void (*report)(void *context, const char *stage, uint64_t done, uint64_t total);
    bool (*cancelled)(void *context);
    void *context;
} tacit_progress;

static inline void tacit_progress_report(const tacit_progress *progress, const char *stage, uint64_t done,
                                         uint64_t total) {
    if (progress != NULL && progress->report != NULL) progress->report(progress->context, stage, done, total);
}

static inline bool tacit_progress_cancelled(const tacit_progress *progress) {
    return progress != NULL && progress->cancelled != NULL && progress->cancelled(progress->context);
}
