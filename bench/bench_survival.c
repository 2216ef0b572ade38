/* How often the intervals of method survival cover, from counts alone: rows are drawn from those given, noise is added as parties add it together, and
 * the curves are compared with those of the rows that were given. Standard input: cells, groups, deviation of the noise, draws, seed, then counts,
 * groups x (without an event, with one) x cells. `null` as the only word: groups are drawn from all rows together, and tests are counted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/noisy/noisy_life.h"
#include "num/special.h"
#include "rand/fast.h"

enum { KINDS = 2, MOST = 1 << 14 };

typedef struct study {
    size_t cells, groups, draws, seed, size;
    double deviation, rows;
    double counts[MOST], drawn[MOST], time[TACIT_LIFE_MOST_CELLS];
    double truth[MOST], mean[MOST]; /* survival, groups x cells; mean times */
    double covered, asked, means, mean_asked, width, rejected[3], ratios, ratios_asked;
    double at[MOST], at_asked[MOST]; /* by cell, first group */
    double worst[100000];
} study;

static void normals(void *context, double *out, size_t count) { tacit_fast_normals(context, out, count); }

static double at_risk(const study *self, const double *counts, size_t group, size_t cell) {
    double n = 0;
    for (size_t kind = 0; kind < KINDS; kind++)
        for (size_t k = cell; k < self->cells; k++) n += counts[(group * KINDS + kind) * self->cells + k];
    return n;
}

static void set_truth(study *self, double until) {
    for (size_t g = 0; g < self->groups; g++) {
        double survival = 1, area = 0, time = 0;
        for (size_t k = 0; k < self->cells; k++) {
            double n = at_risk(self, self->counts, g, k);
            if (self->time[k] <= until) area += survival * (self->time[k] - time);
            time = self->time[k];
            if (n > 0) survival *= 1 - self->counts[(g * KINDS + 1) * self->cells + k] / n;
            self->truth[g * self->cells + k] = survival;
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
    for (size_t b = 0; b < self->groups * KINDS; b++)
        tacit_life_encode(self->drawn + b * self->cells, self->cells);
    for (size_t k = 0; k < self->size; k++) self->drawn[k] += self->deviation * tacit_fast_normal(stream);
}

static void compare(study *self, const tacit_noisy_result *found, size_t draw) {
    static const double QUANTILE = 1.959963984540054;
    for (size_t g = 0; g < self->groups; g++) {
        const tacit_noisy_curve *curve = &found->curve[g];
        double all = at_risk(self, self->counts, g, 0);
        for (size_t k = 0; k < curve->count; k++) {
            if (at_risk(self, self->counts, g, k) < 0.1 * all) break;
            double truth = self->truth[g * self->cells + k];
            const tacit_life_step *one = &curve->steps[k];
            bool in = one->low <= truth && truth <= one->high;
            self->covered += in;
            self->asked++;
            self->width += one->high - one->low;
            if (g == 0) self->at[k] += in, self->at_asked[k]++;
            if (g == 0) self->worst[draw] = fmax(self->worst[draw], fabs(one->survival - truth));
        }
        if (curve->count == 0) continue;
        self->means += fabs(curve->mean - self->mean[g]) <= QUANTILE * curve->mean_error;
        self->mean_asked++;
    }
    for (size_t g = 1; g < self->groups; g++) { /* 0 where groups are alike */
        self->ratios += fabs(found->log_ratio[g]) <= QUANTILE * found->ratio_error[g];
        self->ratios_asked++;
    }
    for (size_t k = 0; k < 3 && self->groups > 1; k++)
        self->rejected[k] +=
            exp(tacit_log_gamma_tail((double)found->degrees / 2, found->statistic[k] / 2)) < 0.05;
}

/* All groups alike: each has its share of every cell. */
static void make_alike(study *self) {
    double part[MOST] = { 0 };
    for (size_t g = 0; g < self->groups; g++) part[g] = at_risk(self, self->counts, g, 0) / self->rows;
    for (size_t k = 0; k < KINDS * self->cells; k++) {
        double all = 0;
        for (size_t g = 0; g < self->groups; g++) all += self->counts[g * KINDS * self->cells + k];
        for (size_t g = 0; g < self->groups; g++) self->counts[g * KINDS * self->cells + k] = all * part[g];
    }
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **words) {
    static study self;
    tacit_error error = TACIT_ERROR_INIT;
    if (scanf("%zu %zu %lf %zu %zu", &self.cells, &self.groups, &self.deviation, &self.draws, &self.seed) !=
        5)
        return 1;
    self.size = self.groups * KINDS * self.cells;
    if (self.size > MOST || self.cells > TACIT_LIFE_MOST_CELLS || self.draws > 100000) return 1;
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
                                  .kinds = KINDS,
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
        if (self.at_asked[k] > 0)
            least = fmin(least, self.at[k] / self.at_asked[k]),
            most = fmax(most, self.at[k] / self.at_asked[k]);
    printf("{\"covered\": %.4f, \"least\": %.4f, \"most\": %.4f, \"width\": %.5f, \"means\": %.4f, "
           "\"worst\": %.5f, \"rejected\": [%.4f, %.4f, %.4f], \"ratios\": %.4f}\n",
           self.covered / self.asked, least, most, self.width / self.asked, self.means / self.mean_asked,
           self.worst[self.draws / 2], self.rejected[0] / (double)self.draws,
           self.rejected[1] / (double)self.draws, self.rejected[2] / (double)self.draws,
           self.ratios / fmax(1, self.ratios_asked));
    return 0;
}
