/*
 * Sums under Paillier encryption without a network: exact, over those who sent; what the key holder decrypts
 * does not follow from the numbers; what is signed and wrong all the same is refused by whoever gets it. A
 * coordinator that lies to the key holder, with a colluding party to help it, opens nobody's contribution.
 */
#include "check.h"

#include <sodium.h>

#include "crypto/paillier/paillier_sum_parts.h"
#include "keys.h"

enum { PARTIES = 4, LENGTH = 70 }; /* more than two ciphertexts of slots */

typedef struct world {
    uint8_t shown[PARTIES][crypto_sign_PUBLICKEYBYTES], secret[PARTIES][crypto_sign_SECRETKEYBYTES];
    tacit_signing_roster keys;
    tacit_securesum_roster roster;
    tacit_paillier_sum_terms terms;
    tacit_paillier_secret *holder;
    tacit_paillier_sum_key key;
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
    tacit_paillier_sum_key_clear(&self->key);
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
    CHECK_OK(tacit_paillier_sum_write_key(&out, &self->terms, self->holder, &signer, &error), error);
    assert_int_equal(hand_in(self, 1, &out), TACIT_REFUSED); /* not the key holder */
    assert_int_equal(hand_in(self, 0, &out), TACIT_OK);
    assert_int_equal(hand_in(self, 0, &out), TACIT_OK); /* again */
    CHECK_OK(
        tacit_paillier_sum_read_key(&self->key, &self->terms, &self->roster, out.bytes, out.length, &error),
        error);
    tacit_buffer_clear(&out);
    close_step(self);
}

