/* The coordinator's figures for Prometheus: how many, how much, how long. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/number.h"
#include "coordinator/coordinator_parts.h"
#include "net/clock.h"
#include "web/prometheus.h"

/* Upper ends of the buckets, in seconds; the last one has no end. */
static const double bounds[METRIC_BUCKETS - 1] = { 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                   0.05,   0.1,   0.25,   0.5,   1,    2.5 };
static const char *const reasons[METRIC_REASONS] = { "",        "no_certificate", "foreign", "expired",
                                                     "revoked", "wrong_use",      "retired" };

/* ---- counting ---- */

int64_t coordinator_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void coordinator_count_request(coordinator *self, tacit_endpoint endpoint, size_t received, int64_t took) {
    coordinator_figures *figures = &self->figures;
    size_t bucket = 0;
    atomic_fetch_add(&figures->received, received);
    while (bucket + 1 < METRIC_BUCKETS && (double)took / 1e9 > bounds[bucket]) bucket++;
    atomic_fetch_add(&figures->taken[endpoint][bucket], 1);
    atomic_fetch_add(&figures->taken_ns[endpoint], (uint64_t)took);
}

void coordinator_count_refusal(coordinator *self, size_t reason) {
    if (reason < METRIC_REASONS) atomic_fetch_add(&self->figures.refusals[reason], 1);
}

void coordinator_count_failure(coordinator *self, unsigned http) {
    static const unsigned codes[METRIC_FAILURES] = { 400, 403, 409, 413, 500 };
    for (size_t i = 0; i < METRIC_FAILURES; i++)
        if (codes[i] == http) atomic_fetch_add(&self->figures.failures[i], 1);
}

void coordinator_count_sent(coordinator *self, size_t bytes) { atomic_fetch_add(&self->figures.sent, bytes); }

/* ---- telling ---- */

static tacit_status write_requests(coordinator *self, tacit_buffer *out, tacit_error *error) {
    static const char family[] = "tacit_request_seconds";
    char text[32];
    TACIT_TRY(tacit_metrics_begin(out, family, "histogram",
                                  "How long requests were worked on, not counting what polls wait.", error));
    for (size_t path = 0; path < METRIC_PATHS; path++) {
        const char *name = coordinator_path(path);
        uint64_t count = 0;
        for (size_t i = 0; i < METRIC_BUCKETS; i++) {
            count += atomic_load(&self->figures.taken[path][i]);
            if (i + 1 < METRIC_BUCKETS)
                tacit_format(text, sizeof text, "%g", bounds[i]);
            else
                memcpy(text, "+Inf", sizeof "+Inf");
            TACIT_TRY(tacit_metrics_sample(out, "tacit_request_seconds_bucket", "path", name, "le", text,
                                           (double)count, error));
        }
        TACIT_TRY(tacit_metrics_sample(out, "tacit_request_seconds_sum", "path", name, NULL, NULL,
                                       (double)atomic_load(&self->figures.taken_ns[path]) / 1e9, error));
        TACIT_TRY(tacit_metrics_sample(out, "tacit_request_seconds_count", "path", name, NULL, NULL,
                                       (double)count, error));
    }
    return TACIT_OK;
}

static tacit_status write_refusals(coordinator *self, tacit_buffer *out, tacit_error *error) {
    static const char *const codes[METRIC_FAILURES] = { "400", "403", "409", "413", "500" };
    TACIT_TRY(tacit_metrics_begin(out, "tacit_refusals_total", "counter",
                                  "Requests refused for their certificate.", error));
    for (size_t i = 1; i < METRIC_REASONS; i++)
        TACIT_TRY(tacit_metrics_sample(out, "tacit_refusals_total", "reason", reasons[i], NULL, NULL,
                                       (double)atomic_load(&self->figures.refusals[i]), error));
    TACIT_TRY(tacit_metrics_begin(out, "tacit_failures_total", "counter",
                                  "Requests that were answered with a failure, by HTTP status.", error));
    for (size_t i = 0; i < METRIC_FAILURES; i++)
        TACIT_TRY(tacit_metrics_sample(out, "tacit_failures_total", "status", codes[i], NULL, NULL,
                                       (double)atomic_load(&self->figures.failures[i]), error));
    return TACIT_OK;
}

