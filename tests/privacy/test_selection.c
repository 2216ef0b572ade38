/* Selection: the law of what is chosen, the guarantee computed from that law, the grid, the grade, what is
 * refused. */
#include "probabilities.h"

#include <float.h>
#include <string.h>

#include "privacy/mechanism/selection.h"
#include "privacy/mechanism/selection_parts.h"

enum { MOST = 5, DRAWS = 60000 };

/* The law of one choice among the candidates not taken. */

static double exponential_chance(const double *q, const bool *taken, size_t count, size_t i) {
    double sum = 0;
    for (size_t j = 0; j < count; j++) sum += taken[j] ? 0 : q[j];
    return q[i] / sum;
}

/* q_i times the integral of prod (1 - t q_j) over t in (0, 1), by the coefficients of the polynomial. */
static double flip_chance(const double *q, const bool *taken, size_t count, size_t i) {
    double polynomial[MOST + 1] = { 1 }, integral = 0;
    size_t degree = 0;
    for (size_t j = 0; j < count; j++) {
        if (j == i || taken[j]) continue;
        degree++;
        for (size_t d = degree; d > 0; d--) polynomial[d] -= q[j] * polynomial[d - 1];
    }
    for (size_t d = 0; d <= degree; d++) integral += polynomial[d] / (double)(d + 1);
    return q[i] * integral;
}

static double chance_of_one(tacit_selection_rule rule, const double *scores, const bool *taken, size_t count,
                            double scale, size_t i) {
    double most = -INFINITY, q[MOST];
    for (size_t j = 0; j < count; j++)
        if (!taken[j]) most = fmax(most, scores[j]);
    for (size_t j = 0; j < count; j++) q[j] = exp((scores[j] - most) / scale);
    return rule == TACIT_SELECT_EXPONENTIAL ? exponential_chance(q, taken, count, i)
                                            : flip_chance(q, taken, count, i);
}

/* The chances of all ordered choices of n among count, in the order of `number`: 0 for those that repeat. */
static size_t sequences(size_t count, size_t n) {
    size_t total = 1;
    for (size_t i = 0; i < n; i++) total *= count;
    return total;
}

static size_t number_of(const size_t *chosen, size_t count, size_t n) {
    size_t number = 0;
    for (size_t i = 0; i < n; i++) number = number * count + chosen[i];
    return number;
}

static double chance_of(tacit_selection_rule rule, const double *scores, size_t count, double scale, size_t n,
                        size_t number) {
    bool taken[MOST] = { false };
    double chance = 1;
    size_t chosen[MOST];
    for (size_t i = n; i-- > 0; number /= count) chosen[i] = number % count;
    for (size_t i = 0; i < n; i++) {
        if (taken[chosen[i]]) return 0;
        chance *= chance_of_one(rule, scores, taken, count, scale, chosen[i]);
        taken[chosen[i]] = true;
    }
    return chance;
}

/* Drop the impossible sequences (they must not have been seen), and compare. */
static void check_law(const tacit_selection *selection, const double *scores, size_t count,
                      const double *seen) {
    double right[MOST * MOST], wrong[MOST * MOST], kept[MOST * MOST], scale = 0, sum = 0;
    size_t cells = 0, n = selection->choices;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_selection_scale(&scale, selection, &error), error);
    for (size_t s = 0; s < sequences(count, n); s++) {
        right[cells] = chance_of(selection->rule, scores, count, scale, n, s);
        wrong[cells] = chance_of(selection->rule, scores, count, 1.1 * scale, n, s);
        kept[cells] = seen[s];
        sum += right[cells];
        if (right[cells] > 0)
            cells++;
        else
            CHECK_NEAR(seen[s], 0, 0);
    }
    CHECK_NEAR(sum, 1, 1e-12);
    check_chances("selection", kept, right, wrong, cells, DRAWS);
}

static void draw_and_check(const tacit_noise_source *source, const tacit_selection *selection,
                           const double *scores, size_t count) {
    double seen[MOST * MOST] = { 0 };
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t i = 0; i < DRAWS; i++) {
        tacit_selected *selected = NULL;
        CHECK_OK(tacit_selection_release(&selected, source, selection, scores, count, &error), error);
        assert_int_equal(tacit_selected_grade(selected), tacit_noise_source_grade(source));
        assert_int_equal(tacit_selected_count(selected), selection->choices);
        seen[number_of(tacit_selected_indices(selected), count, selection->choices)]++;
        tacit_selected_free(selected);
    }
    check_law(selection, scores, count, seen);
}

