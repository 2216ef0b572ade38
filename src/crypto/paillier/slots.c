#include "crypto/paillier/slots.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/paillier/paillier_parts.h"

enum { LIMB_BITS = 64, WIDEST_SLOT = 127 };
static const double WIDEST_RANGE = 0x1p62;

/* A K X; false when it takes more than 125 bits, as a slot has at most 127. */
static bool bound_of(uint64_t bound[2], int64_t most, unsigned factor_bits, uint64_t additions) {
    mp_limb_t a = additions, x = (mp_limb_t)most, product[3], shifted[4] = { 0 };
    unsigned shift = factor_bits == 0 ? 0 : factor_bits - 1;
    product[2] = 0;
    product[1] = mpn_mul_1(product, &a, 1, x);
    mpn_copyi(shifted, product, 3);
    if (shift > 0) shifted[3] = mpn_lshift(shifted, shifted, 3, shift);
    bound[0] = shifted[0];
    bound[1] = shifted[1];
    return shifted[2] == 0 && shifted[3] == 0 && shifted[1] >> (WIDEST_SLOT - 2 - LIMB_BITS) == 0;
}

static unsigned bits_of(const uint64_t number[2]) {
    unsigned bits = 0;
    for (unsigned i = 0; i < 128; i++)
        if (number[i / 64] >> (i % 64) & 1) bits = i + 1;
    return bits;
}

tacit_status tacit_slots_plan_for(tacit_slots *out, unsigned key_bits, double range, unsigned fraction_bits,
                                  unsigned factor_bits, uint64_t additions, tacit_error *error) {
    if (!(range > 0) || !isfinite(range) || additions == 0 || factor_bits == 1 || factor_bits > 64)
        return tacit_fail(
            error, TACIT_USAGE,
            "slots need a finite range above 0, at least one addition, and factors of 2 to 64 bits, or 0");
    double most = fraction_bits > 1023 ? INFINITY : ceil(ldexp(range, (int)fraction_bits));
    if (!(most <= WIDEST_RANGE))
        return tacit_fail(error, TACIT_USAGE,
                          "a range of %g takes more than 62 bits with %u after the point; use fewer", range,
                          fraction_bits);
    tacit_slots layout = { .range = range,
                           .fraction_bits = fraction_bits,
                           .factor_bits = factor_bits,
                           .additions = additions,
                           .most = (int64_t)most };
    bool fits = bound_of(layout.bound, layout.most, factor_bits, additions);
    layout.slot_bits = bits_of(layout.bound) + 2;
    layout.slots = (key_bits - 2) / layout.slot_bits;
    if (!fits || layout.slots == 0)
        return tacit_fail(error, TACIT_USAGE,
                          "a slot for these sums would be wider than %d bits; use a smaller range, factor or "
                          "number of additions",
                          WIDEST_SLOT);
    *out = layout;
    return TACIT_OK;
}

tacit_status tacit_slots_plan(tacit_slots *out, const tacit_paillier_public *key, double range,
                              unsigned fraction_bits, unsigned factor_bits, uint64_t additions,
                              tacit_error *error) {
    return tacit_slots_plan_for(out, key->bits, range, fraction_bits, factor_bits, additions, error);
}

size_t tacit_slots_plaintexts(const tacit_slots *layout, size_t count) {
    return count / layout->slots + (count % layout->slots != 0);
}

tacit_status tacit_slots_encode(int64_t *out, const tacit_slots *layout, const double *values, size_t count,
                                tacit_error *error) {
    for (size_t i = 0; i < count; i++)
        if (!(fabs(values[i]) <= layout->range))
            return tacit_fail(error, TACIT_LIMIT,
                              "value %zu lies outside the declared range of %g; clip it or declare more", i,
                              layout->range);
    for (size_t i = 0; i < count; i++) out[i] = llrint(ldexp(values[i], (int)layout->fraction_bits));
    return TACIT_OK;
}

/* Add x 2^at to a number; x of two limbs. Constant in time: the place is public. */
static void add_at(mp_limb_t *number, size_t limbs, size_t at, const mp_limb_t x[2]) {
    mp_limb_t shifted[TACIT_RESIDUE_LIMBS_MOST] = { 0 };
    size_t limb = at / LIMB_BITS, shift = at % LIMB_BITS;
    mp_limb_t parts[3] = { x[0] << shift, x[1] << shift, 0 };
    if (shift > 0) {
        parts[1] |= x[0] >> (LIMB_BITS - shift);
        parts[2] = x[1] >> (LIMB_BITS - shift);
    }
    for (size_t i = 0; i < 3 && limb + i < limbs; i++) shifted[limb + i] = parts[i];
    mpn_add_n(number, number, shifted, (mp_size_t)limbs);
    sodium_memzero(shifted, sizeof shifted);
    sodium_memzero(parts, sizeof parts);
}

