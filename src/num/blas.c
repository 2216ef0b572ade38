#include "num/blas.h"

#include <cblas.h>
#include <inttypes.h>
#include <sys/resource.h>

#include "base/pool.h"

/* Exported by OpenBLAS with threads of its own, which calls it before a fork; not by one without. */
extern int blas_thread_shutdown_(void) __attribute__((weak));

void tacit_blas_one_thread(void) {
    if (openblas_get_num_threads() != 1) openblas_set_num_threads(1);
}

/* In this order: setting a number starts the threads again. A product on one thread does not. */
void tacit_blas_end_threads(void) {
    tacit_blas_one_thread();
    if (blas_thread_shutdown_ != NULL) blas_thread_shutdown_();
}

/* OpenBLAS takes 128 MiB for each of its threads when it is loaded, and for each of ours that multiplies:
 * processors are as many for both. As much again is for everything else. */
tacit_status tacit_blas_check_room(tacit_error *error) {
    enum { MEBIBYTE_BITS = 20, BUFFER = 128, REST = 128 };
    const struct {
        __rlimit_resource_t resource;
        const char *command;
    } limits[] = { { RLIMIT_DATA, "ulimit -d" }, { RLIMIT_AS, "ulimit -v" } };
    const uint64_t processors = tacit_pool_processors(), needed = BUFFER * processors + REST;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit limit;
        if (getrlimit(limits[i].resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) continue;
        const uint64_t allowed = limit.rlim_cur >> MEBIBYTE_BITS;
        if (allowed < needed)
            return tacit_fail(error, TACIT_LIMIT,
                              "this process may use %" PRIu64 " MiB of memory (%s) and needs %" PRIu64
                              " MiB, of which matrix products take 128 MiB for each processor: raise the "
                              "limit, or use fewer processors (taskset -c 0)",
                              allowed, limits[i].command, needed);
    }
    return TACIT_OK;
}
