#include "session/plan/settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "data/schema/text.h"

const tacit_parameter *tacit_setting_find(const tacit_parameter *table, const char *name) {
    for (; table != NULL && table->name != NULL; table++)
        if (strcmp(table->name, name) == 0) return table;
    return NULL;
}

const char *tacit_setting_word(const char *choices, unsigned at, char out[TACIT_SETTING_SIZE]) {
    for (; at > 0; at--) {
        choices += strcspn(choices, "|");
        choices += *choices == '|';
    }
    tacit_format(out, TACIT_SETTING_SIZE, "%.*s", (int)strcspn(choices, "|"), choices);
    return out;
}

int tacit_setting_place(const char *choices, const char *word) {
    size_t length = strlen(word);
    for (int at = 0; length > 0 && *choices != 0; at++) {
        size_t here = strcspn(choices, "|");
        if (here == length && memcmp(choices, word, length) == 0) return at;
        choices += here + (choices[here] == '|');
    }
    return -1;
}

static const void *member(const void *settings, const tacit_parameter *one) {
    return (const char *)settings + one->offset;
}

static tacit_status parse_number(void *settings, const tacit_parameter *one, const char *method,
                                 const char *value, tacit_error *error) {
    double number;
    bool whole = one->type == TACIT_SETTING_COUNT;
    if (!tacit_text_to_number(value, strlen(value), &number) ||
        !(number >= one->least && number <= one->most) || (whole && number != floor(number)))
        return tacit_fail(error, TACIT_USAGE, "setting %s of method %s is a %snumber from %g to %g, not '%s'",
                          one->name, method, whole ? "whole " : "", one->least, one->most, value);
    uint64_t count = whole ? (uint64_t)number : 0;
    memcpy((char *)settings + one->offset, whole ? (void *)&count : (void *)&number, sizeof number);
    return TACIT_OK;
}

tacit_status tacit_setting_parse(void *settings, const tacit_parameter *one, const char *method,
                                 const char *value, tacit_error *error) {
    size_t length = strlen(value);
    int place = one->type == TACIT_SETTING_CHOICE ? tacit_setting_place(one->choices, value) : 0;
    if (place < 0)
        return tacit_fail(error, TACIT_USAGE, "setting %s of method %s is one of %s, not '%s'", one->name,
                          method, one->choices, value);
    if (one->type == TACIT_SETTING_TEXT && length == 0)
        return tacit_fail(error, TACIT_USAGE, "setting %s of method %s needs a value", one->name, method);
    if (length >= TACIT_SETTING_SIZE)
        return tacit_fail(error, TACIT_USAGE, "the value of setting %s is longer than %d characters",
                          one->name, TACIT_SETTING_SIZE - 1);
    switch (one->type) {
    case TACIT_SETTING_NUMBER:
    case TACIT_SETTING_COUNT: return parse_number(settings, one, method, value, error);
    case TACIT_SETTING_CHOICE: memcpy((char *)settings + one->offset, &place, sizeof place); return TACIT_OK;
    case TACIT_SETTING_TEXT: memcpy((char *)settings + one->offset, value, length + 1);
    }
    return TACIT_OK;
}

double tacit_setting_number(const void *settings, const tacit_parameter *one) {
    double number = NAN;
    uint64_t count;
    unsigned place;
    switch (one->type) {
    case TACIT_SETTING_NUMBER: memcpy(&number, member(settings, one), sizeof number); break;
    case TACIT_SETTING_COUNT: memcpy(&count, member(settings, one), sizeof count); return (double)count;
    case TACIT_SETTING_CHOICE: memcpy(&place, member(settings, one), sizeof place); return (double)place;
    case TACIT_SETTING_TEXT: break;
    }
    return number;
}

/* "1e-06" is "1e-6". */
static void shorten_exponent(char *text) {
    char *sign = strpbrk(text, "e"), *digits;
    if (sign == NULL) return;
    sign++;
    digits = sign + 1;
    while (*digits == '0' && digits[1] != 0) digits++;
    memmove(sign + (*sign == '-'), digits, strlen(digits) + 1);
}

const char *tacit_setting_print(const void *settings, const tacit_parameter *one,
                                char out[TACIT_SETTING_SIZE]) {
    char number[TACIT_NUMBER_TEXT];
    if (one->type == TACIT_SETTING_TEXT) {
        memcpy(out, member(settings, one), TACIT_SETTING_SIZE);
        return out;
    }
    if (one->type == TACIT_SETTING_CHOICE)
        return tacit_setting_word(one->choices, (unsigned)tacit_setting_number(settings, one), out);
    tacit_number_to_text(tacit_setting_number(settings, one), number);
    shorten_exponent(number);
    tacit_format(out, TACIT_SETTING_SIZE, "%s", number);
    return out;
}

bool tacit_setting_equal(const void *a, const void *b, const tacit_parameter *one) {
    if (one->type == TACIT_SETTING_TEXT) return strcmp(member(a, one), member(b, one)) == 0;
    return tacit_setting_number(a, one) == tacit_setting_number(b, one);
}
