/* Rubin's rules beside mice::pool, and what a model's file says of missing values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "model/report/estimates.h"

/* The slope of three regressions of R's `cars`, each without one row; the pooled figures are those that
 * mice 3.15.0 prints (tests/cli/missing/missing.R, case rules). */
static const double estimate[] = { 3.91701181629918, 3.9180790960452, 3.93086883876358 };
static const double standard_error[] = { 0.424271931937704, 0.421127345684149, 0.42017557413056 };

static tacit_estimates *one_set(size_t k) {
    tacit_estimates *all = calloc(1, sizeof *all);
    assert_non_null(all);
    *all = (tacit_estimates){ .family = "linear",
                              .optimiser = "newton",
                              .response = strdup("dist"),
                              .count = 2,
                              .coefficient = calloc(2, sizeof *all->coefficient),
                              .level = 0.95,
                              .dispersion = 1,
                              .rows = 49,
                              .rounds = 3 + k };
    assert_non_null(all->coefficient);
    for (size_t j = 0; j < 2; j++)
        all->coefficient[j] = (tacit_coefficient){ .name = strdup(j == 0 ? "(Intercept)" : "speed"),
                                                   .estimate = estimate[k],
                                                   .error = standard_error[k] };
    return all;
}

static tacit_estimates *pooled(void) {
    tacit_estimates *sets[3], *out = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t k = 0; k < 3; k++) sets[k] = one_set(k);
    CHECK_OK(tacit_estimates_pool(&out, sets, 3, &error), error);
    for (size_t k = 0; k < 3; k++) assert_null(sets[k]);
    return out;
}

static void pooled_figures_are_those_of_mice(void **state) {
    (void)state;
    tacit_estimates *all = pooled();
    const tacit_coefficient *speed = &all->coefficient[1];
    CHECK_NEAR(speed->estimate, 3.92198658370265, 1e-12);
    CHECK_NEAR(speed->error, 0.421955862249451, 1e-12);
    CHECK_NEAR(speed->degrees, 45.0997090040887, 1e-8);
    CHECK_NEAR(speed->p, 4.77995314231943e-12, 1e-18);
    CHECK_NEAR(speed->lost, 0.0420070232363999, 1e-11);
    CHECK_NEAR(speed->within, 0.177967475536358, 1e-12);
    CHECK_NEAR(speed->between, 5.9455612739543e-05, 1e-14);
    assert_true(all->sets == 3 && all->student && isnan(all->aic) && all->rounds == 5);
    tacit_estimates_free(all);
}

static void sets_that_agree_lose_nothing_but_the_floor(void **state) {
    (void)state;
    tacit_estimates *sets[2] = { one_set(0), one_set(0) }, *all = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_estimates_pool(&all, sets, 2, &error), error);
    CHECK_NEAR(all->coefficient[1].error, standard_error[0], 1e-15);
    assert_true(all->coefficient[1].between == 0 && all->coefficient[1].degrees > 40);
    tacit_estimates_free(all);
}

/* Speed and its square in four regressions of `cars`, each without every fourth row from another one on: estimates, covariance. The figure is D1
 * of R's mice with 34 degrees of freedom of the complete rows, by its definition (tests/cli/missing/missing.R, case d1). */
static const double samples[4][6] = {
    { 1.97608344895837, 0.0621979816205451, 6.47619572536362, -0.202629408850539, -0.202629408850539,
      0.00658797494805678 },
    { -0.97602773410114, 0.16345083085653, 7.41653197774856, -0.236948114465126, -0.236948114465126,
      0.00785358761125698 },
    { -0.336384694376102, 0.140507379088962, 3.65323480224174, -0.116391770996681, -0.116391770996681,
      0.0038768831936438 },
    { 2.68696765727292, 0.0442888699720767, 5.39133285759099, -0.172241300342177, -0.172241300342177,
      0.00575436395783852 },
};

