/* A party: its consent to one set of survivors, and its shares for that set. */
#include <string.h>

#include "crypto/sum/securesum_party.h"

/* ---- consent ---- */

static bool has_spare_bits(const tacit_securesum *sum, const uint8_t *set) {
    const uint32_t parties = sum->terms.shape.parties;
    return parties % 8 != 0 && set[sum->set_bytes - 1] >> parties % 8 != 0;
}

/* Masks were put on for the very dealers that all others are told of, and the survivors are among them. So in
 * a complete graph no group of honest survivors can have masked among themselves only (docs/securesum.md). */
static tacit_status check_sets(const tacit_securesum_party *party, const uint8_t *sets, tacit_error *error) {
    const tacit_securesum *sum = party->sum;
    const uint8_t *dealers = sets, *survivors = sets + sum->set_bytes;
    if (has_spare_bits(sum, dealers) || has_spare_bits(sum, survivors))
        return tacit_sum_malformed(error, "a survivor set");
    if (!tacit_set_has(dealers, party->index) || !tacit_set_has(survivors, party->index))
        return tacit_fail(error, TACIT_REFUSED,
                          "party %lu is asked to open a secure sum that it is not part of",
                          (unsigned long)party->index);
    for (uint32_t slot = 0; slot < sum->terms.shape.degree; slot++) {
        uint32_t other = tacit_graph_neighbour(sum->graph, party->index, slot);
        if (tacit_set_has(dealers, other) != party->peers[slot].dealt)
            return tacit_fail(
                error, TACIT_REFUSED,
                "party %lu and its neighbour %lu were told differently whether they mask with each other",
                (unsigned long)party->index, (unsigned long)other);
    }
    for (size_t i = 0; i < sum->set_bytes; i++)
        if ((survivors[i] & ~dealers[i]) != 0)
            return tacit_fail(error, TACIT_REFUSED, "party %lu is told of survivors that never dealt shares",
                              (unsigned long)party->index);
    return tacit_graph_check_survivors(sum->graph, survivors, error);
}

tacit_status tacit_securesum_party_consent(tacit_securesum_party *party, const uint8_t *question,
                                           size_t question_length, tacit_buffer *answer, tacit_error *error) {
    const tacit_securesum *sum = party->sum;
    const size_t before = answer->length;
    tacit_cursor cursor = tacit_cursor_over(question, question_length);
    uint8_t asked[TACIT_DIGEST_BYTES], digest[TACIT_DIGEST_BYTES], signature[TACIT_SIGNATURE_BYTES];
    const uint8_t *sets;
    tacit_status status;
    TACIT_TRY(tacit_sum_party_ask(party, TACIT_SUM_CONSENT, question, question_length, asked, error));
    TACIT_TRY(tacit_sum_read_header(&cursor, sum, TACIT_SUM_SURVIVORS, party->index, error));
    if (cursor.left != 2 * sum->set_bytes || !tacit_cursor_skip(&cursor, &sets, 2 * sum->set_bytes))
        return tacit_sum_malformed(error, "a survivor set");
    TACIT_TRY(check_sets(party, sets, error));
    memcpy(signature, party->consent_signature, sizeof signature);
    if (party->step == TACIT_SUM_CONSENT) {
        tacit_sum_survivors_digest(digest, sum, sets);
        TACIT_TRY(party->signer.sign(party->signer.self, signature, digest, sizeof digest, error));
    }
    TACIT_CHECK(tacit_sum_write_header(answer, sum, TACIT_SUM_CONSENTED, party->index, error));
    TACIT_CHECK(tacit_buffer_append(answer, signature, sizeof signature, error));
    memcpy(party->consent_signature, signature, sizeof signature);
    memcpy(party->sets, sets, 2 * sum->set_bytes);
    tacit_sum_party_took(party, TACIT_SUM_CONSENT, asked);
cleanup:
    if (status != TACIT_OK) answer->length = before;
    return status;
}

/* ---- unmask ---- */

