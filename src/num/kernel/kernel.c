/* Compiled once per instruction set; see meson.build and kernel.h. */
#include "num/kernel/kernel.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* Vectors as wide as the registers, and how much of a tile those hold: 8 x 16 numbers in 16 of AVX-512's 32,
 * 4 x 8 in 8 of the 16 of AVX2 and half as many of the others. */
#if defined(__AVX512F__)
enum { LANES = 8, TILE_ROWS = 8, TILE_PANELS = 2 };
#elif defined(__AVX2__)
enum { LANES = 4, TILE_ROWS = 4, TILE_PANELS = 1 };
#else
enum { LANES = 2, TILE_ROWS = 2, TILE_PANELS = 1 };
#endif
enum { PANEL = TACIT_KERNEL_PANEL, PANEL_VECS = PANEL / LANES };
typedef double vec __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t lanes __attribute__((vector_size(LANES * sizeof(int64_t))));

/* Macros rather than functions for what takes or gives vectors: a call would need an agreed way to pass them.
 */
#define LOAD(v, address) memcpy(&(v), (address), sizeof(vec))
#define STORE(address, v) memcpy((address), &(v), sizeof(vec))
#define SELECT(mask, yes, no) ((vec)(((mask) & (lanes)(yes)) | (~(mask) & (lanes)(no))))
#define ALL(x) ((vec){ 0 } + (x))

static inline double sum_lanes(const double *part) {
    double sum[LANES];
    memcpy(sum, part, sizeof sum);
    for (size_t half = LANES / 2; half > 0; half /= 2)
        for (size_t k = 0; k < half; k++) sum[k] += sum[k + half];
    return sum[0];
}
#define SUM(v) sum_lanes((const double *)&(v))

/* Four rows at a time, so that w is loaded once for the four. */
static void dot_four(const double *const *x, size_t cols, const double *w, double *out) {
    vec s0 = { 0 }, s1 = { 0 }, s2 = { 0 }, s3 = { 0 }, v, x0, x1, x2, x3;
    size_t j = 0;
    for (; j + LANES <= cols; j += LANES) {
        LOAD(v, w + j);
        LOAD(x0, x[0] + j);
        LOAD(x1, x[1] + j);
        LOAD(x2, x[2] + j);
        LOAD(x3, x[3] + j);
        s0 += x0 * v;
        s1 += x1 * v;
        s2 += x2 * v;
        s3 += x3 * v;
    }
    double t0 = SUM(s0), t1 = SUM(s1), t2 = SUM(s2), t3 = SUM(s3);
    for (; j < cols; j++) {
        t0 += x[0][j] * w[j];
        t1 += x[1][j] * w[j];
        t2 += x[2][j] * w[j];
        t3 += x[3][j] * w[j];
    }
    out[0] = t0;
    out[1] = t1;
    out[2] = t2;
    out[3] = t3;
}

static double dot(const double *x, const double *w, size_t cols) {
    vec s = { 0 }, u, v;
    size_t j = 0;
    for (; j + LANES <= cols; j += LANES) {
        LOAD(u, x + j);
        LOAD(v, w + j);
        s += u * v;
    }
    double t = SUM(s);
    for (; j < cols; j++) t += x[j] * w[j];
    return t;
}

static void dot_rows(const double *const *x, size_t rows, size_t cols, const double *w, double *out) {
    size_t i = 0;
    for (; i + 4 <= rows; i += 4) dot_four(x + i, cols, w, out + i);
    for (; i < rows; i++) out[i] = dot(x[i], w, cols);
}

static void add_four(const double *const *x, size_t cols, const double *scale, double *out) {
    vec a0 = ALL(scale[0]), a1 = ALL(scale[1]), a2 = ALL(scale[2]), a3 = ALL(scale[3]);
    vec v, x0, x1, x2, x3;
    size_t j = 0;
    for (; j + LANES <= cols; j += LANES) {
        LOAD(v, out + j);
        LOAD(x0, x[0] + j);
        LOAD(x1, x[1] + j);
        LOAD(x2, x[2] + j);
        LOAD(x3, x[3] + j);
        v += (a0 * x0 + a1 * x1) + (a2 * x2 + a3 * x3);
        STORE(out + j, v);
    }
    for (; j < cols; j++)
        out[j] += (scale[0] * x[0][j] + scale[1] * x[1][j]) + (scale[2] * x[2][j] + scale[3] * x[3][j]);
}

