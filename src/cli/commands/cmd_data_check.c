/* tacit data check: does a file fit a schema, and what has to be adjusted? */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "cli/commands.h"
#include "cli/row_reading.h"
#include "data/encode.h"
#include "data/schema/names.h"
#include "data/schema/text.h"

enum { ROWS_AT_A_TIME = 4096, PROBLEM_SIZE = 640, LIST_SIZE = 200, STRAYS = 5 };

/* One column of the file that the schema uses; the label comes last. */
typedef struct tally {
    const char *name;
    const tacit_schema_column *declared; /* NULL for the label */
    bool number;                         /* a number, or a numeric label */
    bool counts;                         /* a label of kind count */
    double low, high;                    /* of a number */
    uint64_t missing, below, above, unknown;
    double least, most;    /* of those outside */
    const char *others;    /* the level or class that texts count as that are none; NULL: they stay unknown */
    uint64_t fractions;    /* of a count that is none */
    bool required, strict; /* missing cells, unknown texts are refused when the file is used */
    bool leaves_out;       /* rows in which it is missing are left out */
    char strays[LIST_SIZE], levels[LIST_SIZE]; /* the first unknown texts, and what is known */
} tally;

typedef struct check {
    const char *file, *schema_file;
    const tacit_schema *schema;
    size_t count;
    tally *tallies;          /* one a column of the table, in its order */
    uint64_t rows, left_out; /* of them, because something is missing */
    tacit_encode_counts counts;
    size_t problems;
    char first_problem[PROBLEM_SIZE];
    json_t *problem_list;
} check;

/* Of the label where there is no column. */
static const char *name_others(const tacit_schema *schema, const tacit_schema_column *column) {
    const tacit_levels *levels = column != NULL ? &column->levels : &schema->classes;
    const int32_t others = column != NULL ? column->others : schema->others;
    return others >= 0 && (size_t)others < levels->count ? levels->text[others] : NULL;
}

/* The table would stop at the first cell that the schema refuses; here they are counted instead. */
static tacit_status prepare(check *all, tacit_table *table, size_t label, tacit_error *error) {
    all->tallies = TACIT_NEW(tally, table->cols);
    if (all->tallies == NULL) return tacit_fail_memory(error);
    all->count = table->cols;
    size_t next = 0;
    for (size_t i = 0; i < table->cols; i++) {
        tacit_column *column = &table->columns[i];
        tally *one = &all->tallies[i];
        bool event = i == label + 1 && all->schema->event != NULL;
        bool entry = i == label + 2 && all->schema->entry != NULL;
        if (i != label && !event && !entry) {
            while (!tacit_schema_uses(all->schema, next)) next++;
            one->declared = &all->schema->columns[next++];
        }
        one->number = column->kind == TACIT_COLUMN_NUMBER;
        one->counts = event || (i == label && all->schema->response == TACIT_RESPONSE_COUNT);
        bool of_label = i == label || entry;
        one->low = event ? 0 : of_label ? all->schema->low : one->declared->low;
        one->high = event ? 1 : of_label ? all->schema->high : one->declared->high;
        one->least = one->low;
        one->most = one->high;
        one->name = column->name;
        one->required = column->required;
        one->strict = column->closed && column->strict;
        one->leaves_out = column->leaves_out;
        column->required = column->strict = column->leaves_out = false;
        column->stray_limit = STRAYS;
        one->others = name_others(all->schema, one->declared);
        column->has_others = false; /* which of them have it is to be seen; the encoder knows it, too */
    }
    return TACIT_OK;
}

static bool is_missing(const tacit_column *column, size_t row) {
    if (column->kind == TACIT_COLUMN_NUMBER) return isnan(column->number[row]);
    if (column->kind == TACIT_COLUMN_TEXT) return column->start[row + 1] == column->start[row];
    return column->code[row] == TACIT_CODE_MISSING;
}

static void count_cell(tally *one, const tacit_column *column, size_t row) {
    one->missing += is_missing(column, row);
    if (column->kind == TACIT_COLUMN_NUMBER) {
        double value = column->number[row];
        one->below += value < one->low;
        one->above += value > one->high;
        if (value < one->low) one->least = fmin(one->least, value);
        if (value > one->high) one->most = fmax(one->most, value);
        one->fractions += one->counts && (value < 0 || value != floor(value)) && !isnan(value);
    } else if (column->kind == TACIT_COLUMN_CATEGORY) {
        one->unknown += column->code[row] == TACIT_CODE_UNKNOWN;
    }
}

static bool is_left_out(const check *all, const tacit_table *table, size_t row) {
    bool found = false;
    for (size_t i = 0; i < all->count && !found; i++)
        found = all->tallies[i].leaves_out && is_missing(&table->columns[i], row);
    return found;
}

