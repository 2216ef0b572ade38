/* How a long call tells its caller how far it is, and learns that it should stop. All members optional. */
#ifndef TACIT_PROGRESS_H
#define TACIT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tacit_progress {
    /* `done` of `total` steps of `stage`; total = 0 when unknown. May be called from any thread. */
    void (*report)(void *context, const char *stage, uint64_t done, uint64_t total);
    bool (*cancelled)(void *context);
    void *context;
} tacit_progress;

#endif
