/*
 * Laws of integers, after Canonne, Kamath and Steinke (2020, "The discrete Gaussian for differential
 * privacy"), with their rational coins replaced by one exact device, the race: for a unit exponential E
 * drawn digit by digit, P(E > g) = exp(-g) for every real g >= 0, and the comparison is decided on
 * intervals (interval.c), with g bounded from both sides as closely as need be.
 *
 * Geometric: floor(s E), since P(floor(s E) >= k) = P(E >= k/s) = exp(-k/s).
 * Discrete Laplace: a geometric with a random sign, the negative zero refused (their algorithm 2): k != 0
 *   keeps exp(-|k|/s)/2 and 0 keeps 1/2.
 * Discrete Gaussian (their algorithm 3): Y discrete Laplace with scale t = floor(s) + 1, kept with
 *   probability exp(-g), g = (|Y| - s^2/t)^2/(2 s^2). The exponents add up to
 *   -|Y|/t - Y^2/(2 s^2) + |Y|/t - s^2/(2 t^2), so the weight of Y is exp(-Y^2/(2 s^2)) times a constant.
 *
 * A candidate beyond 2^62 steps (s <= 2^50, so with probability below exp(-4000)) ends the call with an
 * error. It depends on the noise alone, and a mechanism that fails with a probability that does not depend
 * on the data keeps its guarantee.
 */
#include "rand/exact_parts.h"

#include <math.h>

/* A real g >= 0 to race against. */
typedef struct rival {
    double a, b;       /* b > 0: g = a/b */
    double scale;      /* else the exponent of the discrete Gaussian of this scale */
    int64_t candidate; /* at |Y| */
} rival;

/* space->factor <- g. */
static void bound_quotient(tacit_space *space, const rival *against) {
    tacit_interval *g = &space->factor;
    mpfr_set_d(g->low, against->a, MPFR_RNDD);
    mpfr_set_d(g->high, against->a, MPFR_RNDU);
    mpfr_div_d(g->low, g->low, against->b, MPFR_RNDD);
    mpfr_div_d(g->high, g->high, against->b, MPFR_RNDU);
}

static double proposal_scale(double scale) { return floor(scale) + 1; }

/* g = (|Y| t - s^2)^2/(2 s^2 t^2). `square` holds s^2, `sum` the difference, `digits` the divisor. */
void tacit_exact_gaussian_exponent(tacit_space *space, double scale, int64_t candidate) {
    tacit_interval *square = &space->square, *sum = &space->sum, *divisor = &space->digits;
    const double t = proposal_scale(scale);
    mpfr_set_d(square->low, scale, MPFR_RNDD);
    mpfr_sqr(square->high, square->low, MPFR_RNDU);
    mpfr_sqr(square->low, square->low, MPFR_RNDD);
    mpfr_set_si(sum->low, candidate, MPFR_RNDD); /* 62 bits, exact; times 51 bits, exact */
    mpfr_mul_d(sum->low, sum->low, t, MPFR_RNDD);
    mpfr_sub(sum->high, sum->low, square->low, MPFR_RNDU);
    mpfr_sub(sum->low, sum->low, square->high, MPFR_RNDD);
    if (mpfr_sgn(sum->low) < 0 && mpfr_sgn(sum->high) > 0) { /* around 0: only the size is bounded */
        mpfr_neg(sum->low, sum->low, MPFR_RNDU);
        if (mpfr_less_p(sum->high, sum->low)) mpfr_swap(sum->low, sum->high);
        mpfr_set_zero(sum->low, 1);
    } else if (mpfr_sgn(sum->low) < 0) {
        tacit_interval_negate(sum);
    }
    tacit_interval_square(sum);
    mpfr_set(divisor->low, square->low, MPFR_RNDD);
    mpfr_set(divisor->high, square->high, MPFR_RNDU);
    tacit_interval_scale(divisor, 2 * t);
    tacit_interval_scale(divisor, t);
    tacit_interval_divide(&space->factor, sum, divisor);
}

/* Whether a unit exponential passes g: true with probability exp(-g). */
static tacit_status race(bool *out, tacit_space *space, const rival *against, tacit_bits *bits,
                         tacit_error *error) {
    tacit_lazy x = { 0 };
    tacit_status status = TACIT_OK;
    TACIT_TRY(tacit_space_start(space, 1, 0, error));
    tacit_lazy_exponential(&x, bits);
    for (;;) {
        tacit_interval *drawn = &space->noise, *g = &space->factor;
        tacit_interval_of(drawn, &x, space, bits);
        if (bits->failed) {
            status = tacit_fail_memory(error);
            break;
        }
        if (against->b > 0)
            bound_quotient(space, against);
        else
            tacit_exact_gaussian_exponent(space, against->scale, against->candidate);
        *out = mpfr_greaterequal_p(drawn->low, g->high);
        if (*out || mpfr_lessequal_p(drawn->high, g->low)) break;
        TACIT_CHECK(tacit_space_refine(space, error));
    }
cleanup:
    tacit_lazy_reset(&x);
    return status;
}

