/* Two ends of a channel of each kind, and a peer that runs beside the test. */
#pragma once

#include <pthread.h>

#include "net/channel.h"
#include "world.h"

typedef enum link_kind { LINK_MEMORY, LINK_SHARED, LINK_STREAM, LINK_TLS, LINK_KINDS } link_kind;

enum { LINK_PATIENCE_MS = 20000 };

/* Milliseconds from now as a deadline. */
int64_t from_now(int64_t milliseconds);

/* Connected sockets: Unix sockets for shared memory, else TCP on the loopback. */
void sockets_open(int ends[2], link_kind kind);

/* Both ends, with a deadline that no healthy test reaches. `where` may be NULL unless the kind is TLS. */
void link_open(tacit_channel *ends[2], link_kind kind, const world *where);

/* A peer in a thread of its own. It must not assert: it returns a status. */
typedef tacit_status peer_part(tacit_channel *channel, tacit_error *error);
typedef struct peer_thread {
    pthread_t thread;
    tacit_channel *channel;
    peer_part *part;
    bool closes; /* frees its end when done, as a process that ends */
    tacit_status status;
    tacit_error error;
} peer_thread;

void peer_start(peer_thread *peer, tacit_channel *channel, peer_part *part, bool closes);
tacit_status peer_join(peer_thread *peer);
