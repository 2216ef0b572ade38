/* Shared by the registry's files only. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "store/statement.h"
#include "study/registry.h"

struct tacit_registry {
    tacit_store *store;
    pthread_mutex_t mutex; /* a store is used by one thread at a time */
    int64_t since;         /* locked, monotonic nanoseconds; under the mutex */
    _Atomic uint64_t uses, used_ns;
};

void tacit_registry_lock(tacit_registry *registry);
void tacit_registry_unlock(tacit_registry *registry);

/* Commit when `status` is TACIT_OK, else take back; returns what counts. */
tacit_status tacit_registry_finish(tacit_registry *registry, tacit_status status, tacit_error *error);

/* Called with the lock held, and inside a transaction where several are to count together. */
tacit_status registry_put_points(tacit_registry *registry, const char *study, const tacit_buffer *points,
                                 tacit_error *error);
tacit_status registry_state(tacit_registry *registry, const char *name, tacit_study_state *out,
                            tacit_error *error);

/* Append the bytes in the first column of the next row, if there is one. */
tacit_status registry_take_bytes(tacit_statement *get, bool *found, tacit_buffer *out, tacit_error *error);

/* The text that a query with one text parameter finds, of less than `size` bytes; "" when it finds none. */
tacit_status registry_find_text(tacit_registry *registry, const char *sql, const char *key, bool *found,
                                char *out, size_t size, tacit_error *error);

/* Run a statement whose one parameter is the study's name. */
tacit_status registry_run_for(tacit_registry *registry, const char *sql, const char *study,
                              tacit_error *error);

/* Why a token is no invitation: it is an applicant's, or nobody's. Always TACIT_REFUSED, or that it could not
 * be found out. Called with the lock held (registry_applicants.c). */
tacit_status tacit_registry_say_unknown(tacit_registry *registry, const uint8_t *token_hash,
                                        tacit_error *error);
