/* Documents of the dashboard: made from models (dashboard_result.c), and of who takes part
 * (dashboard_parties.c). All are new references. */
#pragma once

#include <jansson.h>

#include "coordinator/coordinator_parts.h"
#include "study/study.h"

/* The parties of a study and who is invited by name: {parties: [...], more}. */
tacit_status dashboard_parties(coordinator *self, const char *study, json_t **out, tacit_error *error);

/* How far a study is, {stage, done, total}; null where no total is known. */
json_t *dashboard_progress(coordinator *self, hosted *host);

/* What a finished study has found: coefficients or weights, and the guarantee. */
tacit_status dashboard_result(const tacit_buffer *model, const char *name, json_t **out, tacit_error *error);

/* How the model does on the labelled rows of a file: ROC curve, area with DeLong's interval. No points where
 * no file is named, or the model does not tell two classes apart. */
tacit_status dashboard_curve(const char *test, const tacit_buffer *model, const char *name, json_t **out,
                             tacit_error *error);

/* The statistical target of a study, and what each look has found so far; null without one. `ended`: this
 * look too. */
json_t *dashboard_target(const char *folder, const tacit_study *study, bool ended);
