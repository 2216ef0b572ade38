#include "study/round_log.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "study/json_value.h"

enum { FILE_BYTES_MOST = 64 << 20 };

static tacit_status path_of(char *out, size_t size, const char *folder, const char *study,
                            tacit_error *error) {
    char name[TACIT_ID_SIZE + 32];
    snprintf(name, sizeof name, "%.*s.rounds.jsonl", TACIT_ID_SIZE, study);
    return tacit_path_join(out, size, folder, name, error);
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A line that cannot be written is missing from a picture, and stops nothing. */
static void write_line(const tacit_recorder *recorder, json_t *line) {
    char *text = line != NULL ? json_dumps(line, JSON_COMPACT) : NULL;
    int file = text != NULL ? open(recorder->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file >= 0) {
        dprintf(file, "%s\n", text);
        close(file);
    }
    free(text);
    json_decref(line);
}

/* |values - last| / |last|; NaN when there is nothing to compare with. Keeps the values. */
static double change_to(tacit_recorded *last, const char *question, double *values, size_t length) {
    double apart = 0, before = 0;
    bool same = last->values != NULL && last->length == length && strcmp(last->question, question) == 0;
    for (size_t j = 0; same && j < length; j++) {
        apart += (values[j] - last->values[j]) * (values[j] - last->values[j]);
        before += last->values[j] * last->values[j];
    }
    free(last->values);
    *last = (tacit_recorded){ .values = values, .length = length };
    snprintf(last->question, sizeof last->question, "%s", question);
    return same && before > 0 ? sqrt(apart / before) : NAN;
}

static bool may_be_told(const tacit_plan *plan) {
    return plan->method->noise_free || plan->method->release_kind(plan) == TACIT_RELEASE_CHARGED;
}

/* Who answered is written as answers come; it is on the disk before the round's result is in the journal,
 * except for an answer that is being written down just then. */
static void sync_answers(const tacit_recorder *recorder) {
    int file = open(recorder->answers, O_WRONLY | O_CLOEXEC);
    if (file < 0) return; /* no answer was noted */
    fdatasync(file);
    close(file);
}

static void write_round(const tacit_recorder *recorder, const tacit_question *question, int64_t started,
                        size_t parties, double change) {
    sync_answers(recorder);
    write_line(recorder,
               json_pack("{s:I,s:s,s:I,s:I,s:I,s:o}", "round", (json_int_t)question->round, "question",
                         question->name, "started_ms", (json_int_t)started, "ended_ms", (json_int_t)now_ms(),
                         "parties", (json_int_t)parties, "change", tacit_json_number(change)));
}

static tacit_status ask(void *context, const tacit_question *question, tacit_answers *out,
                        tacit_error *error) {
    tacit_recorder *recorder = context;
    int64_t started = now_ms();
    TACIT_TRY(recorder->inner.ask(recorder->inner.context, question, out, error));
    write_round(recorder, question, started, out->count, NAN);
    return TACIT_OK;
}

static tacit_status ask_one(void *context, const tacit_question *question, size_t place, bool needed,
                            tacit_answers *out, tacit_error *error) {
    tacit_recorder *recorder = context;
    int64_t started = now_ms();
    TACIT_TRY(recorder->inner.ask_one(recorder->inner.context, question, place, needed, out, error));
    write_round(recorder, question, started, out->count, NAN);
    return TACIT_OK;
}

static tacit_status ask_sum(void *context, const tacit_question *question, uint64_t *total, size_t *parties,
                            tacit_error *error) {
    tacit_recorder *recorder = context;
    int64_t started = now_ms();
    TACIT_TRY(recorder->inner.ask_sum(recorder->inner.context, question, total, parties, error));
    double change = NAN;
    size_t length = question->sum.length;
    double *values = may_be_told(recorder->plan) ? TACIT_NEW(double, length) : NULL;
    if (values != NULL) {
        for (size_t j = 0; j < length; j++) values[j] = tacit_sum_value(&question->sum, (int64_t)total[j]);
        change = change_to(&recorder->sum, question->name, values, length);
    }
    write_round(recorder, question, started, *parties, change);
    return TACIT_OK;
}

static tacit_status exchange(void *context, const tacit_question *question, const tacit_mixing *mixing,
                             size_t *bytes, tacit_error *error) {
    tacit_recorder *recorder = context;
    int64_t started = now_ms();
    TACIT_TRY(recorder->inner.exchange(recorder->inner.context, question, mixing, bytes, error));
    write_round(recorder, question, started, recorder->plan->parties, NAN);
    return TACIT_OK;
}

static void published(void *context, const double *values, size_t count) {
    tacit_recorder *recorder = context;
    double *copy = TACIT_NEW(double, count);
    uint64_t number = recorder->published++;
    if (copy == NULL) return;
    memcpy(copy, values, count * sizeof *copy);
    double change = change_to(&recorder->release, "", copy, count);
    write_line(recorder,
               json_pack("{s:I,s:o}", "published", (json_int_t)number, "change", tacit_json_number(change)));
}

tacit_status tacit_rounds_answers_path(char *out, size_t size, const char *folder, const char *study,
                                       tacit_error *error) {
    char name[TACIT_ID_SIZE + 32];
    snprintf(name, sizeof name, "%.*s.answers.jsonl", TACIT_ID_SIZE, study);
    return tacit_path_join(out, size, folder, name, error);
}

tacit_status tacit_recorder_attach(tacit_recorder *recorder, tacit_session *session, const char *folder,
                                   tacit_error *error) {
    *recorder = (tacit_recorder){ .plan = session->plan, .inner = session->transport };
    TACIT_TRY(path_of(recorder->path, sizeof recorder->path, folder, session->plan->study, error));
    TACIT_TRY(tacit_rounds_answers_path(recorder->answers, sizeof recorder->answers, folder,
                                        session->plan->study, error));
    recorder->watch = (tacit_watch){ published, recorder };
    session->transport = (tacit_transport){ .ask = ask,
                                            .ask_one = recorder->inner.ask_one != NULL ? ask_one : NULL,
                                            .ask_sum = ask_sum,
                                            .context = recorder,
                                            .exchange = recorder->inner.exchange != NULL ? exchange : NULL };
    session->watch = &recorder->watch;
    return TACIT_OK;
}

void tacit_rounds_forget(const char *folder, const char *study) {
    char path[4096];
    if (path_of(path, sizeof path, folder, study, NULL) == TACIT_OK) unlink(path);
    if (tacit_rounds_answers_path(path, sizeof path, folder, study, NULL) == TACIT_OK) unlink(path);
}

void tacit_recorder_clear(tacit_recorder *recorder) {
    free(recorder->sum.values);
    free(recorder->release.values);
    recorder->sum.values = recorder->release.values = NULL;
}

/* A round that was asked again after a crash, or a release drawn from the journal, is written twice: the
 * later line counts. The last line may be cut off. */
static void take_line(json_t *rounds, json_t *releases, const char *line, size_t length) {
    json_t *each = json_loadb(line, length, 0, NULL);
    json_t *list = json_object_get(each, "round") != NULL ? rounds : releases;
    const char *key = list == rounds ? "round" : "published";
    const json_t *number = json_object_get(each, key);
    size_t count = json_array_size(list);
    while (count > 0 && json_integer_value(json_object_get(json_array_get(list, count - 1), key)) >=
                            json_integer_value(number))
        json_array_remove(list, --count);
    if (json_is_integer(number)) json_array_append(list, each);
    json_decref(each);
}

tacit_status tacit_rounds_read(json_t **out, const char *folder, const char *study, tacit_error *error) {
    char path[4096];
    tacit_buffer text = TACIT_BUFFER_LIMITED(FILE_BYTES_MOST);
    json_t *rounds = json_array(), *releases = json_array();
    tacit_status status = path_of(path, sizeof path, folder, study, error);
    /* No file: no round has ended yet. */
    if (status == TACIT_OK && access(path, F_OK) == 0) status = tacit_file_read(path, &text, error);
    const char *end;
    for (const char *line = tacit_buffer_text(&text); (end = strchr(line, '\n')) != NULL; line = end + 1)
        take_line(rounds, releases, line, (size_t)(end - line));
    tacit_buffer_clear(&text);
    json_t *document = json_pack("{s:o,s:o}", "rounds", rounds, "published", releases);
    if (status != TACIT_OK) {
        json_decref(document);
        return status;
    }
    *out = document;
    return document != NULL ? TACIT_OK : tacit_fail_memory(error);
}
