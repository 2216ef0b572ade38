/* Headers, keys and lists as bytes, and what is signed and committed to. */
#include <string.h>

#include "crypto/sum/securesum_parts.h"

static const char *kind_name(int kind) {
    static const char *const names[] = { "message",          "keys",          "list of keys", "shares",
                                         "list of shares",   "masked vector", "survivor set", "consent",
                                         "list of consents", "opening" };
    return kind >= 1 && kind <= TACIT_SUM_OPENINGS ? names[kind] : names[0];
}

tacit_status tacit_sum_malformed(tacit_error *error, const char *what) {
    return tacit_fail(error, TACIT_PROTOCOL, "%s of a secure sum is cut short, too long or out of order",
                      what);
}

tacit_status tacit_sum_write_header(tacit_buffer *out, const tacit_securesum *sum, tacit_sum_kind kind,
                                    uint32_t party, tacit_error *error) {
    const uint8_t first[2] = { TACIT_SUM_VERSION, (uint8_t)kind };
    TACIT_TRY(tacit_buffer_append(out, first, sizeof first, error));
    TACIT_TRY(tacit_buffer_append(out, sum->context, sizeof sum->context, error));
    return tacit_buffer_append_u32(out, party, error);
}

tacit_status tacit_sum_read_header(tacit_cursor *cursor, const tacit_securesum *sum, tacit_sum_kind kind,
                                   uint32_t party, tacit_error *error) {
    uint8_t first[2], context[TACIT_DIGEST_BYTES];
    uint32_t named;
    if (!tacit_cursor_read(cursor, first, sizeof first) ||
        !tacit_cursor_read(cursor, context, sizeof context) || !tacit_cursor_read_u32(cursor, &named))
        return tacit_sum_malformed(error, "a message");
    if (first[0] != TACIT_SUM_VERSION)
        return tacit_fail(
            error, TACIT_PROTOCOL,
            "a message of a secure sum has version %d and this program speaks %d; update the older", first[0],
            TACIT_SUM_VERSION);
    if (first[1] != kind)
        return tacit_fail(error, TACIT_PROTOCOL, "a %s of a secure sum came where a %s is due",
                          kind_name(first[1]), kind_name(kind));
    if (memcmp(context, sum->context, sizeof context) != 0)
        return tacit_fail(error, TACIT_PROTOCOL,
                          "a %s belongs to another secure sum, or to other terms of it", kind_name(kind));
    if (named != party)
        return tacit_fail(error, TACIT_PROTOCOL, "a %s names party %lu and not party %lu", kind_name(kind),
                          (unsigned long)named, (unsigned long)party);
    return TACIT_OK;
}

int tacit_sum_kind_of(const uint8_t *bytes, size_t length) { return length < 2 ? 0 : bytes[1]; }

tacit_status tacit_sum_write_keys(tacit_buffer *out, const tacit_sum_keys *keys, tacit_error *error) {
    TACIT_TRY(tacit_buffer_append(out, keys->sealing, sizeof keys->sealing, error));
    TACIT_TRY(tacit_buffer_append(out, keys->masking, sizeof keys->masking, error));
    TACIT_TRY(tacit_buffer_append(out, keys->self_mask, sizeof keys->self_mask, error));
    return tacit_buffer_append(out, keys->signature, sizeof keys->signature, error);
}

bool tacit_sum_read_keys(tacit_cursor *cursor, tacit_sum_keys *keys) {
    return tacit_cursor_read(cursor, keys->sealing, sizeof keys->sealing) &&
           tacit_cursor_read(cursor, keys->masking, sizeof keys->masking) &&
           tacit_cursor_read(cursor, keys->self_mask, sizeof keys->self_mask) &&
           tacit_cursor_read(cursor, keys->signature, sizeof keys->signature);
}

tacit_status tacit_sum_read_count(tacit_cursor *cursor, uint32_t most, size_t size, size_t after,
                                  uint32_t *count, tacit_error *error) {
    if (!tacit_cursor_read_u32(cursor, count) || *count > most || cursor->left < after ||
        cursor->left - after != *count * size)
        return tacit_sum_malformed(error, "a list");
    return TACIT_OK;
}

