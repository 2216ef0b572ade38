#include "net/envelope.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/*
 * Before base64:
 *   outside: u8 version | u8 kind | u32 length, study | 32 version | 32 roster | u64 round | u32 step |
 *            32 party | 32 receiver
 *   u64 length, box | u32 length, signature | 8 bytes checksum of all before
 * In the box: 32 bytes hash of the outside, then u32 count, and of each letter u32 endpoint, u64 length,
 * bytes.
 * Signed: the outside and the hash of the box.
 */
#define PURPOSE "tacit envelope 1"
static const char first_line[] = "-----BEGIN TACIT ENVELOPE-----";
static const char last_line[] = "-----END TACIT ENVELOPE-----";

enum { FORMAT = 1, CHECKSUM_BYTES = 8, LINE = 64, VARIANT = sodium_base64_VARIANT_ORIGINAL };

_Static_assert(TACIT_ENVELOPE_KEY_BYTES == crypto_box_PUBLICKEYBYTES &&
                   TACIT_ENVELOPE_KEY_BYTES == crypto_sign_PUBLICKEYBYTES,
               "keys have one size");

static void wipe(tacit_buffer *buffer) {
    if (buffer->bytes != NULL) sodium_memzero(buffer->bytes, buffer->capacity);
    tacit_buffer_clear(buffer);
}

void tacit_envelope_clear(tacit_envelope *envelope) {
    for (size_t i = 0; i < envelope->count; i++) wipe(&envelope->enclosures[i].bytes);
    tacit_buffer_clear(&envelope->signed_part);
    tacit_buffer_clear(&envelope->sealed);
    tacit_buffer_clear(&envelope->signature);
    *envelope = (tacit_envelope)TACIT_ENVELOPE_INIT;
}

tacit_status tacit_envelope_put(tacit_envelope *envelope, uint32_t endpoint, const void *bytes, size_t length,
                                tacit_error *error) {
    if (envelope->count == TACIT_ENVELOPE_LETTERS)
        return tacit_fail(error, TACIT_LIMIT, "an envelope holds at most %d letters", TACIT_ENVELOPE_LETTERS);
    tacit_enclosure *letter = &envelope->enclosures[envelope->count];
    *letter = (tacit_enclosure){ endpoint, TACIT_BUFFER_LIMITED(TACIT_ENVELOPE_MOST) };
    TACIT_TRY(tacit_buffer_append(&letter->bytes, bytes, length, error));
    envelope->count++;
    return TACIT_OK;
}

const tacit_buffer *tacit_envelope_find(const tacit_envelope *envelope, uint32_t endpoint) {
    for (size_t i = 0; i < envelope->count; i++)
        if (envelope->enclosures[i].endpoint == endpoint) return &envelope->enclosures[i].bytes;
    return NULL;
}

static void hash(uint8_t out[TACIT_ENVELOPE_HASH_BYTES], const char *label, const void *bytes,
                 size_t length) {
    crypto_generichash(out, TACIT_ENVELOPE_HASH_BYTES, bytes, length, (const uint8_t *)label, strlen(label));
}

/* ---- writing ---- */

static tacit_status write_outside(tacit_buffer *out, const tacit_envelope_address *address,
                                  tacit_error *error) {
    const uint8_t head[2] = { FORMAT, (uint8_t)address->kind };
    const size_t length = strnlen(address->study, sizeof address->study);
    if (length == 0 || length == sizeof address->study)
        return tacit_fail(error, TACIT_USAGE, "an envelope belongs to a study");
    TACIT_TRY(tacit_buffer_append(out, head, sizeof head, error));
    TACIT_TRY(tacit_buffer_append_u32(out, (uint32_t)length, error));
    TACIT_TRY(tacit_buffer_append(out, address->study, length, error));
    TACIT_TRY(tacit_buffer_append(out, address->version, sizeof address->version, error));
    TACIT_TRY(tacit_buffer_append(out, address->roster, sizeof address->roster, error));
    TACIT_TRY(tacit_buffer_append_u64(out, address->round, error));
    TACIT_TRY(tacit_buffer_append_u32(out, address->step, error));
    TACIT_TRY(tacit_buffer_append(out, address->party, sizeof address->party, error));
    return tacit_buffer_append(out, address->receiver, sizeof address->receiver, error);
}

