/*
 * Which instructions do the ciphering. All engines compute the same bits; portable is constant-time C, the
 * others use the processor's AES (one block, or four blocks an instruction).
 */
#pragma once

#include <stdbool.h>

typedef enum tacit_engine {
    TACIT_ENGINE_PORTABLE,
    TACIT_ENGINE_AESNI, /* x86-64 with AES-NI */
    TACIT_ENGINE_VAES,  /* and with VAES and AVX-512 */
    TACIT_ENGINES
} tacit_engine;

const char *tacit_engine_name(tacit_engine engine);

/* Whether this processor, and its operating system, can run it. */
bool tacit_engine_available(tacit_engine engine);
tacit_engine tacit_engine_best(void);
