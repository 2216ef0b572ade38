#include "method/private/stacking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- noise ---- */

static tacit_erm erm_of(const tacit_plan *plan, const stacking *how, size_t rows, size_t dimension,
                        double lambda) {
    return (tacit_erm){ .rows = rows,
                        .dimension = dimension,
                        .lambda = lambda,
                        .curvature = perturb_curvature(plan),
                        .radius = 1,
                        .epsilon = how->epsilon,
                        .calibration = perturb_calibration(plan) };
}

static size_t width_of(const stacking *how, size_t member) {
    return how->stack->start[member + 1] - how->stack->start[member];
}

static double prior_norm(const stacking *how, size_t member) {
    double square = 0;
    for (size_t c = how->stack->start[member]; how->prior != NULL && c < how->stack->start[member + 1]; c++)
        square += how->prior[c] * how->prior[c];
    return sqrt(square);
}

/* Rows of block k of `low`. */
static size_t block_start(const stacking *how, size_t low, size_t member) {
    return low * member / how->stack->members;
}

static size_t member_rows(const stacking *how, size_t low, size_t member) {
    return how->by_rows ? block_start(how, low, member + 1) - block_start(how, low, member) : low;
}

tacit_status stacking_noise(tacit_objective_noise *out, const tacit_plan *plan, const stacking *how,
                            size_t low, tacit_error *error) {
    size_t members = how->stack->members;
    for (size_t k = 0; how->by_rows && k < members; k++) {
        if (stacking_is_tree(how, k)) continue;
        tacit_erm erm = erm_of(plan, how, member_rows(how, low, k), width_of(how, k), how->lambda[k]);
        TACIT_TRY(tacit_objective_noise_for(&out[k], &erm, TACIT_LAW_GAMMA_NORM, error));
    }
    if (how->by_rows) return TACIT_OK;
    tacit_erm erm = erm_of(plan, how, low, 1, plan->lambda);
    tacit_erm_group *groups = TACIT_NEW(tacit_erm_group, members);
    if (groups == NULL) return tacit_fail_memory(error);
    for (size_t k = 0; k < members; k++)
        groups[k] =
            (tacit_erm_group){ width_of(how, k), how->lambda[k], how->stack->scale[k], prior_norm(how, k) };
    tacit_status status = tacit_group_noise_for(out, &erm, groups, members, error);
    free(groups);
    return status;
}

static tacit_status high_noise(tacit_objective_noise *out, const tacit_plan *plan, const stacking *how,
                               size_t rows, tacit_error *error) {
    tacit_erm erm = erm_of(plan, how, rows, how->stack->members, how->high_lambda);
    return tacit_objective_noise_for(out, &erm, TACIT_LAW_GAMMA_NORM, error);
}

tacit_status stacking_check(const tacit_plan *plan, const stacking *how, tacit_error *error) {
    if (plan->classes != 2)
        return tacit_fail(error, TACIT_USAGE,
                          "method %s is for two classes and the label has %zu: use method output",
                          plan->method->name, plan->classes);
    TACIT_TRY(perturb_check(plan, error));
    size_t low = stacking_low_rows(how, plan->minimum_rows), members = how->stack->members;
    size_t needed = how->by_rows ? members : 1;
    if (low < needed || (!how->takes_all_rows && low >= plan->minimum_rows))
        return tacit_fail(error, TACIT_USAGE,
                          "method %s needs more than the %zu rows that a party may have at least: raise the "
                          "minimum, or set fewer members",
                          plan->method->name, plan->minimum_rows);
    tacit_sum_spec unused;
    return stacking_sum(plan, how, &unused, error);
}

/* ---- the sum ---- */

