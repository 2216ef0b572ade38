/* A definition written from a few words: `tacit study draft`, and the study that a notebook begins with. */
#pragma once

#include "api/option/arguments.h"
#include "base/buffer.h"

/* What may be said; the library takes the schema's text too. */
extern const tacit_option tacit_study_draft_options[];

/* Append YAML that names no file, and is a definition: it was read as one. */
tacit_status tacit_draft_print(tacit_buffer *out, const tacit_arguments *arguments, tacit_error *error);