static tacit_status write_letters(tacit_buffer *out, const tacit_envelope *envelope,
                                  const tacit_buffer *outside, tacit_error *error) {
    uint8_t about[TACIT_ENVELOPE_HASH_BYTES];
    hash(about, "tacit envelope outside", outside->bytes, outside->length);
    TACIT_TRY(tacit_buffer_append(out, about, sizeof about, error));
    TACIT_TRY(tacit_buffer_append_u32(out, (uint32_t)envelope->count, error));
    for (size_t i = 0; i < envelope->count; i++) {
        const tacit_enclosure *letter = &envelope->enclosures[i];
        TACIT_TRY(tacit_buffer_append_u32(out, letter->endpoint, error));
        TACIT_TRY(tacit_buffer_append_u64(out, letter->bytes.length, error));
        TACIT_TRY(tacit_buffer_append(out, letter->bytes.bytes, letter->bytes.length, error));
    }
    return TACIT_OK;
}

/* As crypto_box_seal, with an ephemeral key that follows from what is sent and the sender's seed. */
static tacit_status seal(tacit_buffer *out, const tacit_buffer *text, const uint8_t *receiver,
                         const uint8_t *seed, tacit_error *error) {
    uint8_t secret[crypto_box_SECRETKEYBYTES], nonce[crypto_box_NONCEBYTES], *at;
    crypto_generichash_state state;
    TACIT_TRY(tacit_buffer_reserve(out, text->length + crypto_box_SEALBYTES, &at, error));
    crypto_generichash_init(&state, seed, TACIT_ENVELOPE_KEY_BYTES, sizeof secret);
    crypto_generichash_update(&state, (const uint8_t *)PURPOSE, sizeof PURPOSE);
    crypto_generichash_update(&state, receiver, TACIT_ENVELOPE_KEY_BYTES);
    crypto_generichash_update(&state, text->bytes, text->length);
    crypto_generichash_final(&state, secret, sizeof secret);
    crypto_scalarmult_base(at, secret);
    crypto_generichash_init(&state, NULL, 0, sizeof nonce);
    crypto_generichash_update(&state, at, crypto_box_PUBLICKEYBYTES);
    crypto_generichash_update(&state, receiver, crypto_box_PUBLICKEYBYTES);
    crypto_generichash_final(&state, nonce, sizeof nonce);
    int failed =
        crypto_box_easy(at + crypto_box_PUBLICKEYBYTES, text->bytes, text->length, nonce, receiver, secret);
    sodium_memzero(secret, sizeof secret);
    sodium_memzero(&state, sizeof state);
    if (failed != 0) return tacit_fail(error, TACIT_PROTOCOL, "the receiver's key is none");
    out->length += text->length + crypto_box_SEALBYTES;
    return TACIT_OK;
}

/* The outside, and the hash of the box. */
static tacit_status write_signed(tacit_buffer *out, const tacit_buffer *outside, const tacit_buffer *box,
                                 tacit_error *error) {
    uint8_t of_box[TACIT_ENVELOPE_HASH_BYTES];
    hash(of_box, "tacit envelope box", box->bytes, box->length);
    TACIT_TRY(tacit_buffer_append(out, outside->bytes, outside->length, error));
    return tacit_buffer_append(out, of_box, sizeof of_box, error);
}

static void party_digest(uint8_t out[TACIT_ENVELOPE_HASH_BYTES], const tacit_buffer *signed_part) {
    hash(out, PURPOSE, signed_part->bytes, signed_part->length);
}

static tacit_status sign(tacit_buffer *out, const tacit_envelope_sender *sender,
                         const tacit_buffer *signed_part, tacit_error *error) {
    uint8_t digest[TACIT_ENVELOPE_HASH_BYTES], signature[crypto_sign_BYTES];
    if (sender->authority != NULL)
        return tacit_authority_sign(out, sender->authority, PURPOSE, signed_part->bytes, signed_part->length,
                                    error);
    party_digest(digest, signed_part);
    crypto_sign_detached(signature, NULL, digest, sizeof digest, sender->secret_key);
    return tacit_buffer_append(out, signature, sizeof signature, error);
}

