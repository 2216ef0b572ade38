/*
 * dpsgd on numbers and counts: a network's gradient is the derivative of its loss; no row adds more than one clipping norm to
 * a sum, and two rows are apart by two; without noise a linear model solves the clipped equation, written out here; a network
 * learns what no line can; with noise the models still say more than the mean. Seeds are fixed.
 */
#include "check.h"

#include "method/private/dpsgd.h"
#include "parties.h"

enum { FEATURES = 3, ROWS = 400 };
static const double HIGHEST[] = { 20, 9 }; /* of numbers, from -20 on; of counts */

static tacit_schema *schema_of(const char *kind, double low, double high) {
    char text[512];
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    int used = snprintf(text, sizeof text,
                        "label: {name: y, kind: %s, low: %g, high: %g}\nintercept: no\ncolumns:\n"
                        "  - {name: a, kind: number, low: -1, high: 1}\n"
                        "  - {name: b, kind: number, low: -1, high: 1}\n"
                        "  - {name: c, kind: number, low: -1, high: 1}\n",
                        kind, low, high);
    CHECK_OK(tacit_schema_parse(&schema, text, (size_t)used, "schema", &error), error);
    return schema;
}

static tacit_schema *schema_for(bool counts) {
    return counts ? schema_of("count", 0, HIGHEST[1]) : schema_of("number", -HIGHEST[0], HIGHEST[0]);
}

typedef double responder(const double *x, double u); /* u: uniform on [0, 1] */

static double number(const double *x, double u) { return 5 + 12 * x[0] - 8 * x[1] + 2 * u - 1; }
static double count(const double *x, double u) { return fmin(9, floor(exp(0.5 + 1.5 * x[0] - x[1]) + u)); }
static double crossed(const double *x, double u) { return x[0] * x[1] > 0 ? 10 + u : -10 - u; }

static void set(tacit_plan *plan, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(plan, name, value, &error), error);
}

static void make(parties *self, responder *respond, const tacit_schema *schema, const char *hidden) {
    tacit_dataset *data = ball(ROWS, FEATURES, 8);
    tacit_stream stream = tacit_stream_from_seed(9);
    data->response = TACIT_NEW(double, data->rows);
    assert_non_null(data->response);
    for (size_t i = 0; i < data->rows; i++)
        data->response[i] = respond(data->dense.values + i * FEATURES, tacit_stream_unit(&stream));
    free(data->label);
    data->label = NULL;
    tacit_levels_clear(&data->classes);
    parties_make(self, data, 4, NULL);
    self->plan.method = &tacit_method_dpsgd;
    self->plan.schema = schema;
    self->plan.classes = 0;
    self->plan.delta = 1e-5;
    self->plan.lambda = 0;
    set(&self->plan, "sampling", "1");
    set(&self->plan, "hidden", hidden);
}

static double error_of(const tacit_model *model, const tacit_dataset *data) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_view rows = tacit_dataset_view(data);
    tacit_metrics metrics;
    CHECK_OK(tacit_model_evaluate(model, &rows, NULL, &metrics, &error), error);
    return metrics.rmse;
}

static double spread(const tacit_dataset *data) {
    double sum = 0, squares = 0, n = (double)data->rows;
    for (size_t i = 0; i < data->rows; i++) {
        sum += data->response[i];
        squares += data->response[i] * data->response[i];
    }
    return sqrt(squares / n - sum / n * sum / n);
}

/* ---- gradients ---- */

/* Of dense layers, and of a recurrent one, whose rows' gradients are written down. */
static const struct {
    const char *hidden, *shape;
} LAYERS[] = { { "none", "none" }, { "4", "none" }, { "gru:2,3", "3x1" } };

enum { KINDS = sizeof LAYERS / sizeof *LAYERS };

static tacit_network network_for(parties *self, size_t kind, double *parameters) {
    tacit_network network;
    tacit_error error = TACIT_ERROR_INIT;
    double gain[TACIT_NETWORK_LAYERS];
    tacit_stream stream = tacit_stream_from_seed(3);
    set(&self->plan, "hidden", LAYERS[kind].hidden);
    set(&self->plan, "shape", LAYERS[kind].shape);
    CHECK_OK(network_of_plan(&network, &self->plan, &error), error);
    for (size_t l = 0; l < network.layers; l++) gain[l] = 1;
    tacit_network_start(&network, gain, &stream, parameters);
    for (size_t j = 0; j < tacit_network_size(&network); j++) parameters[j] = (double)(float)parameters[j];
    return network;
}

