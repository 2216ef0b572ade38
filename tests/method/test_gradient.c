/*
 * dpgd and psgd: without noise they find the minimum of all rows; the declared sensitivity holds for the
 * answers and is nearly reached; the noise has the law it promises; all rounds together cost what is
 * declared; a coordinator that starts again ends with the same model.
 *
 * Noise. The sum of k squared standard normals leaves k -+ (2 sqrt(k u) + 2u), u = 21.5 > ln(2e9), with
 * probability below 1e-9 (Laurent and Massart 2000); each check must also reject a scale that is 10% off.
 */
#include "check.h"

#include "method/private/gradient.h"
#include "parties.h"

static const double U = 21.5;

static void set(tacit_plan *plan, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(plan, name, value, &error), error);
}

static parties world_of(const tacit_method *method, tacit_dataset *data, size_t count, const char *rounds) {
    parties world;
    parties_make(&world, data, count, NULL);
    world.plan.method = method;
    set(&world.plan, "rounds", rounds);
    return world;
}

static double distance(const double *a, const double *b, size_t count) {
    double square = 0;
    for (size_t j = 0; j < count; j++) square += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(square);
}

/* ---- without noise ---- */

static void check_finds_minimum(const tacit_method *method, tacit_dataset *data, double within) {
    tacit_error error = TACIT_ERROR_INIT;
    parties world = world_of(method, data, 3, "400");
    tacit_linear_fit fit = { .lambda = world.plan.lambda };
    tacit_view rows = tacit_dataset_view(data);
    tacit_model *found = parties_run(&world, 1, NULL), *minimum = NULL;
    CHECK_OK(tacit_model_fit_linear(&minimum, &rows, &fit, &error), error);
    double apart = distance(found->weights, minimum->weights, tacit_model_size(found));
    print_message("# %s: %.3g from the minimum\n", method->name, apart);
    assert_true(apart < within);
    tacit_model_free(found);
    tacit_model_free(minimum);
    parties_end(&world);
}

static tacit_dataset *three_classes(void) {
    tacit_dataset *data = ball(90, 4, 5);
    assert_int_equal(tacit_levels_add(&data->classes, "c", 1, &(int32_t){ 0 }, NULL), TACIT_OK);
    for (size_t i = 0; i < data->rows; i += 3) data->label[i] = 2;
    return data;
}

static void without_noise_both_find_the_minimum_of_all_rows(void **state) {
    (void)state;
    check_finds_minimum(&tacit_method_dpgd, ball(100, 5, 3), 1e-6);
    check_finds_minimum(&tacit_method_dpgd, three_classes(), 1e-6);
    check_finds_minimum(&tacit_method_psgd, ball(100, 5, 3), 1e-2); /* its steps shrink */
}

/* ---- sensitivity ---- */

/* The sum of the answers at given weights. */
static void answers_by(parties *self, uint64_t seed, const double *weights, double *out) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_session session = parties_begin(self, seed);
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_sum_spec spec;
    size_t size = gradient_size(&self->plan);
    double rows = (double)self->data->rows;
    bool printed = self->plan.method == &tacit_method_psgd;
    CHECK_OK(printed ? psgd_sum(&self->plan, &spec, &error) : dpgd_sum(&self->plan, &spec, &error), error);
    CHECK_OK(tacit_message_add_numbers(&message, "weights", weights, size, &error), error);
    CHECK_OK(tacit_message_add_numbers(&message, "rows", &rows, 1, &error), error);
    CHECK_OK(tacit_ask_sum(&session, "gradient", &message, &spec, &sum, &error), error);
    memcpy(out, sum.values, size * sizeof *out);
    tacit_sum_clear(&sum);
    tacit_message_clear(&message);
}

static void answers_at(parties *self, const double *weights, double *out) {
    answers_by(self, 1, weights, out);
}

enum { MOST_WEIGHTS = 32 };

static double declared(const parties *self) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_plan plan = self->plan;
    tacit_noise_law law;
    plan.epsilon = 1;
    plan.delta = 1e-5;
    CHECK_OK(tacit_plan_noise(&plan, &law, &error), error);
    return law.sensitivity;
}

/* Replace `count` rows from the first by random ones, at random weights; the largest shift over the declared
 * one. */
