#include "data/measure/score_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/special.h"

size_t tacit_score_cell(double score, size_t cells) {
    double place = floor(score * (double)cells);
    return (size_t)fmin(fmax(place, 0), (double)(cells - 1));
}

double tacit_score_middle(size_t cell, size_t cells) { return ((double)cell + 0.5) / (double)cells; }

tacit_figure tacit_figure_of(double value, double error, double noise, double confidence, double least,
                             double most) {
    if (!isfinite(value)) return (tacit_figure){ NAN, NAN, NAN, NAN, NAN };
    double reach = tacit_normal_tail_quantile(log((1 - confidence) / 2)) * hypot(error, noise);
    return (tacit_figure){ fmin(fmax(value, least), most), error, noise,
                           fmin(fmax(value - reach, least), most), fmax(fmin(value + reach, most), least) };
}

/* Coefficients of the counts in two sums whose ratio is wanted: positives first, then negatives. */
typedef struct ratio {
    const tacit_score_grid *grid;
    double confidence;
    double *above, *below; /* 2 cells each */
} ratio;

static double count_of(const tacit_score_grid *grid, size_t at) {
    return at < grid->cells ? grid->positives[at] : grid->negatives[at - grid->cells];
}

/* R = a.c/b.c moves by (a_i - R b_i)/b.c where count i moves by 1. Rows drawn from a population give count i
 * a variance of c_i, noise one of its own. */
static tacit_figure ratio_figure(const ratio *of, double least, double most) {
    size_t length = 2 * of->grid->cells;
    double up = 0, down = 0, rows = 0, noise = 0;
    for (size_t i = 0; i < length; i++) {
        up += of->above[i] * count_of(of->grid, i);
        down += of->below[i] * count_of(of->grid, i);
    }
    if (!(down > 0)) return tacit_figure_of(NAN, NAN, NAN, of->confidence, least, most);
    double value = up / down;
    for (size_t i = 0; i < length; i++) {
        double part = of->above[i] - value * of->below[i];
        rows += count_of(of->grid, i) * part * part;
        noise += part * part;
    }
    return tacit_figure_of(value, sqrt(fmax(0, rows)) / down, of->grid->noise * sqrt(noise) / down,
                           of->confidence, least, most);
}

/* Coefficients by class and by whether a cell is at or above `edge`. */
typedef struct quarter {
    double positive_above, negative_above, positive_below, negative_below;
} quarter;

static void fill(double *out, size_t cells, size_t edge, quarter values) {
    for (size_t i = 0; i < cells; i++) {
        out[i] = i >= edge ? values.positive_above : values.positive_below;
        out[cells + i] = i >= edge ? values.negative_above : values.negative_below;
    }
}

static tacit_figure quarters(const ratio *of, size_t edge, quarter above, quarter below, double least,
                             double most) {
    fill(of->above, of->grid->cells, edge, above);
    fill(of->below, of->grid->cells, edge, below);
    return ratio_figure(of, least, most);
}

static tacit_threshold_figures at_threshold(const ratio *of, double wanted) {
    size_t cells = of->grid->cells, edge = (size_t)(wanted * (double)cells + 0.5);
    double t = (double)edge / (double)cells, odds = t / (1 - t);
    const quarter all = { 1, 1, 1, 1 }, positives = { 1, 0, 1, 0 }, negatives = { 0, 1, 0, 1 };
    const quarter above = { 1, 1, 0, 0 }, below = { 0, 0, 1, 1 }, hits = { 1, 0, 0, 0 };
    const quarter rejected = { 0, 0, 0, 1 };
    return (tacit_threshold_figures){
        .threshold = t,
        .sensitivity = quarters(of, edge, hits, positives, 0, 1),
        .specificity = quarters(of, edge, rejected, negatives, 0, 1),
        .ppv = quarters(of, edge, hits, above, 0, 1),
        .npv = quarters(of, edge, rejected, below, 0, 1),
        .accuracy = quarters(of, edge, (quarter){ 1, 0, 0, 1 }, all, 0, 1),
        .flagged = quarters(of, edge, above, all, 0, 1),
        .net_benefit = quarters(of, edge, (quarter){ 1, -odds, 0, 0 }, all, -INFINITY, 1),
        .treat_all = quarters(of, edge, (quarter){ 1, -odds, 1, -odds }, all, -INFINITY, 1),
    };
}

