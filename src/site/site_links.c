/*
 * Direct links between neighbours, for owners who ask for them (tacit join --listen). A party that listens
 * takes its neighbours' sealed words from whoever has a certificate of the study's authority and is named on
 * a neighbour's card; a word is on the disk before it is acknowledged. A party that has a word for one that
 * listens brings it there, and sends the coordinator an empty letter in its place. Whatever goes wrong with a
 * link, the word goes through the coordinator.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log_file.h"
#include "base/memory.h"
#include "base/number.h"
#include "net/clock.h"
#include "net/revocations.h"
#include "session/carrier/carrier.h"
#include "session/wire/wire.h"
#include "site/site_parts.h"

#define WORD_PREFIX "word."

enum { SEND_MS = 5000, KEPT_WORDS = 4, MOST_PAUSE = 64, SPARE_BYTES = 64 * 1024 };

/* A neighbour that listens, as this party reaches it. */
typedef struct direct_link {
    tacit_carrier *carrier;
    char address[TACIT_ADDRESS_SIZE];
    uint64_t next_try; /* round */
    unsigned pause;    /* in rounds, after a failure; 0: all is well */
    bool is_told;
} direct_link;

struct site_links {
    tacit_site *site;
    const tacit_mail *mail; /* NULL until site_links_meet */
    size_t parties;
    direct_link *links; /* by place */
    tacit_listener *listener;
    pthread_mutex_t mutex;        /* guards what follows, and the files of words */
    tacit_log_limiter limiter;    /* of refusals */
    char (*names)[TACIT_ID_SIZE]; /* by place: who may bring words here; "": not known */
    tacit_revocations revoked;
};

static void notify(const site_links *self, const char *format, ...) TACIT_PRINTF(2, 3);

static void notify(const site_links *self, const char *format, ...) {
    const tacit_site_callbacks *callbacks = &self->site->callbacks;
    char line[768];
    if (callbacks->news == NULL) return;
    va_list arguments;
    va_start(arguments, format);
    tacit_format_list(line, sizeof line, format, arguments);
    va_end(arguments);
    callbacks->news(callbacks->context, line);
}

/* ---- words that wait here ---- */

enum { WORD_NAME_SIZE = sizeof WORD_PREFIX + TACIT_ID_SIZE + 24 };

/* One file for each word, by who said it and when. */
static void word_name(char out[WORD_NAME_SIZE], const char *name, uint64_t round) {
    snprintf(out, WORD_NAME_SIZE, WORD_PREFIX "%s.%llu", name, (unsigned long long)round);
}

static void remove_file(const tacit_site *site, const char *name) {
    char path[PATH_MAX];
    if (site_path(site, name, path, NULL) == TACIT_OK) unlink(path);
}

/* How many words of `name` wait, and the round of the oldest; all of anybody are removed when `name` is
 * NULL. */
static size_t count_words(const tacit_site *site, const char *name, uint64_t *oldest) {
    char prefix[WORD_NAME_SIZE];
    size_t count = 0;
    DIR *folder = opendir(site->folder);
    snprintf(prefix, sizeof prefix, WORD_PREFIX "%s%s", name != NULL ? name : "", name != NULL ? "." : "");
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0) continue;
        if (name == NULL) {
            remove_file(site, entry->d_name);
            continue;
        }
        uint64_t round = strtoull(entry->d_name + strlen(prefix), NULL, 10);
        if (count++ == 0 || round < *oldest) *oldest = round;
    }
    if (folder != NULL) closedir(folder);
    return count;
}

/* Keep a word. At most two of a neighbour can be waiting to be heard, so that the oldest of many goes. */
static tacit_status keep_word(site_links *self, const char *name, const tacit_letter *letter,
                              tacit_error *error) {
    char file[WORD_NAME_SIZE];
    uint64_t oldest = 0;
    word_name(file, name, letter->round);
    pthread_mutex_lock(&self->mutex);
    if (count_words(self->site, name, &oldest) >= KEPT_WORDS) {
        char old[WORD_NAME_SIZE];
        word_name(old, name, oldest);
        remove_file(self->site, old);
    }
    tacit_status status = site_write_kept(self->site, file, letter->body.bytes, letter->body.length, error);
    pthread_mutex_unlock(&self->mutex);
    return status;
}

static tacit_status read_word(void *context, uint32_t from, uint64_t round, bool *found, tacit_buffer *out,
                              tacit_error *error) {
    site_links *self = context;
    const tacit_card *card = self->mail != NULL ? tacit_mail_card(self->mail, from) : NULL;
    char file[WORD_NAME_SIZE];
    *found = false;
    if (card == NULL) return TACIT_OK;
    word_name(file, card->name, round);
    pthread_mutex_lock(&self->mutex);
    tacit_status status = site_read_kept(self->site, file, found, out, error);
    pthread_mutex_unlock(&self->mutex);
    return status;
}

