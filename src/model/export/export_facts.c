/* What travels with an exported model besides its numbers: how it was made and what that guarantees. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "data/schema/text.h"
#include "model/export/export_parts.h"

static const char *model_name(const tacit_model *model) {
    if (model->stack != NULL) return tacit_stack_title(model->stack) + strlen("a ");
    if (model->tree != NULL) return "decision tree";
    if (model->network.layers > 0)
        return tacit_network_is_dense(&model->network) ? "network of dense layers" : "network of layers";
    return model->family->title;
}

static tacit_status add(export_plan *plan, const char *key, const char *value, tacit_error *error) {
    char *copy = tacit_copy_text(value);
    if (copy == NULL) return tacit_fail_memory(error);
    plan->fact[plan->facts++] = (export_fact){ key, copy };
    return TACIT_OK;
}

static tacit_status add_number(export_plan *plan, const char *key, double value, tacit_error *error) {
    char text[TACIT_NUMBER_TEXT];
    return add(plan, key, tacit_number_to_text(value, text), error);
}

static tacit_status add_prices(export_plan *plan, const tacit_guarantee *guarantee, tacit_error *error) {
    if (!guarantee->is_private) return TACIT_OK;
    TACIT_TRY(add(plan, "tacit.charged.unit", tacit_unit_name(guarantee->charged.unit), error));
    TACIT_TRY(add_number(plan, "tacit.charged.epsilon", guarantee->charged.epsilon, error));
    TACIT_TRY(add_number(plan, "tacit.charged.delta", guarantee->charged.delta, error));
    TACIT_TRY(add(plan, "tacit.claimed.unit", tacit_unit_name(guarantee->claimed.unit), error));
    TACIT_TRY(add_number(plan, "tacit.claimed.epsilon", guarantee->claimed.epsilon, error));
    TACIT_TRY(add_number(plan, "tacit.claimed.delta", guarantee->claimed.delta, error));
    return add(plan, "tacit.noise", tacit_noise_name(guarantee->noise), error);
}

/* How the caller must prepare what is not simply a cell of a table. */
static const char *preparation(const export_plan *plan) {
    bool counts = false;
    for (size_t i = 0; i < plan->inputs; i++) counts = counts || plan->input[i].kind == EXPORT_COUNTS;
    if (plan->model->schema == NULL) return "rows encoded beforehand";
    if (plan->model->schema->sparse > 0) return "sparse rows, values as they are";
    return counts ? "raw columns; texts as counts of their terms, in the order of the schema" : "raw columns";
}

static tacit_status add_schema(export_plan *plan, tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_status status = TACIT_OK;
    if (plan->model->schema == NULL) return TACIT_OK;
    TACIT_CHECK(tacit_schema_canonical(plan->model->schema, &text, error));
    TACIT_CHECK(add(plan, "tacit.schema", tacit_buffer_text(&text), error));
cleanup:
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status say_price(tacit_buffer *out, const tacit_price *price, tacit_error *error) {
    char epsilon[TACIT_NUMBER_TEXT], delta[TACIT_NUMBER_TEXT];
    return tacit_buffer_print(out, error, "epsilon %s and delta %s per %s",
                              tacit_number_to_text(price->epsilon, epsilon),
                              tacit_number_to_text(price->delta, delta), tacit_unit_name(price->unit));
}

static const char *noise_words(tacit_noise noise) {
    switch (noise) {
    case TACIT_NOISE_NONE: return "";
    case TACIT_NOISE_SIMULATED:
        return " The noise was drawn by a simulation and protects nobody: only a real study has this "
               "guarantee.";
    case TACIT_NOISE_EXACT: return " The noise was drawn exactly.";
    }
    return "";
}

static tacit_status say(export_plan *plan, tacit_error *error) {
    const tacit_guarantee *guarantee = &plan->model->guarantee;
    tacit_buffer *out = &plan->words;
    TACIT_TRY(tacit_buffer_print(out, error, "A %s", model_name(plan->model)));
    if (guarantee->method[0] != 0)
        TACIT_TRY(tacit_buffer_print(out, error, ", made by method %s", guarantee->method));
    if (guarantee->parties > 0)
        TACIT_TRY(tacit_buffer_print(out, error, " from the rows of %zu %s", guarantee->parties,
                                     guarantee->parties == 1 ? "party" : "parties"));
    if (guarantee->study[0] != 0) TACIT_TRY(tacit_buffer_print(out, error, " in study %s", guarantee->study));
    if (!guarantee->is_private)
        return tacit_buffer_print(out, error, ". Nothing is promised: %s.",
                                  guarantee->reason[0] != 0 ? guarantee->reason : "the model is not private");
    TACIT_TRY(tacit_buffer_print(out, error, ". Differentially private: each party was charged "));
    TACIT_TRY(say_price(out, &guarantee->charged, error));
    TACIT_TRY(tacit_buffer_print(out, error, "; the method's authors claim "));
    TACIT_TRY(say_price(out, &guarantee->claimed, error));
    return tacit_buffer_print(out, error, ".%s", noise_words(guarantee->noise));
}

tacit_status export_plan_describe(export_plan *plan, tacit_error *error) {
    const tacit_model *model = plan->model;
    const tacit_guarantee *guarantee = &model->guarantee;
    char parties[24] = "unknown";
    if (guarantee->parties > 0) snprintf(parties, sizeof parties, "%zu", guarantee->parties);
    TACIT_TRY(add(plan, "tacit.export", "1", error));
    TACIT_TRY(add(plan, "tacit.model", model_name(model), error));
    TACIT_TRY(add(plan, "tacit.inputs", preparation(plan), error));
    TACIT_TRY(add(plan, "tacit.method", guarantee->method, error));
    TACIT_TRY(add(plan, "tacit.study", guarantee->study, error));
    TACIT_TRY(add(plan, "tacit.parties", parties, error));
    TACIT_TRY(add_number(plan, "tacit.lambda", guarantee->lambda, error));
    TACIT_TRY(add(plan, "tacit.private", guarantee->is_private ? "yes" : "no", error));
    if (guarantee->reason[0] != 0) TACIT_TRY(add(plan, "tacit.reason", guarantee->reason, error));
    TACIT_TRY(add_prices(plan, guarantee, error));
    TACIT_TRY(add_schema(plan, error));
    return say(plan, error);
}
