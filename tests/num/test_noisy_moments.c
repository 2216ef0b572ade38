/* Moments with noise in them, packed, lifted and solved; and the link of clipped residuals. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "num/noisy/clipped_classes.h"
#include "num/noisy/clipped_count.h"
#include "num/noisy/clipped_link.h"
#include "num/noisy/followed_noise.h"
#include "num/noisy/noisy_moments.h"
#include "rand/stream.h"

enum { D = 3 };

static const double indefinite[D * D] = { 2, 1, 0, 1, 1, 0.5, 0, 0.5, -3 };

static void packing_keeps_the_norm_and_comes_back(void **state) {
    (void)state;
    double packed[6], back[D * D], norm = 0, frobenius = 0;
    assert_int_equal(tacit_moments_length(D), 6);
    tacit_moments_pack(packed, indefinite, D);
    tacit_moments_unpack(back, packed, D);
    for (size_t i = 0; i < 6; i++) norm += packed[i] * packed[i];
    for (size_t i = 0; i < D * D; i++) {
        frobenius += indefinite[i] * indefinite[i];
        CHECK_NEAR(back[i], indefinite[i], 1e-15);
    }
    CHECK_NEAR(norm, frobenius, 1e-13);
}

/* Of a diagonal matrix the eigenvalues are there to see; of any, lifting keeps what is positive and nothing
 * below the lift. */
static void lifting_replaces_what_is_impossible(void **state) {
    (void)state;
    static const double diagonal[D * D] = { 5, 0, 0, 0, -2, 0, 0, 0, 1 };
    double first[D * D], second[D * D], *both[] = { first, second }, least[] = { 0, 0 }, lift[] = { 0.5, 0 };
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_moments_lift(both, least, lift, 2, diagonal, D, &error), error);
    const double wanted[] = { 5.5, 0.5, 1.5 }, plain[] = { 5, 0, 1 };
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) {
            CHECK_NEAR(first[i * D + j], i == j ? wanted[i] : 0, 1e-12);
            CHECK_NEAR(second[i * D + j], i == j ? plain[i] : 0, 1e-12);
        }
    CHECK_OK(tacit_moments_lift(both, least, lift, 1, indefinite, D, &error), error);
    for (int i = 0; i < 100; i++) {
        double x[] = { cos(i), sin(i) * cos(3 * i), sin(i) * sin(3 * i) };
        assert_true(tacit_moments_product(first, x, x, D) >=
                    fmax(0, tacit_moments_product(indefinite, x, x, D)) + 0.5 - 1e-12);
    }
}

static void solving_solves(void **state) {
    (void)state;
    static const double matrix[D * D] = { 2, 1, 0, 1, 1, 0.5, 0, 0.5, 3 };
    double b[] = { 1, -2, 3 }, room[D * D];
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_moments_solve(b, matrix, 0.25, 0.1, room, D, &error), error);
    for (size_t i = 0; i < D; i++) {
        double sum = 0.1 * b[i];
        for (size_t j = 0; j < D; j++) sum += 0.25 * matrix[i * D + j] * b[j];
        CHECK_NEAR(sum, ((double[]){ 1, -2, 3 })[i], 1e-12);
    }
    assert_int_equal(tacit_moments_solve(b, indefinite, 1, 0.1, room, D, &error), TACIT_NOT_CONVERGED);
}

/* At the link's probability the clipped residual has mean 0. */
static void the_link_is_that_of_clipped_residuals(void **state) {
    (void)state;
    for (double z = -30; z <= 30; z += 0.37) {
        double p = 1 / (1 + exp(-z)), chance = tacit_clipped_link(z);
        double right = fmin(1 - p, 0.5), wrong = fmin(p, 0.5); /* pulls of y = 1 and of y = 0 */
        CHECK_NEAR(chance * right - (1 - chance) * wrong, 0, 1e-12);
        CHECK_NEAR(chance + tacit_clipped_link(-z), 1, 1e-12);
    }
    CHECK_NEAR(tacit_clipped_link(0), 0.5, 0);
}

