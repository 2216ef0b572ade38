/*
 * dpnewton: no neighbour moves the moments or a step beyond the declared sensitivity, which is nearly
 * reached; the noise of every question has the scale that its share asks for; all together cost what is
 * declared, and two studies little more than one; a party answers a question only in its place; without noise
 * the steps end where the clipped equation is solved; with noise the model is worth having.
 *
 * Noise. The sum of k squared standard normals leaves k -+ (2 sqrt(k u) + 2u), u = 21.5 > ln(2e9), with
 * probability below 1e-9 (Laurent and Massart 2000); each check must also reject a scale that is 10% off.
 */
#include "check.h"

#include "lab/audit/audit.h"
#include "method/private/dpnewton.h"
#include "num/noisy/noisy_moments.h"
#include "parties.h"

static const double U = 21.5;

enum { FEATURES = 4, MOMENTS = FEATURES * (FEATURES + 1) / 2 };

static void set(tacit_plan *plan, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(plan, name, value, &error), error);
}

static parties world_of(tacit_dataset *data, size_t count, const char *noise) {
    parties world;
    parties_make(&world, data, count, NULL);
    world.plan.method = &tacit_method_dpnewton;
    world.plan.lambda = 0.01;
    world.plan.delta = 1e-5;
    set(&world.plan, "noise", noise);
    return world;
}

static dpnewton_design design_of(const tacit_plan *plan) {
    tacit_error error = TACIT_ERROR_INIT;
    dpnewton_design design;
    CHECK_OK(dpnewton_describe(plan, &design, &error), error);
    return design;
}

/* Three numbers, so that rows are scaled: most are then longer than 1. */
static tacit_schema *three_numbers(void) {
    static const char text[] = "label: {name: y, classes: [a, b]}\n"
                               "columns:\n"
                               "  - {name: u, kind: number, low: -1, high: 1}\n"
                               "  - {name: v, kind: number, low: -1, high: 1}\n"
                               "  - {name: w, kind: number, low: -1, high: 1}\n"
                               "intercept: yes\n";
    tacit_error error = TACIT_ERROR_INIT;
    tacit_schema *schema = NULL;
    CHECK_OK(tacit_schema_parse(&schema, text, strlen(text), "test", &error), error);
    return schema;
}

/* The sums over all parties: of moments when `weights` is NULL, else of step 1 at those. */
static tacit_status answers(parties *self, const dpnewton_design *design, uint64_t seed,
                            const double *weights, double *out, tacit_error *error) {
    tacit_stream root = tacit_stream_from_seed(seed);
    tacit_session session;
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_local_begin(self->local, &self->plan, &root, NULL, &session, error));
    if (weights != NULL) {
        session.round = 1;
        TACIT_CHECK(tacit_message_add_numbers(&message, "weights", weights, FEATURES, error));
    }
    TACIT_CHECK(tacit_ask_sum(&session, weights != NULL ? "gradient" : "moments", &message,
                              weights != NULL ? &design->gradient : &design->moments, &sum, error));
    memcpy(out, sum.values, (weights != NULL ? FEATURES : MOMENTS) * sizeof *out);
cleanup:
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
    return status;
}

static void ask(parties *self, const double *weights, double *out) {
    tacit_error error = TACIT_ERROR_INIT;
    dpnewton_design design = design_of(&self->plan);
    CHECK_OK(answers(self, &design, 1, weights, out, &error), error);
}

static double distance(const double *a, const double *b, size_t count) {
    double square = 0;
    for (size_t j = 0; j < count; j++) square += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(square);
}

/* ---- sensitivity ---- */

typedef struct ratios {
    double moments, gradient;
} ratios;

static double declared(const parties *self, size_t question) {
    tacit_plan plan = self->plan;
    plan.epsilon = 1;
    return design_of(&plan).release[question].mechanism.sensitivity;
}

/* Replace the first row by random ones, as long as rows may be or shorter, at weights of any size; the
 * largest shifts. */
