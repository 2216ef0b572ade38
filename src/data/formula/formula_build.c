#include "data/formula/formula_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/formula/formula_parts.h"

typedef struct building {
    const tacit_formula *formula;
    const tacit_formula_builder *to;
    bool failed;
} building;

static const char *kept(building *self, const char *name) {
    self->failed = self->failed || name == NULL;
    return name != NULL ? name : "";
}

static const char *number(building *self, double value) {
    return self->failed ? "" : kept(self, self->to->number(self->to->context, value));
}

static const char *apply(building *self, const char *operation, const char *a, const char *b) {
    return self->failed ? "" : kept(self, self->to->apply(self->to->context, operation, a, b));
}

static const char *column_of(building *self, size_t column) {
    return self->failed ? "" : kept(self, self->to->column(self->to->context, column));
}

static const char *with(building *self, const char *operation, const char *a, double b) {
    return apply(self, operation, a, number(self, b));
}

/* ---- arithmetic ---- */

static const char *expression(building *self, uint32_t node);

static const char *call(building *self, uint32_t node) {
    const formula_tree *tree = &self->formula->tree;
    const char *inner = expression(self, tree->node[node].first);
    static const char *const plain[] = { "log", "sqrt", "exp", "abs" };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (formula_is(tree, node, plain[i])) return apply(self, plain[i], inner, NULL);
    if (formula_is(tree, node, "log2")) return with(self, "/", apply(self, "log", inner, NULL), log(2));
    if (formula_is(tree, node, "log10")) return with(self, "/", apply(self, "log", inner, NULL), log(10));
    if (formula_is(tree, node, "log1p")) return apply(self, "log", with(self, "+", inner, 1), NULL);
    return inner; /* I() */
}

static const char *expression(building *self, uint32_t node) {
    const formula_tree *tree = &self->formula->tree;
    const formula_node *one = &tree->node[node];
    switch (one->kind) {
    case FORMULA_NUMBER: return number(self, one->number);
    case FORMULA_NAME: return column_of(self, one->column);
    case FORMULA_GROUP: return expression(self, one->first);
    case FORMULA_UNARY: {
        const char *inner = expression(self, one->first);
        return one->op == '-' ? with(self, "*", inner, -1) : inner;
    }
    case FORMULA_BINARY: {
        const char operation[] = { one->op, 0 };
        const char *a = expression(self, one->first);
        return apply(self, operation, a, expression(self, tree->node[one->first].next));
    }
    case FORMULA_CALL: return call(self, node);
    default: return number(self, 0);
    }
}

/* ---- bases ---- */

static void build_polynomials(building *self, const formula_basis *basis, const char *x, const char **out) {
    if (basis->kind == FORMULA_RAW_POLY) {
        for (size_t j = 0; j < basis->columns; j++) out[j] = j == 0 ? x : apply(self, "*", out[j - 1], x);
        return;
    }
    const double half = (basis->high - basis->low) / 2;
    const char *u = with(self, "/", with(self, "-", x, basis->low + half), half);
    for (size_t j = 0; j < basis->columns; j++) { /* (k + 1) P_k+1 = (2 k + 1) u P_k - k P_k-1 */
        const double k = (double)j;
        if (j == 0) {
            out[j] = u;
            continue;
        }
        const char *rise = with(self, "*", apply(self, "*", u, out[j - 1]), (2 * k + 1) / (k + 1));
        out[j] = j == 1 ? with(self, "-", rise, k / (k + 1))
                        : apply(self, "-", rise, with(self, "*", out[j - 2], k / (k + 1)));
    }
}

/* The cubic a s + b s^2 + c s^3 by which a column rises from the first of four values, evenly spaced over a
 * piece of that width. */
static void rise_of(const double f[4], double width, double out[3]) {
    out[0] = (-11 * f[0] + 18 * f[1] - 9 * f[2] + 2 * f[3]) / 2 / width;
    out[1] = 9 * (2 * f[0] - 5 * f[1] + 4 * f[2] - f[3]) / 2 / (width * width);
    out[2] = 9 * (-f[0] + 3 * f[1] - 3 * f[2] + f[3]) / 2 / (width * width * width);
}

