/*
 * Members of pst-s that are decision trees (dptree.h), grown by the party of its own rows.
 *
 *   party:        block k: for each step of dptree, the counts of the block's rows with noise of the party's
 *                 own; splits and shares of the classes from them: T_k               for k that are trees
 *                 m_k(x) from the log-odds t of the leaf of T_k that x ends in       model/stack.h
 *                 the high model as ever; answers the members and the high model
 *   coordinator:  one stack of the members of all parties, whose score is the mean of what those of the
 *                 parties say
 *
 * Proof note, for a party of n rows, one of which is replaced. The rows of block k follow from n alone
 * (stacking.h, 1). What is made of them is dptree's release with noise=party, of one party that has them: its
 * design (dptree_plan.c) for this party count, each step's counts of L2 sensitivity sqrt(2 m_t) with Gaussian
 * noise of its share of mu^2, together (epsilon, delta) however steps depend on those before (dptree.c). Here
 * the party is also who asks: what it asks next follows from noisy counts by the same function as dptree's
 * coordinator (dptree_make), so that it is a post-processing of them. Blocks and D_h are disjoint, and each
 * costs at most (epsilon, delta): linear members and the high model epsilon. So does the whole, by parallel
 * composition: the replaced row is in one of them, the others are the same on both neighbours, and the high
 * model sees the members as released. Of the counts only the tree leaves: less than was paid for. Depth,
 * cells and columns are chosen from the rows that everybody expects, so that they are public; noise does not
 * depend on how many rows a block has.
 *
 * Pooling. m of a stack of M K members has the factor 1/sqrt(M K) in place of 1/sqrt(K): with h/sqrt(M) in
 * place of h, its score is the mean of the parties' scores. Votes are those of all members.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "method/methods.h"
#include "method/private/stacking.h"

/* ---- the plan ---- */

bool stacking_has_trees(const tacit_plan *plan) {
    return stacking_settings_of(plan)->low_models != STACKING_OF_PLR;
}

/* Every member, or every second one. */
static bool is_tree(const tacit_plan *plan, size_t member) {
    return stacking_settings_of(plan)->low_models == STACKING_OF_TREES || member % 2 == 1;
}

/* A tree's own plan: dptree with noise=party, of one party that has the rows expected in a block. */
static tacit_plan tree_plan(const tacit_plan *plan) {
    const stacking_settings *set = stacking_settings_of(plan);
    const double share = set->combiner == TACIT_COMBINE_HIGH ? set->low : 1,
                 rows = tacit_plan_expected_rows(plan) * share / (double)(plan->parties * set->blocks);
    dptree_settings tree = dptree_defaults;
    tacit_plan out = *plan;
    out.method = &tacit_method_dptree;
    out.parties = out.minimum_parties = 1;
    out.dropouts = out.colluders = 0;
    tree.engine.noise = DPNEWTON_BY_PARTY;
    tree.engine.rows = (uint64_t)fmax(rows, 1);
    tree.depth = set->depth;
    tree.columns = set->columns;
    out.settings = (tacit_settings){ .table = dptree_parameters };
    memcpy(out.settings.values, &tree, sizeof tree);
    return out;
}

static tacit_status check(const tacit_plan *plan, tacit_error *error) {
    const size_t members = stacking_settings_of(plan)->blocks;
    const char *word = stacking_settings_of(plan)->low_models == STACKING_OF_TREES ? "tree" : "mixed";
    if (plan->delta == 0 && isfinite(plan->epsilon))
        return tacit_fail(
            error, TACIT_USAGE,
            "members=%s of method pst-s needs a delta above 0: give the option 'delta=1e-5', or "
            "delta: in the study",
            word);
    if (members < 2)
        return tacit_fail(error, TACIT_USAGE,
                          "members=%s of method pst-s needs blocks=2 or more: for one tree choose method "
                          "dptree with noise=party",
                          word);
    if (members > TACIT_STACK_MEMBERS_MOST / plan->parties)
        return tacit_fail(error, TACIT_USAGE,
                          "%zu trees and models of each of %zu parties are more than the %d members that a "
                          "stack has: set fewer blocks",
                          members, plan->parties, (int)TACIT_STACK_MEMBERS_MOST);
    if (plan->schema == NULL || plan->schema->formula == NULL) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE,
                      "members=%s of method pst-s works on the columns themselves and takes no terms: leave "
                      "'terms' out, or set members=plr",
                      word);
}