/* ---- the area ---- */

typedef struct shares {
    double positives, negatives;
    double *beats;  /* of a positive row in the cell: the share of negatives below it, ties half */
    double *beaten; /* of a negative row: the share of positives above it */
} shares;

static double fill_shares(shares *out, const tacit_score_grid *grid) {
    double negatives_below = 0, positives_below = 0, pairs = 0;
    out->positives = out->negatives = 0;
    for (size_t i = 0; i < grid->cells; i++) {
        out->positives += grid->positives[i];
        out->negatives += grid->negatives[i];
    }
    for (size_t i = 0; i < grid->cells; i++) {
        double p = grid->positives[i], n = grid->negatives[i];
        out->beats[i] = (negatives_below + n / 2) / out->negatives;
        out->beaten[i] = 1 - (positives_below + p / 2) / out->positives;
        pairs += p * (negatives_below + n / 2);
        negatives_below += n;
        positives_below += p;
    }
    return pairs / (out->positives * out->negatives);
}

/* The variance that noise of variance 1 in all counts gives the area, were the shares those of the true
 * counts: d area/d p_i = (beats_i - area)/P, d area/d n_j = (beaten_j - area)/N, and the product of the two
 * noises has a part of its own, with the coefficients of the pairs that neither explains. The shares have
 * noise themselves, which adds that part to each of the first two sums: so once it is taken off. */
static double noise_in_area(const shares *of, size_t cells, double area, double noise) {
    double first = 0, product = 0;
    double p2 = of->positives * of->positives, n2 = of->negatives * of->negatives;
    for (size_t i = 0; i < cells; i++) {
        double row = of->beats[i] - area, column = of->beaten[i] - area;
        first += row * row / p2 + column * column / n2;
        for (size_t j = 0; j < cells; j++) {
            double won = j < i ? 1 : j == i ? 0.5 : 0;
            double left = won - of->beats[i] - of->beaten[j] + area;
            product += left * left;
        }
    }
    double square = noise * noise;
    first *= square;
    product *= square * square / (p2 * n2);
    return fmax(first - product, first / 2);
}

static tacit_status make_area(tacit_score_figures *out, const tacit_score_grid *grid, tacit_error *error) {
    size_t cells = grid->cells;
    double *room = TACIT_NEW(double, 2 * cells);
    if (room == NULL) return tacit_fail_memory(error);
    shares of = { .beats = room, .beaten = room + cells };
    double area = fill_shares(&of, grid), squares[2] = { 0, 0 }, tied = 0, noise = 0;
    for (size_t i = 0; i < cells; i++) {
        squares[1] += grid->positives[i] * (of.beats[i] - area) * (of.beats[i] - area);
        squares[0] += grid->negatives[i] * (of.beaten[i] - area) * (of.beaten[i] - area);
        tied += fmax(0, grid->positives[i]) * fmax(0, grid->negatives[i]);
    }
    bool both = of.positives > 0 && of.negatives > 0;
    if (both && grid->noise > 0) noise = sqrt(noise_in_area(&of, cells, area, grid->noise));
    free(room);
    double variance =
        squares[1] / (of.positives - 1) / of.positives + squares[0] / (of.negatives - 1) / of.negatives;
    bool several = of.positives > 1 && of.negatives > 1;
    out->auc = tacit_figure_of(both ? area : NAN, several ? sqrt(fmax(0, variance)) : NAN, noise,
                               out->confidence, 0, 1);
    out->auc_grid = both ? tied / 2 / (of.positives * of.negatives) : NAN;
    return TACIT_OK;
}

