#include "cli/row_reading.h"

tacit_status tacit_reading_open(tacit_source **out, const char *name, const tacit_load_options *options,
                                tacit_error *error) {
    const tacit_source_options opening = { .no_header = options->no_header, .separator = options->separator };
    return tacit_source_open(out, name, &opening, error);
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
