/* The coordinator's half of sums in one or two exchanges. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crypto/sum/pairs_parts.h"

/* What came from one place: in the first exchange what it dealt, in the second what it opened. */
typedef struct entry {
    bool has;                          /* in the open step */
    bool survived;                     /* its vector is in the sum */
    uint8_t taken[TACIT_DIGEST_BYTES]; /* hash of the answer to the open step */
    uint8_t *dealt, *opened;           /* NULL: nothing */
} entry;

struct tacit_pairs_server {
    tacit_pairs_terms terms;
    uint8_t context[TACIT_DIGEST_BYTES];
    tacit_pool *pool;
    tacit_pairs_step step;
    entry *entries;
    uint64_t *total;
};

tacit_status tacit_pairs_server_create(tacit_pairs_server **out, const tacit_pairs_terms *terms,
                                       tacit_pool *pool, tacit_error *error) {
    tacit_pairs_server *self = TACIT_NEW(tacit_pairs_server, 1);
    if (self == NULL) return tacit_fail_memory(error);
    self->terms = *terms;
    self->pool = pool;
    self->entries = TACIT_NEW(entry, terms->roster.parties);
    self->total = TACIT_NEW(uint64_t, terms->length);
    if (self->entries == NULL || self->total == NULL) {
        tacit_pairs_server_free(self);
        return tacit_fail_memory(error);
    }
    pairs_context(self->context, terms);
    *out = self;
    return TACIT_OK;
}

tacit_pairs_server *tacit_pairs_server_free(tacit_pairs_server *self) {
    if (self == NULL) return NULL;
    for (uint32_t i = 0; self->entries != NULL && i < self->terms.roster.parties; i++) {
        free(self->entries[i].dealt);
        free(self->entries[i].opened);
    }
    free(self->entries);
    free(self->total);
    free(self);
    return NULL;
}

const tacit_pairs_terms *tacit_pairs_server_terms(const tacit_pairs_server *self) { return &self->terms; }

tacit_pairs_step tacit_pairs_server_step(const tacit_pairs_server *self) { return self->step; }

bool tacit_pairs_server_expects(const tacit_pairs_server *self, uint32_t place) {
    return self->step == TACIT_PAIRS_MASK ||
           (self->step == TACIT_PAIRS_UNMASK && self->entries[place].survived);
}

bool tacit_pairs_server_has(const tacit_pairs_server *self, uint32_t place) {
    return self->entries[place].has;
}

static uint32_t survivors(const tacit_pairs_server *self) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < self->terms.roster.parties; i++) count += self->entries[i].survived;
    return count;
}

/* Masks with an absent party are known to those who have them alone. */
size_t tacit_pairs_server_needed(const tacit_pairs_server *self) {
    if (self->step == TACIT_PAIRS_MASK)
        return self->terms.exchanges == 1 ? self->terms.roster.parties : self->terms.minimum;
    return survivors(self) < self->terms.roster.parties ? survivors(self) : self->terms.minimum;
}

tacit_status tacit_pairs_server_question(const tacit_pairs_server *self, uint32_t place, tacit_buffer *out,
                                         tacit_error *error) {
    uint8_t set[(TACIT_GRAPH_PARTIES_MOST + 7) / 8] = { 0 };
    if (self->step != TACIT_PAIRS_UNMASK) return TACIT_OK;
    for (uint32_t i = 0; i < self->terms.roster.parties; i++)
        if (self->entries[i].survived) set[i / 8] |= (uint8_t)(1 << i % 8);
    TACIT_TRY(pairs_write_header(out, self->context, PAIRS_SURVIVORS, place, error));
    TACIT_TRY(tacit_buffer_append(out, set, pairs_set_bytes(&self->terms), error));
    for (uint32_t dealer = 0; dealer < self->terms.roster.parties; dealer++)
        if (dealer != place && self->entries[dealer].survived)
            TACIT_TRY(tacit_buffer_append(out,
                                          self->entries[dealer].dealt + (size_t)place * PAIRS_DEALT_BYTES,
                                          PAIRS_SEALED_BYTES, error));
    return TACIT_OK;
}

static tacit_status copy(uint8_t **out, const uint8_t *bytes, size_t length, tacit_error *error) {
    *out = malloc(length);
    if (*out == NULL) return tacit_fail_memory(error);
    memcpy(*out, bytes, length);
    return TACIT_OK;
}

static tacit_status take_vector(tacit_pairs_server *self, uint32_t place, tacit_cursor cursor,
                                tacit_error *error) {
    const size_t length = self->terms.length, dealt = (size_t)self->terms.roster.parties * PAIRS_DEALT_BYTES;
    const bool two = self->terms.exchanges == 2;
    TACIT_TRY(pairs_read_header(&cursor, self->context, PAIRS_VECTOR, place,
                                length * sizeof(uint64_t) + (two ? dealt : 0), error));
    if (two)
        TACIT_TRY(copy(&self->entries[place].dealt, cursor.bytes + length * sizeof(uint64_t), dealt, error));
    for (size_t i = 0; i < length; i++) {
        uint64_t word = 0;
        tacit_cursor_read_u64(&cursor, &word);
        self->total[i] += word;
    }
    return TACIT_OK;
}