static double largest_ratio(const tacit_method *method, tacit_dataset *data, const char *unit) {
    enum { NEIGHBOURS = 200 };
    tacit_stream stream = tacit_stream_from_seed(23);
    parties world = world_of(method, data, 3, "1");
    size_t d = data->features, size, count = strcmp(unit, "party") == 0 ? data->rows / 3 : 1;
    double most = 0, weights[MOST_WEIGHTS], before[MOST_WEIGHTS], after[MOST_WEIGHTS];
    if (method == &tacit_method_dpgd) set(&world.plan, "unit", unit);
    size = gradient_size(&world.plan);
    for (int i = 0; i < NEIGHBOURS; i++) {
        for (size_t j = 0; j < size; j++) weights[j] = 40 * (tacit_stream_unit(&stream) - 0.5);
        answers_at(&world, weights, before);
        tacit_dataset *other = ball(count, d, tacit_stream_u64(&stream));
        memcpy(data->dense.values, other->dense.values, count * d * sizeof(double));
        for (size_t r = 0; r < count; r++)
            data->label[r] = (int32_t)tacit_stream_below(&stream, data->classes.count);
        tacit_dataset_free(other);
        answers_at(&world, weights, after);
        most = fmax(most, distance(before, after, size) / declared(&world));
    }
    parties_end(&world);
    return most;
}

static void no_neighbour_moves_an_answer_beyond_what_is_declared(void **state) {
    (void)state;
    double ratios[] = { largest_ratio(&tacit_method_dpgd, ball(60, 3, 1), "record"),
                        largest_ratio(&tacit_method_dpgd, three_classes(), "record"),
                        largest_ratio(&tacit_method_dpgd, ball(60, 3, 1), "party"),
                        largest_ratio(&tacit_method_psgd, ball(60, 3, 1), "record") };
    for (size_t i = 0; i < 4; i++) assert_true(ratios[i] > 0 && ratios[i] <= 1);
}

/* Weights take both versions of a row for wrong, and they point apart. */
static void a_turned_row_moves_an_answer_by_nearly_all_of_it(void **state) {
    (void)state;
    const tacit_method *methods[] = { &tacit_method_dpgd, &tacit_method_psgd };
    for (size_t m = 0; m < 2; m++) {
        tacit_dataset *data = ball(60, 2, 1);
        parties world = world_of(methods[m], data, 3, "1");
        double weights[] = { 100, 0 }, before[2], after[2];
        data->label[0] = 0;
        data->dense.values[0] = 0.2;
        data->dense.values[1] = sqrt(1 - 0.04) * (1 - 1e-12);
        answers_at(&world, weights, before);
        data->dense.values[1] *= -1;
        answers_at(&world, weights, after);
        double ratio = distance(before, after, 2) / declared(&world);
        assert_true(ratio > 0.97 && ratio <= 1);
        parties_end(&world);
    }
}

/* ---- noise ---- */

/* Whether `sum`, of k squares of numbers of variance 1, is what chance allows. */
static bool plausible(double sum, double k) { return fabs(sum - k) <= 2 * sqrt(k * U) + 2 * U; }

/* The noise in one round's answer is N(0, scale^2), from each party or once. */
static void check_noise(const char *who, double times) {
    enum { RUNS = 500, FEATURES = 16 };
    tacit_error error = TACIT_ERROR_INIT;
    parties world = world_of(&tacit_method_dpgd, ball(3000, FEATURES, 1), 3, "1");
    tacit_noise_law law;
    set(&world.plan, "noise", who);
    tacit_model *exact = parties_run(&world, 1, NULL);
    world.plan.epsilon = 5;
    world.plan.delta = 1e-5;
    CHECK_OK(tacit_plan_noise(&world.plan, &law, &error), error);
    double sum = 0, unit = law.scale * sqrt(times) / (3000 * (0.25 + world.plan.lambda));
    for (uint64_t run = 0; run < RUNS; run++) {
        tacit_model *model = parties_run(&world, 100 + run, NULL);
        sum += pow(distance(model->weights, exact->weights, FEATURES) / unit, 2);
        tacit_model_free(model);
    }
    assert_true(plausible(sum, RUNS * FEATURES));
    assert_false(plausible(sum * 1.21, RUNS * FEATURES));
    assert_false(plausible(sum * 0.81, RUNS * FEATURES));
    tacit_model_free(exact);
    parties_end(&world);
}

static void the_noise_of_a_round_has_the_declared_scale(void **state) {
    (void)state;
    check_noise("coordinator", 1);
}

static void parties_that_trust_nobody_add_it_each(void **state) {
    (void)state;
    check_noise("party", 3);
}

/* ---- prices ---- */

