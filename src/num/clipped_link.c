#include "num/clipped_link.h"

#include <math.h>

/* Integrals over a normal density: NODES points, STEP apart, within 8 standard deviations. */
enum { NODES = 129 };
static const double STEP = 0.125;

static double sigmoid(double z) { return 1 / (1 + exp(-z)); }

double tacit_clipped_link(double score) {
    double right = fmin(sigmoid(score), 0.5), wrong = fmin(sigmoid(-score), 0.5);
    return right / (right + wrong);
}

/* Point i and its weight. */
static double node(int i, double mean, double deviation, double *weight) {
    double t = STEP * (i - NODES / 2);
    *weight = STEP * exp(-t * t / 2) / sqrt(2 * M_PI);
    return mean + deviation * t;
}

double tacit_clipped_slope(double mean, double variance) {
    double sum = 0, weight, deviation = sqrt(variance);
    for (int i = 0; i < NODES; i++) {
        double z = node(i, mean, deviation, &weight), p = sigmoid(z), pi = tacit_clipped_link(z);
        sum += weight * p * (1 - p) * (p >= 0.5 ? pi : 1 - pi);
    }
    return sum;
}

/* The mean of sigma(offset + slope z), or of the link. */
static double mean_probability(double mean, double deviation, double offset, double slope) {
    double sum = 0, weight;
    for (int i = 0; i < NODES; i++)
        sum += sigmoid(offset + slope * node(i, mean, deviation, &weight)) * weight;
    return sum;
}

static double mean_link(double mean, double deviation) {
    double sum = 0, weight;
    for (int i = 0; i < NODES; i++) sum += tacit_clipped_link(node(i, mean, deviation, &weight)) * weight;
    return sum;
}

/* Newton's method for the line whose sigmoid is nearest to the link in expected log-loss. It is convex and smooth. */
static double nearest_slope(double mean, double deviation) {
    double offset = 0, slope = 1;
    for (int round = 0; round < 20; round++) {
        double g[2] = { 0, 0 }, h[3] = { 1e-9, 0, 1e-9 }, weight;
        for (int i = 0; i < NODES; i++) {
            double t = node(i, 0, 1, &weight), z = mean + deviation * t, p = sigmoid(offset + slope * z);
            double error = p - tacit_clipped_link(z), curvature = weight * p * (1 - p);
            g[0] += weight * error;
            g[1] += weight * error * z;
            h[0] += curvature;
            h[1] += curvature * z;
            h[2] += curvature * z * z;
        }
        double determinant = h[0] * h[2] - h[1] * h[1];
        if (!(determinant > 0)) break;
        offset -= (h[2] * g[0] - h[1] * g[1]) / determinant;
        slope -= (h[0] * g[1] - h[1] * g[0]) / determinant;
    }
    return fmin(fmax(slope, 0.5), 1); /* the link's own slopes; what numbers may do far out is no matter */
}

void tacit_clipped_log_odds(double *offset, double *slope, double mean, double variance, double held) {
    const double apart = 4, stretch = 1.4;
    double deviation = sqrt(variance), beyond = fmin(fmax(variance / apart - 1, 0), 1);
    double wanted =
        (1 - beyond) * mean_link(mean, deviation) + beyond * mean_probability(mean, deviation, 0, 1);
    *slope = (1 - beyond) * nearest_slope(mean, deviation) + beyond * stretch * (1 + held);
    double low = -50, high = 50;
    while (high - low > 1e-9) {
        double middle = low + (high - low) / 2;
        if (mean_probability(mean, deviation, middle, *slope) < wanted)
            low = middle;
        else
            high = middle;
    }
    *offset = low + (high - low) / 2;
}
