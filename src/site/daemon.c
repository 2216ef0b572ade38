#include "site/daemon.h"

#include <dirent.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "net/clock.h"
#include "privacy/ledger/ledger.h"
#include "site/site_parts.h"
#include "study/home.h"

enum { LOOK_EVERY_MS = 200, RETRY_MS = 30000, REST_MS = 300000, WORD_SIZE = 512 };

typedef struct daemon_state daemon_state;

/* One study of the home. */
typedef struct worker {
    daemon_state *owner;
    char name[TACIT_SITE_ID_SIZE]; /* of its folder */
    pthread_t thread;
    bool running, ended; /* main thread only */
    bool failed;         /* the study has, and may be amended; the thread's own while it runs */
    atomic_bool finished;
    tacit_status status; /* of the last run; read after joining the thread */
    tacit_error error;
    char word[WORD_SIZE]; /* what the owner had said when it was refused */
    int64_t retry_at;     /* of a failure that may pass */
    struct worker *next;
} worker;

struct daemon_state {
    const tacit_daemon_settings *settings;
    pthread_mutex_t mutex; /* around the callbacks */
    worker *workers;
    atomic_bool stopping;
};

/* ---- what is told ---- */

static void notify(daemon_state *self, const char *study, const char *line) {
    const tacit_site_callbacks *callbacks = &self->settings->callbacks;
    char text[1024];
    if (callbacks->news == NULL) return;
    snprintf(text, sizeof text, "%s: %s", study, line);
    pthread_mutex_lock(&self->mutex);
    callbacks->news(callbacks->context, text);
    pthread_mutex_unlock(&self->mutex);
}

static void worker_news(void *context, const char *line) {
    worker *self = context;
    notify(self->owner, self->name, line);
}

static bool worker_cancelled(void *context) { return atomic_load(&((worker *)context)->owner->stopping); }

/* ---- one study ---- */

#define FAILED "failed" /* a state of a study, as a coordinator names it */

/* What the owner has said so far that bears on a refusal: definition, settings, rules, consent, limits, whom
 * to trust. */
static void owners_word(const daemon_state *self, const char *name, char out[WORD_SIZE]) {
    tacit_site *site = NULL;
    tacit_ledger *ledger = NULL;
    tacit_account total = { .limited = false }, study = { .limited = false };
    tacit_consent consent = TACIT_CONSENT_NONE;
    char path[PATH_MAX];
    struct stat rules = { .st_size = 0 }, settings = { .st_size = 0 }, trust = { .st_size = 0 };
    out[0] = 0;
    if (site_open_folder(&site, self->settings->home, name, NULL) != TACIT_OK) return;
    if (tacit_path_join(path, sizeof path, self->settings->home, "rules.json", NULL) == TACIT_OK)
        (void)stat(path, &rules);
    if (site_path(site, SITE_SETTINGS_FILE, path, NULL) == TACIT_OK) (void)stat(path, &settings);
    if (site_path(site, SITE_HANDOVER_FILE, path, NULL) == TACIT_OK) (void)stat(path, &trust);
    if (tacit_path_join(path, sizeof path, site->home, TACIT_LEDGER_NAME, NULL) == TACIT_OK &&
        tacit_ledger_open(&ledger, path, site->source, TACIT_LEDGER_READING, NULL) == TACIT_OK) {
        (void)tacit_ledger_consent_state(&consent, ledger, site->id, NULL);
        (void)tacit_ledger_account(&total, ledger, NULL, TACIT_UNIT_RECORD, NULL);
        (void)tacit_ledger_account(&study, ledger, site->id, TACIT_UNIT_RECORD, NULL);
    }
    tacit_format(out, WORD_SIZE, "%s %d %d %.17g %.17g %d %.17g %.17g %lld.%09ld %lld.%09ld %lld.%09ld",
                 site->id, (int)consent, total.limited, total.limit_epsilon, total.limit_delta, study.limited,
                 study.limit_epsilon, study.limit_delta, (long long)rules.st_mtim.tv_sec,
                 rules.st_mtim.tv_nsec, (long long)settings.st_mtim.tv_sec, settings.st_mtim.tv_nsec,
                 (long long)trust.st_mtim.tv_sec, trust.st_mtim.tv_nsec);
    tacit_ledger_free(ledger);
    tacit_site_free(site);
}

