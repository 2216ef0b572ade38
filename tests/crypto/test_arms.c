/* Everybody who could want another arm is played here. All seeds are fixed: what is counted is the same each time. */
#include "check.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/prf/arms.h"

enum { MOST = 8, KEY = TACIT_VRF_KEY_BYTES, PROOF = TACIT_VRF_PROOF_BYTES };

static const unsigned even[2] = { 1, 1 };

typedef struct drawing {
    size_t count;
    uint8_t seeds[MOST][32], own_seed[32]; /* in the order of the list */
    uint8_t keys[MOST * KEY], coordinator[KEY], own[PROOF], shares[MOST * PROOF];
    tacit_arm_list list;
    uint8_t randomness[TACIT_DIGEST_BYTES];
} drawing;

static void make_seed(uint8_t out[32], uint64_t world, uint64_t who) {
    uint64_t both[2] = { world, who };
    crypto_generichash(out, 32, (const uint8_t *)both, sizeof both, NULL, 0);
}

/* Sort the keys, with their seeds. */
static void close_list(drawing *self, uint32_t group, uint32_t draw) {
    for (size_t i = 0; i < self->count; i++) tacit_vrf_public(self->keys + i * KEY, self->seeds[i]);
    for (size_t i = 1; i < self->count; i++)
        for (size_t j = i; j > 0 && memcmp(self->keys + (j - 1) * KEY, self->keys + j * KEY, KEY) > 0; j--) {
            uint8_t seed[32], key[KEY];
            memcpy(seed, self->seeds[j], 32);
            memcpy(self->seeds[j], self->seeds[j - 1], 32);
            memcpy(self->seeds[j - 1], seed, 32);
            memcpy(key, self->keys + j * KEY, KEY);
            memcpy(self->keys + j * KEY, self->keys + (j - 1) * KEY, KEY);
            memcpy(self->keys + (j - 1) * KEY, key, KEY);
        }
    tacit_vrf_public(self->coordinator, self->own_seed);
    self->list = (tacit_arm_list){ "trial", self->coordinator, group, draw, self->keys, self->count };
}

static void give_shares(drawing *self) {
    assert_int_equal(tacit_arm_share(self->own, self->own_seed, &self->list, NULL), TACIT_OK);
    for (size_t i = 0; i < self->count; i++)
        assert_int_equal(tacit_arm_share(self->shares + i * PROOF, self->seeds[i], &self->list, NULL),
                         TACIT_OK);
}

static tacit_status settle(drawing *self) {
    return tacit_arm_randomness(self->randomness, &self->list, self->own, self->shares, NULL);
}

static drawing *make_drawing(uint64_t world, size_t count) {
    drawing *self = calloc(1, sizeof *self);
    assert_non_null(self);
    self->count = count;
    make_seed(self->own_seed, world, 1000);
    for (size_t i = 0; i < count; i++) make_seed(self->seeds[i], world, i);
    close_list(self, 1, 1);
    give_shares(self);
    assert_int_equal(settle(self), TACIT_OK);
    return self;
}

static size_t arm_under(const uint8_t seed[32], const uint8_t randomness[TACIT_DIGEST_BYTES],
                        const unsigned *weights, size_t count) {
    uint8_t key[KEY], proof[PROOF];
    size_t arm = SIZE_MAX;
    tacit_vrf_public(key, seed);
    assert_int_equal(tacit_arm_prove(proof, seed, randomness, NULL), TACIT_OK);
    assert_int_equal(tacit_arm_of(&arm, key, randomness, proof, weights, count, NULL), TACIT_OK);
    return arm;
}

static void arms_come_as_often_as_their_weights_say(void **state) {
    (void)state;
    enum { DRAWS = 1200 };
    static const unsigned weights[3] = { 1, 2, 3 };
    size_t met[3] = { 0 };
    drawing *self = make_drawing(1, 3);
    for (size_t i = 0; i < DRAWS; i++) {
        uint8_t seed[32];
        make_seed(seed, 77, i);
        met[arm_under(seed, self->randomness, weights, 3)]++;
    }
    /* Within 5.5 standard deviations; the seeds are fixed. */
    for (size_t k = 0; k < 3; k++) {
        double p = weights[k] / 6.0;
        CHECK_NEAR((double)met[k], DRAWS * p, 5.5 * sqrt(DRAWS * p * (1 - p)));
    }
    free(self);
}

/* ---- the participant ---- */

/* Before the list is closed the others' shares are not known. Whoever chooses among keys by what can be known then,
 * the list with this key and an own share, gets an arm by chance all the same. */
