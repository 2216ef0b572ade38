/*
 * Equations between the two servers (logit.h): factors, solutions, inverses, and how they are checked.
 *
 * The check. s was computed in fixed point for H s = b, and numbers on the way may have overflowed or lost
 * their digits. The servers open one bit: whether, in units of 2^-f,
 *     (1) |s_j| < 2^c for all j, of all 128 bits of the shares, and
 *     (2) |(H s - b)_j| < 2^t for all j, of the low 64 bits (of -2^t <= x < 2^t, precisely).
 * Numbers have w <= 64 bits (tacit_logit_widths). c is public: 2^c P <= 2^(w-3), where P bounds the sums of
 * |H_ij| over j. H is a mean of a z z^T, a >= 0, so it is positive semidefinite with a trace of at most T = c
 * S^2 where a <= c, |H_ij|^2 <= H_ii H_jj, and the sum is at most sqrt(d) T, and the ridge; with dp
 * what noise adds (50 deviations, the probability of more is below 1e-250). |b| <= 2^(w-1)/3 units: R, and
 * the public ridge |beta|. Of a family without c the bit says two things more, each of all 128 bits:
 *     (3) the trace of H, without the ridge, is below T = R, a power of two, and
 *     (4) |b_j| < 2^(w-3) for all j.
 * The sums of nodes make H positive semidefinite up to rounding, so that the bounds hold by what the bit
 * says, wherever beta is; and a node whose numbers are beyond R sends a trace of R, so that the bit is 0.
 *
 * Claim (what passes is a solution). If the bit is 1, then H s = b + r as integers of the grid, with |r_j| <=
 * 2^t + 1 units. Proof. By (1) |sum_j H_ij s_j| <= 2^(w - 3 + f), and H s - b is within 2^(w-1) units. yao:
 * the product is that sum, rounded down once, modulo 2^w and with its sign; so it is that sum. shares: the
 * sum is exact modulo 2^128, and dropping f bits gives it rounded down, or one more, or, where a share
 * wrapped around, that and a multiple of 2^(128 - f), which is 0 modulo 2^64. So the low 64 bits are those of
 * H s - b, or of one unit more, and a number within 2^63 is known by its low 64 bits.
 *
 * What r means. s is the exact step for sums that are off by r. Let mu be the least eigenvalue of H: at least
 * the ridge without dp. With tau = 2^t + 1 units and e = s - H^-1 b = H^-1 r:
 *     |e|_2 <= sqrt(d) tau/mu;
 *     |e_j| <= sqrt((H^-1)_jj r^T H^-1 r) <= standard error_j  sqrt(n d/mu) tau
 *         (Cauchy and Schwarz; the variance of
 *                                                                                    coefficient j is
 *                                                                                    (H^-1)_jj/n).
 * With f = 36 and t = 16, tau = 2^-20: 50 columns, 1e5 rows and mu = 0.01 give 0.02 standard errors at most.
 * Errors do not pile up: the next step starts at the beta that was opened, and where the iteration comes to
 * rest the score of the likelihood over n is within tau of 0 in each coordinate.
 *
 * What is refused. Whatever breaks (1) or (2), to one unit. A solution in exact numbers is refused if it is
 * beyond 2^c, which leaves coefficients room for steps of hundreds; if rounding cost it more than t bits (by
 * circuits_linear.h the factor is that of a matrix E off, and s misses by about d E |s|); and if a share
 * wrapped in the computation of s itself, by chance (docs/secure-linear-algebra.md). It is not checked that H
 * is positive definite: with dp it may not be.
 *
 * Inverses. X = H^-1 is checked by one product with a public vector v that A draws once X is shared: H (X v)
 * = v to 2^-6, all of it times 2^-12 for (1). If an entry of H X - I is beyond 2^k, the coordinate of it
 * passes for a fraction of 2^(-6 - k) + 2^-20 of all v at most, whatever the other entries of v are: an
 * overflow is seen, a loss of digits below 2^-6 not.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "method/secure/logit.h"
#include "net/clock.h"

enum {
    SPARE_BITS = 16, /* t: that rounding may cost a solution */
    INVERSE_TOLERANCE = 6,
    INVERSE_SCALE = 12,
    VECTOR_BITS = 20, /* behind the point of v, where the format has them */
    SUM_BITS = 3      /* fewer than numbers have: those of H s */
};

static bool is_a(const tacit_logit *self) { return self->center->role == TACIT_GARBLER; }

static double now(void) { return 1e-3 * (double)tacit_clock_monotonic_ms(); }

tacit_status tacit_logit_factor(tacit_logit *self, tacit_factored **out, tacit_error *error) {
    double begun = now();
    tacit_status status = tacit_secure_factor(self->secure, out, self->matrix, self->width, error);
    self->center->report.center_seconds += now() - begun;
    return status;
}

