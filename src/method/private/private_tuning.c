#include "method/private/private_tuning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema/text.h"

/* ---- the settings ---- */

/* Candidate i of the list; false past its end, or for a word that is no positive number. */
static bool candidate(const tacit_plan *plan, size_t i, double *out) {
    const char *at = perturb_settings_of(plan)->candidates;
    for (; i > 0 && *at != 0; i--) {
        at += strcspn(at, ",");
        at += *at == ',';
    }
    return *at != 0 && tacit_text_to_number(at, strcspn(at, ","), out) && *out > 0 && isfinite(*out);
}

static size_t words(const char *list) {
    size_t count = 1;
    for (; *list != 0; list++) count += *list == ',';
    return count;
}

size_t choosing_count(const tacit_plan *plan) {
    const char *candidates = perturb_settings_of(plan)->candidates;
    return strcmp(candidates, "none") != 0 ? words(candidates) : 0;
}

double choosing_epsilon(const tacit_plan *plan) {
    static const char private[] = "private:";
    double epsilon = 0;
    if (choosing_count(plan) == 0) return 0;
    const char *text = perturb_settings_of(plan)->select;
    if (strncmp(text, private, sizeof private - 1) != 0) return NAN;
    text += sizeof private - 1;
    if (!tacit_text_to_number(text, strlen(text), &epsilon) || !(epsilon > 0)) return NAN;
    return isinf(plan->epsilon) ? INFINITY : epsilon;
}

tacit_plan choosing_plan(const tacit_plan *plan, size_t i) {
    tacit_plan chosen = *plan;
    candidate(plan, i, &chosen.lambda);
    perturb_settings *settings = (perturb_settings *)chosen.settings.values;
    memcpy(settings->candidates, perturb_defaults.candidates, sizeof settings->candidates);
    memcpy(settings->select, perturb_defaults.select, sizeof settings->select);
    return chosen;
}

tacit_price choosing_price(const tacit_plan *plan) {
    double extra = choosing_epsilon(plan);
    return (tacit_price){ TACIT_UNIT_RECORD, extra > 0 ? tacit_add_up(plan->epsilon, extra) : plan->epsilon,
                          0 };
}

tacit_status choosing_prices(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                             tacit_error *error) {
    (void)prepared;
    (void)error;
    out->charged = out->claimed = choosing_price(plan);
    return TACIT_OK;
}

tacit_status choosing_check(const tacit_plan *plan, tacit_error *error) {
    const char *name = plan->method->name;
    size_t count = choosing_count(plan);
    double epsilon = choosing_epsilon(plan), lambda;
    if (count == 0 && strcmp(perturb_settings_of(plan)->select, "none") != 0)
        return tacit_fail(error, TACIT_USAGE,
                          "select=%s of method %s has nothing to choose from: set candidates=l1,l2,...",
                          perturb_settings_of(plan)->select, name);
    if (count == 0) return TACIT_OK;
    if (!(epsilon > 0))
        return tacit_fail(error, TACIT_USAGE,
                          "choosing among candidates of method %s looks at private rows and must be paid "
                          "for: set select=private:E with E above 0",
                          name);
    if (count < 2 || count > CHOOSING_MOST)
        return tacit_fail(error, TACIT_USAGE, "method %s chooses among 2 to %d candidates, not %zu", name,
                          (int)CHOOSING_MOST, count);
    for (size_t i = 0; i < count; i++)
        if (!candidate(plan, i, &lambda))
            return tacit_fail(error, TACIT_USAGE, "candidate %zu of method %s is not a number above 0", i + 1,
                              name);
    if (plan->parties != 1)
        return tacit_fail(error, TACIT_USAGE,
                          "method %s chooses among candidates for one party, not %zu: choose on public rows",
                          name, plan->parties);
    if (plan->minimum_rows < 4 * (count + 1))
        return tacit_fail(error, TACIT_USAGE, "%zu rows are too few to choose among %zu candidates",
                          plan->minimum_rows, count);
    return TACIT_OK;
}

/* ---- the choice ---- */

