#include "lab/plan_response.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "num/special.h"
#include "rand/fast.h"

/* A number spreads over so much of its bounds, as a standard deviation on [-1, 1]; and the mean of a count is
 * such a part of its cap, which few exceed. */
static const double SPREAD = 0.35, MOST_OF_CAP = 0.125;
enum { COUNT_ROWS = 3000 }; /* on which the law of counts is found */

const tacit_family *plan_family(const tacit_schema *schema) {
    return schema->response == TACIT_RESPONSE_CLASS ? NULL : tacit_family_of(schema->response, 0);
}

tacit_status plan_take_numbers(tacit_dataset *data, tacit_error *error) {
    data->response = TACIT_NEW(double, data->rows);
    if (data->response == NULL) return tacit_fail_memory(error);
    free(data->label);
    data->label = NULL;
    return TACIT_OK;
}

double plan_null_deviance(const tacit_view *rows, const tacit_schema *schema) {
    const tacit_family *family = plan_family(schema);
    size_t count = rows->rows.count;
    double mean = 0, sum = 0;
    if (family == NULL) return NAN;
    for (size_t i = 0; i < count; i++) mean += tacit_view_response(rows, i) / (double)count;
    for (size_t i = 0; i < count; i++) sum += family->deviance(tacit_view_responses(rows, i), mean);
    return sum / (double)count;
}

double plan_null_of_tests(const tacit_world *world, const tacit_belief *belief) {
    tacit_view all = tacit_dataset_view(world->data),
               tests = tacit_view_slice(&all, world->train, world->tests);
    return plan_null_deviance(&tests, belief->schema);
}

void tacit_belief_measure(double out[TACIT_BELIEF_FIGURES], const tacit_metrics *metrics,
                          double null_deviance) {
    out[TACIT_BELIEF_ACCURACY] = metrics->accuracy;
    out[TACIT_BELIEF_AUC] = metrics->auc;
    out[TACIT_BELIEF_LOG_LOSS] = metrics->log_loss;
    out[TACIT_BELIEF_SHARE] = 1 - metrics->deviance / null_deviance;
    out[TACIT_BELIEF_DEVIANCE] = metrics->deviance;
}

/* ---- how large responses are ---- */

tacit_status plan_look_at_responses(tacit_belief *belief, tacit_error *error) {
    const tacit_dataset *rows = belief->rows;
    double square = 0;
    belief->mean = 0;
    for (size_t i = 0; i < rows->rows; i++) belief->mean += rows->response[i] / (double)rows->rows;
    for (size_t i = 0; i < rows->rows; i++) {
        double apart = rows->response[i] - belief->mean;
        square += apart * apart / (double)rows->rows;
    }
    belief->sd = sqrt(square);
    if (belief->sd > 1e-9 * (belief->schema->high - belief->schema->low)) return TACIT_OK;
    return tacit_fail(error, TACIT_INPUT, "all rows have the same '%s': nothing can be predicted from them",
                      belief->schema->label);
}

void plan_suppose_responses(tacit_belief *belief) {
    const tacit_schema *schema = belief->schema;
    bool count = schema->response == TACIT_RESPONSE_COUNT;
    belief->mean = count ? fmin(schema->high / 2, fmax(1, MOST_OF_CAP * schema->high))
                         : (schema->low + schema->high) / 2;
    belief->sd = count ? sqrt(belief->mean) : SPREAD * (schema->high - schema->low) / 2;
}

/* ---- counts ---- */

/* The count that a uniform number stands for under a Poisson law. */
static double count_of(double rate, double unit) {
    static const double MANY = 30;
    if (rate > MANY) {
        double z = -tacit_normal_tail_quantile(log(fmin(fmax(unit, 1e-12), 1 - 1e-12)));
        return fmax(0, floor(rate + sqrt(rate) * z + 0.5));
    }
    double p = exp(-rate), below = p, count = 0;
    while (unit > below && count < 10 * MANY) {
        p *= rate / ++count;
        below += p;
    }
    return count;
}

/* Rates exp(intercept + slope u), at most the cap. */
typedef struct count_law {
    double slope, intercept, cap;
} count_law;

