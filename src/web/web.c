/* Requests to a page on loopback: which are let in, the files of the page, the log-in, and events. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "net/clock.h"
#include "web/web.h"

enum {
    CONNECTIONS = 64,
    BODY_MOST = 4096,
    REQUEST_MS = 5000,
    SUSPEND_MS = 25000,
    TURN_MS = 15000, /* a listener without news is told so, and asks again */
    RETRY_MS = 200,  /* how soon a listener does */
    HEADERS_MOST = 12,
};

/* A listener to /v1/events that waits for news. */
typedef struct listener {
    tacit_exchange *exchange;
    int64_t since;
    char study[WEB_ITEM_SIZE]; /* the one that it may hear of; "": all */
    struct listener *next;
} listener;

struct web {
    web_settings settings;
    tacit_server *server;
    web_login login;
    char host[32], origin[48];
    atomic_bool named;     /* the line above is written */
    pthread_mutex_t mutex; /* guards what follows */
    web_budget requests;
    listener *listeners;
    json_t *document; /* published last, and its text */
    char *known;
    uint64_t version;
};

/* ---- answers ---- */

static const tacit_header safety[] = {
    { "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri "
      "'none'; form-action 'none'; frame-ancestors 'none'" },
    { "X-Content-Type-Options", "nosniff" },
    { "X-Frame-Options", "DENY" },
    { "Referrer-Policy", "no-referrer" },
    { "Cross-Origin-Opener-Policy", "same-origin" },
    { "Cross-Origin-Resource-Policy", "same-origin" },
    { "Cache-Control", "no-store" },
};

enum { SAFETY = sizeof safety / sizeof safety[0] };

static tacit_http_answer with_headers(tacit_header out[HEADERS_MOST], unsigned status, const char *type,
                                      const void *bytes, size_t length, const tacit_header *more) {
    memcpy(out, safety, sizeof safety);
    if (more != NULL) out[SAFETY] = *more;
    return (tacit_http_answer){ .status = status,
                                .content_type = type,
                                .bytes = bytes,
                                .length = length,
                                .headers = out,
                                .header_count = SAFETY + (more != NULL) };
}

static void answer_bytes(web_call *call, unsigned status, const char *type, const void *bytes, size_t length,
                         const tacit_header *more) {
    tacit_header headers[HEADERS_MOST];
    tacit_http_answer answer = with_headers(headers, status, type, bytes, length, more);
    tacit_exchange_answer(call->exchange, &answer);
}

static void answer_document(web_call *call, unsigned status, json_t *document, const tacit_header *more) {
    char *text = document != NULL ? json_dumps(document, JSON_COMPACT) : NULL;
    json_decref(document);
    if (text != NULL)
        answer_bytes(call, status, "application/json", text, strlen(text), more);
    else
        tacit_exchange_answer_text(call->exchange, 500, "out of memory");
    free(text);
}

void web_answer(web_call *call, unsigned status, json_t *document) {
    answer_document(call, status, document, NULL);
}

static void refuse(web_call *call, unsigned status, const char *sentence) {
    tacit_header retry = { "Retry-After", "30" };
    answer_document(call, status, json_pack("{s:s}", "error", sentence), status == 429 ? &retry : NULL);
}

void web_answer_failure(web_call *call, tacit_status status, const tacit_error *error) {
    unsigned code = status == TACIT_NOT_FOUND ? 404
                    : status == TACIT_USAGE   ? 409
                    : status == TACIT_INPUT   ? 422
                    : status == TACIT_REFUSED ? 403
                                              : 500;
    refuse(call, code, error->text);
}

void web_answer_file(web_call *call, const tacit_buffer *bytes, const char *type, const char *name) {
    char disposition[WEB_ITEM_SIZE + 64];
    snprintf(disposition, sizeof disposition, "attachment; filename=\"%s\"", name);
    tacit_header more = { "Content-Disposition", disposition };
    answer_bytes(call, 200, type, bytes->bytes, bytes->length, &more);
}

/* ---- events ---- */

/* A stream of one event. The page opens the next, with the number of the last that it has seen: so a stream
 * that is cut, here or by a restart, loses nothing. */
static tacit_http_answer event_answer(tacit_header headers[HEADERS_MOST], const char *text) {
    return with_headers(headers, 200, "text/event-stream", text, strlen(text), NULL);
}

