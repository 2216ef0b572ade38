/* Oblivious transfer: the receiver gets what it chose, and hostile peers get an error. */
#include "pair.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/cipher_parts.h"
#include "crypto/digest.h"
#include "crypto/field128_parts.h"
#include "crypto/ot/ot.h"
#include "crypto/ot/ot_parts.h"

enum { MOST = 20000 };

typedef struct transfer {
    tacit_engine engine;
    size_t counts[6];
    uint8_t choices[MOST];
    tacit_wire sent[2 * MOST], got[MOST], delta;
    bool chosen_messages;
    uint64_t receiver_sent; /* bytes */
} transfer;

static tacit_status base_send(tacit_channel *channel, tacit_stream *stream, void *context,
                              tacit_error *error) {
    transfer *all = context;
    return tacit_ot_base_send(all->sent, all->counts[0], channel, stream, error);
}

static tacit_status base_receive(tacit_channel *channel, tacit_stream *stream, void *context,
                                 tacit_error *error) {
    transfer *all = context;
    return tacit_ot_base_receive(all->got, all->choices, all->counts[0], channel, stream, error);
}

static tacit_status extension_send(tacit_channel *channel, tacit_stream *stream, void *context,
                                   tacit_error *error) {
    transfer *all = context;
    tacit_ot_sender *sender = NULL;
    tacit_status status = TACIT_OK;
    tacit_wire *to = all->sent;
    TACIT_CHECK(tacit_ot_sender_create(&sender, channel, stream, all->engine, error));
    all->delta = tacit_ot_delta(sender);
    for (int i = 0; i < 6; i++) {
        if (all->chosen_messages)
            TACIT_CHECK(tacit_ot_send(to, all->counts[i], sender, error));
        else
            TACIT_CHECK(tacit_ot_send_correlated(to, all->counts[i], sender, error));
        to += all->counts[i] * (all->chosen_messages ? 2 : 1);
    }
cleanup:
    tacit_ot_sender_free(sender);
    return status;
}

static tacit_status extension_receive(tacit_channel *channel, tacit_stream *stream, void *context,
                                      tacit_error *error) {
    transfer *all = context;
    tacit_ot_receiver *receiver = NULL;
    tacit_status status = TACIT_OK;
    size_t at = 0;
    TACIT_CHECK(tacit_ot_receiver_create(&receiver, channel, stream, all->engine, error));
    for (int i = 0; i < 6; i++) {
        if (all->chosen_messages)
            TACIT_CHECK(tacit_ot_receive(all->got + at, all->choices + at, all->counts[i], receiver, error));
        else
            TACIT_CHECK(tacit_ot_receive_correlated(all->got + at, all->choices + at, all->counts[i],
                                                    receiver, error));
        at += all->counts[i];
    }
cleanup:
    tacit_ot_receiver_free(receiver);
    return status;
}

static transfer *new_transfer(tacit_engine engine) {
    transfer *all = calloc(1, sizeof *all);
    tacit_stream stream = tacit_stream_from_seed(21);
    assert_non_null(all);
    all->engine = engine;
    for (size_t i = 0; i < MOST; i++) all->choices[i] = tacit_stream_below(&stream, 2) != 0;
    return all;
}

static void pair_of(pair_thread both[2], pair_part *first, pair_part *second, void *context) {
    both[0] = (pair_thread){ .part = first, .context = context, .stream = tacit_stream_from_seed(22) };
    both[1] = (pair_thread){ .part = second, .context = context, .stream = tacit_stream_from_seed(23) };
}

static void base_transfers_give_the_chosen_message_only(void **state) {
    (void)state;
    transfer *all = new_transfer(TACIT_ENGINE_PORTABLE);
    pair_thread both[2];
    all->counts[0] = 300;
    pair_of(both, base_send, base_receive, all);
    pair_must(both);
    for (size_t i = 0; i < 300; i++) {
        assert_memory_equal(&all->got[i], &all->sent[2 * i + all->choices[i]], 16);
        assert_memory_not_equal(&all->got[i], &all->sent[2 * i + 1 - all->choices[i]], 16);
    }
    free(all);
}

static void set_counts(transfer *all) {
    static const size_t counts[] = { 1, 0, 511, 512, 8193, 5000 };
    memcpy(all->counts, counts, sizeof counts);
}

