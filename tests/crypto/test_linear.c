/* Linear algebra in circuits: bit for bit what integer arithmetic with the same rounding gives, and near what
 * it should be. */
#include "check.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/garble/circuits_linear.h"
#include "crypto/garble/circuits_word.h"
#include "rand/stream.h"

__extension__ typedef __int128 wide;

enum { MOST = 16, TRIANGLE = MOST * (MOST + 1) / 2 };

/* ---- integers with the rounding of the circuits ---- */

static int64_t cut(wide value, size_t width) {
    uint64_t low = (uint64_t)value << (64 - width);
    return (int64_t)low >> (64 - width);
}

typedef struct integers {
    int64_t factor[TRIANGLE], inverse[TRIANGLE];
} integers;

static int64_t down(wide sum, tacit_fixed format) { return cut(sum >> format.fraction, format.width); }

static void factor_integers(integers *out, const int64_t *a, tacit_fixed format, size_t d) {
    int64_t c[TRIANGLE];
    for (size_t j = 0; j < d; j++)
        for (size_t i = j; i < d; i++) {
            wide sum = 0;
            for (size_t k = 0; k < j; k++)
                sum += (wide)out->factor[tacit_triangle(i, k)] * c[tacit_triangle(j, k)];
            c[tacit_triangle(i, j)] = cut(a[tacit_triangle(i, j)] - (wide)down(sum, format), format.width);
            if (i == j)
                out->factor[tacit_triangle(j, j)] =
                    (int64_t)(((wide)1 << 2 * format.fraction) / c[tacit_triangle(j, j)]);
            else
                out->factor[tacit_triangle(i, j)] =
                    down((wide)c[tacit_triangle(i, j)] * out->factor[tacit_triangle(j, j)], format);
        }
}

static void solve_integers(int64_t *x, const int64_t *factor, tacit_fixed format, size_t d) {
    for (size_t i = 0; i < d; i++) {
        wide sum = 0;
        for (size_t k = 0; k < i; k++) sum += (wide)factor[tacit_triangle(i, k)] * x[k];
        x[i] = cut(x[i] - (wide)down(sum, format), format.width);
    }
    for (size_t i = 0; i < d; i++) x[i] = down((wide)x[i] * factor[tacit_triangle(i, i)], format);
    for (size_t i = d; i-- > 0;) {
        wide sum = 0;
        for (size_t k = i + 1; k < d; k++) sum += (wide)factor[tacit_triangle(k, i)] * x[k];
        x[i] = cut(x[i] - (wide)down(sum, format), format.width);
    }
}

static void invert_integers(integers *both, tacit_fixed format, size_t d) {
    int64_t m[TRIANGLE], n[TRIANGLE];
    const int64_t *factor = both->factor;
    for (size_t j = 0; j < d; j++)
        for (size_t i = j + 1; i < d; i++) {
            wide sum = 0;
            for (size_t k = j + 1; k < i; k++)
                sum += (wide)factor[tacit_triangle(i, k)] * m[tacit_triangle(k, j)];
            m[tacit_triangle(i, j)] =
                cut(-((wide)factor[tacit_triangle(i, j)] + down(sum, format)), format.width);
        }
    for (size_t k = 0; k < d; k++)
        for (size_t j = 0; j <= k; j++)
            n[tacit_triangle(k, j)] =
                j == k ? factor[tacit_triangle(k, k)]
                       : down((wide)factor[tacit_triangle(k, k)] * m[tacit_triangle(k, j)], format);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            wide sum = 0;
            for (size_t k = i + 1; k < d; k++) sum += (wide)m[tacit_triangle(k, i)] * n[tacit_triangle(k, j)];
            both->inverse[tacit_triangle(i, j)] =
                cut(n[tacit_triangle(i, j)] + (wide)down(sum, format), format.width);
        }
}

/* ---- circuits in the clear ---- */

typedef struct machine {
    tacit_builder *builder;
    tacit_error error;
} machine;

