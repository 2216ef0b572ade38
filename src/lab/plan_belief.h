/*
 * Assumed rows: what the rows of a study are taken to look like before anybody has shown any. The real
 * mechanism is run on them (lab/planning.h). Three sources:
 *
 *   drawn to the schema   columns from a Gaussian law with a spectrum of 1/j, numbers around the middle of
 *                         their bounds, levels more and less frequent; labels by log-odds in random
 *                         directions, as far apart as a stated signal says
 *   like given rows       as many of them as are needed, with their own labels; where there are fewer, drawn
 *                         from them again and again, with labels from a model fitted on them, as far apart as
 *                         a model of so few rows scores on rows held out
 *
 * A signal is the AUC that the true log-odds have. Of a number or a count it is the share of the variance, or
 * of the deviance, that the true means explain.
 */
#pragma once

#include "base/pool.h"
#include "data/dataset.h"
#include "model/model.h"
#include "rand/stream.h"

/* Of rows that nothing is known about. */
#define TACIT_BELIEF_SIGNAL 0.75
#define TACIT_BELIEF_POSITIVES 0.3
#define TACIT_BELIEF_EXPLAINED 0.3

enum { TACIT_BELIEF_FEATURES = 2000 }; /* at most: assumed rows are dense */

typedef struct tacit_belief {
    const tacit_schema *schema;
    const tacit_dataset *rows; /* borrowed; NULL: drawn to the schema */
    double signal;             /* 0: TACIT_BELIEF_SIGNAL or TACIT_BELIEF_EXPLAINED, or that of the rows */
    double positives; /* share of the second of two classes; 0: TACIT_BELIEF_POSITIVES, or that of the rows */
    double *weights;  /* of the rows' own log-odds; NULL until settled, or without rows */
    double mean, sd;  /* of a number or a count, once settled */
} tacit_belief;

/* What is said of a model: the first three of classes, the others of a number or a count. */
typedef enum tacit_belief_figure {
    TACIT_BELIEF_ACCURACY,
    TACIT_BELIEF_AUC,
    TACIT_BELIEF_LOG_LOSS,
    TACIT_BELIEF_SHARE,    /* explained of the variance or the deviance: 1 - deviance/null deviance */
    TACIT_BELIEF_DEVIANCE, /* mean of a row */
    TACIT_BELIEF_FIGURES
} tacit_belief_figure;

/* Rows of one draw: the first `train` to train on, the others to test on. */
typedef struct tacit_world {
    tacit_dataset *data;
    size_t train, tests;
    double limit[TACIT_BELIEF_FIGURES]; /* of the labels' own law on the rows to test on; NaN: not known */
    double null_deviance;               /* of the tests' mean; NaN of classes */
} tacit_world;

#define TACIT_WORLD_INIT                                                                                     \
    { .data = NULL }

/* Check the belief and find what follows from its rows. TACIT_USAGE for a label that is a time, too many
 * features, a signal or share that is out of range; TACIT_INPUT for rows that are too few or of one class. */
tacit_status tacit_belief_settle(tacit_belief *belief, tacit_pool *pool, tacit_error *error);
void tacit_belief_clear(tacit_belief *belief);

/* Whether this many rows are there as they are, with their own labels. */
bool tacit_belief_has(const tacit_belief *belief, size_t train, size_t tests);

/* The rows of draw `draw` under a seed. */
tacit_status tacit_world_make(tacit_world *out, const tacit_belief *belief, size_t train, size_t tests,
                              uint64_t seed, size_t draw, tacit_error *error);
void tacit_world_clear(tacit_world *world);

/* The figures of a model's metrics on rows with such a null deviance. */
void tacit_belief_measure(double out[TACIT_BELIEF_FIGURES], const tacit_metrics *metrics,
                          double null_deviance);
