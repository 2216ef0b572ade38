/*
 * Random arms of a study, drawn on the participants' devices and checked by anybody afterwards.
 *
 *   1. Each participant registers the public key of a verifiable random function (vrf.h) when joining. The
 *      coordinator's own key is part of the definition that everybody consents to.
 *   2. The coordinator closes the list: the keys of a group, in ascending order.
 *   3. Everybody on the list, and the coordinator, gives a share: the function's value of the list's hash,
 *      with its proof. All shares together, hashed, are the group's randomness R.
 *   4. The arm of a participant is decided by the value of R under the participant's own key. The proof shows
 *      it, to whom the participant wants to show it.
 *
 * Who could bias it (docs/decisions/024-arms-and-receipts.md has the table):
 *   Nobody knows the arm of an honest participant beforehand, whatever R is: it is a value of that
 *   participant's function, at an input at which nothing was shown before. So neither the coordinator nor the
 *   others can have a hand in it.
 *   A participant's own arm is a function of its key and R. R depends on a share of everybody, and a share
 *   cannot be known before the list, with this key on it, is fixed: trying keys beforehand is guessing. A
 *   share has one value that can be proved, so nobody, the coordinator neither, can choose one after seeing
 *   others.
 *   What is left: a participant together with the coordinator, or the last to give a share, can see R before
 *   others do and let the drawing fail. Then the list is closed again, and counted: after k failed drawings
 *   an event of probability p happens to those who conspire with probability at most 1 - (1-p)^(k+1). A party
 *   takes part in TACIT_ARM_DRAWS_MOST at most, and the records of all groups together tell k. Lists that
 *   share no honest party can be complete side by side, under the same numbers: compare with the record that
 *   was published.
 */
#pragma once

#include "crypto/digest.h"
#include "crypto/prf/vrf.h"

enum {
    TACIT_ARMS_MOST = 16,
    TACIT_ARM_WEIGHT_MOST = 1000,
    TACIT_ARM_DRAWS_MOST = 8,
    TACIT_ARM_LIST_MOST = 100000,
    TACIT_ARM_NUMBER_MOST = 1000000 /* of groups, and of drawings */
};

/* A closed list. Borrowed. */
typedef struct tacit_arm_list {
    const char *study;
    const uint8_t *coordinator; /* its key, TACIT_VRF_KEY_BYTES */
    uint32_t group, draw;       /* both from 1: which list, and how often it was closed */
    const uint8_t *keys;        /* count of them, one after the other */
    size_t count;
} tacit_arm_list;

/* TACIT_PROTOCOL unless the numbers are possible, and the keys in ascending order, valid, and none is there
 * twice. */
tacit_status tacit_arm_list_check(const tacit_arm_list *list, tacit_error *error);
/* Where a key stands; count when it does not. */
size_t tacit_arm_list_find(const tacit_arm_list *list, const uint8_t key[TACIT_VRF_KEY_BYTES]);
void tacit_arm_list_hash(uint8_t out[TACIT_DIGEST_BYTES], const tacit_arm_list *list);

/* A share, of a participant or of the coordinator. */
tacit_status tacit_arm_share(uint8_t proof[TACIT_VRF_PROOF_BYTES], const uint8_t seed[TACIT_VRF_SEED_BYTES],
                             const tacit_arm_list *list, tacit_error *error);
tacit_status tacit_arm_share_check(const uint8_t key[TACIT_VRF_KEY_BYTES], const tacit_arm_list *list,
                                   const uint8_t proof[TACIT_VRF_PROOF_BYTES], tacit_error *error);

/* The randomness that the coordinator's share and those of all keys, in the order of the list, make.
 * TACIT_REFUSED for a false one. */
tacit_status tacit_arm_randomness(uint8_t out[TACIT_DIGEST_BYTES], const tacit_arm_list *list,
                                  const uint8_t own[TACIT_VRF_PROOF_BYTES], const uint8_t *shares,
                                  tacit_error *error);

/* The participant's proof, and the arm that a proof shows: weights are whole numbers, arm i has the chance
 * weight[i] / sum. The chances are met to within 2^-100. */
tacit_status tacit_arm_prove(uint8_t proof[TACIT_VRF_PROOF_BYTES], const uint8_t seed[TACIT_VRF_SEED_BYTES],
                             const uint8_t randomness[TACIT_DIGEST_BYTES], tacit_error *error);
tacit_status tacit_arm_of(size_t *arm, const uint8_t key[TACIT_VRF_KEY_BYTES],
                          const uint8_t randomness[TACIT_DIGEST_BYTES],
                          const uint8_t proof[TACIT_VRF_PROOF_BYTES], const unsigned *weights, size_t count,
                          tacit_error *error);