static void its_slope_is_that_of_the_mean_residual(void **state) {
    (void)state;
    CHECK_NEAR(tacit_clipped_slope(0, 1e-8), 0.125, 1e-4); /* half of the rows are clipped at 0 */
    CHECK_NEAR(tacit_clipped_slope(-8, 1e-8), exp(-8), 1e-5);
    for (double mean = -4; mean <= 4; mean++)
        for (double variance = 0.01; variance < 100; variance *= 3)
            assert_true(tacit_clipped_slope(mean, variance) > 0 &&
                        tacit_clipped_slope(mean, variance) <= 0.25);
}

/* Scores of which no pull was seen. */
static tacit_clipped_pulls unseen(double mean, double variance) {
    return (tacit_clipped_pulls){ .mean = mean, .variance = variance };
}

/* Between the slopes of the link at 0 and far out; what is nearly separable is stretched, all but where a class
 * is rare. */
static void log_odds_keep_the_mean_probability(void **state) {
    (void)state;
    double offset, slope, stretched;
    tacit_clipped_pulls none = unseen(0, 0.01);
    tacit_clipped_log_odds(&offset, &slope, 0, 0.01, 0.01, &none);
    CHECK_NEAR(offset, 0, 1e-6);
    CHECK_NEAR(slope, 0.5, 0.02);
    none = unseen(-6, 0.1);
    tacit_clipped_log_odds(&offset, &slope, -6, 0.1, 0.1, &none);
    CHECK_NEAR(slope, 1, 0.02);
    CHECK_NEAR(offset, log(2), 0.05);
    none = unseen(0, 20);
    none.held = 0.25;
    tacit_clipped_log_odds(&offset, &stretched, 0, 20, 20, &none);
    assert_true(stretched > 1.6 && stretched < 1.75);
    CHECK_NEAR(offset, 0, 1e-6);
    none.noisy = 1;
    tacit_clipped_log_odds(&offset, &slope, 0, 20, 20, &none);
    assert_true(slope < stretched - 0.2 && slope > 0.9);
    none = unseen(-4, 2);
    tacit_clipped_log_odds(&offset, &slope, -4, 2, 20, &none);
    assert_true(slope < 1);
}

/* Without a pull and with much to go by the equation is solved: classes are not apart, however far scores may
 * reach. A pull against the weights says that scores are noise, a pull of all that the offset is wrong. */
static void log_odds_follow_the_pulls_that_are_seen(void **state) {
    (void)state;
    const double sure = 1e-6;
    double offset, slope, less, above;
    tacit_clipped_pulls seen = { .mean = 0, .variance = 1, .rows = 1e5, .noise = { sure, 0, sure } };
    tacit_clipped_log_odds(&offset, &slope, 0, 1, 20, &seen);
    assert_true(slope > 0.55 && slope < 0.75);
    CHECK_NEAR(offset, 0, 1e-6);
    seen.pull[1] = 0.08;
    tacit_clipped_log_odds(&offset, &less, 0, 1, 20, &seen);
    assert_true(less < slope / 2);
    seen.pull[1] = 0;
    seen.pull[0] = -0.02;
    tacit_clipped_log_odds(&above, &less, 0, 1, 20, &seen);
    assert_true(above > offset + 0.05);
    seen.pull[0] = 0;
    seen.pull[1] = -0.1;
    tacit_clipped_log_odds(&offset, &less, 0, 1, 20, &seen);
    assert_true(less > 1.3);
}

/* The noise of a weighted mean of iterates, by what each step's own noise does to it: steps are linear, so that one
 * unit of it can be sent through all that follow. */
