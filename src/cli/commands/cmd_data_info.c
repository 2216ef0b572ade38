/* tacit data info: what a file holds. */
#include <math.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/print/classes.h"
#include "cli/row_reading.h"
#include "data/schema/date.h"
#include "data/schema/names.h"

enum { CLASSES_SHOWN = 20 };

typedef struct range {
    double low, high; /* low > high when there is no number */
} range;

static range find_range(const double *numbers, size_t count) {
    range found = { INFINITY, -INFINITY };
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] < found.low) found.low = numbers[i];
        if (numbers[i] > found.high) found.high = numbers[i];
    }
    return found;
}

/* Without a schema dates are days since 2000-01-01, which nobody reads. */
static const char *day_of(const tacit_column *column, double number, char out[TACIT_DAY_TEXT]) {
    return tacit_day_text(column->date.reference + (int32_t)number, out);
}

static void add_row(tacit_grid *grid, const tacit_column *column, size_t rows) {
    char values[160] = "", low[TACIT_NUMBER_TEXT], high[TACIT_NUMBER_TEXT];
    _Static_assert((int)TACIT_NUMBER_TEXT >= (int)TACIT_DAY_TEXT, "a day fits");
    const bool dates = column->kind == TACIT_COLUMN_NUMBER && column->date.use == TACIT_DATE_DAYS;
    if (column->kind == TACIT_COLUMN_NUMBER) {
        range found = find_range(column->number, rows);
        if (found.low <= found.high && dates)
            snprintf(values, sizeof values, "%s to %s", day_of(column, found.low, low),
                     day_of(column, found.high, high));
        else if (found.low <= found.high)
            snprintf(values, sizeof values, "%s to %s", tacit_number_to_text(found.low, low),
                     tacit_number_to_text(found.high, high));
    } else if (column->overflow) {
        snprintf(values, sizeof values, "more than %d different texts", TACIT_LEVEL_LIMIT);
    } else {
        tacit_names_list(&column->levels, values, 60);
    }
    tacit_grid_cell(grid, "%s", column->name);
    tacit_grid_cell(grid, "%s", dates ? "date" : column->kind == TACIT_COLUMN_NUMBER ? "number" : "category");
    tacit_grid_cell(grid, "%zu", column->missing);
    tacit_grid_cell(grid, "%s", values);
}

/* A few texts among numbers, such as one 1e400, are rather slips than levels. */
static bool has_stray(const tacit_column *column) {
    return column->texts > 0 && column->numbers > 1 && column->texts <= 1 + column->numbers / 20;
}

static void print_strays(tacit_console *console, const tacit_table *table, const tacit_source *source) {
    char name[TACIT_CELL_TEXT], place[TACIT_PLACE_SIZE];
    for (size_t i = 0; i < table->cols; i++) {
        const tacit_column *column = &table->columns[i];
        if (has_stray(column))
            tacit_console_warn(
                console, "%s: column %s would hold numbers, but '%s' is none: that makes it a category",
                tacit_source_place(source, column->stray_line, place),
                tacit_text_shown(column->name, strlen(column->name), name), column->stray_text);
    }
}

static tacit_status print_columns(tacit_console *console, const tacit_table *table, tacit_error *error) {
    static const tacit_grid_column columns[] = {
        { "column", TACIT_LEFT }, { "kind", TACIT_LEFT }, { "missing", TACIT_RIGHT }, { "values", TACIT_LEFT }
    };
    tacit_grid *grid = NULL;
    TACIT_TRY(tacit_grid_create(&grid, columns, 4, error));
    for (size_t i = 0; i < table->cols; i++) add_row(grid, &table->columns[i], table->rows);
    tacit_status status = tacit_console_grid(console, grid, error);
    tacit_grid_free(grid);
    return status;
}

static void print_classes(tacit_console *console, const tacit_class_list *list, const char *label) {
    char shown[TACIT_CELL_TEXT];
    tacit_console_print(console, "\nlabel %s: ", tacit_text_shown(label, strlen(label), shown));
    if (list->too_many || list->count > CLASSES_SHOWN) {
        tacit_console_print(console, "more than %d different values\n",
                            list->too_many ? TACIT_LEVEL_LIMIT : CLASSES_SHOWN);
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        const char *text = tacit_class_text(&list->classes[i]);
        tacit_console_print(console, "%s%s %zu%s", i == 0 ? "" : ", ",
                            tacit_text_shown(text, strlen(text), shown), list->classes[i].rows,
                            i == list->positive ? " (positive)" : "");
    }
    tacit_console_print(console, "\n");
}

/* The line, and in a folder its file. */
static json_t *stray_document(const tacit_column *column, const tacit_source *source) {
    uint64_t line = column->stray_line;
    if (!has_stray(column)) return json_null();
    const char *file = source->kind->file != NULL ? source->kind->file(source, &line) : NULL;
    json_t *stray =
        json_pack("{s:I,s:o}", "line", (json_int_t)line, "text", tacit_json_text(column->stray_text));
    if (file != NULL && stray != NULL) json_object_set_new(stray, "file", tacit_json_text(file));
    return stray;
}

