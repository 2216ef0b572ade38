/*
 * Linear algebra between two servers over a line that cuts off, changes or adds to what one of them says, at
 * any byte: greeting, transfers, garbled tables, masked numbers, ciphertexts. Both come to an end, with a
 * sentence where it is an error.
 *
 * What is noticed: a line that is cut is an error to who listens, always, and nothing is opened to it after.
 * A greeting that is changed is refused by both. Other changes are noticed where the bytes have a form
 * (points of the base transfers, the heads and ranges of ciphertexts, labels of opened wires), and may else
 * give wrong numbers: the servers are taken to follow the protocol, and on a network TLS tells changed bytes
 * from true ones.
 */
#include "pair.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "crypto/linear/secure.h"
#include "keys.h"

enum { GREETING = 16, CUT = 0, FLIP, INSERT, KINDS, UNTOUCHED = 99, PLACES = 4 };
static const int64_t SENTINEL = 0x5eed5eed;

static const tacit_paillier_secret *key; /* B's; A has its public half */

typedef struct server {
    tacit_role role;
    tacit_secure_engine engine;
    int64_t opened;
} server;

static tacit_status convert(tacit_secure *secure, const tacit_share *shares, tacit_error *error) {
    const tacit_paillier_public *public = tacit_paillier_public_of(key);
    bool first = tacit_secure_role(secure) == TACIT_GARBLER;
    tacit_masked_slots layout;
    tacit_ciphertexts *ciphertexts = NULL;
    tacit_share back[2];
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_masked_slots_plan(&layout, public, 100, 5, 0, 1, error));
    if (first) TACIT_CHECK(tacit_ciphertexts_create(&ciphertexts, public, 1, error));
    TACIT_CHECK(tacit_secure_to_ciphertexts(secure, ciphertexts, public, &layout, shares, 2, error));
    TACIT_CHECK(
        tacit_secure_from_ciphertexts(secure, back, 2, &layout, ciphertexts, first ? NULL : key, 0, error));
cleanup:
    tacit_ciphertexts_free(ciphertexts);
    return status;
}

static tacit_status compute(tacit_secure *secure, bool first, tacit_factored **factor, int64_t *opened,
                            tacit_error *error) {
    static const int64_t values[3] = { 16, 3, 16 };
    tacit_share matrix[3], vector[2];
    bool less, within;
    TACIT_TRY(tacit_secure_input(secure, matrix, TACIT_GARBLER, first ? values : NULL, 3, error));
    TACIT_TRY(convert(secure, matrix, error));
    TACIT_TRY(tacit_secure_factor(secure, factor, matrix, 2, error));
    TACIT_TRY(tacit_secure_solve(secure, vector, *factor, matrix, error));
    TACIT_TRY(tacit_secure_multiply(secure, vector, matrix, vector, 1, 2, 1, error));
    TACIT_TRY(tacit_secure_all_less(secure, &less, vector, matrix, 1, error));
    const tacit_secure_range range = { vector, 1, 8, 12 };
    TACIT_TRY(tacit_secure_all_within(secure, &within, &range, 1, error));
    return tacit_secure_open(secure, opened, vector, 1, error);
}

static tacit_status play(tacit_channel *channel, tacit_stream *stream, void *context, tacit_error *error) {
    server *self = context;
    tacit_secure_settings settings = tacit_secure_defaults();
    tacit_secure *secure = NULL;
    tacit_factored *factor = NULL;
    settings.engine = self->engine;
    settings.format = (tacit_fixed){ 12, 5 };
    settings.garble.stream = stream;
    tacit_status status = tacit_secure_create(&secure, self->role, channel, &settings, error);
    if (status == TACIT_OK)
        status = compute(secure, self->role == TACIT_GARBLER, &factor, &self->opened, error);
    tacit_factored_free(factor);
    tacit_secure_free(secure);
    return status;
}

/* ---- the line ---- */

typedef struct line {
    int from, to;
    int kind;
    size_t at, passed;
    pthread_t thread;
} line;

static bool put(int to, const uint8_t *bytes, size_t length) {
    for (size_t done = 0; done < length;) {
        ssize_t part = send(to, bytes + done, length - done, MSG_NOSIGNAL);
        if (part <= 0) return false;
        done += (size_t)part;
    }
    return true;
}

