/* A model file; what is accepted must survive being written and read again, byte for byte. */
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    tacit_model *model = NULL, *again = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    if (tacit_model_parse(&model, bytes, length, "fuzz.json", &error) != TACIT_OK) {
        if (error.text[0] == 0) abort();
        return 0;
    }
    tacit_buffer first = TACIT_BUFFER_INIT, second = TACIT_BUFFER_INIT;
    if (tacit_model_print(model, &first, NULL) != TACIT_OK) abort();
    if (tacit_model_parse(&again, first.bytes, first.length, "again", NULL) != TACIT_OK) abort();
    if (tacit_model_print(again, &second, NULL) != TACIT_OK) abort();
    if (first.length != second.length || memcmp(first.bytes, second.bytes, first.length) != 0) abort();
    tacit_buffer_clear(&first);
    tacit_buffer_clear(&second);
    tacit_model_free(model);
    tacit_model_free(again);
    return 0;
}
