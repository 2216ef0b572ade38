/*
 * An examination of a folder, the coordinator's, a party's or center server B's: what would keep a study from
 * going on now or soon, each finding with its remedy. It changes nothing, and tells a coordinator nothing but
 * that it is there.
 */
#pragma once

#include <stdbool.h>

#include "base/error.h"

typedef enum tacit_finding_level {
    TACIT_FINDING_OK,
    TACIT_FINDING_WARN, /* works now, and may not for long */
    TACIT_FINDING_FAIL  /* does not work */
} tacit_finding_level;

typedef struct tacit_finding {
    tacit_finding_level level;
    const char *check;  /* "key party.key", ... */
    const char *text;   /* what was found */
    const char *remedy; /* "" when all is well, or when the text tells it */
} tacit_finding;

/* "ok", "warn", "fail" */
const char *tacit_finding_level_name(tacit_finding_level level);

typedef void tacit_finding_visit(void *context, const tacit_finding *finding);

/* Examine `folder`; *kind receives "coordinator", "party" or "center". TACIT_NOT_FOUND when it is none of
 * these. Failures of checks are findings, not failures of the call. */
tacit_status tacit_doctor(const char *folder, const char **kind, tacit_finding_visit *visit, void *context,
                          tacit_error *error);
