#include "num/noisy/noisy_life.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/special.h"

/* ---- the square root of prefix sums ---- */

static void fill_root(double *c, size_t cells) {
    c[0] = 1;
    for (size_t k = 1; k < cells; k++) c[k] = c[k - 1] * (2 * (double)k - 1) / (2 * (double)k);
}

static void fill_inverse(double *r, size_t cells) {
    r[0] = 1;
    for (size_t k = 1; k < cells; k++) r[k] = r[k - 1] * (2 * (double)k - 3) / (2 * (double)k);
}

static double square_of(const double *values, size_t count) {
    double sum = 0;
    for (size_t k = 0; k < count; k++) sum += values[k] * values[k];
    return sum;
}

/* x <- T x in place, T lower triangular Toeplitz. */
static void multiply(const double *coefficient, double *x, size_t cells) {
    for (size_t i = cells; i-- > 0;) {
        double sum = 0;
        for (size_t j = 0; j <= i; j++) sum += coefficient[i - j] * x[j];
        x[i] = sum;
    }
}

void tacit_life_encode(double *counts, size_t cells) {
    double c[TACIT_LIFE_MOST_CELLS];
    fill_root(c, cells);
    multiply(c, counts, cells);
    double scale = sqrt(2 * square_of(c, cells));
    for (size_t k = 0; k < cells; k++) counts[k] /= scale;
}

/* ---- what a fit needs ---- */

typedef struct fit {
    const tacit_noisy_life *life;
    size_t blocks, causes;
    double noise; /* of C x, unscaled */
    double root[TACIT_LIFE_MOST_CELLS], inverse[TACIT_LIFE_MOST_CELLS];
    double *spread;              /* what each cell gets of the rows that are left over, of 1 in a histogram */
    double *base;                /* blocks x cells: the fitted counts, from which simulations start */
    double *counts;              /* blocks x cells: those of the release, or of a simulation */
    double *at_risk, *incidence; /* groups x cells, groups x causes x cells */
    double *start;               /* at risk by the fit */
    size_t *length;              /* of each group's curve */
    double *scratch;             /* 3 x cells */
    double *table[2];            /* at risk and events of the groups that are compared, times x groups */
    double *difference, *told, *middle;       /* 3 x groups: of a simulation, of the release, of the fit */
    double *squares;                          /* 3 x groups x groups */
    size_t *compared, compare, times, common; /* common: as far as all curves go */
    double *ratio; /* 4 x groups: of a simulation, of the fit, room, how many there were */
} fit;

static void end_fit(fit *self) {
    free(self->spread);
    free(self->base);
    free(self->counts);
    free(self->at_risk);
    free(self->incidence);
    free(self->length);
    free(self->scratch);
    free(self->table[0]);
    free(self->table[1]);
    free(self->difference);
    free(self->told);
    free(self->middle);
    free(self->start);
    free(self->squares);
    free(self->compared);
    free(self->ratio);
}

/* Cov(x, sum of x) is C^-1 w with w_i = c_{cells - 1 - i}; the variance of the sum is |c|^2. */
static void set_spread(fit *self) {
    size_t cells = self->life->cells;
    for (size_t i = 0; i < cells; i++) self->spread[i] = self->root[cells - 1 - i];
    multiply(self->inverse, self->spread, cells);
    double sum = square_of(self->root, cells) * (double)self->blocks;
    for (size_t i = 0; i < cells; i++) self->spread[i] /= sum;
}