/* ---- calibration ---- */

/* y on intercept + slope logit p by Newton's method; `fixed`: the slope stays 1. */
typedef struct line {
    double intercept, slope;
    double error[2], noise[2];
    bool found;
} line;

typedef struct moments {
    double gradient[2], hessian[3],
        spread[3]; /* of (1, x); spread: what noise of variance 1 gives the gradient */
} moments;

static moments moments_at(const tacit_score_grid *grid, const line *at) {
    moments m = { { 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } };
    for (size_t i = 0; i < grid->cells; i++) {
        double middle = tacit_score_middle(i, grid->cells), x = log(middle / (1 - middle));
        double pi = 1 / (1 + exp(-(at->intercept + at->slope * x)));
        double p = grid->positives[i], n = grid->negatives[i];
        double residual = p * (1 - pi) - n * pi, weight = (p + n) * pi * (1 - pi);
        double wide = (1 - pi) * (1 - pi) + pi * pi;
        m.gradient[0] += residual;
        m.gradient[1] += residual * x;
        m.hessian[0] += weight;
        m.hessian[1] += weight * x;
        m.hessian[2] += weight * x * x;
        m.spread[0] += wide;
        m.spread[1] += wide * x;
        m.spread[2] += wide * x * x;
    }
    return m;
}

/* The inverse of a symmetric matrix of two columns; false: it has none that is positive. */
static bool invert(const double a[3], bool fixed, double out[3]) {
    double determinant = fixed ? a[0] : a[0] * a[2] - a[1] * a[1];
    if (!(determinant > 1e-12 * (fixed ? 1 : a[0] * a[2])) || !(a[0] > 0)) return false;
    out[0] = fixed ? 1 / a[0] : a[2] / determinant;
    out[1] = fixed ? 0 : -a[1] / determinant;
    out[2] = fixed ? 0 : a[0] / determinant;
    return true;
}

static void line_errors(line *at, const moments *m, const double v[3], double noise) {
    double first = v[0] * v[0] * m->spread[0] + 2 * v[0] * v[1] * m->spread[1] + v[1] * v[1] * m->spread[2];
    double second = v[1] * v[1] * m->spread[0] + 2 * v[1] * v[2] * m->spread[1] + v[2] * v[2] * m->spread[2];
    at->error[0] = sqrt(v[0]);
    at->error[1] = sqrt(v[2]);
    at->noise[0] = noise * sqrt(fmax(0, first));
    at->noise[1] = noise * sqrt(fmax(0, second));
}

static line fit_line(const tacit_score_grid *grid, bool fixed) {
    enum { MOST_STEPS = 100 };
    static const double FAR = 2;
    line at = { .slope = 1 };
    double v[3];
    for (int step = 0; step < MOST_STEPS; step++) {
        moments m = moments_at(grid, &at);
        if (!invert(m.hessian, fixed, v)) return at;
        double a = v[0] * m.gradient[0] + v[1] * m.gradient[1];
        double b = fixed ? 0 : v[1] * m.gradient[0] + v[2] * m.gradient[1];
        double length = fmax(fabs(a), fabs(b)), shorter = length > FAR ? FAR / length : 1;
        at.intercept += shorter * a;
        at.slope += shorter * b;
        if (!(length <= 1e-11 * (1 + fabs(at.intercept) + fabs(at.slope)))) continue;
        line_errors(&at, &m, v, grid->noise);
        at.found = fabs(at.intercept) < 30 && fabs(at.slope) < 1000;
        return at;
    }
    return at;
}

