/* What the files of sums under Paillier encryption share. */
#pragma once

#include "crypto/mask.h"
#include "crypto/paillier_sum.h"
#include "crypto/slots.h"

/* A party's answer: signature, seed of its mask, ciphertexts. */
enum { TACIT_PAILLIER_ANSWER_HEADER = TACIT_SIGNATURE_BYTES + TACIT_MASK_SEED_BYTES };

/* In the question to the key holder, of each survivor: number, digest of its ciphertexts, signature. */
enum { TACIT_PAILLIER_WITNESS_BYTES = 4 + TACIT_DIGEST_BYTES + TACIT_SIGNATURE_BYTES };

/* How numbers modulo 2^62 lie in plaintexts: |x + r| <= 2^61 in each of at most `parties` terms. */
tacit_status tacit_paillier_sum_slots(tacit_slots *out, const tacit_paillier_sum_terms *terms,
                                      const tacit_paillier_public *key, tacit_error *error);

/* What a party signs of its ciphertexts, given their digest. */
void tacit_paillier_sum_signed(uint8_t out[TACIT_DIGEST_BYTES], const tacit_paillier_sum_terms *terms,
                               const tacit_paillier_public *key, uint32_t party,
                               const uint8_t ciphertexts[TACIT_DIGEST_BYTES]);
void tacit_paillier_sum_ciphertext_digest(uint8_t out[TACIT_DIGEST_BYTES], const uint8_t *bytes,
                                          size_t length);

/* The signed number below 2^61 in absolute value that `value` is modulo 2^62. */
static inline int64_t tacit_modulo_2_62(uint64_t value) { return (int64_t)(value << 2) >> 2; }
