/* A party's half, and what both halves write. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/sum/pairs_parts.h"

void pairs_context(uint8_t out[TACIT_DIGEST_BYTES], const tacit_pairs_terms *terms) {
    uint8_t roster[TACIT_DIGEST_BYTES];
    tacit_digest digest;
    tacit_securesum_roster_digest(roster, &terms->roster);
    tacit_digest_begin(&digest, "tacit sum of pairs 1", NULL);
    tacit_digest_text(&digest, terms->study);
    tacit_digest_bytes(&digest, terms->version, sizeof terms->version);
    tacit_digest_u64(&digest, terms->round);
    tacit_digest_bytes(&digest, terms->id, sizeof terms->id);
    tacit_digest_u64(&digest, terms->length);
    tacit_digest_bytes(&digest, roster, sizeof roster);
    tacit_digest_u64(&digest, terms->exchanges);
    tacit_digest_u64(&digest, terms->minimum);
    tacit_digest_end(&digest, out);
}

tacit_status pairs_write_header(tacit_buffer *out, const uint8_t context[TACIT_DIGEST_BYTES], pairs_kind kind,
                                uint32_t place, tacit_error *error) {
    const uint8_t head[2] = { PAIRS_VERSION, (uint8_t)kind };
    TACIT_TRY(tacit_buffer_append(out, head, sizeof head, error));
    TACIT_TRY(tacit_buffer_append(out, context, TACIT_DIGEST_BYTES, error));
    return tacit_buffer_append_u32(out, place, error);
}

tacit_status pairs_read_header(tacit_cursor *cursor, const uint8_t context[TACIT_DIGEST_BYTES],
                               pairs_kind kind, uint32_t place, size_t length, tacit_error *error) {
    uint8_t head[2], about[TACIT_DIGEST_BYTES];
    uint32_t whose;
    if (!tacit_cursor_read(cursor, head, sizeof head) || !tacit_cursor_read(cursor, about, sizeof about) ||
        !tacit_cursor_read_u32(cursor, &whose) || head[0] != PAIRS_VERSION || head[1] != kind)
        return tacit_fail(error, TACIT_PROTOCOL, "a message of a masked sum is damaged");
    if (memcmp(about, context, sizeof about) != 0)
        return tacit_fail(error, TACIT_PROTOCOL, "a message belongs to another masked sum");
    if (whose != place)
        return tacit_fail(error, TACIT_PROTOCOL, "a message of a masked sum is another party's");
    if (cursor->left != length)
        return tacit_fail(error, TACIT_PROTOCOL, "a message of a masked sum has %zu bytes too %s",
                          cursor->left > length ? cursor->left - length : length - cursor->left,
                          cursor->left > length ? "many" : "few");
    return TACIT_OK;
}

void pairs_commit(uint8_t out[TACIT_DIGEST_BYTES], const uint8_t context[TACIT_DIGEST_BYTES], uint32_t dealer,
                  uint32_t holder, const uint8_t share[TACIT_SECRET_BYTES]) {
    tacit_digest digest;
    tacit_digest_begin(&digest, "tacit sum of pairs share", share);
    tacit_digest_bytes(&digest, context, TACIT_DIGEST_BYTES);
    tacit_digest_u64(&digest, dealer);
    tacit_digest_u64(&digest, holder);
    tacit_digest_end(&digest, out);
}

/* ---- secrets ---- */

/* What one party has of a sum: its X25519 pair, and the seed of its own mask with what that is shared by. */
typedef struct own {
    const tacit_pairs_terms *terms;
    uint32_t place;
    uint8_t context[TACIT_DIGEST_BYTES];
    tacit_key_pair pair;
    uint8_t seed[TACIT_SECRET_BYTES];
    uint8_t *coefficients; /* of its sharing; NULL in one exchange */
} own;

static void own_clear(own *self) {
    if (self->coefficients != NULL)
        sodium_memzero(self->coefficients, (size_t)(self->terms->minimum - 1) * TACIT_SECRET_BYTES);
    free(self->coefficients);
    sodium_memzero(self, sizeof *self);
}

/* A secret of this party, for this sum and one use. */
static void derive(const own *self, const char *label, const uint8_t key[TACIT_KEY_BYTES],
                   uint8_t out[TACIT_DIGEST_BYTES]) {
    tacit_digest digest;
    tacit_digest_begin(&digest, label, key);
    tacit_digest_bytes(&digest, self->context, sizeof self->context);
    tacit_digest_u64(&digest, self->place);
    tacit_digest_end(&digest, out);
}

