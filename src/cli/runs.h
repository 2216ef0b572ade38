/* What a simulation found, for people. */
#pragma once

#include "api/results.h"
#include "cli/console.h"

/* One line a method and epsilon. */
tacit_status tacit_runs_print(tacit_console *console, const tacit_run *runs, size_t count, bool lambdas,
                              tacit_error *error);
