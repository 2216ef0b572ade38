#include "num/estimator.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/blas.h"
#include "num/tiles.h"

enum { COLUMNS = 4 /* numbers of each row beside its features */, PIECE = 32 /* rows */ };

static void linear_row(double y, double t, double *loss, double *slope, double *curvature) {
    *loss = 0.5 * (t - y) * (t - y);
    *slope = t - y;
    *curvature = 1;
}

static void logistic_row(double y, double t, double *loss, double *slope, double *curvature) {
    double e = exp(-fabs(t)), small = e / (1 + e); /* the probability of the less likely class */
    *loss = fmax(t, 0) - y * t + log1p(e);
    *slope = (t > 0 ? 1 - small : small) - y;
    *curvature = small / (1 + e);
}

static void huber_row(double y, double t, double *loss, double *slope, double *curvature) {
    static const double H = 0.5;
    double sign = 2 * y - 1, z = sign * t, over = 1 + H - z;
    bool bent = fabs(1 - z) <= H;
    *loss = z > 1 + H ? 0 : bent ? over * over / (4 * H) : 1 - z;
    *slope = z > 1 + H ? 0 : sign * (bent ? -over / (2 * H) : -1);
    *curvature = bent ? 1 / (2 * H) : 0;
}

static void poisson_row(double y, double t, double *loss, double *slope, double *curvature) {
    double mean = exp(fmin(t, 700)); /* far beyond any bound, and finite: zero features times it stay zero */
    *loss = mean - y * t;
    *slope = mean - y;
    *curvature = mean;
}

/* Bounds. f(0) is the loss of w = 0, m the least a row's loss can be. The total at w is at most n f(0) and every row of
 * the others loses at least m, so any subset's loss is at most n (f(0) - min(m, 0)); a subset that shows n R with
 * R > f(0) - min(m, 0) proves a larger total. Gradient and Hessian follow from |x| <= 1:
 *
 * linear    f(0) <= 1/2, m = 0; |sum (t - y) x| <= sqrt(2 n sum loss) <= n; Hessian <= n.
 * logistic  f(0) = log 2, m = 0; |l'| <= 1, l'' <= 1/4.
 * huber     f(0) = 1, m = 0; |l'| <= 1, l'' <= 1.
 * poisson   f(0) = 1, m = y - y log y >= -H log H. With mean/2 - y t >= y - y log(2y): sum mean <=
 *           2 (sum loss + n H log(2H)), so means are within 2 n (1 + H log(2H)), slopes within that + n H.
 *           R = 2 + 3 H + 2 H log(2H) is more than both, and more than f(0) - m. */
static double bound_two(double high) {
    (void)high;
    return 2;
}

static double poisson_bound(double high) {
    double h = fmax(high, 1);
    return 2 + 3 * h + 2 * h * log(2 * h);
}

static const tacit_family families[] = {
    { "linear", false, false, true, 1, linear_row, bound_two },
    { "logistic", true, false, true, 0.25, logistic_row, bound_two },
    { "huber", true, false, false, 1, huber_row, bound_two },
    { "poisson", false, true, true, INFINITY, poisson_row, poisson_bound },
};

/* For counts, with T = sum y and U = sum (y log y - y) over all rows: the others lose at least -(U + n), as each term of U
 * is at least -1, and sum y log(2y) = U + T (1 + log 2). So means are within 2 (n + U + 1.7 T), slopes within that + T, and
 * a subset that shows more than 2n + U proves a total above n, the loss of w = 0. 4n + 2 max(U, 0) + 5T is more than all. */
double tacit_family_bound(const tacit_family *family, double n, double high, const double *terms) {
    if (!family->of_counts || terms == NULL) return n * family->row_bound(high);
    return 4 * n + 2 * fmax(0, terms[1]) + 5 * fmax(0, terms[0]);
}

const tacit_family *tacit_family_find(const char *name) {
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].name, name) == 0) return &families[i];
    return NULL;
}

tacit_status tacit_sums_create(tacit_sums *out, const tacit_family *family, tacit_row_weight weight,
                               size_t width, const double *w, tacit_error *error) {
    *out = (tacit_sums){ .family = family, .weight = weight, .width = width, .w = w };
    bool matrix = weight != TACIT_WEIGH_NONE;
    out->kernels = tacit_kernels_choose();
    out->gradient = TACIT_NEW(double, width);
    out->matrix = matrix ? tacit_allocate_aligned(tacit_tiles_length(width), sizeof(double)) : NULL;
    out->packing = matrix ? tacit_allocate_aligned(tacit_tiles_room(width), sizeof(double)) : NULL;
    out->row = TACIT_NEW(const double *, TACIT_SUMS_BLOCK);
    out->room = TACIT_NEW(double, TACIT_SUMS_BLOCK *(width + COLUMNS));
    if (out->gradient != NULL && out->row != NULL && out->room != NULL &&
        (!matrix || (out->matrix != NULL && out->packing != NULL))) {
        if (matrix) memset(out->matrix, 0, tacit_tiles_length(width) * sizeof(double));
        tacit_blas_one_thread();
        return TACIT_OK;
    }
    tacit_sums_clear(out);
    return tacit_fail_memory(error);
}

void tacit_sums_clear(tacit_sums *sums) {
    free(sums->gradient);
    free(sums->matrix);
    free(sums->packing);
    free(sums->row);
    free(sums->room);
    sums->gradient = sums->matrix = sums->packing = sums->room = NULL;
    sums->row = NULL;
}

