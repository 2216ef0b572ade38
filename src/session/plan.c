#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/text.h"
#include "session/method.h"

/* Position of a parameter in the method's table, or -1. */
static int find_parameter(const tacit_method *method, const char *name) {
    for (int i = 0; method->parameters != NULL && method->parameters[i].name != NULL; i++)
        if (strcmp(method->parameters[i].name, name) == 0) return i;
    return -1;
}

static bool is_choice(const char *choices, const char *value) {
    size_t length = strlen(value);
    for (const char *at = choices; at != NULL && length > 0; at = strchr(at, '|')) {
        if (*at == '|') at++;
        if (strncmp(at, value, length) == 0 && (at[length] == '|' || at[length] == 0)) return true;
    }
    return false;
}

static void list_parameters(const tacit_method *method, char *out, size_t size) {
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; method->parameters != NULL && method->parameters[i].name != NULL && used < size; i++)
        used +=
            (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", method->parameters[i].name);
}

tacit_status tacit_plan_set(tacit_plan *plan, const char *name, const char *value, tacit_error *error) {
    const tacit_method *method = plan->method;
    int at = find_parameter(method, name);
    if (at < 0) {
        char known[256];
        list_parameters(method, known, sizeof known);
        return tacit_fail(error, TACIT_USAGE, "method %s has no setting '%s'%s%s", method->name, name,
                          known[0] != 0 ? "; it has: " : "", known);
    }
    const tacit_parameter *parameter = &method->parameters[at];
    double number;
    bool any = parameter->choices != NULL && strcmp(parameter->choices, TACIT_ANY_TEXT) == 0;
    if (parameter->choices != NULL && !any && !is_choice(parameter->choices, value))
        return tacit_fail(error, TACIT_USAGE, "setting %s of method %s is one of %s, not '%s'", name,
                          method->name, parameter->choices, value);
    if (parameter->choices == NULL && (!tacit_text_to_number(value, strlen(value), &number) ||
                                       number < parameter->least || number > parameter->most))
        return tacit_fail(error, TACIT_USAGE, "setting %s of method %s is a number from %g to %g, not '%s'",
                          name, method->name, parameter->least, parameter->most, value);
    if (any && value[0] == 0)
        return tacit_fail(error, TACIT_USAGE, "setting %s of method %s needs a value", name, method->name);
    if (strlen(value) >= TACIT_SETTING_SIZE)
        return tacit_fail(error, TACIT_USAGE, "the value of setting %s is longer than %d characters", name,
                          TACIT_SETTING_SIZE - 1);
    assert(at < TACIT_MOST_SETTINGS);
    memcpy(plan->settings[at], value, strlen(value) + 1);
    return TACIT_OK;
}

const char *tacit_plan_text(const tacit_plan *plan, const char *name) {
    int at = find_parameter(plan->method, name);
    assert(at >= 0 && at < TACIT_MOST_SETTINGS);
    return plan->settings[at][0] != 0 ? plan->settings[at] : plan->method->parameters[at].fallback;
}

double tacit_plan_number(const tacit_plan *plan, const char *name) {
    const char *text = tacit_plan_text(plan, name);
    double number = NAN;
    bool ok = tacit_text_to_number(text, strlen(text), &number);
    assert(ok);
    return ok ? number : NAN;
}

bool tacit_plan_is(const tacit_plan *plan, const char *name, const char *value) {
    return strcmp(tacit_plan_text(plan, name), value) == 0;
}

bool tacit_plan_leaves_open(const tacit_plan *plan, const tacit_parameter *parameter) {
    return parameter->choices == NULL && strcmp(parameter->fallback, "0") == 0 &&
           strstr(parameter->help, "0: ") != NULL && tacit_plan_number(plan, parameter->name) == 0;
}

const char *tacit_sum_way_name(tacit_sum_way sums) {
    switch (sums) {
    case TACIT_SUMS_MASKED: return "masked";
    case TACIT_SUMS_CLEAR: return "clear";
    case TACIT_SUMS_PAILLIER: return "paillier";
    }
    return "unknown";
}

