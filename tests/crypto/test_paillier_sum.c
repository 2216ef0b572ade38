/*
 * Sums under Paillier encryption without a network: exact, over those who sent; what the key holder decrypts does not follow
 * from the numbers; what is signed and wrong all the same is refused by whoever gets it.
 */
#include "check.h"

#include <sodium.h>

#include "crypto/paillier_sum_parts.h"
#include "keys.h"

enum { PARTIES = 4, LENGTH = 70 }; /* more than two ciphertexts of slots */

typedef struct world {
    uint8_t shown[PARTIES][crypto_sign_PUBLICKEYBYTES], secret[PARTIES][crypto_sign_SECRETKEYBYTES];
    tacit_signing_roster keys;
    tacit_securesum_roster roster;
    tacit_paillier_sum_terms terms;
    tacit_paillier_secret *holder;
    const tacit_paillier_public *key;
    tacit_entropy *entropy;
    tacit_paillier_sum_server *server;
    int64_t values[PARTIES][LENGTH];
} world;

static world *world_make(void) {
    world *self = calloc(1, sizeof *self);
    tacit_error error = TACIT_ERROR_INIT;
    tacit_stream stream = tacit_stream_from_seed(4);
    assert_non_null(self);
    for (size_t i = 0; i < PARTIES; i++) crypto_sign_keypair(self->shown[i], self->secret[i]);
    self->keys = (tacit_signing_roster){ PARTIES, (const uint8_t(*)[crypto_sign_PUBLICKEYBYTES])self->shown };
    self->roster = tacit_securesum_ed25519_roster(&self->keys);
    self->terms = (tacit_paillier_sum_terms){
        .study = "heart", .round = 3, .length = LENGTH, .parties = PARTIES, .minimum = 3, .key_bits = 2048
    };
    self->holder = stored_key(FULL_KEY);
    self->key = tacit_paillier_public_of(self->holder);
    self->entropy = new_entropy();
    for (size_t i = 0; i < PARTIES; i++)
        for (size_t j = 0; j < LENGTH; j++)
            self->values[i][j] = (int64_t)tacit_stream_u64(&stream) >> 6; /* four add up to less than 2^61 */
    CHECK_OK(tacit_paillier_sum_server_create(&self->server, &self->terms, &self->roster, NULL, &error),
             error);
    return self;
}

static void world_end(world *self) {
    tacit_paillier_sum_server_free(self->server);
    tacit_paillier_secret_free(self->holder);
    tacit_entropy_free(self->entropy);
    free(self);
}

static tacit_status hand_in(world *self, uint32_t party, const tacit_buffer *bytes) {
    return tacit_paillier_sum_server_receive(self->server, party, bytes->bytes, bytes->length, NULL);
}

static void close_step(world *self) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_paillier_sum_server_close(self->server, &error), error);
}

static void give_key(world *self) {
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_securesum_signer signer = tacit_securesum_ed25519_signer(self->secret[0]);
    CHECK_OK(tacit_paillier_sum_write_key(&out, &self->terms, self->key, &signer, &error), error);
    assert_int_equal(hand_in(self, 1, &out), TACIT_REFUSED); /* not the key holder */
    assert_int_equal(hand_in(self, 0, &out), TACIT_OK);
    assert_int_equal(hand_in(self, 0, &out), TACIT_OK); /* again */
    tacit_buffer_clear(&out);
    close_step(self);
}

static void contribute(world *self, uint32_t party, tacit_buffer *out) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_securesum_signer signer = tacit_securesum_ed25519_signer(self->secret[party]);
    CHECK_OK(tacit_paillier_sum_encrypt(out, &self->terms, self->key, party, self->values[party], &signer,
                                        self->entropy, NULL, &error),
             error);
}

static void contribute_all_but(world *self, uint32_t missing) {
    for (uint32_t i = 0; i < PARTIES; i++) {
        tacit_buffer out = TACIT_BUFFER_INIT;
        if (i == missing) continue;
        contribute(self, i, &out);
        assert_int_equal(hand_in(self, i, &out), TACIT_OK);
        tacit_buffer_clear(&out);
    }
    close_step(self);
}

