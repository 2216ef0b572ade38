/*
 * Audits: try to break a promise of (epsilon, delta)-differential privacy by running what made it.
 *
 * If a mechanism M is (epsilon, delta)-private then for neighbouring D, D' and every event E of its output
 *
 *     Pr[M(D) in E] <= exp(epsilon) Pr[M(D') in E] + delta,   and the same with D and D' exchanged.
 *
 * So p = Pr[M(D) in E] and q = Pr[M(D') in E] prove epsilon >= log((p - delta)/q). An audit
 *   1. runs M without noise on D and D' and, from those two outputs, reduces every later output to one score;
 *   2. on the first runs looks for the two events (score >= t, and score < t for the other direction) that
 *      would prove most;
 *   3. on the other runs, which had no say in that choice, counts both events on both data sets and takes
 *      Clopper-Pearson bounds of p from below and of q from above.
 * Two events with two bounds each: each bound may fail with probability (1 - confidence)/4, so that by the
 * union bound epsilon_lower, the larger of the two logarithms, exceeds the true epsilon with probability at
 * most 1 - confidence.
 *
 * With `exactly` everything passes the gate of a real party, and noise is drawn as a real release draws it:
 * its last digits are audited too, and no seed repeats the runs. In every audit a run that ends in a refusal
 * or an error is an output like any other: an event of its own, on whichever side it is the more frequent in
 * the first runs.
 *
 * Pairs may be searched for (`search`): rows of the known pair are moved about within the unit ball, labels
 * turned, always so that the pair stays one of neighbours; what tells the two apart best in a few runs is
 * moved on (audit_search.c). The runs that choose and count start afresh on the pair that was chosen, so that
 * the confidence is untouched by the search.
 *
 * A bound above the charged epsilon refutes the promise ("broken"). One below refutes nothing ("holds"): it
 * shows how much of epsilon this pair is known to use, and nothing about pairs and events that were not
 * tried.
 */
#pragma once

#include "lab/replay.h"
#include "lab/simulate.h"

enum { TACIT_AUDIT_TEXT = 240, TACIT_AUDIT_LEAST_RUNS = 100 };

/* The stored rows of a pair, to replace those that its entry gives it. */
typedef struct tacit_audit_rows {
    size_t rows[2], features; /* of the data sets, and of the auxiliary points */
    double *values[2][2];     /* data sets and points, of each side; NULL where there are none */
    int32_t *label[2];        /* of the data sets */
} tacit_audit_rows;

/* What is promised, as a user states it. */
typedef struct tacit_audit_setup {
    double epsilon, delta;
    double lambda; /* 0: the one at which the pair is worst */
    const tacit_setting_value *settings;
    size_t setting_count;
    bool exactly;                 /* as a real release, not as a simulation */
    const tacit_audit_rows *rows; /* NULL: those of the known pair */
} tacit_audit_setup;

/* A neighbouring pair, ready to be run. One thread uses it at a time. */
typedef struct tacit_audit_case {
    tacit_price charged; /* the promise to refute */
    size_t length;       /* numbers in one release */
    double reach;        /* how far the pair moves the output, in declared sensitivities; NaN: not known */
    double noise; /* of a method with a noise law: its scale, and how many numbers it is added to at a time */
    size_t dimension;
    char pair[TACIT_AUDIT_TEXT];  /* in words */
    const tacit_pair *neighbours; /* of a method; NULL for a mechanism */
    tacit_entropy *entropy;       /* of exact noise; NULL: it is simulated */
    void *state;
} tacit_audit_case;

/* Where a case's noise comes from: exact, or `stream`. */
tacit_noise_source tacit_audit_source(const tacit_audit_case *one, tacit_stream *stream);

/* Reduce a release to a number of order one that is large when the release rather comes from D; `at` are the
 * noise-free outputs. Of simulated noise the audit rounds it to multiples of 2^-20 (audit.c says why). */
typedef double tacit_score(const tacit_audit_case *subject, const double *release, const double *const at[2]);

/* Where the release lies along the line through both outputs, 1 at D and 0 at its neighbour: best for noise
 * in one dimension, good for any. */
double tacit_score_projection(const tacit_audit_case *subject, const double *release,
                              const double *const at[2]);
/* (|x - at[1]| - |x - at[0]|)/|at[1] - at[0]|, in [-1, 1]: under gamma-norm noise the logarithm of the
 * likelihood ratio, up to its scale. */
