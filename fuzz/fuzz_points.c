/* Auxiliary points as a party gets them; what is accepted must be written again byte for byte, for its hash
 * is what was consented to. */
#include <stdlib.h>
#include <string.h>

#include "data/points_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_dataset *points = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    if (tacit_points_decode(&points, bytes, length, &error) != TACIT_OK) {
        if (error.text[0] == 0) abort();
        return 0;
    }
    tacit_rows rows = tacit_dataset_rows(points);
    tacit_buffer again = TACIT_BUFFER_INIT;
    if (tacit_points_encode(&rows, &again, NULL) != TACIT_OK) abort();
    if (again.length != length || memcmp(again.bytes, bytes, length) != 0) abort();
    tacit_buffer_clear(&again);
    tacit_dataset_free(points);
    return 0;
}
