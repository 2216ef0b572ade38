/* Two parties in two threads over a channel in memory, each with a stream of its own. */
#pragma once

#include <pthread.h>

#include "check.h"
#include "net/channel.h"
#include "net/clock.h"
#include "rand/stream.h"

enum { PAIR_PATIENCE_MS = 20000 };

/* A party's part; it must not assert. */
typedef tacit_status pair_part(tacit_channel *channel, tacit_stream *stream, void *context,
                               tacit_error *error);

typedef struct pair_thread {
    pair_part *part;
    tacit_channel *channel;
    tacit_stream stream;
    void *context;
    tacit_status status;
    tacit_error error;
} pair_thread;

static inline void *pair_main(void *argument) {
    pair_thread *self = argument;
    self->status = self->part(self->channel, &self->stream, self->context, &self->error);
    self->channel = tacit_channel_free(self->channel); /* a party that is done is gone */
    return NULL;
}

/* Run both; their statuses and errors are in `both`. */
static inline void pair_run(pair_thread both[2]) {
    tacit_error error = TACIT_ERROR_INIT;
    pthread_t thread;
    CHECK_OK(tacit_channel_memory_pair(&both[0].channel, &both[1].channel, &error), error);
    for (int i = 0; i < 2; i++)
        tacit_channel_set_deadline(both[i].channel, tacit_clock_monotonic_ms() + PAIR_PATIENCE_MS);
    assert_int_equal(pthread_create(&thread, NULL, pair_main, &both[1]), 0);
    pair_main(&both[0]);
    pthread_join(thread, NULL);
}

/* Both must succeed. */
static inline void pair_must(pair_thread both[2]) {
    pair_run(both);
    CHECK_OK(both[0].status, both[0].error);
    CHECK_OK(both[1].status, both[1].error);
}

/* Sends `length` random bytes and leaves; what context points to is the length. */
static inline tacit_status pair_garbage(tacit_channel *channel, tacit_stream *stream, void *context,
                                        tacit_error *error) {
    uint8_t bytes[1000];
    for (size_t left = *(const size_t *)context; left > 0;) {
        size_t part = left < sizeof bytes ? left : sizeof bytes;
        tacit_stream_bytes(stream, bytes, part);
        TACIT_TRY(tacit_channel_send(channel, bytes, part, error));
        left -= part;
    }
    return tacit_channel_flush(channel, error);
}
