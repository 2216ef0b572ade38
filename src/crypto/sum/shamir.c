#include "crypto/sum/shamir.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>

enum { LANES = TACIT_SECRET_BYTES / 2, REDUCTION = 0x100B };

/* Sixteen elements of GF(2^16). */
typedef struct lanes {
    uint16_t x[LANES];
} lanes;

static lanes load(const uint8_t bytes[TACIT_SECRET_BYTES]) {
    lanes out;
    for (size_t i = 0; i < LANES; i++) out.x[i] = (uint16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8);
    return out;
}

static void store(uint8_t bytes[TACIT_SECRET_BYTES], const lanes *in) {
    for (size_t i = 0; i < LANES; i++) {
        bytes[2 * i] = (uint8_t)in->x[i];
        bytes[2 * i + 1] = (uint8_t)(in->x[i] >> 8);
    }
}

static void add(lanes *sum, const lanes *x) {
    for (size_t i = 0; i < LANES; i++) sum->x[i] ^= x->x[i];
}

/* Multiply by the polynomial x: shift, and subtract the modulus where the top bit was set. */
static void shift(lanes *x) {
    for (size_t i = 0; i < LANES; i++) x->x[i] = (uint16_t)((x->x[i] << 1) ^ (REDUCTION & -(x->x[i] >> 15)));
}

/* x <- x * factor; `factor` is public. */
static void scale(lanes *x, uint16_t factor) {
    lanes out = { { 0 } };
    for (int bit = 15; bit >= 0; bit--) {
        shift(&out);
        if ((factor >> bit & 1) != 0) add(&out, x);
    }
    *x = out;
}

/* Arithmetic on public elements. */
static uint16_t times(uint16_t a, uint16_t b) {
    uint32_t out = 0;
    for (int bit = 15; bit >= 0; bit--)
        out = (out << 1) ^ ((uint32_t)REDUCTION & -(out >> 15 & 1)) ^ (a & -(uint32_t)(b >> bit & 1));
    return (uint16_t)out;
}

/* 1/a = a^(2^16 - 2), the product of a^2, a^4, ..., a^(2^15). */
static uint16_t inverse(uint16_t a) {
    uint16_t power = a, out = 1;
    for (int i = 1; i < 16; i++) {
        power = times(power, power);
        out = times(out, power);
    }
    return out;
}

tacit_status tacit_shamir_share(tacit_secret_share *out, uint16_t place,
                                const uint8_t secret[TACIT_SECRET_BYTES], const uint8_t *coefficients,
                                size_t threshold, tacit_error *error) {
    if (threshold == 0 || place == 0)
        return tacit_fail(error, TACIT_USAGE, "a secret is shared with a threshold and at places above 0");
    lanes value = { { 0 } }, part;
    for (size_t i = threshold - 1; i > 0; i--) { /* Horner's rule from the highest coefficient down */
        part = load(coefficients + (i - 1) * TACIT_SECRET_BYTES);
        add(&value, &part);
        scale(&value, place);
    }
    part = load(secret);
    add(&value, &part);
    out->place = place;
    store(out->bytes, &value);
    sodium_memzero(&value, sizeof value);
    sodium_memzero(&part, sizeof part);
    return TACIT_OK;
}

static tacit_status check_places(const tacit_secret_share *shares, size_t count, size_t threshold,
                                 tacit_error *error) {
    uint8_t seen[(TACIT_SHAMIR_PLACES + 1) / 8] = { 0 };
    if (threshold == 0 || count < threshold)
        return tacit_fail(error, TACIT_INPUT, "%zu shares of a secret were given, and it takes %zu", count,
                          threshold);
    for (size_t i = 0; i < count; i++) {
        uint16_t place = shares[i].place;
        if (place == 0) return tacit_fail(error, TACIT_INPUT, "share %zu of a secret has no place", i);
        if ((seen[place / 8] >> place % 8 & 1) != 0)
            return tacit_fail(error, TACIT_INPUT, "two shares of a secret are for the same place %u",
                              (unsigned)place);
        seen[place / 8] |= (uint8_t)(1 << place % 8);
    }
    return TACIT_OK;
}

/* Lagrange's coefficient of share i at 0: the product over the others of x_j / (x_j - x_i). */
static uint16_t weight(const tacit_secret_share *shares, size_t threshold, size_t i) {
    uint16_t above = 1, below = 1;
    for (size_t j = 0; j < threshold; j++) {
        if (j == i) continue;
        above = times(above, shares[j].place);
        below = times(below, shares[j].place ^ shares[i].place);
    }
    return times(above, inverse(below));
}

tacit_status tacit_shamir_combine(uint8_t secret[TACIT_SECRET_BYTES], const tacit_secret_share *shares,
                                  size_t count, size_t threshold, tacit_error *error) {
    TACIT_TRY(check_places(shares, count, threshold, error));
    lanes sum = { { 0 } }, part;
    for (size_t i = 0; i < threshold; i++) {
        part = load(shares[i].bytes);
        scale(&part, weight(shares, threshold, i));
        add(&sum, &part);
    }
    store(secret, &sum);
    sodium_memzero(&sum, sizeof sum);
    sodium_memzero(&part, sizeof part);
    return TACIT_OK;
}
