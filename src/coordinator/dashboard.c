/*
 * The coordinator's dashboard: what docs/openapi.yaml says under the tag dashboard. What it shows is here;
 * what changes a study, or is made of its model for people, comes from whoever runs the coordinator
 * (settings.routes, api/study/desk.h). Parties are counted in what a study is, and named in a list of
 * their own, which a page can leave out of a picture.
 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "coordinator/coordinator_parts.h"
#include "coordinator/dashboard_parts.h"
#include "net/clock.h"
#include "study/json_value.h"
#include "study/passes.h"
#include "study/round_log.h"
#include "web/web.h"

enum { LOOK_EVERY_MS = 250, SEEN_MS = 60000 };

/* A study's definition, parsed; again when its text has changed. */
typedef struct known_study {
    char name[TACIT_ID_SIZE];
    uint8_t hash[TACIT_HASH_BYTES];
    tacit_study *study;
    json_t *curve; /* of its model, once it was asked for */
    struct known_study *next;
} known_study;

struct dashboard {
    coordinator *owner;
    web *page;
    pthread_mutex_t mutex; /* guards what is known */
    known_study *known;
    int64_t looked; /* main loop only */
};

/* ---- studies ---- */

static known_study *find_known(dashboard *self, const char *name) {
    known_study *each = self->known;
    while (each != NULL && strcmp(each->name, name) != 0) each = each->next;
    if (each != NULL) return each;
    each = TACIT_NEW(known_study, 1);
    if (each == NULL) return NULL;
    snprintf(each->name, sizeof each->name, "%s", name);
    each->next = self->known;
    self->known = each;
    return each;
}

/* The record and the parsed definition, borrowed. Under the mutex. */
static tacit_status look_up(dashboard *self, const char *name, tacit_study_record *record,
                            const tacit_study **out, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    uint8_t hash[TACIT_HASH_BYTES];
    known_study *known = NULL;
    tacit_study *study = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_registry_study(self->owner->registry, name, record, &text, error));
    crypto_generichash(hash, sizeof hash, text.bytes, text.length, NULL, 0);
    known = find_known(self, record->name);
    if (known == NULL) TACIT_CHECK(tacit_fail_memory(error));
    if (known->study == NULL || memcmp(known->hash, hash, sizeof hash) != 0) {
        TACIT_CHECK(tacit_study_parse(&study, tacit_buffer_text(&text), text.length, name, error));
        tacit_study_free(known->study);
        known->study = study;
        json_decref(known->curve);
        known->curve = NULL;
        memcpy(known->hash, hash, sizeof hash);
    }
    *out = known->study;
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

void coordinator_record_contact(coordinator *self, const char *study, const char *party) {
    hosted *host = coordinator_find(self, study);
    int32_t code;
    if (host == NULL) return;
    pthread_mutex_lock(&self->mutex);
    if (tacit_levels_add(&host->seen, party, strlen(party), &code, NULL) == TACIT_OK) {
        if (host->seen.count > host->seen_room) {
            int64_t *grown = tacit_grow(host->seen_at, host->seen.count * 2, sizeof *grown);
            if (grown != NULL) {
                host->seen_at = grown;
                host->seen_room = host->seen.count * 2;
            }
        }
        if ((size_t)code < host->seen_room) host->seen_at[code] = tacit_clock_monotonic_ms();
    }
    pthread_mutex_unlock(&self->mutex);
}

/* How many parties have asked or answered something in the last minute; one that waits asks twice a
 * minute. */
size_t coordinator_seen(coordinator *self, hosted *host) {
    int64_t since = tacit_clock_monotonic_ms() - SEEN_MS;
    size_t seen = 0;
    pthread_mutex_lock(&self->mutex);
    for (size_t i = 0; i < host->seen.count && i < host->seen_room; i++) seen += host->seen_at[i] >= since;
    pthread_mutex_unlock(&self->mutex);
    return seen;
}

static tacit_status count_followed(void *context, const char *party, bool away, tacit_error *error) {
    (void)party;
    (void)error;
    *(size_t *)context += !away;
    return TACIT_OK;
}

