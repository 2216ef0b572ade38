/*
 * Connected sockets for channels. Deadlines are milliseconds of tacit_clock_monotonic_ms; 0 for none. What is
 * returned is closed with close(), unless a channel takes it.
 */
#pragma once

#include <stdint.h>

#include "base/error.h"

/* Listen for TCP on a numeric address; port 0 picks a free one. Out: the socket and its port. */
tacit_status tacit_socket_listen(int *out, uint16_t *port, const char *address, uint16_t wanted,
                                 tacit_error *error);
tacit_status tacit_socket_connect(int *out, const char *host, uint16_t port, int64_t deadline,
                                  tacit_error *error);

/* The same for two processes of one host: a socket file that its owner alone may use. A file that is there is
 * not replaced; remove it with unlink(). */
tacit_status tacit_socket_listen_local(int *out, const char *path, tacit_error *error);
tacit_status tacit_socket_connect_local(int *out, const char *path, tacit_error *error);

/* The next one who dials. */
tacit_status tacit_socket_accept(int *out, int listener, int64_t deadline, tacit_error *error);
