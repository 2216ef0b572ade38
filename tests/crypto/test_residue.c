/* The arithmetic against GMP's general functions, which share none of its code. */
#include "keys.h"

typedef struct numbers {
    size_t limbs;
    tacit_modulus modulus;
    mpz_t m, square, a, b, expected, got, quotient, rest;
} numbers;

static void start(numbers *self, size_t limbs) {
    self->limbs = limbs;
    mpz_inits(self->m, self->square, self->a, self->b, self->expected, self->got, self->quotient, self->rest,
              NULL);
}

static void end(numbers *self) {
    mpz_clears(self->m, self->square, self->a, self->b, self->expected, self->got, self->quotient, self->rest,
               NULL);
}

static void put(mp_limb_t *out, size_t limbs, const mpz_t value) {
    mpn_zero(out, (mp_size_t)limbs);
    assert_true(mpz_size(value) <= limbs);
    mpn_copyi(out, mpz_limbs_read(value), (mp_size_t)mpz_size(value));
}

static void random_below(mpz_t out, tacit_stream *stream, const mpz_t bound) {
    uint8_t bytes[8 * TACIT_PAIR_LIMBS_MOST + 16];
    size_t length = mpz_sizeinbase(bound, 256) + 16;
    tacit_stream_bytes(stream, bytes, length);
    mpz_import(out, length, -1, 1, 0, 0, bytes);
    mpz_mod(out, out, bound);
}

/* Odd, of full length; the smallest and the largest such too. */
static void choose_modulus(numbers *self, tacit_stream *stream, int which, bool vectors) {
    size_t bits = self->limbs * 64;
    mp_limb_t m[TACIT_RESIDUE_LIMBS_MOST];
    mpz_set_ui(self->m, 0);
    mpz_setbit(self->m, bits - 1);
    if (which == 0)
        mpz_add_ui(self->m, self->m, 1);
    else {
        random_below(self->a, stream, self->m);
        mpz_add(self->m, self->m, self->a);
        mpz_setbit(self->m, 0);
    }
    if (which == 1) {
        mpz_set_ui(self->m, 0);
        mpz_setbit(self->m, bits);
        mpz_sub_ui(self->m, self->m, 1);
    }
    mpz_mul(self->square, self->m, self->m);
    put(m, self->limbs, self->m);
    tacit_modulus_start_pairs_with(&self->modulus, m, self->limbs, bits, vectors);
}

static void enter(numbers *self, mp_limb_t *out, const mpz_t value) {
    mp_limb_t plain[TACIT_PAIR_LIMBS_MOST];
    mpz_fdiv_qr(self->quotient, self->rest, value, self->m);
    put(plain, self->limbs, self->rest);
    put(plain + self->limbs, self->limbs, self->quotient);
    tacit_pair_enter(&self->modulus, out, plain);
}

static void check_element(numbers *self, const mp_limb_t *element) {
    mp_limb_t plain[TACIT_PAIR_LIMBS_MOST];
    tacit_pair_leave(&self->modulus, plain, element);
    mpz_import(self->rest, self->limbs, -1, sizeof(mp_limb_t), 0, 0, plain);
    mpz_import(self->got, self->limbs, -1, sizeof(mp_limb_t), 0, 0, plain + self->limbs);
    assert_true(mpz_cmp(self->rest, self->m) < 0);
    assert_true(mpz_cmp(self->got, self->m) < 0);
    mpz_mul(self->got, self->got, self->m);
    mpz_add(self->got, self->got, self->rest);
    if (mpz_cmp(self->got, self->expected) != 0) fail_msg("%s", mpz_get_str(NULL, 16, self->m));
}

/* Random factors, and those near 0, m and m^2. */
static void choose_factor(numbers *self, mpz_t out, tacit_stream *stream) {
    random_below(out, stream, self->square);
    uint64_t kind = tacit_stream_below(stream, 6);
    if (kind == 0) mpz_sub_ui(out, self->square, 1 + tacit_stream_below(stream, 3));
    if (kind == 1) mpz_sub(out, self->square, self->m);
    if (kind == 2) mpz_sub_ui(out, self->m, 1);
    if (kind == 3) mpz_set_ui(out, tacit_stream_below(stream, 3));
}

static void check_products(numbers *self, tacit_stream *stream) {
    mp_limb_t x[TACIT_PAIR_LIMBS_MOST], y[TACIT_PAIR_LIMBS_MOST], z[TACIT_PAIR_LIMBS_MOST];
    choose_factor(self, self->a, stream);
    choose_factor(self, self->b, stream);
    enter(self, x, self->a);
    enter(self, y, self->b);
    mpz_mul(self->expected, self->a, self->b);
    mpz_mod(self->expected, self->expected, self->square);
    tacit_pair_multiply(&self->modulus, z, x, y);
    check_element(self, z);
    tacit_pair_multiply(&self->modulus, y, x, y); /* onto itself */
    check_element(self, y);
    mpz_mul(self->expected, self->a, self->a);
    mpz_mod(self->expected, self->expected, self->square);
    tacit_pair_square(&self->modulus, z, x);
    check_element(self, z);
}

