/* What may stand where on a command line, read off the table: the part that the scripts for bash and zsh
 * share. */
#pragma once

#include <stdio.h>

#include "cli/command.h"
#include "session/method.h"

typedef enum tacit_completion {
    TACIT_COMPLETE_NOTHING, /* a number, a name: whatever the user types */
    TACIT_COMPLETE_CHOICE,  /* one of the words of the placeholder */
    TACIT_COMPLETE_FILE,
    TACIT_COMPLETE_FOLDER,
    TACIT_COMPLETE_METHOD,
    TACIT_COMPLETE_METHODS, /* several, with commas */
    TACIT_COMPLETE_AUDITABLE,
    TACIT_COMPLETE_EXPERIMENT,
    TACIT_COMPLETE_COMMAND,
    TACIT_COMPLETE_SETTING /* NAME=VALUE of the method that was named */
} tacit_completion;

/* An option with a value, or an operand. */
tacit_completion tacit_completion_of_option(const tacit_option *option);
tacit_completion tacit_completion_of_operand(const tacit_command *command, const tacit_operand *operand);

/* The name of a completion in both scripts: "file", "methods". "" for nothing and for choices. */
const char *tacit_completion_name(tacit_completion completion);

/* The words of "masked|paillier|NAME" that are complete as they stand, each after `before` and followed by a
 * blank. */
void tacit_completion_choices(FILE *out, const char *before, const char *alternatives);

/* "noise=party noise=shares rounds= " of a method. */
void tacit_completion_settings(FILE *out, const tacit_method *method);

/* "NAME) assignment ;;" for each method, and "*)" with the settings of all. */
void tacit_completion_settings_cases(FILE *out, const char *before, const char *after);
