/* Masked sums in one exchange or two: right, whole or closed, and the same bytes for the same question. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/sum/pairs.h"

enum { PARTIES = 5, LENGTH = 7 };

typedef struct world {
    uint8_t keys[PARTIES][crypto_sign_PUBLICKEYBYTES], secrets[PARTIES][crypto_sign_SECRETKEYBYTES];
    tacit_pairs_terms terms;
    tacit_pairs_server *server;
} world;

static int64_t value_of(uint32_t party, size_t j) { return (int64_t)(party + 1) * 1000 - (int64_t)j * 77; }

static world world_of(uint32_t exchanges, uint32_t minimum) {
    world made = { .terms = { .study = "trial", .round = 3, .length = LENGTH, .exchanges = exchanges } };
    assert_true(sodium_init() >= 0);
    for (uint32_t i = 0; i < PARTIES; i++) {
        uint8_t seed[crypto_sign_SEEDBYTES] = { (uint8_t)(i + 1) };
        crypto_sign_seed_keypair(made.keys[i], made.secrets[i], seed);
    }
    made.terms.minimum = minimum;
    return made;
}

static void begin(world *self) {
    tacit_error error = TACIT_ERROR_INIT;
    self->terms.roster = (tacit_signing_roster){ PARTIES, (const uint8_t(*)[32])self->keys };
    CHECK_OK(tacit_pairs_server_create(&self->server, &self->terms, NULL, &error), error);
}

static tacit_buffer vector_of(world *self, uint32_t party) {
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    int64_t values[LENGTH];
    for (size_t j = 0; j < LENGTH; j++) values[j] = value_of(party, j);
    CHECK_OK(tacit_pairs_mask(&self->terms, party, self->secrets[party], values, NULL, &out, &error), error);
    return out;
}

static void send(world *self, uint32_t party, tacit_buffer *answer) {
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_pairs_server_receive(self->server, party, answer->bytes, answer->length, &error), error);
    CHECK_OK(tacit_pairs_server_receive(self->server, party, answer->bytes, answer->length, &error), error);
    tacit_buffer_clear(answer);
}

static tacit_buffer openings_of(world *self, uint32_t party, tacit_status expected, tacit_error *error) {
    tacit_buffer question = TACIT_BUFFER_INIT, out = TACIT_BUFFER_INIT;
    CHECK_OK(tacit_pairs_server_question(self->server, party, &question, error), *error);
    assert_int_equal(tacit_pairs_unmask(&self->terms, party, self->secrets[party], question.bytes,
                                        question.length, &out, error),
                     expected);
    tacit_buffer_clear(&question);
    return out;
}

static void check_sum(world *self, uint32_t absent) {
    const int64_t *sum = tacit_pairs_server_sum(self->server);
    assert_non_null(sum);
    for (size_t j = 0; j < LENGTH; j++) {
        int64_t expected = 0;
        for (uint32_t i = 0; i < PARTIES; i++)
            if (i != absent) expected += value_of(i, j);
        assert_int_equal(sum[j], expected);
    }
    for (uint32_t i = 0; i < PARTIES; i++)
        assert_int_equal(tacit_pairs_server_survived(self->server, i), i != absent);
    tacit_pairs_server_free(self->server);
}

static void test_one_exchange_opens_when_all_have_answered(void **state) {
    (void)state;
    world self = world_of(1, PARTIES);
    tacit_error error = TACIT_ERROR_INIT;
    begin(&self);
    for (uint32_t i = 0; i < PARTIES; i++) {
        tacit_buffer one = vector_of(&self, i), again = vector_of(&self, i);
        assert_int_equal(one.length, again.length);
        assert_memory_equal(one.bytes, again.bytes, one.length);
        tacit_buffer_clear(&again);
        send(&self, i, &one);
    }
    CHECK_OK(tacit_pairs_server_close(self.server, &error), error);
    check_sum(&self, UINT32_MAX);
}

static void test_one_exchange_stays_closed_without_one(void **state) {
    (void)state;
    world self = world_of(1, PARTIES);
    tacit_error error = TACIT_ERROR_INIT;
    begin(&self);
    for (uint32_t i = 1; i < PARTIES; i++) {
        tacit_buffer one = vector_of(&self, i);
        send(&self, i, &one);
    }
    assert_int_equal(tacit_pairs_server_close(self.server, &error), TACIT_REFUSED);
    assert_null(tacit_pairs_server_sum(self.server));
    tacit_pairs_server_free(self.server);
}

static void test_two_exchanges_survive_an_absent_party_and_a_late_one_in_the_second(void **state) {
    (void)state;
    for (uint32_t absent = 0; absent <= PARTIES; absent++) {
        world self = world_of(2, PARTIES - 1);
        tacit_error error = TACIT_ERROR_INIT;
        begin(&self);
        for (uint32_t i = 0; i < PARTIES; i++) {
            if (i == absent) continue;
            tacit_buffer one = vector_of(&self, i);
            send(&self, i, &one);
        }
        CHECK_OK(tacit_pairs_server_close(self.server, &error), error);
        for (uint32_t i = absent == PARTIES ? 1 : 0; i < PARTIES;
             i++) { /* all were there: one may stay away */
            if (i == absent) continue;
            tacit_buffer one = openings_of(&self, i, TACIT_OK, &error);
            send(&self, i, &one);
        }
        CHECK_OK(tacit_pairs_server_close(self.server, &error), error);
        check_sum(&self, absent);
    }
}