/* While two authorities are trusted: how many parties have a certificate of the new one. */
static void add_followed(json_t *parties, coordinator *self, const char *study) {
    const tacit_authority_keys *keys = atomic_load(&self->keys);
    size_t followed = 0;
    if (keys->changes != 0 &&
        tacit_registry_followers(self->registry, study, tacit_authority_info(keys->present)->key_id,
                                 count_followed, &followed, NULL) == TACIT_OK)
        json_object_set_new(parties, "followed", json_integer((json_int_t)followed));
}

/* How the parties of a study that goes on are doing. */
static void add_presence(json_t *parties, coordinator *self, const tacit_study_record *record) {
    hosted *host = coordinator_find(self, record->name);
    bool active = host != NULL && record->state < TACIT_STUDY_DONE;
    size_t seen = active ? coordinator_seen(self, host) : 0;
    tacit_board_state board = { .open = false };
    if (active) tacit_board_look(host->board, &board);
    if (seen > record->joined) seen = record->joined;
    if (!active) return;
    add_followed(parties, self, record->name);
    json_object_set_new(parties, "seen", json_integer((json_int_t)seen));
    json_object_set_new(parties, "silent", json_integer((json_int_t)(record->joined - seen)));
    if (board.open) {
        json_object_set_new(parties, "answered", json_integer((json_int_t)board.answered));
        json_object_set_new(parties, "refused", json_integer((json_int_t)board.refused));
    }
}

static json_t *study_document(dashboard *self, const tacit_study_record *record, const tacit_study *study) {
    json_t *document = tacit_json_study(record, study);
    if (document == NULL) return NULL;
    add_presence(json_object_get(document, "parties"), self->owner, record);
    json_object_set_new(document, "progress",
                        dashboard_progress(self->owner, record->state == TACIT_STUDY_RUNNING
                                                            ? coordinator_find(self->owner, record->name)
                                                            : NULL));
    json_object_set_new(
        document, "target",
        dashboard_target(self->owner->settings.folder, study,
                         record->state == TACIT_STUDY_DONE || record->state == TACIT_STUDY_CLOSED));
    return document;
}

/* One that cannot be read is shown with the reason, and hides no other. */
static json_t *listed(dashboard *self, const char *name) {
    tacit_study_record record;
    const tacit_study *study = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    if (look_up(self, name, &record, &study, &error) == TACIT_OK) return study_document(self, &record, study);
    return json_pack("{s:s,s:s,s:s}", "name", name, "state", "unreadable", "reason", error.text);
}

static tacit_status studies_document(dashboard *self, json_t **out, tacit_error *error) {
    tacit_study_record *records = NULL;
    size_t count = 0;
    TACIT_TRY(tacit_registry_studies(self->owner->registry, &records, &count, error));
    json_t *list = json_array();
    pthread_mutex_lock(&self->mutex);
    for (size_t i = 0; i < count; i++) list = tacit_json_append(list, listed(self, records[i].name));
    pthread_mutex_unlock(&self->mutex);
    free(records);
    *out = json_pack("{s:s,s:o}", "coordinator", self->owner->name, "studies", list);
    return *out != NULL ? TACIT_OK : tacit_fail_memory(error);
}

/* ---- the routes ---- */

/* Answer with the document, or with the failure to make it. */
static void answer(web_call *call, tacit_status status, json_t *document, const tacit_error *error) {
    if (status == TACIT_OK)
        web_answer(call, 200, document);
    else
        web_answer_failure(call, status, error);
}

static void get_studies(void *context, web_call *call) {
    json_t *document = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = studies_document(context, &document, &error);
    answer(call, status, document, &error);
}

static void get_study(void *context, web_call *call) {
    dashboard *self = context;
    tacit_study_record record;
    const tacit_study *study = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    pthread_mutex_lock(&self->mutex);
    tacit_status status = look_up(self, call->item, &record, &study, &error);
    json_t *document = status == TACIT_OK ? study_document(self, &record, study) : NULL;
    pthread_mutex_unlock(&self->mutex);
    answer(call, status, document, &error);
}

static void get_explanation(void *context, web_call *call) {
    dashboard *self = context;
    tacit_study_record record;
    const tacit_study *study = NULL;
    json_t *document = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    pthread_mutex_lock(&self->mutex);
    tacit_status status = look_up(self, call->item, &record, &study, &error);
    if (status == TACIT_OK) status = tacit_json_explanation(&document, &study->plan, &error);
    pthread_mutex_unlock(&self->mutex);
    answer(call, status, document, &error);
}

