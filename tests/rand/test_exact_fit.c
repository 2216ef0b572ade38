/* The exact samplers follow their laws, at a false-alarm rate of 1e-9 each (fit.h), and a scale that is 10%
 * off is noticed. */
#include "check.h"

#include "fit.h"
#include "source.h"

enum { GRID = 40, BLOCK = 500 };

/* `count` draws of a law of single coordinates, in units of the scale. */
static double *draw(tacit_law noise, size_t count, double scale, uint64_t seed) {
    static const double zero[BLOCK];
    double *values = fit_values(count);
    tacit_exact_vector *vector = new_vector();
    tacit_error error = TACIT_ERROR_INIT;
    source from;
    source_begin(&from, seed, NULL, 0);
    for (size_t done = 0; done < count; done += BLOCK) {
        tacit_exact_request request = real_request(noise, zero, BLOCK, scale, GRID);
        CHECK_OK(tacit_exact_fill(vector, &request, &from.bits, &error), error);
        for (size_t i = 0; i < BLOCK; i++)
            values[done + i] = ldexp((double)tacit_exact_vector_steps(vector)[i], -GRID) / scale;
    }
    tacit_exact_vector_free(vector);
    return values;
}

static void check_coordinates(tacit_law noise, size_t count, double (*law)(double)) {
    double *values = draw(noise, count, 0.3, (uint64_t)noise);
    check_fit(values, count, law);
    free(values);
}

static void uniform_noise_follows_its_law(void **state) {
    (void)state;
    check_coordinates(TACIT_LAW_UNIFORM, 40000, symmetric_uniform_law);
}

static void exponential_noise_follows_its_law(void **state) {
    (void)state;
    check_coordinates(TACIT_LAW_EXPONENTIAL, 60000, exponential_law);
}

static void laplace_noise_follows_its_law(void **state) {
    (void)state;
    check_coordinates(TACIT_LAW_LAPLACE, 160000, laplace_law);
}

static void gaussian_noise_follows_its_law(void **state) {
    (void)state;
    check_coordinates(TACIT_LAW_GAUSSIAN, 100000, normal_law);
}

/* The real thing, from the operating system's bits: fails once in 10^9 runs. */
static void noise_from_the_system_follows_its_law(void **state) {
    (void)state;
    enum { COUNT = 160000 };
    double *values = calloc(COUNT, sizeof *values);
    assert_non_null(values);
    tacit_exact_vector *vector = new_vector();
    tacit_entropy *entropy = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_entropy_create(&entropy, &error), error);
    CHECK_OK(tacit_exact_add(vector, entropy, TACIT_LAW_LAPLACE, values, COUNT, 2, GRID, &error), error);
    assert_int_equal(tacit_exact_vector_count(vector), COUNT);
    for (size_t i = 0; i < COUNT; i++)
        values[i] = ldexp((double)tacit_exact_vector_steps(vector)[i], -GRID) / 2;
    check_fit(values, COUNT, laplace_law);
    free(values);
    tacit_entropy_free(entropy);
    tacit_exact_vector_free(vector);
}

static size_t radius_shape;

/* P(Gamma(d) <= x) = 1 - exp(-x) sum over j < d of x^j / j!. */
static double radius_law(double x) { return x > 0 ? 1 - chi_square_tail(2 * x, radius_shape) : 0; }

/* The angle of a pair of coordinates, folded into one quadrant: uniform, whatever the radius. `angle` in
 * units of a right angle, mapped to (-1, 1). */
static double folded(double x, double y) { return atan2(fabs(y), fabs(x)) / atan2(1, 0) * 2 - 1; }

/* For a vector of spherical law the angles of disjoint pairs of coordinates are independent and uniform. A
 * coordinate stretched by 10% must show. */
static void check_directions(const double *noise, size_t vectors, size_t d) {
    size_t half = d / 2, count = vectors * half, at = 0;
    double *angle = fit_values(count), *whole = fit_values(count), *stretched = fit_values(count);
    for (size_t v = 0; v < vectors; v++) {
        const double *b = noise + v * d;
        for (size_t j = 0; j < half; j++, at++) {
            angle[at] = folded(b[j], b[j + half]);
            whole[at] = atan2(b[j], b[j + half]) / (2 * atan2(1, 0));
            stretched[at] = folded(b[j], 1.1 * b[j + half]);
        }
    }
    assert_true(kolmogorov(angle, count, 1, symmetric_uniform_law) < FIT_LIMIT);
    assert_true(kolmogorov(whole, count, 1, symmetric_uniform_law) < FIT_LIMIT);
    assert_true(kolmogorov(stretched, count, 1, symmetric_uniform_law) > FIT_LIMIT);
    free(angle);
    free(whole);
    free(stretched);
}

/* In one dimension there are two directions: Hoeffding, P(|heads - n/2| > 3.3 sqrt(n)) < 1e-9. */
static void check_signs(const double *noise, size_t count) {
    double balance = 0;
    for (size_t i = 0; i < count; i++) balance += noise[i] > 0 ? 0.5 : -0.5;
    assert_true(fabs(balance) < FIT_LIMIT * sqrt((double)count));
}

