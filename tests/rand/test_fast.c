/*
 * Goodness of fit of the fast samplers (fit.h has the bounds); each check is repeated with the scale 10% off
 * and must then reject.
 */
#include "check.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

#include "fit.h"
#include "rand/fast.h"
#include "rand/ziggurat_parts.h"

enum { DRAWS = 160000 };

/* Gamma with shape 3: 1 - exp(-x)(1 + x + x^2/2). */
static double gamma3_law(double x) { return 1 - exp(-x) * (1 + x + x * x / 2); }

/* Gamma with shape 1/2 is half a squared normal. */
static double gamma_half_law(double x) { return erf(sqrt(x)); }

static void check_law(double *values, double (*law)(double)) { check_fit(values, DRAWS, law); }

static void normals_follow_their_law(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(1);
    double *values = fit_values(DRAWS);
    for (size_t i = 0; i < DRAWS; i++) values[i] = tacit_fast_normal(&stream);
    check_law(values, normal_law);
    free(values);
}

static void exponentials_follow_their_law(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(2);
    double *values = fit_values(DRAWS);
    for (size_t i = 0; i < DRAWS; i++) values[i] = tacit_fast_exponential(&stream);
    check_law(values, exponential_law);
    free(values);
}

static void gammas_follow_their_law_above_and_below_shape_one(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(3);
    double *values = fit_values(DRAWS);
    for (size_t i = 0; i < DRAWS; i++) values[i] = tacit_fast_gamma(&stream, 3);
    check_law(values, gamma3_law);
    for (size_t i = 0; i < DRAWS; i++) values[i] = tacit_fast_gamma(&stream, 0.5);
    check_law(values, gamma_half_law);
    free(values);
}

