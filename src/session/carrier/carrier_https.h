/* Errands as HTTPS requests, for both ends. */
#pragma once

#include "session/carrier/carrier.h"

typedef struct tacit_https_errand {
    const char *method, *path;
    const char *help;
} tacit_https_errand;

/* Where a neighbour that listens takes sealed words, by POST. */
#define TACIT_HTTPS_WORD_PATH "/v1/word"

extern const tacit_https_errand tacit_https_errands[TACIT_ERRANDS];

/* TACIT_ERRANDS: none goes there, by any method. */
tacit_errand tacit_https_errand_at(const char *path);
