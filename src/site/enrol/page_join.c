#include "site/enrol/page_join.h"

#include <limits.h>
#include <math.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/schema/needed_columns.h"
#include "method/methods.h"
#include "privacy/ledger/ledger.h"
#include "site/daemon.h"
#include "site/site_parts.h"
#include "study/home.h"
#include "study/json_value.h"

enum { SOURCES_MOST = 16 };

struct page_join {
    const tacit_page_settings *settings;
    page_join_store store;
    char path[PATH_MAX];     /* of the store */
    pthread_mutex_t joining; /* one at a time */
    pthread_mutex_t mutex;   /* guards what follows */
    json_t *said;            /* {folder of a study: what was last said of it} */
    uint64_t count;
    bool begun;
    pthread_t thread;
    atomic_bool ending;
};

/* ---- answering ---- */

/* "FOLDER: line", as the daemon tells it. */
static void keep_news(void *context, const char *line) {
    page_join *self = context;
    char name[TACIT_SITE_ID_SIZE];
    const char *end = strstr(line, ": ");
    if (end == NULL || (size_t)(end - line) >= sizeof name) return;
    memcpy(name, line, (size_t)(end - line));
    name[end - line] = 0;
    pthread_mutex_lock(&self->mutex);
    (void)json_object_set_new(self->said, name, tacit_json_escaped(end + 2));
    self->count++;
    pthread_mutex_unlock(&self->mutex);
}

static bool is_over(void *context) {
    page_join *self = context;
    return atomic_load(&self->ending);
}

static void *answer(void *argument) {
    page_join *self = argument;
    const tacit_daemon_settings settings = { .home = self->settings->home,
                                             .mark = SITE_BY_PAGE_FILE,
                                             .callbacks = {
                                                 .cancelled = is_over, .news = keep_news, .context = self } };
    tacit_error error = TACIT_ERROR_INIT;
    char line[TACIT_ERROR_TEXT_SIZE + 64];
    if (tacit_daemon_run(&settings, &error) != TACIT_OK && self->settings->news != NULL) {
        snprintf(line, sizeof line, "studies that were joined on the page are not answered: %s", error.text);
        self->settings->news(self->settings->context, line);
    }
    return NULL;
}

void page_join_begin(page_join *self) {
    pthread_mutex_lock(&self->mutex);
    if (!self->begun) {
        atomic_store(&self->ending, false);
        self->begun = pthread_create(&self->thread, NULL, answer, self) == 0;
    }
    pthread_mutex_unlock(&self->mutex);
}

void page_join_end(page_join *self) {
    pthread_mutex_lock(&self->mutex);
    const bool begun = self->begun;
    self->begun = false;
    atomic_store(&self->ending, true);
    pthread_mutex_unlock(&self->mutex);
    if (begun) pthread_join(self->thread, NULL);
    pthread_mutex_lock(&self->mutex);
    json_object_clear(self->said);
    self->count++;
    pthread_mutex_unlock(&self->mutex);
}

tacit_status page_join_create(page_join **out, const tacit_page_settings *settings,
                              const page_join_store *store, tacit_error *error) {
    page_join *self = TACIT_NEW(page_join, 1);
    tacit_status status;
    if (self == NULL) return tacit_fail_memory(error);
    self->settings = settings;
    self->store = *store;
    pthread_mutex_init(&self->mutex, NULL);
    pthread_mutex_init(&self->joining, NULL);
    TACIT_CHECK(tacit_path_join(self->path, sizeof self->path, settings->home, TACIT_PERSONAL_FILE, error));
    self->said = json_object();
    if (self->said == NULL) TACIT_CHECK(tacit_fail_memory(error));
    *out = self;
    self = NULL;
cleanup:
    page_join_free(self);
    return status;
}

page_join *page_join_free(page_join *self) {
    if (self == NULL) return NULL;
    page_join_end(self);
    json_decref(self->said);
    pthread_mutex_destroy(&self->mutex);
    pthread_mutex_destroy(&self->joining);
    free(self);
    return NULL;
}

