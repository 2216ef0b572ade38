/* Two parties over sockets, and between them one who passes on what they say, and hashes it. */
#pragma once

#include "pair.h"

#include <poll.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RELAY_TEXT = 33 };

typedef struct relay {
    int sockets[2];
    crypto_generichash_state said[2];
} relay;

static inline bool pass_on(relay *self, int from) {
    static _Thread_local uint8_t bytes[65536];
    ssize_t got = read(self->sockets[from], bytes, sizeof bytes);
    if (got <= 0) return false;
    crypto_generichash_update(&self->said[from], bytes, (size_t)got);
    for (ssize_t done = 0; done < got;) {
        ssize_t part = write(self->sockets[1 - from], bytes + done, (size_t)(got - done));
        if (part <= 0) return false;
        done += part;
    }
    return true;
}

/* Stand between the two, pass on what they say, and hash it. */
static inline void *stand_between(void *argument) {
    relay *self = argument;
    struct pollfd ready[2] = { { .fd = self->sockets[0], .events = POLLIN },
                               { .fd = self->sockets[1], .events = POLLIN } };
    while (ready[0].fd >= 0 || ready[1].fd >= 0) {
        if (poll(ready, 2, PAIR_PATIENCE_MS) <= 0) break;
        for (int i = 0; i < 2; i++)
            if (ready[i].fd >= 0 && ready[i].revents != 0 && !pass_on(self, i)) {
                shutdown(self->sockets[1 - i], SHUT_WR);
                ready[i].fd = -1;
            }
    }
    return NULL;
}

static inline void hash_text(char out[RELAY_TEXT], crypto_generichash_state *state) {
    uint8_t hash[16];
    crypto_generichash_final(state, hash, sizeof hash);
    for (int i = 0; i < 16; i++) snprintf(out + 2 * i, 3, "%02x", hash[i]);
}

/* Both must succeed. Out: the hash of what each said. */
static inline void relay_run(pair_thread both[2], char said[2][RELAY_TEXT]) {
    relay between;
    pthread_t threads[3];
    tacit_error error = TACIT_ERROR_INIT;
    for (int i = 0; i < 2; i++) {
        int ends[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        between.sockets[i] = ends[0];
        crypto_generichash_init(&between.said[i], NULL, 0, 16);
        CHECK_OK(tacit_channel_stream(&both[i].channel, ends[1], &error), error);
        tacit_channel_set_deadline(both[i].channel, tacit_clock_monotonic_ms() + PAIR_PATIENCE_MS);
    }
    assert_int_equal(pthread_create(&threads[2], NULL, stand_between, &between), 0);
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&threads[i], NULL, pair_main, &both[i]), 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(both[i].status, both[i].error);
        close(between.sockets[i]);
        hash_text(said[i], &between.said[i]);
    }
}
