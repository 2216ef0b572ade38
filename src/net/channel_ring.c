/*
 * Memory and shared memory: a ring of bytes each way in memory that both ends map, and a Unix socket as the
 * bell. An end that must wait says so in the ring, looks once more, and sleeps in poll() on the socket; its
 * peer, having moved on, sees the note and sends one byte. A peer that dies closes its socket, which wakes
 * the sleeper with an end of file.
 *
 * The peer may write anything into the map at any time. So an end keeps its own position to itself, copies
 * the peer's once, checks it against what is possible, and works with the copy.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "net/channel_parts.h"

enum {
    RING_BYTES = 1 << 20,  /* fits the second-level cache of one core */
    PIECE_BYTES = 1 << 16, /* announced at a time, so that both ends work at once */
    LOOKS = 64             /* before sleeping */
};

typedef struct ring_way {
    _Alignas(64) _Atomic uint64_t written; /* bytes ever; moved by the writer */
    _Alignas(64) _Atomic uint64_t taken;   /* bytes ever; moved by the reader */
    _Alignas(64) atomic_uint reader_sleeps;
    atomic_uint writer_sleeps;
} ring_way;

typedef struct ring_map {
    ring_way way[2];
    _Alignas(4096) uint8_t bytes[2][RING_BYTES];
} ring_map;

typedef struct ring_channel {
    tacit_channel base;
    ring_map *map;
    unsigned side;           /* writes way[side], reads the other */
    uint64_t written, taken; /* this end's own positions */
} ring_channel;

/* Tell a sleeping peer. A full socket means that it has bells enough; a closed one shows when waiting. */
static void wake_peer(ring_channel *self, atomic_uint *sleeps) {
    if (atomic_exchange(sleeps, 0) == 0) return;
    ssize_t rung;
    do rung = send(self->base.socket, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (rung < 0 && errno == EINTR);
}

/* Sleep until the bell; `gone` when the peer is. */
static tacit_status sleep_until_woken(ring_channel *self, bool *gone, tacit_error *error) {
    uint8_t bells[64];
    TACIT_TRY(tacit_channel_wait(self->base.socket, POLLIN, self->base.deadline, error));
    ssize_t got = recv(self->base.socket, bells, sizeof bells, MSG_DONTWAIT);
    *gone = got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
    return TACIT_OK;
}

/* How much there is: bytes to take, or room to write. */
static tacit_status look(size_t *found, uint64_t ahead, uint64_t behind, bool room, tacit_error *error) {
    uint64_t used = ahead - behind;
    if (used > RING_BYTES)
        return tacit_fail(error, TACIT_PROTOCOL, "the peer's position in shared memory is impossible");
    *found = room ? RING_BYTES - (size_t)used : (size_t)used;
    return TACIT_OK;
}

static tacit_status look_at(size_t *found, ring_channel *self, bool room, tacit_error *error) {
    if (room) return look(found, self->written, atomic_load(&self->map->way[self->side].taken), true, error);
    return look(found, atomic_load(&self->map->way[!self->side].written), self->taken, false, error);
}

static tacit_status wait_for(size_t *found, ring_channel *self, bool room, tacit_error *error) {
    atomic_uint *sleeps =
        room ? &self->map->way[self->side].writer_sleeps : &self->map->way[!self->side].reader_sleeps;
    for (int looks = 0; looks < LOOKS; looks++) {
        TACIT_TRY(look_at(found, self, room, error));
        if (*found > 0) return TACIT_OK;
    }
    for (bool gone = false;;) {
        /* Sequentially consistent: either the peer sees the note, or this end sees the peer's step. */
        atomic_store(sleeps, 1);
        TACIT_TRY(look_at(found, self, room, error));
        if (*found > 0) {
            atomic_store(sleeps, 0);
            return TACIT_OK;
        }
        if (gone) return tacit_channel_peer_gone(error);
        TACIT_TRY(sleep_until_woken(self, &gone, error));
    }
}

static tacit_status ring_write(tacit_channel *channel, const uint8_t *bytes, size_t length,
                               tacit_error *error) {
    ring_channel *self = (ring_channel *)channel;
    ring_way *way = &self->map->way[self->side];
    uint8_t *ring = self->map->bytes[self->side];
    while (length > 0) {
        size_t part = 0, at = self->written % RING_BYTES;
        TACIT_TRY(wait_for(&part, self, true, error));
        if (part > RING_BYTES - at) part = RING_BYTES - at;
        if (part > PIECE_BYTES) part = PIECE_BYTES;
        if (part > length) part = length;
        memcpy(ring + at, bytes, part);
        self->written += part;
        atomic_store(&way->written, self->written);
        wake_peer(self, &way->reader_sleeps);
        bytes += part;
        length -= part;
    }
    return TACIT_OK;
}

static tacit_status ring_read(size_t *got, tacit_channel *channel, uint8_t *out, size_t most,
                              tacit_error *error) {
    ring_channel *self = (ring_channel *)channel;
    ring_way *way = &self->map->way[!self->side];
    size_t part = 0, at = self->taken % RING_BYTES;
    TACIT_TRY(wait_for(&part, self, false, error));
    if (part > RING_BYTES - at) part = RING_BYTES - at;
    if (part > most) part = most;
    memcpy(out, self->map->bytes[!self->side] + at, part);
    self->taken += part;
    atomic_store(&way->taken, self->taken);
    wake_peer(self, &way->writer_sleeps);
    *got = part;
    return TACIT_OK;
}

static void ring_close(tacit_channel *channel, bool goodbye) {
    ring_channel *self = (ring_channel *)channel;
    (void)goodbye; /* what was written stays readable; the closed socket says the rest */
    if (self->map != NULL) munmap(self->map, sizeof *self->map);
}

static const tacit_channel_kind ring_kind = { ring_write, ring_read, ring_close };

/* Owns the socket, also on failure; not the memory. */
static tacit_status ring_open(tacit_channel **out, int memory, int socket, unsigned side,
                              tacit_error *error) {
    ring_channel *self = TACIT_NEW(ring_channel, 1);
    if (self == NULL) {
        close(socket);
        return tacit_fail_memory(error);
    }
    self->side = side;
    tacit_status status = tacit_channel_start(&self->base, &ring_kind, socket, error);
    if (status == TACIT_OK) {
        void *map = mmap(NULL, sizeof *self->map, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
        if (map == MAP_FAILED)
            status = tacit_fail_errno(error, "mapping", "a channel's shared memory");
        else
            self->map = map;
    }
    if (status == TACIT_OK)
        *out = &self->base;
    else
        tacit_channel_free(&self->base);
    return status;
}

/* Memory that no file names and that cannot change its size. */
static tacit_status make_memory(int *out, tacit_error *error) {
    int memory = memfd_create("tacit-channel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0) return tacit_fail_errno(error, "making", "a channel's shared memory");
    if (ftruncate(memory, sizeof(ring_map)) != 0 ||
        fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        tacit_status status = tacit_fail_errno(error, "sizing", "a channel's shared memory");
        close(memory);
        return status;
    }
    *out = memory;
    return TACIT_OK;
}

tacit_status tacit_channel_memory_pair(tacit_channel **first, tacit_channel **second, tacit_error *error) {
    int sockets[2] = { -1, -1 }, memory = -1;
    tacit_channel *one = NULL, *two = NULL;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(make_memory(&memory, error));
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
        sockets[0] = sockets[1] = -1;
        TACIT_CHECK(tacit_fail_errno(error, "making", "a channel's sockets"));
    }
    int mine = sockets[0], yours = sockets[1];
    sockets[0] = -1;
    TACIT_CHECK(ring_open(&one, memory, mine, 0, error));
    sockets[1] = -1;
    TACIT_CHECK(ring_open(&two, memory, yours, 1, error));
    *first = one;
    *second = two;
    one = two = NULL;
cleanup:
    tacit_channel_free(one);
    tacit_channel_free(two);
    for (int i = 0; i < 2; i++)
        if (sockets[i] >= 0) close(sockets[i]);
    if (memory >= 0) close(memory);
    return status;
}

/* ---- handing the memory over ---- */

typedef union descriptor_note {
    struct cmsghdr header;
    uint8_t bytes[CMSG_SPACE(sizeof(int))];
} descriptor_note;

static tacit_status offer_memory(int socket, int memory, int64_t deadline, tacit_error *error) {
    descriptor_note note = { .bytes = { 0 } };
    uint8_t greeting = 1;
    struct iovec part = { &greeting, 1 };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = note.bytes, .msg_controllen = sizeof note.bytes
    };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof memory);
    memcpy(CMSG_DATA(header), &memory, sizeof memory);
    TACIT_TRY(tacit_channel_wait(socket, POLLOUT, deadline, error));
    if (sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) != 1) return tacit_channel_peer_gone(error);
    return TACIT_OK;
}

