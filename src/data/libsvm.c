#include "data/libsvm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "data/text.h"

/* A token holds two numbers; anything longer is not LIBSVM. */
enum { TOKEN_LIMIT = 256 };

typedef struct reader {
    tacit_input *input;
    size_t dimension; /* 0: infer */
    uint64_t line;
    size_t token_number; /* on this line, 1-based */
    char token[TOKEN_LIMIT];
    size_t token_length;
    size_t widest; /* largest index so far */
    size_t last;   /* index on this line; 0: none yet */
    const tacit_row_choice *choice;
    bool bare, skips; /* entries are not kept: of any row, of this one */
    uint64_t seen;    /* rows */
    size_t rows, row_capacity;
    size_t entries, entry_capacity;
    size_t *start;
    double *label;
    uint32_t *column;
    double *value;
} reader;

static tacit_status fail_here(const reader *r, tacit_error *error, const char *what) {
    char shown[TACIT_CELL_TEXT];
    return tacit_fail(error, TACIT_INPUT, "%s:%" PRIu64 ":%zu: '%s': %s", tacit_input_name(r->input), r->line,
                      r->token_number, tacit_text_shown(r->token, r->token_length, shown), what);
}

static tacit_status add_row(reader *r, double label, tacit_error *error) {
    r->last = 0;
    bool chosen = tacit_row_chosen(r->choice, r->seen++);
    r->skips = r->bare || !chosen;
    if (!chosen) return TACIT_OK;
    if (r->rows == r->row_capacity) {
        size_t capacity = r->row_capacity > 0 ? 2 * r->row_capacity : 256;
        size_t *start = tacit_grow(r->start, capacity + 1, sizeof *start);
        if (start == NULL) return tacit_fail_memory(error);
        r->start = start;
        double *labels = tacit_grow(r->label, capacity, sizeof *labels);
        if (labels == NULL) return tacit_fail_memory(error);
        r->label = labels;
        r->row_capacity = capacity;
    }
    if (r->rows == UINT32_MAX)
        return tacit_fail(error, TACIT_LIMIT, "%s: more than 2^32 - 1 rows", tacit_input_name(r->input));
    r->start[r->rows] = r->entries;
    r->label[r->rows++] = label;
    return TACIT_OK;
}

static tacit_status add_entry(reader *r, uint32_t column, double value, tacit_error *error) {
    if (r->entries == r->entry_capacity) {
        size_t capacity = r->entry_capacity > 0 ? 2 * r->entry_capacity : 1024;
        uint32_t *columns = tacit_grow(r->column, capacity, sizeof *columns);
        if (columns == NULL) return tacit_fail_memory(error);
        r->column = columns;
        double *values = tacit_grow(r->value, capacity, sizeof *values);
        if (values == NULL) return tacit_fail_memory(error);
        r->value = values;
        r->entry_capacity = capacity;
    }
    r->column[r->entries] = column;
    r->value[r->entries++] = value;
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
    if (r->dimension > 0 && index > r->dimension) {
        char what[80];
        snprintf(what, sizeof what, "the index is larger than the dimension %zu", r->dimension);
        return fail_here(r, error, what);
    }
    double value;
    if (!tacit_text_to_number(colon + 1, r->token_length - digits - 1, &value))
        return fail_here(r, error, "the value after ':' must be a number");
    if (r->last >= index) return fail_here(r, error, "indices must ascend along a line");
    r->last = index;
    if (index > r->widest) r->widest = index;
    return add_entry(r, (uint32_t)(index - 1), value, error);
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

/* Feed bytes through the little machine: tokens between blanks, comments to the end of the line. */
static tacit_status take_bytes(reader *r, const uint8_t *bytes, size_t length, bool *in_comment,
                               tacit_error *error) {
    for (size_t i = 0; i < length; i++) {
        if (*in_comment) {
            const uint8_t *end = memchr(bytes + i, '\n', length - i);
            if (end == NULL) return TACIT_OK;
            i = (size_t)(end - bytes);
        }
        char c = (char)bytes[i];
        bool newline = c == '\n';
        bool breaks = newline || c == ' ' || c == '\t' || c == '\r' || c == '#';
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
        *in_comment = !newline && (c == '#' || (r->skips && r->token_number > 0));
        if (newline) {
            r->line++;
            r->token_number = 0;
        }
    }
    return TACIT_OK;
}

static tacit_status read_all(reader *r, tacit_error *error) {
    bool in_comment = false;
    for (bool first = true;; first = false) {
        const uint8_t *bytes;
        size_t length;
        TACIT_TRY(tacit_input_next(r->input, &bytes, &length, error));
        if (length == 0) break;
        if (first && length >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) bytes += 3, length -= 3;
        TACIT_TRY(take_bytes(r, bytes, length, &in_comment, error));
    }
    TACIT_TRY(take_bytes(r, (const uint8_t *)"\n", 1, &in_comment, error));
    if (r->seen == 0) return tacit_fail(error, TACIT_INPUT, "%s has no rows", tacit_input_name(r->input));
    if (r->widest == 0 && r->dimension == 0)
        return tacit_fail(error, TACIT_INPUT, "%s has labels but no features", tacit_input_name(r->input));
    return TACIT_OK;
}

tacit_status tacit_libsvm_read(tacit_libsvm *out, tacit_input *input, size_t dimension, tacit_error *error) {
    return tacit_libsvm_read_some(out, input, dimension, NULL, false, error);
}

tacit_status tacit_libsvm_read_some(tacit_libsvm *out, tacit_input *input, size_t dimension,
                                    const tacit_row_choice *choice, bool bare, tacit_error *error) {
    if (dimension > TACIT_LIBSVM_DIMENSION_LIMIT)
        return tacit_fail(error, TACIT_USAGE, "dimension %zu is larger than the limit of 50,000,000",
                          dimension);
    reader *r = TACIT_NEW(reader, 1);
    if (r == NULL) return tacit_fail_memory(error);
    r->input = input;
    r->dimension = dimension;
    r->line = 1;
    r->choice = choice;
    r->bare = bare;
    tacit_status status = read_all(r, error);
    uint64_t seen = r->seen;
    /* So that the arrays exist when no row was chosen. */
    if (status == TACIT_OK && r->rows == 0) {
        r->choice = NULL;
        status = add_row(r, 0, error);
        r->rows = 0;
    }
    /* A file of empty rows with a given dimension has no entries: its arrays still have to exist. */
    if (status == TACIT_OK && r->column == NULL) {
        status = add_entry(r, 0, 0, error);
        r->entries = 0;
    }
    if (status == TACIT_OK) {
        r->start[r->rows] = r->entries;
        out->rows =
            (tacit_csr){ r->rows, dimension > 0 ? dimension : r->widest, r->start, r->column, r->value };
        out->label = r->label;
        out->seen = seen;
    } else {
        free(r->start);
        free(r->label);
        free(r->column);
        free(r->value);
    }
    free(r);
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
