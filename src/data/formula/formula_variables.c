/* The variables of a formula: a number, a category or a basis, and how each is scaled. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/formula/formula_parts.h"
#include "data/schema/text.h"

enum { MOST_LEVELS = 200 };

/* A name may stand for a dot, which has its column already. */
static tacit_status print_variable(const tacit_formula *formula, uint32_t node, tacit_buffer *out,
                                   tacit_error *error) {
    const formula_node *one = &formula->tree.node[node];
    if (one->kind != FORMULA_DOT) return formula_print(&formula->tree, node, out, error);
    const char *name = formula->schema->columns[one->column].name;
    formula_tree named = { .text = (char *)(uintptr_t)name,
                           .node = &(formula_node){ .kind = FORMULA_NAME,
                                                    .length = (uint32_t)strlen(name),
                                                    .first = FORMULA_NONE,
                                                    .next = FORMULA_NONE },
                           .count = 1 };
    return formula_print(&named, 0, out, error);
}

static tacit_status scale_column(const tacit_formula *formula, uint32_t node, double low, double high,
                                 formula_scale *out, tacit_error *error) {
    static const double LARGEST = 1e100;
    double half = (high - low) / 2;
    if (!(fabs(low) <= LARGEST && fabs(high) <= LARGEST))
        return formula_fail(&formula->tree, node, error, "over the schema's bounds it grows beyond 1e100");
    if (!(half > 1e-100) || !(half > 1e-13 * fmax(fabs(low), fabs(high))))
        return formula_fail(&formula->tree, node, error,
                            "over the schema's bounds it is a constant: there is nothing to estimate");
    *out = (formula_scale){ low + half, half, 1, fmax(fabs(low), fabs(high)) };
    return TACIT_OK;
}

/* A column by itself is standardised where the schema says so. */
static tacit_status make_number(const tacit_formula *formula, formula_variable *out, tacit_error *error) {
    const formula_node *one = &formula->tree.node[out->node];
    const tacit_schema_column *column =
        one->column != SIZE_MAX ? &formula->schema->columns[one->column] : NULL;
    double low = 0, high = 0;
    formula_tree *tree = (formula_tree *)(uintptr_t)&formula->tree;
    out->kind = FORMULA_VARIABLE_NUMBER;
    out->columns = 1;
    out->scale = TACIT_NEW(formula_scale, 1);
    if (out->scale == NULL) return tacit_fail_memory(error);
    if (column != NULL) {
        low = column->low;
        high = column->high;
        out->column = one->column;
    } else {
        TACIT_TRY(formula_check_number(tree, out->node, formula->schema, &low, &high, error));
    }
    TACIT_TRY(scale_column(formula, out->node, low, high, out->scale, error));
    if (column == NULL || column->sd <= 0) return TACIT_OK;
    out->scale->middle = column->mean;
    out->scale->half = column->sd;
    out->scale->most = fmax(fabs(low - column->mean), fabs(high - column->mean)) / column->sd;
    return TACIT_OK;
}

static tacit_status make_basis(tacit_formula *formula, formula_variable *out, tacit_error *error) {
    double from, to, low[TACIT_FORMULA_BASIS], high[TACIT_FORMULA_BASIS];
    out->kind = FORMULA_VARIABLE_BASIS;
    out->basis = TACIT_NEW(formula_basis, 1);
    if (out->basis == NULL) return tacit_fail_memory(error);
    TACIT_TRY(formula_basis_read(out->basis, &formula->tree, out->node, formula->schema, &from, &to, error));
    out->columns = out->basis->columns;
    out->scale = TACIT_NEW(formula_scale, out->columns);
    if (out->scale == NULL) return tacit_fail_memory(error);
    formula_basis_ranges(out->basis, from, to, low, high);
    for (size_t j = 0; j < out->columns; j++)
        TACIT_TRY(scale_column(formula, out->node, low[j], high[j], &out->scale[j], error));
    return TACIT_OK;
}

static tacit_status make_category(const tacit_formula *formula, formula_variable *out, size_t column,
                                  tacit_error *error) {
    out->kind = FORMULA_VARIABLE_CATEGORY;
    out->column = column;
    out->columns = tacit_schema_column_levels(&formula->schema->columns[column]);
    if (out->columns < 2)
        return formula_fail(&formula->tree, out->node, error,
                            "the category has one level: there is nothing to compare");
    return TACIT_OK;
}

