/* What the two halves of method estimate share. */
#pragma once

#include "data/folds.h"
#include "method/row_sums.h"
#include "model/report/estimates.h"
#include "model/report/evaluation.h"
#include "session/party.h"
#include "session/session.h"

enum {
    /* rows and token, in steps of the grid, before anything else in a contribution */
    TACIT_ESTIMATE_HEAD = 2,
    TACIT_ESTIMATE_TERMS = TACIT_FAMILY_TERMS
};

#define TACIT_ESTIMATE_FAMILIES "auto" TACIT_ROW_FAMILIES(TACIT_FAMILY_CHOICE) "|multinomial|ordinal"
#define TACIT_ESTIMATE_OPTIMISERS "newton|lbfgs"
#define TACIT_ESTIMATE_BIASES "none|firth"
#define TACIT_ESTIMATE_ERRORS "model|HC0|HC1|HC2|HC3|cluster|gee"
#define TACIT_ESTIMATE_ANOVA "none|drop1|sequential"

typedef struct tacit_estimate_settings {
    enum { TACIT_ESTIMATE_AUTO } family; /* or the place of its name in the list */
    enum { TACIT_ESTIMATE_NEWTON, TACIT_ESTIMATE_LBFGS } optimiser;
    double level;
    enum { TACIT_ESTIMATE_PLAIN, TACIT_ESTIMATE_FIRTH } bias;
    enum {
        TACIT_ERRORS_MODEL,
        TACIT_ERRORS_HC0,
        TACIT_ERRORS_HC1,
        TACIT_ERRORS_HC2,
        TACIT_ERRORS_HC3,
        TACIT_ERRORS_CLUSTER,
        TACIT_ERRORS_GEE /* by cluster too, without a correction for few of them, as geepack */
    } errors;
    enum { TACIT_INFLUENCE_NO, TACIT_INFLUENCE_YES } influence;
    uint64_t impute;
    enum { TACIT_ANOVA_NONE, TACIT_ANOVA_DROP, TACIT_ANOVA_SEQUENTIAL } anova;
    enum { TACIT_INTERCEPTS_COMMON, TACIT_INTERCEPTS_PARTY } intercepts;
    uint64_t folds, fold_seed;
    enum { TACIT_ROUNDS_MANY, TACIT_ROUNDS_FEW } rounds;
    enum { TACIT_START_ZERO, TACIT_START_MODEL } start;
} tacit_estimate_settings;

static inline const tacit_estimate_settings *tacit_estimate_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(tacit_estimate_settings, plan);
}

static inline bool tacit_estimate_clustered(const tacit_estimate_settings *settings) {
    return settings->errors == TACIT_ERRORS_CLUSTER || settings->errors == TACIT_ERRORS_GEE;
}

/* The family that the plan names, or that fits its response. */
const tacit_family *tacit_estimate_family(const tacit_plan *plan);

/* Whether each round counts (estimate_few.c), and TACIT_USAGE where that does not go with the rest. */
bool tacit_estimate_wants_few(const tacit_plan *plan);
bool tacit_estimate_starts_at_model(const tacit_plan *plan);
tacit_status tacit_estimate_check_few(const tacit_plan *plan, const tacit_family *family,
                                      const tacit_design *design, tacit_error *error);

/* TACIT_USAGE where label, family and settings do not go together, or there are too many columns. */
tacit_status tacit_estimate_check(const tacit_plan *plan, tacit_error *error);

/* The sum of the parties' rows, and that of `length` numbers (and the head) over n rows; `terms` are the
 * summed tacit_family_terms once they are known, NULL before. */
tacit_sum_spec tacit_estimate_rows(void);
tacit_sum_spec tacit_estimate_sum(const tacit_plan *plan, double n, const double *terms, size_t length);

tacit_release_kind tacit_estimate_kind(const tacit_plan *plan);

/* TACIT_REFUSED when under these weights few rows of a real party would make up its sums, or the rounds go on
 * and on (estimate_bounds.c). All who hold the party's rows call it, after their last sum. */
tacit_status tacit_estimate_bounds(const tacit_party *party, const tacit_question *question,
                                   const tacit_row_sums *how, tacit_error *error);

/* How many completed sets there are (estimate_impute.c); 0: nothing is imputed. */
size_t tacit_estimate_sets(const tacit_plan *plan);

