/*
 * A fixed set of worker threads that share loops. The calling thread works too, so a pool of one thread
 * starts none. Results must not depend on which worker ran what: a task writes only to places that its
 * own indices own.
 */
#pragma once

#include <stddef.h>

#include "base/error.h"

typedef struct tacit_pool tacit_pool;

/* threads = 0 asks for one per available processor. */
tacit_status tacit_pool_create(tacit_pool **out, unsigned threads, tacit_error *error);
tacit_pool *tacit_pool_free(tacit_pool *pool);

/* How many processors this process may use. */
unsigned tacit_pool_processors(void);

/* How many workers a loop may use; 1 for NULL. */
unsigned tacit_pool_threads(const tacit_pool *pool);

/* Work on indices [begin, end); `worker` < tacit_pool_threads() names scratch space that is this task's
 * alone for the time of the call. */
typedef tacit_status tacit_task(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error);

/* Run `task` over [0, count) in pieces of `grain` indices (0 picks one) and wait for all. A NULL pool, or
 * a call from inside a task, runs on the calling thread alone. On failure the remaining pieces are skipped
 * and the error of the lowest piece that failed is returned. Loops started from several threads at once
 * take turns. */
tacit_status tacit_pool_for(tacit_pool *pool, size_t count, size_t grain, tacit_task *task, void *context,
                            tacit_error *error);
