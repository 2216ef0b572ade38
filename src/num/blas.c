#include "num/blas.h"

#include <cblas.h>

void tacit_blas_one_thread(void) {
    if (openblas_get_num_threads() != 1) openblas_set_num_threads(1);
}