/* What is known, as far as it is about `study` ("": all). Under the mutex. */
static char *event_text(const web *page, const char *study) {
    char *text = NULL, *part = NULL;
    if (page->known == NULL) return NULL;
    if (study[0] != 0) {
        json_t *narrowed = page->settings.narrow(page->document, study);
        part = narrowed != NULL ? json_dumps(narrowed, JSON_COMPACT) : NULL;
        json_decref(narrowed);
        if (part == NULL) return NULL;
    }
    if (asprintf(&text, "retry: %d\nid: %llu\nevent: state\ndata: %s\n\n", RETRY_MS,
                 (unsigned long long)page->version, part != NULL ? part : page->known) < 0)
        text = NULL;
    free(part);
    return text;
}

/* Take a listener out of the list; NULL when another thread has it already. */
static listener *take_listener(web *page, const tacit_exchange *exchange) {
    pthread_mutex_lock(&page->mutex);
    listener **link = &page->listeners;
    while (*link != NULL && (*link)->exchange != exchange) link = &(*link)->next;
    listener *found = *link;
    if (found != NULL) *link = found->next;
    pthread_mutex_unlock(&page->mutex);
    return found;
}

static void listener_abandoned(void *context, tacit_exchange *exchange) {
    listener *found = take_listener(context, exchange);
    if (found == NULL) return;
    tacit_exchange_release(found->exchange);
    free(found);
}

static void get_events(void *context, web_call *call) {
    (void)context;
    web *page = call->page;
    const char *last = tacit_exchange_header(call->exchange, "Last-Event-ID");
    uint64_t seen = last != NULL ? strtoull(last, NULL, 10) : 0;
    listener *each = TACIT_NEW(listener, 1);
    pthread_mutex_lock(&page->mutex);
    char *text = seen != page->version ? event_text(page, call->pass.study) : NULL;
    bool suspended =
        text == NULL && each != NULL && tacit_exchange_suspend(call->exchange, 0, listener_abandoned, page);
    if (suspended) {
        *each = (listener){ .exchange = call->exchange,
                            .since = tacit_clock_monotonic_ms(),
                            .next = page->listeners };
        memcpy(each->study, call->pass.study, sizeof each->study);
        page->listeners = each;
    }
    pthread_mutex_unlock(&page->mutex);
    if (suspended) return;
    free(each);
    if (text != NULL) answer_bytes(call, 200, "text/event-stream", text, strlen(text), NULL);
    free(text);
}

/* Those who are to be told something, out of the list. Under the mutex. */
static listener *due_listeners(web *page, bool all) {
    int64_t before = tacit_clock_monotonic_ms() - TURN_MS;
    listener *due = NULL;
    for (listener **link = &page->listeners; *link != NULL;) {
        listener *each = *link;
        if (!all && each->since > before) {
            link = &each->next;
            continue;
        }
        *link = each->next;
        each->next = due;
        due = each;
    }
    return due;
}

/* Take over a document that differs from the one before; it is freed otherwise. Under the mutex. */
static bool take_news(web *page, json_t *document) {
    char *now = document != NULL ? json_dumps(document, JSON_COMPACT) : NULL;
    bool news = now != NULL && (page->known == NULL || strcmp(page->known, now) != 0);
    if (news) {
        free(page->known);
        json_decref(page->document);
        page->known = now;
        page->document = document;
        page->version++;
        return true;
    }
    free(now);
    json_decref(document);
    return false;
}

static void tell_listener(web *page, listener *each, bool news) {
    tacit_header headers[HEADERS_MOST];
    pthread_mutex_lock(&page->mutex);
    char *text = news ? event_text(page, each->study) : NULL;
    pthread_mutex_unlock(&page->mutex);
    tacit_http_answer answer = event_answer(headers, text != NULL ? text : ": nothing new\n\n");
    tacit_exchange_complete(each->exchange, &answer);
    free(each);
    free(text);
}

void web_publish(web *page, json_t *document) {
    pthread_mutex_lock(&page->mutex);
    bool news = take_news(page, document);
    listener *due = due_listeners(page, news);
    pthread_mutex_unlock(&page->mutex);
    while (due != NULL) {
        listener *each = due;
        due = each->next;
        tell_listener(page, each, news);
    }
}

bool web_is_watched(web *page) {
    pthread_mutex_lock(&page->mutex);
    bool watched = page->listeners != NULL;
    pthread_mutex_unlock(&page->mutex);
    return watched;
}

/* ---- the routes that every page has ---- */