static tacit_status decrypt(world *self, const tacit_buffer *question, tacit_buffer *out,
                            tacit_error *error) {
    return tacit_paillier_sum_decrypt(out, &self->terms, self->holder, &self->roster, question->bytes,
                                      question->length, NULL, error);
}

static void sums_are_exact_over_those_who_sent(void **state) {
    (void)state;
    for (uint32_t missing = 1; missing <= PARTIES; missing++) {
        world *self = world_make();
        tacit_buffer question = TACIT_BUFFER_INIT, out = TACIT_BUFFER_INIT;
        tacit_error error = TACIT_ERROR_INIT;
        give_key(self);
        contribute_all_but(self, missing);
        CHECK_OK(tacit_paillier_sum_server_question(self->server, 0, &question, &error), error);
        CHECK_OK(decrypt(self, &question, &out, &error), error);
        assert_int_equal(out.length, 8 * LENGTH);
        assert_int_equal(hand_in(self, 0, &out), TACIT_OK);
        assert_null(tacit_paillier_sum_server_sum(self->server));
        close_step(self);
        const int64_t *sum = tacit_paillier_sum_server_sum(self->server);
        for (size_t j = 0; j < LENGTH; j++) {
            int64_t expected = 0;
            for (uint32_t i = 0; i < PARTIES; i++) expected += i != missing ? self->values[i][j] : 0;
            assert_true(sum[j] == expected);
        }
        for (uint32_t i = 0; i < PARTIES; i++)
            assert_int_equal(tacit_paillier_sum_server_survived(self->server, i), i != missing);
        tacit_buffer_clear(&question);
        tacit_buffer_clear(&out);
        world_end(self);
    }
}

/* The same numbers twice: not one of the decrypted sums is the same, but for a chance of LENGTH 2^-62. */
static void what_the_key_holder_sees_does_not_follow_from_the_numbers(void **state) {
    (void)state;
    uint64_t seen[2][LENGTH];
    world *first = world_make();
    for (int run = 0; run < 2; run++) {
        world *self = run == 0 ? first : world_make();
        tacit_buffer question = TACIT_BUFFER_INIT, out = TACIT_BUFFER_INIT;
        tacit_error error = TACIT_ERROR_INIT;
        memcpy(self->values, first->values, sizeof self->values);
        give_key(self);
        contribute_all_but(self, PARTIES);
        CHECK_OK(tacit_paillier_sum_server_question(self->server, 0, &question, &error), error);
        CHECK_OK(decrypt(self, &question, &out, &error), error);
        memcpy(seen[run], out.bytes, sizeof seen[run]);
        tacit_buffer_clear(&question);
        tacit_buffer_clear(&out);
        if (run == 1) world_end(self);
    }
    for (size_t j = 0; j < LENGTH; j++) assert_true(seen[0][j] != seen[1][j]);
    world_end(first);
}

/* Signed like a contribution, whatever it holds. */
static void sign_again(world *self, uint32_t party, tacit_buffer *bytes) {
    uint8_t ciphertexts[TACIT_DIGEST_BYTES], digest[TACIT_DIGEST_BYTES];
    tacit_paillier_sum_ciphertext_digest(ciphertexts, bytes->bytes + TACIT_PAILLIER_ANSWER_HEADER,
                                         bytes->length - TACIT_PAILLIER_ANSWER_HEADER);
    tacit_paillier_sum_signed(digest, &self->terms, self->key, party, ciphertexts);
    crypto_sign_detached(bytes->bytes, NULL, digest, sizeof digest, self->secret[party]);
}

