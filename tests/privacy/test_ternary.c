/* Ternary steps: the printed accounting, the sound one against the exact law of tiny steps, the law itself,
 * what is refused. */
#include "probabilities.h"

#include <stdlib.h>
#include <string.h>

#include "failing.h"
#include "privacy/mechanism/ternary_step.h"

/* ---- the paper's table ---- */

/* Printed numbers are rounded here and cut there: within one unit of the last digit. One is a misprint: 2 x
 * 14312 x 0.5 is 14312.0, and the .4 is that of the row above. */
static bool is_as_printed(double ours, const char *printed) {
    const char *point = strchr(printed, '.');
    return fabs(ours - strtod(printed, NULL)) < pow(10, -(double)strlen(point + 1));
}

static void the_printed_accounting_is_that_of_table_31(void **state) {
    (void)state;
    for (size_t i = 0; i < TACIT_TERNARY_TABLE_ROWS; i++) {
        const tacit_ternary_row *row = &tacit_ternary_table[i];
        tacit_ternary_claim claim = tacit_ternary_printed(&row->step, TACIT_TERNARY_TABLE_DELTA);
        assert_true(is_as_printed(claim.advanced, row->advanced));
        if (strcmp(row->basic, "14312.4") == 0)
            assert_true(fabs(claim.basic - 14312) < 1e-6);
        else
            assert_true(is_as_printed(claim.basic, row->basic));
    }
}

static void the_sound_cost_at_the_printed_settings_is_425(void **state) {
    (void)state;
    const tacit_ternary step = tacit_ternary_table[0].step;
    double e = 3 * 1431 * 0.1;
    assert_true(fabs(tacit_ternary_cost(&step, TACIT_ADD_OR_REMOVE) - (e + log(0.01))) < 1e-9);
    assert_true(fabs(tacit_ternary_cost(&step, TACIT_REPLACE) - (e + log(0.01) - log(0.99))) < 1e-9);
    tacit_ternary all = tacit_ternary_table[3].step; /* no choice, no sample: signs alone */
    assert_true(fabs(tacit_ternary_cost(&all, TACIT_ADD_OR_REMOVE) - 1431.2) < 1e-9);
    assert_true(fabs(tacit_ternary_cost(&all, TACIT_REPLACE) - 2862.4) < 1e-9);
}

/* ---- the exact law of a step ---- */

enum { D = 6, SETS = 1 << D };

static double at_least(double t) { return t > 0 ? exp(-t) / 2 : 1 - exp(t) / 2; } /* Pr[Lap(1) >= t] */

/* Pr[the chosen set is `set`]: all inside pass the largest outside. Midpoints of the law of that largest, in
 * its own probability for the factor that is differentiated: sum over outside j of density_j(t) prod over
 * other k of cdf_k(t). */
static double chance_of_set(const double *x, size_t d, double epsilon, unsigned set) {
    const double step = 0.01, far = 40;
    double sum = 0, most = 0;
    bool anybody = false;
    for (size_t j = 0; j < d; j++) {
        most = fmax(most, epsilon * fabs(x[j]));
        anybody = anybody || !(set >> j & 1);
    }
    if (!anybody) return 1;
    for (double t = -far + step / 2; t < most + far; t += step) {
        double inside = 1, largest_here;
        double before = 1, after = 1; /* all outside are below t - step/2, below t + step/2 */
        for (size_t j = 0; j < d; j++) {
            double a = epsilon * fabs(x[j]);
            if (set >> j & 1)
                inside *= at_least(t - a);
            else {
                before *= 1 - at_least(t - step / 2 - a);
                after *= 1 - at_least(t + step / 2 - a);
            }
        }
        largest_here = after - before;
        sum += inside * largest_here;
    }
    return sum;
}

static double chance_of_signs(const double *x, size_t d, double epsilon, unsigned set, unsigned plus) {
    double chance = 1;
    for (size_t j = 0; j < d; j++)
        if (set >> j & 1) chance *= at_least((plus >> j & 1 ? -1 : 1) * epsilon * x[j]);
    return chance;
}

/* The largest logarithm of a ratio over all outcomes, of one row coming (or going) at sampling q. */
static double exact_cost(const double *without, const double *with, const tacit_ternary *step) {
    double worst = 0;
    size_t d = step->size;
    for (unsigned set = 0; set < 1u << d; set++) {
        if ((size_t)__builtin_popcount(set) != step->kept) continue;
        double set_with = chance_of_set(with, d, step->epsilon, set),
               set_without = chance_of_set(without, d, step->epsilon, set);
        for (unsigned plus = set;; plus = (plus - 1) & set) {
            double p = set_with * chance_of_signs(with, d, step->epsilon, set, plus),
                   q = set_without * chance_of_signs(without, d, step->epsilon, set, plus);
            worst = fmax(worst, fabs(log(((1 - step->sampling) * q + step->sampling * p) / q)));
            if (plus == 0) break;
        }
    }
    return worst;
}

