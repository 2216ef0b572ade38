#include "num/kernel.h"

const tacit_kernels *tacit_kernels_choose(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return &tacit_kernels_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &tacit_kernels_avx2;
#endif
    return &tacit_kernels_base;
}
