#include "lab/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/growing.h"
#include "base/memory.h"
#include "data/schema/text.h"
#include "method/neighbours/neighbours.h"

void tacit_trace_clear(tacit_trace *trace) {
    if (trace == NULL) return;
    free(trace->points);
    *trace = (tacit_trace)TACIT_TRACE_INIT;
}

bool tacit_trace_applies(const tacit_method *method) { return method->schedule != NULL; }

tacit_status tacit_trace_csv(const tacit_trace *trace, tacit_buffer *out, tacit_error *error) {
    static const char heading[] = "curve,round,disagreement,distance,gap\n";
    TACIT_TRY(tacit_buffer_append(out, heading, sizeof heading - 1, error));
    for (size_t i = 0; i < trace->count; i++) {
        const tacit_trace_point *point = &trace->points[i];
        char line[4 * TACIT_NUMBER_TEXT + 128], numbers[3][TACIT_NUMBER_TEXT];
        int length = snprintf(
            line, sizeof line, "\"%.80s\",%llu,%s,%s,%s\n", point->curve, (unsigned long long)point->round,
            tacit_number_to_text(point->disagreement, numbers[0]),
            tacit_number_to_text(point->distance, numbers[1]), tacit_number_to_text(point->gap, numbers[2]));
        TACIT_TRY(tacit_buffer_append(out, line, (size_t)length, error));
    }
    return TACIT_OK;
}

uint64_t tacit_trace_reached(const tacit_trace_point *end, double reach) {
    uint64_t round = end->round + 1;
    for (const tacit_trace_point *at = end; at->distance + at->disagreement <= reach; at--) {
        round = at->round;
        if (round == 0) break;
    }
    return round;
}

/* ---- watching ---- */

struct tacit_tracer {
    tacit_round_watch watch;
    tacit_trace *trace;
    const tacit_local *local;
    const tacit_plan *plan;
    const tacit_dataset *dataset;
    const tacit_split *split;
    tacit_pool *pool;
    uint64_t round;
    bool has_optimum;
    size_t stretch;  /* of the run, whose optimum this is */
    uint32_t *index; /* the rows in use */
    size_t rows;
    double *row_weight; /* of each stored row; NULL: all the same */
    double *optimum, *mean;
    size_t count;
    double least; /* F(w*) */
};

static tacit_glm_problem pooled_problem(const tacit_tracer *self) {
    tacit_view used = tacit_dataset_subset(self->dataset, self->index, self->rows);
    return (tacit_glm_problem){ .loss = &tacit_neighbours_family(self->plan)->loss,
                                .x = used.rows,
                                .label = used.label,
                                .weight = self->row_weight,
                                .classes = self->plan->classes,
                                .lambda = self->plan->lambda };
}

static void gather_rows(tacit_tracer *self) {
    self->rows = 0;
    for (size_t k = 0; k < self->split->parts; k++) {
        tacit_view all = tacit_split_view(self->split, self->dataset, k);
        tacit_view used = tacit_neighbours_rows(self->plan, &all, self->stretch);
        double parties = (double)self->split->parts;
        for (size_t i = 0; i < used.rows.count; i++) {
            size_t stored = tacit_rows_stored(&used.rows, i);
            self->index[self->rows++] = (uint32_t)stored;
            if (self->row_weight != NULL) self->row_weight[stored] = 1 / (parties * (double)used.rows.count);
        }
    }
}

/* As exact as the certificate allows: |w - w*| <= tolerance/lambda. */
static tacit_status find_optimum(tacit_tracer *self, tacit_error *error) {
    static const double FINEST = 1e-13, COARSEST = 1e-5;
    gather_rows(self);
    tacit_glm_problem problem = pooled_problem(self);
    tacit_glm_settings settings = tacit_glm_defaults();
    tacit_glm_fit fit;
    settings.pool = self->pool;
    for (double distance = FINEST;; distance *= 10) {
        tacit_error unread = TACIT_ERROR_INIT;
        settings.gradient_tolerance = distance * self->plan->lambda;
        tacit_status status = tacit_glm_solve(&problem, &settings, self->optimum, &fit, &unread);
        if (status == TACIT_OK) break;
        if (status != TACIT_NOT_CONVERGED || distance > COARSEST)
            return tacit_fail(error, status, "%s", unread.text);
    }
    self->least = fit.objective;
    self->has_optimum = true;
    return TACIT_OK;
}

