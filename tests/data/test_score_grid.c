/* Figures from counts on a grid of scores: those of the rows with their scores moved to the middles of cells.
 * R's pROC and glm stand beside them in tests/cli/test_evaluate.py. */
#include <stdlib.h>

#include "check.h"

#include <math.h>
#include <string.h>

#include "data/measure/metrics.h"
#include "data/measure/score_grid.h"
#include "rand/fast.h"
#include "rand/stream.h"

enum { ROWS = 600, CELLS = 40 };

typedef struct rows {
    int32_t label[ROWS];
    double score[ROWS], gridded[ROWS];
    double positives[CELLS], negatives[CELLS];
    double positive_count;
} rows;

static void draw(rows *out, uint64_t seed) {
    tacit_stream stream = tacit_stream_from_seed(seed);
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < ROWS; i++) {
        double score = (double)tacit_stream_below(&stream, 1000000) / 1e6;
        bool positive = (double)tacit_stream_below(&stream, 1000000) / 1e6 < 0.1 + 0.7 * score;
        size_t cell = tacit_score_cell(score, CELLS);
        out->score[i] = score;
        out->gridded[i] = tacit_score_middle(cell, CELLS);
        out->label[i] = positive;
        (positive ? out->positives : out->negatives)[cell]++;
        out->positive_count += positive;
    }
}

static tacit_score_grid grid_of(const rows *of) {
    return (tacit_score_grid){ CELLS, of->positives, of->negatives, 0 };
}

static tacit_score_figures *figures_of(const tacit_score_grid *grid, const tacit_score_wishes *wishes) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_score_figures *made = malloc(sizeof *made);
    assert_non_null(made);
    CHECK_OK(tacit_score_figures_make(made, grid, wishes, &error), error);
    return made;
}

static void cells_hold_their_scores_and_the_ends_have_one(void **state) {
    (void)state;
    assert_int_equal(tacit_score_cell(0, 1000), 0);
    assert_int_equal(tacit_score_cell(1, 1000), 999);
    assert_int_equal(tacit_score_cell(-3, 1000), 0);
    assert_int_equal(tacit_score_cell(INFINITY, 1000), 999);
    assert_int_equal(tacit_score_cell(0.25, 4), 1);
    CHECK_NEAR(tacit_score_middle(1, 4), 0.375, 0);
}

static void the_area_and_its_error_are_those_of_the_rows_in_their_cells(void **state) {
    (void)state;
    tacit_score_wishes wishes = tacit_score_wishes_usual();
    for (uint64_t seed = 1; seed <= 20; seed++) {
        rows of;
        tacit_auc_estimate expected, raw;
        tacit_error error = TACIT_ERROR_INIT;
        draw(&of, seed);
        tacit_score_grid grid = grid_of(&of);
        tacit_score_figures *made = figures_of(&grid, &wishes);
        CHECK_OK(tacit_auc_interval(&expected, of.label, of.gridded, ROWS, 0.95, &error), error);
        CHECK_OK(tacit_auc_interval(&raw, of.label, of.score, ROWS, 0.95, &error), error);
        CHECK_NEAR(made->auc.value, expected.area, 1e-13);
        CHECK_NEAR(made->auc.error, expected.error, 1e-13);
        CHECK_NEAR(made->auc.low, expected.low, 1e-13);
        CHECK_NEAR(made->auc.high, expected.high, 1e-13);
        assert_true(fabs(made->auc.value - raw.area) <= made->auc_grid);
        assert_true(made->auc_grid < 0.02);
        free(made);
    }
}