static void all_rounds_together_cost_what_is_declared(void **state) {
    (void)state;
    static const char *const rounds[] = { "1", "2", "17", "0" };
    static const double prices[][2] = { { 0.1, 0.05 }, { 1, 1e-5 }, { 8, 1e-9 } };
    for (size_t p = 0; p < 3; p++)
        for (size_t r = 0; r < 4; r++) {
            tacit_error error = TACIT_ERROR_INIT;
            parties world = world_of(&tacit_method_dpgd, ball(60, 3, 1), 3, rounds[r]);
            tacit_account account;
            world.plan.epsilon = prices[p][0];
            world.plan.delta = prices[p][1];
            tacit_model_free(parties_run(&world, 1, NULL));
            CHECK_OK(tacit_local_charged(world.local, TACIT_UNIT_RECORD, &account, &error), error);
            CHECK_NEAR(account.spent_epsilon / prices[p][0], 1, 1e-6);
            CHECK_NEAR(account.sum_delta / prices[p][1], 1, 1e-9);
            tacit_prices total;
            CHECK_OK(tacit_plan_price(&world.plan, &total, &error), error);
            assert_true(tacit_amount_within(account.spent_epsilon, total.charged.epsilon));
            parties_end(&world);
        }
}

/* T answers of epsilon each: never less than the claim, never more than the sum, and the optimal composition
 * between. */
static void psgd_is_charged_for_every_round(void **state) {
    (void)state;
    double before = 0;
    static const char *const rounds[] = { "1", "2", "30", "100", "3000" };
    for (size_t r = 0; r < 5; r++) {
        tacit_error error = TACIT_ERROR_INIT;
        parties world = world_of(&tacit_method_psgd, ball(60, 3, 1), 3, rounds[r]);
        tacit_prices prices;
        world.plan.epsilon = 0.1;
        world.plan.delta = 1e-5;
        CHECK_OK(tacit_plan_price(&world.plan, &prices, &error), error);
        assert_true(prices.claimed.epsilon == 0.1 && prices.claimed.delta == 1e-5);
        assert_true(prices.charged.epsilon > before);
        assert_true(prices.charged.epsilon <= 0.1 * strtod(rounds[r], NULL) * (1 + 1e-12));
        before = prices.charged.epsilon;
        parties_end(&world);
    }
    assert_true(before > 15 && before < 60); /* far from 300, further from 0.1 */
}

/* The rounds together cost less than one epsilon, and each party's ledger holds just that. */
static void halved_budgets_add_up_to_one(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    parties world = world_of(&tacit_method_psgd, ball(60, 3, 1), 3, "6");
    tacit_prices prices;
    tacit_account account;
    world.plan.epsilon = 2;
    world.plan.delta = 1e-5;
    set(&world.plan, "schedule", "halving");
    CHECK_OK(tacit_plan_price(&world.plan, &prices, &error), error);
    CHECK_NEAR(prices.charged.epsilon, 2 * (1 - 0x1p-6), 1e-12);
    tacit_model_free(parties_run(&world, 1, NULL));
    CHECK_OK(tacit_local_charged(world.local, TACIT_UNIT_RECORD, &account, &error), error);
    CHECK_NEAR(account.spent_epsilon, prices.charged.epsilon, 1e-9);
    set(&world.plan, "rounds", "31");
    assert_int_equal(tacit_plan_check(&world.plan, &error), TACIT_USAGE);
    parties_end(&world);
}

/* Footnote 4: sqrt(K) times the noise of a part, and more, as fewer rows need more. The spread of 3 x 400 numbers is
 * known to 2%. */
static void noise_for_own_rows_is_larger_than_a_part(void **state) {
    (void)state;
    enum { DRAWS = 400 };
    static const char *const kinds[] = { "shared", "own" };
    double weights[3] = { 0 }, answer[3], exact[3], spread[2] = { 0 };
    for (size_t k = 0; k < 2; k++) {
        parties world = world_of(&tacit_method_psgd, ball(60, 3, 1), 3, "2");
        set(&world.plan, "noise", "fixed");
        set(&world.plan, "fixed_noise", kinds[k]);
        answers_at(&world, weights, exact); /* without an epsilon there is no noise */
        world.plan.epsilon = 1;
        world.plan.delta = 1e-5;
        for (uint64_t draw = 0; draw < DRAWS; draw++) {
            answers_by(&world, draw + 1, weights, answer);
            spread[k] += pow(distance(answer, exact, 3), 2) / DRAWS;
        }
        parties_end(&world);
    }
    print_message("# variance, own rows beside parts: %.3f\n", spread[1] / spread[0]);
    assert_true(spread[1] / spread[0] > 2.5);
}

