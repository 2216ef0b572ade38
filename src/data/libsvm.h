/*
 * LIBSVM / SVMlight text: one row a line, `label index:value index:value ...`, indices 1-based and
 * ascending, `#` starts a comment. Read into compressed sparse rows; labels stay numbers.
 */
#pragma once

#include <stdbool.h>

#include "data/input.h"
#include "data/row_filter.h"
#include "num/matrix.h"

enum { TACIT_LIBSVM_DIMENSION_LIMIT = 50000000 };

typedef struct tacit_libsvm {
    tacit_csr rows; /* column j holds index j + 1 */
    double *label;  /* rows.rows of them */
    uint64_t seen;  /* rows, whether they are kept or not */
} tacit_libsvm;

#define TACIT_LIBSVM_INIT                                                                                    \
    { TACIT_CSR_INIT, NULL, 0 }

/* `dimension` 0 infers the number of columns from the largest index; otherwise a larger index is refused.
 * Errors name file:line:column, column being the 1-based position of the token on its line. */
tacit_status tacit_libsvm_read(tacit_libsvm *out, tacit_input *input, size_t dimension, tacit_error *error);

/* The same for some of the rows; with `bare` their labels alone. What is left out is passed over, whatever it holds; so give a
 * dimension. None may be left. */
tacit_status tacit_libsvm_read_some(tacit_libsvm *out, tacit_input *input, size_t dimension,
                                    const tacit_row_choice *choice, bool bare, tacit_error *error);

void tacit_libsvm_clear(tacit_libsvm *libsvm);

/* Whether the first bytes of a file look like LIBSVM and not like CSV. */
bool tacit_libsvm_looks_like(const uint8_t *bytes, size_t length);