static void start(machine *self) {
    self->builder = NULL;
    self->error = (tacit_error)TACIT_ERROR_INIT;
    CHECK_OK(tacit_plain_create(&self->builder, &self->error), self->error);
}

static tacit_wire *wires_of(machine *self, const int64_t *values, size_t width, size_t count) {
    tacit_wire *wires = tacit_scratch(self->builder, width * count);
    uint8_t *bits = malloc(width * count);
    assert_true(wires != NULL && bits != NULL);
    if (values != NULL) {
        tacit_word_to_bits(bits, (const uint64_t *)values, width, count);
        CHECK_OK(tacit_input_wires(self->builder, TACIT_GARBLER, wires, bits, width * count),
                 self->builder->error);
    }
    free(bits);
    return wires;
}

static void values_of(machine *self, int64_t *values, const tacit_wire *wires, size_t width, size_t count) {
    uint8_t *bits = malloc(width * count);
    assert_non_null(bits);
    CHECK_OK(tacit_reveal(self->builder, TACIT_BOTH, bits, wires, width * count), self->builder->error);
    tacit_word_from_bits((uint64_t *)values, bits, width, count);
    for (size_t k = 0; k < count; k++) values[k] = cut(values[k], width);
    free(bits);
}

/* Sums of `terms` products in `lanes` lanes; term k of lane l at [k * lanes + l]. Returns the gates. */
static uint64_t check_dot(const int64_t *a, const int64_t *b, tacit_fixed format, size_t terms,
                          size_t lanes) {
    machine self;
    start(&self);
    tacit_wire *x = wires_of(&self, a, format.width, terms * lanes),
               *y = wires_of(&self, b, format.width, terms * lanes),
               *out = wires_of(&self, NULL, format.width, lanes);
    int64_t *results = calloc(lanes, sizeof *results);
    assert_non_null(results);
    CHECK_OK(tacit_fixed_dot(self.builder, out, x, y, format, terms, lanes), self.builder->error);
    values_of(&self, results, out, format.width, lanes);
    for (size_t l = 0; l < lanes; l++) {
        wide sum = 0; /* modulo 2^128 */
        for (size_t k = 0; k < terms; k++)
            sum = (wide)((__uint128_t)sum + (__uint128_t)((wide)a[k * lanes + l] * b[k * lanes + l]));
        if (results[l] != down(sum, format))
            fail_msg("width %zu, fraction %zu, %zu terms, lane %zu: %ld, expected %ld", format.width,
                     format.fraction, terms, l, results[l], down(sum, format));
    }
    uint64_t gates = self.builder->and_count;
    free(results);
    tacit_builder_free(self.builder);
    return gates;
}

static void short_sums_are_right_for_all_operands(void **state) {
    (void)state;
    static int64_t a[1 << 13], b[1 << 13];
    for (size_t width = 2; width <= 3; width++)
        for (size_t fraction = 0; fraction < width; fraction++) {
            size_t values = (size_t)1 << width, lanes = values * values * values * values;
            for (size_t l = 0; l < lanes; l++) {
                a[l] = cut((wide)(l % values), width);
                b[l] = cut((wide)(l / values % values), width);
                a[lanes + l] = cut((wide)(l / values / values % values), width);
                b[lanes + l] = cut((wide)(l / values / values / values), width);
            }
            check_dot(a, b, (tacit_fixed){ width, fraction }, 2, lanes);
        }
}

