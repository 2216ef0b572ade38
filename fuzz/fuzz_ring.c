/* Shared memory whose other end is a hostile process: it moves its positions to anywhere and rings bells,
 * between the calls of the honest end, which comes to an end and touches nothing outside the ring. Two bytes
 * an action. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/clock.h"
#include "outside.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* The memory that the honest end has offered. */
static uint64_t *take_memory(int socket, size_t *size) {
    union {
        struct cmsghdr header;
        uint8_t bytes[CMSG_SPACE(sizeof(int))];
    } note;
    uint8_t greeting;
    struct iovec part = { &greeting, 1 };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = note.bytes, .msg_controllen = sizeof note.bytes
    };
    struct stat about;
    int memory = -1;
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) abort();
    memcpy(&memory, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof memory);
    if (fstat(memory, &about) != 0) abort();
    *size = (size_t)about.st_size;
    void *map = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    close(memory);
    if (map == MAP_FAILED) abort();
    return map;
}

/* The four positions and the four notes of who sleeps lie in the first lines of 64 bytes. */
static void interfere(uint64_t *map, int socket, unsigned action, unsigned value) {
    uint64_t *word = &map[(action & 7) * 8];
    switch (action >> 3 & 3) {
    case 0: atomic_store((_Atomic uint64_t *)word, value); break;
    case 1: atomic_fetch_add((_Atomic uint64_t *)word, (uint64_t)value << (action >> 5 << 3)); break;
    case 2: atomic_store((_Atomic uint64_t *)word, UINT64_MAX - value); break;
    default: (void)!send(socket, "bell", value % 5, MSG_NOSIGNAL | MSG_DONTWAIT); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static uint8_t piece[4096];
    tacit_channel *channel = NULL;
    tacit_status status = TACIT_OK;
    tacit_error error = TACIT_ERROR_INIT;
    int sockets[2];
    size_t size;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) abort();
    outside_must(tacit_channel_shared(&channel, sockets[0], true, 0, NULL));
    uint64_t *map = take_memory(sockets[1], &size);
    for (size_t i = 0; i + 1 < length && status == TACIT_OK; i += 2) {
        interfere(map, sockets[1], bytes[i], bytes[i + 1]);
        tacit_channel_set_deadline(channel, tacit_clock_monotonic_ms()); /* it waits for nothing */
        status = bytes[i] & 0x80 ? tacit_channel_send(channel, piece, bytes[i + 1] * 16u, &error)
                                 : tacit_channel_receive(channel, piece, bytes[i + 1] * 16u, &error);
        if (status == TACIT_OK && bytes[i] & 0x80) status = tacit_channel_flush(channel, &error);
        outside_explained(status, &error);
    }
    tacit_channel_free(channel);
    munmap(map, size);
    close(sockets[1]);
    return 0;
}
