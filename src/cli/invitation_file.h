/* Reading an invitation that was given as an operand. */
#pragma once

#include "base/buffer.h"

/* A file that holds the invitation, or - for standard input; appended to `out`. TACIT_USAGE for the
 * invitation itself, which others could read among the program's arguments. */
tacit_status tacit_invitation_read(const char *operand, tacit_buffer *out, tacit_error *error);
