/* What the owner's own program prints as labels, and the command line that names it. The first byte says
 * which, and how many points there are. */
#include <stdlib.h>
#include <string.h>

#include "model/classifier/exec_command.h"
#include "model/classifier/exec_labels.h"
#include "outside.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { POINTS_MOST = 32, CLASSES = 3 };

static void try_labels(size_t points, const uint8_t *bytes, size_t length) {
    int32_t labels[POINTS_MOST];
    tacit_buffer output = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    outside_must(tacit_buffer_append(&output, bytes, length, NULL));
    tacit_status status = exec_labels_read(labels, points, &output, CLASSES, "program", &error);
    outside_explained(status, &error);
    for (size_t i = 0; status == TACIT_OK && i < points; i++)
        if (labels[i] < 0 || labels[i] >= CLASSES) abort();
    tacit_buffer_clear(&output);
}

static void try_command(const uint8_t *bytes, size_t length) {
    char **words = NULL;
    tacit_buffer settled = TACIT_BUFFER_INIT;
    tacit_error error = TACIT_ERROR_INIT;
    tacit_status status = exec_command_split(&words, (const char *)bytes, length, &error);
    outside_explained(status, &error);
    for (size_t i = 0; status == TACIT_OK && words[i] != NULL; i++)
        if (strlen(words[i]) > length) abort();
    if (status == TACIT_OK) {
        error = (tacit_error)TACIT_ERROR_INIT;
        outside_explained(exec_command_settle(&settled, (const char *)bytes, length, &error), &error);
    }
    tacit_buffer_clear(&settled);
    free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    if (length == 0) return 0;
    if (bytes[0] == 'c')
        try_command(bytes + 1, length - 1);
    else
        try_labels(bytes[0] % POINTS_MOST, bytes + 1, length - 1);
    return 0;
}
