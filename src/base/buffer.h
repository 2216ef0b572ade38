/*
 * Bytes move only through these two: a buffer that grows up to a stated limit, and a cursor that reads
 * within bounds. Integers are little-endian on the wire and in files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct tacit_buffer {
    uint8_t *bytes;
    size_t length;
    size_t capacity;
    size_t limit; /* never grows past this many bytes; 0 means no limit */
} tacit_buffer;

#define TACIT_BUFFER_INIT                                                                                    \
    { NULL, 0, 0, 0 }
#define TACIT_BUFFER_LIMITED(limit_bytes)                                                                    \
    { NULL, 0, 0, (limit_bytes) }

/* Append; TACIT_LIMIT when the limit would be passed, TACIT_NO_MEMORY; unchanged on failure. */
tacit_status tacit_buffer_append(tacit_buffer *buffer, const void *bytes, size_t length, tacit_error *error);
tacit_status tacit_buffer_append_u32(tacit_buffer *buffer, uint32_t value, tacit_error *error);
tacit_status tacit_buffer_append_u64(tacit_buffer *buffer, uint64_t value, tacit_error *error);
tacit_status tacit_buffer_append_double(tacit_buffer *buffer, double value, tacit_error *error);

/* Append formatted text. The bytes are kept NUL-terminated after the length, so that `text` below works. */
tacit_status tacit_buffer_print(tacit_buffer *buffer, tacit_error *error, const char *format, ...)
    TACIT_PRINTF(3, 4);

/* Make room for `length` more bytes and return where they go through `at`; the caller then sets length. */
tacit_status tacit_buffer_reserve(tacit_buffer *buffer, size_t length, uint8_t **at, tacit_error *error);

/* The contents as a NUL-terminated string; "" when empty. Borrowed. */
const char *tacit_buffer_text(const tacit_buffer *buffer);

/* Free the bytes and make the buffer empty again (the limit stays). Accepts NULL. */
void tacit_buffer_clear(tacit_buffer *buffer);

typedef struct tacit_cursor {
    const uint8_t *bytes;
    size_t left;
} tacit_cursor;

static inline tacit_cursor tacit_cursor_over(const void *bytes, size_t length) {
    return (tacit_cursor){ (const uint8_t *)bytes, length };
}

/* Each returns false, without moving, when fewer bytes are left than asked for. */
bool tacit_cursor_skip(tacit_cursor *cursor, const uint8_t **start, size_t length);
bool tacit_cursor_read(tacit_cursor *cursor, void *out, size_t length);
bool tacit_cursor_read_u32(tacit_cursor *cursor, uint32_t *out);
bool tacit_cursor_read_u64(tacit_cursor *cursor, uint64_t *out);
bool tacit_cursor_read_double(tacit_cursor *cursor, double *out);
