#include "model/report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clean.h"
#include "base/memory.h"

/* A name as it can be shown and written: levels and columns may hold any bytes. */
static char *copy_clean(const char *text) {
    char *copy = TACIT_NEW(char, strlen(text) + 1);
    return copy != NULL ? tacit_text_clean(copy, strlen(text) + 1, text) : NULL;
}

tacit_status tacit_report_create(tacit_report **out, const char *kind, bool noisy, double rows,
                                 tacit_error *error) {
    tacit_report *report = TACIT_NEW(tacit_report, 1);
    if (report == NULL) return tacit_fail_memory(error);
    snprintf(report->kind, sizeof report->kind, "%s", kind);
    report->noisy = noisy;
    report->rows = rows;
    *out = report;
    return TACIT_OK;
}

static void clear_table(tacit_report_table *table) {
    for (size_t j = 0; table->column != NULL && j < table->cols; j++) free(table->column[j]);
    for (size_t i = 0; i < table->rows; i++) free(table->label[i]);
    free(table->column);
    free(table->label);
    free(table->value);
    free(table->error);
    free(table->name);
    free(table->title);
}

tacit_report *tacit_report_free(tacit_report *report) {
    if (report == NULL) return NULL;
    for (size_t k = 0; k < report->tables; k++) clear_table(&report->table[k]);
    for (size_t k = 0; k < report->facts; k++) {
        free(report->fact[k].name);
        free(report->fact[k].text);
    }
    free(report->table);
    free(report->fact);
    free(report);
    return NULL;
}

tacit_status tacit_report_add_fact(tacit_report *report, const char *name, double number, const char *text,
                                   tacit_error *error) {
    tacit_report_fact *grown = tacit_grow(report->fact, report->facts + 1, sizeof *grown);
    if (grown == NULL) return tacit_fail_memory(error);
    report->fact = grown;
    tacit_report_fact one = { copy_clean(name), number, text != NULL ? copy_clean(text) : NULL };
    if (one.name == NULL || (text != NULL && one.text == NULL)) {
        free(one.name);
        free(one.text);
        return tacit_fail_memory(error);
    }
    grown[report->facts++] = one;
    return TACIT_OK;
}

tacit_status tacit_report_add_table(tacit_report *report, tacit_report_table **out, const char *name,
                                    const char *title, const char *const *columns, tacit_error *error) {
    tacit_report_table *grown = tacit_grow(report->table, report->tables + 1, sizeof *grown);
    if (grown == NULL) return tacit_fail_memory(error);
    report->table = grown;
    tacit_report_table one = { .name = copy_clean(name), .title = copy_clean(title) };
    while (columns[one.cols] != NULL) one.cols++;
    one.column = TACIT_NEW(char *, one.cols);
    bool whole = one.name != NULL && one.title != NULL && one.column != NULL;
    for (size_t j = 0; whole && j < one.cols; j++) whole = (one.column[j] = copy_clean(columns[j])) != NULL;
    if (!whole) {
        clear_table(&one);
        return tacit_fail_memory(error);
    }
    *out = &grown[report->tables];
    grown[report->tables++] = one;
    return TACIT_OK;
}

tacit_status tacit_report_add_row(tacit_report_table *table, const char *label, const double *values,
                                  const double *errors, tacit_error *error) {
    size_t rows = table->rows + 1, cols = table->cols;
    char **labels = tacit_grow(table->label, rows, sizeof *labels);
    if (labels != NULL) table->label = labels;
    double *value = tacit_grow(table->value, rows * cols, sizeof *value);
    if (value != NULL) table->value = value;
    double *noise = tacit_grow(table->error, rows * cols, sizeof *noise);
    if (noise != NULL) table->error = noise;
    if (labels == NULL || value == NULL || noise == NULL) return tacit_fail_memory(error);
    labels[table->rows] = copy_clean(label);
    if (labels[table->rows] == NULL) return tacit_fail_memory(error);
    for (size_t j = 0; j < cols; j++) {
        value[table->rows * cols + j] = values[j];
        noise[table->rows * cols + j] = errors != NULL ? errors[j] : NAN;
    }
    table->rows = rows;
    return TACIT_OK;
}

const tacit_report_table *tacit_report_find(const tacit_report *report, const char *name) {
    for (size_t k = 0; k < report->tables; k++)
        if (strcmp(report->table[k].name, name) == 0) return &report->table[k];
    return NULL;
}

const tacit_report_fact *tacit_report_find_fact(const tacit_report *report, const char *name) {
    for (size_t k = 0; k < report->facts; k++)
        if (strcmp(report->fact[k].name, name) == 0) return &report->fact[k];
    return NULL;
}

static size_t place_of(char *const *names, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return i;
    return SIZE_MAX;
}

size_t tacit_report_column(const tacit_report_table *table, const char *name) {
    return place_of(table->column, table->cols, name);
}

size_t tacit_report_row(const tacit_report_table *table, const char *label) {
    return place_of(table->label, table->rows, label);
}

double tacit_report_value(const tacit_report_table *table, const char *label, const char *column) {
    size_t i = tacit_report_row(table, label), j = tacit_report_column(table, column);
    return i != SIZE_MAX && j != SIZE_MAX ? table->value[i * table->cols + j] : NAN;
}
