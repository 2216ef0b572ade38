/*
 * What the files of dpgd share: what follows from its plan (dpgd_noise.c), and the budget in units where it
 * adapts (dpgd_adaptive.c, which holds the proof). The method itself is in dpgd.c, with the proof of the
 * rest.
 */
#pragma once

#include "method/private/dpnewton.h"
#include "method/private/gradient.h"
#include "privacy/mechanism/shares.h"

static inline const dpgd_settings *dpgd_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(dpgd_settings, plan);
}

static inline bool dpgd_by_party(const tacit_plan *plan) {
    return dpgd_settings_of(plan)->noise == DPGD_BY_PARTY;
}

static inline bool dpgd_by_shares(const tacit_plan *plan) {
    return dpgd_settings_of(plan)->noise == DPGD_BY_SHARES;
}

static inline bool dpgd_hides_party(const tacit_plan *plan) {
    return dpgd_settings_of(plan)->unit == TACIT_UNIT_PARTY;
}

/* Without noise there is no budget to adapt. */
static inline bool dpgd_adapts(const tacit_plan *plan) {
    return dpgd_settings_of(plan)->schedule == DPGD_ADAPTIVE && isfinite(plan->epsilon);
}

/* Everything that follows from the plan. */
typedef struct dpgd_descent {
    tacit_sum_spec spec; /* the gradient and, to hide a record, the number of rows */
    size_t size, rounds;
    uint64_t runs;             /* k: of one Gaussian event, in a round; the round's units where they adapt */
    uint64_t all_runs;         /* of all rounds, and of the counts of missing values */
    double parts;              /* a round has one of so many parts of the budget */
    dpnewton_counting missing; /* with c */
    double step;
    tacit_mechanism each;      /* of one round */
    double scale;              /* v; with shares, of the noise in a sum of all parties */
    tacit_event event;         /* of one round; count 0 without noise */
    tacit_shared_noise shared; /* noise=shares, in steps of the grid */
} dpgd_descent;

tacit_counted dpgd_counts_missing(const tacit_plan *plan);

/* What N is at least. */
double dpgd_least_count(const tacit_plan *plan, size_t parties);

/* A dpgd_descent; where the budget adapts, of the first round, which has the fewest units, or of one that has
 * `units` of them. TACIT_REFUSED for fewer than the first has, for which sums have no room, and for more than
 * there are. */
tacit_status dpgd_prepare(const tacit_plan *plan, void *prepared, tacit_error *error);
tacit_status dpgd_prepare_round(const tacit_plan *plan, double units, void *prepared, tacit_error *error);

/* The method's, of these names. */
tacit_status dpgd_choose_lambda(const tacit_plan *plan, double *out, tacit_error *error);
tacit_status dpgd_price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                        tacit_error *error);
tacit_status dpgd_noise_law(const tacit_plan *plan, tacit_prepared **prepared, tacit_noise_law *out,
                            tacit_error *error);

/* ---- the budget in units, where it adapts ---- */

enum { DPGD_UNITS = 10000 }; /* of all rounds; counts of missing values have more of them */

/* Those of the first step, where an even schedule has so many; and of the next, after one whose released
 * gradient has this square, its noise alone that one in the mean; `spent` includes that step, and `wanted`
 * goes on from step to step, from the first one's units. No fewer than the step before had, and at most what
 * is left. */
uint64_t dpgd_first_units(size_t rounds);
uint64_t dpgd_next_units(double *wanted, size_t rounds, uint64_t spent, double square, double noise_square);

/* The party's filter: whether this question may have that many units of a budget of `all`, which are then
 * spent. TACIT_REFUSED where they are more than is left, for a round before the last one, and for another
 * question in the last one. */
tacit_status dpgd_filter(tacit_party *party, const tacit_question *question, uint64_t units, uint64_t all,
                         tacit_error *error);
