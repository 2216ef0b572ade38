/* Building the documents that --json prints. All return new references. NULL stands for "out of memory" and
 * may be passed on: json_pack, tacit_json_append and tacit_console_document all take it as a failure, so
 * that only the last step needs a check. */
#pragma once

#include "study/json_value.h"

/* Text that may hold anything (a file name, a cell): bytes that are not UTF-8 become "?". */
json_t *tacit_json_text(const char *text);
