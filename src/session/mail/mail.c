/* Cards and sealed words, whoever carries them. */
#include "session/mail/mail.h"

#include <sodium.h>
#include <string.h>

tacit_status tacit_address_check(const char *address, tacit_error *error) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]";
    const char *colon = strrchr(address, ':');
    size_t length = strlen(address), digits = colon != NULL ? strlen(colon + 1) : 0;
    bool fit = length < TACIT_ADDRESS_SIZE && strspn(address, allowed) == length && colon != NULL &&
               colon > address && digits > 0 && digits <= 5 && strspn(colon + 1, "0123456789") == digits;
    if (fit) return TACIT_OK;
    return tacit_fail(
        error, TACIT_USAGE,
        "'%.60s' is no address to listen at: write HOST:PORT, e.g. 192.0.2.7:7443 or [2001:db8::7]:7443",
        address);
}

/* What is signed: all of the card, and whose it is in which study. */
static void card_digest(uint8_t out[TACIT_DIGEST_BYTES], const tacit_card *card,
                        const tacit_mail_terms *terms, uint32_t place) {
    tacit_digest digest;
    tacit_digest_begin(&digest, "tacit card", NULL);
    tacit_digest_bytes(&digest, terms->study, sizeof terms->study);
    tacit_digest_bytes(&digest, terms->roster, sizeof terms->roster);
    tacit_digest_u64(&digest, place);
    tacit_digest_bytes(&digest, card->key, sizeof card->key);
    tacit_digest_text(&digest, card->name);
    tacit_digest_text(&digest, card->address);
    tacit_digest_end(&digest, out);
}

tacit_status tacit_card_write(tacit_buffer *out, const tacit_card *card, const tacit_mail_terms *terms,
                              uint32_t place, const uint8_t secret_key[crypto_sign_SECRETKEYBYTES],
                              tacit_error *error) {
    uint8_t digest[TACIT_DIGEST_BYTES], signature[crypto_sign_BYTES];
    const char *const texts[] = { card->name, card->address };
    card_digest(digest, card, terms, place);
    crypto_sign_detached(signature, NULL, digest, sizeof digest, secret_key);
    TACIT_TRY(tacit_buffer_append(out, card->key, sizeof card->key, error));
    TACIT_TRY(tacit_buffer_append(out, signature, sizeof signature, error));
    for (size_t i = 0; i < 2; i++) {
        TACIT_TRY(tacit_buffer_append_u32(out, (uint32_t)strlen(texts[i]), error));
        TACIT_TRY(tacit_buffer_append(out, texts[i], strlen(texts[i]), error));
    }
    return TACIT_OK;
}

/* A name becomes part of a host's name and of a file's. */
static bool is_plain_name(const char *name) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    return name[0] != 0 && strspn(name, allowed) == strlen(name);
}

/* A text of at most `size` - 1 bytes, without a NUL in it. */
static bool read_text(tacit_cursor *cursor, char *out, size_t size) {
    uint32_t length;
    const uint8_t *bytes;
    if (!tacit_cursor_read_u32(cursor, &length) || length >= size ||
        !tacit_cursor_skip(cursor, &bytes, length) || memchr(bytes, 0, length) != NULL)
        return false;
    memcpy(out, bytes, length);
    out[length] = 0;
    return true;
}

tacit_status tacit_card_read(tacit_card *out, const uint8_t *bytes, size_t length,
                             const tacit_mail_terms *terms, uint32_t place,
                             const uint8_t signing_key[TACIT_SIGNING_KEY_BYTES], tacit_error *error) {
    tacit_cursor cursor = tacit_cursor_over(bytes, length);
    uint8_t digest[TACIT_DIGEST_BYTES], signature[crypto_sign_BYTES];
    tacit_card card;
    memset(&card, 0, sizeof card);
    bool whole = tacit_cursor_read(&cursor, card.key, sizeof card.key) &&
                 tacit_cursor_read(&cursor, signature, sizeof signature) &&
                 read_text(&cursor, card.name, sizeof card.name) &&
                 read_text(&cursor, card.address, sizeof card.address) && cursor.left == 0 &&
                 is_plain_name(card.name) &&
                 (card.address[0] == 0 || tacit_address_check(card.address, NULL) == TACIT_OK);
    if (!whole)
        return tacit_fail(error, TACIT_PROTOCOL, "the card of party %lu is damaged",
                          (unsigned long)place + 1);
    card_digest(digest, &card, terms, place);
    if (crypto_sign_verify_detached(signature, digest, sizeof digest, signing_key) != 0)
        return tacit_fail(error, TACIT_REFUSED,
                          "the key shown as that of party %lu is not signed by it for this study: somebody "
                          "has put another in its place",
                          (unsigned long)place + 1);
    *out = card;
    return TACIT_OK;
}

