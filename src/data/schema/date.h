/*
 * Dates in cells, and the number that a schema makes of one. A cell holds 2024-02-29, 2024/02/29, 20240229,
 * 29.02.2024, 29-Feb-2024 or 29FEB2024 (months in English), and a time of day after it is left out. Forms in
 * which day and month can be mistaken for each other (02/03/2024) are no dates. Where kinds are found in the
 * rows, eight digits are a number: only a schema says that they are a date.
 *
 *   date: days since 2000-01-01    days, negative before that
 *   date: year                     the calendar year
 *   date: age at 2020-01-01        years of 365.2425 days until then
 *   date: age at COLUMN            the same until the date in another column of the row (schema.h)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tacit_date_use {
    TACIT_DATE_NONE,
    TACIT_DATE_DAYS,
    TACIT_DATE_YEAR,
    TACIT_DATE_AGE
} tacit_date_use;

typedef struct tacit_date {
    tacit_date_use use;
    int32_t reference; /* of days and age: a day, counted from 1970-01-01 */
} tacit_date;

/* The day that a cell names, counted from 1970-01-01. False for anything else. */
bool tacit_text_to_day(const char *text, size_t length, int32_t *day);

/* "2024-02-29", of a day from 0001-01-01 to 9999-12-31. Returns `out`. */
enum { TACIT_DAY_TEXT = 16, TACIT_FIRST_DAY = -719162, TACIT_LAST_DAY = 2932896 };
const char *tacit_day_text(int32_t day, char out[TACIT_DAY_TEXT]);

double tacit_date_number(const tacit_date *date, int32_t day);

/* Read and write the phrases above; of the last, the name of the column (NULL: it is none). */
bool tacit_date_parse(tacit_date *out, const char *text);
const char *tacit_date_parse_column(tacit_date *out, const char *text);
enum { TACIT_DATE_TEXT = 40 };
const char *tacit_date_text(const tacit_date *date, char out[TACIT_DATE_TEXT]);
