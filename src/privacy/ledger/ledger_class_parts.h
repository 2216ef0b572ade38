/* What a ledger must be able to do for the gate. For the files of this folder only: nothing else charges. */
#pragma once

#include "privacy/account/charges_parts.h"
#include "privacy/ledger/ledger.h"

typedef struct tacit_ledger_class {
    bool durable;

    /* Charge `release` and keep its bytes and state, durably, or fail and leave everything as it was. When
     * the answer id already has bytes for this question, append those to `out` instead, set *stored, charge
     * nothing. TACIT_REFUSED: no consent, beyond a limit, or the answer id belongs to another question. */
    tacit_status (*charge)(bool *stored, tacit_ledger *ledger, const tacit_release *release,
                           tacit_buffer *out, tacit_error *error);

    /* Log that `release`, which may be malformed, was refused for `reason`. */
    tacit_status (*refuse)(tacit_ledger *ledger, const tacit_release *release, const char *reason,
                           tacit_error *error);

    tacit_status (*has_answer)(bool *out, tacit_ledger *ledger, const uint8_t *answer_id,
                               const uint8_t *question_hash, tacit_error *error);
    tacit_status (*state)(bool *found, tacit_ledger *ledger, const char *study, tacit_buffer *out,
                          tacit_error *error);
    tacit_status (*account)(tacit_account *out, tacit_ledger *ledger, const char *study, tacit_unit unit,
                            tacit_error *error);
    /* `count` NULL: as before. */
    tacit_status (*set_limit)(tacit_ledger *ledger, const char *study, const tacit_price *limit,
                              const tacit_count *count, tacit_error *error);
    void (*free)(tacit_ledger *ledger);
} tacit_ledger_class;

/* The first member of every implementation. */
struct tacit_ledger {
    const tacit_ledger_class *class;
};

/* TACIT_REFUSED when `after`, what would be spent with `price` on top, passes the account's limit; `whose`
 * names it. */
tacit_status tacit_account_check(const tacit_account *account, const tacit_price *price,
                                 const tacit_spending *after, tacit_unit unit, const char *whose,
                                 tacit_error *error);

/* The sum of the prices with one more, rounded up. */
static inline tacit_price tacit_account_sum(const tacit_account *account, const tacit_price *price,
                                            tacit_unit unit) {
    return (tacit_price){ unit, tacit_add_up(account->sum_epsilon, price->epsilon),
                          tacit_add_up(account->sum_delta, price->delta) };
}
