#include "cli/invitation_file.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

/* Of any version of the line: what a newer one needs is said where it is parsed. */
static bool is_line(const char *text) {
    static const char stem[] = "tacit";
    while (isspace((unsigned char)*text)) text++;
    return strncmp(text, stem, sizeof stem - 1) == 0 && isdigit((unsigned char)text[sizeof stem - 1]);
}

tacit_status tacit_invitation_read(const char *operand, tacit_buffer *out, tacit_error *error) {
    if (strcmp(operand, "-") == 0) return tacit_input_read(out, error);
    if (strchr(operand, '/') != NULL || access(operand, F_OK) == 0)
        return tacit_file_read(operand, out, error);
    if (!is_line(operand))
        return tacit_fail(error, TACIT_NOT_FOUND,
                          "%s: no such file, and not an invitation itself (one begins with tacit1-)",
                          operand);
    return tacit_fail(
        error, TACIT_USAGE,
        "an invitation is as secret as a password, and other users of this machine can read a program's "
        "arguments: put it in a file and name that, or give - and the invitation on standard input");
}
