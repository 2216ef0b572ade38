/* Noise intervals of quantiles cover as often as they say, and ascend. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "method/tables/describe_tables.h"
#include "rand/fast.h"

enum { DECILES = 9 };

/* Rows over [0, 1]: spread evenly; skewed; one of twelve values, as answers of a questionnaire have; one of three; most of a range empty, as incomes have. */
typedef enum shape { EVEN, SKEWED, FEW_VALUES, THREE_VALUES, LONG_TAIL } shape;

static double row_of(shape of, tacit_stream *stream) {
    double u = tacit_stream_unit(stream);
    switch (of) {
    case EVEN: return u;
    case SKEWED: return u * u;
    case FEW_VALUES: return floor(12 * u * u) / 12 + 0.01;
    case THREE_VALUES: return u < 0.3 ? 0.1 : u < 0.65 ? 0.43 : 0.9;
    default: return fmin(1, -0.08 * log(u));
    }
}

typedef struct release {
    double rows, noise; /* of one level alone */
    shape shape;
    size_t draws;
    double larger; /* what the noise really is, in multiples of what is stated */
} release;

/* How often the interval of each decile covers what an exact report says. */
static void count_covered(const release *from, uint64_t seed, double covered[DECILES]) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(seed);
    tacit_count_tree tree = tacit_count_tree_choose(pow(from->noise / from->rows, 2));
    size_t size = tacit_count_tree_size(tree);
    double *counts = calloc(size, sizeof *counts), *noisy = calloc(size, sizeof *noisy), p[DECILES];
    double noise = from->noise * sqrt((double)tree.depth), place[DECILES];
    tacit_count_fit truth;
    assert_true(counts != NULL && noisy != NULL);
    for (size_t i = 0; i < (size_t)from->rows; i++)
        tacit_count_tree_add(tree, counts, i % 20 == 0 ? NAN : row_of(from->shape, &stream), 1);
    CHECK_OK(tacit_count_fit_exact(&truth, tree, counts, from->rows, NULL, &error), error);
    for (size_t k = 0; k < DECILES; k++) {
        p[k] = 0.1 * (double)(k + 1);
        place[k] = tacit_count_fit_quantile(&truth, p[k], 0).value;
        covered[k] = 0;
    }
    for (size_t d = 0; d < from->draws; d++) {
        tacit_count_fit fit;
        tacit_tree_quantile found[DECILES];
        for (size_t j = 0; j < size; j++)
            noisy[j] = counts[j] + noise * from->larger * tacit_fast_normal(&stream);
        CHECK_OK(tacit_count_fit_make(&fit, tree, noisy, noise * noise, from->rows, 0, &error), error);
        CHECK_OK(describe_quantile_intervals(&fit, p, DECILES, found, &error), error);
        for (size_t k = 0; k < DECILES; k++)
            covered[k] += (found[k].low <= place[k] && place[k] <= found[k].high) / (double)from->draws;
        for (size_t k = 1; k < DECILES; k++) /* they ascend */
            assert_true(found[k].low >= found[k - 1].low && found[k].high >= found[k - 1].high);
        tacit_count_fit_clear(&fit);
    }
    print_message("# %.0f rows, noise %.0f, shape %d, %zu^%zu cells:", from->rows, from->noise, from->shape,
                  tree.branch, tree.depth);
    for (size_t k = 0; k < DECILES; k++) print_message(" %.2f", 100 * covered[k]);
    print_message("\n");
    tacit_count_fit_clear(&truth);
    free(counts);
    free(noisy);
}

/*
 * Each decile's interval is to cover in 94 to 96% of all releases, on the tree that is chosen for the noise, whatever the rows are. It is measured in
 * DRAWS seeded releases, so that the outcome is always the same. A figure fails if it is outside 94 to 96% by more than two standard deviations
 * of the measurement, 93.1 to 96.7%: with other seeds one whose coverage is 94 or 96% would fail in 2.3% of the cases, one of 95% in less than one of 10^5.
 * The nine of a set together must be within 94 to 96% as they are.
 */
static void quantile_intervals_cover(void **state) {
    enum { DRAWS = 3000 };
    static const release sets[] = { { 600, 20, EVEN, DRAWS, 1 },
                                    { 4000, 47, SKEWED, DRAWS, 1 },
                                    { 4000, 47, FEW_VALUES, DRAWS, 1 },
                                    { 4000, 47, THREE_VALUES, DRAWS, 1 },
                                    { 4000, 47, LONG_TAIL, DRAWS, 1 } };
    (void)state;
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        double covered[DECILES], all = 0;
        count_covered(&sets[s], 31 + s, covered);
        for (size_t k = 0; k < DECILES; k++) {
            assert_true(covered[k] >= 0.94 - 2 * sqrt(0.94 * 0.06 / DRAWS));
            assert_true(covered[k] <= 0.96 + 2 * sqrt(0.96 * 0.04 / DRAWS));
            all += covered[k] / DECILES;
        }
        assert_true(all >= 0.94 && all <= 0.96);
    }
}

/* The control: with noise a fifth larger than is stated, less than 92.5% are covered. */
static void larger_noise_is_noticed(void **state) {
    double covered[DECILES], all = 0;
    (void)state;
    count_covered(&(release){ 600, 20, EVEN, 300, 1.2 }, 33, covered);
    for (size_t k = 0; k < DECILES; k++) all += covered[k] / DECILES;
    assert_true(all < 0.925);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(quantile_intervals_cover),
                                        cmocka_unit_test(larger_noise_is_noticed) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