/* A party whose rows are complete: those of one of its sets. */
typedef struct tacit_estimate_completed {
    tacit_party party;
    tacit_matrix values;
    int32_t *label;
    double *response;
} tacit_estimate_completed;

/* TACIT_REFUSED where few of a real party's rows are incomplete: the sums of two sets would differ in
 * these. */
tacit_status tacit_estimate_complete(tacit_estimate_completed *out, tacit_party *party, size_t set,
                                     tacit_error *error);
void tacit_estimate_completed_clear(tacit_estimate_completed *self);

/* The party with the rows that are asked for: as they are, or one of its completed sets, which `complete`
 * then has. */
tacit_status tacit_estimate_choose_rows(tacit_party *party, const tacit_question *question,
                                        tacit_estimate_completed *complete, tacit_party **out,
                                        tacit_error *error);

/* Fit all completed sets but the first, whose estimates are given, and pool them; *w, the weights of the fit
 * at hand, becomes their mean. Does nothing where nothing is imputed. */
tacit_status tacit_estimate_pool_sets(const tacit_plan *plan,
                                      tacit_status (*fit)(void *context, size_t set, tacit_estimates **out,
                                                          tacit_error *error),
                                      void *context, size_t width, double *const *w,
                                      tacit_estimates **estimates, tacit_error *error);

/* Ask for the numbers of missing values and put them into the estimates; `parties` answered so far. */
tacit_status tacit_estimate_count_missing(tacit_session *session, size_t parties, tacit_estimates *estimates,
                                          tacit_error *error);
/* Missing values of each column of the schema and of the label, rows left out; then of each the parties that
 * have some, but few, and say none. */
tacit_sum_spec tacit_estimate_missing_sum(const tacit_plan *plan);
tacit_status tacit_estimate_answer_missing(tacit_party *party, const tacit_question *question,
                                           tacit_reply *reply, tacit_error *error);

/* An empty contribution, and how it leaves. */
tacit_status tacit_estimate_begin_reply(const tacit_party *party, size_t length, tacit_reply *reply,
                                        tacit_error *error);

/* What a pass over a party's rows needs. */
typedef struct tacit_estimate_pass {
    const tacit_plan *plan;
    const tacit_family *family;
    tacit_design design;
    double terms[TACIT_ESTIMATE_TERMS]; /* of "response" */
} tacit_estimate_pass;

tacit_status tacit_estimate_begin_pass(tacit_estimate_pass *self, const tacit_party *party,
                                       tacit_error *error);
void tacit_estimate_end_pass(tacit_estimate_pass *self);
tacit_response_function tacit_estimate_response; /* with a pass as its context */

/* n of a question, believed only within what it can be. */
tacit_status tacit_estimate_read_total(const tacit_party *party, const tacit_question *question, double *n,
                                       tacit_error *error);

/* A sum as the question has to ask for it, with an empty contribution; and the end of one: summed over all
 * who hold the party's rows, its head filled, its bound kept. */
tacit_status tacit_estimate_begin_sum(const tacit_party *party, const tacit_question *question,
                                      const double *terms, size_t length, tacit_sum_spec *spec,
                                      tacit_reply *reply, tacit_error *error);
tacit_status tacit_estimate_finish_reply(const tacit_party *party, const tacit_sum_spec *spec,
                                         tacit_reply *reply, tacit_error *error);

/* An empty contribution of `length` numbers, and how it leaves; its head, and its bound kept. */
tacit_status tacit_estimate_begin_reply(const tacit_party *party, size_t length, tacit_reply *reply,
                                        tacit_error *error);
void tacit_estimate_seal(const tacit_party *party, const tacit_sum_spec *spec, double *values);

/* ---- several classes (estimate_classes.c) ---- */

/* What deviances and bounds need of the classes' numbers of rows, and where a fit starts. */
tacit_status tacit_estimate_begin_classes(const tacit_design *design, double lambda, const double *counts,
                                          double terms[TACIT_ESTIMATE_TERMS], double *w, tacit_error *error);

/* The weights of a model, all 0 before. */
tacit_status tacit_estimate_class_weights(const tacit_design *design, const double *w, double *weights,
                                          tacit_error *error);

tacit_handler tacit_estimate_answer_classes;

