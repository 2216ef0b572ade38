/* A ledger's accounts and entries, as documents. */
#pragma once

#include "api/document/json_text.h"
#include "privacy/ledger/ledger.h"

/* What may still be spent; infinite without a limit. */
double tacit_remaining(double spent, bool limited, double limit);

/* {"study", "unit", "sum", "spent", "accountant", "count", "limit", "remaining"}, the last two null without a
 * limit; what is spent and remains is epsilon at the limit's delta. New reference. */
json_t *tacit_account_document(const tacit_account *account, const char *study, tacit_unit unit);

/* {"basic", "rdp", "gdp", "pld"}: epsilon in other ways of counting; null where one does not apply. New
 * reference. */
json_t *tacit_alternatives_document(const double ways[TACIT_ALTERNATIVES]);

/* A study's account is shown where there is something to say; that of the data source (study NULL) always. */
bool tacit_account_is_shown(const tacit_account *account, const char *study);

bool tacit_entry_is_release(const tacit_entry *entry); /* or one that was refused */
bool tacit_entry_has_price(const tacit_entry *entry);
json_t *tacit_entry_document(const tacit_entry *entry); /* new reference */

/* A time in milliseconds since 1970 as UTC, to the second. */
enum { TACIT_WHEN_SIZE = 32 };
const char *tacit_when_text(char out[TACIT_WHEN_SIZE], int64_t milliseconds);

/* A verdict, found together with `status` (tacit_ledger_verify). New reference. */
json_t *tacit_verdict_document(const tacit_verdict *verdict, tacit_status status);
enum { TACIT_HEAD_SIZE = 2 * TACIT_HASH_BYTES + 1 };
const char *tacit_head_text(char out[TACIT_HEAD_SIZE], const uint8_t head[TACIT_HASH_BYTES]);
