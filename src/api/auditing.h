/* One audit as `tacit audit` runs it. */
#pragma once

#include "api/document/json_text.h"
#include "api/option/arguments.h"
#include "lab/audit/audit.h"

typedef struct tacit_auditing {
    tacit_audit audit;
    tacit_audit_result result;
    tacit_setting_value *settings;
} tacit_auditing;

#define TACIT_AUDITING_INIT                                                                                  \
    { .settings = NULL }

/* As `arguments`, of tacit_audit_options, say. */
tacit_status tacit_auditing_run(tacit_auditing *out, const tacit_arguments *arguments,
                                const tacit_progress *progress, tacit_error *error);
json_t *tacit_auditing_document(const tacit_auditing *auditing); /* new reference; NULL: out of memory */
const char *tacit_auditing_verdict(const tacit_audit_result *result);
void tacit_auditing_clear(tacit_auditing *auditing);
