/*
 * Any program as a classifier. It gets the training rows and the points in one run (docs/classifiers.md has
 * the protocol) and is trusted with nothing: exec_process.c holds it to time and size, and here its labels
 * are counted and checked. Only a party's owner may name it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/schema/text.h"
#include "model/classifier/classifier_kinds.h"
#include "model/classifier/exec_command.h"
#include "model/classifier/exec_labels.h"
#include "model/classifier/exec_process.h"

static const double default_seconds = 60;

enum {
    PIECE = 65536,       /* bytes of CSV made at a time */
    LABEL_BYTES = 32,    /* that a label may take, on average */
    SLACK_BYTES = 65536, /* that may be printed besides */
    VARIABLES = 8,
    VARIABLE_BYTES = 4096
};

typedef struct exec {
    tacit_classifier base;
    char *command;
    char shown[128]; /* for messages, cut where long */
    tacit_view rows;
    double seconds;
} exec;

static void clear_exec(tacit_classifier *base) { free(((exec *)base)->command); }

static tacit_status train_exec(tacit_classifier **out, const char *argument, const tacit_view *rows,
                               const tacit_training *training, tacit_error *error) {
    exec *self = TACIT_NEW(exec, 1);
    if (self == NULL) return tacit_fail_memory(error);
    self->command = tacit_copy_text(argument);
    if (self->command == NULL) {
        free(self);
        return tacit_fail_memory(error);
    }
    snprintf(self->shown, sizeof self->shown, "%.120s", argument);
    self->rows = *rows;
    self->seconds = training->exec_seconds > 0 && isfinite(training->exec_seconds) ? training->exec_seconds
                                                                                   : default_seconds;
    *out = &self->base;
    return TACIT_OK;
}

/* ---- what it reads ---- */

/* How much of the input has been made: the header, the rows, a blank line, the header, the points. */
typedef struct feeding {
    const tacit_view *rows;
    const tacit_rows *points;
    double *row; /* one, expanded */
    bool rows_begun, points_begun;
    size_t rows_done, points_done;
} feeding;

static tacit_status feed_header(const feeding *f, bool labelled, tacit_buffer *out, tacit_error *error) {
    for (size_t j = 0; j < f->points->cols; j++)
        TACIT_TRY(tacit_buffer_print(out, error, "%sx%zu", j > 0 ? "," : "", j + 1));
    return tacit_buffer_print(out, error, "%s\n", labelled ? ",label" : "");
}

/* The numbers of a row, comma-separated. */
static tacit_status feed_numbers(const feeding *f, const tacit_rows *rows, size_t i, tacit_buffer *out,
                                 tacit_error *error) {
    uint8_t *start;
    tacit_rows_copy(rows, i, f->row);
    TACIT_TRY(tacit_buffer_reserve(out, rows->cols * (TACIT_NUMBER_TEXT + 1), &start, error));
    char *at = (char *)start;
    for (size_t j = 0; j < rows->cols; j++) {
        if (j > 0) *at++ = ',';
        /* most of a one-hot row */
        if (f->row[j] == 0) *at++ = '0';
        /* 17 digits bring back the same double */
        else
            at += tacit_format(at, TACIT_NUMBER_TEXT, "%.17g", f->row[j]);
    }
    out->length += (size_t)(at - (char *)start);
    return TACIT_OK;
}

static tacit_status feed_some(feeding *f, tacit_buffer *out, tacit_error *error) {
    if (!f->rows_begun) TACIT_TRY(feed_header(f, true, out, error));
    f->rows_begun = true;
    for (; f->rows_done < f->rows->rows.count && out->length < PIECE; f->rows_done++) {
        TACIT_TRY(feed_numbers(f, &f->rows->rows, f->rows_done, out, error));
        TACIT_TRY(tacit_buffer_print(out, error, ",%d\n", tacit_view_label(f->rows, f->rows_done)));
    }
    if (f->rows_done < f->rows->rows.count) return TACIT_OK;
    if (!f->points_begun) {
        TACIT_TRY(tacit_buffer_print(out, error, "\n"));
        TACIT_TRY(feed_header(f, false, out, error));
        f->points_begun = true;
    }
    for (; f->points_done < f->points->count && out->length < PIECE; f->points_done++) {
        TACIT_TRY(feed_numbers(f, f->points, f->points_done, out, error));
        TACIT_TRY(tacit_buffer_append(out, "\n", 1, error));
    }
    return TACIT_OK;
}

