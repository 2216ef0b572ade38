/*
 * What a description tells about a study that is planned: how many rows and which share of positives to
 * expect, levels too rare to have a figure, bounds far wider than the values, knots for splines. All of it is
 * post-processing of the report, and costs nothing more than it did.
 */
#pragma once

#include "model/model.h"

/* A model with a report of kind "describe". TACIT_USAGE for any other file. */
tacit_status tacit_described_load(tacit_model **out, const char *path, tacit_error *error);

/* Rows of all parties together; 0: not known. */
size_t tacit_described_rows(const tacit_model *model);

/* The share of rows of the second of two classes, by the names of the schema's label; 0: not known. */
double tacit_described_positives(const tacit_model *model, const tacit_schema *schema);

/* One sentence each, with a newline, about columns of the schema; the first names the release. */
tacit_status tacit_described_remarks(const tacit_model *model, const tacit_schema *schema, tacit_buffer *out,
                                     tacit_error *error);
