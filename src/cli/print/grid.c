#include "cli/print/grid.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/help/text_width.h"

struct tacit_grid {
    size_t column_count, cell_count, cell_capacity;
    bool failed; /* a cell could not be kept */
    char **cells;
    tacit_grid_column columns[];
};

tacit_status tacit_grid_create(tacit_grid **out, const tacit_grid_column *columns, size_t count,
                               tacit_error *error) {
    assert(count > 0);
    tacit_grid *grid = malloc(sizeof *grid + count * sizeof *columns);
    if (grid == NULL) return tacit_fail_memory(error);
    *grid = (tacit_grid){ .column_count = count };
    for (size_t i = 0; i < count; i++) grid->columns[i] = columns[i];
    *out = grid;
    return TACIT_OK;
}

tacit_grid *tacit_grid_free(tacit_grid *grid) {
    if (grid == NULL) return NULL;
    for (size_t i = 0; i < grid->cell_count; i++) free(grid->cells[i]);
    free(grid->cells);
    free(grid);
    return NULL;
}

/* A name or a level comes from a file: in a table it must stay in its cell. */
static TACIT_PRINTF(1, 0) char *print_cell(const char *format, va_list arguments) {
    char *raw = NULL;
    int length = vasprintf(&raw, format, arguments);
    if (length < 0) return NULL;
    tacit_text_clean(raw, (size_t)length + 1, raw);
    return raw;
}

void tacit_grid_cell(tacit_grid *grid, const char *format, ...) {
    if (grid->failed) return;
    if (grid->cell_count == grid->cell_capacity) {
        size_t capacity = grid->cell_capacity == 0 ? 8 * grid->column_count : 2 * grid->cell_capacity;
        char **cells = tacit_grow(grid->cells, capacity, sizeof *cells);
        grid->failed = cells == NULL;
        if (grid->failed) return;
        grid->cells = cells;
        grid->cell_capacity = capacity;
    }
    va_list arguments;
    va_start(arguments, format);
    char *cell = print_cell(format, arguments);
    va_end(arguments);
    grid->failed = cell == NULL;
    if (cell != NULL) grid->cells[grid->cell_count++] = cell;
}

static size_t column_width(const tacit_grid *grid, size_t column) {
    size_t widest = tacit_text_width(grid->columns[column].title);
    for (size_t i = column; i < grid->cell_count; i += grid->column_count) {
        size_t width = tacit_text_width(grid->cells[i]);
        if (width > widest) widest = width;
    }
    return widest;
}

/* Spaces are owed until a text follows them, so that no line ends with any. */
static void print_aligned(const tacit_grid *grid, size_t column, size_t width, const char *text, size_t *owed,
                          FILE *out) {
    size_t padding = width - tacit_text_width(text);
    bool right = grid->columns[column].align == TACIT_RIGHT;
    if (right) *owed += padding;
    if (text[0] != 0) {
        fprintf(out, "%*s%s", (int)*owed, "", text);
        *owed = 0;
    }
    *owed += (right ? 0 : padding) + strlen("  ");
}

static void print_header(const tacit_grid *grid, const size_t *widths, FILE *out, bool bold) {
    size_t owed = 0;
    if (bold) fputs("\033[1m", out);
    for (size_t i = 0; i < grid->column_count; i++)
        print_aligned(grid, i, widths[i], grid->columns[i].title, &owed, out);
    fputs(bold ? "\033[0m\n" : "\n", out);
    for (size_t i = 0; i < grid->column_count; i++) {
        if (i > 0) fputs("  ", out);
        for (size_t dash = 0; dash < widths[i]; dash++) fputc('-', out);
    }
    fputc('\n', out);
}

tacit_status tacit_grid_print(const tacit_grid *grid, FILE *out, bool bold, tacit_error *error) {
    if (grid->failed) return tacit_fail_memory(error);
    size_t *widths = TACIT_NEW(size_t, grid->column_count);
    if (widths == NULL) return tacit_fail_memory(error);
    for (size_t i = 0; i < grid->column_count; i++) widths[i] = column_width(grid, i);
    print_header(grid, widths, out, bold);
    for (size_t i = 0, owed = 0; i < grid->cell_count; i++) {
        size_t column = i % grid->column_count;
        print_aligned(grid, column, widths[column], grid->cells[i], &owed, out);
        if (column + 1 < grid->column_count && i + 1 < grid->cell_count) continue;
        fputc('\n', out);
        owed = 0;
    }
    free(widths);
    return TACIT_OK;
}
