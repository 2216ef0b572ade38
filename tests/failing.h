/*
 * Make the Nth allocation fail, and count the bytes. A test program that includes this (in one file) is
 * linked with failing_link_args of tests/meson.build, which send its allocations, but not those inside shared
 * libraries, through here:
 *
 *     for (long at = 1; failed; at++) {
 *         fail_allocation(at);
 *         status = call_under_test(...);
 *         failed = allocation_failed();
 *         ... TACIT_NO_MEMORY when failed, else TACIT_OK; nothing leaks (the address sanitizer looks)
 *     }
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_long allocations_until_failure; /* 0 and below: none fails */
static atomic_bool allocation_did_fail;
static atomic_size_t bytes_asked_for;

/* Is this allocation the one? Also for allocators that libraries take by function pointer. */
static inline bool allocation_due(void) {
    if (atomic_load(&allocations_until_failure) <= 0) return false;
    if (atomic_fetch_sub(&allocations_until_failure, 1) != 1) return false;
    atomic_store(&allocation_did_fail, true);
    return true;
}

/* The `at`th allocation from now on, counted from 1, fails; those after it succeed. */
static inline void fail_allocation(long at) {
    atomic_store(&allocation_did_fail, false);
    atomic_store(&allocations_until_failure, at);
}

/* Whether the failure came to pass; no more are due. */
static inline bool allocation_failed(void) {
    atomic_store(&allocations_until_failure, 0);
    return atomic_load(&allocation_did_fail);
}

/* All that was ever allocated, freed or not. */
static inline size_t bytes_allocated(void) { return atomic_load(&bytes_asked_for); }

static inline bool refuse(size_t bytes) {
    atomic_fetch_add(&bytes_asked_for, bytes);
    return allocation_due();
}

/* The names are the linker's: --wrap=malloc sends malloc to __wrap_malloc. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size) { return refuse(size) ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) {
    return refuse(count * size) ? NULL : __real_calloc(count, size);
}
void *__wrap_realloc(void *block, size_t size) { return refuse(size) ? NULL : __real_realloc(block, size); }
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return refuse(size) ? NULL : __real_aligned_alloc(alignment, size);
}
