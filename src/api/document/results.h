/* What was learnt, as documents. All return new references, NULL when out of memory. */
#pragma once

#include "api/document/json_text.h"
#include "lab/simulate.h"
#include "model/model.h"

/* {"runs": [...], "seed": ...} */
json_t *tacit_runs_document(const tacit_run *runs, size_t count, uint64_t seed);

/* All runs of a sweep are over the same rows: is their response a number? */
bool tacit_run_is_numeric(const tacit_run *run);

/* What there is to show of a model in place of a table of estimates: the report that it is, or that of its
 * cross-validation; NULL: none, or there are estimates. */
const tacit_report *tacit_model_shown_report(const tacit_model *model);

/* That report, of a model that has one, with its guarantee. */
json_t *tacit_report_document(const tacit_model *model);

/* The table of estimates inside a model, which must have one. */
json_t *tacit_summary_document(const tacit_model *model);

/* Odds or rate ratios of a table of estimates, null where it has none; its measures of fit; and a test of two
 * tables. */
json_t *tacit_ratios_document(const tacit_estimates *estimates);
json_t *tacit_measures_document(const tacit_estimates *estimates);
json_t *tacit_comparison_document(const tacit_comparison *made, const tacit_estimates *first,
                                  const tacit_estimates *second);

json_t *tacit_guarantee_document(const tacit_guarantee *guarantee);
