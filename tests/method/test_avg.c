/*
 * avg: the sensitivity it declares holds for the sums it computes, the noise has the law it promises, and
 * without noise it is the plain mean.
 *
 * Noise. R runs of G(D, s) give a sum of radii that is Gamma(R D) distributed. With u = ln(2e9), a Gamma(k)
 * variable leaves [k - sqrt(2 k u), k + sqrt(2 k u) + u] with probability below 1e-9 (Laurent and Massart
 * 2000), and that is the false-alarm rate of each check; each must also reject a scale that is 10% off.
 */
#include "check.h"

#include "lab/replay.h"
#include "parties.h"
#include "session/party.h"
#include "session/run.h"
#include "setting.h"

static const double U = 21.5; /* above ln(2e9) */

/* What the proof note of avg.c promises, written down a second time. */
static double record_shift(const tacit_plan *plan) {
    double gradient = plan->classes > 2 ? sqrt(2) : 1;
    return 2 * gradient / ((double)plan->minimum_rows * plan->lambda);
}

static double lambert_w(double x) {
    double low = 0, high = x;
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        if (middle * exp(middle) < x)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static double party_shift(const tacit_plan *plan) {
    double gradient = plan->classes > 2 ? sqrt(2) : 1;
    return 2 *
           fmin(gradient / plan->lambda, sqrt(lambert_w((double)(plan->classes - 1) / M_E) / plan->lambda));
}

/* The solver's slack and the grid's rounding, generously. */
static double slack(const tacit_plan *plan) { return 2e-9 / plan->lambda + 1e-9; }

/* The sum behind a model. */
static void sum_of(parties *self, double *out) {
    size_t answered;
    tacit_model *model = parties_run(self, 1, &answered);
    for (size_t j = 0; j < tacit_model_size(model); j++) out[j] = model->weights[j] * (double)answered;
    tacit_model_free(model);
}

enum { MOST_WEIGHTS = 64 };

static double distance(const double *a, const double *b, size_t count) {
    double square = 0;
    for (size_t j = 0; j < count; j++) square += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(square);
}

static size_t weights_of(const tacit_plan *plan) {
    return plan->classes > 2 ? plan->classes * plan->features : plan->features;
}

/* Rows [first, first + count) of a set become those of `other`. */
typedef struct replacement {
    const parties *world;
    size_t first, count;
    const tacit_dataset *other;
} replacement;

static tacit_status replace_rows(void *context, size_t number, tacit_pair *out, tacit_error *error) {
    const replacement *self = context;
    const tacit_dataset *data = self->world->data;
    (void)number;
    out->plan = self->world->plan;
    out->split = split_in_blocks(data->rows, out->plan.parties);
    TACIT_TRY(tacit_plan_set(&out->plan, "unit", self->count == 1 ? "record" : "party", error));
    for (int side = 0; side < 2; side++) TACIT_TRY(tacit_pair_copy(&out->data[side], data, error));
    memcpy(out->data[1]->dense.values + self->first * data->features, self->other->dense.values,
           self->count * data->features * sizeof(double));
    memcpy(out->data[1]->label + self->first, self->other->label, self->count * sizeof *self->other->label);
    return TACIT_OK;
}

/* How far the sum moves when one row, or all rows of a party, are replaced; never beyond what avg
 * declares. */
static double measured_shift(const parties *self, size_t first, size_t count, const tacit_dataset *other) {
    tacit_error error = TACIT_ERROR_INIT;
    replacement rows = { self, first, count, other };
    tacit_replay replay;
    CHECK_OK(tacit_replay_run(&replay, replace_rows, &rows, 1, 1, NULL, &error), error);
    assert_true(replay.ratio <= 1);
    return replay.shift;
}

/* Random points with random labels, some of them on the sphere. */
static tacit_dataset *random_rows(size_t count, size_t features, size_t classes, tacit_stream *stream) {
    tacit_dataset *data = ball(count, features, tacit_stream_u64(stream));
    for (size_t i = 0; i < count; i++) {
        double *x = data->dense.values + i * features, square = 0;
        data->label[i] = (int32_t)tacit_stream_below(stream, classes);
        for (size_t j = 0; j < features; j++) square += x[j] * x[j];
        if (i % 2 == 0)
            for (size_t j = 0; j < features; j++) x[j] /= sqrt(square) * (1 + 1e-12);
    }
    return data;
}

static void check_random_neighbours(size_t classes, double lambda) {
    enum { PARTIES = 4, ROWS = 25, FEATURES = 5, NEIGHBOURS = 40 };
    tacit_stream stream = tacit_stream_from_seed(17 + classes);
    parties world;
    tacit_dataset *data = random_rows(PARTIES * ROWS, FEATURES, classes, &stream);
    static const char *const names[] = { "a", "b", "c" };
    tacit_levels_clear(&data->classes);
    for (size_t k = 0; k < classes; k++)
        assert_int_equal(tacit_levels_add(&data->classes, names[k], 1, &(int32_t){ 0 }, NULL), TACIT_OK);
    parties_make(&world, data, PARTIES, NULL);
    world.plan.lambda = lambda;
    for (size_t i = 0; i < NEIGHBOURS; i++) {
        size_t party = tacit_stream_below(&stream, PARTIES), row = tacit_stream_below(&stream, ROWS);
        tacit_dataset *other = random_rows(ROWS, FEATURES, classes, &stream);
        double record = measured_shift(&world, party * ROWS + row, 1, other);
        double whole = measured_shift(&world, party * ROWS, ROWS, other);
        assert_true(record <= record_shift(&world.plan) + slack(&world.plan));
        assert_true(whole <= party_shift(&world.plan) + slack(&world.plan));
        assert_true(record > 0 && whole > 0);
        tacit_dataset_free(other);
    }
    parties_end(&world);
}

static void random_neighbours_stay_within_the_declared_sensitivity(void **state) {
    (void)state;
    check_random_neighbours(2, 0.1);
    check_random_neighbours(2, 0.001);
    check_random_neighbours(3, 0.1);
    check_random_neighbours(3, 0.001);
}

/* All other rows push the weights along the first axis, so that both versions of the changed row are
 * confidently wrong; they differ along the second axis, which no other row touches. The gradient then changes
 * by almost 2, all of it where only the regulariser resists. */
static void an_adversarial_record_comes_within_a_factor_two(void **state) {
    (void)state;
    enum { PARTIES = 2, ROWS = 5000 };
    static const double S = 0.6, C = 0.8;
    tacit_dataset *data = ball(PARTIES * ROWS, 2, 1), *other = ball(1, 2, 1);
    for (size_t i = 0; i < PARTIES * ROWS; i++) {
        data->dense.values[2 * i] = -1;
        data->dense.values[2 * i + 1] = 0;
        data->label[i] = 1;
    }
    data->dense.values[0] = other->dense.values[0] = S;
    data->dense.values[1] = C;
    other->dense.values[1] = -C;
    data->label[0] = other->label[0] = 1;
    parties world;
    parties_make(&world, data, PARTIES, NULL);
    world.plan.lambda = 0.001;
    double shift = measured_shift(&world, 0, 1, other), declared = record_shift(&world.plan);
    print_message("# record: measured %.4f of the declared %.4f\n", shift / declared, declared);
    assert_true(shift <= declared + slack(&world.plan));
    assert_true(shift >= declared / 2);
    tacit_dataset_free(other);
    parties_end(&world);
}

/* A party whose rows all say one thing, then all the opposite, with the lambda at which the bound is tight.
 */
static void an_adversarial_party_attains_the_declared_sensitivity(void **state) {
    (void)state;
    enum { PARTIES = 2, ROWS = 10 };
    tacit_dataset *data = ball(PARTIES * ROWS, 1, 1), *other = ball(ROWS, 1, 1);
    for (size_t i = 0; i < PARTIES * ROWS; i++) {
        data->dense.values[i] = 1;
        data->label[i] = 1;
    }
    for (size_t i = 0; i < ROWS; i++) {
        other->dense.values[i] = 1;
        other->label[i] = 0;
    }
    parties world;
    parties_make(&world, data, PARTIES, NULL);
    double w = lambert_w(1 / M_E);
    world.plan.lambda = w / ((1 + w) * (1 + w)); /* t/(1 + e^t) is largest at t = 1 + W(1/e) */
    double shift = measured_shift(&world, 0, ROWS, other), declared = party_shift(&world.plan);
    print_message("# party: measured %.6f of the declared %.4f\n", shift / declared, declared);
    assert_true(shift <= declared + slack(&world.plan));
    assert_true(shift >= 0.999 * declared);
    tacit_dataset_free(other);
    parties_end(&world);
}

static void without_noise_it_is_the_mean_of_the_local_models(void **state) {
    (void)state;
    enum { PARTIES = 7, ROWS = 150, FEATURES = 6 };
    tacit_error error = TACIT_ERROR_INIT;
    parties world;
    parties_make(&world, ball(ROWS, FEATURES, 3), PARTIES, NULL);
    double mean[FEATURES] = { 0 };
    tacit_linear_fit fit = { .lambda = world.plan.lambda, .gradient_tolerance = 1e-9 };
    for (size_t k = 0; k < PARTIES; k++) {
        tacit_model *local = NULL;
        tacit_view rows = tacit_split_view(world.split, world.data, k);
        CHECK_OK(tacit_model_fit_linear(&local, &rows, &fit, &error), error);
        for (size_t j = 0; j < FEATURES; j++) mean[j] += local->weights[j] / PARTIES;
        tacit_model_free(local);
    }
    for (int by_party = 0; by_party < 2; by_party++) {
        if (by_party) CHECK_OK(tacit_plan_set(&world.plan, "noise", "party", &error), error);
        size_t answered;
        tacit_model *model = parties_run(&world, 5, &answered);
        assert_int_equal(answered, PARTIES);
        for (size_t j = 0; j < FEATURES; j++) CHECK_NEAR(model->weights[j], mean[j], 1e-13);
        tacit_model_free(model);
    }
    parties_end(&world);
}

/* ---- noise ---- */

enum { RUNS = 10000 };

/* Sums over runs of |b|/s and |b|^2/s^2, b the noise on the sum and s the scale it should have. */
typedef struct radii {
    double first, second;
} radii;

static double length(const double *a, const double *b, size_t count, bool of_each) {
    double sum = 0;
    if (!of_each) return distance(a, b, count);
    for (size_t j = 0; j < count; j++) sum += fabs(a[j] - b[j]);
    return sum;
}

/* `of_each`: in the L1 norm. */
static radii measure_noise(parties *self, double scale, bool of_each) {
    double exact[MOST_WEIGHTS], noisy[MOST_WEIGHTS];
    double epsilon = self->plan.epsilon;
    radii sums = { 0, 0 };
    self->plan.epsilon = INFINITY;
    sum_of(self, exact);
    self->plan.epsilon = epsilon;
    for (uint64_t run = 0; run < RUNS; run++) {
        size_t answered;
        tacit_model *model = parties_run(self, 1000 + run, &answered);
        for (size_t j = 0; j < tacit_model_size(model); j++) noisy[j] = model->weights[j] * (double)answered;
        double radius = length(exact, noisy, tacit_model_size(model), of_each) / scale;
        sums.first += radius;
        sums.second += radius * radius;
        tacit_model_free(model);
    }
    return sums;
}

static bool is_gamma(double sum, double shape) {
    return sum >= shape - sqrt(2 * shape * U) && sum <= shape + sqrt(2 * shape * U) + U;
}

/* One noise of radius Gamma(D, shift/epsilon) on the sum, so of mean D shift/(epsilon M) on the model. */
static void check_one_noise(parties *self, double shift) {
    bool of_each = setting_is(&self->plan, "law", "laplace");
    double scale = shift / self->plan.epsilon, shape = RUNS * (double)weights_of(&self->plan);
    radii sums = measure_noise(self, scale, of_each);
    print_message("# mean radius %.4f of the promised one\n", sums.first / shape);
    assert_true(is_gamma(sums.first, shape));
    assert_false(is_gamma(sums.first * 1.1, shape));
    assert_false(is_gamma(sums.first / 1.1, shape));
}

static parties noisy_world(size_t count, double epsilon) {
    parties world;
    parties_make(&world, ball(20 * count, 3, 8), count, NULL);
    world.plan.epsilon = epsilon;
    return world;
}

static void the_coordinators_noise_has_the_promised_scale(void **state) {
    (void)state;
    parties world = noisy_world(3, 0.7);
    check_one_noise(&world, record_shift(&world.plan));
    parties_end(&world);
}

static void a_party_as_unit_gets_the_scale_of_a_party(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    parties world = noisy_world(3, 2);
    CHECK_OK(tacit_plan_set(&world.plan, "unit", "party", &error), error);
    check_one_noise(&world, party_shift(&world.plan));
    parties_end(&world);
}

static void many_classes_get_the_scale_of_softmax(void **state) {
    (void)state;
    parties world = noisy_world(2, 1);
    int32_t code;
    assert_int_equal(tacit_levels_add(&world.data->classes, "2", 1, &code, NULL), TACIT_OK);
    world.plan.classes = 3;
    for (size_t i = 0; i < world.data->rows; i += 3) world.data->label[i] = 2;
    check_one_noise(&world, record_shift(&world.plan));
    parties_end(&world);
}

static void a_partys_own_noise_has_the_promised_scale(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    parties world = noisy_world(1, 0.7);
    CHECK_OK(tacit_plan_set(&world.plan, "noise", "party", &error), error);
    check_one_noise(&world, record_shift(&world.plan));
    parties_end(&world);
}

/* ---- as printed ---- */

static void set(parties *world, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(&world->plan, name, value, &error), error);
}

