/*
 * A party in an encrypted sum (crypto/paillier/paillier_sum.h). The sealed ciphertexts of its contribution
 * pass the gate, charged, as any contribution would. The key holder's public key, and the sums of numbers
 * under masks that it decrypts, say nothing about rows and pass by tacit_gate_pass.
 *
 * What is kept: the key holder its secret key, made when it is first asked; everybody the fingerprint of the
 * key that came first, and takes no other in this study; and of the latest sum, before anything of it leaves,
 * its round and id, and for the key holder a digest of what it was asked to decrypt. It decrypts one product
 * a sum: a second one could be the first without somebody.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/masked/masked_parts.h"

#define KEY_NAME "paillier.key"
#define PIN_NAME "paillier.pin"

enum { KEY_BYTES_MOST = TACIT_PAILLIER_BITS_MOST / 8 + 256, STEP_SPARE = 1024 };

typedef struct encrypted_state {
    bool begun;                            /* this very sum */
    uint8_t decrypted[TACIT_DIGEST_BYTES]; /* of the question; zeros: none yet */
} encrypted_state;

static tacit_status load_state(const stepping *self, encrypted_state *out, tacit_error *error) {
    const tacit_masks_store *store = &self->masks->store;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    encrypted_state state = { .begun = false };
    bool found = false;
    tacit_status status;
    TACIT_CHECK(store->read(store->context, MASKED_STATE_NAME, &found, &bytes, error));
    if (!found) TACIT_CHECK(masked_check_next(self, NULL, error));
    if (found) {
        tacit_cursor cursor = tacit_cursor_over(bytes.bytes, bytes.length);
        TACIT_CHECK(masked_check_state(self, &cursor, &state.begun, error));
        if (!tacit_cursor_read(&cursor, state.decrypted, sizeof state.decrypted) || cursor.left != 0)
            TACIT_CHECK(tacit_fail(error, TACIT_CORRUPT, "the stored state of a secure sum is damaged"));
        if (!state.begun) memset(state.decrypted, 0, sizeof state.decrypted);
    }
    *out = state;
cleanup:
    tacit_buffer_clear(&bytes);
    return status;
}

static tacit_status save_state(const stepping *self, const uint8_t decrypted[TACIT_DIGEST_BYTES],
                               tacit_error *error) {
    const tacit_masks_store *store = &self->masks->store;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_buffer_append_u64(&bytes, self->question->round, error));
    TACIT_CHECK(tacit_buffer_append(&bytes, self->step->sum_id, sizeof self->step->sum_id, error));
    TACIT_CHECK(tacit_buffer_append(&bytes, decrypted, TACIT_DIGEST_BYTES, error));
    TACIT_CHECK(store->write(store->context, MASKED_STATE_NAME, bytes.bytes, bytes.length, error));
cleanup:
    tacit_buffer_clear(&bytes);
    return status;
}

/* ---- the key ---- */

static tacit_status make_key(tacit_masks *masks, unsigned bits, tacit_pool *pool, tacit_error *error) {
    tacit_paillier_secret *secret = NULL;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    uint8_t *room;
    tacit_status status;
    /* in one piece: it holds secrets */
    TACIT_CHECK(tacit_buffer_reserve(&bytes, KEY_BYTES_MOST, &room, error));
    TACIT_CHECK(tacit_paillier_generate(&secret, bits, pool, error));
    TACIT_CHECK(tacit_paillier_secret_write(secret, &bytes, error));
    TACIT_CHECK(masks->store.write(masks->store.context, KEY_NAME, bytes.bytes, bytes.length, error));
    masks->paillier = secret;
    secret = NULL;
cleanup:
    if (bytes.bytes != NULL) sodium_memzero(bytes.bytes, bytes.capacity);
    tacit_buffer_clear(&bytes);
    tacit_paillier_secret_free(secret);
    return status;
}

/* The key holder's own: in memory, or on its disk, or made now. */
static tacit_status need_key(tacit_masks *masks, unsigned bits, tacit_pool *pool, tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    bool found = false;
    uint8_t *room;
    tacit_status status;
    if (masks->paillier != NULL) return TACIT_OK;
    TACIT_CHECK(tacit_buffer_reserve(&bytes, KEY_BYTES_MOST, &room, error));
    TACIT_CHECK(masks->store.read(masks->store.context, KEY_NAME, &found, &bytes, error));
    if (!found) {
        TACIT_CHECK(make_key(masks, bits, pool, error));
    } else {
        status = tacit_paillier_secret_read(&masks->paillier, bytes.bytes, bytes.length, error);
        if (status != TACIT_OK && status != TACIT_NO_MEMORY) {
            tacit_fail_in(error, status, "the stored key for this study's sums is damaged: leave the study");
            status = TACIT_CORRUPT;
        }
    }
cleanup:
    if (bytes.bytes != NULL) sodium_memzero(bytes.bytes, bytes.capacity);
    tacit_buffer_clear(&bytes);
    return status;
}

