/* The part of a model file that a stack has: for this folder. */
#pragma once

#include <jansson.h>

#include "model/model.h"

/* NULL when out of memory. */
json_t *tacit_stack_to_json(const tacit_stack *stack, const double *weights);

/* A model with its stack and weights; every length and number is checked (TACIT_INPUT). */
tacit_status tacit_stack_from_json(tacit_model **out, const json_t *object, size_t features,
                                   tacit_error *error);
