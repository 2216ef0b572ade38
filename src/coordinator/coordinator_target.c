/* Studies that learn for a target: the coordinator has rows of its own. */
#include "coordinator/coordinator_parts.h"

tacit_status coordinator_load_target(coordinator *self, hosted *host, tacit_error *error) {
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    if (!host->study->plan.method->needs_target) return TACIT_OK;
    if (self->settings.target == NULL)
        return tacit_fail(error, TACIT_INPUT,
                          "method %s learns for a target, which runs the coordinator: name the file with its "
                          "rows by --target",
                          host->study->plan.method->name);
    TACIT_TRY(
        tacit_dataset_load(&host->target, NULL, self->settings.target, host->study->schema, &options, error));
    host->own = tacit_dataset_view(host->target);
    return TACIT_OK;
}
