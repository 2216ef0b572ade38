/*
 * dpstgd: signs on the wire; it learns; a row moves no number of a sum by more than declared, and by that
 * much; all turns together cost what is declared and printed beside it; parties that refuse are passed over;
 * a server that starts again ends with the same model; every allocation may fail.
 */
#include "check.h"

#include "failing.h"
#include "method/private/ternary_upload.h"
#include "model/clipped_batch.h"
#include "parties.h"
#include "privacy/mechanism/ternary_step.h"

static void set(tacit_plan *plan, const char *name, const char *value) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plan_set(plan, name, value, &error), error);
}

static parties world_of(size_t rows, size_t count, const char *rounds) {
    parties world;
    parties_make(&world, ball(rows, 5, 3), count, NULL);
    world.plan.method = &tacit_method_dpstgd;
    world.plan.lambda = 0;
    set(&world.plan, "rounds", rounds);
    set(&world.plan, "hidden", "6");
    set(&world.plan, "sampling", "0.2");
    set(&world.plan, "keep", "0.2");
    return world;
}

/* ---- signs on the wire ---- */

static void random_signs(int8_t *out, size_t size, size_t kept, tacit_stream *stream) {
    size_t left = kept;
    for (size_t j = 0; j < size; j++) {
        bool one = tacit_stream_below(stream, size - j) < left;
        out[j] = !one ? 0 : tacit_stream_below(stream, 2) > 0 ? 1 : -1;
        left -= one;
    }
}

static void signs_survive_the_wire_in_few_bits(void **state) {
    (void)state;
    const uint64_t seed = 12;
    print_message("# seed %llu\n", (unsigned long long)seed);
    tacit_stream stream = tacit_stream_from_seed(seed);
    for (int i = 0; i < 300; i++) {
        int8_t signs[500], back[500];
        uint8_t bytes[200];
        size_t size = 1 + (size_t)tacit_stream_below(&stream, 500),
               kept = 1 + (size_t)tacit_stream_below(&stream, size);
        size_t length = ternary_bytes(size, kept);
        tacit_error error = TACIT_ERROR_INIT;
        assert_true(length <= (2 * size + 7) / 8);
        random_signs(signs, size, kept, &stream);
        ternary_pack(signs, size, kept, bytes);
        CHECK_OK(ternary_unpack(back, size, kept, bytes, length, &error), error);
        assert_memory_equal(signs, back, size);
        assert_int_equal(ternary_unpack(back, size, kept, bytes, length - 1, NULL), TACIT_PROTOCOL);
    }
    assert_int_equal(ternary_bytes(14312, 1431), 1968); /* of two bits each it were 3578 */
    assert_int_equal(ternary_bytes(14312, 14), 27);     /* 14 of 15 bits */
}

static void bytes_that_are_no_signs_are_refused(void **state) {
    (void)state;
    int8_t out[100];
    uint8_t marks[2] = { 0x07, 0x00 }; /* 8 numbers, 3 of them kept, 3 signs */
    assert_int_equal(ternary_unpack(out, 8, 3, marks, 2, NULL), TACIT_OK);
    marks[0] = 0x0f; /* one too many */
    assert_int_equal(ternary_unpack(out, 8, 3, marks, 2, NULL), TACIT_PROTOCOL);
    marks[0] = 0x07;
    marks[1] = 0x08; /* beyond the last sign */
    assert_int_equal(ternary_unpack(out, 8, 3, marks, 2, NULL), TACIT_PROTOCOL);
    const uint8_t places[2] = { 5, 6 }; /* 100 numbers, two kept: 7 bits and a sign each */
    assert_int_equal(ternary_unpack(out, 100, 2, places, 2, NULL), TACIT_OK);
    assert_true(out[5] == -1 && out[6] == -1 && out[7] == 0);
    const uint8_t wrong[][2] = { { 6, 5 }, { 5, 5 }, { 5, 100 } }; /* order, twice, beyond */
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(ternary_unpack(out, 100, 2, wrong[i], 2, NULL), TACIT_PROTOCOL);
}

/* ---- learning ---- */

static void without_noise_it_learns_and_threads_change_nothing(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_metrics metrics;
    tacit_pool *pool = NULL;
    parties world = world_of(300, 3, "150"), again = world_of(300, 3, "150");
    size_t answered = 0;
    tacit_model *model = parties_run(&world, 1, &answered), *same = NULL;
    tacit_view rows = tacit_dataset_view(world.data);
    CHECK_OK(tacit_model_evaluate(model, &rows, NULL, &metrics, &error), error);
    print_message("# accuracy %.3f\n", metrics.accuracy);
    assert_true(metrics.accuracy > 0.9);
    assert_int_equal(answered, 3);
    CHECK_OK(tacit_pool_create(&pool, 3, &error), error);
    again.local = tacit_local_free(again.local);
    CHECK_OK(tacit_local_create(&again.local, again.data, again.split, pool, &error), error);
    same = parties_run(&again, 1, NULL);
    assert_memory_equal(model->weights, same->weights, tacit_model_size(model) * sizeof(double));
    tacit_model_free(model);
    tacit_model_free(same);
    parties_end(&world);
    parties_end(&again);
    tacit_pool_free(pool);
}

