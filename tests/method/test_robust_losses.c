/*
 * loss=huber of avg and dpgd, for two classes: no row moves what leaves by more than declared, and some row does by nearly
 * all of it, where too small a bound would be seen; without noise the model solves the equation of the hinge, written
 * out here. For numbers and counts, whose residuals are clipped in any case, it changes nothing.
 *
 * Chance: seeds are fixed.
 */
#include "check.h"

#include "lab/replay.h"
#include "method/private/gradient.h"
#include "parties.h"

enum { FEATURES = 3, ROWS = 40 };

static void set(parties *self, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(&self->plan, name, value, &error), error);
}

static void make(parties *self, const char *method, const char *width, size_t nodes) {
    parties_make(self, ball(ROWS * nodes, FEATURES, 8), nodes, NULL);
    self->plan.method = tacit_method_find(method);
    self->plan.delta = 1e-5;
    set(self, "loss", "huber");
    set(self, "width", width);
}

/* l' at the score t. */
static double slope_of(double h, double y, double t) {
    const double sign = 2 * y - 1;
    return -sign * fmin(fmax((1 + h - sign * t) / (2 * h), 0), 1);
}

static double gradient_left(const parties *self, double h, const double *w) {
    double gradient[FEATURES] = { 0 }, square = 0;
    for (size_t i = 0; i < self->data->rows; i++) {
        const double *x = self->data->dense.values + i * FEATURES;
        double t = 0;
        for (size_t j = 0; j < FEATURES; j++) t += w[j] * x[j];
        const double slope = slope_of(h, self->data->label[i], t) / (double)self->data->rows;
        for (size_t j = 0; j < FEATURES; j++) gradient[j] += slope * x[j];
    }
    for (size_t j = 0; j < FEATURES; j++) square += pow(gradient[j] + self->plan.lambda * w[j], 2);
    return sqrt(square);
}

static void without_noise_the_hinge_is_minimised(void **state) {
    (void)state;
    static const char *const widths[] = { "0.5", "0.1" };
    static const double nowhere[FEATURES] = { 0 };
    for (int m = 0; m < 2; m++)
        for (int w = 0; w < 2; w++) {
            parties self;
            make(&self, m == 0 ? "avg" : "dpgd", widths[w], m == 0 ? 1 : 3);
            self.plan.lambda = 0.05;
            if (m == 1) set(&self, "rounds", "4000");
            tacit_model *model = parties_run(&self, 1, NULL);
            const double h = strtod(widths[w], NULL);
            assert_string_equal(model->family->name, "huber");
            CHECK_NEAR(model->shape, h, 0);
            const double left = gradient_left(&self, h, model->weights) / gradient_left(&self, h, nowhere);
            print_message("# %s, width %s: %.2g of the first gradient is left\n", self.plan.method->name,
                          widths[w], left);
            assert_true(left < 1e-5);
            tacit_model_free(model);
            parties_end(&self);
        }
}

/* ---- sensitivity ---- */

static tacit_status replace_row(void *context, size_t number, tacit_pair *out, tacit_error *error) {
    const parties *self = context;
    tacit_stream stream = tacit_stream_from_seed(number);
    out->plan = self->plan;
    out->plan.epsilon = 1;
    out->statistic = TACIT_STATISTIC_MODEL;
    out->split = split_in_blocks(ROWS, 1);
    for (int side = 0; side < 2; side++) {
        TACIT_TRY(tacit_pair_copy(&out->data[side], self->data, error));
        double *x = out->data[side]->dense.values;
        if (number == 0) { /* all others at the origin, and one label flips: the straight part throughout */
            memset(x, 0, ROWS * FEATURES * sizeof *x);
            x[0] = 1 - 1e-12;
            out->data[side]->label[0] = side;
        }
    }
    if (number == 0) return TACIT_OK;
    const size_t row = tacit_stream_below(&stream, ROWS);
    for (size_t j = 0; j < FEATURES; j++)
        out->data[1]->dense.values[row * FEATURES + j] *= number % 2 ? -1 : 0.3;
    out->data[1]->label[row] = (int32_t)tacit_stream_below(&stream, 2);
    return TACIT_OK;
}

static void no_row_moves_avg_by_more_than_declared(void **state) {
    (void)state;
    static const double lambdas[] = { 0.1, 1e-4 }; /* the second: by the bound on |w| */
    for (int l = 0; l < 2; l++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_replay replay;
        parties self;
        make(&self, "avg", "0.5", 1);
        self.plan.lambda = lambdas[l];
        CHECK_OK(tacit_replay_run(&replay, replace_row, &self, 60, 1, NULL, &error), error);
        print_message("# lambda %g: %.4f of the declared sensitivity\n", lambdas[l], replay.ratio);
        assert_true(replay.ratio <= 1);
        assert_true(replay.ratio > (l == 0 ? 0.99 : 0.1));
        parties_end(&self);
    }
}

