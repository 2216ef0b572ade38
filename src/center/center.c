/* Center server B: its folder, and its life (center/center.h). */
#include "center/center.h"

#include <limits.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log_file.h"
#include "base/memory.h"
#include "base/number.h"
#include "center/center_parts.h"
#include "net/clock.h"
#include "net/identity.h"
#include "net/socket.h"
#include "session/center/center_servers.h"
#include "study/home.h"
#include "web/prometheus.h"

enum { LOOK_EVERY_MS = 200, HELLO_MS = 10000, SERVER_DAYS = 3650, MOST_CALLS = 16, SECRET_BYTES_MOST = 4096 };

#define CARD_FILE "center.card"
#define SECRET_FILE "paillier.key"
#define PORT_FILE "port"
#define REVOKED_FILE "revoked.txt"

typedef struct center center;

/* One connection of A: a thread of its own. */
typedef struct call {
    center *owner;
    tacit_certificate_info peer;
    int socket; /* until the channel has it; afterwards to end the call with */
    pthread_t thread;
    bool used;
    atomic_bool over;
} call;

struct center {
    tacit_center_settings settings;
    center_trust trust;
    tacit_paillier_secret *secret;
    tacit_pool *pool;
    int listener;
    uint16_t port;
    int64_t renewal; /* when its certificate is to be renewed */
    center_figures figures;
    tacit_metrics_server *metrics; /* NULL: not asked for */
    pthread_mutex_t mutex;         /* guards news, and what follows */
    tacit_log_limiter limiter;     /* callers can make it say much */
    tacit_revocations revoked;     /* as the coordinator has said */
    call calls[MOST_CALLS];
};

static void notify(center *self, const char *format, ...) TACIT_PRINTF(2, 3);

static void notify(center *self, const char *format, ...) {
    char line[TACIT_ERROR_TEXT_SIZE + 200];
    va_list arguments;
    va_start(arguments, format);
    tacit_format_list(line, sizeof line, format, arguments);
    va_end(arguments);
    for (char *at = line; *at != 0; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f) *at = ' ';
    pthread_mutex_lock(&self->mutex);
    if (self->settings.news != NULL &&
        tacit_log_admit(&self->limiter, format, "", line, tacit_clock_monotonic_ms()))
        self->settings.news(self->settings.context, line);
    pthread_mutex_unlock(&self->mutex);
}

static void log_held(center *self) {
    char line[512];
    pthread_mutex_lock(&self->mutex);
    while (tacit_log_held(&self->limiter, line, sizeof line, tacit_clock_monotonic_ms()))
        if (self->settings.news != NULL) self->settings.news(self->settings.context, line);
    pthread_mutex_unlock(&self->mutex);
}

static tacit_status path_of(const center *self, const char *name, char out[PATH_MAX], tacit_error *error) {
    return tacit_path_join(out, PATH_MAX, self->settings.folder, name, error);
}

/* ---- the folder ---- */

static tacit_status store_secret(center *self, const char *path, tacit_error *error) {
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(SECRET_BYTES_MOST);
    uint8_t *room;
    TACIT_TRY(tacit_paillier_generate(&self->secret, self->settings.bits, self->pool, error));
    tacit_status status = tacit_buffer_reserve(&bytes, SECRET_BYTES_MOST, &room, error); /* no copy is left */
    if (status == TACIT_OK) status = tacit_paillier_secret_write(self->secret, &bytes, error);
    if (status == TACIT_OK) status = tacit_file_write(path, bytes.bytes, bytes.length, 0600, error);
    if (bytes.bytes != NULL) sodium_memzero(bytes.bytes, bytes.capacity);
    tacit_buffer_clear(&bytes);
    return status;
}

