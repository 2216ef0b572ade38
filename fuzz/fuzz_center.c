/*
 * The two center servers, before and while they compute. The first byte says what the rest is: 'w' all that
 * somebody says to B who comes to its door; 'a' what A says once its study was welcome; 'g' B's answer to A's
 * greeting; 'k' a card's address.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "center/center_parts.h"
#include "outside.h"
#include "session/center/center_servers.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static tacit_paillier_secret *secret; /* B's */
static tacit_study *study;            /* names its key */

static void begin(void) {
    static const char schema[] = "|\n  label: {name: y, classes: [n, p]}\n  columns:\n"
                                 "    - {name: a, kind: number, low: 0, high: 1}\n";
    char key[2 * TACIT_HASH_BYTES + 1], certificate[8192];
    const char *pem = tacit_authority_pem(outside_authority());
    tacit_buffer der = TACIT_BUFFER_INIT, text = TACIT_BUFFER_INIT;
    outside_must(tacit_center_simulated_key(&secret, NULL));
    sodium_bin2hex(key, sizeof key, tacit_paillier_fingerprint(tacit_paillier_public_of(secret)),
                   TACIT_HASH_BYTES);
    outside_must(tacit_certificate_to_der(&der, pem, strlen(pem), NULL));
    sodium_bin2base64(certificate, sizeof certificate, der.bytes, der.length, sodium_base64_VARIANT_ORIGINAL);
    outside_must(tacit_buffer_print(
        &text, NULL,
        "name: center\ntitle: Center\nmethod: newton\nlambda: 0.1\nparties: {expected: 3, minimum: 2}\n"
        "minimum_rows: 5\nschema: %scenter:\n  address: \"localhost:9\"\n  key: \"%s\"\n"
        "  certificate: \"%s\"\n",
        schema, key, certificate));
    tacit_error error = TACIT_ERROR_INIT;
    if (tacit_study_parse(&study, tacit_buffer_text(&text), text.length, "study", &error) != TACIT_OK)
        abort();
    tacit_buffer_clear(&der);
    tacit_buffer_clear(&text);
}

static tacit_status look(void *context, const tacit_study *shown, const tacit_buffer *revocations,
                         tacit_error *error) {
    (void)context, (void)shown, (void)revocations, (void)error;
    return TACIT_OK;
}

static tacit_status hear(void *context, const tacit_buffer *chain, tacit_error *error) {
    tacit_handovers read = { .count = 0 };
    (void)context;
    tacit_status status = tacit_handovers_read(&read, chain->bytes, chain->length, error);
    tacit_handovers_clear(&read);
    return status;
}

static tacit_status check(void *context, const tacit_buffer *definition, const tacit_buffer *signature,
                          tacit_error *error) {
    (void)context, (void)definition, (void)signature, (void)error;
    return TACIT_OK; /* as if the authority had signed it: what it says is read all the same */
}

static void to_door(const uint8_t *bytes, size_t length) {
    tacit_channel *channel = outside_channel(bytes, length);
    tacit_study *shown = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = center_welcome(&shown, channel, secret, hear, check, look, NULL, &error);
    outside_explained(status, &error);
    if ((shown != NULL) != (status == TACIT_OK)) abort();
    tacit_study_free(shown);
    tacit_channel_free(channel);
}

static void to_assistant(const uint8_t *bytes, size_t length) {
    tacit_channel *channel = outside_channel(bytes, length);
    tacit_error error = TACIT_ERROR_INIT;
    outside_explained(tacit_center_assist(&study->plan, channel, secret, NULL, &error), &error);
    tacit_channel_free(channel);
}

static void to_caller(const uint8_t *bytes, size_t length) {
    tacit_channel *channel = outside_channel(bytes, length);
    tacit_buffer none = TACIT_BUFFER_INIT;
    tacit_paillier_public *key = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = center_greet(&key, channel, study, &none, &none, &none, &error);
    outside_explained(status, &error);
    if ((key != NULL) != (status == TACIT_OK)) abort();
    tacit_paillier_public_free(key);
    tacit_channel_free(channel);
}

static void to_card(const uint8_t *bytes, size_t length) {
    char host[64];
    uint16_t port = 0;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    outside_must(tacit_buffer_append(&text, bytes, length, NULL));
    tacit_status status = center_split_address(tacit_buffer_text(&text), host, sizeof host, &port, &error);
    outside_explained(status, &error);
    if (status == TACIT_OK && (port == 0 || host[0] == 0)) abort();
    tacit_buffer_clear(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    if (study == NULL) begin();
    if (length == 0) return 0;
    switch (bytes[0]) {
    case 'a': to_assistant(bytes + 1, length - 1); break;
    case 'g': to_caller(bytes + 1, length - 1); break;
    case 'k': to_card(bytes + 1, length - 1); break;
    default: to_door(bytes + 1, length - 1); break;
    }
    return 0;
}
