/* Which engine this processor can run. */
#include "crypto/cipher_parts.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

const char *tacit_engine_name(tacit_engine engine) {
    switch (engine) {
    case TACIT_ENGINE_AESNI: return "aesni";
    case TACIT_ENGINE_VAES: return "vaes";
    default: return "portable";
    }
}

#if defined(__x86_64__)
static bool has_bits(unsigned value, unsigned bits) { return (value & bits) == bits; }

/* Whether the operating system keeps these registers when it switches tasks (XCR0). */
static bool system_keeps(unsigned registers) {
    unsigned a, b, c, d, low, high;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || !has_bits(c, bit_OSXSAVE)) return false;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return has_bits(low, registers);
}

static bool has_aesni(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && has_bits(c, bit_AES | bit_PCLMUL | bit_SSSE3 | bit_SSE4_1);
}

enum { VAES_BIT = 1 << 9 };

static bool has_wide_aes(void) {
    enum { VECTORS = 0x6 /* SSE and AVX */ };
    unsigned a, b, c, d;
    return has_aesni() && system_keeps(VECTORS) && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
           has_bits(b, bit_AVX2) && has_bits(c, VAES_BIT);
}

static bool has_vaes(void) {
    enum { MASKS_AND_VECTORS = 0xe6 /* SSE, AVX, and the three parts of AVX-512 */ };
    unsigned a, b, c, d;
    return has_aesni() && system_keeps(MASKS_AND_VECTORS) && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
           has_bits(b, bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL) && has_bits(c, VAES_BIT);
}
#endif

bool tacit_engine_available(tacit_engine engine) {
#if defined(__x86_64__)
    if (engine == TACIT_ENGINE_AESNI) return has_aesni();
    if (engine == TACIT_ENGINE_VAES) return has_vaes();
#endif
    return engine == TACIT_ENGINE_PORTABLE;
}

tacit_engine tacit_engine_best(void) {
    if (tacit_engine_available(TACIT_ENGINE_VAES)) return TACIT_ENGINE_VAES;
    return tacit_engine_available(TACIT_ENGINE_AESNI) ? TACIT_ENGINE_AESNI : TACIT_ENGINE_PORTABLE;
}

const tacit_cipher *tacit_cipher_of(tacit_engine engine) {
#if defined(__x86_64__)
    if (engine == TACIT_ENGINE_VAES) return &tacit_cipher_vaes;
    if (engine == TACIT_ENGINE_AESNI) return has_wide_aes() ? &tacit_cipher_aesni_wide : &tacit_cipher_aesni;
#endif
    (void)engine;
    return &tacit_cipher_portable;
}
