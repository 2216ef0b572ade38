#include "api/study/attendance.h"

#include <stdlib.h>

#include "base/memory.h"

enum { PEOPLE_MOST = 10000 };

tacit_status tacit_attendance_add(tacit_attendance *self, const char *name, tacit_error *error) {
    char **grown = tacit_grow(self->name, self->count + 1, sizeof *grown);
    if (grown == NULL) return tacit_fail_memory(error);
    self->name = grown;
    self->name[self->count] = tacit_copy_text(name);
    return self->name[self->count++] != NULL ? TACIT_OK : tacit_fail_memory(error);
}

static tacit_status add_person(void *context, const tacit_person *person, tacit_error *error) {
    if (person->name[0] == 0 || person->standing == TACIT_PARTY_REVOKED) return TACIT_OK;
    return tacit_attendance_add(context, person->called[0] != 0 ? person->called : person->name, error);
}

tacit_status tacit_attendance_read(tacit_attendance *self, tacit_registry *registry, const char *study,
                                   tacit_error *error) {
    return tacit_registry_people(registry, study, PEOPLE_MOST, add_person, self, error);
}

void tacit_attendance_clear(tacit_attendance *self) {
    for (size_t i = 0; i < self->count; i++) free(self->name[i]);
    free(self->name);
    *self = (tacit_attendance){ NULL, 0 };
}
