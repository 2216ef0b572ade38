/* Completion for zsh: each command as a call of its _arguments. */
#include <string.h>

#include "cli/help/completion.h"
#include "cli/help/help.h"
#include "cli/help/option_spelling.h"
#include "lab/audit/audit.h"
#include "lab/reproduce/reproduce.h"
#include "method/methods.h"

/* Text inside '...' in which the characters of `special` mean something to zsh's completion functions. */
static void put_quoted(FILE *out, const char *text, const char *special) {
    for (; *text != 0; text++) {
        if (*text == '\'') {
            fputs("'\\''", out);
            continue;
        }
        if (*text == '\\' || strchr(special, *text) != NULL) fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
}

/* "'name:what it is'" for _describe. */
static void put_described(FILE *out, const char *name, const char *text) {
    fputs("\n    '", out);
    put_quoted(out, name, ":");
    fputc(':', out);
    put_quoted(out, text, "");
    fputc('\'', out);
}

static void put_lists(FILE *out) {
    fputs("_tacit_method() {\n  local -a known=(", out);
    for (size_t i = 0; tacit_methods[i] != NULL; i++)
        put_described(out, tacit_methods[i]->name, tacit_methods[i]->title);
    fputs(")\n  _describe -t methods method known\n}\n\n_tacit_methods() { _sequence _tacit_method }\n\n",
          out);
    fputs("_tacit_auditable() {\n  local -a known=(", out);
    for (size_t i = 0; tacit_auditables[i] != NULL; i++) fprintf(out, "%s ", tacit_auditables[i]->name);
    fputs(")\n  _describe -t methods 'what to audit' known\n}\n\n_tacit_experiment() {\n  local -a "
          "known=(list ",
          out);
    for (size_t i = 0; tacit_experiments[i] != NULL; i++) fprintf(out, "%s ", tacit_experiments[i]->id);
    fputs(")\n  _describe -t experiments experiment known\n}\n\n", out);
    fputs("_tacit_setting() {\n  local -a known\n  case ${opt_args[--method]:-$line[1]} in\n", out);
    tacit_completion_settings_cases(out, "known=(", ")");
    fputs("  esac\n  compadd -S '' -- ${(u)known}\n}\n\n", out);
    fputs("_tacit_file() { _files }\n_tacit_folder() { _files -/ }\n\n", out);
}

static void put_commands(FILE *out, const tacit_command *const *commands) {
    fputs("_tacit_command() {\n  local -a known=(", out);
    for (size_t i = 0; commands[i] != NULL; i++) {
        const char *name = commands[i]->name;
        size_t length = strcspn(name, " ");
        char first[64];
        snprintf(first, sizeof first, "%.*s", (int)length, name);
        bool group = name[length] != 0;
        if (group && i > 0 && strncmp(commands[i - 1]->name, name, length + 1) == 0) continue;
        put_described(out, first, group ? commands[i]->section : commands[i]->summary);
    }
    fputs(")\n  _describe -t commands command known\n}\n\n", out);
    fputs("_tacit_second() {\n  local -a known=()\n  case $1 in\n", out);
    for (size_t i = 0; commands[i] != NULL; i++) {
        const char *name = commands[i]->name;
        size_t length = strcspn(name, " ");
        if (name[length] == 0) continue;
        fprintf(out, "  %.*s) known+=(", (int)length, name);
        put_described(out, name + length + 1, commands[i]->summary);
        bool last = commands[i + 1] == NULL || strncmp(commands[i + 1]->name, name, length + 1) != 0;
        fputs(last ? ") ;;\n" : ") ;|\n", out);
    }
    fputs("  esac\n  (( $#known )) && _describe -t commands command known\n}\n\n", out);
}

static void put_action(FILE *out, tacit_completion completion, const char *placeholder) {
    if (completion == TACIT_COMPLETE_CHOICE) {
        fputc('(', out);
        tacit_completion_choices(out, "", placeholder);
        fputc(')', out);
    } else if (completion != TACIT_COMPLETE_NOTHING) {
        fprintf(out, "_tacit_%s", tacit_completion_name(completion));
    }
}

static void put_option(FILE *out, const tacit_option *option) {
    bool flag = option->kind == TACIT_OPTION_FLAG;
    bool many = option->kind == TACIT_OPTION_SETTING || option->rules & TACIT_RULE_REPEATED;
    fprintf(out, " \\\n    '%s--%s%s[", many ? "*" : "", option->name, flag ? "" : "=");
    char help[TACIT_HELP_TEXT];
    put_quoted(out, tacit_help_text(option->help, help), "[]");
    fputc(']', out);
    if (!flag) {
        fputc(':', out);
        put_quoted(out, option->placeholder, ":");
        fputc(':', out);
        put_action(out, tacit_completion_of_option(option), option->placeholder);
    }
    fputc('\'', out);
}

static void put_arguments(FILE *out, const tacit_command *command) {
    fprintf(out, "  '%s') _arguments", command->name);
    for (const tacit_option *option = command->options; option != NULL && option->name != NULL; option++)
        put_option(out, option);
    for (const tacit_option *option = tacit_common_options; option->name != NULL; option++)
        put_option(out, option);
    const tacit_operand *operand = command->operands;
    for (; operand != NULL && operand->name != NULL; operand++) {
        fprintf(out, " \\\n    '%s:", operand->least == 0 ? ":" : "");
        put_quoted(out, operand->name, ":");
        fputc(':', out);
        put_action(out, tacit_completion_of_operand(command, operand), NULL);
        fputc('\'', out);
    }
    fputs(" ;;\n", out);
}

void tacit_help_zsh(FILE *out, const tacit_command *const *commands) {
    fputs("#compdef tacit\n# Completion of tacit's command lines in zsh, as 'tacit help --completion zsh' "
          "writes it.\n\n",
          out);
    put_lists(out);
    put_commands(out, commands);
    fputs("_tacit() {\n  local name\n  local -a line\n  local -A opt_args\n"
          "  if (( CURRENT == 2 )); then _tacit_command; return; fi\n"
          "  name=$words[2]\n"
          "  case $name in\n",
          out);
    for (size_t i = 0; commands[i] != NULL; i++) {
        size_t length = strcspn(commands[i]->name, " ");
        if (commands[i]->name[length] == 0) continue;
        if (i > 0 && strncmp(commands[i - 1]->name, commands[i]->name, length + 1) == 0) continue;
        fprintf(out, "  %.*s)\n    if (( CURRENT == 3 )); then _tacit_second $name; return; fi\n",
                (int)length, commands[i]->name);
        fputs("    name+=\" $words[3]\"; shift words; (( CURRENT-- )) ;;\n", out);
    }
    fputs("  esac\n  shift words; (( CURRENT-- ))\n  case $name in\n", out);
    for (; *commands != NULL; commands++) put_arguments(out, *commands);
    fputs(
        "  esac\n}\n\nif [[ $funcstack[1] == _tacit ]]; then _tacit \"$@\"; else compdef _tacit tacit; fi\n",
        out);
}
