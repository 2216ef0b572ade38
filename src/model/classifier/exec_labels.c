#include "model/classifier/exec_labels.h"

#include <math.h>
#include <string.h>

#include "data/schema/text.h"

static tacit_status read_label(char *line, size_t length, size_t number, size_t classes, const char *shown,
                               int32_t *out, tacit_error *error) {
    char cell[TACIT_CELL_TEXT];
    double value;
    while (length > 0 && (line[length - 1] == '\r' || line[length - 1] == ' ')) line[--length] = 0;
    if (!tacit_text_to_number(line, length, &value) || value != floor(value) || value < 0 ||
        value >= (double)classes)
        return tacit_fail(error, TACIT_INPUT, "line %zu that '%s' printed is '%s', not a class from 0 to %zu",
                          number, shown, tacit_text_shown(line, length, cell), classes - 1);
    *out = (int32_t)value;
    return TACIT_OK;
}

tacit_status exec_labels_read(int32_t *labels, size_t points, tacit_buffer *output, size_t classes,
                              const char *shown, tacit_error *error) {
    size_t lines = 0;
    for (size_t i = 0; i < output->length; i++) lines += output->bytes[i] == '\n' || i + 1 == output->length;
    if (lines != points)
        return tacit_fail(error, TACIT_INPUT,
                          "'%s' printed %zu lines for %zu points: one label a line is wanted", shown, lines,
                          points);
    if (points == 0) return TACIT_OK; /* and there may be no buffer */
    char *at = (char *)output->bytes, *end = at + output->length;
    for (size_t i = 0; i < points; i++) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        if (stop == NULL) stop = end; /* the buffer keeps a NUL there */
        *stop = 0;
        TACIT_TRY(read_label(at, (size_t)(stop - at), i + 1, classes, shown, &labels[i], error));
        at = stop + 1;
    }
    return TACIT_OK;
}