static tacit_status begin_fit(fit *self, const tacit_noisy_life *life, tacit_error *error) {
    size_t cells = life->cells, groups = life->groups;
    *self = (fit){ .life = life, .blocks = groups * life->kinds, .causes = life->kinds - 1 };
    self->spread = TACIT_NEW(double, cells);
    self->base = TACIT_NEW(double, self->blocks *cells);
    self->counts = TACIT_NEW(double, self->blocks *cells);
    self->at_risk = TACIT_NEW(double, groups *cells);
    self->incidence = TACIT_NEW(double, groups * self->causes * cells);
    self->length = TACIT_NEW(size_t, groups);
    self->scratch = TACIT_NEW(double, 3 * cells);
    for (int k = 0; k < 2; k++) self->table[k] = TACIT_NEW(double, groups *cells);
    self->difference = TACIT_NEW(double, 3 * groups);
    self->told = TACIT_NEW(double, 3 * groups);
    self->middle = TACIT_NEW(double, 3 * groups);
    self->start = TACIT_NEW(double, groups *cells);
    self->squares = TACIT_NEW(double, 3 * groups * groups);
    self->compared = TACIT_NEW(size_t, groups);
    self->ratio = TACIT_NEW(double, 4 * groups);
    if (self->spread == NULL || self->base == NULL || self->counts == NULL || self->at_risk == NULL ||
        self->incidence == NULL || self->length == NULL || self->scratch == NULL || self->table[0] == NULL ||
        self->table[1] == NULL || self->difference == NULL || self->told == NULL || self->middle == NULL ||
        self->start == NULL || self->squares == NULL || self->compared == NULL || self->ratio == NULL)
        return tacit_fail_memory(error);
    fill_root(self->root, cells);
    fill_inverse(self->inverse, cells);
    self->noise = life->deviation * sqrt(2 * square_of(self->root, cells));
    set_spread(self);
    return TACIT_OK;
}

/* Counts that add up to the rows. */
static void settle_rows(const fit *self, double *counts) {
    size_t cells = self->life->cells;
    double left = self->life->rows;
    for (size_t k = 0; k < self->blocks * cells; k++) left -= counts[k];
    for (size_t b = 0; b < self->blocks; b++)
        for (size_t k = 0; k < cells; k++) counts[b * cells + k] += left * self->spread[k];
}

static void decode(fit *self) {
    size_t cells = self->life->cells;
    double scale = sqrt(2 * square_of(self->root, cells));
    for (size_t k = 0; k < self->blocks * cells; k++) self->counts[k] = self->life->released[k] * scale;
    for (size_t b = 0; b < self->blocks; b++) multiply(self->inverse, self->counts + b * cells, cells);
    if (self->noise > 0) settle_rows(self, self->counts);
}

/* The standard deviation of the noise in who of a group is at risk in cell k: those who leave from there on
 * are C's prefix sums, all less those before. */
static double at_risk_deviation(const fit *self, size_t k) {
    size_t cells = self->life->cells;
    double kinds = (double)self->life->kinds, groups = (double)self->life->groups, own = 0, shared = 0;
    for (size_t i = 0; i < cells; i++) {
        double all = self->root[cells - 1 - i], here = all - (i < k ? self->root[k - 1 - i] : 0);
        own += here * here;
        shared += here * all;
    }
    double all = square_of(self->root, cells);
    return self->noise * sqrt(fmax(0, kinds * own - kinds * shared * shared / (groups * all)));
}

/* ---- isotonic regression ---- */

/* Pool adjacent violators: `value` becomes the nearest that does not fall, by squares with weights, which are
 * lost. */
static void make_rising(double *value, double *weight, double *many, size_t count) {
    size_t blocks = 0;
    for (size_t k = 0; k < count; k++) {
        double mean = value[k], mass = weight[k], width = 1;
        while (blocks > 0 && value[blocks - 1] > mean) {
            blocks--;
            mean = (mean * mass + value[blocks] * weight[blocks]) / (mass + weight[blocks]);
            mass += weight[blocks];
            width += many[blocks];
        }
        value[blocks] = mean;
        weight[blocks] = mass;
        many[blocks++] = width;
    }
    for (size_t at = count; blocks-- > 0;)
        for (double k = 0, width = many[blocks], mean = value[blocks]; k < width; k++) value[--at] = mean;
}

