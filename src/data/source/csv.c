#include "data/source/csv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/schema/names.h"
#include "data/source/source_parts.h"

typedef enum ending { ENDS_FIELD, ENDS_RECORD, ENDS_FILE } ending;

struct tacit_csv {
    tacit_input *input;
    tacit_csv_options options;
    const uint8_t *at, *end;
    bool ended;
    bool is_special[256]; /* bytes that end a run of ordinary ones in an unquoted field */
    uint64_t line;
    filling block;      /* the fields of the records at hand */
    size_t first;       /* field of the record that is being read */
    bool was_quoted;    /* the field just read */
    bool decimal_comma; /* numbers are written 1,5 */
    bool first_pending; /* without a header: the first record was read to count its columns */
    tacit_levels names;
};

tacit_csv_options tacit_csv_defaults(void) {
    return (tacit_csv_options){ 0, false, FIELD_LIMIT, COLUMN_LIMIT };
}

size_t tacit_csv_column_count(const tacit_csv *csv) { return csv->names.count; }

const char *tacit_csv_column_name(const tacit_csv *csv, size_t column) { return csv->names.text[column]; }

int64_t tacit_csv_find_column(const tacit_csv *csv, const char *name) {
    return tacit_levels_find(&csv->names, name, strlen(name));
}

tacit_status tacit_csv_require(const tacit_csv *csv, const char *name, const char *flag, size_t *out,
                               tacit_error *error) {
    return tacit_names_find(&csv->names, name, "column", flag, tacit_input_name(csv->input), out, error);
}

tacit_status tacit_csv_fail(const tacit_csv *csv, uint64_t line, size_t column, tacit_error *error,
                            tacit_status status, const char *format, ...) {
    char said[TACIT_ERROR_TEXT_SIZE], known[TACIT_KNOWN_TEXT];
    va_list arguments;
    va_start(arguments, format);
    tacit_format_list(said, sizeof said, format, arguments);
    va_end(arguments);
    return tacit_fail(error, status, "%s:%" PRIu64 ":%zu%s: %s", tacit_input_name(csv->input), line,
                      column + 1, tacit_names_known(&csv->names, column, known), said);
}

/* Have a byte at `at`, unless the file ended. */
static inline tacit_status fill(tacit_csv *csv, tacit_error *error) {
    if (csv->at < csv->end || csv->ended) return TACIT_OK;
    size_t length;
    TACIT_TRY(tacit_input_next(csv->input, &csv->at, &length, error));
    csv->end = csv->at + length;
    csv->ended = length == 0;
    return TACIT_OK;
}

static tacit_status skip_blanks(tacit_csv *csv, tacit_error *error) {
    for (;;) {
        TACIT_TRY(fill(csv, error));
        if (csv->ended || (*csv->at != ' ' && *csv->at != '\t')) return TACIT_OK;
        if (*csv->at == (uint8_t)csv->options.separator) return TACIT_OK;
        csv->at++;
    }
}

/* The position, in its record, of the field that is being read; once it is read, how many there are. */
static inline size_t field_of(const tacit_csv *csv) { return csv->block.count - csv->first; }

static tacit_status begin_field(tacit_csv *csv, tacit_error *error) {
    filling *block = &csv->block;
    if (field_of(csv) == csv->options.column_limit)
        return tacit_csv_fail(csv, csv->line, field_of(csv), error, TACIT_LIMIT,
                              "more than %zu columns; is the separator right?", csv->options.column_limit);
    if (block->count == block->capacity) TACIT_TRY(filling_grow(block, error));
    block->cells[block->count] = (tacit_cell){ .offset = block->bytes.length, .line = csv->line };
    return TACIT_OK;
}

