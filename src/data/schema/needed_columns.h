/*
 * What a file must hold for a schema: for people who know the study and have no file yet. The label comes
 * first, then whose row it is, then the columns that features are made of.
 */
#pragma once

#include "data/schema/schema.h"

enum { TACIT_NEEDED_VALUES_SIZE = 240 };

/* Borrowed for the visit. */
typedef struct tacit_needed_column {
    const char *name;
    const char *role;   /* "label", "person" or "column" */
    const char *values; /* what may stand there: "a number from 0 to 120", "f or m" */
    /* what becomes of a row without a value (missing.h); "error" where there must be one */
    const char *missing;
} tacit_needed_column;

typedef tacit_status tacit_needed_visit(void *context, const tacit_needed_column *needed, tacit_error *error);

/* TACIT_USAGE for rows as in LIBSVM, which have no columns. */
tacit_status tacit_schema_needed(const tacit_schema *schema, tacit_needed_visit *visit, void *context,
                                 tacit_error *error);

/* Append the first line of such a CSV file. */
tacit_status tacit_schema_header(const tacit_schema *schema, tacit_buffer *out, tacit_error *error);
