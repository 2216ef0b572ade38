/*
 * Numbers as text with a decimal point, whatever locale the program around the library has set: all reading
 * and writing of numbers goes through here (tests/layers.py checks it). The locale of the calling thread
 * alone is changed, for the call; nothing is kept.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "base/error.h"

/* As snprintf and vsnprintf in the locale "C". */
int tacit_format(char *out, size_t size, const char *format, ...) TACIT_PRINTF(3, 4);
int tacit_format_list(char *out, size_t size, const char *format, va_list arguments) TACIT_PRINTF(3, 0);

/* As strtod in the locale "C"; `end` may be NULL. */
double tacit_read_double(const char *text, char **end);

/* A positive number rounded to two significant digits, for "about 3300 rows". Others stay as they are. */
double tacit_two_digits(double value);
