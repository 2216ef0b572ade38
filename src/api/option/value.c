#include "api/option/value.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/option/suggestion.h"
#include "base/memory.h"
#include "base/number.h"

/* Make room for one more element of an array that holds value->count of them. */
#define GROW_BY_ONE(items, count) tacit_grow((items), (count) + 1, sizeof *(items))

static tacit_status keep_copy(tacit_value *value, const char *text, char **out, tacit_error *error) {
    char **copies = GROW_BY_ONE(value->copies, value->copy_count);
    if (copies == NULL) return tacit_fail_memory(error);
    value->copies = copies;
    char *copy = tacit_copy_text(text);
    if (copy == NULL) return tacit_fail_memory(error);
    value->copies[value->copy_count++] = copy;
    *out = copy;
    return TACIT_OK;
}

static tacit_status keep_text(tacit_value *value, const char *text, tacit_error *error) {
    const char **texts = GROW_BY_ONE(value->texts, value->count);
    if (texts == NULL) return tacit_fail_memory(error);
    texts[value->count++] = text;
    value->texts = texts;
    return TACIT_OK;
}

static const char *range_text(const tacit_option *option, char *out, size_t size) {
    char low[48] = "", high[48] = "";
    bool both = isfinite(option->least) && isfinite(option->most);
    if (isfinite(option->least))
        tacit_format(low, sizeof low, "%s %.15g", option->rules & TACIT_RULE_ABOVE ? "above" : "at least",
                     option->least);
    if (isfinite(option->most))
        tacit_format(high, sizeof high, "%s %.15g", option->rules & TACIT_RULE_BELOW ? "below" : "at most",
                     option->most);
    snprintf(out, size, "%s%s%s%s", low, both ? " and " : "", high,
             option->rules & TACIT_RULE_INFINITE ? ", or inf" : "");
    return out;
}

static tacit_status check_range(const tacit_option *option, double number, const char *text,
                                tacit_error *error) {
    if (!(option->rules & TACIT_RULE_RANGE)) return TACIT_OK;
    bool low = number < option->least || (number <= option->least && option->rules & TACIT_RULE_ABOVE);
    bool high = number > option->most || (number >= option->most && option->rules & TACIT_RULE_BELOW);
    if (!low && !high) return TACIT_OK;
    char range[128];
    return tacit_fail(error, TACIT_USAGE, "the option '%s' must be %s, not %.40s", option->name,
                      range_text(option, range, sizeof range), text);
}

/* Only decimal notation: tacit_read_double alone would also take hexadecimal, leading spaces and NaN. */
static tacit_status parse_number(const tacit_option *option, const char *text, double *out,
                                 tacit_error *error) {
    if (option->rules & TACIT_RULE_INFINITE && strcmp(text, "inf") == 0) {
        *out = INFINITY;
        return TACIT_OK;
    }
    char *end = NULL;
    bool decimal = text[0] != 0 && text[strspn(text, "+-.0123456789eE")] == 0;
    errno = 0;
    double number = decimal ? tacit_read_double(text, &end) : 0;
    if (!decimal || end == text || *end != 0)
        return tacit_fail(error, TACIT_USAGE, "the option '%s' takes a number%s, not '%.40s'", option->name,
                          option->rules & TACIT_RULE_INFINITE ? " or inf" : "", text);
    if (errno == ERANGE)
        return tacit_fail(error, TACIT_USAGE, "the option '%s': %.40s is beyond what a number can hold",
                          option->name, text);
    TACIT_TRY(check_range(option, number, text, error));
    *out = number;
    return TACIT_OK;
}

static tacit_status add_number(tacit_value *value, const tacit_option *option, const char *text,
                               tacit_error *error) {
    double number = 0;
    TACIT_TRY(parse_number(option, text, &number, error));
    double *numbers = GROW_BY_ONE(value->numbers, value->count);
    if (numbers == NULL) return tacit_fail_memory(error);
    numbers[value->count++] = number;
    value->numbers = numbers;
    return TACIT_OK;
}

static tacit_status add_integer(tacit_value *value, const tacit_option *option, const char *text,
                                tacit_error *error) {
    const char *digits = text + (text[0] == '-' || text[0] == '+');
    bool whole = digits[0] != 0 && digits[strspn(digits, "0123456789")] == 0;
    errno = 0;
    long long integer = whole ? strtoll(text, NULL, 10) : 0;
    if (!whole)
        return tacit_fail(error, TACIT_USAGE, "the option '%s' takes a whole number, not '%.40s'",
                          option->name, text);
    if (errno == ERANGE)
        return tacit_fail(error, TACIT_USAGE, "the option '%s': %.40s is beyond what a whole number can hold",
                          option->name, text);
    TACIT_TRY(check_range(option, (double)integer, text, error));
    value->integer = integer;
    value->count = 1;
    return TACIT_OK;
}

