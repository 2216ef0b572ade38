#include "num/noisy/clipped_classes.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"

enum { POINTS = 512 };

/* p = softmax(slope t + offset); offset may be NULL. */
static void softmax(double *p, const double *t, double slope, const double *offset, size_t classes) {
    double most = -INFINITY, sum = 0;
    for (size_t k = 0; k < classes; k++) {
        p[k] = slope * t[k] + (offset != NULL ? offset[k] : 0);
        most = fmax(most, p[k]);
    }
    for (size_t k = 0; k < classes; k++) sum += p[k] = exp(p[k] - most);
    for (size_t k = 0; k < classes; k++) p[k] /= sum;
}

/* |p - e_k| from |p|^2. */
static double mistake(const double *p, double square, size_t k) {
    return sqrt(fmax(0, square - 2 * p[k] + 1));
}

static double square_of(const double *p, size_t classes) {
    double square = 0;
    for (size_t k = 0; k < classes; k++) square += p[k] * p[k];
    return square;
}

void tacit_clipped_classes(double *p, size_t classes, double clip) {
    double square = square_of(p, classes), sum = 0;
    for (size_t k = 0; k < classes; k++) sum += p[k] *= fmax(1, mistake(p, square, k) / clip);
    for (size_t k = 0; k < classes; k++) p[k] /= sum;
}

/* L with V = L L^T, lower triangle; directions without variance are left out. */
static void factor(double *l, const double *v, size_t classes) {
    for (size_t i = 0; i < classes; i++)
        for (size_t j = 0; j <= i; j++) {
            double left = v[i * classes + j];
            for (size_t k = 0; k < j; k++) left -= l[i * classes + k] * l[j * classes + k];
            double pivot = l[j * classes + j];
            if (i == j)
                l[i * classes + i] = left > 1e-12 ? sqrt(left) : 0;
            else
                l[i * classes + j] = pivot > 0 ? left / pivot : 0;
        }
}

/* Standard normal numbers that are always the same ones: the finaliser of splitmix64, and Box and
 * Muller's. */
static double fixed_normal(uint64_t place) {
    double u[2];
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t z = (2 * place + i + 1) * 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        u[i] = ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
    }
    return sqrt(-2 * log(u[0])) * cos(2 * M_PI * u[1]);
}

/* POINTS score vectors, each with its mirror image about the mean. */
static tacit_status sample(double **out, const double *mean, const double *covariance, size_t classes,
                           tacit_error *error) {
    double *points = TACIT_NEW(double, POINTS *classes), *l = TACIT_NEW(double, classes *classes);
    if (points == NULL || l == NULL) {
        free(points);
        free(l);
        return tacit_fail_memory(error);
    }
    factor(l, covariance, classes);
    for (size_t point = 0; point < POINTS; point++)
        for (size_t i = 0; i < classes; i++) {
            double sum = 0, sign = point % 2 == 0 ? 1 : -1;
            for (size_t j = 0; j <= i; j++)
                sum += l[i * classes + j] * fixed_normal((uint64_t)(point / 2 * classes + j));
            points[point * classes + i] = mean[i] + sign * sum;
        }
    free(l);
    *out = points;
    return TACIT_OK;
}

tacit_status tacit_clipped_classes_slope(double *out, const double *mean, const double *covariance,
                                         size_t classes, double clip, tacit_error *error) {
    double *points = NULL, *p = TACIT_NEW(double, classes);
    if (p == NULL) return tacit_fail_memory(error);
    tacit_status status = sample(&points, mean, covariance, classes, error);
    for (size_t i = 0; i < classes * classes; i++) out[i] = 0;
    for (size_t point = 0; status == TACIT_OK && point < POINTS; point++) {
        softmax(p, points + point * classes, 1, NULL, classes);
        /* sum_k pi_k a_k = 1/sum_k p_k/a_k */
        double square = square_of(p, classes), inverse = 0;
        for (size_t k = 0; k < classes; k++) inverse += p[k] * fmax(1, mistake(p, square, k) / clip);
        for (size_t i = 0; i < classes; i++)
            for (size_t j = 0; j < classes; j++)
                out[i * classes + j] += ((i == j ? p[i] : 0) - p[i] * p[j]) / inverse / POINTS;
    }
    free(points);
    free(p);
    return status;
}

/* The mean log-loss of softmax(slope t + offset) where chances are the link's; offsets such that the mean
 * probabilities agree. */
static double loss_of_line(const double *points, const double *link, double slope, double *offset, double *p,
                           size_t classes) {
    double loss = 0;
    for (int round = 0; round < 12; round++) {
        double wanted[TACIT_CLIPPED_CLASSES_MOST] = { 0 }, found[TACIT_CLIPPED_CLASSES_MOST] = { 0 }, sum = 0;
        loss = 0;
        for (size_t point = 0; point < POINTS; point++) {
            const double *pi = link + point * classes;
            softmax(p, points + point * classes, slope, offset, classes);
            for (size_t k = 0; k < classes; k++) {
                wanted[k] += pi[k];
                found[k] += p[k];
                loss -= pi[k] * log(fmax(p[k], 1e-300)) / POINTS;
            }
        }
        for (size_t k = 0; k < classes; k++)
            sum += offset[k] += log(fmax(wanted[k], 1e-9) / fmax(found[k], 1e-9));
        for (size_t k = 0; k < classes; k++) offset[k] -= sum / (double)classes;
    }
    return loss;
}

tacit_status tacit_clipped_classes_line(double *slope, double *offset, const double *mean,
                                        const double *covariance, size_t classes, double clip,
                                        tacit_error *error) {
    static const double golden = 0.6180339887498949;
    double *points = NULL, *link = TACIT_NEW(double, POINTS *classes), *p = TACIT_NEW(double, classes);
    tacit_status status = TACIT_OK;
    if (link == NULL || p == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(sample(&points, mean, covariance, classes, error));
    for (size_t point = 0; point < POINTS; point++) {
        softmax(link + point * classes, points + point * classes, 1, NULL, classes);
        tacit_clipped_classes(link + point * classes, classes, clip);
    }
    for (size_t k = 0; k < classes; k++) offset[k] = 0;
    double low = 0.4, high = 1.2;
    for (int round = 0; round < 16; round++) {
        double left = high - golden * (high - low), right = low + golden * (high - low);
        bool falls = loss_of_line(points, link, left, offset, p, classes) >
                     loss_of_line(points, link, right, offset, p, classes);
        *(falls ? &low : &high) = falls ? left : right;
    }
    *slope = low + (high - low) / 2;
    (void)loss_of_line(points, link, *slope, offset, p, classes);
cleanup:
    free(points);
    free(link);
    free(p);
    return status;
}
