/* What the two halves of method estimate share. */
#pragma once

#include "method/row_sums.h"
#include "session/party.h"
#include "session/session.h"

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
    uint64_t impute;
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

/* How many completed sets there are (estimate_impute.c); 0: nothing is imputed. */
size_t tacit_estimate_sets(const tacit_plan *plan);

/* A party whose rows are complete: those of one of its sets. */
typedef struct tacit_estimate_completed {
    tacit_party party;
    tacit_matrix values;
    int32_t *label;
    double *response;
} tacit_estimate_completed;

/* TACIT_REFUSED where few of a real party's rows are incomplete: the sums of two sets would differ in these. */
tacit_status tacit_estimate_complete(tacit_estimate_completed *out, tacit_party *party, size_t set,
                                     tacit_error *error);
void tacit_estimate_completed_clear(tacit_estimate_completed *self);

/* Fit all completed sets but the first, whose estimates are given, and pool them; *w, the weights of the fit at
 * hand, becomes their mean. Does nothing where nothing is imputed. */
tacit_status tacit_estimate_pool_sets(const tacit_plan *plan,
                                      tacit_status (*fit)(void *context, size_t set, tacit_estimates **out,
                                                          tacit_error *error),
                                      void *context, size_t width, double *const *w,
                                      tacit_estimates **estimates, tacit_error *error);

/* Ask for the numbers of missing values and put them into the estimates; `parties` answered so far. */
tacit_status tacit_estimate_count_missing(tacit_session *session, size_t parties, tacit_estimates *estimates,
                                          tacit_error *error);
tacit_status tacit_estimate_answer_missing(tacit_party *party, const tacit_question *question,
                                           tacit_reply *reply, tacit_error *error);

/* An empty contribution, and how it leaves. */
tacit_status tacit_estimate_begin_reply(const tacit_party *party, size_t length, tacit_reply *reply,
                                        tacit_error *error);

/* The party's half: "rows", "response" and "sums". */
extern const tacit_handler_entry tacit_estimate_handlers[];
