/*
 * The intervals of noisy evaluations hold the figures without noise in 94 to 96% of 2,000 releases: at thresholds, of
 * subgroups and sites, of several classes and of a number.
 */
#include "check.h"

#include <stdlib.h>

#include "noise_coverage.h"
#include "parties.h"

enum { ROWS = 6000, PARTIES = 5, DRAWS = 2000 };

typedef struct world {
    tacit_schema *schema;
    tacit_model *model;
    parties all;
} world;

/* Outcomes that a score explains in part; what a row's outcome is called, or its number (classes 0). */
static void print_outcome(tacit_buffer *text, size_t classes, double score, tacit_stream *stream) {
    static const char *const names[] = { "low", "middle", "high" };
    tacit_error error = TACIT_ERROR_INIT;
    double drawn = score + 1.2 * (tacit_stream_unit(stream) - 0.5);
    size_t k = classes == 2 ? (drawn > 0.5 ? 2 : 0) : drawn > 0.75 ? 2 : drawn > 0.3 ? 1 : 0;
    if (classes == 0)
        CHECK_OK(tacit_buffer_print(text, &error, "%.6f\n", fmin(fmax(2 * drawn, -2), 4)), error);
    else
        CHECK_OK(tacit_buffer_print(text, &error, "%s\n", names[k]), error);
}

static void begin(world *out, size_t classes) {
    static const char *const labels[] = { "{name: y, kind: number, low: -2, high: 4}", NULL,
                                          "{name: y, classes: [low, high]}",
                                          "{name: y, classes: [low, middle, high]}" };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer schema = TACIT_BUFFER_INIT, text = TACIT_BUFFER_INIT;
    tacit_stream stream = tacit_stream_from_seed(12);
    *out = (world){ .schema = NULL };
    CHECK_OK(tacit_buffer_print(&schema, &error,
                                "label: %s\ncolumns:\n  - {name: a, kind: number, low: 0, high: 1}\n"
                                "  - {name: g, kind: category, levels: [u, v]}\n",
                                labels[classes]),
             error);
    CHECK_OK(tacit_schema_parse(&out->schema, tacit_buffer_text(&schema), schema.length, "test", &error),
             error);
    CHECK_OK(tacit_buffer_print(&text, &error, "a,g,y\n"), error);
    for (size_t i = 0; i < ROWS; i++) {
        double a = tacit_stream_unit(&stream);
        CHECK_OK(tacit_buffer_print(&text, &error, "%.6f,%s,", a, tacit_stream_below(&stream, 2) ? "u" : "v"),
                 error);
        print_outcome(&text, classes, a, &stream);
    }
    parties_read(&out->all, &text, out->schema, PARTIES, &tacit_method_evaluate);
    const tacit_family *family = classes == 0 ? &tacit_family_linear : tacit_family_for(classes);
    CHECK_OK(tacit_model_create(&out->model, family, out->all.data->features, classes, &error), error);
    size_t features = out->all.data->features;
    for (size_t j = 0; j < tacit_model_size(out->model); j++) /* of a, which is between -1 and 1 there */
        out->model->weights[j] = j % features == 0 ? 2.5 * (classes < 3 ? 1 : (double)(j / features)) : -0.1;
    out->all.plan.model = out->model;
    tacit_buffer_clear(&schema);
}

static void end(world *self) {
    parties_end(&self->all);
    tacit_model_free(self->model);
    tacit_schema_free(self->schema);
}

static void set(world *self, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(&self->all.plan, name, value, &error), error);
}

/* Releases with Gaussian shares of noise, or each party's own where sites are apart. */
static void check_coverage(world *self, double epsilon, size_t kinds) {
    noise_coverage *found = calloc(1, sizeof *found);
    assert_non_null(found);
    set(self, "cells", "20");
    tacit_model *exact = parties_run(&self->all, 1, NULL);
    found->exact = exact->report;
    self->all.plan.epsilon = epsilon;
    for (size_t d = 0; d < DRAWS; d++) {
        tacit_model *noisy = parties_run(&self->all, 1000 + d, NULL);
        assert_true(noisy->report->noisy);
        coverage_add(found, noisy->report);
        tacit_model_free(noisy);
    }
    assert_true(coverage_check(found) >= kinds);
    tacit_model_free(exact);
    free(found);
}

static void figures_of_subgroups_and_at_thresholds_are_covered(void **state) {
    (void)state;
    world self;
    begin(&self, 2);
    set(&self, "by", "g");
    check_coverage(&self, 1, 20);
    end(&self);
}

/* Each site adds all of the noise: the delta method needs noise that is small beside a site's rows. */
static void figures_of_sites_are_covered(void **state) {
    (void)state;
    world self;
    begin(&self, 2);
    set(&self, "sites", "apart");
    set(&self, "noise", "party");
    check_coverage(&self, 2, 20);
    end(&self);
}

static void figures_of_several_classes_are_covered(void **state) {
    (void)state;
    world self;
    begin(&self, 3);
    check_coverage(&self, 1, 9);
    end(&self);
}

static void figures_of_a_number_are_covered(void **state) {
    (void)state;
    world self;
    begin(&self, 0);
    check_coverage(&self, 1, 9);
    end(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_subgroups_and_at_thresholds_are_covered),
        cmocka_unit_test(figures_of_sites_are_covered),
        cmocka_unit_test(figures_of_several_classes_are_covered),
        cmocka_unit_test(figures_of_a_number_are_covered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
