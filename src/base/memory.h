/* Allocation with overflow-checked sizes. Zero-filled; NULL on failure or overflow; freed by free(). */
#pragma once

#include <stddef.h>
#include <stdlib.h>

void *tacit_allocate(size_t count, size_t size);

/* Grow `items` to hold `count` elements, keeping what is there; new elements are not initialised.
 * On failure NULL, and `items` stays valid. */
void *tacit_grow(void *items, size_t count, size_t size);

/* Like tacit_allocate, aligned to 64 bytes (a cache line, an AVX-512 vector), not zero-filled. */
void *tacit_allocate_aligned(size_t count, size_t size);

char *tacit_copy_text(const char *text);

/* Type-safe spelling: double *v = TACIT_NEW(double, n); */
#define TACIT_NEW(type, count) ((type *)tacit_allocate((count), sizeof(type)))
