/* Auxiliary points: kappa bounds the norm of X/sqrt(N), the shape L has L L^T >= X^T X/N, and what follows
 * from both. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/points.h"
#include "failing.h"
#include "rand/fast.h"
#include "rand/stream.h"

/* ---- points to look at ---- */

static tacit_matrix new_matrix(size_t rows, size_t cols) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_matrix out = TACIT_MATRIX_INIT;
    CHECK_OK(tacit_matrix_create(&out, rows, cols, &error), error);
    return out;
}

static void scale_row(double *x, size_t cols, double norm) {
    double square = 0;
    for (size_t j = 0; j < cols; j++) square += x[j] * x[j];
    for (size_t j = 0; j < cols && square > 0; j++) x[j] *= norm / sqrt(square);
}

/* Rows of norm `norm` in a random subspace of `rank` dimensions, all about one direction when `narrow`. */
static tacit_matrix cloud(size_t rows, size_t cols, size_t rank, double norm, bool narrow, uint64_t seed) {
    tacit_matrix out = new_matrix(rows, cols);
    tacit_stream stream = tacit_stream_from_seed(seed);
    double *basis = TACIT_NEW(double, rank *cols);
    for (size_t j = 0; j < rank * cols; j++) basis[j] = tacit_fast_normal(&stream);
    for (size_t i = 0; i < rows; i++) {
        for (size_t r = 0; r < rank; r++) {
            double part = tacit_fast_normal(&stream) * (narrow && r > 0 ? 0.01 : 1);
            for (size_t j = 0; j < cols; j++) out.values[i * cols + j] += part * basis[r * cols + j];
        }
        scale_row(out.values + i * cols, cols, norm);
    }
    free(basis);
    return out;
}

static tacit_points points_of(const tacit_matrix *matrix, tacit_pool *pool) {
    tacit_error error = TACIT_ERROR_INIT;
    tacit_points out = TACIT_POINTS_INIT;
    tacit_rows rows = tacit_rows_of_matrix(matrix);
    CHECK_OK(tacit_points_of(&out, &rows, pool, &error), error);
    return out;
}

static double norm_of(const double *v, size_t n) {
    double square = 0;
    for (size_t j = 0; j < n; j++) square += v[j] * v[j];
    return sqrt(square);
}

/* C v, C = X^T X/N. */
static void multiply(const tacit_matrix *x, const double *v, double *out) {
    memset(out, 0, x->cols * sizeof *out);
    for (size_t i = 0; i < x->rows; i++) {
        const double *row = x->values + i * x->cols;
        double dot = 0;
        for (size_t j = 0; j < x->cols; j++) dot += row[j] * v[j];
        for (size_t j = 0; j < x->cols; j++) out[j] += dot * row[j] / (double)x->rows;
    }
}

/* The largest eigenvalue by the power method; `direction` receives its vector. */
static double power_method(const tacit_matrix *x, double *direction) {
    double *next = TACIT_NEW(double, x->cols), value = 0;
    tacit_stream stream = tacit_stream_from_seed(77);
    for (size_t j = 0; j < x->cols; j++) direction[j] = tacit_fast_normal(&stream);
    for (int round = 0; round < 1000; round++) {
        double length = norm_of(direction, x->cols);
        for (size_t j = 0; j < x->cols; j++) direction[j] /= length;
        multiply(x, direction, next);
        value = 0;
        for (size_t j = 0; j < x->cols; j++) value += next[j] * direction[j];
        memcpy(direction, next, x->cols * sizeof *next);
    }
    free(next);
    return value;
}

static const struct {
    size_t rows, cols, rank;
    double norm;
    bool narrow;
} clouds[] = {
    { 200, 7, 7, 1, false }, { 50, 7, 7, 0.5, true }, { 300, 20, 3, 1, false }, { 5, 12, 12, 1, false },
    { 1, 4, 4, 1, false },   { 5000, 5, 5, 1, true }, { 1, 1, 1, 1, false },    { 40, 1, 1, 0.3, false },
};
enum { CLOUDS = sizeof clouds / sizeof *clouds };

static tacit_matrix cloud_number(size_t k) {
    print_message("# %zu points of %zu numbers, rank %zu, norm %g\n", clouds[k].rows, clouds[k].cols,
                  clouds[k].rank, clouds[k].norm);
    return cloud(clouds[k].rows, clouds[k].cols, clouds[k].rank, clouds[k].norm, clouds[k].narrow, 100 + k);
}

/* ---- kappa ---- */

