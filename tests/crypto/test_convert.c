/* Numbers pass between ciphertexts, shares and wires, and arrive as they left. */
#include "pair.h"

#include <stdbool.h>
#include <string.h>

#include "crypto/garble/circuits_word.h"
#include "crypto/garble/garble.h"
#include "crypto/linear/convert.h"
#include "keys.h"

enum { COUNT = 11, NODES = 3 };

typedef struct server {
    tacit_role role;
    const tacit_masked_slots *layout;
    const tacit_paillier_public *key;
    const tacit_paillier_secret *secret;
    tacit_ciphertexts *ciphertexts, *made;
    tacit_share shares[COUNT], given[COUNT];
    unsigned drop;
    bool again; /* and on to wires, back to shares and to ciphertexts */
} server;

static tacit_status through_wires(server *self, tacit_builder *builder, const tacit_converter *converter,
                                  tacit_error *error) {
    tacit_wire *wires = tacit_scratch(builder, 64 * COUNT);
    if (wires == NULL) return TACIT_NO_MEMORY;
    TACIT_TRY(tacit_shares_to_wires(wires, builder, self->role, self->shares, COUNT, 64));
    TACIT_TRY(tacit_word_add(builder, wires, wires, wires, 64, COUNT)); /* twice the number */
    TACIT_TRY(
        tacit_shares_from_wires(self->shares, builder, self->role, converter->stream, wires, COUNT, 64));
    return tacit_shares_to_ciphertexts(self->made, converter, builder, self->key, self->layout, self->shares,
                                       COUNT, error);
}

static tacit_status play(tacit_channel *channel, tacit_stream *stream, void *context, tacit_error *error) {
    server *self = context;
    tacit_entropy *entropy = NULL;
    tacit_builder *builder = NULL;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_entropy_create(&entropy, error));
    tacit_converter converter = { self->role, channel, stream, entropy, NULL };
    TACIT_CHECK(tacit_shares_from_ciphertexts(
        self->shares, COUNT, &converter, self->layout, self->role == TACIT_GARBLER ? self->ciphertexts : NULL,
        self->role == TACIT_EVALUATOR ? self->secret : NULL, self->drop, error));
    memcpy(self->given, self->shares, sizeof self->given);
    if (!self->again) goto cleanup;
    tacit_garble_settings settings = tacit_garble_defaults();
    settings.stream = stream;
    TACIT_CHECK((self->role == TACIT_GARBLER ? tacit_garbler_create
                                             : tacit_evaluator_create)(&builder, channel, &settings, error));
    status = through_wires(self, builder, &converter, error);
    if (status != TACIT_OK && error->status == TACIT_OK) *error = builder->error;
cleanup:
    tacit_builder_free(builder);
    tacit_entropy_free(entropy);
    return status;
}

/* What NODES nodes send for these numbers, added up. */
static tacit_ciphertexts *sums_of(const tacit_paillier_public *key, const tacit_slots *slots,
                                  int64_t numbers[NODES][COUNT]) {
    size_t vectors = tacit_slots_plaintexts(slots, COUNT);
    tacit_ciphertexts *sum = new_ciphertexts(key, vectors), *one = new_ciphertexts(key, vectors);
    tacit_plaintexts *plaintexts = new_plaintexts(key, vectors);
    tacit_entropy *entropy = new_entropy();
    tacit_error error = TACIT_ERROR_INIT;
    for (int node = 0; node < NODES; node++) {
        CHECK_OK(tacit_slots_pack(plaintexts, slots, numbers[node], COUNT, &error), error);
        CHECK_OK(tacit_paillier_encrypt(one, plaintexts, TACIT_PAILLIER_SHORT, entropy, NULL, &error), error);
        CHECK_OK(tacit_paillier_add(sum, sum, one, NULL, &error), error);
    }
    tacit_ciphertexts_free(one);
    tacit_plaintexts_free(plaintexts);
    tacit_entropy_free(entropy);
    return sum;
}

typedef struct world {
    tacit_paillier_secret *secret;
    tacit_masked_slots layout;
    int64_t sums[COUNT];
    server servers[2];
    pair_thread both[2];
} world;

/* Numbers of up to `bits` bits, the first the largest there are. */
static void begin(world *self, int which, unsigned bits, tacit_stream *stream) {
    tacit_error error = TACIT_ERROR_INIT;
    int64_t numbers[NODES][COUNT], most = (int64_t)1 << bits;
    self->secret = stored_key(which);
    const tacit_paillier_public *key = tacit_paillier_public_of(self->secret);
    CHECK_OK(tacit_masked_slots_plan(&self->layout, key, (double)most, 0, 0, 2 * NODES, &error), error);
    memset(self->sums, 0, sizeof self->sums);
    for (int node = 0; node < NODES; node++)
        for (int k = 0; k < COUNT; k++) {
            numbers[node][k] = k < 2 ? (k == 0 ? most : -most) : signed_below(stream, bits);
            self->sums[k] += numbers[node][k];
        }
    for (int i = 0; i < 2; i++) {
        self->servers[i] = (server){ .role = i == 0 ? TACIT_GARBLER : TACIT_EVALUATOR,
                                     .layout = &self->layout,
                                     .key = key,
                                     .secret = self->secret };
        self->both[i] = (pair_thread){ .part = play,
                                       .context = &self->servers[i],
                                       .stream = tacit_stream_fork(stream, "server", (uint64_t)i, 0) };
    }
    self->servers[0].ciphertexts = sums_of(key, &self->layout.slots, numbers);
    self->servers[0].made = new_ciphertexts(key, tacit_slots_plaintexts(&self->layout.slots, COUNT));
}