static void sums_are_right_at_random_and_on_edges(void **state) {
    (void)state;
    static const size_t widths[] = { 7, 10, 11, 16, 19, 20, 31, 33, 40, 48, 64 };
    static int64_t a[40 * 24], b[40 * 24];
    tacit_stream stream = tacit_stream_from_seed(21);
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++)
        for (size_t terms = 1; terms <= 40; terms = terms < 8 ? terms + 1 : terms + 16) {
            size_t width = widths[k], lanes = 24;
            size_t fraction = k % 3 == 0 ? width - 1 : k % 3 == 1 ? width / 2 : 0;
            int64_t low = (int64_t)(UINT64_MAX << (width - 1)), edges[4] = { low, ~low, -1, 0 };
            for (size_t i = 0; i < terms * lanes; i++) {
                size_t l = i % lanes;
                a[i] = l < 16 ? edges[l % 4] : cut((wide)tacit_stream_u64(&stream), width);
                b[i] = l < 16 ? edges[l / 4] : cut((wide)tacit_stream_u64(&stream), width);
            }
            check_dot(a, b, (tacit_fixed){ width, fraction }, terms, lanes);
        }
}

static void reciprocals_are_right_for_all_short_numbers(void **state) {
    (void)state;
    int64_t a[127], results[127];
    for (size_t width = 2; width <= 8; width++)
        for (size_t fraction = 0; fraction < width; fraction++) {
            machine self;
            size_t lanes = ((size_t)1 << (width - 1)) - 1;
            for (size_t l = 0; l < lanes; l++) a[l] = (int64_t)l + 1;
            start(&self);
            tacit_wire *x = wires_of(&self, a, width, lanes);
            CHECK_OK(tacit_fixed_reciprocal(self.builder, x, x, (tacit_fixed){ width, fraction }, lanes),
                     self.builder->error);
            values_of(&self, results, x, width, lanes);
            for (size_t l = 0; l < lanes; l++) {
                int64_t right = ((int64_t)1 << 2 * fraction) / a[l];
                if (right < (int64_t)1 << (width - 1)) assert_int_equal(results[l], right);
            }
            assert_int_equal(self.builder->and_count, (width - 1) * (width - 1) * lanes);
            tacit_builder_free(self.builder);
        }
}

/* ---- matrices ---- */

/* X^T X / (4 n) + ridge, as a study has it: rows uniform on a cube, columns correlated; in units. */
static void draw_matrix(int64_t *triangle, double *exact, size_t d, double ridge, tacit_fixed format,
                        tacit_stream *stream) {
    enum { ROWS = 60 };
    double x[ROWS][MOST];
    for (size_t r = 0; r < ROWS; r++)
        for (size_t j = 0; j < d; j++)
            x[r][j] = 2 * tacit_stream_unit(stream) - 1 + (j > 0 ? x[r][j - 1] : 0) * 0.7;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = i == j ? ridge : 0;
            for (size_t r = 0; r < ROWS; r++) sum += x[r][i] * x[r][j] / (4 * ROWS);
            triangle[tacit_triangle(i, j)] = llrint(ldexp(sum, (int)format.fraction));
            exact[i * d + j] = exact[j * d + i] =
                ldexp((double)triangle[tacit_triangle(i, j)], -(int)format.fraction);
        }
}

/* Factor, solve and invert; returns the gates of each. With `narrow` bits for what a sum multiplies, in
 * solving six more. */
static void check_matrix(uint64_t gates[3], const int64_t *a, int64_t *x, integers *results,
                         tacit_fixed format, size_t narrow, size_t d) {
    size_t wider = narrow + 6 < format.width ? narrow + 6 : format.width;
    machine self;
    integers right;
    int64_t solution[MOST];
    size_t count = tacit_triangle(d, 0), bytes = count * sizeof *a;
    start(&self);
    tacit_wire *matrix = wires_of(&self, a, format.width, count),
               *factor = wires_of(&self, NULL, format.width, count),
               *inverse = wires_of(&self, NULL, format.width, count),
               *vector = wires_of(&self, x, format.width, d);
    CHECK_OK(tacit_fixed_factor(self.builder, factor, matrix, format, narrow, d), self.builder->error);
    gates[0] = self.builder->and_count;
    CHECK_OK(tacit_fixed_solve(self.builder, vector, factor, vector, format, wider, d), self.builder->error);
    gates[1] = self.builder->and_count - gates[0];
    CHECK_OK(tacit_fixed_inverse(self.builder, inverse, factor, format, narrow, d), self.builder->error);
    gates[2] = self.builder->and_count - gates[1] - gates[0];
    values_of(&self, results->factor, factor, format.width, count);
    values_of(&self, results->inverse, inverse, format.width, count);
    values_of(&self, solution, vector, format.width, d);
    factor_integers(&right, a, format, d);
    assert_memory_equal(results->factor, right.factor, bytes);
    invert_integers(&right, format, d);
    assert_memory_equal(results->inverse, right.inverse, bytes);
    solve_integers(x, right.factor, format, d);
    assert_memory_equal(solution, x, d * sizeof *x);
    tacit_builder_free(self.builder);
}

