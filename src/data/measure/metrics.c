#include "data/measure/metrics.h"

#include <math.h>

#include "base/memory.h"
#include "num/special.h"

static tacit_status no_rows(tacit_error *error) {
    return tacit_fail(error, TACIT_INPUT, "there are no rows to evaluate on");
}

static tacit_status check_scores(const double *score, size_t count, const char *what, tacit_error *error) {
    if (count == 0) return no_rows(error);
    for (size_t i = 0; i < count; i++)
        if (isnan(score[i])) return tacit_fail(error, TACIT_INPUT, "%s %zu is not a number", what, i + 1);
    return TACIT_OK;
}

tacit_status tacit_accuracy(double *out, const int32_t *label, const int32_t *predicted, size_t count,
                            tacit_error *error) {
    if (count == 0) return no_rows(error);
    size_t right = 0;
    for (size_t i = 0; i < count; i++) right += label[i] == predicted[i];
    *out = (double)right / (double)count;
    return TACIT_OK;
}

typedef struct scored {
    double score;
    bool positive;
} scored;

static int compare_scores(const void *a, const void *b) {
    double x = ((const scored *)a)->score, y = ((const scored *)b)->score;
    return (x > y) - (x < y);
}

/* Walk up the sorted scores in runs of ties, counting for each positive the negatives below it, and half of
 * those level with it. Counted in halves as integers, so the result is exact up to the last division. */
static double rank_sum(const scored *sorted, size_t count, size_t *positives) {
    uint64_t negatives_below = 0, positive_count = 0;
    long double twice = 0; /* of won pairs; 64 bits of integer would do below 3e9 rows */
    for (size_t i = 0; i < count;) {
        size_t end = i, positive = 0;
        for (; end < count && sorted[end].score == sorted[i].score; end++) positive += sorted[end].positive;
        size_t negative = end - i - positive;
        twice += (long double)positive * (long double)(2 * negatives_below + negative);
        negatives_below += negative;
        positive_count += positive;
        i = end;
    }
    *positives = positive_count;
    return (double)(twice / 2 / ((long double)positive_count * (long double)negatives_below));
}

static tacit_status sort_scores(scored **out, const int32_t *label, const double *score, size_t count,
                                tacit_error *error) {
    TACIT_TRY(check_scores(score, count, "score", error));
    scored *sorted = TACIT_NEW(scored, count);
    if (sorted == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < count; i++) sorted[i] = (scored){ score[i], label[i] == 1 };
    qsort(sorted, count, sizeof *sorted, compare_scores);
    *out = sorted;
    return TACIT_OK;
}

tacit_status tacit_auc(double *out, bool *defined, const int32_t *label, const double *score, size_t count,
                       tacit_error *error) {
    scored *sorted = NULL;
    TACIT_TRY(sort_scores(&sorted, label, score, count, error));
    size_t positives;
    double area = rank_sum(sorted, count, &positives);
    free(sorted);
    bool both = positives > 0 && positives < count;
    *out = both ? area : NAN;
    if (defined != NULL) *defined = both;
    return TACIT_OK;
}

/* Called for sorted scores, from the highest down; returns how many points there are. `step`: of the distinct
 * scores only each this many counts; `out` NULL: only count. */
static size_t walk_roc(const scored *sorted, size_t count, size_t positives, size_t step,
                       tacit_roc_point *out) {
    size_t points = 1, distinct = 0, above = 0, positive_above = 0;
    double negatives = (double)(count - positives);
    if (out != NULL) out[0] = (tacit_roc_point){ 0, 0 };
    while (above < count) {
        double score = sorted[count - 1 - above].score;
        for (; above < count && sorted[count - 1 - above].score == score; above++)
            positive_above += sorted[count - 1 - above].positive;
        if (++distinct % step != 0 && above < count) continue;
        if (out != NULL)
            out[points] = (tacit_roc_point){ (double)(above - positive_above) / negatives,
                                             (double)positive_above / (double)positives };
        points++;
    }
    return points;
}

tacit_status tacit_roc(tacit_roc_point **out, size_t *points, const int32_t *label, const double *score,
                       size_t count, size_t most, tacit_error *error) {
    scored *sorted = NULL;
    size_t positives = 0;
    *out = NULL;
    *points = 0;
    TACIT_TRY(sort_scores(&sorted, label, score, count, error));
    for (size_t i = 0; i < count; i++) positives += sorted[i].positive;
    tacit_status status = TACIT_OK;
    if (positives > 0 && positives < count) {
        size_t all = walk_roc(sorted, count, positives, 1, NULL) - 1, step = (all + most - 1) / most;
        *points = walk_roc(sorted, count, positives, step, NULL);
        *out = TACIT_NEW(tacit_roc_point, *points);
        if (*out == NULL)
            status = tacit_fail_memory(error);
        else
            walk_roc(sorted, count, positives, step, *out);
    }
    free(sorted);
    return status;
}

