#include "site/page.h"

#include <limits.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "privacy/ledger/ledger.h"
#include "site/history/sketch.h"
#include "site/page_person.h"
#include "site/site.h"
#include "study/home.h"
#include "study/json_value.h"
#include "web/web.h"

enum { LOOK_EVERY_MS = 250, ENTRIES_MOST = 2000 };

typedef struct page {
    const tacit_page_settings *settings;
    page_person *person;
    web *web;
    char ledger[PATH_MAX];
    uint64_t entries; /* number of the last one seen; main loop only */
} page;

/* ---- studies ---- */

typedef struct study_list {
    const page *owner;
    json_t *list;
} study_list;

static tacit_status consent_of(const page *self, const tacit_site_summary *joined, tacit_consent *out,
                               tacit_error *error) {
    tacit_ledger *ledger = NULL;
    TACIT_TRY(tacit_ledger_open(&ledger, self->ledger, joined->source, TACIT_LEDGER_READING, error));
    tacit_status status = tacit_ledger_consent_state(out, ledger, joined->id, error);
    tacit_ledger_free(ledger);
    return status;
}

static json_t *text_or_null(const tacit_buffer *text) {
    return text->length > 0 ? json_stringn((const char *)text->bytes, text->length) : json_null();
}

/* What there is to read of a version before one consents to it: what `tacit consent` shows. */
static tacit_status version_document(json_t **out, const page *self, const tacit_site_summary *joined,
                                     tacit_error *error) {
    const tacit_study *study = joined->next;
    const tacit_sum_history_question about = { joined->source, joined->id, &study->plan,
                                               joined->allow_difference };
    char hash[2 * TACIT_HASH_BYTES + 1];
    tacit_buffer past = TACIT_BUFFER_INIT;
    json_t *explanation = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_sum_history_text(&past, self->settings->home, &about, error));
    TACIT_CHECK(tacit_json_explanation(&explanation, &study->plan, error));
    const bool asks = past.length > 0 && !joined->allow_difference;
    *out = json_pack("{s:o,s:o,s:o,s:s,s:s,s:o,s:o,s:o,s:I,s:I,s:I,s:I,s:o}", "settings",
                     tacit_json_study_settings(study), "past", text_or_null(&past), "difference",
                     asks ? json_string(tacit_sum_history_allowing()) : json_null(), "hash",
                     sodium_bin2hex(hash, sizeof hash, study->hash, sizeof study->hash), "title",
                     study->title, "description", text_or_null(&study->description), "approval",
                     study->approval[0] != 0 ? json_string(study->approval) : json_null(), "document",
                     text_or_null(&study->document), "look", (json_int_t)study->stop.look, "looks",
                     (json_int_t)study->stop.looks, "parties", (json_int_t)study->plan.parties,
                     "minimum_rows", (json_int_t)study->plan.minimum_rows, "explanation", explanation);
    if (*out == NULL) status = tacit_fail_memory(error);
cleanup:
    tacit_buffer_clear(&past);
    return status;
}

