#include "service/log.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *tacit_log_level_name(tacit_log_level level) {
    static const char *const names[] = { "info", "warn", "error" };
    return names[level];
}

void tacit_log_stamp(char *out, size_t size) {
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

/* The message as a JSON string; where it is not UTF-8, every byte that is not ASCII becomes "?". */
static char *quoted(const char *message) {
    char plain[TACIT_LOG_LINE_SIZE / 4];
    snprintf(plain, sizeof plain, "%s", message);
    json_t *text = json_string(plain);
    if (text == NULL) {
        for (char *at = plain; *at != 0; at++)
            if ((unsigned char)*at >= 0x80) *at = '?';
        text = json_string(plain);
    }
    char *made = text != NULL ? json_dumps(text, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;
    json_decref(text);
    return made;
}

void tacit_log_json(char out[TACIT_LOG_LINE_SIZE], tacit_log_level level, const char *program,
                    const char *message) {
    char stamp[32];
    char *text = quoted(message);
    tacit_log_stamp(stamp, sizeof stamp);
    int length = snprintf(out, TACIT_LOG_LINE_SIZE,
                          "{\"time\":\"%s\",\"level\":\"%s\",\"program\":\"%s\",\"message\":%s}", stamp,
                          tacit_log_level_name(level), program, text != NULL ? text : "null");
    /* Escapes made it too long: a whole line without its message is better than half a line. */
    if (length < 0 || length >= TACIT_LOG_LINE_SIZE)
        snprintf(out, TACIT_LOG_LINE_SIZE,
                 "{\"time\":\"%s\",\"level\":\"%s\",\"program\":\"%s\",\"message\":null}", stamp,
                 tacit_log_level_name(level), program);
    free(text);
}
