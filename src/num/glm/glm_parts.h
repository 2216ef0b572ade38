/*
 * What the solver's files share. A `glm_work` is one problem laid out for passes over its rows: fixed blocks
 * of rows, grouped into a fixed number of tasks whose partial sums are added in order, so that no result
 * depends on the number of threads. `outputs` is 1, or with a score a class the number of classes; vectors
 * over coordinates have `size` = outputs * cols numbers, vectors over rows rows * outputs.
 */
#pragma once

#include "num/glm/glm.h"
#include "num/kernel/kernel.h"

#define GLM_UNIT_ROUNDOFF 0x1p-53

/* Upper bounds, over all holders, that the rounding analysis in glm_certify.c needs. Independent of w. */
typedef struct glm_rounding {
    double weighted_norms;   /* sum_i weight_i |x_i| */
    double weighted_squares; /* sum_i weight_i |x_i|^2 */
    double sum_error;        /* relative error of a sum over rows, times weighted_norms */
    double dot_terms;        /* products in the longest dot product x . w */
    double holders;
} glm_rounding;

/* A copy of sparse rows of two-class problems in half their memory, 6 bytes an entry; for numbers that need
 * not be certified. */
typedef struct glm_compact {
    size_t *start; /* rows + 1 */
    uint16_t *column;
    float *value;
    float *vector; /* cols: what the rows are multiplied by */
    float *sum;    /* workers * cols */
} glm_compact;

typedef struct glm_work {
    const tacit_glm_problem *problem;
    const tacit_kernels *kernels;
    tacit_pool *pool;
    tacit_rows x;
    double uniform_weight; /* of each row when the problem gives none */
    double weight_scale;   /* above 1 when x is a sample of the rows */
    double shape;          /* of the loss */
    size_t cols, outputs, size;
    size_t block_rows, blocks, groups, workers;
    double *partial; /* groups * partial_size: each group's sums */
    size_t partial_size;
    double *scratch; /* workers * scratch_size */
    size_t scratch_size;
    const double **row_pointers; /* workers * block_rows */
    const glm_compact *compact;  /* not NULL: for glm_margins and glm_evaluate_known */
    bool measured;               /* rounding is filled in, by the first evaluation */
    glm_rounding rounding;
} glm_work;

/* What a pass adds up beside the gradient: one place each after the `size` coordinates. */
enum {
    GLM_SUM_VALUE,
    GLM_SUM_SQUARES,
    GLM_SUM_NORMS,
    GLM_SUM_ERROR,
    GLM_SUM_TERMS,
    GLM_SUM_HOLDERS,
    GLM_SUMS
};

/* Everything known about one weight vector. */
typedef struct glm_point {
    double *weights;   /* size */
    double *gradient;  /* size, and room for GLM_SUMS more */
    double *margin;    /* rows * outputs: x . w */
    double *curvature; /* weight * loss'' per row; with a score a class their probabilities per row */
    double loss;       /* the rows' part of the objective */
    double objective, norm, bound;
    double scale; /* sizes of the objective's terms together: what its rounding is relative to */
} glm_point;

/* Check what a caller can get wrong; one clear sentence when it is. */
tacit_status glm_validate(const tacit_glm_problem *problem, tacit_error *error);

/* Lay out passes over `x`, all rows of the problem or a sample of them. Call glm_work_clear in any case. */
tacit_status glm_work_prepare(glm_work *work, const tacit_glm_problem *problem, tacit_pool *pool,
                              const tacit_rows *x, double weight_scale, tacit_error *error);
void glm_work_clear(glm_work *work);

tacit_status glm_point_create(glm_point *point, const glm_work *work, tacit_error *error);
void glm_point_clear(glm_point *point);

static inline double glm_row_weight(const glm_work *work, size_t stored) {
    return (work->problem->weight != NULL ? work->problem->weight[stored] : work->uniform_weight) *
           work->weight_scale;
}

static inline double glm_lambda(const glm_work *work, size_t j) {
    const tacit_glm_problem *problem = work->problem;
    return problem->lambda_each != NULL ? problem->lambda_each[j] : problem->lambda;
}

/* The first row of block b; fixed by the problem's shape alone. */
static inline size_t glm_block_begin(const glm_work *work, size_t block) {
    size_t begin = block * work->block_rows;
    return begin < work->x.count ? begin : work->x.count;
}

/* --- glm_eval.c: passes over the rows --- */

/* The longest chain of additions in any sum over this many rows of a vector of `size` numbers, however they
 * are stored. */
double glm_longest_chain(double rows, double size);