static tacit_status add_study(void *context, const tacit_site_summary *joined, tacit_error *error) {
    static const char *const names[] = { "none", "given", "withdrawn" };
    study_list *studies = context;
    tacit_consent consent = TACIT_CONSENT_NONE;
    json_t *explanation = NULL, *next = NULL;
    TACIT_TRY(consent_of(studies->owner, joined, &consent, error));
    if (joined->next != NULL) TACIT_TRY(version_document(&next, studies->owner, joined, error));
    tacit_status status = tacit_json_explanation(&explanation, &joined->study->plan, error);
    if (status != TACIT_OK) {
        json_decref(next);
        return status;
    }
    const tacit_study *study = joined->study;
    studies->list = tacit_json_append(
        studies->list,
        json_pack("{s:o,s:o,s:s,s:b,s:o,s:o,s:I,s:I,s:s,s:s,s:s,s:s,s:o,s:s,s:b,s:b,s:b,s:I,s:I,s:o,s:o,s:o}",
                  "settings", tacit_json_study_settings(study), "next", next != NULL ? next : json_null(),
                  "authority", joined->authority, "distrusted", joined->distrusted, "description",
                  text_or_null(&study->description), "approval",
                  study->approval[0] != 0 ? json_string(study->approval) : json_null(), "look",
                  (json_int_t)study->stop.look, "looks", (json_int_t)study->stop.looks, "id", joined->id,
                  "name", joined->study->name, "title", joined->study->title, "coordinator",
                  joined->coordinator, "source", tacit_json_escaped(joined->source), "consent",
                  names[consent], "amended", joined->amended, "ended", joined->ended, "has_model",
                  joined->has_model, "parties", (json_int_t)joined->study->plan.parties, "minimum_rows",
                  (json_int_t)joined->study->plan.minimum_rows, "explanation", explanation, "called",
                  joined->called[0] != 0 ? json_string(joined->called) : json_null(), "page",
                  page_person_state(studies->owner->person, joined->id)));
    return studies->list != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static void answer_list(web_call *call, const char *name, json_t *list, tacit_status status,
                        const tacit_error *error) {
    if (status == TACIT_OK) {
        web_answer(call, 200, json_pack("{s:o}", name, list));
    } else {
        json_decref(list);
        web_answer_failure(call, status, error);
    }
}

static void get_studies(void *context, web_call *call) {
    const page *self = context;
    study_list studies = { self, json_array() };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_site_list(self->settings->home, add_study, &studies, &error);
    answer_list(call, "studies", studies.list, status, &error);
}

/* To the definition that was shown when joining, or was consented to since; or to an amended one, another
 * look among them, when the request says by its hash which one was read: nothing is consented to unseen. */
static tacit_status check_read(const tacit_study *study, bool amended, const char *version,
                               tacit_error *error) {
    char hash[2 * TACIT_HASH_BYTES + 1];
    if (!amended && version[0] == 0) return TACIT_OK;
    if (version[0] == 0)
        return tacit_fail(error, TACIT_REFUSED,
                          "study '%s' was amended: read the new version, and consent to it by its hash or "
                          "with tacit consent %s",
                          study->name, study->name);
    sodium_bin2hex(hash, sizeof hash, study->hash, sizeof study->hash);
    if (strcmp(hash, version) == 0) return TACIT_OK;
    return tacit_fail(
        error, TACIT_USAGE,
        "study '%s' has another version than the one that was read: load the page again and read it",
        study->name);
}

static tacit_status consent_again(const page *self, const char *study, const char *version, bool difference,
                                  char id[TACIT_SITE_ID_SIZE], tacit_error *error) {
    const tacit_site_word word = { .allow_difference = true };
    tacit_site *site = NULL;
    const tacit_site_callbacks callbacks = { .context = NULL };
    tacit_site_version found;
    tacit_status status;
    TACIT_CHECK(tacit_site_review(&site, &found, self->settings->home, study, difference ? &word : NULL,
                                  &callbacks, error));
    const bool amended = found == TACIT_SITE_AMENDED;
    TACIT_CHECK(check_read(tacit_site_study(site), amended, version, error));
    if (amended) TACIT_CHECK(tacit_site_check(site, error));
    TACIT_CHECK(tacit_site_consent(site, error));
    snprintf(id, TACIT_SITE_ID_SIZE, "%s", tacit_site_id(site));
cleanup:
    tacit_site_free(site);
    return status;
}

static void post_consent(void *context, web_call *call) {
    const page *self = context;
    char id[TACIT_SITE_ID_SIZE], version[2 * TACIT_HASH_BYTES + 1] = "";
    tacit_error error = TACIT_ERROR_INIT;
    const tacit_buffer *body = tacit_exchange_body(call->exchange);
    if (body->length > 0 && !web_body_text(body, "version", version, sizeof version)) {
        tacit_fail(&error, TACIT_USAGE, "a consent is {\"version\": HASH} of the version that was read");
        web_answer_failure(call, TACIT_USAGE, &error);
        return;
    }
    const bool difference = body->length > 0 && web_body_flag(body, "allow_difference");
    tacit_status status = consent_again(self, call->item, version, difference, id, &error);
    /* The passphrase of a locked store is nowhere: its file in memory is empty. */
    if (status == TACIT_INPUT && strncmp(error.text, "/proc/self/", 11) == 0) {
        error = (tacit_error)TACIT_ERROR_INIT;
        status = tacit_fail(&error, TACIT_REFUSED,
                            "the rows of this study are in your store, which is locked: give its passphrase, "
                            "and consent then");
    }
    if (status == TACIT_OK)
        web_answer(call, 200, json_pack("{s:s,s:s}", "study", id, "consent", "given"));
    else
        web_answer_failure(call, status, &error);
}

static void post_withdraw(void *context, web_call *call) {
    const page *self = context;
    char id[TACIT_SITE_ID_SIZE];
    bool told = false;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_site_withdraw(self->settings->home, call->item, NULL, id, &told, &error);
    if (status == TACIT_OK)
        web_answer(call, 200, json_pack("{s:s,s:s,s:b}", "study", id, "consent", "withdrawn", "told", told));
    else
        web_answer_failure(call, status, &error);
}

/* ---- the ledger ---- */

static json_t *spent_document(const tacit_entry *entry) {
    json_t *spent = json_object();
    for (int unit = 0; spent != NULL && unit < TACIT_UNITS; unit++) {
        const tacit_balance *balance = &entry->after[0][unit];
        if (balance->known && json_object_set_new(spent, tacit_unit_name((tacit_unit)unit),
                                                  tacit_json_number(balance->epsilon)) != 0) {
            json_decref(spent);
            spent = NULL;
        }
    }
    return spent;
}

static json_t *text_if(bool applies, const char *text) {
    return applies && text != NULL && text[0] != 0 ? tacit_json_escaped(text) : json_null();
}

static tacit_status add_entry(void *context, const tacit_entry *entry, tacit_error *error) {
    json_t **list = context;
    const tacit_release *about = &entry->about;
    bool charge = entry->kind == TACIT_ENTRY_CHARGE, release = charge || entry->kind == TACIT_ENTRY_REFUSAL;
    bool said = release || entry->kind == TACIT_ENTRY_STATEMENT;
    bool priced = release || entry->kind == TACIT_ENTRY_LIMIT;
    if (json_array_size(*list) >= ENTRIES_MOST) json_array_remove(*list, 0);
    *list = tacit_json_append(
        *list, json_pack("{s:I,s:I,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "number", (json_int_t)entry->number,
                         "time_ms", (json_int_t)entry->time, "entry", tacit_entry_kind_name(entry->kind),
                         "asked_by", text_if(said, about->coordinator), "study", text_if(true, about->study),
                         "question", text_if(said, about->question), "kind",
                         text_if(release, release ? tacit_release_kind_name(about->kind) : ""), "price",
                         priced ? tacit_json_price(&about->price) : json_null(), "rows",
                         release ? json_integer((json_int_t)about->rows) : json_null(), "reason",
                         text_if(entry->kind == TACIT_ENTRY_REFUSAL, entry->reason), "spent",
                         charge ? spent_document(entry) : json_null()));
    return *list != NULL ? TACIT_OK : tacit_fail_memory(error);
}

/* What is spent of the total limit in each unit; units without a limit or a charge are left out. */
static tacit_status accounts_document(json_t **out, tacit_ledger *ledger, tacit_error *error) {
    json_t *list = json_array();
    for (int unit = 0; unit < TACIT_UNITS; unit++) {
        tacit_account account;
        tacit_status status = tacit_ledger_account(&account, ledger, NULL, (tacit_unit)unit, error);
        if (status != TACIT_OK) {
            json_decref(list);
            return status;
        }
        if (!account.limited && account.sum_epsilon == 0) continue;
        json_t *limit = account.limited ? tacit_json_number(account.limit_epsilon) : json_null();
        json_t *one = json_pack("{s:s,s:b,s:o,s:o,s:o}", "unit", tacit_unit_name((tacit_unit)unit), "exact",
                                isinf(account.sum_epsilon), "spent", tacit_json_number(account.spent_epsilon),
                                "delta", tacit_json_number(account.spent_delta), "limit", limit);
        list = tacit_json_append(list, one);
    }
    *out = list;
    return list != NULL ? TACIT_OK : tacit_fail_memory(error);
}

typedef struct source_list {
    const page *owner;
    json_t *list;
} source_list;

static json_t *same_people_document(const char *home, const char *source) {
    json_t *list = json_array();
    tacit_error why = TACIT_ERROR_INIT;
    if (tacit_sketch_overlaps(home, source, tacit_overlap_append, &list, &why) != TACIT_OK)
        list = tacit_overlaps_failed(list, &why);
    return list;
}

static tacit_status add_source(void *context, const char *name, tacit_error *error) {
    source_list *sources = context;
    tacit_ledger *ledger = NULL;
    json_t *entries = json_array(), *accounts = NULL, *same_people = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_ledger_open(&ledger, sources->owner->ledger, name, TACIT_LEDGER_READING, error));
    TACIT_CHECK(tacit_ledger_list(ledger, 0, add_entry, &entries, error));
    TACIT_CHECK(accounts_document(&accounts, ledger, error));
    same_people = same_people_document(sources->owner->settings->home, name);
    sources->list = tacit_json_append(
        sources->list, json_pack("{s:o,s:O,s:O,s:O}", "source", tacit_json_escaped(name), "accounts",
                                 accounts, "entries", entries, "same_people", same_people));
    if (sources->list == NULL) TACIT_CHECK(tacit_fail_memory(error));
cleanup:
    json_decref(entries);
    json_decref(accounts);
    json_decref(same_people);
    tacit_ledger_free(ledger);
    return status;
}

