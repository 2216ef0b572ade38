/* What the table says, written for people: on a terminal, and as troff for the man page. */
#pragma once

#include <stdio.h>

#include "cli/command.h"

typedef struct tacit_page {
    FILE *out;
    unsigned width;
    bool bold;
} tacit_page;

/* All commands with their summaries, under their sections. */
void tacit_help_overview(tacit_page page, const tacit_command *const *commands);

/* The commands that share a first word ("study"): false when there is none. */
bool tacit_help_group(tacit_page page, const tacit_command *const *commands, const char *word);

/* One command: usage, description, operands, options, examples. */
void tacit_help_command(tacit_page page, const tacit_command *command);

/* tacit(1) in troff with the man macros. */
void tacit_help_man(FILE *out, const tacit_command *const *commands, const char *version);
