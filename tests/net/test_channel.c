/* One suite, run against every kind of channel. */
#include "link.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const size_t sizes[] = { 1,
                                0,
                                17,
                                TACIT_CHANNEL_CHUNK - 1,
                                TACIT_CHANNEL_CHUNK,
                                TACIT_CHANNEL_CHUNK + 1,
                                3 * TACIT_CHANNEL_CHUNK + 5,
                                8 << 20 };
enum { SIZES = sizeof sizes / sizeof *sizes, LARGEST = 8 << 20 };

typedef struct bench {
    world here;
    link_kind kind;
    tacit_channel *ends[2];
    uint8_t *bytes, *back;
} bench;

static void bench_open(bench *all, void **state) {
    all->kind = *(const link_kind *)*state;
    if (all->kind == LINK_TLS) world_open(&all->here);
    link_open(all->ends, all->kind, &all->here);
    all->bytes = malloc(LARGEST);
    all->back = malloc(LARGEST);
    assert_true(all->bytes != NULL && all->back != NULL);
    for (size_t i = 0; i < LARGEST; i++) all->bytes[i] = (uint8_t)(i * 31 + (i >> 13));
}

static void bench_close(bench *all) {
    tacit_channel_free(all->ends[0]);
    tacit_channel_free(all->ends[1]);
    if (all->kind == LINK_TLS) world_close(&all->here);
    free(all->bytes);
    free(all->back);
}

static tacit_status echo(tacit_channel *channel, tacit_error *error) {
    uint8_t *bytes = malloc(LARGEST);
    tacit_status status = TACIT_OK;
    for (int i = 0; i < SIZES; i++) {
        TACIT_CHECK(tacit_channel_receive(channel, bytes, sizes[i], error));
        TACIT_CHECK(tacit_channel_send(channel, bytes, sizes[i], error));
    }
    TACIT_CHECK(tacit_channel_flush(channel, error));
cleanup:
    free(bytes);
    return status;
}

static void bytes_come_back_whole_and_are_counted(void **state) {
    bench all;
    peer_thread peer;
    tacit_error error = TACIT_ERROR_INIT;
    uint64_t total = 0;
    bench_open(&all, state);
    peer_start(&peer, all.ends[1], echo, false);
    for (int i = 0; i < SIZES; i++) {
        memset(all.back, 0, sizes[i]);
        CHECK_OK(tacit_channel_send(all.ends[0], all.bytes, sizes[i], &error), error);
        CHECK_OK(tacit_channel_receive(all.ends[0], all.back, sizes[i], &error), error);
        assert_memory_equal(all.back, all.bytes, sizes[i]);
        total += sizes[i];
    }
    CHECK_OK(peer_join(&peer), peer.error);
    for (int i = 0; i < 2; i++) {
        tacit_channel_counts counts = tacit_channel_count(all.ends[i]);
        assert_int_equal(counts.sent, total);
        assert_int_equal(counts.received, total);
    }
    /* Seven sizes are not empty; each is one question and one answer. */
    assert_int_equal(tacit_channel_count(all.ends[0]).rounds, 7);
    bench_close(&all);
}

enum { PIECES = 3000, PIECE = 1000 };

static tacit_status send_pieces(tacit_channel *channel, tacit_error *error) {
    for (int i = 0; i < PIECES; i++) {
        uint8_t *at = NULL;
        TACIT_TRY(tacit_channel_space(&at, channel, PIECE, error));
        memset(at, i & 255, PIECE);
        tacit_channel_sent(channel, PIECE);
    }
    return tacit_channel_flush(channel, error);
}

static void pieces_in_place_arrive_in_order(void **state) {
    bench all;
    peer_thread peer;
    tacit_error error = TACIT_ERROR_INIT;
    bench_open(&all, state);
    peer_start(&peer, all.ends[1], send_pieces, false);
    for (int i = 0; i < PIECES; i++) {
        const uint8_t *at = NULL;
        CHECK_OK(tacit_channel_take(&at, all.ends[0], PIECE, &error), error);
        for (int k = 0; k < PIECE; k++) assert_int_equal(at[k], i & 255);
    }
    CHECK_OK(peer_join(&peer), peer.error);
    bench_close(&all);
}

static tacit_status send_a_little(tacit_channel *channel, tacit_error *error) {
    TACIT_TRY(tacit_channel_send(channel, "only this", 9, error));
    return tacit_channel_flush(channel, error);
}