static void correlated_transfers_differ_by_delta(void **state) {
    (void)state;
    for (tacit_engine engine = 0; engine < TACIT_ENGINES; engine++) {
        if (!tacit_engine_available(engine)) continue;
        transfer *all = new_transfer(engine);
        pair_thread both[2];
        set_counts(all);
        pair_of(both, extension_send, extension_receive, all);
        pair_must(both);
        assert_int_equal(all->delta.half[0] & 1, 1);
        for (size_t i = 0; i < 1 + 511 + 512 + 8193 + 5000; i++) {
            tacit_wire label = tacit_wire_xor(all->sent[i], tacit_wire_if(all->choices[i], all->delta));
            assert_memory_equal(&label, &all->got[i], 16);
        }
        free(all);
    }
}

static void messages_of_choice_arrive(void **state) {
    (void)state;
    for (tacit_engine engine = 0; engine < TACIT_ENGINES; engine++) {
        if (!tacit_engine_available(engine)) continue;
        transfer *all = new_transfer(engine);
        tacit_stream stream = tacit_stream_from_seed(24);
        pair_thread both[2];
        set_counts(all);
        all->chosen_messages = true;
        tacit_stream_bytes(&stream, all->sent, sizeof all->sent);
        pair_of(both, extension_send, extension_receive, all);
        pair_must(both);
        for (size_t i = 0; i < 1 + 511 + 512 + 8193 + 5000; i++)
            assert_memory_equal(&all->got[i], &all->sent[2 * i + all->choices[i]], 16);
        free(all);
    }
}

/* Garbage of every length around a message: an error, no hang. */
static void hostile_peers_are_an_error(void **state) {
    (void)state;
    static size_t lengths[] = { 0, 1, 31, 4096, 8192, 8192 + 16, 20000 };
    pair_part *victims[] = { base_send, base_receive, extension_send, extension_receive };
    for (size_t v = 0; v < 4; v++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            transfer *all = new_transfer(TACIT_ENGINE_PORTABLE);
            pair_thread both[2];
            set_counts(all);
            all->counts[0] = 128;
            pair_of(both, victims[v], pair_garbage, all);
            both[1].context = &lengths[k];
            pair_run(both);
            assert_true(both[0].status == TACIT_NETWORK || both[0].status == TACIT_PROTOCOL);
            assert_true(strlen(both[0].error.text) > 0);
            free(all);
        }
}

/* ---- a receiver that cheats ---- */

/*
 * It flips a choice for some trees only, so that bits of delta show in the sender's rows, and answers the
 * check as well as can be done: for these trees with what passes if delta's bits are as guessed.
 */
typedef struct cheat {
    size_t trees;   /* how many, from tree 1 on */
    unsigned guess; /* of the bits of each */
    transfer *all;
} cheat;

enum { BLOCKS = 4 };

static bool is_cheated(const cheat *how, size_t tree) { return tree >= 1 && tree <= how->trees; }

/* The point of the check and its powers, from what was sent. */
static void check_point(tacit_wire power[4], tacit_wire start, const tacit_wire *sent) {
    uint8_t out[TACIT_DIGEST_BYTES];
    tacit_digest digest;
    tacit_digest_begin(&digest, "tacit OT extension check", NULL);
    tacit_digest_bytes(&digest, &start, sizeof start);
    tacit_digest_u64(&digest, 0);
    tacit_digest_u64(&digest, BLOCKS * sizeof(tacit_wire));
    tacit_digest_bytes(&digest, sent, sizeof(tacit_wire[OT_GROUPS][BLOCKS]));
    tacit_digest_end(&digest, out);
    memcpy(&power[0], out, sizeof power[0]);
    for (int k = 1; k < 4; k++) power[k] = tacit_field_multiply(power[k - 1], power[0]);
}

/* By the definition: rows v_i, and u with the choices, of every tree. */
static void make_rows(tacit_wire rows[OT_WIDTH][BLOCKS], tacit_wire sent[OT_GROUPS][BLOCKS],
                      const tacit_wire *leaves, const tacit_wire *choices) {
    const tacit_cipher *cipher = tacit_cipher_of(TACIT_ENGINE_PORTABLE);
    tacit_wire column[BLOCKS];
    tacit_aes_key key;
    memset(rows, 0, sizeof(tacit_wire[OT_WIDTH][BLOCKS]));
    for (size_t g = 0; g < OT_GROUPS; g++) {
        memcpy(sent[g], choices, sizeof sent[g]);
        for (size_t x = 0; x < OT_LEAVES; x++) {
            cipher->expand_key(&key, leaves[g * OT_LEAVES + x]);
            cipher->counter(column, &key, 0, BLOCKS);
            for (size_t k = 0; k < BLOCKS; k++) {
                sent[g][k] = tacit_wire_xor(sent[g][k], column[k]);
                for (size_t b = 0; b < OT_BITS; b++)
                    rows[g * OT_BITS + b][k] =
                        tacit_wire_xor(rows[g * OT_BITS + b][k], tacit_wire_if(x >> b & 1, column[k]));
            }
        }
    }
}