static void add_rows(const double *const *x, size_t rows, size_t cols, const double *scale, double *out) {
    size_t i = 0;
    for (; i + 4 <= rows; i += 4) add_four(x + i, cols, scale + i, out);
    for (; i < rows; i++)
        for (size_t j = 0; j < cols; j++) out[j] += scale[i] * x[i][j];
}

static void pack_rows(const double *const *x, size_t rows, size_t cols, const double *scale, double *packed) {
    size_t whole = cols / PANEL, rest = cols % PANEL;
    for (size_t i = 0; i < rows; i++) {
        vec factor = ALL(scale[i]), v;
        for (size_t p = 0; p < whole; p++)
            for (size_t c = 0; c < PANEL; c += LANES) {
                LOAD(v, x[i] + p * PANEL + c);
                v *= factor;
                STORE(packed + (p * rows + i) * PANEL + c, v);
            }
        if (rest == 0) continue;
        double *last = packed + (whole * rows + i) * PANEL;
        for (size_t j = 0; j < PANEL; j++) last[j] = j < rest ? scale[i] * x[i][whole * PANEL + j] : 0;
    }
}

typedef float narrow __attribute__((vector_size(LANES * sizeof(float))));
#define LOAD_FLOATS(v, address)                                                                              \
    do {                                                                                                     \
        narrow loaded;                                                                                       \
        memcpy(&loaded, (address), sizeof loaded);                                                           \
        (v) = __builtin_convertvector(loaded, vec);                                                          \
    } while (0)

/* One row after the other, as they lie: the memory is what they wait for. */
static void dot_floats(const float *x, size_t rows, size_t stride, const double *w, double *out) {
    for (size_t i = 0; i < rows; i++, x += stride) {
        vec sum[PANEL_VECS] = { { 0 } }, v, u;
        for (size_t j = 0; j < stride; j += PANEL)
            for (size_t c = 0; c < PANEL_VECS; c++) {
                LOAD(v, w + j + c * LANES);
                LOAD_FLOATS(u, x + j + c * LANES);
                sum[c] += u * v;
            }
        for (size_t c = 1; c < PANEL_VECS; c++) sum[0] += sum[c];
        out[i] = SUM(sum[0]);
    }
}

/* A panel at a time, whose sums stay in registers, and four rows of it: each waits for the sum before it. */
static void add_floats(const float *x, size_t rows, size_t stride, const double *scale, double *out) {
    for (size_t j = 0; j < stride; j += LANES) {
        const float *at = x + j;
        vec sum, x0, x1, x2, x3;
        size_t i = 0;
        LOAD(sum, out + j);
        for (; i + 4 <= rows; i += 4, at += 4 * stride) {
            LOAD_FLOATS(x0, at);
            LOAD_FLOATS(x1, at + stride);
            LOAD_FLOATS(x2, at + 2 * stride);
            LOAD_FLOATS(x3, at + 3 * stride);
            sum += (ALL(scale[i]) * x0 + ALL(scale[i + 1]) * x1) +
                   (ALL(scale[i + 2]) * x2 + ALL(scale[i + 3]) * x3);
        }
        for (; i < rows; i++, at += stride) {
            LOAD_FLOATS(x0, at);
            sum += ALL(scale[i]) * x0;
        }
        STORE(out + j, sum);
    }
}

static void pack_floats(const float *x, size_t rows, size_t stride, const double *scale, double *packed) {
    for (size_t i = 0; i < rows; i++) {
        vec factor = ALL(scale[i]), v;
        for (size_t p = 0; p < stride / PANEL; p++)
            for (size_t c = 0; c < PANEL; c += LANES) {
                LOAD_FLOATS(v, x + i * stride + p * PANEL + c);
                v *= factor;
                STORE(packed + (p * rows + i) * PANEL + c, v);
            }
    }
}