static void noise_that_only_lasts_is_worth_nothing(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    parties world = world_of(&tacit_method_psgd, ball(60, 3, 1), 3, "2");
    tacit_prices prices;
    world.plan.epsilon = 1;
    world.plan.delta = 1e-5;
    set(&world.plan, "noise", "fixed");
    CHECK_OK(tacit_plan_price(&world.plan, &prices, &error), error);
    assert_true(isinf(prices.charged.epsilon));
    parties_end(&world);
}

/* Lasting noise is the same in all rounds of a run, and another in the next. */
static void persistent_noise_persists(void **state) {
    (void)state;
    parties world = world_of(&tacit_method_psgd, ball(60, 3, 1), 3, "2");
    double weights[3] = { 0 }, first[3], again[3], other[3];
    world.plan.epsilon = 1;
    world.plan.delta = 1e-5;
    set(&world.plan, "noise", "fixed");
    answers_at(&world, weights, first);
    answers_at(&world, weights, again); /* a new session from the same seed */
    assert_true(distance(first, again, 3) == 0);
    set(&world.plan, "noise", "fresh");
    answers_at(&world, weights, other);
    assert_true(distance(first, other, 3) > 0);
    parties_end(&world);
}

static void psgd_is_for_two_classes(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    parties world = world_of(&tacit_method_psgd, three_classes(), 3, "2");
    assert_int_equal(tacit_plan_check(&world.plan, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "dpgd"));
    world.plan.method = &tacit_method_dpgd;
    assert_int_equal(tacit_plan_set(&world.plan, "rounds", "2.5", NULL), TACIT_USAGE);
    parties_end(&world);
}

/* ---- psgd and gop ---- */

/* As rounds grow psgd's model is distributed as gop's on all rows: here in the mean square distance from the
 * minimum, over runs of both, which for the same noise in the objective differ by little. */
static double mean_square(parties *world, const double *from, uint64_t runs) {
    double sum = 0;
    for (uint64_t run = 0; run < runs; run++) {
        tacit_model *model = parties_run(world, 1000 + run, NULL);
        sum += pow(distance(model->weights, from, world->plan.features), 2);
        tacit_model_free(model);
    }
    return sum / (double)runs;
}

static void many_rounds_of_psgd_are_spread_like_gop(void **state) {
    (void)state;
    enum { RUNS = 60, FEATURES = 8 };
    parties many = world_of(&tacit_method_psgd, ball(400, FEATURES, 9), 2, "1500"), one;
    parties_make(&one, ball(400, FEATURES, 9), 1, NULL);
    one.plan.method = &tacit_method_gop;
    tacit_model *minimum = parties_run(&many, 1, NULL);
    many.plan.epsilon = one.plan.epsilon = 1;
    many.plan.delta = one.plan.delta = 0.01;
    double spread = mean_square(&many, minimum->weights, RUNS),
           limit = mean_square(&one, minimum->weights, RUNS);
    print_message("# mean square distance: psgd %.4g, gop %.4g\n", spread, limit);
    /* Of each mean, over 480 numbers, one standard deviation is 6.5%; gop pays 1% of epsilon for its
     * solver. */
    assert_true(spread / limit > 0.6 && spread / limit < 1.7);
    set(&many.plan, "noise", "fresh"); /* the control: without the persistent noise it is far nearer */
    assert_true(mean_square(&many, minimum->weights, 10) < 0.3 * limit);
    tacit_model_free(minimum);
    parties_end(&many);
    parties_end(&one);
}

/* ---- starting again ---- */

enum { MOST_RECORDS = 64 };

/* A journal in memory whose every write may be the last before a crash. */
typedef struct memory_journal {
    tacit_buffer record[2][MOST_RECORDS], checkpoint;
    uint64_t checkpoint_round;
    size_t writes, fail_at;
} memory_journal;

static tacit_buffer *place(memory_journal *self, uint64_t round) {
    bool published = round >= TACIT_RELEASE_RECORDS;
    if (published) round -= TACIT_RELEASE_RECORDS;
    assert_true(round < MOST_RECORDS);
    return &self->record[published][round];
}

static tacit_status read_record(void *context, uint64_t round, bool *found, tacit_buffer *out,
                                tacit_error *error) {
    const tacit_buffer *kept = place(context, round);
    *found = kept->length > 0;
    return tacit_buffer_append(out, kept->bytes, kept->length, error);
}

