/* Shared by the files of this folder only. */
#pragma once

#include "data/schema/schema.h"
#include "data/schema/yaml.h"
#include "person/instrument/instrument.h"

#define INSTRUMENT_SIGNED "# signed "

/* Where the line with the signature begins; `length` where there is none. */
size_t instrument_signed_at(const char *text, size_t length);
/* Hash the text before it, and check it. */
tacit_status instrument_check_signature(tacit_instrument *instrument, const char *text, size_t length,
                                        const char *name, tacit_error *error);

/* One column of a schema, as a line. */
tacit_status instrument_print_item(tacit_buffer *out, const tacit_item *item, tacit_error *error);
