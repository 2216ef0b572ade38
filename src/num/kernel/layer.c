/* Compiled once per instruction set; see meson.build and layer.h. */
#include "num/kernel/layer.h"

#include <string.h>

/* Vectors as wide as the registers; a tile of TILE_ROWS x 16 sums stays in them. */
#if defined(__AVX512F__)
enum { LANES = 16, TILE_ROWS = 12, EXACT_UNITS = 8, PLAIN_UNITS = 8 };
#elif defined(__AVX2__)
enum { LANES = 8, TILE_ROWS = 6, EXACT_UNITS = 2, PLAIN_UNITS = 4 };
#else
enum { LANES = 4, TILE_ROWS = 2, EXACT_UNITS = 1, PLAIN_UNITS = 2 };
#endif
enum { PANEL = TACIT_LAYER_PANEL, VECS = PANEL / LANES };
typedef float vec __attribute__((vector_size(LANES * sizeof(float))));
typedef float half_vec __attribute__((vector_size(LANES / 2 * sizeof(float))));
typedef double wide_vec __attribute__((vector_size(LANES / 2 * sizeof(double))));
typedef int32_t lanes __attribute__((vector_size(LANES * sizeof(int32_t))));

_Static_assert(TACIT_LAYER_ROWS % TILE_ROWS == 0, "rows are padded to whole tiles");

#define LOAD(v, address) memcpy(&(v), (address), sizeof(vec))
#define STORE(address, v) memcpy((address), &(v), sizeof(vec))
#define ALL(x) ((vec){ 0 } + (x))
/* A comparison with NaN is false, so that `no` is taken. */
#define SELECT(mask, yes, no) ((vec)(((mask) & (lanes)(yes)) | (~(mask) & (lanes)(no))))

static void take(size_t count, double scale, const double *x, float *out) {
    const double shift = 0x1.8p52 * TACIT_LAYER_STEP; /* as in TO_STEP */
    for (size_t i = 0; i < count; i++) out[i] = (float)((scale * x[i] + shift) - shift);
}

static double square(size_t count, const float *x) {
    double part[PANEL] = { 0 };
    for (size_t i = 0; i < count; i += PANEL)
        for (size_t k = 0; k < PANEL; k++) part[k] += (double)x[i + k] * x[i + k];
    for (size_t half = PANEL / 2; half > 0; half /= 2)
        for (size_t k = 0; k < half; k++) part[k] += part[k + half];
    return part[0];
}

static void scale(size_t count, double factor, const float *d, double *out) {
    for (size_t i = 0; i < count; i++) out[i] = (double)(int32_t)(factor * d[i] * 0x1p24) * 0x1p-24;
}

/* One tile: TILE_ROWS rows, one panel. All rows of all blocks come through here. */
static void multiply_tile(size_t inner, const float *x, size_t x_stride, const float *w, const float *start,
                          float *out, size_t out_stride) {
    vec sum[TILE_ROWS][VECS], v[VECS];
    for (size_t r = 0; r < TILE_ROWS; r++)
        for (size_t c = 0; c < VECS; c++) {
            if (start != NULL)
                LOAD(sum[r][c], start + c * LANES);
            else
                sum[r][c] = ALL(0);
        }
    for (size_t k = 0; k < inner; k++) {
        for (size_t c = 0; c < VECS; c++) LOAD(v[c], w + k * PANEL + c * LANES);
        for (size_t r = 0; r < TILE_ROWS; r++)
            for (size_t c = 0; c < VECS; c++) sum[r][c] += x[r * x_stride + k] * v[c];
    }
    for (size_t r = 0; r < TILE_ROWS; r++)
        for (size_t c = 0; c < VECS; c++) STORE(out + r * out_stride + c * LANES, sum[r][c]);
}

