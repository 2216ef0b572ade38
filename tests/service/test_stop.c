/* When a study has enough: what a definition may say of it, the verdict on a table, and what looking again
 * and again does to intervals and tests. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "failing.h"
#include "num/special.h"
#include "rand/fast.h"
#include "study/study.h"

enum { TEXT_SIZE = 2048 };

/* A study of method estimate, with lines of one's own. */
static const char *estimate(char out[TEXT_SIZE], const char *parties, const char *more) {
    snprintf(
        out, TEXT_SIZE,
        "name: s\ntitle: S\nmethod: estimate\nlambda: 0\nparties: %s\nminimum_rows: 5\n%s\nschema: |\n"
        "  label: {name: y, classes: [n, p]}\n  columns:\n    - {name: a, kind: number, low: 0, high: 1}\n"
        "    - {name: b, kind: category, levels: [x, z]}\n",
        parties, more);
    return out;
}

static tacit_status parse(tacit_study **out, const char *text, tacit_error *error) {
    return tacit_study_parse(out, text, strlen(text), "s.yaml", error);
}

static tacit_study *parsed(const char *parties, const char *more) {
    char text[TEXT_SIZE];
    tacit_study *study = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(parse(&study, estimate(text, parties, more), &error), error);
    return study;
}

static void refused(const char *parties, const char *more, const char *says) {
    char text[TEXT_SIZE];
    tacit_study *study = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    if (parse(&study, estimate(text, parties, more), &error) == TACIT_OK ||
        strstr(error.text, says) == NULL || strchr(error.text, '\n') != NULL)
        fail_msg("%s\nexpected '%s', got: %s", text, says, error.text);
}

static void every_rule_is_read_and_printed(void **state) {
    (void)state;
    tacit_study *study =
        parsed("{expected: 6, minimum: 4}",
               "stop: {rounds: 50, converged: 1e-4, power: {column: b=z, effect: -0.5, at_least: 0.8}, "
               "looks: 3, more: 5}");
    const tacit_stop *stop = &study->stop;
    assert_int_equal(study->plan.most_rounds, 50);
    assert_true(study->plan.enough == 1e-4);
    assert_int_equal(stop->target, TACIT_TARGET_POWER);
    assert_string_equal(stop->column, "b=z");
    assert_true(stop->effect == -0.5 && stop->limit == 0.8);
    assert_int_equal(stop->looks, 3);
    assert_int_equal(study->plan.parties, 6);
    tacit_study_free(study);
}

static void the_canonical_text_reads_back_at_every_look(void **state) {
    (void)state;
    static const char *const rules[] = {
        "stop: {se: {column: a, at_most: 0.125}, looks: 4, more: 3}",
        "stop: {width: {column: a, at_most: 1e-3}, participants: 12, more: 3}",
        "stop: {rounds: 7, converged: 0.001}", "stop: {participants: 3}"
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        tacit_study *study = parsed("{expected: 3, minimum: 3}", rules[i]);
        for (size_t look = 1;; look++) {
            tacit_study *again = NULL;
            tacit_buffer text = TACIT_BUFFER_INIT;
            tacit_error error = TACIT_ERROR_INIT;
            CHECK_OK(parse(&again, tacit_buffer_text(&study->canonical), &error), error);
            assert_string_equal(tacit_buffer_text(&again->canonical), tacit_buffer_text(&study->canonical));
            assert_int_equal(again->plan.parties, 3 + (look - 1) * study->stop.more);
            assert_int_equal(again->stop.look, look);
            tacit_study_free(again);
            if (look == study->stop.looks) break;
            CHECK_OK(tacit_study_next_look(study, &text, &error), error);
            tacit_study_free(study);
            CHECK_OK(parse(&study, tacit_buffer_text(&text), &error), error);
            tacit_buffer_clear(&text);
        }
        assert_int_equal(study->stop.looks, i < 2 ? 4 : 1);
        tacit_study_free(study);
    }
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    const char *three = "{expected: 3, minimum: 3}";
    refused(three, "stop: {se: {column: c, at_most: 1}}", "no such coefficient");
    refused(three, "stop: {se: {column: a}}", "at_most");
    refused(three, "stop: {se: {column: a, at_most: 0}}", "at_most must be");
    refused(three, "stop: {power: {column: a, at_least: 0.8}}", "effect");
    refused(three, "stop: {power: {column: a, effect: 0, at_least: 0.8}}", "effect must not be 0");
    refused(three, "stop: {se: {column: a, at_most: 1}, width: {column: a, at_most: 1}}", "one target");
    refused(three, "stop: {looks: 3}", "say one");
    refused(three, "stop: {se: {column: a, at_most: 1}, looks: 3, more: 2}", "minimum of 3 parties");
    refused(three, "stop: {participants: 5}", "make them the same");
    refused("{expected: 4, minimum: 2}", "stop: {se: {column: a, at_most: 1}, participants: 3, more: 2}",
            "fewer");
    refused(three, "stop: {rounds: 1.5}", "whole number");
    refused(three, "stop: {magic: 1}", "magic");
    refused(three, "look: 2", "no look 2");
    refused("{minimum: 3}", "stop: {se: {column: a, at_most: 1}, participants: 9, more: 3}", "expected");
}