static void make_lines(tacit_score_figures *out, const tacit_score_grid *grid) {
    double confidence = out->confidence;
    line free_slope = fit_line(grid, false), fixed = fit_line(grid, true);
    out->slope = tacit_figure_of(free_slope.found ? free_slope.slope : NAN, free_slope.error[1],
                                 free_slope.noise[1], confidence, -INFINITY, INFINITY);
    out->intercept = tacit_figure_of(free_slope.found ? free_slope.intercept : NAN, free_slope.error[0],
                                     free_slope.noise[0], confidence, -INFINITY, INFINITY);
    out->in_the_large = tacit_figure_of(fixed.found ? fixed.intercept : NAN, fixed.error[0], fixed.noise[0],
                                        confidence, -INFINITY, INFINITY);
}

/* Means of score and outcome over cells from..until-1. */
static tacit_calibration_group group_of(const ratio *of, size_t from, size_t until) {
    size_t cells = of->grid->cells;
    tacit_calibration_group group = { .from = from, .until = until };
    memset(of->above, 0, 2 * cells * sizeof *of->above);
    memset(of->below, 0, 2 * cells * sizeof *of->below);
    for (size_t i = from; i < until; i++) {
        of->below[i] = of->below[cells + i] = 1;
        of->above[i] = of->above[cells + i] = tacit_score_middle(i, cells);
        group.rows += of->grid->positives[i] + of->grid->negatives[i];
    }
    group.predicted = ratio_figure(of, 0, 1);
    for (size_t i = from; i < until; i++) {
        of->above[i] = 1;
        of->above[cells + i] = 0;
    }
    group.observed = ratio_figure(of, 0, 1);
    return group;
}

/* Groups of about as many rows, from the lowest scores up: one ends with the cell in which the rows so far
 * reach the next k-th part of all, if it has at least `least`. What is left at the end and is too small joins
 * the last. */
static void make_groups(tacit_score_figures *out, const ratio *of, const tacit_score_wishes *wishes) {
    const tacit_score_grid *grid = of->grid;
    double all = 0, seen = 0, before = 0;
    for (size_t i = 0; i < grid->cells; i++) all += grid->positives[i] + grid->negatives[i];
    size_t edge[TACIT_CALIBRATION_GROUPS_MOST + 1] = { 0 }, count = 0, next = 1;
    double least = fmax(wishes->least, 1);
    for (size_t i = 0; i < grid->cells; i++) {
        seen += grid->positives[i] + grid->negatives[i];
        if (seen - before < least || seen < (double)next * all / (double)wishes->groups) continue;
        while (next <= wishes->groups && seen >= (double)next * all / (double)wishes->groups) next++;
        edge[++count] = i + 1;
        before = seen;
        if (count == wishes->groups) break;
    }
    if (count > 0) edge[count] = grid->cells; /* what is above joins the last */
    for (size_t g = 0; g < count; g++) out->group[g] = group_of(of, edge[g], edge[g + 1]);
    out->group_count = count;
}

/* ---- the curve ---- */

/* The nearest ascending shares within [0, 1] are found twice, from below (the largest so far) and from above
 * (the smallest to come); their mean ascends too and favours neither side. Of exact counts it is the shares
 * as they are. */
static void ascend(double *values, double *scratch, size_t count) {
    double last = 1;
    for (size_t i = count; i-- > 0;) scratch[i] = last = fmin(last, fmax(0, values[i]));
    last = 0;
    for (size_t i = 0; i < count; i++) {
        last = fmax(last, fmin(1, values[i]));
        values[i] = (last + scratch[i]) / 2;
    }
}