static void the_gradient_is_the_derivative(void **state) {
    (void)state;
    for (int counts = 0; counts < 2; counts++)
        for (size_t kind = 0; kind < KINDS; kind++) {
            tacit_schema *schema = schema_for(counts);
            tacit_error error = TACIT_ERROR_INIT;
            double w[64], gradient[64] = { 0 }, scratch[64];
            parties self;
            make(&self, counts ? count : number, schema, "none");
            tacit_network network = network_for(&self, kind, w);
            tacit_network_space *space = NULL;
            tacit_view all = tacit_dataset_view(self.data), rows = tacit_view_slice(&all, 0, 40);
            CHECK_OK(tacit_network_space_create(&space, &network, &error), error);
            tacit_network_backward(&network, w, &rows, space, gradient);
            for (size_t p = 0; p < tacit_network_size(&network); p++) {
                const double kept = w[p], step = 1e-6;
                w[p] = kept + step;
                double above = tacit_network_backward(&network, w, &rows, space, scratch);
                w[p] = kept - step;
                double below = tacit_network_backward(&network, w, &rows, space, scratch);
                w[p] = kept;
                CHECK_NEAR(gradient[p], (above - below) / (2 * step), 1e-4);
            }
            tacit_network_space_free(space);
            parties_end(&self);
            tacit_schema_free(schema);
        }
}

static double distance(const double *a, const double *b, size_t length) {
    double square = 0;
    for (size_t j = 0; j < length; j++) square += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(square);
}

/* One row more moves a sum by at most 1, whatever its response, weights that overflow included; the first and the last
 * response of the range are 2 apart at a score between them. The control: unclipped, the same row moves it by more. */
static void no_row_adds_more_than_the_clipping_norm(void **state) {
    (void)state;
    static const double zero[64] = { 0 };
    for (int counts = 0; counts < 2; counts++)
        for (size_t kind = 0; kind < KINDS; kind++)
            for (double larger = 1; larger <= 1e6; larger *= 1e3) {
                tacit_schema *schema = schema_for(counts);
                tacit_error error = TACIT_ERROR_INIT;
                double w[64], sum[2][64], plain[64], most = 0, apart = 0;
                parties self;
                make(&self, counts ? count : number, schema, "none");
                tacit_network network = network_for(&self, kind, w);
                const size_t size = tacit_network_size(&network);
                for (size_t j = 0; j < size; j++) w[j] *= larger;
                tacit_batch *batch = NULL;
                tacit_view all = tacit_dataset_view(self.data);
                CHECK_OK(tacit_batch_create(&batch, &network, NULL, NULL, &error), error);
                tacit_batch_load(batch, w);
                for (size_t i = 0; i < 100; i++) {
                    tacit_view row = tacit_view_slice(&all, i, 1);
                    for (int side = 0; side < 2; side++) {
                        self.data->response[i] = side == 0 && !counts ? -HIGHEST[0] : side * HIGHEST[counts];
                        CHECK_OK(tacit_batch_sum(batch, &row, 0.01, sum[side], &error), error);
                        assert_true(distance(sum[side], zero, size) <= 1 + 1e-12);
                    }
                    apart = fmax(apart, distance(sum[0], sum[1], size));
                    CHECK_OK(tacit_batch_sum_plain(batch, &row, plain, &error), error);
                    most = fmax(most, distance(plain, zero, size) / 0.01);
                }
                assert_true(apart <= 2 + 1e-12 && most > 1);
                assert_true(larger > 1 || apart > 1.99);
                tacit_batch_free(batch);
                parties_end(&self);
                tacit_schema_free(schema);
            }
}

/* ---- what is fitted ---- */

static double residual(bool counts, double y, double t) {
    double r = counts ? (exp(t) - y) / 3 : t - y / 20, most = counts ? 1 : 0.5;
    return fmin(fmax(r, -most), most);
}

/* Weights, then the bias; a number's are in units of its largest. */
static double gradient_left(bool counts, const parties *self, const double *weights) {
    double gradient[FEATURES + 1] = { 0 }, square = 0, unit = counts ? 1 : 20;
    for (size_t i = 0; i < ROWS; i++) {
        const double *x = self->data->dense.values + i * FEATURES;
        double t = weights[FEATURES] / unit;
        for (size_t j = 0; j < FEATURES; j++) t += weights[j] / unit * x[j];
        double r = residual(counts, self->data->response[i], t) / ROWS;
        for (size_t j = 0; j < FEATURES; j++) gradient[j] += r * x[j];
        gradient[FEATURES] += r;
    }
    for (size_t j = 0; j <= FEATURES; j++) square += gradient[j] * gradient[j];
    return sqrt(square);
}

