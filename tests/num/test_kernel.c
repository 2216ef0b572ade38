/* Every variant of the vector loops that this processor runs keeps its promised accuracy. */
#include "problems.h"

#include "num/kernel/kernel.h"
#include "num/kernel/tiles.h"

static size_t variants(const tacit_kernels **out) {
    size_t count = 0;
    out[count++] = &tacit_kernels_base;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) out[count++] = &tacit_kernels_avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        out[count++] = &tacit_kernels_avx512;
#endif
    return count;
}

/* In units of 2^-53 relatively to the exact value. */
static double error_in_units(double computed, long double exact) {
    return (double)(fabsl((long double)computed - exact) / fabsl(exact) * 0x1p53L);
}

enum { SAMPLES = 100001 };

static void exponentials_are_within_their_bound(void **state) {
    (void)state;
    const tacit_kernels *kernel[3];
    size_t count = variants(kernel);
    double *z = TACIT_NEW(double, SAMPLES), *x = TACIT_NEW(double, SAMPLES);
    uint64_t random = 11;
    for (size_t i = 0; i < SAMPLES; i++)
        x[i] = i % 2 ? -708 * uniform(&random) : -exp(-20 * uniform(&random));
    x[0] = 0;
    x[1] = -708;
    for (size_t k = 0; k < count; k++) {
        memcpy(z, x, SAMPLES * sizeof *z);
        kernel[k]->exponential(SAMPLES, z);
        double worst = 0;
        for (size_t i = 0; i < SAMPLES; i++) worst = fmax(worst, error_in_units(z[i], expl(x[i])));
        assert_true(z[0] == 1);
        assert_true(worst > 0 && worst < TACIT_EXP_ULPS);
        double odd[3] = { -1e300, NAN, -INFINITY };
        kernel[k]->exponential(3, odd);
        assert_true(odd[0] >= 0 && odd[0] < 1e-300 && isnan(odd[1]) && odd[2] < 1e-300);
    }
    free(z);
    free(x);
}

static void sigmoids_are_within_their_bound(void **state) {
    (void)state;
    const tacit_kernels *kernel[3];
    size_t count = variants(kernel);
    double *z = TACIT_NEW(double, SAMPLES), *value = TACIT_NEW(double, SAMPLES);
    double *slope = TACIT_NEW(double, SAMPLES), *curvature = TACIT_NEW(double, SAMPLES);
    uint64_t random = 12;
    for (size_t i = 0; i < SAMPLES; i++)
        z[i] = (i % 2 ? 1 : -1) * (i % 3 ? 60 * uniform(&random) : exp(-20 * uniform(&random)));
    z[0] = 0;
    for (size_t k = 0; k < count; k++) {
        kernel[k]->logistic(SAMPLES, z, value, slope, curvature);
        for (size_t i = 0; i < SAMPLES; i++) {
            long double e = expl(-fabsl((long double)z[i]));
            long double s = z[i] > 0 ? e / (1 + e) : 1 / (1 + e);
            assert_true(error_in_units(slope[i], s) < TACIT_SIGMOID_ULPS);
            assert_true(error_in_units(curvature[i], e / ((1 + e) * (1 + e))) < 2 * TACIT_SIGMOID_ULPS);
            assert_true(error_in_units(value[i], log1pl(e) + (z[i] > 0 ? 0 : -(long double)z[i])) < 16);
        }
        double odd[3] = { 1e300, -1e300, NAN }, v[3], s[3], c[3];
        kernel[k]->logistic(3, odd, v, s, c);
        assert_true(v[0] < 1e-300 && v[1] == 1e300 && s[0] < 1e-300 && s[1] == 1 && isnan(s[2]) &&
                    isnan(v[2]));
    }
    free(z);
    free(value);
    free(slope);
    free(curvature);
}

