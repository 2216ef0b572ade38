#include "api/option/arguments.h"

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "api/document/methods_list.h"
#include "api/option/options.h"
#include "api/option/suggestion.h"
#include "api/option/value.h"
#include "base/buffer.h"
#include "base/memory.h"

struct tacit_arguments {
    tacit_form form;
    const tacit_option **options; /* the form's own, then the further ones */
    tacit_value *values;          /* one an option */
    size_t option_count;
    const char **words; /* arguments without a name, in order */
    size_t word_count;
};

static size_t count_options(const tacit_option *options) {
    size_t count = 0;
    while (options != NULL && options[count].name != NULL) count++;
    return count;
}

static tacit_status start(tacit_arguments **out, const tacit_form *form, size_t words, tacit_error *error) {
    size_t own = count_options(form->options), common = count_options(form->more);
    tacit_arguments *arguments = TACIT_NEW(tacit_arguments, 1);
    if (arguments == NULL) return tacit_fail_memory(error);
    arguments->form = *form;
    arguments->options = TACIT_NEW(const tacit_option *, own + common);
    arguments->values = TACIT_NEW(tacit_value, own + common);
    arguments->words = TACIT_NEW(const char *, words + 1);
    if (arguments->options == NULL || arguments->values == NULL || arguments->words == NULL) {
        tacit_arguments_free(arguments);
        return tacit_fail_memory(error);
    }
    for (size_t i = 0; i < own; i++) arguments->options[i] = &form->options[i];
    for (size_t i = 0; i < common; i++) arguments->options[own + i] = &form->more[i];
    arguments->option_count = own + common;
    *out = arguments;
    return TACIT_OK;
}

tacit_arguments *tacit_arguments_free(tacit_arguments *arguments) {
    if (arguments == NULL) return NULL;
    for (size_t i = 0; i < arguments->option_count; i++) tacit_value_clear(&arguments->values[i]);
    free(arguments->values);
    free(arguments->options);
    free(arguments->words);
    free(arguments);
    return NULL;
}

/* The position of an option, or option_count. */
static size_t find_option(const tacit_arguments *arguments, const char *name, size_t length) {
    size_t i = 0;
    for (; i < arguments->option_count; i++) {
        const char *known = arguments->options[i]->name;
        if (strlen(known) == length && memcmp(known, name, length) == 0) break;
    }
    return i;
}

static tacit_status fail_unknown(const tacit_arguments *arguments, const char *word, size_t length,
                                 tacit_error *error) {
    const char *command = arguments->form.name;
    char given[64];
    if (length >= sizeof given) length = sizeof given - 1;
    memcpy(given, word, length);
    given[length] = 0;
    tacit_suggestion suggestion = tacit_suggestion_for(given + strspn(given, "-"));
    for (size_t i = 0; i < arguments->option_count; i++)
        tacit_suggestion_consider(&suggestion, arguments->options[i]->name,
                                  strlen(arguments->options[i]->name));
    if (tacit_suggestion_found(&suggestion))
        return tacit_fail(error, TACIT_USAGE,
                          "unknown flag %s; did you mean --%.*s? (tacit %s --help lists them)", given,
                          (int)suggestion.length, suggestion.word, command);
    return tacit_fail(error, TACIT_USAGE, "unknown flag %s (tacit %s --help lists those it has)", given,
                      command);
}

/* `--train --epsilon 1` forgot the file: a known flag is never taken for another flag's value. */
static bool is_value(const tacit_arguments *arguments, const char *word) {
    if (word == NULL || strcmp(word, "--") == 0) return false;
    if (strncmp(word, "--", 2) != 0) return true;
    return find_option(arguments, word + 2, strcspn(word + 2, "=")) == arguments->option_count;
}

static tacit_status mark_given(tacit_value *value, const tacit_option *option, tacit_error *error) {
    bool repeatable = option->kind == TACIT_OPTION_SETTING || option->rules & TACIT_RULE_REPEATED;
    if (value->given && !repeatable)
        return tacit_fail(error, TACIT_USAGE, "the option '%s' is given twice", option->name);
    value->given = true;
    return TACIT_OK;
}

