/*
 * Many people in one process: each has a home, a ledger, rules, a key and certificate, and connections of their own, and
 * does what `tacit join` does; run_people runs several such processes.
 *
 *     bench_people HOMES FIRST SCHEMA exact|private stay|wake < INVITATIONS
 *
 * The k-th person lives in HOMES/k with rows.csv.
 *   stay: each has a thread and stays connected; every tenth goes away after an answer, and comes back.
 *   wake: some threads wake people in turn: one opens the study, does one exchange and closes it again, as a phone does
 *     that is woken by its scheduler. In between a person takes no memory and no connection.
 * The result is a line of JSON: how many ended with a model, how many did otherwise, how often somebody came back.
 */
#include <malloc.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/file.h"
#include "privacy/ledger/ledger.h"
#include "site/site.h"
#include "study/home.h"
#include "study/rules.h"

enum {
    STACK = 512 << 10,
    PEOPLE_MOST = 4096,
    JOINING_AT_ONCE = 8,
    GOING = 10,
    TRIES = 20,
    MAPPED = 64 << 10,
    ARENAS = 4,
    WAKING_AT_ONCE = 8,
    ASLEEP_SECONDS = 20
};

typedef struct person {
    pthread_t thread;
    size_t number;
    char *invitation;
    const char *homes, *schema;
    bool exact, goes;
    atomic_bool away;          /* has answered, and goes before the next question */
    char study[TACIT_ID_SIZE]; /* "" before joining */
    time_t due;                /* when to wake up */
    struct person *next;       /* in the queue of those who sleep */
} person;

static atomic_size_t done, failed, returned;
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static size_t inside;

/* A machine of two processors joins some at a time. */
static void enter(void) {
    pthread_mutex_lock(&door);
    while (inside == JOINING_AT_ONCE) pthread_cond_wait(&opened, &door);
    inside++;
    pthread_mutex_unlock(&door);
}

static void leave(void) {
    pthread_mutex_lock(&door);
    inside--;
    pthread_cond_signal(&opened);
    pthread_mutex_unlock(&door);
}

static bool is_away(void *context) { return atomic_load(&((person *)context)->away); }

static void hear(void *context, const char *line) {
    person *self = context;
    if (self->goes && strstr(line, ": answering") != NULL) {
        self->goes = false;
        atomic_store(&self->away, true);
    }
}

static tacit_status settle(const char *home, const char *rows, tacit_error *error) {
    char path[PATH_MAX];
    tacit_ledger *ledger = NULL;
    tacit_rules rules;
    const tacit_price limit = { TACIT_UNIT_PARTY, 100, 1e-2 };
    TACIT_TRY(tacit_rules_load(&rules, home, error));
    rules.minimum_rows = 1;
    TACIT_TRY(tacit_rules_save(&rules, home, error));
    TACIT_TRY(tacit_path_join(path, sizeof path, home, TACIT_LEDGER_NAME, error));
    TACIT_TRY(tacit_ledger_open(&ledger, path, rows, TACIT_LEDGER_CREATE, error));
    tacit_status status = tacit_ledger_set_limit(ledger, NULL, &limit, error);
    tacit_ledger_free(ledger);
    return status;
}

static tacit_status come(person *self, const char *home, tacit_site **out,
                         const tacit_site_callbacks *callbacks, tacit_error *error) {
    char rows[PATH_MAX];
    TACIT_TRY(tacit_path_join(rows, sizeof rows, home, "rows.csv", error));
    TACIT_TRY(settle(home, rows, error));
    const tacit_site_settings settings = { .home = home,
                                           .data = rows,
                                           .schema = self->schema,
                                           .source = rows,
                                           .allow_exact = self->exact,
                                           .allow_entrusted = self->exact };
    TACIT_TRY(tacit_site_look(out, self->invitation, strlen(self->invitation), &settings, callbacks, error));
    TACIT_TRY(tacit_site_check(*out, error));
    return tacit_site_join(*out, error);
}

static tacit_status join(person *self, const char *home, tacit_site **site,
                         const tacit_site_callbacks *callbacks, tacit_error *error) {
    enter();
    tacit_status status = come(self, home, site, callbacks, error);
    for (int i = 1; i < TRIES && status == TACIT_NETWORK; i++) { /* too slow: the same command again */
        *site = tacit_site_free(*site);
        *error = (tacit_error)TACIT_ERROR_INIT;
        status = come(self, home, site, callbacks, error);
    }
    leave();
    if (status == TACIT_OK) snprintf(self->study, sizeof self->study, "%s", tacit_site_study(*site)->name);
    return status;
}

static tacit_status live(person *self, tacit_site_result *result, tacit_error *error) {
    char home[PATH_MAX];
    tacit_site *site = NULL;
    const tacit_site_callbacks callbacks = { .cancelled = is_away, .news = hear, .context = self };
    snprintf(home, sizeof home, "%s/%zu", self->homes, self->number);
    tacit_status status = join(self, home, &site, &callbacks, error);
    if (status == TACIT_OK) status = tacit_site_serve(site, result, error);
    site = tacit_site_free(site);
    if (status == TACIT_CANCELLED && atomic_exchange(&self->away, false)) {
        atomic_fetch_add(&returned, 1);
        status = tacit_site_open(&site, home, self->study, &callbacks, error);
        if (status == TACIT_OK) status = tacit_site_serve(site, result, error);
        tacit_site_free(site);
    }
    return status;
}

