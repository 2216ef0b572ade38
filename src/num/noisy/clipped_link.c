#include "num/noisy/clipped_link.h"

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

/* Newton's method for the line whose sigmoid is nearest to the link in expected log-loss. It is convex and
 * smooth. */
static double nearest_slope(double mean, double deviation) {
    double offset = 0, slope = 1;
    for (int round = 0; round < 20; round++) {
        double g[2] = { 0, 0 }, h[3] = { 1e-9, 0, 1e-9 }, weight;
        for (int i = 0; i < NODES; i++) {
            double z = node(i, mean, deviation, &weight), p = sigmoid(offset + slope * z);
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

/* The line before pulls are looked at. Where classes are nearly `apart` weights are held back, and stretched.
 * The offset keeps the mean probability. */
static void first_line(double at[2], double mean, double deviation, double apart, double held) {
    const double stretch = 1.4;
    double wanted =
        (1 - apart) * mean_link(mean, deviation) + apart * mean_probability(mean, deviation, 0, 1);
    at[1] = (1 - apart) * nearest_slope(mean, deviation) + apart * stretch * (1 + held);
    double low = -50, high = 50;
    while (high - low > 1e-9) {
        double middle = low + (high - low) / 2;
        *(mean_probability(mean, deviation, middle, at[1]) < wanted ? &low : &high) = middle;
    }
    at[0] = low + (high - low) / 2;
}

/* The pulls that a line's chances would make, and how they change with its offset and slope (a symmetric
 * matrix: 3 numbers). */
static void expected_pulls(double pull[2], double change[3], double mean, double deviation, double offset,
                           double slope) {
    double weight;
    pull[0] = pull[1] = change[0] = change[1] = change[2] = 0;
    for (int i = 0; i < NODES; i++) {
        double z = node(i, mean, deviation, &weight), p = sigmoid(z), chance = sigmoid(offset + slope * z);
        double of_0 = fmin(p, 0.5), of_1 = fmin(1 - p, 0.5);
        double residual = weight * ((1 - chance) * of_0 - chance * of_1);
        double by = -weight * (of_0 + of_1) * chance * (1 - chance);
        pull[0] += residual;
        pull[1] += residual * z;
        change[0] += by;
        change[1] += by * z;
        change[2] += by * z * z;
    }
}

/* One step of Newton's method for the line that the pulls and the one before them make likely. */
static void improve_line(double at[2], const double before[2], double doubt, double mean, double deviation,
                         const tacit_clipped_pulls *seen) {
    const double most_move = 0.5;
    double pull[2], by[3], g[2], h[3], precise[2];
    expected_pulls(pull, by, mean, deviation, at[0], at[1]);
    for (int k = 0; k < 2; k++) precise[k] = 1 / (seen->unsure[k] * seen->unsure[k]);
    double off[2] = { precise[0] * (pull[0] - seen->pull[0]), precise[1] * (pull[1] - seen->pull[1]) };
    g[0] = by[0] * off[0] + by[1] * off[1] + (at[0] - before[0]) / doubt;
    g[1] = by[1] * off[0] + by[2] * off[1] + (at[1] - before[1]) / doubt;
    h[0] = by[0] * by[0] * precise[0] + by[1] * by[1] * precise[1] + 1 / doubt;
    h[1] = by[0] * by[1] * precise[0] + by[1] * by[2] * precise[1];
    h[2] = by[1] * by[1] * precise[0] + by[2] * by[2] * precise[1] + 1 / doubt;
    double determinant = h[0] * h[2] - h[1] * h[1];
    if (!(determinant > 0)) return;
    double move[2] = { (h[2] * g[0] - h[1] * g[1]) / determinant, (h[0] * g[1] - h[1] * g[0]) / determinant };
    for (int k = 0; k < 2; k++) at[k] -= fmin(fmax(move[k], -most_move), most_move);
    at[1] = fmin(fmax(at[1], 0.25), 6);
}

void tacit_clipped_log_odds(double *offset, double *slope, double mean, double variance,
                            const tacit_clipped_pulls *seen) {
    const double from = 4, deviation = sqrt(variance);
    const double apart = fmin(fmax(variance / from - 1, 0), 1), doubt = 0.1 * apart;
    double before[2], at[2];
    first_line(before, mean, deviation, apart, seen->held);
    at[0] = before[0];
    at[1] = before[1];
    for (int round = 0; doubt > 0 && round < 40; round++)
        improve_line(at, before, doubt, mean, deviation, seen);
    *offset = at[0];
    *slope = at[1];
}
