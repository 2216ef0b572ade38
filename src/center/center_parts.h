/* Shared by the centre servers' files only. */
#pragma once

#include <stdatomic.h>

#include "center/center.h"

/* B: take the definition that A shows, its signature, and the list of revoked certificates (empty: none); check the signature before
 * anything is read from the definition, look at the list, and say yes with the key or no with the reason. */
typedef tacit_status center_check(void *context, const tacit_buffer *definition,
                                  const tacit_buffer *signature, tacit_error *error);
typedef tacit_status center_look(void *context, const tacit_study *study, const tacit_buffer *revocations,
                                 tacit_error *error);
tacit_status center_welcome(tacit_study **out, tacit_channel *channel, const tacit_paillier_secret *secret,
                            center_check *check, center_look *look, void *context, tacit_error *error);

/* A: show the definition and its signature, get the key. */
tacit_status center_greet(tacit_paillier_public **out, tacit_channel *channel, const tacit_study *study,
                          const tacit_buffer *signature, const tacit_buffer *revocations, tacit_error *error);

tacit_status center_split_address(const char *text, char *host, size_t size, uint16_t *port,
                                  tacit_error *error);

/* B's figures (center_metrics.c): calls of A, what they carried and how long they took. */
typedef struct center_figures {
    int64_t started;       /* wall clock, seconds */
    atomic_uint under_way; /* calls */
    atomic_ullong done, failed, turned_away;
    atomic_ullong sent, received, taken_ms; /* of calls that are over */
} center_figures;

/* A tacit_metrics_collect of center_figures. */
tacit_status center_collect(void *figures, tacit_buffer *out, tacit_error *error);
