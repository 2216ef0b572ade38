#include "base/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

/* One byte beyond the capacity is always allocated, for the NUL that tacit_buffer_text relies on. */
static tacit_status grow(tacit_buffer *buffer, size_t needed, tacit_error *error) {
    size_t limit = buffer->limit != 0 ? buffer->limit : SIZE_MAX / 2;
    if (needed > limit)
        return tacit_fail(error, TACIT_LIMIT, "%zu bytes are more than the allowed %zu", needed, limit);
    if (needed <= buffer->capacity) return TACIT_OK;
    size_t capacity = buffer->capacity != 0 ? buffer->capacity : 64;
    while (capacity < needed) capacity = capacity > limit / 2 ? limit : capacity * 2;
    uint8_t *bytes = realloc(buffer->bytes, capacity + 1);
    if (bytes == NULL) return tacit_fail_memory(error);
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return TACIT_OK;
}

tacit_status tacit_buffer_reserve(tacit_buffer *buffer, size_t length, uint8_t **at, tacit_error *error) {
    if (length > SIZE_MAX - buffer->length) return tacit_fail(error, TACIT_LIMIT, "buffer size overflows");
    TACIT_TRY(grow(buffer, buffer->length + length, error));
    *at = buffer->bytes != NULL ? buffer->bytes + buffer->length : NULL; /* NULL: no room was asked for */
    return TACIT_OK;
}

tacit_status tacit_buffer_append(tacit_buffer *buffer, const void *bytes, size_t length, tacit_error *error) {
    if (length == 0) return TACIT_OK;
    uint8_t *at;
    TACIT_TRY(tacit_buffer_reserve(buffer, length, &at, error));
    memcpy(at, bytes, length);
    buffer->length += length;
    buffer->bytes[buffer->length] = 0;
    return TACIT_OK;
}

static void store_little_endian(uint8_t *out, uint64_t value, size_t width) {
    for (size_t i = 0; i < width; i++) out[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t load_little_endian(const uint8_t *in, size_t width) {
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++) value |= (uint64_t)in[i] << (8 * i);
    return value;
}

tacit_status tacit_buffer_append_u32(tacit_buffer *buffer, uint32_t value, tacit_error *error) {
    uint8_t bytes[4];
    store_little_endian(bytes, value, sizeof bytes);
    return tacit_buffer_append(buffer, bytes, sizeof bytes, error);
}

tacit_status tacit_buffer_append_u64(tacit_buffer *buffer, uint64_t value, tacit_error *error) {
    uint8_t bytes[8];
    store_little_endian(bytes, value, sizeof bytes);
    return tacit_buffer_append(buffer, bytes, sizeof bytes, error);
}

tacit_status tacit_buffer_append_double(tacit_buffer *buffer, double value, tacit_error *error) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return tacit_buffer_append_u64(buffer, bits, error);
}

tacit_status tacit_buffer_print(tacit_buffer *buffer, tacit_error *error, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = tacit_format_list(NULL, 0, format, arguments);
    va_end(arguments);
    tacit_status status = TACIT_OK;
    uint8_t *at = NULL;
    if (length < 0) status = tacit_fail(error, TACIT_INTERNAL, "text could not be formatted");
    if (status == TACIT_OK) status = tacit_buffer_reserve(buffer, (size_t)length, &at, error);
    if (status == TACIT_OK && length > 0) {
        tacit_format_list((char *)at, (size_t)length + 1, format, again);
        buffer->length += (size_t)length;
    }
    va_end(again);
    return status;
}

const char *tacit_buffer_text(const tacit_buffer *buffer) {
    return buffer->bytes != NULL ? (const char *)buffer->bytes : "";
}

void tacit_buffer_clear(tacit_buffer *buffer) {
    if (buffer == NULL) return;
    free(buffer->bytes);
    buffer->bytes = NULL;
    buffer->length = buffer->capacity = 0;
}

bool tacit_cursor_skip(tacit_cursor *cursor, const uint8_t **start, size_t length) {
    if (length > cursor->left) return false;
    *start = cursor->bytes;
    cursor->bytes += length;
    cursor->left -= length;
    return true;
}

bool tacit_cursor_read(tacit_cursor *cursor, void *out, size_t length) {
    const uint8_t *start;
    if (!tacit_cursor_skip(cursor, &start, length)) return false;
    if (length > 0) memcpy(out, start, length);
    return true;
}

bool tacit_cursor_read_u32(tacit_cursor *cursor, uint32_t *out) {
    const uint8_t *start;
    if (!tacit_cursor_skip(cursor, &start, 4)) return false;
    *out = (uint32_t)load_little_endian(start, 4);
    return true;
}

bool tacit_cursor_read_u64(tacit_cursor *cursor, uint64_t *out) {
    const uint8_t *start;
    if (!tacit_cursor_skip(cursor, &start, 8)) return false;
    *out = load_little_endian(start, 8);
    return true;
}

bool tacit_cursor_read_double(tacit_cursor *cursor, double *out) {
    uint64_t bits;
    if (!tacit_cursor_read_u64(cursor, &bits)) return false;
    memcpy(out, &bits, sizeof bits);
    return true;
}
