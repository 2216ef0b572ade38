#include "site/page_person.h"

#include <limits.h>
#include <sodium.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/schema/date.h"
#include "person/instrument/diary.h"
#include "site/enrol/page_enrol.h"
#include "site/enrol/page_join.h"
#include "site/site.h"
#include "study/json_value.h"

enum { ANSWERS_MOST = 256 << 10, REQUEST_MOST = 8 << 10 };

struct page_person {
    char home[PATH_MAX], path[PATH_MAX];
    const tacit_page_settings *settings;
    page_join *join;
    pthread_mutex_t opening; /* one word at a time that opens or locks */
    pthread_mutex_t mutex;   /* guards the vault, which several threads ask */
    tacit_vault *vault;      /* NULL: locked */
};

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The store must be open. Under the mutex. */
static tacit_status need_open(const page_person *person, tacit_error *error) {
    return person->vault != NULL
               ? TACIT_OK
               : tacit_fail(error, TACIT_REFUSED, "the store is locked: give its passphrase first");
}

static tacit_status list_sources(void *store, const char *study, const char *coordinator, json_t **out,
                                 tacit_error *error) {
    page_person *person = store;
    pthread_mutex_lock(&person->mutex);
    tacit_status status = need_open(person, error);
    if (status == TACIT_OK) status = page_join_list(out, person->vault, study, coordinator, error);
    pthread_mutex_unlock(&person->mutex);
    return status;
}

static tacit_status take_up(void *store, const tacit_instrument *made, const tacit_buffer *text,
                            tacit_error *error) {
    page_person *person = store;
    pthread_mutex_lock(&person->mutex);
    tacit_status status = need_open(person, error);
    if (status == TACIT_OK)
        status =
            tacit_diary_take(person->vault, made, (const char *)text->bytes, text->length, now_ms(), error);
    pthread_mutex_unlock(&person->mutex);
    return status;
}

tacit_status page_person_create(page_person **out, const tacit_page_settings *settings, tacit_error *error) {
    page_person *person = TACIT_NEW(page_person, 1);
    tacit_status status;
    if (person == NULL) return tacit_fail_memory(error);
    person->settings = settings;
    pthread_mutex_init(&person->opening, NULL);
    pthread_mutex_init(&person->mutex, NULL);
    TACIT_CHECK(
        tacit_path_join(person->path, sizeof person->path, settings->home, TACIT_PERSONAL_FILE, error));
    memcpy(person->home, settings->home, strlen(settings->home) + 1); /* shorter than the path */
    TACIT_CHECK(page_join_create(&person->join, settings, &(page_join_store){ person, list_sources, take_up },
                                 error));
    *out = person;
    person = NULL;
cleanup:
    page_person_free(person);
    return status;
}

page_person *page_person_free(page_person *person) {
    if (person == NULL) return NULL;
    page_join_free(person->join);
    tacit_vault_close(person->vault);
    pthread_mutex_destroy(&person->opening);
    pthread_mutex_destroy(&person->mutex);
    free(person);
    return NULL;
}

json_t *page_person_state(page_person *person, const char *id) { return page_join_state(person->join, id); }

uint64_t page_person_said(page_person *person) { return page_join_said(person->join); }

/* Answer with a document, which is taken over, or with what went wrong. */
static void answer(web_call *call, tacit_status status, json_t *document, const tacit_error *error) {
    if (status == TACIT_OK) {
        web_answer(call, 200, document);
        return;
    }
    json_decref(document);
    web_answer_failure(call, status, error);
}

/* ---- what is there ---- */

typedef struct looking {
    page_person *person;
    json_t *list;
    json_t *origins;
} looking;

