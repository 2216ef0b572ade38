/* Garbling: what the two parties compute is what the circuit computes in the clear. */
#include "relay.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/garble/circuits_fixed.h"
#include "crypto/garble/circuits_word.h"
#include "crypto/garble/garble.h"

enum { LANES = 2, WIDTH = 64, ALL = WIDTH * LANES, RESULTS = 6 };

typedef struct party {
    bool garbles;
    tacit_garble_settings settings;
    uint64_t own[LANES], results[RESULTS][LANES];
    uint64_t gates;
    tacit_channel_counts counts;
} party;

/* A bit of everything: every result is revealed, to one, the other or both. */
static tacit_status circuit(tacit_builder *b, const uint64_t *left, const uint64_t *right,
                            uint64_t results[RESULTS][LANES]) {
    tacit_wire *x = tacit_scratch(b, ALL), *y = tacit_scratch(b, ALL), *out = tacit_scratch(b, RESULTS * ALL);
    uint8_t bits[ALL];
    if (x == NULL || y == NULL || out == NULL) return TACIT_NO_MEMORY;
    if (left != NULL) tacit_word_to_bits(bits, left, WIDTH, LANES);
    TACIT_TRY(tacit_input_wires(b, TACIT_GARBLER, x, left == NULL ? NULL : bits, ALL));
    if (right != NULL) tacit_word_to_bits(bits, right, WIDTH, LANES);
    TACIT_TRY(tacit_input_wires(b, TACIT_EVALUATOR, y, right == NULL ? NULL : bits, ALL));
    TACIT_TRY(tacit_word_add(b, out, x, y, WIDTH, LANES));
    TACIT_TRY(tacit_fixed_multiply(b, out + ALL, x, y, tacit_fixed_center, LANES));
    TACIT_TRY(tacit_fixed_divide(b, out + 2 * ALL, x, y, tacit_fixed_center, LANES));
    TACIT_TRY(tacit_fixed_root(b, out + 3 * ALL, y, tacit_fixed_center, LANES));
    TACIT_TRY(tacit_word_subtract(b, out + 4 * ALL, out + ALL, out, WIDTH, LANES));
    tacit_not(b, out + 5 * ALL, out + 4 * ALL, ALL);
    for (size_t i = 0; i < LANES; i++) out[5 * ALL + i] = tacit_constant(b, i & 1);
    for (size_t k = 0; k < RESULTS; k++) {
        memset(bits, 0, sizeof bits);
        tacit_role to = k % 3 == 0 ? TACIT_BOTH : k % 3 == 1 ? TACIT_GARBLER : TACIT_EVALUATOR;
        TACIT_TRY(tacit_reveal(b, to, bits, out + k * ALL, ALL));
        tacit_word_from_bits(results[k], bits, WIDTH, LANES);
    }
    return tacit_finish(b);
}

static tacit_status play(tacit_channel *channel, tacit_stream *stream, void *context, tacit_error *error) {
    party *self = context;
    tacit_builder *builder = NULL;
    self->settings.stream = stream;
    TACIT_TRY((self->garbles ? tacit_garbler_create : tacit_evaluator_create)(&builder, channel,
                                                                              &self->settings, error));
    tacit_status status =
        circuit(builder, self->garbles ? self->own : NULL, self->garbles ? NULL : self->own, self->results);
    if (status != TACIT_OK) *error = builder->error;
    self->gates = builder->and_count;
    self->counts = tacit_channel_count(channel);
    tacit_builder_free(builder);
    return status;
}

static const uint64_t left_numbers[LANES] = { 5, 0 - (UINT64_C(7) << 31) };
static const uint64_t right_numbers[LANES] = { UINT64_C(3) << 32, UINT64_C(0x123456789abcdef) };

static void pair_of(pair_thread both[2], party parties[2], tacit_engine engine, bool fixed_key) {
    for (int i = 0; i < 2; i++) {
        parties[i] = (party){ .garbles = i == 0, .settings = { .engine = engine, .fixed_key = fixed_key } };
        memcpy(parties[i].own, i == 0 ? left_numbers : right_numbers, sizeof parties[i].own);
        both[i] = (pair_thread){ .part = play,
                                 .context = &parties[i],
                                 .stream = tacit_stream_from_seed(31 + (uint64_t)i) };
    }
}