static tacit_status load_secret(center *self, tacit_error *error) {
    char path[PATH_MAX];
    tacit_buffer bytes = TACIT_BUFFER_LIMITED(SECRET_BYTES_MOST);
    TACIT_TRY(path_of(self, SECRET_FILE, path, error));
    if (access(path, F_OK) != 0) return store_secret(self, path, error);
    TACIT_TRY(tacit_key_check_private(path, error));
    tacit_status status = tacit_file_read(path, &bytes, error);
    if (status == TACIT_OK)
        status = tacit_fail_in(
            error, tacit_paillier_secret_read(&self->secret, bytes.bytes, bytes.length, error), "%s", path);
    if (bytes.bytes != NULL) sodium_memzero(bytes.bytes, bytes.capacity);
    tacit_buffer_clear(&bytes);
    return status;
}

static const char *host_of(const center *self) {
    return self->settings.host != NULL ? self->settings.host : self->settings.address;
}

static tacit_status load_identity(center *self, tacit_buffer *certificate, tacit_error *error) {
    const char *folder = self->settings.folder, *names[3] = { "localhost", "127.0.0.1", host_of(self) };
    size_t count = strcmp(names[2], names[0]) != 0 && strcmp(names[2], names[1]) != 0 ? 3 : 2;
    int64_t now = tacit_clock_wall_seconds();
    tacit_authority *authority = NULL;
    tacit_status status = tacit_authority_load(&authority, folder, NULL);
    if (status == TACIT_NOT_FOUND)
        status = tacit_authority_create(&authority, folder, "tacit center server B", error);
    /* for its sentence */
    else if (status != TACIT_OK)
        status = tacit_authority_load(&authority, folder, error);
    if (status == TACIT_OK)
        status = tacit_authority_issue_server(authority, folder, names, count,
                                              tacit_validity_days(now, SERVER_DAYS), error);
    self->renewal = now + (int64_t)SERVER_DAYS * 86400 / 3 * 2;
    if (status == TACIT_OK)
        status = tacit_certificate_to_der(certificate, tacit_authority_pem(authority),
                                          strlen(tacit_authority_pem(authority)), error);
    tacit_authority_free(authority);
    return status;
}

static tacit_status write_card(const center *self, const tacit_buffer *certificate, tacit_error *error) {
    char path[PATH_MAX], print[TACIT_PAILLIER_FINGERPRINT_TEXT];
    const char *host = host_of(self);
    bool six = strchr(host, ':') != NULL;
    tacit_buffer text = TACIT_BUFFER_INIT;
    size_t size = sodium_base64_ENCODED_LEN(certificate->length, sodium_base64_VARIANT_ORIGINAL);
    char *encoded = TACIT_NEW(char, size);
    tacit_status status = encoded != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    sodium_bin2base64(encoded, size, certificate->bytes, certificate->length, sodium_base64_VARIANT_ORIGINAL);
    tacit_paillier_fingerprint_text(print, tacit_paillier_public_of(self->secret));
    TACIT_CHECK(tacit_buffer_print(&text, error, "address: \"%s%s%s:%u\"\nkey: \"%s\"\ncertificate: \"%s\"\n",
                                   six ? "[" : "", host, six ? "]" : "", (unsigned)self->port, print,
                                   encoded));
    TACIT_CHECK(path_of(self, CARD_FILE, path, error));
    TACIT_CHECK(tacit_file_write(path, text.bytes, text.length, 0644, error));
cleanup:
    tacit_buffer_clear(&text);
    free(encoded);
    return status;
}

/* At the port asked for, or that of last time, which the card tells. */
static tacit_status listen_at(center *self, tacit_error *error) {
    char path[PATH_MAX], text[16];
    tacit_buffer last = TACIT_BUFFER_LIMITED(16);
    uint16_t wanted = self->settings.port;
    TACIT_TRY(path_of(self, PORT_FILE, path, error));
    if (wanted == 0 && tacit_file_read(path, &last, NULL) == TACIT_OK)
        wanted = (uint16_t)strtoul(tacit_buffer_text(&last), NULL, 10);
    tacit_buffer_clear(&last);
    TACIT_TRY(tacit_socket_listen(&self->listener, &self->port, self->settings.address, wanted, error));
    snprintf(text, sizeof text, "%u\n", (unsigned)self->port);
    return tacit_file_write(path, text, strlen(text), 0644, error);
}

