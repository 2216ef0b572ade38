#include "net/invitation.h"

#include <sodium.h>
#include <string.h>
#include <strings.h>

#include "base/clean.h"

/*
 * The record, before base64url:
 *   u8 version | u32 length, URL | u32 length, study | 32 bytes token | u64 expiry | u32 length, CA in DER |
 * in version 2: u32 length, what the party is called | 4 bytes: BLAKE2b of all before, under its own personal
 * key, truncated
 *
 * Version 1 has no name. It is written where there is none, for parties whose program is older than names.
 */
static const char prefix[] = "tacit1-";
static const char prefix_stem[] = "tacit";
enum {
    UNNAMED_VERSION = 1,
    NAMED_VERSION = 2,
    CHECKSUM_BYTES = 4,
    VARIANT = sodium_base64_VARIANT_URLSAFE_NO_PADDING
};
enum {
    RECORD_MAX = 1 + 4 + TACIT_INVITATION_URL_MAX + 4 + TACIT_INVITATION_STUDY_MAX + TACIT_TOKEN_BYTES + 8 +
                 4 + TACIT_INVITATION_AUTHORITY_MAX + 4 + TACIT_PARTY_NAME_MOST + CHECKSUM_BYTES
};

static void checksum(uint8_t out[CHECKSUM_BYTES], const uint8_t *record, size_t length) {
    static const uint8_t key[] = "tacit invitation checksum";
    uint8_t digest[crypto_generichash_BYTES];
    crypto_generichash(digest, sizeof digest, record, length, key, sizeof key - 1);
    memcpy(out, digest, CHECKSUM_BYTES);
}

void tacit_token_create(uint8_t token[TACIT_TOKEN_BYTES]) { randombytes_buf(token, TACIT_TOKEN_BYTES); }

void tacit_token_hash(uint8_t hash[TACIT_TOKEN_HASH_BYTES], const uint8_t token[TACIT_TOKEN_BYTES]) {
    static const uint8_t key[] = "tacit invitation token";
    crypto_generichash(hash, TACIT_TOKEN_HASH_BYTES, token, TACIT_TOKEN_BYTES, key, sizeof key - 1);
}

void tacit_invitation_wipe(tacit_invitation *invitation) { sodium_memzero(invitation, sizeof *invitation); }

/* Both texts end up on terminals and in file names: no control characters, and nothing but ASCII in a URL. */
static bool url_is_fit(const char *url, size_t length) {
    if (length == strlen(TACIT_FILES_ADDRESS) && memcmp(url, TACIT_FILES_ADDRESS, length) == 0) return true;
    if (length < sizeof "https://" || length > TACIT_INVITATION_URL_MAX || memcmp(url, "https://", 8) != 0)
        return false;
    for (size_t i = 0; i < length; i++)
        if (url[i] <= 0x20 || url[i] >= 0x7f) return false;
    return true;
}

static bool study_is_fit(const char *study, size_t length) {
    if (length == 0 || length > TACIT_INVITATION_STUDY_MAX) return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)study[i] < 0x20 || study[i] == 0x7f) return false;
    return true;
}

static tacit_status append_counted(tacit_buffer *record, const void *bytes, size_t length,
                                   tacit_error *error) {
    TACIT_TRY(tacit_buffer_append_u32(record, (uint32_t)length, error));
    return tacit_buffer_append(record, bytes, length, error);
}

static tacit_status write_record(tacit_buffer *record, const tacit_invitation *invitation,
                                 tacit_error *error) {
    const bool named = invitation->called[0] != 0;
    const uint8_t version = named ? NAMED_VERSION : UNNAMED_VERSION;
    TACIT_TRY(tacit_buffer_append(record, &version, 1, error));
    TACIT_TRY(append_counted(record, invitation->url, strlen(invitation->url), error));
    TACIT_TRY(append_counted(record, invitation->study, strlen(invitation->study), error));
    TACIT_TRY(tacit_buffer_append(record, invitation->token, TACIT_TOKEN_BYTES, error));
    TACIT_TRY(tacit_buffer_append_u64(record, (uint64_t)invitation->expires, error));
    TACIT_TRY(append_counted(record, invitation->authority, invitation->authority_length, error));
    if (named) TACIT_TRY(append_counted(record, invitation->called, strlen(invitation->called), error));
    uint8_t sum[CHECKSUM_BYTES];
    checksum(sum, record->bytes, record->length);
    return tacit_buffer_append(record, sum, sizeof sum, error);
}

static void wipe_buffer(tacit_buffer *buffer) {
    if (buffer->bytes != NULL) sodium_memzero(buffer->bytes, buffer->capacity);
    tacit_buffer_clear(buffer);
}

