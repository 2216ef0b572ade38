/*
 * Chained equations: what was regressed before values went missing is found again, where rows without them
 * would mislead, and what cannot be regressed ends well. All draws are seeded: nothing here can fail by chance.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "data/impute/impute.h"
#include "rand/fast.h"

enum { ROWS = 4000, SETS = 20 };

typedef struct table {
    size_t rows, width;
    double *values, *whole; /* as they are, and as they were made */
    uint32_t *row;
    size_t cells;
} table;

static table make_table(size_t rows, size_t width) {
    table out = { .rows = rows, .width = width };
    out.values = calloc(rows * width, sizeof(double));
    out.whole = calloc(rows * width, sizeof(double));
    out.row = calloc(rows, sizeof(uint32_t));
    assert_true(out.values != NULL && out.whole != NULL && out.row != NULL);
    return out;
}

static void free_table(table *of) {
    free(of->values);
    free(of->whole);
    free(of->row);
}

/* A number in column 1 and no bounds that matter. */
static tacit_impute_variable number_of(const table *of) {
    return (tacit_impute_variable){
        .name = "x", .first = 1, .count = 1, .low = -1e9, .high = 1e9, .cells = of->cells, .row = of->row
    };
}

static tacit_status complete(table *of, const tacit_impute_variable *variable, uint64_t seed,
                             tacit_error *error) {
    tacit_impute_problem problem = {
        .rows = of->rows, .width = of->width, .values = of->values, .variables = 1, .variable = variable
    };
    tacit_stream stream = tacit_stream_from_seed(seed);
    memcpy(of->values, of->whole, of->rows * of->width * sizeof *of->values);
    for (size_t c = 0; c < of->cells; c++)
        for (size_t k = 0; k < variable->count; k++)
            of->values[of->row[c] * of->width + variable->first + k] = NAN; /* must not be looked at */
    return tacit_impute(&problem, &stream, error);
}

/* The slope of column 2 on column 1, and its variance; without the rows that lack it, if asked. */
static double slope(const table *of, bool without, double *variance) {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    size_t next = 0;
    for (size_t i = 0; i < of->rows; i++) {
        const double *row = of->values + i * of->width;
        bool missing = next < of->cells && of->row[next] == i;
        next += missing;
        if (missing && without) continue;
        n++;
        x += row[1];
        y += row[2];
        xx += row[1] * row[1];
        xy += row[1] * row[2];
        yy += row[2] * row[2];
    }
    double sxx = xx - x * x / n, sxy = xy - x * y / n, found = sxy / sxx;
    *variance = (yy - y * y / n - found * sxy) / (n - 2) / sxx;
    return found;
}

/* (1, x, y) with y = 1 + 2 x + e. Missing at random: x is often not there where y is large. */
static table linear_table(bool at_random) {
    tacit_stream stream = tacit_stream_from_seed(31);
    table out = make_table(ROWS, 3);
    for (size_t i = 0; i < ROWS; i++) {
        double *row = out.whole + 3 * i;
        row[0] = 1;
        row[1] = tacit_fast_normal(&stream);
        row[2] = 1 + 2 * row[1] + 2 * tacit_fast_normal(&stream);
        double chance = at_random ? (row[2] > 1 ? 0.7 : 0.1) : 0.4;
        if (tacit_stream_unit(&stream) < chance) out.row[out.cells++] = (uint32_t)i;
    }
    return out;
}

static void a_regression_is_found_again_from_imputed_numbers(void **state) {
    (void)state;
    for (int at_random = 0; at_random < 2; at_random++) {
        table rows = linear_table(at_random != 0);
        tacit_impute_variable variable = number_of(&rows);
        tacit_error error = TACIT_ERROR_INIT;
        double mean = 0, within = 0, between = 0, each[SETS], variance;
        for (int s = 0; s < SETS; s++) {
            CHECK_OK(complete(&rows, &variable, 100 + (uint64_t)s, &error), error);
            each[s] = slope(&rows, false, &variance);
            mean += each[s] / SETS;
            within += variance / SETS;
        }
        for (int s = 0; s < SETS; s++) between += pow(each[s] - mean, 2) / (SETS - 1);
        double total = sqrt(within + (1 + 1.0 / SETS) * between);
        assert_true(fabs(mean - 2) < 3 * total);
        assert_true(between > 0.1 * within); /* draws differ by what is not known */
        double biased = slope(&rows, true, &variance);
        if (at_random) assert_true(fabs(biased - 2) > 5 * sqrt(variance)); /* the control */
        free_table(&rows);
    }
}