static tacit_status own_open(own *self, const tacit_pairs_terms *terms, uint32_t place,
                             const uint8_t secret_key[crypto_sign_SECRETKEYBYTES], tacit_error *error) {
    uint8_t secret[TACIT_KEY_BYTES], stream[TACIT_DIGEST_BYTES];
    static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES] = { 0 };
    *self = (own){ .terms = terms, .place = place };
    pairs_context(self->context, terms);
    crypto_sign_ed25519_sk_to_curve25519(secret, secret_key);
    tacit_key_pair_from(&self->pair, secret);
    tacit_status status = TACIT_OK;
    if (terms->exchanges == 2 && terms->minimum > 1) {
        derive(self, "tacit sum of pairs own mask", secret, self->seed);
        derive(self, "tacit sum of pairs sharing", secret, stream);
        self->coefficients = TACIT_NEW(uint8_t, (size_t)(terms->minimum - 1) * TACIT_SECRET_BYTES);
        if (self->coefficients != NULL)
            crypto_stream_chacha20(self->coefficients, (size_t)(terms->minimum - 1) * TACIT_SECRET_BYTES,
                                   nonce, stream);
        else
            status = tacit_fail_memory(error);
    }
    sodium_memzero(secret, sizeof secret);
    sodium_memzero(stream, sizeof stream);
    return status;
}

static tacit_status agree_with(const own *self, uint32_t other, const char *purpose,
                               uint8_t seed[TACIT_KEY_BYTES], tacit_error *error) {
    uint8_t shown[TACIT_KEY_BYTES];
    if (crypto_sign_ed25519_pk_to_curve25519(shown, self->terms->roster.keys[other]) != 0)
        return tacit_fail(error, TACIT_PROTOCOL, "the key of party %lu on the roster is none",
                          (unsigned long)other + 1);
    return tacit_agree(seed, &self->pair, shown, self->context, purpose, error);
}

static tacit_status pair_seed(const own *self, uint32_t other, uint8_t seed[TACIT_KEY_BYTES],
                              tacit_error *error) {
    return agree_with(self, other, "tacit sum of pairs mask", seed, error);
}

static tacit_status share_for(const own *self, uint32_t holder, tacit_secret_share *out, tacit_error *error) {
    return tacit_shamir_share(out, (uint16_t)(holder + 1), self->seed, self->coefficients,
                              self->terms->minimum, error);
}

/* ---- the first exchange ---- */

static tacit_status add_masks(const own *self, uint64_t *values, tacit_pool *pool, tacit_error *error) {
    const uint32_t parties = self->terms->roster.parties;
    tacit_mask *masks = TACIT_NEW(tacit_mask, parties);
    size_t count = 0;
    tacit_status status = TACIT_OK;
    if (masks == NULL) return tacit_fail_memory(error);
    for (uint32_t other = 0; other < parties; other++) {
        if (other == self->place) continue;
        TACIT_CHECK(pair_seed(self, other, masks[count].seed, error));
        masks[count++].subtract = other < self->place;
    }
    if (self->terms->exchanges == 2) memcpy(masks[count++].seed, self->seed, sizeof self->seed);
    TACIT_CHECK(tacit_mask_apply(values, self->terms->length, masks, count, pool, error));
cleanup:
    sodium_memzero(masks, parties * sizeof *masks);
    free(masks);
    return status;
}

/* For each place a share of the own mask's seed, sealed for it, and a commitment; the own place's share is
 * not sealed to anybody, and stands as zeros. */
static tacit_status deal(const own *self, tacit_buffer *out, tacit_error *error) {
    for (uint32_t holder = 0; holder < self->terms->roster.parties; holder++) {
        const tacit_seal_route route = { self->context, self->place, holder };
        uint8_t seed[TACIT_KEY_BYTES], dealt[PAIRS_DEALT_BYTES] = { 0 };
        tacit_secret_share share;
        TACIT_TRY(share_for(self, holder, &share, error));
        if (holder != self->place) {
            TACIT_TRY(agree_with(self, holder, "tacit sum of pairs share", seed, error));
            tacit_seal(dealt, share.bytes, sizeof share.bytes, seed, &route);
        }
        pairs_commit(dealt + PAIRS_SEALED_BYTES, self->context, self->place, holder, share.bytes);
        sodium_memzero(&share, sizeof share);
        sodium_memzero(seed, sizeof seed);
        TACIT_TRY(tacit_buffer_append(out, dealt, sizeof dealt, error));
    }
    return TACIT_OK;
}