tacit_status tacit_invitation_encode(tacit_buffer *text, const tacit_invitation *invitation,
                                     tacit_error *error) {
    if (!url_is_fit(invitation->url, strnlen(invitation->url, sizeof invitation->url)))
        return tacit_fail(error, TACIT_USAGE,
                          "an invitation needs an https:// address of at most %d characters",
                          TACIT_INVITATION_URL_MAX);
    if (!study_is_fit(invitation->study, strnlen(invitation->study, sizeof invitation->study)))
        return tacit_fail(error, TACIT_USAGE, "an invitation needs a study id of 1 to %d characters",
                          TACIT_INVITATION_STUDY_MAX);
    if (invitation->authority_length == 0 || invitation->authority_length > TACIT_INVITATION_AUTHORITY_MAX)
        return tacit_fail(error, TACIT_USAGE, "an invitation needs the coordinator's certificate");
    if (invitation->expires < 0)
        return tacit_fail(error, TACIT_USAGE, "an invitation cannot expire before 1970");
    if (invitation->called[0] != 0) TACIT_TRY(tacit_party_name_check(invitation->called, error));
    tacit_buffer record = TACIT_BUFFER_LIMITED(RECORD_MAX);
    tacit_buffer line = TACIT_BUFFER_INIT;
    uint8_t *at;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(write_record(&record, invitation, error));
    TACIT_CHECK(tacit_buffer_append(&line, prefix, sizeof prefix - 1, error));
    size_t encoded = sodium_base64_encoded_len(record.length, VARIANT); /* counts the NUL */
    TACIT_CHECK(tacit_buffer_reserve(&line, encoded, &at, error));
    sodium_bin2base64((char *)at, encoded, record.bytes, record.length, VARIANT);
    line.length += encoded - 1;
    TACIT_CHECK(tacit_buffer_append(text, line.bytes, line.length, error));
cleanup:
    wipe_buffer(&record);
    wipe_buffer(&line);
    return status;
}

/* ---- parsing ---- */

static tacit_status fail_foreign(tacit_error *error) {
    return tacit_fail(error, TACIT_INPUT, "this is not an invitation: one begins with \"%s\"", prefix);
}

static tacit_status fail_damaged(tacit_error *error) {
    return tacit_fail(error, TACIT_INPUT,
                      "the invitation is damaged (its checksum does not match); copy the whole line again");
}

static tacit_status fail_newer(tacit_error *error) {
    return tacit_fail(error, TACIT_INPUT,
                      "the invitation was made by a newer version of Tacit; update this one to use it");
}

/* "tacit", digits, "-": which version of the line is it? */
static tacit_status check_prefix(const char *text, size_t length, tacit_error *error) {
    const size_t stem = sizeof prefix_stem - 1;
    size_t at = stem;
    if (length < stem || memcmp(text, prefix_stem, stem) != 0) return fail_foreign(error);
    while (at < length && text[at] >= '0' && text[at] <= '9') at++;
    if (at == stem || at == length || text[at] != '-' || text[stem] == '0') return fail_foreign(error);
    return at == stem + 1 && text[stem] == '1' ? TACIT_OK : fail_newer(error);
}

static bool read_counted(tacit_cursor *cursor, const uint8_t **bytes, size_t *length, size_t most) {
    uint32_t count;
    if (!tacit_cursor_read_u32(cursor, &count) || count > most) return false;
    *length = count;
    return tacit_cursor_skip(cursor, bytes, count);
}

static bool read_name(tacit_invitation *out, tacit_cursor *cursor) {
    const uint8_t *called;
    size_t length;
    if (!read_counted(cursor, &called, &length, TACIT_PARTY_NAME_MOST)) return false;
    memcpy(out->called, called, length);
    return strlen(out->called) == length && tacit_party_name_check(out->called, NULL) == TACIT_OK;
}

static bool read_fields(tacit_invitation *out, tacit_cursor *cursor, unsigned version) {
    const uint8_t *url, *study, *authority;
    size_t url_length, study_length;
    uint64_t expires;
    if (!read_counted(cursor, &url, &url_length, TACIT_INVITATION_URL_MAX) ||
        !read_counted(cursor, &study, &study_length, TACIT_INVITATION_STUDY_MAX) ||
        !tacit_cursor_read(cursor, out->token, TACIT_TOKEN_BYTES) ||
        !tacit_cursor_read_u64(cursor, &expires) ||
        !read_counted(cursor, &authority, &out->authority_length, TACIT_INVITATION_AUTHORITY_MAX) ||
        (version == NAMED_VERSION && !read_name(out, cursor)) || cursor->left != 0 ||
        out->authority_length == 0 || expires > INT64_MAX)
        return false;
    if (!url_is_fit((const char *)url, url_length) || !study_is_fit((const char *)study, study_length))
        return false;
    memcpy(out->url, url, url_length);
    memcpy(out->study, study, study_length);
    memcpy(out->authority, authority, out->authority_length);
    out->expires = (int64_t)expires;
    return true;
}

