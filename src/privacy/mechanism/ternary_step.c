#include "privacy/mechanism/ternary_step.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { GRID_BITS = 20 };
#define SUM_MOST 0x1p31
#define BOUND_MOST 0x1p41 /* with noise: 61 bits on the grid, and 20,000 scales of the largest noise */

#define PAPER(e, q, n, by_basic, by_advanced)                                                                \
    { .step = { 14312, n, e, q }, .basic = by_basic, .advanced = by_advanced }

const tacit_ternary_row tacit_ternary_table[TACIT_TERNARY_TABLE_ROWS] = {
    PAPER(0.1, 0.01, 1431, "3.01", "0.37"),   PAPER(0.1, 0.01, 2862, "6.02", "0.52"),
    PAPER(0.1, 0.05, 1431, "15.01", "1.88"),  PAPER(0.1, 1, 14312, "2862.4", "410.1"),
    PAPER(0.5, 0.01, 1431, "18.50", "2.35"),  PAPER(0.5, 0.01, 2862, "37.01", "3.39"),
    PAPER(0.5, 0.05, 1431, "91.35", "13.97"), PAPER(0.5, 1, 14312, "14312.4", "9830.1"),
};

/* ---- what a step costs ---- */

double tacit_ternary_weight(size_t size, size_t kept) {
    size_t chosen = kept < size - kept ? kept : size - kept;
    return 2 * (double)chosen + (double)kept;
}

/* ln(1 + q(e^x - 1)) for x of either sign, without overflow. */
static double amplified(double q, double x) {
    return x > 1 ? x + log(q + (1 - q) * exp(-x)) : log1p(q * expm1(x));
}

double tacit_ternary_cost(const tacit_ternary *step, tacit_adjacency adjacency) {
    double whole = tacit_ternary_weight(step->size, step->kept) * step->epsilon, q = step->sampling;
    if (isinf(whole)) return INFINITY;
    double cost = amplified(q, whole);
    if (adjacency == TACIT_REPLACE) cost -= q < 1 ? amplified(q, -whole) : -whole;
    return cost * (1 + 32 * DBL_EPSILON);
}

tacit_event tacit_ternary_event(const tacit_ternary *step, uint64_t count) {
    double cost = tacit_ternary_cost(step, TACIT_REPLACE);
    tacit_event event = tacit_event_replaced(tacit_event_pure(cost, count));
    if (!(cost <= TACIT_EVENT_EPSILON_MOST) || tacit_event_check(&event, NULL) != TACIT_OK) event.count = 0;
    return event;
}

/* Steps beyond what accountants take compose by adding up. */
tacit_status tacit_ternary_compose(tacit_price *out, const tacit_ternary *step, uint64_t count, double delta,
                                   tacit_error *error) {
    double sum = tacit_ternary_cost(step, TACIT_REPLACE) * (double)count * (1 + DBL_EPSILON);
    tacit_event event = tacit_ternary_event(step, count);
    tacit_accountant *accountant = NULL;
    tacit_spending spent = { .epsilon = INFINITY };
    tacit_status status = TACIT_OK;
    if (delta > 0 && event.count > 0) {
        TACIT_CHECK(tacit_accountant_create(&accountant, TACIT_REPLACE, error));
        TACIT_CHECK(tacit_accountant_add(accountant, &event, error));
        TACIT_CHECK(tacit_accountant_epsilon(&spent, accountant, delta, error));
    }
    *out = spent.epsilon < sum ? (tacit_price){ TACIT_UNIT_RECORD, spent.epsilon, delta }
                               : (tacit_price){ TACIT_UNIT_RECORD, sum, 0 };
cleanup:
    tacit_accountant_free(accountant);
    return status;
}

/* The cost of a step grows with epsilon, so the largest that is cheap enough is found by halving. */
static double within_step(const tacit_ternary *step, double most) {
    tacit_ternary tried = *step;
    double low = 0, high = 1;
    for (tried.epsilon = high; tacit_ternary_cost(&tried, TACIT_REPLACE) <= most && high < 1e6;
         tried.epsilon = high *= 2)
        low = high;
    for (int i = 0; i < 200 && high - low > 1e-15 * high; i++) {
        tried.epsilon = low + (high - low) / 2;
        if (tacit_ternary_cost(&tried, TACIT_REPLACE) <= most)
            low = tried.epsilon;
        else
            high = tried.epsilon;
    }
    return low;
}

tacit_status tacit_ternary_calibrate(double *out, const tacit_ternary *step, uint64_t count, double epsilon,
                                     double delta, tacit_error *error) {
    double most = epsilon / (double)count * (1 - 2 * DBL_EPSILON), composed = 0;
    if (delta > 0 && count > 1) {
        tacit_event one = tacit_event_replaced(tacit_event_pure(1, count));
        TACIT_TRY(tacit_noise_for(&composed, &one, TACIT_REPLACE, epsilon, delta, error));
        most = fmax(most, composed);
    }
    double found = within_step(step, most);
    if (!(found >= TACIT_TERNARY_EPSILON_LEAST))
        return tacit_fail(error, TACIT_USAGE,
                          "%llu steps that each choose %zu of %zu coordinates leave epsilon %.2g to each: "
                          "take fewer steps, fewer coordinates or a larger epsilon",
                          (unsigned long long)count, step->kept, step->size, found);
    *out = found;
    return TACIT_OK;
}