/* |b|_1 is Gamma(D, s) like |b| of gamma-norm noise, s sqrt(D) times the other's. */
static void laplace_noise_has_the_scale_of_an_l1_norm(void **state) {
    (void)state;
    parties world = noisy_world(3, 0.7);
    set(&world, "law", "laplace");
    check_one_noise(&world, record_shift(&world.plan) * sqrt(3));
    set(&world, "calibration", "paper");
    check_one_noise(&world, record_shift(&world.plan));
    parties_end(&world);
}

static void printed_constants_know_no_second_bound_on_weights(void **state) {
    (void)state;
    parties world = noisy_world(3, 2);
    set(&world, "unit", "party");
    set(&world, "calibration", "paper");
    check_one_noise(&world, 2 / world.plan.lambda);
    assert_true(2 / world.plan.lambda > 5 * party_shift(&world.plan)); /* so that this test can tell */
    parties_end(&world);
}

/* Rows on the diagonal move all weights alike, so that the L1 norm moves by all of sqrt(D) S: what Laplace noise hides, and what the
 * printed scale of S/epsilon is charged for. */
static void a_party_on_the_diagonal_needs_all_of_the_l1_norm(void **state) {
    (void)state;
    enum { PARTIES = 2, ROWS = 10, D = 9 };
    tacit_dataset *data = ball(PARTIES * ROWS, D, 1), *other = ball(PARTIES * ROWS, D, 1);
    for (size_t j = 0; j < PARTIES * ROWS * D; j++)
        data->dense.values[j] = other->dense.values[j] = (1 - 1e-12) / 3;
    for (size_t i = 0; i < PARTIES * ROWS; i++) data->label[i] = other->label[i] = i >= ROWS;
    for (size_t i = 0; i < ROWS; i++) other->label[i] = 1;
    parties world[2];
    double sums[2][D], w = lambert_w(1 / M_E), moved = 0;
    for (int side = 0; side < 2; side++) {
        parties_make(&world[side], side ? other : data, PARTIES, NULL);
        world[side].plan.lambda = w / ((1 + w) * (1 + w));
        set(&world[side], "unit", "party");
        set(&world[side], "law", "laplace");
        sum_of(&world[side], sums[side]);
    }
    moved = length(sums[0], sums[1], D, true);
    tacit_error error = TACIT_ERROR_INIT;
    tacit_noise_law law;
    world[0].plan.epsilon = 1;
    CHECK_OK(tacit_plan_noise(&world[0].plan, &law, &error), error);
    print_message("# moved by %.6f of the declared %.4f\n", moved / law.sensitivity, law.sensitivity);
    assert_true(moved <= law.sensitivity && moved > 0.999 * law.sensitivity);
    assert_true(moved > 2.99 * party_shift(&world[0].plan)); /* S, which the paper takes for it */
    for (int side = 0; side < 2; side++) parties_end(&world[side]);
}