static tacit_status count_rows(check *all, tacit_table *table, tacit_source *source,
                               const tacit_progress *progress, tacit_error *error) {
    tacit_encoder *encoder = NULL;
    uint32_t *columns = NULL;
    double *values = NULL;
    tacit_status status = TACIT_OK;
    TACIT_CHECK(tacit_encoder_create(&encoder, all->schema, table, error));
    columns = TACIT_NEW(uint32_t, tacit_encoder_entries(encoder));
    values = TACIT_NEW(double, tacit_encoder_entries(encoder));
    if (columns == NULL || values == NULL) TACIT_CHECK(tacit_fail_memory(error));
    for (bool ended = false; !ended; tacit_table_drop_rows(table)) {
        TACIT_CHECK(tacit_table_read(table, source, ROWS_AT_A_TIME, &ended, error));
        for (size_t row = 0; row < table->rows; row++) {
            for (size_t i = 0; i < all->count; i++) count_cell(&all->tallies[i], &table->columns[i], row);
            if (is_left_out(all, table, row))
                all->left_out++;
            else
                tacit_encode_sparse(encoder, row, columns, values);
        }
        all->rows += table->rows;
        tacit_progress_report(progress, "checking rows", all->rows, 0);
        if (tacit_progress_cancelled(progress))
            TACIT_CHECK(tacit_fail(error, TACIT_CANCELLED, "interrupted"));
    }
    all->counts = *tacit_encoder_counts(encoder);
cleanup:
    free(columns);
    free(values);
    tacit_encoder_free(encoder);
    return status;
}

/* The texts that are no level, and whether one of them is one in other letters, upper or lower case. */
static void list_strays(const tacit_column *column, char out[LIST_SIZE]) {
    const char *stray, *level;
    char shown[2][TACIT_CELL_TEXT];
    tacit_names_list(&column->strays, out, LIST_SIZE);
    size_t length = strlen(out);
    if (tacit_levels_differ_in_case(&column->strays, &column->levels, &stray, &level))
        snprintf(out + length, LIST_SIZE - length, " ('%s' is written '%s' in the schema)",
                 tacit_text_shown(stray, strlen(stray), shown[0]),
                 tacit_text_shown(level, strlen(level), shown[1]));
}

static tacit_status check_table(check *all, const tacit_load_options *options, tacit_error *error) {
    tacit_source *source = NULL;
    tacit_table *table = NULL;
    tacit_status status = TACIT_OK;
    size_t label = 0, group = 0;
    TACIT_CHECK(tacit_reading_open(&source, all->file, options, error));
    if (source->kind->sparse)
        TACIT_CHECK(tacit_fail(
            error, TACIT_INPUT,
            "%s is a LIBSVM file, but the schema describes columns; write sparse: D instead of columns",
            source->name));
    TACIT_CHECK(
        tacit_schema_table(&table, &label, &group, all->schema, source, TACIT_LABEL_REQUIRED, NULL, error));
    TACIT_CHECK(prepare(all, table, label, error));
    status = count_rows(all, table, source, options->progress, error);
    for (size_t i = 0; i < all->count; i++) {
        list_strays(&table->columns[i], all->tallies[i].strays);
        tacit_names_list(&table->columns[i].levels, all->tallies[i].levels, LIST_SIZE);
        /* The names outlive the table in the schema. */
        all->tallies[i].name = i == label                                     ? all->schema->label
                               : i == label + 1 && all->schema->event != NULL ? all->schema->event
                               : all->tallies[i].declared == NULL             ? all->schema->entry
                                                                  : all->tallies[i].declared->name;
    }
cleanup:
    tacit_table_free(table);
    tacit_source_free(source);
    return status;
}

static tacit_status check_libsvm(check *all, const tacit_load_options *options, tacit_error *error) {
    tacit_dataset *dataset = NULL;
    TACIT_TRY(tacit_dataset_load(&dataset, NULL, all->file, all->schema, options, error));
    all->rows = dataset->rows;
    all->counts = dataset->counts;
    tacit_dataset_free(dataset);
    return TACIT_OK;
}

static void add_problem(check *all, const tally *one, uint64_t cells, const char *what) {
    char text[PROBLEM_SIZE], name[TACIT_CELL_TEXT];
    snprintf(text, sizeof text, "column '%s': %llu %s %s",
             tacit_text_shown(one->name, strlen(one->name), name), (unsigned long long)cells,
             tacit_plural(cells, "cell", "cells"), what);
    if (all->problems++ == 0) memcpy(all->first_problem, text, sizeof text);
    all->problem_list = tacit_json_append(all->problem_list, tacit_json_text(text));
}

