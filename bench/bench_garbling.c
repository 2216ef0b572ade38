/*
 * Rates of garbling and oblivious transfer between two threads over a channel.
 *
 *   bench_garbling gates    CHANNEL ENGINE HASH MILLIONS REPEATS   independent AND gates, 1024 a call
 *   bench_garbling multiply CHANNEL ENGINE HASH MILLIONS REPEATS   64-bit fixed-point products, 64 lanes
 *   bench_garbling ot       CHANNEL ENGINE HASH MILLIONS REPEATS   correlated oblivious transfers
 *
 * CHANNEL: memory, shared, stream (TCP in the clear), tls; ENGINE: portable, aesni, vaes, best; HASH: rekeyed, fixed.
 * Prints one JSON line: of the best repeat the rate a second, and the least processor seconds a million of each end.
 */
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "crypto/circuits_fixed.h"
#include "crypto/garble.h"
#include "crypto/ot.h"
#include "net/clock.h"
#include "net/identity.h"
#include "net/socket.h"

enum { LANES = 64, BATCH = 1024, TRANSFERS = 1 << 16 };

typedef struct work {
    const char *what, *channel_kind;
    tacit_garble_settings settings;
    uint64_t wanted;
    char folder[64];
} work;

typedef struct end {
    const work *all;
    bool garbles;
    tacit_channel *channel;
    int socket;
    uint64_t done;
    double seconds, processor;
    tacit_status status;
    tacit_error error;
    pthread_barrier_t *ready;
} end;

