/* What `tacit fit` and the library's call are told in the same words. */
#pragma once

#include "api/arguments.h"
#include "session/method.h"

/* Method, settings, epsilon, delta and lambda as `arguments`, of tacit_fit_options, say; *candidates is what follows "choose:", borrowed, or
 * NULL. */
tacit_status tacit_fitting_plan(tacit_plan *out, const char **candidates, const tacit_arguments *arguments,
                                tacit_error *error);
