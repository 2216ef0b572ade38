/* Completion for bash: the table as case statements, and one function that walks along the line. It uses
 * nothing but bash itself, so that it works without the package bash-completion too. */
#include <string.h>

#include "cli/help/completion.h"
#include "cli/help/help.h"
#include "lab/audit/audit.h"
#include "lab/reproduce/reproduce.h"
#include "method/methods.h"

static const char walk[] =
    "# Which of the words in $1 begin with $2? Each after $3, and with no blank behind one that ends with "
    "\"=\".\n"
    "_tacit_offer() {\n"
    "    local one\n"
    "    for one in $1; do\n"
    "        [[ $one == \"$2\"* ]] || continue\n"
    "        [[ $one == *= ]] && compopt -o nospace 2>/dev/null\n"
    "        COMPREPLY+=(\"$3$one\")\n"
    "    done\n"
    "}\n"
    "\n"
    "# Offer what the kind $1 stands for to complete $2, after $3; $4 is the method that the line names.\n"
    "_tacit_kind() {\n"
    "    local REPLY=\n"
    "    case $1 in\n"
    "    '<file>' | '<folder>')\n"
    "        local flag=-f one\n"
    "        [[ $1 == '<folder>' ]] && flag=-d\n"
    "        compopt -o filenames 2>/dev/null\n"
    "        while IFS= read -r one; do COMPREPLY+=(\"$3$one\"); done < <(compgen \"$flag\" -- \"$2\") ;;\n"
    "    '<methods>')\n"
    "        local done=\n"
    "        [[ $2 == *,* ]] && done=${2%,*},\n"
    "        _tacit_list method && _tacit_offer \"$REPLY\" \"${2##*,}\" \"$3$done\" ;;\n"
    "    '<setting>') _tacit_settings \"$4\" && _tacit_offer \"$REPLY\" \"$2\" \"$3\" ;;\n"
    "    '<'*'>') REPLY=${1#<} && _tacit_list \"${REPLY%>}\" && _tacit_offer \"$REPLY\" \"$2\" \"$3\" ;;\n"
    "    *) _tacit_offer \"$1\" \"$2\" \"$3\" ;;\n"
    "    esac\n"
    "}\n"
    "\n"
    "# bash cuts words at \"=\" and \":\"; put them together again. The last one is what the cursor is in.\n"
    "_tacit_words() {\n"
    "    local i joined=false\n"
    "    words=()\n"
    "    for ((i = 1; i <= COMP_CWORD; i++)); do\n"
    "        if [[ ${COMP_WORDS[i]} == [=:] && ${#words[@]} -gt 0 ]]; then\n"
    "            words[-1]+=${COMP_WORDS[i]} joined=true\n"
    "        elif $joined; then\n"
    "            words[-1]+=${COMP_WORDS[i]} joined=false\n"
    "        else\n"
    "            words+=(\"${COMP_WORDS[i]}\")\n"
    "        fi\n"
    "    done\n"
    "}\n"
    "\n"
    "_tacit() {\n"
    "    local words REPLY='' command='' pending='' method='' operands=0 i word\n"
    "    COMPREPLY=()\n"
    "    _tacit_words\n"
    "    local last=$((${#words[@]} - 1)) whole=${words[-1]} fragment=${COMP_WORDS[COMP_CWORD]}\n"
    "    [[ $fragment == [=:] ]] && fragment=\n"
    "    if ((last == 0)); then _tacit_list first && _tacit_offer \"$REPLY\" \"$whole\" && return; fi\n"
    "    command=${words[0]} i=1\n"
    "    _tacit_second \"$command\"\n"
    "    if [[ $REPLY ]]; then\n"
    "        if ((last == 1)); then _tacit_offer \"$REPLY\" \"$whole\" && return; fi\n"
    "        command+=\" ${words[1]}\" i=2\n"
    "    fi\n"
    "    for (( ; i < last; i++)); do\n"
    "        word=${words[i]}\n"
    "        if [[ $pending ]]; then\n"
    "            [[ $pending == --method ]] && method=$word\n"
    "            pending=\n"
    "        elif [[ $word == --*=* ]]; then\n"
    "            [[ $word == --method=* ]] && method=${word#*=}\n"
    "        elif [[ $word == --* ]]; then\n"
    "            REPLY= && _tacit_value \"$command $word\"\n"
    "            [[ $REPLY ]] && pending=$word\n"
    "        else\n"
    "            ((operands++))\n"
    "            REPLY= && _tacit_value \"$command $operands\"\n"
    "            [[ $REPLY == '<method>' || $REPLY == '<auditable>' ]] && method=$word\n"
    "        fi\n"
    "    done\n"
    "    REPLY=\n"
    "    if [[ $pending ]]; then\n"
    "        _tacit_value \"$command $pending\" && _tacit_kind \"$REPLY\" \"$whole\" '' \"$method\"\n"
    "    elif [[ $whole == --*=* ]]; then\n"
    "        _tacit_value \"$command ${whole%%=*}\" && _tacit_kind \"$REPLY\" \"${whole#*=}\" "
    "\"${whole%%=*}=\" \"$method\"\n"
    "    elif [[ $whole == -* ]]; then\n"
    "        _tacit_flags \"$command\" && _tacit_offer \"$REPLY\" \"$whole\"\n"
    "    else\n"
    "        _tacit_value \"$command $((operands + 1))\" && _tacit_kind \"$REPLY\" \"$whole\" '' "
    "\"$method\"\n"
    "    fi\n"
    "    local before=${whole%\"$fragment\"}\n"
    "    COMPREPLY=(\"${COMPREPLY[@]#\"$before\"}\")\n"
    "}\n"
    "\n"
    "complete -F _tacit tacit\n";

