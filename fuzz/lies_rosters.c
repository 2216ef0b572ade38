/* Lies about who is who, and about the drawing of the graph. */
#include <stdio.h>
#include <string.h>

#include "lies_parts.h"

/* ---- rosters ---- */

static void fresh_key(uint32_t at, uint8_t shown[TACIT_SIGNING_KEY_BYTES],
                      uint8_t secret[crypto_sign_SECRETKEYBYTES]) {
    const uint8_t seed[crypto_sign_SEEDBYTES] = { (uint8_t)at, 99 };
    crypto_sign_seed_keypair(shown, secret, seed);
}

void lies_secret_of(const lies *self, const lies_roster_shown *roster, uint32_t place,
                    uint8_t out[crypto_sign_SECRETKEYBYTES]) {
    uint8_t shown[TACIT_SIGNING_KEY_BYTES];
    if (roster->kind == LIES_ROSTER_REPLACED && place == roster->at)
        fresh_key(place, shown, out);
    else
        memcpy(out, self->party[roster->who[place]].secret_key, crypto_sign_SECRETKEYBYTES);
}

static void change(lies_roster_shown *roster, uint32_t at, uint32_t beside) {
    uint8_t secret[crypto_sign_SECRETKEYBYTES], key[TACIT_SIGNING_KEY_BYTES];
    const uint32_t who = roster->who[at], puppet = roster->puppets >> at & 1,
                   other = roster->puppets >> beside & 1;
    switch (roster->kind) {
    case LIES_ROSTER_SWAPPED:
        memcpy(key, roster->keys[at], sizeof key);
        memcpy(roster->keys[at], roster->keys[beside], sizeof key);
        memcpy(roster->keys[beside], key, sizeof key);
        roster->who[at] = roster->who[beside];
        roster->who[beside] = who;
        roster->puppets = (roster->puppets & ~(1u << at | 1u << beside)) | other << at | puppet << beside;
        break;
    case LIES_ROSTER_REPLACED:
        fresh_key(at, roster->keys[at], secret);
        roster->puppets |= 1u << at;
        break;
    case LIES_ROSTER_TWICE: memcpy(roster->keys[beside], roster->keys[at], sizeof key); break;
    case LIES_ROSTER_SHORT: roster->count--; break;
    case LIES_ROSTER_LONG:
        fresh_key(roster->count, roster->keys[roster->count], secret), roster->count++;
        break;
    default: break;
    }
}

void lies_make_roster(const lies *self, lies_roster_shown *out, lies_roster_kind kind, uint32_t at) {
    const uint32_t parties = (uint32_t)self->settings.parties;
    *out = (lies_roster_shown){
        .kind = kind, .at = at % parties, .count = parties, .puppets = self->settings.puppets
    };
    memcpy(out->keys, self->keys, parties * sizeof out->keys[0]);
    for (uint32_t k = 0; k < parties; k++) out->who[k] = k;
    change(out, out->at, (out->at + 1) % parties);
    out->signers = (tacit_signing_roster){ out->count, (const uint8_t(*)[TACIT_SIGNING_KEY_BYTES])out->keys };
    tacit_securesum_roster_digest(out->digest, &out->signers);
}

void lies_show_roster(lies *self, lies_roster_kind kind, uint32_t at) {
    self->kind = kind;
    self->at = at % (uint32_t)self->settings.parties;
}

void lies_took_roster(lies *self, const lies_sum *sum, uint32_t k) {
    lies_party *party = &self->party[k];
    const uint8_t *digest = sum->roster.digest;
    if (sum->roster.kind >= LIES_ROSTER_TWICE)
        snprintf(self->how, sizeof self->how, "party %u on a roster of the wrong size, or with a key twice",
                 k);
    if (party->pinned && memcmp(party->roster, digest, sizeof party->roster) != 0)
        snprintf(self->how, sizeof self->how, "party %u on a second roster", k);
    party->pinned = true;
    memcpy(party->roster, digest, sizeof party->roster);
}

/* ---- the drawing ---- */

tacit_drawing lies_drawing(const lies *self) {
    static const uint8_t version[TACIT_HASH_BYTES];
    return tacit_masked_drawing(&self->plan, "study", version, self->roster.digest, &self->roster.signers);
}

/* Of one place, with what puppets like. */
static void write_commitment(const lies *self, uint32_t k, uint32_t nonce, tacit_buffer *out) {
    const tacit_drawing drawing = lies_drawing(self);
    const uint8_t secret[TACIT_DRAWING_SECRET_BYTES] = { (uint8_t)nonce, (uint8_t)k };
    const tacit_securesum_signer signer = tacit_securesum_ed25519_signer(self->party[k].secret_key);
    lies_must(tacit_buffer_append_u32(out, k, NULL));
    if (lies_is_puppet(self, k))
        lies_must(tacit_drawing_commit(&drawing, k, secret, &signer, out, NULL));
    else
        lies_must(
            tacit_buffer_append(out, self->drawn.commitment[k], sizeof self->drawn.commitment[k], NULL));
}

static bool is_listed(const lies *self, uint32_t members, uint32_t k) {
    return lies_has(members, k) && (lies_is_puppet(self, k) || lies_has(self->drawn.committed, k));
}

void lies_write_list(const lies *self, uint32_t members, uint32_t nonce, tacit_buffer *out) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < self->settings.parties; k++) count += is_listed(self, members, k);
    lies_must(tacit_buffer_append_u32(out, count, NULL));
    for (uint32_t k = 0; k < self->settings.parties; k++)
        if (is_listed(self, members, k)) write_commitment(self, k, nonce, out);
}