static ratios largest_ratios(const tacit_schema *schema) {
    enum { NEIGHBOURS = 300 };
    static const double size[] = { 0, 1, 40, 1e6, 1e308 };
    tacit_stream stream = tacit_stream_from_seed(29);
    tacit_dataset *data = ball(40, FEATURES, 1);
    parties world = world_of(data, 2, "coordinator");
    ratios most = { 0, 0 };
    world.plan.schema = schema;
    for (int i = 0; i < NEIGHBOURS; i++) {
        double weights[FEATURES], before[MOMENTS], after[MOMENTS], at[FEATURES], then[FEATURES];
        for (size_t j = 0; j < FEATURES; j++) weights[j] = (tacit_stream_unit(&stream) - 0.5) * size[i % 5];
        ask(&world, NULL, before);
        ask(&world, weights, at);
        tacit_dataset *other = ball(1, FEATURES, tacit_stream_u64(&stream));
        double length = i % 2 == 0 ? tacit_rows_norm(&(tacit_rows){ .count = 1,
                                                                    .cols = FEATURES,
                                                                    .dense = other->dense.values,
                                                                    .stride = FEATURES },
                                                     0)
                                   : 1;
        for (size_t j = 0; j < FEATURES; j++)
            data->dense.values[j] = other->dense.values[j] / length * (1 - 1e-15);
        data->label[0] = (int32_t)tacit_stream_below(&stream, 2);
        tacit_dataset_free(other);
        ask(&world, NULL, after);
        ask(&world, weights, then);
        most.moments = fmax(most.moments, distance(before, after, MOMENTS) / declared(&world, 0));
        most.gradient = fmax(most.gradient, distance(at, then, FEATURES) / declared(&world, 1));
    }
    parties_end(&world);
    return most;
}

static void no_neighbour_moves_an_answer_beyond_what_is_declared(void **state) {
    (void)state;
    tacit_schema *schema = three_numbers();
    ratios plain = largest_ratios(NULL), scaled = largest_ratios(schema);
    print_message("# moments %.3f, scaled %.3f; gradient %.3f, scaled %.3f of what is declared\n",
                  plain.moments, scaled.moments, plain.gradient, scaled.gradient);
    assert_true(plain.moments > 0.7 && plain.moments <= 1 && plain.gradient > 0.7 && plain.gradient <= 1);
    assert_true(scaled.moments > 0.7 && scaled.moments <= 1 && scaled.gradient > 0.7 && scaled.gradient <= 1);
    tacit_schema_free(schema);
}

/* A row and one at a right angle to it; a row and its opposite. */
static void the_worst_rows_reach_it(void **state) {
    (void)state;
    tacit_dataset *data = ball(40, FEATURES, 1);
    parties world = world_of(data, 2, "coordinator");
    double before[MOMENTS], after[MOMENTS], zero[FEATURES] = { 0 };
    memcpy(data->dense.values, (double[]){ 1, 0, 0, 0 }, FEATURES * sizeof(double));
    ask(&world, NULL, before);
    memcpy(data->dense.values, (double[]){ 0, 0, 1, 0 }, FEATURES * sizeof(double));
    ask(&world, NULL, after);
    double moments = distance(before, after, MOMENTS) / declared(&world, 0);
    ask(&world, zero, before);
    data->dense.values[2] = -1;
    ask(&world, zero, after);
    double gradient = distance(before, after, FEATURES) / declared(&world, 1);
    assert_true(moments > 0.999 && moments <= 1 && gradient > 0.999 && gradient <= 1);
    parties_end(&world);
}

static void it_pays_for_the_rounding_of_sums_and_grid(void **state) {
    (void)state;
    parties world = world_of(ball(40, FEATURES, 1), 2, "coordinator");
    world.plan.epsilon = 1;
    dpnewton_design design = design_of(&world.plan);
    double moments = sqrt(2) + 2 * (GRADIENT_ROUNDING + tacit_sum_rounding(&design.moments)),
           gradient = 1 + 2 * (GRADIENT_ROUNDING + tacit_sum_rounding(&design.gradient));
    assert_true(design.release[0].mechanism.sensitivity >= moments);
    CHECK_NEAR(design.release[0].mechanism.sensitivity, moments, 1e-11);
    for (size_t t = 1; t <= design.rounds; t++) {
        assert_true(design.release[t].mechanism.sensitivity >= gradient);
        CHECK_NEAR(design.release[t].mechanism.sensitivity, gradient, 1e-11);
    }
    parties_end(&world);
}

/* A party that has no memory for packed rows says the same but for their rounding, and one that has more rows
 * than a block the same as the rows one by one. */