/* Far beyond every number of the stack, for a party of the fewest rows. */
static tacit_status largest_number(const tacit_plan *plan, const stacking *how, double *out,
                                   tacit_error *error) {
    size_t members = how->stack->members, low = stacking_low_rows(how, plan->minimum_rows);
    *out = how->takes_all_rows ? 0 : 1.01 / how->high_lambda;
    for (size_t k = 0; k < members; k++)
        *out = fmax(*out, prior_norm(how, k) + 1.01 * how->stack->scale[k] / how->lambda[k]);
    if (isinf(how->epsilon)) return TACIT_OK;
    tacit_objective_noise *noise = TACIT_NEW(tacit_objective_noise, members + 1);
    if (noise == NULL) return tacit_fail_memory(error);
    tacit_status status = stacking_noise(noise, plan, how, low, error);
    if (status == TACIT_OK && !how->takes_all_rows)
        status = high_noise(&noise[members], plan, how, plan->minimum_rows - low, error);
    *out = 0;
    for (size_t k = 0; k <= members; k++) *out = fmax(*out, noise[k].largest);
    free(noise);
    return status;
}

tacit_status stacking_sum(const tacit_plan *plan, const stacking *how, tacit_sum_spec *out,
                          tacit_error *error) {
    double largest;
    TACIT_TRY(largest_number(plan, how, &largest, error));
    const size_t length = tacit_stack_size(how->stack);
    const bool released = length > 0; /* else all is trees, and their votes count */
    return tacit_sum_spec_for(out, released ? length : 1, released ? 2 * largest : 1, plan->parties, error);
}

/* ---- one model of some rows ---- */

/* What a fit works on: rows with their labels, in the order of the rows. */
typedef struct fitting {
    tacit_party *party;
    const tacit_sum_spec *spec;
} fitting;

/* out = b/n */
static tacit_status draw_linear_term(const fitting *self, const tacit_objective_noise *noise, size_t count,
                                     size_t rows, double *out, tacit_error *error) {
    tacit_noised *drawn = NULL;
    for (size_t j = 0; j < count; j++) out[j] = 0;
    TACIT_TRY(tacit_mechanism_release_at(&drawn, &self->party->noise, &noise->law, noise->scale, out, count,
                                         noise->grid_bits, noise->bound, error));
    for (size_t j = 0; j < count; j++)
        out[j] = ldexp((double)tacit_noised_steps(drawn)[j], -noise->grid_bits) / (double)rows;
    tacit_noised_free(drawn);
    return TACIT_OK;
}

/* Fit with noise in the objective, then release with the last noise; `noise` NULL: exactly, at `lambda`. */
static tacit_status fit_and_release(const fitting *self, const tacit_view *rows, double lambda,
                                    const tacit_objective_noise *noise, const double *prior,
                                    tacit_noised **out, tacit_error *error) {
    tacit_party *party = self->party;
    size_t count = rows->rows.cols;
    double *linear = TACIT_NEW(double, count);
    tacit_mechanism none = { TACIT_LAW_GAMMA_NORM, 1, { TACIT_UNIT_RECORD, INFINITY, 0 } };
    tacit_model *model = NULL;
    tacit_status status = linear != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) return status;
    if (noise != NULL) TACIT_CHECK(draw_linear_term(self, noise, count, rows->rows.count, linear, error));
    tacit_linear_fit fit = { .lambda = noise != NULL ? noise->lambda : lambda,
                             .family = perturb_family(party->plan),
                             .shape = perturb_shape(party->plan),
                             .linear = noise != NULL ? linear : NULL,
                             .prior = prior,
                             .gradient_tolerance = noise != NULL ? noise->tolerance : 1e-9,
                             .best_effort = true,
                             .total_rows = rows->rows.count,
                             .pool = party->pool };
    TACIT_CHECK(tacit_model_fit_linear(&model, rows, &fit, error));
    TACIT_CHECK(tacit_mechanism_release(out, &party->noise, noise != NULL ? &noise->last : &none,
                                        model->weights, count, self->spec->grid_bits, self->spec->bound,
                                        error));
cleanup:
    tacit_model_free(model);
    free(linear);
    return status;
}

/* ---- the party's rows, in the stack's order ---- */

typedef struct ordered {
    uint32_t *index; /* stored rows of the party, in that order */
    int32_t *label;  /* of each */
    size_t count, low;
} ordered;

static void ordered_clear(ordered *rows) {
    free(rows->index);
    free(rows->label);
}

