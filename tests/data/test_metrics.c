#include "check.h"

#include <stdbool.h>
#include <string.h>

#include "data/metrics.h"
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auc_counts_won_pairs_with_ties_as_half),
        cmocka_unit_test(auc_knows_its_limits),
        cmocka_unit_test(accuracy_is_the_share_of_hits),
        cmocka_unit_test(log_loss_is_stable_and_the_two_forms_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
