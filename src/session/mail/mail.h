/*
 * Words between neighbours of a deployed study (docs/decisions/006-neighbours.md). Parties only dial out, so
 * that a word travels through the coordinator's board, or by a direct link to a party that listens; either
 * way it is sealed for one neighbour.
 *
 *  - Who is who: the roster of signing keys that masked sums use (masked.h); a party is its place in it.
 *  - A card is what a party shows its neighbours once: an X25519 key for this study, the name in its
 *    certificate and, if it listens, its address; signed with the roster's key over study hash, roster and
 *    place.
 *  - A word is sealed under a key that the two agree on for this round, this direction and this box. A party
 *    says one word a round, and rounds only go up.
 *  - Who hears whom, with which weight, and of which round a word must be: each party works that out from the
 *    definition it consented to (plan->method->schedule). The coordinator cannot name a hearer, leave one
 *    out, or pass an old word off as new.
 */
#pragma once

#include "crypto/sum/agreement.h"
#include "session/masked/masked.h"

/* What a party keeps its X25519 key as, in the store of its masks. */
#define TACIT_MAIL_KEY_NAME "mail.key"

/* The field of an answer that holds a card. */
#define TACIT_CARD_FIELD "card"

enum { TACIT_ADDRESS_SIZE = 128, TACIT_CARD_MOST = 512 };

typedef struct tacit_card {
    uint8_t key[TACIT_KEY_BYTES];
    char name[TACIT_ID_SIZE];         /* in its certificate */
    char address[TACIT_ADDRESS_SIZE]; /* host:port of its direct links; "": it listens to nobody */
} tacit_card;

/* What all cards and words of a study are bound to. */
typedef struct tacit_mail_terms {
    uint8_t study[TACIT_HASH_BYTES]; /* of the definition */
    uint8_t roster[TACIT_DIGEST_BYTES];
} tacit_mail_terms;

/* TACIT_USAGE for an address that is not HOST:PORT. */
tacit_status tacit_address_check(const char *address, tacit_error *error);

/* Append the card of the party at `place`, signed. */
tacit_status tacit_card_write(tacit_buffer *out, const tacit_card *card, const tacit_mail_terms *terms,
                              uint32_t place, const uint8_t secret_key[crypto_sign_SECRETKEYBYTES],
                              tacit_error *error);

/* Read a card that came from anywhere. TACIT_PROTOCOL when it is malformed, TACIT_REFUSED unless the party at
 * `place` has signed it for this study and roster. */
tacit_status tacit_card_read(tacit_card *out, const uint8_t *bytes, size_t length,
                             const tacit_mail_terms *terms, uint32_t place,
                             const uint8_t signing_key[TACIT_SIGNING_KEY_BYTES], tacit_error *error);

/* From whom to whom in which round. */
typedef struct tacit_word_route {
    const tacit_mail_terms *terms;
    uint64_t round;
    uint32_t from, to; /* places */
} tacit_word_route;

/* Append `text`, sealed by one end of the route for the other, whose key is `peer`. */
tacit_status tacit_word_seal(tacit_buffer *out, const tacit_buffer *text, const tacit_word_route *route,
                             const tacit_key_pair *own, const uint8_t peer[TACIT_KEY_BYTES],
                             tacit_error *error);

/* Append what was sealed. TACIT_REFUSED unless every bit is as the sender sealed it, for this route. */
tacit_status tacit_word_open(tacit_buffer *out, const tacit_buffer *sealed, const tacit_word_route *route,
                             const tacit_key_pair *own, const uint8_t peer[TACIT_KEY_BYTES],
                             tacit_error *error);

/* ---- a party's side ---- */

/* Where words wait that came by a direct link. */
typedef struct tacit_mail_inbox {
    tacit_status (*read)(void *context, uint32_t from, uint64_t round, bool *found, tacit_buffer *out,
                         tacit_error *error);
    void *context;
} tacit_mail_inbox;

/* What a party needs to talk to its neighbours, used by one thread at a time. */
typedef struct tacit_mail tacit_mail;

/* All borrowed but name and address. */
typedef struct tacit_mail_settings {
    const tacit_plan *plan;
    tacit_masks *masks; /* its roster, signing key and store are used here too */
    const uint8_t *study_hash;
    const char *name;              /* in this party's certificate */
    const char *address;           /* where it listens; NULL: nowhere */
    const tacit_mail_inbox *inbox; /* copied; NULL: none */
} tacit_mail_settings;

tacit_status tacit_mail_create(tacit_mail **out, const tacit_mail_settings *settings, tacit_error *error);
tacit_mail *tacit_mail_free(tacit_mail *mail);

/* The card of the neighbour at `place`, as it was first shown; NULL: it is no neighbour, or has not been
 * shown yet. */
const tacit_card *tacit_mail_card(const tacit_mail *mail, uint32_t place);