static void multiply(size_t rows, size_t inner, size_t cols, const float *x, size_t x_stride, const float *w,
                     const float *start, float *out, size_t out_stride) {
    for (size_t j = 0; j < cols; j += PANEL)
        for (size_t i = 0; i < rows; i += TILE_ROWS)
            multiply_tile(inner, x + i * x_stride, x_stride, w + j * inner, start != NULL ? start + j : NULL,
                          out + i * out_stride + j, out_stride);
}

/* Adding and taking away 1.5 2^23 steps rounds to the step, up to 2^22 of them; larger numbers are multiples
 * already. */
#define TO_STEP(v) (((v) + 0x1.8p23F * TACIT_LAYER_STEP) - 0x1.8p23F * TACIT_LAYER_STEP)

/* exp(z), z moved to [-87, 87]: z = n log 2 + r, |r| <= log(2)/2, and Taylor's sum of exp(r), within 2 units
 * in the seventh digit. A NaN gives exp(-87). */
#define EXPONENTIAL(out, z)                                                                                  \
    do {                                                                                                     \
        vec at_ = (z), n_, r_;                                                                               \
        at_ = SELECT(at_ > ALL(-87), at_, ALL(-87));                                                         \
        at_ = SELECT(at_ < ALL(87), at_, ALL(87));                                                           \
        n_ = (at_ * 0x1.715476p0F + 0x1.8p23F) - 0x1.8p23F;                                                  \
        r_ = (at_ - n_ * 0x1.63p-1F) + n_ * 0x1.bd0106p-13F;                                                 \
        vec p_ = ALL(1.0F / 720);                                                                            \
        p_ = p_ * r_ + 1.0F / 120;                                                                           \
        p_ = p_ * r_ + 1.0F / 24;                                                                            \
        p_ = p_ * r_ + 1.0F / 6;                                                                             \
        p_ = p_ * r_ + 0.5F;                                                                                 \
        p_ = p_ * r_ + 1;                                                                                    \
        p_ = p_ * r_ + 1;                                                                                    \
        lanes power_ = (__builtin_convertvector(n_, lanes) + 127) << 23;                                     \
        (out) = p_ * (vec)power_;                                                                            \
    } while (0)

static void apply_tanh(size_t count, float *z) {
    for (size_t i = 0; i < count; i += LANES) {
        vec v, e;
        LOAD(v, z + i);
        EXPONENTIAL(e, 2 * v);
        v = TO_STEP(1 - 2 / (e + 1));
        STORE(z + i, v);
    }
}

static void apply_sigmoid(size_t count, float *z) {
    for (size_t i = 0; i < count; i += LANES) {
        vec v, e;
        LOAD(v, z + i);
        EXPONENTIAL(e, -v);
        v = TO_STEP(1 / (1 + e));
        STORE(z + i, v);
    }
}

static void apply_relu(size_t count, float *z) {
    for (size_t i = 0; i < count; i += LANES) {
        vec v;
        LOAD(v, z + i);
        v = SELECT(v > ALL(0), v, ALL(0));
        v = TO_STEP(v);
        STORE(z + i, v);
    }
}

/* d *= the slope of a unit, in terms of its value u; v is d before. */
#define SLOPE(name, product)                                                                                 \
    static void name(size_t count, const float *unit, float *d) {                                            \
        for (size_t i = 0; i < count; i += LANES) {                                                          \
            vec u, v;                                                                                        \
            LOAD(u, unit + i);                                                                               \
            LOAD(v, d + i);                                                                                  \
            v = (product);                                                                                   \
            STORE(d + i, v);                                                                                 \
        }                                                                                                    \
    }
SLOPE(tanh_slope, v *((1 - u) * (1 + u)))
SLOPE(sigmoid_slope, v *(u *(1 - u)))
SLOPE(relu_slope, SELECT(u > ALL(0), v, ALL(0)))