/* The end is written down, so that it is not asked for again after a restart. */
static tacit_status keep_result(const tacit_site *site, const tacit_site_result *result, tacit_error *error) {
    char path[PATH_MAX];
    if (strcmp(result->state, "done") == 0) {
        TACIT_TRY(site_path(site, SITE_MODEL_FILE, path, error));
        TACIT_TRY(tacit_file_write(path, result->model.bytes, result->model.length, 0644, error));
    }
    return tacit_site_keep_end(site, result->state, error);
}

static tacit_status serve_one(worker *self, tacit_error *error) {
    tacit_site *site = NULL;
    tacit_site_result result = { .model = TACIT_BUFFER_INIT };
    tacit_site_callbacks callbacks = { .cancelled = worker_cancelled,
                                       .news = worker_news,
                                       .context = self,
                                       .retry_ms = self->owner->settings->callbacks.retry_ms };
    char line[TACIT_ERROR_TEXT_SIZE + 128];
    tacit_status status;
    TACIT_CHECK(tacit_site_open(&site, self->owner->settings->home, self->name, &callbacks, error));
    if (!self->failed) notify(self->owner, self->name, "waiting for questions");
    TACIT_CHECK(tacit_site_serve(site, &result, error));
    TACIT_CHECK(keep_result(site, &result, error));
    const bool known = self->failed;
    self->failed = strcmp(result.state, FAILED) == 0;
    if (self->failed && known) goto cleanup;
    snprintf(line, sizeof line, "the study is %s%s%s", result.state, result.reason[0] != 0 ? ": " : "",
             result.reason);
    notify(self->owner, self->name, line);
cleanup:
    tacit_buffer_clear(&result.model);
    tacit_site_free(site);
    return status;
}

static void *worker_main(void *argument) {
    worker *self = argument;
    self->status = serve_one(self, &self->error);
    owners_word(self->owner, self->name, self->word);
    atomic_store(&self->finished, true);
    return NULL;
}

static void start(worker *self) {
    self->error = (tacit_error)TACIT_ERROR_INIT;
    atomic_store(&self->finished, false);
    self->running = pthread_create(&self->thread, NULL, worker_main, self) == 0;
    if (self->running) return;
    self->retry_at = tacit_clock_monotonic_ms() + RETRY_MS;
    notify(self->owner, self->name, "the system allows no more threads; trying again later");
}

/* A run is over: did the study end, was something refused, or may it pass? */
static void finish(worker *self) {
    pthread_join(self->thread, NULL);
    self->running = false;
    /* A word that came between the refusal and our noting what had been said is found in the end. */
    self->retry_at = tacit_clock_monotonic_ms() + (self->status == TACIT_REFUSED ? REST_MS : RETRY_MS);
    if (self->status == TACIT_OK) {
        /* One that failed may be amended: it is looked at again, now and then. */
        self->ended = !self->failed || self->owner->settings->until_done;
        if (!self->ended) self->retry_at = tacit_clock_monotonic_ms() + REST_MS;
        return;
    }
    self->failed = false;
    if (self->status != TACIT_CANCELLED) notify(self->owner, self->name, self->error.text);
}

static void tend(worker *self) {
    char now[WORD_SIZE];
    if (self->ended) return;
    if (self->running) {
        if (atomic_load(&self->finished)) finish(self);
        return;
    }
    owners_word(self->owner, self->name, now);
    if (strcmp(now, self->word) != 0 || tacit_clock_monotonic_ms() >= self->retry_at) start(self);
}

/* ---- all of them ---- */

static bool has_file(const daemon_state *self, const char *name, const char *file) {
    char studies[PATH_MAX], folder[PATH_MAX], path[PATH_MAX];
    struct stat about;
    return tacit_path_join(studies, sizeof studies, self->settings->home, "studies", NULL) == TACIT_OK &&
           tacit_path_join(folder, sizeof folder, studies, name, NULL) == TACIT_OK &&
           tacit_path_join(path, sizeof path, folder, file, NULL) == TACIT_OK && stat(path, &about) == 0;
}

