/*
 * A message is an ordered list of named fields: what a method's two halves say to each other. In one
 * process it is passed by pointer; between hosts wire.h turns it into bytes.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef enum tacit_field_kind {
    TACIT_FIELD_NUMBERS,
    TACIT_FIELD_INTEGERS,
    TACIT_FIELD_TEXT,
    TACIT_FIELD_BYTES,
} tacit_field_kind;

typedef struct tacit_field {
    char *name;
    tacit_field_kind kind;
    size_t count; /* elements; for text the length without its NUL */
    union {
        void *data;
        double *numbers;
        int64_t *integers;
        char *text;
        uint8_t *bytes;
    } value;
} tacit_field;

typedef struct tacit_message {
    tacit_field *fields;
    size_t count;
} tacit_message;

#define TACIT_MESSAGE_INIT                                                                                   \
    { NULL, 0 }

/* Add a copy of what is given; a name is used once. */
tacit_status tacit_message_add_numbers(tacit_message *message, const char *name, const double *values,
                                       size_t count, tacit_error *error);
tacit_status tacit_message_add_integers(tacit_message *message, const char *name, const int64_t *values,
                                        size_t count, tacit_error *error);
tacit_status tacit_message_add_text(tacit_message *message, const char *name, const char *text,
                                    tacit_error *error);
tacit_status tacit_message_add_bytes(tacit_message *message, const char *name, const uint8_t *bytes,
                                     size_t count, tacit_error *error);

/* Borrow a field. TACIT_PROTOCOL when it is missing, of another kind, not of the expected count, or holds a
 * number that is not finite: a peer's message is never trusted. */
tacit_status tacit_message_numbers(const tacit_message *message, const char *name, size_t expected_count,
                                   const double **out, tacit_error *error);
tacit_status tacit_message_integers(const tacit_message *message, const char *name, size_t expected_count,
                                    const int64_t **out, tacit_error *error);
tacit_status tacit_message_text(const tacit_message *message, const char *name, const char **out,
                                tacit_error *error);
/* Any number of bytes: what they hold is the caller's to check. */
tacit_status tacit_message_bytes(const tacit_message *message, const char *name, const uint8_t **out,
                                 size_t *length, tacit_error *error);

/* Free the fields; the message is empty again. Accepts NULL. */
void tacit_message_clear(tacit_message *message);
