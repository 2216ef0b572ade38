/* What a ledger must be able to do for the gate. For the files of this folder only: nothing else charges. */
#pragma once

#include "privacy/ledger.h"

typedef struct tacit_ledger_class {
    bool durable;

    /* Charge `release` and keep its bytes, durably, or fail and leave everything as it was. When the answer
     * id already has bytes for this question, append those to `out` instead, set *stored, charge nothing.
     * TACIT_REFUSED: no consent, beyond a limit, or the answer id belongs to another question. */
    tacit_status (*charge)(bool *stored, tacit_ledger *ledger, const tacit_release *release,
                           tacit_buffer *out, tacit_error *error);

    /* Log that `release`, which may be malformed, was refused for `reason`. */
    tacit_status (*refuse)(tacit_ledger *ledger, const tacit_release *release, const char *reason,
                           tacit_error *error);

    tacit_status (*has_answer)(bool *out, tacit_ledger *ledger, const uint8_t *answer_id,
                               const uint8_t *question_hash, tacit_error *error);
    tacit_status (*account)(tacit_account *out, tacit_ledger *ledger, const char *study, tacit_unit unit,
                            tacit_error *error);
    tacit_status (*set_limit)(tacit_ledger *ledger, const char *study, const tacit_price *limit,
                              tacit_error *error);
    void (*free)(tacit_ledger *ledger);
} tacit_ledger_class;

/* The first member of every implementation. */
struct tacit_ledger {
    const tacit_ledger_class *class;
};

/* Whether a charge in `charged` counts towards the total in `total`; see ledger.h for why. */
static inline bool tacit_unit_counts(tacit_unit charged, tacit_unit total) {
    return total == TACIT_UNIT_RECORD || charged == TACIT_UNIT_PARTY;
}

/* TACIT_REFUSED when `price` on top of the account would pass its limit; `whose` names the limit. */
tacit_status tacit_account_check(const tacit_account *account, const tacit_price *price, tacit_unit unit,
                                 const char *whose, tacit_error *error);

/* The price on top of what is spent, rounded up. */
static inline void tacit_account_add(tacit_account *account, const tacit_price *price) {
    account->spent_epsilon = tacit_add_up(account->spent_epsilon, price->epsilon);
    account->spent_delta = tacit_add_up(account->spent_delta, price->delta);
}
