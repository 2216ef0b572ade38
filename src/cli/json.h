/* Building the documents that --json prints. All return new references. NULL stands for "out of memory" and
 * may be passed on: json_pack, tacit_json_append and tacit_console_document all take it as a failure, so
 * that only the last step needs a check. */
#pragma once

#include <jansson.h>

/* A number as this program writes it: infinity is the string "inf", NaN is null. */
json_t *tacit_json_number(double value);

/* Text that may hold anything (a file name, a cell): bytes that are not UTF-8 become "?". */
json_t *tacit_json_text(const char *text);

/* Append `item`, taken over, to `list` and return it; when either is NULL the list is given up. */
json_t *tacit_json_append(json_t *list, json_t *item);