/* Whoever has not opened for this list is shown with what it opened for another, or with nothing. */
bool lies_write_proof(const lies *self, uint32_t members, uint32_t nonce, tacit_buffer *out,
                      uint8_t seed[TACIT_GRAPH_SEED_BYTES]) {
    const tacit_drawing drawing = lies_drawing(self);
    tacit_drawing_list list;
    lies_write_list(self, members, nonce, out);
    if (tacit_drawing_read_list(&list, &drawing, out->bytes, out->length, NULL) != TACIT_OK) return false;
    for (uint32_t k = 0; k < self->settings.parties; k++) {
        const uint8_t secret[TACIT_DRAWING_SECRET_BYTES] = { (uint8_t)nonce, (uint8_t)k };
        const tacit_securesum_signer signer = tacit_securesum_ed25519_signer(self->party[k].secret_key);
        if (!is_listed(self, members, k)) continue;
        if (lies_is_puppet(self, k))
            lies_must(tacit_drawing_open(&drawing, k, secret, &list, &signer, out, NULL));
        else
            lies_must(tacit_buffer_append(out, self->drawn.opening[k], sizeof self->drawn.opening[k], NULL));
        list.entries = out->bytes + 4; /* which may have moved */
    }
    return tacit_drawing_read_proof(seed, &list, &drawing, out->bytes, out->length, NULL) == TACIT_OK;
}

/* The bytes that a party answers in a step of the drawing, into `out` of `size`. */
static bool ask_drawing(lies *self, lies_sum *sum, uint32_t k, unsigned step, const tacit_buffer *body,
                        uint8_t *out, size_t size) {
    tacit_answer answer = TACIT_ANSWER_INIT;
    const bool answered = lies_ask(self, sum, k, step, body, &answer);
    if (answered) {
        const tacit_field *field = &answer.message.fields[0];
        if (answer.message.count != 1 || field->count != size) __builtin_trap();
        memcpy(out, field->value.bytes, size);
    }
    tacit_answer_clear(&answer);
    return answered;
}

void lies_draw(lies *self, uint32_t whom) {
    const tacit_buffer nothing = TACIT_BUFFER_INIT;
    uint8_t commitment[TACIT_DRAWING_COMMITMENT_BYTES];
    lies_sum *sum = &self->sum[self->now];
    for (uint32_t k = 0; k < self->settings.parties && self->sums > 0; k++) {
        if (!lies_has(whom, k) || lies_has(sum->roster.puppets, k)) continue;
        if (!ask_drawing(self, sum, k, TACIT_MASKED_DRAW, &nothing, commitment, sizeof commitment)) continue;
        if (sum->roster.kind != LIES_ROSTER_TRUE) continue;
        if (lies_has(self->drawn.committed, k) &&
            memcmp(self->drawn.commitment[k], commitment, sizeof commitment) != 0)
            snprintf(self->how, sizeof self->how, "two commitments of party %u", k);
        memcpy(self->drawn.commitment[k], commitment, sizeof commitment);
        self->drawn.committed |= 1u << k;
    }
}

static void keep_opening(lies *self, uint32_t k, const tacit_buffer *list, const uint8_t *opening) {
    const tacit_drawing drawing = lies_drawing(self);
    lies_drawn *drawn = &self->drawn;
    tacit_drawing_list read;
    if (tacit_drawing_read_list(&read, &drawing, list->bytes, list->length, NULL) != TACIT_OK)
        snprintf(self->how, sizeof self->how, "what party %u opened for a list that is none", k);
    else if (lies_has(drawn->opened, k) && memcmp(drawn->opened_for[k], read.digest, sizeof read.digest) != 0)
        snprintf(self->how, sizeof self->how, "what party %u opened for two lists", k);
    else
        memcpy(drawn->opened_for[k], read.digest, sizeof read.digest);
    memcpy(drawn->opening[k], opening, sizeof drawn->opening[k]);
    drawn->opened |= 1u << k;
}

/* The list is shown from now on, as far as there are commitments. */
void lies_reveal(lies *self, uint32_t whom, uint32_t members, uint32_t nonce) {
    uint8_t opening[TACIT_DRAWING_OPENING_BYTES];
    tacit_buffer list = TACIT_BUFFER_INIT;
    lies_sum *sum = &self->sum[self->now];
    if (!self->settings.draws || self->sums == 0 || sum->roster.kind != LIES_ROSTER_TRUE) return;
    lies_write_list(self, members, nonce, &list);
    for (uint32_t k = 0; k < self->settings.parties; k++) {
        if (!lies_has(whom, k) || lies_is_puppet(self, k)) continue;
        if (ask_drawing(self, sum, k, TACIT_MASKED_REVEAL, &list, opening, sizeof opening))
            keep_opening(self, k, &list, opening);
    }
    tacit_buffer_clear(&list);
    self->drawn.members = members;
    self->drawn.nonce = nonce;
    lies_begin(self, sum->round, sum->question);
}

/* What honest parties of the true roster have kept: a mark of what is there, their bytes, the list, the
 * seed. */
bool lies_one_seed(lies *self) {
    const uint8_t *first = NULL;
    for (uint32_t k = 0; k < self->settings.parties; k++) {
        const lies_party *party = &self->party[k];
        if (!party->pinned || memcmp(party->roster, self->roster.digest, sizeof party->roster) != 0) continue;
        for (size_t i = 0; i < LIES_FILES; i++) {
            const tacit_buffer *kept = &party->kept[i];
            if (strcmp(party->names[i], "sum.graph") != 0 || (kept->bytes[1] & 4) == 0) continue;
            const uint8_t *seed = kept->bytes + kept->length - TACIT_GRAPH_SEED_BYTES;
            if (first != NULL && memcmp(first, seed, TACIT_GRAPH_SEED_BYTES) != 0) {
                snprintf(self->how, sizeof self->how, "two seeds of the graph");
                return false;
            }
            first = seed;
        }
    }
    return true;
}
