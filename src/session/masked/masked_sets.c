/*
 * Over whom sums are opened. A sum without noise of its own is exact: two of them over sets that differ by
 * one party, at the same question or at one that differs by 1e-9, give away what that party contributed. So a
 * party consents to one set of survivors, that of the first such sum of a study's version, and to no other in
 * this version.
 *
 * Why it is enough that each party holds to its own set: a sum opens with t consents to one set, and 2 t > n
 * + c. The t - c honest parties or more that have opened a sum over S never consent to another set, which
 * leaves n - t + c < t for it.
 *
 * Sums that carry noise, each party's own or shares of it, are private one by one, and composition covers
 * their differences: they may shrink, within the declared dropouts (docs/securesum.md).
 *
 * What is kept is on the disk before an answer leaves. Of the sum that this party is in: whether its
 * contribution has noise in it, before the contribution leaves; and the set, before the signature of it does.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "session/masked/masked_parts.h"

#define SET_NAME "sum.set"

enum { SET_VERSION = 1 };

bool tacit_plan_is_exact(const tacit_plan *plan) {
    tacit_prices prices = { .event = { .count = 0 } };
    if (plan->method->release_kind(plan) == TACIT_RELEASE_ENTRUSTED || isinf(plan->epsilon)) return true;
    return plan->method->price == NULL || tacit_plan_price(plan, &prices, NULL) != TACIT_OK ||
           isinf(prices.charged.epsilon);
}

bool tacit_plan_holds_set(const tacit_plan *plan) {
    return plan->sums != TACIT_SUMS_CLEAR && tacit_plan_is_exact(plan); /* in clear, each is seen anyway */
}

typedef struct set_record {
    uint64_t round; /* the latest sum that this party contributed to, and whether that had noise */
    uint8_t id[TACIT_MASKED_ID_BYTES];
    uint8_t noised;
    uint8_t held;     /* whether a set is held */
    tacit_buffer set; /* a bit for each place */
} set_record;

static size_t set_bytes(const stepping *self) { return (self->masks->plan->parties + 7) / 8; }

static tacit_status load_record(const stepping *self, set_record *out, tacit_error *error) {
    const tacit_masks_store *store = &self->masks->store;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    uint8_t version = 0;
    bool found = false;
    tacit_status status;
    *out = (set_record){ .set = TACIT_BUFFER_INIT };
    TACIT_CHECK(store->read(store->context, SET_NAME, &found, &bytes, error));
    if (!found) goto cleanup;
    tacit_cursor cursor = tacit_cursor_over(bytes.bytes, bytes.length);
    bool whole = tacit_cursor_read(&cursor, &version, 1) && version == SET_VERSION &&
                 tacit_cursor_read_u64(&cursor, &out->round) &&
                 tacit_cursor_read(&cursor, out->id, sizeof out->id) &&
                 tacit_cursor_read(&cursor, &out->noised, 1) && tacit_cursor_read(&cursor, &out->held, 1) &&
                 cursor.left == (out->held ? set_bytes(self) : 0);
    if (!whole)
        TACIT_CHECK(tacit_fail(error, TACIT_CORRUPT, "the record of who is in this study's sums is damaged"));
    TACIT_CHECK(tacit_buffer_append(&out->set, cursor.bytes, cursor.left, error));
cleanup:
    tacit_buffer_clear(&bytes);
    return status;
}

static tacit_status save_record(const stepping *self, const set_record *record, tacit_error *error) {
    const tacit_masks_store *store = &self->masks->store;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_buffer_append(&bytes, &(uint8_t){ SET_VERSION }, 1, error));
    TACIT_CHECK(tacit_buffer_append_u64(&bytes, record->round, error));
    TACIT_CHECK(tacit_buffer_append(&bytes, record->id, sizeof record->id, error));
    TACIT_CHECK(tacit_buffer_append(&bytes, &record->noised, 1, error));
    TACIT_CHECK(tacit_buffer_append(&bytes, &record->held, 1, error));
    if (record->held) TACIT_CHECK(tacit_buffer_append(&bytes, record->set.bytes, record->set.length, error));
    TACIT_CHECK(store->write(store->context, SET_NAME, bytes.bytes, bytes.length, error));
cleanup:
    tacit_buffer_clear(&bytes);
    return status;
}

tacit_status masked_note_noise(const stepping *self, const tacit_reply *reply, tacit_error *error) {
    set_record record;
    tacit_status status;
    TACIT_CHECK(load_record(self, &record, error));
    record.round = self->question->round;
    memcpy(record.id, self->step->sum_id, sizeof record.id);
    record.noised = reply->noised != NULL && isfinite(reply->price.epsilon);
    TACIT_CHECK(save_record(self, &record, error));
cleanup:
    tacit_buffer_clear(&record.set);
    return status;
}

/* Noise is known of the sum that the record is about; of any other it is not, and then it counts as having
 * none. */
static bool has_noise(const stepping *self, const set_record *record) {
    return record->noised && record->round == self->question->round &&
           memcmp(record->id, self->step->sum_id, sizeof record->id) == 0;
}

static tacit_status refuse_set(const stepping *self, const set_record *record, const uint8_t *set,
                               tacit_error *error) {
    size_t without = 0, with = 0;
    for (size_t i = 0; i < self->masks->plan->parties; i++) {
        bool before = record->set.bytes[i / 8] >> i % 8 & 1, now = set[i / 8] >> i % 8 & 1;
        without += before && !now;
        with += now && !before;
    }
    return tacit_fail(
        error, TACIT_REFUSED,
        "the coordinator asks for a sum without %zu parties that were in the first one and with %zu that "
        "were not: exact sums over sets that differ would show what those parties gave",
        without, with);
}

/* Whoever keeps the sets of other studies is asked before this one is taken. */
static tacit_status ask_past(const stepping *self, const uint8_t *set, tacit_error *error) {
    const tacit_masks *masks = self->masks;
    const size_t parties = masks->plan->parties;
    size_t count = 0;
    if (masks->past.hold == NULL) return TACIT_OK;
    uint8_t(*keys)[TACIT_SIGNING_KEY_BYTES] = malloc(parties * sizeof *keys);
    if (keys == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < parties; i++)
        if (set[i / 8] >> i % 8 & 1) memcpy(keys[count++], masks->keys[i], sizeof *keys);
    tacit_status status =
        masks->past.hold(masks->past.context, (const uint8_t(*)[TACIT_SIGNING_KEY_BYTES])keys, count, error);
    free(keys);
    return status;
}

void tacit_masks_set_past(tacit_masks *masks, const tacit_masks_past *past) { masks->past = *past; }

tacit_status masked_hold_set(const stepping *self, const uint8_t *set, tacit_error *error) {
    set_record record;
    tacit_status status;
    TACIT_CHECK(load_record(self, &record, error));
    if (has_noise(self, &record)) goto cleanup;
    if (!record.held) {
        TACIT_CHECK(ask_past(self, set, error));
        record.held = 1;
        TACIT_CHECK(tacit_buffer_append(&record.set, set, set_bytes(self), error));
        TACIT_CHECK(save_record(self, &record, error));
    } else if (memcmp(record.set.bytes, set, set_bytes(self)) != 0) {
        status = refuse_set(self, &record, set, error);
    }
cleanup:
    tacit_buffer_clear(&record.set);
    return status;
}
