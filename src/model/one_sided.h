/* Whether a model says the same of nearly everybody, from its weights and its public schema alone: no row is
 * looked at, so that it costs nothing. */
#pragma once

#include "model/model.h"

enum { TACIT_REMARK_SIZE = 512 };

/* Where rows spread evenly over the schema's ranges and levels get scores whose mean is more than three
 * standard deviations from 0, true, and a sentence for people. Linear models of two classes with a schema
 * only; false for all others, and where the schema's features are no linear function of its columns. */
bool tacit_model_one_sided(const tacit_model *model, char out[TACIT_REMARK_SIZE]);
