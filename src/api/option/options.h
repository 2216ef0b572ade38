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
