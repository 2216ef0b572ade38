/* One cell into a column of a table: numbers, dates, levels and texts, and what is said of cells that are
 * none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/number.h"
#include "data/schema/names.h"
#include "data/schema/text.h"
#include "data/table_parts.h"

tacit_status table_add_missing(const tacit_source *source, tacit_column *column, const tacit_cell *cell,
                               tacit_error *error) {
    column->missing++;
    if (!column->required) return TACIT_OK;
    return tacit_source_fail(source, cell->line, column->source, error, TACIT_INPUT,
                             "a missing value where there must be one; fill it in, remove the row, or say in "
                             "the schema what to do (missing: complete-case leaves such rows out)");
}

static tacit_status unknown_level(const tacit_source *source, const tacit_column *column,
                                  const tacit_cell *cell, tacit_error *error) {
    char shown[TACIT_CELL_TEXT], list[200];
    tacit_names_list(&column->levels, list, sizeof list);
    return tacit_source_fail(source, cell->line, column->source, error, TACIT_INPUT,
                             "'%s' is not one of %s: correct the value, or the schema's list",
                             tacit_text_shown(cell->text, cell->length, shown), list);
}

static tacit_status unusable(const tacit_source *source, const tacit_column *column, const tacit_cell *cell,
                             tacit_error *error) {
    return tacit_source_fail(source, cell->line, column->source, error, TACIT_INPUT,
                             "%s is neither a number nor a text; convert it in the query, or leave it out",
                             cell->text);
}

/* The day in a cell; *missing: there is none. */
static tacit_status read_day(const tacit_source *source, size_t field, const tacit_cell *cell, int32_t *day,
                             bool *missing, tacit_error *error) {
    char shown[TACIT_CELL_TEXT], scratch[TACIT_NUMBER_TEXT];
    const tacit_cell text = tacit_cell_as_text(cell, scratch);
    *missing = table_lacks_date(cell);
    if (*missing || tacit_text_to_day(text.text, text.length, day)) return TACIT_OK;
    return tacit_source_fail(source, cell->line, field, error, TACIT_INPUT,
                             "'%s' is not a date%s; write 2024-02-29 or 29.02.2024 (or 29-Feb-2024)",
                             tacit_text_shown(text.text, text.length, shown),
                             memchr(text.text, '/', text.length) != NULL
                                 ? ": with slashes, the day or the month may come first"
                                 : "");
}

bool table_lacks_date(const tacit_cell *cell) {
    return cell->kind != TACIT_CELL_NUMBER && tacit_text_is_missing(cell->text, cell->length);
}

static tacit_status add_date(const tacit_source *source, tacit_column *column, const tacit_cell *cell,
                             size_t row, tacit_error *error) {
    int32_t day = 0;
    bool missing;
    TACIT_TRY(read_day(source, column->source, cell, &day, &missing, error));
    column->number[row] = missing ? NAN : tacit_date_number(&column->date, day);
    return missing ? table_add_missing(source, column, cell, error) : TACIT_OK;
}

tacit_status table_add_age(const tacit_source *source, tacit_column *column, const tacit_cell *cells,
                           size_t row, tacit_error *error) {
    const tacit_cell *born = &cells[column->source], *then = &cells[column->date_at];
    tacit_date age = column->date;
    int32_t day = 0;
    bool missing[2];
    TACIT_TRY(read_day(source, column->source, born, &day, &missing[0], error));
    TACIT_TRY(read_day(source, column->date_at, then, &age.reference, &missing[1], error));
    const bool lacks = missing[0] || missing[1];
    column->number[row] = lacks ? NAN : tacit_date_number(&age, day);
    return lacks ? table_add_missing(source, column, missing[0] ? born : then, error) : TACIT_OK;
}

bool table_is_infinite(const tacit_cell *cell) {
    static const char *const words[] = { "inf", "infinity" };
    const char *text = cell->text;
    if (cell->kind != TACIT_CELL_PLAIN) return false;
    text += *text == '-' || *text == '+';
    return strcasecmp(text, words[0]) == 0 || strcasecmp(text, words[1]) == 0;
}

static tacit_status not_a_number(const tacit_source *source, const tacit_column *column,
                                 const tacit_cell *cell, tacit_error *error) {
    char shown[TACIT_CELL_TEXT];
    const char *remedy = table_is_infinite(cell) ? "leave the cell empty if the value is not known"
                         : memchr(cell->text, ',', cell->length) != NULL
                             ? "write numbers with a decimal point, or separate the fields by semicolons"
                         : column->detected ? "the rows before hold numbers here: correct the cell, or "
                                              "declare the column a category in a schema"
                                            : "the schema says number: correct the cell or the schema";
    return tacit_source_fail(source, cell->line, column->source, error, TACIT_INPUT,
                             "'%s' is not a %snumber; %s", tacit_text_shown(cell->text, cell->length, shown),
                             table_is_infinite(cell) ? "finite " : "", remedy);
}

tacit_status table_add_number(const tacit_source *source, tacit_column *column, const tacit_cell *cell,
                              size_t row, tacit_error *error) {
    if (column->date.use != TACIT_DATE_NONE) return add_date(source, column, cell, row, error);
    if (cell->kind == TACIT_CELL_NUMBER) {
        column->number[row] = cell->number;
        return TACIT_OK;
    }
    if (cell->kind == TACIT_CELL_OTHER) return unusable(source, column, cell, error);
    if (tacit_text_to_number(cell->text, cell->length, &column->number[row])) return TACIT_OK;
    if (tacit_text_is_missing(cell->text, cell->length)) {
        column->number[row] = NAN;
        return table_add_missing(source, column, cell, error);
    }
    return not_a_number(source, column, cell, error);
}

