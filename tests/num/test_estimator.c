/* Sums over rows and their bounds; solving; L-BFGS. Random cases follow from the seed that a failure
 * prints. */
#include "check.h"

#include <string.h>

#include "model/family/family.h"
#include "num/estimator.h"
#include "num/glm/lbfgs.h"

static const char *const NAMES[] = { "linear", "logistic", "huber", "poisson" };

/* A small generator of its own: num comes before rand. */
static double uniform(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

static double response_of(const tacit_family *family, uint64_t *state) {
    double u = uniform(state);
    return family->response == TACIT_RESPONSE_CLASS   ? u < 0.5
           : family->response == TACIT_RESPONSE_COUNT ? floor(20 * u)
                                                      : 2 * u - 1;
}

static void row_of(const tacit_family *family, double y, double t, double out[3]) {
    family->loss.rows(tacit_kernels_choose(), family->loss.shape_default, 1, &y, &t, &out[0], &out[1],
                      &out[2]);
}

enum { ROWS = 40, WIDTH = 3 };

static void fill(const tacit_family *family, double *x, double *y, uint64_t *random) {
    for (size_t i = 0; i < ROWS; i++) {
        y[i] = response_of(family, random);
        for (size_t j = 0; j < WIDTH; j++) x[i * WIDTH + j] = (2 * uniform(random) - 1) / sqrt(WIDTH);
    }
}

static void sum_up(const tacit_family *family, tacit_row_weight weight, const double *x, const double *y,
                   const double *w, double *out) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_sums sums;
    CHECK_OK(tacit_sums_create(&sums, &family->loss, weight, WIDTH, w, &error), error);
    for (size_t i = 0; i < ROWS; i += 10)
        tacit_sums_add(&sums,
                       &(tacit_rows){ .count = 10, .cols = WIDTH, .dense = x, .stride = WIDTH, .first = i },
                       NULL, y + i);
    tacit_sums_pack(&sums, out);
    tacit_sums_clear(&sums);
}

static void sums_are_sums_over_rows(void **state) {
    (void)state;
    double x[ROWS * WIDTH], y[ROWS], out[1 + WIDTH + WIDTH * (WIDTH + 1) / 2];
    for (size_t f = 0; f < 4; f++)
        for (int weight = TACIT_WEIGH_NONE; weight <= TACIT_WEIGH_ONE; weight++) {
            const tacit_family *family = tacit_family_find(NAMES[f]);
            uint64_t random = 77 + f;
            double w[WIDTH], expected[sizeof out / sizeof *out] = { 0 };
            fill(family, x, y, &random);
            for (size_t j = 0; j < WIDTH; j++) w[j] = 2 * uniform(&random) - 1;
            for (size_t i = 0; i < ROWS; i++) {
                const double *row = x + i * WIDTH;
                double t = w[0] * row[0] + w[1] * row[1] + w[2] * row[2], l[3];
                row_of(family, y[i], t, l);
                double c = weight == TACIT_WEIGH_CURVATURE ? l[2]
                           : weight == TACIT_WEIGH_SLOPE   ? l[1] * l[1]
                                                           : 1;
                expected[0] += l[0];
                for (size_t j = 0; j < WIDTH; j++) expected[1 + j] += l[1] * row[j];
                for (size_t a = 0, at = 1 + WIDTH; a < WIDTH; a++)
                    for (size_t b = 0; b <= a; b++) expected[at++] += c * row[a] * row[b];
            }
            sum_up(family, (tacit_row_weight)weight, x, y, w, out);
            for (size_t k = 0; k < tacit_sums_length((tacit_row_weight)weight, WIDTH); k++)
                CHECK_NEAR(out[k], expected[k], 1e-11 * (1 + fabs(expected[k])));
        }
}