static tacit_status parse_record(tacit_invitation *out, const uint8_t *record, size_t length,
                                 tacit_error *error) {
    if (length < 1 + CHECKSUM_BYTES) return fail_damaged(error);
    uint8_t sum[CHECKSUM_BYTES];
    checksum(sum, record, length - CHECKSUM_BYTES);
    if (memcmp(sum, record + length - CHECKSUM_BYTES, CHECKSUM_BYTES) != 0) return fail_damaged(error);
    if (record[0] > NAMED_VERSION) return fail_newer(error);
    tacit_cursor cursor = tacit_cursor_over(record + 1, length - 1 - CHECKSUM_BYTES);
    if (record[0] < UNNAMED_VERSION || !read_fields(out, &cursor, record[0]))
        return tacit_fail(error, TACIT_INPUT, "the invitation's contents do not follow the format");
    return TACIT_OK;
}

/* libsodium 1.0.18 takes bytes above 127 for digits, so the characters are checked first. */
static bool decode(uint8_t record[RECORD_MAX], size_t *record_length, const char *digits, size_t length) {
    for (size_t i = 0; i < length; i++) {
        char c = digits[i];
        bool digit = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                     c == '_';
        if (!digit) return false;
    }
    return sodium_base642bin(record, RECORD_MAX, digits, length, NULL, record_length, NULL, VARIANT) == 0;
}

tacit_status tacit_invitation_parse(tacit_invitation *out, const char *text, size_t length,
                                    tacit_error *error) {
    if (length > TACIT_INVITATION_TEXT_MAX) return fail_foreign(error);
    char line[TACIT_INVITATION_TEXT_MAX];
    uint8_t record[RECORD_MAX];
    size_t used = 0, record_length = 0;
    for (size_t i = 0; i < length; i++)
        if (memchr(" \t\r\n\v\f", text[i], 6) == NULL) line[used++] = text[i];
    tacit_invitation parsed = { .url = "" };
    tacit_status status = check_prefix(line, used, error);
    if (status == TACIT_OK &&
        !decode(record, &record_length, line + sizeof prefix - 1, used - (sizeof prefix - 1)))
        status = fail_damaged(error);
    if (status == TACIT_OK) status = parse_record(&parsed, record, record_length, error);
    if (status == TACIT_OK) *out = parsed;
    sodium_memzero(line, sizeof line);
    sodium_memzero(record, sizeof record);
    tacit_invitation_wipe(&parsed);
    return status;
}

/* ---- names ---- */

/* Controls, and what changes how the text around it is shown: joiners, marks of direction, separators of
 * lines, tags. */
static bool is_invisible(uint32_t character) {
    static const uint32_t ranges[][2] = { { 0, 0x1f },        { 0x7f, 0x9f },     { 0xad, 0xad },
                                          { 0x61c, 0x61c },   { 0x180e, 0x180e }, { 0x200b, 0x200f },
                                          { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfe00, 0xfe0f },
                                          { 0xfeff, 0xfeff }, { 0xfff0, 0xfffb }, { 0xe0000, 0xe0fff },
                                          { 0xe000, 0xf8ff } };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (character >= ranges[i][0] && character <= ranges[i][1]) return true;
    return character == UINT32_MAX;
}

/* A space that looks like another one would make two names of one. */
static bool is_odd_space(uint32_t character) {
    return character == 0xa0 || character == 0x1680 || (character >= 0x2000 && character <= 0x200a) ||
           character == 0x202f || character == 0x205f || character == 0x3000;
}

tacit_status tacit_party_name_check(const char *name, tacit_error *error) {
    const size_t length = strnlen(name, TACIT_PARTY_NAME_SIZE);
    if (length == 0 || length > TACIT_PARTY_NAME_MOST)
        return tacit_fail(error, TACIT_USAGE, "a party's name has 1 to %d bytes of UTF-8: %s it",
                          TACIT_PARTY_NAME_MOST, length == 0 ? "write" : "shorten");
    size_t bytes;
    for (const char *at = name; *at != 0; at += bytes) {
        const uint32_t character = tacit_text_character(at, &bytes);
        if (is_invisible(character))
            return tacit_fail(error, TACIT_USAGE,
                              "byte %zu of the party's name is a control or invisible character, or not "
                              "UTF-8: use printable text",
                              (size_t)(at - name) + 1);
        if (is_odd_space(character) || (*at == ' ' && (at == name || at[1] == ' ' || at[1] == 0)))
            return tacit_fail(error, TACIT_USAGE,
                              "a party's name has no space at its ends and single plain spaces between its "
                              "words: write it so");
    }
    if (strncasecmp(name, "party-", 6) == 0 || strncasecmp(name, "center-", 7) == 0)
        return tacit_fail(error, TACIT_USAGE,
                          "a party's name cannot begin with '%.7s', as the names that the program gives do: "
                          "choose another one",
                          name);
    return TACIT_OK;
}
