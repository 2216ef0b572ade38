/* Looks: has the study's target been reached, or does it go on recruiting (study/stop.h)? */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "coordinator/coordinator_parts.h"
#include "study/archive/archive.h"
#include "study/round_log.h"

tacit_status tacit_coordinator_look_path(const char *folder, const char *study, size_t look, char *out,
                                         size_t size, tacit_error *error) {
    char name[TACIT_ID_SIZE + 48];
    snprintf(name, sizeof name, "%s.look-%zu.model.json", study, look);
    return tacit_path_join(out, size, folder, name, error);
}

/* The table of this look is kept, for people; a half that is run again after a crash writes the same bytes
 * again. */
static tacit_status keep_look(const hosted *host, const tacit_buffer *text, tacit_error *error) {
    char path[PATH_MAX];
    TACIT_TRY(tacit_coordinator_look_path(host->owner->settings.folder, host->study->name,
                                          host->study->stop.look, path, sizeof path, error));
    return tacit_file_write(path, text->bytes, text->length, 0644, error);
}

static tacit_status recruit_again(hosted *host, tacit_error *error) {
    const tacit_study *study = host->study;
    coordinator *self = host->owner;
    tacit_buffer next = TACIT_BUFFER_INIT;
    tacit_status status = tacit_study_next_look(study, &next, error);
    if (status == TACIT_OK)
        status = tacit_registry_next_look(self->registry, study->name, host->version,
                                          tacit_buffer_text(&next), &study->point_bytes, error);
    tacit_buffer_clear(&next);
    if (status == TACIT_OK) tacit_rounds_forget(self->settings.folder, study->name);
    return status;
}

tacit_status coordinator_read_study(const coordinator *self, const char *name, tacit_study **out,
                                    tacit_error *error) {
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_study_record record;
    tacit_status status = tacit_registry_study(self->registry, name, &record, &text, error);
    if (status == TACIT_OK)
        status = tacit_study_parse(out, tacit_buffer_text(&text), text.length, name, error);
    tacit_buffer_clear(&text);
    return status;
}

static tacit_status add_validation(const hosted *host, const char *name, const tacit_buffer *model,
                                   tacit_error *error) {
    const coordinator *self = host->owner;
    tacit_buffer text = TACIT_BUFFER_INIT;
    tacit_study *study = NULL;
    tacit_status status;
    TACIT_CHECK(tacit_validating_print(&text, host->study, model, error));
    TACIT_CHECK(tacit_study_compose(&study, tacit_buffer_text(&text), text.length, "the validation", error));
    TACIT_CHECK(tacit_coordinator_settle_keys(self->settings.folder, study, error));
    TACIT_CHECK(
        tacit_registry_add_study(self->registry, name, tacit_buffer_text(&study->canonical), NULL, error));
cleanup:
    tacit_study_free(study);
    tacit_buffer_clear(&text);
    return status;
}

/* The target is met: whoever comes from now on evaluates what was found. Before the study ends, so that a
 * coordinator that is killed in between does it again, and finds done what it had done. */
static tacit_status open_validation(hosted *host, const tacit_buffer *model, tacit_error *error) {
    coordinator *self = host->owner;
    tacit_study *there = NULL;
    char name[TACIT_ID_SIZE] = "";
    tacit_study_state unused;
    tacit_status status;
    if (tacit_validating_name(name, host->study->name) &&
        tacit_registry_state(self->registry, name, &unused, NULL) == TACIT_OK)
        TACIT_CHECK(coordinator_read_study(self, name, &there, error));
    else
        TACIT_CHECK(add_validation(host, name, model, error));
    if (there != NULL && strcmp(there->validates, host->study->name) != 0)
        TACIT_CHECK(tacit_fail(error, TACIT_USAGE, "there is another study '%s'", name));
    TACIT_CHECK(tacit_registry_move_invitations(self->registry, host->study->name, name, error));
    coordinator_news(self, "study %s has met its target: later parties evaluate its model, in study %s",
                     host->study->name, name);
cleanup:
    tacit_study_free(there);
    return status;
}

tacit_status coordinator_judge(hosted *host, const tacit_model *model, const tacit_buffer *text, bool *again,
                               char reason[TACIT_STOP_TEXT_SIZE + 64], tacit_error *error) {
    const tacit_stop *stop = &host->study->stop;
    char found[TACIT_STOP_TEXT_SIZE];
    tacit_stop_verdict verdict;
    tacit_error why = TACIT_ERROR_INIT;
    *again = false;
    reason[0] = 0;
    if (stop->target == TACIT_TARGET_NONE) return TACIT_OK;
    TACIT_TRY(tacit_stop_judge(&verdict, stop, model->estimates, error));
    TACIT_TRY(keep_look(host, text, error));
    snprintf(reason, TACIT_STOP_TEXT_SIZE + 64, "look %zu of at most %zu: %s", stop->look, stop->looks,
             tacit_stop_text(found, stop, &verdict));
    if (verdict.met && stop->validates && open_validation(host, text, &why) != TACIT_OK)
        coordinator_complain(host->owner, "study %s has met its target, but is not validated: %s",
                             host->study->name, why.text); /* what parties have paid for is not lost by it */
    *again = !verdict.met && stop->look < stop->looks;
    if (!*again) return TACIT_OK;
    TACIT_TRY(recruit_again(host, error));
    atomic_store(&host->again, true);
    coordinator_news(host->owner, "study %s recruits again, for %zu parties: %s", host->study->name,
                     tacit_stop_parties(stop, host->study->first_parties, stop->look + 1), reason);
    return TACIT_OK;
}

/* Studies that learn for a target: the coordinator has rows of its own. */
tacit_status coordinator_load_target(coordinator *self, hosted *host, tacit_error *error) {
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    if (!host->study->plan.method->needs_target) return TACIT_OK;
    if (self->settings.target == NULL)
        return tacit_fail(error, TACIT_INPUT,
                          "method %s learns for a target, which runs the coordinator: name the file with its "
                          "rows by the option 'target'",
                          host->study->plan.method->name);
    TACIT_TRY(
        tacit_dataset_load(&host->target, NULL, self->settings.target, host->study->schema, &options, error));
    host->own = tacit_dataset_view(host->target);
    return TACIT_OK;
}
