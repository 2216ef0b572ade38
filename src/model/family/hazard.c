/*
 * A time until an event: hazards proportional to exp(t). What the hazard of a row with t = 0 is, the
 * baseline, stays open in a Cox regression, whose partial likelihood is no sum over rows
 * (num/partial_likelihood.h): method cox fits it, and a model of this family predicts how many times the
 * baseline's a row's hazard is. As a loss of single rows stands here that of a baseline hazard of 1: with the
 * time u and the event e, l(t) = u exp(t) - e t.
 */
#include <math.h>

#include "model/family/family.h"

static void rows(const tacit_kernels *kernels, double shape, size_t count, const double *y, const double *t,
                 double *loss, double *slope, double *curvature) {
    (void)kernels, (void)shape;
    for (size_t i = 0; i < count; i++) {
        double mean = y[2 * i] * exp(fmin(t[i], 700));
        loss[i] = mean - y[2 * i + 1] * t[i];
        slope[i] = mean - y[2 * i + 1];
        curvature[i] = mean;
    }
}

static double steepest(double shape) {
    (void)shape;
    return INFINITY;
}

static double variance(double mean) { return mean; }

/* Of the event, whose expected number until the time u is u times the hazard. */
static double deviance(const double *y, double mean) {
    double expected = y[0] * mean;
    return 2 * ((y[1] > 0 ? -log(expected) : 0) - (y[1] - expected));
}

static double log_likelihood(const double *y, double mean, double dispersion) {
    (void)dispersion;
    return (y[1] > 0 ? log(mean) : 0) - y[0] * mean;
}

/* Method cox bounds its sums itself; here as Poisson's of at most one event, over times up to `high`. */
static double bound(double n, double high, const double *terms) {
    (void)terms;
    return n * fmax(high, 1) * 8;
}

static double offset_bound(double n, double high, double reach, const double *terms) {
    return bound(n, high, terms) * exp(fmin(reach, 700));
}

/* The objective is minus the log partial likelihood; the first term is that at w = 0. */
static void measure(const tacit_family_sums *at, tacit_family_fit *out) {
    out->deviance = 2 * at->objective;
    out->null_deviance = 2 * at->terms[0];
    out->aic = 2 * (at->objective + at->coefficients);
    out->dispersion = 1;
}

const tacit_family tacit_family_hazard = {
    .name = "hazard",
    .title = "Cox regression of a time until an event",
    .r_family = "coxph",
    .r_link = "log",
    .ratio = "hazard ratio",
    .response = TACIT_RESPONSE_TIME,
    .loss = { .columns = 2, .rows = rows, .slope = INFINITY, .curvature = steepest },
    .likelihood = true,
    .link = log,
    .mean = exp,
    .variance = variance,
    .deviance = deviance,
    .log_likelihood = log_likelihood,
    .bound = bound,
    .offset_bound = offset_bound,
    .measure = measure,
    .measured = 1,
    .all_alike = "no row has an event: there is nothing to explain",
    .unbounded = "some combination of columns has no event, or all of them",
    .onnx = "Exp",
    .pmml = "exp",
};
