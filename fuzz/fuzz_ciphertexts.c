/* A public key, and ciphertexts under a key of 128 bits; what is accepted must survive being written, byte
 * for byte, and every operation on it. The first byte says which of the two the rest is. */
#include <stdlib.h>
#include <string.h>

#include "crypto/paillier/paillier_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { MOST = 8, BITS = 128 };

/* Two safe primes of 64 bits. */
static const mp_limb_t P = 0xc9d6aea3bd5b1b23u, Q = 0xe2d5d5a8b2ab0e97u;

static void use(const tacit_paillier_secret *secret, const tacit_ciphertexts *ciphertexts,
                const uint8_t *bytes, size_t length) {
    size_t count = tacit_ciphertexts_count(ciphertexts);
    tacit_buffer again = TACIT_BUFFER_INIT;
    tacit_ciphertexts *out = NULL;
    tacit_plaintexts *plain = NULL;
    int64_t factor[MOST];
    for (size_t i = 0; i < count; i++) factor[i] = (int64_t)i - 3;
    if (tacit_ciphertexts_write(ciphertexts, &again, NULL) != TACIT_OK) abort();
    if (again.length != length || memcmp(again.bytes, bytes, length) != 0) abort();
    if (tacit_ciphertexts_create(&out, ciphertexts->key, count, NULL) != TACIT_OK) abort();
    if (tacit_plaintexts_create(&plain, ciphertexts->key, count, NULL) != TACIT_OK) abort();
    if (tacit_paillier_multiply(out, ciphertexts, factor, 5, NULL, NULL) != TACIT_OK) abort();
    if (tacit_paillier_add(out, out, ciphertexts, NULL, NULL) != TACIT_OK) abort();
    if (tacit_paillier_decrypt(plain, secret, out, NULL, NULL) != TACIT_OK) abort();
    tacit_plaintexts_free(plain);
    tacit_ciphertexts_free(out);
    tacit_buffer_clear(&again);
}

static void try_ciphertexts(const uint8_t *bytes, size_t length) {
    static tacit_paillier_secret *secret; /* made once: it takes longer than what is tried */
    tacit_ciphertexts *ciphertexts = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    if (secret == NULL && tacit_paillier_secret_make(&secret, &P, &Q, BITS, NULL) != TACIT_OK) abort();
    const tacit_paillier_public *key = tacit_paillier_public_of(secret);
    if (tacit_ciphertexts_read(&ciphertexts, key, bytes, length, MOST, &error) == TACIT_OK)
        use(secret, ciphertexts, bytes, length);
    else if (error.text[0] == 0)
        abort();
    tacit_ciphertexts_free(ciphertexts);
}

static void try_key(const uint8_t *bytes, size_t length) {
    tacit_paillier_public *key = NULL;
    tacit_buffer again = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    if (tacit_paillier_public_read_sized(&key, bytes, length, BITS, &error) != TACIT_OK) {
        if (error.text[0] == 0) abort();
        return;
    }
    if (tacit_paillier_public_write(key, &again, NULL) != TACIT_OK) abort();
    if (again.length != length || memcmp(again.bytes, bytes, length) != 0) abort();
    tacit_buffer_clear(&again);
    tacit_paillier_public_free(key);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    if (length == 0) return 0;
    if (bytes[0] == 'K')
        try_key(bytes + 1, length - 1);
    else
        try_ciphertexts(bytes + 1, length - 1);
    return 0;
}
