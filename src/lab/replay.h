/*
 * Sensitivity replay: run a method on neighbouring data with the same randomness and no noise, and compare
 * how far its output moves with the L2 sensitivity it declares. A ratio above 1 refutes the declaration; a
 * ratio far below 1 over adversarial pairs says that the noise is larger than any known pair needs.
 */
#pragma once

#include "data/split.h"
#include "session/local/local.h"

/* What of an outcome the noise law's sensitivity speaks of. */
typedef enum tacit_statistic {
    TACIT_STATISTIC_SUM,   /* the models' weights times the number of parties: noise on a sum, then a mean */
    TACIT_STATISTIC_MODEL, /* the weights as they are published */
    TACIT_STATISTIC_PUBLISHED /* all that the session published, noise included: what it adds noise to */
} tacit_statistic;

/* A data set, its neighbour, and the plan both are used under. */
typedef struct tacit_pair {
    tacit_plan plan;
    tacit_statistic statistic;
    tacit_dataset *data[2];
    tacit_split *split; /* of both: a neighbour has replaced rows, not more or fewer */

    /* Auxiliary points, NULL without; the second is NULL unless the neighbour has a point replaced too. */
    tacit_dataset *auxiliary[2];
    tacit_points points[2]; /* of them, by tacit_pair_ready */
} tacit_pair;

#define TACIT_PAIR_INIT                                                                                      \
    { .data = { NULL, NULL }, .split = NULL }

void tacit_pair_clear(tacit_pair *pair);

/* Once the pair is filled: make its points, and check the plan. */
tacit_status tacit_pair_ready(tacit_pair *pair, tacit_error *error);

/* The plan with the points of one side; borrows the pair. */
tacit_plan tacit_pair_plan(const tacit_pair *pair, int side);

/* The same rows again, for a neighbour to be made of: dense rows, without groups. */
tacit_status tacit_pair_copy(tacit_dataset **out, const tacit_dataset *dataset, tacit_error *error);

/* Run a plan over the parties of one data set and put the statistic into *out (owned by the caller), *length
 * numbers. */
tacit_status tacit_pair_run(double **out, size_t *length, tacit_local *local, const tacit_plan *plan,
                            tacit_statistic statistic, const tacit_stream *seed, tacit_error *error);

/* Make pair `number`, which needs not be ready; `out` starts as TACIT_PAIR_INIT and is cleared by the caller,
 * also on failure. Data and split may not be shared between pairs. */
typedef tacit_status tacit_pair_maker(void *context, size_t number, tacit_pair *out, tacit_error *error);

typedef struct tacit_replay {
    double ratio;    /* the largest shift/declared of all pairs */
    double shift;    /* of that pair: L2 distance of the two statistics */
    double declared; /* of that pair: tacit_plan_noise(plan).sensitivity */
    size_t pair;     /* its number */
} tacit_replay;

/* Replay `count` pairs, each once; the same result on any number of threads. Makers must be safe to call from
 * several threads when there is a pool. TACIT_USAGE for a method without a noise law. */
tacit_status tacit_replay_run(tacit_replay *out, tacit_pair_maker *make, void *context, size_t count,
                              uint64_t seed, tacit_pool *pool, tacit_error *error);