static void row_products_match_plain_loops(void **state) {
    (void)state;
    const tacit_kernels *kernel[3];
    size_t count = variants(kernel);
    for (size_t k = 0; k < count; k++)
        for (size_t rows = 1; rows < 12; rows++)
            for (size_t cols = 1; cols < 40; cols += 3) {
                uint64_t random = rows * 100 + cols;
                double *x = random_vector(&random, rows * cols, -1, 1),
                       *w = random_vector(&random, cols, -1, 1);
                double *scale = random_vector(&random, rows, 0.5, 1), t[12], *sum = TACIT_NEW(double, cols);
                const double *row[12];
                for (size_t i = 0; i < rows; i++) row[i] = x + i * cols;
                kernel[k]->dot_rows(row, rows, cols, w, t);
                kernel[k]->add_rows(row, rows, cols, scale, sum);
                for (size_t i = 0; i < rows; i++) {
                    double exact = 0;
                    for (size_t j = 0; j < cols; j++) exact += x[i * cols + j] * w[j];
                    CHECK_NEAR(t[i], exact, 1e-14);
                }
                for (size_t j = 0; j < cols; j++) {
                    double exact = 0;
                    for (size_t i = 0; i < rows; i++) exact += scale[i] * x[i * cols + j];
                    CHECK_NEAR(sum[j], exact, 1e-14);
                }
                size_t panels = (cols + 7) / 8;
                double *packed = TACIT_NEW(double, panels * 8 * rows);
                double *tiles = TACIT_NEW(double, panels *(panels + 1) * 32), *tile = tiles;
                kernel[k]->pack_rows(row, rows, cols, scale, packed);
                kernel[k]->add_tiles(rows, panels, packed, tiles);
                for (size_t p = 0; p < panels; p++)
                    for (size_t q = p; q < panels; q++, tile += 64)
                        for (size_t a = 8 * p; a < 8 * p + 8 && a < cols; a++)
                            for (size_t b = 8 * q; b < 8 * q + 8 && b < cols; b++) {
                                double exact = 0;
                                for (size_t i = 0; i < rows; i++)
                                    exact += scale[i] * scale[i] * x[i * cols + a] * x[i * cols + b];
                                CHECK_NEAR(tile[8 * (a - 8 * p) + b - 8 * q], exact, 1e-14);
                            }
                free(x);
                free(w);
                free(scale);
                free(sum);
                free(packed);
                free(tiles);
            }
}

static void products_of_rows_in_single_precision_match_plain_loops(void **state) {
    (void)state;
    const tacit_kernels *kernel[3];
    size_t count = variants(kernel);
    for (size_t k = 0; k < count; k++)
        for (size_t rows = 1; rows < 12; rows++)
            for (size_t stride = 8; stride < 40; stride += 8) {
                uint64_t random = rows * 100 + stride;
                double *drawn = random_vector(&random, rows * stride, -1, 1),
                       *w = random_vector(&random, stride, -1, 1),
                       *scale = random_vector(&random, rows, 0.5, 1), t[12], *sum = TACIT_NEW(double, stride),
                       *packed = TACIT_NEW(double, rows *stride);
                float *x = TACIT_NEW(float, rows *stride);
                for (size_t i = 0; i < rows * stride; i++) x[i] = (float)drawn[i];
                kernel[k]->dot_floats(x, rows, stride, w, t);
                kernel[k]->add_floats(x, rows, stride, scale, sum);
                kernel[k]->pack_floats(x, rows, stride, scale, packed);
                for (size_t i = 0; i < rows; i++) {
                    double exact = 0;
                    for (size_t j = 0; j < stride; j++) exact += (double)x[i * stride + j] * w[j];
                    CHECK_NEAR(t[i], exact, 1e-14);
                    for (size_t j = 0; j < stride; j++)
                        assert_true(packed[(j / 8 * rows + i) * 8 + j % 8] ==
                                    scale[i] * (double)x[i * stride + j]);
                }
                for (size_t j = 0; j < stride; j++) {
                    double exact = 0;
                    for (size_t i = 0; i < rows; i++) exact += scale[i] * (double)x[i * stride + j];
                    CHECK_NEAR(sum[j], exact, 1e-14);
                }
                free(drawn);
                free(w);
                free(scale);
                free(sum);
                free(packed);
                free(x);
            }
}

