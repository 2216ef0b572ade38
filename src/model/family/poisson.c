/* A count: a Poisson response with the mean exp(t). */
#include <math.h>

#include "model/family/family.h"

static void rows(const tacit_kernels *kernels, double shape, size_t count, const double *y, const double *t,
                 double *loss, double *slope, double *curvature) {
    (void)kernels, (void)shape;
    for (size_t i = 0; i < count; i++) {
        /* far beyond any bound, and finite: zero features times it stay zero */
        double mean = exp(fmin(t[i], 700));
        loss[i] = mean - y[i] * t[i];
        slope[i] = mean - y[i];
        curvature[i] = mean;
    }
}

/* Neither l' = exp(t) - y nor l'' = exp(t) is bounded. */
static double steepest(double shape) {
    (void)shape;
    return INFINITY;
}

static double variance(double mean) { return mean; }

static double skewness(double mean) {
    (void)mean;
    return 1;
}

static double deviance(const double *y, double mean) {
    return 2 * ((*y > 0 ? *y * log(*y / mean) : 0) - (*y - mean));
}

static double log_likelihood(const double *y, double mean, double dispersion) {
    (void)dispersion;
    return (*y > 0 ? *y * log(mean) : 0) - mean - lgamma(*y + 1);
}

/* The loss of w = 0 is 1, and a row's least is m = y - y log y >= -H log H for y <= H. With mean/2 - y t >= y
 * - y log(2y): sum mean <= 2 (sum loss + n H log(2H)), so means are within 2 n (1 + H log(2H)), slopes within
 *   that + n H. 2 + 3 H +
 * 2 H log(2H) times n is more than both, and more than n (1 - m).
 * With T = sum y and U = sum (y log y - y) over all rows: the others lose at least -(U + n), as each term of
 * U is at least -1, and sum y log(2y) = U + T (1 + log 2). So means are within 2 (n + U + 1.7 T), slopes
 * within that + T, and a subset that shows more than 2n + U proves a total above n. 4n + 2 max(U, 0) + 5T is
 * more than all. */
static double bound(double n, double high, const double *terms) {
    double h = fmax(high, 1);
    if (terms == NULL) return n * (2 + 3 * h + 2 * h * log(2 * h));
    return 4 * n + 2 * fmax(0, terms[1]) + 5 * fmax(0, terms[0]);
}

/* The loss of w = 0 is at most F = n exp(R) + R T for offsets within R; the rest is as above with F in place
 * of
 * n: others lose at least -(U + n), means are within 2 (F + U + 0.7 T), slopes within that + T. Before T and
 * U are known, T <= n H and U <= n H log H. */
static double offset_bound(double n, double high, double reach, const double *terms) {
    double h = fmax(high, 1);
    double sum = terms != NULL ? fmax(0, terms[0]) : n * h;
    double saturated = terms != NULL ? fmax(0, terms[1]) : n * h * log(h);
    return 2 * n * (exp(fmin(reach, 500)) + 1) + 2 * saturated + (5 + 2 * reach) * sum;
}

static void terms_of(const double *y, double out[TACIT_FAMILY_TERMS]) {
    out[0] = *y;
    out[1] = *y > 0 ? *y * log(*y) - *y : 0;
    out[2] = lgamma(*y + 1);
}

static void measure(const tacit_family_sums *at, tacit_family_fit *out) {
    double n = at->rows, sum = at->terms[0], saturated = at->terms[1];
    double alike = sum - (sum > 0 ? sum * log(sum / n) : 0); /* loss with the same mean for all */
    out->deviance = 2 * (saturated + at->objective);
    out->null_deviance = 2 * (saturated + (at->intercept ? alike : n));
    out->aic = 2 * (at->objective + at->terms[2] + at->coefficients);
    out->dispersion = 1;
}

/* ---- clipped: l' = (exp(t) - y)/sqrt(H) clipped to [-1, 1], H the largest count ---- */

