/* Of a result: that it does not say how many values were missing, where the schema says what becomes of them,
 * and what would count them. */
#pragma once

#include "model/model.h"

enum { TACIT_UNCOUNTED_SIZE = 240 };

/* One sentence; false, and "", where the counts are in the result or there is nothing to
 * count. */
bool tacit_missing_uncounted(const tacit_model *model, char out[TACIT_UNCOUNTED_SIZE]);
