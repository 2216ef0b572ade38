/* Simulated parties that draw as real ones do: noise of the operating system, and a place to keep what is
 * drawn once in a run. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/local/local_parts.h"

/* One record a party: there is one thing that parties keep (persistent_noise.c). */
static tacit_status read_kept(void *context, const char *name, bool *found, tacit_buffer *out,
                              tacit_error *error) {
    const tacit_buffer *kept = context;
    (void)name;
    *found = kept->length > 0;
    return tacit_buffer_append(out, kept->bytes, kept->length, error);
}

static tacit_status write_kept(void *context, const char *name, const uint8_t *bytes, size_t length,
                               tacit_error *error) {
    tacit_buffer *kept = context;
    (void)name;
    tacit_buffer_clear(kept);
    return tacit_buffer_append(kept, bytes, length, error);
}

void tacit_local_forget_exact(tacit_local *local) {
    for (size_t k = 0; local->kept != NULL && k < local->own; k++) tacit_buffer_clear(&local->kept[k]);
}

static tacit_status make_room(tacit_local *local, tacit_error *error) {
    if (local->keeps == NULL) local->keeps = TACIT_NEW(tacit_keep, local->own);
    if (local->kept == NULL) local->kept = TACIT_NEW(tacit_buffer, local->own);
    if (local->keeps == NULL || local->kept == NULL) return tacit_fail_memory(error);
    for (size_t k = 0; k < local->own; k++) {
        local->kept[k] = (tacit_buffer)TACIT_BUFFER_INIT;
        local->keeps[k] = (tacit_keep){ read_kept, write_kept, &local->kept[k] };
    }
    return tacit_entropy_create(&local->entropy, error);
}

tacit_status tacit_local_draw_exactly(tacit_local *local, bool exactly, tacit_error *error) {
    if (exactly && local->entropy == NULL) TACIT_TRY(make_room(local, error));
    local->exactly = exactly;
    return TACIT_OK;
}
