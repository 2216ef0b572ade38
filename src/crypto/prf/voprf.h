/*
 * A verifiable oblivious pseudorandom function: RFC 9497, ristretto255-SHA512, mode VOPRF. A client blinds an
 * input; the server evaluates the blinded element with its key, and proves that it used the key that
 * everybody knows; the client unblinds. The client then has F(key, input), which only the server could make,
 * and the server has seen one uniformly random element of the group.
 *
 * Unlinkable (RFC 9497, section 7.2.1): the blinded element is r P with r uniform and P of prime order, so it
 * is uniform whatever the input; the evaluated one and its proof are functions of it and the key. What the
 * server sees is independent of (input, output), also without any bound on its computing. The proof keeps it
 * from marking clients by keys of their own. Nobody without the key can make one more valid pair than
 * evaluations it
 * got: the one-more gap Diffie-Hellman assumption, in the random oracle model.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
    TACIT_VOPRF_KEY_BYTES = 32,
    TACIT_VOPRF_ELEMENT_BYTES = 32,
    TACIT_VOPRF_PROOF_BYTES = 64,
    TACIT_VOPRF_BYTES = 64
};
enum { TACIT_VOPRF_INPUT_MOST = 65535, TACIT_VOPRF_BATCH_MOST = 1024 };

typedef struct tacit_voprf_element {
    uint8_t bytes[TACIT_VOPRF_ELEMENT_BYTES];
} tacit_voprf_element;

/* The key that 32 secret bytes and a public text make (DeriveKeyPair). */
tacit_status tacit_voprf_derive(uint8_t secret[TACIT_VOPRF_KEY_BYTES], tacit_voprf_element *public_key,
                                const uint8_t seed[32], const char *info, tacit_error *error);

/* Is it an element that can be a public key, or be evaluated? */
bool tacit_voprf_is_valid(const tacit_voprf_element *element);

/* Blind an input with a fresh random scalar, which the client keeps; or with this one (`fixed`), for test
 * vectors. */
tacit_status tacit_voprf_blind(uint8_t blind[32], tacit_voprf_element *blinded, const void *input,
                               size_t length, const uint8_t *fixed, tacit_error *error);

/* At the server: evaluate `count` blinded elements, with one proof for all. `fixed` as above, NULL:
 * random. */
tacit_status tacit_voprf_evaluate(tacit_voprf_element *evaluated, uint8_t proof[TACIT_VOPRF_PROOF_BYTES],
                                  const uint8_t secret[TACIT_VOPRF_KEY_BYTES],
                                  const tacit_voprf_element *blinded, size_t count, const uint8_t *fixed,
                                  tacit_error *error);

/* At the client: TACIT_REFUSED unless the public key's owner evaluated these. */
tacit_status tacit_voprf_check(const tacit_voprf_element *public_key, const tacit_voprf_element *blinded,
                               const tacit_voprf_element *evaluated, size_t count,
                               const uint8_t proof[TACIT_VOPRF_PROOF_BYTES], tacit_error *error);

/* At the client, after the check: the value. */
tacit_status tacit_voprf_finish(uint8_t value[TACIT_VOPRF_BYTES], const void *input, size_t length,
                                const uint8_t blind[32], const tacit_voprf_element *evaluated,
                                tacit_error *error);

/* At the server: the value of an input that is shown. */
tacit_status tacit_voprf_value(uint8_t value[TACIT_VOPRF_BYTES], const uint8_t secret[TACIT_VOPRF_KEY_BYTES],
                               const void *input, size_t length, tacit_error *error);