/* ---- sensitivity ---- */

/* What a row adds to a sum moves each number by at most 1, and by 1 where its gradient is beyond the clip,
 * whatever else is there. */
static void a_row_moves_each_number_by_at_most_one_and_reaches_it(void **state) {
    (void)state;
    const uint64_t seed = 5;
    print_message("# seed %llu\n", (unsigned long long)seed);
    tacit_stream stream = tacit_stream_from_seed(seed);
    tacit_error error = TACIT_ERROR_INIT;
    tacit_network network;
    tacit_batch *batch = NULL;
    CHECK_OK(tacit_network_parse(&network, "7,4", "", TACIT_ACTIVATION_TANH, 5, 2, &error), error);
    CHECK_OK(tacit_batch_create(&batch, &network, NULL, NULL, &error), error);
    size_t size = tacit_network_size(&network);
    double with[200], without[200], weights[200], most = 0;
    assert_true(size <= 200);
    for (int i = 0; i < 60; i++) {
        tacit_dataset *data = ball(40, 5, (uint64_t)i);
        tacit_view all = tacit_dataset_view(data), others = tacit_view_slice(&all, 1, 39);
        for (size_t j = 0; j < size; j++) weights[j] = 4 * tacit_stream_unit(&stream) - 2;
        tacit_batch_load(batch, weights);
        double clip = pow(10, -4 * tacit_stream_unit(&stream));
        CHECK_OK(tacit_batch_sum_clamped(batch, &all, clip, with, &error), error);
        CHECK_OK(tacit_batch_sum_clamped(batch, &others, clip, without, &error), error);
        for (size_t j = 0; j < size; j++) most = fmax(most, fabs(with[j] - without[j]));
        tacit_dataset_free(data);
    }
    assert_true(most == 1);
    tacit_batch_free(batch);
}

/* ---- price ---- */

static void all_turns_together_cost_what_is_declared(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    const double deltas[] = { 0, 1e-6 };
    for (size_t i = 0; i < 2; i++) {
        parties world = world_of(60, 3, "20");
        world.plan.epsilon = 2;
        world.plan.delta = deltas[i];
        tacit_model *model = parties_run(&world, 1, NULL);
        tacit_account account;
        CHECK_OK(tacit_local_charged(world.local, TACIT_UNIT_RECORD, &account, &error), error);
        assert_true(account.spent_epsilon <= 2 * (1 + 1e-9) && account.spent_epsilon > 1.98);
        CHECK_NEAR(account.sum_delta, deltas[i], 1e-12);
        tacit_model_free(model);
        parties_end(&world);
    }
}

static void the_printed_price_stands_beside_the_sound_one(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_prices prices = { .event = { .count = 0 } };
    tacit_plan plan = { .method = &tacit_method_dpstgd,
                        .study = "test",
                        .epsilon = 0.1,
                        .features = 264,
                        .classes = 2,
                        .parties = 5,
                        .minimum_parties = 1,
                        .minimum_rows = 10 };
    set(&plan, "calibration", "paper");
    set(&plan, "rounds", "1");
    CHECK_OK(tacit_plan_check(&plan, &error), error);
    CHECK_OK(tacit_plan_price(&plan, &prices, &error), error);
    /* 14,291 weights: the paper has 14,312, two outputs for two classes. n = 1,429. */
    CHECK_NEAR(prices.claimed.epsilon, 2 * 1429 * log(1 + 0.01 * expm1(0.1)), 1e-9);
    CHECK_NEAR(prices.charged.epsilon, 3 * 1429 * 0.1 + log(0.01) - log(0.99), 1e-6);
    set(&plan, "rounds", "100");
    CHECK_OK(tacit_plan_price(&plan, &prices, &error), error);
    assert_true(prices.charged.epsilon > 42000 && prices.event.count == 100);
    plan.epsilon = 0.5; /* beyond what accountants take: prices add */
    CHECK_OK(tacit_plan_price(&plan, &prices, &error), error);
    assert_true(prices.charged.epsilon > 210000 && prices.event.count == 0);
    set(&plan, "calibration", "tight");
    plan.epsilon = 1e-6;
    assert_int_equal(tacit_plan_check(&plan, &error), TACIT_USAGE);
    assert_non_null(strstr(error.text, "fewer steps"));
    assert_int_equal(tacit_plan_set(&plan, "rounds", "1.5", NULL), TACIT_USAGE);
}

