#include <math.h>
#include <stdlib.h>

#include "survive.h"

#include "data/encode.h"
#include "data/formula/formula_parts.h"
#include "rand/stream.h"

static const char TEXT[] = "label: {name: y, classes: [no, yes]}\n"
                           "columns:\n"
                           "  - {name: age, kind: number, low: 18, high: 90}\n"
                           "  - {name: bmi, kind: number, low: -5, high: 60, mean: 25, sd: 5}\n"
                           "  - {name: sex, kind: category, levels: [f, m]}\n"
                           "  - {name: site, kind: category, levels: [a, b, c]}\n"
                           "  - {name: id, kind: skip}\n"
                           "  - {name: grade, kind: number, low: 1, high: 4}\n"
                           "  - {name: blood-pressure, kind: number, low: 40, high: 250}\n";

static const char *const FORMULAS[] = {
    "y ~ age",
    "y ~ .",
    "~ age*sex*site",
    "y ~ spline(age, df=5)*sex + poly(bmi, 3)",
    "y ~ bs(age, df = 6):site + log(age):sqrt(age):grade - 1",
    "y ~ ns(age, knots=c(30, 40), Boundary.knots=c(25, 60)) * poly(grade, 2, raw = TRUE)",
    "y ~ (age + bmi + sex + site)^3",
    "y ~ factor(grade)*site + I(bmi^2) + I(1/age) + exp(-bmi/10)",
    "y ~ 0 + site/bmi + offset(log(age) - 3)",
    "y ~ sex*bmi + offset(log(age)) + weights(grade)",
    "y ~ . + weights(grade)",
    "y ~ age:bmi + strata(site, sex) + weights(grade)",
    "y ~ . + strata(site)",
    "y ~ . + subgroups(site)",
    "y ~ log(age) + weights(grade) + subgroups(sex)",
    "y ~ I(-(age - 40) * bmi) + abs(bmi) + log1p(age) + `blood-pressure`",
};
enum { COUNT = sizeof FORMULAS / sizeof *FORMULAS };

static tacit_schema *schema_with(const char *terms) {
    tacit_schema *schema = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_schema_parse(&schema, TEXT, strlen(TEXT), "s.yaml", &error), error);
    if (terms != NULL) CHECK_OK(tacit_schema_set_terms(schema, terms, &error), error);
    return schema;
}

static void check_text(const char *terms, const char *expected) {
    tacit_schema *schema = schema_with(terms);
    assert_string_equal(tacit_formula_text(schema->formula), expected);
    tacit_schema_free(schema);
}

static void a_formula_is_printed_as_r_prints_it(void **state) {
    (void)state;
    check_text("y~age+sex:site", "y ~ age + sex:site");
    check_text(" ~spline( age,df=4 ) * I( age ^2/3)", "~spline(age, df = 4) * I(age^2/3)");
    check_text("y ~ `blood-pressure` + `age`", "y ~ `blood-pressure` + age");
    check_text("y ~ (age+bmi)^2 - age:bmi - 1", "y ~ (age + bmi)^2 - age:bmi - 1");
}

/* The columns of a formula, comma-separated. */
static void check_columns(const char *terms, const char *expected) {
    tacit_schema *schema = schema_with(terms);
    tacit_buffer names = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    for (size_t k = 0; k < tacit_formula_features(schema->formula); k++) {
        if (k > 0) CHECK_OK(tacit_buffer_print(&names, &error, ", "), error);
        CHECK_OK(tacit_formula_name(schema->formula, k, &names, &error), error);
    }
    assert_string_equal(tacit_buffer_text(&names), expected);
    tacit_buffer_clear(&names);
    tacit_schema_free(schema);
}

