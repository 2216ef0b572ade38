/* Plans for numbers and counts: assumed rows have the signal that is stated, the yardsticks are the fits they
 * say they are, and verdicts follow. All chance is from fixed seeds, so that no check fails by chance. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "failing.h"
#include "lab/plan_response.h"
#include "lab/planning.h"

#define COLUMNS                                                                                              \
    "columns:\n"                                                                                             \
    "  - {name: a, kind: number, low: 0, high: 10}\n"                                                        \
    "  - {name: b, kind: number, low: -1, high: 1}\n"                                                        \
    "  - {name: c, kind: category, levels: [x, y, z]}\n"                                                     \
    "  - {name: d, kind: number, low: 0, high: 1}\n"

static const char *const SCHEMAS[] = { "label: {name: y, kind: number, low: 100, high: 300}\n" COLUMNS,
                                       "label: {name: y, kind: count, low: 0, high: 24}\n" COLUMNS };
enum { KINDS = 2 };

static tacit_schema *schema_of(const char *text) {
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_schema_parse(&schema, text, strlen(text), "s.yaml", &error), error);
    return schema;
}

static const tacit_method *const newton = &tacit_method_dpnewton;

static tacit_outlook_request request_for(const tacit_schema *schema) {
    return (tacit_outlook_request){ .belief = { .schema = schema },
                                    .parties = 20,
                                    .rows = 2000,
                                    .epsilon = 3,
                                    .delta = 1e-5,
                                    .dropouts = 0.1,
                                    .colluders = 0.1,
                                    .methods = &newton,
                                    .method_count = 1,
                                    .brief = true,
                                    .seed = 1 };
}

static void look(tacit_outlook *out, const tacit_outlook_request *request) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_outlook_make(out, request, &error), error);
}

static void make(tacit_world *out, const tacit_schema *schema, double signal, size_t train, size_t tests) {
    tacit_belief belief = { .schema = schema, .signal = signal };
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_belief_settle(&belief, NULL, &error), error);
    CHECK_OK(tacit_world_make(out, &belief, train, tests, 3, 0, &error), error);
    tacit_belief_clear(&belief);
}

static void rows_of_belief_have_the_signal_that_is_stated(void **state) {
    (void)state;
    static const double signals[] = { 0.1, 0.3, 0.6 };
    for (size_t kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < 3; i++) {
            tacit_schema *schema = schema_of(SCHEMAS[kind]);
            tacit_world world = TACIT_WORLD_INIT;
            make(&world, schema, signals[i], 1000, 8000);
            CHECK_NEAR(world.limit[TACIT_BELIEF_SHARE], signals[i], 0.03);
            assert_true(isnan(world.limit[TACIT_BELIEF_AUC]));
            assert_null(world.data->label);
            for (size_t r = 0; r < world.data->rows; r++) {
                double y = world.data->response[r];
                assert_true(y >= schema->low && y <= schema->high);
                if (schema->response == TACIT_RESPONSE_COUNT) assert_true(y == floor(y));
            }
            tacit_world_clear(&world);
            tacit_schema_free(schema);
        }
}

/* The gradient of the penalised likelihood, sum (mean - y) x + ridge w, vanishes at the weights. */
static void yardsticks_solve_the_equations_of_a_ridge(void **state) {
    (void)state;
    static const double RIDGE = 0.7;
    for (size_t kind = 0; kind < KINDS; kind++) {
        tacit_schema *schema = schema_of(SCHEMAS[kind]);
        tacit_world world = TACIT_WORLD_INIT;
        tacit_model *model = NULL;
        tacit_error error = TACIT_ERROR_INIT;
        make(&world, schema, 0.4, 900, 1);
        tacit_view all = tacit_dataset_view(world.data), train = tacit_view_slice(&all, 0, 900);
        tacit_linear_fit how = { .lambda = RIDGE / 900 };
        CHECK_OK(plan_fit(&model, &train, schema, &how, &error), error);
        double largest = 0;
        for (size_t j = 0; j < model->features; j++) {
            double gradient = RIDGE * model->weights[j], size = 0;
            for (size_t i = 0; i < 900; i++) {
                double mean = tacit_model_mean(model, tacit_rows_dot(&train.rows, i, model->weights));
                double x = tacit_rows_cell(&train.rows, i, j);
                gradient += (mean - tacit_view_response(&train, i)) * x;
                size += fabs(mean * x);
            }
            largest = fmax(largest, fabs(gradient) / size);
        }
        assert_true(largest < 1e-4);
        tacit_model_free(model);
        tacit_world_clear(&world);
        tacit_schema_free(schema);
    }
}

