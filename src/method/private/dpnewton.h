/*
 * What follows from dpnewton's plan (dpnewton_plan.c), its sums over a party's rows (dpnewton_rows.c), and
 * what is special to a family (dpnewton_family.c). The method itself is in dpnewton.c.
 */
#pragma once

#include "data/folds.h"
#include "method/missing_counts.h"
#include "method/private/gradient.h"
#include "model/report/evaluation.h"
#include "num/kernel/kernel.h"
#include "num/noisy/followed_noise.h"
#include "privacy/mechanism/shares.h"

enum {
    DPNEWTON_MOST_ROUNDS = 64,
    DPNEWTON_MOST_COLUMNS = 1024,
    DPNEWTON_MOST_CLASSES = 64,
    DPNEWTON_BLOCK = 128
};

typedef struct dpnewton_settings {
    uint64_t rounds, rows; /* 0: chosen, declared by the parties' least */
    uint64_t person_rows;
    enum { DPNEWTON_PER_RECORD, DPNEWTON_PER_PERSON } unit;
    enum { DPNEWTON_BY_COORDINATOR, DPNEWTON_BY_PARTY, DPNEWTON_BY_SHARES } noise;
    enum { DPNEWTON_FOR_PREDICTION, DPNEWTON_FOR_INFERENCE } purpose;
    enum { DPNEWTON_NEW_MOMENTS, DPNEWTON_REUSED_MOMENTS } moments;
    uint64_t folds, fold_seed; /* 0: no cross-validation */
    enum { DPNEWTON_LINE_FROM_STEPS, DPNEWTON_LINE_ASKED } line;
    enum { DPNEWTON_FORMER_WIDTHS, DPNEWTON_NARROW_WIDTHS } widths;
    double missing_counts; /* of the budget */
} dpnewton_settings;

extern const dpnewton_settings dpnewton_defaults;
extern const tacit_parameter dpnewton_parameters[];

/* What an answer is, by who adds the noise. */
tacit_release_kind dpnewton_kind(const dpnewton_settings *settings);

static inline const dpnewton_settings *dpnewton_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(dpnewton_settings, plan);
}

/* What is released: 0 the moments, t the gradient of step t, and T + 1 the line, where it is asked for. */
typedef struct dpnewton_release {
    tacit_mechanism mechanism;
    double share;     /* of the budget */
    uint64_t runs;    /* of one event of the study's, which the share is; 0: as many as thousandths */
    double deviation; /* of the noise on one number of the published sum; 0 without noise. Of moments that are
                       * reused: what it would be */
    double scale;     /* of what one party or the coordinator draws, in the sum's units */
    tacit_event event;         /* count 0 without noise */
    tacit_shared_noise shared; /* noise=shares, in steps of the grid */
} dpnewton_release;

/* Counts of missing values beside the model (dpnewton_missing.c). */
#define DPNEWTON_ANY_ROUND UINT64_MAX
typedef struct dpnewton_counting {
    missing_counts counts; /* length 0: they are not asked for */
    uint64_t round;        /* in which they are; DPNEWTON_ANY_ROUND: when a study ends, which may be early */
    tacit_sum_spec spec;
    dpnewton_release release;
} dpnewton_counting;

/* The rows as the method sees them: x = (feature u_j, intercept 1)/R, times min(1, 1/|x|) in every sum. */
typedef struct dpnewton_scaling {
    double feature, intercept; /* what an encoded row's features and its intercept are multiplied by */
    double encoded;            /* the intercept of an encoded row; 0: it has none, or it is not known */
    double longest;            /* |x| at most */
} dpnewton_scaling;

/* A step divides by more than the gradient is steep: a scalar times H does not majorise the Hessian, and
 * without it a strong rare column oscillates. */
#define DPNEWTON_DAMPED 1.5

struct dpnewton_family;

