#include "data/table.h"

#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <string.h>
#include <strings.h>

#include "base/growing.h"
#include "base/memory.h"
#include "data/schema/names.h"
#include "data/table_parts.h"

/* Kinds are decided by the first rows, kept packed until then: at most this many rows and cells. */
enum { DETECT_ROWS = 10000, DETECT_ROWS_LEAST = 16, DETECT_CELLS = 2000000 };

const tacit_date tacit_detected_date = { TACIT_DATE_DAYS, 10957 /* 2000-01-01 */ };

tacit_status tacit_table_create_empty(tacit_table **out, const char *name, tacit_error *error) {
    tacit_table *table = TACIT_NEW(tacit_table, 1);
    if (table == NULL) return tacit_fail_memory(error);
    table->name = tacit_copy_text(name);
    if (table->name == NULL) {
        tacit_table_free(table);
        return tacit_fail_memory(error);
    }
    *out = table;
    return TACIT_OK;
}

tacit_status tacit_table_create(tacit_table **out, const tacit_source *source, tacit_error *error) {
    static const tacit_column_kind kinds[] = { [TACIT_HINT_NONE] = TACIT_COLUMN_DETECT,
                                               [TACIT_HINT_NUMBER] = TACIT_COLUMN_NUMBER,
                                               [TACIT_HINT_CATEGORY] = TACIT_COLUMN_CATEGORY };
    tacit_table *table = NULL;
    TACIT_TRY(tacit_table_create_empty(&table, source->name, error));
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < source->columns.count && status == TACIT_OK; i++) {
        tacit_column *column;
        status = tacit_table_declare(table, &column, source->columns.text[i],
                                     kinds[tacit_source_hint(source, i)], i, error);
        if (status == TACIT_OK) column->detected = true;
    }
    if (status != TACIT_OK) {
        tacit_table_free(table);
        return status;
    }
    *out = table;
    return TACIT_OK;
}

tacit_status tacit_table_declare(tacit_table *table, tacit_column **column, const char *name,
                                 tacit_column_kind kind, size_t source, tacit_error *error) {
    tacit_column *columns =
        tacit_grow_by_one(table->columns, table->cols, &table->column_capacity, 16, sizeof *columns);
    if (columns == NULL) return tacit_fail_memory(error);
    table->columns = columns;
    char *copy = tacit_copy_text(name);
    if (copy == NULL) return tacit_fail_memory(error);
    tacit_column *added = &table->columns[table->cols++];
    *added = (tacit_column){ .name = copy,
                             .kind = kind,
                             .detected = kind == TACIT_COLUMN_DETECT,
                             .source = source,
                             .level_limit = TACIT_LEVEL_LIMIT };
    *column = added;
    return TACIT_OK;
}

tacit_status tacit_table_declare_group(tacit_table *table, const tacit_source *source, const char *name,
                                       size_t *at, tacit_error *error) {
    size_t field;
    tacit_column *column;
    TACIT_TRY(tacit_source_require(source, name, "by:COLUMN", &field, error));
    TACIT_TRY(tacit_table_declare(table, &column, name, TACIT_COLUMN_CATEGORY, field, error));
    column->extra = column->required = true;
    column->level_limit = TACIT_GROUP_LIMIT;
    *at = table->cols - 1;
    return TACIT_OK;
}

static void give_back(tacit_column *column) {
    if (column->is_lent) column->number = column->own;
    column->is_lent = false;
}

tacit_table *tacit_table_free(tacit_table *table) {
    if (table == NULL) return NULL;
    for (size_t i = 0; i < table->cols; i++) {
        tacit_column *column = &table->columns[i];
        give_back(column);
        free(column->name);
        free(column->number);
        free(column->code);
        free(column->start);
        tacit_bag_clear(&column->entries);
        tacit_levels_clear(&column->levels);
        tacit_levels_clear(&column->strays);
    }
    tacit_table_free(table->probe);
    free(table->identity);
    free(table->columns);
    free(table->name);
    free(table);
    return NULL;
}

void tacit_table_drop_rows(tacit_table *table) {
    table->dropped += table->rows;
    table->rows = 0;
    table->has_lent = false;
    for (size_t i = 0; i < table->cols; i++) give_back(&table->columns[i]);
    for (size_t i = 0; i < table->cols; i++) table->columns[i].entries.count = 0;
}

