/* Plans: assumed rows have the signal that is stated, thinned rows say what all would, and what does not
 * suit is named. All chance is from fixed seeds, so that no check fails by chance. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "failing.h"
#include "lab/planning.h"
#include "privacy/account/gaussian.h"

static const char SCHEMA[] = "label: {name: y, classes: [\"0\", \"1\"]}\ncolumns:\n"
                             "  - {name: a, kind: number, low: 0, high: 10}\n"
                             "  - {name: b, kind: number, low: -1, high: 1}\n"
                             "  - {name: c, kind: category, levels: [x, y, z]}\n"
                             "  - {name: d, kind: number, low: 0, high: 1}\n";

static tacit_schema *schema_of(const char *text) {
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_schema_parse(&schema, text, strlen(text), "s.yaml", &error), error);
    return schema;
}

static tacit_outlook_request request_for(const tacit_schema *schema, const tacit_method *const *method) {
    return (tacit_outlook_request){ .belief = { .schema = schema },
                                    .parties = 10,
                                    .rows = 2000,
                                    .epsilon = 1,
                                    .delta = 1e-5,
                                    .dropouts = 0.1,
                                    .colluders = 0.1,
                                    .methods = method,
                                    .method_count = 1,
                                    .brief = true,
                                    .seed = 1 };
}

static const tacit_method *const newton = &tacit_method_dpnewton;
static const tacit_method *const averaging = &tacit_method_avg;

static void look(tacit_outlook *out, const tacit_outlook_request *request) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_outlook_make(out, request, &error), error);
}

static void rows_of_belief_have_the_signal_that_is_stated(void **state) {
    (void)state;
    static const double signals[] = { 0.6, 0.75, 0.9 };
    tacit_schema *schema = schema_of(SCHEMA);
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t i = 0; i < 3; i++) {
        tacit_belief belief = { .schema = schema, .signal = signals[i], .positives = 0.2 };
        tacit_world world = TACIT_WORLD_INIT;
        CHECK_OK(tacit_belief_settle(&belief, NULL, &error), error);
        CHECK_OK(tacit_world_make(&world, &belief, 1000, 8000, 3, 0, &error), error);
        size_t positives = 0;
        for (size_t r = 0; r < world.data->rows; r++) {
            tacit_rows rows = tacit_dataset_rows(world.data);
            positives += world.data->label[r] == 1;
            assert_true(tacit_rows_norm(&rows, r) <= 1);
        }
        CHECK_NEAR(world.limit[1], signals[i], 0.02);
        CHECK_NEAR((double)positives / 9000, 0.2, 0.02);
        tacit_world_clear(&world);
        tacit_belief_clear(&belief);
    }
    tacit_schema_free(schema);
}

static void thinning_leaves_noise_the_same_share_of_a_sum(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    double thinned, before, after;
    CHECK_OK(tacit_outlook_thin(&thinned, 0.5, 1e-5, 8, true, &error), error);
    CHECK_OK(tacit_gaussian_sigma(&before, 0.5, 1e-5, 1, &error), error);
    CHECK_OK(tacit_gaussian_sigma(&after, thinned, 1e-5, 1, &error), error);
    CHECK_NEAR(after * 8 / before, 1, 1e-6);
    CHECK_OK(tacit_outlook_thin(&thinned, 0.5, 0, 8, false, &error), error);
    CHECK_NEAR(thinned, 4, 1e-12);
    CHECK_OK(tacit_outlook_thin(&thinned, 0.5, 1e-5, 1, true, &error), error);
    CHECK_NEAR(thinned, 0.5, 0);
    CHECK_OK(tacit_outlook_thin(&thinned, 3, 1e-5, 200, true, &error), error);
    CHECK_NEAR(thinned, TACIT_OUTLOOK_MOST_EPSILON, 0);
}

/* 12,000 rows are played whole and 96,000 thinned eight times. With an eighth of the epsilon the noise is the
 * same share of a sum: what is left of the difference is what more rows are worth, and that only helps. */