double tacit_score_distance(const tacit_audit_case *subject, const double *release,
                            const double *const at[2]);

/*
 * Something to audit, by its worst known pair. A method gives `pair` and is run through sessions, by the very
 * code that a study runs; a mechanism that is no method gives open, draw and close, and so does a method of
 * many rounds, whose answers are audited.
 */
typedef struct tacit_auditable {
    const char *name;
    const char *title;
    tacit_score *score; /* NULL: projection */
    tacit_status (*pair)(tacit_pair *out, char text[TACIT_AUDIT_TEXT], const tacit_audit_setup *setup,
                         tacit_error *error);
    /* Take chance, other than noise, out of the plan of the noise-free runs; NULL: there is none. The pair's
     * reach is then that of one of the many noised vectors. */
    tacit_status (*rehearse)(tacit_plan *exact, tacit_error *error);
    tacit_status (*open)(tacit_audit_case *out, const tacit_audit_setup *setup, tacit_error *error);
    /* One release from D (side 0) or its neighbour (1); without noise when `stream` is NULL. */
    tacit_status (*draw)(tacit_audit_case *subject, int side, const tacit_stream *stream, double *out,
                         tacit_error *error);
    void (*close)(tacit_audit_case *subject);
} tacit_auditable;

/* All of them, ending with NULL; those with a name of a method are that method's. */
extern const tacit_auditable *const tacit_auditables[];

/* By name; TACIT_USAGE with a sentence that lists what there is. */
tacit_status tacit_auditable_require(const tacit_auditable **out, const char *name, tacit_error *error);

/* A plan for a method's pair with the setup's price and settings; the caller fills in the data's shape. */
tacit_status tacit_audit_plan(tacit_plan *out, const tacit_method *method, const tacit_audit_setup *setup,
                              tacit_error *error);

/* Open, draw and close whatever the entry gives. */
tacit_status tacit_audit_open(tacit_audit_case *out, const tacit_auditable *subject,
                              const tacit_audit_setup *setup, tacit_error *error);
tacit_status tacit_audit_draw(tacit_audit_case *one, const tacit_auditable *subject, int side,
                              const tacit_stream *stream, double *out, tacit_error *error);
void tacit_audit_close(tacit_audit_case *one, const tacit_auditable *subject);

/* Whether a run that ended so is an output to audit, and no accident of the machine. */
bool tacit_audit_is_output(tacit_status status);

typedef struct tacit_audit {
    const tacit_auditable *subject;
    tacit_audit_setup setup;
    size_t runs;   /* on each of the two data sets */
    size_t search; /* pairs to try first; 0: the known one only. Of a subject without `pair` there is one */
    double confidence; /* in (0, 1) */
    uint64_t seed;
    tacit_pool *pool;
    const tacit_progress *progress;
} tacit_audit;

typedef struct tacit_audit_result {
    tacit_price charged;
    double epsilon_lower; /* at least 0 */
    bool broken;          /* epsilon_lower is above the charged epsilon */
    double reach;         /* as in the case */
    char pair[TACIT_AUDIT_TEXT];
    size_t searched;           /* pairs that were tried */
    uint64_t aborted[2];       /* runs on each that ended without an answer, of those that were counted */
    bool exchanged;            /* the event favours the neighbour */
    size_t counted;            /* runs on each data set that the bound rests on */
    uint64_t hits, other_hits; /* of the event: on the data set it favours, and on the other */
    double at_least, at_most;  /* the bounds of its two probabilities */
} tacit_audit_result;

/* Search for a pair of `audit->subject`: *out is NULL where the known one is the best, else freed by
 * tacit_audit_rows_free. */
tacit_status tacit_audit_search(tacit_audit_rows **out, const tacit_audit *audit, tacit_error *error);
tacit_audit_rows *tacit_audit_rows_free(tacit_audit_rows *rows);

/* The rows of a pair; and put them into a pair of the same shape. */
tacit_status tacit_audit_rows_of(tacit_audit_rows **out, const tacit_pair *pair, tacit_error *error);
tacit_status tacit_audit_rows_use(const tacit_audit_rows *rows, tacit_pair *pair, tacit_error *error);

/* The same result on any number of threads, unless noise is exact. TACIT_USAGE for too few runs, a confidence
 * outside (0, 1), an infinite epsilon, or a setup that the subject does not accept. */
tacit_status tacit_audit_run(tacit_audit_result *out, const tacit_audit *audit, tacit_error *error);
