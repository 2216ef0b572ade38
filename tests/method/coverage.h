/*
 * How often intervals of dpnewton's inference cover the truth: the mechanism played on sums, with the noise
 * and scales of a real plan and the statistics of num/noisy/noisy_inference.h. There are COVERAGE_POINTS different
 * rows, each equally often, and responses are drawn for each of these, so that a repeat costs little whatever
 * the number of rows; that is exact, for the model holds given the rows.
 */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "method/methods.h"
#include "method/private/dpnewton_inference.h"
#include "num/noisy/noisy_inference.h"
#include "num/noisy/noisy_moments.h"
#include "num/special.h"
#include "rand/fast.h"

enum { COVERAGE_POINTS = 1000, COVERAGE_WIDTH = 32, COVERAGE_MOST = 100 };

typedef struct coverage_case {
    bool linear;
    size_t rows, d;   /* d counts the intercept */
    size_t rare;      /* columns that are 1 in few rows: the last in 3%, those before it in 10% */
    double intercept; /* log-odds where all columns are 0 */
    double epsilon;
    double spread;                /* of a number around its mean, in [-1, 1]; 0: COVERAGE_SPREAD */
    bool without_noise_in_errors; /* a mistake, to be noticed */
} coverage_case;

typedef struct coverage_result {
    size_t repeats, given, calm; /* calm: with kk < .3 */
    size_t covered[COVERAGE_WIDTH], calm_covered[COVERAGE_WIDTH];
    double width; /* of the intervals, over those without noise by the true model; mean over coefficients */
    double noise; /* share in the variance, likewise */
} coverage_result;

typedef struct coverage_world {
    const coverage_case *about;
    tacit_plan plan;
    tacit_schema *schema;
    dpnewton_inference design;
    double x[COVERAGE_POINTS][COVERAGE_WIDTH], v[COVERAGE_POINTS], score[COVERAGE_POINTS];
    double below[COVERAGE_POINTS][COVERAGE_MOST + 1];    /* the distribution of how many have the outcome */
    double truth[COVERAGE_WIDTH], usual[COVERAGE_WIDTH]; /* of x; standard errors without noise */
    double count[COVERAGE_POINTS], ones[COVERAGE_POINTS], sum[COVERAGE_POINTS], squares[COVERAGE_POINTS];
} coverage_world;

static const double COVERAGE_SPREAD = 0.1; /* with which a number is hardly ever beyond [-1, 1] */

static inline double coverage_spread(const coverage_world *world) {
    return world->about->spread > 0 ? world->about->spread : COVERAGE_SPREAD;
}

static inline void coverage_make_plan(coverage_world *world) {
    const coverage_case *about = world->about;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer text = TACIT_BUFFER_INIT;
    char number[32];
    CHECK_OK(tacit_buffer_print(&text, &error, "label: {name: y, %s}\ncolumns:\n",
                                about->linear ? "kind: number, low: -1, high: 1" : "classes: [a, b]"),
             error);
    for (size_t j = 0; j + 1 < about->d; j++)
        CHECK_OK(tacit_buffer_print(&text, &error, "  - {name: x%zu, kind: number, low: -1, high: 1}\n", j),
                 error);
    CHECK_OK(tacit_schema_parse(&world->schema, tacit_buffer_text(&text), text.length, "test", &error),
             error);
    tacit_buffer_clear(&text);
    world->plan = (tacit_plan){ .method = &tacit_method_dpnewton,
                                .epsilon = about->epsilon,
                                .delta = 1e-5,
                                .lambda = 1e-6,
                                .features = about->d,
                                .classes = about->linear ? 0 : 2,
                                .parties = 5,
                                .minimum_parties = 5,
                                .minimum_rows = 1,
                                .schema = world->schema };
    snprintf(number, sizeof number, "%zu", about->rows);
    CHECK_OK(tacit_plan_set(&world->plan, "purpose", "inference", &error), error);
    CHECK_OK(tacit_plan_set(&world->plan, "noise", "coordinator", &error), error);
    CHECK_OK(tacit_plan_set(&world->plan, "rows", number, &error), error);
    CHECK_OK(tacit_plan_check(&world->plan, &error), error);
    CHECK_OK(dpnewton_inference_describe(&world->plan, &world->design, &error), error);
}