static double distance(const double *a, const double *b, size_t count) {
    double square = 0;
    for (size_t j = 0; j < count; j++) square += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(square);
}

static tacit_status measure(tacit_tracer *self, tacit_trace_point *out, tacit_error *error) {
    size_t parties = self->split->parts;
    tacit_glm_problem problem = pooled_problem(self);
    tacit_glm_fit at_mean;
    const double *word;
    memset(self->mean, 0, self->count * sizeof *self->mean);
    for (size_t k = 0; k < parties; k++) {
        const tacit_message *said = tacit_local_word(self->local, k);
        if (said == NULL) return tacit_fail(error, TACIT_INTERNAL, "party %zu has said nothing", k + 1);
        TACIT_TRY(tacit_message_numbers(said, "weights", self->count, &word, error));
        for (size_t j = 0; j < self->count; j++) self->mean[j] += word[j] / (double)parties;
    }
    out->disagreement = 0;
    for (size_t k = 0; k < parties; k++) {
        TACIT_TRY(
            tacit_message_numbers(tacit_local_word(self->local, k), "weights", self->count, &word, error));
        out->disagreement = fmax(out->disagreement, distance(word, self->mean, self->count));
    }
    TACIT_TRY(tacit_glm_certify(&problem, self->pool, self->mean, NULL, &at_mean, error));
    out->distance = distance(self->mean, self->optimum, self->count);
    out->gap = fmax(0, at_mean.objective - self->least);
    return TACIT_OK;
}

static tacit_status round_is_over(void *context, tacit_error *error) {
    tacit_tracer *self = context;
    tacit_trace *trace = self->trace;
    size_t stretch = tacit_neighbours_stretch(self->plan, self->round);
    if (!self->has_optimum || stretch != self->stretch) {
        self->stretch = stretch;
        TACIT_TRY(find_optimum(self, error));
    }
    tacit_trace_point *grown =
        tacit_grow_by_one(trace->points, trace->count, &trace->capacity, 1024, sizeof *grown);
    if (grown == NULL) return tacit_fail_memory(error);
    trace->points = grown;
    tacit_trace_point point = { .curve = self->plan->method->name, .round = self->round };
    TACIT_TRY(measure(self, &point, error));
    trace->points[trace->count++] = point;
    self->round++;
    return TACIT_OK;
}

tacit_status tacit_tracer_create(tacit_tracer **out, tacit_trace *trace, const tacit_local *local,
                                 const tacit_plan *plan, const tacit_dataset *dataset,
                                 const tacit_split *split, tacit_pool *pool, tacit_error *error) {
    if (!tacit_neighbours_family(plan)->loss.of_classes)
        return tacit_fail(
            error, TACIT_USAGE,
            "the option 'trace' measures the distance to an optimum that is certified, which there is for "
            "labels with classes only: leave it out");
    tacit_tracer *self = TACIT_NEW(tacit_tracer, 1);
    if (self == NULL) return tacit_fail_memory(error);
    bool weighs_parties = tacit_neighbour_settings_of(plan)->weigh == TACIT_WEIGH_BY_PARTIES;
    *self = (tacit_tracer){ .watch = { round_is_over, self },
                            .trace = trace,
                            .local = local,
                            .plan = plan,
                            .dataset = dataset,
                            .split = split,
                            .pool = pool };
    self->count = plan->classes > 2 ? plan->classes * plan->features : plan->features;
    self->index = TACIT_NEW(uint32_t, split->start[split->parts]);
    self->row_weight = weighs_parties ? TACIT_NEW(double, dataset->rows) : NULL;
    self->optimum = TACIT_NEW(double, self->count);
    self->mean = TACIT_NEW(double, self->count);
    if (self->index == NULL || (weighs_parties && self->row_weight == NULL) || self->optimum == NULL ||
        self->mean == NULL) {
        tacit_tracer_free(self);
        return tacit_fail_memory(error);
    }
    *out = self;
    return TACIT_OK;
}

tacit_tracer *tacit_tracer_free(tacit_tracer *tracer) {
    if (tracer == NULL) return NULL;
    free(tracer->index);
    free(tracer->row_weight);
    free(tracer->optimum);
    free(tracer->mean);
    free(tracer);
    return NULL;
}

const tacit_round_watch *tacit_tracer_watch(const tacit_tracer *tracer) { return &tracer->watch; }
