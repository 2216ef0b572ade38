/* The ledger of a simulated party: sums and an optional limit. Small, because there are thousands. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "privacy/ledger_class.h"

typedef struct memory_ledger {
    tacit_ledger base;
    struct {
        double spent_epsilon, spent_delta;
        double limit_epsilon, limit_delta; /* infinite: none */
    } unit[TACIT_UNITS];
} memory_ledger;

static tacit_account account_of(const memory_ledger *self, tacit_unit unit) {
    return (tacit_account){ .spent_epsilon = self->unit[unit].spent_epsilon,
                            .spent_delta = self->unit[unit].spent_delta,
                            .limited = isfinite(self->unit[unit].limit_epsilon),
                            .limit_epsilon = self->unit[unit].limit_epsilon,
                            .limit_delta = self->unit[unit].limit_delta };
}

static tacit_status charge(bool *stored, tacit_ledger *ledger, const tacit_release *release,
                           tacit_buffer *out, tacit_error *error) {
    memory_ledger *self = (memory_ledger *)ledger;
    const tacit_price *price = &release->price;
    (void)out;
    if (release->payload_length == 0)
        return tacit_fail(error, TACIT_INPUT, "a simulated party keeps no answers: hand over the bytes");
    for (int unit = 0; unit < TACIT_UNITS; unit++) {
        tacit_account account = account_of(self, unit);
        if (tacit_unit_counts(price->unit, unit))
            TACIT_TRY(tacit_account_check(&account, price, unit, "of the simulated party", error));
    }
    for (int unit = 0; unit < TACIT_UNITS; unit++) {
        tacit_account account = account_of(self, unit);
        if (!tacit_unit_counts(price->unit, unit)) continue;
        tacit_account_add(&account, price);
        self->unit[unit].spent_epsilon = account.spent_epsilon;
        self->unit[unit].spent_delta = account.spent_delta;
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

static tacit_status no_studies(tacit_error *error) {
    return tacit_fail(error, TACIT_USAGE, "a ledger in memory keeps no account of single studies");
}

static tacit_status account(tacit_account *out, tacit_ledger *ledger, const char *study, tacit_unit unit,
                            tacit_error *error) {
    if (study != NULL) return no_studies(error);
    *out = account_of((memory_ledger *)ledger, unit);
    return TACIT_OK;
}

static tacit_status set_limit(tacit_ledger *ledger, const char *study, const tacit_price *limit,
                              tacit_error *error) {
    memory_ledger *self = (memory_ledger *)ledger;
    if (study != NULL) return no_studies(error);
    self->unit[limit->unit].limit_epsilon = limit->epsilon;
    self->unit[limit->unit].limit_delta = limit->delta;
    return TACIT_OK;
}

static void free_memory_ledger(tacit_ledger *ledger) { free(ledger); }

static const tacit_ledger_class memory_class = { .durable = false,
                                                 .charge = charge,
                                                 .refuse = refuse,
                                                 .has_answer = has_answer,
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
