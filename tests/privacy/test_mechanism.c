/* Mechanisms: the law of what is released, the grade it carries, and what is refused. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "privacy/account/gaussian.h"
#include "privacy/mechanism/mechanism.h"

/* Enough for a scale 10% off to lie twice 3.3 away, so that missing it has a chance of 1e-9 too: the laws
 * then differ by .051 (radius), .035 (Laplace) and .046 (Gaussian), times the root of the draws. */
enum { RADII = 20000, DRAWS = 90000, GRID = 40 };

static const tacit_mechanism gamma_norm = { TACIT_LAW_GAMMA_NORM, 0.5, { TACIT_UNIT_RECORD, 2, 0 } };
static const tacit_mechanism laplace = { TACIT_LAW_LAPLACE, 0.5, { TACIT_UNIT_RECORD, 2, 0 } };
static const tacit_mechanism gaussian = { TACIT_LAW_GAUSSIAN, 0.5, { TACIT_UNIT_RECORD, 2, 1e-6 } };

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov's statistic; beyond 3.3 with probability below 2 exp(-2 * 3.3^2) < 1e-9 (Massart 1990). */
static double distance(double *values, size_t count, double scale, double (*law)(double)) {
    double most = 0, n = (double)count;
    qsort(values, count, sizeof *values, ascending);
    for (size_t i = 0; i < count; i++) {
        double p = law(values[i] / scale);
        most = fmax(most, fmax(fabs(p - (double)i / n), fabs(p - (double)(i + 1) / n)));
    }
    return sqrt(n) * most;
}

static double gamma2_law(double x) { return 1 - exp(-x) * (1 + x); }
static double exponential_law(double x) { return -expm1(-x); }
static double half_normal_law(double x) { return erf(x / sqrt(2)); }

/* The norm of two coordinates in each of RADII releases. */
static void collect_radii(const tacit_noise_source *source, const tacit_mechanism *mechanism, double *sizes) {
    tacit_error error = TACIT_ERROR_INIT;
    const double values[2] = { 3, -1 };
    for (size_t i = 0; i < RADII; i++) {
        tacit_noised *noised = NULL;
        CHECK_OK(tacit_mechanism_release(&noised, source, mechanism, values, 2, GRID, 1000, &error), error);
        const int64_t *steps = tacit_noised_steps(noised);
        sizes[i] = hypot(ldexp((double)steps[0], -GRID) - 3, ldexp((double)steps[1], -GRID) + 1);
        assert_int_equal(tacit_noised_grade(noised), tacit_noise_source_grade(source));
        tacit_noised_free(noised);
    }
}

/* The sizes of the noise in one release of DRAWS values, which is independent from one to the next. */
static void collect_sizes(const tacit_noise_source *source, const tacit_mechanism *mechanism, double *sizes) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_noised *noised = NULL;
    for (size_t i = 0; i < DRAWS; i++) sizes[i] = 3;
    CHECK_OK(tacit_mechanism_release(&noised, source, mechanism, sizes, DRAWS, GRID, 1000, &error), error);
    for (size_t i = 0; i < DRAWS; i++)
        sizes[i] = fabs(ldexp((double)tacit_noised_steps(noised)[i], -GRID) - 3);
    assert_int_equal(tacit_noised_grade(noised), tacit_noise_source_grade(source));
    tacit_noised_free(noised);
}

/* It fits, and the same check does see a scale 10% off. */
static void check_fit(double *sizes, size_t count, double scale, double (*law)(double)) {
    assert_true(distance(sizes, count, scale, law) < 3.3);
    assert_true(distance(sizes, count, 1.1 * scale, law) > 3.3);
}

static void check_laws(const tacit_noise_source *source) {
    double scale = 0, *sizes = malloc(DRAWS * sizeof *sizes);
    assert_non_null(sizes);
    collect_radii(source, &gamma_norm,
                  sizes); /* scale S/epsilon = 1/4; the radius in two dimensions is Gamma(2) */
    check_fit(sizes, RADII, 0.25, gamma2_law);
    collect_sizes(source, &laplace, sizes);
    check_fit(sizes, DRAWS, 0.25, exponential_law);
    assert_int_equal(tacit_mechanism_scale(&scale, &gaussian, NULL), TACIT_OK);
    collect_sizes(source, &gaussian, sizes);
    check_fit(sizes, DRAWS, scale, half_normal_law);
    free(sizes);
}