/* x + m upper of a long x, as decryption gathers it. */
static void check_gathered(numbers *self, tacit_stream *stream) {
    mp_limb_t x[TACIT_PAIR_LIMBS_MOST], upper[TACIT_RESIDUE_LIMBS_MOST], z[TACIT_PAIR_LIMBS_MOST];
    mpz_mul_2exp(self->expected, self->m, self->limbs * 64);
    random_below(self->a, stream, self->expected);
    if (tacit_stream_below(stream, 3) == 0) mpz_sub_ui(self->a, self->expected, 1);
    random_below(self->b, stream, self->m);
    if (tacit_stream_below(stream, 3) == 0) mpz_sub_ui(self->b, self->m, 1);
    put(x, 2 * self->limbs, self->a);
    put(upper, self->limbs, self->b);
    mpz_mul(self->expected, self->b, self->m);
    mpz_add(self->expected, self->expected, self->a);
    mpz_mod(self->expected, self->expected, self->square);
    tacit_pair_gather(&self->modulus, z, x, upper);
    check_element(self, z);
    mpz_mod(self->expected, self->a, self->m);
    tacit_residue_shorten(&self->modulus, z, x);
    mpz_import(self->got, self->limbs, -1, sizeof(mp_limb_t), 0, 0, z);
    assert_int_equal(mpz_cmp(self->got, self->expected), 0);
}

static void products_modulo_a_square_agree(void **state) {
    (void)state;
    tacit_stream stream = printed_stream();
    static const size_t lengths[] = { 1, 2, 8, 16, 24, 32, 48, 64 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        numbers self;
        start(&self, lengths[i]);
        for (int which = 0; which < 12; which++) {
            choose_modulus(&self, &stream, which / 2, which % 2);
            for (int k = 0; k < 20; k++) check_products(&self, &stream);
            for (int k = 0; k < 5; k++) check_gathered(&self, &stream);
        }
        end(&self);
    }
}

static void powers_and_inverses_modulo_a_square_agree(void **state) {
    (void)state;
    tacit_stream stream = printed_stream();
    for (size_t limbs = 1; limbs <= 32; limbs *= 2) {
        numbers self;
        mp_limb_t x[TACIT_PAIR_LIMBS_MOST], z[TACIT_PAIR_LIMBS_MOST], exponent[2];
        start(&self, limbs);
        for (int which = 0; which < 8; which++) {
            choose_modulus(&self, &stream, which / 2, which % 2);
            random_below(self.a, &stream, self.square);
            enter(&self, x, self.a);
            exponent[0] = tacit_stream_u64(&stream);
            exponent[1] = tacit_stream_below(&stream, 1 << 20);
            mpz_import(self.b, 2, -1, sizeof(mp_limb_t), 0, 0, exponent);
            mpz_powm(self.expected, self.a, self.b, self.square);
            tacit_pair_power(&self.modulus, z, x, exponent, 84);
            check_element(&self, z);
            bool unit = mpz_invert(self.expected, self.a, self.square) != 0;
            assert_int_equal(tacit_pair_invert(&self.modulus, z, x), unit);
            if (unit) check_element(&self, z);
        }
        end(&self);
    }
}

/* Every pair of residues and every exponent of a tiny group. */
static void check_tiny_group(bool vectors) {
    tacit_modulus modulus;
    const mp_limb_t m = 15;
    tacit_modulus_start_pairs_with(&modulus, &m, 1, 4, vectors);
    for (mp_limb_t a = 0; a < m * m; a++) {
        mp_limb_t x[2], y[2], z[2], plain[2] = { a % m, a / m }, power = 1;
        tacit_pair_enter(&modulus, x, plain);
        for (mp_limb_t b = 0; b < m * m; b++) {
            const mp_limb_t other[2] = { b % m, b / m };
            tacit_pair_enter(&modulus, y, other);
            tacit_pair_multiply(&modulus, z, x, y);
            tacit_pair_leave(&modulus, z, z);
            assert_int_equal(z[0] + m * z[1], a * b % (m * m));
        }
        for (mp_limb_t e = 0; e < 40; e++, power = power * a % (m * m)) {
            tacit_pair_power(&modulus, z, x, &e, 6);
            tacit_pair_leave(&modulus, z, z);
            assert_int_equal(z[0] + m * z[1], power);
        }
        bool unit = a % 3 != 0 && a % 5 != 0;
        assert_int_equal(tacit_pair_invert(&modulus, y, x), unit);
        if (!unit) continue;
        tacit_pair_multiply(&modulus, z, x, y);
        tacit_pair_leave(&modulus, z, z);
        assert_int_equal(z[0], 1);
        assert_int_equal(z[1], 0);
    }
}

static void a_tiny_group_is_right_throughout(void **state) {
    (void)state;
    check_tiny_group(false);
    check_tiny_group(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_modulo_a_square_agree),
        cmocka_unit_test(powers_and_inverses_modulo_a_square_agree),
        cmocka_unit_test(a_tiny_group_is_right_throughout),
    };
    return cmocka_run_group_tests_name("residues", tests, NULL, NULL);
}