/* More rows than are packed at once. */
static void sums_of_squares_in_single_precision_match_plain_loops(void **state) {
    (void)state;
    enum { ROWS = 250, STRIDE = 24 };
    uint64_t random = 3;
    double *drawn = random_vector(&random, ROWS * STRIDE, -1, 1),
           *scale = random_vector(&random, ROWS, 0.1, 1), *room = TACIT_NEW(double, tacit_tiles_room(STRIDE)),
           *tiles = TACIT_NEW(double, tacit_tiles_length(STRIDE));
    float *x = TACIT_NEW(float, ROWS *STRIDE);
    for (size_t i = 0; i < ROWS * STRIDE; i++) x[i] = (float)drawn[i];
    tacit_tiles_add_floats(tacit_kernels_choose(), x, STRIDE, scale, ROWS, room, tiles);
    for (size_t a = 0; a < STRIDE; a++)
        for (size_t b = 0; b < STRIDE; b++) {
            double exact = 0;
            for (size_t i = 0; i < ROWS; i++)
                exact += scale[i] * scale[i] * (double)x[i * STRIDE + a] * (double)x[i * STRIDE + b];
            CHECK_NEAR(tacit_tiles_at(tiles, STRIDE, a, b), exact, 1e-13);
        }
    free(drawn);
    free(scale);
    free(room);
    free(tiles);
    free(x);
}

/* More rows than are packed at once, some of no weight, and panels that the columns do not fill. */
static void weighted_sums_of_squares_match_plain_loops(void **state) {
    (void)state;
    enum { ROWS = 250 };
    for (size_t cols = 1; cols < 36; cols += 6) {
        uint64_t random = cols;
        double *x = random_vector(&random, ROWS * cols, -1, 1), *c = random_vector(&random, ROWS, -0.3, 1);
        double *room = TACIT_NEW(double, tacit_tiles_room(cols)),
               *tiles = TACIT_NEW(double, tacit_tiles_length(cols));
        const double *row[ROWS];
        for (size_t i = 0; i < ROWS; i++) {
            row[i] = x + i * cols;
            c[i] = fmax(c[i], 0);
        }
        for (size_t i = 0; i < ROWS; i += ROWS / 2)
            tacit_tiles_add(tacit_kernels_choose(), row + i, c + i, ROWS / 2, cols, room, tiles);
        for (size_t a = 0; a < cols; a++)
            for (size_t b = 0; b < cols; b++) {
                double exact = 0;
                for (size_t i = 0; i < ROWS; i++) exact += c[i] * x[i * cols + a] * x[i * cols + b];
                CHECK_NEAR(tacit_tiles_at(tiles, cols, a, b), exact, 1e-13);
            }
        free(x);
        free(c);
        free(room);
        free(tiles);
    }
}

static void a_factored_matrix_solves_its_system(void **state) {
    (void)state;
    const tacit_kernels *kernel[3];
    size_t count = variants(kernel);
    for (size_t k = 0; k < count; k++)
        for (size_t n = 1; n < 40; n++) {
            uint64_t random = n;
            size_t stride = (n + 7) / 8 * 8;
            double *x = random_vector(&random, n * n, -1, 1), *a = TACIT_NEW(double, n *stride);
            double *full = TACIT_NEW(double, n *n), *b = random_vector(&random, n, -1, 1),
                   *z = TACIT_NEW(double, n);
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++) {
                    for (size_t l = 0; l < n; l++) full[i * n + j] += x[i * n + l] * x[j * n + l];
                    full[i * n + j] += i == j;
                    a[i * stride + j] = full[i * n + j];
                }
            assert_true(kernel[k]->cholesky(n, stride, a));
            memcpy(z, b, n * sizeof *z);
            kernel[k]->cholesky_solve(n, stride, a, z);
            for (size_t i = 0; i < n; i++) {
                double sum = 0;
                for (size_t j = 0; j < n; j++) sum += full[i * n + j] * z[j];
                CHECK_NEAR(sum, b[i], 1e-12);
            }
            a[0] = -1;
            assert_false(kernel[k]->cholesky(n, stride, a));
            free(x);
            free(a);
            free(full);
            free(b);
            free(z);
        }
}