static double clock_of(clockid_t which) {
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- workloads ---- */

static tacit_status gates(end *self, tacit_builder *builder) {
    tacit_wire *a = tacit_scratch(builder, BATCH), *b = tacit_scratch(builder, BATCH);
    uint8_t bits[BATCH] = { 1, 0, 1 };
    if (a == NULL || b == NULL) return TACIT_NO_MEMORY;
    TACIT_TRY(tacit_input_wires(builder, TACIT_GARBLER, a, self->garbles ? bits : NULL, BATCH));
    TACIT_TRY(tacit_input_wires(builder, TACIT_EVALUATOR, b, self->garbles ? NULL : bits, BATCH));
    while (builder->and_count < self->all->wanted) TACIT_TRY(tacit_and(builder, a, a, b, BATCH));
    return TACIT_OK;
}

static tacit_status products(end *self, tacit_builder *builder) {
    size_t all = tacit_fixed_centre.width * LANES;
    tacit_wire *a = tacit_scratch(builder, all), *b = tacit_scratch(builder, all);
    uint8_t bits[64 * LANES] = { 1, 0, 1 };
    if (a == NULL || b == NULL) return TACIT_NO_MEMORY;
    TACIT_TRY(tacit_input_wires(builder, TACIT_GARBLER, a, self->garbles ? bits : NULL, all));
    TACIT_TRY(tacit_input_wires(builder, TACIT_EVALUATOR, b, self->garbles ? NULL : bits, all));
    while (builder->and_count < self->all->wanted)
        TACIT_TRY(tacit_fixed_multiply(builder, a, a, b, tacit_fixed_centre, LANES));
    return TACIT_OK;
}

static tacit_status garble_part(end *self) {
    tacit_builder *builder = NULL;
    tacit_status status = (self->garbles ? tacit_garbler_create : tacit_evaluator_create)(
        &builder, self->channel, &self->all->settings, &self->error);
    pthread_barrier_wait(self->ready);
    if (status != TACIT_OK) return status;
    double wall = clock_of(CLOCK_MONOTONIC), processor = clock_of(CLOCK_THREAD_CPUTIME_ID);
    status = strcmp(self->all->what, "gates") == 0 ? gates(self, builder) : products(self, builder);
    if (status == TACIT_OK) status = tacit_finish(builder);
    self->seconds = clock_of(CLOCK_MONOTONIC) - wall;
    self->processor = clock_of(CLOCK_THREAD_CPUTIME_ID) - processor;
    self->done = builder->and_count;
    if (status != TACIT_OK) self->error = builder->error;
    tacit_builder_free(builder);
    return status;
}

static tacit_status transfer_part(end *self) {
    tacit_stream stream = tacit_stream_from_entropy();
    tacit_ot_sender *sender = NULL;
    tacit_ot_receiver *receiver = NULL;
    tacit_wire *wires = tacit_allocate_aligned(TRANSFERS, sizeof *wires);
    uint8_t *choices = TACIT_NEW(uint8_t, TRANSFERS);
    tacit_status status = wires == NULL || choices == NULL ? tacit_fail_memory(&self->error) : TACIT_OK;
    if (status == TACIT_OK && self->garbles)
        status =
            tacit_ot_sender_create(&sender, self->channel, &stream, self->all->settings.engine, &self->error);
    else if (status == TACIT_OK)
        status = tacit_ot_receiver_create(&receiver, self->channel, &stream, self->all->settings.engine,
                                          &self->error);
    pthread_barrier_wait(self->ready);
    double wall = clock_of(CLOCK_MONOTONIC), processor = clock_of(CLOCK_THREAD_CPUTIME_ID);
    for (; status == TACIT_OK && self->done < self->all->wanted; self->done += TRANSFERS)
        status = self->garbles
                     ? tacit_ot_send_correlated(wires, TRANSFERS, sender, &self->error)
                     : tacit_ot_receive_correlated(wires, choices, TRANSFERS, receiver, &self->error);
    self->seconds = clock_of(CLOCK_MONOTONIC) - wall;
    self->processor = clock_of(CLOCK_THREAD_CPUTIME_ID) - processor;
    tacit_ot_sender_free(sender);
    tacit_ot_receiver_free(receiver);
    free(wires);
    free(choices);
    return status;
}

/* ---- channels ---- */

static tacit_status connect_sockets(end ends[2], const char *folder, bool local, tacit_error *error) {
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
static tacit_status make_identities(const char *folder, tacit_error *error) {
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

static tacit_status open_tls(end *self) {
    char authority[96], certificate[96], key[96];
    const char *folder = self->all->folder, *who = self->garbles ? "server" : "party";
    snprintf(authority, sizeof authority, "%s/ca.crt", folder);
    snprintf(certificate, sizeof certificate, "%s/%s.crt", folder, who);
    snprintf(key, sizeof key, "%s/%s.key", folder, who);
    tacit_channel_tls_settings settings = { .authority_file = authority,
                                            .certificate_file = certificate,
                                            .key_file = key,
                                            .host = self->garbles ? NULL : "127.0.0.1" };
    return tacit_channel_tls(&self->channel, NULL, self->socket, &settings,
                             tacit_clock_monotonic_ms() + 10000, &self->error);
}

static tacit_status open_end(end *self) {
    const char *kind = self->all->channel_kind;
    if (strcmp(kind, "shared") == 0)
        return tacit_channel_shared(&self->channel, self->socket, self->garbles,
                                    tacit_clock_monotonic_ms() + 10000, &self->error);
    if (strcmp(kind, "stream") == 0) return tacit_channel_stream(&self->channel, self->socket, &self->error);
    return strcmp(kind, "tls") == 0 ? open_tls(self) : TACIT_OK;
}

static void *run_end(void *argument) {
    end *self = argument;
    self->status = open_end(self);
    if (self->status != TACIT_OK) {
        pthread_barrier_wait(self->ready);
        return NULL;
    }
    tacit_channel_set_deadline(self->channel, tacit_clock_monotonic_ms() + 120000);
    self->status = strcmp(self->all->what, "ot") == 0 ? transfer_part(self) : garble_part(self);
    self->channel = tacit_channel_free(self->channel);
    return NULL;
}

static tacit_status run_once(end ends[2], const work *all, tacit_error *error) {
    pthread_t thread;
    pthread_barrier_t ready;
    pthread_barrier_init(&ready, NULL, 2);
    for (int i = 0; i < 2; i++)
        ends[i] =
            (end){ .all = all, .garbles = i == 1, .socket = -1, .ready = &ready, .error = TACIT_ERROR_INIT };
    if (strcmp(all->channel_kind, "memory") == 0)
        TACIT_TRY(tacit_channel_memory_pair(&ends[0].channel, &ends[1].channel, error));
    else
        TACIT_TRY(connect_sockets(ends, all->folder, strcmp(all->channel_kind, "shared") == 0, error));
    if (pthread_create(&thread, NULL, run_end, &ends[1]) != 0) return TACIT_INTERNAL;
    run_end(&ends[0]);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&ready);
    for (int i = 0; i < 2; i++)
        if (ends[i].status != TACIT_OK) {
            *error = ends[i].error;
            return ends[i].status;
        }
    return TACIT_OK;
}

static tacit_status measure(const work *all, int repeats, tacit_error *error) {
    double best = 0, processor[2] = { 1e9, 1e9 };
    for (int r = 0; r < repeats; r++) {
        end ends[2];
        TACIT_TRY(run_once(ends, all, error));
        double seconds = ends[0].seconds > ends[1].seconds ? ends[0].seconds : ends[1].seconds;
        if ((double)ends[0].done / seconds > best) best = (double)ends[0].done / seconds;
        for (int i = 0; i < 2; i++) {
            double each = ends[i].processor / ((double)ends[i].done / 1e6);
            if (each < processor[i]) processor[i] = each;
        }
    }
    printf("{\"rate\": %.6g, \"sender_seconds\": %.4g, \"receiver_seconds\": %.4g, \"engine\": \"%s\"}\n",
           best, processor[1], processor[0], tacit_engine_name(all->settings.engine));
    return TACIT_OK;
}

static void remove_files(const char *folder) {
    static const char *const names[] = { "ca.key",     "ca.crt",    "server.key",
                                         "server.crt", "party.key", "party.crt" };
    char path[96];
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        unlink(path);
    }
    rmdir(folder);
}

static bool known(const char *name, const char *const *names, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (strcmp(name, names[k]) == 0) return true;
    return false;
}

int main(int count, char **argument) {
    static const char *const kinds[] = { "memory", "shared", "stream", "tls" };
    static const char *const whats[] = { "gates", "multiply", "ot" };
    if (sodium_init() < 0) return 1;
    if (count != 7 || !known(argument[1], whats, 3) || !known(argument[2], kinds, 4)) {
        fprintf(stderr,
                "usage: bench_garbling gates|multiply|ot memory|shared|stream|tls ENGINE rekeyed|fixed "
                "MILLIONS REPEATS\n");
        return 2;
    }
    work all = { .what = argument[1], .channel_kind = argument[2], .settings = tacit_garble_defaults() };
    for (tacit_engine engine = 0; engine < TACIT_ENGINES; engine++)
        if (strcmp(argument[3], tacit_engine_name(engine)) == 0) all.settings.engine = engine;
    all.settings.fixed_key = strcmp(argument[4], "fixed") == 0;
    all.wanted = (uint64_t)(atof(argument[5]) * 1e6);
    snprintf(all.folder, sizeof all.folder, "/tmp/tacit-bench-XXXXXX");
    if (mkdtemp(all.folder) == NULL) return 1;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    if (strcmp(all.channel_kind, "tls") == 0) status = make_identities(all.folder, &error);
    if (status == TACIT_OK) status = measure(&all, atoi(argument[6]), &error);
    remove_files(all.folder);
    if (status != TACIT_OK) fprintf(stderr, "bench_garbling: %s\n", error.text);
    return status == TACIT_OK ? 0 : 1;
}