/* Give a column room for `capacity` rows, in the form of its kind. */
static tacit_status grow_column(tacit_column *column, size_t capacity, tacit_error *error) {
    if (column->kind == TACIT_COLUMN_NUMBER) {
        double *number = tacit_grow(column->number, capacity, sizeof *number);
        if (number == NULL) return tacit_fail_memory(error);
        column->number = number;
    } else if (column->kind == TACIT_COLUMN_CATEGORY && !column->overflow) {
        int32_t *code = tacit_grow(column->code, capacity, sizeof *code);
        if (code == NULL) return tacit_fail_memory(error);
        column->code = code;
    } else if (column->kind == TACIT_COLUMN_TEXT) {
        size_t *start = tacit_grow(column->start, capacity + 1, sizeof *start);
        if (start == NULL) return tacit_fail_memory(error);
        column->start = start;
        start[0] = 0;
    }
    return TACIT_OK;
}

tacit_status table_make_room(tacit_table *table, size_t rows, tacit_error *error) {
    if (rows <= table->capacity - table->rows) return TACIT_OK;
    if (table->rows + rows > UINT32_MAX)
        return tacit_fail(error, TACIT_LIMIT, "%s: more than 2^32 - 1 rows", table->name);
    size_t capacity = table->capacity > 0 ? table->capacity + table->capacity / 2 : 256;
    if (capacity < table->rows + rows) capacity = table->rows + rows;
    for (size_t i = 0; i < table->cols; i++) TACIT_TRY(grow_column(&table->columns[i], capacity, error));
    if (table->identified) {
        uint64_t *identity = tacit_grow(table->identity, capacity, sizeof *identity);
        if (identity == NULL) return tacit_fail_memory(error);
        table->identity = identity;
    }
    table->capacity = capacity;
    return TACIT_OK;
}

/* Fix the kind of a column whose cells so far were all missing. */
static tacit_status settle(tacit_table *table, tacit_column *column, tacit_column_kind kind,
                           tacit_error *error) {
    column->kind = kind;
    TACIT_TRY(grow_column(column, table->capacity, error));
    for (size_t i = 0; i < table->rows; i++) {
        if (kind == TACIT_COLUMN_NUMBER)
            column->number[i] = NAN;
        else
            column->code[i] = TACIT_CODE_MISSING;
    }
    return TACIT_OK;
}

static bool is_missing(const tacit_cell *cell) {
    return cell->kind == TACIT_CELL_PLAIN && tacit_text_is_missing(cell->text, cell->length);
}

/* An infinite one too, which is then refused where it stands and does not turn its column into a category. */
static bool is_number(const tacit_cell *cell) {
    double number;
    return cell->kind == TACIT_CELL_NUMBER || table_is_infinite(cell) ||
           (cell->kind == TACIT_CELL_PLAIN && tacit_text_to_number(cell->text, cell->length, &number));
}

/* As add_number, add_date, add_category and add_text see it. */
static bool is_gap(const tacit_column *column, const tacit_cell *cells) {
    const tacit_cell *cell = &cells[column->source];
    if (column->has_date_at && table_lacks_date(&cells[column->date_at])) return true;
    if (column->kind == TACIT_COLUMN_TEXT) return cell->length == 0 && cell->kind != TACIT_CELL_NUMBER;
    if (cell->kind == TACIT_CELL_NUMBER) return column->kind == TACIT_COLUMN_NUMBER && isnan(cell->number);
    if (!tacit_text_is_missing(cell->text, cell->length)) return false;
    return column->kind != TACIT_COLUMN_CATEGORY ||
           tacit_levels_find(&column->levels, cell->text, cell->length) < 0;
}

bool table_leaves_out(tacit_table *table, const tacit_cell *cells) {
    bool found = false;
    for (size_t i = 0; i < table->cols && !found; i++)
        found = table->columns[i].leaves_out && is_gap(&table->columns[i], cells);
    if (!found) return false;
    for (size_t i = 0; i < table->cols; i++) {
        tacit_column *column = &table->columns[i];
        if (!is_gap(column, cells)) continue;
        column->missing++;
        column->missing_left_out++;
    }
    table->incomplete++;
    return true;
}

/* ---- which rows ---- */

void tacit_table_choose(tacit_table *table, const tacit_condition *condition, tacit_table *probe) {
    tacit_table_free(table->probe);
    table->condition = condition;
    table->probe = probe;
}

static tacit_status add_record(tacit_table *table, const tacit_source *source, const tacit_cell *cells,
                               tacit_error *error);

/* Of a category its level, NaN for what is missing. */
static double probe_value(const tacit_column *column) {
    if (column->kind == TACIT_COLUMN_NUMBER) return column->number[0];
    return column->code[0] == TACIT_CODE_MISSING ? NAN : column->code[0] < 0 ? -1 : column->code[0];
}

