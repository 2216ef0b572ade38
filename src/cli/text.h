/* Small helpers on text that several parts of the command line need. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Read one UTF-8 character of a NUL-terminated text; *length says how many bytes it takes. A byte that
 * starts no valid character is returned as UINT32_MAX with length 1. At the end 0 with length 0. */
uint32_t tacit_text_character(const char *text, size_t *length);

/* Write text so that it stays on its line and cannot steer a terminal: control characters and bytes that
 * are not UTF-8 become '?'. `size` includes the NUL. Returns out. */
char *tacit_text_clean(char *out, size_t size, const char *text);

/* Number of single-character edits (insert, delete, replace, swap of neighbours) between two texts. Texts
 * longer than 63 bytes count as far from everything: SIZE_MAX. */
size_t tacit_text_distance(const char *a, const char *b);

/* The candidate that was probably meant, or NULL: a small edit distance for its length, or the only
 * candidate that begins with `given`. `candidates` ends with NULL. */
const char *tacit_text_closest(const char *given, const char *const *candidates);

/* Print text wrapped to `width` columns. The first line starts at column `at` (already there); the others
 * are indented by `indent`. An empty line in the text starts a paragraph. Ends with a newline. */
void tacit_text_wrap(FILE *out, const char *text, unsigned at, unsigned indent, unsigned width);