static void printed_laplace_noise_is_charged_what_it_costs(void **state) {
    (void)state;
    static const struct {
        const char *law, *calibration;
        double charged;
    } cases[] = { { "laplace", "paper", 0.5 * 1.7320508075688772 },
                  { "laplace", "tight", 0.5 },
                  { "gamma-norm", "paper", 0.5 },
                  { "gamma-norm", "tight", 0.5 } };
    tacit_error error = TACIT_ERROR_INIT;
    parties world = noisy_world(3, 0.5);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_prices prices = { .event = { .count = 0 } };
        set(&world, "law", cases[i].law);
        set(&world, "calibration", cases[i].calibration);
        CHECK_OK(tacit_plan_price(&world.plan, &prices, &error), error);
        CHECK_NEAR(prices.claimed.epsilon, 0.5, 0);
        CHECK_NEAR(prices.charged.epsilon, cases[i].charged, 1e-11);
        assert_true(prices.charged.epsilon >= cases[i].charged);
    }
    parties_end(&world);
}

/* M independent noises: E|b|^2 = M D (D + 1) s^2. The mean of R squares is off by more than 6.11 standard
 * deviations with probability 1e-9 (normal; R is large). One square deviates most, relative to its mean, when
 * M = 1: by sqrt((4 D + 6)/(D (D + 1))), from the moments of Gamma(D). */