tacit_ternary_claim tacit_ternary_printed(const tacit_ternary *step, double delta) {
    double n = (double)step->kept, each = amplified(step->sampling, step->epsilon);
    return (tacit_ternary_claim){ 2 * n * each,
                                  sqrt(4 * n * -log(delta)) * each + 2 * n * each * expm1(each) };
}

/* ---- the step ---- */

static tacit_status check(const tacit_ternary *step, const double *sum, tacit_error *error) {
    if (step->kept == 0 || step->kept > step->size)
        return tacit_fail(error, TACIT_USAGE, "nobody can keep %zu of %zu coordinates", step->kept,
                          step->size);
    if (!(step->epsilon >= TACIT_TERNARY_EPSILON_LEAST))
        return tacit_fail(error, TACIT_USAGE,
                          "epsilon of a coordinate is %g: give a number from %g, or infinity, to have noise",
                          step->epsilon, TACIT_TERNARY_EPSILON_LEAST);
    for (size_t j = 0; j < step->size; j++)
        if (!(fabs(sum[j]) < SUM_MOST) || ldexp(sum[j], GRID_BITS) != rint(ldexp(sum[j], GRID_BITS)))
            return tacit_fail(error, TACIT_INPUT, "coordinate %zu is no multiple of 2^-%d below 2^31", j + 1,
                              GRID_BITS);
    return TACIT_OK;
}

/* Laplace noise of scale 1/epsilon on each number, rounded to the grid. What is promised of it is this file's
 * business. */
static tacit_status add_noise(tacit_noised **out, const tacit_noise_source *source, double epsilon,
                              const double *values, size_t count, tacit_error *error) {
    const tacit_mechanism each = { TACIT_LAW_LAPLACE, 1, { TACIT_UNIT_RECORD, epsilon, 0 } };
    return tacit_mechanism_release(out, source, &each, values, count, GRID_BITS, BOUND_MOST, error);
}

static void exchange(int64_t *a, int64_t *b) {
    int64_t kept = *a;
    *a = *b;
    *b = kept;
}

/* The n-th largest; reorders the values. Hoare's FIND with the median of three. */
static int64_t nth_largest(int64_t *v, size_t count, size_t n) {
    size_t low = 0, high = count - 1, at = n - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2, i = low, j = high;
        if (v[middle] > v[low]) exchange(&v[middle], &v[low]);
        if (v[high] > v[low]) exchange(&v[high], &v[low]);
        if (v[high] > v[middle]) exchange(&v[high], &v[middle]);
        int64_t pivot = v[middle];
        for (;;) { /* down to j all are at least the pivot, from i on at most */
            while (v[i] > pivot) i++;
            while (v[j] < pivot) j--;
            if (i >= j) break;
            exchange(&v[i++], &v[j--]);
        }
        if (at <= j)
            high = j;
        else
            low = j + 1;
    }
    return v[at];
}

/* Mark the n largest with 1, the lower index first among equals. */
static void mark_largest(int8_t *out, const int64_t *values, size_t count, size_t n, int64_t threshold) {
    size_t above = 0;
    for (size_t j = 0; j < count; j++) above += values[j] > threshold;
    size_t equal = n - above;
    for (size_t j = 0; j < count; j++) {
        out[j] = values[j] > threshold;
        if (values[j] == threshold && equal > 0) {
            out[j] = 1;
            equal--;
        }
    }
}

/* Algorithm 3; all are chosen, without noise, when n = d. */
static tacit_status choose(int8_t *out, const tacit_noise_source *source, const tacit_ternary *step,
                           const double *sum, tacit_error *error) {
    size_t size = step->size;
    tacit_noised *noised = NULL;
    double *magnitude = NULL;
    int64_t *order = NULL;
    tacit_status status = TACIT_OK;
    if (step->kept == size) {
        memset(out, 1, size);
        return TACIT_OK;
    }
    magnitude = TACIT_NEW(double, size);
    order = TACIT_NEW(int64_t, size);
    if (magnitude == NULL || order == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t j = 0; j < size; j++) magnitude[j] = fabs(sum[j]);
    TACIT_CHECK(add_noise(&noised, source, step->epsilon, magnitude, size, error));
    memcpy(order, tacit_noised_steps(noised), size * sizeof *order);
    mark_largest(out, tacit_noised_steps(noised), size, step->kept, nth_largest(order, size, step->kept));
cleanup:
    tacit_noised_free(noised);
    free(magnitude);
    free(order);
    return status;
}

tacit_status tacit_ternary_release(int8_t *out, tacit_noise *grade, const tacit_noise_source *source,
                                   const tacit_ternary *step, const double *sum, tacit_error *error) {
    tacit_noised *noised = NULL;
    double *chosen = NULL;
    int8_t *marks = NULL;
    tacit_status status;
    TACIT_CHECK(check(step, sum, error));
    marks = TACIT_NEW(int8_t, step->size);
    chosen = TACIT_NEW(double, step->kept);
    if (marks == NULL || chosen == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(choose(marks, source, step, sum, error));
    for (size_t j = 0, i = 0; j < step->size; j++)
        if (marks[j] != 0) chosen[i++] = sum[j];
    TACIT_CHECK(add_noise(&noised, source, step->epsilon, chosen, step->kept, error));
    for (size_t j = 0, i = 0; j < step->size; j++)
        if (marks[j] != 0) marks[j] = tacit_noised_steps(noised)[i++] >= 0 ? 1 : -1;
    memcpy(out, marks, step->size);
    *grade = tacit_noised_grade(noised);
cleanup:
    tacit_noised_free(noised);
    free(chosen);
    free(marks);
    return status;
}
