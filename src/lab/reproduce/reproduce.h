/*
 * Experiments of the papers, run again: figures of ours beside what the paper prints. An experiment is a
 * table entry in a file of its own (reproduce_*.c): where its rows come from, how they are dealt out, which
 * methods run, and the numbers in the paper's text. Everything follows from one seed.
 */
#pragma once

#include "lab/reproduce/material.h"
#include "lab/simulate.h"

/* One point of the x-axis, or one panel: how the rows are dealt out. */
typedef struct tacit_setup {
    const char *panel; /* "M = 5,000", or "number of parties" when several setups share a panel */
    const char *name;  /* of this setup in its panel, e.g. "K = 10"; NULL: the panel has only this one */
    size_t parties;
    const char *split; /* as `tacit simulate --split` has it */
} tacit_setup;

/* What a setup changes besides. */
typedef struct tacit_adjustment {
    /* of the methods that know it, in curves that do not set it themselves; no name: none */
    tacit_setting_value setting;
    size_t rows; /* of all parties; 0: as the experiment says */
} tacit_adjustment;
/* Settings that come with a setup, for the methods that have them; up to the first without a name. */
typedef tacit_setting_value tacit_setup_settings[2];

/* A number that the paper's text gives. */
typedef struct tacit_printed {
    size_t setup;      /* in the experiment's list */
    const char *curve; /* by its label */
    double epsilon;    /* INFINITY for 1/epsilon = 0 and for methods without noise */
    double value;      /* an accuracy, or an error or AUC where the experiment shows these */
} tacit_printed;

/* One side of a claim. */
typedef struct tacit_claim_side {
    const char *curve; /* by its label; NULL: the number `plus` */
    double epsilon;    /* 0: each of the experiment's in turn, the same on both sides */
    const char *setup; /* by its name; NULL: each in turn, the same on both sides */
    double plus;       /* is added to the curve's number before the two are compared */
} tacit_claim_side;

/* What the paper says in words, as "above >= below"; lab/reproduce/verdict.h checks it. */
typedef struct tacit_claim {
    const char *says;
    tacit_claim_side above, below;
    const char *why; /* it does not hold here, where that is known; NULL: the figures speak for themselves */
    bool mostly;     /* in more than half of the cases; else in all */
    bool ours;       /* no paper says it: it is about a method or constant of ours */
} tacit_claim;

/* What makes a run quick, or as long as the paper's. */
typedef struct tacit_effort {
    size_t repeats;   /* rows are drawn and dealt out again so often */
    size_t trials;    /* noise is drawn so often in each */
    size_t test_rows; /* at most this many are evaluated on; 0: all */
} tacit_effort;

typedef struct tacit_reading_context {
    const char *folder; /* TACIT_DATA; NULL: not set */
    size_t repeat;
    tacit_stream stream; /* for generated rows */
    tacit_strip strip;   /* what texts are read without */
    const tacit_progress *progress;
} tacit_reading_context;

typedef struct tacit_experiment {
    const char *id;               /* "hamm-fig2" */
    const char *paper;            /* authors and year */
    const char *figure;           /* "figure 2" */
    const char *title;            /* what it shows */
    const char *differs;          /* where ours differs from the paper's experiment */
    const char *says;             /* what the paper's text says in words; NULL: nothing more */
    const char *source;           /* where the rows can be had */
    const tacit_data_file *files; /* ends with a NULL name */
    const tacit_variant *curves;  /* ends with a NULL method; a name that is no method is an error */
    const tacit_setup *setups;
    size_t setup_count;
    const tacit_adjustment *adjustments; /* one for each setup; NULL: none */
    const tacit_setup_settings *also;    /* one for each setup, or NULL */
    const double *epsilons;
    size_t epsilon_count;
    size_t rows_each;      /* of a party; 0: all training rows are dealt out */
    size_t auxiliary_rows; /* of the training rows, public */
    size_t folds;          /* repeat r tests on the r-th of this many parts; 0: other test rows */
    size_t held_out_rows;  /* test rows taken from the training rows of each repeat; 0: none, or folds */
    size_t dimensions;     /* principal components; 0: none */
    bool is_in_ball;
    bool is_generated;    /* read again for each repeat */
    bool reads_texts;     /* articles, which can be stripped of quotations or not */
    bool shows_errors;    /* 1 - accuracy, as the paper does */
    bool shows_auc;       /* instead of accuracies */
    const char *measures; /* what is shown; NULL: test error, AUC or accuracy */
    bool is_unbounded;    /* numbers of any size, not within [0, 1] */
    bool by_setup;        /* the figure's x-axis is the setups, not 1/epsilon */
    const char *dealt;    /* who has how many rows, where `run` deals them out itself; NULL: as said above */
    bool own_rows;        /* each setup has rows of its own, which `run` reads */
    bool by_round;        /* it is the rounds of methods without a center, and the figure shows distances */
    tacit_row_scale scale;
    tacit_effort quick, full;
    const tacit_printed *printed;
    size_t printed_count;
    const char *why;     /* numbers that are worse than printed are so */
    bool less_is_better; /* seconds, iterations, a price; errors are so without it */
    const tacit_claim *claims;
    size_t claim_count;
    tacit_status (*read)(tacit_material *out, const tacit_reading_context *context, tacit_error *error);

    /* Fills one run for each curve and epsilon of a setup, `accuracy` (or `auc`) being what the figure shows
     * (or 1 minus it); NULL: the methods are simulated and tested. */
    tacit_status (*run)(const tacit_simulation *simulation, const tacit_setup *setup, tacit_run *runs,
                        tacit_error *error);
} tacit_experiment;