/* R 4.2.2: colnames(model.matrix(...)) without the intercept. */
static void columns_come_in_the_order_and_coding_of_r(void **state) {
    (void)state;
    check_columns("y ~ sex*site + age", "sexm, siteb, sitec, age, sexm:siteb, sexm:sitec");
    check_columns("y ~ sex:site", "sexf:sitea, sexm:sitea, sexf:siteb, sexm:siteb, sexf:sitec, sexm:sitec");
    check_columns("y ~ 0 + site + sex", "sitea, siteb, sitec, sexm");
    check_columns("y ~ site:age + sex", "sexm, sitea:age, siteb:age, sitec:age");
    check_columns("y ~ site:age + age", "age, siteb:age, sitec:age");
    check_columns("y ~ sex/age", "sexm, sexf:age, sexm:age");
    check_columns("y ~ age:sex + bmi:age", "age:sexf, age:sexm, age:bmi");
    check_columns("y ~ bmi + age - bmi", "age");
    check_columns("y ~ poly(age, 2) + factor(grade)",
                  "poly(age, 2)1, poly(age, 2)2, factor(grade)2, factor(grade)3, factor(grade)4");
    check_columns("y ~ factor(grade, levels = c(3, 1)) + poly(age, 1)",
                  "factor(grade, levels = c(3, 1))1, poly(age, 1)");
    check_columns("y ~ age + age + sex + sex:age + age:sex", "age, sexm, age:sexm");
    check_columns("y ~ . + weights(grade)", "age, bmi, sexm, siteb, sitec, `blood-pressure`, weights(grade)");
    check_columns("y ~ . - age - bmi - grade + subgroups(sex)",
                  "sexm, siteb, sitec, `blood-pressure`, subgroups(sex=f), subgroups(sex=m)");
    check_columns("y ~ `blood-pressure`:sex + offset(age)",
                  "`blood-pressure`:sexf, `blood-pressure`:sexm, offset(age)");
}

typedef struct drawn {
    double number[8];
    int32_t level[8];
} drawn;

/* A row of raw values, often at or beyond the bounds, sometimes missing. */
static void draw(tacit_stream *stream, const tacit_schema *schema, drawn *out) {
    for (size_t i = 0; i < schema->cols; i++) {
        const tacit_schema_column *column = &schema->columns[i];
        double width = column->high - column->low, at = tacit_stream_unit(stream);
        switch (tacit_stream_below(stream, 8)) {
        case 0: out->number[i] = column->low; break;
        case 1: out->number[i] = column->high; break;
        case 2: out->number[i] = column->low - 1e9 * at; break;
        case 3: out->number[i] = column->high + 1e300 * at; break;
        case 4: out->number[i] = NAN; break;
        case 5: out->number[i] = floor(column->low + at * width); break;
        default: out->number[i] = column->low + at * width;
        }
        out->level[i] = (int32_t)tacit_stream_below(stream, column->levels.count + 1) - 1;
    }
}

/* Twenty thousand rows for each formula; nothing here is left to chance but the draw, which is seeded. */
static void no_row_leaves_the_unit_ball(void **state) {
    (void)state;
    enum { ROWS = 20000 };
    tacit_stream stream = tacit_stream_from_seed(7);
    for (size_t f = 0; f < COUNT; f++) {
        tacit_schema *schema = schema_with(FORMULAS[f]);
        size_t features = tacit_formula_features(schema->formula);
        double *row = calloc(features, sizeof *row), reach = tacit_schema_reach(schema), most = 0;
        assert_non_null(row);
        for (size_t i = 0; i < ROWS; i++) {
            drawn raw;
            double square = 0;
            draw(&stream, schema, &raw);
            tacit_formula_dense_row(schema->formula, raw.number, NULL, raw.level, row);
            for (size_t j = 0; j < features; j++) {
                assert_true(isfinite(row[j]));
                square += row[j] * row[j];
            }
            most = fmax(most, square / reach);
        }
        assert_true(most <= 1 + 1e-12);
        assert_true(most >= 0.05); /* a bound that is far too wide would waste the ball */
        free(row);
        tacit_schema_free(schema);
    }
}

/* Over a fine grid of the bounds each factor stays within its range and comes near both ends of it: nothing is
 * clamped that should not be. */
