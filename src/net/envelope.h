/*
 * What people carry between a coordinator and a site without a connection: one envelope, as text that mail
 * and USB sticks do not hurt. Inside is a list of letters: the requests of one side by endpoint
 * (session/carrier/endpoints.h), or what became of them.
 *
 * The text is lines of base64 between a first and a last line; white space does not matter, and what stands
 * before the first line or after the last is not read. A checksum tells a damaged file from a forged one.
 *
 * An envelope says in clear for which study and version of it, which roster and which round it is, who sent
 * it and who may open it. The letters are encrypted for the receiver: a sealed box of libsodium (X25519,
 * XSalsa20-Poly1305), whose first 32 bytes are the hash of all that stands outside, so that nobody can put
 * another's box under a name of his own. All of it is signed: by the coordinator's authority, or with the
 * site's Ed25519 key of the roster. An invitation is not encrypted, for its receiver has no key yet; it is as
 * secret as a password.
 *
 * The ephemeral key of a box is derived from the sender's secret and what is sent: writing the same envelope
 * again gives the same bytes.
 */
#pragma once

#include <sodium.h>

#include "base/buffer.h"
#include "net/identity.h"

typedef enum tacit_envelope_kind {
    TACIT_ENVELOPE_INVITATION = 1, /* coordinator to whoever is invited */
    TACIT_ENVELOPE_JOIN,           /* site to coordinator */
    TACIT_ENVELOPE_QUESTION,       /* coordinator to site */
    TACIT_ENVELOPE_ANSWER          /* site to coordinator */
} tacit_envelope_kind;

enum {
    TACIT_ENVELOPE_KEY_BYTES = 32,
    TACIT_ENVELOPE_HASH_BYTES = 32,
    TACIT_ENVELOPE_STUDY_SIZE = 64,
    TACIT_ENVELOPE_LETTERS = 8,
    TACIT_ENVELOPE_MOST = 96 * 1024 * 1024,      /* bytes of an envelope, before it is text */
    TACIT_ENVELOPE_TEXT_MOST = 132 * 1024 * 1024 /* of the file */
};

/* What stands outside. */
typedef struct tacit_envelope_address {
    tacit_envelope_kind kind;
    char study[TACIT_ENVELOPE_STUDY_SIZE];
    uint8_t version[TACIT_ENVELOPE_HASH_BYTES]; /* of the study's definition */
    uint8_t roster[TACIT_ENVELOPE_HASH_BYTES];  /* zeros: it is not fixed yet */
    uint64_t round;
    uint32_t step;                              /* of a sum; 0 where there is none */
    uint8_t party[TACIT_ENVELOPE_KEY_BYTES];    /* the site's Ed25519 key; zeros in an invitation */
    uint8_t receiver[TACIT_ENVELOPE_KEY_BYTES]; /* the X25519 key that opens it; zeros in an invitation */
} tacit_envelope_address;

typedef struct tacit_enclosure {
    uint32_t endpoint;
    tacit_buffer bytes;
} tacit_enclosure;

typedef struct tacit_envelope {
    tacit_envelope_address address;
    size_t count;
    tacit_enclosure enclosures[TACIT_ENVELOPE_LETTERS];
    /* As read, and not opened yet. */
    tacit_buffer signed_part, sealed, signature;
} tacit_envelope;

#define TACIT_ENVELOPE_INIT                                                                                  \
    { .count = 0 }

void tacit_envelope_clear(tacit_envelope *envelope); /* overwrites the letters */
tacit_status tacit_envelope_put(tacit_envelope *envelope, uint32_t endpoint, const void *bytes, size_t length,
                                tacit_error *error);
const tacit_buffer *tacit_envelope_find(const tacit_envelope *envelope, uint32_t endpoint); /* NULL: none */

/* Who sends: a coordinator by its authority, a site by its Ed25519 secret key. One of the two is NULL. */
typedef struct tacit_envelope_sender {
    const tacit_authority *authority;
    const uint8_t *secret_key; /* crypto_sign_SECRETKEYBYTES */
    const uint8_t *seed;       /* 32 secret bytes of the sender, from which ephemeral keys follow */
} tacit_envelope_sender;

/* Append the text of an envelope. TACIT_LIMIT for one that is too long. */
tacit_status tacit_envelope_write(const tacit_envelope *envelope, const tacit_envelope_sender *sender,
                                  tacit_buffer *text, tacit_error *error);

/* Read a text. TACIT_INPUT, in a sentence that tells apart: no envelope, damaged or cut, of a newer version.
 * Nothing is proved yet, and there are no letters but those of an invitation. */
tacit_status tacit_envelope_read(tacit_envelope *out, const char *text, size_t length, tacit_error *error);

/* Who must have sent it: a coordinator of these authorities, PEM; or the party whose key the address has.
 * TACIT_REFUSED when it was signed by another, or changed since. */
tacit_status tacit_envelope_check_authority(const tacit_envelope *envelope, const void *authority,
                                            size_t length, tacit_error *error);
tacit_status tacit_envelope_check_party(const tacit_envelope *envelope, tacit_error *error);

/* Open it with the receiver's X25519 pair, once it was checked. TACIT_REFUSED: it is for somebody else, or
 * the box is not this envelope's. */
tacit_status tacit_envelope_open(tacit_envelope *envelope, const uint8_t public_key[TACIT_ENVELOPE_KEY_BYTES],
                                 const uint8_t secret_key[TACIT_ENVELOPE_KEY_BYTES], tacit_error *error);

/* What an envelope must say outside; a member that is NULL is not compared. TACIT_REFUSED with a sentence
 * that says which differs. */
typedef struct tacit_envelope_expected {
    tacit_envelope_kind kind;
    const char *study;
    const uint8_t *version, *roster, *party;
    const uint64_t *round;
} tacit_envelope_expected;
tacit_status tacit_envelope_expect(const tacit_envelope *envelope, const tacit_envelope_expected *expected,
                                   tacit_error *error);

/* The X25519 pair that belongs to an Ed25519 key. TACIT_PROTOCOL for bytes that are no key. */
tacit_status tacit_envelope_box_key(uint8_t out[TACIT_ENVELOPE_KEY_BYTES],
                                    const uint8_t signing_key[crypto_sign_PUBLICKEYBYTES],
                                    tacit_error *error);
void tacit_envelope_box_secret(uint8_t out[TACIT_ENVELOPE_KEY_BYTES],
                               const uint8_t signing_secret[crypto_sign_SECRETKEYBYTES]);

/* A fingerprint to read out on the telephone: eight words of two syllables, 96 bits of the hash of these
 * bytes, such as "bako-difu-...": finding other bytes with the same words takes 2^96 trials. */
enum { TACIT_WORDS_SIZE = 8 * 5 };
void tacit_envelope_words(char out[TACIT_WORDS_SIZE], const void *bytes, size_t length);
