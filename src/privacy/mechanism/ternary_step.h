/*
 * One step of ternary gradients (Wang 2018, Algorithms 2 and 3): which n of d numbers are large, and their
 * signs, of a sum over a Poisson sample of the rows.
 *
 *   x_j = sum over the sample of what a row says of coordinate j, which lies in [-1, 1]
 *       (units of the clip B)
 *   I   = the n largest of |x_j| + Lap(1/epsilon)                                                (Algorithm
 *       3)
 *   t_j = sign(x_j + fresh Lap(1/epsilon)) for j in I, else 0                    (eq. 3.6, its sign restored)
 *
 * Algorithm 2 divides by the size of the sample and its noise by the same number. Neither a choice of the
 * largest nor a sign knows scale, so that nothing is divided here and nothing need be known about the
 * sample's size, which is secret.
 *
 * Proof note. Adjacency first: a row comes or goes. It moves each x_j, and each |x_j|, by at most 1.
 *   Selection, an unordered set: 2 min(n, d - n) epsilon. Let every number be rounded to multiples of g =
 *   2^-20 after its noise
 *     and ties go to the lower index. Fix the noise outside I. Then I is chosen when every i in I has a
 *     rounded number of at least some t_i, the largest outside (plus g, for ties that i loses). Outside,
 *     rounded numbers move by at most 1, a multiple of g, so does t_i, and |x_i| by 1 the other way: what the
 *     noise of i must pass moves by at most 2, and Pr[Lap(1/epsilon) >= t] by a factor of at most exp(2
 *     epsilon). The noises are independent: exp(2 n epsilon). For n > d/2 fix the noise inside I and argue
 *     about the d - n others. n = d is no choice and costs nothing.
 *   Signs, given I: n Laplace mechanisms of sensitivity 1, n epsilon.
 *   Together e = (2 min(n, d - n) + n) epsilon, by adaptive composition; clipping and rounding are
 *   post-processing. For n <= d/2
 *     numbers that go from 0 to 1 while all others fall attain n (2 epsilon + ln(2 - e^-epsilon)) in the
 *     limit, so that little is given away.
 *   Sampling. All d numbers come from *one* sample, so it is the whole step that is amplified: with P the
 *   step's law when the row
 *     is in the sample and Q when it is not, the laws of the two neighbours are (1 - q) Q + q P and Q, and
 *     e^-e <= dP/dQ <= e^e gives ln(1 + q (e^e - 1)). Replacing a row: (1 - q) Q + q P against (1 - q) Q + q
 *     P', ln((1 + q (e^e - 1))/(1 + q (e^-e - 1))) (docs/accounting.md).
 *
 * The paper (Theorem 3.3.2) prints 2 n ln(1 + q (e^epsilon - 1)) for the step, and by advanced composition
 * sqrt(4 n ln(1/delta)) epsilon_g + 2 n epsilon_g (e^epsilon_g - 1). That amplifies every coordinate as if it
 * had a sample of its own, and has no term for the noise of eq. 3.6: it is not a bound.
 * tests/privacy/test_ternary.c has two numbers that break it.
 */
#pragma once

#include "privacy/account/accountant.h"
#include "privacy/mechanism/mechanism.h"

typedef struct tacit_ternary {
    size_t size; /* d */
    size_t kept; /* n, 1 to d */
    /* of one coordinate's noise, that of Algorithm 2; infinite: no noise, in simulations only */
    double epsilon;
    double sampling; /* q in (0, 1] */
} tacit_ternary;

/* The smallest epsilon of a coordinate that there is noise for. */
#define TACIT_TERNARY_EPSILON_LEAST 1e-8

/* e without sampling, in units of epsilon: 2 min(n, d - n) + n. */
double tacit_ternary_weight(size_t size, size_t kept);

/* What one step costs, rounded up: a row that comes or goes, or one that is replaced. */
double tacit_ternary_cost(const tacit_ternary *step, tacit_adjacency adjacency);

/* The event of `count` steps about a replaced row; count 0 (not known) beyond what accountants take. */
tacit_event tacit_ternary_event(const tacit_ternary *step, uint64_t count);

/* What `count` steps cost together when a row is replaced: the least that is proved at delta. */
tacit_status tacit_ternary_compose(tacit_price *out, const tacit_ternary *step, uint64_t count, double delta,
                                   tacit_error *error);

/* The largest epsilon of a coordinate such that `count` steps cost at most (epsilon, delta) when a row is
 * replaced; `step->epsilon` is not read. TACIT_USAGE when there is none from TACIT_TERNARY_EPSILON_LEAST
 * on. */
tacit_status tacit_ternary_calibrate(double *out, const tacit_ternary *step, uint64_t count, double epsilon,
                                     double delta, tacit_error *error);

/* What the paper prints for one step (Theorem 3.3.2), by basic and by advanced composition. No guarantee. */
typedef struct tacit_ternary_claim {
    double basic, advanced;
} tacit_ternary_claim;

tacit_ternary_claim tacit_ternary_printed(const tacit_ternary *step, double delta);

/* A row of Wang's Table 3.1 as it is printed: there d is 14,312 and delta 2^-30. */
typedef struct tacit_ternary_row {
    tacit_ternary step;
    const char *basic, *advanced;
} tacit_ternary_row;

enum { TACIT_TERNARY_TABLE_ROWS = 8 };
extern const tacit_ternary_row tacit_ternary_table[TACIT_TERNARY_TABLE_ROWS];
#define TACIT_TERNARY_TABLE_DELTA 0x1p-30

/* One step: `out` gets size numbers of {-1, 0, 1}, of which `kept` are not 0, and *grade what their noise is
 * worth. In: `sum`, the x_j, multiples of 2^-20 and below 2^31 (TACIT_INPUT for others). */
tacit_status tacit_ternary_release(int8_t *out, tacit_noise *grade, const tacit_noise_source *source,
                                   const tacit_ternary *step, const double *sum, tacit_error *error);
