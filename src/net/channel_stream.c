/* Bytes over a stream socket in the clear, and the waiting that the other kinds share. */
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "net/channel_parts.h"
#include "net/clock.h"

tacit_status tacit_channel_wait(int socket, short events, int64_t deadline, tacit_error *error) {
    struct pollfd ready = { .fd = socket, .events = events };
    for (;;) {
        int64_t left = deadline == 0 ? -1 : deadline - tacit_clock_monotonic_ms();
        /* Also when something came just now: a peer that trickles must not stretch the time. */
        if (deadline != 0 && left <= 0)
            return tacit_fail(error, TACIT_NETWORK, "the peer did not answer before the deadline");
        int found = poll(&ready, 1, left > INT_MAX ? INT_MAX : (int)left);
        if (found > 0) return TACIT_OK;
        if (found < 0 && errno != EINTR) return tacit_fail_errno(error, "waiting for", "the peer");
    }
}

static tacit_status gone(tacit_error *error) {
    if (errno == EPIPE || errno == ECONNRESET) return tacit_channel_peer_gone(error);
    return tacit_fail(error, TACIT_NETWORK, "the connection to the peer was lost (error %d)", errno);
}

tacit_status tacit_channel_socket_write(int socket, const uint8_t *bytes, size_t length, int64_t deadline,
                                        tacit_error *error) {
    while (length > 0) {
        ssize_t done = send(socket, bytes, length, MSG_NOSIGNAL);
        if (done > 0) {
            bytes += done;
            length -= (size_t)done;
        } else if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            TACIT_TRY(tacit_channel_wait(socket, POLLOUT, deadline, error));
        } else if (done < 0 && errno != EINTR) {
            return gone(error);
        }
    }
    return TACIT_OK;
}

tacit_status tacit_channel_socket_read(size_t *got, int socket, uint8_t *out, size_t most, int64_t deadline,
                                       tacit_error *error) {
    for (;;) {
        ssize_t done = recv(socket, out, most, 0);
        if (done > 0) {
            *got = (size_t)done;
            return TACIT_OK;
        }
        if (done == 0) return tacit_channel_peer_gone(error);
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            TACIT_TRY(tacit_channel_wait(socket, POLLIN, deadline, error));
        else if (errno != EINTR)
            return gone(error);
    }
}

static tacit_status stream_write(tacit_channel *channel, const uint8_t *bytes, size_t length,
                                 tacit_error *error) {
    return tacit_channel_socket_write(channel->socket, bytes, length, channel->deadline, error);
}

static tacit_status stream_read(size_t *got, tacit_channel *channel, uint8_t *out, size_t most,
                                tacit_error *error) {
    return tacit_channel_socket_read(got, channel->socket, out, most, channel->deadline, error);
}

/* Closing the socket, which channel.c does, is all the goodbye there is. */
static void stream_close(tacit_channel *channel, bool goodbye) { (void)channel, (void)goodbye; }

static const tacit_channel_kind stream_kind = { stream_write, stream_read, stream_close };

tacit_status tacit_channel_stream(tacit_channel **out, int socket, tacit_error *error) {
    tacit_channel *channel = TACIT_NEW(tacit_channel, 1);
    if (channel == NULL) {
        close(socket);
        return tacit_fail_memory(error);
    }
    /* Whole chunks leave at once; nothing is gained by the kernel gathering more. Unix sockets have no such
     * option, which is no failure. */
    int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    tacit_status status = tacit_channel_start(channel, &stream_kind, socket, error);
    if (status == TACIT_OK)
        *out = channel;
    else
        tacit_channel_free(channel);
    return status;
}
