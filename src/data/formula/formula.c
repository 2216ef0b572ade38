#include "data/formula/formula.h"

#include <string.h>

#include "base/memory.h"
#include "data/formula/formula_parts.h"

tacit_formula *tacit_formula_free(tacit_formula *formula) {
    if (formula == NULL) return NULL;
    for (size_t i = 0; i < formula->variables; i++) {
        free(formula->variable[i].text);
        free(formula->variable[i].scale);
        free(formula->variable[i].basis);
        free(formula->variable[i].level);
    }
    free(formula->variable);
    free(formula->term);
    free(formula->uses);
    free(formula->text);
    free(formula->random_slope);
    formula_tree_clear(&formula->tree);
    free(formula);
    return NULL;
}

/* What the tree names, and what a dot stands for. */
static tacit_status mark_columns(tacit_formula *formula, tacit_error *error) {
    formula->uses = TACIT_NEW(bool, formula->schema->cols + 1);
    if (formula->uses == NULL) return tacit_fail_memory(error);
    for (uint32_t i = 0; i < formula->tree.count; i++)
        if (formula->tree.node[i].column != SIZE_MAX) formula->uses[formula->tree.node[i].column] = true;
    for (size_t i = 0; i < formula->variables; i++)
        if (formula->variable[i].column != SIZE_MAX) formula->uses[formula->variable[i].column] = true;
    return TACIT_OK;
}

/* weights(x), before a dot needs to know: a column whose numbers are above 0. */
static tacit_status find_weights(tacit_formula *formula, tacit_error *error) {
    static const char *const none[] = { NULL };
    formula_tree *tree = &formula->tree;
    for (uint32_t i = 0; i < tree->count; i++) {
        if (!formula_is_call(tree, i, "weights")) continue;
        uint32_t name = tree->node[i].first;
        TACIT_TRY(formula_check_arguments(tree, i, none, 1, error));
        if (name == FORMULA_NONE || tree->node[name].kind != FORMULA_NAME)
            return formula_fail(tree, i, error, "it needs the name of a column between the brackets");
        if (formula->weights != SIZE_MAX) return formula_fail(tree, i, error, "there are weights already");
        TACIT_TRY(formula_find(tree, name, formula->schema, &formula->weights, error));
        const tacit_schema_column *column = &formula->schema->columns[formula->weights];
        if (column->kind != TACIT_SCHEMA_NUMBER || !(column->low > 0))
            return formula_fail(
                tree, i, error,
                "the weights of rows must be a number above 0: give the column a 'low' above 0 in the "
                "schema");
    }
    return TACIT_OK;
}

static tacit_status keep_text(tacit_formula *formula, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = formula_print(&formula->tree, formula->tree.root, &text, error);
    if (status == TACIT_OK && (formula->text = tacit_copy_text(tacit_buffer_text(&text))) == NULL)
        status = tacit_fail_memory(error);
    tacit_buffer_clear(&text);
    return status;
}

tacit_status tacit_formula_create(tacit_formula **out, const char *text, const tacit_schema *schema,
                                  tacit_error *error) {
    tacit_formula *formula = TACIT_NEW(tacit_formula, 1);
    if (formula == NULL) return tacit_fail_memory(error);
    tacit_status status;
    formula->schema = schema;
    formula->intercept = true;
    formula->offset = formula->random = FORMULA_NONE;
    formula->offset_feature = formula->weights_feature = formula->weights = SIZE_MAX;
    formula->strata_feature = SIZE_MAX;
    formula->strata_levels = 1;
    TACIT_CHECK(formula_parse(&formula->tree, text, "terms", error));
    TACIT_CHECK(find_weights(formula, error));
    TACIT_CHECK(formula_find_marks(formula, error));
    TACIT_CHECK(formula_expand(formula, error));
    TACIT_CHECK(formula_lay_out(formula, error));
    TACIT_CHECK(mark_columns(formula, error));
    TACIT_CHECK(keep_text(formula, error));
    *out = formula;
    formula = NULL;
cleanup:
    tacit_formula_free(formula);
    return status;
}

const char *tacit_formula_text(const tacit_formula *formula) { return formula->text; }

bool tacit_formula_intercept(const tacit_formula *formula) { return formula->intercept; }

bool tacit_formula_uses(const tacit_formula *formula, size_t column) { return formula->uses[column]; }

size_t tacit_formula_features(const tacit_formula *formula) { return formula->features; }

size_t tacit_formula_entries(const tacit_formula *formula) { return formula->entries; }

double tacit_formula_reach(const tacit_formula *formula) { return formula->reach; }

static tacit_status add_mark(tacit_buffer *out, const char *terms, const char *mark, const char *column,
                             tacit_error *error) {
    if (strchr(column, '`') != NULL)
        return tacit_fail(error, TACIT_USAGE, "%s: a column with a backtick in its name cannot be named",
                          mark);
    return tacit_buffer_print(out, error, "%s + %s(`%s`)", terms, mark, column);
}

tacit_status tacit_formula_add_weights(tacit_buffer *out, const char *terms, const char *column,
                                       tacit_error *error) {
    return add_mark(out, terms != NULL ? terms : "~ .", "weights", column, error);
}

tacit_status tacit_formula_add_subgroups(tacit_buffer *out, const char *terms, const char *column,
                                         tacit_error *error) {
    return add_mark(out, terms, "subgroups", column, error);
}

static bool contains(const formula_term *whole, const formula_term *part) {
    size_t found = 0;
    for (size_t i = 0; i < whole->factors; i++)
        for (size_t k = 0; k < part->factors; k++) found += whole->variable[i] == part->variable[k];
    return found == part->factors;
}

bool tacit_formula_droppable(const tacit_formula *formula, size_t term) {
    for (size_t t = 0; t < formula->terms; t++)
        if (t != term && contains(&formula->term[t], &formula->term[term])) return false;
    return true;
}
