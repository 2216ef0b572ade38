/* tacit data convert: CSV to LIBSVM and back, or any table to CSV; values unchanged. */
#include <math.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/output_file.h"
#include "cli/print/classes.h"
#include "cli/row_reading.h"

/* Rows are private: what is written for the first time is for the owner's eyes only. */
enum { ROWS_MODE = 0600, ROWS_BETWEEN_LOOKS = 1024, CSV_COLUMN_LIMIT = 100000 };

static tacit_status look_around(const tacit_progress *progress, size_t row, size_t rows, tacit_error *error) {
    if (row % ROWS_BETWEEN_LOOKS != 0) return TACIT_OK;
    tacit_progress_report(progress, "writing rows", row, rows);
    return tacit_progress_cancelled(progress) ? tacit_fail(error, TACIT_CANCELLED, "interrupted") : TACIT_OK;
}

static void put_number(FILE *out, double number) {
    char text[TACIT_NUMBER_TEXT];
    fputs(tacit_number_to_text(number, text), out);
}

/* LIBSVM leaves out what is zero, so it cannot say that a value is missing. */
static tacit_status refuse_missing(const tacit_table *table, tacit_error *error) {
    for (size_t i = 0; i < table->cols; i++) {
        const tacit_column *column = &table->columns[i];
        if (column->overflow)
            return tacit_fail(error, TACIT_INPUT,
                              "%s: column '%.60s' has more than %d different texts; leave it out",
                              table->name, column->name, TACIT_LEVEL_LIMIT);
        if (column->missing > 0)
            return tacit_fail(error, TACIT_INPUT,
                              "%s: column '%.60s' has %zu missing %s, which LIBSVM text cannot express; fill "
                              "them or leave the column out",
                              table->name, column->name, column->missing,
                              tacit_plural(column->missing, "value", "values"));
    }
    return TACIT_OK;
}

/* Two classes are -1 and +1, more are 0, 1, 2, ...; numbers stay what they are unless a class is singled
 * out as positive. */
static void put_label(FILE *out, const tacit_class_list *classes, const tacit_column *label, size_t row,
                      bool as_number) {
    size_t found = as_number ? 0 : tacit_class_list_find(classes, label, row);
    if (as_number)
        put_number(out, label->number[row]);
    else if (classes->positive != SIZE_MAX)
        fputs(found == classes->positive ? "+1" : "-1", out);
    else
        fprintf(out, "%zu", found);
}

/* A category takes one index a level. */
static void put_features(FILE *out, const tacit_table *table, size_t label, size_t row) {
    size_t index = 1;
    for (size_t i = 0; i < table->cols; i++) {
        const tacit_column *column = &table->columns[i];
        if (i == label) continue;
        bool number = column->kind == TACIT_COLUMN_NUMBER;
        double value = number ? column->number[row] : 1;
        if (value != 0) {
            fprintf(out, " %zu:", number ? index : index + (size_t)column->code[row]);
            put_number(out, value);
        }
        index += number ? 1 : column->levels.count;
    }
}

static json_t *feature_names(const tacit_table *table, size_t label) {
    json_t *names = json_array();
    for (size_t i = 0; i < table->cols; i++) {
        const tacit_column *column = &table->columns[i];
        if (i == label) continue;
        if (column->kind == TACIT_COLUMN_NUMBER)
            names = tacit_json_append(names, tacit_json_text(column->name));
        for (size_t k = 0; column->kind != TACIT_COLUMN_NUMBER && k < column->levels.count; k++)
            names = tacit_json_append(names, json_sprintf("%s=%s", column->name, column->levels.text[k]));
    }
    return names;
}

static tacit_status write_libsvm(tacit_console *console, FILE *out, tacit_source *source,
                                 const tacit_load_options *options, tacit_error *error) {
    tacit_table *table = NULL;
    tacit_class_list classes = TACIT_CLASS_LIST_INIT;
    tacit_status status = TACIT_OK;
    size_t label = 0;
    TACIT_CHECK(tacit_table_load(&table, source, options, error));
    TACIT_CHECK(tacit_reading_label(&label, table, options, error));
    TACIT_CHECK(refuse_missing(table, error));
    const tacit_column *column = &table->columns[label];
    TACIT_CHECK(
        tacit_class_list_count(&classes, column, table->rows, options->positive, source->name, error));
    bool as_number = column->kind == TACIT_COLUMN_NUMBER && options->positive == NULL;
    for (size_t row = 0; row < table->rows; row++) {
        TACIT_CHECK(look_around(options->progress, row, table->rows, error));
        put_label(out, &classes, column, row, as_number);
        put_features(out, table, label, row);
        fputc('\n', out);
    }
    if (console->json)
        TACIT_CHECK(
            tacit_console_document(console,
                                   json_pack("{s:s,s:I,s:o,s:o}", "format", "libsvm", "rows",
                                             (json_int_t)table->rows, "features", feature_names(table, label),
                                             "label", tacit_class_list_document(&classes, column->name)),
                                   error));
cleanup:
    tacit_class_list_clear(&classes);
    tacit_table_free(table);
    return status;
}

static void put_csv_row(FILE *out, const tacit_csr *rows, size_t row) {
    size_t k = rows->start[row];
    for (size_t j = 0; j < rows->cols; j++) {
        bool here = k < rows->start[row + 1] && rows->column[k] == j;
        put_number(out, here ? rows->value[k] : 0);
        k += here;
        fputc(',', out);
    }
}