static void ciphertexts_that_are_none_are_refused(void **state) {
    (void)state;
    enum { CIPHERTEXT = 2048 / 4 };
    world *self = world_make();
    tacit_buffer good = TACIT_BUFFER_INIT, bad = TACIT_BUFFER_INIT;
    give_key(self);
    contribute(self, 1, &good);
    for (int which = 0; which < 5; which++) {
        bad.length = 0;
        assert_int_equal(tacit_buffer_append(&bad, good.bytes, good.length, NULL), TACIT_OK);
        uint8_t *last = bad.bytes + bad.length - CIPHERTEXT;
        if (which == 0) memset(last, 0, CIPHERTEXT);    /* no unit */
        if (which == 1) memset(last, 0xff, CIPHERTEXT); /* beyond n^2 */
        if (which == 2) bad.length -= CIPHERTEXT;       /* one too few, by the count in front */
        if (which == 3) bad.length -= 1;
        if (which == 4) bad.length = TACIT_PAILLIER_ANSWER_HEADER;
        sign_again(self, 1, &bad);
        assert_int_equal(hand_in(self, 1, &bad), TACIT_PROTOCOL);
        assert_false(tacit_paillier_sum_server_has(self->server, 1));
    }
    bad.length = 10;
    assert_int_equal(hand_in(self, 1, &bad), TACIT_PROTOCOL);
    assert_int_equal(hand_in(self, 2, &good), TACIT_PROTOCOL); /* somebody else's */
    assert_int_equal(hand_in(self, 1, &good), TACIT_OK);
    bad.length = 0;
    contribute(self, 1, &bad);
    assert_int_equal(hand_in(self, 1, &bad), TACIT_PROTOCOL); /* a second one */
    tacit_buffer_clear(&good);
    tacit_buffer_clear(&bad);
    world_end(self);
}

static void the_key_holder_wants_enough_contributors_once_each(void **state) {
    (void)state;
    world *self = world_make();
    tacit_buffer question = TACIT_BUFFER_INIT, out = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    give_key(self);
    contribute_all_but(self, 2);
    CHECK_OK(tacit_paillier_sum_server_question(self->server, 0, &question, &error), error);
    uint8_t *second = question.bytes + 4 + TACIT_PAILLIER_WITNESS_BYTES;
    self->terms.minimum = 4;
    assert_int_equal(decrypt(self, &question, &out, &error), TACIT_REFUSED);
    self->terms.minimum = 3;
    memcpy(second, question.bytes + 4, TACIT_PAILLIER_WITNESS_BYTES); /* the first one twice */
    assert_int_equal(decrypt(self, &question, &out, &error), TACIT_PROTOCOL);
    self->terms.round = 4; /* signatures of another round */
    assert_int_equal(decrypt(self, &question, &out, &error), TACIT_PROTOCOL);
    question.length = 3;
    assert_int_equal(decrypt(self, &question, &out, &error), TACIT_PROTOCOL);
    assert_int_equal(out.length, 0);
    tacit_buffer_clear(&question);
    tacit_buffer_clear(&out);
    world_end(self);
}

static void too_few_close_nothing_and_terms_must_make_sense(void **state) {
    (void)state;
    world *self = world_make();
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_paillier_sum_server *none = NULL;
    assert_int_equal(tacit_paillier_sum_server_close(self->server, NULL), TACIT_REFUSED); /* no key yet */
    give_key(self);
    contribute(self, 1, &out);
    assert_int_equal(hand_in(self, 1, &out), TACIT_OK);
    assert_int_equal(tacit_paillier_sum_server_close(self->server, NULL), TACIT_REFUSED);
    const tacit_paillier_sum_terms wrong[] = { { .length = 1, .parties = 1, .minimum = 1 },
                                               { .length = 0, .parties = 3, .minimum = 1 },
                                               { .length = 1, .parties = 3, .minimum = 4 },
                                               { .length = 1, .parties = 3, .minimum = 2, .holder = 3 } };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(tacit_paillier_sum_server_create(&none, &wrong[i], &self->roster, NULL, NULL),
                         TACIT_USAGE);
    tacit_buffer_clear(&out);
    world_end(self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_exact_over_those_who_sent),
        cmocka_unit_test(what_the_key_holder_sees_does_not_follow_from_the_numbers),
        cmocka_unit_test(ciphertexts_that_are_none_are_refused),
        cmocka_unit_test(the_key_holder_wants_enough_contributors_once_each),
        cmocka_unit_test(too_few_close_nothing_and_terms_must_make_sense),
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
