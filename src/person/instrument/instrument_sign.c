/* Who wrote a questionnaire: a last line with an Ed25519 key and its signature of the text before it. */
#include <sodium.h>
#include <string.h>

#include "person/instrument/instrument_parts.h"

/* Signed are this, a NUL, and the hash of the text. */
static const char purpose[] = "tacit instrument 1";

size_t instrument_signed_at(const char *text, size_t length) {
    static const char mark[] = INSTRUMENT_SIGNED;
    size_t end = length, begin;
    while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == '\r')) end--;
    for (begin = end; begin > 0 && text[begin - 1] != '\n';) begin--;
    return end - begin >= sizeof mark - 1 && memcmp(text + begin, mark, sizeof mark - 1) == 0 ? begin
                                                                                              : length;
}

static void message_of(uint8_t out[sizeof purpose + TACIT_INSTRUMENT_HASH],
                       const uint8_t hash[TACIT_INSTRUMENT_HASH]) {
    memcpy(out, purpose, sizeof purpose);
    memcpy(out + sizeof purpose, hash, TACIT_INSTRUMENT_HASH);
}

static void hash_text(uint8_t out[TACIT_INSTRUMENT_HASH], const char *text, size_t length) {
    crypto_generichash(out, TACIT_INSTRUMENT_HASH, (const uint8_t *)text, length, NULL, 0);
}

/* "# signed KEY SIGNATURE" and nothing more. */
static bool read_line(const char *line, size_t length, uint8_t key[crypto_sign_PUBLICKEYBYTES],
                      uint8_t signature[crypto_sign_BYTES]) {
    const size_t mark = sizeof INSTRUMENT_SIGNED - 1, key_text = 2 * crypto_sign_PUBLICKEYBYTES,
                 signature_text = 2 * crypto_sign_BYTES;
    size_t read = 0;
    while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r')) length--;
    return length == mark + key_text + 1 + signature_text && line[mark + key_text] == ' ' &&
           sodium_hex2bin(key, crypto_sign_PUBLICKEYBYTES, line + mark, key_text, NULL, &read, NULL) == 0 &&
           read == crypto_sign_PUBLICKEYBYTES &&
           sodium_hex2bin(signature, crypto_sign_BYTES, line + mark + key_text + 1, signature_text, NULL,
                          &read, NULL) == 0 &&
           read == crypto_sign_BYTES;
}

tacit_status instrument_check_signature(tacit_instrument *instrument, const char *text, size_t length,
                                        const char *name, tacit_error *error) {
    uint8_t signature[crypto_sign_BYTES], message[sizeof purpose + TACIT_INSTRUMENT_HASH];
    size_t at = instrument_signed_at(text, length);
    hash_text(instrument->hash, text, at);
    if (at == length) return TACIT_OK;
    message_of(message, instrument->hash);
    if (!read_line(text + at, length - at, instrument->key, signature) ||
        crypto_sign_verify_detached(signature, message, sizeof message, instrument->key) != 0)
        return tacit_fail(
            error, TACIT_REFUSED,
            "%s was changed after it was signed, or its last line is damaged: get it again from "
            "whoever wrote it, or sign it yourself (tacit instrument sign)",
            name);
    instrument->is_signed = true;
    return TACIT_OK;
}

tacit_status tacit_instrument_sign(tacit_buffer *out, const char *text, size_t length,
                                   const uint8_t seed[TACIT_INSTRUMENT_KEY], tacit_error *error) {
    uint8_t key[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES], signature[crypto_sign_BYTES],
        hash[TACIT_INSTRUMENT_HASH], message[sizeof purpose + TACIT_INSTRUMENT_HASH];
    char key_text[2 * sizeof key + 1], signature_text[2 * sizeof signature + 1];
    size_t start = out->length;
    tacit_status status;
    TACIT_TRY(tacit_buffer_append(out, text, instrument_signed_at(text, length), error));
    if (out->length > start && out->bytes[out->length - 1] != '\n')
        TACIT_TRY(tacit_buffer_append(out, "\n", 1, error));
    hash_text(hash, (const char *)out->bytes + start, out->length - start);
    message_of(message, hash);
    crypto_sign_seed_keypair(key, secret, seed);
    crypto_sign_detached(signature, NULL, message, sizeof message, secret);
    sodium_memzero(secret, sizeof secret);
    status = tacit_buffer_print(
        out, error, INSTRUMENT_SIGNED "%s %s\n", sodium_bin2hex(key_text, sizeof key_text, key, sizeof key),
        sodium_bin2hex(signature_text, sizeof signature_text, signature, sizeof signature));
    return status;
}
