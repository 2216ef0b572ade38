/*
 * Sweeps in one process: methods x epsilons x trials over simulated parties. The split is made once and
 * local models are trained once; trials differ in their noise. Everything follows from one seed, on any
 * number of threads, and of ranks when parties are spread over several: then every rank calls with the same
 * simulation, and rank 0, which alone needs test and target rows, has the result.
 */
#pragma once

#include "data/split.h"
#include "lab/trace.h"
#include "method/methods.h"
#include "session/local/local.h"

typedef struct tacit_setting_value {
    const char *name, *value;
} tacit_setting_value;

/* One of several ways to run methods in a sweep. */
enum { TACIT_VARIANT_SETTINGS = 8 };
typedef struct tacit_variant {
    const char *method;
    const char *label; /* NULL: the method's name */
    /* up to the first without a name; the method must know them */
    tacit_setting_value settings[TACIT_VARIANT_SETTINGS];
    double delta, lambda;
    bool pooled; /* one party has all rows */
    size_t only; /* one party is asked, by its number from 1; 0: all */
    /* of several models the one with the best accuracy counts, not their mean: a yardstick that looks at the
     * test rows */
    bool best;
    double epsilon; /* its own, at which alone it runs; 0: those of the sweep */
} tacit_variant;

typedef struct tacit_simulation {
    const tacit_dataset *dataset;
    const tacit_schema *schema; /* of the dataset; NULL: unknown, and methods that need it refuse */
    const tacit_split *split;   /* the parties' rows */
    tacit_view test;
    /* public points for the methods that need them, no rows when there are none; labels are never read */
    tacit_view auxiliary;
    const tacit_model *model; /* a public one, for methods that are about one; NULL: none */
    tacit_view target;        /* rows of whoever runs the coordinator's half; no rows: it has none */
    const tacit_method *const *methods;
    size_t method_count;
    /* one for each of `methods`, instead of delta and lambda below, and with settings of its own; or NULL */
    const tacit_variant *variants;
    const double *epsilons;
    size_t epsilon_count;
    double delta, lambda;                /* lambda 0: each method chooses one from public quantities */
    bool without_lambda;                 /* 0 was said, and means none */
    const tacit_setting_value *settings; /* each must be known to at least one of the methods */
    size_t setting_count;
    size_t trials;
    uint64_t most_rounds; /* of methods that stop early, and where they do; 0: as they are set */
    double enough;
    size_t minimum_rows;    /* declared; 0: what the smallest party has */
    size_t minimum_parties; /* declared; 0: 1 */
    /* of all parties together, that rounds and ridge are chosen for; 0: those that there are */
    size_t expected_rows;
    double dropouts,
        colluders; /* fractions of the parties that shares of noise allow for; none does either */
    uint64_t seed;
    const char *folder; /* of an experiment that reads rows itself: where they are; else NULL */
    bool full;          /* it takes as long as the paper's */
    bool named;         /* this setup was asked for by its name */
    bool goes_on;       /* a method that refuses keeps the others from nothing: see tacit_run.failed */
    tacit_trace *trace; /* receives the rounds of methods without a center; NULL: nobody looks */
    tacit_pool *pool;
    tacit_pool *leader; /* for what is done while parties wait; NULL: pool */
    const tacit_progress *progress;
    /* with ranks: the parties of this one, whose rows alone need to be here; no variants then */
    tacit_party_range range;
} tacit_simulation;

typedef struct tacit_spread {
    double mean, sd; /* NaN where the metric does not apply; sd 0 for one trial */
} tacit_spread;

/* One method at one epsilon. */
typedef struct tacit_run {
    const tacit_method *method;
    const char *label; /* of its variant, or the method's name */
    double epsilon, delta, lambda;
    tacit_lambda_from lambda_from;
    size_t trials;
    const char *noise; /* tacit_plan_noise_by of its plan */
    size_t colluders;  /* among the parties, that shares of noise allow for; 0 with other noise */
    tacit_spread accuracy, auc, log_loss;
    tacit_spread rmse, deviance; /* of a numeric response */
    tacit_price charged;         /* what the parties' ledgers hold after one trial */
    tacit_price claimed;
    double seconds; /* all trials, without evaluating */
    uint64_t rounds, bytes_per_party;
    size_t parties; /* that answered */
    size_t refusals;
    char refusal[TACIT_ERROR_TEXT_SIZE]; /* why the first refused */
    /* of what the models say, as far as released numbers tell: mean over trials; 0: not known */
    double noise_share;
    /* of trials whose table of coefficients has none at this price the share, and about what, in their mean,
     * would bring one: rows, or an epsilon */
    double not_estimable, needs_rows, needs_epsilon;
    bool one_class;                        /* in every trial each test row got the same class */
    char remark[TACIT_HOPELESS_SIZE + 96]; /* what is to be said of it: a warning, or "" */
    bool hopeless;                         /* the remark says that nothing can come of the plan */
    tacit_error failed;                    /* why there are no figures; TACIT_OK where there are */
} tacit_run;

/* The only epsilon that a method runs at: infinity for one without noise, or that of its variant (which may
 * be NULL). 0: all of the sweep. */
double tacit_variant_epsilon(const tacit_method *method, const tacit_variant *variant);

/* How many runs a simulation has: a noise-free method appears once. */
size_t tacit_simulation_runs(const tacit_simulation *simulation);

/* Fill `runs`, tacit_simulation_runs of them. `model` (may be NULL) receives the model of the last run's
 * first trial. Where a simulation goes on, it fails only when every run did, as the first of them.
 */
tacit_status tacit_simulate(const tacit_simulation *simulation, tacit_run *runs, tacit_model **model,
                            tacit_error *error);
