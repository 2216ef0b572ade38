/* From a tree to variables and terms, by R's rules (terms.formula): + joins, : crosses, * both, ^ crosses up
 * to a degree, / nests, - takes away; then by the number of their factors, in the order in which they
 * came. */
#include <string.h>

#include "base/growing.h"
#include "base/memory.h"
#include "data/formula/formula_parts.h"

enum { MOST_TERMS = 20000 };

/* Terms under way, without coding. */
typedef struct term_set {
    size_t count, capacity;
    struct bare_term {
        uint16_t factors;
        uint32_t variable[TACIT_FORMULA_FACTORS];
    } * term;
} term_set;

typedef struct bare_term bare_term;

static bool same_term(const bare_term *a, const bare_term *b) {
    return a->factors == b->factors &&
           memcmp(a->variable, b->variable, a->factors * sizeof *a->variable) == 0;
}

static size_t find_term(const term_set *set, const bare_term *term) {
    for (size_t i = 0; i < set->count; i++)
        if (same_term(&set->term[i], term)) return i;
    return SIZE_MAX;
}

static tacit_status add_term(tacit_formula *formula, uint32_t node, term_set *set, const bare_term *term,
                             tacit_error *error) {
    if (find_term(set, term) != SIZE_MAX) return TACIT_OK;
    if (set->count == MOST_TERMS)
        return formula_fail(&formula->tree, node, error, "these are more than %d terms", MOST_TERMS);
    bare_term *grown = tacit_grow_by_one(set->term, set->count, &set->capacity, 8, sizeof *grown);
    if (grown == NULL) return tacit_fail_memory(error);
    set->term = grown;
    set->term[set->count++] = *term;
    return TACIT_OK;
}

static tacit_status add_all(tacit_formula *formula, uint32_t node, term_set *set, const term_set *more,
                            tacit_error *error) {
    for (size_t i = 0; i < more->count; i++) TACIT_TRY(add_term(formula, node, set, &more->term[i], error));
    return TACIT_OK;
}

/* The factors of both, ascending, each once. */
static tacit_status merge(tacit_formula *formula, uint32_t node, const bare_term *a, const bare_term *b,
                          bare_term *out, tacit_error *error) {
    size_t i = 0, j = 0;
    *out = (bare_term){ .factors = 0 };
    while (i < a->factors || j < b->factors) {
        uint32_t left = i < a->factors ? a->variable[i] : UINT32_MAX,
                 right = j < b->factors ? b->variable[j] : UINT32_MAX, least = left < right ? left : right;
        if (out->factors == TACIT_FORMULA_FACTORS)
            return formula_fail(&formula->tree, node, error, "an interaction has at most %d factors",
                                TACIT_FORMULA_FACTORS);
        out->variable[out->factors++] = least;
        i += left == least;
        j += right == least;
    }
    return TACIT_OK;
}

static tacit_status cross(tacit_formula *formula, uint32_t node, const term_set *a, const term_set *b,
                          term_set *out, tacit_error *error) {
    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b->count; j++) {
            bare_term both;
            TACIT_TRY(merge(formula, node, &a->term[i], &b->term[j], &both, error));
            TACIT_TRY(add_term(formula, node, out, &both, error));
        }
    return TACIT_OK;
}

static tacit_status expand(tacit_formula *formula, uint32_t node, term_set *out, tacit_error *error);

static tacit_status add_variable(tacit_formula *formula, uint32_t node, term_set *out, tacit_error *error) {
    bare_term one = { .factors = 1 };
    TACIT_TRY(formula_variable_of(formula, node, &one.variable[0], error));
    return add_term(formula, node, out, &one, error);
}

/* All columns that terms can be made of. Each becomes a name in the tree. */
static tacit_status expand_dot(tacit_formula *formula, uint32_t node, term_set *out, tacit_error *error) {
    const tacit_schema *schema = formula->schema;
    for (size_t i = 0; i < schema->cols; i++) {
        if (schema->columns[i].kind == TACIT_SCHEMA_SKIP || i == formula->weights ||
            (formula_is_strata(formula, i) && !formula->subgroups))
            continue;
        if (schema->columns[i].kind == TACIT_SCHEMA_TEXT)
            return formula_fail(
                &formula->tree, node, error,
                "column '%.60s' is a text, and terms are made of numbers and categories: name the "
                "others, or declare it skip",
                schema->columns[i].name);
        formula->tree.node[node].column = i;
        TACIT_TRY(add_variable(formula, node, out, error));
    }
    return TACIT_OK;
}