static tacit_status require_holder(const stepping *self, tacit_error *error) {
    if (self->masks->place == TACIT_KEY_HOLDER) return TACIT_OK;
    return tacit_fail(error, TACIT_REFUSED,
                      "the coordinator asks this party for a key that party 1 of the roster holds");
}

static tacit_status give_key(stepping *self, const tacit_paillier_sum_terms *terms, tacit_buffer *out,
                             tacit_error *error) {
    tacit_masks *masks = self->masks;
    tacit_buffer body = TACIT_BUFFER_INIT;
    encrypted_state state;
    tacit_status status;
    TACIT_CHECK(require_holder(self, error));
    TACIT_CHECK(load_state(self, &state, error));
    TACIT_CHECK(need_key(masks, terms->key_bits, self->party->pool, error));
    TACIT_CHECK(tacit_paillier_sum_write_key(&body, terms, masks->paillier, &self->signer, error));
    TACIT_CHECK(masked_pass(self, &body, KEY_BYTES_MOST + STEP_SPARE, out, error));
cleanup:
    tacit_buffer_clear(&body);
    return status;
}

/* The first key that came is the study's, for good. */
static tacit_status pin_key(const tacit_masks *masks, const tacit_paillier_public *key, tacit_error *error) {
    const uint8_t *print = tacit_paillier_fingerprint(key);
    tacit_buffer pinned = TACIT_BUFFER_INIT;
    bool found = false;
    tacit_status status;
    TACIT_CHECK(masks->store.read(masks->store.context, PIN_NAME, &found, &pinned, error));
    if (!found)
        TACIT_CHECK(masks->store.write(masks->store.context, PIN_NAME, print,
                                       TACIT_PAILLIER_FINGERPRINT_BYTES, error));
    else if (pinned.length != TACIT_PAILLIER_FINGERPRINT_BYTES ||
             memcmp(pinned.bytes, print, TACIT_PAILLIER_FINGERPRINT_BYTES) != 0)
        status =
            tacit_fail(error, TACIT_REFUSED, "the key for this study's sums has changed since its first sum");
cleanup:
    tacit_buffer_clear(&pinned);
    return status;
}

/* ---- the step that counts ---- */

static tacit_status encrypt_contribution(stepping *self, const tacit_paillier_sum_terms *terms,
                                         const tacit_paillier_sum_key *key, tacit_reply *reply,
                                         tacit_buffer *payload, tacit_error *error) {
    tacit_party *party = self->party;
    tacit_buffer body = TACIT_BUFFER_LIMITED(TACIT_PAYLOAD_MOST);
    int64_t *values = TACIT_NEW(int64_t, terms->length);
    tacit_status status;
    if (values == NULL) return tacit_fail_memory(error);
    if (party->noise.entropy == NULL)
        TACIT_CHECK(tacit_fail(error, TACIT_INTERNAL, "a party without entropy cannot encrypt"));
    TACIT_CHECK(tacit_party_compute(party, self->question, reply, error));
    TACIT_CHECK(tacit_party_grid_steps(self->question, reply, values, error));
    TACIT_CHECK(tacit_paillier_sum_encrypt(&body, terms, key, self->masks->place, values, &self->signer,
                                           party->noise.entropy, party->pool, error));
    TACIT_CHECK(masked_note_noise(self, reply, error));
    TACIT_CHECK(masked_encode_body(self, &body, payload, error));
cleanup:
    sodium_memzero(values, terms->length * sizeof *values);
    free(values);
    tacit_buffer_clear(&body);
    return status;
}

static tacit_status give_contribution(stepping *self, const tacit_paillier_sum_terms *terms,
                                      const tacit_securesum_roster *roster, tacit_buffer *out,
                                      tacit_error *error) {
    const tacit_buffer *signed_key = &self->step->body;
    tacit_reply reply = { .message = TACIT_MESSAGE_INIT };
    tacit_buffer payload = TACIT_BUFFER_LIMITED(TACIT_PAYLOAD_MOST);
    tacit_paillier_sum_key key = { .numbers = NULL };
    encrypted_state state;
    bool stored = false;
    tacit_status status;
    TACIT_CHECK(masked_same_question(self, error));
    TACIT_CHECK(load_state(self, &state, error));
    TACIT_CHECK(
        tacit_paillier_sum_read_key(&key, terms, roster, signed_key->bytes, signed_key->length, error));
    TACIT_CHECK(pin_key(self->masks, key.numbers, error));
    TACIT_CHECK(tacit_gate_has_answer(&stored, self->party->gate, self->question->answer_id,
                                      self->question_hash, error));
    if (stored)
        TACIT_CHECK(tacit_party_stored_reply(self->party, self->question, &reply, error));
    else
        TACIT_CHECK(encrypt_contribution(self, terms, &key, &reply, &payload, error));
    if (!state.begun) TACIT_CHECK(save_state(self, state.decrypted, error));
    TACIT_CHECK(masked_release(self, &reply, &payload, out, error));
cleanup:
    tacit_buffer_clear(&payload);
    tacit_reply_clear(&reply);
    tacit_paillier_sum_key_clear(&key);
    return status;
}

