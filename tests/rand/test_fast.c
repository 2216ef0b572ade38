/*
 * Goodness of fit by Kolmogorov's statistic. For n draws the probability that sqrt(n) D passes 3.3 is below
 * 2 exp(-2 * 3.3^2) < 1e-9 (Massart 1990), so each check has a false-alarm rate under 1e-9; each is repeated
 * with the scale 10% off and must then reject.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "rand/fast.h"

enum { DRAWS = 20000 };
static const double LIMIT = 3.3;

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double kolmogorov(double *values, double scale, double (*law)(double)) {
    double most = 0;
    qsort(values, DRAWS, sizeof *values, ascending);
    for (size_t i = 0; i < DRAWS; i++) {
        double p = law(values[i] / scale);
        most = fmax(most, fmax(fabs(p - (double)i / DRAWS), fabs(p - (double)(i + 1) / DRAWS)));
    }
    return sqrt(DRAWS) * most;
}

static double normal_law(double x) { return 0.5 * erfc(-x / sqrt(2)); }
static double exponential_law(double x) { return -expm1(-x); }

/* Gamma with shape 3: 1 - exp(-x)(1 + x + x^2/2). */
static double gamma3_law(double x) { return 1 - exp(-x) * (1 + x + x * x / 2); }

/* Gamma with shape 1/2 is half a squared normal. */
static double gamma_half_law(double x) { return erf(sqrt(x)); }

static void check_law(double *values, double (*law)(double)) {
    assert_true(kolmogorov(values, 1, law) < LIMIT);
    assert_true(kolmogorov(values, 1.1, law) > LIMIT);
}

static double *draws(void) {
    double *values = malloc(DRAWS * sizeof *values);
    assert_non_null(values);
    return values;
}

static void normals_follow_their_law(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(1);
    double *values = draws();
    for (size_t i = 0; i < DRAWS; i++) values[i] = tacit_fast_normal(&stream);
    check_law(values, normal_law);
    free(values);
}

static void exponentials_follow_their_law(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(2);
    double *values = draws();
    for (size_t i = 0; i < DRAWS; i++) values[i] = tacit_fast_exponential(&stream);
    check_law(values, exponential_law);
    free(values);
}

static void gammas_follow_their_law_above_and_below_shape_one(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(3);
    double *values = draws();
    for (size_t i = 0; i < DRAWS; i++) values[i] = tacit_fast_gamma(&stream, 3);
    check_law(values, gamma3_law);
    for (size_t i = 0; i < DRAWS; i++) values[i] = tacit_fast_gamma(&stream, 0.5);
    check_law(values, gamma_half_law);
    free(values);
}

static void gamma_norm_vectors_have_the_right_radius_and_direction(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(4);
    double *radius = draws(), *cosine = draws(), vector[3];
    for (size_t i = 0; i < DRAWS; i++) {
        tacit_fast_gamma_norm(&stream, vector, 3, 2.5);
        radius[i] = sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
        cosine[i] = vector[1] / radius[i];
        radius[i] /= 2.5;
    }
    check_law(radius, gamma3_law); /* Gamma(d, s), d = 3 */
    /* In three dimensions each coordinate of a uniform direction is uniform on [-1, 1] (Archimedes). */
    double most = 0;
    qsort(cosine, DRAWS, sizeof *cosine, ascending);
    for (size_t i = 0; i < DRAWS; i++) most = fmax(most, fabs((cosine[i] + 1) / 2 - (i + 0.5) / DRAWS));
    assert_true(sqrt(DRAWS) * most < LIMIT);
    free(radius);
    free(cosine);
}

static void dirichlet_points_lie_on_the_simplex(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(5);
    const double concentrations[] = { 1e-300, 1e-3, 1, 100 };
    for (size_t c = 0; c < 4; c++) {
        double point[10], sum = 0;
        tacit_fast_dirichlet(&stream, point, 10, concentrations[c]);
        for (size_t k = 0; k < 10; k++) {
            assert_true(point[k] >= 0);
            sum += point[k];
        }
        CHECK_NEAR(sum, 1, 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normals_follow_their_law),
        cmocka_unit_test(exponentials_follow_their_law),
        cmocka_unit_test(gammas_follow_their_law_above_and_below_shape_one),
        cmocka_unit_test(gamma_norm_vectors_have_the_right_radius_and_direction),
        cmocka_unit_test(dirichlet_points_lie_on_the_simplex),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
