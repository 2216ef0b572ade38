/* What there is to choose from, as `tacit methods --json` prints it. */
#pragma once

#include "api/document/json_text.h"

json_t *tacit_methods_list(void); /* new reference; NULL: out of memory */

/* A text of help as people read it: `{two-servers and}` stands for the methods with that trait
 * (method/methods.h), `{audited}` for those with an audit. Returns `text` where nothing stands for
 * anything. */
enum { TACIT_HELP_TEXT = 4096 };
const char *tacit_methods_help(const char *text, char out[TACIT_HELP_TEXT]);