static void check_rule(tacit_selection_rule rule) {
    static const double one[4] = { 7.1, 6.5, 6.95, 6.72 }, top[3] = { -1, -2.1, -1.6 };
    const tacit_selection single = { rule, 1, 0.3, false, { TACIT_UNIT_RECORD, 3, 0 } };
    const tacit_selection monotone = { rule, 1, 0.3, true, { TACIT_UNIT_PARTY, 1.5, 0 } };
    const tacit_selection two = { rule, 2, 0.5, false, { TACIT_UNIT_RECORD, 4, 0 } };
    sources from;
    sources_begin(&from, 10 + (uint64_t)rule);
    for (size_t s = 0; s < 2; s++) {
        draw_and_check(&from.each[s], &single, one, 4);
        draw_and_check(&from.each[s], &monotone, one, 4);
        draw_and_check(&from.each[s], &two, top, 3);
    }
    sources_end(&from);
}

static void the_exponential_mechanism_has_its_law(void **state) {
    (void)state;
    check_rule(TACIT_SELECT_EXPONENTIAL);
}

static void permute_and_flip_has_its_law(void **state) {
    (void)state;
    check_rule(TACIT_SELECT_PERMUTE_AND_FLIP);
}

static void noisy_max_has_its_law(void **state) {
    (void)state;
    check_rule(TACIT_SELECT_NOISY_MAX);
}

/* P(u_i + noise_i is the largest), by the midpoint rule over the noise of i: nothing of permute-and-flip is
 * in it. */
static double noisy_max_chance(const double *scores, size_t count, double scale, size_t i) {
    enum { PIECES = 200000 };
    double sum = 0;
    for (size_t p = 0; p < PIECES; p++) {
        double x = 40 * (p + 0.5) / PIECES, product = exp(-x);
        for (size_t j = 0; j < count; j++)
            if (j != i) product *= fmax(0, -expm1(-(x + (scores[i] - scores[j]) / scale)));
        sum += product;
    }
    return sum * 40 / PIECES;
}

static void permute_and_flip_is_noisy_max_with_exponential_noise(void **state) {
    (void)state;
    const double scores[4] = { 1, 0.2, 0.9, -3 };
    const bool none[4] = { false };
    for (size_t i = 0; i < 4; i++)
        CHECK_NEAR(noisy_max_chance(scores, 4, 0.7, i),
                   chance_of_one(TACIT_SELECT_NOISY_MAX, scores, none, 4, 0.7, i), 1e-7);
}

/* The largest |log ratio| of the chance of any outcome between scores and neighbours that move by `moves`. */
static double loss_between(const tacit_selection *selection, const double *scores, const double *moved,
                           size_t count, double scale) {
    double most = 0;
    for (size_t s = 0; s < sequences(count, selection->choices); s++) {
        double p = chance_of(selection->rule, scores, count, scale, selection->choices, s);
        double q = chance_of(selection->rule, moved, count, scale, selection->choices, s);
        if (p > 0) most = fmax(most, fabs(log(p / q)));
    }
    return most;
}

/* Over scores in {-6, ..., 6} Delta and all neighbours that move each score by a whole Delta or not at
 * all. */
static double worst_loss(const tacit_selection *selection, size_t count, double scale) {
    static const double place[] = { -6, -3, -1, 0, 1, 3, 6 };
    double most = 0;
    const size_t ways = selection->monotone ? 2 : 3;
    for (size_t at = 0; at < sequences(7, count - 1); at++)
        for (size_t move = 0; move < sequences(ways, count); move++) {
            double scores[MOST] = { 0 }, moved[MOST];
            size_t a = at, m = move;
            for (size_t j = 1; j < count; j++, a /= 7) scores[j] = selection->sensitivity * place[a % 7];
            for (size_t j = 0; j < count; j++, m /= ways)
                moved[j] = scores[j] + selection->sensitivity * (double)(m % ways) -
                           (selection->monotone ? 0 : selection->sensitivity);
            most = fmax(most, loss_between(selection, scores, moved, count, scale));
        }
    return most;
}

