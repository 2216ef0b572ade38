/* Studies whose definition says `archive: yes`: published once they have ended, and the study that validates
 * them too. */
#include <string.h>

#include "coordinator/coordinator_parts.h"
#include "study/archive/archive.h"

/* Later parties still evaluate what it has found. */
static bool awaits_validation(coordinator *self, const tacit_study *study) {
    char name[TACIT_ID_SIZE];
    tacit_study_state state;
    tacit_study *there = NULL;
    if (!study->stop.validates || !tacit_validating_name(name, study->name) ||
        tacit_registry_state(self->registry, name, &state, NULL) != TACIT_OK || state >= TACIT_STUDY_DONE)
        return false;
    const bool awaits = coordinator_read_study(self, name, &there, NULL) == TACIT_OK &&
                        strcmp(there->validates, study->name) == 0;
    tacit_study_free(there);
    return awaits;
}

typedef struct finding {
    const char *study;
    bool found;
} finding;

static tacit_status find(void *context, const tacit_archived *one, tacit_error *error) {
    finding *self = context;
    (void)error;
    self->found = self->found || strcmp(one->study, self->study) == 0;
    return TACIT_OK;
}

static tacit_status archive(coordinator *self, const tacit_study *study, tacit_error *error) {
    char id[TACIT_ARCHIVE_ID_SIZE];
    finding earlier = { study->name, false };
    TACIT_TRY(tacit_registry_archive_list(self->registry, find, &earlier, error));
    if (earlier.found) return TACIT_OK; /* by an earlier process, or by somebody's command */
    TACIT_TRY(self->settings.archive(self->settings.folder, study->name, id, sizeof id, error));
    coordinator_news(self, "study %s is archived as %s", study->name, id);
    return TACIT_OK;
}

void coordinator_archive_ended(coordinator *self, const tacit_study_record *record) {
    tacit_study *study = NULL;
    tacit_error why = TACIT_ERROR_INIT;
    tacit_status status = TACIT_OK;
    if (self->settings.archive == NULL ||
        tacit_levels_find(&self->archived, record->name, strlen(record->name)) >= 0)
        return;
    status = coordinator_read_study(self, record->name, &study, &why);
    const bool wanted = status == TACIT_OK && study->archive && record->joined > 0;
    const bool later = wanted && awaits_validation(self, study);
    if (wanted && !later) status = archive(self, study, &why);
    if (status != TACIT_OK)
        coordinator_complain(self, "study %s is not archived: %s", record->name, why.text);
    if (!later) tacit_levels_add(&self->archived, record->name, strlen(record->name), NULL, NULL);
    tacit_study_free(study);
}
