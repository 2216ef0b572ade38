/*
 * When a study has enough, beside the rounds of its method: a statistical target that the coefficients'
 * standard errors must reach, judged at *looks*. A look is the whole method on whoever takes part then. Short
 * of the target the study recruits again, for the next look, which its owners consent to as to any new
 * version, and which is charged as one.
 *
 *   stop: {rounds: 50}                                 # iterations of a method that stops early, at most
 *   stop: {converged: 1e-4}                            # or until its weights hardly change
 *   stop: {participants: 40}                           # recruit until this many parties take part
 *   stop: {se: {column: age, at_most: 0.01}}           # of one coefficient: its standard error,
 *   stop: {width: {column: age, at_most: 0.04}}        # the width of its confidence interval,
 *   stop: {power: {column: age, effect: 0.02, at_least: 0.8}}   # or the power to find a given effect
 *   stop: {power: {...}, then: validate}               # whoever comes after the target is met evaluates the
 *                                                      model
 *   stop: {se: {...}, looks: 5, more: 10}              # look up to five times, each time with ten parties
 *                                                      more
 *
 * Where privacy noise is in the table its errors include that noise; a coefficient that is not estimable at
 * the price has reached no target.
 *
 * Privacy. A verdict is a function of the table of coefficients that the look has opened, so that it tells
 * nothing more. Two looks together open what sums over the new rows are: hence `more` is 0 or at least the
 * study's minimum of parties.
 *
 * Statistics. The limit and the effect are fixed in the definition; the verdict never looks at an estimate,
 * only at its standard error. Stopping when a standard error is small enough keeps a confidence interval's
 * coverage as rows grow (Anscombe 1952; Chow and Robbins 1965), and is a little short of it with few rows,
 * because a variance that is underestimated by chance stops sooner. It says nothing of tests read at every
 * look. Power is therefore that of a test at alpha/looks, alpha = 1 - level (Bonferroni: whoever tests at
 * every look at alpha/looks errs with probability at most alpha in all).
 */
#pragma once

#include "data/schema/yaml.h"
#include "model/report/estimates.h"
#include "session/method.h"

typedef enum tacit_target {
    TACIT_TARGET_NONE,
    TACIT_TARGET_ERROR, /* se */
    TACIT_TARGET_WIDTH,
    TACIT_TARGET_POWER
} tacit_target;

enum { TACIT_STOP_COLUMN_SIZE = 128, TACIT_STOP_TEXT_SIZE = 320, TACIT_STOP_MOST_LOOKS = 1000 };

typedef struct tacit_stop {
    uint64_t rounds; /* 0: not said, like the next two */
    double converged;
    size_t participants;
    tacit_target target;
    char column[TACIT_STOP_COLUMN_SIZE]; /* a coefficient, as the table calls it */
    double limit;                        /* at most, or for power at least */
    double effect;                       /* on the raw scale; power only */
    size_t looks;                        /* at most, at least 1 */
    size_t more;                         /* parties added from look to look */
    size_t look;                         /* which one this is, from 1 */
    bool validates;                      /* once the target is met, later parties evaluate what was found */
} tacit_stop;

#define TACIT_STOP_INIT                                                                                      \
    { .looks = 1, .look = 1 }

/* Read a mapping as above; errors name the line. */
tacit_status tacit_stop_read(tacit_stop *out, tacit_yaml *yaml, const yaml_node_t *node, tacit_error *error);

/* The same from a text of its own, such as "{se: {column: age, at_most: 0.01}, looks: 5}". */
tacit_status tacit_stop_parse(tacit_stop *out, const char *text, tacit_error *error);

/* Append it as a line of a definition; nothing where nothing was said. */
tacit_status tacit_stop_print(const tacit_stop *stop, tacit_buffer *out, tacit_error *error);

/* TACIT_USAGE unless method and schema of the plan have what the rule asks about, and looks make sense. */
tacit_status tacit_stop_check(const tacit_stop *stop, const tacit_plan *plan, tacit_error *error);

/* How many parties take part in a look, `first` in the first; and how many looks there can be. */
size_t tacit_stop_parties(const tacit_stop *stop, size_t first, size_t look);
size_t tacit_stop_looks(const tacit_stop *stop, size_t first);

typedef struct tacit_stop_verdict {
    double value; /* what the limit is compared with */
    bool met;
} tacit_stop_verdict;

/* The power of a two-sided Wald test at level alpha/looks for the effect; `degrees` of Student's t, infinite
 * for the normal. */
double tacit_stop_power(const tacit_stop *stop, double standard_error, double level, double degrees);

/* TACIT_NOT_FOUND when the table has no such coefficient. */
tacit_status tacit_stop_judge(tacit_stop_verdict *out, const tacit_stop *stop,
                              const tacit_estimates *estimates, tacit_error *error);

/* One sentence without a full stop, e.g. "the standard error of age is 0.012, and at most 0.01 is asked for";
 * returns `out`. */
char *tacit_stop_text(char out[TACIT_STOP_TEXT_SIZE], const tacit_stop *stop,
                      const tacit_stop_verdict *verdict);
