/* A coordinator for a program: run here, or used by its folder or its address. */
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/document/document.h"
#include "api/option/arguments.h"
#include "api/option/listen_address.h"
#include "api/option/options.h"
#include "api/study/client_parts.h"
#include "api/study/issue.h"
#include "base/memory.h"
#include "coordinator/coordinator.h"

/* ---- one that runs here ---- */

static const tacit_option start_options[] = {
    { .name = "name",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "NAME",
      .fallback = "Tacit coordinator",
      .help = "what parties see as the coordinator's name, when the folder is made" },
    { .name = "listen",
      .kind = TACIT_OPTION_TEXT,
      .placeholder = "ADDRESS[:PORT]",
      .fallback = "127.0.0.1",
      .help = "where to listen" },
    { .name = "url", .kind = TACIT_OPTION_TEXT, .placeholder = "URL", .help = "how parties reach it" },
    { .name = "test", .kind = TACIT_OPTION_FILE, .placeholder = "FILE", .help = "labelled rows" },
    { .name = "dashboard",
      .kind = TACIT_OPTION_INTEGER,
      .placeholder = "PORT",
      .help = "serve pages and the HTTP interface",
      .rules = TACIT_RULE_RANGE,
      .least = 0,
      .most = 65535 },
    { .name = NULL },
};