/* 2^(w-1). */
static void half_slot(mp_limb_t out[2], const tacit_slots *layout) {
    unsigned at = layout->slot_bits - 1;
    out[0] = at < LIMB_BITS ? (mp_limb_t)1 << at : 0;
    out[1] = at < LIMB_BITS ? 0 : (mp_limb_t)1 << (at - LIMB_BITS);
}

/* O: half a slot in each slot. */
static void offset_of(mp_limb_t *out, size_t limbs, const tacit_slots *layout) {
    mp_limb_t half[2];
    half_slot(half, layout);
    mpn_zero(out, (mp_size_t)limbs);
    for (unsigned i = 0; i < layout->slots; i++) add_at(out, limbs, (size_t)i * layout->slot_bits, half);
}

static tacit_status check_vector(const tacit_plaintexts *plaintexts, const tacit_slots *layout, size_t count,
                                 tacit_error *error) {
    if (plaintexts->count != tacit_slots_plaintexts(layout, count))
        return tacit_fail(error, TACIT_USAGE, "%zu numbers take %zu plaintexts in these slots, not %zu",
                          count, tacit_slots_plaintexts(layout, count), plaintexts->count);
    if ((plaintexts->key->bits - 2) / layout->slot_bits != layout->slots)
        return tacit_fail(error, TACIT_USAGE, "the slots were planned for a Paillier key of another size");
    return TACIT_OK;
}

/* M + O, then - O modulo n. */
static void pack_one(tacit_plaintexts *out, size_t at, const tacit_slots *layout, const int64_t *values,
                     size_t count, const mp_limb_t *offset) {
    const tacit_modulus *n = &out->key->n;
    mp_limb_t sum[TACIT_RESIDUE_LIMBS_MOST] = { 0 }, half[2], digit[2];
    half_slot(half, layout);
    for (unsigned i = 0; i < layout->slots; i++) {
        uint64_t value = i < count ? (uint64_t)values[i] : 0; /* which slots are filled is public */
        digit[0] = value;
        digit[1] = -(value >> 63); /* the sign, extended */
        mpn_add_n(digit, digit, half, 2);
        add_at(sum, n->limbs, (size_t)i * layout->slot_bits, digit);
    }
    tacit_residue_subtract(n, tacit_plaintext_at(out, at), sum, offset);
    sodium_memzero(sum, sizeof sum);
    sodium_memzero(digit, sizeof digit);
}

/* One decision for all values, since each would take a time of its own. */
static tacit_status check_values(const tacit_slots *layout, const int64_t *values, size_t count,
                                 tacit_error *error) {
    int beyond = 0;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) beyond |= (values[i] > layout->most) | (values[i] < -layout->most);
    if (beyond == 0) return TACIT_OK;
    while (values[at] <= layout->most && values[at] >= -layout->most) at++;
    return tacit_fail(error, TACIT_LIMIT,
                      "value %zu lies outside the declared range of %g; clip it or declare more", at,
                      layout->range);
}

tacit_status tacit_slots_pack(tacit_plaintexts *out, const tacit_slots *layout, const int64_t *values,
                              size_t count, tacit_error *error) {
    mp_limb_t offset[TACIT_RESIDUE_LIMBS_MOST];
    TACIT_TRY(check_vector(out, layout, count, error));
    TACIT_TRY(check_values(layout, values, count, error));
    offset_of(offset, out->key->limbs, layout);
    for (size_t at = 0; at < out->count; at++) {
        size_t first = at * layout->slots, left = count - first;
        pack_one(out, at, layout, values + first, left < layout->slots ? left : layout->slots, offset);
    }
    return TACIT_OK;
}

/* Bits [at, at + w) of a number, w <= 127. */
static void digit_at(mp_limb_t out[2], const mp_limb_t *number, size_t limbs, size_t at, unsigned width) {
    size_t limb = at / LIMB_BITS, shift = at % LIMB_BITS;
    mp_limb_t parts[3] = { 0 };
    for (size_t i = 0; i < 3 && limb + i < limbs; i++) parts[i] = number[limb + i];
    out[0] = parts[0] >> shift;
    out[1] = parts[1] >> shift;
    if (shift > 0) {
        out[0] |= parts[1] << (LIMB_BITS - shift);
        out[1] |= parts[2] << (LIMB_BITS - shift);
    }
    if (width < LIMB_BITS) out[0] &= ((mp_limb_t)1 << width) - 1;
    out[1] &= width <= LIMB_BITS ? 0 : ((mp_limb_t)1 << (width - LIMB_BITS)) - 1;
}