/* Visit the data sources; none when there is no ledger yet. */
static tacit_status visit_sources(const page *self, tacit_name_visit *visit, void *context,
                                  tacit_error *error) {
    tacit_ledger *ledger = NULL;
    if (access(self->ledger, F_OK) != 0) return TACIT_OK;
    TACIT_TRY(tacit_ledger_open(&ledger, self->ledger, "-", TACIT_LEDGER_READING, error));
    tacit_status status = tacit_ledger_sources(ledger, visit, context, error);
    tacit_ledger_free(ledger);
    return status;
}

static void get_ledger(void *context, web_call *call) {
    const page *self = context;
    source_list sources = { self, json_array() };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = visit_sources(self, add_source, &sources, &error);
    answer_list(call, "sources", sources.list, status, &error);
}

static const web_route routes[] = {
    { "GET", "/v1/party/studies", false, get_studies,
      "The studies that were joined, what they ask, and the owner's word on each" },
    { "POST", "/v1/party/studies/{study}/consent", false, post_consent,
      "Consent again after withdrawing, or to a version that was read" },
    { "POST", "/v1/party/studies/{study}/withdraw", false, post_withdraw,
      "Let nothing more leave for a study" },
    { "GET", "/v1/party/ledger", false, get_ledger,
      "What has left, when and at which price, and what is left of the budget" },
};