/* ---- one more look at the optimum (estimate_after.c, estimate_after_party.c) ----
 *
 * Robust and clustered errors need sums of squared gradients, summaries of influence those of leverages and
 * residuals. They are asked for once the optimum is known, in two rounds and only where the settings say so:
 *
 *   reach    of each of these a party's total, in parts of what it can be at most
 *   middle   sum of v x x^T, over rows with v = l'^2/(1 - h)^k (HC0 and HC1: k = 0, HC2: 1, HC3: 2), or over
 *            persons of g g^T, with g a person's summed gradient. No entry is above the first of reach
 *
 * h = l'' x.A^-1 x is a row's leverage: the party has A^-1 from the coordinator. */
enum {
    TACIT_REACH_SQUARES,   /* sum of |gradient|^2, of rows or of persons; rows as they are weighted */
    TACIT_REACH_CLUSTERS,  /* persons */
    TACIT_REACH_PEARSON,   /* sum of squared Pearson residuals */
    TACIT_REACH_LEVERAGE,  /* sum of h */
    TACIT_REACH_LEVERAGE2, /* sum of h^2 */
    TACIT_REACH_EXPLAINED, /* sum of y times its mean, of two classes */
    TACIT_REACH_COOK,      /* rows with a Cook's distance above 4/n */
    TACIT_REACH_COOK_HELD, /* parties that have some, but fewer than their owner's minimum, and say 0 */
    TACIT_REACH_HELD,      /* parties whose sums are few rows', and which say 0 */
    TACIT_REACH_HIGH,      /* parties that have rows with too high a leverage for HC2 and HC3 */
    TACIT_REACHES
};

bool tacit_estimate_looks_again(const tacit_plan *plan);

/* What each of reach can be at most; and the sums. */
void tacit_estimate_most(const tacit_plan *plan, double n, const double *terms, size_t width,
                         double most[TACIT_REACHES]);
tacit_sum_spec tacit_estimate_reach_sum(const tacit_plan *plan);
tacit_sum_spec tacit_estimate_middle_sum(const tacit_plan *plan, double squares, size_t width);

tacit_handler tacit_estimate_answer_reach, tacit_estimate_answer_middle;

/* The optimum as the coordinator has it. */
typedef struct tacit_estimate_optimum {
    tacit_session *session;
    const tacit_design *design;
    tacit_optimum *sums; /* a middle that the settings ask for is added */
    double token;
    size_t parties;
    size_t set; /* of completed ones */
} tacit_estimate_optimum;

/* The table of estimates, with what the settings ask for beside the Hessian. */
tacit_status tacit_estimate_table(tacit_estimates **out, const tacit_estimate_optimum *at,
                                  tacit_error *error);

/* The party's half: "rows", "response", "sums", and "reach" and "middle". */
extern const tacit_handler_entry tacit_estimate_handlers[];

/* ---- bias=firth (estimate_firth.c) ---- */

bool tacit_firth_wanted(const tacit_plan *plan);

/* TACIT_USAGE where the plan wants it and family or settings do not go with it. */
tacit_status tacit_firth_check(const tacit_plan *plan, const tacit_family *family, tacit_error *error);

/* The coordinator's: the inverse of the information matrix, packed as its lower triangle row by row, and room
 * to make it. */
typedef struct tacit_firth {
    size_t width;
    double *inverse; /* NULL: no penalty */
    double *factor, *scale;
    bool *deficient;
} tacit_firth;

size_t tacit_firth_triangle(size_t width);
tacit_status tacit_firth_create(tacit_firth *out, size_t width, tacit_error *error);
void tacit_firth_clear(tacit_firth *self);

/* Have the inverse be that of `times` a matrix, of which the lower triangle is read. False, and nothing is
 * changed, where it is singular. */
bool tacit_firth_invert(tacit_firth *self, const double *matrix, double times);

/* log|matrix|/2, minus infinity where it is singular. */
double tacit_firth_penalty(tacit_firth *self, const double *matrix);

/* What makes up the adjustments, and the gradients with them: of each the sum of absolute values and that of
 * squares over rows. */
enum {
    TACIT_FIRTH_ADJUSTED,
    TACIT_FIRTH_ADJUSTED_SQUARED,
    TACIT_FIRTH_SLOPES,
    TACIT_FIRTH_SLOPES_SQUARED,
    TACIT_FIRTH_SIZES
};

/* Take the adjustments of all rows at the coordinator's inverse off their gradient, and say what they rest
 * on. */