/* offset(x): one for the whole formula. */
static tacit_status keep_offset(tacit_formula *formula, uint32_t node, tacit_error *error) {
    static const char *const none[] = { NULL };
    formula_tree *tree = &formula->tree;
    TACIT_TRY(formula_check_arguments(tree, node, none, 1, error));
    if (tree->node[node].first == FORMULA_NONE)
        return formula_fail(tree, node, error, "it needs a number between the brackets");
    if (formula->offset != FORMULA_NONE)
        return formula_fail(tree, node, error, "there is an offset already: write one, offset(a + b)");
    formula->offset = tree->node[node].first;
    return formula_check_number(tree, formula->offset, formula->schema, &formula->offset_low,
                                &formula->offset_high, error);
}

/* 1 and 0 in a sum: with and without an intercept. */
static tacit_status set_intercept(tacit_formula *formula, uint32_t node, bool added, tacit_error *error) {
    double number = formula->tree.node[node].number;
    if (number != 0 && number != 1)
        return formula_fail(
            &formula->tree, node, error,
            "a number in a formula is 1 or 0, with and without an intercept: write arithmetic inside "
            "I(), as in I(x + 2)");
    formula->intercept = (number == 1) == added;
    return TACIT_OK;
}

static tacit_status expand_power(tacit_formula *formula, uint32_t node, const term_set *base, uint32_t degree,
                                 term_set *out, tacit_error *error) {
    size_t times;
    term_set last = { 0 }, next = { 0 };
    tacit_status status;
    TACIT_CHECK(formula_whole(&formula->tree, degree, 1, TACIT_FORMULA_FACTORS, &times, error));
    TACIT_CHECK(add_all(formula, node, &last, base, error));
    for (size_t k = 1; k < times; k++) {
        TACIT_CHECK(add_all(formula, node, &next, &last, error));
        TACIT_CHECK(cross(formula, node, &last, base, &next, error));
        free(last.term);
        last = next;
        next = (term_set){ 0 };
    }
    TACIT_CHECK(add_all(formula, node, out, &last, error));
cleanup:
    free(last.term);
    free(next.term);
    return status;
}

/* a/b: a, and b within every combination of all of a. */
static tacit_status nest(tacit_formula *formula, uint32_t node, const term_set *a, const term_set *b,
                         term_set *out, tacit_error *error) {
    bare_term all = { .factors = 0 };
    for (size_t i = 0; i < a->count; i++) {
        bare_term before = all;
        TACIT_TRY(merge(formula, node, &before, &a->term[i], &all, error));
    }
    term_set whole = { 1, 1, &all };
    TACIT_TRY(add_all(formula, node, out, a, error));
    return cross(formula, node, &whole, b, out, error);
}

static void take_away(term_set *from, const term_set *less) {
    size_t kept = 0;
    for (size_t i = 0; i < from->count; i++)
        if (find_term(less, &from->term[i]) == SIZE_MAX) from->term[kept++] = from->term[i];
    from->count = kept;
}

static tacit_status combine(tacit_formula *formula, uint32_t node, const term_set *a, const term_set *b,
                            term_set *out, tacit_error *error) {
    if (a->count == 0 || b->count == 0)
        return formula_fail(&formula->tree, node, error,
                            "one side has no terms: offset(), weights(), strata(), cluster(), 0 and 1 stand "
                            "by themselves in a sum");
    switch (formula->tree.node[node].op) {
    case '*':
        TACIT_TRY(add_all(formula, node, out, a, error));
        TACIT_TRY(add_all(formula, node, out, b, error));
        return cross(formula, node, a, b, out, error);
    case ':': return cross(formula, node, a, b, out, error);
    case '/': return nest(formula, node, a, b, out, error);
    default: return formula_fail(&formula->tree, node, error, "this operator has no meaning between terms");
    }
}