static void noises_of_many_parties_are_independent(void **state) {
    (void)state;
    enum { PARTIES = 4, D = 3 };
    tacit_error error = TACIT_ERROR_INIT;
    parties world = noisy_world(PARTIES, 1.5);
    CHECK_OK(tacit_plan_set(&world.plan, "noise", "party", &error), error);
    radii sums = measure_noise(&world, record_shift(&world.plan) / world.plan.epsilon, false);
    double ratio = sums.second / RUNS / (PARTIES * D * (D + 1.0));
    double tolerance = 6.11 * sqrt((4 * D + 6.0) / (D * (D + 1.0))) / sqrt(RUNS);
    print_message("# mean square %.4f of the promised one, tolerance %.4f\n", ratio, tolerance);
    assert_true(fabs(ratio - 1) <= tolerance);
    assert_true(fabs(1.21 * ratio - 1) > tolerance);
    assert_true(fabs(ratio / 1.21 - 1) > tolerance);
    parties_end(&world);
}

/* ---- who is trusted, who refuses ---- */

/* A transport that asks the first party only, through a gate of the test's making. */
typedef struct first_party {
    parties *world;
    tacit_policy policy;
    tacit_ledger *ledger;
    double stretch; /* of the bound that is asked for */
} first_party;

static tacit_status ask_first(void *context, const tacit_question *question, uint64_t *total, size_t *count,
                              tacit_error *error) {
    first_party *self = context;
    tacit_gate gate = { self->ledger, &self->policy, TACIT_GATE_SIMULATED };
    tacit_stream stream = tacit_stream_from_seed(1);
    tacit_party party = { .plan = &self->world->plan,
                          .coordinator = "test",
                          .study = "test",
                          .rows = tacit_split_view(self->world->split, self->world->data, 0),
                          .total_rows = tacit_split_count(self->world->split, 0),
                          .noise = { .stream = &stream },
                          .gate = &gate };
    tacit_question asked = *question;
    asked.sum.bound *= self->stretch;
    TACIT_TRY(tacit_party_contribute(&party, &asked, total, error));
    *count = 1;
    return TACIT_OK;
}

