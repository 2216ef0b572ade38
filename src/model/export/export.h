/*
 * A model for programs that know nothing of Tacit: as ONNX (opset 13 and ai.onnx.ml 2, double precision) or
 * as PMML 4.4, with the encoding of raw columns inside and the guarantee as metadata. docs/export.md says
 * what is in the files.
 *
 * The caller gives raw columns: numbers, with NaN (ONNX) or no value (PMML) where one is missing, and
 * categories as texts, "" (ONNX) or no value where one is missing. A text column enters as the counts of its
 * terms, since neither format can express how Tacit parts words; the rows of a sparse schema enter as one
 * tensor (ONNX) or fields x1, x2, ... (PMML), and so do those of a model without a schema, already encoded. A
 * row that the schema refuses (missing: error, strict: yes) gets NaN and the label "" (ONNX) or no result
 * (PMML).
 */
#pragma once

#include "base/buffer.h"
#include "model/model.h"

/* Append the model to `out`, which is unchanged on failure. TACIT_INPUT when a name cannot be written, two
 * inputs would have the same one, or the model uses no column; TACIT_LIMIT beyond 2 GiB, the most that an
 * ONNX file can have. */
tacit_status tacit_model_export_onnx(const tacit_model *model, tacit_buffer *out, tacit_error *error);

/* The same, but XML cannot hold control characters, so a name or level with one is refused, and so is a
 * network with layers that are not dense (TACIT_USAGE), which PMML does not have. */
tacit_status tacit_model_export_pmml(const tacit_model *model, tacit_buffer *out, tacit_error *error);