static void kappa_is_the_root_of_the_largest_eigenvalue_rounded_up(void **state) {
    (void)state;
    for (size_t k = 0; k < CLOUDS; k++) {
        tacit_matrix x = cloud_number(k);
        tacit_points points = points_of(&x, NULL);
        double *direction = TACIT_NEW(double, x.cols);
        double exact = sqrt(power_method(&x, direction));
        assert_true(points.kappa >= exact * (1 - 1e-12));
        CHECK_NEAR(points.kappa, exact, 1e-7);
        assert_true(points.kappa <= clouds[k].norm * (1 + 1e-12));
        assert_int_equal(points.bytes, 8 * x.rows * x.cols);
        free(direction);
        tacit_points_clear(&points);
        tacit_matrix_clear(&x);
    }
}

static void kappa_is_the_same_on_any_number_of_threads(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_matrix x = cloud(20000, 4, 4, 1, false, 5);
    tacit_points one = points_of(&x, NULL);
    for (unsigned threads = 1; threads <= 3; threads++) {
        tacit_pool *pool = NULL;
        CHECK_OK(tacit_pool_create(&pool, threads, &error), error);
        tacit_points other = points_of(&x, pool);
        assert_memory_equal(&other.kappa, &one.kappa, sizeof one.kappa);
        assert_memory_equal(other.shape, one.shape, x.cols * x.cols * sizeof(double));
        tacit_points_clear(&other);
        tacit_pool_free(pool);
    }
    tacit_points_clear(&one);
    tacit_matrix_clear(&x);
}

/* ---- the shape ---- */

/* v^T L L^T v >= v^T C v, for random v, eigenvectors and axes. */
static void the_shape_is_no_smaller_than_the_cloud(void **state) {
    (void)state;
    for (size_t k = 0; k < CLOUDS; k++) {
        tacit_matrix x = cloud_number(k);
        tacit_points points = points_of(&x, NULL);
        size_t d = x.cols;
        double *v = TACIT_NEW(double, d), *product = TACIT_NEW(double, d), trace = 0;
        tacit_stream stream = tacit_stream_from_seed(k);
        assert_non_null(points.shape);
        for (size_t j = 0; j < x.rows * d; j++) trace += x.values[j] * x.values[j] / (double)x.rows;
        for (size_t t = 0; t < 200 + d; t++) {
            for (size_t j = 0; j < d; j++) v[j] = t < d ? (t == j) : tacit_fast_normal(&stream);
            if (t == d) power_method(&x, v);
            scale_row(v, d, 1);
            multiply(&x, v, product);
            double inside = 0, outside = 0;
            for (size_t j = 0; j < d; j++) inside += v[j] * product[j];
            for (size_t c = 0; c < d; c++) {
                double dot = 0;
                for (size_t j = c; j < d; j++) dot += points.shape[j * d + c] * v[j];
                outside += dot * dot;
            }
            assert_true(outside >= inside);
            assert_true(outside <= inside + 2e-6 * trace);
        }
        free(v);
        free(product);
        tacit_points_clear(&points);
        tacit_matrix_clear(&x);
    }
}

/* s = (1/N) sum c_i x_i and t = L^-1 s for answers c; checks both bounds and gives |t|/(|c|/sqrt(N)). */
static double check_move(const tacit_matrix *x, const tacit_points *points, const double *c, double *s) {
    double allowed = norm_of(c, x->rows) / sqrt((double)x->rows);
    memset(s, 0, x->cols * sizeof *s);
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++) s[j] += c[i] * x->values[i * x->cols + j] / (double)x->rows;
    assert_true(norm_of(s, x->cols) <=
                points->kappa * allowed * (1 + 1e-12) + tacit_points_rounding(points, 0));
    tacit_points_shape(points, s, 1);
    double moved = norm_of(s, x->cols);
    assert_true(moved <= allowed + tacit_points_shaped_rounding(points, 0));
    return moved / allowed;
}

/* Random answers, single ones, all the same, and X v: the worst, because |L^-1 X^T X v| is then nearly |X
 * v|. */
static void seen_through_the_shape_answers_move_no_more_than_they_are(void **state) {
    (void)state;
    for (size_t k = 0; k < CLOUDS; k++) {
        tacit_matrix x = cloud_number(k);
        tacit_points points = points_of(&x, NULL);
        double *c = TACIT_NEW(double, x.rows), *s = TACIT_NEW(double, x.cols), *v = TACIT_NEW(double, x.cols);
        tacit_stream stream = tacit_stream_from_seed(k + 50);
        double worst = 0;
        for (int t = 0; t < 40; t++) {
            for (size_t i = 0; i < x.rows; i++)
                c[i] = t < 10   ? tacit_fast_normal(&stream)
                       : t < 20 ? (double)tacit_stream_below(&stream, 3) - 1
                                : 0;
            if (t >= 20 && t < 25) c[tacit_stream_below(&stream, x.rows)] = 1;
            for (size_t j = 0; j < x.cols; j++) v[j] = tacit_fast_normal(&stream);
            if (t == 25) power_method(&x, v);
            for (size_t i = 0; i < x.rows && t >= 25; i++)
                for (size_t j = 0; j < x.cols; j++) c[i] += v[j] * x.values[i * x.cols + j];
            if (t == 39)
                for (size_t i = 0; i < x.rows; i++) c[i] = 1;
            if (norm_of(c, x.rows) == 0) continue;
            worst = fmax(worst, check_move(&x, &points, c, s));
        }
        assert_true(worst > 0.999);
        free(c);
        free(s);
        free(v);
        tacit_points_clear(&points);
        tacit_matrix_clear(&x);
    }
}