/* ---- revoked certificates ---- */

/* `kept`: a list that was checked before, and is of this folder. */
static tacit_status take_revocations(center *self, bool *newer, const char *study, const tacit_buffer *list,
                                     bool kept, tacit_error *error) {
    tacit_buffer authority = TACIT_BUFFER_INIT;
    tacit_status status;
    TACIT_CHECK(center_trust_read(&self->trust, kept, &authority, error));
    pthread_mutex_lock(&self->mutex);
    status =
        tacit_revocations_take(&self->revoked, newer, &authority, study, list->bytes, list->length, error);
    pthread_mutex_unlock(&self->mutex);
cleanup:
    tacit_buffer_clear(&authority);
    return status;
}

static tacit_status load_revocations(center *self, tacit_error *error) {
    char path[PATH_MAX];
    tacit_buffer list = TACIT_BUFFER_LIMITED(TACIT_REVOCATIONS_BYTES_MAX);
    bool newer;
    TACIT_TRY(path_of(self, REVOKED_FILE, path, error));
    if (access(path, F_OK) != 0) return TACIT_OK;
    tacit_status status = tacit_file_read(path, &list, error);
    if (status == TACIT_OK)
        status = tacit_fail_in(error, take_revocations(self, &newer, NULL, &list, true, error), "%s", path);
    tacit_buffer_clear(&list);
    return status;
}

static tacit_status check_caller(center *self, const tacit_certificate_info *peer, tacit_error *error) {
    pthread_mutex_lock(&self->mutex);
    bool revoked = tacit_revocations_certificate(&self->revoked, peer->fingerprint);
    pthread_mutex_unlock(&self->mutex);
    return revoked ? tacit_fail(error, TACIT_REFUSED, "the caller's certificate has been revoked") : TACIT_OK;
}

static tacit_status hear_chain(void *context, const tacit_buffer *chain, tacit_error *error) {
    call *one = context;
    char present[TACIT_FINGERPRINT_SIZE];
    TACIT_TRY(center_trust_hear(&one->owner->trust, chain, present, error));
    if (present[0] != 0)
        notify(one->owner, "the coordinator's authority was replaced as planned; the present one is %s",
               present);
    return TACIT_OK;
}

/* Only the authority that B was given, or one that has taken over from it, may say what B computes. */
static tacit_status check_definition(void *context, const tacit_buffer *definition,
                                     const tacit_buffer *signature, tacit_error *error) {
    call *one = context;
    tacit_buffer authority = TACIT_BUFFER_INIT;
    tacit_status status = center_trust_read(&one->owner->trust, false, &authority, error);
    if (status == TACIT_OK)
        status = tacit_fail_in(error,
                               tacit_authority_check(authority.bytes, authority.length, TACIT_STUDY_PURPOSE,
                                                     definition->bytes, definition->length, signature->bytes,
                                                     signature->length, error),
                               "the definition");
    tacit_buffer_clear(&authority);
    return status;
}

/* What A says of certificates that count no more, its own earlier ones among them. */
static tacit_status look_at_revocations(void *context, const tacit_study *study, const tacit_buffer *list,
                                        tacit_error *error) {
    call *one = context;
    char path[PATH_MAX];
    bool newer = false;
    if (list->length == 0) return TACIT_OK;
    TACIT_TRY(take_revocations(one->owner, &newer, study->name, list, false, error));
    TACIT_TRY(path_of(one->owner, REVOKED_FILE, path, error));
    if (newer) TACIT_TRY(tacit_file_write(path, list->bytes, list->length, 0644, error));
    return check_caller(one->owner, &one->peer, error);
}

/* ---- a call ---- */

