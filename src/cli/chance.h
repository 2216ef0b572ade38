/* What commands that draw random numbers, on several processors, share. */
#pragma once

#include "cli/arguments.h"

/* For a command's table of options. */
#define TACIT_OPTION_SEED                                                                                    \
    {                                                                                                        \
        .name = "seed", .kind = TACIT_OPTION_INTEGER, .placeholder = "S", .rules = TACIT_RULE_RANGE,         \
        .least = 0, .most = 9007199254740991,                                                                \
        .help = "all chance follows from it, on any number of threads; drawn and printed unless told"        \
    }
#define TACIT_OPTION_THREADS                                                                                 \
    {                                                                                                        \
        .name = "threads", .kind = TACIT_OPTION_INTEGER, .placeholder = "N", .rules = TACIT_RULE_RANGE,      \
        .least = 1, .most = 1024, .help = "processors to use; all unless told"                               \
    }

/* As given, or drawn: a number that survives being read as a double, which is how JSON is often read. */
uint64_t tacit_chance_seed(const tacit_arguments *arguments);

/* As given, or 0 for all. */
unsigned tacit_chance_threads(const tacit_arguments *arguments);