/* Is this the first command whose name begins with that word? */
static bool is_first(const tacit_command *const *commands, size_t which) {
    size_t length = strcspn(commands[which]->name, " ");
    for (size_t i = 0; i < which; i++)
        if (strcspn(commands[i]->name, " ") == length &&
            strncmp(commands[i]->name, commands[which]->name, length) == 0)
            return false;
    return true;
}

static void put_first_words(FILE *out, const tacit_command *const *commands) {
    for (size_t i = 0; commands[i] != NULL; i++)
        if (is_first(commands, i))
            fprintf(out, "%.*s ", (int)strcspn(commands[i]->name, " "), commands[i]->name);
}

/* The lists of names that a line may hold. */
static void put_lists(FILE *out, const tacit_command *const *commands) {
    fputs(
        "# Names: of commands, methods, what can be audited, experiments.\n_tacit_list() {\n    case $1 in\n",
        out);
    fputs("    first | command) REPLY='", out);
    put_first_words(out, commands);
    fputs("' ;;\n    method) REPLY='", out);
    for (size_t i = 0; tacit_methods[i] != NULL; i++) fprintf(out, "%s ", tacit_methods[i]->name);
    fputs("' ;;\n    auditable) REPLY='", out);
    for (size_t i = 0; tacit_auditables[i] != NULL; i++) fprintf(out, "%s ", tacit_auditables[i]->name);
    fputs("' ;;\n    experiment) REPLY='list ", out);
    for (size_t i = 0; tacit_experiments[i] != NULL; i++) fprintf(out, "%s ", tacit_experiments[i]->id);
    fputs("' ;;\n    esac\n}\n\n", out);
}

static void put_second_words(FILE *out, const tacit_command *const *commands) {
    fputs("# The second words of commands that have two.\n_tacit_second() {\n    REPLY=\n    case $1 in\n",
          out);
    for (size_t i = 0; commands[i] != NULL; i++) {
        size_t length = strcspn(commands[i]->name, " ");
        if (commands[i]->name[length] == 0 || !is_first(commands, i)) continue;
        fprintf(out, "    %.*s) REPLY='", (int)length, commands[i]->name);
        for (size_t j = i; commands[j] != NULL; j++)
            if (strncmp(commands[j]->name, commands[i]->name, length + 1) == 0)
                fprintf(out, "%s ", commands[j]->name + length + 1);
        fputs("' ;;\n", out);
    }
    fputs("    esac\n}\n\n", out);
}

static void put_flags(FILE *out, const tacit_command *const *commands) {
    fputs("_tacit_flags() {\n    case $1 in\n", out);
    for (; *commands != NULL; commands++) {
        fprintf(out, "    '%s') REPLY='", (*commands)->name);
        const tacit_option *option = (*commands)->options;
        for (; option != NULL && option->name != NULL; option++) fprintf(out, "--%s ", option->name);
        for (option = tacit_common_options; option->name != NULL; option++)
            fprintf(out, "--%s ", option->name);
        fputs("' ;;\n", out);
    }
    fputs("    esac\n}\n\n", out);
}

/* What follows "COMMAND --flag" or stands as "COMMAND 1", its first operand. A blank: a value that nobody can
 * guess. */
static void put_value(FILE *out, tacit_completion completion, const char *placeholder) {
    fputs("') REPLY='", out);
    if (completion == TACIT_COMPLETE_CHOICE)
        tacit_completion_choices(out, "", placeholder);
    else if (completion == TACIT_COMPLETE_NOTHING)
        fputc(' ', out);
    else
        fprintf(out, "<%s>", tacit_completion_name(completion));
    fputs("' ;;\n", out);
}

static void put_values(FILE *out, const tacit_command *const *commands) {
    fputs("# What a flag takes, and what the first, second, ... operand is.\n_tacit_value() {\n    case $1 "
          "in\n",
          out);
    for (; *commands != NULL; commands++) {
        const tacit_option *option = (*commands)->options;
        for (; option != NULL && option->name != NULL; option++) {
            if (option->kind == TACIT_OPTION_FLAG) continue;
            fprintf(out, "    '%s --%s", (*commands)->name, option->name);
            put_value(out, tacit_completion_of_option(option), option->placeholder);
        }
        const tacit_operand *operand = (*commands)->operands;
        for (int which = 1; operand != NULL && operand->name != NULL; operand++, which++) {
            fprintf(out, "    '%s %d", (*commands)->name, which);
            put_value(out, tacit_completion_of_operand(*commands, operand), NULL);
        }
    }
    fputs("    esac\n}\n\n", out);
}

void tacit_help_bash(FILE *out, const tacit_command *const *commands) {
    fputs("# Completion of tacit's command lines in bash, as 'tacit help --completion bash' writes it.\n\n",
          out);
    put_lists(out, commands);
    put_second_words(out, commands);
    put_flags(out, commands);
    put_values(out, commands);
    fputs("_tacit_settings() {\n    case $1 in\n", out);
    tacit_completion_settings_cases(out, "REPLY='", "'");
    fputs("    esac\n}\n\n", out);
    fputs(walk, out);
}