static void in_the_clear(uint64_t results[RESULTS][LANES], uint64_t *gates) {
    tacit_builder *builder = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_plain_create(&builder, &error), error);
    CHECK_OK(circuit(builder, left_numbers, right_numbers, results), builder->error);
    *gates = builder->and_count;
    tacit_builder_free(builder);
}

static void two_parties_compute_what_the_circuit_says(void **state) {
    (void)state;
    uint64_t right[RESULTS][LANES], gates = 0;
    static const uint64_t zeros[LANES];
    in_the_clear(right, &gates);
    assert_int_equal(right[0][0], 5 + (UINT64_C(3) << 32));
    for (int fixed_key = 0; fixed_key < 2; fixed_key++)
        for (tacit_engine engine = 0; engine < TACIT_ENGINES; engine++) {
            if (!tacit_engine_available(engine)) continue;
            pair_thread both[2];
            party parties[2];
            pair_of(both, parties, engine, fixed_key != 0);
            pair_must(both);
            for (size_t k = 0; k < RESULTS; k++)
                for (int i = 0; i < 2; i++) {
                    bool sees = k % 3 == 0 || (k % 3 == 1) == (i == 0);
                    assert_memory_equal(parties[i].results[k], sees ? right[k] : zeros, sizeof right[k]);
                }
            assert_int_equal(parties[0].gates, gates);
            assert_int_equal(parties[1].gates, gates);
            assert_true(parties[0].counts.sent >= 32 * gates && parties[0].counts.sent < 32 * gates + 20000);
            assert_int_equal(parties[0].counts.sent, parties[1].counts.received);
            assert_int_equal(parties[0].counts.received, parties[1].counts.sent);
        }
}

/* Parties with different engines understand each other. */
static void engines_mix(void **state) {
    (void)state;
    uint64_t right[RESULTS][LANES], gates = 0;
    pair_thread both[2];
    party parties[2];
    in_the_clear(right, &gates);
    pair_of(both, parties, tacit_engine_best(), false);
    parties[1].settings.engine = TACIT_ENGINE_PORTABLE;
    pair_must(both);
    assert_memory_equal(parties[1].results[3], right[3], sizeof right[3]);
}

/* ---- what goes over the wire ---- */

/* The same seeds say the same bytes, on every engine, today and tomorrow. */
static void the_trace_under_fixed_seeds_is_fixed(void **state) {
    (void)state;
    for (tacit_engine engine = 0; engine < TACIT_ENGINES; engine++) {
        if (!tacit_engine_available(engine)) continue;
        pair_thread both[2];
        party parties[2];
        char said[2][RELAY_TEXT];
        pair_of(both, parties, engine, false);
        relay_run(both, said);
        assert_string_equal(said[0], "2c3ebeb8579d9d6602ffdaf672b537c5");
        assert_string_equal(said[1], "6fb72321e255c827cd1c757cfad7b42a");
    }
}

/* ---- peers that do not play by the rules ---- */

static void garbage_is_an_error(void **state) {
    (void)state;
    static size_t lengths[] = { 0, 7, 32, 4128, 4144, 100000 };
    for (int victim = 0; victim < 2; victim++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            pair_thread both[2];
            party parties[2];
            pair_of(both, parties, TACIT_ENGINE_PORTABLE, false);
            both[1 - victim].part = pair_garbage;
            both[1 - victim].context = &lengths[k];
            pair_run(both);
            assert_true(both[victim].status == TACIT_NETWORK || both[victim].status == TACIT_PROTOCOL);
            assert_true(strlen(both[victim].error.text) > 0);
        }
}

/* Plays by the rules until its inputs are in, then leaves. */
static tacit_status leave_early(tacit_channel *channel, tacit_stream *stream, void *context,
                                tacit_error *error) {
    party *self = context;
    tacit_builder *builder = NULL;
    tacit_wire wires[ALL];
    uint8_t bits[ALL] = { 0 };
    self->settings.stream = stream;
    TACIT_TRY((self->garbles ? tacit_garbler_create : tacit_evaluator_create)(&builder, channel,
                                                                              &self->settings, error));
    tacit_status status = tacit_input_wires(builder, TACIT_GARBLER, wires, self->garbles ? bits : NULL, ALL);
    if (status == TACIT_OK)
        status = tacit_input_wires(builder, TACIT_EVALUATOR, wires, self->garbles ? NULL : bits, ALL);
    tacit_builder_free(builder);
    return status;
}

