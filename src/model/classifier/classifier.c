/* The table of kinds, lists of them, and what all have in common. */
#include "model/classifier/classifier.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/classifier/classifier_kinds.h"
#include "model/classifier/exec_command.h"

/* A library without the methods that gather votes (-Dparty_methods) trains none but its own. */
static const classifier_kind *const kinds[] = {
    &classifier_logistic,
#ifndef TACIT_WITHOUT_VOTES
    &classifier_softmax,   &classifier_svm, &classifier_tree, &classifier_bayes,
    &classifier_bernoulli, &classifier_knn, &classifier_mlp,  &classifier_exec,
#endif
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static tacit_status fail_unknown(const char *kind, size_t length, tacit_error *error) {
    char known[160];
    size_t used = 0;
    for (size_t i = 0; i < KINDS && used < sizeof known; i++)
        used +=
            (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", kinds[i]->shown);
    return tacit_fail(error, TACIT_USAGE, "no local classifier is called '%.*s'; there are: %s",
                      length > 80 ? 80 : (int)length, kind, known);
}

/* Is `text` a whole number from 1 to `most`? */
static bool is_number(const char *text, size_t length, size_t most) {
    size_t value = 0;
    if (length == 0 || length > 9) return false;
    for (size_t i = 0; i < length; i++) {
        if (!isdigit((unsigned char)text[i])) return false;
        value = 10 * value + (size_t)(text[i] - '0');
    }
    return value >= 1 && value <= most;
}

/* The kind in `text`; *argument is where what follows its colon starts, or its end. */
static tacit_status find_kind(const char *text, size_t length, const classifier_kind **out,
                              const char **argument, tacit_error *error) {
    const char *colon = memchr(text, ':', length);
    size_t name = colon != NULL ? (size_t)(colon - text) : length;
    const classifier_kind *kind = NULL;
    for (size_t i = 0; i < KINDS && kind == NULL; i++)
        if (strlen(kinds[i]->name) == name && memcmp(kinds[i]->name, text, name) == 0) kind = kinds[i];
    if (kind == NULL) return fail_unknown(text, length, error);
    const char *rest = colon != NULL ? colon + 1 : text + length;
    size_t left = (size_t)(text + length - rest);
    if (kind->check != NULL)
        TACIT_TRY(kind->check(rest, left, error));
    else if (colon != NULL && !is_number(rest, left, kind->most))
        return kind->most == 0 ? fail_unknown(text, length, error)
                               : tacit_fail(error, TACIT_USAGE,
                                            "what follows '%s:' is a whole number from 1 to %zu, not '%.*s'",
                                            kind->name, kind->most, left > 80 ? 80 : (int)left, rest);
    *out = kind;
    *argument = rest;
    return TACIT_OK;
}

size_t classifier_number(const char *argument, size_t fallback) {
    return argument[0] != 0 ? (size_t)strtoul(argument, NULL, 10) : fallback;
}

tacit_status classifier_stopped(const tacit_training *training, tacit_error *error) {
    return tacit_progress_cancelled(training->progress) ? tacit_fail(error, TACIT_CANCELLED, "cancelled")
                                                        : TACIT_OK;
}

void classifier_count(const tacit_view *rows, size_t *counts) {
    memset(counts, 0, rows->classes * sizeof *counts);
    for (size_t i = 0; i < rows->rows.count; i++) counts[tacit_view_label(rows, i)]++;
}

/* ---- one classifier ---- */

static tacit_status check_rows(const tacit_view *rows, tacit_error *error) {
    if (rows->rows.count == 0 || rows->rows.cols == 0 || rows->classes < 2)
        return tacit_fail(error, TACIT_INPUT,
                          "a classifier needs rows with features and two classes, not %zu rows, %zu features "
                          "and %zu classes",
                          rows->rows.count, rows->rows.cols, rows->classes);
    for (size_t i = 0; i < rows->rows.count; i++) {
        int32_t label = tacit_view_label(rows, i);
        if (label < 0 || (size_t)label >= rows->classes)
            return tacit_fail(error, TACIT_INPUT, "row %zu has class %d, outside 0 to %zu", i + 1, label,
                              rows->classes - 1);
    }
    return TACIT_OK;
}

tacit_status tacit_classifier_train(tacit_classifier **out, const char *kind, const tacit_view *rows,
                                    const tacit_training *training, tacit_error *error) {
    const classifier_kind *found = NULL;
    const char *argument = NULL;
    tacit_classifier *self = NULL;
    if (strlen(kind) >= TACIT_CLASSIFIER_KIND_SIZE)
        return tacit_fail(error, TACIT_USAGE, "a classifier's kind is at most %d bytes long",
                          TACIT_CLASSIFIER_KIND_SIZE - 1);
    TACIT_TRY(find_kind(kind, strlen(kind), &found, &argument, error));
    TACIT_TRY(check_rows(rows, error));
    TACIT_TRY(classifier_stopped(training, error));
    TACIT_TRY(found->train(&self, argument, rows, training, error));
    self->kind = found;
    self->features = rows->rows.cols;
    self->classes = rows->classes;
    *out = self;
    return TACIT_OK;
}

tacit_status tacit_classifier_predict(const tacit_classifier *self, const tacit_rows *points, int32_t *labels,
                                      tacit_error *error) {
    if (points->cols != self->features)
        return tacit_fail(error, TACIT_INPUT, "the points have %zu features and the classifier %zu",
                          points->cols, self->features);
    return points->count > 0 ? self->kind->predict(self, points, labels, error) : TACIT_OK;
}

const tacit_model *tacit_classifier_linear(const tacit_classifier *self) {
    return self->kind->linear != NULL ? self->kind->linear(self) : NULL;
}

tacit_classifier *tacit_classifier_free(tacit_classifier *self) {
    if (self == NULL) return NULL;
    self->kind->clear(self);
    free(self);
    return NULL;
}

/* ---- lists ---- */

tacit_status tacit_classifier_check(const char *list, bool allow_exec, tacit_error *error) {
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");
        const classifier_kind *kind = NULL;
        const char *argument = NULL;
        TACIT_TRY(find_kind(at, length, &kind, &argument, error));
        if (length >= TACIT_CLASSIFIER_KIND_SIZE)
            return tacit_fail(error, TACIT_USAGE, "a classifier's kind is at most %d bytes long",
                              TACIT_CLASSIFIER_KIND_SIZE - 1);
        if (!allow_exec && strcmp(kind->name, "exec") == 0)
            return tacit_fail(
                error, TACIT_REFUSED,
                "only a party's owner may name a program to run ('%.*s'), on the party's own machine",
                length > 80 ? 80 : (int)length, at);
        at += length;
        if (*at == 0) return TACIT_OK;
    }
}

tacit_status tacit_classifier_of_party(const char *list, size_t party, char *out, size_t size,
                                       tacit_error *error) {
    size_t count = 1;
    for (const char *at = list; *at != 0; at++) count += *at == ',';
    for (party %= count; party > 0; party--) list = strchr(list, ',') + 1;
    size_t length = strcspn(list, ",");
    if (length >= size)
        return tacit_fail(error, TACIT_LIMIT, "the kind '%.80s' of a classifier is longer than %zu bytes",
                          list, size - 1);
    memcpy(out, list, length);
    out[length] = 0;
    return TACIT_OK;
}

#ifdef TACIT_WITHOUT_VOTES
/* No program can be named, so a list is settled as it is. */
tacit_status tacit_classifier_settle(const char *list, tacit_buffer *out, tacit_error *error) {
    TACIT_TRY(tacit_classifier_check(list, true, error));
    return tacit_buffer_append(out, list, strlen(list), error);
}
#else
tacit_status tacit_classifier_settle(const char *list, tacit_buffer *out, tacit_error *error) {
    TACIT_TRY(tacit_classifier_check(list, true, error));
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ","), name = strlen("exec:");
        if (at != list) TACIT_TRY(tacit_buffer_append(out, ",", 1, error));
        if (length > name && memcmp(at, "exec:", name) == 0) {
            TACIT_TRY(tacit_buffer_append(out, at, name, error));
            TACIT_TRY(exec_command_settle(out, at + name, length - name, error));
        } else {
            TACIT_TRY(tacit_buffer_append(out, at, length, error));
        }
        at += length;
        if (*at == 0) return TACIT_OK;
    }
}
#endif