static void losses_and_thresholds_are_those_of_the_rows(void **state) {
    (void)state;
    rows of;
    draw(&of, 7);
    tacit_score_grid grid = grid_of(&of);
    tacit_score_wishes wishes = tacit_score_wishes_usual();
    tacit_score_figures *made = figures_of(&grid, &wishes);
    double brier = 0, exact = 0, log_loss = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double y = of.label[i], p = of.gridded[i];
        brier += (p - y) * (p - y) / ROWS;
        exact += (of.score[i] - y) * (of.score[i] - y) / ROWS;
        log_loss -= log(y > 0 ? p : 1 - p) / ROWS;
    }
    CHECK_NEAR(made->brier.value, brier, 1e-13);
    assert_true(fabs(exact - brier) <= made->brier_grid);
    CHECK_NEAR(made->log_loss.value, log_loss, 1e-13);
    CHECK_NEAR(made->prevalence.value, of.positive_count / ROWS, 1e-15);
    for (size_t k = 0; k < made->threshold_count; k++) {
        const tacit_threshold_figures *at = &made->threshold[k];
        double hits = 0, alarms = 0, odds = at->threshold / (1 - at->threshold);
        for (size_t i = 0; i < ROWS; i++) /* by the scores themselves: thresholds lie on edges */
            if (of.score[i] >= at->threshold) (*(of.label[i] ? &hits : &alarms))++;
        double p = of.positive_count, n = ROWS - p;
        CHECK_NEAR(at->sensitivity.value, hits / p, 1e-13);
        CHECK_NEAR(at->sensitivity.error, sqrt(hits / p * (1 - hits / p) / p), 1e-13);
        CHECK_NEAR(at->specificity.value, 1 - alarms / n, 1e-13);
        if (hits + alarms > 0) CHECK_NEAR(at->ppv.value, hits / (hits + alarms), 1e-13);
        CHECK_NEAR(at->npv.value, (n - alarms) / (ROWS - hits - alarms), 1e-13);
        CHECK_NEAR(at->accuracy.value, (hits + n - alarms) / ROWS, 1e-13);
        CHECK_NEAR(at->net_benefit.value, hits / ROWS - alarms / ROWS * odds, 1e-13);
        CHECK_NEAR(at->treat_all.value, p / ROWS - n / ROWS * odds, 1e-13);
    }
    free(made);
}

static void calibration_solves_its_equations_and_groups_hold_all_rows(void **state) {
    (void)state;
    rows of;
    draw(&of, 11);
    tacit_score_grid grid = grid_of(&of);
    tacit_score_wishes wishes = tacit_score_wishes_usual();
    tacit_score_figures *made = figures_of(&grid, &wishes);
    double sums[3] = { 0, 0, 0 }, all = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double x = log(of.gridded[i] / (1 - of.gridded[i]));
        double p = 1 / (1 + exp(-made->intercept.value - made->slope.value * x));
        double large = 1 / (1 + exp(-made->in_the_large.value - x));
        sums[0] += of.label[i] - p;
        sums[1] += (of.label[i] - p) * x;
        sums[2] += of.label[i] - large;
    }
    for (size_t k = 0; k < 3; k++) CHECK_NEAR(sums[k], 0, 1e-8);
    assert_int_equal(made->group_count, 10);
    for (size_t g = 0; g < made->group_count; g++) {
        all += made->group[g].rows;
        assert_true(made->group[g].rows >= 30);
        assert_int_equal(made->group[g].from, g == 0 ? 0 : made->group[g - 1].until);
    }
    CHECK_NEAR(all, ROWS, 0);
    wishes.least = 150;
    tacit_score_figures *few = figures_of(&grid, &wishes);
    assert_true(few->group_count <= 4 && few->group_count >= 3);
    for (size_t g = 0; g < few->group_count; g++) assert_true(few->group[g].rows >= 150);
    assert_true(few->point_count <= 6);
    free(few);
    free(made);
}

static void the_curve_ascends_and_has_the_area_under_it(void **state) {
    (void)state;
    rows of;
    draw(&of, 13);
    tacit_score_grid grid = grid_of(&of);
    tacit_score_wishes wishes = tacit_score_wishes_usual();
    tacit_score_figures *made = figures_of(&grid, &wishes);
    double area = 0;
    assert_int_equal(made->point_count, CELLS + 1);
    for (size_t i = 1; i < made->point_count; i++) {
        const tacit_curve_point *a = &made->point[i - 1], *b = &made->point[i];
        assert_true(b->sensitivity >= a->sensitivity && b->false_positives >= a->false_positives);
        area += (b->false_positives - a->false_positives) * (a->sensitivity + b->sensitivity) / 2;
    }
    CHECK_NEAR(area, made->auc.value, 1e-12);
    free(made);
}

static void what_is_not_defined_is_not_a_number(void **state) {
    (void)state;
    double none[CELLS] = { 0 }, some[CELLS] = { 3, 1 }, broken[CELLS] = { -1 };
    tacit_score_grid grid = { CELLS, none, some, 0 };
    tacit_score_wishes wishes = tacit_score_wishes_usual();
    tacit_score_figures *made = figures_of(&grid, &wishes);
    assert_true(isnan(made->auc.value) && isnan(made->auc.low) && isnan(made->slope.value));
    assert_true(isnan(made->threshold[0].sensitivity.value));
    CHECK_NEAR(made->threshold[0].specificity.value, 1, 0);
    assert_int_equal(made->point_count, 0);
    tacit_score_grid empty = { CELLS, none, none, 0 };
    tacit_score_figures *nothing = figures_of(&empty, &wishes);
    assert_true(isnan(nothing->brier.value) && nothing->group_count == 0);
    grid.positives = broken;
    assert_int_equal(tacit_score_figures_make(made, &grid, &wishes, NULL), TACIT_INPUT);
    grid.positives = (double[CELLS]){ NAN };
    assert_int_equal(tacit_score_figures_make(made, &grid, &wishes, NULL), TACIT_INPUT);
    wishes.thresholds = (const double[]){ 1.5 };
    wishes.threshold_count = 1;
    assert_int_equal(tacit_score_figures_make(made, &empty, &wishes, NULL), TACIT_USAGE);
    free(made);
    free(nothing);
}

