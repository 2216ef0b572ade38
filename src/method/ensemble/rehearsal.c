#include "method/ensemble/rehearsal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/run.h"

enum {
    CASTS = 8,         /* choices of prototypes */
    EACH = 2,          /* prototypes of a class: real classes are not neatly apart */
    MORE = 6,          /* of every class but one, in every other cast: nor are they equally frequent */
    TRIES = 20,        /* at a cast in which every class has points enough */
    DRAWS = 4,         /* of noise, for each */
    MOST_POINTS = 600, /* rehearsed on */
    STEPS = 11,        /* lambdas: half decades from 1 down to 1e-5 */
    PATIENCE = 2,      /* steps clearly worse than the best so far before the rest are left out */
};
static const double CLEARLY = 0.02,
                    NEARLY = 0.01;     /* worse, in how much of what guessing gets wrong is labelled right */
static const double LEAST_SHARE = 0.2; /* of the points that a class would have if all were equal */

static double lambda_of(int step) { return pow(10, -0.5 * step); }

/* Of the parties, how many are pretended to say what the prototypes say: most of the way from guessing to
 * knowing. Less agreement than real parties have asks for too large a lambda, under which the commonest class
 * is all that is left of classes that are not equally frequent: with a half of the way soft and pate lost up
 * to .11 of accuracy beside the best lambda (docs/ensembles.md). */
static double agreeing(size_t classes) { return 0.8 + 0.2 / (double)classes; }

typedef struct rehearsal {
    tacit_plan plan; /* the real one, on fewer points */
    tacit_points points;
    uint32_t *index;
    int32_t *truth[CASTS];  /* of each choice of prototypes: the class of the nearest, for all points */
    double majority[CASTS]; /* what the most frequent class has of the points */
    tacit_result_cache *cache;
} rehearsal;

static tacit_status choose_points(rehearsal *self, const tacit_plan *plan, tacit_error *error) {
    size_t all = plan->points->rows.count, count = all < MOST_POINTS ? all : MOST_POINTS;
    self->index = TACIT_NEW(uint32_t, count);
    if (self->index == NULL) return tacit_fail_memory(error);
    self->points = tacit_points_some(plan->points, count, self->index);
    self->plan = *plan;
    self->plan.points = &self->points;
    return TACIT_OK;
}

/* Whose prototype the k-th is. In odd casts one class has EACH and the others MORE. */
static size_t class_of(size_t k, size_t classes, size_t cast) {
    size_t fewer = cast / 2 % classes;
    if (cast % 2 == 0) return k / EACH;
    if (k < EACH) return fewer;
    size_t other = (k - EACH) / MORE;
    return other + (other >= fewer);
}

/* Every point is given the class of the nearest of some points drawn at random; the first of equals. */
static tacit_status choose_prototypes(const rehearsal *self, tacit_stream *stream, size_t cast,
                                      tacit_error *error) {
    const tacit_rows *rows = &self->points.rows;
    size_t d = rows->cols, classes = self->plan.classes;
    size_t all = cast % 2 == 0 ? EACH * classes : EACH + MORE * (classes - 1);
    double *prototype = TACIT_NEW(double, all *d), *square = TACIT_NEW(double, all);
    if (prototype == NULL || square == NULL) {
        free(prototype);
        free(square);
        return tacit_fail_memory(error);
    }
    for (size_t k = 0; k < all; k++) {
        tacit_rows_copy(rows, tacit_stream_below(stream, rows->count), prototype + k * d);
        for (size_t j = 0; j < d; j++) square[k] += prototype[k * d + j] * prototype[k * d + j];
    }
    for (size_t i = 0; i < rows->count; i++) {
        double nearest = INFINITY;
        for (size_t k = 0; k < all; k++) {
            double distance = square[k] - 2 * tacit_rows_dot(rows, i, prototype + k * d);
            if (distance >= nearest) continue;
            nearest = distance;
            self->truth[cast][i] = (int32_t)class_of(k, classes, cast);
        }
    }
    free(prototype);
    free(square);
    return TACIT_OK;
}

/* The shares of the rarest and of the most frequent class. */
static void measure_shares(const rehearsal *self, size_t cast, double *rarest, double *most) {
    const size_t points = self->points.rows.count;
    *rarest = 1;
    *most = 0;
    for (size_t k = 0; k < self->plan.classes; k++) {
        size_t count = 0;
        for (size_t i = 0; i < points; i++) count += self->truth[cast][i] == (int32_t)k;
        *rarest = fmin(*rarest, (double)count / (double)points);
        *most = fmax(*most, (double)count / (double)points);
    }
}