/* A method without standard errors has none to stop at, and one of a single round nothing to stop. */
static void the_method_must_be_able_to(void **state) {
    (void)state;
    static const char *const lines[] = {
        "method: avg\nepsilon: 1\nstop: {se: {column: a, at_most: 1}}",
        "gives no standard errors",
        "method: avg\nepsilon: 1\nstop: {rounds: 3}",
        "no rounds to stop early",
        "method: dpgd\nepsilon: 1\ndelta: 1e-5\nstop: {width: {column: a, at_most: 1}}",
        "gives no standard errors",
        "method: dpnewton\nepsilon: 1\ndelta: 1e-5\nstop: {width: {column: a, at_most: 1}}",
        "gives no standard errors",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i += 2) {
        char text[TEXT_SIZE];
        tacit_study *study = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        snprintf(
            text, sizeof text,
            "name: s\ntitle: S\nlambda: 0.1\nparties: {expected: 3}\nminimum_rows: 5\n%s\nschema: |\n"
            "  label: {name: y, classes: [n, p]}\n  columns:\n    - {name: a, kind: number, low: 0, high: "
            "1}\n",
            lines[i]);
        assert_int_equal(parse(&study, text, &error), TACIT_USAGE);
        if (strstr(error.text, lines[i + 1]) == NULL) fail_msg("%s", error.text);
    }
}

static void enough_participants_are_the_expected_ones(void **state) {
    (void)state;
    tacit_study *study = parsed("{minimum: 3}", "stop: {participants: 7}");
    assert_int_equal(study->plan.parties, 7);
    assert_int_equal(study->plan.minimum_parties, 3);
    tacit_study_free(study);
}

static void a_table_is_judged(void **state) {
    (void)state;
    char name[] = "a", text[TACIT_STOP_TEXT_SIZE];
    tacit_coefficient one = { .name = name, .estimate = 3, .error = 0.2, .low = 2.6, .high = 3.4 };
    tacit_estimates table = { .count = 1, .coefficient = &one, .level = 0.95, .rows = 100 };
    tacit_stop stop = TACIT_STOP_INIT;
    tacit_stop_verdict verdict;
    tacit_error error = TACIT_ERROR_INIT;
    snprintf(stop.column, sizeof stop.column, "a");
    stop.target = TACIT_TARGET_ERROR;
    stop.limit = 0.2;
    CHECK_OK(tacit_stop_judge(&verdict, &stop, &table, &error), error);
    assert_true(verdict.met && verdict.value == 0.2);
    stop.limit = 0.19;
    CHECK_OK(tacit_stop_judge(&verdict, &stop, &table, &error), error);
    assert_false(verdict.met);
    assert_string_equal(tacit_stop_text(text, &stop, &verdict),
                        "the standard error of a is 0.2, and at most 0.19 is asked for");
    stop.target = TACIT_TARGET_WIDTH;
    stop.limit = 0.8 + 1e-9;
    CHECK_OK(tacit_stop_judge(&verdict, &stop, &table, &error), error);
    assert_true(verdict.met);
    CHECK_NEAR(verdict.value, 0.8, 1e-12);
    /* (1.959964 + 0.8416212) standard errors have power 0.8 at 5 %, and 0.05 where there is no effect to
     * speak of. */
    stop.target = TACIT_TARGET_POWER;
    stop.effect = 0.2 * (1.959964 + 0.8416212);
    stop.limit = 0.79;
    CHECK_OK(tacit_stop_judge(&verdict, &stop, &table, &error), error);
    assert_true(verdict.met);
    CHECK_NEAR(verdict.value, 0.8, 1e-5);
    CHECK_NEAR(tacit_stop_power(&stop, 1e9, 0.95, INFINITY), 0.05, 1e-9);
    assert_true(tacit_stop_power(&stop, 0.2, 0.95, 10) < verdict.value); /* Student's t asks for more */
    stop.looks = 5;                                                      /* each look tests at 1 % */
    CHECK_NEAR(tacit_stop_power(&stop, 1e9, 0.95, INFINITY), 0.01, 1e-9);
    assert_true(tacit_stop_power(&stop, 0.2, 0.95, INFINITY) < 0.65);
    /* Not estimable at this price: no target is reached. */
    one.error = one.low = one.high = NAN;
    CHECK_OK(tacit_stop_judge(&verdict, &stop, &table, &error), error);
    assert_true(!verdict.met && verdict.value == 0);
    stop.target = TACIT_TARGET_WIDTH;
    CHECK_OK(tacit_stop_judge(&verdict, &stop, &table, &error), error);
    assert_false(verdict.met);
    assert_non_null(strstr(tacit_stop_text(text, &stop, &verdict), "a is not estimable yet at this price"));
    snprintf(stop.column, sizeof stop.column, "b");
    assert_int_equal(tacit_stop_judge(&verdict, &stop, &table, &error), TACIT_NOT_FOUND);
    assert_int_equal(tacit_stop_judge(&verdict, &stop, NULL, &error), TACIT_NOT_FOUND);
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    char text[TEXT_SIZE];
    long at = 1;
    estimate(text, "{expected: 3, minimum: 3}", "stop: {se: {column: a, at_most: 0.1}, looks: 2, more: 3}");
    for (bool failed = true; failed; at++) {
        tacit_study *study = NULL;
        tacit_buffer next = TACIT_BUFFER_INIT;
        tacit_error error = TACIT_ERROR_INIT;
        fail_allocation(at);
        tacit_status status = parse(&study, text, &error);
        if (status == TACIT_OK) status = tacit_study_next_look(study, &next, &error);
        failed = allocation_failed();
        if (status != (failed ? TACIT_NO_MEMORY : TACIT_OK)) fail_msg("allocation %ld: %s", at, error.text);
        tacit_buffer_clear(&next);
        tacit_study_free(study);
    }
    assert_true(at > 10);
}

