/* K classes in order (proportional odds, McCullagh 1980): P(Y <= k) = 1/(1 + exp(-t_k)) with scores t_1 < t_2
 * < ... that differ by constants, and the columns' weights in all of them alike. */
#include <math.h>

#include "model/family/family.h"

static double log_1_exp(double t) { return t > 0 ? t + log1p(exp(-t)) : log1p(exp(t)); }

static double logistic(double t) { return t > 0 ? 1 / (1 + exp(-t)) : exp(t) / (1 + exp(t)); }

/* Class y is between u = t_y and v = t_(y-1): with d = u - v, F(u) - F(v) = F(u) F(-v) (1 - exp(-d)), without
 * cancellation. Its negative logarithm is convex: a sum of three convex terms. Where scores are out of order
 * the class has no probability, and the loss is beyond any bound. */
static void several(size_t scores, double y, const double *t, double *loss, double *slope,
                    double *curvature) {
    size_t class = (size_t)y;
    *loss = 0;
    for (size_t k = 0; k < scores; k++) slope[k] = 0;
    for (size_t k = 0; k < scores * scores; k++) curvature[k] = 0;
    if (class < scores) { /* there is a score above */
        double u = t[class];
        *loss += log_1_exp(-u);
        slope[class] -= logistic(-u);
        curvature[class * scores + class] += logistic(u) * logistic(-u);
    }
    if (class > 0) {
        double v = t[class - 1];
        *loss += log_1_exp(v);
        slope[class - 1] += logistic(v);
        curvature[(class - 1) * scores + class - 1] += logistic(v) * logistic(-v);
    }
    if (class == 0 || class == scores) return;
    double d = t[class] - t[class - 1], odds = 1 / expm1(d), bend = odds * (1 + odds);
    if (!(d > 0)) {
        *loss = isnan(d) ? NAN : 1e300;
        return;
    }
    *loss -= log(-expm1(-d));
    slope[class] -= odds;
    slope[class - 1] += odds;
    curvature[class * scores + class] += bend;
    curvature[(class - 1) * scores + class - 1] += bend;
    curvature[class * scores + class - 1] -= bend;
    curvature[(class - 1) * scores + class] -= bend;
}

/* Linear scores of K classes, the last of which is not used, become the logarithms of the classes'
 * probabilities. */
static void predict(size_t classes, double *t) {
    double below = t[0];
    for (size_t k = 0; k < classes; k++) {
        double u = t[k], log_p = 0;
        if (k + 1 < classes) log_p -= log_1_exp(-u);
        if (k > 0) log_p -= log_1_exp(below);
        if (k > 0 && k + 1 < classes) log_p += u > below ? log(-expm1(below - u)) : -700;
        below = u;
        t[k] = log_p;
    }
}

/* Neither slopes nor curvatures are bounded: scores may be close to each other. */
static double steepest(double shape) {
    (void)shape;
    return INFINITY;
}

/* terms: the number of classes, n over the rows of the rarest, and the loss of the model without columns,
 * which is where a fit starts. Curvatures of a class between two others are 1/d^2, with d about its share of
 * the rows at the start and more where columns explain something: n^2/rarest together, and a thousand times
 * that for good measure. */
static double bound(double n, double high, const double *terms) {
    (void)high;
    return terms != NULL ? 1024 * n * fmax(1, terms[1]) : 2 * n;
}

const tacit_family tacit_family_ordinal = {
    .name = "ordinal",
    .title = "proportional odds regression",
    .ratio = "odds ratio",
    .response = TACIT_RESPONSE_CLASS,
    .loss = { .of_classes = true,
              .ordered = true,
              .columns = 1,
              .several = several,
              .slope = INFINITY,
              .curvature = steepest },
    .likelihood = true,
    .predict = predict,
    .bound = bound,
    .measure = tacit_family_measure_classes,
    .measured = 3,
    .all_alike = "all rows are of one class: there is nothing to tell apart",
    .unbounded = "some combination of columns tells classes apart without error",
    .pmml = "none",
};
