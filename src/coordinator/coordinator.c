#include "coordinator/coordinator.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/secret.h"
#include "coordinator/coordinator_parts.h"
#include "method/uncounted.h"
#include "model/one_sided.h"
#include "net/clock.h"
#include "session/run.h"
#include "study/home.h"
#include "study/round_log.h"
#include "web/prometheus.h"

enum { LOOK_EVERY_MS = 100, END_NOTICE_MS = 10000 };

/* ---- small services to the other file ---- */

hosted *coordinator_find(coordinator *self, const char *study) {
    pthread_mutex_lock(&self->mutex);
    hosted *host = self->studies;
    while (host != NULL && strcmp(host->study->name, study) != 0) host = host->next;
    pthread_mutex_unlock(&self->mutex);
    return host; /* a host is never freed while the server runs */
}

void coordinator_wake_loop(coordinator *self) {
    pthread_mutex_lock(&self->mutex);
    pthread_cond_signal(&self->wake);
    pthread_mutex_unlock(&self->mutex);
}

/* ---- running a study ---- */

static void board_changed(void *context) {
    hosted *host = context;
    coordinator_report_step(host);
    coordinator_wake(host->owner, host->study->name);
}

/* Write the guarantee into the model, then the model to registry and folder; or go on recruiting for another
 * look. */