static void packed_rows_give_the_sums_of_the_rows(void **state) {
    (void)state;
    enum { ROWS = 333 };
    tacit_schema *schema = three_numbers();
    static const double weights[FEATURES] = { 3, -2, 1, 0.5 };
    tacit_dataset *data = ball(ROWS, FEATURES, 1);
    parties world = world_of(data, 1, "coordinator");
    world.plan.schema = schema;
    dpnewton_design design = design_of(&world.plan);
    tacit_error error = TACIT_ERROR_INIT;
    tacit_memo memo = { .packed = NULL };
    double moments[2][MOMENTS + 1], gradient[2][FEATURES];
    for (int packed = 0; packed < 2; packed++) {
        tacit_party party = { .plan = &world.plan,
                              .rows = tacit_dataset_view(data),
                              .total_rows = ROWS,
                              .memo = packed ? &memo : NULL };
        CHECK_OK(dpnewton_sum_moments(&party, &design, moments[packed], &error), error);
        CHECK_OK(dpnewton_sum_gradient(&party, &design, weights, gradient[packed], &error), error);
    }
    assert_non_null(memo.packed);
    assert_true(distance(moments[0], moments[1], MOMENTS + 1) < 1e-4);
    assert_true(distance(gradient[0], gradient[1], FEATURES) < 1e-4);
    assert_true(distance(moments[0], (double[MOMENTS]){ 0 }, MOMENTS) > 10);
    tacit_memo_clear(&memo);
    parties_end(&world);
    tacit_schema_free(schema);
}

/* ---- noise ---- */

static bool plausible(double sum, double k) { return fabs(sum - k) <= 2 * sqrt(k * U) + 2 * U; }

static void check_noise(const char *who, const double *weights) {
    enum { RUNS = 1500 };
    size_t count = weights != NULL ? FEATURES : MOMENTS, question = weights != NULL;
    tacit_error error = TACIT_ERROR_INIT;
    parties world = world_of(ball(60, FEATURES, 1), 5, who);
    double exact[MOMENTS], noisy[MOMENTS], sum = 0;
    set(&world.plan, "rounds", "2");
    ask(&world, weights, exact);
    world.plan.epsilon = 2;
    dpnewton_design design = design_of(&world.plan);
    double unit = design.release[question].deviation;
    for (uint64_t run = 0; run < RUNS; run++) {
        CHECK_OK(answers(&world, &design, 100 + run, weights, noisy, &error), error);
        sum += pow(distance(noisy, exact, count) / unit, 2);
    }
    double k = (double)(RUNS * count);
    assert_true(plausible(sum, k));
    assert_false(plausible(sum * 1.21, k));
    assert_false(plausible(sum * 0.81, k));
    parties_end(&world);
}

static void parties_and_their_shares_add_the_noise_that_is_declared(void **state) {
    (void)state;
    static const double weights[FEATURES] = { 0.5 };
    check_noise("party", NULL);
    check_noise("party", weights);
    check_noise("shares", NULL);
    check_noise("shares", weights);
}

typedef struct published {
    double *values;
    size_t count;
} published;

static void keep_published(void *context, const double *values, size_t count) {
    published *all = context;
    memcpy(all->values + all->count, values, count * sizeof *values);
    all->count += count;
}

static void run_watched(parties *self, uint64_t seed, published *out) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_watch watch = { keep_published, out };
    tacit_session session = parties_begin(self, seed);
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    session.watch = &watch;
    out->count = 0;
    CHECK_OK(self->plan.method->coordinate(&session, &outcome, &error), error);
    tacit_outcome_clear(&outcome);
}

/* At the first two questions nothing of earlier noise is in the answers. */
static void an_entrusted_coordinator_adds_it_too(void **state) {
    (void)state;
    enum { RUNS = 1500 };
    parties world = world_of(ball(60, FEATURES, 1), 3, "coordinator");
    double exact[MOMENTS], step[FEATURES], zero[FEATURES] = { 0 }, values[MOMENTS + 64 * FEATURES],
                                           sum[2] = { 0, 0 };
    published all = { values, 0 };
    set(&world.plan, "rounds", "2");
    ask(&world, NULL, exact);
    ask(&world, zero, step);
    world.plan.epsilon = 2;
    dpnewton_design design = design_of(&world.plan);
    for (uint64_t run = 0; run < RUNS; run++) {
        run_watched(&world, 100 + run, &all);
        assert_int_equal(all.count, MOMENTS + 2 * FEATURES);
        sum[0] += pow(distance(values, exact, MOMENTS) / design.release[0].deviation, 2);
        sum[1] += pow(distance(values + MOMENTS, step, FEATURES) / design.release[1].deviation, 2);
    }
    for (int i = 0; i < 2; i++) {
        double k = RUNS * (i == 0 ? MOMENTS : FEATURES);
        assert_true(plausible(sum[i], k));
        assert_false(plausible(sum[i] * 1.21, k) || plausible(sum[i] * 0.81, k));
    }
    parties_end(&world);
}

