/*
 * avg and output on numbers and counts: no row moves what is released by more than declared, and some pair does by nearly
 * all of it; without noise one party's model solves the clipped equation, written out here, and where no residual is clipped it is ridge
 * regression. Seeds are fixed.
 */
#include "check.h"

#include "lab/replay.h"
#include "method/bounded_label.h"
#include "parties.h"

enum { FEATURES = 3, ROWS = 30 };
static const double HIGHEST[] = { 20, 9 }; /* of numbers, from -20 on; of counts */

static tacit_schema *schema_of(bool counts) {
    char text[512];
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    int used = snprintf(text, sizeof text,
                        "label: {name: y, kind: %s, low: %g, high: %g}\nintercept: no\ncolumns:\n"
                        "  - {name: a, kind: number, low: -1, high: 1}\n"
                        "  - {name: b, kind: number, low: -1, high: 1}\n"
                        "  - {name: c, kind: number, low: -1, high: 1}\n",
                        counts ? "count" : "number", counts ? 0.0 : -HIGHEST[0], HIGHEST[counts]);
    CHECK_OK(tacit_schema_parse(&schema, text, (size_t)used, "schema", &error), error);
    return schema;
}

static double respond(bool counts, double part, tacit_stream *stream) {
    double u = tacit_stream_unit(stream);
    if (counts) return floor(u * 10);
    return part * (40 * u - 20);
}

/* Responses of up to `part` of what is allowed. */
static void make(parties *self, bool counts, double part, const tacit_method *method,
                 const tacit_schema *schema) {
    tacit_dataset *data = ball(ROWS, FEATURES, 8);
    tacit_stream stream = tacit_stream_from_seed(9);
    data->response = TACIT_NEW(double, data->rows);
    data->response_columns = 1;
    assert_non_null(data->response);
    for (size_t i = 0; i < data->rows; i++) data->response[i] = respond(counts, part, &stream);
    free(data->label);
    data->label = NULL;
    tacit_levels_clear(&data->classes);
    parties_make(self, data, 1, NULL);
    self->plan.method = method;
    self->plan.schema = schema;
    self->plan.classes = 0;
}

/* ---- sensitivity ---- */

typedef struct replaying {
    const parties *world;
    bool counts, turned; /* the one row that is not at the origin turns around */
} replaying;

static tacit_status replace_row(void *context, size_t number, tacit_pair *out, tacit_error *error) {
    const replaying *self = context;
    tacit_stream stream = tacit_stream_from_seed(500 + number);
    out->plan = self->world->plan;
    out->plan.epsilon = 1;
    out->statistic = TACIT_STATISTIC_MODEL;
    out->split = split_in_blocks(ROWS, 1);
    tacit_dataset *other = ball(1, FEATURES, 900 + number);
    for (int side = 0; side < 2; side++) {
        TACIT_TRY(tacit_pair_copy(&out->data[side], self->world->data, error));
        double *values = out->data[side]->dense.values;
        if (!self->turned) continue;
        memset(values, 0, ROWS * FEATURES * sizeof *values);
        values[0] = side == 0 ? 1 : -1;
        out->data[side]->response[0] = HIGHEST[self->counts];
    }
    if (!self->turned) {
        memcpy(out->data[1]->dense.values, other->dense.values, FEATURES * sizeof(double));
        out->data[1]->response[0] =
            number % 2 == 0 ? HIGHEST[self->counts] : respond(self->counts, 1, &stream);
    }
    tacit_dataset_free(other);
    return TACIT_OK;
}

/* A model's weights are in the label's units, and what is declared in those of the loss. */
static void no_row_moves_a_model_by_more_than_declared(void **state) {
    (void)state;
    static const double lambdas[] = { 1, 0.01 };
    const tacit_method *const methods[] = { &tacit_method_output, &tacit_method_avg };
    for (int counts = 0; counts < 2; counts++)
        for (int m = 0; m < 2; m++)
            for (int l = 0; l < 2; l++)
                for (int turned = 0; turned < 2; turned++) {
                    tacit_error error = TACIT_ERROR_INIT;
                    tacit_schema *schema = schema_of(counts);
                    parties world;
                    make(&world, counts, 1, methods[m], schema);
                    world.plan.lambda = lambdas[l];
                    world.plan.minimum_rows = ROWS;
                    replaying context = { &world, counts, turned };
                    tacit_replay result;
                    CHECK_OK(
                        tacit_replay_run(&result, replace_row, &context, turned ? 1 : 25, 5, NULL, &error),
                        error);
                    const double ratio = result.ratio / (counts ? 1 : HIGHEST[0]);
                    print_message("# %s, %s, lambda %g%s: %.6f of the declared sensitivity\n",
                                  methods[m]->name, counts ? "counts" : "numbers", lambdas[l],
                                  turned ? ", turned" : "", ratio);
                    assert_true(ratio <= 1);
                    assert_true(!turned || lambdas[l] < 1 || ratio > 0.99);
                    parties_end(&world);
                    tacit_schema_free(schema);
                }
}