static void get_parties(void *context, web_call *call) {
    dashboard *self = context;
    json_t *document = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = dashboard_parties(self->owner, call->item, &document, &error);
    answer(call, status, document, &error);
}

static void get_rounds(void *context, web_call *call) {
    dashboard *self = context;
    tacit_study_record record;
    json_t *document = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_registry_study(self->owner->registry, call->item, &record, NULL, &error);
    if (status == TACIT_OK)
        status = tacit_rounds_read(&document, self->owner->settings.folder, record.name, &error);
    answer(call, status, document, &error);
}

static tacit_status model_bytes(dashboard *self, const char *study, tacit_buffer *out, tacit_error *error) {
    tacit_study_record record;
    TACIT_TRY(tacit_registry_study(self->owner->registry, study, &record, NULL, error));
    return tacit_registry_model(self->owner->registry, study, out, error);
}

static void get_model(void *context, web_call *call) {
    tacit_buffer model = TACIT_BUFFER_INIT;
    char name[WEB_ITEM_SIZE + 32];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = model_bytes(context, call->item, &model, &error);
    snprintf(name, sizeof name, "%s.model.json", call->item);
    if (status == TACIT_OK)
        web_answer_file(call, &model, "application/json", name);
    else
        web_answer_failure(call, status, &error);
    tacit_buffer_clear(&model);
}

static void get_result(void *context, web_call *call) {
    tacit_buffer model = TACIT_BUFFER_INIT;
    json_t *document = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = model_bytes(context, call->item, &model, &error);
    if (status == TACIT_OK) status = dashboard_result(&model, call->item, &document, &error);
    answer(call, status, document, &error);
    tacit_buffer_clear(&model);
}

/* On the coordinator's own labelled rows, where it was given some; reading and scoring them is done once a
 * model. */
static tacit_status find_curve(dashboard *self, const char *name, json_t **out, tacit_error *error) {
    tacit_buffer model = TACIT_BUFFER_INIT;
    tacit_study_record record;
    const tacit_study *study = NULL;
    tacit_status status;
    pthread_mutex_lock(&self->mutex);
    TACIT_CHECK(look_up(self, name, &record, &study, error));
    known_study *known = find_known(self, record.name);
    TACIT_CHECK(model_bytes(self, record.name, &model, error));
    if (known->curve == NULL)
        TACIT_CHECK(dashboard_curve(self->owner->settings.test, &model, record.name, &known->curve, error));
    *out = json_incref(known->curve);
cleanup:
    pthread_mutex_unlock(&self->mutex);
    tacit_buffer_clear(&model);
    return status;
}

static void get_curve(void *context, web_call *call) {
    json_t *document = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = find_curve(context, call->item, &document, &error);
    answer(call, status, document, &error);
}

static const web_route routes[] = {
    { "GET", "/v1/studies", false, get_studies, "All studies of the coordinator" },
    { "GET", "/v1/studies/{study}", false, get_study, "One study" },
    { "GET", "/v1/studies/{study}/explanation", false, get_explanation,
      "Who learns what, with prices and noise, as `tacit explain` prints it" },
    { "GET", "/v1/studies/{study}/parties", false, get_parties,
      "Who takes part, by name, and who is invited by name" },
    { "GET", "/v1/studies/{study}/rounds", false, get_rounds,
      "The rounds that have ended, and what was published with noise" },
    { "GET", "/v1/studies/{study}/result", false, get_result, "What a finished study has found" },
    { "GET", "/v1/studies/{study}/curve", false, get_curve,
      "ROC curve and AUC of a finished study's model on the coordinator's labelled rows (tacit "
      "coordinator --test)" },
    { "GET", "/v1/studies/{study}/model", false, get_model, "The model file, as an attachment" },
};

/* ---- programs with a token ---- */

static tacit_status admit_program(void *context, const char *token, web_pass *out, tacit_error *error) {
    dashboard *self = context;
    tacit_pass pass;
    tacit_error why = TACIT_ERROR_INIT;
    tacit_status status =
        tacit_registry_check_pass(self->owner->registry, token, tacit_clock_wall_seconds(), &pass, &why);
    if (status != TACIT_OK) {
        coordinator_warn(self->owner, "token", "a program was refused at the dashboard's port: %s", why.text);
        return tacit_fail(error, status, "%s", why.text);
    }
    out->manages = pass.scope == TACIT_SCOPE_MANAGE;
    snprintf(out->study, sizeof out->study, "%s", pass.study);
    snprintf(out->id, sizeof out->id, "%s", pass.id);
    return TACIT_OK;
}

