/* What the table says, written for people: on a terminal, and as troff for the man page. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/help/text_width.h"

typedef struct tacit_page {
    FILE *out;
    unsigned width;
    bool bold;
} tacit_page;

/* Print the help of `command`; when that is NULL, the commands whose name begins with `word`; when that is
 * NULL too, all of them. As text, or with --json as a document. */
tacit_status tacit_help_show(tacit_console *console, const tacit_command *command, const char *word,
                             tacit_error *error);

/* All commands with their summaries, under their sections. */
void tacit_help_overview(tacit_page page, const tacit_command *const *commands);

/* Those that begin with `word` ("study"); is there any whose name has a second word? */
void tacit_help_group(tacit_page page, const tacit_command *const *commands, const char *word);
bool tacit_help_is_group(const tacit_command *const *commands, const char *word);

/* One command: usage, description, operands, options, examples. */
void tacit_help_command(tacit_page page, const tacit_command *command);

/* A term and its explanation, which starts at column `column`. */
void tacit_help_entry(tacit_page page, const char *term, unsigned column, const char *text);

/* A list that is no command's, such as study-settings (help_topics.c): as text, or with --json as a
 * document. */
bool tacit_help_is_topic(const char *name);
tacit_status tacit_help_topic(tacit_console *console, const char *name, tacit_error *error);

/* The entry of a command as JSON. New reference; NULL when out of memory. */
json_t *tacit_help_document(const tacit_command *command);

/* tacit(1) in troff with the man macros. */
void tacit_help_man(FILE *out, const tacit_command *const *commands, const char *version);

/* Completion of command lines, for bash or zsh: what to put where the shell looks for such. */
void tacit_help_bash(FILE *out, const tacit_command *const *commands);
void tacit_help_zsh(FILE *out, const tacit_command *const *commands);

/* What Tacit is, in a paragraph. */
extern const char tacit_about[];

/* Operands and options of a command as its usage shows them, required ones first. */
void tacit_help_usage(tacit_wrap *wrap, const tacit_command *command);