static void thinned_rows_say_what_all_would(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(SCHEMA);
    tacit_outlook_request request = request_for(schema, &newton);
    tacit_outlook whole = TACIT_OUTLOOK_INIT, thinned = TACIT_OUTLOOK_INIT;
    request.rows = 12000;
    request.epsilon = 0.2;
    look(&whole, &request);
    assert_int_equal(whole.simulated, 12000);
    request.rows = 96000;
    tacit_error error = TACIT_ERROR_INIT;
    double sigma;
    CHECK_OK(tacit_gaussian_sigma(&sigma, 0.2, 1e-5, 1, &error), error);
    CHECK_OK(tacit_gaussian_epsilon(&request.epsilon, 8 * sigma, 1e-5, &error), error);
    look(&thinned, &request);
    assert_int_equal(thinned.simulated, 12000);
    assert_int_equal(thinned.methods[0].rounds, whole.methods[0].rounds);
    CHECK_NEAR(tacit_outlook_score(&thinned.methods[0].expected),
               tacit_outlook_score(&whole.methods[0].expected), 0.01);
    tacit_outlook_clear(&whole);
    tacit_outlook_clear(&thinned);
    tacit_schema_free(schema);
}

static void the_same_seed_gives_the_same_outlook(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(SCHEMA);
    tacit_outlook_request request = request_for(schema, &newton);
    tacit_outlook one = TACIT_OUTLOOK_INIT, other = TACIT_OUTLOOK_INIT;
    look(&one, &request);
    look(&other, &request);
    assert_memory_equal(&one.methods[0].expected, &other.methods[0].expected, sizeof one.alone);
    assert_memory_equal(&one.alone, &other.alone, sizeof one.alone);
    tacit_outlook_clear(&one);
    tacit_outlook_clear(&other);
    tacit_schema_free(schema);
}

/* Of two studies that are expected to be behind a site alone, the one that may be no better than guessing is
 * hopeless, however wide its spread is. */
static void what_may_be_guessing_is_hopeless(void **state) {
    (void)state;
    tacit_outlook outlook = { .response = TACIT_RESPONSE_CLASS };
    tacit_outlook_method method = { .behind = false };
    outlook.alone.figure[TACIT_BELIEF_AUC] = (tacit_outlook_figure){ 0.74, 0.72, 0.76 };
    method.expected.figure[TACIT_BELIEF_AUC] = (tacit_outlook_figure){ 0.60, 0.45, 0.75 };
    assert_true(tacit_outlook_hopeless(&outlook, &method));
    method.expected.figure[TACIT_BELIEF_AUC] = (tacit_outlook_figure){ 0.65, 0.55, 0.75 };
    assert_false(tacit_outlook_hopeless(&outlook, &method));
    outlook.alone.figure[TACIT_BELIEF_AUC] = (tacit_outlook_figure){ 0.55, 0.45, 0.65 };
    method.expected.figure[TACIT_BELIEF_AUC] = (tacit_outlook_figure){ 0.60, 0.45, 0.75 };
    assert_false(tacit_outlook_hopeless(&outlook, &method));
}

/* What a model of two classes is expected to score. */
static tacit_outlook_method expecting(double auc, double log_loss) {
    tacit_outlook_method out = { .plan = { .method = newton, .classes = 2 }, .charged = { .epsilon = 1 } };
    out.expected.figure[TACIT_BELIEF_AUC] = (tacit_outlook_figure){ auc, auc, auc };
    out.expected.figure[TACIT_BELIEF_LOG_LOSS] = (tacit_outlook_figure){ log_loss, log_loss, log_loss };
    return out;
}

static void check_better(const tacit_outlook *outlook, tacit_outlook_method a, tacit_outlook_method b) {
    assert_true(tacit_outlook_better(outlook, &a, &b));
    assert_false(tacit_outlook_better(outlook, &b, &a));
}