/* ---- the key holder's last step ---- */

/* The contributors that a well-formed question names are the set that the key holder opens sums over, as in
 * masked sums. After their number it has as many bytes of each, the place first. */
static tacit_status hold_contributors(const stepping *self, const tacit_buffer *question,
                                      tacit_error *error) {
    const size_t parties = self->masks->plan->parties;
    tacit_cursor cursor = tacit_cursor_over(question->bytes, question->length);
    uint8_t *set = TACIT_NEW(uint8_t, (parties + 7) / 8);
    const uint8_t *rest;
    uint32_t count = 0, place = 0;
    if (set == NULL) return tacit_fail_memory(error);
    tacit_cursor_read_u32(&cursor, &count);
    const size_t each = count > 0 ? cursor.left / count : 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!tacit_cursor_read_u32(&cursor, &place) || place >= parties) break;
        set[place / 8] |= (uint8_t)(1u << place % 8);
        if (each < 4 || !tacit_cursor_skip(&cursor, &rest, each - 4)) break;
    }
    tacit_status status = masked_hold_set(self, set, error);
    free(set);
    return status;
}

static tacit_status decrypt_sum(stepping *self, const tacit_paillier_sum_terms *terms,
                                const tacit_securesum_roster *roster, tacit_buffer *out, tacit_error *error) {
    static const uint8_t nothing[TACIT_DIGEST_BYTES];
    tacit_masks *masks = self->masks;
    const tacit_buffer *question = &self->step->body;
    tacit_buffer body = TACIT_BUFFER_INIT;
    uint8_t digest[TACIT_DIGEST_BYTES];
    encrypted_state state;
    tacit_status status;
    TACIT_CHECK(require_holder(self, error));
    TACIT_CHECK(load_state(self, &state, error));
    crypto_generichash(digest, sizeof digest, question->bytes, question->length, NULL, 0);
    if (memcmp(state.decrypted, nothing, sizeof nothing) != 0 &&
        memcmp(state.decrypted, digest, sizeof digest) != 0)
        TACIT_CHECK(tacit_fail(
            error, TACIT_REFUSED,
            "the coordinator asks to decrypt a second product in round %llu: one round has one sum",
            (unsigned long long)self->question->round + 1));
    TACIT_CHECK(need_key(masks, terms->key_bits, self->party->pool, error));
    TACIT_CHECK(tacit_paillier_sum_decrypt(&body, terms, masks->paillier, roster, question->bytes,
                                           question->length, self->party->pool, error));
    TACIT_CHECK(hold_contributors(self, question, error));
    TACIT_CHECK(save_state(self, digest, error));
    TACIT_CHECK(masked_pass(self, &body, tacit_paillier_sum_decrypted_bytes(terms) + STEP_SPARE, out, error));
cleanup:
    tacit_buffer_clear(&body);
    return status;
}

static tacit_status run_encrypted(stepping *self, tacit_buffer *out, tacit_error *error) {
    const tacit_masks *masks = self->masks;
    const tacit_securesum_roster roster = tacit_securesum_ed25519_roster(&masks->roster);
    tacit_paillier_sum_terms terms;
    TACIT_TRY(
        tacit_encrypted_terms(&terms, masks->plan, self->question, self->step->sum_id, masks->digest, error));
    switch (self->step->step) {
    case TACIT_PAILLIER_SUM_KEY: return give_key(self, &terms, out, error);
    case TACIT_PAILLIER_SUM_ENCRYPT: return give_contribution(self, &terms, &roster, out, error);
    case TACIT_PAILLIER_SUM_DECRYPT: return decrypt_sum(self, &terms, &roster, out, error);
    default: return tacit_fail(error, TACIT_PROTOCOL, "the question is no step of an encrypted sum");
    }
}

const secure_ops masked_paillier_ops = { "encrypted", ", and not the key holder,", run_encrypted };
