/* What the files of estimates.h share. For these only. */
#pragma once

#include "model/report/estimates.h"

/* Sets and counts of missing values, where there are any (estimates_missing.c). */
json_t *estimates_add_missing(json_t *object, const tacit_estimates *estimates);
bool estimates_read_missing(tacit_estimates *out, const json_t *object);