static void a_participant_who_retries_keys_gains_nothing(void **state) {
    (void)state;
    enum { WORLDS = 60, TRIES = 6 };
    size_t wanted = 0, known = 0;
    for (uint64_t world = 0; world < WORLDS; world++) {
        drawing *self = calloc(1, sizeof *self);
        uint8_t best[32], seed[32], guess[TACIT_DIGEST_BYTES], fixed[TACIT_DIGEST_BYTES] = { 5 };
        bool found = false, fixed_found = false;
        assert_non_null(self);
        self->count = 2;
        make_seed(self->own_seed, world, 1000);
        make_seed(self->seeds[0], world, 0);
        for (uint64_t attempt = 0; attempt < TRIES; attempt++) {
            make_seed(seed, world, 2000 + attempt);
            memcpy(self->seeds[1], seed, 32);
            make_seed(self->seeds[0], world, 0);
            close_list(self, 1, 1);
            tacit_arm_list_hash(guess, &self->list);
            if (!found) memcpy(best, seed, 32);
            found = found || arm_under(seed, guess, even, 2) == 0;
            fixed_found = fixed_found || arm_under(seed, fixed, even, 2) == 0;
        }
        memcpy(self->seeds[0], best, 32);
        make_seed(self->seeds[1], world, 0);
        close_list(self, 1, 1);
        give_shares(self);
        assert_int_equal(settle(self), TACIT_OK);
        wanted += arm_under(best, self->randomness, even, 2) == 0;
        known += fixed_found; /* the control: randomness that is fixed before keys are registered */
        free(self);
    }
    CHECK_NEAR((double)wanted, WORLDS / 2.0, 5 * sqrt(WORLDS / 4.0));
    assert_true(known >= WORLDS - 6); /* 63 of 64, each */
}

static void a_false_proof_is_refused(void **state) {
    (void)state;
    drawing *self = make_drawing(2, 3);
    uint8_t proof[PROOF], other[TACIT_DIGEST_BYTES];
    size_t arm;
    assert_int_equal(tacit_arm_prove(proof, self->seeds[0], self->randomness, NULL), TACIT_OK);
    assert_int_equal(tacit_arm_of(&arm, self->keys + KEY, self->randomness, proof, even, 2, NULL),
                     TACIT_REFUSED);
    memcpy(other, self->randomness, sizeof other);
    other[0] ^= 1;
    assert_int_equal(tacit_arm_of(&arm, self->keys, other, proof, even, 2, NULL), TACIT_REFUSED);
    /* A share is no arm, though one key makes both. */
    assert_int_equal(tacit_arm_of(&arm, self->keys, self->randomness, self->shares, even, 2, NULL),
                     TACIT_REFUSED);
    free(self);
}

/* A proof of an earlier drawing, group or study. */
static void a_replayed_proof_is_refused(void **state) {
    (void)state;
    drawing *first = make_drawing(3, 3), *again = calloc(1, sizeof *again);
    uint8_t proof[PROOF];
    size_t arm;
    assert_non_null(again);
    *again = *first;
    close_list(again, 1, 2);
    assert_int_equal(settle(again), TACIT_REFUSED); /* with the shares of the first */
    give_shares(again);
    assert_int_equal(settle(again), TACIT_OK);
    assert_memory_not_equal(first->randomness, again->randomness, sizeof first->randomness);
    assert_int_equal(tacit_arm_prove(proof, first->seeds[1], first->randomness, NULL), TACIT_OK);
    assert_int_equal(tacit_arm_of(&arm, first->keys + KEY, again->randomness, proof, even, 2, NULL),
                     TACIT_REFUSED);
    again->list.study = "another";
    assert_int_equal(settle(again), TACIT_REFUSED);
    again->list.study = "trial";
    again->list.group = 2;
    assert_int_equal(settle(again), TACIT_REFUSED);
    free(first);
    free(again);
}

/* ---- the coordinator ---- */

static void a_coordinator_cannot_choose_its_share_or_leave_one_out(void **state) {
    (void)state;
    drawing *self = make_drawing(4, 3);
    uint8_t kept[PROOF], other_seed[32];
    memcpy(kept, self->own, PROOF);
    make_seed(other_seed, 4, 4000);
    assert_int_equal(tacit_arm_share(self->own, other_seed, &self->list, NULL), TACIT_OK);
    assert_int_equal(settle(self), TACIT_REFUSED); /* another key than the definition's */
    memcpy(self->own, kept, PROOF);
    memcpy(kept, self->shares + PROOF, PROOF);
    memcpy(self->shares + PROOF, self->shares, PROOF);
    assert_int_equal(settle(self), TACIT_REFUSED); /* one share in the place of another */
    memcpy(self->shares + PROOF, kept, PROOF);
    self->list.count = 2;
    assert_int_equal(settle(self), TACIT_REFUSED); /* shares to the list of three, for a list of two */
    free(self);
}