/* 30% positives: the base rate has a log-loss of .611. */
static void a_method_that_gains_on_the_base_rate_is_ahead_of_one_that_only_ranks_better(void **state) {
    (void)state;
    tacit_outlook outlook = { .response = TACIT_RESPONSE_CLASS, .epsilon = 1, .positives = 0.3 };
    check_better(&outlook, expecting(0.62, 0.605), expecting(0.70, 0.893));
    check_better(&outlook, expecting(0.70, 0.600), expecting(0.62, 0.590));  /* both gain: by AUC */
    check_better(&outlook, expecting(0.70, 0.590), expecting(0.701, 0.600)); /* nearly the same: by loss */
    check_better(&outlook, expecting(0.62, 0.674), expecting(0.70, 0.893));  /* both lose: by loss */
    check_better(&outlook, expecting(0.70, 0.620), expecting(0.62, 0.615));  /* and lose nearly the same */
    tacit_outlook_method dear = expecting(0.90, 0.300);
    dear.charged.epsilon = 3;
    check_better(&outlook, expecting(0.62, 0.893), dear);
}

static void joining_pays_more_with_epsilon_and_not_where_noise_drowns_all(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(SCHEMA);
    tacit_outlook_request request = request_for(schema, &newton);
    tacit_outlook outlook = TACIT_OUTLOOK_INIT;
    request.rows = 1000;
    request.parties = 20;
    request.epsilon = 5;
    look(&outlook, &request);
    assert_int_equal(outlook.methods[0].verdict, TACIT_OUTLOOK_PAYS);
    assert_false(tacit_outlook_hopeless(&outlook, &outlook.methods[0]));
    tacit_outlook_clear(&outlook);
    request.epsilon = 0.01;
    look(&outlook, &request);
    assert_int_equal(outlook.methods[0].verdict, TACIT_OUTLOOK_DOES_NOT);
    assert_true(tacit_outlook_hopeless(&outlook, &outlook.methods[0]));
    tacit_outlook_clear(&outlook);
    request.belief.signal = 0.99;
    look(&outlook, &request);
    assert_int_equal(outlook.methods[0].verdict, TACIT_OUTLOOK_NONE);
    tacit_outlook_clear(&outlook);
    tacit_schema_free(schema);
}

/* The price from which it pays is at most the one at which it is said to pay, and above one at which it is not,
 * though fewer rows are looked at for it. */
static void the_price_from_which_joining_pays_agrees_with_the_verdict(void **state) {
    (void)state;
    static const double prices[] = { 0.25, 1, 4 };
    tacit_schema *schema = schema_of(SCHEMA);
    tacit_outlook_request request = request_for(schema, &newton);
    int paying = 0, others = 0;
    request.rows = 400;
    request.parties = 4;
    request.brief = false;
    for (size_t i = 0; i < 3; i++)
        for (request.seed = 1; request.seed <= 3; request.seed++) {
            tacit_outlook outlook = TACIT_OUTLOOK_INIT;
            request.epsilon = prices[i];
            look(&outlook, &request);
            const tacit_outlook_method *one = &outlook.methods[0];
            const bool pays = one->verdict == TACIT_OUTLOOK_PAYS;
            if (pays) assert_true(one->pays_from <= prices[i]);
            if (!pays && !isnan(one->pays_from)) assert_true(one->pays_from > prices[i]);
            paying += pays;
            others += !pays;
            tacit_outlook_clear(&outlook);
        }
    assert_true(paying > 0 && others > 0);
    tacit_schema_free(schema);
}

/* A study for inference is foreseen to have an empty table, with what it would take; one with enough rows is
 * not, thinned or not. */
static void an_empty_table_of_coefficients_is_foreseen(void **state) {
    (void)state;
    static const size_t rows[] = { 300, 100000 };
    tacit_schema *schema = schema_of(SCHEMA);
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t i = 0; i < 2; i++) {
        tacit_outlook_request request = request_for(schema, &newton);
        tacit_outlook outlook = TACIT_OUTLOOK_INIT;
        tacit_plan study;
        char doubt[TACIT_REMARK_SIZE];
        request.rows = rows[i];
        CHECK_OK(tacit_outlook_plan(&study, &request, newton, &error), error);
        CHECK_OK(tacit_plan_set(&study, "purpose", "inference", &error), error);
        request.study = &study;
        look(&outlook, &request);
        const tacit_outlook_method *one = &outlook.methods[0];
        const bool empty = tacit_outlook_inestimable(one);
        assert_int_equal(empty, i == 0);
        if (empty) {
            assert_true(tacit_outlook_hopeless(&outlook, one));
            assert_true(one->needs_rows > (double)rows[i] && one->needs_epsilon > request.epsilon);
            assert_true(tacit_outlook_doubtful(&outlook, one, doubt));
            assert_non_null(strstr(doubt, "not estimable"));
        } else
            assert_true(one->not_estimable == 0);
        tacit_outlook_clear(&outlook);
    }
    tacit_schema_free(schema);
}

