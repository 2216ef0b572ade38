#include "session/question.h"

#include <math.h>

tacit_status tacit_sum_spec_for(tacit_sum_spec *out, size_t length, double bound, size_t parties,
                                tacit_error *error) {
    if (!(bound > 0) || !isfinite(bound))
        return tacit_fail(error, TACIT_USAGE,
                          "the bound on a summed value must be positive and finite, not %g", bound);
    if (parties == 0) return tacit_fail(error, TACIT_USAGE, "a sum needs at least one party");
    /* bound * parties * 2^grid <= 2^62, exponents rounded up; finer than 2^-52 of the bound is below a double's own
     * precision and only costs range. */
    int bound_bits, party_bits;
    frexp(bound, &bound_bits);
    frexp((double)parties, &party_bits);
    int bits = 62 - bound_bits - party_bits, finest = 52 - bound_bits;
    *out = (tacit_sum_spec){ length, bound, bits < finest ? bits : finest };
    return TACIT_OK;
}

bool tacit_sum_spec_equal(const tacit_sum_spec *first, const tacit_sum_spec *second) {
    return first->length == second->length && first->bound == second->bound &&
           first->grid_bits == second->grid_bits;
}

double tacit_sum_rounding(const tacit_sum_spec *spec) {
    return sqrt((double)spec->length) * ldexp(0.5, -spec->grid_bits) * (1 + 0x1p-50);
}

tacit_status tacit_sum_quantise(const tacit_sum_spec *spec, const double *values, int64_t *out,
                                tacit_error *error) {
    for (size_t j = 0; j < spec->length; j++) {
        if (!(fabs(values[j]) <= spec->bound))
            return tacit_fail(error, TACIT_INTERNAL, "contribution %zu is %g, beyond its bound %g", j,
                              values[j], spec->bound);
        /* ldexp only shifts the exponent and llrint rounds to nearest: at most half a grid step of error. */
        out[j] = llrint(ldexp(values[j], spec->grid_bits));
    }
    return TACIT_OK;
}

double tacit_sum_value(const tacit_sum_spec *spec, int64_t total) {
    return ldexp((double)total, -spec->grid_bits);
}
