#include "person/sensor/signed_file.h"

#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clean.h"
#include "base/file.h"
#include "data/schema/text.h"

#define MARK "tacit-signed-1 "

static const char purpose[] = "tacit laboratory file 1";

enum {
    MESSAGE = sizeof purpose + TACIT_SIGNED_HASH + TACIT_SIGNED_NAME,
    KEY_TEXT = 2 * TACIT_SIGNED_KEY,
    SIGNATURE_TEXT = 2 * crypto_sign_BYTES
};

/* Nothing that steers a terminal, and no byte order mark. */
static bool is_plain(const char *name) {
    size_t length = strlen(name);
    bool plain = length > 0 && length < TACIT_SIGNED_NAME && tacit_text_is_utf8(name, length);
    char clean[TACIT_SIGNED_NAME];
    return plain && strcmp(tacit_text_clean(clean, sizeof clean, name), name) == 0;
}

static size_t message_of(uint8_t out[MESSAGE], const uint8_t hash[TACIT_SIGNED_HASH], const char *name) {
    memcpy(out, purpose, sizeof purpose);
    memcpy(out + sizeof purpose, hash, TACIT_SIGNED_HASH);
    memcpy(out + sizeof purpose + TACIT_SIGNED_HASH, name, strlen(name));
    return sizeof purpose + TACIT_SIGNED_HASH + strlen(name);
}

tacit_status tacit_signed_file_hash(uint8_t out[TACIT_SIGNED_HASH], const char *path, tacit_error *error) {
    crypto_generichash_state state;
    uint8_t bytes[16384];
    FILE *file = fopen(path, "rbe");
    if (file == NULL) return tacit_fail_errno(error, "reading", path);
    crypto_generichash_init(&state, NULL, 0, TACIT_SIGNED_HASH);
    for (size_t length; (length = fread(bytes, 1, sizeof bytes, file)) > 0;)
        crypto_generichash_update(&state, bytes, length);
    bool failed = ferror(file) != 0;
    fclose(file);
    crypto_generichash_final(&state, out, TACIT_SIGNED_HASH);
    return failed ? tacit_fail(error, TACIT_IO, "reading %s failed", path) : TACIT_OK;
}

tacit_status tacit_signed_file_sign(tacit_buffer *out, const char *path, const uint8_t seed[TACIT_SIGNED_KEY],
                                    const char *name, tacit_error *error) {
    uint8_t key[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES], signature[crypto_sign_BYTES],
        hash[TACIT_SIGNED_HASH], message[MESSAGE];
    char key_text[KEY_TEXT + 1], signature_text[SIGNATURE_TEXT + 1];
    if (!is_plain(name))
        return tacit_fail(error, TACIT_USAGE, "the laboratory's name is one line of fewer than %d bytes",
                          TACIT_SIGNED_NAME);
    TACIT_TRY(tacit_signed_file_hash(hash, path, error));
    crypto_sign_seed_keypair(key, secret, seed);
    crypto_sign_detached(signature, NULL, message, message_of(message, hash, name), secret);
    sodium_memzero(secret, sizeof secret);
    return tacit_buffer_print(
        out, error, MARK "%s %s %s\n", sodium_bin2hex(key_text, sizeof key_text, key, sizeof key),
        sodium_bin2hex(signature_text, sizeof signature_text, signature, sizeof signature), name);
}

/* The line, without its line feed, as its parts. */
static bool read_line(const char *line, tacit_signed_file *out, uint8_t signature[crypto_sign_BYTES]) {
    const size_t mark = strlen(MARK), name = mark + KEY_TEXT + 1 + SIGNATURE_TEXT + 1,
                 length = strcspn(line, "\r\n");
    size_t read = 0;
    if (length <= name || length - name >= sizeof out->name || strncmp(line, MARK, mark) != 0) return false;
    memcpy(out->name, line + name, length - name);
    out->name[length - name] = 0;
    return line[mark + KEY_TEXT] == ' ' && line[name - 1] == ' ' && is_plain(out->name) &&
           sodium_hex2bin(out->key, sizeof out->key, line + mark, KEY_TEXT, NULL, &read, NULL) == 0 &&
           read == sizeof out->key &&
           sodium_hex2bin(signature, crypto_sign_BYTES, line + mark + KEY_TEXT + 1, SIGNATURE_TEXT, NULL,
                          &read, NULL) == 0 &&
           read == crypto_sign_BYTES;
}

tacit_status tacit_signed_file_check(tacit_signed_file *out, const char *path, tacit_error *error) {
    tacit_buffer line = TACIT_BUFFER_LIMITED(4096);
    uint8_t signature[crypto_sign_BYTES], message[MESSAGE];
    char beside[PATH_MAX];
    tacit_signed_file found = { .is_signed = true };
    tacit_status status = TACIT_OK;
    if (snprintf(beside, sizeof beside, "%s.sig", path) >= (int)sizeof beside || access(beside, F_OK) != 0) {
        *out = (tacit_signed_file){ .is_signed = false };
        return TACIT_OK;
    }
    TACIT_CHECK(tacit_file_read(beside, &line, error));
    TACIT_CHECK(tacit_signed_file_hash(found.hash, path, error));
    if (!read_line(tacit_buffer_text(&line), &found, signature) ||
        crypto_sign_verify_detached(signature, message, message_of(message, found.hash, found.name),
                                    found.key) != 0)
        TACIT_CHECK(tacit_fail(
            error, TACIT_REFUSED,
            "%s is not what %s was signed as: get both again from the laboratory, or remove the signature "
            "to keep the file as one that nobody vouches for",
            path, beside));
    *out = found;
cleanup:
    tacit_buffer_clear(&line);
    return status;
}
