/*
 * What newton, privlogit-hessian and privlogit-local share: maximum likelihood between nodes and two center
 * servers (Wang 2018, chapter 5), for the family that the label has: logistic of two classes, linear of a
 * number, and with newton Poisson of a count.
 *
 * Scale. Rows are encoded in the unit ball; here z = S x with a public S, so that columns have a spread near
 * 1; weights of the model are S beta. Maximised is l(beta) - (n ridge/2)|beta|^2 over all rows, with ridge =
 * lambda S^2, which is the (n lambda/2)|w|^2 of every other method; with penalty=sum lambda is the paper's,
 * ridge = lambda/n. By default there is none, as in method estimate: A = H/n is then taken to have
 * eigenvalues of at least 2^-20, and where it has not, what follows is seen as an overflow. All sums are
 * divided by n. A number is first brought to [-1, 1] by the public bounds of the schema, as in estimate.
 *
 * Range. With |x| <= 1, l' and l'' of the family (model/family/family.h):
 *   logistic  |l'| <= L = 1 and l'' <= c = 1/4: |gradient_j|/n <= S, |Hessian_ij|/n <= S^2/4 at every beta;
 *             the log-likelihood is moved to the bound where a node's is beyond it. R = max(S, S^2/4, 64).
 *   others    L is infinite. The family's `bound` has B such that objective, gradient and Hessian of any rows
 *             are within B n in units of w, wherever all rows together lose no more than at w = 0: within R =
 *             max(B, B S, B S^2, 64) here. linear: B = 2, and no exact step ever leads out of that region
 *             (tacit_logit_widths). Poisson: B = 2 + 3H + 2H log 2H, H the largest count of the schema, R the
 *             next power of two, and a step may lead out of it. A node never sends a number beyond R: where
 *             one would be, it sends a Hessian whose trace is R, with which no solution passes its check.
 *             What is left of R/B goes to the digits of objective and terms (tacit_logit_finer).
 * So every number that a node encrypts is within R, proved before a row is read; and so is each sum, of
 * Poisson by the check of the solution. Between the servers numbers have at most 64 bits, f of them behind
 * the point (setting `fraction`), and no more before it than n, lambda and R call for (tacit_logit_widths).
 * That solving did not overflow is checked inside the protocol: s is within its range and |H s - b| small in
 * each coordinate, one bit leaves, and it is 1 unless the run ends with an error (logit_solve.c).
 *
 * What is opened, to both servers, and by A to the nodes: beta_k of each iteration, one bit a time for the
 * stopping rule, and with inference=yes the variances of the coefficients, the sum of losses at the end and
 * the terms that deviances need of all responses together: the number of positive rows; of a number y the
 * sums of y and y^2; of a count those of y, y log y - y and log y!.
 */
#pragma once

#include "model/report/estimates.h"
#include "privacy/mechanism/mechanism.h"
#include "session/center/center_servers.h"

/* Settings of all three methods. */
typedef struct tacit_logit_settings {
    tacit_secure_engine engine;
    enum { TACIT_LOGIT_LIKELIHOOD, TACIT_LOGIT_CONVERGED } stop;
    enum { TACIT_LOGIT_INFERENCE, TACIT_LOGIT_NO_INFERENCE } inference;
    double level, scale;
    uint64_t fraction;
    double start, dp, dp_delta;
    uint64_t dp_iterations;
    enum { TACIT_LOGIT_MEAN, TACIT_LOGIT_SUM } penalty;
    bool newton; /* of the method, no setting: the true Hessian, again in each iteration */
    bool local;  /* likewise: nodes multiply the inverse with their gradients */
} tacit_logit_settings;

#define TACIT_LOGIT_DEFAULTS .level = 0.95, .fraction = 36, .dp_delta = 1e-6, .dp_iterations = 8

static inline const tacit_logit_settings *tacit_logit_settings_of(const tacit_plan *plan) {
    return TACIT_SETTINGS(tacit_logit_settings, plan);
}