/* A spline is its value at the first knot, and what it rises by in each piece up to x: cubics of min(max(x,
 * from), to) - from; straight on outside. */
static void build_splines(building *self, const formula_basis *basis, const char *x, const char **out) {
    double value[4][TACIT_FORMULA_BASIS], beyond[2][TACIT_FORMULA_BASIS];
    const double *knot = basis->knots + FORMULA_ORDER - 1;
    const size_t pieces = basis->splines - FORMULA_ORDER + 1;
    formula_basis_values(basis, basis->low, value[0]);
    for (size_t j = 0; j < basis->columns; j++) out[j] = number(self, value[0][j]);
    for (size_t p = 0; p < pieces; p++) {
        const double from = knot[p], width = knot[p + 1] - from;
        const char *s = with(self, "-", with(self, "min", with(self, "max", x, from), knot[p + 1]), from);
        const char *s2 = apply(self, "*", s, s), *s3 = apply(self, "*", s2, s);
        for (int k = 0; k < 4; k++) formula_basis_values(basis, from + width * k / 3, value[k]);
        for (size_t j = 0; j < basis->columns; j++) {
            const double f[4] = { value[0][j], value[1][j], value[2][j], value[3][j] };
            double rise[3];
            rise_of(f, width, rise);
            out[j] = apply(self, "+", out[j], with(self, "*", s, rise[0]));
            out[j] = apply(self, "+", out[j], with(self, "*", s2, rise[1]));
            out[j] = apply(self, "+", out[j], with(self, "*", s3, rise[2]));
        }
    }
    const char *below = with(self, "min", with(self, "-", x, basis->low), 0);
    const char *above = with(self, "max", with(self, "-", x, basis->high), 0);
    const double step = basis->high - basis->low;
    formula_basis_values(basis, basis->low - step, beyond[0]);
    formula_basis_values(basis, basis->high + step, beyond[1]);
    for (size_t j = 0; j < basis->columns && basis->kind == FORMULA_NATURAL; j++) {
        double ends[2][TACIT_FORMULA_BASIS];
        formula_basis_values(basis, basis->low, ends[0]);
        formula_basis_values(basis, basis->high, ends[1]);
        out[j] = apply(self, "+", out[j], with(self, "*", below, (ends[0][j] - beyond[0][j]) / step));
        out[j] = apply(self, "+", out[j], with(self, "*", above, (beyond[1][j] - ends[1][j]) / step));
    }
}

/* ---- terms ---- */

/* All columns of a variable, as they are scaled in a centered term or in another. */
static void build_variable(building *self, const formula_variable *one, bool centered, const char **out) {
    if (one->kind == FORMULA_VARIABLE_CATEGORY) {
        for (size_t j = 0; j < one->columns; j++)
            out[j] = one->level != NULL ? with(self, "equal", column_of(self, one->column), one->level[j])
                     : self->failed     ? ""
                                        : kept(self, self->to->level(self->to->context, one->column, j));
        return;
    }
    if (one->kind == FORMULA_VARIABLE_BASIS) {
        const char *x = expression(self, one->basis->argument);
        const bool spline = one->basis->kind == FORMULA_NATURAL || one->basis->kind == FORMULA_BSPLINE;
        (spline ? build_splines : build_polynomials)(self, one->basis, x, out);
    } else {
        out[0] = one->column != SIZE_MAX ? column_of(self, one->column) : expression(self, one->node);
    }
    for (size_t j = 0; j < one->columns; j++) {
        const formula_scale *scale = &one->scale[j];
        const double most = centered ? scale->most : 1;
        if (centered) out[j] = with(self, "-", out[j], scale->middle);
        out[j] = with(self, "/", out[j], centered ? scale->half : scale->largest);
        out[j] = with(self, "min", with(self, "max", out[j], -most), most);
    }
}

/* Values of variables, once centered and once not, as they are needed. */
typedef struct variables {
    const char ***made[2];
} variables;

