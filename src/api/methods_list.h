/* What there is to choose from, as `tacit methods --json` prints it. */
#pragma once

#include "api/json_text.h"

json_t *tacit_methods_list(void); /* new reference; NULL: out of memory */
