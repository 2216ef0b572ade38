/* Who may use a page on loopback: the one-time link, the credential, sessions. */
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "net/clock.h"
#include "web/web.h"

enum { LINK_MS = 600000, SESSION_MS = 12 * 3600 * 1000, CREDENTIAL_BYTES = 12, CREDENTIAL_MOST = 256 };

#define CREDENTIAL_FILE "page.credential"

static void draw_secret(char out[WEB_SECRET_SIZE], size_t bytes) {
    uint8_t raw[WEB_SECRET_BYTES];
    randombytes_buf(raw, bytes);
    sodium_bin2hex(out, WEB_SECRET_SIZE, raw, bytes);
    sodium_memzero(raw, sizeof raw);
}

bool web_budget_take(web_budget *budget, int64_t now) {
    budget->left += (double)(now - budget->at) / 1000 * budget->per_second;
    if (budget->left > budget->most) budget->left = budget->most;
    budget->at = now;
    if (budget->left < 1) return false;
    budget->left -= 1;
    return true;
}

static tacit_status make_credential(web_login *login, const char *path, tacit_error *error) {
    draw_secret(login->fresh, CREDENTIAL_BYTES);
    if (crypto_pwhash_str(login->hash, login->fresh, strlen(login->fresh), crypto_pwhash_OPSLIMIT_INTERACTIVE,
                          crypto_pwhash_MEMLIMIT_INTERACTIVE) != 0)
        return tacit_fail_memory(error);
    return tacit_file_write(path, login->hash, strlen(login->hash), 0600, error);
}

tacit_status web_login_open(web_login *login, const char *folder, tacit_error *error) {
    char path[PATH_MAX];
    tacit_buffer text = TACIT_BUFFER_LIMITED(sizeof login->hash - 1);
    int64_t now = tacit_clock_monotonic_ms();
    *login = (web_login){ .link_until = now + LINK_MS,
                          /* Five at once, then two a minute. */
                          .guesses = { .left = 5, .most = 5, .per_second = 1.0 / 30, .at = now } };
    if (sodium_init() < 0) return tacit_fail(error, TACIT_INTERNAL, "libsodium does not start");
    _Static_assert(sizeof login->hash >= crypto_pwhash_STRBYTES, "a hash fits");
    pthread_mutex_init(&login->mutex, NULL);
    pthread_mutex_init(&login->hashing, NULL);
    draw_secret(login->link, WEB_SECRET_BYTES);
    tacit_status status = tacit_path_join(path, sizeof path, folder, CREDENTIAL_FILE, error);
    if (status == TACIT_OK) {
        bool known = access(path, F_OK) == 0;
        status = known ? tacit_file_read(path, &text, NULL) : make_credential(login, path, error);
        if (known && (status != TACIT_OK || strncmp(tacit_buffer_text(&text), "$argon2id$", 10) != 0))
            status = tacit_fail(error, TACIT_CORRUPT,
                                "%s is not readable as a credential's hash; remove it to have a new one made",
                                path);
        else if (known)
            snprintf(login->hash, sizeof login->hash, "%s", tacit_buffer_text(&text));
    }
    tacit_buffer_clear(&text);
    if (status != TACIT_OK) web_login_close(login);
    return status;
}

void web_login_close(web_login *login) {
    pthread_mutex_destroy(&login->mutex);
    pthread_mutex_destroy(&login->hashing);
    sodium_memzero(login, sizeof *login);
}

bool web_body_text(const tacit_buffer *body, const char *key, char *out, size_t size) {
    json_t *said = json_loadb(tacit_buffer_text(body), body->length, 0, NULL);
    const char *text = json_string_value(json_object_get(said, key));
    bool fits = text != NULL && strlen(text) < size;
    if (fits) memcpy(out, text, strlen(text) + 1);
    json_decref(said);
    return fits;
}

bool web_body_flag(const tacit_buffer *body, const char *key) {
    json_t *said = json_loadb(tacit_buffer_text(body), body->length, 0, NULL);
    const bool flag = json_is_true(json_object_get(said, key));
    json_decref(said);
    return flag;
}

