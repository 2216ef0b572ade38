/*
 * The last question of dpnewton (line=asked): no neighbour moves its two numbers beyond the declared sensitivity,
 * which is nearly reached; it is asked where public numbers say so, in its place and nowhere else, and what was
 * agreed on before it was there is as it was; all questions together cost what the study declares; and where
 * labels say nothing of the columns, a model of noise comes nearer to the base rate by it.
 */
#include "check.h"

#include "lab/audit/audit.h"
#include "method/private/dpnewton.h"
#include "parties.h"
#include "rand/fast.h"

enum { FEATURES = 40, ROWS = 600, SIZE = FEATURES + 2 };

static void set(tacit_plan *plan, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(plan, name, value, &error), error);
}

/* n mu is 160 at epsilon 1: four for each column. */
static parties world_of(const char *noise) {
    parties world;
    parties_make(&world, ball(ROWS, FEATURES, 1), 3, NULL);
    world.plan.method = &tacit_method_dpnewton;
    world.plan.lambda = 0.01;
    world.plan.epsilon = 1;
    world.plan.delta = 1e-5;
    set(&world.plan, "noise", noise);
    set(&world.plan, "rows", "600");
    return world;
}

static dpnewton_design design_of(const tacit_plan *plan) {
    tacit_error error = TACIT_ERROR_INIT;
    dpnewton_design design;
    CHECK_OK(dpnewton_describe(plan, &design, &error), error);
    return design;
}

/* What one party with these rows answers without noise. */
static void answer(const parties *world, const tacit_dataset *data, const double *weights, double out[2]) {
    tacit_error error = TACIT_ERROR_INIT;
    const dpnewton_design design = design_of(&world->plan);
    tacit_party party = { .plan = &world->plan, .rows = tacit_dataset_view(data), .total_rows = data->rows };
    CHECK_OK(dpnewton_sum_line(&party, &design, weights, out, &error), error);
}

/* Rows, weights and laws of any size, also such as are no numbers. */
static void no_neighbour_moves_it_beyond_what_is_declared(void **state) {
    (void)state;
    enum { NEIGHBOURS = 400 };
    static const double size[] = { 0, 1, 40, 1e6, 1e308 }, spread[] = { 1, 0, -1, NAN, 1e-300, INFINITY };
    tacit_stream stream = tacit_stream_from_seed(31);
    parties world = world_of("coordinator");
    tacit_dataset *data = ball(40, FEATURES, 1);
    const double most =
        design_of(&world.plan).release[design_of(&world.plan).rounds + 1].mechanism.sensitivity;
    double largest = 0, before[2], after[2];
    for (int i = 0; i < NEIGHBOURS; i++) {
        double weights[SIZE];
        for (size_t j = 0; j < FEATURES; j++) weights[j] = (tacit_stream_unit(&stream) - 0.5) * size[i % 5];
        weights[FEATURES] = i % 7 == 0 ? NAN : tacit_stream_unit(&stream) - 0.5;
        weights[FEATURES + 1] = spread[i % 6];
        answer(&world, data, weights, before);
        for (size_t j = 0; j < FEATURES; j++) data->dense.values[j] = 2 * tacit_stream_unit(&stream) - 1;
        data->label[0] = (int32_t)tacit_stream_below(&stream, 2);
        answer(&world, data, weights, after);
        largest = fmax(largest, hypot(before[0] - after[0], before[1] - after[1]) / most);
    }
    print_message("# %.3f of what is declared\n", largest);
    assert_true(largest > 0.5 && largest <= 1);
    tacit_dataset_free(data);
    parties_end(&world);
}

/* A score of 0, which the question takes to be far out: residuals of one half, opposite, at the bound of t. */
static void the_worst_rows_reach_it(void **state) {
    (void)state;
    parties world = world_of("coordinator");
    tacit_dataset *data = ball(40, FEATURES, 1);
    const dpnewton_design design = design_of(&world.plan);
    double weights[SIZE] = { 0 }, answers[2][2];
    weights[FEATURES] = -10;
    weights[FEATURES + 1] = 1;
    for (int side = 0; side < 2; side++) {
        data->label[0] = side;
        answer(&world, data, weights, answers[side]);
    }
    double shift = hypot(answers[0][0] - answers[1][0], answers[0][1] - answers[1][1]) /
                   design.release[design.rounds + 1].mechanism.sensitivity;
    assert_true(shift > 0.999 && shift <= 1);
    tacit_dataset_free(data);
    parties_end(&world);
}

static void it_is_asked_where_public_numbers_say_so(void **state) {
    (void)state;
    static const struct {
        const char *name, *value;
        bool asked;
    } cases[] = { { "rows", "600", true },    { "rows", "400", false }, { "rows", "1500", false },
                  { "line", "steps", false }, { "folds", "3", false },  { "moments", "reused", true } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        parties world = world_of("party");
        set(&world.plan, "noise", "coordinator");
        set(&world.plan, cases[i].name, cases[i].value);
        const dpnewton_design design = design_of(&world.plan);
        assert_true(design.asks_line == cases[i].asked);
        assert_int_equal(world.plan.method->exchanges(&world.plan),
                         design.rounds + !design.reuses + (design.folds.count > 0) + cases[i].asked);
        parties_end(&world);
    }
}