/* ---- price ---- */

/* What is asked in advance is within the price to the last digit: a gate refuses an event that is not. */
static void check_buys(const tacit_prices *total) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_accountant *account = NULL;
    tacit_spending spent;
    CHECK_OK(tacit_accountant_create(&account, TACIT_REPLACE, &error), error);
    CHECK_OK(tacit_accountant_add(account, &total->event, &error), error);
    CHECK_OK(tacit_accountant_epsilon(&spent, account, total->charged.delta, &error), error);
    assert_true(spent.epsilon <= total->charged.epsilon);
    tacit_accountant_free(account);
}

static void all_questions_together_cost_what_is_declared(void **state) {
    (void)state;
    static const char *const who[] = { "coordinator", "party", "shares" }, *const rounds[] = { "1", "5",
                                                                                               "0" };
    static const double prices[][2] = { { 0.1, 0.01 }, { 1, 1e-5 }, { 8, 1e-9 } };
    for (size_t p = 0; p < 3; p++)
        for (size_t n = 0; n < 3; n++)
            for (size_t r = 0; r < 3; r++) {
                tacit_error error = TACIT_ERROR_INIT;
                parties world = world_of(ball(60, 3, 1), 5, who[n]);
                tacit_account account;
                tacit_prices total;
                set(&world.plan, "rounds", rounds[r]);
                world.plan.epsilon = prices[p][0];
                world.plan.delta = prices[p][1];
                tacit_model_free(parties_run(&world, 1, NULL));
                CHECK_OK(tacit_local_charged(world.local, TACIT_UNIT_RECORD, &account, &error), error);
                CHECK_OK(tacit_plan_price(&world.plan, &total, &error), error);
                assert_true(tacit_amount_within(account.spent_epsilon, total.charged.epsilon));
                assert_true(account.spent_epsilon >
                            prices[p][0] * 0.999); /* shares count a part in 1e4 less */
                CHECK_NEAR(account.sum_delta / prices[p][1], 1, 1e-9);
                check_buys(&total);
                parties_end(&world);
            }
}

/* What a ledger holds for the study covers every question, and nothing is held in vain. */
static void each_question_is_covered_by_what_is_held_for_the_study(void **state) {
    (void)state;
    static const char *const who[] = { "coordinator", "party", "shares" };
    for (size_t n = 0; n < 3; n++) {
        parties world = world_of(ball(60, 3, 1), 5, who[n]);
        world.plan.epsilon = 1;
        dpnewton_design design = design_of(&world.plan);
        uint64_t runs = 0;
        for (size_t t = 0; t <= design.rounds; t++) {
            assert_true(design.release[t].event.parameter >= design.all.parameter);
            assert_true(design.release[t].event.count > 0);
            runs += design.release[t].event.count;
        }
        assert_int_equal(runs, design.all.count);
        parties_end(&world);
    }
}

static void two_studies_cost_far_less_than_twice_one(void **state) {
    (void)state;
    static const char *const who[] = { "coordinator", "shares" };
    for (size_t n = 0; n < 2; n++) {
        tacit_error error = TACIT_ERROR_INIT;
        parties world = world_of(ball(60, 3, 1), 5, who[n]);
        world.plan.epsilon = 1;
        dpnewton_design design = design_of(&world.plan);
        tacit_accountant *account = NULL;
        tacit_spending spent;
        CHECK_OK(tacit_accountant_create(&account, TACIT_REPLACE, &error), error);
        for (int study = 0; study < 2; study++)
            for (size_t t = 0; t <= design.rounds; t++)
                CHECK_OK(tacit_accountant_add(account, &design.release[t].event, &error), error);
        CHECK_OK(tacit_accountant_epsilon(&spent, account, 1e-5, &error), error);
        print_message("# two studies of epsilon 1 with noise=%s: %.4f\n", who[n], spent.epsilon);
        assert_true(spent.epsilon < 1.5 && spent.epsilon > 1.4);
        tacit_accountant_free(account);
        parties_end(&world);
    }
}