static tacit_status order_rows(ordered *out, const tacit_party *party, const stacking *how,
                               tacit_error *error) {
    size_t count = party->rows.rows.count, *order = TACIT_NEW(size_t, count);
    ordered made = { TACIT_NEW(uint32_t, count), TACIT_NEW(int32_t, count), count,
                     stacking_low_rows(how, count) };
    if (order == NULL || made.index == NULL || made.label == NULL) {
        free(order);
        ordered_clear(&made);
        return tacit_fail_memory(error);
    }
    stacking_order(how, order, count);
    for (size_t i = 0; i < count; i++) {
        made.index[i] = (uint32_t)tacit_rows_stored(&party->rows.rows, order[i]);
        made.label[i] = tacit_view_label(&party->rows, order[i]);
    }
    free(order);
    *out = made;
    return TACIT_OK;
}

static tacit_rows some_rows(const tacit_party *party, const ordered *rows, size_t begin, size_t count) {
    tacit_rows some = party->rows.rows;
    some.index = rows->index + begin;
    some.first = 0;
    some.count = count;
    return some;
}

/* ---- the two levels ---- */

static void note_grade(stacking_released *released, tacit_noise grade) {
    if (grade < released->grade) released->grade = grade;
}

static tacit_status fit_member(const fitting *self, const stacking *how, const ordered *rows, size_t member,
                               const tacit_objective_noise *noise, stacking_released *released,
                               tacit_error *error) {
    size_t begin = how->by_rows ? block_start(how, rows->low, member) : 0;
    tacit_rows all = some_rows(self->party, rows, begin, member_rows(how, rows->low, member));
    tacit_stack_rows own = TACIT_STACK_ROWS_INIT;
    if (stacking_is_tree(how, member)) {
        tacit_noise grade = TACIT_NOISE_NONE;
        TACIT_TRY(stacking_grow(&released->tree[member], self->party, how, &all, &grade, error));
        note_grade(released, grade);
        return TACIT_OK;
    }
    TACIT_TRY(tacit_stack_member_rows(&own, how->stack, member, &all, error));
    tacit_view view = { .rows = own.rows, .label = rows->label + begin, .classes = 2 };
    const double *prior = how->prior != NULL ? how->prior + how->stack->start[member] : NULL;
    tacit_status status =
        fit_and_release(self, &view, how->lambda[member], noise, prior, &released->part[member], error);
    if (status == TACIT_OK) note_grade(released, tacit_noised_grade(released->part[member]));
    tacit_stack_rows_clear(&own);
    return status;
}

/* The high model sees the members as they were released. */
static tacit_status fit_high(const fitting *self, const stacking *how, const ordered *rows,
                             stacking_released *released, tacit_error *error) {
    tacit_rows others = some_rows(self->party, rows, rows->low, rows->count - rows->low);
    const tacit_plan *plan = self->party->plan;
    tacit_noised **out = &released->part[how->stack->members];
    tacit_matrix meta = TACIT_MATRIX_INIT;
    tacit_objective_noise noise;
    tacit_model *model = NULL;
    tacit_status status;
    TACIT_CHECK(stacking_compose(&model, plan, how, released, self->spec->grid_bits, error));
    TACIT_CHECK(tacit_stack_meta(model->stack, model->weights, &others, &meta, error));
    bool noisy = isfinite(how->epsilon);
    if (noisy) TACIT_CHECK(high_noise(&noise, plan, how, others.count, error));
    tacit_view view = { .rows = tacit_rows_of_matrix(&meta), .label = rows->label + rows->low, .classes = 2 };
    TACIT_CHECK(fit_and_release(self, &view, how->high_lambda, noisy ? &noise : NULL, NULL, out, error));
    note_grade(released, tacit_noised_grade(*out));
cleanup:
    tacit_matrix_clear(&meta);
    tacit_model_free(model);
    return status;
}

void stacking_released_clear(stacking_released *released) {
    for (size_t p = 0; released->part != NULL && p <= released->members; p++)
        tacit_noised_free(released->part[p]);
    for (size_t k = 0; released->tree != NULL && k < released->members; k++)
        tacit_model_free(released->tree[k]);
    free(released->part);
    free(released->tree);
    *released = (stacking_released){ .members = 0 };
}