typedef struct dpnewton_design {
    const struct dpnewton_family *family;
    const tacit_kernels *kernels;
    size_t width, rounds;
    bool reuses;            /* the moments of an earlier study: nobody is asked for them */
    size_t scores, classes; /* weights are scores x width; no classes: a numeric response */
    /* rows that a person's sum is divided by, and then clipped like one row; 0: rows are protected one by one
     */
    double unit;
    double middle, half; /* a number is fitted as (y - middle)/half in [-1, 1]; else 0 and 1 */
    double most;         /* the cap of a count; else 0 */
    /* c: a row's residual has at most that norm, and it is sent divided by 2c, so that every sum of them has
     * sensitivity 1 */
    double clip;
    tacit_sum_spec moments, gradient;
    dpnewton_release release[DPNEWTON_MOST_ROUNDS + 2];
    dpnewton_scaling scaling;
    tacit_fold_plan folds;     /* of cross-validation */
    size_t models;             /* one without each fold, else 1; gradients are models x scores x width */
    double part;               /* of the rows that a model is made of: (folds - 1)/folds, else 1 */
    tacit_tally tally;         /* with folds: what is counted of held-out rows */
    tacit_sum_spec counts;     /* the sum of it */
    dpnewton_release held_out; /* its noise */
    bool asks_line;            /* whether the last question is about the line from scores to log-odds */
    tacit_sum_spec line;       /* the two numbers that it asks for */
    dpnewton_counting missing; /* the very last question */
    tacit_event all;           /* of all questions together */
    /* mu of all noise that there is: 1/sigma over how much more of it than needed; INFINITY without */
    double strength;
} dpnewton_design;

/* What parties have divided a sum by. */
static inline double dpnewton_units(const dpnewton_design *design) {
    return design->unit > 0 ? design->unit : 1;
}

/* What the gradients of the tail say of the scores that they were asked at, each at weights that its own
 * noise has no part in: sums over steps, by their shares. Where the family asks for it. */
typedef struct dpnewton_watch {
    double all, along;     /* of the gradient's intercept, and of gradient . weights */
    double noise[3];       /* variances and covariance of the noise in these, by squares of shares */
    double mean, variance; /* of the scores */
} dpnewton_watch;

/* Bound on a standardised score in the last question. */
#define DPNEWTON_LINE_REACH 2.0

/* What was answered to the last question: means over rows, and the variance of the noise in each. */
typedef struct dpnewton_line {
    bool asked;
    double mean, variance; /* of the scores, as they were asked about */
    double pull[2], noise;
} dpnewton_line;

/* The coordinator's work on released sums. */
typedef struct dpnewton_state {
    double rows, shortening; /* n, and sqrt(V) */
    double ridge;            /* l */
    double *curvature;       /* H, d x d */
    double *law;             /* Q, d x d */
    double *likely;          /* what Q is likely to be, where the family watches; d x d */
    double *room, *spare;    /* d x d and 2d more each */
    double *weights, *step;  /* scores x d */
    double *mean;            /* of the weights over the tail, scores x d */
    double counted;          /* the shares that are in it */
    dpnewton_watch watch;
    dpnewton_line line;
    tacit_followed_noise noise; /* in the mean, where the family watches */
    double factor;              /* what the last direction multiplied H by */
    double noisy; /* the share of noise in the variance of the model's scores; 0: the family does not watch */
    size_t parties;
    tacit_released_moments *released; /* what was released on the way, for the model's file; may be NULL */
} dpnewton_state;

/* What is special to one family of models. */
typedef struct dpnewton_family {
    const tacit_family *family;

    /* From public numbers. The budget's thousandths for the moments; each step has 1 + growth/T times the
     * share of the one before; the part of the iterates whose mean is the model; eigenvalues e of A become
     * max(e, least op) + lift op. */
    double moments, growth, tail, least, lift;
    double most_step, most_score; /* in root mean square; 0: as the cap of counts allows */
    double (*clip)(const dpnewton_design *design);
    size_t (*rounds)(const tacit_plan *plan, double strength);
    double (*ridge)(const dpnewton_design *design, double rows, double strength); /* l of the sum over rows */

    /* Of `count` rows, at most DPNEWTON_BLOCK, of a view from `begin`: clipped residuals divided by 2c, in
     * place of scores. At most 1/2 in norm whatever the scores and responses are, also where they are no
     * numbers. */
    void (*residuals)(const dpnewton_design *design, const tacit_view *rows, size_t begin, size_t count,
                      double *scores);

    /* Weights to begin with; NULL: 0. */
    void (*start)(const dpnewton_design *design, dpnewton_state *state);

    /* The Newton direction, in place of the gradient in state->step. */
    tacit_status (*direction)(const dpnewton_design *design, dpnewton_state *state, bool first,
                              tacit_error *error);

    /* Before a step, of its gradient in state->step and the weights that it was asked at; NULL: nothing.
     * `counts` is the step's share in the tail, `noise` the standard deviation of one number. */
    void (*watch)(const dpnewton_design *design, dpnewton_state *state, double counts, double noise);

    /* Mean and variance of the scores by the moments, where the line can be asked for; NULL: it cannot. */
    void (*law)(const dpnewton_design *design, const dpnewton_state *state, const double *w, double *mean,
                double *variance);

    /* The mean of the tail as a model predicts by it: scores -> slope * scores + offset[k]. */
    tacit_status (*calibrate)(const dpnewton_design *design, dpnewton_state *state, double *slope,
                              double *offset, tacit_error *error);
} dpnewton_family;

