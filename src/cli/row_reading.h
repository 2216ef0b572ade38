/* What commands that read a table of rows share. */
#pragma once

#include "api/row_options.h"
#include "cli/console.h"
#include "data/source/libsvm.h"

/* Open the rows that a command names. */
tacit_status tacit_reading_open(tacit_source **out, const char *name, const tacit_load_options *options,
                                tacit_error *error);

/* Which column of a table is the label: the one named, or the last. */
tacit_status tacit_reading_label(size_t *out, const tacit_table *table, const tacit_load_options *options,
                                 tacit_error *error);

/* `one` for 1, else `many`. */
const char *tacit_plural(uint64_t count, const char *one, const char *many);
