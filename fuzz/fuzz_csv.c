/* A data file, CSV or LIBSVM, plain or compressed, all the way to encoded rows: drafted, then read again with
 * the draft. */
#include <stdlib.h>

#include "data/dataset.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static tacit_status load(tacit_dataset **out, tacit_schema **drafted, const uint8_t *bytes, size_t length,
                         const tacit_schema *schema, const tacit_load_options *options) {
    tacit_input *input = NULL;
    tacit_error error = TACIT_ERROR_INIT;
    TACIT_TRY(tacit_input_open_memory(&input, bytes, length, "fuzz", &error));
    tacit_status status = tacit_dataset_read(out, drafted, input, schema, options, &error);
    if ((status != TACIT_OK) != (error.text[0] != 0)) abort(); /* every failure has its sentence */
    tacit_input_free(input);
    return status;
}

static void check_norms(const tacit_dataset *dataset) {
    tacit_rows rows = tacit_dataset_rows(dataset);
    for (size_t i = 0; i < dataset->rows; i++)
        if (!(tacit_rows_norm(&rows, i) <= 1)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    if (length < 1) return 0;
    tacit_load_options options = TACIT_LOAD_DEFAULTS; /* the first byte chooses some */
    options.no_header = bytes[0] & 1;
    options.group = bytes[0] & 2 ? "column1" : NULL;
    options.storage = bytes[0] & 4 ? TACIT_STORAGE_SPARSE : TACIT_STORAGE_AUTO;
    tacit_dataset *dataset = NULL, *again = NULL;
    tacit_schema *schema = NULL;
    if (load(&dataset, &schema, bytes + 1, length - 1, NULL, &options) == TACIT_OK) {
        check_norms(dataset);

        if (load(&again, NULL, bytes + 1, length - 1, schema, &options) != TACIT_OK) abort();
        check_norms(again);
        for (size_t i = 0; i < dataset->rows; i++)
            if (dataset->label[i] != again->label[i]) abort();
    }
    tacit_dataset_free(dataset);
    tacit_dataset_free(again);
    tacit_schema_free(schema);
    return 0;
}
