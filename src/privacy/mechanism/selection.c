#include "privacy/mechanism/selection.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "privacy/mechanism/mechanism_parts.h"
#include "privacy/mechanism/selection_parts.h"

#define CHOICES_MOST ((size_t)1 << 30) /* so that choices times sensitivity is exact in a double */
#define DIFFERENCE_MOST ((int64_t)1 << 53)

/* The candidates that are left: `index[0..left-1]`, their scores in `steps`. Those refused by
 * permute-and-flip in the current choice lie behind the ones still to be asked. */
typedef struct field {
    const tacit_noise_source *source;
    size_t left;
    size_t *index;
    int64_t *steps;
    double scale; /* b in steps */
} field;

static tacit_status check(const tacit_selection *selection, tacit_error *error) {
    TACIT_TRY(tacit_price_check(&selection->price, error));
    if (!(selection->sensitivity > 0) || !isfinite(selection->sensitivity))
        return tacit_fail(error, TACIT_USAGE, "a sensitivity must be positive and finite, not %g",
                          selection->sensitivity);
    if (selection->choices == 0 || selection->choices > CHOICES_MOST)
        return tacit_fail(error, TACIT_USAGE, "nobody can choose %zu candidates", selection->choices);
    if (selection->rule != TACIT_SELECT_EXPONENTIAL && selection->rule != TACIT_SELECT_PERMUTE_AND_FLIP &&
        selection->rule != TACIT_SELECT_NOISY_MAX)
        return tacit_fail(error, TACIT_USAGE, "unknown rule of selection %d", (int)selection->rule);
    return TACIT_OK;
}

/* b in steps, rounded up; 0 for an infinite epsilon. */
static tacit_status scale_in_steps(double *out, const tacit_selection *selection,
                                   const tacit_score_grid *grid, tacit_error *error) {
    double shift = (double)grid->sensitivity * (selection->monotone ? 1 : 2) * (double)selection->choices;
    *out = selection->price.epsilon == INFINITY ? 0 : nextafter(shift / selection->price.epsilon, INFINITY);
    if (!isfinite(*out))
        return tacit_fail(error, TACIT_USAGE, "sensitivity %g at epsilon %g asks for impossible noise",
                          selection->sensitivity, selection->price.epsilon);
    return TACIT_OK;
}

tacit_status tacit_selection_scale(double *out, const tacit_selection *selection, tacit_error *error) {
    double scale = 0;
    TACIT_TRY(check(selection, error));
    tacit_score_grid grid = tacit_score_grid_for(selection->sensitivity);
    if (selection->price.epsilon == INFINITY)
        return tacit_fail(error, TACIT_USAGE, "an infinite epsilon has no noise");
    TACIT_TRY(scale_in_steps(&scale, selection, &grid, error));
    scale = nextafter(ldexp(scale, -grid.bits), INFINITY);
    if (!isfinite(scale))
        return tacit_fail(error, TACIT_USAGE, "sensitivity %g at epsilon %g asks for impossible noise",
                          selection->sensitivity, selection->price.epsilon);
    *out = scale;
    return TACIT_OK;
}

static void swap(field *among, size_t a, size_t b) {
    size_t index = among->index[a];
    int64_t steps = among->steps[a];
    among->index[a] = among->index[b];
    among->steps[a] = among->steps[b];
    among->index[b] = index;
    among->steps[b] = steps;
}

static int64_t highest(const field *among) {
    int64_t most = among->steps[0];
    for (size_t i = 1; i < among->left; i++)
        if (among->steps[i] > most) most = among->steps[i];
    return most;
}

/* Scores are within 2^61 either way, so that their difference fits; cut at 2^53 it is exact in a double. */
static tacit_status flip(bool *out, const field *among, size_t at, int64_t most, tacit_error *error) {
    int64_t difference = most - among->steps[at];
    if (difference > DIFFERENCE_MOST) difference = DIFFERENCE_MOST;
    return tacit_coin_exp(out, among->source, (double)difference, among->scale, error);
}

