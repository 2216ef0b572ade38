/*
 * Meta-analysis: estimates y_k of one quantity at sites k, with variances v_k = 1/w_k, pooled from sums over
 * sites alone (DerSimonian & Laird 1986; Paule & Mandel 1982; Higgins & Thompson 2002).
 *
 *   fixed effect   m = sum w y / sum w,                 var m = 1 / sum w
 *   heterogeneity  Q = sum w y^2 - (sum w y)^2/sum w,   k - 1 degrees of freedom
 *   DL             tau^2 = max(0, (Q - (k - 1))/C),     C = sum w - sum w^2/sum w
 *   random effect  the same with w = 1/(v + tau^2)
 *   PM             tau^2 is the root of Q(tau^2) = k - 1, w = 1/(v + tau^2) in Q; 0 where Q(0) is below
 *   I^2            tau^2/(tau^2 + s^2),                 s^2 = (k - 1)/C, the typical variance of a site
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct tacit_meta_sums {
    double sites;
    double w, wy, wyy; /* sums of w, w y and w y^2 */
    double ww;         /* of w^2 */
} tacit_meta_sums;

typedef struct tacit_meta_pooled {
    double estimate, error, statistic, p, low, high;
} tacit_meta_pooled;

typedef struct tacit_meta_spread {
    double q, degrees, p; /* p of Q as a chi-square */
    double tau2, i2, h2;  /* i2 in [0, 1] */
} tacit_meta_spread;

/* With a normal test and interval of this level. */
tacit_meta_pooled tacit_meta_pool(double w, double wy, double level);

double tacit_meta_q(double w, double wy, double wyy);

/* tau^2 by DerSimonian and Laird. */
double tacit_meta_dl(const tacit_meta_sums *sums);

/* What there is to say of heterogeneity at a tau^2. */
tacit_meta_spread tacit_meta_describe(const tacit_meta_sums *sums, double tau2);

/*
 * Paule and Mandel's tau^2 from as few sums as possible. 1/Q grows with tau^2, and nearly in a straight line
 * (in an exact one where all variances are the same), so tau^2 is interpolated as a polynomial in 1/Q through
 * all points that are known, the first being tau^2 = 0 and the second that of DL; so are the sums that the
 * random effect needs.
 */
enum { TACIT_META_POINTS = 16 };

typedef struct tacit_meta_search {
    double degrees, typical; /* k - 1, s^2 */
    size_t count;
    double tau2[TACIT_META_POINTS], inverse[TACIT_META_POINTS]; /* 1/Q */
    double w[TACIT_META_POINTS], wy[TACIT_META_POINTS];
    double next; /* where to look next, or the answer */
    bool done;
} tacit_meta_search;

void tacit_meta_begin(tacit_meta_search *out, const tacit_meta_sums *sums);

/* The sums at search->next. */
void tacit_meta_add(tacit_meta_search *search, double w, double wy, double wyy);

/* Once it is done: the sums of w and w y at search->next. */
void tacit_meta_end(const tacit_meta_search *search, double *w, double *wy);
