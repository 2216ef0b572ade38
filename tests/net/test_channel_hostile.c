/* Peers of a channel that do not play by the rules, and allocations that fail. */
#include "link.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "failing.h"
#include "net/socket.h"

enum { MAP_BYTES = 4096 + 2 * (1 << 20) };

static int some_memory(size_t bytes, unsigned seals) {
    int memory = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(memory >= 0);
    assert_int_equal(ftruncate(memory, (off_t)bytes), 0);
    assert_int_equal(fcntl(memory, F_ADD_SEALS, seals), 0);
    return memory;
}

static void offer(int socket, int memory) {
    union {
        struct cmsghdr header;
        uint8_t bytes[CMSG_SPACE(sizeof(int))];
    } note = { .bytes = { 0 } };
    char greeting[] = "x";
    struct iovec part = { greeting, 1 };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    if (memory >= 0) {
        message.msg_control = note.bytes;
        message.msg_controllen = sizeof note.bytes;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof memory);
        memcpy(CMSG_DATA(header), &memory, sizeof memory);
    }
    assert_int_equal(sendmsg(socket, &message, 0), 1);
}

static tacit_status accept_offer(tacit_channel **out, int memory, int *mine) {
    int sockets[2];
    sockets_open(sockets, LINK_SHARED);
    offer(sockets[0], memory);
    *mine = sockets[0];
    return tacit_channel_shared(out, sockets[1], false, from_now(LINK_PATIENCE_MS), NULL);
}

static void memory_that_could_vanish_is_refused(void **state) {
    (void)state;
    tacit_channel *channel = NULL;
    int bad[] = { -1, some_memory(MAP_BYTES, 0), some_memory(4096, F_SEAL_SHRINK),
                  some_memory((size_t)MAP_BYTES * 2, F_SEAL_SHRINK) };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int mine = -1;
        assert_int_equal(accept_offer(&channel, bad[i], &mine), TACIT_PROTOCOL);
        assert_null(channel);
        close(mine);
        if (bad[i] >= 0) close(bad[i]);
    }
}

static void an_impossible_position_is_refused(void **state) {
    (void)state;
    tacit_channel *channel = NULL;
    uint8_t byte;
    int mine = -1, memory = some_memory(MAP_BYTES, F_SEAL_SHRINK);
    uint64_t *map = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    map[0] = UINT64_C(1) << 40; /* this end has written a terabyte */
    assert_int_equal(accept_offer(&channel, memory, &mine), TACIT_OK);
    assert_int_equal(tacit_channel_receive(channel, &byte, 1, NULL), TACIT_PROTOCOL);
    tacit_channel_free(channel);
    munmap(map, MAP_BYTES);
    close(memory);
    close(mine);
}

static void *ring_for_nothing(void *argument) {
    int socket = *(const int *)argument;
    while (send(socket, "x", 1, MSG_NOSIGNAL) == 1) {
    }
    return NULL;
}

/* Bells without bytes wake the sleeper, but do not stretch its deadline. */
static void bells_for_nothing_do_not_stretch_the_deadline(void **state) {
    (void)state;
    tacit_channel *channel = NULL;
    uint8_t byte;
    pthread_t thread;
    int mine = -1, memory = some_memory(MAP_BYTES, F_SEAL_SHRINK);
    assert_int_equal(accept_offer(&channel, memory, &mine), TACIT_OK);
    tacit_channel_set_deadline(channel, from_now(50));
    assert_int_equal(pthread_create(&thread, NULL, ring_for_nothing, &mine), 0);
    assert_int_equal(tacit_channel_receive(channel, &byte, 1, NULL), TACIT_NETWORK);
    tacit_channel_free(channel);
    pthread_join(thread, NULL);
    close(memory);
    close(mine);
}

static void nobody_to_dial_is_an_error(void **state) {
    (void)state;
    int listener = -1, out = -1;
    uint16_t port = 0;
    assert_int_equal(tacit_socket_listen(&listener, &port, "127.0.0.1", 0, NULL), TACIT_OK);
    assert_int_equal(tacit_socket_accept(&out, listener, from_now(20), NULL), TACIT_NETWORK);
    close(listener);
    assert_int_equal(tacit_socket_connect(&out, "127.0.0.1", port, from_now(LINK_PATIENCE_MS), NULL),
                     TACIT_NETWORK);
    assert_int_equal(tacit_socket_connect_local(&out, "/tmp/tacit-no-such-socket", NULL), TACIT_NETWORK);
    char path[300];
    memset(path, 'x', sizeof path);
    path[299] = 0;
    assert_int_equal(tacit_socket_connect_local(&out, path, NULL), TACIT_USAGE);
    assert_int_equal(out, -1);
}

/* ---- TLS ---- */

typedef struct tls_end {
    tacit_channel_tls_settings settings;
    int socket;
    tacit_channel *channel;
    tacit_status status;
    tacit_error error;
} tls_end;

static void *shake(void *argument) {
    tls_end *end = argument;
    end->status = tacit_channel_tls(&end->channel, NULL, end->socket, &end->settings,
                                    from_now(LINK_PATIENCE_MS), &end->error);
    return NULL;
}