/* factor(x) of a number: levels as given, or the whole numbers between its bounds. */
static tacit_status make_levels(const tacit_formula *formula, formula_variable *out, size_t column,
                                tacit_error *error) {
    const formula_tree *tree = &formula->tree;
    const tacit_schema_column *declared = &formula->schema->columns[column];
    uint32_t given = formula_argument(tree, out->node, "levels", 1);
    out->level = TACIT_NEW(double, MOST_LEVELS);
    if (out->level == NULL) return tacit_fail_memory(error);
    out->kind = FORMULA_VARIABLE_CATEGORY;
    out->column = column;
    double low = ceil(declared->low), count = floor(declared->high) - low + 1;
    if (given != FORMULA_NONE) {
        TACIT_TRY(formula_list(tree, given, out->level, MOST_LEVELS, &out->columns, error));
    } else if (count <= MOST_LEVELS) {
        out->columns = (size_t)fmax(count, 0);
        for (size_t i = 0; i < out->columns; i++) out->level[i] = low + (double)i;
    } else {
        return formula_fail(tree, out->node, error,
                            "between the schema's bounds there are more than %d whole numbers: write "
                            "factor(x, levels = c(...))",
                            MOST_LEVELS);
    }
    for (size_t i = 1; i < out->columns; i++)
        for (size_t k = 0; k < i; k++)
            if (out->level[i] == out->level[k])
                return formula_fail(tree, out->node, error, "the level %g is given twice", out->level[i]);
    if (out->columns < 2)
        return formula_fail(tree, out->node, error, "there are fewer than two levels to compare");
    return TACIT_OK;
}

static tacit_status make_factor(tacit_formula *formula, formula_variable *out, tacit_error *error) {
    static const char *const names[] = { "x", "levels", NULL };
    formula_tree *tree = &formula->tree;
    uint32_t argument = formula_argument(tree, out->node, "x", 0);
    size_t column;
    TACIT_TRY(formula_check_arguments(tree, out->node, names, 2, error));
    if (argument == FORMULA_NONE || tree->node[argument].kind != FORMULA_NAME)
        return formula_fail(tree, out->node, error, "it needs the name of a column between the brackets");
    TACIT_TRY(formula_find(tree, argument, formula->schema, &column, error));
    if (formula->schema->columns[column].kind == TACIT_SCHEMA_NUMBER)
        return make_levels(formula, out, column, error);
    if (formula_argument(tree, out->node, "levels", 1) != FORMULA_NONE)
        return formula_fail(tree, out->node, error,
                            "the schema has the levels of this category: change their order there");
    return make_category(formula, out, column, error);
}

static tacit_status make_variable(tacit_formula *formula, formula_variable *out, tacit_error *error) {
    formula_tree *tree = &formula->tree;
    formula_kind kind = tree->node[out->node].kind;
    size_t column = tree->node[out->node].column;
    if (kind == FORMULA_NAME) TACIT_TRY(formula_find(tree, out->node, formula->schema, &column, error));
    if (kind == FORMULA_NAME || kind == FORMULA_DOT) {
        if (formula->schema->columns[column].kind == TACIT_SCHEMA_CATEGORY)
            return make_category(formula, out, column, error);
        return make_number(formula, out, error);
    }
    if (formula_is(tree, out->node, "factor")) return make_factor(formula, out, error);
    if (formula_is(tree, out->node, "poly") || formula_is(tree, out->node, "spline") ||
        formula_is(tree, out->node, "ns") || formula_is(tree, out->node, "bs"))
        return make_basis(formula, out, error);
    return make_number(formula, out, error);
}

static tacit_status add_variable(tacit_formula *formula, uint32_t node, char *text, tacit_error *error) {
    if (formula->variables == formula->variable_capacity) {
        size_t capacity = formula->variable_capacity > 0 ? 2 * formula->variable_capacity : 8;
        formula_variable *grown = tacit_grow(formula->variable, capacity, sizeof *grown);
        if (grown == NULL) {
            free(text);
            return tacit_fail_memory(error);
        }
        formula->variable = grown;
        formula->variable_capacity = capacity;
    }
    formula_variable *one = &formula->variable[formula->variables++];
    *one = (formula_variable){ .text = text, .node = node, .column = SIZE_MAX };
    return make_variable(formula, one, error);
}

tacit_status formula_variable_of(tacit_formula *formula, uint32_t node, uint32_t *out, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    char *copy = NULL;
    tacit_status status = print_variable(formula, node, &text, error);
    if (status == TACIT_OK && (copy = tacit_copy_text(tacit_buffer_text(&text))) == NULL)
        status = tacit_fail_memory(error);
    tacit_buffer_clear(&text);
    TACIT_TRY(status);
    for (size_t i = 0; i < formula->variables; i++)
        if (strcmp(formula->variable[i].text, copy) == 0) {
            free(copy);
            *out = (uint32_t)i;
            return TACIT_OK;
        }
    *out = (uint32_t)formula->variables;
    return add_variable(formula, node, copy, error);
}