static void a_list_with_a_key_twice_or_out_of_order_is_refused(void **state) {
    (void)state;
    drawing *self = make_drawing(5, 3);
    uint8_t key[KEY];
    memcpy(key, self->keys, KEY);
    memcpy(self->keys, self->keys + KEY, KEY);
    assert_int_equal(tacit_arm_list_check(&self->list, NULL), TACIT_PROTOCOL);
    memcpy(self->keys + KEY, key, KEY);
    assert_int_equal(tacit_arm_list_check(&self->list, NULL), TACIT_PROTOCOL);
    self->list.count = 0;
    assert_int_equal(tacit_arm_list_check(&self->list, NULL), TACIT_PROTOCOL);
    free(self);
    self = make_drawing(5, 3);
    assert_int_equal(tacit_arm_list_check(&self->list, NULL), TACIT_OK);
    self->list.draw = TACIT_ARM_NUMBER_MOST + 1; /* no record could be read again */
    assert_int_equal(tacit_arm_list_check(&self->list, NULL), TACIT_PROTOCOL);
    free(self);
}

/* It sees all keys, adds puppets of its own and counts through many lists. The arm of the honest participant stays
 * open: what could be aimed at is a value of a function whose key it does not have. The control: of a puppet the arm
 * can be aimed at, where no honest share is in the list. */
static void a_coordinator_who_tries_lists_cannot_aim_at_an_honest_arm(void **state) {
    (void)state;
    enum { WORLDS = 60, TRIES = 6 };
    size_t wanted = 0, aimed = 0;
    for (uint64_t world = 0; world < WORLDS; world++) {
        drawing *self = calloc(1, sizeof *self), *alone = calloc(1, sizeof *alone);
        uint8_t honest[32], stand_in[32], friend_seed[32];
        bool hit = false, met = false;
        assert_non_null(self);
        assert_non_null(alone);
        make_seed(honest, world, 1);
        make_seed(stand_in, world, 2); /* a key of its own, in place of the one that it does not have */
        make_seed(friend_seed, world, 3);
        for (uint64_t attempt = 0; attempt < TRIES && !(hit && met); attempt++) {
            if (!hit) {
                self->count = 2;
                make_seed(self->own_seed, world, 1000);
                memcpy(self->seeds[0], stand_in, 32);
                make_seed(self->seeds[1], world, 3000 + attempt);
                uint8_t puppet[32];
                memcpy(puppet, self->seeds[1], 32);
                close_list(self, 1, 1);
                give_shares(self);
                assert_int_equal(settle(self), TACIT_OK);
                hit = arm_under(stand_in, self->randomness, even, 2) == 0;
                memcpy(self->seeds[0], honest, 32);
                memcpy(self->seeds[1], puppet, 32);
            }
            alone->count = 2;
            make_seed(alone->own_seed, world, 1000);
            memcpy(alone->seeds[0], friend_seed, 32);
            make_seed(alone->seeds[1], world, 5000 + attempt);
            close_list(alone, 1, 1);
            give_shares(alone);
            assert_int_equal(settle(alone), TACIT_OK);
            met = met || arm_under(friend_seed, alone->randomness, even, 2) == 0;
        }
        close_list(self, 1, 1);
        give_shares(self);
        assert_int_equal(settle(self), TACIT_OK);
        wanted += arm_under(honest, self->randomness, even, 2) == 0;
        aimed += met;
        free(self);
        free(alone);
    }
    CHECK_NEAR((double)wanted, WORLDS / 2.0, 5 * sqrt(WORLDS / 4.0));
    assert_true(aimed >= WORLDS - 6);
}

int main(void) {
    if (sodium_init() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arms_come_as_often_as_their_weights_say),
        cmocka_unit_test(a_participant_who_retries_keys_gains_nothing),
        cmocka_unit_test(a_false_proof_is_refused),
        cmocka_unit_test(a_replayed_proof_is_refused),
        cmocka_unit_test(a_coordinator_cannot_choose_its_share_or_leave_one_out),
        cmocka_unit_test(a_list_with_a_key_twice_or_out_of_order_is_refused),
        cmocka_unit_test(a_coordinator_who_tries_lists_cannot_aim_at_an_honest_arm),
    };
    return cmocka_run_group_tests_name("crypto/arms", tests, NULL, NULL);
}
