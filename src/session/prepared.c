#include "session/prepared.h"

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
    /* A plan that is only checked may have none yet, and then there is nothing in what is prepared. */
    if (plan->method->clear_prepared != NULL && plan->schema == NULL)
        return tacit_fail(error, TACIT_USAGE, "method %s needs a schema of the rows", plan->method->name);
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

tacit_status tacit_common_prepared(tacit_common *common, const tacit_plan *plan, void *out,
                                   tacit_error *error) {
    pthread_mutex_lock(&common->mutex);
    tacit_status status = tacit_prepared_take(&common->prepared, plan, out, error);
    pthread_mutex_unlock(&common->mutex);
    return status;
}

void tacit_common_begin(tacit_common *common) {
    if (common->prepared != NULL && common->prepared->plan.method->clear_prepared != NULL)
        common->prepared = tacit_prepared_free(common->prepared);
}
