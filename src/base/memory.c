#include "base/memory.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

void *tacit_allocate(size_t count, size_t size) {
    return calloc(count > 0 ? count : 1, size); /* calloc checks count * size */
}

void *tacit_grow(void *items, size_t count, size_t size) {
    if (size != 0 && count > SIZE_MAX / size) return NULL;
    size_t bytes = count * size;
    return realloc(items, bytes > 0 ? bytes : 1);
}

/* Large blocks ask for large pages: the first touch of each small one would cost as much as filling it. */
void *tacit_allocate_aligned(size_t count, size_t size) {
    enum { LINE = 64, PAGE = 2 << 20, LARGE = 4 * PAGE };
    if (size != 0 && count > (SIZE_MAX - PAGE) / size) return NULL;
    size_t bytes = count > 0 && size > 0 ? count * size : LINE, alignment = bytes >= LARGE ? PAGE : LINE;
    bytes = (bytes + alignment - 1) / alignment * alignment; /* aligned_alloc wants a multiple */
    void *block = aligned_alloc(alignment, bytes);
    /* advice: no harm where there are none */
    if (block != NULL && alignment == PAGE) madvise(block, bytes, MADV_HUGEPAGE);
    return block;
}

char *tacit_copy_text(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy != NULL) memcpy(copy, text, size);
    return copy;
}