/* Fill in everything at point->weights. Sums that overflow are not an error here: the objective or the bound
 * is then not finite. */
tacit_status glm_evaluate(glm_work *work, glm_point *point, tacit_error *error);

/* The same from point->margin, which the caller has brought up to date by margins of steps. Their rounding
 * errors add up, and the rows may be the compact ones, so nothing is certified: the bound is infinite. */
tacit_status glm_evaluate_known(glm_work *work, glm_point *point, tacit_error *error);

/* out = X v, rows * outputs numbers */
tacit_status glm_margins(glm_work *work, const double *v, double *out, tacit_error *error);

/* out = (data Hessian at `point` + regulariser) v */
tacit_status glm_hessian_times(glm_work *work, const glm_point *point, const double *v, double *out,
                               tacit_error *error);

/* The objective on the line weights + s * direction without a pass over the features, from margins and
 * their change: derivative and second derivative of F in s, and F itself. */
typedef struct glm_line {
    double value, slope, curvature;
} glm_line;
tacit_status glm_along(glm_work *work, const glm_point *point, const double *margin_change, double s,
                       glm_line *out, tacit_error *error);

/* Sum over holders in place; nothing without a reducer. */
tacit_status glm_reduce(const glm_work *work, double *values, size_t count, tacit_error *error);

/* Pointers to rows [begin, begin + count), sparse or scattered ones copied into `room`. */
const double *const *glm_dense_block(const glm_work *work, size_t begin, size_t count, unsigned worker,
                                     double *room);

/* Add `groups` partial vectors of `length` (stride apart) into `out`, in order. */
tacit_status glm_add_partials(glm_work *work, const double *partial, size_t groups, size_t stride,
                              size_t length, double *out, tacit_error *error);

/* --- glm_hessian.c --- */

typedef enum glm_hessian_kind {
    GLM_HESSIAN_FULL,     /* size x size, upper triangle row-major, without the regulariser */
    GLM_HESSIAN_COMMON,   /* softmax: cols x cols, one matrix that stands for all classes */
    GLM_HESSIAN_DIAGONAL, /* size */
} glm_hessian_kind;

/* From every `every`-th block of rows, scaled up: 1 for all of them. */
tacit_status glm_hessian(glm_work *work, const glm_point *point, glm_hessian_kind kind, size_t every,
                         double *out, tacit_error *error);

/* --- glm_direction.c: Newton directions --- */

enum { GLM_MOST_PAIRS = 12 };

typedef struct glm_newton {
    glm_hessian_kind kind;
    bool exact;   /* the factored matrix is the Hessian at a recent point: solving with it is a Newton step */
    size_t every; /* the Hessian is taken from every n-th block */
    size_t order; /* of the factored matrix */
    double *matrix; /* order x order, or the diagonal */
    double *room;   /* 5 * size for conjugate gradients */
    double *saved;  /* order: the diagonal, to start a factorisation over */
    size_t pairs;   /* steps and their changes of the gradient learnt since the last refresh */
    double *learnt; /* 2 * GLM_MOST_PAIRS * size: a step, its change of the gradient, the next step, ... */
    double scale[GLM_MOST_PAIRS]; /* 1/(step . change) */
} glm_newton;

tacit_status glm_newton_prepare(glm_newton *newton, const glm_work *work, tacit_error *error);
void glm_newton_clear(glm_newton *newton);

/* Compute and factor the Hessian, or what stands for it, at `point`. */
tacit_status glm_newton_refresh(glm_newton *newton, glm_work *work, const glm_point *point,
                                tacit_error *error);

/* direction = -(Hessian at point)^-1 gradient, by the factor alone when it is exact, else by conjugate
 * gradients preconditioned with it; `steps` counts the products with the Hessian. */
tacit_status glm_newton_direction(glm_newton *newton, glm_work *work, const glm_point *point,
                                  double tolerance, double *direction, int *steps, tacit_error *error);

/* Tell an exact factor what a step of `step` times `direction` did to the gradient: later directions are
 * corrected for what the factor did not know (BFGS, limited memory). */
void glm_newton_learn(glm_newton *newton, const glm_work *work, const double *direction, double step,
                      const double *gradient_before, const double *gradient_after);

/* --- glm_search.c --- */

/* The objective at step s along the line being searched; the value may lack a constant. */
typedef tacit_status glm_trial(void *context, double s, glm_line *out, tacit_error *error);

/* A step s > 0 that decreases a convex function and at which its slope is at most a fiftieth of that at 0
 * (a Wolfe step). 0 when rounding hides every decrease. */
