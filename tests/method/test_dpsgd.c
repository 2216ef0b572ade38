/*
 * dpsgd: it learns what a linear model cannot; the declared sensitivity holds for what is computed and is
 * reached; the noise has the law it promises, whoever adds it; all steps together cost what is declared, and
 * fewer when it stops early; a coordinator that starts again ends with the same model; compression keeps what
 * it says.
 *
 * Noise. The sum of k squared standard normals leaves k -+ (2 sqrt(k u) + 2u), u = 21.5 > ln(2e9), with
 * probability below 1e-9 (Laurent and Massart 2000); each check must also reject a scale that is 10% off.
 */
#include "check.h"

#include "lab/replay.h"
#include "method/private/dpsgd.h"
#include "method/private/ternary_upload.h"
#include "parties.h"
#include "privacy/account/accountant.h"
#include "rand/fast.h"

static const double U = 21.5;

static void set(tacit_plan *plan, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(plan, name, value, &error), error);
}

/* All rows in every step: the noise is then found at once. */
static parties world_of(tacit_dataset *data, size_t count, const char *epochs) {
    parties world;
    parties_make(&world, data, count, NULL);
    world.plan.method = &tacit_method_dpsgd;
    world.plan.delta = 1e-5;
    world.plan.lambda = 0;
    set(&world.plan, "sampling", "1");
    set(&world.plan, "epochs", epochs);
    set(&world.plan, "hidden", "5");
    return world;
}

/* Classes by the sign of x1 x2: no line tells them apart. */
static tacit_dataset *crossed(size_t rows) {
    tacit_dataset *data = ball(rows, 2, 3);
    for (size_t i = 0; i < rows; i++)
        data->label[i] = data->dense.values[2 * i] * data->dense.values[2 * i + 1] > 0;
    return data;
}

static double accuracy_on(const tacit_model *model, const tacit_dataset *data) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_view rows = tacit_dataset_view(data);
    tacit_metrics metrics;
    CHECK_OK(tacit_model_evaluate(model, &rows, NULL, &metrics, &error), error);
    return metrics.accuracy;
}

static void it_learns_what_no_line_can(void **state) {
    (void)state;
    static const char *const activations[] = { "tanh", "sigmoid", "relu" };
    for (size_t a = 0; a < 3; a++) {
        parties world = world_of(crossed(400), 4, "300");
        set(&world.plan, "hidden", "8");
        set(&world.plan, "activation", activations[a]);
        set(&world.plan, "optimiser", "adam");
        set(&world.plan, "rate", "0.05");
        set(&world.plan, "scale", "4");
        tacit_model *model = parties_run(&world, 2, NULL);
        double right = accuracy_on(model, world.data);
        print_message("# %s: %.3f\n", activations[a], right);
        assert_true(right > 0.9);
        tacit_model_free(model);
        parties_end(&world);
    }
}

/* ---- sensitivity ---- */

/* A row changes its label, its features, or both; small bounds clip every gradient. */
static tacit_status make_pair(void *context, size_t number, tacit_pair *out, tacit_error *error) {
    tacit_dataset *data = ball(12, 3, number);
    tacit_stream stream = tacit_stream_from_seed(number);
    (void)context;
    out->plan = (tacit_plan){ .method = &tacit_method_dpsgd,
                              .study = "test",
                              .epsilon = 1,
                              .delta = 1e-5,
                              .features = 3,
                              .classes = 2,
                              .parties = 3,
                              .minimum_parties = 1,
                              .minimum_rows = 4 };
    set(&out->plan, "sampling", "1");
    set(&out->plan, "epochs", "1");
    set(&out->plan, "hidden", number % 3 == 0 ? "none" : "4,3");
    set(&out->plan, "clip", number % 2 == 0 ? "0.001" : "0.5");
    set(&out->plan, "activation", number % 5 == 0 ? "relu" : "tanh");
    out->statistic = TACIT_STATISTIC_PUBLISHED;
    out->split = split_in_blocks(12, 3);
    out->data[0] = data;
    TACIT_TRY(tacit_pair_copy(&out->data[1], data, error));
    out->data[1]->label[5] = !data->label[5];
    if (number % 4 == 1)
        tacit_fast_normals(&stream, out->data[1]->dense.values + 15, 3); /* any row, even a long one */
    return TACIT_OK;
}