/* The settings that a plan would have are those of a study with the same public numbers, whatever was
 * played. */
static void rounds_follow_expected_rows_and_not_the_threshold(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(SCHEMA);
    tacit_outlook_request request = request_for(schema, &newton);
    tacit_outlook low = TACIT_OUTLOOK_INIT, high = TACIT_OUTLOOK_INIT;
    request.minimum_rows = 10;
    look(&low, &request);
    request.minimum_rows = 200;
    look(&high, &request);
    assert_int_equal(low.methods[0].rounds, high.methods[0].rounds);
    assert_true(low.methods[0].plan.lambda == high.methods[0].plan.lambda);
    assert_int_equal(low.methods[0].plan.minimum_rows, 10);
    tacit_outlook_clear(&low);
    tacit_outlook_clear(&high);
    tacit_schema_free(schema);
}

static void what_does_not_suit_is_named_with_the_reason(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(SCHEMA);
    tacit_outlook_request request = request_for(schema, NULL);
    tacit_error error = TACIT_ERROR_INIT;
    tacit_plan plan;
    static const struct {
        const tacit_method *method;
        const char *why;
    } cases[] = { { &tacit_method_vote, "public points" },
                  { &tacit_method_batch, "adds no noise" },
                  { &tacit_method_dphtl, "" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        error = (tacit_error)TACIT_ERROR_INIT;
        assert_int_equal(tacit_outlook_plan(&plan, &request, cases[i].method, &error), TACIT_USAGE);
        assert_non_null(strstr(error.text, cases[i].why));
    }
    request.delta = 0;
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_outlook_plan(&plan, &request, newton, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "delta"));
    CHECK_OK(tacit_outlook_plan(&plan, &request, averaging, &error), error);
    tacit_schema_free(schema);
}

static void a_request_that_makes_no_sense_is_a_mistake(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(SCHEMA);
    tacit_outlook outlook = TACIT_OUTLOOK_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_outlook_request request = request_for(schema, &newton);
    request.rows = 9;
    assert_int_equal(tacit_outlook_make(&outlook, &request, &error), TACIT_USAGE);
    request = request_for(schema, &newton);
    request.belief.signal = 0.4;
    assert_int_equal(tacit_outlook_make(&outlook, &request, &error), TACIT_USAGE);
    assert_null(outlook.methods);
    tacit_schema_free(schema);
}

/* Rows of a world with a strong signal, given as rows to be like. */
static void given_rows_are_believed(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(SCHEMA);
    tacit_error error = TACIT_ERROR_INIT;
    tacit_belief strong = { .schema = schema, .signal = 0.88, .positives = 0.4 };
    tacit_world world = TACIT_WORLD_INIT;
    CHECK_OK(tacit_belief_settle(&strong, NULL, &error), error);
    CHECK_OK(tacit_world_make(&world, &strong, 600, 1, 5, 0, &error), error);
    tacit_outlook_request request = request_for(schema, &newton);
    tacit_outlook outlook = TACIT_OUTLOOK_INIT;
    request.belief.rows = world.data;
    look(&outlook, &request);
    CHECK_NEAR(outlook.signal, 0.88, 0.04);
    CHECK_NEAR(outlook.positives, 0.4, 0.06);
    CHECK_NEAR(outlook.pooled.figure[TACIT_BELIEF_AUC].mean, 0.88, 0.05);
    tacit_outlook_clear(&outlook);
    memset(world.data->label, 0, world.data->rows * sizeof *world.data->label);
    assert_int_equal(tacit_outlook_make(&outlook, &request, &error), TACIT_INPUT);
    tacit_world_clear(&world);
    tacit_schema_free(schema);
}

