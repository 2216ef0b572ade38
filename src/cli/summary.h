/* The table of estimates inside a model, laid out as R's summary(glm), and as a document. */
#pragma once

#include "cli/console.h"
#include "model/model.h"

/* The model must have estimates. */
void tacit_summary_print(tacit_console *console, const tacit_model *model);
json_t *tacit_summary_document(const tacit_model *model); /* new reference; NULL: out of memory */