/* ---- categories ---- */

/* (1, level columns, z): the level by a multinomial model of z, missing where z is large. */
static table level_table(size_t levels, double *share) {
    tacit_stream stream = tacit_stream_from_seed(47);
    table out = make_table(ROWS, levels + 1);
    memset(share, 0, levels * sizeof *share);
    for (size_t i = 0; i < ROWS; i++) {
        double *row = out.whole + out.width * i, weight[4], sum = 0, z = tacit_fast_normal(&stream);
        for (size_t k = 0; k < levels; k++) sum += weight[k] = exp((double)k * (z - 0.5));
        double left = sum * tacit_stream_unit(&stream);
        size_t level = 0;
        while (level + 1 < levels && left >= weight[level]) left -= weight[level++];
        row[0] = 1;
        if (level > 0) row[level] = 0.25;
        row[levels] = z;
        share[level] += 1.0 / ROWS;
        if (tacit_stream_unit(&stream) < (z > 0 ? 0.8 : 0.1)) out.row[out.cells++] = (uint32_t)i;
    }
    return out;
}

static tacit_impute_variable category_of(const table *of, size_t levels) {
    return (tacit_impute_variable){ .name = "g",
                                    .first = 1,
                                    .count = levels - 1,
                                    .category = true,
                                    .unit = 0.25,
                                    .cells = of->cells,
                                    .row = of->row };
}

static void shares_of_levels_are_found_again(void **state) {
    (void)state;
    for (size_t levels = 2; levels <= 4; levels += 2) {
        double share[4], found[4] = { 0 }, seen[4] = { 0 };
        table rows = level_table(levels, share);
        tacit_impute_variable variable = category_of(&rows, levels);
        tacit_error error = TACIT_ERROR_INIT;
        for (int s = 0; s < SETS; s++) {
            CHECK_OK(complete(&rows, &variable, 200 + (uint64_t)s, &error), error);
            for (size_t i = 0; i < ROWS; i++) {
                size_t level = 0, ones = 0;
                for (size_t k = 1; k < levels; k++) {
                    double value = rows.values[i * rows.width + k];
                    assert_true(value == 0 || value == 0.25);
                    ones += value > 0;
                    if (value > 0) level = k;
                }
                assert_true(ones <= 1);
                found[level] += 1.0 / ROWS / SETS;
            }
        }
        size_t next = 0, left = ROWS - rows.cells;
        for (size_t i = 0; i < ROWS; i++) {
            bool missing = next < rows.cells && rows.row[next] == i;
            size_t level = 0;
            next += missing;
            for (size_t k = 1; k < levels; k++)
                if (rows.whole[i * rows.width + k] > 0) level = k;
            if (!missing) seen[level] += 1.0 / (double)left;
        }
        for (size_t k = 0; k < levels; k++) CHECK_NEAR(found[k], share[k], 0.03);
        assert_true(fabs(seen[0] - share[0]) > 0.1); /* the control: of complete rows alone */
        free_table(&rows);
    }
}

/* ---- what is not as it should be ---- */

static void a_column_without_any_value_is_refused_by_name(void **state) {
    (void)state;
    table rows = make_table(5, 3);
    for (rows.cells = 0; rows.cells < 5; rows.cells++) rows.row[rows.cells] = (uint32_t)rows.cells;
    tacit_impute_variable variable = number_of(&rows);
    tacit_error error = TACIT_ERROR_INIT;
    assert_int_equal(complete(&rows, &variable, 1, &error), TACIT_INPUT);
    assert_non_null(strstr(error.text, "column 'x' has no value in any row here"));
    free_table(&rows);
}