/* Rows `top` to top + TILE_ROWS - 1 of the tiles of `left` with the panels from `right` on. */
#define TILE_PART(name, panels)                                                                              \
    static void name(size_t rows, const double *left, const double *right, size_t top, double *tile) {       \
        vec sum[TILE_ROWS][panels * PANEL_VECS];                                                             \
        for (size_t r = 0; r < TILE_ROWS; r++)                                                               \
            for (size_t c = 0; c < panels * PANEL_VECS; c++)                                                 \
                LOAD(sum[r][c], tile + (c / PANEL_VECS * PANEL + top + r) * PANEL + c % PANEL_VECS * LANES); \
        for (size_t i = 0; i < rows; i++) {                                                                  \
            vec v[panels * PANEL_VECS];                                                                      \
            for (size_t c = 0; c < panels * PANEL_VECS; c++)                                                 \
                LOAD(v[c], right + (c / PANEL_VECS * rows + i) * PANEL + c % PANEL_VECS * LANES);            \
            for (size_t r = 0; r < TILE_ROWS; r++) {                                                         \
                vec factor = ALL(left[i * PANEL + top + r]);                                                 \
                for (size_t c = 0; c < panels * PANEL_VECS; c++) sum[r][c] += factor * v[c];                 \
            }                                                                                                \
        }                                                                                                    \
        for (size_t r = 0; r < TILE_ROWS; r++)                                                               \
            for (size_t c = 0; c < panels * PANEL_VECS; c++)                                                 \
                STORE(tile + (c / PANEL_VECS * PANEL + top + r) * PANEL + c % PANEL_VECS * LANES,            \
                      sum[r][c]);                                                                            \
    }
TILE_PART(tile_part, 1)
TILE_PART(tile_parts, TILE_PANELS)

static void add_tiles(size_t rows, size_t panels, const double *packed, double *tiles) {
    for (size_t p = 0; p < panels; p++) {
        const double *left = packed + p * rows * PANEL;
        for (size_t q = p; q < panels;) {
            const double *right = packed + q * rows * PANEL;
            bool several = q + TILE_PANELS <= panels;
            for (size_t top = 0; top < PANEL; top += TILE_ROWS) {
                if (several)
                    tile_parts(rows, left, right, top, tiles);
                else
                    tile_part(rows, left, right, top, tiles);
            }
            size_t done = several ? TILE_PANELS : 1;
            q += done;
            tiles += done * PANEL * PANEL;
        }
    }
}

/*
 * exp(x) for -708 <= x <= 0. x = k ln 2 + r with |r| <= 0.347. k ln2_high is exact (ln2_high has 11 trailing
 * zero bits and |k| < 2^11), x - k ln2_high is exact (a multiple of 2^-54 below 1 in size), and subtracting
 * k ln2_low rounds once: r is off by at most 0.35 u + 2^-80, u = 2^-53, so exp(r) by a factor 1 + 0.36 u.
 * The Taylor polynomial of degree 13 is off by r^14/14! <= 5e-18 < 0.05 u relatively. In Horner's scheme
 * q <- c + r q the rounding of the outermost sum is u relatively; the product r q before it rounds by
 * u |r q| <= 0.42 u, and the error inside q, at most (1 + 0.35 (2 + ...)) u < 2.4 u relatively to a q <= 1.2,
 * enters times |r|: 1 u. As exp(r) >= 0.7, together below (0.36 + 0.05 + 1 + 1.42/0.7) u < 4 u. Scaling by
 * 2^k is exact: the result is at least 2^-1022.
 */
#define EXPONENTIAL(result, argument)                                                                        \
    do {                                                                                                     \
        const vec magic_ = ALL(0x1.8p52);                                                                    \
        vec x_ = SELECT((argument) < ALL(-708.0), ALL(-708.0), (argument));                                  \
        vec shifted_ = x_ * ALL(0x1.71547652b82fep0) + magic_;                                               \
        vec k_ = shifted_ - magic_;                                                                          \
        vec r_ = (x_ - k_ * ALL(0x1.62e42fefa38p-1)) - k_ * ALL(0x1.ef35793c7673p-45);                       \
        vec q_ = ALL(1.0 / 6227020800.0);                                                                    \
        q_ = ALL(1.0 / 479001600.0) + r_ * q_;                                                               \
        q_ = ALL(1.0 / 39916800.0) + r_ * q_;                                                                \
        q_ = ALL(1.0 / 3628800.0) + r_ * q_;                                                                 \
        q_ = ALL(1.0 / 362880.0) + r_ * q_;                                                                  \
        q_ = ALL(1.0 / 40320.0) + r_ * q_;                                                                   \
        q_ = ALL(1.0 / 5040.0) + r_ * q_;                                                                    \
        q_ = ALL(1.0 / 720.0) + r_ * q_;                                                                     \
        q_ = ALL(1.0 / 120.0) + r_ * q_;                                                                     \
        q_ = ALL(1.0 / 24.0) + r_ * q_;                                                                      \
        q_ = ALL(1.0 / 6.0) + r_ * q_;                                                                       \
        q_ = ALL(0.5) + r_ * q_;                                                                             \
        q_ = ALL(1.0) + r_ * q_;                                                                             \
        q_ = ALL(1.0) + r_ * q_;                                                                             \
        (result) = (vec)((lanes)q_ + ((lanes)shifted_ << 52));                                               \
    } while (0)

