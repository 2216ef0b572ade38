/* What `tacit fit` and the library's call are told in the same words. */
#pragma once

#include "api/option/arguments.h"
#include "lab/simulate.h"
#include "session/method.h"

/* What the options of all training commands (TACIT_OPTIONS_TRAINING) say: into a plan, or as a list that
 * borrows from the arguments. */
tacit_status tacit_training_plan(tacit_plan *plan, const tacit_arguments *arguments, tacit_error *error);
/* The methods that an option lists, in its order. Out: an array that is the caller's. */
tacit_status tacit_methods_named(const tacit_method ***out, size_t *count, const tacit_arguments *arguments,
                                 const char *option, tacit_error *error);
tacit_status tacit_training_choices(tacit_setting_value **out, size_t *count,
                                    const tacit_arguments *arguments, tacit_error *error);

/* Method, settings, epsilon, delta and lambda as `arguments`, of tacit_fit_options, say; *candidates is what
 * follows "choose:", borrowed, or NULL. */
tacit_status tacit_fitting_plan(tacit_plan *out, const char **candidates, const tacit_arguments *arguments,
                                tacit_error *error);