static void the_sensitivity_holds_and_is_reached(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_replay replay;
    CHECK_OK(tacit_replay_run(&replay, make_pair, NULL, 60, 1, NULL, &error), error);
    print_message("# pair %zu moves %.4f of %.4f\n", replay.pair, replay.shift, replay.declared);
    assert_true(replay.ratio <= 1 && replay.ratio > 0.99);
}

/* ---- noise ---- */

/* One step, with and without noise from the same start: what the weights differ by is the noise. */
static double noise_of(const char *who, size_t count, const tacit_dataset *like, double *expected,
                       size_t *size) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_dataset *data = NULL;
    CHECK_OK(tacit_pair_copy(&data, like, &error), error);
    parties world = world_of(data, count, "1");
    dpsgd_setup setup;
    set(&world.plan, "noise", who);
    set(&world.plan, "hidden", "100,90");
    set(&world.plan, "scale", "1");
    tacit_model *exact = parties_run(&world, 7, NULL);
    world.plan.epsilon = 1;
    tacit_model *noisy = parties_run(&world, 7, NULL);
    CHECK_OK(dpsgd_setup_make(&world.plan, 0, &setup, &error), error);
    double square = 0,
           unit = 0.5 * setup.clip / (double)like->rows; /* rate times what one of the sum is worth */
    for (size_t j = 0; j < setup.size; j++) square += pow((noisy->weights[j] - exact->weights[j]) / unit, 2);
    double shares = strcmp(who, "shares") == 0 ? (double)count / (double)setup.shares : 1;
    *expected = setup.noise_scale * sqrt(shares * (strcmp(who, "party") == 0 ? (double)count : 1));
    *size = setup.size;
    tacit_model_free(exact);
    tacit_model_free(noisy);
    parties_end(&world);
    return square;
}

static void the_noise_is_as_promised_whoever_adds_it(void **state) {
    (void)state;
    static const char *const who[] = { "coordinator", "shares", "party" };
    tacit_dataset *data = ball(60, 8, 11);
    for (size_t w = 0; w < 3; w++) {
        double scale;
        size_t size;
        double square = noise_of(who[w], 6, data, &scale, &size), k = (double)size;
        double low = k - 2 * sqrt(k * U), high = k + 2 * sqrt(k * U) + 2 * U,
               ratio = square / (scale * scale);
        print_message("# %s: %.4g, from %.4g to %.4g\n", who[w], ratio, low, high);
        assert_true(ratio > low && ratio < high);
        assert_true(ratio / 1.21 < low && ratio / 0.81 > high);
    }
    tacit_dataset_free(data);
}

/* ---- cost ---- */

static tacit_account account_of(parties *world) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_account account;
    CHECK_OK(tacit_local_charged(world->local, TACIT_UNIT_RECORD, &account, &error), error);
    return account;
}

static void all_steps_cost_what_was_promised(void **state) {
    (void)state;
    for (int sampled = 0; sampled < 2; sampled++) {
        tacit_error error = TACIT_ERROR_INIT;
        parties world = world_of(ball(60, 3, 5), 2, "4");
        tacit_prices prices = { .event = { .count = 0 } };
        world.plan.epsilon = 2;
        if (sampled) set(&world.plan, "sampling", "0.5");
        CHECK_OK(tacit_plan_price(&world.plan, &prices, &error), error);
        assert_int_equal(prices.event.count, sampled ? 8 : 4);
        tacit_model_free(parties_run(&world, 1, NULL));
        tacit_account account = account_of(&world);
        print_message("# %g of 2\n", account.spent_epsilon);
        assert_true(account.spent_epsilon <= 2 * (1 + 1e-9) && account.spent_epsilon > 1.99);
        CHECK_NEAR(account.spent_delta, 1e-5, 1e-12);
        parties_end(&world);
    }
}

/* Nothing to learn: labels at random. The ledger holds the steps that were made. */
static void stopping_early_costs_less(void **state) {
    (void)state;
    parties world = world_of(ball(200, 3, 5), 2, "100");
    for (size_t i = 0; i < 200; i++) world.data->label[i] = (int32_t)(i * 7919 % 13 % 2);
    world.plan.epsilon = 2;
    set(&world.plan, "patience", "3");
    tacit_model_free(parties_run(&world, 1, NULL));
    tacit_account account = account_of(&world);
    print_message("# %g of 2\n", account.spent_epsilon);
    assert_true(account.spent_epsilon > 0.1 && account.spent_epsilon < 1.5);
    parties_end(&world);
}

