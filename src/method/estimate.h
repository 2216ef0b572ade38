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
#define TACIT_ESTIMATE_BIASES "none|firth"

typedef struct tacit_estimate_settings {
    enum { TACIT_ESTIMATE_AUTO } family; /* or the place of its name in the list */
    enum { TACIT_ESTIMATE_NEWTON, TACIT_ESTIMATE_LBFGS } optimiser;
    double level;
    enum { TACIT_ESTIMATE_PLAIN, TACIT_ESTIMATE_FIRTH } bias;
} tacit_estimate_settings;

static inline const tacit_estimate_settings *tacit_estimate_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(tacit_estimate_settings, plan);
}

/* The family that the plan names, or that fits its response. */
const tacit_family *tacit_estimate_family(const tacit_plan *plan);

/* TACIT_USAGE where label, family and settings do not go together, or there are too many columns. */
tacit_status tacit_estimate_check(const tacit_plan *plan, tacit_error *error);

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

/* ---- bias=firth (estimate_firth.c) ---- */

bool tacit_firth_wanted(const tacit_plan *plan);

/* TACIT_USAGE where the plan wants it and family or settings do not go with it. */
tacit_status tacit_firth_check(const tacit_plan *plan, const tacit_family *family, tacit_error *error);

/* The coordinator's: the inverse of the information matrix, packed as its lower triangle row by row, and room
 * to make it. */
typedef struct tacit_firth {
    size_t width;
    double *inverse; /* NULL: no penalty */
    double *factor, *scale;
    bool *deficient;
} tacit_firth;

size_t tacit_firth_triangle(size_t width);
tacit_status tacit_firth_create(tacit_firth *out, size_t width, tacit_error *error);
void tacit_firth_clear(tacit_firth *self);

/* Have the inverse be that of `times` a matrix, of which the lower triangle is read. False, and nothing is
 * changed, where it is singular. */
bool tacit_firth_invert(tacit_firth *self, const double *matrix, double times);

/* log|matrix|/2, minus infinity where it is singular. */
double tacit_firth_penalty(tacit_firth *self, const double *matrix);

/* What makes up the adjustments, and the gradients with them: of each the sum of absolute values and that of
 * squares over rows. */
enum {
    TACIT_FIRTH_ADJUSTED,
    TACIT_FIRTH_ADJUSTED_SQUARED,
    TACIT_FIRTH_SLOPES,
    TACIT_FIRTH_SLOPES_SQUARED,
    TACIT_FIRTH_SIZES
};

/* Take the adjustments of all rows at the coordinator's inverse off their gradient, and say what they rest
 * on. */
tacit_status tacit_firth_adjust(double *gradient, double sizes[TACIT_FIRTH_SIZES], const tacit_row_sums *how,
                                const double *triangle, const tacit_view *rows, tacit_error *error);

/* ---- where there is no estimate (estimate_diagnosis.c) ---- */

/* What the coordinator knows of columns: after its first sums, at weights under which all rows have the same
 * mean, or later. */
typedef struct tacit_estimate_facts {
    const tacit_plan *plan;
    const tacit_family *family;
    const tacit_design *design;
    bool real; /* parties with owners: counts below what owners ask for by default are not said */
    double rows, responses; /* their number, and the sum of y */
    const double *w;
    const double *gram;     /* X^T X, lower triangle */
    const double *gradient; /* sum of (mean - y) x */
    double *factor, *scale; /* room: for the Cholesky factor of gram, and for the columns that it lacks */
    bool *deficient;
} tacit_estimate_facts;

/* At the start. TACIT_INPUT with a sentence for columns that follow from others, or levels without rows;
 * TACIT_NOT_CONVERGED where a level, or a value of a 0/1 column, has outcomes of one kind only: then there is
 * no finite estimate. With bias=firth that is none of a problem, and `firth` gets its first inverse. */
tacit_status tacit_estimate_check_columns(const tacit_estimate_facts *facts, tacit_firth *firth,
                                          tacit_error *error);

/* Whether the loss at some weights proves that no weights are best. */
bool tacit_estimate_separates(const tacit_estimate_facts *facts, double loss);

/* The sentence where weights diverge along `direction`; NULL: it is not known, and the weights show it. */
tacit_status tacit_estimate_say_separated(const tacit_estimate_facts *facts, const double *direction,
                                          tacit_error *error);