static tacit_status cheating_receive(tacit_channel *channel, tacit_stream *stream, void *context,
                                     tacit_error *error) {
    const cheat *how = context;
    const tacit_cipher *cipher = tacit_cipher_of(TACIT_ENGINE_PORTABLE);
    static tacit_wire leaves[OT_GROUPS * OT_LEAVES], rows[OT_WIDTH][BLOCKS], sent[OT_GROUPS][BLOCKS],
        hashes[OT_WIDTH];
    tacit_wire start, power[4], choices[BLOCKS], flip[BLOCKS] = { { { 1, 0 } } };
    uint8_t all[TACIT_DIGEST_BYTES];
    tacit_digest digest;
    TACIT_TRY(ot_trees_send(leaves, channel, stream, cipher, error));
    TACIT_TRY(tacit_channel_receive(channel, &start, sizeof start, error));
    tacit_stream_bytes(stream, choices, sizeof choices);
    make_rows(rows, sent, leaves, choices);
    for (size_t g = 0; g < OT_GROUPS; g++)
        for (size_t k = 0; k < BLOCKS; k++)
            sent[g][k] = tacit_wire_xor(sent[g][k], tacit_wire_if(is_cheated(how, g), flip[k]));
    TACIT_TRY(tacit_channel_send(channel, sent, sizeof sent, error));
    check_point(power, start, sent[0]);
    const tacit_wire said = cipher->polynomial(power, choices, BLOCKS);
    const tacit_wire difference = cipher->polynomial(power, flip, BLOCKS);
    for (size_t i = 0; i < OT_WIDTH; i++)
        hashes[i] = tacit_wire_xor(
            cipher->polynomial(power, rows[i], BLOCKS),
            tacit_wire_if(is_cheated(how, i / OT_BITS) ? how->guess >> i % OT_BITS & 1 : 0, difference));
    tacit_digest_begin(&digest, "tacit OT extension rows", NULL);
    tacit_digest_bytes(&digest, hashes, sizeof hashes);
    tacit_digest_end(&digest, all);
    TACIT_TRY(tacit_channel_send(channel, &said, sizeof said, error));
    TACIT_TRY(tacit_channel_send(channel, all, sizeof all, error));
    return tacit_channel_flush(channel, error);
}

static tacit_status honest_send(tacit_channel *channel, tacit_stream *stream, void *context,
                                tacit_error *error) {
    return extension_send(channel, stream, ((cheat *)context)->all, error);
}

static tacit_status outcome(size_t trees, unsigned guess, uint64_t seed) {
    transfer *all = new_transfer(TACIT_ENGINE_PORTABLE);
    cheat how = { trees, guess, all };
    pair_thread both[2];
    all->counts[0] = 300;
    pair_of(both, honest_send, cheating_receive, &how);
    both[0].stream = tacit_stream_from_seed(seed);
    pair_run(both);
    const tacit_status status = both[0].status;
    if (status != TACIT_OK) {
        assert_int_equal(status, TACIT_PROTOCOL);
        assert_non_null(strstr(both[0].error.text, "its columns are not of one set of choices"));
        assert_true(all->sent[0].half[0] == 0 && all->sent[0].half[1] == 0); /* nothing is given */
    }
    free(all);
    return status;
}

/* With fixed seeds nothing is left to chance. A tree's bits of delta can be guessed, and a wrong guess ends
 * the run; of many trees no guess is right. Without the check all of these would pass. */
static void a_receiver_with_different_choices_in_columns_is_caught(void **state) {
    (void)state;
    int passed = 0;
    assert_int_equal(outcome(0, 0, 22), TACIT_OK);
    for (unsigned guess = 0; guess < OT_LEAVES; guess++) passed += outcome(1, guess, 30) == TACIT_OK;
    assert_int_equal(passed, 1);
    assert_int_equal(outcome(10, 6, 31), TACIT_PROTOCOL);
    assert_int_equal(outcome(OT_GROUPS - 1, 15, 32), TACIT_PROTOCOL);
}

/* ---- a receiver whose trees depend on who looks ---- */

typedef struct spoilt {
    transfer *all;
    size_t tree, wire[2]; /* of what is said of that tree; the same twice: one is changed */
} spoilt;

static _Thread_local const spoilt *spoils;

tacit_status __real_tacit_channel_send(tacit_channel *channel, const void *bytes, size_t length,
                                       tacit_error *error);
