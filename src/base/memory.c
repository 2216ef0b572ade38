#include "base/memory.h"

#include <stdint.h>
#include <string.h>

void *tacit_allocate(size_t count, size_t size) {
    return calloc(count > 0 ? count : 1, size); /* calloc checks count * size */
}

void *tacit_grow(void *items, size_t count, size_t size) {
    if (size != 0 && count > SIZE_MAX / size) return NULL;
    size_t bytes = count * size;
    return realloc(items, bytes > 0 ? bytes : 1);
}

void *tacit_allocate_aligned(size_t count, size_t size) {
    enum { ALIGNMENT = 64 };
    if (size != 0 && count > (SIZE_MAX - ALIGNMENT) / size) return NULL;
    size_t bytes = count * size;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; /* aligned_alloc wants a multiple */
    return aligned_alloc(ALIGNMENT, bytes > 0 ? bytes : ALIGNMENT);
}

char *tacit_copy_text(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy != NULL) memcpy(copy, text, size);
    return copy;
}
