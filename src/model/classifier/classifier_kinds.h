/* What a kind of classifier is made of. Shared by the classifiers' files only. */
#pragma once

#include "model/classifier/classifier.h"

typedef struct classifier_kind {
    const char *name;
    const char *shown; /* in the list of known kinds */
    size_t most;       /* a whole number up to this may follow the name after a colon; 0: nothing may */
    /* Or a text must follow: TACIT_USAGE when it is not one for this kind. */
    tacit_status (*check)(const char *argument, size_t length, tacit_error *error);
    /* `argument` is what follows the colon, "" when nothing does. The rows are checked: there are some, with
     * labels in range. The maker sets only its own members; kind, features and classes follow. */
    tacit_status (*train)(tacit_classifier **out, const char *argument, const tacit_view *rows,
                          const tacit_training *training, tacit_error *error);
    /* Points have the right number of features. Writes `labels` only when all is well. */
    tacit_status (*predict)(const tacit_classifier *self, const tacit_rows *points, int32_t *labels,
                            tacit_error *error);
    const tacit_model *(*linear)(const tacit_classifier *self); /* NULL: not linear */
    void (*clear)(tacit_classifier *self); /* frees what it owns but not itself; copes with half-made ones */
} classifier_kind;

/* The first member of every classifier. */
struct tacit_classifier {
    const classifier_kind *kind;
    size_t features, classes;
};

extern const classifier_kind classifier_logistic, classifier_softmax, classifier_svm, classifier_tree,
    classifier_bayes, classifier_bernoulli, classifier_knn, classifier_mlp, classifier_exec;

/* The number in `argument`, or `fallback` when that is empty. */
size_t classifier_number(const char *argument, size_t fallback);

/* TACIT_CANCELLED when the training was asked to stop. */
tacit_status classifier_stopped(const tacit_training *training, tacit_error *error);

/* Rows of each class; `counts` has rows->classes places. */
void classifier_count(const tacit_view *rows, size_t *counts);

/* Visits the entries of a row that are not zero, in ascending order of columns, dense or sparse alike:
 *
 *     for (classifier_entries at = classifier_entries_of(rows, i); classifier_entries_next(&at);)
 *         ... at.column, at.value ...
 */
typedef struct classifier_entries {
    const double *values;
    const uint32_t *columns; /* NULL: all of them */
    size_t next, end;
    size_t column;
    double value;
} classifier_entries;

static inline classifier_entries classifier_entries_of(const tacit_rows *rows, size_t i) {
    size_t stored = tacit_rows_stored(rows, i);
    if (rows->dense != NULL)
        return (classifier_entries){ .values = rows->dense + stored * rows->stride, .end = rows->cols };
    const tacit_csr *csr = rows->sparse;
    size_t start = csr->start[stored];
    return (classifier_entries){ .values = csr->value + start,
                                 .columns = csr->column + start,
                                 .end = csr->start[stored + 1] - start };
}

static inline bool classifier_entries_next(classifier_entries *at) {
    while (at->next < at->end && at->values[at->next] == 0) at->next++;
    if (at->next == at->end) return false;
    at->value = at->values[at->next];
    at->column = at->columns != NULL ? at->columns[at->next] : at->next;
    at->next++;
    return true;
}
