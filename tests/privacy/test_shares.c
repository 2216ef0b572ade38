/* Shares of noise: the law of their sum, the guarantee computed from it, the grade, the modulus, what is
 * refused. */
#include "probabilities.h"

#include "failing.h"

#include <string.h>

#include "privacy/mechanism/integer.h"
#include "privacy/mechanism/shares.h"

enum { DRAWS = 60000, SHARES = 3, FAR = 300, WIDE = 2 * FAR + 1 };

static const tacit_shared_noise polya = {
    TACIT_LAW_POLYA, 2, { TACIT_UNIT_PARTY, 0.8, 0 }, SHARES, DRAWS, 1, 0
};
static const tacit_shared_noise gaussian = {
    TACIT_LAW_DISCRETE_GAUSSIAN, 2, { TACIT_UNIT_PARTY, 3, 1e-5 }, SHARES, DRAWS, 1, 0
};

/* ---- laws, computed ---- */

/* One share: chances of -FAR, ..., FAR. */
static void share_law(double out[WIDE], tacit_law law, double scale, uint64_t parts) {
    static double binomial[2 * WIDE];
    const double r = 1 / (double)parts;
    double total = 0;
    for (int i = 0; i < 2 * WIDE; i++)
        binomial[i] =
            exp(lgamma(i + r) - lgamma(r) - lgamma(i + 1.0) - i / scale + r * log(-expm1(-1 / scale)));
    for (int k = -FAR; k <= FAR; k++) {
        double chance = 0;
        if (law == TACIT_LAW_DISCRETE_GAUSSIAN) chance = exp(-(double)k * k / (2 * scale * scale));
        for (int i = 0; law == TACIT_LAW_POLYA && i < WIDE; i++) chance += binomial[i] * binomial[i + abs(k)];
        out[k + FAR] = chance;
        total += chance;
    }
    for (int i = 0; i < WIDE; i++) out[i] /= total;
}

/* The sum of `count` shares. */
static void sum_law(double out[WIDE], tacit_law law, double scale, uint64_t parts, uint64_t count) {
    static double one[WIDE], next[WIDE];
    share_law(one, law, scale, parts);
    memcpy(out, one, sizeof one);
    for (uint64_t c = 1; c < count; c++) {
        memset(next, 0, sizeof next);
        for (int i = 0; i < WIDE; i++)
            for (int k = i - FAR < 0 ? 0 : i - FAR; k < WIDE && k <= i + FAR; k++)
                next[i] += out[k] * one[i - k + FAR];
        memcpy(out, next, sizeof next);
    }
}

static void in_cells(double *out, const double law[WIDE], int edge) {
    for (int j = 0; j <= 2 * edge; j++) out[j] = 0;
    for (int k = -FAR; k <= FAR; k++) out[(k < -edge ? -edge : k > edge ? edge : k) + edge] += law[k + FAR];
}

/* The largest log ratio of the chances of k and k + shift, over what is not lost to rounding. */
static double most_ratio(const double law[WIDE], int shift) {
    double most = 0;
    for (int k = 0; k + shift < FAR; k++)
        if (law[k + shift + FAR] > 1e-9) most = fmax(most, log(law[k + FAR] / law[k + shift + FAR]));
    return most;
}

/* ---- tests ---- */

static void check_sum(const tacit_noise_source *source, const tacit_shared_noise *noise, int edge) {
    static double right_law[WIDE], wrong_law[WIDE];
    double seen[41] = { 0 }, right[41], wrong[41], scale = 0;
    int64_t *sums = calloc(DRAWS, sizeof *sums);
    tacit_error error = TACIT_ERROR_INIT;
    assert_non_null(sums);
    for (int s = 0; s < SHARES; s++) {
        tacit_noised *noised = NULL;
        CHECK_OK(tacit_share_add(&noised, source, noise, sums, 20, &error), error);
        assert_int_equal(tacit_noised_grade(noised), tacit_noise_source_grade(source));
        assert_int_equal(tacit_noised_grid_bits(noised), 20);
        memcpy(sums, tacit_noised_steps(noised), DRAWS * sizeof *sums);
        tacit_noised_free(noised);
    }
    for (size_t i = 0; i < DRAWS; i++)
        seen[(sums[i] < -edge ? -edge : sums[i] > edge ? edge : sums[i]) + edge]++;
    CHECK_OK(tacit_share_scale(&scale, noise, &error), error);
    sum_law(right_law, noise->law, scale, SHARES, SHARES);
    sum_law(wrong_law, noise->law, 1.1 * scale, SHARES, SHARES);
    in_cells(right, right_law, edge);
    in_cells(wrong, wrong_law, edge);
    check_chances("a sum of shares", seen, right, wrong, (size_t)(2 * edge + 1), DRAWS);
    free(sums);
}

