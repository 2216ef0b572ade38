/* Oblivious transfer: the receiver gets what it chose, and hostile peers get an error. */
#include "pair.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/ot.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base_transfers_give_the_chosen_message_only),
        cmocka_unit_test(correlated_transfers_differ_by_delta),
        cmocka_unit_test(messages_of_choice_arrive),
        cmocka_unit_test(hostile_peers_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
