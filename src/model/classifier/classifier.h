/*
 * Local classifiers of any type: what a party of an ensemble method trains on its own rows and keeps
 * (docs/classifiers.md describes each). Training is deterministic: chance follows from training->stream
 * alone, whatever the number of threads.
 *
 * A classifier borrows the rows it was trained on (k-NN and exec look at them again), so they must outlive
 * it. One classifier may predict on several threads at once.
 */
#pragma once

#include <stdbool.h>

#include "base/pool.h"
#include "base/progress.h"
#include "data/dataset.h"
#include "model/model.h"
#include "rand/stream.h"

typedef struct tacit_classifier tacit_classifier;

typedef struct tacit_training {
    double lambda;                  /* of linear models and the MLP */
    tacit_stream stream;            /* chance in training: follows from the seed, same on any thread count */
    tacit_pool *pool;               /* NULL: calling thread */
    const tacit_progress *progress; /* to stop early; used by the call only */
    double exec_seconds;            /* time limit of exec; 0: the default */
} tacit_training;

/* With its NUL; a longer kind is TACIT_USAGE. */
enum { TACIT_CLASSIFIER_KIND_SIZE = 1024 };

/* `kind` is one of
 *     logistic, softmax   regularised linear; the multinomial loss for more than two classes
 *     svm                 linear with the Huberised hinge; one class against the rest for more than two
 *     tree                CART
 *     bayes, bernoulli    naive Bayes, Gaussian or on features above and below their mean
 *     knn, knn:K          the K nearest rows vote; 5, or the root of the number of rows when that is less
 *     mlp, mlp:H          one hidden layer of H tanh units; 16
 *     exec:CMD            a program of the owner's: never take this from anybody else
 * TACIT_USAGE for any other, TACIT_INPUT without rows or with a label outside 0..classes-1. */
tacit_status tacit_classifier_train(tacit_classifier **out, const char *kind, const tacit_view *rows,
                                    const tacit_training *training, tacit_error *error);

/* The class of each point, 0..classes-1. TACIT_INPUT when the points have another number of features. exec
 * runs its program here: TACIT_INPUT when that fails, takes too long or answers anything but one known label
 * a point. `labels` is untouched on failure. */
tacit_status tacit_classifier_predict(const tacit_classifier *self, const tacit_rows *points, int32_t *labels,
                                      tacit_error *error);

/* The weights of a linear classifier, else NULL: for scoring many at once. tacit_model_class of the scores is
 * the label. (An svm of more than two classes has one weight vector a class, stored as those of softmax.) */
const tacit_model *tacit_classifier_linear(const tacit_classifier *self);

tacit_classifier *tacit_classifier_free(tacit_classifier *self);

/* A list such as "tree,logistic,exec:./m.py". TACIT_USAGE names an unknown kind and lists the known;
 * TACIT_REFUSED for exec unless allowed. Commands contain no comma. */
tacit_status tacit_classifier_check(const char *list, bool allow_exec, tacit_error *error);

/* The kind of party number `party`: the list is dealt round robin. TACIT_LIMIT when it does not fit. */
tacit_status tacit_classifier_of_party(const char *list, size_t party, char *out, size_t size,
                                       tacit_error *error);

/* The list with the words of exec commands that name an existing file through a relative path with a '/' made
 * absolute, so that it means the same from any working folder. Appended to `out`. */
tacit_status tacit_classifier_settle(const char *list, tacit_buffer *out, tacit_error *error);
