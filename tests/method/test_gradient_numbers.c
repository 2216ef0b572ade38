/*
 * dpgd on numbers and counts: no row moves a party's sum by more than the bound on clipped residuals says, at any weights,
 * and some pair does by all of it; without noise it ends where the clipped equation, written out here, is solved; with
 * noise it costs what was asked, and still says more than the mean.
 *
 * Chance: seeds are fixed.
 */
#include "check.h"

#include <float.h>
#include <math.h>

#include "method/private/gradient.h"
#include "parties.h"

enum { FEATURES = 4 };
static const double HIGHEST[] = { 20, 9 }; /* of numbers, from -20 on; of counts */

static tacit_schema *schema_of(bool counts) {
    char text[1024];
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "label: {name: y, kind: %s, low: %g, high: %g}\nintercept: no\ncolumns:\n",
                                   counts ? "count" : "number", counts ? 0.0 : -HIGHEST[0], HIGHEST[counts]);
    for (int j = 0; j < FEATURES; j++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "  - {name: x%d, kind: number, low: -1, high: 1}\n", j + 1);
    CHECK_OK(tacit_schema_parse(&schema, text, used, "schema", &error), error);
    return schema;
}

static double respond(bool counts, const double *x, tacit_stream *stream) {
    double t = 1.5 * x[0] - x[1];
    if (!counts) return fmin(fmax(8 * t + 2 * (tacit_stream_unit(stream) - 0.5), -20), 20);
    return fmin(9, floor(exp(t) + tacit_stream_unit(stream)));
}

/* Takes the place of labels. */
static void make(parties *self, bool counts, size_t nodes, size_t each, const tacit_schema *schema) {
    tacit_dataset *data = ball(nodes * each, FEATURES, 8);
    tacit_stream stream = tacit_stream_from_seed(9);
    data->response = TACIT_NEW(double, data->rows);
    assert_non_null(data->response);
    for (size_t i = 0; i < data->rows; i++)
        data->response[i] = respond(counts, data->dense.values + i * FEATURES, &stream);
    free(data->label);
    data->label = NULL;
    tacit_levels_clear(&data->classes);
    parties_make(self, data, nodes, NULL);
    self->plan.method = tacit_method_find("dpgd");
    self->plan.schema = schema;
    self->plan.delta = 1e-5;
}

/* ---- sensitivity ---- */

/* A row and a response anywhere they may be, corners above all. */
static void draw_row(bool counts, double *x, double *y, tacit_stream *stream) {
    double square = 0;
    for (size_t j = 0; j < FEATURES; j++) {
        x[j] = 2 * tacit_stream_unit(stream) - 1;
        square += x[j] * x[j];
    }
    for (size_t j = 0; j < FEATURES; j++) x[j] *= (1 - 1e-12) / sqrt(square);
    double u = tacit_stream_unit(stream);
    *y = counts ? floor(u * 10) : u < 0.3 ? -20 : u > 0.7 ? 20 : 40 * (u - 0.5);
}

static double moved(bool counts, const double *w, const double x[2][FEATURES], const double y[2]) {
    tacit_schema *schema = schema_of(counts);
    double sums[2][FEATURES], square = 0;
    tacit_error error = TACIT_ERROR_INIT;
    parties self;
    make(&self, counts, 1, 3, schema);
    for (int side = 0; side < 2; side++) {
        memcpy(self.data->dense.values, x[side], sizeof x[side]);
        self.data->response[0] = y[side];
        tacit_party party = { .plan = &self.plan, .rows = tacit_dataset_view(self.data), .total_rows = 3 };
        CHECK_OK(gradient_sum(&party, w, sums[side], &error), error);
    }
    for (size_t j = 0; j < FEATURES; j++) square += pow(sums[0][j] - sums[1][j], 2);
    double bound = 2 * gradient_norm(&self.plan);
    parties_end(&self);
    tacit_schema_free(schema);
    return sqrt(square) / bound;
}

