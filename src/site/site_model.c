/* A model that comes from the coordinator, against the definition that the owner consented to. Signed or not,
 * it is bytes from outside: whoever takes part gets a model of the study's columns and classes, of the kind
 * that its method makes, with the guarantee that was promised, or none. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "site/site_parts.h"

static tacit_status differs(tacit_error *error, const char *what) {
    return tacit_fail(error, TACIT_PROTOCOL, "the model that the coordinator sent is not the study's: %s",
                      what);
}

/* Columns, encoding, classes: the very schema of the definition. */
static tacit_status check_schema(const tacit_model *model, const tacit_schema *agreed, tacit_error *error) {
    tacit_buffer ours = TACIT_BUFFER_INIT, theirs = TACIT_BUFFER_INIT;
    tacit_status status = TACIT_OK;
    bool numeric = agreed->response != TACIT_RESPONSE_CLASS;
    if (model->schema == NULL) return differs(error, "it does not say how rows are encoded");
    TACIT_CHECK(tacit_schema_canonical(agreed, &ours, error));
    TACIT_CHECK(tacit_schema_canonical(model->schema, &theirs, error));
    if (ours.length != theirs.length || memcmp(ours.bytes, theirs.bytes, ours.length) != 0)
        TACIT_CHECK(differs(error, "it has other columns or classes"));
    if (model->features != tacit_schema_features(agreed) || model->classes != agreed->classes.count ||
        tacit_model_is_numeric(model) != numeric || model->class_names.count != agreed->classes.count)
        TACIT_CHECK(differs(error, "it is for other rows or another response"));
    for (size_t k = 0; k < agreed->classes.count; k++)
        if (strcmp(model->class_names.text[k], agreed->classes.text[k]) != 0)
            TACIT_CHECK(differs(error, "its classes are called otherwise"));
cleanup:
    tacit_buffer_clear(&ours);
    tacit_buffer_clear(&theirs);
    return status;
}

/* A network has the layers that were agreed on; only stacking makes stacks, and one method trees; all else is
 * linear. */
static tacit_status check_kind(const tacit_model *model, const tacit_plan *plan, tacit_error *error) {
    const tacit_network *network = &model->network;
    const char *kind = plan->method->reports;
    if (kind == NULL && model->report != NULL)
        return differs(error, "it is a report, which the method does not make");
    if (kind != NULL && (model->report == NULL || strcmp(model->report->kind, kind) != 0))
        return differs(error, "it is not the report that the method makes");
    if (model->stack != NULL && !plan->method->makes_stacks)
        return differs(error, "it is a stack, which the method does not make");
    if ((model->tree != NULL) != plan->method->makes_trees)
        return differs(error, model->tree != NULL ? "it is a tree, which the method does not make"
                                                  : "it is not the tree that the method makes");
    bool releases = plan->method->builds_on != NULL && !plan->method->builds_on(plan);
    if (model->moments != NULL && !releases)
        return differs(error, "it has moments, which the study did not ask for");
    if (plan->method->network == NULL)
        return network->layers == 0 ? TACIT_OK
                                    : differs(error, "it is a network, which the method does not make");
    tacit_network agreed;
    TACIT_TRY(plan->method->network(&agreed, plan, error));
    return tacit_network_same(network, &agreed) ? TACIT_OK
                                                : differs(error, "it is a network of other layers");
}

/* Written and read with 17 digits, a price is what it was. */
static bool same_price(const tacit_price *a, const tacit_price *b) {
    return a->unit == b->unit && fabs(a->epsilon - b->epsilon) <= 1e-12 * b->epsilon &&
           fabs(a->delta - b->delta) <= 1e-12 * b->delta;
}

static tacit_status check_guarantee(const tacit_guarantee *claimed, const tacit_study *study,
                                    tacit_error *error) {
    const tacit_plan *plan = &study->plan;
    tacit_prices prices = { .event = { .count = 0 } };
    TACIT_TRY(tacit_plan_price(plan, &prices, error));
    bool private = isfinite(prices.charged.epsilon);
    if (strcmp(claimed->method, plan->method->name) != 0 || strcmp(claimed->study, study->name) != 0)
        return differs(error, "it names another method or study");
    if (claimed->is_private != private ||
        claimed->noise != (private ? TACIT_NOISE_EXACT : TACIT_NOISE_NONE) ||
        (private && (!same_price(&claimed->charged, &prices.charged) ||
                     !same_price(&claimed->claimed, &prices.claimed))))
        return differs(error, "it claims another guarantee");
    if (claimed->parties < 1 || claimed->parties > plan->parties)
        return differs(error, "it claims to be of more parties than take part, or of none");
    return TACIT_OK;
}

tacit_status site_check_model(const tacit_site *site, const void *bytes, size_t length, tacit_error *error) {
    tacit_model *model = NULL;
    tacit_error problem = TACIT_ERROR_INIT;
    const tacit_study *study = site->study;
    tacit_status status = tacit_model_parse(&model, bytes, length, "the study's model", &problem);
    if (status == TACIT_NO_MEMORY) return tacit_fail_memory(error);
    if (status != TACIT_OK) return differs(error, problem.text);
    TACIT_CHECK(check_schema(model, study->schema, error));
    TACIT_CHECK(check_kind(model, &study->plan, error));
    TACIT_CHECK(check_guarantee(&model->guarantee, study, error));
cleanup:
    tacit_model_free(model);
    return status;
}