/* Some features of wider rows, dense or sparse, in an order of their own: as if the rows had only these. */
static void kept_features_are_found_in_any_row(void **state) {
    (void)state;
    enum { WIDE = 7 };
    static const size_t kept[WIDTH] = { 0, 3, 6 };
    tacit_error error = TACIT_ERROR_INIT;
    double x[ROWS * WIDTH], y[ROWS], wide[ROWS * WIDE] = { 0 }, value[ROWS * WIDE];
    double w[WIDTH] = { 0.5, -1, 2 }, expected[1 + WIDTH + WIDTH * (WIDTH + 1) / 2];
    double out[sizeof expected / sizeof *expected];
    size_t start[ROWS + 1] = { 0 }, entries = 0;
    uint32_t column[ROWS * WIDE], order[ROWS];
    uint64_t random = 5;
    const tacit_family *family = tacit_family_find("logistic");
    fill(family, x, y, &random);
    for (size_t i = 0; i < ROWS; i++) {
        order[i] = (uint32_t)(ROWS - 1 - i);
        for (size_t j = 0; j < WIDTH; j++) {
            if (uniform(&random) < 0.3) x[i * WIDTH + j] = 0;
            wide[order[i] * WIDE + kept[j]] = x[i * WIDTH + j];
        }
        wide[order[i] * WIDE + 4] = 9; /* never looked at */
    }
    for (size_t i = 0; i < ROWS; start[++i] = entries)
        for (uint32_t j = 0; j < WIDE; j++)
            if (wide[i * WIDE + j] != 0) {
                column[entries] = j;
                value[entries++] = wide[i * WIDE + j];
            }
    tacit_csr csr = { ROWS, WIDE, start, column, value };
    const tacit_rows views[] = {
        { .count = ROWS, .cols = WIDE, .dense = wide, .stride = WIDE, .index = order },
        { .count = ROWS, .cols = WIDE, .sparse = &csr, .index = order },
    };
    tacit_sums sums;
    CHECK_OK(tacit_sums_create(&sums, &family->loss, TACIT_WEIGH_CURVATURE, WIDTH, w, &error), error);
    tacit_sums_add(&sums, &(tacit_rows){ .count = ROWS, .cols = WIDTH, .dense = x, .stride = WIDTH }, NULL,
                   y);
    tacit_sums_pack(&sums, expected);
    tacit_sums_clear(&sums);
    for (size_t v = 0; v < sizeof views / sizeof *views; v++) {
        CHECK_OK(tacit_sums_create(&sums, &family->loss, TACIT_WEIGH_CURVATURE, WIDTH, w, &error), error);
        tacit_sums_add(&sums, &views[v], kept, y);
        tacit_sums_pack(&sums, out);
        tacit_sums_clear(&sums);
        assert_memory_equal(out, expected, sizeof expected);
    }
}

/* Where the total is no larger than at 0, nothing exceeds n R; and a loss of n R is a total larger than at
 * 0. */
static void sums_stay_within_their_bound_where_the_objective_is_lower(void **state) {
    (void)state;
    double x[ROWS * WIDTH], y[ROWS], zero[WIDTH] = { 0 }, w[WIDTH], at_zero[10], out[10];
    size_t seen = 0;
    for (size_t f = 0; f < 4; f++) {
        const tacit_family *family = tacit_family_find(NAMES[f]);
        uint64_t random = 5 + f;
        for (int trial = 0; trial < 3000; trial++) {
            fill(family, x, y, &random);
            double size = 10 * uniform(&random) * uniform(&random);
            for (size_t j = 0; j < WIDTH; j++) w[j] = size * (2 * uniform(&random) - 1);
            sum_up(family, TACIT_WEIGH_CURVATURE, x, y, zero, at_zero);
            sum_up(family, TACIT_WEIGH_CURVATURE, x, y, w, out);
            double terms[2] = { 0, 0 };
            for (size_t i = 0; i < ROWS; i++) {
                terms[0] += y[i];
                terms[1] += y[i] > 0 ? y[i] * log(y[i]) - y[i] : 0;
            }
            double bound = family->bound(ROWS, 20, NULL);
            if (family->response == TACIT_RESPONSE_COUNT) bound = fmin(bound, family->bound(ROWS, 20, terms));
            assert_true(at_zero[0] < bound);
            if (out[0] > at_zero[0]) continue;
            seen++;
            for (size_t k = 0; k < 10; k++) assert_true(fabs(out[k]) <= bound);
        }
    }
    assert_true(seen > 1000);
}

