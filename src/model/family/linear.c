/* A number: least squares, which is the likelihood of a normal response about the mean t. */
#include <math.h>

#include "model/family/family.h"

static void rows(const tacit_kernels *kernels, double shape, size_t count, const double *y, const double *t,
                 double *loss, double *slope, double *curvature) {
    (void)kernels, (void)shape;
    for (size_t i = 0; i < count; i++) {
        loss[i] = 0.5 * (t[i] - y[i]) * (t[i] - y[i]);
        slope[i] = t[i] - y[i];
        curvature[i] = 1;
    }
}

/* l' = t - y grows without bound; l'' is 1 everywhere. */
static double steepest(double shape) {
    (void)shape;
    return 1;
}

static double same(double value) { return value; }

static double variance(double mean) {
    (void)mean;
    return 1;
}

static double deviance(const double *y, double mean) { return (*y - mean) * (*y - mean); }

static double log_likelihood(const double *y, double mean, double dispersion) {
    return -0.5 * (log(2 * M_PI * dispersion) + deviance(y, mean) / dispersion);
}

/* With y in [-1, 1] the loss of w = 0 is at most 1/2 and none is below 0; |sum (t - y) x| <= sqrt(2 n sum
 * loss) <= n by Cauchy-Schwarz, and the Hessian is at most n. */
static double bound(double n, double high, const double *terms) {
    (void)high, (void)terms;
    return 2 * n;
}

/* Residuals of w = 0 are within 1 + reach, and everything scales with their square. */
static double offset_bound(double n, double high, double reach, const double *terms) {
    return bound(n, high, terms) * (1 + reach) * (1 + reach);
}

static void measure(const tacit_family_sums *at, tacit_family_fit *out) {
    double n = at->rows, sum = at->terms[0], square = at->scale * at->scale;
    out->deviance = 2 * at->objective * square;
    out->null_deviance = (at->terms[1] - (at->intercept ? sum * sum / n : 0)) * square;
    out->dispersion = out->deviance / (n - at->coefficients);
    out->aic = n * (log(2 * M_PI * out->deviance / n) + 1) + 2 * (at->coefficients + 1);
}

/* ---- clipped: Huber's loss of t - y/s (Huber 1964), s the largest |y| ---- */

static const double CLIP = 0.5;

/* l = e^2/2 up to |e| = 1/2, then |e|/2 - 1/8; l' is e clipped to [-1/2, 1/2]. */
static void clipped_rows(const tacit_kernels *kernels, double s, size_t count, const double *y,
                         const double *t, double *loss, double *slope, double *curvature) {
    (void)kernels;
    for (size_t i = 0; i < count; i++) {
        const double e = t[i] - y[i] / s, far = fabs(e);
        const bool outside = far > CLIP;
        slope[i] = outside ? copysign(CLIP, e) : e;
        loss[i] = outside ? CLIP * (far - CLIP / 2) : e * e / 2;
        curvature[i] = !outside;
    }
}

/* |y/s| <= 1 and its difference to t, at most 1/2 where it counts, round by less than 2; clipping does not
 * increase the distance to the exact value. */
static double clipped_rounding(double s, size_t classes) {
    (void)s, (void)classes;
    return 5;
}

/* -t l'(t) is positive only for t between 0 and y/s, where it is at most t (1 - t) or t/2: 1/4. */
static double clipped_pull(double s, size_t classes) {
    (void)s, (void)classes;
    return 0.25;
}

static const tacit_family clipped = {
    .name = "linear, clipped",
    .title = "linear regression with Huber's loss",
    .response = TACIT_RESPONSE_NUMBER,
    .loss = { .kinked = true,
              .columns = 1,
              .rows = clipped_rows,
              .slope = 0.5,
              .curvature = steepest,
              .rounding = clipped_rounding,
              .shape_name = "largest_response",
              .shape_most = INFINITY,
              .shape_default = 1 },
    .quadratic = true,
    .pull = clipped_pull,
};

const tacit_family tacit_family_linear = {
    .name = "linear",
    .title = "linear regression",
    .r_family = "gaussian",
    .r_link = "identity",
    .response = TACIT_RESPONSE_NUMBER,
    .loss = { .columns = 1, .rows = rows, .slope = INFINITY, .curvature = steepest },
    .likelihood = true,
    .few = true,
    .quadratic = true,
    .dispersed = true,
    .link = same,
    .mean = same,
    .variance = variance,
    .deviance = deviance,
    .log_likelihood = log_likelihood,
    .bound = bound,
    .offset_bound = offset_bound,
    .measure = measure,
    .measured = 2,
    .clipped = &clipped,
    .all_alike = "the mean of the responses is not finite",
    .unbounded = "columns follow from one another",
    .pmml = "none",
};