/* Numbers that go together a little, every third column a category, the last ones rare. */
static inline void coverage_make_point(coverage_world *world, size_t i, tacit_stream *stream) {
    size_t d = world->about->d;
    double common = tacit_fast_normal(stream), square = 0;
    /* x = u/R; an encoded row of this schema has the intercept `encoded`, and x of it is encoded times
     * design.intercept. */
    double unit = world->design.encoded * world->design.intercept;
    for (size_t j = 0; j < d; j++) {
        bool rare = j + 1 + world->about->rare >= d, last = j + 2 == d;
        double u = 0.4 * (0.4 * common + 0.917 * tacit_fast_normal(stream)),
               chance = tacit_stream_unit(stream);
        u = fmin(fmax(u, -1), 1);
        if (rare)
            u = chance < (last ? 0.03 : 0.1);
        else if (j % 3 == 2)
            u = chance < 0.4;
        if (j + 1 == d) u = 1;
        world->x[i][j] = u * unit;
        square += u * u * unit * unit;
    }
    world->v[i] = 1 / fmax(1, square);
}

/* Standard errors of the usual estimate from this many rows. */
static inline void coverage_usual(coverage_world *world) {
    size_t d = world->about->d;
    double matrix[COVERAGE_WIDTH * COVERAGE_WIDTH] = { 0 }, room[COVERAGE_WIDTH * COVERAGE_WIDTH];
    const double spread = coverage_spread(world);
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t i = 0; i < COVERAGE_POINTS; i++) {
        double p = 1 / (1 + exp(-world->score[i])),
               weight = world->about->linear ? 1 / (spread * spread) : p * (1 - p);
        weight *= (double)world->about->rows / COVERAGE_POINTS;
        for (size_t a = 0; a < d; a++)
            for (size_t b = 0; b < d; b++) matrix[a * d + b] += weight * world->x[i][a] * world->x[i][b];
    }
    for (size_t j = 0; j < d; j++) {
        double unit[COVERAGE_WIDTH] = { 0 };
        unit[j] = 1;
        CHECK_OK(tacit_moments_solve(unit, matrix, 1, 1e-12, room, d, &error), error);
        world->usual[j] = sqrt(unit[j]);
    }
}

/* P(X <= k) of a binomial X, k = 0 .. count. */
static inline void coverage_distribution(double *below, double count, double p) {
    double sum = 0;
    for (double k = 0; k <= count; k++) {
        sum += exp(tacit_log_binomial(count, k) + k * log(p) + (count - k) * log1p(-p));
        below[(size_t)k] = sum;
    }
}

static inline coverage_world *coverage_begin(const coverage_case *about) {
    coverage_world *world = calloc(1, sizeof *world);
    tacit_stream stream = tacit_stream_from_seed(11);
    size_t d = about->d;
    assert_true(world != NULL && d <= COVERAGE_WIDTH && about->rows <= COVERAGE_MOST * COVERAGE_POINTS &&
                about->rows % COVERAGE_POINTS == 0);
    world->about = about;
    coverage_make_plan(world);
    double unit = world->design.encoded * world->design.intercept, size = d > 10 ? 0.7 : 1;
    if (about->linear) size = d > 10 ? 0.04 : 0.12;
    for (size_t j = 0; j < d; j++)
        world->truth[j] = (j % 2 ? -1 : 1) * (0.3 + 0.25 * (double)(j % 4)) * size / unit;
    world->truth[d - 1] = (about->linear ? 0.05 : about->intercept) / unit;
    for (size_t i = 0; i < COVERAGE_POINTS; i++) {
        coverage_make_point(world, i, &stream);
        for (size_t j = 0; j < d; j++) world->score[i] += world->x[i][j] * world->truth[j];
        world->count[i] = (double)(about->rows / COVERAGE_POINTS);
        coverage_distribution(world->below[i], world->count[i], 1 / (1 + exp(-world->score[i])));
    }
    coverage_usual(world);
    return world;
}