static void forget_heard(site_links *self, const tacit_letters *words) {
    char file[WORD_NAME_SIZE];
    for (size_t i = 0; i < words->count; i++) {
        const tacit_letter *letter = &words->letter[i];
        const tacit_card *card = letter->body.length == 0 ? tacit_mail_card(self->mail, letter->party) : NULL;
        if (card == NULL) continue;
        word_name(file, card->name, letter->round);
        pthread_mutex_lock(&self->mutex);
        remove_file(self->site, file);
        pthread_mutex_unlock(&self->mutex);
    }
}

/* ---- listening ---- */

/* Certificates are of all studies of the authority; words come from neighbours only. */
static bool is_neighbour(site_links *self, const char *name) {
    bool found = false;
    pthread_mutex_lock(&self->mutex);
    for (size_t i = 0; i < self->parties && !found; i++)
        found = self->names[i][0] != 0 && strcmp(self->names[i], name) == 0;
    pthread_mutex_unlock(&self->mutex);
    return found;
}

/* A word is a model's weights, a few times at most. */
static size_t longest_word(void *context, const char *name) {
    const site_links *self = context;
    const tacit_plan *plan = &self->site->study->plan;
    size_t most = 4 * sizeof(double) * (plan->features + 2) * (plan->classes + 1) + SPARE_BYTES;
    if (most > (size_t)TACIT_PAYLOAD_MOST + SPARE_BYTES) most = (size_t)TACIT_PAYLOAD_MOST + SPARE_BYTES;
    return is_neighbour(context, name) ? most : 0;
}

static tacit_request_result take_word(void *context, const char *name, const tacit_buffer *word) {
    site_links *self = context;
    tacit_answer brought = TACIT_ANSWER_INIT;
    tacit_request_result result = TACIT_RESULT_DONE;
    if (!is_neighbour(self, name)) return TACIT_RESULT_CLOSED;
    if (tacit_answer_decode(&brought, word->bytes, word->length, NULL) != TACIT_OK ||
        strcmp(brought.study, self->site->study->name) != 0 || brought.words.count != 1 ||
        brought.words.letter[0].body.length == 0)
        result = TACIT_RESULT_WRONG;
    else if (keep_word(self, name, &brought.words.letter[0], NULL) != TACIT_OK)
        result = TACIT_RESULT_LATER;
    tacit_answer_clear(&brought);
    return result;
}

/* As the coordinator has said. */
static bool is_revoked(void *context, const char *fingerprint) {
    site_links *self = context;
    pthread_mutex_lock(&self->mutex);
    bool revoked = tacit_revocations_certificate(&self->revoked, fingerprint);
    pthread_mutex_unlock(&self->mutex);
    return revoked;
}

static void refused(void *context, const char *name, const char *address, const char *why) {
    site_links *self = context;
    char line[512];
    snprintf(line, sizeof line, "refused %s from %s: %s", name, address, why);
    pthread_mutex_lock(&self->mutex);
    bool admitted = tacit_log_admit(&self->limiter, "refused", address, line, tacit_clock_monotonic_ms());
    pthread_mutex_unlock(&self->mutex);
    if (admitted) notify(self, "%s", line);
}

static tacit_status start_listening(site_links *self, tacit_error *error) {
    char key[PATH_MAX], certificate[PATH_MAX], authority[PATH_MAX];
    TACIT_TRY(site_path(self->site, SITE_KEY_FILE, key, error));
    TACIT_TRY(site_path(self->site, SITE_CERTIFICATE_FILE, certificate, error));
    TACIT_TRY(site_trust_file(self->site, authority, error));
    const tacit_listener_settings settings = { .address = self->site->listen,
                                               .key_file = key,
                                               .certificate_file = certificate,
                                               .authority_file = authority,
                                               .connections = (unsigned)self->parties + 16,
                                               .longest = longest_word,
                                               .take = take_word,
                                               .revoked = is_revoked,
                                               .refused = refused,
                                               .context = self };
    return tacit_listener_open(&self->listener, &settings, error);
}

/* Listen at the same port after a restart, also when any would do at first. */
static tacit_status keep_address(site_links *self, tacit_error *error) {
    tacit_site *site = self->site;
    if (strcmp(site->listen, self->listener->address) == 0) return TACIT_OK;
    char *address = tacit_copy_text(self->listener->address);
    if (address == NULL) return tacit_fail_memory(error);
    free(site->listen);
    site->listen = address;
    return site_save_settings(site, error);
}

/* ---- certificates ---- */