tacit_hearing tacit_plan_hearing(const tacit_plan *plan) {
    if (plan->method->compute != NULL) return TACIT_HEARS_CIPHERTEXTS;
    return plan->method->single != NULL && plan->method->single(plan) ? TACIT_HEARS_SINGLE : TACIT_HEARS_SUMS;
}

bool tacit_plan_always_single(const tacit_plan *plan) {
    (void)plan;
    return true;
}

/* Rounded down, but for the rounding of the product: 0.29 x 100 is 29. */
static size_t whole_parties(const tacit_plan *plan, double fraction) {
    return (size_t)floor(fraction * (double)plan->parties * (1 + 1e-12));
}

size_t tacit_plan_dropouts(const tacit_plan *plan) { return whole_parties(plan, plan->dropouts); }

/* A tenth of five parties is nobody, and against nobody half of the others could be told that a party survived and half that
 * it vanished, with one puppet to make up the numbers. */
size_t tacit_plan_colluders(const tacit_plan *plan) {
    size_t whole = whole_parties(plan, plan->colluders);
    return whole == 0 && plan->colluders > 0 && plan->parties >= TACIT_COLLUDER_FROM ? 1 : whole;
}

bool tacit_plan_shares_noise(const tacit_plan *plan) {
    return plan->method != NULL && tacit_method_takes(plan->method, "noise") &&
           tacit_plan_is(plan, "noise", "shares");
}

size_t tacit_plan_survivors(const tacit_plan *plan) {
    size_t least = plan->minimum_parties > 0 ? plan->minimum_parties : 1;
    size_t left = plan->parties - tacit_plan_dropouts(plan);
    return tacit_plan_shares_noise(plan) && left > least ? left : least;
}

size_t tacit_plan_noise_shares(const tacit_plan *plan) {
    size_t survivors = tacit_plan_survivors(plan), colluders = tacit_plan_colluders(plan);
    return survivors > colluders ? survivors - colluders : 0;
}

/* Shares of noise hide nothing one by one. */
static tacit_status check_sums(const tacit_plan *plan, tacit_error *error) {
    if (!(plan->dropouts >= 0 && plan->dropouts < 1) || !(plan->colluders >= 0 && plan->colluders < 1))
        return tacit_fail(
            error, TACIT_USAGE,
            "the fractions of dropouts and colluders must be at least 0 and below 1, not %g and %g",
            plan->dropouts, plan->colluders);
    if (!tacit_plan_shares_noise(plan)) return TACIT_OK;
    if (plan->sums == TACIT_SUMS_CLEAR)
        return tacit_fail(
            error, TACIT_USAGE,
            "with noise=shares a contribution carries only a share of the noise, and sum: clear would "
            "show it to the coordinator: choose sum: masked or paillier, or noise=party");
    if (tacit_plan_noise_shares(plan) == 0)
        return tacit_fail(
            error, TACIT_USAGE,
            "of %zu parties at least %zu remain and %zu may collude: nobody's share of the noise is "
            "left; declare fewer of either, or wait for more parties",
            plan->parties, tacit_plan_survivors(plan), tacit_plan_colluders(plan));
    return TACIT_OK;
}

tacit_status tacit_plan_before(double **before, const tacit_plan *plan, const double *weights, size_t count,
                               tacit_error *error) {
    *before = NULL;
    if (plan->enough <= 0) return TACIT_OK;
    *before = TACIT_NEW(double, count);
    if (*before == NULL) return tacit_fail_memory(error);
    memcpy(*before, weights, count * sizeof *weights);
    return TACIT_OK;
}

bool tacit_plan_stops(const tacit_plan *plan, uint64_t done, double *before, const double *now,
                      size_t count) {
    double apart = 0, size = 0;
    if (plan->most_rounds > 0 && done >= plan->most_rounds) return true;
    if (before == NULL) return false;
    for (size_t j = 0; j < count; j++) {
        apart += (now[j] - before[j]) * (now[j] - before[j]);
        size += now[j] * now[j];
        before[j] = now[j];
    }
    return apart <= plan->enough * plan->enough * size;
}

