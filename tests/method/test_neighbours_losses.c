/*
 * Methods without a center on every loss that they take: squares of numbers, Poisson's loss of counts, Huber's hinge, and
 * clipped residuals of numbers and counts.
 * What they end with is held against the gradient of all rows pooled, which is written out here.
 */
#include "check.h"

#include <math.h>

#include "method/neighbours/neighbours.h"
#include "parties.h"

enum { NODES = 6, EACH = 40, FEATURES = 5 };

typedef enum kind { SQUARES, COUNTS, HINGE, ROBUST_SQUARES, ROBUST_COUNTS, KINDS } kind;

static bool has_squares(kind what) { return what == SQUARES || what == ROBUST_SQUARES; }

static tacit_schema *schema_of(kind what) {
    static const char *const labels[] = { "{name: y, kind: number, low: -20, high: 20}",
                                          "{name: y, kind: count, low: 0, high: 8}",
                                          "{name: y, classes: ['0', '1']}" };
    const char *label = what == HINGE ? labels[HINGE] : labels[has_squares(what) ? SQUARES : COUNTS];
    char text[1024];
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    size_t used = (size_t)snprintf(text, sizeof text, "label: %s\nintercept: no\ncolumns:\n", label);
    for (int j = 0; j < FEATURES; j++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "  - {name: x%d, kind: number, low: -1, high: 1}\n", j + 1);
    CHECK_OK(tacit_schema_parse(&schema, text, used, "schema", &error), error);
    return schema;
}

/* Responses that depend on the row, and on which party has it. */
static void respond(tacit_dataset *data, kind what) {
    if (what == HINGE) return;
    data->response = TACIT_NEW(double, data->rows);
    assert_non_null(data->response);
    for (size_t i = 0; i < data->rows; i++) {
        const double *x = data->dense.values + i * FEATURES;
        double t = 2 * x[0] - x[1] + 0.2 * (double)(i / EACH) - 0.5;
        data->response[i] = has_squares(what) ? 6 * t : fmin(8, floor(exp(t) + 0.5));
    }
    free(data->label);
    data->label = NULL;
    tacit_levels_clear(&data->classes);
}

static void make(parties *self, kind what, const char *method, const tacit_schema *schema,
                 const char *rounds) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_dataset *data = ball(NODES * EACH, FEATURES, 5);
    respond(data, what);
    parties_make(self, data, NODES, NULL);
    self->plan.method = tacit_method_find(method);
    self->plan.schema = schema;
    CHECK_OK(tacit_plan_set(&self->plan, "graph", "ring", &error), error);
    CHECK_OK(tacit_plan_set(&self->plan, "rounds", rounds, &error), error);
    if (what >= HINGE) CHECK_OK(tacit_plan_set(&self->plan, "loss", "huber", &error), error);
}

/* l' of a row at the score t; the hinge has the width 1/2, and squares are clipped at half of the largest, 20. */
static double slope_of(kind what, const tacit_dataset *data, size_t i, double t) {
    if (what == SQUARES) return t - data->response[i];
    if (what == COUNTS) return exp(t) - data->response[i];
    if (what == ROBUST_SQUARES) return fmin(fmax(t - data->response[i], -10), 10);
    if (what == ROBUST_COUNTS) return fmin(fmax((exp(t) - data->response[i]) / sqrt(8), -1), 1);
    double sign = data->label[i] == 1 ? 1 : -1, gap = 1.5 - sign * t;
    return gap <= 0 ? 0 : gap >= 1 ? -sign : -sign * gap;
}

/* |gradient| of the mean loss of all rows and the regulariser. */
static double steepness(kind what, const parties *self, const double *w) {
    double gradient[FEATURES] = { 0 }, square = 0;
    for (size_t i = 0; i < self->data->rows; i++) {
        const double *x = self->data->dense.values + i * FEATURES;
        double t = 0;
        for (size_t j = 0; j < FEATURES; j++) t += w[j] * x[j];
        double slope = slope_of(what, self->data, i, t) / (double)self->data->rows;
        for (size_t j = 0; j < FEATURES; j++) gradient[j] += slope * x[j];
    }
    for (size_t j = 0; j < FEATURES; j++) square += pow(gradient[j] + self->plan.lambda * w[j], 2);
    return sqrt(square);
}

static double ending_of(kind what, const char *method, const char *rounds) {
    static const double nowhere[FEATURES] = { 0 };
    static const char *const families[] = { "linear", "poisson", "huber", "linear", "poisson" };
    parties self;
    tacit_schema *schema = schema_of(what);
    make(&self, what, method, schema, rounds);
    tacit_model *model = parties_run(&self, 3, NULL);
    assert_string_equal(model->family->name, families[what]);
    double left = steepness(what, &self, model->weights) / steepness(what, &self, nowhere);
    print_message("# %s, %s: %.2g of the first gradient is left\n", method, families[what], left);
    tacit_model_free(model);
    parties_end(&self);
    tacit_schema_free(schema);
    return left;
}

static void extra_is_exact_for_every_loss(void **state) {
    (void)state;
    for (kind what = SQUARES; what < KINDS; what++) assert_true(ending_of(what, "extra", "3000") < 1e-8);
}

static void consensus_and_gossip_come_near(void **state) {
    (void)state;
    for (kind what = SQUARES; what < KINDS; what++) {
        assert_true(ending_of(what, "consensus", "3000") < 0.05);
        assert_true(ending_of(what, "gossip", "3000") < 0.1);
    }
}

/* What a label does not go with is told with what to do. */
static void mistakes_are_told(void **state) {
    (void)state;
    parties self;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = schema_of(SQUARES), *times = NULL;
    static const char text[] = "label: {name: [t, e], kind: time, low: 0, high: 9}\n"
                               "columns:\n  - {name: x1, kind: number, low: -1, high: 1}\n";
    CHECK_OK(tacit_schema_parse(&times, text, sizeof text - 1, "schema", &error), error);
    make(&self, SQUARES, "extra", schema, "5");
    CHECK_OK(tacit_plan_check(&self.plan, &error), error);
    CHECK_OK(tacit_plan_set(&self.plan, "loss", "huber", &error), error);
    CHECK_OK(tacit_plan_check(&self.plan, &error), error);
    self.plan.schema = NULL;
    self.plan.classes = 3;
    assert_int_equal(tacit_plan_check(&self.plan, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "loss=huber of method extra is for two classes, numbers and counts"));
    self.plan.classes = 0;
    self.plan.schema = times;
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_plan_check(&self.plan, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "class, number or count"));
    parties_end(&self);
    tacit_schema_free(schema);
    tacit_schema_free(times);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extra_is_exact_for_every_loss),
        cmocka_unit_test(consensus_and_gossip_come_near),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