/* The party's rows in a public order, to be cut into parts. */
static tacit_status order_rows(uint32_t **out, const tacit_party *party, tacit_error *error) {
    size_t rows = party->rows.rows.count, *order = TACIT_NEW(size_t, rows);
    uint32_t *index = TACIT_NEW(uint32_t, rows);
    tacit_stream root = tacit_stream_from_seed(0),
                 stream = tacit_stream_fork(&root, "choice of lambda", rows, 0);
    if (order == NULL || index == NULL) {
        free(order);
        free(index);
        return tacit_fail_memory(error);
    }
    tacit_stream_permutation(&stream, order, rows);
    for (size_t i = 0; i < rows; i++) index[i] = (uint32_t)tacit_rows_stored(&party->rows.rows, order[i]);
    free(order);
    *out = index;
    return TACIT_OK;
}

static tacit_view part_of(const tacit_party *party, const uint32_t *index, size_t part, size_t parts) {
    size_t rows = party->rows.rows.count, begin = rows * part / parts;
    tacit_view view = party->rows;
    view.rows.index = index + begin;
    view.rows.first = 0;
    view.rows.count = rows * (part + 1) / parts - begin;
    return view;
}

/* The method at (E, lambda_i) on the rows of one block. */
static tacit_status fit_block(tacit_model **out, const tacit_party *party, const tacit_view *block, size_t i,
                              stacking_maker *make, tacit_error *error) {
    tacit_plan plan = choosing_plan(party->plan, i);
    tacit_party part = *party;
    stacking how = STACKING_INIT;
    tacit_sum_spec spec;
    tacit_noised *noised = NULL;
    tacit_sum sum = TACIT_SUM_INIT;
    tacit_outcome outcome = TACIT_OUTCOME_INIT;
    tacit_status status;
    plan.epsilon = choosing_epsilon(party->plan);
    plan.minimum_rows = part.total_rows = block->rows.count;
    part.plan = &plan;
    part.rows = *block;
    part.memo = NULL;
    TACIT_CHECK(make(&how, &plan, error));
    TACIT_CHECK(stacking_check(&plan, &how, error));
    TACIT_CHECK(stacking_sum(&plan, &how, &spec, error));
    TACIT_CHECK(stacking_answer(&part, &how, &spec, &noised, error));
    sum = (tacit_sum){ TACIT_NEW(double, spec.length), spec.length, 1 };
    if (sum.values == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (size_t j = 0; j < spec.length; j++)
        sum.values[j] = ldexp((double)tacit_noised_steps(noised)[j], -spec.grid_bits);
    TACIT_CHECK(stacking_finish(&plan, &how, &sum, &outcome, error));
    *out = outcome.models[0];
    outcome.models[0] = NULL;
cleanup:
    tacit_outcome_clear(&outcome);
    tacit_sum_clear(&sum);
    tacit_noised_free(noised);
    stacking_clear(&how);
    return status;
}

/* Minus the errors on V, of sensitivity 1: a score to be high. */
static tacit_status score(double *out, const tacit_model *model, const tacit_view *rows, tacit_error *error) {
    double *margin = TACIT_NEW(double, rows->rows.count), errors = 0;
    if (margin == NULL) return tacit_fail_memory(error);
    tacit_status status = tacit_model_scores(model, &rows->rows, NULL, margin, error);
    for (size_t i = 0; i < rows->rows.count; i++)
        errors += tacit_model_class(model, &margin[i]) != tacit_view_label(rows, i);
    *out = -errors;
    free(margin);
    return status;
}

tacit_status choosing_select(tacit_selected **out, tacit_party *party, stacking_maker *make,
                             tacit_error *error) {
    size_t count = choosing_count(party->plan);
    double scores[CHOOSING_MOST];
    uint32_t *index = NULL;
    tacit_status status;
    TACIT_CHECK(order_rows(&index, party, error));
    tacit_view held = part_of(party, index, count, count + 1);
    for (size_t i = 0; i < count; i++) {
        tacit_view block = part_of(party, index, i, count + 1);
        tacit_model *model = NULL;
        TACIT_CHECK(fit_block(&model, party, &block, i, make, error));
        status = score(&scores[i], model, &held, error);
        tacit_model_free(model);
        if (status != TACIT_OK) goto cleanup;
    }
    tacit_selection rule = { .rule = TACIT_SELECT_EXPONENTIAL,
                             .choices = 1,
                             .sensitivity = 1,
                             .price = { TACIT_UNIT_RECORD, choosing_epsilon(party->plan), 0 } };
    TACIT_CHECK(tacit_selection_release(out, &party->noise, &rule, scores, count, error));
cleanup:
    free(index);
    return status;
}