static void *line_main(void *argument) {
    line *self = argument;
    static const uint8_t extra[5] = { 1, 2, 3, 4, 5 };
    uint8_t bytes[65536];
    for (ssize_t got; (got = read(self->from, bytes, sizeof bytes)) > 0;) {
        size_t length = (size_t)got, here = self->at - self->passed;
        bool falls = self->kind != UNTOUCHED && self->at >= self->passed && here < length;
        self->passed += length;
        if (falls && self->kind == FLIP) bytes[here] ^= 0x41;
        if (falls && self->kind == CUT) length = here;
        if (falls && self->kind == INSERT) {
            if (!put(self->to, bytes, here) || !put(self->to, extra, sizeof extra)) break;
            if (!put(self->to, bytes + here, length - here)) break;
            continue;
        }
        if (!put(self->to, bytes, length) || (falls && self->kind == CUT)) break;
    }
    shutdown(self->to, SHUT_WR);
    shutdown(self->from, SHUT_RD);
    return NULL;
}

/* Run both over two lines; `broken`: whose words are touched. */
static void run(pair_thread both[2], server servers[2], tacit_secure_engine engine, line lines[2], int broken,
                int kind, size_t at) {
    pthread_t threads[2];
    tacit_error error = TACIT_ERROR_INIT;
    int near[2], ends[2];
    for (int i = 0; i < 2; i++) {
        servers[i] = (server){ i == 0 ? TACIT_GARBLER : TACIT_EVALUATOR, engine, SENTINEL };
        both[i] = (pair_thread){ .part = play,
                                 .context = &servers[i],
                                 .stream = tacit_stream_from_seed((uint64_t)i) };
        int sockets[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
        near[i] = sockets[0];
        ends[i] = sockets[1];
        CHECK_OK(tacit_channel_stream(&both[i].channel, near[i], &error), error);
        tacit_channel_set_deadline(both[i].channel, tacit_clock_monotonic_ms() + 3 * PAIR_PATIENCE_MS);
    }
    for (int i = 0; i < 2; i++) {
        lines[i] = (line){ ends[i], ends[1 - i], i == broken ? kind : UNTOUCHED, at, 0, 0 };
        assert_int_equal(pthread_create(&lines[i].thread, NULL, line_main, &lines[i]), 0);
        assert_int_equal(pthread_create(&threads[i], NULL, pair_main, &both[i]), 0);
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) pthread_join(lines[i].thread, NULL);
    for (int i = 0; i < 2; i++) close(ends[i]);
}

static bool is_clean(const pair_thread *self) {
    if (self->status == TACIT_OK) return true;
    return self->error.text[0] != 0 && (self->status == TACIT_NETWORK || self->status == TACIT_PROTOCOL ||
                                        self->status == TACIT_INPUT || self->status == TACIT_LIMIT);
}

/* The first and the last bytes, and any between. */
static size_t place(size_t k, size_t total, tacit_stream *stream) {
    if (k == 0) return tacit_stream_below(stream, GREETING);
    if (k == 1) return total - 1 - tacit_stream_below(stream, 16);
    return GREETING + tacit_stream_below(stream, total - GREETING);
}

static void every_change_of_a_message_comes_to_an_end(void **state) {
    (void)state;
    tacit_stream stream = printed_stream();
    tacit_paillier_secret *secret = stored_key(SHORT_KEY);
    key = secret;
    for (tacit_secure_engine engine = TACIT_SECURE_YAO; engine <= TACIT_SECURE_SHARES; engine++) {
        pair_thread both[2];
        server servers[2];
        line lines[2];
        size_t noticed = 0, changed = 0;
        run(both, servers, engine, lines, 0, UNTOUCHED, 0);
        CHECK_OK(both[0].status, both[0].error);
        CHECK_OK(both[1].status, both[1].error);
        assert_true(servers[0].opened == servers[1].opened && servers[0].opened != SENTINEL);
        const size_t total[2] = { lines[0].passed, lines[1].passed };
        for (int speaker = 0; speaker < 2; speaker++)
            for (int kind = CUT; kind < KINDS; kind++)
                for (size_t k = 0; k < PLACES; k++) {
                    size_t at = place(k, total[speaker], &stream);
                    run(both, servers, engine, lines, speaker, kind, at);
                    const pair_thread *listener = &both[1 - speaker];
                    if (!is_clean(&both[0]) || !is_clean(&both[1]))
                        fail_msg("kind %d at %zu of %zu: %s, %s", kind, at, total[speaker],
                                 both[0].error.text, both[1].error.text);
                    bool seen = both[0].status != TACIT_OK || both[1].status != TACIT_OK;
                    if (kind == CUT) {
                        assert_int_not_equal(listener->status, TACIT_OK);
                        assert_true(servers[1 - speaker].opened == SENTINEL);
                    } else if (at < GREETING) {
                        assert_int_equal(listener->status, TACIT_PROTOCOL);
                    } else {
                        changed++;
                        noticed += seen;
                    }
                }
        print_message("# %s: %zu of %zu changes past the greeting were noticed\n",
                      tacit_secure_engine_name(engine), noticed, changed);
    }
    tacit_paillier_secret_free(secret);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_change_of_a_message_comes_to_an_end) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