/* One word that starts with a dash, and the word after it where that is its value; *used says which. */
static tacit_status take_option(tacit_arguments *arguments, const char *word, const char *next, size_t *used,
                                tacit_error *error) {
    size_t length = strcspn(word, "=");
    bool is_long = strncmp(word, "--", 2) == 0;
    size_t i = strcmp(word, "-h") == 0 ? find_option(arguments, "help", 4)
               : is_long               ? find_option(arguments, word + 2, length - 2)
                                       : arguments->option_count;
    if (i == arguments->option_count) return fail_unknown(arguments, word, length, error);
    const tacit_option *option = arguments->options[i];
    tacit_value *value = &arguments->values[i];
    TACIT_TRY(mark_given(value, option, error));
    *used = 1;
    const char *text = word[length] == '=' ? word + length + 1 : NULL;
    if (option->kind == TACIT_OPTION_FLAG) {
        if (text != NULL) return tacit_fail(error, TACIT_USAGE, "--%s takes no value", option->name);
        return tacit_value_add(value, option, "", error);
    }
    if (text == NULL) {
        if (!is_value(arguments, next))
            return tacit_fail(error, TACIT_USAGE, "--%s needs a value: --%s %s", option->name, option->name,
                              option->placeholder);
        text = next;
        *used = 2;
    }
    return tacit_value_add(value, option, text, error);
}

static tacit_status take_words(tacit_arguments *arguments, const char *const *words, size_t count,
                               tacit_error *error) {
    bool ended = false;
    for (size_t i = 0, used; i < count; i += used) {
        used = 1;
        bool dashed = words[i][0] == '-' && words[i][1] != 0;
        if (ended || !dashed)
            arguments->words[arguments->word_count++] = words[i];
        else if (strcmp(words[i], "--") == 0)
            ended = true;
        else
            TACIT_TRY(take_option(arguments, words[i], i + 1 < count ? words[i + 1] : NULL, &used, error));
    }
    return TACIT_OK;
}

/* Which of the words does operand number `which` hold? */
static const char *const *share_of(const tacit_arguments *arguments, size_t which, size_t *count) {
    const tacit_operand *operands = arguments->form.operands;
    size_t first = 0, taken = 0;
    for (size_t i = 0; i <= which; i++) {
        /* Those that later operands need are left to them. */
        size_t needed = 0, left;
        for (size_t j = i + 1; operands[j].name != NULL; j++) needed += operands[j].least;
        first += taken;
        left = arguments->word_count - first;
        taken = left > needed ? left - needed : 0;
        if (taken < operands[i].least) taken = left < operands[i].least ? left : operands[i].least;
        if (taken > operands[i].most) taken = operands[i].most;
    }
    *count = taken;
    return taken == 0 ? NULL : arguments->words + first;
}

static tacit_status check_operands(const tacit_arguments *arguments, tacit_error *error) {
    const tacit_operand *operands = arguments->form.operands;
    const char *command = arguments->form.name;
    size_t taken = 0;
    for (size_t i = 0; operands != NULL && operands[i].name != NULL; i++) {
        size_t count;
        share_of(arguments, i, &count);
        if (count < operands[i].least)
            return tacit_fail(error, TACIT_USAGE, "tacit %s needs %s (tacit %s --help explains it)", command,
                              operands[i].name, command);
        taken += count;
    }
    if (taken < arguments->word_count)
        return tacit_fail(error, TACIT_USAGE,
                          "'%.60s' is one argument too many (tacit %s --help explains it)",
                          arguments->words[taken], command);
    return TACIT_OK;
}

static tacit_status take_fallbacks(tacit_arguments *arguments, tacit_error *error) {
    for (size_t i = 0; i < arguments->option_count; i++) {
        const tacit_option *option = arguments->options[i];
        if (!arguments->values[i].given && option->fallback != NULL)
            TACIT_TRY(tacit_value_add(&arguments->values[i], option, option->fallback, error));
    }
    return TACIT_OK;
}

/* Required options must be there; the others get their fallback. */
static tacit_status complete(tacit_arguments *arguments, tacit_error *error) {
    for (size_t i = 0; i < arguments->option_count; i++) {
        const tacit_option *option = arguments->options[i];
        if (arguments->values[i].given) continue;
        if (option->rules & TACIT_RULE_REQUIRED)
            return tacit_fail(error, TACIT_USAGE, "tacit %s needs --%s %s (tacit %s --help explains it)",
                              arguments->form.name, option->name, option->placeholder, arguments->form.name);
    }
    return take_fallbacks(arguments, error);
}

