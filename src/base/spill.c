#include "base/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"

const char *tacit_spill_folder(void) {
    const char *folder = getenv("TACIT_SPILL");
    return folder != NULL && folder[0] != 0 ? folder : NULL;
}

tacit_status tacit_spill_limit(uint64_t *out, tacit_error *error) {
    const char *text = getenv("TACIT_MEMORY");
    if (text == NULL || text[0] == 0) {
        const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
        *out = pages > 0 && size > 0 ? (uint64_t)pages / 2 * (uint64_t)size : UINT64_MAX;
        return TACIT_OK;
    }
    static const char units[] = "kMGT";
    char *end = NULL;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    const char *unit = *end != 0 ? strchr(units, *end) : NULL;
    const unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    const bool digits = text[0] >= '0' && text[0] <= '9' && errno == 0;
    if (!digits || (*end != 0 && (unit == NULL || end[1] != 0)) || number > UINT64_MAX >> shift)
        return tacit_fail(error, TACIT_USAGE, "TACIT_MEMORY is '%.40s': write a size, e.g. 500M or 16G",
                          text);
    *out = number << shift;
    return TACIT_OK;
}

/* A file without a name; on file systems that have none such, one whose name is taken away at once. */
static int open_nameless(const char *folder) {
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
    char path[4096];
    if (snprintf(path, sizeof path, "%s/.tacit-rows-XXXXXX", folder) >= (int)sizeof path) return -1;
    file = mkostemp(path, O_CLOEXEC); /* 0600 */
    if (file >= 0) unlink(path);
    return file;
}

static tacit_status open_file(tacit_spill *spill, tacit_error *error) {
    const char *folder = tacit_spill_folder();
    if (folder == NULL) return tacit_fail(error, TACIT_USAGE, "TACIT_SPILL names no folder");
    spill->folder = tacit_copy_text(folder);
    if (spill->folder == NULL) return tacit_fail_memory(error);
    int file = open_nameless(folder);
    if (file < 0) return tacit_fail_errno(error, "making a file for rows (TACIT_SPILL) in", folder);
    spill->file = file + 1;
    return TACIT_OK;
}

tacit_status tacit_spill_grow(tacit_spill *spill, size_t bytes, tacit_error *error) {
    enum { STEP = 1 << 24 };
    if (bytes <= spill->bytes) return TACIT_OK;
    if (spill->file == 0) TACIT_TRY(open_file(spill, error));
    size_t wanted = spill->bytes + spill->bytes / 8;
    if (wanted < bytes) wanted = bytes;
    if (wanted > SIZE_MAX / 2) return tacit_fail_memory(error);
    wanted = (wanted + STEP - 1) / STEP * STEP;
    int code = posix_fallocate(spill->file - 1, 0, (off_t)wanted);
    if (code != 0) {
        errno = code;
        return tacit_fail_errno(error, "making room for rows (TACIT_SPILL) in", spill->folder);
    }
    void *address = spill->address == NULL
                        ? mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_SHARED, spill->file - 1, 0)
                        : mremap(spill->address, spill->bytes, wanted, MREMAP_MAYMOVE);
    if (address == MAP_FAILED) return tacit_fail_memory(error);
    spill->address = address;
    spill->bytes = wanted;
    return TACIT_OK;
}

/* Of a shared mapping, MADV_DONTNEED forgets where pages are and not what is in them. */
void tacit_spill_pass_by(const void *begin, size_t bytes) {
    const long size = sysconf(_SC_PAGESIZE);
    if (size <= 0) return;
    const uintptr_t page = (uintptr_t)size, first = ((uintptr_t)begin + page - 1) / page * page;
    const uintptr_t end = ((uintptr_t)begin + bytes) / page * page;
    if (end > first) madvise((void *)first, end - first, MADV_DONTNEED);
}

void tacit_spill_close(tacit_spill *spill) {
    if (spill == NULL) return;
    if (spill->address != NULL) munmap(spill->address, spill->bytes);
    if (spill->file > 0) close(spill->file - 1);
    free(spill->folder);
    *spill = (tacit_spill)TACIT_SPILL_INIT;
}
