/*
 * What was said to a command or to a call of the library, parsed against its table and read by name.
 *
 * A command line is parsed in GNU style: `--name value`, `--name=value`, flags and operands in any order,
 * `--` ends the flags, a lone `-` is an operand. Names are never abbreviated, so that a new flag cannot break
 * a script. Every mistake is TACIT_USAGE with one sentence that names the flag and, where one is near, the
 * flag that was probably intended.
 *
 * A getter asserts that the option is in the command's table and has the kind the getter is for: anything
 * else is a mistake in the program, not in the input. Returned pointers are borrowed from the arguments.
 */
#pragma once

#include "api/option/option.h"
#include "tacit/tacit.h"

typedef struct tacit_arguments tacit_arguments;

typedef struct tacit_setting {
    const char *key, *value;
} tacit_setting;

/* Parse what follows the command's name. `words` must outlive the result. When --help is among them the
 * rest is not checked: ask tacit_arguments_flag(…, "help") first. */
tacit_status tacit_form_parse(tacit_arguments **out, const tacit_form *form, const char *const *words,
                              size_t count, tacit_error *error);

/* The same from a program's options, which must outlive the result; NULL: none. A flag is "yes" or "no"; an
 * operand goes by its name in small letters. */
tacit_status tacit_form_take(tacit_arguments **out, const tacit_form *form, const tacit_options *options,
                             tacit_error *error);
tacit_arguments *tacit_arguments_free(tacit_arguments *arguments);

/* Was it on the command line? False when only the fallback supplies its value. */
bool tacit_arguments_given(const tacit_arguments *arguments, const char *name);

/* FLAG. Also for the common flags. */
bool tacit_arguments_flag(const tacit_arguments *arguments, const char *name);

/* TEXT, FILE, CHOICE: NULL when neither given nor defaulted. */
const char *tacit_arguments_text(const tacit_arguments *arguments, const char *name);

/* NUMBER, INTEGER: there must be a value, so the option is required, has a fallback, or was asked about
 * with tacit_arguments_given. */
double tacit_arguments_number(const tacit_arguments *arguments, const char *name);
int64_t tacit_arguments_integer(const tacit_arguments *arguments, const char *name);

/* NUMBERS; WORDS and repeated TEXT or FILE; SETTING. *count = 0 and NULL when there is none. */
const double *tacit_arguments_numbers(const tacit_arguments *arguments, const char *name, size_t *count);
const char *const *tacit_arguments_words(const tacit_arguments *arguments, const char *name, size_t *count);
const tacit_setting *tacit_arguments_settings(const tacit_arguments *arguments, const char *name,
                                              size_t *count);

/* The first argument taken by an operand, NULL when it took none; or all of them. */
const char *tacit_arguments_operand(const tacit_arguments *arguments, const char *name);
const char *const *tacit_arguments_operands(const tacit_arguments *arguments, const char *name,
                                            size_t *count);