static void followed_noise_is_that_of_the_steps(void **state) {
    (void)state;
    enum { STEPS = 5 };
    static const tacit_noisy_step steps[STEPS] = { { 0.25, 1.5, 2, 3, 1, 1, 0 },
                                                   { 0.2, 1.5, 2, 2.5, 0.7, 1, 0 },
                                                   { 0.15, 1.5, 2, 2, 1, 0.9, 0.2 },
                                                   { 0.1, 1.5, 2, 1.5, 1, 1, 0.3 },
                                                   { 0.12, 1.5, 2, 1, 1, 1, 0.5 } };
    static const double curvature[2] = { 90, 12 }, steep[2] = { 80, 3 };
    double wanted = 0;
    tacit_followed_noise noise;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_followed_noise_create(&noise, 2, &error), error);
    memcpy(noise.curvature, curvature, sizeof curvature);
    memcpy(noise.steep, steep, sizeof steep);
    for (int t = 0; t < STEPS; t++) tacit_followed_noise_step(&noise, &steps[t]);
    for (int along = 0; along < 2; along++)
        for (int from = 0; from < STEPS; from++) {
            double w = 0, sum = 0;
            for (int t = from; t < STEPS; t++) {
                const tacit_noisy_step *s = &steps[t];
                double gradient = s->factor / s->damped * steep[along] * w + (t == from ? s->size : 0);
                w -= s->taken * (gradient + s->ridge * w) / (s->factor * curvature[along] + s->ridge);
                w *= s->kept;
                sum += s->counts * w;
            }
            wanted += 0.5 * steep[along] * sum * sum;
        }
    CHECK_NEAR(tacit_followed_noise_variance(&noise, 0.5), wanted, 1e-12 * wanted);
    assert_true(wanted > 0);
    tacit_followed_noise_clear(&noise);
}

/* A matrix of three large eigenvalues among fifty of nothing, under noise: along its own eigenvectors the noisy
 * matrix has far more than there is, the cleaned one about as much. */
static void cleaned_moments_have_what_there_is_along_their_axes(void **state) {
    (void)state;
    enum { SIZE = 50 };
    const double noise = 1;
    double matrix[SIZE * SIZE] = { 0 }, truth[SIZE * SIZE] = { 0 }, cleaned[SIZE * SIZE], trace[2] = { 0, 0 },
                         values[2 * SIZE];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(5);
    for (size_t i = 0; i < 3; i++) truth[i * SIZE + i] = 40 + 20 * (double)i;
    for (size_t i = 0; i < SIZE; i++)
        for (size_t j = i; j < SIZE; j++) {
            double drawn = -6;
            for (int k = 0; k < 12; k++) drawn += (double)(tacit_stream_u64(&stream) >> 11) * 0x1p-53;
            drawn *= noise * (i == j ? 1 : M_SQRT1_2);
            matrix[i * SIZE + j] = matrix[j * SIZE + i] = truth[i * SIZE + j] + drawn;
        }
    CHECK_OK(tacit_moments_clean(cleaned, values, noise, matrix, SIZE, &error), error);
    double clean_error = 0, lifted_error = 0, lifted[SIZE * SIZE], *out[] = { lifted };
    CHECK_OK(tacit_moments_lift(out, (const double[]){ 0 }, (const double[]){ 0 }, 1, matrix, SIZE, &error),
             error);
    for (size_t i = 0; i < SIZE * SIZE; i++) {
        clean_error += pow(cleaned[i] - truth[i], 2);
        lifted_error += pow(lifted[i] - truth[i], 2);
    }
    assert_true(clean_error < lifted_error / 3);
    for (size_t i = 0; i < SIZE; i++) {
        trace[0] += cleaned[i * SIZE + i];
        trace[1] += lifted[i * SIZE + i];
    }
    assert_true(fabs(trace[0] - 180) < 40 && trace[1] > 180 + 80);
    CHECK_OK(tacit_moments_clean(cleaned, values, 0, matrix, SIZE, &error), error);
    for (size_t i = 0; i < SIZE * SIZE; i++) CHECK_NEAR(cleaned[i], lifted[i], 1e-9);
}

/* With the link's chances the clipped residual has mean 0 in every class; of two classes it is the one
 * above. */
static void the_link_of_classes_is_that_of_clipped_residuals(void **state) {
    (void)state;
    enum { K = 4 };
    for (int i = 0; i < 200; i++) {
        double score[K], p[K], chance[K], sum = 0, square = 0, mean[K] = { 0 };
        for (size_t k = 0; k < K; k++) sum += p[k] = exp(score[k] = 6 * sin(i * 1.7 + (double)k * (i + 2)));
        for (size_t k = 0; k < K; k++) chance[k] = p[k] /= sum;
        for (size_t k = 0; k < K; k++) square += p[k] * p[k];
        tacit_clipped_classes(chance, K, M_SQRT1_2);
        for (size_t y = 0; y < K; y++) {
            double pull = chance[y] * fmin(1, M_SQRT1_2 / sqrt(square - 2 * p[y] + 1));
            for (size_t k = 0; k < K; k++) mean[k] += pull * (p[k] - (k == y));
        }
        for (size_t k = 0; k < K; k++) CHECK_NEAR(mean[k], 0, 1e-12);
        double two[2] = { 1 / (1 + exp(score[0])), 1 / (1 + exp(-score[0])) };
        tacit_clipped_classes(two, 2, M_SQRT1_2);
        CHECK_NEAR(two[1], tacit_clipped_link(score[0]), 1e-12);
    }
}