static void a_level_that_alone_occurs_is_imputed(void **state) {
    (void)state;
    table rows = make_table(6, 4);
    for (size_t i = 0; i < 6; i++) {
        rows.whole[4 * i] = 1;
        rows.whole[4 * i + 2] = 0.25;
        rows.whole[4 * i + 3] = (double)i;
    }
    rows.row[rows.cells++] = 2;
    rows.row[rows.cells++] = 5;
    tacit_impute_variable variable = category_of(&rows, 3);
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(complete(&rows, &variable, 1, &error), error);
    assert_memory_equal(rows.values, rows.whole, 24 * sizeof(double));
    free_table(&rows);
}

/* A constant, a column twice, more columns than rows: finite, and within the bounds. */
static void collinear_and_constant_columns_and_few_rows_end_well(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(5);
    static const size_t sizes[] = { 40, 6, 2 };
    for (size_t t = 0; t < 3; t++)
        for (int category = 0; category < 2; category++) {
            table rows = make_table(sizes[t], 9);
            for (size_t i = 0; i < rows.rows; i++) {
                double *row = rows.whole + 9 * i;
                row[0] = row[3] = 1;
                row[1] = category ? 0.25 * (double)(i % 2) : tacit_fast_normal(&stream);
                for (size_t k = 4; k < 9; k++) row[k] = tacit_fast_normal(&stream);
                row[5] = row[4];
                row[6] = 2 * row[4] - 1;
            }
            rows.row[rows.cells++] = 1;
            tacit_impute_variable variable = category ? category_of(&rows, 2) : number_of(&rows);
            tacit_error error = TACIT_ERROR_INIT;
            variable.low = -3;
            variable.high = 3;
            CHECK_OK(complete(&rows, &variable, 9, &error), error);
            double value = rows.values[9 + 1];
            assert_true(value >= -3 && value <= 3);
            free_table(&rows);
        }
}

/* z tells the levels apart without error, so that the likelihood alone has no maximum. */
static void separated_levels_are_imputed_as_they_lie(void **state) {
    (void)state;
    table rows = make_table(200, 3);
    for (size_t i = 0; i < 200; i++) {
        double z = ((double)i - 99.5) / 20;
        rows.whole[3 * i] = 1;
        rows.whole[3 * i + 1] = z > 0 ? 0.25 : 0;
        rows.whole[3 * i + 2] = z;
        if (i % 5 == 0) rows.row[rows.cells++] = (uint32_t)i;
    }
    tacit_impute_variable variable = category_of(&rows, 2);
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(complete(&rows, &variable, 3, &error), error);
    size_t right = 0;
    for (size_t c = 0; c < rows.cells; c++)
        right += rows.values[3 * rows.row[c] + 1] == rows.whole[3 * rows.row[c] + 1];
    assert_true(right >= 34 && rows.cells == 40);
    free_table(&rows);
}

static void the_same_seed_draws_the_same_and_another_does_not(void **state) {
    (void)state;
    table rows = linear_table(false);
    tacit_impute_variable variable = number_of(&rows);
    tacit_error error = TACIT_ERROR_INIT;
    double first[3], again[3];
    for (int run = 0; run < 3; run++) {
        CHECK_OK(complete(&rows, &variable, run == 2 ? 8 : 7, &error), error);
        for (size_t c = 0; c < 3; c++) (run == 0 ? first : again)[c] = rows.values[3 * rows.row[c] + 1];
        assert_true((run == 2) == (run > 0 && memcmp(first, again, sizeof first) != 0));
    }
    free_table(&rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_regression_is_found_again_from_imputed_numbers),
        cmocka_unit_test(shares_of_levels_are_found_again),
        cmocka_unit_test(a_column_without_any_value_is_refused_by_name),
        cmocka_unit_test(a_level_that_alone_occurs_is_imputed),
        cmocka_unit_test(collinear_and_constant_columns_and_few_rows_end_well),
        cmocka_unit_test(separated_levels_are_imputed_as_they_lie),
        cmocka_unit_test(the_same_seed_draws_the_same_and_another_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
