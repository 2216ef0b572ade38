/* A card and a sealed word as a party receives them: only what the neighbour signed or sealed is accepted,
 * and an accepted card says the same when written again. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "session/mail/mail.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { PLACE = 3 };

static void check_card(const uint8_t *bytes, size_t length) {
    static const uint8_t seed[crypto_sign_SEEDBYTES] = { 7 };
    uint8_t public_key[crypto_sign_PUBLICKEYBYTES], secret_key[crypto_sign_SECRETKEYBYTES];
    tacit_mail_terms terms;
    tacit_card card;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_buffer again = TACIT_BUFFER_INIT;
    memset(&terms, 0, sizeof terms);
    crypto_sign_seed_keypair(public_key, secret_key, seed);
    if (tacit_card_read(&card, bytes, length, &terms, PLACE, public_key, &error) != TACIT_OK) {
        if (error.text[0] == 0) abort();
        return;
    }
    if (memchr(card.name, 0, sizeof card.name) == NULL || strchr(card.name, '/') != NULL) abort();
    if (memchr(card.address, 0, sizeof card.address) == NULL) abort();
    if (tacit_card_write(&again, &card, &terms, PLACE, secret_key, NULL) != TACIT_OK) abort();
    if (again.length != length || memcmp(again.bytes, bytes, length) != 0) abort();
    tacit_buffer_clear(&again);
}

/* Nobody sealed these bytes: they may not open. */
static void check_word(const uint8_t *bytes, size_t length) {
    static const uint8_t own_secret[TACIT_KEY_BYTES] = { 1 }, peer_secret[TACIT_KEY_BYTES] = { 2 };
    tacit_key_pair own, peer;
    tacit_mail_terms terms;
    tacit_buffer sealed = TACIT_BUFFER_INIT, text = TACIT_BUFFER_INIT;
    tacit_word_route route = { &terms, 1, PLACE, PLACE + 1 };
    memset(&terms, 0, sizeof terms);
    tacit_key_pair_from(&own, own_secret);
    tacit_key_pair_from(&peer, peer_secret);
    if (tacit_buffer_append(&sealed, bytes, length, NULL) != TACIT_OK) return;
    if (tacit_word_open(&text, &sealed, &route, &own, peer.shown, NULL) != TACIT_REFUSED || text.length != 0)
        abort();
    tacit_buffer_clear(&sealed);
    tacit_buffer_clear(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    if (sodium_init() < 0) abort();
    check_card(bytes, length);
    check_word(bytes, length);
    return 0;
}