tacit_status tacit_exact_race(bool *out, tacit_space *space, double a, double b, tacit_bits *bits,
                              tacit_error *error) {
    if (!isfinite(a) || !isfinite(b) || a < 0 || !(b > 0))
        return tacit_fail(error, TACIT_INPUT, "exp(-a/b) is no probability for a = %g, b = %g", a, b);
    bool wins = false;
    TACIT_TRY(race(&wins, space, &(rival){ .a = a, .b = b }, bits, error));
    *out = wins;
    return TACIT_OK;
}

tacit_status tacit_exact_geometric(int64_t *out, tacit_space *space, double scale, tacit_bits *bits,
                                   tacit_error *error) {
    tacit_lazy x = { 0 };
    tacit_status status = TACIT_OK;
    TACIT_TRY(tacit_space_start(space, scale, 0, error));
    tacit_lazy_exponential(&x, bits);
    for (;;) {
        tacit_interval_of(&space->noise, &x, space, bits);
        if (bits->failed) {
            status = tacit_fail_memory(error);
            break;
        }
        tacit_interval_scale(&space->noise, scale);
        if (tacit_interval_floor(out, &space->noise, space)) break;
        TACIT_CHECK(tacit_space_refine(space, error));
    }
    if (status == TACIT_OK && *out >= TACIT_STEPS_END)
        status = tacit_fail(error, TACIT_LIMIT, "integer noise left the range of 2^62 steps");
cleanup:
    tacit_lazy_reset(&x);
    return status;
}

static tacit_status discrete_laplace(int64_t *out, tacit_space *space, double scale, tacit_bits *bits,
                                     tacit_error *error) {
    for (;;) {
        TACIT_TRY(tacit_exact_geometric(out, space, scale, bits, error));
        bool negative = tacit_bits_flip(bits);
        if (*out == 0 && negative) continue;
        if (negative) *out = -*out;
        return TACIT_OK;
    }
}

static tacit_status discrete_gaussian(int64_t *out, tacit_space *space, double scale, tacit_bits *bits,
                                      tacit_error *error) {
    rival against = { .scale = scale };
    for (;;) {
        bool kept = false;
        TACIT_TRY(discrete_laplace(out, space, proposal_scale(scale), bits, error));
        against.candidate = *out < 0 ? -*out : *out;
        TACIT_TRY(race(&kept, space, &against, bits, error));
        if (kept) return TACIT_OK;
    }
}

tacit_status tacit_exact_integers(tacit_exact_vector *vector, const tacit_exact_request *request,
                                  tacit_bits *bits, tacit_error *error) {
    for (size_t i = 0; i < request->count; i++) {
        int64_t noise = 0;
        switch (request->noise) {
        case TACIT_LAW_GEOMETRIC:
            TACIT_TRY(tacit_exact_geometric(&noise, &vector->space, request->scale, bits, error));
            break;
        case TACIT_LAW_DISCRETE_LAPLACE:
            TACIT_TRY(discrete_laplace(&noise, &vector->space, request->scale, bits, error));
            break;
        case TACIT_LAW_POLYA:
            TACIT_TRY(tacit_exact_polya(&noise, &vector->space, request->scale, request->parts, bits, error));
            break;
        default: TACIT_TRY(discrete_gaussian(&noise, &vector->space, request->scale, bits, error)); break;
        }
        if (__builtin_add_overflow(request->whole[i], noise, &vector->steps[i]))
            vector->steps[i] = noise > 0 ? TACIT_STEPS_END : -TACIT_STEPS_END;
    }
    return TACIT_OK;
}

tacit_status tacit_exact_bernoulli(bool *out, tacit_entropy *entropy, uint64_t p, uint64_t q,
                                   tacit_error *error) {
    if (q == 0 || p > q)
        return tacit_fail(error, TACIT_INPUT, "%llu/%llu is no probability", (unsigned long long)p,
                          (unsigned long long)q);
    uint64_t drawn;
    TACIT_TRY(tacit_entropy_below(&drawn, entropy, q, error));
    *out = drawn < p;
    return TACIT_OK;
}

tacit_status tacit_exact_bernoulli_exp(bool *out, tacit_entropy *entropy, double a, double b,
                                       tacit_error *error) {
    tacit_bits *bits;
    TACIT_TRY(tacit_entropy_bits(&bits, entropy, error));
    tacit_space space = { .limbs = NULL };
    tacit_status status = tacit_exact_race(out, &space, a, b, bits, error);
    tacit_space_clear(&space);
    return status;
}
