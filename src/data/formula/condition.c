#include "data/formula/condition.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "data/formula/formula_parts.h"
#include "data/schema/names.h"

struct tacit_condition {
    const tacit_schema *schema;
    formula_tree tree;
    char *text;
    size_t count;
    size_t *columns; /* of the schema */
    size_t *place;   /* of each column of the schema: which of `columns` it is */
};

typedef enum truth { NO, YES, UNKNOWN } truth;

tacit_condition *tacit_condition_free(tacit_condition *condition) {
    if (condition == NULL) return NULL;
    formula_tree_clear(&condition->tree);
    free(condition->text);
    free(condition->columns);
    free(condition->place);
    free(condition);
    return NULL;
}

/* ---- checking ---- */

static bool is_comparison(char op) {
    return op == '<' || op == '>' || op == FORMULA_AT_LEAST || op == FORMULA_AT_MOST || op == FORMULA_EQUAL ||
           op == FORMULA_UNEQUAL;
}

static uint32_t inside(const formula_tree *tree, uint32_t node) {
    while (tree->node[node].kind == FORMULA_GROUP) node = tree->node[node].first;
    return node;
}

/* Whether a node is the name of a category, which is looked up. A name that cannot be found is an error. */
static tacit_status is_category(tacit_condition *self, uint32_t node, bool *out, tacit_error *error) {
    size_t column;
    node = inside(&self->tree, node);
    *out = false;
    if (self->tree.node[node].kind != FORMULA_NAME) return TACIT_OK;
    TACIT_TRY(formula_find(&self->tree, node, self->schema, &column, error));
    *out = self->schema->columns[column].kind == TACIT_SCHEMA_CATEGORY;
    return TACIT_OK;
}

/* A level by its text or, if it is a number, by its digits. */
static tacit_status find_level(tacit_condition *self, uint32_t category, uint32_t node, tacit_error *error) {
    formula_tree *tree = &self->tree;
    formula_node *one = &tree->node[inside(tree, node)];
    const tacit_schema_column *column = &self->schema->columns[tree->node[inside(tree, category)].column];
    char list[200];
    if (one->kind != FORMULA_TEXT && one->kind != FORMULA_NUMBER)
        return formula_fail(tree, node, error, "a level of '%.60s' belongs here, in quotation marks",
                            column->name);
    one->level = tacit_levels_find(&column->levels, tree->text + one->at, one->length);
    one->kind = FORMULA_TEXT; /* and is printed with its digits as they are */
    if (one->level >= 0) return TACIT_OK;
    tacit_names_list(&column->levels, list, sizeof list);
    return formula_fail(tree, node, error, "this is no level of '%.60s', which has %s", column->name, list);
}

static tacit_status check_number(tacit_condition *self, uint32_t node, tacit_error *error) {
    double low, high;
    return formula_check_number(&self->tree, node, self->schema, &low, &high, error);
}

static tacit_status check_comparison(tacit_condition *self, uint32_t node, tacit_error *error) {
    formula_tree *tree = &self->tree;
    uint32_t left = tree->node[node].first, right = tree->node[left].next;
    bool first = false, second = false;
    TACIT_TRY(is_category(self, left, &first, error));
    TACIT_TRY(is_category(self, right, &second, error));
    if (!first && !second) {
        TACIT_TRY(check_number(self, left, error));
        return check_number(self, right, error);
    }
    if (tree->node[node].op != FORMULA_EQUAL && tree->node[node].op != FORMULA_UNEQUAL)
        return formula_fail(tree, node, error,
                            "levels of a category have no order here: name those that belong, as in "
                            "x %%in%% c(\"a\", \"b\")");
    return find_level(self, first ? left : right, first ? right : left, error);
}

/* x %in% c(a, b) */
static tacit_status check_among(tacit_condition *self, uint32_t node, tacit_error *error) {
    formula_tree *tree = &self->tree;
    uint32_t left = tree->node[node].first, right = inside(tree, tree->node[left].next);
    bool category = false;
    TACIT_TRY(is_category(self, left, &category, error));
    if (!category) TACIT_TRY(check_number(self, left, error));
    if (!formula_is_call(tree, right, "c") || tree->node[right].first == FORMULA_NONE)
        return formula_fail(tree, right, error, "a list belongs here: c(\"a\", \"b\") or c(1, 2)");
    for (uint32_t k = tree->node[right].first; k != FORMULA_NONE; k = tree->node[k].next)
        TACIT_TRY(category ? find_level(self, left, k, error) : check_number(self, k, error));
    return TACIT_OK;
}

static tacit_status check_missing(tacit_condition *self, uint32_t node, tacit_error *error) {
    static const char *const none[] = { NULL };
    formula_tree *tree = &self->tree;
    bool category = false;
    TACIT_TRY(formula_check_arguments(tree, node, none, 1, error));
    if (tree->node[node].first == FORMULA_NONE)
        return formula_fail(tree, node, error, "it needs a column between the brackets");
    TACIT_TRY(is_category(self, tree->node[node].first, &category, error));
    return category ? TACIT_OK : check_number(self, tree->node[node].first, error);
}

