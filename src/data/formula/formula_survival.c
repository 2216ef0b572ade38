/* What formulas of times until an event say beside their terms, as R's package survival has it: Surv() before
 * ~, and strata() and cluster() in the sum. */
#include <string.h>

#include "data/formula/formula_parts.h"

enum { MOST_STRATA = 10000 };

static const char *const NO_NAMES[] = { NULL };

/* The names between the brackets of a call; TACIT_USAGE for anything else. */
static tacit_status check_names(const formula_tree *tree, uint32_t call, size_t least, size_t most,
                                tacit_error *error) {
    size_t count = 0;
    TACIT_TRY(formula_check_arguments(tree, call, NO_NAMES, most, error));
    for (uint32_t k = tree->node[call].first; k != FORMULA_NONE; k = tree->node[k].next, count++)
        if (tree->node[k].kind != FORMULA_NAME)
            return formula_fail(tree, call, error, "it needs the names of columns between the brackets");
    if (count >= least) return TACIT_OK;
    return formula_fail(tree, call, error, "it needs the name%s of %s between the brackets",
                        least > 1 ? "s" : "", least > 1 ? "columns" : "a column");
}

/* ---- before ~ ---- */

/* surv(time, event), or surv(entry, time, event), or R's Surv. */
static tacit_status check_surv(const tacit_formula *formula, uint32_t node, tacit_error *error) {
    const formula_tree *tree = &formula->tree;
    const tacit_schema *schema = formula->schema;
    const size_t columns = tacit_schema_response_columns(schema);
    const char *const label[] = { schema->entry, schema->label, schema->event };
    if (schema->response != TACIT_RESPONSE_TIME)
        return formula_fail(tree, node, error,
                            "the schema's label '%.100s' is no time: declare {name: [days, died], kind: "
                            "time, low: 0, high: 3650} there",
                            schema->label);
    TACIT_TRY(check_names(tree, node, 1, 3, error));
    uint32_t at = tree->node[node].first;
    bool same = true;
    for (size_t i = 3 - columns; i < 3; i++) {
        same = same && at != FORMULA_NONE && formula_is(tree, at, label[i]);
        if (at != FORMULA_NONE) at = tree->node[at].next;
    }
    if (same && at == FORMULA_NONE) return TACIT_OK;
    return formula_fail(tree, node, error,
                        "the schema's label has the columns %s%.60s%s'%.60s' and '%.60s': write them in "
                        "this order, or change the label in the schema",
                        columns > 2 ? "'" : "", columns > 2 ? schema->entry : "", columns > 2 ? "', " : "",
                        schema->label, schema->event);
}

tacit_status formula_check_response(const tacit_formula *formula, uint32_t node, tacit_error *error) {
    const formula_tree *tree = &formula->tree;
    if (formula_is_call(tree, node, "surv") || formula_is_call(tree, node, "Surv"))
        return check_surv(formula, node, error);
    if (tree->node[node].kind == FORMULA_NAME && formula_is(tree, node, formula->schema->label))
        return TACIT_OK;
    return formula_fail(
        tree, node, error,
        "the schema's label is '%.100s': write it before ~, or nothing, and change the label in the "
        "schema",
        formula->schema->label);
}

/* ---- in the sum ---- */

static tacit_status add_strata(tacit_formula *formula, uint32_t call, tacit_error *error) {
    formula_tree *tree = &formula->tree;
    TACIT_TRY(check_names(tree, call, 1, FORMULA_STRATA, error));
    for (uint32_t k = tree->node[call].first; k != FORMULA_NONE; k = tree->node[k].next) {
        size_t column;
        TACIT_TRY(formula_find(tree, k, formula->schema, &column, error));
        const tacit_schema_column *one = &formula->schema->columns[column];
        if (one->kind != TACIT_SCHEMA_CATEGORY)
            return formula_fail(tree, call, error, "'%.60s' is no category: strata are levels of one",
                                one->name);
        if (formula_is_strata(formula, column)) continue;
        if (formula->strata == FORMULA_STRATA)
            return formula_fail(tree, call, error, "strata are made of at most %d columns", FORMULA_STRATA);
        formula->stratum[formula->strata++] = column;
        formula->strata_levels *= tacit_schema_column_levels(one);
        if (formula->strata_levels > MOST_STRATA)
            return formula_fail(tree, call, error, "these are more than %d strata", MOST_STRATA);
    }
    return TACIT_OK;
}