static void simulated_noise_follows_its_law_and_says_it_is_simulated(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(1);
    check_laws(&(tacit_noise_source){ .stream = &stream });
}

static void exact_noise_follows_its_law_and_says_it_is_exact(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_entropy *entropy = NULL;
    CHECK_OK(tacit_entropy_create(&entropy, &error), error);
    check_laws(&(tacit_noise_source){ .entropy = entropy });
    tacit_entropy_free(entropy);
}

static void noise_beyond_the_bound_is_clipped_to_it(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_entropy *entropy = NULL;
    tacit_stream stream = tacit_stream_from_seed(2);
    CHECK_OK(tacit_entropy_create(&entropy, &error), error);
    const tacit_noise_source sources[] = { { .stream = &stream }, { .entropy = entropy } };
    const tacit_mechanism loud = { TACIT_LAW_LAPLACE, 1e6, { TACIT_UNIT_RECORD, 1, 0 } };
    const double values[3] = { 0, 1, -1 };
    for (size_t s = 0; s < 2; s++) {
        tacit_noised *noised = NULL;
        CHECK_OK(tacit_mechanism_release(&noised, &sources[s], &loud, values, 3, 10, 2, &error), error);
        for (size_t j = 0; j < 3; j++) assert_true(llabs(tacit_noised_steps(noised)[j]) <= 2048);
        tacit_noised_free(noised);
    }
    tacit_entropy_free(entropy);
}

static void no_noise_is_only_for_simulations(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_entropy *entropy = NULL;
    tacit_stream stream = tacit_stream_from_seed(3);
    tacit_noised *noised = NULL;
    const tacit_mechanism open = { TACIT_LAW_GAMMA_NORM, 1, { TACIT_UNIT_RECORD, INFINITY, 0 } };
    const double value = 1.5;
    CHECK_OK(tacit_entropy_create(&entropy, &error), error);
    assert_int_equal(tacit_mechanism_release(&noised, &(tacit_noise_source){ .entropy = entropy }, &open,
                                             &value, 1, 4, 10, NULL),
                     TACIT_USAGE);
    assert_null(noised);
    CHECK_OK(tacit_mechanism_release(&noised, &(tacit_noise_source){ .stream = &stream }, &open, &value, 1, 4,
                                     10, &error),
             error);
    assert_int_equal(tacit_noised_grade(noised), TACIT_NOISE_NONE);
    assert_int_equal(tacit_noised_steps(noised)[0], 24);
    tacit_noised_free(noised);
    tacit_entropy_free(entropy);
}

static void the_scale_is_rounded_up_and_nonsense_refused(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    double scale = 0;
    tacit_mechanism tenth = { TACIT_LAW_LAPLACE, 0.1, { TACIT_UNIT_RECORD, 0.3, 0 } };
    CHECK_OK(tacit_mechanism_scale(&scale, &tenth, &error), error);
    assert_true(scale * 0.3 >= 0.1 && scale <= nextafter(nextafter(0.1 / 0.3, 1), 1));
    const double wrong[] = { 0, -1, NAN, INFINITY };
    for (size_t i = 0; i < 4; i++) {
        tacit_mechanism bad = tenth;
        bad.sensitivity = wrong[i];
        assert_int_not_equal(tacit_mechanism_scale(&scale, &bad, NULL), TACIT_OK);
        bad = tenth;
        bad.price.epsilon = wrong[i];
        assert_int_not_equal(tacit_mechanism_scale(&scale, &bad, NULL), TACIT_OK);
    }
    tacit_mechanism unpriced = tenth;
    unpriced.law = TACIT_LAW_UNIFORM;
    assert_int_equal(tacit_mechanism_scale(&scale, &unpriced, NULL), TACIT_USAGE);
}

