/* Another column of a schema as the outcome of a study: what was the label becomes a column, and the column
 * becomes the label, with the bounds, levels and gaps that the schema already says of it. */
#pragma once

#include <jansson.h>

#include "data/schema/schema.h"

/* What the outcome is to be. */
typedef struct tacit_outcome_wish {
    const char *column;
    const char *kind;  /* "class", "number", "count" or "time" */
    const char *event; /* of a time: the column that is 1 where the event was seen then; else NULL */
} tacit_outcome_wish;

/* Exchange them in *schema, which is replaced. TACIT_USAGE, in a sentence, where a column cannot be that;
 * then *schema stays as it was given. */
tacit_status tacit_schema_exchange_outcome(tacit_schema **schema, const tacit_outcome_wish *wanted,
                                           tacit_error *error);

/* The kinds of outcome that a column of the schema, or its label, can be: a list of texts, empty for none. */
json_t *tacit_outcome_kinds(const tacit_schema *schema, const char *column);

/* Whether it can say that an event was seen. */
bool tacit_outcome_is_event(const tacit_schema *schema, const char *column);
