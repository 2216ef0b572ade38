/*
 * One BLAS thread per task. OpenBLAS splits a product differently for each number of threads, and the sums
 * then differ in the last bits; so parallelism lives above it, in tacit_pool loops over blocks with fixed
 * boundaries that are added up in a fixed order.
 */
#pragma once

#include "base/error.h"

/* Make OpenBLAS run each call on the calling thread. Cheap, idempotent, callable from any thread. */
void tacit_blas_one_thread(void);

/* The same, and end the threads that OpenBLAS starts when it is loaded. For a program, at its start: what
 * confines a thread later does not reach those that are there already (base/harden.h). */
void tacit_blas_end_threads(void);

/* TACIT_LIMIT where the limits on this process's memory (ulimit -d, -v) leave no room for what OpenBLAS takes
 * for each processor. It would wait for that memory without end and without a word, so a program asks first;
 * its threads may wait already, and exit() would wait for them: end by _exit(). */
tacit_status tacit_blas_check_room(tacit_error *error);