static tacit_status add_origin(void *context, const tacit_origin *origin, tacit_error *error) {
    looking *self = context;
    self->origins =
        tacit_json_append(self->origins, json_pack("{s:o,s:I}", "from", tacit_json_escaped(origin->label),
                                                   "time_ms", (json_int_t)origin->time_ms));
    return self->origins != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static json_t *day_or_null(bool there, int32_t day) {
    char text[TACIT_DAY_TEXT];
    return there ? json_string(tacit_day_text(day, text)) : json_null();
}

/* {due, again, next} of a questionnaire, and its title; null of what a device measured. */
static tacit_status prompt_document(json_t **out, page_person *person, const tacit_collection *held,
                                    tacit_error *error) {
    tacit_instrument *made = NULL;
    tacit_diary_state state;
    if (held->kind != TACIT_COLLECTION_ANSWERS) {
        *out = json_null();
        return TACIT_OK;
    }
    TACIT_TRY(tacit_diary_load(&made, person->vault, held->name, error));
    tacit_status status = tacit_diary_look(&state, person->vault, made, tacit_diary_today(now_ms()), error);
    if (status == TACIT_OK)
        *out = json_pack("{s:s,s:i,s:b,s:o}", "title", tacit_said_in(made, &made->title, NULL), "version",
                         (int)made->version, "due", state.due, "next", day_or_null(state.again, state.next));
    tacit_instrument_free(made);
    return status;
}

static tacit_status add_source(void *context, const tacit_collection *held, tacit_error *error) {
    looking *self = context;
    json_t *prompt = NULL, *columns = json_array();
    tacit_rows_span span;
    tacit_status status;
    self->origins = json_array();
    TACIT_CHECK(tacit_rows_measure(self->person->vault, held, &span, error));
    TACIT_CHECK(tacit_origins_each(self->person->vault, held, add_origin, self, error));
    TACIT_CHECK(prompt_document(&prompt, self->person, held, error));
    for (size_t j = 0; j < held->count; j++)
        columns = tacit_json_append(columns, json_pack("{s:s,s:o}", "name", held->columns[j].name, "unit",
                                                       tacit_json_escaped(held->columns[j].unit)));
    self->list = tacit_json_append(
        self->list,
        json_pack("{s:s,s:b,s:I,s:o,s:o,s:O,s:O,s:O}", "name", held->name, "questionnaire",
                  held->kind == TACIT_COLLECTION_ANSWERS, "rows", (json_int_t)span.count, "first",
                  day_or_null(span.count > 0, span.first), "last", day_or_null(span.count > 0, span.last),
                  "columns", columns, "origins", self->origins, "prompt", prompt));
    if (self->list == NULL) status = tacit_fail_memory(error);
cleanup:
    json_decref(self->origins);
    self->origins = NULL;
    json_decref(columns);
    json_decref(prompt);
    return status;
}

static tacit_status add_rule(void *context, const tacit_reuse_rule *rule, tacit_error *error) {
    json_t **list = context;
    *list = tacit_json_append(*list, json_pack("{s:o,s:o,s:s,s:o}", "who", tacit_json_escaped(rule->who),
                                               "source", tacit_json_escaped(rule->collection), "reuse",
                                               tacit_reuse_name(rule->reuse), "purpose",
                                               tacit_json_escaped(rule->purpose)));
    return *list != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static void get_store(void *context, web_call *call) {
    page_person *person = context;
    looking self = { .person = person, .list = json_array() };
    json_t *rules = json_array();
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    pthread_mutex_lock(&person->mutex);
    const bool open = person->vault != NULL;
    if (open) status = tacit_collections_each(person->vault, add_source, &self, &error);
    if (open && status == TACIT_OK) status = tacit_reuse_each(person->vault, add_rule, &rules, &error);
    pthread_mutex_unlock(&person->mutex);
    answer(call, status,
           json_pack("{s:b,s:b,s:o,s:o,s:o}", "exists", access(person->path, F_OK) == 0, "open", open, "path",
                     tacit_json_escaped(person->path), "sources", self.list, "rules", rules),
           &error);
}

/* ---- opening ---- */

static void post_unlock(void *context, web_call *call) {
    page_person *person = context;
    char passphrase[TACIT_PASSPHRASE_MOST + 1] = "";
    tacit_error error = TACIT_ERROR_INIT;
    tacit_vault *vault = NULL;
    tacit_status status = TACIT_OK;
    if (!web_body_text(tacit_exchange_body(call->exchange), "passphrase", passphrase, sizeof passphrase))
        status = tacit_fail(&error, TACIT_USAGE, "the store is opened by {\"passphrase\": ...}");
    pthread_mutex_lock(&person->opening); /* one guess at a time */
    if (status == TACIT_OK) status = tacit_vault_open(&vault, person->path, passphrase, &error);
    if (status == TACIT_OK) {
        pthread_mutex_lock(&person->mutex);
        tacit_vault_close(person->vault);
        person->vault = vault;
        pthread_mutex_unlock(&person->mutex);
        person->settings->opened(person->settings->context, passphrase);
        page_join_begin(person->join);
    }
    pthread_mutex_unlock(&person->opening);
    sodium_memzero(passphrase, sizeof passphrase);
    answer(call, status, json_pack("{s:b}", "open", true), &error);
}

static void post_lock(void *context, web_call *call) {
    page_person *person = context;
    pthread_mutex_lock(&person->opening);
    page_join_end(person->join);
    person->settings->opened(person->settings->context, NULL);
    pthread_mutex_lock(&person->mutex);
    person->vault = tacit_vault_close(person->vault);
    pthread_mutex_unlock(&person->mutex);
    pthread_mutex_unlock(&person->opening);
    web_answer(call, 200, json_pack("{s:b}", "open", false));
}

/* ---- questionnaires ---- */

/* {language: text} */
static json_t *said_document(const tacit_instrument *made, const tacit_said *said) {
    json_t *object = json_object();
    for (size_t k = 0; k < made->languages.count; k++)
        if (said->in[k] != NULL)
            json_object_set_new(object, made->languages.text[k], json_string(said->in[k]));
    return object;
}

static json_t *choices_document(const tacit_instrument *made, const tacit_item *item) {
    json_t *list = json_array();
    for (size_t k = 0; k < item->says_count; k++) {
        json_t *value = item->kind == TACIT_ITEM_CHOICE ? json_string(item->values.text[k])
                                                        : json_sprintf("%d", (int)item->low + (int)k);
        list = tacit_json_append(
            list, json_pack("{s:o,s:o}", "value", value, "says", said_document(made, &item->says[k])));
    }
    return list;
}

static json_t *item_document(const tacit_instrument *made, const tacit_item *item, bool shown) {
    const bool day = item->kind == TACIT_ITEM_DATE;
    return json_pack("{s:s,s:s,s:o,s:b,s:b,s:b,s:o,s:o,s:o}", "name", item->name, "kind",
                     tacit_item_kind_name(item->kind), "ask", said_document(made, &item->ask), "required",
                     item->required, "decides", item->condition != NULL, "shown", shown, "low",
                     day ? day_or_null(true, (int32_t)item->low) : tacit_json_number(item->low), "high",
                     day ? day_or_null(true, (int32_t)item->high) : tacit_json_number(item->high), "choices",
                     choices_document(made, item));
}

static json_t *instrument_document(const tacit_instrument *made) {
    const char *none[TACIT_INSTRUMENT_ITEMS] = { NULL };
    bool shown[TACIT_INSTRUMENT_ITEMS];
    json_t *items = json_array(), *languages = json_array();
    tacit_instrument_shown(shown, made, none);
    for (size_t i = 0; i < made->item_count; i++)
        items = tacit_json_append(items, item_document(made, &made->items[i], shown[i]));
    for (size_t k = 0; k < made->languages.count; k++)
        languages = tacit_json_append(languages, json_string(made->languages.text[k]));
    return json_pack("{s:s,s:i,s:s,s:b,s:o,s:o,s:o,s:o}", "name", made->name, "version", (int)made->version,
                     "licence", made->licence, "signed", made->is_signed, "languages", languages, "title",
                     said_document(made, &made->title), "about", said_document(made, &made->about), "items",
                     items);
}

static void get_questionnaire(void *context, web_call *call) {
    page_person *person = context;
    tacit_instrument *made = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    pthread_mutex_lock(&person->mutex);
    tacit_status status = need_open(person, &error);
    if (status == TACIT_OK) status = tacit_diary_load(&made, person->vault, call->item, &error);
    pthread_mutex_unlock(&person->mutex);
    answer(call, status, made != NULL ? instrument_document(made) : NULL, &error);
    tacit_instrument_free(made);
}

/* The answers of a body, {"answers": {ITEM: TEXT}}; the texts are borrowed from it. */
static tacit_status read_answers(const json_t *body, tacit_diary_answer *out, size_t *count,
                                 tacit_error *error) {
    const json_t *answers = json_object_get(body, "answers");
    const char *item;
    json_t *text;
    *count = 0;
    if (!json_is_object(answers) || json_object_size(answers) > TACIT_INSTRUMENT_ITEMS)
        return tacit_fail(error, TACIT_USAGE, "answers are {\"answers\": {ITEM: TEXT}}");
    json_object_foreach((json_t *)answers, item, text) { /* which changes nothing */
        if (!json_is_string(text))
            return tacit_fail(error, TACIT_USAGE, "the answer to '%.60s' must be a text", item);
        out[(*count)++] = (tacit_diary_answer){ item, json_string_value(text) };
    }
    return TACIT_OK;
}

static json_t *read_body(const web_call *call) {
    const tacit_buffer *body = tacit_exchange_body(call->exchange);
    return json_loadb((const char *)body->bytes, body->length, JSON_REJECT_DUPLICATES, NULL);
}

/* Which items are shown, given these answers: the page asks, and decides nothing itself. */
static void post_shown(void *context, web_call *call) {
    page_person *person = context;
    const char *sorted[TACIT_INSTRUMENT_ITEMS] = { NULL };
    tacit_diary_answer answers[TACIT_INSTRUMENT_ITEMS];
    bool shown[TACIT_INSTRUMENT_ITEMS];
    tacit_instrument *made = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    json_t *body = read_body(call), *list = json_array();
    size_t count;
    tacit_status status = read_answers(body, answers, &count, &error);
    pthread_mutex_lock(&person->mutex);
    if (status == TACIT_OK) status = need_open(person, &error);
    if (status == TACIT_OK) status = tacit_diary_load(&made, person->vault, call->item, &error);
    pthread_mutex_unlock(&person->mutex);
    for (size_t i = 0; made != NULL && i < made->item_count; i++)
        for (size_t k = 0; k < count; k++)
            if (strcmp(made->items[i].name, answers[k].item) == 0) sorted[i] = answers[k].text;
    if (made != NULL) tacit_instrument_shown(shown, made, sorted);
    for (size_t i = 0; made != NULL && i < made->item_count; i++)
        if (shown[i]) list = tacit_json_append(list, json_string(made->items[i].name));
    answer(call, status, json_pack("{s:o}", "shown", list), &error);
    tacit_instrument_free(made);
    json_decref(body);
}

static void post_answers(void *context, web_call *call) {
    page_person *person = context;
    tacit_diary_answer answers[TACIT_INSTRUMENT_ITEMS];
    tacit_instrument *made = NULL;
    tacit_filled got = { .count = 0 };
    tacit_error error = TACIT_ERROR_INIT;
    json_t *body = read_body(call), *scores = json_object();
    const int64_t now = now_ms();
    size_t count;
    tacit_status status = read_answers(body, answers, &count, &error);
    pthread_mutex_lock(&person->mutex);
    if (status == TACIT_OK) status = need_open(person, &error);
    if (status == TACIT_OK) status = tacit_diary_load(&made, person->vault, call->item, &error);
    if (status == TACIT_OK)
        status = tacit_diary_fill(&got, person->vault, call->item, answers, count, tacit_diary_today(now),
                                  now, &error);
    pthread_mutex_unlock(&person->mutex);
    for (size_t k = 0; status == TACIT_OK && k < made->score_count; k++) {
        const char *cell = got.cells[made->item_count + k];
        json_object_set_new(scores, made->scores[k].name, cell != NULL ? json_string(cell) : json_null());
    }
    answer(call, status, json_pack("{s:o}", "scores", scores), &error);
    tacit_filled_clear(&got);
    tacit_instrument_free(made);
    json_decref(body);
}

/* ---- the catalogue ---- */

static tacit_status add_offer(void *context, const tacit_offer *offer, tacit_error *error) {
    json_t **list = context;
    const tacit_study *study = offer->study;
    const tacit_plan *plan = &study->plan;
    tacit_prices prices = { .event = { .count = 0 } };
    char price[TACIT_PRICE_TEXT_SIZE];
    TACIT_TRY(tacit_plan_price(plan, &prices, error));
    *list = tacit_json_append(
        *list, json_pack("{s:s,s:s,s:s,s:o,s:s,s:s,s:s,s:o,s:s}", "study", study->name, "title", study->title,
                         "state", offer->state, "coordinator", tacit_json_escaped(offer->coordinator),
                         "method", plan->method->title, "guarantee", plan->method->guarantee, "price",
                         tacit_price_text(price, &prices.charged), "approval",
                         study->approval[0] != 0 ? json_string(study->approval) : json_null(), "you",
                         !offer->joined     ? (offer->offered ? "offered to you" : "not joined")
                         : offer->withdrawn ? "withdrawn"
                         : offer->consented ? "consented"
                                            : "amended"));
    return *list != NULL ? TACIT_OK : tacit_fail_memory(error);
}

/* What the coordinators of joined studies offer; they are asked now. */
static void get_catalogue(void *context, web_call *call) {
    const page_person *person = context;
    const tacit_site_callbacks silent = { .context = NULL };
    json_t *offers = json_array();
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = tacit_site_catalogue(person->home, NULL, 0, &silent, add_offer, &offers, &error);
    answer(call, status, json_pack("{s:o}", "offers", offers), &error);
}

static void post_public_catalogue(void *context, web_call *call) {
    const page_person *person = context;
    page_enrol_catalogue(person->home, call);
}

static void post_enrol(void *context, web_call *call) {
    const page_person *person = context;
    page_enrol_ask(person->home, call);
}

static void post_joining(void *context, web_call *call) {
    page_person *person = context;
    page_join_look(person->join, call);
}

static void post_join(void *context, web_call *call) {
    page_person *person = context;
    page_join_take_part(person->join, call);
}

static void post_questionnaire(void *context, web_call *call) {
    page_person *person = context;
    page_join_take_up(person->join, call);
}

static void post_limit(void *context, web_call *call) {
    page_person *person = context;
    page_join_limit(person->join, call);
}

/* ---- rules ---- */

static void post_rule(void *context, web_call *call) {
    page_person *person = context;
    const tacit_buffer *body = tacit_exchange_body(call->exchange);
    tacit_reuse_rule rule = { .id = 0 };
    char reuse[16];
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    if (!web_body_text(body, "who", rule.who, sizeof rule.who) ||
        !web_body_text(body, "source", rule.collection, sizeof rule.collection) ||
        !web_body_text(body, "reuse", reuse, sizeof reuse) || !tacit_reuse_parse(&rule.reuse, reuse))
        status = tacit_fail(
            &error, TACIT_USAGE,
            "a rule is {\"who\": STUDY or *, \"source\": NAME or *, \"reuse\": allow, ask or refuse}");
    (void)web_body_text(body, "purpose", rule.purpose, sizeof rule.purpose);
    pthread_mutex_lock(&person->mutex);
    if (status == TACIT_OK) status = need_open(person, &error);
    if (status == TACIT_OK) status = tacit_reuse_set(person->vault, &rule, &error);
    pthread_mutex_unlock(&person->mutex);
    answer(call, status, json_pack("{s:s}", "reuse", tacit_reuse_name(rule.reuse)), &error);
}

const web_further page_person_routes[] = {
    { { "GET", "/v1/party/store", false, get_store,
        "What is in the person's own store, where it came from, what is due, and the rules" },
      0,
      NULL },
    { { "GET", "/v1/party/catalogue", false, get_catalogue,
        "What the coordinators of joined studies offer; they are asked now" },
      0,
      NULL },
    { { "POST", "/v1/party/catalogue", false, post_public_catalogue,
        "The public catalogue at an address, which names its coordinator by fingerprint" },
      REQUEST_MOST,
      NULL },
    { { "POST", "/v1/party/enrol", false, post_enrol,
        "Ask to join a study of a public catalogue, or one that is offered to this person" },
      REQUEST_MOST,
      NULL },
    { { "POST", "/v1/party/joining", false, post_joining,
        "What joining a study with these data of the store would tell, cost and need, as `tacit join` shows "
        "it" },
      REQUEST_MOST,
      NULL },
    { { "POST", "/v1/party/join", false, post_join,
        "Consent to the version that was read and join, as `tacit join`; the page then answers for it" },
      REQUEST_MOST,
      NULL },
    { { "POST", "/v1/party/limit", false, post_limit, "Set a first limit for what is in the store" },
      0,
      NULL },
    { { "POST", "/v1/party/store/unlock", false, post_unlock, "Open the store by its passphrase" },
      REQUEST_MOST,
      NULL },
    { { "POST", "/v1/party/store/lock", false, post_lock, "Close the store" }, 0, NULL },
    { { "POST", "/v1/party/store/rules", false, post_rule, "Say which studies may use what is in the store" },
      0,
      NULL },
    { { "POST", "/v1/party/questionnaires", false, post_questionnaire,
        "Take up a questionnaire of a study that may be joined" },
      REQUEST_MOST,
      NULL },
    { { "GET", "/v1/party/questionnaires/{name}", false, get_questionnaire,
        "The items of a questionnaire in the store, in all its languages" },
      0,
      NULL },
    { { "POST", "/v1/party/questionnaires/{name}/shown", false, post_shown,
        "Which items are shown, given these answers" },
      ANSWERS_MOST,
      NULL },
    { { "POST", "/v1/party/questionnaires/{name}/answers", false, post_answers,
        "Check, score and keep answers as a row of the store" },
      ANSWERS_MOST,
      NULL },
};
const size_t page_person_route_count = sizeof page_person_routes / sizeof page_person_routes[0];