tacit_status stacking_release(stacking_released *out, tacit_party *party, const stacking *how,
                              const tacit_sum_spec *spec, tacit_error *error) {
    const size_t members = how->stack->members;
    fitting self = { .party = party, .spec = spec };
    ordered rows = { NULL, NULL, 0, 0 };
    tacit_objective_noise *noise = TACIT_NEW(tacit_objective_noise, members);
    tacit_status status = TACIT_OK;
    *out = (stacking_released){ .members = members,
                                .part = TACIT_NEW(tacit_noised *, members + 1),
                                .tree = TACIT_NEW(tacit_model *, members),
                                .grade = TACIT_NOISE_EXACT };
    if (noise == NULL || out->part == NULL || out->tree == NULL) TACIT_CHECK(tacit_fail_memory(error));
    if (party->reducer != NULL || party->total_rows != party->rows.rows.count)
        TACIT_CHECK(tacit_fail(error, TACIT_REFUSED, "method %s needs all rows of a party in one place",
                               party->plan->method->name));
    TACIT_CHECK(order_rows(&rows, party, how, error));
    bool noisy = isfinite(how->epsilon);
    if (noisy) TACIT_CHECK(stacking_noise(noise, party->plan, how, rows.low, error));
    for (size_t k = 0; k < members; k++)
        TACIT_CHECK(fit_member(&self, how, &rows, k, noisy ? &noise[k] : NULL, out, error));
    if (!how->takes_all_rows) TACIT_CHECK(fit_high(&self, how, &rows, out, error));
cleanup:
    free(noise);
    ordered_clear(&rows);
    return status;
}

tacit_status stacking_answer(tacit_party *party, const stacking *how, const tacit_sum_spec *spec,
                             tacit_noised **out, tacit_error *error) {
    stacking_released released;
    tacit_status status = stacking_release(&released, party, how, spec, error);
    if (status == TACIT_OK)
        status = tacit_noised_join(out, (const tacit_noised *const *)released.part,
                                   released.members + !how->takes_all_rows, error);
    stacking_released_clear(&released);
    return status;
}

/* ---- as a model ---- */

/* Where a member's features and numbers go; of a tree, only places for its nodes. */
static tacit_status place_member(tacit_stack *out, const stacking *how, size_t k, const tacit_tree *tree,
                                 tacit_error *error) {
    const tacit_stack *from = how->stack;
    const size_t width = tree != NULL ? tree->nodes : width_of(how, k);
    out->scale[k] = from->scale[k];
    out->start[k + 1] = out->start[k] + width;
    if (tree == NULL) {
        memcpy(out->column + out->start[k], from->column + from->start[k], width * sizeof *out->column);
        return TACIT_OK;
    }
    tacit_tree *copy = NULL;
    TACIT_TRY(tacit_tree_copy(&copy, tree, error));
    return tacit_stack_plant(out, k, copy, error);
}

tacit_status stacking_model(tacit_model **out, const tacit_plan *plan, const stacking *how,
                            const tacit_tree *const *trees, tacit_error *error) {
    const tacit_stack *from = how->stack;
    size_t places = 0;
    tacit_stack *stack = NULL;
    for (size_t k = 0; k < from->members; k++)
        places += trees[k] != NULL ? trees[k]->nodes : width_of(how, k);
    TACIT_TRY(tacit_stack_create(&stack, from->members, places, error));
    stack->combiner = from->combiner;
    stack->rows_normalised = from->rows_normalised;
    stack->is_centered = from->is_centered;
    for (size_t k = 0; k < from->members; k++) {
        tacit_status status = place_member(stack, how, k, trees[k], error);
        if (status == TACIT_OK) continue;
        tacit_stack_free(stack);
        return status;
    }
    TACIT_TRY(tacit_model_create_stack(out, stack, plan->features, error));
    (*out)->family = perturb_family(plan);
    (*out)->shape = perturb_shape(plan);
    return TACIT_OK;
}

/* Numbers as they were released. */
static void copy_steps(double *out, const tacit_noised *from, int grid_bits) {
    for (size_t j = 0; j < tacit_noised_count(from); j++)
        out[j] = ldexp((double)tacit_noised_steps(from)[j], -grid_bits);
}

