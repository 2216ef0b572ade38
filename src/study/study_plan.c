/* The settings that make a study's plan: its name, method, price and parties. */
#include <math.h>
#include <string.h>

#include "data/schema/text.h"
#include "model/classifier/classifier.h"
#include "study/study_parts.h"

tacit_status study_read_name(reading *r, const yaml_node_t *node) {
    const char *text;
    size_t length;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, "name", &text, &length, r->error));
    if (length > 40 || strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") != length || text[0] == '-')
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "name must be 1 to 40 of a-z, 0-9 and -, e.g. breast-cancer");
    memcpy(r->study->name, text, length + 1);
    memcpy(r->study->plan.study, text, length + 1);
    return TACIT_OK;
}

tacit_status study_print_name(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    return tacit_buffer_print(out, error, "name: \"%s\"\n", study->name);
}

/* ---- the method and its settings ---- */

tacit_status study_read_method(reading *r, const yaml_node_t *node) {
    const char *text;
    size_t length;
    TACIT_TRY(tacit_yaml_text(&r->yaml, node, "method", &text, &length, r->error));
    TACIT_TRY(study_fail_at(r, node, tacit_method_require(&r->study->plan.method, text, r->error)));
    const tacit_method *method = r->study->plan.method;
    if (method->undeployable != NULL)
        return tacit_fail(r->error, TACIT_REFUSED,
                          "%s:%zu: method %s cannot be deployed: %s (simulate it instead)", r->yaml.name,
                          node->start_mark.line + 1, method->name, method->undeployable);
    return TACIT_OK;
}

tacit_status study_print_method(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    return tacit_buffer_print(out, error, "method: %s\n", study->plan.method->name);
}

/* A study can never make a party run code, in whatever setting it asks for it and whether or not this version
 * knows the setting. */
static tacit_status refuse_programs(reading *r, const yaml_node_t *key, const char *name, const char *value) {
    if (strstr(value, "exec:") == NULL) return TACIT_OK;
    return tacit_fail(r->error, TACIT_REFUSED,
                      "%s:%zu: setting '%.40s' names a program to run; only a party's owner may, on the "
                      "party's own machine (tacit join --local)",
                      r->yaml.name, key->start_mark.line + 1, name);
}

static tacit_status take_settings(reading *r, const yaml_node_t *node) {
    if (node->type != YAML_MAPPING_NODE)
        return tacit_yaml_fail(&r->yaml, node, r->error, "set must be a mapping (setting: value)");
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top;
         pair++) {
        const yaml_node_t *key = yaml_document_get_node(&r->yaml.document, pair->key);
        const char *name, *value;
        size_t length;
        TACIT_TRY(tacit_yaml_text(&r->yaml, key, "a setting", &name, &length, r->error));
        TACIT_TRY(tacit_yaml_text(&r->yaml, yaml_document_get_node(&r->yaml.document, pair->value),
                                  "a setting's value", &value, &length, r->error));
        TACIT_TRY(refuse_programs(r, key, name, value));
        if (!study_is_plain_line(value, TACIT_SETTING_SIZE))
            return tacit_yaml_fail(&r->yaml, key, r->error,
                                   "a setting's value must be one line of fewer than %d bytes without "
                                   "quotes, backslashes and control characters",
                                   TACIT_SETTING_SIZE);
        TACIT_TRY(study_fail_at(r, key, tacit_plan_set(&r->study->plan, name, value, r->error)));
    }
    return TACIT_OK;
}

/* What parties train is named, never a program to run: that is for each owner to say. */
static tacit_status check_local(reading *r, const yaml_node_t *node) {
    const tacit_plan *plan = &r->study->plan;
    if (plan->method->local == NULL) return TACIT_OK;
    return study_fail_at(r, node, tacit_classifier_check(plan->method->local(plan), false, r->error));
}

/* A definition that was agreed on, and says nothing of a setting that came later, is of the time before. One
 * that is written now has the defaults of now. */
static tacit_status take_earlier(reading *r) {
    tacit_plan *plan = &r->study->plan;
    const tacit_parameter *one = plan->method->parameters;
    for (; !r->written && one != NULL && one->name != NULL; one++)
        if (one->before != NULL) TACIT_TRY(tacit_plan_set(plan, one->name, one->before, r->error));
    return TACIT_OK;
}

tacit_status study_read_set(reading *r, const yaml_node_t *node) {
    TACIT_TRY(take_earlier(r));
    if (node != NULL) TACIT_TRY(take_settings(r, node));
    return check_local(r, node);
}

