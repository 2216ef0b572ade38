/* Reading an invitation that was given as an operand. */
#pragma once

#include "base/buffer.h"

/* The invitation itself, or a file that holds it, or - for standard input; appended to `out`. */
tacit_status tacit_invitation_read(const char *operand, tacit_buffer *out, tacit_error *error);
