#include "data/points.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "num/blas.h"

/* Beyond this many columns the eigenvalue takes longer than it is worth, and kappa is the longest norm. */
enum { MOST_COLUMNS = 2000, BLOCK = 4096 };

/* The Gram matrix is summed in blocks with fixed boundaries, each on one thread, added in order: the same on
 * any number of threads. */
typedef struct summing {
    const tacit_rows *rows;
    double *blocks; /* one cols x cols matrix each */
} summing;

static tacit_status sum_block(void *context, size_t begin, size_t end, unsigned worker, tacit_error *error) {
    const summing *work = context;
    size_t d = work->rows->cols;
    (void)worker;
    for (size_t b = begin; b < end; b++) {
        double *gram = work->blocks + b * d * d, *x = TACIT_NEW(double, d);
        if (x == NULL) return tacit_fail_memory(error);
        size_t last = (b + 1) * BLOCK < work->rows->count ? (b + 1) * BLOCK : work->rows->count;
        for (size_t i = b * BLOCK; i < last; i++) {
            tacit_rows_copy(work->rows, i, x);
            for (size_t j = 0; j < d; j++)
                if (x[j] != 0) tacit_rows_add(work->rows, i, x[j], gram + j * d);
        }
        free(x);
    }
    return TACIT_OK;
}

static tacit_status gram_matrix(const tacit_rows *rows, tacit_pool *pool, double *gram, tacit_error *error) {
    size_t d = rows->cols, blocks = (rows->count + BLOCK - 1) / BLOCK, at_once = 2 * tacit_pool_threads(pool);
    tacit_status status = TACIT_OK;
    summing work = { NULL, NULL };
    for (size_t first = 0; first < blocks && status == TACIT_OK; first += at_once) {
        size_t count = blocks - first < at_once ? blocks - first : at_once;
        size_t begin = first * BLOCK, left = rows->count - begin;
        tacit_rows some = tacit_rows_slice(rows, begin, count * BLOCK < left ? count * BLOCK : left);
        work = (summing){ &some, TACIT_NEW(double, count *d *d) };
        if (work.blocks == NULL) return tacit_fail_memory(error);
        status = tacit_pool_for(pool, count, 1, sum_block, &work, error);
        for (size_t b = 0; b < count; b++)
            for (size_t j = 0; j < d * d; j++) gram[j] += work.blocks[b * d * d + j];
        free(work.blocks);
    }
    return status;
}

/* The largest eigenvalue of a symmetric positive matrix, rounded up. LAPACK's eigenvalues are those of a
 * matrix within a small multiple of d 2^-53 of its norm (Anderson et al., LAPACK Users' Guide), which is at
 * most the trace; forming the sums of N products has moved it by at most N 2^-53 of the trace. */
static tacit_status largest_eigenvalue(double *out, double *gram, size_t d, size_t rows, tacit_error *error) {
    double trace = 0;
    for (size_t j = 0; j < d; j++) trace += gram[j * d + j];
    double *values = TACIT_NEW(double, d), none = 0;
    lapack_int found = 0, n = (lapack_int)d, support[2];
    if (values == NULL) return tacit_fail_memory(error);
    lapack_int info = LAPACKE_dsyevr(LAPACK_ROW_MAJOR, 'N', 'I', 'U', n, gram, n, 0, 0, n, n, 0, &found,
                                     values, &none, 1, support);
    double largest = values[0];
    free(values);
    if (info == LAPACK_WORK_MEMORY_ERROR) return tacit_fail_memory(error);
    *out = info == 0 && found == 1 ? largest + trace * 0x1p-53 * (100 * (double)d + (double)rows) : trace;
    return TACIT_OK;
}

/* L L^T = C + tau I + E, where C = X^T X/N is computed with an error of at most (N + 2) 2^-53 of its trace
 * and the factorisation leaves |E| <= (d + 1)^2 2^-53 of the trace (Higham 2002, theorem 10.3): tau is far
 * above both, so L L^T >= C. */
static const double TAU = 1e-6;

static tacit_status find_shape(tacit_points *out, const double *gram, size_t rows, tacit_error *error) {
    size_t d = out->rows.cols;
    double *factor = TACIT_NEW(double, d *d), trace = 0;
    if (factor == NULL) return tacit_fail_memory(error);
    for (size_t j = 0; j < d; j++) trace += gram[j * d + j] / (double)rows;
    double tau = TAU * trace;
    for (size_t j = 0; j < d; j++) {
        for (size_t k = 0; k <= j; k++) factor[j * d + k] = gram[j * d + k] / (double)rows;
        factor[j * d + j] += tau;
    }
    double unit = 0x1p-52, errors = ((double)rows + 2 + (double)(d + 1) * (double)(d + 1)) * unit;
    bool sound = errors < TAU / 2;
    if (!sound || LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', (lapack_int)d, factor, (lapack_int)d) != 0) {
        free(factor);
        return TACIT_OK; /* no shape: noise is the same in all directions */
    }
    out->shape = factor;
    return TACIT_OK;
}