tacit_status glm_search(glm_trial *trial, void *context, double *step, tacit_error *error);

/* The same on the line from `point` along `direction`, whose margins are `margin_change`: n numbers per trial
 * instead of a pass over the features. */
tacit_status glm_search_margins(glm_work *work, const glm_point *point, const double *direction,
                                const double *margin_change, double *step, tacit_error *error);

/* --- glm_compact.c --- */

/* Whether the rows have a compact form. */
bool glm_compact_fits(const glm_work *work);

tacit_status glm_compact_create(glm_compact *out, const glm_work *work, tacit_error *error);
void glm_compact_clear(glm_compact *compact);

/* out[i] = x_i . v for `count` rows, v being compact->vector */
void glm_compact_margins(const glm_work *work, size_t begin, size_t count, double *out);

/* sum += sum_i residual[i] x_i, into a worker's own sum, and from there to `out`, when the sum starts
 * again. */
void glm_compact_add(const glm_work *work, size_t begin, size_t count, const double *residual,
                     unsigned worker);
void glm_compact_take(const glm_work *work, unsigned worker, double *out);

/* --- glm_descent.c --- */

/* Pairs of vectors that the descent remembers; 0: it is not worth its while here. */
size_t glm_descent_pairs(const glm_work *work);

/* From `now`, already evaluated, towards a certified bound of at most `tolerance`, as long as that goes well;
 * `now` is certified at the end too. `next`, `direction` and `margin_change` are room. */
tacit_status glm_descend(glm_work *work, const tacit_glm_settings *settings, double tolerance, glm_point *now,
                         glm_point *next, double *direction, double *margin_change, int *iterations,
                         tacit_error *error);

/* --- glm_loss.c: the losses on a block of margins --- */

/* How many numbers the losses need as room for each row and output. */
static inline size_t glm_loss_room(const tacit_loss *loss) { return 4 + loss->columns; }

/* Residual (derivative of weight * loss by the margin), curvature and summed value for rows [begin,
 * begin + count) with margins t. `room` here and below holds glm_loss_room * count * outputs numbers. */
double glm_loss_block(const glm_work *work, size_t begin, size_t count, const double *t, double *residual,
                      double *curvature, double *room);

/* Value, slope and curvature in s of the weighted loss at margins t + s dt. */
void glm_loss_along(const glm_work *work, size_t begin, size_t count, const double *t, const double *dt,
                    double s, double *room, glm_line *sum);

/* out = (second derivative of the rows' loss) applied to the margins' change q, in place. */
void glm_loss_second(const glm_work *work, size_t begin, size_t count, const double *curvature, double *q);

/* --- glm_certify.c --- */

/* This holder's relative error of a sum over rows, and the products in its longest dot product. */
double glm_sum_error(const glm_work *work);
double glm_dot_terms(const glm_work *work);

/* Bound on the exact gradient norm. `regular` = |lambda o (w - prior)|, `linear` = |linear|, `data` = |sum of
 * residuals times rows|, `norm` = |gradient|, all as computed. */
double glm_gradient_bound(const glm_work *work, double weights, double norm, double regular, double linear,
                          double data);

/* --- solvers --- */

/* The best weights found: their fit, and sum_i weight_i |x_i|^2. */
typedef struct glm_found {
    tacit_glm_fit fit;
    double squares;
} glm_found;

/* Newton's iteration from `weights`, which become the best that was found, also with TACIT_NOT_CONVERGED. */
tacit_status glm_solve_once(const tacit_glm_problem *problem, const tacit_glm_settings *settings,
                            double *weights, glm_found *found, tacit_error *error);

/* glm_path.c: the same over a falling sequence of regularisers, after glm_solve_once has failed with
 * `found`. */
tacit_status glm_solve_path(const tacit_glm_problem *problem, const tacit_glm_settings *settings,
                            double *weights, glm_found *found, tacit_error *error);

tacit_status glm_solve_general(const tacit_glm_problem *problem, const tacit_glm_settings *settings,
                               double *weights, tacit_glm_fit *fit, tacit_error *error);

bool glm_small_fits(const tacit_glm_problem *problem);

/* TACIT_NOT_CONVERGED leaves `weights` as they were, and the general path may still succeed. */
tacit_status glm_solve_small(const tacit_glm_problem *problem, const tacit_glm_settings *settings,
                             double *weights, tacit_glm_fit *fit, tacit_error *error);

/* --- small vector helpers --- */

double glm_dot(const double *a, const double *b, size_t count);
double glm_norm(const double *a, size_t count);
