#include "num/noisy/clipped_link.h"

#include <math.h>
#include <string.h>

/* Integrals over a normal density: NODES points, STEP apart, within 8 standard deviations. */
enum { NODES = 129, MOST_LOOKS = 2 };
static const double STEP = 0.125;

/* How far off the pull along scores may be because they are not normal, as a part of their variance. */
static const double ABNORMAL = 0.02;

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

/* The offset that gives scores this mean probability at this slope. */
static double offset_of(double mean, double deviation, double slope, double wanted) {
    double low = -50, high = 50;
    while (high - low > 1e-9) {
        double middle = low + (high - low) / 2;
        *(mean_probability(mean, deviation, middle, slope) < wanted ? &low : &high) = middle;
    }
    return low + (high - low) / 2;
}

/* The pulls that a line's chances would make, how they change with its offset and slope, and the variance of
 * one row's (symmetric matrices: 3 numbers). */
typedef struct expectation {
    double pull[2], change[4], variance[3];
} expectation;

static expectation expect(const tacit_clipped_pulls *seen, const double line[2]) {
    const double mean = seen->mean, deviation = sqrt(seen->variance), reach = seen->reach;
    expectation out = { .pull = { 0, 0 } };
    double weight;
    for (int i = 0; i < NODES; i++) {
        double z = node(i, mean, deviation, &weight), p = sigmoid(z), chance = sigmoid(line[0] + line[1] * z);
        double of_0 = fmin(p, 0.5), of_1 = fmin(1 - p, 0.5);
        double residual = weight * ((1 - chance) * of_0 - chance * of_1);
        double by = -weight * (of_0 + of_1) * chance * (1 - chance);
        double square = weight * ((1 - chance) * of_0 * of_0 + chance * of_1 * of_1);
        double t = reach > 0 ? fmin(fmax((z - mean) / deviation, -reach), reach) : z;
        out.pull[0] += residual;
        out.pull[1] += residual * t;
        out.change[0] += by;
        out.change[1] += by * z;
        out.change[2] += by * t;
        out.change[3] += by * t * z;
        out.variance[0] += square;
        out.variance[1] += square * t;
        out.variance[2] += square * t * t;
    }
    return out;
}

static double determinant(const double matrix[3]) { return matrix[0] * matrix[2] - matrix[1] * matrix[1]; }

static void times(double out[2], const double matrix[3], const double by[2]) {
    out[0] = matrix[0] * by[0] + matrix[1] * by[1];
    out[1] = matrix[1] * by[0] + matrix[2] * by[1];
}

static void inverse(double out[3], const double matrix[3]) {
    double by = determinant(matrix);
    out[0] = matrix[2] / by;
    out[1] = -matrix[1] / by;
    out[2] = matrix[0] / by;
}

/* A belief about the line, of that mean and these variances, and what pulls make of it. */
typedef struct belief {
    double before[2], doubt[2];
    double line[2];
    double evidence; /* the logarithm of how likely the pulls are under it, up to what all beliefs share */
} belief;

/* What one look at pulls says of a line: minus the logarithm of its likelihood, and two derivatives. */
typedef struct sight {
    double precise[3]; /* of the pulls */
    double constant;   /* log determinant of their variance */
    double loss, g[2], h[3];
} sight;

/* The precision of what is seen: of its noise, of rows that are drawn, of scores that are not normal. */
static void focus(sight *out, const tacit_clipped_pulls *seen, const double line[2]) {
    const expectation now = expect(seen, line);
    double unsure[3];
    for (int k = 0; k < 3; k++) unsure[k] = seen->noise[k] + now.variance[k] / seen->rows + (k != 1) * 1e-12;
    unsure[2] += pow(ABNORMAL * (seen->reach > 0 ? sqrt(seen->variance) : seen->variance), 2);
    inverse(out->precise, unsure);
    out->constant = log(determinant(unsure));
}