static void checksum(uint8_t out[CHECKSUM_BYTES], const void *bytes, size_t length) {
    uint8_t whole[TACIT_ENVELOPE_HASH_BYTES];
    hash(whole, "tacit envelope checksum", bytes, length);
    memcpy(out, whole, CHECKSUM_BYTES);
}

static tacit_status armour(tacit_buffer *text, const tacit_buffer *record, tacit_error *error) {
    const size_t size = sodium_base64_encoded_len(record->length, VARIANT);
    char *encoded = malloc(size);
    tacit_status status;
    if (encoded == NULL) return tacit_fail_memory(error);
    sodium_bin2base64(encoded, size, record->bytes, record->length, VARIANT);
    TACIT_CHECK(tacit_buffer_print(text, error, "%s\n", first_line));
    for (size_t at = 0; at < size - 1; at += LINE) {
        const size_t left = size - 1 - at;
        TACIT_CHECK(tacit_buffer_append(text, encoded + at, left < LINE ? left : LINE, error));
        TACIT_CHECK(tacit_buffer_append(text, "\n", 1, error));
    }
    TACIT_CHECK(tacit_buffer_print(text, error, "%s\n", last_line));
cleanup:
    sodium_memzero(encoded, size);
    free(encoded);
    return status;
}

tacit_status tacit_envelope_write(const tacit_envelope *envelope, const tacit_envelope_sender *sender,
                                  tacit_buffer *text, tacit_error *error) {
    tacit_buffer outside = TACIT_BUFFER_INIT, letters = TACIT_BUFFER_LIMITED(TACIT_ENVELOPE_MOST),
                 box = TACIT_BUFFER_INIT, signed_part = TACIT_BUFFER_INIT, signature = TACIT_BUFFER_INIT,
                 record = TACIT_BUFFER_INIT;
    uint8_t sum[CHECKSUM_BYTES];
    tacit_status status;
    TACIT_CHECK(write_outside(&outside, &envelope->address, error));
    TACIT_CHECK(write_letters(&letters, envelope, &outside, error));
    if (envelope->address.kind == TACIT_ENVELOPE_INVITATION)
        TACIT_CHECK(tacit_buffer_append(&box, letters.bytes, letters.length, error));
    else
        TACIT_CHECK(seal(&box, &letters, envelope->address.receiver, sender->seed, error));
    TACIT_CHECK(write_signed(&signed_part, &outside, &box, error));
    TACIT_CHECK(sign(&signature, sender, &signed_part, error));
    TACIT_CHECK(tacit_buffer_append(&record, outside.bytes, outside.length, error));
    TACIT_CHECK(tacit_buffer_append_u64(&record, box.length, error));
    TACIT_CHECK(tacit_buffer_append(&record, box.bytes, box.length, error));
    TACIT_CHECK(tacit_buffer_append_u32(&record, (uint32_t)signature.length, error));
    TACIT_CHECK(tacit_buffer_append(&record, signature.bytes, signature.length, error));
    checksum(sum, record.bytes, record.length);
    TACIT_CHECK(tacit_buffer_append(&record, sum, sizeof sum, error));
    TACIT_CHECK(armour(text, &record, error));
cleanup:
    tacit_buffer_clear(&outside);
    wipe(&letters);
    wipe(&box);
    tacit_buffer_clear(&signed_part);
    tacit_buffer_clear(&signature);
    wipe(&record);
    return status;
}

/* ---- reading ---- */

static const char *find(const char *text, size_t length, const char *line) {
    const size_t size = strlen(line);
    for (const char *at = text; length >= size; at++, length--)
        if (memcmp(at, line, size) == 0) return at;
    return NULL;
}

static tacit_status disarm(tacit_buffer *record, const char *text, size_t length, tacit_error *error) {
    uint8_t *at;
    size_t read = 0;
    const char *end = NULL;
    if (length > TACIT_ENVELOPE_TEXT_MOST)
        return tacit_fail(error, TACIT_INPUT, "the file is longer than an envelope can be");
    const char *begin = find(text, length, first_line);
    if (begin == NULL)
        return tacit_fail(error, TACIT_INPUT, "this is no envelope: it has no line %s", first_line);
    begin += sizeof first_line - 1;
    end = find(begin, length - (size_t)(begin - text), last_line);
    if (end == NULL)
        return tacit_fail(error, TACIT_INPUT,
                          "the envelope is cut: its last line is missing; have the file copied again");
    const size_t inside = (size_t)(end - begin);
    TACIT_TRY(tacit_buffer_reserve(record, inside / 4 * 3 + 4, &at, error));
    if (sodium_base642bin(at, inside / 4 * 3 + 4, begin, inside, " \t\r\n", &read, NULL, VARIANT) != 0 ||
        read < CHECKSUM_BYTES)
        return tacit_fail(error, TACIT_INPUT, "the envelope is damaged: have the file copied again");
    record->length = read;
    return TACIT_OK;
}

