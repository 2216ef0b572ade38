/*
 * LIBSVM / SVMlight text: one row a line, `label index:value index:value ...`, indices 1-based and
 * ascending, `#` starts a comment. Read into compressed sparse rows; labels stay numbers.
 */
#pragma once

#include <stdbool.h>

#include "data/source/source.h"
#include "num/matrix.h"

enum { TACIT_LIBSVM_DIMENSION_LIMIT = 50000000 };

typedef struct tacit_libsvm {
    tacit_csr rows; /* column j holds index j + 1 */
    double *label;  /* rows.rows of them */
    uint64_t seen;  /* rows, whether they are kept or not */
} tacit_libsvm;

#define TACIT_LIBSVM_INIT                                                                                    \
    { TACIT_CSR_INIT, NULL, 0 }

/* All rows of a sparse source, which come as it was told to choose them; none may be left. */
tacit_status tacit_libsvm_gather(tacit_libsvm *out, tacit_source *source, tacit_error *error);

/* `dimension` 0 infers the number of columns from the largest index; otherwise a larger index is refused.
 * Errors name file:line:column, column being the 1-based position of the token on its line. */
tacit_status tacit_libsvm_read(tacit_libsvm *out, tacit_input *input, size_t dimension, tacit_error *error);

void tacit_libsvm_clear(tacit_libsvm *libsvm);

/* Whether the first bytes of a file look like LIBSVM and not like CSV. */
bool tacit_libsvm_looks_like(const uint8_t *bytes, size_t length);