/* Whether the row is one of those that were asked for. A cell that cannot be read is an error even so. */
static tacit_status is_chosen(tacit_table *table, const tacit_source *source, const tacit_cell *cells,
                              bool *out, tacit_error *error) {
    tacit_table *probe = table->probe;
    double few[16], *value = probe->cols <= 16 ? few : TACIT_NEW(double, probe->cols);
    if (value == NULL) return tacit_fail_memory(error);
    probe->rows = 0;
    tacit_status status = add_record(probe, source, cells, error);
    for (size_t k = 0; status == TACIT_OK && k < probe->cols; k++) value[k] = probe_value(&probe->columns[k]);
    if (status == TACIT_OK) *out = tacit_condition_holds(table->condition, value);
    if (value != few) free(value);
    return status;
}

/* A sum over the columns, so that their order does not matter. */
static uint64_t identify(const tacit_source *source, const tacit_cell *cells) {
    static const uint8_t key[crypto_shorthash_KEYBYTES]; /* whoever keeps the hash has a key of its own */
    uint64_t sum = 0;
    for (size_t i = 0; i < source->columns.count; i++) {
        const tacit_cell *cell = &cells[i];
        const bool number = cell->kind == TACIT_CELL_NUMBER;
        uint64_t hash[2];
        crypto_shorthash((uint8_t *)&hash[0], (const uint8_t *)source->columns.text[i],
                         strlen(source->columns.text[i]), key);
        crypto_shorthash((uint8_t *)&hash[1],
                         number ? (const uint8_t *)&cell->number : (const uint8_t *)cell->text,
                         number ? sizeof cell->number : cell->length, key);
        uint64_t both;
        crypto_shorthash((uint8_t *)&both, (const uint8_t *)hash, sizeof hash, key);
        sum += both;
    }
    return sum;
}

static tacit_status add_record(tacit_table *table, const tacit_source *source, const tacit_cell *cells,
                               tacit_error *error) {
    bool chosen = true;
    if (table->probe != NULL) TACIT_TRY(is_chosen(table, source, cells, &chosen, error));
    table->outside += !chosen;
    if (!chosen || table_leaves_out(table, cells)) return TACIT_OK;
    TACIT_TRY(table_make_room(table, 1, error));
    if (table->identified) table->identity[table->rows] = identify(source, cells);
    for (size_t i = 0; i < table->cols; i++) {
        tacit_column *column = &table->columns[i];
        const tacit_cell *cell = &cells[column->source];
        if (column->idle) continue;
        if (column->kind == TACIT_COLUMN_DETECT) {
            if (is_missing(cell)) {
                TACIT_TRY(table_add_missing(source, column, cell, error));
                continue;
            }
            TACIT_TRY(
                settle(table, column, is_number(cell) ? TACIT_COLUMN_NUMBER : TACIT_COLUMN_CATEGORY, error));
        }
        if (column->has_date_at)
            TACIT_TRY(table_add_age(source, column, cells, table->rows, error));
        else if (column->kind == TACIT_COLUMN_NUMBER)
            TACIT_TRY(table_add_number(source, column, cell, table->rows, error));
        else
            TACIT_TRY(table_add_words(source, column, cell, table->rows, error));
    }
    table->rows++;
    return TACIT_OK;
}

/* The first rows, packed. */
typedef struct window {
    tacit_buffer packed;
    size_t rows;
    tacit_cell *cells; /* of one row */
} window;

static tacit_status fill_window(window *kept, tacit_source *source, size_t limit, bool *ended,
                                tacit_error *error) {
    size_t columns = source->columns.count;
    while (!*ended && kept->rows < limit) {
        tacit_row_block block;
        TACIT_TRY(tacit_source_next(source, limit - kept->rows, &block, error));
        for (size_t i = 0; i < block.rows; i++)
            TACIT_TRY(tacit_row_keep(&kept->packed, block.cells + i * columns, columns, error));
        kept->rows += block.rows;
        *ended = block.ended;
    }
    return TACIT_OK;
}

static bool is_padded(const tacit_cell *cell) {
    return cell->kind == TACIT_CELL_PLAIN && cell->length > 1 && cell->text[0] == '0' &&
           cell->text[1] >= '0' && cell->text[1] <= '9';
}

/* One text among the first rows makes a column a category. */
static void find_texts(tacit_table *table, const window *kept) {
    char scratch[TACIT_NUMBER_TEXT];
    for (size_t i = 0; i < table->cols; i++) {
        tacit_column *column = &table->columns[i];
        const tacit_cell *cell = &kept->cells[column->source];
        if (column->kind != TACIT_COLUMN_DETECT) continue;
        if (is_number(cell)) {
            column->numbers++;
            column->padded += is_padded(cell);
        } else if (!is_missing(cell)) {
            int32_t day;
            tacit_cell text = tacit_cell_as_text(cell, scratch);
            column->dates += tacit_text_to_day(text.text, text.length, &day);
            if (column->texts++ > 0) continue;
            column->stray_line = cell->line;
            tacit_text_shown(text.text, text.length, column->stray_text);
        }
    }
}

