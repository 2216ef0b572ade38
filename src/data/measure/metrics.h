/*
 * How good predictions are. Labels are 0..K-1; with two classes label 1 is the positive one. A score or
 * margin that is NaN is TACIT_INPUT, and so are no rows at all.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

tacit_status tacit_accuracy(double *out, const int32_t *label, const int32_t *predicted, size_t count,
                            tacit_error *error);

/* The probability that a positive row scores above a negative one, ties counting half (Mann-Whitney),
 * exactly, in O(n log n). With one class only it is undefined: *out is NaN and *defined false (`defined`
 * may be NULL). */
tacit_status tacit_auc(double *out, bool *defined, const int32_t *label, const double *score, size_t count,
                       tacit_error *error);

/* The same with its standard error and a confidence interval by DeLong, DeLong and Clarke-Pearson 1988: the
 * area plus and minus a normal quantile of standard errors, cut to [0, 1]. All NaN with one class only; error
 * and interval are NaN too with a single row of a class, of which there is no variance. */
typedef struct tacit_auc_estimate {
    double area, error, low, high;
} tacit_auc_estimate;

/* `confidence` is in (0, 1), else TACIT_USAGE. */
tacit_status tacit_auc_interval(tacit_auc_estimate *out, const int32_t *label, const double *score,
                                size_t count, double confidence, tacit_error *error);

/* One point of the curve that the area is under: what part of the negative and of the positive rows scores at
 * or above a threshold. */
typedef struct tacit_roc_point {
    double negatives, positives;
} tacit_roc_point;

/* From (0, 0) to (1, 1), a point for each distinct score from the highest down, to be joined by straight
 * lines; at most `most` + 1 of them, evenly many scores apart (most >= 2). *out is allocated, for free(); no
 * points with one class only. */
tacit_status tacit_roc(tacit_roc_point **out, size_t *points, const int32_t *label, const double *score,
                       size_t count, size_t most, tacit_error *error);

/* Mean of log(1 + exp(-y t)) over margins t = w.x. */
tacit_status tacit_log_loss(double *out, const int32_t *label, const double *margin, size_t count,
                            tacit_error *error);

/* Mean of -log softmax(scores)_label; `score` is count x classes, row-major. */
tacit_status tacit_log_loss_multiclass(double *out, const int32_t *label, const double *score, size_t count,
                                       size_t classes, tacit_error *error);

/* Root of the mean of (response - mean)^2. */
tacit_status tacit_rmse(double *out, const double *response, const double *mean, size_t count,
                        tacit_error *error);