/* l is (exp(t) - y t)/sqrt(H) between the two scores where l' reaches -1 and 1, and straight beyond them. */
static void clipped_rows(const tacit_kernels *kernels, double most, size_t count, const double *y,
                         const double *t, double *loss, double *slope, double *curvature) {
    (void)kernels;
    const double root = sqrt(most);
    for (size_t i = 0; i < count; i++) {
        const double mean = exp(fmin(t[i], 700)), r = (mean - y[i]) / root;
        const bool outside = fabs(r) > 1;
        const double side = copysign(1, r), at = outside ? log(y[i] + side * root) : t[i];
        slope[i] = outside ? side : r;
        loss[i] = (exp(at) - y[i] * at) / root + (outside ? side * (t[i] - at) : 0);
        curvature[i] = outside ? 0 : mean / root;
        if (isnan(t[i])) slope[i] = loss[i] = t[i];
    }
}

/* Where r is not clipped exp(t) <= H + sqrt(H): l'' <= sqrt(H) + 1. */
static double clipped_steepest(double most) { return sqrt(most) + 1; }

/* exp errs by less than 1.1 units, so by 1.1 (H + sqrt(H)) there; the difference, at most sqrt(H), and the
 * quotient by a rounded root add sqrt(H) and 2: over sqrt(H) less than 1.1 (sqrt(H) + 1) + 3. */
static double clipped_rounding(double most, size_t classes) {
    (void)classes;
    return 2 * clipped_steepest(most) + 3;
}

/* -t l'(t): r < 0 < t only for t < log y <= log H, and |r| <= 1; and for r > 0 > t it is at most |t|
 * exp(t)/sqrt(H) <= 1/e. */
static double clipped_pull(double most, size_t classes) {
    (void)classes;
    return fmax(log(most), 1 / M_E) * (1 + 1e-12);
}

static const tacit_family clipped = {
    .name = "poisson, clipped",
    .title = "Poisson regression with clipped residuals",
    .response = TACIT_RESPONSE_COUNT,
    .loss = { .kinked = true,
              .columns = 1,
              .rows = clipped_rows,
              .slope = 1,
              .curvature = clipped_steepest,
              .rounding = clipped_rounding,
              .shape_name = "largest_response",
              .shape_most = INFINITY,
              .shape_default = 1 },
    .pull = clipped_pull,
};

/* ---- where Newton's method begins ---- */

/* R's glm starts at means m = y + 0.1, whose weights are m and working responses log m: l = m (t - log
 * m)^2/2. From scores of 0 a step would go to a mean score of mean(y) - 1, exponentially too far. */
static void beginning_rows(const tacit_kernels *kernels, double shape, size_t count, const double *y,
                           const double *t, double *loss, double *slope, double *curvature) {
    (void)kernels, (void)shape;
    for (size_t i = 0; i < count; i++) {
        const double mean = y[i] + 0.1, off = t[i] - log(mean);
        loss[i] = mean * off * off / 2;
        slope[i] = mean * off;
        curvature[i] = mean;
    }
}

static const tacit_family begins = {
    .name = "poisson, at the beginning",
    .title = "the first iteration of Poisson regression",
    .response = TACIT_RESPONSE_COUNT,
    .loss = { .columns = 1, .rows = beginning_rows, .slope = INFINITY, .curvature = steepest },
};

const tacit_family tacit_family_poisson = {
    .name = "poisson",
    .title = "Poisson regression",
    .r_family = "poisson",
    .r_link = "log",
    .ratio = "rate ratio",
    .response = TACIT_RESPONSE_COUNT,
    .loss = { .columns = 1, .rows = rows, .slope = INFINITY, .curvature = steepest },
    .likelihood = true,
    .link = log,
    .mean = exp,
    .variance = variance,
    .skewness = skewness,
    .deviance = deviance,
    .log_likelihood = log_likelihood,
    .bound = bound,
    .offset_bound = offset_bound,
    .terms = terms_of,
    .measure = measure,
    .measured = 3,
    .constant = 2,
    .begins = &begins,
    .clipped = &clipped,
    .all_alike = "all counts are 0: there is nothing to explain",
    .unbounded = "some combination of columns has counts of 0 only",
    .onnx = "Exp",
    .pmml = "exp",
};