static tacit_status check(tacit_condition *self, uint32_t node, tacit_error *error) {
    formula_tree *tree = &self->tree;
    const formula_node one = tree->node[node];
    if (one.kind == FORMULA_GROUP || (one.kind == FORMULA_UNARY && one.op == '!'))
        return check(self, one.first, error);
    if (formula_is_call(tree, node, "is.na")) return check_missing(self, node, error);
    if (one.kind == FORMULA_BINARY && (one.op == '&' || one.op == '|')) {
        TACIT_TRY(check(self, one.first, error));
        return check(self, tree->node[one.first].next, error);
    }
    if (one.kind == FORMULA_BINARY && is_comparison(one.op)) return check_comparison(self, node, error);
    if (one.kind == FORMULA_BINARY && one.op == FORMULA_IN) return check_among(self, node, error);
    return formula_fail(tree, node, error,
                        "a condition belongs here: comparisons such as age > 50, sex == \"f\", "
                        "x %%in%% c(1, 2) and is.na(x), joined by &, | and !");
}

/* ---- making ---- */

static tacit_status list_columns(tacit_condition *self, tacit_error *error) {
    const size_t all = self->schema->cols;
    self->columns = TACIT_NEW(size_t, all + 1);
    self->place = TACIT_NEW(size_t, all + 1);
    if (self->columns == NULL || self->place == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < all; i++) {
        bool found = false;
        for (uint32_t k = 0; k < self->tree.count && !found; k++) found = self->tree.node[k].column == i;
        if (found) {
            self->place[i] = self->count;
            self->columns[self->count++] = i;
        }
    }
    return self->count > 0 ? TACIT_OK
                           : formula_fail(&self->tree, self->tree.root, error, "it looks at no column");
}

tacit_status tacit_condition_create(tacit_condition **out, const char *text, const tacit_schema *schema,
                                    const char *what, tacit_error *error) {
    tacit_condition *self = TACIT_NEW(tacit_condition, 1);
    tacit_buffer printed = TACIT_BUFFER_INIT;
    if (self == NULL) return tacit_fail_memory(error);
    tacit_status status;
    self->schema = schema;
    TACIT_CHECK(formula_parse(&self->tree, text, what, error));
    TACIT_CHECK(check(self, self->tree.root, error));
    TACIT_CHECK(list_columns(self, error));
    TACIT_CHECK(formula_print(&self->tree, self->tree.root, &printed, error));
    self->text = tacit_copy_text(tacit_buffer_text(&printed));
    if (self->text == NULL) TACIT_CHECK(tacit_fail_memory(error));
    *out = self;
    self = NULL;
cleanup:
    tacit_buffer_clear(&printed);
    tacit_condition_free(self);
    return status;
}

const char *tacit_condition_text(const tacit_condition *condition) { return condition->text; }

size_t tacit_condition_columns(const tacit_condition *condition, const size_t **columns) {
    *columns = condition->columns;
    return condition->count;
}

/* ---- a row ---- */

typedef struct row {
    const tacit_condition *condition;
    formula_cells cells;
} row;

/* Of a category its level, of anything else its number. */
static double value_of(const row *self, uint32_t node) {
    const formula_tree *tree = &self->condition->tree;
    const formula_node *one = &tree->node[inside(tree, node)];
    if (one->kind == FORMULA_TEXT) return one->level;
    return formula_number(tree, node, &self->cells);
}

static truth compare(char op, double a, double b) {
    if (isnan(a) || isnan(b)) return UNKNOWN;
    switch (op) {
    case '<': return a < b;
    case '>': return a > b;
    case FORMULA_AT_LEAST: return a >= b;
    case FORMULA_AT_MOST: return a <= b;
    case FORMULA_EQUAL: return a == b;
    default: return a != b;
    }
}

/* As in R, NA %in% c(1, 2) is FALSE. */
static truth among(const row *self, double value, uint32_t list) {
    const formula_tree *tree = &self->condition->tree;
    for (uint32_t k = tree->node[inside(tree, list)].first; k != FORMULA_NONE; k = tree->node[k].next)
        if (value == value_of(self, k)) return YES;
    return NO;
}

static truth evaluate(const row *self, uint32_t node) {
    const formula_tree *tree = &self->condition->tree;
    const formula_node *one = &tree->node[node];
    if (one->kind == FORMULA_GROUP) return evaluate(self, one->first);
    if (one->kind == FORMULA_UNARY) {
        const truth value = evaluate(self, one->first);
        return value == UNKNOWN ? UNKNOWN : value == YES ? NO : YES;
    }
    if (one->kind == FORMULA_CALL) return isnan(value_of(self, one->first)) ? YES : NO;
    const uint32_t right = tree->node[one->first].next;
    if (one->op == FORMULA_IN) return among(self, value_of(self, one->first), right);
    if (one->op != '&' && one->op != '|')
        return compare(one->op, value_of(self, one->first), value_of(self, right));
    const truth decides = one->op == '&' ? NO : YES;
    const truth a = evaluate(self, one->first), b = evaluate(self, right);
    if (a == decides || b == decides) return decides;
    return a == UNKNOWN || b == UNKNOWN ? UNKNOWN : a;
}

bool tacit_condition_holds(const tacit_condition *condition, const double *value) {
    const row self = {
        condition,
        { .schema = condition->schema, .number = value, .place = condition->place, .as_they_are = true }
    };
    return evaluate(&self, condition->tree.root) == YES;
}