static tacit_status keep(memory_journal *self, tacit_buffer *at, const uint8_t *bytes, size_t length,
                         tacit_error *error) {
    if (++self->writes == self->fail_at) return tacit_fail(error, TACIT_IO, "the disk is full");
    tacit_buffer_clear(at);
    return tacit_buffer_append(at, bytes, length, error);
}

static tacit_status write_record(void *context, uint64_t round, const uint8_t *bytes, size_t length,
                                 tacit_error *error) {
    return keep(context, place(context, round), bytes, length, error);
}

static tacit_status read_checkpoint(void *context, bool *found, uint64_t *round, tacit_buffer *out,
                                    tacit_error *error) {
    memory_journal *self = context;
    *found = self->checkpoint.length > 0;
    *round = self->checkpoint_round;
    return tacit_buffer_append(out, self->checkpoint.bytes, self->checkpoint.length, error);
}

static tacit_status write_checkpoint(void *context, uint64_t round, const uint8_t *bytes, size_t length,
                                     tacit_error *error) {
    memory_journal *self = context;
    TACIT_TRY(keep(self, &self->checkpoint, bytes, length, error));
    self->checkpoint_round = round;
    return TACIT_OK;
}

/* Run until it ends, with a crash at write `fail_at`; the model, and how many writes there were. */
static tacit_model *run_with_crash(parties *world, size_t fail_at, size_t *writes) {
    memory_journal memory = { .fail_at = fail_at };
    tacit_journal journal = { read_record, write_record, read_checkpoint, write_checkpoint, &memory };
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_status status = TACIT_IO;
    for (int start = 0; status != TACIT_OK; start++) {
        tacit_session session = parties_begin(world, 1);
        assert_true(start < 2);
        session.journal = &journal;
        status = world->plan.method->coordinate(&session, &outcome, NULL);
    }
    assert_int_equal(outcome.count, 1);
    assert_int_equal(outcome.parties, world->plan.parties);
    tacit_model *model = outcome.models[0];
    outcome.count = 0;
    tacit_outcome_clear(&outcome);
    for (int kind = 0; kind < 2; kind++)
        for (size_t i = 0; i < MOST_RECORDS; i++) tacit_buffer_clear(&memory.record[kind][i]);
    tacit_buffer_clear(&memory.checkpoint);
    *writes = memory.writes;
    return model;
}

static void a_coordinator_that_starts_again_ends_with_the_same_model(void **state) {
    (void)state;
    const tacit_method *methods[] = { &tacit_method_dpgd, &tacit_method_psgd, &tacit_method_dpgd };
    for (size_t m = 0; m < 3; m++) {
        parties world = world_of(methods[m], ball(60, 3, 1), 3, "5");
        size_t all, writes;
        if (m == 2) set(&world.plan, "schedule", "adaptive");
        world.plan.epsilon = 3;
        world.plan.delta = 1e-5;
        tacit_model *whole = run_with_crash(&world, 0, &all);
        for (size_t at = 1; at <= all; at++) {
            tacit_model *model = run_with_crash(&world, at, &writes);
            assert_true(distance(model->weights, whole->weights, 3) == 0);
            assert_int_equal(writes, all + 1);
            tacit_model_free(model);
        }
        tacit_model_free(whole);
        parties_end(&world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_noise_both_find_the_minimum_of_all_rows),
        cmocka_unit_test(no_neighbour_moves_an_answer_beyond_what_is_declared),
        cmocka_unit_test(a_turned_row_moves_an_answer_by_nearly_all_of_it),
        cmocka_unit_test(the_noise_of_a_round_has_the_declared_scale),
        cmocka_unit_test(parties_that_trust_nobody_add_it_each),
        cmocka_unit_test(all_rounds_together_cost_what_is_declared),
        cmocka_unit_test(psgd_is_charged_for_every_round),
        cmocka_unit_test(halved_budgets_add_up_to_one),
        cmocka_unit_test(noise_for_own_rows_is_larger_than_a_part),
        cmocka_unit_test(noise_that_only_lasts_is_worth_nothing),
        cmocka_unit_test(persistent_noise_persists),
        cmocka_unit_test(psgd_is_for_two_classes),
        cmocka_unit_test(many_rounds_of_psgd_are_spread_like_gop),
        cmocka_unit_test(a_coordinator_that_starts_again_ends_with_the_same_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
