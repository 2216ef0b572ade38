#include <stdlib.h>

#include "check.h"

#include <stdbool.h>
#include <string.h>

#include "data/measure/metrics.h"
#include "rand/fast.h"
#include "rand/stream.h"

static double pairs_won(const int32_t *label, const double *score, size_t count) {
    double won = 0, pairs = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            if (label[i] != 1 || label[j] == 1) continue;
            pairs++;
            won += score[i] > score[j] ? 1 : score[i] == score[j] ? 0.5 : 0;
        }
    return won / pairs;
}

static void auc_counts_won_pairs_with_ties_as_half(void **state) {
    (void)state;
    const uint64_t seed = 2718;
    print_message("# seed %llu\n", (unsigned long long)seed);
    tacit_stream stream = tacit_stream_from_seed(seed);
    for (int trial = 0; trial < 500; trial++) {
        int32_t label[60];
        double score[60], area = 0;
        bool defined = false;
        size_t count = 2 + tacit_stream_below(&stream, 58);
        uint64_t different = 1 + tacit_stream_below(&stream, 20);
        for (size_t i = 0; i < count; i++) {
            label[i] = i < 2 ? (int32_t)i : (int32_t)tacit_stream_below(&stream, 2);
            score[i] = (double)tacit_stream_below(&stream, different) - 5;
        }
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(tacit_auc(&area, &defined, label, score, count, &error), error);
        assert_true(defined);
        CHECK_NEAR(area, pairs_won(label, score, count), 1e-14);
    }
}

static void auc_knows_its_limits(void **state) {
    (void)state;
    int32_t label[] = { 0, 0, 1, 1 }, ones[] = { 1, 1, 1, 1 };
    double score[] = { -INFINITY, 0, 1, INFINITY }, broken[] = { 0, NAN, 1, 2 }, area = 0;
    bool defined = true;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_auc(&area, NULL, label, score, 4, &error), error);
    assert_true(area == 1);
    CHECK_OK(tacit_auc(&area, &defined, ones, score, 4, &error), error);
    assert_true(isnan(area) && !defined);
    assert_int_equal(tacit_auc(&area, NULL, label, broken, 4, &error), TACIT_INPUT);
    assert_string_equal(error.text, "score 2 is not a number");
    assert_int_equal(tacit_auc(&area, NULL, label, score, 0, NULL), TACIT_INPUT);
}

/* The structural components by their definition, over all pairs. */
static double error_by_pairs(const int32_t *label, const double *score, size_t count) {
    double area = pairs_won(label, score, count), variance = 0;
    for (int32_t class = 0; class < 2; class ++) {
        double square = 0, rows = 0;
        for (size_t i = 0; i < count; i++) {
            double won = 0, pairs = 0;
            if (label[i] != class) continue;
            for (size_t j = 0; j < count; j++) {
                if (label[j] == class) continue;
                double over = class == 1 ? score[i] - score[j] : score[j] - score[i];
                won += over > 0 ? 1 : over == 0 ? 0.5 : 0;
                pairs++;
            }
            square += (won / pairs - area) * (won / pairs - area);
            rows++;
        }
        variance += square / (rows - 1) / rows;
    }
    return sqrt(variance);
}

static void the_interval_of_auc_is_delongs(void **state) {
    (void)state;
    const uint64_t seed = 3141;
    print_message("# seed %llu\n", (unsigned long long)seed);
    tacit_stream stream = tacit_stream_from_seed(seed);
    for (int trial = 0; trial < 200; trial++) {
        int32_t label[60];
        double score[60];
        size_t count = 4 + tacit_stream_below(&stream, 56);
        uint64_t different = 1 + tacit_stream_below(&stream, 20);
        tacit_auc_estimate estimate;
        tacit_error error = TACIT_ERROR_INIT;
        for (size_t i = 0; i < count; i++) {
            label[i] = i < 4 ? (int32_t)(i % 2) : (int32_t)tacit_stream_below(&stream, 2);
            score[i] = (double)tacit_stream_below(&stream, different);
        }
        CHECK_OK(tacit_auc_interval(&estimate, label, score, count, 0.95, &error), error);
        CHECK_NEAR(estimate.area, pairs_won(label, score, count), 1e-14);
        CHECK_NEAR(estimate.error, error_by_pairs(label, score, count), 1e-13);
        CHECK_NEAR(estimate.low, fmax(0, estimate.area - 1.959963984540054 * estimate.error), 1e-9);
        CHECK_NEAR(estimate.high, fmin(1, estimate.area + 1.959963984540054 * estimate.error), 1e-9);
    }
}

/* Normal scores one apart: the area is Phi(1/sqrt(2)). With 400 samples the number of intervals that hold it
 * is binomial; a nominal coverage of 95% leaves [340, 399] with probability below 1e-9, and intervals half as
 * wide (67%) fall below. */
static void the_interval_of_auc_covers_the_area(void **state) {
    (void)state;
    enum { SAMPLES = 400, ROWS = 120 };
    const double truth = 0.76024993890652327;
    tacit_stream stream = tacit_stream_from_seed(99);
    int covered = 0, covered_by_half = 0;
    for (int s = 0; s < SAMPLES; s++) {
        int32_t label[ROWS];
        double score[ROWS];
        tacit_auc_estimate estimate;
        for (int i = 0; i < ROWS; i++) {
            label[i] = i % 2;
            score[i] = tacit_fast_normal(&stream) + label[i];
        }
        assert_int_equal(tacit_auc_interval(&estimate, label, score, ROWS, 0.95, NULL), TACIT_OK);
        covered += estimate.low <= truth && truth <= estimate.high;
        covered_by_half += fabs(truth - estimate.area) <= (estimate.high - estimate.area) / 2;
    }
    print_message("# %d of %d intervals hold the area, %d at half their width\n", covered, SAMPLES,
                  covered_by_half);
    assert_true(covered >= 340 && covered <= 399);
    assert_true(covered_by_half < 340);
}