static tacit_status feed(void *context, tacit_buffer *out, tacit_error *error) {
    return feed_some(context, out, error);
}

/* ---- what it knows ---- */

/* Nothing of ours but where programs and the user's files are, the language, and how much there is to
 * read. */
typedef struct environment {
    char *variable[VARIABLES + 1];
    char text[VARIABLES][VARIABLE_BYTES];
} environment;

static void add_variable(environment *e, size_t *count, const char *name, const char *value) {
    if (value == NULL || snprintf(e->text[*count], VARIABLE_BYTES, "%s=%s", name, value) >= VARIABLE_BYTES)
        return;
    e->variable[*count] = e->text[*count];
    (*count)++;
}

static void add_number(environment *e, size_t *count, const char *name, size_t value) {
    char text[24];
    snprintf(text, sizeof text, "%zu", value);
    add_variable(e, count, name, text);
}

static void fill_environment(environment *e, const exec *self, size_t points) {
    size_t count = 0;
    const char *path = getenv("PATH");
    add_variable(e, &count, "PATH", path != NULL ? path : "/usr/local/bin:/usr/bin:/bin");
    add_variable(e, &count, "HOME", getenv("HOME"));
    add_variable(e, &count, "LANG", getenv("LANG"));
    add_number(e, &count, "TACIT_CLASSES", self->rows.classes);
    add_number(e, &count, "TACIT_FEATURES", self->rows.rows.cols);
    add_number(e, &count, "TACIT_ROWS", self->rows.rows.count);
    add_number(e, &count, "TACIT_POINTS", points);
}

static tacit_status predict_exec(const tacit_classifier *base, const tacit_rows *points, int32_t *labels,
                                 tacit_error *error) {
    const exec *self = (const exec *)base;
    tacit_buffer output = TACIT_BUFFER_LIMITED(points->count * LABEL_BYTES + SLACK_BYTES);
    feeding f = { .rows = &self->rows, .points = points, .row = TACIT_NEW(double, points->cols) };
    environment *variables = TACIT_NEW(environment, 1);
    int32_t *answer = TACIT_NEW(int32_t, points->count);
    char **words = NULL;
    tacit_status status;
    if (f.row == NULL || variables == NULL || answer == NULL) {
        status = tacit_fail_memory(error);
        goto cleanup;
    }
    TACIT_CHECK(exec_command_split(&words, self->command, strlen(self->command), error));
    fill_environment(variables, self, points->count);
    exec_job job = { .shown = self->shown,
                     .arguments = words,
                     .environment = variables->variable,
                     .feed = feed,
                     .context = &f,
                     .seconds = self->seconds };
    TACIT_CHECK(exec_process_run(&job, &output, error));
    TACIT_CHECK(exec_labels_read(answer, points->count, &output, self->rows.classes, self->shown, error));
    memcpy(labels, answer, points->count * sizeof *labels);
cleanup:
    free(words);
    free(answer);
    free(variables);
    free(f.row);
    tacit_buffer_clear(&output);
    return status;
}

static tacit_status check_command(const char *argument, size_t length, tacit_error *error) {
    char **words = NULL;
    TACIT_TRY(exec_command_split(&words, argument, length, error));
    free(words);
    return TACIT_OK;
}

const classifier_kind classifier_exec = {
    .name = "exec",
    .shown = "exec:CMD",
    .check = check_command,
    .train = train_exec,
    .predict = predict_exec,
    .clear = clear_exec,
};
