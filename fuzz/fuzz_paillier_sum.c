/*
 * Messages of an encrypted sum of three parties under a key of 2048 bits. The first byte says where the rest goes: to the
 * coordinator in step 0 to 2, or ('k', 'd') to a party as the key or to the key holder as what is to be decrypted; with 32 taken
 * from it, an honest message with the changes that follow (outside.h). Signatures are taken for good, so that what is behind them is
 * reached.
 */
#include <stdlib.h>
#include <string.h>

#include "crypto/paillier_sum.h"
#include "outside.h"
#include "session/centre.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { PARTIES = 3, LENGTH = 2, BITS = 2048 };

static tacit_paillier_secret *secret;
static tacit_paillier_sum_terms terms;
static tacit_buffer key, contribution, product, decrypted; /* honest messages */

static bool believe(const void *self, uint32_t party, const uint8_t signature[TACIT_SIGNATURE_BYTES],
                    const uint8_t *message, size_t length) {
    (void)self, (void)signature, (void)message, (void)length;
    return party < PARTIES;
}

static tacit_status sign(const void *self, uint8_t signature[TACIT_SIGNATURE_BYTES], const uint8_t *message,
                         size_t length, tacit_error *error) {
    (void)self, (void)message, (void)length, (void)error;
    memset(signature, 7, TACIT_SIGNATURE_BYTES);
    return TACIT_OK;
}

static const tacit_securesum_roster roster = { believe, NULL };
static const tacit_securesum_signer signer = { sign, NULL };

/* A coordinator that waits in `step`; the ciphertexts of a real contribution are in its product. */
static tacit_paillier_sum_server *waiting_in(int step) {
    tacit_paillier_sum_server *server = NULL;
    outside_must(tacit_paillier_sum_server_create(&server, &terms, &roster, NULL, NULL));
    if (step > TACIT_PAILLIER_SUM_KEY) {
        outside_must(tacit_paillier_sum_server_receive(server, 0, key.bytes, key.length, NULL));
        outside_must(tacit_paillier_sum_server_close(server, NULL));
    }
    if (step > TACIT_PAILLIER_SUM_ENCRYPT) {
        outside_must(
            tacit_paillier_sum_server_receive(server, 1, contribution.bytes, contribution.length, NULL));
        outside_must(tacit_paillier_sum_server_close(server, NULL));
    }
    return server;
}

static void begin(void) {
    static const int64_t values[LENGTH] = { 5, -7 };
    tacit_entropy *entropy = NULL;
    outside_must(tacit_centre_simulated_key(&secret, NULL));
    terms = (tacit_paillier_sum_terms){
        .study = "study", .length = LENGTH, .parties = PARTIES, .minimum = 1, .key_bits = BITS
    };
    outside_must(tacit_entropy_create(&entropy, NULL));
    outside_must(tacit_paillier_sum_write_key(&key, &terms, tacit_paillier_public_of(secret), &signer, NULL));
    outside_must(tacit_paillier_sum_encrypt(&contribution, &terms, tacit_paillier_public_of(secret), 1,
                                            values, &signer, entropy, NULL, NULL));
    tacit_entropy_free(entropy);
    tacit_paillier_sum_server *server = waiting_in(TACIT_PAILLIER_SUM_DECRYPT);
    outside_must(tacit_paillier_sum_server_question(server, 0, &product, NULL));
    outside_must(tacit_paillier_sum_decrypt(&decrypted, &terms, secret, &roster, product.bytes,
                                            product.length, NULL, NULL));
    tacit_paillier_sum_server_free(server);
}

static void to_coordinator(int step, const uint8_t *bytes, size_t length) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_paillier_sum_server *server = waiting_in(step);
    tacit_status status = tacit_paillier_sum_server_receive(server, 0, bytes, length, &error);
    outside_explained(status, &error);
    if (tacit_paillier_sum_server_has(server, 0) != (status == TACIT_OK)) abort();
    if (status == TACIT_OK) outside_must(tacit_paillier_sum_server_close(server, NULL));
    tacit_paillier_sum_server_free(server);
}

static void to_party(const uint8_t *bytes, size_t length) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_paillier_public *read = NULL;
    outside_explained(tacit_paillier_sum_read_key(&read, &terms, &roster, bytes, length, &error), &error);
    tacit_paillier_public_free(read);
}

static void to_key_holder(const uint8_t *bytes, size_t length) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer out = TACIT_BUFFER_INIT;
    tacit_status status =
        tacit_paillier_sum_decrypt(&out, &terms, secret, &roster, bytes, length, NULL, &error);
    outside_explained(status, &error);
    if (out.length != (status == TACIT_OK ? tacit_paillier_sum_decrypted_bytes(&terms) : 0)) abort();
    tacit_buffer_clear(&out);
}

static void deliver(int to, const uint8_t *bytes, size_t length) {
    switch (to) {
    case 'k': to_party(bytes, length); break;
    case 'd': to_key_holder(bytes, length); break;
    default: to_coordinator(to % TACIT_PAILLIER_SUM_OPENED, bytes, length); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static const tacit_buffer *const honest[] = { &key, &contribution, &decrypted };
    tacit_buffer message = TACIT_BUFFER_INIT;
    if (secret == NULL) begin();
    if (length == 0) return 0;
    const tacit_buffer *meant = bytes[0] == 'K'   ? &key
                                : bytes[0] == 'D' ? &product
                                : bytes[0] < 32   ? honest[(bytes[0] + 32) % TACIT_PAILLIER_SUM_OPENED]
                                                  : NULL;
    if (meant == NULL) {
        deliver(bytes[0], bytes + 1, length - 1);
        return 0;
    }
    outside_must(tacit_buffer_append(&message, meant->bytes, meant->length, NULL));
    outside_change(&message, bytes + 1, length - 1);
    deliver(bytes[0] + 32, message.bytes, message.length);
    tacit_buffer_clear(&message);
    return 0;
}