static tacit_status accept_memory(int *out, int socket, int64_t deadline, tacit_error *error) {
    descriptor_note note = { .bytes = { 0 } };
    uint8_t greeting = 0;
    struct iovec part = { &greeting, 1 };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = note.bytes, .msg_controllen = sizeof note.bytes
    };
    TACIT_TRY(tacit_channel_wait(socket, POLLIN, deadline, error));
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != 1)
        return tacit_channel_peer_gone(error);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header == NULL || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
        header->cmsg_len != CMSG_LEN(sizeof(int)))
        return tacit_fail(error, TACIT_PROTOCOL, "the peer offered no shared memory");
    int memory = -1;
    memcpy(&memory, CMSG_DATA(header), sizeof memory);
    struct stat about;
    int seals = fcntl(memory, F_GET_SEALS);
    if (fstat(memory, &about) != 0 || about.st_size != (off_t)sizeof(ring_map) || seals < 0 ||
        (seals & F_SEAL_SHRINK) == 0) {
        close(memory);
        return tacit_fail(error, TACIT_PROTOCOL,
                          "the peer offered memory of another size, or that it could take away");
    }
    *out = memory;
    return TACIT_OK;
}

static tacit_status check_same_user(int socket, tacit_error *error) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        return tacit_fail_errno(error, "asking who is at", "a channel's socket");
    if (peer.uid == geteuid()) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED, "shared memory is for processes of one user; use TLS instead");
}

tacit_status tacit_channel_shared(tacit_channel **out, int socket, bool offers, int64_t deadline,
                                  tacit_error *error) {
    int memory = -1;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(check_same_user(socket, error));
    if (offers) {
        TACIT_CHECK(make_memory(&memory, error));
        TACIT_CHECK(offer_memory(socket, memory, deadline, error));
    } else {
        TACIT_CHECK(accept_memory(&memory, socket, deadline, error));
    }
    int owned = socket;
    socket = -1;
    TACIT_CHECK(ring_open(out, memory, owned, offers ? 0 : 1, error));
cleanup:
    if (socket >= 0) close(socket);
    if (memory >= 0) close(memory);
    return status;
}