/* Those that all have, for a method's table. */
#define TACIT_LOGIT_PARAMETERS                                                                               \
    TACIT_CHOICE(tacit_logit_settings, engine, "engine", "yao|shares",                                       \
                 "what the center servers compute with: garbled circuits, as in the paper, or shares"),      \
        TACIT_CHOICE(tacit_logit_settings, stop, "stop", "likelihood|converged",                             \
                     "likelihood: at a relative change below 1e-6, as in the paper; converged: within 1e-4 " \
                     "of the optimum"),                                                                      \
        TACIT_CHOICE(tacit_logit_settings, inference, "inference", "yes|no",                                 \
                     "standard errors, tests, deviance: one more inverse, of the true Hessian"),             \
        TACIT_NUMBER(tacit_logit_settings, level, "level", 0.5, 0.999999, "of the confidence intervals"),    \
        TACIT_OPEN_NUMBER(tacit_logit_settings, scale, "scale", 1e4,                                         \
                          "S: rows are multiplied with it, so that columns have a spread near 1",            \
                          "from the schema"),                                                                \
        TACIT_COUNT(tacit_logit_settings, fraction, "fraction", 24, 44,                                      \
                    "binary digits behind the point between the center servers"),                            \
        TACIT_NUMBER(tacit_logit_settings, start, "start", -100, 100, "all coefficients at the beginning")

/* At the end of each table. */
#define TACIT_LOGIT_LATER_PARAMETERS                                                                         \
    TACIT_LATER_CHOICE(tacit_logit_settings, penalty, "penalty", "mean|sum", "sum",                          \
                       "mean: lambda is beside the mean loss, as everywhere; sum: beside the sum over rows " \
                       "times scale, as in the paper")

/* `dp` is for the methods that can. */
#define TACIT_LOGIT_DP_PARAMETERS                                                                            \
    TACIT_OPEN_NUMBER(tacit_logit_settings, dp, "dp", 1e6,                                                   \
                      "epsilon: noise is added between the servers before anything is opened", "none"),      \
        TACIT_NUMBER(tacit_logit_settings, dp_delta, "dp-delta", 1e-12, 0.1, "delta that belongs to dp"),    \
        TACIT_COUNT(tacit_logit_settings, dp_iterations, "dp-iterations", 1, 1000,                           \
                    "with dp: the number of iterations, whatever the rows; of a number always 1")

/* Of a method that can since later, at the end of its table. */
#define TACIT_LOGIT_LATER_DP_PARAMETERS                                                                      \
    TACIT_LATER_OPEN_NUMBER(tacit_logit_settings, dp, "dp", 1e6, "0",                                        \
                            "epsilon: noise is added between the servers before anything is opened",         \
                            "none"),                                                                         \
        TACIT_LATER_NUMBER(tacit_logit_settings, dp_delta, "dp-delta", 1e-12, 0.1, "1e-06",                  \
                           "delta that belongs to dp"),                                                      \
        TACIT_LATER_COUNT(tacit_logit_settings, dp_iterations, "dp-iterations", 1, 1000, "8",                \
                          "with dp: the number of iterations, whatever the rows; of a number always 1")

/* ---- what nodes and servers know: it follows from the plan and from n ---- */

extern const char tacit_logit_assumption[];

/* The family of the plan's label; NULL: the methods have none for it. */
const tacit_family *tacit_logit_family(const tacit_plan *plan);
double tacit_logit_curvature(const tacit_plan *plan); /* c; INFINITY: there is none */
/* The largest |l'| of a row whose score is within `furthest` of 0 */
double tacit_logit_steepest(const tacit_plan *plan, double furthest);

tacit_status tacit_logit_check(const tacit_plan *plan, tacit_error *error);
tacit_status tacit_logit_price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                               tacit_error *error);
tacit_release_kind tacit_logit_kind(const tacit_plan *plan);

double tacit_logit_scale(const tacit_plan *plan);        /* S */
double tacit_logit_schema_scale(const tacit_plan *plan); /* the one that follows from the schema */

/* What is added to each eigenvalue of H/n. With dp, whose noise is in H, never nothing: 1/n for a lambda of
 * 0. */
double tacit_logit_ridge(const tacit_plan *plan, double n);
unsigned tacit_logit_fraction(const tacit_plan *plan); /* f */
unsigned tacit_logit_finer(const tacit_plan *plan);    /* digits more, of objective and terms */
double tacit_logit_range(const tacit_plan *plan);      /* R */
double tacit_logit_private(const tacit_plan *plan);    /* epsilon of `dp`; 0 without */
bool tacit_logit_infers(const tacit_plan *plan);       /* variances are opened at the end */

/* How many bits the numbers between the servers have; the proof is beside the code. */
void tacit_logit_widths(tacit_secure_settings *out, const tacit_plan *plan, size_t width, double n);