static void check_gamma_norm(size_t d, size_t vectors) {
    const double scale = 1.7;
    double *zero = calloc(d, sizeof *zero), *noise = fit_values(vectors * d), *radius = fit_values(vectors);
    tacit_exact_vector *vector = new_vector();
    tacit_error error = TACIT_ERROR_INIT;
    source from;
    source_begin(&from, d, NULL, 0);
    for (size_t v = 0; v < vectors; v++) {
        tacit_exact_request request = real_request(TACIT_LAW_GAMMA_NORM, zero, d, scale, GRID);
        CHECK_OK(tacit_exact_fill(vector, &request, &from.bits, &error), error);
        double square = 0;
        for (size_t j = 0; j < d; j++) {
            double b = noise[v * d + j] = ldexp((double)tacit_exact_vector_steps(vector)[j], -GRID);
            square += b * b;
        }
        radius[v] = sqrt(square) / scale;
    }
    radius_shape = d;
    check_fit(radius, vectors, radius_law);
    if (d == 1)
        check_signs(noise, vectors);
    else
        check_directions(noise, vectors, d);
    free(zero);
    free(noise);
    free(radius);
    tacit_exact_vector_free(vector);
}

static void gamma_norm_vectors_have_the_right_radius_and_direction(void **state) {
    (void)state;
    check_gamma_norm(1, 60000);
    check_gamma_norm(2, 60000);
    check_gamma_norm(10, 12000);
    check_gamma_norm(300, 800);
}

/* Integer laws: weight of k for scale s. */
static double geometric_weight(int64_t k, double s) { return k < 0 ? 0 : exp(-(double)k / s); }
static double discrete_laplace_weight(int64_t k, double s) { return exp(-fabs((double)k) / s); }
static double discrete_gaussian_weight(int64_t k, double s) { return exp(-(double)(k * k) / (2 * s * s)); }

/* Pearson's statistic less its limit: one cell for each k that is expected at least 50 times, one for the
 * rest (left out, which can only lower the sum, when expected less than 10 times), so as many degrees of
 * freedom as cells without the rest, rounded up to an even number. */
static double pearson_excess(const int64_t *drawn, size_t count, double scale,
                             double (*weight)(int64_t, double)) {
    enum { FAR = 2000 };
    static double seen[2 * FAR + 1];
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < count; i++)
        if (llabs(drawn[i]) <= FAR) seen[drawn[i] + FAR]++;
    double total = 0, sum = 0, n = (double)count, rest = n, rest_seen = n;
    size_t cells = 0;
    for (int64_t k = -FAR; k <= FAR; k++) total += weight(k, scale);
    for (int64_t k = -FAR; k <= FAR; k++) {
        double expected = n * weight(k, scale) / total, off = seen[k + FAR] - expected;
        if (expected < 50) continue;
        sum += off * off / expected;
        rest -= expected;
        rest_seen -= seen[k + FAR];
        cells++;
    }
    if (rest >= 10) sum += (rest_seen - rest) * (rest_seen - rest) / rest;
    return sum - chi_square_limit(cells + cells % 2);
}

/* Shares of discrete Laplace noise: the difference of two negative binomials of shape 1/parts, by
 * convolution, kept for one scale at a time. */
static uint64_t polya_parts;

static double polya_weight(int64_t k, double s) {
    enum { FAR = 2000 };
    static double binomial[2 * FAR + 1], kept[FAR + 1], kept_scale;
    static uint64_t kept_parts;
    if (kept_scale != s || kept_parts != polya_parts) {
        const double r = 1 / (double)polya_parts;
        for (int i = 0; i <= 2 * FAR; i++)
            binomial[i] = exp(lgamma(i + r) - lgamma(r) - lgamma(i + 1.0) - i / s + r * log(-expm1(-1 / s)));
        for (int d = 0; d <= FAR; d++) {
            kept[d] = 0;
            for (int i = 0; i <= FAR; i++) kept[d] += binomial[i] * binomial[i + d];
        }
        kept_scale = s;
        kept_parts = polya_parts;
    }
    return kept[llabs(k)];
}

static void check_integers(tacit_law noise, double scale, double (*weight)(int64_t, double)) {
    enum { COUNT = 60000 };
    int64_t *value = calloc(COUNT, sizeof *value);
    assert_non_null(value);
    tacit_exact_vector *vector = new_vector();
    tacit_error error = TACIT_ERROR_INIT;
    source from;
    source_begin(&from, 100 + (uint64_t)noise, NULL, 0);
    tacit_exact_request request = whole_request(noise, value, COUNT, scale);
    request.parts = polya_parts;
    CHECK_OK(tacit_exact_fill(vector, &request, &from.bits, &error), error);
    const int64_t *drawn = tacit_exact_vector_steps(vector);
    double right = pearson_excess(drawn, COUNT, scale, weight);
    double wrong = pearson_excess(drawn, COUNT, 1.1 * scale, weight);
    if (!(right < 0)) fail_msg("noise %d of scale %g does not fit: %g", (int)noise, scale, right);
    if (!(wrong > 0)) fail_msg("a scale 10%% off went unnoticed: %g", wrong);
    free(value);
    tacit_exact_vector_free(vector);
}