static bool name_is_fit(const uint8_t *name, size_t length) {
    if (length == 0 || length >= TACIT_ENVELOPE_STUDY_SIZE) return false;
    for (size_t i = 0; i < length; i++)
        if ((name[i] < 'a' || name[i] > 'z') && (name[i] < '0' || name[i] > '9') && name[i] != '-')
            return false;
    return true;
}

static bool read_outside(tacit_cursor *cursor, tacit_envelope_address *out) {
    uint8_t head[2];
    uint32_t length;
    const uint8_t *study;
    if (!tacit_cursor_read(cursor, head, sizeof head) || head[1] < TACIT_ENVELOPE_INVITATION ||
        head[1] > TACIT_ENVELOPE_ANSWER || !tacit_cursor_read_u32(cursor, &length) ||
        !tacit_cursor_skip(cursor, &study, length) || !name_is_fit(study, length))
        return false;
    *out = (tacit_envelope_address){ .kind = (tacit_envelope_kind)head[1] };
    memcpy(out->study, study, length);
    return tacit_cursor_read(cursor, out->version, sizeof out->version) &&
           tacit_cursor_read(cursor, out->roster, sizeof out->roster) &&
           tacit_cursor_read_u64(cursor, &out->round) && tacit_cursor_read_u32(cursor, &out->step) &&
           tacit_cursor_read(cursor, out->party, sizeof out->party) &&
           tacit_cursor_read(cursor, out->receiver, sizeof out->receiver);
}

static tacit_status damaged(tacit_error *error) {
    return tacit_fail(error, TACIT_INPUT, "the envelope is damaged: have the file copied again");
}

/* The letters, once their bytes are in clear; they must belong to this outside. */
static tacit_status read_letters(tacit_envelope *envelope, const uint8_t *bytes, size_t length,
                                 tacit_error *error) {
    const size_t outside = envelope->signed_part.length - TACIT_ENVELOPE_HASH_BYTES;
    uint8_t about[TACIT_ENVELOPE_HASH_BYTES], expected[TACIT_ENVELOPE_HASH_BYTES];
    tacit_cursor cursor = tacit_cursor_over(bytes, length);
    uint32_t count;
    hash(expected, "tacit envelope outside", envelope->signed_part.bytes, outside);
    if (!tacit_cursor_read(&cursor, about, sizeof about) || sodium_memcmp(about, expected, sizeof about) != 0)
        return tacit_fail(error, TACIT_REFUSED,
                          "what is in the envelope was sealed for another one: somebody has swapped it");
    if (!tacit_cursor_read_u32(&cursor, &count) || count > TACIT_ENVELOPE_LETTERS) return damaged(error);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t endpoint;
        uint64_t size;
        const uint8_t *letter;
        if (!tacit_cursor_read_u32(&cursor, &endpoint) || !tacit_cursor_read_u64(&cursor, &size) ||
            size > cursor.left || !tacit_cursor_skip(&cursor, &letter, (size_t)size))
            return damaged(error);
        TACIT_TRY(tacit_envelope_put(envelope, endpoint, letter, (size_t)size, error));
    }
    return cursor.left == 0 ? TACIT_OK : damaged(error);
}

