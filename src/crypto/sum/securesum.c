#include "crypto/sum/securesum.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/sum/securesum_parts.h"

const char *tacit_securesum_step_name(tacit_securesum_step step) {
    static const char *const names[] = { "advertise", "share", "mask", "consent", "unmask", "opened" };
    return names[step];
}

static void digest_terms(uint8_t out[TACIT_DIGEST_BYTES], const tacit_securesum_terms *terms) {
    const tacit_graph_shape *shape = &terms->shape;
    tacit_digest digest;
    tacit_digest_begin(&digest, "tacit secure sum 1", NULL);
    tacit_digest_text(&digest, terms->study);
    tacit_digest_u64(&digest, terms->round);
    tacit_digest_bytes(&digest, terms->id, sizeof terms->id);
    tacit_digest_u64(&digest, terms->length);
    tacit_digest_u64(&digest, shape->parties);
    tacit_digest_u64(&digest, shape->degree);
    tacit_digest_u64(&digest, shape->threshold);
    tacit_digest_u64(&digest, shape->window_least);
    tacit_digest_u64(&digest, shape->minimum);
    tacit_digest_bytes(&digest, terms->graph_seed, sizeof terms->graph_seed);
    tacit_digest_bytes(&digest, terms->roster, sizeof terms->roster);
    tacit_digest_end(&digest, out);
}

tacit_status tacit_securesum_create(tacit_securesum **out, const tacit_securesum_terms *terms,
                                    const tacit_securesum_roster *roster, tacit_error *error) {
    if (memchr(terms->study, 0, sizeof terms->study) == NULL || terms->study[0] == 0)
        return tacit_fail(error, TACIT_USAGE, "a secure sum belongs to a study whose name has 1 to %d bytes",
                          TACIT_SUM_STUDY_SIZE - 1);
    if (terms->length == 0 || terms->length > TACIT_SUM_LENGTH_MOST)
        return tacit_fail(error, TACIT_USAGE, "a secure sum is of 1 to 2^32 numbers, not %zu", terms->length);
    tacit_securesum *sum = TACIT_NEW(tacit_securesum, 1);
    if (sum == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_graph_create(&sum->graph, &terms->shape, terms->graph_seed, error);
    if (status != TACIT_OK) {
        free(sum);
        return status;
    }
    sum->terms = *terms;
    sum->roster = *roster;
    sum->set_bytes = ((size_t)terms->shape.parties + 7) / 8;
    digest_terms(sum->context, terms);
    *out = sum;
    return TACIT_OK;
}

tacit_securesum *tacit_securesum_free(tacit_securesum *sum) {
    if (sum == NULL) return NULL;
    tacit_graph_free(sum->graph);
    free(sum);
    return NULL;
}

/* ---- Ed25519 ---- */

static tacit_status ed25519_sign(const void *self, uint8_t signature[TACIT_SIGNATURE_BYTES],
                                 const uint8_t *message, size_t length, tacit_error *error) {
    (void)error;
    crypto_sign_detached(signature, NULL, message, length, self);
    return TACIT_OK;
}

tacit_securesum_signer tacit_securesum_ed25519_signer(const uint8_t *secret_key) {
    return (tacit_securesum_signer){ ed25519_sign, secret_key };
}

static bool ed25519_verify(const void *self, uint32_t party, const uint8_t signature[TACIT_SIGNATURE_BYTES],
                           const uint8_t *message, size_t length) {
    const tacit_signing_roster *roster = self;
    return party < roster->parties &&
           crypto_sign_verify_detached(signature, message, length, roster->keys[party]) == 0;
}

tacit_securesum_roster tacit_securesum_ed25519_roster(const tacit_signing_roster *roster) {
    return (tacit_securesum_roster){ ed25519_verify, roster };
}

void tacit_securesum_roster_digest(uint8_t out[TACIT_DIGEST_BYTES], const tacit_signing_roster *roster) {
    tacit_digest digest;
    tacit_digest_begin(&digest, "tacit secure sum roster", NULL);
    tacit_digest_u64(&digest, roster->parties);
    tacit_digest_bytes(&digest, roster->keys, (size_t)roster->parties * crypto_sign_PUBLICKEYBYTES);
    tacit_digest_end(&digest, out);
}
