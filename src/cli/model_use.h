/* What commands that use a model on a file share. */
#pragma once

#include "api/arguments.h"
#include "cli/console.h"
#include "model/model.h"

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