/* A body that a foreign page can send without asking first is no JSON to the browser. */
static bool is_json(const web_call *call) {
    const char *type = tacit_exchange_header(call->exchange, "Content-Type");
    static const char json[] = "application/json";
    size_t length = strlen(json);
    return type != NULL && strncasecmp(type, json, length) == 0 && (type[length] == 0 || type[length] == ';');
}

/* The one answer that tells a token. */
static void answer_token(web_call *call, int place) {
    char token[WEB_SECRET_SIZE];
    int64_t seconds = web_login_token(&call->page->login, place, token);
    web_answer(call, 200,
               json_pack("{s:s,s:s,s:I}", "service", call->page->settings.service, "token", token,
                         "expires_in", (json_int_t)seconds));
    sodium_memzero(token, sizeof token);
}

static void post_session(void *context, web_call *call) {
    int place = -1;
    (void)context;
    if (!is_json(call)) {
        refuse(call, 415, "a log-in is sent as application/json");
        return;
    }
    unsigned status = web_login_try(&call->page->login, tacit_exchange_body(call->exchange), &place);
    if (status == 200) {
        answer_token(call, place);
    } else if (status == 429) {
        refuse(call, 429, "too many attempts; wait half a minute");
    } else if (status == 400) {
        refuse(call, 400, "a log-in is {\"link\": ...} or {\"credential\": ...}");
    } else {
        refuse(call, 401,
               "this link or credential does not open the page; the program prints a new link at each start");
    }
}

static void get_session(void *context, web_call *call) {
    char token[WEB_SECRET_SIZE];
    (void)context;
    if (call->session < 0) { /* a program's token */
        web_answer(call, 200,
                   json_pack("{s:s,s:s,s:o}", "service", call->page->settings.service, "scope",
                             call->pass.manages ? "manage" : "read", "study",
                             call->pass.study[0] != 0 ? json_string(call->pass.study) : json_null()));
        return;
    }
    int64_t seconds = web_login_token(&call->page->login, call->session, token);
    sodium_memzero(token, sizeof token);
    web_answer(
        call, 200,
        json_pack("{s:s,s:I}", "service", call->page->settings.service, "expires_in", (json_int_t)seconds));
}

static void delete_session(void *context, web_call *call) {
    (void)context;
    web_login_end(&call->page->login, call->session);
    web_answer(call, 200, json_pack("{s:b}", "ended", true));
}

static void get_openapi(void *context, web_call *call) {
    (void)context;
    const web_file *file = web_files;
    while (file->path != NULL && strcmp(file->path, "/v1/openapi.yaml") != 0) file++;
    answer_bytes(call, 200, "application/yaml", file->bytes, file->length, NULL);
}

static web_handler get_overview;

static const web_route common[] = {
    { "GET", "/v1", true, get_overview, "Version, service, and the methods and paths served" },
    { "GET", "/v1/openapi.yaml", true, get_openapi, "This document" },
    { "POST", "/v1/session", true, post_session, "Log in by the one-time link or the credential" },
    { "GET", "/v1/session", false, get_session, "How long the session lasts, or what a token is good for" },
    { "DELETE", "/v1/session", false, delete_session, "Log out" },
    { "GET", "/v1/events", false, get_events, "Server-sent events" },
};

enum { COMMON = sizeof common / sizeof common[0] };

static size_t route_count(const web *page) {
    return COMMON + page->settings.route_count + page->settings.more_count;
}

static const web_route *route_at(const web *page, size_t number) {
    if (number < COMMON) return &common[number];
    number -= COMMON;
    return number < page->settings.route_count
               ? &page->settings.routes[number]
               : &page->settings.more[number - page->settings.route_count].route;
}

/* NULL: it is no further route. */
static const web_further *further_at(const web *page, size_t number) {
    size_t before = COMMON + page->settings.route_count;
    return number < before ? NULL : &page->settings.more[number - before];
}

/* The list is made of the table that requests are looked up in, so it cannot be wrong. */
static void get_overview(void *context, web_call *call) {
    const web *page = call->page;
    json_t *list = json_array();
    (void)context;
    for (size_t i = 0; i < route_count(page); i++)
        json_array_append_new(list,
                              json_pack("{s:s,s:s,s:s}", "method", route_at(page, i)->method, "path",
                                        route_at(page, i)->path, "summary", route_at(page, i)->summary));
    web_answer(call, 200,
               json_pack("{s:i,s:s,s:o}", "version", 1, "service", page->settings.service, "paths", list));
}