tacit_status __wrap_tacit_channel_send(tacit_channel *channel, const void *bytes, size_t length,
                                       tacit_error *error);

enum {
    TREE_WIRES = 2 * (OT_BITS - 1) + 4
}; /* sums of each level's left and right children, and four of all leaves */

tacit_status __wrap_tacit_channel_send(tacit_channel *channel, const void *bytes, size_t length,
                                       tacit_error *error) {
    tacit_wire words[OT_GROUPS][TREE_WIRES];
    if (spoils == NULL || length != sizeof words)
        return __real_tacit_channel_send(channel, bytes, length, error);
    memcpy(words, bytes, sizeof words);
    for (int i = 0; i < (spoils->wire[0] == spoils->wire[1] ? 1 : 2); i++)
        words[spoils->tree][spoils->wire[i]].half[1] ^= 4;
    return __real_tacit_channel_send(channel, words, sizeof words, error);
}

static tacit_status spoiling_receive(tacit_channel *channel, tacit_stream *stream, void *context,
                                     tacit_error *error) {
    spoils = context;
    tacit_status status = extension_receive(channel, stream, spoils->all, error);
    spoils = NULL;
    return status;
}

static tacit_status spoilt_send(tacit_channel *channel, tacit_stream *stream, void *context,
                                tacit_error *error) {
    return extension_send(channel, stream, ((spoilt *)context)->all, error);
}

static tacit_status spoilt_outcome(uint64_t seed, size_t tree, size_t first, size_t second) {
    transfer *all = new_transfer(TACIT_ENGINE_PORTABLE);
    spoilt how = { all, tree, { first, second } };
    pair_thread both[2];
    all->counts[0] = 300;
    pair_of(both, spoilt_send, spoiling_receive, &how);
    both[0].stream = tacit_stream_from_seed(seed);
    pair_run(both);
    const tacit_status status = both[0].status;
    if (status != TACIT_OK) {
        assert_int_equal(status, TACIT_PROTOCOL);
        assert_non_null(strstr(both[0].error.text, "its seeds are not of one set of trees"));
    }
    free(all);
    return status;
}

/* The sum of the side that the sender does not look at can be anything; which one it is can be guessed, and
 * costs the run if wrong. */
static void a_receiver_with_wrong_sums_in_a_tree_is_caught_where_the_sender_looks(void **state) {
    (void)state;
    for (size_t level = 0; level < OT_BITS - 1; level++) {
        const size_t tree = 13 * level, left = 2 * level, right = left + 1;
        int passed = 0;
        for (size_t side = left; side <= right; side++)
            passed += spoilt_outcome(40, tree, side, side) == TACIT_OK;
        assert_int_equal(passed, 1);
        assert_int_equal(spoilt_outcome(40, tree, left, right), TACIT_PROTOCOL);
    }
    assert_int_equal(spoilt_outcome(50, OT_GROUPS - 1, TREE_WIRES - 1, TREE_WIRES - 1), TACIT_PROTOCOL);
}

/* ---- what is sent ---- */

static tacit_status counting_receive(tacit_channel *channel, tacit_stream *stream, void *context,
                                     tacit_error *error) {
    transfer *all = context;
    tacit_status status = extension_receive(channel, stream, all, error);
    all->receiver_sent = tacit_channel_count(channel).sent;
    return status;
}

/* Four bytes a transfer, 48 a batch for the check, and a setup of at most 16 KiB. */
static void a_transfer_takes_four_bytes(void **state) {
    (void)state;
    uint64_t sent[2];
    for (int i = 0; i < 2; i++) {
        transfer *all = new_transfer(TACIT_ENGINE_PORTABLE);
        pair_thread both[2];
        all->counts[0] = i == 0 ? 0 : 2 * (8192 - 128);
        pair_of(both, extension_send, counting_receive, all);
        pair_must(both);
        sent[i] = all->receiver_sent;
        free(all);
    }
    assert_true(sent[0] <= 16384);
    assert_int_equal(sent[1] - sent[0], 2 * (4 * 8192 + 48));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base_transfers_give_the_chosen_message_only),
        cmocka_unit_test(correlated_transfers_differ_by_delta),
        cmocka_unit_test(messages_of_choice_arrive),
        cmocka_unit_test(hostile_peers_are_an_error),
        cmocka_unit_test(a_receiver_with_different_choices_in_columns_is_caught),
        cmocka_unit_test(a_receiver_with_wrong_sums_in_a_tree_is_caught_where_the_sender_looks),
        cmocka_unit_test(a_transfer_takes_four_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