static void sums_of_shares_have_their_law(void **state) {
    (void)state;
    sources from;
    sources_begin(&from, 3);
    for (size_t s = 0; s < 2; s++) {
        check_sum(&from.each[s], &polya, 7);
        check_sum(&from.each[s], &gaussian, 6);
    }
    sources_end(&from);
}

/* With as many shares as planned, epsilon is met and attained; with more it still holds; with fewer it does
 * not. */
static void polya_shares_are_worth_epsilon(void **state) {
    (void)state;
    static double law[WIDE];
    double scale = 0;
    assert_int_equal(tacit_share_scale(&scale, &polya, NULL), TACIT_OK);
    CHECK_NEAR(scale, 2.5, 1e-9);
    assert_true(scale >= 2.5);
    sum_law(law, TACIT_LAW_POLYA, scale, SHARES, SHARES);
    assert_true(most_ratio(law, 2) <= 0.8 + 1e-6 && most_ratio(law, 2) > 0.8 - 1e-6);
    sum_law(law, TACIT_LAW_POLYA, scale, SHARES, SHARES + 2);
    assert_true(most_ratio(law, 2) < 0.8);
    sum_law(law, TACIT_LAW_POLYA, scale, SHARES, SHARES - 1);
    assert_true(most_ratio(law, 2) > 1);
}

static double renyi(const double law[WIDE], int shift, double order) {
    double sum = 0;
    for (int k = -FAR; k + shift <= FAR; k++)
        if (law[k + FAR] > 0 && law[k + shift + FAR] > 0)
            sum += exp(order * log(law[k + FAR]) - (order - 1) * log(law[k + shift + FAR]));
    return log(sum) / (order - 1);
}

/* The divergence of the sum, from its very probabilities, against the bound: below it always, and near it
 * once tau is nothing. */
static void the_bound_on_gaussian_shares_holds_and_is_tight(void **state) {
    (void)state;
    static double law[WIDE];
    const double scales[] = { 0.5, 0.6, 0.8, 1, 2, 5 }, orders[] = { 1.1, 2, 5 };
    for (size_t i = 0; i < 6; i++) {
        for (uint64_t m = 1; m <= 4; m += 3) {
            sum_law(law, TACIT_LAW_DISCRETE_GAUSSIAN, scales[i], 1, m);
            for (size_t a = 0; a < 3; a++) {
                tacit_shared_noise noise = gaussian;
                double bound = 0;
                noise.length = 1;
                noise.shares = m;
                noise.sensitivity = 1;
                assert_int_equal(tacit_share_renyi(&bound, &noise, scales[i], orders[a], NULL), TACIT_OK);
                double exact = renyi(law, 1, orders[a]);
                if (!(exact <= bound * (1 + 1e-9)))
                    fail_msg("scale %g: %g is above %g", scales[i], exact, bound);
                if (scales[i] >= 2) CHECK_NEAR(exact, bound, 1e-4 * bound);
            }
        }
    }
}

static void gaussian_shares_keep_within_the_price(void **state) {
    (void)state;
    const uint64_t shares[] = { 1, 10, 5000, UINT64_C(1) << 32 };
    const double epsilons[] = { 0.1, 1, 10 };
    for (size_t i = 0; i < 4; i++)
        for (size_t e = 0; e < 3; e++)
            for (uint64_t runs = 1; runs <= 100; runs += 99) {
                tacit_shared_noise noise = gaussian;
                double scale = 0, rho = 0, allowed = 0;
                noise.shares = shares[i];
                noise.price.epsilon = epsilons[e];
                noise.runs = runs;
                noise.sensitivity = 1000;
                noise.length = 100000;
                assert_int_equal(tacit_share_scale(&scale, &noise, NULL), TACIT_OK);
                assert_int_equal(tacit_share_rho(&rho, &noise, scale, NULL), TACIT_OK);
                assert_int_equal(tacit_zcdp_for(&allowed, epsilons[e], 1e-5, NULL), TACIT_OK);
                assert_true(rho * (double)runs <= allowed);
                double plain = 1000 / sqrt(2 * allowed / (double)runs * (double)shares[i]);
                if (plain > 3) CHECK_NEAR(scale, plain, 1e-6 * plain);
                assert_true(scale >= plain);
            }
}