static void a_peer_that_dies_amid_the_gates_is_an_error(void **state) {
    (void)state;
    for (int victim = 0; victim < 2; victim++) {
        pair_thread both[2];
        party parties[2];
        pair_of(both, parties, tacit_engine_best(), false);
        both[1 - victim].part = leave_early;
        pair_run(both);
        CHECK_OK(both[1 - victim].status, both[1 - victim].error);
        assert_int_equal(both[victim].status, TACIT_NETWORK);
    }
}

static void different_hashes_are_refused(void **state) {
    (void)state;
    pair_thread both[2];
    party parties[2];
    pair_of(both, parties, TACIT_ENGINE_PORTABLE, false);
    parties[1].settings.fixed_key = true;
    pair_run(both);
    assert_int_equal(both[1].status, TACIT_PROTOCOL);
    assert_int_equal(both[0].status, TACIT_NETWORK);
}

/* The evaluator runs a gate less than the garbler. */
static tacit_status one_gate_less(tacit_channel *channel, tacit_stream *stream, void *context,
                                  tacit_error *error) {
    party *self = context;
    tacit_builder *builder = NULL;
    tacit_wire wires[40];
    uint8_t bits[40] = { 0 };
    self->settings.stream = stream;
    TACIT_TRY((self->garbles ? tacit_garbler_create : tacit_evaluator_create)(&builder, channel,
                                                                              &self->settings, error));
    tacit_status status = tacit_input_wires(builder, TACIT_GARBLER, wires, self->garbles ? bits : NULL, 40);
    if (status == TACIT_OK) status = tacit_and(builder, wires, wires, wires + 20, self->garbles ? 20 : 19);
    if (status == TACIT_OK) status = tacit_finish(builder);
    if (status != TACIT_OK) *error = builder->error;
    tacit_builder_free(builder);
    return status;
}

static void another_circuit_is_noticed_at_the_end(void **state) {
    (void)state;
    pair_thread both[2];
    party parties[2];
    pair_of(both, parties, TACIT_ENGINE_PORTABLE, false);
    both[0].part = both[1].part = one_gate_less;
    pair_run(both);
    assert_int_equal(both[1].status, TACIT_PROTOCOL);
}

/* Asks for inputs that belong to nobody. */
static tacit_status input_of_nobody(tacit_channel *channel, tacit_stream *stream, void *context,
                                    tacit_error *error) {
    party *self = context;
    tacit_builder *builder = NULL;
    tacit_wire wire;
    uint8_t bit = 1;
    self->settings.stream = stream;
    TACIT_TRY((self->garbles ? tacit_garbler_create : tacit_evaluator_create)(&builder, channel,
                                                                              &self->settings, error));
    tacit_status status = tacit_input_wires(builder, TACIT_BOTH, &wire, &bit, 1);
    if (status == TACIT_USAGE)
        status = tacit_input_wires(builder, self->garbles ? TACIT_GARBLER : TACIT_EVALUATOR, &wire, NULL, 1);
    tacit_builder_free(builder);
    return status;
}

static void an_input_needs_an_owner_with_bits(void **state) {
    (void)state;
    pair_thread both[2];
    party parties[2];
    pair_of(both, parties, tacit_engine_best(), false);
    both[0].part = both[1].part = input_of_nobody;
    pair_run(both);
    assert_int_equal(both[0].status, TACIT_USAGE);
    assert_int_equal(both[1].status, TACIT_USAGE);
}

static void an_engine_that_is_not_there_is_refused(void **state) {
    (void)state;
    pair_thread both[2];
    party parties[2];
    tacit_garble_settings settings = tacit_garble_defaults();
    assert_int_equal(settings.engine, tacit_engine_best());
    assert_false(settings.fixed_key);
    pair_of(both, parties, TACIT_ENGINES, false);
    pair_run(both);
    assert_int_equal(both[0].status, TACIT_USAGE);
    assert_int_equal(both[1].status, TACIT_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_parties_compute_what_the_circuit_says),
        cmocka_unit_test(engines_mix),
        cmocka_unit_test(the_trace_under_fixed_seeds_is_fixed),
        cmocka_unit_test(garbage_is_an_error),
        cmocka_unit_test(a_peer_that_dies_amid_the_gates_is_an_error),
        cmocka_unit_test(different_hashes_are_refused),
        cmocka_unit_test(another_circuit_is_noticed_at_the_end),
        cmocka_unit_test(an_input_needs_an_owner_with_bits),
        cmocka_unit_test(an_engine_that_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
