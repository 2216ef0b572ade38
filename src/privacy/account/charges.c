#include "privacy/account/charges_parts.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "privacy/account/account_parts.h"

static bool same_kind(const tacit_event *a, const tacit_event *b) {
    return a->kind == b->kind && a->parameter == b->parameter && a->delta == b->delta &&
           a->sampling == b->sampling && a->replaced == b->replaced;
}

static tacit_charge *item_at(tacit_charges *charges, size_t i) {
    return i == 0 ? &charges->first : &charges->more[i - 1];
}

tacit_status tacit_charges_append(tacit_charges *charges, const tacit_event *event, tacit_unit unit,
                                  tacit_error *error) {
    if (event->count == 0) return TACIT_OK;
    if (charges->count > charges->capacity) {
        size_t capacity = 2 * charges->capacity + 4;
        tacit_charge *grown = tacit_grow(charges->more, capacity, sizeof *grown);
        if (grown == NULL) return tacit_fail_memory(error);
        charges->more = grown;
        charges->capacity = capacity;
    }
    *item_at(charges, charges->count++) = (tacit_charge){ *event, unit };
    return TACIT_OK;
}

static tacit_charge *find(tacit_charges *charges, const tacit_event *event, tacit_unit unit) {
    for (size_t i = 0; i < charges->count; i++) {
        tacit_charge *item = item_at(charges, i);
        if (item->unit == unit && same_kind(&item->event, event)) return item;
    }
    return NULL;
}

tacit_status tacit_charges_add(tacit_charges *charges, const tacit_event *event, tacit_unit unit,
                               tacit_error *error) {
    tacit_charge *item = find(charges, event, unit);
    if (item == NULL) return tacit_charges_append(charges, event, unit, error);
    item->event.count += event->count;
    return TACIT_OK;
}

void tacit_charges_remove(tacit_charges *charges, const tacit_event *event, tacit_unit unit) {
    tacit_charge *item = find(charges, event, unit);
    if (item == NULL) return;
    item->event.count -= event->count;
    if (item->event.count == 0) *item = *item_at(charges, --charges->count);
}

void tacit_charges_clear(tacit_charges *charges) {
    free(charges->more);
    *charges = (tacit_charges)TACIT_CHARGES_INIT;
}

/* A price may have an epsilon, and a long history a count, that no accountant takes; such an account goes by
 * its sum. */
static bool beyond_accountants(const tacit_event *event) {
    bool generic = event->kind == TACIT_EVENT_PURE || event->kind == TACIT_EVENT_APPROXIMATE;
    return (generic && event->parameter > TACIT_EVENT_EPSILON_MOST) || event->count > TACIT_EVENT_COUNT_MOST;
}

tacit_status tacit_charge_check(const tacit_event *event, tacit_error *error) {
    tacit_event within = *event;
    if (beyond_accountants(event)) {
        within.parameter = fmin(event->parameter, TACIT_EVENT_EPSILON_MOST);
        within.count = 1;
    }
    if (event->count <= INT64_MAX && tacit_event_check(&within, NULL) == TACIT_OK) return TACIT_OK;
    return tacit_fail(error, TACIT_CORRUPT, "an event among the charges makes no sense");
}

tacit_status tacit_charges_gather(bool *whole, tacit_accountant *accountant, const tacit_charges *charges,
                                  tacit_unit unit, tacit_error *error) {
    *whole = true;
    for (size_t i = 0; i < charges->count && *whole; i++) {
        const tacit_charge *item = i == 0 ? &charges->first : &charges->more[i - 1];
        if (!tacit_unit_counts(item->unit, unit)) continue;
        *whole = !beyond_accountants(&item->event) &&
                 accountant->runs + item->event.count <= TACIT_EVENT_COUNT_MOST;
        if (*whole) TACIT_TRY(tacit_accountant_append(accountant, &item->event, error));
    }
    return TACIT_OK;
}

tacit_status tacit_charges_compose(tacit_spending *out, const tacit_charges *charges, tacit_unit unit,
                                   const tacit_price *sum, double delta, tacit_error *error) {
    tacit_spending best = { INFINITY, delta, TACIT_COMPOSITION_BASIC }, proved;
    tacit_accountant *accountant = NULL;
    bool whole = false;
    tacit_status status = TACIT_OK;
    if (tacit_amount_within(sum->delta, delta)) best.epsilon = sum->epsilon;
    if (sum->epsilon == 0 || (delta == 0 && sum->delta == 0)) goto cleanup;
    TACIT_CHECK(tacit_accountant_create(&accountant, TACIT_REPLACE, error));
    TACIT_CHECK(tacit_charges_gather(&whole, accountant, charges, unit, error));
    /* One release at its own delta costs its price. */
    if (!whole || accountant->count == 0 || (accountant->runs == 1 && delta == sum->delta)) goto cleanup;
    status = tacit_accountant_epsilon(&proved, accountant, delta, NULL);
    if (status == TACIT_OK && proved.epsilon < best.epsilon) best = proved;
    if (status == TACIT_USAGE) status = TACIT_OK; /* no accountant proves anything at this delta */
    if (status != TACIT_OK) status = tacit_fail(error, status, "%s", tacit_status_text(status));
cleanup:
    tacit_accountant_free(accountant);
    if (status == TACIT_OK) *out = best;
    return status;
}
