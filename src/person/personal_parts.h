/* Shared by the files of this folder only: kinds of records, and how texts are packed. */
#pragma once

#include "person/personal.h"

enum { RECORD_COLLECTION = 1, RECORD_ORIGIN = 2, RECORD_ROW = 3, RECORD_RULE = 4 };

/* A length and the bytes. */
tacit_status personal_put_text(tacit_buffer *to, const char *text, size_t length, tacit_error *error);
/* The bytes, borrowed; false when they are not there, are more than `most`, or have a NUL inside. */
bool personal_get_text(tacit_cursor *from, const char **text, size_t *length, size_t most);
/* Into an array, with a NUL. */
bool personal_copy_text(tacit_cursor *from, char *out, size_t size);

/* A record that says something impossible. */
tacit_status personal_corrupt(const char *what, tacit_error *error);

/* Overwrite and free. */
void personal_wipe(tacit_buffer *bytes);