static bool same_secret(const char *first, const char *second) {
    return strlen(first) == WEB_SECRET_SIZE - 1 && strlen(second) == WEB_SECRET_SIZE - 1 &&
           sodium_memcmp(first, second, WEB_SECRET_SIZE - 1) == 0;
}

/* Under the mutex: a free place, or that of the session that would end first. */
static int place_for(web_login *login, int64_t now) {
    int first = 0;
    for (int i = 0; i < WEB_SESSIONS; i++) {
        if (login->sessions[i].until <= now) return i;
        if (login->sessions[i].until < login->sessions[first].until) first = i;
    }
    return first;
}

static int begin_session(web_login *login) {
    int64_t now = tacit_clock_monotonic_ms();
    pthread_mutex_lock(&login->mutex);
    int place = place_for(login, now);
    web_session *session = &login->sessions[place];
    draw_secret(session->token, WEB_SECRET_BYTES);
    session->until = now + SESSION_MS;
    pthread_mutex_unlock(&login->mutex);
    return place;
}

static unsigned try_link(web_login *login, const char *link, int *session) {
    pthread_mutex_lock(&login->mutex);
    bool good = same_secret(link, login->link) && tacit_clock_monotonic_ms() < login->link_until;
    if (good) sodium_memzero(login->link, sizeof login->link);
    pthread_mutex_unlock(&login->mutex);
    if (good) *session = begin_session(login);
    return good ? 200 : 401;
}

static unsigned try_credential(web_login *login, const char *credential, int *session) {
    if (strlen(credential) > CREDENTIAL_MOST) return 401;
    if (pthread_mutex_trylock(&login->hashing) != 0) return 429;
    pthread_mutex_lock(&login->mutex);
    bool allowed = web_budget_take(&login->guesses, tacit_clock_monotonic_ms());
    pthread_mutex_unlock(&login->mutex);
    bool good = allowed && crypto_pwhash_str_verify(login->hash, credential, strlen(credential)) == 0;
    if (good) {
        pthread_mutex_lock(&login->mutex);
        login->guesses.left = login->guesses.most; /* only failures cost */
        pthread_mutex_unlock(&login->mutex);
    }
    pthread_mutex_unlock(&login->hashing);
    if (good) *session = begin_session(login);
    return !allowed ? 429 : good ? 200 : 401;
}

unsigned web_login_try(web_login *login, const tacit_buffer *body, int *session) {
    json_t *said = json_loadb(tacit_buffer_text(body), body->length, 0, NULL);
    const char *link = json_string_value(json_object_get(said, "link"));
    const char *credential = json_string_value(json_object_get(said, "credential"));
    unsigned status = 400;
    if (link != NULL)
        status = try_link(login, link, session);
    else if (credential != NULL)
        status = try_credential(login, credential, session);
    json_decref(said);
    return status;
}

const char *web_bearer(const char *authorization) {
    static const char scheme[] = "Bearer ";
    if (authorization == NULL || strncmp(authorization, scheme, strlen(scheme)) != 0) return NULL;
    return authorization + strlen(scheme);
}

int web_login_find(web_login *login, const char *authorization) {
    const char *token = web_bearer(authorization);
    int found = -1;
    if (token == NULL) return -1;
    int64_t now = tacit_clock_monotonic_ms();
    pthread_mutex_lock(&login->mutex);
    for (int i = 0; i < WEB_SESSIONS; i++)
        if (login->sessions[i].until > now && same_secret(login->sessions[i].token, token)) found = i;
    pthread_mutex_unlock(&login->mutex);
    return found;
}

void web_login_end(web_login *login, int session) {
    pthread_mutex_lock(&login->mutex);
    sodium_memzero(&login->sessions[session], sizeof login->sessions[session]);
    pthread_mutex_unlock(&login->mutex);
}

int64_t web_login_token(web_login *login, int session, char out[WEB_SECRET_SIZE]) {
    pthread_mutex_lock(&login->mutex);
    int64_t left = login->sessions[session].until - tacit_clock_monotonic_ms();
    memcpy(out, login->sessions[session].token, WEB_SECRET_SIZE);
    pthread_mutex_unlock(&login->mutex);
    return left > 0 ? left / 1000 : 0;
}
