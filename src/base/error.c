#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/version.h"
#include "tacit/tacit.h"

const char *tacit_version(void) { return TACIT_VERSION; }

const char *tacit_status_name(tacit_status status) {
    switch (status) {
#define TACIT_STATUS_NAME(symbol, value, exit_code, text)                                                    \
    case TACIT_##symbol: return #symbol;
        TACIT_STATUS_MAP(TACIT_STATUS_NAME)
#undef TACIT_STATUS_NAME
    }
    return "UNKNOWN";
}

const char *tacit_status_text(tacit_status status) {
    switch (status) {
#define TACIT_STATUS_TEXT(symbol, value, exit_code, text)                                                    \
    case TACIT_##symbol: return text;
        TACIT_STATUS_MAP(TACIT_STATUS_TEXT)
#undef TACIT_STATUS_TEXT
    }
    return "unknown status";
}

int tacit_status_exit_code(tacit_status status) {
    switch (status) {
#define TACIT_STATUS_EXIT(symbol, value, exit_code, text)                                                    \
    case TACIT_##symbol: return exit_code;
        TACIT_STATUS_MAP(TACIT_STATUS_EXIT)
#undef TACIT_STATUS_EXIT
    }
    return 1;
}

bool tacit_text_option(const char *text, tacit_named_option *out) {
    static const char opening[] = "the option '", letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    if (text == NULL || out == NULL) return false;
    for (const char *begin = text; (begin = strstr(begin, opening)) != NULL; begin++) {
        const char *name = begin + sizeof opening - 1;
        const size_t length = strspn(name, letters);
        const char *end = name + length;
        const char *value = *end == '=' ? end + 1 : NULL;
        if (value != NULL) end = value + strcspn(value, "'");
        if (length == 0 || *end != '\'') continue;
        *out = (tacit_named_option){ .begin = begin,
                                     .end = end + 1,
                                     .name = name,
                                     .name_length = length,
                                     .value = value,
                                     .value_length = value != NULL ? (size_t)(end - value) : 0 };
        return true;
    }
    return false;
}

tacit_status tacit_fail(tacit_error *error, tacit_status status, const char *format, ...) {
    if (error == NULL || error->status != TACIT_OK) return status;
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    tacit_format_list(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return status;
}

tacit_status tacit_require(const void *pointer, const char *what, tacit_error *error) {
    return pointer != NULL ? TACIT_OK : tacit_fail(error, TACIT_USAGE, "%s is missing: NULL was given", what);
}

/* As much of `text` as fits. */
static void append(char *out, size_t size, const char *text) {
    size_t used = strlen(out), length = strnlen(text, size - used - 1);
    memcpy(out + used, text, length);
    out[used + length] = 0;
}

tacit_status tacit_fail_in(tacit_error *error, tacit_status status, const char *format, ...) {
    if (error == NULL || status == TACIT_OK) return status;
    char inner[TACIT_ERROR_TEXT_SIZE];
    const char *said = error->status != TACIT_OK ? error->text : tacit_status_text(status);
    memcpy(inner, said, strlen(said) + 1);
    va_list arguments;
    va_start(arguments, format);
    tacit_format_list(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    append(error->text, sizeof error->text, ": ");
    append(error->text, sizeof error->text, inner);
    if (error->status == TACIT_OK) error->status = status;
    return status;
}

tacit_status tacit_fail_memory(tacit_error *error) {
    return tacit_fail(error, TACIT_NO_MEMORY, "out of memory");
}

tacit_status tacit_fail_errno(tacit_error *error, const char *doing, const char *name) {
    char scratch[128];
    const char *reason = strerror_r(errno, scratch, sizeof scratch); /* GNU's: may not use the scratch */
    return tacit_fail(error, TACIT_IO, "%s %s: %s", doing, name, reason);
}
