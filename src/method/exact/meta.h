/* What the two halves of method meta share. */
#pragma once

#include "method/exact/estimate.h"
#include "method/missing_sum.h"
#include "num/meta_analysis.h"

typedef struct meta_settings {
    enum { META_FAMILY_AUTO } family; /* or the place of its name in estimate's list */
    enum { META_DL, META_PM } tau;
    double level;
    enum { META_BIAS_NONE } bias; /* as estimate has them */
    enum { META_ERRORS_MODEL } errors;
    enum { META_FOREST_NO, META_FOREST_YES } forest;
    missing_sum_setting missing;
} meta_settings;

static inline const meta_settings *meta_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(meta_settings, plan);
}

/* The plan of one site's own regression. */
tacit_status meta_site_plan(tacit_plan *out, const tacit_plan *plan, tacit_error *error);

/*
 * The sums. Round 0, "scale": of each coefficient log2 w, and missing values behind them, where they are
 * counted. Round 1, "moments": w, w y, w y^2
 * and w^2. From round 2 on, "weights" with a tau^2 for each coefficient: w* and w* y, and for PM w* y^2.
 * Before all of them the number of rows, in steps of the grid.
 *
 * The units. With m the mean of log2 w and e the next even number below, u = w 2^-e is near 1 and
 * z = y sqrt(w) a site's own test: the numbers are u, z sqrt(u), z^2 and u^2, of which a site has at most
 * 2^META_WEIGHT, 2^(3/2 META_WEIGHT), 2^(2 META_WEIGHT) and the same; each is multiplied to fill the bound.
 * tau^2 is in units of 2^-e.
 */
enum { META_HEAD = 1, META_WEIGHT = 15, META_FIRST = 1, META_MOMENTS = 4, META_MOST_EXPONENT = 1000 };

/* e of a coefficient whose mean of log2 w is m. */
int meta_exponent(double mean);

/* How many bits the numbers of "moments", w* y^2 last, are multiplied by. */
extern const int meta_shift[META_MOMENTS];

tacit_sum_spec meta_scale_sum(const tacit_plan *plan, size_t width);
tacit_sum_spec meta_sum(const tacit_plan *plan, size_t length);

/* Numbers of a coefficient that a question of kind "weights" opens. */
size_t meta_step_numbers(const tacit_plan *plan);

/*
 * Each site has two unknowns a coefficient, its estimate and its error. K sites of which c share theirs leave
 * 2 (K - c): that many numbers, being as many equations, would give them all away, so fewer are opened. The
 * numbers opened up to and with a round, and the most that may be.
 */
double meta_opened(const tacit_plan *plan, uint64_t round);
double meta_allowed(const tacit_plan *plan, bool real);

extern const tacit_handler_entry meta_handlers[];