static void finish(person *self, tacit_status status, tacit_site_result *result, const tacit_error *error) {
    if (status == TACIT_OK && strcmp(result->state, "done") == 0)
        atomic_fetch_add(&done, 1);
    else if (atomic_fetch_add(&failed, 1) < 3)
        fprintf(stderr, "bench_people: person %zu: %s\n", self->number,
                status == TACIT_OK ? result->reason : error->text);
    tacit_buffer_clear(&result->model);
    free(self->invitation);
}

static void *stay(void *context) {
    person *self = context;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_site_result result = { .model = TACIT_BUFFER_INIT };
    const tacit_status status = live(self, &result, &error);
    finish(self, status, &result, &error);
    return NULL;
}

/* ---- people who are woken ---- */

static pthread_mutex_t asleep = PTHREAD_MUTEX_INITIALIZER;
static person *sleeper, **last = &sleeper; /* in the order in which they are due */

static person *wake_up(void) {
    pthread_mutex_lock(&asleep);
    person *self = sleeper;
    if (self != NULL) {
        sleeper = self->next;
        if (sleeper == NULL) last = &sleeper;
    }
    pthread_mutex_unlock(&asleep);
    if (self == NULL) return NULL;
    const time_t now = time(NULL);
    if (self->due > now) nanosleep(&(struct timespec){ .tv_sec = self->due - now }, NULL);
    return self;
}

static void fall_asleep(person *self) {
    self->due = time(NULL) + ASLEEP_SECONDS;
    self->next = NULL;
    pthread_mutex_lock(&asleep);
    *last = self;
    last = &self->next;
    pthread_mutex_unlock(&asleep);
}

/* One waking: join, or one exchange. *ended: there will be none after it. */
static tacit_status waking(person *self, bool *ended, tacit_site_result *result, tacit_error *error) {
    char home[PATH_MAX];
    tacit_site *site = NULL;
    tacit_site_stepped stepped;
    const tacit_site_callbacks callbacks = { .context = self };
    snprintf(home, sizeof home, "%s/%zu", self->homes, self->number);
    tacit_status status;
    if (self->study[0] == '\0') {
        status = join(self, home, &site, &callbacks, error);
    } else {
        atomic_fetch_add(&returned, 1);
        status = tacit_site_open(&site, home, self->study, &callbacks, error);
        if (status == TACIT_OK) status = tacit_site_take_step(site, 0, &stepped, result, error);
        *ended = status == TACIT_OK && stepped.progress == TACIT_SITE_STEP_ENDED;
    }
    tacit_site_free(site);
    return status;
}

static void *wake(void *context) {
    person *self;
    (void)context;
    while ((self = wake_up()) != NULL) {
        bool ended = false;
        tacit_error error = TACIT_ERROR_INIT;
        tacit_site_result result = { .model = TACIT_BUFFER_INIT };
        const tacit_status status = waking(self, &ended, &result, &error);
        if (ended || (status != TACIT_OK && status != TACIT_NETWORK))
            finish(self, status, &result, &error);
        else
            fall_asleep(self);
    }
    return NULL;
}

static void start_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                         void *context) {
    if (pthread_create(thread, attributes, body, context) == 0) return;
    perror("bench_people: a thread");
    exit(1);
}

int main(int count, char **words) {
    static person people[PEOPLE_MOST];
    size_t there = 0, room = 0;
    char *line = NULL;
    pthread_attr_t attributes;
    pthread_t wakers[WAKING_AT_ONCE];
    struct rlimit files;
    if (count != 6 || sodium_init() < 0) {
        fputs("bench_people: run bench/run_people\n", stderr);
        return 2;
    }
    const bool woken = strcmp(words[5], "wake") == 0;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    /* A person has a device of their own, which has the memory back when a long question is answered: here
     * hundreds of threads would each keep theirs. */
    mallopt(M_MMAP_THRESHOLD, MAPPED);
    mallopt(M_ARENA_MAX, ARENAS);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    for (; there < PEOPLE_MOST && getline(&line, &room, stdin) > 0; there++) {
        person *each = &people[there];
        *each = (person){ .number = strtoul(words[2], NULL, 10) + there,
                          .invitation = strdup(line),
                          .homes = words[1],
                          .schema = words[3],
                          .exact = strcmp(words[4], "exact") == 0 };
        each->goes = each->number % GOING == 0;
        if (woken) {
            *last = each;
            last = &each->next;
        } else {
            start_thread(&each->thread, &attributes, stay, each);
        }
    }
    for (size_t i = 0; i < WAKING_AT_ONCE && woken; i++) start_thread(&wakers[i], &attributes, wake, NULL);
    for (size_t i = 0; i < WAKING_AT_ONCE && woken; i++) pthread_join(wakers[i], NULL);
    for (size_t i = 0; i < there && !woken; i++) pthread_join(people[i].thread, NULL);
    printf("{\"done\": %zu, \"failed\": %zu, \"returned\": %zu}\n", atomic_load(&done), atomic_load(&failed),
           atomic_load(&returned));
    free(line);
    return atomic_load(&failed) > 0;
}
