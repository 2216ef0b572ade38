/* How often the intervals of method survival cover, from counts alone: rows are drawn from those given, noise is added as parties add it together, and
 * what comes out is compared with what the rows that were given have. Standard input: cells, groups, kinds, deviation of the noise, draws, seed, then counts,
 * groups x kinds x cells, kinds being those without an event and those of each cause. `null` as the only word: groups are drawn from all rows together, and tests are counted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/noisy/noisy_life.h"
#include "num/special.h"
#include "rand/fast.h"

enum { MOST = 1 << 14 };

static const double QUANTILE = 1.959963984540054;

/* How often something was held, of how often it was looked at. */
typedef struct tally {
    double held, asked;
} tally;

typedef struct study {
    size_t cells, groups, kinds, draws, seed, size;
    double deviation, rows;
    double counts[MOST], drawn[MOST], time[TACIT_LIFE_MOST_CELLS];
    double truth[MOST], hazard[MOST], mean[MOST], median[MOST]; /* groups x cells; of groups */
    double incidence[MOST];                                     /* groups x causes x cells */
    tally curves, hazards, causes, medians, means, ratios;
    tally at[MOST]; /* of survival by cell, first group */
    double width, rejected[3];
    double worst[100000];
} study;

static void normals(void *context, double *out, size_t count) { tacit_fast_normals(context, out, count); }

static double at_risk(const study *self, const double *counts, size_t group, size_t cell) {
    double n = 0;
    for (size_t kind = 0; kind < self->kinds; kind++)
        for (size_t k = cell; k < self->cells; k++)
            n += counts[(group * self->kinds + kind) * self->cells + k];
    return n;
}

static double events_at(const study *self, size_t group, size_t kind, size_t cell) {
    return self->counts[(group * self->kinds + kind) * self->cells + cell];
}

static void set_truth(study *self, double until) {
    for (size_t g = 0; g < self->groups; g++) {
        double survival = 1, hazard = 0, area = 0, time = 0;
        double *share = self->incidence + g * (self->kinds - 1) * self->cells;
        self->median[g] = INFINITY;
        for (size_t k = 0; k < self->cells; k++) {
            double n = at_risk(self, self->counts, g, k), events = 0;
            if (self->time[k] <= until) area += survival * (self->time[k] - time);
            time = self->time[k];
            for (size_t j = 1; j < self->kinds; j++) {
                double d = events_at(self, g, j, k), *here = share + (j - 1) * self->cells + k;
                *here = (k > 0 ? here[-1] : 0) + (n > 0 ? survival * d / n : 0);
                events += d;
            }
            if (n > 0) survival *= 1 - events / n, hazard += events / n;
            if (survival <= 0.5 && isinf(self->median[g])) self->median[g] = time;
            self->truth[g * self->cells + k] = survival;
            self->hazard[g * self->cells + k] = hazard;
        }
        self->mean[g] = area;
    }
}

/* As many rows as were given, each at random from them. */
static void draw(study *self, tacit_stream *stream) {
    memset(self->drawn, 0, self->size * sizeof *self->drawn);
    double *below = TACIT_NEW(double, self->size + 1);
    if (below == NULL) exit(1);
    for (size_t k = 0; k < self->size; k++) below[k + 1] = below[k] + self->counts[k];
    for (double i = 0; i < self->rows; i++) {
        double place = tacit_stream_unit(stream) * self->rows;
        size_t low = 0, high = self->size;
        while (high - low > 1) {
            size_t middle = (low + high) / 2;
            if (below[middle] <= place)
                low = middle;
            else
                high = middle;
        }
        self->drawn[low]++;
    }
    free(below);
    for (size_t b = 0; b < self->groups * self->kinds; b++)
        tacit_life_encode(self->drawn + b * self->cells, self->cells);
    for (size_t k = 0; k < self->size; k++) self->drawn[k] += self->deviation * tacit_fast_normal(stream);
}

static bool count_in(tally *self, double low, double truth, double high) {
    bool in = low <= truth && truth <= high;
    self->held += in;
    self->asked++;
    return in;
}

/* A bound that is not known is beyond the end of the curve. */
static void compare_median(study *self, const tacit_noisy_curve *curve, size_t group) {
    double low = tacit_life_quantile(curve->steps, curve->count, TACIT_LIFE_LOW, 0.5),
           high = tacit_life_quantile(curve->steps, curve->count, TACIT_LIFE_HIGH, 0.5);
    if (isnan(low)) low = curve->steps[curve->count - 1].time + 1;
    count_in(&self->medians, low, self->median[group], isnan(high) ? INFINITY : high);
}

