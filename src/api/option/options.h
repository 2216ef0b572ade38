/* A program's options as they were set, in order. */
#pragma once

#include "tacit/tacit.h"

typedef struct option_text {
    char *name, *value;
} option_text;

struct tacit_options {
    option_text *items;
    size_t count;
};

/* What every call that may need chance or a hash does first. */
tacit_status tacit_library_start(tacit_error *error);

/* Hand out as much of a structure that begins with its size as there is room for. Its first version had
 * `least` bytes; TACIT_USAGE for less. */
tacit_status tacit_fill_sized(void *out, size_t room, const void *filled, size_t size, size_t least,
                              const char *initialiser, tacit_error *error);
