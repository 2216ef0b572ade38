/* The inside of a party of a secure sum, for its files. */
#pragma once

#include "crypto/sum/securesum_parts.h"

/* A neighbour, by slot. */
typedef struct tacit_sum_peer {
    bool advertised; /* its keys are known and signed */
    bool dealt;      /* it sent shares, so the two mask with each other */
    bool held;       /* the shares opened and are as committed */
    uint8_t sealing[TACIT_KEY_BYTES], masking[TACIT_KEY_BYTES];
    uint8_t share[TACIT_SUM_SECRETS][TACIT_SECRET_BYTES];
} tacit_sum_peer;

struct tacit_securesum_party {
    const tacit_securesum *sum;
    tacit_securesum_signer signer;
    uint32_t index;
    tacit_securesum_step step; /* the next to take */
    /* What is saved, beside the above. */
    uint8_t seed[TACIT_SUM_SEED_BYTES];
    uint8_t keys_signature[TACIT_SIGNATURE_BYTES], consent_signature[TACIT_SIGNATURE_BYTES];
    uint8_t asked[TACIT_SUM_OPENED][TACIT_DIGEST_BYTES]; /* the question of each step taken */
    uint8_t vector[TACIT_DIGEST_BYTES];                  /* of the masked vector as sent */
    uint8_t *sets;                                       /* dealers, then survivors, as consented to */
    uint8_t *survivors;                                  /* the second half of it */
    tacit_sum_peer *peers;                               /* degree of them */
    /* What follows from the seed. */
    tacit_key_pair sealing, masking;
    uint8_t secret[TACIT_SUM_SECRETS][TACIT_SECRET_BYTES];
};

/* A party with room for its neighbours and nothing but zeros in it. */
tacit_status tacit_sum_party_make(tacit_securesum_party **out, const tacit_securesum *sum, uint32_t index,
                                  const tacit_securesum_signer *signer, tacit_error *error);

/* Fill in what follows from the seed. */
void tacit_sum_party_derive(tacit_securesum_party *party);

/* The party's secrets, shared: coefficients for both polynomials in one array, to be wiped and freed with the
 * call below. */
tacit_status tacit_sum_coefficients(uint8_t **out, const tacit_securesum_party *party, tacit_error *error);
void tacit_sum_coefficients_free(uint8_t *coefficients, const tacit_securesum_party *party);

/* The share of one of the party's secrets for `holder`. */
tacit_status tacit_sum_own_share(uint8_t out[TACIT_SECRET_BYTES], const tacit_securesum_party *party,
                                 uint32_t holder, tacit_sum_secret which, const uint8_t *coefficients,
                                 tacit_error *error);

/*
 * One question a step: TACIT_PROTOCOL when the party is not that far, TACIT_REFUSED when it has answered
 * another question in this step; *digest is that of this one.
 */
tacit_status tacit_sum_party_ask(const tacit_securesum_party *party, tacit_securesum_step step,
                                 const uint8_t *question, size_t length, uint8_t digest[TACIT_DIGEST_BYTES],
                                 tacit_error *error);

/* The step is taken; does nothing when it was before. */
void tacit_sum_party_took(tacit_securesum_party *party, tacit_securesum_step step,
                          const uint8_t digest[TACIT_DIGEST_BYTES]);