/* ---- letting in ---- */

/* Does the path fit the pattern? Its one {...} may be any text without a slash, and is copied. */
static bool fits(const char *pattern, const char *path, char item[WEB_ITEM_SIZE]) {
    size_t head = strcspn(pattern, "{");
    if (strncmp(pattern, path, head) != 0) return false;
    if (pattern[head] == 0) return path[head] == 0;
    size_t length = strcspn(path + head, "/");
    if (length == 0 || length >= WEB_ITEM_SIZE) return false;
    memcpy(item, path + head, length);
    item[length] = 0;
    return strcmp(strchr(pattern, '}') + 1, path + head + length) == 0;
}

/* Does the request come from the page itself, or not from a page at all? Browsers say so, and no script can
 * say otherwise. */
static bool is_own_origin(const web *page, const web_call *call) {
    const char *origin = tacit_exchange_header(call->exchange, "Origin");
    const char *site = tacit_exchange_header(call->exchange, "Sec-Fetch-Site");
    return (origin == NULL || strcmp(origin, page->origin) == 0) &&
           (site == NULL || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0);
}

/* May a good token be used for this route? Else the request is answered. */
static bool is_within(web_call *call, const web_route *route) {
    char sentence[WEB_ITEM_SIZE + 128];
    bool reads = strcmp(route->method, "GET") == 0, of_session = strcmp(route->path, "/v1/session") == 0,
         of_one = strchr(route->path, '{') != NULL, events = strcmp(route->path, "/v1/events") == 0;
    if (of_session && !reads) {
        refuse(call, 403, "a token is no session: it ends by itself, or when it is revoked");
    } else if (!reads && !call->pass.manages) {
        refuse(call, 403, "this token may only read; a token of scope 'manage' may change studies");
    } else if (call->pass.study[0] != 0 && !events && !of_session &&
               (!of_one || strcmp(call->item, call->pass.study) != 0)) {
        snprintf(sentence, sizeof sentence, "this token is for study '%s' and nothing else",
                 call->pass.study);
        refuse(call, 403, sentence);
    } else {
        return true;
    }
    return false;
}

/* Is the token of a program good, and for this route? Else the request is answered. */
static bool admit(const web *page, web_call *call, const web_route *route, const char *token) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = page->settings.admit(page->settings.context, token, &call->pass, &error);
    if (status == TACIT_OK) return is_within(call, route);
    refuse(call, status == TACIT_REFUSED ? 401 : 500, error.text);
    return false;
}

static bool let_in(web *page, web_call *call, const web_route *route) {
    const char *token = web_bearer(tacit_exchange_header(call->exchange, "Authorization"));
    bool changes = strcmp(route->method, "GET") != 0;
    if ((changes || !route->open) && !is_own_origin(page, call)) {
        refuse(call, 403, "this request comes from another site");
        return false;
    }
    if (route->open || call->session >= 0) return true;
    if (token != NULL && page->settings.admit != NULL && strncmp(token, "tacit.", 6) == 0)
        return admit(page, call, route, token);
    refuse(call, 401, "log in first, and send the token as 'Authorization: Bearer TOKEN'");
    return false;
}

static void run_route(web *page, web_call *call, size_t number) {
    const web_route *route = route_at(page, number);
    call->further = further_at(page, number);
    call->session = web_login_find(&page->login, tacit_exchange_header(call->exchange, "Authorization"));
    if (!let_in(page, call, route)) return;
    if (call->pass.id[0] != 0 && strcmp(route->method, "GET") != 0)
        page->settings.noted(page->settings.context, call, route);
    route->handle(call->further != NULL ? page->settings.more_context : page->settings.context, call);
}

static bool serve_file(const web *page, web_call *call, const char *path) {
    const char *wanted = strcmp(path, "/") == 0 ? page->settings.index : path;
    const web_file *file = web_files;
    while (file->path != NULL && strcmp(file->path, wanted) != 0) file++;
    if (file->path == NULL || strncmp(wanted, "/v1/", 4) == 0) return false;
    answer_bytes(call, 200, file->type, file->bytes, file->length, NULL);
    return true;
}

static bool within_budget(web *page) {
    pthread_mutex_lock(&page->mutex);
    bool within = web_budget_take(&page->requests, tacit_clock_monotonic_ms());
    pthread_mutex_unlock(&page->mutex);
    return within;
}

