#include "cli/invitation.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"

tacit_status tacit_invitation_read(const char *operand, tacit_buffer *out, tacit_error *error) {
    if (strcmp(operand, "-") == 0) return tacit_file_read("/dev/stdin", out, error);
    if (strchr(operand, '/') != NULL || access(operand, F_OK) == 0)
        return tacit_file_read(operand, out, error);
    return tacit_buffer_append(out, operand, strlen(operand), error);
}
