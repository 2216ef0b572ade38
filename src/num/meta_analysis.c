#include "num/meta_analysis.h"

#include <math.h>

#include "num/special.h"

tacit_meta_pooled tacit_meta_pool(double w, double wy, double level) {
    tacit_meta_pooled out = { .estimate = wy / w, .error = sqrt(1 / w) };
    double reach = out.error * tacit_normal_tail_quantile(log((1 - level) / 2));
    out.statistic = out.estimate / out.error;
    out.p = 2 * tacit_normal_tail(fabs(out.statistic));
    out.low = out.estimate - reach;
    out.high = out.estimate + reach;
    return out;
}

double tacit_meta_q(double w, double wy, double wyy) { return fmax(0, wyy - wy * (wy / w)); }

static double weight_left(const tacit_meta_sums *sums) { return sums->w - sums->ww / sums->w; }

double tacit_meta_dl(const tacit_meta_sums *sums) {
    double left = weight_left(sums);
    if (!(left > 0)) return 0; /* one site */
    return fmax(0, (tacit_meta_q(sums->w, sums->wy, sums->wyy) - (sums->sites - 1)) / left);
}

tacit_meta_spread tacit_meta_describe(const tacit_meta_sums *sums, double tau2) {
    tacit_meta_spread out = { .q = tacit_meta_q(sums->w, sums->wy, sums->wyy),
                              .degrees = sums->sites - 1,
                              .tau2 = tau2 };
    double typical = out.degrees / weight_left(sums);
    if (out.degrees < 1) {
        out.p = out.i2 = out.h2 = NAN;
        return out;
    }
    out.p = exp(tacit_log_gamma_tail(out.degrees / 2, out.q / 2));
    out.i2 = tau2 / (tau2 + typical);
    out.h2 = 1 + tau2 / typical;
    return out;
}

/* ---- Paule and Mandel ---- */

/* The polynomial through (x, y), at `at` (Neville). */
static double interpolate(const double *x, const double *y, size_t count, double at) {
    double value[TACIT_META_POINTS];
    for (size_t i = 0; i < count; i++) value[i] = y[i];
    for (size_t order = 1; order < count; order++)
        for (size_t i = 0; i + order < count; i++)
            value[i] = ((at - x[i + order]) * value[i] + (x[i] - at) * value[i + 1]) / (x[i] - x[i + order]);
    return value[0];
}

/* Between the nearest points on either side, or along the line through the two nearest ones. */
static double bisect(const tacit_meta_search *self, double target, double low, double high) {
    size_t last = self->count - 1;
    if (isfinite(high)) return (low + high) / 2;
    double slope = self->inverse[last] / (self->tau2[last] + self->typical);
    return fmax(2 * low, low + (target - self->inverse[last]) / slope);
}

static void look_further(tacit_meta_search *self) {
    static const double NEAR = 1e-7;
    double target = 1 / self->degrees, low = 0, high = INFINITY;
    size_t last = self->count - 1;
    for (size_t i = 0; i < self->count; i++) {
        if (self->inverse[i] <= target) low = fmax(low, self->tau2[i]);
        if (self->inverse[i] >= target) high = fmin(high, self->tau2[i]);
    }
    double next = interpolate(self->inverse, self->tau2, self->count, target);
    if (!(next >= low && next <= high)) next = bisect(self, target, low, high);
    self->done = fabs(next - self->tau2[last]) <= NEAR * (next + self->typical);
    self->next = next;
}

void tacit_meta_begin(tacit_meta_search *out, const tacit_meta_sums *sums) {
    double q = tacit_meta_q(sums->w, sums->wy, sums->wyy);
    *out = (tacit_meta_search){ .degrees = sums->sites - 1, .count = 1 };
    out->typical = out->degrees / weight_left(sums);
    out->inverse[0] = 1 / q;
    out->w[0] = sums->w;
    out->wy[0] = sums->wy;
    out->next = tacit_meta_dl(sums);
    out->done = !(q > out->degrees);
}

void tacit_meta_add(tacit_meta_search *self, double w, double wy, double wyy) {
    if (self->done || self->count == TACIT_META_POINTS) return;
    size_t at = self->count++;
    self->tau2[at] = self->next;
    self->inverse[at] = 1 / tacit_meta_q(w, wy, wyy);
    self->w[at] = w;
    self->wy[at] = wy;
    look_further(self);
}

void tacit_meta_end(const tacit_meta_search *self, double *w, double *wy) {
    *w = interpolate(self->tau2, self->w, self->count, self->next);
    *wy = interpolate(self->tau2, self->wy, self->count, self->next);
}
