#include "cli/row_reading.h"

#include <string.h>
#include <strings.h>

/* The same names that loading a dataset goes by: .libsvm, .svm or .svmlight before any .gz or .xz. */
static bool is_named_libsvm(const char *path) {
    static const char *const extensions[] = { ".libsvm", ".svm", ".svmlight" };
    size_t length = strlen(path);
    if (length > 3 &&
        (strcasecmp(path + length - 3, ".gz") == 0 || strcasecmp(path + length - 3, ".xz") == 0))
        length -= 3;
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        size_t size = strlen(extensions[i]);
        if (length > size && strncasecmp(path + length - size, extensions[i], size) == 0) return true;
    }
    return false;
}

tacit_status tacit_reading_is_libsvm(bool *out, const char *path, tacit_error *error) {
    tacit_input *input = NULL;
    const uint8_t *bytes = NULL;
    size_t length = 0;
    TACIT_TRY(tacit_input_open(&input, path, error));
    tacit_status status = tacit_input_peek(input, &bytes, &length, error);
    if (status == TACIT_OK) *out = is_named_libsvm(path) || tacit_libsvm_looks_like(bytes, length);
    tacit_input_free(input);
    return status;
}

tacit_status tacit_reading_libsvm(tacit_libsvm *out, const char *path, tacit_error *error) {
    tacit_input *input = NULL;
    TACIT_TRY(tacit_input_open(&input, path, error));
    tacit_status status = tacit_libsvm_read(out, input, 0, error);
    tacit_input_free(input);
    return status;
}

tacit_status tacit_reading_label(size_t *out, const tacit_table *table, const tacit_load_options *options,
                                 tacit_error *error) {
    if (options->label != NULL) return tacit_table_find(table, options->label, "--label", out, error);
    *out = table->cols - 1;
    return TACIT_OK;
}

const char *tacit_plural(uint64_t count, const char *one, const char *many) {
    return count == 1 ? one : many;
}
