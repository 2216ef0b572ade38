/* What a simulation found, for people and for programs. */
#pragma once

#include "cli/console.h"
#include "lab/simulate.h"

/* One line a method and epsilon. */
tacit_status tacit_runs_print(tacit_console *console, const tacit_run *runs, size_t count, bool lambdas,
                              tacit_error *error);

/* {"runs": [...], "seed": ...}; new reference. */
json_t *tacit_runs_document(const tacit_run *runs, size_t count, uint64_t seed);