static tacit_status write_csv(tacit_console *console, FILE *out, tacit_source *source,
                              const tacit_load_options *options, tacit_error *error) {
    tacit_libsvm file = TACIT_LIBSVM_INIT;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_libsvm_gather(&file, source, error));
    const tacit_csr *rows = &file.rows;
    if (rows->cols >= CSV_COLUMN_LIMIT)
        TACIT_CHECK(tacit_fail(error, TACIT_LIMIT,
                               "%s has %zu features; a CSV file may have %d columns, so keep it as LIBSVM",
                               source->name, rows->cols, CSV_COLUMN_LIMIT));
    for (size_t j = 0; j < rows->cols; j++) fprintf(out, "x%zu,", j + 1);
    fputs("label\n", out);
    for (size_t row = 0; row < rows->rows; row++) {
        TACIT_CHECK(look_around(options->progress, row, rows->rows, error));
        put_csv_row(out, rows, row);
        put_number(out, file.label[row]);
        fputc('\n', out);
    }
    TACIT_CHECK(
        tacit_console_document(console,
                               json_pack("{s:s,s:I,s:I}", "format", "csv", "rows", (json_int_t)rows->rows,
                                         "columns", (json_int_t)rows->cols + 1),
                               error));
cleanup:
    tacit_libsvm_clear(&file);
    return status;
}

/* ---- any table to CSV ---- */

static void put_text(FILE *out, const char *text) {
    bool quoted = text[strcspn(text, ",;\"\r\n\t")] != 0;
    if (quoted) fputc('"', out);
    for (; *text != 0; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    if (quoted) fputc('"', out);
}

static tacit_status put_cells(FILE *out, const tacit_source *source, const tacit_cell *cells,
                              tacit_error *error) {
    char digits[TACIT_NUMBER_TEXT];
    for (size_t j = 0; j < source->columns.count; j++) {
        tacit_cell cell = tacit_cell_as_text(&cells[j], digits);
        if (cell.kind == TACIT_CELL_OTHER)
            return tacit_source_fail(source, cell.line, j, error, TACIT_INPUT, "%s cannot be written as CSV",
                                     cell.text);
        if (j > 0) fputc(',', out);
        put_text(out, cell.text);
    }
    fputc('\n', out);
    return TACIT_OK;
}

static tacit_status write_table(tacit_console *console, FILE *out, tacit_source *source,
                                const tacit_load_options *options, tacit_error *error) {
    tacit_row_block block = { .ended = false };
    for (size_t j = 0; j < source->columns.count; j++) {
        if (j > 0) fputc(',', out);
        put_text(out, source->columns.text[j]);
    }
    fputc('\n', out);
    while (!block.ended) {
        if (tacit_progress_cancelled(options->progress))
            return tacit_fail(error, TACIT_CANCELLED, "interrupted");
        TACIT_TRY(tacit_source_next(source, ROWS_BETWEEN_LOOKS, &block, error));
        for (size_t i = 0; i < block.rows; i++)
            TACIT_TRY(put_cells(out, source, block.cells + i * source->columns.count, error));
    }
    return tacit_console_document(console,
                                  json_pack("{s:s,s:I,s:I}", "format", "csv", "rows", (json_int_t)source->row,
                                            "columns", (json_int_t)source->columns.count),
                                  error);
}

static tacit_status run_convert(const tacit_arguments *arguments, tacit_console *console,
                                tacit_error *error) {
    const char *path = tacit_arguments_operand(arguments, "FILE"),
               *target = tacit_arguments_text(arguments, "out");
    tacit_load_options options = tacit_reading_options(arguments, tacit_console_progress(console));
    if (console->json && target == NULL)
        return tacit_fail(error, TACIT_USAGE, "with --json the rows need a file of their own: --out FILE");
    tacit_source *source = NULL;
    tacit_output output;
    TACIT_TRY(tacit_reading_open(&source, path, &options, error));
    tacit_status status = tacit_output_open(&output, target, console->out, ROWS_MODE, error);
    if (status == TACIT_OK) {
        tacit_status (*write)(tacit_console *, FILE *, tacit_source *, const tacit_load_options *,
                              tacit_error *) = source->kind->sparse                     ? write_csv
                                               : tacit_arguments_flag(arguments, "csv") ? write_table
                                                                                        : write_libsvm;
        status = write(console, output.stream, source, &options, error);
        status = tacit_output_close(&output, status, error);
    }
    tacit_source_free(source);
    if (status == TACIT_OK && target != NULL) tacit_console_note(console, "wrote %s", target);
    return status;
}

const tacit_command tacit_command_data_convert = {
    .name = "data convert",
    .section = "Data",
    .summary = "rows to LIBSVM text or CSV, LIBSVM text to CSV",
    .description = "Values stay as they are. LIBSVM text becomes CSV, everything else LIBSVM text or, with "
                   "--csv, CSV: so you see the rows that a query or a linking file gives. To LIBSVM: a "
                   "category becomes one index a level, two classes become -1 and +1, more become 0, 1, 2, "
                   "...; a numeric label is kept unless --positive singles out a class. To CSV: columns x1, "
                   "x2, ... and label. A new file can be read by its owner only.",
    .operands =
        (const tacit_operand[]){
            { "FILE", 1, 1, TACIT_SOURCES_HELP },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            TACIT_OPTIONS_READING,
            { .name = "csv", .kind = TACIT_OPTION_FLAG, .help = "write CSV, whatever the rows come from" },
            { .name = "out",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .help = "write the rows there; to standard output by default" },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Give rows to a program that reads LIBSVM text.",
              "tacit data convert patients.csv --label outcome --out patients.svm" },
            { "See what a linking file makes of its sources.", "tacit data convert clinic.link.yaml --csv" },
            { .text = NULL },
        },
    .run = run_convert,
};