static void gamma_norm_vectors_have_the_right_radius_and_direction(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(4);
    double *radius = fit_values(DRAWS), *cosine = fit_values(DRAWS), vector[3];
    for (size_t i = 0; i < DRAWS; i++) {
        tacit_fast_gamma_norm(&stream, vector, 3, 2.5);
        radius[i] = sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
        cosine[i] = vector[1] / radius[i];
        radius[i] /= 2.5;
    }
    check_law(radius, gamma3_law); /* Gamma(d, s), d = 3 */
    /* In three dimensions each coordinate of a uniform direction is uniform on [-1, 1] (Archimedes). */
    check_fit(cosine, DRAWS, symmetric_uniform_law);
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

static void many_normals_are_the_same_as_one_after_the_other(void **state) {
    (void)state;
    tacit_stream whole = tacit_stream_from_seed(6), single = tacit_stream_from_seed(6);
    double *values = fit_values(DRAWS);
    uint8_t odd[5]; /* so that words straddle the end of the cache */
    tacit_stream_bytes(&whole, odd, sizeof odd);
    tacit_stream_bytes(&single, odd, sizeof odd);
    tacit_fast_normals(&whole, values, DRAWS);
    for (size_t i = 0; i < DRAWS; i++) assert_true(values[i] == tacit_fast_normal(&single));
    assert_true(tacit_stream_u64(&whole) == tacit_stream_u64(&single));
    free(values);
}

/* Normals beyond the last edge of the ziggurat, 3.654, come from another branch: right in number
 * (Bernstein's inequality at 1e-9) and in law. */
static void the_tail_of_the_normals_is_right(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(7);
    const size_t draws = 60000000, piece = 4096;
    const double edge = ziggurat_edge[1], mean = (double)draws * 2 * normal_law(-edge), log_rate = log(2e9);
    double *chunk = fit_values(piece), *tail = fit_values(20000), *wrong = fit_values(20000);
    size_t found = 0;
    for (size_t done = 0; done < draws; done += piece) {
        tacit_fast_normals(&stream, chunk, piece);
        for (size_t i = 0; i < piece; i++)
            if (fabs(chunk[i]) > edge && found < 20000) {
                double beyond = fabs(chunk[i]) - edge;
                tail[found] = 2 * normal_law(-edge - beyond) / normal_law(-edge) - 1;
                wrong[found++] = 2 * normal_law(-edge - 1.1 * beyond) / normal_law(-edge) - 1;
            }
    }
    assert_true(fabs((double)found - mean) < sqrt(2 * mean * log_rate) + log_rate + 1);
    assert_true(kolmogorov(tail, found, 1, symmetric_uniform_law) < FIT_LIMIT);
    assert_true(kolmogorov(wrong, found, 1, symmetric_uniform_law) > FIT_LIMIT);
    free(chunk);
    free(tail);
    free(wrong);
}

/* One layer after the other from the edge r up, at 200 bits; returns the height above the last one. */
static void stack_layers(mpfr_t edge[], mpfr_t height[], mpfr_t area) {
    mpfr_t t;
    mpfr_init2(t, 200);
    for (int i = 1; i < ZIGGURAT_LAYERS; i++) {
        mpfr_div(t, area, edge[i], MPFR_RNDN);
        mpfr_add(height[i + 1], height[i], t, MPFR_RNDN);
        if (i + 1 == ZIGGURAT_LAYERS) break;
        mpfr_log(t, height[i + 1], MPFR_RNDN);
        mpfr_mul_si(t, t, -2, MPFR_RNDN);
        mpfr_sqrt(edge[i + 1], t, MPFR_RNDN);
    }
    mpfr_clear(t);
}

static void the_ziggurat_is_what_it_should_be(void **state) {
    (void)state;
    mpfr_t edge[ZIGGURAT_LAYERS + 1], height[ZIGGURAT_LAYERS + 1], area;
    for (int i = 0; i <= ZIGGURAT_LAYERS; i++) mpfr_inits2(200, edge[i], height[i], NULL);
    mpfr_init2(area, 200);
    /* r and v to more digits than the table has, from solving height = 1 above the last layer. */
    mpfr_set_str(edge[1], "3.65415288536100877164542186110", 10, MPFR_RNDN);
    mpfr_sqr(height[1], edge[1], MPFR_RNDN);
    mpfr_div_si(height[1], height[1], -2, MPFR_RNDN);
    mpfr_exp(height[1], height[1], MPFR_RNDN);
    /* v = r f(r) + sqrt(pi/2) erfc(r/sqrt 2) */
    mpfr_sqrt_ui(edge[0], 2, MPFR_RNDN);
    mpfr_div(edge[0], edge[1], edge[0], MPFR_RNDN);
    mpfr_erfc(area, edge[0], MPFR_RNDN);
    mpfr_const_pi(edge[0], MPFR_RNDN);
    mpfr_div_ui(edge[0], edge[0], 2, MPFR_RNDN);
    mpfr_sqrt(edge[0], edge[0], MPFR_RNDN);
    mpfr_mul(area, area, edge[0], MPFR_RNDN);
    mpfr_fma(area, edge[1], height[1], area, MPFR_RNDN);
    mpfr_div(edge[0], area, height[1], MPFR_RNDN);
    stack_layers(edge, height, area);
    CHECK_NEAR(mpfr_get_d(height[ZIGGURAT_LAYERS], MPFR_RNDN), 1, 1e-15);
    for (int i = 0; i < ZIGGURAT_LAYERS; i++) {
        assert_true(ziggurat_edge[i] == mpfr_get_d(edge[i], MPFR_RNDN));
        if (i > 0) assert_true(ziggurat_height[i] == mpfr_get_d(height[i], MPFR_RNDN));
    }
    assert_true(ziggurat_edge[ZIGGURAT_LAYERS] == 0 && ziggurat_height[ZIGGURAT_LAYERS] == 1);
    for (int i = 0; i <= ZIGGURAT_LAYERS; i++) mpfr_clears(edge[i], height[i], NULL);
    mpfr_clear(area);
    mpfr_free_cache();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normals_follow_their_law),
        cmocka_unit_test(exponentials_follow_their_law),
        cmocka_unit_test(gammas_follow_their_law_above_and_below_shape_one),
        cmocka_unit_test(gamma_norm_vectors_have_the_right_radius_and_direction),
        cmocka_unit_test(many_normals_are_the_same_as_one_after_the_other),
        cmocka_unit_test(the_tail_of_the_normals_is_right),
        cmocka_unit_test(the_ziggurat_is_what_it_should_be),
        cmocka_unit_test(dirichlet_points_lie_on_the_simplex),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
