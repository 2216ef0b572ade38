/* What commands that read a table of rows share, and those that use a model on one. */
#pragma once

#include "api/option/arguments.h"
#include "api/option/row_options.h"
#include "cli/console.h"
#include "data/source/libsvm.h"
#include "model/model.h"

/* Open the rows that a command names. */
tacit_status tacit_reading_open(tacit_source **out, const char *name, const tacit_load_options *options,
                                tacit_error *error);

/* Which column of a table is the label: the one named, or the last. */
tacit_status tacit_reading_label(size_t *out, const tacit_table *table, const tacit_load_options *options,
                                 tacit_error *error);

/* `one` for 1, else `many`. */
const char *tacit_plural(uint64_t count, const char *one, const char *many);

typedef struct tacit_model_use {
    tacit_model *model;
    tacit_dataset *rows; /* encoded by the model's own schema */
} tacit_model_use;

#define TACIT_MODEL_USE_INIT                                                                                 \
    { NULL, NULL }

/* Load the operands MODEL and FILE. TACIT_INPUT for a model that does not say how rows are encoded. */
tacit_status tacit_model_use_load(tacit_model_use *out, const tacit_arguments *arguments,
                                  tacit_console *console, bool label_optional, tacit_error *error);
void tacit_model_use_clear(tacit_model_use *use);
