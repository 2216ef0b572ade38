/* A fit to the statistic of labels is the fit to the labels, also where a point carries shares of several
 * classes. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/generate.h"
#include "failing.h"
#include "model/model.h"
#include "rand/fast.h"

enum { POINTS = 60, FEATURES = 5, COPIES = 4 };

static const double LAMBDA = 0.03, TOLERANCE = 1e-9;

/* Points, each COPIES times with labels of its own: the shares are quarters. */
typedef struct world {
    tacit_dataset *points, *copies;
    double *statistic;
    size_t classes;
} world;

static void open_world(world *self, size_t classes, bool unanimous, uint64_t seed) {
    static const char *const names[] = { "a", "b", "c", "d" };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(seed);
    size_t vectors = classes > 2 ? classes : 1;
    *self = (world){ .classes = classes, .statistic = TACIT_NEW(double, vectors *FEATURES) };
    CHECK_OK(tacit_generate_ball(&self->points, POINTS, FEATURES, NULL, &stream, &error), error);
    CHECK_OK(tacit_dataset_create(&self->copies, POINTS * COPIES, FEATURES, names, classes, &error), error);
    for (size_t i = 0; i < POINTS; i++) {
        const double *x = self->points->dense.values + i * FEATURES;
        int32_t label = 0;
        for (size_t c = 0; c < COPIES; c++) {
            if (c == 0 || !unanimous) label = (int32_t)tacit_stream_below(&stream, classes);
            memcpy(self->copies->dense.values + (i * COPIES + c) * FEATURES, x, FEATURES * sizeof *x);
            self->copies->label[i * COPIES + c] = label;
            if (classes == 2 && label == 0) continue;
            double *part = self->statistic + (classes == 2 ? 0 : (size_t)label) * FEATURES;
            for (size_t j = 0; j < FEATURES; j++) part[j] += x[j] / (POINTS * COPIES);
        }
    }
}

static void close_world(world *self) {
    tacit_dataset_free(self->points);
    tacit_dataset_free(self->copies);
    free(self->statistic);
}

static tacit_model *fit_statistic(const world *self, const tacit_rows *rows, const double *statistic) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_model *model = NULL;
    tacit_linear_fit fit = { .lambda = LAMBDA, .gradient_tolerance = TOLERANCE };
    CHECK_OK(tacit_model_fit_statistic(&model, rows, self->classes, statistic, &fit, &error), error);
    return model;
}

/* Both fits are within tolerance/lambda of one minimiser. */
static void check_same_weights(const tacit_model *a, const tacit_model *b) {
    assert_int_equal(tacit_model_size(a), tacit_model_size(b));
    assert_ptr_equal(a->family, b->family);
    for (size_t j = 0; j < tacit_model_size(a); j++)
        CHECK_NEAR(a->weights[j], b->weights[j], 2.1 * TOLERANCE / LAMBDA);
}

static void check_labels(size_t classes, bool unanimous) {
    for (uint64_t seed = 1; seed <= 4; seed++) {
        tacit_error error = TACIT_ERROR_INIT;
        world self;
        print_message("# %zu classes, seed %d\n", classes, (int)seed);
        open_world(&self, classes, unanimous, seed);
        tacit_rows rows = tacit_dataset_rows(self.points);
        tacit_model *from_labels = NULL, *from_statistic = fit_statistic(&self, &rows, self.statistic);
        tacit_view labelled = tacit_dataset_view(self.copies);
        tacit_linear_fit fit = { .lambda = LAMBDA, .gradient_tolerance = TOLERANCE };
        CHECK_OK(tacit_model_fit_linear(&from_labels, &labelled, &fit, &error), error);
        check_same_weights(from_labels, from_statistic);
        double most = 0;
        for (size_t j = 0; j < tacit_model_size(from_labels); j++)
            most = fmax(most, fabs(from_labels->weights[j]));
        assert_true(most > 0.01);
        tacit_model_free(from_labels);
        tacit_model_free(from_statistic);
        close_world(&self);
    }
}

static void labels_of_two_classes(void **state) {
    (void)state;
    check_labels(2, true);
}

static void labels_of_more_classes(void **state) {
    (void)state;
    check_labels(3, true);
    check_labels(4, true);
}

static void shares_of_two_classes(void **state) {
    (void)state;
    check_labels(2, false);
}

static void shares_of_more_classes(void **state) {
    (void)state;
    check_labels(3, false);
    check_labels(4, false);
}

/* The rows may be any view, and their labels are nobody's business: there are none. */
static void a_view_in_another_order_gives_the_same(void **state) {
    (void)state;
    for (size_t classes = 2; classes <= 3; classes++) {
        world self;
        uint32_t order[POINTS];
        open_world(&self, classes, false, 7);
        for (uint32_t i = 0; i < POINTS; i++) order[i] = POINTS - 1 - i;
        tacit_rows rows = tacit_dataset_rows(self.points), turned = tacit_rows_select(&rows, order, POINTS);
        tacit_model *one = fit_statistic(&self, &rows, self.statistic);
        tacit_model *other = fit_statistic(&self, &turned, self.statistic);
        check_same_weights(one, other);
        tacit_model_free(one);
        tacit_model_free(other);
        close_world(&self);
    }
}

/* Noise can put a statistic where no shares are; the objective is still strongly convex. */
static void a_statistic_that_no_shares_have_is_fitted_too(void **state) {
    (void)state;
    for (size_t classes = 2; classes <= 3; classes++) {
        world self;
        tacit_stream stream = tacit_stream_from_seed(3);
        open_world(&self, classes, false, 7);
        size_t count = (classes > 2 ? classes : 1) * FEATURES;
        for (size_t j = 0; j < count; j++) self.statistic[j] += 10 * tacit_fast_normal(&stream);
        tacit_rows rows = tacit_dataset_rows(self.points);
        tacit_model *model = fit_statistic(&self, &rows, self.statistic);
        double square = 0;
        for (size_t j = 0; j < count; j++) square += model->weights[j] * model->weights[j];
        assert_true(isfinite(square) && sqrt(square) > 100);
        tacit_model_free(model);
        close_world(&self);
    }
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    world self;
    open_world(&self, 3, false, 7);
    tacit_rows rows = tacit_dataset_rows(self.points);
    tacit_linear_fit fit = { .lambda = LAMBDA, .gradient_tolerance = 1e-3 };
    bool failed = true;
    for (long at = 1; failed; at++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_model *model = NULL;
        fail_allocation(at);
        tacit_status status = tacit_model_fit_statistic(&model, &rows, 3, self.statistic, &fit, &error);
        failed = allocation_failed();
        assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
        assert_true(failed == (model == NULL));
        tacit_model_free(model);
    }
    close_world(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_of_two_classes),
        cmocka_unit_test(labels_of_more_classes),
        cmocka_unit_test(shares_of_two_classes),
        cmocka_unit_test(shares_of_more_classes),
        cmocka_unit_test(a_view_in_another_order_gives_the_same),
        cmocka_unit_test(a_statistic_that_no_shares_have_is_fitted_too),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests_name("statistic", tests, NULL, NULL);
}