/* Ask the first party under a policy; how it went, and what its ledger then holds. */
static tacit_status ask_under(const char *noise, bool allow_entrusted, double stretch, double *spent,
                              tacit_error *error) {
    parties world = noisy_world(2, 0.5);
    first_party context = { .world = &world, .policy = tacit_policy_none(), .stretch = stretch };
    context.policy.allow_entrusted = allow_entrusted;
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_account account;
    CHECK_OK(tacit_plan_set(&world.plan, "noise", noise, error), *error);
    CHECK_OK(tacit_ledger_create(&context.ledger, error), *error);
    tacit_session session = parties_begin(&world, 1);
    session.transport = (tacit_transport){ .ask_sum = ask_first, .context = &context };
    tacit_status status = tacit_run_coordinate(&session, &outcome, error);
    CHECK_OK(tacit_ledger_account(&account, context.ledger, NULL, TACIT_UNIT_RECORD, NULL), *error);
    *spent = account.spent_epsilon;
    tacit_outcome_clear(&outcome);
    tacit_ledger_free(context.ledger);
    parties_end(&world);
    return status;
}

static void weights_in_clear_go_only_to_a_coordinator_the_owner_trusts(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    double spent;
    assert_int_equal(ask_under("coordinator", false, 1, &spent, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "trust"));
    CHECK_NEAR(spent, 0, 0);
    error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(ask_under("coordinator", true, 1, &spent, &error), error);
    CHECK_NEAR(spent, 0.5, 0);
    CHECK_OK(ask_under("party", false, 1, &spent, &error), error);
    CHECK_NEAR(spent, 0.5, 0);
}

