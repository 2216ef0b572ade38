#include "num/kernel/kernel.h"
#include "num/kernel/layer.h"

#if defined(__x86_64__) && !defined(TACIT_PARTY_ONLY)
typedef enum level { BASE, AVX2, AVX512 } level;

static level supported(void) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return AVX2;
    return BASE;
}
#endif

const tacit_kernels *tacit_kernels_choose(void) {
#if defined(__x86_64__) && !defined(TACIT_PARTY_ONLY)
    if (supported() == AVX512) return &tacit_kernels_avx512;
    if (supported() == AVX2) return &tacit_kernels_avx2;
#endif
    return &tacit_kernels_base;
}

const tacit_layer_kernels *tacit_layer_kernels_choose(void) {
#if defined(__x86_64__) && !defined(TACIT_PARTY_ONLY)
    if (supported() == AVX512) return &tacit_layer_kernels_avx512;
    if (supported() == AVX2) return &tacit_layer_kernels_avx2;
#endif
    return &tacit_layer_kernels_base;
}