static inline void coverage_end(coverage_world *world) {
    tacit_schema_free(world->schema);
    free(world);
}

/* How many of a point's rows have the outcome: by the inverse of the binomial's distribution, exact except
 * for rounding. */
static inline double coverage_binomial(const double *below, size_t most, tacit_stream *stream) {
    double chance = tacit_stream_unit(stream);
    size_t low = 0, high = most;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (below[middle] > chance)
            high = middle;
        else
            low = middle + 1;
    }
    return (double)low;
}

/* Half a chi-square of 2 * shape degrees of freedom, shape >= 1 (Marsaglia and Tsang 2000). */
static inline double coverage_gamma(double shape, tacit_stream *stream) {
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double z = tacit_fast_normal(stream), v = pow(1 + c * z, 3);
        if (v > 0 && log(tacit_stream_unit(stream)) < z * z / 2 + d - d * v + d * log(v)) return d * v;
    }
}

/* New responses. For a number with normal errors the mean of a point's and their spread around it are
 * independent. */
static inline void coverage_draw_rows(coverage_world *world, tacit_stream *stream) {
    double each = (double)world->about->rows / COVERAGE_POINTS, spread = coverage_spread(world);
    for (size_t i = 0; i < COVERAGE_POINTS; i++) {
        if (!world->about->linear) {
            world->ones[i] = coverage_binomial(world->below[i], (size_t)each, stream);
            continue;
        }
        double mean = world->score[i] + spread / sqrt(each) * tacit_fast_normal(stream);
        world->sum[i] = each * mean;
        world->squares[i] = each * mean * mean + 2 * spread * spread * coverage_gamma((each - 1) / 2, stream);
    }
}

static inline void coverage_add_square(double *matrix, double weight, const double *x, size_t wide) {
    for (size_t a = 0; a < wide; a++)
        for (size_t b = a; b < wide; b++) matrix[a * wide + b] += weight * x[a] * x[b];
}

/* With noise of `deviation` on each of `count` numbers. */
static inline void coverage_blur(double *values, size_t count, double deviation, tacit_stream *stream) {
    for (size_t j = 0; j < count; j++) values[j] += deviation * tacit_fast_normal(stream);
}

static inline void coverage_moments(const coverage_world *world, double *out, tacit_stream *stream) {
    size_t d = world->about->d, wide = d + world->about->linear;
    double matrix[(COVERAGE_WIDTH + 1) * (COVERAGE_WIDTH + 1)] = { 0 }, tau = dpnewton_inference_tau;
    for (size_t i = 0; i < COVERAGE_POINTS; i++) {
        const double *x = world->x[i];
        for (size_t a = 0; a < d; a++) {
            for (size_t b = a; b < d; b++)
                matrix[a * wide + b] += world->count[i] * world->v[i] * x[a] * x[b];
            if (wide > d) matrix[a * wide + d] += world->v[i] * x[a] * tau * world->sum[i];
        }
        if (wide > d) matrix[d * wide + d] += world->v[i] * tau * tau * world->squares[i];
    }
    tacit_moments_pack(out, matrix, wide);
    coverage_blur(out, tacit_moments_length(wide), world->design.release[0].deviation, stream);
}

/* g at w, and H and B where there is room for them; without noise. */
static inline void coverage_pull(const coverage_world *world, const double *w, double *g, double *h,
                                 double *b) {
    size_t d = world->about->d;
    double most = world->design.most;
    memset(g, 0, d * sizeof *g);
    for (size_t i = 0; i < COVERAGE_POINTS; i++) {
        const double *x = world->x[i];
        double score = 0, v = world->v[i], n = world->count[i], ones = world->ones[i];
        for (size_t j = 0; j < d; j++) score += x[j] * w[j];
        double p = 1 / (1 + exp(-score)), factor = tacit_bounded_factor(p, most);
        for (size_t j = 0; j < d; j++) g[j] += v * factor * (p * n - ones) * x[j];
        if (h == NULL) continue;
        coverage_add_square(h, v * factor * p * (1 - p) * n, x, d);
        coverage_add_square(b, v * v * factor * factor * (ones * (1 - p) * (1 - p) + (n - ones) * p * p), x,
                            d);
    }
}

