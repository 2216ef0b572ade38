#include "data/source/libsvm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "data/source/source_parts.h"

/* A token holds two numbers; anything longer is not LIBSVM. */
enum { TOKEN_LIMIT = 256, BLOCK_ENTRIES = 1 << 13 };

/* Rows on their way: those of a block, or all of them. */
typedef struct sparse_rows {
    size_t rows, row_capacity, entries, entry_capacity;
    size_t *start; /* rows + 1 */
    double *label;
    uint32_t *column;
    double *value;
} sparse_rows;

static void rows_clear(sparse_rows *self) {
    free(self->start);
    free(self->label);
    free(self->column);
    free(self->value);
    *self = (sparse_rows){ .rows = 0 };
}

static size_t doubled(size_t capacity, size_t needed) {
    return 2 * capacity > needed ? 2 * capacity : needed > 256 ? needed : 256;
}

/* Room for `rows` more rows and `entries` more entries. */
static tacit_status rows_grow(sparse_rows *self, size_t rows, size_t entries, tacit_error *error) {
    if (self->start == NULL || self->row_capacity - self->rows < rows) {
        size_t capacity = doubled(self->row_capacity, self->rows + rows);
        size_t *start = tacit_grow(self->start, capacity + 1, sizeof *start);
        if (start == NULL) return tacit_fail_memory(error);
        start[0] = 0;
        self->start = start;
        double *label = tacit_grow(self->label, capacity, sizeof *label);
        if (label == NULL) return tacit_fail_memory(error);
        self->label = label;
        self->row_capacity = capacity;
    }
    if (self->column == NULL || self->entry_capacity - self->entries < entries) {
        size_t capacity = doubled(self->entry_capacity, self->entries + entries);
        uint32_t *column = tacit_grow(self->column, capacity, sizeof *column);
        if (column == NULL) return tacit_fail_memory(error);
        self->column = column;
        double *value = tacit_grow(self->value, capacity, sizeof *value);
        if (value == NULL) return tacit_fail_memory(error);
        self->value = value;
        self->entry_capacity = capacity;
    }
    return TACIT_OK;
}

typedef struct reader {
    tacit_source base;
    tacit_input *input;
    const uint8_t *at, *end; /* bytes of the input that were not looked at yet */
    bool started, ended, in_comment;
    size_t given; /* dimension; 0: infer */
    uint64_t line;
    size_t token_number; /* on this line, 1-based */
    char token[TOKEN_LIMIT];
    size_t token_length;
    size_t last; /* index on this line; 0: none yet */
    bool skips;  /* the entries of this row are not kept */
    sparse_rows block;
    uint64_t left_out; /* of this block */
} reader;

static tacit_status fail_here(const reader *r, tacit_error *error, const char *what) {
    char shown[TACIT_CELL_TEXT];
    return tacit_fail(error, TACIT_INPUT, "%s:%" PRIu64 ":%zu: '%s': %s", tacit_input_name(r->input), r->line,
                      r->token_number, tacit_text_shown(r->token, r->token_length, shown), what);
}

static tacit_status add_row(reader *r, double label, tacit_error *error) {
    r->last = 0;
    bool chosen = tacit_row_filter_keeps(r->base.filter, r->base.row++);
    r->skips = r->base.bare || !chosen;
    r->left_out += !chosen;
    if (!chosen) return TACIT_OK;
    TACIT_TRY(rows_grow(&r->block, 1, 0, error));
    r->block.label[r->block.rows++] = label;
    return TACIT_OK;
}

static tacit_status take_entry(reader *r, tacit_error *error) {
    const char *colon = memchr(r->token, ':', r->token_length);
    if (colon == NULL) return fail_here(r, error, "expected index:value");
    size_t digits = (size_t)(colon - r->token);
    size_t index = 0;
    for (size_t i = 0; i < digits; i++) {
        if (r->token[i] < '0' || r->token[i] > '9')
            return fail_here(r, error, "the index before ':' must be a whole number");
        index = 10 * index + (size_t)(r->token[i] - '0');
        if (index > TACIT_LIBSVM_DIMENSION_LIMIT)
            return fail_here(r, error, "the index is larger than the limit of 50,000,000");
    }
    if (digits == 0) return fail_here(r, error, "the index before ':' must be a whole number");
    if (index == 0) return fail_here(r, error, "indices start at 1");
    if (r->given > 0 && index > r->given) {
        char what[80];
        snprintf(what, sizeof what, "the index is larger than the dimension %zu", r->given);
        return fail_here(r, error, what);
    }
    double value;
    if (!tacit_text_to_number(colon + 1, r->token_length - digits - 1, &value))
        return fail_here(r, error, "the value after ':' must be a number");
    if (r->last >= index) return fail_here(r, error, "indices must ascend along a line");
    r->last = index;
    if (index > r->base.dimension) r->base.dimension = index;
    sparse_rows *block = &r->block;
    if (block->entries == block->entry_capacity) TACIT_TRY(rows_grow(block, 0, 1, error));
    block->column[block->entries] = (uint32_t)(index - 1);
    block->value[block->entries++] = value;
    return TACIT_OK;
}