/* ---- news: everything that happens is an entry of the ledger ---- */

static tacit_status note_entry(void *context, const tacit_entry *entry, tacit_error *error) {
    page *self = context;
    (void)error;
    if (entry->number > self->entries) self->entries = entry->number;
    return TACIT_OK;
}

static tacit_status note_source(void *context, const char *name, tacit_error *error) {
    page *self = context;
    tacit_ledger *ledger = NULL;
    TACIT_TRY(tacit_ledger_open(&ledger, self->ledger, name, TACIT_LEDGER_READING, error));
    tacit_status status = tacit_ledger_list(ledger, self->entries, note_entry, self, error);
    tacit_ledger_free(ledger);
    return status;
}

static void serve(page *self) {
    const tacit_page_settings *settings = self->settings;
    const struct timespec little = { 0, LOOK_EVERY_MS * 1000000L };
    while (settings->cancelled == NULL || !settings->cancelled(settings->context)) {
        if (web_is_watched(self->web) && visit_sources(self, note_source, self, NULL) == TACIT_OK)
            web_publish(self->web, json_pack("{s:I,s:I}", "entries", (json_int_t)self->entries, "said",
                                             (json_int_t)page_person_said(self->person)));
        nanosleep(&little, NULL);
    }
}

static void announce_link(const page *self) {
    const tacit_page_settings *settings = self->settings;
    char line[WEB_LINK_SIZE + 128], address[WEB_LINK_SIZE], credential[WEB_SECRET_SIZE];
    web_take_credential(self->web, credential);
    if (settings->news != NULL) {
        web_address(self->web, address);
        snprintf(line, sizeof line, "your page is at %s", address);
        settings->news(settings->context, line);
        web_link(self->web, address);
        snprintf(line, sizeof line, "log in once, within ten minutes: %s", address);
        settings->news(settings->context, line);
        if (credential[0] != 0) {
            snprintf(line, sizeof line, "owner's credential, shown this once: %s", credential);
            settings->news(settings->context, line);
        }
    }
    sodium_memzero(line, sizeof line);
    sodium_memzero(credential, sizeof credential);
}

tacit_status tacit_page_run(const tacit_page_settings *settings, tacit_error *error) {
    page self = { .settings = settings };
    web_settings serving = { .folder = settings->home,
                             .service = "party",
                             .index = "/party.html",
                             .port = settings->port,
                             .routes = routes,
                             .route_count = sizeof routes / sizeof routes[0],
                             .context = &self,
                             .more = page_person_routes,
                             .more_count = page_person_route_count };
    TACIT_TRY(tacit_path_join(self.ledger, sizeof self.ledger, settings->home, TACIT_LEDGER_NAME, error));
    TACIT_TRY(tacit_folder_make(settings->home, error));
    TACIT_TRY(page_person_create(&self.person, settings, error));
    serving.more_context = self.person;
    tacit_status status = web_start(&self.web, &serving, error);
    if (status == TACIT_OK) {
        announce_link(&self);
        serve(&self);
        web_free(self.web);
    }
    page_person_free(self.person);
    return status;
}