tacit_status tacit_pairs_mask(const tacit_pairs_terms *terms, uint32_t place,
                              const uint8_t secret_key[crypto_sign_SECRETKEYBYTES], const int64_t *values,
                              tacit_pool *pool, tacit_buffer *answer, tacit_error *error) {
    own self;
    tacit_status status;
    uint64_t *masked = TACIT_NEW(uint64_t, terms->length);
    if (masked == NULL) return tacit_fail_memory(error);
    memcpy(masked, values, terms->length * sizeof *masked);
    TACIT_CHECK(own_open(&self, terms, place, secret_key, error));
    TACIT_CHECK(add_masks(&self, masked, pool, error));
    TACIT_CHECK(pairs_write_header(answer, self.context, PAIRS_VECTOR, place, error));
    for (size_t i = 0; i < terms->length; i++) TACIT_CHECK(tacit_buffer_append_u64(answer, masked[i], error));
    if (terms->exchanges == 2) TACIT_CHECK(deal(&self, answer, error));
cleanup:
    own_clear(&self);
    sodium_memzero(masked, terms->length * sizeof *masked);
    free(masked);
    return status;
}

/* ---- the second exchange ---- */

tacit_status tacit_pairs_survivors(const uint8_t **set, const tacit_pairs_terms *terms, uint32_t place,
                                   const uint8_t *question, size_t length, tacit_error *error) {
    const size_t bytes = pairs_set_bytes(terms);
    uint8_t context[TACIT_DIGEST_BYTES];
    tacit_cursor cursor = tacit_cursor_over(question, length);
    uint32_t count = 0;
    pairs_context(context, terms);
    if (length < PAIRS_HEADER_BYTES + bytes)
        return tacit_fail(error, TACIT_PROTOCOL, "the list of who is in a masked sum is cut");
    const uint8_t *in = question + PAIRS_HEADER_BYTES;
    for (uint32_t i = 0; i < terms->roster.parties; i++) count += pairs_in(in, i);
    TACIT_TRY(pairs_read_header(&cursor, context, PAIRS_SURVIVORS, place,
                                bytes + (size_t)(count > 0 ? count - 1 : 0) * PAIRS_SEALED_BYTES, error));
    for (size_t i = terms->roster.parties; i < 8 * bytes; i++)
        if (pairs_in(in, (uint32_t)i))
            return tacit_fail(error, TACIT_PROTOCOL, "the list of who is in a masked sum is damaged");
    if (!pairs_in(in, place))
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator opens a sum without this party, and asks it to help");
    if (count < terms->minimum)
        return tacit_fail(error, TACIT_REFUSED,
                          "the coordinator opens a sum of %lu parties, and it takes at least %lu",
                          (unsigned long)count, (unsigned long)terms->minimum);
    *set = in;
    return TACIT_OK;
}

static tacit_status open_share(const own *self, uint32_t dealer, tacit_cursor *cursor, tacit_buffer *answer,
                               tacit_error *error) {
    const tacit_seal_route route = { self->context, dealer, self->place };
    uint8_t seed[TACIT_KEY_BYTES], sealed[PAIRS_SEALED_BYTES];
    tacit_secret_share share = { .place = 0 };
    if (dealer == self->place) {
        TACIT_TRY(share_for(self, dealer, &share, error));
    } else {
        if (!tacit_cursor_read(cursor, sealed, sizeof sealed))
            return tacit_fail(error, TACIT_PROTOCOL, "the shares of a masked sum are cut");
        TACIT_TRY(agree_with(self, dealer, "tacit sum of pairs share", seed, error));
        TACIT_TRY(tacit_seal_open(share.bytes, sizeof share.bytes, sealed, seed, &route, error));
    }
    tacit_status status = tacit_buffer_append(answer, share.bytes, sizeof share.bytes, error);
    sodium_memzero(&share, sizeof share);
    sodium_memzero(seed, sizeof seed);
    return status;
}

tacit_status tacit_pairs_unmask(const tacit_pairs_terms *terms, uint32_t place,
                                const uint8_t secret_key[crypto_sign_SECRETKEYBYTES], const uint8_t *question,
                                size_t length, tacit_buffer *answer, tacit_error *error) {
    const uint8_t *set = NULL;
    uint8_t seed[TACIT_KEY_BYTES];
    own self = { .terms = terms };
    tacit_status status;
    TACIT_CHECK(tacit_pairs_survivors(&set, terms, place, question, length, error));
    tacit_cursor cursor =
        tacit_cursor_over(set + pairs_set_bytes(terms), length - PAIRS_HEADER_BYTES - pairs_set_bytes(terms));
    TACIT_CHECK(own_open(&self, terms, place, secret_key, error));
    TACIT_CHECK(pairs_write_header(answer, self.context, PAIRS_OPENINGS, place, error));
    for (uint32_t other = 0; other < terms->roster.parties; other++) {
        if (pairs_in(set, other)) {
            TACIT_CHECK(open_share(&self, other, &cursor, answer, error));
        } else {
            TACIT_CHECK(pair_seed(&self, other, seed, error));
            TACIT_CHECK(tacit_buffer_append(answer, seed, sizeof seed, error));
        }
    }
cleanup:
    sodium_memzero(seed, sizeof seed);
    own_clear(&self);
    return status;
}