static void matrices_of_a_study_are_factored_solved_and_inverted(void **state) {
    (void)state;
    /* Entries up to 2.8 and eigenvalues from 0.001 on: L and its inverse are within sqrt(2 4.2/0.001) =
     * 92. */
    static const tacit_fixed formats[] = { { 64, 32 }, { 48, 32 }, { 64, 32 } };
    static const size_t narrow[] = { 64, 48, 41 };
    tacit_stream stream = tacit_stream_from_seed(22);
    for (size_t d = 1; d <= 13; d += d < 4 ? 1 : 3)
        for (size_t k = 0; k < 3; k++) {
            tacit_fixed format = formats[k];
            int64_t a[TRIANGLE], x[MOST], b[MOST];
            double exact[MOST * MOST];
            integers results;
            uint64_t gates[3];
            draw_matrix(a, exact, d, 0.001, format, &stream);
            for (size_t i = 0; i < d; i++)
                x[i] = b[i] = llrint(ldexp(tacit_stream_unit(&stream) - 0.5, (int)format.fraction));
            check_matrix(gates, a, x, &results, format, narrow[k], d);
            for (size_t i = 0; i < d; i++) { /* A x = b, A A^-1 = I */
                double sum = 0, row = 0;
                for (size_t j = 0; j < d; j++) {
                    size_t at = i > j ? tacit_triangle(i, j) : tacit_triangle(j, i);
                    sum += exact[i * d + j] * ldexp((double)x[j], -32);
                    row += exact[i * d + j] * ldexp((double)results.inverse[at], -32);
                }
                CHECK_NEAR(sum, ldexp((double)b[i], -32), 1e-7);
                CHECK_NEAR(row, 1, 1e-6);
            }
        }
}

/* All matrices of order two that have a factor in four bits, one behind the point. */
static void small_matrices_are_all_right(void **state) {
    (void)state;
    static const tacit_fixed format = { 4, 1 };
    size_t done = 0;
    for (int code = 0; code < 1 << 12; code++) {
        int64_t a[3], x[2] = { 3, -2 };
        uint64_t gates[3];
        integers results;
        for (int k = 0; k < 3; k++) a[k] = cut(code >> 4 * k, format.width);
        if (a[0] < 1) continue;
        int64_t reciprocal = 4 / a[0], below = down((wide)a[1] * reciprocal, format);
        if (cut(a[2] - (wide)down((wide)below * a[1], format), format.width) < 1) continue;
        check_matrix(gates, a, x, &results, format, format.width, 2);
        done++;
    }
    assert_true(done > 500);
}