/* That of a response, of this many classes or of 0; NULL: there is none. */
const dpnewton_family *dpnewton_family_of(tacit_response response, size_t classes);

/* A function of the plan alone. TACIT_USAGE for one that the method does not take. */
tacit_status dpnewton_describe(const tacit_plan *plan, dpnewton_design *out, tacit_error *error);

/* The ridge lambda from public numbers. */
tacit_status dpnewton_lambda(const tacit_plan *plan, double *out, tacit_error *error);

/* The norm of the noise in the model, for rows that fill the ball evenly. */
tacit_noise_law dpnewton_noise_law(const tacit_plan *plan, const dpnewton_design *design);

/* The rounds that the plan leaves open. */
tacit_status dpnewton_settle(tacit_plan *plan, tacit_error *error);

/* How many rows all parties have together, as declared. */
double dpnewton_rows(const tacit_plan *plan);

/* mu of all noise that there is, as in dpnewton_design. */
tacit_status dpnewton_strength(const tacit_plan *plan, double *out, tacit_error *error);

/* The noise, price and event of a release whose share of the budget is set, `sensitivity` before roundings;
 * and the event of the whole budget. */
tacit_status dpnewton_calibrate(const tacit_plan *plan, dpnewton_release *out, const tacit_sum_spec *spec,
                                double sensitivity, tacit_error *error);

/* The sum of a release with its share set, too: `length` numbers of a party, each at most `bound`, with room
 * for noise that parties add themselves. */
tacit_status dpnewton_set_release(const tacit_plan *plan, dpnewton_release *out, tacit_sum_spec *spec,
                                  size_t length, double bound, double sensitivity, tacit_error *error);
tacit_status dpnewton_whole_event(const tacit_plan *plan, tacit_event *out, tacit_error *error);
/* The price of a method whose questions are together that event: the plan's epsilon and delta. */
tacit_status dpnewton_whole_price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                                  tacit_error *error);

/* The party's: take *values, with the noise of this release, into the reply. */
tacit_status dpnewton_give(tacit_party *party, const dpnewton_release *release, const tacit_sum_spec *spec,
                           double **values, tacit_reply *reply, tacit_error *error);

/* The coordinator's: ask, and add the noise if entrusted with it; `count` numbers are published. */
tacit_status dpnewton_ask(tacit_session *session, const char *question, const tacit_message *message,
                          const tacit_sum_spec *spec, const dpnewton_release *release, size_t count,
                          tacit_sum *sum, tacit_error *error);

/* ---- moments that an earlier study released (dpnewton_moments.c) ---- */

/* Whether they can be used: TACIT_USAGE, with the reason, where the plan's model has none, or none of all its
 * columns. */
tacit_status dpnewton_check_moments(const tacit_plan *plan, tacit_error *error);

/* Into state->room, state->rows and state->shortening, as this study's rows are scaled; *noise is then that
 * of one number. */
tacit_status dpnewton_reuse_moments(const tacit_plan *plan, const dpnewton_design *design,
                                    dpnewton_state *state, double *noise, tacit_error *error);

/* What every model begins with: H, Q and the number of rows, of moments that are asked for or reused. */
tacit_status dpnewton_find_moments(tacit_session *session, const dpnewton_design *design,
                                   dpnewton_state *state, tacit_error *error);

/* What was released now, for later studies; *out stays NULL where nothing may be kept: without noise, or of
 * too many columns. `values` are packed. */
tacit_status dpnewton_keep_moments(const dpnewton_design *design, const double *values, double rows,
                                   size_t parties, tacit_released_moments **out, tacit_error *error);