static json_t *column_document(const tacit_column *column, const tacit_source *source, size_t rows) {
    json_t *name = tacit_json_text(column->name);
    json_int_t missing = (json_int_t)column->missing;
    if (column->kind == TACIT_COLUMN_NUMBER) {
        range found = find_range(column->number, rows);
        bool any = found.low <= found.high;
        return json_pack("{s:o,s:s,s:I,s:o,s:o}", "name", name, "kind", "number", "missing", missing, "low",
                         any ? json_real(found.low) : json_null(), "high",
                         any ? json_real(found.high) : json_null());
    }
    json_t *levels = column->overflow ? json_null() : json_array();
    for (size_t i = 0; !column->overflow && i < column->levels.count; i++)
        levels = tacit_json_append(levels, tacit_json_text(column->levels.text[i]));
    return json_pack("{s:o,s:s,s:I,s:o,s:o}", "name", name, "kind", "category", "missing", missing, "levels",
                     levels, "stray", stray_document(column, source));
}

static json_t *table_document(const tacit_table *table, const tacit_source *source, const char *name,
                              const tacit_class_list *classes, size_t label) {
    json_t *columns = json_array();
    for (size_t i = 0; i < table->cols; i++)
        columns = tacit_json_append(columns, column_document(&table->columns[i], source, table->rows));
    return json_pack("{s:o,s:s,s:I,s:o,s:o}", "file", tacit_json_text(name), "format", source->kind->name,
                     "rows", (json_int_t)table->rows, "columns", columns, "label",
                     tacit_class_list_document(classes, table->columns[label].name));
}

static tacit_status describe_table(tacit_console *console, tacit_source *source, const char *path,
                                   const tacit_load_options *options, tacit_error *error) {
    tacit_table *table = NULL;
    tacit_class_list classes = TACIT_CLASS_LIST_INIT;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_table_load(&table, source, options, error));
    size_t label = 0;
    TACIT_CHECK(tacit_reading_label(&label, table, options, error));
    const tacit_column *column = &table->columns[label];
    TACIT_CHECK(tacit_class_list_count(&classes, column, table->rows, options->positive, path, error));
    tacit_console_print(console, "%s: %zu %s, %zu %s\n\n", path, table->rows,
                        tacit_plural(table->rows, "row", "rows"), table->cols,
                        tacit_plural(table->cols, "column", "columns"));
    TACIT_CHECK(print_columns(console, table, error));
    print_classes(console, &classes, column->name);
    print_strays(console, table, source);
    if (console->json)
        TACIT_CHECK(
            tacit_console_document(console, table_document(table, source, path, &classes, label), error));
cleanup:
    tacit_class_list_clear(&classes);
    tacit_table_free(table);
    return status;
}

static tacit_status describe_libsvm(tacit_console *console, tacit_source *source, const char *path,
                                    const tacit_load_options *options, tacit_error *error) {
    tacit_libsvm file = TACIT_LIBSVM_INIT;
    tacit_class_list classes = TACIT_CLASS_LIST_INIT;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_libsvm_gather(&file, source, error));
    size_t rows = file.rows.rows, entries = file.rows.start[rows];
    const tacit_column label = { .kind = TACIT_COLUMN_NUMBER, .number = file.label };
    TACIT_CHECK(tacit_class_list_count(&classes, &label, rows, options->positive, path, error));
    range found = find_range(file.rows.value, entries);
    bool any = found.low <= found.high;
    tacit_console_print(console, "%s: %zu %s of LIBSVM text, %zu features, %zu values that are not zero\n",
                        path, rows, tacit_plural(rows, "row", "rows"), file.rows.cols, entries);
    if (any) tacit_console_print(console, "values: %.9g to %.9g\n", found.low, found.high);
    print_classes(console, &classes, "(first on each line)");
    TACIT_CHECK(tacit_console_document(
        console,
        json_pack("{s:o,s:s,s:I,s:I,s:I,s:o,s:o,s:o}", "file", tacit_json_text(path), "format", "libsvm",
                  "rows", (json_int_t)rows, "features", (json_int_t)file.rows.cols, "entries",
                  (json_int_t)entries, "low", any ? json_real(found.low) : json_null(), "high",
                  any ? json_real(found.high) : json_null(), "label",
                  tacit_class_list_document(&classes, "label")),
        error));
cleanup:
    tacit_class_list_clear(&classes);
    tacit_libsvm_clear(&file);
    return status;
}

static tacit_status run_info(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    const char *path = tacit_arguments_operand(arguments, "FILE");
    tacit_load_options options = tacit_reading_options(arguments, tacit_console_progress(console));
    tacit_source *source = NULL;
    TACIT_TRY(tacit_reading_open(&source, path, &options, error));
    tacit_status status =
        (source->kind->sparse ? describe_libsvm : describe_table)(console, source, path, &options, error);
    tacit_source_free(source);
    return status;
}

const tacit_command tacit_command_data_info = {
    .name = "data info",
    .section = "Data",
    .summary = "rows, columns, ranges, missing values and classes of a file",
    .description = "For the owner of the rows: what it prints is read off them and is not private.",
    .operands =
        (const tacit_operand[]){
            { "FILE", 1, 1, TACIT_SOURCES_HELP },
            { .name = NULL },
        },
    .options = (const tacit_option[]){ TACIT_OPTIONS_READING, { .name = NULL } },
    .examples =
        (const tacit_example[]){
            { "See what a file holds before describing it in a schema.",
              "tacit data info patients.csv --label outcome" },
            { .text = NULL },
        },
    .run = run_info,
};
