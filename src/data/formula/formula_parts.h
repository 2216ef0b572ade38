/* Inside a formula: its tree, its variables and its terms. For src/data and its tests. */
#pragma once

#include "data/formula/formula.h"
#include "data/schema/schema.h"

/* ---- the tree ---- */

typedef enum formula_kind {
    FORMULA_NUMBER,
    FORMULA_NAME,
    FORMULA_TEXT,   /* "m" */
    FORMULA_CALL,   /* its function's name, then arguments */
    FORMULA_BINARY, /* two children; see `op` */
    FORMULA_UNARY,  /* one child: - or ! */
    FORMULA_GROUP,  /* (...) */
    FORMULA_DOT,
} formula_kind;

#define FORMULA_NONE UINT32_MAX

/* Operators of more than one character. */
enum {
    FORMULA_AT_LEAST = 'G',
    FORMULA_AT_MOST = 'L',
    FORMULA_EQUAL = 'E',
    FORMULA_UNEQUAL = 'N',
    FORMULA_IN = 'I' /* %in% */
};

typedef struct formula_node {
    formula_kind kind;
    char op;
    double number;
    uint32_t at, length;        /* where it is named in the text; of a name without its backticks */
    uint32_t first, next;       /* child, and the next of the same parent; FORMULA_NONE: none */
    uint32_t label, label_size; /* of a named argument; size 0: none */
    size_t column;              /* of the schema; SIZE_MAX until it is looked up */
    int32_t level;              /* of a text or number that stands for a level; else -1 */
} formula_node;

typedef struct formula_tree {
    char *text;       /* owned */
    const char *what; /* for messages: "terms" or "subset" */
    formula_node *node;
    uint32_t count, capacity, root;
} formula_tree;

/* `what` is for messages: "terms" or "subset". */
tacit_status formula_parse(formula_tree *out, const char *text, const char *what, tacit_error *error);
void formula_tree_clear(formula_tree *tree);

/* Append what R's deparse would write. */
tacit_status formula_print(const formula_tree *tree, uint32_t node, tacit_buffer *out, tacit_error *error);

/* TACIT_USAGE: "terms, at 'log(pgr)' (character 12): ...". */
tacit_status formula_fail(const formula_tree *tree, uint32_t node, tacit_error *error, const char *format,
                          ...) TACIT_PRINTF(4, 5);

/* Whether a call or a name is that word. */
bool formula_is(const formula_tree *tree, uint32_t node, const char *word);
bool formula_is_call(const formula_tree *tree, uint32_t node, const char *word);

/* Find the column that a name means, and keep it; TACIT_USAGE for one that is not there or cannot be used. */
tacit_status formula_find(formula_tree *tree, uint32_t node, const tacit_schema *schema, size_t *column,
                          tacit_error *error);

/* ---- arithmetic of a row's numbers ---- */

/* The raw numbers of a row, as tacit_formula_row has them. */
typedef struct formula_cells {
    const tacit_schema *schema;
    const double *number;
    const size_t *place;
    const int32_t *level;
    bool as_they_are; /* not moved to the bounds, and NaN where missing */
} formula_cells;

/* Look every name up and see that the expression is finite over the schema's bounds; its range by interval
 * arithmetic: exact where each column is used once, else perhaps wider. */
tacit_status formula_check_number(formula_tree *tree, uint32_t node, const tacit_schema *schema, double *low,
                                  double *high, tacit_error *error);
double formula_number(const formula_tree *tree, uint32_t node, const formula_cells *cells);

/* A raw number within its bounds. */
double formula_cell(const formula_cells *cells, size_t column);

/* ---- bases: several columns of one number ---- */

typedef enum formula_basis_kind {
    FORMULA_POLY,     /* Legendre polynomials on [low, high] */
    FORMULA_RAW_POLY, /* x, x^2, ... */
    FORMULA_NATURAL,  /* ns of R's splines */
    FORMULA_BSPLINE,  /* bs */
} formula_basis_kind;

enum { FORMULA_ORDER = 4, FORMULA_SPLINES = TACIT_FORMULA_BASIS + 3 };

typedef struct formula_basis {
    formula_basis_kind kind;
    uint32_t argument; /* the number */
    size_t columns;
    double low, high; /* of poly the range that becomes [-1, 1]; of splines the boundary knots */
    size_t splines;   /* B-splines, the first of all included */
    double knots[FORMULA_SPLINES + FORMULA_ORDER];
    double map[TACIT_FORMULA_BASIS][FORMULA_SPLINES]; /* columns made of B-splines */
} formula_basis;

/* Read the arguments of poly, spline, ns or bs. *from and *to: the range of the number. */
tacit_status formula_basis_read(formula_basis *out, formula_tree *tree, uint32_t node,
                                const tacit_schema *schema, double *from, double *to, tacit_error *error);