static double rate_of(const count_law *law, double u) {
    return fmin(exp(law->intercept + law->slope * u), law->cap);
}

static void set_mean(count_law *law, const double *score, size_t count, double wanted) {
    double low = -40, high = log(law->cap);
    for (int step = 0; step < 40; step++) {
        double mean = 0;
        law->intercept = (low + high) / 2;
        for (size_t i = 0; i < count; i++) mean += rate_of(law, score[i]) / (double)count;
        if (mean < wanted)
            low = law->intercept;
        else
            high = law->intercept;
    }
}

/* The share of the deviance that the law's own rates explain, with counts from given uniform numbers. */
static double law_share(const count_law *law, const double *score, const double *unit, size_t count,
                        const tacit_family *family) {
    double mean = 0, left = 0, all = 0;
    for (size_t i = 0; i < count; i++) mean += count_of(rate_of(law, score[i]), unit[i]) / (double)count;
    for (size_t i = 0; i < count; i++) {
        double rate = rate_of(law, score[i]), value = count_of(rate, unit[i]);
        left += family->deviance(&value, rate);
        all += family->deviance(&value, mean);
    }
    return all > 0 ? 1 - left / all : 0;
}

static count_law find_count_law(const double *score, const double *unit, size_t count,
                                const tacit_belief *belief) {
    const tacit_family *family = plan_family(belief->schema);
    double low = 0, high = 4;
    count_law law = { 0, 0, belief->schema->high };
    for (int step = 0; step < 20; step++) {
        law.slope = (low + high) / 2;
        set_mean(&law, score, count, belief->mean);
        if (law_share(&law, score, unit, count, family) < belief->signal)
            low = law.slope;
        else
            high = law.slope;
    }
    return law;
}

static tacit_status draw_counts(double *mean, double *response, const double *score, size_t rows,
                                const tacit_belief *belief, tacit_stream *stream, tacit_error *error) {
    size_t used = rows < COUNT_ROWS ? rows : COUNT_ROWS;
    double *unit = TACIT_NEW(double, used);
    if (unit == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < used; i++) unit[i] = tacit_stream_unit(stream);
    count_law law = find_count_law(score, unit, used, belief);
    free(unit);
    for (size_t i = 0; i < rows; i++) {
        mean[i] = rate_of(&law, score[i]);
        response[i] = fmin(count_of(mean[i], tacit_stream_unit(stream)), belief->schema->high);
    }
    return TACIT_OK;
}

/* ---- numbers ---- */

static void draw_numbers(double *mean, double *response, const double *score, size_t rows,
                         const tacit_belief *belief, tacit_stream *stream) {
    const tacit_schema *schema = belief->schema;
    double told = belief->sd * sqrt(belief->signal), untold = belief->sd * sqrt(1 - belief->signal);
    for (size_t i = 0; i < rows; i++) {
        mean[i] = belief->mean + told * score[i];
        response[i] = fmin(fmax(mean[i] + untold * tacit_fast_normal(stream), schema->low), schema->high);
    }
}

tacit_status plan_respond(tacit_world *world, const tacit_belief *belief, const double *score,
                          tacit_stream *stream, tacit_error *error) {
    const tacit_family *family = plan_family(belief->schema);
    tacit_dataset *data = world->data;
    double *mean = TACIT_NEW(double, data->rows), left = 0;
    if (mean == NULL) return tacit_fail_memory(error);
    tacit_status status = TACIT_OK;
    if (belief->schema->response == TACIT_RESPONSE_COUNT)
        status = draw_counts(mean, data->response, score, data->rows, belief, stream, error);
    else
        draw_numbers(mean, data->response, score, data->rows, belief, stream);
    for (size_t i = world->train; status == TACIT_OK && i < data->rows; i++)
        left += family->deviance(&data->response[i], mean[i]) / (double)world->tests;
    free(mean);
    TACIT_TRY(status);
    world->null_deviance = plan_null_of_tests(world, belief);
    world->limit[TACIT_BELIEF_SHARE] = 1 - left / world->null_deviance;
    world->limit[TACIT_BELIEF_DEVIANCE] = left;
    return TACIT_OK;
}
