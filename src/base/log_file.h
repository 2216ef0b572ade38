/* Lines of a log: for people, or for programs as one JSON object each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum tacit_log_level { TACIT_LOG_INFO, TACIT_LOG_WARN, TACIT_LOG_ERROR } tacit_log_level;
typedef enum tacit_log_format { TACIT_LOG_TEXT, TACIT_LOG_JSON } tacit_log_format;

enum { TACIT_LOG_LINE_SIZE = 4096 };

/* "info", "warn", "error" */
const char *tacit_log_level_name(tacit_log_level level);

/* {"time": UTC, "level": ..., "program": ..., "message": ...}, without a line feed. Bytes that are not UTF-8
 * become "?"; a message that does not fit is cut. */
void tacit_log_json(char out[TACIT_LOG_LINE_SIZE], tacit_log_level level, const char *program,
                    const char *message);

/* The time now, as logs write it: 2026-03-01T12:00:00Z. */
void tacit_log_stamp(char *out, size_t size);

/* ---- what others can make a log say ----
 *
 * Lines that a stranger or a party can cause are written at a bounded rate: of each kind 100 at once and then
 * one a second, of each kind and peer 20 at once and then one in ten seconds. What is held back is counted,
 * and told when there is room again. Nothing here locks. */
typedef struct tacit_log_bucket {
    uint64_t key;   /* 0: not used yet */
    int64_t at_ms;  /* when the tokens were counted */
    double tokens;  /* lines that may be written now */
    unsigned held;  /* lines that were not, since this was last told; of a kind only */
    char last[128]; /* the beginning of the last of them */
} tacit_log_bucket;

enum { TACIT_LOG_KINDS = 32, TACIT_LOG_PEERS = 256 };
typedef struct tacit_log_limiter {
    tacit_log_bucket kinds[TACIT_LOG_KINDS], peers[TACIT_LOG_PEERS];
} tacit_log_limiter;

/* Whether a line may be written now. `kind` is any pointer that tells kinds apart, such as its format; `who`
 * may be "". */
bool tacit_log_admit(tacit_log_limiter *limiter, const void *kind, const char *who, const char *line,
                     int64_t now_ms);
/* A line that says what was held back, if there is any and room for one; false: there is none. To be asked
 * now and then. */
bool tacit_log_held(tacit_log_limiter *limiter, char *out, size_t size, int64_t now_ms);

/* ---- files ---- */

/* A file that is appended to, owner-only, and put aside when it has grown to `most` bytes: path.1 is the one
 * before, path.4 the oldest that is kept. A line that cannot be written is lost, and stops nothing. */
enum { TACIT_LOG_FILES_KEPT = 4, TACIT_LOG_FILE_MOST = 16 << 20 };
typedef struct tacit_log_file {
    FILE *file; /* NULL: not open */
    char path[4096];
    size_t bytes, most;
} tacit_log_file;

/* False with errno when it cannot be opened. */
bool tacit_log_open(tacit_log_file *log, const char *path, size_t most);
void tacit_log_write(tacit_log_file *log, const char *line);
void tacit_log_close(tacit_log_file *log);