static void shape_and_unshape_undo_each_other(void **state) {
    (void)state;
    tacit_matrix x = cloud(60, 9, 9, 1, false, 4);
    tacit_points points = points_of(&x, NULL);
    double v[27], back[27];
    tacit_stream stream = tacit_stream_from_seed(4);
    for (size_t j = 0; j < 27; j++) back[j] = v[j] = tacit_fast_normal(&stream);
    tacit_points_shape(&points, back, 3);
    assert_true(fabs(back[0] - v[0]) > 1e-3);
    tacit_points_unshape(&points, back, 3);
    for (size_t j = 0; j < 27; j++) CHECK_NEAR(back[j], v[j], 1e-12);
    CHECK_NEAR(tacit_points_reach(&points), 1, 0);
    tacit_points_clear(&points);
    assert_null(points.shape);
    points.rows = tacit_rows_of_matrix(&x); /* without a shape L is 1, and kappa bounds the move */
    points.kappa = 0.25;
    tacit_points_shape(&points, v, 3);
    tacit_points_unshape(&points, v, 3);
    for (size_t j = 0; j < 27; j++) CHECK_NEAR(back[j], v[j], 1e-12);
    CHECK_NEAR(tacit_points_reach(&points), 0.25, 0);
    tacit_matrix_clear(&x);
}

/* The noise that the shape lets through: trace L L^T, not d kappa^2. */
static void a_narrow_cloud_has_a_small_trace_and_noise_follows_it(void **state) {
    (void)state;
    tacit_matrix x = cloud(500, 20, 20, 1, true, 6);
    tacit_points points = points_of(&x, NULL);
    double trace = 0;
    for (size_t j = 0; j < 400; j++) trace += points.shape[j] * points.shape[j];
    CHECK_NEAR(trace, 1, 1e-4);
    assert_true(20 * points.kappa * points.kappa > 15 * trace);
    tacit_points_clear(&points);
    tacit_matrix_clear(&x);
}

/* ---- odd points ---- */

static void points_at_the_origin_have_no_shape_and_move_nothing(void **state) {
    (void)state;
    tacit_matrix x = new_matrix(3, 2);
    tacit_points points = points_of(&x, NULL);
    assert_null(points.shape);
    CHECK_NEAR(points.kappa, 0, 1e-300);
    assert_true(tacit_points_rounding(&points, 0) > 0);
    tacit_points_clear(&points);
    tacit_matrix_clear(&x);
}

static void too_many_columns_leave_the_longest_norm(void **state) {
    (void)state;
    tacit_matrix x = new_matrix(2, 2500);
    x.values[0] = 0.5;
    x.values[2500 + 2499] = 0.25;
    tacit_points points = points_of(&x, NULL);
    assert_null(points.shape);
    assert_true(points.kappa >= 0.5);
    CHECK_NEAR(points.kappa, 0.5, 1e-9);
    tacit_points_clear(&points);
    tacit_matrix_clear(&x);
}

static void points_outside_the_unit_ball_are_refused_by_number(void **state) {
    (void)state;
    tacit_matrix x = cloud(10, 3, 3, 1, false, 2);
    tacit_rows rows = tacit_rows_of_matrix(&x);
    tacit_points points = TACIT_POINTS_INIT;
    static const double norms[] = { 1.001, 1e300, INFINITY, NAN };
    for (size_t k = 0; k < 4; k++) {
        tacit_error error = TACIT_ERROR_INIT;
        x.values[6 * 3] = norms[k];
        x.values[6 * 3 + 1] = x.values[6 * 3 + 2] = 0;
        assert_int_equal(tacit_points_of(&points, &rows, NULL, &error), TACIT_INPUT);
        assert_non_null(strstr(error.text, "auxiliary point 7"));
        assert_non_null(strstr(error.text, "schema"));
        assert_null(points.shape);
    }
    tacit_error error = TACIT_ERROR_INIT;
    rows.count = 0;
    assert_int_equal(tacit_points_of(&points, &rows, NULL, &error), TACIT_INPUT);
    tacit_matrix_clear(&x);
}

