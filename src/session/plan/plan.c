#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/schema/text.h"
#include "session/method.h"
#include "session/plan/wording.h"
#include "session/prepared.h"

static void list_parameters(const tacit_method *method, char *out, size_t size) {
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; method->parameters != NULL && method->parameters[i].name != NULL && used < size; i++)
        used +=
            (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", method->parameters[i].name);
}

const void *tacit_plan_settings(const tacit_plan *plan, size_t size) {
    const tacit_method *method = plan->method;
    assert(method->defaults != NULL && size <= method->settings_size);
    (void)size;
    return plan->settings.table == method->parameters ? plan->settings.values : method->defaults;
}

/* ---- how numbers were spelt ---- */

/* Studies are hashed with the text of their numbers, so "1.0" must stay what it is. The entry of a name, or
 * the end. */
static char *find_spelling(const tacit_settings *settings, const char *name) {
    const char *at = settings->spelling;
    while (*at != 0 && strcmp(at, name) != 0) {
        at += strlen(at) + 1;
        at += strlen(at) + 1;
    }
    return (char *)at;
}

static tacit_status keep_spelling(tacit_settings *settings, const tacit_parameter *one, const char *text,
                                  tacit_error *error) {
    char shortest[TACIT_SETTING_SIZE], *end = settings->spelling + sizeof settings->spelling;
    char *at = find_spelling(settings, one->name);
    size_t name = strlen(one->name) + 1, length = strlen(text) + 1;
    if (*at != 0) {
        size_t old = name + strlen(at + name) + 1;
        memmove(at, at + old, (size_t)(end - at) - old);
        memset(end - old, 0, old);
    }
    if (strcmp(tacit_setting_print(settings->values, one, shortest), text) == 0) return TACIT_OK;
    at = find_spelling(settings, "");
    if (name + length >= (size_t)(end - at))
        return tacit_fail(
            error, TACIT_USAGE,
            "setting %s: the numbers of the settings have more than %d characters together: write %s",
            one->name, TACIT_SPELLING_BYTES, shortest);
    memcpy(at, one->name, name);
    memcpy(at + name, text, length);
    return TACIT_OK;
}

tacit_status tacit_plan_set(tacit_plan *plan, const char *name, const char *value, tacit_error *error) {
    const tacit_method *method = plan->method;
    const tacit_parameter *one = tacit_setting_find(method->parameters, name);
    if (one == NULL) {
        char known[256];
        list_parameters(method, known, sizeof known);
        return tacit_fail(error, TACIT_USAGE, "method %s has no setting '%s'%s%s", method->name, name,
                          known[0] != 0 ? "; it has: " : "", known);
    }
    tacit_settings made = plan->settings;
    if (made.table != method->parameters) {
        made = (tacit_settings){ .table = method->parameters };
        assert(method->settings_size <= sizeof made.values);
        memcpy(made.values, method->defaults, method->settings_size);
    }
    TACIT_TRY(tacit_setting_parse(made.values, one, method->name, value, error));
    TACIT_TRY(keep_spelling(&made, one, value, error));
    plan->settings = made;
    return TACIT_OK;
}

const char *tacit_plan_print(const tacit_plan *plan, const tacit_parameter *one,
                             char out[TACIT_SETTING_SIZE]) {
    const bool given = plan->settings.table == plan->method->parameters;
    const char *spelling = given ? find_spelling(&plan->settings, one->name) : "";
    if (*spelling == 0) return tacit_setting_print(tacit_plan_settings(plan, 0), one, out);
    snprintf(out, TACIT_SETTING_SIZE, "%s", spelling + strlen(one->name) + 1);
    return out;
}

bool tacit_plan_leaves_open(const tacit_plan *plan, const tacit_parameter *parameter) {
    return parameter->zero != NULL && tacit_setting_number(tacit_plan_settings(plan, 0), parameter) == 0;
}

static bool equal_numbers(const tacit_plan *a, const tacit_plan *b) {
    return a->epsilon == b->epsilon && a->delta == b->delta && a->lambda == b->lambda &&
           a->features == b->features && a->classes == b->classes && a->parties == b->parties &&
           a->minimum_parties == b->minimum_parties && a->sums == b->sums && a->key_bits == b->key_bits &&
           a->dropouts == b->dropouts && a->colluders == b->colluders && a->complete == b->complete &&
           a->exchanges == b->exchanges && a->minimum_rows == b->minimum_rows &&
           a->expected_rows == b->expected_rows && a->most_rounds == b->most_rounds && a->enough == b->enough;
}