static tacit_status find_spread(tacit_points *out, tacit_pool *pool, tacit_error *error) {
    size_t d = out->rows.cols, count = out->rows.count;
    if (d > MOST_COLUMNS) return TACIT_OK;
    double *gram = TACIT_NEW(double, d *d), largest = 1;
    if (gram == NULL) return tacit_fail_memory(error);
    tacit_blas_one_thread();
    tacit_status status = gram_matrix(&out->rows, pool, gram, error);
    if (status == TACIT_OK) status = find_shape(out, gram, count, error);
    if (status == TACIT_OK) status = largest_eigenvalue(&largest, gram, d, count, error);
    free(gram);
    if (status == TACIT_OK) out->kappa = fmin(out->kappa, sqrt(largest / (double)count) * (1 + 1e-12));
    return status;
}

tacit_status tacit_points_check(const tacit_rows *rows, tacit_error *error) {
    if (rows->count == 0) return tacit_fail(error, TACIT_INPUT, "there are no auxiliary points");
    for (size_t i = 0; i < rows->count; i++) {
        double norm = tacit_rows_norm(rows, i);
        if (!(norm <= TACIT_POINTS_LONGEST))
            return tacit_fail(
                error, TACIT_INPUT,
                "auxiliary point %zu has norm %g, outside the unit ball: encode it with the study's schema",
                i + 1, norm);
    }
    return TACIT_OK;
}

tacit_status tacit_points_of(tacit_points *out, const tacit_rows *rows, tacit_pool *pool,
                             tacit_error *error) {
    size_t bytes = 0;
    double longest = 0;
    TACIT_TRY(tacit_points_check(rows, error));
    for (size_t i = 0; i < rows->count; i++) {
        longest = fmax(longest, tacit_rows_norm(rows, i));
        size_t stored = tacit_rows_stored(rows, i);
        bytes += rows->sparse != NULL ? 12 * (rows->sparse->start[stored + 1] - rows->sparse->start[stored])
                                      : 8 * rows->cols;
    }
    longest *= 1 + ((double)rows->cols + 4) * 0x1p-52; /* how a norm is rounded */
    tacit_points points = { .rows = *rows, .kappa = fmin(longest, TACIT_POINTS_LONGEST), .bytes = bytes };
    tacit_status status = find_spread(&points, pool, error);
    if (status == TACIT_OK)
        *out = points;
    else
        tacit_points_clear(&points);
    return status;
}

void tacit_points_clear(tacit_points *points) {
    if (points == NULL) return;
    free(points->shape);
    *points = (tacit_points)TACIT_POINTS_INIT;
}

void tacit_points_shape(const tacit_points *points, double *vectors, size_t count) {
    size_t d = points->rows.cols;
    for (size_t v = 0; points->shape != NULL && v < count; v++)
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (blasint)d, points->shape,
                    (blasint)d, vectors + v * d, 1);
}

void tacit_points_unshape(const tacit_points *points, double *vectors, size_t count) {
    size_t d = points->rows.cols;
    for (size_t v = 0; points->shape != NULL && v < count; v++)
        cblas_dtrmv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (blasint)d, points->shape,
                    (blasint)d, vectors + v * d, 1);
}

/* Entry j is a sum of N products, each rounded a few times: within (N + 5) 2^-53 of mean_i |x_ij|, and the
 * norm of those means is at most sqrt(trace C), which is 1 except for rounding. */
double tacit_points_rounding(const tacit_points *points, size_t further) {
    return ((double)points->rows.count + 5 + (double)further) * 0x1p-52;
}

/* With tau = TAU trace C: |L^-1| <= 1/sqrt(tau/2) takes the above, at most (N + 5) 2^-53 sqrt(trace C), to
 * (N + 5) 2^-53 sqrt(2/TAU). The solution itself is that of (L + F) t = s with |F| <= d 2^-53 |L| (Higham
 * 2002, theorem 8.5), |L|_F^2 <= 1.1 trace C and |t| <= 2, which adds 2 d 2^-53 sqrt(2.2/TAU). */
double tacit_points_shaped_rounding(const tacit_points *points, size_t further) {
    if (points->shape == NULL) return tacit_points_rounding(points, further);
    return (tacit_points_rounding(points, further) + 2 * (double)points->rows.cols * 0x1p-52) *
           sqrt(2.2 / TAU);
}

double tacit_points_reach(const tacit_points *points) { return points->shape != NULL ? 1 : points->kappa; }

tacit_points tacit_points_some(const tacit_points *points, size_t count, uint32_t *index) {
    const tacit_rows *all = &points->rows;
    tacit_points some = *points;
    for (size_t i = 0; i < count; i++) index[i] = (uint32_t)tacit_rows_stored(all, i * all->count / count);
    some.rows.index = index;
    some.rows.first = 0;
    some.rows.count = count;
    some.bytes = points->bytes / all->count * count;
    return some;
}