tacit_status stacking_plant(stacking *how, const tacit_plan *plan, tacit_error *error) {
    if (!stacking_has_trees(plan)) return TACIT_OK;
    TACIT_TRY(check(plan, error));
    const tacit_plan tree = tree_plan(plan);
    how->is_tree = TACIT_NEW(bool, how->stack->members);
    if (how->is_tree == NULL) return tacit_fail_memory(error);
    for (size_t k = 0; k < how->stack->members; k++) how->is_tree[k] = is_tree(plan, k);
    return dptree_describe(&tree, &how->design, error);
}

/* ---- a tree of a block ---- */

void stacking_block_begin(stacking_block *out, const tacit_party *party, const tacit_rows *rows) {
    *out = (stacking_block){ .party = *party, .plan = tree_plan(party->plan), .grade = TACIT_NOISE_EXACT };
    out->party.plan = &out->plan;
    out->party.rows.rows = *rows;
    out->party.total_rows = rows->count;
    out->party.memo = NULL;
}

tacit_status stacking_count(void *context, const dptree_growth *growth, size_t t, double **counts,
                            tacit_error *error) {
    stacking_block *self = context;
    const dptree_design *design = growth->design;
    const tacit_sum_spec *spec = &design->sum[t];
    tacit_reply reply = { .message = TACIT_MESSAGE_INIT };
    double *values = TACIT_NEW(double, spec->length);
    tacit_status status = values != NULL ? TACIT_OK : tacit_fail_memory(error);
    TACIT_CHECK(status);
    TACIT_CHECK(dptree_count(&self->party, design, &growth->next, values, spec->length, error));
    TACIT_CHECK(dpnewton_give(&self->party, &design->release[t], spec, &values, &reply, error));
    for (size_t j = 0; j < spec->length; j++)
        values[j] = ldexp((double)tacit_noised_steps(reply.noised)[j], -spec->grid_bits);
    if (tacit_noised_grade(reply.noised) < self->grade) self->grade = tacit_noised_grade(reply.noised);
    *counts = values;
    values = NULL;
cleanup:
    tacit_reply_clear(&reply);
    free(values);
    return status;
}

tacit_status stacking_grow(tacit_model **out, tacit_party *party, const stacking *how, const tacit_rows *rows,
                           tacit_noise *grade, tacit_error *error) {
    stacking_block block;
    stacking_block_begin(&block, party, rows);
    TACIT_TRY(dptree_make(&how->design, stacking_count, &block, out, error));
    *grade = block.grade;
    return TACIT_OK;
}

/* ---- the answer ---- */

static size_t most_nodes(const stacking *how) { return ((size_t)2 << how->design.depth) - 1; }

static tacit_status write_stack(const tacit_model *model, tacit_message *message, tacit_error *error) {
    const tacit_stack *stack = model->stack;
    const size_t places = tacit_stack_low_size(stack);
    int64_t *nodes = TACIT_NEW(int64_t, stack->members), *parts = TACIT_NEW(int64_t, 3 * places);
    double *thresholds = TACIT_NEW(double, places);
    size_t trees = 0, at = 0;
    tacit_status status =
        nodes != NULL && parts != NULL && thresholds != NULL ? TACIT_OK : tacit_fail_memory(error);
    TACIT_CHECK(status);
    for (size_t k = 0; k < stack->members; k++) {
        const tacit_tree *tree = tacit_stack_tree(stack, k);
        if (tree == NULL) continue;
        dptree_nodes_write(tree, parts + 3 * at, thresholds + at);
        nodes[trees++] = (int64_t)tree->nodes;
        at += tree->nodes;
    }
    TACIT_CHECK(tacit_message_add_integers(message, "sizes", nodes, trees, error));
    TACIT_CHECK(tacit_message_add_integers(message, "nodes", parts, 3 * at, error));
    TACIT_CHECK(tacit_message_add_numbers(message, "thresholds", thresholds, at, error));
    TACIT_CHECK(
        tacit_message_add_numbers(message, "weights", model->weights, tacit_stack_size(stack), error));
cleanup:
    free(nodes);
    free(parts);
    free(thresholds);
    return status;
}