static void add_stray_problem(check *all, const tally *one, const char *what) {
    char text[PROBLEM_SIZE];
    snprintf(text, sizeof text,
             "%s: %s. The schema has %s: recode the column, in the file or by recode: in the schema", what,
             one->strays, one->levels);
    add_problem(all, one, one->unknown, text);
}

static void find_problems(check *all) {
    for (size_t i = 0; i < all->count; i++) {
        const tally *one = &all->tallies[i];
        if (one->required && one->missing > 0)
            add_problem(all, one, one->missing,
                        one->declared == NULL ? "without a label" : "missing, which the schema refuses");
        if (one->fractions > 0) add_problem(all, one, one->fractions, "that are no whole number from 0");
        if (!one->strict && one->others == NULL && one->unknown > 0 &&
            one->unknown + one->missing == all->rows)
            add_stray_problem(all, one, "whose value is none of its levels, and there is no other");
        if (one->strict && one->unknown > 0)
            add_stray_problem(all, one,
                              one->declared == NULL ? "with a value that is no class"
                                                    : "with a text that is no level");
    }
}

/* An empty cell where a count makes no sense. */
static void add_count(tacit_grid *grid, bool applies, uint64_t count) {
    if (applies)
        tacit_grid_cell(grid, "%llu", (unsigned long long)count);
    else
        tacit_grid_cell(grid, "%s", "");
}

static tacit_status print_columns(tacit_console *console, const check *all, tacit_error *error) {
    static const tacit_grid_column columns[] = { { "column", TACIT_LEFT },   { "kind", TACIT_LEFT },
                                                 { "missing", TACIT_RIGHT }, { "below", TACIT_RIGHT },
                                                 { "above", TACIT_RIGHT },   { "unknown", TACIT_RIGHT } };
    tacit_grid *grid = NULL;
    TACIT_TRY(tacit_grid_create(&grid, columns, 6, error));
    for (size_t i = 0; i < all->count; i++) {
        const tally *one = &all->tallies[i];
        bool number = one->number, text = one->declared != NULL && one->declared->kind == TACIT_SCHEMA_TEXT;
        tacit_grid_cell(grid, "%s", one->name);
        tacit_grid_cell(grid, "%s",
                        one->declared == NULL ? "label"
                        : number              ? "number"
                        : text                ? "text"
                                              : "category");
        add_count(grid, true, one->missing);
        add_count(grid, number, one->below);
        add_count(grid, number, one->above);
        add_count(grid, !number && !text, one->others == NULL ? one->unknown : 0);
    }
    tacit_status status = tacit_console_grid(console, grid, error);
    tacit_grid_free(grid);
    return status;
}

/* A code for what is missing, such as 999, is most often seen here. */
static void print_outside(tacit_console *console, const tally *one) {
    const char *remedy = "; where that says that a value is missing, leave the cell empty";
    if (one->below > 0)
        tacit_console_print(console, "%s: %llu below %g, down to %g%s\n", one->name,
                            (unsigned long long)one->below, one->low, one->least, remedy);
    if (one->above > 0)
        tacit_console_print(console, "%s: %llu above %g, up to %g%s\n", one->name,
                            (unsigned long long)one->above, one->high, one->most, remedy);
}

static void print_summary(tacit_console *console, const check *all) {
    const tacit_encode_counts *counts = &all->counts;
    tacit_console_print(
        console,
        "%s%llu %s: %llu outside bounds (moved to the bound), %llu missing (filled), %llu unknown "
        "levels (zeros), %llu rows shortened\n",
        all->count > 0 ? "\n" : "", (unsigned long long)all->rows, tacit_plural(all->rows, "row", "rows"),
        (unsigned long long)counts->outside_bounds, (unsigned long long)counts->missing,
        (unsigned long long)counts->unknown_levels, (unsigned long long)counts->shortened_rows);
    for (size_t i = 0; i < all->count; i++)
        if (all->tallies[i].unknown > 0 && all->tallies[i].others != NULL)
            tacit_console_print(console, "%s: %llu %s of other levels count%s as '%s': %s\n",
                                all->tallies[i].name, (unsigned long long)all->tallies[i].unknown,
                                tacit_plural(all->tallies[i].unknown, "value", "values"),
                                tacit_plural(all->tallies[i].unknown, "s", ""), all->tallies[i].others,
                                all->tallies[i].strays);
        else if (all->tallies[i].unknown > 0)
            tacit_console_print(console, "%s: unknown are %s\n", all->tallies[i].name,
                                all->tallies[i].strays);
    for (size_t i = 0; i < all->count; i++) print_outside(console, &all->tallies[i]);
    for (size_t i = 0; i < all->count; i++)
        if (all->rows > 0 && all->tallies[i].missing == all->rows)
            tacit_console_print(console, "%s: every value is missing\n", all->tallies[i].name);
    if (all->left_out > 0)
        tacit_console_print(console, "%llu of the rows %s left out (missing: complete-case), %llu remain\n",
                            (unsigned long long)all->left_out, tacit_plural(all->left_out, "is", "are"),
                            (unsigned long long)(all->rows - all->left_out));
}

