/*
 * What a study will be worth, before anybody is asked: the real mechanisms run on assumed rows
 * (lab/plan_belief.h), beside all rows pooled and a site alone, neither of which has noise. Nothing here is a
 * release: rows that are given stay with the caller, no ledger is charged and nothing is written.
 *
 * Many rows are thinned. With n rows thinned to n/f the noise is lessened by the same f, which leaves it the
 * same share of every sum: epsilon is f times as large, or for Gaussian noise that whose smallest noise is a
 * part f of what it was. Rounds and ridge follow from the product and stay as they are. What changes is the
 * part of the error that comes from having drawn few rows. It goes with 1/n, so that pooled rows without
 * noise, beside what the labels' own law scores, tell how much it is: all figures are moved by the
 * difference. A site alone has as many rows as it would have, up to the same limit and then likewise.
 */
#pragma once

#include "base/progress.h"
#include "lab/plan_belief.h"
#include "lab/simulate.h"
#include "model/one_sided.h"

/* Above this AUC (or share explained) of pooled rows no verdict is given: what is left to gain is less than
 * what assumed rows can tell. */
#define TACIT_OUTLOOK_SURE 0.95

typedef struct tacit_outlook_request {
    tacit_belief belief;
    size_t parties, rows;                 /* all rows together */
    size_t minimum_parties, minimum_rows; /* as a study has them; 0: one; what each has */
    double epsilon, delta, dropouts, colluders;
    unsigned exchanges; /* of a masked sum that people carry, 1 or 2; 0: sites have a connection */
    const tacit_method *const *methods; /* to compare; NULL: all that suit */
    size_t method_count;
    const tacit_plan *study; /* whose settings and lambda are its method's; NULL: none */
    bool lambda_open;        /* the study's lambda may be another */
    bool brief;              /* only what is expected: no price from which it pays, nothing about more rows */
    uint64_t seed;
    tacit_pool *pool;
    const tacit_progress *progress;
} tacit_outlook_request;

/* A figure over draws of rows and noise: nine in ten lie between low and high, roughly. NaN: it does not
 * apply. */
typedef struct tacit_outlook_figure {
    double mean, low, high;
} tacit_outlook_figure;

typedef struct tacit_outlook_metrics {
    tacit_outlook_figure figure[TACIT_BELIEF_FIGURES];
} tacit_outlook_metrics;

typedef enum tacit_outlook_verdict {
    TACIT_OUTLOOK_PAYS,     /* together is expected to score above a site alone */
    TACIT_OUTLOOK_DOES_NOT, /* it is not */
    TACIT_OUTLOOK_NONE      /* pooled rows would score too high to tell */
} tacit_outlook_verdict;

/* "joining pays", "joining does not pay", "no verdict". */
const char *tacit_outlook_verdict_text(tacit_outlook_verdict verdict);

typedef struct tacit_outlook_method {
    tacit_plan plan; /* as a study would have it */
    tacit_price charged;
    uint64_t rounds, handovers, bytes_per_party;
    tacit_outlook_metrics expected;
    bool behind; /* far behind the best on the first rows, and not looked at further */
    /* the smallest epsilon of a few at which it pays; NaN: at none, or not looked for: only for the
     * recommended */
    double pays_from;
    double noise_share; /* of what a model will say, in the mean; 0: not known */
    /* of studies in which the table of coefficients will have none at this price the share, and about what
     * would bring one: rows, or an epsilon */
    double not_estimable, needs_rows, needs_epsilon;
    tacit_outlook_verdict verdict;
} tacit_outlook_method;

typedef struct tacit_outlook_refusal {
    const tacit_method *method;
    char why[TACIT_ERROR_TEXT_SIZE];
} tacit_outlook_refusal;

/* The recommended method with other numbers. */
typedef struct tacit_outlook_other {
    size_t parties, rows;
    tacit_outlook_metrics expected, alone;
} tacit_outlook_other;

typedef struct tacit_outlook {
    size_t rows, parties, features, simulated; /* rows, and how many of them were played */
    tacit_response response;
    double epsilon, delta, signal, positives;
    tacit_outlook_metrics alone, pooled;
    tacit_outlook_method *methods;
    size_t count, recommended; /* the best; `count`: none suits */
    tacit_outlook_refusal *refused;
    size_t refusals;
    tacit_outlook_other more_parties, more_rows; /* twice as many of each; rows 0: not looked at */
} tacit_outlook;

#define TACIT_OUTLOOK_INIT                                                                                   \
    { .rows = 0 }

/* The request's belief must not be settled; it is here. TACIT_USAGE, TACIT_INPUT, TACIT_CANCELLED. */
tacit_status tacit_outlook_make(tacit_outlook *out, const tacit_outlook_request *request, tacit_error *error);
void tacit_outlook_clear(tacit_outlook *outlook);

/* By which figure methods are compared: AUC for two classes, else accuracy; for a number or a count the share
 * that is explained. Its name: "AUC", "accuracy", "R^2", "share of the deviance". */
const tacit_outlook_figure *tacit_outlook_main(const tacit_outlook_metrics *metrics);
const char *tacit_outlook_main_name(const tacit_outlook *outlook);
double tacit_outlook_score(const tacit_outlook_metrics *metrics);

/* Whether the method is expected to do no better than guessing, on average or in one of twenty runs where a
 * site alone does better, or in nine of ten runs worse than a site alone; or is asked for a table of
 * coefficients (purpose=inference), and none can be given in nine of ten. */
bool tacit_outlook_hopeless(const tacit_outlook *outlook, const tacit_outlook_method *method);

/* Whether coefficients are expected not to be estimable in nine of ten studies. */
bool tacit_outlook_inestimable(const tacit_outlook_method *method);

/* Where coefficients are expected not to be estimable in one study of ten or more, the method's probabilities
 * to be no better than each class's share, or noise to make most of what its model says, true, and a
 * sentence. */
bool tacit_outlook_doubtful(const tacit_outlook *outlook, const tacit_outlook_method *method,
                            char out[TACIT_REMARK_SIZE]);

/* ---- parts, for tests ---- */

/* Whether the first is the better of two. Whoever keeps to the price is ahead of all that do not; then
 * whoever gains on the base rate, or where neither does loses clearly less; then the better score, and where
 * that is nearly the same the smaller loss. */
bool tacit_outlook_better(const tacit_outlook *outlook, const tacit_outlook_method *a,
                          const tacit_outlook_method *b);

/* The epsilon at which rows thinned by `factor` have the same share of noise; `gaussian`: the price has a
 * delta. At most TACIT_OUTLOOK_MOST_EPSILON, where what noise is left is far less than what few rows lose:
 * methods are not made for more, and refuse it. */
#define TACIT_OUTLOOK_MOST_EPSILON 100.0
tacit_status tacit_outlook_thin(double *out, double epsilon, double delta, double factor, bool gaussian,
                                tacit_error *error);

/* The plan that a study of the request with this method has: its settings, lambda and expected rows.
 * TACIT_USAGE with the reason where the method does not suit. */
tacit_status tacit_outlook_plan(tacit_plan *out, const tacit_outlook_request *request,
                                const tacit_method *method, tacit_error *error);
