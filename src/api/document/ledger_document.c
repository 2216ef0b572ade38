#include "api/document/ledger_document.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "api/document/document.h"
#include "api/option/options.h"
#include "study/home.h"

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
    return json_pack("{s:o,s:s,s:o,s:o,s:s,s:s,s:o,s:o}", "study",
                     study != NULL ? tacit_json_text(study) : json_null(), "unit", tacit_unit_name(unit),
                     "sum", amounts(account->sum_epsilon, account->sum_delta), "spent",
                     amounts(account->spent_epsilon, account->spent_delta), "accountant",
                     tacit_composition_name(account->by), "count", tacit_count_name(account->counting.count),
                     "limit", limit, "remaining", remaining);
}

json_t *tacit_alternatives_document(const double ways[TACIT_ALTERNATIVES]) {
    json_t *out = json_object();
    for (int i = 0; out != NULL && i < TACIT_ALTERNATIVES; i++)
        if (json_object_set_new(out, tacit_alternative_name((tacit_alternative)i),
                                isnan(ways[i]) ? json_null() : tacit_json_number(ways[i])) != 0)
            out = (json_decref(out), NULL);
    return out;
}

bool tacit_account_is_shown(const tacit_account *account, const char *study) {
    return study == NULL || account->limited || account->sum_epsilon != 0;
}