static void ranges_are_those_of_the_schema(void **state) {
    (void)state;
    static const char *const one[] = { "y ~ log(age)",
                                       "y ~ I(age^2)",
                                       "y ~ I(bmi^2)",
                                       "y ~ I(1/age)",
                                       "y ~ exp(-age/30)",
                                       "y ~ abs(bmi)",
                                       "y ~ spline(age, 4)",
                                       "y ~ bs(age, df = 7)",
                                       "y ~ I((bmi + 5)^0.5)",
                                       "y ~ poly(age, 1)",
                                       "y ~ ns(age, knots = c(20, 21, 80))",
                                       "y ~ poly(bmi, 4, raw = TRUE)" };
    for (size_t f = 0; f < sizeof one / sizeof *one; f++) {
        tacit_schema *schema = schema_with(one[f]);
        size_t features = tacit_formula_features(schema->formula);
        double low[40], high[40], row[40], number[8] = { 0 };
        for (size_t j = 0; j < features; j++) low[j] = 2, high[j] = -2;
        for (int i = 0; i <= 20000; i++) {
            number[0] = 18 + 72.0 * i / 20000;
            number[1] = -5 + 65.0 * i / 20000;
            tacit_formula_dense_row(schema->formula, number, NULL, NULL, row);
            for (size_t j = 0; j < features; j++) {
                low[j] = fmin(low[j], row[j]);
                high[j] = fmax(high[j], row[j]);
            }
        }
        for (size_t j = 0; j < features; j++) {
            assert_true(low[j] >= -1 && high[j] <= 1);
            assert_true(low[j] <= -1 + 1e-4 && high[j] >= 1 - 1e-4);
        }
        tacit_schema_free(schema);
    }
}

/* R 4.2.2: ns(c(18, 33, 50.5, 90, 95), knots = c(30, 50, 70), Boundary.knots = c(20, 80)). */
static void natural_splines_are_those_of_r(void **state) {
    (void)state;
    static const double x[] = { 18, 33, 50.5, 90, 95 };
    static const double expected[][4] = {
        { 0, 0.028539089649269642, -0.11415635859707857, 0.085617268947808925 },
        { 0.14241666666666666, -0.12343892333348598, 0.4964556933339439, -0.37234177000045793 },
        { 0.59926041666666663, 0.1718097622343504, 0.17421095106259832, -0.13065300496361543 },
        { 0, -0.92307692307692324, 0.69230769230769296, 1.2307692307692304 },
        { 0, -1.3269230769230771, 0.80769230769230838, 1.5192307692307687 },
    };
    formula_basis basis;
    formula_tree tree;
    tacit_schema *schema = schema_with(NULL);
    tacit_error error = TACIT_ERROR_INIT;
    double from, to, values[TACIT_FORMULA_BASIS];
    CHECK_OK(
        formula_parse(&tree, "ns(age, knots = c(30, 50, 70), Boundary.knots = c(20, 80))", "terms", &error),
        error);
    CHECK_OK(formula_basis_read(&basis, &tree, tree.root, schema, &from, &to, &error), error);
    assert_int_equal(basis.columns, 4);
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        formula_basis_values(&basis, x[i], values);
        for (size_t j = 0; j < 4; j++) CHECK_NEAR(values[j], expected[i][j], 1e-12);
    }
    formula_tree_clear(&tree);
    tacit_schema_free(schema);
}

