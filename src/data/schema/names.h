/* Looking a name up for somebody who may have mistyped it. */
#pragma once

#include "data/schema/levels.h"

/* The position of `name`, or TACIT_USAGE: "FILE has no WHAT 'NAME' (FLAG); did you mean 'b'?", or a list of
 * what there is. `what` is for example "column"; `flag` may be NULL. */
tacit_status tacit_names_find(const tacit_levels *names, const char *name, const char *what, const char *flag,
                              const char *file, size_t *out, tacit_error *error);

/* " (NAME)" of the column at this place, cut to fit; "" where there is none. */
enum { TACIT_KNOWN_TEXT = 68 };
const char *tacit_names_known(const tacit_levels *names, size_t place, char out[TACIT_KNOWN_TEXT]);

/* The name that was probably intended, or NULL when none is close. */
const char *tacit_names_closest(const char *const *names, size_t count, const char *name);

/* "a, b, c, ... (30 in all)", cut to fit. */
void tacit_names_list(const tacit_levels *names, char *out, size_t size);