static tacit_status append(tacit_csv *csv, const uint8_t *from, size_t length, tacit_error *error) {
    tacit_buffer *bytes = &csv->block.bytes;
    const tacit_cell *field = &csv->block.cells[csv->block.count];
    if (bytes->length + length - field->offset > csv->options.field_limit)
        return tacit_csv_fail(csv, field->line, field_of(csv), error, TACIT_LIMIT,
                              csv->was_quoted
                                  ? "a field is longer than %zu bytes; is a closing quote missing?"
                                  : "a field is longer than %zu bytes",
                              csv->options.field_limit);
    uint8_t *to;
    tacit_status status = tacit_buffer_reserve(bytes, length + 1, &to, error);
    if (status != TACIT_OK)
        return tacit_fail_in(error, status, "%s:%" PRIu64, tacit_input_name(csv->input), csv->line);
    if (length > 0) memcpy(to, from, length);
    bytes->length += length;
    return TACIT_OK;
}

static tacit_status nul_byte(const tacit_csv *csv, tacit_error *error) {
    return tacit_csv_fail(csv, csv->line, field_of(csv), error, TACIT_INPUT,
                          "a NUL byte; the file is not plain text (UTF-16? save it as UTF-8)");
}

static tacit_status read_plain(tacit_csv *csv, tacit_error *error) {
    for (;;) {
        TACIT_TRY(fill(csv, error));
        if (csv->ended) break;
        const uint8_t *run = csv->at;
        while (run < csv->end && !csv->is_special[*run]) run++;
        TACIT_TRY(append(csv, csv->at, (size_t)(run - csv->at), error));
        csv->at = run;
        if (run == csv->end) continue;
        if (*run == 0) return nul_byte(csv, error);
        break;
    }
    size_t start = csv->block.cells[csv->block.count].offset;
    tacit_buffer *text = &csv->block.bytes;
    while (text->length > start &&
           (text->bytes[text->length - 1] == ' ' || text->bytes[text->length - 1] == '\t'))
        text->length--;
    return TACIT_OK;
}

/* From after the opening quote to after the closing one. */
static tacit_status read_quoted(tacit_csv *csv, tacit_error *error) {
    bool after_return = false; /* CR LF is one line */
    for (;;) {
        TACIT_TRY(fill(csv, error));
        if (csv->ended)
            return tacit_csv_fail(csv, csv->block.cells[csv->block.count].line, field_of(csv), error,
                                  TACIT_INPUT, "the quote opened here is never closed");
        const uint8_t *run = csv->at;
        for (; run < csv->end && *run != '"' && *run != 0; run++) {
            csv->line += *run == '\r' || (*run == '\n' && !after_return);
            after_return = *run == '\r';
        }
        TACIT_TRY(append(csv, csv->at, (size_t)(run - csv->at), error));
        csv->at = run;
        if (run == csv->end) continue;
        if (*run == 0) return nul_byte(csv, error);
        csv->at++;
        TACIT_TRY(fill(csv, error));
        if (csv->ended || *csv->at != '"') return TACIT_OK;
        TACIT_TRY(append(csv, csv->at, 1, error));
        csv->at++;
        after_return = false;
    }
}

static tacit_status take_ending(tacit_csv *csv, ending *out, tacit_error *error) {
    TACIT_TRY(fill(csv, error));
    *out = ENDS_FILE;
    if (csv->ended) return TACIT_OK;
    uint8_t byte = *csv->at;
    if (byte == (uint8_t)csv->options.separator) {
        csv->at++;
        *out = ENDS_FIELD;
        return TACIT_OK;
    }
    if (byte != '\n' && byte != '\r')
        return tacit_csv_fail(csv, csv->line, field_of(csv), error, TACIT_INPUT,
                              "text after the closing quote; write a quote inside a quoted field twice");
    csv->at++;
    csv->line++;
    *out = ENDS_RECORD;
    if (byte == '\r') {
        TACIT_TRY(fill(csv, error));
        if (!csv->ended && *csv->at == '\n') csv->at++;
    }
    return TACIT_OK;
}