/* An encoding may be outside by its rounding; then so is kappa. */
static void kappa_allows_for_the_rounding_of_an_encoding(void **state) {
    (void)state;
    tacit_matrix x = new_matrix(4, 2);
    for (size_t i = 0; i < 4; i++) x.values[2 * i] = 1 + 0.9e-9;
    tacit_points points = points_of(&x, NULL);
    assert_true(points.kappa >= 1 + 0.9e-9 && points.kappa <= TACIT_POINTS_LONGEST);
    tacit_points_clear(&points);
    tacit_matrix_clear(&x);
}

static void sparse_points_give_the_same(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_matrix x = new_matrix(50, 6);
    tacit_csr csr = TACIT_CSR_INIT;
    tacit_stream stream = tacit_stream_from_seed(12);
    CHECK_OK(tacit_csr_create(&csr, 50, 6, 100, &error), error);
    for (size_t i = 0; i < 50; i++) {
        csr.start[i + 1] = 2 * (i + 1);
        for (size_t e = 0; e < 2; e++) {
            size_t at = 2 * i + e, column = 3 * e + tacit_stream_below(&stream, 3);
            csr.column[at] = (uint32_t)column;
            csr.value[at] = x.values[i * 6 + column] = 0.7 * tacit_stream_unit(&stream);
        }
    }
    tacit_rows rows = tacit_rows_of_csr(&csr);
    tacit_points dense = points_of(&x, NULL), sparse = TACIT_POINTS_INIT;
    CHECK_OK(tacit_points_of(&sparse, &rows, NULL, &error), error);
    CHECK_NEAR(sparse.kappa, dense.kappa, 1e-12);
    for (size_t j = 0; j < 36; j++) CHECK_NEAR(sparse.shape[j], dense.shape[j], 1e-9);
    assert_int_equal(sparse.bytes, 12 * 100);
    tacit_points_clear(&dense);
    tacit_points_clear(&sparse);
    tacit_matrix_clear(&x);
    tacit_csr_clear(&csr);
}

static void some_points_are_evenly_spread(void **state) {
    (void)state;
    tacit_matrix x = cloud(10, 2, 2, 1, false, 2);
    tacit_points points = points_of(&x, NULL);
    uint32_t index[10], backwards[6] = { 9, 8, 6, 4, 2, 0 };
    tacit_points some = tacit_points_some(&points, 4, index);
    assert_int_equal(some.rows.count, 4);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(tacit_rows_stored(&some.rows, i), i * 10 / 4);
    CHECK_NEAR(some.kappa, points.kappa, 0);
    tacit_points view = points;
    view.rows = tacit_rows_select(&points.rows, backwards, 6);
    some = tacit_points_some(&view, 3, index);
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(tacit_rows_stored(&some.rows, i), backwards[2 * i]);
    tacit_points_clear(&points);
    tacit_matrix_clear(&x);
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    tacit_matrix x = cloud(20, 3, 3, 1, false, 2);
    tacit_rows rows = tacit_rows_of_matrix(&x);
    bool failed = true;
    for (long at = 1; failed; at++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_points points = TACIT_POINTS_INIT;
        fail_allocation(at);
        tacit_status status = tacit_points_of(&points, &rows, NULL, &error);
        failed = allocation_failed();
        assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
        assert_true(failed ? points.shape == NULL : at > 3);
        tacit_points_clear(&points);
    }
    tacit_points_clear(NULL);
    tacit_matrix_clear(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kappa_is_the_root_of_the_largest_eigenvalue_rounded_up),
        cmocka_unit_test(kappa_is_the_same_on_any_number_of_threads),
        cmocka_unit_test(the_shape_is_no_smaller_than_the_cloud),
        cmocka_unit_test(seen_through_the_shape_answers_move_no_more_than_they_are),
        cmocka_unit_test(shape_and_unshape_undo_each_other),
        cmocka_unit_test(a_narrow_cloud_has_a_small_trace_and_noise_follows_it),
        cmocka_unit_test(points_at_the_origin_have_no_shape_and_move_nothing),
        cmocka_unit_test(too_many_columns_leave_the_longest_norm),
        cmocka_unit_test(points_outside_the_unit_ball_are_refused_by_number),
        cmocka_unit_test(kappa_allows_for_the_rounding_of_an_encoding),
        cmocka_unit_test(sparse_points_give_the_same),
        cmocka_unit_test(some_points_are_evenly_spread),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests_name("points", tests, NULL, NULL);
}