/* What becomes of its missing values. */
static const char *missing_rule(const check *all, const tally *one) {
    if (one->declared == NULL) return one->leaves_out ? "complete-case" : "error";
    return tacit_missing_name(tacit_schema_missing(all->schema, one->declared));
}

static json_t *check_document(const check *all) {
    json_t *columns = json_array();
    for (size_t i = 0; i < all->count; i++) {
        const tally *one = &all->tallies[i];
        columns = tacit_json_append(
            columns, json_pack("{s:o,s:I,s:s,s:I,s:I,s:I,s:I}", "name", tacit_json_text(one->name), "missing",
                               (json_int_t)one->missing, "missing_rule", missing_rule(all, one), "below",
                               (json_int_t)one->below, "above", (json_int_t)one->above, "unknown",
                               (json_int_t)(one->others == NULL ? one->unknown : 0), "as_others",
                               (json_int_t)(one->others != NULL ? one->unknown : 0)));
    }
    return json_pack("{s:o,s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:O}", "file", tacit_json_text(all->file),
                     "schema", tacit_json_text(all->schema_file), "rows", (json_int_t)all->rows, "left_out",
                     (json_int_t)all->left_out, "outside_bounds", (json_int_t)all->counts.outside_bounds,
                     "missing", (json_int_t)all->counts.missing, "unknown_levels",
                     (json_int_t)all->counts.unknown_levels, "shortened_rows",
                     (json_int_t)all->counts.shortened_rows, "columns", columns, "problems",
                     all->problem_list);
}

static tacit_status report(tacit_console *console, check *all, tacit_error *error) {
    find_problems(all);
    if (all->count > 0) TACIT_TRY(print_columns(console, all, error));
    print_summary(console, all);
    TACIT_TRY(tacit_console_document(console, check_document(all), error));
    if (all->problems == 0) return TACIT_OK;
    char others[48] = "";
    if (all->problems > 1) snprintf(others, sizeof others, " (and %zu more)", all->problems - 1);
    return tacit_fail(error, TACIT_INPUT, "%s does not fit %s: %s%s", all->file, all->schema_file,
                      all->first_problem, others);
}

static tacit_status run_check(const tacit_arguments *arguments, tacit_console *console, tacit_error *error) {
    check all = { .file = tacit_arguments_operand(arguments, "FILE"),
                  .schema_file = tacit_arguments_text(arguments, "schema"),
                  .problem_list = json_array() };
    tacit_schema *schema = NULL;
    tacit_status status = TACIT_OK;
    tacit_load_options options = TACIT_LOAD_DEFAULTS;
    options.no_header = tacit_arguments_flag(arguments, "no-header");
    options.progress = tacit_console_progress(console);
    TACIT_CHECK(tacit_schema_load(&schema, all.schema_file, error));
    all.schema = schema;
    TACIT_CHECK(schema->sparse > 0 ? check_libsvm(&all, &options, error)
                                   : check_table(&all, &options, error));
    TACIT_CHECK(report(console, &all, error));
cleanup:
    free(all.tallies);
    json_decref(all.problem_list);
    tacit_schema_free(schema);
    return status;
}

const tacit_command tacit_command_data_check = {
    .name = "data check",
    .section = "Data",
    .summary = "does a file fit a schema, and what has to be adjusted",
    .description =
        "Counts, column by column, missing cells, numbers outside their bounds and texts that are no level. "
        "What the schema refuses is a problem and makes the check fail; everything else is adjusted as the "
        "schema says, and rows are left out where it says so (missing: complete-case). The counts are for "
        "the owner of the rows: they are not private.",
    .operands =
        (const tacit_operand[]){
            { "FILE", 1, 1, TACIT_SOURCES_HELP },
            { .name = NULL },
        },
    .options =
        (const tacit_option[]){
            { .name = "schema",
              .kind = TACIT_OPTION_FILE,
              .placeholder = "FILE",
              .rules = TACIT_RULE_REQUIRED,
              .help = "the schema, YAML; it also names the label" },
            { .name = "no-header",
              .kind = TACIT_OPTION_FLAG,
              .help = "the first line of a CSV file is already a row; columns are then called column1, "
                      "column2, ..." },
            { .name = NULL },
        },
    .examples =
        (const tacit_example[]){
            { "Check a file before joining a study.", "tacit data check patients.csv --schema study.yaml" },
            { .text = NULL },
        },
    .run = run_check,
};
