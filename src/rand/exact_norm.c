/*
 * The gamma-norm vector G(d, s): b = s T Z/|Z| with T the sum of d unit exponentials and Z a vector of d
 * normals. T is Gamma(d, 1); Z/|Z| is uniform on the sphere and independent of |Z| and of T, because the
 * law of Z does not change under rotations. So |b| is Gamma(d, s) and its direction uniform: density
 * proportional to |b|^(d-1) exp(-|b|/s) / |b|^(d-1) = exp(-|b|/s).
 *
 * The bounds: with 0 <= z_i in [l_i, u_i], |Z| lies between sqrt(sum l_i^2) rounded down and
 * sqrt(sum u_i^2) rounded up, and the common factor s T/|Z| between the quotients that pair the smaller
 * numerator with the larger divisor and the other way round. While all l_i are 0 the upper quotient is
 * infinite, the rounding is undecided, and more digits are drawn.
 */
#include <sodium.h>

#include "rand/exact_parts.h"

static void set_zero(tacit_interval *x) {
    mpfr_set_zero(x->low, 1);
    mpfr_set_zero(x->high, 1);
}

/* `square` collects |Z|^2, `sum` T. */
void tacit_exact_norm_factor(tacit_space *space, tacit_lazy *lazy, size_t count, double scale,
                             tacit_bits *bits) {
    tacit_interval *x = &space->digits, *square = &space->square, *sum = &space->sum;
    set_zero(square);
    set_zero(sum);
    for (size_t i = 0; i < count; i++) {
        tacit_interval_of(x, &lazy[i], space, bits);
        tacit_interval_square(x);
        tacit_interval_add(square, x);
        tacit_interval_of(x, &lazy[count + i], space, bits);
        tacit_interval_add(sum, x);
    }
    mpfr_sqrt(square->low, square->low, MPFR_RNDD);
    mpfr_sqrt(square->high, square->high, MPFR_RNDU);
    tacit_interval_scale(sum, scale);
    tacit_interval_divide(&space->factor, sum, square);
}

/* Whether all steps are certain with the digits at hand. */
static bool place_all(tacit_exact_vector *vector, const tacit_exact_request *request, tacit_bits *bits) {
    tacit_space *space = &vector->space;
    tacit_interval *noise = &space->noise;
    tacit_exact_norm_factor(space, vector->lazy, request->count, request->scale, bits);
    for (size_t i = 0; i < request->count; i++) {
        tacit_interval_of(noise, &vector->lazy[i], space, bits);
        tacit_interval_multiply(noise, &space->factor);
        if (vector->lazy[i].negative) tacit_interval_negate(noise);
        tacit_interval_place(noise, request->value[i], request->grid_bits);
        if (!tacit_interval_floor(&vector->steps[i], noise, space)) return false;
    }
    return true;
}

tacit_status tacit_exact_gamma_norm(tacit_exact_vector *vector, const tacit_exact_request *request,
                                    tacit_bits *bits, tacit_error *error) {
    size_t count = request->count;
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < count; i++) {
        tacit_lazy_normal(&vector->lazy[i], bits);
        tacit_lazy_exponential(&vector->lazy[count + i], bits);
    }
    TACIT_CHECK(tacit_space_start(&vector->space, request->scale, request->grid_bits, error));
    while (!place_all(vector, request, bits) || bits->failed) {
        if (bits->failed) {
            status = tacit_fail_memory(error);
            break;
        }
        TACIT_CHECK(tacit_space_refine(&vector->space, error));
    }
cleanup:
    for (size_t i = 0; i < 2 * count; i++) tacit_lazy_reset(&vector->lazy[i]);
    sodium_memzero(vector->lazy, 2 * count * sizeof *vector->lazy);
    return status;
}
