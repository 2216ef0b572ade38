/* What the two halves of method estimate share. */
#pragma once

#include "method/row_sums.h"
#include "session/party.h"

enum {
    TACIT_ESTIMATE_HEAD =
        2, /* rows and token, in steps of the grid, before anything else in a contribution */
    TACIT_ESTIMATE_TERMS = TACIT_FAMILY_TERMS
};

#define TACIT_ESTIMATE_FAMILIES "auto" TACIT_ROW_FAMILIES(TACIT_FAMILY_CHOICE)
#define TACIT_ESTIMATE_OPTIMISERS "newton|lbfgs"

typedef struct tacit_estimate_settings {
    enum { TACIT_ESTIMATE_AUTO } family; /* or the place of its name in the list */
    enum { TACIT_ESTIMATE_NEWTON, TACIT_ESTIMATE_LBFGS } optimiser;
    double level;
} tacit_estimate_settings;

static inline const tacit_estimate_settings *tacit_estimate_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(tacit_estimate_settings, plan);
}

/* The family that the plan names, or that fits its response. */
const tacit_family *tacit_estimate_family(const tacit_plan *plan);

/* The sum of the parties' rows, and that of `length` numbers (and the head) over n rows; `terms` are the
 * summed tacit_family_terms once they are known, NULL before. */
tacit_sum_spec tacit_estimate_rows(void);
tacit_sum_spec tacit_estimate_sum(const tacit_plan *plan, double n, const double *terms, size_t length);

tacit_release_kind tacit_estimate_kind(const tacit_plan *plan);

/* TACIT_REFUSED when under these weights few rows of a real party would make up its sums, or the rounds go on
 * and on (estimate_bounds.c). All who hold the party's rows call it, after their last sum. */
tacit_status tacit_estimate_bounds(const tacit_party *party, const tacit_question *question,
                                   const tacit_row_sums *how, tacit_error *error);

/* The party's half: "rows", "response" and "sums". */
extern const tacit_handler_entry tacit_estimate_handlers[];
