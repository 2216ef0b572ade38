#include "cli/ledger_use.h"

#include <math.h>

tacit_status tacit_ledger_use_open(tacit_ledger **out, char *path, size_t size, const char *source,
                                   tacit_error *error) {
    tacit_error inner = TACIT_ERROR_INIT;
    TACIT_TRY(tacit_home_path(path, size, TACIT_LEDGER_NAME, error));
    tacit_status status =
        tacit_ledger_open(out, path, source != NULL ? source : "-", TACIT_LEDGER_READING, &inner);
    if (status == TACIT_NOT_FOUND)
        return tacit_fail(error, status, "there is no ledger at %s yet: it begins with 'tacit ledger limit'",
                          path);
    return status == TACIT_OK ? status : tacit_fail(error, status, "%s", inner.text);
}

double tacit_remaining(double spent, bool limited, double limit) {
    return limited ? fmax(0, limit - spent) : INFINITY;
}

static json_t *amounts(double epsilon, double delta) {
    return json_pack("{s:o,s:o}", "epsilon", tacit_json_number(epsilon), "delta", tacit_json_number(delta));
}

json_t *tacit_account_document(const tacit_account *account, const char *study, tacit_unit unit) {
    bool limited = account->limited;
    json_t *limit = limited ? amounts(account->limit_epsilon, account->limit_delta) : json_null();
    json_t *remaining = limited
                            ? amounts(tacit_remaining(account->spent_epsilon, true, account->limit_epsilon),
                                      account->limit_delta)
                            : json_null();
    return json_pack("{s:o,s:s,s:o,s:o,s:s,s:o,s:o}", "study",
                     study != NULL ? tacit_json_text(study) : json_null(), "unit", tacit_unit_name(unit),
                     "sum", amounts(account->sum_epsilon, account->sum_delta), "spent",
                     amounts(account->spent_epsilon, account->spent_delta), "accountant",
                     tacit_composition_name(account->by), "limit", limit, "remaining", remaining);
}
