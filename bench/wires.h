/* Thousands of TLS connections in one thread, by epoll, for bench_load: bytes in and out without waiting for
 * anybody. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define WIRE_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3" /* as the coordinator's */

typedef enum wire_state { WIRE_NONE, WIRE_SHAKING, WIRE_OPEN } wire_state;

typedef struct wire {
    wire_state state;
    int socket;
    size_t number;
    gnutls_session_t session;
    char *out, *in; /* what is left to send; what has come */
    size_t out_room, out_length, out_sent, in_room, in_length;
    uint64_t sent, got; /* bytes ever, within TLS */
} wire;

static inline void give_up(const char *what) {
    fprintf(stderr, "bench_load: %s: %s\n", what, strerror(errno));
    exit(1);
}

static inline void must_tls(int code, const char *what) {
    if (code >= 0) return;
    fprintf(stderr, "bench_load: %s: %s\n", what, gnutls_strerror(code));
    exit(1);
}

static inline double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void allow_files(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) give_up("files");
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static inline char *room_for(char **bytes, size_t *room, size_t wanted) {
    if (*room < wanted) {
        *room = wanted * 5 / 4;
        *bytes = realloc(*bytes, *room);
        if (*bytes == NULL) give_up("memory");
    }
    return *bytes;
}

/* Take up a connected, or connecting, socket. */
static inline void wire_begin(wire *self, int epoll, unsigned side, gnutls_certificate_credentials_t own) {
    int on = 1;
    setsockopt(self->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    must_tls(gnutls_init(&self->session, side | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL), "session");
    must_tls(gnutls_priority_set_direct(self->session, WIRE_PRIORITIES, NULL), "priorities");
    must_tls(gnutls_credentials_set(self->session, GNUTLS_CRD_CERTIFICATE, own), "credentials");
    if (side == GNUTLS_SERVER) gnutls_certificate_server_set_request(self->session, GNUTLS_CERT_REQUEST);
    gnutls_transport_set_int(self->session, self->socket);
    gnutls_handshake_set_timeout(self->session, GNUTLS_INDEFINITE_TIMEOUT);
    self->state = WIRE_SHAKING;
    struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = self };
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, self->socket, &event) != 0) give_up("epoll");
}

static inline void wire_dial(wire *self, int epoll, uint16_t port, gnutls_certificate_credentials_t own) {
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    self->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (self->socket < 0) give_up("socket");
    if (connect(self->socket, (struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS)
        give_up("connecting");
    wire_begin(self, epoll, GNUTLS_CLIENT, own);
}

/* Send what can be sent now. A record that GnuTLS could not send whole must be offered again as it was. */
static inline void wire_flush(wire *self) {
    while (self->out_sent < self->out_length) {
        ssize_t done =
            gnutls_record_send(self->session, self->out + self->out_sent, self->out_length - self->out_sent);
        if (done == GNUTLS_E_AGAIN || done == GNUTLS_E_INTERRUPTED) return;
        must_tls((int)done, "sending");
        self->out_sent += (size_t)done;
        self->sent += (size_t)done;
    }
    self->out_sent = self->out_length = 0;
}

/* Room at the end of what is to be sent; the caller fills it. */
static inline char *wire_append(wire *self, size_t length) {
    char *at = room_for(&self->out, &self->out_room, self->out_length + length) + self->out_length;
    self->out_length += length;
    return at;
}

/* The handshake, or all that has come; false once the peer has hung up. *opened: the handshake ended now. */
static inline bool wire_advance(wire *self, bool *opened) {
    *opened = false;
    if (self->state == WIRE_SHAKING) {
        int code = gnutls_handshake(self->session);
        if (code == GNUTLS_E_AGAIN || code == GNUTLS_E_INTERRUPTED) return true;
        must_tls(code, "handshake");
        self->state = WIRE_OPEN;
        *opened = true;
    }
    wire_flush(self);
    for (;;) {
        room_for(&self->in, &self->in_room, self->in_length + 16384);
        ssize_t came =
            gnutls_record_recv(self->session, self->in + self->in_length, self->in_room - self->in_length);
        if (came == GNUTLS_E_AGAIN) return true;
        if (came == GNUTLS_E_INTERRUPTED || gnutls_error_is_fatal((int)came) == 0) {
            if (came > 0) {
                self->in_length += (size_t)came;
                self->got += (size_t)came;
            } else if (came == 0) {
                return false;
            }
            continue;
        }
        return false;
    }
}

/* Drop so many bytes from the front of what has come. */
static inline void wire_consume(wire *self, size_t length) {
    self->in_length -= length;
    memmove(self->in, self->in + length, self->in_length);
}