static void end(world *self) {
    tacit_ciphertexts_free(self->servers[0].ciphertexts);
    tacit_ciphertexts_free(self->servers[0].made);
    tacit_paillier_secret_free(self->secret);
}

static int64_t opened(const world *self, int k) {
    tacit_share sum = self->servers[0].given[k] + self->servers[1].given[k];
    assert_true((tacit_signed_share)sum == (int64_t)sum);
    return (int64_t)sum;
}

static void sums_of_ciphertexts_become_shares(void **state) {
    (void)state;
    tacit_stream stream = printed_stream();
    for (unsigned bits = 1; bits <= 58; bits += 19) {
        world self;
        begin(&self, SHORT_KEY, bits, &stream);
        pair_must(self.both);
        for (int k = 0; k < COUNT; k++) assert_int_equal(opened(&self, k), self.sums[k]);
        end(&self);
    }
}

static void bits_are_dropped_with_an_error_of_less_than_one_unit(void **state) {
    (void)state;
    tacit_stream stream = printed_stream();
    world self;
    begin(&self, SHORT_KEY, 50, &stream);
    self.servers[0].drop = self.servers[1].drop = 20;
    pair_must(self.both);
    for (int k = 0; k < COUNT; k++) {
        int64_t right = self.sums[k] >> 20, got = opened(&self, k);
        assert_true(got == right || got == right + 1);
    }
    end(&self);
}

static void numbers_go_through_all_forms_and_back(void **state) {
    (void)state;
    tacit_stream stream = printed_stream();
    for (int which = SHORT_KEY; which <= FULL_KEY; which++) {
        world self;
        tacit_error error = TACIT_ERROR_INIT;
        int64_t back[COUNT];
        begin(&self, which, 40, &stream);
        self.servers[0].again = self.servers[1].again = true;
        pair_must(self.both);
        size_t vectors = tacit_ciphertexts_count(self.servers[0].made);
        assert_true(which == SHORT_KEY || vectors == 1); /* many numbers in one ciphertext */
        tacit_plaintexts *plaintexts = new_plaintexts(tacit_paillier_public_of(self.secret), vectors);
        CHECK_OK(tacit_paillier_decrypt(plaintexts, self.secret, self.servers[0].made, NULL, &error), error);
        CHECK_OK(tacit_slots_unpack_integers(back, &self.layout.slots, COUNT, plaintexts, &error), error);
        for (int k = 0; k < COUNT; k++) {
            assert_int_equal((int64_t)(self.servers[0].shares[k] + self.servers[1].shares[k]),
                             2 * self.sums[k]);
            assert_int_equal(back[k], 2 * self.sums[k]);
        }
        tacit_plaintexts_free(plaintexts);
        end(&self);
    }
}

static void masks_are_forty_bits_longer_than_twice_the_largest_sum(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(5);
    world self;
    begin(&self, SHORT_KEY, 10, &stream);
    assert_int_equal(self.layout.mask_bits, 10 + 3 + 41); /* six numbers of 2^10 take 13 bits */
    assert_true(self.layout.slots.slot_bits >= self.layout.mask_bits + 2);
    end(&self);
}

static void wrong_calls_are_refused(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(6);
    tacit_error error = TACIT_ERROR_INIT;
    world self;
    tacit_masked_slots layout;
    begin(&self, SHORT_KEY, 10, &stream);
    const tacit_paillier_public *key = tacit_paillier_public_of(self.secret);
    assert_int_equal(tacit_masked_slots_plan(&layout, key, 1, 10, 0, UINT64_C(1) << 20, &error), TACIT_USAGE);
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_masked_slots_plan(&layout, key, 1, 62, 40, 1, &error), TACIT_USAGE);
    tacit_converter converter = { TACIT_GARBLER, NULL, &stream, NULL, NULL };
    error = (tacit_error)TACIT_ERROR_INIT;
    assert_int_equal(tacit_shares_from_ciphertexts(self.servers[0].shares, COUNT, &converter, &self.layout,
                                                   NULL, NULL, 0, &error),
                     TACIT_USAGE);
    end(&self);
}

static void garbage_and_silence_are_errors(void **state) {
    (void)state;
    static size_t lengths[] = { 0, 5, 32, 56, 100, 2000 };
    tacit_stream stream = tacit_stream_from_seed(7);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (int victim = 0; victim < 2; victim++) {
            world self;
            begin(&self, SHORT_KEY, 40, &stream);
            self.servers[victim].again = true;
            self.both[1 - victim].part = pair_garbage;
            self.both[1 - victim].context = &lengths[k];
            pair_run(self.both);
            tacit_status status = self.both[victim].status;
            assert_true(status == TACIT_NETWORK || status == TACIT_PROTOCOL || status == TACIT_INPUT);
            assert_true(strlen(self.both[victim].error.text) > 0);
            end(&self);
        }
}

/* A's layout has other slots than B's. */
static void a_vector_of_another_length_is_refused(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(8);
    world self;
    tacit_masked_slots other;
    tacit_error error = TACIT_ERROR_INIT;
    begin(&self, SHORT_KEY, 10, &stream);
    CHECK_OK(tacit_masked_slots_plan(&other, tacit_paillier_public_of(self.secret), 0x1p55, 0, 0, 2 * NODES,
                                     &error),
             error);
    self.servers[1].layout = &other;
    pair_run(self.both);
    assert_true(self.both[1].status != TACIT_OK);
    end(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_ciphertexts_become_shares),
        cmocka_unit_test(bits_are_dropped_with_an_error_of_less_than_one_unit),
        cmocka_unit_test(numbers_go_through_all_forms_and_back),
        cmocka_unit_test(masks_are_forty_bits_longer_than_twice_the_largest_sum),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(garbage_and_silence_are_errors),
        cmocka_unit_test(a_vector_of_another_length_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
