/* Two classes: y is 0 or 1, and a score t stands for the probability p = 1/(1 + exp(-t)) of class 1. */
#include <math.h>

#include "model/family/family.h"
#include "num/special.h"

/* With z = (2y - 1) t the loss is log(1 + exp(-z)). */
static void rows(const tacit_kernels *kernels, double shape, size_t count, const double *y, const double *t,
                 double *loss, double *slope, double *curvature) {
    (void)shape;
    for (size_t i = 0; i < count; i++) slope[i] = (2 * y[i] - 1) * t[i];
    kernels->logistic(count, slope, loss, slope, curvature);
    for (size_t i = 0; i < count; i++) slope[i] *= 1 - 2 * y[i];
}

/* l' = p - y is within [-1, 1], and l'' = p (1 - p) is largest at p = 1/2. */
static double steepest(double shape) {
    (void)shape;
    return 0.25;
}

static double rounding(double shape, size_t classes) {
    (void)shape, (void)classes;
    return TACIT_SIGMOID_ULPS;
}

/* t/(1 + exp(t)) is largest where t = 1 + W(1/e), and there it is W(1/e). */
static double pull(double shape, size_t classes) {
    (void)shape, (void)classes;
    return tacit_lambert_w(1 / M_E);
}

static double link(double mean) { return log(mean / (1 - mean)); }

static double mean_of(double score) { return 1 / (1 + exp(-score)); }

static double variance(double mean) { return mean * (1 - mean); }

static double skewness(double mean) { return 1 - 2 * mean; }

static double log_likelihood(const double *y, double mean, double dispersion) {
    (void)dispersion;
    return *y > 0 ? log(mean) : log1p(-mean);
}

static double deviance(const double *y, double mean) { return -2 * log_likelihood(y, mean, 1); }

/* The loss of w = 0 is log 2 and none is below 0; |l'| <= 1, l'' <= 1/4, and |x| <= 1. */
static double bound(double n, double high, const double *terms) {
    (void)high, (void)terms;
    return 2 * n;
}

/* The loss of w = 0 is at most log 2 + reach. */
static double offset_bound(double n, double high, double reach, const double *terms) {
    return bound(n, high, terms) * (1 + reach);
}

static double entropy_term(double part, double of) { return part > 0 ? part * log(part / of) : 0; }

static void measure(const tacit_family_sums *at, tacit_family_fit *out) {
    double n = at->rows, sum = at->terms[0];
    out->deviance = 2 * at->objective;
    out->null_deviance =
        at->intercept ? -2 * (entropy_term(sum, n) + entropy_term(n - sum, n)) : 2 * n * log(2);
    out->aic = out->deviance + 2 * at->coefficients;
    out->dispersion = 1;
}

const tacit_family tacit_family_logistic = {
    .name = "logistic",
    .title = "logistic regression",
    .r_family = "binomial",
    .r_link = "logit",
    .ratio = "odds ratio",
    .response = TACIT_RESPONSE_CLASS,
    .loss = { .of_classes = true,
              .columns = 1,
              .rows = rows,
              .slope = 1,
              .curvature = steepest,
              .rounding = rounding },
    .likelihood = true,
    .few = true,
    .link = link,
    .mean = mean_of,
    .variance = variance,
    .skewness = skewness,
    .deviance = deviance,
    .log_likelihood = log_likelihood,
    .pull = pull,
    .bound = bound,
    .offset_bound = offset_bound,
    .measure = measure,
    .measured = 1,
    .all_alike = "all rows are of one class: there is nothing to tell apart",
    .unbounded = "some combination of columns tells the classes apart without error",
    .onnx = "Sigmoid",
    .pmml = "softmax",
};
