#include "lab/logit_decrypt.h"

#include <stdlib.h>

#include "base/memory.h"

/* "sums", or "step" where there is an inverse. */
static tacit_status ask(tacit_answers *out, tacit_session *session, const tacit_paillier_public *key,
                        double n, const double *beta, size_t width, tacit_row_weight weight,
                        const tacit_buffer *inverse, tacit_error *error) {
    tacit_message message = TACIT_MESSAGE_INIT;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_paillier_public_write(key, &bytes, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "rows", &n, 1, error));
    TACIT_CHECK(tacit_message_add_numbers(&message, "weights", beta, width, error));
    TACIT_CHECK(tacit_message_add_bytes(&message, "key", bytes.bytes, bytes.length, error));
    if (inverse != NULL)
        TACIT_CHECK(tacit_message_add_bytes(&message, "inverse", inverse->bytes, inverse->length, error));
    else
        TACIT_CHECK(tacit_message_add_integers(&message, "matrix", &(int64_t){ weight }, 1, error));
    TACIT_CHECK(tacit_ask(session, inverse != NULL ? "step" : "sums", &message, out, error));
cleanup:
    tacit_message_clear(&message);
    tacit_buffer_clear(&bytes);
    return status;
}

static tacit_status add_answer(int64_t *out, const tacit_message *message, const char *field,
                               const tacit_slots *layout, const tacit_paillier_secret *secret, size_t count,
                               tacit_error *error) {
    const tacit_paillier_public *key = tacit_paillier_public_of(secret);
    size_t vectors = tacit_slots_plaintexts(layout, count), length;
    tacit_ciphertexts *sealed = NULL;
    tacit_plaintexts *plain = NULL;
    int64_t *values = TACIT_NEW(int64_t, count);
    const uint8_t *bytes;
    tacit_status status = values != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    TACIT_CHECK(tacit_message_bytes(message, field, &bytes, &length, error));
    TACIT_CHECK(tacit_ciphertexts_read(&sealed, key, bytes, length, vectors, error));
    TACIT_CHECK(tacit_plaintexts_create(&plain, key, vectors, error));
    TACIT_CHECK(tacit_paillier_decrypt(plain, secret, sealed, NULL, error));
    TACIT_CHECK(tacit_slots_unpack_integers(values, layout, count, plain, error));
    for (size_t j = 0; j < count; j++) out[j] += values[j];
cleanup:
    tacit_ciphertexts_free(sealed);
    tacit_plaintexts_free(plain);
    free(values);
    return status;
}

tacit_status tacit_logit_decrypt_sum(int64_t *out, tacit_local *local, const tacit_plan *plan,
                                     const tacit_paillier_secret *secret, double n, const double *beta,
                                     size_t width, tacit_row_weight weight, tacit_error *error) {
    const tacit_paillier_public *key = tacit_paillier_public_of(secret);
    size_t count = tacit_logit_length(plan, width, weight);
    tacit_stream seed = tacit_stream_from_seed(0);
    tacit_answers answers = TACIT_ANSWERS_INIT;
    tacit_masked_slots layout;
    tacit_session session;
    tacit_status status;
    for (size_t j = 0; j < count; j++) out[j] = 0;
    TACIT_CHECK(tacit_logit_slots(&layout, plan, key, error));
    TACIT_CHECK(tacit_local_begin(local, plan, &seed, NULL, &session, error));
    TACIT_CHECK(ask(&answers, &session, key, n, beta, width, weight, NULL, error));
    for (size_t i = 0; i < answers.count; i++)
        TACIT_CHECK(add_answer(out, &answers.answer[i].message, "sums", &layout.slots, secret, count, error));
cleanup:
    tacit_answers_clear(&answers);
    return status;
}

/* Enc(1) where row and column are the same, by columns. */
static tacit_status identity(tacit_buffer *out, const tacit_logit_inverse *layout,
                             const tacit_paillier_public *key, size_t width, tacit_error *error) {
    const size_t slots = layout->slots.slots.slots, vectors = layout->blocks * width;
    int64_t *values = TACIT_NEW(int64_t, vectors * slots);
    tacit_plaintexts *plain = NULL;
    tacit_ciphertexts *sealed = NULL;
    tacit_entropy *entropy = NULL;
    tacit_status status = values != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    for (size_t j = 0; j < width; j++) values[(j / slots * width + j) * slots + j % slots] = 1;
    TACIT_CHECK(tacit_plaintexts_create(&plain, key, vectors, error));
    TACIT_CHECK(tacit_slots_pack(plain, &layout->slots.slots, values, vectors * slots, error));
    TACIT_CHECK(tacit_ciphertexts_create(&sealed, key, vectors, error));
    TACIT_CHECK(tacit_entropy_create(&entropy, error));
    TACIT_CHECK(tacit_paillier_encrypt(sealed, plain, TACIT_PAILLIER_SHORT, entropy, NULL, error));
    TACIT_CHECK(tacit_ciphertexts_write(sealed, out, error));
cleanup:
    free(values);
    tacit_plaintexts_free(plain);
    tacit_ciphertexts_free(sealed);
    tacit_entropy_free(entropy);
    return status;
}

tacit_status tacit_logit_decrypt_gradient(int64_t *out, tacit_local *local, const tacit_plan *plan,
                                          const tacit_paillier_secret *secret, double n, const double *beta,
                                          size_t width, tacit_error *error) {
    const tacit_paillier_public *key = tacit_paillier_public_of(secret);
    tacit_stream seed = tacit_stream_from_seed(0);
    tacit_answers answers = TACIT_ANSWERS_INIT;
    tacit_buffer inverse = TACIT_BUFFER_INIT;
    tacit_logit_inverse layout;
    tacit_session session;
    tacit_status status;
    for (size_t j = 0; j < width; j++) out[j] = 0;
    TACIT_CHECK(tacit_logit_inverse_plan(&layout, plan, key, width, n, error));
    TACIT_CHECK(identity(&inverse, &layout, key, width, error));
    TACIT_CHECK(tacit_local_begin(local, plan, &seed, NULL, &session, error));
    TACIT_CHECK(ask(&answers, &session, key, n, beta, width, TACIT_WEIGH_NONE, &inverse, error));
    for (size_t i = 0; i < answers.count; i++)
        TACIT_CHECK(
            add_answer(out, &answers.answer[i].message, "step", &layout.slots.slots, secret, width, error));
cleanup:
    tacit_answers_clear(&answers);
    tacit_buffer_clear(&inverse);
    return status;
}
