/* What a kind of channel gives to channel.c, and the waiting that kinds share. */
#pragma once

#include "net/channel.h"

typedef struct tacit_channel_kind {
    /* All of `bytes`, waiting as long as the deadline allows. */
    tacit_status (*write)(tacit_channel *channel, const uint8_t *bytes, size_t length, tacit_error *error);
    /* At least one byte and at most `most`. */
    tacit_status (*read)(size_t *got, tacit_channel *channel, uint8_t *out, size_t most, tacit_error *error);
    /* Release what the kind holds; also of a half-built channel. `goodbye`: nothing has failed so far. */
    void (*close)(tacit_channel *channel, bool goodbye);
} tacit_channel_kind;

struct tacit_channel {
    const tacit_channel_kind *kind;
    int socket;
    int64_t deadline;
    tacit_status failed; /* TACIT_OK, or how the channel broke */
    bool sent_since;     /* since this end last waited for its peer */
    tacit_channel_counts counts;
    uint8_t *out; /* gathered, TACIT_CHANNEL_CHUNK */
    size_t out_used;
    uint8_t *in; /* received, TACIT_CHANNEL_CHUNK; [in_at, in_end) is not yet taken */
    size_t in_at, in_end;
};

/* Fill in the common part of a kind's own structure; the socket belongs to the channel, also on failure. */
tacit_status tacit_channel_start(tacit_channel *channel, const tacit_channel_kind *kind, int socket,
                                 tacit_error *error);

/* Wait until `socket` is ready for `events` (POLLIN, POLLOUT). TACIT_NETWORK at the deadline; a peer that
 * hung up counts as ready, and shows when reading or writing. */
tacit_status tacit_channel_wait(int socket, short events, int64_t deadline, tacit_error *error);

/* On a non-blocking socket, waiting as needed: all bytes; at least one byte. */
tacit_status tacit_channel_socket_write(int socket, const uint8_t *bytes, size_t length, int64_t deadline,
                                        tacit_error *error);
tacit_status tacit_channel_socket_read(size_t *got, int socket, uint8_t *out, size_t most, int64_t deadline,
                                       tacit_error *error);

tacit_status tacit_channel_peer_gone(tacit_error *error);
