#include "session/wire/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const tacit_field *find(const tacit_message *message, const char *name) {
    for (size_t i = 0; i < message->count; i++)
        if (strcmp(message->fields[i].name, name) == 0) return &message->fields[i];
    return NULL;
}

static const char *kind_name(tacit_field_kind kind) {
    switch (kind) {
    case TACIT_FIELD_NUMBERS: return "numbers";
    case TACIT_FIELD_INTEGERS: return "integers";
    case TACIT_FIELD_TEXT: return "text";
    case TACIT_FIELD_BYTES: return "bytes";
    }
    return "unknown";
}

static tacit_status add(tacit_message *message, const char *name, tacit_field_kind kind, const void *data,
                        size_t count, size_t size, tacit_error *error) {
    if (find(message, name) != NULL)
        return tacit_fail(error, TACIT_PROTOCOL, "message field '%s' appears twice", name);
    tacit_field *fields = tacit_grow(message->fields, message->count + 1, sizeof *fields);
    if (fields == NULL) return tacit_fail_memory(error);
    message->fields = fields;
    /* One spare element keeps text NUL-terminated and empty fields non-NULL. */
    tacit_field field = { .name = tacit_copy_text(name), .kind = kind, .count = count };
    field.value.data = count < SIZE_MAX ? tacit_allocate(count + 1, size) : NULL;
    if (field.name == NULL || field.value.data == NULL) {
        free(field.name);
        free(field.value.data);
        return tacit_fail_memory(error);
    }
    if (count > 0) memcpy(field.value.data, data, count * size);
    message->fields[message->count++] = field;
    return TACIT_OK;
}

tacit_status tacit_message_add_numbers(tacit_message *message, const char *name, const double *values,
                                       size_t count, tacit_error *error) {
    return add(message, name, TACIT_FIELD_NUMBERS, values, count, sizeof *values, error);
}

tacit_status tacit_message_add_integers(tacit_message *message, const char *name, const int64_t *values,
                                        size_t count, tacit_error *error) {
    return add(message, name, TACIT_FIELD_INTEGERS, values, count, sizeof *values, error);
}

tacit_status tacit_message_add_text(tacit_message *message, const char *name, const char *text,
                                    tacit_error *error) {
    return add(message, name, TACIT_FIELD_TEXT, text, strlen(text), 1, error);
}

tacit_status tacit_message_add_bytes(tacit_message *message, const char *name, const uint8_t *bytes,
                                     size_t count, tacit_error *error) {
    return add(message, name, TACIT_FIELD_BYTES, bytes, count, 1, error);
}

static tacit_status get(const tacit_message *message, const char *name, tacit_field_kind kind,
                        const tacit_field **out, tacit_error *error) {
    const tacit_field *field = find(message, name);
    if (field == NULL) return tacit_fail(error, TACIT_PROTOCOL, "message lacks the field '%s'", name);
    if (field->kind != kind)
        return tacit_fail(error, TACIT_PROTOCOL, "message field '%s' holds %s where %s belong", name,
                          kind_name(field->kind), kind_name(kind));
    *out = field;
    return TACIT_OK;
}

static tacit_status get_counted(const tacit_message *message, const char *name, tacit_field_kind kind,
                                size_t expected_count, const tacit_field **out, tacit_error *error) {
    const tacit_field *field = NULL;
    TACIT_TRY(get(message, name, kind, &field, error));
    if (field->count != expected_count)
        return tacit_fail(error, TACIT_PROTOCOL, "message field '%s' holds %zu values where %zu belong", name,
                          field->count, expected_count);
    *out = field;
    return TACIT_OK;
}

tacit_status tacit_message_numbers(const tacit_message *message, const char *name, size_t expected_count,
                                   const double **out, tacit_error *error) {
    const tacit_field *field = NULL;
    TACIT_TRY(get_counted(message, name, TACIT_FIELD_NUMBERS, expected_count, &field, error));
    for (size_t i = 0; i < field->count; i++)
        if (!isfinite(field->value.numbers[i]))
            return tacit_fail(error, TACIT_PROTOCOL, "message field '%s' holds a value that is not finite",
                              name);
    *out = field->value.numbers;
    return TACIT_OK;
}

tacit_status tacit_message_integers(const tacit_message *message, const char *name, size_t expected_count,
                                    const int64_t **out, tacit_error *error) {
    const tacit_field *field = NULL;
    TACIT_TRY(get_counted(message, name, TACIT_FIELD_INTEGERS, expected_count, &field, error));
    *out = field->value.integers;
    return TACIT_OK;
}

tacit_status tacit_message_text(const tacit_message *message, const char *name, const char **out,
                                tacit_error *error) {
    const tacit_field *field = NULL;
    TACIT_TRY(get(message, name, TACIT_FIELD_TEXT, &field, error));
    *out = field->value.text;
    return TACIT_OK;
}

tacit_status tacit_message_bytes(const tacit_message *message, const char *name, const uint8_t **out,
                                 size_t *length, tacit_error *error) {
    const tacit_field *field = NULL;
    TACIT_TRY(get(message, name, TACIT_FIELD_BYTES, &field, error));
    *out = field->value.bytes;
    *length = field->count;
    return TACIT_OK;
}

void tacit_message_clear(tacit_message *message) {
    if (message == NULL) return;
    for (size_t i = 0; i < message->count; i++) {
        free(message->fields[i].name);
        free(message->fields[i].value.data);
    }
    free(message->fields);
    *message = (tacit_message)TACIT_MESSAGE_INIT;
}
