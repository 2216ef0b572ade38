/* Who took part in a study, by name, for its model's card. */
#pragma once

#include "study/registry.h"

typedef struct tacit_attendance {
    char **name;
    size_t count;
} tacit_attendance;

tacit_status tacit_attendance_add(tacit_attendance *self, const char *name, tacit_error *error);

/* Those of a study, by the names that they were invited with, or their random ones; neither unused
 * invitations nor parties that were revoked. */
tacit_status tacit_attendance_read(tacit_attendance *self, tacit_registry *registry, const char *study,
                                   tacit_error *error);
void tacit_attendance_clear(tacit_attendance *self);