static tacit_status read_record(tacit_envelope *out, const tacit_buffer *record, tacit_error *error) {
    const size_t whole = record->length - CHECKSUM_BYTES;
    tacit_cursor cursor = tacit_cursor_over(record->bytes, whole);
    uint8_t sum[CHECKSUM_BYTES];
    uint64_t box_length;
    uint32_t signature_length;
    const uint8_t *box, *signature;
    checksum(sum, record->bytes, whole);
    if (memcmp(sum, record->bytes + whole, sizeof sum) != 0) return damaged(error);
    if (whole > 0 && record->bytes[0] != FORMAT)
        return tacit_fail(error, TACIT_INPUT,
                          "the envelope is of format %u, and this program reads %d: update it",
                          record->bytes[0], FORMAT);
    if (!read_outside(&cursor, &out->address)) return damaged(error);
    const size_t outside = whole - cursor.left;
    if (!tacit_cursor_read_u64(&cursor, &box_length) || box_length > cursor.left ||
        !tacit_cursor_skip(&cursor, &box, (size_t)box_length) ||
        !tacit_cursor_read_u32(&cursor, &signature_length) || signature_length > TACIT_SIGNATURE_BYTES_MAX ||
        !tacit_cursor_skip(&cursor, &signature, signature_length) || cursor.left != 0)
        return damaged(error);
    const tacit_buffer head = { .bytes = record->bytes, .length = outside };
    TACIT_TRY(tacit_buffer_append(&out->sealed, box, (size_t)box_length, error));
    TACIT_TRY(write_signed(&out->signed_part, &head, &out->sealed, error));
    TACIT_TRY(tacit_buffer_append(&out->signature, signature, signature_length, error));
    return out->address.kind == TACIT_ENVELOPE_INVITATION
               ? read_letters(out, out->sealed.bytes, out->sealed.length, error)
               : TACIT_OK;
}

tacit_status tacit_envelope_read(tacit_envelope *out, const char *text, size_t length, tacit_error *error) {
    tacit_buffer record = TACIT_BUFFER_INIT;
    *out = (tacit_envelope)TACIT_ENVELOPE_INIT;
    tacit_status status = disarm(&record, text, length, error);
    if (status == TACIT_OK) status = read_record(out, &record, error);
    if (status != TACIT_OK) tacit_envelope_clear(out);
    wipe(&record);
    return status;
}

/* ---- who sent it, to whom ---- */

tacit_status tacit_envelope_check_authority(const tacit_envelope *envelope, const void *authority,
                                            size_t length, tacit_error *error) {
    tacit_error why = TACIT_ERROR_INIT;
    if (envelope->address.kind != TACIT_ENVELOPE_INVITATION &&
        envelope->address.kind != TACIT_ENVELOPE_QUESTION)
        return tacit_fail(error, TACIT_REFUSED,
                          "this envelope was written by a site for its coordinator, not by a coordinator");
    tacit_status status = tacit_authority_check(authority, length, PURPOSE, envelope->signed_part.bytes,
                                                envelope->signed_part.length, envelope->signature.bytes,
                                                envelope->signature.length, &why);
    if (status == TACIT_OK) return TACIT_OK;
    return tacit_fail(error, status == TACIT_NO_MEMORY ? status : TACIT_REFUSED,
                      "the envelope was not signed by the coordinator of this study, or was changed since: "
                      "ask for a new one");
}

tacit_status tacit_envelope_check_party(const tacit_envelope *envelope, tacit_error *error) {
    uint8_t digest[TACIT_ENVELOPE_HASH_BYTES];
    if (envelope->address.kind != TACIT_ENVELOPE_JOIN && envelope->address.kind != TACIT_ENVELOPE_ANSWER)
        return tacit_fail(error, TACIT_REFUSED,
                          "this envelope was written by a coordinator for a site, not by a site");
    party_digest(digest, &envelope->signed_part);
    if (envelope->signature.length == crypto_sign_BYTES &&
        crypto_sign_verify_detached(envelope->signature.bytes, digest, sizeof digest,
                                    envelope->address.party) == 0)
        return TACIT_OK;
    return tacit_fail(
        error, TACIT_REFUSED,
        "the envelope was not signed by the site that it says it is from, or was changed since");
}