/* Whoever asks for help gets it, whatever else is on the line. */
static bool asks_for_help(const char *const *words, size_t count) {
    for (size_t i = 0; i < count && strcmp(words[i], "--") != 0; i++)
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0) return true;
    return false;
}

tacit_status tacit_form_parse(tacit_arguments **out, const tacit_form *form, const char *const *words,
                              size_t count, tacit_error *error) {
    tacit_arguments *arguments = NULL;
    TACIT_TRY(start(&arguments, form, count, error));
    tacit_status status = TACIT_OK;
    if (asks_for_help(words, count)) {
        size_t help = find_option(arguments, "help", 4);
        arguments->values[help].given = arguments->values[help].on = true;
    } else {
        TACIT_CHECK(take_words(arguments, words, count, error));
        TACIT_CHECK(check_operands(arguments, error));
        TACIT_CHECK(complete(arguments, error));
    }
    *out = arguments;
    arguments = NULL;
cleanup:
    tacit_arguments_free(arguments);
    return status;
}

/* ---- options of a program ---- */

static bool is_left_out(const tacit_form *form, const char *name) {
    for (const char *const *one = form->without; one != NULL && *one != NULL; one++)
        if (strcmp(*one, name) == 0) return true;
    return false;
}

static tacit_status fail_unknown_option(const tacit_arguments *arguments, const char *name,
                                        tacit_error *error) {
    const tacit_form *form = &arguments->form;
    tacit_buffer known = TACIT_BUFFER_INIT;
    tacit_status status = TACIT_OK;
    for (const tacit_operand *one = form->operands; one != NULL && one->name != NULL; one++) {
        for (const char *letter = one->name; status == TACIT_OK && *letter != 0; letter++)
            status = tacit_buffer_print(&known, error, "%c", tolower((unsigned char)*letter));
        if (status == TACIT_OK) status = tacit_buffer_print(&known, error, ", ");
    }
    for (size_t i = 0; status == TACIT_OK && i < arguments->option_count; i++)
        if (!is_left_out(form, arguments->options[i]->name))
            status = tacit_buffer_print(&known, error, "%s, ", arguments->options[i]->name);
    if (status == TACIT_OK)
        status = tacit_fail(error, TACIT_USAGE, "%s has no option '%.40s'; it has %.*s", form->name, name,
                            known.length > 2 ? (int)known.length - 2 : 4,
                            known.length > 2 ? tacit_buffer_text(&known) : "none");
    tacit_buffer_clear(&known);
    return status;
}

static tacit_status take_flag(tacit_value *value, const tacit_option *option, const char *text,
                              tacit_error *error) {
    if (strcmp(text, "no") == 0) return TACIT_OK;
    if (strcmp(text, "yes") != 0)
        return tacit_fail(error, TACIT_USAGE, "the option '%s' is yes or no, not '%.40s'", option->name,
                          text);
    return tacit_value_add(value, option, "", error);
}

static tacit_status take_one(tacit_arguments *arguments, const option_text *given, tacit_error *error) {
    const tacit_operand *operands = arguments->form.operands;
    if (operands != NULL && strcasecmp(operands[0].name, given->name) == 0 && arguments->word_count == 0) {
        arguments->words[arguments->word_count++] = given->value;
        return TACIT_OK;
    }
    size_t i = find_option(arguments, given->name, strlen(given->name));
    if (i == arguments->option_count || is_left_out(&arguments->form, given->name))
        return fail_unknown_option(arguments, given->name, error);
    const tacit_option *option = arguments->options[i];
    TACIT_TRY(mark_given(&arguments->values[i], option, error));
    if (option->kind == TACIT_OPTION_FLAG)
        return take_flag(&arguments->values[i], option, given->value, error);
    return tacit_value_add(&arguments->values[i], option, given->value, error);
}