/* ---- curves of one group ---- */

static const double *counts_of(const fit *self, const double *counts, size_t group, size_t kind) {
    return counts + (group * self->life->kinds + kind) * self->life->cells;
}

/* Who is at risk, never more later; 0 and the rows are the bounds. */
static void set_at_risk(fit *self, size_t group) {
    size_t cells = self->life->cells;
    double *n = self->at_risk + group * cells, *weight = self->scratch, sum = 0;
    for (size_t k = cells; k-- > 0;) {
        for (size_t j = 0; j < self->life->kinds; j++) sum += counts_of(self, self->counts, group, j)[k];
        n[k] = -sum;
        weight[k] = 1;
    }
    if (self->noise > 0) make_rising(n, weight, self->scratch + cells, cells);
    for (size_t k = 0; k < cells; k++) n[k] = fmin(fmax(-n[k], 0), self->life->rows);
}

/* Standard deviations of the noise in who is at risk: with fewer left a curve ends. */
static const double ENDS = 4;

static size_t curve_length(const fit *self, size_t group) {
    const double *n = self->at_risk + group * self->life->cells;
    size_t k = 0;
    while (k < self->life->cells && n[k] >= fmax(0.5, ENDS * at_risk_deviation(self, k))) k++;
    return k;
}

/* Where a regression that may only rise ends it runs after the noise of the last few: a tenth of the cells
 * count as one there. */
static void level_end(double *value, const double *weight, size_t count) {
    enum { PART = 10 };
    double sum = 0, mass = 0;
    for (size_t k = count - count / PART; k < count; k++) {
        sum += value[k] * weight[k];
        mass += weight[k];
    }
    for (size_t k = count - count / PART; k < count; k++) value[k] = sum / mass;
}

/* Cumulative incidences over the curve's length. */
static void set_incidence(fit *self, size_t group) {
    size_t cells = self->life->cells, length = self->length[group];
    const double *n = self->at_risk + group * cells;
    double *first = self->incidence + group * self->causes * cells, survival = 1;
    for (size_t k = 0; k < length; k++) {
        double events = 0, at = fmax(n[k], 0.5);
        for (size_t j = 0; j < self->causes; j++) {
            double d = counts_of(self, self->counts, group, j + 1)[k];
            first[j * cells + k] = (k > 0 ? first[j * cells + k - 1] : 0) + survival * d / at;
            events += d;
        }
        survival = fmax(0, survival * (1 - events / at));
    }
    for (size_t j = 0; j < self->causes && self->noise > 0; j++) {
        double *share = first + j * cells;
        for (size_t k = 0; k < length; k++) self->scratch[k] = fmax(n[k], 0.5) * fmax(n[k], 0.5);
        level_end(share, self->scratch, length);
        make_rising(share, self->scratch, self->scratch + cells, length);
        for (size_t k = 0; k < length; k++) share[k] = fmin(fmax(share[k], 0), 1);
    }
}

static double incidence_of(const fit *self, size_t group, size_t cause, size_t k) {
    return self->incidence[(group * self->causes + cause) * self->life->cells + k];
}

static double survival_of(const fit *self, size_t group, size_t k) {
    double survival = 1;
    for (size_t j = 0; j < self->causes; j++) survival -= incidence_of(self, group, j, k);
    return survival > 1e-12 ? survival : 0;
}

/* Of a group and cause in a cell, as the curves have it. */
static double fitted_events(const fit *self, size_t group, size_t cause, size_t k) {
    double before = k > 0 ? survival_of(self, group, k - 1) : 1;
    double step = incidence_of(self, group, cause, k) - (k > 0 ? incidence_of(self, group, cause, k - 1) : 0);
    return before > 0 ? self->at_risk[group * self->life->cells + k] * fmin(1, step / before) : 0;
}

