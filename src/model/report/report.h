/*
 * A result that predicts nothing: named tables of numbers, as descriptive statistics, evaluations and
 * survival curves have them. A report travels inside a model (model.h), which says what it was promised under
 * and which columns it is about.
 *
 * A table has named columns and labelled rows. A value is NaN where there is none: too few rows stood behind
 * it, or it does not apply. Beside each value may stand the standard error of the noise in it, NaN where
 * there is none, as in exact sums.
 */
#pragma once

#include <jansson.h>

#include "base/buffer.h"

enum { TACIT_REPORT_KIND = 32, TACIT_REPORT_MOST_TABLES = 20000, TACIT_REPORT_MOST_COLUMNS = 10000 };

typedef struct tacit_report_table {
    char *name;  /* for programs: "numbers" */
    char *title; /* for people */
    size_t cols, rows;
    char **column;         /* names of the columns */
    char **label;          /* of the rows */
    double *value, *error; /* rows x cols */
} tacit_report_table;

/* Something to know about the whole report, such as a threshold: a number, and a text where there is one. */
typedef struct tacit_report_fact {
    char *name;
    double number;
    char *text; /* NULL: the number is all */
} tacit_report_fact;

typedef struct tacit_report {
    char kind[TACIT_REPORT_KIND]; /* what it is about: "describe" */
    bool noisy;                   /* noise is in it; else sums were exact */
    double rows;                  /* of all parties together */
    size_t facts, tables;
    tacit_report_fact *fact;
    tacit_report_table *table;
} tacit_report;

/* Without tables and facts. */
tacit_status tacit_report_create(tacit_report **out, const char *kind, bool noisy, double rows,
                                 tacit_error *error);
tacit_report *tacit_report_free(tacit_report *report);

/* `text` may be NULL, and the number NaN. */
tacit_status tacit_report_add_fact(tacit_report *report, const char *name, double number, const char *text,
                                   tacit_error *error);

/* A table without rows, borrowed until the next one is added; `columns` ends with NULL. */
tacit_status tacit_report_add_table(tacit_report *report, tacit_report_table **out, const char *name,
                                    const char *title, const char *const *columns, tacit_error *error);

/* Append a row of `cols` values; `errors` NULL: there is no noise in them. */
tacit_status tacit_report_add_row(tacit_report_table *table, const char *label, const double *values,
                                  const double *errors, tacit_error *error);

/* By name; NULL: there is none so called. */
const tacit_report_table *tacit_report_find(const tacit_report *report, const char *name);
const tacit_report_fact *tacit_report_find_fact(const tacit_report *report, const char *name);

/* The place of a column or of the first row so called; SIZE_MAX: none. */
size_t tacit_report_column(const tacit_report_table *table, const char *name);
size_t tacit_report_row(const tacit_report_table *table, const char *label);

/* A value by both names; NaN where there is none. */
double tacit_report_value(const tacit_report_table *table, const char *label, const char *column);

/* As a document (report_file.c). A report that is read comes from anywhere: every length, text and number is
 * checked. */
json_t *tacit_report_to_json(const tacit_report *report);
tacit_status tacit_report_from_json(tacit_report **out, const json_t *object, tacit_error *error);

/* For people, a table after the other with the error of noise in brackets; and as CSV, a line a value: table,
 * row, column, value, noise_error (report_text.c). */
tacit_status tacit_report_print_text(const tacit_report *report, tacit_buffer *out, tacit_error *error);
tacit_status tacit_report_print_csv(const tacit_report *report, tacit_buffer *out, tacit_error *error);