static void without_noise_the_clipped_equation_is_solved(void **state) {
    (void)state;
    for (int counts = 0; counts < 2; counts++) {
        tacit_schema *schema = schema_for(counts);
        parties self;
        make(&self, counts ? count : number, schema, "none");
        set(&self.plan, "clip", "10"); /* above all norms: only the loss clips */
        set(&self.plan, "epochs", "600");
        tacit_model *model = parties_run(&self, 1, NULL);
        double left = gradient_left(counts, &self, model->weights);
        print_message("# %s: %.2g of the gradient is left\n", counts ? "counts" : "numbers", left);
        assert_string_equal(model->family->name, counts ? "poisson" : "linear");
        assert_true(left < 1e-5);
        model->weights[0] *= 1.05; /* the control */
        assert_true(gradient_left(counts, &self, model->weights) > 1e-4);
        tacit_model_free(model);
        parties_end(&self);
        tacit_schema_free(schema);
    }
}

static void a_network_learns_what_no_line_can(void **state) {
    (void)state;
    double error[2];
    for (int layers = 0; layers < 2; layers++) {
        tacit_schema *schema = schema_for(false);
        parties self;
        make(&self, crossed, schema, layers == 0 ? "none" : "8");
        set(&self.plan, "optimiser", "adam");
        set(&self.plan, "rate", "0.05");
        set(&self.plan, "scale", "4");
        set(&self.plan, "epochs", "300");
        tacit_model *model = parties_run(&self, 2, NULL);
        error[layers] = error_of(model, self.data);
        tacit_model_free(model);
        parties_end(&self);
        tacit_schema_free(schema);
    }
    print_message("# a line %.2f, a network %.2f\n", error[0], error[1]);
    assert_true(error[0] > 9 && error[1] < 6);
}

static void with_noise_models_say_more_than_the_mean(void **state) {
    (void)state;
    for (int counts = 0; counts < 2; counts++) {
        tacit_schema *schema = schema_for(counts);
        parties self;
        make(&self, counts ? count : number, schema, "none");
        self.plan.epsilon = 4;
        set(&self.plan, "epochs", "50");
        tacit_model *model = parties_run(&self, 5, NULL);
        double error = error_of(model, self.data), mean = spread(self.data);
        print_message("# %s: %.3f, the mean alone %.3f\n", counts ? "counts" : "numbers", error, mean);
        assert_true(error < 0.8 * mean);
        tacit_model_free(model);
        parties_end(&self);
        tacit_schema_free(schema);
    }
}

static void a_model_of_a_number_is_read_back(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = schema_for(true);
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_model *again = NULL;
    parties self;
    make(&self, count, schema, "4");
    tacit_model *model = parties_run(&self, 5, NULL);
    CHECK_OK(tacit_model_print(model, &text, &error), error);
    CHECK_OK(tacit_model_parse(&again, text.bytes, text.length, "model", &error), error);
    assert_true(again->family == model->family && tacit_network_same(&again->network, &model->network));
    CHECK_NEAR(error_of(again, self.data), error_of(model, self.data), 0);
    tacit_buffer_clear(&text);
    tacit_model_free(again);
    tacit_model_free(model);
    parties_end(&self);
    tacit_schema_free(schema);
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = schema_for(false);
    parties self;
    make(&self, number, schema, "none");
    set(&self.plan, "weights", "1,2");
    assert_int_equal(tacit_plan_check(&self.plan, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "weights"));
    set(&self.plan, "weights", "none");
    CHECK_OK(tacit_plan_check(&self.plan, &error), error);
    schema->response = TACIT_RESPONSE_TIME;
    assert_int_equal(tacit_plan_check(&self.plan, &error), TACIT_USAGE);
    parties_end(&self);
    tacit_schema_free(schema);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_the_derivative),
        cmocka_unit_test(no_row_adds_more_than_the_clipping_norm),
        cmocka_unit_test(without_noise_the_clipped_equation_is_solved),
        cmocka_unit_test(a_network_learns_what_no_line_can),
        cmocka_unit_test(with_noise_models_say_more_than_the_mean),
        cmocka_unit_test(a_model_of_a_number_is_read_back),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests_name("dpsgd_numbers", tests, NULL, NULL);
}
