/* What the files of sums under Paillier encryption share. */
#pragma once

#include "crypto/paillier/paillier_sum.h"
#include "crypto/paillier/slots.h"
#include "crypto/sum/agreement.h"
#include "crypto/sum/mask.h"

/* A party's answer: seed of its mask, signature, box. */
enum { TACIT_PAILLIER_ANSWER_HEADER = TACIT_MASK_SEED_BYTES + TACIT_SIGNATURE_BYTES };

/* In the question to the key holder, of each survivor, before its box: number, signature. */
enum { TACIT_PAILLIER_WITNESS_BYTES = 4 + TACIT_SIGNATURE_BYTES };

#define TACIT_PAILLIER_BOX_PURPOSE "tacit paillier sum box"

/* The key holder's pair for boxes. Wipe it. */
tacit_status tacit_paillier_sum_sealing(tacit_key_pair *out, const tacit_paillier_secret *secret,
                                        tacit_error *error);

/* How numbers modulo 2^62 lie in plaintexts (|x + r| <= 2^61 in each of at most `parties` terms), and how
 * many bytes a box has: a public key made for it, then the ciphertexts sealed for the key holder. */
typedef struct tacit_paillier_sum_layout {
    tacit_slots slots;
    size_t ciphertexts, box_bytes;
} tacit_paillier_sum_layout;

tacit_status tacit_paillier_sum_lay_out(tacit_paillier_sum_layout *out, const tacit_paillier_sum_terms *terms,
                                        tacit_error *error);

/* The terms and the key; in every signature and seal of this sum. */
void tacit_paillier_sum_context(uint8_t out[TACIT_DIGEST_BYTES], const tacit_paillier_sum_terms *terms,
                                const tacit_paillier_public *key);

/* What a party signs of its box. */
void tacit_paillier_sum_signed(uint8_t out[TACIT_DIGEST_BYTES], const uint8_t context[TACIT_DIGEST_BYTES],
                               uint32_t party, const uint8_t *box, size_t length);

/* The signed number below 2^61 in absolute value that `value` is modulo 2^62. */
static inline int64_t tacit_modulo_2_62(uint64_t value) { return (int64_t)(value << 2) >> 2; }
