#include "crypto/prf/arms.h"

#include <string.h>

#define LIST_LABEL "tacit arms list 1"
#define RANDOMNESS_LABEL "tacit arms randomness 1"
#define SHARE_TAG "tacit arms share 1"
#define ARM_TAG "tacit arms arm 1"

enum { KEY = TACIT_VRF_KEY_BYTES, PROOF = TACIT_VRF_PROOF_BYTES, INPUT = 32 + TACIT_DIGEST_BYTES };

tacit_status tacit_arm_list_check(const tacit_arm_list *list, tacit_error *error) {
    if (list->count == 0 || list->count > TACIT_ARM_LIST_MOST || list->group == 0 || list->draw == 0 ||
        list->group > TACIT_ARM_NUMBER_MOST || list->draw > TACIT_ARM_NUMBER_MOST ||
        !tacit_vrf_key_is_valid(list->coordinator))
        return tacit_fail(error, TACIT_PROTOCOL, "the list of arms of study '%s' is empty or impossible",
                          list->study);
    for (size_t i = 0; i < list->count; i++)
        if (!tacit_vrf_key_is_valid(list->keys + i * KEY) ||
            (i > 0 && memcmp(list->keys + (i - 1) * KEY, list->keys + i * KEY, KEY) >= 0))
            return tacit_fail(error, TACIT_PROTOCOL,
                              "key %zu on the list of arms of study '%s' is none, or out of order", i + 1,
                              list->study);
    return TACIT_OK;
}

size_t tacit_arm_list_find(const tacit_arm_list *list, const uint8_t key[TACIT_VRF_KEY_BYTES]) {
    size_t at = 0;
    while (at < list->count && memcmp(list->keys + at * KEY, key, KEY) != 0) at++;
    return at;
}

void tacit_arm_list_hash(uint8_t out[TACIT_DIGEST_BYTES], const tacit_arm_list *list) {
    tacit_digest digest;
    tacit_digest_begin(&digest, LIST_LABEL, NULL);
    tacit_digest_text(&digest, list->study);
    tacit_digest_bytes(&digest, list->coordinator, KEY);
    tacit_digest_u64(&digest, list->group);
    tacit_digest_u64(&digest, list->draw);
    tacit_digest_u64(&digest, list->count);
    tacit_digest_bytes(&digest, list->keys, list->count * KEY);
    tacit_digest_end(&digest, out);
}

/* One function serves shares and arms; their inputs begin with different tags of one length. */
static void make_input(uint8_t out[INPUT], const char *tag, const uint8_t digest[TACIT_DIGEST_BYTES]) {
    memset(out, 0, INPUT);
    memcpy(out, tag, strlen(tag));
    memcpy(out + 32, digest, TACIT_DIGEST_BYTES);
}

static void share_input(uint8_t out[INPUT], const tacit_arm_list *list) {
    uint8_t hash[TACIT_DIGEST_BYTES];
    tacit_arm_list_hash(hash, list);
    make_input(out, SHARE_TAG, hash);
}

tacit_status tacit_arm_share(uint8_t proof[TACIT_VRF_PROOF_BYTES], const uint8_t seed[TACIT_VRF_SEED_BYTES],
                             const tacit_arm_list *list, tacit_error *error) {
    uint8_t input[INPUT];
    share_input(input, list);
    return tacit_vrf_prove(proof, seed, input, sizeof input, error);
}

tacit_status tacit_arm_share_check(const uint8_t key[TACIT_VRF_KEY_BYTES], const tacit_arm_list *list,
                                   const uint8_t proof[TACIT_VRF_PROOF_BYTES], tacit_error *error) {
    uint8_t input[INPUT], value[TACIT_VRF_BYTES];
    share_input(input, list);
    return tacit_vrf_verify(value, key, input, sizeof input, proof, error);
}

tacit_status tacit_arm_randomness(uint8_t out[TACIT_DIGEST_BYTES], const tacit_arm_list *list,
                                  const uint8_t own[TACIT_VRF_PROOF_BYTES], const uint8_t *shares,
                                  tacit_error *error) {
    uint8_t input[INPUT], value[TACIT_VRF_BYTES];
    tacit_digest digest;
    TACIT_TRY(tacit_arm_list_check(list, error));
    share_input(input, list);
    tacit_digest_begin(&digest, RANDOMNESS_LABEL, NULL);
    tacit_digest_bytes(&digest, input, sizeof input);
    TACIT_TRY(tacit_fail_in(error,
                            tacit_vrf_verify(value, list->coordinator, input, sizeof input, own, error),
                            "the coordinator's share in the arms of study '%s'", list->study));
    tacit_digest_bytes(&digest, value, sizeof value);
    for (size_t i = 0; i < list->count; i++) {
        TACIT_TRY(tacit_fail_in(
            error,
            tacit_vrf_verify(value, list->keys + i * KEY, input, sizeof input, shares + i * PROOF, error),
            "share %zu in the arms of study '%s'", i + 1, list->study));
        tacit_digest_bytes(&digest, value, sizeof value);
    }
    tacit_digest_end(&digest, out);
    return TACIT_OK;
}

tacit_status tacit_arm_prove(uint8_t proof[TACIT_VRF_PROOF_BYTES], const uint8_t seed[TACIT_VRF_SEED_BYTES],
                             const uint8_t randomness[TACIT_DIGEST_BYTES], tacit_error *error) {
    uint8_t input[INPUT];
    make_input(input, ARM_TAG, randomness);
    return tacit_vrf_prove(proof, seed, input, sizeof input, error);
}

/* 16 bytes of the value modulo the sum of the weights, which is below 2^14: each remainder is as likely as
 * any other to within 2^-114. */
static size_t choose(const uint8_t value[TACIT_VRF_BYTES], const unsigned *weights, size_t count) {
    uint64_t sum = 0, rest = 0;
    for (size_t i = 0; i < count; i++) sum += weights[i];
    for (size_t i = 0; i < 16; i++) rest = (rest * 256 + value[i]) % sum;
    size_t arm = 0;
    while (rest >= weights[arm]) rest -= weights[arm++];
    return arm;
}

tacit_status tacit_arm_of(size_t *arm, const uint8_t key[TACIT_VRF_KEY_BYTES],
                          const uint8_t randomness[TACIT_DIGEST_BYTES],
                          const uint8_t proof[TACIT_VRF_PROOF_BYTES], const unsigned *weights, size_t count,
                          tacit_error *error) {
    uint8_t input[INPUT], value[TACIT_VRF_BYTES];
    make_input(input, ARM_TAG, randomness);
    TACIT_TRY(tacit_vrf_verify(value, key, input, sizeof input, proof, error));
    *arm = choose(value, weights, count);
    return TACIT_OK;
}
