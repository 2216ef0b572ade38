#include "data/schema/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* A number taken apart: value = mantissa * 10^exponent, exact when the digits fit. */
typedef struct decimal {
    uint64_t mantissa;
    int64_t exponent;
    bool negative;
    bool exact;
} decimal;

static const char *read_exponent(const char *at, const char *end, decimal *number) {
    bool negative = false;
    if (at < end && (*at == '+' || *at == '-')) negative = *at++ == '-';
    if (at == end || !is_digit(*at)) return NULL;
    int64_t exponent = 0;
    for (; at < end && is_digit(*at); at++)
        if (exponent < 100000) exponent = 10 * exponent + (*at - '0');
    number->exponent += negative ? -exponent : exponent;
    return at;
}

/* Check the grammar [+-] digits [. digits] [e [+-] digits] up to the end, collecting the digits. */
static bool take_apart(const char *at, const char *end, decimal *number) {
    *number = (decimal){ 0, 0, false, true };
    if (at < end && (*at == '+' || *at == '-')) number->negative = *at++ == '-';
    size_t digits = 0;
    bool after_point = false;
    for (; at < end; at++) {
        if (*at == '.' && !after_point) {
            after_point = true;
            continue;
        }
        if (!is_digit(*at)) break;
        digits++;
        if (number->mantissa < UINT64_C(100000000000000000)) {
            number->mantissa = 10 * number->mantissa + (uint64_t)(*at - '0');
            number->exponent -= after_point;
        } else {
            number->exact = false;
        }
    }
    if (digits == 0) return false;
    if (at < end && (*at == 'e' || *at == 'E')) at = read_exponent(at + 1, end, number);
    return at == end;
}

static bool slow_number(const char *text, double *out) {
    double value = tacit_read_double(text, NULL);
    if (!isfinite(value)) return false;
    *out = value;
    return true;
}

bool tacit_text_to_number(const char *text, size_t length, double *out) {
    static const double power[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    const char *end = text + length;
    while (text < end && is_blank(*text)) text++;
    while (end > text && is_blank(end[-1])) end--;
    decimal number;
    if (!take_apart(text, end, &number)) return false;
    /* Mantissa and power of ten are both exact doubles, so one operation rounds correctly (Clinger 1990). */
    if (number.exact && number.mantissa <= UINT64_C(1) << 53 && number.exponent >= -22 &&
        number.exponent <= 22) {
        double value = (double)number.mantissa;
        value = number.exponent < 0 ? value / power[-number.exponent] : value * power[number.exponent];
        *out = number.negative ? -value : value;
        return true;
    }
    return slow_number(text, out);
}

const char *tacit_number_to_text(double value, char out[TACIT_NUMBER_TEXT]) {
    if (value == 0) value = 0; /* -0 and 0 are the same number */
    for (int digits = 15; digits <= 17; digits++) {
        tacit_format(out, TACIT_NUMBER_TEXT, "%.*g", digits, value);
        if (tacit_read_double(out, NULL) == value) break;
    }
    return out;
}

bool tacit_text_is_missing(const char *text, size_t length) {
    switch (length) {
    case 0: return true;
    case 1: return text[0] == '?';
    case 2: return strncasecmp(text, "NA", 2) == 0;
    case 3: return strncasecmp(text, "NaN", 3) == 0;
    case 4: return strncasecmp(text, "null", 4) == 0;
    default: return false;
    }
}

/* The length of the UTF-8 character at `at`, or 0 where there is none (overlong forms, surrogates and code
 * points past U+10FFFF included). */
static size_t utf8_length(const uint8_t *at, size_t left) {
    uint8_t first = at[0];
    if (first < 0x80) return 1;
    size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || length > left) return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xC0) != 0x80) return 0;
    if (first == 0xE0 && at[1] < 0xA0) return 0;
    if (first == 0xED && at[1] > 0x9F) return 0;
    if (first == 0xF0 && at[1] < 0x90) return 0;
    if (first == 0xF4 && at[1] > 0x8F) return 0;
    return length;
}

bool tacit_text_is_utf8(const char *text, size_t length) {
    const uint8_t *at = (const uint8_t *)text;
    while (length > 0) {
        size_t step = utf8_length(at, length);
        if (step == 0) return false;
        at += step;
        length -= step;
    }
    return true;
}

const char *tacit_text_shown(const char *text, size_t length, char out[TACIT_CELL_TEXT]) {
    enum { SHOWN = 40 };
    size_t used = 0, i = 0;
    while (i < length) {
        size_t step = utf8_length((const uint8_t *)text + i, length - i);
        if (used + (step > 0 ? step : 1) > SHOWN) break;
        /* C1 control characters are C2 80..C2 9F. */
        bool control = step == 1 ? (uint8_t)text[i] < 0x20 || text[i] == 0x7F
                                 : step == 2 && (uint8_t)text[i] == 0xC2 && (uint8_t)text[i + 1] < 0xA0;
        if (step == 0 || control) {
            out[used++] = '?';
        } else {
            memcpy(out + used, text + i, step);
            used += step;
        }
        i += step > 0 ? step : 1;
    }
    memcpy(out + used, i < length ? "..." : "", i < length ? 4 : 1);
    return out;
}