json_t *page_join_state(page_join *self, const char *id) {
    char studies[PATH_MAX], folder[PATH_MAX], mark[PATH_MAX], name[TACIT_SITE_ID_SIZE];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(id, "+"), id); /* versions share the folder */
    if (tacit_path_join(studies, sizeof studies, self->settings->home, "studies", NULL) != TACIT_OK ||
        tacit_path_join(folder, sizeof folder, studies, name, NULL) != TACIT_OK ||
        tacit_path_join(mark, sizeof mark, folder, SITE_BY_PAGE_FILE, NULL) != TACIT_OK ||
        access(mark, F_OK) != 0)
        return json_null();
    pthread_mutex_lock(&self->mutex);
    json_t *line = json_object_get(self->said, name);
    json_t *out = json_pack("{s:b,s:O}", "open", (int)self->begun, "says", line != NULL ? line : json_null());
    pthread_mutex_unlock(&self->mutex);
    return out;
}

uint64_t page_join_said(page_join *self) {
    pthread_mutex_lock(&self->mutex);
    const uint64_t count = self->count;
    pthread_mutex_unlock(&self->mutex);
    return count;
}

/* ---- what is in the store ---- */

typedef struct listing {
    tacit_vault *vault;
    const char *study, *coordinator;
    json_t *list;
} listing;

static tacit_status list_source(void *context, const tacit_collection *held, tacit_error *error) {
    listing *self = context;
    tacit_rows_span span;
    tacit_reuse reuse = TACIT_REUSE_ASK;
    json_t *columns = json_array();
    tacit_status status = tacit_rows_measure(self->vault, held, &span, error);
    if (status == TACIT_OK)
        status = tacit_reuse_of(&reuse, self->vault, held->name, self->study, self->coordinator, error);
    for (size_t j = 0; status == TACIT_OK && j < held->count; j++)
        columns = tacit_json_append(columns, json_string(held->columns[j].name));
    if (status == TACIT_OK) {
        self->list = tacit_json_append(
            self->list, json_pack("{s:s,s:O,s:I,s:s}", "name", held->name, "columns", columns, "rows",
                                  (json_int_t)span.count, "reuse", tacit_reuse_name(reuse)));
        if (self->list == NULL) status = tacit_fail_memory(error);
    }
    json_decref(columns);
    return status;
}

tacit_status page_join_list(json_t **out, tacit_vault *vault, const char *study, const char *coordinator,
                            tacit_error *error) {
    listing self = { vault, study, coordinator, json_array() };
    tacit_status status = tacit_collections_each(vault, list_source, &self, error);
    if (status == TACIT_OK)
        *out = self.list;
    else
        json_decref(self.list);
    return status;
}

static bool has_column(const json_t *source, const char *name) {
    const json_t *columns = json_object_get(source, "columns");
    size_t i;
    json_t *each;
    if (strcmp(name, "day") == 0) return true; /* every row of a store has it */
    json_array_foreach((json_t *)columns, i,
                       each) if (strcmp(json_string_value(each), name) == 0) return true;
    return false;
}

/* ---- what is wanted ---- */

/* A request: {study, sources: [NAME], allow: [OPTION], version}. */
typedef struct wish {
    const char *study, *version;
    json_t *body;
    char data[PATH_MAX]; /* store:PATH?NAME,NAME; "": no source was chosen */
    char source[PATH_MAX];
    char invitation[PATH_MAX], schema[PATH_MAX];
    tacit_site_settings settings;
} wish;

/* What an owner may allow: an option of `tacit join`. */
typedef struct allowance {
    const char *option;
    size_t at; /* in the settings */
} allowance;

static const allowance allowances[] = {
    { "allow-reuse", offsetof(tacit_site_settings, allow_reuse) },
    { "allow-exact", offsetof(tacit_site_settings, allow_exact) },
    { "allow-entrusted", offsetof(tacit_site_settings, allow_entrusted) },
    { "allow-difference", offsetof(tacit_site_settings, allow_difference) },
    { "allow-neighbours", offsetof(tacit_site_settings, allow_neighbours) },
    { "allow-site", offsetof(tacit_site_settings, allow_site) },
    { "may-ask-again", offsetof(tacit_site_settings, ask_again) },
};
enum { ALLOWANCES = sizeof allowances / sizeof allowances[0] };

static tacit_status take_allowances(wish *self, tacit_error *error) {
    const json_t *list = json_object_get(self->body, "allow");
    size_t i;
    json_t *each;
    json_array_foreach((json_t *)list, i, each) {
        const char *name = json_string_value(each);
        size_t k = 0;
        while (k < ALLOWANCES && (name == NULL || strcmp(name, allowances[k].option) != 0)) k++;
        if (k == ALLOWANCES) return tacit_fail(error, TACIT_USAGE, "'allow' names what is not asked about");
        *(bool *)((char *)&self->settings + allowances[k].at) = true;
    }
    return TACIT_OK;
}