tacit_status tacit_envelope_open(tacit_envelope *envelope, const uint8_t public_key[TACIT_ENVELOPE_KEY_BYTES],
                                 const uint8_t secret_key[TACIT_ENVELOPE_KEY_BYTES], tacit_error *error) {
    const tacit_buffer *box = &envelope->sealed;
    tacit_buffer letters = TACIT_BUFFER_INIT;
    uint8_t *at;
    tacit_status status;
    if (envelope->address.kind == TACIT_ENVELOPE_INVITATION) return TACIT_OK;
    if (memcmp(envelope->address.receiver, public_key, TACIT_ENVELOPE_KEY_BYTES) != 0)
        return tacit_fail(error, TACIT_REFUSED, "the envelope is addressed to somebody else");
    if (box->length < crypto_box_SEALBYTES) return damaged(error);
    TACIT_CHECK(tacit_buffer_reserve(&letters, box->length - crypto_box_SEALBYTES + 1, &at, error));
    if (crypto_box_seal_open(at, box->bytes, box->length, public_key, secret_key) != 0)
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED, "the envelope was sealed for somebody else"));
    letters.length = box->length - crypto_box_SEALBYTES;
    TACIT_CHECK(read_letters(envelope, letters.bytes, letters.length, error));
cleanup:
    wipe(&letters);
    return status;
}

tacit_status tacit_envelope_expect(const tacit_envelope *envelope, const tacit_envelope_expected *expected,
                                   tacit_error *error) {
    static const char *const names[] = { "", "an invitation", "a site's joining", "a question", "an answer" };
    const tacit_envelope_address *address = &envelope->address;
    if (address->kind != expected->kind)
        return tacit_fail(error, TACIT_REFUSED, "the envelope holds %s where %s belongs",
                          names[address->kind], names[expected->kind]);
    if (expected->study != NULL && strcmp(address->study, expected->study) != 0)
        return tacit_fail(error, TACIT_REFUSED, "the envelope belongs to study '%s', not to '%s'",
                          address->study, expected->study);
    if (expected->party != NULL && memcmp(address->party, expected->party, sizeof address->party) != 0)
        return tacit_fail(error, TACIT_REFUSED, "the envelope is of another site");
    if (expected->version != NULL &&
        memcmp(address->version, expected->version, sizeof address->version) != 0)
        return tacit_fail(error, TACIT_REFUSED,
                          "the envelope belongs to another version of study '%s': it was amended in between",
                          address->study);
    if (expected->roster != NULL && memcmp(address->roster, expected->roster, sizeof address->roster) != 0)
        return tacit_fail(error, TACIT_REFUSED,
                          "the envelope belongs to another roster of parties of study '%s'", address->study);
    if (expected->round != NULL && address->round != *expected->round)
        return tacit_fail(error, TACIT_REFUSED, "the envelope belongs to round %llu, and round %llu is open",
                          (unsigned long long)address->round + 1, (unsigned long long)*expected->round + 1);
    return TACIT_OK;
}

/* ---- keys and words ---- */

tacit_status tacit_envelope_box_key(uint8_t out[TACIT_ENVELOPE_KEY_BYTES],
                                    const uint8_t signing_key[crypto_sign_PUBLICKEYBYTES],
                                    tacit_error *error) {
    if (crypto_sign_ed25519_pk_to_curve25519(out, signing_key) == 0) return TACIT_OK;
    return tacit_fail(error, TACIT_PROTOCOL, "the site's key is none");
}

void tacit_envelope_box_secret(uint8_t out[TACIT_ENVELOPE_KEY_BYTES],
                               const uint8_t signing_secret[crypto_sign_SECRETKEYBYTES]) {
    crypto_sign_ed25519_sk_to_curve25519(out, signing_secret);
}

/* Four letters a word, consonant and vowel by turns: 16 consonants and 4 vowels are 6 bits a syllable. */
void tacit_envelope_words(char out[TACIT_WORDS_SIZE], const void *bytes, size_t length) {
    static const char consonants[] = "bdfghjklmnprstvz", vowels[] = "aiou";
    uint8_t digest[TACIT_ENVELOPE_HASH_BYTES];
    size_t used = 0;
    hash(digest, "tacit fingerprint words", bytes, length);
    for (size_t i = 0; i < 16; i++) {
        const size_t bit = i * 6;
        const unsigned pair = digest[bit / 8] | (unsigned)digest[bit / 8 + 1] << 8;
        const unsigned six = pair >> bit % 8 & 63;
        if (i > 0 && i % 2 == 0) out[used++] = '-';
        out[used++] = consonants[six & 15];
        out[used++] = vowels[six >> 4];
    }
    out[used] = 0;
}
