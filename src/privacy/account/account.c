/* The accountant as its users see it: events in, the best provable (epsilon, delta) out. */
#include <math.h>

#include "base/growing.h"
#include "base/memory.h"
#include "privacy/account/account_parts.h"

tacit_status tacit_accountant_create(tacit_accountant **out, tacit_adjacency adjacency, tacit_error *error) {
    if (adjacency != TACIT_ADD_OR_REMOVE && adjacency != TACIT_REPLACE)
        return tacit_fail(error, TACIT_USAGE, "%d is no adjacency", (int)adjacency);
    tacit_accountant *accountant = TACIT_NEW(tacit_accountant, 1);
    if (accountant == NULL) return tacit_fail_memory(error);
    accountant->adjacency = adjacency;
    *out = accountant;
    return TACIT_OK;
}

tacit_accountant *tacit_accountant_free(tacit_accountant *accountant) {
    if (accountant != NULL) free(accountant->events);
    free(accountant);
    return NULL;
}

static bool same_event(const tacit_event *a, const tacit_event *b) {
    return a->kind == b->kind && a->parameter == b->parameter && a->delta == b->delta &&
           a->sampling == b->sampling && a->replaced == b->replaced;
}

bool tacit_accountant_replaces(const tacit_accountant *accountant) {
    for (size_t i = 0; i < accountant->count; i++)
        if (accountant->events[i].replaced) return true;
    return false;
}

tacit_status tacit_accountant_refuse_concentrated(const tacit_accountant *accountant, tacit_error *error) {
    for (size_t i = 0; i < accountant->count; i++)
        if (accountant->events[i].kind == TACIT_EVENT_CONCENTRATED)
            return tacit_fail(error, TACIT_USAGE, "of an event only its zCDP is known: use zCDP or RDP");
    return TACIT_OK;
}

static tacit_event *find_event(const tacit_accountant *accountant, const tacit_event *event) {
    for (size_t i = 0; i < accountant->count; i++)
        if (same_event(&accountant->events[i], event)) return &accountant->events[i];
    return NULL;
}

static tacit_status check_room(const tacit_accountant *accountant, const tacit_event *event,
                               tacit_error *error) {
    TACIT_TRY(tacit_event_check(event, error));
    uint64_t runs = accountant->runs + event->count;
    if (event->replaced && accountant->adjacency != TACIT_REPLACE)
        return tacit_fail(error, TACIT_USAGE,
                          "an event about a replaced row in an account of rows that come or go");
    if (runs > TACIT_EVENT_COUNT_MOST)
        return tacit_fail(error, TACIT_USAGE, "%llu events in all: at most %llu", (unsigned long long)runs,
                          (unsigned long long)TACIT_EVENT_COUNT_MOST);
    return TACIT_OK;
}

tacit_status tacit_accountant_append(tacit_accountant *accountant, const tacit_event *event,
                                     tacit_error *error) {
    TACIT_TRY(check_room(accountant, event, error));
    tacit_event *grown =
        tacit_grow_by_one(accountant->events, accountant->count, &accountant->capacity, 4, sizeof *grown);
    if (grown == NULL) return tacit_fail_memory(error);
    accountant->events = grown;
    accountant->events[accountant->count++] = *event;
    accountant->runs += event->count;
    return TACIT_OK;
}

tacit_status tacit_accountant_add(tacit_accountant *accountant, const tacit_event *event,
                                  tacit_error *error) {
    tacit_event *same = find_event(accountant, event);
    if (same == NULL) return tacit_accountant_append(accountant, event, error);
    TACIT_TRY(check_room(accountant, event, error));
    same->count += event->count;
    accountant->runs += event->count;
    return TACIT_OK;
}

static const struct {
    const char *name;
    tacit_account_epsilon *epsilon;
    tacit_account_delta *delta;
} compositions[TACIT_COMPOSITIONS] = {
#define ROW(NUMBER, name, function) { name, tacit_##function##_epsilon, tacit_##function##_delta },
    TACIT_ACCOUNTANTS(ROW)
};

