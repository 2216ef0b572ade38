/* What the commands about the owner's ledger share. */
#pragma once

#include "cli/arguments.h"
#include "cli/console.h"
#include "privacy/ledger.h"
#include "service/home.h"

/* Open the ledger in Tacit's folder for reading, about `source` or (NULL) none in particular; `path` receives
 * where it is. TACIT_NOT_FOUND says how a ledger begins. */
tacit_status tacit_ledger_use_open(tacit_ledger **out, char *path, size_t size, const char *source,
                                   tacit_error *error);

/* What may still be spent; infinite without a limit. */
double tacit_remaining(double spent, bool limited, double limit);

/* {"study", "unit", "sum", "spent", "accountant", "limit", "remaining"}, the last two null without a limit; what is spent
 * and remains is epsilon at the limit's delta. New reference. */
json_t *tacit_account_document(const tacit_account *account, const char *study, tacit_unit unit);
