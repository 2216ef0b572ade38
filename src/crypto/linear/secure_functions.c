/*
 * Functions of single numbers between two servers: products by rows, reciprocals and logarithms.
 *
 * A logarithm. A circuit shifts a = X 2^-f to the left by k bits, M = X 2^k in [2^62, 2^63), and hands out
 * shares of M and of k: a = m 2^(63 - f - k), m = M 2^-63 in [1/2, 1). On shares, with m = (1 + u) 3/4 and
 * |u| <= 1/3,
 *     log a = (63 - f - k) log 2 + log(3/4) + u - u^2/2 + ... - u^24/24,
 * and what is left out is below (1/3)^25 (3/2)/25 < 1e-13. Horner's rule takes 23 products, one after the
 * other; each adds an error of two units (a drop, a rounded constant), which is multiplied by |u| <= 1/3
 * from then on: 3 units in all. k times log 2, rounded, is off by 32 units at most, and less for numbers
 * that are not near 2^-f. Of a = 0 it is a number, too: M = 0, u = -1.
 */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>

#include "base/memory.h"
#include "crypto/linear/secure_parts.h"

enum { LANES = 512, TERMS = 24 };

tacit_status tacit_reciprocal_wires(tacit_secure *self, tacit_share *out, const tacit_share *a,
                                    size_t count) {
    tacit_scratch_mark mark = tacit_scratch_here(self->builder);
    size_t width = self->format.width;
    tacit_wire *x = tacit_scratch(self->builder, width * count);
    if (x == NULL) return TACIT_NO_MEMORY;
    TACIT_TRY(tacit_shares_to_wires(x, self->builder, self->converter.role, a, count, width));
    TACIT_TRY(tacit_fixed_reciprocal(self->builder, x, x, self->format, count));
    TACIT_TRY(tacit_shares_from_wires(out, self->builder, self->converter.role, self->converter.stream, x,
                                      count, width));
    tacit_scratch_release(self->builder, mark);
    return TACIT_OK;
}

/* A function of each number, LANES of them at a time. */
typedef tacit_status lanes_function(tacit_secure *secure, tacit_share *out, const tacit_share *a,
                                    size_t count, tacit_error *error);

static tacit_status in_lanes(lanes_function *function, tacit_secure *secure, tacit_share *out,
                             const tacit_share *a, size_t count, tacit_error *error) {
    double begin = tacit_secure_now();
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < count && status == TACIT_OK; k += LANES)
        status = function(secure, out + k, a + k, count - k < LANES ? count - k : LANES, error);
    return tacit_secure_book(secure, begin, status);
}

static tacit_status reciprocals(tacit_secure *secure, tacit_share *out, const tacit_share *a, size_t count,
                                tacit_error *error) {
    return tacit_secure_built(secure, tacit_reciprocal_wires(secure, out, a, count), error);
}

tacit_status tacit_secure_reciprocals(tacit_secure *secure, tacit_share *out, const tacit_share *a,
                                      size_t count, tacit_error *error) {
    return in_lanes(reciprocals, secure, out, a, count, error);
}

tacit_status tacit_secure_scale_rows(tacit_secure *secure, tacit_share *out, const tacit_share *factors,
                                     const tacit_share *b, size_t rows, size_t columns, tacit_error *error) {
    double begin = tacit_secure_now();
    if (rows == 0 || columns == 0)
        return tacit_fail(error, TACIT_USAGE, "a product needs matrices that are not empty");
    return tacit_secure_book(secure, begin,
                             secure->kind->scale_rows(secure, out, factors, b, rows, columns, error));
}

/* ---- logarithms ---- */

/* M and k of the claim, which has 64 bits; here a number has `width`, and M is below 2^(width - 1). */
static tacit_status normalise(tacit_secure *self, tacit_share *mantissa, tacit_share *shift,
                              const tacit_share *a, size_t count) {
    tacit_scratch_mark mark = tacit_scratch_here(self->builder);
    const tacit_converter *by = &self->converter;
    size_t width = self->format.width;
    tacit_wire *x = tacit_scratch(self->builder, width * count),
               *k = tacit_scratch(self->builder, (TACIT_SHIFT_BITS + 1) * count);
    if (x == NULL || k == NULL) return TACIT_NO_MEMORY;
    TACIT_TRY(tacit_shares_to_wires(x, self->builder, by->role, a, count, width));
    TACIT_TRY(tacit_fixed_normalise(self->builder, x, k, x, width, count));
    for (size_t lane = 0; lane < count; lane++)
        k[TACIT_SHIFT_BITS * count + lane] = tacit_constant(self->builder, 0); /* not negative */
    TACIT_TRY(tacit_shares_from_wires(mantissa, self->builder, by->role, by->stream, x, count, width));
    TACIT_TRY(
        tacit_shares_from_wires(shift, self->builder, by->role, by->stream, k, count, TACIT_SHIFT_BITS + 1));
    tacit_scratch_release(self->builder, mark);
    return TACIT_OK;
}

static int64_t units(const tacit_secure *self, double value) {
    return llrint(ldexp(value, (int)self->format.fraction));
}

static void add_public(const tacit_secure *self, tacit_share *shares, double value, size_t count) {
    for (size_t k = 0; k < count && self->converter.role == TACIT_GARBLER; k++)
        shares[k] += tacit_share_of(units(self, value));
}

/* log(1 + u), by Horner's rule. */
static tacit_status series(tacit_secure *self, tacit_share *out, const tacit_share *u, size_t count,
                           tacit_error *error) {
    for (size_t k = 0; k < count; k++) out[k] = 0;
    add_public(self, out, -1.0 / TERMS, count);
    for (int k = TERMS - 1; k >= 0; k--) {
        TACIT_TRY(self->kind->scale_rows(self, out, u, out, count, 1, error));
        if (k > 0) add_public(self, out, (k % 2 == 1 ? 1.0 : -1.0) / k, count);
    }
    return TACIT_OK;
}

static tacit_status logarithms(tacit_secure *self, tacit_share *out, const tacit_share *a, size_t count,
                               tacit_error *error) {
    const unsigned fraction = (unsigned)self->format.fraction, top = (unsigned)self->format.width - 1;
    const tacit_role role = self->converter.role;
    tacit_share *u = TACIT_NEW(tacit_share, 2 * count), *shift = u + count;
    tacit_status status = u != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    TACIT_CHECK(tacit_secure_built(self, normalise(self, u, shift, a, count), error));
    /* m; in two steps, so that hardly a share wraps around */
    tacit_shares_drop(u, top - fraction, count, role);
    tacit_shares_scale(u, u, units(self, 4.0 / 3), count);
    tacit_shares_drop(u, fraction, count, role);
    add_public(self, u, -1, count);
    TACIT_CHECK(series(self, out, u, count, error));
    tacit_shares_scale(shift, shift, -units(self, M_LN2), count);
    tacit_shares_add(out, out, shift, count);
    add_public(self, out, ((double)top - (double)fraction) * M_LN2 + log(0.75), count);
cleanup:
    sodium_memzero(u, 2 * count * sizeof *u);
    free(u);
    return status;
}

tacit_status tacit_secure_logarithms(tacit_secure *secure, tacit_share *out, const tacit_share *a,
                                     size_t count, tacit_error *error) {
    return in_lanes(logarithms, secure, out, a, count, error);
}