/* The rows: those of the first source, each with what was last known of the others. */
static tacit_status take_sources(wish *self, const page_join *owner, tacit_error *error) {
    const json_t *list = json_object_get(self->body, "sources");
    size_t i, used;
    json_t *each;
    if (json_array_size(list) == 0) return TACIT_OK;
    if (json_array_size(list) > SOURCES_MOST)
        return tacit_fail(error, TACIT_USAGE, "at most %d sources of a store go together", SOURCES_MOST);
    used = (size_t)snprintf(self->data, sizeof self->data, "store:%s?", owner->path);
    json_array_foreach((json_t *)list, i, each) {
        const char *name = json_string_value(each);
        if (name == NULL || !tacit_collection_name_fits(name) || used + strlen(name) + 2 > sizeof self->data)
            return tacit_fail(error, TACIT_USAGE, "'sources' are names of sources in your store");
        used += (size_t)snprintf(self->data + used, sizeof self->data - used, "%s%s", i > 0 ? "," : "", name);
    }
    TACIT_TRY(tacit_source_id(self->source, sizeof self->source, self->data, error));
    self->settings.data = self->data;
    self->settings.source = self->source;
    self->settings.schema = self->schema;
    return TACIT_OK;
}

static tacit_status read_wish(wish *self, const page_join *owner, const web_call *call, tacit_error *error) {
    const tacit_buffer *body = tacit_exchange_body(call->exchange);
    char folder[PATH_MAX], name[TACIT_ID_SIZE + 16];
    self->body = json_loadb((const char *)body->bytes, body->length, JSON_REJECT_DUPLICATES, NULL);
    self->study = json_string_value(json_object_get(self->body, "study"));
    self->version = json_string_value(json_object_get(self->body, "version"));
    if (self->study == NULL || strlen(self->study) >= TACIT_ID_SIZE || self->study[0] == 0 ||
        strspn(self->study, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(self->study))
        return tacit_fail(error, TACIT_USAGE,
                          "say {\"study\": NAME, \"sources\": [NAME], \"allow\": [OPTION], \"version\": HASH "
                          "of what was read}");
    TACIT_TRY(tacit_path_join(folder, sizeof folder, owner->settings->home, "invitations", error));
    snprintf(name, sizeof name, "%s.txt", self->study);
    TACIT_TRY(tacit_path_join(self->invitation, sizeof self->invitation, folder, name, error));
    snprintf(name, sizeof name, "%s.schema.yaml", self->study);
    TACIT_TRY(tacit_path_join(self->schema, sizeof self->schema, folder, name, error));
    self->settings.home = owner->settings->home;
    TACIT_TRY(take_allowances(self, error));
    return take_sources(self, owner, error);
}

/* ---- looking ---- */

static tacit_status look(tacit_site **out, page_join *self, const wish *wanted,
                         const tacit_site_settings *settings, tacit_error *error) {
    const tacit_site_callbacks callbacks = { .cancelled = self->settings->cancelled,
                                             .context = self->settings->context };
    tacit_buffer invitation = TACIT_BUFFER_LIMITED(TACIT_INVITATION_TEXT_MAX);
    tacit_status status;
    if (access(wanted->invitation, F_OK) != 0)
        TACIT_CHECK(tacit_fail(error, TACIT_NOT_FOUND, "ask to join study '%s' first", wanted->study));
    TACIT_CHECK(tacit_file_read(wanted->invitation, &invitation, error));
    TACIT_CHECK(
        tacit_site_look(out, tacit_buffer_text(&invitation), invitation.length, settings, &callbacks, error));
cleanup:
    tacit_buffer_clear(&invitation);
    return status;
}

/* As `tacit look --write-schema` writes it: names, bounds and levels are the study's, and the person reads
 * them on the page before rows are read by them. */
static tacit_status look_first(tacit_site **out, page_join *self, const wish *wanted, tacit_error *error) {
    const tacit_site_settings settings = { .home = wanted->settings.home };
    TACIT_TRY(look(out, self, wanted, &settings, error));
    tacit_status status = tacit_study_write_schema(tacit_site_study(*out), wanted->schema, error);
    if (status != TACIT_OK) *out = tacit_site_free(*out);
    return status;
}

typedef struct column_listing {
    const json_t *sources;
    json_t *list;
} column_listing;

static tacit_status list_column(void *context, const tacit_needed_column *needed, tacit_error *error) {
    column_listing *self = context;
    json_t *in = json_array();
    size_t i;
    json_t *each;
    json_array_foreach((json_t *)self->sources, i, each) {
        if (has_column(each, needed->name))
            in = tacit_json_append(in, json_incref(json_object_get(each, "name")));
    }
    self->list = tacit_json_append(
        self->list,
        json_pack("{s:o,s:s,s:o,s:s,s:o}", "name", tacit_json_escaped(needed->name), "role", needed->role,
                  "values", tacit_json_escaped(needed->values), "missing", needed->missing, "in", in));
    return self->list != NULL ? TACIT_OK : tacit_fail_memory(error);
}

/* Is this to be allowed, or refused, by whoever joins this study? */
static bool is_asked(const tacit_site *site, const char *option) {
    const tacit_study *study = tacit_site_study(site);
    const tacit_plan *plan = &study->plan;
    const tacit_method *method = plan->method;
    tacit_prices prices = { .event = { .count = 0 } };
    tacit_buffer past = TACIT_BUFFER_INIT;
    bool asked = false;
    if (strcmp(option, "allow-reuse") == 0) asked = true;
    if (strcmp(option, "allow-exact") == 0)
        asked = tacit_plan_price(plan, &prices, NULL) == TACIT_OK && isinf(prices.charged.epsilon);
    if (strcmp(option, "allow-entrusted") == 0)
        asked = method->schedule == NULL && method->release_kind(plan) == TACIT_RELEASE_ENTRUSTED;
    if (strcmp(option, "allow-neighbours") == 0) asked = method->schedule != NULL;
    if (strcmp(option, "allow-site") == 0) asked = tacit_plan_sites_apart(plan);
    if (strcmp(option, "allow-difference") == 0 && tacit_site_has_rows(site))
        asked = tacit_site_sum_history(site, &past, NULL) == TACIT_OK && past.length > 0;
    if (strcmp(option, "may-ask-again") == 0) asked = study->ask_again;
    tacit_buffer_clear(&past);
    return asked;
}

static json_t *asked_document(const page_join *self, const tacit_site *site) {
    json_t *list = json_array();
    for (size_t k = 0; k < ALLOWANCES; k++)
        if (is_asked(site, allowances[k].option))
            list = tacit_json_append(list, json_pack("{s:s,s:s}", "option", allowances[k].option, "says",
                                                     self->settings->allowing(allowances[k].option)));
    return list;
}

/* ---- questionnaires of a study ---- */

static tacit_status read_questionnaire(tacit_instrument **out, const tacit_study *study, size_t at,
                                       tacit_error *error) {
    const tacit_buffer *text = &study->instruments[at];
    return tacit_instrument_parse(out, (const char *)text->bytes, text->length, "the study's questionnaire",
                                  error);
}

static bool is_held(const json_t *sources, const char *name) {
    size_t i;
    json_t *each;
    json_array_foreach((json_t *)sources, i, each) {
        if (strcmp(json_string_value(json_object_get(each, "name")), name) == 0) return true;
    }
    return false;
}

static tacit_status questionnaires_document(json_t **out, const tacit_study *study, const json_t *sources,
                                            tacit_error *error) {
    *out = json_array();
    for (size_t i = 0; i < study->instrument_count; i++) {
        tacit_instrument *made = NULL;
        TACIT_TRY(read_questionnaire(&made, study, i, error));
        *out = tacit_json_append(
            *out, json_pack("{s:s,s:i,s:s,s:b,s:b}", "name", made->name, "version", (int)made->version,
                            "title", tacit_said_in(made, &made->title, NULL), "signed", (int)made->is_signed,
                            "held", (int)is_held(sources, made->name)));
        tacit_instrument_free(made);
    }
    return *out != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status take_up(page_join *self, const wish *wanted, const char *name, tacit_error *error) {
    tacit_site *site = NULL;
    tacit_instrument *made = NULL;
    tacit_status status;
    bool found = false;
    TACIT_CHECK(look_first(&site, self, wanted, error));
    const tacit_study *study = tacit_site_study(site);
    for (size_t i = 0; i < study->instrument_count && !found; i++) {
        made = tacit_instrument_free(made);
        TACIT_CHECK(read_questionnaire(&made, study, i, error));
        found = strcmp(made->name, name) == 0;
        if (found) TACIT_CHECK(self->store.take(self->store.owner, made, &study->instruments[i], error));
    }
    if (!found)
        TACIT_CHECK(
            tacit_fail(error, TACIT_NOT_FOUND, "study '%s' has no questionnaire '%.60s'", study->name, name));
cleanup:
    tacit_instrument_free(made);
    tacit_site_free(site);
    return status;
}

/* What is read before consenting, in the words of `tacit join`; `problem` is why it cannot be joined so. */
static tacit_status terms_document(json_t **out, const page_join *self, const tacit_site *site,
                                   const json_t *sources, const char *problem, tacit_error *error) {
    const tacit_study *study = tacit_site_study(site);
    column_listing columns = { sources, json_array() };
    json_t *questionnaires = NULL;
    tacit_buffer terms = TACIT_BUFFER_INIT;
    char hash[2 * TACIT_HASH_BYTES + 1];
    tacit_status status;
    if (study->schema->sparse == 0)
        TACIT_CHECK(tacit_schema_needed(study->schema, list_column, &columns, error));
    TACIT_CHECK(questionnaires_document(&questionnaires, study, sources, error));
    TACIT_CHECK(self->settings->terms(self->settings->context, site, &terms, error));
    *out = json_pack("{s:s,s:s,s:s,s:s,s:s,s:O,s:O,s:O,s:o,s:o}", "study", study->name, "title", study->title,
                     "coordinator", tacit_site_coordinator(site), "version",
                     sodium_bin2hex(hash, sizeof hash, study->hash, sizeof study->hash), "terms",
                     tacit_buffer_text(&terms), "columns", columns.list, "sources", sources, "questionnaires",
                     questionnaires, "asks", asked_document(self, site), "problem",
                     problem != NULL ? json_string(problem) : json_null());
    if (*out == NULL) status = tacit_fail_memory(error);
cleanup:
    json_decref(columns.list);
    json_decref(questionnaires);
    tacit_buffer_clear(&terms);
    return status;
}

/* With the rows where some were chosen and can be read; else the study alone, and why. */
static tacit_status look_document(json_t **out, page_join *self, const wish *wanted, tacit_error *error) {
    json_t *sources = NULL;
    tacit_site *first = NULL, *site = NULL;
    tacit_error problem = TACIT_ERROR_INIT;
    tacit_status status;
    TACIT_CHECK(look_first(&first, self, wanted, error));
    TACIT_CHECK(
        self->store.list(self->store.owner, wanted->study, tacit_site_coordinator(first), &sources, error));
    tacit_status read = wanted->data[0] != 0 ? look(&site, self, wanted, &wanted->settings, &problem)
                                             : tacit_fail(&problem, TACIT_USAGE, "choose the data to use");
    if (read == TACIT_OK) read = tacit_site_check(site, &problem);
    TACIT_CHECK(terms_document(out, self, site != NULL ? site : first, sources,
                               read != TACIT_OK ? problem.text : NULL, error));
cleanup:
    json_decref(sources);
    tacit_site_free(site);
    tacit_site_free(first);
    return status;
}

static void finish(web_call *call, tacit_status status, json_t *document, const tacit_error *error) {
    if (status == TACIT_OK)
        web_answer(call, 200, document);
    else
        web_answer_failure(call, status, error);
}

void page_join_look(page_join *self, web_call *call) {
    wish wanted = { .body = NULL };
    json_t *document = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    pthread_mutex_lock(&self->joining);
    tacit_status status = read_wish(&wanted, self, call, &error);
    if (status == TACIT_OK) status = look_document(&document, self, &wanted, &error);
    pthread_mutex_unlock(&self->joining);
    finish(call, status, document, &error);
    json_decref(wanted.body);
}

void page_join_take_up(page_join *self, web_call *call) {
    wish wanted = { .body = NULL };
    tacit_error error = TACIT_ERROR_INIT;
    pthread_mutex_lock(&self->joining);
    tacit_status status = read_wish(&wanted, self, call, &error);
    const char *name = json_string_value(json_object_get(wanted.body, "name"));
    if (status == TACIT_OK && name == NULL)
        status = tacit_fail(&error, TACIT_USAGE, "say {\"study\": NAME, \"name\": of the questionnaire}");
    if (status == TACIT_OK) status = take_up(self, &wanted, name, &error);
    pthread_mutex_unlock(&self->joining);
    finish(call, status, status == TACIT_OK ? json_pack("{s:s}", "name", name) : NULL, &error);
    json_decref(wanted.body);
}

/* ---- joining ---- */

/* Nothing is consented to unseen. */
static tacit_status check_version(const tacit_study *study, const char *version, tacit_error *error) {
    char hash[2 * TACIT_HASH_BYTES + 1];
    sodium_bin2hex(hash, sizeof hash, study->hash, sizeof study->hash);
    if (version != NULL && strcmp(version, hash) == 0) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "study '%s' has another version than the one that was read: read it again",
                      study->name);
}

static tacit_status join(page_join *self, const wish *wanted, char id[TACIT_SITE_ID_SIZE],
                         tacit_error *error) {
    tacit_site *site = NULL;
    char mark[PATH_MAX];
    tacit_status status;
    if (wanted->data[0] == 0) return tacit_fail(error, TACIT_USAGE, "choose the data to use");
    TACIT_CHECK(look(&site, self, wanted, &wanted->settings, error));
    TACIT_CHECK(check_version(tacit_site_study(site), wanted->version, error));
    TACIT_CHECK(tacit_site_check(site, error));
    TACIT_CHECK(tacit_site_join(site, error));
    TACIT_CHECK(tacit_path_join(mark, sizeof mark, tacit_site_folder(site), SITE_BY_PAGE_FILE, error));
    TACIT_CHECK(tacit_file_write(mark, "", 0, 0600, error)); /* the daemon takes it up from here */
    snprintf(id, TACIT_SITE_ID_SIZE, "%s", tacit_site_id(site));
cleanup:
    tacit_site_free(site);
    return status;
}

void page_join_take_part(page_join *self, web_call *call) {
    wish wanted = { .body = NULL };
    char id[TACIT_SITE_ID_SIZE] = "";
    tacit_error error = TACIT_ERROR_INIT;
    pthread_mutex_lock(&self->joining);
    tacit_status status = read_wish(&wanted, self, call, &error);
    if (status == TACIT_OK) status = join(self, &wanted, id, &error);
    pthread_mutex_unlock(&self->joining);
    finish(call, status, status == TACIT_OK ? json_pack("{s:s,s:s}", "study", id, "consent", "given") : NULL,
           &error);
    json_decref(wanted.body);
}

/* ---- a first limit ---- */

static tacit_status set_limit(const page_join *self, const tacit_price *limit, tacit_error *error) {
    char data[PATH_MAX + 8], source[PATH_MAX], path[PATH_MAX];
    tacit_ledger *ledger = NULL;
    tacit_account before;
    tacit_status status;
    snprintf(data, sizeof data, "store:%s?", self->path);
    TACIT_CHECK(tacit_source_id(source, sizeof source, data, error));
    TACIT_CHECK(tacit_path_join(path, sizeof path, self->settings->home, TACIT_LEDGER_NAME, error));
    TACIT_CHECK(tacit_ledger_open(&ledger, path, source, TACIT_LEDGER_CREATE, error));
    TACIT_CHECK(tacit_ledger_account(&before, ledger, NULL, limit->unit, error));
    if (before.limited)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE,
                               "a limit is set already: change it with tacit ledger limit, which says what "
                               "that means for what has left"));
    TACIT_CHECK(tacit_ledger_set_limit(ledger, NULL, limit, error));
cleanup:
    tacit_ledger_free(ledger);
    return status;
}

void page_join_limit(page_join *self, web_call *call) {
    const tacit_buffer *bytes = tacit_exchange_body(call->exchange);
    json_t *body = json_loadb((const char *)bytes->bytes, bytes->length, JSON_REJECT_DUPLICATES, NULL);
    const json_t *epsilon = json_object_get(body, "epsilon"), *delta = json_object_get(body, "delta");
    const tacit_price limit = { TACIT_UNIT_RECORD, json_number_value(epsilon), json_number_value(delta) };
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status =
        json_is_number(epsilon) && (delta == NULL || json_is_number(delta)) && limit.epsilon >= 0 &&
                limit.delta >= 0 && limit.delta < 1
            ? set_limit(self, &limit, &error)
            : tacit_fail(&error, TACIT_USAGE,
                         "a limit is {\"epsilon\": a number from 0, \"delta\": from 0 to less than 1}");
    finish(call, status,
           status == TACIT_OK ? json_pack("{s:f,s:f}", "epsilon", limit.epsilon, "delta", limit.delta) : NULL,
           &error);
    json_decref(body);
}