/* ---- the party's own rules ---- */

static void a_question_is_answered_in_its_place_only(void **state) {
    (void)state;
    static const double weights[FEATURES];
    parties world = world_of(ball(60, FEATURES, 1), 3, "party");
    set(&world.plan, "rounds", "5");
    world.plan.epsilon = 1;
    dpnewton_design design = design_of(&world.plan);
    for (uint64_t round = 0; round < 8; round++)
        for (int moments = 0; moments < 2; moments++) {
            tacit_error error = TACIT_ERROR_INIT;
            tacit_session session = parties_begin(&world, 1);
            tacit_message message = TACIT_MESSAGE_INIT;
            tacit_sum sum = TACIT_SUM_INIT;
            session.round = round;
            CHECK_OK(tacit_message_add_numbers(&message, "weights", weights, FEATURES, &error), error);
            tacit_status status = tacit_ask_sum(&session, moments ? "moments" : "gradient", &message,
                                                moments ? &design.moments : &design.gradient, &sum, &error);
            assert_true((status == TACIT_OK) == (moments ? round == 0 : round >= 1 && round <= 5));
            tacit_sum_clear(&sum);
            tacit_message_clear(&message);
        }
    parties_end(&world);
}

/* Nobody is asked for moments: a coordinator that does so all the same is refused in every round, and steps
 * begin at once. */
static void a_study_that_reuses_moments_answers_no_question_for_them(void **state) {
    (void)state;
    static const double weights[FEATURES];
    parties world = world_of(ball(60, FEATURES, 1), 3, "party");
    set(&world.plan, "rounds", "5");
    set(&world.plan, "moments", "reused");
    world.plan.epsilon = 1;
    dpnewton_design design = design_of(&world.plan);
    for (uint64_t round = 0; round < 7; round++)
        for (int moments = 0; moments < 2; moments++) {
            tacit_error error = TACIT_ERROR_INIT;
            tacit_session session = parties_begin(&world, 1);
            tacit_message message = TACIT_MESSAGE_INIT;
            tacit_sum sum = TACIT_SUM_INIT;
            session.round = round;
            CHECK_OK(tacit_message_add_numbers(&message, "weights", weights, FEATURES, &error), error);
            tacit_status status = tacit_ask_sum(&session, moments ? "moments" : "gradient", &message,
                                                moments ? &design.moments : &design.gradient, &sum, &error);
            assert_true((status == TACIT_OK) == (!moments && round < 5));
            tacit_sum_clear(&sum);
            tacit_message_clear(&message);
        }
    parties_end(&world);
}

/* All of the budget is the steps', whose noise is less by the root of what the moments took. */
static void reused_moments_leave_the_whole_budget_to_the_steps(void **state) {
    (void)state;
    static const char *const who[] = { "coordinator", "party", "shares" };
    for (size_t n = 0; n < 3; n++) {
        parties world = world_of(ball(60, FEATURES, 1), 5, who[n]);
        world.plan.epsilon = 1;
        dpnewton_design asked = design_of(&world.plan);
        set(&world.plan, "moments", "reused");
        dpnewton_design reused = design_of(&world.plan);
        uint64_t runs = 0;
        assert_int_equal(asked.rounds, reused.rounds);
        assert_int_equal(reused.release[0].event.count, 0);
        for (size_t t = 1; t <= reused.rounds; t++) {
            runs += reused.release[t].event.count;
            assert_true(reused.release[t].event.parameter >= reused.all.parameter);
            /* Shares are in whole thousandths. */
            CHECK_NEAR(reused.release[t].deviation / asked.release[t].deviation,
                       sqrt(1 - asked.release[0].share), 0.01);
        }
        assert_int_equal(runs, reused.all.count);
        parties_end(&world);
    }
}

/* ---- what it finds ---- */

/* At the end of the steps g + l w = 0: the last gradient gives w, and that w the gradient again. */
static void without_noise_the_clipped_equation_is_solved(void **state) {
    (void)state;
    tacit_dataset *data = ball(300, FEATURES, 3);
    parties world = world_of(data, 3, "coordinator");
    double values[MOMENTS + 64 * FEATURES], g[FEATURES], w[FEATURES], l = 300 * world.plan.lambda;
    published all = { values, 0 };
    set(&world.plan, "rounds", "64");
    run_watched(&world, 1, &all);
    const double *last = values + MOMENTS + 63 * FEATURES;
    for (size_t j = 0; j < FEATURES; j++) w[j] = -last[j] / l;
    ask(&world, w, g);
    print_message("# %.3g from a solution, of length %.3g\n", distance(g, last, FEATURES) / l,
                  distance(w, (double[FEATURES]){ 0 }, FEATURES));
    assert_true(distance(g, last, FEATURES) / l < 1e-4);
    parties_end(&world);
}

