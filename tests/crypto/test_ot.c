/* Oblivious transfer: the receiver gets what it chose, and hostile peers get an error. */
#include "pair.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/cipher_parts.h"
#include "crypto/digest.h"
#include "crypto/field128_parts.h"
#include "crypto/ot/ot.h"

enum { MOST = 20000 };

typedef struct transfer {
    tacit_engine engine;
    size_t counts[6];
    uint8_t choices[MOST];
    tacit_wire sent[2 * MOST], got[MOST], delta;
    bool chosen_messages;
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
 * It flips a choice in some columns only, so that bits of delta show in the sender's rows, and answers the check as well as can
 * be done: for these columns with what passes if delta's bits are as guessed.
 */
typedef struct cheat {
    uint8_t columns, guess; /* how many from column 1 on, and the bit guessed for each */
    transfer *all;
} cheat;

enum { WIDTH = 128, BLOCKS = 4 };

/* The point of the check and its powers, from what was sent. */
static void check_point(tacit_wire power[4], tacit_wire start, const tacit_wire *sent) {
    uint8_t out[TACIT_DIGEST_BYTES];
    tacit_digest digest;
    tacit_digest_begin(&digest, "tacit OT extension check", NULL);
    tacit_digest_bytes(&digest, &start, sizeof start);
    tacit_digest_u64(&digest, 0);
    tacit_digest_u64(&digest, BLOCKS * sizeof(tacit_wire));
    tacit_digest_bytes(&digest, sent, sizeof(tacit_wire[WIDTH][BLOCKS]));
    tacit_digest_end(&digest, out);
    memcpy(&power[0], out, sizeof power[0]);
    for (int k = 1; k < 4; k++) power[k] = tacit_field_multiply(power[k - 1], power[0]);
}

static tacit_status cheating_receive(tacit_channel *channel, tacit_stream *stream, void *context,
                                     tacit_error *error) {
    const cheat *how = context;
    const tacit_cipher *cipher = tacit_cipher_of(TACIT_ENGINE_PORTABLE);
    static tacit_wire seeds[2 * WIDTH], kept[WIDTH][BLOCKS], sent[WIDTH][BLOCKS], hashes[WIDTH];
    tacit_wire start, power[4], choices[BLOCKS], other[BLOCKS], flip[BLOCKS] = { { { 1, 0 } } };
    uint8_t rows[TACIT_DIGEST_BYTES];
    tacit_aes_key key;
    tacit_digest digest;
    TACIT_TRY(tacit_ot_base_send(seeds, WIDTH, channel, stream, error));
    TACIT_TRY(tacit_channel_receive(channel, &start, sizeof start, error));
    tacit_stream_bytes(stream, choices, sizeof choices);
    for (size_t i = 0; i < WIDTH; i++) {
        const bool cheated = i >= 1 && i <= how->columns;
        cipher->expand_key(&key, seeds[2 * i]);
        cipher->counter(kept[i], &key, 0, BLOCKS);
        cipher->expand_key(&key, seeds[2 * i + 1]);
        cipher->counter(other, &key, 0, BLOCKS);
        for (size_t k = 0; k < BLOCKS; k++) {
            sent[i][k] = tacit_wire_xor(tacit_wire_xor(kept[i][k], other[k]), choices[k]);
            sent[i][k] = tacit_wire_xor(sent[i][k], tacit_wire_if(cheated, flip[k]));
        }
    }
    TACIT_TRY(tacit_channel_send(channel, sent, sizeof sent, error));
    check_point(power, start, sent[0]);
    const tacit_wire said = cipher->polynomial(power, choices, BLOCKS);
    const tacit_wire difference = cipher->polynomial(power, flip, BLOCKS);
    for (size_t i = 0; i < WIDTH; i++)
        hashes[i] = tacit_wire_xor(cipher->polynomial(power, kept[i], BLOCKS),
                                   tacit_wire_if(i >= 1 && i <= how->columns ? how->guess : 0, difference));
    tacit_digest_begin(&digest, "tacit OT extension rows", NULL);
    tacit_digest_bytes(&digest, hashes, sizeof hashes);
    tacit_digest_end(&digest, rows);
    TACIT_TRY(tacit_channel_send(channel, &said, sizeof said, error));
    TACIT_TRY(tacit_channel_send(channel, rows, sizeof rows, error));
    return tacit_channel_flush(channel, error);
}

static tacit_status honest_send(tacit_channel *channel, tacit_stream *stream, void *context,
                                tacit_error *error) {
    return extension_send(channel, stream, ((cheat *)context)->all, error);
}

static tacit_status outcome(uint8_t columns, uint8_t guess, uint64_t seed) {
    transfer *all = new_transfer(TACIT_ENGINE_PORTABLE);
    cheat how = { columns, guess, all };
    pair_thread both[2];
    all->counts[0] = 300;
    pair_of(both, honest_send, cheating_receive, &how);
    both[0].stream = tacit_stream_from_seed(seed);
    pair_run(both);
    const tacit_status status = both[0].status;
    if (status != TACIT_OK) {
        assert_int_equal(status, TACIT_PROTOCOL);
        assert_non_null(strstr(both[0].error.text, "cheats in oblivious transfer"));
        assert_true(all->sent[0].half[0] == 0 && all->sent[0].half[1] == 0); /* nothing is given */
    }
    free(all);
    return status;
}

/* With fixed seeds nothing is left to chance. A bit of delta can be guessed, and a wrong guess ends the run; of many bits no
 * guess is right. Without the check all of these would pass. */
static void a_receiver_with_different_choices_in_columns_is_caught(void **state) {
    (void)state;
    assert_int_equal(outcome(0, 0, 22), TACIT_OK);
    for (uint64_t seed = 30; seed < 34; seed++) {
        const int passed = (outcome(1, 0, seed) == TACIT_OK) + (outcome(1, 1, seed) == TACIT_OK);
        assert_int_equal(passed, 1);
        for (uint8_t guess = 0; guess < 2; guess++) {
            assert_int_equal(outcome(40, guess, seed), TACIT_PROTOCOL);
            assert_int_equal(outcome(127, guess, seed), TACIT_PROTOCOL);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base_transfers_give_the_chosen_message_only),
        cmocka_unit_test(correlated_transfers_differ_by_delta),
        cmocka_unit_test(messages_of_choice_arrive),
        cmocka_unit_test(hostile_peers_are_an_error),
        cmocka_unit_test(a_receiver_with_different_choices_in_columns_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
