/* What simulations, experiments over rounds and estimates found, for people and for programs. */
#pragma once

#include "api/document/results.h"
#include "cli/console.h"
#include "lab/reproduce/reproduce.h"

/* One line a method and epsilon. */
tacit_status tacit_runs_print(tacit_console *console, const tacit_run *runs, size_t count, bool lambdas,
                              tacit_error *error);

/* One line a curve: where it ended, and from which round on every node stayed within a distance of the
 * optimum. */
tacit_status tacit_rounds_print(tacit_console *console, const tacit_reproduction *result, tacit_error *error);

/* [{"curve": ..., "rounds": ..., "reached": {...}}, ...]; new reference. */
json_t *tacit_rounds_document(const tacit_reproduction *result);

/* A report's tables and what was promised; and, where `csv` is a path, its values in that file. */
tacit_status tacit_report_show(tacit_console *console, const tacit_model *model, const char *csv,
                               tacit_error *error);

/* Of a model without estimates: its cross-validation. */
tacit_status tacit_validation_print(tacit_console *console, const tacit_model *model, tacit_error *error);

/* The model must have estimates. */
tacit_status tacit_summary_print(tacit_console *console, const tacit_model *model, tacit_error *error);