/* log(1 + e) = 2 artanh(s), s = e/(2 + e) <= 1/3; the series to s^35 leaves less than 1e-18. */
#define LOG_ONE_PLUS(result, e)                                                                              \
    do {                                                                                                     \
        vec s_ = (e) / (ALL(2.0) + (e));                                                                     \
        vec q_ = s_ * s_;                                                                                    \
        vec p_ = ALL(1.0 / 35.0);                                                                            \
        for (int odd_ = 33; odd_ >= 1; odd_ -= 2) p_ = ALL(1.0 / odd_) + q_ * p_;                            \
        (result) = ALL(2.0) * s_ * p_;                                                                       \
    } while (0)

/* With e = exp(-|z|) the slope is e/(1 + e) or 1/(1 + e). A relative error of 4 u in e moves the first by at
 * most 4 u and the second by 2 u; the sum and the quotient round by u each: below 7 u, and TACIT_SIGMOID_ULPS
 * leaves room for the second-order terms. A NaN stays a NaN. */
static void logistic_lanes(const double *z_in, double *value, double *slope, double *curvature) {
    vec z, e, l;
    const vec one = ALL(1.0), zero = ALL(0.0);
    LOAD(z, z_in);
    lanes positive = z > zero;
    vec minus_size = SELECT(positive, -z, z);
    EXPONENTIAL(e, minus_size);
    LOG_ONE_PLUS(l, e);
    vec inverse = one / (one + e);
    vec s = SELECT(positive, e / (one + e), inverse);
    vec c = e * inverse * inverse;
    l += SELECT(positive, zero, -z);
    lanes sound = z == z;
    s = SELECT(sound, s, z);
    STORE(value, l);
    STORE(slope, s);
    STORE(curvature, c);
}

static void logistic(size_t count, const double *z, double *value, double *slope, double *curvature) {
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) logistic_lanes(z + i, value + i, slope + i, curvature + i);
    if (i == count) return;
    double padded[LANES] = { 0 }, v[LANES], s[LANES], c[LANES];
    memcpy(padded, z + i, (count - i) * sizeof *z);
    logistic_lanes(padded, v, s, c);
    memcpy(value + i, v, (count - i) * sizeof *z);
    memcpy(slope + i, s, (count - i) * sizeof *z);
    memcpy(curvature + i, c, (count - i) * sizeof *z);
}

static void exponential_lanes(double *z) {
    vec x, e;
    LOAD(x, z);
    EXPONENTIAL(e, x);
    lanes sound = x == x;
    e = SELECT(sound, e, x);
    STORE(z, e);
}

static void exponential(size_t count, double *z) {
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) exponential_lanes(z + i);
    if (i == count) return;
    double padded[LANES] = { 0 };
    memcpy(padded, z + i, (count - i) * sizeof *z);
    exponential_lanes(padded);
    memcpy(z + i, padded, (count - i) * sizeof *z);
}

/* Right-looking by rows: whole vectors from the one that holds the diagonal; what lies left of the diagonal
 * is overwritten with numbers nobody reads. */
static int cholesky(size_t n, size_t stride, double *a) {
    for (size_t k = 0; k < n; k++) {
        double *row = a + k * stride;
        if (!(row[k] > 0)) return 0;
        double root = sqrt(row[k]);
        double inverse = 1 / root;
        row[k] = root;
        for (size_t j = k + 1; j < n; j++) row[j] *= inverse;
        for (size_t i = k + 1; i < n; i++) {
            vec factor = ALL(row[i]), u, v;
            double *below = a + i * stride;
            for (size_t j = i / LANES * LANES; j < n; j += LANES) {
                LOAD(u, row + j);
                LOAD(v, below + j);
                v -= factor * u;
                STORE(below + j, v);
            }
        }
    }
    return 1;
}

