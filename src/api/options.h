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
