/* Which build of the program runs. */
#pragma once

#include "base/error.h"
#include "crypto/digest.h"

enum { TACIT_BUILD_SIZE = 2 * TACIT_DIGEST_BYTES + 1 };

/* The digest of the running program's file, in hexadecimal: the same of two builds only where they are the
 * same bytes, which the same source gives wherever it is built (script/reproducible). The libraries of others
 * that it was linked with are not in it. Fails where the file cannot be read. */
tacit_status tacit_program_identity(char out[TACIT_BUILD_SIZE], tacit_error *error);