static void compare_step(study *self, const tacit_noisy_curve *curve, size_t g, size_t k, size_t draw) {
    const tacit_life_step *one = &curve->steps[k];
    const size_t causes = self->kinds - 1;
    double truth = self->truth[g * self->cells + k];
    bool in = count_in(&self->curves, one->low, truth, one->high);
    self->width += one->high - one->low;
    count_in(&self->hazards, one->hazard_low, self->hazard[g * self->cells + k], one->hazard_high);
    for (size_t j = 0; j < causes; j++) {
        const tacit_life_incidence *cause = &curve->incidence[k * causes + j];
        count_in(&self->causes, cause->low, self->incidence[(g * causes + j) * self->cells + k], cause->high);
    }
    if (g > 0) return;
    self->at[k].held += in;
    self->at[k].asked++;
    self->worst[draw] = fmax(self->worst[draw], fabs(one->survival - truth));
}

static void compare(study *self, const tacit_noisy_result *found, size_t draw) {
    for (size_t g = 0; g < self->groups; g++) {
        const tacit_noisy_curve *curve = &found->curve[g];
        double all = at_risk(self, self->counts, g, 0), reach = QUANTILE * curve->mean_error;
        for (size_t k = 0; k < curve->count && at_risk(self, self->counts, g, k) >= 0.1 * all; k++)
            compare_step(self, curve, g, k, draw);
        if (curve->count == 0) continue;
        compare_median(self, curve, g);
        count_in(&self->means, curve->mean - reach, self->mean[g], curve->mean + reach);
    }
    for (size_t g = 1; g < self->groups; g++) /* 0 where groups are alike */
        count_in(&self->ratios, -QUANTILE * found->ratio_error[g], found->log_ratio[g],
                 QUANTILE * found->ratio_error[g]);
    for (size_t k = 0; k < 3 && self->groups > 1; k++)
        self->rejected[k] +=
            exp(tacit_log_gamma_tail((double)found->degrees / 2, found->statistic[k] / 2)) < 0.05;
}

/* All groups alike: each has its share of every cell. */
static void make_alike(study *self) {
    double part[MOST] = { 0 };
    for (size_t g = 0; g < self->groups; g++) part[g] = at_risk(self, self->counts, g, 0) / self->rows;
    for (size_t k = 0; k < self->kinds * self->cells; k++) {
        double all = 0;
        for (size_t g = 0; g < self->groups; g++) all += self->counts[g * self->kinds * self->cells + k];
        for (size_t g = 0; g < self->groups; g++)
            self->counts[g * self->kinds * self->cells + k] = all * part[g];
    }
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double part(tally one) { return one.held / fmax(1, one.asked); }

int main(int count, char **words) {
    static study self;
    tacit_error error = TACIT_ERROR_INIT;
    if (scanf("%zu %zu %zu %lf %zu %zu", &self.cells, &self.groups, &self.kinds, &self.deviation, &self.draws,
              &self.seed) != 6)
        return 1;
    self.size = self.groups * self.kinds * self.cells;
    if (self.kinds < 2 || self.size > MOST || self.cells > TACIT_LIFE_MOST_CELLS || self.draws > 100000)
        return 1;
    for (size_t k = 0; k < self.size; k++) {
        if (scanf("%lf", &self.counts[k]) != 1) return 1;
        self.rows += self.counts[k];
    }
    if (count > 1 && strcmp(words[1], "null") == 0) make_alike(&self);
    for (size_t k = 0; k < self.cells; k++) self.time[k] = (double)(k + 1);
    double until = floor((double)self.cells / 2);
    set_truth(&self, until);
    tacit_stream stream = tacit_stream_from_seed(self.seed);
    for (size_t d = 0; d < self.draws; d++) {
        tacit_stream inner = tacit_stream_from_seed(1958);
        tacit_noisy_life life = { .cells = self.cells,
                                  .groups = self.groups,
                                  .kinds = self.kinds,
                                  .rows = self.rows,
                                  .deviation = self.deviation,
                                  .released = self.drawn,
                                  .time = self.time,
                                  .until = until,
                                  .level = 0.95,
                                  .source = { normals, &inner } };
        tacit_noisy_result found;
        draw(&self, &stream);
        if (tacit_noisy_life_fit(&found, &life, &error) != TACIT_OK) return 1;
        compare(&self, &found, d);
        tacit_noisy_result_clear(&found);
    }
    qsort(self.worst, self.draws, sizeof *self.worst, by_size);
    double least = 1, most = 0;
    for (size_t k = 0; k < self.cells; k++)
        if (self.at[k].asked > 0) least = fmin(least, part(self.at[k])), most = fmax(most, part(self.at[k]));
    printf("{\"covered\": %.4f, \"least\": %.4f, \"most\": %.4f, \"width\": %.5f, \"hazards\": %.4f, "
           "\"causes\": "
           "%.4f, \"medians\": %.4f, \"means\": %.4f, \"worst\": %.5f, \"rejected\": [%.4f, %.4f, %.4f], "
           "\"ratios\": %.4f}\n",
           part(self.curves), least, most, self.width / self.curves.asked, part(self.hazards),
           part(self.causes), part(self.medians), part(self.means), self.worst[self.draws / 2],
           self.rejected[0] / (double)self.draws, self.rejected[1] / (double)self.draws,
           self.rejected[2] / (double)self.draws, part(self.ratios));
    return 0;
}
