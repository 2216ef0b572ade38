/* What both ledgers share. */
#include "privacy/ledger/ledger.h"

#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "privacy/ledger/ledger_class_parts.h"

tacit_ledger *tacit_ledger_free(tacit_ledger *ledger) {
    if (ledger != NULL) ledger->class->free(ledger);
    return NULL;
}

bool tacit_ledger_is_durable(const tacit_ledger *ledger) { return ledger->class->durable; }

static tacit_status check_unit(tacit_unit unit, tacit_error *error) {
    if (unit == TACIT_UNIT_RECORD || unit == TACIT_UNIT_PARTY) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE, "%d is not a unit of privacy", (int)unit);
}

tacit_status tacit_ledger_account(tacit_account *out, tacit_ledger *ledger, const char *study,
                                  tacit_unit unit, tacit_error *error) {
    TACIT_TRY(check_unit(unit, error));
    if (study != NULL) TACIT_TRY(tacit_name_check("the study's name", study, TACIT_NAME_MOST, error));
    return ledger->class->account(out, ledger, study, unit, error);
}

static tacit_status set_limit(tacit_ledger *ledger, const char *study, const tacit_price *limit,
                              const tacit_count *count, tacit_error *error) {
    TACIT_TRY(check_unit(limit->unit, error));
    if (study != NULL) TACIT_TRY(tacit_name_check("the study's name", study, TACIT_NAME_MOST, error));
    if (!(limit->epsilon >= 0) || !isfinite(limit->epsilon))
        return tacit_fail(error, TACIT_INPUT, "a limit of epsilon %g protects nobody: give a number from 0",
                          limit->epsilon);
    if (!(limit->delta >= 0 && limit->delta < 1))
        return tacit_fail(error, TACIT_INPUT, "a limit of delta %g protects nobody: give a number below 1",
                          limit->delta);
    return ledger->class->set_limit(ledger, study, limit, count, error);
}

tacit_status tacit_ledger_set_limit(tacit_ledger *ledger, const char *study, const tacit_price *limit,
                                    tacit_error *error) {
    return set_limit(ledger, study, limit, NULL, error);
}

tacit_status tacit_ledger_set_limit_counted(tacit_ledger *ledger, const char *study, const tacit_price *limit,
                                            tacit_count count, tacit_error *error) {
    if ((unsigned)count >= TACIT_COUNTS)
        return tacit_fail(error, TACIT_USAGE, "%d is no way of counting", (int)count);
    if (!ledger->class->durable)
        return tacit_fail(error, TACIT_USAGE, "a ledger in memory counts in one way only");
    if (limit->delta == 0 && count != TACIT_COUNT_SUM)
        return tacit_fail(error, TACIT_INPUT,
                          "a limit without a delta is counted by the sum of prices: give a delta, such as "
                          "1e-6, or count by sum");
    return set_limit(ledger, study, limit, &count, error);
}

tacit_status tacit_account_check(const tacit_account *account, const tacit_price *price,
                                 const tacit_spending *after, tacit_unit unit, const char *whose,
                                 tacit_error *error) {
    if (!account->limited || tacit_amount_within(after->epsilon, account->limit_epsilon)) return TACIT_OK;
    char then[96];
    const char *remedy = "ask for less, or let the owner raise the limit";
    if (isfinite(after->epsilon))
        tacit_format(then, sizeof then, "would make it %.12g, by %s composition", after->epsilon,
                     tacit_composition_name(after->by));
    else
        snprintf(then, sizeof then, "leaves nothing that is proved at this delta");
    if (!isfinite(after->epsilon) && isfinite(price->epsilon)) /* a larger epsilon would not do */
        remedy = account->limit_delta > 0 ? "let the owner set the limit with a larger delta"
                                          : "let the owner set the limit with a delta, such as 1e-5";
    if (!isfinite(account->sum_epsilon)) /* no limit would do */
        return tacit_fail(error, TACIT_REFUSED,
                          "exact answers %s have left, which spend epsilon without bound, per %s: no answer "
                          "with a finite price leaves after them, whatever the limit",
                          whose, tacit_unit_name(unit));
    return tacit_fail(error, TACIT_REFUSED,
                      "the limit %s is epsilon %.12g, delta %.12g, per %s; spent is epsilon %.12g, and "
                      "another %.12g, delta %.12g, %s: %s",
                      whose, account->limit_epsilon, account->limit_delta, tacit_unit_name(unit),
                      account->spent_epsilon, price->epsilon, price->delta, then, remedy);
}
