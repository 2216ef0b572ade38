/* The ledger of a simulated party: sums, events and an optional limit. Small, because there are thousands. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "privacy/ledger/ledger_class_parts.h"

typedef struct memory_ledger {
    tacit_ledger base;
    tacit_charges charges;
    struct {
        double sum_epsilon, sum_delta;
        double limit_epsilon, limit_delta; /* infinite: none */
        double most_spent;                 /* composed at the limit's delta, as far as it was looked at */
    } unit[TACIT_UNITS];
} memory_ledger;

/* What is charged and allowed; `spent` is left to the caller. */
static tacit_account account_of(const memory_ledger *self, tacit_unit unit) {
    return (tacit_account){ .sum_epsilon = self->unit[unit].sum_epsilon,
                            .sum_delta = self->unit[unit].sum_delta,
                            .limited = isfinite(self->unit[unit].limit_epsilon),
                            .limit_epsilon = self->unit[unit].limit_epsilon,
                            .limit_delta = self->unit[unit].limit_delta };
}

/* What is spent, with `sum` the prices of all charges. Accountants answer within rounding and the coarseness
 * of a grid; remembering the most keeps a later answer from being a hair below an earlier one. */
static tacit_status compose(tacit_spending *out, memory_ledger *self, tacit_unit unit, const tacit_price *sum,
                            tacit_error *error) {
    bool limited = isfinite(self->unit[unit].limit_epsilon);
    double delta = limited ? self->unit[unit].limit_delta : sum->delta;
    TACIT_TRY(tacit_charges_compose(out, &self->charges, unit, sum, delta, error));
    if (limited) out->epsilon = fmax(out->epsilon, self->unit[unit].most_spent);
    return TACIT_OK;
}

static tacit_status look(tacit_account *account, memory_ledger *self, tacit_unit unit, tacit_error *error) {
    tacit_spending spent;
    const tacit_price sum = { unit, account->sum_epsilon, account->sum_delta };
    TACIT_TRY(compose(&spent, self, unit, &sum, error));
    if (account->limited) self->unit[unit].most_spent = spent.epsilon;
    account->spent_epsilon = spent.epsilon;
    account->spent_delta = spent.delta;
    account->by = spent.by;
    return TACIT_OK;
}

/* Whether one more charge keeps within the limit. The sum settles it when it fits: the accountants are asked
 * only beyond. */
static tacit_status check_limit(memory_ledger *self, tacit_unit unit, const tacit_price *price,
                                const tacit_event *event, tacit_error *error) {
    tacit_account account = account_of(self, unit);
    tacit_price sum = tacit_account_sum(&account, price, unit);
    tacit_spending after;
    if (!account.limited || (tacit_amount_within(sum.epsilon, account.limit_epsilon) &&
                             tacit_amount_within(sum.delta, account.limit_delta)))
        return TACIT_OK;
    TACIT_TRY(look(&account, self, unit, error));
    TACIT_TRY(tacit_charges_add(&self->charges, event, price->unit, error));
    tacit_status status = compose(&after, self, unit, &sum, error);
    tacit_charges_remove(&self->charges, event, price->unit);
    if (status != TACIT_OK) return status;
    return tacit_account_check(&account, price, &after, unit, "of the simulated party", error);
}

static tacit_status charge(bool *stored, tacit_ledger *ledger, const tacit_release *release,
                           tacit_buffer *out, tacit_error *error) {
    memory_ledger *self = (memory_ledger *)ledger;
    const tacit_price *price = &release->price;
    tacit_event event = tacit_release_event(release);
    (void)out;
    if (release->payload_length == 0)
        return tacit_fail(error, TACIT_INPUT, "a simulated party keeps no answers: hand over the bytes");
    for (int unit = 0; unit < TACIT_UNITS; unit++)
        if (tacit_unit_counts(price->unit, unit)) TACIT_TRY(check_limit(self, unit, price, &event, error));
    TACIT_TRY(tacit_charges_add(&self->charges, &event, price->unit, error));
    for (int unit = 0; unit < TACIT_UNITS; unit++) {
        tacit_account account = account_of(self, unit);
        if (!tacit_unit_counts(price->unit, unit)) continue;
        tacit_price sum = tacit_account_sum(&account, price, unit);
        self->unit[unit].sum_epsilon = sum.epsilon;
        self->unit[unit].sum_delta = sum.delta;
    }
    *stored = false;
    return TACIT_OK;
}

static tacit_status refuse(tacit_ledger *ledger, const tacit_release *release, const char *reason,
                           tacit_error *error) {
    (void)ledger, (void)release, (void)reason, (void)error; /* there is no log */
    return TACIT_OK;
}

static tacit_status has_answer(bool *out, tacit_ledger *ledger, const uint8_t *answer_id,
                               const uint8_t *question_hash, tacit_error *error) {
    (void)ledger, (void)answer_id, (void)question_hash, (void)error;
    *out = false;
    return TACIT_OK;
}

static tacit_status state(bool *found, tacit_ledger *ledger, const char *study, tacit_buffer *out,
                          tacit_error *error) {
    (void)ledger, (void)study, (void)out, (void)error;
    *found = false;
    return TACIT_OK;
}

static tacit_status no_studies(tacit_error *error) {
    return tacit_fail(error, TACIT_USAGE, "a ledger in memory keeps no account of single studies");
}

static tacit_status account(tacit_account *out, tacit_ledger *ledger, const char *study, tacit_unit unit,
                            tacit_error *error) {
    memory_ledger *self = (memory_ledger *)ledger;
    if (study != NULL) return no_studies(error);
    tacit_account account = account_of(self, unit);
    TACIT_TRY(look(&account, self, unit, error));
    *out = account;
    return TACIT_OK;
}

static tacit_status set_limit(tacit_ledger *ledger, const char *study, const tacit_price *limit,
                              const tacit_count *count, tacit_error *error) {
    (void)count; /* one study, whose kinds and numbers its plan fixes */
    memory_ledger *self = (memory_ledger *)ledger;
    if (study != NULL) return no_studies(error);
    if (self->unit[limit->unit].limit_delta != limit->delta) self->unit[limit->unit].most_spent = 0;
    self->unit[limit->unit].limit_epsilon = limit->epsilon;
    self->unit[limit->unit].limit_delta = limit->delta;
    return TACIT_OK;
}

static void free_memory_ledger(tacit_ledger *ledger) {
    tacit_charges_clear(&((memory_ledger *)ledger)->charges);
    free(ledger);
}

static const tacit_ledger_class memory_class = { .durable = false,
                                                 .charge = charge,
                                                 .refuse = refuse,
                                                 .has_answer = has_answer,
                                                 .state = state,
                                                 .account = account,
                                                 .set_limit = set_limit,
                                                 .free = free_memory_ledger };

tacit_status tacit_ledger_create(tacit_ledger **out, tacit_error *error) {
    memory_ledger *self = TACIT_NEW(memory_ledger, 1);
    if (self == NULL) return tacit_fail_memory(error);
    self->base.class = &memory_class;
    for (int unit = 0; unit < TACIT_UNITS; unit++)
        self->unit[unit].limit_epsilon = self->unit[unit].limit_delta = INFINITY;
    *out = &self->base;
    return TACIT_OK;
}
