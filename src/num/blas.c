#include "num/blas.h"

#include <cblas.h>

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