/* A closed list may write 1 where the file has 1.0. */
static int32_t find_equal_number(const tacit_levels *levels, const tacit_cell *cell) {
    double wanted, level;
    if (!tacit_text_to_number(cell->text, cell->length, &wanted)) return TACIT_CODE_UNKNOWN;
    for (size_t i = 0; i < levels->count; i++)
        if (tacit_text_to_number(levels->text[i], strlen(levels->text[i]), &level) && level == wanted)
            return (int32_t)i;
    return TACIT_CODE_UNKNOWN;
}

/* A text that stands for a level; of labels also a number that is written otherwise. */
static int32_t find_recoded(const tacit_column *column, const tacit_cell *cell) {
    const int32_t code = tacit_recode_find(column->recode, cell->text, cell->length);
    if (code >= 0) return code;
    const int32_t from = column->compare_numbers ? find_equal_number(&column->recode->from, cell) : -1;
    return from >= 0 ? column->recode->to[from] : TACIT_CODE_UNKNOWN;
}

static void give_up_levels(tacit_column *column) {
    tacit_levels_clear(&column->levels);
    free(column->code);
    column->code = NULL;
    column->overflow = true;
}

static tacit_status keep_stray(tacit_column *column, const tacit_cell *cell, tacit_error *error) {
    char shown[TACIT_CELL_TEXT];
    if (column->strays.count >= column->stray_limit) return TACIT_OK;
    tacit_text_shown(cell->text, cell->length, shown);
    return tacit_levels_add(&column->strays, shown, strlen(shown), NULL, error);
}

static tacit_status add_category(const tacit_source *source, tacit_column *column, const tacit_cell *cell,
                                 size_t row, tacit_error *error) {
    if (column->overflow) return TACIT_OK;
    int32_t code = tacit_levels_find(&column->levels, cell->text, cell->length);
    if (code < 0 && tacit_text_is_missing(cell->text, cell->length)) {
        code = TACIT_CODE_MISSING;
        TACIT_TRY(table_add_missing(source, column, cell, error));
    } else if (code < 0 && column->closed) {
        code = column->compare_numbers ? find_equal_number(&column->levels, cell) : TACIT_CODE_UNKNOWN;
        if (code < 0 && column->recode != NULL) code = find_recoded(column, cell);
        if (code < 0 && column->has_others) code = column->others;
        if (code < 0 && column->strict) return unknown_level(source, column, cell, error);
        if (code < 0) TACIT_TRY(keep_stray(column, cell, error));
    } else if (code < 0) {
        if (!tacit_text_is_utf8(cell->text, cell->length))
            return tacit_source_fail(source, cell->line, column->source, error, TACIT_INPUT,
                                     "the text is not UTF-8; convert the file to UTF-8");
        if (column->levels.count >= column->level_limit) {
            give_up_levels(column);
            return TACIT_OK;
        }
        TACIT_TRY(tacit_levels_add(&column->levels, cell->text, cell->length, &code, error));
    }
    column->code[row] = code;
    return TACIT_OK;
}

static tacit_status append_entries(tacit_column *column, const tacit_bag *bag, size_t row,
                                   tacit_error *error) {
    tacit_bag *all = &column->entries;
    if (all->capacity - all->count < bag->count) {
        size_t capacity = all->capacity + all->capacity / 2 + bag->count;
        uint32_t *feature = tacit_grow(all->feature, capacity, sizeof *feature);
        if (feature == NULL) return tacit_fail_memory(error);
        all->feature = feature;
        double *value = tacit_grow(all->value, capacity, sizeof *value);
        if (value == NULL) return tacit_fail_memory(error);
        all->value = value;
        all->capacity = capacity;
    }
    if (bag->count > 0) {
        memcpy(all->feature + all->count, bag->feature, bag->count * sizeof *bag->feature);
        memcpy(all->value + all->count, bag->value, bag->count * sizeof *bag->value);
    }
    all->count += bag->count;
    column->start[row + 1] = all->count;
    return TACIT_OK;
}

/* A text is kept as its terms: the words themselves are not needed any more. */
static tacit_status add_text(const tacit_source *source, tacit_column *column, const tacit_cell *cell,
                             size_t row, tacit_error *error) {
    tacit_bag bag = TACIT_BAG_INIT;
    tacit_status status = TACIT_OK;
    if (cell->length == 0) TACIT_CHECK(table_add_missing(source, column, cell, error));
    TACIT_CHECK(tacit_vocabulary_encode(column->vocabulary, cell->text, cell->length, &bag, error));
    TACIT_CHECK(append_entries(column, &bag, row, error));
cleanup:
    tacit_bag_clear(&bag);
    return status;
}

/* Categories and texts take a number by its digits. */
tacit_status table_add_words(const tacit_source *source, tacit_column *column, const tacit_cell *cell,
                             size_t row, tacit_error *error) {
    char scratch[TACIT_NUMBER_TEXT];
    tacit_cell digits;
    if (cell->kind == TACIT_CELL_OTHER) return unusable(source, column, cell, error);
    if (cell->kind == TACIT_CELL_NUMBER) {
        digits = tacit_cell_as_text(cell, scratch);
        cell = &digits;
    }
    return (column->kind == TACIT_COLUMN_TEXT ? add_text : add_category)(source, column, cell, row, error);
}