static tacit_status take_token(reader *r, tacit_error *error) {
    r->token[r->token_length] = 0;
    r->token_number++;
    if (r->token_number > 1) return take_entry(r, error);
    double label;
    if (!tacit_text_to_number(r->token, r->token_length, &label))
        return fail_here(r, error, "the label at the start of a line must be a number");
    return add_row(r, label, error);
}

/* Feed bytes through the little machine: tokens between blanks, comments to the end of the line. Stops after
 * a line. */
static tacit_status take_line(reader *r, bool *whole, tacit_error *error) {
    for (*whole = false; r->at < r->end && !*whole; r->at++) {
        if (r->in_comment) {
            const uint8_t *end = memchr(r->at, '\n', (size_t)(r->end - r->at));
            r->at = end != NULL ? end : r->end;
            if (end == NULL) return TACIT_OK;
        }
        char c = (char)*r->at;
        *whole = c == '\n';
        bool breaks = *whole || c == ' ' || c == '\t' || c == '\r' || c == '#';
        if (!breaks) {
            if (c == 0)
                return tacit_fail(error, TACIT_INPUT, "%s:%" PRIu64 ": a NUL byte; the file is not text",
                                  tacit_input_name(r->input), r->line);
            if (r->token_length == TOKEN_LIMIT - 1)
                return fail_here(r, error, "too long for a label or index:value");
            r->token[r->token_length++] = c;
            continue;
        }
        if (r->token_length > 0) TACIT_TRY(take_token(r, error));
        r->token_length = 0;
        /* What is left out of a row is passed over like a comment. */
        r->in_comment = !*whole && (c == '#' || (r->skips && r->token_number > 0));
        if (*whole) {
            r->block.start[r->block.rows] = r->block.entries;
            r->line++;
            r->token_number = 0;
        }
    }
    return TACIT_OK;
}

/* Have bytes at hand; after the last ones a line feed that ends the line in any case. */
static tacit_status fill(reader *r, tacit_error *error) {
    size_t length = 0;
    if (r->at < r->end || r->ended) return TACIT_OK;
    TACIT_TRY(tacit_input_next(r->input, &r->at, &length, error));
    if (!r->started && length >= 3 && memcmp(r->at, "\xEF\xBB\xBF", 3) == 0) r->at += 3, length -= 3;
    r->started = true;
    r->ended = length == 0;
    if (r->ended) {
        r->at = (const uint8_t *)"\n";
        length = 1;
    }
    r->end = r->at + length;
    return TACIT_OK;
}

static tacit_status check_end(const reader *r, tacit_error *error) {
    if (r->base.row == 0) return tacit_fail(error, TACIT_INPUT, "%s has no rows", tacit_input_name(r->input));
    if (r->base.dimension == 0)
        return tacit_fail(error, TACIT_INPUT, "%s has labels but no features", tacit_input_name(r->input));
    return TACIT_OK;
}

static tacit_status libsvm_next(tacit_source *source, size_t most, tacit_row_block *out, tacit_error *error) {
    reader *r = (reader *)source;
    sparse_rows *block = &r->block;
    block->rows = block->entries = 0;
    r->left_out = 0;
    TACIT_TRY(rows_grow(block, 1, 1, error)); /* so that the arrays exist */
    block->start[0] = 0;
    while (block->rows + r->left_out < most && block->entries < BLOCK_ENTRIES && block->rows < BLOCK_CELLS &&
           !(r->ended && r->at == r->end))
        for (bool whole = false; !whole && !(r->ended && r->at == r->end);) {
            TACIT_TRY(fill(r, error));
            TACIT_TRY(take_line(r, &whole, error));
        }
    out->ended = r->ended && r->at == r->end;
    if (out->ended) TACIT_TRY(check_end(r, error));
    out->rows = block->rows;
    out->left_out = r->left_out;
    out->label = block->label;
    out->start = block->start;
    out->column = block->column;
    out->value = block->value;
    return TACIT_OK;
}

/* ---- behind source.h ---- */

/* Whether a name ends in one of the extensions, before any .gz or .xz. */
static bool has_extension(const char *name, const char *const *extensions, size_t count) {
    size_t length = strlen(name);
    if (length > 3 &&
        (strcasecmp(name + length - 3, ".gz") == 0 || strcasecmp(name + length - 3, ".xz") == 0))
        length -= 3;
    for (size_t i = 0; i < count; i++) {
        size_t extension = strlen(extensions[i]);
        if (length > extension && strncasecmp(name + length - extension, extensions[i], extension) == 0)
            return true;
    }
    return false;
}

/* The extension decides; where it says nothing, the first line does. */
static bool libsvm_takes(const tacit_place *place) {
    static const char *const libsvm[] = { ".libsvm", ".svm", ".svmlight" }, *const csv[] = { ".csv", ".tsv" };
    if (place->input == NULL) return false;
    return has_extension(place->name, libsvm, 3) ||
           (!has_extension(place->name, csv, 2) && tacit_libsvm_looks_like(place->bytes, place->length));
}

