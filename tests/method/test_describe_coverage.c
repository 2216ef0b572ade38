/*
 * The noise intervals of descriptions hold the figures without noise in 94 to 96% of 2,000 releases: of all rows, by group, of
 * cross-tables, missing values and sites. Those of quantiles are in test_describe_quantiles.c.
 */
#include "described_rows.h"
#include "noise_coverage.h"

enum { DRAWS = 2000 };

/* Of releases whose noise is a thousandth of a row: describe-exact has another grid, and so other histograms. */
static tacit_model *without_noise(world *self) {
    set(self, "noise", "party");
    self->all.plan.epsilon = 1e5;
    return parties_run(&self->all, 1, NULL);
}

static void check_coverage(world *self, double epsilon, bool shares, size_t kinds) {
    noise_coverage *found = calloc(1, sizeof *found);
    assert_non_null(found);
    set(self, "threshold", "0");
    set(self, "cells", "16"); /* few, since intervals of quantiles take most of the time */
    tacit_model *exact = without_noise(self);
    found->exact = exact->report;
    set(self, "noise", shares ? "shares" : "party");
    self->all.plan.epsilon = epsilon; /* the delta method needs noise that is small beside the rows */
    for (size_t d = 0; d < DRAWS; d++) {
        tacit_model *noisy = parties_run(&self->all, 100 + d, NULL);
        coverage_add(found, noisy->report);
        tacit_model_free(noisy);
    }
    assert_true(coverage_check(found) >= kinds);
    tacit_model_free(exact);
    free(found);
}

static void figures_of_all_rows_are_covered(void **state) {
    (void)state;
    world self;
    make(&self, &tacit_method_describe);
    set(&self, "missing", "counted");
    check_coverage(&self, 4, true, 8);
    end(&self);
}

static void figures_by_group_and_of_cross_tables_are_covered(void **state) {
    (void)state;
    world self;
    make(&self, &tacit_method_describe);
    set(&self, "by", "outcome");
    set(&self, "cross", "site*outcome,arm*outcome");
    check_coverage(&self, 8, true, 8); /* the doses of a group have an sd of 6% of the range */
    end(&self);
}

static void figures_of_sites_are_covered(void **state) {
    (void)state;
    world self;
    make(&self, &tacit_method_describe);
    set(&self, "sites", "apart");
    check_coverage(&self, 8, false, 7);
    end(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_all_rows_are_covered),
        cmocka_unit_test(figures_by_group_and_of_cross_tables_are_covered),
        cmocka_unit_test(figures_of_sites_are_covered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