/* Points that lie in a few heaps often leave a class without any: such a cast would teach nothing. */
static tacit_status make_cast(rehearsal *self, const tacit_stream *root, size_t cast, tacit_error *error) {
    double rarest = 0;
    self->truth[cast] = TACIT_NEW(int32_t, self->points.rows.count);
    if (self->truth[cast] == NULL) return tacit_fail_memory(error);
    for (uint64_t try = 0; try < TRIES && rarest < LEAST_SHARE / (double)self->plan.classes; try++) {
        tacit_stream chance = tacit_stream_fork(root, "prototypes", cast, try);
        TACIT_TRY(choose_prototypes(self, &chance, cast, error));
        measure_shares(self, cast, &rarest, &self->majority[cast]);
    }
    return TACIT_OK;
}

static tacit_status pretend_votes(const rehearsal *self, size_t cast, tacit_votes *out, tacit_error *error) {
    size_t classes = self->plan.classes, points = self->points.rows.count;
    double parties = (double)self->plan.parties, part = agreeing(classes);
    *out = (tacit_votes){ TACIT_NEW(double, points *classes), points, classes, self->plan.parties };
    if (out->count == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < points; i++)
        for (size_t k = 0; k < classes; k++)
            out->count[i * classes + k] =
                parties * ((int32_t)k == self->truth[cast][i] ? part : (1 - part) / (double)(classes - 1));
    return TACIT_OK;
}

/* Of what the most frequent class gets wrong, how much a model gets right; at least -1. */
static double agreement(const rehearsal *self, size_t cast, const tacit_model *model) {
    const tacit_rows *rows = &self->points.rows;
    size_t vectors = tacit_model_scores_per_row(model), right = 0;
    for (size_t i = 0; i < rows->count; i++) {
        size_t best = 0;
        double most = tacit_rows_dot(rows, i, model->weights);
        if (vectors == 1) best = most > 0;
        for (size_t k = 1; k < vectors; k++) {
            double score = tacit_rows_dot(rows, i, model->weights + k * rows->cols);
            if (score <= most) continue;
            most = score;
            best = k;
        }
        right += (int32_t)best == self->truth[cast][i];
    }
    double majority = self->majority[cast];
    return fmax(-1, ((double)right / (double)rows->count - majority) / fmax(1e-9, 1 - majority));
}

/* One performance: pretended votes, the method's own learning and noise, and its score. */
static tacit_status perform(rehearsal *self, tacit_ensemble_learner *learn, size_t cast,
                            const tacit_stream *noise, double *score, tacit_error *error) {
    const tacit_transport nobody = { .ask = NULL };
    tacit_session session = tacit_run_session(&self->plan, &nobody, NULL, NULL, NULL);
    tacit_votes votes = TACIT_VOTES_INIT;
    tacit_model *model = NULL;
    session.secret = *noise;
    session.cache = self->cache;
    tacit_status status = pretend_votes(self, cast, &votes, error);
    if (status == TACIT_OK) status = learn(&session, &votes, &model, error);
    if (status == TACIT_OK) *score += agreement(self, cast, model) / (CASTS * DRAWS);
    tacit_model_free(model);
    tacit_votes_clear(&votes);
    return status;
}

static tacit_status score_lambda(rehearsal *self, tacit_ensemble_learner *learn, const tacit_stream *root,
                                 double lambda, double *score, tacit_error *error) {
    *score = 0;
    self->plan.lambda = lambda;
    for (uint64_t c = 0; c < CASTS; c++)
        for (uint64_t d = 0; d < DRAWS; d++) {
            tacit_stream noise = tacit_stream_fork(root, "rehearsed noise", c, d);
            TACIT_TRY(perform(self, learn, c, &noise, score, error));
        }
    return TACIT_OK;
}

tacit_status tacit_ensemble_rehearse(const tacit_plan *plan, tacit_ensemble_learner *learn, double *lambda,
                                     tacit_error *error) {
    rehearsal self = { .index = NULL };
    tacit_stream root = tacit_stream_from_seed(0);
    double score[STEPS], best = -INFINITY;
    int steps = 0;
    tacit_status status = TACIT_OK;
    if (plan->points == NULL) return TACIT_OK; /* explained without points: the usual lambda */
    TACIT_CHECK(tacit_result_cache_create(&self.cache, error));
    TACIT_CHECK(choose_points(&self, plan, error));
    for (size_t c = 0; c < CASTS; c++) TACIT_CHECK(make_cast(&self, &root, c, error));
    for (int worse = 0; steps < STEPS && worse < PATIENCE; steps++) {
        TACIT_CHECK(score_lambda(&self, learn, &root, lambda_of(steps), &score[steps], error));
        worse = score[steps] < best - CLEARLY ? worse + 1 : 0;
        best = fmax(best, score[steps]);
    }
    /* Of those that are nearly as good as the best, the largest: it is the tamest on votes unlike the
     * pretended. */
    for (int step = steps - 1; step >= 0; step--)
        if (score[step] >= best - NEARLY) *lambda = lambda_of(step);
cleanup:
    tacit_result_cache_free(self.cache);
    free(self.index);
    for (uint64_t c = 0; c < CASTS; c++) free(self.truth[c]);
    return status;
}
