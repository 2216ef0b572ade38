/*
 * Base transfers from fixed streams: the messages that come out. Both ends run the same code, so leaving
 * something out of a hash would show in no test of whether they agree; here it changes the digest of all
 * messages. The digest was made by the code that hashes transfer number, side, everything that was sent and
 * the shared element.
 */
#include "pair.h"

#include <sodium.h>
#include <string.h>

#include "crypto/ot/ot.h"

enum { TRANSFERS = 5 };

static tacit_status send_all(tacit_channel *channel, tacit_stream *stream, void *context,
                             tacit_error *error) {
    return tacit_ot_base_send(context, TRANSFERS, channel, stream, error);
}

static tacit_status receive_all(tacit_channel *channel, tacit_stream *stream, void *context,
                                tacit_error *error) {
    static const uint8_t choices[TRANSFERS] = { 1, 0, 0, 1, 1 };
    return tacit_ot_base_receive(context, choices, TRANSFERS, channel, stream, error);
}

static void the_messages_of_fixed_streams_are_known(void **state) {
    (void)state;
    static const char known[] = "c4250f8f56227c514c5fb1f471d20ab6";
    tacit_wire pairs[2 * TRANSFERS], chosen[TRANSFERS];
    pair_thread both[2] = {
        { .part = send_all, .stream = tacit_stream_from_seed(11), .context = pairs },
        { .part = receive_all, .stream = tacit_stream_from_seed(12), .context = chosen }
    };
    uint8_t digest[16];
    char hex[2 * sizeof digest + 1];
    assert_true(sodium_init() >= 0);
    pair_must(both);
    assert_memory_equal(&chosen[0], &pairs[1], sizeof *chosen);
    assert_memory_equal(&chosen[1], &pairs[2], sizeof *chosen);
    crypto_generichash(digest, sizeof digest, (const uint8_t *)pairs, sizeof pairs, NULL, 0);
    assert_string_equal(sodium_bin2hex(hex, sizeof hex, digest, sizeof digest), known);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_messages_of_fixed_streams_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