const char *tacit_composition_name(tacit_composition composition) {
    return (unsigned)composition < TACIT_COMPOSITIONS ? compositions[composition].name : "unknown accountant";
}

static tacit_status check_delta(const tacit_accountant *accountant, double delta, tacit_error *error) {
    if (accountant->count == 0) return tacit_fail(error, TACIT_USAGE, "no event has been added");
    if (!(delta >= 0 && delta < 1))
        return tacit_fail(error, TACIT_USAGE, "delta is %g: give a number from 0 to below 1", delta);
    if (delta > 0 && delta < 1e-290)
        return tacit_fail(error, TACIT_USAGE, "delta is %g: give 0 or a number from 1e-290 on", delta);
    return TACIT_OK;
}

static tacit_status check_epsilon(const tacit_accountant *accountant, double epsilon, tacit_error *error) {
    if (accountant->count == 0) return tacit_fail(error, TACIT_USAGE, "no event has been added");
    if (!(epsilon >= 0 && isfinite(epsilon)))
        return tacit_fail(error, TACIT_USAGE, "epsilon is %g: give a finite number from 0 on", epsilon);
    return TACIT_OK;
}

static tacit_status check_composition(tacit_composition composition, tacit_error *error) {
    if ((unsigned)composition >= TACIT_COMPOSITIONS)
        return tacit_fail(error, TACIT_USAGE, "%d is no accountant", (int)composition);
    return TACIT_OK;
}

tacit_status tacit_accountant_epsilon_by(double *out, const tacit_accountant *accountant,
                                         tacit_composition composition, double delta, tacit_error *error) {
    TACIT_TRY(check_composition(composition, error));
    TACIT_TRY(check_delta(accountant, delta, error));
    return compositions[composition].epsilon(out, accountant, delta, error);
}

tacit_status tacit_accountant_delta_by(double *out, const tacit_accountant *accountant,
                                       tacit_composition composition, double epsilon, tacit_error *error) {
    TACIT_TRY(check_composition(composition, error));
    TACIT_TRY(check_epsilon(accountant, epsilon, error));
    return compositions[composition].delta(out, accountant, epsilon, error);
}

/* An accountant that does not apply is passed over; any other failure ends the search. */
static tacit_status passed_over(tacit_status status) { return status == TACIT_USAGE ? TACIT_OK : status; }

enum { KINDS_MOST = 64, OPTIMAL_RUNS_MOST = 200000 };

/* Kinds of events after the merging of unsampled Gaussians. */
static size_t other_kinds(const tacit_accountant *accountant) {
    size_t count = 0;
    for (size_t i = 0; i < accountant->count; i++)
        count += accountant->events[i].kind != TACIT_EVENT_GAUSSIAN || accountant->events[i].sampling < 1;
    return count;
}

/* The exact answer, where there is one, cannot be beaten and is by far the cheapest. */
static bool all_gaussian(const tacit_accountant *accountant) { return other_kinds(accountant) == 0; }

/* The last accountant worth asking: the composition of Kairouz, Oh and Viswanath is optimal for what is known
 * of one kind of pure or approximate event, and the cost of RDP and PLD grows with the number of kinds. */
static tacit_composition last_useful(const tacit_accountant *accountant) {
    tacit_event_kind kind = accountant->events[0].kind;
    bool generic =
        (kind == TACIT_EVENT_PURE || kind == TACIT_EVENT_APPROXIMATE) && accountant->events[0].sampling == 1;
    if (accountant->count == 1 && generic && accountant->runs <= OPTIMAL_RUNS_MOST)
        return TACIT_COMPOSITION_ADVANCED;
    return other_kinds(accountant) > KINDS_MOST ? TACIT_COMPOSITION_ZCDP : TACIT_COMPOSITIONS - 1;
}

