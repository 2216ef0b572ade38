/* Documents of the dashboard that are made from models (dashboard_result.c). All are new references. */
#pragma once

#include <jansson.h>

#include "study/study.h"

/* What a finished study has found: coefficients or weights, and the guarantee. */
tacit_status dashboard_result(const tacit_buffer *model, const char *name, json_t **out, tacit_error *error);

/* How the model does on the labelled rows of a file: ROC curve, area with DeLong's interval. No points where
 * no file is named, or the model does not tell two classes apart. */
tacit_status dashboard_curve(const char *test, const tacit_buffer *model, const char *name, json_t **out,
                             tacit_error *error);

/* The statistical target of a study, and what each look has found so far; null without one. `ended`: this
 * look too. */
json_t *dashboard_target(const char *folder, const tacit_study *study, bool ended);
