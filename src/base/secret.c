#include "base/secret.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void tacit_secret_lock(const void *secret, size_t length) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)secret / page * page;
    void *start = (void *)from; // NOLINT: the page that holds it
    size_t size = (uintptr_t)secret + length - from;
    (void)mlock(start, size); /* beyond the limit: as good as it was */
    (void)madvise(start, size, MADV_DONTDUMP);
}