/* ---- cross-validation (dpnewton_folds.c, which holds the proof) ---- */

/* TACIT_USAGE where the plan has folds and cannot have them. */
tacit_status dpnewton_check_folds(const tacit_plan *plan, tacit_error *error);

/* What is counted of held-out rows where a sum has noise by `strength`; nothing without folds. */
tacit_status dpnewton_set_tally(const tacit_plan *plan, dpnewton_design *out, double strength,
                                tacit_error *error);

/* How far replacing a row moves the gradients of all models together, and the counts; in L2 norm, except for
 * the roundings that all sums have. */
double dpnewton_gradient_sensitivity(const dpnewton_design *design);
double dpnewton_counts_sensitivity(const dpnewton_design *design);

/* The party's: each model's sum of gradients over the rows outside its fold; and every row counted by the
 * score that the model without its fold gives it, `weights` being those of encoded rows. */
tacit_status dpnewton_sum_fold_gradients(tacit_party *party, const dpnewton_design *design,
                                         const double *weights, double *out, tacit_error *error);
tacit_status dpnewton_count_held_out(tacit_party *party, const dpnewton_design *design, const double *weights,
                                     double *out, tacit_error *error);

/* The coordinator's: ask for these counts, and put the report into `model`. */
tacit_status dpnewton_validate(tacit_session *session, const dpnewton_design *design, const double *weights,
                               tacit_model *model, tacit_error *error);

/* ---- the last question (dpnewton_line.c, which holds the proof) ---- */

/* Whether it is asked: where the plan says so, and noise would make much of a score. */
bool dpnewton_asks_line(const tacit_plan *plan, const dpnewton_design *design);

/* The party's: the two numbers over its rows; `weights` are followed by the scores' mean and deviation. */
tacit_status dpnewton_sum_line(tacit_party *party, const dpnewton_design *design, const double *weights,
                               double *out, tacit_error *error);

/* The coordinator's: ask about state->mean, into state->line. */
tacit_status dpnewton_ask_line(tacit_session *session, const dpnewton_design *design, dpnewton_state *state,
                               tacit_error *error);

/* ---- counts of missing values (dpnewton_missing.c, which holds the proof) ---- */

tacit_counted dpnewton_counts_missing(const tacit_plan *plan);

/* Which thousandths of the budget they have; 0: they are not asked for. */
double dpnewton_missing_units(const tacit_plan *plan);

/* Everything about them, asked for in this round. */
tacit_status dpnewton_set_missing(const tacit_plan *plan, dpnewton_counting *out, uint64_t round,
                                  tacit_error *error);

/* The same for a method that has the counts, and the share with its runs, in out->counts and out->release. */
tacit_status dpnewton_set_counting(const tacit_plan *plan, dpnewton_counting *out, tacit_error *error);

/* The party's answer; and the coordinator's question, whose answer goes into the model. `rows`: that were
 * used. */
tacit_status dpnewton_give_missing(tacit_party *party, const tacit_question *question,
                                   const dpnewton_counting *how, tacit_reply *reply, tacit_error *error);
tacit_status dpnewton_ask_missing(tacit_session *session, const dpnewton_counting *how, double rows,
                                  tacit_model *model, tacit_error *error);

/* TACIT_INPUT where the rows have not what the family needs: classes, or one number a row. */
tacit_status dpnewton_check_response(const tacit_party *party, const dpnewton_design *design,
                                     tacit_error *error);

/* sqrt(V): the intercept's second moment is known except for the shortening of rows. Where its noise is
 * large, the middle of what can be. `intercept` is that of a scaled row, `longest` the longest row's norm. */
double dpnewton_shortening(double moment, double rows, double noise, double intercept, double longest);

/* What step t, from 1, counts in the mean that is the model: its share if it is in the tail, else 0. */
double dpnewton_tail(const dpnewton_design *design, size_t step);

/* The sum of v^2 x x^T over the party's rows, packed (num/noisy/noisy_moments.h), and their number; the sum
 * of clipped residuals/2c times v x, scores x width. In all holders. */
tacit_status dpnewton_sum_moments(tacit_party *party, const dpnewton_design *design, double *out,
                                  tacit_error *error);
tacit_status dpnewton_sum_gradient(tacit_party *party, const dpnewton_design *design, const double *weights,
                                   double *out, tacit_error *error);