/* ---- words ---- */

/* A box begins with a salt of its own, so that its key seals one text only whatever happens to the sender's
 * files. */
enum { SALT_BYTES = 16, BOX_SPARE = SALT_BYTES + TACIT_SEAL_BYTES };

/* The seal's context says study, roster, round and salt; its route says who and to whom. */
static void word_context(uint8_t out[TACIT_DIGEST_BYTES], const tacit_word_route *route,
                         const uint8_t salt[SALT_BYTES]) {
    tacit_digest digest;
    tacit_digest_begin(&digest, "tacit word", NULL);
    tacit_digest_bytes(&digest, route->terms->study, sizeof route->terms->study);
    tacit_digest_bytes(&digest, route->terms->roster, sizeof route->terms->roster);
    tacit_digest_u64(&digest, route->round);
    tacit_digest_bytes(&digest, salt, SALT_BYTES);
    tacit_digest_end(&digest, out);
}

tacit_status tacit_word_seal(tacit_buffer *out, const tacit_buffer *text, const tacit_word_route *route,
                             const tacit_key_pair *own, const uint8_t peer[TACIT_KEY_BYTES],
                             tacit_error *error) {
    uint8_t context[TACIT_DIGEST_BYTES], seed[TACIT_KEY_BYTES], *at;
    const tacit_seal_route seal = { context, route->from, route->to };
    TACIT_TRY(tacit_buffer_reserve(out, text->length + BOX_SPARE, &at, error));
    randombytes_buf(at, SALT_BYTES);
    word_context(context, route, at);
    TACIT_TRY(tacit_agree(seed, own, peer, context, "tacit words", error));
    tacit_seal(at + SALT_BYTES, text->bytes, text->length, seed, &seal);
    out->length += text->length + BOX_SPARE;
    sodium_memzero(seed, sizeof seed);
    return TACIT_OK;
}

static tacit_status open_box(tacit_buffer *out, const tacit_buffer *sealed, const tacit_word_route *route,
                             const tacit_key_pair *own, const uint8_t peer[TACIT_KEY_BYTES],
                             tacit_error *error) {
    uint8_t context[TACIT_DIGEST_BYTES], seed[TACIT_KEY_BYTES], *at;
    const tacit_seal_route seal = { context, route->from, route->to };
    if (sealed->length < BOX_SPARE) return TACIT_PROTOCOL;
    const size_t length = sealed->length - BOX_SPARE;
    TACIT_TRY(tacit_buffer_reserve(out, length, &at, error));
    word_context(context, route, sealed->bytes);
    TACIT_TRY(tacit_agree(seed, own, peer, context, "tacit words", NULL));
    tacit_status status = tacit_seal_open(at, length, sealed->bytes + SALT_BYTES, seed, &seal, NULL);
    if (status == TACIT_OK) out->length += length;
    sodium_memzero(seed, sizeof seed);
    return status;
}

tacit_status tacit_word_open(tacit_buffer *out, const tacit_buffer *sealed, const tacit_word_route *route,
                             const tacit_key_pair *own, const uint8_t peer[TACIT_KEY_BYTES],
                             tacit_error *error) {
    tacit_status status = open_box(out, sealed, route, own, peer, error);
    if (status != TACIT_PROTOCOL) return status;
    return tacit_fail(error, TACIT_REFUSED,
                      "what party %lu said in round %llu does not open: it was changed on the way, is for "
                      "somebody else, or the parties were shown different rosters",
                      (unsigned long)route->from + 1, (unsigned long long)route->round + 1);
}