static tacit_status check_needed(const tacit_arguments *arguments, tacit_error *error) {
    const tacit_form *form = &arguments->form;
    char help[TACIT_HELP_TEXT];
    if (form->operands != NULL && form->operands[0].least > arguments->word_count)
        return tacit_fail(error, TACIT_USAGE, "%s needs the option 'method': %s", form->name,
                          tacit_methods_help(form->operands[0].help, help));
    for (size_t i = 0; i < arguments->option_count; i++) {
        const tacit_option *option = arguments->options[i];
        bool needed = option->rules & TACIT_RULE_REQUIRED && !is_left_out(form, option->name);
        if (needed && !arguments->values[i].given)
            return tacit_fail(error, TACIT_USAGE, "%s needs the option '%s': %s", form->name, option->name,
                              tacit_methods_help(option->help, help));
    }
    return TACIT_OK;
}

tacit_status tacit_form_take(tacit_arguments **out, const tacit_form *form, const tacit_options *options,
                             tacit_error *error) {
    tacit_arguments *arguments = NULL;
    TACIT_TRY(tacit_library_start(error));
    TACIT_TRY(start(&arguments, form, 1, error));
    tacit_status status = TACIT_OK;
    for (size_t i = 0; options != NULL && i < options->count; i++)
        TACIT_CHECK(take_one(arguments, &options->items[i], error));
    TACIT_CHECK(check_needed(arguments, error));
    TACIT_CHECK(take_fallbacks(arguments, error));
    *out = arguments;
    arguments = NULL;
cleanup:
    tacit_arguments_free(arguments);
    return status;
}

/* ---- reading ---- */

/* The value of a declared option of one of the kinds in `kinds`, a set of bits. */
static const tacit_value *value_of(const tacit_arguments *arguments, const char *name, unsigned kinds) {
    size_t i = find_option(arguments, name, strlen(name));
    assert(i < arguments->option_count && "the command's table has no such option");
    assert((kinds >> arguments->options[i]->kind & 1) && "the option is of another kind");
    return &arguments->values[i];
}

#define KIND(name) (1u << TACIT_OPTION_##name)

bool tacit_arguments_given(const tacit_arguments *arguments, const char *name) {
    return value_of(arguments, name, UINT_MAX)->given;
}

bool tacit_arguments_flag(const tacit_arguments *arguments, const char *name) {
    return value_of(arguments, name, KIND(FLAG))->on;
}

const char *tacit_arguments_text(const tacit_arguments *arguments, const char *name) {
    const tacit_value *value = value_of(arguments, name, KIND(TEXT) | KIND(FILE) | KIND(CHOICE));
    return value->count == 0 ? NULL : value->texts[0];
}

double tacit_arguments_number(const tacit_arguments *arguments, const char *name) {
    const tacit_value *value = value_of(arguments, name, KIND(NUMBER));
    assert(value->count > 0 && "no value: the option needs a fallback, or ask whether it is given");
    return value->numbers[0];
}

int64_t tacit_arguments_integer(const tacit_arguments *arguments, const char *name) {
    const tacit_value *value = value_of(arguments, name, KIND(INTEGER));
    assert(value->count > 0 && "no value: the option needs a fallback, or ask whether it is given");
    return value->integer;
}

const double *tacit_arguments_numbers(const tacit_arguments *arguments, const char *name, size_t *count) {
    const tacit_value *value = value_of(arguments, name, KIND(NUMBERS));
    *count = value->count;
    return value->numbers;
}

const char *const *tacit_arguments_words(const tacit_arguments *arguments, const char *name, size_t *count) {
    const tacit_value *value = value_of(arguments, name, KIND(WORDS) | KIND(TEXT) | KIND(FILE));
    *count = value->count;
    return value->texts;
}

const tacit_setting *tacit_arguments_settings(const tacit_arguments *arguments, const char *name,
                                              size_t *count) {
    const tacit_value *value = value_of(arguments, name, KIND(SETTING));
    *count = value->count;
    return value->settings;
}

const char *const *tacit_arguments_operands(const tacit_arguments *arguments, const char *name,
                                            size_t *count) {
    const tacit_operand *operands = arguments->form.operands;
    size_t which = 0;
    while (operands != NULL && operands[which].name != NULL && strcmp(operands[which].name, name) != 0)
        which++;
    assert(operands != NULL && operands[which].name != NULL && "the command's table has no such operand");
    return share_of(arguments, which, count);
}

const char *tacit_arguments_operand(const tacit_arguments *arguments, const char *name) {
    size_t count;
    const char *const *words = tacit_arguments_operands(arguments, name, &count);
    return count == 0 ? NULL : words[0];
}