const char *tacit_when_text(char out[TACIT_WHEN_SIZE], int64_t milliseconds) {
    time_t seconds = (time_t)(milliseconds / 1000);
    struct tm parts;
    if (gmtime_r(&seconds, &parts) == NULL ||
        strftime(out, TACIT_WHEN_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        snprintf(out, TACIT_WHEN_SIZE, "-");
    return out;
}

bool tacit_entry_is_release(const tacit_entry *entry) {
    return entry->kind == TACIT_ENTRY_CHARGE || entry->kind == TACIT_ENTRY_REFUSAL;
}

bool tacit_entry_has_price(const tacit_entry *entry) {
    return tacit_entry_is_release(entry) || entry->kind == TACIT_ENTRY_LIMIT;
}

static json_t *text_or_null(const char *text) {
    return text != NULL && text[0] != 0 ? tacit_json_text(text) : json_null();
}

static json_t *event_document(const tacit_event *event) {
    if (event->count == 0) return json_null();
    return json_pack("{s:s,s:o,s:o,s:o,s:I,s:b}", "kind", tacit_event_kind_name(event->kind), "parameter",
                     tacit_json_number(event->parameter), "delta", tacit_json_number(event->delta),
                     "sampling", tacit_json_number(event->sampling), "count", (json_int_t)event->count,
                     "replaced", event->replaced);
}

json_t *tacit_entry_document(const tacit_entry *entry) {
    char when[TACIT_WHEN_SIZE];
    const tacit_release *about = &entry->about;
    bool release = tacit_entry_is_release(entry), said = release || entry->kind == TACIT_ENTRY_STATEMENT;
    json_t *price = json_null();
    if (tacit_entry_has_price(entry))
        price = json_pack("{s:s,s:o,s:o}", "unit", tacit_unit_name(about->price.unit), "epsilon",
                          tacit_json_number(about->price.epsilon), "delta",
                          tacit_json_number(about->price.delta));
    return json_pack(
        "{s:I,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "number", (json_int_t)entry->number,
        "when", tacit_when_text(when, entry->time), "entry", tacit_entry_kind_name(entry->kind), "asked_by",
        text_or_null(said ? about->coordinator : ""), "study", text_or_null(about->study), "method",
        text_or_null(release ? about->method : ""), "question", text_or_null(said ? about->question : ""),
        "kind", text_or_null(release ? tacit_release_kind_name(about->kind) : ""), "price", price, "noise",
        text_or_null(release ? tacit_noise_name(about->noise) : ""), "event",
        release ? event_document(&about->event) : json_null(), "assumption",
        text_or_null(release ? about->assumption : ""), "rows",
        release ? json_integer((json_int_t)about->rows) : json_null(), "parameters",
        release ? json_integer((json_int_t)about->parameters) : json_null(), "reason",
        text_or_null(entry->kind == TACIT_ENTRY_REFUSAL ? entry->reason : ""));
}

const char *tacit_head_text(char out[TACIT_HEAD_SIZE], const uint8_t head[TACIT_HASH_BYTES]) {
    for (size_t i = 0; i < TACIT_HASH_BYTES; i++) snprintf(out + 2 * i, 3, "%02x", head[i]);
    return out;
}

json_t *tacit_verdict_document(const tacit_verdict *verdict, tacit_status status) {
    char head[TACIT_HEAD_SIZE];
    bool sound = status == TACIT_OK;
    return json_pack("{s:b,s:I,s:o,s:s}", "sound", (int)sound, "entries", (json_int_t)verdict->entries,
                     "broken", sound ? json_null() : json_integer((json_int_t)verdict->broken), "head",
                     tacit_head_text(head, verdict->head));
}

/* ---- for programs ---- */

typedef struct listing {
    tacit_ledger *ledger;
    json_t *entries, *accounts;
} listing;

tacit_status tacit_ledger_at(tacit_ledger **out, const char *path, const char *source, tacit_error *error) {
    TACIT_TRY(tacit_require(out, "where to put the result", error));
    if (path == NULL || path[0] == 0 || source == NULL || source[0] == 0)
        return tacit_fail(error, TACIT_USAGE, "a ledger needs a file and the name of a data source");
    TACIT_TRY(tacit_library_start(error));
    return tacit_ledger_open(out, path, source, TACIT_LEDGER_CREATE, error);
}

tacit_status tacit_ledger_limit(tacit_ledger *ledger, bool whole_party, double epsilon, double delta,
                                tacit_error *error) {
    TACIT_TRY(tacit_require(ledger, "the ledger", error));
    const tacit_price limit = { whole_party ? TACIT_UNIT_PARTY : TACIT_UNIT_RECORD, epsilon, delta };
    if (!(epsilon >= 0 && isfinite(epsilon) && delta >= 0 && delta < 1))
        return tacit_fail(error, TACIT_USAGE,
                          "a limit is a finite epsilon of at least 0 and a delta from 0 to below 1");
    return tacit_ledger_set_limit(ledger, NULL, &limit, error);
}

tacit_status tacit_ledger_spent(tacit_spent *out, tacit_ledger *ledger, bool whole_party,
                                tacit_error *error) {
    TACIT_TRY(tacit_require(out, "where to put the account", error));
    TACIT_TRY(tacit_require(ledger, "the ledger", error));
    tacit_account account;
    TACIT_TRY(tacit_ledger_account(&account, ledger, NULL, whole_party ? TACIT_UNIT_PARTY : TACIT_UNIT_RECORD,
                                   error));
    tacit_spent spent = TACIT_SPENT_INIT;
    spent.limited = account.limited;
    spent.epsilon = account.spent_epsilon;
    spent.delta = account.spent_delta;
    if (account.limited) {
        spent.limit_epsilon = account.limit_epsilon;
        spent.limit_delta = account.limit_delta;
        spent.left_epsilon = tacit_remaining(account.spent_epsilon, true, account.limit_epsilon);
    }
    return tacit_fill_sized(out, out->size, &spent, sizeof spent, sizeof spent, "TACIT_SPENT_INIT", error);
}

static tacit_status add_entry(void *context, const tacit_entry *entry, tacit_error *error) {
    listing *self = context;
    self->entries = tacit_json_append(self->entries, tacit_entry_document(entry));
    return self->entries != NULL ? TACIT_OK : tacit_fail_memory(error);
}

/* The totals of one study, or (NULL) of the data source. */
static tacit_status add_accounts(listing *self, const char *study, tacit_error *error) {
    for (int unit = 0; unit < TACIT_UNITS; unit++) {
        tacit_account account;
        TACIT_TRY(tacit_ledger_account(&account, self->ledger, study, (tacit_unit)unit, error));
        if (!tacit_account_is_shown(&account, study)) continue;
        self->accounts =
            tacit_json_append(self->accounts, tacit_account_document(&account, study, (tacit_unit)unit));
        if (self->accounts == NULL) return tacit_fail_memory(error);
    }
    return TACIT_OK;
}

static tacit_status collect_name(void *context, const char *name, tacit_error *error) {
    int32_t code;
    return tacit_levels_add(context, name, strlen(name), &code, error);
}

tacit_status tacit_ledger_document(char **json, tacit_ledger *ledger, tacit_error *error) {
    TACIT_TRY(tacit_require(json, "where to put the document", error));
    TACIT_TRY(tacit_require(ledger, "the ledger", error));
    listing self = { ledger, json_array(), json_array() };
    char shown[TACIT_SOURCE_SHOWN_SIZE];
    tacit_levels studies = TACIT_LEVELS_INIT;
    tacit_status status;
    TACIT_CHECK(tacit_ledger_list(ledger, 0, add_entry, &self, error));
    TACIT_CHECK(add_accounts(&self, NULL, error));
    TACIT_CHECK(tacit_ledger_studies(ledger, collect_name, &studies, error));
    for (size_t i = 0; i < studies.count; i++) TACIT_CHECK(add_accounts(&self, studies.text[i], error));
    TACIT_CHECK(
        tacit_document_text(json,
                            json_pack("{s:o,s:O,s:O}", "source",
                                      tacit_json_text(tacit_source_shown(shown, tacit_ledger_source(ledger))),
                                      "entries", self.entries, "accounts", self.accounts),
                            error));
cleanup:
    tacit_levels_clear(&studies);
    json_decref(self.entries);
    json_decref(self.accounts);
    return status;
}

tacit_status tacit_ledger_verdict(char **json, tacit_ledger *ledger, tacit_error *error) {
    TACIT_TRY(tacit_require(json, "where to put the document", error));
    TACIT_TRY(tacit_require(ledger, "the ledger", error));
    tacit_error found = TACIT_ERROR_INIT;
    tacit_verdict verdict = { 0 };
    tacit_status status = tacit_ledger_verify(&verdict, ledger, &found);
    if (status != TACIT_OK && status != TACIT_CORRUPT) return tacit_fail(error, status, "%s", found.text);
    json_t *document = tacit_verdict_document(&verdict, status);
    if (document != NULL)
        json_object_set_new(document, "problem",
                            status == TACIT_OK ? json_null() : tacit_json_text(found.text));
    return tacit_document_text(json, document, error);
}