static void neighbours_differ_by_at_most_epsilon(void **state) {
    (void)state;
    const double epsilons[] = { 0.5, 3 };
    for (int rule = TACIT_SELECT_EXPONENTIAL; rule <= TACIT_SELECT_PERMUTE_AND_FLIP; rule++)
        for (int monotone = 0; monotone < 2; monotone++)
            for (size_t e = 0; e < 2; e++)
                for (size_t n = 1; n <= 2; n++) {
                    const tacit_selection selection = { (tacit_selection_rule)rule,
                                                        n,
                                                        0.5,
                                                        monotone == 1,
                                                        { TACIT_UNIT_RECORD, epsilons[e], 0 } };
                    tacit_error error = TACIT_ERROR_INIT;
                    double scale = 0;
                    CHECK_OK(tacit_selection_scale(&scale, &selection, &error), error);
                    for (size_t count = 2; count <= 3; count++)
                        assert_true(worst_loss(&selection, count, scale) <= epsilons[e] * (1 + 1e-9));
                    if (n == 1 && e == 1) { /* not for lack of a bad pair */
                        assert_true(worst_loss(&selection, 3, scale) > 0.95 * epsilons[e]);
                        assert_true(worst_loss(&selection, 3, 0.9 * scale) > epsilons[e]);
                    }
                }
}

static double expected_score(tacit_selection_rule rule, const double *scores, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += scores[i] * chance_of(rule, scores, count, 1, 1, i);
    return sum;
}

static void permute_and_flip_never_does_worse(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(6);
    for (size_t i = 0; i < 5000; i++) {
        double scores[MOST];
        for (size_t j = 0; j < MOST; j++) scores[j] = -5 * tacit_stream_unit(&stream);
        assert_true(expected_score(TACIT_SELECT_PERMUTE_AND_FLIP, scores, MOST) >=
                    expected_score(TACIT_SELECT_EXPONENTIAL, scores, MOST) - 1e-12);
    }
}

static void the_grid_keeps_the_sensitivity_and_the_order(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(77);
    static const double deltas[] = { 1, 0.3, 1e-3, 12345.678, 5e-324, 1e300, 0.5000000000000001 };
    static const double sizes[] = { 0, 1e-9, 1, 1e6, 1e13, 1e300 };
    for (size_t d = 0; d < 7; d++) {
        const tacit_score_grid grid = tacit_score_grid_for(deltas[d]);
        assert_true((double)grid.sensitivity >= ldexp(deltas[d], grid.bits));
        assert_true(grid.sensitivity >= 1 << 20 && grid.sensitivity <= 1 << 21);
        for (size_t i = 0; i < 60000; i++) {
            double a = (2 * tacit_stream_unit(&stream) - 1) * deltas[d] * sizes[i % 6];
            double b = a + (2 * tacit_stream_unit(&stream) - 1) * deltas[d];
            if (i % 7 == 0) b = a + deltas[d];
            if (!isfinite(a) || !isfinite(b) || fabsl((long double)a - b) > deltas[d]) continue;
            int64_t first = tacit_score_steps(a, &grid), second = tacit_score_steps(b, &grid);
            assert_true(llabs(first - second) <= grid.sensitivity);
            assert_true(a <= b ? first <= second : second <= first);
        }
    }
    const tacit_score_grid coarse = tacit_score_grid_for(1e300);
    assert_int_equal(tacit_score_steps(-DBL_TRUE_MIN, &coarse), -1); /* not lost in underflow */
    assert_int_equal(tacit_score_steps(0, &coarse), 0);
    assert_int_equal(tacit_score_grid_for(1).sensitivity, 1 << 20); /* nothing is added to a power of two */
}

static void far_away_scores_are_chosen_last(void **state) {
    (void)state;
    const double scores[4] = { -DBL_MAX, DBL_MAX, 0, -1e20 };
    const tacit_selection all = { TACIT_SELECT_PERMUTE_AND_FLIP, 3, 1, false, { TACIT_UNIT_RECORD, 30, 0 } };
    sources from;
    sources_begin(&from, 3);
    for (size_t s = 0; s < 2; s++)
        for (int rule = TACIT_SELECT_EXPONENTIAL; rule <= TACIT_SELECT_NOISY_MAX; rule++) {
            tacit_error error = TACIT_ERROR_INIT;
            tacit_selected *selected = NULL;
            tacit_selection selection = all;
            selection.rule = (tacit_selection_rule)rule;
            CHECK_OK(tacit_selection_release(&selected, &from.each[s], &selection, scores, 4, &error), error);
            assert_int_equal(tacit_selected_indices(selected)[0], 1);
            assert_int_equal(tacit_selected_indices(selected)[1], 2);
            tacit_selected_free(selected);
        }
    sources_end(&from);
}

