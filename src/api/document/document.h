/* Handing a document out as text. */
#pragma once

#include "api/document/json_text.h"
#include "tacit/tacit.h"

/* What the command line prints with --json, without the line's end. Takes `document` over; NULL is out of
 * memory. */
tacit_status tacit_document_text(char **out, json_t *document, tacit_error *error);

/* A copy of the bytes with a NUL behind. */
tacit_status tacit_bytes_copy(char **out, const void *bytes, size_t length, tacit_error *error);