static void gaussian_noise_buys_its_delta_and_no_less(void **state) {
    (void)state;
    double scale = 0, delta = 0;
    assert_int_equal(tacit_mechanism_scale(&scale, &gaussian, NULL), TACIT_OK);
    assert_int_equal(tacit_gaussian_delta(&delta, scale / 0.5, 2, NULL), TACIT_OK);
    assert_true(delta <= 1e-6 * (1 + 1e-9) && delta > 0.999e-6);
    tacit_stream stream = tacit_stream_from_seed(5);
    const double value = 1;
    const double wrong[] = { 0, -1, 1, NAN };
    for (size_t i = 0; i < 4; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_noised *noised = NULL;
        tacit_mechanism bad = gaussian;
        bad.price.delta = wrong[i];
        tacit_status status = tacit_mechanism_release(&noised, &(tacit_noise_source){ .stream = &stream },
                                                      &bad, &value, 1, 4, 10, &error);
        assert_true(status == TACIT_USAGE || status == TACIT_INPUT);
        assert_true(error.text[0] != 0);
        assert_null(noised);
    }
}

static void a_scale_of_ones_own_must_be_enough(void **state) {
    (void)state;
    static const double deltas[] = { 1e-12, 1e-5, 0.05, 0.9 }, epsilons[] = { 0.01, 1, 20 }, value = 0;
    tacit_stream stream = tacit_stream_from_seed(3);
    tacit_noise_source source = { .stream = &stream };
    tacit_mechanism all[14] = { gamma_norm, laplace };
    for (size_t i = 0; i < 12; i++)
        all[2 + i] =
            (tacit_mechanism){ TACIT_LAW_GAUSSIAN, 3, { TACIT_UNIT_RECORD, epsilons[i % 3], deltas[i / 3] } };
    for (size_t i = 0; i < 14; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        double scale;
        CHECK_OK(tacit_mechanism_scale(&scale, &all[i], &error), error);
        const double good[] = { scale, 2 * scale },
                     bad[] = { scale * (1 - 1e-6), scale / 2, 0, -1, NAN, INFINITY };
        for (size_t k = 0; k < 2; k++) {
            tacit_noised *noised = NULL;
            CHECK_OK(
                tacit_mechanism_release_at(&noised, &source, &all[i], good[k], &value, 1, 10, 1e6, &error),
                error);
            assert_int_equal(tacit_noised_grade(noised), TACIT_NOISE_SIMULATED);
            tacit_noised_free(noised);
        }
        for (size_t k = 0; k < 6; k++) {
            tacit_noised *noised = NULL;
            assert_int_equal(
                tacit_mechanism_release_at(&noised, &source, &all[i], bad[k], &value, 1, 10, 1e6, NULL),
                TACIT_USAGE);
            assert_null(noised);
        }
    }
}

static void a_source_is_exactly_one(void **state) {
    (void)state;
    tacit_noised *noised = NULL;
    const double value = 1;
    const tacit_noise_source none = { .stream = NULL };
    assert_int_equal(tacit_mechanism_release(&noised, &none, &laplace, &value, 1, 4, 10, NULL), TACIT_USAGE);
    assert_null(noised);
}

static void values_that_are_no_numbers_are_not_released(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(4);
    tacit_noise_source source = { .stream = &stream };
    tacit_noised *noised = NULL;
    const double bad[] = { NAN, INFINITY }, good = 0;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(tacit_mechanism_release(&noised, &source, &laplace, &bad[i], 1, 10, 1, NULL),
                         TACIT_INPUT);
    assert_int_equal(tacit_mechanism_release(&noised, &source, &laplace, &good, 0, 10, 1, NULL), TACIT_USAGE);
    assert_int_equal(tacit_mechanism_release(&noised, &source, &laplace, &good, 1, 10, 0, NULL), TACIT_USAGE);
    assert_int_equal(tacit_mechanism_release(&noised, &source, &laplace, &good, 1, 62, 1, NULL), TACIT_USAGE);
    assert_int_equal(tacit_mechanism_release(&noised, &source, &laplace, &good, 1, 2000, 1e-300, NULL),
                     TACIT_USAGE);
    assert_null(noised);
    assert_null(tacit_noised_free(NULL));
}