tacit_status stacking_compose(tacit_model **out, const tacit_plan *plan, const stacking *how,
                              const stacking_released *released, int grid_bits, tacit_error *error) {
    const size_t members = released->members;
    const tacit_tree **trees = TACIT_NEW(const tacit_tree *, members);
    if (trees == NULL) return tacit_fail_memory(error);
    for (size_t k = 0; k < members; k++)
        trees[k] = released->tree[k] != NULL ? released->tree[k]->tree : NULL;
    tacit_status status = stacking_model(out, plan, how, trees, error);
    free(trees);
    TACIT_TRY(status);
    const size_t *start = (*out)->stack->start;
    for (size_t k = 0; k <= members; k++) {
        double *at = (*out)->weights + start[k];
        if (released->part[k] != NULL)
            copy_steps(at, released->part[k], grid_bits);
        else if (k < members && released->tree[k] != NULL)
            memcpy(at, released->tree[k]->weights, (start[k + 1] - start[k]) * sizeof *at);
    }
    return TACIT_OK;
}

/* ---- the coordinator ---- */

static tacit_status finish_one(tacit_model **out, const tacit_plan *plan, tacit_error *error) {
    TACIT_TRY(tacit_model_create(out, perturb_family(plan), plan->features, 2, error));
    (*out)->shape = perturb_shape(plan);
    return TACIT_OK;
}

tacit_status stacking_finish(const tacit_plan *plan, const stacking *how, const tacit_sum *sum,
                             tacit_outcome *out, tacit_error *error) {
    const size_t members = how->stack->members;
    const tacit_tree **none = TACIT_NEW(const tacit_tree *, members);
    tacit_model *model = NULL;
    if (none == NULL) return tacit_fail_memory(error);
    tacit_status status =
        members == 1 ? finish_one(&model, plan, error) : stacking_model(&model, plan, how, none, error);
    free(none);
    TACIT_TRY(status);
    for (size_t j = 0; j < sum->length; j++) model->weights[j] = sum->values[j] / (double)sum->parties;
    out->parties = sum->parties;
    return tacit_outcome_add(out, model, error);
}

/* That of the counts that trees are made of. */
static tacit_noise_law tree_law(const stacking *how) {
    const dpnewton_release *first = &how->design.release[0];
    const size_t numbers = how->design.sum[0].length;
    return (tacit_noise_law){
        .law = "Gaussian N(0, s^2), in every step of a tree; s of the first, largest",
        .added_to = "the counts of each block that a tree is made of",
        .dimension = numbers,
        .sensitivity = first->mechanism.sensitivity,
        .scale = first->scale,
        .mean_norm = first->deviation * sqrt((double)numbers),
        .norm_in = "the counts of a tree's first step",
    };
}

/* As for plr, over the members: the norm in the weights is at most that of b_k/(n (lambda_k + Delta_k)). */
tacit_status stacking_law(const tacit_plan *plan, const stacking *how, tacit_noise_law *out,
                          tacit_error *error) {
    size_t members = how->stack->members, low = stacking_low_rows(how, plan->minimum_rows);
    double square = 0;
    if (how->is_tree != NULL) {
        *out = tree_law(how);
        return TACIT_OK;
    }
    tacit_objective_noise *noise = TACIT_NEW(tacit_objective_noise, members);
    if (noise == NULL) return tacit_fail_memory(error);
    tacit_status status = stacking_noise(noise, plan, how, low, error);
    for (size_t k = 0; status == TACIT_OK && k < members; k++) {
        double d = (double)width_of(how, k), n = (double)member_rows(how, low, k);
        square += d * (d + 1) * pow(noise[k].scale / (n * noise[k].lambda), 2);
    }
    if (status == TACIT_OK)
        *out = (tacit_noise_law){
            .law = "gamma-norm G(d_k, s)",
            .added_to = "n times the gradient of each member's objective, and the same for the high model's",
            .dimension = tacit_stack_low_size(how->stack),
            .sensitivity = 2,
            .scale = noise[0].scale,
            .mean_norm = sqrt(square / (double)plan->parties),
            .norm_in = "the members' weights",
            .in_objective = true,
        };
    free(noise);
    return status;
}
