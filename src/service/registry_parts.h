/* Shared by the registry's files only. */
#pragma once

#include <pthread.h>

#include "service/registry.h"
#include "store/statement.h"

struct tacit_registry {
    tacit_store *store;
    pthread_mutex_t mutex; /* a store is used by one thread at a time */
};

void tacit_registry_lock(tacit_registry *registry);
void tacit_registry_unlock(tacit_registry *registry);

/* Commit when `status` is TACIT_OK, else take back; returns what counts. */
tacit_status tacit_registry_finish(tacit_registry *registry, tacit_status status, tacit_error *error);
