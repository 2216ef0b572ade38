/* Writing errors: see tacit/status.h for the rules. */
#pragma once

#include <stdarg.h>

#include "tacit/status.h"

#define TACIT_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))

/* Record a failure and return its status, so that `return tacit_fail(error, TACIT_INPUT, "...")` reads
 * as one step. Does nothing but return `status` when `error` is NULL or already written. */
tacit_status tacit_fail(tacit_error *error, tacit_status status, const char *format, ...) TACIT_PRINTF(3, 4);

/* Put "context: " in front of a recorded failure; returns its status. */
tacit_status tacit_fail_in(tacit_error *error, tacit_status status, const char *format, ...)
    TACIT_PRINTF(3, 4);

/* TACIT_USAGE where something that a call cannot do without is NULL; `what` is its name in a sentence ("the
 * model"). */
tacit_status tacit_require(const void *pointer, const char *what, tacit_error *error);

/* Out of memory, said the same way everywhere. */
tacit_status tacit_fail_memory(tacit_error *error);

/* An operating-system failure: "doing what NAME: reason". Reads errno. */
tacit_status tacit_fail_errno(tacit_error *error, const char *doing, const char *name);

/* Return from the enclosing function when a call fails. For code that holds no resources. */
#define TACIT_TRY(call)                                                                                      \
    do {                                                                                                     \
        tacit_status try_status_ = (call);                                                                   \
        if (try_status_ != TACIT_OK) return try_status_;                                                     \
    } while (0)

/* Jump to `cleanup` when a call fails; the enclosing function has a variable `status`. */
#define TACIT_CHECK(call)                                                                                    \
    do {                                                                                                     \
        status = (call);                                                                                     \
        if (status != TACIT_OK) goto cleanup;                                                                \
    } while (0)
