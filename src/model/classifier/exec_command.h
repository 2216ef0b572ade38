/* A command line as words. Blanks part words; '...' and "..." keep blanks; nothing else is special: no
 * shell. */
#pragma once

#include "base/buffer.h"

/* The words of `length` bytes of `text`, ending with NULL; one free() frees all. TACIT_USAGE for an open
 * quote or no word. */
tacit_status exec_command_split(char ***out, const char *text, size_t length, tacit_error *error);

/* Append the command with its words that are relative paths (with a '/') of existing files made absolute. */
tacit_status exec_command_settle(tacit_buffer *out, const char *text, size_t length, tacit_error *error);
