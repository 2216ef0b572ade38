/* Arithmetic inside a term: its value for a row, and its range over the schema's bounds. */
#include <math.h>
#include <string.h>

#include "data/formula/formula_build.h"
#include "data/formula/formula_parts.h"
#include "data/schema/names.h"

static const double MOST = 1e100; /* of any value on the way */

/* ---- columns ---- */

static tacit_status no_such_column(const formula_tree *tree, uint32_t node, const tacit_schema *schema,
                                   const char *name, tacit_error *error) {
    tacit_levels names = TACIT_LEVELS_INIT;
    tacit_error found = TACIT_ERROR_INIT;
    size_t at;
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < schema->cols && status == TACIT_OK; i++)
        if (schema->columns[i].kind != TACIT_SCHEMA_SKIP)
            status = tacit_levels_add(&names, schema->columns[i].name, strlen(schema->columns[i].name), NULL,
                                      error);
    if (status == TACIT_OK) {
        status = tacit_names_find(&names, name, "column", NULL, "the schema", &at, &found);
        if (status != TACIT_OK) status = formula_fail(tree, node, error, "%.300s", found.text);
    }
    tacit_levels_clear(&names);
    return status;
}

tacit_status formula_find(formula_tree *tree, uint32_t node, const tacit_schema *schema, size_t *column,
                          tacit_error *error) {
    formula_node *one = &tree->node[node];
    size_t found = SIZE_MAX;
    if (schema->sparse > 0)
        return formula_fail(tree, node, error, "rows of a LIBSVM file have no named columns");
    for (size_t i = 0; i < schema->cols && found == SIZE_MAX; i++)
        if (formula_is(tree, node, schema->columns[i].name)) found = i;
    char name[200];
    size_t length = one->length < sizeof name - 1 ? one->length : sizeof name - 1;
    memcpy(name, tree->text + one->at, length);
    name[length] = 0;
    if (found == SIZE_MAX && formula_is(tree, node, schema->label))
        return formula_fail(tree, node, error,
                            "this is the label: it stands on the left of ~, and chooses no rows");
    if (found == SIZE_MAX) return no_such_column(tree, node, schema, name, error);
    if (schema->columns[found].kind == TACIT_SCHEMA_SKIP)
        return formula_fail(
            tree, node, error,
            "the schema skips this column: declare it a number with bounds or a category with "
            "levels");
    if (schema->columns[found].kind == TACIT_SCHEMA_TEXT)
        return formula_fail(
            tree, node, error,
            "this column is a text, and terms are made of numbers and categories: leave it out");
    one->column = *column = found;
    return TACIT_OK;
}

double formula_cell(const formula_cells *cells, size_t column) {
    const tacit_schema_column *declared = &cells->schema->columns[column];
    double value = cells->number[cells->place != NULL ? cells->place[column] : column];
    if (cells->as_they_are) return value;
    if (isnan(value)) return tacit_formula_fill(declared);
    return fmin(fmax(value, declared->low), declared->high);
}

/* ---- functions of one number ---- */

typedef struct function {
    const char *name;
    double (*value)(double);
    double from; /* where it begins to be finite and, except for abs, rises */
    bool open;   /* `from` itself is outside */
} function;

static const function functions[] = {
    { "log", log, 0, true },        { "log2", log2, 0, true },  { "log10", log10, 0, true },
    { "log1p", log1p, -1, true },   { "sqrt", sqrt, 0, false }, { "exp", exp, -1e300, false },
    { "abs", fabs, -1e300, false },
};

static const function *find_function(const formula_tree *tree, uint32_t node) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (formula_is(tree, node, functions[i].name)) return &functions[i];
    return NULL;
}

static double power_of(double base, double exponent) {
    return exponent == 2 ? base * base : pow(base, exponent);
}

static double apply(char op, double a, double b) {
    switch (op) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    case '/': return a / b;
    default: return power_of(a, b);
    }
}

double formula_number(const formula_tree *tree, uint32_t node, const formula_cells *cells) {
    const formula_node *one = &tree->node[node];
    switch (one->kind) {
    case FORMULA_NUMBER: return one->number;
    case FORMULA_NAME: return formula_cell(cells, one->column);
    case FORMULA_GROUP: return formula_number(tree, one->first, cells);
    case FORMULA_UNARY: {
        double value = formula_number(tree, one->first, cells);
        return one->op == '-' ? -value : value;
    }
    case FORMULA_BINARY:
        return apply(one->op, formula_number(tree, one->first, cells),
                     formula_number(tree, tree->node[one->first].next, cells));
    case FORMULA_CALL: {
        double value = formula_number(tree, one->first, cells);
        const function *known = find_function(tree, node);
        return known != NULL ? known->value(value) : value; /* I() */
    }
    default: return 0;
    }
}

/* ---- ranges ---- */

typedef struct interval {
    double low, high;
} interval;

static interval hull(const double *values, size_t count) {
    interval out = { values[0], values[0] };
    for (size_t i = 1; i < count; i++) {
        out.low = fmin(out.low, values[i]);
        out.high = fmax(out.high, values[i]);
    }
    return out;
}

static tacit_status range_of(formula_tree *tree, uint32_t node, const tacit_schema *schema, interval *out,
                             tacit_error *error);

