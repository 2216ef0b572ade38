/*
 * Text of cells: numbers without regard to the locale, missing values, quoting for messages.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A decimal number and nothing else ("-1.5e3", spaces around allowed); the nearest double. False for
 * anything else, for hexadecimal, "inf" and "nan", and for a magnitude beyond the largest double.
 * `text` is NUL-terminated at `length`. */
bool tacit_text_to_number(const char *text, size_t length, double *out);

enum { TACIT_NUMBER_TEXT = 32, TACIT_CELL_TEXT = 64 };

/* The shortest decimal text that reads back as the same double; -0 is written as 0. */
const char *tacit_number_to_text(double value, char out[TACIT_NUMBER_TEXT]);

/* Empty, NA, ?, NaN or null, in upper or lower case. */
bool tacit_text_is_missing(const char *text, size_t length);

bool tacit_text_is_utf8(const char *text, size_t length);

/* A cell for a message: at most 40 bytes, control characters and broken UTF-8 replaced, "..." when cut. */
const char *tacit_text_shown(const char *text, size_t length, char out[TACIT_CELL_TEXT]);