static bool at_once(void *context) { return ++*(int *)context > 3; }

static void a_plan_can_be_stopped(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(SCHEMA);
    int asked = 0;
    tacit_progress progress = { NULL, at_once, &asked };
    tacit_outlook_request request = request_for(schema, &newton);
    tacit_outlook outlook = TACIT_OUTLOOK_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    request.progress = &progress;
    assert_int_equal(tacit_outlook_make(&outlook, &request, &error), TACIT_CANCELLED);
    assert_null(outlook.methods);
    tacit_schema_free(schema);
}

/* Each allocation of a belief in few rows and of a world of them fails once. */
static void a_belief_survives_the_failure_of_any_allocation(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(SCHEMA);
    tacit_error error = TACIT_ERROR_INIT;
    tacit_belief drawn = { .schema = schema };
    tacit_world few = TACIT_WORLD_INIT;
    CHECK_OK(tacit_belief_settle(&drawn, NULL, &error), error);
    CHECK_OK(tacit_world_make(&few, &drawn, 30, 1, 1, 0, &error), error);
    const tacit_dataset *const sources[] = { NULL, few.data };
    for (size_t s = 0; s < 2; s++) {
        bool failed = true;
        for (long at = 1; failed; at += s == 0 ? 1 : 1 + at / 8) {
            tacit_belief belief = { .schema = schema, .rows = sources[s] };
            tacit_world world = TACIT_WORLD_INIT;
            fail_allocation(at);
            tacit_status status = tacit_belief_settle(&belief, NULL, NULL);
            if (status == TACIT_OK) status = tacit_world_make(&world, &belief, 40, 20, 1, 0, NULL);
            failed = allocation_failed();
            assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
            tacit_world_clear(&world);
            tacit_belief_clear(&belief);
        }
    }
    tacit_world_clear(&few);
    tacit_schema_free(schema);
}

/* A whole plan, at a few of its many allocations. */
static void a_plan_survives_the_failure_of_an_allocation(void **state) {
    (void)state;
    tacit_schema *schema = schema_of(SCHEMA);
    tacit_outlook_request request = request_for(schema, &newton);
    request.rows = 200;
    for (long at = 1; at < 3000; at += 1 + at / 2) {
        tacit_outlook outlook = TACIT_OUTLOOK_INIT;
        fail_allocation(at);
        tacit_status status = tacit_outlook_make(&outlook, &request, NULL);
        if (allocation_failed() && status != TACIT_OK) assert_int_equal(status, TACIT_NO_MEMORY);
        tacit_outlook_clear(&outlook);
    }
    tacit_schema_free(schema);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_belief_have_the_signal_that_is_stated),
        cmocka_unit_test(thinning_leaves_noise_the_same_share_of_a_sum),
        cmocka_unit_test(thinned_rows_say_what_all_would),
        cmocka_unit_test(the_same_seed_gives_the_same_outlook),
        cmocka_unit_test(what_may_be_guessing_is_hopeless),
        cmocka_unit_test(a_method_that_gains_on_the_base_rate_is_ahead_of_one_that_only_ranks_better),
        cmocka_unit_test(joining_pays_more_with_epsilon_and_not_where_noise_drowns_all),
        cmocka_unit_test(the_price_from_which_joining_pays_agrees_with_the_verdict),
        cmocka_unit_test(an_empty_table_of_coefficients_is_foreseen),
        cmocka_unit_test(rounds_follow_expected_rows_and_not_the_threshold),
        cmocka_unit_test(what_does_not_suit_is_named_with_the_reason),
        cmocka_unit_test(a_request_that_makes_no_sense_is_a_mistake),
        cmocka_unit_test(given_rows_are_believed),
        cmocka_unit_test(a_plan_can_be_stopped),
        cmocka_unit_test(a_belief_survives_the_failure_of_any_allocation),
        cmocka_unit_test(a_plan_survives_the_failure_of_an_allocation),
    };
    return cmocka_run_group_tests_name("planning", tests, NULL, NULL);
}