static void integer_noise_has_exact_probabilities(void **state) {
    (void)state;
    const double scales[] = { 0.7, 1, 2.5, 11 };
    for (size_t i = 0; i < 4; i++) {
        check_integers(TACIT_LAW_GEOMETRIC, scales[i], geometric_weight);
        check_integers(TACIT_LAW_DISCRETE_LAPLACE, scales[i], discrete_laplace_weight);
        check_integers(TACIT_LAW_DISCRETE_GAUSSIAN, scales[i], discrete_gaussian_weight);
    }
}

static void shares_of_noise_have_exact_probabilities(void **state) {
    (void)state;
    const double scales[] = { 1, 8 };
    for (size_t i = 0; i < 2; i++) {
        polya_parts = 1;
        check_integers(TACIT_LAW_POLYA, scales[i], discrete_laplace_weight);
        polya_parts = 3;
        check_integers(TACIT_LAW_POLYA, scales[i], polya_weight);
    }
}

/* As many shares as there are parts add up to discrete Laplace noise. */
static void shares_of_noise_add_up(void **state) {
    (void)state;
    enum { COUNT = 60000, PARTS = 3 };
    const double scale = 7;
    int64_t *sums = calloc(COUNT, sizeof *sums);
    assert_non_null(sums);
    tacit_exact_vector *vector = new_vector();
    tacit_error error = TACIT_ERROR_INIT;
    source from;
    source_begin(&from, 55, NULL, 0);
    for (int part = 0; part < PARTS; part++) {
        tacit_exact_request request = whole_request(TACIT_LAW_POLYA, sums, COUNT, scale);
        request.parts = PARTS;
        CHECK_OK(tacit_exact_fill(vector, &request, &from.bits, &error), error);
        memcpy(sums, tacit_exact_vector_steps(vector), COUNT * sizeof *sums);
    }
    assert_true(pearson_excess(sums, COUNT, scale, discrete_laplace_weight) < 0);
    assert_true(pearson_excess(sums, COUNT, 1.1 * scale, discrete_laplace_weight) > 0);
    free(sums);
    tacit_exact_vector_free(vector);
}

/* Coins: Hoeffding's inequality at 1e-9, and a probability 10% off is noticed. */
static void check_coin(double heads, size_t count, double p) {
    double n = (double)count;
    assert_true(fabs(heads - n * p) < FIT_LIMIT * sqrt(n));
    assert_true(fabs(heads - n * p * 1.1) > FIT_LIMIT * sqrt(n));
}

static void coins_fall_with_the_stated_probability(void **state) {
    (void)state;
    enum { COUNT = 100000 };
    tacit_entropy *entropy = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_entropy_create(&entropy, &error), error);
    const double exponent[][2] = { { 1, 4 }, { 1, 1 }, { 1, 3 }, { 1.5, 1 } };
    for (size_t k = 0; k < 4; k++) {
        double heads = 0, a = exponent[k][0], b = exponent[k][1];
        for (size_t i = 0; i < COUNT; i++) {
            bool head = false;
            CHECK_OK(tacit_exact_bernoulli_exp(&head, entropy, a, b, &error), error);
            heads += head;
        }
        check_coin(heads, COUNT, exp(-a / b));
    }
    double heads = 0;
    for (size_t i = 0; i < COUNT; i++) {
        bool head = false;
        CHECK_OK(tacit_exact_bernoulli(&head, entropy, 3, 7, &error), error);
        heads += head;
    }
    check_coin(heads, COUNT, 3.0 / 7);
    bool sure = false, never = true;
    for (size_t i = 0; i < 100; i++) {
        CHECK_OK(tacit_exact_bernoulli_exp(&sure, entropy, 0, 1, &error), error);
        CHECK_OK(tacit_exact_bernoulli_exp(&never, entropy, 1e300, 1e-300, &error), error);
        assert_true(sure && !never);
        CHECK_OK(tacit_exact_bernoulli(&sure, entropy, UINT64_MAX, UINT64_MAX, &error), error);
        CHECK_OK(tacit_exact_bernoulli(&never, entropy, 0, 1, &error), error);
        assert_true(sure && !never);
    }
    tacit_entropy_free(entropy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniform_noise_follows_its_law),
        cmocka_unit_test(exponential_noise_follows_its_law),
        cmocka_unit_test(laplace_noise_follows_its_law),
        cmocka_unit_test(gaussian_noise_follows_its_law),
        cmocka_unit_test(noise_from_the_system_follows_its_law),
        cmocka_unit_test(gamma_norm_vectors_have_the_right_radius_and_direction),
        cmocka_unit_test(integer_noise_has_exact_probabilities),
        cmocka_unit_test(shares_of_noise_have_exact_probabilities),
        cmocka_unit_test(shares_of_noise_add_up),
        cmocka_unit_test(coins_fall_with_the_stated_probability),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