static void tell(client_server *self, bool ready, bool ended) {
    pthread_mutex_lock(&self->mutex);
    self->ready = self->ready || ready;
    self->ended = self->ended || ended;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

static void ready(void *context) { tell(((tacit_coordinator *)context)->server, true, false); }

static bool stopped(void *context) { return atomic_load(&((tacit_coordinator *)context)->server->stop); }

static void shown(void *context, const char *address) {
    tacit_coordinator *self = context;
    size_t length = strlen(address);
    while (length > 0 && address[length - 1] == '/') length--;
    snprintf(self->address, sizeof self->address, "%.*s", (int)length, address);
}

static void news(void *context, tacit_log_level level, const char *line) {
    const client_server *self = ((tacit_coordinator *)context)->server;
    (void)level;
    if (self->listener.news != NULL) self->listener.news(self->listener.context, line);
}

static void *serve(void *context) {
    tacit_coordinator *self = context;
    client_server *server = self->server;
    const tacit_coordinator_settings settings = {
        .folder = self->folder,
        .address = server->listen,
        .port = server->port,
        .url = server->url,
        .test = server->test,
        .dashboard = server->port_shown >= 0,
        .dashboard_port = server->port_shown >= 0 ? (uint16_t)server->port_shown : 0,
        .routes = tacit_desk_routes,
        .route_count = TACIT_DESK_ROUTES,
        .archive = tacit_desk_archive_ended,
        .ready = ready,
        .shown = shown,
        .cancelled = stopped,
        .tells_end = true,
        .news = news,
        .context = self,
    };
    server->status = tacit_coordinator_run(&settings, &server->failure);
    tell(server, false, true);
    return NULL;
}

static void free_server(client_server *server) {
    if (server == NULL) return;
    pthread_mutex_destroy(&server->mutex);
    pthread_cond_destroy(&server->changed);
    free(server->url);
    free(server->test);
    free(server);
}

/* End the thread that was started. */
static void stop_server(client_server *server) {
    atomic_store(&server->stop, true);
    pthread_join(server->thread, NULL);
}

tacit_coordinator *tacit_coordinator_free(tacit_coordinator *coordinator) {
    if (coordinator == NULL) return NULL;
    client_sites_free(coordinator->sites);
    if (coordinator->server != NULL && coordinator->server->started) stop_server(coordinator->server);
    free_server(coordinator->server);
    tacit_client_free(coordinator->client);
    if (coordinator->token != NULL) sodium_memzero(coordinator->token, strlen(coordinator->token));
    free(coordinator->token);
    free(coordinator->folder);
    pthread_mutex_destroy(&coordinator->turn);
    free(coordinator);
    return NULL;
}

static tacit_status create(tacit_coordinator **out, const char *folder, const char *token,
                           tacit_error *error) {
    tacit_coordinator *made = TACIT_NEW(tacit_coordinator, 1);
    if (made == NULL) return tacit_fail_memory(error);
    pthread_mutex_init(&made->turn, NULL);
    made->folder = folder != NULL ? tacit_copy_text(folder) : NULL;
    made->token = token != NULL ? tacit_copy_text(token) : NULL;
    *out = made;
    return (folder != NULL && made->folder == NULL) || (token != NULL && made->token == NULL)
               ? tacit_fail_memory(error)
               : TACIT_OK;
}

static tacit_status copy_given(char **out, const tacit_arguments *arguments, const char *name,
                               tacit_error *error) {
    const char *text = tacit_arguments_text(arguments, name);
    *out = text != NULL ? tacit_copy_text(text) : NULL;
    return text != NULL && *out == NULL ? tacit_fail_memory(error) : TACIT_OK;
}

static tacit_status settle(client_server *server, const tacit_arguments *arguments, tacit_error *error) {
    TACIT_TRY(tacit_parse_listen(tacit_arguments_text(arguments, "listen"), server->listen,
                                 sizeof server->listen, &server->port, error));
    TACIT_TRY(copy_given(&server->url, arguments, "url", error));
    TACIT_TRY(copy_given(&server->test, arguments, "test", error));
    server->port_shown = tacit_arguments_given(arguments, "dashboard")
                             ? (int)tacit_arguments_integer(arguments, "dashboard")
                             : -1;
    return TACIT_OK;
}

/* Start the thread, and wait until parties can come. */
static tacit_status start(tacit_coordinator *self, tacit_error *error) {
    client_server *server = self->server;
    server->started = pthread_create(&server->thread, NULL, serve, self) == 0;
    if (!server->started)
        return tacit_fail(error, TACIT_NO_MEMORY, "starting a thread: the system allows no more");
    pthread_mutex_lock(&server->mutex);
    while (!server->ready && !server->ended) pthread_cond_wait(&server->changed, &server->mutex);
    bool failed = !server->ready;
    pthread_mutex_unlock(&server->mutex);
    return failed ? tacit_fail(error, server->status, "%s", server->failure.text) : TACIT_OK;
}

tacit_status tacit_coordinator_start(tacit_coordinator **out, const char *folder,
                                     const tacit_options *options, const tacit_coordinator_listener *listener,
                                     tacit_error *error) {
    static const tacit_form form = { .name = "starting a coordinator", .options = start_options };
    tacit_coordinator *made = NULL;
    tacit_arguments *arguments = NULL;
    tacit_status status;
    TACIT_TRY(tacit_require(out, "where to put the coordinator", error));
    TACIT_TRY(tacit_require(folder, "the coordinator's folder", error));
    TACIT_CHECK(tacit_form_take(&arguments, &form, options, error));
    TACIT_CHECK(create(&made, folder, NULL, error));
    made->server = TACIT_NEW(client_server, 1);
    if (made->server == NULL) TACIT_CHECK(tacit_fail_memory(error));
    pthread_mutex_init(&made->server->mutex, NULL);
    pthread_cond_init(&made->server->changed, NULL);
    if (listener != NULL) made->server->listener = *listener;
    TACIT_CHECK(settle(made->server, arguments, error));
    TACIT_CHECK(tacit_name_check("the coordinator's name", tacit_arguments_text(arguments, "name"),
                                 TACIT_ID_SIZE - 1, error));
    TACIT_CHECK(tacit_coordinator_prepare(folder, tacit_arguments_text(arguments, "name"), error));
    TACIT_CHECK(start(made, error));
    *out = made;
    made = NULL;
cleanup:
    tacit_coordinator_free(made);
    tacit_arguments_free(arguments);
    return status;
}

/* ---- one that runs elsewhere ---- */

/* Nothing in it may end a line of a request. */
static bool is_token(const char *text) {
    for (; *text > ' ' && *text < 0x7f; text++)
        ;
    return *text == 0;
}

static tacit_status connect_address(tacit_coordinator *self, const char *address, tacit_error *error) {
    tacit_buffer answer = TACIT_BUFFER_INIT;
    if (strlen(address) >= sizeof self->address)
        return tacit_fail(error, TACIT_USAGE, "the coordinator's address is too long");
    memcpy(self->address, address, strlen(address) + 1);
    TACIT_TRY(client_connect(&self->client, self, NULL, NULL, error));
    tacit_status status = client_ask(&answer, self->client, "GET", "/v1/session", NULL, NULL, NULL, error);
    tacit_buffer_clear(&answer);
    return status;
}

static tacit_status check_folder(const char *folder, tacit_error *error) {
    tacit_registry *registry = NULL;
    TACIT_TRY(tacit_registry_open(&registry, folder, false, error));
    tacit_registry_close(registry);
    return TACIT_OK;
}

tacit_status tacit_coordinator_connect(tacit_coordinator **out, const char *where, const char *token,
                                       tacit_error *error) {
    tacit_coordinator *made = NULL;
    tacit_status status;
    TACIT_TRY(tacit_require(out, "where to put the coordinator", error));
    TACIT_TRY(tacit_require(where, "the coordinator's folder or address", error));
    TACIT_TRY(tacit_library_start(error));
    const bool address = strncmp(where, "http://", 7) == 0 || strncmp(where, "https://", 8) == 0;
    if (address && token == NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "a coordinator's address needs a token: `tacit study token` makes one");
    if (!address && token != NULL)
        return tacit_fail(error, TACIT_USAGE,
                          "a token goes with an address such as http://127.0.0.1:8090; '%s' is a folder",
                          where);
    if (token != NULL && !is_token(token))
        return tacit_fail(error, TACIT_USAGE, "this is no token: `tacit study token` makes one");
    TACIT_CHECK(create(&made, address ? NULL : where, token, error));
    TACIT_CHECK(address ? connect_address(made, where, error) : check_folder(where, error));
    *out = made;
    made = NULL;
cleanup:
    tacit_coordinator_free(made);
    return status;
}

const char *tacit_coordinator_address(const tacit_coordinator *coordinator) {
    return coordinator != NULL ? coordinator->address : "";
}

/* ---- tokens ---- */

static const tacit_option token_options[] = {
    { .name = "scope",
      .kind = TACIT_OPTION_CHOICE,
      .placeholder = "read|manage",
      .fallback = "read",
      .help = "what it may do" },
    { .name = "expires",
      .kind = TACIT_OPTION_NUMBER,
      .placeholder = "DAYS",
      .fallback = "30",
      .help = "for how many days it is good",
      .rules = TACIT_RULE_RANGE,
      .least = 0,
      .most = TACIT_PASS_DAYS },
    { .name = "study", .kind = TACIT_OPTION_TEXT, .placeholder = "STUDY", .help = "the one that it is for" },
    { .name = "for", .kind = TACIT_OPTION_TEXT, .placeholder = "NAME", .help = "who gets it" },
    { .name = NULL },
};

tacit_status tacit_coordinator_token(char **json, tacit_coordinator *coordinator,
                                     const tacit_options *options, tacit_error *error) {
    static const tacit_form form = { .name = "making a token", .options = token_options };
    tacit_arguments *arguments = NULL;
    tacit_registry *registry = NULL;
    json_t *document = NULL;
    tacit_status status;
    TACIT_TRY(tacit_require(json, "where to put the token", error));
    TACIT_TRY(tacit_require(coordinator, "the coordinator", error));
    if (coordinator->folder == NULL)
        return tacit_fail(error, TACIT_USAGE, "tokens are made in the coordinator's folder, not through one");
    TACIT_CHECK(tacit_form_take(&arguments, &form, options, error));
    TACIT_CHECK(tacit_registry_open(&registry, coordinator->folder, false, error));
    TACIT_CHECK(tacit_pass_issue(&document, registry, tacit_arguments_text(arguments, "study"),
                                 tacit_arguments_text(arguments, "scope"),
                                 tacit_arguments_number(arguments, "expires"),
                                 tacit_arguments_text(arguments, "for"), error));
    TACIT_CHECK(tacit_document_text(json, document, error));
cleanup:
    tacit_registry_close(registry);
    tacit_arguments_free(arguments);
    return status;
}
