#include "service.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void abandon(void *context, tacit_exchange *exchange) {
    service *all = context;
    bool found = false;
    pthread_mutex_lock(&all->mutex);
    for (size_t i = 0; i < all->waiting && all->release_on_abandon && !found; i++) {
        if (all->line[i] != exchange) continue;
        found = true;
        memmove(all->line + i, all->line + i + 1, (all->waiting - i - 1) * sizeof all->line[0]);
        all->waiting--;
    }
    all->abandoned++;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->mutex);
    if (found) tacit_exchange_release(exchange);
}

static void suspend(service *all, tacit_exchange *exchange) {
    const char *limit = tacit_exchange_argument(exchange, "ms");
    unsigned milliseconds = limit != NULL ? (unsigned)strtoul(limit, NULL, 10) : 0;
    /* Held across both, so that `abandon` finds the exchange in the line. */
    pthread_mutex_lock(&all->mutex);
    if (tacit_exchange_suspend(exchange, milliseconds, abandon, all)) {
        if (all->waiting < SERVICE_LINE) all->line[all->waiting++] = exchange;
        all->suspended++;
        pthread_cond_broadcast(&all->changed);
    }
    pthread_mutex_unlock(&all->mutex);
}

static void answer_large(tacit_exchange *exchange) {
    const char *count = tacit_exchange_argument(exchange, "bytes");
    size_t length = count != NULL ? strtoul(count, NULL, 10) : 300000;
    char *bytes = malloc(length);
    if (bytes == NULL) return;
    memset(bytes, 'x', length);
    tacit_http_answer answer = {
        .status = 200, .bytes = bytes, .length = length, .done = free, .done_context = bytes
    };
    tacit_exchange_answer(exchange, &answer);
}

static void handle(void *context, tacit_exchange *exchange) {
    service *all = context;
    const char *path = tacit_exchange_path(exchange);
    const tacit_buffer *body = tacit_exchange_body(exchange);
    pthread_mutex_lock(&all->mutex);
    all->handled++;
    if (body->capacity > all->largest_body) all->largest_body = body->capacity;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->mutex);
    if (strcmp(path, "/wait") == 0) {
        suspend(all, exchange);
    } else if (strcmp(path, "/echo") == 0) {
        tacit_http_answer answer = { .status = 200, .bytes = body->bytes, .length = body->length };
        tacit_exchange_answer(exchange, &answer);
    } else if (strcmp(path, "/large") == 0) {
        answer_large(exchange);
    } else if (strcmp(path, "/argument") == 0) {
        const char *value = tacit_exchange_argument(exchange, "x");
        tacit_exchange_answer_text(exchange, 200, value != NULL ? value : "(none)");
    } else if (strcmp(path, "/hello") == 0 || strcmp(path, "/join") == 0) {
        tacit_exchange_answer_text(exchange, 200, tacit_exchange_peer(exchange)->name);
    } else if (strcmp(path, "/nothing") != 0) {
        tacit_exchange_answer_text(exchange, 404, "no such page");
    }
}

static bool is_open(void *context, const char *method, const char *path) {
    (void)context, (void)method;
    return strcmp(path, "/join") == 0;
}

static bool is_revoked(void *context, const char *fingerprint) {
    service *all = context;
    pthread_mutex_lock(&all->mutex);
    bool revoked = strcmp(fingerprint, all->revoked) == 0;
    pthread_mutex_unlock(&all->mutex);
    return revoked;
}

static bool is_retired(void *context, const char *issuer_id, const char *path) {
    service *all = context;
    pthread_mutex_lock(&all->mutex);
    bool retired = strcmp(issuer_id, all->retired) == 0 && strcmp(path, "/renew") != 0;
    pthread_mutex_unlock(&all->mutex);
    return retired;
}

static void note_refusal(void *context, const tacit_refusal *refusal) {
    service *all = context;
    pthread_mutex_lock(&all->mutex);
    all->refused++;
    all->last_standing = refusal->standing;
    strcpy(all->last_name, refusal->name);
    strcpy(all->last_fingerprint, refusal->fingerprint);
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->mutex);
}

static void note_message(void *context, const char *message) {
    service *all = context;
    if (strstr(message, "too slow") == NULL) return;
    pthread_mutex_lock(&all->mutex);
    all->dropped++;
    pthread_cond_broadcast(&all->changed);
    pthread_mutex_unlock(&all->mutex);
}

void service_start(service *all, const world *where, const tacit_server_settings *settings) {
    *all = (service){ .release_on_abandon = true };
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&all->mutex, NULL);
    pthread_cond_init(&all->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    tacit_server_settings defaults = tacit_server_defaults();
    tacit_server_callbacks callbacks = { .handle = handle,
                                         .open = is_open,
                                         .revoked = is_revoked,
                                         .retired = is_retired,
                                         .refused = note_refusal,
                                         .log = note_message,
                                         .context = all };
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_server_start(&all->server, &where->identity, settings != NULL ? settings : &defaults,
                                &callbacks, &error),
             error);
}

void service_stop(service *all) {
    all->server = tacit_server_free(all->server);
    pthread_cond_destroy(&all->changed);
    pthread_mutex_destroy(&all->mutex);
}

uint16_t service_port(const service *all) { return tacit_server_port(all->server); }

static struct timespec deadline(void) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += SERVICE_DEADLINE_MS / 1000;
    return until;
}

void service_await(service *all, const unsigned *count, unsigned least) {
    struct timespec until = deadline();
    int code = 0;
    pthread_mutex_lock(&all->mutex);
    while (*count < least && code == 0) code = pthread_cond_timedwait(&all->changed, &all->mutex, &until);
    unsigned reached = *count;
    pthread_mutex_unlock(&all->mutex);
    if (reached < least) fail_msg("waited for %u, saw %u", least, reached);
}

unsigned service_read(service *all, const unsigned *count) {
    pthread_mutex_lock(&all->mutex);
    unsigned value = *count;
    pthread_mutex_unlock(&all->mutex);
    return value;
}

tacit_exchange *service_take(service *all) {
    struct timespec until = deadline();
    tacit_exchange *taken = NULL;
    int code = 0;
    pthread_mutex_lock(&all->mutex);
    while (all->waiting == 0 && code == 0) code = pthread_cond_timedwait(&all->changed, &all->mutex, &until);
    if (all->waiting != 0) {
        taken = all->line[0];
        memmove(all->line, all->line + 1, --all->waiting * sizeof all->line[0]);
    }
    pthread_mutex_unlock(&all->mutex);
    if (taken == NULL) fail_msg("no exchange was suspended");
    return taken;
}

bool complete_text(tacit_exchange *exchange, const char *text) {
    tacit_http_answer answer = {
        .status = 200, .content_type = "text/plain", .bytes = text, .length = strlen(text)
    };
    return tacit_exchange_complete(exchange, &answer);
}