static void cholesky_solve(size_t n, size_t stride, const double *u, double *b) {
    for (size_t k = 0; k < n; k++) {
        const double *row = u + k * stride;
        double y = b[k] / row[k];
        b[k] = y;
        for (size_t j = k + 1; j < n; j++) b[j] -= row[j] * y;
    }
    for (size_t k = n; k-- > 0;) {
        const double *row = u + k * stride;
        double s = dot(row + k + 1, b + k + 1, n - k - 1);
        b[k] = (b[k] - s) / row[k];
    }
}

/* Four sums at a time stay in registers over the whole row: all models with AVX-512, half of them with
 * AVX2. */
static void score_sparse(size_t entries, const uint32_t *column, const double *value, const double *panel,
                         double *out) {
    enum { AT_ONCE = 4 * LANES };
    for (size_t m = 0; m < TACIT_KERNEL_MODELS; m += AT_ONCE) {
        vec s0 = { 0 }, s1 = { 0 }, s2 = { 0 }, s3 = { 0 }, w0, w1, w2, w3;
        for (size_t k = 0; k < entries; k++) {
            const double *w = panel + (size_t)column[k] * TACIT_KERNEL_MODELS + m;
            double x = value[k];
            LOAD(w0, w);
            LOAD(w1, w + LANES);
            LOAD(w2, w + 2 * LANES);
            LOAD(w3, w + 3 * LANES);
            s0 += x * w0;
            s1 += x * w1;
            s2 += x * w2;
            s3 += x * w3;
        }
        STORE(out + m, s0);
        STORE(out + m + LANES, s1);
        STORE(out + m + 2 * LANES, s2);
        STORE(out + m + 3 * LANES, s3);
    }
}

/* Gathered with AVX-512, in two sums; of the narrower sets the gathers are no faster than single loads. */
static double dot_sparse(size_t entries, const uint32_t *column, const double *value, const double *w) {
#if defined(__AVX512F__)
    __m512d even = _mm512_setzero_pd(), odd = even;
    size_t k = 0;
    for (; k + 16 <= entries; k += 16) {
        __m512i places = _mm512_loadu_si512(column + k);
        __m512d first = _mm512_i32gather_pd(_mm512_castsi512_si256(places), w, 8);
        __m512d second = _mm512_i32gather_pd(_mm512_extracti64x4_epi64(places, 1), w, 8);
        even = _mm512_fmadd_pd(_mm512_loadu_pd(value + k), first, even);
        odd = _mm512_fmadd_pd(_mm512_loadu_pd(value + k + 8), second, odd);
    }
    for (; k < entries; k += 8) {
        __mmask8 rest = (__mmask8)(entries - k >= 8 ? 0xff : (1u << (entries - k)) - 1);
        __m256i places = _mm512_castsi512_si256(_mm512_maskz_loadu_epi32(rest, column + k));
        __m512d there = _mm512_mask_i32gather_pd(_mm512_setzero_pd(), rest, places, w, 8);
        even = _mm512_fmadd_pd(_mm512_maskz_loadu_pd(rest, value + k), there, even);
    }
    return _mm512_reduce_add_pd(_mm512_add_pd(even, odd));
#else
    double sum[4] = { 0 };
    size_t k = 0;
    for (; k + 4 <= entries; k += 4)
        for (size_t part = 0; part < 4; part++) sum[part] += value[k + part] * w[column[k + part]];
    for (; k < entries; k++) sum[0] += value[k] * w[column[k]];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
#endif
}

