/* An array that grows by one element at a time. */
#pragma once

#include "base/memory.h"

/* Room for an element after `count`: `items` itself where `*capacity` has it, else grown to twice that (to
 * `first` where there is none). On failure NULL, and `items` and `*capacity` stay valid. */
static inline void *tacit_grow_by_one(void *items, size_t count, size_t *capacity, size_t first,
                                      size_t size) {
    if (count < *capacity) return items;
    size_t wider = *capacity > 0 ? 2 * *capacity : first;
    void *grown = tacit_grow(items, wider, size);
    if (grown != NULL) *capacity = wider;
    return grown;
}