static double all_events(const fit *self, size_t group, size_t k) {
    double events = 0;
    for (size_t j = 0; j < self->causes; j++) events += fitted_events(self, group, j, k);
    return events;
}

/* The mean time until the event, or `until`. */
static double area(const fit *self, size_t group, double until) {
    double sum = 0, time = self->life->from, survival = 1;
    for (size_t k = 0; k < self->length[group] && self->life->time[k] < until; k++) {
        sum += survival * (self->life->time[k] - time);
        time = self->life->time[k];
        survival = survival_of(self, group, k);
    }
    return sum + survival * (until - time);
}

static double noisy_total(const fit *self, size_t group, bool events) {
    double sum = 0;
    for (size_t j = events ? 1 : 0; j < self->life->kinds; j++)
        for (size_t k = 0; k < self->life->cells; k++) sum += counts_of(self, self->counts, group, j)[k];
    return sum;
}

static void fit_all(fit *self) {
    for (size_t g = 0; g < self->life->groups; g++) {
        set_at_risk(self, g);
        set_incidence(self, g);
    }
}

/* ---- whether groups differ ---- */

/* Those with a curve, and how long the longest is. */
static void choose_compared(fit *self) {
    for (size_t g = 0; g < self->life->groups; g++) {
        if (self->length[g] == 0) continue;
        self->compared[self->compare++] = g;
        if (self->length[g] > self->times) self->times = self->length[g];
        if (self->common == 0 || self->length[g] < self->common) self->common = self->length[g];
    }
}

/* Tables of who is at risk and of events, noise and all. */
static void fill_tables(fit *self, const double *counts) {
    size_t cells = self->life->cells, width = self->compare;
    for (size_t i = 0; i < width; i++) {
        size_t g = self->compared[i];
        double left = 0;
        for (size_t k = cells; k-- > 0;) {
            double events = 0;
            for (size_t j = 1; j < self->life->kinds; j++) events += counts_of(self, counts, g, j)[k];
            left += events + counts_of(self, counts, g, 0)[k];
            if (k >= self->times) continue;
            self->table[0][k * width + i] = left;
            self->table[1][k * width + i] = events;
        }
    }
}

static void set_differences(fit *self, double *out) {
    fill_tables(self, self->counts);
    for (int weight = 0; weight < 3; weight++)
        tacit_life_differences(out + (size_t)weight * self->compare, NULL, (tacit_life_weight)weight,
                               self->table[0], self->table[1], self->times, self->compare);
}

static void add_squares(fit *self) {
    size_t width = self->compare;
    const double *fitted = self->middle;
    set_differences(self, self->difference);
    for (size_t weight = 0; weight < 3; weight++)
        for (size_t i = 0; i < width; i++)
            for (size_t j = 0; j < width; j++)
                self->squares[(weight * width + i) * width + j] +=
                    (self->difference[weight * width + i] - fitted[weight * width + i]) *
                    (self->difference[weight * width + j] - fitted[weight * width + j]) /
                    TACIT_LIFE_SIMULATIONS;
}

/* Hazard ratios of the groups that are compared, from counts with noise or without. */
static tacit_status set_ratios(fit *self, const double *counts, double *out, tacit_error *error) {
    if (self->compare < 2) return TACIT_OK;
    fill_tables(self, counts);
    return tacit_life_ratios(out, self->ratio + 2 * self->compare, self->table[0], self->table[1],
                             self->common, self->compare, error);
}

/* How far a simulation's are from the fit's. */
static tacit_status compare_ratios(fit *self, tacit_noisy_result *out, tacit_error *error) {
    TACIT_TRY(set_ratios(self, self->counts, self->ratio, error));
    for (size_t i = 1; i < self->compare; i++) {
        double apart = self->ratio[i] - self->ratio[self->compare + i];
        if (isnan(apart)) continue;
        out->ratio_error[self->compared[i]] += apart * apart;
        self->ratio[3 * self->compare + i]++;
    }
    return TACIT_OK;
}

