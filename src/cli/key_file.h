/* Secret keys that a person keeps in files of their own. */
#pragma once

#include "cli/console.h"

enum { TACIT_KEY_FILE_BYTES = 32 };

/* Read one. TACIT_INPUT when the file is no `what` ("signing key of 32 bytes"); refused where others may read
 * it. */
tacit_status tacit_key_file_read(const char *path, const char *what, uint8_t out[TACIT_KEY_FILE_BYTES],
                                 tacit_error *error);

/* The seed of a signing key: as it is, or made where there is none. */
tacit_status tacit_key_file_seed(const char *path, const char *what, uint8_t seed[TACIT_KEY_FILE_BYTES],
                                 tacit_console *console, tacit_error *error);
