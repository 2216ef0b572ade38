/* One row a person: of all rows with the same value in a column the last counts, at the place of the
 * first. */
#include <stdlib.h>
#include <string.h>

#include "base/growing.h"
#include "base/memory.h"
#include "data/source/source_parts.h"

typedef struct linked_source {
    tacit_source base;
    tacit_source *inner;
    size_t link;         /* its column in the inner source */
    bool drained;        /* the rows are at hand */
    tacit_buffer packed; /* rows without the link, in the order in which they were read */
    size_t *start;       /* in `packed`, of each person's last row */
    size_t count, capacity;
    tacit_levels seen;
    tacit_cell *cells; /* of a block */
    size_t cell_capacity;
} linked_source;

static const tacit_source_kind linked_kind;

/* The rows, and who they are about, are forgotten. */
static void forget(linked_source *self) {
    tacit_buffer_clear(&self->packed);
    tacit_levels_clear(&self->seen);
    free(self->start);
    self->start = NULL;
    self->count = self->capacity = 0;
    self->drained = false;
}

static void linked_free(tacit_source *source) {
    linked_source *self = (linked_source *)source;
    forget(self);
    free(self->cells);
    tacit_source_free(self->inner);
}

/* Which person a row is about. */
static tacit_status find_person(linked_source *self, const tacit_cell *cell, size_t *out,
                                tacit_error *error) {
    char scratch[TACIT_NUMBER_TEXT];
    int32_t code = 0;
    tacit_cell text = tacit_cell_as_text(cell, scratch);
    if (text.length == 0 || text.kind == TACIT_CELL_OTHER)
        return tacit_source_fail(self->inner, cell->line, self->link, error, TACIT_INPUT,
                                 "a row has nothing in column '%s', which says whom it is about",
                                 self->inner->columns.text[self->link]);
    TACIT_TRY(tacit_levels_add(&self->seen, text.text, text.length, &code, error));
    *out = (size_t)code;
    if (*out < self->count) return TACIT_OK;
    size_t *start = tacit_grow_by_one(self->start, self->count, &self->capacity, 1024, sizeof *start);
    if (start == NULL) return tacit_fail_memory(error);
    self->start = start;
    self->count++;
    return TACIT_OK;
}

/* Of those that nobody chose only the number counts. */
static tacit_status take_row(linked_source *self, const tacit_cell *row, tacit_cell *kept,
                             tacit_error *error) {
    size_t columns = self->inner->columns.count, person = 0, count = 0;
    TACIT_TRY(find_person(self, &row[self->link], &person, error));
    self->start[person] = self->packed.length;
    if (!tacit_row_filter_keeps(self->base.filter, person)) return TACIT_OK;
    for (size_t j = 0; j < columns; j++)
        if (j != self->link) kept[count++] = row[j];
    return tacit_row_keep(&self->packed, kept, count, error);
}

static tacit_status drain(linked_source *self, tacit_error *error) {
    size_t columns = self->inner->columns.count;
    tacit_row_block block = { .ended = false };
    tacit_cell *kept = TACIT_NEW(tacit_cell, columns);
    tacit_status status = TACIT_OK;
    if (kept == NULL) return tacit_fail_memory(error);
    while (!block.ended) {
        TACIT_CHECK(tacit_source_next(self->inner, BLOCK_CELLS, &block, error));
        for (size_t i = 0; i < block.rows; i++)
            TACIT_CHECK(take_row(self, block.cells + i * columns, kept, error));
    }
    self->drained = true;
cleanup:
    free(kept);
    return status;
}

static tacit_status linked_next(tacit_source *source, size_t most, tacit_row_block *out, tacit_error *error) {
    linked_source *self = (linked_source *)source;
    size_t columns = source->columns.count, limit = BLOCK_CELLS / columns + 1;
    if (!self->drained) TACIT_TRY(drain(self, error));
    if (self->cell_capacity == 0) {
        self->cells = TACIT_NEW(tacit_cell, limit * columns);
        if (self->cells == NULL) return tacit_fail_memory(error);
        self->cell_capacity = limit;
    }
    for (; source->row < self->count && out->rows + out->left_out < most && out->rows < limit;
         source->row++) {
        if (!tacit_row_filter_keeps(source->filter, source->row)) {
            out->left_out++;
            continue;
        }
        tacit_row_restore(self->packed.bytes + self->start[source->row], self->cells + out->rows++ * columns,
                          columns);
    }
    out->ended = source->row == self->count;
    out->cells = self->cells;
    return TACIT_OK;
}

/* From the inner source again, not from what is at hand: that another choice left rows out does not matter
 * then. */
static tacit_status linked_rewind(tacit_source *source, tacit_error *error) {
    linked_source *self = (linked_source *)source;
    forget(self);
    return tacit_source_rewind(self->inner, error);
}

static const char *linked_file(const tacit_source *source, uint64_t *line) {
    return source_file(((const linked_source *)source)->inner, line);
}

static const tacit_source_kind linked_kind = {
    .name = "linked", .next = linked_next, .rewind = linked_rewind, .free = linked_free, .file = linked_file
};

static tacit_status take_columns(linked_source *self, const char *link, tacit_error *error) {
    const tacit_source *inner = self->inner;
    int64_t found = tacit_source_find_column(inner, link);
    if (found < 0)
        return tacit_fail(error, TACIT_USAGE, "%s has no column '%s' to link rows by", inner->name, link);
    self->link = (size_t)found;
    self->base.dropped = self->link + 1;
    self->base.row_name = inner->row_name;
    for (size_t j = 0; j < inner->columns.count; j++)
        if (j != self->link)
            TACIT_TRY(
                source_add_column(&self->base, inner->columns.text[j], tacit_source_hint(inner, j), error));
    if (self->base.columns.count > 0) return TACIT_OK;
    return tacit_fail(error, TACIT_INPUT, "%s has no column beside '%s'", inner->name, link);
}

tacit_status source_link(tacit_source **out, tacit_source *inner, const char *link, tacit_error *error) {
    linked_source *self = NULL;
    tacit_status status = source_create(&self, sizeof *self, &linked_kind, inner->name, error);
    if (status != TACIT_OK) {
        tacit_source_free(inner);
        return status;
    }
    self->inner = inner;
    status = take_columns(self, link, error);
    if (status == TACIT_OK)
        *out = &self->base;
    else
        tacit_source_free(&self->base);
    return status;
}
