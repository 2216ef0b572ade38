/* Any number K of classes: K scores, and p_k = exp(t_k)/sum_j exp(t_j) the probability of class k. */
#include <math.h>

#include "model/family/family.h"
#include "num/special.h"

static void shares(const tacit_kernels *kernels, size_t classes, size_t count, const double *t, double *p,
                   double *log_partition) {
    for (size_t i = 0; i < count; i++) {
        const double *score = t + i * classes;
        double most = score[0];
        for (size_t k = 1; k < classes; k++) most = score[k] > most ? score[k] : most;
        for (size_t k = 0; k < classes; k++) p[i * classes + k] = score[k] - most;
        log_partition[i] = most;
    }
    kernels->exponential(count * classes, p);
    for (size_t i = 0; i < count; i++) {
        double *row = p + i * classes, sum = 0;
        for (size_t k = 0; k < classes; k++) sum += row[k];
        for (size_t k = 0; k < classes; k++) row[k] /= sum;
        log_partition[i] += log(sum);
    }
}

/* The gradient p - e_y has the squared norm (1 - p_y)^2 + sum of the other p_k^2 <= 2 (1 - p_y)^2 <= 2. The
 * Hessian H = diag(p) - p p^T is that of a variance: q.Hq = Var(q_k) under p <= (max q - min q)^2/4 <=
 * |q|^2/2. */
static double steepest(double shape) {
    (void)shape;
    return 0.5;
}

/* p_k has the relative error (TACIT_EXP_ULPS twice, K - 1 additions, a division) K + 8, so |p| <= 1 is off by
 * that; p_k - 1 rounds by 1, and second-order terms by less than that. */
static double rounding(double shape, size_t classes) {
    (void)shape;
    return (double)classes + 10;
}

/* The largest sum_k t_k (e_y - p)_k is that of K - 1 equal scores below t_y: t (K-1)/(K-1 + exp(t)),
 * W((K-1)/e) at most. */
static double pull(double shape, size_t classes) {
    (void)shape;
    return tacit_lambert_w((double)(classes - 1) / M_E);
}

/* The same with the first class as the base, whose score is 0. */
static void several(size_t scores, double y, const double *t, double *loss, double *slope,
                    double *curvature) {
    size_t class = (size_t)y;
    double most = 0, sum;
    for (size_t k = 0; k < scores; k++) most = fmax(most, t[k]);
    sum = exp(-most);
    for (size_t k = 0; k < scores; k++) sum += slope[k] = exp(t[k] - most);
    for (size_t k = 0; k < scores; k++) slope[k] /= sum;
    for (size_t k = 0; k < scores; k++)
        for (size_t l = 0; l < scores; l++)
            curvature[k * scores + l] = slope[k] * (k == l ? 1 - slope[k] : -slope[l]);
    *loss = most + log(sum) - (class > 0 ? t[class - 1] : 0);
    if (class > 0) slope[class - 1] -= 1;
}

/* terms: the number of classes K, and the loss of the model without columns. That of w = 0 is n log K, none
 * is below 0; gradients by one score are within 1, curvatures within 1, and |x| <= 1. */
static double bound(double n, double high, const double *terms) {
    (void)high;
    return 2 * n * (1 + (terms != NULL ? log(fmax(2, terms[0])) : 0));
}

const tacit_family tacit_family_softmax = {
    .name = "softmax",
    .title = "softmax regression",
    .r_family = "multinomial",
    .ratio = "odds ratio",
    .response = TACIT_RESPONSE_CLASS,
    .loss = { .of_classes = true,
              .columns = 1,
              .classes = shares,
              .several = several,
              .slope = M_SQRT2,
              .curvature = steepest,
              .rounding = rounding },
    .likelihood = true,
    .pull = pull,
    .bound = bound,
    .measure = tacit_family_measure_classes,
    .measured = 3,
    .all_alike = "all rows are of one class: there is nothing to tell apart",
    .unbounded = "some combination of columns tells the classes apart without error",
    .onnx = "Softmax",
    .pmml = "softmax",
};