static const char **variable_values(building *self, variables *all, uint32_t variable, bool centered,
                                    tacit_error *error) {
    const formula_variable *one = &self->formula->variable[variable];
    const char ***place = &all->made[centered][variable];
    if (*place != NULL) return *place;
    *place = TACIT_NEW(const char *, one->columns + 1);
    if (*place == NULL) {
        tacit_fail_memory(error);
        return NULL;
    }
    build_variable(self, one, centered, *place);
    return *place;
}

static tacit_status build_term(building *self, const formula_term *term, variables *all, const char **out,
                               tacit_error *error) {
    const char **values[TACIT_FORMULA_FACTORS];
    for (size_t k = 0; k < term->factors; k++) {
        values[k] = variable_values(self, all, term->variable[k], term->centered, error);
        if (values[k] == NULL) return TACIT_NO_MEMORY;
    }
    for (size_t i = 0; i < term->columns; i++) {
        size_t left = i;
        const char *product = NULL;
        for (size_t k = 0; k < term->factors; k++) {
            const formula_variable *one = &self->formula->variable[term->variable[k]];
            const bool contrasts = one->kind == FORMULA_VARIABLE_CATEGORY && !term->full[k];
            const size_t width = one->columns - contrasts;
            const char *value = values[k][left % width + contrasts];
            product = product == NULL ? value : apply(self, "*", product, value);
            left /= width;
        }
        out[term->first + i] = product;
    }
    return TACIT_OK;
}

static void free_variables(variables *all, size_t count) {
    for (int c = 0; c < 2; c++) {
        for (size_t i = 0; all->made[c] != NULL && i < count; i++) free(all->made[c][i]);
        free(all->made[c]);
    }
}

tacit_status tacit_formula_build(const tacit_formula *formula, const tacit_formula_builder *builder,
                                 const char **out, tacit_error *error) {
    building self = { .formula = formula, .to = builder };
    variables all = { { TACIT_NEW(const char **, formula->variables + 1),
                        TACIT_NEW(const char **, formula->variables + 1) } };
    tacit_status status = all.made[0] != NULL && all.made[1] != NULL ? TACIT_OK : tacit_fail_memory(error);
    for (size_t t = 0; t < formula->terms && status == TACIT_OK; t++)
        status = build_term(&self, &formula->term[t], &all, out, error);
    if (status == TACIT_OK && formula->offset != FORMULA_NONE) {
        const char *offset = with(&self, "*", expression(&self, formula->offset), formula->offset_scale);
        out[formula->offset_feature] = with(&self, "min", with(&self, "max", offset, -1), 1);
    }
    if (status == TACIT_OK && formula->weights != SIZE_MAX) out[formula->weights_feature] = number(&self, 0);
    free_variables(&all, formula->variables);
    return status == TACIT_OK && self.failed ? tacit_fail_memory(error) : status;
}

/* ---- columns ---- */

static bool looks_at(const formula_tree *tree, uint32_t node, size_t column) {
    if (tree->node[node].kind == FORMULA_NAME) return tree->node[node].column == column;
    bool found = false;
    for (uint32_t k = tree->node[node].first; k != FORMULA_NONE && !found; k = tree->node[k].next)
        found = looks_at(tree, k, column);
    return found;
}

bool tacit_formula_predicts_by(const tacit_formula *formula, size_t column) {
    bool found = formula->offset != FORMULA_NONE && looks_at(&formula->tree, formula->offset, column);
    for (size_t i = 0; i < formula->variables && !found; i++) {
        const formula_variable *one = &formula->variable[i];
        found = one->column != SIZE_MAX               ? one->column == column
                : one->kind == FORMULA_VARIABLE_BASIS ? looks_at(&formula->tree, one->basis->argument, column)
                                                      : looks_at(&formula->tree, one->node, column);
    }
    return found;
}

double tacit_formula_fill(const tacit_schema_column *column) {
    double value = column->missing == TACIT_MISSING_VALUE ? column->fill
                   : column->sd > 0                       ? column->mean
                                                          : column->low + (column->high - column->low) / 2;
    return fmin(fmax(value, column->low), column->high);
}