void formula_basis_values(const formula_basis *basis, double x, double *out);

/* The range of each column over [from, to]. */
void formula_basis_ranges(const formula_basis *basis, double from, double to, double *low, double *high);

/* Arguments of a call: the one so called, or else the unnamed one in that place (0: the first); FORMULA_NONE.
 * A list is c(1, 2, 3) or one number; numbers may have a minus. */
uint32_t formula_argument(const formula_tree *tree, uint32_t call, const char *name, size_t place);
tacit_status formula_list(const formula_tree *tree, uint32_t node, double *out, size_t most, size_t *count,
                          tacit_error *error);
tacit_status formula_whole(const formula_tree *tree, uint32_t node, size_t least, size_t most, size_t *out,
                           tacit_error *error);

/* TACIT_USAGE for named arguments that are not in the list, which ends with NULL, and for more unnamed
 * ones. */
tacit_status formula_check_arguments(const formula_tree *tree, uint32_t call, const char *const *names,
                                     size_t unnamed, tacit_error *error);

/* ---- variables and terms ---- */

typedef enum formula_variable_kind {
    FORMULA_VARIABLE_NUMBER,
    FORMULA_VARIABLE_CATEGORY,
    FORMULA_VARIABLE_BASIS
} formula_variable_kind;

/* How a number or a column of a basis is scaled: with a shift, and without. */
typedef struct formula_scale {
    double middle, half, most; /* (z - middle)/half within [-most, most] */
    double largest;            /* z/largest within [-1, 1] */
} formula_scale;

typedef struct formula_variable {
    char *text; /* as R prints it: variables of one text are one */
    formula_variable_kind kind;
    uint32_t node;
    size_t columns;       /* of a number 1, of a basis its columns, of a category its levels */
    formula_scale *scale; /* of each column; NULL for a category */
    formula_basis *basis;
    size_t column; /* of a category */
    double *level; /* of factor() of a number: what its levels are; else NULL */
} formula_variable;

typedef struct formula_term {
    uint16_t factors;
    uint32_t variable[TACIT_FORMULA_FACTORS]; /* ascending */
    bool full[TACIT_FORMULA_FACTORS];         /* a category with all its levels, not contrasts to the first */
    bool centered;
    size_t first, columns;
    uint32_t without[TACIT_FORMULA_PARTS]; /* of a centered term: the term without that set of factors;
                                            * FORMULA_NONE: the constant */
} formula_term;

enum { FORMULA_STRATA = 4 }; /* most columns that strata are made of */

struct tacit_formula {
    const tacit_schema *schema;
    formula_tree tree;
    char *text;
    bool intercept;
    size_t variables, variable_capacity;
    formula_variable *variable;
    size_t terms, term_capacity;
    formula_term *term;
    bool *uses;      /* of each column of the schema */
    uint32_t offset; /* node of its expression; FORMULA_NONE */
    double offset_low, offset_high, offset_scale;
    size_t offset_feature, weights_feature; /* SIZE_MAX: none */
    size_t weights;                         /* the column that has the weights of rows; SIZE_MAX: none */
    size_t strata, stratum[FORMULA_STRATA]; /* the categories that strata are made of */
    size_t strata_levels, strata_feature;
    bool subgroups; /* what the strata are, then of one column: rows are counted by them, and that is all */
    bool clusters;
    size_t features, entries;
    double reach;
    uint32_t random; /* node of the random effects; FORMULA_NONE */
    bool random_party;
    char *random_slope; /* NULL: an intercept alone */
};

/* strata() and cluster(), before a dot needs to know, and what stands before ~ (formula_survival.c). */
tacit_status formula_find_marks(tacit_formula *formula, tacit_error *error);
tacit_status formula_check_response(const tacit_formula *formula, uint32_t node, tacit_error *error);
bool formula_is_mark(const tacit_formula *formula, uint32_t node); /* a call that is no term */
bool formula_is_strata(const tacit_formula *formula, size_t column);

/* The stratum of a row; SIZE_MAX where it lacks a level. */
size_t formula_stratum_of(const tacit_formula *formula, const formula_cells *cells);
tacit_status formula_name_stratum(const tacit_formula *formula, size_t stratum, tacit_buffer *out,
                                  tacit_error *error);

/* Brackets around A | B, which are set aside. */
bool formula_is_random(const formula_tree *tree, uint32_t node);
tacit_status formula_keep_random(tacit_formula *formula, uint32_t node, tacit_error *error);

/* From the tree to variables and terms in R's order. */
tacit_status formula_expand(tacit_formula *formula, tacit_error *error);

/* The number of a variable, which is made if it is new. */
tacit_status formula_variable_of(tacit_formula *formula, uint32_t node, uint32_t *out, tacit_error *error);

/* Coding, columns, scales, reach. */
tacit_status formula_lay_out(tacit_formula *formula, tacit_error *error);