/* The slots for the sums of nodes. */
tacit_status tacit_logit_slots(tacit_masked_slots *out, const tacit_plan *plan,
                               const tacit_paillier_public *key, tacit_error *error);

/* Numbers in a node's answer: the family's terms (positive rows), objective, gradient and, with a matrix, its
 * triangle. TACIT_LOGIT_HEAD: terms and objective of two classes. */
enum { TACIT_LOGIT_HEAD = 2, TACIT_LOGIT_HEAD_MOST = TACIT_FAMILY_TERMS + 1 };
size_t tacit_logit_head(const tacit_plan *plan);
size_t tacit_logit_length(const tacit_plan *plan, size_t width, tacit_row_weight weight);

/* In place of a matrix in a question: gradient and Hessian of the loss that the family begins at. */
enum { TACIT_LOGIT_BEGIN = 16 };

/* How Enc(H^-1) travels (privlogit-local): column after column in slots. */
typedef struct tacit_logit_inverse {
    tacit_masked_slots slots; /* of H^-1, and of its products with gradients */
    unsigned gradient_bits;   /* behind the point of a gradient that multiplies */
    double largest;           /* no entry of H^-1 is beyond it */
    size_t blocks;            /* of coordinates: ciphertexts a column */
} tacit_logit_inverse;

tacit_status tacit_logit_inverse_plan(tacit_logit_inverse *out, const tacit_plan *plan,
                                      const tacit_paillier_public *key, size_t width, double n,
                                      tacit_error *error);

/* ---- dp: the noise of each server (logit_noise.c, with the proof) ---- */

/* What is released once: the gradient at beta, or the triangle of the matrix. */
typedef struct tacit_logit_release {
    size_t count;       /* of numbers */
    double sensitivity; /* L2, one row replaced, in units of 2^-f, or of the grid of nodes that multiply */
    tacit_mechanism mechanism;
} tacit_logit_release;

size_t tacit_logit_releases(const tacit_plan *plan); /* of a whole run: K gradients, and 1 or K matrices */

/* beta as the question has it; `matrix`: the triangle, whatever beta is. TACIT_USAGE where dp-delta is below
 * what masks give away. */
tacit_status tacit_logit_release_of(tacit_logit_release *out, const tacit_plan *plan, size_t width, double n,
                                    const double *beta, bool matrix, tacit_error *error);

/* Digits behind the point of the gradients that nodes multiply (privlogit-local): 0 where even one row leaves
 * too few. */
unsigned tacit_logit_gradient_bits(const tacit_plan *plan, size_t width, double n);

/* One server's draw, of release->count whole numbers. */
tacit_status tacit_logit_draw(int64_t *out, const tacit_logit_release *release,
                              const tacit_noise_source *source, tacit_error *error);

/* ---- a node's half ---- */

tacit_handler tacit_logit_answer_rows; /* "rows": n_i */
tacit_handler tacit_logit_answer_sums; /* "sums": encrypted sums at beta */
tacit_handler tacit_logit_answer_step; /* "step": encrypted H^-1 g_i, and the objective */

/* `count` values, rounded to the layout's grid, packed and encrypted, as "sums" of an answer. */
tacit_status tacit_logit_seal(tacit_reply *reply, const double *values, int64_t *grid, size_t count,
                              const tacit_masked_slots *layout, const tacit_paillier_public *key,
                              tacit_pool *pool, tacit_error *error);

/* Whether an answer to "rows" says how many, 1 to 2^40: server A refuses others at the door. */
/* The most that an answer of ciphertexts holds: one for each sum at the worst, and one for each column. */
size_t tacit_logit_answer_numbers(const tacit_plan *plan);

tacit_status tacit_logit_rows_usable(const tacit_plan *plan, const tacit_message *answer, tacit_error *error);

/* ---- the servers' half: every call is made by both ---- */