/* Of a call: an increasing function, abs or I. */
static tacit_status range_of_call(formula_tree *tree, uint32_t node, const tacit_schema *schema,
                                  interval *out, tacit_error *error) {
    static const char *const none[] = { NULL };
    const function *known = find_function(tree, node);
    uint32_t argument = tree->node[node].first;
    if (known == NULL && !formula_is(tree, node, "I"))
        return formula_fail(
            tree, node, error,
            "there is no such function of a number: log, log2, log10, log1p, sqrt, exp, abs and "
            "I() are known; poly, spline, ns, bs, factor, offset and weights stand by themselves");
    TACIT_TRY(formula_check_arguments(tree, node, none, 1, error));
    if (argument == FORMULA_NONE)
        return formula_fail(tree, node, error, "it needs a number between the brackets");
    interval inner;
    TACIT_TRY(range_of(tree, argument, schema, &inner, error));
    *out = inner;
    if (known == NULL) return TACIT_OK;
    if (inner.low < known->from || (known->open && inner.low == known->from)) {
        return formula_fail(
            tree, node, error,
            "by the schema's bounds its argument can be as low as %g, where %s has no value: raise "
            "'low' of the column in the schema, or add a number first, as in %s(x + 1)",
            inner.low, known->name, known->name);
    }
    double ends[] = { known->value(inner.low), known->value(inner.high), 0 };
    bool turns = known->value == fabs && inner.low < 0 && inner.high > 0;
    *out = hull(ends, turns ? 3 : 2);
    return TACIT_OK;
}

static tacit_status range_of_power(formula_tree *tree, uint32_t node, interval base, interval exponent,
                                   interval *out, tacit_error *error) {
    double k = exponent.low;
    if (exponent.low != exponent.high)
        return formula_fail(tree, node, error, "the exponent must be a number, not a column");
    bool whole = k == floor(k), even = fmod(k, 2) == 0;
    if ((!whole && base.low < 0) || (k < 0 && base.low <= 0 && base.high >= 0))
        return formula_fail(
            tree, node, error,
            "by the schema's bounds its base can be %s, where this power has no value: raise 'low' "
            "of the column in the schema, or add a number first",
            whole ? "0" : "negative");
    double ends[] = { power_of(base.low, k), power_of(base.high, k), 0 };
    *out = hull(ends, even && base.low < 0 && base.high > 0 ? 3 : 2);
    return TACIT_OK;
}

static tacit_status range_of_pair(formula_tree *tree, uint32_t node, const tacit_schema *schema,
                                  interval *out, tacit_error *error) {
    char op = tree->node[node].op;
    uint32_t left = tree->node[node].first, right = tree->node[left].next;
    interval a, b;
    if (strchr("+-*/^", op) == NULL)
        return formula_fail(tree, node, error, "inside a function only + - * / and ^ work on numbers");
    TACIT_TRY(range_of(tree, left, schema, &a, error));
    TACIT_TRY(range_of(tree, right, schema, &b, error));
    if (op == '^') return range_of_power(tree, node, a, b, out, error);
    if (op == '/' && b.low <= 0 && b.high >= 0)
        return formula_fail(
            tree, node, error,
            "by the schema's bounds this divides by a number that can be 0: narrow the bounds of the "
            "column in the schema, or add a number first");
    double corner[] = { apply(op, a.low, b.low), apply(op, a.low, b.high), apply(op, a.high, b.low),
                        apply(op, a.high, b.high) };
    *out = hull(corner, 4);
    return TACIT_OK;
}

static tacit_status range_of_column(formula_tree *tree, uint32_t node, const tacit_schema *schema,
                                    interval *out, tacit_error *error) {
    size_t column;
    TACIT_TRY(formula_find(tree, node, schema, &column, error));
    if (schema->columns[column].kind != TACIT_SCHEMA_NUMBER)
        return formula_fail(
            tree, node, error,
            "the schema says that this column is a category, and a number belongs here: name it by "
            "itself, or declare it a number with bounds");
    *out = (interval){ schema->columns[column].low, schema->columns[column].high };
    return TACIT_OK;
}

static tacit_status range_of(formula_tree *tree, uint32_t node, const tacit_schema *schema, interval *out,
                             tacit_error *error) {
    const formula_node *one = &tree->node[node];
    switch (one->kind) {
    case FORMULA_NUMBER: *out = (interval){ one->number, one->number }; break;
    case FORMULA_NAME: TACIT_TRY(range_of_column(tree, node, schema, out, error)); break;
    case FORMULA_GROUP: return range_of(tree, one->first, schema, out, error);
    case FORMULA_UNARY:
        if (one->op != '-' && one->op != '+') return formula_fail(tree, node, error, "this is no number");
        TACIT_TRY(range_of(tree, one->first, schema, out, error));
        if (tree->node[node].op == '-') *out = (interval){ -out->high, -out->low };
        break;
    case FORMULA_BINARY: TACIT_TRY(range_of_pair(tree, node, schema, out, error)); break;
    case FORMULA_CALL: TACIT_TRY(range_of_call(tree, node, schema, out, error)); break;
    default: return formula_fail(tree, node, error, "a number or a column belongs here");
    }
    if (!(fabs(out->low) <= MOST && fabs(out->high) <= MOST))
        return formula_fail(
            tree, node, error,
            "over the schema's bounds it grows beyond 1e100: narrow the bounds of the column, or "
            "divide it first");
    return TACIT_OK;
}

tacit_status formula_check_number(formula_tree *tree, uint32_t node, const tacit_schema *schema, double *low,
                                  double *high, tacit_error *error) {
    interval range;
    TACIT_TRY(range_of(tree, node, schema, &range, error));
    *low = range.low;
    *high = range.high;
    return TACIT_OK;
}