static void no_outcome_of_a_tiny_step_costs_more(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(4);
    for (int i = 0; i < 120; i++) {
        size_t d = 1 + (size_t)tacit_stream_below(&stream, 4);
        tacit_ternary step = { d, 1 + (size_t)tacit_stream_below(&stream, d),
                               0.2 + 1.5 * tacit_stream_unit(&stream), i % 3 == 0 ? 1 : 0.2 };
        double x[D] = { 0 }, moved[D];
        for (size_t j = 0; j < d; j++) {
            x[j] = floor(5 * tacit_stream_unit(&stream)) - 2;
            moved[j] = x[j] + floor(3 * tacit_stream_unit(&stream)) - 1;
        }
        double cost = tacit_ternary_cost(&step, TACIT_ADD_OR_REMOVE);
        if (!(exact_cost(x, moved, &step) < cost * (1 + 1e-4)))
            fail_msg("case %d: %g above %g", i, exact_cost(x, moved, &step), cost);
    }
}

/* Two numbers rise from 0 and the others fall from far above: almost 2 epsilon + ln(2 - e^-epsilon) each.
 * With one sample for all, the printed price is passed many times over. */
static void the_cost_is_nearly_attained_and_the_printed_one_is_passed(void **state) {
    (void)state;
    const double x[D] = { 0, 0, 60, 60, 60, 60 }, moved[D] = { 1, 1, 59, 59, 59, 59 };
    tacit_ternary step = { D, 2, 0.25, 1 };
    double worst = exact_cost(x, moved, &step), attained = 2 * (2 * 0.25 + log(2 - exp(-0.25)));
    assert_true(worst > 0.99 * attained && worst > 0.9 * tacit_ternary_cost(&step, TACIT_ADD_OR_REMOVE));
    step = (tacit_ternary){ D, 2, 2, 0.05 };
    worst = exact_cost(x, moved, &step);
    assert_true(worst < tacit_ternary_cost(&step, TACIT_ADD_OR_REMOVE));
    assert_true(worst > 5 * tacit_ternary_printed(&step, 1e-9).basic);
}

/* ---- the step follows that law, from either source ---- */

enum { DRAWS = 40000, CELLS = 12 };

static size_t cell_of(const int8_t *signs) {
    size_t set = signs[0] == 0 ? 0 : signs[1] == 0 ? 1 : 2, cell = 0;
    for (size_t j = 0; j < 3; j++)
        if (signs[j] != 0) cell = 2 * cell + (signs[j] > 0);
    return 4 * set + cell;
}

static void chances(double *out, const double *x, double epsilon) {
    static const unsigned sets[3] = { 6, 5, 3 }; /* without the first, second, third */
    for (size_t cell = 0; cell < CELLS; cell++) {
        unsigned set = sets[cell / 4], plus = 0;
        size_t bits = cell % 4, low = (size_t)__builtin_ctz(set), high = 31 - (size_t)__builtin_clz(set);
        plus = (unsigned)((bits >> 1 & 1) << low | (bits & 1) << high);
        out[cell] = chance_of_set(x, 3, epsilon, set) * chance_of_signs(x, 3, epsilon, set, plus);
    }
}

static void steps_come_with_their_chances(void **state) {
    (void)state;
    const double x[3] = { 0.25, -0.5, 0 };
    const tacit_ternary step = { 3, 2, 1.5, 1 };
    tacit_error error = TACIT_ERROR_INIT;
    sources from;
    double right[CELLS], wrong[CELLS];
    chances(right, x, step.epsilon);
    chances(wrong, x, 1.25 * step.epsilon);
    sources_begin(&from, 11);
    for (size_t s = 0; s < 2; s++) {
        double seen[CELLS] = { 0 };
        for (size_t i = 0; i < DRAWS; i++) {
            int8_t signs[3];
            tacit_noise grade;
            CHECK_OK(tacit_ternary_release(signs, &grade, &from.each[s], &step, x, &error), error);
            assert_int_equal(grade, s == 0 ? TACIT_NOISE_SIMULATED : TACIT_NOISE_EXACT);
            seen[cell_of(signs)]++;
        }
        check_chances(s == 0 ? "simulated" : "exact", seen, right, wrong, CELLS, DRAWS);
    }
    sources_end(&from);
}

static void without_noise_the_largest_are_kept_and_ties_go_to_the_first(void **state) {
    (void)state;
    const double x[6] = { 1, -3, 2, -2, 0.5, 2 };
    const int8_t expected[6] = { 0, -1, 1, -1, 0, 0 };
    tacit_stream stream = tacit_stream_from_seed(1);
    const tacit_noise_source source = { .stream = &stream };
    const tacit_ternary step = { 6, 3, INFINITY, 1 };
    int8_t signs[6];
    tacit_noise grade;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_ternary_release(signs, &grade, &source, &step, x, &error), error);
    assert_memory_equal(signs, expected, sizeof expected);
    assert_int_equal(grade, TACIT_NOISE_NONE);
    assert_true(isinf(tacit_ternary_cost(&step, TACIT_REPLACE)));
}