static void divergences_say_what_a_sum_costs(void **state) {
    (void)state;
    double divergence = 0, rho = 0;
    assert_int_equal(tacit_share_renyi(&divergence, &polya, 2.5, 1000, NULL), TACIT_OK);
    CHECK_NEAR(divergence, 0.8, 1e-9);
    assert_int_equal(tacit_share_renyi(&divergence, &polya, 2.5, 1.5, NULL), TACIT_OK);
    CHECK_NEAR(divergence, 0.48, 1e-9);
    assert_int_equal(tacit_share_rho(&rho, &polya, 2.5, NULL), TACIT_USAGE);
    assert_int_equal(tacit_share_rho(&rho, &gaussian, 0.4, NULL), TACIT_USAGE);
    assert_int_equal(tacit_share_renyi(&rho, &gaussian, 1, 0.5, NULL), TACIT_USAGE);
}

/* Nothing is clipped: values at the end of the range wrap, as the sum will. */
static void values_wrap_and_silence_is_for_simulations(void **state) {
    (void)state;
    enum { COUNT = 64 };
    sources from;
    int64_t values[COUNT];
    tacit_shared_noise noise = polya;
    tacit_noised *noised = NULL;
    sources_begin(&from, 4);
    noise.length = COUNT;
    noise.price.epsilon = 1e-3;
    for (int i = 0; i < COUNT; i++) values[i] = INT64_MAX;
    assert_int_equal(tacit_share_add(&noised, &from.each[1], &noise, values, 0, NULL), TACIT_OK);
    bool wrapped = false;
    for (int i = 0; i < COUNT; i++) {
        int64_t share = (int64_t)((uint64_t)tacit_noised_steps(noised)[i] - (uint64_t)INT64_MAX);
        assert_true(llabs(share) < 1000000);
        wrapped |= tacit_noised_steps(noised)[i] < 0;
    }
    assert_true(wrapped); /* 64 shares of scale 2000, above 0 nearly half the time */
    tacit_noised_free(noised);
    noise.price.epsilon = INFINITY;
    assert_int_equal(tacit_share_add(&noised, &from.each[0], &noise, values, 0, NULL), TACIT_OK);
    assert_int_equal(tacit_noised_grade(noised), TACIT_NOISE_NONE);
    assert_memory_equal(tacit_noised_steps(noised), values, sizeof values);
    tacit_noised_free(noised);
    noised = NULL;
    assert_int_equal(tacit_share_add(&noised, &from.each[1], &noise, values, 0, NULL), TACIT_USAGE);
    assert_null(noised);
    sources_end(&from);
}

static void impossible_shares_are_refused(void **state) {
    (void)state;
    double scale = 7;
    tacit_shared_noise bad[9];
    for (int i = 0; i < 9; i++) bad[i] = i < 5 ? polya : gaussian;
    bad[0].law = TACIT_LAW_LAPLACE;
    bad[1].sensitivity = 1.5;
    bad[2].shares = 0;
    bad[3].length = 0;
    bad[4].sensitivity = 1e30;
    bad[5].price.delta = 0;
    bad[6].runs = 0;
    bad[7].sensitivity = -1;
    bad[8].sensitivity = 1e30;
    for (int i = 0; i < 9; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        assert_int_equal(tacit_share_scale(&scale, &bad[i], &error), TACIT_USAGE);
        assert_true(error.text[0] != 0 && scale == 7);
    }
}

static void adding_survives_each_failed_allocation(void **state) {
    (void)state;
    sources from;
    const int64_t values[5] = { 1, 2, 3, 4, 5 };
    sources_begin(&from, 5);
    for (int k = 0; k < 4; k++) {
        tacit_shared_noise noise = k < 2 ? polya : gaussian;
        noise.length = 5;
        bool failed = true;
        for (long at = 1; failed; at++) {
            tacit_noised *noised = NULL;
            fail_allocation(at);
            tacit_status status = tacit_share_add(&noised, &from.each[k % 2], &noise, values, 0, NULL);
            failed = allocation_failed();
            assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
            assert_true(failed == (noised == NULL));
            tacit_noised_free(noised);
        }
    }
    sources_end(&from);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_shares_have_their_law),
        cmocka_unit_test(polya_shares_are_worth_epsilon),
        cmocka_unit_test(the_bound_on_gaussian_shares_holds_and_is_tight),
        cmocka_unit_test(gaussian_shares_keep_within_the_price),
        cmocka_unit_test(divergences_say_what_a_sum_costs),
        cmocka_unit_test(values_wrap_and_silence_is_for_simulations),
        cmocka_unit_test(impossible_shares_are_refused),
        cmocka_unit_test(adding_survives_each_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
