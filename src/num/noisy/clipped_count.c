#include "num/noisy/clipped_count.h"

#include <math.h>
#include <stddef.h>

/* Integrals over a normal density: NODES points, STEP apart, within 5 standard deviations. */
enum { NODES = 41 };
static const double STEP = 0.25;

/* Beyond it a Poisson response is as good as symmetric about its mean. */
static const double LARGE = 400;

/* Sums over a Poisson response's chances: of clip(rate - Y, +-clip), and of those responses that are not
 * clipped. */
static double clipped_mean(double rate, double clip, double mean, double *unclipped) {
    double sum = 0, inside = 0, most = mean + 10 * sqrt(mean) + 20, chance = exp(-mean);
    for (double y = 0; y <= most; y++) {
        double residual = rate - y;
        sum += chance * fmin(fmax(residual, -clip), clip);
        inside += fabs(residual) < clip ? chance : 0;
        chance *= mean / (y + 1);
    }
    if (unclipped != NULL) *unclipped = inside;
    return sum;
}

double tacit_clipped_count_mean(double rate, double clip) {
    if (!(rate < LARGE) || clip > 8 * sqrt(rate) + 12) return rate;
    double low = rate / 2, high = 2 * rate + clip;
    for (int round = 0; round < 40; round++) {
        double middle = low + (high - low) / 2;
        *(clipped_mean(rate, clip, middle, NULL) > 0 ? &low : &high) = middle;
    }
    return low + (high - low) / 2;
}

/* Point i and its weight, the rate there taken into it. */
static double node(int i, double mean, double deviation, double *weight) {
    double t = STEP * (i - NODES / 2), z = mean + deviation * t;
    *weight = STEP * exp(-t * t / 2 + fmin(z, 50)) / sqrt(2 * M_PI);
    return z;
}

double tacit_clipped_count_slope(double mean, double variance, double clip) {
    double sum = 0, all = 0, weight;
    for (int i = 0; i < NODES; i++) {
        double rate = exp(fmin(node(i, mean, sqrt(variance), &weight), 50)), inside = 1;
        if (rate < LARGE && clip <= 8 * sqrt(rate) + 12)
            (void)clipped_mean(rate, clip, tacit_clipped_count_mean(rate, clip), &inside);
        sum += weight * inside;
        all += weight;
    }
    return sum / all;
}

void tacit_clipped_count_line(double *offset, double *slope, double mean, double variance, double clip) {
    double weights = 0, z1 = 0, z2 = 0, y1 = 0, zy = 0, weight;
    for (int i = 0; i < NODES; i++) {
        double z = fmin(node(i, mean, sqrt(variance), &weight), 50);
        double y = log(tacit_clipped_count_mean(exp(z), clip)) - z;
        weights += weight;
        z1 += weight * (z - mean);
        z2 += weight * (z - mean) * (z - mean);
        y1 += weight * y;
        zy += weight * (z - mean) * y;
    }
    double spread = z2 - z1 * z1 / weights,
           tilt = spread > 1e-9 * weights ? (zy - z1 * y1 / weights) / spread : 0;
    *slope = 1 + fmin(fmax(tilt, -0.5), 0.5);
    *offset = y1 / weights - (*slope - 1) * (mean + z1 / weights);
}