/* Both ends must refuse. */
static void expect_refusal(tls_end ends[2]) {
    int sockets[2];
    pthread_t thread;
    sockets_open(sockets, LINK_TLS);
    for (int i = 0; i < 2; i++) ends[i].socket = sockets[i];
    assert_int_equal(pthread_create(&thread, NULL, shake, &ends[1]), 0);
    shake(&ends[0]);
    pthread_join(thread, NULL);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ends[i].status, TACIT_NETWORK);
        assert_null(ends[i].channel);
        assert_true(strlen(ends[i].error.text) > 0);
    }
}

typedef struct cast {
    world here;
    char authority[PATH_MAX], server_certificate[PATH_MAX], server_key[PATH_MAX];
    party known, foreign, expired;
} cast;

static void cast_open(cast *all) {
    world_open(&all->here);
    world_path(all->authority, &all->here, "ca.crt");
    world_path(all->server_certificate, &all->here, "server.crt");
    world_path(all->server_key, &all->here, "server.key");
    tacit_authority *other = world_foreign_authority(&all->here);
    party_join_now(&all->known, &all->here, "known");
    party_join(&all->foreign, &all->here, other, "foreign", validity_now());
    party_join(&all->expired, &all->here, all->here.authority, "expired", validity_past());
    tacit_authority_free(other);
}

static void cast_ends(tls_end ends[2], const cast *all, const party *caller) {
    memset(ends, 0, 2 * sizeof *ends);
    ends[0].settings = (tacit_channel_tls_settings){ .authority_file = all->authority,
                                                     .certificate_file = caller->certificate_file,
                                                     .key_file = caller->key_file,
                                                     .host = "127.0.0.1" };
    ends[1].settings = (tacit_channel_tls_settings){ .authority_file = all->authority,
                                                     .certificate_file = all->server_certificate,
                                                     .key_file = all->server_key };
}

static void strangers_are_refused_at_both_ends(void **state) {
    (void)state;
    cast all;
    tls_end ends[2];
    cast_open(&all);
    const party *strangers[] = { &all.foreign, &all.expired };
    for (int i = 0; i < 2; i++) {
        cast_ends(ends, &all, strangers[i]);
        expect_refusal(ends);
    }
    cast_ends(ends, &all, &all.known); /* the right authority, another party */
    ends[1].settings.fingerprint = all.foreign.info.fingerprint;
    expect_refusal(ends);
    cast_ends(ends, &all, &all.known); /* the server's certificate is for another host */
    ends[0].settings.host = "elsewhere.example";
    expect_refusal(ends);
    cast_ends(ends, &all, &all.known); /* a client's certificate does not make a server */
    ends[1].settings.certificate_file = all.known.certificate_file;
    ends[1].settings.key_file = all.known.key_file;
    expect_refusal(ends);
    world_close(&all.here);
}

static void garbage_instead_of_tls_is_an_error(void **state) {
    (void)state;
    cast all;
    tls_end ends[2];
    int sockets[2];
    cast_open(&all);
    cast_ends(ends, &all, &all.known);
    sockets_open(sockets, LINK_TLS);
    assert_int_equal(send(sockets[0], "GET / HTTP/1.1\r\n\r\n", 18, 0), 18);
    ends[1].socket = sockets[1];
    shake(&ends[1]);
    assert_int_equal(ends[1].status, TACIT_NETWORK);
    close(sockets[0]);
    world_close(&all.here);
}

/* ---- memory ---- */

static tacit_status make_and_use(void) {
    tacit_channel *ends[2] = { NULL, NULL };
    int sockets[2];
    uint8_t byte = 7;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_channel_memory_pair(&ends[0], &ends[1], NULL));
    TACIT_CHECK(tacit_channel_send(ends[0], &byte, 1, NULL));
    TACIT_CHECK(tacit_channel_flush(ends[0], NULL));
    TACIT_CHECK(tacit_channel_receive(ends[1], &byte, 1, NULL));
    tacit_channel_free(ends[0]);
    tacit_channel_free(ends[1]);
    ends[0] = ends[1] = NULL;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return TACIT_INTERNAL;
    status = tacit_channel_stream(&ends[0], sockets[0], NULL);
    if (status == TACIT_OK)
        status = tacit_channel_stream(&ends[1], sockets[1], NULL);
    else
        close(sockets[1]);
cleanup:
    tacit_channel_free(ends[0]);
    tacit_channel_free(ends[1]);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    for (long at = 1; at < 100; at++) {
        fail_allocation(at);
        tacit_status status = make_and_use();
        if (!allocation_failed()) {
            assert_int_equal(status, TACIT_OK);
            assert_true(at > 6);
            return;
        }
        assert_int_equal(status, TACIT_NO_MEMORY);
    }
    fail_msg("never done");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_that_could_vanish_is_refused),
        cmocka_unit_test(an_impossible_position_is_refused),
        cmocka_unit_test(bells_for_nothing_do_not_stretch_the_deadline),
        cmocka_unit_test(nobody_to_dial_is_an_error),
        cmocka_unit_test(strangers_are_refused_at_both_ends),
        cmocka_unit_test(garbage_instead_of_tls_is_an_error),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