static void handle(void *context, tacit_exchange *exchange) {
    web *page = context;
    web_call call = { .page = page, .exchange = exchange, .session = -1 };
    const char *method = tacit_exchange_method(exchange), *path = tacit_exchange_path(exchange);
    const char *host = tacit_exchange_header(exchange, "Host");
    bool known = false;
    if (!atomic_load(&page->named)) {
        tacit_exchange_answer_text(exchange, 503, "the page is starting");
        return;
    }
    if (host == NULL || strcmp(host, page->host) != 0) {
        refuse(&call, 421, "this page answers only at 127.0.0.1 and its port, not at any other name");
        return;
    }
    if (!within_budget(page)) {
        refuse(&call, 429, "too many requests; wait half a minute");
        return;
    }
    if (strcmp(method, "GET") == 0 && serve_file(page, &call, path)) return;
    for (size_t i = 0; i < route_count(page); i++) {
        const web_route *route = route_at(page, i);
        if (!fits(route->path, path, call.item)) continue;
        known = true;
        if (strcmp(route->method, method) != 0) continue;
        run_route(page, &call, i);
        return;
    }
    if (known)
        refuse(&call, 405, "this path does not take this method; GET /v1 lists what there is");
    else
        refuse(&call, 404, "nothing is here; GET /v1 lists what there is");
}

static size_t body_most(void *context, const char *method, const char *path, const tacit_peer *peer) {
    const web *page = context;
    char item[WEB_ITEM_SIZE];
    (void)peer;
    for (size_t i = 0; i < page->settings.more_count; i++) {
        const web_further *one = &page->settings.more[i];
        if (one->body_most > 0 && strcmp(one->route.method, method) == 0 && fits(one->route.path, path, item))
            return one->body_most;
    }
    return BODY_MOST;
}

/* Who may come in is decided by `handle`: there are no certificates here. */
static bool is_open(void *context, const char *method, const char *path) {
    (void)context, (void)method, (void)path;
    return true;
}

/* ---- starting and stopping ---- */

void web_address(const web *page, char out[WEB_LINK_SIZE]) {
    snprintf(out, WEB_LINK_SIZE, "http://%s/", page->host);
}

void web_link(const web *page, char out[WEB_LINK_SIZE]) {
    /* After the '#', so that it is never sent in a request line nor kept in a server's log. */
    snprintf(out, WEB_LINK_SIZE, "http://%s/#link=%s", page->host, page->login.link);
}

void web_take_credential(web *page, char out[WEB_SECRET_SIZE]) {
    memcpy(out, page->login.fresh, WEB_SECRET_SIZE);
    sodium_memzero(page->login.fresh, WEB_SECRET_SIZE);
}

static void name_itself(web *page, unsigned port) {
    snprintf(page->host, sizeof page->host, "127.0.0.1:%u", port);
    snprintf(page->origin, sizeof page->origin, "http://%s", page->host);
    atomic_store(&page->named, true);
}

tacit_status web_start(web **out, const web_settings *settings, tacit_error *error) {
    web *page = TACIT_NEW(web, 1);
    if (page == NULL) return tacit_fail_memory(error);
    tacit_server_settings serving = tacit_server_defaults();
    tacit_server_callbacks callbacks = {
        .handle = handle, .open = is_open, .body_limit = body_most, .context = page
    };
    serving.port = settings->port;
    serving.connection_limit = CONNECTIONS;
    serving.body_limit = BODY_MOST;
    serving.request_ms = REQUEST_MS;
    serving.suspend_ms = SUSPEND_MS;
    page->settings = *settings;
    page->requests = (web_budget){ 400, 400, 100, tacit_clock_monotonic_ms() };
    tacit_status status = web_login_open(&page->login, settings->folder, error);
    if (status != TACIT_OK) {
        free(page);
        return status;
    }
    pthread_mutex_init(&page->mutex, NULL);
    status = tacit_server_start(&page->server, NULL, &serving, &callbacks, error);
    if (status != TACIT_OK) {
        web_free(page);
        return status;
    }
    name_itself(page, tacit_server_port(page->server));
    *out = page;
    return TACIT_OK;
}

web *web_free(web *page) {
    if (page == NULL) return NULL;
    tacit_server_free(page->server);
    web_login_close(&page->login);
    pthread_mutex_destroy(&page->mutex);
    free(page->known);
    json_decref(page->document);
    free(page);
    return NULL;
}