static double weight_of(tacit_row_weight weight, double slope, double curvature) {
    switch (weight) {
    case TACIT_WEIGH_NONE: return 0;
    case TACIT_WEIGH_CURVATURE: return curvature;
    case TACIT_WEIGH_SLOPE: return slope * slope;
    case TACIT_WEIGH_ONE: return 1;
    }
    return 0;
}

/* Have sums->row point to the features of each row: where it lies, or in the room. */
static void find_rows(tacit_sums *sums, const tacit_rows *rows, const size_t *kept) {
    size_t d = sums->width;
    if (kept != NULL && rows->cols == d) kept = NULL; /* ascending: it is each */
    for (size_t i = 0; i < rows->count; i++) {
        double *copy = sums->room + i * d;
        size_t stored = tacit_rows_stored(rows, i);
        const double *lies = rows->dense != NULL ? rows->dense + stored * rows->stride : NULL;
        sums->row[i] = lies != NULL && kept == NULL ? lies : copy;
        if (lies != NULL && kept != NULL)
            for (size_t j = 0; j < d; j++) copy[j] = lies[kept[j]];
        if (lies != NULL) continue;
        if (kept == NULL) {
            tacit_rows_copy(rows, i, copy);
            continue;
        }
        const tacit_csr *csr = rows->sparse;
        size_t at = csr->start[stored], end = csr->start[stored + 1];
        for (size_t j = 0; j < d; j++) {
            while (at < end && csr->column[at] < kept[j]) at++;
            copy[j] = at < end && csr->column[at] == kept[j] ? csr->value[at] : 0;
        }
    }
}

/* Losses, slopes and curvatures at `score`; the logistic family, which has the most rows to do, several at a time. */
static void make_derivatives(const tacit_sums *sums, size_t rows, const double *y, double *score,
                             double *loss, double *slope, double *curvature) {
    if (sums->family->row != logistic_row) {
        for (size_t i = 0; i < rows; i++)
            sums->family->row(y[i], score[i], &loss[i], &slope[i], &curvature[i]);
        return;
    }
    for (size_t i = 0; i < rows; i++) score[i] *= 2 * y[i] - 1;
    sums->kernels->logistic(rows, score, loss, slope, curvature);
    for (size_t i = 0; i < rows; i++) slope[i] *= 1 - 2 * y[i];
}

/* Rows come from memory once: the gradient is summed over pieces that the nearest cache still has from the scores. */
void tacit_sums_add(tacit_sums *sums, const tacit_rows *rows, const size_t *kept, const double *y) {
    size_t n = rows->count, d = sums->width;
    double *score = sums->room + TACIT_SUMS_BLOCK * d, *loss = score + TACIT_SUMS_BLOCK;
    double *slope = loss + TACIT_SUMS_BLOCK, *curvature = slope + TACIT_SUMS_BLOCK;
    find_rows(sums, rows, kept);
    for (size_t i = 0; i < n; i += PIECE) {
        size_t count = n - i < PIECE ? n - i : PIECE;
        sums->kernels->dot_rows(sums->row + i, count, d, sums->w, score + i);
        make_derivatives(sums, count, y + i, score + i, loss + i, slope + i, curvature + i);
        sums->kernels->add_rows(sums->row + i, count, d, slope + i, sums->gradient);
        for (size_t k = 0; k < count; k++) sums->objective += loss[i + k];
    }
    if (sums->matrix == NULL) return;
    double *weight = curvature;
    for (size_t i = 0; i < n; i++) weight[i] = weight_of(sums->weight, slope[i], curvature[i]);
    tacit_tiles_add(sums->kernels, sums->row, weight, n, d, sums->packing, sums->matrix);
}

size_t tacit_sums_length(tacit_row_weight weight, size_t width) {
    return 1 + width + (weight != TACIT_WEIGH_NONE ? width * (width + 1) / 2 : 0);
}

void tacit_sums_pack(const tacit_sums *sums, double *out) {
    size_t d = sums->width, at = 0;
    out[at++] = sums->objective;
    for (size_t j = 0; j < d; j++) out[at++] = sums->gradient[j];
    for (size_t i = 0; sums->matrix != NULL && i < d; i++)
        for (size_t j = 0; j <= i; j++) out[at++] = tacit_tiles_at(sums->matrix, d, i, j);
}

size_t tacit_cholesky_factor(double *a, size_t width, double tolerance, double *scale, bool *deficient) {
    size_t missing = 0;
    for (size_t j = 0; j < width; j++) {
        double diagonal = a[j * width + j];
        scale[j] = diagonal > 0 && isfinite(diagonal) ? 1 / sqrt(diagonal) : 0;
    }
    for (size_t i = 0; i < width; i++)
        for (size_t j = 0; j <= i; j++) a[i * width + j] *= scale[i] * scale[j];
    for (size_t j = 0; j < width; j++) {
        double *row = a + j * width;
        double pivot = row[j] - cblas_ddot((int)j, row, 1, row, 1);
        deficient[j] = !(pivot > tolerance);
        missing += deficient[j];
        row[j] = deficient[j] ? 0 : sqrt(pivot);
        for (size_t i = j + 1; i < width; i++) {
            double *below = a + i * width;
            below[j] = deficient[j] ? 0 : (below[j] - cblas_ddot((int)j, row, 1, below, 1)) / row[j];
        }
    }
    return missing;
}

void tacit_cholesky_solve(const double *factor, size_t width, const double *scale, double *b) {
    for (size_t i = 0; i < width; i++) b[i] *= scale[i];
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)width, factor, (int)width, b, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)width, factor, (int)width, b, 1);
    for (size_t i = 0; i < width; i++) b[i] *= scale[i];
}