tacit_status stacking_trees_answer(tacit_party *party, const tacit_question *question, tacit_reply *reply,
                                   tacit_error *error) {
    const tacit_plan *plan = party->plan;
    stacking how = STACKING_INIT;
    stacking_released released = { .members = 0 };
    tacit_sum_spec spec;
    tacit_model *model = NULL;
    tacit_status status;
    if (!stacking_has_trees(plan))
        return tacit_fail(error, TACIT_REFUSED, "this study has no question '%s'", question->name);
    TACIT_CHECK(tacit_party_prepared(party, &spec, error));
    TACIT_CHECK(stacking_of_blocks(&how, plan, error));
    TACIT_CHECK(stacking_release(&released, party, &how, &spec, error));
    TACIT_CHECK(stacking_compose(&model, plan, &how, &released, spec.grid_bits, error));
    reply->kind = TACIT_RELEASE_CHARGED;
    reply->price =
        (tacit_price){ TACIT_UNIT_RECORD, plan->epsilon, isfinite(plan->epsilon) ? plan->delta : 0 };
    reply->noise = released.grade;
    TACIT_CHECK(write_stack(model, &reply->message, error));
cleanup:
    tacit_model_free(model);
    stacking_released_clear(&released);
    stacking_clear(&how);
    return status;
}

/* ---- the coordinator ---- */

/* The trees of an answer, one a member that is one; the caller's, also on failure. */
static tacit_status read_trees(tacit_tree **out, const tacit_plan *plan, const stacking *how,
                               const tacit_message *message, tacit_error *error) {
    const int64_t *sizes, *parts;
    const double *thresholds;
    const size_t members = how->stack->members;
    size_t trees = 0, all = 0;
    for (size_t k = 0; k < members; k++) trees += stacking_is_tree(how, k);
    TACIT_TRY(tacit_message_integers(message, "sizes", trees, &sizes, error));
    for (size_t i = 0; i < trees; i++) {
        if (sizes[i] < 1 || (uint64_t)sizes[i] > most_nodes(how))
            return tacit_fail(error, TACIT_PROTOCOL, "a tree in the answer has %lld nodes, not 1 to %zu",
                              (long long)sizes[i], most_nodes(how));
        all += (size_t)sizes[i];
    }
    TACIT_TRY(tacit_message_integers(message, "nodes", 3 * all, &parts, error));
    TACIT_TRY(tacit_message_numbers(message, "thresholds", all, &thresholds, error));
    for (size_t k = 0, i = 0, at = 0; k < members; k++) {
        if (!stacking_is_tree(how, k)) continue;
        TACIT_TRY(tacit_tree_create(&out[k], (size_t)sizes[i++], error));
        TACIT_TRY(dptree_nodes_read(out[k], plan->features, parts + 3 * at, thresholds + at, error));
        at += out[k]->nodes;
    }
    return TACIT_OK;
}

static void free_trees(tacit_tree **trees, size_t count) {
    for (size_t k = 0; trees != NULL && k < count; k++) tacit_tree_free(trees[k]);
    free(trees);
}

/* A party's stack. */
static tacit_status read_stack(tacit_model **out, const tacit_plan *plan, const stacking *how,
                               const tacit_message *message, tacit_error *error) {
    tacit_tree **trees = TACIT_NEW(tacit_tree *, how->stack->members);
    tacit_model *model = NULL;
    const double *weights;
    tacit_status status = trees != NULL ? TACIT_OK : tacit_fail_memory(error);
    TACIT_CHECK(status);
    TACIT_CHECK(read_trees(trees, plan, how, message, error));
    TACIT_CHECK(stacking_model(&model, plan, how, (const tacit_tree *const *)trees, error));
    TACIT_CHECK(tacit_message_numbers(message, "weights", tacit_model_size(model), &weights, error));
    memcpy(model->weights, weights, tacit_model_size(model) * sizeof *weights);
    *out = model;
    model = NULL;
cleanup:
    tacit_model_free(model);
    free_trees(trees, how->stack->members);
    return status;
}