/* A feature is the combination of R's columns that tacit_formula_parts says. */
static void features_are_combinations_of_the_columns_of_r(void **state) {
    (void)state;
    tacit_schema *schema = schema_with("y ~ age*bmi*sex + log(age):site");
    const tacit_formula *formula = schema->formula;
    size_t features = tacit_formula_features(formula);
    assert_int_equal(features, 10);
    tacit_stream stream = tacit_stream_from_seed(3);
    for (int i = 0; i < 100; i++) {
        double age = 18 + 72 * tacit_stream_unit(&stream), bmi = -5 + 65 * tacit_stream_unit(&stream);
        double number[8] = { age, bmi }, row[10];
        int32_t sex = (int32_t)tacit_stream_below(&stream, 2), site = (int32_t)tacit_stream_below(&stream, 3);
        int32_t level[8] = { 0, 0, sex, site };
        double m = sex == 1, z[] = { age,
                                     bmi,
                                     m,
                                     age * bmi,
                                     age * m,
                                     bmi * m,
                                     log(age) * (site == 0),
                                     log(age) * (site == 1),
                                     log(age) * (site == 2),
                                     age * bmi * m };
        tacit_formula_dense_row(formula, number, NULL, level, row);
        for (size_t j = 0; j < features; j++) {
            tacit_formula_part part[TACIT_FORMULA_PARTS];
            size_t parts = tacit_formula_parts(formula, j, part);
            double sum = 0;
            for (size_t k = 0; k < parts; k++)
                sum += part[k].coefficient * (part[k].column == SIZE_MAX ? 1 : z[part[k].column]);
            CHECK_NEAR(row[j], sum, 1e-12);
        }
    }
    tacit_schema_free(schema);
}

static void dense_and_sparse_rows_are_the_same(void **state) {
    (void)state;
    tacit_stream stream = tacit_stream_from_seed(11);
    for (size_t f = 0; f < COUNT; f++) {
        tacit_schema *schema = schema_with(FORMULAS[f]);
        size_t features = tacit_formula_features(schema->formula),
               most = tacit_formula_entries(schema->formula);
        double *row = calloc(features, sizeof *row), *value = calloc(most, sizeof *value);
        uint32_t *column = calloc(most, sizeof *column);
        assert_true(row != NULL && value != NULL && column != NULL);
        for (int i = 0; i < 200; i++) {
            drawn raw;
            draw(&stream, schema, &raw);
            tacit_formula_dense_row(schema->formula, raw.number, NULL, raw.level, row);
            size_t count = tacit_formula_row(schema->formula, raw.number, NULL, raw.level, column, value);
            assert_true(count <= most);
            for (size_t k = 0; k < count; k++) {
                assert_true(k == 0 || column[k] > column[k - 1]);
                assert_true(row[column[k]] == value[k]);
                row[column[k]] = 0;
            }
            for (size_t j = 0; j < features; j++) assert_true(row[j] == 0);
        }
        free(row);
        free(value);
        free(column);
        tacit_schema_free(schema);
    }
}

static void a_formula_that_does_not_work_is_refused_with_place_and_remedy(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        { "y ~ agee", "'agee' (character 5): the schema has no column 'agee'; did you mean 'age'?" },
        { "y ~ log(bmi)",
          "'log(bmi)' (character 5): by the schema's bounds its argument can be as low as -5" },
        { "y ~ spline(sex, df = 3)", "'sex' (character 12): the schema says that this column is a category" },
        { "y ~ id", "skips this column" },
        { "y ~ y", "is the label" },
        { "z ~ age", "the schema's label is 'y'" },
        { "y ~ age +", "at its end" },
        { "y ~ (age", "not closed" },
        { "y ~ age sex", "an operator such as + is missing" },
        { "y ~ age + 2", "I(x + 2)" },
        { "y ~ tan(age)", "no such function" },
        { "y ~ I(1/bmi)", "divides by a number that can be 0" },
        { "y ~ I(bmi^0.5)", "negative" },
        { "y ~ I(bmi^-1)", "'bmi^-1'" },
        { "y ~ I(age^bmi)", "exponent must be a number" },
        { "y ~ exp(I(age^3))", "1e100" },
        { "y ~ spline(age)", "give either df" },
        { "y ~ spline(age, df = 99)", "from 1 to 30" },
        { "y ~ ns(age, knots = c(50, 30))", "knots must ascend" },
        { "y ~ bs(age, df = 5, Boundary.knots = c(30, 60))", "must include all values" },
        { "y ~ poly(age, 2, raw = maybe)", "TRUE or FALSE" },
        { "y ~ poly(age, colour = 2)", "no argument 'colour'" },
        { "y ~ factor(age + 1)", "name of a column" },
        { "y ~ factor(bmi, levels = c(1, 1))", "given twice" },
        { "y ~ I(0 * age)", "a constant" },
        { "y ~ offset(age) + offset(bmi)", "an offset already" },
        { "y ~ 0", "no terms" },
        { "y ~ age:bmi:sex:site:grade:log(age):sqrt(age)", "at most 6 factors" },
        { "y ~ \"age", "does not end" },
        { "y ~ age # sex", "this sign has no meaning" },
        { "", "at its end" },
        { "y ~ age + weights(bmi)", "above 0" },
        { "y ~ age + weights(age) + weights(age)", "weights already" },
        { "y ~ sex:weights(age)", "stand by themselves" },
        { "y ~ age == sex", "no meaning between terms" },
        { "y ~ 1e", "missing" },
    };
    tacit_schema *schema = schema_with(NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tacit_error error = TACIT_ERROR_INIT;
        tacit_status status = tacit_schema_set_terms(schema, bad[i][0], &error);
        if (status != TACIT_USAGE || strstr(error.text, bad[i][1]) == NULL)
            fail_msg("'%s': status %d, '%s'", bad[i][0], (int)status, error.text);
        assert_null(schema->formula);
    }
    tacit_schema_free(schema);
}