tacit_status tacit_accountant_epsilon(tacit_spending *out, const tacit_accountant *accountant, double delta,
                                      tacit_error *error) {
    TACIT_TRY(check_delta(accountant, delta, error));
    tacit_spending best = { INFINITY, delta, TACIT_COMPOSITION_BASIC };
    bool exact = all_gaussian(accountant) && delta > 0;
    int last = last_useful(accountant);
    for (int c = exact ? TACIT_COMPOSITION_GAUSSIAN : 0; c <= last; c++) {
        double epsilon = INFINITY;
        tacit_status status = compositions[c].epsilon(&epsilon, accountant, delta, NULL);
        if (passed_over(status) != TACIT_OK)
            return tacit_fail(error, status, "%s", tacit_status_text(status));
        if (status == TACIT_OK && epsilon < best.epsilon)
            best = (tacit_spending){ epsilon, delta, (tacit_composition)c };
        if (exact) break;
    }
    if (isinf(best.epsilon))
        return tacit_fail(error, TACIT_USAGE, "no epsilon is proved at delta %g: give a larger delta", delta);
    *out = best;
    return TACIT_OK;
}

tacit_status tacit_accountant_delta(tacit_spending *out, const tacit_accountant *accountant, double epsilon,
                                    tacit_error *error) {
    TACIT_TRY(check_epsilon(accountant, epsilon, error));
    tacit_spending best = { epsilon, 1, TACIT_COMPOSITION_BASIC };
    bool exact = all_gaussian(accountant);
    for (int c = exact ? TACIT_COMPOSITION_GAUSSIAN : 0; c < TACIT_COMPOSITIONS; c++) {
        double delta = 1;
        tacit_status status = compositions[c].delta(&delta, accountant, epsilon, NULL);
        if (passed_over(status) != TACIT_OK)
            return tacit_fail(error, status, "%s", tacit_status_text(status));
        if (status == TACIT_OK && delta < best.delta)
            best = (tacit_spending){ epsilon, delta, (tacit_composition)c };
        if (exact) break;
    }
    *out = best;
    return TACIT_OK;
}

/* Proof note. Under add/remove the row is in one set, and the outputs of the others do not depend on it.
 * Under replacement within a set likewise. A replaced row that moves is removed from one set and added to
 * another: the two guarantees compose (Dwork and Roth 2014, Theorem 3.16), and a removal costs no more than a
 * replacement. */
tacit_status tacit_accountant_parallel(tacit_spending *out, const tacit_accountant *const *accountants,
                                       size_t count, bool by_value, double delta, tacit_error *error) {
    if (count == 0) return tacit_fail(error, TACIT_USAGE, "no account to compose in parallel");
    tacit_spending first = { 0, delta, TACIT_COMPOSITION_BASIC };
    double second = 0;
    bool moves = false;
    for (size_t i = 0; i < count; i++) {
        tacit_spending one;
        TACIT_TRY(tacit_accountant_epsilon(&one, accountants[i], delta, error));
        moves = moves || (by_value && accountants[i]->adjacency == TACIT_REPLACE);
        second = fmax(second, fmin(one.epsilon, first.epsilon));
        if (i == 0 || one.epsilon > first.epsilon) first = one;
    }
    if (moves && count > 1) {
        first.epsilon = tacit_add_up(first.epsilon, second);
        first.delta = 2 * delta;
        if (!(first.delta < 1))
            return tacit_fail(error, TACIT_USAGE, "twice delta %g is no longer below 1", delta);
    }
    *out = first;
    return TACIT_OK;
}

double tacit_solve_epsilon(tacit_delta_curve *curve, const void *context, double delta, double high) {
    double low = 0;
    if (curve(context, 0) <= delta) return 0;
    for (int i = 0; i < 80 && high - low > 1e-10 * high; i++) {
        double middle = low + (high - low) / 2;
        if (curve(context, middle) <= delta)
            high = middle;
        else
            low = middle;
    }
    return high;
}

double tacit_group_delta(double removed, double added, double epsilon) {
    double delta = (removed + exp(epsilon / 2) * added) * (1 + 16 * TACIT_ROUND * (1 + epsilon));
    return delta < 1 ? delta : 1;
}
