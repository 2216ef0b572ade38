#include "cli/arguments.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "base/memory.h"
#include "cli/guess.h"
#include "cli/value.h"

struct tacit_arguments {
    const tacit_command *command;
    const tacit_option **options; /* the command's own, then the common ones */
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

static tacit_status start(tacit_arguments **out, const tacit_command *command, size_t words,
                          tacit_error *error) {
    size_t own = count_options(command->options), common = count_options(tacit_common_options);
    tacit_arguments *arguments = TACIT_NEW(tacit_arguments, 1);
    if (arguments == NULL) return tacit_fail_memory(error);
    arguments->command = command;
    arguments->options = TACIT_NEW(const tacit_option *, own + common);
    arguments->values = TACIT_NEW(tacit_value, own + common);
    arguments->words = TACIT_NEW(const char *, words + 1);
    if (arguments->options == NULL || arguments->values == NULL || arguments->words == NULL) {
        tacit_arguments_free(arguments);
        return tacit_fail_memory(error);
    }
    for (size_t i = 0; i < own; i++) arguments->options[i] = &command->options[i];
    for (size_t i = 0; i < common; i++) arguments->options[own + i] = &tacit_common_options[i];
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
    const char *command = arguments->command->name;
    char given[64];
    if (length >= sizeof given) length = sizeof given - 1;
    memcpy(given, word, length);
    given[length] = 0;
    tacit_guess guess = tacit_guess_for(given + strspn(given, "-"));
    for (size_t i = 0; i < arguments->option_count; i++)
        tacit_guess_consider(&guess, arguments->options[i]->name, strlen(arguments->options[i]->name));
    if (tacit_guess_found(&guess))
        return tacit_fail(error, TACIT_USAGE,
                          "unknown flag %s; did you mean --%.*s? (tacit %s --help lists them)", given,
                          (int)guess.length, guess.word, command);
    return tacit_fail(error, TACIT_USAGE, "unknown flag %s (tacit %s --help lists those it has)", given,
                      command);
}

/* `--train --epsilon 1` forgot the file: a known flag is never taken for another flag's value. */
static bool is_value(const tacit_arguments *arguments, const char *word) {
    if (word == NULL || strcmp(word, "--") == 0) return false;
    if (strncmp(word, "--", 2) != 0) return true;
    return find_option(arguments, word + 2, strcspn(word + 2, "=")) == arguments->option_count;
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
    bool repeatable = option->kind == TACIT_OPTION_SETTING || option->rules & TACIT_RULE_REPEATED;
    if (value->given && !repeatable)
        return tacit_fail(error, TACIT_USAGE, "--%s is given twice", option->name);
    value->given = true;
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
    const tacit_operand *operands = arguments->command->operands;
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
    const tacit_operand *operands = arguments->command->operands;
    const char *command = arguments->command->name;
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

/* Required options must be there; the others get their fallback. */
static tacit_status complete(tacit_arguments *arguments, tacit_error *error) {
    for (size_t i = 0; i < arguments->option_count; i++) {
        const tacit_option *option = arguments->options[i];
        if (arguments->values[i].given) continue;
        if (option->rules & TACIT_RULE_REQUIRED)
            return tacit_fail(error, TACIT_USAGE, "tacit %s needs --%s %s (tacit %s --help explains it)",
                              arguments->command->name, option->name, option->placeholder,
                              arguments->command->name);
        if (option->fallback != NULL)
            TACIT_TRY(tacit_value_add(&arguments->values[i], option, option->fallback, error));
    }
    return TACIT_OK;
}

/* Whoever asks for help gets it, whatever else is on the line. */
static bool asks_for_help(const char *const *words, size_t count) {
    for (size_t i = 0; i < count && strcmp(words[i], "--") != 0; i++)
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0) return true;
    return false;
}

tacit_status tacit_arguments_parse(tacit_arguments **out, const tacit_command *command,
                                   const char *const *words, size_t count, tacit_error *error) {
    tacit_arguments *arguments = NULL;
    TACIT_TRY(start(&arguments, command, count, error));
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
    const tacit_operand *operands = arguments->command->operands;
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