static tacit_status stored_revocations(site_links *self, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_LIMITED(TACIT_REVOCATIONS_BYTES_MAX);
    bool newer;
    tacit_status status = TACIT_OK;
    if (!site_file_exists(self->site, SITE_REVOKED_FILE)) return TACIT_OK;
    TACIT_CHECK(site_read_file(self->site, SITE_REVOKED_FILE, &text, error));
    TACIT_CHECK(tacit_fail_in(error,
                              tacit_revocations_take(&self->revoked, &newer, &self->site->every,
                                                     self->site->study->name, text.bytes, text.length, error),
                              "%s/" SITE_REVOKED_FILE, self->site->folder));
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

tacit_status site_links_revoke(site_links *self, const void *list, size_t length, tacit_error *error) {
    bool newer = false;
    if (self == NULL || length == 0) return TACIT_OK;
    pthread_mutex_lock(&self->mutex);
    tacit_status status = tacit_revocations_take(&self->revoked, &newer, &self->site->authority,
                                                 self->site->study->name, list, length, error);
    size_t count = self->revoked.count;
    pthread_mutex_unlock(&self->mutex);
    if (status != TACIT_OK || !newer) return status;
    TACIT_TRY(site_write_kept(self->site, SITE_REVOKED_FILE, list, length, error));
    notify(self, "%zu certificates of the study are no longer valid", count);
    return TACIT_OK;
}

void site_links_renew(site_links *self) {
    tacit_error problem = TACIT_ERROR_INIT;
    if (self == NULL) return;
    for (size_t i = 0; i < self->parties; i++)
        self->links[i].carrier = tacit_carrier_free(self->links[i].carrier);
    if (self->listener == NULL) return;
    self->listener = tacit_listener_free(self->listener);
    if (start_listening(self, &problem) != TACIT_OK)
        notify(self, "not listening any more, so that all words come through the coordinator: %s",
               problem.text);
}

tacit_status site_links_open(tacit_site *site, site_links **out, tacit_error *error) {
    site_links *self = TACIT_NEW(site_links, 1);
    tacit_error problem = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    if (self == NULL) return tacit_fail_memory(error);
    pthread_mutex_init(&self->mutex, NULL);
    self->site = site;
    self->parties = site->study->plan.parties;
    self->links = TACIT_NEW(direct_link, self->parties);
    self->names = tacit_allocate(self->parties, sizeof *self->names);
    if (self->links == NULL || self->names == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(stored_revocations(self, error));
    if (site->listen != NULL && start_listening(self, &problem) == TACIT_OK) {
        TACIT_CHECK(keep_address(self, error));
        notify(self, "listening at %s for words of neighbours", self->listener->address);
    } else if (site->listen != NULL) {
        notify(self, "not listening, so that all words come through the coordinator: %s", problem.text);
    }
    *out = self;
    self = NULL;
cleanup:
    site_links_free(self);
    return status;
}

site_links *site_links_free(site_links *self) {
    if (self == NULL) return NULL;
    tacit_listener_free(self->listener);
    for (size_t i = 0; self->links != NULL && i < self->parties; i++)
        tacit_carrier_free(self->links[i].carrier);
    free(self->links);
    free(self->names);
    tacit_revocations_clear(&self->revoked);
    pthread_mutex_destroy(&self->mutex);
    free(self);
    return NULL;
}

const char *site_links_address(const site_links *self) {
    return self->listener != NULL ? self->listener->address : NULL;
}

tacit_mail_inbox site_links_inbox(site_links *self) { return (tacit_mail_inbox){ read_word, self }; }

void site_links_meet(site_links *self, const tacit_mail *mail) {
    self->mail = mail;
    pthread_mutex_lock(&self->mutex);
    for (uint32_t place = 0; place < self->parties; place++) {
        const tacit_card *card = tacit_mail_card(mail, place);
        if (card != NULL) memcpy(self->names[place], card->name, sizeof self->names[place]);
    }
    pthread_mutex_unlock(&self->mutex);
}

void site_links_finish(site_links *self) {
    uint64_t unused;
    pthread_mutex_lock(&self->mutex);
    count_words(self->site, NULL, &unused);
    pthread_mutex_unlock(&self->mutex);
}

/* ---- bringing words ---- */

static tacit_status open_carrier(site_links *self, direct_link *to, const tacit_card *card,
                                 tacit_error *error) {
    char url[TACIT_ID_SIZE + 64], key[PATH_MAX], certificate[PATH_MAX], authority[PATH_MAX];
    snprintf(url, sizeof url, "https://" TACIT_LISTENER_HOST, card->name);
    TACIT_TRY(site_trust_file(self->site, authority, error));
    TACIT_TRY(site_path(self->site, SITE_KEY_FILE, key, error));
    TACIT_TRY(site_path(self->site, SITE_CERTIFICATE_FILE, certificate, error));
    tacit_carrier_settings settings = { .address = url,
                                        .connect = card->address,
                                        .authority_file = authority,
                                        .certificate_file = certificate,
                                        .key_file = key,
                                        .proxy = "",
                                        .cancelled = self->site->callbacks.cancelled,
                                        .cancelled_context = self->site->callbacks.context,
                                        .paused = self->site->callbacks.paused,
                                        .paused_context = self->site->callbacks.paused_context };
    to->carrier = tacit_carrier_free(to->carrier);
    snprintf(to->address, sizeof to->address, "%s", card->address);
    return tacit_carrier_open(&to->carrier, &settings, error);
}

static tacit_status bring(site_links *self, direct_link *to, const tacit_card *card,
                          const tacit_letter *letter, tacit_error *error) {
    tacit_answer brought = TACIT_ANSWER_INIT;
    tacit_buffer body = TACIT_BUFFER_INIT;
    tacit_carried carried = { .reply = TACIT_BUFFER_LIMITED(SPARE_BYTES) };
    tacit_letter copy = *letter;
    tacit_status status;
    if (to->carrier == NULL || strcmp(to->address, card->address) != 0)
        TACIT_CHECK(open_carrier(self, to, card, error));
    snprintf(brought.study, sizeof brought.study, "%s", self->site->study->name);
    brought.words = (tacit_letters){ &copy, 1 };
    TACIT_CHECK(tacit_answer_encode(&brought, &body, error));
    TACIT_CHECK(tacit_carrier_bring(to->carrier, &body, SEND_MS, &carried, error));
    /* it has not been shown our card yet */
    if (carried.result == TACIT_RESULT_CLOSED)
        status = TACIT_NOT_FOUND;
    else if (carried.result != TACIT_RESULT_DONE)
        TACIT_CHECK(tacit_fail(error, TACIT_NETWORK, "%s answered %u: %.200s", card->name, carried.code,
                               tacit_buffer_text(&carried.reply)));
cleanup:
    tacit_buffer_clear(&body);
    tacit_buffer_clear(&carried.reply);
    return status;
}

/* One word by its link. A link that failed is left alone for a while. */
static bool try_link(site_links *self, const tacit_card *card, const tacit_letter *letter) {
    direct_link *to = &self->links[letter->party];
    tacit_error problem = TACIT_ERROR_INIT;
    pthread_mutex_lock(&self->mutex);
    bool revoked = tacit_revocations_party(&self->revoked, card->name);
    pthread_mutex_unlock(&self->mutex);
    if (revoked || letter->round < to->next_try) return false;
    tacit_status status = bring(self, to, card, letter, &problem);
    bool brought = status == TACIT_OK;
    if (status == TACIT_NOT_FOUND) return false; /* all is well, only early */
    if (brought && !to->is_told)
        notify(self, "a direct link to party %lu at %s", (unsigned long)letter->party + 1, card->address);
    if (!brought && to->pause == 0)
        notify(self, "no direct link to party %lu, so that words go through the coordinator: %s",
               (unsigned long)letter->party + 1, problem.text);
    to->is_told = brought;
    to->pause = brought ? 0 : to->pause == 0 ? 1 : to->pause < MOST_PAUSE ? 2 * to->pause : MOST_PAUSE;
    to->next_try = letter->round + to->pause;
    return brought;
}

static tacit_status send_words(site_links *self, tacit_buffer *answer, tacit_error *error) {
    tacit_answer read = TACIT_ANSWER_INIT;
    tacit_buffer rest = TACIT_BUFFER_INIT;
    size_t brought = 0;
    tacit_status status;
    TACIT_CHECK(tacit_answer_decode(&read, answer->bytes, answer->length, error));
    for (size_t i = 0; i < read.words.count; i++) {
        tacit_letter *letter = &read.words.letter[i];
        const tacit_card *card = tacit_mail_card(self->mail, letter->party);
        if (card == NULL || card->address[0] == 0 || !try_link(self, card, letter)) continue;
        tacit_buffer_clear(&letter->body);
        brought++;
    }
    if (brought == 0) goto cleanup;
    TACIT_CHECK(tacit_answer_encode(&read, &rest, error));
    tacit_buffer_clear(answer);
    *answer = rest;
    rest = (tacit_buffer)TACIT_BUFFER_INIT;
cleanup:
    tacit_buffer_clear(&rest);
    tacit_answer_clear(&read);
    return status;
}

tacit_status site_links_pass(site_links *self, const tacit_question *question, tacit_buffer *answer,
                             tacit_error *error) {
    if (self == NULL || question->kind != TACIT_ROUND_MAIL || question->mail->step != TACIT_MAIL_WORDS)
        return TACIT_OK;
    site_links_meet(self, self->mail);
    forget_heard(self, &question->mail->words);
    return send_words(self, answer, error);
}
