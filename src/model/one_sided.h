/* Whether a model is likely to be no better than one that looks at no column, from its weights, its public
 * schema and what was released beside it: no row is looked at, so that it costs nothing. */
#pragma once

#include "model/model.h"

enum { TACIT_REMARK_SIZE = 512 };

/* Where rows spread evenly over the schema's ranges and levels get scores whose mean is more than three
 * standard deviations from 0, true, and a sentence for people. Linear models of two classes with a schema
 * only; false for all others, and where the schema's features are no linear function of its columns. */
bool tacit_model_one_sided(const tacit_model *model, char out[TACIT_REMARK_SIZE]);

/* Where noise makes more than half of what a model says, true, and a sentence. `share` is 0 where it is not
 * known. */
bool tacit_mostly_noise(double share, char out[TACIT_REMARK_SIZE]);

/* Either of them, of a model: what is to be said of it wherever it ends. */
bool tacit_model_doubtful(const tacit_model *model, char out[TACIT_REMARK_SIZE]);