bool tacit_method_takes(const tacit_method *method, const char *name) {
    return find_parameter(method, name) >= 0;
}

tacit_status tacit_plan_choose_lambda(tacit_plan *plan, tacit_error *error) {
    static const double USUAL = 0.01;
    if (plan->lambda != 0 || plan->method->lambda_may_vanish) return TACIT_OK;
    plan->lambda = USUAL;
    if (plan->method->choose_lambda == NULL) return TACIT_OK;
    TACIT_TRY(tacit_plan_check(plan, error)); /* a method is only asked about plans that it accepts */
    return plan->method->choose_lambda(plan, &plan->lambda, error);
}

tacit_status tacit_plan_check(const tacit_plan *plan, tacit_error *error) {
    if (!(plan->epsilon > 0))
        return tacit_fail(error, TACIT_USAGE, "epsilon must be above 0 (or inf), not %g", plan->epsilon);
    if (!(plan->delta >= 0 && plan->delta < 1))
        return tacit_fail(error, TACIT_USAGE, "delta must be at least 0 and below 1, not %g", plan->delta);
    if (plan->method->needs_delta && plan->delta == 0 && isfinite(plan->epsilon))
        return tacit_fail(error, TACIT_USAGE,
                          "method %s needs a delta above 0: give --delta 1e-5, or delta: in the study",
                          plan->method->name);
    bool vanishes = plan->lambda == 0 && plan->method->lambda_may_vanish;
    if (!vanishes && (!(plan->lambda > 0) || !isfinite(plan->lambda)))
        return tacit_fail(error, TACIT_USAGE, "lambda must be above 0 and finite, not %g", plan->lambda);
    if (plan->parties == 0) return tacit_fail(error, TACIT_USAGE, "a study needs at least one party");
    if (plan->minimum_parties > plan->parties)
        return tacit_fail(error, TACIT_USAGE, "the minimum of %zu parties is more than the %zu declared",
                          plan->minimum_parties, plan->parties);
    if ((plan->most_rounds > 0 || plan->enough > 0) && !plan->method->stops_early)
        return tacit_fail(error, TACIT_USAGE,
                          "method %s has no rounds to stop early: leave 'rounds' and 'converged' out",
                          plan->method->name);
    TACIT_TRY(check_sums(plan, error));
    if (plan->classes == 0 && plan->schema != NULL && !plan->method->takes_numbers)
        return tacit_fail(error, TACIT_USAGE, "method %s takes a label of kind class, and '%s' is of kind %s",
                          plan->method->name, plan->schema->label,
                          tacit_response_name(plan->schema->response));
    bool numeric = plan->classes == 0 && plan->method->takes_numbers;
    if (plan->features == 0 || (plan->classes < 2 && !numeric))
        return tacit_fail(error, TACIT_USAGE, "a study needs at least one feature and two classes");
    return plan->method->check != NULL ? plan->method->check(plan, error) : TACIT_OK;
}

tacit_status tacit_yardstick_price(const tacit_plan *plan, tacit_prices *out, tacit_error *error) {
    (void)plan;
    (void)error;
    out->charged = out->claimed = (tacit_price){ TACIT_UNIT_RECORD, INFINITY, 0 };
    return TACIT_OK;
}

tacit_release_kind tacit_yardstick_kind(const tacit_plan *plan) {
    (void)plan;
    return TACIT_RELEASE_CHARGED;
}

tacit_status tacit_outcome_add(tacit_outcome *outcome, tacit_model *model, tacit_error *error) {
    tacit_model **models = tacit_grow(outcome->models, outcome->count + 1, sizeof *models);
    if (models == NULL) {
        tacit_model_free(model);
        return tacit_fail_memory(error);
    }
    outcome->models = models;
    models[outcome->count++] = model;
    return TACIT_OK;
}

void tacit_outcome_clear(tacit_outcome *outcome) {
    if (outcome == NULL) return;
    for (size_t i = 0; i < outcome->count; i++) tacit_model_free(outcome->models[i]);
    free(outcome->models);
    *outcome = (tacit_outcome)TACIT_OUTCOME_INIT;
}