/* The losses of a sampled step, drawn: the delta that the accountant proves for T of them is not below what
 * is found (Hoeffding: 1e-9), and one for four fifths of the noise is. The pair is the one with the most loss
 * known for a replaced row: the row at +1, and at -1. */
static void the_accountant_is_above_simulated_losses(void **state) {
    (void)state;
    enum { RUNS = 40000, STEPS = 8 };
    const double q = 0.5, sigma = 3, epsilon = 1;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(21);
    double sum = 0, off = sqrt(21.5 / (2.0 * RUNS));
    for (size_t r = 0; r < RUNS; r++) {
        double loss = 0;
        for (size_t t = 0; t < STEPS; t++) {
            double y = sigma * tacit_fast_normal(&stream) + (tacit_stream_unit(&stream) < q);
            double here = exp(-y * y / (2 * sigma * sigma)),
                   up = exp(-(y - 1) * (y - 1) / (2 * sigma * sigma)),
                   down = exp(-(y + 1) * (y + 1) / (2 * sigma * sigma));
            loss += log(((1 - q) * here + q * up) / ((1 - q) * here + q * down));
        }
        if (loss > epsilon) sum += 1 - exp(epsilon - loss);
    }
    double found = sum / RUNS, proved[2];
    for (int less = 0; less < 2; less++) {
        tacit_accountant *accountant = NULL;
        tacit_spending spent;
        tacit_event event = tacit_event_sampled(tacit_event_gaussian(less ? 1.6 * sigma : sigma, STEPS), q);
        CHECK_OK(tacit_accountant_create(&accountant, TACIT_REPLACE, &error), error);
        CHECK_OK(tacit_accountant_add(accountant, &event, &error), error);
        CHECK_OK(tacit_accountant_delta(&spent, accountant, epsilon, &error), error);
        proved[less] = spent.delta;
        tacit_accountant_free(accountant);
    }
    print_message("# found %.4f -+ %.4f, proved %.4f; with too much noise assumed %.4f\n", found, off,
                  proved[0], proved[1]);
    assert_true(proved[0] > found - off);
    assert_true(proved[1] < found - off); /* a claim of more noise than there is would be caught */
}

/* ---- refusals ---- */

static void a_party_checks_the_noise_that_it_is_asked_for(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    parties world = world_of(ball(60, 3, 5), 2, "4");
    dpsgd_setup setup;
    world.plan.epsilon = 2;
    CHECK_OK(dpsgd_setup_make(&world.plan, 0, &setup, &error), error);
    CHECK_OK(dpsgd_setup_make(&world.plan, setup.sigma * 1.01, &setup, &error), error);
    assert_int_equal(dpsgd_setup_make(&world.plan, setup.sigma * 0.97, &setup, &error), TACIT_REFUSED);
    parties_end(&world);
}

/* Little noise on small samples leaves no room for shares not being quite Gaussian (dpsgd_setup.c). */
static void shares_are_refused_where_they_are_not_proved(void **state) {
    (void)state;
    static const double epsilons[] = { 1, 400 };
    for (int i = 0; i < 2; i++) {
        parties world = world_of(ball(60, 3, 5), 3, "1");
        dpsgd_setup setup;
        world.plan.epsilon = epsilons[i];
        set(&world.plan, "noise", "shares");
        set(&world.plan, "hidden", "500");
        set(&world.plan, "sampling", "0.01");
        assert_int_equal(dpsgd_setup_make(&world.plan, 0, &setup, NULL), i == 0 ? TACIT_OK : TACIT_USAGE);
        world.plan.epsilon = 1;
        world.plan.delta = 1e-75;
        assert_int_equal(dpsgd_setup_make(&world.plan, 0, &setup, NULL), TACIT_USAGE);
        parties_end(&world);
    }
}

static void wrong_settings_are_refused(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        { "hidden", "5,x" }, { "clip", "1e-40" },  { "hidden", "0" },
        { "weights", "1" },  { "weights", "1,0" }, { "weights", "1,2,3" }
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        parties world = world_of(ball(20, 3, 5), 2, "4");
        set(&world.plan, wrong[i][0], wrong[i][1]);
        assert_int_equal(tacit_plan_check(&world.plan, NULL), TACIT_USAGE);
        parties_end(&world);
    }
}

/* ---- compression ---- */

