/* A LIBSVM file into compressed sparse rows. */
#include <stdlib.h>

#include "data/source/libsvm.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_input *input = NULL;
    tacit_libsvm file = TACIT_LIBSVM_INIT;
    tacit_libsvm_looks_like(bytes, length);
    if (tacit_input_open_memory(&input, bytes, length, "fuzz.svm", NULL) != TACIT_OK) return 0;
    if (tacit_libsvm_read(&file, input, 0, NULL) == TACIT_OK) {
        for (size_t i = 0; i < file.rows.rows; i++)
            for (size_t k = file.rows.start[i]; k < file.rows.start[i + 1]; k++) {
                if (file.rows.column[k] >= file.rows.cols) abort();
                if (k > file.rows.start[i] && file.rows.column[k] <= file.rows.column[k - 1]) abort();
            }
    }
    tacit_libsvm_clear(&file);
    tacit_input_free(input);
    return 0;
}
