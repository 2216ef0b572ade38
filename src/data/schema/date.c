#include "data/schema/date.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { DAYS_OF_400_YEARS = 146097, DAYS_BEFORE_1970 = 719468 /* since 0000-03-01 */ };

/* Years that begin in March, so that the day that comes and goes is the last one. */
static int32_t day_of(int32_t year, int32_t month, int32_t day) {
    year -= month <= 2;
    int32_t era = year / 400, of_era = year - 400 * era;
    int32_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * DAYS_OF_400_YEARS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - DAYS_BEFORE_1970;
}

static void date_of(int32_t number, int32_t *year, int32_t *month, int32_t *day) {
    number += DAYS_BEFORE_1970;
    int32_t era = number / DAYS_OF_400_YEARS, of_era = number - era * DAYS_OF_400_YEARS;
    int32_t years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int32_t of_year = of_era - (365 * years + years / 4 - years / 100), shifted = (5 * of_year + 2) / 153;
    *day = of_year - (153 * shifted + 2) / 5 + 1;
    *month = shifted < 10 ? shifted + 3 : shifted - 9;
    *year = years + 400 * era + (*month <= 2);
}

/* From `least` to `most` digits; their number goes to `out`. Returns what follows, or NULL. */
static const char *read_digits(const char *at, const char *end, int least, int most, int32_t *out) {
    int count = 0;
    for (*out = 0; count < most && at < end && *at >= '0' && *at <= '9'; count++)
        *out = 10 * *out + (*at++ - '0');
    return count >= least ? at : NULL;
}

/* A time of day, roughly: T12:30:00.5Z, 00:00 +02:00. */
static bool is_time(const char *at, const char *end) {
    if (at == end) return true;
    if (*at != 'T' && *at != ' ') return false;
    const char *first = ++at;
    while (at < end && ((*at >= '0' && *at <= '9') || strchr(":.+-Z ", *at) != NULL)) at++;
    return at == end && end - first >= 5 && first[2] == ':';
}

/* The day of a calendar; false for what is none, such as the 31st of a shorter month. */
static bool is_day(int32_t year, int32_t month, int32_t day, int32_t *out) {
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > 31) return false;
    int32_t number = day_of(year, month, day), again[3];
    date_of(number, &again[0], &again[1], &again[2]);
    if (again[2] != day) return false;
    *out = number;
    return true;
}

/* 20240229 */
static bool is_digits_only(const char *text, const char *end, int32_t *out) {
    int32_t digits;
    if (end - text != 8 || read_digits(text, end, 8, 8, &digits) != end) return false;
    return is_day(digits / 10000, digits / 100 % 100, digits % 100, out);
}

/* 29-Feb-2024, 29 Feb 2024, 29FEB2024 */
static bool has_month_name(const char *text, const char *end, int32_t *out) {
    static const char names[] = "janfebmaraprmayjunjulaugsepoctnovdec";
    int32_t day, year, month = 0;
    const char *at = read_digits(text, end, 1, 2, &day);
    if (at == NULL || at == end) return false;
    const char mark = *at == '-' || *at == ' ' ? *at : '\0';
    at += mark != '\0';
    if (end - at < 4) return false;
    while (month < 12 && strncasecmp(at, names + 3 * month, 3) != 0) month++;
    at += 3;
    if (mark != '\0' && *at++ != mark) return false;
    at = read_digits(at, end, 4, 4, &year);
    return at != NULL && is_time(at, end) && is_day(year, month + 1, day, out);
}

bool tacit_text_to_day(const char *text, size_t length, int32_t *out) {
    const char *end = text + length;
    int32_t year = 0, month, day = 0, first;
    if (is_digits_only(text, end, out) || has_month_name(text, end, out)) return true;
    const char *at = read_digits(text, end, 1, 4, &first);
    if (at == NULL || at == end) return false;
    const char mark = *at;
    const bool year_first = mark == '-' || mark == '/';
    if (year_first ? at - text != 4 : mark != '.' || at - text > 2) return false;
    at = read_digits(at + 1, end, 1, 2, &month);
    if (at == NULL || at == end || *at != mark) return false;
    at = year_first ? read_digits(at + 1, end, 1, 2, &day) : read_digits(at + 1, end, 4, 4, &year);
    if (at == NULL || !is_time(at, end)) return false;
    return is_day(year_first ? first : year, month, year_first ? day : first, out);
}

double tacit_date_number(const tacit_date *date, int32_t day) {
    int32_t year, month, of_month;
    switch (date->use) {
    case TACIT_DATE_DAYS: return (double)day - date->reference;
    case TACIT_DATE_AGE: return ((double)date->reference - day) / 365.2425;
    case TACIT_DATE_YEAR: date_of(day, &year, &month, &of_month); return year;
    case TACIT_DATE_NONE: break;
    }
    return day;
}

static const char days_words[] = "days since ", age_words[] = "age at ";

bool tacit_date_parse(tacit_date *out, const char *text) {
    const size_t days = sizeof days_words - 1, age = sizeof age_words - 1;
    tacit_date date = { TACIT_DATE_YEAR, 0 };
    const char *reference = NULL;
    if (strncmp(text, days_words, days) == 0) {
        date.use = TACIT_DATE_DAYS;
        reference = text + days;
    } else if (strncmp(text, age_words, age) == 0) {
        date.use = TACIT_DATE_AGE;
        reference = text + age;
    }
    if (reference == NULL ? strcmp(text, "year") != 0
                          : !tacit_text_to_day(reference, strlen(reference), &date.reference))
        return false;
    *out = date;
    return true;
}

const char *tacit_date_parse_column(tacit_date *out, const char *text) {
    const size_t age = sizeof age_words - 1;
    if (strncmp(text, age_words, age) != 0 || text[age] == 0) return NULL;
    *out = (tacit_date){ TACIT_DATE_AGE, 0 };
    return text + age;
}

const char *tacit_day_text(int32_t number, char out[TACIT_DAY_TEXT]) {
    int32_t year, month, day;
    date_of(number, &year, &month, &day);
    snprintf(out, TACIT_DAY_TEXT, "%04d-%02d-%02d", (int)year % 10000, (int)month % 100, (int)day % 100);
    return out;
}

const char *tacit_date_text(const tacit_date *date, char out[TACIT_DATE_TEXT]) {
    char reference[TACIT_DAY_TEXT];
    if (date->use == TACIT_DATE_YEAR)
        snprintf(out, TACIT_DATE_TEXT, "year");
    else
        snprintf(out, TACIT_DATE_TEXT, "%s%s", date->use == TACIT_DATE_DAYS ? days_words : age_words,
                 tacit_day_text(date->reference, reference));
    return out;
}