static float dot_compact(size_t entries, const uint16_t *column, const float *value, const float *w) {
#if defined(__AVX512F__)
    __m512 even = _mm512_setzero_ps(), odd = even;
    size_t k = 0;
    for (; k + 32 <= entries; k += 32) {
        __m512i first = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(column + k)));
        __m512i second = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(column + k + 16)));
        even = _mm512_fmadd_ps(_mm512_loadu_ps(value + k), _mm512_i32gather_ps(first, w, 4), even);
        odd = _mm512_fmadd_ps(_mm512_loadu_ps(value + k + 16), _mm512_i32gather_ps(second, w, 4), odd);
    }
    for (; k < entries; k += 16) {
        __mmask16 rest = (__mmask16)(entries - k >= 16 ? 0xffff : (1u << (entries - k)) - 1);
        __m512i places = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(column + k)));
        __m512 there = _mm512_mask_i32gather_ps(_mm512_setzero_ps(), rest, places, w, 4);
        even = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(rest, value + k), there, even);
    }
    return _mm512_reduce_add_ps(_mm512_add_ps(even, odd));
#else
    float sum[4] = { 0 };
    size_t k = 0;
    for (; k + 4 <= entries; k += 4)
        for (size_t part = 0; part < 4; part++) sum[part] += value[k + part] * w[column[k + part]];
    for (; k < entries; k++) sum[0] += value[k] * w[column[k]];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
#endif
}

/* Columns of a row differ, so the four places are read before any is written. */
static void add_compact(size_t entries, const uint16_t *column, const float *value, float scale, float *out) {
    size_t k = 0;
    for (; k + 4 <= entries; k += 4) {
        const uint16_t *at = column + k;
        const float *x = value + k;
        float a = out[at[0]] + scale * x[0], b = out[at[1]] + scale * x[1];
        float c = out[at[2]] + scale * x[2], d = out[at[3]] + scale * x[3];
        out[at[0]] = a;
        out[at[1]] = b;
        out[at[2]] = c;
        out[at[3]] = d;
    }
    for (; k < entries; k++) out[column[k]] += scale * value[k];
}

/* How many lanes of a vector are above 0. */
#if defined(__AVX512F__)
#define ABOVE_ZERO(v) (uint64_t) __builtin_popcount(_mm512_cmp_pd_mask((v), _mm512_setzero_pd(), _CMP_GT_OQ))
#elif defined(__AVX2__)
#define ABOVE_ZERO(v)                                                                                        \
    (uint64_t) __builtin_popcount(                                                                           \
        (unsigned)_mm256_movemask_pd(_mm256_cmp_pd((v), _mm256_setzero_pd(), _CMP_GT_OQ)))
#else
#define ABOVE_ZERO(v) ((uint64_t)((v)[0] > 0) + (uint64_t)((v)[1] > 0))
#endif

static void count_positive(size_t rows, const double *scores, uint64_t *total) {
    for (size_t i = 0; i < rows; i++)
        for (size_t m = 0; m < TACIT_KERNEL_MODELS; m += LANES) {
            vec score;
            LOAD(score, scores + i * TACIT_KERNEL_MODELS + m);
            total[i] += ABOVE_ZERO(score);
        }
}

/* A difference that is negative, or minus nothing, has the highest bit set. */
static uint64_t scale_numbers(const tacit_kernel_scale *by, size_t count, const double *x, double *out) {
    const vec middle = ALL(by->middle), half = ALL(by->half);
    const vec low = ALL(by->low), high = ALL(by->high), least = ALL(by->least), most = ALL(by->most);
    uint64_t beyond = 0;
    for (size_t i = 0; i < count; i += PANEL) {
        lanes signs = { 0 };
        for (size_t c = 0; c < PANEL; c += LANES) {
            vec number, value;
            LOAD(number, x + i + c);
            value = (number - middle) / half + ALL(0.0);
            STORE(out + i + c, value);
            signs |= (lanes)(number - low) | (lanes)(high - number) | (lanes)(value - least) |
                     (lanes)(most - value);
        }
        int64_t sign[LANES], all = 0;
        memcpy(sign, &signs, sizeof sign);
        for (size_t k = 0; k < LANES; k++) all |= sign[k];
        beyond |= (uint64_t)(all < 0) << i / PANEL;
    }
    return beyond;
}

const tacit_kernels TACIT_KERNEL_VARIANT = { dot_rows,       add_rows,    pack_rows,   add_tiles,
                                             logistic,       exponential, cholesky,    cholesky_solve,
                                             score_sparse,   dot_sparse,  dot_compact, add_compact,
                                             count_positive, dot_floats,  add_floats,  pack_floats,
                                             scale_numbers };