/* Two scores, t and -t with t ~ N(m, v)/2, are one score: the same line, and at 0 the same curvature as 1/2
 * times the identity off the ones. */
static void a_line_of_two_classes_is_that_of_one_score(void **state) {
    (void)state;
    const double m = 0.6, v = 1.5, mean[2] = { -m / 2, m / 2 };
    const double covariance[4] = { v / 4, -v / 4, -v / 4, v / 4 }, none[4] = { 0 }, zero[2] = { 0 };
    double slope, offset[2], wanted_slope, wanted_offset, matrix[4];
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_clipped_classes_line(&slope, offset, mean, covariance, 2, M_SQRT1_2, &error), error);
    tacit_clipped_pulls nothing = unseen(m, v);
    tacit_clipped_log_odds(&wanted_offset, &wanted_slope, m, v, v, &nothing);
    CHECK_NEAR(slope, wanted_slope, 0.03);
    CHECK_NEAR(offset[1] - offset[0], wanted_offset, 0.05);
    CHECK_NEAR(offset[1] + offset[0], 0, 1e-9);
    CHECK_OK(tacit_clipped_classes_slope(matrix, zero, none, 2, 1, &error), error);
    for (size_t i = 0; i < 4; i++) CHECK_NEAR(matrix[i], i % 3 == 0 ? 0.25 : -0.25, 1e-12);
}

static void a_clipped_rate_stands_for_a_mean_above_it(void **state) {
    (void)state;
    for (double rate = 0.05; rate < 300; rate *= 1.7)
        for (double clip = 1; clip < 20; clip *= 2) {
            double mean = tacit_clipped_count_mean(rate, clip), sum = 0, chance = exp(-mean);
            for (double y = 0; y < 600; chance *= mean / ++y)
                sum += chance * fmin(fmax(rate - y, -clip), clip);
            CHECK_NEAR(sum, 0, 1e-6);
            assert_true(mean > rate * (1 - 1e-6));
        }
    double offset, slope;
    tacit_clipped_count_line(&offset, &slope, 1, 0.3, 50); /* nothing is clipped */
    CHECK_NEAR(offset, 0, 1e-9);
    CHECK_NEAR(slope, 1, 1e-9);
    CHECK_NEAR(tacit_clipped_count_slope(1, 0.3, 50), 1, 1e-9);
    tacit_clipped_count_line(&offset, &slope, log(4), 1e-9, 2);
    CHECK_NEAR(offset + slope * log(4), log(tacit_clipped_count_mean(4, 2)), 1e-4);
    assert_true(tacit_clipped_count_slope(log(4), 1e-9, 2) < 0.9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packing_keeps_the_norm_and_comes_back),
        cmocka_unit_test(lifting_replaces_what_is_impossible),
        cmocka_unit_test(solving_solves),
        cmocka_unit_test(the_link_is_that_of_clipped_residuals),
        cmocka_unit_test(its_slope_is_that_of_the_mean_residual),
        cmocka_unit_test(log_odds_keep_the_mean_probability),
        cmocka_unit_test(log_odds_follow_the_pulls_that_are_seen),
        cmocka_unit_test(followed_noise_is_that_of_the_steps),
        cmocka_unit_test(cleaned_moments_have_what_there_is_along_their_axes),
        cmocka_unit_test(the_link_of_classes_is_that_of_clipped_residuals),
        cmocka_unit_test(a_line_of_two_classes_is_that_of_one_score),
        cmocka_unit_test(a_clipped_rate_stands_for_a_mean_above_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