static tacit_status read_field(tacit_csv *csv, ending *out, tacit_error *error) {
    TACIT_TRY(begin_field(csv, error));
    TACIT_TRY(skip_blanks(csv, error));
    csv->was_quoted = !csv->ended && *csv->at == '"';
    if (csv->was_quoted) {
        csv->at++;
        TACIT_TRY(read_quoted(csv, error));
        TACIT_TRY(skip_blanks(csv, error));
    } else {
        TACIT_TRY(read_plain(csv, error));
    }
    TACIT_TRY(take_ending(csv, out, error));
    filling *block = &csv->block;
    tacit_cell *field = &block->cells[block->count];
    field->length = (uint32_t)(block->bytes.length - field->offset);
    TACIT_TRY(append(csv, NULL, 0, error)); /* room for the NUL */
    block->bytes.bytes[block->bytes.length++] = 0;
    block->count++;
    return TACIT_OK;
}

/* Forget the record that begins with field `first`. */
static void drop_record(tacit_csv *csv) {
    if (csv->block.count > csv->first) csv->block.bytes.length = csv->block.cells[csv->first].offset;
    csv->block.count = csv->first;
}

/* Add one record that is not a blank line to the block; one without fields at the end of the file. */
static tacit_status read_record(tacit_csv *csv, tacit_error *error) {
    csv->first = csv->block.count;
    for (;;) {
        ending end;
        do TACIT_TRY(read_field(csv, &end, error));
        while (end == ENDS_FIELD);
        bool blank = field_of(csv) == 1 && csv->block.cells[csv->first].length == 0 && !csv->was_quoted;
        if (!blank) return TACIT_OK;
        drop_record(csv);
        if (end == ENDS_FILE) return TACIT_OK;
    }
}

/* The next record, with as many fields as there are columns. */
static tacit_status next_record(tacit_csv *csv, tacit_error *error) {
    if (!csv->first_pending) TACIT_TRY(read_record(csv, error));
    csv->first_pending = false;
    size_t columns = csv->names.count, count = field_of(csv);
    if (count == 0 || count == columns) return TACIT_OK;
    uint64_t line = csv->block.cells[csv->first].line;
    bool names_of_rows = count == columns + 1 && line == 2 && !csv->options.no_header;
    return tacit_csv_fail(
        csv, line, count < columns ? count : columns, error, TACIT_INPUT,
        "the row has %zu field%s but the %s %zu%s", count, count == 1 ? "" : "s",
        csv->options.no_header ? "first row has" : "header has", columns,
        names_of_rows ? "; R's write.table gives row names no header: write.csv(rows, row.names = FALSE)"
                      : "");
}

tacit_status tacit_csv_next(tacit_csv *csv, tacit_record *out, tacit_error *error) {
    if (!csv->first_pending) filling_empty(&csv->block);
    TACIT_TRY(next_record(csv, error));
    filling_finish(&csv->block);
    size_t count = field_of(csv);
    *out = (tacit_record){ csv->block.cells, count, count > 0 ? csv->block.cells[0].line : csv->line };
    return TACIT_OK;
}

/* The end of the line that begins here, if the whole record is on it for sure: no quote may hide a line
 * break, a return is part of the ending, and it is not blank. NULL: read it to know. */
static const uint8_t *plain_line_end(const tacit_csv *csv) {
    size_t left = (size_t)(csv->end - csv->at);
    const uint8_t *newline = memchr(csv->at, '\n', left);
    if (newline == NULL) return NULL;
    size_t length = (size_t)(newline - csv->at);
    const uint8_t *back = memchr(csv->at, '\r', length);
    if (memchr(csv->at, '"', length) != NULL || (back != NULL && back + 1 != newline)) return NULL;
    for (size_t i = 0; i < length; i++)
        if (csv->at[i] != ' ' && csv->at[i] != '\t' && csv->at[i] != '\r') return newline;
    return NULL;
}