/* Every setting is spelt out, except for those that came later and are what was meant before. */
tacit_status study_print_set(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    const tacit_plan *plan = &study->plan;
    const tacit_parameter *parameter = plan->method->parameters;
    char text[TACIT_SETTING_SIZE];
    if (parameter != NULL && parameter->name != NULL) TACIT_TRY(tacit_buffer_print(out, error, "set:\n"));
    for (; parameter != NULL && parameter->name != NULL; parameter++) {
        tacit_plan_print(plan, parameter, text);
        if (parameter->before != NULL && strcmp(text, parameter->before) == 0) continue;
        TACIT_TRY(tacit_buffer_print(out, error, "  %s: \"%s\"\n", parameter->name, text));
    }
    return TACIT_OK;
}

/* ---- the price ---- */

/* A method without noise has no budget to state, and a study of one may not pretend to. */
static tacit_status refuse_budget(reading *r, const yaml_node_t *node) {
    if (node == NULL) return TACIT_OK;
    return tacit_yaml_fail(&r->yaml, node, r->error, "method %s adds no noise: leave epsilon and delta out",
                           r->study->plan.method->name);
}

tacit_status study_read_epsilon(reading *r, const yaml_node_t *node) {
    tacit_plan *plan = &r->study->plan;
    if (plan->method->noise_free) {
        plan->epsilon = INFINITY;
        return refuse_budget(r, node);
    }
    if (node == NULL)
        return tacit_fail(r->error, TACIT_INPUT, "%s: the study has no 'epsilon'", r->yaml.name);
    return study_read_range(r, node, "epsilon", 1e-6, 1e6, &plan->epsilon);
}

tacit_status study_read_delta(reading *r, const yaml_node_t *node) {
    tacit_plan *plan = &r->study->plan;
    if (plan->method->noise_free) return refuse_budget(r, node);
    return node != NULL ? study_read_range(r, node, "delta", 0, 0.5, &plan->delta) : TACIT_OK;
}

tacit_status study_read_lambda(reading *r, const yaml_node_t *node) {
    tacit_plan *plan = &r->study->plan;
    if (node == NULL) return TACIT_OK;
    const bool none = plan->method->lambda_may_vanish || plan->method->lambda_after != NULL;
    return study_read_range(r, node, "lambda", none ? 0 : 1e-12, 1e6, &plan->lambda);
}

static tacit_status print_number(tacit_buffer *out, const char *name, double value, tacit_error *error) {
    char text[TACIT_NUMBER_TEXT];
    return tacit_buffer_print(out, error, "%s: %s\n", name, tacit_number_to_text(value, text));
}

tacit_status study_print_epsilon(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    if (study->plan.method->noise_free) return TACIT_OK;
    return print_number(out, "epsilon", study->plan.epsilon, error);
}

tacit_status study_print_delta(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    if (study->plan.method->noise_free) return TACIT_OK;
    return print_number(out, "delta", study->plan.delta, error);
}

tacit_status study_print_lambda(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    return print_number(out, "lambda", study->plan.lambda, error);
}

/* ---- the parties ---- */

tacit_status study_read_parties(reading *r, const yaml_node_t *node) {
    enum { EXPECTED, MINIMUM, COUNT };
    static const char *const names[COUNT] = { "expected", "minimum" };
    const yaml_node_t *values[COUNT];
    tacit_plan *plan = &r->study->plan;
    TACIT_TRY(tacit_yaml_mapping(&r->yaml, node, "parties", names, COUNT, values, r->error));
    if (values[EXPECTED] != NULL)
        TACIT_TRY(study_read_whole(r, values[EXPECTED], "expected", 1, 1e9, &plan->parties));
    else if (r->study->stop.participants > 0 && r->study->stop.target == TACIT_TARGET_NONE)
        plan->parties = r->study->stop.participants;
    else
        return tacit_yaml_fail(&r->yaml, node, r->error,
                               "parties needs 'expected': the study starts when this many have joined");
    plan->minimum_parties = plan->parties;
    if (values[MINIMUM] != NULL)
        TACIT_TRY(study_read_whole(r, values[MINIMUM], "minimum", 1, 1e9, &plan->minimum_parties));
    if (plan->minimum_parties > plan->parties)
        return tacit_yaml_fail(&r->yaml, values[MINIMUM], r->error, "minimum must not be more than expected");
    r->study->first_parties = plan->parties;
    r->study->stop.looks = tacit_stop_looks(&r->study->stop, plan->parties);
    plan->parties = tacit_stop_parties(&r->study->stop, plan->parties, r->study->stop.look);
    return TACIT_OK;
}

tacit_status study_print_parties(const tacit_study *study, tacit_buffer *out, tacit_error *error) {
    return tacit_buffer_print(out, error, "parties: {expected: %zu, minimum: %zu}\n", study->first_parties,
                              study->plan.minimum_parties);
}
