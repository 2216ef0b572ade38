/* What a plan's setting says, by name. */
#pragma once

#include <string.h>

#include "session/method.h"

static inline bool setting_is(const tacit_plan *plan, const char *name, const char *value) {
    char text[TACIT_SETTING_SIZE];
    const tacit_parameter *one = tacit_setting_find(plan->method->parameters, name);
    return one != NULL && strcmp(tacit_setting_print(tacit_plan_settings(plan, 0), one, text), value) == 0;
}
