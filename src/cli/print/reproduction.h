/* What an experiment of a paper gave when it was run again, for people and for programs. */
#pragma once

#include "cli/console.h"
#include "lab/reproduce/reproduce.h"

/* The table with the printed numbers, what the paper says, where ours differs, and the verdicts. */
tacit_status tacit_reproduction_print(tacit_console *console, const tacit_reproduction *result,
                                      const tacit_reproduce_options *options, tacit_error *error);

/* The same as a new reference. */
json_t *tacit_reproduction_document(const tacit_reproduction *result, const tacit_reproduce_options *options);
