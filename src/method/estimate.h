/* What the two halves of method estimate share. */
#pragma once

#include "session/party.h"

enum {
    TACIT_ESTIMATE_HEAD =
        2, /* rows and token, in steps of the grid, before anything else in a contribution */
    TACIT_ESTIMATE_TERMS = 3 /* tacit_response_terms */
};

/* The family that the plan names, or that fits its response. */
const tacit_family *tacit_estimate_family(const tacit_plan *plan);

/* The sum of the parties' rows, and that of `length` numbers (and the head) over n rows; `terms` are the summed
 * tacit_response_terms once they are known, NULL before. */
tacit_sum_spec tacit_estimate_rows(void);
tacit_sum_spec tacit_estimate_sum(const tacit_plan *plan, double n, const double *terms, size_t length);

tacit_release_kind tacit_estimate_kind(const tacit_plan *plan);

/* The party's half: "rows", "response" and "sums". */
extern const tacit_handler_entry tacit_estimate_handlers[];
