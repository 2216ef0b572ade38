#include "session/prepared.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

struct tacit_prepared {
    tacit_plan plan;
    max_align_t value[]; /* prepared_size bytes */
};

tacit_status tacit_prepared_take(tacit_prepared **place, const tacit_plan *plan, void *out,
                                 tacit_error *error) {
    const size_t size = plan->method->prepared_size;
    if (*place == NULL || !tacit_plan_equal(&(*place)->plan, plan)) {
        tacit_prepared *made = tacit_allocate(1, sizeof *made + size);
        if (made == NULL) return tacit_fail_memory(error);
        made->plan = *plan; /* what is prepared may point into it */
        tacit_status status = plan->method->prepare(&made->plan, made->value, error);
        if (status != TACIT_OK) {
            free(made);
            return status;
        }
        tacit_prepared_free(*place);
        *place = made;
    }
    memcpy(out, (*place)->value, size);
    return TACIT_OK;
}

tacit_prepared *tacit_prepared_free(tacit_prepared *prepared) {
    if (prepared == NULL) return NULL;
    if (prepared->plan.method->clear_prepared != NULL) prepared->plan.method->clear_prepared(prepared->value);
    free(prepared);
    return NULL;
}

tacit_status tacit_plan_prepared(const tacit_plan *plan, void *out, tacit_error *error) {
    tacit_prepared *prepared = NULL;
    assert(plan->method->clear_prepared == NULL);
    tacit_status status = tacit_prepared_take(&prepared, plan, out, error);
    tacit_prepared_free(prepared);
    return status;
}

tacit_status tacit_plan_price(const tacit_plan *plan, tacit_prices *out, tacit_error *error) {
    tacit_prepared *prepared = NULL;
    tacit_status status = plan->method->price(plan, &prepared, out, error);
    tacit_prepared_free(prepared);
    return status;
}

tacit_status tacit_plan_noise(const tacit_plan *plan, tacit_noise_law *out, tacit_error *error) {
    tacit_prepared *prepared = NULL;
    tacit_status status = plan->method->noise(plan, &prepared, out, error);
    tacit_prepared_free(prepared);
    return status;
}

tacit_status tacit_plan_declare(const tacit_plan *plan, tacit_prices *prices, tacit_noise_law *noise,
                                tacit_error *error) {
    tacit_prepared *prepared = NULL;
    tacit_status status = plan->method->price(plan, &prepared, prices, error);
    if (status == TACIT_OK && plan->method->noise != NULL)
        status = plan->method->noise(plan, &prepared, noise, error);
    tacit_prepared_free(prepared);
    return status;
}

static tacit_prepared **enter(tacit_common *common, tacit_prepared **own) {
    if (common == NULL) return own;
    pthread_mutex_lock(&common->mutex);
    return &common->prepared;
}

static tacit_status leave(tacit_common *common, tacit_status status) {
    if (common != NULL) pthread_mutex_unlock(&common->mutex);
    return status;
}

tacit_status tacit_common_prepared(tacit_common *common, tacit_prepared **own, const tacit_plan *plan,
                                   void *out, tacit_error *error) {
    /* A plan that is only checked may have none yet. */
    if (plan->method->needs_schema && plan->schema == NULL)
        return tacit_fail(error, TACIT_USAGE, "method %s needs a schema of the rows", plan->method->name);
    tacit_prepared **place = enter(common, own);
    return leave(common, tacit_prepared_take(place, plan, out, error));
}

tacit_status tacit_common_price(tacit_common *common, tacit_prepared **own, const tacit_plan *plan,
                                tacit_prices *out, tacit_error *error) {
    tacit_prepared **place = enter(common, own);
    return leave(common, plan->method->price(plan, place, out, error));
}

tacit_status tacit_common_noise(tacit_common *common, tacit_prepared **own, const tacit_plan *plan,
                                tacit_noise_law *out, tacit_error *error) {
    tacit_prepared **place = enter(common, own);
    return leave(common, plan->method->noise(plan, place, out, error));
}

void tacit_common_begin(tacit_common *common) {
    if (common->prepared != NULL && common->prepared->plan.method->clear_prepared != NULL)
        common->prepared = tacit_prepared_free(common->prepared);
}
