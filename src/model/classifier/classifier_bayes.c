/*
 * Naive Bayes. Both kinds score class k by c_k + a sum over the row's entries other than zero, so that sparse
 * rows stay cheap: the score of an empty row is in c_k. A class without rows is never predicted.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/classifier/classifier_kinds.h"

typedef struct bayes {
    tacit_classifier base;
    double *constant;  /* a class; -inf without rows */
    double *linear;    /* classes x features */
    double *quadratic; /* classes x features; Gaussian only */
    double *threshold; /* a feature; Bernoulli only */
} bayes;

static void clear_bayes(tacit_classifier *base) {
    bayes *self = (bayes *)base;
    free(self->constant);
    free(self->linear);
    free(self->quadratic);
    free(self->threshold);
}

static int32_t best_class(const double *score, size_t classes) {
    size_t best = 0;
    for (size_t k = 1; k < classes; k++)
        if (score[k] > score[best]) best = k;
    return (int32_t)best;
}

static void set_priors(bayes *self, const size_t *counts, const tacit_view *rows) {
    for (size_t k = 0; k < rows->classes; k++)
        self->constant[k] =
            counts[k] > 0 ? log((double)counts[k] / (double)rows->rows.count) : (double)-INFINITY;
}

/* ---- Gaussian ---- */

/* Sums of a class: `sum` of values, `squares` of squared deviations from the overall mean. */
static void add_moments(const tacit_view *rows, const size_t *counts, const double *mean, double *sum,
                        double *squares) {
    size_t features = rows->rows.cols;
    for (size_t i = 0; i < rows->rows.count; i++) {
        size_t k = (size_t)tacit_view_label(rows, i);
        double *s = sum + k * features, *q = squares + k * features;
        for (classifier_entries at = classifier_entries_of(&rows->rows, i); classifier_entries_next(&at);) {
            double m = mean[at.column], away = at.value - m;
            s[at.column] += at.value;
            q[at.column] += away * away - m * m; /* what a zero would have added is added for all below */
        }
    }
    for (size_t k = 0; k < rows->classes; k++)
        for (size_t j = 0; j < features; j++)
            squares[k * features + j] += (double)counts[k] * mean[j] * mean[j];
}

/* Turn sums into a_kj = -1/(2 v_kj) and b_kj = m_kj/v_kj, and add what a row of zeros scores.
 *
 * The variance of a class is smoothed by one row's worth of the feature's overall variance v_j,
 * v_kj = (sum of squared deviations + v_j)/(n_k + 1): a class with one row then has the overall spread
 * instead of none. The floor is 1e-9 of the largest overall variance. */
static void finish_class(bayes *self, size_t k, size_t rows, size_t features, const double *mean,
                         const double *variance, double floor) {
    double n = (double)rows, *linear = self->linear + k * features,
           *quadratic = self->quadratic + k * features;
    for (size_t j = 0; j < features; j++) {
        double m = linear[j] / n, away = m - mean[j];
        double squares = fmax(0, quadratic[j] - n * away * away);
        double v = fmax((squares + variance[j]) / (n + 1), floor);
        quadratic[j] = -0.5 / v;
        linear[j] = m / v;
        self->constant[k] -= 0.5 * (m * m / v + log(v));
    }
}

static void finish_gaussian(bayes *self, const tacit_view *rows, const size_t *counts, const double *mean,
                            double *variance) {
    size_t features = rows->rows.cols;
    double largest = 0;
    for (size_t k = 0; k < rows->classes; k++)
        for (size_t j = 0; j < features; j++)
            variance[j] += fmax(0, self->quadratic[k * features + j]) / (double)rows->rows.count;
    for (size_t j = 0; j < features; j++) largest = fmax(largest, variance[j]);
    double floor = largest > 0 ? fmax(1e-9 * largest, DBL_MIN) : 1;
    for (size_t k = 0; k < rows->classes; k++)
        if (counts[k] > 0) finish_class(self, k, counts[k], features, mean, variance, floor);
}

/* With room for variances, or for thresholds; NULL without memory. */
static bayes *make_bayes(const tacit_view *rows, bool gaussian) {
    size_t features = rows->rows.cols, classes = rows->classes;
    bayes *self = TACIT_NEW(bayes, 1);
    if (self == NULL) return NULL;
    self->constant = TACIT_NEW(double, classes);
    self->linear = TACIT_NEW(double, classes *features);
    if (gaussian)
        self->quadratic = TACIT_NEW(double, classes *features);
    else
        self->threshold = TACIT_NEW(double, features);
    if (self->constant != NULL && self->linear != NULL &&
        (gaussian ? self->quadratic : self->threshold) != NULL)
        return self;
    clear_bayes(&self->base);
    free(self);
    return NULL;
}

static void find_mean(const tacit_view *rows, double *mean) {
    for (size_t i = 0; i < rows->rows.count; i++) tacit_rows_add(&rows->rows, i, 1, mean);
    for (size_t j = 0; j < rows->rows.cols; j++) mean[j] /= (double)rows->rows.count;
}