static inline void coverage_logistic(const coverage_world *world, tacit_noisy_estimate *out,
                                     tacit_stream *stream) {
    const dpnewton_inference *design = &world->design;
    size_t d = world->about->d, length = tacit_moments_length(d), last = design->steps + 1;
    double packed[2][COVERAGE_WIDTH * (COVERAGE_WIDTH + 1) / 2], g[COVERAGE_WIDTH];
    double full[2][COVERAGE_WIDTH * COVERAGE_WIDTH] = { { 0 }, { 0 } };
    tacit_approach approach;
    tacit_error error = TACIT_ERROR_INIT;
    coverage_moments(world, packed[0], stream);
    CHECK_OK(tacit_approach_begin(&approach, packed[0], design->release[0].deviation,
                                  (double)world->about->rows, design->encoded * design->intercept,
                                  design->most, 0.2 / design->strength + 0.1, d, &error),
             error);
    for (size_t t = 1; t <= design->steps; t++) {
        coverage_pull(world, approach.w, g, NULL, NULL);
        coverage_blur(g, d, design->release[t].deviation, stream);
        CHECK_OK(
            tacit_approach_step(&approach, g, t + 2 > design->steps ? design->release[t].share : 0, &error),
            error);
    }
    tacit_approach_end(&approach);
    coverage_pull(world, approach.w, g, full[0], full[1]);
    double deviation = design->release[last].deviation;
    coverage_blur(g, d, deviation, stream);
    for (int k = 0; k < 2; k++) {
        tacit_moments_pack(packed[k], full[k], d);
        coverage_blur(packed[k], length, deviation / dpnewton_inference_kappa[k], stream);
    }
    bool mistaken = world->about->without_noise_in_errors;
    tacit_noisy_curvature released = { approach.w,
                                       g,
                                       packed[0],
                                       packed[1],
                                       mistaken ? 0 : deviation,
                                       mistaken ? 0 : deviation / dpnewton_inference_kappa[0] };
    CHECK_OK(tacit_noisy_logistic(out, &released, d, &error), error);
    tacit_approach_clear(&approach);
}

static inline void coverage_linear(const coverage_world *world, tacit_noisy_estimate *out,
                                   tacit_stream *stream) {
    const dpnewton_inference *design = &world->design;
    double packed[(COVERAGE_WIDTH + 1) * (COVERAGE_WIDTH + 2) / 2];
    tacit_error error = TACIT_ERROR_INIT;
    coverage_moments(world, packed, stream);
    CHECK_OK(tacit_noisy_linear(out, packed,
                                world->about->without_noise_in_errors ? 0 : design->release[0].deviation,
                                dpnewton_inference_tau, (double)world->about->rows,
                                design->encoded * design->intercept, world->about->d, &error),
             error);
}

static inline void coverage_count(const coverage_world *world, const tacit_noisy_estimate *estimate,
                                  coverage_result *out) {
    size_t d = world->about->d;
    bool calm = estimate->size < 0.3 * estimate->smallest;
    out->repeats++;
    if (!estimate->estimable) return;
    out->given++;
    out->calm += calm;
    for (size_t j = 0; j < d; j++) {
        double variance = estimate->covariance[j * d + j], error = sqrt(variance);
        bool covers = fabs(estimate->theta[j] - world->truth[j]) <= 1.959963984540054 * error;
        out->covered[j] += covers;
        out->calm_covered[j] += covers && calm;
        out->width += error / world->usual[j] / (double)d;
        out->noise += (1 - estimate->sampling[j * d + j] / variance) / (double)d;
    }
}