/*
 * Looking again and again. The mean of normal numbers, whose truth is 0, at up to LOOKS looks of STEP more
 * each. Three ways to end: a standard error that is small enough (what studies do), a test that rejects, and
 * the same at alpha/LOOKS. 40,000 trials: a share p deviates from its mean by more than 6.1 sqrt(p (1 -
 * p)/40000) with probability below 1e-9.
 */
enum { LOOKS = 8, STEP = 25, TRIALS = 40000 };

typedef struct looked {
    double mean, error; /* at the look that ended it */
} looked;

static looked look_until(tacit_stream *stream, bool (*enough)(double mean, double error)) {
    double sum = 0, square = 0;
    looked found = { 0, 0 };
    for (int look = 1; look <= LOOKS; look++) {
        double n = look * STEP;
        for (int i = 0; i < STEP; i++) {
            double x = tacit_fast_normal(stream);
            sum += x;
            square += x * x;
        }
        found.mean = sum / n;
        found.error = sqrt((square - n * found.mean * found.mean) / (n - 1) / n);
        if (enough(found.mean, found.error)) break;
    }
    return found;
}

static bool is_precise(double mean, double error) {
    (void)mean;
    return error <= 0.095; /* some 110 numbers, between two looks: chance decides which */
}
static bool is_significant(double mean, double error) { return fabs(mean) > 1.959964 * error; }
static bool is_significant_of_all(double mean, double error) {
    return fabs(mean) > tacit_normal_tail_quantile(log(0.05 / LOOKS / 2)) * error;
}

static double share_outside(uint64_t seed, bool (*enough)(double mean, double error),
                            bool (*outside)(double mean, double error)) {
    tacit_stream stream = tacit_stream_from_seed(seed);
    size_t count = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        looked found = look_until(&stream, enough);
        count += outside(found.mean, found.error);
    }
    return (double)count / TRIALS;
}

static void stopping_at_a_precision_keeps_intervals_and_at_a_test_does_not(void **state) {
    (void)state;
    double spread = 6.1 * sqrt(0.05 * 0.95 / TRIALS);
    double precise = share_outside(1, is_precise, is_significant);
    if (fabs(precise - 0.05) > 0.006 + spread) fail_msg("%.4f of the intervals miss the truth", precise);
    double tested = share_outside(2, is_significant, is_significant);
    if (!(tested > 0.15)) fail_msg("testing at every look should reject far too often, not %.4f", tested);
    double spent = share_outside(3, is_significant_of_all, is_significant_of_all);
    if (!(spent < 0.05 + spread)) fail_msg("alpha/looks rejects %.4f", spent);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_is_read_and_printed),
        cmocka_unit_test(the_canonical_text_reads_back_at_every_look),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(the_method_must_be_able_to),
        cmocka_unit_test(enough_participants_are_the_expected_ones),
        cmocka_unit_test(a_table_is_judged),
        cmocka_unit_test(every_failed_allocation_is_survived),
        cmocka_unit_test(stopping_at_a_precision_keeps_intervals_and_at_a_test_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
