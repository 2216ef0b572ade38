/* What is printed of missing values: numbers in a result, and those of an owner's own rows. */
#pragma once

#include "cli/console.h"
#include "data/dataset.h"
#include "model/model.h"

/* Under a table of coefficients: how they were pooled, and how many values were missing. Nothing where the
 * schema says nothing of missing values. */
tacit_status tacit_missing_print(tacit_console *console, const tacit_model *model, tacit_error *error);

/* How many values were missing, with the noise in it, or that it was not counted. */
tacit_status tacit_missing_counts_print(tacit_console *console, const tacit_model *model, tacit_error *error);

/* That it was not counted, where it was not and there was something to count. */
void tacit_missing_uncounted_print(tacit_console *console, const tacit_model *model);

/* To the owner of rows, who alone sees it: "missing    12 rows are left out ...". Nothing where nothing is
 * missing. */
void tacit_missing_note(tacit_console *console, const tacit_schema *schema, const tacit_dataset *rows);