static void another_sum_than_the_studys_is_refused_and_not_charged(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    double spent;
    assert_int_equal(ask_under("party", true, 2, &spent, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "another sum"));
    CHECK_NEAR(spent, 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_neighbours_stay_within_the_declared_sensitivity),
        cmocka_unit_test(an_adversarial_record_comes_within_a_factor_two),
        cmocka_unit_test(an_adversarial_party_attains_the_declared_sensitivity),
        cmocka_unit_test(without_noise_it_is_the_mean_of_the_local_models),
        cmocka_unit_test(the_coordinators_noise_has_the_promised_scale),
        cmocka_unit_test(a_party_as_unit_gets_the_scale_of_a_party),
        cmocka_unit_test(many_classes_get_the_scale_of_softmax),
        cmocka_unit_test(a_partys_own_noise_has_the_promised_scale),
        cmocka_unit_test(laplace_noise_has_the_scale_of_an_l1_norm),
        cmocka_unit_test(printed_constants_know_no_second_bound_on_weights),
        cmocka_unit_test(a_party_on_the_diagonal_needs_all_of_the_l1_norm),
        cmocka_unit_test(printed_laplace_noise_is_charged_what_it_costs),
        cmocka_unit_test(noises_of_many_parties_are_independent),
        cmocka_unit_test(weights_in_clear_go_only_to_a_coordinator_the_owner_trusts),
        cmocka_unit_test(another_sum_than_the_studys_is_refused_and_not_charged),
    };
    return cmocka_run_group_tests_name("avg", tests, NULL, NULL);
}