static void a_factor_solves_and_names_what_follows_from_other_columns(void **state) {
    (void)state;
    /* X^T X of columns a, b, a + b, c */
    double x[6][4] = { { 1, 2, 3, 0 }, { 0, 1, 1, 5 }, { 2, 0, 2, 1 },
                       { 1, 1, 2, 0 }, { 3, 1, 4, 2 }, { 0, 0, 0, 1 } };
    double a[16] = { 0 }, scale[4], b[3];
    bool deficient[4];
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 4; j++)
            for (size_t k = 0; k <= j; k++) a[j * 4 + k] += x[i][j] * x[i][k];
    assert_int_equal(tacit_cholesky_factor(a, 4, 1e-12, scale, deficient), 1);
    assert_true(!deficient[0] && !deficient[1] && deficient[2] && !deficient[3]);
    double spd[9] = { 4e8, 0, 0, 2e4, 5, 0, 1e4, 1, 3 }, full[9];
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) full[i * 3 + j] = j <= i ? spd[i * 3 + j] : spd[j * 3 + i];
    double wanted[3] = { 1e-4, -2, 3 };
    for (size_t i = 0; i < 3; i++)
        b[i] = full[i * 3] * wanted[0] + full[i * 3 + 1] * wanted[1] + full[i * 3 + 2] * wanted[2];
    assert_int_equal(tacit_cholesky_factor(spd, 3, 1e-12, scale, deficient), 0);
    tacit_cholesky_solve(spd, 3, scale, b);
    for (size_t i = 0; i < 3; i++) CHECK_NEAR(b[i], wanted[i], 1e-12 * fabs(wanted[i]));
}

/* On a quadratic with exact line searches L-BFGS ends in as many steps as there are dimensions. */
static void lbfgs_minimises_a_quadratic(void **state) {
    (void)state;
    enum { D = 5 };
    static const double curvature[D] = { 1, 2, 4, 10, 30 };
    double w[D] = { 1, 1, 1, 1, 1 }, gradient[D], direction[D], change[D];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_lbfgs memory;
    CHECK_OK(tacit_lbfgs_create(&memory, D, &error), error);
    for (int k = 0; k < 2 * D; k++) {
        double slope = 0, bend = 0;
        for (size_t j = 0; j < D; j++) gradient[j] = curvature[j] * w[j];
        tacit_lbfgs_direction(&memory, gradient, direction);
        for (size_t j = 0; j < D; j++) {
            slope += gradient[j] * direction[j];
            bend += curvature[j] * direction[j] * direction[j];
        }
        if (bend == 0) break;
        assert_true(slope < 0);
        for (size_t j = 0; j < D; j++) {
            direction[j] *= -slope / bend;
            w[j] += direction[j];
            change[j] = curvature[j] * direction[j];
        }
        tacit_lbfgs_keep(&memory, direction, change);
    }
    for (size_t j = 0; j < D; j++) CHECK_NEAR(w[j], 0, 1e-9);
    size_t pairs = memory.pairs;
    for (size_t j = 0; j < D; j++) change[j] = -1; /* against the step: no curvature to learn from */
    memset(direction, 0, sizeof direction);
    direction[0] = 1;
    tacit_lbfgs_keep(&memory, direction, change);
    assert_int_equal(memory.pairs, pairs);
    tacit_lbfgs_clear(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_sums_over_rows),
        cmocka_unit_test(kept_features_are_found_in_any_row),
        cmocka_unit_test(sums_stay_within_their_bound_where_the_objective_is_lower),
        cmocka_unit_test(a_factor_solves_and_names_what_follows_from_other_columns),
        cmocka_unit_test(lbfgs_minimises_a_quadratic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