static tacit_status run_tests(fit *self, tacit_noisy_result *out, tacit_error *error) {
    size_t width = self->compare;
    fill_tables(self, self->base);
    for (size_t weight = 0; weight < 3; weight++) {
        const tacit_life_noise noise = { self->told + weight * width,
                                         self->squares + weight * width * width };
        out->statistic[weight] = NAN;
        if (width < 2) continue;
        TACIT_TRY(tacit_life_test(&out->statistic[weight], &out->degrees, (tacit_life_weight)weight,
                                  self->table[0], self->table[1], self->times, width,
                                  self->noise > 0 ? &noise : NULL, error));
    }
    return TACIT_OK;
}

/* ---- results ---- */

static void clear_curve(tacit_noisy_curve *curve) {
    free(curve->steps);
    free(curve->censored);
    free(curve->at_risk_error);
    free(curve->incidence);
}

void tacit_noisy_result_clear(tacit_noisy_result *result) {
    for (size_t g = 0; result->curve != NULL && g < result->groups; g++) clear_curve(&result->curve[g]);
    free(result->curve);
    free(result->log_ratio);
    free(result->ratio_error);
    *result = (tacit_noisy_result){ .curve = NULL };
}

static tacit_status start_curve(const fit *self, tacit_noisy_curve *out, size_t group, double until,
                                tacit_error *error) {
    size_t count = self->length[group], cells = self->life->cells;
    *out = (tacit_noisy_curve){ .count = count,
                                .steps = TACIT_NEW(tacit_life_step, count),
                                .censored = TACIT_NEW(double, count),
                                .at_risk_error = TACIT_NEW(double, count),
                                .incidence = TACIT_NEW(tacit_life_incidence, count * self->causes) };
    if (out->steps == NULL || out->censored == NULL || out->at_risk_error == NULL || out->incidence == NULL)
        return tacit_fail_memory(error);
    double hazard = 0;
    for (size_t k = 0; k < count; k++) {
        const double *n = self->at_risk + group * cells + k;
        double events = all_events(self, group, k);
        out->steps[k] = (tacit_life_step){ .time = self->life->time[k],
                                           .at_risk = *n,
                                           .events = events,
                                           .survival = survival_of(self, group, k),
                                           .hazard = hazard += events / *n };
        out->censored[k] = fmax(0, *n - events - (k + 1 < cells ? n[1] : 0));
        for (size_t j = 0; j < self->causes; j++)
            out->incidence[k * self->causes + j].share = incidence_of(self, group, j, k);
    }
    out->events = fmax(0, noisy_total(self, group, true));
    out->rows = fmax(0, noisy_total(self, group, false));
    out->mean = count > 0 ? area(self, group, until) : NAN;
    return TACIT_OK;
}

/* The fitted counts of all histograms: those of the curves as far as these go, then what came. */
static void set_base(fit *self) {
    size_t cells = self->life->cells, kinds = self->life->kinds;
    memcpy(self->base, self->counts, self->blocks * cells * sizeof *self->base);
    for (size_t g = 0; g < self->life->groups; g++) {
        const double *n = self->at_risk + g * cells;
        double *block = self->base + g * kinds * cells;
        for (size_t k = 0; k < self->length[g]; k++) {
            block[k] = n[k] - (k + 1 < cells ? n[k + 1] : 0) - all_events(self, g, k);
            for (size_t j = 1; j < kinds; j++) block[j * cells + k] = fitted_events(self, g, j - 1, k);
        }
        for (size_t k = self->length[g]; k < cells; k++) {
            block[k] = n[k] - (k + 1 < cells ? n[k + 1] : 0);
            for (size_t j = 1; j < kinds; j++) block[j * cells + k] = 0;
        }
    }
}

