/* Errands as HTTPS requests, for both ends: a new endpoint is its line here, and its handler in coordinator_https.c. */
#pragma once

#include "session/carrier.h"

typedef struct tacit_https_errand {
    const char *method, *path;
    bool open; /* no certificate is needed */
} tacit_https_errand;

extern const tacit_https_errand tacit_https_errands[TACIT_ERRANDS];

/* TACIT_ERRANDS: none goes there, by any method. */
tacit_errand tacit_https_errand_at(const char *path);