/* The path by its pattern: what stands for the study in it is a stranger's word until a study is found. */
static void note_change(void *context, const web_call *call, const web_route *route) {
    dashboard *self = context;
    bool plain = tacit_name_check("study", call->item, TACIT_ID_SIZE - 1, NULL) == TACIT_OK;
    coordinator_mention(self->owner, call->pass.id, "%s %s%s%s by token %s", route->method, route->path,
                        plain ? ", study " : "", plain ? call->item : "", call->pass.id);
}

static json_t *only_study(const json_t *document, const char *study) {
    json_t *list = json_array(), *each;
    size_t i;
    json_array_foreach(json_object_get(document, "studies"), i, each) {
        const char *name = json_string_value(json_object_get(each, "name"));
        if (name != NULL && strcmp(name, study) == 0) list = tacit_json_append(list, json_incref(each));
    }
    return json_pack("{s:O,s:o}", "coordinator", json_object_get(document, "coordinator"), "studies", list);
}

/* ---- starting, looking, stopping ---- */

/* To the person at the terminal, and not to the log: who reads that need not be allowed in. */
static void announce_link(coordinator *self, web *page) {
    char line[WEB_LINK_SIZE + 128], address[WEB_LINK_SIZE], credential[WEB_SECRET_SIZE];
    web_address(page, address);
    coordinator_news(self, "dashboard at %s", address);
    if (self->settings.shown != NULL) self->settings.shown(self->settings.context, address);
    web_link(page, address);
    web_take_credential(page, credential);
    if (self->settings.news != NULL) {
        pthread_mutex_lock(&self->mutex); /* news come one at a time */
        snprintf(line, sizeof line, "log in once, within ten minutes: %s", address);
        self->settings.news(self->settings.context, TACIT_LOG_INFO, line);
        if (credential[0] != 0) {
            snprintf(line, sizeof line, "administrator's credential, shown this once: %s", credential);
            self->settings.news(self->settings.context, TACIT_LOG_INFO, line);
        }
        pthread_mutex_unlock(&self->mutex);
    }
    sodium_memzero(line, sizeof line);
    sodium_memzero(credential, sizeof credential);
}

tacit_status dashboard_start(coordinator *self, tacit_error *error) {
    if (!self->settings.dashboard) return TACIT_OK;
    dashboard *board = TACIT_NEW(dashboard, 1);
    if (board == NULL) return tacit_fail_memory(error);
    web_settings settings = { .folder = self->settings.folder,
                              .service = "coordinator",
                              .index = "/dashboard.html",
                              .port = self->settings.dashboard_port,
                              .routes = routes,
                              .route_count = sizeof routes / sizeof routes[0],
                              .context = board,
                              .more = self->settings.routes,
                              .more_count = self->settings.route_count,
                              .more_context = (void *)self->settings.folder,
                              .admit = admit_program,
                              .noted = note_change,
                              .narrow = only_study };
    board->owner = self;
    pthread_mutex_init(&board->mutex, NULL);
    self->dashboard = board;
    tacit_status status = web_start(&board->page, &settings, error);
    if (status != TACIT_OK) {
        dashboard_stop(self);
        return tacit_fail_in(error, status, "the dashboard");
    }
    announce_link(self, board->page);
    return TACIT_OK;
}

void dashboard_look(coordinator *self) {
    dashboard *board = self->dashboard;
    if (board == NULL || tacit_clock_monotonic_ms() - board->looked < LOOK_EVERY_MS) return;
    board->looked = tacit_clock_monotonic_ms();
    json_t *document = NULL;
    if (web_is_watched(board->page) && studies_document(board, &document, NULL) == TACIT_OK)
        web_publish(board->page, document);
}

void dashboard_stop(coordinator *self) {
    dashboard *board = self->dashboard;
    if (board == NULL) return;
    web_free(board->page);
    while (board->known != NULL) {
        known_study *each = board->known;
        board->known = each->next;
        tacit_study_free(each->study);
        json_decref(each->curve);
        free(each);
    }
    pthread_mutex_destroy(&board->mutex);
    free(board);
    self->dashboard = NULL;
}
