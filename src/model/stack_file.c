/*
 * "stack": { "combiner": "high", "rows": "scale", "meta": "centred", "high": [...],
 *            "members": [ { "scale": 0.2, "columns": [...], "weights": [...] },
 *                         { "scale": 1, "tree": { as in tree.h }, "weights": [...] }, ... ] }
 */
#include "model/stack_file.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

static json_t *numbers(const double *values, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        if (json_array_append_new(list, json_real(values[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *columns_of(const tacit_stack *stack, size_t member) {
    json_t *list = json_array();
    for (size_t c = stack->start[member]; c < stack->start[member + 1]; c++)
        if (json_array_append_new(list, json_integer((json_int_t)stack->column[c])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *tacit_stack_to_json(const tacit_stack *stack, const double *weights) {
    json_t *members = json_array();
    for (size_t k = 0; members != NULL && k < stack->members; k++) {
        size_t width = stack->start[k + 1] - stack->start[k];
        const tacit_tree *tree = tacit_stack_tree(stack, k);
        json_t *one = json_pack("{s:f,s:o,s:o}", "scale", stack->scale[k], tree != NULL ? "tree" : "columns",
                                tree != NULL ? tacit_tree_to_json(tree) : columns_of(stack, k), "weights",
                                numbers(weights + stack->start[k], width));
        if (json_array_append_new(members, one) != 0) {
            json_decref(members);
            members = NULL;
        }
    }
    size_t high = tacit_stack_size(stack) - tacit_stack_low_size(stack);
    return json_pack("{s:s,s:s,s:s,s:o,s:o}", "combiner", tacit_combiner_name(stack->combiner), "rows",
                     stack->rows_normalised ? "normalise" : "scale", "meta",
                     stack->is_centered ? "centred" : "probability", "high",
                     numbers(weights + tacit_stack_low_size(stack), high), "members", members);
}

/* ---- reading ---- */

static tacit_status read_numbers(double *out, const json_t *list, size_t count, const char *what,
                                 tacit_error *error) {
    if (!json_is_array(list) || json_array_size(list) != count)
        return tacit_fail(error, TACIT_INPUT, "%zu %s of a stack where %zu belong", json_array_size(list),
                          what, count);
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(list, i);
        if (!json_is_number(number) || !isfinite(json_number_value(number)))
            return tacit_fail(error, TACIT_INPUT, "one of the %s of a stack is not a finite number", what);
        out[i] = json_number_value(number);
    }
    return TACIT_OK;
}

/* Where members begin, before anything of that size is allocated: each has fewer columns than there are
 * features, or as many places as its tree has nodes. */
static tacit_status measure(const json_t *members, size_t features, size_t *columns, tacit_error *error) {
    size_t count = json_array_size(members);
    *columns = 0;
    if (count == 0 || count > TACIT_STACK_MEMBERS_MOST)
        return tacit_fail(error, TACIT_INPUT, "a stack has 1 to %d members, not %zu",
                          (int)TACIT_STACK_MEMBERS_MOST, count);
    for (size_t k = 0; k < count; k++) {
        const json_t *one = json_array_get(members, k), *tree = json_object_get(one, "tree");
        size_t width = json_array_size(json_object_get(one, "columns"));
        if (tree != NULL) width = json_array_size(json_object_get(tree, "feature"));
        if (width == 0 || (tree == NULL && width > features))
            return tacit_fail(error, TACIT_INPUT, "member %zu of a stack has %zu of %zu features", k + 1,
                              width, features);
        *columns += width;
    }
    return TACIT_OK;
}

static tacit_status read_columns(tacit_stack *stack, size_t member, const json_t *list, tacit_error *error) {
    size_t first = stack->start[member];
    for (size_t j = 0; j < json_array_size(list); j++) {
        json_int_t column = json_integer_value(json_array_get(list, j));
        if (!json_is_integer(json_array_get(list, j)) || column < 0 || column > UINT32_MAX)
            return tacit_fail(error, TACIT_INPUT, "a column of member %zu of a stack is no feature",
                              member + 1);
        stack->column[first + j] = (uint32_t)column;
    }
    stack->start[member + 1] = first + json_array_size(list);
    return TACIT_OK;
}

static tacit_status read_tree(tacit_stack *stack, size_t member, const json_t *object, size_t features,
                              tacit_error *error) {
    tacit_tree *tree = NULL;
    TACIT_TRY(tacit_tree_from_json(&tree, object, features, error));
    stack->start[member + 1] = stack->start[member] + tree->nodes;
    return tacit_stack_plant(stack, member, tree, error);
}

static tacit_status read_rule(tacit_stack *stack, const json_t *object, tacit_error *error) {
    const char *combiner = json_string_value(json_object_get(object, "combiner"));
    const char *rows = json_string_value(json_object_get(object, "rows"));
    const char *meta = json_string_value(json_object_get(object, "meta"));
    int rule = TACIT_COMBINE_HIGH;
    while (combiner != NULL && rule <= TACIT_COMBINE_WEIGHTED &&
           strcmp(combiner, tacit_combiner_name((tacit_combiner)rule)) != 0)
        rule++;
    if (combiner == NULL || rule > TACIT_COMBINE_WEIGHTED)
        return tacit_fail(error, TACIT_INPUT, "a stack's combiner is high, majority or weighted");
    stack->combiner = (tacit_combiner)rule;
    if (rows == NULL || (strcmp(rows, "scale") != 0 && strcmp(rows, "normalise") != 0))
        return tacit_fail(error, TACIT_INPUT, "a stack's rows are 'scale' or 'normalise'");
    stack->rows_normalised = strcmp(rows, "normalise") == 0;
    if (meta == NULL || (strcmp(meta, "centred") != 0 && strcmp(meta, "probability") != 0))
        return tacit_fail(error, TACIT_INPUT, "a stack's meta is 'centred' or 'probability'");
    stack->is_centered = strcmp(meta, "centred") == 0;
    return TACIT_OK;
}

static tacit_status read_stack(tacit_stack *stack, const json_t *object, size_t features,
                               tacit_error *error) {
    const json_t *members = json_object_get(object, "members");
    TACIT_TRY(read_rule(stack, object, error));
    for (size_t k = 0; k < stack->members; k++) {
        const json_t *one = json_array_get(members, k), *tree = json_object_get(one, "tree");
        if (tree != NULL && json_object_get(one, "columns") != NULL)
            return tacit_fail(error, TACIT_INPUT, "member %zu of a stack is a tree and has columns", k + 1);
        TACIT_TRY(tree != NULL ? read_tree(stack, k, tree, features, error)
                               : read_columns(stack, k, json_object_get(one, "columns"), error));
        stack->scale[k] = json_number_value(json_object_get(one, "scale"));
    }
    return TACIT_OK;
}

tacit_status tacit_stack_from_json(tacit_model **out, const json_t *object, size_t features,
                                   tacit_error *error) {
    const json_t *members = json_object_get(object, "members");
    size_t count = json_array_size(members), columns = 0;
    tacit_stack *stack = NULL;
    tacit_model *model = NULL;
    tacit_status status;
    TACIT_CHECK(measure(members, features, &columns, error));
    TACIT_CHECK(tacit_stack_create(&stack, count, columns, error));
    TACIT_CHECK(read_stack(stack, object, features, error));
    status = tacit_model_create_stack(&model, stack, features, error);
    stack = NULL;
    if (status != TACIT_OK) goto cleanup;
    for (size_t k = 0; k < count; k++) {
        size_t first = model->stack->start[k], width = model->stack->start[k + 1] - first;
        TACIT_CHECK(read_numbers(model->weights + first,
                                 json_object_get(json_array_get(members, k), "weights"), width, "weights",
                                 error));
    }
    size_t low = tacit_stack_low_size(model->stack), high = tacit_stack_size(model->stack) - low;
    TACIT_CHECK(
        read_numbers(model->weights + low, json_object_get(object, "high"), high, "high weights", error));
    *out = model;
    model = NULL;
cleanup:
    tacit_stack_free(stack);
    tacit_model_free(model);
    return status;
}