static tacit_status make_curve(tacit_score_figures *out, const tacit_score_grid *grid, double least,
                               tacit_error *error) {
    size_t cells = grid->cells, most = TACIT_CURVE_MOST - 2, count = 0;
    double *above = TACIT_NEW(double, 4 * (cells + 1)), *wrong = above + cells + 1, seen = 0, last = 0;
    double *rows = wrong + cells + 1, *scratch = rows + cells + 1;
    if (above == NULL) return tacit_fail_memory(error);
    for (size_t k = 0; k < cells; k++) { /* cells from the highest down */
        above[k + 1] = above[k] + grid->positives[cells - 1 - k];
        wrong[k + 1] = wrong[k] + grid->negatives[cells - 1 - k];
    }
    double positives = above[cells], negatives = wrong[cells];
    bool both = positives > 0 && negatives > 0;
    for (size_t k = 0; k <= cells && both; k++) {
        rows[k] = above[k] + wrong[k];
        above[k] /= positives;
        wrong[k] /= negatives;
    }
    if (both) ascend(above, scratch, cells + 1);
    if (both) ascend(wrong, scratch, cells + 1);
    /* rows, or all cells */
    double apart = fmax(fmax(least, 1), cells > most ? rows[cells] / (double)most : 0);
    for (size_t k = 0; k <= cells && both; k++) {
        seen = rows[k];
        bool end = k == 0 || k == cells;
        if (!end && (seen - last < apart || rows[cells] - seen < least || count > most)) continue;
        if (count > 0) last = seen;
        out->point[count++] = (tacit_curve_point){ (double)(cells - k) / (double)cells,
                                                   end ? k > 0 : above[k], end ? k > 0 : wrong[k] };
    }
    out->point_count = count;
    free(above);
    return TACIT_OK;
}

/* ---- all of it ---- */

tacit_score_wishes tacit_score_wishes_usual(void) {
    static const double usual[] = { .05, .1, .2, .3, .4, .5, .6, .7, .8, .9 };
    return (tacit_score_wishes){
        .confidence = 0.95, .thresholds = usual, .threshold_count = sizeof usual / sizeof *usual, .groups = 10
    };
}

static tacit_status check_grid(const tacit_score_grid *grid, tacit_error *error) {
    if (grid->cells < 2 || grid->cells > TACIT_SCORE_CELLS_MOST)
        return tacit_fail(error, TACIT_USAGE, "a grid of scores has 2 to %d cells, not %zu",
                          TACIT_SCORE_CELLS_MOST, grid->cells);
    for (size_t i = 0; i < 2 * grid->cells; i++)
        if (!isfinite(count_of(grid, i)) || (grid->noise == 0 && count_of(grid, i) < 0))
            return tacit_fail(error, TACIT_INPUT, "cell %zu of the grid of scores has %g rows",
                              i % grid->cells + 1, count_of(grid, i));
    return TACIT_OK;
}

static tacit_status check_wishes(const tacit_score_wishes *wishes, tacit_error *error) {
    if (!(wishes->confidence > 0 && wishes->confidence < 1))
        return tacit_fail(error, TACIT_USAGE, "a confidence lies between 0 and 1, not at %g",
                          wishes->confidence);
    if (wishes->threshold_count > TACIT_THRESHOLDS_MOST)
        return tacit_fail(error, TACIT_USAGE, "at most %d thresholds, not %zu", TACIT_THRESHOLDS_MOST,
                          wishes->threshold_count);
    for (size_t i = 0; i < wishes->threshold_count; i++)
        if (!(wishes->thresholds[i] > 0 && wishes->thresholds[i] < 1))
            return tacit_fail(error, TACIT_USAGE, "a threshold lies between 0 and 1, not at %g",
                              wishes->thresholds[i]);
    if (wishes->groups < 1 || wishes->groups > TACIT_CALIBRATION_GROUPS_MOST)
        return tacit_fail(error, TACIT_USAGE, "a calibration curve has 1 to %d groups, not %zu",
                          TACIT_CALIBRATION_GROUPS_MOST, wishes->groups);
    return TACIT_OK;
}

/* Coefficients of Brier score and log-loss; both are means over all rows. */
static void fill_losses(const ratio *of, bool squares) {
    size_t cells = of->grid->cells;
    for (size_t i = 0; i < cells; i++) {
        double p = tacit_score_middle(i, cells);
        of->above[i] = squares ? (1 - p) * (1 - p) : -log(p);
        of->above[cells + i] = squares ? p * p : -log1p(-p);
        of->below[i] = of->below[cells + i] = 1;
    }
}