static void no_row_moves_a_sum_by_more_than_declared(void **state) {
    (void)state;
    static const double lengths[] = { 0, 0.1, 3, 1e3, 1e300, DBL_MAX };
    for (int counts = 0; counts < 2; counts++) {
        tacit_stream stream = tacit_stream_from_seed(77);
        double most = 0;
        for (size_t pair = 0; pair < 300; pair++) {
            double w[FEATURES], x[2][FEATURES], y[2];
            for (int side = 0; side < 2; side++) draw_row(counts, x[side], &y[side], &stream);
            for (size_t j = 0; j < FEATURES; j++)
                w[j] = lengths[pair % 6] * (2 * tacit_stream_unit(&stream) - 1);
            if (pair % 3 == 0)
                for (size_t j = 0; j < FEATURES; j++) x[1][j] = -x[0][j];
            if (pair % 6 == 0) y[0] = HIGHEST[counts], y[1] = counts ? HIGHEST[counts] : HIGHEST[0];
            most = fmax(most, moved(counts, w, (const double(*)[FEATURES])x, y));
        }
        print_message("# %s: %.6f of the bound\n", counts ? "counts" : "numbers", most);
        assert_true(most <= 1 + 1e-9);
        assert_true(most > 0.99);
    }
}

/* ---- what it learns ---- */

static double residual(bool counts, double y, double t) {
    double r = counts ? (exp(t) - y) / 3 : t - y / 20, most = counts ? 1 : 0.5;
    return fmin(fmax(r, -most), most);
}

/* |gradient| of the clipped loss at a model's weights, over that at 0. */
static double left_over(bool counts, const parties *self, const tacit_model *model) {
    double norms[2];
    for (int at = 0; at < 2; at++) {
        double gradient[FEATURES] = { 0 }, square = 0, unit = counts ? 1 : 20;
        for (size_t i = 0; i < self->data->rows; i++) {
            const double *x = self->data->dense.values + i * FEATURES;
            double t = 0;
            for (size_t j = 0; j < FEATURES; j++) t += at * model->weights[j] / unit * x[j];
            double r = residual(counts, self->data->response[i], t) / (double)self->data->rows;
            for (size_t j = 0; j < FEATURES; j++) gradient[j] += r * x[j];
        }
        for (size_t j = 0; j < FEATURES; j++)
            square += pow(gradient[j] + at * self->plan.lambda * model->weights[j] / unit, 2);
        norms[at] = sqrt(square);
    }
    return norms[1] / norms[0];
}

static void without_noise_the_clipped_equation_is_solved(void **state) {
    (void)state;
    for (int counts = 0; counts < 2; counts++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_schema *schema = schema_of(counts);
        parties self;
        make(&self, counts, 4, 100, schema);
        self.plan.lambda = 0.01;
        CHECK_OK(tacit_plan_set(&self.plan, "rounds", "2000", &error), error);
        tacit_model *model = parties_run(&self, 1, NULL);
        assert_string_equal(model->family->name, counts ? "poisson" : "linear");
        double left = left_over(counts, &self, model);
        print_message("# %s: %.2g of the first gradient is left\n", model->family->name, left);
        assert_true(left < 1e-4);
        tacit_model_free(model);
        parties_end(&self);
        tacit_schema_free(schema);
    }
}

static double spread_of(const tacit_view *rows) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < rows->rows.count; i++)
        mean += tacit_view_response(rows, i) / (double)rows->rows.count;
    for (size_t i = 0; i < rows->rows.count; i++) square += pow(tacit_view_response(rows, i) - mean, 2);
    return sqrt(square / (double)rows->rows.count);
}

static void with_noise_it_says_more_than_the_mean(void **state) {
    (void)state;
    for (int counts = 0; counts < 2; counts++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_schema *schema = schema_of(counts);
        tacit_metrics metrics;
        tacit_prices prices = { .event = { .count = 0 } };
        parties self;
        make(&self, counts, 5, 1000, schema);
        self.plan.epsilon = 1;
        self.plan.lambda = 0;
        self.plan.expected_rows = 5000;
        CHECK_OK(tacit_plan_choose_lambda(&self.plan, &error), error);
        CHECK_OK(tacit_plan_price(&self.plan, &prices, &error), error);
        CHECK_NEAR(prices.charged.epsilon, 1, 1e-9);
        tacit_model *model = parties_run(&self, 4, NULL);
        tacit_view rows = tacit_dataset_view(self.data);
        CHECK_OK(tacit_model_evaluate(model, &rows, NULL, &metrics, &error), error);
        print_message("# epsilon 1, %s: error %.3f, of the mean %.3f\n", model->family->name, metrics.rmse,
                      spread_of(&rows));
        assert_true(metrics.rmse < 0.85 * spread_of(&rows));
        tacit_model_free(model);
        parties_end(&self);
        tacit_schema_free(schema);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_row_moves_a_sum_by_more_than_declared),
        cmocka_unit_test(without_noise_the_clipped_equation_is_solved),
        cmocka_unit_test(with_noise_it_says_more_than_the_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
