/* What commands that draw random numbers, on several processors, share. */
#pragma once

#include "api/option/arguments.h"

/* As given, or drawn: a number that survives being read as a double, which is how JSON is often read. */
uint64_t tacit_run_options_seed(const tacit_arguments *arguments);

/* As given, or 0 for all. */
unsigned tacit_run_options_threads(const tacit_arguments *arguments);
