/*
 * Random bits for real releases: ChaCha20 keyed by the operating system, and by nothing else. The type is
 * opaque and nothing here takes a seed or a key, so that nobody can choose, repeat or learn the noise of a
 * release. The key is replaced at every refill (what was drawn cannot be computed from what is left in
 * memory), mixed with new bits of the system after every MiB, and a child process after fork() starts from
 * new ones: parent and child never draw the same numbers.
 *
 * A handle is used by one thread at a time; give each thread its own.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct tacit_entropy tacit_entropy;

/* TACIT_IO when the system gives no random bits. */
tacit_status tacit_entropy_create(tacit_entropy **out, tacit_error *error);
tacit_entropy *tacit_entropy_free(tacit_entropy *entropy);

tacit_status tacit_entropy_bytes(void *out, size_t length, tacit_entropy *entropy, tacit_error *error);

/* Uniform on {0, ..., bound - 1} without bias; bound > 0. */
tacit_status tacit_entropy_below(uint64_t *out, tacit_entropy *entropy, uint64_t bound, tacit_error *error);