static double accuracy(const tacit_model *model, const tacit_dataset *data) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_metrics metrics;
    tacit_view rows = tacit_dataset_view(data);
    CHECK_OK(tacit_model_evaluate(model, &rows, NULL, &metrics, &error), error);
    return metrics.accuracy;
}

/* Seeds are fixed. Half of the rows have either class. */
static void with_noise_the_model_is_worth_having(void **state) {
    (void)state;
    static const char *const who[] = { "coordinator", "party", "shares" };
    for (size_t n = 0; n < 3; n++) {
        tacit_dataset *data = ball(3000, 6, 3);
        parties world = world_of(data, 5, who[n]);
        tacit_error error = TACIT_ERROR_INIT;
        world.plan.epsilon = 1;
        CHECK_OK(dpnewton_lambda(&world.plan, &world.plan.lambda, &error), error);
        tacit_model *model = parties_run(&world, 1, NULL);
        double found = accuracy(model, data);
        print_message("# noise=%s: accuracy %.3f\n", who[n], found);
        assert_true(found > 0.85);
        tacit_model_free(model);
        parties_end(&world);
    }
}

/* ---- audit ---- */

static tacit_audit_result audited(const char *name, const tacit_setting_value *settings, size_t count,
                                  size_t runs) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_audit audit = {
        .setup = { .epsilon = 3, .delta = 0.05, .settings = settings, .setting_count = count },
        .runs = runs,
        .confidence = 1 - 1e-10,
        .seed = 5
    };
    tacit_audit_result result;
    CHECK_OK(tacit_auditable_require(&audit.subject, name, &error), error);
    CHECK_OK(tacit_audit_run(&result, &audit, &error), error);
    print_message("# %s, charged %g: at least %.4f\n", name, result.charged.epsilon, result.epsilon_lower);
    return result;
}

/* A sound subject is called broken with probability at most 1e-10; seeds are fixed. */
static void an_audit_finds_it_sound_and_thinner_noise_broken(void **state) {
    (void)state;
    static const tacit_setting_value alone[] = { { "rounds", "2" }, { "noise", "party" } };
    static const tacit_setting_value settings[] = { { "rounds", "2" }, { "noise", "shares" } };
    static const tacit_setting_value more[] = { { "rounds", "12" } };
    tacit_audit_result sound = audited("dpnewton", alone, 2, 10000),
                       shared = audited("dpnewton", settings, 2, 10000),
                       thin = audited("dpnewton-thin", more, 1, 2000);
    assert_false(sound.broken || shared.broken);
    assert_true(sound.epsilon_lower > 1.5 && shared.epsilon_lower > 1.5); /* half of what is charged */
    assert_true(sound.reach > 0.97 && sound.reach <= 1);
    assert_true(thin.broken && thin.charged.epsilon == 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_neighbour_moves_an_answer_beyond_what_is_declared),
        cmocka_unit_test(the_worst_rows_reach_it),
        cmocka_unit_test(it_pays_for_the_rounding_of_sums_and_grid),
        cmocka_unit_test(packed_rows_give_the_sums_of_the_rows),
        cmocka_unit_test(parties_and_their_shares_add_the_noise_that_is_declared),
        cmocka_unit_test(an_entrusted_coordinator_adds_it_too),
        cmocka_unit_test(all_questions_together_cost_what_is_declared),
        cmocka_unit_test(each_question_is_covered_by_what_is_held_for_the_study),
        cmocka_unit_test(two_studies_cost_far_less_than_twice_one),
        cmocka_unit_test(a_question_is_answered_in_its_place_only),
        cmocka_unit_test(a_study_that_reuses_moments_answers_no_question_for_them),
        cmocka_unit_test(reused_moments_leave_the_whole_budget_to_the_steps),
        cmocka_unit_test(without_noise_the_clipped_equation_is_solved),
        cmocka_unit_test(with_noise_the_model_is_worth_having),
        cmocka_unit_test(an_audit_finds_it_sound_and_thinner_noise_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
