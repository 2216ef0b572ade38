#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clean.h"
#include "base/memory.h"
#include "base/number.h"
#include "model/report/report.h"

enum { CELL = 48, LABEL = 160 };

/* How many characters a text shows. */
static size_t width_of(const char *text) {
    size_t count = 0, length;
    for (; tacit_text_character(text, &length) != 0; text += length) count++;
    return count;
}

/* "52.3 (0.41)": a value, and the standard error of the noise in it. "-" where there is no value. */
static void cell_text(const tacit_report_table *table, size_t row, size_t col, char out[CELL]) {
    double value = table->value[row * table->cols + col], error = table->error[row * table->cols + col];
    if (isnan(value))
        tacit_format(out, CELL, "-");
    else if (isnan(error))
        tacit_format(out, CELL, "%.6g", value);
    else
        tacit_format(out, CELL, "%.5g (%.2g)", value, error);
}

static tacit_status put(tacit_buffer *out, const char *text, size_t width, bool left, tacit_error *error) {
    size_t used = width_of(text);
    int pad = width > used ? (int)(width - used) : 0;
    return left ? tacit_buffer_print(out, error, "%s%*s", text, pad, "")
                : tacit_buffer_print(out, error, "  %*s%s", pad, "", text);
}

/* The width of each column, the labels first. */
static size_t *widths_of(const tacit_report_table *table) {
    char cell[CELL], label[LABEL];
    size_t *width = TACIT_NEW(size_t, table->cols + 1);
    if (width == NULL) return NULL;
    for (size_t i = 0; i < table->rows; i++) {
        size_t used = width_of(tacit_text_clean(label, sizeof label, table->label[i]));
        if (used > width[0]) width[0] = used;
    }
    for (size_t j = 0; j < table->cols; j++) {
        width[j + 1] = width_of(tacit_text_clean(label, sizeof label, table->column[j]));
        for (size_t i = 0; i < table->rows; i++) {
            cell_text(table, i, j, cell);
            if (width_of(cell) > width[j + 1]) width[j + 1] = width_of(cell);
        }
    }
    return width;
}

static tacit_status print_table(const tacit_report_table *table, tacit_buffer *out, tacit_error *error) {
    char cell[CELL], label[LABEL];
    size_t *width = widths_of(table);
    tacit_status status = width != NULL ? TACIT_OK : tacit_fail_memory(error);
    if (status != TACIT_OK) goto cleanup;
    TACIT_CHECK(
        tacit_buffer_print(out, error, "\n%s\n", tacit_text_clean(label, sizeof label, table->title)));
    TACIT_CHECK(put(out, "", width[0], true, error));
    for (size_t j = 0; j < table->cols; j++)
        TACIT_CHECK(
            put(out, tacit_text_clean(label, sizeof label, table->column[j]), width[j + 1], false, error));
    TACIT_CHECK(tacit_buffer_print(out, error, "\n"));
    for (size_t i = 0; i < table->rows; i++) {
        TACIT_CHECK(put(out, tacit_text_clean(label, sizeof label, table->label[i]), width[0], true, error));
        for (size_t j = 0; j < table->cols; j++) {
            cell_text(table, i, j, cell);
            TACIT_CHECK(put(out, cell, width[j + 1], false, error));
        }
        TACIT_CHECK(tacit_buffer_print(out, error, "\n"));
    }
cleanup:
    free(width);
    return status;
}

static tacit_status print_facts(const tacit_report *report, tacit_buffer *out, tacit_error *error) {
    char text[LABEL * 4];
    for (size_t k = 0; k < report->facts; k++) {
        const tacit_report_fact *fact = &report->fact[k];
        TACIT_TRY(tacit_buffer_print(out, error, "%s: ", tacit_text_clean(text, sizeof text, fact->name)));
        if (fact->text == NULL)
            tacit_format(text, sizeof text, "%.6g", fact->number);
        else
            tacit_text_clean(text, sizeof text, fact->text);
        TACIT_TRY(tacit_buffer_print(out, error, "%s\n", text));
    }
    return TACIT_OK;
}

/* Of a number of rows that is released itself, with the error of its noise. */
static void print_rows(const tacit_report *report, char out[CELL]) {
    const tacit_report_table *figures = tacit_report_find(report, "figures");
    const size_t row = figures != NULL ? tacit_report_row(figures, "rows") : SIZE_MAX;
    const double error = row != SIZE_MAX ? figures->error[row * figures->cols] : NAN;
    const bool noisy = report->noisy && (error > 0 || report->rows != floor(report->rows));
    if (noisy && error > 0)
        tacit_format(out, CELL, "about %.0f (%.2g)", report->rows, error);
    else
        tacit_format(out, CELL, noisy ? "about %.0f" : "%.15g", report->rows);
}

tacit_status tacit_report_print_text(const tacit_report *report, tacit_buffer *out, tacit_error *error) {
    char rows[CELL];
    print_rows(report, rows);
    TACIT_TRY(tacit_buffer_print(
        out, error, "%s rows; %s\n", isnan(report->rows) ? "?" : rows,
        report->noisy ? "private: beside each number, in brackets, the standard error of its noise"
                      : "exact"));
    TACIT_TRY(print_facts(report, out, error));
    for (size_t k = 0; k < report->tables; k++) TACIT_TRY(print_table(&report->table[k], out, error));
    return TACIT_OK;
}

/* ---- CSV ---- */

/* Quoted always: names hold commas and quotes, and a leading "=" must not become a formula of a
 * spreadsheet. */
static tacit_status put_quoted(tacit_buffer *out, const char *text, tacit_error *error) {
    const bool formula = text[0] != 0 && strchr("=+-@", text[0]) != NULL;
    TACIT_TRY(tacit_buffer_append(out, formula ? "\"'" : "\"", formula ? 2 : 1, error));
    for (; *text != 0; text++) {
        if (*text == '"') TACIT_TRY(tacit_buffer_append(out, "\"", 1, error));
        TACIT_TRY(tacit_buffer_append(out, text, 1, error));
    }
    return tacit_buffer_append(out, "\",", 2, error);
}

static tacit_status put_number(tacit_buffer *out, double value, const char *after, tacit_error *error) {
    char text[CELL] = "";
    if (!isnan(value)) tacit_format(text, sizeof text, "%.17g", value);
    return tacit_buffer_print(out, error, "%s%s", text, after);
}

tacit_status tacit_report_print_csv(const tacit_report *report, tacit_buffer *out, tacit_error *error) {
    TACIT_TRY(tacit_buffer_print(out, error, "table,row,column,value,noise_error\n"));
    for (size_t k = 0; k < report->tables; k++) {
        const tacit_report_table *table = &report->table[k];
        for (size_t at = 0; at < table->rows * table->cols; at++) {
            TACIT_TRY(put_quoted(out, table->name, error));
            TACIT_TRY(put_quoted(out, table->label[at / table->cols], error));
            TACIT_TRY(put_quoted(out, table->column[at % table->cols], error));
            TACIT_TRY(put_number(out, table->value[at], ",", error));
            TACIT_TRY(put_number(out, table->error[at], "\n", error));
        }
    }
    return TACIT_OK;
}
