/* What the files of lab/planning.h share. */
#pragma once

#include "lab/planning.h"

/* How much is played: cells of a world, rows to train and to test on, worlds, draws of noise in each. */
typedef struct plan_effort {
    double cells;
    size_t most_rows, tests, worlds, trials;
} plan_effort;

/* What the work needs everywhere. */
typedef struct plan_looking {
    const tacit_outlook_request *request;
    tacit_belief belief;
    plan_effort effort;
    tacit_progress cancelling; /* asks whether to go on, and reports nothing */
    uint64_t done, steps;
} plan_looking;

/* Sums over draws of each figure. */
typedef struct plan_tally {
    double count, sum[TACIT_BELIEF_FIGURES], square[TACIT_BELIEF_FIGURES];
} plan_tally;

/* All trials of a run on a world, moved by what thinning took. */
void plan_add_run(plan_tally *self, const tacit_run *run, const tacit_world *world,
                  const double moved[TACIT_BELIEF_FIGURES]);

/* What a fit makes small: log-loss, or deviance. */
double plan_loss_of_run(const tacit_run *run);
tacit_outlook_metrics plan_metrics_of(const plan_tally *self);

/* The rows of draw `draw` for this many rows and parties, thinned where they are many. */
tacit_status plan_make_world(const plan_looking *self, tacit_world *out, size_t rows, size_t parties,
                             size_t draw, tacit_error *error);

/* A plan on a world, its rows dealt out evenly. */
tacit_status plan_play(plan_looking *self, const tacit_world *world, const tacit_plan *plan, size_t trials,
                       size_t draw, tacit_run *run, tacit_error *error);

/* A site alone, of `each` rows or, where these are more than the world has, what that many would do. */
tacit_status plan_look_at_alone(const plan_looking *self, const tacit_world *world, size_t each,
                                plan_tally *alone, tacit_error *error);

/* All rows pooled, and by how much the figures of `all` rows differ from those of the world's. */
tacit_status plan_look_at_pooled(const plan_looking *self, const tacit_world *world, size_t all,
                                 plan_tally *pooled, double moved[TACIT_BELIEF_FIGURES], tacit_error *error);