/* Shares are checked against what their dealers committed to, so that a wrong one has a name. */
static tacit_status take_openings(tacit_pairs_server *self, uint32_t place, tacit_cursor cursor,
                                  tacit_error *error) {
    const size_t length = (size_t)self->terms.roster.parties * TACIT_SECRET_BYTES;
    uint8_t commitment[TACIT_DIGEST_BYTES];
    TACIT_TRY(pairs_read_header(&cursor, self->context, PAIRS_OPENINGS, place, length, error));
    for (uint32_t dealer = 0; dealer < self->terms.roster.parties; dealer++) {
        if (!self->entries[dealer].survived) continue;
        pairs_commit(commitment, self->context, dealer, place,
                     cursor.bytes + (size_t)dealer * TACIT_SECRET_BYTES);
        if (memcmp(commitment,
                   self->entries[dealer].dealt + (size_t)place * PAIRS_DEALT_BYTES + PAIRS_SEALED_BYTES,
                   sizeof commitment) != 0)
            return tacit_fail(error, TACIT_PROTOCOL, "party %lu opened another share than party %lu dealt it",
                              (unsigned long)place + 1, (unsigned long)dealer + 1);
    }
    return copy(&self->entries[place].opened, cursor.bytes, length, error);
}

tacit_status tacit_pairs_server_receive(tacit_pairs_server *self, uint32_t place, const uint8_t *answer,
                                        size_t length, tacit_error *error) {
    uint8_t hash[TACIT_DIGEST_BYTES];
    crypto_generichash(hash, sizeof hash, answer, length, NULL, 0);
    if (place >= self->terms.roster.parties || !tacit_pairs_server_expects(self, place))
        return tacit_fail(error, TACIT_REFUSED, "nothing is asked of this party in the open step");
    entry *one = &self->entries[place];
    if (one->has && memcmp(hash, one->taken, sizeof hash) == 0) return TACIT_OK;
    if (one->has)
        return tacit_fail(error, TACIT_PROTOCOL, "the party answered the same step before, otherwise");
    const tacit_cursor cursor = tacit_cursor_over(answer, length);
    TACIT_TRY((self->step == TACIT_PAIRS_MASK ? take_vector : take_openings)(self, place, cursor, error));
    memcpy(one->taken, hash, sizeof hash);
    one->has = true;
    return TACIT_OK;
}

/* ---- opening ---- */

static tacit_status own_seed(const tacit_pairs_server *self, uint32_t dealer, tacit_secret_share *shares,
                             uint8_t out[TACIT_SECRET_BYTES], tacit_error *error) {
    size_t count = 0;
    for (uint32_t i = 0; i < self->terms.roster.parties; i++) {
        if (self->entries[i].opened == NULL) continue;
        shares[count].place = (uint16_t)(i + 1);
        memcpy(shares[count++].bytes, self->entries[i].opened + (size_t)dealer * TACIT_SECRET_BYTES,
               TACIT_SECRET_BYTES);
    }
    return tacit_shamir_combine(out, shares, count, self->terms.minimum, error);
}

/* Take off a survivor's own mask, and those that it has with absent parties. */
static tacit_status take_off(tacit_pairs_server *self, uint32_t place, tacit_secret_share *shares,
                             tacit_mask *masks, tacit_error *error) {
    size_t count = 0;
    TACIT_TRY(own_seed(self, place, shares, masks[count].seed, error));
    masks[count++].subtract = true;
    for (uint32_t absent = 0; absent < self->terms.roster.parties; absent++) {
        if (self->entries[absent].survived) continue;
        if (self->entries[place].opened == NULL)
            return tacit_fail(error, TACIT_REFUSED,
                              "party %lu has not said which mask it had with party %lu, which is absent",
                              (unsigned long)place + 1, (unsigned long)absent + 1);
        memcpy(masks[count].seed, self->entries[place].opened + (size_t)absent * TACIT_SECRET_BYTES,
               TACIT_SECRET_BYTES);
        masks[count++].subtract = absent > place;
    }
    return tacit_mask_apply(self->total, self->terms.length, masks, count, self->pool, error);
}

static tacit_status open_sum(tacit_pairs_server *self, tacit_error *error) {
    const uint32_t parties = self->terms.roster.parties;
    tacit_secret_share *shares = TACIT_NEW(tacit_secret_share, parties);
    tacit_mask *masks = TACIT_NEW(tacit_mask, parties);
    tacit_status status = TACIT_OK;
    if (shares == NULL || masks == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (uint32_t i = 0; i < parties; i++)
        if (self->entries[i].survived) TACIT_CHECK(take_off(self, i, shares, masks, error));
    self->step = TACIT_PAIRS_OPENED;
cleanup:
    if (shares != NULL) sodium_memzero(shares, parties * sizeof *shares);
    if (masks != NULL) sodium_memzero(masks, parties * sizeof *masks);
    free(shares);
    free(masks);
    return status;
}

tacit_status tacit_pairs_server_close(tacit_pairs_server *self, tacit_error *error) {
    const uint32_t parties = self->terms.roster.parties;
    size_t count = 0;
    for (uint32_t i = 0; i < parties; i++) count += self->entries[i].has;
    if (count < tacit_pairs_server_needed(self))
        return tacit_fail(error, TACIT_REFUSED,
                          "%zu of %zu parties have answered, and the masks of the rest are on the sum", count,
                          tacit_pairs_server_needed(self));
    if (self->step == TACIT_PAIRS_UNMASK) return open_sum(self, error);
    for (uint32_t i = 0; i < parties; i++) {
        self->entries[i].survived = self->entries[i].has;
        self->entries[i].has = false;
    }
    self->step = self->terms.exchanges == 1 ? TACIT_PAIRS_OPENED : TACIT_PAIRS_UNMASK;
    return TACIT_OK;
}

const int64_t *tacit_pairs_server_sum(const tacit_pairs_server *self) {
    return self->step == TACIT_PAIRS_OPENED ? (const int64_t *)self->total : NULL;
}

bool tacit_pairs_server_survived(const tacit_pairs_server *self, uint32_t place) {
    return self->step == TACIT_PAIRS_OPENED && self->entries[place].survived;
}
