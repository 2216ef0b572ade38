/*
 * A channel: two ends, bytes in order, one interface whatever carries them. Protocols of two (oblivious
 * transfer, garbling) are written over it.
 *
 *  - Memory: two threads of one process. Shared memory: two processes of one host and one user. Both are a
 *    ring of 1 MiB each way and a Unix socket that rings the bell: an idle end sleeps, and learns from the
 *    socket that its peer died.
 *  - Stream: any connected stream socket, in the clear. For benchmarks, and for peers on one trusted host;
 *    whoever sees the network reads and changes everything.
 *  - TLS: TLS 1.3 with certificates on both sides from one authority (net/identity.h).
 *
 * Lengths are the caller's: a channel carries no frames, receives exactly what it was asked for and allocates
 * nothing on a peer's word. What is sent is gathered in chunks of TACIT_CHANNEL_CHUNK and leaves when a chunk
 * is full, on flush, and before the end waits for its peer. Two ends that both send much before either
 * receives would wait for each other; the deadline ends that as it ends every wait.
 *
 * A peer that is gone, late or wrong: TACIT_NETWORK (TACIT_PROTOCOL for a ring that makes no sense), and the
 * same from every call after it. An end is used by one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "net/certificate.h"

enum { TACIT_CHANNEL_CHUNK = 256 * 1024 };

typedef struct tacit_channel tacit_channel;

typedef struct tacit_channel_counts {
    uint64_t sent, received; /* bytes of the caller, without what TLS or TCP add */
    uint64_t rounds;         /* how often this end, having sent, came to wait for its peer */
} tacit_channel_counts;

/* ---- making one ---- */

tacit_status tacit_channel_memory_pair(tacit_channel **first, tacit_channel **second, tacit_error *error);

/* Over a connected Unix socket, which the channel owns from here on, also on failure. One end offers the
 * memory; the other checks its size and that it cannot shrink under its feet. Ends at `deadline`, as all
 * waits here: milliseconds of tacit_clock_monotonic_ms, 0 for none. */
tacit_status tacit_channel_shared(tacit_channel **out, int socket, bool offers, int64_t deadline,
                                  tacit_error *error);

/* Over a connected stream socket in the clear, owned from here on, also on failure. */
tacit_status tacit_channel_stream(tacit_channel **out, int socket, tacit_error *error);

typedef struct tacit_channel_tls_settings {
    const char *authority_file;   /* PEM; the only authority that is trusted */
    const char *certificate_file; /* PEM */
    const char *key_file;         /* PEM; refused when others can read it */
    /* the dialling end: name or address the peer's certificate is for; NULL: the answering end */
    const char *host;
    const char *fingerprint; /* the peer's certificate must have this one; NULL: any of the authority */
} tacit_channel_tls_settings;

/* TLS over a connected socket, owned from here on, also on failure. Returns when both ends have accepted each
 * other: the dialling end shows a certificate for clients, the answering end one for servers. Out: `peer`,
 * when not NULL, is who is there; revocation is the caller's to check. */
tacit_status tacit_channel_tls(tacit_channel **out, tacit_certificate_info *peer, int socket,
                               const tacit_channel_tls_settings *settings, int64_t deadline,
                               tacit_error *error);

/* Sends what is gathered if that is possible without waiting, says goodbye, and frees. Accepts NULL. */
tacit_channel *tacit_channel_free(tacit_channel *channel);

/* ---- using it ---- */

/* Every wait from now on ends then: milliseconds of tacit_clock_monotonic_ms; 0 (the beginning) for never. */
void tacit_channel_set_deadline(tacit_channel *channel, int64_t deadline);

tacit_status tacit_channel_send(tacit_channel *channel, const void *bytes, size_t length, tacit_error *error);
tacit_status tacit_channel_flush(tacit_channel *channel, tacit_error *error);

/* Exactly `length` bytes. Sends what is gathered before it waits. */
tacit_status tacit_channel_receive(tacit_channel *channel, void *out, size_t length, tacit_error *error);

/* The same without copying. Write up to `length` <= TACIT_CHANNEL_CHUNK bytes to `at`, then say how many. */
tacit_status tacit_channel_space(uint8_t **at, tacit_channel *channel, size_t length, tacit_error *error);
void tacit_channel_sent(tacit_channel *channel, size_t length);

/* `length` <= TACIT_CHANNEL_CHUNK received bytes, borrowed until the next call. */
tacit_status tacit_channel_take(const uint8_t **at, tacit_channel *channel, size_t length,
                                tacit_error *error);

tacit_channel_counts tacit_channel_count(const tacit_channel *channel);