/* ---- noise ---- */

enum { FIGURES = 9 };

static void pick(const tacit_score_figures *from, tacit_figure out[FIGURES]) {
    const tacit_figure picked[FIGURES] = { from->auc,
                                           from->brier,
                                           from->log_loss,
                                           from->prevalence,
                                           from->slope,
                                           from->in_the_large,
                                           from->threshold[3].sensitivity,
                                           from->threshold[3].specificity,
                                           from->threshold[3].net_benefit };
    memcpy(out, picked, sizeof picked);
}

/* Shares of draws in which value +- 1.96 `factor` standard errors of the noise hold the figures without it. */
static void coverage(size_t draws, double factor, double out[FIGURES]) {
    enum { MANY = 20 }; /* of each drawn row */
    const double noise = 12;
    rows of;
    double p[CELLS], n[CELLS];
    tacit_figure exact[FIGURES], noisy[FIGURES];
    tacit_stream stream = tacit_stream_from_seed(20261116);
    tacit_score_wishes wishes = tacit_score_wishes_usual();
    draw(&of, 17);
    for (size_t i = 0; i < CELLS; i++) {
        of.positives[i] *= MANY;
        of.negatives[i] *= MANY;
    }
    tacit_score_grid grid = grid_of(&of);
    tacit_score_figures *made = figures_of(&grid, &wishes);
    pick(made, exact);
    free(made);
    memset(out, 0, FIGURES * sizeof *out);
    for (size_t d = 0; d < draws; d++) {
        for (size_t i = 0; i < CELLS; i++) {
            p[i] = of.positives[i] + round(noise * tacit_fast_normal(&stream));
            n[i] = of.negatives[i] + round(noise * tacit_fast_normal(&stream));
        }
        tacit_score_grid with = { CELLS, p, n, noise };
        made = figures_of(&with, &wishes);
        pick(made, noisy);
        free(made);
        for (size_t k = 0; k < FIGURES; k++)
            out[k] += fabs(noisy[k].value - exact[k].value) <= 1.959964 * factor * noisy[k].noise;
    }
    for (size_t k = 0; k < FIGURES; k++) out[k] /= (double)draws;
}

/* The seed is fixed, so this passes always or never. Of 200 draws at 95% the share lies outside 0.88 to 0.995
 * with probability 1e-4 for one figure; half the error would cover 67%, and is noticed. */
static void intervals_of_the_noise_cover_the_figures_without_it(void **state) {
    (void)state;
    double share[FIGURES];
    coverage(200, 1, share);
    for (size_t k = 0; k < FIGURES; k++) {
        print_message("# figure %zu: %.3f\n", k, share[k]);
        assert_true(share[k] >= 0.88 && share[k] <= 0.995);
    }
    coverage(200, 0.5, share);
    for (size_t k = 0; k < FIGURES; k++) assert_true(share[k] < 0.85);
}

static void intervals_cover_in_94_to_96_of_100_draws(void **state) {
    (void)state;
    double share[FIGURES];
    coverage(2000, 1, share);
    for (size_t k = 0; k < FIGURES; k++) {
        print_message("# figure %zu: %.4f\n", k, share[k]);
        assert_true(share[k] >= 0.94 && share[k] <= 0.96);
    }
}

int main(int count, char **words) {
    const struct CMUnitTest all[] = {
        cmocka_unit_test(cells_hold_their_scores_and_the_ends_have_one),
        cmocka_unit_test(the_area_and_its_error_are_those_of_the_rows_in_their_cells),
        cmocka_unit_test(losses_and_thresholds_are_those_of_the_rows),
        cmocka_unit_test(calibration_solves_its_equations_and_groups_hold_all_rows),
        cmocka_unit_test(the_curve_ascends_and_has_the_area_under_it),
        cmocka_unit_test(what_is_not_defined_is_not_a_number),
        cmocka_unit_test(intervals_of_the_noise_cover_the_figures_without_it),
    };
    const struct CMUnitTest slow[] = { cmocka_unit_test(intervals_cover_in_94_to_96_of_100_draws) };
    if (count > 1 && strcmp(words[1], "slow") == 0) return cmocka_run_group_tests(slow, NULL, NULL);
    return cmocka_run_group_tests(all, NULL, NULL);
}
