#include "web/shelf.h"

#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "net/clock.h"
#include "net/server.h"
#include "web/web.h"

enum { BURST = 400, PER_SECOND = 100, CONNECTIONS = 200, ADDRESS_CONNECTIONS = 50, REQUEST_MS = 5000 };
enum { TAG_BYTES = 16, TAG_SIZE = 2 * TAG_BYTES + 3 };

/* Answers under way share its bytes, so that slow readers of a long document cost no memory. */
typedef struct document {
    atomic_size_t references; /* the shelf's, and one of each answer */
    char *path;
    const char *type; /* a literal of whoever put it */
    tacit_buffer bytes;
    char tag[TAG_SIZE]; /* in quotes */
    bool immutable;
    struct document *next;
} document;

struct web_shelf {
    tacit_server *server;
    pthread_mutex_t mutex; /* guards what follows */
    document *documents;
    web_budget budget;
};

static const tacit_header safety[] = {
    { "Content-Security-Policy",
      "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" },
    { "X-Content-Type-Options", "nosniff" },
    { "X-Frame-Options", "DENY" },
    { "Referrer-Policy", "no-referrer" },
    { "Access-Control-Allow-Origin", "*" }, /* it is public, and nobody is logged in here */
};

enum { SAFETY = sizeof safety / sizeof safety[0] };

static void release(void *context) {
    document *one = context;
    if (atomic_fetch_sub(&one->references, 1) != 1) return;
    tacit_buffer_clear(&one->bytes);
    free(one->path);
    free(one);
}

static document *find(const web_shelf *shelf, const char *path) {
    document *each = shelf->documents;
    while (each != NULL && strcmp(each->path, path) != 0) each = each->next;
    return each;
}

/* Under the mutex. */
static void answer(tacit_exchange *exchange, document *found) {
    const char *known = tacit_exchange_header(exchange, "If-None-Match");
    const bool same = known != NULL && strcmp(known, found->tag) == 0;
    tacit_header headers[SAFETY + 2];
    memcpy(headers, safety, sizeof safety);
    headers[SAFETY] = (tacit_header){ "ETag", found->tag };
    headers[SAFETY + 1] =
        (tacit_header){ "Cache-Control",
                        found->immutable ? "public, max-age=31536000, immutable" : "public, max-age=60" };
    const tacit_http_answer said = { .status = same ? 304 : 200,
                                     .content_type = same ? NULL : found->type,
                                     .bytes = same ? NULL : found->bytes.bytes,
                                     .length = same ? 0 : found->bytes.length,
                                     .done = same ? NULL : release,
                                     .done_context = found,
                                     .headers = headers,
                                     .header_count = SAFETY + 2 };
    if (!same) atomic_fetch_add(&found->references, 1);
    tacit_exchange_answer(exchange, &said);
}

static void handle(void *context, tacit_exchange *exchange) {
    web_shelf *shelf = context;
    pthread_mutex_lock(&shelf->mutex);
    const bool allowed = web_budget_take(&shelf->budget, tacit_clock_monotonic_ms());
    document *found = allowed ? find(shelf, tacit_exchange_path(exchange)) : NULL;
    if (found != NULL) answer(exchange, found);
    pthread_mutex_unlock(&shelf->mutex);
    if (!allowed)
        tacit_exchange_answer_text(exchange, 429, "too many requests: try again in a moment");
    else if (found == NULL)
        tacit_exchange_answer_text(exchange, 404, "nothing is here");
}

static bool is_open(void *context, const char *method, const char *path) {
    (void)context, (void)path;
    return strcmp(method, "GET") == 0;
}

static size_t no_body(void *context, const char *method, const char *path, const tacit_peer *peer) {
    (void)context, (void)method, (void)path, (void)peer;
    return 0;
}

tacit_status web_shelf_start(web_shelf **out, const tacit_server_identity *identity,
                             const web_shelf_settings *settings, tacit_error *error) {
    const tacit_server_identity bare = { .key = identity->key, .certificate = identity->certificate };
    tacit_server_settings serving = tacit_server_defaults();
    web_shelf *shelf = TACIT_NEW(web_shelf, 1);
    if (shelf == NULL) return tacit_fail_memory(error);
    pthread_mutex_init(&shelf->mutex, NULL);
    shelf->budget = (web_budget){ BURST, BURST, PER_SECOND, tacit_clock_monotonic_ms() };
    if (settings->address != NULL) serving.address = settings->address;
    serving.port = settings->port;
    serving.connection_limit = CONNECTIONS;
    serving.address_limit = ADDRESS_CONNECTIONS;
    serving.request_ms = REQUEST_MS;
    serving.threads = 1;
    const tacit_server_callbacks callbacks = {
        .handle = handle, .open = is_open, .body_limit = no_body, .context = shelf
    };
    tacit_status status = tacit_server_start(&shelf->server, &bare, &serving, &callbacks, error);
    if (status == TACIT_OK)
        *out = shelf;
    else
        web_shelf_free(shelf);
    return status;
}

static document *free_document(document *one) {
    document *next = one->next;
    release(one);
    return next;
}

web_shelf *web_shelf_free(web_shelf *shelf) {
    if (shelf == NULL) return NULL;
    tacit_server_free(shelf->server);
    while (shelf->documents != NULL) shelf->documents = free_document(shelf->documents);
    pthread_mutex_destroy(&shelf->mutex);
    free(shelf);
    return NULL;
}

uint16_t web_shelf_port(const web_shelf *shelf) { return tacit_server_port(shelf->server); }

static void make_tag(char out[TAG_SIZE], const void *bytes, size_t length) {
    uint8_t hash[TAG_BYTES];
    char digits[2 * TAG_BYTES + 1];
    crypto_generichash(hash, sizeof hash, bytes, length, NULL, 0);
    snprintf(out, TAG_SIZE, "\"%s\"", sodium_bin2hex(digits, sizeof digits, hash, sizeof hash));
}

tacit_status web_shelf_put(web_shelf *shelf, const char *path, const char *type, const void *bytes,
                           size_t length, bool immutable, tacit_error *error) {
    document *one = TACIT_NEW(document, 1);
    if (one == NULL) return tacit_fail_memory(error);
    atomic_init(&one->references, 1);
    one->path = tacit_copy_text(path);
    one->type = type;
    one->immutable = immutable;
    tacit_status status =
        one->path != NULL ? tacit_buffer_append(&one->bytes, bytes, length, error) : tacit_fail_memory(error);
    if (status != TACIT_OK) {
        free_document(one);
        return status;
    }
    make_tag(one->tag, bytes, length);
    pthread_mutex_lock(&shelf->mutex);
    document **link = &shelf->documents;
    while (*link != NULL && strcmp((*link)->path, path) != 0) link = &(*link)->next;
    if (*link != NULL) *link = free_document(*link);
    one->next = shelf->documents;
    shelf->documents = one;
    pthread_mutex_unlock(&shelf->mutex);
    return TACIT_OK;
}
