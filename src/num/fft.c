#include "num/fft.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "base/memory.h"

struct tacit_fft {
    size_t length;
    unsigned levels;
    tacit_complex *twiddles; /* exp(-2 pi i k/length), k < length/2 */
};

/* exp(-2 pi i k/n) for k < n/2. The angle is brought into [0, pi/4], where it carries at most 2u of its size:
 * pi/4 x 2u + sqrt(2) u < 4u, as the bound in the header supposes. */
static tacit_complex twiddle(size_t k, size_t n) {
    size_t eighth = n / 8, folded = k % (2 * eighth);
    bool mirrored = folded > eighth;
    if (mirrored) folded = 2 * eighth - folded;
    double angle = 2 * M_PI * ((double)folded / (double)n);
    double c = cos(angle), s = sin(angle);
    if (mirrored) {
        double swap = c;
        c = s;
        s = swap;
    }
    return k < 2 * eighth ? (tacit_complex){ c, -s } : (tacit_complex){ -s, -c };
}

tacit_status tacit_fft_create(tacit_fft **out, size_t length, tacit_error *error) {
    if (length == 0 || (length & (length - 1)) != 0 || length > (size_t)1 << TACIT_FFT_LOG_MOST)
        return tacit_fail(error, TACIT_USAGE, "a transform of length %zu: give a power of two up to 2^%d",
                          length, (int)TACIT_FFT_LOG_MOST);
    tacit_fft *fft = TACIT_NEW(tacit_fft, 1);
    if (fft == NULL) return tacit_fail_memory(error);
    fft->length = length;
    while ((size_t)1 << fft->levels < length) fft->levels++;
    fft->twiddles = TACIT_NEW(tacit_complex, length / 2);
    if (fft->twiddles == NULL) {
        tacit_fft_free(fft);
        return tacit_fail_memory(error);
    }
    static const tacit_complex quarter[] = { { 1, 0 }, { 0, -1 } };
    for (size_t k = 0; k < length / 2; k++) fft->twiddles[k] = length < 8 ? quarter[k] : twiddle(k, length);
    *out = fft;
    return TACIT_OK;
}

tacit_fft *tacit_fft_free(tacit_fft *fft) {
    if (fft != NULL) free(fft->twiddles);
    free(fft);
    return NULL;
}

static void reverse_bits(tacit_complex *x, size_t n) {
    for (size_t i = 1, j = 0; i < n; i++) {
        size_t bit = n >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j ^= bit;
        if (i < j) {
            tacit_complex swap = x[i];
            x[i] = x[j];
            x[j] = swap;
        }
    }
}

void tacit_fft_forward(const tacit_fft *fft, tacit_complex *x) {
    size_t n = fft->length;
    reverse_bits(x, n);
    for (size_t half = 1; half < n; half *= 2) {
        size_t stride = n / (2 * half);
        for (size_t start = 0; start < n; start += 2 * half) {
            tacit_complex *low = x + start, *high = low + half;
            for (size_t k = 0; k < half; k++) {
                tacit_complex w = fft->twiddles[k * stride], a = low[k], b = high[k];
                double re = w.re * b.re - w.im * b.im, im = w.re * b.im + w.im * b.re;
                low[k] = (tacit_complex){ a.re + re, a.im + im };
                high[k] = (tacit_complex){ a.re - re, a.im - im };
            }
        }
    }
}

/* The inverse is the forward transform read backwards: index k becomes -k. */
void tacit_fft_inverse(const tacit_fft *fft, tacit_complex *x) {
    size_t n = fft->length;
    double scale = 1 / (double)n;
    tacit_fft_forward(fft, x);
    for (size_t k = 1; k < n - k; k++) {
        tacit_complex swap = x[k];
        x[k] = x[n - k];
        x[n - k] = swap;
    }
    for (size_t k = 0; k < n; k++) x[k] = (tacit_complex){ x[k].re * scale, x[k].im * scale };
}

/* (1 + e)^L - 1 <= eL/(1 - eL); 7.4 for 7.3 covers the rounding of this line. */
double tacit_fft_error(const tacit_fft *fft) {
    double levels = 7.4 * (DBL_EPSILON / 2) * (double)fft->levels;
    return levels / (1 - levels);
}

/* With A, B the computed transforms, E_a = f |a|_1 bounds every error of A, and |A| <= |a|_1 (1 + f). The
 * products err by |a|_1 |b|_1 (2f + f^2 + 3u(1 + f)^2), their mean over the n frequencies does not exceed
 * that, and the inverse adds f times the mean modulus of the computed products. */
static double convolution_bound(double norm_a, double norm_b, double f) {
    double product = 2 * f + f * f + 3 * (DBL_EPSILON / 2) * (1 + f) * (1 + f);
    return norm_a * norm_b * (product + f * (1 + product)) * (1 + 0x1p-20) + 0x1p-1000;
}

static double absolute_sum(const double *x, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += fabs(x[i]);
    return sum * (1 + (double)count * DBL_EPSILON);
}

tacit_status tacit_convolve(double *out, double *bound, const double *a, size_t n_a, const double *b,
                            size_t n_b, tacit_error *error) {
    assert(n_a > 0 && n_b > 0);
    size_t count = n_a + n_b - 1, length = 1;
    while (length < count) length *= 2;
    tacit_status status = TACIT_OK;
    tacit_fft *fft = NULL;
    tacit_complex *x = NULL, *y = NULL;
    TACIT_CHECK(tacit_fft_create(&fft, length, error));
    x = TACIT_NEW(tacit_complex, length);
    y = TACIT_NEW(tacit_complex, length);
    if (x == NULL || y == NULL) {
        status = tacit_fail_memory(error);
        goto cleanup;
    }
    for (size_t i = 0; i < n_a; i++) x[i].re = a[i];
    for (size_t i = 0; i < n_b; i++) y[i].re = b[i];
    tacit_fft_forward(fft, x);
    tacit_fft_forward(fft, y);
    for (size_t k = 0; k < length; k++)
        x[k] =
            (tacit_complex){ x[k].re * y[k].re - x[k].im * y[k].im, x[k].re * y[k].im + x[k].im * y[k].re };
    tacit_fft_inverse(fft, x);
    for (size_t k = 0; k < count; k++) out[k] = x[k].re;
    *bound = convolution_bound(absolute_sum(a, n_a), absolute_sum(b, n_b), tacit_fft_error(fft));
cleanup:
    free(x);
    free(y);
    tacit_fft_free(fft);
    return status;
}