/* At least `threshold` of the party and its neighbours consented to the very set that it consented to. */
static tacit_status check_consents(const tacit_securesum_party *party, const uint8_t *question, size_t length,
                                   tacit_error *error) {
    const tacit_securesum *sum = party->sum;
    tacit_cursor cursor = tacit_cursor_over(question, length);
    uint8_t digest[TACIT_DIGEST_BYTES], signature[TACIT_SIGNATURE_BYTES];
    uint32_t count, next = 0, slot;
    TACIT_TRY(tacit_sum_read_list(&cursor, party, TACIT_SUM_CONSENTS, TACIT_SIGNATURE_BYTES,
                                  "consents of neighbours to the survivors of a secure sum", &count, error));
    tacit_sum_survivors_digest(digest, sum, party->sets);
    for (uint32_t i = 0; i < count; i++) {
        TACIT_TRY(tacit_sum_read_neighbour(&cursor, sum, party->index, sum->terms.shape.degree, &next, &slot,
                                           error));
        if (!tacit_cursor_read(&cursor, signature, sizeof signature))
            return tacit_sum_malformed(error, "a list of consents");
        uint32_t other = tacit_graph_neighbour(sum->graph, party->index, slot);
        if (!tacit_set_has(party->survivors, other) || !tacit_sum_verify(sum, other, digest, signature))
            return tacit_fail(error, TACIT_REFUSED,
                              "party %lu did not consent to the survivors that party %lu was told of",
                              (unsigned long)other, (unsigned long)party->index);
    }
    return TACIT_OK;
}

static tacit_status write_opening(tacit_buffer *out, uint32_t dealer, tacit_sum_secret which,
                                  const uint8_t share[TACIT_SECRET_BYTES], tacit_error *error) {
    const uint8_t kind = (uint8_t)which;
    TACIT_TRY(tacit_buffer_append_u32(out, dealer, error));
    TACIT_TRY(tacit_buffer_append(out, &kind, sizeof kind, error));
    return tacit_buffer_append(out, share, TACIT_SECRET_BYTES, error);
}

/* Of each dealer one share: of the self-mask's seed if its vector is in the sum, else of the masking key. */
static tacit_status write_openings(tacit_buffer *out, const tacit_securesum_party *party,
                                   tacit_error *error) {
    const tacit_securesum *sum = party->sum;
    const uint32_t degree = sum->terms.shape.degree;
    uint8_t *coefficients = NULL, own[TACIT_SECRET_BYTES];
    uint32_t count = 1;
    tacit_status status;
    for (uint32_t slot = 0; slot < degree; slot++) count += party->peers[slot].held;
    TACIT_CHECK(tacit_sum_coefficients(&coefficients, party, error));
    TACIT_CHECK(tacit_sum_own_share(own, party, party->index, TACIT_SUM_SELF, coefficients, error));
    TACIT_CHECK(tacit_sum_write_header(out, sum, TACIT_SUM_OPENINGS, party->index, error));
    TACIT_CHECK(tacit_buffer_append_u32(out, count, error));
    for (uint32_t slot = 0; slot < degree; slot++) {
        if (!party->peers[slot].held) continue;
        uint32_t other = tacit_graph_neighbour(sum->graph, party->index, slot);
        tacit_sum_secret which = tacit_set_has(party->survivors, other) ? TACIT_SUM_SELF : TACIT_SUM_MASKING;
        TACIT_CHECK(write_opening(out, other, which, party->peers[slot].share[which], error));
    }
    TACIT_CHECK(write_opening(out, party->index, TACIT_SUM_SELF, own, error));
cleanup:
    tacit_sum_coefficients_free(coefficients, party);
    sodium_memzero(own, sizeof own);
    return status;
}

/* The answer depends on the one set consented to, and not on which consents are shown: so this step may be
 * asked in several ways, and has one answer. */
tacit_status tacit_securesum_party_unmask(tacit_securesum_party *party, const uint8_t *question,
                                          size_t question_length, tacit_buffer *answer, tacit_error *error) {
    const size_t before = answer->length;
    if (party->step < TACIT_SUM_UNMASK)
        return tacit_fail(error, TACIT_PROTOCOL,
                          "party %lu of a secure sum was asked to unmask before it could %s",
                          (unsigned long)party->index, tacit_securesum_step_name(party->step));
    TACIT_TRY(check_consents(party, question, question_length, error));
    tacit_status status = write_openings(answer, party, error);
    if (status != TACIT_OK)
        answer->length = before;
    else
        party->step = TACIT_SUM_OPENED;
    return status;
}