typedef struct tacit_logit {
    tacit_center_server *center;
    const tacit_plan *plan;
    const tacit_family *family;
    tacit_design design;
    size_t width, triangle, terms;
    unsigned fraction, bits; /* f, and of a number in all */
    unsigned finer;          /* tacit_logit_finer */
    double scale, n;
    double trace;   /* of the Hessian over n, at most */
    bool unproved;  /* that is to be seen between the servers */
    bool beginning; /* nodes are asked for the loss that the family begins at */
    size_t parties;
    double ridge; /* tacit_logit_ridge */
    tacit_masked_slots slots;
    tacit_secure *secure;
    tacit_buffer key;       /* B's public key as nodes get it */
    int64_t *beta, *before; /* public, in units of 2^-f */
    size_t iteration;
    tacit_share *head;              /* terms and then the objective, over n; tacit_logit_finer digits more */
    tacit_share *objective;         /* in it */
    tacit_share *gradient, *matrix; /* regularised, over n; the matrix a triangle */
    tacit_share *whole;             /* room for the matrix as a square */
    tacit_share *step;              /* room for a step of all coordinates */
    tacit_share last_objective;
    bool has_last;
    double last_step;
    int looked;       /* times for the optimum, without success */
    double noise;     /* with dp: what noise adds to the sum of a row of the matrix at most */
    int64_t *inverse; /* with dp in privlogit-local: of the noisy matrix, opened, as nodes multiply it */
} tacit_logit;

tacit_status tacit_logit_begin(tacit_logit *self, tacit_center_server *center, tacit_error *error);
void tacit_logit_end(tacit_logit *self);

/* The parts of it, for another likelihood between the servers (cox_servers.c): how long to wait, n, room for
 * `width` columns from a beta of `start` on. */
void tacit_logit_be_patient(tacit_logit *self);
tacit_status tacit_logit_count_rows(tacit_logit *self, tacit_error *error);
tacit_status tacit_logit_make_room(tacit_logit *self, double start, tacit_error *error);

/* A asks all nodes at beta, the same that answered first, and adds up ciphertexts of theirs. */
tacit_status tacit_logit_ask(tacit_logit *self, const char *question, tacit_row_weight weight,
                             const tacit_buffer *inverse, tacit_answers *out, tacit_error *error);
tacit_status tacit_logit_add_up(const tacit_logit *self, const tacit_answers *answers, const char *field,
                                size_t count, tacit_ciphertexts **out, tacit_error *error);
void tacit_logit_regularise(tacit_logit *self, bool has_gradient, bool has_matrix);

/* Behind the point of terms and objective. */
static inline int tacit_logit_digits(const tacit_logit *self) { return (int)(self->fraction + self->finer); }

/* A new beta, to whoever looks on. */
void tacit_logit_report(tacit_logit *self);

/* Opened: the variance of each coefficient on the raw scale, over (scale largest)^2/n. */
tacit_status tacit_logit_open_variances(tacit_logit *self, const tacit_share *inverse, int64_t *opened,
                                        double *largest, tacit_error *error);

/* Sums of all nodes at beta, as shares: head, gradient and, for another weight than none, matrix. */
tacit_status tacit_logit_gather(tacit_logit *self, tacit_row_weight weight, tacit_error *error);

/* For privlogit-local: Enc(H^-1) is at A, from a run before or now; the nodes' H^-1 g_i come back, and their
 * objectives. */
tacit_status tacit_logit_inverse_known(tacit_logit *self, bool *known, tacit_buffer *out, tacit_error *error);
tacit_status tacit_logit_encrypt_inverse(tacit_logit *self, const tacit_share *inverse, tacit_buffer *out,
                                         tacit_error *error);
tacit_status tacit_logit_gather_step(tacit_logit *self, const tacit_buffer *inverse, tacit_share *step,
                                     tacit_error *error);

/* The same with dp (logit_noisy_step.c, with the proof): the noisy matrix is opened, its inverse encrypted by
 * A; and noise, the ridge and the inverse go onto the sum of the nodes' steps before it loses its digits. */
tacit_status tacit_logit_noisy_inverse(tacit_logit *self, tacit_buffer *out, tacit_error *error);
tacit_status tacit_logit_noisy_step(tacit_logit *self, const tacit_logit_inverse *layout, tacit_share *step,
                                    tacit_error *error);

/* The step to where the family begins: gather, then solve and open as usual. */
tacit_status tacit_logit_gather_beginning(tacit_logit *self, tacit_error *error);

/* The stopping rule at beta_k, whose objective was just gathered. */
tacit_status tacit_logit_stops(tacit_logit *self, bool *stop, tacit_error *error);

/* Is the next beta known from a run before? Then it is taken, and nothing need be computed. */
tacit_status tacit_logit_known(tacit_logit *self, bool *known, tacit_error *error);
/* beta <- beta - step, opened. */
tacit_status tacit_logit_open(tacit_logit *self, const tacit_share *step, tacit_error *error);