static void no_row_moves_dpgd_by_more_than_declared(void **state) {
    (void)state;
    parties self;
    tacit_stream stream = tacit_stream_from_seed(5);
    double most = 0;
    make(&self, "dpgd", "0.25", 1);
    CHECK_NEAR(gradient_norm(&self.plan), 1, 0);
    CHECK_NEAR(gradient_curvature(&self.plan), 2, 0);
    for (size_t pair = 0; pair < 200; pair++) {
        double w[FEATURES], sums[2][FEATURES], square = 0;
        for (size_t j = 0; j < FEATURES; j++)
            w[j] = (pair % 4 == 0 ? 0 : pow(10, (double)(pair % 7))) * (tacit_stream_unit(&stream) - 0.5);
        for (int side = 0; side < 2; side++) {
            tacit_error error = TACIT_ERROR_INIT;
            double *x = self.data->dense.values, norm = 0;
            for (size_t j = 0; j < FEATURES; j++) {
                if (side == 0 || pair % 2 == 0) x[j] = tacit_stream_unit(&stream) - 0.5;
                norm += x[j] * x[j];
            }
            for (size_t j = 0; j < FEATURES; j++) x[j] *= (1 - 1e-12) / sqrt(norm);
            self.data->label[0] = side;
            tacit_party party = { .plan = &self.plan,
                                  .rows = tacit_dataset_view(self.data),
                                  .total_rows = ROWS };
            CHECK_OK(gradient_sum(&party, w, sums[side], &error), error);
        }
        for (size_t j = 0; j < FEATURES; j++) square += pow(sums[0][j] - sums[1][j], 2);
        most = fmax(most, sqrt(square) / 2);
    }
    print_message("# %.6f of the bound\n", most);
    assert_true(most <= 1 + 1e-9);
    assert_true(most > 0.99);
    parties_end(&self);
}

/* ---- prices, and what is refused ---- */

static void the_price_stays_and_the_noise_is_that_of_the_hinge(void **state) {
    (void)state;
    for (int m = 0; m < 2; m++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_noise_law hinge, logistic;
        tacit_prices prices = { .event = { .count = 0 } };
        parties self;
        make(&self, m == 0 ? "avg" : "dpgd", "0.5", 3);
        self.plan.epsilon = 1;
        if (m == 0) set(&self, "unit", "party"); /* where m of the hinge counts: 9/16 where W(1/e) is .278 */
        self.plan.lambda = 0.01;
        CHECK_OK(tacit_plan_price(&self.plan, &prices, &error), error);
        CHECK_NEAR(prices.charged.epsilon, 1, 1e-9);
        CHECK_OK(tacit_plan_noise(&self.plan, &hinge, &error), error);
        set(&self, "loss", "auto");
        CHECK_OK(tacit_plan_noise(&self.plan, &logistic, &error), error);
        CHECK_NEAR(hinge.sensitivity / logistic.sensitivity, m == 0 ? sqrt(0.5625 / 0.2784645) : 1, 1e-3);
        parties_end(&self);
    }
}

static void mistakes_are_told_and_numbers_stay_as_they_are(void **state) {
    (void)state;
    static const char *const methods[] = { "avg", "dpgd" };
    static const char text[] = "label: {name: y, kind: number, low: -9, high: 9}\nintercept: no\ncolumns:\n"
                               "  - {name: a, kind: number, low: -1, high: 1}\n";
    for (int m = 0; m < 2; m++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_schema *schema = NULL;
        tacit_noise_law law[2];
        parties self;
        make(&self, methods[m], "0.5", 2);
        self.plan.epsilon = 1;
        self.plan.classes = 3;
        assert_int_equal(tacit_plan_check(&self.plan, &error), TACIT_USAGE);
        assert_non_null(strstr(error.text, "is for two classes, and the label has 3: choose loss=auto"));
        CHECK_OK(tacit_schema_parse(&schema, text, sizeof text - 1, "schema", &error), error);
        self.plan.classes = 0;
        self.plan.schema = schema;
        self.plan.features = 1;
        for (int loss = 0; loss < 2; loss++) {
            set(&self, "loss", loss ? "auto" : "huber");
            CHECK_OK(tacit_plan_check(&self.plan, &error), error);
            CHECK_OK(tacit_plan_noise(&self.plan, &law[loss], &error), error);
        }
        CHECK_NEAR(law[0].scale, law[1].scale, 0);
        parties_end(&self);
        tacit_schema_free(schema);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_noise_the_hinge_is_minimised),
        cmocka_unit_test(no_row_moves_avg_by_more_than_declared),
        cmocka_unit_test(no_row_moves_dpgd_by_more_than_declared),
        cmocka_unit_test(the_price_stays_and_the_noise_is_that_of_the_hinge),
        cmocka_unit_test(mistakes_are_told_and_numbers_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