static void test_a_party_opens_no_sum_without_itself_or_with_too_few(void **state) {
    (void)state;
    world self = world_of(2, PARTIES - 1);
    tacit_error error = TACIT_ERROR_INIT;
    begin(&self);
    for (uint32_t i = 0; i < PARTIES - 1; i++) {
        tacit_buffer one = vector_of(&self, i);
        send(&self, i, &one);
    }
    CHECK_OK(tacit_pairs_server_close(self.server, &error), error);
    tacit_buffer refused = openings_of(&self, PARTIES - 1, TACIT_PROTOCOL, &error); /* one share too many */
    tacit_buffer_clear(&refused);
    tacit_pairs_server_free(self.server);
    self.terms.minimum = 2;
    begin(&self);
    for (uint32_t i = 0; i < 2; i++) {
        tacit_buffer one = vector_of(&self, i);
        send(&self, i, &one);
    }
    CHECK_OK(tacit_pairs_server_close(self.server, &error), error);
    self.terms.minimum = 4; /* other terms: another sum */
    refused = openings_of(&self, 0, TACIT_PROTOCOL, &error);
    tacit_buffer_clear(&refused);
    tacit_pairs_server_free(self.server);
}

static void test_what_belongs_to_another_sum_or_party_is_refused(void **state) {
    (void)state;
    world self = world_of(1, PARTIES), other = world_of(1, PARTIES);
    tacit_error error = TACIT_ERROR_INIT;
    other.terms.version[0] = 1;
    begin(&self);
    begin(&other);
    tacit_buffer one = vector_of(&other, 0), own = vector_of(&self, 0);
    assert_int_equal(tacit_pairs_server_receive(self.server, 0, one.bytes, one.length, &error),
                     TACIT_PROTOCOL);
    assert_int_equal(tacit_pairs_server_receive(self.server, 1, own.bytes, own.length, &error),
                     TACIT_PROTOCOL);
    assert_int_equal(tacit_pairs_server_receive(self.server, 0, own.bytes, own.length - 1, &error),
                     TACIT_PROTOCOL);
    assert_memory_not_equal(one.bytes + 40, own.bytes + 40, LENGTH * 8); /* other masks, same values */
    CHECK_OK(tacit_pairs_server_receive(self.server, 0, own.bytes, own.length, &error), error);
    own.bytes[60] ^= 1;
    assert_int_equal(tacit_pairs_server_receive(self.server, 0, own.bytes, own.length, &error),
                     TACIT_PROTOCOL);
    tacit_buffer_clear(&one);
    tacit_buffer_clear(&own);
    tacit_pairs_server_free(self.server);
    tacit_pairs_server_free(other.server);
}

static void test_a_wrong_share_has_a_name(void **state) {
    (void)state;
    world self = world_of(2, PARTIES - 1);
    tacit_error error = TACIT_ERROR_INIT;
    begin(&self);
    for (uint32_t i = 0; i < PARTIES; i++) {
        tacit_buffer one = vector_of(&self, i);
        send(&self, i, &one);
    }
    CHECK_OK(tacit_pairs_server_close(self.server, &error), error);
    tacit_buffer one = openings_of(&self, 2, TACIT_OK, &error);
    one.bytes[one.length - 1] ^= 1;
    assert_int_equal(tacit_pairs_server_receive(self.server, 2, one.bytes, one.length, &error),
                     TACIT_PROTOCOL);
    assert_non_null(strstr(error.text, "party 3 opened another share than party 5"));
    tacit_buffer_clear(&one);
    tacit_pairs_server_free(self.server);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_exchange_opens_when_all_have_answered),
        cmocka_unit_test(test_one_exchange_stays_closed_without_one),
        cmocka_unit_test(test_two_exchanges_survive_an_absent_party_and_a_late_one_in_the_second),
        cmocka_unit_test(test_a_party_opens_no_sum_without_itself_or_with_too_few),
        cmocka_unit_test(test_what_belongs_to_another_sum_or_party_is_refused),
        cmocka_unit_test(test_a_wrong_share_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