tacit_status tacit_firth_adjust(double *gradient, double sizes[TACIT_FIRTH_SIZES], const tacit_row_sums *how,
                                const double *triangle, const tacit_view *rows, tacit_error *error);

/* ---- likelihood-ratio tests by term (estimate_ratios.c) ---- */

bool tacit_estimate_wants_ratios(const tacit_plan *plan);

/* TACIT_USAGE where the plan wants them and there are none. */
tacit_status tacit_estimate_check_ratios(const tacit_plan *plan, const tacit_family *family,
                                         tacit_error *error);

/* ---- intercepts=party (estimate_apart.c) ---- */

bool tacit_estimate_apart_wanted(const tacit_plan *plan);

/* TACIT_USAGE where the plan wants it and family or settings do not go with it. */
tacit_status tacit_estimate_apart_check(const tacit_plan *plan, const tacit_family *family,
                                        const tacit_design *design, tacit_error *error);

/* The sums of a party's profile likelihood in place of tacit_row_sums_make; `w` has room for the weights with
 * its own intercept, which `how` has at the end. */
tacit_status tacit_estimate_apart(double *out, tacit_row_sums *how, double *w, const tacit_design *design,
                                  const tacit_view *rows, tacit_error *error);

/* ---- cross-validation (estimate_folds.c, estimate_folds_party.c) ----
 *
 * Each party deals its own rows out to k folds (data/folds.h). The k models, each without one fold, are
 * fitted side by side from the optimum of all rows: a round has the sums of all of them,
 *
 *   folds      for each fold its k-th weights: of the rows outside it their number, loss, gradient and
 *              Hessian
 *   held-out   once, at the end: the scores that each row gets from the model that has not seen it, counted
 *              on a public grid as method evaluate counts them, over all folds together
 */

tacit_fold_plan tacit_estimate_folds(const tacit_plan *plan);

/* TACIT_USAGE where the plan wants folds, and family or settings do not go with them. */
tacit_status tacit_estimate_check_folds(const tacit_plan *plan, const tacit_family *family,
                                        const tacit_design *design, tacit_error *error);

/* TACIT_REFUSED where a real party's smallest fold has fewer rows than its owner's minimum: the sums of all
 * rows, less those outside a fold, are the fold's. */
tacit_status tacit_estimate_admit_folds(const tacit_party *party, tacit_error *error);

/* Numbers of one fold in a sum, and what is counted at the end. */
size_t tacit_estimate_fold_length(size_t width);
tacit_status tacit_estimate_tally(tacit_tally *out, tacit_sum_spec *spec, const tacit_plan *plan,
                                  tacit_error *error);

/* A model without coefficients' errors. */
tacit_status tacit_estimate_model(tacit_model **out, const tacit_plan *plan, const tacit_design *design,
                                  const double *w, tacit_error *error);

tacit_handler tacit_estimate_answer_folds, tacit_estimate_answer_held_out;

/* ---- where there is no estimate (estimate_diagnosis.c) ---- */

/* What the coordinator knows of columns: after its first sums, at weights under which all rows have the same
 * mean, or later. */
typedef struct tacit_estimate_facts {
    const tacit_plan *plan;
    const tacit_family *family;
    const tacit_design *design;
    bool real; /* parties with owners: counts below what owners ask for by default are not said */
    double rows, responses; /* their number, and the sum of y */
    const double *w;
    const double *gram;     /* X^T X, lower triangle */
    const double *gradient; /* sum of (mean - y) x */
    double *factor, *scale; /* room: for the Cholesky factor of gram, and for the columns that it lacks */
    bool *deficient;
} tacit_estimate_facts;

/* At the start. TACIT_INPUT with a sentence for columns that follow from others, or levels without rows;
 * TACIT_NOT_CONVERGED where a level, or a value of a 0/1 column, has outcomes of one kind only: then there is
 * no finite estimate. With bias=firth that is none of a problem, and `firth` gets its first inverse. */
tacit_status tacit_estimate_check_columns(const tacit_estimate_facts *facts, tacit_firth *firth,
                                          tacit_error *error);

/* Whether the loss at some weights proves that no weights are best. */
bool tacit_estimate_separates(const tacit_estimate_facts *facts, double loss);

/* The sentence where weights diverge along `direction`; NULL: it is not known, and the weights show it. */
tacit_status tacit_estimate_say_separated(const tacit_estimate_facts *facts, const double *direction,
                                          tacit_error *error);
