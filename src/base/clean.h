/* Text from elsewhere, made fit to be shown. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Read one UTF-8 character of a NUL-terminated text; *length says how many bytes it takes. A byte that
 * starts no valid character is returned as UINT32_MAX with length 1. At the end 0 with length 0. */
uint32_t tacit_text_character(const char *text, size_t *length);

/* Write text so that it stays on its line and cannot steer a terminal: control characters and bytes that
 * are not UTF-8 become '?'. `size` includes the NUL. Returns out. */
char *tacit_text_clean(char *out, size_t size, const char *text);