/* The smallest eigenvalue of a symmetric positive matrix, by inverse iteration. */
static inline double coverage_smallest(const double *matrix, size_t d) {
    double at[COVERAGE_WIDTH], room[COVERAGE_WIDTH * COVERAGE_WIDTH], length = 1;
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t j = 0; j < d; j++) at[j] = 1 + 0.1 * (double)j;
    for (int step = 0; step < 200; step++) {
        double square = 0;
        CHECK_OK(tacit_moments_solve(at, matrix, 1, 1e-12, room, d, &error), error);
        for (size_t j = 0; j < d; j++) square += at[j] * at[j];
        length = sqrt(square);
        for (size_t j = 0; j < d; j++) at[j] /= length;
    }
    return 1 / length;
}

/*
 * What the width of a linear model's intervals would be by the plain rule that ours is measured against: rows divided by R, R^2 =
 * (1 + G)/2 for every price, and cov = A^-1 [s2 A + N] A^-1 (1 + kk^2/4), at the true model and without drawing
 * anything. 0 where that rule gives none (kk > 1/.7).
 */
static inline double coverage_plain_width(const coverage_world *world) {
    const size_t d = world->about->d;
    const double rows = (double)world->about->rows, unit = world->design.encoded * world->design.intercept,
                 scale = 1 / (unit * sqrt((double)d / 2)), tau = dpnewton_inference_tau,
                 s = M_SQRT2 * (1 + tau * tau) / world->design.strength;
    double matrix[COVERAGE_WIDTH * COVERAGE_WIDTH] = { 0 }, room[COVERAGE_WIDTH * COVERAGE_WIDTH],
                                   w[COVERAGE_WIDTH], length = 0, sum = 0;
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t i = 0; i < COVERAGE_POINTS; i++) {
        double square = 0;
        for (size_t j = 0; j < d; j++) square += pow(world->x[i][j] * scale, 2);
        double weight = rows / COVERAGE_POINTS * scale * scale / fmax(1, square);
        for (size_t a = 0; a < d; a++)
            for (size_t b = 0; b < d; b++) matrix[a * d + b] += weight * world->x[i][a] * world->x[i][b];
    }
    for (size_t j = 0; j < d; j++) w[j] = world->truth[j] / scale;
    for (size_t j = 0; j < d; j++) length += w[j] * w[j];
    const double kk = s * sqrt(2 * (double)d) / coverage_smallest(matrix, d),
                 s2 = pow(coverage_spread(world), 2) + s * (length + 1 / (tau * tau)) / rows;
    if (kk > 1 / 0.7) return 0;
    for (size_t j = 0; j < d; j++) {
        double column[COVERAGE_WIDTH] = { 0 }, square = 0, along = 0;
        column[j] = 1;
        CHECK_OK(tacit_moments_solve(column, matrix, 1, 1e-12, room, d, &error), error); /* of A^-1 */
        for (size_t a = 0; a < d; a++) square += column[a] * column[a];
        for (size_t a = 0; a < d; a++) along += column[a] * w[a];
        double variance = s2 * column[j] + s * s / 2 * ((1 / (tau * tau) + length) * square + along * along);
        sum += sqrt(variance * (1 + kk * kk / 4)) * scale / world->usual[j] / (double)d;
    }
    return sum;
}

/* Add `repeats` to `out`. */
static inline void coverage_run(coverage_world *world, size_t repeats, uint64_t seed, coverage_result *out) {
    tacit_stream stream = tacit_stream_from_seed(seed);
    for (size_t r = 0; r < repeats; r++) {
        tacit_noisy_estimate estimate;
        coverage_draw_rows(world, &stream);
        if (world->about->linear)
            coverage_linear(world, &estimate, &stream);
        else
            coverage_logistic(world, &estimate, &stream);
        coverage_count(world, &estimate, out);
        tacit_noisy_estimate_clear(&estimate);
    }
}
