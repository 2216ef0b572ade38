#include "data/schema/draft_looks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* `shape` has 9 for one or two digits, 0 for exactly four, anything else for itself; more may follow a
 * time. */
static bool has_shape(const char *text, const char *shape) {
    for (; *shape != '\0'; shape++) {
        size_t digits = 0, most = *shape == '0' ? 4 : 2;
        if (*shape != '9' && *shape != '0') {
            if (*text++ != *shape) return false;
            continue;
        }
        while (digits < most && is_digit(*text)) digits++, text++;
        if (digits == 0 || (*shape == '0' && digits < 4)) return false;
    }
    return *text == '\0' || *text == ' ' || *text == ':' || *text == 'T';
}

static bool is_two_way_date(const char *text) {
    return has_shape(text, "9/9/0") || has_shape(text, "9-9-0") || has_shape(text, "9/9/9") ||
           has_shape(text, "9.9.9");
}

static bool is_month(const char *text) {
    return has_shape(text, "0-9") || has_shape(text, "9/0") || has_shape(text, "0/9");
}

static bool is_clock(const char *text) { return has_shape(text, "9:9"); }

/* 1,234.56 and 5 kg and 12% and <5: begins and goes on with digits, and has few letters. */
static bool is_dressed_number(const char *text) {
    size_t digits = 0, letters = 0, length = strlen(text);
    if (strncmp(text, "\xE2\x88\x92", 3) == 0) text += 3; /* a minus sign that is no hyphen */
    text += strspn(text, "<>=~+- $");
    if (!is_digit(*text)) return false;
    for (; *text != '\0'; text++) {
        if (strchr("/:-_", *text) != NULL && is_digit(text[1])) return false; /* 3/4, 10-15 */
        digits += is_digit(*text);
        letters += !is_digit(*text) && strchr(".,' ", *text) == NULL;
    }
    return letters <= 6 && digits + letters <= length;
}

typedef struct look {
    bool (*is)(const char *text);
    const char *what, *remedy;
} look;

static const look looks[] = {
    { is_two_way_date, "dates",
      ", of which it is not certain what is the day, the month or the century: write 2024-02-29" },
    { is_month, "months", ": write a day, 2024-02-01, and this is a date" },
    { is_clock, "times of day", ": write hours as a number" },
    { is_dressed_number, "numbers",
      ": write digits with a decimal point alone, without units, signs or separators of thousands, and this "
      "is a number" },
};

/* Whether all texts are so; those of a column with too many are known by the first one only. */
static bool are_all(const tacit_column *column, bool (*is)(const char *text)) {
    if (column->overflow) return is(column->stray_text);
    for (size_t i = 0; i < column->levels.count; i++)
        if (!is(column->levels.text[i])) return false;
    return column->levels.count > 0;
}

bool draft_look_at_texts(const tacit_column *column, char out[DRAFT_REMARK]) {
    char shown[2][TACIT_CELL_TEXT];
    const char *one, *other;
    if (column->numbers > 1 && column->numbers >= column->texts) {
        snprintf(
            out, DRAFT_REMARK,
            "most values are numbers, and '%s' is none: correct such cells or leave them empty, and this "
            "is a number",
            column->stray_text);
        return true;
    }
    for (size_t k = 0; k < sizeof looks / sizeof *looks; k++)
        if (are_all(column, looks[k].is)) {
            snprintf(out, DRAFT_REMARK, "%s like '%s'%s", looks[k].what, column->stray_text, looks[k].remedy);
            return true;
        }
    if (!tacit_levels_differ_in_case(&column->levels, &column->levels, &one, &other)) return false;
    snprintf(out, DRAFT_REMARK, "'%s' and '%s' differ in case alone: write them alike",
             tacit_text_shown(one, strlen(one), shown[0]), tacit_text_shown(other, strlen(other), shown[1]));
    return true;
}

/* ---- numbers ---- */

static bool are_dates_of_digits(const tacit_column *column, size_t rows) {
    size_t seen = 0;
    for (size_t i = 0; i < rows; i++) {
        char text[TACIT_NUMBER_TEXT];
        int32_t day;
        double value = column->number[i];
        if (isnan(value)) continue;
        if (value < 18500101 || value > 21501231 || value != floor(value)) return false;
        tacit_number_to_text(value, text);
        if (!tacit_text_to_day(text, strlen(text), &day)) return false;
        seen++;
    }
    return seen > 1;
}

/* 999 where all other values lie together far below, or -9 far above. */
static bool find_code(const tacit_column *column, size_t rows, double *out) {
    static const double codes[] = { 99, 999, 9999, 99999, -1, -9, -99, -999, -9999 };
    for (size_t k = 0; k < sizeof codes / sizeof *codes; k++) {
        double low = INFINITY, high = -INFINITY, code = codes[k];
        bool seen = false;
        for (size_t i = 0; i < rows; i++) {
            double value = column->number[i];
            seen |= value == code;
            if (isnan(value) || value == code) continue;
            low = fmin(low, value);
            high = fmax(high, value);
        }
        double apart = code > 0 ? code - high : low - code;
        if (seen && high > low && apart > (code == -1 ? 2 : 1) * (high - low)) {
            *out = code;
            return true;
        }
    }
    return false;
}

bool draft_look_at_numbers(const tacit_column *column, size_t rows, char out[DRAFT_REMARK]) {
    double code;
    if (column->date.use != TACIT_DATE_NONE) return false;
    if (are_dates_of_digits(column, rows))
        snprintf(
            out, DRAFT_REMARK,
            "dates like 20240229? then add date: age at 2020-01-01, or date: year, with bounds to match");
    else if (column->padded > 0)
        snprintf(out, DRAFT_REMARK,
                 "some begin with 0, as codes do: if these are codes, write kind: category and their levels, "
                 "or kind: skip");
    else if (find_code(column, rows, &code))
        tacit_format(
            out, DRAFT_REMARK,
            "%g lies far from all other values: if it says that a value is missing, leave such cells "
            "empty",
            code);
    else
        return false;
    return true;
}
