/* The rows of several files as one data set: what sites would have together. */
#pragma once

#include "data/dataset.h"

/* Rows of `parts`, in their order; all were encoded by `schema`. `site` (may be NULL) receives of which part
 * each row is, for the caller to free. The same person's name in two parts is two persons. */
tacit_status tacit_dataset_concatenate(tacit_dataset **out, int32_t **site, tacit_dataset *const *parts,
                                       size_t count, const tacit_schema *schema, tacit_error *error);
