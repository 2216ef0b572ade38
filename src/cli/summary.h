/* The table of estimates inside a model, laid out as R's summary(glm). */
#pragma once

#include "api/results.h"
#include "cli/console.h"

/* The model must have estimates. */
void tacit_summary_print(tacit_console *console, const tacit_model *model);