static void contribute(world *self, uint32_t party, tacit_buffer *out) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_securesum_signer signer = tacit_securesum_ed25519_signer(self->secret[party]);
    CHECK_OK(tacit_paillier_sum_encrypt(out, &self->terms, &self->key, party, self->values[party], &signer,
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

/* The same numbers twice: not one of the decrypted sums is the same, except for a chance of LENGTH 2^-62. */
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

/* ---- a coordinator that lies to the key holder ---- */

/* Everything that the coordinator sees before it asks the key holder; party 3 colludes with it. */
typedef struct attack {
    world *self;
    tacit_buffer given[PARTIES], question, opened;
    uint8_t *box[PARTIES], *signature[PARTIES]; /* in the question */
    size_t box_bytes;
} attack;

enum { VICTIM = 1, PUPPET = 3 };

static void attack_begin(attack *lie) {
    tacit_paillier_sum_layout layout;
    tacit_error error = TACIT_ERROR_INIT;
    *lie = (attack){ .self = world_make() };
    give_key(lie->self);
    for (uint32_t i = 0; i < PARTIES; i++) {
        contribute(lie->self, i, &lie->given[i]);
        assert_int_equal(hand_in(lie->self, i, &lie->given[i]), TACIT_OK);
    }
    close_step(lie->self);
    CHECK_OK(tacit_paillier_sum_server_question(lie->self->server, 0, &lie->question, &error), error);
    CHECK_OK(tacit_paillier_sum_lay_out(&layout, &lie->self->terms, &error), error);
    lie->box_bytes = layout.box_bytes;
    for (uint32_t i = 0; i < PARTIES; i++) {
        uint8_t *entry = lie->question.bytes + 4 + i * (TACIT_PAILLIER_WITNESS_BYTES + lie->box_bytes);
        lie->signature[i] = entry + 4;
        lie->box[i] = entry + TACIT_PAILLIER_WITNESS_BYTES;
    }
}

static void attack_end(attack *lie) {
    for (uint32_t i = 0; i < PARTIES; i++) tacit_buffer_clear(&lie->given[i]);
    tacit_buffer_clear(&lie->question);
    tacit_buffer_clear(&lie->opened);
    world_end(lie->self);
}

/* A party that colludes signs whatever stands in its box. */
static void sign_again(attack *lie, uint32_t party) {
    uint8_t context[TACIT_DIGEST_BYTES], digest[TACIT_DIGEST_BYTES];
    tacit_paillier_sum_context(context, &lie->self->terms, lie->self->key.numbers);
    tacit_paillier_sum_signed(digest, context, party, lie->box[party], lie->box_bytes);
    crypto_sign_detached(lie->signature[party], NULL, digest, sizeof digest, lie->self->secret[party]);
}

static void check_nothing_opens(attack *lie, const char *says) {
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(decrypt(lie->self, &lie->question, &lie->opened, &error), TACIT_PROTOCOL);
    assert_non_null(strstr(error.text, says));
    assert_int_equal(lie->opened.length, 0);
}

/* The victim's box in the place of others', which leaves its contribution alone, some times over, in the
 * sum. */
static void one_partys_box_in_the_place_of_others_is_not_opened(void **state) {
    (void)state;
    attack lie;
    attack_begin(&lie);
    for (uint32_t i = 0; i < PARTIES; i++)
        if (i != VICTIM) memcpy(lie.box[i], lie.box[VICTIM], lie.box_bytes);
    check_nothing_opens(&lie, "party 1 has not signed that it contributed this");
    attack_end(&lie);
}

/* A puppet that signs a copy of the victim's box, or a box with a bit turned, adds nothing that follows from
 * it. */
static void a_puppet_cannot_contribute_what_follows_from_anothers_box(void **state) {
    (void)state;
    attack lie;
    attack_begin(&lie);
    memcpy(lie.box[PUPPET], lie.box[VICTIM], lie.box_bytes);
    sign_again(&lie, PUPPET);
    check_nothing_opens(&lie, "what party 4 contributed cannot be added up");
    for (size_t at = 0; at < lie.box_bytes; at += lie.box_bytes - 1) {
        memcpy(lie.box[PUPPET], lie.given[PUPPET].bytes + TACIT_PAILLIER_ANSWER_HEADER, lie.box_bytes);
        lie.box[PUPPET][at] ^= 1;
        sign_again(&lie, PUPPET);
        check_nothing_opens(&lie, "what party 4 contributed cannot be added up");
    }
    attack_end(&lie);
}

/* ---- inside boxes, with the key holder's secret ---- */

typedef struct inside {
    uint8_t context[TACIT_DIGEST_BYTES], seed[TACIT_KEY_BYTES];
    tacit_seal_route route;
    size_t length;
} inside;

static void inside_box(inside *out, const attack *lie, uint32_t party) {
    tacit_key_pair sealing;
    tacit_error error = TACIT_ERROR_INIT;
    out->length = lie->box_bytes - TACIT_KEY_BYTES - TACIT_SEAL_BYTES;
    out->route = (tacit_seal_route){ out->context, party, 0 };
    tacit_paillier_sum_context(out->context, &lie->self->terms, lie->self->key.numbers);
    CHECK_OK(tacit_paillier_sum_sealing(&sealing, lie->self->holder, &error), error);
    CHECK_OK(
        tacit_agree(out->seed, &sealing, lie->box[party], out->context, TACIT_PAILLIER_BOX_PURPOSE, &error),
        error);
}

/* What a box holds; to be freed. */
static uint8_t *open_box(const attack *lie, uint32_t party, size_t *length) {
    tacit_error error = TACIT_ERROR_INIT;
    inside box;
    inside_box(&box, lie, party);
    uint8_t *text = calloc(1, box.length);
    assert_non_null(text);
    CHECK_OK(
        tacit_seal_open(text, box.length, lie->box[party] + TACIT_KEY_BYTES, box.seed, &box.route, &error),
        error);
    *length = box.length;
    return text;
}

static void fill_box(attack *lie, uint32_t party, const uint8_t *text) {
    inside box;
    inside_box(&box, lie, party);
    tacit_seal(lie->box[party] + TACIT_KEY_BYTES, text, box.length, box.seed, &box.route);
    sign_again(lie, party);
}

/* The inverse of the product of all ciphertexts but the victim's and the puppet's, as bytes. */
static void invert_others(const attack *lie, tacit_buffer *out) {
    enum { MOST = 8 };
    static const int64_t minus[MOST] = { -1, -1, -1, -1, -1, -1, -1, -1 };
    const tacit_paillier_public *key = lie->self->key.numbers;
    tacit_ciphertexts *product = NULL, *other = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    for (uint32_t i = 0; i < PARTIES; i++) {
        size_t length;
        if (i == VICTIM || i == PUPPET) continue;
        uint8_t *text = open_box(lie, i, &length);
        CHECK_OK(tacit_ciphertexts_read(&other, key, text, length, MOST, &error), error);
        if (product == NULL)
            CHECK_OK(tacit_ciphertexts_create(&product, key, tacit_ciphertexts_count(other), &error), error);
        CHECK_OK(tacit_paillier_add(product, product, other, NULL, &error), error);
        other = tacit_ciphertexts_free(other);
        free(text);
    }
    CHECK_OK(tacit_paillier_multiply(product, product, minus, 2, NULL, &error), error);
    CHECK_OK(tacit_ciphertexts_write(product, out, &error), error);
    tacit_ciphertexts_free(product);
}

/* Paillier ciphertexts are malleable, and that is why they travel in boxes: whoever has read the others' can
 * leave one alone in the product by sending their inverses. Here the puppet is handed what only the key
 * holder can open, and it works. */
static void boxes_are_what_keeps_a_puppet_from_sending_inverses(void **state) {
    (void)state;
    attack lie;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    uint64_t total[LENGTH];
    tacit_mask mask = { .subtract = true };
    attack_begin(&lie);
    invert_others(&lie, &text);
    fill_box(&lie, PUPPET, text.bytes);
    CHECK_OK(decrypt(lie.self, &lie.question, &lie.opened, &error), error);
    memcpy(mask.seed, lie.given[VICTIM].bytes, sizeof mask.seed);
    memcpy(total, lie.opened.bytes, sizeof total);
    CHECK_OK(tacit_mask_apply(total, LENGTH, &mask, 1, NULL, &error), error);
    for (size_t j = 0; j < LENGTH; j++)
        assert_true(tacit_modulo_2_62(total[j]) == lie.self->values[VICTIM][j]);
    tacit_buffer_clear(&text);
    attack_end(&lie);
}

/* A box that opens on ciphertexts that are none: the key holder names its sender and opens nothing. */
static void ciphertexts_that_are_none_are_refused_with_their_sender(void **state) {
    (void)state;
    enum { CIPHERTEXT = 2048 / 4 };
    attack lie;
    size_t length;
    attack_begin(&lie);
    for (int which = 0; which < 3; which++) {
        memcpy(lie.box[PUPPET], lie.given[PUPPET].bytes + TACIT_PAILLIER_ANSWER_HEADER, lie.box_bytes);
        uint8_t *bad = open_box(&lie, PUPPET, &length);
        if (which == 0) memset(bad + length - CIPHERTEXT, 0, CIPHERTEXT);    /* no unit */
        if (which == 1) memset(bad + length - CIPHERTEXT, 0xff, CIPHERTEXT); /* beyond n^2 */
        if (which == 2) bad[4] ^= 1;                                         /* their count */
        fill_box(&lie, PUPPET, bad);
        check_nothing_opens(&lie, "what party 4 contributed cannot be added up");
        free(bad);
    }
    attack_end(&lie);
}

static void the_key_holder_wants_enough_contributors_once_each(void **state) {
    (void)state;
    attack lie;
    tacit_error error = TACIT_ERROR_INIT;
    attack_begin(&lie);
    const size_t each = TACIT_PAILLIER_WITNESS_BYTES + lie.box_bytes;
    lie.question.bytes[0] = 2;
    lie.question.length = 4 + 2 * each;
    assert_int_equal(decrypt(lie.self, &lie.question, &lie.opened, &error), TACIT_REFUSED);
    lie.question.bytes[0] = 3;
    lie.question.length = 4 + 3 * each; /* without the last */
    CHECK_OK(decrypt(lie.self, &lie.question, &lie.opened, &error), error);
    lie.opened.length = 0;
    memcpy(lie.question.bytes + 4 + each, lie.question.bytes + 4, each); /* the first one twice */
    check_nothing_opens(&lie, "not named once each");
    lie.self->terms.round = 4; /* signatures of another round */
    check_nothing_opens(&lie, "party 1 has not signed");
    lie.question.length -= 1;
    check_nothing_opens(&lie, "malformed");
    lie.question.length = 3;
    check_nothing_opens(&lie, "malformed");
    attack_end(&lie);
}

/* ---- what parties send ---- */

static void contributions_of_a_wrong_length_or_sender_are_refused(void **state) {
    (void)state;
    world *self = world_make();
    tacit_buffer good = TACIT_BUFFER_INIT, bad = TACIT_BUFFER_INIT;
    give_key(self);
    contribute(self, 1, &good);
    assert_int_equal(tacit_buffer_append(&bad, good.bytes, good.length, NULL), TACIT_OK);
    const size_t wrong[] = { 0, 10, TACIT_PAILLIER_ANSWER_HEADER, good.length - 512, good.length - 1 };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        bad.length = wrong[i];
        assert_int_equal(hand_in(self, 1, &bad), TACIT_PROTOCOL);
        assert_false(tacit_paillier_sum_server_has(self->server, 1));
    }
    bad.length = good.length;
    bad.bytes[bad.length - 1] ^= 1;
    assert_int_equal(hand_in(self, 1, &bad), TACIT_PROTOCOL);  /* not what was signed */
    assert_int_equal(hand_in(self, 2, &good), TACIT_PROTOCOL); /* somebody else's */
    assert_int_equal(hand_in(self, 1, &good), TACIT_OK);
    assert_int_equal(hand_in(self, 1, &good), TACIT_OK); /* again */
    bad.length = 0;
    contribute(self, 1, &bad);
    assert_int_equal(hand_in(self, 1, &bad), TACIT_PROTOCOL); /* a second one */
    tacit_buffer_clear(&good);
    tacit_buffer_clear(&bad);
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
    const tacit_paillier_sum_terms wrong[] = {
        { .key_bits = 2048, .length = 1, .parties = 1, .minimum = 1 },
        { .key_bits = 2048, .length = 0, .parties = 3, .minimum = 1 },
        { .key_bits = 2048, .length = 1, .parties = 3, .minimum = 4 },
        { .key_bits = 2048, .length = 1, .parties = 3, .minimum = 2, .holder = 3 },
        { .key_bits = 1024, .length = 1, .parties = 3, .minimum = 2 },
    };
    const tacit_paillier_sum_terms long_ones[] = {
        { .key_bits = 2048, .length = 2000000, .parties = 3, .minimum = 2 },
        { .key_bits = 2048, .length = 4000, .parties = 1000, .minimum = 2 },
        { .key_bits = 3072, .length = TACIT_SUM_LENGTH_MOST, .parties = UINT32_MAX, .minimum = 2 },
    };
    for (size_t i = 0; i < sizeof long_ones / sizeof long_ones[0]; i++)
        assert_int_equal(tacit_paillier_sum_server_create(&none, &long_ones[i], &self->roster, NULL, NULL),
                         TACIT_LIMIT);
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
        cmocka_unit_test(one_partys_box_in_the_place_of_others_is_not_opened),
        cmocka_unit_test(a_puppet_cannot_contribute_what_follows_from_anothers_box),
        cmocka_unit_test(boxes_are_what_keeps_a_puppet_from_sending_inverses),
        cmocka_unit_test(ciphertexts_that_are_none_are_refused_with_their_sender),
        cmocka_unit_test(contributions_of_a_wrong_length_or_sender_are_refused),
        cmocka_unit_test(the_key_holder_wants_enough_contributors_once_each),
        cmocka_unit_test(too_few_close_nothing_and_terms_must_make_sense),
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