/* s_i = digit - 2^(w-1); 1 when |s_i| > A K X: s_i + bound is then negative, or above twice the bound. */
static mp_limb_t unpack_digit(tacit_wide *out, const mp_limb_t digit[2], const mp_limb_t half[2],
                              const tacit_slots *layout) {
    mp_limb_t value[2], shifted[2], bound[2] = { layout->bound[0], layout->bound[1] }, twice[2], rest[2];
    mpn_sub_n(value, digit, half, 2);
    mpn_add_n(shifted, value, bound, 2);
    mpn_add_n(twice, bound, bound, 2);
    mp_limb_t beyond = shifted[1] >> (LIMB_BITS - 1) | mpn_sub_n(rest, twice, shifted, 2);
    out->low = value[0];
    memcpy(&out->high, &value[1], sizeof out->high);
    return beyond;
}

/* Returns the number of slots beyond the bound; what stands above the last slot counts as one. */
static mp_limb_t unpack_one(tacit_wide *out, size_t count, const tacit_plaintexts *plaintexts, size_t at,
                            const tacit_slots *layout, const mp_limb_t *offset) {
    const tacit_modulus *n = &plaintexts->key->n;
    mp_limb_t sum[TACIT_RESIDUE_LIMBS_MOST], half[2], digit[2], beyond = 0, above = 0;
    size_t end = (size_t)layout->slots * layout->slot_bits;
    tacit_wide unused;
    half_slot(half, layout);
    tacit_residue_add(n, sum, tacit_plaintext_at(plaintexts, at), offset);
    for (unsigned i = 0; i < layout->slots; i++) {
        digit_at(digit, sum, n->limbs, (size_t)i * layout->slot_bits, layout->slot_bits);
        beyond |= unpack_digit(i < count ? &out[i] : &unused, digit, half, layout);
    }
    for (size_t bit = end; bit < n->limbs * LIMB_BITS; bit++) above |= tacit_bits_of(sum, n->limbs, bit, 1);
    sodium_memzero(sum, sizeof sum);
    sodium_memzero(digit, sizeof digit);
    sodium_memzero(&unused, sizeof unused);
    return beyond | above;
}

tacit_status tacit_slots_unpack(tacit_wide *out, const tacit_slots *layout, size_t count,
                                const tacit_plaintexts *plaintexts, tacit_error *error) {
    mp_limb_t offset[TACIT_RESIDUE_LIMBS_MOST], beyond = 0;
    TACIT_TRY(check_vector(plaintexts, layout, count, error));
    tacit_wide *made = TACIT_NEW(tacit_wide, count);
    if (made == NULL && count > 0) return tacit_fail_memory(error);
    offset_of(offset, plaintexts->key->limbs, layout);
    for (size_t at = 0; at < plaintexts->count; at++) {
        size_t first = at * layout->slots, left = count - first;
        beyond |= unpack_one(made + first, left < layout->slots ? left : layout->slots, plaintexts, at,
                             layout, offset);
    }
    tacit_status status = TACIT_OK;
    if (beyond != 0)
        status = tacit_fail(error, TACIT_INPUT,
                            "a decrypted sum lies beyond what %llu additions within the declared range can "
                            "give; some summand was out of range, or encrypted for other slots",
                            (unsigned long long)layout->additions);
    else if (count > 0)
        memcpy(out, made, count * sizeof *made);
    if (made != NULL) sodium_memzero(made, count * sizeof *made);
    free(made);
    return status;
}

tacit_status tacit_slots_unpack_integers(int64_t *out, const tacit_slots *layout, size_t count,
                                         const tacit_plaintexts *plaintexts, tacit_error *error) {
    tacit_wide *wide = TACIT_NEW(tacit_wide, count);
    if (wide == NULL && count > 0) return tacit_fail_memory(error);
    bool fits = true;
    tacit_status status = tacit_slots_unpack(wide, layout, count, plaintexts, error);
    for (size_t i = 0; status == TACIT_OK && i < count; i++)
        fits &= wide[i].high == -(int64_t)(wide[i].low >> 63);
    if (status == TACIT_OK && !fits)
        status =
            tacit_fail(error, TACIT_LIMIT, "a decrypted sum does not fit 64 bits; read it as a wide number");
    for (size_t i = 0; status == TACIT_OK && i < count; i++) memcpy(&out[i], &wide[i].low, sizeof *out);
    if (wide != NULL) sodium_memzero(wide, count * sizeof *wide);
    free(wide);
    return status;
}