static void a_peer_that_leaves_early_is_an_error_for_good(void **state) {
    bench all;
    peer_thread peer;
    tacit_error error = TACIT_ERROR_INIT;
    bench_open(&all, state);
    peer_start(&peer, all.ends[1], send_a_little, true);
    assert_int_equal(tacit_channel_receive(all.ends[0], all.back, 4 * TACIT_CHANNEL_CHUNK, &error),
                     TACIT_NETWORK);
    assert_true(strlen(error.text) > 0);
    assert_int_equal(peer_join(&peer), TACIT_OK);
    all.ends[1] = NULL;
    assert_int_equal(tacit_channel_receive(all.ends[0], all.back, 1, NULL), TACIT_NETWORK);
    assert_int_equal(tacit_channel_send(all.ends[0], all.bytes, LARGEST, NULL), TACIT_NETWORK);
    assert_int_equal(tacit_channel_flush(all.ends[0], NULL), TACIT_NETWORK);
    bench_close(&all);
}

static void sending_to_a_peer_that_left_fails_and_does_not_hang(void **state) {
    bench all;
    tacit_status status = TACIT_OK;
    bench_open(&all, state);
    all.ends[1] = tacit_channel_free(all.ends[1]);
    for (int i = 0; i < 8 && status == TACIT_OK; i++)
        status = tacit_channel_send(all.ends[0], all.bytes, LARGEST, NULL);
    assert_int_equal(status, TACIT_NETWORK);
    bench_close(&all);
}

/* Kill the peer's process in the middle of a transfer. */
static void a_peer_that_is_killed_is_an_error(void **state) {
    bench all;
    tacit_error error = TACIT_ERROR_INIT;
    bench_open(&all, state);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        for (;;)
            if (tacit_channel_send(all.ends[1], all.bytes, LARGEST, NULL) != TACIT_OK) _exit(0);
    }
    tacit_status status = TACIT_OK;
    CHECK_OK(tacit_channel_receive(all.ends[0], all.back, LARGEST, &error), error);
    assert_memory_equal(all.back, all.bytes, LARGEST);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    all.ends[1] = tacit_channel_free(all.ends[1]); /* this process held the child's end open, too */
    for (int i = 0; i < 8 && status == TACIT_OK; i++)
        status = tacit_channel_receive(all.ends[0], all.back, LARGEST, &error);
    assert_int_equal(status, TACIT_NETWORK);
    bench_close(&all);
}

static void a_silent_peer_is_waited_for_until_the_deadline(void **state) {
    bench all;
    bench_open(&all, state);
    tacit_channel_set_deadline(all.ends[0], from_now(30));
    assert_int_equal(tacit_channel_receive(all.ends[0], all.back, 1, NULL), TACIT_NETWORK);
    bench_close(&all);
}

static void a_peer_that_takes_nothing_is_waited_for_until_the_deadline(void **state) {
    bench all;
    tacit_status status = TACIT_OK;
    bench_open(&all, state);
    tacit_channel_set_deadline(all.ends[0], from_now(100));
    for (int i = 0; i < 8 && status == TACIT_OK; i++)
        status = tacit_channel_send(all.ends[0], all.bytes, LARGEST, NULL);
    assert_int_equal(status, TACIT_NETWORK);
    bench_close(&all);
}

#define SUITE(name, kind)                                                                                    \
    static link_kind name = kind;                                                                            \
    static const struct CMUnitTest name##_tests[] = {                                                        \
        { #name ": bytes come back whole and are counted", bytes_come_back_whole_and_are_counted, NULL,      \
          NULL, &name },                                                                                     \
        { #name ": pieces in place arrive in order", pieces_in_place_arrive_in_order, NULL, NULL, &name },   \
        { #name ": a peer that leaves early is an error for good",                                           \
          a_peer_that_leaves_early_is_an_error_for_good, NULL, NULL, &name },                                \
        { #name ": sending to a peer that left fails and does not hang",                                     \
          sending_to_a_peer_that_left_fails_and_does_not_hang, NULL, NULL, &name },                          \
        { #name ": a peer that is killed is an error", a_peer_that_is_killed_is_an_error, NULL, NULL,        \
          &name },                                                                                           \
        { #name ": a silent peer is waited for until the deadline",                                          \
          a_silent_peer_is_waited_for_until_the_deadline, NULL, NULL, &name },                               \
        { #name ": a peer that takes nothing is waited for until the deadline",                              \
          a_peer_that_takes_nothing_is_waited_for_until_the_deadline, NULL, NULL, &name },                   \
    };

SUITE(memory, LINK_MEMORY)
SUITE(shared, LINK_SHARED)
SUITE(stream, LINK_STREAM)
SUITE(tls, LINK_TLS)

int main(int count, char **argument) {
    if (count != 2) return 2;
    if (strcmp(argument[1], "memory") == 0) return cmocka_run_group_tests(memory_tests, NULL, NULL);
    if (strcmp(argument[1], "shared") == 0) return cmocka_run_group_tests(shared_tests, NULL, NULL);
    if (strcmp(argument[1], "stream") == 0) return cmocka_run_group_tests(stream_tests, NULL, NULL);
    if (strcmp(argument[1], "tls") == 0) return cmocka_run_group_tests(tls_tests, NULL, NULL);
    return 2;
}