static void all_questions_together_cost_what_is_declared(void **state) {
    (void)state;
    static const char *const who[] = { "coordinator", "party", "shares" };
    for (size_t n = 0; n < 3; n++) {
        tacit_error error = TACIT_ERROR_INIT;
        parties world = world_of(who[n]);
        tacit_account account;
        tacit_prices total;
        if (n == 1) set(&world.plan, "rows", "1000");
        tacit_model_free(parties_run(&world, 1, NULL));
        CHECK_OK(tacit_local_charged(world.local, TACIT_UNIT_RECORD, &account, &error), error);
        CHECK_OK(tacit_plan_price(&world.plan, &total, &error), error);
        assert_true(tacit_amount_within(account.spent_epsilon, total.charged.epsilon));
        assert_true(account.spent_epsilon > 0.999);
        const dpnewton_design design = design_of(&world.plan);
        assert_true(design.asks_line);
        uint64_t runs = 0;
        for (size_t t = 0; t <= design.rounds + 1; t++) {
            assert_true(design.release[t].event.parameter >= design.all.parameter);
            runs += design.release[t].event.count;
        }
        assert_int_equal(design.release[design.rounds + 1].event.count, 40);
        assert_int_equal(runs, design.all.count);
        parties_end(&world);
    }
}

static tacit_status ask(parties *world, uint64_t round, const dpnewton_design *design) {
    static const double weights[SIZE];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_session session = parties_begin(world, 1);
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    session.round = round;
    CHECK_OK(tacit_message_add_numbers(&message, "weights", weights, SIZE, &error), error);
    tacit_status status = tacit_ask_sum(&session, "line", &message, &design->line, &sum, &error);
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}

static void it_is_answered_in_its_place_only(void **state) {
    (void)state;
    parties world = world_of("coordinator");
    set(&world.plan, "rounds", "4");
    const dpnewton_design design = design_of(&world.plan);
    for (uint64_t round = 0; round < 8; round++)
        assert_true((ask(&world, round, &design) == TACIT_OK) == (round == 5));
    set(&world.plan, "line", "steps");
    for (uint64_t round = 0; round < 8; round++) assert_int_not_equal(ask(&world, round, &design), TACIT_OK);
    parties_end(&world);
}

/* Mean log-loss on the rows of models that were made of labels drawn by a coin. */
static double loss_of_noise(const char *line) {
    enum { MODELS = 24 };
    double sum = 0;
    for (uint64_t seed = 1; seed <= MODELS; seed++) {
        parties world = world_of("coordinator");
        tacit_stream stream = tacit_stream_from_seed(seed);
        set(&world.plan, "line", line);
        world.plan.lambda = 1e-4;
        for (size_t i = 0; i < ROWS; i++) world.data->label[i] = (int32_t)tacit_stream_below(&stream, 2);
        tacit_model *model = parties_run(&world, seed, NULL);
        tacit_dataset *others = ball(ROWS, FEATURES, 99);
        for (size_t i = 0; i < ROWS; i++) {
            const double *row = others->dense.values + i * FEATURES;
            double z = 0;
            for (size_t j = 0; j < FEATURES; j++) z += model->weights[j] * row[j];
            sum += (log1p(exp(-fabs(z))) + fabs(z) / 2) / ROWS / MODELS; /* of a coin's label */
        }
        tacit_dataset_free(others);
        tacit_model_free(model);
        parties_end(&world);
    }
    return sum;
}

static void a_model_of_noise_comes_nearer_to_the_base_rate(void **state) {
    (void)state;
    double steps = loss_of_noise("steps"), asked = loss_of_noise("asked"), base = log(2);
    print_message("# log-loss of models of nothing: %.3f by the steps, %.3f asked, base rate %.3f\n", steps,
                  asked, base);
    assert_true(asked - base < 0.75 * (steps - base));
}

/* A sound subject is called broken with probability at most 1e-10; seeds are fixed. */
static tacit_audit_result audited(const char *name, const char *noise) {
    const tacit_setting_value settings[] = { { "noise", noise } };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_audit audit = { .setup = { .epsilon = 3, .delta = 0.05, .settings = settings, .setting_count = 1 },
                          .runs = 6000,
                          .confidence = 1 - 1e-10,
                          .seed = 5 };
    tacit_audit_result result;
    CHECK_OK(tacit_auditable_require(&audit.subject, name, &error), error);
    CHECK_OK(tacit_audit_run(&result, &audit, &error), error);
    print_message("# %s, charged %g: at least %.4f, reach %.3f\n", name, result.charged.epsilon,
                  result.epsilon_lower, result.reach);
    return result;
}

static void an_audit_finds_it_sound_and_thinner_noise_broken(void **state) {
    (void)state;
    tacit_audit_result sound = audited("dpnewton-line", "party"), shared = audited("dpnewton-line", "shares"),
                       thin = audited("dpnewton-line-thin", "party");
    assert_false(sound.broken || shared.broken);
    assert_true(sound.epsilon_lower > 1 && shared.epsilon_lower > 1);
    assert_true(sound.reach > 0.99 && sound.reach <= 1);
    assert_true(thin.broken && thin.charged.epsilon == 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_neighbour_moves_it_beyond_what_is_declared),
        cmocka_unit_test(the_worst_rows_reach_it),
        cmocka_unit_test(it_is_asked_where_public_numbers_say_so),
        cmocka_unit_test(all_questions_together_cost_what_is_declared),
        cmocka_unit_test(it_is_answered_in_its_place_only),
        cmocka_unit_test(a_model_of_noise_comes_nearer_to_the_base_rate),
        cmocka_unit_test(an_audit_finds_it_sound_and_thinner_noise_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