/* EXACT_UNITS x one panel of products, into `tile`. */
static void exact_tile(size_t rows, const double *d, size_t d_stride, const float *x, size_t x_stride,
                       double tile[EXACT_UNITS][PANEL]) {
    enum { PARTS = 2 * VECS };
    wide_vec sum[EXACT_UNITS][PARTS] = { { { 0 } } };
    for (size_t i = 0; i < rows; i++) {
        wide_vec v[PARTS];
        for (size_t c = 0; c < PARTS; c++) {
            half_vec narrow;
            memcpy(&narrow, x + i * x_stride + c * LANES / 2, sizeof narrow);
            v[c] = __builtin_convertvector(narrow, wide_vec);
        }
        for (size_t u = 0; u < EXACT_UNITS; u++)
            for (size_t c = 0; c < PARTS; c++) sum[u][c] += d[i * d_stride + u] * v[c];
    }
    memcpy(tile, sum, sizeof sum);
}

static void add_exact(size_t rows, size_t units, size_t inputs, const double *d, size_t d_stride,
                      const float *x, size_t x_stride, double *sum) {
    double tile[EXACT_UNITS][PANEL];
    for (size_t j = 0; j < inputs; j += PANEL)
        for (size_t u = 0; u < units; u += EXACT_UNITS) {
            exact_tile(rows, d + u, d_stride, x + j, x_stride, tile);
            for (size_t a = 0; a < EXACT_UNITS && u + a < units; a++)
                for (size_t b = 0; b < PANEL && j + b < inputs; b++)
                    sum[(u + a) * inputs + j + b] += tile[a][b];
        }
}

static void plain_tile(size_t rows, const float *d, size_t d_stride, const float *x, size_t x_stride,
                       float tile[PLAIN_UNITS][PANEL]) {
    vec sum[PLAIN_UNITS][VECS] = { { { 0 } } };
    for (size_t i = 0; i < rows; i++) {
        vec v[VECS];
        for (size_t c = 0; c < VECS; c++) LOAD(v[c], x + i * x_stride + c * LANES);
        for (size_t u = 0; u < PLAIN_UNITS; u++)
            for (size_t c = 0; c < VECS; c++) sum[u][c] += d[i * d_stride + u] * v[c];
    }
    memcpy(tile, sum, sizeof sum);
}

static void add_plain(size_t rows, size_t units, size_t inputs, const float *d, size_t d_stride,
                      const float *x, size_t x_stride, double *sum) {
    float tile[PLAIN_UNITS][PANEL];
    for (size_t j = 0; j < inputs; j += PANEL)
        for (size_t u = 0; u < units; u += PLAIN_UNITS) {
            plain_tile(rows, d + u, d_stride, x + j, x_stride, tile);
            for (size_t a = 0; a < PLAIN_UNITS && u + a < units; a++)
                for (size_t b = 0; b < PANEL && j + b < inputs; b++)
                    sum[(u + a) * inputs + j + b] += tile[a][b];
        }
}

static void add_clamped(size_t rows, size_t cols, const float *x, size_t x_stride, const float *d,
                        int64_t *total) {
    for (size_t j = 0; j < cols; j += LANES) {
        lanes sum = { 0 };
        for (size_t i = 0; i < rows; i++) {
            vec v;
            LOAD(v, x + i * x_stride + j);
            v *= d[i];
            v = SELECT(v > ALL(-1), v, ALL(-1));
            v = SELECT(v < ALL(1), v, ALL(1));
            v *= 0x1p20F;
            sum += __builtin_convertvector(v, lanes);
        }
        int32_t part[LANES];
        memcpy(part, &sum, sizeof part);
        for (size_t k = 0; k < LANES && j + k < cols; k++) total[j + k] += part[k];
    }
}

const tacit_layer_kernels TACIT_LAYER_VARIANT = {
    .take = take,
    .square = square,
    .scale = scale,
    .multiply = multiply,
    .tanh = apply_tanh,
    .sigmoid = apply_sigmoid,
    .relu = apply_relu,
    .tanh_slope = tanh_slope,
    .sigmoid_slope = sigmoid_slope,
    .relu_slope = relu_slope,
    .add_exact = add_exact,
    .add_plain = add_plain,
    .add_clamped = add_clamped,
};