#define TACIT_EXPERIMENTS(X)                                                                                 \
    X(hamm_fig2)                                                                                             \
    X(hamm_fig3)                                                                                             \
    X(hamm_fig4)                                                                                             \
    X(rajkumar_fig1)                                                                                         \
    X(rajkumar_fig2)                                                                                         \
    X(rajkumar_attack)                                                                                       \
    X(wang_consensus)                                                                                        \
    X(wang_table51)                                                                                          \
    X(wang_rows)                                                                                             \
    X(wang_fig52)                                                                                            \
    X(wang_fig53)                                                                                            \
    X(wang_fig54)                                                                                            \
    X(wang_fig55)                                                                                            \
    X(wang_converged)                                                                                        \
    X(wang_table31)                                                                                          \
    X(wang_fig33)                                                                                            \
    X(wang_fig34)                                                                                            \
    X(wang_fig35)                                                                                            \
    X(wang_fig36)                                                                                            \
    X(wang_fig42)                                                                                            \
    X(wang_fig43)                                                                                            \
    X(wang_fig44)                                                                                            \
    X(wang_fig45)                                                                                            \
    X(wang_unseen)                                                                                           \
    X(wang_table42)                                                                                          \
    X(wang_table43)                                                                                          \
    X(yao_fig1)                                                                                              \
    X(yao_fig1_news)                                                                                         \
    X(yao_fig2)                                                                                              \
    X(yao_fig2_news)                                                                                         \
    X(yao_fig3)                                                                                              \
    X(yao_fig3_news)                                                                                         \
    X(yao_fig4)                                                                                              \
    X(yao_table2)                                                                                            \
    X(yao_table2_kinds)

#define TACIT_EXPERIMENT_DECLARE(name) extern const tacit_experiment tacit_experiment_##name;
TACIT_EXPERIMENTS(TACIT_EXPERIMENT_DECLARE)
#undef TACIT_EXPERIMENT_DECLARE

/* All of them, ending with NULL. */
extern const tacit_experiment *const tacit_experiments[];

/* By id; TACIT_USAGE with a sentence that lists them. */
tacit_status tacit_experiment_require(const tacit_experiment **out, const char *id, tacit_error *error);

typedef struct tacit_finding tacit_finding;

typedef struct tacit_reproduce_options {
    const char *folder;
    const char *only; /* setups of this name (tacit_setup_name); NULL: all */
    tacit_effort effort;
    uint64_t seed;
    double fraction; /* of the parties and of the auxiliary and test rows: 1, or less for a look */
    tacit_row_scale scale;
    tacit_strip strip;      /* of articles */
    bool full;              /* as long as the paper's */
    bool statistics_of_all; /* components and norms from all training rows instead of the auxiliary ones */
    tacit_pool *pool;
    const tacit_progress *progress;
    /* Called for each finding of ours once its setup is done, so that a run that is interrupted has told what
     * it found; or NULL. */
    void (*found)(void *context, const tacit_experiment *experiment, const tacit_finding *finding);
    void *found_context;
} tacit_reproduce_options;

/* "M = 5,000", or "K = 5" where several setups share a panel. */
const char *tacit_setup_name(const tacit_setup *setup);

/* The experiment's own choices. */
tacit_reproduce_options tacit_reproduce_defaults(const tacit_experiment *experiment, bool full);

/* One curve at one epsilon in one setup, ours and the paper's. */
struct tacit_finding {
    size_t setup;
    size_t parties;
    const char *curve; /* its label */
    double epsilon;
    double lambda;   /* NaN without */
    size_t trials;   /* 0: printed only, the curve is not among those run */
    double mean, sd; /* of ours; NaN without */
    double printed;  /* NaN: the text gives no number */
    bool noise_free; /* the method is */
    bool is_alone;   /* the curve has one epsilon only, its own */
};

typedef struct tacit_reproduction {
    const tacit_experiment *experiment;
    tacit_finding *findings;
    size_t count;
    tacit_trace trace; /* of the first draw of the rows, by round */
    size_t features, train_rows, auxiliary_rows, test_rows;
    bool used_private_statistics; /* components or norms were taken from private rows */
    const char *stand_in; /* what the rows are, where the file is not there; NULL: as the source says */
    double seconds;
} tacit_reproduction;

/* Can it be run? TACIT_USAGE when a method is missing, TACIT_NOT_FOUND when a file is. */
tacit_status tacit_experiment_check(const tacit_experiment *experiment, const char *folder,
                                    tacit_error *error);

/* Checks first; then reads, deals out and runs. TACIT_USAGE when no setup has the name in options->only. */
tacit_status tacit_reproduce(tacit_reproduction **out, const tacit_experiment *experiment,
                             const tacit_reproduce_options *options, tacit_error *error);
tacit_reproduction *tacit_reproduction_free(tacit_reproduction *reproduction);

/* Append the figure as SVG; printed numbers are large circles in their method's colour. */
tacit_status tacit_reproduction_plot(const tacit_reproduction *reproduction, const char *note,
                                     tacit_buffer *out, tacit_error *error);