tacit_status tacit_csv_skip(tacit_csv *csv, bool *ended, tacit_error *error) {
    if (!csv->first_pending) {
        TACIT_TRY(fill(csv, error));
        const uint8_t *newline = csv->ended ? NULL : plain_line_end(csv);
        if (newline != NULL) {
            csv->at = newline + 1;
            csv->line++;
            *ended = false;
            return TACIT_OK;
        }
        TACIT_TRY(read_record(csv, error));
    }
    csv->first_pending = false;
    *ended = field_of(csv) == 0;
    drop_record(csv);
    return TACIT_OK;
}

/* The most frequent separator outside quotes in the first line that is not blank. */
static char detect_separator(const uint8_t *bytes, size_t length) {
    static const char candidates[] = { ',', ';', '\t', '|' };
    size_t seen[sizeof candidates] = { 0 }, others = 0;
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        char c = (char)bytes[i];
        if (!quoted && (c == '\n' || c == '\r')) {
            if (others > 0) break;
            continue;
        }
        if (c == '"') quoted = !quoted;
        if (!quoted)
            for (size_t k = 0; k < sizeof candidates; k++) seen[k] += c == candidates[k];
        others++;
    }
    size_t best = 0;
    for (size_t k = 1; k < sizeof candidates; k++)
        if (seen[k] > seen[best]) best = k;
    return candidates[best];
}

/* Is the field a number except for this mark, which stands in it once and between digits? */
static bool has_decimal_mark(const uint8_t *at, const uint8_t *end, uint8_t mark) {
    bool digit = false, seen = false;
    if (at < end && (*at == '-' || *at == '+')) at++;
    for (; at < end; at++) {
        if (*at == mark) {
            if (seen || !digit) return false;
            seen = true;
            digit = false;
        } else if (*at >= '0' && *at <= '9') {
            digit = true;
        } else {
            return false;
        }
    }
    return seen && digit;
}

/* Fields are not separated by commas, and among the first ones some numbers have a decimal comma and none a
 * point. */
static bool detect_decimal_comma(const uint8_t *at, const uint8_t *end, char separator) {
    if (separator == ',') return false;
    size_t commas = 0, points = 0;
    for (const uint8_t *first = at; at <= end; at++) {
        if (at < end && *at != (uint8_t)separator && *at != '\n' && *at != '\r') continue;
        const uint8_t *last = at;
        if (last - first >= 2 && *first == '"' && last[-1] == '"') first++, last--;
        commas += has_decimal_mark(first, last, ',');
        points += has_decimal_mark(first, last, '.');
        first = at + 1;
    }
    return commas > 0 && points == 0;
}

/* 1,5 as the number that it is. */
static void read_decimal_comma(tacit_cell *cell) {
    char text[TACIT_NUMBER_TEXT];
    double number;
    const char *comma = cell->length < sizeof text ? memchr(cell->text, ',', cell->length) : NULL;
    if (comma == NULL || memchr(cell->text, '.', cell->length) != NULL) return;
    memcpy(text, cell->text, cell->length + 1);
    text[comma - cell->text] = '.';
    if (!tacit_text_to_number(text, cell->length, &number)) return;
    cell->kind = TACIT_CELL_NUMBER;
    cell->number = number;
}

/* A first line such as sep=; tells Excel how fields are separated, and is no row. */
static void take_separator_line(tacit_csv *csv) {
    const uint8_t *at = csv->at;
    const uint8_t *after = csv->end - at > 5 ? at + 5 : csv->end;
    if (after == csv->end || memcmp(at, "sep=", 4) != 0 || (*after != '\n' && *after != '\r')) return;
    if (csv->options.separator == 0) csv->options.separator = (char)at[4];
    csv->at = after + 1;
    if (*after == '\r' && csv->at < csv->end && *csv->at == '\n') csv->at++;
    csv->line++;
}

