/*
 * A schema for the next study from what a description has released: bounds about where the values are, mean
 * and sd to standardise by, rare levels joined. All of it is post-processing of the report, so a private
 * report gives a schema that may be used like any public one; one from exact numbers carries the mark `from:
 * rows`.
 */
#pragma once

#include "model/model.h"

/* From a model with a report of kind "describe" and a schema. `comment` receives lines for the top of the
 * file that name the release. TACIT_USAGE for any other model. */
tacit_status tacit_schema_propose(tacit_schema **out, const tacit_model *model, tacit_buffer *comment,
                                  tacit_error *error);
