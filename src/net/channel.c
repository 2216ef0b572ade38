#include "net/channel.h"

#include <assert.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "net/channel_parts.h"
#include "net/clock.h"

tacit_status tacit_channel_start(tacit_channel *channel, const tacit_channel_kind *kind, int socket,
                                 tacit_error *error) {
    channel->kind = kind;
    channel->socket = socket;
    int flags = fcntl(socket, F_GETFL);
    if (flags < 0 || fcntl(socket, F_SETFL, flags | O_NONBLOCK) != 0 ||
        fcntl(socket, F_SETFD, FD_CLOEXEC) != 0)
        return tacit_fail_errno(error, "preparing", "a channel's socket");
    channel->out = tacit_allocate_aligned(TACIT_CHANNEL_CHUNK, 1);
    channel->in = tacit_allocate_aligned(TACIT_CHANNEL_CHUNK, 1);
    return channel->out == NULL || channel->in == NULL ? tacit_fail_memory(error) : TACIT_OK;
}

tacit_channel *tacit_channel_free(tacit_channel *channel) {
    if (channel == NULL) return NULL;
    bool goodbye = channel->failed == TACIT_OK;
    channel->deadline = tacit_clock_monotonic_ms(); /* no more waiting */
    if (goodbye && channel->out_used > 0) goodbye = tacit_channel_flush(channel, NULL) == TACIT_OK;
    channel->kind->close(channel, goodbye);
    if (channel->socket >= 0) close(channel->socket);
    /* Labels and inputs went through these. */
    if (channel->out != NULL) sodium_memzero(channel->out, TACIT_CHANNEL_CHUNK);
    if (channel->in != NULL) sodium_memzero(channel->in, TACIT_CHANNEL_CHUNK);
    free(channel->out);
    free(channel->in);
    free(channel);
    return NULL;
}

void tacit_channel_set_deadline(tacit_channel *channel, int64_t deadline) { channel->deadline = deadline; }

tacit_channel_counts tacit_channel_count(const tacit_channel *channel) { return channel->counts; }

tacit_status tacit_channel_peer_gone(tacit_error *error) {
    return tacit_fail(error, TACIT_NETWORK, "the peer closed the channel before the protocol was done");
}

static tacit_status check_whole(const tacit_channel *channel, tacit_error *error) {
    if (channel->failed == TACIT_OK) return TACIT_OK;
    return tacit_fail(error, channel->failed, "the channel has failed before; start the protocol again");
}

static tacit_status write_all(tacit_channel *channel, const uint8_t *bytes, size_t length,
                              tacit_error *error) {
    TACIT_TRY(check_whole(channel, error));
    channel->failed = channel->kind->write(channel, bytes, length, error);
    return channel->failed;
}

static tacit_status read_some(size_t *got, tacit_channel *channel, uint8_t *out, size_t most,
                              tacit_error *error) {
    TACIT_TRY(tacit_channel_flush(channel, error));
    if (channel->sent_since) channel->counts.rounds++;
    channel->sent_since = false;
    TACIT_TRY(check_whole(channel, error));
    channel->failed = channel->kind->read(got, channel, out, most, error);
    return channel->failed;
}

tacit_status tacit_channel_flush(tacit_channel *channel, tacit_error *error) {
    if (channel->out_used == 0) return check_whole(channel, error);
    size_t length = channel->out_used;
    channel->out_used = 0;
    return write_all(channel, channel->out, length, error);
}

tacit_status tacit_channel_space(uint8_t **at, tacit_channel *channel, size_t length, tacit_error *error) {
    assert(length <= TACIT_CHANNEL_CHUNK);
    if (length > TACIT_CHANNEL_CHUNK - channel->out_used) TACIT_TRY(tacit_channel_flush(channel, error));
    TACIT_TRY(check_whole(channel, error));
    *at = channel->out + channel->out_used;
    return TACIT_OK;
}

void tacit_channel_sent(tacit_channel *channel, size_t length) {
    assert(length <= TACIT_CHANNEL_CHUNK - channel->out_used);
    channel->out_used += length;
    channel->counts.sent += length;
    channel->sent_since |= length > 0;
}

tacit_status tacit_channel_send(tacit_channel *channel, const void *bytes, size_t length,
                                tacit_error *error) {
    if (length >= TACIT_CHANNEL_CHUNK) {
        TACIT_TRY(tacit_channel_flush(channel, error));
        channel->counts.sent += length;
        channel->sent_since = true;
        return write_all(channel, bytes, length, error);
    }
    uint8_t *at = NULL;
    TACIT_TRY(tacit_channel_space(&at, channel, length, error));
    if (length > 0) memcpy(at, bytes, length);
    tacit_channel_sent(channel, length);
    return TACIT_OK;
}

/* Have at least `length` bytes in one piece at in + in_at. */
static tacit_status gather(tacit_channel *channel, size_t length, tacit_error *error) {
    size_t have = channel->in_end - channel->in_at;
    if (have >= length) return TACIT_OK;
    if (have > 0) memmove(channel->in, channel->in + channel->in_at, have);
    channel->in_at = 0;
    channel->in_end = have;
    while (channel->in_end < length) {
        size_t got = 0;
        TACIT_TRY(read_some(&got, channel, channel->in + channel->in_end,
                            TACIT_CHANNEL_CHUNK - channel->in_end, error));
        channel->in_end += got;
    }
    return TACIT_OK;
}

tacit_status tacit_channel_take(const uint8_t **at, tacit_channel *channel, size_t length,
                                tacit_error *error) {
    assert(length <= TACIT_CHANNEL_CHUNK);
    TACIT_TRY(gather(channel, length, error));
    *at = channel->in + channel->in_at;
    channel->in_at += length;
    channel->counts.received += length;
    return TACIT_OK;
}

tacit_status tacit_channel_receive(tacit_channel *channel, void *out, size_t length, tacit_error *error) {
    uint8_t *to = out;
    size_t left = length, have = channel->in_end - channel->in_at;
    if (have > left) have = left;
    if (have > 0) memcpy(to, channel->in + channel->in_at, have);
    channel->in_at += have;
    to += have;
    left -= have;
    /* What is large goes to its place at once. */
    while (left >= TACIT_CHANNEL_CHUNK) {
        size_t got = 0;
        TACIT_TRY(read_some(&got, channel, to, left, error));
        to += got;
        left -= got;
    }
    if (left > 0) {
        TACIT_TRY(gather(channel, left, error));
        memcpy(to, channel->in + channel->in_at, left);
        channel->in_at += left;
    }
    channel->counts.received += length;
    return TACIT_OK;
}
