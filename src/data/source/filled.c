/* Rows with one column more, which has the same text in each: what is known of all of them, such as the arm
 * of a study. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/source/source_parts.h"

typedef struct filled_source {
    tacit_source base;
    tacit_source *inner;
    char *value;
    tacit_cell *cells; /* of a block */
    size_t capacity;
} filled_source;

static void filled_free(tacit_source *source) {
    filled_source *self = (filled_source *)source;
    free(self->value);
    free(self->cells);
    tacit_source_free(self->inner);
}

static tacit_status filled_next(tacit_source *source, size_t most, tacit_row_block *out, tacit_error *error) {
    filled_source *self = (filled_source *)source;
    const size_t columns = self->inner->columns.count;
    tacit_row_block block;
    self->inner->filter = source->filter;
    TACIT_TRY(tacit_source_next(self->inner, most, &block, error));
    if (block.rows > self->capacity) {
        free(self->cells);
        self->capacity = 0;
        self->cells = TACIT_NEW(tacit_cell, block.rows * (columns + 1));
        if (self->cells == NULL) return tacit_fail_memory(error);
        self->capacity = block.rows;
    }
    for (size_t i = 0; i < block.rows; i++) {
        tacit_cell *row = self->cells + i * (columns + 1);
        memcpy(row, block.cells + i * columns, columns * sizeof *row);
        row[columns] = (tacit_cell){ .text = self->value,
                                     .length = (uint32_t)strlen(self->value),
                                     .kind = TACIT_CELL_PLAIN,
                                     .line = row[0].line };
    }
    source->row = self->inner->row;
    out->rows = block.rows;
    out->left_out = block.left_out;
    out->ended = block.ended;
    out->cells = self->cells;
    return TACIT_OK;
}

static tacit_status filled_rewind(tacit_source *source, tacit_error *error) {
    return tacit_source_rewind(((filled_source *)source)->inner, error);
}

static const char *filled_file(const tacit_source *source, uint64_t *line) {
    return source_file(((const filled_source *)source)->inner, line);
}

static const tacit_source_kind filled_kind = {
    .name = "filled", .next = filled_next, .rewind = filled_rewind, .free = filled_free, .file = filled_file
};

static tacit_status take_columns(filled_source *self, const char *column, tacit_error *error) {
    const tacit_source *inner = self->inner;
    if (inner->kind->sparse)
        return tacit_fail(error, TACIT_USAGE, "%s is a LIBSVM file, which cannot have a column '%s'",
                          inner->name, column);
    if (tacit_source_find_column(inner, column) >= 0)
        return tacit_fail(
            error, TACIT_INPUT,
            "%s has a column '%s', and what belongs there is drawn and not read: leave the column out",
            inner->name, column);
    self->base.row_name = inner->row_name;
    for (size_t j = 0; j < inner->columns.count; j++)
        TACIT_TRY(source_add_column(&self->base, inner->columns.text[j], tacit_source_hint(inner, j), error));
    return source_add_column(&self->base, column, TACIT_HINT_CATEGORY, error);
}

tacit_status source_fill(tacit_source **out, tacit_source *inner, const char *column, const char *value,
                         tacit_error *error) {
    filled_source *self = NULL;
    tacit_status status = source_create(&self, sizeof *self, &filled_kind, inner->name, error);
    if (status != TACIT_OK) {
        tacit_source_free(inner);
        return status;
    }
    self->inner = inner;
    self->value = tacit_copy_text(value);
    status = self->value != NULL ? take_columns(self, column, error) : tacit_fail_memory(error);
    if (status == TACIT_OK)
        *out = &self->base;
    else
        tacit_source_free(&self->base);
    return status;
}