/* subgroups(COLUMN): strata that no model has, for methods that count rows by them. */
static tacit_status set_subgroups(tacit_formula *formula, uint32_t call, tacit_error *error) {
    if (formula->strata > 0)
        return formula_fail(&formula->tree, call, error,
                            "it stands once in a formula, and not beside strata()");
    TACIT_TRY(check_names(&formula->tree, call, 1, 1, error));
    formula->subgroups = true;
    return add_strata(formula, call, error);
}

/* The schema says whose row it is: cluster() can name only that column. */
static tacit_status set_cluster(tacit_formula *formula, uint32_t call, tacit_error *error) {
    const formula_tree *tree = &formula->tree;
    const char *person = formula->schema->person;
    TACIT_TRY(check_names(tree, call, 1, 1, error));
    if (person == NULL || !formula_is(tree, tree->node[call].first, person))
        return formula_fail(
            tree, call, error,
            "the schema has to say that this column tells whose row it is: write person: %.*s "
            "there",
            (int)tree->node[tree->node[call].first].length,
            tree->text + tree->node[tree->node[call].first].at);
    formula->clusters = true;
    return TACIT_OK;
}

tacit_status formula_find_marks(tacit_formula *formula, tacit_error *error) {
    for (uint32_t i = 0; i < formula->tree.count; i++) {
        if (formula_is_call(&formula->tree, i, "strata")) TACIT_TRY(add_strata(formula, i, error));
        if (formula_is_call(&formula->tree, i, "cluster")) TACIT_TRY(set_cluster(formula, i, error));
    }
    for (uint32_t i = 0; i < formula->tree.count; i++)
        if (formula_is_call(&formula->tree, i, "subgroups")) TACIT_TRY(set_subgroups(formula, i, error));
    return TACIT_OK;
}

bool formula_is_mark(const tacit_formula *formula, uint32_t node) {
    return formula_is(&formula->tree, node, "weights") || formula_is(&formula->tree, node, "strata") ||
           formula_is(&formula->tree, node, "cluster") || formula_is(&formula->tree, node, "subgroups");
}

bool formula_is_strata(const tacit_formula *formula, size_t column) {
    for (size_t i = 0; i < formula->strata; i++)
        if (formula->stratum[i] == column) return true;
    return false;
}

/* ---- what others ask ---- */

size_t tacit_formula_strata(const tacit_formula *formula, size_t *count) {
    const bool there = formula->strata > 0 && !formula->subgroups;
    *count = there ? formula->strata_levels : 0;
    return there ? formula->strata_feature : SIZE_MAX;
}

size_t tacit_formula_subgroups(const tacit_formula *formula, size_t *column, size_t *count) {
    if (!formula->subgroups) return SIZE_MAX;
    *column = formula->stratum[0];
    *count = formula->strata_levels;
    return formula->strata_feature;
}

bool tacit_formula_clusters(const tacit_formula *formula) { return formula->clusters; }

size_t formula_stratum_of(const tacit_formula *formula, const formula_cells *cells) {
    size_t at = 0;
    for (size_t i = 0; i < formula->strata; i++) {
        int32_t level = cells->level[formula->stratum[i]];
        if (level < 0) return SIZE_MAX;
        at = at * tacit_schema_column_levels(&formula->schema->columns[formula->stratum[i]]) + (size_t)level;
    }
    return at;
}

/* As R's strata() names its levels: "stage=1, sex=f". */
tacit_status formula_name_stratum(const tacit_formula *formula, size_t stratum, tacit_buffer *out,
                                  tacit_error *error) {
    size_t below = formula->strata_levels;
    for (size_t i = 0; i < formula->strata; i++) {
        const tacit_schema_column *one = &formula->schema->columns[formula->stratum[i]];
        below /= tacit_schema_column_levels(one);
        size_t level = stratum / below;
        stratum %= below;
        TACIT_TRY(tacit_buffer_print(out, error, "%s%s=%s", i > 0 ? ", " : "", one->name,
                                     level < one->levels.count ? one->levels.text[level] : "(missing)"));
    }
    return TACIT_OK;
}