static tacit_estimates *set_with_a_term(size_t k) {
    tacit_estimates *all = one_set(k % 3);
    all->rows = 36;
    all->term = calloc(1, sizeof *all->term);
    assert_non_null(all->term);
    all->terms = 1;
    all->term[0] = (tacit_term){ .name = strdup("speed"), .count = 2, .sample = malloc(sizeof samples[k]) };
    assert_non_null(all->term[0].sample);
    memcpy(all->term[0].sample, samples[k], sizeof samples[k]);
    return all;
}

static void terms_are_tested_by_d1(void **state) {
    (void)state;
    tacit_estimates *sets[4], *all = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t k = 0; k < 4; k++) sets[k] = set_with_a_term(k);
    CHECK_OK(tacit_estimates_pool(&all, sets, 4, &error), error);
    assert_int_equal(all->terms, 1);
    CHECK_NEAR(all->term[0].statistic, 25.6630256577769, 1e-8);
    CHECK_NEAR(all->term[0].p, 0.000110474075075992, 0.000110474075075992 * 1e-7);
    tacit_estimates_free(all);
}

static void count_missing(tacit_estimates *all) {
    all->missing = calloc(2, sizeof *all->missing);
    assert_non_null(all->missing);
    all->missing_columns = 2;
    all->missing[0] = (tacit_missing_count){ strdup("speed"), "impute", 17, 1 };
    all->missing[1] = (tacit_missing_count){ strdup("dist"), "complete-case", 0, 0 };
    all->left_out = 4;
    all->left_out_withheld = 2;
}

static void what_a_file_says_of_missing_values_is_read_again(void **state) {
    (void)state;
    tacit_estimates *all = pooled(), *again = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    count_missing(all);
    json_t *document = tacit_estimates_to_json(all);
    CHECK_OK(tacit_estimates_from_json(&again, document, &error), error);
    assert_int_equal(again->sets, 3);
    CHECK_NEAR(again->coefficient[1].lost, all->coefficient[1].lost, 0);
    CHECK_NEAR(again->coefficient[1].between, all->coefficient[1].between, 0);
    assert_string_equal(again->missing[0].column, "speed");
    assert_string_equal(again->missing[0].rule, "impute");
    assert_true(again->missing[0].cells == 17 && again->missing[0].withheld == 1);
    assert_true(again->left_out == 4 && again->left_out_withheld == 2 && again->missing_columns == 2);
    json_decref(document);
    tacit_estimates_free(all);
    tacit_estimates_free(again);
}

static void damage(json_t *document, size_t how) {
    json_t *imputed = json_object_get(document, "imputed"), *missing = json_object_get(document, "missing");
    json_t *first = json_array_get(json_object_get(missing, "columns"), 0);
    switch (how) {
    case 0: json_object_set_new(imputed, "sets", json_integer(1)); break;
    case 1: json_array_clear(json_object_get(imputed, "coefficients")); break;
    case 2:
        json_object_set_new(json_array_get(json_object_get(imputed, "coefficients"), 1), "within",
                            json_real(-1));
        break;
    case 3: json_object_set_new(document, "imputed", json_true()); break;
    case 4: json_object_set_new(first, "rule", json_string("a rule of far too many letters")); break;
    case 5: json_object_set_new(first, "name", json_null()); break;
    case 6: json_object_set_new(first, "cells", json_real(-3)); break;
    case 7: json_object_set_new(missing, "left_out", json_string("4")); break;
    default: json_object_set_new(missing, "columns", json_object()); break;
    }
}

static void what_is_damaged_is_refused(void **state) {
    (void)state;
    for (size_t how = 0; how < 9; how++) {
        tacit_estimates *all = pooled(), *again = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        count_missing(all);
        json_t *document = tacit_estimates_to_json(all);
        damage(document, how);
        assert_int_equal(tacit_estimates_from_json(&again, document, &error), TACIT_INPUT);
        assert_null(again);
        json_decref(document);
        tacit_estimates_free(all);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pooled_figures_are_those_of_mice),
        cmocka_unit_test(sets_that_agree_lose_nothing_but_the_floor),
        cmocka_unit_test(terms_are_tested_by_d1),
        cmocka_unit_test(what_a_file_says_of_missing_values_is_read_again),
        cmocka_unit_test(what_is_damaged_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