static tacit_status start(tacit_csv *csv, tacit_error *error) {
    TACIT_TRY(fill(csv, error));
    if (csv->end - csv->at >= 3 && memcmp(csv->at, "\xEF\xBB\xBF", 3) == 0) csv->at += 3;
    take_separator_line(csv);
    char *separator = &csv->options.separator;
    if (*separator == 0) *separator = detect_separator(csv->at, (size_t)(csv->end - csv->at));
    if (strchr("\"\n\r .+-", *separator) != NULL || (*separator >= '0' && *separator <= '9'))
        return tacit_fail(error, TACIT_USAGE, "'%c' cannot separate fields; use one of , ; | or tab",
                          *separator);
    csv->decimal_comma = detect_decimal_comma(csv->at, csv->end, *separator);
    csv->is_special[(uint8_t)*separator] = csv->is_special['\n'] = csv->is_special['\r'] =
        csv->is_special[0] = true;
    return TACIT_OK;
}

static tacit_status read_names(tacit_csv *csv, tacit_error *error) {
    TACIT_TRY(read_record(csv, error));
    size_t count = field_of(csv);
    if (count == 0)
        return tacit_fail(error, TACIT_INPUT, "%s is empty; expected %s", tacit_input_name(csv->input),
                          csv->options.no_header ? "rows" : "a header line and rows");
    tacit_levels names = TACIT_LEVELS_INIT;
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < count; i++) {
        char numbered[TACIT_NUMBER_TEXT], shown[TACIT_CELL_TEXT];
        tacit_cell cell = csv->block.cells[i];
        cell.text = (const char *)csv->block.bytes.bytes + cell.offset;
        if (csv->options.no_header || cell.length == 0) {
            snprintf(numbered, sizeof numbered, "column%zu", i + 1);
            cell.text = numbered;
            cell.length = (uint32_t)strlen(numbered);
        }
        int32_t code = 0;
        if (!tacit_text_is_utf8(cell.text, cell.length))
            TACIT_CHECK(tacit_csv_fail(csv, cell.line, i, error, TACIT_INPUT,
                                       "the column's name is not UTF-8 text; convert the file to UTF-8"));
        TACIT_CHECK(tacit_levels_add(&names, cell.text, cell.length, &code, error));
        if ((size_t)code != i)
            TACIT_CHECK(tacit_csv_fail(csv, cell.line, i, error, TACIT_INPUT,
                                       "column name '%s' was already used by column %" PRId32
                                       "; rename one (or say that there is no header)",
                                       tacit_text_shown(cell.text, cell.length, shown), code + 1));
    }
cleanup:
    if (status != TACIT_OK) tacit_levels_clear(&names);
    csv->names = names;
    csv->first_pending = csv->options.no_header;
    return status;
}

tacit_status tacit_csv_open(tacit_csv **out, tacit_input *input, const tacit_csv_options *options,
                            tacit_error *error) {
    tacit_csv *csv = TACIT_NEW(tacit_csv, 1);
    if (csv == NULL) return tacit_fail_memory(error);
    csv->input = input;
    csv->options = options != NULL ? *options : tacit_csv_defaults();
    csv->line = 1;
    filling_empty(&csv->block);
    tacit_status status = start(csv, error);
    if (status == TACIT_OK) status = read_names(csv, error);
    if (status != TACIT_OK) {
        tacit_csv_free(csv);
        return status;
    }
    *out = csv;
    return TACIT_OK;
}

tacit_csv *tacit_csv_free(tacit_csv *csv) {
    if (csv == NULL) return NULL;
    filling_clear(&csv->block);
    tacit_levels_clear(&csv->names);
    free(csv);
    return NULL;
}

tacit_status tacit_csv_write_field(tacit_buffer *out, const char *text, size_t length, char separator,
                                   tacit_error *error) {
    bool quote = length == 0 || text[0] == ' ' || text[0] == '\t' || text[length - 1] == ' ' ||
                 text[length - 1] == '\t';
    for (size_t i = 0; i < length && !quote; i++)
        quote = text[i] == '"' || text[i] == '\n' || text[i] == '\r' || text[i] == separator;
    if (!quote) return tacit_buffer_append(out, text, length, error);
    TACIT_TRY(tacit_buffer_append(out, "\"", 1, error));
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"') TACIT_TRY(tacit_buffer_append(out, "\"", 1, error));
        TACIT_TRY(tacit_buffer_append(out, text + i, 1, error));
    }
    return tacit_buffer_append(out, "\"", 1, error);
}