/* What the ledger composes is the noise that was added, and never more noise than that. */
static void a_mechanism_reports_its_event(void **state) {
    (void)state;
    tacit_event event;
    double scale;
    assert_int_equal(tacit_mechanism_scale(&scale, &gaussian, NULL), TACIT_OK);
    assert_int_equal(tacit_mechanism_event(&event, &gaussian, NULL), TACIT_OK);
    assert_int_equal(event.kind, TACIT_EVENT_GAUSSIAN);
    assert_true(event.replaced && event.count == 1 && event.parameter * 0.5 <= scale);
    CHECK_NEAR(event.parameter, scale / 0.5, 1e-14 * scale);
    assert_int_equal(tacit_mechanism_event(&event, &laplace, NULL), TACIT_OK);
    assert_int_equal(event.kind, TACIT_EVENT_LAPLACE);
    CHECK_NEAR(event.parameter, 0.5, 1e-14);
    assert_int_equal(tacit_mechanism_event(&event, &gamma_norm, NULL), TACIT_OK);
    assert_int_equal(event.kind, TACIT_EVENT_PURE);
    CHECK_NEAR(event.parameter, 2, 0);
    tacit_mechanism other = { TACIT_LAW_DISCRETE_GAUSSIAN, 1, { TACIT_UNIT_RECORD, 1, 1e-6 } };
    assert_int_equal(tacit_mechanism_event(&event, &other, NULL), TACIT_OK);
    assert_int_equal(event.kind, TACIT_EVENT_APPROXIMATE);
    other = (tacit_mechanism){ TACIT_LAW_GAUSSIAN, 1, { TACIT_UNIT_RECORD, INFINITY, 0 } };
    assert_int_equal(tacit_mechanism_event(&event, &other, NULL), TACIT_OK);
    assert_int_equal(event.count, 0);
    other.price.epsilon = NAN;
    assert_int_equal(tacit_mechanism_event(&event, &other, NULL), TACIT_INPUT);
}

/* An answer that costs more than its noise holds something else too: then the noise does not describe it. */
static void noise_describes_only_what_it_pays_for(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(5);
    const tacit_noise_source source = { .stream = &stream };
    const double value = 1;
    tacit_noised *noised = NULL;
    assert_int_equal(tacit_mechanism_release(&noised, &source, &gaussian, &value, 1, 20, 100, NULL),
                     TACIT_OK);
    assert_int_equal(tacit_noised_event(noised, &gaussian.price).kind, TACIT_EVENT_GAUSSIAN);
    assert_int_equal(tacit_noised_event(noised, &gaussian.price).count, 1);
    tacit_price more = gaussian.price;
    more.epsilon *= 2;
    assert_int_equal(tacit_noised_event(noised, &more).count, 0);
    more = gaussian.price;
    more.unit = TACIT_UNIT_PARTY;
    assert_int_equal(tacit_noised_event(noised, &more).count, 0);
    tacit_noised_free(noised);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simulated_noise_follows_its_law_and_says_it_is_simulated),
        cmocka_unit_test(exact_noise_follows_its_law_and_says_it_is_exact),
        cmocka_unit_test(noise_beyond_the_bound_is_clipped_to_it),
        cmocka_unit_test(no_noise_is_only_for_simulations),
        cmocka_unit_test(the_scale_is_rounded_up_and_nonsense_refused),
        cmocka_unit_test(gaussian_noise_buys_its_delta_and_no_less),
        cmocka_unit_test(a_mechanism_reports_its_event),
        cmocka_unit_test(noise_describes_only_what_it_pays_for),
        cmocka_unit_test(a_scale_of_ones_own_must_be_enough),
        cmocka_unit_test(a_source_is_exactly_one),
        cmocka_unit_test(values_that_are_no_numbers_are_not_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