static tacit_status train_gaussian(tacit_classifier **out, const char *argument, const tacit_view *rows,
                                   const tacit_training *training, tacit_error *error) {
    (void)argument;
    (void)training;
    size_t features = rows->rows.cols;
    double *mean = TACIT_NEW(double, features), *variance = TACIT_NEW(double, features);
    size_t *counts = TACIT_NEW(size_t, rows->classes);
    bayes *self = mean != NULL && variance != NULL && counts != NULL ? make_bayes(rows, true) : NULL;
    if (self != NULL) {
        classifier_count(rows, counts);
        find_mean(rows, mean);
        set_priors(self, counts, rows);
        add_moments(rows, counts, mean, self->linear, self->quadratic);
        finish_gaussian(self, rows, counts, mean, variance);
        *out = &self->base;
    }
    free(mean);
    free(variance);
    free(counts);
    return self != NULL ? TACIT_OK : tacit_fail_memory(error);
}

/* The scores of a row begin as the constants. */
typedef void add_scores(const bayes *self, const tacit_rows *points, size_t row, double *score);

static tacit_status predict(const tacit_classifier *base, add_scores *add, const tacit_rows *points,
                            int32_t *labels, tacit_error *error) {
    const bayes *self = (const bayes *)base;
    double *score = TACIT_NEW(double, base->classes);
    if (score == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < points->count; i++) {
        memcpy(score, self->constant, base->classes * sizeof *score);
        add(self, points, i, score);
        labels[i] = best_class(score, base->classes);
    }
    free(score);
    return TACIT_OK;
}

static void add_gaussian(const bayes *self, const tacit_rows *points, size_t row, double *score) {
    size_t features = self->base.features;
    for (size_t k = 0; k < self->base.classes; k++) {
        const double *a = self->quadratic + k * features, *b = self->linear + k * features;
        for (classifier_entries at = classifier_entries_of(points, row); classifier_entries_next(&at);)
            score[k] += at.value * (b[at.column] + a[at.column] * at.value);
    }
}

static tacit_status predict_gaussian(const tacit_classifier *base, const tacit_rows *points, int32_t *labels,
                                     tacit_error *error) {
    return predict(base, add_gaussian, points, labels, error);
}

/* ---- Bernoulli ---- */

/* A feature counts as on above its mean over the rows: for one-hot and bag-of-words features that is
 * "present", and features that are numbers are told low from high. */
static int is_on(const bayes *self, size_t feature, double value) { return value > self->threshold[feature]; }

/* linear[k][j] = how many rows of class k have feature j on. */
static void count_on(bayes *self, const tacit_view *rows, const size_t *counts) {
    size_t features = rows->rows.cols;
    for (size_t k = 0; k < rows->classes; k++)
        for (size_t j = 0; j < features; j++)
            self->linear[k * features + j] = is_on(self, j, 0) ? (double)counts[k] : 0;
    for (size_t i = 0; i < rows->rows.count; i++) {
        double *on = self->linear + (size_t)tacit_view_label(rows, i) * features;
        for (classifier_entries at = classifier_entries_of(&rows->rows, i); classifier_entries_next(&at);)
            on[at.column] += is_on(self, at.column, at.value) - is_on(self, at.column, 0);
    }
}

/* p = (on + 1)/(n + 2) after Laplace; linear becomes log p - log(1 - p). */
static void finish_bernoulli(bayes *self, const tacit_view *rows, const size_t *counts) {
    size_t features = rows->rows.cols;
    for (size_t k = 0; k < rows->classes; k++)
        for (size_t j = 0; j < features; j++) {
            double n = (double)counts[k], *odds = &self->linear[k * features + j], on = *odds;
            *odds = log((on + 1) / (n - on + 1));
            self->constant[k] += log((n - on + 1) / (n + 2)) + (is_on(self, j, 0) ? *odds : 0);
        }
}

static tacit_status train_bernoulli(tacit_classifier **out, const char *argument, const tacit_view *rows,
                                    const tacit_training *training, tacit_error *error) {
    (void)argument;
    (void)training;
    size_t *counts = TACIT_NEW(size_t, rows->classes);
    bayes *self = counts != NULL ? make_bayes(rows, false) : NULL;
    if (self != NULL) {
        classifier_count(rows, counts);
        find_mean(rows, self->threshold);
        set_priors(self, counts, rows);
        count_on(self, rows, counts);
        finish_bernoulli(self, rows, counts);
        *out = &self->base;
    }
    free(counts);
    return self != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static void add_bernoulli(const bayes *self, const tacit_rows *points, size_t row, double *score) {
    for (classifier_entries at = classifier_entries_of(points, row); classifier_entries_next(&at);) {
        int change = is_on(self, at.column, at.value) - is_on(self, at.column, 0);
        if (change == 0) continue;
        for (size_t k = 0; k < self->base.classes; k++)
            score[k] += change * self->linear[k * self->base.features + at.column];
    }
}

static tacit_status predict_bernoulli(const tacit_classifier *base, const tacit_rows *points, int32_t *labels,
                                      tacit_error *error) {
    return predict(base, add_bernoulli, points, labels, error);
}

const classifier_kind classifier_bayes = {
    .name = "bayes",
    .shown = "bayes",
    .train = train_gaussian,
    .predict = predict_gaussian,
    .clear = clear_bayes,
};

const classifier_kind classifier_bernoulli = {
    .name = "bernoulli",
    .shown = "bernoulli",
    .train = train_bernoulli,
    .predict = predict_bernoulli,
    .clear = clear_bayes,
};
