/* The coordinator's log. What is written names studies, parties by their random names, addresses and sizes, and no value of any answer. */
#include <stdarg.h>

#include "base/clean.h"
#include "base/number.h"
#include "service/coordinator_parts.h"
#include "service/log.h"

static TACIT_PRINTF(3, 0) void write_line(coordinator *self, tacit_log_level level, const char *format,
                                          va_list arguments) {
    char said[1024], line[1024], record[TACIT_LOG_LINE_SIZE], stamp[32];
    const tacit_coordinator_settings *settings = &self->settings;
    bool json = settings->log_format == TACIT_LOG_JSON;
    tacit_format_list(said, sizeof said, format, arguments);
    tacit_text_clean(line, sizeof line, said); /* texts of peers stay on their line and steer no terminal */
    tacit_log_stamp(stamp, sizeof stamp);
    if (json) tacit_log_json(record, level, "coordinator", line);
    if (level < settings->log_level) return;
    pthread_mutex_lock(&self->mutex);
    if (self->log != NULL && json) fprintf(self->log, "%s\n", record);
    if (self->log != NULL && !json) fprintf(self->log, "%s %s\n", stamp, line);
    if (self->log != NULL) fflush(self->log);
    if (settings->news != NULL) settings->news(settings->context, level, line);
    pthread_mutex_unlock(&self->mutex);
}

void coordinator_news(coordinator *self, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(self, TACIT_LOG_INFO, format, arguments);
    va_end(arguments);
}

void coordinator_warn(coordinator *self, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(self, TACIT_LOG_WARN, format, arguments);
    va_end(arguments);
}

void coordinator_complain(coordinator *self, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write_line(self, TACIT_LOG_ERROR, format, arguments);
    va_end(arguments);
}