tacit_status tacit_sum_read_neighbour(tacit_cursor *cursor, const tacit_securesum *sum, uint32_t party,
                                      uint32_t slots, uint32_t *next, uint32_t *slot, tacit_error *error) {
    uint32_t other;
    if (!tacit_cursor_read_u32(cursor, &other)) return tacit_sum_malformed(error, "a list");
    if (!tacit_graph_slot(sum->graph, party, other, slot) || *slot >= slots)
        return tacit_fail(error, TACIT_PROTOCOL,
                          "a list of a secure sum for party %lu names party %lu, which is no neighbour of it",
                          (unsigned long)party, (unsigned long)other);
    if (*slot < *next)
        return tacit_fail(error, TACIT_PROTOCOL,
                          "a list of a secure sum for party %lu names party %lu twice or out of order",
                          (unsigned long)party, (unsigned long)other);
    *next = *slot + 1;
    return TACIT_OK;
}

void tacit_sum_keys_digest(uint8_t out[TACIT_DIGEST_BYTES], const tacit_securesum *sum, uint32_t party,
                           const tacit_sum_keys *keys) {
    tacit_digest digest;
    tacit_digest_begin(&digest, "tacit secure sum keys", NULL);
    tacit_digest_bytes(&digest, sum->context, sizeof sum->context);
    tacit_digest_u64(&digest, party);
    tacit_digest_bytes(&digest, keys->sealing, sizeof keys->sealing);
    tacit_digest_bytes(&digest, keys->masking, sizeof keys->masking);
    tacit_digest_bytes(&digest, keys->self_mask, sizeof keys->self_mask);
    tacit_digest_end(&digest, out);
}

void tacit_sum_survivors_digest(uint8_t out[TACIT_DIGEST_BYTES], const tacit_securesum *sum,
                                const uint8_t *sets) {
    tacit_digest digest;
    tacit_digest_begin(&digest, "tacit secure sum survivors", NULL);
    tacit_digest_bytes(&digest, sum->context, sizeof sum->context);
    tacit_digest_bytes(&digest, sets, 2 * sum->set_bytes);
    tacit_digest_end(&digest, out);
}

bool tacit_sum_verify(const tacit_securesum *sum, uint32_t party, const uint8_t digest[TACIT_DIGEST_BYTES],
                      const uint8_t signature[TACIT_SIGNATURE_BYTES]) {
    return sum->roster.verify(sum->roster.self, party, signature, digest, TACIT_DIGEST_BYTES);
}

void tacit_sum_commit_self(uint8_t out[TACIT_DIGEST_BYTES], const tacit_securesum *sum, uint32_t party,
                           const uint8_t seed[TACIT_SECRET_BYTES]) {
    tacit_digest digest;
    tacit_digest_begin(&digest, "tacit secure sum self-mask", seed);
    tacit_digest_bytes(&digest, sum->context, sizeof sum->context);
    tacit_digest_u64(&digest, party);
    tacit_digest_end(&digest, out);
}

void tacit_sum_commit_share(uint8_t out[TACIT_DIGEST_BYTES], const tacit_securesum *sum, uint32_t dealer,
                            uint32_t holder, tacit_sum_secret which,
                            const uint8_t share[TACIT_SECRET_BYTES]) {
    tacit_digest digest;
    tacit_digest_begin(&digest, "tacit secure sum share", share);
    tacit_digest_bytes(&digest, sum->context, sizeof sum->context);
    tacit_digest_u64(&digest, dealer);
    tacit_digest_u64(&digest, holder);
    tacit_digest_u64(&digest, (uint64_t)which);
    tacit_digest_end(&digest, out);
}

tacit_status tacit_sum_pair_seed(uint8_t seed[TACIT_KEY_BYTES], const tacit_securesum *sum,
                                 const tacit_key_pair *own, const uint8_t peer[TACIT_KEY_BYTES],
                                 tacit_error *error) {
    return tacit_agree(seed, own, peer, sum->context, "tacit secure sum pair mask", error);
}