static void make_means(tacit_score_figures *out, const ratio *of) {
    const quarter all = { 1, 1, 1, 1 };
    size_t cells = of->grid->cells;
    double rows = 0;
    for (size_t i = 0; i < 2 * cells; i++) rows += count_of(of->grid, i);
    out->rows =
        tacit_figure_of(rows, 0, of->grid->noise * sqrt(2 * (double)cells), of->confidence, 0, INFINITY);
    out->prevalence = quarters(of, 0, (quarter){ 1, 0, 1, 0 }, all, 0, 1);
    fill_losses(of, true);
    out->brier = ratio_figure(of, 0, 1);
    /* |(p - y)^2 - (m - y)^2| = |p - m| |p + m - 2y| <= 1/(2C) 2 */
    out->brier_grid = 1 / (double)cells;
    fill_losses(of, false);
    out->log_loss = ratio_figure(of, 0, INFINITY);
}

tacit_status tacit_score_figures_make(tacit_score_figures *out, const tacit_score_grid *grid,
                                      const tacit_score_wishes *wishes, tacit_error *error) {
    TACIT_TRY(check_wishes(wishes, error));
    TACIT_TRY(check_grid(grid, error));
    double *room = TACIT_NEW(double, 4 * grid->cells);
    if (room == NULL) return tacit_fail_memory(error);
    ratio of = { grid, wishes->confidence, room, room + 2 * grid->cells };
    *out = (tacit_score_figures){ .cells = grid->cells, .confidence = wishes->confidence };
    make_means(out, &of);
    out->threshold_count = wishes->threshold_count;
    for (size_t i = 0; i < wishes->threshold_count; i++)
        out->threshold[i] = at_threshold(&of, wishes->thresholds[i]);
    make_groups(out, &of, wishes);
    make_lines(out, grid);
    tacit_status status = make_area(out, grid, error);
    if (status == TACIT_OK) status = make_curve(out, grid, wishes->least, error);
    free(room);
    return status;
}

tacit_status tacit_score_figures_classes(tacit_figure *brier, tacit_figure *log_loss,
                                         const tacit_score_grid *grid, size_t classes, double confidence,
                                         tacit_error *error) {
    double rows = 0, sum[2] = { 0, 0 }, noise[2] = { 0, 0 }, squares[2] = { 0, 0 };
    for (size_t k = 0; k < classes; k++) TACIT_TRY(check_grid(&grid[k], error));
    size_t cells = grid[0].cells;
    for (size_t k = 0; k < classes; k++)
        for (size_t i = 0; i < cells; i++) {
            double p = tacit_score_middle(i, cells), own = grid[k].positives[i], other = grid[k].negatives[i];
            rows += own; /* every row is a positive of one class */
            sum[0] += own * (1 - p) * (1 - p) + other * p * p;
            sum[1] -= own * log(p);
            squares[1] += own * log(p) * log(p);
        }
    for (size_t k = 0; k < classes; k++)
        for (size_t i = 0; i < cells; i++) {
            double p = tacit_score_middle(i, cells), mean[2] = { sum[0] / rows, sum[1] / rows };
            noise[0] += pow((1 - p) * (1 - p) - mean[0], 2) + p * p * p * p;
            noise[1] += pow(-log(p) - mean[1], 2);
        }
    double each = grid[0].noise / rows, mean = sum[1] / rows;
    *brier = tacit_figure_of(rows > 0 ? sum[0] / rows : NAN, NAN, each * sqrt(noise[0]), confidence, 0, 2);
    *log_loss = tacit_figure_of(rows > 0 ? mean : NAN, sqrt(fmax(0, squares[1] / rows - mean * mean) / rows),
                                each * sqrt(noise[1]), confidence, 0, INFINITY);
    return TACIT_OK;
}