tacit_status stacking_trees_usable(const tacit_plan *plan, const tacit_message *answer, tacit_error *error) {
    stacking how = STACKING_INIT;
    tacit_model *model = NULL;
    tacit_status status = stacking_of_blocks(&how, plan, error);
    if (status == TACIT_OK) {
        status = read_stack(&model, plan, &how, answer, error);
        if (status == TACIT_INPUT) status = TACIT_PROTOCOL;
    }
    tacit_model_free(model);
    stacking_clear(&how);
    return status;
}

size_t stacking_trees_numbers(const tacit_plan *plan) {
    stacking how = STACKING_INIT;
    size_t numbers = 0;
    if (stacking_has_trees(plan) && stacking_of_blocks(&how, plan, NULL) == TACIT_OK)
        numbers = tacit_stack_size(how.stack) + how.stack->members * (1 + 5 * most_nodes(&how));
    stacking_clear(&how);
    return numbers;
}

/* The members of part p, behind those of the parts before it. */
static tacit_status join_part(tacit_stack *out, const tacit_stack *part, size_t p, tacit_error *error) {
    for (size_t k = 0, to = p * part->members; k < part->members; k++, to++) {
        const size_t width = part->start[k + 1] - part->start[k];
        out->start[to + 1] = out->start[to] + width;
        out->scale[to] = part->scale[k];
        memcpy(out->column + out->start[to], part->column + part->start[k], width * sizeof *out->column);
        tacit_tree *tree = NULL;
        if (tacit_stack_tree(part, k) == NULL) continue;
        TACIT_TRY(tacit_tree_copy(&tree, part->tree[k], error));
        TACIT_TRY(tacit_stack_plant(out, to, tree, error));
    }
    return TACIT_OK;
}

/* All parties' members as one stack. */
static tacit_status pool(tacit_model **out, tacit_model *const *parts, size_t count, tacit_error *error) {
    const tacit_model *first = parts[0];
    const size_t members = first->stack->members;
    size_t places = 0, at = 0;
    tacit_stack *stack = NULL;
    tacit_model *model = NULL;
    tacit_status status;
    for (size_t p = 0; p < count; p++) places += tacit_stack_low_size(parts[p]->stack);
    TACIT_CHECK(tacit_stack_create(&stack, count * members, places, error));
    stack->combiner = first->stack->combiner;
    stack->is_centered = first->stack->is_centered;
    for (size_t p = 0; p < count; p++) TACIT_CHECK(join_part(stack, parts[p]->stack, p, error));
    status = tacit_model_create_stack(&model, stack, first->features, error);
    stack = NULL;
    TACIT_CHECK(status);
    model->family = first->family;
    model->shape = first->shape;
    for (size_t p = 0; p < count; p++) {
        const size_t low = tacit_stack_low_size(parts[p]->stack), size = tacit_model_size(parts[p]);
        memcpy(model->weights + at, parts[p]->weights, low * sizeof *model->weights);
        at += low;
        for (size_t k = low; k < size; k++)
            model->weights[places + p * members + k - low] = parts[p]->weights[k] / sqrt((double)count);
    }
    *out = model;
cleanup:
    tacit_stack_free(stack);
    return status;
}

tacit_status stacking_trees_coordinate(tacit_session *session, tacit_outcome *out, tacit_error *error) {
    const tacit_plan *plan = session->plan;
    stacking how = STACKING_INIT;
    tacit_answers answers = TACIT_ANSWERS_INIT;
    tacit_model **parts = NULL, *model = NULL;
    tacit_status status;
    TACIT_CHECK(stacking_of_blocks(&how, plan, error));
    TACIT_CHECK(tacit_ask(session, "members", NULL, &answers, error));
    parts = TACIT_NEW(tacit_model *, answers.count);
    if (parts == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t i = 0; i < answers.count; i++)
        TACIT_CHECK(read_stack(&parts[i], plan, &how, &answers.answer[i].message, error));
    TACIT_CHECK(pool(&model, parts, answers.count, error));
    out->parties = answers.count;
    status = tacit_outcome_add(out, model, error);
cleanup:
    for (size_t i = 0; parts != NULL && i < answers.count; i++) tacit_model_free(parts[i]);
    free(parts);
    tacit_answers_clear(&answers);
    stacking_clear(&how);
    return status;
}