/* Against sorting, with many ties. */
static int downwards(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static void as_many_are_kept_as_asked_for(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(2);
    const tacit_noise_source source = { .stream = &stream };
    for (int i = 0; i < 300; i++) {
        double x[200], sorted[200];
        int8_t signs[200];
        size_t d = 1 + (size_t)tacit_stream_below(&stream, 200), kept = 0;
        tacit_ternary step = { d, 1 + (size_t)tacit_stream_below(&stream, d), INFINITY, 1 };
        tacit_noise grade;
        for (size_t j = 0; j < d; j++) {
            x[j] = floor(9 * tacit_stream_unit(&stream)) - 4;
            sorted[j] = fabs(x[j]);
        }
        assert_int_equal(tacit_ternary_release(signs, &grade, &source, &step, x, NULL), TACIT_OK);
        qsort(sorted, d, sizeof *sorted, downwards);
        for (size_t j = 0; j < d; j++) {
            kept += signs[j] != 0;
            if (fabs(x[j]) > sorted[step.kept - 1]) assert_int_not_equal(signs[j], 0);
            if (fabs(x[j]) < sorted[step.kept - 1]) assert_int_equal(signs[j], 0);
        }
        assert_int_equal(kept, step.kept);
    }
}

/* ---- composition ---- */

static void a_calibrated_step_keeps_within_its_price(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    for (int i = 0; i < 2; i++) {
        tacit_ternary step = { 2591, 26, 0, 0.05 };
        tacit_price spent;
        CHECK_OK(tacit_ternary_calibrate(&step.epsilon, &step, 100, 3, i == 0 ? 0 : 1e-6, &error), error);
        CHECK_OK(tacit_ternary_compose(&spent, &step, 100, i == 0 ? 0 : 1e-6, &error), error);
        assert_true(spent.epsilon <= 3 && spent.epsilon > 2.99);
        assert_int_equal(tacit_ternary_event(&step, 100).count, 100);
    }
    tacit_ternary step = { 2591, 260, 0, 0.05 };
    double pure, with_delta;
    CHECK_OK(tacit_ternary_calibrate(&pure, &step, 1000, 1, 0, &error), error);
    CHECK_OK(tacit_ternary_calibrate(&with_delta, &step, 1000, 1, 1e-6, &error), error);
    assert_true(with_delta > 2 * pure); /* the square root of the steps */
}

static void impossible_steps_are_refused(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(1);
    const tacit_noise_source source = { .stream = &stream };
    const double x[2] = { 1, 0 }, off_grid[2] = { 0.3, 0 }, huge[2] = { 0x1p31, 0 };
    int8_t signs[2] = { 7, 7 };
    tacit_noise grade;
    double epsilon;
    tacit_ternary step = { 2, 0, 1, 1 };
    assert_int_equal(tacit_ternary_release(signs, &grade, &source, &step, x, NULL), TACIT_USAGE);
    step.kept = 3;
    assert_int_equal(tacit_ternary_release(signs, &grade, &source, &step, x, NULL), TACIT_USAGE);
    step.kept = 1;
    assert_int_equal(tacit_ternary_release(signs, &grade, &source, &step, off_grid, NULL), TACIT_INPUT);
    assert_int_equal(tacit_ternary_release(signs, &grade, &source, &step, huge, NULL), TACIT_INPUT);
    step.epsilon = 0;
    assert_int_equal(tacit_ternary_release(signs, &grade, &source, &step, x, NULL), TACIT_USAGE);
    assert_int_equal(signs[0], 7); /* untouched */
    tacit_ternary wide = { 1000000, 500000, 0, 1 };
    assert_int_equal(tacit_ternary_calibrate(&epsilon, &wide, 1000, 0.01, 0, NULL), TACIT_USAGE);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    const double x[3] = { 1, 0, -1 };
    const tacit_ternary step = { 3, 2, 1, 1 };
    sources from;
    sources_begin(&from, 3);
    for (size_t s = 0; s < 2; s++) {
        bool failed = true;
        for (long at = 1; failed; at++) {
            int8_t signs[3];
            tacit_noise grade;
            fail_allocation(at);
            tacit_status status = tacit_ternary_release(signs, &grade, &from.each[s], &step, x, NULL);
            failed = allocation_failed();
            assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
        }
    }
    sources_end(&from);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_printed_accounting_is_that_of_table_31),
        cmocka_unit_test(the_sound_cost_at_the_printed_settings_is_425),
        cmocka_unit_test(no_outcome_of_a_tiny_step_costs_more),
        cmocka_unit_test(the_cost_is_nearly_attained_and_the_printed_one_is_passed),
        cmocka_unit_test(steps_come_with_their_chances),
        cmocka_unit_test(without_noise_the_largest_are_kept_and_ties_go_to_the_first),
        cmocka_unit_test(as_many_are_kept_as_asked_for),
        cmocka_unit_test(a_calibrated_step_keeps_within_its_price),
        cmocka_unit_test(impossible_steps_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