unsigned tacit_logit_step_bits(const tacit_logit *self) {
    double row = sqrt((double)self->width) * self->trace + self->ridge + self->noise;
    int bits;
    frexp(row, &bits);
    unsigned most = self->bits - SUM_BITS;
    return bits < 1 ? most - 1 : most - (unsigned)bits;
}

tacit_status tacit_logit_check_solution(tacit_logit *self, const tacit_share *s, const tacit_share *b,
                                        unsigned tolerance, tacit_error *error) {
    size_t d = self->width;
    tacit_share *residual = TACIT_NEW(tacit_share, d);
    tacit_share trace = 0;
    const bool times = self->plan->method->takes_times;
    bool good = false;
    tacit_status status = residual != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            self->whole[i * d + j] = self->matrix[i >= j ? tacit_triangle(i, j) : tacit_triangle(j, i)];
    TACIT_CHECK(tacit_secure_multiply(self->secure, residual, self->whole, s, d, d, 1, error));
    tacit_shares_subtract(residual, residual, b, d);
    for (size_t j = 0; j < d; j++) trace += self->matrix[tacit_triangle(j, j)];
    if (is_a(self)) trace -= d * tacit_share_of(llrint(ldexp(self->ridge, (int)self->fraction)));
    const tacit_secure_range ranges[] = { { s, d, tacit_logit_step_bits(self), 128 },
                                          { residual, d, tolerance, 64 },
                                          { &trace, 1, self->fraction + (unsigned)ilogb(self->trace), 128 },
                                          { b, d, self->bits - SUM_BITS, 128 } };
    TACIT_CHECK(tacit_secure_all_within(self->secure, &good, ranges, self->unproved ? 4 : 2, error));
    if (!good)
        status = tacit_fail(
            error, TACIT_LIMIT,
            "the equations of iteration %zu overflow or lose their digits: columns follow from each other, "
            "or lie far apart in scale%s%s; raise lambda, leave columns out%s",
            self->iteration + 1,
            times            ? ", or no row has an event"
            : self->unproved ? ", or "
                             : "",
            self->unproved ? self->family->unbounded : "", times ? "" : ", or change scale or fraction");
cleanup:
    free(residual);
    return status;
}

tacit_status tacit_logit_solve(tacit_logit *self, tacit_factored *factor, bool check, tacit_share *step,
                               tacit_error *error) {
    double begun = now();
    tacit_status status = tacit_secure_solve(self->secure, step, factor, self->gradient, error);
    if (status == TACIT_OK && check)
        status = tacit_logit_check_solution(self, step, self->gradient, SPARE_BITS, error);
    self->center->report.center_seconds += now() - begun;
    return status;
}

/* v, as whole numbers in [-2^bits, 2^bits): A draws, and tells B. */
static tacit_status draw_vector(tacit_logit *self, int64_t *out, unsigned bits, tacit_error *error) {
    for (size_t j = 0; j < self->width && is_a(self); j++) {
        uint64_t drawn = 0;
        TACIT_TRY(tacit_entropy_below(&drawn, self->center->entropy, (uint64_t)2 << bits, error));
        out[j] = (int64_t)drawn - ((int64_t)1 << bits);
    }
    return tacit_center_share_public(self->center, out, self->width, error);
}

/* A product with a public vector needs no secret multiplication. */
static tacit_status check_inverse(tacit_logit *self, const tacit_share *inverse, tacit_error *error) {
    size_t d = self->width;
    unsigned most = self->fraction - INVERSE_SCALE, bits = most < VECTOR_BITS ? most : VECTOR_BITS;
    int64_t *v = TACIT_NEW(int64_t, d);
    tacit_share *product = TACIT_NEW(tacit_share, 2 * d);
    tacit_status status = v != NULL && product != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    TACIT_CHECK(draw_vector(self, v, bits, error));
    for (size_t i = 0; i < d; i++) {
        product[d + i] = is_a(self) ? tacit_share_of(v[i] * ((int64_t)1 << (most - bits))) : 0;
        for (size_t j = 0; j < d; j++)
            product[i] +=
                inverse[i >= j ? tacit_triangle(i, j) : tacit_triangle(j, i)] * tacit_share_of(v[j]);
    }
    tacit_shares_drop(product, bits + INVERSE_SCALE, d, self->center->role);
    TACIT_CHECK(tacit_logit_check_solution(self, product, product + d, most - INVERSE_TOLERANCE, error));
cleanup:
    free(v);
    free(product);
    return status;
}

tacit_status tacit_logit_invert(tacit_logit *self, tacit_factored *factor, tacit_share *inverse,
                                tacit_error *error) {
    double begun = now();
    tacit_status status = tacit_secure_inverse(self->secure, inverse, factor, error);
    if (status == TACIT_OK) status = check_inverse(self, inverse, error);
    self->center->report.center_seconds += now() - begun;
    return status;
}