static void no_noise_is_only_for_simulations(void **state) {
    (void)state;
    const double scores[3] = { 1, 1.0001, 0 };
    const tacit_selection open = {
        TACIT_SELECT_EXPONENTIAL, 3, 1, false, { TACIT_UNIT_RECORD, INFINITY, 0 }
    };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_selected *selected = NULL;
    sources from;
    sources_begin(&from, 4);
    assert_int_equal(tacit_selection_release(&selected, &from.each[1], &open, scores, 3, NULL), TACIT_USAGE);
    assert_null(selected);
    CHECK_OK(tacit_selection_release(&selected, &from.each[0], &open, scores, 3, &error), error);
    assert_int_equal(tacit_selected_grade(selected), TACIT_NOISE_NONE);
    assert_int_equal(tacit_selected_indices(selected)[0], 1);
    assert_int_equal(tacit_selected_indices(selected)[2], 2);
    tacit_selected_free(selected);
    sources_end(&from);
}

static void refuses(const sources *from, const tacit_selection *bad, const double *scores, size_t count) {
    for (size_t s = 0; s < 2; s++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_selected *selected = NULL;
        tacit_status status = tacit_selection_release(&selected, &from->each[s], bad, scores, count, &error);
        assert_true(status == TACIT_USAGE || status == TACIT_INPUT);
        assert_true(strlen(error.text) > 0);
        assert_null(selected);
    }
}

static void nonsense_is_refused(void **state) {
    (void)state;
    const tacit_selection good = { TACIT_SELECT_PERMUTE_AND_FLIP, 1, 1, false, { TACIT_UNIT_RECORD, 1, 0 } };
    const double wrong[] = { 0, -1, NAN, -INFINITY }, scores[2] = { 0, 1 };
    tacit_selection bad;
    sources from;
    sources_begin(&from, 5);
    for (size_t i = 0; i < 4; i++) {
        bad = good, bad.price.epsilon = wrong[i], refuses(&from, &bad, scores, 2);
        bad = good, bad.sensitivity = wrong[i], refuses(&from, &bad, scores, 2);
        if (i > 1) refuses(&from, &good, (double[]){ 0, wrong[i] }, 2);
    }
    bad = good, bad.sensitivity = INFINITY, refuses(&from, &bad, scores, 2);
    bad = good, bad.price.delta = 1, refuses(&from, &bad, scores, 2);
    bad = good, bad.price.delta = NAN, refuses(&from, &bad, scores, 2);
    bad = good, bad.choices = 0, refuses(&from, &bad, scores, 2);
    bad = good, bad.choices = 3, refuses(&from, &bad, scores, 2);
    bad = good, bad.rule = (tacit_selection_rule)9, refuses(&from, &bad, scores, 2);
    bad = good, bad.price.epsilon = DBL_TRUE_MIN, refuses(&from, &bad, scores, 2);
    refuses(&from, &good, scores, 0);
    tacit_selected *selected = NULL;
    const tacit_noise_source none = { .entropy = NULL }, both = { from.entropy, &from.stream };
    assert_int_equal(tacit_selection_release(&selected, &none, &good, scores, 2, NULL), TACIT_USAGE);
    assert_int_equal(tacit_selection_release(&selected, &both, &good, scores, 2, NULL), TACIT_USAGE);
    assert_null(selected);
    assert_null(tacit_selected_free(NULL));
    sources_end(&from);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_exponential_mechanism_has_its_law),
        cmocka_unit_test(permute_and_flip_has_its_law),
        cmocka_unit_test(noisy_max_has_its_law),
        cmocka_unit_test(permute_and_flip_is_noisy_max_with_exponential_noise),
        cmocka_unit_test(neighbours_differ_by_at_most_epsilon),
        cmocka_unit_test(permute_and_flip_never_does_worse),
        cmocka_unit_test(the_grid_keeps_the_sensitivity_and_the_order),
        cmocka_unit_test(far_away_scores_are_chosen_last),
        cmocka_unit_test(no_noise_is_only_for_simulations),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
