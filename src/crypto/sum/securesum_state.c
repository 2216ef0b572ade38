/* A party's state as bytes: what it needs to go on after its process was killed. */
#include <string.h>

#include "crypto/sum/securesum_party.h"

enum { STATE_VERSION = 1, PEER_BYTES = 1 + 2 * TACIT_KEY_BYTES + TACIT_SUM_SECRETS * TACIT_SECRET_BYTES };
static const char magic[4] = { 'T', 'S', 'U', 'M' };

enum { ADVERTISED = 1, DEALT = 2, HELD = 4 };

static size_t state_bytes(const tacit_securesum *sum) {
    return sizeof magic + 2 + TACIT_DIGEST_BYTES + 4 + TACIT_SUM_SEED_BYTES + 2 * TACIT_SIGNATURE_BYTES +
           TACIT_SUM_OPENED * TACIT_DIGEST_BYTES + TACIT_DIGEST_BYTES + 2 * sum->set_bytes +
           (size_t)sum->terms.shape.degree * PEER_BYTES + TACIT_DIGEST_BYTES;
}

static void checksum(uint8_t out[TACIT_DIGEST_BYTES], const uint8_t *bytes, size_t length) {
    tacit_digest digest;
    tacit_digest_begin(&digest, "tacit secure sum state", NULL);
    tacit_digest_bytes(&digest, bytes, length);
    tacit_digest_end(&digest, out);
}

static tacit_status write_peer(tacit_buffer *out, const tacit_sum_peer *peer, tacit_error *error) {
    const uint8_t flags =
        (uint8_t)((peer->advertised ? ADVERTISED : 0) | (peer->dealt ? DEALT : 0) | (peer->held ? HELD : 0));
    TACIT_TRY(tacit_buffer_append(out, &flags, 1, error));
    TACIT_TRY(tacit_buffer_append(out, peer->sealing, sizeof peer->sealing, error));
    TACIT_TRY(tacit_buffer_append(out, peer->masking, sizeof peer->masking, error));
    return tacit_buffer_append(out, peer->share, sizeof peer->share, error);
}

/* All room is reserved first: a buffer that grew by moving would leave secrets behind in freed memory. */
tacit_status tacit_securesum_party_save(const tacit_securesum_party *party, tacit_buffer *out,
                                        tacit_error *error) {
    const tacit_securesum *sum = party->sum;
    const size_t before = out->length;
    const uint8_t first[2] = { STATE_VERSION, (uint8_t)party->step };
    uint8_t *at, check[TACIT_DIGEST_BYTES];
    TACIT_TRY(tacit_buffer_reserve(out, state_bytes(sum), &at, error));
    tacit_status status;
    TACIT_CHECK(tacit_buffer_append(out, magic, sizeof magic, error));
    TACIT_CHECK(tacit_buffer_append(out, first, sizeof first, error));
    TACIT_CHECK(tacit_buffer_append(out, sum->context, sizeof sum->context, error));
    TACIT_CHECK(tacit_buffer_append_u32(out, party->index, error));
    TACIT_CHECK(tacit_buffer_append(out, party->seed, sizeof party->seed, error));
    TACIT_CHECK(tacit_buffer_append(out, party->keys_signature, sizeof party->keys_signature, error));
    TACIT_CHECK(tacit_buffer_append(out, party->consent_signature, sizeof party->consent_signature, error));
    TACIT_CHECK(tacit_buffer_append(out, party->asked, sizeof party->asked, error));
    TACIT_CHECK(tacit_buffer_append(out, party->vector, sizeof party->vector, error));
    TACIT_CHECK(tacit_buffer_append(out, party->sets, 2 * sum->set_bytes, error));
    for (uint32_t slot = 0; slot < sum->terms.shape.degree; slot++)
        TACIT_CHECK(write_peer(out, &party->peers[slot], error));
    checksum(check, out->bytes + before, out->length - before);
    TACIT_CHECK(tacit_buffer_append(out, check, sizeof check, error));
cleanup:
    if (status != TACIT_OK) {
        sodium_memzero(out->bytes + before, out->length - before);
        out->length = before;
    }
    return status;
}

static tacit_status damaged(tacit_error *error) {
    return tacit_fail(
        error, TACIT_CORRUPT,
        "the stored state of a secure sum is damaged or of another sum; take part in the next one");
}

static bool read_peer(tacit_cursor *cursor, tacit_sum_peer *peer) {
    uint8_t flags;
    if (!tacit_cursor_read(cursor, &flags, 1) || flags > (ADVERTISED | DEALT | HELD)) return false;
    peer->advertised = (flags & ADVERTISED) != 0;
    peer->dealt = (flags & DEALT) != 0;
    peer->held = (flags & HELD) != 0;
    return tacit_cursor_read(cursor, peer->sealing, sizeof peer->sealing) &&
           tacit_cursor_read(cursor, peer->masking, sizeof peer->masking) &&
           tacit_cursor_read(cursor, peer->share, sizeof peer->share);
}

static bool read_party(tacit_cursor *cursor, tacit_securesum_party *party) {
    bool good = tacit_cursor_read(cursor, party->seed, sizeof party->seed) &&
                tacit_cursor_read(cursor, party->keys_signature, sizeof party->keys_signature) &&
                tacit_cursor_read(cursor, party->consent_signature, sizeof party->consent_signature) &&
                tacit_cursor_read(cursor, party->asked, sizeof party->asked) &&
                tacit_cursor_read(cursor, party->vector, sizeof party->vector) &&
                tacit_cursor_read(cursor, party->sets, 2 * party->sum->set_bytes);
    for (uint32_t slot = 0; good && slot < party->sum->terms.shape.degree; slot++)
        good = read_peer(cursor, &party->peers[slot]);
    return good;
}

tacit_status tacit_securesum_party_restore(tacit_securesum_party **out, const tacit_securesum *sum,
                                           const uint8_t *bytes, size_t length,
                                           const tacit_securesum_signer *signer, tacit_error *error) {
    uint8_t mark[sizeof magic], first[2], context[TACIT_DIGEST_BYTES], check[TACIT_DIGEST_BYTES];
    uint32_t index;
    if (length != state_bytes(sum)) return damaged(error);
    checksum(check, bytes, length - sizeof check);
    if (memcmp(check, bytes + length - sizeof check, sizeof check) != 0) return damaged(error);
    tacit_cursor cursor = tacit_cursor_over(bytes, length - sizeof check);
    if (!tacit_cursor_read(&cursor, mark, sizeof mark) || memcmp(mark, magic, sizeof mark) != 0 ||
        !tacit_cursor_read(&cursor, first, sizeof first) || first[0] != STATE_VERSION ||
        first[1] > TACIT_SUM_OPENED || !tacit_cursor_read(&cursor, context, sizeof context) ||
        memcmp(context, sum->context, sizeof context) != 0 || !tacit_cursor_read_u32(&cursor, &index) ||
        index >= sum->terms.shape.parties)
        return damaged(error);
    tacit_securesum_party *party;
    TACIT_TRY(tacit_sum_party_make(&party, sum, index, signer, error));
    if (!read_party(&cursor, party)) {
        tacit_securesum_party_free(party);
        return damaged(error);
    }
    party->step = (tacit_securesum_step)first[1];
    tacit_sum_party_derive(party);
    *out = party;
    return TACIT_OK;
}