static void add_noise(fit *self) {
    size_t cells = self->life->cells;
    double *drawn = self->scratch + 2 * cells;
    if (!(self->noise > 0)) return;
    for (size_t b = 0; b < self->blocks; b++) {
        self->life->source.normals(self->life->source.context, drawn, cells);
        multiply(self->inverse, drawn, cells);
        for (size_t k = 0; k < cells; k++) self->counts[b * cells + k] += self->noise * drawn[k];
    }
    settle_rows(self, self->counts);
}

/* Events drawn again, as many as the fit has, not the noise beside them; who is no longer with an event
 * leaves without one. */
static void draw_events(fit *self) {
    size_t cells = self->life->cells, kinds = self->life->kinds;
    double *drawn = self->scratch + 2 * cells;
    for (size_t g = 0; g < self->life->groups; g++)
        for (size_t j = 1; j < kinds; j++) {
            double *events = self->counts + (g * kinds + j) * cells, *rest = self->counts + g * kinds * cells;
            const double *base = self->base + (g * kinds + j) * cells;
            self->life->source.normals(self->life->source.context, drawn, cells);
            for (size_t k = 0; k < self->length[g]; k++) {
                double n = self->start[g * cells + k], fitted = base[k], share = n > 0 ? fitted / n : 0;
                double moved = drawn[k] * sqrt(fmax(0, fitted * (1 - share)));
                events[k] += moved;
                rest[k] -= moved;
            }
        }
}

static double square(double value) { return value * value; }

static double logarithm(double survival, double rows) { return log(fmax(survival, 0.5 / fmax(rows, 1))); }

/* The squares of what a simulation is off the curve; fields of errors hold sums until the end. */
static void compare_curve(const fit *self, tacit_noisy_curve *out, size_t group, double until) {
    double hazard = 0, rows = self->life->rows;
    for (size_t k = 0; k < out->count; k++) {
        tacit_life_step *one = &out->steps[k];
        double n = self->at_risk[group * self->life->cells + k];
        one->error += square(logarithm(survival_of(self, group, k), rows) - logarithm(one->survival, rows));
        hazard += n > 0 ? all_events(self, group, k) / n : 0;
        one->hazard_error += square(hazard - one->hazard);
        out->at_risk_error[k] += square(n - one->at_risk);
        for (size_t j = 0; j < self->causes; j++) {
            tacit_life_incidence *cause = &out->incidence[k * self->causes + j];
            cause->error += square(incidence_of(self, group, j, k) - cause->share);
        }
    }
    if (out->count > 0) out->mean_error += square(area(self, group, until) - out->mean);
}

static double root_mean(double sum) { return sqrt(sum / TACIT_LIFE_SIMULATIONS); }

static void finish_curve(const fit *self, tacit_noisy_curve *out) {
    const tacit_noisy_life *life = self->life;
    double quantile = tacit_normal_tail_quantile(log((1 - life->level) / 2));
    for (size_t k = 0; k < out->count; k++) {
        tacit_life_step *one = &out->steps[k];
        one->error = root_mean(one->error);
        one->hazard_error = root_mean(one->hazard_error);
        out->at_risk_error[k] = root_mean(out->at_risk_error[k]);
        tacit_life_set_interval(one, quantile, life->interval);
        for (size_t j = 0; j < self->causes; j++) {
            tacit_life_incidence *cause = &out->incidence[k * self->causes + j];
            cause->error = root_mean(cause->error);
            tacit_life_set_incidence(cause, quantile, life->interval);
        }
    }
    out->mean_error = root_mean(out->mean_error);
    double all = square_of(self->root, life->cells), kinds = (double)life->kinds,
           blocks = (double)self->blocks;
    double own = self->noise * sqrt(all);
    out->rows_error = own * sqrt(fmax(0, kinds - kinds * kinds / blocks));
    out->events_error = own * sqrt(fmax(0, kinds - 1 - (kinds - 1) * (kinds - 1) / blocks));
}

/* Once as it was: how far noise alone moves the differences between groups, then everything with events drawn
 * again. */