/* With dp: are all iterations done? Then no more questions are put. */
bool tacit_logit_spent(const tacit_logit *self);

/* Noise of `dp` on gradient and matrix; nothing without. */
tacit_status tacit_logit_add_noise(tacit_logit *self, tacit_row_weight weight, tacit_error *error);

/* Factor the matrix; solve and invert, and see that the solution is one (logit_solve.c has the proof of what
 * that means). */
tacit_status tacit_logit_factor(tacit_logit *self, tacit_factored **out, tacit_error *error);
tacit_status tacit_logit_solve(tacit_logit *self, tacit_factored *factor, bool check, tacit_share *step,
                               tacit_error *error);
tacit_status tacit_logit_invert(tacit_logit *self, tacit_factored *factor, tacit_share *inverse,
                                tacit_error *error);

/* Whether H s = b to 2^tolerance units in each coordinate, and |s| < 2^step_bits: one bit is opened, and
 * TACIT_LIMIT unless it is 1. */
unsigned tacit_logit_step_bits(const tacit_logit *self);
tacit_status tacit_logit_check_solution(tacit_logit *self, const tacit_share *s, const tacit_share *b,
                                        unsigned tolerance, tacit_error *error);

/* Variances and deviances where asked for, and the model, at A. */
tacit_status tacit_logit_finish(tacit_logit *self, tacit_outcome *out, tacit_error *error);
/* The model with these weights of the columns that are kept; takes the estimates over (NULL: none). */
tacit_status tacit_logit_publish(const tacit_logit *self, const tacit_family *family, size_t classes,
                                 const double *weights, tacit_estimates **estimates, tacit_outcome *out,
                                 tacit_error *error);

/* What the methods of two servers say alike. `counts`: what is opened of counts, where the label is not
 * known. */
#define TACIT_LOGIT_OPENED(counts)                                                                           \
    "[dp=0,inference=yes: ; also the variance of each coefficient][dp=0,inference=yes,label=class|any: , "   \
    "the log-likelihood at the end and the number of positive rows][dp=0,inference=yes,label=any:  (of a "   \
    "label that is a number the sums of squared residuals, of labels and of squared labels" counts           \
    ")][dp=0,inference=yes,label=number:  over sigma^2, and the sums of squared residuals, from which "      \
    "sigma^2 follows, of labels and of squared labels][dp=0,inference=yes,label=count: , the "               \
    "log-likelihood at the end, and the sums of labels y, of y log y and of log y!]"
#define TACIT_LOGIT_NO_COUNTS "no constant matrix bounds the Hessian of Poisson regression"
#define TACIT_LOGIT_COUNTS                                                                                   \
    "; of a count the log-likelihood, and the sums of labels y, of y log y and of log y!"
#define TACIT_LOGIT_SEEN_BY(counts)                                                                          \
    "neither server sees a party's sums or their total: A has ciphertexts and shares, B masked "             \
    "values and shares. Both servers and all parties see the [dp=0: exact][dp!=0: noisy] "                   \
    "coefficients beta_k of every iteration, each party's number of rows, the numbers of columns and "       \
    "of iterations" TACIT_LOGIT_OPENED(counts) "; and one bit each time the servers ask whether the "        \
                                               "equations have a solution, or whether to stop"
#define TACIT_LOGIT_GUARANTEE                                                                                \
    "[dp=0: no differential privacy: the coefficients beta_k are exact. The computation between "            \
    "parties and servers reveals nothing beyond what is listed under 'seen by'][dp!=0: (dp, "                \
    "dp-delta)-differential privacy of all iterations together for replacing one row of a party, "           \
    "towards everybody, either server included: each server adds a whole draw of the noise to every "        \
    "sum before anything is opened, so knowing its own helps it nothing]"
#define TACIT_LOGIT_ASSUMPTION                                                                               \
    "the two center servers follow the protocol and do not show each other what they see "                   \
    "(semi-honest, not colluding). Computational security of 112 bits with B's key of 2048 bits (128 "       \
    "with 3072 bits), statistical security of 40 bits for each masked value. If server A colludes "          \
    "with parties, they learn no more than what each sees anyway"
#define TACIT_LOGIT_HANDLERS                                                                                 \
    { .question = "rows", .answer = tacit_logit_answer_rows, .usable = tacit_logit_rows_usable }, {          \
        .question = "sums", .answer = tacit_logit_answer_sums, .answer_numbers = tacit_logit_answer_numbers  \
    }