static tacit_status expand_binary(tacit_formula *formula, uint32_t node, term_set *out, tacit_error *error) {
    uint32_t left = formula->tree.node[node].first, right = formula->tree.node[left].next;
    char op = formula->tree.node[node].op;
    term_set a = { 0 }, b = { 0 };
    tacit_status status;
    if (op == '+') { /* long sums need no copies */
        TACIT_TRY(expand(formula, left, out, error));
        return expand(formula, right, out, error);
    }
    bool number = op == '-' && formula->tree.node[right].kind == FORMULA_NUMBER;
    if (number) {
        TACIT_TRY(expand(formula, left, out, error));
        return set_intercept(formula, right, false, error);
    }
    TACIT_CHECK(expand(formula, left, &a, error));
    if (op == '^') {
        TACIT_CHECK(expand_power(formula, node, &a, right, out, error));
    } else {
        TACIT_CHECK(expand(formula, right, &b, error));
        if (op == '-') {
            take_away(&a, &b);
            TACIT_CHECK(add_all(formula, node, out, &a, error));
        } else {
            TACIT_CHECK(combine(formula, node, &a, &b, out, error));
        }
    }
cleanup:
    free(a.term);
    free(b.term);
    return status;
}

static tacit_status expand(tacit_formula *formula, uint32_t node, term_set *out, tacit_error *error) {
    const formula_node *one = &formula->tree.node[node];
    switch (one->kind) {
    case FORMULA_NUMBER: return set_intercept(formula, node, true, error);
    case FORMULA_GROUP: {
        if (formula_is_random(&formula->tree, node)) return formula_keep_random(formula, node, error);
        term_set inner = { 0 };
        tacit_status status = expand(formula, one->first, &inner, error);
        if (status == TACIT_OK) status = add_all(formula, node, out, &inner, error);
        free(inner.term);
        return status;
    }
    case FORMULA_UNARY:
        if (one->op == '+') return expand(formula, one->first, out, error);
        if (one->op == '-' && formula->tree.node[one->first].kind == FORMULA_NUMBER)
            return set_intercept(formula, one->first, false, error);
        return formula_fail(&formula->tree, node, error, "there is nothing to take this from");
    case FORMULA_BINARY: return expand_binary(formula, node, out, error);
    case FORMULA_DOT: return expand_dot(formula, node, out, error);
    case FORMULA_CALL:
        if (formula_is(&formula->tree, node, "offset")) return keep_offset(formula, node, error);
        if (formula_is_mark(formula, node)) return TACIT_OK; /* found before */
        return add_variable(formula, node, out, error);
    case FORMULA_NAME: return add_variable(formula, node, out, error);
    case FORMULA_TEXT: break;
    }
    return formula_fail(&formula->tree, node, error, "a text is no term");
}

tacit_status formula_expand(tacit_formula *formula, tacit_error *error) {
    const formula_node *root = &formula->tree.node[formula->tree.root];
    uint32_t right = formula->tree.root;
    term_set set = { 0 };
    tacit_status status;
    if (root->kind == FORMULA_UNARY && root->op == '~') {
        right = root->first;
    } else if (root->kind == FORMULA_BINARY && root->op == '~') {
        TACIT_TRY(formula_check_response(formula, root->first, error));
        right = formula->tree.node[root->first].next;
    }
    TACIT_CHECK(expand(formula, right, &set, error));
    /* the baseline has it, whatever is written, as in R */
    if (formula->schema->response == TACIT_RESPONSE_TIME) formula->intercept = true;
    if (set.count == 0 && !formula->intercept)
        TACIT_CHECK(formula_fail(&formula->tree, right, error, "the formula has no terms"));
    formula->term = TACIT_NEW(formula_term, set.count > 0 ? set.count : 1);
    if (formula->term == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (uint16_t factors = 1; factors <= TACIT_FORMULA_FACTORS; factors++)
        for (size_t i = 0; i < set.count; i++) {
            if (set.term[i].factors != factors) continue;
            formula_term *to = &formula->term[formula->terms++];
            to->factors = factors;
            memcpy(to->variable, set.term[i].variable, sizeof to->variable);
        }
cleanup:
    free(set.term);
    return status;
}