static tacit_status simulate(fit *self, tacit_noisy_result *out, tacit_error *error) {
    memcpy(self->counts, self->base, self->blocks * self->life->cells * sizeof *self->base);
    add_noise(self);
    if (self->compare > 1 && self->noise > 0) add_squares(self);
    draw_events(self);
    TACIT_TRY(compare_ratios(self, out, error));
    fit_all(self);
    for (size_t g = 0; g < out->groups; g++) compare_curve(self, &out->curve[g], g, out->until);
    return TACIT_OK;
}

/* Not known where many simulations have no maximum. */
static void finish_ratios(const fit *self, tacit_noisy_result *out) {
    static const double MOST_LOST = 0.05;
    for (size_t i = 1; i < self->compare; i++) {
        double *error = &out->ratio_error[self->compared[i]], count = self->ratio[3 * self->compare + i];
        *error = count >= (1 - MOST_LOST) * TACIT_LIFE_SIMULATIONS ? sqrt(*error / count) : NAN;
    }
}

/* As far as all curves go. */
static double common_end(const fit *self) {
    double until = INFINITY;
    for (size_t i = 0; i < self->compare; i++)
        until = fmin(until, self->life->time[self->length[self->compared[i]] - 1]);
    return isfinite(until) ? until : self->life->from;
}

static tacit_status make_curves(fit *self, tacit_noisy_result *out, tacit_error *error) {
    const tacit_noisy_life *life = self->life;
    decode(self);
    for (size_t g = 0; g < life->groups; g++) {
        set_at_risk(self, g);
        self->length[g] = curve_length(self, g);
        set_incidence(self, g);
    }
    memcpy(self->start, self->at_risk, life->groups * life->cells * sizeof *self->start);
    choose_compared(self);
    out->until = life->until > 0 ? life->until : common_end(self);
    for (size_t g = 0; g < life->groups; g++)
        TACIT_TRY(start_curve(self, &out->curve[g], g, out->until, error));
    set_base(self);
    set_differences(self, self->told);
    TACIT_TRY(set_ratios(self, self->counts, self->ratio, error));
    for (size_t g = 0; g < life->groups; g++) out->log_ratio[g] = NAN;
    for (size_t i = 0; i < self->compare && self->compare > 1; i++)
        out->log_ratio[self->compared[i]] = self->ratio[i];
    out->first = self->compare > 0 ? self->compared[0] : 0;
    return TACIT_OK;
}

tacit_status tacit_noisy_life_fit(tacit_noisy_result *out, const tacit_noisy_life *life, tacit_error *error) {
    fit *self = TACIT_NEW(fit, 1);
    tacit_status status;
    *out =
        (tacit_noisy_result){ .curve = TACIT_NEW(tacit_noisy_curve, life->groups), .groups = life->groups };
    out->log_ratio = TACIT_NEW(double, life->groups);
    out->ratio_error = TACIT_NEW(double, life->groups);
    if (self == NULL || out->curve == NULL || out->log_ratio == NULL || out->ratio_error == NULL)
        TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(begin_fit(self, life, error));
    TACIT_CHECK(make_curves(self, out, error));
    memcpy(self->counts, self->base, self->blocks * life->cells * sizeof *self->base);
    set_differences(self, self->middle);
    TACIT_CHECK(set_ratios(self, self->base, self->ratio + self->compare, error));
    for (int k = 0; k < TACIT_LIFE_SIMULATIONS; k++) TACIT_CHECK(simulate(self, out, error));
    finish_ratios(self, out);
    for (size_t g = 0; g < life->groups; g++) finish_curve(self, &out->curve[g]);
    TACIT_CHECK(run_tests(self, out, error));
cleanup:
    if (self != NULL) end_fit(self);
    free(self);
    if (status != TACIT_OK) tacit_noisy_result_clear(out);
    return status;
}