/* Rows of every length, so that each remainder of the vectors is met; columns ascending. */
static void sparse_rows_match_plain_loops(void **state) {
    (void)state;
    enum { COLS = 400, MOST = 70 };
    const tacit_kernels *kernel[3];
    size_t count = variants(kernel);
    uint64_t random = 9;
    double *w = random_vector(&random, COLS, -1, 1), *value = random_vector(&random, MOST, -1, 1);
    for (size_t v = 0; v < count; v++)
        for (size_t entries = 0; entries < MOST; entries++) {
            uint32_t column[MOST];
            uint16_t narrow[MOST + TACIT_KERNEL_SLACK] = { 0 };
            float single[MOST], single_w[COLS], sum[COLS] = { 0 };
            double exact = 0;
            for (size_t j = 0; j < COLS; j++) single_w[j] = (float)w[j];
            for (size_t k = 0; k < entries; k++) {
                column[k] = (uint32_t)(5 * k + (entries + k) % 5);
                narrow[k] = (uint16_t)column[k];
                single[k] = (float)value[k];
                exact += value[k] * w[column[k]];
            }
            CHECK_NEAR(kernel[v]->dot_sparse(entries, column, value, w), exact, 1e-14);
            CHECK_NEAR((double)kernel[v]->dot_compact(entries, narrow, single, single_w), exact, 1e-5);
            for (int twice = 0; twice < 2; twice++)
                kernel[v]->add_compact(entries, narrow, single, 0.5f, sum);
            double total = 0;
            for (size_t j = 0; j < COLS; j++) total += fabs((double)sum[j]);
            for (size_t k = 0; k < entries; k++) {
                CHECK_NEAR((double)sum[narrow[k]], value[k], 1e-6);
                total -= fabs(value[k]);
            }
            CHECK_NEAR(total, 0, 1e-5);
        }
    free(w);
    free(value);
}

static void numbers_are_scaled_to_the_same_bits_by_every_variant(void **state) {
    (void)state;
    enum { COUNT = 64 };
    const tacit_kernel_scale by = { 3, 7, -4, 10, -1, 1 };
    const tacit_kernels *kernel[3];
    size_t count = variants(kernel);
    double x[COUNT], out[COUNT];
    for (size_t i = 0; i < COUNT; i++) x[i] = -4 + 14 * ((double)i + 0.5) / COUNT;
    x[9] = 3; /* the middle, which becomes 0 and not -0 */
    x[17] = 10.5;
    x[40] = -4.5;
    for (size_t v = 0; v < count; v++) {
        assert_int_equal(kernel[v]->scale_numbers(&by, COUNT, x, out), 1 << 17 / 8 | 1 << 40 / 8);
        for (size_t i = 0; i < COUNT; i++) {
            const double expected = (x[i] - 3) / 7 + 0.0;
            assert_memory_equal(&out[i], &expected, sizeof expected);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponentials_are_within_their_bound),
        cmocka_unit_test(sigmoids_are_within_their_bound),
        cmocka_unit_test(row_products_match_plain_loops),
        cmocka_unit_test(products_of_rows_in_single_precision_match_plain_loops),
        cmocka_unit_test(sums_of_squares_in_single_precision_match_plain_loops),
        cmocka_unit_test(weighted_sums_of_squares_match_plain_loops),
        cmocka_unit_test(sparse_rows_match_plain_loops),
        cmocka_unit_test(a_factored_matrix_solves_its_system),
        cmocka_unit_test(numbers_are_scaled_to_the_same_bits_by_every_variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