/* A certificate of the coordinator's authority is not enough: its parties have one too. */
static tacit_status accept_a(center *self, call *one, tacit_channel **out, tacit_error *error) {
    char authority[PATH_MAX], certificate[PATH_MAX], key[PATH_MAX];
    tacit_certificate_info *peer = &one->peer;
    tacit_channel *channel = NULL;
    TACIT_TRY(center_trust_file(&self->trust, authority, error));
    TACIT_TRY(path_of(self, TACIT_SERVER_CERTIFICATE_FILE, certificate, error));
    TACIT_TRY(path_of(self, TACIT_SERVER_KEY_FILE, key, error));
    tacit_channel_tls_settings settings = { .authority_file = authority,
                                            .certificate_file = certificate,
                                            .key_file = key };
    int64_t deadline = tacit_clock_monotonic_ms() + HELLO_MS;
    TACIT_TRY(tacit_fail_in(error, tacit_channel_tls(&channel, peer, one->socket, &settings, deadline, error),
                            "a caller (if the coordinator's authority was replaced while this server was "
                            "away, give its new ca.crt with the option 'coordinator')"));
    tacit_status status =
        strcmp(peer->name, TACIT_CENTER_A) == 0
            ? check_caller(self, peer, error)
            : tacit_fail(error, TACIT_REFUSED, "a caller's certificate is for '%s', not for center server A",
                         peer->name);
    if (status != TACIT_OK) {
        tacit_channel_free(channel);
        return status;
    }
    tacit_channel_set_deadline(channel, deadline);
    *out = channel;
    return TACIT_OK;
}

static void count_call(center_figures *figures, tacit_status status, const tacit_channel *channel,
                       int64_t took_ms) {
    tacit_channel_counts carried = { .sent = 0 };
    if (channel != NULL) carried = tacit_channel_count(channel);
    atomic_fetch_add(status == TACIT_OK ? &figures->done : &figures->failed, 1);
    atomic_fetch_add(&figures->sent, carried.sent);
    atomic_fetch_add(&figures->received, carried.received);
    atomic_fetch_add(&figures->taken_ms, (unsigned long long)took_ms);
    atomic_fetch_sub(&figures->under_way, 1);
}

static void *call_main(void *argument) {
    call *one = argument;
    center *self = one->owner;
    tacit_channel *channel = NULL;
    tacit_study *study = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    char hash[2 * TACIT_HASH_BYTES + 1];
    int64_t begun = tacit_clock_monotonic_ms();
    tacit_status status = accept_a(self, one, &channel, &error);
    if (status == TACIT_OK)
        status = center_welcome(&study, channel, self->secret, hear_chain, check_definition,
                                look_at_revocations, one, &error);
    if (status == TACIT_OK) {
        sodium_bin2hex(hash, sizeof hash, study->hash, sizeof study->hash);
        notify(self, "study %s (%.16s...): method %s, %zu nodes", study->name, hash, study->plan.method->name,
               study->plan.parties);
        status = tacit_center_assist(&study->plan, channel, self->secret, self->pool, &error);
    }
    count_call(&self->figures, status, channel, tacit_clock_monotonic_ms() - begun);
    if (status == TACIT_OK)
        notify(self, "study %s is done", study->name);
    else
        notify(self, "%s%s: %s", study != NULL ? "study " : "a call ended", study != NULL ? study->name : "",
               error.text);
    tacit_channel_free(channel);
    tacit_study_free(study);
    atomic_store(&one->over, true);
    return NULL;
}

static void take_call(center *self, int socket) {
    for (size_t i = 0; i < MOST_CALLS; i++) {
        call *one = &self->calls[i];
        if (one->used && atomic_load(&one->over)) {
            pthread_join(one->thread, NULL);
            one->used = false;
        }
        if (one->used) continue;
        one->owner = self;
        one->socket = socket;
        atomic_store(&one->over, false);
        atomic_fetch_add(&self->figures.under_way, 1);
        one->used = pthread_create(&one->thread, NULL, call_main, one) == 0;
        if (one->used) return;
        atomic_fetch_sub(&self->figures.under_way, 1);
        break;
    }
    close(socket);
    atomic_fetch_add(&self->figures.turned_away, 1);
    notify(self, "a call was turned away: %u are under way", atomic_load(&self->figures.under_way));
}