static tacit_status write_states(const tacit_study_record *records, size_t count, tacit_buffer *out,
                                 tacit_error *error) {
    TACIT_TRY(tacit_metrics_begin(out, "tacit_studies", "gauge", "Studies of the folder, by state.", error));
    for (int state = TACIT_STUDY_DRAFT; state <= TACIT_STUDY_CLOSED; state++) {
        size_t found = 0;
        for (size_t i = 0; i < count; i++) found += records[i].state == (tacit_study_state)state;
        TACIT_TRY(tacit_metrics_sample(out, "tacit_studies", "state",
                                       tacit_study_state_name((tacit_study_state)state), NULL, NULL,
                                       (double)found, error));
    }
    return TACIT_OK;
}

/* Of one study that has not ended: joined, seen in the last minute, and in the open round answered and
 * refused. */
static tacit_status write_parties(coordinator *self, const tacit_study_record *record, tacit_buffer *out,
                                  tacit_error *error) {
    static const char name[] = "tacit_parties";
    hosted *host = coordinator_find(self, record->name);
    tacit_board_state board = { .open = false };
    if (host != NULL) tacit_board_look(host->board, &board);
    TACIT_TRY(tacit_metrics_sample(out, name, "study", record->name, "state", "joined",
                                   (double)record->joined, error));
    TACIT_TRY(tacit_metrics_sample(out, name, "study", record->name, "state", "connected",
                                   host != NULL ? (double)coordinator_seen(self, host) : 0, error));
    TACIT_TRY(tacit_metrics_sample(out, name, "study", record->name, "state", "answered",
                                   board.open ? (double)board.answered : 0, error));
    return tacit_metrics_sample(out, name, "study", record->name, "state", "refused",
                                board.open ? (double)board.refused : 0, error);
}

static tacit_status write_studies(coordinator *self, tacit_buffer *out, tacit_error *error) {
    tacit_study_record *records = NULL;
    size_t count = 0;
    tacit_status status;
    TACIT_CHECK(tacit_registry_studies(self->registry, &records, &count, error));
    TACIT_CHECK(write_states(records, count, out, error));
    TACIT_CHECK(tacit_metrics_begin(out, "tacit_parties", "gauge",
                                    "Parties of a study that has not ended: joined, connected in the last "
                                    "minute, and answered or refused in the open round.",
                                    error));
    for (size_t i = 0; i < count; i++)
        if (records[i].state < TACIT_STUDY_DONE) TACIT_CHECK(write_parties(self, &records[i], out, error));
    TACIT_CHECK(
        tacit_metrics_begin(out, "tacit_rounds_finished", "gauge", "Finished rounds of a study.", error));
    for (size_t i = 0; i < count; i++)
        TACIT_CHECK(tacit_metrics_sample(out, "tacit_rounds_finished", "study", records[i].name, NULL, NULL,
                                         (double)records[i].rounds, error));
cleanup:
    free(records);
    return status;
}

static tacit_status collect(void *context, tacit_buffer *out, tacit_error *error) {
    coordinator *self = context;
    uint64_t revoked = 0, uses = 0, used_ns = 0;
    TACIT_TRY(tacit_metrics_program(out, self->figures.started, error));
    TACIT_TRY(write_studies(self, out, error));
    TACIT_TRY(write_requests(self, out, error));
    TACIT_TRY(write_refusals(self, out, error));
    TACIT_TRY(tacit_metrics_one(out, "tacit_received_bytes_total", "counter", "Bodies of requests.",
                                (double)atomic_load(&self->figures.received), error));
    TACIT_TRY(tacit_metrics_one(out, "tacit_sent_bytes_total", "counter", "Bodies of answers, points too.",
                                (double)atomic_load(&self->figures.sent), error));
    tacit_registry_use(self->registry, &uses, &used_ns);
    TACIT_TRY(tacit_metrics_one(out, "tacit_registry_uses_total", "counter", "Uses of the registry (SQLite).",
                                (double)uses, error));
    TACIT_TRY(tacit_metrics_one(out, "tacit_registry_seconds_total", "counter", "Time spent in the registry.",
                                (double)used_ns / 1e9, error));
    TACIT_TRY(tacit_registry_revocation_count(self->registry, &revoked, error));
    return tacit_metrics_one(out, "tacit_revoked_certificates", "gauge", "Certificates that were revoked.",
                             (double)revoked, error);
}

tacit_status coordinator_start_metrics(coordinator *self, tacit_error *error) {
    if (!self->settings.metrics) return TACIT_OK;
    self->figures.started = tacit_clock_wall_seconds();
    TACIT_TRY(tacit_metrics_start(&self->metrics, self->settings.metrics_port, collect, self, error));
    coordinator_news(self, "metrics at http://127.0.0.1:%u/metrics",
                     (unsigned)tacit_metrics_port(self->metrics));
    return TACIT_OK;
}