/* More lanes than go together, and more terms. */
static void large_products_are_right(void **state) {
    (void)state;
    enum { ROWS = 3, COLUMNS = 150, LONG = 70 };
    static const tacit_fixed format = { 16, 5 };
    static int64_t a[ROWS * LONG], b[LONG * COLUMNS], results[ROWS * COLUMNS];
    tacit_stream stream = tacit_stream_from_seed(24);
    for (size_t inner = 2; inner <= LONG; inner += LONG - 2) {
        machine self;
        start(&self);
        for (size_t k = 0; k < ROWS * inner; k++) a[k] = cut((wide)tacit_stream_u64(&stream), format.width);
        for (size_t k = 0; k < inner * COLUMNS; k++)
            b[k] = cut((wide)tacit_stream_u64(&stream), format.width);
        tacit_wire *x = wires_of(&self, a, format.width, ROWS * inner),
                   *y = wires_of(&self, b, format.width, inner * COLUMNS),
                   *out = wires_of(&self, NULL, format.width, ROWS * COLUMNS);
        CHECK_OK(tacit_fixed_product(self.builder, out, x, y, format, ROWS, inner, COLUMNS),
                 self.builder->error);
        values_of(&self, results, out, format.width, ROWS * COLUMNS);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < COLUMNS; j++) {
                wide sum = 0;
                for (size_t k = 0; k < inner; k++) sum += (wide)a[i * inner + k] * b[k * COLUMNS + j];
                assert_int_equal(results[i * COLUMNS + j], down(sum, format));
            }
        tacit_builder_free(self.builder);
    }
}

static void gates_are_as_few_as_promised(void **state) {
    (void)state;
    static int64_t a[64 * 4], b[64 * 4];
    int64_t matrix[TRIANGLE], x[MOST] = { 0 };
    double exact[MOST * MOST];
    integers results;
    uint64_t gates[3];
    tacit_stream stream = tacit_stream_from_seed(23);
    assert_int_equal(check_dot(a, b, tacit_fixed_center, 64, 1), 282447); /* 4,413 a product */
    assert_int_equal(check_dot(a, b, tacit_fixed_center, 64, 4), 4 * 282447);
    assert_int_equal(check_dot(a, b, (tacit_fixed){ 48, 32 }, 64, 1), 175743); /* 2,746 */
    assert_int_equal(check_dot(a, b, tacit_fixed_center, 2, 3), 3 * 10058);
    draw_matrix(matrix, exact, 13, 0.001, tacit_fixed_center, &stream);
    check_matrix(gates, matrix, x, &results, tacit_fixed_center, tacit_fixed_center.width, 13);
    assert_int_equal(gates[0], 2174975);
    assert_int_equal(gates[1], 788716);
    assert_int_equal(gates[2], 3475359);
    check_matrix(gates, matrix, x, &results, tacit_fixed_center, 41, 13);
    assert_in_range(gates[0], 1, 1400000);
    assert_in_range(gates[1], 1, 550000);
    assert_in_range(gates[2], 1, 2850000);
}

/* ---- range ---- */

static void what_does_not_fit_is_refused_beforehand(void **state) {
    (void)state;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_fixed_check_range(tacit_fixed_center, 100, 0.25, 1e-6, &error), error);
    CHECK_OK(tacit_fixed_check_range(tacit_fixed_center, 1, 1e3, 1e1, &error), error);
    static const struct {
        double largest, least;
    } wrong[] = { { 1e9, 1e3 }, { 0.25, 1e-10 }, { 0.25, 0 }, { 0, 0.1 }, { NAN, 1 }, { INFINITY, 1 } };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        error = (tacit_error)TACIT_ERROR_INIT;
        assert_int_equal(
            tacit_fixed_check_range(tacit_fixed_center, 10, wrong[k].largest, wrong[k].least, &error),
            TACIT_LIMIT);
        assert_true(strlen(error.text) > 20);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_sums_are_right_for_all_operands),
        cmocka_unit_test(sums_are_right_at_random_and_on_edges),
        cmocka_unit_test(reciprocals_are_right_for_all_short_numbers),
        cmocka_unit_test(matrices_of_a_study_are_factored_solved_and_inverted),
        cmocka_unit_test(small_matrices_are_all_right),
        cmocka_unit_test(large_products_are_right),
        cmocka_unit_test(gates_are_as_few_as_promised),
        cmocka_unit_test(what_does_not_fit_is_refused_beforehand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
