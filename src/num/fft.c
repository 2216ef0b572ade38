#include "num/fft.h"

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