/* ---- behind source.h ---- */

typedef struct csv_source {
    tacit_source base;
    tacit_csv *csv;
    tacit_csv_options options;
    tacit_status held; /* what went wrong after rows that were handed out first */
    tacit_error held_error;
} csv_source;

static bool csv_takes(const tacit_place *place) { return place->input != NULL; }

static void csv_free(tacit_source *source) { tacit_csv_free(((csv_source *)source)->csv); }

static tacit_status csv_open(tacit_source **out, const tacit_place *place,
                             const tacit_source_options *options, tacit_error *error) {
    csv_source *self = NULL;
    TACIT_TRY(source_create(&self, sizeof *self, &tacit_source_csv, place->name, error));
    self->options = tacit_csv_defaults();
    self->options.no_header = options->no_header;
    self->options.separator = options->separator;
    tacit_status status = tacit_csv_open(&self->csv, place->input, &self->options, error);
    if (status == TACIT_OK) status = tacit_levels_copy(&self->base.columns, &self->csv->names, error);
    if (status == TACIT_OK)
        *out = &self->base;
    else
        tacit_source_free(&self->base);
    return status;
}

/* One row more, or one passed over. */
static tacit_status csv_row(csv_source *self, tacit_row_block *out, tacit_error *error) {
    tacit_csv *csv = self->csv;
    if (!tacit_row_filter_keeps(self->base.filter, self->base.row)) {
        TACIT_TRY(tacit_csv_skip(csv, &out->ended, error));
        out->left_out += !out->ended;
    } else {
        TACIT_TRY(next_record(csv, error));
        out->ended = field_of(csv) == 0;
        out->rows += !out->ended;
    }
    self->base.row += !out->ended;
    return TACIT_OK;
}

static tacit_status csv_next(tacit_source *source, size_t most, tacit_row_block *out, tacit_error *error) {
    csv_source *self = (csv_source *)source;
    filling *block = &self->csv->block;
    if (!self->csv->first_pending) filling_empty(block);
    while (self->held == TACIT_OK && !out->ended && out->rows + out->left_out < most &&
           !filling_is_full(block))
        self->held = csv_row(self, out, &self->held_error);
    if (self->held != TACIT_OK && out->rows + out->left_out == 0) {
        if (error != NULL) *error = self->held_error;
        return self->held;
    }
    if (self->held != TACIT_OK) drop_record(self->csv);
    filling_finish(block);
    for (size_t i = 0; self->csv->decimal_comma && i < block->count; i++)
        read_decimal_comma(&block->cells[i]);
    for (size_t i = 0; source->line_base > 0 && i < block->count; i++)
        block->cells[i].line += source->line_base;
    out->cells = block->cells;
    return TACIT_OK;
}

static tacit_status csv_rewind(tacit_source *source, tacit_error *error) {
    csv_source *self = (csv_source *)source;
    tacit_csv *again = NULL;
    TACIT_TRY(tacit_input_rewind(source->input, error));
    TACIT_TRY(tacit_csv_open(&again, source->input, &self->options, error));
    bool same = again->names.count == source->columns.count;
    for (size_t i = 0; same && i < source->columns.count; i++)
        same = strcmp(again->names.text[i], source->columns.text[i]) == 0;
    tacit_csv_free(self->csv);
    self->csv = again;
    self->held = TACIT_OK;
    self->held_error = (tacit_error)TACIT_ERROR_INIT;
    if (same) return TACIT_OK;
    return tacit_fail(error, TACIT_INPUT, "%s has changed while it was read: it has other columns now",
                      source->name);
}

const tacit_source_kind tacit_source_csv = { .name = "csv",
                                             .takes = csv_takes,
                                             .open = csv_open,
                                             .next = csv_next,
                                             .rewind = csv_rewind,
                                             .free = csv_free };
