/* Tokens for programs, as documents. */
#pragma once

#include <jansson.h>

#include "study/passes.h"

enum { TACIT_PASS_DAYS = 365 };

/* {"id", "scope", "study", "for", "created", "expires", "state"} */
json_t *tacit_pass_document(const tacit_pass *pass);

/* Make a token: the same with "token". `study` and `called` may be NULL. */
tacit_status tacit_pass_issue(json_t **out, tacit_registry *registry, const char *study, const char *scope,
                              double days, const char *called, tacit_error *error);
