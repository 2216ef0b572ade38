#include "privacy/mechanism/selection_parts.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

#define STEPS_MOST 0x1p61

enum { SENSITIVITY_BITS = 21 };

tacit_status tacit_selected_create(tacit_selected **out, size_t count, tacit_error *error) {
    tacit_selected *selected = TACIT_NEW(tacit_selected, 1);
    if (selected == NULL) return tacit_fail_memory(error);
    *selected = (tacit_selected){ TACIT_NOISE_NONE, count, TACIT_NEW(size_t, count) };
    if (selected->indices == NULL) {
        free(selected);
        return tacit_fail_memory(error);
    }
    *out = selected;
    return TACIT_OK;
}

tacit_selected *tacit_selected_free(tacit_selected *selected) {
    if (selected == NULL) return NULL;
    free(selected->indices);
    free(selected);
    return NULL;
}

const size_t *tacit_selected_indices(const tacit_selected *selected) { return selected->indices; }
size_t tacit_selected_count(const tacit_selected *selected) { return selected->count; }
tacit_noise tacit_selected_grade(const tacit_selected *selected) { return selected->grade; }

tacit_status tacit_selection_price_check(const tacit_noise_source *source, const tacit_price *price,
                                         tacit_error *error) {
    TACIT_TRY(tacit_noise_source_check(source, error));
    TACIT_TRY(tacit_price_check(price, error));
    if (price->epsilon == INFINITY && source->entropy != NULL)
        return tacit_fail(error, TACIT_USAGE, "a choice at infinite epsilon is for simulations only");
    return TACIT_OK;
}

tacit_noise tacit_selection_grade(const tacit_noise_source *source, const tacit_price *price) {
    return price->epsilon == INFINITY ? TACIT_NOISE_NONE : tacit_noise_source_grade(source);
}

tacit_status tacit_coin_below(size_t *out, const tacit_noise_source *source, size_t bound,
                              tacit_error *error) {
    uint64_t drawn = 0;
    if (source->entropy != NULL)
        TACIT_TRY(tacit_entropy_below(&drawn, source->entropy, bound, error));
    else
        drawn = tacit_stream_below(source->stream, bound);
    *out = (size_t)drawn;
    return TACIT_OK;
}

tacit_status tacit_coin_exp(bool *out, const tacit_noise_source *source, double a, double b,
                            tacit_error *error) {
    if (a == 0 || b == 0) {
        *out = a == 0;
        return TACIT_OK;
    }
    if (source->entropy != NULL) return tacit_exact_bernoulli_exp(out, source->entropy, a, b, error);
    *out = tacit_stream_unit(source->stream) < exp(-a / b);
    return TACIT_OK;
}

tacit_score_grid tacit_score_grid_for(double sensitivity) {
    int exponent;
    frexp(sensitivity, &exponent); /* sensitivity = m 2^exponent, 1/2 <= m < 1 */
    int bits = SENSITIVITY_BITS - exponent;
    return (tacit_score_grid){ bits, (int64_t)ceil(ldexp(sensitivity, bits)) };
}

/* ldexp is exact except for overflow, where the bound applies, and underflow, where a negative score may
 * become 0. */
int64_t tacit_score_steps(double score, const tacit_score_grid *grid) {
    double scaled = ldexp(score, grid->bits);
    if (scaled == 0 && score < 0) return -1;
    return (int64_t)floor(fmax(-STEPS_MOST, fmin(STEPS_MOST, scaled)));
}
