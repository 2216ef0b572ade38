#include "link.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/clock.h"
#include "net/socket.h"

int64_t from_now(int64_t milliseconds) { return tacit_clock_monotonic_ms() + milliseconds; }

void sockets_open(int ends[2], link_kind kind) {
    tacit_error error = TACIT_ERROR_INIT;
    int listener = -1;
    if (kind == LINK_SHARED) {
        char folder[] = "/tmp/tacit-link-XXXXXX", path[64];
        assert_non_null(mkdtemp(folder));
        snprintf(path, sizeof path, "%s/socket", folder);
        CHECK_OK(tacit_socket_listen_local(&listener, path, &error), error);
        CHECK_OK(tacit_socket_connect_local(&ends[0], path, &error), error);
        CHECK_OK(tacit_socket_accept(&ends[1], listener, from_now(LINK_PATIENCE_MS), &error), error);
        unlink(path);
        rmdir(folder);
    } else {
        uint16_t port = 0;
        CHECK_OK(tacit_socket_listen(&listener, &port, "127.0.0.1", 0, &error), error);
        CHECK_OK(tacit_socket_connect(&ends[0], "127.0.0.1", port, from_now(LINK_PATIENCE_MS), &error),
                 error);
        CHECK_OK(tacit_socket_accept(&ends[1], listener, from_now(LINK_PATIENCE_MS), &error), error);
    }
    close(listener);
}

typedef struct answering {
    int socket;
    const tacit_channel_tls_settings *settings;
    tacit_channel *channel;
    tacit_status status;
    tacit_error error;
} answering;

static void *answer(void *argument) {
    answering *self = argument;
    self->status = tacit_channel_tls(&self->channel, NULL, self->socket, self->settings,
                                     from_now(LINK_PATIENCE_MS), &self->error);
    return NULL;
}

static void open_tls(tacit_channel *ends[2], int sockets[2], const world *where) {
    char authority[PATH_MAX], certificate[PATH_MAX], key[PATH_MAX];
    static _Atomic unsigned number;
    char name[32];
    party caller;
    tacit_error error = TACIT_ERROR_INIT;
    snprintf(name, sizeof name, "caller %u", number++);
    party_join_now(&caller, where, name);
    world_path(authority, where, "ca.crt");
    tacit_channel_tls_settings answers = { .authority_file = authority,
                                           .certificate_file = world_path(certificate, where, "server.crt"),
                                           .key_file = world_path(key, where, "server.key"),
                                           .fingerprint = caller.info.fingerprint };
    tacit_channel_tls_settings dials = { .authority_file = authority,
                                         .certificate_file = caller.certificate_file,
                                         .key_file = caller.key_file,
                                         .host = "127.0.0.1" };
    answering other = { .socket = sockets[1], .settings = &answers };
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, answer, &other), 0);
    tacit_status status =
        tacit_channel_tls(&ends[0], NULL, sockets[0], &dials, from_now(LINK_PATIENCE_MS), &error);
    pthread_join(thread, NULL);
    CHECK_OK(status, error);
    CHECK_OK(other.status, other.error);
    ends[1] = other.channel;
}

void link_open(tacit_channel *ends[2], link_kind kind, const world *where) {
    tacit_error error = TACIT_ERROR_INIT;
    int sockets[2];
    if (kind != LINK_MEMORY) sockets_open(sockets, kind);
    switch (kind) {
    case LINK_MEMORY: CHECK_OK(tacit_channel_memory_pair(&ends[0], &ends[1], &error), error); break;
    case LINK_SHARED:
        for (int i = 0; i < 2; i++)
            CHECK_OK(tacit_channel_shared(&ends[i], sockets[i], i == 0, from_now(LINK_PATIENCE_MS), &error),
                     error);
        break;
    case LINK_STREAM:
        for (int i = 0; i < 2; i++) CHECK_OK(tacit_channel_stream(&ends[i], sockets[i], &error), error);
        break;
    default: open_tls(ends, sockets, where);
    }
    for (int i = 0; i < 2; i++) tacit_channel_set_deadline(ends[i], from_now(LINK_PATIENCE_MS));
}

static void *run_peer(void *argument) {
    peer_thread *peer = argument;
    peer->status = peer->part(peer->channel, &peer->error);
    if (peer->closes) peer->channel = tacit_channel_free(peer->channel);
    return NULL;
}

void peer_start(peer_thread *peer, tacit_channel *channel, peer_part *part, bool closes) {
    *peer = (peer_thread){ .channel = channel, .part = part, .closes = closes, .error = TACIT_ERROR_INIT };
    assert_int_equal(pthread_create(&peer->thread, NULL, run_peer, peer), 0);
}

tacit_status peer_join(peer_thread *peer) {
    pthread_join(peer->thread, NULL);
    return peer->status;
}