static void the_largest_are_kept(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    double values[] = { 1, -5, 2, 2, 0, -2 }, mean = 0;
    int8_t signs[6];
    static const int8_t chosen[] = { 0, -1, 1, 1, 0, 0 }, all[] = { 1, -1, 1, 1, 1, 1 };
    static const double kept[] = { 0, -5, 2, 2, 0, 0 };
    CHECK_OK(ternary_choose(values, 6, 3, signs, &mean, &error), error);
    assert_memory_equal(signs, chosen, 6);
    assert_true(mean == 3);
    CHECK_OK(ternary_compress(values, 6, 3, false, &error), error);
    for (size_t j = 0; j < 6; j++) assert_true(values[j] == kept[j]);
    CHECK_OK(ternary_choose(values, 6, 6, signs, &mean, &error), error); /* zeros too */
    assert_memory_equal(signs, all, 6);
    CHECK_OK(ternary_compress(values, 6, 3, true, &error), error);
    for (size_t j = 0; j < 6; j++) assert_true(values[j] == 3 * chosen[j]);
    assert_int_equal(ternary_kept(100, 0.25), 25);
    assert_int_equal(ternary_kept(3, 1e-6), 1);
}

/* What parties send in little trains as well as what the coordinator makes of a sum. */
static void compressed_answers_train_too(void **state) {
    (void)state;
    for (int ternary = 0; ternary < 2; ternary++) {
        parties world = world_of(ball(300, 4, 9), 3, "40");
        set(&world.plan, "noise", "party");
        set(&world.plan, "keep", "0.5");
        set(&world.plan, "upload", ternary ? "ternary" : "full");
        tacit_model *model = parties_run(&world, 2, NULL);
        double right = accuracy_on(model, world.data);
        print_message("# %s: %.3f\n", ternary ? "signs" : "numbers", right);
        assert_true(right > 0.9);
        tacit_model_free(model);
        parties_end(&world);
    }
}

/* One party's sizes cannot be such that the others' drown, or that the model is no number. */
static void sizes_beyond_the_bound_are_of_no_use(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    for (int ternary = 0; ternary < 2; ternary++) {
        parties world = world_of(ball(300, 4, 9), 3, "40");
        dpsgd_setup setup;
        set(&world.plan, "noise", "party");
        set(&world.plan, "keep", "0.5");
        set(&world.plan, "upload", ternary ? "ternary" : "full");
        CHECK_OK(dpsgd_setup_read(&world.plan, &setup, &error), error);
        size_t kept = ternary_kept(setup.size, setup.keep), bytes = ternary_bytes(setup.size, kept);
        int8_t *signs = TACIT_NEW(int8_t, setup.size);
        uint8_t *packed = TACIT_NEW(uint8_t, bytes);
        double *sizes = TACIT_NEW(double, kept);
        assert_true(signs != NULL && packed != NULL && sizes != NULL);
        for (size_t j = 0; j < kept; j++) signs[j] = 1;
        ternary_pack(signs, setup.size, kept, packed);
        const double said[] = { 0, setup.spec.bound, setup.spec.bound * (1 + 1e-15), 1e308, -1 };
        for (size_t k = 0; k < sizeof said / sizeof *said; k++) {
            tacit_message message = TACIT_MESSAGE_INIT;
            sizes[ternary ? 0 : kept - 1] = said[k];
            CHECK_OK(tacit_message_add_bytes(&message, "signs", packed, bytes, &error), error);
            CHECK_OK(tacit_message_add_numbers(&message, "sizes", sizes, ternary ? 1 : kept, &error), error);
            assert_int_equal(dpsgd_small_usable(&world.plan, &message, NULL),
                             k < 2 ? TACIT_OK : TACIT_PROTOCOL);
            tacit_message_clear(&message);
        }
        free(signs);
        free(packed);
        free(sizes);
        parties_end(&world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_learns_what_no_line_can),
        cmocka_unit_test(the_sensitivity_holds_and_is_reached),
        cmocka_unit_test(the_noise_is_as_promised_whoever_adds_it),
        cmocka_unit_test(all_steps_cost_what_was_promised),
        cmocka_unit_test(stopping_early_costs_less),
        cmocka_unit_test(the_accountant_is_above_simulated_losses),
        cmocka_unit_test(a_party_checks_the_noise_that_it_is_asked_for),
        cmocka_unit_test(shares_are_refused_where_they_are_not_proved),
        cmocka_unit_test(wrong_settings_are_refused),
        cmocka_unit_test(the_largest_are_kept),
        cmocka_unit_test(compressed_answers_train_too),
        cmocka_unit_test(sizes_beyond_the_bound_are_of_no_use),
    };
    return cmocka_run_group_tests_name("dpsgd", tests, NULL, NULL);
}