bool tacit_plan_equal(const tacit_plan *a, const tacit_plan *b) {
    if (a->method != b->method || strcmp(a->study, b->study) != 0 || !equal_numbers(a, b) ||
        a->points != b->points || a->model != b->model || a->schema != b->schema ||
        memcmp(a->center_key, b->center_key, sizeof a->center_key) != 0)
        return false;
    for (const tacit_parameter *one = a->method->parameters; one != NULL && one->name != NULL; one++)
        if (!tacit_setting_equal(tacit_plan_settings(a, 0), tacit_plan_settings(b, 0), one)) return false;
    return true;
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

bool tacit_plan_sites_apart(const tacit_plan *plan) {
    return plan->method->sites_apart != NULL && plan->method->sites_apart(plan);
}

bool tacit_plan_always_single(const tacit_plan *plan) {
    (void)plan;
    return true;
}

double tacit_plan_expected_rows(const tacit_plan *plan) {
    if (plan->expected_rows > 0) return (double)plan->expected_rows;
    return fmax(1, (double)plan->parties * fmax(1, (double)plan->minimum_rows));
}

bool tacit_plan_gaussian(const tacit_plan *plan, tacit_law_setting law) {
    return law == TACIT_LAW_BELL || (law == TACIT_LAW_AUTO && plan->delta > 0);
}

/* Rounded down, except for the rounding of the product: 0.29 x 100 is 29. */
static size_t whole_parties(const tacit_plan *plan, double fraction) {
    return (size_t)floor(fraction * (double)plan->parties * (1 + 1e-12));
}

/* A sum in one exchange is of all parties or of none. */
size_t tacit_plan_dropouts(const tacit_plan *plan) {
    return plan->exchanges == 1 ? 0 : whole_parties(plan, plan->dropouts);
}

/* A tenth of five parties is nobody, and against nobody half of the others could be told that a party
 * survived and half that it vanished, with one puppet to make up the numbers. */
size_t tacit_plan_colluders(const tacit_plan *plan) {
    size_t whole = whole_parties(plan, plan->colluders);
    return whole == 0 && plan->colluders > 0 && plan->parties >= TACIT_COLLUDER_FROM ? 1 : whole;
}

bool tacit_plan_shares_noise(const tacit_plan *plan) {
    return plan->method != NULL && plan->method->shares_noise != NULL && plan->method->shares_noise(plan);
}

const char *tacit_plan_noise_by(const tacit_plan *plan) {
    if (plan->method->noise_free || isinf(plan->epsilon)) return NULL;
    if (tacit_plan_shares_noise(plan)) return "shares";
    switch (plan->method->release_kind(plan)) {
    case TACIT_RELEASE_CHARGED: return "party";
    case TACIT_RELEASE_ENTRUSTED: return "coordinator";
    case TACIT_RELEASE_SEALED: break;
    }
    return NULL;
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
            "with noise=shares a contribution carries only a share of the noise, and sum: clear would show "
            "it to the coordinator: choose sum: masked or paillier, or noise=party");
    if (tacit_plan_noise_shares(plan) == 0)
        return tacit_fail(error, TACIT_USAGE,
                          "of %zu parties at least %zu remain and %zu may collude: nobody's share of the "
                          "noise is left; declare fewer of either, or wait for more parties",
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

tacit_status tacit_plan_allows(const tacit_plan *plan, uint64_t done, tacit_error *error) {
    if (!tacit_plan_stops(plan, done, NULL, NULL, 0)) return TACIT_OK;
    return tacit_fail(error, TACIT_NOT_CONVERGED,
                      "%llu iterations, which are all that the study allows, are not enough to converge: "
                      "allow more rounds",
                      (unsigned long long)done);
}

bool tacit_method_takes_label(const tacit_method *method, tacit_response response) {
    if (response == TACIT_RESPONSE_CLASS) return !method->takes_times;
    if (response == TACIT_RESPONSE_COUNT) return method->takes_numbers && method->no_counts == NULL;
    if (response == TACIT_RESPONSE_NUMBER) return method->takes_numbers;
    return method->takes_times || (method->takes_numbers && method->reports != NULL);
}

bool tacit_method_takes(const tacit_method *method, const char *name) {
    return tacit_setting_find(method->parameters, name) != NULL;
}

bool tacit_method_offers(const tacit_method *method, const char *name, const char *word) {
    const tacit_parameter *one = tacit_setting_find(method->parameters, name);
    return one != NULL && one->choices != NULL && tacit_setting_place(one->choices, word) >= 0;
}

tacit_status tacit_plan_no_lambda(const tacit_plan *plan, double *out, tacit_error *error) {
    (void)plan;
    (void)error;
    *out = 0;
    return TACIT_OK;
}

bool tacit_plan_lambda_after(const tacit_plan *plan) {
    return plan->lambda == 0 && plan->method->lambda_after != NULL && plan->method->lambda_after(plan);
}

tacit_status tacit_plan_choose_lambda(tacit_plan *plan, tacit_error *error) {
    static const double USUAL = 0.01;
    if (plan->lambda != 0) return TACIT_OK;
    plan->lambda_from = plan->method->tunes_lambda ? TACIT_LAMBDA_VALIDATED : TACIT_LAMBDA_USUAL;
    if (plan->method->tunes_lambda) return TACIT_OK;
    if (tacit_plan_lambda_after(plan)) {
        plan->lambda_from = TACIT_LAMBDA_RULE;
        return TACIT_OK;
    }
    if (plan->method->lambda_may_vanish && plan->method->choose_lambda == NULL) return TACIT_OK;
    plan->lambda = USUAL;
    if (plan->method->choose_lambda == NULL) return TACIT_OK;
    if (plan->method->needs_points && plan->points == NULL) return TACIT_OK;
    TACIT_TRY(tacit_plan_check(plan, error)); /* a method is only asked about plans that it accepts */
    TACIT_TRY(plan->method->choose_lambda(plan, &plan->lambda, error));
    if (plan->lambda != USUAL && plan->lambda != 0) plan->lambda_from = TACIT_LAMBDA_RULE;
    return TACIT_OK;
}

tacit_status tacit_plan_settle_number(tacit_plan *plan, const char *name, double value, tacit_error *error) {
    const tacit_parameter *one = tacit_setting_find(plan->method->parameters, name);
    char text[TACIT_NUMBER_TEXT];
    if (tacit_setting_number(tacit_plan_settings(plan, 0), one) != 0) return TACIT_OK;
    return tacit_plan_set(plan, name, tacit_number_to_text(value, text), error);
}

tacit_status tacit_plan_settle(tacit_plan *plan, tacit_error *error) {
    if (plan->method->settle == NULL) return TACIT_OK;
    TACIT_TRY(plan->method->settle(plan, error));
    return tacit_plan_check(plan, error);
}

tacit_status tacit_plan_hopeless(const tacit_plan *plan, char out[TACIT_HOPELESS_SIZE], tacit_error *error) {
    out[0] = 0;
    return plan->method->hopeless != NULL ? plan->method->hopeless(plan, out, error) : TACIT_OK;
}

tacit_status tacit_plan_drowns(const tacit_plan *plan, double largest, const char *help,
                               char out[TACIT_HOPELESS_SIZE], tacit_error *error) {
    tacit_noise_law noise = { .dimension = 1 };
    if (isinf(plan->epsilon)) return TACIT_OK;
    tacit_status status = tacit_plan_noise(plan, &noise, NULL);
    if (status == TACIT_NO_MEMORY) return tacit_fail_memory(error);
    const double times = noise.mean_norm / sqrt((double)noise.dimension) / largest;
    if (status != TACIT_OK || !(times > 1)) return TACIT_OK;
    char classes[48] = "";
    if (plan->classes > 0) tacit_format(classes, sizeof classes, " and %zu classes", plan->classes);
    tacit_format(
        out, TACIT_HOPELESS_SIZE,
        "nothing but noise can come of it: with %zu parties%s at epsilon %g the noise in a score is "
        "%.2g times the largest score that a model can have. Epsilon %.2g would be the least to hope "
        "with; or %s",
        plan->parties, classes, plan->epsilon, times, plan->epsilon * times, help);
    return TACIT_OK;
}

static tacit_status check_prepared(const tacit_plan *plan, tacit_error *error) {
    if (plan->method->prepare == NULL || plan->method->prepares_long) return TACIT_OK;
    void *prepared = tacit_allocate(1, plan->method->prepared_size);
    if (prepared == NULL) return tacit_fail_memory(error);
    tacit_status status = plan->method->prepare(plan, prepared, error);
    if (status == TACIT_OK && plan->method->clear_prepared != NULL) plan->method->clear_prepared(prepared);
    free(prepared);
    return status;
}

static tacit_status check_terms(const tacit_plan *plan, tacit_error *error) {
    const tacit_schema *schema = plan->schema;
    const tacit_method *method = plan->method;
    if (schema == NULL || schema->formula == NULL) return TACIT_OK;
    if (method->terms == TACIT_TERMS_NONE)
        return tacit_fail(
            error, TACIT_USAGE,
            "method %s works on the columns themselves and takes no terms: leave 'terms' out, or "
            "choose another method",
            method->name);
    for (size_t i = 0; i < schema->cols; i++)
        if (schema->columns[i].missing == TACIT_MISSING_INDICATOR && tacit_formula_uses(schema->formula, i))
            return tacit_fail(error, TACIT_USAGE,
                              "'%s' has missing: indicator, which has no column beside terms: write "
                              "complete-case, {fill: VALUE} or impute",
                              schema->columns[i].name);
    if (method->terms == TACIT_TERMS_CONSTANT && !schema->intercept)
        return tacit_fail(error, TACIT_USAGE,
                          "method %s needs an intercept: leave '- 1' or '0 +' out of the terms",
                          method->name);
    return TACIT_OK;
}

tacit_status tacit_plan_check(const tacit_plan *plan, tacit_error *error) {
    if (!(plan->epsilon > 0))
        return tacit_fail(error, TACIT_USAGE, "epsilon must be above 0 (or inf), not %g", plan->epsilon);
    if (!(plan->delta >= 0 && plan->delta < 1))
        return tacit_fail(error, TACIT_USAGE, "delta must be at least 0 and below 1, not %g", plan->delta);
    if (plan->method->needs_delta && plan->delta == 0 && isfinite(plan->epsilon))
        return tacit_fail(
            error, TACIT_USAGE,
            "method %s needs a delta above 0: give the option 'delta=1e-5', or delta: in the study%s%s",
            plan->method->name, plan->method->at_delta_0 != NULL ? "; at delta 0 use method " : "",
            plan->method->at_delta_0 != NULL ? plan->method->at_delta_0 : "");
    bool vanishes = plan->lambda == 0 && (plan->method->lambda_may_vanish || plan->method->tunes_lambda ||
                                          tacit_plan_lambda_after(plan));
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
    bool others = plan->method->takes_numbers; /* its own check has more to say */
    if (plan->schema != NULL && !others && !tacit_method_takes_label(plan->method, plan->schema->response))
        return tacit_fail(error, TACIT_USAGE, "method %s takes a label of kind %s, and '%s' is of kind %s",
                          plan->method->name, plan->method->takes_times ? "time" : "class",
                          plan->schema->label, tacit_response_name(plan->schema->response));
    bool numeric = plan->classes == 0 && (plan->method->takes_numbers || plan->method->takes_times);
    if (plan->features == 0 || (plan->classes < 2 && !numeric))
        return tacit_fail(error, TACIT_USAGE, "a study needs at least one feature and two classes");
    TACIT_TRY(check_terms(plan, error));
    TACIT_TRY(tacit_plan_check_wants(plan, "a method that does", error));
    if (plan->method->check != NULL) TACIT_TRY(plan->method->check(plan, error));
    return check_prepared(plan, error);
}

bool tacit_plan_needs_model(const tacit_plan *plan) {
    const tacit_method *method = plan->method;
    return method->needs_model || (method->builds_on != NULL && method->builds_on(plan)) ||
           (method->starts_at != NULL && method->starts_at(plan));
}

bool tacit_plan_counts_persons(const tacit_plan *plan) {
    return plan->method->per_person != NULL && plan->method->per_person(plan);
}

tacit_counted tacit_plan_counts_missing(const tacit_plan *plan) {
    return plan->method->counts_missing != NULL ? plan->method->counts_missing(plan) : TACIT_COUNTED_NOT;
}

tacit_status tacit_nonprivate_price(const tacit_plan *plan, tacit_prepared **prepared, tacit_prices *out,
                                    tacit_error *error) {
    (void)prepared;
    (void)plan;
    (void)error;
    out->charged = out->claimed = (tacit_price){ TACIT_UNIT_RECORD, INFINITY, 0 };
    return TACIT_OK;
}

tacit_release_kind tacit_nonprivate_kind(const tacit_plan *plan) {
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

tacit_status tacit_outcome_add_mean(tacit_outcome *outcome, const tacit_plan *plan,
                                    const tacit_family *family, const double *sum, size_t parties,
                                    tacit_error *error) {
    tacit_model *model = NULL;
    TACIT_TRY(tacit_model_create(&model, family, plan->features, plan->classes, error));
    for (size_t j = 0; j < tacit_model_size(model); j++) model->weights[j] = sum[j] / (double)parties;
    outcome->parties = parties;
    return tacit_outcome_add(outcome, model, error);
}

void tacit_outcome_clear(tacit_outcome *outcome) {
    if (outcome == NULL) return;
    for (size_t i = 0; i < outcome->count; i++) tacit_model_free(outcome->models[i]);
    free(outcome->models);
    *outcome = (tacit_outcome)TACIT_OUTCOME_INIT;
}

uint64_t tacit_one_exchange(const tacit_plan *plan) {
    (void)plan;
    return 1;
}

uint64_t tacit_plan_exchanges(const tacit_plan *plan) {
    return plan->method->exchanges != NULL ? plan->method->exchanges(plan) : 0;
}

uint64_t tacit_two_exchanges(const tacit_plan *plan) {
    (void)plan;
    return 2;
}

uint64_t tacit_method_rounds(const tacit_method *method) {
    return method->exchanges == tacit_one_exchange ? 1 : method->exchanges == tacit_two_exchanges ? 2 : 0;
}

uint64_t tacit_method_fewest(const tacit_method *method) {
    const uint64_t always = tacit_method_rounds(method);
    return always > 0 ? always : method->fewest;
}

uint64_t tacit_plan_handovers(const tacit_plan *plan, unsigned exchanges, uint64_t questions) {
    enum { STEPS_OF_A_MASKED_SUM = 5 }; /* between sites with a connection */
    const bool masked = tacit_plan_hearing(plan) == TACIT_HEARS_SUMS && plan->sums == TACIT_SUMS_MASKED;
    return masked ? questions * (exchanges > 0 ? exchanges : STEPS_OF_A_MASKED_SUM) : questions;
}

/* What the method says, as it holds for this plan; false: nothing. */
static bool usual_exchanges(const tacit_plan *plan, char out[TACIT_EXCHANGES_TEXT]) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    const bool said = plan->method->asks != NULL &&
                      tacit_wording_text(&text, plan->method->asks, plan, NULL) == TACIT_OK &&
                      text.length > 0;
    if (said) snprintf(out, TACIT_EXCHANGES_TEXT, "%s", tacit_buffer_text(&text));
    tacit_buffer_clear(&text);
    return said;
}

const char *tacit_exchanges_text(const tacit_plan *plan, char out[TACIT_EXCHANGES_TEXT]) {
    const uint64_t count = tacit_plan_exchanges(plan);
    if (plan->method->schedule != NULL) return NULL;
    if (count == 1)
        snprintf(out, TACIT_EXCHANGES_TEXT, "one question to each party, and its answer");
    else if (count > 1)
        snprintf(out, TACIT_EXCHANGES_TEXT, "at most %llu questions to each party, one after the other",
                 (unsigned long long)count);
    else if (!usual_exchanges(plan, out))
        snprintf(out, TACIT_EXCHANGES_TEXT,
                 "as many questions to each party, one after the other, as rows and settings take: 'tacit "
                 "plan' tries the study out and says how many");
    return out;
}

const char *tacit_handovers_text(const tacit_plan *plan, char out[TACIT_EXCHANGES_TEXT]) {
    const uint64_t count = tacit_plan_exchanges(plan), one = tacit_plan_handovers(plan, 1, count),
                   two = tacit_plan_handovers(plan, 2, count);
    const bool differ = tacit_plan_handovers(plan, 2, 1) > 1;
    if (plan->method->schedule != NULL || plan->method->compute != NULL) return NULL;
    if (count == 0)
        snprintf(out, TACIT_EXCHANGES_TEXT, "a hand-over for each question%s",
                 differ ? ", or two with exchange: two" : "");
    else if (differ)
        snprintf(out, TACIT_EXCHANGES_TEXT, "%llu %s, or %llu with exchange: two", (unsigned long long)one,
                 one == 1 ? "hand-over" : "hand-overs", (unsigned long long)two);
    else
        snprintf(out, TACIT_EXCHANGES_TEXT, "%llu %s", (unsigned long long)one,
                 one == 1 ? "hand-over" : "hand-overs");
    return out;
}
