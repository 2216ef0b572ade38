#include "base/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

/* ---- a bounded rate ---- */

typedef struct rate {
    double at_once, per_second;
} rate;

static const rate of_kind = { 100, 1 }, of_peer = { 20, 0.1 };

/* The slot of a key, or one that several keys share when the table is full. */
static tacit_log_bucket *find(tacit_log_bucket *table, size_t count, uint64_t key, rate most,
                              int64_t now_ms) {
    size_t first = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % count, at = first;
    for (size_t tries = 0; tries < 8; tries++, at = (at + 1) % count) {
        if (table[at].key == key) return &table[at];
        if (table[at].key != 0) continue;
        table[at] = (tacit_log_bucket){ .key = key, .at_ms = now_ms, .tokens = most.at_once };
        return &table[at];
    }
    return &table[first];
}

static void refill(tacit_log_bucket *bucket, rate most, int64_t now_ms) {
    bucket->tokens += (double)(now_ms - bucket->at_ms) / 1000 * most.per_second;
    if (bucket->tokens > most.at_once) bucket->tokens = most.at_once;
    bucket->at_ms = now_ms;
}

static uint64_t key_of(const void *kind, const char *who) {
    uint64_t key = (uint64_t)(uintptr_t)kind;
    for (; *who != 0; who++) key = (key ^ (unsigned char)*who) * UINT64_C(1099511628211);
    return key != 0 ? key : 1;
}

bool tacit_log_admit(tacit_log_limiter *limiter, const void *kind, const char *who, const char *line,
                     int64_t now_ms) {
    tacit_log_bucket *all = find(limiter->kinds, TACIT_LOG_KINDS, key_of(kind, ""), of_kind, now_ms);
    tacit_log_bucket *peer = find(limiter->peers, TACIT_LOG_PEERS, key_of(kind, who), of_peer, now_ms);
    refill(all, of_kind, now_ms);
    refill(peer, of_peer, now_ms);
    if (all->tokens >= 1 && peer->tokens >= 1) {
        all->tokens--;
        peer->tokens--;
        return true;
    }
    all->held++;
    snprintf(all->last, sizeof all->last, "%.127s", line);
    return false;
}

bool tacit_log_held(tacit_log_limiter *limiter, char *out, size_t size, int64_t now_ms) {
    for (size_t i = 0; i < TACIT_LOG_KINDS; i++) {
        tacit_log_bucket *all = &limiter->kinds[i];
        if (all->held == 0) continue;
        refill(all, of_kind, now_ms);
        if (all->tokens < 1) continue;
        all->tokens--;
        snprintf(out, size, "%u more like this were not written: %s", all->held, all->last);
        all->held = 0;
        return true;
    }
    return false;
}

/* ---- files ---- */

bool tacit_log_open(tacit_log_file *log, const char *path, size_t most) {
    struct stat now;
    *log = (tacit_log_file){ .most = most };
    if (snprintf(log->path, sizeof log->path, "%s", path) >= (int)sizeof log->path - 8) {
        errno = ENAMETOOLONG;
        return false;
    }
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    log->file = file >= 0 ? fdopen(file, "a") : NULL;
    if (log->file == NULL) {
        if (file >= 0) close(file);
        return false;
    }
    if (fstat(file, &now) == 0) log->bytes = (size_t)now.st_size;
    return true;
}

static void put_aside(tacit_log_file *log) {
    char from[sizeof log->path + 8], to[sizeof log->path + 8], path[sizeof log->path];
    size_t most = log->most;
    for (int k = TACIT_LOG_FILES_KEPT - 1; k >= 0; k--) {
        snprintf(from, sizeof from, k > 0 ? "%s.%d" : "%s", log->path, k);
        snprintf(to, sizeof to, "%s.%d", log->path, k + 1);
        (void)rename(from, to);
    }
    fclose(log->file);
    memcpy(path, log->path, sizeof path);
    (void)tacit_log_open(log, path, most);
}

void tacit_log_write(tacit_log_file *log, const char *line) {
    if (log->file == NULL) return;
    int written = fprintf(log->file, "%s\n", line);
    fflush(log->file);
    if (written > 0) log->bytes += (size_t)written;
    if (log->bytes >= log->most) put_aside(log);
}

void tacit_log_close(tacit_log_file *log) {
    if (log->file != NULL) fclose(log->file);
    log->file = NULL;
}