static tacit_status detect_kinds(tacit_table *table, tacit_source *source, bool *ended, tacit_error *error) {
    size_t columns = source->columns.count, limit = DETECT_CELLS / columns;
    if (limit > DETECT_ROWS) limit = DETECT_ROWS;
    if (limit < DETECT_ROWS_LEAST) limit = DETECT_ROWS_LEAST;
    tacit_status status = TACIT_OK;
    window kept = { .packed = TACIT_BUFFER_INIT };
    kept.cells = TACIT_NEW(tacit_cell, columns);
    if (kept.cells == NULL) TACIT_CHECK(tacit_fail_memory(error));
    TACIT_CHECK(fill_window(&kept, source, limit, ended, error));
    const uint8_t *at = kept.packed.bytes;
    for (size_t i = 0; i < kept.rows; i++) {
        at = tacit_row_restore(at, kept.cells, columns);
        find_texts(table, &kept);
    }
    for (size_t i = 0; i < table->cols; i++) {
        tacit_column *column = &table->columns[i];
        if (column->texts == 0) continue;
        bool dates = column->dates == column->texts && column->numbers == 0;
        if (dates) column->date = tacit_detected_date;
        TACIT_CHECK(settle(table, column, dates ? TACIT_COLUMN_NUMBER : TACIT_COLUMN_CATEGORY, error));
    }
    at = kept.packed.bytes;
    for (size_t i = 0; i < kept.rows; i++) {
        at = tacit_row_restore(at, kept.cells, columns);
        TACIT_CHECK(add_record(table, source, kept.cells, error));
    }
cleanup:
    tacit_buffer_clear(&kept.packed);
    free(kept.cells);
    return status;
}

static bool has_undetected(const tacit_table *table) {
    for (size_t i = 0; i < table->cols; i++)
        if (table->columns[i].kind == TACIT_COLUMN_DETECT) return true;
    return false;
}

tacit_status tacit_table_read(tacit_table *table, tacit_source *source, size_t most, bool *ended,
                              tacit_error *error) {
    bool over = false;
    size_t columns = source->columns.count, count = 0;
    if (most == 0) most = SIZE_MAX;
    if (table->rows == 0 && table->dropped == 0 && has_undetected(table)) {
        TACIT_TRY(detect_kinds(table, source, &over, error));
        count = table->rows;
    }
    while (!over && count < most && !table->has_lent && table_takes_columns(table, source))
        TACIT_TRY(table_read_columns(table, source, most - count, &count, &over, error));
    while (!over && count < most && !table->has_lent) {
        tacit_row_block block;
        TACIT_TRY(tacit_source_next(source, most - count, &block, error));
        for (size_t i = 0; i < block.rows; i++)
            TACIT_TRY(add_record(table, source, block.cells + i * columns, error));
        table->left_out += block.left_out;
        count += block.rows + (size_t)block.left_out;
        over = block.ended;
    }
    if (over && table->outside > 0 && table->incomplete == 0 && table->rows + table->dropped == 0)
        return tacit_fail(error, TACIT_INPUT, "%s has no row of the subset: %s", table->name,
                          tacit_condition_text(table->condition));
    if (over && table->incomplete > 0 && table->rows + table->dropped == 0)
        return tacit_fail(error, TACIT_INPUT,
                          "%s has no complete row: in each a value is missing of a column that leaves such "
                          "rows out (missing: complete-case)",
                          table->name);
    if (over && table->rows + table->dropped + table->left_out == 0)
        return tacit_fail(error, TACIT_INPUT, "%s has %sno rows", table->name,
                          source->row_name == NULL ? "a header but " : "");
    if (over) /* nothing but missing cells: a number that is never there */
        for (size_t i = 0; i < table->cols; i++)
            if (table->columns[i].kind == TACIT_COLUMN_DETECT)
                TACIT_TRY(settle(table, &table->columns[i], TACIT_COLUMN_NUMBER, error));
    *ended = over;
    return TACIT_OK;
}

tacit_status tacit_table_find(const tacit_table *table, const char *name, const char *flag, size_t *out,
                              tacit_error *error) {
    tacit_levels names = TACIT_LEVELS_INIT;
    tacit_status status = TACIT_OK;
    size_t found = 0;
    for (size_t i = 0; i < table->cols; i++)
        TACIT_CHECK(
            tacit_levels_add(&names, table->columns[i].name, strlen(table->columns[i].name), NULL, error));
    TACIT_CHECK(tacit_names_find(&names, name, "column", flag, table->name, &found, error));
    for (*out = 0; strcmp(table->columns[*out].name, name) != 0;) ++*out;
cleanup:
    tacit_levels_clear(&names);
    return status;
}