static tacit_status keep_model(hosted *host, tacit_outcome *outcome, tacit_error *error) {
    tacit_study *study = host->study;
    const tacit_plan *plan = &study->plan;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_prices prices = { .event = { .count = 0 } };
    char path[PATH_MAX], reason[TACIT_STOP_TEXT_SIZE + 64], remark[TACIT_REMARK_SIZE],
        uncounted[TACIT_UNCOUNTED_SIZE], told[sizeof reason + sizeof remark + sizeof uncounted + 4];
    bool again = false;
    tacit_status status;
    if (outcome->count != 1)
        return tacit_fail(error, TACIT_INTERNAL, "method %s ended with %zu models", plan->method->name,
                          outcome->count);
    tacit_model *model = outcome->models[0];
    TACIT_CHECK(tacit_plan_price(plan, &prices, error));
    TACIT_CHECK(tacit_model_describe(model, &study->schema->classes, study->schema, error));
    model->guarantee = tacit_run_guarantee(plan, &prices.charged, &prices.claimed, outcome, false);
    snprintf(model->guarantee.study, sizeof model->guarantee.study, "%s", study->name);
    TACIT_CHECK(tacit_model_print(model, &text, error));
    TACIT_CHECK(coordinator_judge(host, model, &text, &again, reason, error));
    if (again) goto cleanup;
    TACIT_CHECK(
        tacit_coordinator_model_path(host->owner->settings.folder, study->name, path, sizeof path, error));
    TACIT_CHECK(tacit_file_write(path, text.bytes, text.length, 0644, error));
    const bool doubtful = tacit_model_doubtful(model, remark);
    const bool after = tacit_missing_uncounted(model, uncounted);
    snprintf(told, sizeof told, "%s%s%s%s%s", reason, reason[0] != 0 && doubtful ? ". " : "", remark,
             after && (reason[0] != 0 || doubtful) ? ". " : "", uncounted);
    status =
        tacit_registry_set_state(host->owner->registry, study->name, TACIT_STUDY_DONE, told, &text, error);
    if (status == TACIT_USAGE) unlink(path); /* closed meanwhile by somebody who wants no model */
    if (status == TACIT_OK && doubtful)
        coordinator_complain(host->owner, "study %s: %s", study->name, remark);
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status coordinate(hosted *host, tacit_outcome *outcome, tacit_error *error) {
    coordinator *self = host->owner;
    tacit_journal journal = { .context = NULL };
    tacit_recorder recorder = { .plan = NULL };
    const tacit_transport transport = tacit_board_transport(host->board);
    const tacit_progress progress = coordinator_progress(host);
    tacit_session session = tacit_run_session(&host->study->plan, &transport, NULL, self->pool, &progress);
    tacit_status status;
    session.journal = &journal;
    session.bytes_per_party = host->study->point_bytes.length;
    session.own = host->target != NULL ? &host->own : NULL;
    tacit_secret_lock(&session.secret, sizeof session.secret);
    TACIT_CHECK(tacit_registry_secret(self->registry, host->study->name, &session.secret, error));
    TACIT_CHECK(tacit_registry_journal(self->registry, host->study->name, &journal, error));
    TACIT_CHECK(tacit_entropy_create(&session.entropy, error));
    TACIT_CHECK(tacit_recorder_attach(&recorder, &session, self->settings.folder, error));
    if (host->study->plan.method->compute != NULL)
        TACIT_CHECK(coordinator_with_center(host, &session, outcome, error));
    else
        TACIT_CHECK(tacit_run_coordinate(&session, outcome, error));
    host->bytes_per_party = session.bytes_per_party;
cleanup:
    tacit_recorder_clear(&recorder);
    tacit_stream_wipe(&session.secret);
    tacit_entropy_free(session.entropy);
    free(journal.context);
    return status;
}

/* Write down how the study ended. A full disk or want of memory is no end: the program stops with it, and a
 * later one goes on from the journal. */
static void conclude(hosted *host, tacit_status status, const tacit_error *error, size_t parties) {
    coordinator *self = host->owner;
    const char *name = host->study->name;
    if (status == TACIT_OK && atomic_load(&host->again)) {
        coordinator_wake_loop(self); /* the main loop hosts the next look */
        return;
    }
    if (status == TACIT_OK) {
        coordinator_news(
            self, "study %s is done: one model from %zu parties, %llu bytes to and from each%s", name,
            parties, (unsigned long long)host->bytes_per_party,
            host->study->plan.sums == TACIT_SUMS_MASKED     ? ", not counting keys and shares of masks"
            : host->study->plan.sums == TACIT_SUMS_PAILLIER ? ", not counting what encryption adds"
                                                            : "");
    } else if (status == TACIT_IO || status == TACIT_NO_MEMORY) {
        coordinator_complain(self, "study %s stopped, and goes on when the coordinator is started again: %s",
                             name, error->text);
        pthread_mutex_lock(&self->mutex);
        self->failed = status;
        self->failure = *error;
        pthread_mutex_unlock(&self->mutex);
        coordinator_wake_loop(self);
        return;
    } else {
        coordinator_complain(self, "study %s failed: %s", name, error->text);
        tacit_registry_set_state(self->registry, name, TACIT_STUDY_FAILED, error->text, NULL, NULL);
    }
    atomic_store(&host->ended, true);
    coordinator_wake(self, name);
    coordinator_wake_loop(self);
}

static void *study_main(void *argument) {
    hosted *host = argument;
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = coordinate(host, &outcome, &error);
    if (status == TACIT_OK) status = keep_model(host, &outcome, &error);
    /* Cancelled: the study was closed, or the program stops and a later one goes on from the journal. */
    if (status != TACIT_CANCELLED) conclude(host, status, &error, outcome.parties);
    tacit_outcome_clear(&outcome);
    return NULL;
}

static void join_thread(hosted *host) {
    if (!host->started) return;
    coordinator_cancel(host);
    pthread_join(host->thread, NULL);
    host->started = false;
}

static hosted *hosted_free(hosted *host) {
    if (host == NULL) return NULL;
    join_thread(host);
    tacit_board_free(host->board);
    free(host->steps.context);
    tacit_study_free(host->study);
    tacit_dataset_free(host->target);
    tacit_levels_clear(&host->told);
    tacit_levels_clear(&host->seen);
    free(host->seen_at);
    free(host);
    return NULL;
}

/* The auxiliary points of a study that has some. A file that was changed is found here, not by the
 * parties. */
static tacit_status load_points(coordinator *self, tacit_study *study, tacit_error *error) {
    if (study->point_count == 0) return TACIT_OK;
    tacit_buffer bytes = TACIT_BUFFER_INIT;
    tacit_status status = tacit_registry_points(self->registry, study->name, &bytes, error);
    if (status == TACIT_OK) status = tacit_study_take_points(study, &bytes, self->pool, error);
    tacit_buffer_clear(&bytes);
    if (status != TACIT_REFUSED && status != TACIT_INPUT) return status;
    tacit_fail_in(error, status, "coordinator.db is damaged");
    return TACIT_CORRUPT;
}

/* Take a study in: read its definition and points, set up its board with the parties it has. */
static tacit_status host_study(coordinator *self, const char *name, tacit_error *error) {
    hosted *host = TACIT_NEW(hosted, 1);
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_board_settings board = { .study = name, .changed = board_changed, .context = host };
    tacit_study_record record;
    tacit_status status;
    if (host == NULL) return tacit_fail_memory(error);
    host->owner = self;
    atomic_store(&host->center, -1);
    TACIT_CHECK(tacit_registry_study(self->registry, name, &record, &text, error));
    host->version = record.version;
    TACIT_CHECK(tacit_study_parse(&host->study, tacit_buffer_text(&text), text.length, name, error));
    TACIT_CHECK(load_points(self, host->study, error));
    TACIT_CHECK(coordinator_load_target(self, host, error));
    TACIT_CHECK(tacit_registry_secret(self->registry, name, &board.secret, error));
    memcpy(board.version, host->study->hash, sizeof board.version);
    board.minimum_parties = host->study->plan.minimum_parties;
    board.patience_ms = (unsigned)lround(host->study->patience * 1000);
    board.plan = &host->study->plan;
    board.pool = self->pool;
    if (host->study->plan.sums != TACIT_SUMS_CLEAR) {
        TACIT_CHECK(tacit_registry_steps(self->registry, name, &host->steps, error));
        board.masked = &host->study->plan;
        board.steps = &host->steps;
    }
    TACIT_CHECK(tacit_board_create(&host->board, &board, error));
    TACIT_CHECK(coordinator_seat_parties(self, host, error));
    pthread_mutex_lock(&self->mutex);
    host->next = self->studies;
    self->studies = host;
    pthread_mutex_unlock(&self->mutex);
    coordinator_news(self, "study %s: %s, %zu of %zu parties have joined", name,
                     tacit_study_state_name(record.state), record.joined, host->study->plan.parties);
    host = NULL;
    coordinator_wake(self, name); /* who was not told a word while it was paused */
cleanup:
    tacit_stream_wipe(&board.secret);
    tacit_buffer_clear(&text);
    hosted_free(host);
    return status;
}

static tacit_status start_study(coordinator *self, hosted *host, const tacit_study_record *record,
                                tacit_error *error) {
    if (record->state == TACIT_STUDY_RECRUITING)
        TACIT_TRY(tacit_registry_start(self->registry, record->name, host->version, error));
    /* A party is in the registry a moment before it has its seat; the round must not close without it. */
    TACIT_TRY(coordinator_seat_parties(self, host, error));
    if (host->study->plan.sums != TACIT_SUMS_CLEAR) TACIT_TRY(coordinator_fix_roster(self, host, error));
    coordinator_news(self, "study %s runs with %zu parties%s", record->name, record->joined,
                     record->rounds > 0 ? ", resumed from its journal" : "");
    host->started = pthread_create(&host->thread, NULL, study_main, host) == 0;
    return host->started ? TACIT_OK
                         : tacit_fail(error, TACIT_NO_MEMORY, "starting a thread: the system allows no more");
}

/* Look at one study of the registry and do what is due. */
static tacit_status tend_study(coordinator *self, const tacit_study_record *record, tacit_error *error) {
    hosted *host = coordinator_find(self, record->name);
    if (record->state >= TACIT_STUDY_DONE) {
        if (host == NULL) TACIT_TRY(coordinator_owe_end_notice(self, record, error));
        if (host != NULL && !atomic_exchange(&host->ended, true)) { /* closed by another process */
            coordinator_cancel(host);
            coordinator_wake(self, record->name);
        }
        coordinator_archive_ended(self, record);
        return TACIT_OK;
    }
    if (record->state == TACIT_STUDY_DRAFT) return TACIT_OK;
    if (host != NULL && (record->state == TACIT_STUDY_PAUSED || record->version != host->version)) {
        coordinator_retire(self, host);
        if (record->state == TACIT_STUDY_PAUSED || !atomic_load(&host->again))
            coordinator_news(self, "study %s is %s", record->name,
                             record->state == TACIT_STUDY_PAUSED ? "paused" : "amended");
        host = NULL;
    }
    if (record->state == TACIT_STUDY_PAUSED) return TACIT_OK;
    if (host == NULL) {
        TACIT_TRY(host_study(self, record->name, error));
        host = coordinator_find(self, record->name);
    }
    bool due;
    TACIT_TRY(coordinator_keep_schedule(self, host, &due, error));
    due = due && (record->state == TACIT_STUDY_RUNNING || record->joined >= host->study->plan.parties);
    TACIT_TRY(coordinator_tend_arms(self, host, record, &due, error));
    return due && !host->started ? start_study(self, host, record, error) : TACIT_OK;
}

/* One study's problem is not the others'. It is looked at again and again, but told once. */
static void log_problem(coordinator *self, const char *study, tacit_status status,
                        const tacit_error *problem) {
    if (status == TACIT_NOT_FOUND || status == TACIT_USAGE) return; /* it ended while we looked */
    hosted *host = coordinator_find(self, study);
    char *told = host != NULL ? host->problem : self->problem;
    if (strcmp(told, problem->text) == 0) return;
    memcpy(told, problem->text, sizeof problem->text);
    coordinator_complain(self, "study %s cannot be served: %s", study, problem->text);
}

/* Every study of the registry; *active says whether one still recruits or runs. */
static tacit_status tend_studies(coordinator *self, bool *active, tacit_error *error) {
    tacit_study_record *records = NULL;
    size_t count = 0;
    *active = false;
    tacit_status status = tacit_registry_studies(self->registry, &records, &count, error);
    for (size_t i = 0; i < count && status == TACIT_OK; i++) {
        tacit_error problem = TACIT_ERROR_INIT;
        tacit_status tended = tend_study(self, &records[i], &problem);
        *active = *active || (records[i].state < TACIT_STUDY_DONE && records[i].state != TACIT_STUDY_DRAFT);
        if (tended != TACIT_OK) log_problem(self, records[i].name, tended, &problem);
    }
    free(records);
    return status;
}

static void wait_a_little(coordinator *self) {
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_nsec += LOOK_EVERY_MS * 1000000L;
    if (deadline.tv_nsec >= 1000000000L) {
        deadline.tv_sec++;
        deadline.tv_nsec -= 1000000000L;
    }
    pthread_mutex_lock(&self->mutex);
    pthread_cond_timedwait(&self->wake, &self->mutex, &deadline);
    pthread_mutex_unlock(&self->mutex);
}

static tacit_status study_failure(coordinator *self, tacit_error *error) {
    pthread_mutex_lock(&self->mutex);
    tacit_status status = self->failed;
    if (status != TACIT_OK) tacit_fail(error, status, "%s", self->failure.text);
    pthread_mutex_unlock(&self->mutex);
    return status;
}

static tacit_status serve(coordinator *self, tacit_error *error) {
    int64_t idle_since = 0;     /* and nobody was told an end since */
    int64_t stopping_since = 0; /* and some wait for the end of their study */
    size_t told_before = 0;
    for (;;) {
        bool active;
        const bool stopping =
            self->settings.cancelled != NULL && self->settings.cancelled(self->settings.context);
        if (stopping && !self->settings.tells_end) return TACIT_OK;
        TACIT_TRY(tend_studies(self, &active, error));
        if (stopping) {
            if (stopping_since == 0) stopping_since = tacit_clock_monotonic_ms();
            if (!coordinator_is_awaited(self) || tacit_clock_monotonic_ms() - stopping_since > END_NOTICE_MS)
                return TACIT_OK;
        }
        TACIT_TRY(study_failure(self, error));
        coordinator_tend_envelopes(self);
        coordinator_beat(self);
        TACIT_TRY(coordinator_apply_revocations(self, error));
        coordinator_follow_rotation(self);
        coordinator_renew_server(self);
        coordinator_log_held(self);
        dashboard_look(self);
        coordinator_tend_public(self);
        if (self->settings.until_done && !active) {
            size_t told;
            bool all = coordinator_all_told(self, &told);
            if (idle_since == 0 || told > told_before) idle_since = tacit_clock_monotonic_ms();
            told_before = told;
            if (all || tacit_clock_monotonic_ms() - idle_since > END_NOTICE_MS)
                return coordinator_remember_end_notices(self, error);
        }
        wait_a_little(self);
    }
}

/* ---- starting and stopping ---- */

tacit_status tacit_coordinator_prepare(const char *folder, const char *name, tacit_error *error) {
    tacit_registry *registry = NULL;
    tacit_authority *authority = NULL;
    char known[TACIT_ID_SIZE];
    tacit_status status;
    TACIT_CHECK(tacit_folder_make(folder, error));
    status = tacit_authority_load(&authority, folder, NULL);
    if (status == TACIT_NOT_FOUND) status = tacit_authority_create(&authority, folder, name, error);
    /* for its sentence */
    else if (status != TACIT_OK)
        status = tacit_authority_load(&authority, folder, error);
    if (status != TACIT_OK) goto cleanup;
    TACIT_CHECK(tacit_registry_open(&registry, folder, true, error));
    TACIT_CHECK(tacit_registry_get(registry, "name", known, sizeof known, error));
    if (known[0] == 0) TACIT_CHECK(tacit_registry_set(registry, "name", name, error));
cleanup:
    tacit_authority_free(authority);
    tacit_registry_close(registry);
    return status;
}

/* Two coordinators on one folder would each ask the parties that found them, and draw the same noise for
 * both. The lock ends with the process, however that ends. */
static tacit_status lock_folder(coordinator *self, tacit_error *error) {
    char path[PATH_MAX];
    TACIT_TRY(tacit_path_join(path, sizeof path, self->settings.folder, "coordinator.lock", error));
    self->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (self->lock < 0) return tacit_fail_errno(error, "opening", path);
    if (flock(self->lock, LOCK_EX | LOCK_NB) == 0) return TACIT_OK;
    if (errno != EWOULDBLOCK) return tacit_fail_errno(error, "locking", path);
    return tacit_fail(error, TACIT_USAGE, "another coordinator serves %s already", self->settings.folder);
}

static tacit_status open_log(coordinator *self, tacit_error *error) {
    char path[PATH_MAX];
    TACIT_TRY(tacit_path_join(path, sizeof path, self->settings.folder, "coordinator.log", error));
    return tacit_log_open(&self->log, path, TACIT_LOG_FILE_MOST) ? TACIT_OK
                                                                 : tacit_fail_errno(error, "opening", path);
}

static void free_hosts(hosted **list) {
    while (*list != NULL) {
        hosted *host = *list;
        *list = host->next;
        hosted_free(host);
    }
}

static void stop(coordinator *self) {
    char path[PATH_MAX];
    /* First the studies' threads, which may wait for answers; then the server, whose handlers use the
     * studies. */
    for (hosted *host = self->studies; host != NULL; host = host->next) coordinator_cancel(host);
    const bool served = self->server != NULL;
    coordinator_stop_server(self);
    dashboard_stop(self);
    coordinator_stop_public(self);
    self->metrics = tacit_metrics_stop(self->metrics);
    for (hosted *host = self->studies; host != NULL; host = host->next) join_thread(host);
    free_hosts(&self->studies);
    free_hosts(&self->retired);
    tacit_levels_clear(&self->archived);
    if (served && tacit_path_join(path, sizeof path, self->settings.folder, "address", NULL) == TACIT_OK)
        unlink(path);
    coordinator_log_held(self);
    tacit_log_close(&self->log);
    if (self->lock >= 0) close(self->lock);
    tacit_pool_free(self->pool);
    coordinator_free_keys(self);
    tacit_registry_close(self->registry);
    pthread_cond_destroy(&self->wake);
    pthread_mutex_destroy(&self->mutex);
}

tacit_status tacit_coordinator_run(const tacit_coordinator_settings *settings, tacit_error *error) {
    coordinator self = { .settings = *settings, .lock = -1 };
    pthread_condattr_t monotonic;
    bool active;
    tacit_status status;
    pthread_mutex_init(&self.mutex, NULL);
    randombytes_buf(self.asked_key, sizeof self.asked_key);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&self.wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    TACIT_CHECK(tacit_home_check(settings->folder, error));
    TACIT_CHECK(tacit_registry_open(&self.registry, settings->folder, false, error));
    TACIT_CHECK(lock_folder(&self, error));
    TACIT_CHECK(tacit_registry_get(self.registry, "name", self.name, sizeof self.name, error));
    TACIT_CHECK(coordinator_load_keys(&self, error));
    TACIT_CHECK(tacit_pool_create(&self.pool, 0, error));
    TACIT_CHECK(open_log(&self, error));
    TACIT_CHECK(coordinator_start_server(&self, error));
    TACIT_CHECK(coordinator_announce(&self, error));
    TACIT_CHECK(dashboard_start(&self, error));
    /* so that the catalogue has them from its first moment */
    TACIT_CHECK(tend_studies(&self, &active, error));
    TACIT_CHECK(coordinator_start_public(&self, error));
    TACIT_CHECK(coordinator_start_metrics(&self, error));
    if (settings->ready != NULL) settings->ready(settings->context);
    TACIT_CHECK(serve(&self, error));
cleanup:
    stop(&self);
    return status;
}