/* DeLong's components: of a positive row the share of negatives that it beats, of a negative row the share of
 * positives that beat it, ties half; both have the area as their mean. Sums of squared distances from it,
 * over each class. */
static void component_squares(const scored *sorted, size_t count, size_t positives, double area,
                              double squares[2]) {
    double negatives = (double)(count - positives), negative_below = 0, positive_below = 0;
    squares[0] = squares[1] = 0;
    for (size_t i = 0; i < count;) {
        size_t end = i, positive = 0;
        for (; end < count && sorted[end].score == sorted[i].score; end++) positive += sorted[end].positive;
        double here = (double)positive, others = (double)(end - i - positive);
        double beats = (negative_below + others / 2) / negatives;
        double beaten = ((double)positives - positive_below - here / 2) / (double)positives;
        squares[1] += here * (beats - area) * (beats - area);
        squares[0] += others * (beaten - area) * (beaten - area);
        negative_below += others;
        positive_below += here;
        i = end;
    }
}

tacit_status tacit_auc_interval(tacit_auc_estimate *out, const int32_t *label, const double *score,
                                size_t count, double confidence, tacit_error *error) {
    if (!(confidence > 0 && confidence < 1))
        return tacit_fail(error, TACIT_USAGE, "a confidence lies between 0 and 1, not at %g", confidence);
    scored *sorted = NULL;
    size_t positives;
    double squares[2];
    tacit_auc_estimate made = { NAN, NAN, NAN, NAN };
    TACIT_TRY(sort_scores(&sorted, label, score, count, error));
    double area = rank_sum(sorted, count, &positives), n1 = (double)positives, n0 = (double)count - n1;
    if (n1 > 0 && n0 > 0) made.area = area;
    if (n1 > 1 && n0 > 1) {
        component_squares(sorted, count, positives, area, squares);
        made.error = sqrt(squares[1] / (n1 - 1) / n1 + squares[0] / (n0 - 1) / n0);
        double reach = tacit_normal_tail_quantile(log((1 - confidence) / 2)) * made.error;
        made.low = fmax(0, area - reach);
        made.high = fmin(1, area + reach);
    }
    free(sorted);
    *out = made;
    return TACIT_OK;
}

/* log(1 + exp(-t)) without overflow. */
static double logistic_loss(double t) { return t > 0 ? log1p(exp(-t)) : -t + log1p(exp(t)); }

tacit_status tacit_log_loss(double *out, const int32_t *label, const double *margin, size_t count,
                            tacit_error *error) {
    TACIT_TRY(check_scores(margin, count, "margin", error));
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += logistic_loss(label[i] == 1 ? margin[i] : -margin[i]);
    *out = sum / (double)count;
    return TACIT_OK;
}

tacit_status tacit_log_loss_multiclass(double *out, const int32_t *label, const double *score, size_t count,
                                       size_t classes, tacit_error *error) {
    if (count == 0) return no_rows(error);
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const double *row = score + i * classes;
        TACIT_TRY(check_scores(row, classes, "score", error));
        if (label[i] < 0 || (size_t)label[i] >= classes)
            return tacit_fail(error, TACIT_INPUT, "row %zu: label %d is outside the %zu classes", i + 1,
                              label[i], classes);
        double largest = row[0], total = 0;
        for (size_t k = 1; k < classes; k++) largest = fmax(largest, row[k]);
        for (size_t k = 0; k < classes; k++) total += exp(row[k] - largest);
        sum += log(total) + largest - row[label[i]];
    }
    *out = sum / (double)count;
    return TACIT_OK;
}

tacit_status tacit_rmse(double *out, const double *response, const double *mean, size_t count,
                        tacit_error *error) {
    if (count == 0) return tacit_fail(error, TACIT_INPUT, "no rows to evaluate on");
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (response[i] - mean[i]) * (response[i] - mean[i]);
    if (isnan(sum)) return tacit_fail(error, TACIT_INPUT, "a prediction is not a number");
    *out = sqrt(sum / (double)count);
    return TACIT_OK;
}
