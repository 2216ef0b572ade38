/* What a call is asked to do: the flags of the command line without their dashes. See tacit.h. */
#ifndef TACIT_OPTIONS_H
#define TACIT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tacit/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a caller must look at, and which arguments must not be NULL, numbered from 1: for the caller's
 * compiler. The library itself is built without, and checks each. */
#if defined(__GNUC__) && !defined(TACIT_NO_ATTRIBUTES)
#define TACIT_CHECKED __attribute__((warn_unused_result))
#define TACIT_NONNULL(...) __attribute__((nonnull(__VA_ARGS__)))
#else
#define TACIT_CHECKED
#define TACIT_NONNULL(...)
#endif

typedef struct tacit_options tacit_options;

/* An empty list of options.
 *   Out: *out   freed with tacit_options_free */
tacit_status tacit_options_create(tacit_options **out, tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1);

/* Add an option. Names are checked by the call that uses them, which lists those it knows. A name may come
 * again where the flag may: "set", "undersample".
 *   In: name    copied, e.g. "epsilon"
 *       value   copied, as the command line has it: "0.5" */
tacit_status tacit_options_set(tacit_options *options, const char *name, const char *value,
                               tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2, 3);

/* The same with a value that is a number, written so that it reads back the same.
 *   In: value   finite, or infinite where the flag takes inf; TACIT_USAGE for NaN */
tacit_status tacit_options_set_number(tacit_options *options, const char *name, double value,
                                      tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);

/* The same with a whole number, such as a seed, of which every digit counts. */
tacit_status tacit_options_set_count(tacit_options *options, const char *name, uint64_t value,
                                     tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);

/* The same with "yes" or "no". */
tacit_status tacit_options_set_flag(tacit_options *options, const char *name, bool value,
                                    tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2);

/* Add a setting of the method: the option "set" with "key=value".
 *   In: key, value   copied, e.g. "clip" and "2" */
tacit_status tacit_options_set_setting(tacit_options *options, const char *key, const char *value,
                                       tacit_error *error) TACIT_CHECKED TACIT_NONNULL(1, 2, 3);

/* Free a list of options.
 *   In: options   may be NULL
 *   Returns: NULL */
tacit_options *tacit_options_free(tacit_options *options);

#ifdef __cplusplus
}
#endif
#endif
