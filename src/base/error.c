#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tacit/tacit.h"
#include "base/version.h"

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

tacit_status tacit_fail(tacit_error *error, tacit_status status, const char *format, ...) {
    if (error == NULL || error->status != TACIT_OK) return status;
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return status;
}

tacit_status tacit_fail_in(tacit_error *error, tacit_status status, const char *format, ...) {
    if (error == NULL || status == TACIT_OK) return status;
    char inner[TACIT_ERROR_TEXT_SIZE];
    const char *said = error->status != TACIT_OK ? error->text : tacit_status_text(status);
    memcpy(inner, said, strlen(said) + 1);
    va_list arguments;
    va_start(arguments, format);
    int used = vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    if (used < 0) used = 0;
    if ((size_t)used < sizeof error->text)
        snprintf(error->text + used, sizeof error->text - (size_t)used, ": %s", inner);
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