static void look(sight *out, const tacit_clipped_pulls *seen, const double line[2]) {
    const expectation now = expect(seen, line);
    const double off[2] = { now.pull[0] - seen->pull[0], now.pull[1] - seen->pull[1] }, *by = now.change;
    double weighed[2], left[2], right[2];
    times(weighed, out->precise, off);
    times(left, out->precise, (const double[]){ by[0], by[2] });
    times(right, out->precise, (const double[]){ by[1], by[3] });
    out->loss = (off[0] * weighed[0] + off[1] * weighed[1] + out->constant) / 2;
    for (int k = 0; k < 2; k++) out->g[k] = by[k] * weighed[0] + by[2 + k] * weighed[1];
    out->h[0] = by[0] * left[0] + by[2] * left[1];
    out->h[1] = by[1] * left[0] + by[3] * left[1];
    out->h[2] = by[1] * right[0] + by[3] * right[1];
}

/* All looks together, and what was believed before. */
static sight look_at_all(const belief *about, const sight *each, const tacit_clipped_pulls *seen) {
    sight all = { .loss = 0 };
    for (; seen != NULL; seen = seen->more, each++) {
        sight one = *each;
        look(&one, seen, about->line);
        all.loss += one.loss;
        for (int k = 0; k < 2; k++) all.g[k] += one.g[k];
        for (int k = 0; k < 3; k++) all.h[k] += one.h[k];
    }
    for (int k = 0; k < 2; k++) {
        double off = about->line[k] - about->before[k];
        all.loss += off * off / about->doubt[k] / 2;
        all.g[k] += off / about->doubt[k];
        all.h[2 * k] += 1 / about->doubt[k];
    }
    return all;
}

/* Newton's method for the likeliest line, and Laplace's for the evidence. */
static void learn(belief *about, const tacit_clipped_pulls *seen) {
    const double most_move = 0.5;
    sight each[MOST_LOOKS], all;
    size_t looks = 0;
    for (const tacit_clipped_pulls *one = seen; one != NULL; one = one->more)
        focus(&each[looks++], one, about->before);
    all = look_at_all(about, each, seen);
    for (int round = 0; round < 40; round++) {
        double move[2], solved[3];
        inverse(solved, all.h);
        times(move, solved, all.g);
        for (int k = 0; k < 2; k++) about->line[k] -= fmin(fmax(move[k], -most_move), most_move);
        about->line[1] = fmin(fmax(about->line[1], 0.02), 6);
        all = look_at_all(about, each, seen);
    }
    about->evidence = -all.loss - 0.5 * (log(determinant(all.h)) + log(about->doubt[0] * about->doubt[1]));
}

/* Its line keeps that mean probability, before pulls are looked at. */
static belief believe(double slope, double doubt, double wanted, const tacit_clipped_pulls *seen) {
    belief out = { .before = { offset_of(seen->mean, sqrt(seen->variance), slope, wanted), slope },
                   .doubt = { 0.1, doubt } };
    memcpy(out.line, out.before, sizeof out.line);
    if (seen->rows > 0) learn(&out, seen);
    return out;
}

/* How likely it is before pulls are looked at that classes are nearly apart: by the variance that scores may
 * have, and less where a class is rare and where noise has made the scores. */
static double apart_before(double widest, double chance, double noisy) {
    const double from = 4, most = 0.95, common = 4 * chance * (1 - chance);
    return most * fmin(fmax(widest / from - 1, 0), 1) * pow(common, 4) * (1 - 0.75 * noisy);
}

void tacit_clipped_log_odds(double *offset, double *slope, double mean, double variance, double widest,
                            const tacit_clipped_pulls *seen) {
    const double deviation = sqrt(seen->variance), near = nearest_slope(seen->mean, deviation);
    belief link = believe(near, 0.1, mean_link(seen->mean, deviation), seen);
    double chance = mean_probability(seen->mean, deviation, link.line[0], link.line[1]), likely = 0;
    double before = apart_before(widest, chance, seen->noisy);
    *slope = fmin(link.line[1], near);
    if (before > 0) {
        belief apart =
            believe(1.4 * (1 + seen->held), 0.02, mean_probability(seen->mean, deviation, 0, 1), seen);
        likely = 1 / (1 + (1 - before) / before * exp(link.evidence - apart.evidence));
        *slope += likely * (apart.line[1] - *slope);
        chance += likely * (mean_probability(seen->mean, deviation, apart.line[0], apart.line[1]) - chance);
    }
    *offset = offset_of(mean, sqrt(variance), *slope, chance);
}