static void the_interval_of_auc_knows_its_limits(void **state) {
    (void)state;
    int32_t label[] = { 0, 0, 1, 1 }, single[] = { 0, 0, 0, 1 }, ones[] = { 1, 1, 1, 1 };
    double score[] = { 1, 2, 3, 4 };
    tacit_auc_estimate estimate;
    assert_int_equal(tacit_auc_interval(&estimate, label, score, 4, 0.9, NULL), TACIT_OK);
    assert_true(estimate.area == 1 && estimate.error == 0 && estimate.low == 1 && estimate.high == 1);
    assert_int_equal(tacit_auc_interval(&estimate, single, score, 4, 0.9, NULL), TACIT_OK);
    assert_true(estimate.area == 1 && isnan(estimate.error) && isnan(estimate.low));
    assert_int_equal(tacit_auc_interval(&estimate, ones, score, 4, 0.9, NULL), TACIT_OK);
    assert_true(isnan(estimate.area) && isnan(estimate.high));
    assert_int_equal(tacit_auc_interval(&estimate, label, score, 4, 1, NULL), TACIT_USAGE);
    assert_int_equal(tacit_auc_interval(&estimate, label, score, 0, 0.9, NULL), TACIT_INPUT);
}

static void accuracy_is_the_share_of_hits(void **state) {
    (void)state;
    int32_t label[] = { 0, 1, 2, 1 }, predicted[] = { 0, 1, 1, 1 };
    double share = 0;
    assert_int_equal(tacit_accuracy(&share, label, predicted, 4, NULL), TACIT_OK);
    assert_true(share == 0.75);
    assert_int_equal(tacit_accuracy(&share, label, predicted, 0, NULL), TACIT_INPUT);
}

static void log_loss_is_stable_and_the_two_forms_agree(void **state) {
    (void)state;
    int32_t label[] = { 1, 0, 1, 0 };
    double margin[] = { 1000, -1000, 0, 2 }, loss = 0, both = 0, score[8];
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t i = 0; i < 4; i++) score[2 * i] = 700, score[2 * i + 1] = 700 + margin[i];
    CHECK_OK(tacit_log_loss(&loss, label, margin, 4, &error), error);
    CHECK_OK(tacit_log_loss_multiclass(&both, label, score, 4, 2, &error), error);
    CHECK_NEAR(loss, (log(2) + log1p(exp(2))) / 4, 1e-15);
    CHECK_NEAR(both, loss, 1e-12);
    margin[0] = -1000;
    CHECK_OK(tacit_log_loss(&loss, label, margin, 4, &error), error);
    CHECK_NEAR(loss, (1000 + log(2) + log1p(exp(2))) / 4, 1e-12);
    margin[1] = NAN;
    assert_int_equal(tacit_log_loss(&loss, label, margin, 4, &error), TACIT_INPUT);
    label[0] = 2;
    assert_int_equal(tacit_log_loss_multiclass(&both, label, score, 4, 2, NULL), TACIT_INPUT);
    assert_int_equal(tacit_log_loss_multiclass(&both, label, score, 0, 2, NULL), TACIT_INPUT);
    score[0] = NAN;
    label[0] = 1;
    assert_int_equal(tacit_log_loss_multiclass(&both, label, score, 4, 2, NULL), TACIT_INPUT);
}

/* The curve's area by the trapezoidal rule is the AUC, ties included; thinned, it still runs from corner to
 * corner. */
static void the_curve_has_the_area(void **state) {
    (void)state;
    enum { ROWS = 500 };
    int32_t label[ROWS];
    double score[ROWS], area = 0, auc;
    tacit_roc_point *points = NULL;
    size_t count;
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t i = 0; i < ROWS; i++) {
        label[i] = (i * 7 + i / 3) % 5 < 2;
        score[i] = (double)((i * 37) % 101) + 20 * label[i]; /* many ties */
    }
    CHECK_OK(tacit_auc(&auc, NULL, label, score, ROWS, &error), error);
    CHECK_OK(tacit_roc(&points, &count, label, score, ROWS, ROWS, &error), error);
    for (size_t i = 1; i < count; i++)
        area += (points[i].negatives - points[i - 1].negatives) *
                (points[i].positives + points[i - 1].positives) / 2;
    CHECK_NEAR(area, auc, 1e-12);
    free(points);
    CHECK_OK(tacit_roc(&points, &count, label, score, ROWS, 10, &error), error);
    assert_true(count <= 12 && count > 5);
    assert_true(points[0].negatives == 0 && points[0].positives == 0);
    assert_true(points[count - 1].negatives == 1 && points[count - 1].positives == 1);
    free(points);
    for (size_t i = 0; i < ROWS; i++) label[i] = 1;
    CHECK_OK(tacit_roc(&points, &count, label, score, ROWS, 10, &error), error);
    assert_true(points == NULL && count == 0);
    score[3] = NAN;
    assert_int_equal(tacit_roc(&points, &count, label, score, ROWS, 10, &error), TACIT_INPUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_curve_has_the_area),
        cmocka_unit_test(auc_counts_won_pairs_with_ties_as_half),
        cmocka_unit_test(auc_knows_its_limits),
        cmocka_unit_test(the_interval_of_auc_is_delongs),
        cmocka_unit_test(the_interval_of_auc_covers_the_area),
        cmocka_unit_test(the_interval_of_auc_knows_its_limits),
        cmocka_unit_test(accuracy_is_the_share_of_hits),
        cmocka_unit_test(log_loss_is_stable_and_the_two_forms_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
