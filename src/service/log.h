/* Lines of a log: for people, or for programs as one JSON object each. */
#pragma once

#include <stddef.h>

typedef enum tacit_log_level { TACIT_LOG_INFO, TACIT_LOG_WARN, TACIT_LOG_ERROR } tacit_log_level;
typedef enum tacit_log_format { TACIT_LOG_TEXT, TACIT_LOG_JSON } tacit_log_format;

enum { TACIT_LOG_LINE_SIZE = 4096 };

/* "info", "warn", "error" */
const char *tacit_log_level_name(tacit_log_level level);

/* {"time": UTC, "level": ..., "program": ..., "message": ...}, without a line feed. Bytes that are not UTF-8 become "?"; a message
 * that does not fit is cut. */
void tacit_log_json(char out[TACIT_LOG_LINE_SIZE], tacit_log_level level, const char *program,
                    const char *message);

/* The time now, as logs write it: 2026-03-01T12:00:00Z. */
void tacit_log_stamp(char *out, size_t size);
