/* Trees of counts: every level adds up, the fit is the least-squares one with the variances it states, and
 * quantiles of exact counts are those of the rows within a cell. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/noisy/count_tree.h"
#include "rand/fast.h"

enum { ROWS = 500, DRAWS = 4000 };

static const tacit_count_tree shape = { 4, 3 };

static double *counts_of_rows(double *missing) {
    tacit_stream stream = tacit_stream_from_seed(5);
    double *counts = calloc(tacit_count_tree_size(shape), sizeof *counts);
    assert_non_null(counts);
    *missing = 0;
    for (size_t i = 0; i < ROWS; i++) {
        bool none = tacit_stream_unit(&stream) < 0.1;
        *missing += none;
        tacit_count_tree_add(shape, counts, none ? NAN : pow(tacit_stream_unit(&stream), 2), 1);
    }
    return counts;
}

static void check_adds_up(const tacit_count_fit *fit, double total, double within) {
    for (size_t l = 1, cells = shape.branch; l <= shape.depth; l++, cells *= shape.branch) {
        const double *level = fit->cell + tacit_count_tree_level(shape, l);
        double sum = 0;
        for (size_t k = 0; k <= cells; k++) sum += level[k];
        CHECK_NEAR(sum, total, within);
        for (size_t k = 0; l < shape.depth && k < cells; k++) {
            const double *child = fit->cell + tacit_count_tree_level(shape, l + 1) + k * shape.branch;
            CHECK_NEAR(child[0] + child[1] + child[2] + child[3], level[k], within);
        }
    }
}

static void exact_counts_stay_as_they_are(void **state) {
    (void)state;
    double missing, *counts = counts_of_rows(&missing);
    tacit_count_fit fit;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_count_fit_exact(&fit, shape, counts, ROWS, NULL, &error), error);
    check_adds_up(&fit, ROWS, 0);
    CHECK_NEAR(fit.missing, missing, 0);
    CHECK_NEAR(fit.present, ROWS - missing, 0);
    for (int k = 1; k < 10; k++) /* the square of a uniform number */
        CHECK_NEAR(sqrt(tacit_count_fit_quantile(&fit, 0.1 * k, 2).value), 0.1 * k, 0.08);
    tacit_count_fit_clear(&fit);
    free(counts);
}

static void what_a_piece_holds_is_spread_evenly(void **state) {
    (void)state;
    bool told[64];
    double missing, *counts = counts_of_rows(&missing);
    tacit_count_fit fit;
    tacit_error error = TACIT_ERROR_INIT;
    memset(told, true, sizeof told);
    double held = counts[1],
           *leaf = counts + tacit_count_tree_level(shape, 3); /* the second cell of level 1 */
    for (size_t k = 17; k < 32; k++) {
        told[k] = false;
        leaf[k] = 0;
    }
    leaf[16] = held;
    CHECK_OK(tacit_count_fit_exact(&fit, shape, counts, ROWS, told, &error), error);
    check_adds_up(&fit, ROWS, 1e-9);
    CHECK_NEAR(fit.cell[tacit_count_tree_level(shape, 3) + 20], held / 16, 1e-12);
    assert_true(tacit_count_tree_known(shape, told, 1, 0) && tacit_count_tree_known(shape, told, 1, 1) &&
                !tacit_count_tree_known(shape, told, 2, 5) && !tacit_count_tree_known(shape, told, 3, 16));
    CHECK_NEAR(tacit_count_tree_width(shape, told, 0.3), 0.25, 0);
    CHECK_NEAR(tacit_count_tree_width(shape, told, 0.6), 1.0 / 64, 0);
    tacit_count_fit_clear(&fit);
    memset(told, false, sizeof told);
    CHECK_OK(tacit_count_fit_exact(&fit, shape, counts, ROWS, told, &error), error);
    CHECK_NEAR(fit.cell[0], (ROWS - missing) / 4, 1e-9);
    CHECK_NEAR(tacit_count_tree_width(shape, told, 0.6), 1, 0);
    tacit_count_fit_clear(&fit);
    free(counts);
}

/* Of 4,000 seeded draws. A variance is off by 2.2% (one standard deviation), so 12% is more than 5 of them; the
 * shares that intervals cover by .35%, so 1.7% is 5. The negative control, noise a quarter larger than stated, is found. */
static void errors_are_those_that_are_stated(void **state) {
    (void)state;
    static const double NOISE = 6, AT = 0.3;
    size_t leaves = tacit_count_tree_leaves(shape), size = tacit_count_tree_size(shape);
    double missing, *counts = counts_of_rows(&missing), *noisy = calloc(size, sizeof *noisy);
    double square[6] = { 0 }, stated[6] = { 0 };
    size_t covered = 0;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_count_fit truth;
    assert_non_null(noisy);
    CHECK_OK(tacit_count_fit_exact(&truth, shape, counts, ROWS, NULL, &error), error);
    double place = tacit_count_fit_quantile(&truth, AT, 0).value;
    for (int control = 0; control < 2; control++) {
        tacit_stream stream = tacit_stream_from_seed(7);
        memset(square, 0, sizeof square);
        covered = 0;
        for (size_t d = 0; d < DRAWS; d++) {
            tacit_count_fit fit;
            for (size_t j = 0; j < size; j++)
                noisy[j] = counts[j] + NOISE * (control ? 1.25 : 1) * tacit_fast_normal(&stream);
            CHECK_OK(tacit_count_fit_make(&fit, shape, noisy, NOISE * NOISE, ROWS, 0, &error), error);
            if (d == 0) check_adds_up(&fit, ROWS, 1e-9);
            square[0] += pow(fit.missing - missing, 2);
            stated[0] = fit.missing_variance;
            square[1] += pow(fit.present - truth.present, 2);
            stated[1] = fit.present_variance;
            for (size_t l = 1; l <= 3; l++) {
                size_t at = tacit_count_tree_level(shape, l);
                square[1 + l] += pow(fit.cell[at] - truth.cell[at], 2);
                stated[1 + l] = tacit_count_fit_variance(&fit, l);
            }
            tacit_tree_quantile found = tacit_count_fit_quantile(&fit, AT, 1.959964);
            covered += found.low <= place && place <= found.high;
            tacit_count_fit_clear(&fit);
        }
        for (int k = 0; k < 5; k++) {
            double ratio = square[k] / DRAWS / stated[k];
            print_message("# %d: variance %.3f of what is stated\n", k, ratio);
            assert_true(control ? ratio > 1.3 : fabs(ratio - 1) < 0.12);
        }
        double share = (double)covered / DRAWS;
        print_message("# intervals of a quantile cover in %.2f%%\n", 100 * share);
        assert_true(control ? share < 0.93 : share > 0.933 && share < 0.975);
    }
    assert_int_equal(leaves, 64);
    tacit_count_fit_clear(&truth);
    free(noisy);
    free(counts);
}

static void more_noise_makes_coarser_trees(void **state) {
    (void)state;
    size_t before = SIZE_MAX;
    for (double noise = 1e-10; noise < 1; noise *= 100) {
        size_t leaves = tacit_count_tree_leaves(tacit_count_tree_choose(noise));
        assert_true(leaves <= before && leaves >= 16);
        before = leaves;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_counts_stay_as_they_are),
        cmocka_unit_test(what_a_piece_holds_is_spread_evenly),
        cmocka_unit_test(errors_are_those_that_are_stated),
        cmocka_unit_test(more_noise_makes_coarser_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
