#include "num/noisy/followed_noise.h"

#include <stdlib.h>

#include "base/memory.h"

tacit_status tacit_followed_noise_create(tacit_followed_noise *out, size_t d, tacit_error *error) {
    double *all = TACIT_NEW(double, 5 * d);
    *out = (tacit_followed_noise){ .d = d };
    if (all == NULL) return tacit_fail_memory(error);
    out->curvature = all;
    out->steep = all + d;
    out->last = all + 2 * d;
    out->both = all + 3 * d;
    out->sum = all + 4 * d;
    return TACIT_OK;
}

void tacit_followed_noise_clear(tacit_followed_noise *noise) {
    free(noise->curvature);
    *noise = (tacit_followed_noise){ .d = 0 };
}

void tacit_followed_noise_step(tacit_followed_noise *noise, const tacit_noisy_step *step) {
    for (size_t i = 0; i < noise->d; i++) {
        double divided = step->factor * noise->curvature[i] + step->ridge;
        double there = step->factor / step->damped * noise->steep[i] + step->ridge;
        double stays = step->kept * (1 - step->taken * there / divided);
        double added = step->kept * step->taken * step->size / divided;
        noise->last[i] = stays * stays * noise->last[i] + added * added;
        noise->both[i] *= stays;
        noise->sum[i] += step->counts * (2 * noise->both[i] + step->counts * noise->last[i]);
        noise->both[i] += step->counts * noise->last[i];
    }
}

double tacit_followed_noise_variance(const tacit_followed_noise *noise, double by) {
    double variance = 0;
    for (size_t i = 0; i < noise->d; i++) variance += by * noise->steep[i] * noise->sum[i];
    return variance;
}
