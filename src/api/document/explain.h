/* What leaves a party, who sees it, what is guaranteed, and what it really costs: what `tacit explain`
 * tells. */
#pragma once

#include "api/document/json_text.h"
#include "api/option/arguments.h"
#include "session/method.h"

typedef struct tacit_explanation {
    tacit_plan plan;
    tacit_prices prices;
    tacit_noise_law noise;
    char sums[1024];  /* how a deployed study adds up, and what that rests on */
    char *comparison; /* the method's own table beside the paper's, tab-separated cells; NULL: it has none */
} tacit_explanation;

#define TACIT_EXPLANATION_INIT                                                                               \
    { .comparison = NULL }

/* Of the method and the numbers that `arguments`, of tacit_explain_options, say. */
tacit_status tacit_explanation_make(tacit_explanation *out, const tacit_arguments *arguments,
                                    tacit_error *error);
void tacit_explanation_clear(tacit_explanation *explanation);

/* New reference. Takes the comparison apart: once for each explanation. */
tacit_status tacit_explanation_document(json_t **out, tacit_explanation *explanation, tacit_error *error);

/* The cells of the line at *text, ended by NULs; *text moves on. How many there are, 0 at the end. */
enum { TACIT_EXPLANATION_CELLS = 16 };
size_t tacit_explanation_cells(char **text, char *cells[TACIT_EXPLANATION_CELLS]);
