/* Errands as HTTPS requests, for both ends. */
#pragma once

#include "session/carrier/carrier.h"

typedef struct tacit_https_endpoint {
    const char *method, *path;
    const char *help;
} tacit_https_endpoint;

/* Where a neighbour that listens takes sealed words, by POST. */
#define TACIT_HTTPS_WORD_PATH "/v1/word"

tacit_status tacit_https_listen(tacit_listener **out, const tacit_listener_settings *settings,
                                tacit_error *error);

extern const tacit_https_endpoint tacit_https_endpoints[TACIT_ENDPOINTS];

/* TACIT_ENDPOINTS: none goes there, by any method. */
tacit_endpoint tacit_https_endpoint_at(const char *path);
