/*
 * Bytes that do not change and that many hold: what thousands are sent is in memory once. Counted, so that
 * the last to let go frees them; any thread may hold or let go.
 */
#pragma once

#include "base/buffer.h"

typedef struct tacit_shared_bytes tacit_shared_bytes;

/* Takes the buffer's bytes over, and leaves it empty; on failure it is as it was. */
tacit_status tacit_shared_bytes_take(tacit_shared_bytes **out, tacit_buffer *buffer, tacit_error *error);

/* One holder more; returns its argument. NULL is fine in both, and has no bytes. */
tacit_shared_bytes *tacit_shared_bytes_hold(tacit_shared_bytes *shared);
tacit_shared_bytes *tacit_shared_bytes_free(tacit_shared_bytes *shared);

/* Whether there is another holder. */
bool tacit_shared_bytes_is_shared(const tacit_shared_bytes *shared);

/* Borrowed from a holder. */
const uint8_t *tacit_shared_bytes_at(const tacit_shared_bytes *shared);
size_t tacit_shared_bytes_length(const tacit_shared_bytes *shared);
