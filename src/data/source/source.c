#include "data/source/source_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/growing.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/spill.h"
#include "data/schema/names.h"
#include "data/source/linking.h"

/* Every kind. What is named by its path is asked in this order; CSV takes any file that is left. */
#define LISTED(name) &tacit_source_##name,
static const tacit_source_kind *const kinds[] = { TACIT_SOURCES(LISTED) };

enum { KINDS = sizeof kinds / sizeof *kinds };

const tacit_source_kind *source_kind(size_t number) { return number < KINDS ? kinds[number] : NULL; }

/* ---- opening ---- */

static const tacit_source_kind *find_prefix(const char *name) {
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i]->prefix != NULL && strncmp(name, kinds[i]->prefix, strlen(kinds[i]->prefix)) == 0)
            return kinds[i];
    return NULL;
}

static const tacit_source_kind *find_taker(const tacit_place *place) {
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i]->takes != NULL && kinds[i]->takes(place)) return kinds[i];
    return NULL;
}

static bool is_folder(const char *path) {
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

bool tacit_source_is_query(const char *name) { return find_prefix(name) != NULL; }

void tacit_source_allow(tacit_harden_settings *settings, const char *name) {
    if (name == NULL) return;
    if (tacit_spill_folder() != NULL) tacit_harden_allow(settings, tacit_spill_folder(), true);
    const tacit_source_kind *kind = find_prefix(name);
    tacit_place place = { .name = name, .rest = name, .is_folder = is_folder(name) };
    if (kind != NULL)
        place.rest = name + strlen(kind->prefix);
    else
        kind = find_taker(&place);
    if (kind != NULL && kind->allow != NULL)
        kind->allow(settings, &place);
    else if (is_folder(place.rest))
        tacit_harden_allow(settings, place.rest, false);
    else
        tacit_harden_allow_around(settings, place.rest, false);
}

tacit_status source_create(void *out, size_t size, const tacit_source_kind *kind, const char *name,
                           tacit_error *error) {
    tacit_source *source = tacit_allocate(1, size);
    if (source == NULL) return tacit_fail_memory(error);
    source->kind = kind;
    source->row_name = kind->row;
    source->name = tacit_copy_text(name);
    if (source->name == NULL) {
        free(source);
        return tacit_fail_memory(error);
    }
    memcpy(out, &source, sizeof source);
    return TACIT_OK;
}

/* The input becomes the source's when it owns it, and else stays the caller's. */
static tacit_status open_kind(tacit_source **out, const tacit_source_kind *kind, const tacit_place *place,
                              const tacit_source_options *options, bool owns_input, tacit_error *error) {
    tacit_source *source = NULL;
    TACIT_TRY(kind->open(&source, place, options, error));
    source->input = place->input;
    source->owns_input = owns_input;
    *out = source;
    return TACIT_OK;
}

static tacit_status open_file(tacit_source **out, tacit_input *input, const tacit_source_options *options,
                              bool owns_input, tacit_error *error) {
    const char *name = tacit_input_name(input);
    tacit_place place = { .name = name, .rest = name, .input = input };
    TACIT_TRY(tacit_input_peek(input, &place.bytes, &place.length, error));
    TACIT_TRY(source_refuse_foreign(&place, error));
    return open_kind(out, find_taker(&place), &place, options, owns_input, error);
}

static tacit_status open_path(tacit_source **out, const char *path, const tacit_source_options *options,
                              tacit_error *error) {
    tacit_place place = { .name = path, .rest = path, .is_folder = is_folder(path) };
    const tacit_source_kind *kind = find_taker(&place);
    if (kind != NULL) return open_kind(out, kind, &place, options, false, error);
    tacit_input *input = NULL;
    TACIT_TRY(tacit_input_open(&input, path, error));
    tacit_status status = open_file(out, input, options, true, error);
    if (status != TACIT_OK) tacit_input_free(input);
    return status;
}

static const tacit_source_options no_options;

static tacit_status link_rows(tacit_source **out, tacit_source *source, const char *link,
                              tacit_error *error) {
    if (link != NULL && source->kind->sparse) {
        tacit_status status =
            tacit_fail(error, TACIT_USAGE, "%s is a LIBSVM file: it has no column '%s' to link rows by",
                       source->name, link);
        tacit_source_free(source);
        return status;
    }
    if (link != NULL) return source_link(out, source, link, error);
    *out = source;
    return TACIT_OK;
}

static tacit_status arrange(tacit_source **out, tacit_source *source, const tacit_source_options *options,
                            tacit_error *error) {
    tacit_source *linked = NULL;
    TACIT_TRY(link_rows(&linked, source, options->link, error));
    if (options->fill != NULL) return source_fill(out, linked, options->fill, options->fill_value, error);
    *out = linked;
    return TACIT_OK;
}

tacit_status tacit_source_open(tacit_source **out, const char *name, const tacit_source_options *options,
                               tacit_error *error) {
    tacit_source *source = NULL;
    if (options == NULL) options = &no_options;
    TACIT_TRY(tacit_source_check(name, error));
    TACIT_TRY(source_refuse_absent(name, error));
    const tacit_source_kind *kind = find_prefix(name);
    if (kind != NULL) {
        tacit_place place = { .name = name, .rest = name + strlen(kind->prefix) };
        TACIT_TRY(open_kind(&source, kind, &place, options, false, error));
    } else {
        TACIT_TRY(open_path(&source, name, options, error));
    }
    return arrange(out, source, options, error);
}

tacit_status tacit_source_open_input(tacit_source **out, tacit_input *input,
                                     const tacit_source_options *options, tacit_error *error) {
    tacit_source *source = NULL;
    if (options == NULL) options = &no_options;
    TACIT_TRY(open_file(&source, input, options, false, error));
    return arrange(out, source, options, error);
}

tacit_source *tacit_source_free(tacit_source *source) {
    if (source == NULL) return NULL;
    source->kind->free(source);
    source_free_cells(source);
    if (source->owns_input) tacit_input_free(source->input);
    tacit_levels_clear(&source->columns);
    free(source->hints);
    free(source->name);
    free(source);
    return NULL;
}

/* ---- reading ---- */

tacit_status tacit_source_next(tacit_source *source, size_t most, tacit_row_block *out, tacit_error *error) {
    *out = (tacit_row_block){ .rows = 0 };
    return (source->kind->next != NULL ? source->kind->next : source_next_cells)(source, most, out, error);
}

tacit_status tacit_source_rewind(tacit_source *source, tacit_error *error) {
    source->row = 0;
    source_forget_cells(source);
    return source->kind->rewind(source, error);
}

/* ---- columns ---- */

int64_t tacit_source_find_column(const tacit_source *source, const char *name) {
    return tacit_levels_find(&source->columns, name, strlen(name));
}

tacit_status tacit_source_require(const tacit_source *source, const char *name, const char *flag, size_t *out,
                                  tacit_error *error) {
    return tacit_names_find(&source->columns, name, "column", flag, source->name, out, error);
}

tacit_column_hint tacit_source_hint(const tacit_source *source, size_t column) {
    return source->hints != NULL ? (tacit_column_hint)source->hints[column] : TACIT_HINT_NONE;
}

tacit_status source_add_column(tacit_source *source, const char *name, tacit_column_hint hint,
                               tacit_error *error) {
    size_t count = source->columns.count;
    char shown[TACIT_CELL_TEXT];
    int32_t code = 0;
    if (count == COLUMN_LIMIT)
        return tacit_fail(error, TACIT_LIMIT, "%s: more than %d columns", source->name, COLUMN_LIMIT);
    if (!tacit_text_is_utf8(name, strlen(name)))
        return tacit_fail(error, TACIT_INPUT, "%s: the name of column %zu is not UTF-8 text", source->name,
                          count + 1);
    uint8_t *hints = tacit_grow(source->hints, count + 1, sizeof *hints);
    if (hints == NULL) return tacit_fail_memory(error);
    source->hints = hints;
    hints[count] = (uint8_t)hint;
    TACIT_TRY(tacit_levels_add(&source->columns, name, strlen(name), &code, error));
    if ((size_t)code == count) return TACIT_OK;
    return tacit_fail(error, TACIT_INPUT, "%s: columns %" PRId32 " and %zu are both called '%s': rename one",
                      source->name, code + 1, count + 1, tacit_text_shown(name, strlen(name), shown));
}

/* ---- places ---- */

const char *source_file(const tacit_source *source, uint64_t *line) {
    return source->kind->file != NULL ? source->kind->file(source, line) : source->name;
}

const char *tacit_source_place(const tacit_source *source, uint64_t line, char out[TACIT_PLACE_SIZE]) {
    const char *file = source_file(source, &line), *row = source->row_name;
    snprintf(out, TACIT_PLACE_SIZE, "%s:%s%s%s%" PRIu64, file, row != NULL ? " " : "", row != NULL ? row : "",
             row != NULL ? " " : "", line);
    return out;
}

tacit_status tacit_source_fail(const tacit_source *source, uint64_t line, size_t column, tacit_error *error,
                               tacit_status status, const char *format, ...) {
    char said[TACIT_ERROR_TEXT_SIZE], place[TACIT_PLACE_SIZE], known[TACIT_KNOWN_TEXT];
    va_list arguments;
    va_start(arguments, format);
    tacit_format_list(said, sizeof said, format, arguments);
    va_end(arguments);
    tacit_source_place(source, line, place);
    size_t position = column + 1 + (source->dropped > 0 && column + 1 >= source->dropped);
    if (source->kind->position != NULL && column < source->columns.count)
        position = source->kind->position(source, column) + 1;
    return tacit_fail(error, status, "%s%s%zu%s: %s", place, source->row_name != NULL ? ", column " : ":",
                      position, tacit_names_known(&source->columns, column, known), said);
}

/* ---- what kinds share ---- */

tacit_status source_split_query(char **copy, char **query, const char *rest, const char *example,
                                tacit_error *error) {
    *copy = tacit_copy_text(rest);
    if (*copy == NULL) return tacit_fail_memory(error);
    *query = strchr(*copy, '?');
    if (*query == NULL) {
        free(*copy);
        *copy = NULL;
        return tacit_fail(error, TACIT_USAGE, "a database needs a query after a question mark, e.g. %s",
                          example);
    }
    *(*query)++ = 0;
    return TACIT_OK;
}

void filling_empty(filling *self) {
    self->bytes.limit = RECORD_LIMIT + BLOCK_BYTES;
    self->bytes.length = self->count = 0;
}

void filling_clear(filling *self) {
    tacit_buffer_clear(&self->bytes);
    free(self->cells);
    self->cells = NULL;
    self->count = self->capacity = 0;
}

tacit_status filling_grow(filling *self, tacit_error *error) {
    tacit_cell *cells = tacit_grow_by_one(self->cells, self->count, &self->capacity, 64, sizeof *cells);
    if (cells == NULL) return tacit_fail_memory(error);
    self->cells = cells;
    return TACIT_OK;
}

tacit_status filling_add_text(filling *self, tacit_cell_kind kind, const char *text, size_t length,
                              uint64_t line, tacit_error *error) {
    uint8_t *to = NULL;
    TACIT_TRY(filling_grow(self, error));
    TACIT_TRY(tacit_buffer_reserve(&self->bytes, length + 1, &to, error));
    if (length > 0) memcpy(to, text, length);
    to[length] = 0;
    self->cells[self->count++] =
        (tacit_cell){ .offset = self->bytes.length, .length = (uint32_t)length, .kind = kind, .line = line };
    self->bytes.length += length + 1;
    return TACIT_OK;
}

tacit_status filling_add_number(filling *self, double number, uint64_t line, tacit_error *error) {
    TACIT_TRY(filling_grow(self, error));
    self->cells[self->count++] = (tacit_cell){ .number = number, .kind = TACIT_CELL_NUMBER, .line = line };
    return TACIT_OK;
}

void filling_finish(filling *self) {
    const char *bytes = (const char *)self->bytes.bytes;
    for (size_t i = 0; i < self->count; i++)
        if (self->cells[i].kind != TACIT_CELL_NUMBER) self->cells[i].text = bytes + self->cells[i].offset;
}

tacit_status source_add_text_at(tacit_source *source, filling *to, const char *text, size_t length,
                                size_t column, uint64_t line, tacit_error *error) {
    static const char odd[] = "a text with a NUL byte inside";
    if (length > FIELD_LIMIT)
        return tacit_source_fail(source, line, column, error, TACIT_LIMIT,
                                 "a value is longer than %d bytes; leave the column out of the query",
                                 FIELD_LIMIT);
    if (length > 0 && memchr(text, 0, length) != NULL)
        return filling_add_text(to, TACIT_CELL_OTHER, odd, sizeof odd - 1, line, error);
    return filling_add_text(to, TACIT_CELL_PLAIN, text, length, line, error);
}

tacit_status source_add_text(tacit_source *source, filling *to, const char *text, size_t length,
                             tacit_error *error) {
    return source_add_text_at(source, to, text, length, to->count % source->columns.count, source->row + 1,
                              error);
}

tacit_status source_check_count(const tacit_source *source, uint64_t *before, tacit_error *error) {
    if (*before != UINT64_MAX && *before != source->row)
        return tacit_fail(error, TACIT_INPUT,
                          "%s: there were %" PRIu64 " rows, and now there are %" PRIu64
                          ": do not change what is being read",
                          source->name, *before, source->row);
    *before = source->row;
    return TACIT_OK;
}

/* ---- cells and rows ---- */

tacit_cell tacit_cell_as_text(const tacit_cell *cell, char scratch[TACIT_NUMBER_TEXT]) {
    if (cell->kind != TACIT_CELL_NUMBER) return *cell;
    static const double largest = 9007199254740992.0; /* 2^53: beyond, not every whole number is a double */
    double number = cell->number;
    if (number >= -largest && number <= largest && number == (double)(int64_t)number)
        snprintf(scratch, TACIT_NUMBER_TEXT, "%" PRId64, (int64_t)number);
    else
        tacit_number_to_text(number, scratch);
    return (tacit_cell){ .text = scratch, .length = (uint32_t)strlen(scratch), .line = cell->line };
}

/* The line of the first cell, and of each cell its kind and then eight bytes, or a text and its NUL. */
tacit_status tacit_row_keep(tacit_buffer *to, const tacit_cell *cells, size_t count, tacit_error *error) {
    TACIT_TRY(tacit_buffer_append_u64(to, count > 0 ? cells[0].line : 0, error));
    for (size_t i = 0; i < count; i++) {
        uint8_t kind = (uint8_t)cells[i].kind;
        TACIT_TRY(tacit_buffer_append(to, &kind, 1, error));
        if (kind == TACIT_CELL_NUMBER)
            TACIT_TRY(tacit_buffer_append(to, &cells[i].number, sizeof(double), error));
        else
            TACIT_TRY(tacit_buffer_append(to, cells[i].text, cells[i].length + 1, error));
    }
    return TACIT_OK;
}

const uint8_t *tacit_row_restore(const uint8_t *at, tacit_cell *cells, size_t count) {
    tacit_cursor head = tacit_cursor_over(at, 8);
    uint64_t line = 0;
    tacit_cursor_read_u64(&head, &line);
    at += 8;
    for (size_t i = 0; i < count; i++) {
        cells[i] = (tacit_cell){ .kind = (tacit_cell_kind)*at++, .line = line };
        if (cells[i].kind == TACIT_CELL_NUMBER) {
            memcpy(&cells[i].number, at, sizeof(double));
            at += sizeof(double);
        } else {
            cells[i].text = (const char *)at;
            cells[i].length = (uint32_t)strlen(cells[i].text);
            at += cells[i].length + 1;
        }
    }
    return at;
}
