/* A simulation as `tacit simulate` runs it: methods x epsilons x trials over parties that rows are dealt
 * to. */
#pragma once

#include "api/interim_looks.h"
#include "api/partition.h"
#include "lab/simulate.h"
#include "study/stop.h"

typedef struct tacit_sweep {
    const tacit_method **methods;
    tacit_setting_value *settings;
    tacit_partition partition; /* its rows are to be set before dealing */
    tacit_ranks *ranks;        /* that share the work; NULL: this process is alone */
    tacit_pool *pool, *leader;
    tacit_run *runs;
    size_t run_count;
    tacit_model *model;
    tacit_model *given; /* by the option 'model'; NULL: none */
    tacit_simulation plan;
    tacit_stop stop;
    json_t *looks; /* what each found; NULL: there is no target */
} tacit_sweep;

#define TACIT_SWEEP_INIT                                                                                     \
    { .methods = NULL }

/* What can be said before any row is there. `arguments` are of tacit_simulate_options and must stay. */
tacit_status tacit_sweep_plan(tacit_sweep *sweep, const tacit_arguments *arguments, tacit_error *error);

/* The schema of the rows, before they are read, of methods about a model: it gets the model's terms
 * (tacit_schema_take_model). */
tacit_status tacit_sweep_take_model(const tacit_sweep *sweep, tacit_schema *schema, tacit_error *error);

/* Deal the rows out by `split`. */
tacit_status tacit_sweep_partition(tacit_sweep *sweep, const tacit_arguments *arguments,
                                   const tacit_split_plan *split, tacit_error *error);

/* Run everything. */
tacit_status tacit_sweep_run(tacit_sweep *sweep, const tacit_arguments *arguments,
                             const tacit_progress *progress, const tacit_notifier *notifier,
                             tacit_error *error);

/* TACIT_USAGE when neither `split` nor --parties says how many there are. */
tacit_status tacit_sweep_check_parties(const tacit_arguments *arguments, const tacit_split_plan *split,
                                       tacit_error *error);

json_t *tacit_sweep_document(const tacit_sweep *sweep); /* new reference; NULL: out of memory */
void tacit_sweep_clear(tacit_sweep *sweep);