/* Whether the end that is written down is a failure. */
static bool has_failed(const daemon_state *self, const char *name) {
    tacit_site *site = NULL;
    tacit_buffer state = TACIT_BUFFER_LIMITED(64);
    const bool failed = site_open_folder(&site, self->settings->home, name, NULL) == TACIT_OK &&
                        site_read_file(site, SITE_ENDED_FILE, &state, NULL) == TACIT_OK &&
                        strcmp(tacit_buffer_text(&state), FAILED) == 0;
    tacit_buffer_clear(&state);
    tacit_site_free(site);
    return failed;
}

static tacit_status adopt(daemon_state *self, const char *name, tacit_error *error) {
    for (const worker *each = self->workers; each != NULL; each = each->next)
        if (strcmp(each->name, name) == 0) return TACIT_OK;
    if (strlen(name) >= TACIT_SITE_ID_SIZE || !has_file(self, name, SITE_CERTIFICATE_FILE) ||
        (self->settings->mark != NULL && !has_file(self, name, self->settings->mark)) ||
        has_file(self, name, SITE_BOX_FILE)) /* people carry that study (site_envelope.c) */
        return TACIT_OK;
    worker *added = TACIT_NEW(worker, 1);
    if (added == NULL) return tacit_fail_memory(error);
    added->owner = self;
    memcpy(added->name, name, strlen(name) + 1);
    added->failed = !self->settings->until_done && has_failed(self, name);
    added->ended = has_file(self, name, SITE_ENDED_FILE) && !added->failed;
    added->next = self->workers;
    self->workers = added;
    if (!added->ended) start(added);
    return TACIT_OK;
}

/* Studies joined since the last look. */
static tacit_status look(daemon_state *self, tacit_error *error) {
    char studies[PATH_MAX];
    tacit_status status = TACIT_OK;
    TACIT_TRY(tacit_path_join(studies, sizeof studies, self->settings->home, "studies", error));
    DIR *folder = opendir(studies);
    if (folder == NULL) return TACIT_OK; /* none yet */
    for (const struct dirent *entry; status == TACIT_OK && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.') status = adopt(self, entry->d_name, error);
    closedir(folder);
    return status;
}

static bool all_ended(const daemon_state *self) {
    for (const worker *each = self->workers; each != NULL; each = each->next)
        if (!each->ended) return false;
    return true;
}

static tacit_status serve(daemon_state *self, tacit_error *error) {
    const tacit_site_callbacks *callbacks = &self->settings->callbacks;
    bool told = false;
    for (;;) {
        if (callbacks->cancelled != NULL && callbacks->cancelled(callbacks->context)) return TACIT_OK;
        TACIT_TRY(look(self, error));
        for (worker *each = self->workers; each != NULL; each = each->next) tend(each);
        if (self->settings->until_done && self->workers == NULL)
            return tacit_fail(error, TACIT_NOT_FOUND, "no study has been joined yet (tacit join --help)");
        if (self->settings->until_done && all_ended(self)) return TACIT_OK;
        if (!told && self->workers == NULL && callbacks->news != NULL)
            callbacks->news(callbacks->context,
                            "no study has been joined yet; waiting for one (tacit join --no-wait)");
        told = true; /* of what was found at the start; later studies report themselves */
        poll(NULL, 0, LOOK_EVERY_MS);
    }
}

tacit_status tacit_daemon_run(const tacit_daemon_settings *settings, tacit_error *error) {
    daemon_state self = { .settings = settings };
    pthread_mutex_init(&self.mutex, NULL);
    tacit_status status = serve(&self, error);
    atomic_store(&self.stopping, true);
    while (self.workers != NULL) {
        worker *each = self.workers;
        self.workers = each->next;
        if (each->running) pthread_join(each->thread, NULL);
        free(each);
    }
    pthread_mutex_destroy(&self.mutex);
    return status;
}
