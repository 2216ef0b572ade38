/* Shared by the center servers' files only. */
#pragma once

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "center/center.h"
#include "net/handover.h"

/* B: take the definition that A shows, its signature, the list of revoked certificates (empty: none), and the
 * chain of hand-over statements (empty: none); hear who the authority is, check the signature before
 * anything is read from the definition, look at the list, and say yes with the key or no with the reason. */
typedef tacit_status center_check(void *context, const tacit_buffer *definition,
                                  const tacit_buffer *signature, tacit_error *error);
typedef tacit_status center_look(void *context, const tacit_study *study, const tacit_buffer *revocations,
                                 tacit_error *error);
typedef tacit_status center_hear(void *context, const tacit_buffer *chain, tacit_error *error);
tacit_status center_welcome(tacit_study **out, tacit_channel *channel, const tacit_paillier_secret *secret,
                            center_hear *hear, center_check *check, center_look *look, void *context,
                            tacit_error *error);

/* A: show the definition and its signature, get the key. */
tacit_status center_greet(tacit_paillier_public **out, tacit_channel *channel, const tacit_study *study,
                          const tacit_buffer *signature, const tacit_buffer *revocations,
                          const tacit_buffer *chain, tacit_error *error);

/* B: whom to trust as the coordinator (center_trust.c): the authority whose certificate it was given, and
 * those that have taken over since. Any thread. */
typedef struct center_trust {
    const char *folder;
    pthread_mutex_t mutex;
    tacit_buffer anchor;
    tacit_handovers chain;
} center_trust;

/* `given`: a file with another certificate, which counts from now on; NULL: as before. */
tacit_status center_trust_open(center_trust *self, const char *folder, const char *given, tacit_error *error);
void center_trust_close(center_trust *self);

/* The PEM certificates of those that are trusted now, or (`every`) ever were, appended; and a file with the
 * former, for TLS. */
tacit_status center_trust_read(center_trust *self, bool every, tacit_buffer *out, tacit_error *error);
tacit_status center_trust_file(center_trust *self, char path[PATH_MAX], tacit_error *error);

/* Follow the statements that A shows. `present` receives the fingerprint when there was something new; else
 * "". */
tacit_status center_trust_hear(center_trust *self, const tacit_buffer *chain,
                               char present[TACIT_FINGERPRINT_SIZE], tacit_error *error);

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
