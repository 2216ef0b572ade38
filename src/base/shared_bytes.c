#include "base/shared_bytes.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"

struct tacit_shared_bytes {
    atomic_size_t holders;
    tacit_buffer buffer;
};

tacit_status tacit_shared_bytes_take(tacit_shared_bytes **out, tacit_buffer *buffer, tacit_error *error) {
    tacit_shared_bytes *shared = TACIT_NEW(tacit_shared_bytes, 1);
    if (shared == NULL) return tacit_fail_memory(error);
    atomic_init(&shared->holders, 1);
    shared->buffer = *buffer;
    *buffer = (tacit_buffer)TACIT_BUFFER_INIT;
    *out = shared;
    return TACIT_OK;
}

tacit_shared_bytes *tacit_shared_bytes_hold(tacit_shared_bytes *shared) {
    if (shared != NULL) atomic_fetch_add(&shared->holders, 1);
    return shared;
}

tacit_shared_bytes *tacit_shared_bytes_free(tacit_shared_bytes *shared) {
    if (shared == NULL || atomic_fetch_sub(&shared->holders, 1) != 1) return NULL;
    tacit_buffer_clear(&shared->buffer);
    free(shared);
    return NULL;
}

bool tacit_shared_bytes_is_shared(const tacit_shared_bytes *shared) {
    return shared != NULL && atomic_load(&shared->holders) > 1;
}

const uint8_t *tacit_shared_bytes_at(const tacit_shared_bytes *shared) {
    return shared != NULL ? shared->buffer.bytes : NULL;
}

size_t tacit_shared_bytes_length(const tacit_shared_bytes *shared) {
    return shared != NULL ? shared->buffer.length : 0;
}