static tacit_status add_choice(tacit_value *value, const tacit_option *option, const char *text,
                               tacit_error *error) {
    tacit_suggestion suggestion = tacit_suggestion_for(text);
    for (const char *word = option->placeholder; *word != 0;) {
        size_t length = strcspn(word, "|");
        if (strlen(text) == length && memcmp(word, text, length) == 0) return keep_text(value, text, error);
        tacit_suggestion_consider(&suggestion, word, length);
        word += length + (word[length] == '|');
    }
    if (tacit_suggestion_found(&suggestion))
        return tacit_fail(error, TACIT_USAGE, "the option '%s' cannot be '%.40s'; did you mean %.*s?",
                          option->name, text, (int)suggestion.length, suggestion.word);
    return tacit_fail(error, TACIT_USAGE, "the option '%s' must be one of %s, not '%.40s'", option->name,
                      option->placeholder, text);
}

static tacit_status check_item(const char *item, const tacit_option *option, const char *what,
                               const char *text, tacit_error *error) {
    if (item[0] != 0) return TACIT_OK;
    return tacit_fail(error, TACIT_USAGE, "the option '%s' takes comma-separated %s, not '%.40s'",
                      option->name, what, text);
}

typedef tacit_status add_item(tacit_value *value, const tacit_option *option, const char *item,
                              tacit_error *error);

static tacit_status add_items(tacit_value *value, const tacit_option *option, const char *what,
                              const char *text, add_item *add, tacit_error *error) {
    char *list = NULL;
    TACIT_TRY(keep_copy(value, text, &list, error));
    for (char *item; (item = strsep(&list, ",")) != NULL;) {
        TACIT_TRY(check_item(item, option, what, text, error));
        TACIT_TRY(add(value, option, item, error));
    }
    return TACIT_OK;
}

static tacit_status add_word(tacit_value *value, const tacit_option *option, const char *word,
                             tacit_error *error) {
    for (size_t i = 0; i < value->count; i++)
        if (strcmp(value->texts[i], word) == 0)
            return tacit_fail(error, TACIT_USAGE, "the option '%s' names %.40s twice", option->name, word);
    return keep_text(value, word, error);
}

static tacit_status add_setting(tacit_value *value, const tacit_option *option, const char *text,
                                tacit_error *error) {
    size_t key = strcspn(text, "=");
    if (key == 0 || text[key] == 0)
        return tacit_fail(error, TACIT_USAGE,
                          "the option '%s' takes a name, an equals sign and a value (%s), not '%.40s'",
                          option->name, option->placeholder, text);
    char *copy = NULL;
    TACIT_TRY(keep_copy(value, text, &copy, error));
    copy[key] = 0;
    for (size_t i = 0; i < value->count; i++)
        if (strcmp(value->settings[i].key, copy) == 0)
            return tacit_fail(error, TACIT_USAGE, "the option '%s' gives %.40s twice", option->name, copy);
    tacit_setting *settings = GROW_BY_ONE(value->settings, value->count);
    if (settings == NULL) return tacit_fail_memory(error);
    settings[value->count++] = (tacit_setting){ copy, copy + key + 1 };
    value->settings = settings;
    return TACIT_OK;
}

tacit_status tacit_value_add(tacit_value *value, const tacit_option *option, const char *text,
                             tacit_error *error) {
    switch (option->kind) {
    case TACIT_OPTION_FLAG: value->on = true; return TACIT_OK;
    case TACIT_OPTION_FILE:
        if (text[0] == 0)
            return tacit_fail(error, TACIT_USAGE,
                              "the option '%s' needs the name of a file, not an empty text", option->name);
        return keep_text(value, text, error);
    case TACIT_OPTION_TEXT: return keep_text(value, text, error);
    case TACIT_OPTION_CHOICE: return add_choice(value, option, text, error);
    case TACIT_OPTION_WORDS: return add_items(value, option, "words", text, add_word, error);
    case TACIT_OPTION_NUMBER: return add_number(value, option, text, error);
    case TACIT_OPTION_NUMBERS: return add_items(value, option, "numbers", text, add_number, error);
    case TACIT_OPTION_INTEGER: return add_integer(value, option, text, error);
    case TACIT_OPTION_SETTING: return add_setting(value, option, text, error);
    }
    assert(!"an option of unknown kind");
    return TACIT_INTERNAL;
}

void tacit_value_clear(tacit_value *value) {
    for (size_t i = 0; i < value->copy_count; i++) free(value->copies[i]);
    free(value->copies);
    free(value->texts);
    free(value->numbers);
    free(value->settings);
    *value = (tacit_value){ 0 };
}
