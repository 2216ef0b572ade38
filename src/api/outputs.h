/* What a model says of a row, from its scores. */
#pragma once

#include "model/model.h"
#include "tacit/tacit.h"

/* tacit_model_outputs numbers: the probability of each class or, where there are none, the score. */
void tacit_outputs_of(const tacit_model *model, const double *scores, double *out);
