#include "num/portable/portable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- vectors ---- */

void tacit_portable_axpy(int n, double alpha, const double *x, double *y) {
    for (int i = 0; i < n; i++) y[i] += alpha * x[i];
}

double tacit_portable_dot(int n, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

void tacit_portable_scale(int n, double alpha, double *x) {
    for (int i = 0; i < n; i++) x[i] *= alpha;
}

/* Divided by the largest first: squares neither overflow nor vanish. */
double tacit_portable_norm(int n, const double *x) {
    double largest = 0, sum = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
    if (largest == 0 || isinf(largest)) return largest;
    for (int i = 0; i < n; i++) sum += (x[i] / largest) * (x[i] / largest);
    return largest * sqrt(sum);
}

/* ---- products ---- */

/* 0 as a factor replaces whatever there was, NaN too, as in BLAS. */
static void begin(int n, double beta, double *c) {
    if (beta == 0)
        memset(c, 0, (size_t)n * sizeof *c);
    else
        tacit_portable_scale(n, beta, c);
}

void tacit_portable_product(bool turn_a, bool turn_b, int m, int n, int k, double alpha, const double *a,
                            int lda, const double *b, int ldb, double beta, double *c, int ldc) {
    for (int i = 0; i < m; i++) {
        double *out = c + (long)i * ldc;
        begin(n, beta, out);
        for (int l = 0; l < k; l++) {
            const double factor = alpha * (turn_a ? a[(long)l * lda + i] : a[(long)i * lda + l]);
            if (!turn_b)
                tacit_portable_axpy(n, factor, b + (long)l * ldb, out);
            else
                for (int j = 0; j < n; j++) out[j] += factor * b[(long)j * ldb + l];
        }
    }
}

void tacit_portable_square(bool upper, bool turn, int n, int k, double alpha, const double *a, int lda,
                           double beta, double *c, int ldc) {
    for (int i = 0; i < n; i++) {
        const int first = upper ? i : 0, count = upper ? n - i : i + 1;
        double *out = c + (long)i * ldc + first;
        begin(count, beta, out);
        for (int l = 0; turn && l < k; l++)
            tacit_portable_axpy(count, alpha * a[(long)l * lda + i], a + (long)l * lda + first, out);
        for (int j = 0; !turn && j < count; j++)
            out[j] += alpha * tacit_portable_dot(k, a + (long)i * lda, a + (long)(first + j) * lda);
    }
}

void tacit_portable_symmetric(int m, int n, double alpha, const double *a, int lda, const double *b, int ldb,
                              double beta, double *c, int ldc) {
    for (int i = 0; i < m; i++) {
        const double *row = b + (long)i * ldb;
        double *out = c + (long)i * ldc;
        begin(n, beta, out);
        for (int j = 0; j < n; j++)
            for (int l = 0; l < n; l++)
                out[j] += alpha * row[l] * (l >= j ? a[(long)l * lda + j] : a[(long)j * lda + l]);
    }
}

/* ---- triangles ---- */

void tacit_portable_solve(bool turn, int n, const double *a, int lda, double *x) {
    if (!turn) {
        for (int i = 0; i < n; i++)
            x[i] = (x[i] - tacit_portable_dot(i, a + (long)i * lda, x)) / a[(long)i * lda + i];
        return;
    }
    for (int i = n - 1; i >= 0; i--) {
        x[i] /= a[(long)i * lda + i];
        tacit_portable_axpy(i, -x[i], a + (long)i * lda, x);
    }
}

void tacit_portable_times(int n, const double *a, int lda, double *x) {
    for (int i = n - 1; i >= 0; i--) x[i] = tacit_portable_dot(i + 1, a + (long)i * lda, x);
}

int tacit_portable_cholesky(int n, double *a, long row, long column) {
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = a[i * row + j * column];
            for (int l = 0; l < j; l++) sum -= a[i * row + l * column] * a[j * row + l * column];
            if (i > j) {
                a[i * row + j * column] = sum / a[j * row + j * column];
                continue;
            }
            if (!(sum > 0)) return j + 1;
            a[j * row + j * column] = sqrt(sum);
        }
    return 0;
}

void tacit_portable_backsolve(int n, const double *a, long row, long column, double *b) {
    for (int i = 0; i < n; i++) {
        for (int l = 0; l < i; l++) b[i] -= a[i * row + l * column] * b[l];
        b[i] /= a[i * row + i * column];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int l = i + 1; l < n; l++) b[i] -= a[l * row + i * column] * b[l];
        b[i] /= a[i * row + i * column];
    }
}

/* ---- eigenvalues ---- */

/* Turn the plane of p and q so that a[p][q] becomes 0: Golub and Van Loan, section 8.5. */
static void rotate(int n, double *a, double *vectors, int p, int q) {
    const double off = a[(long)p * n + q], half = (a[(long)q * n + q] - a[(long)p * n + p]) / (2 * off);
    const double tangent = (half >= 0 ? 1 : -1) / (fabs(half) + hypot(1, half)), c = 1 / hypot(1, tangent),
                 s = tangent * c;
    for (int i = 0; i < n; i++) {
        const double x = a[(long)i * n + p], y = a[(long)i * n + q];
        a[(long)i * n + p] = c * x - s * y;
        a[(long)i * n + q] = s * x + c * y;
    }
    for (int i = 0; i < n; i++) {
        const double x = a[(long)p * n + i], y = a[(long)q * n + i];
        a[(long)p * n + i] = c * x - s * y;
        a[(long)q * n + i] = s * x + c * y;
        if (vectors == NULL) continue;
        double *v = vectors + (long)p * n + i, *w = vectors + (long)q * n + i;
        const double old = *v;
        *v = c * old - s * *w;
        *w = s * old + c * *w;
    }
    a[(long)p * n + q] = a[(long)q * n + p] = 0;
}

/* Ascending, vectors with their values. */
static void sort(int n, double *values, double *vectors) {
    for (int i = 0; i + 1 < n; i++) {
        int least = i;
        for (int j = i + 1; j < n; j++)
            if (values[j] < values[least]) least = j;
        if (least == i) continue;
        const double value = values[i];
        values[i] = values[least];
        values[least] = value;
        for (int l = 0; vectors != NULL && l < n; l++) {
            const double x = vectors[(long)i * n + l];
            vectors[(long)i * n + l] = vectors[(long)least * n + l];
            vectors[(long)least * n + l] = x;
        }
    }
}

int tacit_portable_eigen(int n, double *a, double *values, double *vectors) {
    enum { SWEEPS = 60 }; /* six to ten do for any matrix that fits */
    bool turned = true;
    for (int i = 0; vectors != NULL && i < n; i++)
        for (int j = 0; j < n; j++) vectors[(long)i * n + j] = i == j;
    for (int sweep = 0; sweep < SWEEPS && turned; sweep++) {
        turned = false;
        double size = tacit_portable_norm(n * n, a);
        if (!isfinite(size)) return 1;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                if (fabs(a[(long)p * n + q]) > 1e-17 * size) {
                    rotate(n, a, vectors, p, q);
                    turned = true;
                }
    }
    for (int i = 0; i < n; i++) values[i] = a[(long)i * n + i];
    sort(n, values, vectors);
    return turned ? 1 : 0;
}
