/*
 * Memory that lies in a file without a name, for what may be larger than the memory of the machine: the
 * system writes pages out when it needs room, and reads them again. The file is in a folder that the user
 * chose, can be opened by nobody else (0600, and it has no name), and is gone when it is closed or the
 * process ends, however that ends. Its bytes are on that disk as they are.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct tacit_spill {
    void *address; /* NULL: nothing yet */
    size_t bytes;
    int file;     /* one more than its number; 0: it is not open */
    char *folder; /* for messages */
} tacit_spill;

#define TACIT_SPILL_INIT                                                                                     \
    { NULL, 0, 0, NULL }

/* The folder that TACIT_SPILL names; NULL: nothing is to be written. */
const char *tacit_spill_folder(void);

/* How many bytes of rows are held in memory before they go there: TACIT_MEMORY ("4G", "500M"), or half of the
 * machine's memory. TACIT_USAGE for what is no such number. */
tacit_status tacit_spill_limit(uint64_t *out, tacit_error *error);

/* Have at least this many bytes, those from before among them; opens it first. They may lie elsewhere
 * afterwards. TACIT_IO where the disk is full: room is asked for beforehand, so that writing to the memory
 * cannot fail. */
tacit_status tacit_spill_grow(tacit_spill *spill, size_t bytes, tacit_error *error);

/* These bytes are not needed for now: they no longer count as memory of this process, and come back from the
 * file when they are looked at. Whole pages only. */
void tacit_spill_pass_by(const void *begin, size_t bytes);

void tacit_spill_close(tacit_spill *spill);
