/*
 * What parties may ask of a coordinator, over TLS: the table of paths. One line makes an endpoint /v1/NAME: whom it lets in, how long its
 * body may be, its figures for Prometheus, its line in the reference (`tacit help endpoints`), and the declaration of its handler,
 * coordinator_NAME (coordinator_parts.h). REPLY(method, name, rules, help) answers a body with bytes; SERVE(...) answers the
 * exchange itself, at once or later.
 */
#pragma once

#include <stddef.h>

/* Rules of an endpoint. By default only parties of a study are let in, with a certificate of the present authority. */
enum {
    TACIT_ENDPOINT_OPEN = 1,    /* whoever asks */
    TACIT_ENDPOINT_RETIRED = 2, /* also with a certificate of an authority that was replaced */
    TACIT_ENDPOINT_LONG = 4     /* its body may be as long as the open question makes an answer */
};

/* clang-format off */
#define TACIT_ENDPOINTS(REPLY, SERVE)                                                                                      \
    REPLY(POST, look, TACIT_ENDPOINT_OPEN, "the definition of the study that an invitation is for, signed")               \
    REPLY(POST, join, TACIT_ENDPOINT_OPEN, "a certificate for an invitation, once its owner has consented")               \
    REPLY(POST, catalogue, TACIT_ENDPOINT_OPEN, "the studies that may be seen, with an invitation or a certificate")      \
    SERVE(POST, poll, 0, "the next question or the end of the study; waits until there is one")                           \
    REPLY(POST, answer, TACIT_ENDPOINT_LONG, "take an answer to the open question")                                       \
    SERVE(GET, points, 0, "the study's public auxiliary points")                                                          \
    REPLY(POST, renew, TACIT_ENDPOINT_RETIRED, "the party's next certificate")                                            \
    SERVE(GET, authority, TACIT_ENDPOINT_OPEN, "the statements by which authorities were replaced")
/* clang-format on */

typedef struct tacit_endpoint {
    const char *method, *path;
    unsigned rules;
    const char *help;
} tacit_endpoint;

#define TACIT_ENDPOINT_COUNT_(...) +1
enum { TACIT_ENDPOINT_COUNT = 0 TACIT_ENDPOINTS(TACIT_ENDPOINT_COUNT_, TACIT_ENDPOINT_COUNT_) };

extern const tacit_endpoint tacit_endpoints[TACIT_ENDPOINT_COUNT];