static void a_schema_keeps_its_terms(void **state) {
    (void)state;
    for (size_t f = 0; f < COUNT; f++) {
        tacit_schema *schema = schema_with(FORMULAS[f]), *again = NULL;
        tacit_buffer text = TACIT_BUFFER_INIT, second = TACIT_BUFFER_INIT;
        tacit_error error = TACIT_ERROR_INIT;
        CHECK_OK(tacit_schema_canonical(schema, &text, &error), error);
        CHECK_OK(tacit_schema_parse(&again, tacit_buffer_text(&text), text.length, "again", &error), error);
        CHECK_OK(tacit_schema_canonical(again, &second, &error), error);
        assert_string_equal(tacit_buffer_text(&text), tacit_buffer_text(&second));
        assert_int_equal(tacit_schema_features(schema), tacit_schema_features(again));
        assert_true(tacit_schema_reach(schema) == tacit_schema_reach(again));
        tacit_buffer_clear(&text);
        tacit_buffer_clear(&second);
        tacit_schema_free(schema);
        tacit_schema_free(again);
    }
}

/* What a schema without terms hashes to must stay what it was. */
static void a_schema_without_terms_says_nothing_of_them(void **state) {
    (void)state;
    tacit_schema *schema = schema_with(NULL);
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    CHECK_OK(tacit_schema_canonical(schema, &text, &error), error);
    assert_null(strstr(tacit_buffer_text(&text), "terms"));
    tacit_buffer_clear(&text);
    tacit_schema_free(schema);
}

static tacit_status make_all(tacit_error *error) {
    tacit_status status = TACIT_OK;
    for (size_t f = 2; f < COUNT && status == TACIT_OK; f += 3) {
        tacit_schema *schema = NULL;
        status = tacit_schema_parse(&schema, TEXT, strlen(TEXT), "s.yaml", error);
        if (status == TACIT_OK) status = tacit_schema_set_terms(schema, FORMULAS[f], error);
        tacit_schema_free(schema);
    }
    return status;
}

SURVIVES(make_all)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_formula_is_printed_as_r_prints_it),
        cmocka_unit_test(columns_come_in_the_order_and_coding_of_r),
        cmocka_unit_test(no_row_leaves_the_unit_ball),
        cmocka_unit_test(ranges_are_those_of_the_schema),
        cmocka_unit_test(natural_splines_are_those_of_r),
        cmocka_unit_test(features_are_combinations_of_the_columns_of_r),
        cmocka_unit_test(dense_and_sparse_rows_are_the_same),
        cmocka_unit_test(a_formula_that_does_not_work_is_refused_with_place_and_remedy),
        cmocka_unit_test(a_schema_keeps_its_terms),
        cmocka_unit_test(a_schema_without_terms_says_nothing_of_them),
        cmocka_unit_test(make_all_survives_any_failed_allocation),
    };
    return cmocka_run_group_tests_name("formula", tests, NULL, NULL);
}