static tacit_status choose_exponential(size_t *out, field *among, tacit_error *error) {
    const int64_t most = highest(among);
    for (;;) {
        size_t at;
        bool kept;
        TACIT_TRY(tacit_coin_below(&at, among->source, among->left, error));
        TACIT_TRY(flip(&kept, among, at, most, error));
        if (!kept) continue;
        *out = at;
        return TACIT_OK;
    }
}

/* The highest wins its coin for certain, so somebody wins before all are asked. */
static tacit_status choose_by_flips(size_t *out, field *among, tacit_error *error) {
    const int64_t most = highest(among);
    for (size_t asked = among->left;; asked--) {
        size_t at;
        bool kept;
        TACIT_TRY(tacit_coin_below(&at, among->source, asked, error));
        TACIT_TRY(flip(&kept, among, at, most, error));
        if (kept) {
            *out = at;
            return TACIT_OK;
        }
        swap(among, at, asked - 1);
    }
}

static tacit_status choose_all(tacit_selected *selected, field *among, tacit_selection_rule rule,
                               tacit_error *error) {
    for (size_t i = 0; i < selected->count; i++) {
        size_t at = 0;
        if (rule == TACIT_SELECT_EXPONENTIAL)
            TACIT_TRY(choose_exponential(&at, among, error));
        else
            TACIT_TRY(choose_by_flips(&at, among, error));
        selected->indices[i] = among->index[at];
        swap(among, at, --among->left);
    }
    return TACIT_OK;
}

static tacit_status check_scores(const tacit_selection *selection, const double *scores, size_t count,
                                 tacit_error *error) {
    if (count == 0) return tacit_fail(error, TACIT_USAGE, "there is nothing to choose from");
    if (selection->choices > count)
        return tacit_fail(error, TACIT_USAGE, "%zu choices among %zu candidates", selection->choices, count);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(scores[i])) return tacit_fail(error, TACIT_INPUT, "score %zu is not finite", i + 1);
    return TACIT_OK;
}

tacit_status tacit_selection_release(tacit_selected **out, const tacit_noise_source *source,
                                     const tacit_selection *selection, const double *scores, size_t count,
                                     tacit_error *error) {
    TACIT_TRY(check(selection, error));
    TACIT_TRY(tacit_selection_price_check(source, &selection->price, error));
    TACIT_TRY(check_scores(selection, scores, count, error));
    const tacit_score_grid grid = tacit_score_grid_for(selection->sensitivity);
    field among = { .source = source, .left = count };
    tacit_selected *selected = NULL;
    tacit_status status;
    TACIT_CHECK(scale_in_steps(&among.scale, selection, &grid, error));
    TACIT_CHECK(tacit_selected_create(&selected, selection->choices, error));
    among.index = TACIT_NEW(size_t, count);
    among.steps = TACIT_NEW(int64_t, count);
    TACIT_CHECK(among.index != NULL && among.steps != NULL ? TACIT_OK : tacit_fail_memory(error));
    for (size_t i = 0; i < count; i++) {
        among.index[i] = i;
        among.steps[i] = tacit_score_steps(scores[i], &grid);
    }
    TACIT_CHECK(choose_all(selected, &among, selection->rule, error));
    selected->grade = tacit_selection_grade(source, &selection->price);
    *out = selected;
    selected = NULL;
cleanup:
    tacit_selected_free(selected);
    free(among.index);
    free(among.steps);
    return status;
}

tacit_status tacit_selected_noised(tacit_noised **out, const tacit_selected *selected, int grid_bits,
                                   tacit_error *error) {
    tacit_noised *noised = NULL;
    if (grid_bits < 0 || grid_bits > 61)
        return tacit_fail(error, TACIT_USAGE, "an index has no place on a grid of 2^%d", -grid_bits);
    TACIT_TRY(tacit_noised_create(&noised, selected->count, grid_bits, error));
    for (size_t i = 0; i < selected->count; i++)
        noised->steps[i] = (int64_t)((uint64_t)selected->indices[i] << grid_bits);
    noised->grade = selected->grade;
    noised->price.epsilon = NAN; /* equal to no price: what it costs is said by whoever joins it to others */
    *out = noised;
    return TACIT_OK;
}
