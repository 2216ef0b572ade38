#include "base/number.h"

#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* For all categories of "C" glibc hands out the one that is built in: nothing is allocated, and nothing can
 * fail. Should it fail elsewhere, the thread's own locale stays. */
static locale_t plain_locale(void) { return newlocale(LC_ALL_MASK, "C", (locale_t)0); }

int tacit_format_list(char *out, size_t size, const char *format, va_list arguments) {
    locale_t plain = plain_locale();
    locale_t before = plain != (locale_t)0 ? uselocale(plain) : (locale_t)0;
    int length = vsnprintf(out, size, format, arguments);
    if (plain != (locale_t)0) {
        uselocale(before);
        freelocale(plain);
    }
    return length;
}

int tacit_format(char *out, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = tacit_format_list(out, size, format, arguments);
    va_end(arguments);
    return length;
}

double tacit_read_double(const char *text, char **end) {
    locale_t plain = plain_locale();
    if (plain == (locale_t)0) return strtod(text, end);
    double value = strtod_l(text, end, plain);
    freelocale(plain);
    return value;
}

double tacit_two_digits(double value) {
    double tens = 1, parts = 1; /* without the library of mathematics, which not everybody links */
    if (!(value > 0) || value > 1e18) return value;
    while (value / tens >= 100) tens *= 10;
    while (value * parts < 10 && parts < 1e18) parts *= 10;
    return (double)(int64_t)(value / tens * parts + 0.5) * tens / parts;
}
