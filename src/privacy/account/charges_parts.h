/*
 * The charges of an account, and what they cost together. For the files of this folder only.
 *
 * Each release has a price, and prices add (basic composition): that sum is kept, always, and never beaten
 * upwards. Each release also has an event (tacit_release_event), and equal events are counted together, so
 * that ten thousand answers of one study are one item with a count and the accountants (accountant.h) need no
 * longer for them than for one.
 */
#pragma once

#include "privacy/account/release.h"

typedef struct tacit_charge {
    tacit_event event;
    tacit_unit unit;
} tacit_charge;

/* The first item needs no memory of its own: most simulated parties are asked one kind of question, and there
 * are thousands of them. */
typedef struct tacit_charges {
    tacit_charge first;
    tacit_charge *more;
    size_t count, capacity; /* of all items; of `more` */
} tacit_charges;

#define TACIT_CHARGES_INIT                                                                                   \
    { .more = NULL, .count = 0, .capacity = 0 }

/* Count `event` (nothing happens at count 0) in with its equals, or as a new item. */
tacit_status tacit_charges_add(tacit_charges *charges, const tacit_event *event, tacit_unit unit,
                               tacit_error *error);

/* Take back what tacit_charges_add added. */
void tacit_charges_remove(tacit_charges *charges, const tacit_event *event, tacit_unit unit);

/* The same as adding for an event known to be new. */
tacit_status tacit_charges_append(tacit_charges *charges, const tacit_event *event, tacit_unit unit,
                                  tacit_error *error);
void tacit_charges_clear(tacit_charges *charges);

/* TACIT_CORRUPT unless an event read from a file could have been charged. */
tacit_status tacit_charge_check(const tacit_event *event, tacit_error *error);

/* Whether a charge in `charged` counts towards the total in `total`; see ledger.h for why. */
static inline bool tacit_unit_counts(tacit_unit charged, tacit_unit total) {
    return total == TACIT_UNIT_RECORD || charged == TACIT_UNIT_PARTY;
}

/* Put the events that count for the unit into an accountant; *whole is false when one of them is beyond the
 * accountants. */
tacit_status tacit_charges_gather(bool *whole, tacit_accountant *accountant, const tacit_charges *charges,
                                  tacit_unit unit, tacit_error *error);

/* The least epsilon at `delta`, for the unit, of the charges that count for it: by the accountants or, where
 * it is less or they do not apply, by `sum`, the sum of their prices. Infinite when nothing is proved at that
 * delta. At delta 0, with no delta charged, it is the sum. */
tacit_status tacit_charges_compose(tacit_spending *out, const tacit_charges *charges, tacit_unit unit,
                                   const tacit_price *sum, double delta, tacit_error *error);