/* ---- what is fitted ---- */

static double residual(bool counts, double y, double t) {
    double r = counts ? (exp(t) - y) / 3 : t - y / 20, most = counts ? 1 : 0.5;
    return fmin(fmax(r, -most), most);
}

static double gradient_left(bool counts, const parties *self, const double *weights) {
    double gradient[FEATURES], square = 0, unit = counts ? 1 : 20;
    for (size_t j = 0; j < FEATURES; j++) gradient[j] = self->plan.lambda * weights[j] / unit;
    for (size_t i = 0; i < ROWS; i++) {
        const double *x = self->data->dense.values + i * FEATURES;
        double t = 0;
        for (size_t j = 0; j < FEATURES; j++) t += weights[j] / unit * x[j];
        for (size_t j = 0; j < FEATURES; j++)
            gradient[j] += residual(counts, self->data->response[i], t) * x[j] / ROWS;
    }
    for (size_t j = 0; j < FEATURES; j++) square += gradient[j] * gradient[j];
    return sqrt(square);
}

static void without_noise_the_clipped_equation_is_solved(void **state) {
    (void)state;
    const tacit_method *const methods[] = { &tacit_method_output, &tacit_method_avg };
    for (int counts = 0; counts < 2; counts++)
        for (int m = 0; m < 2; m++) {
            tacit_schema *schema = schema_of(counts);
            parties self;
            make(&self, counts, 1, methods[m], schema);
            self.plan.lambda = 0.01;
            tacit_model *model = parties_run(&self, 1, NULL);
            assert_string_equal(model->family->name, counts ? "poisson" : "linear");
            assert_true(gradient_left(counts, &self, model->weights) < 1e-6);
            tacit_model_free(model);
            parties_end(&self);
            tacit_schema_free(schema);
        }
}

/* (X^T X/n + lambda) w = X^T y/n holds where all |t - y/s| < 1/2. */
static void small_residuals_give_ridge_regression(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(false);
    parties self;
    make(&self, false, 0.2, &tacit_method_output, schema);
    self.plan.lambda = 0.05;
    tacit_model *model = parties_run(&self, 1, NULL);
    for (size_t j = 0; j < FEATURES; j++) {
        double left = self.plan.lambda * model->weights[j];
        for (size_t i = 0; i < ROWS; i++) {
            const double *x = self.data->dense.values + i * FEATURES;
            double t = 0;
            for (size_t k = 0; k < FEATURES; k++) t += model->weights[k] * x[k];
            assert_true(fabs(t - self.data->response[i]) < 10);
            left += (t - self.data->response[i]) * x[j] / ROWS;
        }
        CHECK_NEAR(left, 0, 1e-5);
    }
    tacit_model_free(model);
    parties_end(&self);
    tacit_schema_free(schema);
}

/* The loss of each family: l' is its derivative, and L, c and the pull hold over a grid. */
static void clipped_losses_have_the_bounds_that_they_claim(void **state) {
    (void)state;
    for (int counts = 0; counts < 2; counts++) {
        const tacit_family *family = (counts ? &tacit_family_poisson : &tacit_family_linear)->clipped;
        const double most = HIGHEST[counts], h = 1e-6;
        for (double y = counts ? 0 : -most; y <= most; y += 1)
            for (double t = -6; t <= 6; t += 0.0137) {
                double at[3] = { t, t - h, t + h }, ys[3] = { y, y, y }, loss[3], slope[3], curvature[3];
                family->loss.rows(tacit_kernels_choose(), most, 3, ys, at, loss, slope, curvature);
                CHECK_NEAR(slope[0], (loss[2] - loss[1]) / (2 * h), 1e-5);
                assert_true(fabs(slope[0]) <= family->loss.slope && slope[2] >= slope[1]);
                assert_true(curvature[0] <= family->loss.curvature(most));
                assert_true(-t * slope[0] <= family->pull(most, 0));
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_row_moves_a_model_by_more_than_declared),
        cmocka_unit_test(without_noise_the_clipped_equation_is_solved),
        cmocka_unit_test(small_residuals_give_ridge_regression),
        cmocka_unit_test(clipped_losses_have_the_bounds_that_they_claim),
    };
    return cmocka_run_group_tests_name("bounded_label", tests, NULL, NULL);
}
