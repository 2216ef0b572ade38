/*
 * Status codes and the caller-supplied error of every Tacit call.
 *
 * Rules that hold for the whole interface:
 *  - A call that can fail returns a tacit_status; TACIT_OK is zero.
 *  - The last argument is a `tacit_error *`, which may be NULL. It is written only on failure, and the
 *    deepest writer wins: a caller adds context in front of the text but never replaces it.
 *  - Outputs come first in the argument list, are assigned last, and are untouched on failure.
 *  - A `**out` is owned by the caller, who frees it with the type's own free function; a returned
 *    pointer is borrowed. Every free function accepts NULL and returns NULL.
 *  - Nothing prints, exits, or keeps global mutable state. Objects may be used from one thread at a
 *    time unless their header says otherwise.
 */
#ifndef TACIT_STATUS_H
#define TACIT_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One table yields the enum, the names, the texts, the exit codes and the bindings' exceptions.
 * X(symbol, value, exit code, text) */
#define TACIT_STATUS_MAP(X)                                                                                  \
    X(OK, 0, 0, "done")                                                                                      \
    X(USAGE, 1, 2, "wrong argument or flag")                                                                 \
    X(INPUT, 2, 1, "unusable input")                                                                         \
    X(REFUSED, 3, 3, "refused by budget, consent or policy")                                                 \
    X(NO_MEMORY, 4, 1, "out of memory")                                                                      \
    X(IO, 5, 1, "input or output failed")                                                                    \
    X(NETWORK, 6, 1, "network failure")                                                                      \
    X(PROTOCOL, 7, 1, "message does not follow the protocol")                                                \
    X(CORRUPT, 8, 1, "stored state is damaged")                                                              \
    X(NOT_FOUND, 9, 1, "not found")                                                                          \
    X(LIMIT, 10, 1, "larger than the allowed size")                                                          \
    X(NOT_CONVERGED, 11, 1, "solver did not reach its tolerance")                                            \
    X(CANCELLED, 12, 1, "cancelled")                                                                         \
    X(INTERNAL, 13, 1, "internal error")

typedef enum tacit_status {
#define TACIT_STATUS_ENUM(symbol, value, exit_code, text) TACIT_##symbol = value,
    TACIT_STATUS_MAP(TACIT_STATUS_ENUM)
#undef TACIT_STATUS_ENUM
} tacit_status;

#define TACIT_ERROR_TEXT_SIZE 512

/* One sentence that names the place and the remedy. Start with TACIT_ERROR_INIT. */
typedef struct tacit_error {
    tacit_status status;
    char text[TACIT_ERROR_TEXT_SIZE];
} tacit_error;

#define TACIT_ERROR_INIT                                                                                     \
    { TACIT_OK, "" }

/* An option that a sentence of the library names, an error's or another. The sentence says "the option
 * 'rows'", or "the option 'delta=1e-5'" with a value, whoever reads it; a program writes these words in its
 * own way: --rows on a command line, rows= in Python. Pointers are into the text. */
typedef struct tacit_named_option {
    const char *begin, *end; /* of the words, the closing quote included */
    const char *name;        /* such as rows or delta */
    size_t name_length;
    const char *value; /* such as 1e-5; NULL: none is given */
    size_t value_length;
} tacit_named_option;

/* The first option that `text` names; false: it names none, or either is NULL, and *out is left alone. Call
 * it again with out->end for the next. */
bool tacit_text_option(const char *text, tacit_named_option *out);

/* The symbol of a status without its prefix, e.g. "REFUSED". Never NULL. */
const char *tacit_status_name(tacit_status status);

/* What a status means, in a few words. Never NULL. */
const char *tacit_status_text(tacit_status status);

/* The exit code of a program that ends with this status: 0 done, 1 failed, 2 usage, 3 refused. */
int tacit_status_exit_code(tacit_status status);

#ifdef __cplusplus
}
#endif
#endif