/* ---- parties that are not there ---- */

static void a_party_that_refuses_is_passed_over_and_the_minimum_is_needed(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    parties world = world_of(62, 3, "3"); /* 20, 21 and 21 rows */
    size_t answered = 0;
    world.plan.minimum_rows = 21;
    world.plan.minimum_parties = 2;
    tacit_model_free(parties_run(&world, 1, &answered));
    assert_int_equal(answered, 2);
    world.plan.minimum_parties = 3;
    tacit_session session = parties_begin(&world, 1);
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    assert_int_equal(world.plan.method->coordinate(&session, &outcome, &error), TACIT_REFUSED);
    assert_non_null(strstr(error.text, "too few are left"));
    assert_int_equal(outcome.count, 0);
    parties_end(&world);
}

/* ---- crashes ---- */

enum { MOST_RECORDS = 64 };

typedef struct memory_journal {
    tacit_buffer record[MOST_RECORDS], checkpoint;
    uint64_t checkpoint_round;
    size_t writes, fail_at;
} memory_journal;

static tacit_status keep(memory_journal *self, tacit_buffer *at, const uint8_t *bytes, size_t length,
                         tacit_error *error) {
    if (++self->writes == self->fail_at) return tacit_fail(error, TACIT_IO, "the disk is full");
    tacit_buffer_clear(at);
    return tacit_buffer_append(at, bytes, length, error);
}

static tacit_status read_record(void *context, uint64_t round, bool *found, tacit_buffer *out,
                                tacit_error *error) {
    memory_journal *self = context;
    assert_true(round < MOST_RECORDS);
    *found = self->record[round].length > 0;
    return tacit_buffer_append(out, self->record[round].bytes, self->record[round].length, error);
}

static tacit_status write_record(void *context, uint64_t round, const uint8_t *bytes, size_t length,
                                 tacit_error *error) {
    memory_journal *self = context;
    return keep(self, &self->record[round], bytes, length, error);
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

/* The model of a run whose journal fails at one of its writes, and that is started again. */
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
    tacit_model *model = outcome.models[0];
    outcome.count = 0;
    tacit_outcome_clear(&outcome);
    for (size_t i = 0; i < MOST_RECORDS; i++) tacit_buffer_clear(&memory.record[i]);
    tacit_buffer_clear(&memory.checkpoint);
    *writes = memory.writes;
    return model;
}

static void a_server_that_starts_again_ends_with_the_same_model(void **state) {
    (void)state;
    parties world = world_of(60, 3, "4");
    world.plan.epsilon = 5;
    size_t writes, all;
    tacit_model *whole = run_with_crash(&world, 0, &all);
    assert_int_equal(all, 4 * (3 + 1)); /* three answers and a checkpoint a turn */
    for (size_t at = 1; at <= all; at++) {
        tacit_model *model = run_with_crash(&world, at, &writes);
        assert_memory_equal(model->weights, whole->weights, tacit_model_size(whole) * sizeof(double));
        tacit_model_free(model);
    }
    tacit_model_free(whole);
    parties_end(&world);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    parties world = world_of(20, 2, "1");
    world.plan.epsilon = 5;
    long at = 1;
    for (bool failed = true; failed; at++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_stream root = tacit_stream_from_seed(1);
        tacit_outcome outcome = TACIT_OUTCOME_INIT;
        tacit_session session;
        fail_allocation(at);
        tacit_status status = tacit_local_begin(world.local, &world.plan, &root, NULL, &session, &error);
        if (status == TACIT_OK) status = world.plan.method->coordinate(&session, &outcome, &error);
        failed = allocation_failed();
        /* Where an answer is unpacked, protobuf cannot tell lack of memory from damage. */
        if (status != TACIT_OK && !(failed && (status == TACIT_NO_MEMORY || status == TACIT_PROTOCOL)))
            fail_msg("allocation %ld: %s", at, error.text);
        tacit_outcome_clear(&outcome);
    }
    assert_true(at > 20);
    parties_end(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_survive_the_wire_in_few_bits),
        cmocka_unit_test(bytes_that_are_no_signs_are_refused),
        cmocka_unit_test(without_noise_it_learns_and_threads_change_nothing),
        cmocka_unit_test(a_row_moves_each_number_by_at_most_one_and_reaches_it),
        cmocka_unit_test(all_turns_together_cost_what_is_declared),
        cmocka_unit_test(the_printed_price_stands_beside_the_sound_one),
        cmocka_unit_test(a_party_that_refuses_is_passed_over_and_the_minimum_is_needed),
        cmocka_unit_test(a_server_that_starts_again_ends_with_the_same_model),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
