/* Products of shares from transfers: what two servers hold adds up to the products of what they held. */
#include "pair.h"

#include <stdbool.h>
#include <string.h>

#include "crypto/share/triples.h"
#include "keys.h"

enum { SCALARS = 70, LENGTH = 9, WIDE = 700 };

typedef struct server {
    tacit_role role;
    tacit_engine engine;
    tacit_share x[SCALARS], u[LENGTH * SCALARS], out[LENGTH * SCALARS];
    tacit_share one, wide[WIDE], wide_out[WIDE];
} server;

/* Scalar k times a vector of k mod LENGTH + 1 entries, SCALARS apart; results one after the other. */
static tacit_product product_of(server *self, size_t k) {
    return (tacit_product){ &self->x[k], &self->u[k], SCALARS, k % LENGTH + 1, &self->out[k * LENGTH], 1 };
}

static tacit_status play(tacit_channel *channel, tacit_stream *stream, void *context, tacit_error *error) {
    server *self = context;
    tacit_triples *triples = NULL;
    tacit_product products[SCALARS];
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < SCALARS; k++) products[k] = product_of(self, k);
    TACIT_CHECK(tacit_triples_create(&triples, self->role, channel, stream, self->engine, error));
    TACIT_CHECK(tacit_triples_multiply(triples, products, SCALARS, error));
    TACIT_CHECK(tacit_triples_multiply(triples, products, 3, error)); /* adds them once more */
    TACIT_CHECK(tacit_triples_multiply(triples, NULL, 0, error));
    tacit_product wide = { &self->one, self->wide, 1, WIDE, self->wide_out, 1 }; /* more than goes together */
    TACIT_CHECK(tacit_triples_multiply(triples, &wide, 1, error));
cleanup:
    tacit_triples_free(triples);
    return status;
}

static void begin(server servers[2], pair_thread both[2], tacit_stream *stream) {
    memset(servers, 0, 2 * sizeof *servers);
    for (int i = 0; i < 2; i++) {
        servers[i].role = i == 0 ? TACIT_GARBLER : TACIT_EVALUATOR;
        servers[i].engine = tacit_engine_best();
        tacit_stream_bytes(stream, servers[i].x, sizeof servers[i].x);
        tacit_stream_bytes(stream, servers[i].u, sizeof servers[i].u);
        tacit_stream_bytes(stream, &servers[i].one, sizeof servers[i].one);
        tacit_stream_bytes(stream, servers[i].wide, sizeof servers[i].wide);
        both[i] = (pair_thread){ .part = play,
                                 .context = &servers[i],
                                 .stream = tacit_stream_fork(stream, "server", (uint64_t)i, 0) };
    }
    for (size_t k = 0; k < 4; k++) /* edges: 0, -1, 2^127, and both alike */
        for (int i = 0; i < 2; i++)
            servers[i].x[k] = k == 1 ? -(tacit_share)i : k == 2 ? (tacit_share)i << 127 : 0;
    servers[0].x[3] = servers[1].x[3] = (tacit_share)1 << 127;
}

static void shares_of_products_add_up(void **state) {
    (void)state;
    tacit_stream stream = printed_stream();
    static server servers[2];
    pair_thread both[2];
    begin(servers, both, &stream);
    pair_must(both);
    for (size_t k = 0; k < SCALARS; k++)
        for (size_t i = 0; i < LENGTH; i++) {
            tacit_share x = servers[0].x[k] + servers[1].x[k];
            tacit_share u = servers[0].u[k + i * SCALARS] + servers[1].u[k + i * SCALARS];
            tacit_share right = i <= k % LENGTH ? x * u * (k < 3 ? 2 : 1) : 0;
            assert_true(servers[0].out[k * LENGTH + i] + servers[1].out[k * LENGTH + i] == right);
        }
    for (size_t i = 0; i < WIDE; i++)
        assert_true(servers[0].wide_out[i] + servers[1].wide_out[i] ==
                    (servers[0].one + servers[1].one) * (servers[0].wide[i] + servers[1].wide[i]));
}

/* A share is one server's whole view of a product: of two entries that are the same it must not be. */
static void shares_do_not_repeat(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(9);
    static server servers[2];
    pair_thread both[2];
    begin(servers, both, &stream);
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < WIDE; k++) servers[i].wide[k] = 7;
    pair_must(both);
    for (size_t k = 1; k < WIDE; k++) assert_true(servers[0].wide_out[k] != servers[0].wide_out[k - 1]);
}

static void dropped_bits_leave_the_quotient_or_one_more(void **state) {
    (void)state;
    tacit_stream stream = printed_stream();
    for (int k = 0; k < 20000; k++) {
        int64_t value = k < 4 ? k - 2 : signed_below(&stream, 62);
        unsigned bits = (unsigned)tacit_stream_below(&stream, 60);
        tacit_share a, b;
        tacit_stream_bytes(&stream, &a, sizeof a);
        b = tacit_share_of(value) - a;
        tacit_shares_drop(&a, bits, 1, TACIT_GARBLER);
        tacit_shares_drop(&b, bits, 1, TACIT_EVALUATOR);
        tacit_signed_share off = (tacit_signed_share)(a + b) - (value >> bits);
        assert_true(off == 0 || off == 1); /* wraps around once in 2^64 times */
    }
}

static void garbage_is_an_error(void **state) {
    (void)state;
    static size_t lengths[] = { 0, 100, 8192, 8250, 60000 };
    tacit_stream stream = tacit_stream_from_seed(10);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (int victim = 0; victim < 2; victim++) {
            static server servers[2];
            pair_thread both[2];
            begin(servers, both, &stream);
            both[1 - victim].part = pair_garbage;
            both[1 - victim].context = &lengths[k];
            pair_run(both);
            assert_true(both[victim].status == TACIT_NETWORK || both[victim].status == TACIT_PROTOCOL);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_products_add_up),
        cmocka_unit_test(shares_do_not_repeat),
        cmocka_unit_test(dropped_bits_leave_the_quotient_or_one_more),
        cmocka_unit_test(garbage_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
