/* What the loaders of the formats share. Not for other folders: they call dataset.h. */
#pragma once

#include "data/dataset.h"
#include "data/source/source.h"

tacit_status tacit_dataset_read_libsvm(tacit_dataset **out, tacit_schema **drafted, tacit_source *source,
                                       const tacit_schema *schema, const tacit_load_options *options,
                                       tacit_error *error);

/* TACIT_USAGE when a label or a positive value was given that is not the schema's. */
tacit_status tacit_schema_check_options(const tacit_schema *schema, const tacit_load_options *options,
                                        tacit_error *error);

/* The classes as numbers, NaN where one is none; and the class of a numeric label: that of the equal number,
 * else the schema's `others` (-1: none). */
void tacit_schema_class_numbers(const tacit_schema *schema, double *out);
int32_t tacit_schema_class_of(const tacit_schema *schema, const double *numbers, double label);
