/* Two ends of a channel of any kind, in two threads, for the benchmarks of protocols between two. */
#pragma once

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "net/channel.h"
#include "net/clock.h"
#include "net/identity.h"
#include "net/socket.h"

typedef struct end {
    const char *kind, *folder; /* memory, shared, stream, tls */
    bool first;                /* the garbler, or server A */
    tacit_channel *channel;
    int socket;
    pthread_barrier_t *ready;
    tacit_status (*run)(struct end *self);
    void *context;
    uint64_t done;
    double seconds, processor;
    tacit_status status;
    tacit_error error;
} end;

static inline double clock_of(clockid_t which) {
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline tacit_status connect_sockets(end ends[2], const char *folder, bool local, tacit_error *error) {
    int listener = -1;
    uint16_t port = 0;
    char path[96];
    int64_t deadline = tacit_clock_monotonic_ms() + 10000;
    snprintf(path, sizeof path, "%s/socket", folder);
    tacit_status status = local ? tacit_socket_listen_local(&listener, path, error)
                                : tacit_socket_listen(&listener, &port, "127.0.0.1", 0, error);
    if (status == TACIT_OK)
        status = local ? tacit_socket_connect_local(&ends[0].socket, path, error)
                       : tacit_socket_connect(&ends[0].socket, "127.0.0.1", port, deadline, error);
    if (status == TACIT_OK) status = tacit_socket_accept(&ends[1].socket, listener, deadline, error);
    if (listener >= 0) close(listener);
    if (local) unlink(path);
    return status;
}

/* The dialling end has a party's certificate, the answering end the server's. */
static inline tacit_status make_identities(const char *folder, tacit_error *error) {
    tacit_authority *authority = NULL;
    tacit_buffer request = TACIT_BUFFER_INIT, certificate = TACIT_BUFFER_INIT;
    const char *name = "127.0.0.1";
    char key[96], path[96];
    tacit_validity validity = tacit_validity_days(tacit_clock_wall_seconds(), 1);
    tacit_status status = TACIT_OK;
    snprintf(key, sizeof key, "%s/party.key", folder);
    snprintf(path, sizeof path, "%s/party.crt", folder);
    TACIT_CHECK(tacit_authority_create(&authority, folder, "bench", error));
    TACIT_CHECK(tacit_authority_issue_server(authority, folder, &name, 1, validity, error));
    TACIT_CHECK(tacit_key_create(key, error));
    TACIT_CHECK(tacit_key_request(&request, key, "party", error));
    TACIT_CHECK(tacit_authority_issue_client(&certificate, authority, request.bytes, request.length, "party",
                                             validity, error));
    TACIT_CHECK(tacit_file_write(path, certificate.bytes, certificate.length, 0644, error));
cleanup:
    tacit_authority_free(authority);
    tacit_buffer_clear(&request);
    tacit_buffer_clear(&certificate);
    return status;
}

static inline tacit_status open_tls(end *self) {
    char authority[96], certificate[96], key[96];
    const char *folder = self->folder, *who = self->first ? "server" : "party";
    snprintf(authority, sizeof authority, "%s/ca.crt", folder);
    snprintf(certificate, sizeof certificate, "%s/%s.crt", folder, who);
    snprintf(key, sizeof key, "%s/%s.key", folder, who);
    tacit_channel_tls_settings settings = { .authority_file = authority,
                                            .certificate_file = certificate,
                                            .key_file = key,
                                            .host = self->first ? NULL : "127.0.0.1" };
    return tacit_channel_tls(&self->channel, NULL, self->socket, &settings,
                             tacit_clock_monotonic_ms() + 10000, &self->error);
}

static inline tacit_status open_end(end *self) {
    const char *kind = self->kind;
    if (strcmp(kind, "shared") == 0)
        return tacit_channel_shared(&self->channel, self->socket, self->first,
                                    tacit_clock_monotonic_ms() + 10000, &self->error);
    if (strcmp(kind, "stream") == 0) return tacit_channel_stream(&self->channel, self->socket, &self->error);
    return strcmp(kind, "tls") == 0 ? open_tls(self) : TACIT_OK;
}

static inline void *end_main(void *argument) {
    end *self = argument;
    self->status = open_end(self);
    if (self->status != TACIT_OK) {
        pthread_barrier_wait(self->ready);
        return NULL;
    }
    tacit_channel_set_deadline(self->channel, tacit_clock_monotonic_ms() + 600000);
    self->status = self->run(self);
    self->channel = tacit_channel_free(self->channel);
    return NULL;
}

/* Both ends, ends[1] the first; each runs its own, and meets the other at `ready` once. */
static inline tacit_status run_ends(end ends[2], const char *kind, const char *folder,
                                    tacit_status (*run)(end *self), void *const contexts[2],
                                    tacit_error *error) {
    pthread_t thread;
    pthread_barrier_t ready;
    pthread_barrier_init(&ready, NULL, 2);
    for (int i = 0; i < 2; i++)
        ends[i] = (end){ .kind = kind,
                         .folder = folder,
                         .first = i == 1,
                         .socket = -1,
                         .ready = &ready,
                         .run = run,
                         .context = contexts[i],
                         .error = TACIT_ERROR_INIT };
    if (strcmp(kind, "memory") == 0)
        TACIT_TRY(tacit_channel_memory_pair(&ends[0].channel, &ends[1].channel, error));
    else
        TACIT_TRY(connect_sockets(ends, folder, strcmp(kind, "shared") == 0, error));
    if (pthread_create(&thread, NULL, end_main, &ends[1]) != 0) return TACIT_INTERNAL;
    end_main(&ends[0]);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&ready);
    for (int i = 0; i < 2; i++)
        if (ends[i].status != TACIT_OK) {
            *error = ends[i].error;
            return ends[i].status;
        }
    return TACIT_OK;
}

/* A folder for sockets and certificates. */
static inline tacit_status make_folder(char folder[64], const char *kind, tacit_error *error) {
    snprintf(folder, 64, "/tmp/tacit-bench-XXXXXX");
    if (mkdtemp(folder) == NULL) return tacit_fail_errno(error, "making", folder);
    return strcmp(kind, "tls") == 0 ? make_identities(folder, error) : TACIT_OK;
}

static inline void remove_files(const char *folder) {
    static const char *const names[] = { "ca.key",     "ca.crt",    "server.key",
                                         "server.crt", "party.key", "party.crt" };
    char path[96];
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        unlink(path);
    }
    rmdir(folder);
}

static inline bool known(const char *name, const char *const *names, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (strcmp(name, names[k]) == 0) return true;
    return false;
}
