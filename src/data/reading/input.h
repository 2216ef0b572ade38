/*
 * Bytes of a data file in chunks: plain, gzip or xz, told apart by their first bytes and not by the name.
 * A file is never loaded whole. One that changes while it is read, by its size or the time of its last
 * change, is TACIT_INPUT.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct tacit_input tacit_input;

tacit_status tacit_input_open(tacit_input **out, const char *path, tacit_error *error);

/* The same over bytes in memory, which are borrowed; `name` stands for the file in errors. */
tacit_status tacit_input_open_memory(tacit_input **out, const void *bytes, size_t length, const char *name,
                                     tacit_error *error);

/* The next decompressed bytes, borrowed until the next call; length 0 at the end. A truncated or damaged
 * compressed file gives TACIT_INPUT with the file's name. */
tacit_status tacit_input_next(tacit_input *input, const uint8_t **bytes, size_t *length, tacit_error *error);

/* The first chunk, without taking it: the following tacit_input_next returns the same bytes. Only before
 * the first tacit_input_next. For telling formats apart. */
tacit_status tacit_input_peek(tacit_input *input, const uint8_t **bytes, size_t *length, tacit_error *error);

/* Start again with the first byte. TACIT_INPUT for a pipe, and when the file has changed since it was
 * opened. */
tacit_status tacit_input_rewind(tacit_input *input, tacit_error *error);

/* The path or name given at opening. Borrowed. */
const char *tacit_input_name(const tacit_input *input);

tacit_input *tacit_input_free(tacit_input *input);