/* Every call reads the identity again; A dials again should it come in between. */
static tacit_status renew(center *self, tacit_error *error) {
    tacit_buffer unused = TACIT_BUFFER_INIT;
    if (tacit_clock_wall_seconds() < self->renewal) return TACIT_OK;
    tacit_status status = load_identity(self, &unused, error);
    tacit_buffer_clear(&unused);
    if (status == TACIT_OK) notify(self, "the server's certificate was renewed");
    return status;
}

static tacit_status serve(center *self, tacit_error *error) {
    for (;;) {
        int socket = -1;
        if (self->settings.cancelled != NULL && self->settings.cancelled(self->settings.context))
            return TACIT_OK;
        TACIT_TRY(renew(self, error));
        log_held(self);
        tacit_error waited = TACIT_ERROR_INIT;
        tacit_status status =
            tacit_socket_accept(&socket, self->listener, tacit_clock_monotonic_ms() + LOOK_EVERY_MS, &waited);
        if (status == TACIT_OK)
            take_call(self, socket);
        else if (status != TACIT_NETWORK)
            return tacit_fail(error, status, "%s", waited.text);
    }
}

/* Calls under way end at once: their sockets are shut. */
static void stop(center *self) {
    tacit_metrics_stop(self->metrics);
    for (size_t i = 0; i < MOST_CALLS; i++) {
        call *one = &self->calls[i];
        if (!one->used) continue;
        if (!atomic_load(&one->over)) shutdown(one->socket, SHUT_RDWR);
        pthread_join(one->thread, NULL);
    }
    if (self->listener >= 0) close(self->listener);
    tacit_paillier_secret_free(self->secret);
    tacit_pool_free(self->pool);
    tacit_revocations_clear(&self->revoked);
    center_trust_close(&self->trust);
    pthread_mutex_destroy(&self->mutex);
}

static tacit_status start_metrics(center *self, tacit_error *error) {
    if (!self->settings.metrics) return TACIT_OK;
    self->figures.started = tacit_clock_wall_seconds();
    TACIT_TRY(tacit_metrics_start(&self->metrics, self->settings.metrics_port, center_collect, &self->figures,
                                  error));
    notify(self, "metrics at http://127.0.0.1:%u/metrics", (unsigned)tacit_metrics_port(self->metrics));
    return TACIT_OK;
}

tacit_status tacit_center_run(const tacit_center_settings *settings, tacit_error *error) {
    center *self = TACIT_NEW(center, 1);
    tacit_buffer certificate = TACIT_BUFFER_INIT;
    char print[TACIT_PAILLIER_FINGERPRINT_TEXT];
    tacit_status status;
    if (self == NULL) return tacit_fail_memory(error);
    self->settings = *settings;
    self->listener = -1;
    pthread_mutex_init(&self->mutex, NULL);
    TACIT_CHECK(tacit_home_check(settings->folder, error));
    TACIT_CHECK(tacit_folder_make(settings->folder, error));
    TACIT_CHECK(tacit_pool_create(&self->pool, 0, error));
    TACIT_CHECK(center_trust_open(&self->trust, settings->folder, settings->coordinator, error));
    TACIT_CHECK(load_revocations(self, error));
    TACIT_CHECK(load_secret(self, error));
    TACIT_CHECK(load_identity(self, &certificate, error));
    TACIT_CHECK(listen_at(self, error));
    TACIT_CHECK(write_card(self, &certificate, error));
    tacit_paillier_fingerprint_text(print, tacit_paillier_public_of(self->secret));
    notify(self, "key %s", print);
    notify(self, "serving at %s:%u; card: %s/" CARD_FILE, host_of(self), (unsigned)self->port,
           settings->folder);
    TACIT_CHECK(start_metrics(self, error));
    if (settings->ready != NULL) settings->ready(settings->context);
    TACIT_CHECK(serve(self, error));
cleanup:
    stop(self);
    tacit_buffer_clear(&certificate);
    free(self);
    return status;
}
