/* The coordinator's log. What is written names studies, parties by the names that people gave them and their
 * random ones, addresses and sizes, and no value of any answer. */
#include <limits.h>
#include <stdarg.h>

#include "base/clean.h"
#include "base/number.h"
#include "coordinator/coordinator_parts.h"
#include "net/clock.h"
#include "study/round_log.h"

/* Under the mutex. */
static void write_clean(coordinator *self, tacit_log_level level, const char *line) {
    char record[TACIT_LOG_LINE_SIZE], stamp[32];
    const tacit_coordinator_settings *settings = &self->settings;
    if (settings->log_format == TACIT_LOG_JSON) {
        tacit_log_json(record, level, "coordinator", line);
    } else {
        tacit_log_stamp(stamp, sizeof stamp);
        snprintf(record, sizeof record, "%s %s", stamp, line);
    }
    tacit_log_write(&self->log, record);
    if (settings->news != NULL) settings->news(settings->context, level, line);
}

/* `who` is the peer that has caused it, and bounds the rate; NULL: no peer can make us write it often. */
static TACIT_PRINTF(4, 0) void write_line(coordinator *self, tacit_log_level level, const char *who,
                                          const char *format, va_list arguments) {
    char said[1024], line[1024];
    if (level < self->settings.log_level) return;
    tacit_format_list(said, sizeof said, format, arguments);
    tacit_text_clean(line, sizeof line, said); /* texts of peers stay on their line and steer no terminal */
    pthread_mutex_lock(&self->mutex);
    if (who == NULL || tacit_log_admit(&self->limiter, format, who, line, tacit_clock_monotonic_ms()))
        write_clean(self, level, line);
    pthread_mutex_unlock(&self->mutex);
}

/* In quotes, so that no name reads as the rest of a line. */
const char *coordinator_shown(coordinator *self, const char *party, char out[COORDINATOR_SHOWN_SIZE]) {
    char called[TACIT_PARTY_NAME_SIZE] = "";
    if (tacit_registry_called(self->registry, party, called, NULL) == TACIT_OK && called[0] != 0)
        snprintf(out, COORDINATOR_SHOWN_SIZE, "\"%s\" (%s)", called, party);
    else
        snprintf(out, COORDINATOR_SHOWN_SIZE, "%s", party);
    return out;
}

void coordinator_log_held(coordinator *self) {
    char line[512];
    pthread_mutex_lock(&self->mutex);
    while (tacit_log_held(&self->limiter, line, sizeof line, tacit_clock_monotonic_ms()))
        write_clean(self, TACIT_LOG_WARN, line);
    pthread_mutex_unlock(&self->mutex);
}

void coordinator_news(coordinator *self, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(self, TACIT_LOG_INFO, NULL, format, arguments);
    va_end(arguments);
}

void coordinator_mention(coordinator *self, const char *who, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(self, TACIT_LOG_INFO, who, format, arguments);
    va_end(arguments);
}

void coordinator_warn(coordinator *self, const char *who, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(self, TACIT_LOG_WARN, who, format, arguments);
    va_end(arguments);
}

void coordinator_log_at(coordinator *self, tacit_log_level level, const char *who, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(self, level, who, format, arguments);
    va_end(arguments);
}

void coordinator_complain(coordinator *self, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(self, TACIT_LOG_ERROR, NULL, format, arguments);
    va_end(arguments);
}

/* Who answered, for the audit. */
void coordinator_note_answer(coordinator *self, const hosted *host, const char *party, uint64_t round) {
    char path[PATH_MAX];
    if (tacit_rounds_answers_path(path, sizeof path, self->settings.folder, host->study->name, NULL) !=
        TACIT_OK)
        return;
    pthread_mutex_lock(&self->mutex);
    FILE *file = fopen(path, "ae");
    if (file != NULL) {
        fprintf(file, "{\"round\":%llu,\"party\":\"%s\",\"at\":%lld}\n", (unsigned long long)round, party,
                (long long)tacit_clock_wall_seconds());
        fclose(file);
    }
    pthread_mutex_unlock(&self->mutex);
}