static tacit_status libsvm_open(tacit_source **out, const tacit_place *place,
                                const tacit_source_options *options, tacit_error *error) {
    reader *r = NULL;
    if (options->dimension > TACIT_LIBSVM_DIMENSION_LIMIT)
        return tacit_fail(error, TACIT_USAGE, "dimension %zu is larger than the limit of 50,000,000",
                          options->dimension);
    TACIT_TRY(source_create(&r, sizeof *r, &tacit_source_libsvm, place->name, error));
    r->input = place->input;
    r->line = 1;
    r->given = r->base.dimension = options->dimension;
    *out = &r->base;
    return TACIT_OK;
}

static tacit_status libsvm_rewind(tacit_source *source, tacit_error *error) {
    reader *r = (reader *)source;
    TACIT_TRY(tacit_input_rewind(r->input, error));
    r->at = r->end = NULL;
    r->started = r->ended = r->in_comment = r->skips = false;
    r->line = 1;
    r->token_number = r->token_length = r->last = 0;
    return TACIT_OK;
}

static void libsvm_free(tacit_source *source) { rows_clear(&((reader *)source)->block); }

const tacit_source_kind tacit_source_libsvm = { .name = "libsvm",
                                                .sparse = true,
                                                .takes = libsvm_takes,
                                                .open = libsvm_open,
                                                .next = libsvm_next,
                                                .rewind = libsvm_rewind,
                                                .free = libsvm_free };

/* ---- all rows at once ---- */

static tacit_status gather_block(sparse_rows *all, const tacit_row_block *block, const char *name,
                                 tacit_error *error) {
    size_t entries = block->start[block->rows];
    if (block->rows > UINT32_MAX - all->rows)
        return tacit_fail(error, TACIT_LIMIT, "%s: more than 2^32 - 1 rows", name);
    TACIT_TRY(rows_grow(all, block->rows > 0 ? block->rows : 1, entries > 0 ? entries : 1, error));
    for (size_t i = 0; i < block->rows; i++)
        all->start[all->rows + i + 1] = all->entries + block->start[i + 1];
    memcpy(all->label + all->rows, block->label, block->rows * sizeof *block->label);
    memcpy(all->column + all->entries, block->column, entries * sizeof *block->column);
    memcpy(all->value + all->entries, block->value, entries * sizeof *block->value);
    all->rows += block->rows;
    all->entries += entries;
    return TACIT_OK;
}

tacit_status tacit_libsvm_gather(tacit_libsvm *out, tacit_source *source, tacit_error *error) {
    sparse_rows all = { .rows = 0 };
    tacit_row_block block = { .ended = false };
    tacit_status status = TACIT_OK;
    while (!block.ended) {
        TACIT_CHECK(tacit_source_next(source, BLOCK_CELLS, &block, error));
        TACIT_CHECK(gather_block(&all, &block, source->name, error));
    }
    out->rows = (tacit_csr){ all.rows, source->dimension, all.start, all.column, all.value };
    out->label = all.label;
    out->seen = source->row;
    return TACIT_OK;
cleanup:
    rows_clear(&all);
    return status;
}

tacit_status tacit_libsvm_read(tacit_libsvm *out, tacit_input *input, size_t dimension, tacit_error *error) {
    const tacit_source_options options = { .dimension = dimension };
    const tacit_place place = { .name = tacit_input_name(input), .input = input };
    tacit_source *source = NULL;
    TACIT_TRY(libsvm_open(&source, &place, &options, error));
    tacit_status status = tacit_libsvm_gather(out, source, error);
    tacit_source_free(source);
    return status;
}

void tacit_libsvm_clear(tacit_libsvm *libsvm) {
    if (libsvm == NULL) return;
    tacit_csr_clear(&libsvm->rows);
    free(libsvm->label);
    libsvm->label = NULL;
}

static bool is_blank(uint8_t c) { return c == ' ' || c == '\t' || c == '\r'; }

/* The first line that is neither blank nor a comment: a number, and then at least one token with a colon
 * behind digits. */
bool tacit_libsvm_looks_like(const uint8_t *bytes, size_t length) {
    size_t i = 0;
    while (i < length) {
        size_t end = i;
        while (end < length && bytes[end] != '\n') end++;
        while (i < end && is_blank(bytes[i])) i++;
        if (i < end && bytes[i] != '#') {
            char label[TOKEN_LIMIT];
            size_t token = i;
            while (token < end && !is_blank(bytes[token])) token++;
            size_t used = token - i;
            if (used >= sizeof label) return false;
            memcpy(label, bytes + i, used);
            label[used] = 0;
            double number;
            if (!tacit_text_to_number(label, used, &number)) return false;
            while (token < end && is_blank(bytes[token])) token++;
            size_t digits = token;
            while (digits < end && bytes[digits] >= '0' && bytes[digits] <= '9') digits++;
            return digits > token && digits < end && bytes[digits] == ':';
        }
        i = end + 1;
    }
    return false;
}