static void joining_pays_with_much_epsilon_and_not_where_noise_drowns_all(void **state) {
    (void)state;
    static const char *const names[] = { "R^2", "share of the deviance" };
    for (size_t kind = 0; kind < KINDS; kind++) {
        tacit_schema *schema = schema_of(SCHEMAS[kind]);
        tacit_outlook_request request = request_for(schema);
        tacit_outlook outlook = TACIT_OUTLOOK_INIT;
        look(&outlook, &request);
        const tacit_outlook_method *one = &outlook.methods[0];
        assert_string_equal(tacit_outlook_main_name(&outlook), names[kind]);
        CHECK_NEAR(tacit_outlook_score(&outlook.pooled), TACIT_BELIEF_EXPLAINED, 0.04);
        assert_true(tacit_outlook_score(&one->expected) < tacit_outlook_score(&outlook.pooled));
        assert_int_equal(one->verdict, TACIT_OUTLOOK_PAYS);
        assert_false(tacit_outlook_hopeless(&outlook, one));
        tacit_outlook_clear(&outlook);
        request.epsilon = 0.005;
        look(&outlook, &request);
        assert_int_equal(outlook.methods[0].verdict, TACIT_OUTLOOK_DOES_NOT);
        assert_true(tacit_outlook_hopeless(&outlook, &outlook.methods[0]));
        tacit_outlook_clear(&outlook);
        tacit_schema_free(schema);
    }
}

static void thinned_rows_say_what_pooled_ones_would(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(SCHEMAS[0]);
    tacit_outlook_request request = request_for(schema);
    tacit_outlook outlook = TACIT_OUTLOOK_INIT;
    request.rows = 400000;
    look(&outlook, &request);
    assert_true(outlook.simulated < 20000);
    CHECK_NEAR(tacit_outlook_score(&outlook.pooled), TACIT_BELIEF_EXPLAINED, 0.02);
    CHECK_NEAR(tacit_outlook_score(&outlook.methods[0].expected), TACIT_BELIEF_EXPLAINED, 0.03);
    tacit_outlook_clear(&outlook);
    tacit_schema_free(schema);
}

/* Rows of a world with a strong signal, given as rows to be like. */
static void given_rows_are_believed(void **state) {
    (void)state;
    for (size_t kind = 0; kind < KINDS; kind++) {
        tacit_schema *schema = schema_of(SCHEMAS[kind]);
        tacit_error error = TACIT_ERROR_INIT;
        tacit_world world = TACIT_WORLD_INIT;
        tacit_outlook_request request = request_for(schema);
        tacit_outlook outlook = TACIT_OUTLOOK_INIT;
        make(&world, schema, 0.6, 600, 1);
        request.belief.rows = world.data;
        look(&outlook, &request);
        CHECK_NEAR(outlook.signal, 0.6, 0.06);
        CHECK_NEAR(tacit_outlook_score(&outlook.pooled), 0.6, 0.07);
        tacit_outlook_clear(&outlook);
        for (size_t i = 0; i < world.data->rows; i++) world.data->response[i] = schema->high;
        assert_int_equal(tacit_outlook_make(&outlook, &request, &error), TACIT_INPUT);
        tacit_world_clear(&world);
        tacit_schema_free(schema);
    }
}

static void a_request_that_makes_no_sense_is_a_mistake(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(SCHEMAS[1]);
    tacit_schema *times = schema_of("label: {name: [t, e], kind: time, low: 0, high: 9}\n" COLUMNS);
    tacit_outlook outlook = TACIT_OUTLOOK_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_outlook_request request = request_for(times);
    assert_int_equal(tacit_outlook_make(&outlook, &request, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "of kind time"));
    request = request_for(schema);
    error = (tacit_error)TACIT_ERROR_INIT;
    request.belief.signal = 1;
    assert_int_equal(tacit_outlook_make(&outlook, &request, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "share explained"));
    tacit_schema_free(schema);
    tacit_schema_free(times);
}

/* Each allocation of a belief in few rows and of a world of them fails once. */
static void a_belief_survives_the_failure_of_any_allocation(void **state) {
    (void)state;
    for (size_t kind = 0; kind < KINDS; kind++) {
        tacit_schema *schema = schema_of(SCHEMAS[kind]);
        tacit_world few = TACIT_WORLD_INIT;
        make(&few, schema, 0.5, 30, 1);
        bool failed = true;
        for (long at = 1; failed; at += 1 + at / 4) {
            tacit_belief belief = { .schema = schema, .rows = few.data };
            tacit_world world = TACIT_WORLD_INIT;
            fail_allocation(at);
            tacit_status status = tacit_belief_settle(&belief, NULL, NULL);
            if (status == TACIT_OK) status = tacit_world_make(&world, &belief, 40, 20, 1, 0, NULL);
            failed = allocation_failed();
            assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
            tacit_world_clear(&world);
            tacit_belief_clear(&belief);
        }
        tacit_world_clear(&few);
        tacit_schema_free(schema);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_belief_have_the_signal_that_is_stated),
        cmocka_unit_test(yardsticks_solve_the_equations_of_a_ridge),
        cmocka_unit_test(joining_pays_with_much_epsilon_and_not_where_noise_drowns_all),
        cmocka_unit_test(thinned_rows_say_what_pooled_ones_would),
        cmocka_unit_test(given_rows_are_believed),
        cmocka_unit_test(a_request_that_makes_no_sense_is_a_mistake),
        cmocka_unit_test(a_belief_survives_the_failure_of_any_allocation),
    };
    return cmocka_run_group_tests_name("planning_numbers", tests, NULL, NULL);
}
